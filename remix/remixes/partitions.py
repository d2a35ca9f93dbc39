"""Partitions: a column's values cut into parts, by steps of a scale, by shares, by thresholds or by class.

A part holds the values above its lower boundary up to its upper one (lower exclusive, upper inclusive); the first has
no lower boundary and, but for log-deciles and quantiles, the last no upper one. What has no value is a part of its
own, 'unspecified'.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix import progress
from remix.errors import StoreError, UsageError, nearest
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.kb import KnowledgeBase
from remix.measures.classes import of_one_spelling
from remix.measures.declaration import Column, write_out
from remix.measures.enrichment import measures_of_part, named_frames
from remix.measures.measurement import column_or_document_column
from remix.names import NIF, UNSPECIFIED, WITHOUT_VALUE
from remix.progress import track
from remix.rdf.terms import quote
from remix.remixes import build
from remix.remixes.closure import close
from remix.store import Store, in_one_state
from remix.store.answers import answer
from remix.store.queries import Query
from remix.vocabularies import Vocabularies

SCHEMES = ("log-deciles", "quantiles", "head-torso-tail", "thresholds", "classes")


@dataclass(frozen=True, slots=True)
class Subset:
    """One part: the values above `low` up to `high` (None is no boundary), or one class, or what has no value."""

    name: str
    low: float | None = None
    high: float | None = None
    category: str | None = None
    missing: bool = False


Partition = tuple[Subset, ...]


def partition(values: pl.Series, scheme: str) -> Partition:
    """Return the parts into which a scheme cuts values; null and NaN are unspecified.

    `log-deciles`: ten equal steps on a logarithmic scale between the smallest positive and the largest value, not
    rounded; what is not positive is in the first. `quantiles N`: N parts of equal size, as far as equal values allow.
    `head-torso-tail`: the values than which less than 10 % are higher, less than 55 %, the rest, of those that are cut;
    the same shares of the knowledge base are the column `pagerankSegment`. `deciles` alone is read as
    `log-deciles`; ten parts of equal size are `quantiles 10`.
    `thresholds 3,5,16`. `classes`: a part for each value.

    >>> [round(part.high, 2) for part in partition(pl.Series([1, 4105]), "log-deciles")[:3]]
    [2.3, 5.28, 12.13]

    Raises `UsageError` for another scheme, and for values that it cannot cut.
    """
    name, numbers = _parse(scheme)
    if name == "classes":
        categories = values.drop_nulls().cast(pl.String).unique().sort().to_list()
        if len(categories) > 1000:
            raise UsageError(f"{len(categories)} classes are too many parts: cut numbers with --scheme log-deciles")
        return (*_classes(categories), missing_part([_name_category(category) for category in categories]))
    if not values.dtype.is_numeric():
        raise UsageError(f"'{values.name}' holds no numbers: --scheme classes makes a part of each value")
    ordered = values.cast(pl.Float64).fill_nan(None).drop_nulls().sort()
    if name == "thresholds":
        edges = numbers
    elif ordered.is_empty():
        raise UsageError(f"'{values.name}' has no value at all: there is nothing to cut")
    elif name == "log-deciles":
        return _logarithmic(ordered)
    elif name == "quantiles":
        edges = _quantiles(ordered, int(numbers[0]))
    else:
        return _segments(ordered)
    bounds = [None, *edges, None]
    parts = [Subset(_between(low, high), low, high) for low, high in zip(bounds, bounds[1:], strict=False)]
    return (*parts, missing_part())


def _parse(scheme: str) -> tuple[str, list[float]]:
    name, _, given = re.sub(r"[:=\s]+", " ", scheme.strip()).partition(" ")
    name = "log-deciles" if name == "deciles" else name
    if name not in SCHEMES:
        raise UsageError(f"no scheme '{name}'{nearest(name, SCHEMES)}")
    try:
        numbers = [float(number) for number in re.split(r"[,\s]+", given) if number]
    except ValueError:
        raise UsageError(f"'{given}' are no numbers: {name} takes some with commas, such as 3,5,16") from None
    if name == "thresholds" and (not numbers or numbers != sorted(set(numbers))):
        raise UsageError("thresholds are numbers that rise, such as 3,5,16")
    if name == "quantiles" and (len(numbers) != 1 or numbers[0] < 2 or numbers[0] != int(numbers[0])):
        raise UsageError("quantiles need one whole number, 2 or more")
    if name not in {"thresholds", "quantiles"} and numbers:
        raise UsageError(f"{name} takes no number")
    return name, numbers


def _classes(categories: list[str]) -> list[Subset]:
    """Return a part for each category; two that are the same in the name of a file are told apart by number."""
    names = pl.Series([_name_category(category) for category in categories], dtype=pl.String)
    counted_up = names.to_frame("name").select(nth=pl.int_range(pl.len()).over("name") + 1)["nth"]
    every = zip(names, counted_up, categories, strict=True)
    return [Subset(name if n == 1 else f"{name}-{n}", category=category) for name, n, category in every]


def missing_part(taken: Sequence[str] = ()) -> Subset:
    """Return the part of what has no value; some columns have a class of its usual name among those `taken`."""
    return Subset(WITHOUT_VALUE if UNSPECIFIED in taken else UNSPECIFIED, missing=True)


def _logarithmic(values: pl.Series) -> Partition:
    positive = values.filter(values > 0)
    if positive.is_empty() or not math.isfinite(values[-1]):
        raise UsageError(f"'{values.name}' has no positive values, or infinite ones: there is no logarithmic scale")
    low, high = float(positive[0]), float(positive[-1])
    if low == high:
        return (Subset(_between(None, high), None, high), missing_part())
    edges = [low * (high / low) ** (step / 10) for step in range(1, 10)] + [high]
    bounds = [None, *edges]
    parts = [Subset(_between(a, b), a, b) for a, b in zip(bounds, edges, strict=False)]
    return (*parts, missing_part())


def _quantiles(values: pl.Series, count: int) -> list[float]:
    """Return the inner boundaries of sorted values: up to which k of `count` shares lie; equal ones are one."""
    count = min(count, len(values))  # more shares than values have the boundaries of as many
    places = [-(-len(values) * k // count) - 1 for k in range(1, count)]
    edges = sorted({float(values[place]) for place in places})
    return [edge for edge in edges if edge < values[-1]]


def _segments(values: pl.Series) -> Partition:
    counts = values.value_counts(name="count").sort(values.name, descending=True)
    better = (counts["count"].cum_sum() - counts["count"]) / len(values)
    edges = [counts.filter(better >= share)[values.name] for share in (0.55, 0.10)]
    low, high = (float(edge[0]) if len(edge) else None for edge in edges)
    parts = [Subset("head", high, None)]
    if high is not None:
        parts.append(Subset("torso", low, high))
    if low is not None:
        parts.append(Subset("tail", None, low))
    return (*(part for part in parts if part.low is None or part.low != part.high), missing_part())


def _between(low: float | None, high: float | None) -> str:
    """Return the name of an interval, fit for a file's name."""
    if low is None:
        return f"to-{_short(high)}" if high is not None else "all"
    return f"above-{_short(low)}" if high is None else f"{_short(low)}-{_short(high)}"


