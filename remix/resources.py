"""Where the queries, the ontology and the datasets that ship with the project are, and what others add to them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.errors import Error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `queries`, `ontology` or `datasets`, in the installed wheel or the checkout.

    An editable install does not create the wheel's `_data` folder, so the checkout is looked at next.

    >>> folder("queries").name
    'queries'
    """
    for place in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise Error(f"this installation lacks its folder '{name}': install nel-remix again")


def files(name: str, suffix: str) -> dict[str, Path]:
    """Return the files of a suffix in such a folder by their stems, sorted, with those that other distributions add.

    These have an entry point of the group `remix.queries`, `remix.datasets` or `remix.datasets.formats`, which names a
    package whose folder holds such files. Raises `Error` for two files of one name.

    >>> files("queries", ".rq")["basic"].name
    'basic.rq'
    """
    group = f"remix.{name.replace('/', '.')}"
    folders = [folder(name), *(Path(next(iter(each.load().__path__))) for each in entry_points(group))]
    found: dict[str, Path] = {}
    for file in (file for place in folders for file in sorted(place.glob(f"*{suffix}"))):
        if found.setdefault(file.stem, file) is not file:
            raise Error(f"two files of {name} are named '{file.stem}': {found[file.stem]} and {file}; rename one")
    return dict(sorted(found.items()))


def entry_points(group: str) -> EntryPoints:
    """Return the entry points of a group, by which other distributions add to remix."""
    found: EntryPoints = _installed_entry_points(tuple(sys.path)).select(group=group)
    return found


@cache
def _installed_entry_points(path: tuple[str, ...]) -> Any:
    """Return the entry points on a path, of a type that Python 3.12 changed: all take as long as those of one group."""
    from importlib.metadata import entry_points  # which reads as much of the library as a process for a query does

    return entry_points()
