"""Services that are declared: a request template and paths into the answer, in TOML like the mapping of a format.

    name = "dbpedia-spotlight"
    address = "https://api.dbpedia-spotlight.org/en/annotate"  # where it usually is

    [parameters]
    confidence = "0.5"

    [request]                          # of form, query, json and parts (multipart) those that are sent
    form = { text = "{text}", confidence = "{confidence}" }

    [answer]                           # paths as in mappings; a list is called `list`
    begin = "Resources[].@offset"
    form = "Resources[].@surfaceForm"
    entity = "Resources[].@URI"

docs/systems.md has all keys. A token is read from the environment when it is sent, and never kept or shown.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from remix.connections import Failure
from remix.errors import BadInput, UsageError, nearest
from remix.formats.mapping.paths import EACH, FieldPath
from remix.question import several
from remix.systems.adapters.spans import read_rows
from remix.systems.asked import Adapter, Asking, LinkedSpan, TextAnswer, TextAsked
from remix.systems.exchange import Connection
from remix.systems.parameters import describe_parameters
from remix.systems.placing import UNITS, Placing, entity_iri_of, link, read_number, read_offset

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class RequestTemplate:
    """What is sent: texts with placeholders `{text}`, `{token}`, `{language}` and the parameters.

    `span` is what becomes of each span in `"{spans}"`, with `{begin}`, `{end}`, `{length}` and `{form}`; `d2kb` takes
    the place of keys of the others where spans are given. In a form, `{json}` is the JSON as a text.
    """

    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] = field(default_factory=dict)
    d2kb: Mapping[str, Any] = field(default_factory=dict)
    span: Any = None


@dataclass(frozen=True)
class AnswerPaths:
    """Where the mentions of an answer are, and how they are meant.

    - `begin`, `end` or `length`, `form`, `entity`, `confidence`: paths, of which `form` or `begin` has to be there; of
      several, as a service answered otherwise before, the first that leads to something counts;
    - `rows`: the answer is a list of start, length and title, in the place of paths;
    - `unit`: what offsets count; `inclusive`: whether the end is the last letter;
    - `absent`: whether the list is left out where nothing was found;
    - `without`: what a mention without an entity is: `nil`, or `nothing`, which is counted;
    - `least`: the parameter that says the least confidence of a mention;
    - `error`: a path to what says why there is no answer, whatever the status.
    """

    begin: str | list[str] = ""
    end: str | list[str] = ""
    length: str | list[str] = ""
    form: str | list[str] = ""
    entity: str | list[str] = ""
    confidence: str | list[str] = ""
    rows: bool = False
    unit: str = "code points"
    inclusive: bool = False
    absent: bool = False
    without: str = "nil"
    least: str = ""
    error: str = ""


@dataclass(frozen=True)
class Declaration:
    """A service as its file declares it."""

    name: str
    summary: str
    address: str
    version: int = 1
    tasks: tuple[str, ...] = ("A2KB",)
    token: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    request: RequestTemplate = field(default_factory=RequestTemplate)
    answer: AnswerPaths = field(default_factory=AnswerPaths)


def read_declaration(file: Path) -> Adapter:
    """Return the adapter of a declaration; raises `BadInput` with the file for what is none."""
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(file, f"is no declaration of a service ({error})") from None
    parts = {"request": RequestTemplate, "answer": AnswerPaths}
    for name, kind in parts.items():
        said[name] = _fill(file, kind, said.get(name, {}), f"[{name}]")
    said["tasks"] = tuple(said.get("tasks", ("A2KB",)))
    declared = _fill(file, Declaration, said, "the file")
    answer = declared.answer
    if not (answer.rows or (answer.entity and (answer.form or answer.begin))):
        raise BadInput(file, "[answer] says with `entity`, `begin` and `form` where mentions are, or `rows = true`")
    if answer.unit not in UNITS or answer.without not in ("nil", "nothing"):
        raise BadInput(file, f"[answer] has a unit of {', '.join(UNITS)}, and `without` is nil or nothing")
    return adapter_of(declared)


def _fill(file: Path, kind: type[Any], said: Mapping[str, Any], place: str) -> Any:
    """Return a part of a declaration; raises `BadInput` for keys that it does not have, and lacks."""
    known = [one.name for one in fields(kind)]
    if unknown := [name for name in said if name not in known]:
        raise BadInput(file, f"{place} has no key '{unknown[0]}'{nearest(unknown[0], known)}")
    try:
        return kind(**said)
    except TypeError as error:
        raise BadInput(file, f"{place} lacks what has to be there: {error}") from None


def adapter_of(declared: Declaration) -> Adapter:
    """Return the adapter of a declared service; what is declared is part of what kept answers are bound to."""
    names = {"language": "en", **declared.parameters, "revision": ""}
    parameters = make_dataclass(
        f"{declared.name.title().replace('-', '')}Parameters",
        [(name, "str", field(default=str(value))) for name, value in names.items()],
        frozen=True,
    )
    return Adapter(
        name=declared.name,
        summary=declared.summary,
        open=partial(_ServiceAsker, declared),
        parameters=parameters,
        version=declared.version,
        address=declared.address,
        identify=lambda _: {"declaration": repr(declared)},
    )


class _ServiceAsker:
    def __init__(self, declared: Declaration, asking: Asking) -> None:
        if asking.task not in declared.tasks:
            raise UsageError(f"the system '{declared.name}' answers {', '.join(declared.tasks)}, not {asking.task}")
        token = os.environ.get(declared.token, "") if declared.token else ""
        if declared.token and not token:
            raise UsageError(f"the system '{declared.name}' needs a token in the environment: set {declared.token}")
        self._declared, self._values = declared, {**describe_parameters(asking.parameters), "token": token}
        self._connection = Connection(asking.address, timeout=asking.timeout, secrets=(token,))

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return what the service answers as it is declared; raises `remix.connections.Failure` where there is none."""
        request = self._declared.request
        values: dict[str, Any] = {**self._values, "text": text.text}
        values["spans"] = [
            _put(request.span, _span_values(text.text, span, self._declared.answer.unit)) for span in text.spans or ()
        ]
        own = request.d2kb if text.spans is not None else {}
        values["json"] = json.dumps(_put({**request.json, **own.get("json", {})}, values), ensure_ascii=False)
        query, form, parts = (
            {name: str(_put(value, values)) for name, value in {**getattr(request, kind), **own.get(kind, {})}.items()}
            for kind in ("query", "form", "parts")
        )
        headers = {name: str(_put(value, values)) for name, value in request.headers.items()}
        body: bytes | dict[str, str] | None = form or None
        if request.json and not (form or parts):
            headers = {"Content-Type": "application/json", **headers}
            body = values["json"].encode()
        received = self._connection.send(request.method, headers=headers, query=query, body=body, parts=parts or None)
        return read_declared(self._declared.answer, text, received.json(), self._values)

    def close(self) -> None:
        """End the connection to the service."""
        self._connection.close()


