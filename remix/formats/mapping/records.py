"""A file cut into records: lines of JSON, elements of one JSON value or of XML, rows of a table, blocks of tokens."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from typing import Any

import polars as pl

from remix.delimited import parse_table
from remix.errors import BadInput, nearest
from remix.expressions import fill
from remix.formats.json import fields_in, json_lines, json_text, json_value, tell_misspelt
from remix.formats.lines import numbered_lines, read_lines, refuse_line, split_cells
from remix.formats.mapping import MappingRules, MentionRules
from remix.formats.mapping.elements import read_elements
from remix.formats.mapping.paths import EACH, FieldPath, Shape, column_type, find_misfit, keys_in, prune
from remix.formats.repairs import RepairTally, decode
from remix.formats.source import SourceFile

_MOST = 1000
"""How many columns a table may have: each costs much more memory than its name."""
_BLANK = re.compile(rb"\n[\n\r\t ]")
OUTER = "outer"
"""What a record calls the record that it stands in."""
KEY = "key"
"""What a record calls its own name, where an object has records by names."""


def read_records(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    """Return the records of a file: `@line`, and the columns of the shape that is returned beside them.

    Raises `BadInput` with line and path for what does not fit, and for what no record has.
    """
    reader = {
        "json-lines": _json_lines,
        "json": _json,
        "table": _table,
        "token-lines": _token_lines,
        "xml": read_elements,
    }
    return reader[mapping.records.syntax](mapping, source, tally)


def _json_lines(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    content = source.read()
    text = json_text(content, tally)
    data = text.encode() if tally.counts else content.removeprefix(BOM_UTF8)
    keys = keys_in(mapping.shape)
    shape = prune(mapping.shape, fields_in(text, keys))
    with ThreadPoolExecutor(1) as other:
        telling = other.submit(tell_misspelt, text, keys, tally)
        rows = _typed_lines(source, data, shape)
    telling.result()
    _refuse_foreign(mapping, source, text, rows)
    line = pl.int_range(pl.len(), dtype=pl.Int64) + 1
    # Lines that are blank are none for the parser.
    if data[:1].isspace() or _BLANK.search(data):
        filled = [number for number, one in enumerate(data.split(b"\n"), 1) if one.strip()]
        line = pl.lit(pl.Series(filled, dtype=pl.Int64).head(rows.height))
    rows = rows.with_columns(line.alias("@line"))
    _refuse_lines(mapping, source, data, rows, shape)
    return rows, shape


def _refuse_foreign(mapping: MappingRules, source: SourceFile, text: str, rows: pl.DataFrame) -> None:
    """Refuse records that have none of the fields that the mapping reads: each would be an empty text."""
    columns = [name for name in rows.columns if name not in (OUTER, KEY)]
    if columns and rows.height and all(rows[name].null_count() == rows.height for name in columns):
        known = set(re.findall(r'"([^"\\]{1,60})"\s*:', text[:100_000]))
        raise BadInput(
            source.name,
            f"no record has a field that {mapping.name} reads, as '{columns[0]}'{nearest(columns[0], known)}",
        )


def _refuse_lines(mapping: MappingRules, source: SourceFile, data: bytes, rows: pl.DataFrame, shape: Shape) -> None:
    """Refuse lines whose records are (see `_refuse_record`), of which only those that may be so are looked at."""
    texts = [
        path.column(shape) for path in (*mapping.document.text, *mapping.document.language) if path.keys[0] in shape
    ]
    odd = [text.str.contains(r"^[\[{]").fill_null(False) for text in texts]
    odd += [FieldPath.parse(key).column(shape).is_null() for key in mapping.records.needs]
    if odd and (lines := rows.filter(pl.any_horizontal(odd))["@line"].to_list()):
        every = data.split(b"\n")
        for line in lines:
            _refuse_record(mapping, source, line, json.loads(every[line - 1]))


def _typed_lines(source: SourceFile, data: bytes, shape: Shape, lines: list[int] | None = None) -> pl.DataFrame:
    """Return lines of JSON as rows with the columns of a shape; `lines` says where each stands in its file."""
    schema = {str(key): column_type(part) for key, part in shape.items()}
    try:
        return json_lines(source.name, data, schema, "a record")
    except BadInput:
        for number, one in enumerate(data.split(b"\n"), 1):
            line = lines[number - 1] if lines is not None and number <= len(lines) else number
            value = (
                json_value(source.name, one.decode("utf-8", "replace"), line=line, strict=True) if one.strip() else {}
            )
            if (misfit := find_misfit(value, shape)) is not None:
                raise BadInput(source.name, misfit, line=line) from None
        raise


def _json(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    text = json_text(source.read(), tally)
    keys = keys_in(mapping.shape)
    tell_misspelt(text, {*keys, mapping.records.path}, tally)
    # Some keys are made here, and the text does not have them.
    shape = prune(mapping.shape, {*fields_in(text, keys), OUTER, KEY, *filter(str.isdigit, keys)})
    numbers: list[int] = []
    found: list[str] = []
    for line, value in _elements(mapping, source, text):
        for record in _inner(mapping, source, line, value):
            _refuse_record(mapping, source, line, record)
            numbers.append(line)
            found.append(json.dumps(record))
    rows = _typed_lines(source, "\n".join(found).encode(), shape, numbers)
    _refuse_foreign(mapping, source, text, rows)
    return rows.with_columns(pl.Series("@line", numbers, dtype=pl.Int64)), shape


def _refuse_record(mapping: MappingRules, source: SourceFile, line: int, record: dict[str, Any]) -> None:
    """Refuse a record that lacks a field it needs, unless it says why, and one whose text is none."""
    failed = any(path.said in record for path in mapping.records.failed)
    lacking = [key for key in mapping.records.needs if record.get(key) is None and not failed]
    if lacking:
        raise BadInput(source.name, f"a record has no '{lacking[0]}'{nearest(lacking[0], record)}", line=line)
    for path in (*mapping.document.text, *mapping.document.language):
        value: Any = record
        for step in path.steps:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, list | dict):
            raise BadInput(source.name, f"'{path.said}' is a text, not {json.dumps(value)[:60]}", line=line)


def _elements(mapping: MappingRules, source: SourceFile, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the elements of the list that a file is, with the lines they begin at, or the one value, or one a line."""
    start = re.match(r"\s*", text).end()  # type: ignore[union-attr]
    if not text.startswith("[", start):
        yield from _values(mapping, source, text)
        return
    place, line, counted = start + 1, text.count("\n", 0, start) + 1, start
    decoder = json.JSONDecoder(strict=False)
    while (match := re.compile(r"[\s,]*").match(text, place)) and not text.startswith("]", match.end()):
        line += text.count("\n", counted, match.end())
        counted = match.end()
        try:
            value, place = decoder.raw_decode(text, counted)
        except (ValueError, RecursionError):
            json_value(source.name, text)
            raise BadInput(source.name, "is no JSON", line=line) from None
        yield line, value
    if text[match.end() + 1 :].strip():  # type: ignore[union-attr]
        json_value(source.name, text)


