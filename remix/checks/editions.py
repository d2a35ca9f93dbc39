"""Editions of a dataset that correct it: which documents and annotations are the same in both, and what differs."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.checks.changes import CHANGES, tell
from remix.errors import UsageError
from remix.expressions import fill
from remix.formats.offsets import cut_spans
from remix.frames import OTHER_LAYER, Annotations, Documents, Frames, Links
from remix.iris import canonical

_REVISION = "http://www.w3.org/ns/prov#wasRevisionOf"


def lay_over(frames: Frames, corrected: Frames, *, source: str) -> tuple[Frames, pl.DataFrame]:
    """Return a dataset as another edition of it corrects it, and what that changed (see `CHANGES`).

    Documents are paired by their text; those that are left by their name, or by their place if both editions have as
    many, where both texts have as many words and these are the same, or the edition masks them all by one: then spans
    are told by words. Documents and layers that the edition does not have stay as they are. What the edition leaves
    alone keeps its annotation, and alternatives that come to it join its mention; what it changes says whose revision
    it is (prov:wasRevisionOf). What of the edition finds no document or no place is told as `left`. Raises `UsageError`
    where no document of the edition is one of the dataset.

    >>> text = pl.DataFrame({"document": ["d"], "text": ["Ada met Bo"]})
    >>> def link(entity):
    ...     row = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3]})
    ...     links = pl.DataFrame({"annotation": ["a"], "entity": [entity], "entity_as_given": [entity]})
    ...     return Frames.of(documents=text, annotations=row, links=links)
    >>> lay_over(link("x:Ada"), link("x:Ada_Lovelace"), source="me")[1]["change"].to_list()
    ['linked']
    """
    pairs = _pair(frames.documents, corrected.documents)
    if pairs.is_empty():
        raise UsageError(f"no document of {source} has the text, or the name and as many words, of one of the dataset")
    new = _move(frames.documents, corrected, pairs)
    old = frames.annotations.join(pairs, on="document", how="semi", maintain_order="left")
    old = old.filter(_layer().is_in(corrected.annotations.select(_layer()).to_series().unique().implode()))
    same, linked, moved = _match(frames, old, new)
    kept = frames.annotations.join(old, on="annotation", how="anti", maintain_order="left")["annotation"]
    left = frames.keep(annotations=pl.concat([kept, same["was"]]))
    fresh = new.keep(
        annotations=new.annotations.join(same, left_on="annotation", right_on="now", how="anti")["annotation"]
    )
    revised = pl.concat([linked, moved])
    values = revised.select(subject="now", term=pl.lit(_REVISION), number=pl.lit(None, pl.Float64), text="was")
    result = Frames.concat(
        [
            left,
            replace(
                fresh,
                documents=fresh.documents.clear(),
                annotations=_join_mentions(frames, new, fresh, same),
                values=pl.concat([fresh.values, values]),
            ),
        ]
    )
    known = pl.concat([same, revised])
    gone = old.join(known, left_on="annotation", right_on="was", how="anti", maintain_order="left")["annotation"]
    came = new.annotations.join(known, left_on="annotation", right_on="now", how="anti", maintain_order="left")
    changes = [
        tell(frames, new, linked["was"], linked["now"], "linked", source),
        tell(frames, new, moved["was"], moved["now"], "moved", source),
        tell(frames, new, gone, None, "removed", source),
        tell(frames, new, None, came["annotation"], "added", source),
        _tell_left(corrected, pairs, new, source),
    ]
    return result, pl.concat(changes).sort("document", pl.coalesce("begin", "new_begin"), maintain_order=True)


def _layer() -> pl.Expr:
    """Return the layer of annotations, '' of those of the layer that is scored, whatever its name is."""
    other = pl.col("ignorable").eq_missing(OTHER_LAYER)
    return pl.when(other).then(pl.col("layer").fill_null("")).otherwise(pl.lit("")).alias("layer")


def _join_mentions(frames: Frames, new: Frames, fresh: Frames, same: pl.DataFrame) -> pl.DataFrame:
    """Return the annotations that come, as alternatives of those that stay where the edition has them as such."""
    groups = same.join(new.annotations.select("annotation", "group"), left_on="now", right_on="annotation")
    groups = groups.join(frames.annotations.select("annotation", old="group"), left_on="was", right_on="annotation")
    groups = groups.unique("group", keep="first", maintain_order=True).select("group", "old")
    rows = fresh.annotations.join(groups, on="group", how="left", maintain_order="left")
    return rows.with_columns(group=pl.coalesce("old", "group")).select(fresh.annotations.columns)


def _tell_left(corrected: Frames, pairs: pl.DataFrame, new: Frames, source: str) -> pl.DataFrame:
    """Return what of an edition was not laid over: its documents without a partner, its annotations without a place."""
    documents = corrected.documents.join(pairs, left_on="document", right_on="other", how="anti", maintain_order="left")
    within = corrected.annotations.join(pairs, left_on="document", right_on="other", how="semi").height
    cut = within - new.annotations.height
    told = [f"{documents.height} documents of the edition are not in the dataset"] if documents.height else []
    told += [f"{cut} annotations of the edition begin or end within a word"] if cut else []
    rows = [{"change": "left", "source": source, "what": what} for what in told]
    return pl.DataFrame(rows, schema=CHANGES)


def _pair(documents: pl.DataFrame, corrected: pl.DataFrame) -> pl.DataFrame:
    """Return document, other, by_words: which documents are the same in both editions, one with one."""
    words = pl.col("text").str.count_matches(r"\S+")
    here = documents.select("document", "text", name=pl.coalesce("given", "document"), words=words)
    there = corrected.select("text", other="document", name=pl.coalesce("given", "document"), words=words)
    last = pl.col("name").str.extract(r"([^/#]+)/?$")
    here, there = (rows.with_columns(part=last).with_row_index("place") for rows in (here, there))
    as_many = documents.height == corrected.height
    found: list[pl.DataFrame] = []
    keys = (["text"], ["name", "words"], ["part", "words"], *([["place", "words"]] if as_many else []))
    for key in keys:
        met = here.join(there, on=key, suffix="_there")
        if key != ["text"]:
            said, other = (pl.col(name).str.extract_all(r"\S+") for name in ("text", "text_there"))
            met = met.filter((said == other) | (other.list.n_unique() == 1))
        both = _one_to_one(met.select("document", "other", by_words=pl.lit(key != ["text"])), "document", "other")
        found.append(both)
        here = here.join(both, on="document", how="anti", maintain_order="left")
        there = there.join(both, on="other", how="anti", maintain_order="left")
    return pl.concat(found)


def _move(documents: Documents, corrected: Frames, pairs: pl.DataFrame) -> Frames:
    """Return the edition's annotations in the documents that they are paired with, under IRIs of their own."""
    rows = corrected.annotations.join(
        pairs, left_on="document", right_on="other", suffix="_here", maintain_order="left"
    ).with_row_index("_row")
    words = pairs.filter("by_words").join(_words(corrected.documents), left_on="other", right_on="document")
    words = words.join(_words(documents), on=["document", "word"], suffix="_here")
    for name in ("begin", "end"):
        there = words.select(pl.col("other").alias("document"), name, pl.col(f"{name}_here").alias(f"to_{name}"))
        rows = rows.join(there, on=["document", name], how="left", maintain_order="left")
    rows = rows.filter(~pl.col("by_words") | (pl.col("to_begin").is_not_null() & pl.col("to_end").is_not_null()))
    moved = [pl.coalesce(f"to_{name}", name).alias(name) for name in ("begin", "end")]
    rows = rows.with_columns(*moved, document="document_here")
    named = rows.join(documents.select("document", "text", "dataset"), on="document", suffix="_", maintain_order="left")
    named = named.with_columns(
        surface_form=cut_spans(named, "document"), dataset="dataset_", given=pl.lit(None, pl.String)
    )
    named = named.with_columns(
        now=fill("{}#char={},{};revised-{}", pl.col("document").str.replace("#.*$", ""), "begin", "end", "_row")
    )
    renamed = named.select("annotation", "now")
    # Mentions and options are often called as one of their annotations.
    sets = [pl.col(name).replace(renamed["annotation"], renamed["now"]) for name in ("group", "option")]

    def rename(rows: pl.DataFrame, name: str = "annotation") -> pl.DataFrame:
        met = rows.join(renamed, left_on=name, right_on="annotation", maintain_order="left")
        return met.with_columns(pl.col("now").alias(name)).select(rows.columns)

    return Frames.of(
        documents=documents,
        annotations=named.with_columns(sets).with_columns(annotation="now"),
        links=rename(corrected.links),
        classes=rename(corrected.classes),
        candidates=rename(corrected.candidates),
        values=rename(corrected.values, "subject"),
    )


