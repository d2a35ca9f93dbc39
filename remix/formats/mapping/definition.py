"""A format that a mapping makes: how its files are told, and how they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from remix import resources
from remix.formats.format import Contents, Format
from remix.formats.losses import Loss
from remix.formats.mapping import MappingRules, read_mapping
from remix.formats.source import SourceFile
from remix.formats.xml import root_of
from remix.frames import Frames


def mapped_formats() -> Iterator[Format]:
    """Yield the formats of all such mappings."""
    for file in resources.files("datasets/formats", ".toml").values():
        yield format_of(read_mapping(file))


def format_at(file: Path) -> Format:
    """Return the format of the mapping in a file; raises `BadInput` where it is none."""
    return format_of(read_mapping(file))


def format_of(
    mapping: MappingRules,
    *,
    sniff: Callable[[bytes, str], bool] | None = None,
    write: Callable[[Frames, Path], tuple[Loss, ...]] | None = None,
    holds: frozenset[str] = frozenset(),
) -> Format:
    """Return the format of a mapping, with a way to write it where one is given, and another to tell its files."""
    return Format(
        name=mapping.name,
        summary=mapping.summary,
        suffixes=mapping.suffixes,
        sniff=sniff or partial(fits, mapping),
        read=partial(_read, mapping),
        write=write,
        holds=holds,
        mapping=mapping,
    )


def _read(mapping: MappingRules, source: SourceFile, dataset: str) -> Contents:
    from remix.formats.mapping.reading import read_mapped

    return read_mapped(mapping, source, dataset)


def fits(mapping: MappingRules, head: bytes, name: str) -> bool:
    """Return whether a file that begins so has what the mapping is told by."""
    told = mapping.told_by or mapping.begins
    if not mapping.sniffed or not (told or mapping.records.syntax == "table"):
        return False
    if mapping.records.syntax == "table" and mapping.records.header:
        from remix.formats.mapping.records import header_of

        if header_of(mapping, head.decode("utf-8", "replace")) is None:
            return False
    if mapping.begins and re.match(mapping.begins, head.decode("utf-8", "replace")) is None:
        return False
    if mapping.records.syntax in ("json-lines", "json"):
        opening = (b"{",) if mapping.records.syntax == "json-lines" else (b"{", b"[")
        if not head.startswith(opening):
            return False
    if mapping.records.syntax == "xml" and root_of(head) != mapping.told_by[0]:
        return False
    return not lacking(mapping, head)


def resemblance(formats: Iterable[Format], head: bytes) -> str:
    """Return what a file of no format that begins so would be if it were a little different, as the end of a sentence.

    >>> from remix.formats.mapping import shipped_mapping
    >>> resemblance([format_of(shipped_mapping("zelda-jsonl"))], b'{"id": 1, "text": "Ada", "index": [[0, 3]]}')
    "; it resembles zelda-jsonl, but for 'wikipedia_titles'"
    """
    known = list(formats)
    changed = {
        "without its first line": head.partition(b"\n")[2],
        "with tabs in the place of its spaces": re.sub(b" +", b"\t", head),
        "with tabs in the place of its commas": head.replace(b",", b"\t"),
        "with an object a line, not a list": head.removeprefix(b"[").lstrip(),
        "as a list of its objects": b"[" + head,
    }
    near = _nearest_mapping(known, head)
    for what, other in changed.items():
        fitting = [one.name for one in known if other.strip() and one.sniff(other, "x")]
        # Of lists of objects nearly all are taken for one format or another.
        if fitting and not (what.startswith("as a list") and near):
            return f"; it would be {fitting[0]} {what}"
    return near


def _nearest_mapping(formats: Iterable[Format], start: bytes) -> str:
    """Return the mapping whose fields a file that begins so has for the most part, and the others, in words."""
    found = [(one.name, lacking(one.mapping, start), len(one.mapping.told_by)) for one in formats if one.mapping]
    near = [(len(less), name, less) for name, less, every in found if 0 < len(less) <= every / 2]
    if not near:
        return ""
    _, name, less = min(near)
    fields = ", ".join(f"'{one}'" for one in less)
    return f"; it resembles {name}, but for {fields}"


def lacking(mapping: MappingRules, start: bytes) -> list[str]:
    """Return what the mapping is told by and the begin of a file does not have, or has and should not."""
    if mapping.records.syntax in ("json-lines", "json"):
        first = start.split(b"\n", 1)[0] if mapping.records.syntax == "json-lines" else start
        has = {match.decode("utf-8", "replace") for match in re.findall(rb'(?<!\\)"((?:[^"\\]|\\.)*)"\s*:', first)}
        has |= {json.loads(f'"{one}"') for one in has if "\\" in one and _sound(one)}
    elif mapping.records.syntax == "xml":
        from remix.formats.mapping.elements import names_in_xml

        has = names_in_xml(start.decode("utf-8", "replace"))
    else:
        line = start.split(b"\n", 1)[0].decode("utf-8", "replace")
        has = {cell.strip().strip('"') for separator in mapping.records.separator for cell in line.split(separator)}
    return [one for one in mapping.told_by if one not in has] + [one for one in mapping.lacks if one in has]


def _sound(said: str) -> bool:
    try:
        json.loads(f'"{said}"')
    except ValueError:
        return False
    return True
