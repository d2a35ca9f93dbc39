"""The annotations behind numbers: as many as `remix stats` and `remix partition` count, and as a remix keeps."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.names import DBR, PREFIXES
from remix.reports.annotation_list import Wanted, count_mentions, fields_of_measure, list_members, list_wanted
from remix.reports.labels import label_entities
from remix.reports.selections import WantedOutcomes, builder_parameters
from remix.store import Store
from remix.web.forms import Form
from remix.web.page import VIEWS, Drawing, Facets, Note, Shown, Table
from remix.web.rendering import render_page
from remix.workspace import Workspace, open_workspace
from tests.commands import run_verb
from tests.pages import follow, table_of
from tests.workspaces import ITEM, RESOURCE, build_labelled

RANDOM = random.Random(20261124)
COLUMNS = ("class", "nil", "ambiguitySurfaceForm:log-deciles", "words", "pagerankSegment", "nameRelation", "density")


@pytest.fixture(scope="module")
def work(sample_store: Store) -> Workspace:
    return open_workspace(sample_store.folder)


def links_of(block: Shown) -> dict[str, str]:
    return dict(block.links) if isinstance(block, Note) else {}


def test_annotations_of_a_dataset_are_the_same_before_and_after_those_of_all_were_read(sample_store: Store) -> None:
    names = [entry.name for entry in sample_store.datasets()]
    [before, after] = [Store(sample_store.folder) for _ in range(2)]
    for name in names:
        alone = list_wanted(before, Wanted(name))
        every = list_wanted(after, Wanted()).filter(dataset=name)
        # Groups of categories that no annotation of the dataset has are no columns of its own.
        further = {*every.columns} - {*alone.columns}
        assert all(one.startswith("category ") and every[one].null_count() == every.height for one in further)
        assert alone.equals(every.select(alone.columns)) and alone.height
        assert alone.equals(list_wanted(after, Wanted(name)).select(alone.columns))


def test_members_are_the_annotations_of_the_list_whatever_was_read_before(tmp_path: Path) -> None:
    """Of five annotations in three texts one is optional and one has no text: the first of each text is left."""
    texts = [{"document": name, "text": "Ada met Bo.", "begin": 0, "end": 3, "entity": f"{DBR}Ada"} for name in "ab"]
    optional = {**texts[0], "begin": 8, "end": 10, "entity": f"{DBR}Bo", "ignorable": "optional"}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [texts[0], optional])))
    place = "nif:referenceContext <http://c.org/{}> ; nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef dbr:Ada ."
    lines = [
        "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .",
        "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> . @prefix dbr: <http://dbpedia.org/resource/> .",
        '<http://c.org/one> a nif:Context ; nif:isString "Ada met Bo." .',
        *(f"<http://c.org/{name}#char=0,3> a nif:Phrase ; {place.format(name)}" for name in ("one", "gone")),
    ]
    (tmp_path / "b.jsonl").write_text(json.dumps(texts[1]))
    (tmp_path / "c.ttl").write_text("\n".join(lines))
    work = open_workspace(tmp_path / "own")
    work.load([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), str(tmp_path / "c.ttl")])
    for dataset, number in (("a", 1), ("b", 1), ("c", 1), ("", 3)):
        wanted, columns = Wanted(dataset), ["annotation", "dataset", "document", "group"]
        first, then = Store(work.folder), Store(work.folder)
        listed = list_wanted(then, wanted).select(columns).sort(columns)
        assert listed.height == number, dataset
        assert list_members(first, wanted).sort(columns).equals(listed)
        assert list_members(then, wanted).sort(columns).equals(listed)


@pytest.mark.long
@pytest.mark.parametrize("by", COLUMNS)
def test_parts_hold_as_many_annotations_as_partition_counts(work: Workspace, by: str) -> None:
    done = run_verb("partition", "--by", by, "-o", "json", "-w", str(work.store.folder))
    for row in json.loads(done.stdout):
        assert count_mentions(list_wanted(work.store, Wanted(by=by, part=row["part"]))) == row["annotations"], row


@pytest.mark.long
def test_measures_and_bars_and_parts_of_a_dataset_lead_to_as_many_annotations(work: Workspace) -> None:
    """Ten measures that are shares, two bars and a part by chance."""
    datasets = [entry.name for entry in work.store.datasets()]
    counted = work.stats().datasets.filter(pl.col("average") == "micro", pl.col("coverage") == 1)
    names = [name for name in counted["measure"].unique().sort() if (fields_of_measure(name) or {}).get("part")]
    for name in RANDOM.sample(names, 10):
        dataset = RANDOM.choice(datasets)
        rows = table_of(VIEWS["dataset"].show(work, {"name": dataset}), "measures")
        [row] = rows.frame.filter(measure=name).to_dicts()
        found = follow(work, rows.links["value"](row)).tables["annotations"]
        gold = work.frames(dataset).annotations.filter(pl.col("ignorable").is_null())
        # Measures give each of several alternatives its part of the mention.
        weights = gold.select("annotation", weight=1 / pl.len().over("document", "group"))
        listed = weights.filter(pl.col("annotation").is_in(found["annotation"].implode()))
        assert listed["weight"].sum() / weights["weight"].sum() == pytest.approx(row["value"]), (name, dataset)
    page = VIEWS["dataset"].show(work, {"name": datasets[0], "column": "pagerank"})
    [figure] = [block.figure for block in page.blocks if isinstance(block, Drawing)]
    for panel in figure.panels:
        bars = [(y, link) for y, link in zip(panel.series[0].y, panel.series[0].links, strict=True) if link]
        number, place = RANDOM.choice(bars)
        assert len(follow(work, place).tables["annotations"]) == number > 0
    parts = table_of(page, "parts")
    row = RANDOM.choice(parts.frame.filter(pl.col("annotations") > 0).to_dicts())
    page = follow(work, parts.links["annotations"](row))
    found = list_wanted(work.store, Wanted(datasets[0], by="pagerank:log-deciles", part=row["part"]))
    assert count_mentions(found) == row["annotations"] and len(page.tables["annotations"]) == len(found)


@pytest.mark.long
@pytest.mark.parametrize(
    "asked",
    [
        {"type": "Person"},
        {"type": "NIL"},
        {"by": "ambiguitySurfaceForm:log-deciles", "part": "3"},
        {"by": "pagerank:quantiles:4", "part": "2"},
        {"by": "nameRelation", "part": "short"},
        {"by": "isRare", "part": "true", "type": "Place"},
        {"column": "pagerank", "bar": "log:20"},
        {"column": "ambiguitySurfaceForm", "find": "an"},
        {"by": "density:quantiles:4", "part": "4"},
    ],
    ids=str,
)
def test_remix_of_a_list_has_its_annotations(work: Workspace, asked: dict[str, str]) -> None:
    """The builder, asked for by the link, counts the very mentions; of two datasets one is chosen."""
    wanted = Wanted("sample-news", **asked)
    rows = list_wanted(work.store, wanted)
    page = VIEWS["builder"].show(work, builder_parameters(work.store, wanted))
    assert page.error is None
    assert page.tables["waterfall"]["mentions"][-1] == count_mentions(rows) > 0


@pytest.mark.long
def test_remix_of_what_a_system_made_of_annotations_has_them(answered_sample: Workspace) -> None:
    work = answered_sample
    for outcome in ("correct", "wrong", "missed"):
        asked = {"dataset": "sample-news", "system": "prior", "outcome": outcome}
        page = VIEWS["annotations"].show(work, asked)
        where = builder_parameters(work.store, Wanted("sample-news"), WantedOutcomes(("prior",), outcome))
        left = VIEWS["builder"].show(work, where).tables["waterfall"]["mentions"][-1]
        judged = work.judgements("sample-news")
        of_gold = judged.mentions.drop_nulls("annotation").join(judged.systems.filter(system="prior"), on="mention")
        assert left == len(of_gold.filter(outcome=outcome)) > 0
        assert set(page.tables["annotations"]["outcome"]) == {outcome}
    page = VIEWS["errors"].show(work, {"dataset": "sample-news", "system": "prior", "class": "wrong_link"})
    [place] = [links["Make this a remix"] for block in page.blocks if "Make this a remix" in (links := links_of(block))]
    left = follow(work, place).tables["waterfall"]["mentions"][-1]
    assert left == len(page.tables["errors"]) > 0


def test_what_there_is_not_is_refused_or_left_out_and_said(work: Workspace) -> None:
    for wanted in (Wanted("nope"), Wanted(type="Persn"), Wanted(by="isRare", part="x"), Wanted(document="nope")):
        with pytest.raises(UnknownName):
            list_wanted(work.store, wanted)
    with pytest.raises(UsageError, match="name the column"):
        list_wanted(work.store, Wanted(part="true"))
    for asked in ({"part": "true"}, {"by": "isRare", "part": "x"}, {"system": "prior"}, {"bar": "log:1"}):
        page = VIEWS["annotations"].show(work, asked)
        assert len(page.dropped) == 1 and page.tables["annotations"].height > 500


@pytest.mark.long
def test_labels_are_those_that_identifiers_do_not_say(tmp_path: Path) -> None:
    """An item has the label of what it stands for; a resource says its own."""
    work = build_labelled(tmp_path)
    assert work.kb is not None
    assert label_entities(work.kb, pl.Series([ITEM, RESOURCE, None])) == {ITEM: "Ada Lovelace"}
    assert label_entities(None, pl.Series([ITEM])) == {}


@pytest.mark.long
def test_classes_of_wikidata_are_called_by_the_name_that_is_known_on_all_pages(tmp_path: Path) -> None:
    """Acme is a wd:Q43229, which dbo:Organisation is too; of wd:Q99999999 nothing says the name."""
    text = "Acme met Rosa."
    lines = [
        f'<http://e.org/d#char=0,{len(text)}> a nif:Context ; nif:isString "{text}" .',
        "<http://e.org/d#char=0,4> a nif:Phrase ; nif:referenceContext <http://e.org/d#char=0,14> ; "
        'nif:beginIndex 0 ; nif:endIndex 4 ; nif:anchorOf "Acme" ; itsrdf:taIdentRef <http://e.org/Acme> ; '
        "itsrdf:taClassRef wd:Q43229 .",
        "<http://e.org/d#char=9,13> a nif:Phrase ; nif:referenceContext <http://e.org/d#char=0,14> ; "
        'nif:beginIndex 9 ; nif:endIndex 13 ; nif:anchorOf "Rosa" ; itsrdf:taIdentRef <http://e.org/Rosa> ; '
        "itsrdf:taClassRef wd:Q99999999 .",
    ]
    prefixes = [f"@prefix {name}: <{PREFIXES[name]}> ." for name in ("nif", "itsrdf", "wd")]
    (tmp_path / "own.ttl").write_text("\n".join([*prefixes, *lines]))
    work = open_workspace(tmp_path / "work")
    work.load([tmp_path / "own.ttl"])
    work.add_run("other", pl.DataFrame({"document": ["http://e.org/d"], "begin": [0], "end": [4], "entity": ["e:X"]}))
    by = "class:wd"
    listed = VIEWS["annotations"].show(work, {"dataset": "own", "by": by})
    [facets] = [block for block in listed.blocks if isinstance(block, Facets)]
    [parts] = [one for one in facets.facets if one.name == "class (wd)"]
    assert {(one.words, one.identifier) for one in parts.values} == {
        ("Organisation", "wd:Q43229"),
        ("wd:Q99999999", ""),
    }
    errors = render_page(VIEWS["errors"].show(work, {"dataset": "own", "by": by}), VIEWS["errors"], "")
    assert "Organisation <small>wd:Q43229</small>" in errors
    systems = VIEWS["systems"].show(work, {"datasets": "own", "by": by})
    [table] = [one for one in systems.blocks if isinstance(one, Table) and one.name == "systems"]
    assert ("Organisation", "wd:Q43229, 1 mention") in table.headings.values()
    built = VIEWS["builder"].show(work, {"on": "class", "of.class": "wd"})
    [form] = [block for block in built.blocks if isinstance(block, Form)]
    [field] = [one for one in form.fields if one.name == "in.class"]
    assert field.words == {"wd:Q43229": "Organisation – wd:Q43229"}


TYPED = {
    "Ada": (f"{DBR}Ada", "dbo:Person", ""),
    "Bob": ("", "dbo:Person", ""),
    "Cid": ("", "", ""),
    "Dan": (f"{DBR}Dan", "", ""),
    "Eve": (f"{DBR}Eve", "dbo:Person", "1"),
    "Eva": (f"{DBR}Eva", "", "2"),
    "Fox": (f"{DBR}Fox", "dbo:Mammal", ""),
}
"""Mentions with what they link to, their class, and the option that they are: of Eve and Eva one is enough."""


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A document whose mentions are typed or not, linked or NIL, and alternatives of each other."""
    text, lines = " ".join(TYPED), [f"@prefix {name}: <{PREFIXES[name]}> ." for name in ("nif", "itsrdf", "dbo", "rmx")]
    context = f"<http://e.org/d#char=0,{len(text)}>"
    lines.append(f'{context} a nif:Context ; nif:isString "{text}" .')
    for form, (entity, kind, option) in TYPED.items():
        begin = text.index(form)
        line = f"<http://e.org/d#char={begin},{begin + 3}> a nif:Phrase ; nif:referenceContext {context} ; "
        line += f'nif:beginIndex {begin} ; nif:endIndex {begin + 3} ; nif:anchorOf "{form}"'
        line += f" ; itsrdf:taIdentRef <{entity}>" if entity else ""
        line += f" ; itsrdf:taClassRef {kind}" if kind else ""
        line += f' ; rmx:group "g" ; rmx:option "{option}"' if option else ""
        lines.append(f"{line} .")
    folder = tmp_path_factory.mktemp("typed")
    (folder / "own.ttl").write_text("\n".join(lines))
    work = open_workspace(folder / "work")
    work.load([folder / "own.ttl"])
    work.enrich()
    return work


