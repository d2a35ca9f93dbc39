"""ZELDA's token columns: `-DOCSTART-`, a line `# <name>`, then token, page id and title, tagged B- or I-, `O` for none.

The name ends at a tab, behind which wned-wiki has a class of difficulty. Only the line behind `-DOCSTART-` is a
name: a token may be `#`. Texts are rebuilt from the tokens (see `remix.formats.lines`), so they are not quite those of
ZELDA's JSON Lines, which has the spaces and signs that tokens lost. Titles are those of the English Wikipedia.
Source: ZELDA (Milich and Akbik 2023).
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

COLUMNS = ("token", "page", "title")
_START = r"^-DOCSTART-\s*$"
_NAME = r"^# ([^\t]*)"
_TAG = r"^(?:[BI]-.|O$)"


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    line, tag = pl.col("line"), pl.col("title")
    named = pl.when(pl.col("starts").shift().fill_null(False)).then(line.str.extract(_NAME, 1).str.strip_chars())
    rows = split_documents(read_lines(source, tally), COLUMNS, line.str.contains(_START), named, tally)
    wrong = pl.when(pl.col("count") < len(COLUMNS)).then(
        fill("token, page id and title are expected, the last two tagged B-, I- or O, not '{}'", line)
    )
    refuse_line(rows.drop_nulls("token"), wrong)
    rows = outside_where_unread(rows, {"title": tag.str.contains(_TAG)}, tally)
    texts, tokens = join_tokens(rows, SENTENCES)
    return MentionTables(texts, tagged_spans(tokens, tag, {"identifier": title_url(tag.first().str.slice(2))}, tally))


zelda_conll = Format(
    name="zelda-conll",
    summary="ZELDA's token columns (token, page id and title a line, texts rebuilt)",
    suffixes=(".conll",),
    sniff=begins(rb"-DOCSTART-\s*\n\s*# "),
    read=_read,
)
