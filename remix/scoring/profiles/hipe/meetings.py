"""Which answers meet which mentions: each in turn takes the first that it overlaps (ner_eval.py, compute_metrics)."""

from __future__ import annotations

import numpy as np
import polars as pl

from remix.scoring.matching.pairs import touching


def meetings(gold: pl.DataFrame, answers: pl.DataFrame, systems: int) -> pl.DataFrame:
    """Return a row for each answer and each mention of gold that nothing took: system, doc, mention, answer, and the
    regimes strict, fuzzy and exact.

    Both sides have doc, begin, end and text; gold `label`, answers `system` and `labels`, the first of which is the
    best. `systems` is how many there are, numbered from 0. `mention` is the row of gold, null where an answer meets
    nothing; `answer` that of the answer, null where a mention is missed. `strict`, `fuzzy` and `exact` say whether an
    answer is right by each regime.

    An answer is exact on a mention with its span and text and one of its labels. Any other takes the first mention
    that has its span and another label than its first, which is right as `exact`, or that overlaps it and that no
    answer before it took.

    >>> span = {"doc": [0, 0], "begin": [0, 4], "end": [3, 7], "text": ["Ada", "Ely"]}
    >>> gold = pl.DataFrame({**span, "label": ["PERS", "LOC"]})
    >>> one = {"system": [0], "doc": [0], "begin": [0], "end": [7], "text": ["AdaEly"], "labels": [["LOC"]]}
    >>> meetings(gold, pl.DataFrame(one), 1).select("mention", "answer", "strict", "fuzzy").rows()
    [(0, 0, False, False), (1, None, False, False)]
    """
    order, number = ["doc", "begin", "end"], pl.int_range(pl.len(), dtype=pl.Int64)
    gold = gold.with_columns(mention=number).sort(*order, "mention").with_columns(place=number)
    answers = answers.with_columns(answer=number).sort("system", *order, "answer").with_columns(turn=number)
    pairs = _pairs(gold, answers)
    exact = pairs.filter("equal", "alike", "right").unique("turn", keep="first", maintain_order=True)
    rest = _by_turns(pairs.join(exact, on="turn", how="anti", maintain_order="left"), exact)
    met = pl.concat(
        [
            exact.select("turn", "place", strict=pl.lit(True), fuzzy=pl.lit(True), exact=pl.lit(True)),
            rest.select("turn", "place", strict=pl.lit(False), fuzzy=pl.col("right") & ~pl.col("other"), exact="other"),
        ]
    )
    found = answers.select("turn", "answer", "system", "doc").join(met, on="turn", how="left", maintain_order="left")
    found = found.join(gold.select("place", "mention"), on="place", how="left", maintain_order="left")
    regimes = ("strict", "fuzzy", "exact")
    found = found.select("system", "doc", "mention", "answer", pl.col(regimes).fill_null(False))
    every = pl.DataFrame({"system": range(systems)}, schema={"system": pl.Int64})
    missed = every.join(gold.select("doc", "mention"), how="cross").join(found, on=["system", "mention"], how="anti")
    none = dict.fromkeys(regimes, pl.lit(False))
    missed = missed.select("system", "doc", "mention", answer=pl.lit(None, pl.Int64), **none)
    return pl.concat([found, missed])


def _pairs(gold: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return what overlaps by turn and place: `equal` spans, `alike` texts, `right` label, `other` than the first.

    Mentions without offsets are in no pair.
    """
    gold, answers = gold.drop_nulls(["begin", "end"]), answers.drop_nulls(["begin", "end"])
    left, right = touching(gold, answers)
    pairs = pl.concat(
        [
            gold[left].select("place", "begin", "end", "text", "label"),
            answers[right].select("turn", "system", "labels", first="begin", last="end", said="text"),
        ],
        how="horizontal",
    )
    equal = (pl.col("begin") == pl.col("first")) & (pl.col("end") == pl.col("last"))
    shared = pl.min_horizontal("end", "last") > pl.max_horizontal("begin", "first")
    pairs = pairs.filter(equal | shared).with_columns(
        equal=equal,
        alike=pl.col("text") == pl.col("said"),
        right=pl.col("labels").list.contains(pl.col("label")),
        other=equal & (pl.col("labels").list.first().ne_missing(pl.col("label"))),
    )
    return pairs.select("turn", "place", "system", "equal", "alike", "right", "other").sort("turn", "place")


def _by_turns(pairs: pl.DataFrame, exact: pl.DataFrame) -> pl.DataFrame:
    """Return the pair of each answer that is not exact and takes a mention.

    Answers that share no mention with one before them do not wait for each other: the n-th answers of all such
    groups have their turn at once, so that there are as many rounds as the largest group has answers.
    """
    ranges = pairs.group_by("turn", maintain_order=True).agg(
        pl.col("system").first(), low=pl.col("place").min(), high=pl.col("place").max()
    )
    before = pl.col("high").cum_max().shift().over("system")
    ranges = ranges.with_columns(group=(before.is_null() | (pl.col("low") > before)).cum_sum())
    rounds = ranges.select("turn", round=pl.int_range(pl.len()).over("group"))
    pairs = pairs.join(rounds, on="turn", maintain_order="left")
    places = int(max(pairs["place"].max() or 0, exact["place"].max() or 0)) + 1  # type: ignore[arg-type]
    systems = int(max(pairs["system"].max() or 0, exact["system"].max() or 0)) + 1  # type: ignore[arg-type]
    taken = np.full(places * systems, np.iinfo(np.int64).max)
    np.minimum.at(taken, (exact["system"] * places + exact["place"]).to_numpy(), exact["turn"].to_numpy())
    mention = (pairs["system"] * places + pairs["place"]).to_numpy()
    turn, other = pairs["turn"].to_numpy(), pairs["other"].to_numpy()
    chosen = []
    for rows in pairs.with_row_index("row").group_by("round").agg("row").sort("round")["row"]:
        own = rows.to_numpy()
        free = own[other[own] | (taken[mention[own]] >= turn[own])]
        first = free[np.unique(turn[free], return_index=True)[1]]
        np.minimum.at(taken, mention[first], turn[first])
        chosen.append(first)
    return pairs[np.concatenate(chosen)] if chosen else pairs
