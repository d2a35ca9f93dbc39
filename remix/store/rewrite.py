"""CONSTRUCT queries in the papers' shape, without the product that they make.

`CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo } WHERE { ?d ?dp ?do . ?m ?mp ?mo . … }` joins every triple of a document with
every triple of each of its annotations, only to list both. A pattern whose predicate and object serve the template
alone, an *open* pattern, says no more about the selection than that its subject has a triple. So the selection is
run without the open patterns, once, and the triples of the subjects that it found are looked up. The set of triples
is the same:

- Taking a pattern out of a group is a semijoin on its subject, which commutes with what follows it in the group as
  long as every solution binds the subject at that place; where that is not sure, the query is run as it is.
- Where nothing else in the group says that a subject has a triple, a `FILTER EXISTS` does.
- Template triples that are not open are made from the same solutions.

Of a sub-select that takes the first few IRIs, `{ SELECT DISTINCT ?d { … } ORDER BY ?d LIMIT 1000 }`, all are asked for
and the first taken here: Oxigraph looks both IRIs up again whenever it compares two.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
import pyoxigraph as ox

from remix.expressions import fill
from remix.store.index import Index
from remix.store.serialise import text_of
from remix.store.syntax import modern, tokens
from remix.store.tree import MOVABLE, Node, NotUnderstood, certain, parse, subjects, variables, visible

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class First:
    """A sub-select that takes some of the IRIs that a variable has, in their order.

    `every` asks for them all; `selection` is the query with `_FIRST` in the place of those that are taken.
    """

    every: str
    selection: str
    offset: int
    limit: int


_FIRST = "<urn:remix:first>"
_MOST = 10_000
"""Of so many IRIs at most the query is given a list."""


@dataclass(frozen=True)
class Plan:
    """How a query is run.

    `text` gives the result as it stands. `selection`, where not null, is a SELECT whose solutions give the same
    triples: those of the `open` variables' values, and the `closed` template triples made of them. `unchecked` is the
    same without the conditions that the `checked` variables are subjects of a triple, which the triples themselves
    tell; `first`, where not null, is a sub-select in it whose rows are taken before. `unbound` maps each template
    variable that the pattern never binds to the nearest bound one; `notes` are for the user.
    """

    text: str
    selection: str | None = None
    unchecked: str = ""
    checked: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    closed: tuple[Triple, ...] = ()
    first: First | None = None
    unbound: dict[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tree: Node | None = None
    reason: str = ""


def plan(text: str) -> Plan:
    """Return how to run a query; one that is no CONSTRUCT, or not of the shape, is run as it is.

    >>> print(plan("CONSTRUCT { ?d ?p ?o } WHERE { ?d <urn:in> <urn:corpus> ; ?p ?o }").selection)
    SELECT DISTINCT ?d
    WHERE {
      ?d <urn:in> <urn:corpus> .
    }
    """
    text = modern(text)
    try:
        tree, notes = with_order(parse(text))
        if notes:
            text = text_of(tree)
    except NotUnderstood as error:
        return Plan(text, reason=str(error))
    if tree.kind != "ConstructQuery" or not tree.get("template"):
        return Plan(text, notes=notes, tree=tree, reason="no CONSTRUCT with a template")
    how = Plan(text, unbound=_unbound(tree), notes=notes, tree=tree)
    try:
        return _without_open_patterns(how, tree)
    except NotUnderstood as error:
        return replace(how, reason=str(error))


def construct(index: Index, how: Plan, name: str = "the query") -> list[bytes]:
    """Return the triples of a CONSTRUCT or DESCRIBE as sorted lines of N-Triples, each once."""
    if how.selection is None:
        return sorted(index.triples(how.text, name))
    found = _solutions(index, how, name)
    held = index.about(_subjects(found, how.open))
    if how.checked:
        subjects = held["subject"].unique().implode()
        left = found.filter(pl.col(one[1:]).is_in(subjects) for one in how.checked)
        if left.height < found.height:
            found, kept = left, _subjects(left, how.open)
            held = held.filter(pl.col("subject").is_in(kept.implode()))
    lines = pl.concat([held["line"], fill_template(found, how.closed)]).sort()
    return lines.filter(lines.ne_missing(lines.shift())).cast(pl.Binary).to_list()


def _solutions(index: Index, how: Plan, name: str) -> pl.DataFrame:
    """Return the solutions of the selection, all of the variables that are checked among them."""
    if how.first is not None:
        every = index.frame(how.first.every, name).to_series()
        if every.str.contains("^<[^<]").fill_null(False).all():  # which have an order of their own among other terms
            taken = every.str.strip_suffix(">").sort().slice(how.first.offset, how.first.limit)  # a < ab, but a> > ab>
            return index.frame(how.first.selection.replace(_FIRST, "".join(f"{iri}>" for iri in taken)), name)
    return index.frame(how.unchecked, name)


def _subjects(found: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """Return the different values of variables."""
    every = [pl.Series("subject", [], dtype=pl.String), *(found[one[1:]].alias("subject") for one in names)]
    return pl.concat(every).drop_nulls().unique(maintain_order=True)


def with_variables(text: str, unbound: dict[str, str | None]) -> str:
    """Return a query with each template variable that is never bound replaced by the nearest bound one.

    >>> with_variables("CONSTRUCT { ?s ?prediacte ?o } WHERE { ?s ?predicate ?o }", {"?prediacte": "?predicate"})
    'CONSTRUCT { ?s ?predicate ?o } WHERE { ?s ?predicate ?o }'
    """
    names = {old[1:]: new[1:] for old, new in unbound.items() if new}
    return "".join(
        token[0] + names.get(token[1:], token[1:]) if kind == "variable" else token for kind, token in tokens(text)
    )


def with_order(tree: Node) -> tuple[Node, tuple[str, ...]]:
    """Return the query with each sub-select that has a LIMIT but no ORDER BY ordered by what it projects, and notes.

    Without an order a store may take any rows, and other ones the next time.
    """
    notes: list[str] = []

    def order(node: Node) -> Node:
        """Return a node, ordered where it is a sub-select that is limited and not ordered."""
        if node.kind != "SubSelect" or not node.get("limitoffset") or node.get("orderby"):
            return node
        names = [one.get("var") or one.get("evar") for one in node.get("projection", ())]
        names = names or sorted(visible(node.get("where").get("part", ())))
        conditions = tuple(Node.of("OrderCondition", expr=name) for name in names)
        number = node.get("limitoffset").get("limit")
        what = f"LIMIT {number}" if number else "OFFSET"
        notes.append(f"a sub-select has {what} but no ORDER BY: it is ordered by {', '.join(names)}")
        return node.but(orderby=Node.of("OrderClause", condition=conditions))

    ordered = order(tree.map(order))
    return ordered, tuple(notes)


def _unbound(tree: Node) -> dict[str, str | None]:
    """Return the template variables that the pattern never binds, each with the nearest one that it does."""
    bound = visible(tree.get("where").get("part", ()))
    used = variables(tree.get("template"))
    missing = [name for name in used if name not in bound]
    # The variable that was meant is most likely one that the template does not use yet.
    spare = sorted(bound - set(used)) or sorted(bound)
    return {name: next(iter(difflib.get_close_matches(name, spare, n=1, cutoff=0.6)), None) for name in missing}


def _without_open_patterns(how: Plan, tree: Node) -> Plan:
    """Return the plan with the selection of a CONSTRUCT; raises `NotUnderstood` for one of another shape."""
    if any(tree.get(part) for part in ("limitoffset", "having", "groupby", "valuesClause", "datasetClause")):
        raise NotUnderstood("the query as a whole has a LIMIT, a GROUP BY, VALUES or FROM")
    if any(isinstance(term, str) and term.startswith("_:") for triple in tree.get("template") for term in triple):
        raise NotUnderstood("a blank node in the template is another one for each solution")
    # A template triple with a variable that is never bound makes nothing.
    template = [triple for triple in tree.get("template") if not how.unbound.keys() & variables(triple)]
    where = tree.get("where")
    if where.kind == "SubSelect":
        raise NotUnderstood("the pattern is one sub-select")
    opened, parts = _split(list(where.get("part", ())), template)
    if not opened:
        raise NotUnderstood("no pattern serves the template alone")
    closed = [triple for triple in template if triple not in opened]
    subject_names = [triple[0] for triple in template if triple in opened]
    names = list(dict.fromkeys([*subject_names, *(n for triple in closed for n in variables(triple))]))
    if not names:
        raise NotUnderstood("nothing is left of the template")
    held = subjects(parts)
    loose = [triple for triple in opened if triple[0] not in held]
    wanted = tuple(Node.of("vars", var=name) for name in names)

    def selecting(checked: list[Triple], parts: Sequence[Node] = parts) -> str:
        groups = [_group((Node.of("TriplesBlock", triples=(triple,)),)) for triple in checked]
        exists = [Node.of("Filter", expr=Node.of("Builtin_EXISTS", graph=group)) for group in groups]
        where = _group((*parts, *exists))
        return text_of(Node.of("SelectQuery", modifier="DISTINCT", projection=wanted, where=where))

    unchecked = [triple for triple in loose if triple not in template]
    return replace(
        how,
        selection=selecting(loose),
        unchecked=selecting(unchecked),
        first=next(
            (one for at in range(len(parts)) if (one := _first(parts, at, lambda left: selecting(unchecked, left)))),
            None,
        ),
        checked=tuple(dict.fromkeys(triple[0] for triple in loose if triple in template)),
        open=tuple(dict.fromkeys(subject_names)),
        closed=tuple(closed),
    )


def _first(parts: Sequence[Node], at: int, selecting: Callable[[Sequence[Node]], str]) -> First | None:
    """Return the element of a group at a place as a sub-select of the first IRIs, where it is one."""
    graph: Sequence[Node] = parts[at].get("graph") if parts[at].kind == "GroupOrUnionGraphPattern" else ()
    if len(graph) != 1 or graph[0].kind != "SubSelect" or not (cut := graph[0].get("limitoffset")):
        return None
    query = graph[0]
    names = [one.get("var") for one in query.get("projection", ())]
    order = Node.of("OrderClause", condition=(Node.of("OrderCondition", expr=names[0] if names else ""),))
    limit, others = int(cut.get("limit") or _MOST + 1), ("groupby", "having", "valuesClause")
    if len(names) != 1 or not names[0] or query.get("modifier") != "DISTINCT" or query.get("orderby") != order:
        return None
    if limit > _MOST or any(query.get(one) for one in others):
        return None
    every = Node("SelectQuery", query.but(orderby=None, limitoffset=None).parts)
    values = Node.of("InlineData", var=(names[0],), value=(_FIRST,))
    left = [values if place == at else part for place, part in enumerate(parts)]
    return First(text_of(every), selecting(left), int(cut.get("offset") or 0), limit)


def _split(parts: list[Node], template: Sequence[Triple]) -> tuple[list[Triple], list[Node]]:
    """Return the open patterns of a group, and its elements without them."""
    counts = sum((variables(part) for part in parts), start=variables(()))
    uses = sum((variables(triple) for triple in dict.fromkeys(template)), start=variables(()))

    def has_shape(triple: Triple) -> bool:
        subject, predicate, value = triple
        if not all(isinstance(term, str) and term.startswith("?") for term in triple) or len(set(triple)) < 3:
            return False
        alone = counts[predicate] == 1 and counts[value] == 1
        served = 1 if triple in template else 0
        return alone and uses[predicate] == served and uses[value] == served

    candidates = {
        triple for part in parts if part.kind == "TriplesBlock" for triple in part.get("triples") if has_shape(triple)
    }
    opened: list[Triple] = []
    for at, part in enumerate(parts):
        if part.kind == "TriplesBlock":
            end = next((n for n in range(at, len(parts)) if parts[n].kind not in MOVABLE), len(parts))
            bound = certain([_close(other, candidates) for other in parts[:end]])
            opened += [triple for triple in part.get("triples") if triple in candidates and triple[0] in bound]
    return opened, [rest for part in parts if (rest := _close(part, set(opened))).get("triples", True)]


def _close(part: Node, opened: set[Triple]) -> Node:
    """Return an element of a group without its open patterns."""
    if part.kind != "TriplesBlock":
        return part
    return part.but(triples=tuple(triple for triple in part.get("triples") if triple not in opened))


def _group(parts: tuple[Node, ...]) -> Node:
    merged: list[Node] = []
    for part in parts:
        if merged and merged[-1].kind == part.kind == "TriplesBlock":
            merged[-1] = part.but(triples=merged[-1].get("triples") + part.get("triples"))
        else:
            merged.append(part)
    return Node.of("GroupGraphPatternSub", part=tuple(merged))


def fill_template(found: pl.DataFrame, template: Sequence[Triple]) -> pl.Series:
    """Return the triples of a template, as N-Triples, where each solution makes one; some may come twice.

    >>> fill_template(pl.DataFrame({"s": ["<urn:a>", None]}), [("?s", "<urn:p>", "3")]).to_list()
    ['<urn:a> <urn:p> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .']
    """
    parts = [pl.Series("line", [], dtype=pl.String), *(_make(found, triple) for triple in template)]
    return pl.concat(parts)


def _make(found: pl.DataFrame, triple: Triple) -> pl.Series:
    """Return the template triple of each solution, as N-Triples, where it is one."""
    subject, predicate, value = map(_column, triple)
    rows = found.select(s=subject, p=predicate, o=value).drop_nulls().unique()
    rows = rows.filter(~pl.col("s").str.starts_with('"') & pl.col("p").str.starts_with("<"))
    return rows.select(fill("{} {} {} .", "s", "p", "o").alias("line")).to_series()


def _column(term: str) -> pl.Expr:
    """Return a term of a template for each solution; a blank node is another one each time."""
    if term.startswith("_:"):
        return fill("{}-{}", pl.lit(term), pl.int_range(pl.len()))
    if term.startswith("?"):
        return pl.col(term[1:])
    if term[0] not in '<"':  # a plain number, whose datatype N-Triples spells out
        term = str(next(ox.parse(f"<urn:s> <urn:p> {term} .", ox.RdfFormat.TURTLE)).object)
    return pl.lit(term)
