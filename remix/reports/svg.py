"""Figures as SVG, for pages, reports and cards: text alone, without a style or a script of its own.

Colours are presentation attributes and classes (`series-0`, `axis`, …), which a page's stylesheet may set; ink is
`currentColor`. The same figure gives the same text.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from remix.reports.figures import COLOURS, Axis, Figure, Panel, Point

_SIZE, _SMALL = 12, 10
"""Letters of labels, and of boundaries and notes."""
_WIDTHS = {1: 480, 2: 360}
_WIDTH = 280
"""Width of a panel where so many, or more, stand beside each other; its plot is about two thirds as high."""
_LINE = 16
_LETTER = 0.6 * _SIZE
"""Width of a letter at most, of most scripts."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.5L4.5 3.5h-9z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.5L4.5-3.5h-9z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-4-2L0-4.5L4-2V2L0 4.5L-4 2z",
    "M-4.5 0L-1.5-1.5L0-4.5L1.5-1.5L4.5 0L1.5 1.5L0 4.5L-1.5 1.5z",
)
_MOST = 80
"""Points of a line that have a marker; of more the line alone is drawn."""
_PLACES = 4000
"""Points of a scatter plot that are drawn of a series; they say how many there are."""


def draw(figure: Figure, *, name: str = "figure", links: bool = True, paper: bool = False) -> str:
    """Return a figure as the text of an `<svg>` element.

    `name` begins the ids in it, and is another for each figure of a page. Without `links` points lead nowhere. `paper`
    puts it on white with black ink, for a file that is shown by itself.

    >>> from remix.reports.figures import Panel, Series
    >>> text = draw(Figure("Sizes", [Panel("", "bars", [Series("", ["a", "b"], [1, 2])])]))
    >>> text[:66], text.count("<rect")
    ('<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 ', 2)
    """
    figure = figure if links else figure.without_links()
    name = re.sub(r"[^\w.-]+", "-", name)
    width = _WIDTHS.get(figure.columns, _WIDTH)
    parts, y = [], 0.0
    for first in range(0, len(figure.panels), figure.columns):
        row = [_lay(figure, nth, width, name) for nth in range(first, len(figure.panels))[: figure.columns]]
        for nth, (text, _) in enumerate(row):
            parts.append(_tag("g", text, transform=f"translate({_n(nth * width)} {_n(y)})"))
        y += max(height for _, height in row)
    legend, height = _legend(figure, width * figure.columns)
    parts += [_tag("g", legend, transform=f"translate(0 {_n(y)})")] if legend else []
    linked = any(link for panel in figure.panels for one in panel.series for link in one.links)
    box = (width * figure.columns, y + height)
    described = _tag("title", _plain(figure.title), id=f"{name}-title")
    described += _tag("desc", _plain(figure.description), id=f"{name}-text") if figure.description else ""
    sheet = _tag("rect", width=box[0], height=box[1], fill="#fff") if paper else ""
    return _tag(
        "svg",
        described + _hatch(name) + sheet + "".join(parts),
        class_="figure",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_n(box[0])} {_n(box[1])}",
        width=box[0],
        height=box[1],
        # The children of an image are not told to those who hear a page, and its links must be.
        role="group" if linked else "img",
        aria_labelledby=f"{name}-title" + (f" {name}-text" if figure.description else ""),
        font_family="system-ui, sans-serif",
        font_size=_SIZE,
        fill="currentColor",
        color="#000" if paper else None,
    )


