"""The command line as tests run it: within the test's process, or as a process of its own where that is what is tested.

Starting Python and importing what a verb needs takes half a second; the tests run verbs some hundreds of times.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from remix import cli

__all__ = ["Done", "run_process", "run_verb"]

Done = subprocess.CompletedProcess[str]


def run_verb(*arguments: str, folder: Path | None = None) -> Done:
    """Return how a verb ended and what it printed, run in a folder by this process."""
    sinks = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    place = contextlib.nullcontext() if folder is None else contextlib.chdir(folder)
    with place, contextlib.redirect_stdout(sinks[0]), contextlib.redirect_stderr(sinks[1]):
        try:
            cli.carry_out(arguments)
        except SystemExit as end:
            code = end.code
    output, errors = (sink.buffer.getvalue().decode() for sink in sinks)  # type: ignore[attr-defined]
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, output, errors)


def run_process(
    *arguments: str, folder: Path | None = None, prepare: Callable[[], None] | None = None, **environment: str
) -> Done:
    """Return how a verb ended and what it printed, run in a folder by a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "remix", *arguments],
        cwd=folder,
        capture_output=True,
        preexec_fn=prepare,
        env={**os.environ, **environment},
        encoding="utf-8",
        timeout=120,
    )
