"""All solutions of a query about many keys, whatever limits the endpoint has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from remix.errors import StoreError
from remix.kb.endpoints.remote import Remote, TooHeavy

__all__ = ["solutions"]


def solutions(
    remote: Remote,
    prologue: str,
    select: Callable[[Sequence[str]], str],
    keys: Sequence[str],
    variables: Sequence[str],
    *,
    most: int,
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
        if not answer.cut or (count := remote.number(_count(prologue, query))) == answer.rows.height:
            yield answer.rows
        elif count < answer.rows.height:
            raise StoreError(f"{remote.address} gave {answer.rows.height} rows and counts {count}: try again later")
        elif len(some) > 1:
            pending += _halves(some)
        elif count > most:
            left_out(some[0], count)
        else:
            yield from _pages(remote, prologue, query, variables, count)


def _halves(keys: list[str]) -> list[list[str]]:
    """Return both halves, the first one last: that is taken next."""
    middle = len(keys) // 2
    return [keys[middle:], keys[:middle]]


def _count(prologue: str, query: str) -> str:
    return f"{prologue}\nSELECT (COUNT(*) AS ?n) WHERE {{ {{ {query} }} }}"


def _pages(remote: Remote, prologue: str, query: str, variables: Sequence[str], count: int) -> Iterator[pl.DataFrame]:
    # The order is inside: Virtuoso refuses to sort for a LIMIT whose OFFSET is above 10,000.
    ordered = f"{query} ORDER BY {' '.join(f'?{name}' for name in variables)}"
    names = " ".join(f"?{name}" for name in variables)
    read = 0
    for offset in range(0, count, remote.bound):
        page = f"{prologue}\nSELECT {names} WHERE {{ {{ {ordered} }} }} LIMIT {remote.bound} OFFSET {offset}"
        rows = remote.select(page, variables).rows
        read += rows.height
        yield rows
    if read != count:
        raise StoreError(f"{remote.address} counts {count} rows and gave {read} of them: its data changed meanwhile")
