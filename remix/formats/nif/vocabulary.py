"""The triples of a NIF file by their predicates, and the terms that have a meaning here."""

from __future__ import annotations

import polars as pl

from remix import names
from remix.rdf.terms import predicate

__all__ = ["Triples"]

BASE = "file:///"
"""What relative IRIs are resolved against where a file declares no base."""

GIVEN = predicate("givenIri", names.RMX)
TYPE = predicate("type", names.RDF)
CLASS = predicate("taClassRef", names.ITSRDF)
IDENT = predicate("taIdentRef", names.ITSRDF)
ENTITY_TYPE = predicate("entityType", names.MNT)
NAMED_INDIVIDUAL = predicate("NamedIndividual", names.OWL)
CONTEXT = predicate("referenceContext")
DOCUMENT = predicate("document", names.RMX)
IGNORABLE = predicate("ignorable", names.RMX)
NO_LINKS = [f"<{BASE}>", f"<{BASE}*>"]
"""What `<>` and `<*>` have become: they link to nothing."""
LITERALS = {
    "text": predicate("isString"),
    "begin": predicate("beginIndex"),
    "end": predicate("endIndex"),
    "anchor": predicate("anchorOf"),
    "confidence": predicate("taConfidence", names.ITSRDF),
    "group": predicate("group", names.RMX),
    "option": predicate("option", names.RMX),
}
SAME = predicate("sameAs", names.OWL)
SOURCE = predicate("sourceUrl")
BROADER = predicate("broaderContext")


class Triples:
    """The triples of a file by predicate: unit, object, in the order of the text."""

    def __init__(self, triples: pl.DataFrame) -> None:
        parts = triples.partition_by("predicate", as_dict=True, include_key=False)
        self._parts = {str(key[0]): part for key, part in parts.items()}
        self._none = triples.clear().drop("predicate")

    def of(self, term: str) -> pl.DataFrame:
        """Return unit and object of the triples with this predicate."""
        return self._parts.get(term, self._none)

    def first(self, term: str, name: str) -> pl.DataFrame:
        """Return the first object of each unit with this predicate, as a column of that name."""
        found = self.of(term).select("unit", pl.col("object").alias(name))
        return found.unique("unit", keep="first", maintain_order=True)
