"""The frames beside the data and the graph in the index say the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix.iris import canonical
from remix.rdf.terms import iri, literal
from remix.resources import folder
from remix.store import Store

ANNOTATIONS = """SELECT ?annotation ?document ?begin ?end ?surface_form ?given {
  ?annotation nif:referenceContext ?document ; nif:beginIndex ?begin ; nif:endIndex ?end ; rmx:givenIri ?given .
  ?document nif:isString ?text .
  BIND (SUBSTR(?text, xsd:integer(?begin) + 1, xsd:integer(?end - ?begin)) AS ?surface_form)
}"""
DOCUMENTS = """SELECT ?document ?text ?dataset {
  ?dataset a hfts:Dataset ; hfts:referenceDocuments ?document . ?document nif:isString ?string .
  BIND (STR(?string) AS ?text)
}"""
LINKS = "SELECT ?annotation ?entity_as_given { ?annotation itsrdf:taIdentRef ?entity_as_given }"


def asked(store: Store, query: str) -> pl.DataFrame:
    """The solutions as plain values."""
    terms = store.index().frame(query)
    rows = terms.select(pl.coalesce(literal(pl.col(name)), iri(pl.col(name))) for name in terms.columns)
    return rows.with_columns(pl.col("^begin|end$").cast(pl.Int64))


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    "files",
    [
        ["sample-news", "sample-posts"],
        ["kore50/kore50-nif.ttl", "n3/Reuters-128.ttl.gz", "opentapioca/istex_test.ttl.gz"],
    ],
)
def test_frames_when_asked_of_the_index_are_the_same(
    files: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store = Store(tmp_path / "workspace")
    for file in files:
        shipped = folder("datasets") / "corpus" / f"{file}.ttl"
        store.load(shipped if shipped.exists() else request.getfixturevalue("real_data") / "nif" / file)
    frames = store.frames()
    for query, frame in ((ANNOTATIONS, frames.annotations), (DOCUMENTS, frames.documents)):
        found = asked(store, query)
        kept = frame.select(found.columns).sort(found.columns)
        assert found.sort(found.columns).equals(kept)
    links = asked(store, LINKS)
    # NIL markers are links in the data and no links in the frames.
    nil = frames.annotations.filter("is_nil").select("annotation")
    linked = links.join(nil, on="annotation", how="anti")
    assert sorted(canonical(linked["entity_as_given"])) == sorted(frames.links["entity"])