def _values(mapping: MappingRules, source: SourceFile, text: str) -> Iterator[tuple[int, Any]]:
    try:
        whole = json_value(source.name, text)
    except BadInput as error:
        # A file that is one value is broken where its own parser says.
        first = text.split("\n", 1)[0]
        try:
            json_value(source.name, first)
        except BadInput:
            raise error from None
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, json_value(source.name, line, line=number)
        return
    if mapping.records.keyed and isinstance(whole, dict):
        for name, value in whole.items():
            yield 1, {**value, KEY: name} if isinstance(value, dict) else value
    else:
        yield 1, whole


def _inner(mapping: MappingRules, source: SourceFile, line: int, value: Any) -> Iterator[Any]:
    """Yield the records in a value: those at the path of the mapping, which know what they stand in; or itself."""
    path = mapping.records.path
    if isinstance(value, list):
        value = {str(place): one for place, one in enumerate(value)}
    if not isinstance(value, dict):
        raise BadInput(source.name, f"a record is expected, as a JSON object, not {json.dumps(value)[:60]}", line=line)
    if not path:
        yield value
        return
    if path not in value:
        raise BadInput(source.name, f"a record has no '{path}'{nearest(path, value)}", line=line)
    outer = {key: one for key, one in value.items() if key != path}
    listed = value[path]
    if isinstance(listed, dict):
        listed = [{**one, KEY: name} if isinstance(one, dict) else one for name, one in listed.items()]
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadInput(source.name, f"{path} is a list of objects, not {json.dumps(listed)[:60]}", line=line)
    yield from ({**one, OUTER: outer} for one in listed)


