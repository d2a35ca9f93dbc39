"""A dump of Wikidata, as small as can be."""

from __future__ import annotations

from pathlib import Path

import pytest

import remix.rdf.ntriples
from remix.errors import BadInput, UsageError
from remix.kb.sources import Choices
from remix.kb.sources.wikidata import SOURCE

from .conftest import Read, rows

WD, DBR = "http://www.wikidata.org/entity/", "http://dbpedia.org/resource/"
DUMP = """<http://wikiba.se/ontology#Dump> <http://schema.org/dateModified> "2022-12-14T23:10:00Z"^^<x:dateTime> .
<wd:Q1> <rdfs:label> "Zeta"@en .
<wd:Q1> <skos:prefLabel> "Zeta"@en .
<wd:Q1> <schema:name> "Zeta"@en .
<wd:Q1> <rdfs:label> "Zett"@de .
<wd:Q1> <rdfs:label> "Zêta"@fr .
<wd:Q1> <skos:altLabel> "Z."@en .
<wd:Q1> <schema:description> "a letter"@en .
<wd:Q1> <wdt:P31> <wd:Q5> .
<wd:Q1> <wdt:P50> <wd:Q2> .
<wd:Q1> <wdt:P1549> "Zetan"@en .
<wd:Q1> <wdt:P1549> "Zêtois"@fr .
<wd:Q1> <wdt:P569> "1900-01-01"^^<x:date> .
<wd:Q1> <wdt:P856> <http://example.org/> .
<wd:Q5> <wdt:P279> <wd:Q6> .
<wd:Q9> <owl:sameAs> <wd:Q1> .
<wd:P31> <rdfs:label> "instance of"@en .
<https://de.wikipedia.org/wiki/Zett_%28Buchstabe%29> <schema:about> <wd:Q1> .
<https://de.wikipedia.org/wiki/Zett_%28Buchstabe%29> <schema:name> "Zett (Buchstabe)"@de .
<https://en.wikipedia.org/wiki/Z%C3%AAta> <schema:about> <wd:Q1> .
<https://fr.wikipedia.org/wiki/Z> <schema:about> <wd:Q1> .
<https://en.wikivoyage.org/wiki/Z> <schema:about> <wd:Q1> .
<https://de.wikipedia.org/wiki/Y> <schema:about> <wd:Q2> .
"""
PREFIXES = {
    "<wd:": f"<{WD}",
    "<wdt:": "<http://www.wikidata.org/prop/direct/",
    "<rdfs:": "<http://www.w3.org/2000/01/rdf-schema#",
    "<skos:": "<http://www.w3.org/2004/02/skos/core#",
    "<schema:": "<http://schema.org/",
    "<owl:": "<http://www.w3.org/2002/07/owl#",
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    text = DUMP
    for prefix, namespace in PREFIXES.items():
        text = text.replace(prefix, namespace)
    file = tmp_path / "latest-truthy.nt"
    file.write_text(text)
    return file


def test_labels_and_aliases_of_items_are_forms_once_each(dump: Path, read: Read) -> None:
    staging = read(SOURCE, dump)
    assert rows(staging, "labels", "entity", "label") == [(f"{WD}Q1", "Zeta")]
    forms = rows(staging, "surface_forms", "surface_form", "entity", "source")
    assert forms == [
        ("Z.", f"{WD}Q1", "alias"),
        ("Zeta", f"{WD}Q1", "label"),
        ("Zêta", f"{DBR}Zêta", "sitelink"),
    ]


def test_languages_that_are_asked_for_are_read_too(dump: Path, read: Read) -> None:
    staging = read(SOURCE, dump, languages=("en", "de"))
    assert rows(staging, "labels", "label") == [("Zeta",)]
    assert ("Zett",) in rows(staging, "surface_forms", "surface_form")
    assert ("Zett (Buchstabe)",) in rows(staging, "surface_forms", "surface_form")


def test_statements_between_items_are_links_types_and_subclasses(dump: Path, read: Read) -> None:
    staging = read(SOURCE, dump)
    assert rows(staging, "links", "source", "target", "origin") == [
        (f"{WD}Q1", f"{WD}Q2", "statement"),
        (f"{WD}Q1", f"{WD}Q5", "statement"),
        (f"{WD}Q5", f"{WD}Q6", "statement"),
    ]
    assert rows(staging, "types", "entity", "class") == [(f"{WD}Q1", f"{WD}Q5")]
    assert rows(staging, "subclasses", "class", "parent") == [(f"{WD}Q5", f"{WD}Q6")]
    assert rows(staging, "redirects", "redirect", "target") == [(f"{WD}Q9", f"{WD}Q1")]


@pytest.mark.parametrize("size", [1 << 24, 200])
def test_sitelinks_name_the_item_in_the_first_language_that_has_one(
    dump: Path, read: Read, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In blocks of 200 bytes the sitelinks of Q1 are in several.
    monkeypatch.setattr(remix.rdf.ntriples.blocks_of_lines, "__defaults__", (size, None))
    staging = read(SOURCE, dump, languages=("en", "de"))
    de = "http://de.dbpedia.org/resource/"
    assert rows(staging, "sameas", "wikidata", "entity") == [
        (f"{de}Zett_(Buchstabe)", f"{DBR}Zêta"),
        (f"{WD}Q1", f"{DBR}Zêta"),
        (f"{WD}Q2", f"{de}Y"),
    ]


def test_part_says_where_it_is_from(dump: Path) -> None:
    (part,) = SOURCE.parts(str(dump), Choices())
    assert (part.name, part.date, part.licence) == ("latest-truthy.nt", "2022-12-14", "CC0 1.0")


def test_dump_that_says_nothing_on_items_is_refused(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.nt").write_text("<x:a> <x:b> <x:c> .\n")
    with pytest.raises(BadInput, match=r"a\.nt: has nothing on items of Wikidata"):
        read(SOURCE, tmp_path / "a.nt")
    with pytest.raises(UsageError, match="no such file"):
        SOURCE.parts(str(tmp_path / "b.nt"), Choices())
    with pytest.raises(UsageError, match="is a folder"):
        SOURCE.parts(str(tmp_path), Choices())


def test_demonyms_in_the_languages_asked_for_are_no_forms(dump: Path, read: Read) -> None:
    staging = read(SOURCE, dump)
    assert rows(staging, "demonyms", "key", "demonym", "entity", "source") == [("zetan", "Zetan", f"{WD}Q1", "P1549")]
    assert not {"Zetan", "Zêtois"} & {form for (form,) in rows(staging, "surface_forms", "surface_form")}
