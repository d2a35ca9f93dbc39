"""What a query asks for and nothing has is told with the nearest that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from remix.errors import EmptySelection
from remix.remixes import build
from remix.store import Store
from remix.store.answers import answer
from remix.store.missing import NO_RUN
from remix.store.queries import Query, shipped_queries
from remix.store.running import Request
from remix.store.worker import Worker

Told = Callable[[str], list[str]]
TOLD = [
    ("SELECT * { ?d hfts:microDensty ?x }", "hfts:microDensty; did you mean hfts:microDensity?"),
    (
        "SELECT * { ?a rmx:ambiguitySurfaceForm ?x }",
        "rmx:ambiguitySurfaceForm; did you mean hfts:ambiguitySurfaceForm?",
    ),
    ("SELECT * { ?a nif:anchorOff ?x FILTER (?x > 1) }", "nif:anchorOff; did you mean nif:anchorOf?"),
    ("SELECT * { ?a a nif:Phrse }", "nif:Phrse; did you mean nif:Phrase?"),
    ("SELECT * { ?a itsrdf:taClassRef/nif:anchorOff ?x }", "nif:anchorOff; did you mean nif:anchorOf?"),
    ("PREFIX n: <urn:n#> SELECT * { ?a n:none 1 }", "urn:n#none"),
    ('SELECT * { ?a nif:anchorOf "Lisbn" }', "'Lisbn' as nif:anchorOf; did you mean 'Lisbon'?"),
    ('SELECT * { VALUES ?form { "Lisbn" } ?a nif:anchorOf ?form }', "'Lisbn' as nif:anchorOf; did you mean 'Lisbon'?"),
]
QUIET = [
    'SELECT * { ?a a nif:Phrase ; nif:anchorOf ?x ; hfts:pagerank ?p FILTER (xsd:double(?p) > 0.5 || ?x = "none") }',
    'SELECT * { VALUES ?scale { "percentile" } VALUES ?form { "Lisbon" "none" } ?a nif:anchorOf ?form }',
    "SELECT * { ?a itsrdf:taIdentRef dbr:Nobody_at_all_of_that_name }",
    "ASK { ?s (nif:anchorOf|nif:isString)+ ?o . BIND (<urn:x> AS ?y) }",
]


@pytest.fixture(scope="module")
def told(small_store: Store) -> Iterator[Told]:
    """What a query on the small store is told."""
    index = small_store.index()
    with Worker() as worker:

        def ask(text: str) -> list[str]:
            return list(worker.ask(index.path, Request(text)).notes)

        yield ask


@pytest.mark.parametrize(("text", "said"), TOLD, ids=lambda value: value[:40])
def test_term_or_value_that_nothing_has_is_told_with_the_nearest(told: Told, text: str, said: str) -> None:
    assert told(text) == [f"nothing in the workspace has {said}"]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_there_or_may_come_is_not_told(told: Told, text: str) -> None:
    assert told(text) == []


def test_query_and_build_tell_what_nothing_has(small_store: Store) -> None:
    query = Query.parse("SELECT ?annotation { ?annotation a nif:Phrase OPTIONAL { ?annotation nif:anchorOff ?x } }")
    said = "nothing in the workspace has nif:anchorOff; did you mean nif:anchorOf?"
    assert answer(small_store, query).notes == (said,)
    assert build(small_store, query).notes == (said,)


def test_shipped_queries_tell_no_predicate(told: Told) -> None:
    for file in shipped_queries().values():
        text = file.read_text(encoding="utf-8")
        if "SERVICE" in text:
            continue
        notes = [note for note in told(text) if note != NO_RUN]
        assert not [note for note in notes if "did you mean" not in note and "'" not in note], file


def test_query_about_runs_says_that_none_is_registered_and_nothing_else(
    small_store: Store, run_store: Store, told: Told
) -> None:
    query = Query.parse(shipped_queries()["spans_too_short"].read_text(encoding="utf-8"), "spans_too_short")
    assert told(query.text) == [NO_RUN]
    with pytest.raises(EmptySelection, match=f"selects nothing: {NO_RUN}$"):
        build(small_store, query)
    assert NO_RUN not in answer(run_store, query).notes
