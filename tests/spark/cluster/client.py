"""What test_cluster.py runs beside itself, as one process has one session of Spark.

client.py FOLDER SAMPLE SOURCES…
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.kb import KnowledgeBase, build
from remix.kb.engines.spark import SparkTables, spark_session
from remix.kb.prominence import graph
from remix.measures import compute_table

FRAMES = ("documents", "annotations", "links", "classes", "regions")
LEVELS = ("annotations", "documents", "classes")
# So little damping ends the iterations within one job, of fewer steps than usual.
CHOICES: dict[str, Any] = {"name": "both", "damping": 0.1, "tolerance": 1e-12, "without_sources": ["gold:*"]}
MEASURED: dict[str, dict[str, Any]] = {
    "default": {},
    "other": {"reference": "union", "case_sensitive": True, "without_sources": ["label"]},
}
"""By which choices the frames are measured."""


def main(folder: Path, sources: list[str], sample: Path) -> None:
    """Build tables, and measure a folder's frames with the sample's knowledge base; write both and what was found."""
    graph.STEPS = 4
    with spark_session() as spark:
        build([("tables", one) for one in sources], folder / "spark", engine="spark", **CHOICES)
        tables = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in FRAMES}
        found: dict[str, Any] = {"master": spark.sparkContext.master}
        for name, choices in MEASURED.items():
            measured = compute_table(tables, KnowledgeBase.open(sample), **choices)
            (place := folder / name).mkdir()
            for level in LEVELS:
                rows = getattr(measured, level).toArrow()
                pl.DataFrame(pl.from_arrow(rows)).write_parquet(place / f"{level}.parquet")
            measured.summary.datasets.write_parquet(place / "datasets.parquet")
            found[name] = {"signature": str(measured.summary.signature), "skipped": measured.summary.skipped}
        workers = spark.range(8, numPartitions=8).mapInArrow(_places, "id long").toArrow()["id"].to_pylist()
        found["workers"] = workers
        try:  # Each process sees its own working directory there, as if storage were not shared.
            rows = nw.from_native(spark.range(7))
            SparkTables(spark).write(rows, Path("/proc/self/cwd/lost.parquet"))
        except Error as error:
            found["lost"] = str(error)
    (folder / "found.json").write_text(json.dumps(found))


def _places(batches: Any) -> Any:
    import os

    import pyarrow

    for batch in batches:
        yield pyarrow.RecordBatch.from_pydict({"id": [os.getppid()] * batch.num_rows})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[3:], Path(sys.argv[2]))
