"""SPARQL endpoints of others, asked politely: seldom enough, again after a failure, never twice the same.

An endpoint fails in many ways that look like an answer: a page of HTML, half a JSON, the part of a result that was
ready when its time was over. What it cuts is read in pages, or about fewer keys at a time.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import polars as pl

from remix.connections import Failure, first_line, without_secrets
from remix.errors import StoreError, Timeout, UsageError
from remix.files import write_whole
from remix.names import XSD
from remix.rdf.terms import text_term
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.sparql import Reply

Answer = TypeVar("Answer")

_PROBE = 10_001
RESULTS = ("application/sparql-results+json", "application/json")
_PASSING = (0, 408, 425, 429, 500, 502, 503, 504)
# What Virtuoso, Blazegraph, QLever and Fuseki say when a query takes too long for them.
_OUT_OF_TIME = re.compile(rb"estimated execution time|execution timeout|TimeoutException|timed? ?out|S1TAT", re.I)
_SORTS_TOO_MANY = b"Error SR353"
"""What Virtuoso says where LIMIT and OFFSET together ask for more sorted rows than it sorts (10,000)."""


_FEWEST = 100
"""Rows of a page below which an endpoint that has not the time for it is asked again, not for less."""


@dataclass(frozen=True)
class Manners:
    """How an endpoint is asked: requests a second, seconds for an answer, tries of a request.

    `wait` is the pause after the first failure in seconds, twice as long after each further one; where an endpoint
    asks for a longer pause than `longest`, the error says so and nobody waits. `within` are the seconds after which a
    request is not tried again.
    """

    rate: float = 5
    timeout: float = 60
    tries: int = 5
    wait: float = 1
    longest: float = 120
    within: float = float("inf")

    @classmethod
    def of_environment(cls) -> Manners:
        """Return the manners with what `REMIX_ENDPOINT_RATE`, `_TIMEOUT` and `_TRIES` say.

        Raises `UsageError` for what is no positive number.
        """
        return cls(
            rate=_positive("REMIX_ENDPOINT_RATE", cls.rate),
            timeout=_positive("REMIX_ENDPOINT_TIMEOUT", cls.timeout),
            tries=max(1, int(_positive("REMIX_ENDPOINT_TRIES", cls.tries))),
        )


@dataclass(frozen=True)
class Solutions:
    """The solutions of a query, a column a variable; `cut` where there may be more of them."""

    rows: pl.DataFrame
    cut: bool


class TooHeavy(StoreError):
    """A query that the endpoint has not the time for, or sorts too many rows for; asked for less it may answer.

    `late` is whether it has not answered in the time that it was given.
    """

    def __init__(self, line: str, *, late: bool = False) -> None:
        super().__init__(line)
        self.late = late


class Refused(StoreError):
    """A query that the endpoint does not take for one, or not for one that it answers; `said` is why."""

    def __init__(self, line: str, said: str) -> None:
        super().__init__(line)
        self.said = said


class Remote:
    """An endpoint at an address; answers are kept in the folder `cache`, and what is in it is not asked again.

    Values are text, or `terms` as N-Triples spells them. `address` is what may be shown of it.
    """

    def __init__(self, address: str, manners: Manners, cache: Path | None = None, *, terms: bool = False) -> None:
        self.address = without_secrets(address)
        self.manners = manners
        self.cache = cache
        self._place = address
        self._column = _term if terms else _text
        self._next = 0.0
        self._reached = False
        self._bound: int | None = None

    @property
    def bound(self) -> int:
        """Return the number of rows from which on an answer may have been cut.

        It is learnt by asking for more rows than the usual limits allow: what comes is the limit, or all there is,
        or more than was to be learnt; 0 where the endpoint has no triples in its default graph.
        """
        if self._bound is None:
            query = f"SELECT (1 AS ?one) WHERE {{ ?s ?p ?o }} LIMIT {_PROBE}"
            self._bound = self._rows(query, ["one"]).rows.height
        return self._bound

    def select(self, query: str, variables: Sequence[str] | None = None, *, patient: bool = True) -> Solutions:
        """Return the answer to a query, by default with all variables that it has.

        An impatient one raises `TooHeavy` at once where the endpoint has not the time; otherwise it is tried again as
        after every failure. Raises `Timeout` and `StoreError` after the last try, `Refused` at once.
        """
        bound = self.bound
        found = self._rows(query, variables, patient=patient)
        return Solutions(found.rows, found.cut or found.rows.height >= bound)

    def number(self, query: str) -> int:
        """Return the number that a query selects as `?n`; raises as `select`."""
        rows = self._rows(query, ["n"]).rows
        found = re.match(r'"?([0-9]+)\b', str(rows["n"][0])) if rows.height == 1 else None
        if found is None:
            raise StoreError(f"{self.address} answered a count with no number")
        return int(found[1])

    def ask(self, query: str, accept: str, read: Callable[[Reply], Answer], *, patient: bool = True) -> Answer:
        """Return what `read` makes of the answer to a query; it raises `Failure` for one that is to be asked again.

        Raises as `select`.
        """
        from remix.sparql import ask  # which brings SPARQLWrapper: only who asks an endpoint waits for it

        begin = time.monotonic()
        for attempt in range(1, self.manners.tries + 1):
            time.sleep(max(0.0, self._next - time.monotonic()))
            self._next = time.monotonic() + 1 / self.manners.rate
            try:
                reply = ask(self._place, query, accept=accept, timeout=self.manners.timeout)
                self._reached = True
                return read(reply)
            except Failure as failure:
                heavy, sorts = _is_heavy(failure), _SORTS_TOO_MANY in failure.body
                if sorts or (heavy and not patient):
                    raise TooHeavy(f"{self.address} {failure}", late=failure.late) from None
                if failure.status == 400 and not heavy:
                    raise Refused(f"{self.address} {failure}", first_line(failure.body)) from None
                # A name or port at which nobody has answered yet is most likely misspelt.
                nobody = failure.lost or (failure.unreached and not self._reached)
                self._reached = self._reached or not failure.unreached
                if nobody or not (failure.status in _PASSING or heavy):
                    raise StoreError(f"{self.address} {failure}") from None
                pause = max(self.manners.wait * 2 ** (attempt - 1), failure.after)
                over = time.monotonic() + pause - begin > self.manners.within
                if attempt == self.manners.tries or failure.after > self.manners.longest or over:
                    self._give_up(failure, attempt)
                time.sleep(pause)
        raise AssertionError("there is at least one try")

    def _rows(self, query: str, variables: Sequence[str] | None, *, patient: bool = True) -> Solutions:
        """Return the rows of an answer, `cut` where there are as many as its header allows."""
        kept = self.cache / f"{content_hash(query)}.parquet" if self.cache else None
        if kept and (known := _read_kept(kept, variables)) is not None:
            return Solutions(known, cut=False)

        def read(reply: Reply) -> Solutions:
            limit = reply.headers.get("X-SPARQL-MaxRows", "")
            rows = _table(read_body(self.address, reply, RESULTS), variables, self._column)
            return Solutions(rows, limit.isdecimal() and rows.height >= int(limit))

        found = self.ask(query, RESULTS[0], read, patient=patient)
        # An answer that is known to be cut by its header alone is not kept: nothing would say so the next time.
        if kept and (not found.cut or self._bound in (None, found.rows.height)):
            with write_whole(kept) as stream:
                found.rows.write_parquet(stream)
        return found

    def _give_up(self, failure: Failure, attempt: int) -> NoReturn:
        later = f" and asks to wait {failure.after:.0f} s" if failure.after > self.manners.longest else ""
        tries = f" (tried {attempt} times)" if attempt > 1 else ""
        kept = "; what it answered before is kept, and the same command goes on from there" if self.cache else ""
        kind = Timeout if failure.late or failure.status == 504 else StoreError
        raise kind(f"{self.address} {failure}{later}{tries}{kept}") from None


def _read_kept(file: Path, variables: Sequence[str] | None) -> pl.DataFrame | None:
    """Return the rows of an answer that was kept; none where there is no such file, or a damaged one."""
    try:
        rows = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError):
        return None
    return rows if rows.columns == list(variables or ()) else None


def _is_heavy(failure: Failure) -> bool:
    """Return whether the endpoint may answer where less is asked."""
    late = failure.late or failure.large or bool(_OUT_OF_TIME.search(failure.body))
    return late or failure.status in (413, 504)


def read_body(address: str, answer: Reply, media: Sequence[str]) -> bytes:
    """Return the body of an answer; raises for one of other media, or that is not the whole of it."""
    if state := answer.headers.get("X-SQL-State") or answer.headers.get("X-SPARQL-Anytime"):
        said = f"{state} {answer.headers.get('X-SQL-Message', '')}".strip()
        raise Failure(f"answered with a part of the result ({said})", large=True)
    if answer.status != 200:
        raise Failure(f"answered {answer.status}, which is not the whole result", large=answer.status == 206)
    if answer.media in ("text/html", "application/xhtml+xml"):
        raise StoreError(f"{address} answered with a page of HTML, not with a result: {first_line(answer.body)}")
    if answer.media not in media:
        wanted = "a result in JSON" if media == RESULTS else "a graph"
        raise Failure(f"answered with {answer.media}, not with {wanted}: {first_line(answer.body)}")
    return answer.body


def _table(body: bytes, variables: Sequence[str] | None, column: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """Return the solutions in a body of SPARQL 1.1 Query Results JSON; raises `Failure` for half of one, or none.

    >>> body = b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "urn:a"}}]}}'
    >>> _table(body, ["x"], _text).rows(), _table(body, None, _term).rows()
    ([('urn:a',)], [('<urn:a>',)])
    """
    known = _read_json(body, {"head": pl.Struct({"vars": pl.List(pl.String)})})["head"].struct.field("vars")
    named = known.explode().drop_nulls().to_list()
    names = list(named if variables is None else variables)
    if missing := sorted(set(names) - set(named)):
        raise Failure(f"answered without the variable ?{missing[0]} that was asked for")
    fields = pl.Struct(dict.fromkeys(("type", "value", "datatype", "xml:lang"), pl.String()))
    # A row without variables has a field all the same, as polars has no structs without.
    rows = pl.List(pl.Struct(dict.fromkeys(names or [""], fields)))
    read = _read_json(body, {"results": pl.Struct({"bindings": rows})})["results"].struct.field("bindings")
    if read.null_count():
        raise _no_result(body)
    return read.explode(empty_as_null=False).struct.unnest().select(column(pl.col(name)).alias(name) for name in names)


def _read_json(body: bytes, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    try:
        read = pl.read_json(io.BytesIO(body), schema=schema)
    except (pl.exceptions.PolarsError, ValueError):
        raise _no_result(body) from None
    if read.height != 1 or read.to_series().null_count():
        raise _no_result(body)
    return read


def _no_result(body: bytes) -> Failure:
    return Failure(f"answered with {len(body):,} bytes that are no whole result in JSON: {first_line(body)}")


def _text(cell: pl.Expr) -> pl.Expr:
    """Return what a term says; a blank node is nobody's name: what it stands for cannot be asked about."""
    return pl.when(cell.struct.field("type") != "bnode").then(cell.struct.field("value"))


