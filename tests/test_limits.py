"""No test waits for ever, and no process outlives the test that started it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.processes import PythonProcess, run_python

CONFIGURATION = Path(__file__).resolve().parent.parent / "pyproject.toml"
HANGING = """
import threading

def test_waits():
    threading.Thread(target=threading.Event().wait, name="the other thread", daemon=True).start()
    threading.Event().wait()

def test_after_it():
    pass
"""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"


DYING = """
import os

def test_dies():
    os._exit(1)

def test_after_it():
    pass
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Return how the tests of a folder end that are run as those of the project are."""
    line = ["-m", "pytest", "-c", str(CONFIGURATION), "--rootdir", str(folder), "-p", "no:cacheprovider", *options]
    return run_python([*line, str(folder)], cwd=folder, timeout=100)


@pytest.mark.long
def test_a_test_that_waits_for_ever_fails_with_the_stacks_of_all_threads(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    done = run_pytest(tmp_path, "-o", "timeout=1")
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "Timeout (>1.0s)" in done.stdout and "Stack of the other thread" in done.stdout + done.stderr


@pytest.mark.long
def test_the_suite_ends_where_a_process_of_it_dies(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING)
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text("def test_one(): pass\ndef test_other(): pass\n")
    done = run_pytest(tmp_path, "-n", "2", "--dist", "loadfile")
    assert done.returncode == 1 and "crashed while running 'test_dying.py::test_dies'" in done.stdout, done.stdout


def test_every_test_has_a_limit(request: pytest.FixtureRequest) -> None:
    assert 0 < float(request.config.getini("timeout")) <= 120
    assert request.config.getini("faulthandler_exit_on_timeout")


def test_a_process_that_does_not_listen_is_killed_where_its_test_fails() -> None:
    with pytest.raises(subprocess.TimeoutExpired), PythonProcess(["-c", DEAF], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        process.wait(timeout=0.2)
    assert process.returncode == -9
