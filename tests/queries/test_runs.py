"""The shipped queries on runs: what each selects of one document with the runs of two systems."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.names import ITSRDF, NIF, PREFIXES, RMX
from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.selection import select

# Ada: both right; Alan: a wrong, b right; Bob (NIL): a links it, b misses it; New York City: a finds a part, b nothing.
EXPECTED: dict[str, tuple[dict[str, object], set[str]]] = {
    "agreement_between": ({}, {"Alan"}),
    "missed_by_all": ({}, {"Bob", "New York City"}),
    "nil_linked": ({"system": "a"}, {"Bob"}),
    "rare_persons_wrong": ({"system": "a"}, {"Alan"}),
    "spans_too_short": ({"system": "a"}, {"New York City"}),
    "wrong_and_right": ({"wrong": "a", "right": "b"}, {"Alan"}),
}
NOTHING: dict[str, dict[str, object]] = {
    "agreement_between": {"min_agreement": 0.6, "max_agreement": 0.9},
    "nil_linked": {"system": "b"},
    "rare_persons_wrong": {"system": "b"},
    "spans_too_short": {"system": "b"},
    "wrong_and_right": {"wrong": "b", "right": "a"},
}


def _selected(store: Store, name: str, values: dict[str, object]) -> set[str]:
    frames = store.frames()
    found = select(store.index(), find(name).bind(values), frames)
    return set(frames.annotations.filter(pl.col("annotation").is_in(found.annotations.implode()))["surface_form"])


def test_hard_and_easy_annotations_are_those_of_at_least_and_at_most_a_difficulty(tmp_path: Path) -> None:
    store = Store(tmp_path / "work")
    store.load(Path(__file__).parents[1] / "runs" / "small" / "gold.ttl")
    values = zip(store.frames().annotations["annotation"], (0.1, 0.5, 0.7, 0.9), strict=True)
    double = "http://www.w3.org/2001/XMLSchema#double"
    lines = "".join(f'<{one}> <https://w3id.org/nel-remix/ns#difficulty> "{n}"^^<{double}> .\n' for one, n in values)
    store.attach({"gold": {"difficulty": (lines.encode(), "by hand")}})
    assert _selected(store, "hard_by_difficulty", {}) == {"Alan", "Bob", "New York City"}
    assert _selected(store, "hard_by_difficulty", {"min_difficulty": 0.8}) == {"New York City"}
    assert _selected(store, "easy_by_difficulty", {}) == {"Ada"}
    assert _selected(store, "easy_by_difficulty", {"max_difficulty": 0.5}) == {"Ada", "Alan"}


_PLAIN = {
    "missed_by_all": """SELECT DISTINCT ?document ?annotation {
        ?annotation nif:referenceContext ?document ; rmx:falseNegativeOf ?run
        FILTER NOT EXISTS { ?annotation rmx:truePositiveOf ?other }
    }""",
    "wrong_and_right": """SELECT DISTINCT ?document ?annotation {
        ?annotation nif:referenceContext ?document ; rmx:falseNegativeOf ?missed ; rmx:truePositiveOf ?found .
        ?missed rmx:system "random-candidate" . ?found rmx:system "prior"
    }""",
    "music": """SELECT DISTINCT ?document ?annotation {
        ?annotation nif:referenceContext ?document
        FILTER EXISTS { ?annotation itsrdf:taClassRef ?class FILTER (?class IN (dbo:Song, dbo:Band, dbo:Opera)) }
    }""",
}
"""What queries mean whose patterns are read apart, in one group."""
_SYSTEMS = ("prior", "random-candidate", "other")
_MENTIONS = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "none"]),
        st.sets(st.sampled_from(_SYSTEMS)),
        st.sets(st.sampled_from(_SYSTEMS)),
        st.sets(st.sampled_from(["Song", "Band", "Person"])),
    ),
    max_size=8,
)


@pytest.mark.parametrize("name", sorted(_PLAIN))
@given(mentions=_MENTIONS)
def test_query_whose_patterns_are_read_apart_selects_what_it_does_in_one_group(
    name: str, mentions: list[tuple[str, set[str], set[str], set[str]]]
) -> None:
    """A mention may be in no document, and found and missed by one system, as under several matchings."""
    store = ox.Store()

    def tell(subject: str, predicate: str, value: ox.NamedNode | ox.Literal) -> None:
        store.add(ox.Quad(ox.NamedNode(f"urn:{subject}"), ox.NamedNode(predicate), value, ox.NamedNode("urn:graph")))

    for system in _SYSTEMS:
        tell(f"run-{system}", f"{RMX}system", ox.Literal(system))
    for nth, (document, missed, found, classes) in enumerate(mentions):
        if document != "none":
            tell(f"a{nth}", f"{NIF}referenceContext", ox.NamedNode(f"urn:{document}"))
        for term, systems in (("falseNegativeOf", missed), ("truePositiveOf", found)):
            for system in systems:
                tell(f"a{nth}", f"{RMX}{term}", ox.NamedNode(f"urn:run-{system}"))
        for one in classes:
            tell(f"a{nth}", f"{ITSRDF}taClassRef", ox.NamedNode(f"http://dbpedia.org/ontology/{one}"))

    def answer(text: str) -> list[str]:
        found = store.query(text, prefixes=PREFIXES, use_default_graph_as_union=True)
        assert isinstance(found, ox.QuerySolutions)
        return sorted(f"{row['document']} {row['annotation']}" for row in found)

    assert answer(find(name).bind({})) == answer(_PLAIN[name])


def test_queries_on_runs_are_all_expected_here() -> None:
    assert {name for name in shipped_queries() if "runs" in find(name).tags} == {
        *EXPECTED,
        "confused_pairs",
        "easy_by_difficulty",
        "hard_by_difficulty",
    }


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_query_on_runs_selects_what_it_says(run_store: Store, name: str) -> None:
    values, forms = EXPECTED[name]
    assert _selected(run_store, name, values) == forms


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_query_on_runs_of_another_system_selects_nothing(run_store: Store, name: str) -> None:
    assert _selected(run_store, name, NOTHING[name]) == set()


def test_confused_pairs_are_counted_by_mention_and_system(run_store: Store) -> None:
    rows = run_store.index().frame(find("confused_pairs").bind({"min_mentions": 1})).rows()
    count = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    alan = "<http://dbpedia.org/resource/Alan_"
    assert rows == [(f"{alan}Turing>", f"{alan}Kay>", count, count)]
    assert run_store.index().frame(find("confused_pairs").text).is_empty()
