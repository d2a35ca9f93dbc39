"""Rules about where mentions begin and end, and where their forms stand without an annotation."""

from __future__ import annotations

import polars as pl

from remix.checks import Subject, list_mentions, rule
from remix.checks.repeats import OUTER_LEFT, OUTER_RIGHT, bare_form, bare_spans, find_repeats, keep_what_adds
from remix.expressions import fill
from remix.formats.offsets import characters_of_units

# Scripts that set no blanks between words have no word for a mention to begin or end in.
_WITHIN_WORD = r"^[\p{L}\p{M}\p{N}&&[^\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]{2}$"
"""Two characters between which no word begins or ends."""


def _within_words(subject: Subject, rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return which rows begin, and which end, inside a word."""
    near = (subject.cut(rows, pl.col(name) - 1, pl.col(name) + 1) for name in ("begin", "end"))
    left, right = (pair.str.contains(_WITHIN_WORD) for pair in near)
    return left & (rows["begin"] > 0), right


@rule(
    "inside-word",
    "warning",
    "A mention begins or ends between two letters or digits of one word.",
    "Look whether the offsets are wrong; extend the mention to the word, or leave it where only a part is meant.",
)
def _find_within_words(subject: Subject) -> pl.DataFrame:
    rows = subject.spans
    left, right = _within_words(subject, rows)
    ends = pl.when(left).then(pl.lit("begins")).otherwise(pl.lit("ends"))
    rows = rows.with_columns(side=pl.when(left & right).then(pl.lit("begins and ends")).otherwise(ends))
    return list_mentions(rows.filter(left | right), fill("{} inside a word", "side"))


def _trim(subject: Subject, findings: pl.DataFrame) -> pl.DataFrame:
    place = ["document", "begin", "end"]
    bare = findings.select(place).with_columns(bare_spans(findings).select(new_begin="begin", new_end="end"))
    rows = subject.frames.annotations.join(bare, on=place)
    return rows.select("annotation", begin="new_begin", end="new_end")


@rule(
    "outer-characters",
    "warning",
    "A mention begins or ends with white space, or with punctuation that belongs to the sentence.",
    "--fix takes these characters off.",
    mend=_trim,
)
def _find_outer(subject: Subject) -> pl.DataFrame:
    rows = subject.spans.filter(pl.col("surface_form") != bare_form())
    return list_mentions(rows, pl.lit("begins or ends with white space or punctuation"))


@rule(
    "only-punctuation",
    "warning",
    "A mention is nothing but white space or punctuation.",
    "Look whether its offsets are wrong; take it out where nothing is mentioned.",
)
def _find_blank(subject: Subject) -> pl.DataFrame:
    form = pl.col("surface_form")
    rows = subject.spans.filter(
        (bare_form() == form) & (form.str.contains(OUTER_LEFT) | form.str.contains(OUTER_RIGHT))
    )
    return list_mentions(rows, pl.lit("is nothing but white space or punctuation"))


def _pairs(subject: Subject) -> pl.DataFrame:
    """Return the pairs of spans of which the second begins before the first ends, or where it ends.

    Layers say each for itself where mentions are, and alternatives are one mention: both make no pairs. Outer
    characters do not count, as they are another rule's.
    """
    told = bare_spans(subject.mentions.with_columns(pl.col("layer").fill_null("")))
    spans = told.select("document", "name", "annotation", "begin", "end", "surface_form", "group", "layer")
    spans = spans.unique(["document", "layer", "begin", "end", "group"], keep="first", maintain_order=True)
    ordered = spans.sort("document", "begin", "end", "layer", descending=[False, False, True, False])
    ordered = ordered.with_row_index("number")
    other = ordered.select("document", "layer", "number", "begin", "end", "surface_form", "group")
    # Those that begin at or before the end of a span stand behind it without a gap.
    pairs = ordered.join_where(
        other,
        pl.col("document") == pl.col("document_other"),
        pl.col("layer") == pl.col("layer_other"),
        pl.col("group") != pl.col("group_other"),
        pl.col("number") < pl.col("number_other"),
        pl.col("begin_other") <= pl.col("end"),
        (pl.col("begin_other") != pl.col("begin")) | (pl.col("end_other") != pl.col("end")),
        suffix="_other",
    ).sort("number", "number_other")
    place = ["document", "layer", "begin", "end", "begin_other", "end_other"]
    return pairs.unique(place, keep="first", maintain_order=True)


@rule(
    "crossing",
    "warning",
    "A mention begins inside another and ends behind it.",
    "Look which of them is right; tools that take no overlaps keep one.",
)
def _find_crossing(subject: Subject) -> pl.DataFrame:
    crossing = _pairs(subject).filter(
        (pl.col("begin") < pl.col("begin_other"))
        & (pl.col("begin_other") < pl.col("end"))
        & (pl.col("end") < pl.col("end_other"))
    )
    return list_mentions(crossing, fill("crosses '{}'", "surface_form_other"))


@rule(
    "nested",
    "note",
    "A mention lies inside another.",
    "Nothing, where both are meant; a system that gives no nested answers misses one of them.",
)
def _find_nested(subject: Subject) -> pl.DataFrame:
    nested = _pairs(subject).filter((pl.col("begin_other") < pl.col("end")) & (pl.col("end_other") <= pl.col("end")))
    return list_mentions(nested, fill("has '{}' in it", "surface_form_other"))


@rule(
    "adjacent",
    "note",
    "A mention begins where another ends, without a character between them.",
    "Look whether both are one mention.",
)
def _find_adjacent(subject: Subject) -> pl.DataFrame:
    touching = _pairs(subject).filter(pl.col("begin_other") == pl.col("end"))
    return list_mentions(touching, fill("goes on as another mention, '{}'", "surface_form_other"))


def _remove(subject: Subject, findings: pl.DataFrame) -> pl.DataFrame:
    return keep_what_adds(subject.frames, findings).select("annotation", begin=pl.lit(None, pl.Int64))


@rule(
    "repeated-annotation",
    "warning",
    "A stretch of text has the same link twice, in one layer and as one mention.",
    "--fix keeps the one that says most, and each that has a class or a confidence of its own.",
    mend=_remove,
)
def _find_repeated(subject: Subject) -> pl.DataFrame:
    again = subject.mentions.join(find_repeats(subject.frames), on="annotation", how="semi", maintain_order="left")
    return list_mentions(again, pl.lit("is there twice with the same link"))


@rule(
    "unmarked-form",
    "warning",
    "A form is annotated in one place of a document and stands elsewhere in it without an annotation.",
    "Annotate it there as well; a system that finds it there has a false positive.",
)
def _find_unmarked(subject: Subject) -> pl.DataFrame:
    """Return where a form stands as a word of its own outside all annotations of a document that annotates it."""
    spans = bare_spans(subject.spans)
    wanted = spans.filter(pl.col("surface_form").str.len_chars() > 1)
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
    places = _outside(places, spans)
    left, right = _within_words(subject, places)
    alone = places.filter(~(left | right)).with_columns(annotation=pl.lit(None, pl.String))
    return list_mentions(alone, pl.lit("is annotated elsewhere in the document"))


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
