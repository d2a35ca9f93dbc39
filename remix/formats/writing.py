"""Frames into mentions as plain formats write them.

A writer asks `lay_out` for the documents, by the names that its file can hold, and for a row a mention, and puts these
into words; `gather` brings what is said of mentions to their documents.
"""

from __future__ import annotations

import polars as pl

from remix.formats.identifiers import document_iris, document_names
from remix.formats.losses import CLUSTER, Loss, loss_of
from remix.formats.mentions import canonical_entities
from remix.frames import Frames
from remix.names import RMX


def flatten(frames: Frames) -> pl.DataFrame:
    """Return one row per annotation, sorted by document and place: what a plain format writes.

    Columns: `document`, `begin`, `end`, `surface_form`, `confidence`, `is_nil`, `group`, `option`, `annotation`, and
    `identifiers` (a list: the links as given where these say the same by themselves), `class` (its first, a name of
    ours without its namespace) and `cluster`, null where there is none.
    """
    links = frames.links
    own = canonical_entities(links["entity_as_given"]).eq_missing(links["entity"])
    spelt = links.select("annotation", identifiers=pl.when(own).then("entity_as_given").otherwise("entity"))
    spelt = spelt.group_by("annotation", maintain_order=True).agg("identifiers")
    classes = frames.classes.filter(~pl.col("of_entity")).unique("annotation", keep="first", maintain_order=True)
    classes = classes.select("annotation", **{"class": pl.col("class").str.strip_prefix(RMX)})
    clusters = frames.values.filter(pl.col("term") == CLUSTER).select(annotation="subject", cluster="text")
    rows = frames.annotations
    for table in (spelt, classes, clusters.unique("annotation", keep="first", maintain_order=True)):
        rows = rows.join(table, on="annotation", how="left", maintain_order="left")
    return rows.sort("document", "begin", "end", "annotation").drop("dataset", "given", "ignorable", "layer")


def lay_out(frames: Frames, names: str = r"^\S+$") -> tuple[pl.DataFrame, pl.DataFrame, tuple[Loss, ...]]:
    """Return documents and mentions as a plain format writes them, and the loss of given names that it cannot hold.

    Documents have `label`, what the file calls them, and are sorted by it; mentions are the rows of `flatten` in that
    order, with `label`, `text` and `language` of their documents. A document keeps the name that its own file gave it
    where it fits the pattern and is unique; the others are called by the last part of their IRI.
    """
    documents = frames.documents
    given = pl.col("given").fill_null(pl.col("document"))
    fits = given.str.contains(names) & given.is_unique()
    part = document_names(documents["document"])
    named = documents.select("document", given=given, label=pl.when(fits).then(given).otherwise(part))
    if not named["label"].is_unique().all():
        named = named.with_columns(label=document_iris(documents["document"], "").str.strip_prefix("/"))
    changed = named.filter(pl.col("label") != pl.col("given"))["given"]
    documents = documents.with_columns(named["label"]).sort("label")
    texts = documents.select("document", "label", "text", "language")
    rows = flatten(frames).join(texts, on="document", maintain_order="left")
    return documents, rows.sort("label", "begin", "end", "annotation"), loss_of("document-names", changed)


def gather(documents: pl.DataFrame, rows: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    """Return the documents with what their rows say together, null where they have none."""
    said = rows.group_by("document", maintain_order=True).agg(**columns)
    return documents.join(said, on="document", how="left", maintain_order="left")


def identifier_or_nil() -> pl.Expr:
    """Return the first identifier of rows of `flatten`; of NIL the name of its cluster, which begins with NIL."""
    cluster = pl.col("cluster")
    named = pl.when(cluster.str.starts_with("NIL")).then(cluster).otherwise(pl.lit("NIL-") + cluster)
    return pl.coalesce(pl.col("identifiers").list.first(), named, pl.lit("NIL"))


def drop_overlaps(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Loss, ...]]:
    """Return the rows (of `flatten`) of which none overlaps another, and those left out for that.

    Of two that overlap, that which begins first stays, or the longer one of two that begin together.
    """
    left = rows.sort("document", "begin", -pl.col("end"), "annotation", maintain_order=True)
    while True:
        reach = pl.col("end").cum_max().shift().over("document")
        begun = left.with_columns(_chain=(pl.col("begin") >= reach).fill_null(True).cum_sum().over("document"))
        chain = ["document", "_chain"]
        first = pl.int_range(pl.len()).over(chain) == 0
        clash = begun.select(~first & (pl.col("begin") < pl.col("end").first().over(chain))).to_series()
        if not clash.any():
            break
        left = left.filter(~clash)
    gone = rows.join(left, on="annotation", how="anti", maintain_order="left")["annotation"]
    return left, loss_of("overlaps", gone)
