"""Figures as data: what is drawn, whichever drawer draws it; `svg` draws for pages, `plots` for print.

A figure has panels, a panel has series over two axes. What both drawers have to agree on is decided here: which points
can be drawn, how far the axes reach, where their ticks are, and what is said of the values that find no place.

Who has a table needs none of these records: `remix.reports.charts` makes figures of tables, one function for each kind
of chart (scores over parts, datasets compared, distributions, pairs of scores, ranks). A figure is drawn by

>>> from pathlib import Path
>>> from remix.reports.charts import figure_of_datasets
>>> from remix.reports.plots import save
>>> from remix.reports.svg import draw
>>> figure = figure_of_datasets(pl.DataFrame({"dataset": ["a", "b"], "value": [0.5, 0.25]}), label="density")
>>> text = draw(figure)  # for a page, where it is a block `remix.web.page.Drawing`
>>> save(figure, Path("density.pdf"), width="column")  # doctest: +SKIP
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from remix.errors import UnknownName, UsageError

COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666"),
    *("#882255", "#999933", "#332288", "#000000"),
)
"""The palette of Okabe and Ito, and four of Tol's, which people who see colours differently can tell apart."""
KINDS = ("bars", "lines", "steps", "histogram", "spider", "scatter", "dots", "boxes")
NAMED = ("bars", "spider", "dots", "boxes")
"""Kinds of panels whose x are categories always."""
MOST = 12
"""Series of a panel that can be told apart; of more each has a panel of its own."""
SCALES = ("linear", "log")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Axis:
    """What an axis is called and how it is divided: `linear`, or `log`, on which values above 0 alone have a place.

    `limits` are what it shows at least; values beyond them make it longer, so that nothing is cut off. A `falling` axis
    has its lowest value on top, as ranks have. On a `whole` axis nothing is between whole numbers, as of counts.
    """

    label: str = ""
    scale: str = "linear"
    limits: tuple[float, float] | None = None
    falling: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse another scale, and limits that a scale cannot have."""
        if self.scale not in SCALES:
            raise UnknownName("scale of an axis", self.scale, SCALES)
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise UsageError(f"an axis reaches from a lower limit to a higher one, not {self.limits}")
        if self.limits is not None and self.scale == "log" and self.limits[0] <= 0:
            raise UsageError(f"a logarithmic axis has limits above 0, not {self.limits}")

    def places(self, value: float | None) -> bool:
        """Return whether a value has a place on the axis: a number of a size that can be reckoned with."""
        return value is not None and abs(value) < 1e100 and (self.scale == "linear" or value > 1e-100)

    def stretch(self, values: Sequence[float], room: float = 0.0) -> tuple[float, float]:
        """Return the ends of the axis: its limits and all values, with some room where there are no limits.

        >>> Axis(scale="log").stretch([3, 700]), Axis(limits=(0, 1)).stretch([0.5]), Axis().stretch([])
        ((3, 700), (0, 1), (0.0, 1.0))
        """
        log = self.scale == "log"
        known = [*values, *(self.limits or ())]
        low, high = (min(known), max(known)) if known else (1.0, 10.0) if log else (0.0, 1.0)
        if low == high:
            apart = max(0.5, abs(low) / 2)
            low, high = (low / 2, high * 2) if log else (low - apart, high + apart)
        if room and self.limits is None:
            part = (high / low) ** room if log else (high - low) * room
            low, high = (low / part, high * part) if log else (low - part, high + part)
        if log:  # what is halved or doubled at the end of what numbers can be is 0 or infinite
            low, high = max(low, math.ulp(0.0)), min(high, sys.float_info.max)
        return low, high

    def ticks(self, low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
        """Return at most so many round values between two ends, each with its text.

        >>> [text for _, text in Axis().ticks(0, 1)], [text for _, text in Axis(scale="log").ticks(1, 20000)]
        (['0', '0.2', '0.4', '0.6', '0.8', '1'], ['1', '10', '100', '1,000', '10,000'])
        >>> [text for _, text in Axis(whole=True).ticks(0, 3)]
        ['0', '1', '2', '3']
        >>> [value for value, _ in Axis().ticks(0, 5e-324)]
        [0, 5e-324]
        """
        if self.scale == "log":
            powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
            if len(powers) >= 2:
                return [(10.0**power, _text(10.0**power)) for power in powers[:: -(-len(powers) // most)]]
        raw = (high - low) / max(most - 1, 1)
        if raw < sys.float_info.min:  # a part of it is no number any more
            return [(low, _text(low)), (high, _text(high))]
        power = 10.0 ** math.floor(math.log10(raw))
        whole = self.whole or self.falling  # there is no rank between two
        steps = (1, 2, 5) if whole else (1, 2, 2.5, 5)
        step = next((one * power for one in steps if one * power >= raw * (1 - 1e-9)), 10 * power)
        step = max(step, 1.0) if whole else step
        found = [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        return [(value, _text(value)) for value in found]


@dataclass(frozen=True)
class Series:
    """Values `y` over `x`, of one name: categories of bars and spiders, else numbers; of a histogram the edges of bins.

    For each point there can be an interval (`low`, `high`), an address that it leads to (`links`) and words that are
    said of it; `marked` points are drawn larger, `pale` ones lighter. `left_out` values were not counted into bins.
    A box reaches from `lower` to `upper` about `y`, and its whiskers from `low` to `high`.
    """

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    links: Sequence[str] = ()
    words: Sequence[str] = ()
    marked: Sequence[bool] = ()
    pale: Sequence[bool] = ()
    left_out: int = 0
    lower: Sequence[float | None] = ()
    upper: Sequence[float | None] = ()

    def __post_init__(self) -> None:
        """Refuse columns that are not as long as `y`."""
        columns = (self.low, self.high, self.links, self.words, self.marked, self.pale, self.lower, self.upper)
        if len(self.x) - len(self.y) not in (0, 1) or any(len(one) not in (0, len(self.y)) for one in columns):
            raise UsageError(f"the columns of the series '{self.name}' are not of one length")

    def over(self, categories: Sequence[str]) -> Series:
        """Return the series over these categories, in their order; of those that it does not have it has no value.

        >>> Series("", ["a", "b"], [1, 2], words=["one", "two"]).over(["c", "b"])
        Series(name='', x=['c', 'b'], y=[None, 2], ..., words=['', 'two'], ...)
        """
        places = {str(x): nth for nth, x in enumerate(self.x)}
        empty = {"links": "", "words": "", "marked": False, "pale": False}
        columns: dict[str, Any] = {
            name: [empty.get(name) if (nth := places.get(one)) is None else column[nth] for one in categories]
            for name in ("y", "low", "high", "lower", "upper", *empty)
            if (column := getattr(self, name))
        }
        return replace(self, x=[*categories], **{"y": [None] * len(categories), **columns})


@dataclass(frozen=True)
class Point:
    """A point that has a place: `x` to `end` (the same but in histograms), `y` with its interval, and what is said."""

    x: float
    end: float
    y: float
    low: float | None
    high: float | None
    link: str
    words: str
    marked: bool
    pale: bool
    lower: float | None = None
    upper: float | None = None
    name: str = ""


@dataclass(frozen=True)
class Panel:
    """Series over two axes: `x` is what values are of, `y` the values, whichever way bars lie (`lying`).

    Where the x of series are texts they are categories, in the order in which they first come; those that are `apart`
    stand at a distance, and no line leads to them. `boundaries` are where lines stand across
    x, and `levels` across y, `diagonal` is where both axes are equal. `behind` are shares of a whole (0 to 1) that
    stand as pale bars behind lines over categories. Intervals of lines are `bands`, else whiskers. Where `naming`, each
    line has its name at its end, and each point of a scatter plot its words beside it. Lines of the `context` are pale
    and have no name.
    """

    title: str
    kind: str
    series: Sequence[Series]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    boundaries: Sequence[float] = ()
    diagonal: bool = False
    lying: bool = False
    behind: Series | None = None
    apart: Sequence[str] = ()
    bands: bool = False
    naming: bool = False
    levels: Sequence[float] = ()
    context: Sequence[Series] = ()

    def __post_init__(self) -> None:
        """Refuse another kind, and a kind whose series are not what it draws."""
        if self.kind not in KINDS:
            raise UnknownName("kind of panel", self.kind, KINDS)
        if any((len(one.x) != len(one.y)) != (self.kind == "histogram") for one in self.series):
            raise UsageError("a histogram has an edge more than bins, and every other kind as many x as y")
        if self.x.scale == "log" and (self.categories or self.kind in NAMED):
            raise UsageError("categories stand on no logarithmic axis")
        if self.behind is not None and not (self.kind == "lines" and self.categories):
            raise UsageError("shares stand behind lines over categories alone")

    @cached_property
    def categories(self) -> list[str]:
        """Return the names along x, none where x are numbers."""
        every = [name for one in (self.behind, *self.series) if one is not None for name in one.x]
        if self.kind not in NAMED and not any(isinstance(name, str) for name in every):
            return []
        return list(dict.fromkeys(map(str, every)))

    @cached_property
    def places(self) -> dict[str, float]:
        """Return where each category stands: at its number, and behind half a step more where what is apart begins.

        >>> Panel("", "lines", [Series("", ["none", "a", "b"], [1, 2, 3])], apart=["none"]).places
        {'none': 0.0, 'a': 1.5, 'b': 2.5}
        """
        found, at, before = {}, -1.0, None
        for name in self.categories:
            alone = name in self.apart
            at += 1.0 if before is None or not (alone or before) else 1.5
            found[name], before = at, alone
        return found

    @cached_property
    def drawn(self) -> list[list[Point]]:
        """Return the points of each series that have a place on both axes; those of a category stand at its place."""
        return [self.points_of(one) for one in self.series]

    @cached_property
    def shares(self) -> list[Point]:
        """Return the points of the shares that stand behind lines."""
        return [] if self.behind is None else [one for one in self.points_of(self.behind) if 0 <= one.y <= 1]

    def runs(self, points: Sequence[Point]) -> list[list[Point]]:
        """Return the points of a series that a line joins: over categories it ends at one without a value, or apart."""
        if not self.categories or self.kind == "spider":
            return [[*points]]
        found: list[list[Point]] = []
        for point in points:
            joined = bool(found) and point.x - found[-1][-1].x == 1.0
            if joined:
                found[-1].append(point)
            else:
                found.append([point])
        return found

    def points_of(self, one: Series) -> list[Point]:
        """Return the points of a series that have a place on both axes."""
        xs = [self.places[str(value)] if self.places else float(value) for value in one.x]
        rows = enumerate(zip(xs, xs[1:] if len(xs) > len(one.y) else xs, one.y, strict=False))
        return [self._point(one, nth, *row) for nth, row in rows if self._has_place(*row)]

    def _has_place(self, x: float, end: float, y: float | None) -> bool:
        bin_without = self.kind == "histogram" and not y
        return not bin_without and self.y.places(y) and all(self.categories or self.x.places(at) for at in (x, end))

    def _point(self, one: Series, nth: int, x: float, end: float, y: float | None) -> Point:
        low, high = (value if self.y.places(value) else None for value in (_at(one.low, nth), _at(one.high, nth)))
        named = str(one.x[nth]).replace("\n", ", ") if self.categories else _text(x)
        named = f"{named} to {_text(end)}" if end != x else named
        said = f"{named}: {_text(y or 0.0)}"
        if low is not None and high is not None:
            said += f" ({_text(low)} to {_text(high)})"
        words = "; ".join(filter(None, [one.name, said, _at(one.words, nth)]))
        lower, upper = (value if self.y.places(value) else None for value in (_at(one.lower, nth), _at(one.upper, nth)))
        return Point(
            x,
            end,
            y or 0.0,
            low,
            high,
            link=_at(one.links, nth) or "",
            words=words,
            marked=bool(_at(one.marked, nth)),
            pale=bool(_at(one.pale, nth)),
            lower=lower,
            upper=upper,
            name=_at(one.words, nth) or "",
        )

    @cached_property
    def notes(self) -> list[str]:
        """Return what is said of values that have no place, and of a panel without any."""
        lines = []
        for axis, values in ((self.x, self._numbers()), (self.y, [y for one in self.series for y in one.y])):
            below = sum(value is not None and value <= 0 for value in values) if axis.scale == "log" else 0
            below += sum(one.left_out for one in self.series) if axis is self.x else 0
            if below and not (self.kind == "histogram" and axis is self.y):
                lines.append(f"{below} value{'s' * (below > 1)} of 0 or less: not on a logarithmic axis")
        return lines if any(self.drawn) else ["Nothing to draw: no point has a value.", *lines]

    def _numbers(self) -> list[float]:
        return [] if self.categories or self.kind == "histogram" else [float(x) for one in self.series for x in one.x]

    @cached_property
    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of both axes, between which all points, intervals and boundaries are."""
        points = [point for one in self.drawn for point in one]
        room = 0.03 if self.kind in ("scatter", "lines", "steps", "dots", "boxes") else 0.0
        marks = [at for at in self.boundaries if self.x.places(at)]
        across = self.x.stretch([*marks, *(at for point in points for at in (point.x, point.end))], room)
        if self.categories:
            across = (-0.5, max(self.places.values()) + 0.5)
        bounds = (bound for point in points for bound in (point.y, point.low, point.high, point.lower, point.upper))
        ys = [bound for bound in bounds if bound is not None]
        ys += [at for at in self.levels if self.y.places(at)]
        if self.kind in ("bars", "histogram", "spider"):
            ys += [0.0] if self.y.scale == "linear" else [min(ys, default=1.0) / 2]
        return across, self.y.stretch(ys, room)


