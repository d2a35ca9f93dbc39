"""RDF terms in SPARQL: a user's value as an escaped term of the kind of another, and terms as plain values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pyoxigraph as ox

from remix.errors import UsageError
from remix.names import PREFIXES, XSD

__all__ = ["number_term", "plain", "term_like"]

_INTEGERS = {
    XSD + name for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger")
}
_NUMBERS = {XSD + name for name in ("decimal", "double", "float")}


def term_like(default: str, value: object, name: str, declared: Mapping[str, str] | None = None) -> str:
    """Return a value as a SPARQL term of the kind that the default, a term as SPARQL spells it, has.

    >>> term_like("3", "64", "n"), term_like("0.5", 1e-5, "x"), term_like("dbo:Person", "dbo:Place", "class")
    ('64', '"1e-05"^^<http://www.w3.org/2001/XMLSchema#double>', '<http://dbpedia.org/ontology/Place>')

    Raises `UsageError` for a value of another kind.
    """
    prefixes = {**PREFIXES, **(declared or {})}
    like = _parse(default, prefixes)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(like, ox.NamedNode):
        return str(_iri(text.strip(), name, prefixes))
    kind = like.datatype.value if isinstance(like, ox.Literal) else XSD + "string"
    # A bound whose default is a count or a percentile may be a fraction on another scale.
    if kind in _INTEGERS | _NUMBERS:
        return _number(text, name, default)
    if kind == XSD + "boolean":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"parameter '{name}' takes true or false, not '{text}'")
        return text.lower()
    if isinstance(like, ox.Literal) and like.language:
        return str(ox.Literal(text, language=like.language))
    return str(ox.Literal(text, datatype=ox.NamedNode(kind)))


def plain(term: object) -> str | int | float | bool | None:
    """Return a term as a plain value: an IRI as text, a number as a number, null for an unbound one.

    >>> plain(ox.Literal(3)), plain(ox.NamedNode("urn:a")), plain(ox.Literal("x", language="en"))
    (3, 'urn:a', 'x')
    """
    if isinstance(term, ox.Literal):
        kind = term.datatype.value
        try:
            if kind in _INTEGERS:
                return int(term.value)
            if kind in _NUMBERS:
                return float(term.value)
        except ValueError:
            return term.value
        return term.value == "true" if kind == XSD + "boolean" else term.value
    if isinstance(term, ox.NamedNode):
        return term.value
    return None if term is None else str(term)


def number_term(text: str) -> str:
    """Return a number or truth value that SPARQL lets stand alone as N-Triples has it.

    >>> number_term("3")
    '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    return str(_parse(text, {}))


def _parse(default: str, prefixes: Mapping[str, str]) -> ox.NamedNode | ox.Literal | None:
    """Return the first term of a default; None where it is empty or cannot be read, which means a string."""
    try:
        answer = ox.Store().query(f"SELECT ?x {{ VALUES ?x {{ {default} \n}} }}", prefixes=dict(prefixes))
        assert isinstance(answer, ox.QuerySolutions)
        term = next(iter(answer))[0]
    except (SyntaxError, StopIteration):
        return None
    return term if isinstance(term, ox.NamedNode | ox.Literal) else None


def _iri(text: str, name: str, prefixes: Mapping[str, str]) -> ox.NamedNode:
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    prefix, colon, local = text.partition(":")
    if colon and prefix in prefixes and not local.startswith("//"):
        text = prefixes[prefix] + local
    try:
        if not colon:
            raise ValueError("no colon")
        return ox.NamedNode(text)
    except ValueError:
        raise UsageError(
            f"parameter '{name}' takes an IRI, in full or with a known prefix such as dbo:Person, not '{text}'"
        ) from None


def _number(text: str, name: str, default: str) -> str:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"parameter '{name}' takes a number such as {default}, not '{text}'")
    if re.fullmatch(r"[+-]?\d+(\.\d+)?", text.strip(), re.ASCII):
        return text.strip().removeprefix("+")
    return str(ox.Literal(text.strip(), datatype=ox.NamedNode(XSD + "double")))
