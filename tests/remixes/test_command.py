"""`remix build` and `remix publish` from the command line: files, streams, exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from remix.cli import main
from remix.store import Store


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], small_store: Store, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Run a verb on the small fixture in an empty folder; the exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, workspace: Path | None = small_store.folder) -> tuple[int, str, str]:
        where = ["-w", str(workspace)] if workspace else []
        monkeypatch.setattr(sys, "argv", ["remix", *arguments, *where])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call


def _files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_build_writes_two_files_here_and_prints_the_origins(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run("build", "--query", "persons.rq", "-o", "json")
    assert code == 0
    assert [(row["dataset"], row["kept"]) for row in json.loads(out)] == [("news", 5), ("posts", 0), ("all", 5)]
    assert _files(tmp_path) == {"persons.ttl", "persons.manifest.ttl"}
    assert "persons.ttl" in err


def test_build_takes_parameters_sets_a_name_and_a_folder(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(
        *("build", "--query", "persons_hard", "--set", "min_confusion=101", "--set-from", "table4"),
        *("--name", "mine", "--to", "out", "-o", "json"),
    )
    assert code == 0
    # The value that is set wins over the one of the set: Anna (900) and Alice (2000).
    assert json.loads(out)[-1]["kept"] == 2
    assert _files(tmp_path / "out") == {"mine.ttl", "mine.manifest.ttl"}


def test_build_with_explain_prints_the_query_and_what_each_condition_left(run) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run("build", "--query", "confusion_form_at_least", "--explain")
    assert code == 0
    assert "SELECT ?document ?annotation" in out
    everything, patterns, condition = [line for line in out.splitlines() if line.split()[-1:] in (["16"], ["12"])][:3]
    assert everything.startswith("everything loaded")
    assert "graph patterns" in patterns
    assert "FILTER" in condition


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--query", "persns"), 2, "did you mean 'persons'"),
        (("--query", "persons_hard", "--set", "min_confusoin=3"), 2, "did you mean 'min_confusion'"),
        (("--query", "persons_hard", "--set", "min_confusion=many"), 2, "takes a number such as 3"),
        (("--query", "persons_hard", "--set-from", "table5"), 2, "did you mean 'table4'"),
        (("--query", "SELECT ?document { ?document a }"), 2, "does not parse"),
        (("--query", "DROP ALL # {}"), 2, "would change data"),
        (("--query", "persons_hard", "--set", "min_confusion=9999"), 1, "nothing is left after FILTER"),
        (("--query", "persons", "--limit", "0"), 2, "at least 1"),
    ],
)
def test_build_that_fails_says_why_in_one_line_and_writes_nothing(  # type: ignore[no-untyped-def]
    run, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    stopped, out, err = run("build", *arguments)
    assert stopped == code
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert _files(tmp_path) == set()


def test_build_with_drop_warns_on_standard_error(run) -> None:  # type: ignore[no-untyped-def]
    code, _, err = run("build", "--query", "persons", "--drop")
    assert code == 0
    assert "3 annotations were removed" in err


def test_publish_prints_the_files_that_it_wrote(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run("publish", "news", "--to", "public")
    assert code == 0
    assert {Path(line).name for line in out.split()} == _files(tmp_path / "public")


@pytest.mark.long
def test_build_in_an_empty_workspace_takes_the_sample_corpus(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run("build", "--query", "persons_hard.rq", "-o", "json", workspace=None)
    assert code == 0
    assert json.loads(out)[-1]["kept"] > 0
    assert "the sample corpus" in err
    assert _files(tmp_path) == {".remix", "persons_hard.ttl", "persons_hard.manifest.ttl"}
