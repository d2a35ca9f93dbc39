"""Which document of a run is which document of gold."""

from __future__ import annotations

import os.path

import polars as pl

from remix import progress
from remix.errors import BadInput
from remix.expressions import fill
from remix.formats.identifiers import document_names, strip_offsets
from remix.frames import Frames

AROUND = 15
"""Characters of a text that are shown on both sides of where it differs from another."""


def align(gold: Frames, run: Frames, name: str = "run", *, told: bool = True) -> pl.DataFrame:
    """Return `gold` and `document` (of the run), one row for each pair of documents that are the same.

    A document of the run is that of gold which has its IRI, else its given IRI, else any of its names (of both IRIs,
    with or without the offsets at their end), else its text, else the last part of its name (`CEL01`), where no other
    document has it on either side. Where both have a text, it must be the same (but for white space at the end), since
    offsets mean nothing in another text. A text that gold holds several times is answered by the run's documents of
    that text in order, the last one for the rest. Documents of gold that the run lacks count as unanswered, those of
    the run that gold lacks are left out, which is said unless `told` is false.

    Raises `BadInput` where nothing is the same, with how many documents match by name and by text.
    """
    left, right = (
        frames.documents.select("document", "given", text=pl.col("text").str.strip_chars_end())
        for frames in (gold, run)
    )
    found = pl.DataFrame(schema={"gold": pl.String, "document": pl.String})
    if right.is_empty():
        return found
    named = by_text = 0
    other = ""
    rest = left
    for names in (_iris, _iris_as_given, _all_names, None, _parts):
        if names is None:
            pairs = _by_text(rest.drop_nulls("text"), right.drop_nulls("text"))
            by_text = len(pairs)
        else:
            known = names(left) if found.is_empty() else names(left).join(rest, on="document", how="semi")
            pairs = known.join(names(right), on="name", suffix="_run")
            named = max(named, pairs["document"].n_unique())
            same = (pl.col("text") == pl.col("text_run")) | pl.col("text").is_null() | pl.col("text_run").is_null()
            pairs = pairs.select("text", "text_run", gold="document", document="document_run", same=same)
            other = other or _difference(pairs)
            pairs = pairs.filter("same").select("gold", "document").unique()
        found = pl.concat([found, pairs])
        rest = left.join(found, left_on="document", right_on="gold", how="anti")
        if rest.is_empty():
            break
    pairs = found.sort("gold", "document")
    if told:
        _report(name, gold.documents, run.documents, pairs, named, by_text, other)
    return pairs


def _iris(documents: pl.DataFrame) -> pl.DataFrame:
    """Return document, text and name: the IRI; the others are likewise."""
    return documents.select("document", "text", name="document")


def _iris_as_given(documents: pl.DataFrame) -> pl.DataFrame:
    return documents.select("document", "text", name="given").drop_nulls("name")


def _all_names(documents: pl.DataFrame) -> pl.DataFrame:
    """Return both IRIs, as they are and without the offsets at their end."""
    both = pl.concat([_iris(documents), _iris_as_given(documents)])
    return pl.concat([both, both.with_columns(strip_offsets(pl.col("name")))]).unique()


def _parts(documents: pl.DataFrame) -> pl.DataFrame:
    """Return the last part of each name, where no other document has it."""
    both = pl.concat([_iris(documents), _iris_as_given(documents)])
    return both.with_columns(document_names(both["name"]).alias("name")).unique().filter(pl.col("name").is_unique())


def _by_text(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of equal text: the n-th of gold with the n-th of the run, or its last."""
    nth = pl.int_range(pl.len()).over("text")
    right = right.sort("document").with_columns(nth=nth)
    last = right.group_by("text").agg(last=pl.col("nth").max())
    return (
        left.select("text", gold="document")
        .sort("gold")
        .with_columns(nth=nth)
        .join(last, on="text")
        .with_columns(nth=pl.min_horizontal("nth", "last"))
        .join(right, on=["text", "nth"])
        .select("gold", "document")
    )


def _firsts(gold: pl.DataFrame, run: pl.DataFrame) -> str:
    """Return what the first documents are called on both sides, and what would be right."""
    first = gold.sort("document").row(0, named=True)
    part = document_names(pl.Series([first["document"]]))[0]
    given = f" (<{first['given']}> in its file)" if first["given"] not in (None, first["document"]) else ""
    own = run.sort("document").select(pl.coalesce("given", "document")).item(0, 0)
    return (
        f"gold's first is <{first['document']}>{given}, the run's '{own}'; the run may call that of gold by one of its "
        f"IRIs, or '{part}', or have its text"
    )


def _difference(pairs: pl.DataFrame) -> str:
    """Return where the texts of the first pair differ that is not the `same`, empty where all are."""
    if pairs["same"].all():
        return ""
    iri, one, other = pairs.filter(~pl.col("same")).sort("gold").select("gold", "text", "text_run").row(0)
    place = len(os.path.commonprefix([one, other]))
    parts = [repr(text[max(0, place - AROUND) : place + AROUND]) for text in (one, other)]
    return (
        f"the texts of <{iri}> differ from character {place}: gold has {parts[0]} ({len(one)} characters in all), "
        f"the run {parts[1]} ({len(other)})"
    )


def _report(
    name: str, gold: pl.DataFrame, run: pl.DataFrame, pairs: pl.DataFrame, named: int, by_text: int, other: str
) -> None:
    matched = pairs["gold"].n_unique()
    if not matched:
        raise BadInput(
            f"run '{name}'",
            f"none of gold's {len(gold)} documents is among its {len(run)}: {named} have the same name but another "
            f"text, {by_text} have the same text; {other or _firsts(gold, run)}; give the run of the same texts",
        )
    if matched < len(gold):
        more = f"; of one name, {other}" if other else ""
        answered = pl.col("document").is_in(pairs["gold"].implode())
        counts = gold.group_by("dataset").agg(answered=answered.sum(), every=pl.len()).sort("dataset")
        parts = counts.filter(pl.col("answered") < pl.col("every")).select(
            fill("{} of the {} documents of {}", "answered", "every", pl.col("dataset").fill_null("gold"))
        )
        told = ", ".join(parts.to_series())
        progress.note(f"run '{name}' answers {told}; the rest count as unanswered{more}")
    if used := len(run) - pairs["document"].n_unique():
        progress.note(f"run '{name}': {used} of its documents are not in gold and are left out")
