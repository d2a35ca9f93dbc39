"""Queries as files: finding, decorators, parameters, hostile values."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import NotAllowed, QueryError, UnknownName, UsageError
from remix.rdf.terms import literal
from remix.store.index import Index
from remix.store.queries import Query, find, shipped_queries
from tests.workspaces import index_of

TEXT = """#+ summary: Things of a class
#+ description: >-
#+   Over two
#+   lines.
#+ tags: [one, two]
#+ params:
#+   class: IRI of the class
#+   bound: smallest size
#+ sets:
#+   strict: {bound: 10, class: "dbo:Person"}
#+ defaults:
#+   - label: "b"
PREFIX own: <urn:own:>
SELECT ?s WHERE {
  # VALUES ?comment { 1 }
  VALUES ?class { <urn:Thing> }
  VALUES ?bound { 0.5 }
  values ?label {"a"}
  VALUES ?flag { true }
  VALUES (?x ?y) { (1 2) }
  ?s a ?class ; <urn:size> ?size ; <urn:label> ?label . FILTER (?size >= ?bound && "VALUES ?no { 1 }" != ?label)
}
"""


def value_of(query: Query, name: str, value: object) -> str:
    """The term that a value becomes, as SPARQL spells it."""
    return query.values({name: value})[name]


def test_decorators_are_read() -> None:
    query = Query.parse(TEXT, "things")
    assert (query.summary, query.description, query.tags) == ("Things of a class", "Over two lines.", ("one", "two"))
    assert query.parameters["class"].description == "IRI of the class"
    assert query.sets["strict"] == {"bound": 10, "class": "dbo:Person"}


def test_parameters_are_the_values_lines_outside_comments_and_strings() -> None:
    parameters = Query.parse(TEXT).parameters
    assert {name: one.default for name, one in parameters.items()} == {
        "class": "<urn:Thing>",
        "bound": "0.5",
        "label": '"b"',
        "flag": "true",
    }


def test_bound_query_runs_with_the_values() -> None:
    data = b"".join(b'<urn:s%d> a <urn:Thing> ; <urn:size> %d ; <urn:label> "b" .' % pair for pair in ((1, 3), (2, 7)))
    triples = ox.serialize(ox.parse(data, ox.RdfFormat.TURTLE), format=ox.RdfFormat.N_TRIPLES) or b""
    index = index_of({"urn:g": triples})
    query = Query.parse(TEXT)
    assert index.frame(query.bind({}))["s"].sort().to_list() == ["<urn:s1>", "<urn:s2>"]
    assert index.frame(query.bind({"bound": 5}))["s"].to_list() == ["<urn:s2>"]
    assert index.frame(query.bind({"class": "urn:Other"})).is_empty()


def test_values_come_after_the_set_they_refine() -> None:
    query = Query.parse(TEXT)
    assert query.values({"bound": "20"}, "strict") == {
        "class": "<http://dbpedia.org/ontology/Person>",
        "bound": "20",
        "label": '"b"',
        "flag": "true",
    }


def test_several_values_are_alternatives() -> None:
    assert value_of(Query.parse(TEXT), "class", ["urn:a", "own:b"]) == "<urn:a> <urn:own:b>"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("bound", "many", "takes a number such as 0.5, not 'many'"),
        ("bound", "nan", "takes a number"),
        ("class", "Person", "takes an IRI"),
        ("class", "urn:a b", "takes an IRI"),
        ("class", "urn:a> } DROP ALL #", "takes an IRI"),
        ("flag", "maybe", "takes true or false"),
    ],
)
def test_value_of_another_kind_is_refused(name: str, value: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Query.parse(TEXT).bind({name: value})


def test_value_that_is_none_of_the_choices_is_refused_with_the_nearest() -> None:
    """Whatever is not 'absolute' was a percentile."""
    query = find("persons_hard")
    assert query.parameters["scale"].choices == ("absolute", "percentile")
    assert '"percentile"' in query.bind({"scale": "percentile"})
    with pytest.raises(UnknownName, match="no value of scale named 'absolut'; did you mean 'absolute'"):
        query.bind({"scale": "absolut"})
    with pytest.raises(QueryError, match="parameter 'm' has no line VALUES"):
        Query.parse("#+ choices:\n#+   m: [a, b]\nSELECT * { VALUES ?n { 3 } ?s ?p ?n }")


def test_every_shipped_scale_has_its_choices() -> None:
    queries = [find(name) for name in shipped_queries()]
    scaled = [query for query in queries if "scale" in query.parameters]
    assert len(scaled) > 10 and all(query.parameters["scale"].choices for query in scaled)


BOUNDED = """#+ choices:
#+   of: [a, b]
#+ bounds:
#+   share: [0, 1]
#+   count: {of=a: [1], of=b: [-5, 1.5]}
#+ sets:
#+   many:
#+     count: 100
SELECT * { VALUES ?of { "a" } VALUES ?share { 0.5 } VALUES ?count { 3 } ?s ?p ?share }"""


@pytest.mark.parametrize(
    ("values", "set_from", "said"),
    [
        ({"share": 0}, None, None),
        ({"share": "1"}, None, None),
        (
            {"share": "1.0001"},
            None,
            "parameter 'share' lies between 0 and 1, not at 1.0001: .* `remix show query` says",
        ),
        ({"share": -0.1}, None, "not at -0.1"),
        ({"share": "1e2"}, None, "not at 1e2"),
        ({"share": [0.5, 2]}, None, "not at 2"),
        ({"count": 10**6}, None, None),
        ({"count": 0}, None, "parameter 'count' lies at least 1 where of is a, not at 0"),
        ({"count": 0, "of": "b"}, None, None),
        ({"count": 2, "of": "b"}, None, "'count' lies between -5 and 1.5 where of is b, not at 2"),
        ({}, "many", None),
        ({"of": "b"}, "many", "'count' lies between -5 and 1.5 where of is b, not at 100"),
        ({"of": "b", "count": 1}, "many", None),
    ],
)
def test_number_beyond_the_bounds_of_a_parameter_is_refused(
    values: dict[str, object], set_from: str | None, said: str | None
) -> None:
    query = Query.parse(BOUNDED)
    if said is None:
        assert query.bind(values, set_from)
    else:
        with pytest.raises(UsageError, match=said):
            query.bind(values, set_from)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ("m: [0, 1]", "parameter 'm' has no line VALUES"),
        ("n: [1, 0]", r"the bounds of 'n' are a list \[LOW\] or \[LOW, HIGH\] of numbers, not \[1, 0\]"),
        ("n: [0, 1, 2]", r"not \[0, 1, 2\]"),
        ("n: []", r"not \[\]"),
        ("n: [true]", r"not \[True\]"),
        ("n: few", r"not \['few'\]"),
        ("n: {off=a: [0]}", "not where 'off=a'; did you mean 'of'"),
        ("n: {of: [0]}", "as scale=percentile, not where 'of'"),
        ("of: [0, 1]", "'of' has bounds, and its default 'a' is no number"),
    ],
)
def test_bounds_that_say_nothing_are_refused_with_what_they_are(bounds: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Query.parse(f"#+ bounds:\n#+   {bounds}\nSELECT * {{ VALUES ?n {{ 3 }} VALUES ?of {{ 'a' }} ?s ?p ?n }}")


def test_every_number_of_a_shipped_query_has_bounds_and_defaults_and_sets_lie_within() -> None:
    """A percentile lies between 0 and 100, whatever it is of."""
    for query in map(find, shipped_queries()):
        scales = query.parameters["scale"].choices if "scale" in query.parameters else ("",)
        for one in query.parameters.values():
            number = not one.choices and re.match(r"[0-9.]", one.default) is not None
            for scale in scales:
                known = query.ranges({"scale": scale} if scale else {}).get(one.name)
                assert (known is not None) == number, (query.name, one.name)
                if scale == "percentile" and known is not None and known.where is not None:
                    assert (known.low, known.high) == (0, 100)
        for set_from in (None, *query.sets):
            assert query.bind(
                {one.name: one.default for one in query.parameters.values() if one.bounds and not set_from}, set_from
            )


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("agreement_between", {"max_agreement": 5}, "'max_agreement' lies between 0 and 1, not at 5"),
        ("persons_hard", {"scale": "percentile", "min_confusion": 640}, "between 0 and 100 where scale is percentile"),
        ("medium_skew", {"min_extremes": 7}, "between 0 and 6"),
        ("born_before", {"year": 476}, "between 1000 and 9999"),
    ],
)
def test_number_that_a_shipped_query_cannot_mean_is_refused(name: str, values: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find(name).bind(values)


def test_unknown_parameter_and_set_name_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no parameter named 'bond'; did you mean 'bound'"):
        Query.parse(TEXT).bind({"bond": 1})
    with pytest.raises(UnknownName, match="no parameter set named 'strct'; did you mean 'strict'"):
        Query.parse(TEXT).bind({}, "strct")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_from_a_query_as_it_was(text: str) -> None:
    query = Query.parse('SELECT ?given { VALUES ?given { "default" } }')
    found = Index(None).frame(query.bind({"given": text}))
    assert found.height == 1
    assert found["given"][0] == str(ox.Literal(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_comes_back_from_a_query_as_it_was(number: float) -> None:
    query = Query.parse("SELECT ?given { VALUES ?given { 0.5 } }")
    found = Index(None).frame(query.bind({"given": number}))
    assert found.select(literal(pl.col("given")).cast(pl.Float64)).item() == number


def test_find_takes_shipped_name_path_and_text(tmp_path: Path) -> None:
    assert find("persons_hard").name == find("persons_hard.rq").name == "persons_hard"
    file = tmp_path / "mine.rq"
    file.write_text("ASK {}", encoding="utf-8")
    assert (find(file).name, find(file).source) == ("mine", str(file))
    assert find("ASK { ?s ?p ?o }").name == "query"


def test_find_of_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no query named 'person_hard'; did you mean 'persons_hard'"):
        find("person_hard")


def test_find_refuses_what_is_no_query(tmp_path: Path) -> None:
    for name, content, said in (
        ("empty.rq", b"  \n", "is empty"),
        ("binary.rq", b"\xff\xfe\x00", "not text in UTF-8"),
        ("drop.rq", b"DROP ALL", "DROP would change data"),
        ("yaml.rq", b"#+ summary: [\nASK {}", "its decorators are no YAML"),
        ("params.rq", b"#+ params: {size: the size}\nASK {}", "parameter 'size' has no line VALUES"),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(QueryError, match=said):
            find(file)
    with pytest.raises(QueryError, match="is a folder"):
        find(tmp_path)


def test_update_in_any_dress_is_not_allowed() -> None:
    for update in ("DROP ALL", "# SELECT\ninsert data { }", 'prefix a: <urn:select> DELETE WHERE { ?s ?p "ASK" }'):
        with pytest.raises(NotAllowed):
            Query.parse(update)


def test_every_shipped_query_says_what_it_is() -> None:
    assert len(shipped_queries()) >= 30
    for file in shipped_queries().values():
        query = find(file)
        assert query.summary and query.description, file.name
        assert all(one.description for one in query.parameters.values()), file.name
        assert all(set(values) <= set(query.parameters) for values in query.sets.values()), file.name
        for name in query.sets:
            query.bind({}, name)


def test_parameter_that_stands_in_several_places_is_replaced_in_all_of_them() -> None:
    query = Query.parse("SELECT * { { VALUES ?n { 3 } ?s ?p ?n } UNION { VALUES ?n { 3 } ?n ?p ?s } }")
    assert query.bind({"n": 12}) == "SELECT * { { VALUES ?n { 12 } ?s ?p ?n } UNION { VALUES ?n { 12 } ?n ?p ?s } }"
    apart = Query.parse("SELECT * { { VALUES ?n { 3 } ?s ?p ?n } UNION { VALUES ?n { 4 } ?n ?p ?s } }")
    assert apart.bind({"n": 12}).count("{ 4 }") == 1
