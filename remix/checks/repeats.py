"""What a mention is where two are compared: its form, and what makes two annotations say the same."""

from __future__ import annotations

import polars as pl

from remix.formats.losses import CLUSTER
from remix.frames import Frames

# Full stops, closing brackets and quotation marks may belong to a name: 'Inc.', 'Guns N’', 'Yahoo!'.
OUTER_LEFT = r"^[\s,;:.!?)\]}»”]+"
OUTER_RIGHT = r"[\s,;:(\[{«“]+$"


def bare_form(column: str = "surface_form") -> pl.Expr:
    """Return forms without the outer characters that belong to their sentence; one of these alone stays.

    >>> pl.DataFrame({"surface_form": ["Bonn, ", ") Inc.", ", "]}).select(bare_form())["surface_form"].to_list()
    ['Bonn', 'Inc.', ', ']
    """
    form = pl.col(column)
    bare = form.str.replace(OUTER_LEFT, "").str.replace(OUTER_RIGHT, "")
    return pl.when(bare != "").then(bare).otherwise(form).alias(column)


def bare_spans(spans: pl.DataFrame) -> pl.DataFrame:
    """Return spans without the outer characters that belong to their sentence."""
    left = pl.col("surface_form").str.extract(f"({OUTER_LEFT})").str.len_chars().fill_null(0)
    right = pl.col("surface_form").str.extract(f"({OUTER_RIGHT})").str.len_chars().fill_null(0)
    some = pl.col("surface_form") != bare_form()
    begin = pl.when(some).then(pl.col("begin") + left).otherwise("begin").cast(pl.Int64)
    end = pl.when(some).then(pl.col("end") - right).otherwise("end").cast(pl.Int64)
    return spans.with_columns(bare_form(), begin=begin, end=end)


def find_repeats(frames: Frames) -> pl.DataFrame:
    """Return the annotations without which the dataset says the same, a row each with that which stays (`first`).

    An annotation is one reading of a mention: a place in a layer, why it is ignorable, its links, and of NIL the
    cluster. A mention (`group`) is what its options say, an option what its annotations say together. So a
    reading is a repeat within its option, an option within its mention, and a mention beside one with the same options;
    of two that are alternatives of different mentions each is needed.
    """
    key = ["document", "begin", "end", "layer", "ignorable", "is_nil", "entity", "cluster"]
    links = frames.links.group_by("annotation").agg(pl.col("entity").unique().sort().str.join(" "))
    clusters = frames.values.filter(pl.col("term") == CLUSTER).select(annotation="subject", cluster="text")
    rows = frames.annotations.select("annotation", "group", "option", "confidence", *key[:-2])
    for table in (links, clusters.unique("annotation", keep="first", maintain_order=True)):
        rows = rows.join(table, on="annotation", how="left", maintain_order="left")
    own = frames.classes.filter(~pl.col("of_entity")).group_by("annotation").len("extras")
    rows = rows.join(own, on="annotation", how="left", maintain_order="left")
    rows = rows.with_columns(extras=pl.col("extras").fill_null(0) + pl.col("confidence").is_not_null().cast(pl.UInt32))
    rows = rows.with_columns(reading=pl.struct(key).struct.json_encode()).drop(*key[1:])
    option, mention = ["document", "group", "option"], ["document", "group"]
    said = pl.col("reading").unique().sort().str.join("\n")
    options = rows.group_by(option, maintain_order=True).agg(option_says=said)
    says = pl.col("option_says").unique().sort().str.join("\n\n")
    mentions = options.group_by(mention, maintain_order=True).agg(mention_says=says)
    rows = rows.join(options, on=option, maintain_order="left").join(mentions, on=mention, maintain_order="left")
    # Of one mention the options stay together. What says most stays, else what names its mention.
    rows = rows.sort("extras", maintain_order=True, descending=True)
    left = rows.filter(pl.col("group") == pl.col("group").first().over("document", "mention_says"))
    left = left.sort("extras", pl.col("annotation") != pl.col("group"), maintain_order=True, descending=[True, False])
    left = left.filter(pl.col("option") == pl.col("option").first().over("group", "document", "option_says"))
    left = left.unique(["document", "group", "option", "reading"], keep="first", maintain_order=True)
    same = ["document", "mention_says", "option_says", "reading"]
    pairs = rows.join(left.select(*same, first="annotation"), on=same, maintain_order="left")
    return pairs.filter(pl.col("first") != pl.col("annotation")).select("annotation", "first")


def keep_what_adds(frames: Frames, repeats: pl.DataFrame) -> pl.DataFrame:
    """Return the repeats (`annotation`) that say nothing that the first does not: no other class, no confidence."""
    pairs = find_repeats(frames).join(repeats.select("annotation"), on="annotation", how="semi")
    known = frames.classes.select(first="annotation", **{"class": "class"})
    classes = pairs.join(frames.classes, on="annotation").join(known, on=["first", "class"], how="anti")
    sure = frames.annotations.select("annotation", "confidence")
    both = pairs.join(sure, on="annotation").join(sure, left_on="first", right_on="annotation", suffix="_first")
    surer = both.filter(pl.col("confidence").is_not_null(), pl.col("confidence").ne_missing(pl.col("confidence_first")))
    adding = pl.concat([classes["annotation"], surer["annotation"]])
    return repeats.filter(~pl.col("annotation").is_in(adding.implode()))
