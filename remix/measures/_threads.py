"""Several parts of a dataset at once: polars leaves the other threads of Python alone while it works."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar, overload

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


class cached_property(Generic[Result]):
    """The one of the standard library, which before Python 3.12 makes threads wait at a lock of all instances."""

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Result:
        return self if instance is None else self._value_of(instance)

    def _value_of(self, instance: Any) -> Result:
        value = vars(instance)[self._name] = self._compute(instance)
        return value


class shared_property(cached_property[Result]):
    """A cached property of an object with a `lock`: of several threads the first computes it, others wait."""

    def _value_of(self, instance: Any) -> Result:
        with instance.lock:
            known = vars(instance)
            return known[self._name] if self._name in known else super()._value_of(instance)
