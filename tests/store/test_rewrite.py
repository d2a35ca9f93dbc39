"""The rewritten query gives exactly the triples that Oxigraph gives for the query as it stands."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.store.index import Index
from remix.store.rewrite import construct, plan, with_variables
from tests.workspaces import index_of

DATA = {
    "urn:g1": b"""
<urn:set> <urn:has> <urn:d1> .
<urn:set> <urn:has> <urn:d2> .
<urn:set> <urn:has> <urn:nothing> .
<urn:set> <urn:has> "a literal" .
<urn:set> <urn:has> _:blank .
_:blank <urn:size> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
<urn:d1> <urn:size> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .
<urn:d1> <urn:text> "one" .
<urn:d2> <urn:size> "9"^^<http://www.w3.org/2001/XMLSchema#integer> .
<urn:m1> <urn:in> <urn:d1> .
<urn:m1> <urn:class> <urn:Person> .
<urn:m2> <urn:in> <urn:d1> .
<urn:m3> <urn:in> <urn:d2> .
<urn:m3> <urn:class> <urn:Place> .
""",
    # The first triple stands in both graphs: in the union it is there twice.
    "urn:g2": b"""<urn:m1> <urn:in> <urn:d1> .
<urn:m1> <urn:hits> "0.5"^^<http://www.w3.org/2001/XMLSchema#double> .
""",
}
SHAPE = "CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo }"


def direct(index: Index, text: str) -> list[bytes]:
    return sorted(index.triples(text))


def subjects(lines: list[bytes]) -> set[str]:
    return {line.split(b" ")[0].decode() for line in lines}


def same(text: str) -> list[bytes]:
    """The triples of a query that must be rewritten, after comparison with Oxigraph's."""
    index = index_of(DATA)
    how = plan(text)
    assert how.selection is not None, how.reason
    lines = construct(index, how)
    assert lines == direct(index, how.text)
    return lines


def as_it_is(text: str) -> str:
    how = plan(text)
    assert how.selection is None
    return how.reason


def test_rewrite_of_papers_shape_gives_triples_of_documents_and_annotations() -> None:
    lines = same(f"{SHAPE} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; <urn:in> ?d . ?m <urn:class> <urn:Person> }}")
    assert subjects(lines) == {"<urn:d1>", "<urn:m1>"}
    assert len(lines) == 2 + 3  # d1: size, text; m1: in (once, though in two graphs), class, hits


def test_rewrite_keeps_only_solutions_whose_open_subjects_have_triples() -> None:
    lines = same("CONSTRUCT { ?d ?p ?o . ?s <urn:lists> ?d } WHERE { ?s <urn:has> ?d . ?d ?p ?o }")
    # Neither <urn:nothing> nor the literal is the subject of a triple, so neither is listed.
    listed = {line for line in lines if b"<urn:lists>" in line}
    assert len(listed) == 3 and not any(b"nothing" in line or b"literal" in line for line in listed)


def test_rewrite_requires_triple_of_every_open_pattern_of_a_solution() -> None:
    # ?x is open but not in the template: d2 is kept only where some ?x with a triple is there too.
    text = "CONSTRUCT { ?d ?p ?o } WHERE { ?d <urn:size> ?n . ?d ?p ?o . ?x ?xp ?xo . VALUES ?x { <urn:nothing> } }"
    assert same(text) == []


def test_rewrite_of_limited_subselect_is_ordered_and_says_so() -> None:
    limited = "{ SELECT DISTINCT ?d { ?d <urn:size> ?n . ?d <urn:text> ?t } LIMIT 1 }"
    text = f"{SHAPE} WHERE {{ ?d ?dp ?do . {limited} ?m ?mp ?mo ; <urn:in> ?d }}"
    assert plan(text).notes == ("a sub-select has LIMIT 1 but no ORDER BY: it is ordered by ?d",)
    assert subjects(same(text)) == {"<urn:d1>", "<urn:m1>", "<urn:m2>"}


