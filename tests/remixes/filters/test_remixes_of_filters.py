"""Filters in the place of queries: remixes of what they keep, tables of what they keep, on small and on real data."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import EmptySelection, NotAllowed, QueryError, UsageError
from remix.formats import read
from remix.remixes import build
from remix.remixes.filters import links_kept_by, open_filters
from remix.remixes.filters.services import Surroundings
from remix.remixes.manifest import read_manifest
from remix.scoring import evaluate
from remix.store import Store
from remix.store.queries import find
from remix.workspace import Workspace
from tests.commands import Done, run_verb
from tests.remixes.filters.files import (
    OF_CLASS,
    PERSONS,
    PLACES,
    PREFIXES,
    ask_jena,
    query,
    select_as_gerbil,
    turtle,
    write,
)

DBR = "http://dbpedia.org/resource/"
ADDRESS = "http://dbpedia.org/sparql"


def of(*names: str) -> list[str]:
    return [f"{DBR}{name}" for name in names]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Filters of which Persons keeps Anna, Michael and one whom nobody mentions, Named Michael and Apple."""
    (tmp_path / "kb.ttl").write_text(turtle(of("Anna_Kendrick", "Michael_Owen", "Nobody"), of("Paris")))
    (tmp_path / "ranks_0").write_text("".join(f"{one} 1\n" for one in of("Michael_Owen", "Apple_Inc.")))
    return write(
        tmp_path / "own.properties",
        {
            "1": query("Asked", ADDRESS),
            "file.1": query("The Persons", "kb.ttl"),
            "pop.1": query("Ranked", "ranks", "0"),
            "combinator.1": query("Either", "or", "The persons,Ranked"),
        },
        whitelist="http://dbpedia.org/",
    )


@pytest.mark.long
def test_the_remix_of_a_filter_has_the_mentions_of_what_it_keeps(
    small_store: Store, file: Path, tmp_path: Path
) -> None:
    work = Workspace(small_store.folder)
    made = work.build(f"{file}#the persons", to=tmp_path / "to")
    assert made.name == "The-Persons"
    gold = made.frames.annotations.filter(pl.col("ignorable").is_null())
    # Paris and the others of their documents stay as ignorable mentions.
    assert {*gold["surface_form"]} == {"Anna", "Michael"}
    assert made.frames.annotations.filter(ignorable="dropped").height > 0
    written = tmp_path / "to" / "The-Persons.ttl"
    assert {*read(written).frames.gold().annotations["surface_form"]} == {"Anna", "Michael"}
    said = read_manifest(written)
    assert said is not None and said.parameters == {}
    kept = links_kept_by(said.query)
    assert kept is not None and kept.to_list() == of("Anna_Kendrick", "Michael_Owen")
    assert "kb.ttl: select distinct ?v" in said.query
    assert str(tmp_path) not in written.with_suffix(".manifest.ttl").read_text()
    assert links_kept_by(find("persons").text) is None
    # Its query says the same without the filters, and the same bytes come of it.
    again = build(small_store, find(said.query), name="The-Persons")
    assert again.triples.equals(made.triples)
    assert work.build(work.open_filters(file).find("The Persons")).triples.equals(made.triples)


def test_a_filter_is_asked_and_shown_as_a_query_is(small_store: Store, file: Path, tmp_path: Path) -> None:
    work = Workspace(small_store.folder)
    kept = work.build(f"{file}#the persons")
    rows = work.query(f"{file}#the persons").table
    # One mention of each of two persons: what the remix keeps, and no more.
    assert len(rows) == 2
    assert {*rows["annotation"]} == {*kept.frames.gold().annotations["annotation"]}
    assert work.query(work.open_filters(file).find("The Persons")).table.equals(rows)
    shown = work.show(f"{file}#the persons")
    assert shown.startswith("The Persons: a filter (query) of own.properties\n\nasks kb.ttl:\nselect distinct ?v")
    assert "combines by or:\nThe persons, Ranked" in work.show(f"{file}#Either")
    whole = work.show(f"{file}#the persons", construct=True)
    assert whole.startswith("PREFIX") and "CONSTRUCT" in whole and "Michael_Owen" in whole and "Paris" not in whole
    with pytest.raises(NotAllowed, match="dbpedia.org"):
        work.query(f"{file}#Asked")
    with pytest.raises(NotAllowed, match="dbpedia.org"):
        work.show(f"{file}#Asked", construct=True)
    # A definition asks nobody, and another service may stand in the place of the one that the file names.
    assert ADDRESS in work.show(f"{file}#Asked")
    asked = work.query(f"{file}#Asked", service=f"{ADDRESS}={tmp_path / 'kb.ttl'}").table
    assert asked.equals(rows)


