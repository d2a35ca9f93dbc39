"""What a query can speak of: terms of vocabularies, terms that are in use, and graphs, with what they mean."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import polars as pl
import pyoxigraph as ox

from remix.expressions import fill
from remix.names import ITSRDF, PREFIXES, RDF
from remix.rdf.terms import iri, literal
from remix.remixes.facets import list_facets
from remix.resources import folder
from remix.store import DatasetEntry, Store
from remix.store.index import Index
from remix.store.queries import find, shipped_queries

_LOOKED_AT = 1_000_000
"""Triples that are looked at to see which terms are in use, of all graphs together."""
_FEWEST = 2_000
"""Triples that are looked at of each graph, however many graphs there are."""
_MOST = 5_000
"""Terms in use that are told, those that are used most."""
_NAMESPACES = {namespace: prefix for prefix, namespace in PREFIXES.items()}
_LOCAL = r"^[A-Za-z_][\w-]*$"
"""The local names that need no escape after a prefix."""
_NAME = re.compile(r"(?<![\w<?$:/#-])([a-z][\w-]*):([A-Za-z_][\w-]*)")
_DEFINED = """SELECT ?term (SAMPLE(?type) AS ?kind) (SAMPLE(?said) AS ?meaning) {
  ?term a ?type . FILTER (isIRI(?term) && ?type != owl:Ontology)
  OPTIONAL { ?term rdfs:comment ?said }
} GROUP BY ?term"""
_USED = f"""SELECT ?property ?class (COUNT(*) AS ?used) {{
  PARTS
  BIND (IF(?property IN (<{RDF}type>, <{ITSRDF}taClassRef>) && isIRI(?object), ?object, "") AS ?class)
}} GROUP BY ?property ?class"""
_KINDS = {"#Class": "class", "Property": "property"}


def tell(store: Store) -> dict[str, Any]:
    """Return prefixes, terms and graphs for an editor to complete, as JSON has them; kept until the state changes.

    Each of the `terms` is its name (with a prefix, else an IRI in angle brackets), its kind, its meaning, and how often
    it is used among the triples that were looked at. `graphs` are IRIs with what they hold.
    """
    return store.cached("vocabulary", lambda: _gather(store))


@cache
def list_defined() -> pl.DataFrame:
    """Return term, kind and meaning of what vocabularies define, a row for each, terms with their prefixes.

    >>> list_defined().filter(term="nif:anchorOf").rows()
    [('nif:anchorOf', 'property', 'The text of a mention, its surface form')]
    """
    ontologies = ox.Store()
    for file in sorted(folder("ontology").glob("*.ttl")):
        ontologies.load(path=str(file), format=ox.RdfFormat.TURTLE)
    own = Index(None, ontologies).frame(_DEFINED)
    kind = pl.coalesce(
        *(pl.when(pl.col("kind").str.contains(end, literal=True)).then(pl.lit(name)) for end, name in _KINDS.items()),
        pl.lit(""),
    )
    own = own.select(_name(iri(pl.col("term"))), kind=kind, meaning=literal(pl.col("meaning")).fill_null(""))
    file = folder("ontology") / "terms.tsv"
    others = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False)
    facets = [(one.term, "property", one.meaning) for one in list_facets().values() if one.term]
    bare = re.sub(r"(?m)^\s*#.*$", "", "\n".join(find(f"{name}.rq").text for name in shipped_queries()))
    asked = sorted({(f"{prefix}:{name}", "", "") for prefix, name in _NAME.findall(bare) if prefix in PREFIXES})
    every = [own, others, *(pl.DataFrame(rows, schema=own.schema, orient="row") for rows in (facets, asked))]
    return pl.concat(every).unique("term", keep="first").sort("term")


def _name(term: pl.Expr) -> pl.Expr:
    """Return an IRI by its prefix where it has a well-known one, else in angle brackets."""
    short = (
        pl.when(term.str.starts_with(namespace) & term.str.slice(len(namespace)).str.contains(_LOCAL)).then(
            pl.lit(f"{prefix}:") + term.str.slice(len(namespace))
        )
        for namespace, prefix in _NAMESPACES.items()
    )
    return pl.coalesce(*short, fill("<{}>", term)).alias("term")


def _count_use(store: Store) -> pl.DataFrame:
    """Return term, kind and `used` of properties and classes in use; of a large graph a part is looked at.

    Oxigraph has the triples of a graph in the order of hashes of their subjects, so a part of it is as good as drawn.
    The limits bound the time of the query, which runs in this process: as a user's it would have its limits ordered.
    """
    used = pl.DataFrame(schema={"term": pl.String, "kind": pl.String, "used": pl.Int64})
    graphs = [name for entry in store.datasets() for name in entry.graphs()]
    if not graphs:
        return used
    most = max(_FEWEST, _LOOKED_AT // len(graphs))
    part = f"{{{{ SELECT ?property ?object {{{{ GRAPH <{{}}> {{{{ ?s ?property ?object }}}} }}}} LIMIT {most} }}}}"
    found = store.index().frame(_USED.replace("PARTS", " UNION ".join(part.format(name) for name in graphs)))
    count = literal(pl.col("used")).cast(pl.Int64).sum().alias("used")
    for kind in ("property", "class"):
        terms = found.group_by(term=iri(pl.col(kind))).agg(count).drop_nulls()
        used = pl.concat([used, terms.select("term", pl.lit(kind).alias("kind"), "used")])
    return used.sort("used", "term", descending=[True, False]).head(_MOST).with_columns(_name(pl.col("term")))


def _gather(store: Store) -> dict[str, Any]:
    used = _count_use(store).group_by("term").agg(pl.col("kind").first().alias("other"), pl.col("used").sum())
    terms = list_defined().join(used, on="term", how="full", coalesce=True).sort("term")
    kind = pl.coalesce(pl.col("kind").replace("", None), "other", pl.lit(""))
    rows = terms.select("term", kind, pl.col("meaning").fill_null(""), pl.col("used").fill_null(0)).rows()
    graphs = {name: said for entry in store.datasets() for name, said in _describe(entry).items()}
    return {"prefixes": PREFIXES, "terms": rows, "graphs": graphs}


def _describe(entry: DatasetEntry) -> dict[str, str]:
    """Return what the graphs of a dataset hold, by their IRIs; that of its data is the IRI of the dataset as well."""
    beside = {name: f"{name.partition('#')[2]} of {entry.name}" for name in entry.graphs() if name != entry.iri}
    return {entry.iri: f"dataset {entry.name}, {entry.documents:,} documents", **beside}
