"""Queries as trees: what rdflib's parser reads, in a normal form of nodes, tuples and terms as SPARQL spells them.

The normal form holds no prefixes, no spurious levels of expressions and no abbreviated triples, so two texts that
mean the same by SPARQL's grammar have equal trees. Terms are strings: `?x`, `<iri>`, `"text"@en`, `_:b`. Of a group of
patterns is told which variables a solution binds: surely (`certain`), or perhaps (`visible`).
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pyoxigraph as ox

from remix.names import PREFIXES, XSD
from remix.store.syntax import modern

Value = Any
"""A node, a tuple of values, or a term or keyword as a string."""

_LEVELS = {
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
}

MOVABLE = {"TriplesBlock", "GroupOrUnionGraphPattern", "GraphGraphPattern", "InlineData", "Filter"}
"""Elements of a group past which a triple pattern may be moved: joins commute, filters hold for the whole group."""


class NotUnderstood(Exception):
    """A part of a query that has no place in the tree; such a query is run as it is."""


@dataclass(frozen=True)
class Node:
    """One production of the grammar with its named parts."""

    kind: str
    parts: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, kind: str, **parts: Value) -> Node:
        """Return a node of these parts, those that are None left out."""
        return cls(kind, tuple(sorted((key, value) for key, value in parts.items() if value is not None)))

    def get(self, key: str, default: Value = None) -> Value:
        """Return the part of that name."""
        return dict(self.parts).get(key, default)

    def but(self, **parts: Value) -> Node:
        """Return the node with some parts replaced, or removed where None."""
        return Node.of(self.kind, **{**dict(self.parts), **parts})

    def map(self, change: Any) -> Node:
        """Return the node with each of its values changed, inner ones first."""
        return replace(self, parts=tuple((key, _map(value, change)) for key, value in self.parts))


@contextlib.contextmanager
def without_memory() -> Iterator[None]:
    """Let rdflib's parser forget what it tried: Matplotlib has pyparsing remember, which takes it thrice as long."""
    from pyparsing import ParserElement

    remembered = ParserElement._packratEnabled
    ParserElement.disable_memoization()
    try:
        yield
    finally:
        if remembered:
            ParserElement.enable_packrat()


@lru_cache(maxsize=32)
def parse(text: str) -> Node:
    """Return the tree of a query; raises `NotUnderstood` where rdflib's parser or the normal form lacks something.

    >>> parse("ASK { ?s a dbo:Person }").get("where").get("part")[0].get("triples")
    (('?s', '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>', '<http://dbpedia.org/ontology/Person>'),)
    """
    from rdflib.plugins.sparql.parser import parseQuery

    with warnings.catch_warnings(), without_memory():
        warnings.simplefilter("ignore")
        try:
            prologue, query = parseQuery(text)
        except Exception as error:  # pyparsing's errors, and what rdflib's actions raise on odd literals
            at = (getattr(error, "lineno", None), getattr(error, "column", None))
            place = f" at line {at[0]}, column {at[1]}" if at[0] else ""
            raise NotUnderstood(f"it does not parse{place}") from None
    prefixes = dict(PREFIXES)
    for declared in prologue:
        if declared.name == "Base":
            raise NotUnderstood("BASE")
        prefixes[str(_raw(declared, "prefix") or "")] = str(_raw(declared, "iri"))
    try:
        node = _Reader(prefixes).value(query)
    except RecursionError:
        raise NotUnderstood("nested too deeply") from None
    assert isinstance(node, Node)
    return node


def predicates_matched(text: str) -> tuple[str, ...] | None:
    """Return the IRIs of the predicates whose triples alone a query can match, None where these may be any.

    They may be any where a predicate is a variable or a path, and in what has no place in the tree.

    >>> predicates_matched("ASK { ?a <urn:p> ?x FILTER NOT EXISTS { ?x <urn:q> ?y } }")
    ('urn:p', 'urn:q')
    >>> predicates_matched("ASK { ?a ?p ?x }"), predicates_matched("ASK { ?a <urn:p>* ?x }")
    (None, None)
    """
    # A predicate may be spelt otherwise, and a comment ends at CR for who answers and not for who reads here.
    if "\\u" in text.lower() or "\r" in text:
        return None
    try:
        tree = parse(modern(text))
    except NotUnderstood:
        return None
    predicates = [triple[1] for node in walk(tree) for triple in node.get("triples", ())]
    if tree.kind == "DescribeQuery" or not all(isinstance(one, str) and one.startswith("<") for one in predicates):
        return None
    return tuple(dict.fromkeys(one[1:-1] for one in predicates))


