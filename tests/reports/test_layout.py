"""Where everything of a figure stands: no label leaves its sheet or touches another, and no sheet is too high."""

from __future__ import annotations

import math
from itertools import combinations

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.reports.charts import figure_of_datasets, figure_of_pairs, figure_of_parts, figure_of_ranks
from remix.reports.figures import COLOURS, MOST, Axis, Figure, Panel, Series
from remix.reports.layout import HIGHEST, lay_out
from remix.reports.lettering import breadth, cut, wrap
from remix.reports.marks import DASHES, HATCHES, SIGNS, Box, Label, Place, Sheet, Sign, Trace
from remix.reports.plots import WIDTHS


def touch(one: Label, other: Label) -> bool:
    """Whether two labels overlap by more than a hair: no line separates what they take (separating axes)."""
    corners = one.corners, other.corners
    for label in (one, other):
        for turn in (0, 90):
            angle = math.radians(label.turn + turn)
            spans = [[x * math.cos(angle) + y * math.sin(angle) for x, y in own] for own in corners]
            if max(spans[0]) - 1 <= min(spans[1]) or max(spans[1]) - 1 <= min(spans[0]):
                return False
    return True


def labels_of(sheet: Sheet) -> list[Label]:
    return [mark for mark in sheet.marks if isinstance(mark, Label) and mark.text.strip()]


def check(sheet: Sheet) -> None:
    """Fail where a label leaves the sheet, or two touch."""
    labels = labels_of(sheet)
    for label in labels:
        for x, y in label.corners:
            assert -1 <= x <= sheet.width + 1 and -1 <= y <= sheet.height + 1, label
    assert [pair for pair in combinations(labels, 2) if touch(*pair)] == []


NAMES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=40),
    st.sampled_from(
        ["a-dataset-of-a-very-long-name-with-a-year-2012", "מערך נתונים", "مجموعة بيانات", "中文命名实体数据集"]
    ),
)
VALUES = st.one_of(st.none(), st.floats(0, 1), st.floats(1e-9, 1e9), st.just(float("nan")))
KINDS = ("parts", "datasets", "bars", "pairs", "ranks")


@st.composite
def charts(draw: st.DrawFn) -> Figure:
    parts = draw(st.lists(NAMES, max_size=12, unique=True))
    series = draw(st.lists(NAMES, max_size=14, unique=True))
    panels = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    rows = [(panel, one, part, draw(VALUES), draw(VALUES)) for panel in panels for one in series for part in parts]
    schema = {"panel": pl.String, "series": pl.String, "part": pl.String, "value": pl.Float64, "x": pl.Float64}
    cells = pl.DataFrame(rows, schema=schema, orient="row")
    label = draw(NAMES)
    kind = draw(st.sampled_from(KINDS))
    if kind == "parts":
        return figure_of_parts(cells.with_columns(share=pl.lit(0.5)), label=label, column=label, limits=None)
    if kind == "pairs":
        named = cells.rename({"value": "y", "part": "name"})
        return figure_of_pairs(named, x=Axis(label), y=Axis(label), naming=True)
    if kind == "ranks":
        return figure_of_ranks(cells, label=label, column=label, ranked=draw(st.booleans()))
    return figure_of_datasets(cells.rename({"part": "dataset"}), label=label, bars=kind == "bars")


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(charts(), st.sampled_from([None, WIDTHS["column"], WIDTHS["page"]]))
def test_no_label_leaves_its_sheet_or_touches_another(figure: Figure, width: float | None) -> None:
    sheets = lay_out(figure, width=width)
    for sheet in sheets:
        check(sheet)
        assert width is None or sheet.width == width
        assert sheet.height <= HIGHEST
    assert sheets == lay_out(figure, width=width)


def many(datasets: int, systems: int) -> Figure:
    rows = [(f"dataset {nth}", f"system {one}", nth / 100) for nth in range(datasets) for one in range(systems)]
    return figure_of_datasets(pl.DataFrame(rows, schema=["dataset", "series", "value"], orient="row"), label="F1")


