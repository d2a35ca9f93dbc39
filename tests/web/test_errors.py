"""The page of errors: what it counts by, and what its choices lead to."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
import polars as pl
import pytest

from remix.web.forms import Form
from remix.web.page import VIEWS, Note, Page, Passages
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.pages import follow, table_of
from tests.web.pages import Get, send

KNOWN = "http://dbpedia.org/resource/"
PERSON, PLACE = "http://dbpedia.org/ontology/Person", "http://dbpedia.org/ontology/Place"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two datasets of three texts, "Ada Byron met Bob.", in each of which Ada Byron and Bob are mentioned.

    The system 'short' answers "Ada" in all, which overlaps a mention, and in the first text Bob. 'exact' is right but
    for Bob of the last text. 'other' finds Bob and is on the first dataset alone.
    """
    folder = tmp_path_factory.mktemp("errors")
    work = Workspace(folder / ".remix")
    spans = {"Ada": (0, 3), "Ada Byron": (0, 9), "Bob": (14, 17)}

    def write(name: str, dataset: str, forms: list[list[str]]) -> Path:
        rows = [
            {
                "document": f"{dataset}-{nth}",
                "text": f"Ada Byron met Bob. {dataset} {nth}",
                "begin": spans[form][0],
                "end": spans[form][1],
                "entity": KNOWN + form.partition(" ")[0],
            }
            for nth, own in enumerate(forms)
            for form in own
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return folder / f"{name}.jsonl"

    for dataset in ("first", "second"):
        work.load([write(dataset, dataset, [["Ada Byron", "Bob"]] * 3)])
        work.add_run("short", write("short", dataset, [["Ada", "Bob"], ["Ada"], ["Ada"]]), on=dataset)
        work.add_run("exact", write("exact", dataset, [["Ada Byron", "Bob"]] * 2 + [["Ada Byron"]]), on=dataset)
    work.add_run("other", write("other", "first", [["Bob"]] * 3), on="first")
    return work


def shown(work: Workspace, view: str = "errors", **parameters: str) -> Page:
    return VIEWS[view].show(work, parameters)


def asked_by(place: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}


def lead_to(answer: httpx.Response, *views: str) -> list[str]:
    """Return the addresses of these views in a page."""
    found = re.findall(r'href="(/[^"]*)"', answer.text.replace("&amp;", "&"))
    return [place for place in found if urlsplit(place).path.removeprefix("/") in views and "?" in place]


# Of the nine letters of "Ada Byron" six are missing in "Ada", which is alike by a third.
@pytest.mark.parametrize(("match", "wrong"), [("strong", 8), ("weak", 2), ("fuzzy(0.3)", 2), ("fuzzy(0.5)", 8)])
def test_errors_are_counted_by_the_matching_that_the_address_names(work: Workspace, match: str, wrong: int) -> None:
    """ "Ada" is no error where it overlaps a mention, by the matching that asks no more; it misses Bob twice."""
    page = shown(work, dataset="first", system="short", match=match)
    counts = table_of(page, "classes of errors").frame.filter(system="short").to_dicts()[0]
    rows = work.evaluate("first", run="short", task="A2KB", match=match, errors="neleval").rows
    told = dict(rows.filter(column="error_class").select("slice", "errors").iter_rows())
    assert {name: counts[name] for name in told} == told and counts["any error"] == wrong
    assert page.tables["errors"].height == len(work.errors("short", on="first", match=match).found) == wrong
    assert f"by {match} matching" in table_of(page, "classes of errors").words
    [form] = [block for block in page.blocks if isinstance(block, Form)]
    assert {one.name: one.chosen for one in form.fields}["match"] == match
    [command] = [one.commands[0] for one in page.blocks if isinstance(one, Note) and "terminal" in one.text]
    assert f"--match {shlex.quote(match)}" in command


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/annotations?dataset=first&every=nonsense", "no filter of this page named 'nonsense'"),
        ("/errors?dataset=first&system=short&every=nonsense", "no filter of this page named 'nonsense'"),
        ("/start?changes=foo", "no choice of 'changes' named 'foo'"),
        ("/document?dataset=first&name=first-0&system=short&error=1&of=exact", "of is said of two systems"),
        (
            "/document?dataset=first&name=first-0&system=short&error=1&agreement=both+right",
            "'both right' is said of two",
        ),
        ("/document?dataset=first&name=first-0&system=short&other=short", "short does not stand beside itself"),
        ("/document?dataset=first&name=first-0&system=short&other=exact&of=exact", "of=exact is of a walk"),
    ],
)
def test_value_that_says_nothing_here_is_left_out_and_said(get: Get, place: str, said: str) -> None:
    answer = get(place)
    text = unescape(answer.text)
    assert answer.status_code == 200 and text.count("Left out:") == 1 and said in text


