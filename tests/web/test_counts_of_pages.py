"""One number on all pages: mentions of a type, of an error, of a part, and the remixes that are made of them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl

import polars as pl
import pytest

from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.names import DBO, DBR, PREFIXES, shorten
from remix.reports.sentences import AGREEMENT, ALL_MISS, NO_MENTION
from remix.runs.judgements import SEVERAL
from remix.scoring.errors import TAXONOMIES
from remix.store.queries import Query
from remix.vocabularies import COARSE_CLASSES
from remix.web.page import VIEWS, Facets, Note, Page, Passages, Table
from remix.workspace import Workspace, open_workspace
from tests.pages import follow

MENTIONS = {
    "Ada": (f"{DBR}Ada", ["dbo:Person"], ""),
    "Bob": ("", ["dbo:Person"], ""),
    "Cid": ("", [], ""),
    "Dan": (f"{DBR}Dan", ["rmx:OTHER"], ""),
    "Eve": (f"{DBR}Eve", ["dbo:Person"], "1"),
    "Eva": (f"{DBR}Eva", [], "2"),
    "Iraq": (f"{DBR}Iraq", ["dbo:Place", "dbo:Organisation"], ""),
    "Rome": (f"{DBR}Rome,_Italy", [], ""),
    "Kent": (f"{DBR}Kent", ["schema:Place"], ""),
    "Jaws": (f"{DBR}Jaws", ["dbo:Film"], ""),
}
"""Mentions with what they link to, their classes, and the option that they are: of Eve and Eva one is enough.

The knowledge base has Rome,_Italy as another name of Rome, which is a place. So there are 3 persons (Ada, Bob, and the
mention of Eve and Eva), 3 places (Iraq, Rome, Kent), an organisation (Iraq), 2 that are NIL (Bob, Cid), another
(Jaws), and 2 without a type (Dan, whose class is what a tool calls him, and the mention of Eve and Eva).
"""
TYPES = {"Person": 3, "Place": 3, "Organisation": 1, "NIL": 2, "other": 1, "untyped": 2}
TEXT = f"{' '.join(MENTIONS)} and Zoe."
ANSWERS = {
    "good": {"Ada": f"{DBR}Ada", "Eva": f"{DBR}Eva", "Iraq": f"{DBR}Iraq", "Bob": ""},
    "bad": {
        "Ada": f"{DBR}Ada_(film)",
        "Bob": f"{DBR}Bob",
        "Dan": "",
        "Eve": f"{DBR}Eva_(film)",
        "Iraq": f"{DBR}Iran",
        "Rome": f"{DBR}Rome",
        "Kent": f"{DBR}Kent",
        "Zoe": f"{DBR}Zoe",
    },
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A document whose mentions are of several types, NIL, or alternatives, with two systems and a knowledge base."""
    folder = tmp_path_factory.mktemp("counts")
    names = ("nif", "itsrdf", "dbo", "schema", "rmx")
    lines = [f"@prefix {name}: <{PREFIXES[name]}> ." for name in names]
    context = f"<http://e.org/d#char=0,{len(TEXT)}>"
    lines.append(f'{context} a nif:Context ; nif:isString "{TEXT}" .')
    for form, (entity, kinds, option) in MENTIONS.items():
        begin, end = (begin := TEXT.index(form)), begin + len(form)
        line = f"<http://e.org/d#char={begin},{end}> a nif:Phrase ; nif:referenceContext {context} ; "
        line += f'nif:beginIndex {begin} ; nif:endIndex {end} ; nif:anchorOf "{form}"'
        line += f" ; itsrdf:taIdentRef <{entity}>" if entity else ""
        line += "".join(f" ; itsrdf:taClassRef {kind}" for kind in kinds)
        line += f' ; rmx:group "g" ; rmx:option "{option}"' if option else ""
        lines.append(f"{line} .")
    (folder / "own.ttl").write_text("\n".join(lines))
    tables = {
        "surface_forms": f"surface_form\tentity_iri\tcount\tsource\nRome\t{DBR}Rome\t3\tx\n",
        "redirects": f"redirect_iri\ttarget_iri\tsource\n{DBR}Rome,_Italy\t{DBR}Rome\tx\n",
        "types": f"entity_iri\tclass_iri\tsource\n{DBR}Rome\t{DBO}Place\tx\n",
    }
    for name, text in tables.items():
        (folder / f"{name}.tsv").write_text(text)
    work = open_workspace(folder / "work")
    work.load([folder / "own.ttl"])
    work.build_kb([("tables", str(folder))], name="own")
    work.enrich()
    for name, answers in ANSWERS.items():
        places = [(TEXT.index(form), TEXT.index(form) + len(form)) for form in answers]
        frame = pl.DataFrame(places, schema=["begin", "end"], orient="row").with_columns(
            document=pl.lit("http://e.org/d")
        )
        frame = frame.with_columns(entity=pl.Series([*answers.values()]).replace("", None))
        work.add_run(name, frame, on="own")
    return work


