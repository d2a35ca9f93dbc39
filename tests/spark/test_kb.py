"""A knowledge base that Spark builds is the one that the default engine builds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import Error, UsageError
from remix.kb import KnowledgeBase, build, lookup
from remix.kb.engines import ENGINES
from remix.kb.engines.spark import SparkTables, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.extra

SAMPLE = Path(__file__).resolve().parents[2] / "datasets" / "kb"


def generated(folder: Path) -> Path:
    """Write tables of 60 entities: chains and circles of redirects, names in several scripts, links at random."""
    draw = random.Random(5)
    entity = [f"dbr:Thing_{n}" for n in range(60)]
    names = ["Anna", "anna", "München", "北京", "a b", "Ångström", "x😀", "Straße"]
    tables = {
        "surface_forms": [
            (draw.choice(names), draw.choice(entity), draw.choice(["", 1, 2, 7]), draw.choice(["names", "gold:x"]))
            for _ in range(200)
        ],
        # So many that one direction outweighs all others, and HITS settles soon.
        "links": [(one, other, 1, "facts") for one in entity for other in entity if draw.random() < 0.8],
        "types": [(one, draw.choice(["dbo:Person", "dbo:Place"]), "facts") for one in entity[::2]],
        "labels": [(one, one[4:], "facts") for one in entity[::3]],
        # 0 → 1 → 2 → 3, 10 ⇄ 11, 20 → 21, named twice, and → 22, named once.
        "redirects": [(entity[a], entity[b], "r") for a, b in [(0, 1), (1, 2), (2, 3), (10, 11), (11, 10), (20, 21)]]
        + [(entity[20], entity[21], "s"), (entity[20], entity[22], "s")],
        "sameas": [("wd:Q7", entity[0], 2, "one"), ("wd:Q7", entity[9], 1, "two"), ("wd:Q8", entity[12], "", "one")],
        "disambiguations": [("dbr:Anna", entity[5], "pages"), ("dbr:Anna", entity[0], "pages")],
    }
    folder.mkdir()
    for name, rows in tables.items():
        width = len(rows[0])
        lines = ["\t".join("abcd"[:width]), *("\t".join(str(cell) for cell in row) for row in rows)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def both(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[KnowledgeBase, KnowledgeBase]:
    """The sample's tables and generated ones as one knowledge base, built by the default engine and by Spark."""
    folder = tmp_path_factory.mktemp("kb")
    sources = [("tables", str(SAMPLE)), ("tables", str(generated(folder / "generated")))]
    # Little damping ends the iterations soon.
    choices = {"name": "both", "damping": 0.1, "tolerance": 1e-12, "without_sources": ["gold:*"]}
    return build(sources, folder / "duckdb", **choices), build(sources, folder / "spark", engine="spark", **choices)


def test_every_part_has_the_same_rows_in_an_order_that_serves_as_well(
    both: tuple[KnowledgeBase, KnowledgeBase],
) -> None:
    default, spark = ({path.name for path in kb.folder.glob("*")} for kb in both)
    assert spark == default and "dictionary.parquet" in spark and "links.parquet" in spark
    for part in sorted(default - {"kb.json", "SHA256SUMS"}):
        one, two = (pl.read_parquet(kb.folder / part) for kb in both)
        by = [column for column in one.columns if not one.schema[column].is_float()]
        assert_frame_equal(two.sort(by), one.sort(by), rel_tol=0, abs_tol=1e-9)
        # What is looked up is skipped to: the rows of all files, in the order of the files' names, are sorted.
        assert two[one.columns[0]].equals(one[one.columns[0]])


def test_it_describes_itself_as_the_same(both: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    one, two = (json.loads((kb.folder / "kb.json").read_text()) for kb in both)
    assert two == one
    # Thing_10 and Thing_11 are redirects to each other.
    circular = [f"http://dbpedia.org/resource/Thing_{n}" for n in (10, 11)]
    assert set(circular) <= set(two["circular_redirects"]["first"])


def test_it_answers_the_same(both: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    one, two = (lookup(kb, "Anna") for kb in both)
    assert_frame_equal(two, one, rel_tol=0, abs_tol=1e-9)
    # Scores of an entity are shown with all their digits.
    one, two = (lookup(kb, "dbr:Thing_3").filter(~pl.col("value").str.contains(r"^\d+\.\d|e-")) for kb in both)
    assert two.height > 10 and two.equals(one)


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
