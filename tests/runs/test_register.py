"""Runs registered once and taken by name: from files, frames and systems, by the command line and in Python."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from remix import progress
from remix.cli import cli
from remix.errors import BadInput, Error, StoreError, UnknownName, UsageError
from remix.formats import read
from remix.places import seal
from remix.runs.due import notes_of, outcomes_due
from remix.runs.register import list_runs, load_run
from remix.runs.registration import add_run
from remix.scoring.choice import HASHED_BY, frames_hash
from remix.store.loading import load
from remix.store.queries import Query
from remix.store.targets import targets
from remix.web.page import VIEWS, Note, Passages
from remix.workspace import Workspace, open_workspace
from tests.commands import run_verb
from tests.pages import follow

SMALL = Path(__file__).parent / "small"


def invoke(workspace: Workspace, *arguments: str) -> str:
    verb, *rest = arguments
    line = [verb, *rest, "-w", str(workspace.folder)]
    done = CliRunner().invoke(cli, line, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def micro(workspace: Workspace, **choices: object) -> dict[str, tuple[int, int, int]]:
    rows = workspace.evaluate("gold", task=["A2KB"], match=["strong"], **choices).rows
    own = rows.filter(average="micro", column="", dataset="all")
    return {system: tuple(counts) for system, *counts in own.select("system", "tp", "fp", "fn").iter_rows()}


# Of a Ada is right, three answers are wrong, three mentions are missed; of b two are right and two missed.
A, B = (1, 3, 3), (2, 0, 2)


@pytest.mark.long
def test_run_is_registered_once_and_every_command_takes_it_by_name(workspace: Workspace) -> None:
    for name in "ab":
        invoke(workspace, "run", "add", name, str(SMALL / f"{name}.ttl"), "--on", "gold")
    listed = json.loads(invoke(workspace, "run", "list", "-o", "json"))
    assert [(row["run"], row["dataset"], row["task"], row["answers"], row["source"]) for row in listed] == [
        ("a", "gold", "A2KB", 4, "a.ttl"),
        ("b", "gold", "A2KB", 2, "b.ttl"),
    ]
    assert micro(workspace) == {"a": A, "b": B}
    assert micro(workspace, run=["b"]) == {"b": B}
    shown = json.loads(invoke(workspace, "run", "show", "a", "-o", "json"))
    assert [row["documents"] for row in shown] == [1]
    line = ["evaluate", "gold", "--run", "a", "--run", f"other={SMALL / 'b.ttl'}", "--task", "A2KB", "-o", "json"]
    assert {row["system"] for row in json.loads(invoke(workspace, *line))} == {"a", "other"}
    by = json.loads(
        invoke(workspace, "evaluate", "gold", "--run", "a", "--by", "error:b", "--task", "A2KB", "-o", "json")
    )
    assert {"correct", "missing"} <= {row["slice"] for row in by}
    invoke(workspace, "run", "drop", "a")
    assert micro(workspace) == {"b": B}


def _cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _lack_a_field(file: Path) -> None:
    file.write_text(json.dumps({name: value for name, value in json.loads(file.read_text()).items() if name != "kb"}))
    (file.parent / "SHA256SUMS").unlink()


def _hold_another_number(file: Path) -> None:
    file.write_text(file.read_text().replace('"answers": 4', '"answers": 5'))


@pytest.mark.long
@pytest.mark.parametrize("damage", [_cut_short, _lack_a_field, _hold_another_number, Path.unlink])
def test_run_whose_description_is_damaged_hinders_its_dataset_alone(
    workspace: Workspace, tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """a and b are on gold, a on gold1 as well, where its description is damaged: as with a damaged file of answers."""
    for name in ("gold", "a"):
        text = (SMALL / f"{name}.ttl").read_text(encoding="utf-8").replace("corpus.org/", "corpus1.org/")
        (tmp_path / f"{name}1.ttl").write_text(text, encoding="utf-8")
    workspace.load([tmp_path / "gold1.ttl"])
    for name in "ab":
        workspace.add_run(name, SMALL / f"{name}.ttl", on="gold")
    workspace.add_run("a", tmp_path / "a1.ttl", on="gold1")
    damage(file := workspace.runs_folder / "a--gold1--a2kb" / "run.json")
    work = Workspace(workspace.folder)
    what = "`remix run add a FILE --on gold1 --replace` registers its answers anew, `remix run drop a --on gold1`"
    capsys.readouterr()
    with progress.enable():
        assert micro(work) == {"a": A, "b": B}
    told = capsys.readouterr().err
    assert f"run 'a' on gold1 is left out: {file} is " in told and what in told
    assert micro(work, run=["a"]) == {"a": A}
    # A file of gold's texts is answered by runs on any dataset that has them.
    shutil.copy(SMALL / "gold.ttl", tmp_path / "copied.ttl")
    assert {*work.evaluate(tmp_path / "copied.ttl", run="a").rows["system"]} == {"a"}
    asked = {"name": "both", "datasets": ["gold", "gold1"], "runs": {"a": {}}, "tasks": ["A2KB"]}
    rows = work.study(asked, to=tmp_path / f"study-{damage.__name__}").results.scores.filter(average="micro", column="")
    assert dict(rows.select("target", "state").unique().iter_rows()) == {
        "gold": "there", "gold1": "failed", "all": "failed"
    }  # fmt: skip
    assert not work.stats("gold").rows.is_empty()
    work.query("ASK { ?a rmx:errorClass ?class }")
    assert len(work.errors("a", on="gold").found) > 0
    VIEWS["systems"].show(work, {"dataset": "gold"})
    VIEWS["start"].show(work, {})
    for asked in (lambda: work.evaluate("gold1"), lambda: work.evaluate(["gold", "gold1"], run="a")):
        with pytest.raises(StoreError, match="run.json is .*`remix run add a FILE --on gold1 --replace`"):
            asked()
    listed = {(row["run"], row["dataset"]): row["source"] for row in work.runs().to_dicts()}
    assert listed["a", "gold"] == "a.ttl" and listed["a", "gold1"].startswith("damaged: ")
    with pytest.raises(StoreError, match="run.json is "):
        work.add_run("a", tmp_path / "a1.ttl", on="gold1")
    assert work.add_run("a", tmp_path / "a1.ttl", on="gold1", replace=True)["status"].to_list() == ["replaced"]
    assert {*work.evaluate("gold1").rows["system"]} == {"a"}
    damage(file)
    assert [dataset for dataset, _ in work.drop_run("a", on="gold1")] == ["gold1", "gold1"]
    assert not file.parent.exists()


def test_queries_find_the_outcomes_of_a_registered_run(workspace: Workspace) -> None:
    workspace.add_run("a", SMALL / "a.ttl", on="gold")
    text = "SELECT ?form { ?a rmx:truePositiveOf ?run ; nif:anchorOf ?form . ?run rmx:system 'a' . ?a a nif:Phrase }"
    assert workspace.store.index().frame(text).to_series().to_list() == ['"Ada"']


@pytest.mark.long
def test_outcomes_of_answers_whose_registration_was_interrupted_are_made_by_who_reads_them(
    workspace: Workspace,
) -> None:
    text = "SELECT ?form { ?a rmx:truePositiveOf ?run ; nif:anchorOf ?form . ?run rmx:system 'x' . ?a a nif:Phrase }"

    def right() -> set[str]:
        return {*workspace.query(text).table["form"]}

    workspace.add_run("x", SMALL / "a.ttl", on="gold")
    assert right() == {"Ada"}
    folder, [gold] = workspace.store.own("runs"), targets(workspace.store, ["gold"])
    with pytest.raises(KeyboardInterrupt), outcomes_due(folder, ["gold"]):
        add_run(folder, "x", read(SMALL / "b.ttl").frames, [gold], replace=True)
        raise KeyboardInterrupt
    # b has Ada and Alan.
    assert len(right()) == 2 and notes_of(folder) == {}
    # What is refused leaves no note, and neither does what is done.
    with pytest.raises(UsageError, match="registered with other answers"):
        workspace.add_run("x", SMALL / "a.ttl", on="gold")
    assert notes_of(folder) == {}


@pytest.mark.long
def test_note_of_outcomes_outlives_what_is_refused_or_done_before_they_are_made(workspace: Workspace) -> None:
    workspace.add_run("x", SMALL / "a.ttl", on="gold")
    folder, [gold] = workspace.store.own("runs"), targets(workspace.store, ["gold"])
    with pytest.raises(KeyboardInterrupt), outcomes_due(folder, ["gold"]):
        add_run(folder, "x", read(SMALL / "b.ttl").frames, [gold], replace=True)
        raise KeyboardInterrupt
    with pytest.raises(UsageError, match="registered with other answers"):
        workspace.add_run("x", SMALL / "a.ttl", on="gold")
    workspace.add_run("y", SMALL / "a.ttl", on="gold")
    assert [*notes_of(folder).values()] == ["gold"]
    text = "SELECT ?form { ?a rmx:truePositiveOf ?run ; nif:anchorOf ?form . ?run rmx:system 'x' . ?a a nif:Phrase }"
    # a has Ada alone, b has Ada and Alan.
    assert len({*workspace.query(text).table["form"]}) == 2 and notes_of(folder) == {}
    # A disk that is full in the middle refuses nothing.
    with pytest.raises(Error), outcomes_due(folder, ["gold"]):
        raise Error("no space left on device")
    assert [*notes_of(folder).values()] == ["gold"]


def test_outcomes_are_made_where_loading_their_dataset_again_was_interrupted(workspace: Workspace) -> None:
    workspace.add_run("x", SMALL / "a.ttl", on="gold")
    with pytest.raises(KeyboardInterrupt), outcomes_due(workspace.store.own("runs")):
        workspace.store.drop("gold")
        load(workspace.store, [str(SMALL / "gold.ttl")])
        raise KeyboardInterrupt
    assert "run-x" not in workspace.store.dataset("gold").attached
    workspace.query("ASK { ?a a nif:Phrase }")
    assert "run-x" in workspace.store.dataset("gold").attached


def test_annotate_keeps_the_outcomes_of_the_answers_that_it_registers(news: Workspace) -> None:
    held = news.store.dataset("sample-news").attached
    assert {"run-prior", "run-random-candidate", "agreement"} <= held.keys()


@pytest.mark.long
def test_difficulty_is_learnt_at_once_of_the_answers_that_ship(sample_workspace: Callable[[], Workspace]) -> None:
    found = sample_workspace().difficulty()
    assert found.report["systems"].item() == 3


CHATEL = {
    "sentence": "Ada met Bob .",
    "entities": {
        "starts": [0, 8],
        "ends": [3, 11],
        "entity_mentions": ["Ada", "Bob"],
        "entity_names": ["Ada_Lovelace", "Bob_Dylan"],
        "entity_candidates": [["Ada Lovelace"], []],
        "predict_entity_names": ["Ada Lovelace", "Bob Marley"],
    },
}


def test_answers_are_taken_of_a_file_that_has_gold_and_answers(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "both.json").write_text(json.dumps({"d1": CHATEL}))
    workspace.load([tmp_path / "both.json"])
    workspace.add_run("model", tmp_path / "both.json", on="both")
    rows = workspace.evaluate("both", run=["model"], task=["A2KB"], match=["strong"]).rows
    # Ada is right, Bob is another one; gold held against itself would be 2, 0, 0.
    assert rows.filter(average="micro", column="", dataset="all").select("tp", "fp", "fn").row(0) == (1, 1, 1)
    with pytest.raises(UsageError, match="run 'gold' is gold itself: its 2 answers are the 2 mentions of both with"):
        workspace.add_run("gold", tmp_path / "both.json", on="both", format="chatel-json")
    assert [run.system for run in list_runs(workspace.store.own("runs"))] == ["model"]


@pytest.mark.long
def test_remix_that_lost_an_origin_says_why_no_run_answers_it(workspace: Workspace, tmp_path: Path) -> None:
    """Of gold and gold1 a remix was cut, which a answers by its runs on both, until gold1 is dropped."""
    for name in ("gold", "a"):
        text = (SMALL / f"{name}.ttl").read_text(encoding="utf-8").replace("corpus.org/", "corpus1.org/")
        (tmp_path / f"{name}1.ttl").write_text(text, encoding="utf-8")
    workspace.load([tmp_path / "gold1.ttl"])
    workspace.add_run("a", [SMALL / "a.ttl", tmp_path / "a1.ttl"], on=["gold", "gold1"])
    workspace.build(Query.parse("SELECT ?annotation { ?annotation nif:anchorOf ?form }\n", "part"), to=tmp_path)
    workspace.load([tmp_path / "part.ttl"])
    assert {*workspace.evaluate("part").rows["system"]} == {"a"}
    workspace.drop("gold1")
    lost = "part is a remix of gold, gold1, .*; gold1 is not loaded: `remix load` that again, or build the remix"
    for choice in ({}, {"run": "a"}):
        with pytest.raises(StoreError, match=lost):
            workspace.evaluate("part", **choice)
    notes = [one.text for one in VIEWS["systems"].show(workspace, {"dataset": "part"}).blocks if isinstance(one, Note)]
    assert any("gold1 is not loaded" in one for one in notes)
    (tmp_path / "gold1.ttl").write_text((tmp_path / "gold1.ttl").read_text().replace("Ada_Lovelace", "Ada_Byron"))
    workspace.load([tmp_path / "gold1.ttl"])
    with pytest.raises(StoreError, match="gold1 has other content now"):
        workspace.evaluate("part")


@pytest.mark.long
def test_run_that_is_right_where_other_documents_drop_out_is_not_gold_itself(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two documents gold has one, of one mention, which is right; the run's answer to the other drops out."""
    rows = [
        {"document": name, "text": text, "begin": 0, "end": 3, "entity": "urn:e:Ada"}
        for name, text in (("1", "Ada came"), ("2", "Bob went"))
    ]
    for name, lines in (("one", rows[:1]), ("run", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    workspace.load([tmp_path / "one.jsonl"])
    with progress.enable():
        workspace.evaluate("one", run={"other": tmp_path / "run.jsonl"})
        told = "run 'other': 1 of its 2 answers are to documents that gold has not, and those to gold's documents (1)"
        assert told in capsys.readouterr().err
        workspace.add_run("other", tmp_path / "run.jsonl", on="one")
        assert told in capsys.readouterr().err
        workspace.evaluate("one", run={"third": tmp_path / "run.jsonl"}, store=True)
    assert told.replace("other", "third") in capsys.readouterr().err
    with pytest.raises(UsageError, match="run 'same' is gold itself"):
        workspace.add_run("same", tmp_path / "one.jsonl", on="one")


@pytest.mark.long
def test_answers_in_a_file_that_has_gold_too_are_scored_without_being_registered(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "both.json"
    file.write_text(json.dumps({"d1": CHATEL}))
    workspace.load([file])
    for asked in ({"datasets": "both"}, {"gold": file}, {"datasets": "both", "store": True}):
        rows = workspace.evaluate(**asked, run={"model": file}, task=["A2KB"], match=["strong"]).rows
        assert rows.filter(average="micro", column="", dataset="all").select("tp", "fp", "fn").row(0) == (1, 1, 1)
    assert "gold itself" not in capsys.readouterr().err
    # Whoever names the format of gold is told what is scored.
    with progress.enable():
        workspace.evaluate("both", run={"gold": file}, format="chatel-json")
    assert "run 'gold' is gold itself, its mentions with their links" in capsys.readouterr().err


def test_a_perfect_run_is_registered_where_that_is_said(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="`remix run add me FILE --perfect` registers the answers of a system that is"):
        workspace.add_run("me", SMALL / "gold.ttl")
    workspace.add_run("me", SMALL / "gold.ttl", perfect=True)
    assert micro(workspace, run="me") == {"me": (4, 0, 0)}


def test_gold_is_not_registered_as_a_run_but_may_be_held_against_itself(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="run 'me' is gold itself: its 4 answers are the 4 mentions of gold"):
        workspace.add_run("me", SMALL / "gold.ttl")
    with pytest.raises(UsageError, match="run 'me' is gold itself"):
        workspace.evaluate("gold", run={"me": SMALL / "gold.ttl"}, store=True)
    assert not list_runs(workspace.store.own("runs")) and not workspace.store.dataset("gold").attached
    assert micro(workspace, run={"me": SMALL / "gold.ttl"}) == {"me": (4, 0, 0)}


@pytest.mark.long
def test_numbered_documents_without_texts_are_registered_on_no_dataset_that_is_not_named(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Both datasets number their documents, so that nothing but `--on` says which of them the run answers."""
    for name, form in (("news", "Ada"), ("talks", "Bob")):
        line = {"document": "0", "text": f"{form} met Eve", "begin": 0, "end": 3, "entity": f"http://x.org/{form}"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
        workspace.load([tmp_path / f"{name}.jsonl"])
    (tmp_path / "run.csv").write_text("document,begin,end,entity\n0,0,3,http://x.org/Ada\n0,8,11,http://x.org/Eve\n")
    for work in (
        lambda: workspace.add_run("r", tmp_path / "run.csv"),
        lambda: workspace.evaluate(run={"r": tmp_path / "run.csv"}),
        lambda: workspace.evaluate(["news", "talks"], run={"r": tmp_path / "run.csv"}),
    ):
        with pytest.raises(BadInput, match="documents of news and of talks are .* `remix run add r FILE --on news`"):
            work()
    assert workspace.add_run("r", tmp_path / "run.csv", on="news")["dataset"].to_list() == ["news"]
    rows = workspace.evaluate(run=["r"], task=["A2KB"], match=["strong"]).rows
    # Of its two answers Ada's is right; on the other dataset it is not scored.
    assert rows.filter(average="micro", column="", dataset="all").select("tp", "fp", "fn").row(0) == (1, 1, 0)


@pytest.mark.long
def test_signature_is_of_gold_and_of_what_was_asked_and_of_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    """Two people with the same gold and run have one signature, whatever else their workspaces hold."""
    other = tmp_path / "other.ttl"
    text = (SMALL / "gold.ttl").read_text()
    other.write_text(text.replace("Ada met Alan", "Ada saw Alan").replace("corpus.org/1", "corpus.org/2"))

    def signatures(work: Workspace, **choices: object) -> dict[str, str]:
        rows = work.evaluate("gold", task=["A2KB"], match=["strong"], **choices).rows
        return dict(rows.select("system", "signature").unique().rows())

    workspace.add_run("a", SMALL / "a.ttl")
    first = signatures(workspace)
    theirs = Workspace(tmp_path / "theirs")
    theirs.load([other])
    theirs.load([SMALL / "gold.ttl"])
    for name in "ba":
        theirs.add_run(name, SMALL / f"{name}.ttl", on="gold")
    # What runs have in common and how difficult mentions are is derived of all runs.
    assert "agreement" in theirs.store.dataset("gold").attached
    assert signatures(theirs)["a"] == signatures(theirs, run=["a"])["a"] == first["a"]
    # A knowledge base tells types of entities; gold is what it was.
    theirs.attach_kb()
    known = signatures(theirs, run=["a"])["a"]
    gold = [next(part for part in one.split("|") if part.startswith("gold:")) for one in (first["a"], known)]
    assert gold[0] == gold[1] and known != first["a"]
    # Where it is sliced by that, it tells.
    by = [signatures(work, run=["a"], by=["systemAgreement"])["a"] for work in (workspace, theirs)]
    assert by[0] != by[1]


def test_table_is_taken_where_a_file_is(workspace: Workspace) -> None:
    ada = "http://dbpedia.org/resource/Ada_Lovelace"
    # As a linker's own loop would collect it: the second answer is of a place where gold has nothing.
    rows = {"document": ["1", "1"], "begin": [0, 1], "end": [3, 2], "entity": [ada, ada], "score": [0.9, 0.1]}
    table = pl.DataFrame(rows)
    assert micro(workspace, run={"mine": table}) == {"mine": (1, 1, 3)}
    registered = workspace.add_run("mine", table, on="gold")
    assert registered.select("documents", "answers", "linked").row(0) == (1, 2, 2)
    assert micro(workspace) == {"mine": (1, 1, 3)}
    with pytest.raises(BadInput, match="the table of 'mine':? has no column 'begin'"):
        workspace.add_run("mine", table.drop("begin"))


@pytest.mark.parametrize(
    ("entity", "said"), [("", "no-link: not one of its 1 answers"), (None, "no-annotation: its 1")]
)
def test_run_without_answers_or_links_is_told_again_when_it_is_named(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], entity: str | None, said: str
) -> None:
    answers = read(SMALL / "a.ttl").frames
    if entity is None:
        answers = answers.keep(annotations=answers.annotations["annotation"].head(0))
        workspace.add_run("empty", answers, on="gold")
    else:
        workspace.add_run("empty", pl.DataFrame({"document": ["1"], "begin": [0], "end": [3]}), on="gold")
    with progress.enable():
        workspace.evaluate("gold", run=["empty"], task=["A2KB"])
    assert f"run 'empty' in A2KB: {said}" in capsys.readouterr().err


def test_file_of_a_header_alone_is_refused_as_a_run_in_words(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "header.csv").write_text("document,begin,end,entity\n")
    with pytest.raises(BadInput, match="run 'empty': has no document, so that it answers nothing"):
        workspace.add_run("empty", tmp_path / "header.csv", on="gold")
    assert not list_runs(workspace.store.own("runs"))


def test_name_of_a_file_without_its_ending_is_answered_with_the_file(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.jsonl").touch()
    with pytest.raises(UnknownName, match="no dataset or file named 'g'; `g.jsonl` is a file beside it"):
        workspace.annotate(["g"], ["prior"])


@pytest.mark.long
def test_registered_answers_are_scored_as_their_file_is(workspace: Workspace) -> None:
    for name in "ab":
        workspace.add_run(name, SMALL / f"{name}.ttl")
    files = {name: SMALL / f"{name}.ttl" for name in "ab"}
    assert micro(workspace) == micro(workspace, run=files) == {"a": A, "b": B}
    # Frames, too, and as many files as there are.
    assert micro(workspace, run={"a": read(SMALL / "a.ttl").frames, "b": [SMALL / "b.ttl"]}) == {"a": A, "b": B}


@pytest.mark.long
def test_run_on_no_named_dataset_is_on_every_one_that_it_answers(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.ttl"
    text = (SMALL / "gold.ttl").read_text()
    other.write_text(text.replace("Ada met Alan", "Ada saw Alan").replace("corpus.org/1", "corpus.org/2"))
    workspace.load([other])
    assert workspace.add_run("a", SMALL / "a.ttl")["dataset"].to_list() == ["gold"]
    with pytest.raises(BadInput, match="give the run of the same texts"):
        workspace.add_run("b", SMALL / "b.ttl", on="other")
    # Of three documents in one file one answers each dataset, and one none: it alone is left out.
    answers = (SMALL / "a.ttl").read_text()
    others = [answers.replace("Ada met Alan", f"Ada {verb} Alan") for verb in ("saw", "hit")]
    moved = [text.replace("corpus.org/1", f"corpus.org/{number}") for number, text in enumerate(others, 2)]
    (tmp_path / "three.ttl").write_text("\n".join([answers, *moved]))
    with progress.enable():
        rows = workspace.add_run("three", tmp_path / "three.ttl", task="D2KB")
    assert rows.select("dataset", "documents").rows() == [("gold", 1), ("other", 1)]
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("1 of its documents are not in gold and are left out") == 2 and "2 of its" not in said
    assert said.count("; 1 of the run's are not in gold, and are left out") == 2
    workspace.drop_run("three")
    assert [run.system for run in list_runs(workspace.runs_folder)] == ["a"]
    workspace.drop(["gold"])
    with pytest.raises(UsageError, match="run 'b' has no document of other"):
        workspace.add_run("b", SMALL / "b.ttl")


@pytest.mark.long
def test_other_answers_of_a_name_are_refused_without_replace(workspace: Workspace) -> None:
    assert workspace.add_run("s", SMALL / "a.ttl")["status"].item() == "registered"
    assert workspace.add_run("s", SMALL / "a.ttl")["status"].item() == "unchanged"
    with pytest.raises(UsageError, match="'s' on gold in A2KB is registered with other answers.* --replace"):
        workspace.add_run("s", SMALL / "b.ttl")
    assert micro(workspace) == {"s": A}
    assert workspace.add_run("s", SMALL / "b.ttl", replace=True)["status"].item() == "replaced"
    assert micro(workspace) == {"s": B}


@pytest.mark.parametrize("name", ["", " ", "a=b"])
def test_name_that_cannot_be_told_from_a_setting_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="a run cannot be called"):
        workspace.add_run(name, SMALL / "a.ttl")


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("name", ["my run", "../up", "größer/kleiner", "gpt-4.1"])
def test_run_of_any_other_name_is_kept_in_the_folder_of_runs(workspace: Workspace, name: str) -> None:
    workspace.add_run(name, SMALL / "a.ttl")
    assert workspace.runs()["run"].to_list() == [name]
    assert len([*workspace.runs_folder.iterdir()]) == 1
    assert micro(workspace, run=[name]) == {name: A}


def test_run_whose_files_changed_by_a_bit_is_not_scored(workspace: Workspace) -> None:
    workspace.add_run("a", SMALL / "a.ttl")
    file = next(workspace.runs_folder.glob("a--gold--a2kb/annotations.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"not what was written\): `remix run add a FILE --on gold --replace`"):
        workspace.evaluate("gold")


@pytest.mark.long
def test_hash_of_answers_is_kept_with_them_and_a_run_without_it_is_scored_as_before(
    workspace: Workspace, tmp_path: Path
) -> None:
    """As runs of an earlier version have none, or one that was made by another rule."""

    def signature(**choices: object) -> str:
        read = Workspace(workspace.folder)  # which has read no run before
        rows = read.evaluate("gold", task=["A2KB"], match=["strong"], **choices).rows
        return next(part for part in rows["signature"][0].split("|") if part.startswith("run:"))

    def keep_hash(said: str | None) -> None:
        described = json.loads(file.read_text())
        del described["frames_hash"]
        file.write_text(json.dumps(described if said is None else {**described, "frames_hash": said}))
        seal(file.parent)

    workspace.add_run("a", SMALL / "a.ttl")
    [file] = workspace.runs_folder.glob("*/run.json")
    [run] = list_runs(workspace.runs_folder)
    found = load_run(workspace.runs_folder, "a", "gold")[1]
    assert run.frames_hash == f"{HASHED_BY}:{found.known_hash}" and frames_hash(replace(found)) == found.known_hash
    assert signature() == f"run:{found.known_hash[:12]}"
    (tmp_path / "mapping.tsv").write_text("Q1\tQ2\n")
    mapped = signature(relax=tmp_path / "mapping.tsv")
    keep_hash(f"{HASHED_BY}:{'0' * 64}")
    assert signature() == "run:000000000000"  # it is what was kept that is told, of answers as they were read alone
    assert signature(relax=tmp_path / "mapping.tsv") == mapped
    for said in (f"{HASHED_BY}0:{'0' * 64}", "", None):
        keep_hash(said)
        assert signature() == f"run:{found.known_hash[:12]}"
    # Other answers of the name have their own.
    workspace.add_run("a", SMALL / "b.ttl", replace=True)
    other = load_run(workspace.runs_folder, "a", "gold")[1]
    assert frames_hash(replace(other)) == other.known_hash != found.known_hash
    assert signature() == f"run:{other.known_hash[:12]}"


@pytest.mark.long
def test_two_runs_of_one_file_name_do_not_mix_their_documents(workspace: Workspace, tmp_path: Path) -> None:
    # Plain files call their documents 1, 2, …: those of two datasets have one name.
    second = tmp_path / "second.ttl"
    text = (SMALL / "gold.ttl").read_text()
    second.write_text(text.replace("Ada met Alan", "Ada saw Alan").replace("http://corpus.org/", "http://other.org/"))
    workspace.load([second])
    for name in ("gold", "second"):
        file = tmp_path / name / "answers.jsonl"
        file.parent.mkdir()
        entity = "http://dbpedia.org/resource/Ada_Lovelace"
        file.write_text(json.dumps({"document": "1", "begin": 0, "end": 3, "entity": entity}) + "\n")
        workspace.add_run("s", file, on=name)
    rows = workspace.evaluate(["gold", "second"], task=["A2KB"], match=["strong"]).rows
    right = rows.filter(average="micro", column="").select("dataset", "tp").rows()
    assert dict(right)["all"] == dict(right)["gold"] + dict(right)["second"] == 2


@pytest.mark.long
def test_evaluate_works_at_once_with_the_answers_that_ship(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = open_workspace(tmp_path / "fresh")
    with progress.enable():
        report = workspace.evaluate(task=["A2KB"], match=["strong"])
        rows, datasets = report.rows, report.datasets
    assert datasets == ["sample-biographies", "sample-news", "sample-posts"]
    assert rows["system"].unique().sort().to_list() == ["oracle-candidates", "prior", "random-candidate"]
    assert "the answers that ship with remix (oracle-candidates, prior, random-candidate)" in capsys.readouterr().err
    assert len(workspace.runs()) == 9
    # What somebody registers is not added to.
    workspace.drop_run("prior")
    again = workspace.evaluate("sample-posts", task=["A2KB"], match=["strong"]).rows
    assert "prior" not in again["system"].to_list()


@pytest.mark.long
def test_runs_without_a_document_of_gold_are_left_out_and_told(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.ttl"
    text = (SMALL / "gold.ttl").read_text()
    other.write_text(text.replace("Ada met Alan", "Ada saw Alan").replace("corpus.org/1", "corpus.org/2"))
    workspace.load([other])
    workspace.add_run("a", SMALL / "a.ttl")
    (tmp_path / "theirs.ttl").write_text(other.read_text().replace("dbr:Alan_Turing", "dbr:Alan_Kay"))
    workspace.add_run("theirs", tmp_path / "theirs.ttl", on="other")
    with progress.enable():
        assert micro(workspace) == {"a": A}
    assert "run theirs is registered on other, not on gold, and left out" in capsys.readouterr().err
    workspace.drop_run("theirs")
    with pytest.raises(StoreError, match="run a is registered on gold, not on other: `remix run add NAME FILE --on ot"):
        workspace.evaluate("other")


def test_without_datasets_those_that_a_run_answers_are_scored(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.ttl"
    text = (SMALL / "gold.ttl").read_text()
    other.write_text(text.replace("Ada met Alan", "Ada saw Alan").replace("corpus.org/1", "corpus.org/2"))
    workspace.load([other])
    with progress.enable():
        datasets = workspace.evaluate(run={"a": SMALL / "a.ttl"}).datasets
    assert datasets == ["gold"]
    assert "scored on gold; no run answers other" in capsys.readouterr().err


def test_without_any_run_the_dataset_and_the_next_command_are_named(workspace: Workspace) -> None:
    for line in (("evaluate",), ("evaluate", "gold"), ("compare", "gold")):
        done = run_verb(*line, "-w", str(workspace.folder))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            "remix: no run is registered: `remix annotate gold --system prior` makes one, "
            "`remix run add NAME FILE --on gold` takes yours\n"
        )


def test_run_that_a_dataset_does_not_have_is_told_by_its_names(workspace: Workspace) -> None:
    workspace.add_run("alpha", SMALL / "a.ttl", on="gold")
    with pytest.raises(UnknownName, match="no run on gold for A2KB named 'alpah'; did you mean 'alpha'"):
        load_run(workspace.runs_folder, "alpah", "gold")


def test_folder_of_other_things_has_no_runs_to_list(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    for line in (("run", "list"), ("run", "show", "a"), ("list", "runs")):
        done = run_verb(*line, "-w", str(tmp_path))
        assert done.returncode == 1 and "is no workspace of remix and holds other things" in done.stderr


@pytest.fixture
def twins(workspace: Workspace, tmp_path: Path) -> Workspace:
    """The gold of run_store twice, the second time with another Alan; run a is on the first, b on both."""
    text = (SMALL / "gold.ttl").read_text()
    (tmp_path / "twin.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Ladd"))
    workspace.load([tmp_path / "twin.ttl"])
    workspace.add_run("a", SMALL / "a.ttl", on="gold")
    workspace.add_run("b", SMALL / "b.ttl", on=["gold", "twin"])
    return workspace


@pytest.mark.long
def test_run_is_scored_only_on_what_it_is_registered_on(twins: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    def counts(*names: str, **choices: object) -> dict[tuple[str, str], tuple[int, int, int]]:
        rows = twins.evaluate(names, task=["A2KB"], match=["strong"], **choices).rows
        own = rows.filter(pl.col("dataset") != "mean", average="micro", column="")
        return {(s, d): tuple(one) for s, d, *one in own.select("system", "dataset", "tp", "fp", "fn").iter_rows()}

    # In the twin b's Alan is wrong: (1, 1, 3) beside (2, 0, 2). Both are of one document, with four mentions each, and
    # share all but Alan. Together these are five, of which b has Ada and gold's Alan: TP 2, FN 5 - 2.
    of_b = {("b", "all"): (2, 0, 3), ("b", "gold"): B, ("b", "twin"): (1, 1, 3)}
    with progress.enable():
        assert counts("gold", "twin") == counts() == {("a", "all"): A, ("a", "gold"): A, **of_b}
    assert "run 'a' is registered on gold, so that it is not scored on twin" in capsys.readouterr().err
    assert counts(run="a") == {("a", "all"): A}
    assert twins.evaluate(run="a", store=True).datasets == ["gold"]
    assert "run-a" not in twins.store.dataset("twin").attached
    with pytest.raises(StoreError, match="run a is registered on gold, not on twin: `remix run add NAME FILE --on twi"):
        counts("twin", run="a")
    # Profiles side by side and systems against each other: the same documents for both.
    sides = twins.evaluate(["gold", "twin"], profile="remix,neleval", every=False).tables[0]
    assert dict(sides.filter(profile="remix").select("system", "tp").iter_rows()) == {"a": 1, "b": 2}


SCORED = ["dataset", "average", "documents", "tp", "fp", "fn", "ignored", "precision", "recall", "f1", "f1_in_scope"]


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("remix", [False, True], ids=["edition", "remix"])
def test_answers_that_are_registered_on_a_dataset_are_all_that_it_is_scored_with(
    twins: Workspace, tmp_path: Path, remix: bool
) -> None:
    """Other answers to the same texts, which are registered on another dataset, change nothing beside it."""
    other = "twin"
    if remix:
        other = "alans"
        twins.build("SELECT ?annotation { ?annotation nif:anchorOf 'Alan' }", name=other, dataset="gold", to=tmp_path)
        twins.load([tmp_path / "alans.ttl"])
    twins.add_run("c", SMALL / "a.ttl", on="gold")
    twins.add_run("c", SMALL / "b.ttl", on=other)

    def score(*names: str) -> list[tuple[object, ...]]:
        """Return the rows of the last of these datasets."""
        rows = twins.evaluate([*names], run="c", task="A2KB", match="strong").rows.filter(column="")
        own = rows.filter(dataset=names[-1] if len(names) > 1 else "all").with_columns(dataset=pl.lit(names[-1]))
        return own.select(SCORED).sort("average").rows()

    assert score("gold", other) == score(other) != []
    assert score(other, "gold") == score("gold") != score(other)


@pytest.mark.long
def test_run_is_scored_on_the_part_of_a_remix_that_is_cut_from_what_it_is_registered_on(twins: Workspace) -> None:
    built = twins.build("SELECT ?annotation { ?annotation nif:anchorOf 'Alan' }", name="alans", edition="all")
    rows = twins.evaluate([built], task=["A2KB"], match=["strong"]).rows
    own = rows.filter(average="micro", column="", dataset="all")
    # Each Alan is one mention: a misses that of gold, b has that of gold and takes it for the twin's.
    assert {s: tuple(one) for s, *one in own.select("system", "tp", "fn").iter_rows()} == {"a": (0, 1), "b": (1, 1)}
    # Cut from the twin alone, it is nothing that a is on.
    alone = twins.build("SELECT ?annotation { ?annotation nif:anchorOf 'Alan' }", name="alans", dataset="twin")
    assert set(twins.evaluate([alone], task=["A2KB"]).rows["system"]) == {"b"}
    with pytest.raises(UsageError, match="run 'a' is registered on gold, not on twin, which gold was cut from"):
        twins.evaluate([alone], run="a")


@pytest.fixture
def emptied(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Gold of d1 (Ada and Bob) and d2 (Bob), the remix adas of Ada in d1, which emptied d2, and two runs.

    whole is on gold and has Ada in d1 and Eve on no mention of d2; part has Ada and is on adas itself.
    """
    workspace.drop("gold")

    def write(name: str, rows: list[tuple[str, int, str]]) -> Path:
        told = [
            {"document": one, "text": f"Ada met Bob {one}", "begin": at, "end": at + 3, "entity": f"urn:e:{linked}"}
            for one, at, linked in rows
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
        return tmp_path / f"{name}.jsonl"

    workspace.load([write("gold", [("d1", 0, "Ada"), ("d1", 8, "Bob"), ("d2", 8, "Bob")])])
    workspace.add_run("whole", write("whole", [("d1", 0, "Ada"), ("d2", 0, "Eve")]), on="gold")
    workspace.build("SELECT ?annotation { ?annotation nif:anchorOf 'Ada' }", name="adas", dataset="gold", to=tmp_path)
    workspace.load([tmp_path / "adas.ttl"])
    workspace.add_run("part", write("part", [("d1", 0, "Ada")]), on="adas")
    return workspace


@pytest.mark.long
def test_answers_to_a_remix_itself_count_in_no_document_that_it_emptied(
    emptied: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    def count(*names: str, **choices: Any) -> dict[str, tuple[object, ...]]:
        rows = emptied.evaluate(names, task="A2KB", match="strong", **choices).rows.filter(average="micro", column="")
        own = rows.filter(dataset=names[-1] if len(names) > 1 else "all")
        return {name: tuple(one) for name, *one in own.select("system", *COUNTED).iter_rows()}

    # Eve stands in d2: whole was asked about it, and part was not.
    with progress.enable():
        assert count("gold", "adas") == {"whole": (2, "all", 1, 1, 0), "part": (1, "kept", 1, 0, 0)}
    said = " ".join(capsys.readouterr().err.split())
    assert "run 'part' is registered on adas itself, so that answers count in its documents with a kept" in said
    told = " ".join(emptied.evaluate(["gold", "adas"], task="A2KB", match="strong").lines)
    assert "in every document, those of part on adas in documents with a kept mention alone" in told
    # By choice both are scored in the same documents; and not where nothing tells what part would have answered.
    of_kept = count("gold", "adas", documents="kept")
    assert of_kept["whole"][1:] == of_kept["part"][1:] == ("kept", 1, 0, 0)
    with progress.enable():
        assert count("gold", "adas", documents="all") == {"whole": (2, "all", 1, 1, 0)}
    said = " ".join(capsys.readouterr().err.split())
    assert "run 'part' is registered on adas itself, so that it is left out" in said
    with pytest.raises(UsageError, match="nothing tells what it answers in the documents of gold that adas emptied"):
        count("adas", run="part", documents="all")
    # Nor do answers to gold beside it make answers to what was sent without that document.
    emptied.add_run("part", emptied.store.folder.parent / "whole.jsonl", on="gold")
    assert count("gold", "adas")["part"] == (1, "kept", 1, 0, 0)


@pytest.mark.long
def test_loaded_remix_is_answered_by_runs_on_what_it_was_cut_from_alone_and_beside_it(emptied: Workspace) -> None:
    def rows(*names: str) -> list[tuple[object, ...]]:
        found = emptied.evaluate(names, task="A2KB", match="strong").rows.filter(column="")
        own = found.filter(dataset=names[-1] if len(names) > 1 else "all")
        return sorted(own.select("system", "average", *COUNTED, "precision", "f1_on_mention").rows())

    # part has answers to adas itself, whole those to gold, also where gold stands beside it or one is named.
    assert {name for name, *_ in rows("adas")} == {"part", "whole"} and len(rows("gold", "adas")) == 4
    assert {*emptied.evaluate("adas", run="whole", task="A2KB").rows["system"]} == {"whole"}
    emptied.drop_run("part")
    assert rows("adas") == rows("gold", "adas") != []
    # whole has Ada; Eve is its answer on no mention, in a document that it was asked about.
    judged = emptied.judgements("adas").systems
    told = judged.select("system", "outcome").sort("system", "outcome").rows()
    assert told == [("whole", "correct"), ("whole", "wrong")]
    # Pages have the same systems; queries see what is stored, and no outcome of whole is stored beside the remix.
    lacking = "No remix has just these: queries see what is stored, and no outcomes of whole are stored beside adas"
    said = {
        view: VIEWS[view].show(emptied, {"dataset": "adas", "system": "whole", "outcome": "correct"})
        for view in ("errors", "annotations")
    }
    assert "errors of whole on adas" in said["errors"].title.lower()
    assert any(lacking in one.text for one in said["annotations"].blocks if isinstance(one, Note))
    assert "systems on it" in str(VIEWS["dataset"].show(emptied, {"name": "adas"}).blocks)
    # Of gold alone that was loaded anew nothing is known: its runs are on other texts than the remix was cut from.
    emptied.load([emptied.store.folder.parent / "whole.jsonl"], name="gold", replace=True)
    with pytest.raises(StoreError, match="run whole is registered on gold, not on adas"):
        rows("adas")


@pytest.mark.long
def test_answers_of_one_system_to_a_remix_itself_hide_none_of_others_to_its_origin(
    emptied: Workspace, tmp_path: Path
) -> None:
    """Both have answers to gold, and after the command that pages offer whole has some to adas itself, all wrong."""
    emptied.drop_run("part")
    rows = [{"document": "d1", "text": "Ada met Bob d1", "begin": 0, "end": 3, "entity": "urn:e:Ada"}]
    (tmp_path / "other.jsonl").write_text(json.dumps(rows[0]))
    emptied.add_run("other", tmp_path / "other.jsonl", on="gold")
    rows[0]["entity"] = "urn:e:Eve"
    (tmp_path / "wrong.jsonl").write_text(json.dumps(rows[0]))
    emptied.add_run("whole", tmp_path / "wrong.jsonl", on="adas")

    # Ada is right in other; Eve in her place is one wrong and one missed.
    expected = {"other": (1, 0, 0), "whole": (0, 1, 1)}

    def count(rows: pl.DataFrame) -> dict[str, tuple[int, ...]]:
        own = rows.filter(average="micro", column="")
        return {system: tuple(counts) for system, *counts in own.select("system", "tp", "fp", "fn").iter_rows()}

    assert count(emptied.evaluate("adas", task="A2KB", match="strong").rows) == expected
    page = VIEWS["systems"].show(emptied, {"datasets": "adas"})
    assert {"other", "whole"} <= {*page.tables["scores"]["system"]}
    said = " ".join(one.text for one in page.blocks if isinstance(one, Note))
    assert "The answers of other to adas are those to what it was cut from, the others those to adas itself." in said
    assert {*emptied.judgements("adas").systems["system"]} == {"other", "whole"}
    assert emptied.errors("other", on="adas").table.is_empty() and len(emptied.errors("whole", on="adas").table)
    study = {"name": "s", "datasets": ["adas"], "tasks": ["A2KB"], "matchings": ["strong"], "samples": 200}
    studied = emptied.study({**study, "runs": {"whole": {}, "other": {}}}).results.scores
    assert {*studied["state"]} == {"there"} and count(studied) == expected
    # Datasets counts the run on adas itself and the one that it inherits.
    listed = VIEWS["datasets"].show(emptied, {}).tables["datasets"]
    assert dict(listed.select("dataset", "runs").iter_rows()) == {"adas": 2, "gold": 2}


@pytest.mark.long
def test_remixes_that_are_scored_beside_each_other_have_the_answers_that_each_has_alone(tmp_path: Path) -> None:
    """Both are cut from gold, where s is right; to adas it answers Zoe: 2 wrong, 2 missed; 2 of bobs are right."""
    own = Workspace(tmp_path / ".remix")
    spans = [("d1", 0, "Ada"), ("d1", 8, "Bob"), ("d2", 0, "Ada"), ("d2", 8, "Bob")]

    def write(name: str, rows: list[tuple[str, int, str]]) -> Path:
        texts = [{"document": d, "text": f"Ada met Bob {d}", "begin": at, "end": at + 3} for d, at, _ in rows]
        lines = [json.dumps(text | {"entity": f"urn:e:{row[2]}"}) for text, row in zip(texts, rows, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        return tmp_path / f"{name}.jsonl"

    own.load([write("gold", spans)])
    own.add_run("s", write("s", spans), on="gold", perfect=True)
    for name, form in (("adas", "Ada"), ("bobs", "Bob")):
        own.build(f"SELECT ?annotation {{ ?annotation nif:anchorOf '{form}' }}", name=name, dataset="gold", to=tmp_path)
        own.load([tmp_path / f"{name}.ttl"])
    own.add_run("s", write("wrong", [("d1", 0, "Zoe"), ("d2", 0, "Zoe")]), on="adas")

    def count(*names: str) -> dict[str, tuple[int, ...]]:
        rows = own.evaluate(names, task="A2KB", match="strong").rows.filter(average="micro", column="")
        found = rows if len(names) > 1 else rows.with_columns(dataset=pl.lit(names[0]))
        return {name: tuple(row) for name, *row in found.select("dataset", "tp", "fp", "fn").iter_rows()}

    alone = {**count("adas"), **count("bobs")}
    assert alone == {"adas": (0, 2, 2), "bobs": (2, 0, 0)}
    together = count("adas", "bobs")
    assert {name: together[name] for name in alone} == alone


@pytest.mark.long
@pytest.mark.parametrize(
    ("on", "command"),
    [("gold", "remix evaluate gold --system whole --match strong --store"), ("adas", "remix run add")],
)
def test_where_no_outcomes_are_stored_a_command_that_stores_them_is_said(
    emptied: Workspace, on: str, command: str
) -> None:
    """Whole has answers to gold, of which the outcomes are gone, and none to adas itself."""
    emptied.drop_run("part")
    emptied.store.attach({"gold": {"run-whole": None}})

    def tell() -> str:
        page = VIEWS["annotations"].show(emptied, {"dataset": on, "system": "whole", "outcome": "correct"})
        return " ".join(one.text for one in page.blocks if isinstance(one, Note))

    assert f"no outcomes of whole are stored beside {on}: `{command}" in tell()
    if on == "gold":
        emptied.evaluate("gold", system="whole", match="strong", store=True)
    else:
        assert "`remix run add whole FILE --on adas` registers answers to adas itself" in tell()
        emptied.add_run("whole", emptied.store.folder.parent / "whole.jsonl", on="adas")
    assert "No remix" not in tell()


@pytest.mark.long
@pytest.mark.parametrize("names", [("adas", "gold"), ("gold", "adas")])
def test_errors_of_a_remix_beside_its_origin_are_in_the_dataset_that_holds_their_text(
    emptied: Workspace, names: tuple[str, str]
) -> None:
    """Whole misses Bob of d1, which both hold, and in d2, which gold alone holds, has Eve and misses Bob."""
    emptied.drop_run("part")
    found = emptied.errors("whole", on=[*names]).table.select("dataset", "document", "surface_form")
    assert found.sort("document", "surface_form").rows() == [
        (names[0], "d1", "Bob"),
        ("gold", "d2", "Ada"),
        ("gold", "d2", "Bob"),
    ]
    asked = {"dataset": ",".join(names), "system": "whole"}
    page = VIEWS["errors"].show(emptied, asked)
    [texts] = [block for block in page.blocks if isinstance(block, Passages)]
    for one in texts.passages:
        opened = follow(emptied, one.href)
        assert "What was looked at" not in str(opened.blocks) and " of 3" in str(opened.blocks), one.href
    narrowed = VIEWS["errors"].show(emptied, asked | {"within": "gold"})
    assert not narrowed.dropped and narrowed.tables["errors"].height == (3 if names[0] == "gold" else 2)


@pytest.mark.long
def test_remix_in_a_file_is_none_that_is_loaded_under_its_name(emptied: Workspace, tmp_path: Path) -> None:
    """A remix is built anew with another parameter under the same name, while the first one is still loaded."""
    other = "SELECT ?annotation { ?annotation nif:anchorOf 'Bob' }"
    (tmp_path / "new").mkdir()
    emptied.build(other, name="adas", dataset="gold", to=tmp_path / "new")

    def counts(work: Workspace, **choices: Any) -> list[tuple[object, ...]]:
        rows = work.evaluate(tmp_path / "new" / "adas.ttl", task="A2KB", match="strong", **choices).rows
        return rows.filter(average="micro", column="").select("system", *COUNTED, "ignored", "f1_in_scope").rows()

    # Both Bobs are missed; Ada is ignored in d1, and Eve is wrong. part answers what is loaded, and not this file.
    assert counts(emptied) == [("whole", 2, "all", 0, 1, 2, 1, 0.0)]
    alone = Workspace(tmp_path / "alone" / ".remix")
    alone.load([tmp_path / "gold.jsonl"])
    alone.add_run("whole", tmp_path / "whole.jsonl", on="gold")
    assert counts(alone) == counts(emptied)


@pytest.mark.long
def test_dataset_that_is_named_twice_is_refused_and_changed_origins_are_told(
    emptied: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for work in (emptied.evaluate, emptied.compare):
        with pytest.raises(UsageError, match="two datasets are called 'gold', "):
            work(["gold", "gold"], task="A2KB")
    emptied.load([tmp_path / "whole.jsonl"], name="gold", replace=True)
    with progress.enable():
        emptied.evaluate(tmp_path / "adas.ttl", run=f"x={tmp_path / 'whole.jsonl'}", task="A2KB", match="strong")
    said = " ".join(capsys.readouterr().err.split())
    assert "adas was cut out of gold before that was loaded with other content" in said


COUNTED = ("documents", "documents_counted", "tp", "fp", "fn")


def test_answers_of_files_given_to_store_are_registered(workspace: Workspace) -> None:
    workspace.store_runs(["gold"], run=[f"a={SMALL / 'a.ttl'}"])
    run, answers = load_run(workspace.runs_folder, "a", "gold")
    assert (run.source, answers.annotations.height) == ("a.ttl", 4)
    assert micro(workspace) == {"a": A}
    with pytest.raises(UnknownName, match="no run named 'b'; known: a"):
        workspace.store_runs(["gold"], run=["b"])


@pytest.fixture(scope="module")
def news(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample news with runs of prior in A2KB and D2KB, and of random-candidate in A2KB alone; not to be changed."""
    made = sample_workspace()
    made.annotate(["sample-news"], ["prior", "random-candidate"])
    made.annotate(["sample-news"], ["prior"], task="D2KB")
    return made


def test_each_task_is_scored_with_the_run_made_for_it(news: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.enable():
        rows = news.evaluate("sample-news", task=["D2KB", "A2KB"], match=["strong"]).rows
    own = rows.filter(average="micro", column="", dataset="all")
    found = {
        (s, t): (p, r, run)
        for s, t, p, r, run in own.select(
            "system", "task", pl.col("precision").round(3), pl.col("recall").round(3), "run_task"
        ).iter_rows()
    }
    # 356 of 503 mentions are right in the D2KB run, which answers all; 325 of 381 answers on gold's spans in A2KB's.
    assert found["prior", "D2KB"] == (0.708, 0.708, "D2KB")
    assert found["prior", "A2KB"] == (0.707, 0.646, "A2KB")
    assert found["random-candidate", "D2KB"][2] == found["random-candidate", "A2KB"][2] == "A2KB"
    said = capsys.readouterr().err
    assert "D2KB of random-candidate is scored with answers to A2KB" in said
    assert own["task"].unique(maintain_order=True).to_list() == ["D2KB", "A2KB"]
    signatures = own.filter(system="prior")["signature"].unique().to_list()
    assert len(signatures) == 1 and "tasks:D2KB,A2KB" in signatures[0]


def test_rows_of_a_table_say_where_the_run_is_of_another_task(news: Workspace) -> None:
    line = ["evaluate", "sample-news", "--task", "D2KB", "--match", "strong"]
    printed = invoke(news, *line)
    cells = {
        row.split()[0]: row.split()[1] for row in printed.splitlines() if row.split()[0:1] and len(row.split()) > 5
    }
    assert "made for" in " ".join(printed.split())
    # 503 mentions stand in the next column where the run is of the task.
    assert (cells["prior"], cells["random-candidate"]) == ("503", "A2KB")
    assert "made for" not in " ".join(invoke(news, *line, "--run", "prior").split())


@pytest.mark.long
def test_comparison_says_which_answers_are_to_another_task(news: Workspace) -> None:
    """What was given its mentions is no system that found them; in D2KB it is the other way round."""
    printed = " ".join(invoke(news, "compare", "sample-news", "--task", "D2KB", "--samples", "100").split())
    assert "random-candidate: answers to A2KB, in which the mentions were found, not given" in printed
    assert "prior: answers" not in printed
    scores = news.compare("sample-news", task=["D2KB"], match=["strong"], samples=100).scores
    assert dict(scores.select("system", "run_task").iter_rows()) == {"prior": "D2KB", "random-candidate": "A2KB"}
    alone = " ".join(invoke(news, "compare", "sample-news", "--task", "A2KB", "--samples", "100").split())
    assert "answers to D2KB" not in alone


def test_comparison_takes_the_run_of_its_task(news: Workspace) -> None:
    rows = news.evaluate("sample-news", task=["D2KB"], match=["strong"]).rows
    expected = dict(rows.filter(average="micro", column="", dataset="all").select("system", "f1").iter_rows())
    compared = news.compare("sample-news", task=["D2KB"], match=["strong"], samples=100).scores
    assert dict(compared.select("system", "score").iter_rows()) == pytest.approx(expected)


@pytest.mark.long
def test_run_is_scored_on_a_loaded_remix_that_it_is_registered_on(twins: Workspace, tmp_path: Path) -> None:
    """Alan of gold is Turing, whom b has; what is on gold is on the remix as well, what is on the remix not on gold."""
    twins.build("SELECT ?annotation { ?annotation nif:anchorOf 'Alan' }", name="alans", dataset="gold", to=tmp_path)
    twins.load([tmp_path / "alans.ttl"])
    twins.add_run("c", SMALL / "b.ttl", on="alans")
    rows = twins.evaluate("alans", run="c", task="A2KB", match="strong").rows
    assert rows.filter(average="micro", column="", dataset="all").select("tp", "fn").row(0) == (1, 0)
    every = twins.evaluate(["gold", "alans"], task="A2KB", match="strong").rows
    own = every.filter(pl.col("dataset").is_in(["gold", "alans"]), average="micro", column="")
    on_both = {(system, dataset) for system in "ab" for dataset in ("gold", "alans")}
    assert {*own.select("system", "dataset").iter_rows()} == on_both | {("c", "alans")}


def test_run_without_texts_is_read_in_those_of_its_dataset_and_its_forms_are_compared(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    # The text is 'Ada met Alan and …'. Of the three forms that are told 'saw' is another than the text's at 4 to 7, and
    # 'ada' is the same but for its case; the form at 13 to 16 is not told.
    given = workspace.store.frames(["gold"]).documents["given"][0]
    told = {"begin": [0, 4, 8, 13], "end": [3, 7, 12, 16], "surface_form": ["ada", "saw", "Alan", None]}
    table = pl.DataFrame({"document": [given] * 4, **told, "entity": ["http://e.org/X"] * 4})
    texts = "run 't': its one document has no text; its answers are read in that of gold"
    forms = "1 of the 3 forms that it tells do not stand at their places in gold's texts, the first is 'saw' at 4 to 7"
    with progress.enable():
        workspace.add_run("t", table, on="gold")
    said = " ".join(capsys.readouterr().err.split())
    assert texts in said and f"{forms}, where the text has 'met'" in said
    # What is not told is what the text has.
    judged = workspace.judgements("gold", system="t")
    assert {"ada", "and"} <= {*judged.mentions["surface_form"]} | {*judged.systems["answered"]}
    with progress.enable():
        workspace.evaluate("gold", run={"t": table})
    said = " ".join(capsys.readouterr().err.split())
    assert texts in said and forms in said


@pytest.fixture
def moved(tmp_path: Path) -> Workspace:
    """Datasets b and c, each answered by 'old', and b by 'wide' as well, after b was loaded with other texts."""
    work = Workspace(tmp_path / ".remix")

    def write(name: str, text: str, entity: str) -> Path:
        rows = [{"document": f"{name}{n}", "text": f"{text} {n}", "begin": 0, "end": 3, "entity": entity} for n in "12"]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path / f"{name}.jsonl"

    for name in ("b", "c"):
        work.load([write(name, f"Ada of {name}", "urn:e:Ada")])
        answers = write(name, f"Ada of {name}", "urn:e:Bob").rename(tmp_path / "answers.jsonl")
        work.add_run("old", answers, on=name)
    work.add_run("wide", answers, on="c")
    work.load([write("b", "Ann of b", "urn:e:Ada")], replace=True)
    write("new", "Ann of b", "urn:e:Bob")
    return work


@pytest.mark.long
def test_run_that_lost_its_texts_is_left_out_of_their_dataset(
    moved: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no score there, and no other waits for it; where nothing else is asked for it is refused."""
    said = "run 'old' answers other texts than b has now"
    with pytest.raises(StoreError, match=f"{said}: `remix run add old FILE --on b`"):
        moved.evaluate("b", task="A2KB")
    rows = (tmp_path / "new.jsonl").read_text().replace("new", "b")
    (tmp_path / "new.jsonl").write_text(rows)
    moved.add_run("new", tmp_path / "new.jsonl", on="b")
    capsys.readouterr()
    with progress.enable(True):
        assert {*moved.evaluate("b", task="A2KB").rows["system"]} == {"new"}
    assert said in capsys.readouterr().err
    found = moved.evaluate(["b", "c"], task="A2KB", match="strong").rows.filter(average="micro", column="")
    scored = {*found.select("system", "dataset").rows()}
    assert {one for one in scored if one[1] in "bc"} == {("new", "b"), ("old", "c"), ("wide", "c")}
    assert {*moved.judgements("b").systems["system"]} == {"new"}
    assert len(moved.errors("old", on=["b", "c"]).found) == len(moved.errors("old", on="c").found) == 2
    page = VIEWS["errors"].show(moved, {"dataset": "b", "system": "old"})
    assert any("old answers other texts than b has now" in one.text for one in page.blocks if isinstance(one, Note))
    with pytest.raises(BadInput, match="none of gold's 2 documents"):
        moved.evaluate("b", run="old", task="A2KB")


def test_errors_of_a_system_slice_those_of_others_that_are_on_fewer_datasets(
    workspace: Workspace, tmp_path: Path
) -> None:
    """a is on two datasets of four mentions each and b on the first alone; a is right on one of each."""
    small = Path(__file__).parent / "small"
    workspace.load([small / "gold.ttl"], replace=True)
    for name in ("gold", "a"):
        text = (small / f"{name}.ttl").read_text(encoding="utf-8").replace("corpus.org/", "corpus1.org/")
        (tmp_path / f"{name}1.ttl").write_text(text, encoding="utf-8")
    workspace.load([tmp_path / "gold1.ttl"])
    workspace.add_run("a", [small / "a.ttl", tmp_path / "a1.ttl"], on=["gold", "gold1"])
    workspace.add_run("b", small / "b.ttl", on="gold")
    found = workspace.evaluate(["gold", "gold1"], by="error:a", task="A2KB", match="strong").rows
    right = found.filter(slice="correct", average="micro", dataset="all").sort("system")
    assert right.select("system", pl.col("tp") + pl.col("fn")).rows() == [("a", 2), ("b", 1)]


def test_errors_of_a_system_that_is_on_one_of_two_datasets_are_told_on_the_other(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """b is on gold alone: whatever it would have made of the mention of second, that is 'missing' by its errors."""
    row = {"document": "1", "text": "Eve left", "begin": 0, "end": 3, "entity": "urn:e:Eve"}
    (tmp_path / "second.jsonl").write_text(json.dumps(row))
    workspace.load([tmp_path / "second.jsonl"])
    workspace.add_run("a", SMALL / "a.ttl", on="gold")
    workspace.add_run("a", tmp_path / "second.jsonl", on="second", perfect=True)
    workspace.add_run("b", SMALL / "b.ttl", on="gold")
    said = (
        "run 'b' has no answers to second, all of whose mentions are 'missing' by error:b: `remix run add b FILE --on"
    )
    for system, told in (("b", True), ("a", False)):
        capsys.readouterr()
        with progress.enable():
            workspace.evaluate(["gold", "second"], run="a", by=f"error:{system}", task="A2KB", match="strong")
        assert (said in capsys.readouterr().err) == told
