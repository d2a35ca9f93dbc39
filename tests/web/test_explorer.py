"""The explorer's pages by their rows, their data and their safety; no browser is needed for these."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import re
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl

import anyio
import httpx
import polars as pl
import pytest
import rdflib

from remix import progress
from remix.errors import UnknownName
from remix.reports.score_cache import ScoreCache
from remix.runs.judgements import Judgements
from remix.store import Store
from remix.web.addresses import address
from remix.web.endpoint import application
from remix.web.error_sentences import browse
from remix.web.explorer import routes
from remix.web.folder import render_ontology
from remix.web.forms import Field, Form
from remix.web.page import VIEWS, Download, Note, Page, Passage, Passages, Segment, Table
from remix.web.protocol import Limits
from remix.web.rendering import environment, render_file, render_page
from remix.web.wrong_addresses import find_misnamed
from remix.workspace import Workspace, open_workspace
from tests.test_paper import set_by_latex
from tests.web.pages import Get, pages_of
from tests.workspaces import copy_workspace

CHECKOUT = Path(__file__).resolve().parents[2]
OUR_SCRIPT = '<script src="/script.js" defer></script>'


def shown(work: Workspace, view: str, **parameters: str) -> Page:
    return VIEWS[view].show(work, parameters)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("view", VIEWS.names())
def test_every_view_answers_without_parameters_and_is_in_the_menu_where_it_shows_something(get: Get, view: str) -> None:
    answer = get(f"/{view}")
    # A selection is that of the builder, which needs no choice.
    assert answer.status_code == (200 if VIEWS[view].menu or view == "selection" else 404)
    assert (f'href="/{view}"' in answer.text) == bool(VIEWS[view].menu)


def test_scores_that_are_still_being_computed_are_no_data_and_say_when_to_ask_again(
    run_store: Store, tmp_path: Path
) -> None:
    served = copy_workspace(run_store.folder, tmp_path / "own")
    shutil.rmtree(served.folder / "cache", ignore_errors=True)  # what others asked, in any order
    served._scores = ScoreCache(served, waits=False)
    with pages_of(served) as get:
        answers = [get(f"/systems.{form}?by=is_nil") for form in ("json", "csv")]
    served._scores.close()
    assert [(one.status_code, one.headers.get("retry-after")) for one in answers] == [(503, "1"), (503, "1")]
    assert answers[0].text == "this is still being computed: ask again in a second\n"


@pytest.mark.parametrize(
    ("view", "misspelt", "meant"),
    [("systems", "datset=x", "dataset"), ("annotations", "outcom=x", "outcome"), ("errors", "classs=extra", "class")],
)
def test_a_name_that_no_page_knows_is_said_and_its_data_are_refused(
    get: Get, view: str, misspelt: str, meant: str
) -> None:
    name = misspelt.partition("=")[0]
    answer = get(f"/{view}?{misspelt}")
    assert answer.status_code == 200
    assert f"has no parameter &#39;{name}&#39;; did you mean &#39;{meant}&#39;?" in answer.text
    refused = get(f"/{view}.csv?{misspelt}")
    assert refused.status_code == 400 and f"'{name}'; did you mean '{meant}'?" in refused.text
    # What others put behind an address, and what says nothing, changes nothing.
    plain, marked = get("/datasets.csv"), get("/datasets.csv?utm_source=mail&fbclid=7&datset=")
    assert (marked.status_code, marked.content) == (200, plain.content)


def test_downloads_of_a_misspelt_address_are_refused(get: Get) -> None:
    assert get("/document.ttl?dataset=gold").status_code == 200
    refused = get("/document.ttl?dataset=gold&nmae=x")
    assert refused.status_code == 400 and "Document has no parameter 'nmae'; did you mean 'name'?" in refused.text


@pytest.mark.at_hand(2)
def test_no_page_leads_to_an_address_that_it_does_not_know(work: Workspace, get: Get) -> None:
    """Every link of the pages of all views, and what their forms send as they stand."""
    seen, misnamed = set[str](), set[str]()
    for view in VIEWS:
        text = get(address(view.name, **view.example(work))).text
        found = {html.unescape(one) for one in re.findall('href="(/[^"#]*)', text)}
        fields = re.findall('<(?:input|select|textarea)[^>]* name="([^"]*)"', text)
        found.add(f"/{view.name}?" + "&".join(f"{name}=1" for name in dict.fromkeys(map(html.unescape, fields))))
        for place in sorted(found - seen):
            path, _, query = place[1:].partition("?")
            if (name := path.partition(".")[0]) in VIEWS.names():
                told = find_misnamed(work, VIEWS[name], dict(parse_qsl(query))).values()
                misnamed |= {f"{place}: {error}" for error in told}
        seen |= found
    assert len(seen) > 100 and not misnamed


def test_datasets_are_listed_and_lead_to_their_pages(work: Workspace, get: Get) -> None:
    [row] = shown(work, "datasets").tables["datasets"].to_dicts()
    assert (row["dataset"], row["documents"], row["runs"]) == ("gold", 1, 2)
    assert 'href="/dataset?name=gold"' in get("/datasets").text
    assert get("/").headers["location"] == "/start"


def test_dataset_has_its_measures_and_documents(work: Workspace) -> None:
    tables = shown(work, "dataset", name="gold").tables
    assert tables["documents"]["mentions"].to_list() == [4]
    assert "density" in tables["measures"].to_series().to_list()


def test_errors_stand_in_their_sentences_with_gold_and_answer(work: Workspace) -> None:
    """System a takes Alan for another, links Bob, who is NIL, and answers New York where gold has New York City."""
    page = shown(work, "errors", dataset="gold", system="a")
    found = page.tables["errors"].select("surface_form", "a outcome", "a class").rows()
    assert found == [
        ("Alan", "wrong", "wrong_link"),
        ("Bob", "wrong", "nil_as_link"),
        ("New York", "wrong", "extra"),
        ("New York City", "missed", "missing"),
    ]
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    alan, _, _, city = passages.passages
    assert [one.text for one in alan.segments] == ["Ada met ", "Alan", " and Bob in New York City."]
    assert alan.segments[1].classes == "wrong" and alan.notes[1].startswith("✗ a: dbr:Alan")
    assert city.notes[1] == "○ a: no answer – missed (missing mention)"


@pytest.mark.parametrize(
    ("asked", "forms"),
    [
        ({"show": "correct"}, ["Ada"]),
        ({"show": "all"}, ["Ada", "Alan", "Bob", "New York", "New York City"]),
        ({"class": "nil_as_link"}, ["Bob"]),
        ({"type": "person"}, ["Alan"]),
        ({"agreement": "missed by all"}, ["Bob", "New York City"]),
        ({"other": "b", "show": "all", "agreement": "only the second right"}, ["Alan"]),
        ({"other": "b", "show": "all", "agreement": "both right"}, ["Ada"]),
        ({"other": "b", "show": "all", "agreement": "neither right"}, ["Bob", "New York City"]),
        ({"by": "is_nil", "slice": "true"}, ["Bob"]),
        ({"gold": "NIL"}, ["Bob"]),
        ({"from": "2", "count": "1"}, ["Alan", "Bob", "New York", "New York City"]),
    ],
)
def test_errors_are_chosen_by_what_became_of_them(work: Workspace, asked: dict[str, str], forms: list[str]) -> None:
    page = shown(work, "errors", dataset="gold", system="a", **asked)
    assert page.tables["errors"]["surface_form"].to_list() == forms


def test_errors_lead_from_page_to_page_and_from_confused_pairs_to_sentences(work: Workspace, get: Get) -> None:
    text = get("/errors?system=a&from=2&count=1").text
    assert "count=1" in text and "from=1" in text and ">next sentences</a>" in text
    page = shown(work, "errors", dataset="gold", system="a")
    [pairs] = [block for block in page.blocks if isinstance(block, Table) and block.name == "confused by a"]
    row = pairs.frame.filter(gold="NIL").to_dicts()[0]
    assert row["mentions"] == 1 and "gold=NIL" in pairs.links["mentions"](row)
    assert "no run on gold named" in get("/errors?dataset=gold&system=c").text
    assert "no dataset with a run named" in get("/errors?dataset=../../etc/passwd").text


@pytest.mark.long
def test_errors_open_with_their_classes_and_facets_count_what_they_would_leave(work: Workspace, get: Get) -> None:
    page = shown(work, "errors", dataset="gold", system="a", other="b")
    assert [block.name for block in page.blocks if isinstance(block, Table)][0] == "classes of errors"
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    facets = {facet.name: {one.words: one for one in facet.values} for facet in passages.facets}
    # Alan, Bob, New York and New York City of five are errors of a or b; b misses Bob and New York City, too.
    assert {words: one.number for words, one in facets["show"].items()} == {
        "errors": 4,
        "correct": 2,
        "wrong": 3,
        "missed": 2,
        "all": 5,
    }
    assert {(words, one.identifier): one.number for words, one in facets["class"].items()} == {
        ("missing mention", "missing"): 2,
        ("extra answer", "extra"): 1,
        ("link in place of NIL", "nil_as_link"): 1,
        ("wrong link", "wrong_link"): 1,
    }
    for facet in passages.facets:
        for one in facet.values:
            place = one.href.replace("/errors?", "/errors.json?")
            if not one.chosen:
                assert len(json.loads(get(place).text)) == one.number, place
    assert "other=b" in facets["class"]["extra answer"].href
    assert passages.passages[1].heading == "error 2 of 4: 1"


def test_classes_of_errors_are_called_as_people_do_and_stay_what_they_are_as_data(work: Workspace, get: Get) -> None:
    text = get("/errors?dataset=gold&system=a&class=wrong_link&by=is_nil").text
    assert "wrong link <small>wrong_link</small>" in text  # a cell of the table of sentences
    assert re.search(">wrong link</a> <small>wrong_link</small></th>", text)  # the class as a column
    assert "<bdi>wrong link</bdi> <small><bdi>wrong_link</bdi></small></a> 1" in text  # the facet
    assert "wrong link (<code>wrong_link</code>):" in text and "wrong (wrong link)" in text
    assert [row["a class"] for row in json.loads(get("/errors.json?system=a&class=wrong_link").text)] == ["wrong_link"]
    assert "wrong_link" in get("/errors.csv?system=a&table=classes+of+errors").text.splitlines()[0].split(",")
    # A paper has what is told of a mention, in one table, unless other columns are chosen.
    paper = get("/errors.tex?system=a&table=errors").text
    assert "surface form & gold & a answer & a class" in paper and "document" not in paper.partition("toprule")[2]
    assert "document & gold" in get("/errors.tex?system=a&table=errors&columns=document,gold").text
    alan = shown(work, "errors", dataset="gold", system="a").tables["errors"].filter(surface_form="Alan")
    mention = VIEWS["annotations"].show(work, {"dataset": "gold", "find": "Alan"}).tables["annotations"]
    assert alan.height == mention.height == 1
    place = address("document", dataset="gold", annotation=mention["annotation"][0])
    assert "wrong link <small>neleval:wrong_link" in get(place).text


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("kind", ["", "missing", "wrong_link"])
def test_counts_lead_to_their_sentences_with_both_systems_beside(work: Workspace, get: Get, kind: str) -> None:
    """As many of the one system as are counted, with what the other made of the same mentions."""
    asked = {"dataset": "gold", "system": "a", "other": "b", "by": "is_nil", "class": kind}
    page, followed = shown(work, "errors", **asked), 0
    for table in (one for one in page.blocks if isinstance(one, Table) and one.name != "errors"):
        for column, lead in table.links.items():
            for row in table.frame.to_dicts():
                if not (place := lead(row)):
                    continue
                told = dict(parse_qsl(place.partition("?")[2].partition("#")[0]))
                assert {told["system"], told["other"]} == {"a", "b"} and told["of"] == told["system"]
                rows = json.loads(get(place.partition("#")[0].replace("/errors?", "/errors.json?")).text)
                assert len(rows) == row[column], place
                assert all("a outcome" in one and "b outcome" in one for one in rows)
                followed += 1
    assert followed > 10
    told = get("/errors?dataset=gold&system=a&other=b&of=b&class=missing").text
    assert '<h1 dir="auto">Errors of b on gold, beside a</h1>' in told
    assert "remix errors b --on gold --class missing" in told
    assert "no system of this page named" in html.unescape(get("/errors?dataset=gold&system=a&other=b&of=c").text)


def test_errors_lead_into_the_document_with_both_systems_and_on_to_the_next(work: Workspace, get: Get) -> None:
    page = shown(work, "errors", dataset="gold", system="a", other="b", **{"class": "missing"})
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    place = passages.passages[0].href
    assert place.endswith("#mention-17-20") and "other=b" in place and "error=1" in place
    text = get(place.partition("#")[0]).text
    assert "error 1 of 2, the first." in text and 'id="mention-17-20"' in text and text.count(" chosen") == 2
    following = re.search(r'<a rel="next" href="([^"]*)"', text)
    assert following and html.unescape(following[1]).endswith("error=2#mention-24-37")
    assert "error 2 of 2, the last." in get(html.unescape(following[1]).partition("#")[0]).text
    assert "no error 9 of those" in get(place.partition("#")[0].replace("error=1", "error=9")).text


@pytest.mark.long
def test_choices_that_do_not_fit_any_more_are_left_out_and_said_and_data_are_refused(tmp_path: Path) -> None:
    small = CHECKOUT / "tests" / "runs" / "small"
    work = open_workspace(tmp_path / ".remix")
    for name in ("gold", "other"):
        work.load(small / "gold.ttl", name=name)
    work.add_run("a", small / "a.ttl", on="gold")
    work.add_run("b", small / "b.ttl", on="other")
    with pages_of(work) as get:
        for query, said in (
            ("dataset=other&system=a", "no run on other named"),
            ("dataset=gold&system=a&type=Place2", "no type named"),
            ("dataset=gold&system=a&slice=true", "is a part of a column"),
            ("dataset=gold&system=a&by=is_nil&slice=maybe", "no slice named"),
        ):
            answer = get(f"/errors?{query}")
            assert answer.status_code == 200 and "Left out:" in answer.text and said in answer.text, query
            assert "<form" in answer.text and "classes of errors" in answer.text
            assert get(f"/errors.csv?{query}").status_code == 404


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"agreement": "neither right"}, "of two systems"),
        ({"agreement": "both right", "other": "b"}, "No error is right"),
    ],
)
def test_agreement_that_is_not_heeded_or_chooses_nothing_says_why(
    work: Workspace, asked: dict[str, str], said: str
) -> None:
    page = shown(work, "errors", system="a", **asked)
    notes = [block.text for block in page.blocks if isinstance(block, Note)]
    assert any(said in note for note in [*notes, *map(str, page.dropped)])


def test_agreement_of_one_system_is_no_choice_of_data(get: Get) -> None:
    """Without a second system nothing is left out by it: all errors in its place would pass for what was asked."""
    answer = get("/errors.json?dataset=gold&system=a&agreement=neither+right")
    assert answer.status_code == 404 and "of two systems" in answer.text


def test_agreements_name_the_systems(work: Workspace) -> None:
    page = VIEWS["errors"].show(work, {"dataset": "gold", "system": "a", "other": "b", "show": "all"})
    [facets] = [block.facets for block in page.blocks if isinstance(block, Passages)]
    [agreement] = [one for one in facets if one.name == "agreement"]
    said = {one.identifier or one.words: one.words for one in agreement.values}
    assert said["only the second right"] == "right in b alone" and said["missed by all"] == "right in no system"
    assert said["both right"] == "both right"


@pytest.mark.parametrize("asked", [{"show": "erors"}, {"agreement": "both wrong"}])
def test_choice_that_there_is_not_is_refused(work: Workspace, asked: dict[str, str]) -> None:
    with pytest.raises(UnknownName, match="errors|both right"):
        shown(work, "errors", system="a", **asked)


def test_no_address_asks_for_more_sentences_than_a_page_has() -> None:
    frame = pl.DataFrame({"mention": range(600), "document": "d", "dataset": "x", "begin": 0, "end": 3, "gold": "e:A"})
    mentions = frame.with_columns(surface_form=pl.lit("Ada"), annotation=pl.lit("a"), type=pl.lit(None, pl.String))
    answers = pl.DataFrame({"mention": range(600), "system": "s", "outcome": "wrong", "classes": "wrong_link"})
    answers = answers.with_columns(answer=pl.lit("e:B"), answered=pl.lit("Ada"), unjoined=pl.lit(None, pl.String))
    documents = pl.DataFrame({"document": ["d"], "dataset": ["x"], "text": ["Ada"], "name": ["d"]})
    failures, runs = documents.select("document", system=pl.lit("s")).clear(), pl.DataFrame({"system": ["s"]})
    judged = Judgements(documents, mentions, answers, failures, runs)
    for asked, number in (("9999", 500), ("0", 1)):
        blocks = browse(judged, {"dataset": "x", "system": "s", "count": asked})
        [passages] = [block for block in blocks if isinstance(block, Passages)]
        assert len(passages.passages) == number


@pytest.mark.long
def test_runs_made_for_given_mentions_are_shown_and_are_never_those_of_before(tmp_path: Path) -> None:
    """System a takes Alan for another, b has him right; as runs of D2KB neither is kept in the state of the store."""
    small = CHECKOUT / "tests" / "runs" / "small"
    work = open_workspace(tmp_path / ".remix")
    work.load(small / "gold.ttl")
    forms = []
    for file in ("a.ttl", "b.ttl"):
        work.add_run("given", small / file, on="gold", task="D2KB", replace=True)
        page = shown(work, "errors", dataset="gold", system="given")
        forms.append(page.tables["errors"].filter(gold="http://dbpedia.org/resource/Alan_Turing")["surface_form"])
        assert any("was given the mentions" in block.text for block in page.blocks if isinstance(block, Note))
    assert [len(one) for one in forms] == [1, 0]


def test_runs_on_a_dataset_that_was_dropped_are_not_shown(tmp_path: Path) -> None:
    small = CHECKOUT / "tests" / "runs" / "small"
    work = open_workspace(tmp_path / ".remix")
    work.load(small / "gold.ttl")
    work.load(small / "gold.ttl", name="other")
    work.add_run("a", small / "a.ttl", on="gold")
    work.drop("gold")
    for view in ("errors", "systems"):
        [note] = shown(work, view).blocks
        assert isinstance(note, Note) and "No run is registered" in note.text
        with pytest.raises(UnknownName, match="gold"):
            shown(work, view, dataset="gold")


def test_every_page_answers_its_tables_as_data(get: Get) -> None:
    rows = json.loads(get("/datasets.json").text)
    assert rows[0]["dataset"] == "gold"
    assert get("/datasets.csv").text.splitlines()[0].startswith("dataset,documents")
    assert get("/datasets.md").text.startswith("| dataset")
    assert "\n\\begin{tabular}" in get("/datasets.tex").text
    assert json.loads(get("/dataset.json?name=gold&table=documents").text)[0]["mentions"] == 4
    assert get("/dataset.json?name=gold&table=nope").status_code == 404


@pytest.mark.long
def test_every_figure_of_a_page_is_a_file_at_an_address_of_its_own(get: Get) -> None:
    text = get("/dataset?name=gold&column=words").text
    places = re.findall(r'<a href="([^"]*figure=[^"]*)">(SVG|PDF)', text)
    assert [form for _, form in places] == ["SVG", "PDF", "PDF"]
    drawn, whole, column = (get(place.replace("&amp;", "&")) for place, _ in places)
    assert drawn.headers["content-type"] == "image/svg+xml" and drawn.text.startswith("<svg ")
    assert 'href="' not in drawn.text and get(places[0][0].replace("&amp;", "&")).content == drawn.content
    assert [one.content[:5] for one in (whole, column)] == [b"%PDF-"] * 2
    for wrong, word in (("figure=nope", "no figure named"), ("width=wide", "no width"), ("sheet=9", "no sheet")):
        answer = get(f"/dataset.svg?name=gold&{wrong}")
        assert (answer.status_code, word in answer.text) == (404, True)
    assert get("/datasets.svg").status_code == 404


def test_tables_have_the_columns_that_an_address_asks_for_and_the_best_in_bold(get: Get) -> None:
    assert get("/datasets.csv?columns=annotations,dataset").text.splitlines()[0] == "annotations,dataset"
    assert "no column of the table named 'nope'" in get("/datasets.tex?columns=nope").text
    rows = get("/systems.tex?table=scores&columns=system,f1").text
    assert "system & f1 \\\\" in rows and "\\bestvalue{" in rows


@pytest.mark.extra
def test_tables_of_pages_stand_on_the_page_of_a_paper_as_the_page_has_them(get: Get, tmp_path: Path) -> None:
    """With what stands small in their cells, what columns are called, and what the page says of them."""
    errors = get("/errors.tex?dataset=gold&system=a&table=classes+of+errors").text
    assert "system & any error & wrong link & NIL in place of a link" in errors
    assert r"a & 4 {\scriptsize 80.0 \%} & 1 {\scriptsize 50.0 \%} & 0 {\scriptsize 0.0 \%}" in errors
    assert r"\caption{Errors on gold: classes of errors. How many errors" in errors
    assert (
        "a & 4 {\\scriptsize"
        in get("/errors.tex?dataset=gold&system=a&table=classes+of+errors&columns=system,any error").text
    )
    places = ["/systems", "/datasets", "/dataset?name=gold", "/errors?dataset=gold&system=a", "/ontology"]
    looked = 0
    for place in places:
        found = {html.unescape(one) for one in re.findall(r'href="(/[a-z]+\.tex[^"]*)"', get(place).text)}
        for one in sorted(found):
            said = set_by_latex(tmp_path, get(one).text, "pdflatex")
            assert max(map(float, re.findall(r"Overfull \\hbox \(([0-9.]+)pt", said)), default=0) < 12, one
            looked += 1
    assert looked > 8


@pytest.mark.parametrize(
    ("place", "status", "word"),
    [
        ("/dataset?name=gld", 404, "did you mean &#39;gold&#39;"),
        ("/document?dataset=gold&name=nope", 404, "no document named"),
        ("/systems?profile=nope", 200, "no profile named"),
        ("/systems?by=%22%3E%3Cscript%3E", 200, "&lt;script&gt;"),
        ("/nowhere", 404, "Not Found"),
        ("/style.css/../../../pyproject.toml", 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_said_in_the_page(get: Get, place: str, status: int, word: str) -> None:
    answer = get(place)
    assert answer.status_code == status and word in answer.text
    assert answer.text.count("<script") == answer.text.count(OUR_SCRIPT) and "Traceback" not in answer.text


@pytest.mark.parametrize("view", VIEWS.names())
def test_no_page_is_a_dead_end(work: Workspace, get: Get, view: str) -> None:
    """Any choice may be wrong, or be of no kind that there is: what is wrong is said, with navigation and the form."""
    asked, forms = VIEWS[view].example(work), "<form" in get(address(view, **VIEWS[view].example(work))).text
    drawn = random.Random(view)
    for name in {*asked, *drawn.sample(["dataset", "system", "by", "slice", "type", "column", "on", "set"], 3)}:
        answer = get(address(view, **{**asked, name: "no such thing"}))
        assert answer.status_code in (200, 400, 404), (name, answer.text)
        assert "<nav" in answer.text and ("<form" in answer.text) == forms, name
        if answer.status_code != 200 or "Left out:" in answer.text:
            said = "no such thing" in answer.text or f"has no parameter &#39;{name}&#39;" in answer.text
            assert said and get(f"/{view}.csv?{name}=no+such+thing").status_code != 200


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/datasets?measures=density,nope", "no measure that a dataset has named"),
        ("/datasets?columns=density,nope", "no column of the table named"),
        ("/datasets?average=nope", "no average"),
        ("/datasets?table=datasets&columns=dataset,nope", "no column of the table datasets named"),
        ("/datasets?sort=datasets:nope&at=datasets:99&open=nope&rows.nope=x", "no row 99 in datasets, which has 1"),
        ("/dataset?name=gold&column=nope", "no column of numbers named"),
        ("/dataset?name=gold&scheme=nope&average=nope", "no scheme of a page named"),
        ("/compare?datasets=gold,nope,none", "no dataset named"),
        ("/compare?datasets=gold&column=nope", "no column of numbers named"),
        ("/systems?profile=nope&task=none&match=not", "no profile named"),
        ("/systems?by=nope", "no column to slice by named"),
        ("/systems?datasets=gold,nope", "no dataset with a run named"),
        ("/errors?class=nope", "no class of errors named"),
        ("/errors?system=a&gold=nope", "no entity of gold named"),
        ("/errors?system=a&of=b", "of is said of two systems, and a is shown alone"),
        ("/errors?system=a&other=a", "a does not stand beside itself"),
        ("/errors?system=a&from=99999", "behind the last of 4 texts"),
        ("/errors?system=a&count=many", "no number of a text"),
        ("/annotations?type=nope&by=is_nil&part=nope", "no type named"),
        ("/annotations?entity=nope", "no entity that an annotation links to named"),
        ("/annotations?column=nope", "no column of annotations named"),
        ("/document?dataset=gold&colour=nope", "no column of annotations named"),
        ("/document?dataset=gold&system=a&error=99", "no error 99"),
        ("/builder?on=nope", "no column with values named"),
        ("/builder?query=nope&scale=nope", "no query named"),
        ("/builder?query=basic&set=nope", "no set of parameters"),
        ("/builder?dataset=nope", "no dataset named"),
    ],
)
def test_choice_that_does_not_fit_is_left_out_and_said_in_every_view(get: Get, place: str, said: str) -> None:
    answer = get(place)
    text = html.unescape(answer.text)
    assert answer.status_code == 200 and "Left out:" in text and said in text
    assert "<form" in text and "<nav" in text and ">Not found<" not in text and ">Not possible<" not in text
    view, _, query = place.partition("?")
    assert get(f"{view}.csv?{query}").status_code == 404


def test_pages_lead_on_to_what_they_count(get: Get) -> None:
    """A number of errors leads to the texts, below the counts; one dataset to compare leads to a list of the others."""
    text = get("/errors?dataset=gold&system=a").text
    assert 'id="sentences"' in text and re.search(r'href="/errors[^"]*class=missing[^"]*#sentences"', text)
    text = html.unescape(get("/dataset?name=gold").text)
    for place in (
        "/annotations?dataset=gold",
        "/systems?datasets=gold",
        "/errors?dataset=gold",
        "/builder?dataset=gold",
    ):
        assert f'href="{place}"' in text, place
    assert ">(none)</option>" in get("/errors").text and "mentions in 1 of 1 documents" in get("/builder").text


def test_latex_of_a_page_says_where_it_comes_from_and_calls_entities_as_the_page_does(get: Get) -> None:
    text = get("/errors.tex?dataset=gold&system=a&show=all").text
    first, second, *rest = text.splitlines()
    assert first == "% /errors?dataset=gold&system=a&show=all" and second.startswith("% remix ")
    assert "http" not in "".join(rest) and "dbr:" in "".join(rest)
    assert "http" in get("/errors.csv?dataset=gold&system=a&show=all").text


def test_entities_lead_to_where_they_are_described_and_tell_nobody_of_the_page(get: Get) -> None:
    text = get("/errors?dataset=gold&system=a&show=all").text
    [passages] = re.findall(r'<div class="texts">(.*?)</article>', text, re.DOTALL)
    links = re.findall(r'<a href="(http[^"]*)" rel="noreferrer">(?:<bdi>)?([^<]*)', passages)
    assert links and all(place.endswith(name.partition(":")[2]) for place, name in links)


def test_address_at_which_nothing_is_has_a_form_that_leads_on(get: Get) -> None:
    answer = get("/nowhere?x=1")
    assert answer.status_code == 404 and '<form method="get" action="/dataset"' in answer.text
    assert '<option value="gold"' in answer.text and 'aria-label="Pages"' in answer.text


def test_page_whose_subject_is_missing_leads_to_the_nearest_ones(get: Get) -> None:
    for place in ("/dataset?name=gld", "/dataset"):
        answer = get(place)
        assert answer.status_code == 404 and 'href="/dataset?name=gold"' in answer.text and "<form" in answer.text


@pytest.mark.parametrize(
    ("place", "near"),
    [
        ("/errors?dataset=gld", "/errors?dataset=gold"),
        ("/errors?dataset=gld&system=a&type=Person", "/errors?dataset=gold&system=a&type=Person"),
        ("/annotations?dataset=gld", "/annotations?dataset=gold"),
        ("/document?dataset=gld", "/document?dataset=gold"),
        ("/document?dataset=gld&system=a", "/document?dataset=gold&system=a"),
    ],
)
def test_unknown_dataset_is_no_other_one(get: Get, place: str, near: str) -> None:
    """What a page is about is not replaced: there is the form and the nearest name, without a number."""
    answer = get(place)
    text = html.unescape(answer.text)
    assert answer.status_code == 404 and f'href="{near}"' in text and "<form" in text and "<nav" in text
    assert "<table" not in text and "<article" not in text and "Left out:" not in text
    assert get(near).status_code == 200


def test_wrong_choice_is_left_out_and_the_others_stay(get: Get) -> None:
    answer = get("/errors?dataset=gold&system=a&class=missing&agreement=nope")
    assert answer.status_code == 200 and "Left out:" in answer.text and "error 1 of 1: 1" in answer.text
    answer = get("/compare?datasets=gold,nope&column=words")
    assert answer.status_code == 200 and 'value="gold" checked' in answer.text and "nope" in answer.text
    answer = get("/dataset?name=gld")
    assert answer.status_code == 404 and '<option value="gold"' in answer.text
    answer = get("/eror")
    assert answer.status_code == 404 and 'href="/errors"' in answer.text and "did you mean" in answer.text


class _Tags(HTMLParser):
    """The tags that are open, the addresses that a page names, and those of links that tell no other site of it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.untold: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = [value or "" for name, value in attrs if name in ("href", "src", "action")]
        if tag == "a" and ("rel", "noreferrer") in attrs:
            self.untold += named
        else:
            self.addresses += named
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.long
def test_pages_are_whole_and_load_nothing_of_another_host(work: Workspace, get: Get) -> None:
    """Where an entity is described on another host, a link that tells nobody of this page leads there."""
    name = work.store.frames().documents["given"][0]
    document = address("document", dataset="gold", name=name)
    shown = [address(view.name, **view.example(work)) for view in VIEWS]
    for place in (*shown, document):
        answer = get(place)
        assert answer.status_code == 200, place
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        tags = _Tags()
        tags.feed(answer.text)
        assert tags.open == []
        assert all(one.startswith(("/", "#", "data:,")) for one in tags.addresses), tags.addresses
        assert all(one.startswith(("http://", "https://")) for one in tags.untold)