@pytest.mark.parametrize(
    ("asked", "forms"),
    [
        ({"type": "Person"}, ["Ada", "Bob", "Eve"]),
        ({"type": "NIL"}, ["Bob", "Cid"]),
        ({"type": "other"}, ["Fox"]),
        ({"type": "untyped"}, ["Dan", "Eva"]),
        (fields_of_measure("typePerson"), ["Ada", "Eve"]),
        (fields_of_measure("typeOther"), ["Fox"]),
        (fields_of_measure("typeNone"), ["Dan", "Eva"]),
        # Eva is an alternative of Eve, who has a class: so has their mention.
        ({"by": "type", "part": "unspecified"}, ["Cid", "Dan"]),
        ({"by": "is_nil", "part": "true"}, ["Bob", "Cid"]),
        ({"by": "is_nil", "part": "false"}, ["Ada", "Dan", "Eve", "Eva", "Fox"]),
        ({"by": "surface_form", "part": "Dan"}, ["Dan"]),
        ({"by": "dataset", "part": "own"}, [*TYPED]),
        ({"by": "type", "part": "http://dbpedia.org/ontology/Person"}, ["Ada", "Bob", "Eve"]),
    ],
    ids=str,
)
def test_lists_and_their_remixes_have_the_same_mentions_by_type_and_by_what_every_gold_has(
    typed: Workspace, asked: dict[str, str], forms: list[str]
) -> None:
    wanted = Wanted("own", **asked)
    rows = list_wanted(typed.store, wanted)
    assert rows["surface_form"].to_list() == forms
    page = VIEWS["builder"].show(typed, builder_parameters(typed.store, wanted))
    assert page.tables["waterfall"]["mentions"][-1] == count_mentions(rows)


