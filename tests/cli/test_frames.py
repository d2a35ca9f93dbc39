"""Frames larger than memory on the command line: load --to frames, stats, enrich, partition, load --sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from remix.cli import enrich, load, partition, stats
from remix.errors import StoreError, UsageError
from remix.frames import Frames
from remix.frames_folder import FramesFolder
from remix.measures import compute
from remix.reports.statistics import cover_types

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"


def run(verb: Any, *arguments: object) -> Result:
    return CliRunner().invoke(verb.command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    lines = []
    for number in range(6):
        page = f"<http://dbpedia.org/resource/P{number}?dbpv=2016-10&nif=context>"
        mention = f"<http://dbpedia.org/resource/P{number}?dbpv=2016-10&nif=phrase&char=0,8>"
        lines += [
            f'{page} <{NIF}isString> "New York is here" .',
            f"{mention} <{NIF}referenceContext> {page} .",
            f'{mention} <{NIF}beginIndex> "0" .',
            f'{mention} <{NIF}endIndex> "{8 if number else 3}" .',
            f'{mention} <{NIF}anchorOf> "{"New York" if number else "New"}" .',
            f"{mention} <http://www.w3.org/2005/11/its/rdf#taIdentRef> <http://dbpedia.org/resource/E{number % 2}> .",
        ]
    (tmp_path / "links.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run(load, "--to", "frames", tmp_path / "wikipedia", tmp_path / "links.nt", "-o", "json")
    assert done.exit_code == 0
    (row,) = json.loads(done.stdout)
    assert (row["dataset"], row["status"], row["annotations"]) == ("wikipedia", "streamed", 6)
    return tmp_path / "wikipedia"


def test_stats_of_frames_are_those_of_the_same_data_whole(frames: Path, tmp_path: Path) -> None:
    shown = run(stats, frames, "-w", tmp_path / "w", "--average", "all", "-o", "json")
    folder = FramesFolder.open(frames)
    whole: Frames = folder.read(range(folder.parts))
    name = pl.lit("wikipedia").alias("dataset")
    named = Frames.of(
        documents=whole.documents.with_columns(name),
        annotations=whole.annotations.with_columns(name),
        links=whole.links,
    )
    # Of which type an entity is nobody knows here: the three shares of persons are none, their number is 0.
    rows = cover_types(compute(named, None).datasets)
    assert rows.filter(pl.col("measure") == "typePerson")["value"].null_count() == 3
    expected = {(r["measure"], r["average"]): r["value"] for r in rows.iter_rows(named=True)}
    assert {(r["measure"], r["average"]): r["value"] for r in json.loads(shown.stdout)} == pytest.approx(expected)
    # Five of the six forms are 'New York'.
    assert expected["formMultiword", "micro"] == pytest.approx(5 / 6)
    assert not (tmp_path / "w").exists()


def test_frames_are_enriched_partitioned_and_sampled(frames: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="remix enrich"):
        run(partition, frames, "--by", "formMultiword", "--scheme", "classes")
    assert run(enrich, frames, "-w", tmp_path / "w").exit_code == 0
    done = run(
        partition, frames, "--by", "rmx:formMultiword", "--scheme", "classes", "--to", tmp_path / "p", "-o", "json"
    )
    assert [(row["part"], row["annotations"]) for row in json.loads(done.stdout)] == [
        ("unspecified", 0),
        ("false", 1),
        ("true", 5),
    ]
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["wikipedia-false", "wikipedia-true"]
    done = run(load, frames, "--sample", 2, "--seed", 7, "-w", tmp_path / "w", "-o", "json")
    (row,) = json.loads(done.stdout)
    assert (row["dataset"], row["documents"], row["annotations"]) == ("wikipedia-sample", 2, 2)


def test_wrong_use_is_told(frames: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds frames already: name a new folder, or give --replace"):
        run(load, "--to", "frames", frames, tmp_path / "links.nt")
    with pytest.raises(UsageError, match="the folder, then the files"):
        run(load, "--to", "frames", tmp_path / "links.nt")
    with pytest.raises(UsageError, match="without --dry-run"):
        run(load, "--to", "frames", tmp_path / "x", tmp_path / "links.nt", "--dry-run")
    with pytest.raises(UsageError, match="writes the values of annotations"):
        run(stats, frames, "--level", "annotation")