@pytest.mark.parametrize("width", [*WIDTHS])
def test_42_datasets_and_16_systems_are_small_multiples_of_all_on_sheets_of_paper(width: str) -> None:
    sheets = lay_out(many(42, 16), width=WIDTHS[width], height=972)
    signs = [mark for sheet in sheets for mark in sheet.marks if isinstance(mark, Sign)]
    assert len(signs) == 42 * 16
    titles = [mark.text for sheet in sheets for mark in labels_of(sheet) if mark.role == "title"]
    assert titles == [f"system {one}" for one in range(16)]
    assert max(sheet.height for sheet in sheets) <= 972
    for sheet in sheets:
        check(sheet)


def test_series_stay_together_while_they_can_be_told_apart() -> None:
    assert len({mark.number for mark in lay_out(many(2, MOST))[0].marks if isinstance(mark, Sign)}) == MOST
    one, *_ = lay_out(many(2, MOST + 1))
    assert {mark.number for mark in one.marks if isinstance(mark, Sign)} == {0}


def test_every_series_of_a_panel_is_told_by_colour_and_without() -> None:
    looks = [(nth % len(SIGNS), nth >= 8) for nth in range(MOST)]
    assert len({*COLOURS}) == len({*looks}) == MOST
    assert len({*HATCHES}) == MOST and len({*DASHES}) == len(DASHES) > 6


def test_names_of_lines_stand_apart_at_their_ends() -> None:
    cells = pl.DataFrame({"series": [*"abcdef"] * 2, "part": ["x"] * 6 + ["y"] * 6, "value": [0.5] * 12})
    (sheet,) = lay_out(figure_of_ranks(cells, ranked=False))
    ends = [label for label in labels_of(sheet) if label.role == "names"]
    assert [label.text for label in ends] == [*"abcdef"]
    assert min(low.y - high.y for high, low in zip(ends, ends[1:], strict=False)) >= 12 - 1e-9


def test_small_multiples_of_lines_show_the_others_behind() -> None:
    panel = Panel("", "lines", [Series(f"s{nth}", [1, 2], [nth, nth]) for nth in range(13)])
    (sheet,) = lay_out(Figure("", [panel]), height=10_000)
    pale = [mark for mark in sheet.marks if isinstance(mark, Trace) and mark.role == "behind"]
    assert len(pale) == 13 * 12


def test_share_behind_a_line_is_as_high_as_it_is_on_the_axis() -> None:
    cells = pl.DataFrame({"series": "P", "part": ["a", "b"], "value": [1.0, 0.25], "share": [0.75, 0.25]})
    (sheet,) = lay_out(figure_of_parts(cells))
    first, second, _key = [mark for mark in sheet.marks if isinstance(mark, Box) and mark.role == "behind"]
    assert first.height == pytest.approx(3 * second.height)
    signs: list[Place] = [(mark.x, mark.y) for mark in sheet.marks if isinstance(mark, Sign)][:2]
    assert signs[1][1] == pytest.approx(second.y)  # a value of 0.25 stands where its share of 0.25 ends


def test_what_has_no_value_is_said_and_does_not_look_like_0() -> None:
    cells = pl.DataFrame({"dataset": ["a", "b"], "value": [0.0, None]})
    (sheet,) = lay_out(figure_of_datasets(cells, bars=True))
    assert [label.text for label in labels_of(sheet)].count("no value") == 1


@given(st.text(max_size=30), st.floats(5, 200))
@example("\n", 5)
def test_texts_are_cut_and_broken_to_their_room(text: str, room: float) -> None:
    flat = text.replace("\n", " ")
    assert breadth(cut(flat, room, 12), 12) <= room
    assert all(breadth(line, 12) <= room for line in wrap(text, room, 12))
    assert len(wrap(text, room, 12)) <= 3


def test_panel_that_is_alone_in_the_last_row_is_as_wide_as_those_above_it() -> None:
    """Four panels of lying bars, three in a row: the bars of each are as long for the same value."""
    names = ["a category with a name", "another category that is long"]
    figure = Figure("f", [Panel(f"p{nth}", "bars", [Series("", names, [1.0, 0.5])], lying=True) for nth in range(4)])
    sheet = lay_out(figure)[0]
    widths = {round(mark.width, 1) for mark in sheet.marks if isinstance(mark, Box)}
    assert len(widths) == 2  # of 1 and of 0.5
    assert not [mark.text for mark in labels_of(sheet) if "…" in mark.text]
