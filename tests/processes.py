"""Processes as `subprocess` starts Python in them, forked from one that has imported remix: in 30 ms, not in 500.

`Forked` is a `subprocess.Popen`, and all that may be asked of that may be asked of it: pipes, signals, exit codes. Only
what happens before the first line of remix is missing: the choice of the locale, options of Python, the installed
command. Tests of those start the real one. So does every test where the system is not Linux.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import io
import os
import pickle
import pkgutil
import runpy
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["Forked", "run_forked"]

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "remix.cli",
    "remix.formats",
    "remix.store",
    "remix.remixes",
    "remix.measures",
    "remix.reports",
    "remix.web",
)
"""What verbs import late, and often; polars and Oxigraph come with it, DuckDB, SciPy and Spark do not."""


class Forked(subprocess.Popen[Any]):
    """Python with arguments (`-m module …` or `-c program …`), as `subprocess.Popen([sys.executable, *arguments])`.

    What is run before the program (`preexec_fn`) is pickled, so that it is a function of a module or a partial one.
    """

    def __init__(self, arguments: Sequence[str], **options: Any) -> None:
        super().__init__([sys.executable, *arguments], **options)

    if sys.platform == "linux":

        def _execute_child(self, args: Sequence[str], *given: Any) -> None:
            _, prepare, _, _, folder, environment, _, _, _, *pipes = given[:15]
            request = _Request(args[1:], os.fspath(folder or Path.cwd()), dict(environment or os.environ), prepare)
            inherited = [pipe if pipe != -1 else number for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
            self.pid = _server().fork(request, inherited)
            self._child_created = True
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def run_forked(
    arguments: Sequence[str], *, input: str | None = None, timeout: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Return how Python with arguments ended and what it printed, as `subprocess.run` does."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", **options}
    with Forked(arguments, stdin=None if input is None else subprocess.PIPE, **options) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


@dataclass(frozen=True)
class _Request:
    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    prepare: Any


class _Server:
    """The process that forks, and the socket on which it is asked to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        # Its libraries start no threads of their own, which would not be in what is forked.
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", f"from {__name__} import _main; _main()", str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, cwd=CHECKOUT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=alone
        )
        theirs.close()
        atexit.register(self.close)

    def close(self) -> None:
        """End the process, which does so where nobody can ask it any more."""
        self._socket.close()
        self._process.wait()

    def fork(self, request: _Request, streams: Sequence[int]) -> int:
        """Return the number of a process that carries out a request with three streams; it is a child of this one."""
        asked = pickle.dumps(request)
        with self._lock, _adopting():
            socket.send_fds(self._socket, [struct.pack("!I", len(asked))], streams)
            self._socket.sendall(asked)
            (child,) = struct.unpack("!i", self._socket.recv(4, socket.MSG_WAITALL))
        return int(child)


@functools.cache
def _server() -> _Server:
    return _Server()


@contextlib.contextmanager
def _adopting() -> Any:
    """Make those that processes below this one leave behind within the block children of this one."""
    prctl, subreaper = ctypes.CDLL(None).prctl, 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
    prctl(subreaper, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(subreaper, 0, 0, 0, 0)


def _serve(connection: socket.socket) -> tuple[_Request, list[int]]:
    """Fork a process for each request; returns in that process, with the request and its streams."""
    while True:
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        if not size:
            os._exit(0)
        request = pickle.loads(connection.recv(struct.unpack("!I", size)[0], socket.MSG_WAITALL))
        # The process between ends at once, so that its child becomes one of the process that asked.
        reading, writing = os.pipe()
        if not (between := os.fork()):
            between = os.getpid()
            if not (child := os.fork()):
                for unused in (connection.detach(), reading, writing):
                    os.close(unused)
                while os.getppid() == between:
                    time.sleep(0.0002)
                return request, streams
            os.write(writing, struct.pack("!i", child))
            os._exit(0)
        os.waitpid(between, 0)
        connection.sendall(os.read(reading, 4))
        for unused in (reading, writing, *streams):
            os.close(unused)


def _become(request: _Request, streams: Sequence[int]) -> None:
    """Make this process what Python is that was started as requested."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    places = request.environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = ["", *(place for place in places if place and place not in sys.path)]
    if request.prepare:
        request.prepare()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, _stream(number, getattr(sys, name)))
        setattr(sys, f"__{name}__", getattr(sys, name))


def _stream(number: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    buffered = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
    by_line = number == 2 or buffered.isatty()
    return io.TextIOWrapper(buffered, like.encoding, like.errors, line_buffering=by_line)  # type: ignore[type-var]


def _run(option: str, program: str, *arguments: str) -> None:
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        assert option == "-c", option
        sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), vars(sys.modules["__main__"]))


def _end(error: BaseException | None) -> NoReturn:
    """End as Python does after what a program ended with, but for taking all modules apart, which takes long."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    elif error is not None:
        traceback.print_exception(error)
        code = 1
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120
    os._exit(code & 0xFF)


def _main() -> None:
    for name in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(module.name)
    # Those of polars and its allocator wait for work that a forked process does not give them.
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which Ctrl-C sends to tests, which end this by its socket
    request, streams = _serve(socket.socket(fileno=int(sys.argv[1])))
    _become(request, streams)
    try:
        _run(*request.arguments)
    except BaseException as error:
        _end(error)
    _end(None)
