"""The aspects in which evaluators differ, in the order of counting: each with the rules that several tools have.

The first rule of each aspect is that of the default profile. A rule that one tool alone has stands in the file of its
profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.scoring.conventions import Convention
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import Case, Counter, matching_named, matching_without_credit, with_detail
from remix.scoring.statistics import SCORES, Over, count_pairs, ratio, scores
from remix.scoring.tasks import (
    Elements,
    count_entities,
    count_task,
    elements,
    entity_elements,
    has_several_entities,
)


class Documents(Convention):
    """Which documents are compared."""


documents_of_gold = Documents(name="documents-of-gold", words="answers in documents that gold lacks are left out")


class Nil(Convention):
    """Mentions without an entity."""


def keep_linked(case: Case, task: str, matching: str, count: Counter) -> Case:
    """Return the case of what is linked; in NIL, a task of its own, of what is not."""
    kept = pl.col("link") == NIL if task == "NIL" else pl.col("link") != NIL
    gold, answers = case.gold.filter(kept), case.answers.filter(kept)
    if task.partition("(")[0] == "candidates":  # which an answer may have that chose none of them
        told = with_detail(case, "candidates").answers.filter(pl.col("candidates").list.len() > 0)["answer"]
        answers = case.answers.filter(kept | pl.col("answer").is_in(told.implode()))
    if len(gold) == len(case.gold) and len(answers) == len(case.answers):
        return case
    return replace(case, gold=gold, answers=answers)


nil_is_nil = Nil(name="nil-is-nil", words="NIL is right where gold has NIL, and wrong elsewhere")
nil_left_out = Nil(name="nil-left-out", words="mentions without a link are left out on both sides", choose=keep_linked)


class Optional(Convention):
    """Gold that is neither required nor wrong."""


def _keep_required(frames: Frames) -> Frames:
    if frames.annotations["ignorable"].null_count() == len(frames.annotations):
        return frames
    return replace(frames, annotations=frames.annotations.filter(pl.col("ignorable").is_null()))


optional_ignored = Optional(
    name="optional-ignored", words="an answer that fits an optional or dropped annotation counts neither way"
)
optional_left_out = Optional(
    name="optional-unknown",
    words="optional and dropped annotations are not in gold: an answer there is wrong",
    gold=_keep_required,
)


class Regions(Convention):
    """Where in a text answers count."""


def _without_regions(frames: Frames) -> Frames:
    return frames if frames.regions.is_empty() else replace(frames, regions=frames.regions.clear())


regions_respected = Regions(
    name="regions-respected", words="answers outside what is annotated exhaustively are left out"
)
regions_left_out = Regions(
    name="regions-unknown", words="answers count in the whole text, annotated or not", gold=_without_regions
)


class Alternatives(Convention):
    """Several readings of one mention."""


def _separate(frames: Frames) -> Frames:
    own = pl.col("annotation")
    if frames.annotations.select(((pl.col("group") == own) & (pl.col("option") == own)).all()).item():
        return frames
    return replace(frames, annotations=frames.annotations.with_columns(group=own, option=own))


alternatives_grouped = Alternatives(
    name="alternatives-grouped", words="alternatives of a mention are one TP or one FN together"
)
alternatives_separate = Alternatives(
    name="alternatives-separate",
    words="every annotation of gold is a mention of its own, alternatives too",
    gold=_separate,
)


@dataclass(frozen=True, kw_only=True)
class Repeated(Convention):
    """Annotations of the same span and entity."""

    collapse: bool
    """Whether they count once on either side."""


repeated_once = Repeated(
    name="repeated-once", words="annotations of the same span and entity count once on either side", collapse=True
)

repeated_each = Repeated(
    name="repeated-each",
    words="every annotation counts, also one that repeats another of the same span and entity",
    collapse=False,
)


class Overlapping(Convention):
    """Mentions of one side that overlap each other."""


overlapping_kept = Overlapping(name="overlapping-kept", words="mentions may overlap each other")


class Threshold(Convention):
    """Which answers are confident enough."""


threshold_none = Threshold(name="threshold-none", words="every answer counts")


@dataclass(frozen=True, kw_only=True)
class Pairing(Convention):
    """Which answer is held against which mention."""

    count: Counter


OF_PEERS = ("A2KB", "D2KB", "ERec", "C2KB")
"""The tasks that tools other than this one count mention by mention."""


def refuse_beside(task: str, matching: str, *, known: Sequence[str] = OF_PEERS) -> None:
    """Raise `UnknownName` for a task that is not `known` to a tool that pairs whole answers, `UsageError` for a
    matching that counts in part; C2KB compares no spans, so that any matching will do.
    """
    if task not in known:
        raise UnknownName("task of this profile", task, known)
    (matching_named if task == "C2KB" else matching_without_credit)(matching)


def count_by_pairs(
    case: Case,
    task: str,
    matching: str,
    pair: Callable[[Elements], tuple[pl.DataFrame, Elements]],
    *,
    repeated: bool = False,
    known: Sequence[str] = OF_PEERS,
) -> Counts:
    """Return the counts of a tool that pairs answers and mentions by a rule of its own.

    `pair` returns the pairs that are right and what is compared without the pairs and answers that it takes out: an
    answer in none of the pairs left is wrong, a mention in none is missed. In C2KB entities of documents count once, or
    as often as they are linked to (`repeated`), where one of several is enough on both sides. Raises as
    `refuse_beside` does.
    """
    refuse_beside(task, matching, known=known)
    alike = task == "C2KB" and repeated and has_several_entities(case)
    if task == "C2KB" and not alike:
        return count_entities(case, repeated=repeated)
    right, compared = pair(entity_elements(case) if alike else elements(case, task, matching))
    wrong = compared.answers.join(compared.edges, on="answer", how="anti")
    asked = case.mentions.for_each_system(compared.gold)
    return count_pairs(right, wrong, asked.join(compared.edges, on=["system", "group"], how="anti"))


def _greedy(case: Case, task: str, matching: str) -> Counts:
    def pair(compared: Elements) -> tuple[pl.DataFrame, Elements]:
        taken = first_unused(compared.edges)
        return taken, replace(compared, edges=taken)

    return count_by_pairs(case, task, "strong" if task == "D2KB" else matching, pair, repeated=True)


def first_unused(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that each group in turn makes with its first answer that no earlier group took.

    >>> edges = pl.DataFrame({"system": [0, 0, 0], "doc": [0, 0, 0], "group": [0, 0, 1], "answer": [0, 1, 0]})
    >>> first_unused(edges).select("group", "answer").rows()  # group 1 is left with nothing
    [(0, 0)]
    """
    left, found = edges, [edges.clear()]
    while len(left):
        # Who has no earlier rival for the first answer of its own takes it; each turn settles one group at least.
        first = left.unique(["system", "group"], keep="first", maintain_order=True)
        earliest = left.group_by("answer").agg(earliest=pl.col("group").min())
        taken = first.join(earliest, on="answer").filter(pl.col("group") == pl.col("earliest")).drop("earliest")
        found.append(taken)
        left = left.join(taken, on=["system", "group"], how="anti", maintain_order="left")
        left = left.join(taken, on="answer", how="anti", maintain_order="left")
    return pl.concat(found)


