"""Which variables of a group of graph patterns a solution binds: surely, or perhaps."""

from __future__ import annotations

from collections.abc import Sequence

from remix.store.tree import Node, Value

__all__ = ["MOVABLE", "certain", "subjects", "visible"]

MOVABLE = {"TriplesBlock", "GroupOrUnionGraphPattern", "GraphGraphPattern", "InlineData", "Filter"}
"""Elements of a group past which a triple pattern may be moved: joins commute, filters hold for the whole group."""


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