def test_report_is_one_whole_file_that_names_no_other_host(work: Workspace, tmp_path: Path) -> None:
    file = work.report("gold", run="a", to=tmp_path / "report.html")
    text = file.read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == [] and all(one.startswith(("#", "data:,")) for one in tags.addresses)
    assert "Errors of a on gold" in text and "Errors of b on gold" not in text
    assert (
        "Errors on gold" in text and "nil_as_link" in text.partition("Errors on gold</h1>")[2].partition("</table>")[0]
    )
    style = text.partition("<style>")[2].partition("</style>")[0]
    script = text.partition("<script>")[2].partition("</script>")[0]
    for kind, content in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert content and f"{kind}-src 'sha256-{digest}'" in html.unescape(text)
    assert len(re.findall(r' id="([^"]+)"', text)) == len(set(re.findall(r' id="([^"]+)"', text)))
    with pytest.raises(UnknownName, match="no run named 'prio'"):
        work.report("gold", run="prio", to=tmp_path / "other.html")


@pytest.mark.long
def test_report_of_a_remix_has_its_measures_scores_and_errors(work: Workspace, tmp_path: Path) -> None:
    """The remix has Alan alone, whom system a takes for another and system b gets right."""
    query = "SELECT ?annotation { ?annotation nif:anchorOf ?form FILTER(STR(?form) = 'Alan') }"
    (tmp_path / "alan.rq").write_text(query)
    work.build(tmp_path / "alan.rq", to=tmp_path)
    text = work.report(str(tmp_path / "alan.ttl"), to=tmp_path / "report.html").read_text()
    assert "Errors of a on alan.ttl" in text and text.count('data-outcome="wrong"') == 1
    assert 'data-class="wrong\N{NO-BREAK SPACE}link"' in text and str(tmp_path) not in text.partition("<main")[0]