@pytest.mark.parametrize(
    "place",
    [
        "/annotations?dataset=first&every=entity",
        "/errors?dataset=first&system=short&every=class",
        "/start?changes=all",
        "/document?dataset=first&name=first-0&system=short&other=exact&error=1&of=short&agreement=only+the+second+right",
    ],
)
def test_value_that_is_known_is_not_left_out(get: Get, place: str) -> None:
    assert "Left out:" not in get(place).text


def test_matching_that_there_is_not_is_left_out_and_said(get: Get) -> None:
    answer = get("/errors?dataset=first&system=short&match=weka")
    assert answer.status_code == 200 and "did you mean &#39;weak&#39;" in answer.text
    assert "by strong matching" in answer.text


@pytest.mark.parametrize("view", ["errors", "document", "systems"])
def test_matching_with_a_number_is_chosen_as_commands_take_it(get: Get, view: str) -> None:
    place = f"/{view}?dataset=first&system=short&other=exact&show=all&match="
    unsaid = {"systems": "&system=short&other=exact&show=all", "document": "&show=all"}  # which say nothing there
    place = place.replace(unsaid[view], "") if view in unsaid else place
    text = get(f"{place}fuzzy(0.30)").text
    assert "Left out:" not in text and '<option value="fuzzy(0.3)" selected>' in text
    assert 'value="fuzzy(0.3)" selected>' not in get(f"{place}weak").text
    wrong = get(f"{place}fuzzy(2)")
    assert wrong.status_code == 200 and wrong.text.count("Left out:") == 1
    assert "matching &#39;fuzzy&#39; takes a number from 0 to 1, not &#39;2&#39;" in wrong.text
    if view != "systems":  # what else is chosen stays
        assert '<option value="exact" selected>' in wrong.text


def test_classes_of_errors_are_by_the_number_of_the_matching(work: Workspace) -> None:
    """By a third "Ada" is on "Ada Byron": nothing is missing there, and nothing is answered beside it.

    Bob is found in the first of three texts, and missing in two.
    """
    found = work.errors("short", on="first", match="fuzzy(0.3)", show="all").table
    rows = found.select("surface_form", "short outcome", pl.col("short class").fill_null("")).sort(pl.all()).rows()
    ada, bob = ("Ada Byron", "correct", ""), [("Bob", "correct", ""), *[("Bob", "missed", "missing")] * 2]
    assert rows == [*[ada] * 3, *bob]
    counts = work.evaluate("first", run="short", task="A2KB", match="fuzzy(0.3)", errors="neleval").rows
    told = counts.filter(column="error_class").select("matching", "slice", "errors").rows()
    assert ("fuzzy(0.3)", "missing", 2) in told and ("fuzzy(0.3)", "extra", 0) in told


def test_scores_lead_to_the_errors_by_their_matching(work: Workspace) -> None:
    """By weak matching 'short' answers four of six mentions and nothing else: F1 is 0.8."""
    page = VIEWS["systems"].show(work, {"datasets": "first", "task": "A2KB", "match": "weak"})
    table = table_of(page, "systems")
    [row] = table.frame.filter(system="short").to_dicts()
    place = table.links["first (6)"](row)
    assert row["first (6)"] == pytest.approx(0.8) and asked_by(place)["match"] == "weak"
    assert follow(work, place).tables["errors"].height == 2
    assert table.leads == "A score leads to its errors."
    page = VIEWS["systems"].show(work, {"datasets": "first", "task": "A2KB", "match": "fuzzy(0.3)"})
    assert asked_by(table_of(page, "systems").links["first (6)"](row))["match"] == "fuzzy(0.3)"
    commands = [one.commands for one in page.blocks if isinstance(one, Note) and "terminal" in one.text]
    assert all("--match 'fuzzy(0.3)'" in command for command in commands[0])
    # A matching that one tool alone has is none of errors.
    tool = VIEWS["systems"].show(work, {"datasets": "first", "profile": "elevant"})
    assert "match" not in asked_by(table_of(tool, "systems").links["first (6)"](row))
    assert "by strong matching" in table_of(tool, "systems").leads