def facet_of(page: Page, name: str) -> dict[str, int]:
    [facets] = [block.facets for block in page.blocks if isinstance(block, Facets | Passages)]
    return {one.words: one.number for facet in facets if facet.name == name for one in facet.values}


def test_types_have_one_number_on_all_pages(work: Workspace) -> None:
    assert facet_of(VIEWS["annotations"].show(work, {"dataset": "own"}), "type") == TYPES
    for system in ANSWERS:
        of_errors = VIEWS["errors"].show(work, {"dataset": "own", "system": system, "show": "all"})
        assert facet_of(of_errors, "type") == TYPES, system
        asked = {"dataset": "own", "system": system}
        assert facet_of(VIEWS["annotations"].show(work, asked), "type") == TYPES, system


@pytest.mark.long
def test_coarse_types_that_errors_and_scores_are_counted_by_are_those_of_the_filters(work: Workspace) -> None:
    """Each part of the column has the mentions that the filter of its name leaves, and one remix."""
    filtered = {name: count for name, count in TYPES.items() if name.lower() in COARSE_CLASSES and count}
    listed, errors = {}, {}
    for name in filtered:
        part = {"by": "type:coarse", "part": COARSE_CLASSES[name.lower()]}
        of_list = VIEWS["annotations"].show(work, {"dataset": "own", **part})
        asked = {"dataset": "own", "system": "bad", "show": "all", "by": "type:coarse", "slice": part["part"]}
        listed[name], errors[name] = of_list.tables["annotations"].height, VIEWS["errors"].show(work, asked)
        assert remix_of(work, of_list) == listed[name]
    assert listed == {name: page.tables["errors"].height for name, page in errors.items()} == filtered
    counted = VIEWS["errors"].show(work, {"dataset": "own", "system": "good", "by": "type:coarse"})
    assert counted.tables["classes of errors"]["system"].to_list() == ["good", "bad"]  # that of the page first
    [facets] = [block.facets for block in counted.blocks if isinstance(block, Passages)]
    assert [facet.name for facet in facets].count("type") == 1
    parts = counted.tables["errors by type:coarse"]["type:coarse"]
    short = {shorten(COARSE_CLASSES[name.lower()]): name for name in filtered}
    assert {*parts} == {*short, "unspecified", NO_MENTION}
    [table] = [one for one in counted.blocks if isinstance(one, Table) and one.name == "errors by type:coarse"]
    assert table.labels == short and table.title == "errors by type"


def remix_of(work: Workspace, page: Page) -> int | None:
    """Return how many mentions the remix has that a page of errors offers, None where it offers none."""
    links = [block.links for block in page.blocks if isinstance(block, Note)]
    places = [one["Make this a remix"] for one in links if "Make this a remix" in one]
    return follow(work, places[0]).tables["waterfall"]["mentions"][-1] if places else None


CLASSES = [name for name in TAXONOMIES["neleval"].classes if name != "extra"]