def test_rewrite_takes_the_first_iris_of_a_subselect_in_the_order_of_iris() -> None:
    # As IRIs 'a' comes before 'a1'; as N-Triples has them '<a>' would come after '<a1>', since '>' does after '1'.
    names = ["urn:a", "urn:a1", "urn:a10", "urn:a2", "urn:b", "urn:Z"]
    index = index_of({"urn:g": "".join(f"<{name}> <urn:size> <urn:o> .\n" for name in names).encode()})
    for cut, taken in (("LIMIT 3", ["urn:Z", "urn:a", "urn:a1"]), ("LIMIT 2 OFFSET 3", ["urn:a10", "urn:a2"])):
        first = f"{{ SELECT DISTINCT ?d {{ ?d <urn:size> ?n }} ORDER BY ?d {cut} }}"
        how = plan(f"CONSTRUCT {{ ?d ?p ?o }} WHERE {{ ?d ?p ?o . {first} }}")
        assert how.first is not None
        found = construct(index, how)
        assert found == direct(index, how.text)
        assert subjects(found) == {f"<{name}>" for name in taken}


def test_rewrite_leaves_given_order_of_subselect_alone() -> None:
    limited = "{ SELECT ?d { ?d <urn:size> ?n ; <urn:in>* ?d . FILTER(isIRI(?d)) } ORDER BY DESC(?n) LIMIT 1 }"
    text = f"{SHAPE} WHERE {{ ?d ?dp ?do . {limited} ?m ?mp ?mo ; <urn:in> ?d }}"
    assert plan(text).notes == ()
    assert subjects(same(text)) == {"<urn:d2>", "<urn:m3>"}


def test_rewrite_drops_template_triples_whose_variable_is_never_bound() -> None:
    text = "CONSTRUCT { ?d ?dp ?do . ?m ?mPrediacte ?mo } WHERE { ?d ?dp ?do . ?m ?mPredicate ?mo ; <urn:in> ?d }"
    assert plan(text).unbound == {"?mPrediacte": "?mPredicate"}
    assert subjects(same(text)) == {"<urn:d1>", "<urn:d2>"}
    fixed = with_variables(text, plan(text).unbound)
    assert subjects(same(fixed)) == {"<urn:d1>", "<urn:d2>", "<urn:m1>", "<urn:m2>", "<urn:m3>"}


def test_rewrite_covers_filters_optional_union_minus_bind_values_and_paths() -> None:
    where = """{ ?d ?dp ?do . ?m ?mp ?mo ; <urn:in> ?d .
      OPTIONAL { ?m <urn:hits> ?h } FILTER (!BOUND(?h) || ?h > 0.1)
      { ?m <urn:class> ?c } UNION { ?m <urn:in>/<urn:size> ?c }
      MINUS { ?m <urn:class> <urn:Place> }
      FILTER NOT EXISTS { ?d <urn:size> 9 } FILTER EXISTS { ?set <urn:has> ?d }
      VALUES ?kind { 1 2 } BIND (?kind + 1 AS ?more) FILTER (?more IN (2, 3)) }"""
    assert subjects(same(f"{SHAPE} WHERE {where}")) == {"<urn:d1>", "<urn:m1>", "<urn:m2>"}


def test_rewrite_covers_aggregates_in_subselects() -> None:
    text = f"""{SHAPE} WHERE {{ ?d ?dp ?do . {{ SELECT (?x AS ?d) (COUNT(?a) AS ?n) {{ ?a <urn:in> ?x }}
        GROUP BY ?x HAVING (COUNT(DISTINCT ?a) > 1) }} ?m ?mp ?mo ; <urn:in> ?d . FILTER (?n >= 2) }}"""
    assert subjects(same(text)) == {"<urn:d1>", "<urn:m1>", "<urn:m2>"}


def test_rewrite_keeps_separators_of_lines_within_literals() -> None:
    # U+2028 and U+0085 end lines of a text, but none of a query.
    text = 'FILTER NOT EXISTS { ?d <urn:text> "a\u2028b\x85c" }'
    lines = same(f"CONSTRUCT {{ ?d ?dp ?do }} WHERE {{ <urn:set> <urn:has> ?d . ?d ?dp ?do . {text} }}")
    assert {"<urn:d1>", "<urn:d2>"} < subjects(lines)


