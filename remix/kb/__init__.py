"""The knowledge base: a dictionary of surface forms, prominence, types, redirects and sameAs of entities.

`build` writes one, `KnowledgeBase.open` reads it, `lookup` answers people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from remix.kb.forms import normalise
from remix.kb.knowledge import KnowledgeBase
from remix.kb.lookup import lookup

__all__ = ["KnowledgeBase", "build", "build_from_tables", "lookup", "normalise"]


if TYPE_CHECKING:
    import polars as pl


class Building(TypedDict, total=False):
    """What a knowledge base is built by, as `remix.kb.construction.build` says."""

    languages: Sequence[str]
    strict: bool
    without_sources: Iterable[str]
    uncounted: Iterable[str]
    complete: bool
    damping: float
    tolerance: float
    scores: str
    forms: pl.Series | None
    entities: pl.Series | None
    date: str
    licence: str
    mixed_releases: bool
    fresh: bool
    engine: str
    memory: str
    cache: Path | None
    refresh: bool


def build(sources: Sequence[tuple[str, str]], to: Path, *, name: str, **choices: Unpack[Building]) -> KnowledgeBase:
    """Return the knowledge base built from sources (kind and place) into `<to>/<name>-<version>`.

    `build([("dbpedia", "2022.12.01"), ("anchors", "anchors.tsv")], Path("kb"), name="english")`. See
    `remix.kb.construction.build` for the choices and the errors.
    """
    from remix.kb.construction import build as built  # with its engine, which asking a knowledge base does not need

    return KnowledgeBase.open(built(sources, to, name=name, **choices))


def build_from_tables(tables: Path, to: Path, *, name: str, **choices: Unpack[Building]) -> KnowledgeBase:
    """Return the knowledge base built from one folder of tables; see `build`."""
    return build([("tables", str(tables))], to, name=name, **choices)
