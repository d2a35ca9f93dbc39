"""The knowledge base: a dictionary of surface forms, prominence, types, redirects and sameAs of entities.

`build` writes one, `open_kb` finds one by its name and `KnowledgeBase.open` in its folder, `lookup` answers people.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.errors import MissingKnowledge, StoreError, UnknownName
from remix.kb.forms import normalise
from remix.kb.knowledge import KnowledgeBase
from remix.kb.lookup import lookup
from remix.resources import folder

if TYPE_CHECKING:
    from remix.kb.construction import build
    from remix.store import Store

__all__ = ["SHIPPED", "KnowledgeBase", "attached_kb", "build", "lookup", "normalise", "open_kb"]

SHIPPED = "sample"
"""The name of the knowledge base that ships with the project."""


def __getattr__(name: str) -> Any:
    if name != "build":
        raise AttributeError(f"module 'remix.kb' has no attribute '{name}'")
    from remix.kb.construction import build  # with its engines, which asking a knowledge base does not need

    return build


def attached_kb(store: Store) -> KnowledgeBase | None:
    """Return the knowledge base that is attached to a workspace, None without one."""
    return KnowledgeBase.open(place) if (place := store.kb_folder) else None


def usable_kb(store: Store) -> tuple[KnowledgeBase | None, str]:
    """Return the attached knowledge base, None without one, and why it cannot be opened, for what does without it."""
    place = store.kb_folder
    try:
        return (KnowledgeBase.open(place) if place else None), ""
    except (MissingKnowledge, StoreError) as error:
        return None, str(error)


def open_kb(to: Path, name: str) -> KnowledgeBase:
    """Return a knowledge base built into `to`, by its name, of which it is the newest, with its version, or its folder.

    The one that ships with the project is built when it is first asked for. Raises `UnknownName` with the nearest that
    was built.
    """
    if (Path(name) / "kb.json").exists():
        return KnowledgeBase.open(Path(name))
    if name == SHIPPED:
        from remix.kb.construction import build

        return build([("tables", str(folder("datasets") / "kb"))], to, name=SHIPPED, engine="polars")
    built = [file.parent for file in to.glob("*/kb.json")]
    fitting = [kb for kb in built if name in (kb.name, kb.name.rpartition("-")[0])]
    if not fitting:
        raise UnknownName("knowledge base", name, {kb.name.rpartition("-")[0] for kb in built} | {SHIPPED})
    return KnowledgeBase.open(max(fitting, key=lambda kb: ((kb / "kb.json").stat().st_mtime_ns, kb.name)))
