"""How long Spark takes on this machine, beside the default engine: building a knowledge base, measuring a table.

`python bench/spark.py` generates staged rows, links and annotations at 1/1000 and 1/100 of the size of DBpedia
English; `--scale full` adds a tenth. Each run is a process of its own and prints one line of JSON; Spark runs on two
cores (`local[2]`). CPU seconds are those of all processes. Memory is the peak of the process and, for Spark, of the
Java process beside it. Of each step of Spark there are the seconds of its jobs and the megabytes that it shuffled.
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

from remix.frames import Frames
from remix.kb import KnowledgeBase, build
from remix.kb.engines import ENGINES
from remix.measures import compute, compute_table

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
def session(folder: Path, found: dict[str, Any]) -> Iterator[Any]:
    """Give a session of Spark on two cores, and tell what Java needed and what each step took and shuffled."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    quiet = dict.fromkeys(("spark.ui.enabled", "spark.ui.showConsoleProgress"), "false")
    local = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", **quiet}
    events = Path(tempfile.mkdtemp(dir=folder))
    kept = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(), "spark.eventLog.compress": "false"}
    for name, value in {**local, **kept, "spark.sql.shuffle.partitions": "8"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    yield spark
    java = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}")
    peak = re.search(r"VmHWM:\s*(\d+)", (java / "status").read_text())
    # Behind the name in parentheses: the twelfth to fifteenth are ticks of itself and of its workers that have ended.
    ticks = (java / "stat").read_text().rpartition(")")[2].split()[11:15]
    seconds = sum(int(tick) for tick in ticks) / os.sysconf("SC_CLK_TCK")
    found |= {"Java peak GB": round(int(peak[1]) / 1e6, 2) if peak else None, "Java CPU seconds": round(seconds, 1)}
    spark.stop()
    found |= steps_of([file for file in events.rglob("*") if file.is_file()])


def steps_of(logs: list[Path]) -> dict[str, Any]:
    """Return how many jobs and megabytes shuffled there were in all, and seconds and megabytes of the steps by name."""
    shuffled: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    names: dict[int, str] = {}
    begun: dict[int, tuple[str, int]] = {}
    for event in (json.loads(line) for log in logs for line in log.open(encoding="utf-8") if line.startswith("{")):
        if event["Event"] == "SparkListenerJobStart":
            name = re.sub(r"[- ]?\d+$", "", event.get("Properties", {}).get("spark.job.description", "other"))
            names |= dict.fromkeys(event["Stage IDs"], name)
            begun[event["Job ID"]] = name, event["Submission Time"]
        elif event["Event"] == "SparkListenerJobEnd":
            name, since = begun[event["Job ID"]]
            seconds[name] += (event["Completion Time"] - since) / 1000
        elif event["Event"] == "SparkListenerTaskEnd":
            written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
            shuffled[names.get(event["Stage ID"], "other")] += written.get("Shuffle Bytes Written", 0)
    steps = {name: [round(seconds[name], 1), round(size / 1e6, 2)] for name, size in shuffled.most_common() if size}
    return {"jobs": len(begun), "MB shuffled": round(sum(shuffled.values()) / 1e6, 1), "steps (s, MB)": steps}


def built(folder: Path, engine: str) -> None:
    """Build the knowledge base with an engine."""
    build([("tables", str(folder / "tables"))], folder / engine, name="bench", engine=engine, tolerance=1e-8)


def measured(folder: Path, engine: str, found: dict[str, Any]) -> None:
    """Compute all measures of the annotations."""
    kb = KnowledgeBase.open(next((folder / "duckdb").glob("bench-*")))
    files = {name: folder / f"{name}.parquet" for name in ("documents", "annotations", "links")}
    if engine != "spark":
        compute(Frames.of(**{name: pl.read_parquet(file) for name, file in files.items()}), kb)
        return
    with session(folder, found) as spark:
        made = compute_table({name: spark.read.parquet(str(file)) for name, file in files.items()}, kb)
        assert made.annotations.count() and made.summary.datasets.height


def run(what: str, folder: Path, engine: str) -> None:
    """Do one thing in this process, and print what it took."""
    begin = time.perf_counter()
    found: dict[str, Any] = {}
    if what == "measure":
        measured(folder, engine, found)
    elif engine == "spark":
        with session(folder, found), ENGINES[engine].open(folder, "3GB"):
            built(folder, engine)
    else:
        built(folder, engine)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cores = used.ru_utime + used.ru_stime + found.pop("Java CPU seconds", 0.0)
    took = {"seconds": round(time.perf_counter() - begin, 1), "CPU seconds": round(cores, 1)}
    print(json.dumps({"what": what, "engine": engine, **took, "peak GB": round(used.ru_maxrss / 1e6, 2), **found}))


def main() -> None:
    """Generate the sizes, and run each thing with each engine in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    parser.add_argument("--share", type=float, help="of the size of DBpedia English, instead of those of the scale")
    parser.add_argument("--only", nargs=3, metavar=("WHAT", "FOLDER", "ENGINE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        return run(given.only[0], Path(given.only[1]), given.only[2])
    shares = (0.001, 0.01, 0.1) if given.scale == "full" else (0.001, 0.01)
    for share in (given.share,) if given.share else shares:
        with tempfile.TemporaryDirectory() as place:
            generate(Path(place), share)
            sizes = {"forms": FORMS, "links": LINKS, "annotations": ANNOTATIONS}
            print(json.dumps({name: int(size * share) for name, size in sizes.items()}), flush=True)
            for what in ("build", "measure"):
                for engine in ("duckdb", "spark"):
                    subprocess.run([sys.executable, __file__, "--only", what, place, engine], check=True)
    return None


if __name__ == "__main__":
    main()
