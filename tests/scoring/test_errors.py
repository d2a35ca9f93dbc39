"""Classes of errors: of ELEVANT on a text made for each, of neleval on all five at once, as rows and by annotation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import UnknownName
from remix.formats import read
from remix.frames import Frames
from remix.kb import build
from remix.scoring.choice import Choice, case_of
from remix.scoring.errors import TAXONOMIES
from remix.scoring.inputs import Inputs
from remix.scoring.profiles import PROFILES
from tests.scoring.conftest import evaluate

WD = "http://www.wikidata.org/entity/"


@pytest.fixture
def articles(tmp_path: Path):
    """Gold and answers as (form, entity, more) of a text, read back from ELEVANT's files."""

    def made(text: str, gold: list[tuple[Any, ...]], answers: list[tuple[Any, ...]], **more: Any) -> list[Frames]:
        def span(form: str) -> list[int]:
            return [text.index(form), text.index(form) + len(form)]

        labels = [
            {"id": n, "span": span(form), "entity_id": entity, "type": "OTHER", **(rest[0] if rest else {})}
            for n, (form, entity, *rest) in enumerate(gold)
        ]
        mentions = [
            {"span": span(form), "id": entity, "candidates": rest[0] if rest else []} for form, entity, *rest in answers
        ]
        files = []
        for field, rows, name in (("labels", labels, "benchmark"), ("entity_mentions", mentions, "linked_articles")):
            files.append(tmp_path / f"x.{name}.jsonl")
            files[-1].write_text(json.dumps({"id": 0, "title": "t", "text": text, field: rows} | more) + "\n")
        return [read(file, name="x", unannotated=True).frames for file in files]

    return made


def classes(frames: list[Frames], mode: str = "IGNORED", **how: Any) -> dict[str, tuple[int, int | None]]:
    """Errors and total of each class of ELEVANT that has any."""
    rows = evaluate(frames[0], {"s": frames[1]}, profile="elevant", errors=["elevant"], **how)
    rows = rows.filter(pl.col("column") == "error_class", pl.col("matching") == mode, pl.col("errors") > 0)
    return {name: (errors, total) for name, errors, total in rows.select("slice", "errors", "total").rows()}


def test_undetected_mentions_by_the_first_reason_that_holds(articles):
    # errors.py, label_undetected_errors. bread: lower case; New York City: York lies inside; Los Angeles: "Angeles but"
    # overlaps; Rome: other. Could have been: of 5 mentions Oslo is found; lower case: bread alone; several words: New
    # York City (its own error) and Los Angeles; capital: all but bread.
    text = "bread of New York City and Los Angeles but Rome or Oslo"
    forms = ("bread", "New York City", "Los Angeles", "Rome", "Oslo")
    gold = [(form, f"Q{n}") for n, form in enumerate(forms)]
    found = classes(articles(text, gold, [("York", "Q9"), ("Angeles but", "Q9"), ("Oslo", "Q4")]))
    assert {name: counts for name, counts in found.items() if name.startswith("ner_fn")} == {
        "ner_fn.all": (4, 5),
        "ner_fn.lowercased": (1, 1),
        "ner_fn.partially_included": (1, 2),
        "ner_fn.partial_overlap": (1, 4),
        "ner_fn.other": (1, 4),
    }


@pytest.mark.parametrize("gold", ["<NIL>", "<NO_MAPPING>"])
@pytest.mark.parametrize("answered", ["<NIL>", "<NO_MAPPING>"])
def test_nil_and_what_has_no_mapping_are_different_entities_of_a_wrong_span(articles, gold, answered):
    # errors.py, label_span_errors compares identifiers; case.py counts both as unknown, so that the rest is the same.
    found = classes(articles("in New York", [("New York", gold)], [("York", answered)]), "REQUIRED")
    assert found["ner_fp.all"][0] == found["ner_fn.all"][0] == 1
    assert ("ner_fp.wrong_span" in found) == (gold == answered)


def test_false_detections_by_the_first_reason_that_holds(articles):
    # errors.py, label_false_detections and label_span_errors. eats: lower case where no gold is; NN: gold is unknown;
    # Ada Byron: overlaps Ada, which is Q1 too; Bob: other. Of 7 words 4 begin with a capital; unknown gold: NN alone;
    # wrong span: of four false ones, none of the mentions is found.
    text = "Ada Byron eats with NN and Bob"
    answers = [("Ada Byron", "Q1"), ("eats", "Q2"), ("NN", "Q3"), ("Bob", "Q4")]
    found = classes(articles(text, [("Ada", "Q1"), ("NN", "<NIL>")], answers))
    assert {name: counts for name, counts in found.items() if name.startswith("ner_fp")} == {
        "ner_fp.all": (4, 7),
        "ner_fp.lowercased": (1, 3),
        "ner_fp.groundtruth_unknown": (1, 1),
        "ner_fp.other": (2, 4),
        "ner_fp.wrong_span": (1, 4),
    }


