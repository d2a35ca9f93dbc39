"""What comes out of the answers of a published result, held against every published cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from remix import progress
from remix.errors import Error
from remix.frames import Frames
from remix.published.catalogue import KnownDifference, PublishedResult, PublishedTable
from remix.published.figures import Cell, cells_of
from remix.published.identity import Gap, gaps_of, join_names
from remix.published.shelves import Shelf, changed_files
from remix.question import Question
from remix.scoring import score_inputs
from remix.scoring.choice import choose, read_chosen
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.files import read_frames
from remix.scoring.inputs.sources import Keeper

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

Status: TypeAlias = Literal["equal", "rounded", "identity", "different", "absent"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""How a cell comes out: equal; equal after rounding or cutting; equal once entities are compared letter by letter, as
ours joins names of one, or once a knowledge base that is given joins them; different; not at all, where what it needs
is not here or not public."""

_COUNTS = ("tp", "fp", "fn", "ignored", "mentions", "errors", "total", "given", "asked")
_DERIVED = {
    "given": pl.col("tp") + pl.col("fp"),
    "asked": pl.col("tp") + pl.col("fn"),
    "answered": (pl.col("tp") + pl.col("fp")) / (pl.col("tp") + pl.col("fn")),
    "f1_of_means": 2 * pl.col("precision") * pl.col("recall") / (pl.col("precision") + pl.col("recall")),
}
"""Figures that papers have beside ours: how many answers there are, how many are asked for, the share of these two; F1
of the means of P and R."""
_BEHIND = 1 << 40
_KEYS = ("task", "matching", "average", "slice")


@dataclass(frozen=True)
class CellOutcome:
    """What came out for one published cell; `reason` says why, where it is known or something was wrong."""

    result: str
    table: str
    cell: str
    published: str
    found: str
    status: Status
    reason: str = ""
    worse: bool = False


@dataclass(frozen=True)
class Reproduction:
    """What came out of published results, cell by cell; `notes` are what a reader has to know besides, by result.

    `changed` are the files that have other content than is known of them.
    """

    outcomes: tuple[CellOutcome, ...]
    notes: tuple[tuple[str, str], ...]
    changed: tuple[str, ...] = ()

    @property
    def cells(self) -> pl.DataFrame:
        """Return every cell: result, table, cell, published, found, status, reason and worse."""
        schema = dict.fromkeys(CellOutcome.__dataclass_fields__, pl.String) | {"worse": pl.Boolean}
        return pl.DataFrame([vars(one) for one in self.outcomes], schema=schema)

    @property
    def tables(self) -> pl.DataFrame:
        """Return a row for each table: result, table, cells, how many of each status, known and worse."""
        counts = [(pl.col("status") == one).sum().alias(one) for one in STATUSES]
        known = (pl.col("status") == "different") & ~pl.col("worse")
        grouped = self.cells.group_by("result", "table", maintain_order=True)
        return grouped.agg(pl.len().alias("cells"), *counts, known=known.sum(), worse=pl.col("worse").sum())

    @property
    def worse(self) -> bool:
        """Return whether any cell is worse than what is recorded of it."""
        return any(one.worse for one in self.outcomes)


def reproduce(
    results: Iterable[PublishedResult], shelves: Mapping[str, Shelf], keeper: Keeper, kb: KnowledgeBase | None = None
) -> Reproduction:
    """Return what comes out of results, whose files are on the shelf of their name.

    A knowledge base changes no figure: where one is different it says which entities are one by its redirects and
    sameAs, if these make the difference.
    """
    outcomes: list[CellOutcome] = []
    notes: list[tuple[str, str]] = []
    changed: list[str] = []
    for result in results:
        shelf = shelves[result.name]
        others = changed_files(result, shelf)
        changed += others
        notes += [(result.name, f"{name} has other content than is known of it: fetch it anew") for name in others]
        if result.absent:
            notes.append((result.name, result.absent))
        for table in result.tables:
            outcomes += _reproduce_table(result, table, shelf, keeper, kb)
        if not result.tables:
            outcomes.append(CellOutcome(result.name, "", "", "", "", "absent", result.absent))
    return Reproduction(tuple(outcomes), tuple(notes), tuple(changed))


def _reproduce_table(
    result: PublishedResult, table: PublishedTable, shelf: Shelf, keeper: Keeper, kb: KnowledgeBase | None
) -> Iterator[CellOutcome]:
    try:
        cells = cells_of(table, shelf)
    except Error as error:
        yield CellOutcome(result.name, table.name, "", "", "", "absent", str(error), worse=True)
        return
    known = {one.cell: one for one in table.known}
    scored = _Scored(table, shelf, keeper, kb)
    with progress.enable(False):  # what files are mended by is told where they are scored by themselves
        scored.score(cells)
    for cell in cells:
        yield scored.outcome(result.name, cell, known.get(cell.name))
    if not cells:
        reason = f"no file fits {table.figures}" if not result.absent else result.absent
        yield CellOutcome(result.name, table.name, "", "", "", "absent", reason)
    elif table.count > len(cells):
        reason = f"{table.count} cells are known, {len(cells)} are published here"
        yield CellOutcome(result.name, table.name, "", "", "", "absent", reason)


