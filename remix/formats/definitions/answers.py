"""Answers of language models, as JSON Lines: a text a line, with what the model answered.

    {"model": "…", "prompt_hash": "…", "cost": 1.5, "time": 60}
    {"document": "d1", "text": "Ada met Bob", "answers": [{"mention": "Ada", "entity": "Q7259", "confidence": 0.9}]}
    {"document": "d2", "text": "…", "output": "Sure! ```json [{\\"mention\\": …"}

A mention has offsets (`begin`, `end`) or is looked for in the text: exactly, spelt alike, nearly (rapidfuzz), the n-th
time in its n-th place (`remix.formats.alignment`). It has an `entity`, or only a `label`, which becomes an entity of
its own, `urn:remix:label:…`, that is no gold entity. `output` is what the model wrote, with JSON somewhere inside it.
The first line may describe the run. `repeat` numbers the runs of a file that has several. A document that failed says
so with an `error`, in the place of answers.

What is no answer is kept, as values of the document with the number of times: `rmx:refusal` (no JSON), `rmx:cutOff`
(JSON that ends too early; what is whole counts), `rmx:notInText` (mentions that the text does not have). What describes
the run are values of the dataset, and `rmx:repeat` is a value of each answer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Format, SourceFile
from remix.formats.alignment import MOST_LETTERS, Aligner
from remix.formats.json import json_text, json_value
from remix.formats.mentions import MENTIONS, TEXTS, TOLD, MentionTables, reader, whole_number
from remix.formats.repairs import RepairTally
from remix.names import FAILED, REPEAT, RMX

LABEL = "urn:remix:label:"
PROBLEMS = {"refusal": f"{RMX}refusal", "cut-off": f"{RMX}cutOff", "not-in-text": f"{RMX}notInText"}
"""What is no answer, by the term of its value."""


def _is_answers(head: bytes, name: str) -> bool:
    lines = [line for line in head.splitlines()[:3] if line.strip()]
    return any(
        re.search(rb'^\s*\{.*"(?:answers"\s*:\s*\[|output"\s*:\s*(?:"|null))', line) is not None for line in lines
    ) and (b'"document"' in head or b'"text"' in head)


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    found = _AnswerTables(source.name, tally)
    header: dict[str, Any] = {}
    for line, said in enumerate(json_text(source.read(), tally).split("\n"), 1):
        if not said.strip():
            continue
        row = json_value(source.name, said, line=line)
        if not isinstance(row, dict):
            raise BadInput(source.name, "a text with its answers is expected, as a JSON object", line=line)
        if "document" in row or "text" in row:
            found.add_text(line, row)
        elif found.documents:
            raise BadInput(source.name, "neither a document nor a text is named", line=line)
        else:
            header |= row
    for key, value in header.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        told = {"number": float(value)} if is_number else {"text": str(value)}
        found.values.append({"term": f"{RMX}{key}", **told})
    # Values of answers are the last.
    values = sorted(found.values, key=lambda value: "mention" in value)
    documents = pl.DataFrame(list(found.documents.items()), schema=TEXTS, orient="row")
    mentions = pl.DataFrame(found.mentions, schema=MENTIONS)
    return MentionTables(documents, mentions, values=pl.DataFrame(values, schema=TOLD))


@dataclass
class _AnswerTables:
    """What was found so far: rows of the tables of `MentionTables`."""

    file: str
    tally: RepairTally
    documents: dict[str, str | None] = field(default_factory=dict)
    mentions: list[dict[str, Any]] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)

    def add_text(self, line: int, row: dict[str, Any]) -> None:
        """Add a text with its answers, and count what is none."""
        name = str(row.get("document", f"line-{line}"))
        text = str(row["text"]) if row.get("text") is not None else self.documents.get(name)
        self.documents[name] = text
        repeat = None if row.get("repeat") is None else str(row["repeat"])
        if repeat is not None and re.fullmatch("[0-9]{1,15}", repeat) is None:
            raise BadInput(self.file, f"repeat is a number, not '{repeat}'", line=line)
        problems: Counter[str] = Counter()
        answers = row["answers"] if isinstance(row.get("answers"), list) else _answers(row.get("output"), problems)
        aligner = Aligner(text) if text is not None else None
        for answer in answers:
            if not isinstance(answer, dict):
                raise BadInput(self.file, f"an answer is a JSON object, not {str(answer)[:60]}", line=line)
            span = self.place(line, answer, aligner)
            if span is None:
                problems["not-in-text"] += 1
            else:
                self.add_answer(line, answer, {"name": name, "begin": span[0], "end": span[1]}, repeat)
        if failed := row.get("error"):
            reason = " ".join(str(failed).split())
            self.tally.add("failed", f"line {line}: document {name}: {reason[:100]}")
            self.values.append({"name": name, "term": FAILED, "text": reason})
        for problem, count in problems.items():
            self.values.append({"name": name, "term": PROBLEMS[problem], "number": float(count), "text": repeat})
            if not failed:
                self.tally.add(problem, f"line {line}: document {name}", count)

    def add_answer(self, line: int, answer: dict[str, Any], span: dict[str, Any], repeat: str | None) -> None:
        """Add an answer, which has an entity or a label."""
        number, place, label = len(self.mentions), f"line {line}", str(answer.get("label") or "").strip()
        entity = str(answer["entity"]) if answer.get("entity") else f"{LABEL}{label}" if label else None
        said = {"confidence": _confidence(answer.get("confidence"), place, self.tally), "identifier": entity}
        # Answers are no alternatives of each other.
        own = f"{repeat or 'x'}-{number}"
        self.mentions.append({"mention": number, "place": place, **span, **said, "group": own, "option": own})
        if repeat is not None:
            self.values.append({"mention": number, "term": REPEAT, "number": float(repeat)})

    def place(self, line: int, answer: dict[str, Any], aligner: Aligner | None) -> tuple[int, int] | None:
        """Return where an answer stands in the text, None where it stands nowhere."""
        mention, offsets = str(answer.get("mention") or ""), (answer.get("begin"), answer.get("end"))
        begin, end = (whole_number(said) if isinstance(said, int) else None for said in offsets)
        if aligner is None:
            if begin is None or end is None:
                raise BadInput(self.file, f"'{mention}' has no offsets, and the line no text to find it in", line=line)
            return begin, end
        if aligner.spent > MOST_LETTERS:
            reason = f"too many mentions are looked for in a text of {len(aligner.text):,} letters: give begin and end"
            raise BadInput(self.file, reason, line=line)
        found = aligner.find(mention, begin, end)
        if found is not None and found.how in ("normalised", "fuzzy"):
            self.tally.add(f"aligned-{found.how}", f"line {line}: '{mention}' is {found.begin},{found.end}")
        return None if found is None else (found.begin, found.end)


def _confidence(value: object, place: str, tally: RepairTally) -> float | None:
    try:
        number = None if value is None else float(str(value))
    except ValueError:
        number = float("nan")
    if number is not None and not abs(number) < float("inf"):
        tally.add("confidence", f"{place}: '{value}' is no number, left out")
        return None
    return number


def _answers(output: object, problems: Counter[str]) -> list[Any]:
    """Return the answers in what a model wrote: the first JSON in it, or what is whole of JSON that was cut off."""
    text = str(output or "")
    begin = min((place for place in (text.find("["), text.find("{")) if place >= 0), default=-1)
    fenced = re.search(r"```(?:json)?\s*([\[{].*)", text, re.DOTALL)
    begin = fenced.start(1) if fenced else begin
    if begin < 0:
        problems["refusal"] += 1
        return []
    try:
        whole, _ = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        found = list(_objects(text, begin))
        problems["cut-off" if found or fenced or text[begin:].count("{") else "refusal"] += 1
        return found
    if isinstance(whole, dict):
        listed = next((value for value in whole.values() if isinstance(value, list)), None)
        return [whole] if "mention" in whole else listed or []
    return [one for one in whole if isinstance(one, dict)]


def _objects(text: str, begin: int) -> Iterator[dict[str, Any]]:
    """Yield the answers that are whole in JSON that is not."""
    decoder = json.JSONDecoder()
    place = text.find("{", begin)
    # What is nested and never ends would be parsed again from each of its braces.
    left = 20 * len(text) + 1_000_000
    while place >= 0 and left > 0:
        try:
            one, after = decoder.raw_decode(text, place)
        except RecursionError:
            return
        except json.JSONDecodeError as error:
            one, after = None, place + 1
            left -= error.pos - place
        if isinstance(one, dict) and "mention" in one:
            yield one
        place = text.find("{", after)


answers = Format(
    name="answers",
    summary="answers of language models (JSON Lines; mentions named, or raw output)",
    suffixes=(".jsonl",),
    sniff=_is_answers,
    read=_read,
)
