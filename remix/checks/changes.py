"""What was changed in a dataset, a row an annotation."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from remix.expressions import fill
from remix.formats import Repair
from remix.frames import Frames
from remix.schemas import fit

CHANGES: dict[str, pl.DataType] = {
    "change": pl.String(),
    "source": pl.String(),
    "document": pl.String(),
    "annotation": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "surface_form": pl.String(),
    "links": pl.String(),
    "new_begin": pl.Int64(),
    "new_end": pl.Int64(),
    "new_surface_form": pl.String(),
    "new_links": pl.String(),
    "what": pl.String(),
}
"""A row per annotation that changed: what it was, and what it is now; nothing new where it went, nothing old where it
came. `change` is the rule, or `linked`, `moved`, `added`, `removed`; `source` is who says so. What the reader of the
file mended, and needs no mend in what was written, is said in `what`, as is what an annotation is called now."""

_WAS = ("begin", "end", "surface_form", "links")


def tell(
    old: Frames, new: Frames, was: pl.Series | None, now: pl.Series | None, change: str, source: str
) -> pl.DataFrame:
    """Return the rows of `CHANGES` for annotations as they were and as they are now, null where there is none."""
    pairs = pl.DataFrame({"was": was, "now": now}, schema={"was": pl.String, "now": pl.String})
    pairs = pairs.with_columns(change=pl.lit(change), source=pl.lit(source))
    left, right = _describe(old), _describe(new).rename({name: f"new_{name}" for name in _WAS})
    rows = pairs.join(left, left_on="was", right_on="annotation", how="left", maintain_order="left")
    rows = rows.join(right, left_on="now", right_on="annotation", how="left", maintain_order="left", suffix="_now")
    rows = rows.with_columns(document=pl.coalesce("document", "document_now"), annotation=pl.coalesce("was", "now"))
    return fit(rows, CHANGES)


def tell_repairs(repairs: Iterable[Repair], source: str, remaining: Iterable[Repair] = ()) -> pl.DataFrame:
    """Return what was mended as rows of `CHANGES`, but for as many of each kind as are `remaining`."""
    still = {repair.kind: repair.count for repair in remaining}
    rows: list[dict[str, str]] = []
    for repair in repairs:
        count = repair.count - still.get(repair.kind, 0)
        examples = repair.examples() if count == repair.count else [(repair.example, count)]
        for example, times in examples:
            if times > 0:
                often = f"{times} times; " if times > 1 else ""
                rows.append({"change": repair.kind, "source": source, "what": f"{often}{example}"})
    return pl.DataFrame(rows, schema=CHANGES)


def tell_names(names: pl.DataFrame, source: str) -> pl.DataFrame:
    """Return what is called otherwise now (`annotation`, `was`, `now`) as rows of `CHANGES`."""
    what = fill("{} is called {}, as its offsets are", "was", "now")
    return fit(names.select("annotation", change=pl.lit("fragment"), source=pl.lit(source), what=what), CHANGES)


def _describe(frames: Frames) -> pl.DataFrame:
    """Return annotation, document (its name) and what changes may say of it; links one after another."""
    links = frames.links.group_by("annotation").agg(links=pl.col("entity_as_given").sort().str.join(" "))
    names = frames.documents.select("document", name=pl.coalesce("given", "document"))
    rows = frames.annotations.join(links, on="annotation", how="left").join(names, on="document", how="left")
    return rows.select("annotation", pl.coalesce("name", "document").alias("document"), *_WAS)
