"""Slices by classes are of one vocabulary, in every place that shows them."""

from __future__ import annotations

import json
import time

import polars as pl
import pytest

from remix.errors import UnknownName
from remix.formats import read
from remix.question import Question
from remix.scoring import score_inputs
from remix.scoring.choice import choose
from remix.scoring.inputs import Inputs, Knowledge
from remix.studies.counting import _with_partitions
from remix.web.forms import Form
from remix.web.page import VIEWS, Note
from remix.web.rendering import render_page
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.scoring.conftest import evaluate, framed

DBO, WD, MNT = "http://dbpedia.org/ontology/", "http://www.wikidata.org/entity/", "https://w3id.org/nel-remix/mnt#"
# Of five mentions three have classes of dbo, two of wd, one of mnt, and one has none.
CLASSES = [[f"{DBO}Person", f"{WD}Q5"], [f"{DBO}Place", f"{WD}Q515"], [f"{DBO}Person"], [f"{MNT}Alias"], []]
ROWS = [{"begin": 10 * n, "end": 10 * n + 3, "entity": f"e:{n}", "classes": one} for n, one in enumerate(CLASSES)]
GOLD = framed(ROWS)
OF_DBO = {f"{DBO}Person": 2, f"{DBO}Place": 1, "unspecified": 2}
OF_COARSE = {f"{DBO}Person": 2, f"{DBO}Place": 1, "unspecified": 2}
OF_WD = {f"{WD}Q5": 1, f"{WD}Q515": 1, "unspecified": 3}
SHOWN = "class: classes of dbo (3 mentions) are shown"
TOLD = f"{SHOWN}; there are also wd (2), mnt (1): --by class:wd, or class:all for all"


def sizes(rows: pl.DataFrame, column: str) -> dict[str, int]:
    own = rows.filter(column=column, average="micro", task="A2KB", matching="strong", dataset="all")
    return dict(own.select("slice", "mentions").iter_rows())


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("class", OF_DBO),
        ("class:wd", OF_WD),
        ("class:mnt", {f"{MNT}Alias": 1, "unspecified": 4}),
        ("type", OF_DBO),
        ("type:wd", OF_WD),
        ("type:coarse", OF_COARSE),
        # Q515 has the very mention of Place, which it maps to, so that the two are one class.
        ("class:all", {**OF_DBO, f"{WD}Q5": 1, f"{MNT}Alias": 1, "unspecified": 1}),
    ],
)
def test_slices_by_class_are_of_the_vocabulary_of_most_mentions_or_of_the_one_asked_for(by, expected):
    rows = evaluate(GOLD, {"s": GOLD}, task=["A2KB"], match=["strong"], by=[by])
    assert sizes(rows, by) == expected


def test_coarse_types_are_those_that_classes_of_any_vocabulary_map_to():
    """Q5 maps to Person, Q515 and schema:Place to Place, mnt:Alias and dbo:Work to none of the three."""
    classes = [[f"{WD}Q5"], ["http://schema.org/Place"], [f"{WD}Q515", f"{MNT}Alias"], [f"{DBO}Work"]]
    rows = [{"begin": 10 * n, "end": 10 * n + 3, "entity": f"e:{n}", "classes": own} for n, own in enumerate(classes)]
    gold = framed(rows)
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["type:coarse", "type"])
    assert sizes(rows, "type:coarse") == {f"{DBO}Person": 1, f"{DBO}Place": 2, "unspecified": 1}
    assert rows.filter(column="type:coarse", average="micro")["f1"].to_list() == [1.0] * 3
    told = dict(rows.select("column", "vocabularies").drop_nulls().unique().iter_rows())
    assert told["type:coarse"] == "type: coarse (3), wd (2), dbo (1), mnt (1), schema (1)"
    assert told["type"] == "type: wd (2), dbo (1), mnt (1), schema (1)"


@pytest.mark.parametrize("by", [["type", "type:wd"], ["type:wd", "type"]])
def test_a_vocabulary_that_is_named_is_not_what_a_study_shows_of_the_column_itself(by):
    """Of all parts together type shows dbo, and so has each part that is counted apart, in whichever order."""
    rows = [
        {"label": one, "column": "type", "vocabularies": "wd (2), dbo (3)" if "wd" in one else "dbo (3), wd (2)"}
        for one in by
    ]
    known = _with_partitions(Knowledge(), pl.DataFrame(rows))
    assert known.vocabularies["type"].show("").shown == "dbo" and known.vocabularies["type"].show("wd").shown == "wd"