def header_of(mapping: MappingRules, text: str) -> tuple[str, dict[str, str]] | None:
    """Return what separates the columns of a table, and what each column that is read is called in its header.

    None where no separator makes a header that has the columns which a mention needs. Case and outer blanks of names
    do not matter.
    """
    line = text.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r")
    known = [str(key) for key in mapping.shape]
    first = mapping.mention[0]
    needed = [first.begin, first.end or first.length or first.last] if first.begin else [first.spans or first.form]
    for separator in mapping.records.separator:
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        names = {cell.lower(): cell for cell in reversed(cells)} | {cell: cell for cell in cells}
        found = {key: names.get(key, names.get(key.lower(), "")) for key in known}
        wanted = [[str(path.steps[0]) for path in paths] for paths in needed if paths]
        wanted += [[name for name in mapping.document.name if "{" not in name]]
        if all(not some or any(found.get(one) for one in some) for some in wanted):
            return separator, {key: name for key, name in found.items() if name}
    return None


def _table(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    text = decode(source.read(), tally)
    rules = mapping.records
    if not rules.header:
        return _headless(mapping, source, text)
    found = header_of(mapping, text)
    if found is None:
        wanted = ", ".join(str(key) for key in list(mapping.shape)[:4])
        raise BadInput(source.name, f"has no header with the columns {wanted}", line=1)
    separator, names = found
    _refuse_columns(source, text, separator)
    rows = parse_table(source.name, text.encode(), separator=separator, quoted=rules.quoted)
    by_name = {name.strip(): name for name in reversed(rows.columns)}
    tell_unread(mapping, [name.strip() for name in rows.columns], names, tally)
    shape: Shape = {key: part for key, part in mapping.shape.items() if key in names}
    rows = rows.select(pl.col(by_name[name]).alias(key) for key, name in names.items())
    rows = rows.with_columns((pl.int_range(pl.len(), dtype=pl.Int64) + 2).alias("@line"))
    return _with_lists(rows, shape), shape


def tell_unread(mapping: MappingRules, columns: Iterable[str], read: Mapping[str, str], tally: RepairTally) -> None:
    """Tell the columns of a plain table that are not read, with what they may be: `read` are names by what is read.

    A mapping that is told by names of columns knows its tables, and which of their columns nobody needs.
    """
    if mapping.told_by:
        return
    roles = [mapping.document.name, *([path.said for path in paths] for paths in _roles(mapping.mention[0]))]
    absent = [list(role) for role in roles if not any(name in read for name in role)]
    for column in columns:
        if column in read.values() or not column:
            continue
        near = [role[0] for role in absent if get_close_matches(column.lower(), role, n=1)]
        near += [role[0] for role in absent if set(role) & {str(path.said) for path in mapping.mention[0].link}]
        hint = f": is it '{near[0]}'?" if near else ""
        tally.add("column", f"column '{column}' is not read{hint}")


def _roles(rules: MentionRules) -> list[tuple[FieldPath, ...]]:
    every = (rules.begin, rules.end, rules.form, rules.link, rules.confidence, rules.class_)
    return [paths for paths in every if paths]


def _refuse_columns(source: SourceFile, text: str, separator: str) -> None:
    """Refuse a header that has a column twice: one of them would be read, and nobody could say which."""
    line = text.split("\n", 1)[0]
    if line.count(separator) >= _MOST:
        raise BadInput(source.name, f"has more than {_MOST:,} columns", line=1)
    header = parse_table(source.name, line.encode(), separator=separator, header=False, quoted=True)
    counts = Counter(name.strip().lower() for row in header.head(1).rows() for name in row if name)
    if twice := next((name for name, count in counts.items() if name and count > 1), None):
        raise BadInput(source.name, f"has the column '{twice}' twice", line=1)


def _headless(mapping: MappingRules, source: SourceFile, text: str) -> tuple[pl.DataFrame, Shape]:
    """Return the rows of a table without a header, whose cells are separated by any text and never quoted."""
    lines = numbered_lines(text).filter(pl.col("line").str.contains(r"\S"))
    columns, separator = mapping.records.columns, mapping.records.separator[0]
    cells = lines.with_columns(cells=pl.col("line").str.split(separator))
    odd = cells.filter(pl.col("cells").list.len() != len(columns))
    if odd.height:
        line, count = odd.select("row", pl.col("cells").list.len()).row(0)
        wanted = f"{len(columns)} cells ({', '.join(columns)})"
        reason = f"has {count} cells; a row has {wanted}, with '{separator}' between them"
        raise BadInput(source.name, reason, line=line)
    rows = cells.select(
        pl.col("row").alias("@line"), *(pl.col("cells").list.get(n).alias(name) for n, name in enumerate(columns))
    )
    shape: Shape = {key: part for key, part in mapping.shape.items() if key in columns}
    return _with_lists(rows, shape), shape


def _with_lists(rows: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return a table with lists where the shape has some: cells such as `['Q1', "Q2"]`, of JSON or of Python."""
    listed = [str(key) for key, part in shape.items() if EACH in part]
    word = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,\[\]'"]+"""
    parts = pl.col(listed).str.extract_all(word).list.eval(pl.element().str.replace(r"""^(['"])(.*)['"]$""", "$2"))
    return rows.with_columns(parts) if listed else rows


def _token_lines(mapping: MappingRules, source: SourceFile, tally: RepairTally) -> tuple[pl.DataFrame, Shape]:
    """Return blocks of lines between blank ones: comments `#name: value`, and a list for each column of tokens."""
    filled = pl.col("line").str.contains(r"\S")
    lines = read_lines(source, tally).with_columns(block=(~filled).cum_sum()).filter(filled)
    columns = mapping.records.columns
    comment = pl.col("line").str.contains(r"^#\s?[\w.-]+\s*[:=]") & ~pl.col("line").str.contains("\t")
    said = lines.filter(comment).with_columns(
        key=pl.col("line").str.extract(r"^#\s?([\w.-]+)\s*[:=]", 1),
        value=pl.col("line").str.extract(r"^#[^:=]*[:=]\s?(.*)$", 1),
    )
    tokens = split_cells(lines.filter(~comment), columns)
    reason = fill("has {} columns; a token has {}", "count", pl.lit(", ".join(columns)))
    refuse_line(tokens, pl.when(pl.col("count") < len(columns)).then(reason))
    found = lines.group_by("block", maintain_order=True).agg(pl.col("row").first().alias("@line"))
    listed = tokens.group_by("block", maintain_order=True).agg(pl.col(columns))
    found = found.join(listed, on="block", how="left", maintain_order="left")
    for name in sorted(set(said["key"]) & {str(key) for key in mapping.shape}):
        own = said.filter(key=name).unique("block", keep="first").select("block", value="value")
        found = found.join(own.rename({"value": name}), on="block", how="left", maintain_order="left")
    shape: Shape = {key: part for key, part in mapping.shape.items() if key in found.columns}
    return found, shape
