"""`remix load` and `remix check`: what they print, what they store, how they end."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import PIPE, CompletedProcess

import pytest

from remix import catalog
from remix.errors import BadInput, UsageError
from remix.formats import read
from remix.store.loading import load
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.processes import PythonProcess

NIF = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
TEXT = '<http://x/d> nif:isString "Rome is old" .\n'
ROME = '<http://x/a> nif:referenceContext <http://x/d> ; nif:anchorOf "Rome" ; nif:beginIndex 0 ; nif:endIndex {} .\n'
GOOD = NIF + TEXT + ROME.format(4)
SHORT = NIF + TEXT + ROME.format(3)


def remix(folder: Path, *arguments: str, stdin: bytes | None = None) -> CompletedProcess[bytes]:
    with PythonProcess(["-m", "remix", *arguments], cwd=folder, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        output, errors = process.communicate(stdin, timeout=120)
    return CompletedProcess(arguments, process.returncode, output, errors)


def test_load_when_a_dry_run_prints_json_then_one_object_a_file_and_nothing_stored(tmp_path: Path) -> None:
    (tmp_path / "good.ttl").write_text(GOOD)
    (tmp_path / "bad.ttl").write_text(GOOD + "<http://x/a> nif:p 1 nif:q 2 .\n")
    done = remix(tmp_path, "load", "good.ttl", "bad.ttl", "--dry-run", "-o", "json")
    good, bad = json.loads(done.stdout)
    assert done.returncode == 1
    assert {key: good[key] for key in ("file", "documents", "annotations", "linked", "nil", "repairs", "error")} == {
        "file": "good.ttl", "documents": 1, "annotations": 1, "linked": 0, "nil": 1, "repairs": [], "error": None
    }  # fmt: skip
    assert bad["error"].startswith("bad.ttl:4:22: ")
    assert bad["annotations"] == 0
    # A slow machine says before how long it took.
    assert done.stderr.decode().splitlines()[-1] == f"remix: {bad['error']}"
    assert not (tmp_path / ".remix").exists()


@pytest.mark.long
def test_load_when_from_standard_input_and_gzip_then_loaded(tmp_path: Path) -> None:
    import gzip

    done = remix(tmp_path, "load", "-", "--name", "piped", "-o", "json", stdin=gzip.compress(SHORT.encode()))
    [row] = json.loads(done.stdout)
    assert (done.returncode, row["dataset"], row["status"]) == (0, "piped", "loaded")
    assert [(repair["kind"], repair["count"]) for repair in row["repairs"]] == [("offset", 1)]
    frames = Workspace(tmp_path / ".remix").store.frames(["piped"])
    assert frames.annotations.select("begin", "end", "surface_form").rows() == [(0, 4, "Rome")]


@pytest.mark.long
def test_load_when_strict_then_the_file_is_refused_and_nothing_stored(tmp_path: Path) -> None:
    (tmp_path / "short.ttl").write_text(SHORT)
    done = remix(tmp_path, "load", "short.ttl", "--strict")
    assert done.returncode == 1
    assert b"would need repair: offset (1)" in done.stderr
    assert b"Traceback" not in done.stderr
    assert Workspace(tmp_path / ".remix").store.datasets() == []


def test_load_when_one_file_is_refused_then_the_others_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "good.ttl").write_text(GOOD)
    outcomes = Workspace(tmp_path / "w").load([tmp_path / "none.ttl", tmp_path / "good.ttl"])
    assert [outcome.status for outcome in outcomes] == ["refused", "loaded"]


@pytest.mark.long
def test_load_when_a_name_is_given_for_two_files_then_wrong_usage(tmp_path: Path) -> None:
    done = remix(tmp_path, "load", "a.ttl", "b.ttl", "--name", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"one name for 2 files" in done.stderr


@pytest.mark.parametrize("name", ["sample-news", "sample-biographies", "sample-posts"])
def test_load_when_a_dataset_ships_then_it_has_its_expected_counts(tmp_path: Path, name: str) -> None:
    [outcome] = Workspace(tmp_path).load([name], dry_run=True)
    report = outcome.report
    counts = {key: getattr(report, key) for key in ("documents", "annotations", "linked", "nil")}
    assert counts == dict(catalog.find(name)[0].counts)
    assert report.repairs == ()


@pytest.mark.long
def test_check_when_there_is_a_defect_then_it_is_named_and_the_exit_code_is_one(tmp_path: Path) -> None:
    crossing = ROME.replace("<http://x/a>", "<http://x/b>").replace('"Rome"', '"ome is"')
    text = SHORT + crossing.replace("beginIndex 0", "beginIndex 1").format(7)
    (tmp_path / "short.ttl").write_text(text + '<http://x/e> nif:isString "Rome is old" .\n')
    done = remix(tmp_path, "check", "short.ttl", "none.ttl", "-o", "json")
    rows = {row["rule"]: (row["severity"], row["count"]) for row in json.loads(done.stdout)}
    assert done.returncode == 1
    assert rows == {
        "offset": ("error", 1),
        "no-annotation": ("note", 1),
        "equal-text": ("warning", 1),
        "crossing": ("warning", 1),
        "inside-word": ("warning", 1),
        "refused": ("error", 1),
    }


@pytest.mark.long
def test_check_when_all_is_well_then_nothing_and_exit_zero(tmp_path: Path) -> None:
    (tmp_path / "good.ttl").write_text(GOOD)
    done = remix(tmp_path, "check", "good.ttl", "-o", "json")
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def several(folder: Path) -> list[str]:
    """Return files of one name in two folders, one that is not there, and one that is taken by other content."""
    for name, text in (("A", "Rome"), ("B", "Bern"), ("C", "Oslo")):
        (folder / name).mkdir()
        (folder / name / "x.ttl").write_text(GOOD.replace("Rome", text))
    (folder / "D").mkdir()
    (folder / "D" / "taken.ttl").write_text(GOOD.replace("Rome", "Paris").replace("endIndex 4", "endIndex 5"))
    load(Workspace(folder / ".remix").store, [str(folder / "D" / "taken.ttl")])
    (folder / "taken.ttl").write_text(GOOD)
    return [str(folder / name) for name in ("A/x.ttl", "taken.ttl", "nope.ttl", "nws", "B/x.ttl", "C/x.ttl")]


@pytest.mark.parametrize("dry_run", [False, True])
def test_one_of_several_files_that_fails_neither_stops_nor_hides_the_others(tmp_path: Path, dry_run: bool) -> None:
    files = several(tmp_path)
    store = Workspace(tmp_path / ".remix").store
    outcomes = load(store, files, dry_run=dry_run)
    taken = "read" if dry_run else "refused"
    done = "read" if dry_run else "loaded"
    assert [one.status for one in outcomes] == [done, taken, "refused", "refused", done, done]
    assert [one.name for one in outcomes if one.status == "loaded"] == ([] if dry_run else ["x", "x-2", "x-3"])
    if not dry_run:
        assert "other content" in str(outcomes[1].report.error)
        texts = store.frames(["x", "x-2", "x-3"]).documents["text"].to_list()
        assert sorted(texts) == ["Bern is old", "Oslo is old", "Rome is old"]
        again = load(store, files)
        assert [one.status for one in again] == ["unchanged", "refused", "refused", "refused", *["unchanged"] * 2]


def test_the_table_is_printed_though_files_fail(tmp_path: Path) -> None:
    files = several(tmp_path)
    done = run_verb("load", *files, "-o", "json", folder=tmp_path)
    assert (done.returncode, len(json.loads(done.stdout))) == (1, 6)
    # A slow machine says before how long it took.
    assert len([line for line in done.stderr.splitlines() if line.startswith("remix: ")]) == 3


@pytest.mark.parametrize("how", [{"format": "niff"}, {"base_iri": "a b"}])
def test_what_is_wrong_for_all_files_is_said_before_any_is_read(tmp_path: Path, how: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        load(Workspace(tmp_path / ".remix").store, several(tmp_path), **how)  # type: ignore[arg-type]
    assert set(Workspace(tmp_path / ".remix").store.state.datasets) == {"taken"}


def test_check_shows_what_is_in_the_others_where_one_name_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "short.ttl").write_text(SHORT)
    done = run_verb("check", "http://127.0.0.1:1/nothing.ttl", "short.ttl", "-o", "json", folder=tmp_path)
    kinds = [(row["file"], row["rule"]) for row in json.loads(done.stdout)]
    assert ("short.ttl", "offset") in kinds and ("http://127.0.0.1:1/nothing.ttl", "refused") in kinds


def test_files_of_brat_deep_below_a_folder_are_one_dataset(tmp_path: Path) -> None:
    for place, text in (("news/2020/a", "Ada met Bob"), ("news/2021", "Bob ran"), ("blogs/x/y/z", "Eve")):
        folder = tmp_path / "corpus" / place
        folder.mkdir(parents=True)
        (folder / "one.txt").write_text(text)
        (folder / "one.ann").write_text(f"T1\tPER 0 3\t{text[:3]}\n")
    (tmp_path / "corpus" / "README.md").write_text("A corpus.\n")
    (tmp_path / "corpus" / "annotation.conf").write_text("[entities]\nPER\n")
    store = Workspace(tmp_path / ".remix").store
    [outcome] = load(store, [str(tmp_path / "corpus")])
    assert (outcome.name, outcome.status, outcome.report.documents) == ("corpus", "loaded", 3)
    assert sorted(store.frames(["corpus"]).annotations["surface_form"]) == ["Ada", "Bob", "Eve"]


def test_folder_with_files_of_brat_far_below_is_no_dataset_of_theirs(tmp_path: Path) -> None:
    far = tmp_path / "all" / "one" / "dev"
    far.mkdir(parents=True)
    (far / "a.txt").write_text("Ada met Bob")
    (far / "a.ann").write_text("T1\tPER 0 3\tAda\n")
    (tmp_path / "all" / "other.txt").write_text("of another corpus")
    store = Workspace(tmp_path / ".remix").store
    with pytest.raises(BadInput, match="has files of BRAT in one/dev alone: name that folder"):
        read(str(tmp_path / "all"))
    [found] = load(store, [str(far)])
    assert (found.status, found.report.documents) == ("loaded", 1)
