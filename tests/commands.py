"""The command line as tests run it: within the test's process, or as a process of its own where that is what is tested.

Starting Python and importing what a verb needs takes half a second; the tests run verbs some hundreds of times: within
their own process (`run_verb`), else in one that is forked (`run_process`), and rarely by the real command.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from remix import cli
from tests.processes import run_forked

__all__ = ["Done", "run_command", "run_lines", "run_process", "run_verb"]

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
    """Return how a verb ended and what it printed, run in a folder by a process of its own (`tests.processes`)."""
    line = ["-m", "remix", *arguments]
    return run_forked(line, cwd=folder, preexec_fn=prepare, env={**os.environ, **environment})


def run_command(
    *arguments: str, folder: Path | None = None, prepare: Callable[[], None] | None = None, **environment: str
) -> Done:
    """Return how `python -m remix` ended and what it printed, where it matters how Python starts."""
    return subprocess.run(
        [sys.executable, "-m", "remix", *arguments],
        cwd=folder,
        capture_output=True,
        preexec_fn=prepare,
        env={**os.environ, **environment},
        encoding="utf-8",
        timeout=120,
    )


LINES = """
import json, sys
from tests.commands import run_verb
for line in json.load(sys.stdin):
    done = run_verb(*line)
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""


def run_lines(
    lines: Iterable[Sequence[str]],
    folder: Path,
    *,
    paths: Sequence[Path] = (),
    prepare: Callable[[], None] | None = None,
) -> list[Done]:
    """Return how verbs ended and what they printed, one after another in a folder, all in one process of its own.

    It imports from `paths`, too.
    """
    asked = list(lines)
    done = subprocess.run(
        [sys.executable, "-c", LINES],
        input=json.dumps(asked),
        cwd=folder,
        capture_output=True,
        preexec_fn=prepare,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path])},
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answers = map(json.loads, done.stdout.splitlines())
    return [subprocess.CompletedProcess(line, *answer) for line, answer in zip(asked, answers, strict=True)]