def test_rewrite_is_refused_where_subject_may_be_unbound() -> None:
    reason = as_it_is("CONSTRUCT { ?d ?p ?o } WHERE { OPTIONAL { ?d <urn:size> 9 } ?d ?p ?o }")
    assert reason == "no pattern serves the template alone"


def test_rewrite_is_refused_where_optional_comes_between_pattern_and_binding() -> None:
    # Here ?d is bound to every subject when OPTIONAL is reached, without the pattern to none.
    as_it_is("CONSTRUCT { ?d ?p ?o } WHERE { ?d ?p ?o OPTIONAL { ?d <urn:size> ?n } { SELECT ?d { ?m <urn:in> ?d } } }")


def test_rewrite_is_refused_where_pattern_serves_a_filter_too() -> None:
    as_it_is("CONSTRUCT { ?d ?p ?o } WHERE { ?d ?p ?o ; <urn:size> ?n FILTER (?p != <urn:size>) }")


def test_rewrite_is_refused_where_template_has_another_shape() -> None:
    as_it_is("CONSTRUCT { ?d <urn:value> ?o } WHERE { ?d ?p ?o ; <urn:size> ?n }")
    as_it_is("CONSTRUCT { ?d ?p ?o . ?o ?p ?d } WHERE { ?d ?p ?o ; <urn:size> ?n }")


def test_rewrite_is_refused_for_limit_of_the_whole() -> None:
    as_it_is(f"{SHAPE} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; <urn:in> ?d }} LIMIT 3")


def test_construct_reads_from_the_graphs_that_it_names() -> None:
    text = f"{SHAPE} FROM <urn:g2> WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; <urn:in> ?d }}"
    assert "FROM" in as_it_is(text)
    index = index_of(DATA)
    # <urn:g2> has no triple about a document, so no solution; the union has those of three annotations.
    assert construct(index, plan(text)) == direct(index, text) == []
    alone = "CONSTRUCT { ?m ?mp ?mo } FROM <urn:g2> WHERE { ?m ?mp ?mo ; <urn:in> ?d }"
    assert len(construct(index, plan(alone))) == 2


def test_rewrite_is_refused_for_blank_nodes_in_template_and_unsteady_functions() -> None:
    as_it_is("CONSTRUCT { ?d ?p ?o . [] <urn:of> ?d } WHERE { ?d ?p ?o ; <urn:size> ?n }")
    as_it_is("CONSTRUCT { ?d ?p ?o } WHERE { ?d ?p ?o ; <urn:size> ?n FILTER (RAND() < 2) }")


PLACES = ["?d", "?m", "?x", "<urn:d1>", "<urn:m1>", "<urn:a>"]
PREDICATES = ["<urn:in>", "<urn:size>", "<urn:class>", "<urn:has>"]
NODES = ["<urn:d1>", "<urn:d2>", "<urn:m1>", "<urn:m2>", "<urn:a>", "_:b"]
OBJECTS = [*NODES, '"1"', '"2"^^<http://www.w3.org/2001/XMLSchema#integer>', '"text"@en']

