"""Labels of entities, where the knowledge base has one that their identifiers do not say."""

from __future__ import annotations

import polars as pl

from remix.kb import KnowledgeBase
from remix.measures.classes import class_names, same_classes
from remix.measures.labels import label_of
from remix.names import shorten
from remix.vocabularies import COARSE_CLASSES, COARSE_TYPE


def label_entities(kb: KnowledgeBase | None, iris: pl.Series) -> dict[str, str]:
    """Return labels by IRI, of those whose own identifier does not say it, such as `wd:Q41370`.

    >>> label_entities(None, pl.Series(["http://www.wikidata.org/entity/Q41370"]))
    {}
    """
    asked = iris.drop_nulls().unique().cast(pl.String)
    if kb is None or asked.is_empty():
        return {}
    named = pl.DataFrame({"iri": asked, "entity": kb.resolve(asked)})
    found = kb.rows("entities", "entity", named["entity"], ["entity", "label"]).unique("entity")
    rows = named.join(found, on="entity", how="left")
    # A resource that stands for an item says by its name what that is called.
    other = pl.when(pl.col("entity") != pl.col("iri")).then(_read_name("entity"))
    told = rows.select("iri", label=pl.coalesce("label", other)).drop_nulls().sort("iri")
    return {iri: label for iri, label in told.iter_rows() if not _says(iri, label)}


def label_classes(kb: KnowledgeBase | None, iris: pl.Series) -> dict[str, str]:
    """Return labels by IRI, of classes whose own identifier does not say it: the knowledge base's, else another name.

    What a vocabulary whose names people read calls the same class is such a name, as is that of `class_names.tsv`.

    >>> label_classes(None, pl.Series(["http://www.wikidata.org/entity/Q43229", "http://dbpedia.org/ontology/Person"]))
    {'http://www.wikidata.org/entity/Q43229': 'Organisation'}
    >>> label_classes(None, pl.Series(["http://www.wikidata.org/entity/Q27096213"]))
    {'http://www.wikidata.org/entity/Q27096213': 'Geographic entity'}
    """
    asked = iris.drop_nulls().unique().cast(pl.String)
    asked = asked.filter(asked.str.contains("^https?://"))
    opaque = asked.filter(asked.str.contains(_OPAQUE)).rename("class").to_frame()
    named = opaque.join(same_classes(), on="class").filter(~pl.col("same").str.contains(_OPAQUE)).sort("class", "same")
    called = named.select("class", pl.col("same").str.extract("([^/#]+)$")).unique("class", keep="first")
    known = opaque.join(class_names(), on="class")
    return {**dict(called.iter_rows()), **dict(known.sort("class").iter_rows()), **label_entities(kb, asked)}


def label_parts(kb: KnowledgeBase | None, parts: pl.Series, column: str) -> dict[str, str]:
    """Return labels of the parts of a column: those of classes, and of the coarse types the names that filters have.

    >>> label_parts(None, pl.Series(["http://dbpedia.org/ontology/Person", "unspecified"]), "type:coarse")
    {'http://dbpedia.org/ontology/Person': 'Person'}
    """
    found = label_classes(kb, parts)
    if column == COARSE_TYPE:
        there = {*parts}
        found |= {iri: name.capitalize() for name, iri in COARSE_CLASSES.items() if iri in there}
    return found


def label_flags(column: str) -> dict[str, str]:
    """Return what people call the two parts of a flag, which say of themselves not of which column they are.

    >>> label_flags("is_nil")["true"]
    'NIL or not: true'
    """
    return {part: f"{label_of(column).words}: {part}" for part in ("true", "false")}


_OPAQUE = "[/#][A-Z][0-9]+$"
"""How identifiers end that say nothing to people."""


def _read_name(column: str) -> pl.Expr:
    return pl.col(column).str.extract(r"dbpedia\.org/resource/(.+)$").str.replace_all("_", " ", literal=True)


def _says(iri: str, label: str) -> bool:
    """Return whether the identifier says the label itself."""
    return label.replace(" ", "_").lower() in shorten(iri).lower()
