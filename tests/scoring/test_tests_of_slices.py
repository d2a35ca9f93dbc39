"""Tests of slices: which are tested, of which null, how often that is wrong, and how often it finds a difference."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from bench.slices import WORLDS, of_entities, power, rejections
from remix import progress
from remix.frames import Frames
from remix.reports.doubts import explain_intervals, explain_tests
from remix.scoring.statistics.effects import Verdicts
from remix.scoring.statistics.effects import test_parts as compare_parts
from remix.scoring.statistics.slices import differences_of_slices
from tests.scoring.conftest import evaluate, framed

KEYS = ["system", "dataset", "column", "slice"]
UNITS = 10


def sliced(**slices: list[tuple[int, int]]) -> pl.DataFrame:
    """Counts of one system, of a right and a wrong number of mentions in each document and slice.

    Each mention has an entity of its own, and a wrong one a wrong answer.
    """
    rows, number = [], 0
    for name, documents in slices.items():
        for doc, (right, wrong) in enumerate(documents):
            held = [*range(number, number + right + wrong)]
            number += len(held)
            found = [1.0] * right + [0.0] * wrong
            rows.append(
                {"slice": name, "doc": doc, "tp": right, "fp": wrong, "fn": wrong, "held": held, "found": found}
            )
    table = pl.DataFrame(rows).with_columns(entity="held", answered=pl.col("found").list.eval(pl.element() >= 0))
    lists = ("held", "entity", "found", "answered")
    whole = table.group_by("doc", maintain_order=True).agg(
        pl.col("tp", "fp", "fn").sum(), *(pl.col(name).explode() for name in lists)
    )
    empty = pl.lit(None, pl.Int64)
    rows = [whole.with_columns(column=pl.lit(""), slice=pl.lit("")), table.with_columns(column=pl.lit("class"))]
    named = pl.concat(rows, how="diagonal_relaxed").with_columns(system=pl.lit("s"), dataset=pl.lit("all"))
    return named.with_columns(fp_in_scope=empty, fp_on_mention=empty)


def documents(number: int = UNITS) -> pl.DataFrame:
    return pl.DataFrame({"doc": range(number), "dataset": "all"})


def classed(rows: list[tuple[str, str, str, bool]]) -> tuple[Frames, Frames]:
    """Gold of (document, entity, class, found) and a run that has what is found."""
    gold, names = [], [*dict.fromkeys(row[0] for row in rows)]
    for number, (document, entity, kind, _) in enumerate(rows):
        place = {"document": document, "begin": 4 * number, "end": 4 * number + 3, "entity": entity}
        gold.append({**place, "classes": [kind]})
    found = [row for row, one in zip(gold, rows, strict=True) if one[3]]
    return framed(gold, names), framed([{**row, "classes": []} for row in found], names)


def scored(rows: list[tuple[str, str, str, bool]], **more: object) -> dict[str, dict[str, object]]:
    gold, run = classed(rows)
    options = {"task": ["A2KB"], "match": ["strong"], "by": ["class"], "intervals": True, **more}
    found = evaluate(gold, {"s": run}, **options).filter(average="micro", column="class")
    return {row["slice"]: row for row in found.to_dicts()}


def test_a_slice_of_one_mention_is_not_tested_and_says_so():
    # 20 documents, 100 mentions; a class with one mention, right; 91 of the other 99 right. Its p by Holm was 0.006,
    # and its interval 1.0 to 1.0.
    rows = [(f"d{n // 5}", f"e:{n}", "c:rare" if n == 0 else "c:other", n < 92) for n in range(100)]
    rare = scored(rows)["c:rare"]
    assert (rare["f1"], rare["p"], rare["p_holm"]) == (1.0, None, None)
    assert (rare["f1_low"], rare["f1_high"]) == (None, None)
    assert (rare["untested"], rare["interval_doubt"]) == ("held by 1 document", "fewer than 10 documents")


def test_a_slice_is_tested_from_ten_documents_on_that_hold_it():
    few = [(f"d{n}", f"e:{n}", "c:a" if n < 9 else "c:b", n % 2 == 0) for n in range(30)]
    many = [(f"d{n}", f"e:{n}", "c:a" if n < 10 else "c:b", n % 2 == 0) for n in range(30)]
    assert scored(few)["c:a"]["untested"] == "held by 9 documents"
    assert scored(few)["c:b"]["untested"] == "what it is held against is held by 9 documents"
    assert {row["untested"] for row in scored(many).values()} == {""}
    assert scored(many)["c:a"]["p"] == 1.0  # half of both is right


def test_an_entity_that_is_repeated_is_one_thing_to_be_right_of():
    # A class of one entity, which is wrong in all of its ten documents, beside 90 mentions of 30 others, of which six
    # are wrong in all of theirs. One of 31 is not more than chance, though 10 mentions of 10 are wrong.
    rows = [(f"d{n}", "e:one", "c:one", False) for n in range(10)]
    rows += [(f"d{7 * n % 90}", f"e:{n % 30}", "c:other", n % 30 > 5) for n in range(90)]
    assert scored(rows)["c:one"]["p"] > 0.05
    # The same where the ten are different entities.
    apart = [(f"d{n}", f"e:own{n}", "c:one", False) for n in range(10)] + rows[10:]
    assert scored(apart)["c:one"]["p"] < 0.05


def test_recall_and_precision_have_tests_of_their_own():
    # Of both classes two of three answers are right; of one, half of the mentions is not answered at all.
    def rows(kind: str, number: int) -> list[tuple[str, str, str, bool]]:
        return [(f"d{n}", f"e:{kind}{n}", f"c:{kind}", n % 3 < 2) for n in range(number)]

    mentions = [*rows("all", 60), *rows("half", 60)]
    gold, run = classed([(*row[:3], True) for row in mentions])
    answers = [
        {"document": row[0], "begin": 4 * n, "end": 4 * n + 3, "entity": row[1] if row[3] else "e:wrong"}
        for n, row in enumerate(mentions)
        if n < 60 or n % 2 == 0
    ]
    options = {"task": ["A2KB"], "match": ["strong"], "by": ["class"], "intervals": True}
    found = evaluate(gold, {"s": framed(answers, [f"d{n}" for n in range(60)])}, **options)
    half = found.filter(average="micro", slice="c:half").row(0, named=True)
    assert half["p_holm"] < 0.05
    assert half["p_precision_holm"] == 1.0
    # Where all are answered, both are one test.
    assert scored([(f"d{n}", f"e:{n}", f"c:{n % 2}", True) for n in range(60)])["c:0"]["p_precision"] is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["within", "across"])
def test_true_nulls_are_rejected_no_more_often_than_that_is_allowed(name):
    # Of 120 draws 6 are expected, and more than 13 in less than one of 300; a bootstrap of documents rejects nearly all
    # slices of few mentions, permuting single mentions half of them.
    _, family, sizes = rejections(WORLDS[name][1], "entities", draws=120, samples=100, seed=5)
    assert family <= 13 / 120
    every = sizes.select((pl.col("rate") * pl.col("tests")).sum() / pl.col("tests").sum()).item()
    assert every <= 0.09


@pytest.mark.long
def test_a_planted_difference_is_found():
    # 30 mentions of rare persons, 80 % wrong, beside 5 % of the others.
    assert power(persons=30, together=True, draws=20, samples=200, seed=1) >= 0.9


def test_mentions_that_go_with_others_are_not_taken_for_independent():
    # A hundred documents of ten mentions that are right or wrong together; the part is five documents of a wrong kind.
    random = np.random.default_rng(3)
    made, own = np.repeat(np.arange(100), 10), np.arange(1000)
    wrong = (random.random(100) < 0.1)[made]
    part = (made < 2) | (own % 10 == 0) & (made < 12)
    p = compare_parts(Verdicts(1.0 - wrong, made, own), part[:, None], ~part[:, None], samples=400, seed=1)
    assert p.item() > 0.05


def test_slices_are_held_against_the_whole_or_another():
    table = sliced(right=[(3, 0)] * UNITS, wrong=[(0, 3)] * UNITS)
    # The whole: tp 30, fp 30, fn 30: F1 1/2.
    found = differences_of_slices(table, KEYS, documents(), samples=99).sort("slice")
    assert found["difference"].to_list() == [0.5, -0.5]
    # No draw is so far apart: p = (0 + 1) / (99 + 1), and twice that by Holm.
    assert found["p"].to_list() == [0.01, 0.01]
    assert found["p_holm"].to_list() == [0.02, 0.02]
    # All right and all wrong are never an interval of width 0.
    assert all(low < high for low, high in found.select("difference_low", "difference_high").iter_rows())
    other = differences_of_slices(table, KEYS, documents(), samples=99, against="wrong")
    assert other.select("slice", "difference", "p_holm").rows() == [("right", 1.0, 0.01)]


def test_slices_of_the_same_mentions_are_tested_once(capsys):
    # Person and Q215627 are one set, and Mention is all of gold: two tests, where Holm corrected four.
    names = {"Mention": "all", "Person": "x", "Place": "y", "Q215627": "x"}
    table = sliced(**{name: [(1, 0) if members == "x" else (1, 1)] * UNITS for name, members in names.items()})
    members = pl.col("slice").replace_strict({**names, "": "all"}, return_dtype=pl.String)
    with progress.enable():
        found = differences_of_slices(table.with_columns(members=members), KEYS, documents(), samples=99).sort("slice")
    assert found["slice"].to_list() == ["Person", "Place"]
    assert found["p_holm"].max() <= 2 * found["p"].max()
    assert "tested as one; not for themselves: Mention, Q215627" in capsys.readouterr().err


def test_slices_among_many_are_tested_as_two_alone():
    random = np.random.default_rng(1)
    made = {name: [tuple(row) for row in random.integers(0, 4, (UNITS, 2)).tolist()] for name in "abc"}
    many = sliced(**made)
    few = many.filter(pl.col("slice") != "c")
    alone, among = (differences_of_slices(one, KEYS, documents(), samples=200, seed=4) for one in (few, many))
    columns = ["slice", "difference", "difference_low", "difference_high", "p"]
    assert among.filter(pl.col("slice") != "c").select(columns).equals(alone.select(columns))


def test_slices_of_tasks_that_tell_no_mentions_say_so():
    gold, run = classed([(f"d{n}", f"e:{n}", f"c:{n % 2}", n % 3 > 0) for n in range(60)])
    rows = evaluate(gold, {"s": run}, task=["C2KB"], match=["strong"], by=["class"], intervals=True)
    assert set(rows.filter(average="micro", column="class")["untested"]) == {
        "task, matching or profile does not tell which mentions are right"
    }
    assert rows.filter(average="micro", column="class")["p"].null_count() == 2


def test_of_entities_chooses_whole_entities():
    from bench.slices import design

    random = np.random.default_rng(2)
    made = design(random)
    chosen = of_entities(made, 30, random)
    assert chosen.sum() == 30
    assert not set(made.entities[chosen]) & set(made.entities[~chosen])


def test_slices_that_few_documents_hold_are_told_in_one_line_as_tables_name_them():
    # Sixteen documents hold a class; one holds each of two classes, two hold a third.
    few = {0: "http://e.org/one", 1: "http://e.org/two", 2: "http://e.org/three", 3: "http://e.org/three"}
    gold, run = classed([(f"d{n}", f"e:{n}", few.get(n, "http://e.org/other"), n % 3 > 0) for n in range(20)])
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], by=["class"], intervals=True)
    lines = explain_tests(rows, "document", "")
    assert [line for line in lines if "not tested" in line] == [
        "not tested, held by fewer than 10 documents: one (1), three (2), two (1)",
        "not tested, what it is held against is held by 4 documents: other",
    ]
    assert all("http" not in line for line in explain_intervals(rows, "document"))
