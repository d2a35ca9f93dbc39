"""A program that reads a text a line and writes an answer a line, as JSON, and lives until all are answered.

    {"id": 1, "text": "Ada met Bob", "spans": [[0, 3]]}
    {"id": 1, "mentions": [{"begin": 0, "end": 3, "entity": "Q7259"}]}

`spans` are told in D2KB alone. An answer may leave out the `id`; one with another is none. What the program prints
besides, which is no object with `mentions` (or an `error`), is a warning: it is passed on and counted. A program that
dies or is late fails the document that it was asked about, and is started again for the next. Its output has to be
flushed after each line.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from remix import progress
from remix.connections import Failure, finish_within
from remix.errors import UsageError
from remix.signature import content_hash
from remix.systems.answers import read_mentions
from remix.systems.asked import Adapter, Asking, TextAnswer, TextAsked

_SHOWN = 300


@dataclass(frozen=True)
class ProgramParameters:
    """Whose titles the program answers, and what its user says of its version, such as the revision of a model."""

    language: str = "en"
    revision: str = ""


class _ProgramAsker:
    def __init__(self, asking: Asking) -> None:
        self._words, self._asking = _split(asking.address), asking
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._number = 0

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return what the program answers to a text; raises `remix.connections.Failure` where there is none."""
        process = self._process or self._start()
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "text": text.text}
        if text.spans is not None:
            asked["spans"] = [list(span) for span in text.spans]
        line = json.dumps(asked).encode() + b"\n"
        try:
            finish_within(self._asking.timeout, lambda: _write(process, line))
        except OSError:
            raise self._end_with("died") from None
        except Failure:
            raise self._end_with(f"did not read the text within {self._asking.timeout:g} s") from None
        return self._read(text)

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors, self._lines = tempfile.TemporaryFile(), SimpleQueue()  # noqa: SIM115 closed with the process
        try:
            self._process = process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # an interruption is ours, and all that it started ends with it
            )
        except OSError as error:
            self._errors.close()
            raise Failure(f"cannot be started: {error.strerror}", unreached=True, lost=True) from None
        threading.Thread(target=_pass_lines, args=(process, self._lines), daemon=True).start()
        return process

    def _read(self, text: TextAsked) -> TextAnswer:
        warnings = 0
        while True:
            try:
                line = self._lines.get(timeout=self._asking.timeout)
            except Empty:
                raise self._end_with(f"did not answer within {self._asking.timeout:g} s") from None
            if line is None:
                raise self._end_with("died")
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                said = None
            if isinstance(said, dict) and said.get("id", self._number) != self._number:
                said = None  # an answer to what was asked before, which nobody waits for
            if isinstance(said, dict) and said.get("error"):
                raise Failure(f"answered an error: {str(said['error'])[:_SHOWN]}")
            if isinstance(said, dict) and "mentions" in said:
                answer = read_mentions(text, said["mentions"], self._asking.parameters.language)
                return replace(answer, told={**answer.told, "warnings": warnings}) if warnings else answer
            if line.strip():
                warnings += 1
                progress.note(f"{self._words[0]}: {line.decode('utf-8', 'replace').strip()[:_SHOWN]}")

    def _end_with(self, reason: str) -> Failure:
        """End the process, and return why with the last line that it wrote to standard error."""
        status, last = self._end(), ""
        if self._errors is not None:
            with suppress(OSError):
                self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2000))
                last = " ".join(
                    (self._errors.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1].split()
                )
            self._errors.close()
        code = f" with {status}" if reason == "died" and status is not None else ""
        return Failure(f"{reason}{code}{f': {last[:_SHOWN]}' if last else ''}")

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)  # one that died by itself has a status to tell
        status = process.poll()
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return status

    def close(self) -> None:
        """Tell the program that there is no more to ask, and end it."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()  # which tells it that there is no more
        self._end()
        if self._errors is not None:
            self._errors.close()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.flush()


def _pass_lines(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes | None]) -> None:
    """Pass on what a process prints, line by line, and None at its end."""
    assert process.stdout is not None
    with suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"'{command}' is no command ({error})") from None
    if not words:
        raise UsageError("the command of the program is empty")
    return words


def _identify(asking: Asking) -> Mapping[str, str]:
    """Return the hashes of the files that the command names."""
    files = [Path(word) for word in _split(asking.address)]
    return {"files": " ".join(content_hash(file) for file in files if file.is_file())}


program = Adapter(
    "program",
    "a program that reads and writes JSON Lines",
    _ProgramAsker,
    ProgramParameters,
    address="'COMMAND ARGUMENTS'",
    identify=_identify,
    parallel=1,
)
