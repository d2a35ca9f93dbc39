"""Which entity an IRI stands for in the end: redirects followed to their last target, then sameAs links."""

from __future__ import annotations

import polars as pl

__all__ = ["followed", "resolution", "sameas_pairs"]


def followed(redirects: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Return redirect and final target, and the redirects that lead in a circle, which have no target.

    Where sources disagree, the target that most of them name is taken, of equals the first by name.

    >>> ends, circles = followed(pl.DataFrame({"redirect": ["a", "b", "x", "y"], "target": ["b", "c", "y", "x"]}))
    >>> ends.rows(), circles.to_list()
    ([('a', 'c'), ('b', 'c')], ['x', 'y'])
    """
    steps = (
        redirects.filter(pl.col("redirect") != pl.col("target"))
        .group_by("redirect", "target")
        .len()
        .sort("redirect", pl.col("len"), "target", descending=[False, True, False])
        .group_by("redirect", maintain_order=True)
        .first()
        .select("redirect", "target")
    )
    ends = steps
    # Each round doubles the distance: after log2 of the rows no open chain is left, only circles.
    for _ in range(max(1, steps.height.bit_length())):
        further = ends.rename({"redirect": "target", "target": "further"})
        ends = ends.join(further, on="target", how="left").select("redirect", target=pl.coalesce("further", "target"))
    circular = ends["target"].is_in(steps["redirect"].implode())
    return ends.filter(~circular).sort("redirect"), ends.filter(circular)["redirect"].sort()


def sameas_pairs(sameas: pl.DataFrame) -> pl.DataFrame:
    """Return wikidata and entity: for each Wikidata item the entity that most rows name, of equals the first."""
    return (
        sameas.filter(pl.col("wikidata") != pl.col("entity"))
        .group_by("wikidata", "entity")
        .agg(pl.col("count").fill_null(1).sum())
        .sort("wikidata", "count", "entity", descending=[False, True, False])
        .group_by("wikidata", maintain_order=True)
        .first()
        .select("wikidata", "entity")
    )


def resolution(ends: pl.DataFrame, same: pl.DataFrame) -> pl.DataFrame:
    """Return iri and entity for every IRI that stands for another: redirects first, sameAs next.

    The target of a sameAs link is followed through the redirects as well.
    """
    redirected = ends.rename({"redirect": "iri", "target": "entity"})
    equal = _moved(same.rename({"wikidata": "iri"}), redirected)
    through = _moved(redirected, equal)
    return (
        pl.concat([through, equal.join(through, on="iri", how="anti")])
        .filter(pl.col("iri") != pl.col("entity"))
        .sort("iri")
    )


def _moved(pairs: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    further = steps.rename({"iri": "entity", "entity": "further"})
    return pairs.join(further, on="entity", how="left").select("iri", entity=pl.coalesce("further", "entity"))