def test_report_without_a_run_has_the_datasets_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = open_workspace(tmp_path / ".remix")
    work.load(CHECKOUT / "tests" / "runs" / "small" / "gold.ttl")
    with progress.enable():
        text = work.report("gold", to=tmp_path / "report.html").read_text()
    assert ">gold</h1>" in text and "Errors of" not in text
    assert "gold has no scores in the report: no run is registered" in capsys.readouterr().err


def test_page_of_the_ontology_has_every_term_and_is_up_to_date(work: Workspace) -> None:
    terms = shown(work, "ontology").tables["terms"]
    stated = rdflib.Graph().parse(CHECKOUT / "ontology" / "remix.ttl")
    named = {str(one) for one in stated.subjects() if str(one).startswith("https://w3id.org/nel-remix/ns#")}
    assert {f"https://w3id.org/nel-remix/ns#{term.removeprefix('rmx:')}" for term in terms["term"]} == named
    assert terms["meaning"].null_count() == 0
    kept, made = ((CHECKOUT / "docs" / "ontology.html").read_text(), render_ontology())
    # The style is that of the day on which it was written.
    main, own = (text.partition('<main id="main"')[2].partition("</main>")[0] for text in (kept, made))
    assert main == own and "rmx:typePerson" in main, "python scripts/ontology.py writes docs/ontology.html"


