"""Link health: whether links name an entity, a redirect, a disambiguation page or nothing known."""

import polars as pl

from remix.measures._corpus import Corpus
from remix.measures._declaration import Column, Measure, shares

STATUS = ("canonical", "redirect", "disambiguation", "unknown")


def status(corpus: Corpus) -> pl.DataFrame:
    """Return annotation, linked and the status of every link."""
    links = corpus.links.select("annotation", "linked")
    if corpus.kb is None:
        return links.with_columns(status=pl.lit("unknown"))
    asked = links["linked"].unique()

    def known(part: str, column: str) -> pl.Expr:
        rows = corpus.kb.scan(part).filter(pl.col(column).is_in(asked.implode())) if corpus.kb else None
        assert rows is not None
        return pl.col("linked").is_in(rows.select(column).unique().collect()[column].implode())

    kind = (
        pl.when(known("disambiguations", "page"))
        .then(pl.lit("disambiguation"))
        .when(known("redirects", "redirect"))
        .then(pl.lit("redirect"))
        .when(known("entities", "entity") | known("sameas", "wikidata"))
        .then(pl.lit("canonical"))
        .otherwise(pl.lit("unknown"))
    )
    return links.with_columns(status=kind)


def _best(corpus: Corpus) -> pl.DataFrame:
    """Return the status of the healthiest link of each annotation, null where there is none."""
    order = {kind: place for place, kind in enumerate(STATUS)}
    place = pl.col("status").replace_strict(order, return_dtype=pl.Int64)
    best = status(corpus).group_by("annotation").agg(link_status=pl.col("status").sort_by(place).first())
    rows = corpus.annotations.select("annotation")
    return rows.join(best, on="annotation", how="left", maintain_order="left").select("link_status")


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
