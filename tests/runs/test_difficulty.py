"""Difficulty: the regression and its figures by hand or against scipy, what is learnt from runs, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from remix.cli import cli
from remix.errors import UsageError
from remix.runs.difficulty import Difficulty, difficulty, store_difficulty
from remix.runs.logistic import area_under_curve, brier_score, calibration_error, fit_model, folds_of, newton
from remix.store import Store
from remix.workspace import Workspace


@given(st.integers(0, 10_000), st.floats(0.1, 10.0))
def test_newton_finds_the_minimum_that_a_general_optimiser_finds(seed: int, penalty: float) -> None:
    random = np.random.default_rng(seed)
    features, total = random.normal(size=(40, 3)), random.integers(1, 4, 40).astype(float)
    wrong = random.binomial(total.astype(int), 0.4).astype(float)
    wrong[0], total[0] = 1.0, 2.0  # so that there are both classes

    def loss(weights: np.ndarray) -> float:
        logits = weights[0] + features @ weights[1:]
        return float(np.sum(total * np.logaddexp(0, logits) - wrong * logits) + penalty / 2 * np.sum(weights[1:] ** 2))

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    assert np.allclose(newton(features, wrong, total, penalty), best, atol=1e-4)
    assert np.allclose(newton(features, wrong, total, penalty, start=best), best, atol=1e-4)


def test_newton_ends_where_the_classes_are_apart() -> None:
    # Steps that overshoot are halved; the penalty keeps the weight finite.
    weights = newton(np.array([[-100.0], [100.0]]), np.array([0.0, 1.0]), np.ones(2), 1e-3)
    assert np.isfinite(weights).all()
    assert weights[1] > 0


def test_figures_by_hand() -> None:
    # Chances 0.2 (1 wrong of 2) and 0.8 (2 wrong of 2). AUC: 3 errors x 1 right; two are above, one ties: 2.5 / 3.
    # Brier: (0.8^2 + 0.2^2 + 2 x 0.2^2) / 4. Calibration: bins by halves of the judgements, |0.4 - 1| + |1.6 - 2| of 4.
    chance, wrong, total = np.array([0.2, 0.8]), np.array([1.0, 2.0]), np.array([2.0, 2.0])
    assert area_under_curve(chance, wrong, total) == pytest.approx(2.5 / 3)
    assert brier_score(chance, wrong, total) == pytest.approx(0.19)
    assert calibration_error(chance, wrong, total) == pytest.approx(0.25)


def test_figures_do_not_depend_on_the_order_of_rows() -> None:
    random = np.random.default_rng(1)
    chance, total = random.integers(0, 9, 50) / 10, random.integers(1, 4, 50).astype(float)
    wrong = random.binomial(total.astype(int), 0.5).astype(float)
    order = random.permutation(50)
    for figure in (area_under_curve, brier_score, calibration_error):
        assert figure(chance, wrong, total) == pytest.approx(figure(chance[order], wrong[order], total[order]))


@given(st.lists(st.integers(0, 30), min_size=1), st.integers(2, 5), st.integers(0, 99))
def test_folds_keep_groups_whole_and_of_equal_number(groups: list[int], folds: int, seed: int) -> None:
    found = folds_of(np.array(groups), folds, seed)
    of = {group: {int(fold) for name, fold in zip(groups, found, strict=True) if name == group} for group in groups}
    assert all(len(one) == 1 for one in of.values())
    sizes = np.bincount([one.pop() for one in of.values()], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_model_tells_true_probabilities_and_uses_what_is_missing() -> None:
    # Errors where the feature is missing: 0.9, high: 0.5, low: 0.1; the second feature is noise, the third constant.
    random = np.random.default_rng(0)
    kind = random.integers(0, 3, 6000)
    features = np.column_stack([np.choose(kind, [np.nan, 1.0, -1.0]), random.normal(size=6000), np.ones(6000)])
    wrong = (random.random(6000) < np.choose(kind, [0.9, 0.5, 0.1])).astype(float)
    model = fit_model(features, wrong, np.ones(6000), folds_of(np.arange(6000), 5, 0), penalty=1.0)
    chance = model.probability(np.array([[np.nan, 0, 1], [1.0, 0, 1], [-1.0, 0, 1]]))
    assert chance == pytest.approx([0.9, 0.5, 0.1], abs=0.04)
    assert abs(model.weights[2]) < 0.1
    assert model.weights[3] == 0


def test_calibration_takes_back_what_overfitting_exaggerates() -> None:
    # Noise alone: a model of 30 features says much, the calibrated one hardly more than the share of errors.
    random = np.random.default_rng(2)
    features, wrong = random.normal(size=(80, 30)), (random.random(80) < 0.5).astype(float)
    model = fit_model(features, wrong, np.ones(80), folds_of(np.arange(80), 5, 0), penalty=0.1)
    other = random.normal(size=(500, 30))
    assert np.std(model.probability(other)) < 0.15
    assert np.std(1 / (1 + np.exp(-model._logits(other)))) > 0.3


@pytest.fixture(scope="module")
def sample(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus with the runs of two systems on two datasets; the third has none."""
    workspace = sample_workspace()
    workspace.annotate(["sample-news", "sample-posts"], ["prior", "random-candidate"])
    workspace.store_runs(["sample-news", "sample-posts"])
    return workspace


@pytest.fixture(scope="module")
def found(sample: Workspace) -> Difficulty:
    """What is learnt of these runs with the usual choices, and stored."""
    return sample.difficulty()


