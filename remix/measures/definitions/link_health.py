"""Link health: whether links name an entity, a redirect, a disambiguation page or nothing known."""

import polars as pl

from remix.kb.knowledge import STATUS
from remix.measures.corpus import Corpus
from remix.measures.declaration import Column, Measure, shares


def status(corpus: Corpus) -> pl.DataFrame:
    """Return the status of the healthiest link of each annotation, null where there is none."""
    places = corpus.statuses.replace_strict({kind: place for place, kind in enumerate(STATUS)}, return_dtype=pl.UInt8)
    of_links = places.gather(corpus.links["place"]).alias("link_status").to_frame()
    best = corpus.of_mentions(of_links, pl.col("link_status").min())
    return best.select(pl.lit(pl.Series(STATUS)).gather("link_status").alias("link_status"))


_LABELS = {
    "canonical": "canonical links",
    "redirect": "links to redirects",
    "disambiguation": "links to disambiguation pages",
    "unknown": "links to what is unknown",
}

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
    prepare=status,
    columns=(
        Column(
            "rmx:linkStatus",
            "string",
            pl.col("link_status"),
            "canonical, redirect, disambiguation or unknown, of the healthiest of several links",
            STATUS,
            label="state of the link",
        ),
    ),
    summaries=shares("linkStatus", STATUS, "link", "entity", labels=_LABELS),
)
