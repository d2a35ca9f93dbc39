"""Toponyms in XML: LGL (and TR-News), GeoWebNews and GeoVirus have `<articles>` with `<text>` and places in it.

LGL says `<toponym>` with `start`, `end`, `phrase` and `gaztag@geonameid`, GeoWebNews `<toponym>` with
`extractedName`, `type` and `geonamesID`, GeoVirus `<location>` with `name` and `page` of the English Wikipedia, whose
offsets count from 1: both are taken one less where that fits the names. Links of the first two are features of
GeoNames; a toponym without is NIL, one that lies outside its text has no place. Two on one span are two mentions, as
in GeoWebNews, where each has a type. An article is called by its `docid` or `file`, else by its `source`. Sources:
Lieberman et al. 2010; Kamalloo and Rafiei 2018; Gritta et al. 2018 and 2020.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from remix.formats import Format, SourceFile
from remix.formats.identifiers import separate_mentions
from remix.formats.lines import name_documents
from remix.formats.mends import Mends
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, numbers_in, reader
from remix.formats.offsets import cut_spans
from remix.formats.xml import Element, has_root, parse_tree

_GEONAMES = "https://sws.geonames.org/"


@reader
def _read(source: SourceFile, mends: Mends) -> MentionTables:
    articles: list[tuple[str | None, str]] = []
    rows: list[dict[str, Any]] = []
    for article in parse_tree(source.read(), source.name, mends).every("article"):
        rows += [
            {"number": len(articles), **_mention(source.name, one)} for one in article.every("toponym", "location")
        ]
        fields = article.fields()
        name = article.get("docid") or article.get("file") or fields.get("source", "").strip()
        articles.append((name or None, fields.get("text", "")))
    documents = pl.DataFrame(articles, schema=TEXTS, orient="row").with_row_index("number")
    documents = name_documents(documents, "number", pl.col("name"))
    schema = {**MENTIONS, "number": pl.UInt32(), "shifted": pl.Boolean()}
    mentions = pl.DataFrame(rows, schema=schema).with_columns(mention=pl.int_range(pl.len())).drop("name")
    mentions = _count_from_zero(mentions.join(documents, on="number", maintain_order="left"), mends)
    return MentionTables(documents, separate_mentions(mentions), keep_outside=True)


def _mention(file: str, element: Element) -> dict[str, Any]:
    fields = element.fields()
    begin, end = numbers_in(fields, ("start", "end"), file, element.line)
    known = (one.get("geonameid") for one in element)
    number = next(filter(None, known), fields.get("geonamesID", "")).strip()
    page = fields.get("page", "").strip()
    return {
        "place": f"line {element.line}",
        "begin": begin,
        "end": end,
        "anchor": fields.get("phrase") or fields.get("extractedName") or fields.get("name"),
        "class": fields.get("type", "").strip() or None,
        "identifier": f"{_GEONAMES}{number}/" if number else page if page.startswith("http") else None,
        "shifted": element.tag == "location",
    }


def _count_from_zero(rows: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return the mentions with offsets that count from 0, also where GeoVirus counts from 1, which is told."""
    less = rows.with_columns(pl.col("begin", "end") - 1)
    fits, given = (cut_spans(one, "name") == rows["anchor"] for one in (less, rows))
    shifted = rows["shifted"] & (int((fits & rows["shifted"]).sum()) > int((given & rows["shifted"]).sum()))
    mends.add_rows("offset", rows.filter(shifted), "{place}: '{anchor}' {begin},{end}, as the file counts from 1")
    return rows.with_columns(pl.col("begin", "end") - shifted.cast(pl.Int64))


def _dialect(name: str, summary: str, article: bytes) -> Format:
    sniff = has_root("articles", rb"<article\b" + article)
    return Format(name=name, summary=summary, suffixes=(".xml",), sniff=sniff, read=_read)


lgl = _dialect("lgl-xml", "Toponyms of LGL and TR-News (XML with GeoNames)", rb"\s+docid=")
geowebnews = _dialect("gwn-xml", "Toponyms of GeoWebNews (XML with GeoNames and types)", rb"\s+file=")
geovirus = _dialect("geovirus-xml", "Toponyms of GeoVirus (XML with pages of Wikipedia)", rb"\s*>")
