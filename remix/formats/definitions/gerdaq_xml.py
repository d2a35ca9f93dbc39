"""GERDAQ: queries to a search engine, their entities marked in the text, with the pages that workers chose.

    <instance>an <annotation rank_0_id="7" rank_0_title="Oak" rank_0_score="0.9">oak</annotation></instance>

The page of rank 0 is the link; where there are several, all are candidates with their scores, which are the agreement
of the workers. Titles are those of the English Wikipedia. Source: Cornolti et al. 2016, the README of GERDAQ.
"""

from __future__ import annotations

import re

import polars as pl

from remix.errors import BadInput
from remix.formats import Contents, Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble
from remix.formats.xml import Element, has_root, parse_elements

_RANK = re.compile(r"rank_([0-9]{1,3})_title")
_MENTIONS = {"mention": pl.Int64(), "place": pl.String(), "name": pl.String(), "begin": pl.Int64(), "end": pl.Int64()}
_CANDIDATES = {"mention": pl.Int64(), "identifier": pl.String(), "rank": pl.Int64(), "score": pl.String()}


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    texts: list[tuple[str, str]] = []
    mentions: list[tuple[int, str, str, int, int]] = []
    ranked: list[tuple[int, str, int, str | None]] = []
    marked: list[Element] = []
    for element in parse_elements(source.read(), source.name, mends):
        if element.name == "annotation":
            if element.parent != "instance":
                raise BadInput(source.name, "an annotation stands in an <instance>, in no other", line=element.line)
            marked.append(element)
        elif element.name == "instance":
            name = str(len(texts) + 1)
            texts.append((name, _text(element, marked)))
            for one in marked:
                number, begin = len(mentions), one.begin - element.begin
                mentions.append((number, f"line {one.line}", name, begin, begin + len(one.text)))
                ranked += [(number, *page) for page in _pages(one)]
            marked = []
    pages = pl.DataFrame(ranked, schema=_CANDIDATES, orient="row").sort("mention", "rank", maintain_order=True)
    pages = pages.with_columns(title_url(pl.col("identifier")), pl.col("score").cast(pl.Float64, strict=False))
    read = MentionTables(
        documents=pl.DataFrame(texts, schema=["name", "text"], orient="row"),
        mentions=pl.DataFrame(mentions, schema=_MENTIONS, orient="row"),
        links=pages.filter(pl.col("rank") == 0),
        candidates=pages.filter(pl.len().over("mention") > 1),
        mends=mends,
    )
    return assemble(read, dataset)


def _text(instance: Element, marked: list[Element]) -> str:
    """Return the text of an instance with that of the elements marked in it."""
    parts: list[str] = []
    taken = inside = 0
    for one in marked:
        until = one.begin - instance.begin - inside
        parts += (instance.text[taken:until], one.text)
        taken, inside = until, inside + len(one.text)
    return "".join((*parts, instance.text[taken:]))


def _pages(annotation: Element) -> list[tuple[str, int, str | None]]:
    """Return title, rank and score of the pages that an annotation names."""
    said = annotation.attributes
    ranks = [(int(found[1]), title) for key, title in said.items() if (found := _RANK.fullmatch(key))]
    return [(title, rank, said.get(f"rank_{rank}_score")) for rank, title in ranks]


gerdaq_xml = Format(
    name="gerdaq-xml",
    summary="GERDAQ (queries in XML with their entities marked)",
    suffixes=(".xml",),
    sniff=has_root("dataset", rb"<instance\b"),
    read=_read,
)
