"""A SPARQL endpoint of somebody else, asked politely: seldom enough, again after a failure, never twice the same.

An endpoint fails in many ways that look like an answer: a page of HTML, half a JSON, the part of a result that was
ready when its time was over.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import polars as pl

from remix.client import Failure, Reply, ask, first_line
from remix.errors import StoreError, Timeout, UsageError
from remix.files import write_whole
from remix.signature import content_hash

__all__ = ["Manners", "Remote", "Solutions", "TooHeavy"]

_PROBE = 10_001
_RESULTS = ("application/sparql-results+json", "application/json")
_PASSING = (0, 408, 425, 429, 500, 502, 503, 504)
# What Virtuoso, Blazegraph, QLever and Fuseki say when a query takes too long for them.
_OUT_OF_TIME = re.compile(rb"estimated execution time|execution timeout|TimeoutException|timed? ?out|S1TAT", re.I)


@dataclass(frozen=True)
class Manners:
    """How an endpoint is asked: requests a second, seconds for an answer, tries of a request.

    `wait` is the pause after the first failure in seconds, twice as long after each further one; where an endpoint
    asks for a longer pause than `longest`, the error says so and nobody waits.
    """

    rate: float = 5
    timeout: float = 60
    tries: int = 5
    wait: float = 1
    longest: float = 120

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
    """The solutions of a query as text, a column a variable; `cut` where there may be more of them."""

    rows: pl.DataFrame
    cut: bool


class TooHeavy(StoreError):
    """A query that the endpoint has not the time for; asked about fewer keys it may have."""


class Remote:
    """An endpoint at an address; answers are kept in the folder `cache`, and what is in it is not asked again."""

    def __init__(self, address: str, manners: Manners, cache: Path | None = None) -> None:
        self.address = address
        self.manners = manners
        self.cache = cache
        self._next = 0.0
        self._bound: int | None = None

    @property
    def bound(self) -> int:
        """Return the number of rows from which on an answer may have been cut.

        It is learnt by asking for more rows than the usual limits allow: what comes is the limit, or all there is,
        or more than was to be learnt. Raises `StoreError` where the endpoint has no triples.
        """
        if self._bound is None:
            query = f"SELECT (1 AS ?one) WHERE {{ ?s ?p ?o }} LIMIT {_PROBE}"
            self._bound = self._rows(query, ["one"], patient=True)[0].height
        if not self._bound:
            raise StoreError(f"{self.address} has no triples in its default graph")
        return self._bound

    def select(self, query: str, variables: Sequence[str], *, patient: bool = True) -> Solutions:
        """Return the answer to a query.

        An impatient one raises `TooHeavy` at once where the endpoint has not the time; otherwise it is tried again as
        after every failure. Raises `Timeout` and `StoreError` after the last try.
        """
        bound = self.bound
        rows, cut = self._rows(query, variables, patient=patient)
        return Solutions(rows, cut or rows.height >= bound)

    def number(self, query: str) -> int:
        """Return the number that a query selects as `?n`; raises as `select`."""
        rows, _ = self._rows(query, ["n"], patient=True)
        if rows.height != 1 or not str(rows["n"][0]).isdecimal():
            raise StoreError(f"{self.address} answered a count with no number")
        return int(rows["n"][0])

    def _rows(self, query: str, variables: Sequence[str], *, patient: bool) -> tuple[pl.DataFrame, bool]:
        kept = self.cache / f"{content_hash(query)}.parquet" if self.cache else None
        if kept and (known := _read_kept(kept, variables)) is not None:
            return known, False
        rows, limit = self._ask(query, variables, patient)
        cut = limit is not None and rows.height >= limit
        # An answer that is known to be cut by its header alone is not kept: nothing would say so the next time.
        if kept and (not cut or self._bound in (None, rows.height)):
            with write_whole(kept) as stream:
                rows.write_parquet(stream)
        return rows, cut

    def _ask(self, query: str, variables: Sequence[str], patient: bool) -> tuple[pl.DataFrame, int | None]:
        for attempt in range(1, self.manners.tries + 1):
            time.sleep(max(0.0, self._next - time.monotonic()))
            self._next = time.monotonic() + 1 / self.manners.rate
            try:
                answer = ask(self.address, query, accept=_RESULTS[0], timeout=self.manners.timeout)
                limit = answer.headers.get("X-SPARQL-MaxRows", "")
                return _read(self.address, answer, variables), int(limit) if limit.isdecimal() else None
            except Failure as failure:
                if _is_heavy(failure) and not patient:
                    raise TooHeavy(f"{self.address} {failure}") from None
                if failure.lost or not (failure.status in _PASSING or _is_heavy(failure)):
                    raise StoreError(f"{self.address} {failure}") from None
                if attempt == self.manners.tries or failure.after > self.manners.longest:
                    self._give_up(failure, attempt)
                time.sleep(max(self.manners.wait * 2 ** (attempt - 1), failure.after))
        raise AssertionError("there is at least one try")

    def _give_up(self, failure: Failure, attempt: int) -> NoReturn:
        later = f" and asks to wait {failure.after:.0f} s" if failure.after > self.manners.longest else ""
        tries = f" (tried {attempt} times)" if attempt > 1 else ""
        kept = "; what it answered before is kept, and the same command goes on from there" if self.cache else ""
        kind = Timeout if failure.late or failure.status == 504 else StoreError
        raise kind(f"{self.address} {failure}{later}{tries}{kept}") from None


def _read_kept(file: Path, variables: Sequence[str]) -> pl.DataFrame | None:
    """Return the rows of an answer that was kept; none where there is no such file, or a damaged one."""
    try:
        rows = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError):
        return None
    return rows if rows.columns == list(variables) else None


def _is_heavy(failure: Failure) -> bool:
    """Return whether the endpoint may answer where less is asked."""
    late = failure.late or failure.large or bool(_OUT_OF_TIME.search(failure.body))
    return late or failure.status in (413, 504)


def _read(address: str, answer: Reply, variables: Sequence[str]) -> pl.DataFrame:
    """Return the rows of an answer, as text; raises for what is none, or not the whole of it."""
    if state := answer.headers.get("X-SQL-State") or answer.headers.get("X-SPARQL-Anytime"):
        said = f"{state} {answer.headers.get('X-SQL-Message', '')}".strip()
        raise Failure(f"answered with a part of the result ({said})", large=True)
    if answer.status != 200:
        raise Failure(f"answered {answer.status}, which is not the whole result", large=answer.status == 206)
    if answer.media in ("text/html", "application/xhtml+xml"):
        raise StoreError(f"{address} answered with a page of HTML, not with a result: {first_line(answer.body)}")
    if answer.media not in _RESULTS:
        raise Failure(f"answered with {answer.media}, not with a result in JSON: {first_line(answer.body)}")
    return _table(answer.body, variables)


def _table(body: bytes, variables: Sequence[str]) -> pl.DataFrame:
    """Return the solutions in a body of SPARQL 1.1 Query Results JSON; raises `Failure` for half of one, or none.

    >>> _table(b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "urn:a"}}]}}', "x")
    shape: (1, 1)
    ...
    """
    bindings = pl.List(pl.Struct(dict.fromkeys(variables, pl.Struct({"type": pl.String, "value": pl.String}))))
    schema = {"head": pl.Struct({"vars": pl.List(pl.String)}), "results": pl.Struct({"bindings": bindings})}
    known: set[str] | None = None
    try:
        read = pl.read_json(io.BytesIO(body), schema=schema)
        if read.height == 1 and not read["results"].struct.field("bindings").null_count():
            known = set(read["head"].struct.field("vars").explode().drop_nulls())
    except (pl.exceptions.PolarsError, ValueError):
        pass
    if known is None:
        raise Failure(f"answered with {len(body):,} bytes that are no whole result in JSON: {first_line(body)}")
    if missing := sorted(set(variables) - known):
        raise Failure(f"answered without the variable ?{missing[0]} that was asked for")
    rows = read["results"].struct.field("bindings").explode(empty_as_null=False).struct.unnest()
    # A blank node is nobody's name: what it stands for cannot be asked about.
    return rows.select(
        pl.when(pl.col(name).struct.field("type") != "bnode").then(pl.col(name).struct.field("value")).alias(name)
        for name in variables
    )


def _positive(name: str, default: float) -> float:
    text = os.environ.get(name, str(default))
    try:
        if 0 < (number := float(text)) < float("inf"):
            return number
    except ValueError:
        pass
    raise UsageError(f"{name} is a positive number, not '{text}'")
