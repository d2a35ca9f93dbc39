"""All solutions of a query, in pages or about fewer keys at a time, whatever limits the endpoint has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from remix.endpoints.remote import Remote, TooHeavy
from remix.errors import StoreError

__all__ = ["count_text", "pages", "solutions"]

_FEWEST = 100
"""Rows of a page below which an endpoint that has not the time for it is asked again, not for less."""


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
