"""Figures as data, and their SVG: where everything is drawn, what is said of what is not, and that it is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.errors import UsageError
from remix.reports.figures import KINDS, NAMED, Axis, Figure, Panel, Series, count_values
from remix.reports.svg import draw

NUMBERS = st.one_of(st.none(), st.floats(-1e9, 1e9), st.sampled_from([0.0, 1e-9, float("nan"), float("inf")]))
TEXTS = st.text(max_size=30)


@st.composite
def panels(draw_one: st.DrawFn) -> Panel:
    kind = draw_one(st.sampled_from(KINDS))
    series = []
    for _ in range(draw_one(st.integers(0, 3))):
        y = draw_one(st.lists(NUMBERS, max_size=6))
        if kind in NAMED:
            x: list[float | str] = [*draw_one(st.lists(TEXTS, min_size=len(y), max_size=len(y), unique=True))]
        else:
            count = len(y) + (kind == "histogram")
            x = [*sorted(draw_one(st.lists(st.floats(-1e9, 1e9), min_size=count, max_size=count)))]
        spread = draw_one(st.lists(NUMBERS, min_size=len(y), max_size=len(y)))
        series.append(Series(draw_one(TEXTS), x, y, spread, spread[::-1], words=["<b>&"] * len(y)))
    scales = [draw_one(st.sampled_from(["linear", "log"])) for _ in "xy"]
    if kind in NAMED:
        scales[0] = "linear"
    axes = [Axis(draw_one(TEXTS), scale) for scale in scales]
    lines = draw_one(st.lists(st.floats(-10, 10), max_size=2))
    return Panel(draw_one(TEXTS), kind, series, *axes, lines, lying=kind == "bars" and draw_one(st.booleans()))


def places(element: ElementTree.Element, x: float = 0, y: float = 0) -> Iterator[tuple[float, float]]:
    """The places of everything that is drawn, in the coordinates of the view box."""
    moved = re.match(r"translate\(([-.\d]+) ([-.\d]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    tag = element.tag.rpartition("}")[2]
    if tag in ("rect", "text"):
        at = float(element.get("x", 0)), float(element.get("y", 0))
        yield x + at[0], y + at[1]
        yield x + at[0] + float(element.get("width", 0)), y + at[1] + float(element.get("height", 0))
    if tag == "path" and not moved:  # a marker is about its place
        at = (0.0, 0.0)
        for command, numbers in re.findall(r"([MLHVhv])([-. \d]*)", element.get("d", "")):
            value = [float(number) for number in numbers.split()]
            at = {
                "H": lambda at=at, value=value: (value[0], at[1]),
                "V": lambda at=at, value=value: (at[0], value[0]),
                "h": lambda at=at, value=value: (at[0] + value[0], at[1]),
                "v": lambda at=at, value=value: (at[0], at[1] + value[0]),
            }.get(command, lambda value=value: (value[0], value[1]))()
            yield x + at[0], y + at[1]
    elif moved:
        yield x, y
    if tag != "defs":
        for child in element:
            yield from places(child, x, y)


TINY = Panel("", "lines", [Series("", [1.0, 2.0], [5e-324, 5e-324])], Axis(), Axis(scale="log"))
"""The smallest number that there is: half of it is 0, which has no logarithm."""


def test_categories_of_lying_bars_are_said_once_in_a_row() -> None:
    panel = Panel("", "bars", [Series("", ["first", "second"], [1, 2])], lying=True)
    assert draw(Figure("", [panel, panel], columns=2)).count(">first<") == 1
    assert draw(Figure("", [panel, panel], columns=1)).count(">first<") == 2  # below each other


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.lists(panels(), max_size=3), st.integers(1, 3), TEXTS)
@example([TINY], 1, "")
def test_everything_is_drawn_within_the_view_box_and_the_same_again(own: list[Panel], columns: int, title: str) -> None:
    figure = Figure(title, own, description=title, columns=columns)
    text = draw(figure)
    root = ElementTree.fromstring(text)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    outside = [(x, y) for x, y in places(root) if not (0 <= x <= width and 0 <= y <= height)]
    assert not outside
    assert text == draw(Figure(title, own, description=title, columns=columns))
    assert not re.search(r"<(style|script)|\sstyle=|\son[a-z]+=", text)


def only(kind: str, series: Series, **more: object) -> Panel:
    return Panel("", kind, [series], **more)  # type: ignore[arg-type]


def test_values_without_a_place_on_a_logarithmic_axis_are_left_out_and_counted() -> None:
    panel = only("scatter", Series("", [0, 1, 10], [1, 1, -1]), x=Axis(scale="log"), y=Axis(scale="log"))
    assert [point.x for point in panel.drawn[0]] == [1]  # x is 0 for the first, y is -1 for the last
    assert panel.notes == ["1 value of 0 or less: not on a logarithmic axis"] * 2
    assert draw(Figure("", [panel])).count("not on a logarithmic axis") == 2
    with pytest.raises(UsageError, match="limits above 0"):
        Axis(scale="log", limits=(0, 1))


def test_empty_panel_says_that_it_is() -> None:
    for panel in (only("bars", Series("a", ["x"], [None])), Panel("", "lines", [])):
        assert "Nothing to draw: no point has a value." in draw(Figure("", [panel]))


def test_axes_reach_to_every_value_beyond_their_limits() -> None:
    # A value of 1.5 on an axis from 0 to 1 makes it reach to 1.5.
    assert only("bars", Series("", ["a"], [1.5]), y=Axis(limits=(0, 1))).spans[1] == (0, 1.5)


def test_text_of_names_titles_and_links_is_escaped() -> None:
    evil = '"><script>alert(1)</script>\x00'
    one = Series(evil, [evil, "b"], [1, 2], links=[f"/a?x={evil}", ""], words=[evil, ""])
    text = draw(Figure(evil, [Panel(evil, "bars", [one, Series("b", ["b"], [1])], Axis(evil))], evil), name="f")
    ElementTree.fromstring(text)
    assert "<script" not in text and text.count("&lt;script&gt;") > 4


def test_points_lead_where_they_say_and_an_image_without_links_is_one_image() -> None:
    linked = draw(Figure("t", [only("lines", Series("s", [1, 2], [1, 2], links=["/errors?a=1&b=2", ""]))]))
    assert linked.count("<a ") == 1 and 'href="/errors?a=1&amp;b=2" aria-label="s; 1: 1"' in linked
    assert 'role="group"' in linked
    assert "<a " not in draw(Figure("t", [only("lines", Series("s", [1], [1], links=["/x"]))]), links=False)
    image = draw(Figure("t", [], "words"), name="one")
    assert 'role="img" aria-labelledby="one-title one-text"' in image
    assert '<title id="one-title">t</title><desc id="one-text">words</desc>' in image


def test_series_differ_in_marker_and_dashes_beside_their_colour() -> None:
    text = draw(Figure("", [Panel("", "lines", [Series(name, [1, 2], [1, 2]) for name in "abcd"])]))
    lines = re.findall(
        r'<path d="[^"]*" fill="none" stroke="(#\w+)" stroke-width="2"( stroke-dasharray="[^"]*")?/>', text
    )
    assert len(set(lines)) == 4 and len({dashes for _, dashes in lines}) == 4
    assert len(set(re.findall(r'<path d="(M[^"]*z)"', text))) == 4


def test_crowded_bars_lie_so_that_their_names_can_be_read() -> None:
    names = [f"a dataset of a long name {number}" for number in range(12)]
    text = draw(Figure("", [only("bars", Series("s", names, [1.0] * 12))]))
    widths = {float(width) for width in re.findall(r'<rect fill[^>]* width="([^"]*)"', text)}
    heights = {float(height) for height in re.findall(r'<rect fill[^>]* height="([^"]*)"', text)}
    assert min(widths) > max(heights)


def test_histogram_counts_every_value_once() -> None:
    # 0 and below have no logarithm; 1 to 1000 is three decades, the last of which 1000 ends.
    found = count_values("", pl.Series([None, -1, 0, 1, 5, 50, 1000]), scale="log", bins=3)
    assert (found.y, found.left_out) == ([2, 1, 1], 2)
    panel = only("histogram", found, x=Axis(scale="log"), boundaries=[7])
    assert panel.notes == ["2 values of 0 or less: not on a logarithmic axis"]
    boundaries = draw(Figure("", [panel])).partition('class="boundaries"')[2]
    assert boundaries.count("stroke-dasharray") == 1


def test_unknown_kinds_and_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="no kind of panel named 'bar'.*'bars'"):
        Panel("", "bar", [])
    with pytest.raises(UsageError, match="not of one length"):
        Series("s", ["a", "b"], [1, 2], low=[1])
    with pytest.raises(UsageError, match="no logarithmic axis"):
        only("bars", Series("s", ["a"], [1]), x=Axis(scale="log"))
    with pytest.raises(UsageError, match="an edge more"):
        only("histogram", Series("s", [1], [1]))
