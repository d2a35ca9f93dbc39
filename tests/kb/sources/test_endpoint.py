"""A knowledge base from endpoints: a Virtuoso, our own, and one that does everything an endpoint should not do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix._version import __version__
from remix.endpoints import Manners, Remote, TooHeavy, solutions
from remix.errors import BadInput, StoreError, Timeout, UsageError
from remix.kb.forms import normalise
from remix.kb.sources import Choices, Part
from remix.kb.sources.endpoint import SOURCE, iri_terms, literal_terms, title_terms
from remix.kb.staging import Staging
from remix.store import Store
from remix.workspace import Workspace
from tests.kb.sources import endpoints
from tests.kb.sources.endpoints import DBPEDIA, HUB_LINKS, WIKIDATA, Behaviour, Endpoint, endpoint, status, virtuoso
from tests.web.conftest import serving

R, WD = "http://dbpedia.org/resource/", "http://www.wikidata.org/entity/"
DBO = "http://dbpedia.org/ontology/"
FORMS = ["anna", "Anna K.", "Who?", 'The "Q" \\ back', "nothing known", "KÖLN", "Anne"]
ENTITIES = [f"{R}A_Karst", f"{R}Hub", f"{R}Anna_Karst", f"{WD}Q900002"]
QUERY = "SELECT ?s ?label WHERE { ?s <http://www.w3.org/2000/01/rdf-schema#label> ?label }"
DOCUMENT = """
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
<urn:d> a nif:Context ; nif:isString "Anna" ; nif:beginIndex 0 ; nif:endIndex 4 .
<urn:a> a nif:Phrase ; nif:referenceContext <urn:d> ; nif:anchorOf "Anna" ; nif:beginIndex 0 ; nif:endIndex 4 ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Anna_Karst> .
"""
QUICK = Manners(rate=10_000, tries=3, wait=0.001)


def manners(behaviour: Behaviour) -> Manners:
    """How one that behaves so is asked: for 0.3 s where it never answers, else as long as a busy machine may take."""
    return replace(QUICK, timeout=0.3) if behaviour in (endpoints.hanging, endpoints.trickling) else QUICK


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_RATE", "10000")


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint(DBPEDIA, WIKIDATA) as server:
        yield server


@pytest.fixture
def wikidata() -> Iterator[Endpoint]:
    """A server of the slice of Wikidata alone, which is asked half as much."""
    with endpoint(WIKIDATA) as server:
        yield server


def part(
    address: str,
    *,
    forms: Sequence[str] = FORMS,
    entities: Sequence[str] = ENTITIES,
    cache: Path | None = None,
    refresh: bool = False,
) -> Part:
    named = {"forms": pl.Series(forms, dtype=pl.String), "entities": pl.Series(entities, dtype=pl.String)}
    [only] = SOURCE.parts(address, Choices(**named, cache=cache, refresh=refresh))
    return only


def staged(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """The distinct rows of each table, sorted, without null columns and the key."""
    tables = {}
    for table in sorted(folder.iterdir()):
        rows = pl.concat([pl.read_parquet(file) for file in table.glob("*.parquet")]).drop("key", strict=False)
        full = [column.name for column in rows if column.null_count() < rows.height]
        tables[table.name] = sorted(rows.select(full).unique().rows())
    return tables


def gathered(read: Part, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    read.read(Staging(folder))
    return staged(folder)


# What the slices hold of FORMS and ENTITIES, read off `endpoints.py` by hand.
EXPECTED = {
    "surface_forms": [
        ("A Karst", f"{R}Karst__Anna", "redirect-label"),
        ("Anna", f"{R}Anna_Bell", "disambiguation"),
        ("Anna", f"{R}Anna_Karst", "disambiguation"),
        ("Anna", f"{WD}Q900008", "label"),
        ("Anna Bell", f"{R}Anna_Bell", "label"),
        ("Anna K.", f"{R}Anna_Karst", "name"),
        ("Anna Karst", f"{R}Anna_Karst", "label"),
        ("Anna Karst", f"{WD}Q900001", "label"),
        ("Anna Karst", f"{WD}Q900001", "sitelink"),
        ("Anna the Elder", f"{WD}Q900001", "alias"),
        # Anne is a redirect to the disambiguation page of Anna.
        ("Anne", f"{R}Anna_Bell", "disambiguation"),
        ("Anne", f"{R}Anna_Karst", "disambiguation"),
        ("Bell", f"{R}Anna_Bell", "name"),
        ("Hub", f"{R}Hub", "label"),
        ("Karst, Anna", f"{R}Anna_Karst", "redirect-label"),
        ("Köln", f"{R}Köln", "label"),
        ('The "Q" \\ back', f"{R}The_%22Q%22", "label"),
        ("Who?", f"{R}Who?", "label"),
    ],
    "demonyms": [
        ("Colognian", f"{R}Köln", "demonym"),
        ("Karstian", f"{WD}Q900001", "P1549"),
        ("Kölner", f"{R}Köln", "demonym"),
    ],
    "disambiguations": [
        (f"{R}Anna_(disambiguation)", f"{R}Anna_Bell", "disambiguation"),
        (f"{R}Anna_(disambiguation)", f"{R}Anna_Karst", "disambiguation"),
    ],
    "redirects": [
        (f"{R}A_Karst", f"{R}Karst__Anna", "redirect"),
        (f"{R}Anne", f"{R}Anna_(disambiguation)", "redirect"),
        (f"{R}Karst__Anna", f"{R}Anna_Karst", "redirect"),
        (f"{WD}Q900004", f"{WD}Q900001", "sameAs"),
    ],
    "labels": [
        (f"{R}Anna_Bell", "Anna Bell", "label"),
        (f"{R}Anna_Karst", "Anna Karst", "label"),
        (f"{R}Hub", "Hub", "label"),
        (f"{R}Köln", "Köln", "label"),
        (f"{R}The_%22Q%22", 'The "Q" \\ back', "label"),
        (f"{R}Who?", "Who?", "label"),
        (f"{WD}Q900001", "Anna Karst", "label"),
        (f"{WD}Q900008", "Anna", "label"),
    ],
    "types": [(f"{R}Anna_Karst", f"{DBO}Person", "instance-types"), (f"{WD}Q900001", f"{WD}Q900005", "P31")],
    "subclasses": [
        (f"{DBO}Agent", "http://www.w3.org/2002/07/owl#Thing", "subclass"),
        (f"{DBO}Person", f"{DBO}Agent", "subclass"),
        (f"{WD}Q900005", f"{WD}Q900006", "P279"),
        (f"{WD}Q900006", f"{WD}Q900005", "P279"),
    ],
    "sameas": [
        (f"{WD}Q900001", f"{R}Anna_Karst", "sameas"),
        (f"{WD}Q900001", f"{R}Anna_Karst", "sitelink"),
        (f"{WD}Q900002", f"{R}Köln", "sameas"),
    ],
    "scores": [(f"{R}Anna_Karst", 3.5, "vrank")],
    "links": sorted(
        [
            (f"{R}Anna_Karst", f"{R}Anna_Bell", "page-links"),
            (f"{R}Anna_Karst", f"{R}Hub", "page-links"),
            (f"{WD}Q900001", f"{WD}Q900003", "statement"),
            (f"{WD}Q900001", f"{WD}Q900005", "statement"),
            (f"{WD}Q900008", f"{WD}Q900001", "statement"),
            *((f"{R}Page_{number:03}", f"{R}Hub", "page-links") for number in range(HUB_LINKS)),
        ]
    ),
}


def of_dbpedia(row: tuple[object, ...]) -> bool:
    """Whether a row comes from the slice of DBpedia."""
    return row[-1] == "sameas" or not any(str(value).startswith(WD) for value in row)


OF_DBPEDIA = {table: own for table, rows in EXPECTED.items() if (own := [row for row in rows if of_dbpedia(row)])}
OF_WIKIDATA = {table: own for table, rows in EXPECTED.items() if (own := [row for row in rows if not of_dbpedia(row)])}


@pytest.mark.extra
def test_virtuoso_that_cuts_its_answers_gives_everything(tmp_path: Path) -> None:
    # 131 links to Hub come in answers of 50 rows at most, which nothing but their number tells from whole ones.
    (tmp_path / "virtuoso").mkdir()
    with virtuoso(tmp_path / "virtuoso", 50, dbpedia=DBPEDIA, wikidata=WIKIDATA) as address:
        assert gathered(part(address), tmp_path / "staged") == EXPECTED


@pytest.mark.long
def test_our_own_endpoint_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "slice.ttl").write_text(DBPEDIA + DOCUMENT, encoding="utf-8")
    Store(tmp_path / ".remix").load(tmp_path / "slice.ttl")
    with serving(tmp_path / ".remix") as address:
        assert gathered(part(address), tmp_path / "staged") == OF_DBPEDIA


@pytest.mark.long
@pytest.mark.parametrize("cap", [None, 1, 7, 50])
def test_limit_of_rows_changes_nothing(server: Endpoint, tmp_path: Path, cap: int | None) -> None:
    server.cap = cap
    assert gathered(part(server.address), tmp_path) == EXPECTED
    assert all(agent.startswith(f"nel-remix/{__version__} ") for agent in server.agents)


def test_more_rows_than_a_question_takes_are_left_out_and_reported(server: Endpoint) -> None:
    server.cap = 50
    left: list[tuple[str, int]] = []
    remote = Remote(server.address, QUICK)

    def links(keys: Sequence[str]) -> str:
        return f"SELECT ?s ?t WHERE {{ VALUES ?t {{ {' '.join(keys)} }} ?s <{DBO}wikiPageWikiLink> ?t }}"

    keys = [f"<{R}Anna_Bell>", f"<{R}Hub>"]
    found = list(solutions(remote, "", links, keys, ["s", "t"], most=100, left_out=lambda *what: left.append(what)))
    # Anna_Karst and 130 pages link to Hub; Anna_Karst alone to Anna_Bell.
    assert pl.concat(found).rows() == [(f"{R}Anna_Karst", f"{R}Anna_Bell")]
    assert left == [(f"<{R}Hub>", 131)]


def test_pages_that_are_not_what_was_counted_are_an_error(server: Endpoint) -> None:
    server.cap = 4
    whole = server.result

    def counted_too_high(query: str) -> bytes:
        return re.sub(rb'"value": ?"5"', b'"value": "9"', whole(query)) if "COUNT" in query else whole(query)

    server.result = counted_too_high  # type: ignore[method-assign]
    remote = Remote(server.address, QUICK)
    # Five entities of DBpedia have an English label that begins with A.
    query = QUERY.replace(
        "}", 'FILTER(STRSTARTS(?label, "A") && LANG(?label) = "en" && CONTAINS(STR(?s), "/resource/")) }'
    )
    with pytest.raises(StoreError, match="counts 9 rows and gave 5"):
        list(solutions(remote, "", lambda keys: query, ["one"], ["s", "label"], most=100, left_out=print))


@pytest.mark.parametrize(
    "behaviour",
    [
        endpoints.half,
        endpoints.broken_off,
        endpoints.empty,
        endpoints.error_text,
        endpoints.truth_value,
        endpoints.part,
        endpoints.hanging,
        endpoints.trickling,
        status(500),
        status(502),
        status(503),
        status(504),
        status(429, Retry_After="0"),
    ],
)
def test_failure_that_passes_is_tried_again(server: Endpoint, behaviour: Behaviour) -> None:
    right = Remote(server.address, QUICK).select(QUERY, ["s", "label"]).rows
    server.behaviours = [behaviour, behaviour]
    server.asked.clear()
    remote = Remote(server.address, manners(behaviour))
    assert remote._rows(QUERY, ["s", "label"], patient=True).rows.equals(right)
    assert server.asked == [QUERY] * 3


@pytest.mark.parametrize(
    ("behaviour", "error", "message"),
    [
        (endpoints.half, StoreError, "bytes that are no whole result in JSON"),
        (endpoints.broken_off, StoreError, "broke off its answer"),
        (endpoints.empty, StoreError, "answered with 0 bytes"),
        (endpoints.error_text, StoreError, "text/plain, not with a result in JSON: Virtuoso 42000 Error SQ156"),
        (endpoints.part, StoreError, "a part of the result .S1TAT Returning incomplete results."),
        (endpoints.hanging, Timeout, "did not answer within 0.3 s"),
        (endpoints.trickling, Timeout, "did not answer within 0.3 s"),
        (status(503, b"busy"), StoreError, "answered 503 Service Unavailable: busy"),
        (status(206, b"{}"), StoreError, "answered 206"),
    ],
)
def test_failure_that_stays_is_an_error_and_never_an_empty_answer(
    server: Endpoint, tmp_path: Path, behaviour: Behaviour, error: type[Exception], message: str
) -> None:
    server.behaviours = [behaviour] * 3
    remote = Remote(server.address, manners(behaviour), tmp_path)
    with pytest.raises(error, match=f"{message}.*tried 3 times.*the same command goes on"):
        remote.select(QUERY, ["s", "label"])
    assert len(server.asked) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (endpoints.html, "a page of HTML, not with a result: Down for repair"),
        (status(400, b"syntax error at line 1"), "answered 400 Bad Request: syntax error at line 1"),
        (status(403), "answered 403 Forbidden"),
        (status(302, Location="ftp://127.0.0.1/"), "redirects to ftp://127.0.0.1/: name that address"),
        (status(302, Location="http://other.example/sparql"), "redirects to http://other.example/sparql"),
        (status(429, Retry_After="3600"), "answered 429 Too Many Requests and asks to wait 3600 s"),
    ],
)
def test_failure_that_will_not_pass_is_an_error_at_once(server: Endpoint, behaviour: Behaviour, message: str) -> None:
    server.behaviours = [behaviour]
    with pytest.raises(StoreError, match=message):
        Remote(server.address, QUICK).select(QUERY, ["s"])
    assert len(server.asked) == 1


def test_redirect_on_the_same_host_is_followed_with_the_query(server: Endpoint) -> None:
    long = QUERY.replace("}", "#" + "x" * 2000 + "\n}")
    server.behaviours = [status(301, Location=f"{server.address}/elsewhere")]
    rows = Remote(server.address, QUICK).select(long, ["s", "label"]).rows
    assert rows.height > 0
    assert long in server.asked


def test_pauses_grow_and_are_as_long_as_the_endpoint_asks(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("remix.endpoints.time.sleep", pauses.append)
    server.behaviours = [status(503), status(429, Retry_After="7"), status(503)]
    Remote(server.address, Manners(rate=10_000, wait=1)).select(QUERY, ["s"])
    # 1 s, then 2 s that the endpoint makes 7, then 4 s; the pauses between requests are below a millisecond.
    assert [pause for pause in pauses if pause > 0.5] == [1, 7, 4]


def test_requests_are_as_seldom_as_the_rate_says(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("remix.endpoints.time.sleep", pauses.append)
    remote = Remote(server.address, Manners(rate=0.01))
    remote.select(QUERY, ["s"])  # two requests, the first to learn the limit of rows
    assert len(server.asked) == len(pauses) == 2
    assert pauses[0] == 0 and 60 < pauses[1] <= 100


def test_query_that_takes_too_long_is_asked_about_fewer_keys(server: Endpoint) -> None:
    remote = Remote(server.address, QUICK)
    assert remote.bound
    server.behaviours = [status(500, b"The estimated execution time 3000 (sec) exceeds the limit"), endpoints.part]
    asked = ["<urn:a>", f"<{R}Hub>", f"<{R}Köln>"]

    def labels(keys: Sequence[str]) -> str:
        return QUERY.replace("{", f"{{ VALUES ?s {{ {' '.join(keys)} }}", 1)

    found = list(solutions(remote, "", labels, asked, ["s", "label"], most=100, left_out=print))
    assert sorted(pl.concat(found)["label"]) == ["Hub", "Köln"]
    with pytest.raises(TooHeavy):
        server.behaviours = [status(504)]
        remote.select(labels(asked), ["s"], patient=False)


@pytest.mark.long
def test_nothing_is_asked_twice(wikidata: Endpoint, tmp_path: Path) -> None:
    wikidata.cap = 2
    assert gathered(part(wikidata.address, cache=tmp_path / "cache"), tmp_path / "first") == OF_WIKIDATA
    wikidata.asked.clear()
    assert gathered(part(wikidata.address, cache=tmp_path / "cache"), tmp_path / "second") == OF_WIKIDATA
    assert wikidata.asked == []


@pytest.mark.long
def test_what_was_interrupted_goes_on(wikidata: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_TRIES", "1")
    gathered(part(wikidata.address), tmp_path / "whole")
    needed = len(wikidata.asked)
    wikidata.asked.clear()
    wikidata.behaviours = [endpoints.answer] * 20 + [status(503)]
    before = part(wikidata.address, cache=tmp_path / "cache")
    with pytest.raises(StoreError, match="503"):
        gathered(before, tmp_path / "failed")
    after = part(wikidata.address, cache=tmp_path / "cache")
    assert after.fingerprint == before.fingerprint
    assert gathered(after, tmp_path / "staged") == OF_WIKIDATA
    assert len(wikidata.asked) == needed + 1  # the one that failed


@pytest.mark.long
def test_what_is_refreshed_is_asked_once_again_and_goes_on_when_interrupted(
    wikidata: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_TRIES", "1")

    def refreshed(folder: str, *behaviours: Behaviour) -> int:
        wikidata.asked.clear()
        wikidata.behaviours = [*behaviours]
        read = part(wikidata.address, cache=tmp_path / "cache", refresh=True)
        assert gathered(read, tmp_path / folder) == OF_WIKIDATA
        return len(wikidata.asked)

    needed = refreshed("first")
    assert refreshed("second") == needed
    with pytest.raises(StoreError, match="503"):
        refreshed("failed", *[endpoints.answer] * 20, status(503))
    # The 20 that were answered are kept, the one that failed is asked again.
    assert refreshed("third") == needed - 20
    wikidata.asked.clear()
    assert gathered(part(wikidata.address, cache=tmp_path / "cache"), tmp_path / "kept") == OF_WIKIDATA
    assert wikidata.asked == []
    [kept] = (tmp_path / "cache" / "endpoints").iterdir()
    assert {file.name for file in kept.iterdir() if file.suffix != ".parquet"} == {"begun"}


def test_damaged_answer_in_the_cache_is_asked_again(server: Endpoint, tmp_path: Path) -> None:
    right = Remote(server.address, QUICK, tmp_path).select(QUERY, ["s", "label"]).rows
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:20])
    assert Remote(server.address, QUICK, tmp_path).select(QUERY, ["s", "label"]).rows.equals(right)


def test_version_is_of_what_was_asked_and_when(tmp_path: Path) -> None:
    address = "http://127.0.0.1:1/sparql"
    one = part(address, cache=tmp_path)
    assert one.fingerprint == part(address, forms=FORMS[::-1], cache=tmp_path).fingerprint
    others = [
        part(address, forms=FORMS[1:], cache=tmp_path),
        part(address, entities=ENTITIES[1:], cache=tmp_path),
        part(f"{address}2", cache=tmp_path),
    ]
    assert len({other.fingerprint for other in [one, *others]}) == 4
    assert one.date in {file.read_text()[:10] for file in (tmp_path / "endpoints").glob("*/begun")}
    assert part("https://dbpedia.org/sparql").licence == "CC BY-SA 3.0, GFDL"
    assert part("https://query.wikidata.org/sparql").licence == "CC0 1.0"
    assert one.licence == ""


@pytest.mark.long
def test_entity_that_is_no_iri_is_reported(server: Endpoint, tmp_path: Path) -> None:
    wrong = part(server.address, entities=[*ENTITIES, "no iri", "none either"])
    staging = Staging(tmp_path / "staged")
    wrong.read(staging)
    assert staged(tmp_path / "staged") == EXPECTED
    problem = staging.problems["entities that are no IRI"]
    assert problem.count == len(problem.first) == 2
    with pytest.raises(BadInput, match="entities that are no IRI: no"):
        wrong.read(Staging(tmp_path / "strict", strict=True))


def test_rank_that_is_no_number_is_reported(tmp_path: Path) -> None:
    ranks = """@prefix vrank: <http://purl.org/voc/vrank#> . @prefix r: <http://dbpedia.org/resource/> .
    r:A <http://dbpedia.org/ontology/wikiPageWikiLink> r:B .
    r:A vrank:hasRank [ vrank:rankValue 2 ] , [ vrank:rankValue 4.5 ] .
    r:B vrank:hasRank [ vrank:rankValue "high" ] ."""
    with endpoint(ranks) as server:
        staging = Staging(tmp_path)
        part(server.address, entities=[f"{R}A", f"{R}B"]).read(staging)
    assert staged(tmp_path)["scores"] == [(f"{R}A", 4.5, "vrank")]
    assert staging.problems["ranks that are no number"].first == ["high"]


@pytest.mark.long
def test_knowledge_base_of_a_dataset_is_built_in_two_attempts(server: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "small.ttl").write_text(DOCUMENT, encoding="utf-8")
    workspace = Workspace(tmp_path / ".remix")
    workspace.store.load(tmp_path / "small.ttl")
    before = workspace.attach_kb()
    server.behaviours = [endpoints.answer] * 10 + [status(403, b"enough for today")]
    sources = [("endpoint", server.address)]
    with pytest.raises(StoreError, match="answered 403 Forbidden: enough for today"):
        workspace.build_kb(sources, name="small", datasets=["small"], engine="polars")
    assert workspace.kb is not None and workspace.kb.signature == before.signature
    kb = workspace.build_kb(sources, name="small", datasets=["small"], engine="polars")
    # The one annotation is Anna; of Wikidata, Q900008 has that label.
    found = kb.candidates(pl.DataFrame({"form": ["Anna"]}))
    assert set(found["entity"]) == {f"{R}Anna_Karst", f"{R}Anna_Bell", f"{WD}Q900008"}
    assert kb.resolve(pl.Series([f"{R}A_Karst", f"{WD}Q900004"])).to_list() == [f"{R}Anna_Karst"] * 2
    assert len(server.asked) == len(set(server.asked)) + 1


def test_password_in_an_address_is_in_no_record_of_the_source() -> None:
    asked = part("http://me:secret@127.0.0.1:1/sparql?key=secret")
    assert (asked.name, asked.place) == ("127.0.0.1:1", "http://127.0.0.1:1/sparql?key=…")
    with pytest.raises(UsageError, match="http://127.0.0.1:1/sparql is asked about datasets"):
        part("http://me:secret@127.0.0.1:1/sparql", forms=[], entities=[])


@pytest.mark.parametrize("place", ["ftp://example.org/sparql", "dbpedia.org/sparql", "/data/dump.nt", "http://"])
def test_place_that_is_no_address_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="no address of an endpoint: it begins with http"):
        part(place)


def test_without_datasets_there_is_nothing_to_ask_about() -> None:
    with pytest.raises(UsageError, match="name loaded ones with --for"):
        part("http://127.0.0.1:1/sparql", forms=[], entities=[])


@pytest.mark.parametrize("value", ["0", "-1", "often", "inf", "nan"])
def test_rate_that_is_no_positive_number_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_RATE", value)
    with pytest.raises(UsageError, match="REMIX_ENDPOINT_RATE is a positive number, not"):
        part("http://127.0.0.1:1/sparql")


def test_endpoint_that_holds_something_else_is_an_error(tmp_path: Path) -> None:
    unknown = "none of the vocabularies that are known: dbpedia, wikidata"
    with endpoint("<urn:a> <urn:b> <urn:c> .") as server, pytest.raises(StoreError, match=unknown):
        part(server.address).read(Staging(tmp_path))
    with endpoint() as server, pytest.raises(StoreError, match="has no triples"):
        part(server.address).read(Staging(tmp_path))


@pytest.mark.long
@given(st.lists(st.text(min_size=1), max_size=5))
def test_any_surface_form_can_be_asked_for(forms: list[str]) -> None:
    terms = literal_terms(pl.Series(forms, dtype=pl.String), ["en"], untagged=True, suffixes={"en": " (x)"})
    answer = ox.Store().query(f"SELECT ?x WHERE {{ VALUES ?x {{ {' '.join(terms)} }} }}")
    read = {(row[0].value, row[0].language) for row in answer}  # type: ignore[union-attr]
    wanted = set(pl.Series("x", forms, pl.String).to_frame().select(normalise(pl.col("x"), case_sensitive=True))["x"])
    wanted -= {""}
    assert {value for value, language in read if language is None} >= wanted
    assert {value for value, language in read if language == "en"} >= wanted | {f"{form} (x)" for form in wanted}


def test_entities_are_asked_for_as_dbpedia_spells_them() -> None:
    assert iri_terms(pl.Series([f"{R}A", f"{R}Why?", "urn:why?"])) == [
        f"<{R}A>",
        f"<{R}Why?>",
        f"<{R}Why%3F>",
        "<urn:why?>",
    ]
    assert title_terms(pl.Series(['http://de.dbpedia.org/resource/A_"B"'])) == ['"A \\"B\\""@de']