@pytest.mark.long
@pytest.mark.parametrize("system", ANSWERS)
def test_remix_of_errors_has_the_mentions_of_each_facet(work: Workspace, system: str) -> None:
    """Of each outcome with each type, each class of errors, and each part of three columns."""
    judged = {by: work.judgements("own", by=by).mentions["slice"] for by in ("type:dbo", "type:coarse", "is_nil")}
    slices = {by: values.drop_nulls().str.split(SEVERAL).explode().unique().sort() for by, values in judged.items()}
    parts = [{"by": by, "slice": name} for by, names in slices.items() for name in names]
    asked = [
        *({"show": show, "type": kind} for show in ("errors", "correct", "wrong", "missed") for kind in ("", *TYPES)),
        *({"class": name, "type": kind} for name in CLASSES for kind in ("", *TYPES)),
        *({"show": show, **part} for show in ("errors", "correct") for part in parts),
    ]
    other = next(name for name in ANSWERS if name != system)
    of_both = [
        *({"show": show, "type": kind} for show in ("errors", "correct") for kind in ("", *TYPES)),
        *(
            {"show": show, "agreement": said, "of": of}
            for show in ("errors", "correct", "all")
            for said in (*AGREEMENT, ALL_MISS)
            for of in ("", system)
        ),
    ]
    asked += [one | {"other": other} for one in of_both] + [{"agreement": ALL_MISS, "show": "errors"}]
    seen = 0
    for one in asked:
        page = VIEWS["errors"].show(work, {"dataset": "own", "system": system, **{k: v for k, v in one.items() if v}})
        if page.dropped:  # no such error, so that there is no list
            continue
        rows = page.tables["errors"]
        left = remix_of(work, page)
        assert left is not None, one
        assert left == len(rows.filter(pl.col("gold").is_not_null())), one
        seen += left
    assert seen > 20


@pytest.mark.long
def test_remix_of_what_systems_agree_on_has_the_documents_that_they_failed_on(tmp_path: Path) -> None:
    """All fail on the second of two documents, in each of which two mentions are: in no system these are right, either.

    Of the first 'half' has the second mention right, and the others none.
    """
    right = {"begin": 4, "end": 7, "mention": "Bob", "entity": "e:B"}
    wrong = {"begin": 0, "end": 3, "mention": "Ada", "entity": "e:X"}
    gold = [
        {"document": name, "text": "Ada Bob", "begin": begin, "end": begin + 3, "entity": entity}
        for name in ("d", "e")
        for begin, entity in ((0, "e:A"), (4, "e:B"))
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)))
    work = open_workspace(tmp_path / "work")
    work.load([tmp_path / "gold.jsonl"])
    for name, answers in (("none", [wrong]), ("silent", []), ("half", [wrong, right])):
        lines = [{"document": "d", "answers": answers}, {"document": "e", "error": "late"}]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        work.add_run(name, tmp_path / f"{name}.jsonl", on="gold")
    for agreement, other, number in (
        (ALL_MISS, "", 3),
        ("neither right", "silent", 4),
        ("neither right", "half", 3),
        ("only the second right", "half", 1),
    ):
        asked = {"dataset": "gold", "system": "none", "other": other, "agreement": agreement, "show": "all"}
        page = VIEWS["errors"].show(work, {name: said for name, said in asked.items() if said})
        assert page.tables["errors"]["gold"].count() == number == remix_of(work, page), agreement


