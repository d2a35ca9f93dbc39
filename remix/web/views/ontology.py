"""The terms of the vocabulary with what they mean, and of measures the formula."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyoxigraph as ox

from remix.names import DCTERMS, OWL, RDF, RDFS, RMX, shorten
from remix.resources import folder
from remix.web import page

_SAID = {
    "label": f"{RDFS}label",
    "meaning": f"{RDFS}comment",
    "of": f"{RDFS}domain",
    "is": f"{RDFS}range",
    "level": f"{RMX}level",
    "average": f"{RMX}average",
    "formula": f"{RMX}formula",
    "source": f"{DCTERMS}source",
}


def list_terms() -> pl.DataFrame:
    """Return a row for each term of the ontology: term, kind, label, meaning, and what else is said of it."""
    rows: dict[str, dict[str, str]] = {}
    parsed = ox.parse((folder("ontology") / "remix.ttl").read_bytes(), format=ox.RdfFormat.TURTLE)
    for quad in parsed:
        if not isinstance(quad.subject, ox.NamedNode) or not quad.subject.value.startswith(RMX):
            continue
        row = rows.setdefault(quad.subject.value, {"term": shorten(quad.subject.value)})
        value = getattr(quad.object, "value", "")
        if quad.predicate.value == f"{RDF}type":
            row["kind"] = value.removeprefix(OWL)
        for name, predicate in _SAID.items():
            if quad.predicate.value == predicate:
                row[name] = shorten(value)
    names = ["term", "kind", *_SAID]
    return pl.DataFrame([rows[iri] for iri in sorted(rows)], schema=dict.fromkeys(names, pl.String))


def _show(work: page.Explored, parameters: Mapping[str, str]) -> page.Page:
    said = "What `remix` says in RDF beyond NIF, ITS RDF and hfts; the file is ontology/remix.ttl."
    terms = list_terms()
    terms = terms.select("term", "meaning", pl.exclude("term", "meaning"))
    small, headings = {"term": "label"}, {"of": ("is said of", ""), "is": ("its value is", "")}
    return page.Page("Ontology", [page.Note(said), page.Table("terms", terms, small=small, headings=headings)])


ontology = page.View("ontology", "Ontology", _show, menu=9, parameters=())
