"""What NIF says otherwise where it is published, so that GERBIL reads it as it is meant; and how that is undone.

To GERBIL whatever has a nif:referenceContext is a mention of its own, all its links together are the entities that are
right, and what has no link has no meaning. So alternatives of one span become one mention with the links of all of
them, and NIL becomes a link to what is in no knowledge base. What was added is told, and reading takes it away again.
"""

from __future__ import annotations

import polars as pl

from remix import names
from remix.expressions import fill
from remix.formats import nif
from remix.frames import Frames
from remix.rdf.terms import entity_term, predicate

ADDED = predicate("addedIdentRef", names.RMX)
ALTERNATIVE = predicate("alternativeContext", names.RMX)
_PHRASE, _KIND = predicate("Phrase"), predicate("Alternative", names.RMX)
_NIL = "http://aksw.org/notInWiki/"
"""GERBIL takes for an emerging entity what is in none of the knowledge bases that it knows."""


def state_as_markings(triples: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    """Return the triples of a dataset as GERBIL reads them as they are meant.

    Only alternatives that are one annotation each become one mention: it has no way to say that several are required.
    """
    gold, subject = frames.gold().annotations, fill("<{}>", "annotation").alias("subject")
    links = triples.filter(pl.col("predicate") == nif.IDENT).select("subject", "object")
    name = pl.col("surface_form").fill_null("").str.replace_all(r"\s+", "_")
    nil = gold.filter("is_nil").select(subject, object=entity_term(pl.lit(_NIL) + name))
    nil = nil.join(links, on="subject", how="anti", maintain_order="left")
    alone = gold.filter(pl.len().over("group", "option") == 1).drop_nulls(["begin", "end"])
    ordered = alone.sort(pl.col("annotation").str.len_chars(), "annotation")
    span = ["document", "group", "begin", "end"]
    others = ordered.with_columns(first=pl.col("annotation").first().over(span)).select(subject, fill("<{}>", "first"))
    others = others.rename({others.columns[1]: "first"}).filter(pl.col("subject") != pl.col("first"))
    lent = pl.concat([links, nil]).join(others, on="subject").select(subject="first", object="object")
    lent = lent.filter(~pl.col("object").str.starts_with("_:")).join(links, on=["subject", "object"], how="anti")
    added = pl.concat([nil, lent]).unique(maintain_order=True)
    aside = pl.col("subject").is_in(others["subject"].implode())
    typed = (pl.col("predicate") == nif.TYPE) & (pl.col("object") == _PHRASE)
    told = triples.with_columns(
        predicate=pl.when(aside & (pl.col("predicate") == nif.CONTEXT))
        .then(pl.lit(ALTERNATIVE))
        .otherwise("predicate"),
        object=pl.when(aside & typed).then(pl.lit(_KIND)).otherwise("object"),
    )
    stated = [added.with_columns(predicate=pl.lit(one)).select(triples.columns) for one in (nif.IDENT, ADDED)]
    return pl.concat([told, *stated])


def state_as_given(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples of a file as they were before they were published."""
    name = pl.col("predicate").cast(pl.String)
    if not triples.select(name.is_in([ADDED, ALTERNATIVE]).any()).item():
        return triples
    added = triples.filter(name == ADDED).select("subject", "object", added=pl.lit(True)).unique()
    left = triples.filter(name != ADDED).join(added, on=["subject", "object"], how="left", maintain_order="left")
    left = left.filter(~((name == nif.IDENT) & pl.col("added").fill_null(False))).drop("added")
    kind = (name == nif.TYPE) & (pl.col("object") == _KIND)
    return left.with_columns(
        predicate=name.replace({ALTERNATIVE: nif.CONTEXT}).cast(triples.schema["predicate"]),
        object=pl.when(kind).then(pl.lit(_PHRASE)).otherwise("object"),
    )