@dataclass(frozen=True)
class Figure:
    """Panels beside and below each other; `description` says in words what is to be seen, for those who do not see it.

    All panels have the colours of the first that has most series: a series is told by its place and name.
    """

    title: str
    panels: Sequence[Panel]
    description: str = ""
    columns: int = 1

    @property
    def names(self) -> list[str]:
        """Return the names of series in the order of their colours, none where there is nothing to be told apart."""
        names = list(dict.fromkeys(one.name for panel in self.panels for one in panel.series))
        return names if len(names) > 1 else []

    def without_links(self) -> Figure:
        """Return the figure with points that lead nowhere, as those of a file do."""
        parts = [replace(one, series=[replace(series, links=()) for series in one.series]) for one in self.panels]
        return replace(self, panels=parts)

    def colour(self, series: Series) -> int:
        """Return the number of the colour, marker and dashes of a series."""
        return self.names.index(series.name) if self.names else 0

    def repeats_categories(self, number: int) -> bool:
        """Return whether a panel has the categories of the one to its left, which need not be said again."""
        return number % self.columns > 0 and self.panels[number].categories == self.panels[number - 1].categories


def are_whole(values: pl.Series) -> bool:
    """Return whether values are whole numbers, between which an axis has nothing.

    >>> are_whole(pl.Series([1.0, 3.0, None])), are_whole(pl.Series([0.5]))
    (True, False)
    """
    return bool((values == values.round()).all())


