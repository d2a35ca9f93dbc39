"""What queries select for a remix: documents and annotations, and how many each condition left."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import NotAllowed, QueryError
from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.selection import Selection, select

SHAPE = "CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo . }"


@pytest.fixture
def cities(store: Store, make_corpus: Callable[..., Path]) -> Store:
    """b1: Basel, Rhine; b2: Basel; b3: no annotation; of one dataset. Sizes are given as enrichment: b1 2, b2 1."""
    texts = {"b1": "Basel on the Rhine.", "b2": "Basel again.", "b3": "Nothing here."}
    store.load(make_corpus("cities", texts, Basel="Basel", Rhine="Rhine"))
    documents = store.frames().documents["document"].to_list()
    sizes = "".join(
        f'<{document}> <urn:size> "{size}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        for document, size in zip(documents, (2, 1, 0), strict=True)
    )
    store.enrich({"cities": sizes.encode()}, "sizes")
    return store


def chosen(store: Store, text: str, **choices: object) -> Selection:
    return select(store.index(), text, store.frames(), **choices)  # type: ignore[arg-type]


def kept(store: Store, text: str, **choices: object) -> tuple[list[str], list[str]]:
    """The last parts of the documents' and the surface forms of the annotations that a query selects."""
    found = chosen(store, text, **choices)
    forms = store.frames().annotations
    named = dict(zip(forms["annotation"], forms["surface_form"], strict=True))
    return [one.rsplit("/", 1)[-1] for one in found.documents], [named[one] for one in found.annotations]


def test_select_of_annotations_keeps_their_documents(cities: Store) -> None:
    assert kept(cities, "SELECT ?annotation { ?annotation itsrdf:taIdentRef dbr:Rhine }") == (["b1"], ["Rhine"])


def test_select_of_documents_keeps_all_their_annotations(cities: Store) -> None:
    assert kept(cities, "SELECT ?document { ?document <urn:size> 2 }") == (["b1"], ["Basel", "Rhine"])


def test_select_of_both_keeps_documents_whose_annotations_fell_out(cities: Store) -> None:
    text = """SELECT ?document ?annotation { ?document <urn:size> ?n FILTER (?n < 2)
      OPTIONAL { ?annotation nif:referenceContext ?document ; nif:anchorOf "Basel" } }"""
    assert kept(cities, text) == (["b2", "b3"], ["Basel"])


def test_construct_keeps_the_subjects_of_its_template(cities: Store) -> None:
    text = f'{SHAPE} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d ; nif:anchorOf "Basel" }}'
    assert kept(cities, text) == (["b1", "b2"], ["Basel", "Basel"])


def test_construct_of_documents_alone_keeps_all_their_annotations(cities: Store) -> None:
    text = "CONSTRUCT { ?d ?p ?o } WHERE { ?d <urn:size> ?n ; ?p ?o FILTER (?n > 1) }"
    assert kept(cities, text) == (["b1"], ["Basel", "Rhine"])


def test_construct_that_cannot_be_rewritten_is_run_as_it_stands(cities: Store) -> None:
    text = f'{SHAPE} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d ; nif:anchorOf "Rhine" }} LIMIT 1000'
    assert kept(cities, text) == (["b1"], ["Rhine"])
    assert chosen(cities, text).notes[-1].startswith("the query is run as it stands (the query as a whole has a LIMIT")


def test_construct_whose_annotations_all_fell_out_does_not_get_them_back(cities: Store) -> None:
    text = f"""{SHAPE} WHERE {{ {{ ?d <urn:size> 2 ; ?dp ?do }} UNION {{ ?m nif:anchorOf "None" ; ?mp ?mo }} }}"""
    assert kept(cities, text) == (["b1"], [])


def test_limits_are_ordered_so_that_they_take_the_same_rows(cities: Store) -> None:
    outer = "SELECT ?document { ?document <urn:size> ?n } LIMIT 1"
    limited = "{ SELECT ?d { ?d <urn:size> ?n } LIMIT 1 }"
    inner = f"{SHAPE} WHERE {{ ?d ?dp ?do . {limited} ?m ?mp ?mo ; nif:referenceContext ?d }}"
    assert kept(cities, outer)[0] == kept(cities, inner)[0] == ["b1"]
    assert chosen(cities, outer).notes == ("the query has LIMIT 1 but no ORDER BY: it is ordered by ?document",)
    assert chosen(cities, inner).notes == ("a sub-select has LIMIT 1 but no ORDER BY: it is ordered by ?d",)


