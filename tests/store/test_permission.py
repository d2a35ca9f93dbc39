"""What a query from outside may do; the worker that runs it; what its answer looks like."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import NotAllowed, QueryError, StoreError, Timeout, UnknownName, UsageError
from remix.names import HFTS, HFTS_OLD
from remix.store import Store
from remix.store.answers import Result, answer
from remix.store.permission import permit
from remix.store.queries import Query, find
from remix.store.running import Request
from remix.store.worker import TooLarge, ask
from tests.workspaces import index_of

ALLOWED = "http://a.org/sparql"
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


def test_query_without_service_is_run_as_it_stands() -> None:
    text = "SELECT * { ?s ?p ?o } # all"
    assert permit(text) == text


def test_allowed_service_is_run_and_another_beside_it_refused() -> None:
    one = f"SELECT * {{ SERVICE <{ALLOWED}> {{ ?s ?p ?o }} }}"
    assert f"SERVICE <{ALLOWED}>" in permit(one, allow_services=[ALLOWED])
    two = one.replace("SELECT * {", "SELECT * { SERVICE SILENT <http://b.org/> { ?a ?b ?c }")
    with pytest.raises(NotAllowed, match="http://b.org/"):
        permit(two, allow_services=[ALLOWED])


def test_service_variable_is_replaced_by_its_one_value() -> None:
    text = f"SELECT * {{ VALUES ?e {{ <{ALLOWED}> }} SERVICE ?e {{ ?s ?p ?o }} }}"
    assert f"SERVICE <{ALLOWED}>" in permit(text, allow_services=[ALLOWED])
    with pytest.raises(NotAllowed):
        permit(text)


@pytest.mark.parametrize("binding", ["?x <urn:page> ?e .", f"VALUES ?e {{ <{ALLOWED}> <http://b.org/> }}", ""])
def test_service_variable_without_one_value_is_refused(binding: str) -> None:
    with pytest.raises(QueryError, match=r"needs one line VALUES \?e"):
        permit(f"SELECT * {{ {binding} SERVICE ?e {{ ?s ?p ?o }} }}", allow_services=[ALLOWED, "http://b.org/"])


def test_escaped_keyword_and_unreadable_text_with_the_word_are_refused() -> None:
    for text in ("SELECT * { \\u0053ERVICE <http://b.org/> {} }", "SELECT * { # service\n ?s ?p"):
        with pytest.raises(QueryError):
            permit(text)


def test_word_in_comment_or_string_is_no_service() -> None:
    text = permit('SELECT * { ?s ?p "service" } # service')
    assert index_of({"urn:g": b'<urn:s> <urn:p> "service" .'}).frame(text).height == 1


def test_syntax_error_names_file_line_and_column() -> None:
    with pytest.raises(QueryError, match=r"^q\.rq:2:2: "):
        permit("SELECT * { ?s ?p \n }", name="q.rq")
    with pytest.raises(QueryError, match=r"^q\.rq:1:18: prefix 'foo:' is not declared"):
        permit("SELECT ?s { ?s a foo:Bar }", name="q.rq")


def test_from_must_name_a_graph_of_the_store() -> None:
    text = "SELECT * FROM <urn:remix:dataset:news> FROM NAMED <http://b.org/x.ttl> { ?s ?p ?o }"
    with pytest.raises(QueryError, match="FROM <http://b.org/x.ttl>"):
        permit(text, graphs=["urn:remix:dataset:news"])
    assert permit(text, graphs=["urn:remix:dataset:news", "http://b.org/x.ttl"]) == text


def test_well_known_prefixes_and_both_hfts_namespaces_are_understood() -> None:
    index = index_of({"urn:g": f'<urn:d> <{HFTS}notAnnotated> "0.5" .'.encode()})
    for text in (
        "SELECT * { ?d hfts:notAnnotated ?n }",
        "SELECT * { ?d hfts:notAnnotatedProperty ?n }",
        f"PREFIX h: <{HFTS_OLD}> SELECT * {{ ?d h:notAnnotatedProperty ?n }}",
        f"SELECT * {{ ?d <{HFTS_OLD}notAnnotated> ?n }}",
    ):
        assert index.frame(text)["d"].to_list() == ["<urn:d>"], text
    # A query's own meaning of a well-known prefix holds.
    assert index.frame("PREFIX hfts: <urn:other:> SELECT * { ?d hfts:notAnnotated ?n }").is_empty()


@pytest.mark.long
def test_worker_is_killed_after_the_time_limit(small_store: Store) -> None:
    with pytest.raises(Timeout, match=r"ran longer than 0\.4 s"):
        ask(small_store.index().path, Request(SLOW, timeout=0.4))


@pytest.mark.long
def test_worker_that_needs_too_much_memory_ends_in_one_line(small_store: Store) -> None:
    # Every triple with every other, all of which DISTINCT must remember, and none of which is written out before.
    text = "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } }"
    with pytest.raises(StoreError, match=r"memory|failed"):
        ask(small_store.index().path, Request(text, memory=220 << 20))


def test_worker_stops_at_the_largest_result(small_store: Store) -> None:
    with pytest.raises(TooLarge, match="larger than 1,000 bytes"):
        ask(small_store.index().path, Request("CONSTRUCT WHERE { ?s ?p ?o }", largest=1000))


def test_worker_that_cannot_open_the_index_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nothing cannot be opened \(No such file or directory\): `remix rebuild`"):
        ask(tmp_path / "nothing", Request("ASK {}"))


def test_answer_is_a_table_with_typed_columns(small_store: Store) -> None:
    text = 'SELECT * { VALUES (?a ?b ?c ?d ?e) { (1 1 true <urn:x> "t") (2 0.5 false 7 UNDEF) } }'
    result = answer(small_store, Query.parse(text))
    assert result.kind == "table"
    frame = result.table.sort("a")
    assert frame.schema == {"a": pl.Int64, "b": pl.Float64, "c": pl.Boolean, "d": pl.String, "e": pl.String}
    assert frame.row(1) == (2, 0.5, False, "7", None)


def test_answer_without_solutions_keeps_its_columns(small_store: Store) -> None:
    result = answer(small_store, Query.parse("SELECT ?x ?y { ?x <urn:none> ?y }"))
    assert result.table.columns == ["x", "y"] and result.table.is_empty()


def test_answer_of_ask_is_yes_or_no(small_store: Store) -> None:
    result = answer(small_store, Query.parse("ASK { ?s a nif:Phrase }"))
    assert (result.kind, result.table["answer"].to_list()) == ("boolean", [True])


@pytest.mark.long
def test_answer_graph_is_the_same_rewritten_or_not_in_all_formats(small_store: Store) -> None:
    query = find("basic")
    fast, direct = answer(small_store, query), answer(small_store, query, rewrite=False)
    assert fast.triples == direct.triples != ()
    assert list(fast.triples) == sorted(set(fast.triples))
    assert fast.rewritten.startswith("SELECT DISTINCT") and direct.rewritten.startswith("#+")
    for output, form in (("ttl", ox.RdfFormat.TURTLE), ("jsonld", ox.RdfFormat.JSON_LD)):
        read = {f"{quad.triple} .".encode() for quad in ox.parse(fast.graph(output), form)}
        assert read == set(fast.triples)
        assert fast.graph(output) == direct.graph(output)
    with pytest.raises(UsageError, match="no output format 'tttl' of a graph; did you mean 'ttl'"):
        fast.graph("tttl")


@pytest.mark.long
def test_answer_says_that_a_template_variable_is_never_bound(small_store: Store) -> None:
    query = Query.parse("CONSTRUCT { ?d ?p ?object } WHERE { ?d nif:isString ?text ; ?p ?objekt }")
    for rewrite in (True, False):
        result = answer(small_store, query, rewrite=rewrite)
        assert result.triples == ()
        said = "?object in the template is never bound by the pattern, so those triples are left out"
        assert result.notes == (f"{said}; did you mean ?objekt?",)


def test_answer_on_unreachable_endpoint_is_one_line(small_store: Store) -> None:
    with pytest.raises(StoreError, match="http://127.0.0.1:9/sparql cannot be reached"):
        answer(small_store, Query.parse("ASK {}"), endpoint="http://127.0.0.1:9/sparql")
    with pytest.raises(UsageError, match="no address of an endpoint"):
        answer(small_store, Query.parse("ASK {}"), endpoint="file:///etc/passwd")


def test_answer_with_unknown_parameter_names_the_nearest(small_store: Store) -> None:
    with pytest.raises(UnknownName, match="did you mean 'min_recall'"):
        answer(small_store, find("basic"), values={"min_recal": 1})


def test_empty_graph_is_empty_in_all_formats() -> None:
    assert Result("graph", pl.DataFrame()).graph("nt") == b""
