"""What datasets share, and texts that are nearly the same, found without comparing each with each."""

from __future__ import annotations

import polars as pl

BINS, ROWS = 32, 2
"""Numbers that stand for a text, and how many of them are compared at once.

A pair that shares a share s of its sequences is missed with a probability of (1 - s^2)^16: 1e-7 for s = 0.8.
"""
CROWD = 100
"""Texts with one number in common of which each is compared with the first alone, not with each."""


def find_similar(texts: pl.DataFrame, *, least: float = 0.8, words: int = 3) -> pl.DataFrame:
    """Return the pairs of texts that are nearly the same: document, other, similarity.

    The similarity is that of Jaccard, of the texts' sequences of so many words without regard to case and punctuation:
    how many both have, of those that one of them has. `texts` has document and text; of each pair the one that comes
    first is `other`. Sequences are hashed once and fall into bins, of which the least numbers stand for the text (one
    permutation hashing: P. Li, A. Owen, C.-H. Zhang, NIPS 2012); two that agree in two neighbouring bins are compared.

    >>> texts = ["one two three four five", "One two three four, five!", "no"]
    >>> rows = pl.DataFrame({"document": ["a", "b", "c"], "text": texts})
    >>> find_similar(rows).rows()
    [('b', 'a', 1.0)]
    """
    numbered = texts.with_row_index("row")
    hashes = _sequences(numbered, words)
    candidates = _candidates(hashes)
    if candidates.is_empty():
        return pl.DataFrame(schema={"document": pl.String, "other": pl.String, "similarity": pl.Float64})
    pairs = _compare(candidates, hashes).filter(pl.col("similarity") >= least).sort("row", "other")
    names = numbered.select("row", "document")
    named = pairs.join(names, on="row", maintain_order="left")
    named = named.join(names, left_on="other", right_on="row", suffix="_other", maintain_order="left")
    return named.select("document", other="document_other", similarity="similarity")


def find_editions(texts: pl.DataFrame) -> list[list[str]]:
    """Return the groups of datasets that hold the same texts: two share half or more of those of the smaller.

    `texts` has dataset and text. Datasets are of one group with all that one of it shares texts with.

    >>> rows = {"dataset": ["a", "b", "b", "c"], "text": ["x", "x", "y", "z"]}
    >>> find_editions(pl.DataFrame(rows))
    [['a', 'b']]
    """
    shared = count_shared(texts.select("dataset", item="text"))
    shared = shared.filter(pl.col("share") >= EDITION, pl.col("dataset") < pl.col("other"))
    groups: list[set[str]] = []
    for one, other in shared.select("dataset", "other").sort("dataset", "other").iter_rows():
        own = {one, other}.union(*(group for group in groups if group & {one, other}))
        groups = [*(group for group in groups if not group & own), own]
    return sorted(sorted(group) for group in groups)


EDITION = 0.5
"""The share of the texts of the smaller of two datasets from which on they are told to hold the same texts."""


def count_shared(items: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, other, `count` of the items that both have, and their `share` in the smaller of both.

    There is a row for each pair in both orders, and for each dataset with itself. `items` has dataset and item; what a
    dataset has several times counts once, and null is no item.

    >>> items = pl.DataFrame({"dataset": ["a", "a", "b", "b", "b"], "item": ["x", "y", "x", "x", "z"]})
    >>> count_shared(items).filter(dataset="a", other="b").row(0)
    ('a', 'b', 1, 0.5)
    """
    distinct = items.drop_nulls().unique()
    sizes = items.select(pl.col("dataset").unique().sort()).join(
        distinct.group_by("dataset").len("size"), on="dataset", how="left", maintain_order="left"
    )
    pairs = sizes.join(sizes.rename({"dataset": "other", "size": "other_size"}), how="cross")
    both = distinct.join(distinct.rename({"dataset": "other"}), on="item").group_by("dataset", "other").len("count")
    smaller = pl.min_horizontal("size", "other_size")
    return pairs.join(both, on=["dataset", "other"], how="left", maintain_order="left").select(
        "dataset", "other", pl.col("count").fill_null(0).cast(pl.Int64), share=pl.col("count").fill_null(0) / smaller
    )


def _sequences(texts: pl.DataFrame, words: int) -> pl.DataFrame:
    """Return row and the hash of each distinct sequence of words in it; a text of fewer words is one sequence."""
    found = texts.lazy().select("row", word=pl.col("text").str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+"))
    found = found.explode("word").drop_nulls("word")
    following = [pl.col("word").shift(-step).alias(f"word{step}") for step in range(words)]
    ends = pl.col("row").shift(-(words - 1)).eq_missing(pl.col("row"))
    is_first = pl.col("row").shift(1).ne_missing(pl.col("row"))
    sequence = pl.struct(
        pl.when(pl.col("row").shift(-step) == pl.col("row")).then(following[step]) for step in range(words)
    )
    hashed = found.select("row", sequence=sequence.hash(seed=1), whole=ends | is_first)
    return hashed.filter("whole").select("row", "sequence").unique(maintain_order=True).collect()


def _candidates(hashes: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of rows (row, other, the smaller number) that agree in neighbouring bins."""
    least = hashes.group_by("row", bin=pl.col("sequence") % BINS).agg(least=pl.col("sequence").min())
    bands = least.group_by("row", band=pl.col("bin") // ROWS).agg(
        pl.struct(pl.col("bin", "least").sort_by("bin")).hash(seed=2).sort().alias("key")
    )
    keyed = bands.select("row", key=pl.struct("band", "key").hash(seed=3)).sort("row")
    crowds = keyed.with_columns(first=pl.col("row").min().over("key"), size=pl.len().over("key"))
    crowds = crowds.filter(pl.col("size") > 1)
    few = crowds.filter(pl.col("size") <= CROWD)
    each = few.join(few.select("key", other="row"), on="key").select("row", "other")
    first = crowds.filter(pl.col("size") > CROWD).select("row", other="first")
    return pl.concat([each, first]).filter(pl.col("other") < pl.col("row")).unique()


def _compare(pairs: pl.DataFrame, hashes: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs with the similarity of their sequences."""
    sizes = hashes.group_by("row").len("size")
    both = pairs.join(hashes, on="row").join(hashes, left_on=["other", "sequence"], right_on=["row", "sequence"])
    shared = both.group_by("row", "other").len("shared")
    sized = shared.join(sizes, on="row").join(sizes, left_on="other", right_on="row", suffix="_other")
    union = pl.col("size").cast(pl.Float64) + pl.col("size_other") - pl.col("shared")
    return sized.select("row", "other", similarity=pl.col("shared") / union)
