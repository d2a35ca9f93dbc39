"""When the span of an answer is that of a gold mention: cases of gold and answers, and matchings, one file each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeVar

import polars as pl

from remix.dense import counts, look_up, mark
from remix.errors import UsageError
from remix.registry import Registry
from remix.scoring.inputs.case_tables import Counts, GoldMentions, SystemAnswers
from remix.scoring.inputs.evidence import Evidence
from remix.scoring.inputs.mentions import Mentions
from remix.scoring.matching.originals import Originals
from remix.scoring.matching.pairs import assign

Found = TypeVar("Found")


@dataclass(frozen=True)
class Scope:
    """Which answers a selection could mean, by their own form and entity.

    - `inside`: answer and `in_scope`; an answer that is not there is in scope, as all are where nothing was selected;
    - `unknown`: the documents (doc) of whose answers the selection cannot be asked, so that P in scope is not known.
    """

    inside: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"answer": pl.Int64, "in_scope": pl.Boolean})
    )
    unknown: pl.Series = field(default_factory=lambda: pl.Series("doc", [], pl.Int64))

    def within(self, other: Scope) -> Scope:
        """Return what is in both scopes."""
        every = pl.concat([self.inside, other.inside]).group_by("answer").agg(pl.col("in_scope").all())
        return Scope(every, pl.concat([self.unknown, other.unknown]).unique())

    def pool(self, case: Case, originals: Originals) -> Scope:
        """Return the scope of what the datasets of a case select together: what any of their scopes holds.

        A dataset that was not cut selects every answer, so that it is known there.
        """
        unknown = self.unknown.clear()
        if len(self.unknown):
            cut = case.gold.filter(ignorable="dropped").join(case.mentions.documents, on="doc")["dataset"].unique()
            docs = case.mentions.documents.join(originals.documents, on="doc")
            lost = pl.col("doc").is_in(self.unknown.implode())
            every = ~lost & ~pl.col("dataset").is_in(cut.implode())
            unknown = docs.group_by("one").agg(lost=lost.any() & ~every.any()).filter("lost")["one"].sort()
        if self.inside.is_empty():
            return Scope(self.inside, unknown)
        rows = (
            case.answers.select("answer")
            .join(originals.answers, on="answer")
            .join(self.inside, on="answer", how="left")
        )
        inside = rows.group_by("one").agg(pl.col("in_scope").fill_null(True).any())
        return Scope(inside.select("in_scope", answer="one").select("answer", "in_scope"), unknown)

    def mark(self, answers: SystemAnswers) -> pl.DataFrame:
        """Return the answers with `in_scope`; a wrong link on a kept mention (`on_mention`) is never excused."""
        if self.inside.is_empty():
            return answers.with_columns(in_scope=pl.lit(True))
        rows = answers.join(self.inside, on="answer", how="left", maintain_order="left")
        return rows.with_columns(pl.col("in_scope").fill_null(True) | pl.col("on_mention"))

    def drop_unknown(self, counts: Counts) -> Counts:
        """Return counts without those in scope of the documents where they are not known."""
        if self.unknown.is_empty():
            return counts
        known = ~pl.col("doc").is_in(self.unknown.implode())
        return counts.with_columns(pl.when(known).then("fp_in_scope").alias("fp_in_scope"))


@dataclass(frozen=True)
class Judged:
    """The outcome of one criterion and matching.

    - `answers`: answer, system, doc, `outcome` ('tp', 'fp', 'ignored'), `on_mention` (its span is that of a kept
      mention), and `in_scope`: what is on a kept mention, and of the rest what the selection could mean;
    - `groups`: system, doc, group, for each group that a system satisfies;
    - `pairs`: system, mention, answer, correct: the assignment itself, wrong links included.
    """

    answers: pl.DataFrame
    groups: pl.DataFrame
    pairs: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Case:
    """Gold as one slice sees it, with all answers. Two cases are the same if they are one object.

    `gold` is that of `Mentions` with the column `ignorable` as the slice has it; rows that the slice removed are not
    in it. `answers` likewise. `scope` says which answers the cut could mean. `column` and `value` name the slice and
    are empty for the whole. `evidence` holds what gold and runs say beyond spans and links: texts, candidates, types
    and names. `part_of` is the case that one of linked or of NIL mentions is a part of, and `thresholds` (system,
    dataset, above) are those by which answers were chosen. `originals` is what several datasets share, None where they
    share nothing.
    """

    mentions: Mentions
    gold: GoldMentions
    answers: SystemAnswers
    overlaps: pl.DataFrame
    evidence: Evidence
    column: str = ""
    value: str = ""
    scope: Scope = field(default_factory=Scope)
    part_of: Case | None = None
    thresholds: pl.DataFrame | None = None
    originals: Originals | None = None
    # Not to be given: what `replace` derives from a case begins with a cache of its own.
    _judged: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def kept(self) -> GoldMentions:
        """The gold annotations that are required."""
        return self.gold.filter(pl.col("ignorable").is_null())

    @cached_property
    def options(self) -> pl.DataFrame:
        """The annotations that are required with `size`, how many of them their option needs, and `of_group`, how many
        their group has.

        An option's number is that of its first annotation, so that it is no other group's.
        """
        sizes = {"size": counts(self.kept["option"]), "of_group": counts(self.kept["group"])}
        return self.kept.with_columns(pl.Series(name, values) for name, values in sizes.items())

    def pairs_of(self, matching: Matching) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the pairs that a matching decides on, with `system` and `ignorable`, and those of required mentions.

        These have doc, group, option and `size`, too. Matchings that ask for the same pairs have the same.
        """
        return self.once(("pairs", matching.pairs), lambda case: _with_sides(case, matching.pairs(case)))

    def where(self, condition: pl.Expr) -> Case:
        """Return the case of the gold and of the answers that meet a condition."""
        return replace(self, gold=self.gold.filter(condition), answers=self.answers.filter(condition))

    @cached_property
    def of_spans(self) -> Case:
        """The case as one sees it who compares spans alone: each span counts once on either side.

        So two links of one span are one mention and one answer. Mentions with alternatives or of several spans stay
        apart, each of which may need an answer of its own: as many answers on a span stay as there are mentions on it.
        Those in scope stay first.
        """
        span = ["doc", "begin", "end", "told"]
        told = pl.when(pl.col("begin").is_null()).then("form")
        gold = self.gold.with_columns(told=told)
        gold = gold.unique(["ignorable", "group", "option", *span], keep="first", maintain_order=True)
        alone = pl.lit(True)
        if (counts(gold["group"]) > 1).any():
            # Annotations that repeat each other are options of one group, and one mention.
            alone = pl.struct(*span, "link").n_unique().over("group") == 1
        alone = pl.col("ignorable").is_null() & alone
        gold = gold.with_columns(alone=alone)
        gold = gold.with_columns(
            group=pl.when("alone").then(pl.col("group").min().over(*span, "alone")).otherwise("group")
        )
        mentions = gold.filter(pl.col("ignorable").is_null()).group_by(span).agg(mentions=pl.col("group").n_unique())
        scope = self.answers.with_columns(told=told).join(
            self.scope.inside, on="answer", how="left", maintain_order="left"
        )
        scope = scope.sort(pl.col("in_scope").fill_null(True), descending=True, maintain_order=True)
        scope = scope.join(mentions, on=span, how="left", nulls_equal=True, maintain_order="left")
        nth = pl.int_range(pl.len()).over("system", *span)
        kept = scope.filter(nth < pl.col("mentions").fill_null(1))
        answers = self.answers.join(kept, on="answer", how="semi", maintain_order="left")
        return replace(self, gold=gold.drop("told", "alone"), answers=answers)

    @cached_property
    def placed(self) -> Case:
        """The case with a place for each mention: that of its like on the other side, or of its form.

        Where one of the two has no offsets, an answer stands on the mention that it is assigned, else on the first of
        its form. What is left stands behind all texts, each form in a place of its own.
        """
        if not (self.gold["begin"].null_count() or self.answers["begin"].null_count()):
            return self
        ends = pl.concat(
            [self.gold["end"], self.answers["end"], self.evidence.texts["text"].str.len_chars().cast(pl.Int64)]
        )
        behind = int(ends.max() or 0) + 2 + 2 * pl.col("form")  # type: ignore[arg-type]
        own = [pl.coalesce("begin", behind).alias("begin"), pl.coalesce("end", behind + 1).alias("end")]
        gold = self.gold.with_columns(own, nowhere=pl.col("begin").is_null()).sort("doc", "begin", "end", "mention")
        pairs = self.judge("link", MATCHINGS["strong"]).pairs.select("mention", "answer")
        assigned = pairs.join(gold, on="mention").select("answer", "nowhere", first="begin", last="end")
        alike = gold.unique(["doc", "form"], keep="first", maintain_order=True)
        alike = alike.select("doc", "form", like_first="begin", like_last="end")
        answers = self.answers.join(assigned, on="answer", how="left", maintain_order="left")
        answers = answers.join(alike, on=["doc", "form"], how="left", maintain_order="left")
        here, there = pl.col("begin").is_null(), pl.col("nowhere").fill_null(False)
        moved = [
            pl.coalesce(pl.when(here | there).then(first), pl.when(here).then(like), place).alias(name)
            for name, first, like, place in zip(
                ("begin", "end"), ("first", "last"), ("like_first", "like_last"), own, strict=True
            )
        ]
        answers = answers.with_columns(moved).select(self.answers.columns).sort("doc", "begin", "end", "answer")
        return replace(self, gold=gold.drop("nowhere"), answers=answers)

    def pool(self) -> Case:
        """Return the case of all datasets together, in which what several of them share stands once.

        A mention is required where any of them requires it, and dropped where each that has it dropped it.
        """
        return self.once(("pooled",), _pool)

    def in_kept_documents(self, documents: pl.Series | None = None) -> Case:
        """Return the case without the documents that hold no kept mention, of all of them or of these (doc)."""
        out = ~pl.col("doc").is_in(self.kept["doc"].unique().implode())
        out = out if documents is None else out & pl.col("doc").is_in(documents.implode())
        mentions = replace(self.mentions, documents=self.mentions.documents.filter(~out))
        return replace(self.where(~out), mentions=mentions)

    def judge(self, criterion: str, matching: Matching) -> Judged:
        """Return the outcome by `criterion`, computed once.

        'link': span and entity; 'span': span alone, whatever the links are; 'span, link first': span alone, but of
        several answers that a mention may take, the one that is linked right.
        """
        return self.once((criterion, matching.name), lambda case: _judge(case, criterion, matching))

    def once(self, key: tuple[object, ...], work: Callable[[Case], Found]) -> Found:
        """Return what `work` makes of this case, computed once for each key."""
        if key not in self._judged:
            self._judged[key] = work(self)
        found: Found = self._judged[key]
        return found