def _term(cell: pl.Expr) -> pl.Expr:
    """Return a term as N-Triples spells it; a truth value that is a number for Virtuoso is one again."""
    kind, value, datatype, language = (cell.struct.field(one) for one in ("type", "value", "datatype", "xml:lang"))
    truth = datatype.eq_missing(f"{XSD}boolean")
    text = text_term(pl.when(truth).then(value.replace({"1": "true", "0": "false"})).otherwise(value))
    plain = datatype.is_null() | (datatype == f"{XSD}string")
    return (
        pl.when(kind == "uri")
        .then("<" + value + ">")
        .when(kind == "bnode")
        .then("_:" + value.str.replace_all("[^A-Za-z0-9]+", "-"))
        .when(language.is_not_null())
        .then(text + "@" + language)
        .when(plain)
        .then(text)
        .otherwise(text + "^^<" + datatype + ">")
    )


def _positive(name: str, default: float) -> float:
    text = os.environ.get(name, str(default))
    with suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number
    raise UsageError(f"{name} is a positive number, not '{text}'")


def solutions(
    remote: Remote,
    prologue: str,
    select: Callable[[Sequence[str]], str],
    keys: Sequence[str],
    variables: Sequence[str],
    *,
    most: float,
    left_out: Callable[[str, int], None],
) -> Iterator[pl.DataFrame]:
    """Return the rows of `select` about these keys, in pieces.

    An answer that may have been cut is counted. What was cut, or took the endpoint too long, is asked again about
    each half of the keys; a single key is read in pages, or `left_out` with its number of rows if it has more than
    `most`. Raises `StoreError` where the pages are not as many rows as were counted, and as `Remote.select`.
    """
    pending = [list(keys)]
    while pending:
        some = pending.pop()
        query = select(some)
        try:
            answer = remote.select(f"{prologue}\n{query}", variables, patient=len(some) == 1)
        except TooHeavy:
            pending += _halves(some)
            continue
        if not answer.cut or (count := remote.number(count_text(query, prologue))) == answer.rows.height:
            yield answer.rows
        elif count < answer.rows.height:
            raise StoreError(f"{remote.address} gave {answer.rows.height} rows and counts {count}: try again later")
        elif len(some) > 1:
            pending += _halves(some)
        elif count > most:
            left_out(some[0], count)
        else:
            names = " ".join(f"?{name}" for name in variables)
            page = f"{prologue}\nSELECT {names} WHERE {{ {{ {query} ORDER BY {names} }} }}"
            yield from pages(remote, page, variables, 0, count)


