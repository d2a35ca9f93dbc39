"""What test_cluster.py runs beside itself, as one process has one session of Spark: `cluster_client.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.kb import build
from remix.kb.engines.spark import SparkTables, spark_session
from remix.kb.prominence import graph
from remix.measures import compute_table

FRAMES = ("documents", "annotations", "links", "classes", "regions")
# So little damping, of links so few, ends the iterations within one job, of fewer steps than usual.
CHOICES: dict[str, Any] = {"name": "both", "damping": 0.1, "tolerance": 1e-12}


def main(folder: Path) -> None:
    """Build the tables of a folder and measure its frames on the cluster; write values, and what was found out."""
    graph.STEPS = 4
    with spark_session() as spark:
        kb = build([("tables", str(folder / "tables"))], folder / "spark", engine="spark", **CHOICES)
        measured = compute_table({name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in FRAMES}, kb)
        pl.DataFrame(measured.annotations.toArrow()).write_parquet(folder / "annotations-measured.parquet")
        measured.summary.datasets.write_parquet(folder / "datasets-measured.parquet")
        workers = spark.range(8, numPartitions=8).mapInArrow(_places, "id long").toArrow()["id"].to_pylist()
        found: dict[str, Any] = {"master": spark.sparkContext.master, "workers": workers}
        try:  # Each process sees its own working directory there, as if storage were not shared.
            rows: nw.LazyFrame[Any] = nw.from_native(spark.range(7))
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
    main(Path(sys.argv[1]))
