"""Published scores in the layouts that are met."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import remix.rdf.ntriples
from remix.errors import BadInput
from remix.kb.sources.scores import SOURCE

from .conftest import Read, rows

Scores = Callable[[str, str], list[tuple[object, ...]]]
DBR, WD = "http://dbpedia.org/resource/", "http://www.wikidata.org/entity/"
FLOAT = "<http://www.w3.org/2001/XMLSchema#float>"
VRANK = "http://purl.org/voc/vrank#"
HFTS = "https://raw.githubusercontent.com/santifa/hfts/master/ont/hfts.ttl#"


@pytest.fixture
def scores(tmp_path: Path, read: Read) -> Scores:
    def reading(name: str, text: str) -> list[tuple[object, ...]]:
        (tmp_path / name).write_text(text)
        return rows(read(SOURCE, tmp_path / name), "scores", "entity", "pagerank", "hits", "hub")

    return reading


@pytest.mark.parametrize("size", [1 << 24, 150])
def test_ranks_of_blank_nodes(scores: Scores, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # In blocks of 150 bytes a node and its value are in different ones.
    monkeypatch.setattr(remix.rdf.ntriples.blocks_of_lines, "__defaults__", (size, None))
    text = f'<{DBR}A> <{VRANK}hasRank> _:b1 .\n_:b2 <{VRANK}rankValue> "0.5"^^{FLOAT} .\n'
    text += f'_:b1 <{VRANK}rankValue> "1.5E0"^^{FLOAT} .\n<{DBR}B> <{VRANK}hasRank> _:b2 .\n'
    assert scores("pagerank_en.nt", text) == [(DBR + "A", 1.5, None, None), (DBR + "B", 0.5, None, None)]


def test_ranks_of_bracketed_nodes_as_dbpedia_publishes_them(scores: Scores) -> None:
    text = f"@prefix vrank: <{VRANK}> .\n@prefix dbr: <{DBR}> .\n"
    text += (
        f'dbr:A vrank:hasRank [ vrank:rankValue "1.5"^^{FLOAT} ] .\n<{DBR}B> vrank:hasRank [ vrank:rankValue 2 ] .\n'
    )
    assert scores("pagerank_en.ttl", text) == [(DBR + "A", 1.5, None, None), (DBR + "B", 2.0, None, None)]


@pytest.mark.parametrize("name", ["x.nt", "x.ttl"])
def test_a_rank_without_a_value_is_told_of_lines_and_of_turtle(
    tmp_path: Path, scores: Scores, read: Read, name: str
) -> None:
    node = "_:b1" if name == "x.nt" else "[]"
    text = f'<{DBR}A> <{VRANK}hasRank> {node} .\n<{DBR}B> <{HFTS}pagerank> "0.5" .\n'
    assert scores(name, text) == [(DBR + "B", 0.5, None, None)]
    assert read(SOURCE, tmp_path / name).problems["a rank without a value"].first == [DBR + "A"]


@pytest.mark.parametrize("value", ["NaN", "INF", "-0.5", "many"])
def test_what_is_no_number_from_0_is_no_score(tmp_path: Path, scores: Scores, read: Read, value: str) -> None:
    # NaN would be the highest of all in every ranking.
    sound = [(DBR + "B", 0.5, None, None)]
    assert scores("x.tsv", f"dbr:A\t{value}\ndbr:B\t0.5\n") == sound
    assert scores("x.nt", f'<{DBR}A> <{HFTS}pagerank> "{value}" .\n<{DBR}B> <{HFTS}pagerank> "0.5" .\n') == sound
    assert read(SOURCE, tmp_path / "x.nt").problems["a score that is no number from 0"].first == [DBR + "A"]
    assert (
        scores("x.ttl", f'@prefix h: <{HFTS}> .\n<{DBR}A> h:pagerank "{value}" .\n<{DBR}B> h:pagerank "0.5" .') == sound
    )
    assert read(SOURCE, tmp_path / "x.ttl").problems["a score that is no number from 0"].count == 1


def test_direct_terms(scores: Scores) -> None:
    text = f'<{WD}Q1> <{VRANK}pagerank> "3.5"^^{FLOAT} .\n'
    text += f'<{DBR}A> <http://dbpedia.org/ontology/wikiPageRank> "0.25"^^{FLOAT} .\n'
    text += f'<{DBR}B> <{HFTS}pagerank> "0.5"^^{FLOAT} .\n<{DBR}B> <{HFTS}hits> "0.125"^^{FLOAT} .\n'
    assert scores("x.nt", text) == [
        (DBR + "A", 0.25, None, None),
        (DBR + "B", 0.5, None, None),
        (DBR + "B", None, 0.125, None),
        (WD + "Q1", 3.5, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q1\t0.5\n", (WD + "Q1", 0.5, None, None)),
        ("entity\tpagerank\thits\thub\ndbr:A\t1e-3\t2\t3\n", (DBR + "A", 0.001, 2.0, 3.0)),
        ("hits\tname\n4\tSome page\n", (DBR + "Some_page", None, 4.0, None)),
        ("what\tscore\nQ1\t7\n", (WD + "Q1", 7.0, None, None)),
    ],
)
def test_tsv(scores: Scores, text: str, expected: tuple[object, ...]) -> None:
    assert scores("x.tsv", text) == [expected]


def test_lines_without_a_score_are_told(tmp_path: Path, read: Read) -> None:
    (tmp_path / "x.tsv").write_text("Q1\t0.5\nQ2\thigh\n\t3\n")
    staging = read(SOURCE, tmp_path / "x.tsv")
    problem = staging.problems["a line that has no entity and score"]
    assert (problem.count, problem.first[0]) == (2, "x.tsv:2: Q2\thigh")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("x.tsv", "one\ntwo\n", "has no score of an entity"),
        ("x.ttl", "@prefix a: <b", "is neither Turtle nor one triple a line"),
        ("x.nt", "<x:a> <x:b> <x:c> .\n", "has no score of an entity"),
    ],
)
def test_files_without_scores_are_refused(tmp_path: Path, read: Read, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=reason):
        read(SOURCE, tmp_path / name)
