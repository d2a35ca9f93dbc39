"""Answers in the plain form that programs and functions give: begin, end and entity, by keys or in this order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from remix.connections import Failure
from remix.systems.asked import LinkedSpan, TextAnswer, TextAsked
from remix.systems.placing import Placing, entity_iri_of, link, read_number, read_offset

_KEYS = ("begin", "end", "entity", "confidence")


def read_mentions(text: TextAsked, found: object, language: str = "en") -> TextAnswer:
    """Return what plain mentions answer to a text; raises `Failure` for what is none.

    A mention has `begin` and `end`, or a `mention` that is looked for in the text, and an `entity`.

    >>> read_mentions(TextAsked("d", "Ada met Bob"), [(0, 3, "Q7259"), {"mention": "Bob", "entity": None}]).spans[1]
    LinkedSpan(begin=8, end=11, entities=(), confidence=None)
    """
    if not isinstance(found, Iterable) or isinstance(found, str | bytes | Mapping):
        raise Failure(f"answered no list of mentions but {_quote(found)}")
    placing, spans = Placing(text.text, spans=text.spans), list[LinkedSpan]()
    for one in found:
        said: dict[str, Any]
        if isinstance(one, Mapping):
            said = {str(key): value for key, value in one.items()}
        elif isinstance(one, tuple | list) and 3 <= len(one) <= 4:
            said = dict(zip(_KEYS, one, strict=False))
        else:
            raise Failure(f"answered no mention with begin, end and entity but {_quote(one)}")
        if "entity" not in said:
            raise Failure(f"answered a mention without an entity, which is null for NIL: {_quote(one)}")
        begin, end = read_offset(said.get("begin")), read_offset(said.get("end"))
        form = said.get("mention")
        if not form and (begin is None or end is None):
            raise Failure(f"answered a mention with neither begin and end nor its form: {_quote(one)}")
        span = placing.place(begin, end, str(form) if form else None)
        if span is not None:
            confidence = read_number(said.get("confidence"))
            spans.append(link(span, entity_iri_of(said["entity"], language), confidence))
    return TextAnswer(tuple(spans), dict(placing.told))


def _quote(value: object) -> str:
    return repr(value)[:80]
