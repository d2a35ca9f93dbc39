"""The lists behind the numbers of the builder: as many mentions as the number says, and remixes of just these."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from remix.errors import UnknownName
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.measures.enrichment import frames_of
from remix.names import PREFIXES
from remix.reports.annotation_list import Wanted, count_mentions, list_wanted
from remix.reports.selections import EACH
from remix.store import Store
from remix.store.queries import Query
from remix.web.page import VIEWS, Note, Page, Table
from remix.workspace import Workspace, open_workspace
from tests.pages import follow
from tests.workspaces import RESOURCE, load_texts

ASKED = {
    "all": {},
    "each edition": {"edition": EACH},
    "one condition": {"on": "isRare", "in.isRare": "true"},
    "several conditions": {"on": "isRare,ambiguitySurfaceForm,type", "in.isRare": "true,false", "in.type": "Person"},
    "of a dataset": {"dataset": "posts", "on": "isRare", "in.isRare": "false"},
    "a shipped query": {"query": "persons_hard"},
    "edited": {"sparql": "SELECT ?annotation { ?annotation nif:anchorOf ?form FILTER (STRLEN(?form) > 5) }"},
}


@pytest.fixture(scope="module")
def work(small_store: Store) -> Workspace:
    return open_workspace(small_store.folder)


def lead(page: Page, table: str, column: str) -> list[tuple[int, str]]:
    """Return the numbers of a column with the addresses that they lead to."""
    found = next(one for one in page.blocks if isinstance(one, Table) and one.name == table)
    return [(row[column], found.links[column](row)) for row in found.frame.iter_rows(named=True)]


def count(work: Workspace, page: Page) -> int:
    listed = page.tables["annotations"]["annotation"]
    return count_mentions(list_wanted(work.store, Wanted()).filter(pl.col("annotation").is_in(listed.implode())))


def find_remix(page: Page) -> str | None:
    links = [one.links for one in page.blocks if isinstance(one, Note) and one.links]
    return links[0].get("Make this a remix") if links else None


def text_of(page: Page) -> str:
    return " ".join(one.text for one in page.blocks if isinstance(one, Note))


def count_remix(work: Workspace, place: str) -> int:
    return int(follow(work, place).tables["waterfall"]["mentions"][-1])


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_numbers_of_the_builder_lead_to_as_many_mentions(work: Workspace, asked: dict[str, str]) -> None:
    page = VIEWS["builder"].show(work, asked)
    numbers = [*lead(page, "waterfall", "mentions"), *lead(page, "datasets", "kept")]
    numbers += lead(page, "datasets", "annotations")
    assert [number for number, place in numbers if place] == [number for number, _ in numbers if number]
    for number, place in numbers:
        if place:
            listed = follow(work, place)
            assert listed.error is None and not listed.dropped
            assert count(work, listed) == number, place


@pytest.mark.long
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_remix_of_a_list_has_its_mentions(work: Workspace, asked: dict[str, str]) -> None:
    """Of conditions each list has a remix, narrowed down or not; of a query those of all its conditions have."""
    page, offered = VIEWS["builder"].show(work, asked), 0
    rows = lead(page, "waterfall", "mentions")
    parts = [place for _, place in rows[:-2]] if "query" in asked or "sparql" in asked else []
    for _, place in [*rows, *lead(page, "datasets", "kept")]:
        for further in ("", "&type=Person", "&find=an") if place else ():
            listed = follow(work, place + further)
            remix = find_remix(listed)
            assert remix is None or count_remix(work, remix) == count(work, listed), (place, further)
            offered += remix is not None
            empty = listed.tables["annotations"].is_empty()
            assert (remix is None) == (empty or place in parts), (place, further)
            assert (place in parts and not empty) == ("is a part of its conditions" in text_of(listed))
    assert offered


def test_list_of_a_dataset_whose_texts_are_kept_of_another_has_no_remix_of_its_own(tmp_path: Path) -> None:
    """Of the two texts of b the first is in a as well: b alone has two mentions, of which the list has one."""
    work = open_workspace(tmp_path / "own")
    load_texts(work.store, tmp_path, {"a": ["One Ada."], "b": ["One Ada.", "Two Ada."]})
    page = VIEWS["builder"].show(work, {})
    found = {place: follow(work, place) for _, place in lead(page, "datasets", "kept")}
    assert [(one.tables["annotations"].height, find_remix(one) is None) for one in found.values()] == [
        (1, False),
        (1, True),
    ]
    assert "texts of b are kept of another dataset" in text_of(found[[*found][1]])
    [every] = [place for number, place in lead(page, "waterfall", "mentions") if number == 3][:1]
    assert count_remix(work, find_remix(follow(work, every)) or "") == 3  # of all that is loaded with each edition


def test_remix_of_each_edition_says_that_texts_count_several_times(tmp_path: Path) -> None:
    """Two datasets of one text: with each edition its mention counts twice, of which one is beside the other."""
    work = open_workspace(tmp_path / "own")
    load_texts(work.store, tmp_path, {"a": ["One Ada."], "b": ["One Ada."]}, persons=["b"])
    said = {
        edition: [
            one.text
            for one in VIEWS["builder"].show(work, {"edition": edition}).blocks
            if isinstance(one, Note) and "several times" in one.text
        ]
        for edition in (EACH, "")
    }
    assert said[""] == [] and len(said[EACH]) == 1 and said[EACH][0].startswith("1 of these annotations")


@pytest.mark.long
def test_list_says_where_its_remix_chooses_another_edition(tmp_path: Path) -> None:
    """Both have the first text, of which a is kept, and where only b calls Ada a person.

    So the persons of the list are one, of the second text; a remix of persons finds none in a, and has two of b.
    """
    work = open_workspace(tmp_path / "own")
    load_texts(work.store, tmp_path, {"a": ["One Ada."], "b": ["One Ada.", "Two Ada."]}, persons=["b"])
    for asked in ({}, {"sparql": "SELECT ?annotation { ?annotation nif:referenceContext ?document }"}):
        last = lead(VIEWS["builder"].show(work, asked), "waterfall", "mentions")[-1][1]
        listed = follow(work, f"{last}&type=Person")
        assert listed.tables["annotations"].height == 1
        assert "A remix of them has 2: it chooses the edition of a text after all else." in text_of(listed)
        assert count_remix(work, find_remix(listed) or "") == 2
        assert "A remix of them" not in text_of(follow(work, last))


@pytest.mark.long
def test_no_remix_of_a_list_is_offered_that_queries_do_not_see_as_it_is(tmp_path: Path) -> None:
    """A knowledge base that comes later types Ada: lists know it at once, queries when it is stored.

    Each list that has a remix has as many mentions, before there is a knowledge base, before its measures are stored
    and after. Without a knowledge base the classes of gold are seen, what is NIL or has no type is stored first.
    """
    rows = [
        {"document": "d", "text": "Ada, Bob and Eve", "begin": at, "end": at + 3, "entity": None} for at in (0, 5, 13)
    ]
    rows[0]["entity"], rows[1]["entity"] = RESOURCE, f"{RESOURCE}_2"
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tables = {
        "surface_forms": f"surface_form\tentity_iri\tcount\tsource\nAda\t{RESOURCE}\t3\tx\n",
        "types": f"entity_iri\tclass_iri\tsource\n{RESOURCE}\t{PREFIXES['dbo']}Person\tx\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    work = open_workspace(tmp_path / "work")
    work.load([tmp_path / "own.jsonl"])

    def look(asked: str) -> tuple[int, int | None]:
        page = follow(work, f"/annotations?dataset=own&{asked}")
        number, remix = page.tables["annotations"].height, find_remix(page)
        assert remix is not None or number == 0 or "`remix enrich` does" in text_of(page), asked
        return number, None if remix is None else count_remix(work, remix)

    found = []
    for step in ("a load", "a knowledge base", "enrich"):
        if step == "a knowledge base":
            work.build_kb([("tables", str(tmp_path))], name="later")
        elif step == "enrich":
            work.enrich()
        found.append([look(asked) for asked in ("type=Person", "type=NIL", "type=untyped", "by=is_nil&part=true")])
        last = lead(VIEWS["builder"].show(work, {}), "waterfall", "mentions")[-1][1]
        for further in ("type=NIL", "type=untyped", "type=Person"):
            listed = follow(work, f"{last}&{further}")
            remix = find_remix(listed)
            assert remix is None or count_remix(work, remix) == count(work, listed), further
    assert found == [
        [(0, None), (1, None), (2, None), (1, None)],
        [(1, None), (1, None), (1, None), (1, None)],
        [(1, 1), (1, 1), (1, 1), (1, 1)],
    ]


@pytest.mark.long
def test_what_is_not_stored_of_other_datasets_keeps_no_list_from_a_remix(tmp_path: Path) -> None:
    """Of a alone the measures are stored: its list by type has a remix, that of both has none."""
    work = open_workspace(tmp_path / "own")
    load_texts(work.store, tmp_path, {"a": ["One Ada."]})
    work.enrich()
    load_texts(work.store, tmp_path, {"b": ["Two Ada."]})
    offered = {}
    for chosen in ("a", ""):
        last = lead(VIEWS["builder"].show(work, {"dataset": chosen}), "waterfall", "mentions")[-1][1]
        offered[chosen] = find_remix(follow(work, f"{last}&type=untyped"))
    assert offered[""] is None and count_remix(work, offered["a"] or "") == 1


def test_query_is_narrowed_down_whatever_it_calls_its_variables(work: Workspace) -> None:
    """A query with a variable ?form of its own, and one of documents: narrowed down, both keep what they asked."""
    own = "SELECT ?annotation { ?annotation rmx:isRare ?form FILTER (?form) }"
    of_documents = "SELECT ?document { ?annotation nif:referenceContext ?document ; rmx:isRare ?form FILTER (?form) }"
    for text in (own, of_documents):
        page = VIEWS["builder"].show(work, {"sparql": text})
        assert page.error is None, page.error
        listed = follow(work, f"{lead(page, 'waterfall', 'mentions')[-1][1]}&find=a")
        assert count_remix(work, find_remix(listed) or "") == count(work, listed) > 0


def test_orphans_of_a_text_that_is_not_there_are_in_no_number(tmp_path: Path) -> None:
    work = open_workspace(tmp_path / "own")
    documents = pl.DataFrame({"document": ["urn:a"], "text": ["One Ada."]})
    rows = pl.DataFrame({"annotation": ["urn:a#4", "urn:b#4"], "document": ["urn:a", "urn:b"], "begin": 4, "end": 7})
    write_frames(Frames.of(documents=documents, annotations=rows), file := tmp_path / "a.nt")
    work.load([str(file)])
    assert frames_of(work.store).annotations.height == 2
    every = "SELECT ?annotation { ?annotation a nif:Phrase }"
    for asked in ({}, {"sparql": every}):
        page = VIEWS["builder"].show(work, asked)
        assert {*page.tables["waterfall"]["mentions"]} == {1}, asked
    built = work.build(Query.parse(every, "every"), explain=True)
    assert {*built.waterfall["annotations"]} == {1} and built.frames.annotations.height == 1


def test_values_of_the_list_that_cannot_be_are_refused(work: Workspace) -> None:
    for wrong in ({"after": "9"}, {"after": "x"}, {"within": "nwes"}, {"type": "Persn"}):
        with pytest.raises(UnknownName):
            VIEWS["selection"].show(work, wrong)
