"""What a knowledge base is made of: its sources, what was wrong with them, the choices and the sizes."""

from __future__ import annotations

import polars as pl

from remix.kb.knowledge import KnowledgeBase
from remix.names import shorten

__all__ = ["problems_of", "sources_of"]

SHOWN = 3


def sources_of(kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row for each part of a source: source, part, place, date, licence, bytes, rows, problems and hash.

    `rows` and `problems` are what was read and what could not be; the hash is short, `kb.json` has it in full.
    """
    rows = [
        (
            *(str(part.get(name) or "") for name in ("source", "part", "place", "date", "licence")),
            int(part.get("size") or 0),
            sum(part.get("rows", {}).values()),
            sum(problem["count"] for problem in part.get("problems", {}).values()),
            str(part.get("fingerprint") or "")[:12],
        )
        for part in kb.described.get("sources", [])
    ]
    schema = dict.fromkeys(("source", "part", "place", "date", "licence"), pl.String())
    numbers = dict.fromkeys(("bytes", "rows", "problems"), pl.Int64())
    return pl.DataFrame(rows, schema={**schema, **numbers, "hash": pl.String()}, orient="row")


def problems_of(kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row for each kind of problem: where, problem, count and the first of its cases; `kb.json` has ten."""
    read = [
        (part["part"], kind, problem["count"], _first(problem["first"]))
        for part in kb.described.get("sources", [])
        for kind, problem in part.get("problems", {}).items()
    ]
    whole = [
        ("knowledge base", name.replace("_", " "), found["count"], _first(found["first"]))
        for name in ("circular_redirects", "unknown_link_targets")
        if (found := kb.described.get(name)) and found["count"]
    ]
    schema: dict[str, pl.DataType] = {
        "where": pl.String(),
        "problem": pl.String(),
        "count": pl.Int64(),
        "first": pl.List(pl.String()),
    }
    return pl.DataFrame(read + whole, schema=schema, orient="row")


def _first(cases: list[str]) -> list[str]:
    return [shorten(str(case)) for case in cases[:SHOWN]]
