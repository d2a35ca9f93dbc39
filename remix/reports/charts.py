"""Figures of tables: a function for each kind of chart that a study shows, whatever its rows are of.

Each takes a frame with the columns that it names; those in brackets may be absent, others are let be. Rows come in the
order in which they are shown, unless a function sorts them. A value that is null or no number has no mark, and its name
stays, so that it is seen to be missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.names import UNSPECIFIED, WITHOUT_VALUE
from remix.reports.figures import Axis, Figure, Panel, Series

APART = rf"^(?:\d+: )?(?:{UNSPECIFIED}|{WITHOUT_VALUE})$"
"""What the part without a value is called in scores and partitions; it stands apart."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Whiskers, box and middle of the boxes of a distribution."""
_POINTS = 200
"""Points of a line of many values."""


def figure_of_parts(
    cells: pl.DataFrame,
    *,
    title: str = "",
    label: str = "",
    column: str = "",
    limits: tuple[float, float] | None = (0.0, 1.0),
    bands: bool = False,
) -> Figure:
    """Return lines over the parts of a column, before the share of mentions that each part has.

    These are Figures 18 to 24 of the remixing paper. `cells` has `part`, `series` (a score, or a system), `value`, and
    [`panel` (a system, or a score), `low`, `high`, `share` of mentions in the part, `mentions`]: a row for each part,
    series and panel. What has no value in the `column` is a part apart from the others. `label` is what values are;
    intervals are whiskers, or `bands`.

    >>> cells = pl.DataFrame({"panel": "a", "series": ["P", "P", "R", "R"], "part": ["unspecified", "1: to 3"] * 2,
    ...     "value": [0.5, 0.75, 0.25, 0.5], "share": [0.1, 0.9] * 2})
    >>> figure = figure_of_parts(cells, label="score", column="pagerank")
    >>> [(panel.title, [one.name for one in panel.series], panel.apart) for panel in figure.panels]
    [('a', ['P', 'R'], ['unspecified'])]
    """
    _check(cells, "part", "series", "value")
    cells = cells.with_columns(shorten_parts("part"))
    parts = cells["part"].unique(maintain_order=True)
    apart = parts.filter(parts.str.contains(APART)).to_list()
    panels = []
    for name, own in _panels(cells):
        sizes = own.unique("part", keep="first", maintain_order=True) if "share" in own.columns else None
        if sizes is not None:
            shares = Series(
                "share of mentions", sizes["part"].to_list(), _numbers_of(sizes, "share"), words=_words_of(sizes)
            )
        series = [_series(one, part, "part") for one, part in _groups(own)]
        panels.append(
            Panel(
                name,
                "lines",
                series,
                Axis(column),
                Axis(label, limits=limits),
                behind=None if sizes is None else shares,
                apart=apart,
                bands=bands,
            )
        )
    return _figure(panels, title or f"{label or 'Scores'} by {column or 'part'}")


def figure_of_sizes(cells: pl.DataFrame, *, title: str = "", column: str = "", of: str = "annotations") -> Figure:
    """Return how large the parts of a column are: a bar for the share of each, which says the number.

    `cells` has `part`, `share` (0 to 1), and [`annotations`, which are mentions, or what else parts are `of`], as
    `Workspace.partition` returns them. What has no value in the `column` stands apart.

    >>> table = pl.DataFrame({"part": ["to-3", "unspecified"], "share": [0.75, 0.25], "annotations": [3, 1]})
    >>> [point.words for point in figure_of_sizes(table, column="rank").panels[0].drawn[0]]
    ['to-3: 0.75; 3 mentions', 'unspecified: 0.25; 1 mentions']
    """
    _check(cells, "part", "share")
    parts = cells["part"].cast(pl.String)
    what = "mentions" if of == "annotations" else of
    said = [f"{number} {what}" for number in cells[of]] if of in cells.columns else ()
    bars = Series("", parts.to_list(), _numbers_of(cells, "share"), words=said)
    apart = parts.filter(parts.str.contains(APART)).to_list()
    panel = Panel("", "bars", [bars], Axis(column), Axis(f"share of {what}", limits=(0.0, 1.0)), apart=apart)
    return _figure([panel], title or f"Parts by {column or 'part'}")


def figure_of_datasets(
    cells: pl.DataFrame,
    *,
    title: str = "",
    label: str = "",
    scale: str = "linear",
    limits: tuple[float, float] | None = None,
    bars: bool = False,
    ordered: bool = False,
) -> Figure:
    """Return datasets (or remixes, or systems) compared in a measure: a line of dots for each, the highest on top.

    These are Figures 12 to 15 and 25 to 27 of the remixing paper. `cells` has `dataset`, `value`, and [`series`, where
    there are several values of each, `panel`, `low`, `high`, `words`]. Datasets are sorted by their first value, in all
    panels alike, or stay as they are where they are `ordered`; those without a value come last. `bars` from 0 in place
    of dots are for counts and shares.

    >>> cells = pl.DataFrame({"dataset": ["a", "b", "c"], "value": [1.0, None, 3.0]})
    >>> [one.x for one in figure_of_datasets(cells, label="readings of a name").panels[0].series]
    [['c', 'a', 'b']]
    """
    _check(cells, "dataset", "value")
    if not ordered:
        first = cells.unique("dataset", keep="first", maintain_order=True)
        order = first.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None)).sort(
            "value", descending=True, nulls_last=True, maintain_order=True
        )
        cells = order.select("dataset").join(cells, on="dataset", how="left", maintain_order="left")
    panels = [
        Panel(
            name,
            "bars" if bars else "dots",
            [_series(one, part, "dataset") for one, part in _groups(own)],
            y=Axis(label, scale, limits),
            lying=True,
        )
        for name, own in _panels(cells)
    ]
    return _figure(panels, title or f"{label or 'Values'} of {', '.join(cells['dataset'].unique(maintain_order=True))}")