ALWAYS = [
    ("<urn:m1>", "<urn:in>", "<urn:d1>"),
    ("<urn:m2>", "<urn:in>", "<urn:d1>"),
    ("<urn:d1>", "<urn:size>", '"2"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ("<urn:a>", "<urn:has>", "<urn:d1>"),
    ("<urn:a>", "<urn:has>", "<urn:d2>"),
    ("<urn:m1>", "<urn:class>", "<urn:a>"),
]

triples = st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from(OBJECTS))
graphs = st.lists(st.lists(triples, max_size=12), min_size=1, max_size=2)
pattern = st.tuples(st.sampled_from(PLACES), st.sampled_from(PREDICATES), st.sampled_from([*PLACES, "?n"])).map(
    lambda t: " ".join(t) + " ."
)
path = st.sampled_from(
    ["?m <urn:in>/<urn:in>? ?d .", "?x ^<urn:has> ?d .", "?d <urn:has>* ?x .", "?m <urn:in>|<urn:has> ?d ."]
)
closed = st.sampled_from(["?d ?dp ?do .", "?m ?mp ?mo .", "?x ?xp ?xo ."])
inner = st.lists(pattern, min_size=1, max_size=2).map(" ".join)
element = st.one_of(
    pattern,
    path,
    closed,
    inner.map(lambda g: f"OPTIONAL {{ {g} }}"),
    inner.map(lambda g: f"MINUS {{ {g} }}"),
    inner.map(lambda g: f"FILTER EXISTS {{ {g} }}"),
    inner.map(lambda g: f"FILTER NOT EXISTS {{ {g} }}"),
    st.tuples(inner, inner).map(lambda g: f"{{ {g[0]} }} UNION {{ {g[1]} }}"),
    inner.map(lambda g: f"{{ SELECT DISTINCT ?d ?m WHERE {{ {g} }} LIMIT 2 }}"),
    inner.map(lambda g: f"{{ SELECT DISTINCT ?d WHERE {{ {g} }} ORDER BY ?d LIMIT 2 OFFSET 1 }}"),
    inner.map(lambda g: f"{{ SELECT ?d (COUNT(?m) AS ?count) WHERE {{ {g} }} GROUP BY ?d }}"),
    inner.map(lambda g: f"{{ SELECT (?x AS ?d) WHERE {{ {g.replace('?d', '?y')} }} ORDER BY ?x LIMIT 1 }}"),
    inner.map(lambda g: f"GRAPH ?g {{ {g} }}"),
    st.sampled_from(
        [
            "FILTER (?n > 1)",
            "FILTER (?x != <urn:d1> || !BOUND(?n))",
            "VALUES ?d { <urn:d1> <urn:d2> UNDEF }",
            "VALUES (?d ?m) { (<urn:d1> <urn:m1>) (<urn:a> <urn:a>) }",
        ]
    ),
)
template = st.lists(
    st.sampled_from(["?d ?dp ?do .", "?m ?mp ?mo .", "?m <urn:of> ?d .", "?x ?xp ?xo .", "?d <urn:said> ?never ."]),
    min_size=1,
    max_size=4,
    unique=True,
)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(graphs, template, st.lists(element, min_size=1, max_size=5))
def test_rewrite_of_any_query_gives_what_oxigraph_gives(
    data: list[list[tuple[str, str, str]]], made: list[str], elements: list[str]
) -> None:
    # Some triples are always there, so that many queries find something.
    data = [[*ALWAYS, *data[0]], *data[1:]]
    index = index_of(
        {f"urn:g{n}": "".join(" ".join(t) + " .\n" for t in graph).encode() for n, graph in enumerate(data)}
    )
    # The two open patterns of the papers' shape are always there, so that most queries are of the shape.
    text = (
        f"CONSTRUCT {{ {' '.join(made)} }} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo . ?m <urn:in> ?d . {' '.join(elements)} }}"
    )
    how = plan(text)
    assert construct(index, how) == direct(index, how.text)


def test_direct_run_is_what_oxigraph_itself_answers() -> None:
    # The comparison above is with the store's own answer, spelt by its own serialiser.
    store = ox.Store()
    store.load(DATA["urn:g1"], ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode("urn:g1"))
    answer = store.query("CONSTRUCT { ?m ?p ?o } WHERE { ?m <urn:class> ?c ; ?p ?o }", use_default_graph_as_union=True)
    expected = sorted((answer.serialize(format=ox.RdfFormat.N_TRIPLES) or b"").splitlines())
    index = index_of({"urn:g1": DATA["urn:g1"]})
    assert construct(index, plan("CONSTRUCT { ?m ?p ?o } WHERE { ?m <urn:class> ?c ; ?p ?o }")) == expected
