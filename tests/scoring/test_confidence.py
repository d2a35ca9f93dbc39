"""Calibration, reliability, and risk by coverage."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import UsageError
from remix.scoring.statistics.curves import calibration, reliability, risk_by_coverage
from remix.workspace import open_workspace

TEXT = "Ada Bob Carl Dora"
LABELS = {name: pl.lit("x") for name in ("system", "task", "matching")}


def test_bins_are_closed_above_and_zero_is_in_the_first() -> None:
    rows = pl.DataFrame({"confidence": [0.0, 0.1, 0.11, 1.0], "right": [False, True, True, True]})
    found = reliability(rows.with_columns(**LABELS)).select("bin", "answers", "accuracy").rows()
    # [0, 0.1] holds 0 and 0.1, of which one is right; (0.1, 0.2] holds 0.11; (0.9, 1] holds 1.
    assert found == [(1, 2, 0.5), (2, 1, 1.0), (10, 1, 1.0)]


def test_calibration_error_weighs_the_gaps_of_bins() -> None:
    rows = pl.DataFrame({"confidence": [0.75, 0.75, 0.25, 0.25], "right": [True, True, False, True]})
    found = calibration(rows.with_columns(**LABELS)).row(0, named=True)
    # Bins: 0.75 with all right, gap 0.25; 0.25 with half right, gap 0.25. Brier: (3 * 0.0625 ... + 0.5625) / 4.
    assert found["calibration_error"] == pytest.approx(0.25)
    assert found["brier"] == pytest.approx((3 * 0.0625 + 0.5625) / 4)


def test_confidence_that_is_no_probability_has_risk_but_no_calibration() -> None:
    rows = pl.DataFrame({"confidence": [7.0, 0.5], "right": [False, True]}).with_columns(**LABELS)
    assert calibration(rows)["answers"].to_list() == [1]
    assert risk_by_coverage(rows).select("coverage", "risk").rows() == [(0.5, 1.0), (1.0, 0.5)]


@pytest.mark.long
def test_plot_is_drawn_from_the_command_line(tmp_path: Path) -> None:
    def lines(*rows: tuple[int, int, str, float | None]) -> str:
        mentions = [{"document": "d", "begin": b, "end": e, "entity": q, "confidence": c} for b, e, q, c in rows]
        return "".join(json.dumps(row) + "\n" for row in [{"document": "d", "text": TEXT}, *mentions])

    (tmp_path / "gold.jsonl").write_text(lines((0, 3, "Q1", None), (4, 7, "Q2", None)))
    (tmp_path / "run.jsonl").write_text(lines((0, 3, "Q1", 0.9), (4, 7, "Q3", 0.8)))
    files = {"gold": [tmp_path / "gold.jsonl"], "run": [f"m={tmp_path / 'run.jsonl'}"]}
    rows = open_workspace(tmp_path / "w").curve(kind="calibration", **files)
    # Two answers in two bins: |1 - 0.9| and |0 - 0.8|, their mean is 0.45; Brier (0.01 + 0.64) / 2.
    assert rows["system"].unique().to_list() == ["m (ECE 0.45, Brier 0.325)"]
    plot = tmp_path / "c.png"
    known = ["evaluate", "--gold", str(tmp_path / "gold.jsonl"), "--run", f"m={tmp_path / 'run.jsonl'}"]
    result = CliRunner().invoke(cli, [*known, "--plot", f"calibration={plot}"])
    assert result.exit_code == 0, result.output
    assert plot.read_bytes().startswith(b"\x89PNG")
    (tmp_path / "run.jsonl").write_text(lines((0, 3, "Q1", None)))
    with pytest.raises(UsageError, match="there is nothing to calibrate"):
        open_workspace(tmp_path / "w").curve(kind="calibration", **files)
