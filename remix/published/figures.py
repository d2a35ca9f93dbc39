"""Published figures as cells: each with what is scored for it and which row of the evaluation has it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remix.errors import BadInput
from remix.files import read_bytes
from remix.published.catalogue import PublishedTable
from remix.published.shelves import Shelf


@dataclass(frozen=True)
class Cell:
    """One published figure.

    `name` is what it is called in its table, `published` the figure as it is written, `gold`, `run`, `relax` and
    `entities` the names of what is scored, `row` and `column` which of our figures it is.
    """

    name: str
    published: str
    gold: tuple[str, ...]
    run: tuple[str, ...]
    relax: str
    entities: str
    row: Mapping[str, str]
    column: str


def cells_of(table: PublishedTable, shelf: Shelf) -> list[Cell]:
    """Return the cells of a table as the files of a shelf have them; raises `BadInput` for a file that has no rows."""
    found = [cell for row in table.values for cell in _cells(table, row, {}, "")]
    if not table.figures:
        return found
    for name in sorted(shelf):
        if of_file := re.fullmatch(table.figures, name):
            for row in _rows(shelf[name], name):
                found += _cells(table, row, of_file.groupdict(""), name)
    return found


def _rows(file: Path, name: str) -> Iterator[dict[str, str]]:
    text = read_bytes(file).decode("utf-8", errors="replace")
    if name.endswith(".json"):
        try:
            said = json.loads(text)
        except ValueError as error:
            raise BadInput(file, f"is no JSON: {error}") from None
        yield from ({"path": path, "value": value} for path, value in _numbers(said, ""))
        return
    lines = io.StringIO(text, newline="")
    plain = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in plain if name.endswith(".tsv") else csv.DictReader(lines):
        yield {key.strip(): (value or "").strip() for key, value in row.items() if key}


def _numbers(said: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each number of a JSON value with the keys that lead to it."""
    if isinstance(said, dict):
        for key, value in said.items():
            yield from _numbers(value, f"{path}/{key}" if path else key)
    elif isinstance(said, int | float) and not isinstance(said, bool):
        yield path, str(said)


def _cells(table: PublishedTable, row: Mapping[str, str], known: Mapping[str, str], file: str) -> Iterator[Cell]:
    """Yield the cells of a published row, none of one that the table does not mean."""
    groups = dict(known)
    for column, pattern in table.where.items():
        if (fit := re.fullmatch(pattern, row.get(column, ""))) is None:
            return
        groups |= fit.groupdict("")
    groups = {name: table.names.get(name, {}).get(value, value) for name, value in groups.items()}
    label = " ".join([Path(file).name.split(".")[0], *(row[column] for column in table.where)])

    def fill(templates: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one.format(**groups) for one in templates)

    wanted = {key: template.format(**groups) for key, template in table.row.items()}
    relax, entities = fill((table.relax, table.entities))
    for theirs, ours in table.cells.items():
        if theirs in row:
            yield Cell(
                name=f"{label} {theirs if theirs != 'value' else ''}".strip(),
                published=row[theirs],
                gold=fill(table.gold),
                run=fill(table.run),
                relax=relax,
                entities=entities,
                row=wanted,
                column=ours.format(**groups),
            )
