"""What a query answers, for people: a table, a graph, or yes and no."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl
import pyoxigraph as ox

from remix.errors import UsageError, nearest
from remix.names import PREFIXES, XSD
from remix.rdf.parsing import parse_lines
from remix.rdf.terms import iri, literal
from remix.store import Store
from remix.store.index import terms_of
from remix.store.permission import permit
from remix.store.queries import INTEGERS, NUMBERS, Query
from remix.store.rewrite import construct, plan
from remix.store.running import GIBIBYTE, Request
from remix.store.tree import NotUnderstood
from remix.store.worker import ask
from remix.tables import Printed

if TYPE_CHECKING:
    from remix.store.endpoint import Endpoint

GRAPH_FORMATS = ("ttl", "nt", "jsonld")
_IRI, _TYPED = "^<[^<>]*>$", r'(?s)^".*"\^\^<([^>]*)>$'


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
        triples = (quad.triple for quad in parse_lines(lines, ox.RdfFormat.N_TRIPLES, lenient=True))
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
    request = Request(
        text,
        query.source,
        solutions="tsv",
        graph="nt",
        rewrite=rewrite,
        ordered=True,
        allow_services=services,
        timeout=timeout,
        memory=8 * GIBIBYTE,
        largest=largest,
    )
    index = store.index()  # which keeps its generation there until the answer is
    found = ask(index.path, request)
    if found.kind == "graph":
        return Result("graph", pl.DataFrame(), tuple(found.body.splitlines()), found.notes, found.rewritten)
    if found.kind == "boolean":
        return Result("boolean", _truth(found.body == b"true\n"), (), found.notes, found.rewritten)
    terms = terms_of(found.body)
    table = _tabulate(terms)
    of_columns = {one.name: frozenset(table[one.name].filter(one.str.contains(_IRI))) for one in terms} if iris else {}
    return Result("table", table, (), found.notes, found.rewritten, of_columns)


def _ask(index: Endpoint, text: str, name: str, services: tuple[str, ...], *, rewrite: bool) -> Result:
    how = plan(permit(text, name=name, allow_services=services))
    kind = None if how.tree is None else how.tree.kind
    if kind == "SelectQuery":
        return Result("table", _tabulate(index.frame(how.text, name)), (), how.notes, how.text)
    if kind == "AskQuery":
        return Result("boolean", _truth(index.is_true(how.text, name)), (), how.notes, how.text)
    if rewrite and how.selection is not None:
        with suppress(NotUnderstood):  # blank nodes: as it stands
            return Result("graph", pl.DataFrame(), tuple(construct(index, how, name)), how.notes, how.selection)
    return Result("graph", pl.DataFrame(), tuple(sorted(index.triples(how.text, name))), how.notes, how.text)


def _truth(said: bool) -> pl.DataFrame:
    return pl.DataFrame({"answer": [said]})


def _tabulate(terms: pl.DataFrame) -> pl.DataFrame:
    """Return what terms say, each column of one type: whole numbers, numbers, truth values, or text where mixed."""
    return pl.DataFrame([_read(column) for column in terms])


def _read(terms: pl.Series) -> pl.Series:
    """Return what the terms of a column say.

    >>> _read(pl.Series(["<urn:a>", '"x"@en', None])).to_list()
    ['urn:a', 'x', None]
    """
    term = pl.col(terms.name)
    # Blank nodes and triples stay as they are spelt.
    plain = pl.when(term.str.starts_with('"')).then(pl.coalesce(literal(term), term)).otherwise(term)
    said = pl.when(term.str.contains(_IRI)).then(iri(term)).otherwise(plain)
    kind = terms.to_frame().select(term.str.extract(_TYPED)).to_series().drop_nulls().unique()
    texts, known = terms.to_frame().select(said).to_series(), terms.drop_nulls()
    if known.is_empty() or not known.str.contains(_TYPED).all():
        return texts
    for kinds, dtype in ((INTEGERS, pl.Int64), (INTEGERS | NUMBERS, pl.Float64)):
        numbers = texts.str.strip_chars().cast(dtype, strict=False)
        if {*kind} <= kinds and numbers.null_count() == texts.null_count():
            return numbers
    return texts == "true" if {*kind} == {f"{XSD}boolean"} else texts
