"""What a format cannot hold: what frames have of it is counted, then left out before they are written.

A format says with the names of `FEATURES` what it holds. Everything else goes here, so that a writer meets only what
it can write, and every loss has the same name in every format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import polars as pl

from remix.formats.identifiers import READING, usual_groups
from remix.formats.layers import TERMS
from remix.frames import OTHER_LAYER, Frames
from remix.names import RMX

CLUSTER = f"{RMX}cluster"
"""The term of a value that names the entity of a NIL annotation: equal names, one entity."""

TYPE_FIELDS = f"{RMX}typeFields"
"""The term of a value that holds the type of an annotation as a JSON object, where a file says more than its name."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One kind of thing that a format cannot hold: how often it was there, and the first example."""

    kind: str
    count: int
    example: str = ""


def loss_of(kind: str, gone: pl.Series) -> tuple[Loss, ...]:
    """Return the loss of these things (IRIs or names), none where there are none."""
    return (Loss(kind, len(gone), str(gone[0])),) if len(gone) else ()


Cut = tuple[Frames, pl.Series]
"""Frames without something, and the IRI of what had it, once for each time."""


def _without_annotations(frames: Frames, gone: pl.Expr) -> Cut:
    left = frames.annotations.filter(~gone)["annotation"]
    return frames.keep(annotations=left), frames.annotations.filter(gone)["annotation"]


def _annotations(gone: pl.Expr) -> Callable[[Frames], Cut]:
    return lambda frames: _without_annotations(frames, gone)


def _layers(frames: Frames) -> Cut:
    """Leave out what is not of the layer that is scored, and what is told of tokens."""
    frames, gone = _without_annotations(frames, pl.col("ignorable").eq_missing(OTHER_LAYER))
    annotations = frames.annotations.with_columns(layer=pl.lit(None, pl.String))
    values = frames.values.filter(~pl.col("term").is_in(TERMS))
    return replace(frames, annotations=annotations, values=values), gone


def _dangling(frames: Frames) -> Cut:
    return _without_annotations(frames, ~pl.col("document").is_in(frames.documents["document"].implode()))


def _alternatives(frames: Frames) -> Cut:
    """Leave out all options but the first of groups that are not just several readings of one span."""
    sizes = frames.annotations.with_columns(_size=pl.len().over("group", "option"))
    several = pl.col("option").n_unique().over("group") > 1
    spread = (pl.struct("begin", "end").n_unique().over("group") > 1) | (pl.col("_size").max().over("group") > 1)
    later = pl.col("option") != pl.col("option").min().over("group")
    gone = sizes.filter(several & spread & later)["annotation"]
    return _without_annotations(frames, pl.col("annotation").is_in(gone.implode()))


def _readings(frames: Frames) -> Cut:
    """Make the options of a group mentions of their own, as those on one span would be read again."""
    several = pl.col("option").n_unique().over("group") > 1
    rows = frames.annotations.filter(several)["annotation"]
    return replace(frames, annotations=frames.annotations.with_columns(_own_where(several))), rows


def _own_where(changed: pl.Expr) -> list[pl.Expr]:
    return [pl.when(changed).then("annotation").otherwise(name).alias(name) for name in ("group", "option")]


def _parts(frames: Frames) -> Cut:
    """Make the parts of an option, which are required together, annotations of their own."""
    part = pl.len().over("group", "option") > 1
    parts = frames.annotations.filter(part)["annotation"]
    return replace(frames, annotations=frames.annotations.with_columns(_own_where(part))), parts


def _repeated_spans(frames: Frames) -> Cut:
    """Make annotations on one span alternatives of each other where they are not, as they would be read again."""
    usual = usual_groups(frames.annotations)
    apart = (pl.col("group").n_unique().over(READING) > 1) & (pl.col("option") == pl.col("annotation"))
    rows = frames.annotations.filter(apart)["annotation"]
    changed = pl.col("annotation").is_in(rows.implode())
    joined = frames.annotations.with_columns(
        pl.when(changed).then(usual[name]).otherwise(name).alias(name) for name in ("group", "option")
    )
    return replace(frames, annotations=joined), rows