def _words(documents: pl.DataFrame) -> pl.DataFrame:
    """Return document, the number of a word, its begin and end, for each run of characters without white space."""
    pieces = documents.drop_nulls("text").select(
        "document", piece=pl.col("text").str.replace_all(r"\s", " ").str.split(" ")
    )
    rows = pieces.explode("piece").with_columns(length=pl.col("piece").str.len_chars().cast(pl.Int64))
    rows = rows.with_columns(end=(pl.col("length") + 1).cum_sum().over("document") - 1).filter(pl.col("length") > 0)
    return rows.select(
        "document", "end", begin=pl.col("end") - pl.col("length"), word=pl.int_range(pl.len()).over("document")
    )


def _match(frames: Frames, old: pl.DataFrame, new: Frames) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return pairs (was, now) of annotations that are the same, that have other links, and that have other places."""
    left = _with_links(old, frames.links).rename({"annotation": "was"})
    right = _with_links(new.annotations, new.links).rename({"annotation": "now"})
    found: list[pl.DataFrame] = []
    place = ["document", "layer", "begin", "end"]
    for key in ([*place, "ignorable", "links"], place):
        found.append(_one_to_one(left.join(right, on=key).select("was", "now")))
        left = left.join(found[-1], on="was", how="anti", maintain_order="left")
        right = right.join(found[-1], on="now", how="anti", maintain_order="left")
    touching = left.join(right, on=["document", "layer"], suffix="_now").filter(
        (pl.col("begin") < pl.col("end_now")) & (pl.col("begin_now") < pl.col("end"))
    )
    same, linked = found
    return same, linked, _one_to_one(touching.sort("document", "begin", "begin_now").select("was", "now"))


def _one_to_one(pairs: pl.DataFrame, left: str = "was", right: str = "now") -> pl.DataFrame:
    return pairs.unique(left, keep="first", maintain_order=True).unique(right, keep="first", maintain_order=True)


def _with_links(annotations: Annotations, links: Links) -> pl.DataFrame:
    compared = links.with_columns(entity=canonical(links["entity"]))
    joined = compared.group_by("annotation").agg(links=pl.col("entity").unique().sort().str.join(" "))
    rows = annotations.join(joined, on="annotation", how="left", maintain_order="left")
    aside = pl.col("ignorable").fill_null("")
    return rows.select("annotation", "document", _layer(), "begin", "end", aside, pl.col("links").fill_null(""))
