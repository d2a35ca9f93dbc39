"""Workspaces that hold one document and no run."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.workspace import Workspace
from tests.workspaces import copy_workspace


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The gold of `run_store` (Ada, Alan, Bob as NIL, New York City) and no run; not to be changed."""
    made = Workspace(tmp_path_factory.mktemp("loaded") / ".remix")
    made.load([Path(__file__).parent / "small" / "gold.ttl"])
    return made


@pytest.fixture
def workspace(loaded: Workspace, tmp_path: Path) -> Workspace:
    """The same in a workspace of the test's own."""
    return copy_workspace(loaded.folder, tmp_path / ".remix")
