"""CleanCoNLL: token, part of speech, title and two tags of named entities a line; documents begin at the tag `-X-`.

    Rome<tab>NNP<tab>B-Rome<tab>B-LOC<tab>B-LOC

As published, words are masked (`[TOKEN]`): without CoNLL-2003 there is a structure but no text, which is told; the text
is then of masks, on which the offsets are right. A named entity of the last column none of whose tokens is linked is
NIL. Titles are those of the English Wikipedia. Source: CleanCoNLL (Rücker and Akbik 2023).
"""

from __future__ import annotations

import polars as pl

from remix.expressions import fill
from remix.formats import Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.lines import (
    SENTENCES,
    begins,
    join_tokens,
    outside_where_unread,
    read_lines,
    refuse_line,
    split_documents,
    tagged_spans,
)
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally

COLUMNS = ("token", "pos", "title", "other", "kind")
MASK = "[TOKEN]"
_TAG = r"^(?:[BI]-.|O$)"


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    starts = pl.col("line").str.contains(r"^[^\t]*\t-X-(?:\t|$)")
    rows = split_documents(read_lines(source, tally), COLUMNS, starts, pl.lit(None, pl.String), tally)
    wrong = pl.when(pl.col("count") != len(COLUMNS)).then(
        fill("token, part of speech, title and two tags are expected, B-, I- or O, not '{}'", pl.col("line"))
    )
    refuse_line(rows.drop_nulls("token"), wrong)
    rows = outside_where_unread(rows, {name: pl.col(name).str.contains(_TAG) for name in ("title", "kind")}, tally)
    masked = rows.filter(pl.col("token") == MASK)
    tally.add_rows("masked", masked, "{place}: the word is {token}; CoNLL-2003 has what it is")
    texts, tokens = join_tokens(rows, SENTENCES)
    return MentionTables(texts, _mentions(tokens, tally))


def _mentions(tokens: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return what is linked, then the named entities in which nothing is."""
    kind = pl.col("kind").first().str.strip_prefix("B-").str.strip_prefix("I-")
    of_class = {"class": pl.when(kind != "O").then(kind)}
    title = pl.col("title")
    linked = tagged_spans(tokens, title, {"identifier": title_url(title.first().str.slice(2)), **of_class}, tally)
    named = tagged_spans(tokens, pl.col("kind"), {"free": (title == "O").all(), **of_class}, tally)
    both = pl.concat([linked, named.filter("free").drop("free")], how="diagonal").sort("row")
    return both.with_columns(mention=pl.int_range(pl.len(), dtype=pl.Int64))


cleanconll = Format(
    name="cleanconll-tsv",
    summary="CleanCoNLL (a token a line with title and named entities; words masked as published)",
    suffixes=(".conll", ".tsv"),
    sniff=begins(rb"\S+\t-X-\tO\tO\tO\s"),
    read=_read,
)
