"""Where the queries, the ontology and the datasets that ship with the project are."""

from __future__ import annotations

from pathlib import Path

from remix.errors import Error

__all__ = ["folder"]

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
