"""The relational steps from staged rows to the parts of a knowledge base.

Each takes lazy frames and returns one, in narwhals expressions that run on any engine. Rows have no order here; the
parts are sorted when they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from remix.kb.prominence import SCORES

Frame = nw.LazyFrame[Any]


def distinct(rows: Frame, columns: Sequence[str]) -> Frame:
    """Return the different rows of the columns."""
    return rows.group_by(*columns).agg(nw.len().alias("_rows")).select(*columns)


def resolve(rows: Frame, column: str, stands_for: Frame) -> Frame:
    """Return the rows with each IRI of a column replaced by the entity that it stands for (iri, entity)."""
    moves = stands_for.select(nw.col("iri").alias("_iri"), nw.col("entity").alias("_entity"))
    columns = rows.collect_schema().names()
    return (
        rows.join(moves, left_on=column, right_on="_iri", how="left")
        .with_columns(nw.coalesce("_entity", column).alias(column))
        .select(*columns)
    )


def first_targets(redirects: Frame) -> Frame:
    """Return iri and entity: of each redirect the target that most rows name, of equals the first by name."""
    named = (
        redirects.filter(nw.col("redirect") != nw.col("target"))
        .select(iri="redirect", entity="target")
        .group_by("iri", "entity")
        .agg(nw.len().alias("_named"))
    )
    return _most(named, "iri", "_named", "entity")


def same_steps(same: Frame, redirects: Frame) -> Frame:
    """Return iri and entity of each sameAs link (wikidata, entity): redirects (redirect, target) are none of its ends.

    What is a redirect stands for its target, whatever it is said to be the same as.
    """
    ends = redirects.select(nw.col("redirect").alias("iri"), nw.col("target").alias("entity"))
    steps = same.select(nw.col("wikidata").alias("iri"), "entity").join(ends.select("iri"), on="iri", how="anti")
    return resolve(steps, "entity", ends).filter(nw.col("iri") != nw.col("entity"))


def split_steps(steps: Frame, first: Frame) -> tuple[Frame, Frame]:
    """Return the steps (iri, entity) whose entity has a first step itself, and those that are the ends of chains."""
    on = {"left_on": "entity", "right_on": "iri"}
    known = first.select("iri")
    return steps.join(known, how="semi", **on), steps.join(known, how="anti", **on)


def double_steps(steps: Frame, others: Frame) -> Frame:
    """Return the steps, each to where its entity leads by the others (iri, entity): twice as far."""
    further = others.select(nw.col("iri").alias("_iri"), nw.col("entity").alias("_entity"))
    return steps.join(further, left_on="entity", right_on="_iri").select("iri", nw.col("_entity").alias("entity"))


def double_circles(steps: Frame) -> Frame:
    """Return the steps (iri, entity, least), each twice as far, all of which lead in circles.

    `least` is the first by name of the entities that a step has passed, its own among them.
    """
    further = steps.select(*(nw.col(name).alias(f"_{name}") for name in ("iri", "entity", "least")))
    least = nw.when(nw.col("least") < nw.col("_least")).then(nw.col("least")).otherwise(nw.col("_least"))
    joined = steps.join(further, left_on="entity", right_on="_iri")
    return joined.select("iri", nw.col("_entity").alias("entity"), least.alias("least"))


def close_circles(steps: Frame) -> Frame:
    """Return iri and entity: of steps that have gone all round their circles the first by name of the circle.

    What leads into a circle stands for the same. A step as long as there are steps ends on the circle, and one from
    there passes all of it.
    """
    around = steps.select(nw.col("iri").alias("_iri"), nw.col("least").alias("_least"))
    joined = steps.join(around, left_on="entity", right_on="_iri")
    return joined.select("iri", nw.col("_least").alias("entity")).filter(nw.col("iri") != nw.col("entity"))


def sameas_pairs(sameas: Frame) -> Frame:
    """Return wikidata and entity: of each Wikidata item the entity that most rows name, of equals the first."""
    named = (
        sameas.filter(nw.col("wikidata") != nw.col("entity"))
        .with_columns(_count=nw.coalesce(nw.col("count"), nw.lit(1)))
        .group_by("wikidata", "entity")
        .agg(nw.col("_count").sum().alias("_named"))
    )
    return _most(named, "wikidata", "_named", "entity")


def resolution(redirects: Frame, same: Frame) -> Frame:
    """Return iri and entity for every IRI that stands for another: redirects first, sameAs next.

    Both are at the ends of their chains: `redirects` (redirect, target) among redirects, `same` (iri, entity) among
    sameAs links whose ends are no redirects. So nothing that stands for another is an entity here.
    """
    redirected = redirects.select(nw.col("redirect").alias("iri"), nw.col("target").alias("entity"))
    return nw.concat([resolve(redirected, "entity", same), same])


def count_forms(forms: Frame, pages: Frame, uncounted: Sequence[str]) -> Frame:
    """Return key, surface_form, entity, count and source, one row each, without candidates that are pages.

    `forms` has its entities resolved, `pages` (page) are disambiguation pages. The counts of `uncounted` sources are
    null; counts of one row are summed.
    """
    count = nw.col("count")
    counts = nw.when(~nw.col("source").is_in(uncounted) | nw.col("source").is_null()).then(count)
    kept = forms.join(pages.select("page"), left_on="entity", right_on="page", how="anti")
    return sum_counts(kept.with_columns(count=counts) if uncounted else kept, "key", "surface_form", "entity", "source")


def dictionary(pairs: Frame, entities: Frame) -> Frame:
    """Return the pairs with number and pagerank of their entity, `entities` that the key may mean, and its `forms`.

    The two counts are |W_E(key)| and |W_S(entity)| of the remixing paper, section 2.4.
    """
    by_key = pairs.group_by("key").agg(nw.len().cast(nw.Int64).alias("entities"))
    of_entities = entities.select("entity", "number", "pagerank", "forms")
    ranked = pairs.join(by_key, on="key").join(of_entities, on="entity", how="left")
    return ranked.select("key", "entity", "number", "count", "pagerank", "entities", "forms")


def add_numbers(rows: Frame, entities: Frame) -> Frame:
    """Return the rows with the number of their entity."""
    return rows.join(entities.select("entity", "number"), on="entity", how="left")


def best_labels(labels: Frame) -> Frame:
    """Return entity and label: the one that most rows have, of equals the first."""
    named = labels.group_by("entity", "label").agg(nw.len().alias("_named"))
    return _most(named, "entity", "_named", "label")


def known_entities(columns: Sequence[Frame], stands_for: Frame) -> Frame:
    """Return the entities of all these frames, each once, without what stands for another."""
    every = nw.concat([distinct(frame.select("entity"), ["entity"]) for frame in columns])
    return distinct(every, ["entity"]).join(stands_for.select("iri"), left_on="entity", right_on="iri", how="anti")


def entities(
    numbered: Frame, labels: Frame, scores: Frame, pairs: Frame, elsewhere: Sequence[Frame] | None = None
) -> Frame:
    """Return the numbered entities (entity, number) with label, prominence, the number of their forms, and `of_gold`.

    `of_gold` says whether an entity is in none of the frames `elsewhere`, which are not derived from gold; without them
    none is.

    Label and prominence are null where there is none. Numbers and ranks have 32 bits: they are read for all entities
    wherever some are looked up.
    """
    places = (nw.col(f"{score}_{place}").cast(nw.Int32) for score in SCORES for place in ("rank", "equal"))
    prominence = scores.select("entity", "in_degree", "out_degree", *SCORES, *places)
    forms = pairs.group_by("entity").agg(nw.len().cast(nw.Int64).alias("forms"))
    rows = numbered.with_columns(nw.col("number").cast(nw.Int32)).join(labels, on="entity", how="left")
    counted = rows.join(prominence, on="entity", how="left").join(forms, on="entity", how="left")
    counted = counted.with_columns(nw.col("forms").fill_null(0))
    if elsewhere is None:
        return counted.with_columns(of_gold=nw.lit(False))
    every = distinct(nw.concat([frame.select("entity") for frame in elsewhere]), ["entity"])
    marked = counted.join(every.with_columns(_known=nw.lit(True)), on="entity", how="left")
    return marked.with_columns(of_gold=nw.col("_known").is_null()).drop("_known")


def scores_of_entities(scores: Frame) -> Frame:
    """Return one row an entity of published scores: of several the highest, as of a page and its redirects."""
    highest = (nw.col(score).max() for score in SCORES)
    return scores.group_by("entity").agg(*highest)


def unknown_targets(scored: Frame, named: Sequence[Frame]) -> Frame:
    """Return the entities that are linked to (in_degree) and that none of the other frames knows."""
    linked = scored.filter(nw.col("in_degree") > 0).select("entity")
    for frame in named:
        linked = linked.join(frame.select("entity"), on="entity", how="anti")
    return linked


def _most(rows: Frame, of: str, by: str, name: str) -> Frame:
    most = rows.group_by(of).agg(nw.col(by).max().alias("_most"))
    best = rows.join(most, on=of).filter(nw.col(by) == nw.col("_most"))
    return best.group_by(of).agg(nw.col(name).min())


def sum_counts(rows: Frame, *columns: str) -> Frame:
    """Return the columns with their count, summed over the rows that have counts; else null."""
    count = nw.col("count")
    sums = rows.group_by(*columns).agg(count.sum().cast(nw.Int64).alias("_sum"), count.count().alias("_counts"))
    order = [*columns[:-1], "count", columns[-1]] if columns[-1] == "source" else [*columns, "count"]
    return sums.with_columns(count=nw.when(nw.col("_counts") > 0).then(nw.col("_sum"))).select(*order)


def without(rows: Frame, column: str, left_out: Sequence[str]) -> Frame:
    """Return the rows whose source (in this column) is none of those; rows without a source stay."""
    return rows.filter(~nw.col(column).is_in(left_out) | nw.col(column).is_null()) if left_out else rows