@pytest.mark.long
def test_errors_lead_to_other_datasets_that_have_more_of_a_type(tmp_path: Path) -> None:
    """The first dataset has one person, the second two, the third three that nobody answered."""
    work = open_workspace(tmp_path / "work")
    for number, name in enumerate(("one", "two", "three"), 1):
        text = " ".join(["Ada"] * number)
        documents = pl.DataFrame({"document": [f"urn:{name}"], "text": [text]})
        places = [4 * nth for nth in range(number)]
        mentions = pl.DataFrame({"annotation": [f"urn:{name}#{at}" for at in places], "begin": places})
        mentions = mentions.with_columns(document=pl.lit(f"urn:{name}"), end=pl.col("begin") + 3)
        links = mentions.select("annotation", entity=pl.lit(f"{DBR}Ada"))
        classes = pl.DataFrame({"annotation": mentions["annotation"], "class": [f"{DBO}Person"] * number})
        frames = Frames.of(documents=documents, annotations=mentions, links=links, classes=classes)
        write_frames(frames, tmp_path / f"{name}.nt")
        work.load([tmp_path / f"{name}.nt"])
        if name != "three":
            none = pl.DataFrame({"document": [f"urn:{name}"], "begin": [0], "end": [3], "entity": [f"{DBR}Bob"]})
            work.add_run("bad", none, on=name)
    page = VIEWS["errors"].show(work, {"dataset": "one", "system": "bad", "type": "Person"})
    [note] = [one for one in page.blocks if isinstance(one, Note) and "more of them" in one.text]
    assert note.text == ("Of Person one has 1 mention. 1 of the datasets that bad answered has more of them, the most:")
    assert [*note.links] == ["two (2)"]
    led = follow(work, note.links["two (2)"])
    assert led.title == "Errors of bad on two" and led.tables["errors"].height == 2
    other = VIEWS["errors"].show(work, {"dataset": "two", "system": "bad", "type": "Person"})
    assert not any(isinstance(one, Note) and "more of them" in one.text for one in other.blocks)


def test_remix_of_an_entity_has_the_links_in_whichever_way_files_write_them(tmp_path: Path) -> None:
    """A list compares entities in one form: an article of Wikipedia is the resource of DBpedia that it is about."""
    work = open_workspace(tmp_path / "work")
    ways = {"urn:a": f"{DBR}Ada_Lovelace", "urn:b": "https://en.wikipedia.org/wiki/Ada_Lovelace", "urn:c": f"{DBR}Bob"}
    documents = pl.DataFrame({"document": ["urn:d"], "text": ["Ada Ada Bob"]})
    mentions = pl.DataFrame({"annotation": [*ways], "begin": [0, 4, 8]})
    mentions = mentions.with_columns(document=pl.lit("urn:d"), end=pl.col("begin") + 3)
    links = pl.DataFrame({"annotation": [*ways], "entity": [*ways.values()]})
    write_frames(Frames.of(documents=documents, annotations=mentions, links=links), tmp_path / "own.nt")
    work.load([tmp_path / "own.nt"])
    for asked in ({"dataset": "own"}, {}):
        page = VIEWS["annotations"].show(work, {**asked, "entity": f"{DBR}Ada_Lovelace"})
        assert remix_of(work, page) == len(page.tables["annotations"]) == 2


def test_numbers_of_one_system_are_without_what_another_alone_answered(work: Workspace) -> None:
    """Of 'good' there are the mentions of gold; 'bad' has an answer besides where gold has none."""
    asked = {"dataset": "own", "system": "good", "other": "bad"}
    outcomes = ("correct", "wrong", "missed", "ignored")
    for of, height in (("good", 9), ("bad", 10)):
        page = VIEWS["errors"].show(work, {**asked, "of": of, "show": "all"})
        counts = facet_of(page, "show")
        assert counts["all"] == sum(counts.get(name, 0) for name in outcomes) == page.tables["errors"].height == height


def test_remix_of_a_list_over_all_datasets_has_each_edition_of_a_text(tmp_path: Path) -> None:
    """Two datasets of one text, which gives each a mention: the list has both, and so has the remix."""
    work = open_workspace(tmp_path / "work")
    for name in ("one", "two"):
        documents = pl.DataFrame({"document": [f"urn:{name}"], "text": ["Ada."]})
        mentions = pl.DataFrame(
            {"annotation": [f"urn:{name}#0"], "document": [f"urn:{name}"], "begin": [0], "end": [3]}
        )
        mentions = mentions.with_columns(surface_form=pl.lit("Ada"))
        write_frames(Frames.of(documents=documents, annotations=mentions), tmp_path / f"{name}.nt")
        work.load([tmp_path / f"{name}.nt"])
    assert len(VIEWS["annotations"].show(work, {}).tables["annotations"]) == 2
    for asked in ({}, {"find": "ada"}, {"by": "dataset", "part": "one"}):
        page = VIEWS["annotations"].show(work, asked)
        assert remix_of(work, page) == len(page.tables["annotations"]) == (1 if "by" in asked else 2)