def test_the_vocabulary_shown_and_the_others_stand_in_the_rows():
    rows = evaluate(GOLD, {"s": GOLD}, task=["A2KB"], match=["strong"], by=["class", "class:wd", "dataset"])
    told = dict(rows.select("column", "vocabularies").unique().iter_rows())
    of_classes = {"class": "class: dbo (3), wd (2), mnt (1)", "class:wd": "class: wd (2), dbo (3), mnt (1)"}
    assert told == {"": None, "dataset": None, **of_classes}


def test_of_vocabularies_with_as_many_mentions_the_first_by_name_is_shown():
    gold = framed([{**ROWS[0], "classes": [f"{WD}Q5", f"{MNT}Alias"]}])
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["class"])
    assert sizes(rows, "class") == {f"{MNT}Alias": 1}


def test_alternatives_and_ignorable_mentions_do_not_make_a_vocabulary_the_most_frequent():
    # Three readings of one mention, and two mentions that do not count, have classes of wd; two mentions of dbo.
    group = [
        {"begin": 0, "end": n + 2, "entity": f"e:{n}", "group": "g", "option": f"o{n}", "classes": [f"{WD}Q5"]}
        for n in range(3)
    ]
    ignored = [{**row, "begin": 50 + n, "ignorable": "optional"} for n, row in enumerate(ROWS[:2])]
    gold = framed([*group, *ROWS[1:3], *ignored])
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["class"])
    # wd: the group and ROWS[1]; dbo: ROWS[1] and ROWS[2]. A tie, so that dbo is shown.
    assert rows["vocabularies"].drop_nulls().unique().to_list() == ["class: dbo (2), wd (2)"]


def test_a_vocabulary_that_gold_has_not_is_refused_with_those_that_it_has():
    with pytest.raises(UnknownName, match="no vocabulary of classes named 'schem'.*all, dbo, mnt, wd"):
        evaluate(GOLD, {"s": GOLD}, by=["class:schem"])


def test_an_answer_whose_entity_has_no_class_of_the_vocabulary_is_in_the_scope_of_what_has_none():
    # By dbo the slice 'unspecified' has the last two mentions. Of two wrong answers beside it one means a person of
    # wd alone, which has no class of dbo and could be there, the other a person of dbo, which could not.
    types = pl.DataFrame(
        [("e:0", f"{DBO}Person"), ("e:wd", f"{WD}Q5"), ("e:dbo", f"{DBO}Person")], ["entity", "class"], orient="row"
    )
    wrong = [{"begin": 70, "end": 73, "entity": "e:wd"}, {"begin": 80, "end": 83, "entity": "e:dbo"}]
    run = framed([*ROWS[3:], *wrong])
    rows = evaluate(GOLD, {"s": run}, task=["A2KB"], match=["strong"], by=["class"], types=types)
    [row] = rows.filter(slice="unspecified", average="micro").to_dicts()
    assert (row["tp"], row["fp"], row["precision_in_scope"]) == (2, 2, 2 / 3)


def test_runs_on_different_datasets_are_sliced_by_one_vocabulary():
    # In the first dataset wd has most mentions, in both together dbo.
    first = framed([{**ROWS[0], "document": "a", "classes": [f"{WD}Q5"]}], documents=["a"], dataset="x")
    second = framed([{**row, "document": "b"} for row in ROWS[:3]], documents=["b"], dataset="y")
    gold = type(first).concat([first, second])
    homes = gold.documents.select("dataset", gold="document").select("gold", home="dataset")
    inputs = Inputs(gold, {"one": first, "both": gold}, made_for={"one": "A2KB", "both": "A2KB"}, homes=homes)
    rows = score_inputs(inputs, choose(Question(by=("class",), task=("A2KB",), match=("strong",))))
    own = rows.filter(column="class")
    assert {*own.filter(system="both")["slice"]} == {f"{DBO}Person", f"{DBO}Place", "unspecified"}
    assert {*own["vocabularies"]} == {"class: dbo (3), wd (3)"}
    assert not own["slice"].str.starts_with(WD).any()


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("vocabularies")
    text = "Ada  met  Oslo  and  Bob  and  Cyd  and  Dan"
    places = [text.index(name) for name in ("Ada", "Oslo", "Bob", "Cyd", "Dan")]
    lines = [
        {"document": "d", "text": text, "begin": at, "end": at + 3, "entity": f"http://e.org/{n}", "class": one}
        for n, (at, one) in enumerate(zip(places, CLASSES, strict=True))
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "run.jsonl").write_text(
        "".join(json.dumps({**line, "entity": "http://e.org/x"}) + "\n" for line in lines)
    )
    made = Workspace(folder / ".remix")
    made.load([folder / "gold.jsonl"])
    made.add_run("s", folder / "run.jsonl", on="gold")
    return made


