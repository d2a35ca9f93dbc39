"""Answers that are kept: a log on the disk, to which each answer is appended and synced before anything else.

A line has the key of an answer, the hash of all that can change it (`remix.systems.asked.hash_description`), and the
answer. Failures are never kept. A line that a killed process left half written is no answer; the next begins below it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from urllib.parse import quote

from remix.errors import Error
from remix.systems.asked import LinkedSpan, TextAnswer


class AnswerLog:
    """The kept answers of a system, by their keys; answers of several processes may be appended to one log.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AnswerLog(Path(folder), "nif") as log:
    ...         log.keep("k", TextAnswer((LinkedSpan(0, 3, ("http://example.org/Ada",)),)))
    ...     with AnswerLog(Path(folder), "nif") as log:
    ...         log.find("k").spans[0].entities, log.find("other")
    (('http://example.org/Ada',), None)
    """

    def __init__(self, folder: Path | None, system: str) -> None:
        """Open the log of a system in a folder; without one, answers are kept in memory alone."""
        self._answers: dict[str, TextAnswer] = {}
        self._stream: FileIO | None = None
        if folder is None:
            return
        file = folder / f"{quote(system, safe=' ')}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._stream = FileIO(os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "a+")
            self._read(file)
        except OSError as error:
            raise Error(f"the kept answers in {file} cannot be opened ({error.strerror})") from None

    def _read(self, file: Path) -> None:
        content = file.read_bytes()
        for line in content.split(b"\n"):
            try:
                said = json.loads(line)
                self._answers[said["key"]] = _parse(said["answer"])
            except (ValueError, KeyError, TypeError):
                continue  # half a line, or an empty one
        if content and not content.endswith(b"\n"):
            self._write(b"\n")

    def find(self, key: str) -> TextAnswer | None:
        """Return the answer of a key, None where there is none."""
        return self._answers.get(key)

    def keep(self, key: str, answer: TextAnswer) -> None:
        """Keep an answer: it is on the disk when this returns; raises `Error` where it cannot be."""
        self._answers[key] = answer
        line = json.dumps({"key": key, "answer": asdict(answer)}, ensure_ascii=False, separators=(",", ":"))
        try:
            self._write(f"{line}\n".encode())
        except OSError as error:
            raise Error(f"an answer cannot be kept ({error.strerror}): what was kept before it stays") from None

    def _write(self, content: bytes) -> None:
        if self._stream is not None:
            self._stream.write(content)
            os.fsync(self._stream.fileno())

    def __enter__(self) -> AnswerLog:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()


def _parse(said: dict[str, object]) -> TextAnswer:
    """Return the answer that JSON says; raises `TypeError` and `KeyError` for what is none."""
    spans = said.pop("spans")
    if not isinstance(spans, list):
        raise TypeError
    linked = tuple(LinkedSpan(**{**span, "entities": tuple(span["entities"])}) for span in spans)
    return TextAnswer(linked, **said)  # type: ignore[arg-type]
