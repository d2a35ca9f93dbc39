"""Measures of tables of Spark equal those of the same frames in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import UsageError
from remix.frames import Frames
from remix.frames_folder import finish, under_way, write_part
from remix.measures import compute, compute_folder, compute_table
from remix.measures.enrichment import named_frames
from remix.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.extra

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """The corpus that ships with remix."""
    store = Store(tmp_path_factory.mktemp("sample") / ".remix")
    for file in sorted((ROOT / "datasets" / "corpus").glob("*.ttl")):
        store.load(file)
    return named_frames(store)


def test_a_folder_of_frames_without_a_knowledge_base_equals_that_in_memory(
    spark: SparkSession, sample: Frames, tmp_path: Path
) -> None:
    posts = "sample-posts"
    of_posts = sample.keep(documents=sample.documents.filter(pl.col("dataset") == posts)["document"])
    named = {
        name: getattr(of_posts, name).with_columns(dataset=pl.lit("urn:d")) for name in ("documents", "annotations")
    }
    halves = (of_posts.documents["document"].gather_every(2, first) for first in (0, 1))
    with under_way(tmp_path / "frames", {}) as place:
        for number, mine in enumerate(halves):
            write_part(place, number, replace(of_posts, **named).keep(documents=mine))
        folder = finish(place, tmp_path / "frames", {"name": posts, "iri": "urn:d", "parts": 2})
    chosen = ["density", "overlap", "repetition", "prominence"]
    found = compute_folder(folder, None, engine="spark", measures=chosen)
    whole = compute(of_posts, None, measures=chosen)
    assert_frame_equal(found.datasets, whole.datasets, rel_tol=1e-12, abs_tol=0)
    assert found.skipped == whole.skipped == ("prominence",)


def test_tables_that_are_not_measured_or_lack_are_named(spark: SparkSession) -> None:
    rows = spark.range(1)
    with pytest.raises(UsageError, match="no table 'link' is measured; did you mean 'links'"):
        compute_table({"link": rows}, None)
    with pytest.raises(UsageError, match="the table of annotations is missing"):
        compute_table({"documents": rows}, None)
