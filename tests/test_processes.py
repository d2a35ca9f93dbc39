"""Processes that are forked are as those that are started."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.processes import Forked, run_forked

PROGRAM = """
import atexit, os, resource, sys
print(sys.argv, os.getcwd(), os.environ["MINE"], resource.getrlimit(resource.RLIMIT_FSIZE), sys.stdin.read())
print(__name__, sys.path[0], len(os.environ), os.listdir("/proc/self/fd"), file=sys.stderr)
atexit.register(print, "at the end")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere both are started")
def test_forked_process_has_what_a_started_one_has(tmp_path: Path) -> None:
    arguments = ["-c", PROGRAM, "7", "two words"]
    options = {
        "cwd": tmp_path,
        "env": {**os.environ, "MINE": "Straße"},
        "preexec_fn": partial(resource.setrlimit, resource.RLIMIT_FSIZE, (5000, 5000)),
    }
    forked = run_forked(arguments, input="what is read", **options)
    started = subprocess.run(
        [sys.executable, *arguments], input="what is read", capture_output=True, encoding="utf-8", **options
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (7, started.stdout, started.stderr)
    assert forked.stdout.endswith("what is read\nat the end\n")


@pytest.mark.parametrize(
    ("program", "code", "last"),
    [
        ("", 0, []),
        ("raise SystemExit('words')", 1, ["words"]),
        ("raise SystemExit", 0, []),
        ("1 / 0", 1, ["ZeroDivisionError: division by zero"]),
        ("print(1); import os; os.close(1)", 120, []),
    ],
)
def test_forked_process_ends_as_the_program_says(program: str, code: int, last: list[str]) -> None:
    done = run_forked(["-c", program])
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (code, last)


def test_forked_process_is_a_child_that_signals_end() -> None:
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        program = "import os, time; print(os.getppid(), flush=True); time.sleep(60)"
        with Forked(["-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == f"{os.getpid()}\n"
            process.send_signal(number)
            assert process.wait(60) == -number
