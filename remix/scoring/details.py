"""Columns of gold mentions and answers that few tasks, matchings and conventions ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.answers import with_forms
from remix.scoring.cases import Case

__all__ = ["DETAILS", "with_detail"]

CLUSTER = f"{RMX}cluster"
"""The term of a value that names the entity of a NIL annotation: equal names, one entity."""


def _confidence(frames: Frames) -> pl.DataFrame:
    return frames.annotations.select("annotation", "confidence")


def _surface_form(frames: Frames) -> pl.DataFrame:
    return frames.annotations.select("annotation", "surface_form")


def _cluster(frames: Frames) -> pl.DataFrame:
    return frames.values.filter(pl.col("term") == CLUSTER).select(annotation="subject", cluster="text")


def _type(frames: Frames) -> pl.DataFrame:
    """Return all classes of an annotation as one value."""
    classes = frames.classes.select("annotation", "class").unique()
    return classes.group_by("annotation").agg(type=pl.col("class").sort().str.join("|"))


def _classes(frames: Frames) -> pl.DataFrame:
    return (
        frames.classes.select("annotation", "class").unique().group_by("annotation").agg(classes=pl.col("class").sort())
    )


def _candidates(frames: Frames) -> pl.DataFrame:
    """Return the candidates of an annotation as IRIs, best first."""
    ranked = frames.candidates.sort(
        "annotation", "score", descending=[False, True], nulls_last=True, maintain_order=True
    )
    return ranked.group_by("annotation", maintain_order=True).agg(candidates=pl.col("entity"))


DETAILS: Mapping[str, Callable[[Frames], pl.DataFrame]] = {
    "confidence": _confidence,
    "surface_form": _surface_form,
    "cluster": _cluster,
    "type": _type,
    "classes": _classes,
    "candidates": _candidates,
}
"""What can be asked for: annotation and one column, by its name."""


def with_detail(case: Case, name: str) -> Case:
    """Return the case with a further column of gold and of answers, null without known frames.

    Surface forms that a side does not tell are cut out of gold's texts. Raises `UnknownName` for another column.
    """
    if name not in DETAILS:
        raise UnknownName("detail", name, DETAILS)
    if name in case.answers.columns:
        return case
    known = case.known
    read = DETAILS[name]
    given = _once(read(known.gold if known else Frames.empty()))
    runs = enumerate(known.runs.values()) if known else ()
    answered = [_once(read(run)).with_columns(system=pl.lit(n, pl.Int64)) for n, run in runs]
    answered = answered or [given.clear().with_columns(system=pl.lit(0, pl.Int64))]
    gold = case.gold.join(given, on="annotation", how="left", maintain_order="left")
    answers = case.answers.join(pl.concat(answered), on=["system", "annotation"], how="left", maintain_order="left")
    if known and name == "surface_form":
        gold, answers = (with_forms(rows, case.mentions, known.gold) for rows in (gold, answers))
    return replace(case, gold=gold, answers=answers, _judged={})


def _once(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.unique("annotation", keep="first", maintain_order=True)
