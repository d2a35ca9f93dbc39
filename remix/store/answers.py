"""What a query answers, for people: a table, a graph, or yes and no."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl
import pyoxigraph as ox

from remix.errors import StoreError, UsageError, nearest
from remix.names import PREFIXES
from remix.store import Store
from remix.store.permission import permit
from remix.store.queries import Query, plain
from remix.store.rewrite import construct, plan
from remix.store.tree import NotUnderstood
from remix.store.worker import GIBIBYTE, Request, ask
from remix.tables import Printed

if TYPE_CHECKING:
    from remix.store.endpoint import Endpoint

GRAPH_FORMATS = ("ttl", "nt", "jsonld")


@dataclass(frozen=True, repr=False)
class Result(Printed):
    """An answer: `kind` is table, graph or boolean.

    `table` has a column a variable, IRIs as text and numbers as numbers, or one column `answer`; `triples` are sorted
    lines of N-Triples. `rewritten` is what was run, `notes` are for the user, `iris` the texts of the table that are
    IRIs, by column, where they were asked for.
    """

    kind: str
    table: pl.DataFrame
    triples: tuple[bytes, ...] = ()
    notes: tuple[str, ...] = ()
    rewritten: str = ""
    iris: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what this is in one line, and the table that is shown of it."""
        return self.kind, self.table if self.kind != "graph" else pl.DataFrame(
            {"triple": [line.decode() for line in self.triples]}
        )

    def graph(self, output: str = "ttl") -> bytes:
        """Return the triples as Turtle, N-Triples or JSON-LD (`ttl`, `nt`, `jsonld`); raises `UsageError`.

        >>> Result("graph", pl.DataFrame(), (b"<urn:a> <urn:b> <urn:c> .",)).graph("nt")
        b'<urn:a> <urn:b> <urn:c> .\\n'
        """
        if output not in GRAPH_FORMATS:
            raise UsageError(f"no output format '{output}' of a graph{nearest(output, GRAPH_FORMATS)}")
        lines = b"".join(line + b"\n" for line in self.triples)
        if output == "nt":
            return lines
        triples = (quad.triple for quad in ox.parse(lines, ox.RdfFormat.N_TRIPLES, lenient=True))
        if output == "jsonld":
            return ox.serialize(triples, format=ox.RdfFormat.JSON_LD) or b""
        used = {prefix: iri for prefix, iri in PREFIXES.items() if iri.encode() in lines}
        return ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used) or b""


def answer(
    store: Store,
    query: Query,
    *,
    values: Mapping[str, object] | None = None,
    set_from: str | None = None,
    rewrite: bool = True,
    allow_services: Iterable[str] = (),
    timeout: float = 600,
    memory: int = 8 * GIBIBYTE,
    largest: int | None = None,
    endpoint: str | None = None,
    iris: bool = False,
) -> Result:
    """Return what a query answers, on the store or on another endpoint, exactly as Oxigraph would.

    A CONSTRUCT in the papers' shape is rewritten, with the same triples, unless `rewrite` is false. The query runs in
    a process of its own that is killed after so many seconds, or when it has written more bytes than the `largest`.

    Raises `QueryError`, `UnknownName` for what is wrong with the query, `Timeout`, `StoreError`.
    """
    text = query.bind(values or {}, set_from)
    services = tuple(allow_services)
    if endpoint is not None:
        from remix.store.endpoint import Endpoint

        return _ask(Endpoint(endpoint, timeout=timeout), text, query.source, services, rewrite=rewrite)
    request = Request(text, query.source, graph="nt", rewrite=rewrite, ordered=True, allow_services=services)
    index = store.index()  # which keeps its generation there until the answer is
    found = ask(index.path, request, timeout=timeout, memory=memory, largest=largest)
    with found.body as body:
        notes = tuple(found.notes)
        if found.kind == "graph":
            return Result("graph", pl.DataFrame(), tuple(body.read().splitlines()), notes, found.rewritten)
        parsed = ox.parse_query_results(body, ox.QueryResultsFormat.JSON)
        kind, table, of_columns = _tabulate(parsed, iris=iris)
        return Result(kind, table, (), notes, found.rewritten, of_columns)


def _ask(index: Endpoint, text: str, name: str, services: tuple[str, ...], *, rewrite: bool) -> Result:
    how = plan(permit(text, name=name, allow_services=services))
    if how.tree is not None and how.tree.kind in ("SelectQuery", "AskQuery"):
        return Result(*_tabulate(index.query(how.text, name))[:2], (), how.notes, how.text)
    if rewrite and how.selection is not None:
        try:
            return Result("graph", pl.DataFrame(), tuple(construct(index, how, name)), how.notes, how.selection)
        except NotUnderstood:  # blank nodes: as it stands
            pass
    return Result("graph", pl.DataFrame(), tuple(sorted(index.triples(how.text, name))), how.notes, how.text)


def _tabulate(results: object, *, iris: bool = False) -> tuple[str, pl.DataFrame, Mapping[str, frozenset[str]]]:
    """Return the kind of solutions, their table and, where they are asked for, the IRIs of each column."""
    if isinstance(results, ox.QueryBoolean):
        return "boolean", pl.DataFrame({"answer": [bool(results)]}), {}
    if not isinstance(results, ox.QuerySolutions):
        raise StoreError("neither solutions nor an answer came back")
    names = [variable.value for variable in results.variables]
    terms = [*results] if iris else results
    rows = [[plain(term) for term in solution] for solution in terms]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    table = pl.DataFrame([_column(name, values) for name, values in zip(names, columns, strict=True)])
    of_columns = {name: frozenset(_iris(terms, name)) for name in names} if iris else {}
    return "table", table, of_columns


def _iris(solutions: Iterable[ox.QuerySolution], name: str) -> Iterator[str]:
    return (term.value for one in solutions if isinstance(term := one[name], ox.NamedNode))


def _column(name: str, values: tuple[object, ...]) -> pl.Series:
    """Return a column of one type: whole numbers, numbers, truth values, or text where they are mixed."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(abs(value) < 1 << 63 for value in values if isinstance(value, int)):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(str(value)) for value in values], dtype=pl.Float64)
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
