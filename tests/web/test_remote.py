"""Another endpoint in the place of the workspace: the same queries, the same rewrite, the same answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import QueryError, StoreError, UnknownName, UsageError
from remix.files import read_bytes
from remix.measures import MEASURES
from remix.measures.measured import summaries_of
from remix.names import HFTS, RMX
from remix.remixes import Remix
from remix.remixes.manifest import read_manifest
from remix.store import Store
from remix.store.answers import answer
from remix.store.endpoint import Endpoint
from remix.store.queries import Query, find
from remix.workspace import Workspace
from tests.kb.sources import endpoints
from tests.kb.sources.endpoints import endpoint, virtuoso
from tests.remixes.filters.files import query as keys
from tests.remixes.filters.files import turtle, write
from tests.web.conftest import serving


def test_table_and_boolean_of_endpoint_are_those_of_the_store(address: str, small_store: Store) -> None:
    query = Query.parse("SELECT ?d (COUNT(?a) AS ?n) { ?a nif:referenceContext ?d } GROUP BY ?d ORDER BY ?d")
    assert answer(small_store, query, endpoint=address).table.equals(answer(small_store, query).table)
    asked = answer(small_store, Query.parse("ASK { ?s a nif:Phrase }"), endpoint=address)
    assert asked.table["answer"].to_list() == [True]


@pytest.mark.long
def test_remix_of_a_filter_at_an_endpoint_is_that_of_the_store(
    address: str, small_store: Store, tmp_path: Path
) -> None:
    (tmp_path / "kb.ttl").write_text(turtle(["http://dbpedia.org/resource/Anna_Kendrick"]))
    file = write(tmp_path / "f.properties", {"file.1": keys("Persons", "kb.ttl")})
    here = Workspace(small_store.folder).build(f"{file}#Persons")
    elsewhere = Workspace(tmp_path / ".remix")
    there = elsewhere.build(f"{file}#Persons", endpoint=address, dataset=["news", "posts"])
    assert there.counts["kept"].to_list() == here.counts["kept"].to_list() == [1, 0, 1]


@pytest.mark.parametrize("rewrite", [True, False])
def test_graph_of_endpoint_is_that_of_the_store(address: str, small_store: Store, rewrite: bool) -> None:
    query = find("basic")
    remote = answer(small_store, query, endpoint=address, rewrite=rewrite)
    assert remote.triples == answer(small_store, query).triples != ()


def test_refusal_of_endpoint_is_one_line(address: str, small_store: Store) -> None:
    with pytest.raises(QueryError, match="FROM <urn:nowhere>"):
        answer(small_store, Query.parse("SELECT * FROM <urn:nowhere> { ?s ?p ?o }"), endpoint=address)
    with pytest.raises(StoreError, match="elsewhere answered 404 Not Found"):
        answer(small_store, Query.parse("ASK {}"), endpoint=f"{address}/elsewhere")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace that is not the one behind the endpoint, and holds nothing."""
    return Workspace(tmp_path_factory.mktemp("elsewhere") / ".remix")


