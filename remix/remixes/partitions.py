"""Partitions of datasets: each part of a column, with what is in it, as a remix or a folder of frames.

What is cut and how is said and done as where scores are sliced (`remix.measures.partitions`, `remix.measures.columns`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from remix import progress
from remix.errors import StoreError, UsageError
from remix.frames import Frames
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.kb import KnowledgeBase
from remix.measures.columns import OF_ANNOTATIONS, OF_DOCUMENTS, Slicing, ranked_by_kb, values_by
from remix.measures.declaration import Column, write_out
from remix.measures.enrichment import measures_of_part, named_frames
from remix.measures.measurement import column_or_document_column
from remix.measures.partitions import (
    OF_KB,
    Breakdown,
    Partition,
    Subset,
    count_parts,
    in_part,
    parse_partition,
    partition,
    tabulate_parts,
)
from remix.names import ITSRDF, NIF, RMX
from remix.progress import track
from remix.rdf.terms import iri as without_brackets
from remix.rdf.terms import quote
from remix.remixes import build
from remix.remixes.closure import Narrow, Narrowed, close
from remix.store import Store, in_one_state
from remix.store.answers import answer
from remix.store.queries import Query
from remix.vocabularies import COLUMNS as OF_CLASSES


@dataclass(frozen=True)
class Partitioned:
    """Loaded datasets cut by a column.

    `parts` are as `remix.measures.partitions.partition` makes them, that of what has no value first; `annotations` has
    annotation, number and part, the name, a row for each part that an annotation of gold is in; `documents` has
    document and part. `table` has a row a part: part, above, to (its boundaries), annotations (alternatives of a
    mention count once), documents (that have one of these, or the value) and share (of all annotations).
    """

    asked: Breakdown
    parts: Partition
    annotations: pl.DataFrame
    documents: pl.DataFrame
    table: pl.DataFrame
    notes: tuple[str, ...] = ()


@in_one_state
def cut_store(store: Store, by: str) -> Partitioned:
    """Return the parts into which `COLUMN` or `COLUMN:SCHEME` cuts the loaded datasets.

    Values are those that `enrich` stored, of a column of documents that of the annotation's document. Raises
    `UnknownName` for a column that there is not, `UsageError` for a scheme that there is not or that cannot cut it,
    `StoreError` where nothing is enriched.
    """
    asked = parse_partition(by)
    if not store.datasets():
        raise StoreError("nothing is loaded: `remix load FILE` first")
    gold = named_frames(store)
    return cut_frames(slice_store(store, gold, asked), gold)


def cut_frames(slicing: Slicing, gold: Frames) -> Partitioned:
    """Return gold, or a dataset of what was cut, in these parts."""
    rows = slicing.of_annotations(gold)
    required = gold.annotations.filter(pl.col("ignorable").is_null()).select("annotation", "document", "group")
    placed = rows.join(required, on="annotation", maintain_order="left")
    documents = slicing.values if slicing.of_documents else placed.select("document", value="part")
    documents = documents.join(gold.documents, on="document", how="semi", maintain_order="left")
    documents = documents.select("document", part="value").unique(maintain_order=True)
    groups = dict(placed.group_by("part").agg(pl.struct("document", "group").n_unique()).iter_rows())
    of_documents = dict(documents.group_by("part").len().iter_rows())
    whole = required.select(pl.struct("document", "group").n_unique()).item()
    table = tabulate_parts(slicing.parts, [groups.get(part.name, 0) for part in slicing.parts], whole)
    numbers = pl.Series([of_documents.get(part.name, 0) for part in slicing.parts], dtype=pl.Int64)
    table = table.insert_column(-1, numbers.alias("documents"))
    told = "" if slicing.vocabularies is None else slicing.vocabularies.note(slicing.asked.column)
    return Partitioned(slicing.asked, slicing.parts, rows, documents, table, (told,) if told else ())


def slice_store(store: Store, gold: Frames, asked: Breakdown) -> Slicing:
    """Return the values of a column of `gold`, which is what is loaded or some of it, as names of its parts.

    Raises as `cut_store`.
    """
    if asked.column in (*OF_DOCUMENTS, *OF_ANNOTATIONS):
        return values_by(gold, asked)
    names = set(gold.documents["dataset"].unique())
    plain = [entry.name for entry in store.datasets() if entry.enrichment is None and entry.name in names]
    if asked.column in OF_CLASSES:
        _refuse_plain(plain)
        return values_by(replace(gold, classes=_classes_of(store, gold)), asked)
    chosen, of_documents = column_or_document_column(asked.column)
    _refuse_plain(plain)
    asked = replace(asked, column=chosen.name)
    pattern = f"?subject <{write_out(chosen.term)}> ?value"
    found = answer(store, Query.parse(f"SELECT ?subject ?value WHERE {{ {pattern} }}", chosen.name)).table
    kind = pl.Float64 if chosen.kind in {"integer", "double"} else pl.String
    none = pl.DataFrame(schema={"subject": pl.String, "value": kind})
    known = found.select("subject", pl.col("value").cast(kind)) if found.height else none
    key = "document" if of_documents else "annotation"
    values = known.filter(pl.col("subject").is_in(_subjects(gold, key).implode()))
    if chosen.kind == "integer":
        values = values.with_columns(pl.col("value").cast(pl.Int64))
    values = values.rename({"subject": key, "value": chosen.name})
    return values_by(gold, asked, *((None, values) if of_documents else (values, None)))


def _subjects(gold: Frames, key: str) -> pl.Series:
    return gold.documents["document"] if key == "document" else gold.annotations["annotation"]


def _refuse_plain(plain: list[str]) -> None:
    if plain:
        raise StoreError(f"{plain[0]} has no measures yet: `remix enrich` computes them")


def _classes_of(store: Store, gold: Frames) -> pl.DataFrame:
    """Return annotation, class, of_entity: those of the data, and those that `enrich` stored beside them."""
    graphs = " ".join(f"<{entry.iri}#enrichment>" for entry in store.datasets())
    rows = store.index().frame(
        f"SELECT ?annotation ?class WHERE {{ VALUES ?graph {{ {graphs} }} "
        f"GRAPH ?graph {{ ?annotation <{ITSRDF}taClassRef> ?class }} }}"
    )
    rows = rows.select(without_brackets(pl.col(name)) for name in ("annotation", "class")).drop_nulls()
    rows = rows.filter(pl.col("annotation").is_in(gold.annotations["annotation"].implode()))
    given = gold.classes.select("annotation", "class", "of_entity")
    every = pl.concat([given, rows.with_columns(of_entity=pl.lit(True))])
    return every.group_by("annotation", "class").agg(pl.col("of_entity").min()).sort("annotation", "class")


@in_one_state
def partition_store(
    store: Store, by: str, *, to: Path | None, kb: KnowledgeBase | None = None, replace: bool = False
) -> pl.DataFrame:
    """Return the parts with boundaries and quantities (see `Partitioned`), each written as a remix into `to`.

    `replace` overwrites files there that remix has not written. Without `to` nothing is written. An empty part is none.
    Raises as `cut_store`.
    """
    cut = cut_store(store, by)
    for note in cut.notes:
        progress.note(note)
    if to is not None:
        kept = [part for part, n in zip(cut.parts, cut.table["annotations"], strict=True) if n]
        for part in track(kept, "parts"):
            query = Query.parse(_query(cut, part), f"{cut.asked.column}-{part.file_name}")
            build(store, query, kb=kb, narrow=_to_part(cut, part)).write(to, force=replace)
    return cut.table


def _to_part(cut: Partitioned, part: Subset) -> Narrow:
    chosen = cut.annotations.filter(number=part.number)["annotation"]
    return lambda *_: Narrowed(chosen, {"partition": cut.asked.label, "part": part.name})


_CLASS = Column("itsrdf:taClassRef", "string", pl.lit(None), "class of the annotation or its entity")


def _query(made: Partitioned, part: Subset) -> str:
    """Return the query that selects the annotations of a part.

    It selects the part and, where one span has alternatives or a class has several spellings, what else fits: of
    that the part is what `Partitioned` has. Of columns that are no triples it selects all.
    """
    where = where_of_part(made.asked, made.parts, part)
    return f"SELECT ?document ?annotation WHERE {{ ?annotation <{NIF}referenceContext> ?document . {where}}}"


def where_of_part(asked: Breakdown, parts: Partition, part: Subset, *, joined: bool = False) -> str:
    """Return the pattern that says of `?annotation` or its `?document` that its value is in a part of a column.

    A pattern that is to be `joined` is read by itself (see `remix.remixes.facets.compose`).
    """
    column = asked.column
    if column in OF_DOCUMENTS:
        return ""
    chosen, of_documents = (_CLASS, False) if column in OF_CLASSES else column_or_document_column(column)
    subject, lacks = "?document" if of_documents else "?annotation", "MINUS" if joined else "FILTER NOT EXISTS"
    value = f"{subject} <{write_out(chosen.term)}> ?value ."
    read = f"{{ SELECT {subject} ?value WHERE {{ {value} }} }}" if joined else value
    if part.category is not None:
        return f"{read} FILTER(STR(?value) = {quote(part.category)}) "
    if part.missing:
        known = [one.category for one in parts if one.category is not None]
        among = f" {_among(known, of_classes=column in OF_CLASSES)}" if known else ""
        none = f"{lacks} {{ {value}{among} }} "
        if of_documents:
            return none
        # Alternatives of a group are one mention: it has a value where one of them has.
        others = f"?annotation <{RMX}group> ?group . ?other <{RMX}group> ?group ; <{NIF}referenceContext> ?document ; "
        others += f"<{write_out(chosen.term)}> ?value ."
        return f"{none}{lacks} {{ {others}{among} }} "
    bounds = {sign: repr(bound) for sign, bound in ((">", part.low), ("<=", part.high)) if bound is not None}
    # With an exponent it is a double, as the values are; without one a decimal, which holds fewer digits.
    tests = [f"?value {sign} {bound if 'e' in bound else bound + 'e0'}" for sign, bound in bounds.items()]
    return read + (f" FILTER({' && '.join(tests)}) " if tests else " ")


def _among(known: Sequence[str], *, of_classes: bool) -> str:
    """Return the test of whether `?value` is among these; classes are tested as IRIs, which a store looks up."""
    if of_classes and all(re.fullmatch(r'https?://[^\s<>"{}|\\^`]+', one) for one in known):
        return f"FILTER(?value IN ({', '.join(f'<{one}>' for one in known)}))"
    return f"FILTER(STR(?value) IN ({', '.join(map(quote, known))}))"


def partition_folder(folder: FramesFolder, by: str, *, to: Path | None, replace: bool = False) -> pl.DataFrame:
    """Return the parts with boundaries and quantities, each written as a folder of frames `<to>/<name>-<part>`.

    A part keeps the documents that have an annotation in it; their other annotations become ignorable. Values are
    those that `enrich` wrote beside the frames. Raises as `partition_store`, and `UsageError` for folders that are
    there already.
    """
    asked = parse_partition(by)
    if asked.column in OF_CLASSES:
        raise UsageError(f"a folder of frames is not cut by '{asked.column}', of which a mention has several")
    chosen, of_documents = column_or_document_column(asked.column)

    def read(number: int) -> pl.DataFrame:
        """Return annotation and value of a part of the folder, null where it has none."""
        rows = measures_of_part(folder, number, chosen.name, of_documents=of_documents)
        rows = rows.select("annotation", value=chosen.name)
        rows = rows.with_columns(pl.col("value").fill_nan(None)) if rows["value"].dtype.is_float() else rows
        return rows.with_columns(ranked_by_kb()) if asked.scheme == OF_KB else rows

    values = pl.concat([read(number)["value"] for number in range(folder.parts)], rechunk=False)
    parts = partition(values.alias(chosen.name), asked.scheme)
    table = count_parts(values, parts)
    if to is None:
        return table
    written = [part for part, count in zip(parts, table["annotations"], strict=True) if count]
    with ExitStack() as stack:
        targets = [to / f"{folder.name}-{part.file_name}" for part in written]
        plan = {"of": str(folder.path.resolve()), "by": chosen.name, "scheme": asked.scheme}
        places = [stack.enter_context(under_way(t, plan, replace=replace)) for t in targets]
        counts = [[0, 0] for _ in written]
        for number in track(range(folder.parts), "parts"):
            frames, measured = folder.part(number), read(number)
            for part, place, count in zip(written, places, counts, strict=True):
                annotations = measured.filter(in_part("value", part))["annotation"]
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
        "iri": f"{folder.manifest['iri']}-{part.file_name}",
        "parts": folder.parts,
        "documents": documents,
        "annotations": annotations,
        "inputs": folder.manifest.get("inputs", []),
        "partition": {"of": folder.name, "by": plan["by"], "scheme": plan["scheme"], **bounds},
    }
