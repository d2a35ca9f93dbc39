"""Another endpoint in the place of the index: all of its answer, or an error that says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from remix.errors import QueryError, StoreError, Timeout, UsageError
from remix.store.endpoint import Endpoint
from remix.store.index import Index
from tests.kb.sources import endpoints
from tests.kb.sources.endpoints import Behaviour, announced, endpoint, status

# 40 things in four groups of ten, each with a number and with a text in two languages.
TURTLE = "\n".join(
    f'<urn:s{n:02}> <urn:in> <urn:g{n % 4}> ; <urn:n> {n} ; <urn:text> "text \\"{n % 8}\\"\\n"@en , "texte {n % 8}" .'
    for n in range(40)
)


@pytest.fixture(scope="module")
def server() -> Iterator[endpoints.Endpoint]:
    with endpoint(TURTLE) as server:
        yield server


@pytest.fixture(autouse=True)
def reset(server: endpoints.Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_RATE", "10000")
    monkeypatch.setenv("REMIX_ENDPOINT_TRIES", "1")
    server.cap, server.behaviours = None, []
    server.asked.clear()


@pytest.fixture(scope="module")
def index() -> Index:
    """The same triples in an index of our own."""
    made = Index(None)
    made._store.load(TURTLE.encode(), endpoints.ox.RdfFormat.TURTLE)
    return made


JSON = "application/sparql-results+json"
QUERIES = [
    "SELECT ?s ?n { ?s <urn:n> ?n }",
    "SELECT * { ?s <urn:n> ?n }",
    "SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY DESC(?n)",
    "SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY DESC(?n) LIMIT 20 OFFSET 5",
    "SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY ?n OFFSET 35",
    "SELECT ?s { ?s <urn:n> ?n } ORDER BY ?s LIMIT 3",
    "SELECT ?text { ?s <urn:text> ?text }",
    "SELECT DISTINCT ?text { ?s <urn:text> ?text }",
    "SELECT ?s (COUNT(?text) AS ?many) { ?s <urn:text> ?text } GROUP BY ?s HAVING (COUNT(?text) > 1)",
    "SELECT ?s ?more { ?s <urn:n> ?n OPTIONAL { ?s <urn:in> ?more FILTER(?n < 20) } }",
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?s { ?s <urn:n> 99 }",
]


@pytest.mark.parametrize("cap", [None, 7])
@pytest.mark.parametrize("query", QUERIES)
def test_answer_that_an_endpoint_cuts_comes_whole(
    server: endpoints.Endpoint, index: Index, query: str, cap: int | None
) -> None:
    server.cap = cap
    found, right = Endpoint(server.address).frame(query), index.frame(query)
    assert found.columns == right.columns
    if "ORDER BY" in query:
        assert found.rows() == right.rows()
    assert sorted(map(str, found.rows())) == sorted(map(str, right.rows()))


@pytest.mark.parametrize("cut", [announced(7), endpoints.part, status(500, b"Virtuoso 22023 Error SR353: Sorted TOP")])
def test_answer_whose_cut_is_announced_is_read_in_pages(
    server: endpoints.Endpoint, index: Index, cut: Behaviour
) -> None:
    server.behaviours = [endpoints.answer, cut]  # the first tells how many rows there are at most
    query = "SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY DESC(?n)"
    assert Endpoint(server.address).frame(query).rows() == index.frame(query).rows()
    assert [re.findall("COUNT|OFFSET", one) for one in server.asked] == [[], [], ["COUNT"], ["OFFSET"], ["COUNT"]]
    assert "ORDER BY DESC(?n) ?s ?n }" in " ".join(server.asked[3].split())  # the query's own, then all there is


def test_answer_beyond_the_last_row_is_empty_where_it_is_read_in_pages(server: endpoints.Endpoint) -> None:
    """Virtuoso refuses to sort for an OFFSET above 10,000 even where there are fewer rows."""
    server.behaviours = [endpoints.answer, status(500, b"Virtuoso 22023 Error SR353: Sorted TOP")]
    found = Endpoint(server.address).frame("SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY ?n OFFSET 10000")
    assert found.columns == ["s", "n"] and found.is_empty()


def test_page_that_takes_too_long_is_asked_for_half_the_rows(server: endpoints.Endpoint) -> None:
    server.behaviours = [endpoints.answer, endpoints.part, endpoints.answer, endpoints.part]
    assert Endpoint(server.address).frame("SELECT ?s ?p ?o { ?s ?p ?o }").height == 160
    assert re.findall(r"LIMIT (\d+) OFFSET (\d+)", "".join(server.asked)) == [("160", "0"), ("80", "0"), ("80", "80")]


@pytest.mark.parametrize("cap", [None, 7])
@pytest.mark.parametrize(
    "query",
    [
        "CONSTRUCT { ?s <urn:is> ?n . ?g <urn:has> ?s } WHERE { ?s <urn:n> ?n ; <urn:in> ?g }",
        "CONSTRUCT { ?s <urn:is> ?n } WHERE { ?s <urn:n> ?n } ORDER BY ?n LIMIT 20",
        "CONSTRUCT { ?s <urn:is> 3 } WHERE { ?s <urn:n> ?n OPTIONAL { ?s <urn:none> ?n } }",
        "CONSTRUCT WHERE { ?s <urn:n> ?n }",
        "CONSTRUCT { ?s <urn:is> ?never . ?n <urn:of> ?s . ?s ?n ?n } WHERE { ?s <urn:n> ?n }",
    ],
)
def test_graph_that_an_endpoint_cuts_comes_whole(
    server: endpoints.Endpoint, index: Index, query: str, cap: int | None
) -> None:
    server.cap = cap
    assert sorted(Endpoint(server.address).triples(query)) == sorted(index.triples(query))


def test_blank_node_of_a_template_is_another_one_for_each_solution(server: endpoints.Endpoint) -> None:
    server.cap = 7
    lines = Endpoint(server.address).triples("CONSTRUCT { _:x <urn:of> ?g } WHERE { ?s <urn:in> ?g }")
    assert len({line.split()[0] for line in lines}) == 40
    assert len({line.split()[2] for line in lines}) == 4


def test_yes_and_no_are_those_of_the_endpoint(server: endpoints.Endpoint) -> None:
    table = b'{"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": [%s]}}'  # as Virtuoso 7 answers
    row = b'{"__ASK_RETVAL": {"type": "typed-literal", "value": "1"}}'
    asked = Endpoint(server.address)
    assert [asked.is_true(f"ASK {{ ?s <urn:n> {n} }}") for n in (39, 40)] == [True, False]
    server.behaviours = [status(200, table % row, JSON), status(200, table % b"", JSON)]
    assert [asked.is_true("ASK {}"), asked.is_true("ASK {}")] == [True, False]


@pytest.mark.long
def test_triples_of_many_subjects_come_whole(server: endpoints.Endpoint, index: Index) -> None:
    server.cap = 7
    subjects = index.frame("SELECT DISTINCT ?s { ?s ?p ?o }")["s"]
    assert sorted(Endpoint(server.address).about(subjects).rows()) == sorted(index.about(subjects).rows())


def test_order_that_changes_between_pages_is_an_error(
    server: endpoints.Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.cap = 30
    whole = server.result

    def turned(query: str) -> bytes:
        """The second page begins again: as many rows as there are, and not all of them."""
        return whole(query.replace("OFFSET 30", "OFFSET 0"))

    monkeypatch.setattr(server, "result", turned)
    with pytest.raises(StoreError, match="counts 40 different rows and gave 30 of them"):
        Endpoint(server.address).frame("SELECT ?s ?n { ?s <urn:n> ?n }")


def test_pages_with_fewer_rows_than_are_counted_are_an_error(
    server: endpoints.Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.cap = 30
    whole = server.result
    monkeypatch.setattr(server, "result", lambda query: whole(query.replace("OFFSET 30", "OFFSET 40")))
    with pytest.raises(StoreError, match=rf"{re.escape(server.address)} counts 40 rows and gave 30 of them.*ask again"):
        Endpoint(server.address).frame("SELECT ?s ?n { ?s <urn:n> ?n }")


def test_blank_nodes_in_pages_are_an_error() -> None:
    with endpoint("\n".join(f"[] <urn:n> {n} ." for n in range(9))) as server:
        server.cap = 5
        with pytest.raises(StoreError, match="blank nodes, which two pages may call alike: leave their variables out"):
            Endpoint(server.address).frame("SELECT ?s { ?s <urn:n> ?n }")
        assert Endpoint(server.address).frame("SELECT ?s { ?s <urn:n> ?n } LIMIT 3").height == 3


@pytest.mark.parametrize(
    "query", ["DESCRIBE <urn:s1>", "CONSTRUCT { ?s <urn:is> ?x } { ?s <urn:n> ?n BIND(RAND() AS ?x) }"]
)
def test_graph_that_cannot_be_read_in_pages_is_an_error_where_it_may_have_been_cut(
    server: endpoints.Endpoint, query: str
) -> None:
    turtle = "".join(f"<urn:a> <urn:b> {n} . " for n in range(160)).encode()
    graph, table = status(200, turtle, "text/turtle"), endpoints.answer
    server.behaviours = [graph, table]
    with pytest.raises(StoreError, match="160 triples, and there may be more: ask with a CONSTRUCT"):
        Endpoint(server.address).triples(query)
    server.behaviours = [status(200, b"<urn:a> <urn:b> 1 .", "text/turtle"), table]
    assert len(Endpoint(server.address).triples(query)) == 1


def test_answer_that_may_be_cut_and_cannot_be_read_in_pages_is_an_error(server: endpoints.Endpoint) -> None:
    server.cap = 7
    with pytest.raises(
        StoreError, match="may have cut its answer; the query cannot be read in pages .Builtin_RAND.: ask"
    ):
        Endpoint(server.address).frame("SELECT ?s (RAND() AS ?x) { ?s <urn:n> ?n }")
    server.behaviours = [endpoints.answer, status(504, b"too much")]
    with pytest.raises(StoreError, match="answered 504 Gateway Timeout: too much; the query cannot be read in pages"):
        Endpoint(server.address).frame("SELECT ?s (RAND() AS ?x) { ?s <urn:n> ?n }")


@pytest.mark.parametrize(
    ("behaviour", "error", "message"),
    [
        (endpoints.html, StoreError, "a page of HTML, not with a result: Down for repair"),
        (status(400, b"line 1: what?"), QueryError, "own.rq is refused by .*: line 1: what"),
        (status(401), StoreError, "answered 401 Unauthorized"),
        (status(404), StoreError, "answered 404 Not Found"),
        (status(500, b"oh"), StoreError, "answered 500 Internal Server Error: oh"),
        (status(404, b"no GET /sparql?key=secret"), StoreError, r"no GET /sparql\?key=…"),
        (status(200, b"<html><p>/sparql?key=secret</p>", "text/html"), StoreError, "HTML, not with a result: /sparql"),
        (status(503, Retry_After="1000"), StoreError, "asks to wait 1000 s"),
        (endpoints.half, StoreError, "bytes that are no whole result in JSON"),
        (endpoints.hanging, Timeout, "did not answer within 0.3 s"),
        (status(302, Location="http://me:secret@other.example/?key=secret"), StoreError, "redirects to http://other"),
        (status(302, Location="http://["), StoreError, "redirects to what is no address"),
    ],
)
def test_failure_is_one_line_that_names_the_endpoint_and_no_secret(
    server: endpoints.Endpoint, behaviour: Behaviour, error: type[Exception], message: str
) -> None:
    server.behaviours = [endpoints.answer, behaviour]
    patience = 0.3 if error is Timeout else 60  # a busy machine answers late
    asked = Endpoint(server.address.replace("//", "//me:secret@") + "?key=secret", timeout=patience)
    with pytest.raises(error, match=message) as raised:
        asked.frame("SELECT ?s { ?s <urn:n> 1 }", "own.rq")
    said = str(raised.value)
    assert server.address in said and "secret" not in said and "\n" not in said


def test_endless_redirect_is_an_error(server: endpoints.Endpoint) -> None:
    server.behaviours = [status(302, Location=server.address)] * 20
    with pytest.raises(StoreError, match="302.*infinite loop"):
        Endpoint(server.address).frame("SELECT ?s { ?s <urn:n> 1 }")


def test_user_and_password_of_an_address_are_sent_and_stay_at_its_port(server: endpoints.Endpoint) -> None:
    asked = Endpoint(server.address.replace("//", "//me:%40secret@"))
    server.authorisations.clear()
    with endpoint(TURTLE) as other:
        server.behaviours = [endpoints.answer, endpoints.answer, status(302, Location=f"{other.address}?query=ASK{{}}")]
        assert asked.frame("SELECT ?s { ?s <urn:n> 1 }").height == 1
        assert asked.is_true("ASK { ?s <urn:n> 1 }")
        assert other.authorisations == [None]
    # base64 of "me:@secret"
    assert set(server.authorisations) == {"Basic bWU6QHNlY3JldA=="}


@pytest.mark.parametrize(
    "address", ["ftp://me:secret@example.org/", "http://me:secret@[", "http://me:secret@a b/c", "http:"]
)
def test_address_that_cannot_be_asked_is_refused_without_its_secrets(address: str) -> None:
    with pytest.raises(UsageError, match="address") as raised:
        Endpoint(address)
    assert "secret" not in str(raised.value)


def test_endpoint_that_is_not_there_is_one_line_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_TRIES", "5")  # with pauses of 15 seconds in all
    with endpoint() as server:
        gone = server.address
        server.server_close()
    with pytest.raises(StoreError, match=f"{gone} cannot be reached"):
        Endpoint(gone).frame("SELECT * { ?s ?p ?o }")


def test_service_that_asks_the_endpoint_itself_is_refused(server: endpoints.Endpoint) -> None:
    query = f"SELECT * {{ SERVICE <{server.address}> {{ ?s <urn:n> ?n }} }}"
    with pytest.raises(QueryError, match="the endpoint that it is sent to: leave SERVICE out"):
        Endpoint(server.address).frame(query)
    assert server.asked == []


def test_endpoint_whose_triples_are_in_named_graphs_alone_is_counted(server: endpoints.Endpoint) -> None:
    nothing = b'{"head": {"vars": ["one"]}, "results": {"bindings": []}}'
    server.behaviours = [status(200, nothing, JSON)]
    assert Endpoint(server.address).frame("SELECT ?s { ?s <urn:n> 1 }").height == 1
    assert "COUNT" in server.asked[-1]