@pytest.fixture(scope="module")
def published(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """What the endpoint holds, published and loaded: there, too, classes that were enriched are classes as given."""
    folder = tmp_path_factory.mktemp("published")
    for name in ("news", "posts"):
        Workspace(small_store.folder).publish(name, to=folder)
    made = Workspace(folder / ".remix")
    made.load([folder / f"{name}.ttl" for name in ("news", "posts")])
    return made


def numbers(term: str) -> object:
    """A literal that is a number as that number, to 12 digits, and its datatype: Virtuoso gives 16 digits."""
    kind = re.fullmatch(r'"([^"]*)"\^\^<[^>]*#(double|decimal|integer|nonNegativeInteger)>', term)
    return f"{float(kind[1]):.12g} {kind[2]}" if kind else re.sub("^_:.*", "_:", term)


def values(remix: Remix) -> list[tuple[object, ...]]:
    return sorted((tuple(map(numbers, row)) for row in remix.triples.rows()), key=str)


def assert_same(found: Remix, right: Remix) -> None:
    assert values(found) == values(right)
    assert found.counts.equals(right.counts)
    assert found.waterfall.equals(right.waterfall)


KEPT = "SELECT ?annotation { ?annotation nif:anchorOf ?form FILTER (STRLEN(?form) > 4) }"


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    ("query", "choices"),
    [
        ("basic", {"explain": True}),
        ("persons_hard", {"min_confusion": 5}),
        (KEPT, {"drop": True}),
        (KEPT, {"limit": 2, "seed": 1}),
        (KEPT, {"dataset": ["news"]}),
        (
            "SELECT ?annotation { ?annotation a nif:Phrase } ORDER BY DESC(?annotation) LIMIT 3 OFFSET 1",
            {"dataset": "news"},
        ),
        # The first documents by name are all of news: they would leave nothing of posts.
        ("documents_limited", {"dataset": "posts"}),
        (
            "SELECT ?annotation { { SELECT ?document (COUNT(?one) AS ?size) { ?one nif:referenceContext ?document } "
            "GROUP BY ?document ORDER BY DESC(?size) LIMIT 2 } ?annotation nif:referenceContext ?document } LIMIT 3",
            {"dataset": "posts"},
        ),
        ("CONSTRUCT { ?a ?p ?o } { ?a ?p ?o ; nif:referenceContext ?d FILTER (RAND() < 2) }", {}),
    ],
)
def test_remix_of_an_endpoint_is_that_of_the_store(
    address: str, published: Workspace, elsewhere: Workspace, query: str, choices: dict[str, object]
) -> None:
    right = published.build(query, name="own", **choices)  # type: ignore[arg-type]
    found = elsewhere.build(query, name="own", endpoint=address, **choices)  # type: ignore[arg-type]
    assert_same(found, right)
    assert not elsewhere.folder.exists()


@pytest.mark.long
@pytest.mark.parametrize("query", ["persons_hard", pytest.param("basic", marks=pytest.mark.extra)])
def test_remix_of_our_endpoint_is_that_of_the_embedded_store_to_the_letter(
    sample_workspace: Callable[[], Workspace], elsewhere: Workspace, query: str
) -> None:
    ours = sample_workspace()
    right = ours.build(query, name="own")
    with serving(ours.folder) as address:
        found = ours.build(query, name="own", endpoint=address)
        without = elsewhere.build(query, name="own", endpoint=address)
    assert set(found.triples.rows()) == set(right.triples.rows())
    assert found.counts.equals(right.counts) and found.notes == right.notes
    # Without the knowledge base its measures are missing, and are named; all else is the same.
    [note] = [note for note in without.notes if "no knowledge base is attached" in note]
    assert address in note and "confusion-entity, " in note
    differing = set(right.triples.rows()) ^ set(without.triples.rows())
    measured = {f"<{right.iri}>", *(f"<{one}>" for one in right.frames.documents["given"])}
    assert len(differing) > 100 and {subject for subject, _, _ in differing} <= measured
    skipped = note.partition("are without ")[2].partition(", and their")[0].split(", ")
    summaries = summaries_of(MEASURES[name] for name in skipped)
    terms = {term.partition(":")[2] for one in summaries for names in one.terms.values() for term in names}
    gone = set(right.triples["predicate"]) - set(without.triples["predicate"])
    unnamed = {one.strip("<>").partition("#")[2] for one in gone} - terms
    # Two relations of names that only a knowledge base tells: of a measure that there is without one, too.
    shares = {f"{way}Share" for way in ("formDemonym", "formMetonym")}
    assert len(gone) > 100 and unnamed <= shares | {
        f"{average}{one[0].upper()}{one[1:]}" for average in ("micro", "macro") for one in shares
    }
    assert "their other measures are those without one" in note


