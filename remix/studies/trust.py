"""What a study may run or ask: a definition from somebody else runs nothing, and asks nobody, that was not allowed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from remix.connections import without_secrets
from remix.errors import Error
from remix.remixes.filters import open_filters
from remix.remixes.filters.definition import split_reference
from remix.remixes.filters.services import Surroundings
from remix.studies.definition import StudiedRemix, StudiedSystem, Study
from remix.systems.asked import ADAPTERS


def refusals(study: Study, allowed: Collection[str]) -> Iterator[str]:
    """Yield what a study would run or ask without being allowed to, and how it is allowed.

    A system that is part of remix computes its answers. Every other one is asked at an address, or is a program, a
    function or a declaration of these: it has to be allowed by its name in the study, its adapter or its address.
    """
    for one in study.systems:
        if is_asked(one) and not {one.name, one.adapter, one.address} & {*allowed} - {""}:
            where = f", at {one.address}" if one.address else ""
            yield (
                f"systems.{one.name}: it runs or asks '{one.adapter or one.name}'{where}, which a study may not by "
                f"itself: --allow {one.name}"
            )
    for name in study.datasets:
        if "://" in name and name not in allowed:
            yield f"datasets: {name} is an address, which a study may not ask by itself: --allow {name}"
    addresses = {*allowed, *map(without_secrets, allowed)}
    for remix in study.remixes:
        yield from (
            f"remixes.{remix.name}: its filter asks {address}, which a study may not by itself: --allow {address}"
            for address in sorted(_addresses(remix) - addresses)
        )


def _addresses(remix: StudiedRemix) -> set[str]:
    """Return the addresses that the filter of a remix asks; what is wrong in its file is told elsewhere."""
    named = split_reference(remix.query)
    if named is None:
        return set()
    try:
        return open_filters(named[0], Surroundings(), service=remix.service).find(named[1]).addresses
    except Error:
        return set()


def is_asked(system: StudiedSystem) -> bool:
    """Return whether a system is asked text by text, rather than part of remix."""
    adapter = system.adapter or system.name
    return bool(system.address) or adapter in ADAPTERS or adapter.endswith(".toml")
