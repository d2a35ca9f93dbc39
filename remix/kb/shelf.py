"""The knowledge bases of a workspace: built into its folder `kb`, found again by name."""

from __future__ import annotations

from pathlib import Path

from remix.errors import UnknownName
from remix.resources import folder

__all__ = ["SHIPPED", "find"]

SHIPPED = "sample"
"""The name of the knowledge base that ships with the project."""


def find(to: Path, name: str) -> Path:
    """Return the folder of a knowledge base: a path, a name with its version, or a name alone (the newest of it).

    Raises `UnknownName` with the nearest that was built.
    """
    if (Path(name) / "kb.json").exists():
        return Path(name)
    if name == SHIPPED:
        return _build_shipped(to)
    built = [file.parent for file in to.glob("*/kb.json")]
    fitting = [kb for kb in built if name in (kb.name, kb.name.rpartition("-")[0])]
    if not fitting:
        known = {kb.name.rpartition("-")[0] for kb in built} | {SHIPPED}
        raise UnknownName("knowledge base", name, known)
    return max(fitting, key=lambda kb: ((kb / "kb.json").stat().st_mtime_ns, kb.name))


def _build_shipped(to: Path) -> Path:
    """Return the folder of the knowledge base that ships with the project, built when it is first needed."""
    from remix.kb.construction import build

    return build([("tables", str(folder("datasets") / "kb"))], to, name=SHIPPED, engine="polars")
