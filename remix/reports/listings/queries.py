"""The queries that ship with remix, and their named sets of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from remix.reports.listings import Listing, Rows

if TYPE_CHECKING:
    from remix.store import Store


def _queries(_: Store, __: Path) -> Rows:
    from remix.store.queries import find, shipped_queries

    for one in map(find, shipped_queries().values()):
        yield {"name": one.name, "summary": one.summary, "parameters": list(one.parameters), "sets": list(one.sets)}


def _sets(_: Store, __: Path) -> Rows:
    from remix.store.queries import find, shipped_queries

    for one in map(find, shipped_queries().values()):
        for name, values in one.sets.items():
            yield {"query": one.name, "set": name, "values": ", ".join(f"{k}={value}" for k, value in values.items())}


queries = Listing("queries", "the queries that ship with remix", _queries)
sets = Listing("sets", "the named sets of parameters that queries have (--set-from)", _sets)
