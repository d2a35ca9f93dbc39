"""Python in processes of their own, none of which outlives what started it, or is waited for without an end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

LIMIT = 120
"""Seconds within which a process ends of which nothing else is said."""


class PythonProcess(subprocess.Popen[Any]):
    """Python with arguments (`-m module …` or `-c program …`), as `subprocess.Popen([sys.executable, *arguments])`.

    As a context it is killed where the block fails: `Popen` alone would wait for a server that nobody stops any more,
    and the failure would never be told.
    """

    def __init__(self, arguments: Sequence[str], **options: Any) -> None:
        super().__init__([sys.executable, *arguments], **options)

    def __exit__(self, kind: type[BaseException] | None, value: Any, traceback: Any) -> None:
        try:
            if kind is None:
                self.wait(LIMIT)
        finally:
            self.kill()
            super().__exit__(kind, value, traceback)


def run_python(
    arguments: Sequence[str], *, input: str | None = None, timeout: float = LIMIT, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Return how Python with arguments ended and what it printed."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", **options}
    with PythonProcess(arguments, stdin=None if input is None else subprocess.PIPE, **options) as process:
        output, errors = process.communicate(input, timeout)
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)
