"""Time and memory of looking for texts that are nearly the same, as `remix check` does.

    python bench/copies.py [--documents 1000000] [--words 60]

Generates so many texts of words that follow Zipf's law as Mandelbrot has it, of which every hundredth is a copy of
another with a word more, and prints one JSON object: how many were found of how many, seconds of the processor and of
the clock, and the peak memory in GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
import polars as pl

from remix.checks.copies import find_similar


def generate(documents: int, words: int) -> pl.DataFrame:
    """Return document and text; each hundredth is a copy of the one before with a word more."""
    draw = np.random.default_rng(0)
    vocabulary = pl.Series([f"w{number:x}" for number in range(50_000)])
    share = 1 / (np.arange(len(vocabulary)) + 2.7)
    numbers = np.searchsorted(np.cumsum(share / share.sum()), draw.random(documents * words) * (1 - 1e-9))
    drawn = vocabulary.gather(numbers).to_frame("word")
    texts = drawn.with_columns(row=pl.int_range(pl.len()) // words).group_by("row", maintain_order=True)
    frame = texts.agg(pl.col("word").str.join(" ").alias("text"))
    copied = pl.concat_str(pl.col("text").shift(1), pl.lit(" changed"))
    text = pl.when(pl.col("row") % 100 == 99).then(copied).otherwise("text")
    return frame.select(document=pl.col("row").cast(pl.String), text=text)


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=60)
    chosen = parser.parse_args()
    texts = generate(chosen.documents, chosen.words)
    before, began = time.process_time(), time.perf_counter()
    pairs = find_similar(texts)
    copies = pairs.filter(pl.col("document").cast(pl.Int64) == pl.col("other").cast(pl.Int64) + 1).height
    told = {
        "documents": chosen.documents,
        "copies": chosen.documents // 100,
        "found": copies,
        "pairs": pairs.height,
        "cpu seconds": round(time.process_time() - before, 1),
        "seconds": round(time.perf_counter() - began, 1),
        "gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
