"""Slices: gold cut by the values of a column, each scored as a remix with everything else dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.frames import Frames
from remix.scoring.cases import Case
from remix.scoring.mentions import NIL, Mentions

__all__ = ["kb_cases", "sliced", "values_by"]

MAXIMUM = 2000
"""A column with more values than this names things, it does not class them."""


def values_by(gold: Frames, column: str, columns: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return annotation and `value` (text) for a column: `class`, one of `columns`, of the documents or of the values.

    Numbers in more than ten different values become quarters of the annotations, named by their bounds.
    Raises `UnknownName` for a column that is in none of them, `UsageError` for one with too many values.
    """
    found = _found(gold, column, columns)
    if found["value"].dtype.is_numeric():
        found = _intervals(found)
    found = found.select("annotation", pl.col("value").cast(pl.String)).drop_nulls().unique()
    if (number := found["value"].n_unique()) > MAXIMUM:
        raise UsageError(f"column '{column}' has {number} values, more than {MAXIMUM}: it cannot be sliced by")
    return found


def _found(gold: Frames, column: str, columns: pl.DataFrame | None) -> pl.DataFrame:
    annotations = gold.annotations
    if column == "class":
        return gold.classes.select("annotation", value="class")
    if columns is not None and column in columns.columns:
        return columns.select("annotation", value=column)
    if column in ("surface_form", "is_nil", "ignorable", "confidence"):
        return annotations.select("annotation", value=column)
    if column in ("dataset", "language", "source", "words", "document"):
        return (
            annotations.select("annotation", "document")
            .join(
                gold.documents.select("document", value=column).filter(pl.col("value").is_not_null())
                if column != "document"
                else gold.documents.select("document", value="document"),
                on="document",
            )
            .select("annotation", "value")
        )
    return _measured(gold, column, columns)


def _measured(gold: Frames, column: str, columns: pl.DataFrame | None) -> pl.DataFrame:
    """Return the values of a measure that came with the data, on annotations or on documents."""
    local = gold.values.with_columns(local=pl.col("term").str.extract(r"([^/#:]+)$"))
    rows = local.filter((pl.col("local") == column) | (pl.col("term") == column))
    if rows.is_empty():
        known = {"class", "dataset", "document", "language", "source", "words", "is_nil", "surface_form"}
        known |= set(local["local"].drop_nulls()) | set(columns.columns if columns is not None else ()) - {"annotation"}
        raise UnknownName("column", column, known)
    value = "number" if rows["number"].null_count() < len(rows) else "text"
    rows = rows.select("subject", value=value)
    owners = gold.annotations.select("annotation", "document")
    return pl.concat(
        [
            owners.join(rows, left_on="annotation", right_on="subject").select("annotation", "value"),
            owners.join(rows, left_on="document", right_on="subject").select("annotation", "value"),
        ]
    )


def _intervals(found: pl.DataFrame) -> pl.DataFrame:
    values = found["value"].drop_nulls()
    if values.n_unique() <= 10:
        return found
    cuts = sorted({float(values.quantile(part, "nearest") or 0) for part in (0.25, 0.5, 0.75)})
    bounds = [f"≤ {cuts[0]:g}", *(f"{a:g} to {b:g}" for a, b in zip(cuts, cuts[1:], strict=False)), f"> {cuts[-1]:g}"]
    # Numbered, so that sorted as text they are in the order of their values.
    labels = [f"{number}: {bound}" for number, bound in enumerate(bounds, 1)]
    return found.drop_nulls("value").with_columns(value=pl.col("value").cast(pl.Float64).cut(cuts, labels=labels))


def sliced(
    whole: Case, column: str, values: pl.DataFrame, rest: str = "dropped", types: pl.DataFrame | None = None
) -> Iterator[Case]:
    """Return a case for each value, in order: gold of that value kept, other gold dropped or removed.

    `types` (entity, class) says which answers are in the scope of a class; an entity of unknown type is.
    """
    numbered = whole.gold.select("g", "annotation").join(values, on="annotation").select("g", "value")
    for value in numbered["value"].unique().sort():
        chosen = numbered.filter(pl.col("value") == value)["g"]
        yield of_value(whole, column, value, chosen, rest, types)


def of_value(whole: Case, column: str, value: str, chosen: pl.Series, rest: str, types: pl.DataFrame | None) -> Case:
    """Return the case of the gold annotations chosen."""
    inside = pl.col("g").is_in(chosen.implode())
    if rest == "removed":
        gold = whole.gold.filter(inside)
    else:
        dropped = pl.when(inside | pl.col("ignorable").is_not_null()).then("ignorable").otherwise(pl.lit("dropped"))
        gold = whole.gold.with_columns(ignorable=dropped)
    scope = scope_of(whole.mentions, value, types) if column == "class" else None
    return replace(whole, gold=gold, column=column, value=value, scope=scope, _judged={})


def scope_of(mentions: Mentions, value: str, types: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return a and `in_scope`: whether an answer's entity has the class, or no type; None where no entity has it."""
    if types is None or not types["class"].is_in([value]).any():
        return None
    known = types.drop_nulls("class")["entity"].unique()
    having = types.filter(pl.col("class") == value)["entity"].unique()
    entities = pl.DataFrame({"entity": pl.int_range(len(mentions.entities), eager=True), "iri": mentions.entities})
    inside = ~pl.col("iri").is_in(known.implode()) | pl.col("iri").is_in(having.implode())
    scope = mentions.answer_links.join(entities.select("entity", in_scope=inside), on="entity")
    return scope.group_by("a").agg(pl.col("in_scope").any())


def kb_cases(whole: Case) -> Sequence[Case]:
    """Return InKB (NIL taken from both sides), EE (NIL alone on both sides), GSInKB (NIL gold dropped, all answers).

    Nothing where neither gold nor a run has NIL.
    """
    nil = pl.col("link") == NIL
    kept = whole.kept()
    if not kept.select(nil.any()).item() and not whole.answers.select(nil.any()).item():
        return []

    def both(value: str, condition: pl.Expr) -> Case:
        return replace(
            whole,
            gold=whole.gold.filter(condition),
            answers=whole.answers.filter(condition),
            column="kb",
            value=value,
            _judged={},
        )

    linked = kept.filter(~nil)["g"]
    scope = whole.answers.select("a", in_scope=~nil)
    in_gold = replace(of_value(whole, "kb", "GSInKB", linked, "dropped", None), scope=scope)
    return [both("InKB", ~nil), both("EE", nil), in_gold]
