"""Micro, macro, datasets and intervals, by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from remix.frames import Frames
from remix.reports.readable import with_f1_shown
from remix.scoring.comparison import correlate
from remix.scoring.rows import with_means_of_repeats
from remix.scoring.statistics import AVERAGES
from remix.scoring.statistics.curves import calibration
from remix.scoring.statistics.intervals import intervals
from remix.scoring.statistics.weights import fuzzy_scores
from tests.pieces import cut_at_random
from tests.scoring.conftest import evaluate

A = {"begin": 0, "end": 3, "entity": "e:A"}
B = {"begin": 5, "end": 8, "entity": "e:B"}


def one(rows: pl.DataFrame, dataset: str, average: str) -> dict[str, object]:
    return rows.filter(pl.col("dataset") == dataset, pl.col("average") == average, pl.col("column") == "").row(
        0, named=True
    )


def scored(gold: Frames, run: Frames, **options: object) -> pl.DataFrame:
    return evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], **options)  # type: ignore[arg-type]


PROGRAM = """
import random
import polars as pl
from remix.scoring.statistics import AVERAGES
from remix.scoring.statistics.curves import calibration
from remix.scoring.statistics.weights import fuzzy_scores

draw, size = random.Random(1).randrange, 3000
counts = pl.DataFrame({"system": ["a"] * size, "doc": range(size), "ignored": [0] * size, "has_gold": [True] * size})
counts = counts.with_columns(
    *(pl.Series(name, [draw(9) for _ in range(size)]) for name in ("tp", "fp", "fn", "confidence", "weight_found")),
    weight_all=10 / 3
)
inside = {f"fp_{where}": "fp" for where in ("in_scope", "on_mention", "on_kept")}
print(AVERAGES["macro"].summarise(counts.with_columns(**inside), ["system"]).rows())
print(fuzzy_scores(counts.with_columns(weight_found=pl.col("weight_found") / 3), ["system"]).rows())
surely = counts.select("system", confidence=pl.col("confidence") / 9, right=pl.col("tp") > 4)
print(calibration(surely.with_columns(task=pl.lit("x"), matching=pl.lit("y"))).rows())
"""


@pytest.mark.long
def test_scores_are_the_same_to_the_last_digit_on_any_number_of_processors():
    settings = [{**os.environ, "POLARS_MAX_THREADS": threads} for threads in ("1", "2", "8")]
    rows = {subprocess.check_output([sys.executable, "-c", PROGRAM], env=one, text=True) for one in settings}
    assert len(rows) == 1 and rows.pop().startswith("[('a', ")


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_the_same_to_the_last_digit_however_a_frame_is_kept(seed: int) -> None:
    """Shares of tenths: 0.1 + 0.2 + 0.3 is another number than 0.1 + (0.2 + 0.3)."""
    size = 60
    counts = pl.DataFrame({"system": ["a", "b"] * (size // 2), "doc": range(size)})
    counts = counts.with_columns(
        has_gold=pl.lit(True),
        ignored=pl.lit(0),
        tp=(pl.col("doc") * 7 % 11) / 10,
        fp=(pl.col("doc") * 5 % 7) / 10,
        fn=(pl.col("doc") * 3 % 13) / 10,
    ).with_columns(**{f"fp_{where}": "fp" for where in ("in_scope", "on_mention", "on_kept")})
    weighed = counts.with_columns(weight_found=pl.col("tp") / 3, weight_all=(pl.col("tp") + pl.col("fn")) / 3)
    answers = counts.select("system", task=pl.lit("x"), matching=pl.lit("y"), confidence="tp", right=pl.col("fp") > 0.3)
    rows = pl.DataFrame({"system": [f"m#{n}" for n in range(size)], "task": "A2KB", "f1": counts["tp"]})
    made: dict[str, tuple[pl.DataFrame, Callable[[pl.DataFrame], object]]] = {
        "micro": (counts, lambda frame: AVERAGES["micro"].summarise(frame, ["system"]).rows()),
        "macro": (counts, lambda frame: AVERAGES["macro"].summarise(frame, ["system"]).rows()),
        "fuzzy": (weighed, lambda frame: fuzzy_scores(frame, ["system"]).rows()),
        "calibration": (answers, lambda frame: calibration(frame).rows()),
        "repeats": (rows, lambda frame: with_means_of_repeats(frame).rows()),
        "correlation": (counts, lambda frame: correlate(frame["tp"], frame["fp"])),
    }
    for name, (frame, compute) in made.items():
        assert compute(cut_at_random(frame, seed)) == compute(frame), name


def test_macro_scores_are_means_over_the_documents_where_they_are_defined(frames):
    # d1: tp 1, fp 1, fn 1. d2: nothing answered, fn 1. d3: nothing in gold, fp 1. d4: nothing at all.
    documents = ("d1", "d2", "d3", "d4")
    gold = frames([A | {"document": "d1"}, B | {"document": "d1"}, A | {"document": "d2"}], documents)
    wrong = {"begin": 9, "end": 12, "entity": "e:X"}
    run = frames([A | {"document": "d1"}, wrong | {"document": "d1"}, wrong | {"document": "d3"}], documents)
    row = one(scored(gold, run), "all", "macro")
    assert row["precision"] == pytest.approx((1 / 2 + 0) / 2)  # d1, d3
    assert row["recall"] == pytest.approx((1 / 2 + 0) / 2)  # d1, d2
    assert row["f1"] == pytest.approx((1 / 2 + 0 + 0) / 3)  # d1, d2, d3
    assert (row["precision_documents"], row["recall_documents"], row["f1_documents"]) == (2, 2, 3)
    # P and R are 1/2 and 0: 1/4 from their mean. F1 is 1/2, 0 and 0: the root of (1/9 + 1/36 + 1/36) / 3.
    deviations = [row[f"{name}_documents_deviation"] for name in ("precision", "recall", "f1")]
    assert deviations == pytest.approx([1 / 4, 1 / 4, (1 / 18) ** 0.5])
    micro = one(scored(gold, run), "all", "micro")
    assert micro["f1_documents_deviation"] is None
    assert (micro["precision"], micro["recall"], micro["f1"]) == (1 / 3, 1 / 3, 1 / 3)


def test_several_datasets_have_rows_of_their_own_pooled_and_as_a_mean(frames):
    # x: 1 of 1 right; y: 1 of 3 right, nothing wrong.
    gold = Frames.concat(
        [
            frames([A | {"document": "x1"}], ["x1"], "x"),
            frames([r | {"document": "y1"} for r in (A, B, {"begin": 9, "end": 11, "entity": "e:C"})], ["y1"], "y"),
        ]
    )
    run = Frames.concat([frames([A | {"document": d}], [d], f"run-{d}") for d in ("x1", "y1")])
    rows = scored(gold, run)
    recall = {dataset: one(rows, dataset, "micro")["recall"] for dataset in ("x", "y", "all", "mean")}
    assert recall == {"x": 1.0, "y": pytest.approx(1 / 3), "all": 1 / 2, "mean": pytest.approx(2 / 3)}
    assert one(rows, "mean", "micro")["tp"] is None


def test_one_dataset_has_one_row_per_combination(frames):
    gold = frames([A | {"classes": ["c"]}, B])
    rows = evaluate(gold, {"s": gold, "t": gold}, by=["class"])
    keys = ["system", "dataset", "task", "matching", "profile", "column", "slice", "average"]
    assert rows.select(keys).is_unique().all()
    assert set(rows["dataset"]) == {"all"}


def test_system_without_any_answer_has_its_row(frames):
    gold = frames([A])
    row = one(scored(gold, frames([])), "all", "micro")
    assert (row["tp"], row["fp"], row["fn"], row["precision"], row["recall"]) == (0, 0, 1, None, 0.0)


def test_undefined_scores_are_null_where_there_is_nothing(frames):
    row = one(scored(frames([]), frames([])), "all", "micro")
    assert (row["tp"], row["precision"], row["recall"], row["f1"]) == (0, None, None, None)


def counted(values: list[tuple[int, int, int]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    counts = pl.DataFrame(values, schema=["tp", "fp", "fn"], orient="row").with_row_index("doc")
    counts = counts.with_columns(
        pl.col("doc").cast(pl.Int64),
        dataset=pl.lit("all"),
        fp_in_scope=pl.lit(None, pl.Int64),
        fp_on_mention=pl.lit(None, pl.Int64),
    )
    return counts, counts.select("doc", dataset=pl.lit("x"))


@pytest.mark.long
def test_interval_is_that_of_leaving_out_one_document_after_the_other():
    from scipy import stats  # takes longer to import than the other tests here take

    random = np.random.default_rng(7)
    counts, documents = counted([(*random.integers(1, 5, 2).tolist(), 2) for _ in range(12)])
    found = intervals(counts, ["dataset"], documents).filter(pl.col("average") == "micro")
    tp, fp, fn = (counts[name].to_numpy() for name in ("tp", "fp", "fn"))

    def logit(kept):
        right, wrong = 2 * tp[kept].sum(), fp[kept].sum() + fn[kept].sum()
        return np.log(right / wrong)

    every = np.arange(12)
    moved = np.array([logit(every != left) for left in every]) - logit(every >= 0)
    # The jackknife's variance is (n - 1) / n times the sum of squares, never less than that of independent mentions.
    items = 2 * tp + fp + fn
    f1 = 2 * tp.sum() / items.sum()
    spread = max(np.sqrt(11 / 12 * (moved**2).sum()), 1 / np.sqrt(items.sum() * f1 * (1 - f1)))
    freedom = items.sum() ** 2 / (items**2).sum() - 1  # documents of unequal size are fewer
    reach = stats.t.ppf(0.975, freedom) * spread
    bounds = [1 / (1 + np.exp(-(logit(every >= 0) + end))) for end in (-reach, reach)]
    assert (found["f1_low"][0], found["f1_high"][0]) == pytest.approx(tuple(bounds))


@pytest.mark.parametrize("document", [(1, 1, 0), (1, 0, 0), (0, 1, 1)])
def test_interval_of_equal_documents_is_no_point(document):
    # Resampling them gives the same score each time, though the next document may be another.
    same = intervals(*_with_keys(counted([document] * 10)))
    for score in ("precision", "recall", "f1"):
        assert all(0.1 < high - low < 1 for low, high in same.select(f"{score}_low", f"{score}_high").iter_rows())


def test_score_of_fewer_than_ten_documents_has_no_interval_and_says_so():
    # Twelve documents, nine of which have an answer: recall is over twelve, precision over nine.
    found = intervals(*_with_keys(counted([(1, 1, 1)] * 9 + [(0, 0, 1)] * 3)))
    row = found.filter(pl.col("average") == "micro").row(0, named=True)
    assert row["precision_low"] is None
    assert row["recall_low"] is not None
    assert row["interval_doubt"] == ""
    few = intervals(*_with_keys(counted([(1, 1, 1)] * 9 + [(0, 0, 0)] * 3)))
    assert set(few["interval_doubt"]) == {"fewer than 10 documents"}
    assert few["f1_low"].null_count() == 2


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        ([(20, 0, 0)] * 11 + [(19, 1, 1)], "0.95 or more"),
        ([(0, 20, 20)] * 11 + [(1, 19, 19)], "0.05 or less"),
        ([(60, 60, 60)] + [(1, 1, 1)] * 11, "most in one document"),
        ([(1, 1, 1)] * 12, ""),
    ],
)
def test_intervals_of_harder_worlds_are_flagged(values, doubt):
    found = intervals(*_with_keys(counted(values))).filter(pl.col("average") == "micro")
    assert found["interval_doubt"].to_list() == [doubt]


def _with_keys(made: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[pl.DataFrame, list[str], pl.DataFrame]:
    return made[0], ["dataset"], made[1]


def test_signature_changes_with_whatever_changes_a_number(frames):
    gold = frames([A, B])

    def signature(run: Frames, **options: object) -> str:
        return str(scored(gold, run, **options)["signature"][0])

    base = signature(frames([A]))
    assert base == signature(frames([A]))
    assert (
        len({base, signature(frames([B])), signature(frames([A]), spans="kept"), signature(frames([A]), scope="c")})
        == 4
    )


def test_mean_of_datasets_says_which_precision_its_f1_takes(frames):
    # A cut dataset whose condition is not known: P on mention, in every row of the whole.
    parts = []
    for name in ("x", "y"):
        rows = [
            {"document": name, "begin": 0, "end": 3, "entity": "e:A"},
            {"document": name, "begin": 5, "end": 8, "entity": "e:B", "ignorable": "dropped"},
        ]
        parts.append(frames(rows, documents=[name], dataset=name))
    gold = Frames.concat(parts)
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"]).filter(pl.col("column") == "")
    assert rows.select("dataset", "f1_precision").unique().sort("dataset").rows() == [
        (name, "on mention") for name in ("all", "mean", "x", "y")
    ]


def test_mean_of_datasets_leaves_out_one_whose_shown_f1_has_no_denominator(frames):
    # x keeps no mention and has an answer elsewhere: F1 on mention is 0/0, of all answers 0. y: both are 1. Mean: 1.
    dropped = {"document": "x", "begin": 5, "end": 8, "entity": "e:B", "ignorable": "dropped"}
    kept = {"document": "y", "begin": 0, "end": 3, "entity": "e:A"}
    more = dropped | {"document": "y"}
    gold = Frames.concat([frames([dropped], ["x"], dataset="x"), frames([kept, more], ["y"], dataset="y")])
    run = frames([{"document": "x", "begin": 10, "end": 13, "entity": "e:A"}, kept], ["x", "y"])
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    shown, of_f1 = with_f1_shown(rows.filter(column="", average="micro"))
    assert of_f1 == "on mention"
    assert dict(shown.select("dataset", "f1").iter_rows()) == {"all": 1.0, "mean": 1.0, "x": None, "y": 1.0}


def test_slice_by_a_property_of_documents_leaves_other_documents_out(frames):
    # de: one document with a mention and a wrong answer, one without mentions where an answer is wrong, too.
    # en: a mention that is found, and an answer that must not count for de.
    rows = [
        {"document": "d1", "begin": 0, "end": 3, "entity": "e:A"},
        {"document": "d3", "begin": 0, "end": 3, "entity": "e:B"},
    ]
    gold = frames(rows, documents=["d1", "d2", "d3"])
    languages = pl.DataFrame({"document": ["d1", "d2", "d3"], "language": ["de", "de", "en"]})
    gold = replace(gold, documents=gold.documents.drop("language").join(languages, on="document"))
    answers = [
        {"document": "d1", "begin": 0, "end": 3, "entity": "e:X"},
        {"document": "d2", "begin": 0, "end": 3, "entity": "e:X"},
        {"document": "d3", "begin": 0, "end": 3, "entity": "e:B"},
        {"document": "d3", "begin": 5, "end": 8, "entity": "e:X"},
    ]
    run = frames(answers, documents=["d1", "d2", "d3"])
    found = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], by=["language"])
    found = found.filter(pl.col("column") == "language", pl.col("average") == "micro")
    assert found.select("slice", "tp", "fp", "fn", "ignored", "f1_precision").rows() == [
        ("de", 0, 2, 1, 0, "all"),
        ("en", 1, 1, 0, 0, "all"),
    ]


def test_slice_by_a_measure_of_documents_leaves_other_documents_out(frames):
    gold = frames([{"document": name, "begin": 0, "end": 3, "entity": "e:A"} for name in ("d1", "d2")], ["d1", "d2"])
    density = pl.DataFrame({"document": ["d1", "d2"], "density": [0.5, 0.25]})
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], by=["density"], document_columns=density)
    rows = rows.filter(pl.col("column") == "density", pl.col("average") == "micro", pl.col("matching") == "weak")
    assert rows.select("slice", "tp", "fp", "fn").rows() == [("0.25", 1, 0, 0), ("0.5", 1, 0, 0)]


@pytest.mark.long
def test_equal_answers_have_equal_rows_to_the_last_digit(frames):
    # Sums of floats depend on their order: thirds, fifths and sevenths of eight documents, summed in their order.
    names = [f"d{n}" for n in range(8)]
    spans = [(name, 10 * k) for n, name in enumerate(names) for k in range(2 + n % 7)]
    gold = frames([{"document": name, "begin": b, "end": b + 5, "entity": "e:A"} for name, b in spans], names)
    datasets = pl.Series("dataset", ["x", "y", "z", "x"] * 2)
    gold = replace(gold, documents=gold.documents.with_columns(datasets))
    for found in range(2, 9):
        answers = [
            {"document": name, "begin": b, "end": b + 5, "entity": "e:B" if place % found else "e:A"}
            for place, (name, b) in enumerate(spans)
        ]
        run = frames(answers, names)
        rows = evaluate(gold, {f"s{n}": run for n in range(6)})
        own = [part.drop("system", "signature") for part in rows.partition_by("system")]
        assert all(part.equals(own[0]) for part in own)
