"""The deterministic Turtle writer."""

from __future__ import annotations

from random import Random

import polars as pl
import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from remix.names import DBR, NIF, RDF, XSD
from remix.rdf.ntriples import SCHEMA, columns
from remix.rdf.turtle import ntriples, state_triples, turtle

Rows = list[tuple[object, object, object]]
IRIS = st.sampled_from(
    [f"{NIF}Phrase", f"{DBR}Paris,_Texas", f"{DBR}A_(b)", f"{DBR}x-", "urn:a", "http://a.org/#char=0,3"]
)
TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)
LITERALS = st.one_of(
    TEXTS.map(ox.Literal),
    TEXTS.map(lambda text: ox.Literal(text, language="en")),
    TEXTS.map(lambda text: ox.Literal(text, datatype=ox.NamedNode("urn:type"))),
    st.integers().map(ox.Literal),
    st.just(ox.Literal(f'"^^<{XSD}integer>')),
)
TERMS = st.one_of(IRIS.map(ox.NamedNode), LITERALS)
TRIPLES = st.lists(st.tuples(IRIS.map(ox.NamedNode), IRIS.map(ox.NamedNode), TERMS), max_size=12)


def _frame(triples: Rows) -> pl.DataFrame:
    return pl.DataFrame([tuple(str(term) for term in triple) for triple in triples], schema=SCHEMA, orient="row")


def _parsed(data: bytes, syntax: ox.RdfFormat) -> set[ox.Triple]:
    return {quad.triple for quad in ox.parse(data, format=syntax)}


@given(TRIPLES)
def test_turtle_of_any_triples_parses_to_the_same_triples(triples: Rows) -> None:
    frame = _frame(triples)
    want = {ox.Triple(*triple) for triple in triples}  # type: ignore[arg-type]
    assert _parsed(turtle(frame), ox.RdfFormat.TURTLE) == want
    assert _parsed(ntriples(frame), ox.RdfFormat.N_TRIPLES) == want
    assert columns(ntriples(frame)).sort(list(SCHEMA)).equals(frame.unique().sort(list(SCHEMA)))


@given(TRIPLES, st.randoms())
def test_turtle_in_any_order_and_with_repeats_is_the_same_bytes(triples: Rows, random: Random) -> None:
    other = [*triples, *triples[:3]]
    random.shuffle(other)
    assert turtle(_frame(other)) == turtle(_frame(triples))


def test_turtle_names_blank_nodes_by_their_content() -> None:
    one = columns(b'<urn:a> <urn:p> _:x9 .\n_:x9 <urn:q> "1" .\n<urn:b> <urn:p> _:k .\n_:k <urn:q> "2" .\n')
    other = columns(b'<urn:a> <urn:p> _:k .\n_:k <urn:q> "1" .\n<urn:b> <urn:p> _:x9 .\n_:x9 <urn:q> "2" .\n')
    assert turtle(one) == turtle(other)
    assert len(_parsed(turtle(one), ox.RdfFormat.TURTLE)) == 4


def test_turtle_declares_only_the_prefixes_it_uses_and_puts_the_type_first() -> None:
    kind = ox.NamedNode(f"{NIF}Phrase")
    frame = state_triples({"urn:a": {f"{NIF}beginIndex": 3, f"{RDF}type": kind}})
    assert turtle(frame).decode() == (
        f"@prefix nif: <{NIF}> .\n@prefix xsd: <{XSD}> .\n\n"
        '<urn:a> a nif:Phrase ;\n    nif:beginIndex "3"^^xsd:integer .\n'
    )


def test_turtle_without_triples_is_empty() -> None:
    assert turtle(pl.DataFrame(schema=SCHEMA)) == b""


def test_columns_keep_line_separators_that_end_no_line() -> None:
    assert columns('<urn:a> <urn:p> "x\u2028y" .\n'.encode())["object"].to_list() == ['"x\u2028y"']


def test_columns_read_any_spacing_and_skip_comments() -> None:
    text = b'# first\n<urn:a>\t<urn:p>   "x . y"@en.\n\n  _:b <urn:p> <urn:c>  .  \n'
    assert columns(text).rows() == [("<urn:a>", "<urn:p>", '"x . y"@en'), ("_:b", "<urn:p>", "<urn:c>")]
