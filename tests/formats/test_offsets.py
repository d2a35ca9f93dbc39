"""Offsets are told by the anchor, whatever a file counts in."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.formats.offsets import check_offsets, cut_spans

SCHEMA = {
    "text": pl.String,
    "anchor": pl.String,
    "begin": pl.Int64,
    "end": pl.Int64,
    "iri_begin": pl.Int64,
    "iri_end": pl.Int64,
}
Row = tuple[str | None, str | None, int | None, int | None, int | None, int | None]


def one(*row: object) -> tuple[object, ...]:
    full = (*row, None, None)[:6]
    result = check_offsets(pl.DataFrame([full], schema=SCHEMA, orient="row").with_columns(document=pl.lit("d")))
    assert result.height == 1
    return result.select("begin", "end", "kind", "reason").row(0)


@pytest.mark.parametrize(
    ("row", "result"),
    [
        (("Rome is old", "Rome", 0, 4), (0, 4, None, None)),
        # 'ö' is two bytes, so 'Völler' ends at byte 7.
        (("Völler ran", "Völler", 0, 7), (0, 6, "offset", "counted in UTF-8 bytes")),
        # The face is one code point and two UTF-16 units: 'Rome' stands at 2, in units at 3.
        (("😀 Rome", "Rome", 3, 7), (2, 6, "offset", "counted in UTF-16 units")),
        (("Rome is Rome", "Rome", 0, 3), (0, 4, "offset", "the end was the last character")),
        (("in Rome", "Rome", 4, 7), (3, 7, "offset", "counted from 1")),
        (("Basel, Switzerland", "Basel, Switzerland", 0, 5), (0, 18, "offset", "the end did not fit the anchor")),
        (("say Paris", "Paris", 6, 11, 4, 9), (4, 9, "offset", "taken from the IRI")),
        (("say Paris", "Paris", None, None, 4, 9), (4, 9, "offset", "taken from the IRI")),
        # Shifted by 3, and by 4 beyond the end of the text.
        (("ab Rome", "Rome", 0, 4), (3, 7, "offset", "found nearby")),
        (("ab x Rome", "Rome", 9, 13), (5, 9, "offset", "found nearby")),
        # 0 is two characters away from 2, 5 is three.
        (("Rome Rome", "Rome", 2, 6), (0, 4, "offset", "found nearby")),
        (("lecturer at", "lecturer ", 0, 8), (0, 8, "anchor", "differs in outer white space")),
        (("a language", "Language", 2, 10), (2, 10, "anchor", "differs in case")),
        (("a set of things", "setOfThings", 2, 15), (2, 15, "anchor", "is not near these offsets")),
        (("abc", None, 1, 2), (1, 2, None, None)),
        (("abc", None, 1, 9), (1, 9, "range", "lies outside the text")),
        (("abc", "zz", -5, 1), (-5, 1, "range", "begins before the text, whose first character is 0")),
        ((None, "Rome", 0, 9), (0, 9, None, None)),
        # The text has the accent as a character of its own (5 for 4), and the file counts as if it had not.
        (("Cafe\u0301 Flore", "Café", 0, 4), (0, 5, "offset", "counted in composed letters")),
        (("Cafe\u0301 Flore", "Flore", 5, 10), (6, 11, "offset", "counted in composed letters")),
        # Ǻ is one character, two bytes, and a letter with two accents.
        (("Ǻb Flore", "Flore", 5, 10), (3, 8, "offset", "counted in letters and their accents")),
        (("Café Flore", "Cafe\u0301", 0, 4), (0, 4, "anchor", "differs in its Unicode normal form")),
        (("in Rome", "", 3, 7), (3, 7, "anchor", "is empty")),
        (("Rome", "", 0, 4), (0, 4, "anchor", "is empty")),
        (("Rome", "", -5, 4), (-5, 4, "range", "begins before the text, whose first character is 0")),
        (("\ufeffRome\r\n", "Rome", 1, 5), (1, 5, None, None)),
        # Offsets as far away as numbers go are bad ones, not ones that wrap around to something near.
        (
            ("in Rome", "Rome", -(2**63), 7),
            (-(2**63), 7, "range", "begins before the text, whose first character is 0"),
        ),
        (("in Rome", "Rome", 2**63 - 1, 7), (2**63 - 1, 7, "range", "lies outside the text")),
    ],
)
def test_checked_when_one_annotation_then_offsets_and_reason(
    row: tuple[object, ...], result: tuple[object, ...]
) -> None:
    assert one(*row) == result


texts = st.text(alphabet="aböß€ \u00a0\ufeff😀𝔸", min_size=3, max_size=40)


@given(texts, st.data())
def test_checked_when_offsets_are_code_points_then_they_stay(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    assert one(text, text[begin:end], begin, end)[:3] == (begin, end, None)


@given(texts, st.sampled_from(["utf-8", "utf-16-le"]), st.data())
def test_checked_when_counted_in_units_then_the_anchor_is_found_there(
    text: str, encoding: str, data: st.DataObject
) -> None:
    # The mention holds a letter that the text has nowhere else, so that only one place fits.
    position = data.draw(st.integers(0, len(text)))
    whole = text[:position] + "Zürich" + text[position:]
    size = 2 if encoding == "utf-16-le" else 1
    begin = len(whole[:position].encode(encoding)) // size
    end = begin + len("Zürich".encode(encoding)) // size
    found_begin, found_end, *_ = one(whole, "Zürich", begin, end)
    assert (found_begin, found_end) == (position, position + 6)


@given(texts, st.integers(-32, 32), st.data())
def test_checked_when_shifted_then_the_only_place_is_found(text: str, shift: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    whole = text[:position] + "Zürich" + text[position:]
    begin = max(0, position + shift)
    found_begin, found_end, *_ = one(whole, "Zürich", begin, begin + 6)
    assert (found_begin, found_end) == (position, position + 6)


@given(
    st.lists(st.text(st.sampled_from("aé€😀\u0301"), max_size=6), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 7), st.integers(-1, 7)), max_size=8),
)
def test_spans_are_cut_out_of_several_texts_as_slices_are(
    written: list[str], spans: list[tuple[int, int, int]]
) -> None:
    chosen = [(n % len(written), begin, end) for n, begin, end in spans]
    rows = pl.DataFrame(chosen, schema=dict.fromkeys(["n", "begin", "end"], pl.Int64), orient="row")
    rows = rows.with_columns(text=pl.Series([written[n] for n, *_ in chosen], dtype=pl.String))
    expected = [written[n][begin:end] if 0 <= begin <= end <= len(written[n]) else None for n, begin, end in chosen]
    assert cut_spans(rows, "n").to_list() == expected


MANY = """
import resource, polars as pl
from remix.formats.offsets import check_offsets

# Each part has 22 characters, of which the face is two UTF-16 units, which is what the offsets count.
count, places = 20_000, range(0, 20_000, 20)
rows = pl.DataFrame({"begin": [23 * n + 9 for n in places], "anchor": [f"Ada{n:05}" for n in places], "document": "d"})
rows = rows.with_columns(
    end=pl.col("begin") + 8, text=pl.lit("".join(f"\U0001f600 ipsum Ada{n:05} met \xe9" for n in range(count))),
    iri_begin=pl.lit(None, pl.Int64), iri_end=pl.lit(None, pl.Int64),
)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = check_offsets(rows)
assert set(found["reason"]) == {"counted in UTF-16 units"}, found
assert found["begin"].sort().to_list() == [22 * n + 8 for n in places]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.long
def test_offsets_of_many_annotations_are_repaired_without_a_copy_of_the_text_for_each() -> None:
    # 1,000 annotations of a text of 0.5 MB: copies of it would take 500 MB.
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150_000, f"{done.stdout} kB"
