"""Copies of a workspace that fixtures made once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from remix.workspace import Workspace

__all__ = ["copy_workspace"]


def copy_workspace(folder: Path, to: Path) -> Workspace:
    """Return a copy of a workspace that a test may change.

    The tables of an index are most of its bytes and never written again, so the copy has links to them.
    """
    shutil.copytree(folder, to, copy_function=_link_table)
    return Workspace(to)


def _link_table(source: str, target: str) -> str:
    if source.endswith(".sst"):
        os.link(source, target)
        return target
    return shutil.copy2(source, target)
