"""Elements of XML as records, by the shape that a mapping's paths need.

A key is the text directly in the last element of that name in another, `@name` an attribute, `name[]` each element of
that name, however deep, with the line that it stands in, and `text()` the text of an element of which more is read. A
record in a record is a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import polars as pl

from remix.formats.mapping import MappingRules
from remix.formats.mapping.paths import EACH, Shape, column_type, prune
from remix.formats.repairs import RepairTally
from remix.formats.source import SourceFile
from remix.formats.xml import Element, parse_tree

LINE = "@line"
"""What a record, and an element of a list, calls the line that it begins in."""
_TEXT = "text()"


def read_elements(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    """Return the elements of the mapping's `records.path` as rows, and what of its shape the file has."""
    root = parse_tree(source.read(), source.name, tally)
    met = {one.tag for one in root.iter()} | {f"@{name}" for one in root.iter() for name in one.attrib}
    shape = {**_with_lines(prune(mapping.shape, {*met, _TEXT})), LINE: {}}
    records = _outermost(root, mapping.records.path) if mapping.records.path else iter([root])
    schema = {str(key): column_type(part) for key, part in shape.items()}
    rows = pl.DataFrame([_value(one, shape) for one in records], schema=schema)
    return rows.with_columns(pl.col(LINE).cast(pl.Int64)), shape


def _outermost(element: Element, name: str) -> Iterator[Element]:
    """Yield the elements of that name, without those in another of them: what is read stays as large as the file."""
    if element.tag == name:
        yield element
    else:
        for one in element.inner():
            yield from _outermost(one, name)


def _with_lines(shape: Shape) -> Shape:
    """Return a shape whose elements of lists have their line, unless they are texts."""
    found = {key: _with_lines(part) for key, part in shape.items()}
    return {key: {**part, LINE: {}} if key == EACH and part else part for key, part in found.items()}


def _value(element: Element, shape: Shape, *, listed: bool = False) -> Any:
    """Return what is read of an element, its text where the shape has no parts; what is `listed` has its own lists."""
    if not shape:
        return element.own_text()
    inner = {one.tag: cast(Element, one) for one in element}
    found: dict[str, Any] = {}
    for key, part in shape.items():
        name = str(key)
        if key == LINE:
            found[name] = str(element.line)
        elif key == _TEXT:
            found[name] = element.own_text()
        elif name.startswith("@"):
            found[name] = element.get(name[1:])
        elif EACH in part:
            every = (one for one in element.inner() if one.tag == name) if listed else element.every(name)
            found[name] = [_value(one, part[EACH], listed=True) for one in every]
        else:
            found[name] = _value(inner[name], part) if name in inner else None
    return found


def names_in_xml(text: str) -> set[str]:
    """Return the names of the elements of a text of XML, and with `@` those of their attributes.

    >>> sorted(names_in_xml("<a b='c'><d/></a>"))
    ['@b', 'a', 'd']
    """
    attributes = re.findall(r"""\s([A-Za-z_][\w.:-]*)\s?=\s?["']""", text)
    return {*re.findall(r"<([A-Za-z_][\w.:-]*)", text), *(f"@{name}" for name in attributes)}
