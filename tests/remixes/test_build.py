"""Remixes of the small fixture: what is kept, what becomes ignorable, what the manifest says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import EmptySelection, QueryError, UnknownName, UsageError
from remix.formats import read
from remix.names import HFTS, NIF, PROV, RMX
from remix.remixes import Remix, build
from remix.remixes.manifest import read_manifest
from remix.store import Store
from remix.store.queries import Query, find
from remix.web.page import VIEWS, Code, Note, WrongValue
from remix.workspace import Workspace

SMALL = Path(__file__).parent / "small"
PERSONS = {"Anna", "Michael", "David", "Alice", "Jordan"}
ANNA = 'SELECT ?document ?annotation { ?annotation nif:referenceContext ?document ; nif:anchorOf "Anna" }'


def _query(text: str, name: str = "own") -> Query:
    return Query.parse(text, name)


def _graph(path: Path) -> ox.Store:
    store = ox.Store()
    store.load(path.read_bytes(), ox.RdfFormat.TURTLE)
    return store


def _objects(store: ox.Store, subject: str, predicate: str) -> set[str]:
    found = store.quads_for_pattern(ox.NamedNode(subject), ox.NamedNode(predicate), None)
    return {quad.object.value for quad in found}


@pytest.fixture(scope="module")
def persons(small_store: Store) -> Remix:
    return build(small_store, find("persons"))


@pytest.fixture(scope="module")
def folder(persons: Remix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("built")
    persons.write(to)
    return to


def test_build_keeps_the_selected_annotations_and_makes_the_others_ignorable(persons: Remix) -> None:
    annotations = persons.frames.annotations
    assert set(annotations.filter(pl.col("ignorable").is_null())["surface_form"]) == PERSONS
    assert set(annotations.filter(ignorable="dropped")["surface_form"]) == {"Paris", "Mercury", "NASA"}
    assert annotations["dataset"].unique().to_list() == ["persons"]


def test_remix_is_not_called_as_a_dataset_that_it_is_made_of(small_store: Store) -> None:
    """It would have the IRI of that, and its documents those of that; of the others it may be made."""
    every = _query("SELECT ?annotation { ?annotation a nif:Phrase }")
    with pytest.raises(UsageError, match="a dataset of the workspace is named 'news'"):
        build(small_store, every, name="news")
    others = [entry.name for entry in small_store.datasets() if entry.name != "news"]
    assert build(small_store, every, name="news", dataset=others).counts["dataset"].to_list()[:-1] == others
    work = Workspace(small_store.folder)
    with pytest.raises(WrongValue, match="a dataset of the workspace is named 'news'"):
        VIEWS["builder"].show(work, {"name": "news"})
    page = VIEWS["builder"].show(work, {"name": "news", "dataset": ",".join(others), "query": "persons"})
    assert any("is named news as well" in one.text for one in page.blocks if isinstance(one, Note))
    [code] = [one for one in page.beside if isinstance(one, Code)]
    assert "--query persons --name news" in code.text


def test_build_counts_what_each_origin_gave(persons: Remix) -> None:
    # news: 5 of 8 annotations in 2 of 3 documents, 5/8 = 62.5 %; posts: none of 8.
    assert persons.counts.rows() == [
        ("news", 3, 2, 8, 5, 3, 1.0, 0.625),
        ("posts", 3, 0, 8, 0, 0, 0.0, 0.0),
        ("all", 6, 2, 16, 5, 3, 1.0, 0.3125),
    ]


def test_built_file_reads_back_to_the_same_annotations(persons: Remix, folder: Path) -> None:
    reading = read(folder / "persons.ttl")
    columns = ["surface_form", "begin", "end", "ignorable", "given"]
    want = persons.frames.annotations.select(columns).sort("given")
    assert reading.frames.annotations.select(columns).sort("given").equals(want)
    assert set(reading.frames.documents["text"]) == set(persons.frames.documents["text"])
    assert reading.report.repairs == ()


def test_built_file_keeps_the_links_of_kept_and_ignorable_annotations(persons: Remix, folder: Path) -> None:
    reading = read(folder / "persons.ttl")
    want = persons.frames.annotations.join(persons.frames.links, on="annotation").select("given", "entity")
    found = reading.frames.annotations.join(reading.frames.links, on="annotation").select("given", "entity")
    assert sorted(found.rows()) == sorted(want.rows())
    assert want.height == 8


def test_built_file_gives_iris_and_unknown_triples_back(folder: Path) -> None:
    graph = _graph(folder / "persons.ttl")
    document = "http://example.org/news/1#char=0,45"
    assert _objects(graph, document, "http://purl.org/dc/terms/source") == {"news 1"}
    assert _objects(graph, "urn:remix:dataset:persons", f"{HFTS}referenceDocuments") >= {document}
    assert b"givenIri" not in (folder / "persons.ttl").read_bytes()


def test_ignorable_annotations_are_no_phrases_of_a_context(folder: Path) -> None:
    graph = _graph(folder / "persons.ttl")
    paris = "http://example.org/news/1#char=38,43"
    kinds = _objects(graph, paris, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    assert kinds == {f"{RMX}Ignorable"}
    assert _objects(graph, paris, f"{NIF}referenceContext") == set()
    assert _objects(graph, paris, f"{RMX}document") == {"http://example.org/news/1#char=0,45"}
    assert _objects(graph, paris, f"{RMX}ignorable") == {"dropped"}
    assert _objects(graph, paris, f"{NIF}anchorOf") == {"Paris"}
    assert _objects(graph, paris, f"{HFTS}ambiguitySurfaceForm") == set()


def test_build_measures_documents_afresh_and_keeps_the_values_of_annotations(folder: Path) -> None:
    graph = _graph(folder / "persons.ttl")
    document = "http://example.org/news/1#char=0,45"
    # 4 persons in 10 words; the fixture says 5 annotations and a density of 0.5.
    assert _objects(graph, document, f"{HFTS}numAnnotations") == {"4"}
    assert [float(value) for value in _objects(graph, document, f"{HFTS}density")] == [0.4]
    # Pooled: 5 annotations in 10 + 45 words.
    (micro,) = _objects(graph, "urn:remix:dataset:persons", f"{HFTS}microDensity")
    assert float(micro) == pytest.approx(5 / 55)
    assert _objects(graph, "http://example.org/news/1#char=0,4", f"{HFTS}ambiguitySurfaceForm") == {"900"}


def test_build_with_drop_removes_the_others_and_warns(small_store: Store) -> None:
    remix = build(small_store, find("persons"), drop=True)
    assert set(remix.frames.annotations["surface_form"]) == PERSONS
    assert any("false positives" in note for note in remix.notes)
    assert not remix.triples["object"].str.contains("Ignorable").any()
    assert not remix.triples["object"].str.contains('"Paris"', literal=True).any()


def test_build_of_documents_alone_keeps_documents_without_annotations(small_store: Store) -> None:
    text = "SELECT ?document { ?document hfts:numAnnotations ?n FILTER (?n = 0) }"
    remix = build(small_store, _query(text))
    assert remix.frames.documents["given"].to_list() == ["http://example.org/news/3#char=0,55"]
    assert remix.counts["kept"].to_list() == [0, 0, 0]


def test_build_with_limit_keeps_the_first_documents_by_iri(small_store: Store) -> None:
    remix = build(small_store, find("persons"), limit=1)
    assert remix.frames.documents["given"].to_list() == ["http://example.org/news/1#char=0,45"]


@pytest.mark.long
def test_build_twice_in_two_workspaces_gives_the_same_bytes(small_store: Store, folder: Path, tmp_path: Path) -> None:
    other = Store(tmp_path / "elsewhere")
    for name in ("posts", "news"):
        other.load(SMALL / f"{name}.ttl")
    graphs = {
        name: ox.serialize(
            ox.parse((SMALL / f"{name}.measures.ttl").read_bytes(), format=ox.RdfFormat.TURTLE),
            format=ox.RdfFormat.N_TRIPLES,
        )
        or b""
        for name in ("news", "posts")
    }
    other.enrich(graphs, "by hand")
    build(other, find("persons")).write(tmp_path)
    for name in ("persons.ttl", "persons.manifest.ttl"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_manifest_says_where_the_remix_comes_from(persons: Remix, folder: Path, small_store: Store) -> None:
    graph = _graph(folder / "persons.manifest.ttl")
    iri = "urn:remix:dataset:persons"
    news = small_store.dataset("news")
    assert _objects(graph, iri, f"{PROV}wasDerivedFrom") == {"urn:remix:dataset:news", "urn:remix:dataset:posts"}
    assert _objects(graph, news.iri, f"{RMX}contentHash") == {news.content}
    assert _objects(graph, f"{iri}#build", f"{RMX}query") == {find("persons").text}
    assert _objects(graph, f"{iri}#build", f"{RMX}signature") == {str(persons.signature)}
    assert _objects(graph, f"{iri}#origin-news", f"{RMX}keptAnnotations") == {"5"}
    assert _objects(graph, f"{iri}#origin-news", f"{RMX}droppedAnnotations") == {"3"}


def test_manifest_holds_the_parameters_as_they_were_set(small_store: Store, tmp_path: Path) -> None:
    build(small_store, find("persons_hard"), values={"min_confusion": 101}).write(tmp_path)
    graph = _graph(tmp_path / "persons_hard.manifest.ttl")
    node = "urn:remix:dataset:persons_hard#parameter-min_confusion"
    assert _objects(graph, node, f"{RMX}value") == {"101"}
    assert str(tmp_path) not in (tmp_path / "persons_hard.manifest.ttl").read_text()


def test_manifest_holds_a_parameter_without_values(small_store: Store, tmp_path: Path) -> None:
    other = "VALUES ?other { } ?annotation rmx:isRare ?other"
    text = f"SELECT ?annotation {{ {{ ?annotation rmx:isRare true }} UNION {{ {other} }} }}"
    remix = build(small_store, Query.parse(text, "rare"))
    remix.write(tmp_path)
    assert read_manifest(tmp_path / "rare.ttl").parameters == {"other": ""}


@pytest.mark.long
def test_signature_differs_for_other_parameters_and_choices(small_store: Store) -> None:
    made = [
        build(small_store, find("persons_hard"), **choices).signature  # type: ignore[arg-type]
        for choices in ({}, {"values": {"min_confusion": 4}}, {"drop": True}, {"limit": 2}, {"limit": 2, "seed": 1})
    ]
    assert len(set(map(str, made))) == len(made)


def test_build_where_two_origins_share_iris_gives_scoped_ones_and_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / ".remix")
    store.load(SMALL / "news.ttl")
    store.load(SMALL / "news.ttl", name="again")
    remix = build(store, _query(ANNA), edition=["all"])
    # Two documents of five annotations each are in it, and no IRI can come back.
    contexts = remix.triples.filter(pl.col("object") == f"<{NIF}Context>")["subject"]
    assert set(contexts) == {"<urn:remix:dataset:news/1>", "<urn:remix:dataset:again/1>"}
    assert any("share their IRI" in note for note in remix.notes)
    remix.write(tmp_path)
    assert read(tmp_path / "own.ttl").frames.annotations.height == 10


def test_remix_of_a_remix_keeps_what_was_ignorable_before(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / ".remix")
    store.load(folder / "persons.ttl")
    remix = build(store, _query(ANNA))
    marks = dict(remix.frames.annotations.select("surface_form", "ignorable").iter_rows())
    assert marks == {"Anna": None, "Michael": "dropped", "David": "dropped", "Alice": "dropped", "Paris": "dropped"}
    # Paris was ignorable before and is not counted as dropped a second time.
    assert remix.counts["dropped"].to_list()[-1] == 3


def test_build_follows_links_through_local_resources(tmp_path: Path) -> None:
    file = tmp_path / "local.ttl"
    file.write_text(
        f"""@prefix nif: <{NIF}> . @prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
        <http://x.org/d#char=0,4> a nif:Context ; nif:isString "Anna" .
        <http://x.org/d#char=0,4a> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,4> ; nif:anchorOf "Anna" ;
          nif:beginIndex 0 ; nif:endIndex 4 ; itsrdf:taIdentRef <http://x.org/local/Anna> ; <urn:p> [ <urn:q> "deep" ] .
        <http://x.org/local/Anna> <http://www.w3.org/2002/07/owl#sameAs> <http://dbpedia.org/resource/Anna_Freud> .
        <http://x.org/local/Other> <urn:q> "not led to" ."""
    )
    store = Store(tmp_path / ".remix")
    store.load(file)
    build(store, _query(ANNA)).write(tmp_path)
    text = (tmp_path / "own.ttl").read_text()
    assert "dbr:Anna_Freud" in text
    assert '"deep"' in text
    assert "not led to" not in text


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('SELECT ?annotation { ?annotation nif:anchorOf "Nobody" }', EmptySelection, "selects nothing"),
        ("SELECT ?annotation { ?annotation nif:anchorOf }", QueryError, "parse"),
        ("SELECT ?x { ?x nif:anchorOf ?y }", QueryError, "document"),
        ("ASK { ?s ?p ?o }", QueryError, "no SELECT and no CONSTRUCT"),
    ],
)
def test_build_of_a_query_that_gives_no_remix_is_refused(
    small_store: Store, text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build(small_store, _query(text))


def test_build_with_an_unknown_parameter_names_the_nearest(small_store: Store) -> None:
    with pytest.raises(UnknownName, match="min_confusion"):
        build(small_store, find("persons_hard"), values={"min_confusoin": 3})


@pytest.mark.parametrize("name", ["../up", "", "a b", "a/b", "x" * 101, "news"])
def test_build_under_a_name_that_cannot_be_is_refused(small_store: Store, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        build(small_store, find("persons"), name=name)


def test_build_of_a_query_file_with_an_odd_name_is_named_readably(small_store: Store) -> None:
    assert build(small_store, _query(ANNA, "my query (2)")).name == "my-query-2"


def test_build_of_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmptySelection, match="remix load"):
        build(Store(tmp_path / ".remix"), find("persons"))


@pytest.mark.long
def test_measures_that_a_dataset_has_not_and_percentiles_among_others_are_told(tmp_path: Path) -> None:
    # News is enriched alone; posts, loaded later, has no measures, and the percentiles of news are not among both.
    workspace = Workspace(tmp_path / ".remix")
    workspace.load(SMALL / "news.ttl")
    workspace.enrich()
    workspace.load(SMALL / "posts.ttl")
    absent = "the query sees no measures of posts: `remix enrich` computes them"
    others = "the percentiles of news are among what was loaded before: `remix enrich` makes them anew"
    density = "SELECT ?document { ?document hfts:density ?density }"
    percentile = "SELECT ?document { ?document rmx:densityPercentile ?percentile }"
    form = "SELECT ?annotation { ?annotation nif:anchorOf ?form }"
    for query, told in ((density, {absent}), (percentile, {absent, others}), (form, set())):
        for notes in (workspace.build(query, name="r").notes, workspace.query(query).notes):
            assert {absent, others} & {*notes} == told
    assert absent not in workspace.build(density, name="r", dataset="news").notes
    workspace.enrich()
    assert not {absent, others} & {*workspace.build(percentile, name="r").notes}
