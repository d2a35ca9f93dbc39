"""The knowledge base: a dictionary of surface forms, prominence, types, redirects and sameAs of entities.

`build_from_tables` writes one, `KnowledgeBase.open` reads it, `lookup` answers people.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from remix.kb import build
from remix.kb.build import UNCOUNTED
from remix.kb.forms import normalise
from remix.kb.knowledge import KnowledgeBase
from remix.kb.lookup import lookup

__all__ = ["UNCOUNTED", "KnowledgeBase", "build_from_tables", "lookup", "normalise"]


def build_from_tables(
    tables: Path,
    to: Path,
    *,
    name: str,
    without_sources: Iterable[str] = (),
    uncounted: Iterable[str] = UNCOUNTED,
    complete: bool = False,
    damping: float = 0.85,
    tolerance: float = 1e-12,
) -> KnowledgeBase:
    """Return the knowledge base built from a folder of tables into `<to>/<name>-<version>`.

    See `remix.kb.build.build_from_tables` for the parameters and the errors.
    """
    folder = build.build_from_tables(
        tables,
        to,
        name=name,
        without_sources=without_sources,
        uncounted=uncounted,
        complete=complete,
        damping=damping,
        tolerance=tolerance,
    )
    return KnowledgeBase.open(folder)