@pytest.mark.long
def test_difficulty_of_the_sample_tells_errors_and_is_calibrated(found: Difficulty) -> None:
    [report] = found.report.to_dicts()
    assert (report["systems"], report["annotations"]) == (2, 671)
    assert report["auc"] > 0.85
    assert report["ece"] < 0.06
    assert report["brier"] < report["wrong"] * (1 - report["wrong"])
    assert found.values["value"].is_between(0, 1).all()
    # Also what no system has run on has a value.
    assert set(found.values["dataset"]) == {"sample-biographies", "sample-news", "sample-posts"}
    assert found.weights["weight"].abs().is_sorted(descending=True)


@pytest.mark.long
def test_difficulty_is_stored_with_its_figures_and_again_changes_nothing(sample: Workspace) -> None:
    found = sample.difficulty()
    before = sample.store.state
    assert sample.difficulty().values.equals(found.values)
    assert sample.store.state == before
    index = sample.store.index()
    double = "http://www.w3.org/2001/XMLSchema#double"
    counted = index.frame(f"SELECT (COUNT(?d) AS ?n) {{ ?a rmx:difficulty ?d FILTER(datatype(?d) = <{double}>) }}")
    assert counted["n"].item().startswith(f'"{len(found.values)}"')
    figures = index.frame("SELECT DISTINCT ?auc ?s { ?g rmx:areaUnderCurve ?auc ; rmx:signature ?s }").row(0)
    assert figures[0] == f'"{found.report["auc"].item()}"^^<{double}>'
    assert figures[1] == f'"{found.signature}"'


@pytest.mark.long
def test_seed_changes_the_folds_and_the_signature(sample: Workspace, found: Difficulty) -> None:
    other = sample.difficulty(seed=1)
    assert (found.signature.fields["seed"], other.signature.fields["seed"]) == ("0", "1")
    assert not other.values["value"].equals(found.values["value"])
    # The fit is the same: annotations without a run differ by their calibration alone.
    both = found.values.join(other.values, on="annotation").filter(dataset="sample-biographies")
    assert (both["value"] - both["value_right"]).abs().max() < 0.05  # type: ignore[operator]


@pytest.mark.long
@pytest.mark.usefixtures("found")
def test_remix_by_difficulty_and_slices_by_it(sample: Workspace) -> None:
    built = sample.build("hard_by_difficulty", min_difficulty=0.6)
    kept = built.frames.gold().annotations
    assert 0 < len(kept) < 600
    rows = sample.evaluate(["sample-news"], system=["prior"], task=["A2KB"], match=["strong"], by=["difficulty"]).rows
    recall = rows.filter(column="difficulty", average="micro", dataset="all")["recall"]
    assert len(recall) == 4
    assert recall.is_sorted(descending=True)
    whole = sample.evaluate(["sample-news"], system=["prior"], task=["A2KB"], match=["strong"]).rows
    assert "columns" in rows["signature"][0]
    assert "columns" not in whole["signature"][0]


@pytest.mark.long
def test_command_prints_figures_weights_and_signature(sample: Workspace, found: Difficulty) -> None:
    line = ["enrich", "-w", str(sample.folder), "--difficulty"]
    shown = CliRunner().invoke(cli, line, catch_exceptions=False).stdout
    assert "calibration error" in shown
    assert "folds:5|penalty:1.0|seed:0" in shown
    rows = json.loads(CliRunner().invoke(cli, [*line, "-o", "json"], catch_exceptions=False).stdout)
    assert [row["dataset"] for row in rows] == ["sample-biographies", "sample-news", "sample-posts"]
    assert {row["auc"] for row in rows} == {found.report["auc"].item()}
    refused = CliRunner().invoke(cli, [*line, "somewhere"])
    assert refused.exit_code == 2


@pytest.mark.long
def test_alternatives_of_a_group_have_one_difficulty(sample: Workspace, found: Difficulty) -> None:
    groups = sample.store.frames().annotations.select("annotation", "document", "group")
    values = found.values.join(groups, on="annotation").filter(pl.col("dataset") != "sample-biographies")
    several = values.group_by("document", "group").agg(n=pl.len(), different=pl.col("value").n_unique())
    assert (several["n"] > 1).any()
    assert several["different"].max() == 1


@pytest.mark.parametrize("outcome", [True, False])
def test_one_class_is_refused(sample: Workspace, outcome: bool) -> None:
    frames, measured = sample.store.frames(), sample.stats().measured
    annotations = measured.annotations.select("annotation", right=pl.lit(outcome))
    judged = pl.concat([annotations.select(pl.lit(name).alias("system"), "annotation", "right") for name in "ab"])
    with pytest.raises(UsageError, match=f"every stored run is {'right' if outcome else 'wrong'} on every annotation"):
        difficulty(frames, measured, judged)


@pytest.mark.long
def test_too_few_runs_or_documents_are_refused(tmp_path: Path, run_store: Store) -> None:
    workspace = Workspace(tmp_path / ".remix")
    runs = Path(__file__).parent / "small"
    workspace.load([runs / "gold.ttl"])
    with pytest.raises(UsageError, match="there are none: `remix annotate` or `remix run add`"):
        workspace.difficulty()
    workspace.store_runs(["gold"], run=[f"a={runs / 'a.ttl'}"])
    with pytest.raises(UsageError, match="the only run is 'a'"):
        workspace.difficulty()
    with pytest.raises(UsageError, match="needs 10 of them with annotations: runs are stored on 1"):
        store_difficulty(run_store, None)
