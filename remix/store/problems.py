"""What Oxigraph's parser says about a query, in one line that a person can use."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox

from remix.errors import Error, QueryError, StoreError, is_panic
from remix.store.syntax import significant

_DISK = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "No such file or directory",
)
_DAMAGED = " (the index is damaged: `remix rebuild` makes it again from the datasets)"
_PLACE = re.compile(r"error at (\d+):(\d+): (?:expected (?:one of )?)?(.*)", re.DOTALL)


def syntax_error(text: str, message: str, name: str) -> str:
    """Return Oxigraph's message about a query as one line with file, line, column and what stands there.

    >>> syntax_error("SELECT * { ?s ?p }", "error at 1:18: expected one of LATERAL, [_]", "q.rq")
    "q.rq:1:18: the query does not parse here: '}'"
    >>> syntax_error("ASK { ?s x:a ?o }", "error at 1:14: expected one of ['%'], Prefix not found, [_]", "q.rq")
    "q.rq:1:10: prefix 'x:' is not declared"
    >>> syntax_error("ASK { ?s ?p ?o", "error at 1:15: expected one of LATERAL, [_]", "q.rq")
    "q.rq:1:15: the query does not parse here, after 'ASK { ?s ?p ?o'; a '{' is not closed"
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
    return f"{name}:{line}:{column}: the query does not parse here{found}{_tell_unclosed(text)}"


def _tell_unclosed(text: str) -> str:
    """Return which bracket of a query is not closed, or closes nothing, where their numbers are not the same."""
    tokens = [token for _, token in significant(text)]
    for opened, closed in ("{}", "()", "[]"):
        apart = tokens.count(opened) - tokens.count(closed)
        if apart:
            return f"; a '{opened}' is not closed" if apart > 0 else f"; a '{closed}' closes nothing"
    return ""


@contextlib.contextmanager
def guard(name: str) -> Iterator[None]:
    """Turn what Oxigraph raises while a query runs into an error of remix, also what a damaged index makes it do.

    >>> with guard("q.rq"):
    ...     raise RuntimeError("The custom function <urn:f> is not supported")
    Traceback (most recent call last):
    remix.errors.QueryError: q.rq calls the function <urn:f>, which is not known
    """
    try:
        yield
    except Error:
        raise
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        if unknown := re.search(r"[Tt]he custom (?:aggregate )?function (<[^>]*>) is not supported", str(error)):
            raise QueryError(f"{name} calls the function {unknown[1]}, which is not known") from None
        raise StoreError(f"{name}: {' '.join(str(error).split())}{_DAMAGED if _is_damage(error) else ''}") from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise StoreError(f"{name}: {' '.join(str(error).split())}{_DAMAGED}") from None


def _is_damage(error: Exception) -> bool:
    return any(word in str(error).lower() for word in ("corruption", "checksum", "invalid", "bad table", "truncated"))


def disk_error(error: BaseException) -> str:
    """Return what went wrong on a disk, without the files of the index that nobody knows.

    >>> disk_error(OSError("IO error: No space left on device: While appending to file: g1/7.sst: No space left"))
    'No space left on device'
    """
    said = " ".join(str(error).split())
    return next((reason for reason in _DISK if reason in said), said)


def open_index(folder: Path | None) -> ox.Store:
    """Return the index in a folder, read-only, and an empty one for None; raises `StoreError`."""
    try:
        return ox.Store() if folder is None else ox.Store.read_only(str(folder))
    except BaseException as error:
        if not isinstance(error, OSError | RuntimeError) and not is_panic(error):
            raise
        why = f"the index {folder} cannot be opened ({disk_error(error)})"
        raise StoreError(f"{why}: `remix rebuild` makes it again from the datasets") from None
