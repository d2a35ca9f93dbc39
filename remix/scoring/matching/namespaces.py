"""Runs whose entities are of other namespaces than gold's."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.dense import look_up, mark
from remix.errors import Error
from remix.scoring.inputs import Knowledge
from remix.scoring.inputs.entities import KNOWN_WORLD, is_bare
from remix.scoring.matching import Case

FEW = 0.3
"""A run of which fewer links are of a namespace of gold is looked at."""

LEAST = 3
"""A run needs so many links to be looked at, unless all of them are of other namespaces."""


def tell_namespaces(case: Case) -> None:
    """Say of each run whose entities are of other namespaces than gold's: which, and what would join the two.

    What would is the sameAs links of a knowledge base of the shelf, counted on the answers that have the span of a
    linked mention of gold.
    """
    mentions = case.mentions
    if mentions.answer_links.is_empty():
        return
    # What stands before the last part of an IRI.
    namespace = pl.coalesce(pl.col("iri").str.extract(one) for one in (KNOWN_WORLD, r"^(?:http://)?(.*[/#:])[^/#:]*$"))
    namespace = pl.when(is_bare(pl.col("iri"))).then(pl.lit("no namespace")).otherwise(namespace)
    named = mentions.iris.with_columns(namespace=namespace)
    ours = named["namespace"].filter(pl.Series(mark(mentions.gold_links["entity"], len(named)))).unique()
    same = named["namespace"].is_in(ours.implode())
    links = mentions.answer_links.select("answer", same=same.gather(mentions.answer_links["entity"]))
    links = look_up(links, "answer", mentions.answers, ["system"])
    shares = links.group_by("system").agg(linked=pl.len(), same=pl.col("same").sum()).sort("system")
    apart = shares.filter(
        (pl.col("same") < FEW * pl.col("linked")) & ((pl.col("linked") >= LEAST) | (pl.col("same") == 0))
    )
    if ours.is_empty() or apart.is_empty():
        return
    gold = mentions.gold_links.join(named, on="entity")
    answers = (
        mentions.answers.select("answer", "system").join(mentions.answer_links, on="answer").join(named, on="entity")
    )
    for system in apart["system"]:
        own = answers.filter(pl.col("system") == system)
        pairs = case.overlaps.filter("equal").select("answer", "mention", "link")
        pairs = pairs.join(own.select("answer", answered="iri"), on="answer").join(
            gold.select("mention", asked="iri"), on="mention"
        )
        on_span, right = pairs["answer"].n_unique(), pairs.filter("link")["answer"].n_unique()
        if right >= max(1, FEW * on_span):
            continue
        name = mentions.systems[system]
        progress.note(
            f"run '{name}' and gold name entities in different worlds: its {len(own)} links are of {_count(own)}, "
            f"gold's {len(gold)} of {_count(gold)}; {right} of the {on_span} answers that have the span of a linked "
            f"mention of gold have its entity{_joining(pairs, right, case.evidence.inputs.knowledge)}"
        )


def _count(links: pl.DataFrame) -> str:
    """Return the namespaces with their numbers, the most frequent first."""
    rows = links.group_by("namespace").len().sort(["len", "namespace"], descending=[True, False])
    shown = [f"{namespace} ({count})" for namespace, count in rows.head(3).iter_rows()]
    return ", ".join([*shown, *(["…"] if len(rows) > len(shown) else [])])


def _joining(pairs: pl.DataFrame, right: int, known: Knowledge) -> str:
    """Return how many answers a knowledge base would make right, and the command that attaches the best.

    The one that is attached does not.
    """
    from remix.kb import KnowledgeBase

    kb = known.kb
    found = [(0, "")]
    for folder in known.shelf:
        try:
            other = KnowledgeBase.open(folder)
        except Error:  # one that an older version built, or that is gone
            continue
        if kb is None or other.version != kb.version:
            joined = pairs.filter(other.resolve(pairs["answered"]) == other.resolve(pairs["asked"]))
            found.append((joined["answer"].n_unique(), folder.name))
    count, best = max(found)
    if count >= max(2 * right, right + 1):
        return f"; {count} would by the sameAs links of a knowledge base that is there: `remix kb attach {best}`"
    attached = f"; the sameAs links of '{kb.name}', which is attached, do not join them" if kb is not None else ""
    return (
        f"{attached}; a knowledge base with sameAs links between the two does: `remix kb build --name joined --from "
        "tables DIR`, with a sameas.tsv in DIR"
    )
