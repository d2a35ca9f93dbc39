"""Scores as a picture."""

from __future__ import annotations

import re
import struct
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from remix.errors import UsageError
from remix.names import RMX
from remix.publication.card import draw_measures
from remix.reports import plots
from remix.reports.figures import KINDS, NAMED, Axis, Figure, Panel, Series
from remix.reports.plots import render, save
from remix.reports.scores import _bars, figure_of_scores, figure_of_slices

if TYPE_CHECKING:
    from remix.publication.description import Publication

KEYS = {"task": "A2KB", "matching": "strong", "average": "micro", "mentions": 3}
WHOLE = [
    {"system": system, "dataset": dataset, "column": "", "slice": "", "f1": f1, **KEYS}
    for system, dataset, f1 in [
        ("a", "all", 0.5),
        ("a", "x", 0.25),
        ("a", "y", 0.75),
        ("b", "x", None),
        ("b", "y", 1.0),
    ]
]
SLICED = [
    {"system": "a", "dataset": "all", "column": column, "slice": value, "f1": 0.5, **KEYS}
    for column, value in [("kb", "InKB"), ("class", "http://dbpedia.org/ontology/Person")]
]


def test_bars_stand_for_datasets_in_the_order_asked_for() -> None:
    drawn = _bars(pl.DataFrame(WHOLE), ["y", "x"])
    assert drawn.select("system", "group").rows() == [("a", "y"), ("b", "y"), ("a", "x"), ("b", "x")]


def test_bars_stand_for_slices_where_rows_have_them() -> None:
    assert _bars(pl.DataFrame(WHOLE + SLICED), [])["group"].to_list() == ["http://dbpedia.org/ontology/Person"]


def test_bars_of_one_dataset_are_those_of_all() -> None:
    assert _bars(pl.DataFrame(WHOLE[:1]), [])["group"].to_list() == ["all"]


def test_slices_are_lines_of_three_scores_before_their_shares() -> None:
    scores = {"precision": 0.5, "recall": 0.25, "f1": 0.33, "f1_low": 0.2, "f1_high": 0.5}
    rows = [
        {"system": "a", "dataset": "all", "column": column, "slice": part, **KEYS, "mentions": number, **scores}
        for column, part, number in [("", "", 4), ("rank", "1: to-3", 3), ("rank", "2: unspecified", 1)]
    ]
    (panel,) = figure_of_slices(pl.DataFrame(rows)).panels
    assert (panel.title, panel.apart) == ("a", ["2: unspecified"])
    assert [(one.name, one.y) for one in panel.series] == [("P", [0.5, 0.5]), ("R", [0.25, 0.25]), ("F1", [0.33, 0.33])]
    assert [point.y for point in panel.shares] == [0.75, 0.25]  # 3 and 1 of 4 mentions
    assert [point.low for points in panel.drawn for point in points] == [None] * 4 + [0.2] * 2
    with pytest.raises(UsageError, match="--by names a column"):
        figure_of_slices(pl.DataFrame(rows[:1]))


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_plot_when_drawn_twice_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        save(figure_of_scores(pl.DataFrame(WHOLE)), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].stat().st_size > 1000


def test_plot_when_the_suffix_is_unknown_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no plot is written as '\.gif'.*\.png"):
        save(figure_of_scores(pl.DataFrame(WHOLE)), tmp_path / "a.gif")


def test_plot_when_no_row_has_a_score_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to plot"):
        save(figure_of_scores(pl.DataFrame(WHOLE).with_columns(f1=pl.lit(None, pl.Float64))), tmp_path / "a.png")


def test_bars_of_entity_sets_are_drawn_once_whatever_the_matching() -> None:
    rows = [{**WHOLE[0], "task": "C2KB", "matching": matching} for matching in ("strong", "weak")]
    assert _bars(pl.DataFrame(rows), [])["panel"].to_list() == ["C2KB"]


@pytest.mark.long
def test_of_many_slices_the_largest_are_drawn_and_no_file_is_higher_than_a_page(tmp_path: Path) -> None:
    # 200 slices of two systems under two matchings: the 40 largest are those with 160 mentions and more.
    rows = [
        {**SLICED[1], "system": system, "matching": matching, "slice": f"slice {number:03}", "mentions": number}
        for system in "ab"
        for matching in ("strong", "weak")
        for number in range(200)
    ]
    figure = figure_of_scores(pl.DataFrame(rows))
    assert [len(panel.categories) for panel in figure.panels] == [40, 40]
    assert figure.panels[0].categories[0] == "slice 160\n160 mentions"
    for file in save(figure, tmp_path / "a.png"):
        width, height = struct.unpack(">II", file.read_bytes()[16:24])
        assert width < 4000 and height < 4000


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 6.9)])
def test_figure_for_a_paper_is_as_wide_as_its_column_or_page(width: str, inches: float, tmp_path: Path) -> None:
    (file,) = save(figure_of_scores(pl.DataFrame(WHOLE)), tmp_path / "a.svg", width)
    # An inch has 72 points.
    found = re.search(r'width="([\d.]+)pt"', file.read_text())
    assert found is not None and float(found[1]) == pytest.approx(72 * inches, abs=0.1)
    with pytest.raises(UsageError, match="no width of a figure named 'colum'.*'column'"):
        save(figure_of_scores(pl.DataFrame(WHOLE)), tmp_path / "a.svg", "colum")