def test_waterfall_counts_what_each_condition_left(cities: Store) -> None:
    text = f"""{SHAPE} WHERE {{ ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d . ?d <urn:size> ?n .
      FILTER (?n >= 1) FILTER EXISTS {{ ?m nif:anchorOf "Basel" }} FILTER (?n > 1) }}"""
    found = chosen(cities, text, explain=True)
    # All three documents are loaded; b3 has no annotation, so no pattern holds for it.
    assert found.waterfall.rows() == [
        ("everything loaded", 3, 3),
        ("graph patterns", 2, 3),
        ("FILTER (?n >= 1)", 2, 3),
        ('FILTER (EXISTS { ?m nif:anchorOf "Basel" . })', 2, 2),
        ("FILTER (?n > 1)", 1, 1),
    ]
    assert len(found.documents) == 1 and len(found.annotations) == 1
    assert chosen(cities, text).waterfall.is_empty()


def test_waterfall_counts_a_subselect_of_patterns_alone_among_the_patterns(cities: Store) -> None:
    text = """SELECT ?document ?annotation { { SELECT ?document ?n { ?document <urn:size> ?n } }
      { SELECT ?document ?annotation { ?annotation nif:referenceContext ?document } } FILTER (?n > 1) }"""
    steps = [row[0] for row in chosen(cities, text, explain=True).waterfall.rows()]
    assert steps == ["everything loaded", "graph patterns", "FILTER (?n > 1)"]


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        ("FILTER (?scale > 2) FILTER (?scale < 5)", [16, 14, 2]),
        ("FILTER (?scale > 2) FILTER NOT EXISTS { ?annotation rmx:isRare true }", [16, 14, 6]),
        ("FILTER (?scale) FILTER (STRLEN(?scale) > 1)", [16, 15, 0]),
    ],
    ids=["filters in one query", "patterns one by one", "values that are no truth, and errors"],
)
def test_waterfall_of_filters_is_that_of_the_query_cut_off_after_each(
    small_store: Store, conditions: str, left: list[int]
) -> None:
    """Filters hold as in SPARQL: a number but 0 is true, and an error is not."""
    base = "?annotation nif:referenceContext ?document ; hfts:ambiguitySurfaceForm ?scale ."
    found = chosen(small_store, f"SELECT ?annotation {{ {base} {conditions} }}", explain=True)
    assert found.waterfall["annotations"].to_list()[1:] == left
    first = conditions.partition(" FILTER")[0]
    cut = chosen(small_store, f"SELECT ?annotation {{ {base} {first} }}")
    assert left[1:] == [len(cut.annotations), len(found.annotations)]


def test_waterfall_shows_a_subselect_as_a_condition(cities: Store) -> None:
    text = f"""{SHAPE} WHERE {{ ?d ?dp ?do . {{ SELECT ?d {{ ?d <urn:size> ?n }} ORDER BY ?n LIMIT 2 }}
      ?m ?mp ?mo ; nif:referenceContext ?d }}"""
    conditions = chosen(cities, text, explain=True).waterfall
    assert conditions["annotations"].to_list() == [3, 3, 1, 1]
    assert conditions["condition"][2].startswith("{ SELECT ?d WHERE")


def test_misspelt_template_variable_is_refused_unless_it_may_be_fixed(cities: Store) -> None:
    text = (
        "CONSTRUCT { ?d ?p ?o . ?m ?mPrediacte ?mo } WHERE { ?d ?p ?o . ?m ?mPredicate ?mo ; nif:referenceContext ?d }"
    )
    with pytest.raises(QueryError, match=r"\?mPrediacte .* never bound .* did you mean \?mPredicate\? --fix-variables"):
        chosen(cities, text)
    assert kept(cities, text, fix_variables=True) == (["b1", "b2"], ["Basel", "Rhine", "Basel"])
    assert chosen(cities, text, fix_variables=True).notes == ("?mPrediacte in the template is read as ?mPredicate",)


def test_other_kinds_of_queries_are_refused_with_the_reason(cities: Store) -> None:
    for text, said in (
        ("ASK { ?s ?p ?o }", "is no SELECT and no CONSTRUCT"),
        ("SELECT ?doc { ?doc <urn:size> 2 }", r"selects \?doc: a remix needs \?document or \?annotation"),
        ("SELECT ?document { ?document <urn:size>", "the query:1:"),
    ):
        with pytest.raises(QueryError, match=said):
            chosen(cities, text)
    with pytest.raises(NotAllowed):
        chosen(cities, "SELECT ?document { SERVICE <http://b.org/> { ?document ?p ?o } }")