def test_headers_sort_the_rows_of_their_table_and_of_its_data(get: Get) -> None:
    page = get("/errors?system=a&show=all&sort=-errors%3Abegin").text
    assert 'aria-sort="descending"' in page and "sort=errors%3Abegin" in page
    rows = json.loads(get("/errors.json?system=a&show=all&sort=-errors%3Abegin").text)
    assert [row["begin"] for row in rows] == sorted((row["begin"] for row in rows), reverse=True)
    assert get("/errors?system=a&sort=errors%3Anope").status_code == 200


@pytest.mark.parametrize("view", ["datasets", "errors"])
def test_parameters_may_be_called_as_arguments_of_our_own_are(work: Workspace, view: str) -> None:
    """Headers of tables lead to addresses that keep all parameters, whatever these are called."""
    text = render_page(shown(work, view), VIEWS[view], "view=1&self=2")
    assert "view=1&amp;self=2&amp;sort=" in text


def test_heat_is_by_rank_within_the_column() -> None:
    """Of five values each is a fifth: (rank - 0.5) / 5 * 5, downwards, is 0 to 4; what is missing has no colour."""
    frame = pl.DataFrame({"name": list("abcdef"), "value": [5.0, 1.0, 2.0, None, 3.0, 400.0]})
    page = Page("Heat", [Table("values", frame, heat=("value", "name", "nope"))])
    cells = re.findall(r'<td class="number ?([^"]*)">', render_page(page, VIEWS["datasets"], ""))
    assert cells == ["heat-3", "heat-0", "heat-1", "", "heat-2", "heat-4"]


