"""What a knowledge base is made of, what was wrong with its sources, and how much of loaded datasets it covers."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb.knowledge import KnowledgeBase
from remix.names import shorten

__all__ = ["coverage", "problem_counts", "problems_of", "sources_of"]


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
    circles = [" → ".join(map(shorten, [*circle, circle[0]])) for circle in kb.described.get("redirect_circles", [])]
    whole = [
        ("knowledge base", name.replace("_", " "), found["count"], cases or found["first"])
        for name, cases in (("circular_redirects", circles), ("unknown_link_targets", []))
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


def coverage(kb: KnowledgeBase, frames: Frames) -> pl.DataFrame:
    """Return a row for each dataset, sorted by name, with what the knowledge base has of it.

    `annotations`, `forms` and `entities` count what is in the dataset, the last two distinct (entities after redirects
    and sameAs links). The others are shares, null where there is nothing to share: `in_dictionary` of the forms;
    `known`, `typed` and `scored` (with a PageRank) of the entities; `reachable` of the distinct pairs of form and
    entity, whose entity is among the dictionary's candidates of the form. Annotations to ignore are left out.
    """
    counted = frames.annotations.filter(pl.col("ignorable").is_null())
    mentions = counted.select("annotation", "dataset", key=kb.normalise(pl.col("surface_form")))
    links = frames.links.select("annotation", "entity").drop_nulls()
    links = links.with_columns(kb.resolve(links["entity"])).join(mentions, on="annotation")
    forms = mentions.select("dataset", "key").drop_nulls().unique()
    entities = links.select("dataset", "entity").unique()
    pairs = links.select("dataset", "key", "entity").drop_nulls().unique()
    found = kb.pairs(forms["key"]).select("key", "entity", reachable=pl.lit(True))
    known = kb.rows("entities", "entity", entities["entity"], ["entity", "pagerank"])
    known = known.select("entity", known=pl.lit(True), scored=pl.col("pagerank").is_not_null())
    typed = kb.rows("types", "entity", entities["entity"], ["entity"]).unique().with_columns(typed=pl.lit(True))
    names = found.select("key", in_dictionary=pl.lit(True)).unique()

    def share(column: str) -> pl.Expr:
        return pl.col(column).fill_null(False).mean().alias(column)

    sizes = (
        mentions.group_by("dataset").agg(annotations=pl.len().cast(pl.Int64)),
        forms.join(names, on="key", how="left")
        .group_by("dataset")
        .agg(share("in_dictionary"), forms=pl.len().cast(pl.Int64)),
        entities.join(known, on="entity", how="left")
        .join(typed, on="entity", how="left")
        .group_by("dataset")
        .agg(*(share(column) for column in ("known", "typed", "scored")), entities=pl.len().cast(pl.Int64)),
        pairs.join(found, on=["key", "entity"], how="left").group_by("dataset").agg(share("reachable")),
    )
    rows = frames.documents.select("dataset").unique()
    for part in sizes:
        rows = rows.join(part, on="dataset", how="left")
    counts = ["annotations", "forms", "entities"]
    shares = ["in_dictionary", "known", "typed", "scored", "reachable"]
    return rows.select("dataset", pl.col(counts).fill_null(0), *shares).sort("dataset")
