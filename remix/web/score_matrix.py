"""The matrix of scores: a row for each system, a column for each dataset or slice, with intervals, tests and order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from remix.expressions import spell_interval
from remix.measures.labels import label_of
from remix.names import shorten
from remix.paper import Typesetting
from remix.reports.matrix import ALPHA, UNCOMPARED, Family, Order, order_systems
from remix.reports.readable import NEVER_BEST
from remix.scoring.rows import ALL_SLICES
from remix.web import page
from remix.web.score_leads import Leading, explain_leads, name_conditions

BEST = "the best system of the column"
"""What others are held against where nothing is named."""
_NO_TEST = (
    "No pair of systems is tested, which needs ten documents and two systems; "
    "a baseline is one where others are held against it."
)
_BELOW_LINE = "Baselines and oracles stand below the line and are never the best."
_FAMILY = (
    "The choices of datasets, systems, slices, conventions, task, matching and of what others are held against make "
    "the family; a filter of rows, a choice of columns of this table and an order of rows change no star."
)
_DOUBTED = "?"
"""Stands behind an interval that is in doubt."""
_MARKED = f"{UNCOMPARED} many of the answers cannot be compared to gold's entities."
_IN_DOUBT = f"{_DOUBTED} the interval is in doubt, as is said below."
_NO_INTERVAL = "without intervals, which need ten documents or more"


def tell_untested(asked: Mapping[str, str], systems: pl.Series) -> str:
    """Return why no pair is tested of the systems that have scores."""
    if (against := asked["against"]) and against not in systems:
        return f"No pair of systems is tested: {against}, which others are held against, has no scores here."
    return _NO_TEST


def with_intervals_spelt(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with `interval`, as it is shown, with a question mark where it is in doubt."""
    if not {"f1_low", "f1_high"} <= {*cells.columns}:
        return cells.with_columns(interval=pl.lit(None, pl.String))
    spelt = spell_interval("f1_low", "f1_high")
    if "interval_doubt" in cells.columns:
        doubted = pl.col("interval_doubt").fill_null("") != ""
        spelt = pl.when(doubted).then(spelt + f" {_DOUBTED}").otherwise(spelt)
    return cells.with_columns(interval=spelt)


@dataclass(frozen=True)
class ShownScores:
    """What a matrix shows: marked cells of the `parts` that are its columns, which `score` they are, and their tests.

    `labels` are those of parts that have one, `lead` makes the address of a cell, `whole` says that nothing is missing.
    """

    asked: Mapping[str, str]
    cells: pl.DataFrame
    score: str
    parts: Sequence[str]
    family: Family
    labels: Mapping[str, str]
    lead: Leading
    whole: bool

    def column_of(self, part: str) -> _ScoreColumn:
        """Return the column of a dataset or slice."""
        own = self.cells.filter(part=part)
        mentions, documents = own.select(pl.col("mentions", "documents").max()).row(0)
        short, label = shorten(str(part)), self.labels.get(part, "")
        # What counts in part has numbers of mentions that are none of whole ones.
        number = "" if mentions is None else f"{mentions:.10g}"
        name = short + (f" ({number})" if number else "")
        size = f"{number} mention{'s' * (mentions != 1)}" if number else ""
        on = f"{size} in " if size else ""
        of = f"; {label_of(self.asked['by']).words} is {part}" if self.asked["by"] else ""
        means = "" if part != ALL_SLICES else "all slices together: "
        means = "the mean over all slices of " if means and own["average"][0] == "macro" else means
        of = "" if means else of
        return _ScoreColumn(
            part=str(part),
            name=name,
            cells=own.select(
                "system",
                pl.col("f1").alias(name),
                pl.col("interval").fill_null("").alias(f"{name} 95 %"),
                pl.col("mark").fill_null("").alias(f"{name} mark"),
            ),
            heading=(label or short, ", ".join(filter(None, (short if label else "", size)))),
            called=name.replace(short, label, 1) if label else name,
            explained=f"{means}{self.score} on {on}{documents or 0} document{'s' * (documents != 1)}{of}",
        )


@dataclass(frozen=True)
class _ScoreColumn:
    """A column of a matrix: its cells by system, its heading, and what a paper calls it."""

    part: str
    name: str
    cells: pl.DataFrame
    heading: tuple[str, str]
    called: str
    explained: str


