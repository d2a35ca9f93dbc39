"""Several parts of a dataset at once: polars leaves the other threads of Python alone while it works."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from typing import Any, Self, TypeVar, overload

import polars as pl

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE = 4
"""How many parts are worked on at most: each needs memory, and within each polars uses further cores."""


def in_order(work: Callable[[Item], Result], items: Iterable[Item], then: Callable[[Result], None]) -> None:
    """Work on the items in as many threads as polars has, up to `AT_ONCE`; give what comes out to `then`.

    That is called in this thread, once an item and in their order. No more items are under way than there are threads,
    and one that waits. After an exception, which is raised here, or Ctrl-C no further item is begun.

    >>> in_order(str.upper, ["a", "b", "c"], print)
    A
    B
    C
    """
    threads = min(pl.thread_pool_size(), AT_ONCE)
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                under_way.append(pool.submit(copy_context().run, work, item))
                if len(under_way) > threads:
                    then(under_way.popleft().result())
            while under_way:
                then(under_way.popleft().result())
        finally:
            for future in under_way:
                future.cancel()


class cached_property(functools.cached_property[Result]):
    """The one of the standard library without its lock, at which before Python 3.12 threads wait for all instances."""

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        super().__init__(compute)
        self.lock = nullcontext()


class shared_property(cached_property[Result]):
    """A cached property of an object with a `lock`: of several threads the first computes it, others wait."""

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> Result: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Self | Result:
        if instance is None:
            return self
        with instance.lock:
            value: Result = super().__get__(instance, owner)
            return value
