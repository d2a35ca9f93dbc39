"""Subjects as the text has them: one IRI may stand for several annotations, told apart by text order.

Some files give one IRI to the annotations of several sentences. As a graph they would merge and lose which
link belongs to which context; in the order of the text a new annotation begins where its block begins again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile

import polars as pl

from remix.formats.nif import ANCHOR, CONTEXT, INDEXES, TEXT, TYPE
from remix.formats.repairs import TOLD, RepairTally

_FUNCTIONAL = (CONTEXT, *INDEXES, TEXT)

Row = tuple[str, str]


@dataclass(frozen=True)
class Blocks:
    """Triples with the number of their subject.

    `triples`: unit, predicate, object, in text order. `subjects` are the terms of the units, by their numbers; several
    may have the same.
    """

    triples: pl.DataFrame
    subjects: pl.Series

    @cached_property
    def by_predicate(self) -> dict[str, pl.DataFrame]:
        """Return unit and object of the triples by their predicates, in the order of the text."""
        parts = self.triples.partition_by("predicate", as_dict=True, include_key=False)
        return {str(key[0]): part for key, part in parts.items()}

    def of(self, term: str) -> pl.DataFrame:
        """Return unit and object of the triples with this predicate."""
        found = self.by_predicate.get(term)
        return self.triples.clear().drop("predicate") if found is None else found

    def first(self, term: str, value: pl.Expr) -> pl.Series:
        """Return the `value` of every unit's first object with this predicate, null where it has none."""
        # What is written last stands: in reverse, the first of the text.
        rows = self.of(term).reverse().select("unit", value=value)
        column = pl.Series([None], dtype=rows.schema["value"]).new_from_index(0, len(self.subjects))
        return column.scatter(rows["unit"], rows["value"])


def number_subjects(triples: pl.DataFrame, tally: RepairTally) -> Blocks:
    """Return the triples (subject, predicate, object) with subjects numbered, shared ones split, which is told.

    A subject is split where a second block of it has another context, begin, end or text; blocks that
    do not contradict each other are one subject, as in a graph, and so are repeated triples.
    """
    run = triples["subject"].rle_id()
    runs = pl.DataFrame({"run": run, "subject": triples["subject"]}).unique("run", keep="first", maintain_order=True)
    subjects = runs.select("subject").unique(maintain_order=True).with_row_index("unit")
    runs = runs.join(subjects, on="subject", how="left", maintain_order="left")
    numbered = triples.select(runs["unit"].gather(run), pl.lit(run).alias("run"), "predicate", "object")
    decisive = numbered.filter(pl.col("predicate").is_in([*_FUNCTIONAL, ANCHOR]))
    if decisive.select("unit", "predicate").is_unique().all():
        return Blocks(numbered.drop("run"), subjects["subject"])
    values = decisive.group_by("unit", "predicate").agg(pl.col("object").n_unique())
    doubtful = values.filter(pl.col("object") > 1)["unit"].unique()
    return _split(numbered, subjects["subject"], doubtful, tally)


def _split(numbered: pl.DataFrame, subjects: pl.Series, doubtful: pl.Series, tally: RepairTally) -> Blocks:
    rows = numbered.with_row_index("row").filter(pl.col("unit").is_in(doubtful.implode()))
    rows = rows.sort("unit", maintain_order=True).with_columns(pl.col("predicate").cast(pl.String))
    where: list[int] = []
    new: list[int] = []
    made: list[int] = []
    for unit, of_unit in groupby(rows.iter_rows(), key=lambda row: row[1]):
        listed = list(of_unit)
        parts = _parts([(run, (pred, value)) for _, _, run, pred, value in listed])
        for (row, *_), part in zip(listed, parts, strict=True):
            if part:
                where.append(row)
                new.append(len(subjects) + len(made) + part - 1)
        made += [unit] * max(parts)
    if not made:
        return Blocks(numbered.drop("run"), subjects)
    more = subjects.gather(made)
    told = [f"{name} names several annotations" for name in more.head(TOLD)]
    tally.add("shared-iri", told[0], len(made), told)
    units = numbered["unit"].scatter(where, pl.Series(new, dtype=pl.UInt32))
    return Blocks(numbered.with_columns(units).drop("run"), pl.concat([subjects, more]))


def _parts(rows: Sequence[tuple[int, Row]]) -> list[int]:
    """Return the number of the part, from 0, to which each triple of a shared subject belongs."""
    parts: list[dict[str, object]] = []
    numbers: list[int] = []
    for _, of_run in groupby(rows, key=lambda row: row[0]):
        for piece in _pieces([row for _, row in of_run]):
            said = _list_said(piece)
            fitting = [n for n in range(len(parts)) if all(parts[n].get(p, v) == v for p, v in said.items())]
            # What says nothing of its own belongs to the block before it.
            number = fitting[-1] if fitting else len(parts)
            if number == len(parts):
                parts.append({})
            parts[number].update(said)
            numbers += [number] * len(piece)
    return numbers


def _list_said(piece: Sequence[Row]) -> dict[str, object]:
    """Return what a piece says that can contradict another: of whole blocks also the anchor."""
    decisive = (*_FUNCTIONAL, ANCHOR) if _complete(piece) else _FUNCTIONAL
    said: dict[str, object] = {}
    for pred, value in piece:
        if pred in decisive:
            said.setdefault(pred, _value(pred, value))
    return said


def _value(pred: str, value: str) -> object:
    if pred in INDEXES:
        number = value.split('"')[1] if value.startswith('"') else value
        return int(number) if number.strip().isdecimal() else number
    return value


def _pieces(rows: list[Row]) -> list[list[Row]]:
    """Return the blocks of one subject that stand side by side, or all as one if they cannot be told apart."""
    pieces: list[list[Row]] = [[]]
    said: dict[str, object] = {}
    for pred, value in rows:
        if pred in _FUNCTIONAL and said.get(pred, _value(pred, value)) != _value(pred, value):
            # The types before it are of the new block.
            begun = list(takewhile(lambda row: row[0] == TYPE, reversed(pieces[-1])))[::-1]
            del pieces[-1][len(pieces[-1]) - len(begun) :]
            pieces.append(begun)
            said = {}
        if pred in _FUNCTIONAL:
            said[pred] = _value(pred, value)
        pieces[-1].append((pred, value))
    return pieces if all(map(_complete, pieces)) else [rows]


def _complete(rows: Sequence[Row]) -> bool:
    have = {pred for pred, _ in rows}
    return TEXT in have or (CONTEXT in have and bool(have & {ANCHOR, INDEXES[0]}))