@pytest.mark.parametrize("dataset", ["first", "first,second"])
def test_matching_is_kept_by_all_that_errors_and_their_documents_lead_to(get: Get, dataset: str) -> None:
    """Also where parts of a column are counted, and two systems stand beside each other."""
    answer = get(f"/errors?dataset={dataset}&system=short&other=exact&match=weak&by=words&show=all&count=3")
    places = lead_to(answer, "errors", "errors.csv", "document")
    assert len(places) > 20 and {asked_by(place).get("match") for place in places} == {"weak"}
    document = next(place for place in places if place.startswith("/document"))
    around = lead_to(get(document), "errors", "document", "document.csv")
    assert len(around) > 3 and {asked_by(place).get("match") for place in around} == {"weak"}


def test_document_tells_what_became_of_its_mentions_by_the_matching(work: Workspace) -> None:
    for match, looks in (("strong", {"missed", "correct", "extra"}), ("weak", {"correct"})):
        page = shown(work, "document", dataset="first", name="first-0", system="short", match=match)
        [passages] = [block for block in page.blocks if isinstance(block, Passages)]
        segments = [*passages.passages[0].segments, *passages.passages[0].segments[0].parts]
        assert {one.classes.split()[0] for one in segments if one.classes} == looks, match


WALK = "/document?dataset=first&system=short&name=first-1&error="


def tell_step(text: str) -> str:
    """Return which error a page of a document says that it is opened at, with the mention in the text."""
    [said] = re.findall(r'<p class="note">(error [^.]*)\.', text)
    [marked] = re.findall(r'<mark class="[^"]* chosen"[^>]* id="mention-(\d+-\d+)"', text)
    return f"{said}: {marked}"


def test_walk_through_errors_goes_on_with_what_the_form_chooses(get: Get) -> None:
    """In each text 'short' answers "Ada" and misses "Ada Byron"; Bob of the second text is the fifth of 8 errors.

    By weak matching Bob of the second and of the third text are all errors.
    """
    numbers = {tell_step(get(f"{WALK}{nth}").text) for nth in (3, 4, 5)}
    assert numbers == {"error 3 of 8: 0-3", "error 4 of 8: 0-9", "error 5 of 8: 14-17"}
    weak = send(get, f"{WALK}5", match="weak")
    assert tell_step(weak) == "error 1 of 2, the first: 14-17" and "Left out:" not in weak
    assert tell_step(send(get, f"{WALK}5", colour="type")) == "error 5 of 8: 14-17"
    [following] = re.findall(r'<a rel="next" href="([^"]*)"', send(get, f"{WALK}5", colour="type"))
    assert "colour=type" in following and "error=6" in following
    assert "error 5 of" in tell_step(send(get, f"{WALK}5", other="exact"))


def test_what_is_no_error_any_more_says_so_and_leads_back(get: Get, work: Workspace) -> None:
    """ "Ada" overlaps "Ada Byron", which weak matching asks alone; strong matching has the same error again."""
    place = f"{WALK}3&class=missing".replace("error=3", "error=2")
    assert tell_step(get(place).text) == "error 2 of 5: 0-9"
    text = send(get, place, match="weak")
    assert "What was looked at in the walk through errors is none of those that are chosen now." in text
    [back] = re.findall(r'<a href="([^"]*)">back to the list</a>', text)
    found = follow(work, unescape(back))
    assert found.tables["errors"].height == 2 and asked_by(unescape(back))["class"] == "missing"
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))
    assert hidden["error"] == "2" and hidden["class"] == "missing"
    again = f"/document?{urlencode({**hidden, 'dataset': 'first', 'name': 'first-1', 'system': 'short'})}"
    assert tell_step(get(again).text) == "error 2 of 5: 0-9"
    assert "choose one to go on" in send(get, place, system="", colour="type")