def walk(value: Value) -> Iterator[Node]:
    """Return every node below a value, and the value itself if it is one."""
    if isinstance(value, Node):
        yield value
        for _, part in value.parts:
            yield from walk(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from walk(part)


def variables(value: Value) -> Counter[str]:
    """Return how often each variable occurs in a value, whatever its scope.

    >>> variables(parse("SELECT ?s { ?s ?p ?p }").get("where"))
    Counter({'?p': 2, '?s': 1})
    """
    if isinstance(value, str):
        return Counter([value] if value.startswith("?") else [])
    parts = [part for _, part in value.parts] if isinstance(value, Node) else value
    return sum(map(variables, parts), start=Counter())


def certain(parts: Sequence[Node]) -> set[str]:
    """Return the variables that every solution of these elements of a group binds (perhaps not all of them)."""
    found: set[str] = set()
    for part in parts:
        if part.kind == "TriplesBlock":
            found |= _ends(part)
        elif part.kind == "GroupOrUnionGraphPattern":
            found |= set.intersection(*(_of_group(group) for group in part.get("graph")))
        elif part.kind == "GraphGraphPattern":
            found |= _of_group(part.get("graph")) | _variable(part.get("term"))
        elif part.kind == "ServiceGraphPattern" and not part.get("silent"):
            found |= _of_group(part.get("graph"))
        elif part.kind == "InlineData":
            found |= _list_values(part)
        elif part.kind == "Bind" and isinstance(part.get("expr"), str):
            source = part.get("expr")
            if not source.startswith("?") or source in found:
                found.add(part.get("var"))
    return found


def visible(parts: Sequence[Node]) -> set[str]:
    """Return the variables that some solution of these elements of a group may bind."""
    found: set[str] = set()
    for part in parts:
        if part.kind == "TriplesBlock":
            found |= _ends(part)
        elif part.kind == "InlineData":
            found |= set(part.get("var", ()))
        elif part.kind == "Bind":
            found.add(part.get("var"))
        elif part.kind not in ("Filter", "MinusGraphPattern"):
            groups = part.get("graph")
            for group in groups if isinstance(groups, tuple) else (groups,):
                found |= _list_seen(group)
            found |= _variable(part.get("term"))
    return found


def subjects(parts: Sequence[Node]) -> set[str]:
    """Return the variables that stand as the subject of a triple that must exist.

    A path of length zero needs no triple, and an inverse one needs it elsewhere, so only plain predicates count.
    """
    return {
        triple[0]
        for part in parts
        if part.kind == "TriplesBlock"
        for triple in part.get("triples")
        if isinstance(triple[1], str) and triple[0].startswith("?")
    }


def _map(value: Value, change: Any) -> Value:
    if isinstance(value, tuple):
        return tuple(_map(part, change) for part in value)
    return change(value.map(change)) if isinstance(value, Node) else value


def _raw(node: Any, key: str) -> Any:
    """Return a part of rdflib's node as parsed; its own access would evaluate it."""
    return dict.get(node, key)


class _Reader:
    """Turns rdflib's parse results into the normal form."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = prefixes

    def value(self, raw: Any) -> Value:
        """Return one of rdflib's results, with all that is in it, in the normal form."""
        from rdflib import BNode, Literal, URIRef, Variable
        from rdflib.plugins.sparql.parserutils import CompValue

        if isinstance(raw, CompValue):
            return self._node(raw)
        if isinstance(raw, Variable):
            return f"?{raw}"
        if isinstance(raw, URIRef):
            return self._iri(str(raw))
        if isinstance(raw, BNode):
            return f"_:{raw}"
        if isinstance(raw, Literal):
            return _spell(ox.Literal(str(raw), datatype=ox.NamedNode(str(raw.datatype)) if raw.datatype else None))
        if isinstance(raw, str):
            return raw
        return tuple(self.value(item) for item in raw)

    def _iri(self, iri: str) -> str:
        try:
            return str(ox.NamedNode(iri))
        except ValueError:
            raise NotUnderstood(f"relative IRI <{iri}>") from None

    def _node(self, raw: Any) -> Value:
        kind = str(raw.name)
        if kind == "pname":
            prefix, local = str(_raw(raw, "prefix") or ""), str(_raw(raw, "localname") or "")
            if prefix not in self.prefixes:
                raise NotUnderstood(f"prefix {prefix}:")
            return self._iri(self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local))
        if kind == "literal":
            return self._literal(raw)
        if kind in _LEVELS and _raw(raw, "other") is None:
            return self.value(_raw(raw, "expr"))
        if kind in ("PathAlternative", "PathSequence") and len(_raw(raw, "part")) == 1:
            return self.value(_raw(raw, "part")[0])
        if kind == "PathElt" and _raw(raw, "mod") is None:
            return self.value(_raw(raw, "part"))
        if kind == "InversePath":  # rdflib's parser drops the IRI here
            raise NotUnderstood("an inverse in a negated property set")
        parts = {key: self.value(_raw(raw, key)) for key in raw}
        if kind == "GroupAs" and "var" not in parts:
            return parts["expr"]
        parts.pop("service_string", None)
        if parts.get("distinct") == ():
            del parts["distinct"]
        if "triples" in parts:
            parts["triples"] = _triples(parts["triples"])
        if "template" in parts:
            parts["template"] = _triples(parts["template"])
        if kind == "GroupGraphPatternSub":
            parts["part"] = _merge(parts.get("part", ()))
        return Node.of(kind, **parts)

    def _literal(self, raw: Any) -> str:
        text, language, datatype = str(_raw(raw, "string")), _raw(raw, "lang"), _raw(raw, "datatype")
        try:
            if language:
                return str(ox.Literal(text, language=str(language)))
            kind = ox.NamedNode(self.value(datatype)[1:-1]) if datatype else None
            return _spell(ox.Literal(text, datatype=kind))
        except ValueError:
            raise NotUnderstood(f"literal {text}") from None


