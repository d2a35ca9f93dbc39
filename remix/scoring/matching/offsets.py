"""Offsets of runs that do not fit gold's texts: counted in other units, shifted, with inclusive ends, or beyond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix import progress
from remix.dense import look_up
from remix.documents import align
from remix.frames import Frames
from remix.scoring.inputs.mentions import Mentions
from remix.scoring.matching import Case

__all__ = ["read_offsets", "tell_beyond", "wrong_offsets"]

FEW = 0.3
"""A run of which fewer answers have the span of a gold mention is looked at."""

LEAST = 3
"""So many more answers must have the span of a gold mention for offsets to be called wrong."""

_UNITS = {"UTF-16 code units": "utf16", "bytes of UTF-8": "bytes"}


def wrong_offsets(case: Case, texts: pl.DataFrame) -> dict[str, str]:
    """Return, by the name of each run whose offsets seem to mean something else, what they seem to be.

    That is 'shifted by N', 'inclusive ends', 'one-based, inclusive ends', 'UTF-16 code units' or 'bytes of UTF-8': what
    gives the most answers the span of a gold mention, at least twice as many as there are. `texts` has document and
    text of gold.
    """
    # Pairs are of all answers, also of those in documents that do not count.
    equal = case.overlaps.filter("equal")["a"].unique()
    rows = case.answers.select("system", equal=pl.col("a").is_in(equal.implode()))
    shares = rows.group_by("system").agg(answers=pl.len(), equal=pl.col("equal").sum())
    few = shares.filter(pl.col("equal") < FEW * pl.col("answers")).sort("system")
    found = {}
    for system, answers, before in few.select("system", "answers", "equal").iter_rows():
        own = case.answers.filter(system=system).select("a", "doc", "begin", "end").drop_nulls()
        best = _best(own, case.gold, _texts(case.mentions, texts))
        if best is not None and best[1] >= max(2 * before, before + LEAST):
            name = case.mentions.systems[system]
            found[name] = best[0]
            progress.note(
                f"run '{name}': {before} of its {answers} answers have the span of a gold mention, {best[1]} would if "
                f"its offsets were read as {best[0]}: --fix-offsets reads them so"
            )
    return found


def _texts(mentions: Mentions, texts: pl.DataFrame) -> pl.DataFrame:
    return mentions.documents.select("doc", "document").join(texts.unique("document"), on="document").drop_nulls("text")


def _best(answers: pl.DataFrame, gold: pl.DataFrame, texts: pl.DataFrame) -> tuple[str, int] | None:
    """Return the reading of offsets that gives the most answers the span of gold, and how many."""
    spans = gold.select("doc", "begin", "end").unique()
    readings = ["inclusive ends", "one-based, inclusive ends", *_shifts(answers, spans)]
    if len(texts) and texts.select((pl.col("text").str.len_bytes() > pl.col("text").str.len_chars()).any()).item():
        readings += list(_UNITS)
    counted = [
        (name, _read_as(answers, name, texts).join(spans, on=["doc", "begin", "end"]).height) for name in readings
    ]
    return max(counted, key=lambda one: one[1], default=None)


def _shifts(answers: pl.DataFrame, spans: pl.DataFrame) -> list[str]:
    """Return the shift that most pairs of spans of one length have, where it is not zero."""
    length = (pl.col("end") - pl.col("begin")).alias("length")
    pairs = answers.select("doc", "begin", length).join(spans.select("doc", length, at="begin"), on=["doc", "length"])
    shifts = pairs.select(shift=pl.col("begin") - pl.col("at"))["shift"].value_counts(name="n")
    best = shifts.sort("n", pl.col("shift").abs(), "shift", descending=[True, False, False]).head(1)["shift"].to_list()
    return [f"shifted by {best[0]}"] if best and best[0] else []


def _read_as(rows: pl.DataFrame, reading: str, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with begin and end as gold's texts count them; `texts` has doc and text."""
    if reading.startswith("shifted by "):
        shift = int(reading.removeprefix("shifted by "))
        return rows.with_columns(pl.col("begin", "end") - shift)
    if reading not in _UNITS:
        first = pl.col("begin") - (1 if reading.startswith("one-based") else 0)
        return rows.with_columns(begin=first, end=pl.col("end") + (0 if reading.startswith("one-based") else 1))
    places = _places(texts, _UNITS[reading])
    for name in ("begin", "end"):
        known = places.select("doc", pl.col("unit").alias(name), place="place")
        rows = rows.join(known, on=["doc", name], how="left", maintain_order="left")
        # What is at no start of a character stays as it is.
        rows = rows.with_columns(pl.coalesce("place", name).alias(name)).drop("place")
    return rows


def _places(texts: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return doc, unit and place: at which unit the character at a place begins, and one behind the last."""
    parts = texts.select("doc", part=(pl.col("text") + "\0").str.split("")).explode("part")
    size = pl.col("part").str.len_bytes().cast(pl.Int64)
    width = size if unit == "bytes" else pl.when(size == 4).then(2).otherwise(1)
    rows = parts.filter(pl.col("part") != "").with_columns(width=width)
    return rows.select(
        "doc",
        unit=(pl.col("width").cum_sum() - pl.col("width")).over("doc"),
        place=pl.int_range(pl.len(), dtype=pl.Int64).over("doc"),
    )


def read_offsets(gold: Frames, runs: Mapping[str, Frames], readings: Mapping[str, str]) -> dict[str, Frames]:
    """Return the runs, those that are named with their offsets read as `wrong_offsets` found them."""
    return {name: _fix(gold, run, name, readings[name]) if name in readings else run for name, run in runs.items()}


def _fix(gold: Frames, run: Frames, name: str, reading: str) -> Frames:
    pairs = align(gold, run, name, told=False)
    texts = pairs.join(gold.documents.select(gold="document", text="text"), on="gold").unique("document")
    named = texts.select(doc="document", text="text").drop_nulls("text")
    rows = _read_as(run.annotations.rename({"document": "doc"}), reading, named).rename({"doc": "document"})
    return replace(run, annotations=rows.select(run.annotations.columns))


def tell_beyond(case: Case, texts: pl.DataFrame) -> None:
    """Say of each run how many of its answers lie beyond the texts, and where the first does."""
    lengths = _texts(case.mentions, texts).select("doc", "document", length=pl.col("text").str.len_chars())
    if lengths.is_empty():
        return
    rows = look_up(case.answers.drop_nulls(["begin", "end"]), "doc", lengths, ["document", "length"])
    beyond = rows.filter((pl.col("end") > pl.col("length")) | (pl.col("begin") < 0) | (pl.col("end") < pl.col("begin")))
    for (system,), own in beyond.group_by("system", maintain_order=True):
        row = own.row(0, named=True)
        place = f"{row['begin']} to {row['end']} of {row['length']} characters in <{row['document']}>"
        name = case.mentions.systems[int(str(system))]
        progress.note(
            f"run '{name}': {len(own)} answers beyond the text of their document are wrong; the first is {place}"
        )
