"""Difficulty: how likely a system is wrong on an annotation, learnt from stored runs and told by its measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from remix import progress
from remix.errors import UsageError
from remix.measures import compute
from remix.measures.enrichment import named_frames
from remix.measures.measured import columns_of
from remix.runs.logistic import Numbers, area_under_curve, brier_score, calibration_error, fit_model, folds_of
from remix.runs.outcomes import column_graph
from remix.runs.stored import DIFFICULTY, verdicts
from remix.signature import Signature, content_hash
from remix.store import Store, in_one_state
from remix.tables import Printed

if TYPE_CHECKING:
    from remix.frames import Frames
    from remix.kb import KnowledgeBase
    from remix.measures import Measured
    from remix.measures.measurement import Comparing

FOLDS = 5
PENALTY = 1.0
MINIMUM_SYSTEMS, MINIMUM_DOCUMENTS = 2, 10
DIGITS = 6
"""Of stored values: the last digits of a sum depend on the machine."""


@dataclass(frozen=True, repr=False)
class Difficulty(Printed):
    """What was learnt from runs.

    - `values`: annotation, dataset, `value`: the probability that a system is wrong on it;
    - `weights`: `feature` and `weight` (log-odds per standard deviation), the largest first;
    - `report`: one row: systems, annotations, documents, `wrong` (share of the judgements), and cross-validated `auc`,
      `brier` and `ece` (expected calibration error).
    """

    values: pl.DataFrame
    weights: pl.DataFrame
    report: pl.DataFrame
    signature: Signature

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what this is in one line, and the table that is shown of it."""
        return "difficulty of annotations, learnt from runs", self.report


def difficulty(frames: Frames, measured: Measured, judged: pl.DataFrame, *, seed: int = 0) -> Difficulty:
    """Return the difficulty of every annotation that was measured, by logistic regression on `judged`.

    `judged` has system, annotation and `right`. A judgement is one system on one annotation; the features are the
    annotation's measures, standardised, with an indicator for those that are missing somewhere: whole numbers as
    log(1 + n), categories as one feature each. Weights are penalised (L2), probabilities calibrated (Platt).

    Documents are cut into five folds by `seed`, those of the same text together. The value of an annotation with
    judgements is that of the model fitted and calibrated on the other four folds, and so are the reported figures; an
    annotation without any has the value of the model of all.

    Raises `UsageError` for fewer than 2 systems or 10 documents, and where every judgement is the same.
    """
    names, features = _features(measured)
    rows = _rows(frames, measured, judged)
    every = features.to_numpy()
    seen = rows.filter(pl.col("first"))
    _check(seen, judged)
    place, groups = seen["row"].to_numpy(), seen["text"].to_numpy()
    known, wrong, total = every[place], seen["wrong"].to_numpy(), seen["total"].to_numpy()
    outer = folds_of(groups, FOLDS, seed)
    values = np.zeros(len(every))
    # More threads than are free take ten times as long, and sums in another order differ in their last digits.
    with progress.stage("difficulty"), threadpool_limits(1, user_api="blas"):
        for fold in range(FOLDS):
            rest = outer != fold
            inner = folds_of(groups[rest], FOLDS, seed)
            model = fit_model(known[rest], wrong[rest], total[rest], inner, penalty=PENALTY)
            values[place[~rest]] = model.probability(known[~rest])
        model = fit_model(known, wrong, total, outer, penalty=PENALTY)
    cross = values[place]
    told = rows.with_columns(value=pl.Series(values)).with_columns(
        value=pl.when(pl.col("total") > 0)
        .then(pl.col("value").filter("first").first().over("group"))
        .otherwise(pl.Series(model.probability(every)))
        .round(DIGITS)
    )
    indicators = [f"{names[gap]} missing" for gap in model.gaps]
    weights = pl.DataFrame({"feature": [*names, *indicators], "weight": model.weights[1:]})
    return Difficulty(
        told.select("annotation", "dataset", "value"),
        weights.sort(pl.col("weight").abs(), "feature", descending=[True, False]),
        _report(seen, judged, cross, wrong, total),
        _signature(measured, judged, seed),
    )


