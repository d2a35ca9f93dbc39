"""Do slices of gold differ: by how much, between what, and is that more than chance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from remix import progress
from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.statistics import AVERAGES, Average
from remix.scoring.statistics.effects import Verdicts, test_parts
from remix.scoring.statistics.intervals import LEAST_UNITS, Array, difference_of, jackknife, tables_of, units_of
from remix.scoring.statistics.significance import holm_within, tell_too_few

METHOD = "crossed-effects"
"""What a signature calls the test of slices."""

DIFFERENCES = ("difference", "difference_low", "difference_high", "p", "p_holm", "p_precision", "p_precision_holm")

UNTESTED = "untested"
"""The column that says why a slice has no p."""

_NO_OUTCOMES = "task, matching or profile does not tell which mentions are right"


def differences_of_slices(
    counts: LabelledCounts,
    keys: list[str],
    documents: CaseDocuments,
    *,
    against: str = "",
    samples: int = 1_000,
    seed: int = 0,
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return for each slice whether a system does otherwise on it than on the whole, or than on another slice.

    Rows have the keys, `difference` of the micro-F1 with its interval (`difference_low`, `difference_high`, see
    `difference_of`), and

    - `p`: of the null that a mention of the slice is found as often as another (recall);
    - `p_precision`: of the null that an answer on a mention of the slice is right as often as one on another; answers
      where gold has no mention belong to no slice. Null where every mention is answered, as both are the same then;
    - `p_holm`, `p_precision_holm`: corrected together for the slices of a column;
    - `untested`: why there is no p. A slice is tested where at least ten documents hold it, and ten what it is held
      against.

    The test is `test_parts`: documents and entities have effects of their own. Without `against` a slice is held
    against all other mentions. `counts` have `held`, and those of the whole `entity`, `found` and `answered`, as
    `counts_of` gives them. Slices of equal `members` are tested once, those of the members of what they are held
    against not at all: they have no rows, which is said. `keys` hold `dataset`, `column` and `slice`, empty for the
    whole; `against` is a slice of each column, by default the whole.
    """
    parts = []
    for (dataset,), own in counts.group_by("dataset", maintain_order=True):
        units = units_of(documents, str(dataset))
        pairs, labels = _pair(own, keys, against)
        if pairs.is_empty():
            continue
        tables = tables_of(own.join(labels.drop("members"), on=keys), units, len(labels), averages)
        estimates = jackknife(tables)["micro", "f1"]
        one, two = (estimates.of(pairs[name].to_numpy()) for name in ("label", "other"))
        low, high = difference_of(one, two)
        found = pl.DataFrame({"difference": one.score - two.score, "difference_low": low, "difference_high": high})
        tested = _test(own.join(labels.select(*keys, "label"), on=keys), pairs, samples, seed)
        row = pl.concat([pairs.select(*keys, "label"), found], how="horizontal").join(tested, on="label", how="left")
        parts.append(row.drop("label").with_columns(pl.col(pl.Float64).fill_nan(None)))
    if not parts:
        none = [pl.lit(None, pl.Float64).alias(name) for name in DIFFERENCES]
        return counts.select(keys).clear().with_columns(*none, pl.lit(None, pl.String).alias(UNTESTED))
    return _correct(pl.concat(parts), keys, samples)


def _correct(rows: pl.DataFrame, keys: list[str], samples: int) -> pl.DataFrame:
    """Return the rows with p corrected for both nulls and all slices of a column."""
    columns = [key for key in keys if key != "slice"]
    nulls = [rows.select(*keys, pl.col(name).alias("p"), null=pl.lit(name)) for name in ("p", "p_precision")]
    corrected = pl.concat(nulls).with_columns(corrected=holm_within(*columns))
    tests = corrected.group_by(columns).agg(pl.col("p").count())["p"].max()
    tell_too_few(samples, 1, tests if isinstance(tests, int) else 0, "--samples")
    for name in ("p", "p_precision"):
        own = corrected.filter(null=name).select(*keys, pl.col("corrected").alias(f"{name}_holm"))
        rows = rows.join(own, on=keys, how="left", maintain_order="left")
    return rows.select(*keys, *DIFFERENCES, UNTESTED)


