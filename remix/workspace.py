"""The object that users hold: a folder with the store, the knowledge base and the runs.

Every method is one call into a stage; the verbs of the command line are these methods, parameter for parameter.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remix.store import Store

__all__ = ["Workspace", "open_workspace"]

DEFAULT_FOLDER = Path(".remix")


class Workspace:
    """A workspace: what is loaded, enriched and built in one folder (`.remix` by default)."""

    def __init__(self, folder: Path | str = DEFAULT_FOLDER) -> None:
        self.folder = Path(folder)

    @cached_property
    def store(self) -> Store:
        """Return the store of the workspace; it is made at the first load."""
        from remix.store import Store

        return Store(self.folder)


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """Return the workspace of a folder (`.remix` by default), which need not exist yet.

    >>> open_workspace("work/").folder.name
    'work'
    """
    return Workspace(folder or DEFAULT_FOLDER)