@in_one_state
def store_difficulty(
    store: Store, kb: KnowledgeBase | None, *, seed: int = 0, **choices: Unpack[Comparing]
) -> Difficulty:
    """Return the difficulty of the annotations of every dataset, which their graphs `#difficulty` hold from now on.

    Learnt from all runs that are stored beside datasets (`remix.runs.stored`); the measures are as `choices` of
    `remix.measures.compute` say. The same runs, measures and seed change nothing. Raises as `difficulty`.
    """
    entries = store.datasets()
    judged = pl.concat([verdicts(store, entry.name) for entry in entries]) if entries else pl.DataFrame()
    if judged.is_empty():
        makes = "`remix annotate` or `remix run add` registers some"
        raise UsageError(f"difficulty is learnt from registered runs, and there are none: {makes}")
    frames = named_frames(store)
    with progress.stage("measures"):
        measured = compute(frames, kb, **choices)
    found = difficulty(frames, measured, judged, seed=seed)
    [figures] = found.report.to_dicts()
    about = {
        "system": sorted(judged["system"].unique()),
        "signature": [str(found.signature)],
        "areaUnderCurve": figures["auc"],
        "brierScore": figures["brier"],
        "calibrationError": figures["ece"],
    }
    graphs = {}
    for entry in entries:
        own = found.values.filter(dataset=entry.name)
        triples = column_graph(f"{entry.iri}#{DIFFICULTY}", own, DIFFICULTY, about)
        graphs[entry.name] = {DIFFICULTY: (triples, str(found.signature))}
    store.attach(graphs)
    return found


def _features(measured: Measured) -> tuple[list[str], pl.DataFrame]:
    """Return the names and the values of the features, a row for each annotation; what is missing is NaN."""
    chosen: dict[str, pl.Expr] = {}
    for column in columns_of(measured.measures):
        value = pl.col(column.name)
        if column.kind == "string":
            chosen |= {f"{column.name}={name}": value == name for name in column.categories}
        elif column.kind == "integer":
            chosen[column.name] = value.sign() * (1 + value.abs()).log()
        else:
            chosen[column.name] = value
    numbers = [one.cast(pl.Float64).alias(name) for name, one in chosen.items()]
    known = measured.annotations.select(numbers)
    finite = pl.when(pl.all().is_finite()).then(pl.all()).otherwise(float("nan"))
    return list(chosen), known.select(finite)


def _rows(frames: Frames, measured: Measured, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the measured annotations in order, with what was judged of them.

    Columns: row, annotation, dataset, group (a number), text (equal numbers are equal texts), wrong, total, and
    `first`, which the first judged annotation of a group is, as a group counts once.
    """
    counted = judged.group_by("annotation").agg(wrong=(~pl.col("right")).sum(), total=pl.len())
    text = pl.coalesce("text", "document").rank("dense").cast(pl.Int64)
    texts = frames.documents.select("document", text=text)
    groups = frames.annotations.select("annotation", "group")
    rows = measured.annotations.select("annotation", "document", "dataset").with_row_index("row")
    rows = rows.join(groups, on="annotation", how="left", maintain_order="left")
    rows = rows.join(texts, on="document", how="left", maintain_order="left")
    rows = rows.join(counted, on="annotation", how="left", maintain_order="left")
    group = pl.struct("document", pl.coalesce("group", "annotation")).rank("dense")
    rows = rows.with_columns(pl.col("wrong", "total").fill_null(0).cast(pl.Float64), group=group)
    judged_first = pl.col("row") == pl.col("row").filter(pl.col("total") > 0).first().over("group")
    return rows.with_columns(first=judged_first.fill_null(False))


def _check(seen: pl.DataFrame, judged: pl.DataFrame) -> None:
    systems = sorted(judged["system"].unique())
    if len(systems) < MINIMUM_SYSTEMS:
        raise UsageError(
            f"difficulty is of several systems, and the only run is '{systems[0]}': `remix run add` or "
            f"`remix annotate` registers others, of which at least {MINIMUM_SYSTEMS} are needed"
        )
    if (documents := seen["text"].n_unique()) < MINIMUM_DOCUMENTS:
        raise UsageError(
            f"difficulty is cross-validated by document, which needs {MINIMUM_DOCUMENTS} of them with annotations: "
            f"runs are stored on {documents}"
        )
    wrong, total = seen["wrong"].sum(), seen["total"].sum()
    if wrong in (0, total):
        what = "wrong" if wrong else "right"
        raise UsageError(f"every stored run is {what} on every annotation: nothing tells easy from difficult ones")


def _report(seen: pl.DataFrame, judged: pl.DataFrame, cross: Numbers, wrong: Numbers, total: Numbers) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "systems": judged["system"].n_unique(),
            "annotations": len(seen),
            "documents": seen["text"].n_unique(),
            "wrong": round(float(wrong.sum() / total.sum()), DIGITS),
            "auc": round(area_under_curve(cross, wrong, total), DIGITS),
            "brier": round(brier_score(cross, wrong, total), DIGITS),
            "ece": round(calibration_error(cross, wrong, total), DIGITS),
        }
    )


def _signature(measured: Measured, judged: pl.DataFrame, seed: int) -> Signature:
    runs = judged.sort("system", "annotation").write_csv()
    choices = {"runs": content_hash(runs)[:12], "systems": ",".join(sorted(judged["system"].unique()))}
    values = content_hash(measured.annotations.write_csv())[:12]
    fixed = {"values": values, "folds": str(FOLDS), "penalty": str(PENALTY), "seed": str(seed)}
    return Signature({**measured.signature.fields, **choices, **fixed})
