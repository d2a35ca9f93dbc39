"""Language models behind chat endpoints of the protocol of OpenAI: `--address http://…/v1`, `--parameter model=…`.

The prompt stands in a file with `{text}` and, for D2KB, `{mentions}` in it. The server is asked for JSON by a schema
(`response_format`); servers differ: some refuse that with status 400 and are then asked without, some take no notice,
so that JSON is looked for in whatever came. Offsets that a model gives are wrong and not read: mentions are found in
the text by their form, the n-th time in the n-th place. With `answer=echo` the model repeats the text with
`[mention]{Title}` in it, which is also read where it came without being asked for.

What is no answer fails the document: prose, output that was cut off, an echo of another text. Usage and the reason why
the model ended are kept with the answer. The key is read from the environment (`OPENAI_API_KEY`, or the variable that
`token` names), and never kept or shown.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remix import resources
from remix.connections import Failure
from remix.errors import UsageError
from remix.signature import content_hash
from remix.systems.asked import Adapter, Asking, LinkedSpan, TextAnswer, TextAsked
from remix.systems.exchange import Connection, Received
from remix.systems.parameters import beside
from remix.systems.placing import Placing, entity_iri_of, link, read_number

_MENTION = {
    "type": "object",
    "properties": {"mention": {"type": "string"}, "title": {"type": ["string", "null"]}},
    "required": ["mention", "title"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"mentions": {"type": "array", "items": _MENTION}},
    "required": ["mentions"],
    "additionalProperties": False,
}
_FORMAT = {"type": "json_schema", "json_schema": {"name": "mentions", "strict": True, "schema": _SCHEMA}}
_MARKED = re.compile(r"\[([^\[\]]+)\]\{([^{}]*)\}")
_ALIKE = 90.0
"""The least similarity (0 to 100) of an echo, without its marks, to the text that it repeats."""


@dataclass(frozen=True)
class ChatParameters:
    """What a model is asked with.

    - `model` and its `revision`, which its user says; `prompt`, a file, by default one that ships;
    - `schema`: `auto` (asked for, unless the server refuses it), `always`, or `never`; `answer`: `json` or `echo`;
    - `temperature`, `max_tokens`: not sent where they are empty; `seed`: whether --seed is sent;
    - `language`: whose Wikipedia the titles are of; `token`: the variable of the environment that has the key;
    - `input_price`, `output_price`: what a million tokens costs, for the record alone.
    """

    model: str = ""
    revision: str = ""
    prompt: Path | None = None
    schema: str = "auto"
    answer: str = "json"
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: bool = True
    language: str = "en"
    token: str = field(default="OPENAI_API_KEY", metadata={"changes": False})
    input_price: float = beside(0.0)
    output_price: float = beside(0.0)


def _prompt_of(asking: Asking) -> str:
    """Return the prompt; raises `UsageError` for one without the text, and in D2KB without the mentions."""
    parameters = asking.parameters
    own = "echo" if parameters.answer == "echo" else asking.task.lower()
    file = parameters.prompt or resources.folder("datasets") / "prompts" / f"{own}.txt"
    try:
        prompt = str(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the prompt {file} cannot be read ({error})") from None
    for name in ("text", *(["mentions"] if asking.task == "D2KB" and parameters.answer == "json" else [])):
        if f"{{{name}}}" not in prompt:
            raise UsageError(f"the prompt {file} has no {{{name}}} in it, where that is put")
    return prompt


class _ChatAsker:
    def __init__(self, asking: Asking) -> None:
        parameters = asking.parameters
        if not parameters.model:
            raise UsageError("the system 'chat' needs a model: --parameter model=NAME, as the server calls it")
        if parameters.schema not in ("auto", "always", "never") or parameters.answer not in ("json", "echo"):
            raise UsageError("of the system 'chat', `schema` is auto, always or never, and `answer` json or echo")
        key = os.environ.get(parameters.token, "")
        address = asking.address.rstrip("/")
        if not address.endswith("/chat/completions"):
            address += "/chat/completions"
        self._asking, self._parameters, self._prompt = asking, parameters, _prompt_of(asking)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._connection = Connection(address, timeout=asking.timeout, secrets=(key,))
        self._with_schema = parameters.answer == "json" and parameters.schema != "never"

    def ask(self, text: TextAsked) -> TextAnswer:
        """Return the answer of the model to a text; raises `remix.connections.Failure` where there is none."""
        try:
            received = self._send(text)
        except Failure as failure:
            if not (self._with_schema and self._parameters.schema == "auto" and _refuses_schema(failure)):
                raise
            self._with_schema = False
            received = self._send(text)
        return read_completion(text, received.json(), self._parameters.language)

    def _send(self, text: TextAsked) -> Received:
        parameters = self._parameters
        forms = [text.text[begin:end] for begin, end in text.spans or ()]
        # Both at once: a text may have braces of its own.
        put = {"{text}": text.text, "{mentions}": "\n".join(f"- {form}" for form in forms)}
        content = re.sub(r"\{(?:text|mentions)\}", lambda match: put[match[0]], self._prompt)
        asked: dict[str, Any] = {"model": parameters.model, "messages": [{"role": "user", "content": content}]}
        if parameters.temperature is not None:
            asked["temperature"] = parameters.temperature
        if parameters.max_tokens is not None:
            asked["max_tokens"] = parameters.max_tokens
        if parameters.seed:
            asked["seed"] = self._asking.seed
        if self._with_schema:
            asked["response_format"] = _FORMAT
        body = json.dumps(asked, ensure_ascii=False).encode()
        return self._connection.send(headers=self._headers, body=body)

    def close(self) -> None:
        """End the connection to the model."""
        self._connection.close()


def _refuses_schema(failure: Failure) -> bool:
    """Return whether a server says that it does not know the schema, rather than that something else is wrong."""
    said = f"{failure} {failure.body.decode('utf-8', 'replace')}".lower()
    words = ("response_format", "json_schema", "schema", "grammar", "strict")
    return failure.status in (400, 404, 415, 422, 500, 501) and any(word in said for word in words)


def read_completion(text: TextAsked, said: Any, language: str = "en") -> TextAnswer:
    """Return what a completion answers to a text; raises `Failure` for what is none.

    >>> message = {"content": 'Sure! {"mentions": [{"mention": "Ada", "title": "Ada Lovelace"}]}'}
    >>> read_completion(TextAsked("d", "Ada met Bob"), {"choices": [{"message": message}]}).spans[0].entities
    ('http://dbpedia.org/resource/Ada_Lovelace',)
    """
    try:
        [choice, *_] = said["choices"]
        message, finish = choice["message"], str(choice.get("finish_reason") or "")
        content = message.get("content") or ""
        usage = said.get("usage") or {}
        tokens = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Failure(f"answered no completion: {json.dumps(said)[:160]}") from None
    if refusal := message.get("refusal"):
        raise Failure(f"refused: {str(refusal)[:160]}")
    if finish in ("length", "content_filter"):
        raise Failure(f"ended early ({finish}) after {tokens[1]} tokens")
    if not isinstance(content, str) or not content.strip():
        raise Failure(f"answered nothing{f' ({finish})' if finish else ''}")
    mentions = _mentions_in(content)
    if mentions is None:
        mentions = _read_marks(text.text, content)
    placing, spans = Placing(text.text, spans=text.spans), list[LinkedSpan]()
    for form, title, confidence, begin in mentions:
        span = placing.place(begin, None if begin is None else begin + len(form), form)
        if span is not None:
            spans.append(link(span, entity_iri_of(title, language), confidence))
    if len(mentions) > 1 and not spans:
        raise Failure(f"answered {len(mentions)} mentions that the text does not have, '{mentions[0][0][:40]}' first")
    return TextAnswer(tuple(spans), dict(placing.told), tokens[0], tokens[1], finish)


_Mentions = list[tuple[str, Any, float | None, int | None]]
"""Form, title, confidence, and where it begins, which is known of an echo of the same text alone."""


def _mentions_in(content: str) -> _Mentions | None:
    """Return the mentions in the first JSON of a text that has any, None where there is none."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"[\[{]", content):
        try:
            said, _ = decoder.raw_decode(content, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and isinstance(said.get("mentions"), list):
            said = said["mentions"]
        elif isinstance(said, dict) and "mention" in said:
            said = [said]
        elif isinstance(said, dict):
            said = next((one for one in said.values() if isinstance(one, list)), None)
        listed = isinstance(said, list) and all(isinstance(one, dict) and "mention" in one for one in said)
        if listed and (said or match[0] == "{" or content.strip() == "[]"):
            return [_mention_of(one) for one in said]
    return None


def _mention_of(said: Mapping[str, Any]) -> tuple[str, Any, float | None, int | None]:
    title = next((said[name] for name in ("title", "entity", "link", "wikipedia") if name in said), None)
    try:
        confidence = read_number(said.get("confidence"))
    except Failure:
        confidence = None
    return str(said["mention"] or ""), title if isinstance(title, str) else None, confidence, None


def _read_marks(text: str, content: str) -> _Mentions:
    """Return the mentions that an echo of a text marks; raises `Failure` for prose and for another text."""
    from rapidfuzz import fuzz

    marked, echo, last = list[tuple[str, str, int]](), "", 0
    content = content.strip()
    for match in _MARKED.finditer(content):
        echo += content[last : match.start()]
        marked.append((match[1], match[2], len(echo)))
        echo, last = echo + match[1], match.end()
    echo += content[last:]
    if fuzz.ratio(echo, text.strip()) < _ALIKE:
        what = "with another text than it was asked about" if marked else "prose"
        raise Failure(f"answered {what}: {' '.join(echo.split())[:100]}")
    start = text.find(echo)
    return [(form, title, None, start + place if start >= 0 else None) for form, title, place in marked]


def _identify(asking: Asking) -> Mapping[str, str]:
    """Return the hashes of the prompt and of the schema."""
    return {"prompt_text": content_hash(_prompt_of(asking)), "schema_sent": content_hash(json.dumps(_FORMAT))}


chat = Adapter(
    "chat",
    "a language model behind a chat endpoint as OpenAI's",
    _ChatAsker,
    ChatParameters,
    address="http://…/v1",
    identify=_identify,
)
