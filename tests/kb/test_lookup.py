"""Looking up names and entities, and what a knowledge base covers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import kb as verb
from remix.errors import UnknownName
from remix.frames import Frames
from remix.kb import KnowledgeBase, lookup
from remix.kb.lookup import coverage
from remix.names import DBR
from tests.kb.conftest import TABLES

Tables = Callable[..., Path]


@pytest.fixture(scope="module")
def large(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    """Anna means sixty persons, of whom the first has the most counts; the sixtieth has sixty names."""
    rows = [f"Anna\tdbr:Anna_{n:02}\t{100 - n}\tx" for n in range(60)]
    rows += [f"Name {n:02}\tdbr:Anna_59\t{n}\tx" for n in range(59)]
    text = "form\tentity\tcount\tsource\n" + "".join(f"{row}\n" for row in rows)
    return kb_of({**TABLES, "surface_forms.tsv": text})


def test_lookup_when_there_are_many_candidates_then_the_first_come_and_all_are_counted(large: KnowledgeBase) -> None:
    shown = lookup(large, "anna", limit=3)
    assert shown["entity"].to_list() == ["dbr:Anna_00", "dbr:Anna_01", "dbr:Anna_02"]
    assert shown["of"].to_list() == [60, 60, 60]
    # 100 + 99 + … + 41 = 60 · 70.5 = 4230
    assert shown["prior"][0] == pytest.approx(100 / 4230)


def test_lookup_when_an_entity_has_many_forms_then_the_most_counted_come(large: KnowledgeBase) -> None:
    facts = lookup(large, "dbr:Anna_59", limit=2).rows()
    # Its counts are 100 - 59 = 41 for Anna, and 0 to 58 for the others.
    forms = [value for fact, value in facts if fact == "surface form"]
    assert forms == ["Name 58 (58)", "Name 57 (57)", "… 60 in all"]


def test_lookup_when_a_redirect_is_asked_for_then_status_scores_and_names_are_those_of_the_entity(
    kb: KnowledgeBase,
) -> None:
    facts = dict(lookup(kb, "dbr:A_Freud").rows())
    assert facts["status"] == "redirect"
    assert facts["wikipedia"] == "https://en.wikipedia.org/wiki/Anna_Freud"
    # Tolstoy → Karenina ⇄ Freud: Karenina has two links in and is first, Freud second; nobody links to Tolstoy.
    assert "(rank 2, " in facts["pagerank"]


def test_lookup_when_a_disambiguation_page_is_asked_for_then_its_entities_come(kb: KnowledgeBase) -> None:
    facts = lookup(kb, "dbr:Anna").rows()
    assert ("status", "disambiguation") in facts
    assert ("disambiguation page of", "dbr:Anna_Freud") in facts


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Frued", "Freud"), ("freudd", "Freud"), ("nowel", "Novel"), ("dbr:Anna_Kareninna", "dbr:Anna_Karenina")],
)
def test_lookup_when_a_name_is_misspelt_then_the_nearest_is_named(kb: KnowledgeBase, name: str, hint: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{hint}'"):
        lookup(kb, name)


def test_lookup_when_nothing_is_near_then_no_name_is_guessed(kb: KnowledgeBase) -> None:
    with pytest.raises(UnknownName, match="no surface form named 'qqqq'; `remix kb show`"):
        lookup(kb, "qqqq")


def test_coverage_when_datasets_are_known_in_part_then_the_shares_say_so(kb: KnowledgeBase) -> None:
    mentions = [
        ("one", "Anna", "Anna_Karenina"),
        ("one", "anna", "A_Freud"),
        ("one", "Nobody", "Nobody"),
        ("one", "Freud", "Tolstoy"),
        ("two", "Anna", None),
    ]
    annotations = pl.DataFrame(
        {
            "annotation": [f"a{n}" for n in range(5)],
            "document": [dataset for dataset, _, _ in mentions],
            "dataset": [dataset for dataset, _, _ in mentions],
            "surface_form": [form for _, form, _ in mentions],
        }
    )
    links = pl.DataFrame({"annotation": [f"a{n}" for n in range(5)], "entity": [e and DBR + e for _, _, e in mentions]})
    documents = pl.DataFrame({"document": ["one", "two"], "dataset": ["one", "two"], "text": ["", ""]})
    rows = coverage(kb, Frames.of(documents=documents, annotations=annotations, links=links.drop_nulls())).rows()
    # one: of the forms anna, nobody, freud two are known; of Karenina, Freud (a redirect), Nobody and Tolstoy three are
    # known and scored, two typed; anna → Karenina and anna → Freud are in the dictionary, the other two pairs are not.
    assert rows == [
        ("one", 4, 3, 4, pytest.approx(2 / 3), 0.75, 0.5, 0.75, 0.5, 0.5),
        ("two", 1, 1, 0, 1.0, None, None, None, None, None),
    ]


@pytest.mark.long
def test_show_when_a_knowledge_base_is_attached_then_all_of_it_is_told(tables: Tables, tmp_path: Path) -> None:
    def run(*arguments: object) -> str:
        done = CliRunner().invoke(verb.command, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    workspace = ("-w", tmp_path / "w")
    run("build", "--from", "tables", tables(), "--name", "small", *workspace)
    shown = run("show", *workspace)
    assert "## summary" in shown and "## sources" in shown and "circular redirects" in shown
    told = json.loads(run("show", "-o", "json", *workspace))
    assert told["circular_redirects"] == {"count": 2, "first": [f"{DBR}X", f"{DBR}Y"]}
    assert {part["part"] for part in told["sources"]} >= {"surface_forms", "redirects"}
    parts = json.loads(run("show", "-o", "json", "--only", "sources", *workspace))
    assert {row["part"]: row["rows"] for row in parts}["redirects"] == 4
    assert CliRunner().invoke(verb.command, ["show", "-o", "csv", "-w", str(tmp_path / "w")]).exit_code == 2


@pytest.mark.long
def test_lookup_when_shown_to_people_then_the_number_of_candidates_is_said_once(tables: Tables, tmp_path: Path) -> None:
    def run(*arguments: object) -> tuple[str, str]:
        done = CliRunner().invoke(verb.command, [*map(str, arguments), "-w", str(tmp_path / "w")])
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    run("build", "--from", "tables", tables(), "--name", "small")
    table, said = run("lookup", "Anna", "--limit", 1)
    assert said == "the first 1 of 2 candidates; --limit shows more\n"
    assert table.split("\n")[0].split()[-1] == "types"
    assert [row["of"] for row in json.loads(run("lookup", "Anna", "-o", "json")[0])] == [2, 2]


def test_lookup_when_nothing_tells_candidates_apart_then_it_says_how_many_share_the_rank(
    kb_of: Callable[..., KnowledgeBase],
) -> None:
    rows = [f"Ada\tdbr:Ada_{one}\t{count}\tx" for one, count in zip("ABCD", (5, 2, 2, 2), strict=True)]
    kb = kb_of({**TABLES, "surface_forms.tsv": "\n".join(["form\tentity\tcount\tsource", *rows, ""])})
    shown = lookup(kb, "Ada", limit=2)
    assert shown.select("rank", "tied", "of").rows() == [(1, 1, 4), (2, 3, 4)]