FREQUENT = """SELECT ?annotation { ?annotation itsrdf:taIdentRef ?entity { SELECT ?entity {
  ?one itsrdf:taIdentRef ?entity } GROUP BY ?entity ORDER BY DESC(COUNT(?one)) ?entity LIMIT 2 } }"""
"""Annotations with one of the two entities that have most."""


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    "query",
    [
        FREQUENT,
        "SELECT ?annotation { GRAPH ?g { ?annotation a nif:Phrase } } LIMIT 3",
        "CONSTRUCT { ?annotation ?p ?o } { ?annotation a nif:Phrase ; ?p ?o FILTER (RAND() < 2) } LIMIT 30",
    ],
)
def test_limit_that_counts_what_all_datasets_of_an_endpoint_have_is_told(
    address: str, elsewhere: Workspace, query: str
) -> None:
    whole = elsewhere.build(query, name="own", endpoint=address)
    assert not any("LIMIT that counts" in note for note in whole.notes)
    told = elsewhere.build(query, name="own", endpoint=address, dataset="news").notes
    assert any(f"has a LIMIT that counts what all datasets at {address} have" in note for note in told), told


@pytest.mark.long
def test_manifest_tells_endpoint_query_and_hash_and_no_password(
    address: str, elsewhere: Workspace, tmp_path: Path
) -> None:
    secret = address.replace("//", "//me:secret@")
    made = elsewhere.build(KEPT, name="own", endpoint=secret, to=tmp_path)
    manifest = read_manifest(tmp_path / "own.ttl")
    assert manifest is not None and manifest.query == KEPT and "|endpoint:http%3A" in manifest.signature
    assert {name: len(content) for name, content in manifest.contents.items()} == {"news": 64, "posts": 64}
    assert made.manifest.filter(predicate=f"<{RMX}endpoint>")["object"].to_list() == [f'"{address}"']
    assert "secret" not in (tmp_path / "own.manifest.ttl").read_text()
    again = elsewhere.build(KEPT, name="own", endpoint=address)
    assert again.manifest.equals(made.manifest)


@pytest.mark.parametrize("level", ["dataset", "annotation"])
def test_measures_of_an_endpoint_are_those_of_the_store(
    address: str, published: Workspace, elsewhere: Workspace, level: str
) -> None:
    right = published.stats(level=level).table
    assert elsewhere.stats(endpoint=address, level=level).table.equals(right)
    assert elsewhere.stats(["news"], endpoint=address).table.columns == ["measure", "average", "news"]


@pytest.mark.long
def test_commands_take_an_endpoint(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built = CliRunner().invoke(cli, ["build", "--query", KEPT, "--name", "own", "--endpoint", address, "-o", "json"])
    assert built.exit_code == 0, built.output
    assert [row["dataset"] for row in json.loads(built.stdout)] == ["news", "posts", "all"]
    assert (tmp_path / "own.ttl").exists() and (tmp_path / "own.manifest.ttl").exists()
    shown = CliRunner().invoke(cli, ["stats", "posts", "--endpoint", address, "-o", "csv", "--measure", "density"])
    assert shown.exit_code == 0 and "posts,density,micro," in shown.stdout


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Store], endpoints.Endpoint]]:
    """Serves what a store holds from an endpoint that gives no more than 40 rows, and does not say so."""
    with endpoint() as server:

        def serve(store: Store) -> endpoints.Endpoint:
            for graph in store.state.graphs().values():
                server.store.load(store.triples(graph[0]), format=ox.RdfFormat.N_TRIPLES)
            server.cap = 40
            return server

        yield serve


@pytest.mark.long
def test_remix_of_an_endpoint_that_cuts_its_answers_is_that_of_the_store(
    served: Callable[[Store], endpoints.Endpoint], run_store: Store, elsewhere: Workspace
) -> None:
    # The store holds runs, whose answers are no annotations and whose outcomes are no measures.
    right = Workspace(run_store.folder).build("SELECT ?annotation { ?annotation rmx:isRare true }", name="own")
    server = served(run_store)
    assert_same(
        elsewhere.build("SELECT ?annotation { ?annotation rmx:isRare true }", name="own", endpoint=server.address),
        right,
    )
    assert any("COUNT" in query for query in server.asked)


