"""Formats by mapping: a TOML file says where documents, mentions and links stand in JSON, XML or a table.

A mapping speaks of flat records with at most one nested list each, whose elements are mentions; docs/formats.md has
its keys. `datasets/formats/*.toml` ship with the project; `remix.formats.read` takes the path of any other as format.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from remix import resources
from remix.errors import BadInput, nearest
from remix.formats.mapping.paths import FieldPath, Shape, shape_of

Where = tuple[FieldPath, ...]
"""Places of one thing: the first of them where a record has something."""


@dataclass(frozen=True)
class RecordRules:
    """How a file is cut into records: one a line (`json-lines`), one JSON value (`json`), rows (`table`), blocks of
    lines with a token each (`token-lines`), or elements of one name (`xml`)."""

    syntax: Literal["json-lines", "json", "table", "token-lines", "xml"] = "json-lines"
    path: str = ""
    keyed: bool = False
    where: Mapping[str, str | bool] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    failed: Where = ()
    unread: Where = ()
    separator: tuple[str, ...] = (",",)
    header: bool = True
    columns: tuple[str, ...] = ()
    quoted: bool = True


@dataclass(frozen=True)
class DocumentRules:
    """What a document is called, and where its text stands or of what it is put together."""

    name: tuple[str, ...] = ()
    joined: bool = False
    text: Where = ()
    parts: Where = ()
    gap: Literal["words", "blank", "none"] = "words"
    marks: tuple[str, ...] = ()
    tokens: Where = ()
    files: tuple[str, ...] = ()
    language: Where = ()


@dataclass(frozen=True)
class MentionRules:
    """Where a mention stands and what is said of it."""

    begin: Where = ()
    end: Where = ()
    last: Where = ()
    length: Where = ()
    spans: Where = ()
    tags: Where = ()
    form: Where = ()
    link: Where = ()
    confidence: Where = ()
    class_: Where = ()
    cluster: Where = ()
    ignorable: Where = ()
    group: Where = ()
    option: Where = ()
    reading: Where = ()
    candidates: Where = ()
    candidate: str = "entity"
    score: str = "score"
    offsets: Literal["characters", "bytes", "utf-16", "tokens"] = "characters"
    first: int = 0
    first_by_form: int = 0
    distinct: tuple[str, ...] = ()
    alternatives: bool = False
    outside: Literal["kept", "dropped"] = "kept"


@dataclass(frozen=True)
class LinkRules:
    """How what stands there as a link becomes an IRI, and what says that there is none."""

    kind: Literal["identifier", "title", "qid"] = "identifier"
    prefix: str = ""
    prefixes: Mapping[str, str | bool] = field(default_factory=dict)
    separator: str = ""
    needs: str = ""
    edition: Where = ()
    nil: tuple[str, ...] = ()
    map: str = ""
    where: Mapping[str, str | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class MappingRules:
    """A mapping: what its file says, and what of a record it reads."""

    name: str
    file: Path
    summary: str
    records: RecordRules
    document: DocumentRules
    mention: tuple[MentionRules, ...]
    link: LinkRules
    shape: Shape
    suffixes: tuple[str, ...] = (".jsonl",)
    told_by: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    begins: str = ""
    example: str = ""
    optional: tuple[str, ...] = ()
    sniffed: bool = True
    answers_of: str = ""


def read_mapping(file: Path | str) -> MappingRules:
    """Return the mapping of a TOML file; raises `BadInput` that names the key for what is none."""
    path = Path(file)
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(path, f"is no mapping: {getattr(error, 'strerror', None) or error}") from None
    listed = said.pop("mention", {})
    mentions = listed if isinstance(listed, list) else [listed]
    parts: dict[str, Any] = {
        "records": _fill(path, "records", said.pop("records", {}), RecordRules),
        "document": _fill(path, "document", said.pop("document", {}), DocumentRules),
        "mention": tuple(_fill(path, "mention", one, MentionRules) for one in mentions),
        "link": _fill(path, "link", said.pop("link", {}), LinkRules),
    }
    try:
        parts["shape"] = shape_of(_paths(parts))
        for one in (key for rules in ("records", "link") for key in parts[rules].where):
            # Whether something is there can be asked of what has parts.
            parts["shape"].setdefault(FieldPath.parse(one).steps[0], {})
    except ValueError as error:
        raise BadInput(path, str(error)) from None
    if "summary" not in said:
        raise BadInput(path, "lacks the key 'summary'")
    found = _fill(path, "", {"name": path.stem, "file": path, **said}, MappingRules, parts)
    _check(found)
    return found


def shipped_mapping(name: str) -> MappingRules:
    """Return the mapping of that name that ships with the project or that another distribution adds."""
    return read_mapping(resources.files("datasets/formats", ".toml")[name])


Rules = TypeVar("Rules")


def _fill(file: Path, table: str, said: object, kind: type[Rules], more: Mapping[str, Any] | None = None) -> Rules:
    """Return the rules that a table of the file has; raises `BadInput` for keys and values that they do not have."""
    if not isinstance(said, dict):
        raise BadInput(file, f"[{table}] is a table, not {said!r}")
    hints = _hints(kind)  # type: ignore[arg-type]
    known = {one.name.rstrip("_"): one.name for one in fields(kind)}  # type: ignore[arg-type]
    known = {key: name for key, name in known.items() if name not in (more or {})}
    values: dict[str, Any] = dict(more or {})
    for key, value in said.items():
        place = f"{table}.{key}".lstrip(".")
        if key not in known:
            raise BadInput(file, f"has the key '{place}', which no mapping has{nearest(key, [*known, *(more or ())])}")
        try:
            values[known[key]] = _value(value, hints[known[key]])
        except ValueError as error:
            raise BadInput(file, f"{place}: {error}") from None
    return kind(**values)


_hints = cache(get_type_hints)


def _value(said: Any, kind: Any) -> Any:
    """Return a value of the file as one of that kind; raises `ValueError` for another."""
    if get_origin(kind) is tuple:
        listed = said if isinstance(said, list) else [said]
        if not all(isinstance(one, str) for one in listed):
            raise ValueError(f"is a text or a list of texts, not {said!r}")
        return tuple(FieldPath.parse(one) if get_args(kind)[0] is FieldPath else one for one in listed)
    if get_origin(kind) is Literal:
        if said not in get_args(kind):
            raise ValueError(f"is not '{said}'{nearest(str(said), get_args(kind))}")
        return said
    if get_origin(kind) is not None:
        if isinstance(said, dict) and all(isinstance(one, str | bool) for one in said.values()):
            return said
        raise ValueError(f"is a table of names and their texts, not {said!r}")
    if not isinstance(said, kind) or (kind is int and isinstance(said, bool)):
        words = {str: "a text", bool: "true or false", int: "a whole number"}
        raise ValueError(f"is {words.get(kind, 'another value')}, not {said!r}")
    return said


def _paths(parts: Mapping[str, Any]) -> list[FieldPath]:
    """Return all paths of a mapping, those in names of documents and in conditions among them."""
    found: list[FieldPath] = []
    for rules in (parts["records"], parts["document"], *parts["mention"], parts["link"]):
        for one in fields(rules):
            value = getattr(rules, one.name)
            if one.name == "where":
                found += [FieldPath.parse(said) for said, wanted in value.items() if isinstance(wanted, str)]
            elif isinstance(value, tuple):
                found += [path for path in value if isinstance(path, FieldPath)]
    for name in parts["document"].name:
        found += [FieldPath.parse(said) for said in names_in(name)]
    return found


NUMBERS = ("stem", "number", "place", "line")
"""What a name may say beside fields of the record: the file's name, the record's number from 1 or from 0, its line."""


def names_in(name: str) -> list[str]:
    """Return the paths in a name of documents: itself, or what stands in braces.

    >>> names_in("doc_id"), names_in("{dialogue}/{turn}-{number}")
    (['doc_id'], ['dialogue', 'turn'])
    """
    said = re.findall(r"\{([^{}]*)\}", name) if "{" in name else [name]
    return [one for one in said if one not in NUMBERS]


def _check(found: MappingRules) -> None:
    """Raise `BadInput` for rules that say nothing together."""
    if len(found.document.marks) not in (0, 2):
        raise BadInput(found.file, "document.marks are two: what stands before a mention, and what behind it")
    if found.document.parts and not any(
        one.form in [(part,) for part in found.document.parts] for one in found.mention
    ):
        raise BadInput(found.file, "document.parts lack mention.form, the part that is the mention")
    for one in found.mention:
        if not (one.begin or one.form or one.link or one.spans or one.tags or found.document.marks):
            raise BadInput(found.file, "mention has neither begin nor spans, form or link")
        if one.begin and not (one.end or one.last or one.length or one.form):
            raise BadInput(found.file, "mention has a begin, and neither end, last, length nor form")
    for name, pattern in (("begins", found.begins), ("link.needs", found.link.needs)):
        try:
            re.compile(pattern)
        except re.error as error:
            raise BadInput(found.file, f"{name} is no regular expression ({error})") from None
