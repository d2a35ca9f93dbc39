"""Which document of a run is which document of gold."""

from __future__ import annotations

import os.path

import polars as pl

from remix import progress
from remix.errors import BadInput
from remix.frames import Frames

__all__ = ["aligned"]

AROUND = 15
"""Characters of a text that are shown on both sides of where it differs from another."""


def aligned(gold: Frames, run: Frames, name: str = "run", *, told: bool = True) -> pl.DataFrame:
    """Return `gold` and `document` (of the run), one row for each pair of documents that are the same.

    A document of the run is that of gold which has its IRI, else its given IRI, else its text; where both have a
    text, it must be the same (but for white space at the end), since offsets mean nothing in another text. A text
    that gold holds several times is answered by the run's documents of that text in order, the last one for the
    rest. Documents of gold that the run lacks count as unanswered, those of the run that gold lacks are left out, which
    is said unless `told` is false.

    Raises `BadInput` where nothing is the same, with how many documents match by IRI and by text.
    """
    left = _keys(gold.documents, "gold")
    right = _keys(run.documents, "document")
    if right.is_empty():
        return pl.DataFrame(schema={"gold": pl.String, "document": pl.String})
    found = left.clear().select("gold").with_columns(document=pl.lit(None, pl.String))
    by_iri = 0
    other = ""
    for key in ("iri", "given"):
        rest = left.join(found, on="gold", how="anti").filter(pl.col(key).is_not_null())
        pairs = rest.join(right.select("document", pl.col(key), run_text="text"), on=key)
        by_iri = max(by_iri, pairs["gold"].n_unique())
        same = (pl.col("text") == pl.col("run_text")) | pl.col("text").is_null() | pl.col("run_text").is_null()
        other = other or _difference(pairs.filter(~same))
        found = pl.concat([found, pairs.filter(same).select("gold", "document")])
    rest = left.join(found, on="gold", how="anti").drop_nulls("text")
    texts = _by_text(rest, right.drop_nulls("text"))
    if told:
        _report(name, left, right, found, texts, by_iri, other)
    return pl.concat([found, texts]).unique().sort("gold", "document")


def _keys(documents: pl.DataFrame, name: str) -> pl.DataFrame:
    return documents.select(
        pl.col("document").alias(name), "given", iri="document", text=pl.col("text").str.strip_chars_end()
    )


def _by_text(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of equal text: the n-th of gold with the n-th of the run, or its last."""
    nth = pl.int_range(pl.len()).over("text")
    right = right.sort("document").with_columns(nth=nth)
    last = right.group_by("text").agg(last=pl.col("nth").max())
    return (
        left.sort("gold")
        .with_columns(nth=nth)
        .join(last, on="text")
        .with_columns(nth=pl.min_horizontal("nth", "last"))
        .join(right, on=["text", "nth"])
        .select("gold", "document")
    )


def _firsts(left: pl.DataFrame, right: pl.DataFrame) -> str:
    return f"gold's first is <{left['iri'][0]}>, the run's <{right['iri'][0]}>"


def _difference(pairs: pl.DataFrame) -> str:
    """Return where the first of two texts of one document differ, empty where there is none."""
    if pairs.is_empty():
        return ""
    iri, one, other = pairs.select("gold", "text", "run_text").sort("gold").row(0)
    place = len(os.path.commonprefix([one, other]))
    parts = [repr(text[max(0, place - AROUND) : place + AROUND]) for text in (one, other)]
    return (
        f"the texts of <{iri}> differ from character {place}: gold has {parts[0]} ({len(one)} characters in all), "
        f"the run {parts[1]} ({len(other)})"
    )


def _report(
    name: str,
    left: pl.DataFrame,
    right: pl.DataFrame,
    found: pl.DataFrame,
    texts: pl.DataFrame,
    by_iri: int,
    other: str,
) -> None:
    matched = found["gold"].n_unique() + len(texts)
    if not matched:
        raise BadInput(
            f"run '{name}'",
            f"none of gold's {len(left)} documents is among its {len(right)}: {by_iri} have the same IRI but another "
            f"text, 0 have the same text; {other or _firsts(left, right)}; give the run of the same texts",
        )
    if matched < len(left):
        more = f"; of one IRI, {other}" if other else ""
        progress.note(
            f"run '{name}' answers {matched} of gold's {len(left)} documents; the rest count as unanswered{more}"
        )
    used = pl.concat([found["document"], texts["document"]]).n_unique()
    if used < len(right):
        progress.note(f"run '{name}': {len(right) - used} of its documents are not in gold and are left out")