@pytest.mark.long
def test_local_resources_blank_nodes_and_shared_iris_come_along(
    served: Callable[[Store], endpoints.Endpoint], tmp_path: Path, elsewhere: Workspace
) -> None:
    ours = Workspace(tmp_path / ".remix")
    (tmp_path / "local.ttl").write_text(
        """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
        @prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <http://x.org/d> a nif:Context ; nif:isString "Anna" .
        <http://x.org/d#1> a nif:Phrase ; nif:referenceContext <http://x.org/d> ; nif:anchorOf "Anna" ;
          nif:beginIndex 0 ; nif:endIndex 4 ; itsrdf:taIdentRef <http://x.org/local/Anna> ; <urn:p> [ <urn:q> "deep" ] .
        <http://x.org/local/Anna> owl:sameAs <http://dbpedia.org/resource/Anna_Freud> .
        <http://x.org/local/Other> <urn:q> "not led to" .
        <http://dbpedia.org/resource/Anna_Freud> <urn:q> "of a knowledge base" ."""
    )
    twice = (tmp_path / "local.ttl").read_text().replace("Anna", "Otto").replace("x.org/local", "y.org/local")
    (tmp_path / "again.ttl").write_text(twice)
    ours.load([tmp_path / "local.ttl", tmp_path / "again.ttl"])
    query = "SELECT ?annotation { ?annotation nif:anchorOf ?any }"
    right = ours.build(query, name="own", dataset="local")
    server = served(ours.store)
    found = elsewhere.build(query, name="own", dataset="local", endpoint=server.address)
    assert [row for row in values(right) if "of a knowledge base" not in str(row)] == values(found)
    assert '"deep"' in found.triples["object"]
    # Both datasets have <http://x.org/d>, which the endpoint calls by two names and each file by one.
    both = elsewhere.build(query, name="own", endpoint=server.address, edition="all")
    assert both.counts["kept"].to_list() == [1, 1, 2]


@pytest.mark.long
def test_annotations_of_one_iri_are_paired_with_their_own_copies(
    served: Callable[[Store], endpoints.Endpoint], tmp_path: Path, elsewhere: Workspace
) -> None:
    texts = [f"Text {n} speaks of Anna." for n in range(12)]
    lines = [
        f"<http://x.org/{n}> a nif:Context ; nif:isString {json.dumps(text)} . <http://x.org/a> a nif:Phrase ; "
        f'nif:referenceContext <http://x.org/{n}> ; nif:anchorOf "Anna" ; nif:beginIndex {18 + (n > 9)} ; '
        f"nif:endIndex {22 + (n > 9)} ."
        for n, text in enumerate(texts)
    ]
    prefix = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    (tmp_path / "one.ttl").write_text(prefix + "\n".join(lines))
    ours = Workspace(tmp_path / ".remix")
    ours.load(tmp_path / "one.ttl")
    server = served(ours.store)
    query = 'SELECT ?annotation { ?annotation nif:referenceContext/nif:isString "Text 11 speaks of Anna." }'
    assert_same(elsewhere.build(query, name="own", endpoint=server.address), ours.build(query, name="own"))


@pytest.mark.long
def test_what_an_endpoint_does_not_hold_is_named(
    served: Callable[[Store], endpoints.Endpoint], small_store: Store, elsewhere: Workspace, tmp_path: Path
) -> None:
    with endpoint("<urn:a> <urn:b> <urn:c> .") as empty, pytest.raises(StoreError, match="holds no documents of NIF"):
        elsewhere.stats(endpoint=empty.address)
    server = served(small_store)
    with pytest.raises(UnknownName, match="no dataset at the endpoint named 'new'; did you mean 'news'"):
        elsewhere.stats(["new"], endpoint=server.address)
    document = small_store.frames().documents["document"][0]
    twice = f"<urn:remix:dataset:copy> <{HFTS}referenceDocuments> <{document}> ."
    server.store.load(twice.encode(), format=ox.RdfFormat.TURTLE)
    with pytest.raises(
        UsageError, match="copy and news have documents of the same IRIs at .*: name the one that is meant"
    ):
        elsewhere.stats(endpoint=server.address)
    assert elsewhere.stats(["posts"], endpoint=server.address).table.height


