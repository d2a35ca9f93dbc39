"""Hierarchies of classes or of entities: what is above and below, from a knowledge base or from a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.names import RDFS

__all__ = ["reached", "read_subclasses"]


def read_subclasses(file: Path | str) -> pl.DataFrame:
    """Return class and parent: what an RDF file in any syntax says with rdfs:subClassOf.

    Raises `BadInput` for a file that cannot be read or says nothing of that kind.
    """
    from remix.formats.nif.parsing import parse
    from remix.formats.source import Source
    from remix.rdf.terms import iri

    rows = parse(Source(file)).triples.filter(pl.col("predicate") == f"<{RDFS}subClassOf>")
    found = rows.select(iri(pl.col("subject")).alias("class"), iri(pl.col("object")).alias("parent")).drop_nulls()
    if found.is_empty():
        raise BadInput(file, "says of no class that it is rdfs:subClassOf another")
    return found.unique().sort("class", "parent")


def reached(subclasses: pl.DataFrame | pl.LazyFrame, classes: pl.Series, *, below: bool = False) -> pl.DataFrame:
    """Return class and reached: every class above each of the classes, or below it, direct or indirect.

    >>> steps = pl.DataFrame({"class": ["cat", "mammal"], "parent": ["mammal", "animal"]})
    >>> reached(steps, pl.Series(["animal", "cat"]), below=True).rows()
    [('animal', 'cat'), ('animal', 'mammal')]
    """
    from remix.kb.networks import superclasses

    steps = subclasses.lazy().select("class", "parent")
    if below:
        steps = steps.rename({"class": "parent", "parent": "class"})
    return superclasses(steps, classes).rename({"superclass": "reached"})
