"""The page of a document by its rows: annotations in the text, what tells them apart, and what is known of one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import MissingKnowledge, UnknownName
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.measures.classes import TYPES
from remix.names import PREFIXES
from remix.reports.documents import class_annotations, list_annotations
from remix.reports.sentences import name_document
from remix.store import Store
from remix.web.marked_text import Mark, lay_out
from remix.web.page import VIEWS, Code, Legend, Note, Page, Passage, Passages, Segment, Table
from remix.web.rendering import render_page
from remix.workspace import Workspace, open_workspace
from tests.pages import follow
from tests.workspaces import ITEM, build_labelled

SMALL = Path(__file__).resolve().parents[1] / "remixes" / "small"
DOCUMENT = VIEWS["document"]


@pytest.fixture(scope="module")
def runs(run_store: Store) -> Workspace:
    return open_workspace(run_store.folder)


@pytest.fixture(scope="module")
def sample(sample_store: Store) -> Workspace:
    return open_workspace(sample_store.folder)


def shown(work: Workspace, **parameters: str) -> Page:
    return DOCUMENT.show(work, {**DOCUMENT.example(work), "annotation": "", **parameters})


def marked(page: Page) -> dict[str, str]:
    """The marked texts of the page and how they look."""
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    return {one.text: one.classes for one in passages.passages[0].segments if one.classes}


def legend_of(page: Page) -> dict[str, str]:
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    assert passages.legend is not None
    return {one.text: one.classes for one in passages.legend.segments}


def mark(begin: int, end: int, look: str = "x") -> Mark:
    return Mark(begin, -end, look, f"{begin}-{end}", "", "")


def spelt(segments: list[Segment]) -> str:
    """Segments as text, with brackets around those that are marked."""
    return "".join(
        f"[{spelt([*one.parts]) if one.parts else one.text}]" if one.classes else one.text for one in segments
    )


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 3), (4, 8)], "[New] [York]."),
        ([(0, 8), (4, 8)], "[New [York]]."),
        ([(0, 8), (0, 3), (4, 8), (5, 7)], "[[New] [Y[or]k]]."),
        ([(0, 6), (4, 8)], "[New [Yo]][rk]."),
        ([(0, 5), (2, 7), (4, 9)], "[Ne[w [Y]]][[or]k.]"),
    ],
)
def test_nested_mentions_are_parts_and_crossing_ones_are_cut(spans: list[tuple[int, int]], expected: str) -> None:
    segments, notes = lay_out("New York.", [mark(*span) for span in spans])
    assert spelt(segments) == expected
    assert any("cross" in note for note in notes) == (spans in ([(0, 6), (4, 8)], [(0, 5), (2, 7), (4, 9)]))


def test_mention_that_is_cut_twice_is_counted_once() -> None:
    """Of [0, 10), [4, 7) and [5, 15) the last crosses both others."""
    _, notes = lay_out("x" * 20, [mark(0, 10), mark(4, 7), mark(5, 15)])
    assert notes[0].endswith(" cut: 1.")


def letters(segments: list[Segment] | tuple[Segment, ...], above: tuple[str, ...] = ()) -> list[tuple[str, set[str]]]:
    """Each letter of a text with the labels of the marks that it is in."""
    found = []
    for one in segments:
        inside = (*above, one.label) if one.classes else above
        found += letters([*one.parts], inside) if one.parts else [(letter, {*inside}) for letter in one.text]
    return found


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=8, unique=True))
def test_every_letter_is_shown_once_in_exactly_the_mentions_that_it_is_in(spans: list[tuple[int, int]]) -> None:
    text = "abcdefghijkl"
    segments, notes = lay_out(text, [mark(*span) for span in spans])
    expected = [
        (letter, {f"{begin}-{end}" for begin, end in spans if begin <= at < end}) for at, letter in enumerate(text)
    ]
    assert letters(segments) == expected
    without_place = [1 for begin, end in spans if begin >= end]
    assert any(note.endswith(f": {len(without_place)}.") and "no place" in note for note in notes) == bool(
        without_place
    )


def test_what_lies_too_deep_is_said() -> None:
    text = "x" * 40
    segments, notes = lay_out(text, [mark(at, 40 - at) for at in range(20)])
    assert [letter for letter, _ in letters(segments)] == [*text]
    assert max(len(labels) for _, labels in letters(segments)) == 13 and notes[0].endswith("has them: 7.")


def test_outcomes_of_a_system_differ_in_shape_and_the_legend_says_which(runs: Workspace) -> None:
    """System a: Ada right, another Alan, Bob (NIL) linked, New York instead of New York City."""
    page = shown(runs, system="a")
    assert {text: look.split()[0] for text, look in marked(page).items() if text != "New York City"} == {
        "Ada": "correct",
        "Alan": "wrong",
        "Bob": "wrong",
    }
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    [city] = [one for one in passages.passages[0].segments if one.text == "New York City"]
    assert city.classes == "missed" and [part.classes for part in city.parts] == ["extra", ""]
    assert "where gold has no mention" in city.parts[0].label
    assert legend_of(page) == {name: name for name in ("correct", "wrong", "extra", "missed", "ignored")}
    assert marked(shown(runs, system="b"))["Bob"] == "missed nil"
    # Outcomes are those of the first system where none is chosen.
    assert marked(shown(runs, colour="outcome")) == marked(page)


def test_answers_where_gold_has_no_mention_are_shown_also_in_a_document_without_any(tmp_path: Path) -> None:
    work = Workspace(tmp_path / ".remix")
    work.load(SMALL / "news.ttl")
    name = "http://example.org/news/3#char=0,55"
    answer = {"document": [name], "begin": [38], "end": [42], "entity": ["http://dbpedia.org/resource/X"]}
    work.add_run("own", pl.DataFrame(answer), on="news")
    page = shown(work, dataset="news", name=name, system="own")
    assert marked(page) == {"bour": "extra"} and page.tables["annotations"].is_empty()


def test_mentions_are_told_apart_by_type_and_by_any_column(runs: Workspace, sample: Workspace) -> None:
    looks, legend = marked(shown(runs)), legend_of(shown(runs))
    assert looks["Ada"] == looks["Alan"] == legend["Person"] and looks["Bob"] == f"{legend['NIL']} nil"
    assert len({*legend.values()}) == len(legend)
    for colour in ("prominence", "confusion", "category", "inDictionary", "pagerank", "confidence"):
        page = shown(sample, colour=colour)
        assert {look.removesuffix(" nil") for look in marked(page).values()} <= {*legend_of(page).values()}, colour
    with pytest.raises(UnknownName, match="no column of annotations"):
        shown(sample, colour="nope")
    with pytest.raises(MissingKnowledge, match="`remix kb attach`"):
        shown(runs, colour="prominence")
    assert [str(one).partition(";")[0] for one in shown(runs, system="nope").dropped] == ["no run on gold named 'nope'"]


@pytest.mark.long
def test_classes_are_those_of_the_dataset_in_all_of_its_documents(sample: Workspace) -> None:
    names = sample.frames("sample-news").documents.select(pl.coalesce("given", "document")).to_series()
    legends = [legend_of(shown(sample, dataset="sample-news", name=name, colour="confusion")) for name in names]
    assert all(one == legends[0] for one in legends) and 2 <= len(legends[0]) <= 5


def test_types_look_the_same_in_all_datasets(sample: Workspace, runs: Workspace) -> None:
    legends = [legend_of(shown(sample, dataset=name)) for name in ("sample-news", "sample-posts")]
    assert legends[0] == legends[1] == legend_of(shown(runs)) and [*legends[0]] == [*TYPES]


def test_text_whose_first_mention_is_far_down_leads_to_it(tmp_path: Path) -> None:
    for name, before in (("near", 1000), ("far", 1001)):
        line = {"document": "d", "text": "." * before + "Ada", "begin": before, "end": before + 3, "entity": "e:A"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line))
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "near.jsonl", tmp_path / "far.jsonl"])
    for name, links in (("near", []), ("far", ["#mention-1001-1004"])):
        page = DOCUMENT.show(work, {"dataset": name})
        told = [one for one in page.blocks if isinstance(one, Note) and one.text.startswith("A mention in the text")]
        assert [place for one in told for place in one.links.values()] == links
        assert all(f'id="{place[1:]}"' in render_page(page, DOCUMENT, "") for place in links)


def test_classes_are_told_of_the_mentions_of_one_document_alone(sample: Workspace) -> None:
    rows = list_annotations(sample.frames("sample-news"), sample.measures())
    own = rows.filter(document=rows["document"][0])["annotation"]
    classed = class_annotations(rows, "type", sample.measures(), rows["document"][0])
    assert classed.values.keys() == {*own} and len(own) < len(rows)


def test_a_mention_leads_to_all_that_is_known_of_it(sample: Workspace) -> None:
    place = DOCUMENT.example(sample)
    page = shown(sample, **place)
    assert [block.name for block in page.beside if isinstance(block, Table | Code)][-2:] == ["columns", "RDF"]
    row = sample.frames(place["dataset"]).annotations.filter(annotation=place["annotation"]).row(0, named=True)
    told = dict(page.tables["columns"].select("column", "value").iter_rows())
    assert (told["surface_form"], told["begin"]) == (row["surface_form"], str(row["begin"]))
    measured = sample.measures().annotations.filter(annotation=place["annotation"]).row(0, named=True)
    assert {name for name, value in measured.items() if value is not None} - {"document", "dataset"} <= told.keys()
    says = dict(page.tables["columns"].select("column", "says").iter_rows())
    assert says["ambiguitySurfaceForm"].startswith("Number of entities that the surface form may mean")
    asked = page.tables["candidates"]
    assert asked["entity"].to_list() == sample.lookup_kb(row["surface_form"])["entity"].to_list()
    [code] = [block for block in page.beside if isinstance(block, Code)]
    graph = rdflib.Graph().parse(data=code.text, format="turtle")
    lines = sample.store.index().triples(
        f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ BIND(<{place['annotation']}> AS ?s) ?s ?p ?o }}"
    )
    assert len(graph) == len(lines) > 10
    html = render_page(page, DOCUMENT, "")
    assert html.count(" chosen") == 1 and "annotation=" in html and f'id="mention-{row["begin"]}-{row["end"]}"' in html


def test_answers_of_every_run_stand_beside_a_mention(runs: Workspace) -> None:
    annotation = runs.frames("gold").annotations.filter(surface_form="Alan")["annotation"].item()
    answers = shown(runs, annotation=annotation).tables["answers"]
    assert dict(answers.select("system", "outcome").iter_rows()) == {"a": "wrong", "b": "correct"}
    notes = [block for block in shown(runs, annotation=annotation).beside if isinstance(block, Note)]
    assert any("remix kb attach" in note.commands for note in notes)
    with pytest.raises(UnknownName):
        shown(runs, annotation="urn:none")


def test_document_is_downloaded_as_nif_that_loads_again(sample: Workspace, tmp_path: Path) -> None:
    place = DOCUMENT.example(sample)
    made = DOCUMENT.downloads["ttl"](sample, place)
    assert made.media_type == "text/turtle" and made.file.startswith(place["dataset"]) and made.file.endswith(".ttl")
    (tmp_path / "one.ttl").write_bytes(made.content)
    again = Workspace(tmp_path / ".remix")
    again.load(tmp_path / "one.ttl")
    kept = sample.frames(place["dataset"])
    [document] = kept.documents.filter(pl.coalesce("given", "document") == place["name"])["document"]
    own = kept.keep(documents=pl.Series([document]))
    columns = ["begin", "end", "surface_form", "given"]
    assert (
        again.frames("one")
        .annotations.select(columns)
        .sort(columns)
        .equals(own.annotations.select(columns).sort(columns))
    )
    assert again.frames("one").documents["text"].to_list() == own.documents["text"].to_list()


def test_documents_lead_to_the_one_before_and_the_one_after(sample: Workspace) -> None:
    names = sample.frames("sample-news").documents.select(pl.coalesce("given", "document")).to_series()
    first, second = (shown(sample, dataset="sample-news", name=name) for name in names[:2])
    assert [*first.neighbours] == ["next"] and [*second.neighbours] == ["prev", "next"]
    html = render_page(second, DOCUMENT, "")
    assert '<link rel="prev" href="/document?dataset=sample-news' in html and '<a rel="next"' in html


def test_dataset_alone_leads_to_its_first_document(sample: Workspace) -> None:
    first = sample.frames("sample-news").documents.row(0, named=True)
    page = DOCUMENT.show(sample, {"dataset": "sample-news"})
    assert page.title == f"sample-news: {name_document(first['given'])}" == "sample-news: n01"


def test_system_that_is_chosen_colours_the_text_by_its_outcomes_and_two_stand_side_by_side(runs: Workspace) -> None:
    """The form says nothing of a colour: with a system it is what that made of the mentions."""
    assert marked(shown(runs, colour="", system="b"))["Ada"] == "correct"
    page = shown(runs, system="a", other="b")
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    assert [one.heading for one in passages.passages] == ["a", "b"] and passages.paired
    looks = [{one.text: one.classes for one in passage.segments} for passage in passages.passages]
    assert [one["Alan"] for one in looks] == ["wrong", "correct"]
    html = render_page(page, DOCUMENT, "")
    names = re.findall(r'id="(mention-[^"]*)"', html)
    # Five of the first text, one of them of an answer where gold has no mention, and gold's four in the second again.
    assert len(names) == len({*names}) == 9 and "other=b" in html
    places = [[one.href.partition("#")[2] for one in passage.segments if one.href] for passage in passages.passages]
    assert places[1] == [f"{name}-2" for name in places[0]] and len(places[0]) == 4


@pytest.mark.long
def test_answer_of_the_second_system_alone_has_a_place_to_which_errors_lead(tmp_path: Path) -> None:
    """Gold has Ada alone; the second system answers Bob besides, where neither gold nor the first has anything.

    The first one is wrong on Ada.
    """
    ada = {"document": "d", "text": "Ada met Bob", "begin": 0, "end": 3, "entity": "e:Ada"}
    work, wrong = Workspace(tmp_path / "work"), {**ada, "entity": "e:Alan"}
    for name, lines in (("news", [ada]), ("first", [wrong]), ("second", [ada, {**ada, "begin": 8, "end": 11}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    work.load([tmp_path / "news.jsonl"])
    for name in ("first", "second"):
        work.add_run(name, tmp_path / f"{name}.jsonl", on="news")
    page = VIEWS["errors"].show(work, {"dataset": "news", "system": "first", "other": "second"})
    [_, place] = [one.href for block in page.blocks if isinstance(block, Passages) for one in block.passages]
    html = render_page(follow(work, place), DOCUMENT, "")
    assert place.endswith("#mention-8-11") and 'id="mention-8-11"' in html


def test_system_and_document_of_another_dataset_are_left_out_and_said(tmp_path: Path) -> None:
    work = Workspace(tmp_path / ".remix")
    work.load([SMALL / "news.ttl", SMALL / "posts.ttl"])
    answer = {"document": ["http://example.org/news/3#char=0,55"], "begin": [38], "end": [42], "entity": [None]}
    work.add_run("own", pl.DataFrame(answer, schema_overrides={"entity": pl.String}), on="news")
    page = DOCUMENT.show(work, {"dataset": "posts", "system": "own", "name": answer["document"][0]})
    assert [str(one).partition(";")[0] for one in page.dropped] == [
        "no run on posts named 'own'",
        f"no document named '{answer['document'][0]}'",
    ]
    assert page.title.startswith("posts: ")


@pytest.mark.long
def test_entities_have_the_labels_that_their_identifiers_do_not_say(tmp_path: Path) -> None:
    """In the text, the table and beside the mention; the identifier itself is in the data."""
    work = build_labelled(tmp_path)
    line = {"document": "http://e.org/texts/7#char=0,7", "text": "Ada met", "begin": 0, "end": 3, "entity": ITEM}
    (tmp_path / "mine.jsonl").write_text(json.dumps(line) + "\n")
    work.load([tmp_path / "mine.jsonl"])
    page = DOCUMENT.show(work, {"dataset": "mine"})
    rows = page.tables["annotations"]
    assert rows.select("entity", "entities").rows() == [("wd:Q7259", ITEM)]
    html = render_page(page, DOCUMENT, "")
    assert "Ada: Ada Lovelace (wd:Q7259), other" in html and ITEM not in html
    assert "Ada Lovelace <small>wd:Q7259</small>" in html
    assert '<h1 dir="auto">mine: 7</h1>' in html and ">1. 7</option>" in html
    work.add_run("own", pl.DataFrame({"document": [line["document"]], "begin": [0], "end": [3], "entity": ["e:X"]}))
    page = VIEWS["errors"].show(work, {"dataset": "mine"})
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    assert passages.passages[0].notes[0] == "gold: Ada Lovelace (wd:Q7259)"


def test_table_of_a_document_of_many_mentions_is_folded_and_its_text_boxed(tmp_path: Path) -> None:
    for number in (100, 101):
        lines = [
            {"document": "d", "text": "Ada " * number, "begin": 4 * nth, "end": 4 * nth + 3, "entity": "http://e.org/A"}
            for nth in range(number)
        ]
        (tmp_path / f"of{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        work = Workspace(tmp_path / f".remix{number}")
        work.load([tmp_path / f"of{number}.jsonl"])
        html = render_page(DOCUMENT.show(work, {"dataset": f"of{number}"}), DOCUMENT, "")
        assert ("Show 101 rows" in html) == (number == 101) and html.count("<mark") >= number
        # Its text scrolls by itself, two systems in one box, so that they stay side by side.
        assert html.count('<div class="boxed" tabindex="0"') == (number == 101)
        assert html.count("<div") == html.count("</div")


def test_texts_of_both_directions_stand_apart_in_tables_and_identifiers_are_short(tmp_path: Path) -> None:
    """A Hebrew form is isolated, an entity is called by its label, a document by the last part of its name."""
    item = "http://www.wikidata.org/entity/Q7259"
    frame = pl.DataFrame(
        {"form": ["\u05d0\u05d3\u05d4", "Ada"], "entity": [item] * 2, "document": ["http://e.org/7"] * 2}
    )
    table = Table("t", frame, labels={item: "Ada Lovelace"}, documents=("document",))
    html = render_page(Page("p", [table]), DOCUMENT, "")
    assert "<bdi>\u05d0\u05d3\u05d4</bdi></td>" in html and ">Ada</td>" in html
    assert html.count("Ada Lovelace <small>wd:Q7259</small>") == 2 and item not in html
    assert '<bdi title="http://e.org/7">7</bdi>' in html


def test_legend_of_a_long_text_stands_in_its_box() -> None:
    legend = Legend("What marks mean:", [Segment("correct", "correct")])
    page = Page("x", [Passages([Passage("", [Segment("text")])], boxed=True, legend=legend)])
    text = render_page(page, DOCUMENT, "")
    assert text.index('class="boxed"') < text.index('class="legend"') < text.index("<article")


def test_annotations_that_do_not_count_are_told_apart(tmp_path: Path) -> None:
    """Of two annotations one is of another layer of its file: one mention counts, and the text shows which."""
    text, lines = "Ada met Bob", [f"@prefix {name}: <{PREFIXES[name]}> ." for name in ("nif", "itsrdf", "rmx")]
    context = f"<http://e.org/d#char=0,{len(text)}>"
    lines.append(f'{context} a nif:Context ; nif:isString "{text}" .')
    counts = f"a nif:Phrase ; nif:referenceContext {context}"
    ignorable = f'a rmx:Ignorable ; rmx:document {context} ; rmx:ignorable "layer"'
    for form, kind in {"Ada": counts, "Bob": ignorable}.items():
        begin = text.index(form)
        lines.append(
            f"<http://e.org/d#char={begin},{begin + 3}> {kind} ; nif:beginIndex {begin} ; nif:endIndex {begin + 3} ; "
            f'nif:anchorOf "{form}" ; itsrdf:taIdentRef <http://e.org/{form}> .'
        )
    (tmp_path / "own.ttl").write_text("\n".join(lines))
    work = open_workspace(tmp_path / "work")
    work.load([tmp_path / "own.ttl"])
    page = DOCUMENT.show(work, {"dataset": "own"})
    looks = marked(page)
    assert "ignorable" in looks["Bob"].split() and "ignorable" not in looks["Ada"].split()
    [table] = [block for block in page.blocks if isinstance(block, Table)]
    said = "1 mention counts, and 1 annotation is ignorable, which no number counts: 1 of another layer of the file."
    assert said in table.words and table.frame.height == 2


@pytest.mark.long
def test_candidates_that_nothing_tells_apart_are_said_to_share_their_rank(tmp_path: Path) -> None:
    """Ada means three entities without a count; Bob two, one of them twice as often as the other."""
    rows = [f"Ada\tdbr:Ada_{one}\t\tx" for one in "ABC"] + ["Bob\tdbr:Bob_A\t2\tx", "Bob\tdbr:Bob_B\t1\tx"]
    (tmp_path / "surface_forms.tsv").write_text("\n".join(["surface_form\tentity_iri\tcount\tsource", *rows, ""]))
    entities = [f"{name}\t{label}\tx" for name, label in (("dbr:Ada_A", "Countess Ada"), ("dbr:Bob_A", "Bobby"))]
    (tmp_path / "labels.tsv").write_text("\n".join(["entity_iri\tlabel\tsource", *entities, ""]))
    work = open_workspace(tmp_path / "own")
    documents = pl.DataFrame({"document": ["urn:a"], "text": ["Ada Bob."]})
    spans = {"begin": [0, 4], "end": [3, 7]}
    rows_of_gold = pl.DataFrame({"annotation": ["urn:a#0", "urn:a#4"], "document": "urn:a", **spans})
    resources = [f"{PREFIXES['dbr']}{one}" for one in ("Ada_B", "Bob_B")]
    links = pl.DataFrame({"annotation": ["urn:a#0", "urn:a#4"], "entity": resources, "entity_as_given": resources})
    gold = Frames.of(documents=documents, annotations=rows_of_gold, links=links)
    write_frames(gold, file := tmp_path / "gold.nt")
    work.load([str(file)])
    work.build_kb([("tables", str(tmp_path))], name="own")
    work.attach_kb("own")
    own = work.frames("gold").annotations.sort("begin")
    for (annotation, document), said in zip(
        own.select("annotation", "document").iter_rows(),
        ("has the rank 1, as 2 others have, which no count and no PageRank tells from it.", "has the rank 2."),
        strict=True,
    ):
        page = DOCUMENT.show(work, {"dataset": "gold", "name": document, "annotation": annotation})
        [table] = [one for one in page.beside if isinstance(one, Table) and one.name == "candidates"]
        assert table.words.endswith(f"gold's entity {said}")
        assert "tied" not in table.frame.columns and {*table.labels.values()} <= {"Countess Ada", "Bobby"}
        assert table.labels