def _halves(keys: list[str]) -> list[list[str]]:
    """Return both halves, the first one last: that is taken next."""
    middle = len(keys) // 2
    return [keys[middle:], keys[:middle]]


def count_text(query: str, prologue: str = "") -> str:
    """Return the query that counts the solutions of another, as `?n`.

    >>> count_text("SELECT ?s { ?s ?p ?o }", "PREFIX a: <urn:a>")
    'PREFIX a: <urn:a>\\nSELECT (COUNT(*) AS ?n) WHERE { { SELECT ?s { ?s ?p ?o } } }'
    """
    return f"{prologue}\nSELECT (COUNT(*) AS ?n) WHERE {{ {{ {query} }} }}"


def pages(remote: Remote, query: str, variables: Sequence[str], begin: int, end: int) -> Iterator[pl.DataFrame]:
    """Return the rows of a query from the one with the number `begin` to that before `end`, in pieces.

    The query has an order over all its variables, in a sub-select: Virtuoso refuses to sort for a LIMIT whose OFFSET
    is above 10,000. A page that takes the endpoint too long is asked for half the rows. Raises `StoreError` where
    less comes than there is, and as `Remote.select`.
    """
    at, size = begin, max(remote.bound, 1)
    while at < end:
        page = f"{query}\nLIMIT {min(size, end - at)} OFFSET {at}"
        try:
            rows = remote.select(page, variables, patient=size <= _FEWEST).rows
        except TooHeavy as heavy:
            if heavy.late or size <= _FEWEST:
                raise
            size //= 2
            continue
        if rows.is_empty():
            break
        at += rows.height
        yield rows
    if at != end:
        raise StoreError(
            f"{remote.address} counts {end - begin:,} rows and gave {at - begin:,} of them: its data changed "
            "meanwhile, or it cuts what it answers; ask again, or for less at a time"
        )
