"""Triples read from files in columns are those that the store looks up, spelt as it spells them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.names import NIF, RDF
from remix.store import Store
from remix.store.index import lines_about, terms_of
from remix.store.rewrite import construct, plan

XSD = "http://www.w3.org/2001/XMLSchema#"
ODD = [
    f'"007"^^<{XSD}nonNegativeInteger>',
    f'"1E5"^^<{XSD}double>',
    f'"1.50"^^<{XSD}decimal>',
    f'"1"^^<{XSD}boolean>',
    f'"x"^^<{XSD}string>',
    '"x"@en-US',
    '"Caf\\u00E9 \\"1\\" _:b << >> ."',
    '"a\\tb\\u0001\\n"',
    "<urn:caf\\u00e9>",
    f'"2020-01-01T00:00:00.50Z"^^<{XSD}dateTime>',
]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(lambda text: str(ox.Literal(text)))
numbers = st.from_regex(r"[+-]?[0-9]{1,4}(\.[0-9]{1,3})?(E[0-9])?", fullmatch=True)
kinds = st.sampled_from(["integer", "double", "decimal", "long", "float", "boolean"])
typed = st.tuples(numbers, kinds).map(lambda pair: f'"{pair[0]}"^^<{XSD}{pair[1]}>')
objects = st.one_of(st.sampled_from(ODD), texts, typed, st.just("<urn:s1>"))
triples = st.lists(st.tuples(st.sampled_from(["<urn:é>", "<urn:s1>", "<urn:s2>"]), objects), max_size=8)


def store_outcomes(lines: str, subjects: list[str]) -> list[str]:
    """The triples of subjects as a store spells them."""
    store = ox.Store()
    store.bulk_load(lines.encode(), ox.RdfFormat.N_TRIPLES, lenient=True)
    return sorted(f"{quad.triple} ." for quad in store if str(quad.subject) in subjects)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triples)
def test_lines_of_a_file_are_spelt_as_a_store_spells_them(tmp_path: Path, made: list[tuple[str, str]]) -> None:
    lines = "".join(f"{subject} <urn:p> {value} .\n" for subject, value in made)
    file = tmp_path / "data.nt.zst"
    file.write_bytes(zstandard.compress(lines.encode()))
    wanted = ["<urn:é>", "<urn:s2>"]
    found, others = lines_about([file], pl.Series(wanted))
    assert sorted(found["line"].unique()) == store_outcomes(lines, wanted)
    assert others.is_empty()


def test_subjects_of_blank_nodes_and_triples_are_left_to_the_store(tmp_path: Path) -> None:
    file = tmp_path / "data.nt"
    file.write_text("<urn:a> <urn:p> _:b .\n<urn:a> <urn:p> <urn:b> .\n<urn:b> <urn:p> <urn:a> .\n")
    found, others = lines_about([file], pl.Series(["<urn:a>", "<urn:b>", "<urn:none>"]))
    assert found.rows() == [("<urn:b>", "<urn:b> <urn:p> <urn:a> .")]
    assert others.to_list() == ["<urn:a>"]


@pytest.mark.parametrize("gone", [False, True])
def test_construct_over_files_gives_what_oxigraph_gives_also_where_a_file_is_gone(
    store: Store, rivers: Path, gone: bool
) -> None:
    store.load(rivers)
    documents = store.frames().documents["document"].to_list()
    odd = "".join(f"<{documents[0]}> <urn:p> {term} .\n" for term in [*ODD, "_:b"])
    # The first triple stands in the graph of the data too: it comes once.
    twice = f"<{documents[0]}> <{RDF}type> <{NIF}Context> .\n"
    store.enrich({"rivers": (odd + twice).encode()}, "odd")
    index = store.index()
    how = plan("CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo } WHERE { ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d }")
    direct = sorted(index.triples(how.text))
    if gone:
        next(store.folder.glob("datasets/*/data.nt.zst")).unlink()
    assert construct(index, how) == direct and len(direct) > 30


def test_solutions_in_tsv_come_back_as_terms_of_ntriples() -> None:
    store = ox.Store()
    text = (
        """SELECT * { VALUES (?a ?b) { (1 "t\\t\\"\\n\\\\") (<urn:a> UNDEF) (1.5e3 "x"@en) (true 0.1) (UNDEF "") } }"""
    )
    answer = store.query(text)
    assert isinstance(answer, ox.QuerySolutions)
    expected = [tuple(None if term is None else str(term) for term in one) for one in answer]
    again = store.query(text)
    assert isinstance(again, ox.QuerySolutions)
    found = terms_of(again.serialize(format=ox.QueryResultsFormat.TSV) or b"")
    assert found.rows() == expected
