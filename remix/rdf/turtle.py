"""Turtle that is the same bytes for the same triples: sorted, prefixed, blank nodes named by their content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl
import pyoxigraph as ox

from remix.expressions import fill
from remix.names import PREFIXES, RDF, XSD
from remix.rdf.ntriples import SCHEMA, columns, serialise
from remix.rdf.parsing import parse_lines

Value = str | int | float | ox.NamedNode
Said = Mapping[str, Value | Iterable[Value] | None]
"""What is said of an IRI, by predicates."""
TERMS = tuple(SCHEMA)
# A namespace ends with the last # or /; of local names only those that need no escape are written short.
_IRI = r"^<(?<namespace>[^<>]*[#/])(?<local>[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)>$"
_XSD_LITERAL = f'"\\^\\^<{XSD}([A-Za-z]+)>$'


def state_triples(statements: Mapping[str, Said]) -> pl.DataFrame:
    """Return triples as a frame of terms: of each IRI by predicates what is said of it, one value, several or none.

    Text, numbers and IRIs are told by their type; None and an empty text alone say nothing.

    >>> state_triples({"urn:a": {"urn:p": 3, "urn:q": ["b", ""], "urn:r": None, "urn:s": ""}})["object"].to_list()
    ['"3"^^<http://www.w3.org/2001/XMLSchema#integer>', '"b"', '""']
    """
    rows = [
        (f"<{subject}>", f"<{predicate}>", _term(value))
        for subject, about in statements.items()
        for predicate, values in about.items()
        if values is not None and values != ""
        for value in ([values] if isinstance(values, Value) else values)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def iri(text: str | None) -> ox.NamedNode | None:
    """Return an IRI as a value, None where there is none."""
    return ox.NamedNode(text) if text else None


def _term(value: Value) -> str:
    if isinstance(value, float):
        return str(ox.Literal(repr(value), datatype=ox.NamedNode(f"{XSD}double")))
    return str(value if isinstance(value, ox.NamedNode) else ox.Literal(value))


def ntriples(triples: pl.DataFrame) -> bytes:
    """Return a frame of triples as N-Triples, sorted, each once.

    >>> ntriples(columns(b"<urn:b> <urn:p> <urn:c> .\\n<urn:a> <urn:p> <urn:c> .\\n"))
    b'<urn:a> <urn:p> <urn:c> .\\n<urn:b> <urn:p> <urn:c> .\\n'
    """
    return b"".join(serialise(_name_blank_nodes(triples).unique().sort(TERMS)))


def turtle(triples: pl.DataFrame, prefixes: Mapping[str, str] = PREFIXES) -> bytes:
    """Return a frame of triples as Turtle: subjects, predicates and objects sorted, only used prefixes declared.

    >>> label = b'<urn:b> <http://www.w3.org/2000/01/rdf-schema#label> "x" .'
    >>> print(turtle(columns(label)).decode())
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <BLANKLINE>
    <urn:b> rdfs:label "x" .
    """
    known = _one_a_namespace(prefixes)
    # `a` comes first among the predicates of a subject, the others as their IRIs sort.
    later = pl.col("predicate") != f"<{RDF}type>"
    rows = _name_blank_nodes(triples).unique().sort(pl.col("subject"), later, pl.col("predicate"), pl.col("object"))
    predicates = rows["predicate"].unique().to_frame("term").with_columns(short=_shorten("term", known))
    short = rows.select(
        "subject",
        pl.col("predicate").replace({**dict(predicates.iter_rows()), f"<{RDF}type>": "a"}),
        _shorten("object", known).str.replace(_XSD_LITERAL, '"^^xsd:$1'),
    )
    blocks = (
        short.group_by("subject", "predicate", maintain_order=True)
        .agg(pl.col("object").str.join(" ,\n        "))
        .group_by("subject", maintain_order=True)
        .agg(fill("{} {}", "predicate", "object").str.join(" ;\n    ").alias("body"))
        .with_columns(_shorten("subject", known))
    )
    text = blocks.select(fill("{} {} .\n", "subject", "body")).to_series()
    used = _find_used(short, blocks["subject"])
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in known.items() if name in used)
    return "\n".join([head, *text] if head else text).encode()


def _one_a_namespace(prefixes: Mapping[str, str]) -> dict[str, str]:
    """Return one prefix of each namespace, the longest, by its name; that of XSD is always `xsd`."""
    longest = {iri: name for name, iri in sorted(prefixes.items(), key=lambda item: (len(item[0]), item[0]))}
    return {name: iri for iri, name in sorted(longest.items(), key=lambda item: item[1])} | {"xsd": XSD}


def _find_used(short: pl.DataFrame, subjects: pl.Series) -> set[str]:
    """Return the prefixes that terms and datatypes begin with; other terms begin with a bracket, quote or `_`."""
    terms = pl.concat([subjects, short["predicate"].unique().rename("subject"), short["object"].rename("subject")])
    prefix = pl.coalesce(
        pl.col("subject").str.extract(r"^([A-Za-z][A-Za-z0-9]*):"),
        pl.col("subject").str.extract(r'"\^\^([a-z]+):[A-Za-z]+$'),
    )
    return set(terms.to_frame().select(prefix.unique().drop_nulls()).to_series())


def _shorten(name: str, prefixes: Mapping[str, str]) -> pl.Expr:
    """Return IRIs of a known namespace with its prefix, all other terms as they are."""
    parts = pl.col(name).str.extract_groups(_IRI)
    known = parts.struct.field("namespace").replace_strict({iri: f"{p}:" for p, iri in prefixes.items()}, default=None)
    return pl.coalesce(known + parts.struct.field("local"), pl.col(name)).alias(name)


def _name_blank_nodes(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples with blank nodes named by RDF canonicalisation, since parsers name them at random."""
    triples = triples.select(TERMS)
    blank = pl.col("subject").str.starts_with("_:") | pl.col("object").str.starts_with("_:")
    some = triples.filter(blank)
    if not some.height:
        return triples
    dataset = ox.Dataset(parse_lines(b"".join(serialise(some)), ox.RdfFormat.N_TRIPLES))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    canonical = ox.serialize(dataset, format=ox.RdfFormat.N_QUADS) or b""
    return pl.concat([triples.filter(~blank), columns(canonical)])