def figure_of_distributions(
    values: Mapping[str, pl.Series],
    *,
    title: str = "",
    label: str = "",
    of: str = "annotations",
    scale: str = "linear",
    boundaries: Sequence[float] = (),
    shown: str = "boxes",
) -> Figure:
    """Return how values are spread, each under the name of its dataset: as `boxes`, as `shares`, or as `ranks`.

    A box has the middle half of values, its line their median, its whiskers reach from the 5th to the 95th percentile.
    `shares` are the shares of values that are no larger than x. `ranks` are the values from the lowest to the highest
    over how many there are, as Figures 16 and 17 of the remixing paper, with the `boundaries` of parts across; there
    and in `shares` each dataset is a line. `of` is what has values.

    >>> one = figure_of_distributions({"news": pl.Series([1, 2, 3, 4, 100])}, label="words", of="documents").panels[0]
    >>> [(box.lower, box.y, box.upper, box.high) for box in one.drawn[0]]
    [(2.0, 3.0, 4.0, 100.0)]
    """
    if shown not in ("boxes", "shares", "ranks"):
        raise UnknownName("view of a distribution", shown, ("boxes", "shares", "ranks"))
    known = {name: one.cast(pl.Float64).drop_nulls().drop_nans().sort() for name, one in values.items()}
    known = {name: one.filter(one.is_finite()) for name, one in known.items()}
    placed = {name: one.filter(one > 0) if scale == "log" else one for name, one in known.items()}
    left_out = {name: len(known[name]) - len(one) for name, one in placed.items()}
    of_values, title = Axis(label, scale), title or f"{label} of {of}"
    if shown == "boxes":
        cuts = [[one.quantile(share, "nearest") for share in QUANTILES] for one in known.values()]
        low, lower, middle, upper, high = zip(*cuts, strict=True) if cuts else [()] * 5
        said = [f"{len(one)} {of}" for one in known.values()]
        series = Series("", [*known], middle, low, high, words=said, lower=lower, upper=upper)
        return _figure([Panel("", "boxes", [series], y=of_values, lying=True)], title)
    if shown == "shares":
        across, up = of_values, Axis(f"share of {of}", limits=(0.0, 1.0))
        lines = [_line(name, one, left_out[name], len(known[name])) for name, one in placed.items()]
        return _figure([Panel("", "steps", lines, across, up, boundaries)], title)
    lines = [_line(name, one, left_out[name]) for name, one in placed.items()]
    # A value stands over its own annotations: from those before it, which the axis may have no place for, to its last.
    ranks = []
    for one in lines:
        ends = [one.left_out + (upto or 0.0) for upto in one.y]
        own = [float(value) for value in one.x]
        ranks.append(Series(one.name, [one.left_out, *ends] if ends else [], [*own, *own[-1:]], left_out=one.left_out))
    return _figure([Panel("", "steps", ranks, Axis(of), of_values, levels=boundaries)], title)


def figure_of_pairs(
    cells: pl.DataFrame,
    *,
    title: str = "",
    x: Axis | None = None,
    y: Axis | None = None,
    diagonal: bool = False,
    naming: bool = False,
) -> Figure:
    """Return two scores of the same things against each other: a point for each.

    `cells` has `x`, `y`, and [`name`, which a point says and has beside it where there is room and `naming` is wanted,
    `series`, `panel`]. On the `diagonal` both are equal.

    >>> cells = pl.DataFrame({"x": [0.5, 0.25], "y": [0.5, None], "name": ["a", "b"]})
    >>> [point.words for point in figure_of_pairs(cells, x=Axis("P"), y=Axis("R")).panels[0].drawn[0]]
    ['0.5: 0.5; a']
    """
    _check(cells, "x", "y")
    x, y = x or Axis("x"), y or Axis("y")
    panels = []
    for name, own in _panels(cells):
        series = []
        for one, part in _groups(own):
            pairs = part.filter(pl.all_horizontal(pl.col("x", "y").cast(pl.Float64).is_finite()))
            words = pairs["name"].cast(pl.String).to_list() if "name" in pairs.columns else ()
            series.append(Series(one, _numbers_of(pairs, "x"), _numbers_of(pairs, "y"), words=words))
        panels.append(Panel(name, "scatter", series, x, y, diagonal=diagonal, naming=naming))
    return _figure(panels, title or f"{y.label} over {x.label}")


