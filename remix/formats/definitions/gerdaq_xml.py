"""GERDAQ: queries to a search engine, their entities marked in the text, with the pages that workers chose.

    <instance>an <annotation rank_0_id="7" rank_0_title="Oak" rank_0_score="0.9">oak</annotation></instance>

The page of rank 0 is the link; where there are several, all are candidates with their scores, which are the agreement
of the workers. Titles are those of the English Wikipedia. Source: Cornolti et al. 2016, the README of GERDAQ.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, reader
from remix.formats.repairs import RepairTally
from remix.formats.xml import Element, has_root, parse_tree

_RANK = re.compile(r"rank_([0-9]{1,3})_title")
_CANDIDATES = {"mention": pl.Int64(), "identifier": pl.String(), "rank": pl.Int64(), "score": pl.String()}


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    texts: list[tuple[str, str]] = []
    mentions: list[dict[str, Any]] = []
    ranked: list[tuple[int, str, int, str | None]] = []
    root = parse_tree(source.read(), source.name, tally)
    instances = list(root.every("instance"))
    marked = {one for instance in instances for one in instance.inner()}
    stray = next((one for one in root.every("annotation") if one not in marked), None)
    if stray is not None:
        raise BadInput(source.name, "an annotation stands in an <instance>, in no other", line=stray.line)
    for number, instance in enumerate(instances, 1):
        name, text = str(number), instance.text or ""
        for one in instance.inner():
            begin, text = len(text), text + one.own_text()
            if one.tag == "annotation":
                place = {"place": f"line {one.line}", "name": name, "begin": begin, "end": len(text)}
                ranked += [(len(mentions), *page) for page in _pages(one)]
                mentions.append({"mention": len(mentions), **place})
            text += one.tail or ""
        texts.append((name, text))
    pages = pl.DataFrame(ranked, schema=_CANDIDATES, orient="row").sort("mention", "rank", maintain_order=True)
    pages = pages.with_columns(title_url(pl.col("identifier")), pl.col("score").cast(pl.Float64, strict=False))
    return MentionTables(
        documents=pl.DataFrame(texts, schema=TEXTS, orient="row"),
        mentions=pl.DataFrame(mentions, schema=MENTIONS),
        links=pages.filter(pl.col("rank") == 0),
        candidates=pages.filter(pl.len().over("mention") > 1),
    )


def _pages(annotation: Element) -> list[tuple[str, int, str | None]]:
    """Return title, rank and score of the pages that an annotation names."""
    ranks = [(int(found[1]), title) for key, title in annotation.items() if (found := _RANK.fullmatch(key))]
    return [(title, rank, annotation.get(f"rank_{rank}_score")) for rank, title in ranks]


gerdaq_xml = Format(
    name="gerdaq-xml",
    summary="GERDAQ (queries in XML with their entities marked)",
    suffixes=(".xml",),
    sniff=has_root("dataset", rb"<instance\b"),
    read=_read,
)
