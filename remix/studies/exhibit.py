"""What an exhibit of a study is: the tables, figures and sentences that are made of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from remix.paper import AS_IT_IS, Typesetting
from remix.registry import Registry
from remix.reports.figures import Figure
from remix.studies.results import Results


@dataclass(frozen=True)
class ShownTable:
    """A table as a paper shows it: the frame is data, `how` says how it is shown: what is best, intervals, marks.

    `title` and `notes` are whole sentences. Cells that are missing are null, and the notes say of them what is missing.
    """

    name: str
    title: str
    frame: pl.DataFrame
    how: Typesetting = AS_IT_IS
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownFigure:
    """A figure with its title and the notes below it, whole sentences."""

    name: str
    title: str
    figure: Figure
    notes: tuple[str, ...] = ()


Cell: TypeAlias = "tuple[tuple[str, str], ...]"
"""The columns and values that name a row of a table."""


@dataclass(frozen=True)
class Sentence:
    """A sentence that a rule made from numbers: `table` and `cell` (columns and values of its row) say from which.

    `beside` are the further rows of the table that it tells of.
    """

    text: str
    table: str
    cell: Cell = ()
    beside: tuple[Cell, ...] = ()


Shown: TypeAlias = ShownTable | ShownFigure | Sentence


@dataclass(frozen=True)
class Exhibit:
    """A part of a study's report; `place` orders the parts, `source` is what paper has its like ('Table 5 of …')."""

    name: str
    title: str
    place: int
    show: Callable[[Results], Iterable[Shown]]
    source: str = ""


EXHIBITS = Registry("exhibit", "remix.studies.exhibits", Exhibit)
"""All exhibits, by name: one file each in `remix/studies/exhibits/`."""
