"""Why nobody knows which answers a remix asks for, where that need not be tried to be told."""

from __future__ import annotations

from collections.abc import Iterable

from remix.measures.enrichment import frames_of
from remix.remixes.manifest import read_manifest
from remix.scoring.inputs.gold import knowledge_of
from remix.scoring.inputs.sources import Keeper
from remix.scoring.slicing.scope import find_obstacle


def explain_scope(keeper: Keeper, datasets: Iterable[str]) -> list[str]:
    """Return why P in scope is not known of loaded datasets of which annotations were dropped, as of remixes.

    Where trying alone tells why, it says what tells it.
    """
    store, told, tried = keeper.store, list[str](), list[str]()
    for name in datasets:
        if "dropped" not in frames_of(store, name).annotations["ignorable"]:
            continue
        found = read_manifest(store.folder / store.dataset(name).folder / "data.ttl")
        if found is None:
            reason = find_obstacle("", keeper.kb)
        else:
            reason = find_obstacle(found.query, keeper.kb, drawn=found.balance, knowledge=knowledge_of(found))
        if reason:
            told.append(f"{name}: P in scope is not known, as {reason}.")
        else:
            tried.append(name)
    if tried and not told:
        told = [f"Why P in scope is not known `remix evaluate {' '.join(tried)}` says."]
    return told
