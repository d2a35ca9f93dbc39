"""Repeats of one run, as of a system that answers otherwise each time: their mean and deviation.

Repeats are called `NAME#1`, `NAME#2`, …: given so (`--run NAME#1=FILE`), or told apart in a file that numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.names import REPEAT
from remix.signature import content_hash

__all__ = ["contents_of_repeats", "repeats_of"]


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
