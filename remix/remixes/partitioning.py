"""Each part of a partition as a dataset: a remix of a workspace, or a folder of frames."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import polars as pl

from remix.errors import StoreError
from remix.frames import Frames
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.kb import KnowledgeBase
from remix.locks import holding
from remix.measures import Column, column_named
from remix.measures.declaration import written_out
from remix.measures.enrichment import measures_of_part, named_frames
from remix.names import NIF
from remix.progress import track
from remix.rdf.terms import quoted
from remix.remixes import build
from remix.remixes.closing import close
from remix.remixes.partitions import Part, counted, partition, selecting
from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query

__all__ = ["partition_folder", "partition_store"]


@holding
def partition_store(
    store: Store, column: str, scheme: str, *, to: Path | None, kb: KnowledgeBase | None = None, replace: bool = False
) -> pl.DataFrame:
    """Return the parts with boundaries and quantities (see `partitions.counted`), each written as a remix into `to`.

    `replace` overwrites files there that remix has not written.
    Values are those that `enrich` stored; without `to` nothing is written. An empty part is none. Raises
    `UnknownName` for a column that no measure has, `UsageError` for another scheme, `StoreError` where nothing is
    enriched.
    """
    chosen = column_named(column)
    iri = written_out(chosen.term)
    plain = [entry.name for entry in store.datasets() if entry.enrichment is None]
    if not store.datasets():
        raise StoreError("nothing is loaded: `remix load FILE` first")
    if plain:
        raise StoreError(f"{plain[0]} has no measures yet: `remix enrich` computes them")
    gold = named_frames(store).annotations.filter(pl.col("ignorable").is_null()).select("annotation")
    asked = Query.parse(f"SELECT ?annotation ?value WHERE {{ ?annotation <{iri}> ?value }}", chosen.name)
    found = answer(store, asked).table
    known = found.select("annotation", _value(chosen)) if found.height else _none(chosen)
    values = gold.join(known, on="annotation", how="left")[chosen.name]
    parts = partition(values, scheme)
    table = counted(values, parts)
    if to is not None:
        for part in track([p for p, n in zip(parts, table["annotations"], strict=True) if n], "parts"):
            query = Query.parse(_query(iri, part), f"{chosen.name}-{part.name}")
            build(store, query, kb=kb).write(to, force=replace)
    return table


def _value(column: Column) -> pl.Expr:
    return pl.col("value").cast(_none(column)[column.name].dtype).alias(column.name)


def _none(column: Column) -> pl.DataFrame:
    kind = pl.Float64 if column.kind in {"integer", "double"} else pl.String
    return pl.DataFrame(schema={"annotation": pl.String, column.name: kind})


def _query(iri: str, part: Part) -> str:
    """Return the query that selects the annotations of a part."""
    annotation = f"?annotation <{NIF}referenceContext> ?document ."
    value = f"?annotation <{iri}> ?value ."
    if part.category is not None:
        where = f"{annotation} {value} FILTER(STR(?value) = {quoted(part.category)})"
    elif part.missing:
        where = f"{annotation} FILTER NOT EXISTS {{ {value} }}"
    else:
        bounds = [f"?value > {part.low!r}"] if part.low is not None else []
        bounds += [f"?value <= {part.high!r}"] if part.high is not None else []
        where = f"{annotation} {value}" + (f" FILTER({' && '.join(map(_double, bounds))})" if bounds else "")
    return f"SELECT ?document ?annotation WHERE {{ {where} }}"


def _double(condition: str) -> str:
    variable, operator, number = condition.split(" ")
    # With an exponent it is a double, as the values are; without one a decimal, which holds fewer digits.
    return f"{variable} {operator} {number if 'e' in number else number + 'e0'}"


def partition_folder(
    folder: FramesFolder, column: str, scheme: str, *, to: Path | None, replace: bool = False
) -> pl.DataFrame:
    """Return the parts with boundaries and quantities, each written as a folder of frames `<to>/<name>-<part>`.

    A part keeps the documents that have an annotation in it; their other annotations become ignorable. Values are
    those that `enrich` wrote beside the frames. Raises as `partition_store`, and `UsageError` for folders that are
    there already.
    """
    chosen = column_named(column)
    values = pl.concat(
        [measures_of_part(folder, n, chosen.name)[chosen.name] for n in range(folder.parts)], rechunk=False
    )
    parts = partition(values, scheme)
    table = counted(values, parts)
    if to is None:
        return table
    written = [part for part, count in zip(parts, table["annotations"], strict=True) if count]
    with ExitStack() as stack:
        targets = [to / f"{folder.name}-{part.name}" for part in written]
        plan = {"of": str(folder.path.resolve()), "by": chosen.name, "scheme": scheme}
        places = [stack.enter_context(under_way(t, plan, replace=replace)) for t in targets]
        counts = [[0, 0] for _ in written]
        for number in track(range(folder.parts), "parts"):
            frames, measured = folder.part(number), measures_of_part(folder, number, chosen.name)
            for part, place, count in zip(written, places, counts, strict=True):
                kept = _closed(frames, measured.filter(selecting(chosen.name, part))["annotation"])
                write_part(place, number, kept)
                count[0] += kept.documents.height
                count[1] += kept.annotations.filter(pl.col("ignorable").is_null()).height
        for part, place, target, count in zip(written, places, targets, counts, strict=True):
            finish(place, target, _manifest(folder, target.name, plan, part, count))
    return table


def _closed(frames: Frames, annotations: pl.Series) -> Frames:
    chosen = frames.annotations.filter(pl.col("annotation").is_in(annotations.implode()))
    return close(frames, chosen["document"].unique(), annotations).frames


def _manifest(
    folder: FramesFolder, name: str, plan: dict[str, str], part: Part, count: Iterable[int]
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
