"""NIF in RDF of any syntax and state of health, read, streamed and written; and its terms that have a meaning here."""

from __future__ import annotations

from remix import names
from remix.rdf.terms import predicate

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
    "layer": predicate("layer", names.RMX),
}
SAME = predicate("sameAs", names.OWL)
SOURCE = predicate("sourceUrl")
BROADER = predicate("broaderContext")
TEXT = LITERALS["text"]
INDEXES = (LITERALS["begin"], LITERALS["end"])
ANCHOR = LITERALS["anchor"]
REFERENCES = predicate("referenceDocuments", names.HFTS)
DATASET = f"<{names.HFTS}Dataset>"
