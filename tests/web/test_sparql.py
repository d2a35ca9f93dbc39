"""The page of SPARQL by its rows: what a query answers, where that leads, and what is said where it has no answer."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from remix.store import Store
from remix.store.worker import Bounds, Workers, limit_queries
from remix.web.page import VIEWS, Drawing, Note, Page, Table
from remix.web.vocabulary import tell
from remix.workspace import Workspace, open_workspace
from tests.web.conftest import client
from tests.web.pages import Get

FIRST = (
    "SELECT ?document ?annotation ?entity { ?annotation nif:referenceContext ?document ; itsrdf:taIdentRef ?entity }"
)
CHECKOUT = Path(__file__).resolve().parents[2]
MENTIONS = 16
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r }"


@pytest.fixture(scope="module")
def work(small_store: Store) -> Workspace:
    return open_workspace(small_store.folder)


def shown(work: Workspace, **parameters: str) -> Page:
    return VIEWS["query"].show(work, parameters)


def place(suffix: str = "", **parameters: str) -> str:
    return f"/query{suffix}?{urlencode(parameters)}"


@pytest.mark.long
def test_documents_mentions_and_datasets_lead_to_their_pages_and_entities_out(work: Workspace, get: Get) -> None:
    page = shown(work, query=f"{FIRST} ORDER BY ?annotation LIMIT 1")
    [table] = [block for block in page.blocks if isinstance(block, Table)]
    [row] = table.frame.to_dicts()
    document = "/document?dataset=news&name=urn%3Aremix%3Adataset%3Anews%2F1"
    assert [table.links[name](row) for name in row] == [document, document, row["entity"]]
    assert row["entity"].startswith("http://dbpedia.org/resource/")
    answer = get(
        place(query="SELECT * { VALUES ?x { <urn:remix:dataset:news> <javascript:alert(1)> <http://a.example/b> } }")
    )
    assert '<a href="/dataset?name=news">' in answer.text and "href=&#34;javascript" not in answer.text
    assert '<a href="http://a.example/b" rel="noreferrer">' in answer.text and 'href="javascript' not in answer.text


def test_texts_that_look_like_addresses_lead_nowhere(work: Workspace) -> None:
    address = "http://a.example/b"
    values = f'VALUES (?text ?iri) {{ ("{address}" <{address}>) }}'
    for query in (f"SELECT * {{ {values} }}", f"CONSTRUCT {{ ?iri <urn:says> ?text }} WHERE {{ {values} }}"):
        [table] = [block for block in shown(work, query=query).blocks if isinstance(block, Table)]
        [row] = table.frame.to_dicts()
        led = {name for name in row if row[name] == address and name in table.links and table.links[name](row)}
        assert led == ({"iri"} if "iri" in row else {"subject"})


def test_answers_are_data_in_whole_and_graphs_are_files(get: Get) -> None:
    rows = json.loads(get(place(".json", query=FIRST)).text)
    assert len(rows) == 16 and rows[0].keys() == {"document", "annotation", "entity"}
    construct = "CONSTRUCT { ?a rmx:isRare ?r } WHERE { ?a rmx:isRare ?r FILTER (?r) }"
    assert get(place(".csv", query=construct)).text.count(",https://w3id.org/nel-remix/ns#isRare,true") == 8
    assert get(place(".ttl", query=construct)).text.count("rmx:isRare true") == 8
    assert "have its rows" in get(place(".ttl", query=FIRST)).text
    assert get(place(".csv", query="ASK { ?s ?p 123456 }")).text == "answer\nfalse\n"


def test_examples_fill_the_editor_and_are_not_run(work: Workspace, get: Get) -> None:
    page = shown(work, example="persons_hard")
    assert "result" not in page.tables and "persons_hard" in page.tables["examples"]["example"]
    assert "VALUES ?min_confusion { 3 }" in get("/query?example=persons_hard").text
    wrong = get("/query?example=persons_har")
    assert "Left out:" in wrong.text and "persons_hard" in wrong.text and "<textarea" in wrong.text
    assert get(place(**VIEWS["query"].example(work))).status_code == 200


def test_two_columns_are_drawn(work: Workspace) -> None:
    """Of news/1 there are five mentions, of news/2 three."""
    query = (
        "SELECT ?document (COUNT(?a) AS ?n) { ?a nif:referenceContext ?document } GROUP BY ?document ORDER BY ?document"
    )
    assert not [block for block in shown(work, query=query).blocks if isinstance(block, Drawing)]
    [drawing] = [block for block in shown(work, query=query, chart="bars").blocks if isinstance(block, Drawing)]
    [series] = drawing.figure.panels[0].series
    assert list(series.x[:2]) == ["urn:remix:dataset:news/1", "urn:remix:dataset:news/2"]
    assert list(series.y[:2]) == [5, 3]
    other = shown(work, query=query, chart="scatter", x="n", y="n")
    assert [one.figure.panels[0].kind for one in other.blocks if isinstance(one, Drawing)] == ["scatter"]


def test_rows_that_are_drawn_over_each_other_are_said(work: Workspace) -> None:
    for names, said in (('"a" "b"', False), ('"a" "a"', True)):
        query = f"SELECT ?name ?n {{ VALUES ?name {{ {names} }} VALUES ?n {{ 1 }} }}"
        [drawing] = [block for block in shown(work, query=query, chart="bars").blocks if isinstance(block, Drawing)]
        assert ("`GROUP BY ?name`" in drawing.words) == said


@pytest.mark.at_hand(2)
@pytest.mark.parametrize(
    ("query", "timeout", "status", "word"),
    [
        ("SELECT * {\n  ?s ?p ?o\n LIMIT 2000", "", 400, "the query:3:"),
        ("SELECT * { ?s ?p <", "", 400, "does not parse"),
        ("DROP ALL", "", 403, "would change data"),
        ("SELECT * { SERVICE <http://127.0.0.1/sparql> { ?s ?p ?o } }", "", 403, "SERVICE"),
        ("SELECT * { ?s ?p ?o }", "x", 404, "no number of seconds"),
        (ENDLESS, "0.3", 504, "longer than 0.3 s"),
        ("ASK {}\n#<script>alert(1)</script>", "", 200, "&lt;script&gt;"),
    ],
)
def test_what_has_no_answer_is_said_beside_the_query(
    get: Get, query: str, timeout: str, status: int, word: str
) -> None:
    answer = get(place(query=query, timeout=timeout))
    assert answer.status_code == status and word in answer.text and "<textarea" in answer.text
    assert answer.text.count("<script") == 1
    if status != 200:
        data = get(place(".csv", query=query, timeout=timeout))
        assert data.status_code == status and data.headers["content-type"].startswith("text/plain")


@pytest.mark.long
def test_time_limit_is_shown_and_chosen_below_that_of_the_server(
    small_store: Store, serve: Callable[..., AbstractContextManager[str]]
) -> None:
    with serve(small_store.folder, "--timeout", "5") as address:
        page = client.get(f"{address.removesuffix('/sparql')}/query").text
    assert "this server allows 5." in page and '<option value="1">1</option><option value="5" selected>' in page
    assert '<option value="10"' not in page


def test_notes_of_the_endpoint_are_told(work: Workspace) -> None:
    page = shown(work, query="SELECT ?a { ?a nif:anchorOff ?b }")
    assert any("did you mean nif:anchorOf?" in block.text for block in page.blocks if isinstance(block, Note))
    assert any("Nothing in the workspace matches" in block.text for block in page.blocks if isinstance(block, Note))


@pytest.mark.long
def test_questions_of_the_page_are_answered(work: Workspace) -> None:
    """The small datasets have two graphs each, three documents each, and an entity for each mention, were it NIL."""
    [questions] = [table for table in shown(work).beside if isinstance(table, Table) and table.name == "questions"]
    rows = {}
    for row in questions.frame.to_dicts():
        place = dict(parse_qsl(urlsplit(questions.links["question"](row)).query))
        answered = shown(work, **place)
        assert answered.error is None
        rows[row["question"]] = answered.tables["result"].height
    assert rows["Which graphs are there?"] == 4 and rows["Which documents are longest?"] == 6
    assert rows["Which mentions have no entity?"] == 0 and rows["Which classes do mentions have?"] > 1


def test_editor_is_told_prefixes_graphs_and_all_terms_with_their_meaning_and_use(get: Get) -> None:
    """Of the small datasets: 5 + 3 and 3 + 4 + 1 mentions with one form each, and two graphs of measures."""
    told = json.loads(get("/query.vocabulary.json").text)
    terms = {name: (kind, meaning, used) for name, kind, meaning, used in told["terms"]}
    assert told["prefixes"]["rmx"] == "https://w3id.org/nel-remix/ns#"
    assert terms["nif:anchorOf"] == ("property", "The text of a mention, its surface form", MENTIONS)
    assert terms["nif:Phrase"][0] == "class" and terms["nif:Phrase"][2] == MENTIONS
    assert terms["hfts:pagerank"][1].startswith("PageRank") and terms["dbo:Person"][0] == "class"
    assert terms["itsrdf:taConfidence"] == ("property", "How sure a link is, from 0 to 1", 0)
    assert {"rmx:isRare", "dcat:Dataset", "void:triples", "prov:wasDerivedFrom", "xsd:double"} <= terms.keys()
    assert sum(name.startswith("nif:") for name in terms) > 70 and len(terms) == len(told["terms"])
    assert told["graphs"] == {
        "urn:remix:dataset:news": "dataset news, 3 documents",
        "urn:remix:dataset:news#enrichment": "enrichment of news",
        "urn:remix:dataset:posts": "dataset posts, 3 documents",
        "urn:remix:dataset:posts#enrichment": "enrichment of posts",
    }


def test_terms_in_use_without_a_known_prefix_are_iris_and_an_empty_workspace_has_those_of_vocabularies(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / ".remix")
    assert {used for *_, used in tell(store)["terms"]} == {0} and tell(store)["graphs"] == {}
    file = tmp_path / "own.ttl"
    file.write_text(
        """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
        @prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
        <urn:d> a nif:Context ; nif:isString "Ada" ; <urn:own/by> "x" ; <http://dbpedia.org/ontology/a/b> "y" .
        <urn:a> a nif:Phrase ; nif:referenceContext <urn:d> ; nif:anchorOf "Ada" ; nif:beginIndex 0 ; nif:endIndex 3 ;
          itsrdf:taIdentRef <http://dbpedia.org/resource/Ada_Lovelace> ; itsrdf:taClassRef <urn:Own> .
        """
    )
    store.load(file)
    terms = {name: (kind, used) for name, kind, _, used in tell(store)["terms"]}
    assert terms["<urn:own/by>"] == terms["<http://dbpedia.org/ontology/a/b>"] == ("property", 1)
    assert terms["nif:Context"] == terms["<urn:Own>"] == ("class", 1)


def test_editor_is_what_its_script_makes_with_licences_beside_it_and_small(get: Get) -> None:
    """What users download, zipped, has a limit of 200 kB; `sh scripts/editor` makes it anew."""
    sources, made = CHECKOUT / "scripts" / "codemirror", CHECKOUT / "remix" / "web" / "assets" / "codemirror"
    script = (made / "codemirror.js").read_text()
    head, licences = script.partition("*/")[0], (made / "LICENSES.txt").read_text()
    parts = b"".join((sources / name).read_bytes() for name in ("package-lock.json", "index.js", "build.js"))
    assert hashlib.sha256(parts).hexdigest() in head, "the sources have changed: run sh scripts/editor"
    packages = head.partition(" of ")[2].partition(";")[0].split(", ")
    assert len(packages) > 10 and all(f"{one} (MIT)\n\n" in licences for one in packages)
    assert licences.count("Permission is hereby granted") == len(packages)
    assert len(gzip.compress(script.encode())) < 200_000
    assert get("/codemirror.js").text == script and get("/codemirror.js").headers["content-type"].startswith(
        "text/java"
    )
    # A lockfile names no host: where packages come from is the affair of who builds.
    lock = (sources / "package-lock.json").read_text()
    assert "resolved" not in lock and lock.count('"integrity"') == lock.count('"node_modules/')


@pytest.mark.long
def test_query_of_a_page_waits_for_its_turn_and_has_the_limits_of_the_endpoint(work: Workspace) -> None:
    turns: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append("begun")
        try:
            yield
        finally:
            turns.append("over")

    def error(query: str, timeout: float) -> str:
        with limit_queries(Bounds(timeout, 1 << 30, 10_000, stop, turn, workers.lend)):
            return str(shown(work, query=query, timeout="60").error)

    stop, workers = threading.Event(), Workers()
    assert "longer than 0.3 s" in error(ENDLESS, 0.3)
    assert "larger than 10,000 bytes" in error("SELECT * { ?s ?p ?o }", 30)
    assert error("ASK {}", 30) == "None"
    stop.set()
    assert error("ASK {}", 30) == "None"  # its answer is known
    assert "was stopped" in error("ASK { ?s ?p ?o }", 30)
    assert turns == ["begun", "over"] * 4
    workers.close()