@pytest.mark.long
@pytest.mark.parametrize("said", [True, False])
def test_remix_of_what_has_no_value_has_no_alternative_that_has_one(tmp_path: Path, said: bool) -> None:
    """Of two alternatives on one span one has a type: the mention has one, whether the file says that they are one."""
    work = open_workspace(tmp_path / "work")
    documents = pl.DataFrame({"document": ["urn:d"], "text": ["Ada Bob Cid"]})
    places = {"urn:a1": 0, "urn:a2": 0, "urn:b": 4, "urn:c": 8}
    mentions = pl.DataFrame({"annotation": [*places], "begin": [*places.values()]})
    mentions = mentions.with_columns(document=pl.lit("urn:d"), end=pl.col("begin") + 3)
    # What reading makes of annotations on one span is not written: the group of the first of them.
    alike = pl.col("annotation").str.starts_with("urn:a")
    group = pl.when(alike).then(pl.lit("g" if said else "urn:a1"))
    mentions = mentions.with_columns(group=group, option=pl.when(alike).then("annotation"))
    links = mentions.select("annotation", entity=pl.format("{}{}", pl.lit(DBR), pl.col("annotation").str.slice(4)))
    classes = pl.DataFrame({"annotation": ["urn:a1", "urn:b"], "class": [f"{DBO}Person"] * 2})
    write_frames(
        Frames.of(documents=documents, annotations=mentions, links=links, classes=classes), tmp_path / "own.nt"
    )
    assert ("group" in (tmp_path / "own.nt").read_text()) == said
    work.load([tmp_path / "own.nt"])
    work.enrich()
    page = VIEWS["annotations"].show(work, {"dataset": "own", "by": "type", "part": "unspecified"})
    assert page.tables["annotations"]["surface_form"].to_list() == ["Cid"] and remix_of(work, page) == 1


def test_remix_of_errors_says_to_whose_answers_it_is_fitted_as_build_says(work: Workspace) -> None:
    page = VIEWS["errors"].show(work, {"dataset": "own", "system": "bad"})
    [place] = [
        one.links["Make this a remix"]
        for one in page.blocks
        if isinstance(one, Note) and "Make this a remix" in one.links
    ]
    parameters = dict(parse_qsl(place.partition("?")[2]))
    told = [one.text for one in follow(work, place).blocks if isinstance(one, Note) and "what came of" in one.text]
    assert told == [
        "it was selected by what came of the run 'bad': its scores on it are fitted to its own answers; "
        "--without bad selects without it"
    ]
    assert told[0] in work.build(Query.parse(parameters["sparql"], "mine"), dataset=["own"]).notes


def test_page_says_what_its_filters_count_where_they_do_not_add_up(work: Workspace) -> None:
    """Of both systems the errors and what is correct are more than the mentions; of one they are all of them."""
    both = VIEWS["errors"].show(work, {"dataset": "own", "system": "bad", "other": "good", "show": "all"})
    counts = facet_of(both, "show")
    assert counts["errors"] + counts["correct"] > counts["all"]
    said = "counts in both numbers"
    assert any(said in block.text for block in both.blocks if isinstance(block, Note))
    one = VIEWS["errors"].show(work, {"dataset": "own", "system": "bad", "show": "all"})
    counts = facet_of(one, "show")
    assert (
        counts["errors"] + counts["correct"] == counts["wrong"] + counts["missed"] + counts["correct"] == counts["all"]
    )
    assert not any(said in block.text for block in one.blocks if isinstance(block, Note))
