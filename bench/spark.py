"""How long Spark takes on this machine, beside the default engine: building a knowledge base, measuring a table.

`python bench/spark.py` generates staged rows, links and annotations at 1/1000 and 1/100 of the size of DBpedia
English; `--scale full` adds a tenth. Each run is a process of its own; Spark runs on two cores (`local[2]`). Memory is
the peak of the process and, for Spark, of the Java process beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from remix.kb import KnowledgeBase, build
from remix.kb.engines import ENGINES

FORMS, LINKS, ANNOTATIONS = 20_000_000, 200_000_000, 10_000_000
"""The sizes of DBpedia English, and of ten million annotations."""


def generate(folder: Path, share: float, seed: int = 7) -> None:
    """Write tables of surface forms and links, and frames of documents with ten annotations each."""
    random = np.random.default_rng(seed)
    forms, links, annotations = (int(size * share) for size in (FORMS, LINKS, ANNOTATIONS))
    entities = forms * 6 // 10

    def drawn(count: int, power: int) -> np.ndarray:
        return (entities * random.random(count) ** power).astype(np.int64)

    def iri(column: str) -> pl.Expr:
        return pl.format("http://dbpedia.org/resource/Thing_{}", column).alias(column)

    (folder / "tables").mkdir(parents=True)
    named = pl.DataFrame({"name": drawn(forms, 2) // 2, "entity": drawn(forms, 3), "count": random.zipf(1.6, forms)})
    named.select(
        pl.format("Name of thing {}", "name"), iri("entity"), pl.col("count").clip(1, 10**6), source=pl.lit("anchor")
    ).write_csv(folder / "tables" / "surface_forms.tsv", separator="\t")
    pl.DataFrame({"source": drawn(links, 1), "target": drawn(links, 3)}).select(
        iri("source"), iri("target"), count=pl.lit(1), origin=pl.lit("pages")
    ).write_csv(folder / "tables" / "links.tsv", separator="\t")
    made = pl.DataFrame({"number": np.arange(annotations), "n": drawn(annotations, 2) // 2, "e": drawn(annotations, 3)})
    document = pl.format("urn:d/{}", pl.col("number") // 10).alias("document")
    begin = 20 * (pl.col("number") % 10)
    rows = made.select(
        document,
        annotation=pl.format("urn:d/{}#{}", pl.col("number") // 10, pl.col("number") % 10),
        dataset=pl.lit("d"),
        begin=begin,
        end=begin + 15,
        surface_form=pl.format("Name of thing {}", "n"),
        is_nil=pl.lit(False),
        ignorable=pl.lit(None, pl.String),
        entity=iri("e"),
    )
    text = pl.lit("Some words stand here. " * 10)
    documents = rows.select("document", "dataset").unique(maintain_order=True).with_columns(text=text)
    documents.write_parquet(folder / "documents.parquet", row_group_size=50_000)
    rows.drop("entity").write_parquet(folder / "annotations.parquet", row_group_size=50_000)
    rows.select("annotation", "entity").write_parquet(folder / "links.parquet", row_group_size=50_000)


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """Give a session of Spark on two cores that keeps its events; print what was shuffled, by the name of the step."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    local = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    events = Path(tempfile.mkdtemp(dir=folder))
    kept = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(), "spark.eventLog.compress": "false"}
    for name, value in {**local, **kept, "spark.sql.shuffle.partitions": "8"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    yield spark
    spark.stop()
    steps = shuffled([file for file in events.rglob("*") if file.is_file()])
    print(f"shuffled\t{sum(steps.values()) / 1e6:.1f} MB in all")
    for step, size in sorted(steps.items(), key=lambda one: -one[1])[:12]:
        print(f"  {step}\t{size / 1e6:.1f} MB", flush=True)


def shuffled(logs: list[Path]) -> Counter[str]:
    """Return the bytes that tasks wrote for others to read, by the description of their job."""
    steps: Counter[str] = Counter()
    names: dict[int, str] = {}
    for log in logs:
        for line in log.open(encoding="utf-8"):
            if not line.startswith("{"):
                continue
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                name = re.sub(r"[- ]?\d+$", "", event.get("Properties", {}).get("spark.job.description", "other"))
                names |= dict.fromkeys(event["Stage IDs"], name)
            elif event["Event"] == "SparkListenerTaskEnd":
                written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
                steps[names.get(event["Stage ID"], "other")] += written.get("Shuffle Bytes Written", 0)
    return steps


def built(folder: Path, engine: str) -> None:
    """Build the knowledge base with an engine."""
    build([("tables", str(folder / "tables"))], folder / engine, name="bench", engine=engine, tolerance=1e-8)


def measured(folder: Path, engine: str) -> None:
    """Compute all measures of the annotations."""
    kb = KnowledgeBase.open(next((folder / "duckdb").glob("bench-*")))
    names = ("documents", "annotations", "links")
    if engine == "spark":
        from remix.measures._spark import compute_table

        with session(folder) as spark:
            found = compute_table({name: spark.read.parquet(f"{folder}/{name}.parquet") for name in names}, kb)
            assert found.annotations.count() and found.summary.datasets.height
        return
    from remix.frames import Frames
    from remix.measures import compute

    compute(Frames.of(**{name: pl.read_parquet(folder / f"{name}.parquet") for name in names}), kb)


def run(what: str, folder: Path, engine: str) -> None:
    """Do one thing in this process, and print what it took."""
    begin = time.perf_counter()
    if what == "build" and engine == "spark":
        with session(folder), ENGINES[engine].open(folder, "3GB"):
            built(folder, engine)
    else:
        {"build": built, "measure": measured}[what](folder, engine)
    own, others = (resource.getrusage(who).ru_maxrss / 1e6 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{what}\t{engine}\t{time.perf_counter() - begin:.1f} s\t{own:.2f} GB\t{others:.2f} GB", flush=True)


def main() -> None:
    """Generate the sizes, and run each thing with each engine in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    parser.add_argument("--only", nargs=3, metavar=("WHAT", "FOLDER", "ENGINE"))
    given = parser.parse_args()
    if given.only:
        return run(given.only[0], Path(given.only[1]), given.only[2])
    print("what\tengine\ttime\tpeak\tpeak of its children")
    for share in (0.001, 0.01, *((0.1,) if given.scale == "full" else ())):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            generate(folder, share)
            print(f"# {FORMS * share:,.0f} forms, {LINKS * share:,.0f} links, {ANNOTATIONS * share:,.0f} annotations")
            for what in ("build", "measure"):
                for engine in ("duckdb", "spark"):
                    subprocess.run([sys.executable, __file__, "--only", what, place, engine], check=True)
    return None


if __name__ == "__main__":
    main()