def test_ends_of_a_walk_are_said_and_lead_back_to_the_place_in_the_list(get: Get) -> None:
    last = get(WALK.replace("first-1", "first-2") + "8").text
    assert "error 8 of 8, the last." in last and 'rel="next"' not in last and 'rel="prev"' in last
    links = {words: unescape(place) for place, words in re.findall(r'<a href="([^"]*)">([a-z ]*)</a>', last)}
    assert asked_by(links["to the first"])["error"] == "1"
    first = get(links["to the first"].partition("#")[0]).text
    assert "error 1 of 8, the first." in first and "to the first" not in first
    # All of the list are there, the one that was looked at among them.
    view, _, name = links["back to the list"].partition("#")
    back = get(view).text
    assert name == "text-8" and f'id="{name}"' in back and 'id="text-1"' in back and "Left out:" not in back
    assert "error 1 of 1, the only one." in get("/document?dataset=first&system=exact&name=first-2&error=1").text


@pytest.mark.parametrize(
    "place", ["/systems?datasets=second,first&systems=short,exact", "/compare?datasets=second,first"]
)
def test_datasets_stay_in_the_order_in_which_they_were_chosen(get: Get, place: str) -> None:
    sent = send(get, place)
    for text in (get(place).text, sent):
        [head, *_] = re.findall("<thead>(.*?)</thead>", text, re.DOTALL)
        assert 0 < head.index("second") < head.index("first")


def remix_of(work: Workspace, page: Page) -> Page:
    """Return the page of the builder that a page of errors leads to."""
    [place] = [
        block.links["Make this a remix"]
        for block in page.blocks
        if isinstance(block, Note) and "Make this a remix" in block.links
    ]
    return follow(work, place)


def test_all_that_miss_are_the_same_systems_on_the_page_and_in_the_terminal(work: Workspace) -> None:
    """Bob of the last text is missed by both that are on both datasets; 'other', on the first alone, finds him."""
    agreement = "missed by all"
    page = shown(work, dataset="first,second", system="short", agreement=agreement)
    found = work.errors("short", on=["first", "second"], agreement=agreement).found
    assert found["right"].to_list() == page.tables["errors"]["right"].to_list() == [0, 0]
    assert found["of"].to_list() == page.tables["errors"]["of"].to_list() == [2, 2]


@pytest.mark.parametrize(
    ("asked", "beside"),
    [
        ({}, "--beside exact"),
        ({"of": "short"}, ""),
        ({"of": "exact", "agreement": "only the second right", "show": "correct"}, "--beside exact"),
        ({"of": "short", "agreement": "only the second right"}, "--beside exact"),
        ({"of": "short", "agreement": "only the second right", "class": "missing", "by": "words"}, "--beside exact"),
        ({"dataset": "second", "of": "exact", "agreement": "missed by all"}, ""),
        ({"dataset": "first,second", "of": "short"}, ""),
        ({"agreement": "neither right"}, "--beside exact"),
    ],
)
def test_what_is_the_same_in_a_terminal_counts_what_the_page_counts(
    work: Workspace, asked: dict[str, str], beside: str
) -> None:
    page = shown(work, **{"dataset": "first", "system": "short", "other": "exact", **asked})
    [command] = [one.commands[0] for one in page.blocks if isinstance(one, Note) and "terminal" in one.text]
    assert beside in command and ("--beside" in command) == bool(beside)
    found = run_verb(*shlex.split(command)[1:], "-o", "json", folder=work.store.folder.parent)
    assert found.returncode == 0, found.stderr
    told, rows = json.loads(found.stdout), page.tables["errors"]
    assert len(told) == rows.height > 0
    assert [(one["document"], one["begin"]) for one in told] == rows.select("document", "begin").rows()


