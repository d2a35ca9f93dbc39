"""One table, every output format."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest

from remix import tables
from remix.errors import UsageError

FRAME = pl.DataFrame(
    {"name": ["a|b", 'say "x"'], "value": [0.5, None], "tags": [["p", "q"], []], "good": [True, False]}
)


@pytest.mark.parametrize("output", [f for f in tables.FORMATS if f != "parquet"])
def test_render_when_text_holds_every_name(output: str) -> None:
    assert "value" in tables.render(FRAME, output)
    assert "0.5" in tables.render(FRAME, output)


def test_json_when_read_back_is_the_same() -> None:
    assert json.loads(tables.render(FRAME, "json")) == FRAME.to_dicts()


def test_jsonl_when_read_back_is_the_same() -> None:
    assert [json.loads(line) for line in tables.render(FRAME, "jsonl").splitlines()] == FRAME.to_dicts()


def test_csv_when_read_back_has_the_values() -> None:
    back = pl.read_csv(io.StringIO(tables.render(FRAME, "csv")))
    assert back["name"].to_list() == FRAME["name"].to_list()
    assert back["tags"].fill_null("").to_list() == ["p|q", ""]


def test_parquet_when_written_reads_back_equal() -> None:
    stream = io.BytesIO()
    tables.write(FRAME, "parquet", stream)
    assert pl.read_parquet(io.BytesIO(stream.getvalue())).equals(FRAME)


def test_render_when_empty_keeps_the_header() -> None:
    assert tables.render(FRAME.clear(), "csv").strip() == "name,value,tags,good"
    assert "name" in tables.render(FRAME.clear(), "table")


def test_table_when_numbers_are_small_or_round_is_readable() -> None:
    text = tables.render(pl.DataFrame({"p": [1.79e-4, 0.5, 12.0]}))
    assert "0.000179" in text
    assert "12.0" in text


def test_render_when_the_format_is_unknown_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'csv'"):
        tables.render(FRAME, "cvs")


STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202eevil\x7f"


@pytest.mark.parametrize("output", ["table", "md", "latex"])
def test_what_steers_a_terminal_is_spelt_out_in_tables(output: str) -> None:
    frame = pl.DataFrame({"name\x1b[1m": [STEERING], "list": [[STEERING]], "text": ["two\nlines\tand a tab"]})
    text = tables.render(frame, output)
    assert not set(text) & set("\x1b\x07\x9b\r\u202e\x7f")
    assert "x1b" in text and "u202eevil" in text and "x9b31m" in text
    assert "lines" in text


def test_cells_of_markdown_hold_no_html_and_end_where_they_end() -> None:
    frame = pl.DataFrame({"a|b": ["<script>|x", "two\nlines"]})
    head, _, *rows = tables.render(frame, "md").splitlines()
    assert [head, *rows] == [r"| a\|b           |", r"| &lt;script>\|x |", "| two lines      |"]


def test_json_has_null_for_what_is_no_number() -> None:
    numbers = [float("nan"), float("inf"), -float("inf"), 0.5]
    frame = pl.DataFrame({"x": numbers, "list": [numbers] * 4, "pair": [{"y": number} for number in numbers]})
    told = json.loads(tables.render(frame, "json"), parse_constant=pytest.fail)
    assert [row["x"] for row in told] == [None, None, None, 0.5]
    assert told[0]["list"] == [None, None, None, 0.5]
    assert told[1]["pair"] == {"y": None}
    lines = [json.loads(line, parse_constant=pytest.fail) for line in tables.render(frame, "jsonl").splitlines()]
    assert lines == told


def test_what_is_no_number_is_empty_for_people() -> None:
    frame = pl.DataFrame({"x": [float("nan"), 0.5], "share": [float("nan"), 0.5]})
    assert "nan" not in tables.render(frame).lower()


def test_table_when_it_is_wide_breaks_between_words_and_fits() -> None:
    frame = pl.DataFrame(
        {
            "name": ["a"] * 2,
            "summary": ["word " * 40, "short"],
            "a_long_name_of_numbers": [1, 2],
            "link": ["http://example.org/" + "x" * 40] * 2,
        }
    )
    lines = tables.render(frame).splitlines()
    assert max(map(len, lines)) <= tables.WIDTH
    assert sum(line.count("word") for line in lines) == 40
    assert sum("http://example.org/" + "x" * 40 in line for line in lines) == 2


def test_table_when_a_word_is_wider_than_the_screen_leaves_it_whole() -> None:
    iri = "http://example.org/" + "x" * 150
    assert iri in tables.render(pl.DataFrame({"iri": [iri], "text": ["many words " * 9]}))


def test_shares_are_per_cent_for_people_and_fractions_for_programs() -> None:
    frame = pl.DataFrame({"share_of_all": [0.1234, None]})
    assert "12.3 %" in tables.render(frame) and "12.3 %" in tables.render(frame, "md")
    assert json.loads(tables.render(frame, "json"))[0] == {"share_of_all": 0.1234}


def test_blocks_of_a_wide_table_fit_the_screen_and_hold_every_column_once() -> None:
    wide = pl.DataFrame({"measure": ["density"], **{f"dataset-{n}": ["0.1234 (covers 90 %)"] for n in range(30)}})
    parts = list(tables.blocks(wide, 1))
    assert [name for part in parts for name in part.columns if name != "measure"] == wide.columns[1:]
    assert all(part.columns[0] == "measure" for part in parts)
    assert max(len(line) for part in parts for line in tables.render(part).splitlines()) <= tables.WIDTH