def test_texts_that_no_dataset_has_are_one_of_the_host(elsewhere: Workspace) -> None:
    nif = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> ."
    with endpoint(f'{nif} <http://x.org/d> a nif:Context ; nif:isString "Anna" .') as server:
        with pytest.raises(StoreError, match=r"127.0.0.1 at .*/sparql has 1 documents but no annotation"):
            elsewhere.stats(endpoint=server.address)
        phrase = f'{nif} <http://x.org/a> a nif:Phrase ; nif:referenceContext <http://x.org/d> ; nif:anchorOf "Anna" .'
        server.store.load(phrase.encode(), format=ox.RdfFormat.TURTLE)
        assert elsewhere.stats(endpoint=server.address).table.columns == ["measure", "average", "127.0.0.1"]


@pytest.mark.extra
@pytest.mark.timeout(600)
def test_remix_of_a_virtuoso_is_that_of_the_store_and_more_rows_than_it_gives_come_whole(
    tmp_path: Path, sample_workspace: Callable[[], Workspace]
) -> None:
    ours = sample_workspace()
    # The graphs as our own endpoint has them: what is published is said as GERBIL reads it.
    files = {
        entry.name: "".join(
            read_bytes(ours.folder / str(graph)).decode()
            for graph in (f"{entry.folder}/data.nt.zst", entry.enrichment_file)
        )
        for entry in ours.datasets()
    }
    # A Virtuoso answers with 6 digits of a double, by which all of <urn:close> are one.
    files["many"] = "\n".join(
        f"<urn:s{n}> <urn:n> {n % 9} ; <urn:close> {0.5 + (n % 99) * 1e-9:.17e} ." for n in range(25_000)
    )
    (tmp_path / "virtuoso").mkdir()
    with virtuoso(tmp_path / "virtuoso", 10_000, **files) as address:
        asked = Endpoint(address)
        rows = asked.frame("SELECT ?s ?n { ?s <urn:n> ?n }")
        assert rows.height == rows.n_unique() == 25_000
        last = asked.frame("SELECT ?s ?n { ?s <urn:n> ?n } ORDER BY DESC(?n) LIMIT 12000 OFFSET 11000")
        right = sorted((n % 9 for n in range(25_000)), reverse=True)[11_000:23_000]
        assert last["n"].str.extract("([0-9])").cast(pl.Int64).to_list() == right and last["s"].is_unique().all()
        assert asked.frame("SELECT ?n { ?s <urn:n> ?n }")["n"].value_counts().height == 9
        assert asked.frame("SELECT ?n { ?s <urn:close> ?n }")["n"].value_counts().height == 99
        assert len(asked.triples("CONSTRUCT { ?s <urn:is> ?n } { ?s <urn:n> ?n }")) == 25_000
        assert [asked.is_true(f"ASK {{ ?s <urn:n> {n} }}") for n in (8, 9)] == [True, False]
        # Each command copies what it asks about, so all three datasets are copied once.
        asked_of: dict[str, list[str]] = {
            "basic": [],
            "persons_hard": ["sample-news"],
            "confusion_form_at_least": ["sample-posts"],
        }
        for query, datasets in asked_of.items():
            right = ours.build(query, name="own", explain=True, dataset=datasets)
            assert_same(ours.build(query, name="own", explain=True, dataset=datasets, endpoint=address), right)
        assert ours.stats(["sample-posts"], endpoint=address).table.equals(ours.stats(["sample-posts"]).table)
