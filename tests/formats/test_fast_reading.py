"""What is read the short way is read as the long way would: fields, names and groups of many mentions."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from remix.formats import read
from remix.formats.identifiers import annotation_iris, group_alternatives
from remix.formats.json import fields_in
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.paths import keys_in

FIELD = st.sampled_from(["document", "begin", "start", "end", "entity", "confidence", "score", "text", "group"])
LINES = st.lists(st.dictionaries(FIELD, st.sampled_from(["a", "é", '"end"', "\\"]), max_size=4), min_size=1, max_size=9)


def escaped(name: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in name)


@given(LINES, st.integers(1, 80), st.booleans())
def test_no_field_of_any_line_is_missed(lines: list[dict[str, str]], block: int, by_number: bool) -> None:
    text = "\n".join(json.dumps(line) for line in lines)
    if by_number:
        text += f'\n{{"{escaped("option")}": "x"}}'
        lines = [*lines, {"option": "x"}]
    keys = keys_in(shipped_mapping("jsonl").shape)
    assert {name for line in lines for name in line} <= set(fields_in(text, keys, block))


def test_field_that_stands_far_down_alone_is_read(tmp_path: Path) -> None:
    # More than the first megabyte has no other fields than these.
    many = "".join(f'{{"document": "d", "begin": {n}, "end": {n + 1}, "entity": "Q1"}}\n' for n in range(25_000))
    last = f'{{"document": "d", "begin": 90000, "end": 90001, "{escaped("score")}": 0.5}}\n'
    path = tmp_path / "x.jsonl"
    path.write_text(many + last, encoding="utf-8")
    assert read(path).frames.annotations.filter(begin=90_000)["confidence"].to_list() == [0.5]


def test_numbers_in_another_spelling_are_read_beside_plain_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"document": "d", "begin": 1, "end": 2}\n{"document": "d", "begin": 3.0, "end": " 4"}\n')
    assert read(path).frames.annotations.select("begin", "end").rows() == [(1, 2), (3, 4)]


SPANS = st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2) | st.none(), st.booleans()), max_size=12)


@given(SPANS)
def test_names_and_groups_are_those_of_each_span_by_itself(rows: list[tuple[str, int | None, bool]]) -> None:
    # Of equal spans the n-th by `given` (here the last row first) is ;n; the group is the shortest name of a span.
    frame = pl.DataFrame(
        {
            "document": [document for document, _, _ in rows],
            "begin": [begin for _, begin, _ in rows],
            "end": [3 for _ in rows],
            "given": [-number for number in range(len(rows))],
            "ignorable": ["optional" if ignorable else None for _, _, ignorable in rows],
        },
        schema_overrides={"document": pl.String, "begin": pl.Int64, "ignorable": pl.String},
    )
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in ("group", "option", "layer"))
    expected = []
    for number, (document, begin, _) in enumerate(rows):
        before = sum(row[:2] == (document, begin) for row in rows[number + 1 :])
        name = f"{document}#char={'' if begin is None else begin},3"
        expected.append(f"{name};{before + 1}" if before else name)
    names = annotation_iris(frame)
    assert names.to_list() == expected
    found = group_alternatives(frame.with_columns(annotation=names))
    for row, group in zip(rows, found["group"], strict=True):
        same = [name for other, name in zip(rows, expected, strict=True) if other == row]
        assert len(group) == min(map(len, same))
        assert group in same
    assert found["option"].to_list() == expected
