"""Entities of gold and runs that are named in different worlds: what is read, and what is said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.formats import write
from remix.frames import Frames
from remix.kb import build
from remix.workspace import Workspace
from tests.scoring.conftest import evaluate

NAMES = ["Ada_Lovelace", "Alan_Turing", "Bob_Dylan", "Rome"]
DBR, WD = "http://dbpedia.org/resource/", "http://www.wikidata.org/entity/"


def linked(entities: list[str]) -> Frames:
    """Ada, Alan, Bob and Rome in one text, each with its entity."""
    text = "Ada met Alan and Bob in Rome."
    forms = ["Ada", "Alan", "Bob", "Rome"][: len(entities)]
    begins = [text.index(form) for form in forms]
    rows = [
        {"annotation": f"a{n}", "document": "http://c.org/d", "begin": begin, "end": begin + len(form)}
        for n, (begin, form) in enumerate(zip(begins, forms, strict=True))
    ]
    return Frames.of(
        documents=pl.DataFrame({"document": ["http://c.org/d"], "dataset": ["x"], "text": [text]}),
        annotations=pl.DataFrame(rows),
        links=pl.DataFrame(
            {"annotation": [row["annotation"] for row in rows], "entity": entities, "entity_as_given": entities}
        ),
    )


GOLD, WIKIDATA = linked([DBR + name for name in NAMES]), linked([f"{WD}Q{n}" for n in range(1, 5)])


def right(gold: Frames, run: Frames) -> int:
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    return int(rows.filter(average="micro", column="", dataset="all")["tp"].item())


@pytest.mark.parametrize("spelt", [NAMES, [name.replace("_", " ") for name in NAMES]])
def test_titles_are_read_as_titles(spelt: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.enable():
        assert right(GOLD, linked(spelt)) == right(linked(spelt), GOLD) == 4
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"{side}: 4 links are no IRIs and are read as titles, as '{spelt[0]}' is <{DBR}Ada_Lovelace>"
        for side in ("run 's'", "gold")
    ]


def test_bare_names_on_both_sides_are_compared_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.enable():
        assert right(linked(["E1", "E2", "e3", "E4"]), linked(["E1", "E2", "E3", "E4"])) == 3
    assert capsys.readouterr().err == ""


def test_wrong_answers_of_the_same_world_are_wrong_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.enable():
        assert right(GOLD, linked([DBR + name for name in reversed(NAMES)])) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("count", [1, 2])
def test_first_answer_of_another_world_is_told(count: int, capsys: pytest.CaptureFixture[str]) -> None:
    run = linked([f"{WD}Q{n}" for n in range(1, count + 1)])
    with progress.enable():
        assert right(GOLD, run) == 0
    [said] = capsys.readouterr().err.splitlines()
    assert f"in different worlds: its {count} links are of www.wikidata.org/entity/ ({count}), gold's 4 of" in said


def test_few_answers_of_another_world_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Of four answers one is right, one is wrong, and two cannot be compared to gold's entities."""
    with progress.enable():
        assert right(GOLD, linked([DBR + NAMES[0], DBR + NAMES[0], f"{WD}Q3", f"{WD}Q4"])) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("run 's': 2 of 4 answers on linked mentions are of www.wikidata.org/entity/, and no sameAs")


def test_rows_have_the_share_of_answers_that_cannot_be_compared() -> None:
    """Two of four answers of one system cannot be compared, all of another's, none of a third's; slices say nothing."""
    half = linked([DBR + NAMES[0], DBR + NAMES[0], f"{WD}Q3", f"{WD}Q4"])
    rows = evaluate(
        GOLD, {"half": half, "none": WIKIDATA, "own": GOLD}, task=["A2KB"], match=["strong"], by=["dataset"]
    )
    own = rows.filter(average="micro", dataset="all")
    assert dict(own.filter(column="").select("system", "uncompared").iter_rows()) == {"half": 0.5, "none": 1, "own": 0}
    assert own.filter(column="dataset")["uncompared"].to_list() == [None] * 3
    assert "uncompared" not in evaluate(GOLD, {"own": GOLD}, task=["A2KB"]).columns


