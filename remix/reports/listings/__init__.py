"""Listings: the kinds of things that `remix list` shows. A file may hold several listings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.registry import Registry

if TYPE_CHECKING:
    from remix.store import Store

Rows = Iterable[dict[str, object]]


@dataclass(frozen=True)
class Listing:
    """A kind of thing: its name in the plural, and a row for each that there is.

    `rows(store, runs)` takes the store of the workspace and the folder of its runs. It imports what it needs itself, so
    that naming the kinds loads nothing. `parts` returns the registry of what is found by scanning for `remix show`: one
    of them is called `kind` there, as in `remix show profile:NAME`, and where several kinds have a name, that of the
    lowest `rank` is shown. `brief` are the columns that people are shown, a line a thing; without them all are.
    """

    name: str
    summary: str
    rows: Callable[[Store, Path], Rows]
    kind: str = ""
    parts: Callable[[], Registry[Any]] | None = None
    rank: int = 100
    brief: tuple[str, ...] = ()


LISTINGS: Registry[Listing] = Registry("kind of thing", "remix.reports.listings", Listing, "kinds")
