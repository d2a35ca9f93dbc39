"""AIDA-CoNLL-YAGO: one token a line, with tag, mention, YAGO name and Wikipedia URL of the mention it is part of.

The file has no texts. They are rebuilt so that they can be taken apart again: a space between tokens, a line feed
between sentences, nothing else. `--NME--` stands where the knowledge base has no entity. Written are tokens between
white space, cut where a mention begins or ends, so a mention within a word comes back as a word of its own.
Source: the README of AIDA-CoNLL-YAGO (Hoffart et al. 2011).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.identifiers import article, title_url
from remix.formats.lines import (
    SENTENCES,
    begins,
    cut_texts,
    join_tokens,
    lose_white_space,
    outside_where_unread,
    read_lines,
    refuse_line,
    split_documents,
    tagged_spans,
)
from remix.formats.losses import loss_of
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally
from remix.formats.writing import drop_overlaps, gather, lay_out
from remix.frames import Frames

NIL = "--NME--"
COLUMNS = ("token", "tag", "form", "entity", "url")
_START = r"^-DOCSTART- (?:\((.*)\))?"


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    line, tag = pl.col("line"), pl.col("tag")
    starts, said = line.str.contains(_START), line.str.extract(_START, 1)
    rows = split_documents(read_lines(source, tally), COLUMNS, starts, said, tally)
    wrong = pl.when(tag.is_in(["B", "I"]) & (pl.col("count") < 4)).then(
        fill("a token of a mention has mention and entity, not {} columns", "count")
    )
    refuse_line(rows.drop_nulls("token"), wrong)
    rows = outside_where_unread(rows, {"tag": tag.is_null() | tag.is_in(["B", "I", "O", ""])}, tally)
    texts, tokens = join_tokens(rows, SENTENCES)
    entity, url = pl.col("entity").first(), pl.col("url").first()
    named = pl.when(entity != NIL).then(title_url(entity))
    identifier = pl.when(url.str.contains(r"\S")).then(url).otherwise(named)
    return MentionTables(texts, tagged_spans(tokens, tag, {"identifier": identifier}, tally, within="sentence"))


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, r"^[^()\s](?:[^()\r\n]*[^()\s])?$")
    rows, overlapping = drop_overlaps(rows)
    is_blank = ~pl.col("surface_form").str.contains(r"\S")
    losses += overlapping + loss_of("blank", rows.filter(is_blank)["annotation"])
    rows = rows.filter(~is_blank)
    tokens = _cut(frames.documents, rows)
    numbered = tokens.with_columns(sentence=(pl.col("token") == "\n").cum_sum())
    losses += lose_white_space(frames.documents, numbered.filter(pl.col("token") != "\n"), SENTENCES)
    lines = tokens.join(rows.select("annotation", *_cells()), on="annotation", how="left", maintain_order="left")
    linked = fill("{}\t{}\t{}\t{}\t{}", "token", "tag", "mention", "entity", "url")
    line = pl.coalesce(linked, fill("{}\t{}\t{}\t{}", "token", "tag", "mention", "entity"), "token")
    lines = lines.with_columns(line=pl.when(pl.col("token") != "\n").then(line).otherwise(pl.lit("")))
    ordered = frames.documents.select("document").join(names, on="document", maintain_order="left")
    whole = gather(ordered, lines, body=pl.col("line").str.join("\n"))
    with write_whole(path) as stream:
        said = whole.select(fill("-DOCSTART- ({})\n{}\n\n", "label", pl.col("body").fill_null("")))
        stream.write("".join(said.to_series()).encode())
    return losses


def _cells() -> list[pl.Expr]:
    entity = pl.col("identifiers").list.first().str.replace_all(r"\s", "_")
    url = article(entity)
    return [
        pl.col("surface_form").str.replace_all(r"\s+", " ").str.strip_chars().alias("mention"),
        pl.coalesce(url.str.replace(r"^https?://.*?/(?:wiki|entity|resource)/", ""), pl.lit(NIL)).alias("entity"),
        url.alias("url"),
    ]


def _cut(documents: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens of the texts, those of mentions with annotation and tag; `\\n` ends a sentence."""
    pieces = cut_texts(documents, rows)
    mentions = rows.select("document", "annotation", cut="begin")
    pieces = pieces.join(mentions, on=["document", "cut"], how="left", maintain_order="left").with_row_index("piece")
    said = pl.col("said")
    # A mention is in one sentence.
    outside, inside = (said.str.extract_all(pattern) for pattern in (r"\S+|\n", r"\S+"))
    parts = pl.when(pl.col("annotation").is_null()).then(outside).otherwise(inside)
    tokens = pieces.select("document", "piece", "annotation", token=parts).explode("token").drop_nulls("token")
    tag = pl.when(pl.int_range(pl.len()).over("piece") == 0).then(pl.lit("B")).otherwise(pl.lit("I"))
    return tokens.with_columns(tag=pl.when(pl.col("annotation").is_not_null()).then(tag))


aida_conll = Format(
    name="aida-conll",
    summary="AIDA-CoNLL-YAGO (a token a line, texts rebuilt)",
    suffixes=(".tsv", ".conll"),
    sniff=begins(rb"-DOCSTART- \("),
    read=_read,
    write=_write,
    holds=frozenset({"texts", "nil", "unannotated"}),
)
