"""PubTator: title, abstract and the mentions of both, a block of lines a document.

    10|t|Title
    10|a|Abstract
    10<tab>0<tab>5<tab>Title<tab>Disease<tab>D001943

Offsets are code points of title and abstract with one character between them, end exclusive. A composite mention has
several concepts (`D001943|D010051`, see `remix.formats.biomedical`); a seventh column, for their names, is not read.
Lines of relations (`10<tab>CID<tab>…`) are no mentions.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.files import written
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.biomedical import join_concepts, split_concepts
from remix.formats.losses import loss_of
from remix.formats.mends import Mends, decode
from remix.formats.mentions import MentionTables, assemble, flatten, label_documents
from remix.formats.tables import numbered_lines
from remix.frames import Frames

_PASSAGE = r"^([^|\t]+)\|([ta])\|(.*)$"


def _is_pubtator(head: bytes, name: str) -> bool:
    return re.match(rb"[^|\t\r\n]+\|[ta]\|", head.removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    lines = numbered_lines(decode(source.read(), mends)).filter(pl.col("line").str.contains(r"\S"))
    passage = pl.col("line").str.contains(_PASSAGE)
    texts = lines.filter(passage).with_columns(pl.col("line").str.extract(_PASSAGE, n).alias(f"{n}") for n in (1, 2, 3))
    texts = texts.group_by(name=pl.col("1"), maintain_order=True).agg(
        text=pl.col("3").sort_by("2", descending=True, maintain_order=True).str.join("\n").str.strip_suffix("\n")
    )
    rows = _rows(source, lines.filter(~passage))
    _refuse_what_has_no_text(source, rows, texts)
    mentions, links = split_concepts(rows)
    read = MentionTables(documents=texts, mentions=mentions, links=links, mends=mends)
    return assemble(read, dataset)


def _rows(source: SourceFile, lines: pl.DataFrame) -> pl.DataFrame:
    cells = lines.with_columns(cells=pl.col("line").str.split("\t"))
    # A relation has words where a mention has numbers.
    relation = (pl.col("cells").list.len() < 5) & (pl.col("cells").list.len() > 2)
    word = pl.col("cells").list.get(1, null_on_oob=True).str.contains("^[A-Za-z]")
    cells = cells.filter(~(relation & word.fill_null(False)))
    numbers = [
        pl.col("cells").list.get(place, null_on_oob=True).str.contains(r"^[0-9]{1,18}$").fill_null(False)
        for place in (1, 2)
    ]
    wrong = cells.filter((pl.col("cells").list.len() < 5) | ~numbers[0] | ~numbers[1])
    if wrong.height:
        reason = (
            f"a mention is document, begin, end, text, type, identifier, between tabs, not '{wrong['line'][0][:80]}'"
        )
        raise BadInput(source.name, reason, line=int(wrong["row"][0]))
    cell = [pl.col("cells").list.get(place, null_on_oob=True) for place in range(6)]
    return cells.select(
        mention=pl.col("row").cast(pl.Int64),
        place=pl.format("line {}", "row"),
        name=cell[0],
        begin=cell[1].cast(pl.Int64),
        end=cell[2].cast(pl.Int64),
        anchor=cell[3],
        identifiers=cell[5].fill_null(""),
        **{"class": pl.when(cell[4] != "").then(cell[4])},
    )


def _refuse_what_has_no_text(source: SourceFile, rows: pl.DataFrame, texts: pl.DataFrame) -> None:
    astray = rows.join(texts, on="name", how="anti", maintain_order="left")
    if astray.height:
        reason = f"a mention in document {astray['name'][0]}, which has neither title (|t|) nor abstract (|a|)"
        raise BadInput(source.name, reason, line=int(astray["mention"][0]))


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, r"^[^|\s]+$")
    texts = names.sort("label")
    title = pl.col("text").str.extract(r"^([^\n]*)", 1)
    rest = pl.col("text").str.slice(title.str.len_chars() + 1)
    broken = texts.filter(
        rest.str.contains(r"[\r\n]")
        | title.str.contains("\r")
        | (pl.col("text") != "") & pl.col("text").str.ends_with("\n")
    )["document"]
    rows = (
        join_concepts(flatten(frames))
        .join(names.select("document", "label"), on="document", maintain_order="left")
        .sort("label", "begin", "end")
    )
    spread = rows.filter(pl.col("option_size") > 1)["annotation"]
    flatly = pl.col("surface_form").str.replace_all(r"[\r\n\t]", " ")
    lines = rows.select(
        "label",
        line=pl.format(
            "{}\t{}\t{}\t{}\t{}\t{}", "label", "begin", "end", flatly, pl.col("class").fill_null(""), "identifier"
        ),
    )
    bodies = lines.group_by("label", maintain_order=True).agg(body=pl.col("line").str.join("\n") + "\n")
    heads = texts.select("label", title=title, rest=rest.str.replace_all(r"[\r\n]", " "))
    whole = heads.join(bodies, on="label", how="left", maintain_order="left").select(
        pl.format(
            "{}|t|{}\n{}|a|{}\n{}\n",
            "label",
            pl.col("title").str.replace_all("\r", " "),
            "label",
            "rest",
            pl.col("body").fill_null(""),
        )
    )
    with written(path) as stream:
        stream.write("".join(whole.to_series()).encode())
    losses += loss_of("line-breaks", broken)
    return losses + loss_of("discontinuous", spread)


pubtator = Format(
    name="pubtator",
    summary="PubTator (title, abstract and mentions; biomedical)",
    suffixes=(".pubtator", ".txt"),
    sniff=_is_pubtator,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "nil", "links", "classes", "parts", "unannotated"}),
)
