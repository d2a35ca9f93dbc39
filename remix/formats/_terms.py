"""Terms of N-Triples as polars expressions: what an IRI or literal says, and how it is written."""

from __future__ import annotations

import polars as pl

from remix import names

__all__ = [
    "NIF",
    "IDENT",
    "escaped",
    "integer",
    "iri",
    "iri_term",
    "language",
    "literal",
    "number_term",
    "predicate",
    "unescaped",
]

NIF = names.NIF
IDENT = f"<{names.ITSRDF}taIdentRef>"

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
