"""Systems that are asked text by text: services, models, programs and functions, each behind an adapter.

An adapter is one file in `remix/systems/adapters/`, found by scanning, or a declaration in `datasets/services/`. What
all of them need stands around it: `remix.systems.asking` asks several at a time and again after a failure, and
`remix.systems.kept` keeps what was answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from remix.connections import split_credentials, without_secrets
from remix.errors import UsageError
from remix.registry import Registry
from remix.signature import content_hash
from remix.systems.parameters import Value, describe_parameters

Span = tuple[int, int]
"""Where a mention begins and ends, in code points, the end exclusive."""


@dataclass(frozen=True)
class TextAsked:
    """A text that a system is asked about; in D2KB with the `spans` to link, which are None in A2KB."""

    document: str
    text: str
    spans: tuple[Span, ...] | None = None


@dataclass(frozen=True)
class LinkedSpan:
    """What a system says of a span: its `entities` as IRIs, of which each is right by itself; none of them is NIL."""

    begin: int
    end: int
    entities: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True)
class TextAnswer:
    """What a system answers to a text.

    `told` counts what was odd, by a word for it: mentions that the text does not have (`not-in-text`), offsets that
    were moved (`moved`), …. `input_tokens` and `output_tokens` are what a model says it took, `finish` why it ended.
    """

    spans: tuple[LinkedSpan, ...] = ()
    told: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    finish: str = ""


class Asker(Protocol):
    """One connection to a system: one text is asked at a time."""

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return the answer to a text; raises `remix.connections.Failure` where there is none."""

    def close(self) -> None:
        """End the connection; nothing is asked any more."""


@dataclass(frozen=True)
class Asking:
    """How a system is asked: where it is, with which parameters, for which task, and how long an answer may take."""

    address: str
    parameters: Any
    task: str = "A2KB"
    seed: int = 0
    timeout: float = 60.0


def _nothing(_: Asking) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Adapter:
    """How systems of a kind are asked: its name, what it is in one line, and how a connection is opened.

    - `version` grows when the same answer of the system would be read otherwise: kept answers are then asked again;
    - `parameters` is a frozen dataclass of what can be said by `--parameter`, with its defaults;
    - `address` is what is expected as an address, in words;
    - `identify` tells what else can change an answer, such as the schema that is sent or the source of a function;
    - `parallel` is how many texts are asked at a time where nothing else is said.
    """

    name: str
    summary: str
    open: Callable[[Asking], Asker]
    parameters: type[Any]
    version: int = 1
    address: str = "http://… or https://…"
    identify: Callable[[Asking], Mapping[str, str]] = _nothing
    parallel: int = 4


ADAPTERS: Registry[Adapter] = Registry("adapter", "remix.systems.adapters", Adapter)


def check_asking(adapter: Adapter, asking: Asking) -> None:
    """Raise `UsageError` where no address says where the system is: nothing is asked that nobody has named."""
    if not asking.address:
        raise UsageError(f"the system '{adapter.name}' is asked at an address: --address {adapter.address}")


def show_address(asking: Asking) -> str:
    """Return where a system is asked as it may be shown: without what its parameters say, which may be secrets."""
    return without_secrets(asking.address) if "://" in asking.address else asking.address


def describe_asking(adapter: Adapter, asking: Asking) -> dict[str, Value | dict[str, Value]]:
    """Return all that can change an answer beside the text: what kept answers and the record of a run are bound to.

    Of an address all counts but user and password; of what its parameters say there is a hash alone.
    """
    place = split_credentials(asking.address)[0] if "://" in asking.address else asking.address
    return {
        "system": adapter.name,
        "adapter": adapter.version,
        "address": show_address(asking),
        "place": content_hash(place),
        "task": asking.task,
        "parameters": describe_parameters(asking.parameters, changing=True),
        "seed": asking.seed,
        **adapter.identify(asking),
    }


def hash_description(described: Mapping[str, object], text: TextAsked | None = None) -> str:
    """Return the hash of a description, with that of a text and its spans: the key of a kept answer."""
    import json

    whole = {**described, **({"text": text.text, "spans": text.spans} if text is not None else {})}
    return content_hash(json.dumps(whole, sort_keys=True, ensure_ascii=False))
