"""An evaluation is recorded and runs again, to the same bytes, or says what has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import BadInput, Error

TEXT = "Ada met Bob in Rome."


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, str]:
    """A record of two files, in a folder of their own, and what its evaluation printed."""
    gold, run, record = tmp_path / "gold.benchmark.jsonl", tmp_path / "run.linked_articles.jsonl", tmp_path / "r.json"
    gold.write_text(json.dumps({"id": 0, "text": TEXT, "labels": [{"span": [0, 3], "entity_id": "Q1"}]}))
    run.write_text(json.dumps({"id": 0, "text": TEXT, "entity_mentions": [{"span": [0, 3], "id": "Q1"}]}))
    choices = ["--task", "A2KB", "--match", "weak", "--by", "is_nil", "--threshold", "0.25", "-o", "json"]
    arguments = ["--gold", str(gold), "--run", f"a={run}", *choices, "--signature-to", str(record)]
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return record, done.stdout


def invoke(*arguments):
    return CliRunner().invoke(cli, ["evaluate", *map(str, arguments)])


def test_what_was_recorded_comes_out_again(recorded):
    record, printed = recorded
    done = invoke("--reproduce", record, "-o", "json")
    assert done.exit_code == 0, done.output
    assert done.stdout == printed
    assert "reproduced: the rows are the same" in done.stderr
    known = json.loads(record.read_text())
    assert [file["name"] for file in known["files"]] == ["gold.benchmark.jsonl", "run.linked_articles.jsonl"]
    assert len(known["short"]["a"]) == 8
    assert str(record.parent) not in json.dumps(known["signatures"])


def test_files_that_were_moved_are_found_beside_the_record(recorded, tmp_path: Path):
    record, printed = recorded
    other = tmp_path / "other"
    other.mkdir()
    for file in [*tmp_path.glob("*.jsonl"), record]:
        file.rename(other / file.name)
    done = invoke("--reproduce", other / record.name, "-o", "json")
    assert (done.exit_code, done.stdout) == (0, printed)
    (other / "run.linked_articles.jsonl").unlink()
    gone = invoke("--reproduce", other / record.name)
    assert isinstance(gone.exception, BadInput)
    assert "run.linked_articles.jsonl: is gone" in str(gone.exception)


def test_changed_inputs_and_changed_figures_are_told_apart(recorded):
    record, _ = recorded
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "rows": "0" * 64}))
    figures = invoke("--reproduce", record)
    assert isinstance(figures.exception, Error)
    assert "signatures are equal, but the rows" in str(figures.exception)
    signatures = {"a": known["signatures"]["a"].replace("weak", "strong")}
    record.write_text(json.dumps({**known, "signatures": signatures}))
    choice = invoke("--reproduce", record)
    assert "of 'a' matchings was strong, is weak" in str(choice.exception)
    run = record.parent / "run.linked_articles.jsonl"
    run.write_text(run.read_text().replace("Q1", "Q2"))
    assert "has other bytes than were evaluated" in str(invoke("--reproduce", record).exception)


def test_other_options_and_other_files_are_refused(recorded, tmp_path: Path):
    record, _ = recorded
    both = invoke("--reproduce", record, "--task", "D2KB")
    assert both.exit_code == 2
    assert "leave --task out" in both.output
    none = tmp_path / "none.json"
    none.write_text("[]")
    assert "is no record of an evaluation" in str(invoke("--reproduce", none).exception)
    known = json.loads(record.read_text())
    del known["arguments"]
    none.write_text(json.dumps(known))
    assert "is no record of an evaluation" in str(invoke("--reproduce", none).exception)
    known["arguments"] = {"datasets": [], "tasks": ["A2KB"]}
    none.write_text(json.dumps(known))
    assert "another version of remix: nothing is called 'tasks' here; did you mean 'task'?" in str(
        invoke("--reproduce", none).exception
    )