@pytest.mark.long
def test_wrong_disambiguation_by_the_first_reason_that_holds(articles, tmp_path):
    # errors.py, label_disambiguation_errors. Danes: a demonym, gold a place; Oslo: gold an organisation, answered with
    # the place that the dictionary means first; Byron: part of "Ada Byron"; Java: answered with what it means first;
    # Turing: right; Zed: other.
    text = "Danes met Oslo, Byron, Java, Turing and Zed"
    gold = [("Danes", "Q1"), ("Oslo", "Q2"), ("Byron", "Q3"), ("Java", "Q4"), ("Turing", "Q5"), ("Zed", "Q6")]
    answers = [("Danes", "Q11"), ("Oslo", "Q12"), ("Byron", "Q13"), ("Java", "Q14"), ("Turing", "Q5"), ("Zed", "Q16")]
    place = f"{WD}Q27096213"
    types = pl.DataFrame({"entity": [f"{WD}Q1", f"{WD}Q12"], "class": [place, place]})
    names = pl.DataFrame({"entity": [f"{WD}Q3", f"{WD}Q5"], "name": ["Ada Byron", "Alan Turing"]})
    tables = tmp_path / "tables"
    tables.mkdir()
    rows = [("Oslo", "Q12", 9), ("Oslo", "Q2", 1), ("Java", "Q14", 5), ("Java", "Q4", 1)]
    forms = "".join(f"{form}\t{WD}{entity}\t{count}\tanchor\n" for form, entity, count in rows)
    (tables / "surface_forms.tsv").write_text("a\tb\tc\td\n" + forms)
    kb = build([("tables", str(tables))], tmp_path / "kb", name="made")
    gold_classes = ["Q27096213", "OTHER", "OTHER", "OTHER", "OTHER", "OTHER"]
    gold = [(*one, {"type": name}) for one, name in zip(gold, gold_classes, strict=True)]
    found = classes(articles(text, gold, answers), types=types, names=names, kb=kb)
    assert found == {
        "wrong_disambiguation.all": (5, 6),
        "wrong_disambiguation.demonym": (1, 1),
        "wrong_disambiguation.metonymy": (1, 1),
        "wrong_disambiguation.partial_name": (1, 2),
        "wrong_disambiguation.rare": (1, 1),
        "wrong_disambiguation.other": (1, 1),
    }


def test_candidates_are_wrong_or_several(articles):
    # errors.py, label_candidate_errors and label_multi_candidates. Ada: wrong, not among; Bob: wrong, among two; Eve:
    # right, among two; Max: right, the only one. No row where no answer has several candidates.
    text = "Ada, Bob, Eve, Max"
    gold = [("Ada", "Q1"), ("Bob", "Q2"), ("Eve", "Q3"), ("Max", "Q4")]
    answers = [("Ada", "Q9", ["Q9", "Q8"]), ("Bob", "Q9", ["Q2", "Q9"]), ("Eve", "Q3", ["Q3", "Q9"]), ("Max", "Q4")]
    found = classes(articles(text, gold, answers))
    assert found["wrong_disambiguation.wrong_candidates"] == (1, 4)
    assert found["wrong_disambiguation.multiple_candidates"] == (1, 2)
    assert "wrong_disambiguation.wrong_candidates" not in classes(articles(text, gold, [("Ada", "Q9", ["Q9"])]))


def test_coreference_is_wrong_in_four_ways(articles):
    # errors.py, label_coreference_errors. Ada is taken for Q9; She likewise (with its reference); her for Q8 (another
    # mention); hers is missed; "the city" is no mention. Four mentions in gold, three without the missed one, two
    # without the one that refers elsewhere.
    text = "Ada read. She told her of hers in the city. It rained."
    gold = [("Ada", "Q1"), ("She", "Q1"), ("her ", "Q1"), ("hers", "Q1"), ("It", "Q2")]
    answers = [("Ada", "Q9"), ("She", "Q9"), ("her ", "Q8"), ("the city", "Q7"), ("It", "Q2")]
    gold[2], answers[2] = ("her ", "Q1", {"coref": True}), ("her ", "Q8")
    found = classes(articles(text, gold, answers))
    assert {name: counts for name, counts in found.items() if "coreference" in name} == {
        "wrong_coreference.undetected": (1, 4),
        "wrong_coreference.wrong_mention_referenced": (1, 3),
        "wrong_coreference.reference_wrongly_disambiguated": (1, 2),
        "wrong_coreference.false_detection": (1, None),
    }


def test_links_of_the_source_text_are_missed_or_wrong(articles):
    # errors.py, label_hyperlink_errors. Ada and Bob are links, Eve is not.
    text = "Ada, Bob, Eve"
    gold = [("Ada", "Q1"), ("Bob", "Q2"), ("Eve", "Q3")]
    found = classes(articles(text, gold, [("Ada", "Q1")], hyperlinks=[[[0, 3], "Ada"], [[5, 8], "Bob"]]))
    assert found["other_errors.hyperlink"] == (1, 2)


