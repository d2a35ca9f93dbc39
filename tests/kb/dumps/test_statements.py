"""Lines of dumps give the triples that a parser finds in them."""

from __future__ import annotations

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from remix.kb.dumps.statements import Pattern, parse_statements
from remix.rdf.ntriples import Block

LANGUAGES = ("en", "de")
PATTERN = Pattern(["http://a/p", "http://a/q"], LANGUAGES, ["http://n/"])


def found(text: str | bytes) -> list[tuple[object, ...]]:
    data = text.encode() if isinstance(text, str) else text
    return parse_statements(Block(data, 1, 0), PATTERN).rows.rows()


def test_lines_as_dumps_write_them() -> None:
    text = (
        '<http://a/s> <http://a/p> "Zoë"@en .\n<http://a/s> <http://a/q> <http://a/ö> .\n<x:s> <http://n/P1> <x:o> .\n'
    )
    assert found(text) == [
        ("http://a/s", "http://a/p", "Zoë", "en"),
        ("http://a/s", "http://a/q", "http://a/ö", None),
        ("x:s", "http://n/P1", "x:o", None),
    ]


def test_lines_of_other_shapes_go_to_the_parser_and_come_out_in_their_order() -> None:
    text = (
        '<x:s> <http://a/p> "tab\\t \\"q\\" \\\\n \\U0001F600"@en .\r\n'
        "<x:s> <http://a/p> <x:o> <x:g> .\n"
        '<x:s>\t<http://a/q>\t"plain" . # note\n'
        '<x:s> <http://a/p> "typed"^^<http://www.w3.org/2001/XMLSchema#string> .\n'
        '<x:s> <http://a/p> "4"^^<x:int> .\n'
        "_:b <http://a/p> <x:o> .\n"
        '<x:s> <http://a/p> "a> <http://a/q> <b"@en .\n'
        '<x:s> <http://n/P1> "text"@en .\n'
        '<x:s> <http://a/p> "raw \x01 control"@en .\n'
        "<x:s> <http://a/p> <x:last> ."
    )
    assert found(text) == [
        ("x:s", "http://a/p", 'tab\t "q" \\n \U0001f600', "en"),
        ("x:s", "http://a/p", "x:o", None),
        ("x:s", "http://a/q", "plain", ""),
        ("x:s", "http://a/p", "typed", ""),
        ("x:s", "http://a/p", "4", "x:int"),
        ("_:b", "http://a/p", "x:o", None),
        ("x:s", "http://a/p", "a> <http://a/q> <b", "en"),
        ("x:s", "http://a/p", "raw \x01 control", "en"),
        ("x:s", "http://a/p", "x:last", None),
    ]


def test_languages_that_are_not_wanted_are_named() -> None:
    text = '<x:s> <http://a/p> "A"@fr .\n<x:s> <http://a/p> "B \\" b"@it .\n<x:s> <http://a/p> "C"@de .\n'
    said = parse_statements(Block(text.encode(), 1, 0), PATTERN)
    assert said.rows.rows() == [("x:s", "http://a/p", "C", "de")]
    assert sorted(said.foreign) == ["fr", "it"]


def test_lines_that_are_no_triple_are_told_with_number_and_reason() -> None:
    text = (
        b'# note\n\nnonsense\n<x:s> <http://a/p> "open .\n<x:s> <http://a/p> "\xff"@en .\n<x:s> <http://a/p> <x o> .\n'
    )
    said = parse_statements(Block(text, 10, 0), PATTERN)
    assert said.rows.is_empty()
    assert said.bad.select("line", "reason").rows() == [
        (12, "no triple"),
        (13, "no triple"),
        (14, "not UTF-8"),
        (15, "no triple"),
    ]


texts = st.text(
    st.sampled_from('aé😀"\\\n\r\t <>.@_:\u0000\u0001\u0085\u2028') | st.characters(exclude_categories=["Cs"])
)
iris = st.sampled_from(["http://a/s", "http://a/ö", "urn:x", "http://a/%22"]).map(ox.NamedNode)
literals = st.one_of(
    st.builds(ox.Literal, texts, language=st.sampled_from(["en", "de", "fr"])),
    st.builds(ox.Literal, texts),
    st.builds(ox.Literal, texts, datatype=st.just(ox.NamedNode("x:int"))),
)
predicates = st.sampled_from(["http://a/p", "http://a/q", "http://n/P2", "http://a/other"]).map(ox.NamedNode)
triples = st.builds(ox.Triple, iris, predicates, iris | literals)


def expected(triple: ox.Triple) -> tuple[object, ...] | None:
    subject, predicate, value = triple.subject.value, triple.predicate.value, triple.object
    if predicate == "http://a/other" or (predicate == "http://n/P2" and isinstance(value, ox.Literal)):
        return None
    if isinstance(value, ox.NamedNode):
        return subject, predicate, value.value, None
    if value.language:
        return (subject, predicate, value.value, value.language) if value.language in LANGUAGES else None
    plain = value.datatype.value.endswith("#string")
    return subject, predicate, value.value, "" if plain else value.datatype.value


@given(st.lists(triples, max_size=8), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_rows_are_those_of_a_parser(given: list[ox.Triple], escaped: bool, end: str) -> None:
    written = (ox.serialize(given, format=ox.RdfFormat.N_TRIPLES) or b"").decode()
    if escaped:
        written = "".join(letter if letter < "\x7f" else f"\\U{ord(letter):08X}" for letter in written)
    parsed = [quad.triple for quad in ox.parse(written, format=ox.RdfFormat.N_TRIPLES)]
    wanted = [row for triple in parsed if (row := expected(triple))]
    said = parse_statements(Block(written.replace("\n", end).encode(), 1, 0), PATTERN)
    assert said.rows.rows() == wanted
    assert said.bad.is_empty()
