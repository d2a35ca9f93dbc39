"""What a query answers as a table: a column of one type where its terms allow that, and text where they do not."""

from __future__ import annotations

import polars as pl
import pytest

from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query

BIG = "92233720368547758080"

COLUMNS = {
    "whole": (["1", "-2", "UNDEF"], [1, -2, None], pl.Int64),
    "number": (["1", "0.5", "1e3"], [1.0, 0.5, 1000.0], pl.Float64),
    "large": (["1", BIG, "UNDEF"], [1.0, float(BIG), None], pl.Float64),
    "edge": (
        ["1e400", "'-INF'^^xsd:double", "'NaN'^^xsd:double"],
        [float("inf"), -float("inf"), float("nan")],
        pl.Float64,
    ),
    "truth": (["true", "false", "UNDEF"], [True, False, None], pl.Boolean),
    "text": (["<urn:a>", r"'a\n\"b\\'@en", "'<urn:b>'"], ["urn:a", 'a\n"b\\', "<urn:b>"], pl.String),
    "mixed": (["1", "true", "'x'^^<urn:kind>"], ["1", "true", "x"], pl.String),
    "wrong": (["'many'^^xsd:integer", "2", "UNDEF"], ["many", "2", None], pl.String),
    "blank": (["' 5 '^^xsd:integer", "6", "UNDEF"], [5, 6, None], pl.Int64),
    "noncharacters": (["'\\uFFFE\\uFFFF'", r"'\\uFFFE'", "UNDEF"], ["\ufffe\uffff", r"\uFFFE", None], pl.String),
    "unbound": (["UNDEF", "UNDEF", "UNDEF"], [None, None, None], pl.String),
}


def test_column_of_an_answer_has_the_type_of_its_terms(small_store: Store) -> None:
    names = " ".join(f"?{name}" for name in COLUMNS)
    rows = " ".join(f"({' '.join(row)})" for row in zip(*(terms for terms, _, _ in COLUMNS.values()), strict=True))
    found = answer(small_store, Query.parse(f"SELECT {names} {{ VALUES ({names}) {{ {rows} }} }}"), iris=True)
    assert found.table.schema == {name: kind for name, (_, _, kind) in COLUMNS.items()}
    for name, (_, values, _) in COLUMNS.items():
        assert str(found.table[name].to_list()) == str(values), name
    assert {name: iris for name, iris in found.iris.items() if iris} == {"text": {"urn:a"}}


@pytest.mark.parametrize("third", ["<urn:c>", "'x'@en", "true", "1"])
def test_triple_in_an_answer_is_text_and_no_iri(small_store: Store, third: str) -> None:
    query = Query.parse(f"SELECT (TRIPLE(<urn:a>, <urn:b>, {third}) AS ?triple) {{}}")
    found = answer(small_store, query, iris=True)
    assert found.table["triple"].item().startswith("<urn:a> <urn:b> ")
    assert not any(found.iris.values())