def count_values(name: str, values: pl.Series, *, scale: str = "linear", bins: int = 30) -> Series:
    """Return how many values are in each of so many bins of one width on a scale, to be drawn as a histogram.

    >>> found = count_values("words", pl.Series([0, 1, 2, 100]), scale="log", bins=2)
    >>> [round(edge) for edge in found.x], found.y, found.left_out
    ([1, 10, 100], [2, 1], 1)
    """
    placed, edges = bins_of(values, scale=scale, bins=bins)
    known = len(values.cast(pl.Float64).drop_nulls().filter(values.cast(pl.Float64).drop_nulls().is_finite()))
    if not edges:
        return Series(name, [0.0], [], left_out=known)
    counts = dict(placed.drop_nulls().value_counts().iter_rows())
    counted = [counts.get(nth, 0) for nth in range(bins)]
    return Series(name, edges, counted, left_out=known - placed.count())


def bins_of(values: pl.Series, *, scale: str, bins: int) -> tuple[pl.Series, list[float]]:
    """Return the number of the bin of each value, null where it has no place on the scale, and the edges of the bins.

    >>> places, edges = bins_of(pl.Series([0, 1, 2, 100]), scale="log", bins=2)
    >>> places.to_list(), [round(edge) for edge in edges]
    ([None, 0, 0, 1], [1, 10, 100])
    """
    numbers = values.cast(pl.Float64).fill_nan(None).to_frame("value")
    value = pl.when(pl.col("value").is_finite()).then("value")
    own = numbers.select(pl.when(value > 0).then(value.log10()) if scale == "log" else value).to_series()
    if not own.count():
        return pl.Series([None] * len(own), dtype=pl.Int64), []
    low, high = Axis().stretch([float(str(own.min())), float(str(own.max()))])
    width = (high - low) / bins
    edges = [low + nth * width for nth in range(bins + 1)]
    places = ((own - low) / width).floor().clip(0, bins - 1).cast(pl.Int64)
    return places, [10**edge for edge in edges] if scale == "log" else edges


def _at(column: Sequence[_T], nth: int) -> _T | None:
    return column[nth] if column else None


def _text(value: float) -> str:
    """Return a number as people write it.

    >>> _text(12000.0), _text(0.30000000000000004), _text(1e-7)
    ('12,000', '0.3', '1e-07')
    """
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:,.4g}"
