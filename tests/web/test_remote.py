"""Another endpoint in the place of the workspace: the same queries, the same rewrite, the same answers."""

from __future__ import annotations

import pytest

from remix.errors import QueryError, StoreError
from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query, find


def test_table_and_boolean_of_endpoint_are_those_of_the_store(address: str, small_store: Store) -> None:
    query = Query.parse("SELECT ?d (COUNT(?a) AS ?n) { ?a nif:referenceContext ?d } GROUP BY ?d ORDER BY ?d")
    assert answer(small_store, query, endpoint=address).table.equals(answer(small_store, query).table)
    asked = answer(small_store, Query.parse("ASK { ?s a nif:Phrase }"), endpoint=address)
    assert asked.table["answer"].to_list() == [True]


@pytest.mark.parametrize("rewrite", [True, False])
def test_graph_of_endpoint_is_that_of_the_store(address: str, small_store: Store, rewrite: bool) -> None:
    query = find("basic")
    remote = answer(small_store, query, endpoint=address, rewrite=rewrite)
    assert remote.triples == answer(small_store, query).triples != ()


def test_refusal_of_endpoint_is_one_line(address: str, small_store: Store) -> None:
    with pytest.raises(QueryError, match="FROM <urn:nowhere>"):
        answer(small_store, Query.parse("SELECT * FROM <urn:nowhere> { ?s ?p ?o }"), endpoint=address)
    with pytest.raises(StoreError, match="elsewhere answered 404 Not Found"):
        answer(small_store, Query.parse("ASK {}"), endpoint=f"{address}/elsewhere")
