"""Which text the triples of a file are about, told from each subject's own triples."""

from __future__ import annotations

import polars as pl

from remix import names
from remix.formats.identifiers import document_names
from remix.formats.nif.vocabulary import (
    BROADER,
    CLASS,
    CONTEXT,
    DOCUMENT,
    ENTITY_TYPE,
    GIVEN,
    IDENT,
    IGNORABLE,
    LITERALS,
    SAME,
    SOURCE,
    TYPE,
)
from remix.rdf.terms import iri, predicate

__all__ = ["homes", "kept"]

_STRING = predicate("isString")
_TEXT = f"<{names.NIF}Context>"
_KEPT = [
    BROADER,
    CLASS,
    CONTEXT,
    DOCUMENT,
    ENTITY_TYPE,
    GIVEN,
    IGNORABLE,
    SAME,
    SOURCE,
    TYPE,
    IDENT,
    *LITERALS.values(),
]


def kept(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples that frames are made of."""
    return triples.filter(pl.col("predicate").is_in(_KEPT))


def homes(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples with `home`, the text that they are about, and the `name` of that document.

    An annotation is about its nif:referenceContext (or rmx:document), a text about itself; what is neither has none.
    A text that is part of another stands with its name also at the other, which is told by it to be no document.
    """
    numbered = triples.with_columns(run=pl.col("subject").rle_id())
    refers = numbered.filter(pl.col("predicate").is_in([CONTEXT, DOCUMENT])).select("run", home="object")
    is_text = (pl.col("predicate") == _STRING) | ((pl.col("predicate") == TYPE) & (pl.col("object") == _TEXT))
    texts = numbered.filter(is_text).select("run", home="subject")
    # A text may refer to itself.
    found = pl.concat([texts, refers]).unique("run", keep="first", maintain_order=True)
    homed = numbered.join(found, on="run", how="left", maintain_order="left").drop("run")
    wholes = homed.filter(pl.col("predicate") == BROADER).with_columns(home="object")
    named = pl.concat([homed, wholes]) if wholes.height else homed
    every = named.select("home").drop_nulls().unique(maintain_order=True)
    given = every.select(pl.coalesce(iri(pl.col("home")), "home")).to_series()
    # `a-2` may be the name that the second `a` gets.
    every = every.with_columns(name=document_names(given).str.replace(r"(?:-[0-9]+)+$", ""))
    return named.join(every, on="home", how="left", maintain_order="left")
