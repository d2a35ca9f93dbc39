"""Canonical entities: spellings that mean the same become equal, those that do not stay apart."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix import iris
from remix.iris import canonical, canonical_iri, is_nil

DBR = "http://dbpedia.org/resource/"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://dbpedia.org/resource/Berlin", DBR + "Berlin"),
        ("https://dbpedia.org/page/Berlin", DBR + "Berlin"),
        ("http://en.dbpedia.org/resource/Berlin", DBR + "Berlin"),
        ("http://www.dbpedia.org/resource/berlin", DBR + "Berlin"),
        ("https://en.wikipedia.org/wiki/Berlin", DBR + "Berlin"),
        ("https://en.m.wikipedia.org/wiki/Berlin", DBR + "Berlin"),
        ("http://wikipedia.org/wiki/Berlin", DBR + "Berlin"),
        (" https://en.wikipedia.org/wiki/New York City ", DBR + "New_York_City"),
        ("http://dbpedia.org/resource/Caf%C3%A9", DBR + "Café"),
        ("http://dbpedia.org/resource/Cafe\u0301", DBR + "Café"),
        ("http://dbpedia.org/resource/100%25_(film)", DBR + "100%25_(film)"),
        ("http://dbpedia.org/resource/AC%2FDC", DBR + "AC/DC"),
        ("http://dbpedia.org/resource/%22Heroes%22", DBR + "%22Heroes%22"),
        ('http://dbpedia.org/resource/"Heroes"', DBR + "%22Heroes%22"),
        ("http://de.dbpedia.org/resource/K%C3%B6ln", "http://de.dbpedia.org/resource/Köln"),
        ("https://de.wikipedia.org/wiki/Köln", "http://de.dbpedia.org/resource/Köln"),
        ("https://www.wikidata.org/wiki/Q64", "http://www.wikidata.org/entity/Q64"),
        ("http://wikidata.org/entity/Q64", "http://www.wikidata.org/entity/Q64"),
        ("http://www.wikidata.org/resource/Q64", "http://www.wikidata.org/entity/Q64"),
        ("http://yago-knowledge.org/resource/berlin", "http://yago-knowledge.org/resource/berlin"),
    ],
)
def test_canonical_when_spelt_differently_is_one_iri(given: str, expected: str) -> None:
    assert canonical_iri(given) == expected


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=6))
def test_canonical_when_applied_twice_changes_nothing(titles: list[str]) -> None:
    once = canonical(pl.Series([DBR + t for t in titles], dtype=pl.String))
    assert canonical(once).to_list() == once.to_list()


def test_canonical_when_a_column_has_nulls_keeps_rows_and_order() -> None:
    column = pl.Series("entity", ["https://en.wikipedia.org/wiki/A", None, "x"])
    assert canonical(column).to_list() == [DBR + "A", None, "x"]


@pytest.mark.parametrize(
    ("link", "nil"),
    [
        ("http://aksw.org/notInWiki/Somebody", True),
        ("https://en.wikipedia.org/wiki/NotInLexico", True),
        ("http://scms.eu/Foo", True),
        ("<NIL>", True),
        ("Unknown12", True),
        ("--NME--", True),
        ("", True),
        ("*", True),
        ("http://dbpedia.org/resource/Nil", False),
        ("http://dbpedia.org/resource/Unknown", False),
        ("http://www.wikidata.org/entity/Q1", False),
        ("http://www.ontologydesignpatterns.org/data/oke-challenge/task-1/Nile", False),
    ],
)
def test_is_nil_when_spelt_as_in_the_wild(link: str, nil: bool) -> None:
    assert pl.DataFrame({"x": [link]}).select(is_nil(pl.col("x"))).item() is nil


def test_canonical_iris_are_told_by_their_pattern_without_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    # The letters of the pattern and some beyond as the first, the last and an inner one of a title.
    codes = [*range(1, 0x3100), *range(0x4E00, 0xA000, 97), *range(0xAC00, 0xD800, 97), *range(0xF900, 0x10000)]
    letters = pl.Series([chr(code) for code in codes])
    titles = pl.concat([letters, "A" + letters, letters + "b", "A" + letters + "b"])
    given = "http://de.dbpedia.org/resource/" + titles
    known = given.filter(given.str.contains(iris._CANONICAL))
    assert known.len() > 4_000
    known = pl.concat(
        [known, pl.Series(["http://dbpedia.org/resource/%22A%25%22", "http://dbpedia.org/resource/%7BA%7D"])]
    )
    assert known.str.contains(iris._CANONICAL).all()
    monkeypatch.setattr(iris, "_CANONICAL", "^never matches$")
    assert canonical(known).equals(known)


def test_letters_of_the_pattern_compose_with_none_of_each_other() -> None:
    # Canonical decompositions into two letters; those of Hangul are by rule, with a final consonant as the second.
    given = [unicodedata.normalize("NFD", chr(code)) for code in range(0x80, 0x30000) if not 0xAC00 <= code < 0xE000]
    pairs = [one for one in given if len(one) == 2 and len(unicodedata.normalize("NFC", one)) == 1]
    assert len(pairs) > 700
    assert not pl.Series(pairs).str.contains(f"^[{iris._LAST}]+$").any()
    assert not pl.Series([chr(code) for code in range(0x11A8, 0x11C3)]).str.contains(f"[{iris._LAST}]").any()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    f"http://{host}.org/{path}/"
                    for host in ("dbpedia", "de.dbpedia", "en.wikipedia", "www.wikidata")
                    for path in ("resource", "wiki", "entity")
                ]
            ),
            st.text(st.sampled_from("Qaé0_% 2C3A9/:(\u0301") | st.characters(exclude_categories=["Cs"]), max_size=9),
        ).map("".join)
    )
)
def test_pattern_changes_no_canonical_form(given: list[str]) -> None:
    column = pl.Series(given, dtype=pl.String)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(iris, "_CANONICAL", "^never matches$")
        expected = canonical(column)
    assert canonical(column).equals(expected)
    # Runs of encoded letters are decoded as the title that holds them would be.
    titles = column.filter(column.str.contains("^http://dbpedia.org/resource/.") & column.str.contains("%"))
    plain = [unicodedata.normalize("NFC", "%25".join(unquote(part) for part in one.split("%25"))) for one in titles]
    assert iris._decode(titles).to_list() == plain
