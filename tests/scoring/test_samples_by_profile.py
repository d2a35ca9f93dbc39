"""Intervals and comparisons are of the scores of the profile that they stand beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit

from remix.errors import UsageError
from remix.formats import read
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.question import Question
from remix.reports.readable import with_f1_shown
from remix.scoring import evaluate_question
from remix.scoring.choice import choose
from remix.scoring.comparison import compared_inputs
from remix.scoring.inputs.sources import Keeper
from remix.scoring.profiles import PROFILES
from remix.workspace import open_workspace
from tests.scoring.conftest import evaluate, framed

RESOURCE = "http://dbpedia.org/resource/"


def linked(places: dict[int, str], classes: bool = True, number: int = 14) -> Frames:
    """One mention in each of some of fourteen documents, or of so many."""
    rows = [
        {"document": f"d{place}", "begin": 0, "end": 3, "entity": RESOURCE + entity,
         "classes": [f"http://e.org/{'even' if place % 2 == 0 else 'odd'}"] if classes else []}
        for place, entity in places.items()
    ]  # fmt: skip
    frames = framed(rows, documents=[f"d{place}" for place in range(number)])
    texts = frames.documents.with_columns(text=pl.format("Ada was in place {}.", "document"))
    return replace(frames, documents=texts)


# Eight documents have gold, of which three are right, five not answered; a ninth has an answer without gold.
GOLD = linked(dict.fromkeys(range(8), "Ada"))
RUNS = {
    "some": linked(dict.fromkeys([0, 1, 2, 8], "Ada"), classes=False),
    "most": linked(dict.fromkeys(range(7), "Ada") | {7: "Eve"}, classes=False),
    "none": linked({}, classes=False),
}

# A document of the run 'some' is one of x that are right, y with gold alone, z with an answer alone,
# w with nothing: macro-F1 is the mean …
MACRO_F1: dict[str, Callable[[int, int, int, int], float]] = {
    "remix": lambda x, y, z, w: x / (x + y + z) if x + y + z else np.nan,  # of the documents with gold or an answer
    "neleval": lambda x, y, z, w: x / (x + y) if x + y else np.nan,  # of those with gold
    "gerbil": lambda x, y, z, w: (x + w) / (x + y + z + w),  # of all; those with nothing are perfect
    "bat": lambda x, y, z, w: (x + w) / (x + y + z + w),
    # P is 1 but for a wrong answer, R 1 but for missed gold: harmonic mean of the mean P and the mean R.
    "euef": lambda x, y, z, w: 2 * (x + y + w) * (x + z + w) / ((x + y + z + w) * (2 * x + y + z + 2 * w)),
}


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Keeper:
    return open_workspace(tmp_path_factory.mktemp("samples") / "workspace")


@pytest.fixture(scope="module")
def files(keeper: Keeper) -> Question[str]:
    """Gold in a file, and answers as they are read from files."""
    gold, answers = keeper.folder.with_name("gold.ttl"), {}
    write_frames(GOLD, gold)
    for name in ("some", "most"):
        write_frames(RUNS[name], file := keeper.folder.with_name(f"{name}.ttl"))
        answers[name] = read(file).frames
    none = answers["some"].keep(annotations=answers["some"].annotations["annotation"].head(0))
    return Question(gold=(gold,), answers={**answers, "none": none})


@pytest.fixture(scope="module")
def evaluated(files: Question[str], keeper: Keeper) -> Callable[[str, tuple[str, ...]], pl.DataFrame]:
    """The headline rows of a profile, sliced by columns, which are evaluated once for all averages."""

    def rows(profile: str, by: tuple[str, ...]) -> pl.DataFrame:
        return evaluate_question(keeper, choose(replace(files, profile=profile, by=by), headline=True))[0]

    return cache(rows)


AVERAGES = [(name, average) for name in PROFILES.names() for average in PROFILES[name].averages]


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("by", [(), ("class",)], ids=["whole", "slices"])
@pytest.mark.parametrize(("profile", "average"), AVERAGES)
def test_compared_are_the_scores_that_are_evaluated(files, keeper, evaluated, profile, average, by):
    choice = choose(replace(files, profile=profile, by=by), headline=True)
    task, matching = choice.task[0], choice.match[0]
    rows = evaluated(profile, by).filter(
        pl.col("column").is_in(["", *by]), average=average, dataset="all", task=task, matching=matching
    )
    shown, of_f1 = with_f1_shown(rows)
    expected = {(row["system"], row["slice"]): row["f1"] for row in shown.iter_rows(named=True)}
    comparison = compared_inputs(keeper, choice, average=average, samples=100)
    assert comparison.f1_precision == of_f1
    found = comparison.scores.iter_rows(named=True)
    scores = {(row["system"], row["part"].partition("=")[2]): row["score"] for row in found}
    assert scores == {key: pytest.approx(value) for key, value in expected.items()}
    if average == "macro" and profile in MACRO_F1 and of_f1 == "all":
        assert scores["some", ""] == pytest.approx(MACRO_F1[profile](3, 5, 1, 5))


def test_average_that_a_profile_does_not_have_is_refused(files, keeper):
    with pytest.raises(UsageError, match="profile 'elevant' has no macro scores: --average micro"):
        compared_inputs(keeper, choose(replace(files, profile="elevant"), headline=True), average="macro")


# How many documents count in macro-F1, of such.
COUNTING: dict[str, Callable[[int, int, int, int], int]] = {
    "remix": lambda x, y, z, w: x + y + z,
    "neleval": lambda x, y, z, w: x + y,
    "gerbil": lambda x, y, z, w: x + y + z + w,
    "bat": lambda x, y, z, w: x + y + z + w,
    "euef": lambda x, y, z, w: x + y + z + w,
}


@pytest.mark.parametrize("profile", MACRO_F1)
def test_intervals_are_those_of_the_scores_of_the_profile(profile):
    from scipy.stats import t  # takes long to import

    task, matching = PROFILES[profile].headline
    kinds = (6, 10, 2, 10)  # twice as many documents of each kind
    gold, run = (
        linked(dict.fromkeys(range(16), "Ada"), number=28),
        linked(dict.fromkeys([0, 1, 2, 3, 4, 5, 16, 17], "Ada"), classes=False, number=28),
    )
    rows = evaluate(gold, {"some": run}, profile=profile, task=[task], match=[matching], intervals=True)
    macro = rows.filter(average="macro", column="").row(0, named=True)
    f1 = MACRO_F1[profile](*kinds)
    assert macro["f1"] == pytest.approx(f1)
    number = COUNTING[profile](*kinds)
    without = [
        MACRO_F1[profile](*(count - (kind == left) for kind, count in enumerate(kinds)))
        for left, count in enumerate(kinds)
        for _ in range(count)
    ]
    moved = logit(np.array(without)) - logit(f1)
    # 2 items of a document that is right, 1 of another; 18 with those of the ten that have nothing, where these count.
    items = 12 + 10 + 2 + (10 if profile in ("gerbil", "bat", "euef") else 0)
    spread = max(np.sqrt((number - 1) / number * (moved**2).sum()), 1 / np.sqrt(items * f1 * (1 - f1)))
    reach = t.ppf(0.975, number - 1) * spread
    assert (macro["f1_low"], macro["f1_high"]) == pytest.approx((expit(logit(f1) - reach), expit(logit(f1) + reach)))


@pytest.mark.parametrize(("profile", "precision"), [("remix", None), ("neleval", 0.0), ("bat", 1.0)])
def test_a_score_without_denominator_has_no_interval(profile, precision):
    # Nothing was answered: what a profile says then is a rule, of which no document tells how far it is off.
    rows = evaluate(GOLD, {"none": RUNS["none"]}, profile=profile, task=["A2KB"], intervals=True)
    micro = rows.filter(average="micro", column="").row(0, named=True)
    assert [micro[name] for name in ("precision", "precision_low", "precision_high")] == [precision, None, None]