def figure_of_ranks(
    cells: pl.DataFrame, *, title: str = "", label: str = "rank", column: str = "", ranked: bool = True
) -> Figure:
    """Return how the order of systems changes between parts: a line of ranks for each, which has its name at its end.

    `cells` has `series` (a system), `part`, `value` (the higher the better), and [`panel`, `low`, `high`]. Where it is
    not to be `ranked`, the line has the values themselves, which with two parts is a slope chart. Equal values share
    the best of their ranks; a system without a value in a part has no rank there.

    >>> cells = pl.DataFrame({"series": ["a", "b"] * 2, "part": ["rare", "rare", "known", "known"],
    ...     "value": [0.5, 0.25, 0.5, 0.75]})
    >>> [(one.name, one.y) for one in figure_of_ranks(cells).panels[0].series]
    [('a', [1, 2]), ('b', [2, 1])]
    """
    _check(cells, "series", "part", "value")
    cells = cells.with_columns(shorten_parts("part"))
    panels = []
    for name, own in _panels(cells):
        value = pl.col("value").cast(pl.Float64).fill_nan(None)
        shown = own.with_columns(value=value)
        if ranked:
            rank = value.rank("min", descending=True).over("part").cast(pl.Int64)
            words = value.round(4).cast(pl.String)
            shown = own.drop("low", "high", strict=False).with_columns(value=rank, words=words)
        series = [_series(one, part, "part") for one, part in _groups(shown)]
        most = max(2, len(series))
        up = Axis(label, limits=(0.5, most + 0.5), falling=True) if ranked else Axis(label)
        panels.append(Panel(name, "lines", series, Axis(column), up, naming=True))
    return _figure(panels, title or f"{label} by {column or 'part'}")


def shorten_parts(column: str) -> pl.Expr:
    """Return names of parts without the lower boundary of ranges that have a number: it is where the part before ends.

    >>> pl.DataFrame({"part": ["1: ≤ 3", "2: > 3, ≤ 16", "3: > 16"]}).select(shorten_parts("part"))["part"].to_list()
    ['1: ≤ 3', '2: ≤ 16', '3: > 16']
    """
    return pl.col(column).cast(pl.String).str.replace(r"^(\d+: )> [^,]+, (≤ .*)$", "${1}${2}")


def _check(cells: pl.DataFrame, *columns: str) -> None:
    """Raise `UsageError` for a table without a column."""
    if missing := [name for name in columns if name not in cells.columns]:
        raise UsageError(f"a figure needs the column{'s' * (len(missing) > 1)} {', '.join(missing)} of its table")


def _panels(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the rows of each panel by its name."""
    if "panel" not in cells.columns:
        return [("", cells)]
    return [(str(name), own) for (name,), own in cells.group_by("panel", maintain_order=True)]


def _groups(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the rows of each series by its name."""
    if "series" not in cells.columns:
        return [("", cells)]
    return [(str(name), own) for (name,), own in cells.group_by("series", maintain_order=True)]


def _series(name: str, rows: pl.DataFrame, over: str) -> Series:
    low, high = (_numbers_of(rows, one) if one in rows.columns else () for one in ("low", "high"))
    return Series(
        name, rows[over].cast(pl.String).to_list(), _numbers_of(rows, "value"), low, high, words=_words_of(rows)
    )


def _numbers_of(rows: pl.DataFrame, column: str) -> list[Any]:
    """Return the numbers of a column, None for what is none."""
    own = rows[column]
    return (own.fill_nan(None) if own.dtype.is_float() else own).to_list()


def _words_of(rows: pl.DataFrame) -> Sequence[str]:
    """Return what is said of points: their words, and of how many mentions they are."""
    if "words" in rows.columns:
        return rows["words"].cast(pl.String).fill_null("").to_list()
    if "mentions" in rows.columns:
        return [f"{number} mentions" if number is not None else "" for number in rows["mentions"]]
    return ()


def _line(name: str, values: pl.Series, left_out: int, of: int = 0) -> Series:
    """Return how many values, or which share `of` so many, are no larger than each."""
    counts = values.rename("value").value_counts(name="count").sort("value")
    counted = counts.select("value", upto=pl.col("count").cum_sum() / of if of else pl.col("count").cum_sum())
    placed = counted.gather_every(max(1, counted.height // _POINTS)).vstack(counted.tail(1)).unique(maintain_order=True)
    return Series(name, placed["value"].to_list(), placed["upto"].to_list(), left_out=left_out)


def _figure(panels: Sequence[Panel], title: str) -> Figure:
    names = list(dict.fromkeys(one.name for panel in panels for one in panel.series if one.name))
    shown = list(dict.fromkeys(name for panel in panels for name in panel.categories))
    told = [f"{', '.join(names)}" if names else "", f"over {', '.join(shown)}" if shown else ""]
    return Figure(
        title, panels, f"{title}: {' '.join(filter(None, told))}." if any(told) else title, min(3, len(panels))
    )
