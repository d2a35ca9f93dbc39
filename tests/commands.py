"""The command line as tests run it: within the test's process, or as a process of its own where that is what is tested.

Starting Python and importing what a verb needs takes half a second, and the tests run verbs some hundreds of times:
within their own process (`run_verb`), and by the real command (`run_process`) where signals, streams and limits matter.
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
from tests.processes import run_python

__all__ = ["Done", "run_lines", "run_process", "run_verb"]

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
    """Return how `python -m remix` ended and what it printed, run in a folder."""
    line = ["-m", "remix", *arguments]
    return run_python(line, cwd=folder, preexec_fn=prepare, env={**os.environ, **environment})


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
    done = run_python(
        ["-c", LINES],
        input=json.dumps(asked),
        cwd=folder,
        preexec_fn=prepare,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    answers = map(json.loads, done.stdout.splitlines())
    return [subprocess.CompletedProcess(line, *answer) for line, answer in zip(asked, answers, strict=True)]
