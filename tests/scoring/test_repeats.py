"""Repeats of a run: told apart, scored each, and their mean."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from remix.cli import cli
from remix.formats import read
from remix.scoring.inputs.files import repeats_of

TEXT = "Ada met Bob"


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def repeat(number: int, **answered: object) -> dict[str, object]:
    return {"document": "d", "text": TEXT, "repeat": number, **answered}


def test_repeats_of_a_file_are_runs_with_their_own_problems(tmp_path: Path) -> None:
    ada = {"mention": "Ada", "entity": "Q1"}
    path = lines(tmp_path / "x.jsonl", repeat(1, answers=[ada]), repeat(2, output="No."), repeat(3, answers=[ada, ada]))
    found = repeats_of({"m": read(path, unannotated=True).frames})
    assert {name: run.annotations.height for name, run in found.items()} == {"m#1": 1, "m#2": 0, "m#3": 1}
    problems = {name: run.values.filter(pl.col("text").is_not_null())["term"].to_list() for name, run in found.items()}
    assert [[term.split("#")[1] for term in terms] for terms in problems.values()] == [[], ["refusal"], ["notInText"]]


def test_mean_and_deviation_stand_below_the_repeats(tmp_path: Path) -> None:
    span = {"document": "d", "begin": 0, "end": 3, "entity": "Q1"}
    gold = lines(tmp_path / "gold.jsonl", {"document": "d", "text": TEXT}, span)
    right, wrong = ([{"mention": "Ada", "entity": entity}] for entity in ("Q1", "Q2"))
    header = {"model": "tiny", "cost": 1.5}
    run = lines(tmp_path / "run.jsonl", header, repeat(1, answers=right), repeat(2, answers=wrong))
    known = ["evaluate", "--gold", str(gold), "--run", f"m={run}", "--task", "A2KB", "--match", "strong"]
    result = CliRunner().invoke(cli, [*known, "-o", "json"])
    assert result.exit_code == 0, result.output
    rows = pl.DataFrame(json.loads(result.stdout), infer_schema_length=None)
    micro = rows.filter(column="", average="micro", dataset="all").select("system", "f1", "f1_deviation", "repeats")
    # Of 1 and 0 the mean is 0.5 and the deviation of the sample √0.5.
    assert micro.with_columns(pl.col("f1_deviation").round(4)).rows() == [
        ("m#1", 1.0, None, None), ("m#2", 0.0, None, None), ("m", 0.5, 0.7071, 2)
    ]  # fmt: skip
    table = CliRunner().invoke(cli, known)
    assert table.exit_code == 0, table.output
    assert "±" in table.stdout
    # Each repeat is signed by itself, and says what its file says of the run.
    runs = table.stdout.splitlines()[-1]
    assert (
        runs.startswith("runs m#1=")
        and runs.count("(model tiny, cost 1.5)") + runs.count("(cost 1.5, model tiny)") == 2
    )
    assert rows["signature"].drop_nulls().n_unique() == 2


def test_what_is_odd_in_a_run_is_told_when_it_is_scored(tmp_path: Path) -> None:
    span = {"document": "d", "begin": 0, "end": 3, "entity": "Q1"}
    gold = lines(tmp_path / "gold.jsonl", {"document": "d", "text": TEXT}, span)
    odd = [{**span, "confidence": "high"}, span, {**span, "begin": 8, "end": 99}]
    run = lines(tmp_path / "run.jsonl", {"document": "d", "text": TEXT}, *odd)
    result = CliRunner().invoke(cli, ["evaluate", "--gold", str(gold), "--run", f"m={run}", "-o", "json"])
    assert result.exit_code == 0, result.output
    for told in ("confidence (1), first: line 2: 'high' is no number", "duplicate (1)", "range (1), first: line 4"):
        assert told in result.stderr