def _null(table: str, key: str, column: str) -> Callable[[Frames], Cut]:
    def cut(frames: Frames) -> Cut:
        rows: pl.DataFrame = getattr(frames, table)
        empty = rows.with_columns(pl.lit(None, rows.schema[column]).alias(column))
        return replace(frames, **{table: empty}), rows.drop_nulls(column)[key]

    return cut


def _rows(table: str, key: str, gone: pl.Expr) -> Callable[[Frames], Cut]:
    def cut(frames: Frames) -> Cut:
        rows: pl.DataFrame = getattr(frames, table).with_columns(_gone=gone)
        left = rows.filter(~pl.col("_gone")).drop("_gone")
        return replace(frames, **{table: left}), rows.filter("_gone")[key]

    return cut


def _cut_unannotated(frames: Frames) -> Cut:
    had = pl.col("document").is_in(frames.annotations["document"].unique().implode())
    left, gone = (frames.documents.filter(one)["document"] for one in (had, ~had))
    return frames.keep(documents=left), gone


FEATURES: dict[str, Callable[[Frames], Cut]] = {
    "dangling": _dangling,
    "unplaced": _annotations(pl.col("begin").is_null() | pl.col("end").is_null()),
    "ignorable": _annotations(pl.col("ignorable").fill_null(OTHER_LAYER) != OTHER_LAYER),
    "layers": _layers,
    "nil": _annotations(pl.col("is_nil")),
    "alternatives": _alternatives,
    "parts": _parts,
    "repeated-spans": _repeated_spans,
    "links": _rows("links", "annotation", pl.int_range(pl.len()).over("annotation") > 0),
    "entity-classes": _rows("classes", "annotation", pl.col("of_entity")),
    "classes": _rows("classes", "annotation", ~pl.col("of_entity")),
    "further-classes": _rows("classes", "annotation", pl.int_range(pl.len()).over("annotation", "of_entity") > 0),
    "confidence": _null("annotations", "annotation", "confidence"),
    "candidates": _rows("candidates", "annotation", pl.lit(True)),
    "regions": _rows("regions", "document", pl.lit(True)),
    "clusters": _rows("values", "subject", pl.col("term") == CLUSTER),
    "type-fields": _rows("values", "subject", pl.col("term") == TYPE_FIELDS),
    "values": _rows("values", "subject", ~pl.col("term").is_in([CLUSTER, TYPE_FIELDS, *TERMS])),
    "unannotated": _cut_unannotated,
    "texts": _null("documents", "document", "text"),
    "languages": _null("documents", "document", "language"),
    "sources": _null("documents", "document", "source"),
}
"""What frames may have beyond spans with one link each, in the order in which it is left out: annotations of
documents that are not there (`dangling`), without offsets (`unplaced`), `ignorable` ones, those of other `layers` with
what is told of tokens, `nil` ones, `alternatives` (other options of a group; what has
no `repeated-spans` has those on one span), `parts` (of one option, required together), `repeated-spans` (annotations
of one span that are no alternatives), `links` beyond the first, classes of the linked entity (`entity-classes`) and of
the mention (`classes`, and those beyond the first), …"""

EVERYTHING = frozenset(FEATURES)


def reduce_frames(frames: Frames, holds: Collection[str]) -> tuple[Frames, tuple[Loss, ...]]:
    """Return the frames with only what a format holds, and what was left out for that.

    >>> one = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [1], "confidence": [0.5]})
    >>> left, losses = reduce_frames(Frames.of(annotations=one), EVERYTHING - {"confidence"})
    >>> left.annotations["confidence"].to_list(), losses
    ([None], (Loss(kind='confidence', count=1, example='a'),))
    """
    losses: list[Loss] = []
    for name, cut in FEATURES.items():
        if name not in holds:
            frames, gone = cut(frames)
            if name == "alternatives" and "repeated-spans" in holds:
                frames, apart = _readings(frames)
                gone = pl.concat([gone, apart])
            losses += loss_of(name, gone)
    return frames, tuple(losses)
