"""The series of a panel as marks: bars, dots, boxes, lines with their intervals, points with their names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remix.reports.figures import COLOURS, Axis, Figure, Panel, Point
from remix.reports.lettering import breadth, cut
from remix.reports.marks import DASHES, HATCHES, INK, SIGNS, Box, Label, Mark, Place, Sign, Trace

SMALL = 10.0
"""Letters of notes, and of names beside points; those of labels have 12."""
BEHIND = "#9a9a9a"
"""Of what stands behind lines: shares, and the other series of small multiples."""
_SIGNED = 80
"""Points of a line that have a sign; of more the line alone is drawn."""
_SCATTERED = 4000
"""Points of a scatter plot that are drawn of a series; they say how many there are."""


@dataclass(frozen=True)
class Plot:
    """Where the axes of a panel are on its sheet."""

    panel: Panel
    left: float
    top: float
    width: float
    height: float

    def at(self, x: float, y: float) -> Place:
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

    @property
    def right(self) -> float:
        """Return where the axes end on the right."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Return where the axes end below."""
        return self.top + self.height


def _share(value: float, axis: Axis, span: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in span) if axis.scale == "log" else span
    share = ((math.log(value) if axis.scale == "log" else value) - low) / (high - low)
    share = min(max(share, 0.0), 1.0)
    return 1 - share if axis.falling else share


def draw_series(figure: Figure, plot: Plot) -> Iterator[Mark]:
    """Yield the marks of all series of a panel, what stands behind them first."""
    panel = plot.panel
    for point in panel.shares:
        (x, y), (to_x, to_y) = (
            plot.at(point.x - 0.45, _behind(panel, 0)),
            plot.at(point.x + 0.45, _behind(panel, point.y)),
        )
        words = point.words.replace("share of mentions; ", "share of mentions: ")
        yield _box((x, y), (to_x, to_y), BEHIND, opacity=0.3, outlined=False, words=words, role="behind")
    for other in panel.context:
        points = panel.points_of(other)
        runs = [_path(plot, run) for run in panel.runs(points)]
        yield Trace(runs, BEHIND, 1.0, opacity=0.45, role="behind")
    together = len(figure.names) > 1 and not (panel.kind == "bars" and len(panel.series) == 1)
    taken: list[Box] = []
    for nth, (one, points) in enumerate(zip(panel.series, panel.drawn, strict=True)):
        number = figure.colour(one)
        role = f"series-{number % len(COLOURS)}"
        shift = (nth - (len(panel.series) - 1) / 2) * part_of_step(panel)
        if panel.kind in ("bars", "histogram"):
            hatch = HATCHES[number % len(HATCHES)] if together else ""
            yield from _draw_bars(plot, points, shift, number, hatch, role)
        elif panel.kind == "boxes":
            yield from _draw_boxes(plot, points, number, role)
        elif panel.kind in ("scatter", "dots"):
            yield from _draw_points(plot, points, shift, number, role)
        else:
            yield from _draw_line(plot, points, number, role, alone=len(panel.series) > 1)
        if panel.naming and panel.kind == "scatter":
            yield from _name_points(plot, points, taken, role)
    if panel.naming and panel.kind != "scatter":
        yield from _name_ends(figure, plot)


def part_of_step(panel: Panel) -> float:
    """Return how far the series of a category stand from each other, in steps from one category to the next."""
    if panel.kind == "bars":
        return 0.8 / max(1, len(panel.series))
    spread = any(point.low is not None for points in panel.drawn for point in points)
    return 0.8 / max(1, len(panel.series)) if panel.kind == "dots" and spread else 0.0


def _behind(panel: Panel, share: float) -> float:
    """Return where a share of a whole stands on the axis of values: 1 is its upper end, or 1 where that is beyond."""
    low, high = panel.spans[1]
    limits = panel.y.limits
    if limits == (0.0, 1.0) and low == 0.0:
        return share
    if panel.y.scale == "log":
        return float(low * (high / low) ** share)
    return low + share * (high - low)


