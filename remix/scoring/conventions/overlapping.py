"""What becomes of mentions of one side that overlap each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from remix.scoring.conventions import Convention, Counter
from remix.scoring.matching import Case, matching_named, with_detail
from remix.scoring.matching.overlaps import overlaps


class Overlapping(Convention):
    """Mentions of one side that overlap each other."""


def _longest_under_weak(case: Case, task: str, matching: str, count: Counter) -> Case:
    if matching != "weak" or task == "C2KB":
        return case
    gold = longest_of_runs(case.gold.sort("doc", "begin", "g"), ["doc"])
    answers = longest_of_runs(case.answers.sort("system", "doc", "begin", "a"), ["system", "doc"])
    return replace(case, gold=gold.sort("g"), answers=answers.sort("a"))


def longest_of_runs(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return, of the sorted rows of a document, those left when each is held against the longest before it.

    A row that overlaps the one kept so far replaces it if it is longer, else goes; one that does not begins anew.

    >>> rows = pl.DataFrame({"doc": [0, 0, 0], "begin": [0, 2, 7], "end": [4, 8, 9]})
    >>> longest_of_runs(rows, ["doc"]).rows()
    [(0, 2, 8)]
    """
    rows = rows.with_columns(
        reach=pl.col("end").cum_max().shift(1).over(keys), place=pl.int_range(pl.len(), dtype=pl.Int64)
    )
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
    return rows.filter(kept).drop("reach", "place", "block", "nth")


def _longest_of_matching(case: Case, task: str, matching: str, count: Counter) -> Case:
    if task == "C2KB":
        return case
    case = with_detail(case, "surface_form")
    gold = _longest(case, "g", case.gold.with_columns(system=pl.lit(0, pl.Int64)), matching)
    answers = _longest(case, "a", case.answers, matching)
    return replace(
        case,
        gold=case.gold.filter(pl.col("g").is_in(gold.implode())),
        answers=case.answers.filter(pl.col("a").is_in(answers.implode())),
    )


def _longest(case: Case, key: str, rows: pl.DataFrame, matching: str) -> pl.Series:
    """Return the numbers of the mentions that are the longest of those that match some mention of their side."""
    how = matching_named(matching)
    # One side held against itself: systems are kept apart as documents of their own.
    apart = rows.with_columns(doc=pl.col("doc") * len(case.mentions.systems) + pl.col("system"))
    apart = apart.sort("doc", "begin", "end", key)
    side = replace(case.mentions, gold=apart.rename({key: "g"}, strict=False), answers=apart.rename({key: "a"}))
    links = case.mentions.gold_links if key == "g" else case.mentions.answer_links
    side = replace(side, gold_links=links.rename({key: "g"}), answer_links=links.rename({key: "a"}))
    mirror = replace(case, mentions=side, gold=side.gold, answers=side.answers, overlaps=overlaps(side))
    pairs = how.pairs(mirror).filter(how.spans).select("g", "a")
    length = apart.select(a=key, length=pl.col("end") - pl.col("begin"))
    best = pairs.join(length, on="a").sort("g", "length", "a", descending=[False, True, False])
    best = best.unique("g", keep="first", maintain_order=True)
    alone = apart.join(pairs, left_on=key, right_on="g", how="anti")[key]
    return pl.concat([best["a"].rename(key), alone]).unique()


overlapping_kept = Overlapping(name="overlapping-kept", words="mentions may overlap each other")
overlapping_longest = Overlapping(
    name="overlapping-longest",
    words="under weak matching, of mentions of one side that overlap only the longest stays",
    choose=_longest_under_weak,
)
embedded_longest = Overlapping(
    name="embedded-longest",
    words="of mentions of one side that match each other only the longest stays",
    choose=_longest_of_matching,
)
