"""What a session of Spark writes, and what is said where it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl
import pytest

from remix.errors import Error, UsageError
from remix.kb.engines import ENGINES
from remix.kb.engines.spark import SparkTables, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.extra


def test_what_is_written_sorted_is_one_order_over_all_files(spark: SparkSession, tmp_path: Path) -> None:
    rows = pl.DataFrame({"a": ["b", None, "a", "Z", "é", "b"] * 50, "n": range(300)})
    rows.write_parquet(tmp_path / "rows.parquet")
    session = SparkTables(spark)
    session.write(session.scan([tmp_path / "rows.parquet"]), tmp_path / "sorted.parquet", ["a", "n"])
    found = pl.read_parquet(tmp_path / "sorted.parquet")
    assert found.rows() == rows.sort("a", "n", nulls_last=False).rows()
    assert len(list((tmp_path / "sorted.parquet").iterdir())) > 1
    session.number(session.scan([tmp_path / "rows.parquet"]).filter(nw.col("n") < 6), "n", tmp_path / "n.parquet")
    assert sorted(pl.read_parquet(tmp_path / "n.parquet").rows()) == [(n, n) for n in range(6)]


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "one.parquet")
    (tmp_path / "full").write_text("a file where a folder is needed")
    session = SparkTables(spark)
    with pytest.raises(Error, match=r"full/two.parquet cannot be written"):
        session.write(session.scan([tmp_path / "one.parquet"]), tmp_path / "full" / "two.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "one.parquet"]


def test_the_active_session_is_taken_and_left_running(spark: SparkSession, tmp_path: Path) -> None:
    with ENGINES["spark"].open(tmp_path, "1GB") as session:
        assert session.distributed
    assert spark.range(3).count() == 3


def test_what_fails_in_spark_is_said_in_one_line(spark: SparkSession) -> None:
    with pytest.raises(Error, match="^Spark failed: .*the disk is gone") as failed, spark_session() as session:
        session.range(1).selectExpr("raise_error('the disk is gone')").collect()
    assert "\n" not in str(failed.value) and len(str(failed.value)) < 500


def test_an_amount_of_memory_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="'much' is no amount of memory: write it like 3GB"):
        spark_session("much").__enter__()
