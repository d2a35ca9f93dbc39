"""The sizes of the sets that the formulas speak of, by joins on any engine: what `Corpus` makes of frames in memory.

Rows are links (scope, key, entity): those of the dataset, D, and those of the dictionary, W.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from remix.kb.relations import distinct

__all__ = ["dictionary_links", "firsts", "sizes"]

Frame = nw.LazyFrame[Any]
LINK = ["scope", "key", "entity"]
OTHER = {"key": "entities", "entity": "forms"}


def dictionary_links(rows: Frame, asked: Frame, side: str) -> Frame:
    """Return the links of the dictionary (key, entity) of those asked for (scope, and `side`: key or entity)."""
    return distinct(rows.select("key", "entity").join(asked.select("scope", side), on=side), LINK)


def sizes(asked: Frame, w: Frame, d: Frame, side: str) -> Frame:
    """Return scope, `side` and how many of the other side it has in W, in D, in both and in either.

    The columns are w_entities, d_entities, common_entities and union_entities where `side` is key, else w_forms, ….
    `w` and `d` have no link twice.
    """
    what = OTHER[side]
    both = d.join(w, on=LINK, how="semi")
    for name, links in (("w", w), ("d", d), ("common", both)):
        counts = links.group_by("scope", side).agg(nw.len().alias(f"{name}_{what}"))
        asked = asked.join(counts, on=["scope", side], how="left")
    names = [f"{name}_{what}" for name in ("w", "d", "common")]
    filled = asked.with_columns(nw.col(name).fill_null(0).cast(nw.Int64) for name in names)
    union = nw.col(f"w_{what}") + nw.col(f"d_{what}") - nw.col(f"common_{what}")
    return filled.with_columns(union.alias(f"union_{what}"))


def firsts(mentions: Frame) -> Frame:
    """Return the mentions with `first_key` and `first_entity`: whether none before, by name, in its dataset has it."""
    return mentions.with_columns(
        (nw.col("annotation") == nw.col("annotation").min().over("dataset", side)).alias(f"first_{side}")
        for side in OTHER
    )
