"""Other stores: any SPARQL 1.1 endpoint in the place of the index, asked for all of every answer.

How it is asked, again after a failure and with what pauses, is the affair of `remix.endpoints`. An answer that may
have been cut (as many rows as the endpoint was seen to give at most, a limit or a part that its headers announce) is
counted; where there is more, it is read in pages.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import polars as pl
import pyoxigraph as ox

from remix.connections import Failure, check_address, first_line
from remix.endpoints import (
    RESULTS,
    Manners,
    Refused,
    Remote,
    TooHeavy,
    count_text,
    pages,
    read_body,
    solutions,
)
from remix.errors import QueryError, StoreError, Timeout
from remix.expressions import fill
from remix.names import PREFIXES, XSD
from remix.store.index import Index, with_subjects
from remix.store.rewrite import fill_template
from remix.store.serialise import dataset_clause, text_of
from remix.store.syntax import keywords, modern, tokens
from remix.store.tree import Node, NotUnderstood, parse, variables, visible

if TYPE_CHECKING:
    from remix.sparql import Reply

_CHUNK = 200
"""Subjects that are asked about at once."""
_SAID = "_as_text"
"""What follows the name of a variable in that of its text: Virtuoso gives 6 digits of a double, and in a text all."""
_TRIPLES = f"""SELECT ?s ?p ?o (IF(isNumeric(?o), STR(?o), "") AS ?o{_SAID}) WHERE {{ VALUES ?s {{ %s }} ?s ?p ?o }}"""
_NUMBER = rf"(\^\^<{XSD}(?:double|float|decimal)>)$"
_LASTING = "_:nodeID-"
"""What the names of blank nodes begin with in Virtuoso: there they stay, elsewhere another answer has others."""


class Endpoint(Index):
    """A SPARQL endpoint that is asked like an index; what its default graph is, is its own affair.

    `address` is what may be shown of it; a request takes at most `timeout` seconds, by default as the environment
    says. Raises `UsageError` for an address that is not http or https.
    """

    def __init__(self, address: str, *, timeout: float | None = None) -> None:
        check_address(address)
        super().__init__(None)
        self.notes: list[str] = []
        manners = Manners.of_environment()
        if urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1") and "REMIX_ENDPOINT_RATE" not in os.environ:
            manners = replace(manners, rate=inf)  # one's own
        seconds = timeout or manners.timeout
        self._remote = Remote(address, replace(manners, timeout=seconds, within=seconds), terms=True)
        self.address = self._remote.address
        self._self = f"<{address}>"

    def is_true(self, text: str, name: str = "the query") -> bool:
        """Return the endpoint's answer to an ASK."""
        with self._naming(name):
            return self._remote.ask(self._prepare(text, name), RESULTS[0], self._read_boolean)

    def frame(self, text: str, name: str = "the query") -> pl.DataFrame:
        """Return all solutions of a SELECT as a frame of terms as N-Triples spells them; unbound is null.

        Raises `StoreError` where less comes than the endpoint counts, and for what can be neither had whole nor paged.
        """
        text = self._prepare(text, name)
        with self._naming(name):
            try:
                answer = self._remote.select(text, patient=False)
            except TooHeavy as heavy:
                if heavy.late:
                    raise Timeout(str(heavy)) from None
                return self._page(text, name, None, str(heavy))
            return (
                self._page(text, name, answer.rows, f"{self.address} may have cut its answer")
                if answer.cut
                else answer.rows
            )

    def triples(self, text: str, name: str = "the query") -> list[bytes]:
        """Return the triples of a CONSTRUCT or DESCRIBE as distinct lines of N-Triples, in no order.

        A CONSTRUCT is made here, of the solutions of its pattern. Raises `StoreError` for one that cannot be made here,
        and a DESCRIBE, of whose triples some may be missing.
        """
        try:
            query, template = _selection(parse(modern(text)))
        except NotUnderstood:
            return self._graph(text, name)
        return fill_template(self.frame(query, name), template).unique().cast(pl.Binary).to_list()

    def about(self, subjects: pl.Series) -> pl.DataFrame:
        """Return the triples of these subjects; raises `NotUnderstood` for blank nodes, which nobody can ask for."""
        if subjects.str.starts_with("_:").any():
            raise NotUnderstood("blank nodes of another store")
        iris = subjects.filter(subjects.str.starts_with("<")).to_list()
        found = list(self.triples_of(iris))
        if sum(has_blank_nodes(rows) for rows in found) > 1:
            raise NotUnderstood("blank nodes that two answers may call alike")
        lines = (rows.select(fill("{} {} {} .", "s", "p", "o").alias("line"))["line"] for rows in found)
        return with_subjects(line for some in lines for line in some)

    def triples_of(self, subjects: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Return the triples of subjects that have IRIs, in pieces: s, p and o, terms as N-Triples spells them."""
        for rows in self.solutions(_TRIPLES, subjects, [*"spo", f"o{_SAID}"]):
            yield _with_all_digits(rows, "o")

    def solutions(self, query: str, keys: Sequence[str], names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Return the solutions of a query about many terms, some hundreds of which take the place of its `%s`."""
        for begin in range(0, len(keys), _CHUNK):
            some = keys[begin : begin + _CHUNK]
            ask = lambda few: query % " ".join(few)  # noqa: E731
            yield from solutions(self._remote, "", ask, some, names, most=inf, left_out=lambda key, count: None)

    def graphs(self) -> None:
        """Return nothing: which graphs an endpoint has is its own affair."""

    def _prepare(self, text: str, name: str) -> str:
        """Return a query as it is sent; raises `QueryError` where it asks the endpoint to ask itself."""
        if "SERVICE" in keywords(text) and self._self in {token for kind, token in tokens(text) if kind == "iri"}:
            hint = "leave SERVICE out, its pattern is asked there as it is"
            raise QueryError(f"{name} asks SERVICE {self.address}, the endpoint that it is sent to: {hint}")
        return _with_prefixes(modern(text))

    @contextmanager
    def _naming(self, name: str) -> Iterator[None]:
        """Say of which query it is that the endpoint refuses something within the block."""
        try:
            yield
        except Refused as error:
            raise QueryError(f"{name} is refused by {self.address}: {error.said}") from None

    def _read_boolean(self, reply: Reply) -> bool:
        """Return the answer to an ASK; raises `Failure` for what is none."""
        body = read_body(self.address, reply, RESULTS)
        try:
            read = json.loads(body)
            # Virtuoso 7 answers with a table, of one row or none.
            table = "__ASK_RETVAL" in read["head"].get("vars", ())
            said = bool(read["results"]["bindings"]) if table else read["boolean"]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            said = None
        if not isinstance(said, bool):
            raise Failure(f"answered neither true nor false: {first_line(body)}")
        return said

    def _page(self, text: str, name: str, seen: pl.DataFrame | None, why: str) -> pl.DataFrame:
        """Return all rows of a query, of which some may have been `seen`; `why` says why not all."""
        try:
            query = _Paged(parse(text), seen)
        except NotUnderstood as reason:
            hint = "ask for less (LIMIT), or write it more simply"
            raise StoreError(f"{why}; {name} cannot be read in pages ({reason}): {hint}") from None
        begin, end = query.range(self._remote.number(query.count))
        if seen is not None and seen.height == end - begin:
            return seen
        names = [*query.names, *(f"{one}{_SAID}" for one in query.numbers)]
        none = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        rows = pl.concat([none, *pages(self._remote, query.ordered, names, begin, end)])
        if has_blank_nodes(rows):
            hint = "leave their variables out, or ask for less (LIMIT)"
            raise StoreError(
                f"{self.address} answers in pages with blank nodes, which two pages may call alike: {hint}"
            )
        wanted = query.distinct and self._remote.number(query.distinct)
        if wanted and (given := rows.drop(query.numbers).n_unique()) != wanted:
            raise StoreError(
                f"{self.address} counts {wanted:,} different rows and gave {given:,} of them in its pages: "
                "its order is not the same each time; ask again, or for less at a time"
            )
        return _with_all_digits(rows, *query.numbers)

    def _graph(self, text: str, name: str) -> list[bytes]:
        """Return the triples that the endpoint itself makes."""

        def read(reply: Reply) -> list[bytes]:
            body = read_body(self.address, reply, ("text/turtle", "application/n-triples"))
            try:
                quads = ox.parse(io.BytesIO(body), ox.RdfFormat.TURTLE, base_iri="urn:remix:", lenient=True)
                return list({f"{quad.triple} .".encode() for quad in quads})
            except (SyntaxError, ValueError) as error:
                raise Failure(f"answered with a graph that does not parse: {error}") from None

        with self._naming(name):
            lines = self._remote.ask(self._prepare(text, name), ox.RdfFormat.TURTLE.media_type, read)
            if len(lines) >= self._remote.bound:
                said = f"{self.address} answered with {len(lines):,} triples, and there may be more"
                raise StoreError(f"{said}: ask with a CONSTRUCT in plain SPARQL 1.1, which is read in pages")
        return lines


class _Paged:
    """A SELECT as it is read in pages: `ordered` by all its variables; `count` and `distinct` count its rows.

    `distinct`, of the different ones, is empty where that cannot be asked. Of `numbers`, which are the variables that
    had any in the rows `seen`, the texts are asked for as well, and counted. Raises `NotUnderstood` for a query whose
    text cannot be made anew.
    """

    def __init__(self, tree: Node, seen: pl.DataFrame | None) -> None:
        if tree.kind != "SelectQuery":
            raise NotUnderstood("it is no SELECT")
        projected = [str(one.get("var") or one.get("evar")) for one in tree.get("projection", ())]
        every = projected if seen is None else [f"?{one}" for one in seen.columns]
        every = every or sorted(visible(tree.get("where").get("part", ())))
        self.names = [one[1:] for one in every]
        self.numbers = [one for one in self.names if seen is None or seen[one].str.contains(_NUMBER).any()]
        self._slice = tree.get("limitoffset")
        graphs, whole = dataset_clause(tree), tree.but(limitoffset=None, orderby=None, datasetClause=None)
        known = tree.get("orderby").get("condition") if tree.get("orderby") else ()
        named = {one.get("expr") for one in known if not one.get("order")}
        conditions = (*known, *(Node.of("OrderCondition", expr=one) for one in every if one not in named))
        plain, order = text_of(whole), text_of(whole.but(orderby=Node.of("OrderClause", condition=conditions)))
        texts = " ".join(f"(STR(?{one}) AS ?{one}{_SAID})" for one in self.numbers)
        others = " ".join(one for one in every if one[1:] not in self.numbers)
        self.count = _from(count_text(plain), graphs)
        self.ordered = _from(f"SELECT {' '.join(every)} {texts} WHERE {{ {{ {order} }} }}", graphs)
        different = f"SELECT DISTINCT {others} {texts} WHERE {{ {{ {plain} }} }}"
        self.distinct = "" if self._slice else _from(count_text(different), graphs)

    def range(self, count: int) -> tuple[int, int]:
        """Return the numbers of the first row that is wanted and of the one after the last, of so many."""
        begin = int(self._slice.get("offset") or 0) if self._slice else 0
        limit = self._slice.get("limit") if self._slice else None
        return min(begin, count), min(count, count if limit is None else begin + int(limit))


def _with_all_digits(rows: pl.DataFrame, *numbers: str) -> pl.DataFrame:
    """Return rows with the numbers of these columns as their texts say them, and without these."""
    for one in numbers:
        text, kind = pl.col(f"{one}{_SAID}").str.strip_chars('"'), pl.col(one).str.extract(_NUMBER, 1)
        exact = pl.when(text != "").then('"' + text + '"' + kind)
        rows = rows.with_columns(pl.coalesce(exact, one).alias(one)).drop(f"{one}{_SAID}")
    return rows


def _from(query: str, graphs: str) -> str:
    """Return a query that reads from the graphs of FROM lines."""
    return query.replace(" WHERE", f"{graphs} WHERE", 1)


def _selection(tree: Node) -> tuple[str, Sequence[tuple[str, str, str]]]:
    """Return the SELECT that a CONSTRUCT is made of, and its template; raises `NotUnderstood` for another query."""
    parts = tree.get("where").get("part", ()) if tree.get("where") else ()
    blocks = [part.get("triples") for part in parts if part.kind == "TriplesBlock"]
    template = tree.get("template", tuple(triple for block in blocks for triple in block))  # CONSTRUCT WHERE
    if tree.kind != "ConstructQuery" or not template or not all(isinstance(one, str) for one in chain(*template)):
        raise NotUnderstood("no CONSTRUCT with a template")
    names = sorted(variables(template))
    blank = any(term.startswith("_:") for triple in template for term in triple)
    if not names:
        raise NotUnderstood("a template without variables")
    every = tree.get("limitoffset") or blank
    projection = tuple(Node.of("vars", var=name) for name in names)
    where = tree.get("where") if tree.get("template") else Node.of("GroupGraphPatternSub", part=parts)
    select = Node("SelectQuery", tree.but(template=None, where=where).parts)
    return text_of(select.but(projection=projection, modifier=None if every else "DISTINCT")), template


def has_blank_nodes(rows: pl.DataFrame) -> bool:
    """Return whether there are blank nodes that another answer may call otherwise."""
    return any((each.str.starts_with("_:") & ~each.str.starts_with(_LASTING)).any() for each in rows)


def _with_prefixes(text: str) -> str:
    """Return a query with the well-known prefixes declared that it uses and does not declare itself.

    >>> _with_prefixes("ASK { ?s a nif:Phrase }").splitlines()[0]
    'PREFIX nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#>'
    """
    names = [token for kind, token in tokens(text) if kind == "name"]
    used = {name.partition(":")[0] for name in names if not name.endswith(":")}
    declared = {name.removesuffix(":") for name in names if name.endswith(":")}
    lines = [f"PREFIX {prefix}: <{PREFIXES[prefix]}>" for prefix in sorted((used - declared) & set(PREFIXES))]
    return "\n".join([*lines, text])
