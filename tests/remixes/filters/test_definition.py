"""What is read of a filters file, and that all that is wrong in one is told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.errors import BadInput, UnknownName, UsageError
from remix.remixes.filters.definition import FilterFaults, name_one, read_filters, split_reference
from remix.remixes.filters.properties import fill_in, parse_properties
from tests.remixes.filters.files import HEAD, PERSONS, PLACES, query, write


def test_properties_are_read_as_java_spells_them() -> None:
    text = (
        "! a comment\n"
        "a=1\n"
        "  b : two \\\n"
        "\n"
        "  # inside\n"
        "      words\n"
        "c\\ d e=f\n"
        "slash=one\\\\\n"
        "list = x, y\\,z\n"
        "caf\\u00e9\t=\\tK\\u00f6ln\n"
        "last=open\\"
    )
    found = {one.key: one for one in parse_properties(text)}
    assert {key: one.value for key, one in found.items()} == {
        "a": "1",
        "b": "two words",
        "c d": "e=f",
        "slash": "one\\",
        "list": "x, y,z",
        "café": "\tKöln",
        "last": "open",
    }
    assert found["list"].items == ["x", "y,z"]
    assert [found[key].line for key in ("a", "b", "c d", "last")] == [2, 3, 7, 11]


def test_references_go_round_in_no_circle() -> None:
    assert fill_in("${a}/x", {"a": "${b}", "b": "c"}) == "c/x"
    assert fill_in("${a}", {"a": "${b}", "b": "${a}"}) in ("${a}", "${b}")


def test_every_family_is_read(tmp_path: Path) -> None:
    # The list of a ranking has its commas, that of the white list too; a query keeps them.
    text = "select ?v where { values ?v {##} ?v ?p 1, 2 }"
    file = write(
        tmp_path / "f.properties",
        {
            "2": query("Second", "http://e.org/sparql", text, chunk=7),
            "1": query("First", "http://e.org/sparql"),
            "file.1": query("Local", "${data}/kb.ttl", PLACES),
            "pop.1": query("Popular", "ranks", "0,1"),
            "combinator.1": query("Either", "OR", "first, local"),
        },
        whitelist="dbpedia.org,wikidata.org",
        chunk=25,
        cache="False",
        precache="True",
        cachelocation="${data}/cache",
    )
    with file.open("a") as stream:
        stream.write("data=facts\norg.aksw.gerbil.other=1\n")
    found = read_filters(file)
    assert [(one.name, one.kind, one.service, one.chunk) for one in found.filters] == [
        ("First", "query", "http://e.org/sparql", 25),
        ("Second", "query", "http://e.org/sparql", 7),
        ("Local", "query", "facts/kb.ttl", 25),
        ("Popular", "ranking", "ranks", 25),
        ("Either", "combinator", "OR", 25),
    ]
    assert found.find("SECOND").text == text
    assert found.find("popular").members == ("0", "1")
    assert [one.name for one in found.bases(found.find("Either"))] == ["First", "Local"]
    assert found.whitelist == ("dbpedia.org", "wikidata.org")
    assert found.prologue.count("PREFIX") == 2
    assert (found.enabled, found.keeps, found.notes) == (True, False, ())


def test_keys_of_gerbil_properties_beside_it_are_known(tmp_path: Path) -> None:
    (tmp_path / "gerbil.properties").write_text("org.aksw.gerbil.DataPath=data\n")
    service = "${org.aksw.gerbil.DataPath}/kb.ttl"
    file = write(tmp_path / "filter.properties", {"file.1": query("Local", service)})
    assert read_filters(file).filters[0].service == "data/kb.ttl"


def test_the_mark_is_replaced_wherever_it_stands(tmp_path: Path) -> None:
    # The extension breaks off a query that has another '#', as in an IRI; here only the mark is one.
    text = "select ?v { values ?v {###} ?v <http://e.org/a#b> ?x . filter not exists { values ?v {##} } }"
    found = read_filters(write(tmp_path / "f.properties", {"1": query("Own", "http://e.org/", text)}))
    expanded = found.expand(found.filters[0], ["<urn:a>", "<urn:b>"])
    assert expanded == text.replace("###", "<urn:a> <urn:b>").replace("##", "<urn:a> <urn:b>")
    assert "<http://e.org/a#b>" in expanded


def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    file = write(
        tmp_path / "f.properties",
        {
            "1": query("Persons", "http://e.org/", "select ?v { ?v a foaf:Person }"),
            "2": {"name": "Half", "servce": "x"},
            "3": query("persons", "http://e.org/", "select ?x { values ?x {##} }", chunk="many"),
            "4": query("Asks", "http://e.org/", "ask { values ?v {##} }"),
            "5": query("Broken", "http://e.org/", "select ?v { values ?v {##} "),
            "6": query("Few", "http://e.org/", f"{PERSONS} limit 3"),
            "7": query("Counts", "http://e.org/", "select (sample(?e) as ?v) { values ?e {##} }"),
            "combinator.1": query("Mixed", "andd", "Persns,Half"),
            "combinator.2": query("Round", "and", "Circle,Few"),
            "combinator.3": query("Circle", "diff", "Round"),
        },
        chunck=25,
    )
    with file.open("a") as stream:
        stream.write(f"{HEAD}1.name=Again\n")
    with pytest.raises(FilterFaults) as raised:
        read_filters(file)
    said = "\n".join(raised.value.faults)
    for line, fault in {
        2: "there is no key 'org.aksw.gerbil.util.filter.chunck'; did you mean 'chunk'?",
        5: "'Persons': its query has no '##'",
        8: "filter 2 has no service and no filter",
        9: "a filter has no 'servce'; did you mean 'service'?",
        10: "a filter is called 'persons' in line 5 already",
        13: "is a number of entities, not 'many'",
        14: "'Asks': its query is no SELECT",
        17: "'Broken': its query does not parse",
        20: "'Few': LIMIT makes what it says of an entity depend on which others it is asked about",
        23: "'Counts': SAMPLE makes",
        26: "'Mixed': filters are combined by and, or, diff, not by 'andd'; did you mean 'and'?",
        29: "'Round' combines 'Circle' combines 'Round', which is a circle",
        32: "'Circle' combines 'Round' combines 'Circle', which is a circle",
        35: "is given in line 5 already",
    }.items():
        assert any(one.startswith(f"{file}:{line}:") and fault in one for one in raised.value.faults), (line, said)
    assert "'persons': its query has to select ?v, not ?x" in said
    assert "there is no filter 'Persns'; did you mean" in said
    assert "no filter 'Half'" not in said  # which lacks something, and is told once
    with file.open("a") as stream:
        stream.write(f"{HEAD}prefix.3=dbo=http://e.org/\n")
    with pytest.raises(FilterFaults, match="not as 'dbo=http://e.org/'") as raised:
        read_filters(file)
    assert "does not parse" not in str(raised.value)


def test_a_gap_in_the_numbers_is_told(tmp_path: Path) -> None:
    found = read_filters(
        write(tmp_path / "f.properties", {"1": query("A", "http://e.org/"), "3": query("B", "http://e.org/")})
    )
    assert [one.name for one in found.filters] == ["A", "B"]
    assert found.notes == (f"{found.path}: there is no filter 2, so that GERBIL itself would not read 3",)


def test_a_file_without_filters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no filter"):
        read_filters(write(tmp_path / "f.properties", {}))
    with pytest.raises(BadInput, match="no such file"):
        read_filters(tmp_path / "none.properties")


def test_a_file_in_latin_1_is_read(tmp_path: Path) -> None:
    file = write(tmp_path / "f.properties", {"1": query("Städte", "http://e.org/")})
    file.write_bytes(file.read_text(encoding="utf-8").encode("latin-1"))
    assert read_filters(file).filters[0].name == "Städte"


def test_a_filter_is_named_in_the_place_of_a_query(tmp_path: Path) -> None:
    file = write(tmp_path / "f.properties", {"1": query("My Persons", "http://e.org/")})
    assert split_reference(f"{file}#My Persons") == (file, "My Persons")
    assert split_reference("persons") is split_reference("ASK { ?s ?p <a.properties#b> }") is None
    found = read_filters(file)
    assert name_one(found, "").name == name_one(found, "my persons").name == "My Persons"
    with pytest.raises(UnknownName, match="did you mean 'My Persons'"):
        name_one(found, "My Person")
    two = read_filters(write(file, {"1": query("A", "http://e.org/"), "2": query("B", "http://e.org/")}))
    with pytest.raises(UsageError, match=r"several filters \(A, B\): name one, as .*#A"):
        name_one(two, "")
