"""Time of scoring: as many gold annotations against as many answers, strong and weak; and of the bootstrap.

    python bench/scoring.py [--annotations 1000000] [--documents 10000] [--runs 3]

The data are synthetic: mentions every 20 characters, a tenth of the answers shifted, a fifth linked wrongly, some
nested. Prints one JSON object with the seconds (median of the runs).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from remix import __version__
from remix.frames import Frames
from remix.scoring import evaluate
from remix.scoring.intervals import intervals


def synthetic(annotations: int, documents: int) -> tuple[Frames, Frames]:
    random = np.random.default_rng(0)
    number = np.arange(annotations)
    names = [f"urn:d/{n}" for n in range(documents)]
    texts = pl.DataFrame({"document": names, "dataset": ["x"] * documents})
    begin = (number // documents) * 20
    entity = random.integers(0, annotations // 10 + 1, annotations)
    shift = np.where(random.random(annotations) < 0.1, random.integers(-12, 12, annotations), 0)
    wrong = random.random(annotations) < 0.2
    length = random.integers(4, 14, annotations)

    def framed(start: np.ndarray, entities: np.ndarray) -> Frames:
        rows = pl.DataFrame({"n": number, "begin": start, "end": start + length, "e": entities})
        rows = rows.with_columns(
            annotation=pl.format("urn:a/{}", "n"),
            document=pl.format("urn:d/{}", pl.col("n") % documents),
            entity=pl.format("http://dbpedia.org/resource/E{}", "e"),
            dataset=pl.lit("x"),
        )
        return Frames.of(documents=texts, annotations=rows.drop("entity", "n", "e"), links=rows)

    return framed(begin, entity), framed(np.maximum(begin + shift, 0), np.where(wrong, entity + 1, entity))


def median(work: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return round(statistics.median(seconds), 3)


def bootstrap(documents: int) -> Callable[[], object]:
    random = np.random.default_rng(0)
    counts = pl.DataFrame({name: random.integers(0, 20, documents) for name in ("tp", "fp", "fn")})
    empty = pl.lit(None, pl.Int64)
    counts = counts.with_row_index("doc").with_columns(
        pl.col("doc").cast(pl.Int64), dataset=pl.lit("all"), fp_in_scope=empty, fp_on_mention=empty
    )
    units = counts.select("doc", "dataset")
    return lambda: intervals(counts, ["dataset"], units, samples=10_000, seed=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotations", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    gold, run = synthetic(chosen.annotations, chosen.documents)
    found: dict[str, object] = {
        "annotations": chosen.annotations,
        "remix": __version__,
        "python": platform.python_version(),
        "polars": pl.__version__,
        "cores": os.cpu_count(),
    }
    for matching in ("strong", "weak"):
        found[f"A2KB {matching}"] = median(
            lambda m=matching: evaluate(gold, {"s": run}, tasks=["A2KB"], matchings=[m]), chosen.runs
        )
    found["all tasks, strong and weak"] = median(lambda: evaluate(gold, {"s": run}), chosen.runs)
    found["bootstrap, 10,000 samples of 1,000 documents"] = median(bootstrap(1000), chosen.runs)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
