"""Several parts of a dataset at once: polars leaves the other threads of Python alone while it works."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Generic, TypeVar, overload

import polars as pl

__all__ = ["AT_ONCE", "cached_property", "in_order", "shared_property"]

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


if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(Generic[Result]):
        """The one of Python 3.12: before, a lock for all instances together made threads wait for one another."""

        def __init__(self, compute: Callable[[Any], Result]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        @overload
        def __get__(self, instance: None, owner: type) -> cached_property[Result]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Result: ...

        def __get__(self, instance: object | None, owner: type) -> cached_property[Result] | Result:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


class shared_property(Generic[Result]):
    """A cached property of an object with a `lock`: of several threads the first computes it, others wait."""

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> shared_property[Result]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: Any, owner: type) -> shared_property[Result] | Result:
        if instance is None:
            return self
        with instance.lock:
            known = vars(instance)
            if self._name not in known:
                known[self._name] = self._compute(instance)
            result: Result = known[self._name]
            return result
