"""Rules about forms that are annotated in one place and not, or differently, in another."""

from __future__ import annotations

import polars as pl

from remix.checks.declaration import WITHIN_WORD, Rule, Subject, list_documents, list_mentions
from remix.expressions import fill
from remix.formats.offsets import characters_of_units


def _find_unmarked(subject: Subject) -> pl.DataFrame:
    """Return where a form stands as a word of its own outside all annotations of a document that annotates it."""
    wanted = subject.spans.filter(pl.col("surface_form").str.len_chars() > 1)
    forms = wanted.group_by("document").agg(forms=pl.col("surface_form").unique().sort())
    searched = subject.names.join(forms, on="document", maintain_order="left").select(
        "document",
        "name",
        "text",
        begin=pl.col("text").str.find_many("forms", overlapping=True),
        surface_form=pl.col("text").str.extract_many("forms", overlapping=True),
    )
    places = searched.explode("begin", "surface_form").with_columns(pl.col("begin").cast(pl.Int64))
    places = characters_of_units(places, "document", "begin", unit="utf-8")
    places = places.with_columns(end=pl.col("begin") + pl.col("surface_form").str.len_chars().cast(pl.Int64))
    places = _outside(places, subject.spans)
    left = subject.cut(places, pl.col("begin") - 1, pl.col("begin") + 1).str.contains(WITHIN_WORD)
    right = subject.cut(places, pl.col("end") - 1, pl.col("end") + 1).str.contains(WITHIN_WORD)
    alone = places.filter(~((left & (places["begin"] > 0)) | right))
    return list_mentions(
        alone.with_columns(annotation=pl.lit(None, pl.String)), pl.lit("is annotated elsewhere in the document")
    )


def _outside(places: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the places that no span overlaps: of those that begin before a place ends, none ends behind its begin."""
    ends = spans.sort("document", "begin").select(
        "document", last=pl.col("begin") + 1, reach=pl.col("end").cum_max().over("document")
    )
    ordered = places.sort("document", "end")
    near = ordered.sort("end").join_asof(
        ends.sort("last"), left_on="end", right_on="last", by="document", check_sortedness=False
    )
    return near.filter((pl.col("reach") <= pl.col("begin")).fill_null(True)).sort("document", "begin", "end")


def _find_disagreeing(subject: Subject) -> pl.DataFrame:
    """Return forms with more than one entity in a document, and those that are linked here and NIL there."""
    links = subject.frames.links.group_by("annotation").agg(meant=pl.col("entity").sort())
    rows = subject.mentions.join(links, on="annotation", how="left", maintain_order="left")
    rows = rows.with_columns(meant=pl.col("meant").list.join(" or ").fill_null("NIL"))
    groups = rows.group_by("document", "name", "surface_form", maintain_order=True).agg(
        pl.col("meant").unique(maintain_order=True), spans=pl.struct("begin", "end").n_unique()
    )
    several = groups.filter(pl.col("meant").list.len() > 1, pl.col("spans") > 1)
    return list_documents(several, fill("'{}' is {}", "surface_form", pl.col("meant").list.join(", elsewhere ")))


UNMARKED = Rule(
    "unmarked-form",
    "warning",
    "A form is annotated in one place of a document and stands elsewhere in it without an annotation.",
    "Annotate it there as well; a system that finds it there has a false positive.",
    _find_unmarked,
)
DISAGREEING = Rule(
    "disagreeing-links",
    "warning",
    "One form has different links in one document, or is linked in one place and NIL in another.",
    "Look whether both are meant, as with 'Berlin' for the city and for its government.",
    _find_disagreeing,
)
