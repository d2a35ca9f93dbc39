"""BAT-Framework (Cornolti, Ferragina and Ciaramita 2013), version 1.3.6."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from remix.scoring.conventions import aspects
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case, Counter
from remix.scoring.profiles import PLAIN_GOLD, Profile
from remix.scoring.tasks import Elements


def _longest_under_weak(case: Case, task: str, matching: str, count: Counter) -> Case:
    if matching != "weak" or task in ("C2KB", *_STRONG):
        return case
    gold = longest_of_runs(case.gold.sort("doc", "begin", "mention"), ["doc"])
    answers = longest_of_runs(case.answers.sort("system", "doc", "begin", "answer"), ["system", "doc"])
    return replace(case, gold=gold.sort("mention"), answers=answers.sort("answer"))


def longest_of_runs(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return, of the sorted rows of a document, those left when each is held against the longest before it.

    A row that overlaps the one kept so far replaces it if it is longer, else goes; one that does not begins anew.

    >>> rows = pl.DataFrame({"doc": [0, 0, 0], "begin": [0, 2, 7], "end": [4, 8, 9]})
    >>> longest_of_runs(rows, ["doc"]).rows()
    [(0, 2, 8)]
    """
    rows = rows.with_columns(reach=pl.col("end").cum_max().shift(1).over(keys))
    # Only rows that overlap an earlier one need the turn-by-turn comparison: they are in blocks between gaps.
    rows = rows.with_columns(block=(pl.col("reach").is_null() | (pl.col("reach") <= pl.col("begin"))).cum_sum())
    rows = rows.with_columns(nth=pl.int_range(pl.len(), dtype=pl.Int64).over("block"))
    begin, end, block, nth = (rows[name].to_numpy() for name in ("begin", "end", "block", "nth"))
    best = np.flatnonzero(nth == 0)  # of each block
    kept = np.zeros(len(rows), np.bool_)
    for turn in range(1, int(nth.max(initial=0)) + 1):
        here = np.flatnonzero(nth == turn)
        rival = best[block[here] - 1]
        overlap = begin[here] < end[rival]
        longer = (end - begin)[here] > (end - begin)[rival]
        kept[rival[~overlap]] = True
        best[block[here] - 1] = np.where(~overlap | longer, here, rival)
    kept[best] = True
    return rows.filter(kept).drop("reach", "block", "nth")


_KNOWN = (*aspects.OF_PEERS, "candidates")
_STRONG = ("D2KB", "candidates")
"""Tasks that the tool compares on equal spans alone."""


def _count(case: Case, task: str, matching: str) -> Counts:
    aspects.refuse_beside(task, matching, known=_KNOWN)
    # Mentions are sets of spans; where annotations stand for them, those that overlap went before.
    case = case.of_spans if task == "ERec" and matching != "weak" else case
    return aspects.count_by_pairs(case, task, "strong" if task in _STRONG else matching, _pair, known=_KNOWN)


def _pair(compared: Elements) -> tuple[pl.DataFrame, Elements]:
    first = compared.edges.unique(["system", "group"], keep="first", maintain_order=True)
    return first.unique("answer"), compared


bat = Profile(
    name="bat",
    summary="an answer may match several mentions; P = 1 without answers, R = 1 without gold; no NIL",
    source="https://github.com/marcocor/bat-framework, src/main/java/it/unipi/di/acube/batframework",
    tasks=("A2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    refuse=partial(aspects.refuse_beside, known=_KNOWN),
    conventions=replace(
        PLAIN_GOLD,
        nil=aspects.nil_left_out.with_source("data/Tag.java: a concept is an article of Wikipedia"),
        overlapping=aspects.Overlapping(
            name="overlapping-longest",
            words="under weak matching, of mentions of one side that overlap only the longest stays",
            source="data/Annotation.java, deleteOverlappingAnnotations; metrics/WeakAnnotationMatch.java",
            choose=_longest_under_weak,
        ),
        pairing=aspects.Pairing(
            name="pair-any",
            words="an answer is right where it is the first match of a gold mention, wrong where it matches none; "
            "one answer may serve several mentions, and a second match of a mention counts neither way",
            source="metrics/Metrics.java, getSingleTp, getSingleFp, getSingleFn",
            count=_count,
        ),
        macro=aspects.macro_of_all.with_source("metrics/Metrics.java, macroF1"),
        undefined=aspects.undefined_one.with_source("metrics/Metrics.java, precision, recall, F1"),
    ),
    outside_slice="removed",
    notes={
        "order": "the first match is that of a hash set's order; here it is that of the offsets",
        "tasks": "A2KB is its A2W, C2KB its C2W, D2KB its D2W, ERec its mention spotting, candidates its candidate "
        "spotting (problems/*.java); Sc2W and Rc2W compare tags as C2W does, whatever their scores "
        "(metrics/NaiveScoredTagMatch.java)",
        "candidates": "--task candidates: spans are equal, and the sets of entities of both have one in common "
        "(metrics/MultiEntityMatch.java)",
        "D2KB": "spans are equal whatever the matching (utils/RunExperiments.java)",
        "mentions": "ERec by strong has equal spans, each once (metrics/MentionMatch.java); that "
        "metrics/StrongMentionAnnotationMatch.java compares lengths alone is a slip, which is not followed here",
        "best threshold": "of systems with scores the tool tries thresholds from 0 to 1 in steps of 1/128, of which "
        "the best is published (utils/RunExperiments.java): --threshold oracle; without it every answer counts",
    },
)