def test_different_worlds_are_told_with_their_namespaces(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.enable():
        assert right(GOLD, WIKIDATA) == 0
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(
        "run 's' and gold name entities in different worlds: its 4 links are of www.wikidata.org/entity/ (4), "
        "gold's 4 of dbpedia.org/resource/ (4); 0 of the 4 answers that have the span of a linked mention of gold have "
        "its entity; a knowledge base with sameAs links between the two does: `remix kb build --name joined --from "
        "tables DIR`"
    )


@pytest.mark.long
def test_knowledge_base_that_joins_the_worlds_is_named_with_what_it_makes_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    forms = [f"x\tdbr:{name}\t\ttest" for name in NAMES]
    (tables / "surface_forms.tsv").write_text("\n".join(["surface_form\tentity_iri\tcount\tsource", *forms]) + "\n")
    same = [f"{WD}Q{n}\t{DBR}{name}\t1\ttest" for n, name in enumerate(NAMES[:3], 1)]
    (tables / "sameas.tsv").write_text("\n".join(["wikidata_iri\tdbpedia_iri\tcount\tsource", *same]) + "\n")
    workspace = Workspace(tmp_path / "w")
    for name, frames in (("gold", GOLD), ("run", WIKIDATA)):
        write(frames, tmp_path / f"{name}.ttl", "nif")
    workspace.load([tmp_path / "gold.ttl"])
    made = build([("tables", str(tables))], workspace.folder / "kb", name="joined")
    asked = {"gold": [tmp_path / "gold.ttl"], "run": {"s": tmp_path / "run.ttl"}, "task": ["A2KB"]}
    with progress.enable():
        rows = workspace.evaluate(**asked).rows
        said = capsys.readouterr().err
        # Of the four, three have a sameAs link.
        assert (
            f"; 3 would by the sameAs links of a knowledge base that is there: `remix kb attach {made.folder.name}`"
            in said
        )
        workspace.attach_kb(made.folder.name)
        joined = workspace.evaluate(**asked).rows
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("run 's': 1 of 4 answers on linked mentions are of www.wikidata.org/entity/, and no sameAs")
    score = {"average": "micro", "column": "", "dataset": "all", "matching": "strong"}
    assert (rows.filter(**score)["tp"].item(), joined.filter(**score)["tp"].item()) == (0, 3)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([DBR + "Ada_King", *(DBR + name for name in NAMES[1:])], "run 's': 1 of 4 answers on linked mentions are of"),
        ([f"{WD}Q{n}" for n in range(5, 9)], ""),
    ],
    ids=["title", "items"],
)
def test_namespaces_are_those_of_the_files_where_a_knowledge_base_has_others(
    tmp_path: Path, answers: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold's items become titles: one more title may be Ada's, and other items are wrong without a word."""
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "surface_forms.tsv").write_text("surface_form\tentity_iri\tcount\tsource\nx\tdbr:Rome\t\ttest\n")
    same = [f"{WD}Q{n}\t{DBR}{name}\t1\ttest" for n, name in enumerate(NAMES, 1)]
    (tables / "sameas.tsv").write_text("\n".join(["wikidata_iri\tdbpedia_iri\tcount\tsource", *same]) + "\n")
    workspace = Workspace(tmp_path / "w")
    for name, frames in (("gold", WIKIDATA), ("run", linked(answers))):
        write(frames, tmp_path / f"{name}.ttl", "nif")
    workspace.load([tmp_path / "gold.ttl"])
    workspace.attach_kb(build([("tables", str(tables))], workspace.folder / "kb", name="joined").folder.name)
    with progress.enable():
        workspace.evaluate(gold=[tmp_path / "gold.ttl"], run={"s": tmp_path / "run.ttl"}, task=["A2KB"])
    assert capsys.readouterr().err.partition(" dbpedia.org")[0].strip() == said