def test_a_filter_sees_the_datasets_that_are_named(small_store: Store, file: Path) -> None:
    work = Workspace(small_store.folder)
    both = work.build(f"{file}#Ranked").frames.gold().annotations["surface_form"]
    assert {*both} == {"Michael", "Apple"}
    assert {*work.build(f"{file}#Ranked", dataset="posts").frames.gold().annotations["surface_form"]} == {"Apple"}
    with pytest.raises(EmptySelection, match="filter 'The Persons' of .* keeps none of 7 entities"):
        work.build(f"{file}#The Persons", dataset="posts")
    with pytest.raises(NotAllowed, match="--allow-service"):
        work.build(f"{file}#Asked")


def test_tables_of_filters(small_store: Store, file: Path) -> None:
    work = Workspace(small_store.folder)
    rows = work.filters(file, show="kept")
    # news: eight mentions of as many entities; posts: eight, one of them NIL, without an entity.
    assert rows.filter(filter="Either").drop("filter", "share").rows() == [
        ("news", 8, 2, 8, 2),
        ("posts", 7, 1, 8, 1),
        ("all", 15, 3, 16, 3),
    ]
    assert rows.filter(filter="Either")["share"].to_list() == [2 / 8, 1 / 8, 3 / 16]
    assert (
        rows.filter(filter="Asked").select("kept_entities", "kept_annotations", "share").null_count().row(0) == (3,) * 3
    )
    pairs = work.filters(file, show="pairs", filter=["The Persons", "ranked"])
    # Of 15 entities Anna and Michael are persons, Michael and Apple ranked: one in both, three in either.
    assert pairs.rows() == [("The Persons", "Ranked", 2, 2, 1, 1, 1, 12, 1 / 3)]
    marks = work.filters(file, show="entities", filter=["Ranked", "The Persons"], dataset="news")
    assert marks.filter(pl.col("The Persons")).rows() == [
        (f"{DBR}Anna_Kendrick", 1, False, True),
        (f"{DBR}Michael_Owen", 1, True, True),
    ]
    assert work.filters(file, show="definitions")["text"].to_list() == [PERSONS, PERSONS, "0", "The persons, Ranked"]
    with pytest.raises(UsageError, match="nothing to be compared with"):
        work.filters(file, show="pairs", filter="Ranked")
    with pytest.raises(UsageError, match="did you mean 'pairs'"):
        work.filters(file, show="pair")


