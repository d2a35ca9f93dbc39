"""Terms of N-Triples as polars expressions: what an IRI or literal says, and how it is written."""

from __future__ import annotations

from urllib.parse import quote, unquote

import polars as pl

from remix import names

__all__ = [
    "NIF",
    "IDENT",
    "entity_iri",
    "escaped",
    "integer",
    "iri",
    "iri_term",
    "language",
    "literal",
    "number_term",
    "plain_entity",
    "predicate",
    "unescaped",
]

NIF = names.NIF
IDENT = f"<{names.ITSRDF}taIdentRef>"

PLAIN = "urn:remix:entity:"
"""Where entities stand in RDF that are no IRIs: identifiers of files in other formats."""

_ABSOLUTE = r"^[A-Za-z][A-Za-z0-9+.-]*:"
_ILLEGAL = (
    r"[\x00-\x20<>\"{}|^`\\\x7F-\x9F\x{E000}-\x{F8FF}\x{FDD0}-\x{FDEF}\x{FFF0}-\x{FFFF}\x{E0000}-\x{10FFFF}]"
    r"|[\x{1FFFE}\x{1FFFF}\x{2FFFE}\x{2FFFF}\x{3FFFE}\x{3FFFF}]"
)
"""What no IRI may hold (RFC 3987, `ucschar`)."""

_LITERAL = r'^"(?s:(.*))"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?$'
# Control characters are written as \uXXXX, but for the five with a letter of their own.
_LETTERS = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_CONTROLS = {chr(c): f"\\u{c:04X}" for c in [*range(32), 127] if chr(c) not in _LETTERS}
_ESCAPES = _LETTERS | _CONTROLS


def predicate(local: str, namespace: str = names.NIF) -> str:
    """Return the term of a predicate.

    >>> predicate("isString")
    '<http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#isString>'
    """
    return f"<{namespace}{local}>"


def iri(term: pl.Expr) -> pl.Expr:
    """Return the IRI that a term is, null for literals and blank nodes."""
    return pl.when(term.str.starts_with("<")).then(term.str.slice(1, term.str.len_chars() - 2))


def iri_term(value: pl.Expr) -> pl.Expr:
    """Return the term that an IRI is written as."""
    return pl.concat_str(pl.lit("<"), value, pl.lit(">"))


def literal(term: pl.Expr) -> pl.Expr:
    """Return the text of a literal, without quotes and escapes; null for what is no literal."""
    return unescaped(term.str.extract(_LITERAL, 1))


def unescaped(text: pl.Expr) -> pl.Expr:
    """Return the text that an escaped text stands for."""
    return (
        pl.when(text.str.contains("\\", literal=True))
        .then(text.str.replace_many(list(_ESCAPES.values()), list(_ESCAPES)))
        .otherwise(text)
    )


def escaped(text: pl.Expr) -> pl.Expr:
    """Return the text as it is written between the quotes of a literal."""
    return (
        pl.when(text.str.contains(r'[\x00-\x1F\x7F"\\]'))
        .then(text.str.replace_many(list(_ESCAPES), list(_ESCAPES.values())))
        .otherwise(text)
    )


def language(term: pl.Expr) -> pl.Expr:
    """Return the language tag of a literal in lower case, null where it has none."""
    return term.str.extract(r'"@([A-Za-z0-9-]+)$', 1).str.to_lowercase()


def integer(term: pl.Expr) -> pl.Expr:
    """Return the whole number that a literal says, whatever its datatype (also `4.0`); null where it says none."""
    return term.str.extract(r'^"\s*\+?(-?[0-9]+)(?:\.0*)?\s*"', 1).cast(pl.Int64, strict=False)


def number_term(term: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the literal term with another number in it, its datatype kept."""
    return pl.concat_str(pl.lit('"'), value.cast(pl.String), pl.lit('"'), term.str.extract(r'"([^"]*)$', 1))


def entity_iri(entity: pl.Expr) -> pl.Expr:
    """Return the IRI that stands for an entity in RDF: itself with what no IRI may hold encoded, or a URN.

    >>> rows = pl.DataFrame({"entity": ["http://x/a b", "E 5%"]})
    >>> rows.select(entity_iri(pl.col("entity")))["entity"].to_list()
    ['http://x/a%20b', 'urn:remix:entity:E%205%25']
    """
    absolute = entity.str.contains(_ABSOLUTE)
    plain = entity.str.replace_many(["%", "[", "]"], ["%25", "%5B", "%5D"])
    one = pl.when(absolute).then(entity).otherwise(pl.lit(PLAIN) + plain)
    return one.map_batches(_encoded, return_dtype=pl.String)


def _encoded(iris: pl.Series) -> pl.Series:
    odd = iris.filter(iris.str.contains(_ILLEGAL).fill_null(False)).unique().to_frame("iri")
    letters = odd["iri"].str.extract_all(_ILLEGAL).explode().unique().to_list()
    return iris.str.replace_many(letters, [quote(letter) for letter in letters]) if letters else iris


def plain_entity(iri: pl.Expr) -> pl.Expr:
    """Return the entity that an IRI stands for, the way back from `entity_iri` for what is no IRI.

    >>> rows = pl.DataFrame({"iri": ["http://x/a%20b", "urn:remix:entity:E%205%25"]})
    >>> rows.select(plain_entity(pl.col("iri")))["iri"].to_list()
    ['http://x/a%20b', 'E 5%']
    """
    return pl.when(iri.str.starts_with(PLAIN)).then(iri.map_batches(_plain, return_dtype=pl.String)).otherwise(iri)


def _plain(iris: pl.Series) -> pl.Series:
    spelt = iris.filter(iris.str.starts_with(PLAIN).fill_null(False)).unique()
    return iris.replace(spelt, pl.Series([unquote(iri.removeprefix(PLAIN)) for iri in spelt], dtype=pl.String))
