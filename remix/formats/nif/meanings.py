"""What the annotations of a NIF file mean: their links and classes, as given and in canonical form."""

from __future__ import annotations

import polars as pl

from remix.formats.mends import Mends
from remix.formats.nif.vocabulary import CLASS, ENTITY_TYPE, IDENT, NAMED_INDIVIDUAL, NO_LINKS, SAME, TYPE, Triples
from remix.iris import canonical, is_nil
from remix.rdf.iris import plain_entity
from remix.rdf.terms import iri, literal

__all__ = ["classes_of", "links_of", "of_annotations"]

_KNOWN_KB = r"^http://(?:(?:[a-z-]+\.)?dbpedia\.org/resource/|www\.wikidata\.org/entity/)"
_FOLDER = r"^([A-Za-z][A-Za-z0-9+.-]*://[^?#]*/)"


def links_of(triples: Triples, subjects: pl.DataFrame, annotations: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return unit, entity, entity_as_given, nil: a link may be followed through a resource of the file."""
    rows = triples.of(IDENT).filter(~pl.col("object").str.starts_with("_:"))
    empty = rows.filter(pl.col("object").is_in(NO_LINKS)).height
    mends.add("invalid-iri", "a link to <> or <*> links to nothing", empty)
    rows = rows.filter(~pl.col("object").is_in(NO_LINKS)).join(
        annotations.select("unit", "home"), on="unit", how="inner", maintain_order="left"
    )
    said = pl.coalesce(iri(pl.col("object")), literal(pl.col("object")))
    links = rows.select("unit", "home", entity_as_given=plain_entity(said)).unique(maintain_order=True)
    links = links.with_columns(entity=canonical(links["entity_as_given"]))
    links = links.with_columns(known=pl.col("entity").str.contains(_KNOWN_KB))
    followed = links.join(_same(triples, subjects), on="entity_as_given", how="left", maintain_order="left")
    entity = pl.when(pl.col("known")).then("entity").otherwise(pl.coalesce("same", "entity"))
    followed = followed.with_columns(entity=entity, local=~pl.col("known") & pl.col("same").is_null() & _beside())
    nil = is_nil(pl.col("entity_as_given")) | is_nil(pl.col("entity")) | pl.col("local").fill_null(False)
    return followed.with_columns(nil=nil).unique(["unit", "entity"], keep="first", maintain_order=True)


def _beside() -> pl.Expr:
    """Return whether a link goes to the folder of the text itself: to a resource of the file's own making."""
    return pl.col("entity_as_given").str.extract(_FOLDER, 1) == pl.col("home").str.extract(_FOLDER, 1)


def _same(triples: Triples, subjects: pl.DataFrame) -> pl.DataFrame:
    """Return where the resources of the file are the same as one elsewhere: entity_as_given, same."""
    rows = triples.of(SAME).join(subjects, on="unit", maintain_order="left")
    same = rows.select(entity_as_given=iri(pl.col("subject")), same=iri(pl.col("object"))).drop_nulls()
    return same.with_columns(canonical(same["same"]))


def of_annotations(rows: pl.DataFrame, annotations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (`unit` and others) with the annotation that the unit is; those of no annotation are left out."""
    return rows.join(annotations.select("unit", "annotation"), on="unit", how="inner", maintain_order="left")


def classes_of(triples: Triples, subjects: pl.DataFrame, annotations: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return annotation, class, of_entity: what the file says of the mention, and of the resource it links to."""
    rows = triples.of(CLASS)
    empty = rows.filter(pl.col("object").is_in(NO_LINKS)).height
    mends.add("invalid-iri", "a class <> or <*> is none", empty)
    own = rows.with_columns(of_entity=pl.lit(False))
    types = pl.concat([triples.of(TYPE), triples.of(ENTITY_TYPE)]).filter(pl.col("object") != NAMED_INDIVIDUAL)
    known = types.join(subjects, on="unit").select("subject", type="object").unique(maintain_order=True)
    linked = triples.of(IDENT).join(known, left_on="object", right_on="subject", maintain_order="left")
    entity = linked.select("unit", object="type", of_entity=pl.lit(True))
    both = pl.concat([own, entity]).filter(~pl.col("object").is_in(NO_LINKS) & pl.col("object").str.starts_with("<"))
    named = of_annotations(both, annotations).select("annotation", iri(pl.col("object")).alias("class"), "of_entity")
    return named.unique(["annotation", "class"], keep="first", maintain_order=True)
