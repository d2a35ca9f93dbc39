"""Listings: the kinds of things that `remix list` shows. A file may hold several listings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from remix.registry import Registry

if TYPE_CHECKING:
    from remix.store import Store

__all__ = ["LISTINGS", "Listing", "Rows"]

Rows = Iterable[dict[str, object]]


@dataclass(frozen=True)
class Listing:
    """A kind of thing: its name in the plural, and a row for each that there is.

    `rows(store, runs)` takes the store of the workspace and the folder of its runs. It imports what it needs itself, so
    that naming the kinds loads nothing.
    """

    name: str
    summary: str
    rows: Callable[[Store, Path], Rows]


LISTINGS: Registry[Listing] = Registry("kind of thing", "remix.reports.listings", Listing, "kinds")