def _pair(counts: LabelledCounts, keys: list[str], against: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return each slice with the `label` of itself and of its `other`, and all labels with their keys."""
    named = pl.col("members") if "members" in counts.columns else pl.lit(None, pl.String).alias("members")
    labels = counts.select(*keys, named).unique(keys, maintain_order=True).with_row_index("label")
    other = labels.filter(pl.col("slice") == against).rename({"label": "other", "members": "members_other"})
    same = [key for key in keys if key != "slice" and (against or key != "column")]
    pairs = labels.filter(pl.col("column") != "", pl.col("slice") != against).join(
        other.select(*same, "other", "members_other", other_slice="slice"), on=same, maintain_order="left"
    )
    return _each_once(pairs, [key for key in keys if key != "slice"]), labels


def _each_once(pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the pairs of slices without those of the mentions of their other, and each set of mentions once."""
    told = pl.col("members").is_not_null()
    first = ~told | pl.struct(*keys, "members").is_first_distinct()
    kept = pairs.filter(first & (pl.col("members") != pl.col("members_other")).fill_null(True))
    left = pairs.join(kept, on="label", how="anti")["slice"].unique().sort()
    if len(left):
        progress.note(f"slices of the same mentions are tested as one; not for themselves: {', '.join(left)}")
    return kept


def _test(counts: LabelledCounts, pairs: pl.DataFrame, samples: int, seed: int) -> pl.DataFrame:
    """Return label, `p`, `p_precision` and `untested` of each pair; counts and pairs have their labels."""
    told = "found" in counts.columns
    held = counts.filter(pl.col("held").is_not_null()) if told else counts.clear()
    same = [name for name in ("system", "task", "matching") if name in counts.columns]
    rows = []
    for key, own in pairs.group_by(same, maintain_order=True):
        here = held.filter(*(pl.col(name) == value for name, value in zip(same, key, strict=True)))
        mentions = _mentions_of(here) if told else pl.DataFrame()
        rows += _test_of_one(mentions, here, own, samples, seed)
    schema = {"label": pl.UInt32(), "p": pl.Float64(), "p_precision": pl.Float64(), UNTESTED: pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _mentions_of(held: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each mention of the whole: doc, `held` (its number), `entity`, `found`, `answered`."""
    columns = ["held", "entity", "found", "answered"]
    whole = held.filter(pl.col("column") == "", pl.col("found").is_not_null())
    return whole.select("doc", *columns).explode(columns).drop_nulls("held")


def _test_of_one(
    mentions: pl.DataFrame, held: pl.DataFrame, pairs: pl.DataFrame, samples: int, seed: int
) -> list[tuple[int, float | None, float | None, str]]:
    """Return the tests of the slices of one system, task and matching."""
    labels = pairs["label"].to_list()
    if mentions.is_empty():
        return [(label, None, None, _NO_OUTCOMES) for label in labels]
    documents, entities = (mentions[name].to_numpy() for name in ("doc", "entity"))
    outcomes = Verdicts(mentions["found"].to_numpy(), documents, entities)
    inside = [_inside(mentions, held, label) for label in labels]
    # A slice against the whole is a slice against what is not in it.
    others = [
        ~own if name == "" else _inside(mentions, held, label)
        for own, label, name in zip(inside, pairs["other"], pairs["other_slice"], strict=True)
    ]
    parts = (np.array(inside).T, np.array(others).T)
    untested = _why_not(documents, *parts)
    answered = mentions["answered"].to_numpy()
    p = _values(outcomes, parts, np.array([not why for why in untested]), samples, seed)
    of_answers = np.full(len(labels), np.nan)
    if not answered.all() and np.ptp(outcomes.values[answered] if answered.any() else np.zeros(1)) > 0:
        few = _why_not(documents[answered], *(part[answered] for part in parts))
        taken = np.array([not why for why in few])
        of_answers = _values(outcomes.only(answered), tuple(part[answered] for part in parts), taken, samples, seed)
    return [
        (label, None if why else float(each), None if why else float(precision), why)
        for label, each, precision, why in zip(labels, p, of_answers, untested, strict=True)
    ]


def _values(outcomes: Verdicts, parts: tuple[Array, ...], taken: Array, samples: int, seed: int) -> Array:
    """Return p of the tests that are taken, NaN of the others."""
    found = np.full(len(taken), np.nan)
    if taken.any():
        own, other = (part[:, taken] for part in parts)
        found[taken] = test_parts(outcomes, own, other, samples=samples, seed=seed)
    return found


def _inside(mentions: pl.DataFrame, held: pl.DataFrame, label: int) -> Array:
    """Return whether each mention is in the slice of a label."""
    own = held.filter(pl.col("label") == label)["held"].explode()
    return mentions["held"].is_in(own.drop_nulls().implode()).to_numpy()


def _why_not(documents: Array, parts: Array, others: Array) -> list[str]:
    """Return why a slice is not tested; nothing where it is."""
    said = []
    for part, other in zip(parts.T, others.T, strict=True):
        own, rest = (len(np.unique(documents[one])) for one in (part, other))
        if own < LEAST_UNITS:
            said.append(f"held by {own} {'document' if own == 1 else 'documents'}")
        else:
            said.append("" if rest >= LEAST_UNITS else f"what it is held against is held by {rest} documents")
    return said
