"""What an attacker cannot do with what he wrote into the data, with an address, or with a page elsewhere.

Every view is held to it: its pages are found by following links through a workspace in which each text, name, label and
IRI is hostile. What may be done to the endpoint, and for how long, is in `test_limits.py` and `test_endpoint.py`.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
import polars as pl
import pytest
from starlette.routing import Route

from remix.kb import KnowledgeBase
from remix.web.endpoint import application
from remix.web.explorer import routes
from remix.web.page import VIEWS
from remix.web.protocol import Limits
from remix.workspace import Workspace, open_workspace

TAG = '<evil-tag onevil=1>"\' onevil=\'2" onevil="3</script></style></svg></textarea></title>'
FORMULA = '=HYPERLINK("http://evil.example";"x")|'
TEXT = f"Bonn {TAG} {FORMULA}"
SCHEME = "javascript:evil(1)"
# The last is longer than a path may be, 4096 bytes.
NASTY = ('../../../../etc/passwd\0\r\nSet-Cookie: evil=1"><evil-tag onevil=1>{{7*7}}', "-" + "9" * 30, "é" * 2100)
KB = {
    "surface_forms.tsv": f"surface_form\tentity_iri\tcount\tsource\nBonn\t{SCHEME}\t3\tevil\nBonn\tdbr:Bonn\t9\tevil\n",
    "labels.tsv": f"entity_iri\tlabel\tsource\n{SCHEME}\t{TAG}\tevil\ndbr:Bonn\t{TAG}\tevil\n",
    "types.tsv": f"entity_iri\ttype_iri\tsource\n{SCHEME}\tjavascript:evil(2)\tevil\ndbr:Bonn\tdbo:Place\tevil\n",
    "links.tsv": f"source_iri\ttarget_iri\tcount\tsource\n{SCHEME}\tdbr:Bonn\t1\tevil\n",
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, kb_of: Callable[..., KnowledgeBase]) -> Workspace:
    """Texts, names of documents and systems, links, classes and labels that want to be more than that."""
    folder = tmp_path_factory.mktemp("hostile")
    lines = [
        {"document": f"{TAG}{number}", "text": TEXT, "begin": 0, "end": 4, "entity": entity, "class": SCHEME}
        for number, entity in enumerate((SCHEME, f"http://example.org/{TAG}", "http://dbpedia.org/resource/Bonn"))
    ]
    lines.append({"document": "formula", "text": FORMULA, "begin": 0, "end": len(FORMULA), "entity": SCHEME})
    file = folder / "evil.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = open_workspace(folder / ".remix")
    made.load([file])
    made.store.attach_kb(kb_of(KB).folder)
    made.enrich()
    wrong = pl.DataFrame([{**line, "entity": f"{SCHEME}//{TAG}"} for line in lines])
    made.add_run('run <evil-tag>"<script>evil()</script>', wrong.drop("text", "class"))
    made.add_run("other", wrong.with_columns(entity=pl.lit(SCHEME)).drop("text", "class"))
    return made


class Client:
    """Asks the application of a workspace; an error of it is an answer."""

    def __init__(self, work: Workspace, runner: asyncio.Runner) -> None:
        self.app = application(work.store, Limits(), ("explorer",), routes(work))
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://explorer", follow_redirects=True)
        self.runner = runner

    def request(self, method: str, place: str, **sent: Any) -> httpx.Response:
        return self.runner.run(self.client.request(method, place, **sent))

    def get(self, place: str, **sent: Any) -> httpx.Response:
        return self.request("GET", place, **sent)

    @property
    def places(self) -> list[str]:
        """The paths that are served."""
        return [route.path for route in self.app.routes if isinstance(route, Route)]


@pytest.fixture(scope="module")
def ask(work: Workspace) -> Iterator[Client]:
    """Asks for pages of the workspace."""
    with asyncio.Runner() as runner:
        client = Client(work, runner)
        yield client
        client.app.state.stop()


class Tags(HTMLParser):
    """What of a page would run if a browser opened it, and the addresses that it leads to, those of forms included."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.evil: list[str] = []
        self.links: list[str] = []
        self.fields: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        places = [
            given[name] for name in ("href", "src", "action", "formaction", "xlink:href", "data") if name in given
        ]
        runs = tag.startswith("evil") or tag == "script" and given.get("src") != "/script.js"
        if runs or any(name.startswith("on") or name == "style" for name in given):
            self.evil.append(self.get_starttag_text() or tag)
        self.evil += [one for one in places if not one.startswith(("/", "#", "http://", "https://", "data:,"))]
        if tag == "a":
            self.links += [one for one in places if one.startswith("/") and not one.startswith("//")]
        if tag in ("input", "select", "textarea"):
            self.fields.append(given.get("name", ""))


@pytest.fixture(scope="module")
def found(ask: Client, work: Workspace) -> dict[str, dict[str, httpx.Response]]:
    """Some pages of each view by their addresses, as links lead to them from the first page on."""
    read: dict[str, dict[str, httpx.Response]] = defaultdict(dict)
    waiting = deque(["/"])
    while waiting:
        place = waiting.popleft()
        name = place.partition("?")[0].removeprefix("/")
        if place == "/" or (name in VIEWS and place not in read[name] and len(read[name]) < 4):
            read[name][place] = ask.get(place)
            waiting.extend(Tags(read[name][place].text).links)
    return read


