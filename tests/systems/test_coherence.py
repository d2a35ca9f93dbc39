"""The baseline `coherence` part by part, given candidates, and `prior-nil`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import BadInput, MissingKnowledge, UnknownName, UsageError
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.systems import annotate
from remix.systems.given_candidates import read_candidates
from remix.systems.ranking import rank_candidates
from tests.commands import run_verb
from tests.systems.test_systems import answers, document

FORMS = """surface_form\tentity_iri\tcount\tsource
Paris\tdbr:Paris\t9\tanchor
Paris\tdbr:Paris,_Texas\t1\tanchor
Dallas\tdbr:Dallas\t5\tanchor
Jordan\tdbr:Michael_Jordan\t4\tanchor
Jordan\tdbr:Jordan\t4\tanchor
Bob\tdbr:Bob_Dylan\t\tgold:elsewhere
Dallas\tdbr:Dallas_(gold)\t99\tgold:elsewhere
"""
LINKS = """source_iri\ttarget_iri\tcount\tsource
dbr:Dallas\tdbr:Paris,_Texas\t1\ttest
dbr:Texas\tdbr:Dallas\t1\ttest
dbr:NBA\tdbr:Michael_Jordan\t1\ttest
dbr:Chicago\tdbr:Michael_Jordan\t1\ttest
dbr:Sport\tdbr:Michael_Jordan\t1\ttest
"""
TEXT = "Paris and Dallas"
BOTH = document(TEXT, (0, 5, None), (10, 16, None))


@pytest.fixture
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    return kb_of({"surface_forms.tsv": FORMS, "links.tsv": LINKS})


def linked(frames: Frames, kb: KnowledgeBase | None, task: str = "D2KB", **parameters: bool | float | str) -> list[str]:
    found = annotate("coherence", frames, kb, task=task, parameters=parameters)
    return [entity or "NIL" for _, entity in answers(found)]


def test_candidate_that_is_linked_with_the_others_is_taken(kb: KnowledgeBase) -> None:
    # The prior of Paris is (9 + 1) / 12, that of Paris in Texas (1 + 1) / 12, which Dallas is linked with. A walker
    # starts at Paris in 5/12 of the times, and leaves it only to start again: 5/12 · (0.15 + 0.85 · r) = r = 0.097;
    # at Paris in Texas it starts in 1/12, and comes there from Dallas each time that it does not start again.
    assert linked(BOTH, kb, form=False, prominence=False) == ["Paris,_Texas", "Dallas"]
    assert linked(BOTH, kb, form=False, prominence=False, rank=False) == ["Paris", "Dallas"]
    assert linked(document("Paris and", (0, 5, None)), kb) == ["Paris"]


def test_each_part_of_a_weight_can_be_turned_off(kb: KnowledgeBase) -> None:
    jordan = document("Jordan", (0, 6, None))
    off = {"prior": False, "form": False, "prominence": False, "rank": False}
    # Three links lead to Michael Jordan, none to the country, which is called as the form.
    assert linked(jordan, kb, **{**off, "prominence": True}) == ["Michael_Jordan"]
    assert linked(jordan, kb, **{**off, "form": True}) == ["Jordan"]
    paris = document("Paris", (0, 5, None))
    assert linked(paris, kb, **{**off, "prior": True}) == ["Paris"]
    assert linked(paris, kb, **{**off, "most": 1}) == ["Paris"]


def test_nil_is_what_is_not_known_or_below_the_threshold(kb: KnowledgeBase) -> None:
    three = document("Paris Dallas Xyz", (0, 5, None), (6, 12, None), (13, 16, None))
    own = {"rank": False, "form": False, "prominence": False}
    assert linked(three, kb, **own) == ["Paris", "Dallas", "NIL"]
    # Paris has 10 of 12, Dallas all.
    assert linked(three, kb, **own, nil=0.9) == ["NIL", "Dallas", "NIL"]
    assert linked(three, kb, task="A2KB", **own, nil=0.9) == ["Dallas"]


def test_no_row_from_gold_is_read(kb: KnowledgeBase) -> None:
    both = document("Bob in Dallas", (0, 3, None), (7, 13, None))
    for one in (kb, kb.keeping_gold()):
        assert linked(both, one) == ["NIL", "Dallas"]
        assert linked(both, one, task="A2KB") == ["Dallas"]
        assert answers(annotate("prior-nil", both, one, task="D2KB")) == [("Bob", None), ("Dallas", "Dallas")]


def test_parameters_are_checked(kb: KnowledgeBase) -> None:
    with pytest.raises(UnknownName, match="did you mean 'damping'"):
        linked(BOTH, kb, dampin=0.5)
    with pytest.raises(UsageError, match="yes or no, not 'maybe'"):
        linked(BOTH, kb, rank="maybe")
    with pytest.raises(UsageError, match="damping is from 0"):
        linked(BOTH, kb, damping=1.0)
    with pytest.raises(MissingKnowledge, match="kb attach"):
        linked(BOTH, None)


WALKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(WALKS, st.lists(st.floats(0.1, 10), min_size=6, max_size=6), st.sampled_from([0.3, 0.85]))
def test_rank_is_personalised_pagerank(walks: list[tuple[int, int]], weights: list[float], damping: float) -> None:
    import networkx

    walks = [(a, b) for a, b in walks if a != b]
    graph = networkx.Graph()
    graph.add_nodes_from(range(6))
    graph.add_edges_from(walks)
    start = dict(enumerate(weights))
    expected = networkx.pagerank(graph, damping, personalization=start, dangling=start, tol=1e-12, max_iter=1000)
    # A second document with the same graph changes nothing in the first.
    nodes = pl.DataFrame({"document": ["a"] * 6 + ["b"] * 6, "weight": weights * 2})
    edges = pl.DataFrame([*walks, *((a + 6, b + 6) for a, b in walks)], schema=["source", "target"], orient="row")
    edges = edges.cast(pl.Int64)
    found = rank_candidates(nodes, edges, damping=damping)
    assert np.allclose(found[:6], [expected[node] for node in range(6)], atol=1e-6)
    assert np.allclose(found[:6], found[6:])


def entity(text: str, doc: str, gold: str) -> str:
    return f"ENTITY\ttext:{text}\tnormalName:{text.lower()}\tdocId:{doc}\torigText:{text}\turl:{gold}"


def candidate(number: int, title: str, in_links: int, *links: int) -> str:
    told = ";".join(map(str, links))
    url = f"http://en.wikipedia.org/wiki/{title}"
    name = title.replace("_", " ")
    return f"CANDIDATE\tid:{number}\tinCount:{in_links}\toutCount:7\tlinks:{told}\turl:{url}\tname:{name}"


def candidates(doc: str, gold: str = "http://en.wikipedia.org/wiki/Paris") -> str:
    return "\n".join(
        [
            entity("Paris", doc, gold),
            candidate(1, "Paris", 900, 7),
            candidate(2, "Paris,_Texas", 90, 3),
            entity("Dallas", doc, gold),
            candidate(3, "Dallas", 500),
        ]
    )


@pytest.mark.parametrize("doc", ["d", "17testb"])  # the name of the document, and one that is nobody's
def test_candidates_of_a_file_take_the_place_of_the_dictionary(doc: str, tmp_path: Path, kb: KnowledgeBase) -> None:
    (folder := tmp_path / "lists").mkdir()
    (folder / "17").write_text(candidates(doc))
    (folder / "18").write_text(entity("Paris", "other", "") + "\n" + candidate(9, "Paris_Hilton", 5))
    for known in (None, kb):
        assert linked(BOTH, known, candidates=str(folder)) == ["Paris,_Texas", "Dallas"]
        assert linked(BOTH, known, candidates=str(folder), rank=False) == ["Paris", "Dallas"]
    other = document("Berlin", (0, 6, None))
    assert linked(other, None, candidates=str(folder)) == ["NIL"]


def test_candidates_are_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "17").write_text(candidates("gold"))
    (tmp_path / "gold.jsonl").write_text(json.dumps({"document": "gold", "text": TEXT, "begin": 0, "end": 5}) + "\n")
    line = ["annotate", "gold.jsonl", "--system", "coherence", "--task", "D2KB", "--candidates", "17", "-o", "csv"]
    done = run_verb(*line, folder=tmp_path)
    assert done.stdout.splitlines()[-1].startswith("coherence,gold,D2KB,1,1,1,0,0"), done.stderr


def test_answers_of_gold_in_a_file_of_candidates_are_not_read(tmp_path: Path) -> None:
    found = []
    for gold in ("http://en.wikipedia.org/wiki/Paris", "http://en.wikipedia.org/wiki/Elsewhere", ""):
        (tmp_path / "17").write_text(candidates("d", gold))
        found.append(read_candidates(tmp_path / "17"))
    assert found[0].equals(found[1]) and found[0].equals(found[2])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "has no candidates"),
        ("Paris\tDallas", "1: is no line of ENTITY or CANDIDATE: Paris"),
        (candidate(1, "Paris", 1), "1: begins with a candidate of no mention"),
        (entity("Paris", "d", "") + "\n\nCANDIDATE\tid:1", "3: is a candidate without id and url"),
    ],
)
def test_file_of_candidates_that_is_none_says_where(lines: str, said: str, tmp_path: Path) -> None:
    (file := tmp_path / "17").write_text(lines)
    with pytest.raises(BadInput, match=said):
        read_candidates(file)


def test_prior_nil_says_nil_of_names_that_it_does_not_know(kb: KnowledgeBase) -> None:
    text = "When Grace Hopper met Paris, she left, when she could. She saw Bob in Dallas Street. Nobody came."
    found = answers(annotate("prior-nil", document(text), kb))
    # 'When', 'She' and 'Nobody' begin sentences; Dallas is known.
    assert found == [("Grace Hopper", None), ("Paris", "Paris"), ("Bob", None), ("Dallas", "Dallas")]
