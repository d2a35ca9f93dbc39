"""Where something stands in a record: `entities.starts[]`, `index[][0]`, or the name of a column.

A path is made of keys behind dots, of `[n]` for the n-th element of a list from 0, and of `[]` for each of its
elements, which are the mentions of the record.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

EACH = -1
"""The step of a path to each element of a list."""

_STEPS = re.compile(r"\[([0-9]{0,4})\]|\.?([^.\[\]]+)")

Shape = dict[str | int, Any]
"""What is read of a value: keys and what is read of theirs, or EACH for a list; without anything, the value itself."""


@dataclass(frozen=True)
class FieldPath:
    """A path as it is written, and its steps: keys, places in lists, and EACH."""

    said: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, said: str) -> FieldPath:
        """Return the path that is written; raises `ValueError` with the reason for what is none.

        >>> FieldPath.parse("entities.spans[][0]").steps
        ('entities', 'spans', -1, 0)
        """
        found = list(_STEPS.finditer(said))
        if not found or "".join(one[0] for one in found) != said or said[0] in ".[":
            raise ValueError(f"'{said}' is no path: write keys, with dots between them, [] and [0]")
        steps = tuple(one[2] if one[2] else int(one[1]) if one[1] else EACH for one in found)
        if steps.count(EACH) > 2:
            raise ValueError(f"'{said}' has [] more than twice: a mention is in one list of its record")
        return cls(said, steps)

    @property
    def listed(self) -> FieldPath | None:
        """Return the path of the list of mentions that this leads into, None for what the record has but once."""
        if EACH not in self.steps:
            return None
        return FieldPath(self.said[: self.said.index("[]")], self.steps[: self.steps.index(EACH)])

    @property
    def within(self) -> tuple[str | int, ...]:
        """Return the steps from an element of that list on."""
        return self.steps[self.steps.index(EACH) + 1 :]

    @property
    def keys(self) -> list[str]:
        """Return the keys that have to be there for the path to lead anywhere."""
        return [step for step in self.steps if isinstance(step, str)]

    def column(self, shape: Shape, steps: Iterable[str | int] | None = None) -> pl.Expr:
        """Return what stands there, of a column of the first step or the `steps` given; null where nothing is read."""
        first, *rest = self.steps if steps is None else steps
        if first not in shape:
            return pl.lit(None, pl.String)
        found, part = pl.col(str(first)), shape[first]
        for step in rest:
            key = EACH if isinstance(step, int) else step
            if step == EACH:
                break
            if key not in part:
                return pl.lit(None, pl.String)
            found = found.list.get(step, null_on_oob=True) if isinstance(step, int) else found.struct.field(step)
            part = part[key]
        return found


def shape_of(paths: Iterable[FieldPath]) -> Shape:
    """Return what has to be read so that all paths lead to texts; raises `ValueError` where they contradict.

    >>> shape_of([FieldPath.parse("index[][0]"), FieldPath.parse("text")])
    {'index': {-1: {-1: {}}}, 'text': {}}
    """
    shape: Shape = {}
    ends: dict[int, str] = {}
    for path in paths:
        part = shape
        for step in path.steps:
            key = EACH if isinstance(step, int) else step
            if id(part) in ends or (part and (key == EACH) != (EACH in part)):
                raise ValueError(f"'{path.said}' is not of the kind that {ends.get(id(part), 'another path')} says")
            part = part.setdefault(key, {})
        if part:
            raise ValueError(f"'{path.said}' is read as a value, and another path leads into it")
        ends[id(part)] = f"'{path.said}'"
    return shape


def prune(shape: Shape, keys: Collection[str]) -> Shape:
    """Return what is read of values that have no other keys: a key that none has takes as long as one that all have."""
    return {key: prune(part, keys) for key, part in shape.items() if isinstance(key, int) or key in keys}


def keys_in(shape: Shape) -> list[str]:
    """Return all keys of a shape."""
    found: dict[str, None] = {}
    for key, part in shape.items():
        if isinstance(key, str):
            found[key] = None
        found.update(dict.fromkeys(keys_in(part)))
    return list(found)


def column_type(shape: Shape) -> pl.DataType:
    """Return the type of a column of that shape, whose values are texts: other values are read as their JSON."""
    if not shape:
        return pl.String()
    if EACH in shape:
        return pl.List(column_type(shape[EACH]))
    return pl.Struct({str(key): column_type(part) for key, part in shape.items()})


def find_misfit(value: object, shape: Shape, path: str = "") -> str | None:
    """Return what of a value is not of the shape, with its path; None where all of it fits.

    >>> find_misfit({"index": [[0, 4], 7]}, shape_of([FieldPath.parse("index[][0]")]))
    'index[1] is a list, not 7'
    """
    if value is None or not shape:
        return None
    if EACH in shape:
        if not isinstance(value, list):
            return f"{path} is a list, not {_quote(value)}"
        parts = ((one, shape[EACH], f"{path}[{place}]") for place, one in enumerate(value))
    else:
        if not isinstance(value, Mapping):
            return f"{path or 'a record'} is expected, as a JSON object, not {_quote(value)}"
        parts = ((value.get(key), part, f"{path}.{key}".lstrip(".")) for key, part in shape.items())
    return next((said for one in parts if (said := find_misfit(*one)) is not None), None)


def _quote(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)[:60]