def parameters_of(pages: dict[str, httpx.Response]) -> set[str]:
    """The parameters that pages of a view have in their addresses and forms."""
    named = {name for place in pages for name, _ in parse_qsl(place.partition("?")[2])}
    return named | {name for answer in pages.values() for name in Tags(answer.text).fields} - {""}


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS.names())
def test_links_lead_to_pages_of_every_view_that_show_something(
    found: dict[str, dict[str, httpx.Response]], view: str
) -> None:
    assert found[view], (
        f"no page has a link to /{view}: a view is reached from another, as tables and charts link to it"
    )
    assert {place: answer.status_code for place, answer in found[view].items() if answer.status_code != 200} == {}


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS.names())
def test_script_in_literals_labels_names_and_iris_stays_text_on_every_page(
    found: dict[str, dict[str, httpx.Response]], view: str
) -> None:
    for place, answer in found[view].items():
        assert Tags(answer.text).evil == [], place
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("view", VIEWS.names())
def test_script_in_data_stays_data_in_every_export(
    found: dict[str, dict[str, httpx.Response]], ask: Client, view: str
) -> None:
    media = {"csv": "text/csv", "json": "application/json", "md": "text/markdown", "tex": "text/plain"}
    name, _, query = max(found[view], key=len).partition("?")
    for form in (*media, *VIEWS[view].downloads):
        answer = ask.get(f"{name}.{form}?{query}")
        assert answer.status_code in (200, 404) and answer.headers["x-content-type-options"] == "nosniff"
        assert "html" not in answer.headers["content-type"] and "svg" not in answer.headers["content-type"]
        if answer.status_code == 200 and form in media:
            assert answer.headers["content-type"].partition(";")[0] == media[form]
        if form == "md":
            assert "<evil" not in answer.text


def test_formulas_are_the_texts_that_they_are_in_csv(ask: Client) -> None:
    """A text is never changed on its way out, so that what is read back is what was there."""
    rows = pl.read_csv(io.StringIO(ask.get("/document.csv", params={"dataset": "evil", "name": "formula"}).text))
    assert FORMULA in rows.to_series(rows.columns.index("surface_form")).to_list()


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("view", VIEWS.names())
def test_no_parameter_reaches_a_file_or_a_header_or_breaks_a_page(
    found: dict[str, dict[str, httpx.Response]], ask: Client, view: str
) -> None:
    place, given = (
        max(found[view], key=len).partition("?")[0],
        dict(parse_qsl(max(found[view], key=len).partition("?")[2])),
    )
    for name in sorted(parameters_of(found[view]) | {"sort", "at", "table"}):
        for nasty in NASTY:
            for address in (place, f"{place}.csv") if nasty is NASTY[0] else (place,):
                answer = ask.get(f"{address}?{urlencode({**given, name: nasty})}")
                assert answer.status_code in (200, 400, 404), (address, name, nasty[:80], answer.text[:200])
                assert (
                    "set-cookie" not in answer.headers and "root:" not in answer.text and "Traceback" not in answer.text
                )
                assert address != place or Tags(answer.text).evil == [], (name, nasty)


@pytest.mark.parametrize("view", VIEWS.names())
def test_file_that_an_address_names_is_not_read(
    found: dict[str, dict[str, httpx.Response]], ask: Client, work: Workspace, view: str
) -> None:
    file = work.store.folder.parent / "evil.jsonl"
    assert file.is_file()
    place, _, query = max(found[view], key=len).partition("?")
    for name in parameters_of(found[view]) & {"dataset", "datasets", "system", "other"}:
        asked = urlencode({**dict(parse_qsl(query)), name: str(file)})
        # A page says that there is no such name, and is shown without it where it can be; data are refused.
        answer = ask.get(f"{place}?{asked}")
        assert answer.status_code in (400, 404) or "Left out:" in answer.text, (place, name)
        assert ask.get(f"{place}.csv?{asked}").status_code in (400, 404), (place, name)


def test_report_runs_no_script_but_its_own(work: Workspace, tmp_path: Path) -> None:
    text = work.report(to=tmp_path / "report.html").read_text()
    tags = Tags(text.replace("<script>", '<script src="/script.js">').replace("<style>", ""))
    assert tags.evil == [] and text.count("<script>") == 1
    assert "unsafe" not in text.partition("Content-Security-Policy")[2].partition(">")[0]


@pytest.mark.long
def test_name_that_was_made_to_point_here_is_refused_on_every_page(ask: Client) -> None:
    assert {"/sparql", "/style.css", *(f"/{view}" for view in VIEWS.names())} <= set(ask.places)
    for place in ask.places:
        for host in ("evil.example", "explorer.evil.example", "127.0.0.1.evil.example:8890", ""):
            assert ask.get(place, headers={"Host": host}).status_code == 400, place


@pytest.mark.long
def test_nothing_is_written_through_the_web(ask: Client, work: Workspace) -> None:
    before = {file: file.stat().st_mtime_ns for file in work.store.folder.rglob("*.json")}
    for place in ask.places:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            answer = ask.request(method, place, content=b"x")
            # Nothing is at the address that stands for all others.
            own = {"/sparql": (405, 415), "/{place:path}": (404,)}
            assert answer.status_code in own.get(place, (405,)), place
    assert {file: file.stat().st_mtime_ns for file in work.store.folder.rglob("*.json")} == before
