"""Where everything of a figure stands: panels beside and below each other, axes, titles and legends, on sheets.

What is decided here holds for pages, reports and print alike. A panel of too many series becomes small multiples; bars
whose names have no room beside each other lie; what is too high goes on on another sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from remix.reports.figures import COLOURS, MOST, Figure, Panel
from remix.reports.lettering import breadth, cut, wrap
from remix.reports.marks import DASHES, HATCHES, SIGNS, Box, Label, Mark, Place, Sheet, Sign, Trace
from remix.reports.shapes import BEHIND, SMALL, Plot, draw_series, room_for_ends

SIZE, LINE = 12.0, 16.0
"""Letters of labels, and what a line of them takes."""
HIGHEST = 1600.0
"""A sheet is no higher than that."""
_WIDTHS = {1: 480.0, 2: 360.0}
_WIDTH = 280.0
"""Width of a panel where so many, or more, stand beside each other; its plot is about half as high."""
_LEAST, _LEAST_LYING = 220.0, 110.0
"""Width of a panel at least; of lying ones, whose categories are said once in a row, beside their names."""
_NAMES = 0.42
"""The part of a panel that names of categories take at most."""


def lay_out(figure: Figure, *, width: float | None = None, height: float = HIGHEST) -> list[Sheet]:
    """Return the sheets of a figure: one, or as many as it needs that are no higher than `height`.

    Without a `width` it is as wide as its panels. Sizes are in units of which letters have 12.

    >>> from remix.reports.figures import Series
    >>> figure = Figure("Sizes", [Panel("", "bars", [Series("", ["a", "b"], [1, 2])])])
    >>> [(sheet.width, sheet.height) for sheet in lay_out(figure)]
    [(480.0, 290.0)]
    """
    figure = replace(figure, panels=[part for panel in figure.panels for part in _split(figure, panel)])
    if len(figure.panels) > 3 and figure.columns == 1 and all(len(one.series) <= 1 for one in figure.panels):
        figure = replace(figure, columns=3 if width is None else 4)
    columns, sheet_width = _columns(figure, width)
    figure = replace(figure, columns=columns, panels=[_lie(one, sheet_width / columns) for one in figure.panels])
    if any(panel.lying for panel in figure.panels):
        columns, sheet_width = _columns(figure, width)
        figure = replace(figure, columns=columns)
    figure = _chunk(figure, height)
    legend, below = _legend(figure, sheet_width)
    rows = [_row(figure, first, sheet_width) for first in range(0, len(figure.panels), columns)]
    sheets: list[Sheet] = []
    marks: list[Mark] = []
    y = 0.0
    for nth, (row, high) in enumerate(rows):
        marks += [mark.move(0.0, y) for mark in row]
        y += high
        if nth + 1 == len(rows) or y + rows[nth + 1][1] + below > height:
            marks += [mark.move(0.0, y) for mark in legend]
            sheets.append(Sheet(sheet_width, y + below, marks, figure.title, figure.description))
            marks, y = [], 0.0
    return sheets or [Sheet(sheet_width, LINE, [], figure.title, figure.description)]


def _split(figure: Figure, panel: Panel) -> list[Panel]:
    """Return a panel, or where it has too many series, one for each with the same axes and pale lines of the others."""
    if len(panel.series) <= MOST:
        return [panel]
    along, up = panel.spans
    x = panel.x if panel.categories else replace(panel.x, limits=along)
    y = replace(panel.y, limits=up)
    parts = []
    for one in panel.series:
        named = replace(one, name="")
        others = [other for other in panel.series if other is not one] if panel.kind in ("lines", "steps") else []
        title = ": ".join(filter(None, [panel.title, one.name]))
        kept = [named.over(panel.categories) if panel.categories else named]
        parts.append(replace(panel, title=title, series=kept, x=x, y=y, context=others, naming=False))
    return parts


def _lie(panel: Panel, width: float) -> Panel:
    """Return a panel whose bars lie where they would be too thin, or their names touch, beside each other."""
    if panel.lying:
        return panel
    crowded = panel.kind == "bars" and _is_crowded(panel, width - 60)
    return replace(panel, lying=True) if crowded or panel.kind in ("dots", "boxes") else panel


def _is_crowded(panel: Panel, room: float) -> bool:
    step = room / max(1, len(panel.categories))
    return step < 6 * len(panel.series) or any(breadth(name, SIZE) + 6 > step for name in panel.categories)


def _columns(figure: Figure, width: float | None) -> tuple[int, float]:
    """Return how many panels stand beside each other, and how wide the sheet is."""
    wanted = max(1, min(figure.columns, len(figure.panels)))
    if width is None:
        return wanted, _WIDTHS.get(figure.columns, _WIDTH) * wanted
    lying = bool(figure.panels) and all(panel.lying for panel in figure.panels)
    names = min(_NAMES * width, max(_names_room(one) for one in figure.panels)) if lying else 0.0
    return max(1, min(wanted, int((width - names) / (_LEAST_LYING if lying else _LEAST)))), width


def _names_room(panel: Panel) -> float:
    return max((breadth(name.replace("\n", ", "), SIZE) for name in panel.categories), default=0.0)


def _on_a_line(name: str, room: float) -> str:
    """Return the name of a category on one line: of one that is too long its first line is cut, and no number after it.

    >>> _on_a_line("a-dataset-of-a-long-name\\n394 mentions", 180)
    'a-datas…name, 394 mentions'
    """
    first, *more = name.split("\n")
    rest = "".join(f", {line}" for line in more)
    left = room - breadth(rest, SIZE)
    return f"{cut(first, left, SIZE)}{rest}" if left > 3 * SIZE else cut(f"{first}{rest}", room, SIZE)


def _step(panel: Panel) -> float:
    """Return how high a category of a lying panel is."""
    spread = any(point.low is not None for points in panel.drawn for point in points)
    series = len(panel.series) if panel.kind == "bars" or spread else 1
    return max(LINE, 6.0 * series + 6)


def _chunk(figure: Figure, height: float) -> Figure:
    """Return a figure whose lying panels have no more categories than a sheet has room for."""
    room = height - 160
    most = min((int(room / _step(one)) for one in figure.panels if one.lying), default=0)
    parts = max((-(-len(one.categories) // most) for one in figure.panels if one.lying), default=1) if most > 0 else 1
    if parts == 1:
        return figure
    panels = []
    for first in range(0, len(figure.panels), figure.columns):
        row = figure.panels[first : first + figure.columns]
        panels += [_part(panel, nth, parts) for nth in range(parts) for panel in row]
    return replace(figure, panels=panels)


def _part(panel: Panel, nth: int, parts: int) -> Panel:
    """Return one of the parts of a panel by its categories, with the axis of the whole."""
    each = -(-len(panel.categories) // parts)
    names = panel.categories[nth * each : (nth + 1) * each]
    series = [one.over(names) for one in panel.series]
    title = f"{panel.title} ({nth + 1} of {parts})".strip()
    y = replace(panel.y, limits=panel.spans[1])
    return replace(panel, title=title, series=series, y=y, apart=[name for name in panel.apart if name in names])


def _row(figure: Figure, first: int, width: float) -> tuple[list[Mark], float]:
    """Return the marks of panels beside each other, and how high they are."""
    numbers = range(first, min(first + figure.columns, len(figure.panels)))
    said = [figure.repeats_categories(nth) and figure.panels[nth].lying for nth in numbers]
    # Where names are said once, the panel that says them is wider; what stands alone in the last row is as wide.
    lying = any(panel.lying and figure.repeats_categories(nth) for nth, panel in enumerate(figure.panels))
    alone = lying and not any(said) and len(said) < figure.columns
    names = min(_NAMES * width, _names_room(figure.panels[first])) if any(said) or alone else 0.0
    each = (width - names * (1 if alone else sum(not again for again in said))) / figure.columns
    marks: list[Mark] = []
    x, highest = 0.0, 0.0
    for nth, again in zip(numbers, said, strict=True):
        wide = each + (0.0 if again else names)
        own, high = _lay_panel(figure, figure.panels[nth], wide, again=again, names=names)
        marks += [mark.move(x, 0.0) for mark in own]
        x, highest = x + wide, max(highest, high)
    return marks, highest


def _lay_panel(figure: Figure, panel: Panel, width: float, *, again: bool, names: float) -> tuple[list[Mark], float]:
    """Return a panel as marks, and its height; its categories are left out where they stand there `again`."""
    marks: list[Mark] = []
    y = 4.0
    for line in wrap(panel.title, width - 12, SIZE, bold=True):
        y += LINE
        marks.append(Label(line, width / 2, y, anchor="middle", bold=True, role="title"))
    y += 12
    if not any(panel.drawn):
        y += 3 * LINE
    elif panel.kind == "spider":
        own, y = _spider(figure, panel, width, y)
        marks += own
    else:
        own, y = _axes(figure, panel, width, y, again=again, names=names)
        marks += own
    for note in panel.notes:
        for line in wrap(note, width - 16, SMALL):
            y += 14
            marks.append(Label(line, 8, y, SMALL, slanted=True, role="notes"))
    return marks, y + 10


def _axes(
    figure: Figure, panel: Panel, width: float, top: float, *, again: bool, names: float
) -> tuple[list[Mark], float]:
    """Return axes with their ticks and what is drawn between them, and where it ends."""
    plot_height = len(panel.categories) * _step(panel) if panel.lying else max(120.0, round(width * 0.5))
    if panel.naming and panel.kind != "scatter":  # names of lines stand below each other
        plot_height = max(plot_height, 14.0 * len(panel.series))
    said = (panel.x.label, panel.y.label) if panel.lying else (panel.y.label, panel.x.label)
    name_beside, name_below = ("" if again else cut(said[0], plot_height + 8, SIZE), said[1])
    if panel.lying:
        room = names or _NAMES * width
        texts = ["" if again else _on_a_line(name, room) for name in panel.categories]
        beside = list(zip(panel.places.values(), texts, strict=True))
    else:
        beside = panel.y.ticks(*panel.spans[1], most=max(2, min(6, int(plot_height / 26))))
    left = max((breadth(text, SIZE) for _, text in beside), default=0.0) + 14 + (LINE if name_beside else 0)
    right = 14 + room_for_ends(panel, width)
    inner = max(20.0, width - left - right)
    turn, below = 0.0, [] if panel.lying else [(at, name) for name, at in panel.places.items()]
    thinned = ""
    if panel.categories and not panel.lying:
        turn, below, left, thinned = _names_below(panel, width, left, right)
        inner = max(20.0, width - left - right)
    plot = Plot(panel, left, top, inner, plot_height)
    below = below or _ticks_below(plot, width)
    marks = _grid(plot, beside, below, turn, width)
    if name_beside:
        marks.append(Label(name_beside, 12, top + plot_height / 2, anchor="middle", turn=-90, role="axes"))
    end = plot.bottom + 6 + max((_depth(text, turn) for _, text in below), default=LINE)
    for line in wrap(name_below, width - 8, SIZE, most=2):
        end += LINE
        marks.append(Label(line, _within(line, left + inner / 2, width), end - 2, anchor="middle", role="axes"))
    if thinned:
        end += 14
        marks.append(Label(cut(thinned, width - 16, SMALL), 8, end, SMALL, slanted=True, role="notes"))
    return [*marks, *draw_series(figure, plot), *_missing(plot), *_lines_across(plot)], end + 2


def _depth(text: str, turn: float) -> float:
    """Return how far the label of a tick reaches below its axis."""
    lines = text.count("\n") + 1
    return breadth(text, SIZE) * math.sin(math.radians(turn)) + 12 if turn else LINE * lines


def _ticks_below(plot: Plot, width: float) -> list[tuple[float, str]]:
    """Return the ticks of numbers along the lower axis, as many as do not touch."""
    panel = plot.panel
    axis, span = (panel.y, panel.spans[1]) if panel.lying else (panel.x, panel.spans[0])
    for most in (6, 5, 4, 3, 2):
        ticks = axis.ticks(*span, most=most)
        places = [plot.at(panel.spans[0][0], at) if panel.lying else plot.at(at, panel.spans[1][0]) for at, _ in ticks]
        ends = [
            (_within(text, x, width) - breadth(text, SIZE) / 2, _within(text, x, width) + breadth(text, SIZE) / 2)
            for (_, text), (x, _) in zip(ticks, places, strict=True)
        ]
        if all(end + 6 <= start for (_, end), (start, _) in zip(ends, ends[1:], strict=False)):
            return ticks
    return ticks[:1]


def _within(text: str, x: float, width: float) -> float:
    """Return where the middle of a text stands that is to stand at a place, and within its panel whole."""
    half = breadth(text, SIZE) / 2 + 2
    return max(half, min(x, width - half))


def _names_below(
    panel: Panel, width: float, left: float, right: float
) -> tuple[float, list[tuple[float, str]], float, str]:
    """Return by how much names of categories are turned, the names, where the plot begins, and what is to be said."""
    span = panel.spans[0][1] - panel.spans[0][0]
    inner = width - left - right
    step = inner / span
    names = [*panel.places.items()]
    if all(breadth(name, SIZE) + 6 <= step for name, _ in names):
        return 0.0, [(at, name) for name, at in names], left, ""
    every = max(1, math.ceil(13 / step))
    tilted = [(at, _on_a_line(name, 0.42 * width)) for name, at in names[::every]]
    further = left
    for _ in range(4):  # a name begins left of its tick; where the plot begins further right, its steps are smaller
        step = (width - further - right) / span
        further = max(further, *(breadth(text, SIZE) * 0.82 - (at + 0.5) * step + 10 for at, text in tilted))
    turn, shown, left = 35.0, tilted, further
    if (width - further - right) / span * every < 22:
        turn, left = 90.0, width - right - inner
        shown = [(at, _on_a_line(name, 120.0)) for name, at in names[::every]]
    thinned = f"{len(shown)} of {len(names)} names are shown" if every > 1 else ""
    return turn, shown, left, thinned


def _grid(
    plot: Plot, beside: Sequence[tuple[float, str]], below: Sequence[tuple[float, str]], turn: float, width: float
) -> list[Mark]:
    """Return the lines of ticks, their labels, and the two axes."""
    panel, low = plot.panel, (plot.panel.spans[0][0], plot.panel.spans[1][0])
    marks: list[Mark] = []
    faint: list[list[Place]] = []
    rows: list[list[Place]] = []
    for at, text in beside:
        y = (plot.at(at, low[1]) if panel.lying else plot.at(low[0], at))[1]
        (rows if panel.lying else faint).append([(plot.left, y), (plot.right, y)])
        marks += [Label(text, plot.left - 6, y + 4, anchor="end", role="axes")] if text else []
    for at, text in below:
        x = (plot.at(low[0], at) if panel.lying else plot.at(at, low[1]))[0]
        faint += [] if panel.categories and not panel.lying else [[(x, plot.top), (x, plot.bottom)]]
        if turn:
            down = 12 if turn < 90 else 8
            across = x if turn < 90 else x + 4
            marks.append(Label(text, across, plot.bottom + down, anchor="end", turn=-turn, role="axes"))
            continue
        for nth, line in enumerate(text.split("\n")):
            marks.append(
                Label(line, _within(line, x, width), plot.bottom + LINE * (nth + 1), anchor="middle", role="axes")
            )
    if panel.kind == "dots":  # the eye follows a row to its name
        marks.insert(0, Trace(rows, opacity=0.12, role="axes"))
    if panel.diagonal:
        low_end, high_end = (pick(span[nth] for span in panel.spans) for nth, pick in ((0, max), (1, min)))
        ends = [plot.at(low_end, low_end), plot.at(high_end, high_end)]
        marks.insert(0, Trace([ends], opacity=0.4, role="axes"))
    marks.insert(0, Trace(faint, opacity=0.15, role="axes"))
    axes = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)]
    return [*marks, Trace([axes], role="axes")]


def _missing(plot: Plot) -> list[Mark]:
    """Return a dash where a category of a lying panel has no value at all: what is missing does not look like 0."""
    panel = plot.panel
    if not panel.lying:
        return []
    known = {round(point.x, 3) for points in panel.drawn for point in points}
    x = plot.left + 4
    return [
        Label("no value", x, plot.at(at, panel.spans[1][0])[1] + 3.5, SMALL, slanted=True, pale=True, role="notes")
        for at in panel.places.values()
        if round(at, 3) not in known
    ]


def _lines_across(plot: Plot) -> list[Mark]:
    panel = plot.panel
    runs = [[plot.at(at, end) for end in panel.spans[1]] for at in panel.boundaries if panel.x.places(at)]
    runs += [[plot.at(end, at) for end in panel.spans[0]] for at in panel.levels if panel.y.places(at)]
    return [Trace([run], width=1.5, dashes=(4, 3), role="boundaries") for run in runs]


def _spider(figure: Figure, panel: Panel, width: float, top: float) -> tuple[list[Mark], float]:
    """Return axes around a point with a polygon for each series, and where it ends."""
    names = [_on_a_line(label, 0.28 * width) for label in panel.categories]
    radius = max(30.0, min(width / 2 - max(breadth(name, SIZE) for name in names) - 14, width * 0.32))
    plot, (low, high) = Plot(panel, width / 2 - radius, top + 22, 2 * radius, 2 * radius), panel.spans[1]
    marks: list[Mark] = []
    rings = [[plot.at(place, value) for place in range(len(names))] for value, _ in panel.y.ticks(low, high, 5)]
    marks.append(Trace([*rings, [plot.at(place, high) for place in range(len(names))]], opacity=0.2, closed=True))
    marks.append(Trace([[plot.at(place, low), plot.at(place, high)] for place in range(len(names))], opacity=0.2))
    for value, text in panel.y.ticks(low, high, 5):
        x, y = plot.at(0, value)
        if low < value < high and y > plot.top + 8:
            marks.append(Label(text, x + 3, y + 3, SMALL, role="axes"))
    for place, name in enumerate(names):
        (x, y), side = plot.at(place, high), math.sin(2 * math.pi * place / len(names))
        anchor = "start" if side > 0.1 else "end" if side < -0.1 else "middle"
        lower = 4 if abs(side) > 0.1 else -6 if y < plot.top + radius else 14
        marks.append(Label(name, x + 6 * round(side), y + lower, anchor=anchor, role="axes"))
    return [*marks, *draw_series(figure, plot)], plot.bottom + 20


def _legend(figure: Figure, width: float) -> tuple[list[Mark], float]:
    """Return the names of series with what stands for them, and the height of it."""
    lines = all(panel.kind not in ("bars", "histogram", "boxes") for panel in figure.panels)
    naming = all(panel.naming and panel.kind != "scatter" for panel in figure.panels)
    entries = [(nth, name) for nth, name in enumerate([] if naming else figure.names)]
    behind = next((one.behind.name for one in figure.panels if one.behind is not None and one.shares), "")
    signs_alone = all(panel.kind in ("dots", "scatter") for panel in figure.panels)
    marks: list[Mark] = []
    x, y = 10.0, 12.0
    for number, name in [*entries, *([(-1, behind)] if behind else [])]:
        label = cut(name, width - 56, SIZE)
        if x > 10 and x + 34 + breadth(label, SIZE) > width:
            x, y = 10.0, y + 20
        colour, role = COLOURS[number % len(COLOURS)], f"series-{number % len(COLOURS)}"
        if number < 0:
            marks.append(Box(x, y - 7, 22, 13, BEHIND, opacity=0.3, outlined=False, role="behind"))
        elif not lines:
            marks.append(Box(x, y - 7, 22, 13, colour, hatch=HATCHES[number % len(HATCHES)], role=role))
        else:
            if not signs_alone:
                marks.append(Trace([[(x, y), (x + 22, y)]], colour, 2.0, DASHES[number % len(DASHES)], role=role))
            marks.append(Sign(number % len(SIGNS), x + 11, y, colour, role=role))
        marks.append(Label(label, x + 28, y + 4, role="legend"))
        x += 44 + breadth(label, SIZE)
    return marks, y + 14 if marks else 0.0