def said(work: Workspace, *arguments: str) -> str:
    done = run_verb(*arguments, "--workspace", str(work.folder))
    assert done.returncode == 0, done.stderr
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.long
def test_scores_by_class_on_the_command_line_and_pages_name_the_vocabulary_and_the_others(work):
    told = said(work, "evaluate", "gold", "--by", "class")
    assert TOLD in told and "Q515" not in told
    asked = {"dataset": "gold", "by": "class"}
    while (page := VIEWS["systems"].show(work, asked)).refresh:
        time.sleep(0.2)
    notes = {one.text: one.links for one in page.blocks if isinstance(one, Note)}
    assert TOLD in notes
    assert [*notes["Classes of other vocabularies:"]] == ["class:wd", "class:mnt", "class:all"]
    # One dataset alone may show another vocabulary than all together: the errors are asked for by the one shown.
    assert "by=class%3Adbo" in render_page(page, VIEWS["systems"], "")


@pytest.mark.long
def test_errors_by_class_are_of_one_vocabulary_on_the_command_line_and_the_page(work):
    told = said(work, "errors", "s", "--on", "gold", "--by", "class")
    assert TOLD in told and "slices (--slice): dbo:Person (2); unspecified (2); dbo:Place (1)" in told
    told = said(work, "errors", "s", "--on", "gold", "--by", "class:wd", "--slice", "Q5")
    assert "1 of 5 mentions" in told
    page = VIEWS["errors"].show(work, {"dataset": "gold", "system": "s", "by": "class"})
    assert TOLD in [one.text for one in page.blocks if isinstance(one, Note)]


@pytest.mark.long
def test_a_report_by_class_names_the_vocabulary(work, tmp_path):
    file = work.report(["gold"], by="class", to=tmp_path / "report.html")
    assert TOLD in file.read_text() and "slice=http://www.wikidata.org" not in file.read_text()


def test_the_builder_lists_the_classes_of_one_vocabulary_and_those_that_are_picked(work):
    def listed(**parameters: str) -> dict[str, tuple[str, ...]]:
        page = VIEWS["builder"].show(work, {"on": "class", **parameters})
        fields = [one for block in page.blocks if isinstance(block, Form) for one in block.fields]
        return {one.name: tuple(one.values) for one in fields}

    assert listed()["in.class"] == ("dbo:Person", "dbo:Place", "no value")
    assert listed()["of.class"] == ("dbo", "wd", "mnt", "all")
    assert listed(**{"of.class": "wd"})["in.class"] == ("wd:Q5", "wd:Q515", "no value")
    assert listed(**{"in.class": "wd:Q5"})["in.class"] == ("dbo:Person", "dbo:Place", "wd:Q5", "no value")


@pytest.mark.long
def test_parts_by_class_are_of_one_vocabulary_and_what_has_none_of_it_is_a_part(work, tmp_path):
    done = run_verb(
        *("partition", "--by", "class", "--scheme", "classes", "-o", "json", "--workspace", str(work.folder)),
        *("--to", str(tmp_path / "parts")),
    )
    rows = {row["part"]: (row["annotations"], row["share"]) for row in json.loads(done.stdout)}
    of_dbo = {"http://dbpedia.org/ontology/Person": (2, 0.4), "http://dbpedia.org/ontology/Place": (1, 0.2)}
    assert rows == {**of_dbo, "unspecified": (2, 0.4)}
    assert SHOWN in done.stderr
    forms = read(tmp_path / "parts" / "class-unspecified.ttl").frames.gold().annotations["surface_form"]
    assert sorted(forms) == ["Cyd", "Dan"]