def test_thousands_stand_apart_on_pages_but_for_places_of_a_text() -> None:
    frame = pl.DataFrame({"mentions": [27051, 0], "begin": [12345, 0], "share": [0.5, 0.25], "rare": [True, False]})
    text = render_page(Page("Counts", [Table("counts", frame)]), VIEWS["datasets"], "")
    assert re.findall(r"<td[^>]*>([^<]*)</td>", text)[:4] == ["27,051", "12345", "50.0 %", "yes"]


def test_compiled_templates_are_kept_where_python_keeps_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    for writes in (False, True):
        monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
        made = environment.__wrapped__()  # as each server has it once
        made.get_template("page.html")
        kept = [one for one in tmp_path.rglob("*") if one.is_file()]
        assert len(kept) == int(writes)
    state = kept[0].stat()
    assert environment.__wrapped__().get_template("page.html").name == "page.html"
    assert kept[0].stat() == state  # it was read, and not written again
    kept[0].write_bytes(kept[0].read_bytes()[:20])
    assert environment.__wrapped__().get_template("page.html").name == "page.html"


def test_long_tables_are_shown_in_parts_that_lead_to_each_other() -> None:
    """Of 1,201 rows the sixth part has the 1,101st, and begins with the 1,001st; what stands small has no column."""
    frame = pl.DataFrame({"number": range(1201), "share": [0.5] * 1201})
    page = Page("Long", [Table("rows", frame, small={"number": "share"})])
    text = render_page(page, VIEWS["datasets"], "at=rows%3A1100")
    assert "Rows 1,001 to 1,200 of 1,201" in text and '<td class="number">1,000 <small>50.0 %</small></td>' in text
    assert "at=rows%3A800" in text and "at=rows%3A1200" in text and text.count('<th scope="col"') == 1
    assert "later" not in render_page(page, VIEWS["datasets"], "at=rows%3A1200")
    for at in ("rows%3A0", "rows%3A-1", "rows%3Ax", "other%3A500"):
        assert "Rows 1 to 200 of 1,201; the exports have all." in render_page(page, VIEWS["datasets"], f"at={at}")


