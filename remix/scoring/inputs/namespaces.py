"""Entities of gold and of runs that are named in different worlds: titles, DBpedia, Wikidata, names of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import iris, progress
from remix.dense import look_up, mark
from remix.errors import Error
from remix.expressions import fill
from remix.frames import Frames

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.scoring.inputs.mentions import Mentions

__all__ = ["tell_namespaces", "with_titles_read"]

FEW = 0.3
"""A run of which fewer linked answers are in a namespace of gold, and fewer are right, is looked at."""

LEAST = 3
"""So many linked answers a run must have to be looked at, or so many more of them another reading must make right."""

_DBPEDIA = "http://dbpedia.org/resource/"
_KNOWN = r"^http://((?:[a-z-]+\.)?dbpedia\.org/resource/|www\.wikidata\.org/entity/)"
_IRI = r"^[A-Za-z][A-Za-z0-9+.-]*:[^%_]"
"""What an IRI begins with; the title `Batman: Year One` has no such beginning."""


def with_titles_read(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    """Return gold and runs with entities that are no IRIs (`Ada Lovelace`) read as titles of Wikipedia.

    A title is the resource of DBpedia that has it. That is so where any side names entities of DBpedia or Wikidata;
    where all names are bare they are compared as they are. How many were read is told.
    """
    sides = {"": gold, **runs}
    bare = {name: ~frames.links["entity"].str.contains(_IRI).fill_null(True) for name, frames in sides.items()}
    if not any(found.any() for found in bare.values()):
        return gold, dict(runs)
    if not any(frames.links["entity"].str.contains(_KNOWN).any() for frames in sides.values()):
        return gold, dict(runs)
    for name, found in bare.items():
        if count := int(found.sum()):
            links = sides[name].links
            title = fill(f"{_DBPEDIA}{{}}", pl.coalesce("entity_as_given", "entity").str.strip_chars())
            read = iris.canonical(links.select(title).to_series())
            links = links.with_columns(entity=pl.when(found).then(read).otherwise("entity"))
            sides[name] = replace(sides[name], links=links)
            first = links.filter(found).row(0, named=True)
            progress.note(
                f"{_side(name)}: {count} links are no IRIs and are read as titles, as '{first['entity_as_given']}' "
                f"is <{first['entity']}>"
            )
    return sides.pop(""), sides


def _side(name: str) -> str:
    return f"run '{name}'" if name else "gold"


def tell_namespaces(
    mentions: Mentions, overlaps: pl.DataFrame, kb: KnowledgeBase | None, shelf: Sequence[Path] = ()
) -> None:
    """Say of each run whose entities are of other namespaces than gold's: which, and what would join the two.

    What would is the sameAs links of a knowledge base of the `shelf` (folders of those that are built), counted on the
    answers that have the span of a linked mention of gold. `kb` is the one that is attached, which does not.
    """
    named = mentions.iris.with_columns(namespace=_namespace(pl.col("iri")))
    ours = named["namespace"].filter(pl.Series(mark(mentions.gold_links["entity"], len(named)))).unique()
    same = named["namespace"].is_in(ours.implode())
    links = mentions.answer_links.select("a", same=same.gather(mentions.answer_links["entity"]))
    links = look_up(links, "a", mentions.answers, ["system"])
    shares = links.group_by("system").agg(linked=pl.len(), same=pl.col("same").sum()).sort("system")
    apart = shares.filter((pl.col("linked") >= LEAST) & (pl.col("same") < FEW * pl.col("linked")))
    if ours.is_empty() or apart.is_empty():
        return
    gold = mentions.gold_links.join(named, on="entity")
    answers = mentions.answers.select("a", "system").join(mentions.answer_links, on="a").join(named, on="entity")
    for system in apart["system"]:
        own = answers.filter(pl.col("system") == system)
        pairs = overlaps.filter("equal").select("a", "g", "link")
        pairs = pairs.join(own.select("a", answer="iri"), on="a").join(gold.select("g", gold="iri"), on="g")
        on_span, right = pairs["a"].n_unique(), pairs.filter("link")["a"].n_unique()
        if right >= max(1, FEW * on_span):
            continue
        name = mentions.systems[system]
        progress.note(
            f"run '{name}' and gold name entities in different worlds: its {len(own)} links are of {_count(own)}, "
            f"gold's {len(gold)} of {_count(gold)}; {right} of the {on_span} answers that have the span of a linked "
            f"mention of gold have its entity{_joining(pairs, right, kb, shelf)}"
        )


def _namespace(entity: pl.Expr) -> pl.Expr:
    """Return what stands before the last part of an IRI, or what names without any are called."""
    start = entity.str.extract(r"^(?:http://)?(.*[/#:])[^/#:]*$")
    namespace = pl.coalesce(entity.str.extract(_KNOWN), start)
    return pl.when(entity.str.contains(_IRI)).then(namespace).otherwise(pl.lit("no namespace"))


def _count(links: pl.DataFrame) -> str:
    """Return the namespaces with their numbers, the most frequent first."""
    rows = links.group_by("namespace").len().sort(["len", "namespace"], descending=[True, False])
    shown = [f"{namespace} ({count})" for namespace, count in rows.head(3).iter_rows()]
    return ", ".join([*shown, *(["…"] if len(rows) > len(shown) else [])])


def _joining(pairs: pl.DataFrame, right: int, kb: KnowledgeBase | None, shelf: Sequence[Path]) -> str:
    """Return how many answers a knowledge base would make right, and the command that attaches the best."""
    from remix.kb import KnowledgeBase as Opened

    found: list[tuple[int, str]] = []
    for folder in shelf:
        try:
            other = Opened.open(folder)
        except Error:  # one that an older version built, or that is gone
            continue
        if kb is None or other.version != kb.version:
            joined = pairs.filter(other.resolve(pairs["answer"]) == other.resolve(pairs["gold"]))
            found.append((joined["a"].n_unique(), folder.name))
    count, best = max(found, default=(0, ""))
    if count >= max(2 * right, right + 1):
        return f"; {count} would by the sameAs links of a knowledge base that is there: `remix kb attach {best}`"
    attached = f"; the sameAs links of '{kb.name}', which is attached, do not join them" if kb is not None else ""
    return (
        f"{attached}; a knowledge base with sameAs links between the two does: `remix kb build --name joined --from "
        "tables DIR`, with a sameas.tsv in DIR"
    )
