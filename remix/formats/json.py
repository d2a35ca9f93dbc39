"""What formats of JSON have in common: values, halves of letters, and fields whose name is not quite right."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats.repairs import RepairTally, decode, mend_surrogates

_BLOCK = 1 << 20
_ESCAPED = [f"\\u00{digit}" for digit in range(2, 8)]
"""How an ASCII letter begins that is written as its number, as JSON allows in names of fields, too."""

_FIELD = r'"([A-Za-z_][A-Za-z0-9_-]{3,40})"\s*:'
_SHORTEST = 5
"""How many letters a field has at least that another may be a misspelling of."""


def json_text(data: bytes, tally: RepairTally) -> str:
    """Return the text of the bytes (see `decode`); halves of pairs of surrogates, which no text has, are mended.

    >>> tally = RepairTally()
    >>> json_text(rb'["\\ud83d\\ude00", "\\ud83d", "\\\\ud83d"]', tally), tally.counts["surrogate"]
    ('["\\\\ud83d\\\\ude00", "\\\\ufffd", "\\\\\\\\ud83d"]', 1)
    """
    return mend_surrogates(decode(data, tally), tally, pairs=False)


def json_value(file: object, text: str, *, line: int | None = None, what: str = "JSON", strict: bool = False) -> Any:
    """Return the value that a text is; raises `BadInput` with the line for what is no JSON, or nested too deeply.

    `line` is that of the text in its file, by default the one in the text where it is wrong; `what` it should be.
    Unless it is `strict`, NaN, Infinity and control characters in strings are read, which are no JSON.
    """
    try:
        return json.loads(text, strict=strict, parse_constant=_refuse if strict else None)
    except RecursionError:
        raise BadInput(file, f"is {what} that is nested too deeply", line=line) from None
    except ValueError as error:
        raise BadInput(file, f"is no {what} ({error})", line=line or getattr(error, "lineno", None)) from None


def json_lines(file: object, content: bytes, schema: Mapping[str, pl.DataType], what: str) -> pl.DataFrame:
    """Return the objects of JSON Lines as rows; raises `BadInput` with the first line that is none.

    `what` says what a line is expected to be: "a mention".
    """
    try:
        return pl.read_ndjson(content, schema=schema)
    except pl.exceptions.PolarsError as error:
        raise _broken_line(file, content, what, error) from None


def _broken_line(file: object, content: bytes, what: str, error: Exception) -> BadInput:
    """Return the error of the first line that is no JSON object, or, where all are, that of the parser."""
    for number, line in enumerate(content.splitlines(), 1):
        try:
            row = json_value(file, line.decode("utf-8", "replace") or "{}", line=number, strict=True)
        except BadInput as broken:
            return broken
        if not isinstance(row, dict):
            return BadInput(file, f"{what} is expected, as a JSON object", line=number)
    return BadInput(file, f"is not one JSON object a line: {' '.join(str(error).split())[:200]}")


def fields_in(text: str, every: Collection[str], block: int = _BLOCK) -> list[str]:
    """Return which of the fields a text of JSON may have: those met in its first block, or all where others come later.

    A field that no line has takes as long to read as one that all have.

    >>> fields_in('{"begin": 0}', ["begin", "end"])
    ['begin']
    """
    head = text[:block]
    met = [name for name in every if f'"{name}"' in head]
    if len(met) == len(every) and "\\u00" not in text:
        return met
    others = [*(f'"{name}"' for name in every if name not in met), *_ESCAPED]
    # Each block reaches into the next as far as a name may.
    blocks = (pl.Series([text[at : at + block + 32]]) for at in range(0, len(text), block))
    return met if met and not any(block.str.contains_any(others).item() for block in blocks) else list(every)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


def tell_misspelt(text: str, known: Collection[str], tally: RepairTally) -> None:
    """Count the fields of JSON that are not known but nearly called like one that is: what they hold is not read.

    >>> tally = RepairTally()
    >>> tell_misspelt('{"lables": [], "text": "\\\\"label\\\\": "}', ["labels", "text"], tally)
    >>> tally.examples
    {'misspelt': "line 1: 'lables' is not read; did you mean 'labels'?"}
    """
    said = pl.Series([text]).str.extract_all(_FIELD).explode().drop_nulls()
    for field, count in sorted(said.value_counts().rows()):
        name = field.split('"')[1]
        near = _nearest(name, known)
        if near is not None:
            line = text.count("\n", 0, text.find(f'"{name}"')) + 1
            tally.add("misspelt", f"line {line}: '{name}' is not read; did you mean '{near}'?", count)


def _nearest(name: str, known: Collection[str]) -> str | None:
    """Return the field that a name is one or two letters away from, null where it is one itself or like none."""
    from rapidfuzz.distance import OSA

    if name in known:
        return None
    near = ((OSA.distance(name.lower(), one.lower()), one) for one in known if len(one) >= _SHORTEST)
    away, one = min(near, default=(len(name), ""))
    return one if away <= (1 if len(one) < 7 else 2) else None