def test_waterfall_reads_from_the_graphs_that_the_query_names(small_store: Store) -> None:
    text = "SELECT ?annotation FROM <urn:remix:dataset:news> { ?annotation a nif:Phrase FILTER (isIRI(?annotation)) }"
    found = chosen(small_store, text, explain=True)
    # news has 8 annotations in 2 of its 3 documents, all together 16 in 6.
    steps = found.waterfall.rows()
    assert steps[0][1:] == (6, 16) and [step[1:] for step in steps[1:]] == [(2, 8)] * (len(steps) - 1)


def test_remix_reads_from_the_graphs_that_a_construct_names(small_store: Store) -> None:
    text = "CONSTRUCT { ?a ?p ?o } FROM <urn:remix:dataset:news> { ?a a nif:Phrase ; ?p ?o }"
    assert len(chosen(small_store, text).annotations) == 8  # of 16


def test_limit_within_named_graphs_is_ordered(small_store: Store) -> None:
    found = chosen(small_store, "SELECT ?annotation FROM <urn:remix:dataset:news> { ?annotation a nif:Phrase } LIMIT 3")
    assert found.annotations.to_list() == small_store.frames(["news"]).annotations["annotation"].sort()[:3].to_list()
    assert found.notes == ("the query has LIMIT 3 but no ORDER BY: it is ordered by ?annotation",)


def test_limit_that_cannot_be_ordered_is_told(small_store: Store) -> None:
    found = chosen(small_store, "SELECT ?annotation { ?annotation a nif:Phrase FILTER (RAND() < 2) } LIMIT 3")
    assert len(found.annotations) == 3
    assert found.notes == (
        "the query has a LIMIT but no ORDER BY, and gets none (Builtin_RAND): it may take other rows next time",
    )


SAME = {
    "patterns alone": "SELECT ?annotation { ?annotation nif:anchorOf ?form }",
    "filters": "SELECT ?document ?annotation { ?annotation nif:referenceContext ?document ; nif:anchorOf ?form "
    'FILTER (?form = "Basel") FILTER (STRLEN(?form) > 3) }',
    "a filter that fails on some": "SELECT ?document { ?document nif:isString ?text "
    "OPTIONAL { ?document <urn:size> ?n } FILTER (1 / ?n >= 1) }",
    "a pattern that may not be": "SELECT ?annotation { ?annotation nif:referenceContext ?document "
    'MINUS { ?annotation nif:anchorOf "Rhine" } FILTER EXISTS { ?document <urn:size> 2 } }',
    "all variables": "SELECT * { ?annotation nif:referenceContext ?document FILTER EXISTS { ?document <urn:size> 1 } }",
    "a limit": "SELECT ?annotation { ?annotation nif:anchorOf ?form FILTER (STRLEN(?form) > 3) } "
    "ORDER BY ?form LIMIT 1",
    "groups": "SELECT ?document { ?annotation nif:referenceContext ?document } "
    "GROUP BY ?document HAVING (COUNT(*) > 1)",
    "values after it": "SELECT ?document { ?document <urn:size> ?n FILTER (?n > 0) } VALUES ?n { 1 }",
    "a column that nothing binds": "SELECT ?document ?annotation { ?document <urn:size> ?n FILTER (?n > 1) }",
    "a name of what is computed": "SELECT (?d AS ?document) { ?d <urn:size> ?n FILTER (?n > 1) }",
    "nothing": "SELECT ?annotation { ?annotation nif:anchorOf ?form FILTER (?form = 'Nowhere') }",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_is_selected_is_the_same_where_each_condition_is_counted(cities: Store, text: str) -> None:
    plain, explained = chosen(cities, text), chosen(cities, text, explain=True)
    assert explained.annotations.equals(plain.annotations) and explained.documents.equals(plain.documents)
    assert (explained.notes, explained.rewritten) == (plain.notes, plain.rewritten)
    assert plain.waterfall.is_empty() and not explained.waterfall.is_empty()


@pytest.mark.parametrize("name", shipped_queries())
def test_shipped_queries_select_the_same_where_each_condition_is_counted(small_store: Store, name: str) -> None:
    """A query that is for no remix is refused in either way."""
    index, frames, text = small_store.index(), small_store.frames(), find(f"{name}.rq").bind({})
    try:
        plain = select(index, text, frames)
    except QueryError as error:
        with pytest.raises(QueryError, match=re.escape(str(error))):
            select(index, text, frames, explain=True)
        return
    explained = select(index, text, frames, explain=True)
    assert explained.annotations.equals(plain.annotations) and explained.documents.equals(plain.documents)
    assert explained.notes == plain.notes