def _span_values(text: str, span: tuple[int, int], unit: str) -> dict[str, Any]:
    """Return what the placeholders of a span stand for, counted as the service counts."""
    begin, end = (sum(map(UNITS[unit], text[:offset])) for offset in span)
    return {"begin": begin, "end": end, "length": end - begin, "form": text[slice(*span)]}


def _put(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with the values in it; a text that is one placeholder alone becomes the value itself.

    >>> _put({"a": "{n}", "b": ["{x}: {n}"], "c": 3}, {"n": 1, "x": "y"})
    {'a': 1, 'b': ['y: 1'], 'c': 3}
    """
    if isinstance(template, Mapping):
        return {name: _put(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_put(value, values) for value in template]
    if not isinstance(template, str):
        return template
    alone = _PLACEHOLDER.fullmatch(template)
    if alone and alone[1] in values:
        return values[alone[1]]
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), template)


def read_declared(paths: AnswerPaths, text: TextAsked, said: Any, values: Mapping[str, Any]) -> TextAnswer:
    """Return what JSON answers to a text by the paths of a declaration; raises `Failure` where it has another shape."""
    if paths.error and isinstance(said, dict) and (error := _follow(said, FieldPath.parse(paths.error).steps)):
        raise Failure(f"answered an error: {str(error)[:200]}")
    language = str(values.get("language", "en"))
    if paths.rows:
        if not isinstance(said, list) or not all(isinstance(row, list) for row in said):
            raise Failure(f"answered no list of [start, length, title]: {json.dumps(said)[:100]}")
        return read_rows(text, said, language)
    whole = {"list": said} if isinstance(said, list) else said
    within = {
        name: [FieldPath.parse(one) for one in several(getattr(paths, name))]
        for name in ("begin", "end", "length", "form", "entity", "confidence")
        if getattr(paths, name)
    }
    placing, spans = Placing(text.text, paths.unit, spans=text.spans), list[LinkedSpan]()
    without = 0
    for one in _mentions(whole, within["entity"][0], paths.absent):
        found = {name: _follow_first(one, each) for name, each in within.items()}
        if found.get("begin") is None and not found.get("form"):
            # Passed over, all answers of a service that has changed would be lost, and the run be one without any.
            raise Failure(f"answered a mention without begin and form where they should be: {json.dumps(one)[:100]}")
        confidence = read_number(found.get("confidence"))
        if paths.least and confidence is not None and confidence < (read_number(values[paths.least], "a number") or 0):
            continue
        entity = entity_iri_of(found["entity"], language)
        if entity is None and paths.without == "nothing":
            without += 1
            continue
        form = found.get("form")
        begin, end = _offsets(paths, found, form)
        span = placing.place(begin, end, str(form) if form else None)
        if span is not None:
            spans.append(link(span, entity, confidence))
    told = dict(placing.told) | ({"without-entity": without} if without else {})
    return TextAnswer(tuple(spans), told)


def _offsets(paths: AnswerPaths, found: Mapping[str, Any], form: Any) -> tuple[int | None, int | None]:
    begin, end = read_offset(found.get("begin")), read_offset(found.get("end"))
    if begin is None:
        return None, None
    if end is not None:
        return begin, end + paths.inclusive
    length = read_offset(found.get("length"))
    unit = UNITS[paths.unit]
    return begin, begin + (sum(map(unit, str(form or ""))) if length is None else length)


def _mentions(said: Any, path: FieldPath, absent: bool) -> list[Any]:
    """Return the list of mentions of an answer; raises `Failure` where there is none and that says nothing."""
    listed = path.listed
    steps = listed.steps if listed is not None else ()
    found = _follow(said, steps)
    if found is None and absent and isinstance(said, dict):
        return []
    if not isinstance(found, list):
        name = listed.said if listed is not None else "a list"
        raise Failure(f"answered without '{name}', or with one that is no list: {json.dumps(said)[:100]}")
    return found


def _follow_first(said: Any, paths: Sequence[FieldPath]) -> Any:
    """Return what the first of the paths that leads to something does within a mention, None where none does."""
    every = (_follow(said, path.within) for path in paths)
    return next((one for one in every if one is not None), None)


def _follow(said: Any, steps: tuple[str | int, ...]) -> Any:
    """Return what stands behind steps in JSON, None where there is nothing."""
    for step in steps:
        if step == EACH:
            return None
        if isinstance(step, int):
            said = said[step] if isinstance(said, list) and step < len(said) else None
        else:
            said = said.get(step) if isinstance(said, dict) else None
    return said
