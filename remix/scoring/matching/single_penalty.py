"""Single-penalty matching: an answer that is nearly right is one error, not an FP and an FN (Ortmann 2022).

Katrin Ortmann, Fine-Grained Error Analysis and Fair Evaluation of Labeled Spans, LREC 2022: errors of the label, of
the boundary and of both count half as FP and half as FN.
"""

from __future__ import annotations

import polars as pl

from remix.dense import look_up
from remix.scoring.matching import Case, Judged, Matching
from remix.scoring.matching.assignment import assign

_KEYS = ["system", "doc"]
HALF = 0.5


def _credit(case: Case, judged: Judged, counts: pl.DataFrame, on_mention_only: bool) -> pl.DataFrame:
    """Return the counts with half an FP and half an FN for each FP that can be held against a mention not found.

    They are paired one to one: equal spans first (errors of the label), then the most pairs, then equal links.
    """
    near = _near(case, judged, on_mention_only)
    wrong = pl.col("outcome") == "fp"
    halves = {
        "fp": wrong.sum(),
        "fp_in_scope": (wrong & pl.col("in_scope")).sum(),
        "fp_on_mention": (wrong & pl.col("on_mention")).sum(),
        "fn": pl.len(),
    }
    found = near.group_by(_KEYS).agg((HALF * count).alias(f"{name}_less") for name, count in halves.items())
    rows = counts.join(found, on=_KEYS, how="left", maintain_order="left").with_columns(
        asked=pl.col("tp") + pl.col("fn")
    )
    less = [(pl.col(name) - pl.col(f"{name}_less").fill_null(0.0)).alias(name) for name in halves]
    return rows.with_columns(less).drop(f"{name}_less" for name in halves)


def _near(case: Case, judged: Judged, on_mention_only: bool) -> pl.DataFrame:
    """Return the answers that are paired, with system, doc, outcome, `in_scope` and `on_mention`.

    An answer that an ignorable annotation takes is near a mention as before, so that none of these adds an FN.
    """
    seen = case.answers.filter("inside").select("a")
    wrong = judged.answers.filter(pl.col("outcome") != "tp", pl.col("on_mention") | (not on_mention_only))
    wrong = wrong.join(seen, on="a", how="semi", maintain_order="left")
    pairs = look_up(case.overlaps, "g", case.kept, ["doc", "group"])
    pairs = look_up(pairs, "a", wrong, ["system", "in_scope", "on_mention"])
    pairs = pairs.join(judged.groups, on=["system", "group"], how="anti")
    edges = pairs.select(
        *("g", "group", "a", "link", "shared", "union"),
        case="system",
        option="g",
        size=pl.lit(1, pl.Int64),
        correct="equal",
    )
    return wrong.join(assign(edges).select("a"), on="a", how="semi")


single_penalty = Matching(
    "single-penalty",
    "begin and end are equal; an answer wrong in its link or its bounds is half an FP and half an FN (Ortmann 2022)",
    pl.col("equal"),
    credit=_credit,
    shares=None,
)