_Asked: TypeAlias = tuple[tuple[str, ...], str, str]
"""What runs are scored together by: gold, the table of entities that stand for each other, names of entities."""
_Run: TypeAlias = tuple[str, ...]
"""The names of the files of a run."""
_Scoring: TypeAlias = tuple[_Asked, _Run]
_Rows: TypeAlias = dict[tuple[str, ...], dict[str, object]]
"""The rows of an evaluation by task, matching, average and slice."""


class _Scored:
    """The evaluations that the cells of a table need, each run scored once, with others on the same gold."""

    def __init__(self, table: PublishedTable, shelf: Shelf, keeper: Keeper, kb: KnowledgeBase | None) -> None:
        self._table, self._shelf, self._keeper, self._kb = table, shelf, keeper, kb
        self._rows: dict[_Scoring, _Rows] = {}
        self._failed: dict[_Scoring, str] = {}
        self._otherwise: dict[_Scoring, list[tuple[_Rows, tuple[Gap, ...]]]] = {}

    def score(self, cells: Iterable[Cell]) -> None:
        """Score what cells need."""
        groups: dict[_Asked, dict[tuple[str, ...], None]] = {}
        for cell in cells:
            groups.setdefault(_group_of(cell), {})[cell.run] = None
        for asked, runs in groups.items():
            here = [run for run in runs if self._shelf.fitting(run)]
            if not here or not self._shelf.fitting(asked[0]):
                continue
            try:
                self._keep(asked, here)
            except Error:
                for run in here:
                    try:
                        self._keep(asked, [run])
                    except Error as error:
                        self._failed[asked, run] = str(error)

    def _ask(self, asked: _Asked, runs: Mapping[str, list[Path]]) -> Question[str]:
        """Return the question that the figures of a table answer, of runs on the same gold."""
        (gold, relax, entities), table = asked, self._table
        files, own = self._shelf.fitting(gold), table.run_format
        tasks, matchings = ((table.row[key],) if "{" not in table.row[key] else () for key in _KEYS[:2])
        return Question(
            gold=tuple(str(file) for file in files),
            run=tuple(f"{name}={file}" for name, some in runs.items() for file in some if not own),
            answers={name: read_frames(some, unannotated=True, formats=[own]) for name, some in runs.items() if own},
            relax=next(iter(self._shelf.fitting([relax])), None) if relax else None,
            entities=next(iter(self._shelf.fitting([entities])), None) if entities else None,
            format=tuple(f"{table.gold_format}={file}" for file in files if table.gold_format),
            profile=table.profile,
            by=table.by,
            task=tasks,
            match=matchings,
        )

    def _score(
        self, asked: _Asked, names: Mapping[str, _Run], *, as_written: bool, kb: KnowledgeBase | None = None
    ) -> dict[_Run, _Rows]:
        """Return the rows of runs, which are scored under these names, by their keys; names may be joined by a kb."""
        choice = choose(self._ask(asked, {name: self._shelf.fitting(run) for name, run in names.items()}))
        found = read_chosen(self._keeper, choice)
        found = found if kb is None else join_names(found, kb)
        rows = score_inputs(_as_written(found) if as_written else found, choice)
        several = rows["dataset"].n_unique() > 1 and "all" in rows["dataset"]
        rows = rows.filter(dataset="all") if several else rows
        rows = rows.with_columns(pl.col(_KEYS).fill_null(""), **_DERIVED)
        return {
            names[str(name)]: {tuple(_local(str(row[key])) for key in _KEYS): row for row in own.iter_rows(named=True)}
            for (name,), own in rows.group_by("system")
        }

    def _keep(self, asked: _Asked, runs: Iterable[_Run]) -> None:
        names = {f"run-{number}": run for number, run in enumerate(runs)}
        scored = self._score(asked, names, as_written=self._table.as_written)
        self._rows |= {(asked, run): rows for run, rows in scored.items()}

    def outcome(self, result: str, cell: Cell, known: KnownDifference | None) -> CellOutcome:
        """Return what comes out for a cell."""
        place = (result, self._table.name, cell.name, cell.published)
        key = (_group_of(cell), cell.run)
        if reason := self._failed.get(key):
            return CellOutcome(*place, "", "different", reason, worse=known is None)
        if key not in self._rows:
            lacking = [one for one in (*cell.gold, *cell.run) if not self._shelf.fitting([one])]
            return CellOutcome(*place, "", "absent", f"not here: {', '.join(lacking)}")
        row = self._rows[key].get(tuple(_local(cell.row.get(one, "")) for one in _KEYS), {})
        found = _value(row, cell.column, percent=self._table.percent)
        status = compare(cell.published, found, counted=cell.column in _COUNTS)
        said = _spell(found, cell.published, counted=cell.column in _COUNTS)
        if status != "different":
            return CellOutcome(*place, said, status)
        if known is not None and known.found == said:
            return CellOutcome(*place, said, status, known.reason)
        if gaps := self._find_gaps(key, cell):
            listed = "; ".join(f"{one.gold} and {one.answer}" for one in gaps[:5])
            more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
            return CellOutcome(*place, said, "identity", f"pairs of entities that are one: {listed}{more}")
        reason = f"known as {known.found}: {known.reason}" if known is not None else ""
        return CellOutcome(*place, said, status, reason, worse=True)

    def _find_gaps(self, key: _Scoring, cell: Cell) -> tuple[Gap, ...]:
        """Return the pairs of names that make the difference of a cell, if nothing else does."""
        if key not in self._otherwise:
            with progress.enable(False):
                self._otherwise[key] = [*self._score_otherwise(*key)]
        for rows, gaps in self._otherwise[key]:
            row = rows.get(tuple(_local(cell.row.get(one, "")) for one in _KEYS), {})
            found = _value(row, cell.column, percent=self._table.percent)
            if compare(cell.published, found, counted=cell.column in _COUNTS) != "different":
                return gaps
        return ()

    def _score_otherwise(self, asked: _Asked, run: _Run) -> Iterator[tuple[_Rows, tuple[Gap, ...]]]:
        """Yield the rows with names compared letter by letter, and joined by a knowledge base, and the pairs in it."""
        inputs = read_chosen(self._keeper, choose(self._ask(asked, {"run": self._shelf.fitting(run)})))
        if not self._table.as_written:
            yield self._score(asked, {"run": run}, as_written=True)[run], gaps_of(inputs)
        if self._kb is not None and (gaps := gaps_of(inputs, self._kb)):
            yield self._score(asked, {"run": run}, as_written=False, kb=self._kb)[run], gaps


