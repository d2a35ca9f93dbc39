"""ETyping and RT2KB: classes of mentions are compared, in a hierarchy of classes.

Precision and recall are those of Kiritchenko et al. (2006): a mention is asked for its classes and all above them, an
answer gives its classes and all above them, and what both have is right. Counts are of classes.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.scoring.cases import Case
from remix.scoring.class_sets import Typed, typed
from remix.scoring.matchings import MATCHINGS, Matching
from remix.scoring.tasks import Task

_KEYS = ["system", "doc"]


def _recognised(case: Case, matching: Matching) -> pl.DataFrame:
    return _counts(typed(case, matching))


def _given(case: Case, matching: Matching) -> pl.DataFrame:
    # Spans are given, so that they are equal or not answered.
    return _counts(on_gold_spans(typed(case, MATCHINGS["strong"])))


def on_gold_spans(found: Typed) -> Typed:
    """Return what was compared without the answers where gold has no mention."""
    return replace(found, extra=found.extra.filter("on_mention"))


def _counts(found: Typed) -> pl.DataFrame:
    wrong = found.extra.select(*_KEYS, "on_mention", "in_scope", fp="answered")
    inside = found.pairs.select(*_KEYS, on_mention=True, in_scope=True, fp=pl.col("answered") - pl.col("shared"))
    scoped = {"fp": pl.lit(True), "fp_on_mention": pl.col("on_mention"), "fp_in_scope": pl.col("in_scope")}
    parts = [
        pl.concat([wrong, inside], how="vertical_relaxed")
        .group_by(_KEYS)
        .agg(pl.col("fp").filter(chosen).sum().alias(name) for name, chosen in scoped.items()),
        found.pairs.group_by(_KEYS).agg(tp=pl.col("shared").sum(), fn_found=(pl.col("asked") - pl.col("shared")).sum()),
        found.missed.group_by(_KEYS).agg(fn=pl.col("asked").sum()),
        found.ignored.group_by(_KEYS).agg(ignored=pl.len()),
        _mentions(found),
    ]
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.join(part, on=_KEYS, how="full", coalesce=True)
    rows = rows.with_columns(pl.exclude(_KEYS).fill_null(0).cast(pl.Int64))
    return found.case.scope.known(rows.with_columns(fn=pl.col("fn") + pl.col("fn_found")).drop("fn_found"))


def _mentions(found: Typed) -> pl.DataFrame:
    """Return system, doc and `asked`: how many mentions have classes."""
    every = pl.concat([found.pairs.select(*_KEYS, "group"), found.missed.select(*_KEYS, "group")])
    return every.group_by(_KEYS).agg(asked=pl.col("group").n_unique())


etyping = Task("ETyping", "text and spans given; classes compared with those above them, on gold spans only", _given)
rt2kb = Task("RT2KB", "text given; spans, and the classes on them with those above them, compared", _recognised)
