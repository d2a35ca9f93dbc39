"""What filters keep: of endpoints in chunks, of files and lists, and combined; what is kept of their answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.endpoints import Manners
from remix.errors import BadInput, MissingKnowledge, NotAllowed, StoreError, Timeout, UsageError
from remix.kb import KnowledgeBase
from remix.remixes.filters import Filters, open_filters
from remix.remixes.filters.services import Surroundings
from remix.store import Store
from tests.kb.sources import endpoints
from tests.kb.sources.endpoints import Endpoint, endpoint
from tests.remixes.filters.files import (
    PERSONS,
    PLACES,
    PREFIXES,
    ask_jena,
    query,
    select_as_gerbil,
    turtle,
    write,
)

QUICK = Manners(rate=10_000, timeout=5, tries=2, wait=0.001)
E = "http://e.org/"


def names(*letters: str) -> list[str]:
    return [f"{E}{letter}" for letter in letters]


def local(place: Path, filters: Mapping[str, Mapping[str, str]], **options: object) -> Filters:
    """Return filters of a file that ask a file beside it: a, b, c are persons, b, c, d places."""
    (place / "kb.ttl").write_text(turtle(names(*"abc"), names(*"bcd")))
    around = replace(Surroundings(manners=QUICK, cache=place / "kept"), **options)  # type: ignore[arg-type]
    return open_filters(write(place / "f.properties", filters), around)


@pytest.fixture(scope="module")
def served() -> Iterator[Endpoint]:
    """An endpoint at which e.org/0, /3, /6, … to /96 are persons."""
    with endpoint(turtle(f"{E}{number}" for number in range(0, 99, 3))) as server:
        yield server


def asking(server: Endpoint, place: Path, chunk: int, **options: object) -> Filters:
    server.asked.clear()
    server.behaviours.clear()
    file = write(place / "f.properties", {"1": query("Persons", server.address, chunk=chunk)})
    around = Surroundings(allowed=frozenset({server.address}), manners=QUICK)
    return open_filters(file, replace(around, **options))  # type: ignore[arg-type]


def chunks_of(server: Endpoint) -> list[int]:
    """Return how many entities each request asked about, those aside that learn how much the endpoint answers."""
    return [len(re.findall(rf"<{E}\d+>", text)) for text in server.asked if "rdf:type" in text]


@pytest.mark.parametrize(
    ("count", "expected"), [(9, [5, 4]), (10, [5, 5]), (11, [5, 5, 1]), (5, [5]), (4, [4]), (6, [5, 1]), (1, [1])]
)
def test_every_chunk_is_complete(served: Endpoint, tmp_path: Path, count: int, expected: list[int]) -> None:
    filters = asking(served, tmp_path, 5)
    every = [f"{E}{number}" for number in range(count)]
    assert {*filters["Persons"].select(every)} == {f"{E}{number}" for number in range(0, count, 3)}
    assert chunks_of(served) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=40),
    st.integers(1, 12),
    st.sampled_from([(), ("e.org",), ("e.org/1", "e.org/2"), ("nowhere",)]),
)
def test_selection_is_that_of_the_extension_but_for_its_defects(
    served: Endpoint, tmp_path: Path, numbers: list[int], chunk: int, whitelist: tuple[str, ...]
) -> None:
    served.asked.clear()
    file = write(
        tmp_path / "f.properties",
        {"1": query("Persons", served.address, chunk=chunk)},
        **({"whitelist": ",".join(whitelist)} if whitelist else {}),
    )
    around = Surroundings(allowed=frozenset({served.address}), manners=QUICK)
    entities = [f"{E}{number}" for number in numbers]
    found = {*open_filters(file, around)["Persons"].select(entities)}
    ask = ask_jena(served.store, PREFIXES, PERSONS)
    mended = select_as_gerbil(entities, whitelist, chunk, ask, loses_last=False, hides_failures=False)
    assert found == mended
    # As it stands it keeps no others, and those that it loses each stood last in a full chunk.
    kept = select_as_gerbil(entities, whitelist, chunk, ask, loses_last=True, hides_failures=True)
    listed = [one for one in entities if not whitelist or any(part in one for part in whitelist)]
    ends = {*listed[chunk - 1 :: chunk]} if chunk < len(listed) else set()
    assert kept <= found and found - kept <= ends


def test_the_extension_loses_the_last_of_each_full_chunk(served: Endpoint, tmp_path: Path) -> None:
    # Of 0 to 9 by fives the 4th and the 9th stand last; 9 is a person, and lost.
    entities = [f"{E}{number}" for number in range(10)]
    ask = ask_jena(served.store, PREFIXES, PERSONS)
    lost = select_as_gerbil(entities, (), 5, ask, loses_last=True, hides_failures=True)
    found = {*asking(served, tmp_path, 5)["Persons"].select(entities)}
    assert found - lost == {f"{E}9"}


def test_a_malformed_iri_costs_no_other_entity(served: Endpoint, tmp_path: Path) -> None:
    # The extension asks about it as well, the query does not parse, and all of the chunk has no answer.
    entities = [f"{E}0", f"{E}a b", f"{E}3"]
    ask = ask_jena(served.store, PREFIXES, PERSONS)
    assert select_as_gerbil(entities, (), 0, ask, loses_last=True, hides_failures=True) == set()
    assert asking(served, tmp_path, 5)["Persons"].select(entities).to_list() == [f"{E}0", f"{E}3"]


def test_answers_are_kept_for_each_entity(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 5, cache=tmp_path / "kept")
    first, more = [[f"{E}{number}" for number in range(count)] for count in (7, 9)]
    assert filters["Persons"].select(first).to_list() == names("0", "3", "6")
    assert chunks_of(served) == [5, 2]
    served.asked.clear()
    # Of nine entities two are new; that 1 and 2 are no persons is known as well.
    assert filters["Persons"].select(more).to_list() == names("0", "3", "6")
    assert chunks_of(served) == [2]
    served.asked.clear()
    assert filters["Persons"].select(first).to_list() == names("0", "3", "6")
    assert served.asked == []
    fresh = asking(served, tmp_path, 5, cache=tmp_path / "kept", refresh=True)
    assert fresh["Persons"].select(first).to_list() == names("0", "3", "6")
    assert chunks_of(served) == [5, 2]


def test_what_is_kept_is_of_one_query_to_one_service(served: Endpoint, tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    asking(served, tmp_path, 5, cache=cache)["Persons"].select(names("0"))
    served.asked.clear()
    other = write(tmp_path / "f.properties", {"1": query("Persons", served.address, PLACES)})
    around = Surroundings(allowed=frozenset({served.address}), manners=QUICK, cache=cache)
    assert open_filters(other, around)["Persons"].select(names("0")).is_empty()
    (tmp_path / "kb.ttl").write_text(turtle(places=names("0")))
    away = open_filters(other, around, service=[f"{served.address}=kb.ttl"])
    assert away["Persons"].select(names("0")).to_list() == names("0")
    # A file that changed is another service.
    (tmp_path / "kb.ttl").write_text(turtle(persons=names("0")))
    assert away["Persons"].select(names("0")).is_empty()
    off = write(tmp_path / "off.properties", {"1": query("Persons", served.address)}, cache="false")
    before = {file.name for file in cache.iterdir()}
    open_filters(off, replace(around, cache=cache))["Persons"].select(names("3"))
    assert {file.name for file in cache.iterdir()} == before


def test_damaged_answers_are_asked_for_again(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 5, cache=tmp_path / "kept")
    filters["Persons"].select(names("0"))
    [file] = (tmp_path / "kept").glob("*.parquet")
    file.write_bytes(b"PAR1")
    assert filters["Persons"].select(names("0")).to_list() == names("0")


@pytest.mark.parametrize(
    "failure",
    [endpoints.status(503), endpoints.half, endpoints.html, endpoints.empty, endpoints.part, endpoints.broken_off],
    ids=["503", "half", "html", "empty", "part", "broken off"],
)
def test_a_failure_is_no_empty_answer(served: Endpoint, tmp_path: Path, failure: endpoints.Behaviour) -> None:
    filters = asking(served, tmp_path, 5, cache=tmp_path / "kept")
    served.behaviours[:] = [endpoints.answer, endpoints.answer, *[failure] * 20]
    with pytest.raises(StoreError, match=rf"filter 'Persons': {re.escape(served.address)}.*--service") as raised:
        filters["Persons"].select(f"{E}{number}" for number in range(10))
    assert "goes on from there" in str(raised.value)
    # The first chunk was answered, and is not asked about again.
    served.asked.clear()
    served.behaviours.clear()
    found = filters["Persons"].select(f"{E}{number}" for number in range(10))
    assert found.to_list() == names("0", "3", "6", "9")
    assert chunks_of(served) == [5]


def test_a_passing_failure_is_tried_again(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 5)
    served.behaviours[:] = [endpoints.answer, endpoints.status(503)]
    assert filters["Persons"].select(names("0", "1")).to_list() == names("0")


def test_an_endpoint_that_is_late_says_so(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 5, manners=replace(QUICK, timeout=0.2, tries=1))
    served.behaviours[:] = [endpoints.answer, endpoints.hanging]
    with pytest.raises(Timeout, match="filter 'Persons'"):
        filters["Persons"].select(names("0"))


def test_an_endpoint_that_cuts_its_answers_is_asked_about_fewer(tmp_path: Path) -> None:
    with endpoint(turtle(f"{E}{number}" for number in range(20))) as server:
        server.cap = 3
        every = [f"{E}{number}" for number in range(20)]
        assert {*asking(server, tmp_path, 10)["Persons"].select(every)} == {*every}


def test_no_address_is_asked_that_is_not_allowed(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 5, allowed=frozenset())
    with pytest.raises(NotAllowed, match=rf"asks {served.address}.*--allow-service {served.address} allows it"):
        filters["Persons"].select(names("0"))
    assert served.asked == []
    with pytest.raises(UsageError, match="no address of an endpoint"):
        file = write(tmp_path / "f.properties", {"1": query("Persons", "ftp://e.org/x")})
        open_filters(file, Surroundings())["Persons"].select(names("0"))


def test_answers_about_others_are_refused(served: Endpoint, tmp_path: Path) -> None:
    text = "select ?v where { values ?x {##} ?v a ?class }"
    file = write(tmp_path / "f.properties", {"1": query("Others", served.address, text)})
    around = Surroundings(allowed=frozenset({served.address}), manners=QUICK)
    with pytest.raises(StoreError, match=rf"answered <{E}\d+>, which it was not asked about"):
        open_filters(file, around)["Others"].select(names("1"))
    unbound = query("Unbound", served.address, "select ?v where { values ?x {##} }")
    file = write(tmp_path / "f.properties", {"1": unbound})
    with pytest.raises(StoreError, match=r"a \?v that is no IRI"):
        open_filters(file, around)["Unbound"].select(names("1"))


def test_filters_are_combined(tmp_path: Path) -> None:
    # Persons a, b, c; places b, c, d; of the ranks a, c.
    (tmp_path / "ranks_0").write_text(f"{E}a 0.9\n{E}cc 0.8\n")
    (tmp_path / "ranks_1").write_text(f"{E}c 0.1\n")
    combined = {
        "And": ("and", "persons,Places"),
        "Or": ("or", "Persons, Places"),
        "Diff": ("diff", "Persons,Places"),
        "Three": ("diff", "Or,And,Ranked"),
        "Ranked persons": ("AND", "Ranked,Persons"),
    }
    filters = local(
        tmp_path,
        {
            "file.1": query("Persons", "kb.ttl"),
            "file.2": query("Places", "kb.ttl", PLACES),
            "pop.1": query("Ranked", "ranks", "0,1"),
            **{f"combinator.{at}": query(name, *said) for at, (name, said) in enumerate(combined.items(), start=1)},
        },
    )
    found = {name: "".join(one[-1] for one in filter.select(names(*"abcdef"))) for name, filter in filters.items()}
    assert found == {
        "Persons": "abc",
        "Places": "bcd",
        "Ranked": "ac",
        "And": "bc",
        "Or": "abcd",
        "Diff": "a",
        "Three": "d",  # a to d without b, c and without a, c
        "Ranked persons": "ac",
    }
    assert filters.find("three").name == "Three"
    assert "8 filters" in repr(filters) and "combinator" in repr(filters["Or"])


def test_a_combination_asks_about_no_more_than_it_needs(served: Endpoint, tmp_path: Path) -> None:
    served.asked.clear()
    served.behaviours.clear()
    (tmp_path / "few").mkdir()
    (tmp_path / "ranks_0").write_text(f"{E}0 1\n{E}1 1\n")
    file = write(
        tmp_path / "f.properties",
        {
            "1": query("Persons", served.address),
            "pop.1": query("Ranked", "ranks", "0"),
            "combinator.1": query("Both", "and", "Ranked,Persons"),
        },
    )
    around = Surroundings(allowed=frozenset({served.address}), manners=QUICK)
    assert open_filters(file, around)["Both"].select(names(*"0123456")).to_list() == names("0")
    assert chunks_of(served) == [2]


def test_ranked_entities_are_compared_whole(tmp_path: Path) -> None:
    # The extension's look-up by a pattern keeps what another entity begins with, or holds.
    (tmp_path / "ranks_0").write_text(f"{E}Paris_Hilton 0.9\r\n{E}Rome\t0.8\n\n{E}Köln\n", encoding="utf-8")
    filters = local(tmp_path, {"pop.1": query("Ranked", "ranks", "0")})
    kept = filters["Ranked"].select(names("Paris", "Rome", "Köln", "Hilton"))
    assert kept.to_list() == names("Köln", "Rome")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    filters = local(
        tmp_path,
        {
            "file.1": query("Gone", "none.ttl"),
            "file.2": query("Open", "${data}/kb.ttl"),
            "pop.1": query("Ranked", "ranks", "0,3"),
            "1": query("Base", "kb"),
            "2": query("Here", "loaded"),
        },
    )
    (tmp_path / "ranks_0").write_text("")
    for name, error, said in (
        (
            "Gone",
            BadInput,
            "f.properties:4: 'Gone' asks none.ttl, and there is no such file; --service 'none.ttl=loaded'",
        ),
        ("Open", BadInput, r"nothing says what 'data' is: add a line 'data = FOLDER'"),
        ("Ranked", BadInput, "'Ranked' asks ranks_3, and there is no such file"),
        ("Base", MissingKnowledge, "'Base' of .* asks the knowledge base, and none is attached"),
        ("Here", UsageError, "there is no workspace"),
    ):
        with pytest.raises(error, match=said):
            filters[name].select(names("a"))
    with pytest.raises(UsageError, match="replaces no service of .*: write OLD=NEW, OLD being one of kb, loaded,"):
        open_filters(filters.file.path, Surroundings(), service=["http://dbpedia.org/sparql=kb"])


def test_filters_that_are_switched_off_keep_nothing_quietly(tmp_path: Path) -> None:
    file = write(tmp_path / "f.properties", {"1": query("A", "kb.ttl")}, enabled="False")
    with pytest.raises(UsageError, match="switches its filters off: set .*enabled=True"):
        open_filters(file, Surroundings())["A"].select(names("a"))


def test_loaded_data_are_asked(small_store: Store, tmp_path: Path) -> None:
    # Of the small fixture: entities of which an annotation has the class of persons.
    text = "select distinct ?v { values ?v {##} ?a itsrdf:taIdentRef ?v ; itsrdf:taClassRef dbo:Person }"
    file = write(tmp_path / "f.properties", {"1": query("Persons", "loaded", text)})
    frames = small_store.frames()
    found = open_filters(file, Surroundings(store=small_store, cache=tmp_path))["Persons"]
    persons = small_store.index().frame("SELECT DISTINCT ?e { ?a itsrdf:taIdentRef ?e ; itsrdf:taClassRef dbo:Person }")
    assert found.select(frames.links["entity_as_given"]).to_list() == sorted(persons["e"].str.strip_chars("<>"))


def test_the_knowledge_base_is_asked(kb_of: Callable[..., KnowledgeBase], tmp_path: Path) -> None:
    # Ada is a foaf:Person, Rome a place by a class of schema.org, Ada_L a redirect to Ada.
    types = {"Ada": "http://xmlns.com/foaf/0.1/Person", "Rome": "http://schema.org/Place", "X": "urn:x:Thing"}
    at = "http://dbpedia.org/resource/"
    kb = kb_of(
        {
            "surface_forms.tsv": f"surface_form\tentity_iri\tcount\tsource\nAda\t{at}Ada\t1\tx\n",
            "types.tsv": "entity_iri\ttype_iri\tsource\n" + "".join(f"{at}{e}\t{t}\tx\n" for e, t in types.items()),
            "redirects.tsv": f"redirect_iri\ttarget_iri\tsource\n{at}Ada_L\t{at}Ada\tx\n",
        }
    )
    asked = [f"{at}{name}" for name in ("Ada", "Ada_L", "Rome", "X", "Nobody")]
    file = write(tmp_path / "f.properties", {"1": query("Persons", "kb"), "2": query("Places", "kb", PLACES)})
    found = open_filters(file, Surroundings(kb=kb))
    assert found["Persons"].select(asked).to_list() == [f"{at}Ada", f"{at}Ada_L"]
    assert found["Places"].select(asked).to_list() == [f"{at}Rome"]


def test_two_at_a_time_keep_all_answers(served: Endpoint, tmp_path: Path) -> None:
    filters = asking(served, tmp_path, 3, cache=tmp_path / "kept")
    parts = [[f"{E}{number}" for number in range(begin, begin + 15)] for begin in (0, 15)]
    threads = [threading.Thread(target=filters["Persons"].select, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [file] = (tmp_path / "kept").glob("*.parquet")
    assert {*pl.read_parquet(file)["entity"]} == {f"{E}{number}" for number in range(30)}


def test_reference_fails_as_the_extension_does() -> None:
    def fail(entities: list[str]) -> list[str]:
        raise OSError("no answer")

    assert select_as_gerbil(["urn:a"], (), 0, fail, loses_last=False, hides_failures=True) == set()
    with pytest.raises(OSError, match="no answer"):
        select_as_gerbil(["urn:a"], (), 0, fail, loses_last=False, hides_failures=False)
    assert ask_jena(ox.Store(), PREFIXES, PERSONS)(["urn:a"]) == []
