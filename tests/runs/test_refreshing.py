"""Outcomes that an earlier version stored, made anew: as one change of the store, which is all there or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix import iris, progress
from remix.runs import refreshing
from remix.runs.due import notes_of
from remix.runs.stored import systems_of
from remix.store import Store
from remix.workspace import Workspace

RUNS = Path(__file__).parent / "small"


@pytest.fixture
def several(workspace: Workspace, tmp_path: Path) -> Workspace:
    """The dataset gold and two more of its texts under other names, with runs a and b, and b by weak matching on one.

    Of gold, a has one mention right strictly and two weakly, b two by both.
    """
    for number in (1, 2):
        for name in ("gold", "a", "b"):
            text = (RUNS / f"{name}.ttl").read_text(encoding="utf-8").replace("corpus.org/", f"corpus{number}.org/")
            (tmp_path / f"{name}{number}.ttl").write_text(text, encoding="utf-8")
        workspace.load([tmp_path / f"gold{number}.ttl"])
        for name in "ab":
            workspace.add_run(name, tmp_path / f"{name}{number}.ttl", on=f"gold{number}")
    for name in "ab":
        workspace.add_run(name, RUNS / f"{name}.ttl", on="gold")
    workspace.store_runs(["gold"], run="b", match="weak")
    return workspace


def graphs_of(store: Store) -> dict[tuple[str, str], tuple[str, bytes]]:
    """Return signature and triples of all graphs that stand beside datasets."""
    return {
        (entry.name, name): (graph.signature, store.attachment(entry.name, name))
        for entry in store.datasets()
        for name, graph in entry.attached.items()
    }


@pytest.mark.long
def test_all_outcomes_are_made_anew_as_one_change_of_the_store(
    several: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, generations = graphs_of(several.store), several.store.state.generations
    assert "matching:weak" in before["gold", "run-b"][0] and len(before) == 9  # three datasets, two runs and agreement
    monkeypatch.setattr(iris, "VERSION", "another")
    several.query("ASK { ?a rmx:errorClass ?class }")
    after = graphs_of(several.store)
    assert several.store.state.generations == generations + 1
    lines = [line for entry in several.store.datasets() for line in systems_of(entry).values()]
    assert len(lines) == 6 and all("|entities:another|" in line for line in lines)
    # Nothing else is another: outcomes by each matching, and the shares of systems that are right by both.
    monkeypatch.undo()
    several.query("ASK { ?a rmx:errorClass ?class }")
    assert graphs_of(several.store) == before and after.keys() == before.keys()
    assert several.store.state.generations == generations + 2


@pytest.mark.long
@pytest.mark.parametrize("step", ["make_outcomes", "_attach"])
def test_what_is_interrupted_leaves_all_outcomes_as_they_were(
    several: Workspace, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before, state = graphs_of(several.store), (several.folder / "state.json").read_bytes()
    made = []

    def interrupt(*given: object, **choices: object) -> object:
        made.append(given)
        if len(made) == 2 or step == "_attach":
            raise KeyboardInterrupt
        return work(*given, **choices)

    with monkeypatch.context() as patched:
        patched.setattr(iris, "VERSION", "another")
        work = getattr(refreshing, step)
        patched.setattr(refreshing, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            several.query("ASK { ?a rmx:errorClass ?class }")
    assert graphs_of(several.store) == before and (several.folder / "state.json").read_bytes() == state
    assert [one.name for one in (several.folder / "cache").glob("*outcomes*")] == []
    monkeypatch.setattr(iris, "VERSION", "another")
    several.query("ASK { ?a rmx:errorClass ?class }")
    lines = [line for entry in several.store.datasets() for line in systems_of(entry).values()]
    assert len(lines) == 6 and all("|entities:another|" in line for line in lines)


@pytest.mark.long
@pytest.mark.parametrize("what", ["replaced", "dropped", "added"])
def test_what_another_process_stores_while_outcomes_are_made_stays(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Before the outcomes are put into the store another process gives a the answers of b, drops a, or adds b."""
    for name in "a" if what == "added" else "ab":
        workspace.add_run(name, RUNS / f"{name}.ttl", on="gold")
    before = systems_of(workspace.store.dataset("gold"))["a"].rpartition("|answers:")[2]
    monkeypatch.setattr(iris, "VERSION", "another")
    attach = refreshing._attach

    def act_before(*given: object, **choices: object) -> object:
        monkeypatch.setattr(refreshing, "_attach", attach)
        other = Workspace(workspace.folder)
        if what == "dropped":
            other.drop_run("a")
        else:
            other.add_run("a" if what == "replaced" else "b", RUNS / "b.ttl", on="gold", replace=True)
        return attach(*given, **choices)  # type: ignore[arg-type]

    monkeypatch.setattr(refreshing, "_attach", act_before)
    for _ in range(2):  # what was left out is made by the next command
        Workspace(workspace.folder).query("ASK { ?a rmx:errorClass ?class }")
    store = Store(workspace.folder)
    held = systems_of(store.dataset("gold"))
    assert all("|entities:another|" in line for line in held.values())
    assert [*held] == (["b"] if what == "dropped" else ["a", "b"])
    assert what == "dropped" or (held["a"].rpartition("|answers:")[2] != before) == (what == "replaced")
    # b is right on two of four mentions, a on one of these: Ada is found by all, Alan by b.
    shares = store.attachment("gold", "agreement").decode()
    assert shares.count('"1.0"') == (1 if what == "added" else 2)


