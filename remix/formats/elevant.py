"""ELEVANT's kinds of JSON Lines: told from their content, and written an article a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from remix.files import write_whole
from remix.formats.losses import Loss, loss_of
from remix.formats.writing import flatten
from remix.frames import Frames
from remix.names import RMX

ARTICLES, SIMPLE = "articles", "simple"
BESIDE, UNANSWERED = f"{RMX}beside", f"{RMX}unanswered"
SAID = (
    *(f"{RMX}{name}" for name in ("nests", "nestedIn", "required", "hyperlink", "unmapped", "entityName")),
    f"{RMX}noCoreference",
    BESIDE,
    UNANSWERED,
)
"""The terms of the values that benchmarks and linked articles alone tell."""
PLACED = r"^urn:elevant:article:([0-9]+)$"
"""What an article is called by its number, or by its place where a file has no number."""

_LINES = 20
_BEGINS_ARTICLE = re.compile(rb'\s*\{\s*"id"\s*:\s*\d+\s*,\s*"title"\s*:')
_HAS_SPANS = re.compile(rb'"(?:labels|entity_mentions)"\s*:\s*\[\s*\{[^{}\]]*"(?:id|span)"|"evaluation_span"\s*:')
_HAS_OFFSETS = re.compile(rb'"(?:labels|predictions)"\s*:\s*\[\s*\{[^{}\]]*"start_char"')


def kind_of(head: bytes) -> str:
    """Return 'articles' (benchmarks, linked articles), 'simple', or nothing for what is neither.

    The first lines that are whole decide, by the first mention there is; without one, articles have a number. Lines
    that are too long or broken are told by what they begin with.

    >>> kind_of(b'{"id": 0, "title": "t", "text": "x", "labels": []}'), kind_of(b'{"text": "x", "labels": []}')
    ('articles', 'simple')
    """
    whole = [line for line in head.splitlines()[:_LINES] if line.strip()]
    found = [kind for line in whole if (kind := _kind(line))]
    certain = [kind for kind in found if not kind.startswith("?")]
    return (certain or found or [""])[0].removeprefix("?")


def _kind(line: bytes) -> str:
    """Return the kind of a line, behind a question mark where it has no mention to tell."""
    try:
        article = json.loads(line)
    except (ValueError, RecursionError):
        if not line.lstrip().startswith(b"{"):
            return ""
        if _HAS_OFFSETS.search(line):
            return SIMPLE
        return ARTICLES if _HAS_SPANS.search(line) else f"?{ARTICLES}" if _BEGINS_ARTICLE.match(line) else ""
    return _kind_of_article(article) if isinstance(article, dict) else ""


def _kind_of_article(article: dict[str, Any]) -> str:
    if "text" in article and ("entity_mentions" in article or "evaluation_span" in article):
        return ARTICLES
    listed = article.get("predictions", article.get("labels"))
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict):
        return SIMPLE if "start_char" in first else ARTICLES if "span" in first and "text" in article else ""
    if listed is not None:
        return SIMPLE if "predictions" in article else f"?{ARTICLES if 'id' in article else SIMPLE}"
    return f"?{ARTICLES}" if {"id", "title", "text"} <= article.keys() else ""


_WD = "http://www.wikidata.org/entity/"
NIL = "<NIL>"


def write_articles(frames: Frames, path: Path) -> tuple[Loss, ...]:
    """Write a benchmark, or linked articles to a file that is named `….linked_articles.jsonl`; return the losses.

    An article is numbered by its place unless its name is `urn:elevant:article:N`. An identifier that is none of
    Wikidata's is written as it is; one that is no IRI of the web either, such as `D004`, is none of an entity to who
    reads the format, so that it is lost.
    """
    answers = "linked_articles" in path.name
    rows = _rows(frames)
    # A label is optional at most; on what was dropped any answer is ignored.
    dropped = frames.annotations.filter(ignorable="dropped")["annotation"]
    losses = loss_of("candidates", frames.candidates["annotation"]) + loss_of("dropped", dropped)
    unread = rows.filter(_is_unread(pl.col("entity")))
    if answers:
        unread_candidates = frames.candidates.filter(_is_unread(pl.col("entity").str.strip_prefix(_WD)))["annotation"]
        aside = rows.filter(pl.col("ignorable").is_not_null())["annotation"]
        losses = loss_of("classes", frames.classes["annotation"]) + loss_of("ignorable", aside)
        losses += loss_of("candidates", unread_candidates)
        rows = rows.filter(pl.col("ignorable").is_null())
        unread = unread.filter(pl.col("ignorable").is_null())
    losses += loss_of("links", unread["annotation"])
    regions = {document: [begin, end] for document, begin, end in frames.regions.iter_rows()}
    with write_whole(path) as stream:
        for number, document, listed in _articles(frames, rows):
            article: dict[str, Any] = {"id": number, **_heading(document)}
            if document["document"] in regions:
                article["evaluation_span"] = regions[document["document"]]
            said = {"entity_mentions": [_mention(row) for row in listed]} if answers else {"labels": _labels(listed)}
            stream.write(_line(article | said))
    # An article has one region.
    return losses + loss_of("regions", frames.regions.filter(pl.len().over("document") > 1)["document"])


def write_simple(frames: Frames, path: Path) -> tuple[Loss, ...]:
    """Write simple JSON Lines: `labels`, or `predictions` to a file whose name has `linked` or `prediction` in it."""
    predictions = any(part in path.name for part in ("linked", "prediction"))
    with write_whole(path) as stream:
        for _, document, listed in _articles(frames, _rows(frames)):
            named = [
                {"start_char": row["begin"], "end_char": row["end"], "entity_reference": row["entity"]}
                | ({"candidates": row["candidates"]} if predictions and row["candidates"] else {})
                for row in listed
            ]
            stream.write(_line(_heading(document) | {"predictions" if predictions else "labels": named}))
    return () if predictions else loss_of("candidates", frames.candidates["annotation"])


def _is_unread(identifier: pl.Expr) -> pl.Expr:
    """Return whether an identifier names no entity in the format: it is no Q number and no IRI of the web."""
    return ~identifier.str.contains(r"^Q[0-9]+$|^https?://").fill_null(True)


def _heading(document: dict[str, Any]) -> dict[str, Any]:
    return {"title": document["given"] or document["document"], "text": document["text"]}


def _line(article: dict[str, Any]) -> bytes:
    return f"{json.dumps(article, ensure_ascii=False)}\n".encode()


def _rows(frames: Frames) -> pl.DataFrame:
    """Return the annotations with `entity`, `type` (classes between bars) and `candidates` as ELEVANT spells them."""
    spelt = pl.col("entity").str.strip_prefix(_WD)
    of_entity = frames.candidates.group_by("annotation", maintain_order=True).agg(candidates=spelt)
    name = pl.col("class").str.strip_prefix(_WD).str.strip_prefix(RMX)
    own = frames.classes.filter(pl.col("class") != f"{RMX}Coreference")
    types = own.group_by("annotation", maintain_order=True).agg(type=name.str.join("|"))
    coreference = frames.classes.filter(pl.col("class") == f"{RMX}Coreference").select("annotation", coref=True)
    rows = flatten(frames).with_columns(
        entity=pl.col("identifiers").list.first().str.replace(r"^https?://www\.wikidata\.org/(?:wiki|entity)/", "")
    )
    rows = rows.join(frames.annotations.select("annotation", "ignorable"), on="annotation", maintain_order="left")
    for table in (of_entity, types, coreference):
        rows = rows.join(table, on="annotation", how="left", maintain_order="left")
    return rows


def _articles(frames: Frames, rows: pl.DataFrame) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Yield the number, the row and the mentions of each document."""
    listed = {document: part.to_dicts() for (document,), part in rows.group_by("document", maintain_order=True)}
    numbers = frames.documents["given"].str.extract(PLACED, 1).cast(pl.Int64)
    own = numbers.null_count() == 0 and numbers.is_unique().all()
    order = frames.documents.with_columns(number=numbers if own else pl.int_range(pl.len())).sort("number")
    for document in order.iter_rows(named=True):
        yield document["number"], document, listed.get(document["document"], [])


def _labels(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the labels of an article; alternatives are nested, each in the one before, as either is then right."""
    labels = [_label(row, number) for number, row in enumerate(rows)]
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row["group"], []).append(number)
    for numbers in groups.values():
        for outer, inner in pairwise(numbers):
            labels[outer]["children"] = [inner]
            labels[inner]["parent"] = outer
    return labels


def _label(row: dict[str, Any], number: int) -> dict[str, Any]:
    said = {"name": row["surface_form"], "type": row["type"] or "OTHER"}
    label = {"id": number, "span": [row["begin"], row["end"]], "entity_id": row["entity"] or NIL, **said}
    return label | ({"optional": True} if row["ignorable"] else {}) | ({"coref": True} if row["coref"] else {})


def _mention(row: dict[str, Any]) -> dict[str, Any]:
    said = {"span": [row["begin"], row["end"]], "id": row["entity"] or NIL}
    return said | {"candidates": row["candidates"] or []}
