"""Queries in the papers' style run verbatim: those of the real data, and the same shapes in words of our own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from remix.errors import QueryError
from remix.remixes import build
from remix.store import Store
from remix.store.queries import Query, find
from tests.processes import PythonProcess

NEWS_1 = {"Anna", "Michael", "David", "Alice", "Paris"}
NEWS_2 = {"Mercury", "NASA", "Jordan"}
POSTS_1 = {"Python", "Java", "Mr Nobody"}
POSTS_2 = {"python", "Thriller", "Rebecca", "Apple"}

FORMS = {
    # 3 to 153 annotations, density 0.035 to 0.133: news/2; 64 or more entities for the form: Jordan.
    "difficult": {"Jordan"},
    "many_persons": NEWS_1,
    "maxrecall_all": NEWS_1 | NEWS_2,
    # Any class but Person, Place, Organisation; owl:Thing (Java) and el: (Mr Nobody) are classes to this query.
    "other_types": {"Mercury", "Java", "Mr Nobody", "python", "Thriller", "Rebecca"},
    # The first five documents by IRI are all but posts/3, of which news/3 has no annotation to bind.
    "limited": NEWS_1 | NEWS_2 | POSTS_1 | POSTS_2,
}

CONSTRUCT = "CONSTRUCT { ?text ?tp ?to . ?mention ?mp ?mo . }"
OWN = {
    "difficult": f"""
        prefix h: <https://raw.githubusercontent.com/santifa/hfts/master/ont/nif-ext.ttl#>
        {CONSTRUCT} WHERE {{
          ?text ?tp ?to . ?mention ?mp ?mo . ?mention nif:referenceContext ?text .
          ?text h:density ?density . ?text h:numAnnotations ?count . ?mention h:ambiguitySurfaceForm ?form .
          FILTER (?count >= 3) FILTER (?density <= 0.133) FILTER (?form >= 64) }}""",
    "many_persons": f"""{CONSTRUCT} WHERE {{
          ?text ?tp ?to ; hfts:maxRecall ?recall .
          {{ SELECT DISTINCT (?t AS ?text) (COUNT(?one) AS ?many) WHERE {{
               ?corpus hfts:referenceDocuments ?t . ?one nif:referenceContext ?t ; itsrdf:taClassRef dbo:Person }}
             GROUP BY ?t LIMIT 100 }}
          ?mention ?mp ?mo ; nif:referenceContext ?text .
          FILTER (?many > 3) FILTER (xsd:double(?recall) >= 0.8) }}""",
    "maxrecall_all": f"""{CONSTRUCT} WHERE {{
          ?corpus hfts:referenceDocuments ?text . ?text ?tp ?to . ?mention ?mp ?mo ; nif:referenceContext ?text .
          ?text hfts:maxRecall ?recall . FILTER (xsd:double(?recall) >= 1.0) }}""",
    "other_types": f"""{CONSTRUCT} WHERE {{
          ?text ?tp ?to . ?mention ?mp ?mo ; nif:referenceContext ?text .
          FILTER EXISTS {{ ?mention its:taClassRef ?any }}
          FILTER NOT EXISTS {{ ?mention its:taClassRef dbo:Person }}
          FILTER NOT EXISTS {{ ?mention its:taClassRef dbo:Place }}
          FILTER NOT EXISTS {{ ?mention its:taClassRef dbo:Organisation }} }}""",
    "limited": f"""{CONSTRUCT} WHERE {{
          ?text ?tp ?to . {{ SELECT DISTINCT (?t AS ?text) WHERE {{ ?corpus hfts:referenceDocuments ?t }} LIMIT 5 }}
          ?mention ?mp ?mo ; nif:referenceContext ?text . }}""",
}
MISSPELT = OWN["limited"].replace("?mention ?mp ?mo . }", "?mention ?pm ?mo . }", 1)


def _kept(store: Store, query: Query, **choices: bool) -> set[str]:
    frames = build(store, query, **choices).frames.gold()  # type: ignore[arg-type]
    return set(frames.annotations["surface_form"])


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("name", sorted(OWN))
def test_query_in_the_papers_style_keeps_a_known_part(small_store: Store, name: str) -> None:
    assert _kept(small_store, Query.parse(OWN[name], name)) == FORMS[name]


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("name", sorted(FORMS))
def test_query_of_the_real_data_runs_as_it_is(small_store: Store, real_data: Path, name: str) -> None:
    assert _kept(small_store, find(real_data / "queries" / f"{name}.rq")) == FORMS[name]


def test_template_variable_that_is_never_bound_is_refused_with_the_nearest(small_store: Store) -> None:
    with pytest.raises(QueryError, match=r"\?pm .*never bound.*\?mp"):
        build(small_store, Query.parse(MISSPELT))


@pytest.mark.long
def test_template_variable_that_is_never_bound_is_mended_when_asked(small_store: Store) -> None:
    assert _kept(small_store, Query.parse(MISSPELT), fix_variables=True) == FORMS["limited"]


@pytest.mark.long
def test_misspelt_query_of_the_real_data_is_refused_and_can_be_mended(small_store: Store, real_data: Path) -> None:
    query = find(real_data / "queries" / "misspelt_variable.rq")
    with pytest.raises(QueryError, match="never bound"):
        build(small_store, query)
    assert _kept(small_store, query, fix_variables=True) == FORMS["limited"]


def test_federated_query_is_refused_unless_its_endpoint_is_allowed(small_store: Store) -> None:
    with pytest.raises(QueryError, match="--allow-service http://dbpedia.org/sparql"):
        build(small_store, find("born_before"))


def test_federated_query_asks_the_endpoint_that_its_parameter_names(small_store: Store) -> None:
    # Another endpoint than the one that is allowed is refused before anything is asked.
    with pytest.raises(QueryError, match=r"http://other\.org/sparql"):
        build(
            small_store,
            find("born_before"),
            values={"endpoint": "http://other.org/sparql"},
            allow_services=["http://dbpedia.org/sparql"],
        )


@pytest.fixture
def births(tmp_path: Path) -> Iterator[str]:
    """The address of an endpoint that knows when Anna and Jordan were born, but neither David nor Michael."""
    file = tmp_path / "births.ttl"
    file.write_text(
        """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
        @prefix dbo: <http://dbpedia.org/ontology/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        <http://x.org/d#char=0,4> a nif:Context ; nif:isString "Anna" .
        <http://x.org/d#char=0,4a> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,4> ; nif:anchorOf "Anna" ;
          nif:beginIndex 0 ; nif:endIndex 4 .
        <http://dbpedia.org/resource/Anna_Kendrick> dbo:birthDate "1985-08-09"^^xsd:date .
        <http://dbpedia.org/resource/Michael_I._Jordan> dbo:birthDate "1956-02-25"^^xsd:date ."""
    )
    Store(tmp_path / ".remix").load(file)
    command = ["-m", "remix", "serve", "--port", "0", "-w", str(tmp_path / ".remix")]
    with PythonProcess(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        yield next(line for line in server.stderr if "endpoint at" in line).split()[-1]
        server.terminate()


@pytest.mark.long
def test_federated_query_keeps_documents_with_persons_born_before_a_year(small_store: Store, births: str) -> None:
    query = find("born_before")

    def kept(year: int) -> set[str]:
        remix = build(small_store, query, values={"endpoint": births, "year": year}, allow_services=[births])
        return set(remix.frames.gold().annotations["surface_form"])

    # Jordan (1956) is in news/2, Anna (1985) in news/1; whole documents are kept.
    assert kept(1970) == NEWS_2
    assert kept(1990) == NEWS_1 | NEWS_2
