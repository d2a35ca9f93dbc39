"""What Oxigraph's parser says about a query, in one line that a person can use."""

from __future__ import annotations

import re

__all__ = ["disk_error", "syntax_error", "unopened"]

_DISK = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "No such file or directory",
)
_PLACE = re.compile(r"error at (\d+):(\d+): (?:expected (?:one of )?)?(.*)", re.DOTALL)


def syntax_error(text: str, message: str, name: str) -> str:
    """Return Oxigraph's message about a query as one line with file, line, column and what stands there.

    >>> syntax_error("SELECT * { ?s ?p }", "error at 1:18: expected one of LATERAL, [_]", "q.rq")
    "q.rq:1:18: the query does not parse here: '}'"
    >>> syntax_error("ASK { ?s x:a ?o }", "error at 1:14: expected one of ['%'], Prefix not found, [_]", "q.rq")
    "q.rq:1:10: prefix 'x:' is not declared"
    """
    place = _PLACE.match(message)
    if place is None:
        return f"{name}: {' '.join(message.split())}"
    line, column = int(place[1]), int(place[2])
    lines = text.split("\n")
    here = lines[line - 1] if line <= len(lines) else ""
    if "Prefix not found" in place[3] and (used := re.search(r"([\w.-]*:)[\w:%.\\-]*\s*$", here[: column - 1])):
        return f"{name}:{line}:{used.start() + 1}: prefix '{used[1]}' is not declared"
    # Among the tokens that would have been accepted Oxigraph puts the reason, where it has one, as a sentence.
    said = re.search(r"(?:^|, )((?:The|Invalid|Unexpected|Duplicate)[^,\[]{6,})", place[3])
    if said:
        return f"{name}:{line}:{column}: {said[1].strip()}"
    rest = here[column - 1 :].strip()
    found = f": '{rest[:40]}'" if rest else f", after '{here[-40:].strip()}'" if here.strip() else ""
    return f"{name}:{line}:{column}: the query does not parse here{found}"


def disk_error(error: Exception) -> str:
    """Return what went wrong on a disk, without the files of the index that nobody knows.

    >>> disk_error(OSError("IO error: No space left on device: While appending to file: g1/7.sst: No space left"))
    'No space left on device'
    """
    said = " ".join(str(error).split())
    return next((reason for reason in _DISK if reason in said), said)


def unopened(folder: object, error: Exception) -> str:
    """Return why an index cannot be opened, and what to do about it."""
    return f"the index {folder} cannot be opened ({disk_error(error)}): remove that folder, and it is built again"
