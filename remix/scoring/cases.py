"""What is scored at once: the whole of gold, or a slice of it with the rest dropped."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from remix.scoring.assignment import assign
from remix.scoring.matchings import Matching
from remix.scoring.mentions import Mentions

__all__ = ["Case", "Judged"]


@dataclass(frozen=True)
class Judged:
    """The outcome of one criterion and matching.

    - `answers`: a, system, doc, `outcome` ('tp', 'fp', 'ignored'), `on_mention` (its span is that of a kept mention),
      and `in_scope` (null where the condition of the slice says nothing about answers);
    - `groups`: system, doc, group, for each group that a system satisfies;
    - `pairs`: system, g, a, correct: the assignment itself, wrong links included.
    """

    answers: pl.DataFrame
    groups: pl.DataFrame
    pairs: pl.DataFrame


@dataclass(frozen=True)
class Case:
    """Gold as one slice sees it, with all answers.

    `gold` is that of `Mentions` with the column `ignorable` as the slice has it; rows that the slice removed are not
    in it. `answers` likewise. `scope` holds a and `in_scope`, or is None where the condition of the slice cannot be
    evaluated on answers. `column` and `value` name the slice and are empty for the whole.
    """

    mentions: Mentions
    gold: pl.DataFrame
    answers: pl.DataFrame
    overlaps: pl.DataFrame
    column: str = ""
    value: str = ""
    scope: pl.DataFrame | None = None
    _judged: dict[tuple[str, str], Judged] = field(default_factory=dict, repr=False, compare=False)

    def kept(self) -> pl.DataFrame:
        """Return the gold annotations that are required."""
        return self.gold.filter(pl.col("ignorable").is_null())

    def is_cut(self) -> bool:
        """Return whether annotations were dropped, so that one precision does not tell the whole story."""
        return bool(self.gold.select((pl.col("ignorable") == "dropped").any()).item())

    def judged(self, criterion: str, matching: Matching) -> Judged:
        """Return the outcome by `criterion` ('link': span and entity, 'span': span alone), computed once."""
        key = (criterion, matching.name)
        if key not in self._judged:
            self._judged[key] = _judge(self, criterion, matching)
        return self._judged[key]


def _judge(case: Case, criterion: str, matching: Matching) -> Judged:
    required = case.kept().with_columns(
        size=pl.col("g").n_unique().over("group", "option").cast(pl.Int64), case=pl.lit(0)
    )
    correct = pl.col("link") if criterion == "link" else pl.lit(True)
    pairs = (
        case.overlaps.join(case.gold.select("g", "ignorable"), on="g")
        .join(case.answers.select("a", "system"), on="a")
        .with_columns(correct=correct, spans=matching.spans)
    )
    edges = pairs.filter(pl.col("spans") & pl.col("ignorable").is_null()).join(
        required.select("g", "doc", "group", "option", "size"), on="g"
    )
    assigned = assign(
        edges.select("doc", "group", "option", "g", "size", "a", "correct", "link", "shared", "union", case="system")
    )
    whole = pl.col("correct").all().over("case", "group")
    right = assigned.filter(whole)
    groups = right.select("doc", "group", system="case").unique()
    answers = _outcomes(case, pairs, edges.select("a").unique(), right.select("a"), _further(pairs, required, right))
    return Judged(answers, groups, assigned.select("g", "a", "correct", system="case"))


def _further(pairs: pl.DataFrame, required: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Return the answers that are, span and entity, another alternative of a mention that the system has already.

    Without this, gold that writes its alternatives as several annotations would not be perfect as answers.
    """
    satisfied = right.select("group", system="case").unique()
    # By span and entity, since repeated annotations are one group and no alternatives of each other.
    like = ["group", "begin", "end", "meant"]
    named = required.select("g", *like[:3], meant="link")
    exact = pairs.filter(pl.col("equal") & pl.col("link")).join(named, on="g")
    taken = right.select("g", system="case").join(named, on="g")
    exact = exact.join(satisfied, on=["group", "system"], how="semi")
    return exact.join(taken, on=[*like, "system"], how="anti").select("a").unique()


def _outcomes(
    case: Case, pairs: pl.DataFrame, on_mention: pl.DataFrame, right: pl.DataFrame, further: pl.DataFrame
) -> pl.DataFrame:
    ignored = _ignored(pairs.join(right, on="a", how="anti"))
    ignored = pl.concat([ignored, further.join(right, on="a", how="anti")]).unique()
    answers = (
        case.answers.select("a", "system", "doc", "inside")
        .join(right.with_columns(tp=pl.lit(True)), on="a", how="left")
        .join(on_mention.with_columns(on_mention=pl.lit(True)), on="a", how="left")
        .join(ignored.with_columns(ignored=pl.lit(True)), on="a", how="left")
        .with_columns(pl.col("tp", "on_mention", "ignored").fill_null(False))
    )
    out = pl.col("ignored") | ~(pl.col("inside") | pl.col("on_mention"))
    outcome = pl.when("tp").then(pl.lit("tp")).when(out).then(pl.lit("ignored")).otherwise(pl.lit("fp"))
    answers = answers.select("a", "system", "doc", "on_mention", outcome=outcome)
    if case.scope is None:
        return answers.with_columns(in_scope=pl.lit(None, pl.Boolean))
    return answers.join(case.scope, on="a", how="left").with_columns(pl.col("in_scope").fill_null(True))


def _ignored(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the answers, of those that are no TP, that fit an ignorable annotation better than any kept one.

    The fit is the link, then the overlap; ties go to the kept annotation. A dropped annotation takes any answer that
    overlaps it, an optional one only what matches it in full.
    """
    takes = pl.when(pl.col("ignorable") == "optional").then(pl.col("spans") & pl.col("correct")).otherwise(pl.lit(True))
    ignorable = pairs.filter(pl.col("ignorable").is_not_null() & takes)
    if ignorable.is_empty():
        return pairs.clear().select("a")
    fit = pl.col("link").cast(pl.Float64) * 2 + pl.col("shared") / pl.col("union")
    best = ignorable.group_by("a").agg(fit=fit.max())
    kept = pairs.filter(pl.col("ignorable").is_null()).join(best, on="a", how="semi")
    rival = kept.group_by("a").agg(rival=fit.max())
    return best.join(rival, on="a", how="left").filter(pl.col("fit") > pl.col("rival").fill_null(-1.0)).select("a")