@pytest.mark.parametrize(
    "asked",
    [
        {"of": "short", "agreement": "neither right"},
        {"of": "exact", "agreement": "only the second right"},
        {"of": "short", "agreement": "both right", "show": "all"},
        {"gold": f"{KNOWN}Bob"},
        {"answer": f"{KNOWN}Ada"},
        {"dataset": "first,second", "of": "exact", "agreement": "missed by all"},
    ],
)
def test_what_no_command_shows_is_said_to_be_shown_by_none(work: Workspace, asked: dict[str, str]) -> None:
    page = shown(work, **{"dataset": "first", "system": "short", "other": "exact", **asked})
    assert not page.dropped
    assert not [one for one in page.blocks if isinstance(one, Note) and "terminal" in one.text]


def test_agreement_of_two_systems_is_none_of_a_command_for_one(work: Workspace) -> None:
    page = shown(work, dataset="first", system="short", agreement="both right")
    [command] = [one.commands[0] for one in page.blocks if isinstance(one, Note) and "terminal" in one.text]
    assert "--agreement" not in command and page.tables["errors"].height == 8


@pytest.fixture(scope="module")
def alternatives(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One mention that is Rome, Paris or NIL on one span, and one that is Ada; the run has Bob in place of the first.

    That is held against NIL. Rome is a place, Paris a person, as Ada is.
    """
    folder = tmp_path_factory.mktemp("alternatives")
    work = Workspace(folder / ".remix")
    rome = {"document": "d", "text": "Rome or Ada", "begin": 0, "end": 4}
    ada = rome | {"begin": 8, "end": 11, "entity": KNOWN + "Ada"}
    gold = [rome | {"entity": KNOWN + name, "type": kind} for name, kind in (("Rome", PLACE), ("Paris", PERSON))]
    gold += [rome | {"nil": True}, ada | {"type": PERSON}]
    for name, rows in (("gold", gold), ("run", [rome | {"entity": KNOWN + "Bob"}, ada])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    work.load([folder / "gold.jsonl"], name="gold")
    work.enrich()
    work.add_run("run", folder / "run.jsonl", on="gold")
    return work


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"class": "nil_as_link"},
        {"type": "Person", "class": "nil_as_link"},
        {"type": "Place", "class": "nil_as_link"},
        {"type": "NIL", "show": "wrong"},
        {"by": "type:coarse", "slice": "Place", "class": "nil_as_link"},
        {"by": "is_nil", "slice": "true", "show": "wrong"},
        {"by": "is_nil", "slice": "false", "agreement": "missed by all"},
    ],
    ids=str,
)
def test_remix_of_errors_has_a_mention_by_whichever_alternative_is_of_the_type_or_part(
    alternatives: Workspace, asked: dict[str, str]
) -> None:
    """The one mention that is wrong is of the type or part by one of its alternatives: a place, a person, and NIL."""
    page = shown(alternatives, dataset="gold", system="run", **asked)
    made = remix_of(alternatives, page)
    assert made.error is None
    assert made.tables["waterfall"]["mentions"][-1] == page.tables["errors"].height == 1


def test_no_remix_is_offered_of_a_mention_that_is_of_the_type_by_one_alternative_and_of_the_part_by_another(
    alternatives: Workspace,
) -> None:
    page = shown(alternatives, dataset="gold", system="run", type="Person", by="type:coarse", slice="Place")
    assert page.tables["errors"].height == 1
    told = [block.text for block in page.blocks if isinstance(block, Note)]
    assert any("1 of them is of the type by one of several right entities" in text for text in told)
    assert not any("Make this a remix" in block.links for block in page.blocks if isinstance(block, Note))


def test_no_remix_is_made_of_outcomes_that_are_stored_in_a_form_before(alternatives: Workspace) -> None:
    held = alternatives.store.dataset("gold").attached["run-run"].signature
    graph = alternatives.store.attachment("gold", "run-run")
    try:
        for before in ("|graph:2|", "|"):
            alternatives.store.attach({"gold": {"run-run": (graph, held.replace("|graph:3|", before))}})
            for asked in ({"show": "wrong"}, {}):
                page = shown(alternatives, dataset="gold", system="run", **asked)
                [told] = [one.text for one in page.blocks if isinstance(one, Note) and "No remix has" in one.text]
                assert "of an earlier version" in told and "evaluate gold --system run --match strong --store`" in told
    finally:
        alternatives.store.attach({"gold": {"run-run": (graph, held)}})


@pytest.mark.long
def test_remix_of_errors_is_by_the_matching_that_outcomes_are_stored_by(work: Workspace) -> None:
    page = shown(work, dataset="first", system="short")
    assert remix_of(work, page).tables["waterfall"]["mentions"][-1] == 5  # what gold has, of eight
    [told] = [
        block.text
        for block in shown(work, dataset="first", system="short", match="weak").blocks
        if isinstance(block, Note) and block.text.startswith("No remix has")
    ]
    [command] = re.findall("`remix evaluate (.*) --store`", told)
    assert command == "first --system short --match weak"
    work.evaluate("first", system="short", match="weak", store=True)
    assert (
        remix_of(work, shown(work, dataset="first", system="short", match="weak")).tables["waterfall"]["mentions"][-1]
        == 2
    )
    told = str(
        [
            one.text
            for one in shown(work, dataset="first", system="short", match="fuzzy(0.3)").blocks
            if isinstance(one, Note)
        ]
    )
    assert "`remix evaluate first --system short --match 'fuzzy(0.3)' --store`" in told.replace("\\'", "'")
    work.evaluate("first", system="short", match="fuzzy(0.30)", store=True)
    by_number = remix_of(work, shown(work, dataset="first", system="short", match="fuzzy(0.3)"))
    assert by_number.tables["waterfall"]["mentions"][-1] == 2
    work.evaluate("first", system="short", match="strong", store=True)


@pytest.mark.long
def test_one_command_stores_all_outcomes_that_a_remix_needs(work: Workspace) -> None:
    """Those of two systems on two datasets."""
    asked = {"dataset": "first,second", "system": "short", "other": "exact", "match": "weak"}
    [told] = [one.text for one in shown(work, **asked).blocks if isinstance(one, Note) and "No remix" in one.text]
    assert "the outcomes of short and exact beside first, second are those by strong matching" in told
    [command] = re.findall("`remix (.*?)`", told)
    assert command == "evaluate first second --system short --system exact --match weak --store"
    folder = str(work.store.folder)
    assert run_verb(*command.split(), "-w", folder).returncode == 0
    page = shown(work, **asked)
    # By weak matching 'short' misses Bob twice and 'exact' once on each dataset, where both miss Bob of the last text.
    assert remix_of(work, page).tables["waterfall"]["mentions"][-1] == page.tables["errors"].height == 4
    assert run_verb(*command.replace("weak", "strong").split(), "-w", folder).returncode == 0


@pytest.mark.parametrize(
    ("asked", "mentions"),
    [
        ({"system": "short"}, 10),
        ({"system": "short", "class": "missing"}, 10),
        ({"system": "short", "show": "correct"}, 2),
        ({"system": "exact", "other": "short"}, 10),
        ({"system": "exact", "other": "short", "agreement": "only the first right"}, 8),
        ({"system": "exact", "within": "second"}, 1),
        ({"system": "exact", "other": "short", "class": "missing"}, 10),
        ({"system": "exact", "other": "short", "show": "missed", "within": "second"}, 5),
        ({"system": "exact", "show": "all", "class": "missing"}, 2),
        ({"system": "exact", "show": "all"}, 12),
        ({"system": "other"}, 3),
    ],
)
def test_errors_on_several_datasets_are_made_a_remix(work: Workspace, asked: dict[str, str], mentions: int) -> None:
    page = shown(work, dataset="first,second", **asked)
    of_gold = page.tables["errors"].filter(page.tables["errors"]["gold"].is_not_null()).height
    made = remix_of(work, page)
    assert made.error is None and made.tables["waterfall"]["mentions"][-1] == of_gold == mentions


@pytest.mark.parametrize(
    ("asked", "mentions"),
    [
        # 'short' misses "Ada Byron" of three texts and Bob of two, 'exact' Bob of the last, which 'short' misses too.
        ({"class": "missing"}, 5),
        ({"class": "missing", "show": "correct"}, 4),
        ({"class": "missing", "of": "exact"}, 1),
        ({"class": "missing", "show": "all"}, 5),
        ({"class": "missing", "agreement": "only the second right"}, 4),
        ({"class": "missing", "agreement": "neither right", "show": "all"}, 1),
        ({"class": "missing", "dataset": "first,second"}, 10),
        ({"show": "missed"}, 5),
        ({"show": "all"}, 6),
    ],
)
def test_errors_of_either_of_two_systems_are_made_a_remix(
    work: Workspace, asked: dict[str, str], mentions: int
) -> None:
    page = shown(work, **{"dataset": "first", "system": "short", "other": "exact", **asked})
    assert page.tables["errors"].drop_nulls("gold").height == mentions
    assert remix_of(work, page).tables["waterfall"]["mentions"][-1] == mentions


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"class": "extra"}, "these are answers on no mention of gold, of which remixes are made"),
        ({"show": "ignored"}, "what does not count is no mention that gold requires"),
        ({"gold": f"{KNOWN}Bob"}, "a pair of entities is chosen, of which no query knows"),
        ({"by": "is_nil", "slice": "on no mention"}, "these are answers on no mention of gold"),
    ],
)
def test_where_no_remix_is_offered_the_reason_is(work: Workspace, asked: dict[str, str], reason: str) -> None:
    page = shown(work, dataset="first", system="short", other="exact", **asked)
    [told] = [one for one in page.blocks if isinstance(one, Note) and "No remix has just" in one.text]
    assert reason in told.text and not any(
        isinstance(one, Note) and "Make this a remix" in one.links for one in page.blocks
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("by", "chosen", "again"),
    [
        ("ambiguityEntity", "6", "ambiguityEntity:classes"),
        ("ambiguityEntity:deciles", "2", "ambiguityEntity:thresholds:1,3,4,5,6,7,8"),
    ],
)
def test_parts_of_one_dataset_lead_to_the_same_parts_of_which_a_remix_is_made(
    answered_sample: Workspace, by: str, chosen: str, again: str
) -> None:
    """All that is loaded has other ranges, of which one may have the number that is a value here."""
    asked = {"dataset": "sample-news", "system": "prior", "by": by, "slice": chosen}
    page = shown(answered_sample, **asked)
    [told] = [one for one in page.blocks if isinstance(one, Note) and "No remix has just" in one.text]
    assert "the parts are cut over the datasets that are listed here" in told.text
    [place] = told.links.values()
    assert asked_by(place)["by"] == again
    found = follow(answered_sample, place)
    places = page.tables["errors"].select("document", "begin", "end")
    assert not found.dropped and found.tables["errors"].select(places.columns).equals(places) and len(places) > 1
    assert [one for one in found.blocks if isinstance(one, Note) and "Make this a remix" in one.links]


@pytest.mark.long
def test_of_a_column_that_no_query_has_a_command_makes_remixes(answered_sample: Workspace) -> None:
    asked = {"dataset": "sample-news", "system": "prior", "by": "words:quantiles:3", "slice": "2"}
    page = shown(answered_sample, **asked)
    [told] = [one for one in page.blocks if isinstance(one, Note) and "No remix has just" in one.text]
    assert "no query can select by words: `remix partition --by words:quantiles:3 --to DIRECTORY` makes" in told.text


def test_query_of_errors_is_no_longer_for_more_datasets(work: Workspace) -> None:
    """It took 43 s on six datasets, of each of which it named the graph: it reads those of all runs of the system."""
    asked = {"system": "short", "class": "missing"}
    one, two = (_query_of(shown(work, dataset=names, **asked)) for names in ("first", "first,second"))
    assert one == two


def _query_of(page: Page) -> str:
    [place] = [
        block.links["Make this a remix"]
        for block in page.blocks
        if isinstance(block, Note) and "Make this a remix" in block.links
    ]
    return asked_by(place)["sparql"]


def test_column_that_errors_are_counted_by_stays_where_a_class_is_followed(work: Workspace) -> None:
    page = shown(work, dataset="first", system="short", by="words")
    table = table_of(page, "classes of errors")
    [row] = table.frame.filter(system="short").to_dicts()
    place = table.links["missing"](row)
    assert asked_by(place)["by"] == "words" and "errors by words" in follow(work, place).tables


def test_paper_has_tables_of_all_systems_as_those_of_the_datasets(get: Get) -> None:
    place = "dataset=first&system=short&by=words"
    for table in ("classes of errors", "errors by words"):
        [caption] = re.findall(r"\\caption\{(.*)\}", get(f"/errors.tex?{place}&table={table}").text)
        assert caption.startswith("Errors on first: ") and "short" not in caption
    [caption] = re.findall(r"\\caption\{(.*)\}", get(f"/errors.tex?{place}").text)
    assert "Errors of short on first" in caption


def test_captions_say_by_which_matching_rows_are_judged_and_which_are_chosen(get: Get) -> None:
    place = "dataset=first&system=short&other=exact&match=fuzzy(0.3)&type=NIL&class=missing&by=words"
    told = "by fuzzy(0.3) matching (the spans overlap and 1 - edit distance / longer length is 0.3 or more)"
    place = place.replace("&type=NIL", "")
    for form, pattern in (("tex", r"\\caption\{(.*)\}"), ("md", r"\n\n(.*)\n$")):
        chosen = f"errors. Chosen are errors of either, class missing mention; A2KB {told}."
        [caption] = re.findall(pattern, get(f"/errors.{form}?{place}").text)
        assert caption == f"Errors of short and exact on first: {chosen}", form
        [caption] = re.findall(pattern, get(f"/errors.{form}?{place}&rows.errors=Bob").text)
        assert caption.endswith(f"A2KB {told}. Of these the rows with “Bob” alone."), form
        for table in ("classes of errors", "errors by words", "confused by short"):
            [caption] = re.findall(pattern, get(f"/errors.{form}?{place}&table={table}").text)
            assert told in caption, (form, table)


def test_tables_and_figures_of_systems_say_by_which_conventions_scores_are(get: Get, work: Workspace) -> None:
    told = "A2KB by weak matching, conventions of gerbil"
    for by, of in (("", ""), ("words", ", by words on first")):
        place = f"datasets=first&match=weak&profile=gerbil&by={by}"
        page = VIEWS["systems"].show(work, dict(parse_qsl(place)))
        for name, figure in page.figures.items():
            assert told + of in figure.description and told + of in figure.panels[0].title, name
        for table in ("systems", "scores"):
            for form in ("tex", "md"):
                assert f"{told}{of}." in get(f"/systems.{form}?{place}&table={table}").text, (table, form)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/errors?dataset=first&system=shrt", "no run on first named 'shrt'; did you mean 'short'?"),
        ("/errors?dataset=first&system=exact&other=shrt", "no run on first named 'shrt'; did you mean 'short'?"),
        ("/errors?dataset=second&system=other", "no run on second named 'other'"),
        ("/document?dataset=first&system=shrt", "no run on first named 'shrt'; did you mean 'short'?"),
        ("/annotations?dataset=first&system=shrt", "no run on first named 'shrt'; did you mean 'short'?"),
        ("/systems?datasets=first&systems=shrt", "no system with a run named 'shrt'; did you mean 'short'?"),
    ],
)
def test_system_that_is_misspelt_is_left_out_and_said_as_one_without_a_run(get: Get, place: str, said: str) -> None:
    answer = get(place)
    text = answer.text.replace("&#39;", "'")
    assert answer.status_code == 200 and "Left out:" in text and said in text and "<form" in text
    view, _, query = place.partition("?")
    assert get(f"{view}.csv?{query}").status_code == 404


def test_address_that_names_no_dataset_says_so_in_plain_words(get: Get) -> None:
    for view, name in (("dataset", "name"), ("document", "dataset")):
        answer = get(f"/{view}")
        told = f"this page is about one dataset, and its address names none: <code>/{view}?{name}=NAME</code> does"
        assert told in answer.text and "named &#39;&#39;" not in answer.text and f'action="/{view}"' in answer.text
        assert f'href="/{view}?{name}=second"' in answer.text
        assert "names none" in get(f"/{view}.csv").text
