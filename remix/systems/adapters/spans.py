r"""The JSON that several living linkers speak: texts with spans, and rows of start, length and title.

    POST {"text": "Ada met Bob", "spans": [{"start": 0, "length": 3}]}  →  [[0, 3, "Ada_Lovelace"]]

So do REL, SpEL, end2end_neural_el and what GERBIL is wired to by its middleware. REL answers rows of seven fields, with
the mention in the third and the title in the fourth; given spans it leaves out the offsets; and it says wrong ones of
mentions that come twice. What REL calls the mention decides. It takes `&amp;` in a text for `&` before it counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from remix.connections import Failure
from remix.systems.asked import Adapter, Asking, LinkedSpan, TextAnswer, TextAsked
from remix.systems.exchange import Connection
from remix.systems.placing import Placing, entity_iri_of, link, read_number, read_offset


@dataclass(frozen=True)
class SpanParameters:
    """Whose titles the system answers, and what its user says of its version."""

    language: str = "en"
    revision: str = ""


class _SpansAsker:
    def __init__(self, asking: Asking) -> None:
        self._connection = Connection(asking.address, timeout=asking.timeout)
        self._language = asking.parameters.language

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return what the service answers to a text; raises `remix.connections.Failure` where there is none."""
        asked: dict[str, object] = {"text": text.text}
        # REL takes the values of an object in their order.
        spans = [] if text.spans is None else [{"start": begin, "length": end - begin} for begin, end in text.spans]
        asked["spans"] = spans
        body = json.dumps(asked, ensure_ascii=False).encode()
        rows = self._connection.send(headers={"Content-Type": "application/json"}, body=body).json()
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise Failure(f"answered no list of [start, length, title]: {json.dumps(rows)[:100]}")
        return read_rows(text, rows, self._language)

    def close(self) -> None:
        """End the connection to the service."""
        self._connection.close()


def read_rows(text: TextAsked, rows: list[list[object]], language: str = "en") -> TextAnswer:
    """Return what rows of start, length and title answer to a text; raises `Failure` for other rows.

    >>> rows = [[8, 3, "Bob", "Bob_Dylan", 0.9, 0.8, "PER"], [0, 3, "Ada_Lovelace"], ["Ada", "Ada_(name)", 0.1]]
    >>> [(one.begin, one.entities[0][28:]) for one in read_rows(TextAsked("d", "Ada met Bob. Ada!"), rows).spans]
    [(8, 'Bob_Dylan'), (0, 'Ada_Lovelace'), (13, 'Ada_(name)')]
    """
    placing, spans = Placing(text.text, spans=text.spans), list[LinkedSpan]()
    for row in rows:
        fields = list(row)
        counted = len(fields) > 1 and all(isinstance(one, int | float) for one in fields[:2])
        begin, length = (read_offset(one) for one in fields[:2]) if counted else (None, None)
        fields = fields[2:] if counted else fields
        # The mention stands before the title where it is told, as it always is where offsets are not.
        named = len(fields) > 1 and isinstance(fields[0], str) and isinstance(fields[1], str | None)
        if not (named or (counted and len(fields) > 0)):
            raise Failure(f"answered a row that is no [start, length, title]: {json.dumps(row)[:100]}")
        form, title = (str(fields[0]), fields[1]) if named else (None, fields[0])
        confidence = read_number(fields[2]) if named and len(fields) > 2 and not isinstance(fields[2], str) else None
        end = None if begin is None or length is None else begin + length
        span = placing.place(begin, end, form)
        if span is not None:
            spans.append(link(span, entity_iri_of(title, language), confidence))
    return TextAnswer(tuple(spans), dict(placing.told))


spans = Adapter(
    "spans",
    "a service of the JSON of REL, SpEL and end2end: texts and spans, start, length and title",
    _SpansAsker,
    SpanParameters,
)