def _as_written(inputs: Inputs) -> Inputs:
    """Return the inputs with entities, and forms that have no place, compared as their files write them.

    A form without a place is given one of its own, behind all others, so that it is that of the same letters alone.
    """
    sides = [inputs.gold, *inputs.runs.values()]
    forms = pl.concat(side.annotations.select(form=pl.col("surface_form").fill_null("")) for side in sides)
    codes = forms.unique().sort("form").with_columns(code=2 * pl.int_range(pl.len(), dtype=pl.Int64) + _BEHIND)

    def write(frames: Frames) -> Frames:
        links = frames.links.with_columns(entity=pl.coalesce("entity_as_given", "entity"))
        rows = frames.annotations.with_columns(form=pl.col("surface_form").fill_null(""))
        rows = rows.join(codes, on="form", maintain_order="left")
        placed = rows.with_columns(pl.coalesce("begin", "code"), end=pl.coalesce("end", pl.col("code") + 1))
        return replace(frames, links=links, annotations=placed.drop("form", "code"))

    return replace(inputs, gold=write(inputs.gold), runs={name: write(run) for name, run in inputs.runs.items()})


def _group_of(cell: Cell) -> _Asked:
    return cell.gold, cell.relax, cell.entities


def _local(value: str) -> str:
    """Return the last part of an IRI or of a name with a prefix; what is neither stays as it is.

    >>> _local("http://e.org/x#Mnt-Full"), _local("el:Mnt-Full"), _local("PERS.IND")
    ('Mnt-Full', 'Mnt-Full', 'PERS.IND')
    """
    return value.replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def _value(row: Mapping[str, object], column: str, *, percent: bool) -> float | None:
    """Return our figure, None where the evaluation has none."""
    cell = row.get(column)
    value = None if cell is None or cell != cell else float(str(cell))
    return value * 100 if percent and value is not None else value


def compare(published: str, found: float | None, *, counted: bool = False) -> Status:
    """Return how a published figure and ours agree; one that is not defined is empty, and ours None.

    >>> compare("3", 3, counted=True), compare("0.553", 0.55306), compare("0.89", 0.8999), compare("0.7", 0.8)
    ('equal', 'rounded', 'rounded', 'different')
    >>> compare("", None), compare("0", None), compare("0.5", None)
    ('equal', 'equal', 'different')
    """
    if published == "" or found is None:
        return "equal" if (published == "") == (found is None) or _number(published) == 0 else "different"
    wanted = _number(published)
    if wanted is None:
        return "different"
    ours = Decimal(repr(float(found)))
    if ours == wanted:
        return "equal"
    if counted:
        return "different"
    unit = Decimal(1).scaleb(int(wanted.as_tuple().exponent))
    near = {ours.quantize(unit, rounding) for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN)}
    # What is written with all digits of a float agrees but for the last ones.
    return "rounded" if wanted in near or abs(ours - wanted) < Decimal("1e-9") else "different"


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.rstrip("%"))
    except InvalidOperation:
        return None


def _spell(found: float | None, published: str, *, counted: bool) -> str:
    """Return our figure with as many digits as the published one has."""
    if found is None:
        return ""
    digits = len(published.partition(".")[2])
    return str(int(found)) if counted else f"{found:.{min(max(digits, 1), 6)}f}"
