"""Link health: whether links name an entity, a redirect, a disambiguation page or nothing known."""

import polars as pl

from remix.kb.naming import STATUS
from remix.measures._corpus import Corpus
from remix.measures._declaration import Column, Measure, shares


def status(corpus: Corpus) -> pl.DataFrame:
    """Return row (the place of the annotation) and the status of every link."""
    known = corpus.targets.join(corpus.statuses, on="linked", how="left", maintain_order="left")["status"]
    return corpus.links.select("row", known.gather(corpus.links["place"]))


def _best(corpus: Corpus) -> pl.DataFrame:
    """Return the status of the healthiest link of each annotation, null where there is none."""
    order = {kind: place for place, kind in enumerate(STATUS)}
    place = pl.col("status").replace_strict(order, return_dtype=pl.Int64)
    best = status(corpus).group_by("row").agg(link_status=pl.col("status").sort_by(place).first())
    rows = corpus.annotations.select("row")
    return rows.join(best, on="row", how="left", maintain_order="left").select("link_status")


MEASURE = Measure(
    name="link-health",
    levels=("annotation", "document", "dataset"),
    unit="status; shares",
    formula="the link, in canonical form, is a disambiguation page, a redirect, an entity, or unknown, in this order",
    citation="Hachey, Nothman, Radford: Cheap and easy entity evaluation, ACL 2014 (redirects)",
    high="of canonical: the gold standard fits the knowledge base",
    low="of canonical: links are out of date, and comparing them without the redirects punishes right answers",
    empty="NIL annotations have no status",
    needs=("entities",),
    prepare=_best,
    columns=(
        Column(
            "rmx:linkStatus",
            "string",
            pl.col("link_status"),
            "canonical, redirect, disambiguation or unknown, of the healthiest of several links",
            STATUS,
        ),
    ),
    summaries=shares("linkStatus", STATUS, "link", "entity"),
)
