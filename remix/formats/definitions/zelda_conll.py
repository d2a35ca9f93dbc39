"""ZELDA's token columns: `-DOCSTART-`, a line `# <name>`, then token, page id and title, tagged B- or I-, `O` for none.

The name ends at a tab, behind which wned-wiki has a class of difficulty. Only the line behind `-DOCSTART-` is a
name: a token may be `#`. Texts are rebuilt from the tokens (see `remix.formats.lines`), so they are not quite those of
ZELDA's JSON Lines, which has the spaces and signs that tokens lost. Titles are those of the English Wikipedia.
Source: ZELDA (Milich and Akbik 2023).
"""

from __future__ import annotations

import polars as pl

from remix.expressions import fill
from remix.formats import Contents, Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.lines import (
    SENTENCES,
    begins,
    join_tokens,
    number_names,
    read_lines,
    refuse_line,
    split_cells,
    tagged_spans,
)
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble

_NAME = r"^# ([^\t]*)"
_TAG = r"^(?:[BI]-.|O$)"


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    rows = _rows(read_lines(source, mends))
    tag = pl.col("title")
    wrong = pl.when(~tag.str.contains(_TAG).fill_null(False)).then(
        fill("token, page id and title are expected, the last two tagged B-, I- or O, not '{}'", pl.col("line"))
    )
    refuse_line(rows.drop_nulls("token"), wrong)
    texts, tokens = join_tokens(rows, SENTENCES)
    mentions = tagged_spans(tokens, tag, {"identifier": title_url(tag.first().str.slice(2))}, mends)
    return assemble(MentionTables(texts, mentions, mentions.select("mention", "identifier"), mends=mends), dataset)


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines with their document, sentence and cells; the first two of a document have no token."""
    starts, blank = pl.col("line").str.contains(r"^-DOCSTART-\s*$"), ~pl.col("line").str.contains(r"\S")
    rows = lines.with_columns(number=starts.cum_sum(), sentence=(starts | blank).cum_sum()).filter(~blank)
    named = pl.when(starts.shift().fill_null(False)).then(pl.col("line").str.extract(_NAME, 1))
    rows = split_cells(rows.with_columns(said=named.str.strip_chars()), ["token", "page", "title"])
    rows = rows.with_columns(token=pl.when(~starts & pl.col("said").is_null()).then("token"))
    names = rows.group_by("number", maintain_order=True).agg(name=pl.col("said").drop_nulls().first())
    return rows.join(number_names(names, "number"), on="number", maintain_order="left")


zelda_conll = Format(
    name="zelda-conll",
    summary="ZELDA's token columns (token, page id and title a line, texts rebuilt)",
    suffixes=(".conll",),
    sniff=begins(rb"-DOCSTART-\s*\n\s*# "),
    read=_read,
)
