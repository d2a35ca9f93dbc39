"""How the surface form relates to the entity's primary label: full, short, extended, alias."""

import polars as pl

from remix.measures.codes import pair_codes
from remix.measures.corpus import Corpus
from remix.measures.declaration import FAIR, FINE_GRAINED, Column, Measure, shares

KINDS = ("full", "short", "extended", "alias")


def _relations(corpus: Corpus) -> pl.DataFrame:
    """Return the relation of each annotation; the label is the knowledge base's, else the title of the entity."""
    annotations = corpus.annotations
    rows = annotations.select(
        "key",
        pair_codes(annotations, "form_code", "target_code"),
        label=corpus.whole.labels.gather(annotations["target_code"]),
    )
    same = pl.col("key") == pl.col("label")
    others = rows.filter(~same).unique("pair").select("pair", by_words=_by_words(pl.col("key"), pl.col("label")))
    joined = rows.join(others, on="pair", how="left", maintain_order="left")
    return joined.select(name_relation=pl.when(same).then(pl.lit("full")).otherwise("by_words"))


def _by_words(key: pl.Expr, label: pl.Expr) -> pl.Expr:
    form_words, label_words = key.str.split(" "), label.str.split(" ")
    return (
        pl.when(form_words.list.set_difference(label_words).list.len() == 0)
        .then(pl.lit("short"))
        .when(label_words.list.set_difference(form_words).list.len() == 0)
        .then(pl.lit("extended"))
        .otherwise(pl.lit("alias"))
    )


_LABELS = {"full": "full names", "short": "short names", "extended": "extended names", "alias": "aliases"}

MEASURE = Measure(
    name="name-relation",
    levels=("annotation", "document", "dataset"),
    unit="kind; shares",
    formula="full: form = label; short: its words are among the label's; extended: the label's among its; else alias",
    citation=f"{FINE_GRAINED}, section 3.1; ELEVANT's 'partial name' ({FAIR}) is short",
    high="of short and alias: names must be resolved by context or by a dictionary of aliases",
    low="of short and alias: entities are called by their full name",
    empty="NIL annotations and entities without label or title have no value",
    prepare=_relations,
    columns=(
        Column(
            "rmx:nameRelation",
            "string",
            pl.col("name_relation"),
            "full, short, extended or alias: the surface form against the entity's primary label",
            KINDS,
            label="how the name relates to the entity",
        ),
    ),
    summaries=shares("nameRelation", KINDS, "relation to the label", labels=_LABELS),
)
