"""The cells of runs token by token, where tags begin otherwise than with B and I, and the answers that are cut of them.

HIPE-scorer lets a tag I- with another link begin another answer, and no other tag (utils.py, collect_link_objects).
Where all tags but the first of a mention are I- the mentions of a file tell that; elsewhere it is told of each token.
"""

from __future__ import annotations

import polars as pl

from remix.scoring.profiles.hipe.scorer_tokens import split_at_tokens, words_of

_SIDE = ["system", "doc"]
_TOKEN = [*_SIDE, "number"]
MENTION, PART, ALONE_THERE = range(3)
"""What says the link of a token: its mention, the part of it that is linked otherwise, or a link that no tag tells."""


def lay_cells(rows: pl.DataFrame, odd: pl.DataFrame, tokens: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of the tokens that are in a mention or have a link, in the order of the text.

    Rows have system, dataset, doc, begin, end, annotation, surface_form, `kind`, `inner`, labels, and `told`, by which
    of `MENTION`, `PART` and `ALONE_THERE`. `odd` are the tokens whose tags begin oddly (system, doc, begin), `tokens`
    all of gold, `read` those that are no comments. The cells have system, dataset, doc, number, begin, end, annotation,
    kind (null outside), `prefix` (B, I or X for all others), word, labels and `label`, the first of these.
    """
    read = read.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    words = words_of(rows, tokens, read)
    each = split_at_tokens(rows.with_row_index("place"), read)
    each = each.join(words.select("place", "begin", "word"), on=["place", "begin"], how="left", maintain_order="left")
    each = each.unique([*_TOKEN, "told"], keep="first", maintain_order=True)
    parts = {told: each.filter(told=told) for told in (MENTION, PART, ALONE_THERE)}
    place = [*_SIDE, "annotation"]
    # What is linked in parts has the links of its parts alone.
    for whole, finer in ((MENTION, each.filter(pl.col("told") != MENTION)), (PART, parts[ALONE_THERE])):
        parted = parts[whole].join(finer, on=_TOKEN, how="semi").select(place).unique()
        marked = parts[whole].join(parted.with_columns(parted=True), on=place, how="left", maintain_order="left")
        parts[whole] = marked.with_columns(labels=pl.when(pl.col("parted").is_null()).then("labels")).drop("parted")
    said = ["dataset", "begin", "end", "annotation", "word"]
    found = each.sort("told", maintain_order=True).unique(_TOKEN, keep="first", maintain_order=True)
    found = found.select(*_TOKEN, *said)
    for told, one in parts.items():
        links = one.select(*_TOKEN, pl.col("labels").alias(f"labels {told}"))
        found = found.join(links, on=_TOKEN, how="left", maintain_order="left")
    mentions = parts[MENTION].with_columns(opens=pl.int_range(pl.len()).over(place) == 0)
    found = found.join(mentions.select(*_TOKEN, "kind", "inner", "opens"), on=_TOKEN, how="left", maintain_order="left")
    found = found.join(odd.select(*_SIDE, "begin", odd=True), on=[*_SIDE, "begin"], how="left", maintain_order="left")
    begun = pl.when("opens").then(pl.col("inner").fill_null("B")).otherwise(pl.lit("I"))
    prefix = pl.when(begun.is_in(["B", "I"]) & pl.col("odd").is_null()).then(begun).otherwise(pl.lit("X"))
    finest = [f"labels {told}" for told in (ALONE_THERE, PART, MENTION)]
    labels = pl.coalesce(*finest, pl.concat_list(pl.lit(None, pl.String)))
    return found.with_columns(prefix=prefix, labels=labels, given=labels, label=labels.list.first()).select(
        *(*_TOKEN, *said, "kind", "prefix", "labels", "given", "label")
    )


def cut_anew(rows: pl.DataFrame, cells: pl.DataFrame, left: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a layer of links, those of documents that have cells cut of the cells of the tokens left.

    What loses no token and is an answer of `told` has its text.
    """
    documents = cells.select(_SIDE).unique()
    rest = rows.join(documents, on=_SIDE, how="anti", maintain_order="left")
    placed = left.select("doc", "begin", at=pl.int_range(pl.len(), dtype=pl.Int64))
    found = cells.join(placed, on=["doc", "begin"]).sort("system", "at")
    found = found.with_columns(link=pl.col("given").list.eval(pl.element().fill_null("_")).list.join("|"))
    follows = (pl.col("at") == pl.col("at").shift() + 1) & pl.all_horizontal(
        pl.col(one) == pl.col(one).shift() for one in _SIDE
    )
    carried = follows & (pl.col("kind") == pl.col("kind").shift()) & (pl.col("prefix") != "B")
    found = found.with_columns(begins=~carried.fill_null(False))
    asks = pl.col("prefix") == "I"
    before = pl.when(asks | pl.col("begins")).then("link").forward_fill().shift()
    found = found.with_columns(part=(pl.col("begins") | (asks & (pl.col("link") != before))).cum_sum())
    whole = pl.col("number").last() - pl.col("number").first() + 1 == pl.len()
    answers = found.group_by("part", maintain_order=True).agg(
        pl.col(*_SIDE, "dataset", "annotation", "begin", "kind", "labels", "given", "label").first(),
        pl.col("end").last(),
        text=pl.col("word").str.join(""),
        surface_form=pl.col("word").str.join(" "),
        whole=whole,
    )
    place = [*_SIDE, "begin", "end"]
    texts = told.select(*place, own="text", form="surface_form").unique(place, keep="first", maintain_order=True)
    answers = answers.join(texts, on=place, how="left", maintain_order="left")
    answers = answers.with_columns(
        pl.coalesce(pl.when("whole").then(one), name).alias(name)
        for one, name in (("own", "text"), ("form", "surface_form"))
    )
    return pl.concat([rest, answers], how="diagonal").select(rows.columns)