FIVE = [
    # begin, gold, answer; a mention of three characters each.
    (0, "e:1", "e:1"),
    (10, "e:2", "e:9"),
    (20, "e:3", None),
    (30, None, "e:9"),
    (40, "e:4", ...),
    (50, ..., "e:5"),
]


def side(frames, place: int) -> Frames:
    rows = [{"begin": row[0], "end": row[0] + 3, "entity": row[place]} for row in FIVE if row[place] is not ...]
    return frames(rows)


def test_five_classes_of_neleval(frames):
    # analyze.py: matched are four mentions, two with an entity on both sides, three with one in gold, one NIL; five
    # mentions in all, five answers.
    rows = evaluate(side(frames, 1), {"s": side(frames, 2)}, task=["A2KB"], match=["strong"], errors=["neleval"])
    rows = rows.filter(pl.col("column") == "error_class")
    assert rows.select("slice", "errors", "total").rows() == [
        ("wrong_link", 1, 2),
        ("link_as_nil", 1, 3),
        ("nil_as_link", 1, 1),
        ("missing", 1, 5),
        ("extra", 1, 5),
    ]
    assert rows["rate"].to_list() == [0.5, 1 / 3, 1.0, 0.2, 0.2]


def test_mention_with_alternatives_is_missing_once(frames):
    gold = frames([{"begin": 0, "end": 3, "entity": f"e:{n}", "group": "g", "option": str(n)} for n in (1, 2)])
    rows = evaluate(gold, {"s": frames([])}, task=["A2KB"], match=["strong"], errors=["neleval"])
    assert rows.filter(pl.col("slice") == "missing").select("errors", "total").rows() == [(1, 1)]


def test_errors_are_told_of_annotations_by_their_iris(frames):
    rules = PROFILES["remix"]
    gold, run = side(frames, 1), side(frames, 2)
    case = case_of(Inputs(gold, {"s": run}), Choice(profile=rules, task=("A2KB",), match=("strong",)))
    found = TAXONOMIES["neleval"].classify(case, ("strong",)).rows.filter("error")
    found = found.join(case.gold.select("mention", "annotation"), on="mention", how="left")
    found = found.join(case.answers.select("answer", answered="annotation"), on="answer", how="left")
    assert found.select("annotation", "answered", "class").sort("class").rows() == [
        (None, "d#4", "extra"),
        ("d#2", "d#2", "link_as_nil"),
        ("d#4", None, "missing"),
        ("d#3", "d#3", "nil_as_link"),
        ("d#1", "d#1", "wrong_link"),
    ]


@pytest.mark.parametrize("taxonomy", TAXONOMIES, ids=lambda one: one.name)
def test_perfect_answers_have_no_error_in_any_taxonomy(frames, taxonomy):
    gold = side(frames, 1)
    case = case_of(Inputs(gold, {"s": gold}), Choice(profile=PROFILES["remix"], task=("A2KB",), match=("strong",)))
    rows = taxonomy.classify(case, ("strong",)).rows
    assert len(rows)
    assert not rows["error"].any()
    assert set(rows["class"]) <= set(taxonomy.classes)


def test_every_dataset_has_its_errors_and_all_pools_them(frames):
    two = [frames([{"document": name, "begin": 0, "end": 3, "entity": "e:1"}], [name], name) for name in ("x", "y")]
    rows = evaluate(Frames.concat(two), {"s": two[0]}, task=["A2KB"], match=["strong"], errors=["neleval"])
    missing = rows.filter(pl.col("slice") == "missing").select("dataset", "errors", "total")
    assert missing.rows() == [("all", 1, 2), ("x", 0, 1), ("y", 1, 1)]


def test_command_shows_errors_below_the_scores_and_in_json(articles, tmp_path):
    articles("Ada, Bob", [("Ada", "Q1"), ("Bob", "Q2")], [("Ada", "Q9")])
    files = ["--gold", str(tmp_path / "x.benchmark.jsonl"), "--run", f"s={tmp_path / 'x.linked_articles.jsonl'}"]
    asked = ["evaluate", *files, "--task", "A2KB", "--match", "strong", "--errors", "neleval"]
    table = CliRunner().invoke(cli, asked).stdout
    assert [line.split() for line in table.splitlines() if line.startswith("s ")][1:] == [
        ["s", "wrong_link", "1", "1", "100.0"],
        ["s", "link_as_nil", "0", "1", "0.0"],
        ["s", "missing", "1", "2", "50.0"],
        ["s", "extra", "0", "1", "0.0"],
    ]
    rows = json.loads(CliRunner().invoke(cli, [*asked, "-o", "json"]).stdout)
    wrong = next(row for row in rows if row["slice"] == "wrong_link")
    assert (wrong["column"], wrong["average"], wrong["errors"], wrong["total"]) == ("error_class", "micro", 1, 1)
    assert "errors:neleval" in wrong["signature"]


def test_unknown_taxonomy_is_refused_with_the_nearest(frames):
    with pytest.raises(UnknownName, match="did you mean 'neleval'"):
        evaluate(side(frames, 1), {"s": side(frames, 2)}, errors=["nelevall"])
