"""A function in Python: `MODULE:NAME` is called with a text and, in D2KB, its spans, and returns what it links.

    def link(text, spans=None):
        return [(0, 3, "http://dbpedia.org/resource/Ada_Lovelace", 0.9)]

An answer is begin, end and entity (None is NIL; an IRI, a QID, or a title of Wikipedia), with a confidence if there is
one; or an object with these keys. Whatever the function raises fails the document.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from remix.connections import Failure, finish_within
from remix.errors import UsageError
from remix.signature import content_hash
from remix.systems.answers import read_mentions
from remix.systems.asked import Adapter, Asking, TextAnswer, TextAsked


@dataclass(frozen=True)
class FunctionParameters:
    """Whose titles the function answers, and what its user says of its version, such as the revision of a model."""

    language: str = "en"
    revision: str = ""


def find_function(address: str) -> Callable[..., Any]:
    """Return the function that an address `MODULE:NAME` names; raises `UsageError` where there is none.

    >>> find_function("json:loads")("[1]")
    [1]
    """
    module, colon, name = address.partition(":")
    if not (colon and name):
        raise UsageError(f"'{address}' names no function: write MODULE:NAME")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # as `python -m` has it
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"there is no function {address} ({error})") from None
    if not callable(found):
        raise UsageError(f"{address} is no function but a {type(found).__name__}")
    return found  # type: ignore[no-any-return]


class _FunctionAsker:
    def __init__(self, asking: Asking, given: Callable[..., Any] | None = None) -> None:
        self._function = given or find_function(asking.address)
        self._language = asking.parameters.language
        self._timeout = asking.timeout

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return what the function returns of a text; raises `remix.connections.Failure` where there is none."""
        spans = None if text.spans is None else list(text.spans)
        given = (text.text,) if spans is None else (text.text, spans)
        try:
            found = finish_within(self._timeout, lambda: self._function(*given))
        except Failure:
            raise
        except Exception as error:
            raise Failure(f"raised {type(error).__name__}: {' '.join(str(error).split())[:160]}") from None
        return read_mentions(text, found, self._language)

    def close(self) -> None:
        """End nothing: there is no connection."""


def _identify(asking: Asking, given: Callable[..., Any] | None = None) -> Mapping[str, str]:
    """Return the hash of the file that the function stands in."""
    found = given or find_function(asking.address)
    source = ""
    with suppress(TypeError, OSError):
        source = content_hash(Path(inspect.getsourcefile(found) or ""))
    return {"source": source}


function = Adapter(
    "function",
    "a function in Python",
    _FunctionAsker,
    FunctionParameters,
    address="MODULE:NAME",
    identify=_identify,
    parallel=1,
)


def name_function(given: Callable[..., Any]) -> str:
    """Return what a function in memory is called: its name, that of its class, `function` of one without a name.

    >>> name_function(len), name_function(lambda text: [])
    ('len', 'function')
    """
    name: str = getattr(given, "__name__", type(given).__name__)
    return name if name.isidentifier() else "function"


def adapter_of(given: Callable[..., Any]) -> Adapter:
    """Return the adapter of a function in memory, which is called in the place of one that an address names.

    What it answers may depend on more than its source, as on a model that it holds: kept answers are another run's.
    """
    return replace(function, open=partial(_FunctionAsker, given=given), identify=partial(_identify, given=given))


def address_of(given: Callable[..., Any]) -> str:
    """Return module and name of a function in memory, for the record of its run."""
    return f"{getattr(given, '__module__', '')}:{getattr(given, '__qualname__', type(given).__qualname__)}"
