"""The built-in systems: what they find in a text, and how they choose."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix.errors import MissingKnowledge, UnknownName, UsageError
from remix.frames import Frames
from remix.kb import KnowledgeBase, build
from remix.runs.register import Run, list_runs, load_run, save_run
from remix.systems import SYSTEMS, annotate, spot

DBR = "http://dbpedia.org/resource/"
FORMS = {
    "Paris": ["Paris", "Paris,_Texas"],
    "Texas": ["Texas"],
    "New York": ["New_York_City"],
    "New York Times": ["The_New_York_Times"],
    "U.S.": ["United_States"],
    "He": ["Helium"],
    "radium": ["Radium"],
    "life": ["Life_(magazine)"],
}
# Paris has three incoming links, Paris, Texas none: PageRank ranks it first.
LINKS = [("Texas", "Paris"), ("Radium", "Paris"), ("New_York_City", "Paris"), ("Paris,_Texas", "Texas")]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    folder = tmp_path_factory.mktemp("tables")
    rows = [f"{form}\tdbr:{entity}\t\ttest" for form, entities in FORMS.items() for entity in entities]
    (folder / "surface_forms.tsv").write_text("\n".join(["surface_form\tentity_iri\tcount\tsource", *rows]) + "\n")
    links = [f"dbr:{a}\tdbr:{b}\t1\ttest" for a, b in LINKS]
    (folder / "links.tsv").write_text("\n".join(["source_iri\ttarget_iri\tcount\tsource", *links]) + "\n")
    return build([("tables", str(folder))], tmp_path_factory.mktemp("kb"), name="test")


def document(text: str, *spans: tuple[int, int, str | None]) -> Frames:
    """One document with annotations (begin, end, entity or None for NIL)."""
    rows = [
        {
            "annotation": f"a{i}",
            "document": "d",
            "dataset": "s",
            "begin": b,
            "end": e,
            "surface_form": text[b:e],
            "is_nil": x is None,
        }
        for i, (b, e, x) in enumerate(spans)
    ]
    links = [{"annotation": f"a{i}", "entity": DBR + x} for i, (_, _, x) in enumerate(spans) if x]
    frames = {"annotations": pl.DataFrame(rows)} | ({"links": pl.DataFrame(links)} if links else {})
    return Frames.of(documents=pl.DataFrame({"document": ["d"], "dataset": ["s"], "text": [text]}), **frames)


def answers(frames: Frames) -> list[tuple[str, str | None]]:
    joined = frames.annotations.join(frames.links, on="annotation", how="left").sort("begin")
    return [
        (form, entity and entity.removeprefix(DBR))
        for form, entity in joined.select("surface_form", "entity").iter_rows()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He saw Paris, Texas.", ["Paris", "Texas"]),
        ("the New York Times of New York", ["New York Times", "New York"]),
        ("It moved to the U.S.", ["U.S."]),
        ("Paris's mayor met Paris’s poet in Paris.", ["Paris", "Paris", "Paris"]),
        ("radium is a part of life", ["radium"]),
        ("PARIS", ["PARIS"]),
        ("Parisian New Yorkers", []),
        ("😀 Paris 😀 Texas", ["Paris", "Texas"]),
        ("", []),
    ],
)
def test_spot_finds_the_longest_forms(text: str, expected: list[str], kb: KnowledgeBase) -> None:
    found = spot(document(text).documents, kb).sort("begin")
    assert found["surface_form"].to_list() == expected
    for begin, end, form in found.select("begin", "end", "surface_form").iter_rows():
        assert text[begin:end] == form


def test_prior_when_a_form_is_ambiguous_takes_the_most_prominent(kb: KnowledgeBase) -> None:
    assert answers(annotate("prior", document("Paris and Texas"), kb)) == [("Paris", "Paris"), ("Texas", "Texas")]


def test_prior_when_spans_are_given_answers_each_of_them(kb: KnowledgeBase) -> None:
    given = document("Paris and Xyz", (0, 5, "Paris,_Texas"), (10, 13, "Xyz"))
    assert answers(annotate("prior", given, kb, task="D2KB")) == [("Paris", "Paris"), ("Xyz", None)]


def test_random_candidate_when_seeded_repeats_and_draws_every_candidate(kb: KnowledgeBase) -> None:
    text = document("Paris " * 200)
    one, again = (annotate("random-candidate", text, kb, seed=3) for _ in range(2))
    assert one.links.equals(again.links)
    assert not one.links.equals(annotate("random-candidate", text, kb, seed=4).links)
    drawn = one.links["entity"].value_counts(sort=True)["count"].to_list()
    # 200 fair draws of two: fewer than 70 of either has a probability below 1e-4, and the seed is fixed.
    assert len(drawn) == 2
    assert min(drawn) >= 70


def test_oracle_answers_gold_only_where_it_is_a_candidate(kb: KnowledgeBase) -> None:
    gold = document("Paris Xyz Texas Joe", (0, 5, "Paris,_Texas"), (6, 9, "Paris"), (10, 15, "Radium"), (16, 19, None))
    assert answers(annotate("oracle-candidates", gold, kb)) == [("Paris", "Paris,_Texas"), ("Joe", None)]


@pytest.mark.parametrize("name", SYSTEMS.names())
@pytest.mark.parametrize("task", ["A2KB", "D2KB"])
def test_every_system_answers_within_the_texts(name: str, task: str, kb: KnowledgeBase) -> None:
    text = "Paris, New York and the U.S."
    given = document(text, (0, 5, "Paris"), (7, 15, "New_York_City"))
    made = annotate(name, given, kb, task=task, seed=1)
    assert made.documents.equals(given.documents), f"system '{name}' has to leave the documents as they are"
    beside = set(made.links["annotation"]) - set(made.annotations["annotation"])
    assert not beside, f"system '{name}' links {beside}, which are none of its annotations"
    for begin, end, form in made.annotations.select("begin", "end", "surface_form").iter_rows():
        there = text[begin:end]
        assert there == form, f"system '{name}' says '{form}' at {begin},{end}, where the text has '{there}'"


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_every_system_answers_an_empty_dataset_with_nothing(name: str, kb: KnowledgeBase) -> None:
    found = annotate(name, Frames.empty(), kb).annotations
    assert found.is_empty(), f"system '{name}' answers something where there are no documents"


def test_annotate_refuses_what_it_does_not_know(kb: KnowledgeBase) -> None:
    with pytest.raises(UnknownName, match="did you mean 'prior'"):
        annotate("priro", Frames.empty(), kb)
    with pytest.raises(UsageError, match="not 'NER'"):
        annotate("prior", Frames.empty(), kb, task="NER")
    with pytest.raises(MissingKnowledge, match="remix kb attach"):
        annotate("prior", Frames.empty(), None)


def test_run_when_saved_again_replaces_the_earlier_one(tmp_path: Path, kb: KnowledgeBase) -> None:
    made = annotate("prior", document("Paris"), kb)
    for content in ("one", "two"):
        save_run(tmp_path, Run("prior", "s", content, "A2KB", 0, kb.version, "0"), made)
    run, back = load_run(tmp_path, "prior", "s")
    assert (run.content, [r.system for r in list_runs(tmp_path)]) == ("two", ["prior"])
    assert back.annotations.equals(made.annotations)
    assert [p.name for p in tmp_path.iterdir()] == ["prior--s--a2kb"]


def test_run_when_there_is_none_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="remix annotate news --system prior"):
        load_run(tmp_path, "prior", "news")
