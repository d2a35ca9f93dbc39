"""Names of entities across DBpedia, Wikipedia and Wikidata, the status of links, and classes above classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.kb import KnowledgeBase
from remix.kb.lookup import problems_of
from remix.kb.networks import superclasses
from remix.names import DBR
from tests.kb.conftest import TABLES

Tables = Callable[..., Path]
WD = "http://www.wikidata.org/entity/"


@pytest.fixture(scope="module")
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    sameas = (
        "a\tb\tcount\tsource\nwd:Q10\tdbr:Anna_Freud\t1\tx\nwd:Q9\tdbr:Anna_Freud\t1\tx\nwd:Q1\tdbr:Tolstoy\t1\tx\n"
    )
    return kb_of({**TABLES, "sameas.tsv": sameas})


@pytest.mark.parametrize(
    "written",
    [
        "dbr:Anna_Freud",
        "https://dbpedia.org/page/Anna_Freud",
        "http://en.wikipedia.org/wiki/Anna%20Freud",
        "https://en.m.wikipedia.org/wiki/anna_Freud",
        "http://www.wikidata.org/wiki/Q10",
        "wd:Q9",
    ],
)
def test_names_when_one_entity_is_written_in_many_ways_then_its_names_are_the_same(
    kb: KnowledgeBase, written: str
) -> None:
    # Q9 and Q10 both stand for Anna Freud: the lower number is the name.
    assert kb.names(pl.Series([written])).row(0) == (
        written,
        f"{DBR}Anna_Freud",
        "canonical",
        f"{DBR}Anna_Freud",
        "https://en.wikipedia.org/wiki/Anna_Freud",
        f"{WD}Q9",
    )


def test_resolve_when_sameas_links_chain_then_the_end_comes_back_and_of_a_circle_the_first(
    kb_of: Callable[..., KnowledgeBase],
) -> None:
    # Q7 → Freud's_daughter ⇒ A_Freud ⇒ Anna_Freud → Q8; Q5 and Q6 are the same as each other. ⇒ is a redirect.
    pairs = [("wd:Q7", "dbr:Freud's_daughter"), ("dbr:Anna_Freud", "wd:Q8"), ("wd:Q5", "wd:Q6"), ("wd:Q6", "wd:Q5")]
    rows = [f"{one}\t{other}\t1\tx" for one, other in pairs]
    made = kb_of({**TABLES, "sameas.tsv": "\n".join(["a\tb\tcount\tsource", *rows]) + "\n"})
    asked = ["Q7", "Q8", "Q5", "Q6"]
    assert made.resolve(pl.Series([f"{WD}{item}" for item in asked])).to_list() == [
        f"{WD}{item}" for item in ("Q8", "Q8", "Q5", "Q5")
    ]
    problems = problems_of(made).filter(pl.col("problem") == "circular sameAs links")
    assert problems.select("count", "case").rows() == [(2, "wd:Q5 → wd:Q6 → wd:Q5")]


def test_names_when_links_are_not_sound_then_the_status_says_how(kb: KnowledgeBase) -> None:
    asked = pl.Series(["dbr:A_Freud", "dbr:Anna", "dbr:Nobody", "http://de.wikipedia.org/wiki/Köln", None, "wd:Q77"])
    found = kb.names(asked)
    assert found["iri"].to_list() == asked.to_list()
    assert found.select("canonical", "status").rows() == [
        (f"{DBR}Anna_Freud", "redirect"),
        (f"{DBR}Anna", "disambiguation"),
        (f"{DBR}Nobody", "unknown"),
        ("http://de.dbpedia.org/resource/Köln", "unknown"),
        (None, None),
        (f"{WD}Q77", "unknown"),
    ]
    assert found["wikipedia"].to_list()[3:] == ["https://de.wikipedia.org/wiki/Köln", None, None]
    assert found["wikidata"].to_list() == [f"{WD}Q9", None, None, None, None, f"{WD}Q77"]


def test_names_when_many_are_asked_for_then_they_are_those_of_each_alone(kb: KnowledgeBase) -> None:
    many = pl.Series(["dbr:Anna_Freud", "dbr:A_Freud", *(f"dbr:N{n}" for n in range(200))])
    together = kb.names(many)
    assert together["status"].to_list() == ["canonical", "redirect", *["unknown"] * 200]
    assert together.head(3).equals(pl.concat([kb.names(many[n : n + 1]) for n in range(3)]))


def test_link_status_when_null_or_nothing_is_asked_then_there_is_no_row(kb: KnowledgeBase) -> None:
    assert kb.link_status(pl.Series([None], dtype=pl.String)).height == 0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15))
def test_superclasses_when_hierarchies_are_random_then_they_are_what_is_reached(steps: list[tuple[int, int]]) -> None:
    reached = set(steps)
    while more := {(a, d) for a, b in reached for c, d in steps if b == c} - reached:
        reached |= more
    frame = pl.DataFrame(
        {"class": [str(a) for a, _ in steps], "parent": [str(b) for _, b in steps]},
        schema={"class": pl.String, "parent": pl.String},
    )
    found = superclasses(frame.lazy(), pl.Series([str(n) for n in range(7)]))
    assert set(found.rows()) == {(str(a), str(b)) for a, b in reached if a != b}


def test_superclasses_when_the_knowledge_base_has_no_hierarchy_then_there_are_none(kb: KnowledgeBase) -> None:
    assert kb.superclasses(pl.Series(["http://dbpedia.org/ontology/Person"])).height == 0


def test_the_same_view_is_one_object_so_that_its_parts_are_read_once(kb: KnowledgeBase) -> None:
    source = kb.sources[0]
    assert kb.without_sources([source]) is kb.without_sources([source])
    assert kb.without_sources([source]) is not kb.without_sources(["no such source"])
    assert kb.without_sources([source]).left_out == (source,)
