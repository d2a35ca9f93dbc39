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
