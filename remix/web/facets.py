"""How many values of a facet a page lists, and what leads to the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from remix.errors import UnknownName
from remix.web import page

UNFOLDED = "every"
"""The parameter that names the facet of which all values are listed."""
_FEW = 12
"""Values of a facet that are listed by themselves."""
_MOST = 500
"""Values that are listed where all are asked for."""


def limit_values(asked: Mapping[str, str], facet: str) -> int:
    """Return how many values of a facet an address asks for."""
    return _MOST if asked.get(UNFOLDED) == facet else _FEW


def find_unfolded(asked: Mapping[str, str], facets: Iterable[str]) -> list[UnknownName]:
    """Return what is said of an address that asks for all values of a facet that its page does not have."""
    said, known = asked.get(UNFOLDED, ""), [*facets]
    return [UnknownName("filter of this page", said, known)] if said and said not in known else []


def turn_values(asked: Mapping[str, str], facet: str) -> dict[str, str]:
    """Return what an address asks for that lists all values of a facet or, where this one does, the first again."""
    return {**asked, UNFOLDED: "" if asked.get(UNFOLDED) == facet else facet}


def tell_values(name: str, shown: Sequence[page.FacetValue], number: int, turned: str) -> page.FacetCounts:
    """Return a facet with the values that are shown of a `number`, and the address of all of them, or of the first.

    >>> some = [page.FacetValue(str(nth), 1, "") for nth in range(12)]
    >>> [(one.left, one.turned) for one in (tell_values("a", some, 30, "/all"), tell_values("a", some, 12, "/all"))]
    [(18, '/all'), (0, '')]
    """
    unfolded = len(shown) > _FEW + 1  # the one that is chosen may be another than the first
    return page.FacetCounts(name, shown, number - len(shown), turned if number > _FEW else "", unfolded)