def _box(one: Place, other: Place, colour: str, **more: object) -> Box:
    (x, y), (to_x, to_y) = one, other
    x, to_x, y, to_y = min(x, to_x), max(x, to_x), min(y, to_y), max(y, to_y)
    return Box(x, y, to_x - x, to_y - y, colour, **more)  # type: ignore[arg-type]


def _draw_bars(plot: Plot, points: Sequence[Point], shift: float, number: int, hatch: str, role: str) -> Iterator[Mark]:
    part = part_of_step(plot.panel)
    for point in points:
        ends = (point.x + shift - part / 2, point.end + shift + part / 2)
        corners = plot.at(ends[0], plot.base), plot.at(ends[1], point.y)
        opacity = 0.35 if point.pale else 1.0
        yield _box(
            *corners, _colour(number), opacity=opacity, hatch=hatch, words=point.words, link=point.link, role=role
        )
        yield from _whiskers(plot, point, (ends[0] + ends[1]) / 2, role)


def _draw_boxes(plot: Plot, points: Sequence[Point], number: int, role: str) -> Iterator[Mark]:
    for point in points:
        yield from _whiskers(plot, point, point.x, role)
        if point.lower is not None and point.upper is not None:
            corners = plot.at(point.x - 0.3, point.lower), plot.at(point.x + 0.3, point.upper)
            yield _box(*corners, _colour(number), opacity=0.55, words=point.words, link=point.link, role=role)
        yield Trace([[plot.at(point.x - 0.3, point.y), plot.at(point.x + 0.3, point.y)]], width=2.0, role=role)


def _draw_points(plot: Plot, points: Sequence[Point], shift: float, number: int, role: str) -> Iterator[Mark]:
    shown = points
    if plot.panel.kind == "scatter":  # of what looks the same one is drawn
        shown = [*{tuple(map(round, plot.at(one.x, one.y))): one for one in points}.values()][:_SCATTERED]
    for point in shown:
        yield from _whiskers(plot, point, point.x + shift, role, _colour(number))
        yield _sign(plot.at(point.x + shift, point.y), point, number, role)


def _draw_line(plot: Plot, points: Sequence[Point], number: int, role: str, *, alone: bool) -> Iterator[Mark]:
    panel, colour = plot.panel, _colour(number)
    if not points:
        return
    runs = panel.runs(points)
    if panel.bands:
        for run in runs:
            known = [point for point in run if point.low is not None and point.high is not None]
            upper = [plot.at(point.x, point.high or 0.0) for point in known]
            lower = [plot.at(point.x, point.low or 0.0) for point in reversed(known)]
            if len(known) > 1:
                yield Trace([upper + lower], colour, opacity=0.2, closed=True, filled=True, role=role)
    whole = panel.kind == "spider" and len(points) == len(panel.categories)
    paths = [_path(plot, run) for run in runs]
    yield Trace(paths, colour, 2.0, DASHES[number % len(DASHES)], closed=whole, role=role)
    signed = points if len(points) <= _SIGNED else [one for one in points if one.marked or one.link]
    for point in signed:
        if not panel.bands or not any(len(run) > 1 and point in run for run in runs):
            yield from _whiskers(plot, point, point.x, role, colour if alone else INK)
        yield _sign(plot.at(point.x, point.y), point, number, role)


def _path(plot: Plot, run: Sequence[Point]) -> list[Place]:
    places = [plot.at(point.x, point.y) for point in run]
    if plot.panel.kind != "steps":
        return places
    corners = [(x, before) for (x, _), (_, before) in zip(places[1:], places, strict=False)]
    return [places[0], *(place for pair in zip(corners, places[1:], strict=True) for place in pair)]


def _whiskers(plot: Plot, point: Point, x: float, role: str, colour: str = INK) -> Iterator[Trace]:
    """Yield the interval of a point as a line with ends."""
    if point.low is None or point.high is None:
        return
    ends = [plot.at(x, point.high), plot.at(x, point.low)]
    caps = [[(a, b - 2.5), (a, b + 2.5)] if plot.panel.lying else [(a - 2.5, b), (a + 2.5, b)] for a, b in ends]
    yield Trace([ends, *caps], colour, role=role)