def test_part_that_no_query_can_say_is_listed_and_no_other_remix_is_offered(typed: Workspace) -> None:
    page = VIEWS["annotations"].show(typed, {"by": "words", "part": "7"})
    assert page.dropped == [] and page.tables["annotations"].height == len(TYPED)
    assert all("Make this a remix" not in links_of(block) for block in page.blocks)


def test_types_of_errors_are_those_of_annotations(typed: Workspace) -> None:
    """A system that answers nothing misses each mention: of a type as many as the list has."""
    typed.add_run("silent", pl.DataFrame({"document": ["http://e.org/d"], "begin": [0], "end": [1], "entity": ["e:X"]}))
    asked = {"dataset": "own", "system": "silent", "show": "missed", "type": "Person"}
    errors = VIEWS["errors"].show(typed, asked).tables["errors"]
    listed = VIEWS["annotations"].show(typed, {"dataset": "own", "type": "Person"}).tables["annotations"]
    assert errors["surface_form"].to_list() == listed["surface_form"].to_list() == ["Ada", "Bob", "Eve"]


def test_no_two_facets_have_one_name(typed: Workspace) -> None:
    page = VIEWS["annotations"].show(typed, {"dataset": "own", "by": "type:coarse"})
    [facets] = [block for block in page.blocks if isinstance(block, Facets)]
    assert [one.name for one in facets.facets] == ["dataset", "type", "part of type", "entity"]