def sheets_below_each_other() -> Figure:
    panels = [Panel(f"panel {nth}", "lines", [Series("one", ["a", "b"], [1, 2])]) for nth in range(12)]
    return Figure("many", panels)


def test_what_is_higher_than_a_page_goes_on_in_further_files(tmp_path: Path) -> None:
    files = save(sheets_below_each_other(), tmp_path / "a.svg", "column")
    assert [file.name for file in files] == ["a.svg", *(f"a-{nth}.svg" for nth in range(2, len(files) + 1))]
    said = [re.findall(r">(panel \d+)<", file.read_text()) for file in files]
    assert len(said) > 1 and sum(said, []) == [f"panel {nth}" for nth in range(12)]


@pytest.mark.long
def test_pdf_has_a_page_for_each_sheet_and_letters_of_a_font(tmp_path: Path) -> None:
    (file,) = save(sheets_below_each_other(), tmp_path / "a.pdf", "column")
    sheets = len(render(sheets_below_each_other(), ".svg", "column"))
    content = file.read_bytes()
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") == sheets > 1
    assert b"/FontFile2" in content and b"/Type3" not in content and b"CreationDate" not in content


@pytest.mark.long
def test_every_kind_of_panel_is_drawn_for_print_as_on_pages(tmp_path: Path) -> None:
    panels = [Panel("without", "bars", [])]
    for kind in KINDS:
        named = kind in NAMED
        x = ["a", "b", "c"] if named else [1.0, 10.0, 100.0, 1000.0][: 3 + (kind == "histogram")]
        series = [Series(name, x, [0.5, 0.25, None], [0.4, None, None], [0.6, None, None]) for name in ("one", "two")]
        axis = Axis("over", "linear" if named else "log")
        panels.append(Panel(f"by {kind}", kind, series, axis, Axis("value"), () if named else [5]))
    whole = Figure("all", panels, columns=3)
    text = (tmp_path / "a.svg").read_text() if save(whole, tmp_path / "a.svg") else ""
    said = Counter(re.findall("<text[^>]*>([^<]*)</text>", text))
    assert {f"by {kind}": said[f"by {kind}"] for kind in KINDS} == dict.fromkeys((f"by {kind}" for kind in KINDS), 1)
    assert (said["one"], said["two"], said["Nothing to draw: no point has a value."]) == (1, 1, 1)
    (png,) = render(whole, ".png")
    assert png[:4] == b"\x89PNG"


def test_a_text_is_looked_up_in_the_fonts_alone_that_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two hundred fonts of other scripts, each of which was looked up for each text, a PDF took over a second."""
    letters = {"first": "ab", "second": "bc", "third": "d", "fourth": "c"}
    monkeypatch.setattr(plots, "_fonts", lambda: [*letters])
    monkeypatch.setattr(plots, "_letters_of", lambda name: frozenset(letters[name]))
    plots._fonts_of.cache_clear()
    asked = {text: plots._fonts_of(frozenset(text)) for text in ("", "ba", "bc", "d", "ac#d")}
    plots._fonts_of.cache_clear()
    # The first that has a letter sets it; what none has is a box of the first.
    assert asked == {
        "": ["first"],
        "ba": ["first"],
        "bc": ["first", "second"],
        "d": ["first", "third"],
        "ac#d": ["first", "second", "third"],
    }


@pytest.mark.long
def test_a_font_of_other_scripts_without_bold_letters_is_no_matter_to_tell(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As many systems have 'Droid Sans Fallback', which matplotlib told of a hundred times on the terminal."""
    monkeypatch.setattr(plots, "_OTHERS", ("cmr10",))  # comes with matplotlib, in one weight
    monkeypatch.setattr(plots, "_FONTS", ())
    plots._fonts.cache_clear()
    plots._fonts_of.cache_clear()
    try:
        assert plots._fonts() == ["cmr10"]
        render(Figure("bold", [Panel("a title", "bars", [Series("one", ["a"], [0.5])])]), ".png")
    finally:
        plots._fonts.cache_clear()
        plots._fonts_of.cache_clear()
    assert not [one.message for one in caplog.records if "font" in one.message]


def test_card_draws_the_shares_of_its_dataset_without_matplotlib() -> None:
    # density 0.5 is a share; 12 words are none, and 0 is no bar.
    said = {"density": "0.5", "words": "12", "isNil": "0.0"}
    rows = [{"subject": "<d>", "predicate": f"<{RMX}{name}>", "object": f'"{value}"'} for name, value in said.items()]
    about = SimpleNamespace(triples=pl.DataFrame(rows), entry=SimpleNamespace(iri="d", name="news"))
    drawn = draw_measures(cast("Publication", about)).decode()
    assert drawn.startswith("<svg") and "density: 0.5" in drawn and "words" not in drawn
