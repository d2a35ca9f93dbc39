"""How answers are sent: once for a state of the store, as they come, in turn, in what time, and to which origins."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from remix.store import Store
from tests.web.conftest import client, serving
from tests.web.test_endpoint import COUNT, SLOW, number

ORIGIN = "https://yasgui.example"
WIDE = f'SELECT (CONCAT("{"x" * 1000}", STR(?a)) AS ?x) {{ ?a ?b ?c . ?d ?e ?f }} LIMIT'


@pytest.fixture(scope="module")
def open_to_one(small_store: Store) -> Iterator[str]:
    """The address of a server with one query at a time and results of 3 MB, which the pages of one origin may read."""
    options = ["--concurrent", "1", "--largest", "3", "--allow-origin", ORIGIN]
    with serving(small_store.folder, *options) as address:
        yield address


def test_answer_is_not_sent_again_until_the_store_is_another(small_store: Store, address: str) -> None:
    first = client.get(address, params={"query": COUNT})
    known = {"If-None-Match": first.headers["etag"]}
    again = client.get(address, params={"query": COUNT}, headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert client.head(address, params={"query": COUNT}).headers["etag"] == first.headers["etag"]
    assert client.get(address, params={"query": COUNT}, headers={**known, "Accept": "text/csv"}).status_code == 200
    assert "etag" not in client.get(address, params={"query": "SELECT (RAND() AS ?x) {}"}).headers
    given, triples = first.headers["etag"], b"<urn:new> <urn:is> <urn:new> .\n"
    (entry, *_) = small_store.datasets()
    try:
        small_store.attach({entry.name: {"run-etag": (triples, "etag")}})
        assert client.get(address, params={"query": COUNT}, headers=known).headers["etag"] != given
    finally:
        small_store.attach({entry.name: {"run-etag": None}})


@pytest.mark.long
def test_large_result_comes_in_pieces_and_whole(open_to_one: str) -> None:
    answer = client.get(open_to_one, params={"query": f"{WIDE} 2000"}, headers={"Accept": "text/csv"})
    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.text.count("x" * 1000) == 2000


def test_result_that_goes_wrong_after_its_beginning_has_no_end(open_to_one: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(open_to_one, params={"query": f"{WIDE} 6000"}, headers={"Accept": "text/csv"})
    assert client.get(open_to_one, params={"query": "ASK {}"}).status_code == 200


@pytest.mark.long
def test_two_hundred_clients_at_once_wait_for_their_turn(open_to_one: str) -> None:
    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: client.get(open_to_one, params={"query": COUNT}), range(200)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({number(answer) for answer in answers}) == 1


def test_pages_of_an_allowed_origin_may_read_answers_and_no_others(open_to_one: str) -> None:
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for origin, allowed in ((ORIGIN, ORIGIN), ("https://evil.example", None)):
        answer = client.get(open_to_one, params={"query": "ASK {}"}, headers={"Origin": origin})
        assert answer.headers.get("access-control-allow-origin") == allowed
        before = client.options(open_to_one, headers={"Origin": origin, **asking})
        assert before.headers.get("access-control-allow-origin") == allowed


def test_client_may_ask_for_less_time(address: str) -> None:
    answer = client.get(address, params={"query": SLOW, "timeout": "0.3"})
    assert answer.status_code == 504 and "ran longer than 0.3 s" in answer.text


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("given", ["0", "-1", "nan", "1e9", "ten", ""])
def test_time_that_is_none_is_400(address: str, given: str) -> None:
    answer = client.get(address, params={"query": "ASK {}", "timeout": given})
    assert (answer.status_code, answer.text) == (400, f"timeout={given} is no number of seconds, such as timeout=10\n")
