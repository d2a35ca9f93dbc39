"""A real server in a process of its own, over a small workspace."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from remix.store import Store
from remix.workspace import Workspace, open_workspace
from tests.processes import PythonProcess
from tests.web.pages import Get, pages_of

client = httpx.Client(timeout=60, verify=False, limits=httpx.Limits(max_keepalive_connections=0))
"""What asks: patient, for the machine may be busy, with a connection a request."""


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address of the endpoint over a workspace, while its process lives."""
    command = ["-m", "remix", "serve", "-w", str(folder), "--port", "0", *options]
    with PythonProcess(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "SPARQL endpoint at " in line, line + process.stderr.read()
            yield line.split()[-1]
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            finally:
                process.kill()  # else the end of the block would wait for it without a limit


@pytest.fixture(scope="session")
def serve() -> Callable[..., object]:
    """Starts a server: `with serve(folder, *options) as address`."""
    return serving


@pytest.fixture(scope="session")
def address(small_store: Store) -> Iterator[str]:
    """The address of a server over the small store, with the limits that a server has by itself."""
    with serving(small_store.folder) as address:
        yield address


@pytest.fixture(scope="module")
def work(run_store: Store) -> Workspace:
    """The workspace whose pages are looked at; a module that looks at others has a fixture of this name."""
    return open_workspace(run_store.folder)


@pytest.fixture(scope="module")
def get(work: Workspace) -> Iterator[Get]:
    """What gets an address of the pages of the workspace of the module."""
    with pages_of(work) as get:
        yield get