def _pool(case: Case) -> Case:
    originals = case.originals
    if originals is None:
        return case
    pooled = replace(
        case,
        mentions=replace(originals.mentions, documents=originals.pool_documents(case.mentions.documents)),
        gold=originals.pool_gold(case.gold),
        answers=originals.pool_answers(case.answers),
        overlaps=originals.overlaps,
        scope=case.scope.pool(case, originals),
        originals=None,
    )
    return pooled if case.part_of is None else replace(pooled, part_of=case.part_of.pool())


Counter = Callable[[Case, str, str], Counts]
"""The counts of a case by the names of task and matching, as `remix.scoring.tasks.Task.count` returns them."""


def found_in_full(case: Case, judged: Judged) -> pl.DataFrame:
    """Return system, doc, group, option and `share`, which is 1, of the mentions of gold that were found."""
    found = judged.pairs.filter("correct").join(case.kept.select("mention", "doc", "group", "option"), on="mention")
    found = found.join(judged.groups, on=["system", "group"], how="semi")
    return found.select("system", "doc", "group", "option", share=1.0).unique()


@dataclass(frozen=True)
class Matching:
    """When two spans match.

    `spans` is an expression over the pairs that `pairs` returns. Those of `remix.scoring.matching.pairs` have `mention`
    and `answer` (the numbers of the mention and of the answer), `equal` (same begin and end), `link`, `shared` and
    `union` (characters). A matching that asks for more adds it in `pairs`, from `case.gold` and `case.answers`.
    `at(value)` returns the matching with its parameter, where it has one. `credit(case, judged, on_mention_only)`
    returns by system and doc what is added to the counts of `remix.scoring.tasks.tally`, where a matching has what is
    right or wrong in part.
    `shares(case, judged)` returns the mentions of gold that are found, as `found_in_full` does, each with the share
    that is found; recall is the sum of the shares by the number of mentions. None where recall is something else.
    `by_document` says that what it makes of a document depends on that alone, not on what else is scored.
    """

    name: str
    summary: str
    spans: pl.Expr
    pairs: Callable[[Case], pl.DataFrame] = lambda case: case.overlaps
    at: Callable[[float], Matching] | None = None
    credit: Callable[[Case, Judged, bool], pl.DataFrame] | None = None
    shares: Callable[[Case, Judged], pl.DataFrame] | None = found_in_full
    by_document: bool = False