def _short(number: float | None) -> str:
    return f"{number:.4g}".replace("+", "")


def _name_category(category: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", category).strip("-.") or "empty"


def in_part(column: str, part: Subset) -> pl.Expr:
    """Return whether a value belongs to a part.

    >>> part = Subset("x", 2.0, 5.0)
    >>> pl.DataFrame({"v": [2, 3, 5, 6, None]}).select(in_part("v", part))["v"].to_list()
    [False, True, True, False, False]
    """
    value = pl.col(column)
    if part.category is not None:
        return (value.cast(pl.String) == part.category).fill_null(False)
    if part.missing:
        return value.is_null()
    above = pl.lit(True) if part.low is None else value > part.low
    below = pl.lit(True) if part.high is None else value <= part.high
    return (value.is_not_null() & above & below).fill_null(False).alias(column)


def count_parts(values: pl.Series, parts: Sequence[Subset]) -> pl.DataFrame:
    """Return a row per part: part, above, to (its boundaries), annotations and share of all.

    >>> count_parts(pl.Series("v", [1, 3, 9]), partition(pl.Series("v", [1, 3, 9]), "thresholds 3")).rows()[:2]
    [('to-3', None, 3.0, 2, 0.6666666666666666), ('above-3', 3.0, None, 1, 0.3333333333333333)]
    """
    frame = values.to_frame("value")
    numbers = [int(frame.select(in_part("value", part).sum()).item()) for part in parts]
    return pl.DataFrame(
        {
            "part": [part.name for part in parts],
            "above": pl.Series([part.low for part in parts], dtype=pl.Float64),
            "to": pl.Series([part.high for part in parts], dtype=pl.Float64),
            "annotations": numbers,
            "share": [number / max(1, len(values)) for number in numbers],
        }
    )


@in_one_state
def partition_store(
    store: Store, column: str, scheme: str, *, to: Path | None, kb: KnowledgeBase | None = None, replace: bool = False
) -> pl.DataFrame:
    """Return the parts with boundaries and quantities (see `count_parts`), each written as a remix into `to`.

    `replace` overwrites files there that remix has not written. Values are those that `enrich` stored, of a column of
    documents that of the annotation's document; `class` are the classes of one vocabulary, that of most mentions or
    the one that is named (`class:schema`). Without `to` nothing is written. An empty part is none. Raises
    `UnknownName` for a column that no measure has, `UsageError` for another scheme, `StoreError` where nothing is
    enriched.
    """
    given, _, vocabulary = column.partition(":")
    chosen, of_documents = (_CLASS, False) if given == "class" else column_or_document_column(column)
    name = given if chosen is _CLASS else chosen.name
    iri = write_out(chosen.term)
    plain = [entry.name for entry in store.datasets() if entry.enrichment is None]
    if not store.datasets():
        raise StoreError("nothing is loaded: `remix load FILE` first")
    if plain:
        raise StoreError(f"{plain[0]} has no measures yet: `remix enrich` computes them")
    annotations = named_frames(store).annotations
    gold = annotations.filter(pl.col("ignorable").is_null()).select("annotation")
    subject = "?document" if of_documents else "?annotation"
    pattern = f"?annotation <{NIF}referenceContext> ?document . {subject} <{iri}> ?value"
    found = answer(store, Query.parse(f"SELECT ?annotation ?value WHERE {{ {pattern} }}", name)).table
    kind = pl.Float64 if chosen.kind in {"integer", "double"} else pl.String
    none = pl.DataFrame(schema={"annotation": pl.String, "value": kind})
    known = found.select("annotation", pl.col("value").cast(kind)) if found.height else none
    if chosen is _CLASS:
        known = _of_one_vocabulary(known, annotations, vocabulary)
    values = gold.join(known, on="annotation", how="left")["value"].alias(name)
    parts = partition(values, scheme)
    table = count_parts(values, parts).with_columns(share=pl.col("annotations") / max(1, len(gold)))
    if to is not None:
        for part in track([p for p, n in zip(parts, table["annotations"], strict=True) if n], "parts"):
            query = Query.parse(_query(iri, part, subject, parts), f"{name}-{part.name}")
            build(store, query, kb=kb).write(to, force=replace)
    return table


_CLASS = Column("itsrdf:taClassRef", "string", pl.lit(None), "class of the annotation or its entity")


def _of_one_vocabulary(rows: pl.DataFrame, annotations: pl.DataFrame, vocabulary: str) -> pl.DataFrame:
    """Return the values that are classes of a vocabulary, or where none is named, of that of most mentions.

    Which it is, and which others there are, is said.
    """
    classes = rows.select("annotation", pl.col("value").alias("class"))
    vocabularies = Vocabularies.of(classes, annotations).show(vocabulary)
    if told := vocabularies.note("class"):
        progress.note(told)
    return of_one_spelling(vocabularies.choose(classes)).rename({"class": "value"})


def _query(iri: str, part: Subset, subject: str, parts: Partition) -> str:
    """Return the query that selects the annotations of a part, by a value of their own or of their document.

    Without a value of a part is what has no value of any of the `parts`.
    """
    annotation = f"?annotation <{NIF}referenceContext> ?document ."
    value = f"{subject} <{iri}> ?value ."
    if part.category is not None:
        where = f"{annotation} {value} FILTER(STR(?value) = {quote(part.category)})"
    elif part.missing:
        categories = ", ".join(quote(one.category) for one in parts if one.category is not None)
        among = f" FILTER(STR(?value) IN ({categories}))" if categories else ""
        where = f"{annotation} FILTER NOT EXISTS {{ {value}{among} }}"
    else:
        bounds = {sign: repr(bound) for sign, bound in ((">", part.low), ("<=", part.high)) if bound is not None}
        # With an exponent it is a double, as the values are; without one a decimal, which holds fewer digits.
        tests = [f"?value {sign} {bound if 'e' in bound else bound + 'e0'}" for sign, bound in bounds.items()]
        where = f"{annotation} {value}" + (f" FILTER({' && '.join(tests)})" if tests else "")
    return f"SELECT ?document ?annotation WHERE {{ {where} }}"


def partition_folder(
    folder: FramesFolder, column: str, scheme: str, *, to: Path | None, replace: bool = False
) -> pl.DataFrame:
    """Return the parts with boundaries and quantities, each written as a folder of frames `<to>/<name>-<part>`.

    A part keeps the documents that have an annotation in it; their other annotations become ignorable. Values are
    those that `enrich` wrote beside the frames. Raises as `partition_store`, and `UsageError` for folders that are
    there already.
    """
    chosen, of_documents = column_or_document_column(column)
    values = pl.concat(
        [measures_of_part(folder, n, chosen.name, of_documents=of_documents)[chosen.name] for n in range(folder.parts)],
        rechunk=False,
    )
    parts = partition(values, scheme)
    table = count_parts(values, parts)
    if to is None:
        return table
    written = [part for part, count in zip(parts, table["annotations"], strict=True) if count]
    with ExitStack() as stack:
        targets = [to / f"{folder.name}-{part.name}" for part in written]
        plan = {"of": str(folder.path.resolve()), "by": chosen.name, "scheme": scheme}
        places = [stack.enter_context(under_way(t, plan, replace=replace)) for t in targets]
        counts = [[0, 0] for _ in written]
        for number in track(range(folder.parts), "parts"):
            frames, measured = (
                folder.part(number),
                measures_of_part(folder, number, chosen.name, of_documents=of_documents),
            )
            for part, place, count in zip(written, places, counts, strict=True):
                annotations = measured.filter(in_part(chosen.name, part))["annotation"]
                rows = frames.annotations.filter(pl.col("annotation").is_in(annotations.implode()))
                kept = close(frames, rows["document"].unique(), annotations).frames
                write_part(place, number, kept)
                count[0] += kept.documents.height
                count[1] += kept.annotations.filter(pl.col("ignorable").is_null()).height
        for part, place, target, count in zip(written, places, targets, counts, strict=True):
            finish(place, target, _manifest(folder, target.name, plan, part, count))
    return table


def _manifest(
    folder: FramesFolder, name: str, plan: dict[str, str], part: Subset, count: Iterable[int]
) -> dict[str, object]:
    documents, annotations = count
    bounds = {"part": part.name, "above": part.low, "to": part.high, "class": part.category}
    return {
        "name": name,
        "iri": f"{folder.manifest['iri']}-{part.name}",
        "parts": folder.parts,
        "documents": documents,
        "annotations": annotations,
        "inputs": folder.manifest.get("inputs", []),
        "partition": {"of": folder.name, "by": plan["by"], "scheme": plan["scheme"], **bounds},
    }
