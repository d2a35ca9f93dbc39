"""Slices by what a training set has."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from remix.cli import cli
from remix.formats import read
from remix.scoring.inputs.properties import compare_to_training, with_seen


def written(path: Path, text: str, *mentions: tuple[str, str | None]) -> Path:
    rows: list[dict[str, object]] = [{"document": "d", "text": text}]
    for form, entity in mentions:
        begin = text.index(form)
        rows.append({"document": "d", "begin": begin, "end": begin + len(form), "entity": entity})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def files(folder: Path) -> tuple[Path, Path]:
    training = written(folder / "train.jsonl", "PARIS saw Ann", ("PARIS", "Q90"), ("Ann", "Q1"))
    mentions = [("Paris", "Q90"), ("Ann", "Q2"), ("Lutetia", "Q90"), ("Bob", None)]
    return training, written(folder / "gold.jsonl", "Paris and Ann in Lutetia with Bob", *mentions)


def test_form_entity_and_pair_are_seen_each_by_itself(tmp_path: Path) -> None:
    training, gold = (read(path).frames for path in files(tmp_path))
    found = compare_to_training(training, gold).join(
        gold.annotations.select("annotation", "surface_form"), on="annotation"
    )
    # Case does not matter; Ann is known as another entity; Lutetia is another name; Bob is NIL.
    assert found.select("surface_form", "seenForm", "seenEntity", "seenPair").rows() == [
        ("Paris", True, True, True),
        ("Ann", True, False, False),
        ("Lutetia", False, True, False),
        ("Bob", False, None, None),
    ]


def test_annotations_that_other_columns_lack_are_kept(tmp_path: Path) -> None:
    training, gold = (read(path).frames for path in files(tmp_path))
    paris, *others = gold.annotations["annotation"]
    found = with_seen(pl.DataFrame({"annotation": [paris, "other"], "size": [1, 2]}), training, gold)
    assert found.select("annotation", "size", "seenForm").rows() == [
        (paris, 1, True),
        ("other", 2, None),
        *zip(others, [None, None, None], [True, False, False], strict=True),
    ]


def test_scores_are_broken_down_by_what_was_seen(tmp_path: Path) -> None:
    training, gold = files(tmp_path)
    known = ["evaluate", "--gold", str(gold), "--run", f"same={gold}", "--seen", str(training), "--by", "seenEntity"]
    result = CliRunner().invoke(cli, [*known, "--task", "A2KB", "--match", "strong", "-o", "json"])
    assert result.exit_code == 0, result.output
    rows = pl.DataFrame(json.loads(result.stdout), infer_schema_length=None)
    sliced = rows.filter(column="seenEntity", average="micro", dataset="all").sort("slice")
    # Bob is NIL, of which no entity could have been seen.
    assert sliced.select("slice", "tp", "fn").rows() == [("false", 1, 0), ("true", 2, 0), ("unspecified", 1, 0)]
