"""The annotations behind a number: those of a part of a column, of a bar of a histogram, of a type, of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.frames import Frames
from remix.measures import MEASURES
from remix.measures.classes import TYPES, name_types
from remix.measures.columns import Slicing, values_by
from remix.measures.enrichment import frames_of, measures_of
from remix.measures.partitions import Subset, parse_partition
from remix.remixes.facets import list_facets
from remix.remixes.partitions import slice_store
from remix.reports.documents import describe_annotations
from remix.reports.figures import SCALES, bins_of
from remix.reports.statistics import list_quantities
from remix.scoring.slicing import slice_named
from remix.store import Store

BESIDE = 60
"""Characters of the text that stand on either side of a mention."""
BARS = 30
"""Bars of a histogram."""
_COLUMNS = tuple(column.name for measure in MEASURES for column in measure.columns)
_MEMBERS = ("annotation", "dataset", "document", "group")
_REQUIRED = "annotations that are required"
"""What is kept of the workspace: these of all datasets."""


@dataclass(frozen=True)
class Wanted:
    """Which annotations are wanted; an empty field says nothing.

    - `dataset`, `document` (its name), `entity` (one of several apart by spaces), `type` (one of `TYPES`);
    - `by` and `part`: a column as `remix partition --by` takes it, and the name of one of its parts;
    - `column`: one that they have a value of, and `bar`: the bar of its histogram in the dataset, as `log:7`;
    - `find`: what the surface form contains, and `form`: what it is.
    """

    dataset: str = ""
    document: str = ""
    entity: str = ""
    type: str = ""
    by: str = ""
    part: str = ""
    column: str = ""
    bar: str = ""
    find: str = ""
    form: str = ""


def parts_of(store: Store, by: str) -> Slicing:
    """Return the parts of a column of all that is loaded, as `remix partition` cuts it, with what is in each.

    Raises `UnknownName` for a column that there is not, `UsageError` for a scheme that cannot cut it.
    """

    def cut() -> Slicing:
        """Return the value of each annotation or document in the column that the partition is by."""
        gold, measured = frames_of(store), measures_of(store)
        asked = parse_partition(by)
        classes = pl.concat(
            [gold.classes.select("annotation", "class"), measured.classes.select("annotation", "class")]
        )
        typed = replace(gold, classes=classes.unique(maintain_order=True).with_columns(of_entity=pl.lit(True)))
        try:
            return values_by(typed, asked, measured.annotations, measured.documents)
        except UsageError:  # what is learnt of runs is in the store alone
            if asked.column not in list_facets():
                raise
            return slice_store(store, gold, asked)

    return store.cached(("parts", by), cut, asked=True)


def list_members(store: Store, wanted: Wanted) -> pl.DataFrame:
    """Return annotation, dataset, document and group of the annotations that are wanted, in any order.

    They are those of `list_wanted`, of which all of a dataset are read without what is told of them.
    """
    if wanted != Wanted(wanted.dataset) or store.cached.holds(_REQUIRED):
        return list_wanted(store, wanted).select(_MEMBERS)
    dataset = store.dataset(wanted.dataset).name if wanted.dataset else None
    return _find_required(frames_of(store, dataset)).annotations.select(_MEMBERS)


def list_wanted(store: Store, wanted: Wanted) -> pl.DataFrame:
    """Return the annotations that are wanted, in the order of datasets, documents and texts.

    They have dataset, document (the IRI), name, begin, end, surface_form, entities, type, group, the columns of
    measures, and `part` (all parts of `by` that they are in, apart by ' | '). Ignorable annotations are none, nor are
    those of texts that are not there. Raises
    `UnknownName` for a dataset, document, type, part or column that there is not.
    """
    rows = _required_of(store, store.dataset(wanted.dataset).name if wanted.dataset else "")
    if wanted.document:
        rows = _of_value(rows, "name", "document", wanted.document)
    if wanted.type:
        rows = rows.filter(pl.col("types").list.contains(name_type(wanted.type)))
    if wanted.entity:
        links = pl.col("entities").str.split(" ")
        rows = rows.filter(links.list.set_intersection(wanted.entity.split(" ")).list.len() > 0)
    if wanted.form:
        rows = rows.filter(surface_form=wanted.form)
    if wanted.find:
        rows = rows.filter(pl.col("surface_form").str.to_lowercase().str.contains(wanted.find.lower(), literal=True))
    if wanted.by:
        rows = _of_part(store, rows, wanted)
    elif wanted.part:
        raise UsageError(f"'{wanted.part}' is a part of a column: name the column")
    if wanted.column:
        rows = _with_value(store, rows, wanted)
    elif wanted.bar:
        raise UsageError(f"'{wanted.bar}' is a bar of a column: name the column")
    return rows


def name_type(said: str) -> str:
    """Return one of `TYPES`, which is meant in letters of either case; raises `UnknownName`.

    >>> name_type("person")
    'Person'
    """
    known = {one.casefold(): one for one in TYPES}
    if said.casefold() not in known:
        raise UnknownName("type", said, TYPES)
    return known[said.casefold()]


def count_mentions(rows: pl.DataFrame) -> int:
    """Return how many mentions annotations are of: alternatives of one count once."""
    return int(rows.select(pl.struct("document", "group").n_unique()).item())


def _required_of(store: Store, dataset: str) -> pl.DataFrame:
    """Return the annotations that are required, of a dataset or of all.

    Those of one are read alone until all are at hand: a first page that shows these waits for no others.
    """
    if dataset and not store.cached.holds(_REQUIRED):
        return store.cached((_REQUIRED, dataset), lambda: _list_required(store, dataset))
    rows = store.cached(_REQUIRED, lambda: _list_required(store, None))
    return rows.filter(dataset=dataset) if dataset else rows


def _find_required(frames: Frames) -> Frames:
    """Return frames whose annotations are those that are required; without its text an annotation counts nowhere."""
    required = pl.col("ignorable").is_null() & pl.col("document").is_in(frames.documents["document"].implode())
    return replace(frames, annotations=frames.annotations.filter(required))


def _list_required(store: Store, dataset: str | None) -> pl.DataFrame:
    frames, measured = _find_required(frames_of(store, dataset)), measures_of(store)
    measured = measured.of_dataset(dataset) if dataset else measured
    rows = describe_annotations(frames, measured)
    classes = pl.concat([frames.classes.select("annotation", "class"), measured.classes.select("annotation", "class")])
    rows = rows.join(name_types(rows, classes), on="annotation", how="left", maintain_order="left")
    documents = frames.documents.select("document", name=pl.coalesce("given", "document")).with_row_index("place")
    rows = rows.join(documents, on="document", maintain_order="left")
    order, turned = ["dataset", "place", "begin", "end"], [False, False, False, True]
    return rows.sort(order, descending=turned, nulls_last=True, maintain_order=True).drop("place")


def _of_value(rows: pl.DataFrame, column: str, what: str, said: str) -> pl.DataFrame:
    found = rows.filter(pl.col(column) == said)
    if found.is_empty():
        raise UnknownName(what, said, rows[column].drop_nulls().unique())
    return found


def _of_part(store: Store, rows: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    """Return the rows with the parts that they are in, or those of one part."""
    slicing = parts_of(store, wanted.by)

    def place() -> pl.DataFrame:
        return slicing.of_annotations(frames_of(store))

    def join(placed: pl.DataFrame) -> pl.DataFrame:
        return placed.group_by("annotation").agg(pl.col("part").sort().str.join(" | "))

    if wanted.part:
        placed = store.cached(("annotations in parts", wanted.by), place, asked=True)
        parts = join(placed.filter(number=find_part(slicing, wanted.part).number))
    else:
        parts = store.cached(("parts of annotations", wanted.by), lambda: join(place()), asked=True)
    return rows.join(parts, on="annotation", how="inner" if wanted.part else "left", maintain_order="left")


def find_part(slicing: Slicing, said: str) -> Subset:
    """Return the part that is meant by its name, its short name or its number; raises `UnknownName`.

    A value that the column may have and no annotation has is a part without any.
    """
    column = next((one for measure in MEASURES for one in measure.columns if one.name == slicing.asked.column), None)
    values = () if column is None else ("true", "false") if column.kind == "boolean" else column.categories
    if said in values and all(said != part.name for part in slicing.parts):
        return Subset(-1, said, said, category=said)
    names = {part.name: part for part in slicing.parts}
    ranged = all(part.category is None for part in slicing.parts)
    numbered = next((part.name for part in slicing.parts if ranged and str(part.number) == said), said)
    return names[slice_named(numbered, pl.Series([*names]))]


def _with_value(store: Store, rows: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    column = wanted.column
    known = list_quantities(measures_of(store))
    if column not in rows.columns or column not in {*known, *_COLUMNS}:
        raise UnknownName("column of annotations", column, [*known], "remix list columns")
    rows = rows.drop_nulls(column)
    if not wanted.bar:
        return rows
    scale, _, nth = wanted.bar.partition(":")
    if scale not in SCALES or not re.fullmatch("[0-9]{1,3}", nth) or int(nth) >= BARS:
        raise UnknownName("bar of a histogram", wanted.bar, [f"{one}:0" for one in SCALES])
    every = measures_of(store).annotations
    if wanted.dataset:
        every = every.filter(dataset=wanted.dataset)
    places, _ = bins_of(every[column], scale=scale, bins=BARS)
    inside = every.filter(places == int(nth))["annotation"]
    return rows.filter(pl.col("annotation").is_in(inside.implode()))


def fields_of_measure(name: str) -> dict[str, str] | None:
    """Return which annotations a measure of datasets counts or averages, as fields of `Wanted`; None for one of texts.

    They are none where it is of all of them, and where no list has just those that it counts.

    >>> fields_of_measure("formAcronym"), fields_of_measure("overlapNone")
    ({'by': 'formAcronym', 'part': 'true'}, {'by': 'overlap', 'part': 'none'})
    >>> fields_of_measure("typePerson"), fields_of_measure("pagerank"), fields_of_measure("density")
    ({'type': 'Person', 'by': 'is_nil', 'part': 'false'}, {'column': 'pagerank'}, None)
    """
    measure = next((one for one in MEASURES if any(name == summary.name for summary in one.summaries)), None)
    if measure is None or any(name == one.name and one.over == "documents" for one in measure.summaries):
        return None
    kinds = {name: name for name in TYPES} | {"Other": "other", "None": "untyped"}
    if (kind := kinds.get(name.removeprefix("type"))) and name.startswith("type"):
        return {"type": kind, "by": "is_nil", "part": "false"}  # it is of entities
    for column in measure.columns:
        if column.name == name:
            return {"by": name, "part": "true"} if column.kind == "boolean" else {"column": name}
        for category in column.categories:
            if name == f"{column.name}{category[:1].upper()}{category[1:]}":
                return {"by": column.name, "part": category}
    if name.startswith("type"):  # no list has what is of another type together with what is of none
        return {}
    return {"by": measure.columns[0].name} if measure.columns else {}
