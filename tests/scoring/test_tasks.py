"""Tasks besides A2KB, D2KB, C2KB and ERec: filters, NIL and its clusters, candidates, accuracy."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.formats.losses import CLUSTER
from remix.frames import Frames
from remix.scoring.tasks import task_named
from tests.scoring.conftest import evaluate


@pytest.fixture
def pair(frames):
    # Gold: A, B linked, C NIL. Answers: A right, B wrong, C NIL, D NIL beside gold.
    gold = frames(
        [{"begin": 0, "end": 3, "entity": "e:A"}, {"begin": 4, "end": 7, "entity": "e:B"}, {"begin": 8, "end": 9}]
    )
    run = frames(
        [
            {"begin": 0, "end": 3, "entity": "e:A"},
            {"begin": 4, "end": 7, "entity": "e:X"},
            {"begin": 8, "end": 9},
            {"begin": 12, "end": 15},
        ]
    )
    return gold, run


@pytest.mark.parametrize(
    ("task", "want"),
    [
        ("A2KB", (2, 2, 1)),
        ("A2KB(filter=linked)", (1, 1, 1)),
        ("A2KB(filter=nil)", (1, 1, 0)),
        ("ERec(filter=linked)", (2, 0, 0)),
        ("NIL", (1, 1, 0)),
        ("accuracy", (2, 1, 1)),  # A and C right, B wrong
    ],
)
def test_tasks_count_what_they_compare(pair, counts, task, want):
    assert counts(*pair, task)[:3] == want


def named(frame: Frames, names: list[str | None]) -> Frames:
    values = pl.DataFrame({"subject": frame.annotations["annotation"], "term": CLUSTER, "text": names})
    return replace(frame, values=Frames.of(values=values.drop_nulls("text")).values)


def scored(gold: Frames, run: Frames, task: str) -> dict[str, object]:
    rows = evaluate(gold, {"s": run}, task=[task], match=["strong"])
    return rows.filter(pl.col("average") == "micro", pl.col("column") == "").row(0, named=True)


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        # Gold {1 2} {3}, answered {1} {2 3}. B³: each cell 1: 1 + 1/2 + 1/2 of 3; 1/2 + 1/2 + 1 of 3.
        ("b_cubed", 2 / 3, 2 / 3),
        ("muc", 0, 0),  # no link in common
        ("mention_ceaf", 2 / 3, 2 / 3),  # {1 2} with {1}, {3} with {2 3}, or one of them the other way
        ("pairwise", 0, 0),
    ],
)
def test_clusters_of_nil_mentions_are_compared_whatever_they_are_called(frames, measure, precision, recall):
    mentions = frames([{"begin": n, "end": n + 1} for n in (0, 2, 4)])
    gold, run = named(mentions, ["a", "a", "b"]), named(mentions, ["x", "y", "y"])
    row = scored(gold, run, f"NIL-clusters(measure={measure})")
    assert (row["precision"], row["recall"]) == (pytest.approx(precision), pytest.approx(recall))
    assert scored(gold, gold, f"NIL-clusters(measure={measure})")["f1"] == 1.0


def test_nil_mentions_without_cluster_are_alone_and_linked_ones_take_no_part(frames):
    gold = frames([{"begin": 0, "end": 1}, {"begin": 2, "end": 3}, {"begin": 4, "end": 5, "entity": "e:A"}])
    row = scored(gold, gold, "NIL-clusters")
    assert (row["tp"], row["fp"], row["fn"]) == (2, 0, 0)


def test_ignorable_mentions_are_in_no_cluster(frames):
    gold = frames([{"begin": 0, "end": 1}, {"begin": 2, "end": 3, "ignorable": "dropped"}])
    run = frames([{"begin": 0, "end": 1}, {"begin": 2, "end": 3}])
    row = scored(gold, run, "NIL-clusters")
    assert (row["tp"], row["fp"], row["fn"]) == (1, 0, 0)


def test_candidates_are_right_where_they_hold_the_entity(frames):
    # A: answered X, candidates X and A. B: answered X alone. C: not recognised.
    gold = frames([{"begin": n, "end": n + 1, "entity": f"e:{e}"} for n, e in ((0, "A"), (2, "B"), (4, "C"))])
    run = frames([{"begin": n, "end": n + 1, "entity": "e:X", "annotation": f"r{n}"} for n in (0, 2)])
    sets = pl.DataFrame({"annotation": ["r0", "r0"], "entity": ["e:X", "e:A"], "score": [0.6, 0.4]})
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    row = scored(gold, run, "candidates")
    assert (row["tp"], row["fn"], row["recall"]) == (1, 2, pytest.approx(1 / 3))
    row = scored(gold, run, "candidates(measure=recognised)")
    assert (row["tp"], row["fn"], row["recall"]) == (1, 1, 0.5)


def test_candidates_are_ranked_by_their_scores(frames):
    # A is second of two (1/2), B is the answer itself and no candidate (1), C is not recognised (0): MRR 1.5 / 3.
    gold = frames([{"begin": n, "end": n + 1, "entity": f"e:{e}"} for n, e in ((0, "A"), (2, "B"), (4, "C"))])
    run = frames([{"begin": 0, "end": 1, "entity": "e:X"}, {"begin": 2, "end": 3, "entity": "e:B"}])
    sets = pl.DataFrame(
        {"annotation": ["d#0", "d#0", "d#1"], "entity": ["e:A", "e:X", "e:Y"], "score": [0.4, 0.6, 0.9]}
    )
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    row = scored(gold, run, "candidates(measure=mrr)")
    assert (row["tp"], row["fp"], row["fn"], row["recall"]) == (1.5, 0.5, 1.5, 0.5)


def test_accuracy_on_shared_mentions_asks_all_systems_the_same(frames):
    # System a finds 0-1 (right) and 2-3 (wrong), b finds 2-3 (right) and 4-5 (wrong): 2-3 alone is shared.
    gold = frames([{"begin": n, "end": n + 1, "entity": f"e:{n}"} for n in (0, 2, 4)])
    a = frames([{"begin": 0, "end": 1, "entity": "e:0"}, {"begin": 2, "end": 3, "entity": "e:X"}])
    b = frames([{"begin": 2, "end": 3, "entity": "e:2"}, {"begin": 4, "end": 5, "entity": "e:X"}])
    tasks = ["accuracy", "accuracy(measure=shared)"]
    rows = evaluate(gold, {"a": a, "b": b}, task=tasks, match=["strong"]).filter(pl.col("average") == "micro")
    assert rows.select("task", "system", "tp", "fp").rows() == [
        ("accuracy", "a", 1, 1),
        ("accuracy", "b", 1, 1),
        ("accuracy(measure=shared)", "a", 0, 1),
        ("accuracy(measure=shared)", "b", 1, 0),
    ]


def test_the_answer_is_a_candidate_of_its_own(frames):
    gold = frames([{"begin": 0, "end": 1, "entity": "e:A"}])
    assert scored(gold, gold, "candidates")["recall"] == 1.0


@pytest.mark.parametrize(
    "name",
    [
        "A2KB(filter=linkable)",
        "candidates(measure=gold, filter=linked)",
        "A2KB(filter=linked)",
        "NIL-clusters(measure=muc)",
        "candidates(measure=recognised)",
    ],
)
def test_names_with_settings_parse_back(name):
    assert task_named(name).name == name


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("A2K", UnknownName, "no task named 'A2K'"),
        ("A2KB(filter=link)", UnknownName, "no filter named 'link'"),
        ("A2KB(measure=muc)", UsageError, "task 'A2KB' takes filter, not 'measure'"),
        ("NIL-clusters(measure=mucc)", UnknownName, "no measure of clusters named 'mucc'"),
    ],
)
def test_wrong_settings_are_named(name, error, message):
    with pytest.raises(error, match=message):
        task_named(name)


@pytest.mark.parametrize("matching", ["strong", "weak"])
def test_erec_counts_a_span_once_whatever_it_links_to(counts, frames, matching):
    ada, place = {"begin": 0, "end": 3}, {"begin": 10, "end": 15}
    one, two = [ada | {"entity": "e:A"}], [ada | {"entity": "e:A"}, ada | {"entity": "e:B"}]
    wrong = [place | {"entity": "e:A"}, place | {"entity": "e:B"}]
    # Two links of one span are one answer, right or wrong, and one mention; A2KB compares links, so that there are two.
    assert counts(frames(one), frames(two), "ERec", matching) == (1, 0, 0, 0)
    assert counts(frames(one), frames(two + wrong), "ERec", matching) == (1, 1, 0, 0)
    assert counts(frames(two), frames(one), "ERec", matching) == (1, 0, 0, 0)
    assert counts(frames(one), frames(two), "A2KB", matching) == (1, 1, 0, 0)
    assert counts(frames(two), frames(one), "A2KB", matching) == (1, 0, 1, 0)
    # GERBIL counts every annotation.
    assert counts(frames(one), frames(two), "ERec", matching, profile="gerbil") == (1, 1, 0, 0)


def test_weighed_recall_of_spans_is_recall_where_all_weigh_1(frames):
    ada = {"begin": 0, "end": 3}
    gold = frames([ada | {"entity": "e:A"}, ada | {"entity": "e:B"}, {"begin": 5, "end": 8, "entity": "e:C"}])
    columns = pl.DataFrame({"annotation": gold.annotations["annotation"], "all": [1.0] * 3})
    rows = evaluate(gold, {"s": frames([ada])}, task=["ERec"], match=["strong"], weight="all", columns=columns)
    # Two spans, of which one is found.
    assert rows.filter(average="micro", column="").select("recall", "fuzzy_recall").row(0) == (0.5, 0.5)


def test_span_of_two_entities_one_of_which_gold_has_twice_is_one_mention(frames, counts):
    # Spans alone are compared: 0-3 is one mention, right once or missed once, and one answer.
    gold = frames([{"begin": 0, "end": 3, "entity": entity} for entity in ("e:A", "e:B", "e:B")])
    run = frames([{"begin": 0, "end": 3, "entity": entity} for entity in ("e:C", "e:D")])
    assert counts(gold, run, "ERec") == (1, 0, 0, 0)
    assert counts(gold, frames([{"begin": 5, "end": 8, "entity": "e:C"}]), "ERec") == (0, 1, 1, 0)
    assert counts(gold, gold, "ERec") == (1, 0, 0, 0)