def test_filters_from_the_command_line(small_store: Store, file: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> Done:
        return run_verb(*arguments, "-w", str(small_store.folder), folder=tmp_path)

    shown = run("filters", file.name, "-o", "json", "--service", f"{ADDRESS}=kb.ttl")
    assert shown.returncode == 0, shown.stderr
    counts = {(row["filter"], row["dataset"]): row["kept_annotations"] for row in json.loads(shown.stdout)}
    assert counts["Asked", "all"] == counts["The Persons", "all"] == 2
    refused = run("filters", file.name)
    assert refused.returncode == 0
    assert f"not asked: 'Asked' of own.properties asks {ADDRESS}, which a filter may not by itself" in refused.stderr
    made = run("build", "--query", f"{file.name}#Asked", "--service", f"{ADDRESS}=kb.ttl", "-o", "json")
    assert made.returncode == 0, made.stderr
    assert [row["kept"] for row in json.loads(made.stdout)] == [2, 0, 2]
    assert (tmp_path / "Asked.ttl").is_file()
    refused = run("query", f"{file.name}#Asked")
    assert refused.returncode == 2
    assert f"asks {ADDRESS}, which a filter may not by itself: --allow-service" in refused.stderr
    asked = run("query", f"{file.name}#Asked", "--service", f"{ADDRESS}=kb.ttl", "-o", "json")
    assert len(json.loads(asked.stdout)) == 2
    shown = run("show", f"{file.name}#Asked")
    assert shown.stdout.startswith(f"Asked: a filter (query) of {file.name}")
    with pytest.raises(QueryError, match="`remix build`, `query`, `show` and studies take one"):
        find(f"{file.name}#Asked")
    file.write_text(file.read_text().replace("values ?v {##}", "values ?v {#}"))
    wrong = run("filters", file.name)
    assert wrong.returncode == 2
    assert wrong.stderr.count("has no '##'") == 2 and "Traceback" not in wrong.stderr


def nif(file: Path, links: dict[int, str]) -> Path:
    """Write a document of letters, some of which are mentions with these links."""
    head = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    head += "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .\n"
    phrases = "".join(
        f"<http://x/d#{at}> a nif:Phrase ; nif:referenceContext <http://x/d> ; nif:beginIndex {at} ; "
        f"nif:endIndex {at + 1} ; itsrdf:taIdentRef <{link}> .\n"
        for at, link in links.items()
    )
    file.write_text(f'{head}<http://x/d> a nif:Context ; nif:isString "abcdef" .\n{phrases}')
    return file


@pytest.mark.long
def test_answers_count_as_the_documentation_says(tmp_path: Path) -> None:
    # Gold: a is Ada, a person, b is Rome, a place. The system takes a for Oslo, a place, and b for Bob, a person, finds
    # Bob in c and Rome in d, where gold has nothing.
    gold = nif(tmp_path / "gold.ttl", {0: f"{DBR}Ada", 1: f"{DBR}Rome"})
    answers = nif(tmp_path / "s.ttl", {0: f"{DBR}Oslo", 1: f"{DBR}Bob", 2: f"{DBR}Bob", 3: f"{DBR}Rome"})
    (tmp_path / "kb.ttl").write_text(turtle(of("Ada", "Bob"), of("Rome", "Oslo")))
    file = write(tmp_path / "f.properties", {"file.1": query("Persons", "kb.ttl")})
    work = Workspace(tmp_path / ".remix")
    work.load(gold)
    persons = work.open_filters(file)["Persons"]
    asked: dict[str, str] = {"task": "A2KB", "match": "strong"}

    def row(rows: pl.DataFrame) -> dict[str, object]:
        return rows.filter(column="", average="micro").row(0, named=True)

    # The extension: Bob in b and in c are wrong, Ada is missed; neither Oslo nor Rome is looked at.
    sides = [persons.keep(read(one, name="x").frames) for one in (gold, answers)]
    assert [side.annotations.height for side in sides] == [1, 2]
    theirs = row(evaluate(sides[0], {"s": sides[1]}, **asked))
    assert (theirs["tp"], theirs["fp"], theirs["fn"]) == (0, 2, 1)
    # The remix: a, c and d are wrong, b is ignored; in scope a and c are, as Rome is no person.
    work.build(persons, to=tmp_path / "to")
    ours = row(work.evaluate(tmp_path / "to" / "Persons.ttl", run=f"s={answers}", **asked).rows)
    assert (ours["tp"], ours["fp"], ours["fn"], ours["ignored"]) == (0, 3, 1, 1)
    # With Ada found as well one is right of three, one of two (Rome is no person), one of one.
    better = nif(tmp_path / "t.ttl", {0: f"{DBR}Ada", 1: f"{DBR}Bob", 2: f"{DBR}Bob", 3: f"{DBR}Rome"})
    ours = row(work.evaluate(tmp_path / "to" / "Persons.ttl", run=f"t={better}", **asked).rows)
    assert (ours["precision"], ours["precision_in_scope"], ours["precision_on_mention"]) == (1 / 3, 1 / 2, 1)


def test_links_are_found_however_data_write_them(tmp_path: Path) -> None:
    # One links to Wikipedia, one to DBpedia with escapes: the filter knows them in canonical form alone.
    links = ["https://en.wikipedia.org/wiki/Anna_Kendrick", f"{DBR}Andr%C3%A9_Weil", f"{DBR}Paris"]
    nif(tmp_path / "gold.ttl", dict(enumerate(links)))
    (tmp_path / "kb.ttl").write_text(turtle(of("Anna_Kendrick", "André_Weil")))
    work = Workspace(tmp_path / ".remix")
    work.load(tmp_path / "gold.ttl")
    filters = write(tmp_path / "f.properties", {"1": query("Persons", "kb.ttl")}, whitelist="dbpedia.org")
    made = work.build(f"{filters}#Persons")
    assert made.frames.gold().annotations["begin"].sort().to_list() == [0, 1]


@pytest.mark.long
def test_persons_of_the_knowledge_base_are_those_of_the_shipped_query(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    # The sample's classes come from its knowledge base, so that both ask for the same.
    work = sample_workspace()
    file = write(tmp_path / "f.properties", {"1": query("A", ADDRESS), "2": query("B", ADDRESS, PLACES)})
    for name, shipped in (("A", "persons"), ("B", "places")):
        made = work.build(f"{file}#{name}", service=f"{ADDRESS}=kb").frames.gold().annotations
        assert {*made["given"]} == {*work.build(shipped).frames.gold().annotations["given"]}


CLASSES = {
    "Persons": ("http://xmlns.com/foaf/0.1/Person", "Q215627", "mnt:Person"),
    "Places": ("http://dbpedia.org/ontology/Place", "Q27096213", "mnt:Place"),
    "Organizations": ("http://dbpedia.org/ontology/Organisation", "Q43229", "mnt:Organisation"),
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


@pytest.mark.long
def test_real_data_are_filtered_as_the_extension_would_but_for_its_defects(real_data: Path, tmp_path: Path) -> None:
    # The extension's file asks DBpedia for these classes by 25; the slice has those of Wikidata and of EMNLP 2019.
    pairs = [(row["wikidata_iri"], row["dbpedia_iri"]) for row in rows_of(real_data / "kb" / "sameas.tsv.gz")]
    same = dict(sorted(pairs, reverse=True))
    lines = {
        f"<{entity}> a <{kind}> .\n"
        for row in rows_of(real_data / "kb" / "types.tsv.gz")
        for kind, *ours in CLASSES.values()
        if row["type_iri"].removeprefix("http://www.wikidata.org/entity/") in ours
        and (entity := same.get(row["entity_iri"], row["entity_iri"])).startswith(DBR)
    }
    (tmp_path / "kb.ttl").write_text("".join(sorted(lines)), encoding="utf-8")
    chunk, whitelist = 25, ("http://dbpedia.org/",)
    file = write(
        tmp_path / "f.properties",
        {str(at): query(name, ADDRESS, OF_CLASS % f"<{CLASSES[name][0]}>") for at, name in enumerate(CLASSES, start=1)},
        chunk=chunk,
        whitelist=whitelist[0],
    )
    filters = open_filters(file, Surroundings(cache=tmp_path / "kept"), service=[f"{ADDRESS}=kb.ttl"])
    store = ox.Store()
    store.load((tmp_path / "kb.ttl").read_bytes(), ox.RdfFormat.TURTLE)
    found = {}
    for dataset in ("kore50/kore50-nif.ttl", "n3/Reuters-128.ttl.gz", "n3/RSS-500.ttl.gz"):
        frames = read(real_data / "nif" / dataset, name="any").frames
        entities = frames.links["entity_as_given"].to_list()
        for name, filter in filters.items():
            ask = ask_jena(store, PREFIXES, filter.definition.text)
            ours = {*filter.select(entities)}
            assert ours == select_as_gerbil(entities, whitelist, 0, ask, loses_last=False, hides_failures=False)
            theirs = select_as_gerbil(entities, whitelist, chunk, ask, loses_last=True, hides_failures=False)
            assert theirs <= ours
            found[Path(dataset).name.split(".")[0], name] = (len(ours), len(ours - theirs))
    # Entities kept, and of them those that the extension loses, as each stands last in a chunk and nowhere else.
    assert found == {
        ("kore50-nif", "Persons"): (67, 1),
        ("kore50-nif", "Places"): (13, 0),
        ("kore50-nif", "Organizations"): (36, 3),
        ("Reuters-128", "Persons"): (33, 2),
        ("Reuters-128", "Places"): (90, 2),
        ("Reuters-128", "Organizations"): (217, 6),
        ("RSS-500", "Persons"): (139, 2),
        ("RSS-500", "Places"): (73, 2),
        ("RSS-500", "Organizations"): (205, 5),
    }