def test_report_says_nothing_of_links_and_files_that_it_does_not_have() -> None:
    frame = pl.DataFrame({"number": range(501)})
    links = Note("On this page:", links={"rows": "#rows"})
    page = Page("Long", [links, Table("rows", frame, words="Numbers.", leads="A number leads on.")])
    text = render_page(page, VIEWS["datasets"], "")
    assert "Numbers. A number leads on." in text and "On this page:" in text
    text = render_file("Long", [page])
    assert "Rows 1 to 500 of 501.<" in text and "<p>Numbers.</p>" in text and "On this page:" not in text


def test_nested_mentions_stand_in_each_other_and_boxes_are_joined(work: Workspace) -> None:
    inner = Segment("York", "mention", "inner")
    outer = Segment("New York", "mention", "outer", parts=[Segment("New "), inner])
    form = Form([Field("show", "columns", "a,c", ("a", "b", "c"), "many")])
    text = render_page(Page("Nested", [Passages([Passage("", [outer])]), form]), VIEWS["datasets"], "")
    assert 'title="outer" tabindex="0">New <mark' in text and text.count("checked") == 2


def test_view_offers_files_whose_names_are_safe_in_a_header(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Download(b"SELECT", "application/sparql-query", 'a"\r\nX: y/../b.rq')
    view = replace(VIEWS["datasets"], name="offered", downloads={"rq": lambda work, parameters: made})
    monkeypatch.setitem(VIEWS._parts, "offered", view)
    with pages_of(work) as get:
        answer = get("/offered.rq")
    assert (
        answer.content == b"SELECT" and answer.headers["content-disposition"] == 'attachment; filename="a-X-y-..-b.rq"'
    )


def test_empty_workspace_says_what_to_do_next(tmp_path: Path) -> None:
    with pages_of(open_workspace(tmp_path / "none")) as get:
        assert "remix load FILE" in get("/datasets").text
        assert "remix load FILE" in get("/errors").text


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ({}, True),  # a program
        ({"Sec-Fetch-Site": "none"}, True),  # an address that was typed
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),  # an image of another site
        ({"Sec-Fetch-Site": "same-site"}, False),  # a page of another port of this machine
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-User": "?1"}, True),  # a link that a person followed
    ],
)
def test_answers_that_another_site_makes_a_browser_ask_for_are_given_and_not_kept(
    small_store: Store, headers: dict[str, str], kept: bool
) -> None:
    """The answer to a query is the same each time, and among what is kept or not."""
    work = Workspace(small_store.folder)
    app = application(work.store, Limits(), ["testserver"], routes(work))

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as asks:
            query = "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }"
            return [await asks.get("/query", params={"query": query}, headers=headers) for _ in range(2)]

    try:
        answers = anyio.run(ask)
    finally:
        app.state.stop()
    assert [answer.status_code for answer in answers] == [200, 200] and answers[0].text == answers[1].text
    assert any("answer" in str(key) for key in work.store.cached._places) == kept


