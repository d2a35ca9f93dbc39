"""One rule of what an IRI is: what the store's parser takes, what others become, and that they compare the same."""

from __future__ import annotations

from urllib.parse import unquote

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remix.errors import UsageError
from remix.iris import canonical, canonical_iri
from remix.rdf.iris import dataset_iri, entity_iri, is_legal, legal, legal_iri, legal_reference, plain_entity

LETTERS = st.one_of(
    st.sampled_from('a#%/?:@[] \\^`{|}<>"\x00\x7f\x85\xa0\ue000\ufdd0\ufffd\uffff\U0001fffe\U000e0001\U0010ffff'),
    st.characters(codec="utf-8"),
)
TEXTS = st.text(LETTERS, max_size=12)
IRIS = st.builds(
    "{}{}".format,
    st.sampled_from(
        ["http://x/", "http://", "urn:x:", "http://dbpedia.org/resource/", "https://en.wikipedia.org/wiki/"]
    ),
    TEXTS,
)


def parses(iri: str) -> bool:
    try:
        [quad] = ox.parse(f"<urn:s> <urn:p> <{iri}> .".encode(), ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError):
        return False
    return str(quad.object) == f"<{iri}>"


def each(expression: pl.Expr, *values: str) -> list[object]:
    return pl.DataFrame({"x": values}, schema={"x": pl.String}).select(expression).to_series().to_list()


@given(IRIS)
@example("http://x/a#b#c")
@example("http://x/%")
@example("http://[x]/a")
@example("http://x:abc/")
@example("http://u@v@w/")
@example("http://[::1]/a")
def test_legal_is_what_the_parser_takes_and_all_else_becomes_legal_once(iri: str) -> None:
    assert each(is_legal(pl.col("x")), iri) == [parses(iri)]
    mended = legal_iri(iri)
    assert parses(mended)
    assert legal_iri(mended) == mended
    assert each(legal(pl.col("x")), iri) == [mended]
    if parses(iri):
        assert mended == iri


@given(TEXTS)
@example("//x:y/")
@example("1a:b")
def test_relative_reference_becomes_one_that_resolves(reference: str) -> None:
    mended = legal_reference(reference)
    [quad] = ox.parse(f"<> <urn:p> <{mended}> .".encode(), ox.RdfFormat.TURTLE, base_iri="http://base/d")
    assert isinstance(quad.object, ox.NamedNode)


@given(IRIS)
@example("http://dbpedia.org/resource/A#b#c")
@example("http://dbpedia.org/resource/100%")
@example("http://dbpedia.org/resource/[a]")
def test_link_compares_the_same_before_and_after_it_was_mended(iri: str) -> None:
    form = canonical_iri(iri)
    assert parses(form)
    assert canonical_iri(legal_iri(iri)) == form == canonical_iri(form)


@given(st.text(st.characters(codec="utf-8"), min_size=1))
@example("a#b#c")
@example("100%")
@example("\u3000E\n")
def test_entity_that_is_no_iri_comes_back_from_rdf_as_it_was(entity: str) -> None:
    [iri] = each(entity_iri(pl.col("x")), entity)
    assert parses(str(iri))
    if str(iri).startswith("urn:remix:entity:"):
        assert each(plain_entity(pl.col("x")), str(iri)) == [entity]


def test_columns_keep_null_and_what_has_no_scheme() -> None:
    rows = pl.DataFrame({"x": [None, "E 5%", "a b:c"]})
    assert rows.select(legal(pl.col("x")))["x"].to_list() == [None, "E 5%", "a b:c"]
    assert canonical(pl.Series(["E05|a", None])).to_list() == ["E05|a", None]


def test_dataset_is_named_by_an_iri_behind_which_annotations_can_be_named() -> None:
    assert unquote(dataset_iri("a b#c")) == "urn:remix:dataset:a b#c"
    assert parses(dataset_iri("a b#c") + "/d#char=0,1")
    for base in ("http://x/ds#", "no scheme", "http://x/%", "http://x y/"):
        with pytest.raises(UsageError, match="begins no IRI"):
            dataset_iri("x", base)