pair_maximum = Pairing(
    name="pair-maximum",
    words="the best one-to-one assignment, whatever the order: most correct pairs, then overlap, then offsets",
    count=count_task,
)
pair_first_unused = Pairing(
    name="pair-first-unused",
    words="each gold mention in turn takes the first unused answer that matches, so that order matters; "
    "entities of documents count as often as they are linked to",
    count=_greedy,
)


@dataclass(frozen=True, kw_only=True)
class Macro(Convention):
    """Means over documents."""

    documents: Over
    """Which: those where the score is defined, those with gold, or all."""
    harmonic: bool = False
    """Whether macro-F1 is the harmonic mean of macro precision and recall, else it is the mean of the documents' F1."""


macro_where_defined = Macro(
    name="macro-where-defined",
    words="macro scores are means over the documents where the score is defined",
    documents="defined",
)
macro_of_all = Macro(
    name="macro-of-all",
    words="macro scores, F1 too, are means over all documents, also those without annotations",
    documents="all",
)


@dataclass(frozen=True, kw_only=True)
class Undefined(Convention):
    """Scores without denominator."""

    scores: Callable[[], Mapping[str, pl.Expr]]
    """Returns the expression of each score over counts."""


def fill_scores(fill: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> dict[str, pl.Expr]:
    """Return the scores with what `fill` makes of a precision or recall and its FPs, F1 being their harmonic mean.

    A precision that means nothing, as its FPs are null, has no F1. What is empty is so by the FPs of each F1.
    """
    exact = scores()
    found = {"recall": fill(exact["recall"], pl.col("fp"))}
    for of in ("", "_in_scope", "_on_mention"):
        wrong = pl.col(f"fp{of}")
        precision, recall = (fill(exact[name], wrong) for name in (f"precision{of}", "recall"))
        f1 = ratio(2 * precision * recall, precision + recall).fill_null(0.0)
        found[f"precision{of}"] = pl.when(wrong.is_not_null()).then(precision)
        found[f"f1{of}"] = pl.when(wrong.is_not_null()).then(f1)
    return {name: found[name] for name in exact}


undefined_null = Undefined(name="undefined-null", words="a score without denominator is null", scores=scores)
undefined_zero = Undefined(
    name="undefined-zero",
    words="a score without denominator is 0",
    scores=lambda: fill_scores(lambda score, _: score.fill_null(0.0)),
)
undefined_one = Undefined(
    name="undefined-one",
    words="P = 1 without answers, R = 1 without gold; F1 is their harmonic mean",
    scores=lambda: fill_scores(lambda score, _: score.fill_null(1.0)),
)


def zero_of_all() -> dict[str, pl.Expr]:
    """Return the scores with 0 for precision, recall and F1 without denominator, for tools without further precisions.

    F1 is that of the counts, which the harmonic mean of `undefined_zero` is but for the last digit.
    """
    return {name: score.fill_null(0.0) if name in SCORES[:3] else score for name, score in scores().items()}
