"""What a knowledge base is made of: its sources, what was wrong with them, the choices and the sizes."""

from __future__ import annotations

import polars as pl

from remix.kb.knowledge import KnowledgeBase
from remix.names import shorten

__all__ = ["problem_counts", "problems_of", "sources_of"]


def sources_of(kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row for each part of a source: source, part, place, date, licence, bytes, rows, problems and hash.

    The place of a file is its folder, where the part is named like the file. `rows` and `problems` are what was read
    and what could not be; the hash is short, `kb.json` has it in full.
    """
    rows = [
        (
            *(str(part.get(name) or "") for name in ("source", "part")),
            str(part.get("place") or "").removesuffix(f"/{part.get('part')}"),
            *(str(part.get(name) or "") for name in ("date", "licence")),
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
    """Return a row for each of the first ten cases of a kind of problem: where, problem, count in all, and the case."""
    read = [
        (part["part"], kind, problem["count"], problem["first"])
        for part in kb.described.get("sources", [])
        for kind, problem in part.get("problems", {}).items()
    ]
    whole = [
        ("knowledge base", name.replace("_", " "), found["count"], found["first"])
        for name in ("circular_redirects", "unknown_link_targets")
        if (found := kb.described.get(name)) and found["count"]
    ]
    schema: dict[str, pl.DataType] = {
        "where": pl.String(),
        "problem": pl.String(),
        "count": pl.Int64(),
        "case": pl.String(),
    }
    rows = [
        (where, problem, count, shorten(str(case)))
        for where, problem, count, cases in read + whole
        for case in cases or [""]
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def problem_counts(kb: KnowledgeBase) -> dict[str, int]:
    """Return how often each kind of problem was met, in all parts together."""
    kinds = problems_of(kb).unique(["where", "problem"], maintain_order=True)
    return dict(kinds.group_by("problem", maintain_order=True).agg(pl.col("count").sum()).rows())