@dataclass(frozen=True)
class _Plot:
    """Where the axes of a panel are, in units of the view box."""

    panel: Panel
    left: float
    top: float
    width: float
    height: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the data is drawn."""
        panel = self.panel
        across, up = _share(x, panel.x, panel.spans[0]), _share(y, panel.y, panel.spans[1])
        if panel.kind == "spider":
            angle, reach = 2 * math.pi * x / len(panel.categories), up * self.height / 2
            middle = self.left + self.width / 2, self.top + self.height / 2
            return middle[0] + reach * math.sin(angle), middle[1] - reach * math.cos(angle)
        if panel.lying:
            return self.left + up * self.width, self.top + across * self.height
        return self.left + across * self.width, self.top + (1 - up) * self.height

    @property
    def base(self) -> float:
        """Return the value that bars begin at."""
        low, high = self.panel.spans[1]
        return low if self.panel.y.scale == "log" else min(max(0.0, low), high)


def _share(value: float, axis: Axis, span: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in span) if axis.scale == "log" else span
    share = ((math.log(value) if axis.scale == "log" else value) - low) / (high - low)
    return min(max(share, 0.0), 1.0)


def _lay(figure: Figure, number: int, width: float, name: str) -> tuple[str, float]:
    """Return a panel as text, and its height."""
    panel = figure.panels[number]
    if panel.kind == "bars" and not panel.lying and _is_crowded(panel, width - 60):
        panel = replace(panel, lying=True)
    parts, y = [], 4.0
    for line in textwrap.wrap(panel.title, int(width / _LETTER)):
        y += _LINE
        parts.append(_text(line, width / 2, y, anchor="middle", font_weight="bold"))
    y += 8
    if not any(panel.drawn):
        y += 3 * _LINE
    elif panel.kind == "spider":
        text, y = _spider(figure, panel, width, y, name)
        parts.append(text)
    else:
        text, y = _axes(figure, panel, width, y, name, said=figure.repeats_categories(number))
        parts.append(text)
    for line in (part for note in panel.notes for part in textwrap.wrap(note, int(width / 6))):
        y += 14
        parts.append(_text(line, 8, y, font_size=_SMALL, font_style="italic"))
    return "".join(parts), y + 10


def _is_crowded(panel: Panel, room: float) -> bool:
    """Return whether bars would be too thin, or their labels touch, beside each other."""
    step = room / max(1, len(panel.categories))
    return step < 6 * len(panel.series) or any(_breadth(line) + 6 > step for line in _lines(panel.categories))


def _axes(figure: Figure, panel: Panel, width: float, top: float, name: str, *, said: bool) -> tuple[str, float]:
    """Return axes with their ticks and what is drawn between them, and where it ends.

    Categories beside lying bars are left out where they are `said` already.
    """
    along, up = panel.x.ticks(*panel.spans[0]), panel.y.ticks(*panel.spans[1])
    if panel.categories:
        along = [(float(place), label) for place, label in enumerate(panel.categories)]
    beside, below = (along, up) if panel.lying else (up, along)
    if panel.lying:
        room = int(0.42 * width / _LETTER)
        beside = [(at, "" if said else _short(label.replace("\n", ", "), room)) for at, label in beside]
    names = (panel.x.label, panel.y.label) if panel.lying else (panel.y.label, panel.x.label)
    left = max(map(_breadth, _lines([label for _, label in beside])), default=0) + 14 + (_LINE if names[0] else 0)
    inner = width - left - 14
    tilted = not panel.lying and bool(panel.categories) and _is_crowded(panel, inner)
    if tilted:
        below = [(at, _short(label.replace("\n", ", "), int(0.42 * width / _LETTER))) for at, label in below]
        left = max(left, max(_breadth(label) for _, label in below) * 0.82 - inner / len(below) / 2 + 6)
        inner = width - left - 14
    height = len(panel.categories) * max(16, 6 * len(panel.series) + 6) if panel.lying else round(width * 0.5)
    plot = _Plot(panel, left, top, inner, height)
    parts = [_grid(plot, beside, below, tilted=tilted)]
    if names[0]:
        middle = top + height / 2
        parts.append(_text(names[0], 12, middle, anchor="middle", transform=f"rotate(-90 12 {_n(middle)})"))
    longest = max((_breadth(label) for _, label in below), default=0.0)
    most = max((label.count("\n") + 1 for _, label in below), default=1)
    end = top + height + 6 + (longest * 0.6 + 10 if tilted else _LINE * most)
    if names[1]:
        end += _LINE
        parts.append(_text(names[1], left + inner / 2, end - 2, anchor="middle"))
    parts += [*_marks(figure, plot, name), _boundaries(plot) if panel.boundaries else ""]
    return "".join(parts), end + 2


def _grid(plot: _Plot, beside: Sequence[tuple[float, str]], below: Sequence[tuple[float, str]], *, tilted: bool) -> str:
    """Return the lines of ticks, their labels, and the two axes."""
    panel, bottom, right = plot.panel, plot.top + plot.height, plot.left + plot.width
    low = (panel.spans[0][0], panel.spans[1][0])
    faint = {"stroke": "currentColor", "stroke_opacity": 0.15}
    parts = []
    for at, label in beside:
        y = (plot.at(at, low[1]) if panel.lying else plot.at(low[0], at))[1]
        parts.append(_path(f"M{_n(plot.left)} {_n(y)}H{_n(right)}", **faint) if not panel.lying else "")
        parts.append(_text(label, plot.left - 6, y + 4, anchor="end"))
    for at, label in below:
        x = (plot.at(low[0], at) if panel.lying else plot.at(at, low[1]))[0]
        parts.append(
            "" if panel.categories and not panel.lying else _path(f"M{_n(x)} {_n(plot.top)}V{_n(bottom)}", **faint)
        )
        if tilted:
            turned = f"rotate(-35 {_n(x)} {_n(bottom + 12)})"
            parts.append(_text(label, x, bottom + 12, anchor="end", transform=turned))
            continue
        for nth, line in enumerate(label.split("\n")):
            parts.append(_text(line, x, bottom + _LINE * (nth + 1), anchor="middle"))
    if panel.diagonal:
        low_end, high_end = (pick(span[nth] for span in panel.spans) for nth, pick in ((0, max), (1, min)))
        path = _polyline([plot.at(low_end, low_end), plot.at(high_end, high_end)])
        parts.append(_path(path, stroke="currentColor", stroke_opacity=0.4))
    axes = f"M{_n(plot.left)} {_n(plot.top)}V{_n(bottom)}H{_n(right)}"
    return _tag("g", "".join(parts) + _path(axes, stroke="currentColor"), class_="axes")


def _boundaries(plot: _Plot) -> str:
    """Return lines across the panel."""
    panel, look = plot.panel, {"stroke": "currentColor", "stroke_dasharray": "4 3", "stroke_width": 1.5}
    lines = [[plot.at(at, end) for end in panel.spans[1]] for at in panel.boundaries if panel.x.places(at)]
    return _tag("g", "".join(_path(_polyline(ends), **look) for ends in lines), class_="boundaries")


def _marks(figure: Figure, plot: _Plot, name: str) -> list[str]:
    """Return what is drawn of each series."""
    kind, made = plot.panel.kind, []
    count = len(plot.panel.series)
    for nth, (one, points) in enumerate(zip(plot.panel.series, plot.panel.drawn, strict=True)):
        colour = figure.colour(one)
        if kind in ("bars", "histogram", "boxes"):
            part = 0.8 / count if kind != "histogram" else 0.0
            shift = (nth - (count - 1) / 2) * part
            text = "".join(_bar(plot, point, shift, part, colour, name) for point in points)
        elif kind in ("scatter", "dots"):
            places = {tuple(map(round, plot.at(point.x, point.y))): point for point in points}
            text = "".join(_marker(*plot.at(one.x, one.y), one, colour) for one in [*places.values()][:_PLACES])
        else:
            text = _line(plot, points, colour, steps=kind == "steps")
        made.append(_tag("g", text, class_=f"series-{colour % len(COLOURS)}"))
    return made


def _bar(plot: _Plot, point: Point, shift: float, part: float, colour: int, name: str) -> str:
    ends = (point.x + shift - part / 2, point.end + shift + part / 2)
    (x, y), (to_x, to_y) = plot.at(ends[0], plot.base), plot.at(ends[1], point.y)
    x, to_x, y, to_y = min(x, to_x), max(x, to_x), min(y, to_y), max(y, to_y)
    box = {"x": _n(x), "y": _n(y), "width": _n(to_x - x), "height": _n(to_y - y)}
    said = _tag("title", _plain(point.words))
    text = _tag("rect", said, **_fill(colour), **box)
    text += _tag("rect", said, fill=f"url(#{name}-hatch)", **box) if point.hatched else ""
    return _link(text + _spread(plot, point, (ends[0] + ends[1]) / 2), point)


def _spread(plot: _Plot, point: Point, x: float) -> str:
    """Return the interval of a point as a line with ends."""
    if point.low is None or point.high is None:
        return ""
    (left, top), (right, bottom) = plot.at(x, point.high), plot.at(x, point.low)
    ends = [(left, top), (right, bottom)]
    caps = "".join(f"M{_n(a)} {_n(b - 2)}v4" if plot.panel.lying else f"M{_n(a - 2)} {_n(b)}h4" for a, b in ends)
    return _path(f"M{_n(left)} {_n(top)}L{_n(right)} {_n(bottom)}{caps}", stroke="currentColor")


def _line(plot: _Plot, points: Sequence[Point], colour: int, *, steps: bool) -> str:
    if not points:
        return ""
    path, count = _polyline([plot.at(point.x, point.y) for point in points], steps=steps), len(plot.panel.categories)
    text = _path(path + "Z" * (plot.panel.kind == "spider" and len(points) == count), **_stroke(colour))
    marked = points if len(points) <= _MOST else [point for point in points if point.marked or point.link]
    for point in marked:
        text += _spread(plot, point, point.x) + _marker(*plot.at(point.x, point.y), point, colour)
    return text


def _polyline(places: Sequence[tuple[float, float]], *, steps: bool = False) -> str:
    """Return a path through places, each of which that looks the same as the one before it is named once."""
    (x, y), *rest = [place for place, _ in itertools.groupby((_n(x), _n(y)) for x, y in places)]
    return f"M{x} {y}" + "".join(f"H{x}V{y}" if steps else f"L{x} {y}" for x, y in rest)


def _marker(x: float, y: float, point: Point, colour: int) -> str:
    size = " scale(1.6)" if point.marked else ""
    said = _tag("title", _plain(point.words))
    place = f"translate({_n(x)} {_n(y)}){size}"
    return _link(_tag("path", said, d=_MARKERS[colour % len(_MARKERS)], transform=place, **_fill(colour)), point)


def _link(text: str, point: Point) -> str:
    return _tag("a", text, href=point.link, aria_label=point.words) if point.link else text


def _stroke(colour: int) -> dict[str, object]:
    dashes = _DASHES[colour % len(_DASHES)] or None
    return {"stroke": COLOURS[colour % len(COLOURS)], "stroke_width": 2, "stroke_dasharray": dashes}


def _fill(colour: int) -> dict[str, object]:
    return {"fill": COLOURS[colour % len(COLOURS)], "stroke": "currentColor", "stroke_width": 0.5}


def _spider(figure: Figure, panel: Panel, width: float, top: float, name: str) -> tuple[str, float]:
    """Return axes around a point with a polygon for each series, and where it ends."""
    names = [_short(label.replace("\n", ", "), int((width / 2 - 60) / _LETTER)) for label in panel.categories]
    radius = min(width / 2 - max(map(_breadth, names)) - 12, width * 0.32)
    plot, (low, high) = _Plot(panel, width / 2 - radius, top + 20, 2 * radius, 2 * radius), panel.spans[1]
    faint = {"stroke": "currentColor", "stroke_opacity": 0.2}
    parts = []
    for value, label in [*panel.y.ticks(low, high, 5), (high, "")]:
        parts.append(_path(_polyline([plot.at(place, value) for place in range(len(names))]) + "Z", **faint))
        x, y = plot.at(0, value)
        parts.append(_text(label if value < high else "", x + 3, y + 3, font_size=_SMALL))
    for place, label in enumerate(names):
        (x, y), side = plot.at(place, high), math.sin(2 * math.pi * place / len(names))
        parts.append(_path(_polyline([plot.at(place, low), (x, y)]), **faint))
        anchor = "start" if side > 0.1 else "end" if side < -0.1 else "middle"
        lower = 4 if abs(side) > 0.1 else -6 if y < plot.top + radius else 14
        parts.append(_text(label, x + 6 * round(side), y + lower, anchor=anchor))
    return _tag("g", "".join(parts), class_="axes") + "".join(_marks(figure, plot, name)), top + 2 * radius + 42


def _legend(figure: Figure, width: float) -> tuple[str, float]:
    """Return the names of series with their markers, and the height of it."""
    parts, x, y = [], 10.0, 12.0
    for nth, name in enumerate(figure.names):
        label = _short(name, int((width - 50) / 7))
        if x > 10 and x + 34 + _breadth(label) > width:
            x, y = 10.0, y + 20
        key, place = _path(f"M{_n(x)} {_n(y)}h22", **_stroke(nth)), f"translate({_n(x + 11)} {_n(y)})"
        key += _tag("path", d=_MARKERS[nth % len(_MARKERS)], transform=place, **_fill(nth))
        parts.append(_tag("g", key, class_=f"series-{nth % len(COLOURS)}") + _text(label, x + 28, y + 4))
        x += 44 + _breadth(label)
    return "".join(parts), y + 14 if parts else 0.0


def _hatch(name: str) -> str:
    lines = _path("M0 6L6 0", stroke="#fff", stroke_width=1.5)
    return _tag("defs", _tag("pattern", lines, id=f"{name}-hatch", width=6, height=6, patternUnits="userSpaceOnUse"))


def _lines(labels: Sequence[str]) -> list[str]:
    return [line for label in labels for line in label.split("\n")]


def _breadth(text: str) -> float:
    """Return how broad a text is at most."""
    return sum(_SIZE if ord(letter) > 0x2E80 else _LETTER for letter in text)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(0, most - 1)]}…"


def _plain(text: str) -> str:
    """Return a text with what HTML and XML take for markup escaped, and without characters that XML cannot have."""
    return escape(re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text))


def _n(number: float) -> str:
    """Return a number with one decimal at most, so that the same is written on every machine.

    >>> _n(3.04), _n(-0.01), _n(12.25)
    ('3', '0', '12.2')
    """
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _path(d: str, **attributes: object) -> str:
    return _tag("path", d=d, fill="none", **attributes)


def _text(text: str, x: float, y: float, *, anchor: str | None = None, **attributes: object) -> str:
    return _tag("text", _plain(text), x=_n(x), y=_n(y), text_anchor=anchor, **attributes) if text else ""


def _tag(tag: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; of attributes `_` stands for `-`, and those that are None are left out."""
    told = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    said = "".join(
        f' {key}="{_n(value) if isinstance(value, float) else _plain(str(value))}"' for key, value in told.items()
    )
    return f"<{tag}{said}>{content}</{tag}>" if content else f"<{tag}{said}/>"
