"""Repeats of one run, as of a system that answers otherwise each time: their mean and deviation.

Repeats are called `NAME#1`, `NAME#2`, …: given so (`--run NAME#1=FILE`), or told apart in a file that numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.names import REPEAT
from remix.scoring import statistics
from remix.scoring.statistics.weights import FUZZY
from remix.signature import content_hash

__all__ = ["SCORES", "contents_of_repeats", "repeats_of", "with_means_of_repeats"]

SCORES = (*statistics.SCORES, *FUZZY)
"""What has a mean, and its sample standard deviation in a column of its own, `<score>_deviation`."""

_REPEAT = r"^(.+)#[0-9]+$"


def repeats_of(runs: Mapping[str, Frames]) -> dict[str, Frames]:
    """Return the runs, those of files that number repeats as several, named `NAME#1`, `NAME#2`, …."""
    found = {}
    for name, run in runs.items():
        numbers = run.values.filter(pl.col("term") == REPEAT)
        if numbers.is_empty():
            found[name] = run
            continue
        of_documents = run.values.join(run.documents, left_on="subject", right_on="document", how="semi")
        told = of_documents["text"].cast(pl.Int64, strict=False).drop_nulls().cast(pl.Float64)
        for number in pl.concat([numbers["number"], told]).drop_nulls().unique().sort():
            own = run.keep(annotations=numbers.filter(pl.col("number") == number)["subject"])
            # What a document had in another repeat is not this one's.
            other = pl.col("text").cast(pl.Int64, strict=False).cast(pl.Float64) != number
            values = own.values.filter(
                ~(other.fill_null(False) & pl.col("subject").is_in(run.documents["document"].implode()))
            )
            subjects = pl.concat([run.documents["document"], run.annotations["annotation"]])
            made = run.values.filter(~pl.col("subject").is_in(subjects.implode()))
            found[f"{name}#{number:.0f}"] = replace(own, values=pl.concat([values, made]))
    return found


def contents_of_repeats(runs: Iterable[str], contents: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes of the runs' contents, those of repeats made of the hash of their file and their number."""
    found = dict(contents)
    for name in runs:
        file, mark, number = name.rpartition("#")
        if mark and name not in contents and file in contents:
            found[name] = content_hash(contents[file], mark, number)
    return found


def with_means_of_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of scores, and below them one for the repeats of each system: its name without number.

    `repeats` is how many they are. Scores are means over repeats; the deviation is that of a sample, undefined for one.
    Counts (tp, fp, …) are null, since they are of one run; so is the signature, as each repeat has its own.

    >>> two = pl.DataFrame({"system": ["m#1", "m#2"], "task": ["A2KB"] * 2, "f1": [0.4, 0.6]})
    >>> with_means_of_repeats(two).select("system", "f1", pl.col("f1_deviation").round(3), "repeats").row(2)
    ('m', 0.5, 0.141, 2)
    """
    repeated = rows.filter(pl.col("system").str.contains(_REPEAT))
    if repeated.is_empty():
        return rows
    keys = ["dataset", "task", "matching", "profile", "column", "slice", "average"]
    keys = [key for key in keys if key in rows.columns]
    scores = [name for name in SCORES if name in rows.columns]
    means = [pl.col(name).mean() for name in scores]
    deviations = [pl.col(name).std().alias(f"{name}_deviation") for name in scores]
    same = [pl.col(name).first() for name in ("documents", "mentions", "f1_precision") if name in rows.columns]
    system = pl.col("system").str.extract(_REPEAT, 1)
    parts = repeated.group_by(system, *keys, maintain_order=True).agg(
        *means, *deviations, *same, repeats=pl.len().cast(pl.Int64)
    )
    if "column" in rows.columns:
        parts = parts.filter(pl.col("column") != "error_class")
    return pl.concat([rows, parts], how="diagonal_relaxed")
