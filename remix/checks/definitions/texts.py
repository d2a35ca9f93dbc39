"""Rules about texts."""

from __future__ import annotations

import polars as pl

from remix.checks import Subject, list_documents, rule
from remix.checks.copies import find_similar
from remix.expressions import fill

_UNSEEN = (
    r"[\x{A0}\x{AD}\x{200B}-\x{200F}\x{2028}-\x{202F}\x{2060}-\x{2069}\x{FEFF}\x{FFFD}"
    r"\x{0}-\x{8}\x{B}\x{C}\x{E}-\x{1F}]"
)

_ESCAPE = "(&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]+|#x[0-9A-Fa-f]+);)"


@rule(
    "no-annotation",
    "note",
    "A text has no annotation.",
    "Nothing, where nothing is mentioned in it; else find out whether its annotations were lost.",
)
def _find_bare(subject: Subject) -> pl.DataFrame:
    annotated = subject.frames.annotations.select("document")
    bare = subject.names.filter(pl.col("text") != "").join(annotated, on="document", how="anti", maintain_order="left")
    return list_documents(bare, pl.lit("no annotation"))


@rule(
    "equal-text",
    "warning",
    "A text is there more than once, so that what is in it counts twice.",
    "Keep one of them; `remix build` counts a text once where several datasets have it, not where one has it again.",
)
def _find_equal(subject: Subject) -> pl.DataFrame:
    texts = subject.names.filter(pl.col("text") != "")
    first = texts.with_columns(first=pl.col("name").first().over("text"))
    again = first.filter(~pl.col("text").is_first_distinct())
    return list_documents(again, fill("the same text as {}", "first"))


@rule(
    "similar-text",
    "warning",
    "Two texts share at least four fifths of their sequences of three words.",
    "Look whether one is a copy of the other, and keep one of them.",
)
def _find_similar(subject: Subject) -> pl.DataFrame:
    texts = subject.names.filter(pl.col("text").is_not_null(), pl.col("text").is_first_distinct())
    pairs = find_similar(texts.select("document", "text"))
    named = pairs.join(texts, on="document").join(texts.select(other="document", another="name"), on="other")
    share = (100 * pl.col("similarity")).round(0).cast(pl.Int64)
    return list_documents(named.sort("document", "other"), fill("{} % alike {}", share, "another"))


@rule(
    "text-edge",
    "note",
    "A text begins or ends with white space.",
    "Leave it, as the offsets count it; a tool that strips texts shifts its answers.",
)
def _find_edges(subject: Subject) -> pl.DataFrame:
    rows = subject.names.filter(pl.col("text").str.contains(r"^\s|\s$"))
    return list_documents(rows, pl.lit("the text begins or ends with white space, which its offsets count"))


@rule(
    "not-composed",
    "note",
    "A text has letters and accents apart, as two characters, where one character has both.",
    "Leave it, as the offsets count them; a tool that composes texts shifts its answers.",
)
def _find_uncomposed(subject: Subject) -> pl.DataFrame:
    rows = subject.names.filter(pl.col("text") != pl.col("text").str.normalize("NFC"))
    return list_documents(rows, pl.lit("letters and accents are not composed (NFC) throughout"))


@rule(
    "unseen-character",
    "note",
    "A text has characters that nobody sees: marks of byte order, soft hyphens, blanks that do not break, control "
    "characters, lost letters.",
    "Leave them, as the offsets count them; a tool that removes them shifts its answers.",
)
def _find_unseen(subject: Subject) -> pl.DataFrame:
    rows = subject.names.with_columns(count=pl.col("text").str.count_matches(_UNSEEN)).filter(pl.col("count") > 0)
    return list_documents(rows, fill("unseen characters: {}", "count"))


@rule(
    "html-escape",
    "note",
    "A text has letters as HTML and XML write them (`&amp;`), which were not decoded.",
    "Leave them, as the offsets count them; a system that decodes them shifts its answers.",
)
def _find_escapes(subject: Subject) -> pl.DataFrame:
    rows = subject.names.with_columns(first=pl.col("text").str.extract(_ESCAPE)).drop_nulls("first")
    return list_documents(rows, fill("the text has {}", "first"))