def _sign(place: Place, point: Point, number: int, role: str) -> Sign:
    scale = 1.6 if point.marked else 1.0
    opacity = 0.4 if point.pale else 1.0
    return Sign(number % len(SIGNS), *place, _colour(number), scale, opacity, point.words, point.link, role)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _name_points(plot: Plot, points: Sequence[Point], taken: list[Box], role: str) -> Iterator[Label]:
    """Yield the names of points where these find room beside them; what finds none is said by the point alone."""
    places = [plot.at(point.x, point.y) for point in points]
    if not taken:
        taken += [Box(x - 4, y - 4, 8, 8, "") for one in plot.panel.drawn for x, y in (plot.at(p.x, p.y) for p in one)]
    for point, (x, y) in zip(points, places, strict=True):
        if not point.name:
            continue
        name = cut(point.name, plot.width * 0.5, SMALL)
        wide, high = breadth(name, SMALL), SMALL
        for left, up in ((x + 6, y - 5), (x - 6 - wide, y - 5), (x - wide / 2, y - 7 - high), (x - wide / 2, y + 7)):
            room = Box(left, up, wide, high, "")
            within = plot.left < left and left + wide < plot.right and plot.top < up and up + high < plot.bottom
            if within and not any(_touch(room, other) for other in taken):
                taken.append(room)
                yield Label(name, left, up + high - 2, SMALL, role="names")
                break


def _touch(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (beside or one.y + one.height <= other.y or other.y + other.height <= one.y)


def room_for_ends(panel: Panel, width: float) -> float:
    """Return how much room the names of lines take at their ends."""
    names = [one.name for one, points in zip(panel.series, panel.drawn, strict=True) if points]
    if not (panel.naming and panel.kind != "scatter" and names):
        return 0.0
    return min(0.4 * width, 10 + max(breadth(name, SMALL) for name in names))


def _name_ends(figure: Figure, plot: Plot) -> Iterator[Mark]:
    """Yield the name of each line at its end, moved apart where they would touch, as far as there is room."""
    panel = plot.panel
    lines = [(one, points[-1]) for one, points in zip(panel.series, panel.drawn, strict=True) if points]
    room = room_for_ends(panel, plot.width / 0.6)
    lines.sort(key=lambda pair: plot.at(pair[1].x, pair[1].y)[1])
    step = min(SMALL + 2, plot.height / max(1, len(lines) - 1)) if len(lines) > 1 else 0.0
    wanted = [plot.at(point.x, point.y)[1] for _, point in lines]
    for (one, point), y in zip(lines, _apart(wanted, step, plot.top, plot.bottom), strict=True):
        x, own = plot.at(point.x, point.y)
        number = figure.colour(one)
        yield Trace([[(x + 5, own), (plot.right + 2, y)]], _colour(number), 0.7, opacity=0.7, role="names")
        yield Label(cut(one.name, room - 6, SMALL), plot.right + 4, y + 3.5, SMALL, role="names")


def _apart(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Return places in their order that are a step apart, between two ends, near those that are wanted.

    >>> _apart([5, 5, 5, 90], 10, 0, 100)
    [0.0, 10.0, 20.0, 90.0]
    """
    groups: list[tuple[float, int]] = []  # the middle of what stands together, and how many these are
    for want in wanted:
        groups.append((want, 1))
        while len(groups) > 1 and _first(groups[-1], step) < _last(groups[-2], step) + step:
            (one, some), (other, more) = groups.pop(), groups.pop()
            groups.append(((one * some + other * more) / (some + more), some + more))
    found: list[float] = []
    for group in groups:
        first = max(_first(group, step), found[-1] + step if found else low)
        found += [first + step * nth for nth in range(group[1])]
    for nth in range(len(found) - 1, -1, -1):
        found[nth] = min(found[nth], high - step * (len(found) - 1 - nth))
    return [float(place) for place in found]


def _first(group: tuple[float, int], step: float) -> float:
    return group[0] - step * (group[1] - 1) / 2


def _last(group: tuple[float, int], step: float) -> float:
    return group[0] + step * (group[1] - 1) / 2
