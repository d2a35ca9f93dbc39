"""Broken bytes, prefixes, dots and IRIs are mended, counted, and nothing else is touched."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.formats.nif.mending import add_dots, declare_prefix, mend_iri, mend_iris
from remix.formats.repairs import RepairTally, decode


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_decoded_when_utf8_then_nothing_changes(text: str) -> None:
    tally = RepairTally()
    data = text.encode()
    assert decode(data, tally) == text.removeprefix("\ufeff")
    assert not tally.counts


@given(st.lists(st.sampled_from(["Müller", "’quoted’", "plain", "€ 5"]), min_size=1))
def test_decoded_when_windows_1252_then_the_text_comes_back(lines: list[str]) -> None:
    text = "\n".join(lines)
    tally = RepairTally()
    assert decode(text.encode("cp1252"), tally) == text
    assert tally.counts["encoding"] == sum(not line.isascii() for line in lines)


def test_decoded_when_utf16_then_the_text_comes_back() -> None:
    tally = RepairTally()
    assert decode("é 😀".encode("utf-16"), tally) == "é 😀"
    assert tally.counts["encoding"] == 1


@given(st.text(alphabet=st.sampled_from('ab#% <>"{}|^`\\\ufffd\n/é😀'), max_size=30))
def test_mended_iri_when_anything_then_the_parser_takes_it_and_mending_again_changes_nothing(tail: str) -> None:
    mended = mend_iri(f"http://example.org/{tail}")
    triple = f"<{mended}> <http://example.org/p> <http://example.org/o> .".encode()
    assert len(list(ox.parse(triple, format=ox.RdfFormat.N_TRIPLES))) == 1
    assert mend_iri(mended) == mended


@pytest.mark.parametrize(
    ("given_iri", "mended"),
    [
        (" http://x/a ", "http://x/a"),
        ("http://x/a b", "http://x/a%20b"),
        ("http://x/T\ufffdm", "http://x/T%EF%BF%BDm"),
        ("http://x/a#1#2", "http://x/a#1%232"),
        ("http://x/Jos\\u00e9", "http://x/Jos\\u00e9"),
        ("http://x/a\\u0020b", "http://x/a%20b"),
        ('http://x/"q"', "http://x/%22q%22"),
        ("http://x/Köln#char=0,4", "http://x/Köln#char=0,4"),
    ],
)
def test_mended_iri_when_given_then_only_what_is_illegal_changes(given_iri: str, mended: str) -> None:
    assert mend_iri(given_iri) == mended


def test_with_iris_when_brackets_stand_in_strings_and_comments_then_these_stay() -> None:
    text = '<http://x/a> <http://x/p> """a < b c > d \\" """, \'< e >\' . # < f >\n<http://x/b c> <http://x/p> \'z\' .'
    tally = RepairTally()
    assert mend_iris(text, tally) == text.replace("<http://x/b c>", "<http://x/b%20c>")
    assert tally.counts == {"invalid-iri": 1}
    assert tally.examples["invalid-iri"] == "line 2: <http://x/b c>"


def test_with_dots_when_a_comment_follows_then_the_dot_comes_before_it() -> None:
    tally = RepairTally()
    assert add_dots("@prefix a: <http://a/> # of a\n", tally) == "@prefix a: <http://a/> . # of a\n"
    assert tally.counts["missing-dot"] == 1


def test_with_dots_when_the_dot_stands_on_the_next_line_then_none_is_added() -> None:
    tally = RepairTally()
    text = "@prefix a: <http://a/>\n  .\n@prefix b: <http://b/>\r\n<http://x> a a:X ."
    assert add_dots(text, tally) == text.replace("<http://b/>", "<http://b/> .")
    assert tally.counts == {"missing-dot": 1}


def test_with_prefix_when_it_is_not_well_known_then_there_is_none() -> None:
    assert declare_prefix("x", "nobody-knows") is None
    declared = declare_prefix("nif:x", "nif")
    assert declared is not None and declared.count("\n") == 0