@pytest.mark.long
def test_outcomes_of_answers_that_are_gone_go_with_those_that_are_made_anew(
    several: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    shutil.rmtree(several.runs_folder / "a--gold--a2kb")
    monkeypatch.setattr(iris, "VERSION", "another")
    generations = several.store.state.generations
    several.query("ASK { ?a rmx:errorClass ?class }")
    held = {entry.name: sorted(systems_of(entry)) for entry in several.store.datasets()}
    assert held == {"gold": ["b"], "gold1": ["a", "b"], "gold2": ["a", "b"]}
    assert several.store.state.generations == generations + 1
    # b, the only one on gold now, is right on two of its four mentions.
    shares = several.store.attachment("gold", "agreement").decode()
    assert shares.count('"1.0"') == 2 and shares.count('"0.0"') == 2


@pytest.mark.long
def test_damaged_run_leaves_the_outcomes_on_its_dataset_alone(
    several: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three datasets the outcomes on two are made anew; those on the third follow once its answers are back."""
    file = several.runs_folder / "a--gold1--a2kb" / "annotations.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    monkeypatch.setattr(iris, "VERSION", "another")

    def list_old() -> set[str]:
        several.query("ASK { ?a rmx:errorClass ?class }")
        entries = Store(several.folder).datasets()
        lines = {entry.name: [*systems_of(entry).values()] for entry in entries}
        return {name for name, own in lines.items() if not all("|entities:another|" in line for line in own)}

    with progress.enable():
        assert list_old() == {"gold1"}
    told = capsys.readouterr().err
    assert "the outcomes of runs on gold1 stay as they were" in told and "a--gold1--a2kb is damaged" in told
    assert list_old() == {"gold1"}
    several.add_run("a", file.parents[2].parent / "a1.ttl", on="gold1", replace=True)
    assert list_old() == set()


@pytest.mark.long
def test_outcomes_beside_those_of_a_damaged_run_follow_after_their_dataset_was_loaded_anew(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        workspace.add_run(name, RUNS / f"{name}.ttl", on="gold")
    shares = workspace.store.attachment("gold", "agreement")
    file = workspace.runs_folder / "a--gold--a2kb" / "annotations.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    workspace.drop("gold")
    with progress.enable():
        workspace.load([RUNS / "gold.ttl"])
    told = capsys.readouterr().err
    assert "the outcomes of runs on gold are not made" in told and "a--gold--a2kb is damaged" in told
    workspace.add_run("a", RUNS / "a.ttl", on="gold", replace=True)
    workspace.query("ASK { ?a rmx:errorClass ?class }")
    # Ada is found by a and b, Alan by b alone: a alone has no share of 0.5.
    assert sorted(systems_of(workspace.store.dataset("gold"))) == ["a", "b"] and notes_of(workspace.runs_folder) == {}
    assert workspace.store.attachment("gold", "agreement") == shares
