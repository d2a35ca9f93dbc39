"""BAT-Framework (Cornolti, Ferragina and Ciaramita 2013), version 1.3.6."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from remix.scoring.conventions import aspects
from remix.scoring.matching import Case, Counter
from remix.scoring.profiles import PLAIN_GOLD, Profile
from remix.scoring.tasks import Elements


def _longest_under_weak(case: Case, task: str, matching: str, count: Counter) -> Case:
    if matching != "weak" or task == "C2KB":
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


def _pair(compared: Elements) -> tuple[pl.DataFrame, Elements]:
    first = compared.edges.unique(["system", "group"], keep="first", maintain_order=True)
    return first.unique("answer"), compared


bat = Profile(
    name="bat",
    summary="an answer may match several mentions; P = 1 without answers, R = 1 without gold; no NIL",
    source="https://github.com/marcocor/bat-framework, src/main/java/it/unipi/di/acube/batframework",
    tasks=("A2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    refuse=aspects.refuse_beside,
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
            count=partial(aspects.count_by_pairs, pair=_pair),
        ),
        macro=aspects.macro_of_all.with_source("metrics/Metrics.java, macroF1"),
        undefined=aspects.undefined_one.with_source("metrics/Metrics.java, precision, recall, F1"),
    ),
    outside_slice="removed",
    notes={
        "order": "the first match is that of a hash set's order; here it is that of the offsets",
        "tasks": "A2KB is its A2W, C2KB its C2W, ERec its mention annotation (problems/*.java)",
    },
)