def tabulate_matrix(
    shown: ShownScores,
    columns: Mapping[str, str],
    left: int,
    group: Callable[[Sequence[str]], Sequence[Sequence[str]]],
) -> page.Table:
    """Return a row for each system and a column for each dataset or slice, with the interval in small letters.

    `columns` say what scores can be sliced by, `left` is the number of slices that are no columns, and `group` groups
    datasets that hold the same texts.
    """
    cells = shown.cells
    order = order_systems(cells, ["all"]) if shown.asked["by"] else order_systems(cells, shown.parts, group)
    table, every = order.rows.select("system", "kind"), [shown.column_of(part) for part in shown.parts]
    explained = {"kind": "baselines and oracles, which know gold, have rows of their own and are never the best"}
    means = [f"mean of {len(order.shared)}"] if len(order.shared) > 1 else []
    for mean in means:
        table = table.with_columns(order.rows["mean"].alias(mean))
        explained[mean] = f"the mean over columns that all systems have: {', '.join(order.shared)}"
    for one in every:
        table = table.join(one.cells, on="system", how="left", maintain_order="left")
    names = [one.name for one in every]
    small, marks = ({name: f"{name} {also}" for name in names} for also in ("95 %", "mark"))
    words, below = _explain_matrix(shown)
    beyond = not cells.filter(pl.col("kind") != "system").is_empty()
    first = _BELOW_LINE if (cells["kind"] == "system").any() else NEVER_BEST
    called = {one.name: one.called for one in every} if shown.labels else {}
    how = Typesetting(
        columns={name: called.get(name, name) for name in ("system", "kind", *means, *names)} if called else {},
        best=dict.fromkeys(names, "highest"),
        ranked={"kind": "system"},
        intervals=dict(small),
        marks=dict(marks),
        # The one is bold, the other in the caption.
        signs={f"{one}{also}": also.strip() for one in ("best", "reference") for also in ("", f" {UNCOMPARED}")},
        note=NEVER_BEST if beyond else "",
        caption=_caption(shown.asked, words, shown.family),
        digits=dict.fromkeys(means, 3),
    )
    return page.Table(
        "systems",
        table,
        {one.name: _leading(shown.lead, one.part, one.name) for one in every},
        f"{first} {words}" if beyond else words,
        explained | {one.name: one.explained for one in every},
        names,
        small,
        explain_leads(shown.asked),
        headings={one.name: one.heading for one in every},
        groups="kind",
        typesetting=how,
        below=" ".join(filter(None, (below, *_tell_order(shown, order, columns, left)))),
        marks=marks,
        scores=[*means, *names],
    )


def _tell_order(shown: ShownScores, order: Order, columns: Mapping[str, str], left: int) -> Iterator[str]:
    """Give what stands below a matrix: what its slices are by, the order of its rows, and which slices it leaves."""
    by = shown.asked["by"]
    if said := columns.get(by, ""):
        yield f"{label_of(by).words}: {said}."
    yield order.words
    yield "The number of mentions is in the header."
    if left:
        yield f"{left} smaller slices are among the scores below alone."


def _caption(asked: Mapping[str, str], words: str, family: Family) -> str:
    """Return what a paper says of the matrix: whose conventions, of which task and matching, and of the tests."""
    of = name_conditions(asked)
    tested = f" p is corrected by Holm for the family of {family.words}." if family.tests else ""
    return f"Systems, {of}. {words}{tested}".replace("`", "")


def _explain_matrix(shown: ShownScores) -> tuple[str, str]:
    """Return what stands in a cell, and which tests the stars are of."""
    asked, cells, score, family, whole = shown.asked, shown.cells, shown.score, shown.family, shown.whole
    some = cells["interval"].count()
    waiting = "without intervals as yet"
    spread = "with its 95 % interval over documents" if some else _NO_INTERVAL if whole else waiting
    marked = f" {_MARKED}" if cells["mark"].str.ends_with(UNCOMPARED).any() else ""
    marked += f" {_IN_DOUBT}" if cells["interval"].fill_null("").str.ends_with(_DOUBTED).any() else ""
    if not family.tests and not whole:
        return f"{score} {spread}.{marked}", ""
    if not family.tests:
        return f"{score} {spread}.{marked}", tell_untested(asked, cells["system"])
    held = asked["against"] or BEST
    words = f"p is corrected by Holm for the family of {family.words}"
    words += "." if whole else "; until the last is computed, by Bonferroni for no fewer than there will be."
    words += f" {_FAMILY}"
    said = f"{score} {spread}; * differs from {held} with p < {ALPHA}."
    if whole and not cells["mark"].str.starts_with("*").any():
        said = (
            f"{score} {spread}. No difference from {held} is more than chance may make: p is {ALPHA} or more in each."
        )
    return f"{said}{marked}", words


def _leading(lead: Leading, part: str, name: str) -> Leading:
    return lambda row: "" if row[name] is None else lead({"system": row["system"], "part": part})