@pytest.mark.long
def test_choices_that_are_rare_are_folded_until_one_is_another_than_by_itself(work: Workspace) -> None:
    def form(**parameters: str) -> Form:
        [found] = [one for one in VIEWS["systems"].show(work, parameters).blocks if isinstance(one, Form)]
        return found

    first = [one.name for one in form().fields if not one.rare]
    assert first == ["datasets", "systems", "by"] and not form().unfolded
    # What the form sends as it stands is what is there by itself; 'all' is, once systems are chosen.
    as_it_stands = {one.name: one.chosen for one in form(systems="a").fields}
    assert as_it_stands["have"] == "all" and not form(**as_it_stands).unfolded
    for name, value in (
        ("match", "weak"),
        ("against", "b"),
        ("have", "all"),
        ("profile", "gerbil"),
        ("spider", "scores"),
    ):
        assert form(**{name: value}).unfolded, name


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_page_that_is_asked_for_by_another_method_is_refused_with_what_leads_on(address: str, method: str) -> None:
    answer = httpx.request(method, address.replace("/sparql", "/datasets"))
    assert answer.status_code == 405 and answer.headers["Allow"] == "GET, HEAD"
    assert "<nav" in answer.text and 'href="/systems"' in answer.text and f"this was {method}" in answer.text
