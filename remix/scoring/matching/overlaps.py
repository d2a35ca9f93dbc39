"""Every pair of a gold mention and an answer that share a character, found once for all that follows."""

from __future__ import annotations

import numpy as np
import polars as pl

from remix.scoring.inputs.mentions import NIL, Mentions

__all__ = ["overlaps", "touching"]


def overlaps(mentions: Mentions) -> pl.DataFrame:
    """Return one row per overlapping pair: g, a, `equal` (spans), `link` (entities), `shared`, `union` (characters).

    `link` is true where both have an entity in common, or both have none. A span of no character overlaps its like
    alone. Mentions without offsets are in no pair.
    """
    gold = mentions.gold.select("g", "doc", "begin", "end", "link").drop_nulls(["begin", "end"])
    answers = mentions.answers.select("a", "doc", "begin", "end", "link").drop_nulls(["begin", "end"])
    left, right = touching(gold, answers)
    pairs = pl.concat(
        [
            gold[left].select("g", begin="begin", end="end", entity="link"),
            answers[right].select("a", first="begin", last="end", answered="link"),
        ],
        how="horizontal",
    )
    shared = pl.min_horizontal("end", "last") - pl.max_horizontal("begin", "first")
    pairs = pairs.with_columns(
        equal=(pl.col("begin") == pl.col("first")) & (pl.col("end") == pl.col("last")),
        shared=shared.clip(0),
        union=pl.max_horizontal("end", "last") - pl.min_horizontal("begin", "first"),
    ).filter(pl.col("equal") | (pl.col("shared") > 0))
    # An empty span shares nothing even with itself: its like gets the overlap of a perfect match.
    pairs = pairs.with_columns(pl.when(pl.col("union") == 0).then(1).otherwise(name).alias(name) for name in _LENGTHS)
    pairs = pairs.with_columns(_link(pairs, mentions))
    return pairs.select("g", "a", "equal", "link", *_LENGTHS)


_LENGTHS = ("shared", "union")


def touching(gold: pl.DataFrame, answers: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return row numbers of pairs in one document whose spans touch: all that overlap, and few others.

    Both have doc, begin and end; gold is sorted by doc and begin.
    """
    if gold.is_empty() or answers.is_empty():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # Documents one behind the other on one line, so that one sorted search serves all.
    width = max(int(gold["end"].max()), int(answers["end"].max())) + 2  # type: ignore[arg-type]
    first = (gold["doc"] * width + gold["begin"]).to_numpy()
    last = np.maximum.accumulate((gold["doc"] * width + gold["end"]).to_numpy())
    begin = (answers["doc"] * width + answers["begin"]).to_numpy()
    end = (answers["doc"] * width + answers["end"]).to_numpy()
    low = np.searchsorted(last, begin, side="left")
    high = np.searchsorted(first, end, side="right")
    count = np.maximum(high - low, 0)
    right = np.repeat(np.arange(len(begin)), count)
    left = np.arange(count.sum()) + np.repeat(low - (np.cumsum(count) - count), count)
    return left, right


def _link(pairs: pl.DataFrame, mentions: Mentions) -> pl.Expr:
    """Return whether the two of each pair have an entity in common, or none both."""
    beyond = len(mentions.entities)
    same = (pl.col("entity") == pl.col("answered")).alias("link")
    sets = pairs.filter((pl.col("entity") >= beyond) | (pl.col("answered") >= beyond))
    if sets.is_empty():
        return same
    common = (
        sets.filter((pl.col("entity") != NIL) & (pl.col("answered") != NIL))
        .select("g", "a")
        .join(mentions.gold_links, on="g")
        .join(mentions.answer_links, on=["a", "entity"])
        .select("g", "a")
        .unique()
        .with_columns(both=pl.lit(True))
    )
    both = (
        pairs.select("g", "a").join(common, on=["g", "a"], how="left", maintain_order="left")["both"].fill_null(False)
    )
    several = (pl.col("entity") >= beyond) | (pl.col("answered") >= beyond)
    return pl.when(several).then(pl.lit(both)).otherwise(same).alias("link")