def _with_sides(case: Case, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    options = case.options
    pairs = look_up(look_up(pairs, "mention", case.gold, ["ignorable"]), "answer", case.answers, ["system"])
    required = look_up(pairs, "mention", options, ["doc", "group", "option", "size"])
    return pairs, required


def _judge(case: Case, criterion: str, matching: Matching) -> Judged:
    correct = pl.col("link") if criterion == "link" else pl.lit(True)
    link = pl.lit(True) if criterion == "span" else pl.col("link")
    judged = {"correct": correct, "spans": matching.spans, "link": link}
    pairs, edges = (rows.with_columns(**judged) for rows in case.pairs_of(matching))
    edges = edges.filter("spans")
    assigned = assign(edges)
    # A group is right as a whole.
    alone = (assigned["size"] == 1).all()
    right = assigned.filter("correct" if alone else pl.col("correct").all().over("system", "group"))
    groups = right["system", "doc", "group"]
    alternatives = case.options.filter(pl.col("of_group") > 1)
    further = right["answer"].clear() if alternatives.is_empty() else _further(alternatives, pairs, right)
    answers = _outcomes(case, pairs, edges["answer"], right["answer"], further)
    return Judged(answers, groups if alone else groups.unique(), assigned["system", "mention", "answer", "correct"])


def _further(alternatives: GoldMentions, pairs: pl.DataFrame, right: pl.DataFrame) -> pl.Series:
    """Return the answers that match another alternative of a mention that the system has already, as TPs have to.

    Without this, gold that writes its alternatives as several annotations would not be perfect as answers.
    """
    # By span and entity, since repeated annotations are one group and no alternatives of each other.
    like = ["group", "begin", "end", "meant"]
    named = alternatives.select("mention", *like[:3], meant="link")
    fitting = look_up(pairs.filter(pl.col("spans") & pl.col("correct")), "mention", named, like)
    taken = look_up(right.select("mention", "system"), "mention", named, like)
    fitting = fitting.join(right, on=["group", "system"], how="semi")
    return fitting.join(taken, on=[*like, "system"], how="anti")["answer"].unique()


def _outcomes(case: Case, pairs: pl.DataFrame, near: pl.Series, right: pl.Series, further: pl.Series) -> pl.DataFrame:
    numbers = case.answers["answer"].to_numpy()
    size = int(numbers.max(initial=-1)) + 1
    found = mark(right, size)
    if pairs["ignorable"].null_count() < len(pairs):
        further = pl.concat([further, fits_ignorable(pairs.filter(~found[pairs["answer"]]))])
    ignored, placed = mark(further, size), mark(near, size)
    tp, on_mention, left_out = (pl.Series(one[numbers]) for one in (found, placed, ignored))
    out = left_out | ~(case.answers["inside"] | on_mention)
    outcome = pl.when(tp).then(pl.lit("tp")).when(out).then(pl.lit("ignored")).otherwise(pl.lit("fp"))
    return case.scope.mark(case.answers.select(*("answer", "system", "doc"), on_mention=on_mention, outcome=outcome))


def fits_ignorable(pairs: pl.DataFrame) -> pl.Series:
    """Return the answers, of those that are no TP, that fit an ignorable annotation better than any kept one.

    The fit is the link, then the overlap; ties go to the kept annotation. A dropped annotation takes any answer that
    overlaps it, an optional one only what matches it in full. An answer on the very span of a kept annotation belongs
    there, whatever overlaps it: only what is gold on that same span, by its link too, takes it away.
    """
    if pairs["ignorable"].null_count() == len(pairs):
        return pairs["answer"].clear()
    takes = pl.when(pl.col("ignorable") == "optional").then(pl.col("spans") & pl.col("correct")).otherwise(pl.lit(True))
    ignorable = pairs.filter(pl.col("ignorable").is_not_null() & takes)
    kept = pairs.filter(pl.col("ignorable").is_null())
    itself = pl.col("equal") & pl.col("link")
    placed = kept.filter("equal")["answer"].unique()
    fit = pl.col("link").cast(pl.Float64) * 2 + pl.col("shared") / pl.col("union")
    best = (
        ignorable.filter(itself | ~pl.col("answer").is_in(placed.implode()))
        .group_by("answer")
        .agg(fit=fit.max(), itself=itself.any())
    )
    rival = kept.group_by("answer").agg(rival=fit.max())
    best = best.join(rival, on="answer", how="left")
    return best.filter(pl.col("itself") | (pl.col("fit") > pl.col("rival").fill_null(-1.0)))["answer"]


def with_detail(case: Case, name: str) -> Case:
    """Return the case with a further column of gold and of answers, as `Evidence.with_detail` has it."""
    if name in case.answers.columns:
        return case
    gold, answers = case.evidence.with_detail(name, case.gold, case.answers)
    return replace(case, gold=gold, answers=answers)


MATCHINGS: Registry[Matching] = Registry("matching", "remix.scoring.matching", Matching)


@cache
def matching_named(name: str) -> Matching:
    """Return the matching of a name such as 'strong' or 'fuzzy(0.85)'.

    Raises `UnknownName` for a name that no matching has, `UsageError` for a parameter that it does not take.

    >>> matching_named("fuzzy(0.5)").name
    'fuzzy(0.5)'
    """
    parts = re.fullmatch(r"([\w-]+)\(([^)]*)\)", name)
    if parts is None:
        return MATCHINGS[name]
    found = MATCHINGS[parts[1]]
    try:
        value = float(parts[2]) + 0.0  # -0 is 0
    except ValueError:
        value = -1.0
    if found.at is None or not 0 <= value <= 1:
        taken = "a number from 0 to 1" if found.at is not None else "no parameter"
        raise UsageError(f"matching '{found.name}' takes {taken}, not '{parts[2]}'")
    return found.at(value)


def spell_parameter(value: float) -> str:
    """Return the number of a matching as its name has it, which is read as the very same number again.

    >>> spell_parameter(0.5), spell_parameter(1.0), spell_parameter(0.6666666)
    ('0.5', '1', '0.6666666')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def matchings_among(names: Iterable[str]) -> list[str]:
    """Return those of the names that a matching has which is no profile's own, with its number; else that of `strong`.

    >>> matchings_among(["fuzzy(0.5)", "strong_link_match"]), matchings_among(["strong_link_match"])
    (['fuzzy(0.5)'], ['strong'])
    """
    return [name for name in names if name.partition("(")[0] in MATCHINGS] or ["strong"]


def matching_without_credit(name: str) -> Matching:
    """Return the matching of a name, where it counts pairs as a whole; raises `UsageError` for one with credit."""
    found = matching_named(name)
    if found.credit is not None:
        raise UsageError(f"matching '{name}' counts in part, which this profile's tool cannot: use --profile remix")
    return found