def _spell(literal: ox.Literal) -> str:
    """Return a literal as SPARQL spells it, plain numbers without their datatype."""
    if literal.datatype.value == XSD + "double" and "inf" in literal.value.lower():
        raise NotUnderstood("a number that is too large")  # rdflib rounds it to infinity
    plain = {XSD + "integer": r"\d+", XSD + "decimal": r"\d+\.\d+"}.get(literal.datatype.value)
    return literal.value if plain and re.fullmatch(plain, literal.value, re.ASCII) else str(literal)


def _triples(lists: tuple[tuple[Value, ...], ...]) -> tuple[tuple[Value, Value, Value], ...]:
    flat = [item for terms in lists for item in terms]
    if len(flat) % 3:
        raise NotUnderstood("triples")
    return tuple(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


def _merge(parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the elements of a group with neighbouring blocks of triples as one, empty ones left out."""
    merged: list[Node] = []
    for part in parts:
        if part.kind == "TriplesBlock" and not part.get("triples"):
            continue
        if part.kind == "TriplesBlock" and merged and merged[-1].kind == "TriplesBlock":
            merged[-1] = merged[-1].but(triples=merged[-1].get("triples") + part.get("triples"))
        else:
            merged.append(part)
    return tuple(merged)


def _ends(block: Node) -> set[str]:
    return {
        term for triple in block.get("triples") for term in triple if isinstance(term, str) and term.startswith("?")
    }


def _variable(term: Value) -> set[str]:
    return {term} if isinstance(term, str) and term.startswith("?") else set()


def _list_values(data: Node) -> set[str]:
    names, rows = data.get("var", ()), data.get("value", ())
    if rows and not isinstance(rows[0], tuple):
        rows = tuple((row,) for row in rows)
    return {name for at, name in enumerate(names) if all(row[at] != "UNDEF" for row in rows)}


def _of_group(group: Node) -> set[str]:
    if group.kind != "SubSelect":
        return certain(group.get("part", ()))
    inner = _of_group(group.get("where"))
    projection = group.get("projection")
    if projection is None:
        return inner
    found = {one.get("var") for one in projection if one.get("var") in inner}
    for one in projection:
        expression = one.get("expr")
        counts = isinstance(expression, Node) and expression.kind == "Aggregate_Count"
        if counts or (isinstance(expression, str) and (expression in inner or not expression.startswith("?"))):
            found.add(one.get("evar"))
    return found


def _list_seen(group: Node) -> set[str]:
    if group.kind != "SubSelect":
        return visible(group.get("part", ()))
    projection = group.get("projection")
    if projection is None:
        return _list_seen(group.get("where"))
    return {one.get("var") or one.get("evar") for one in projection}
