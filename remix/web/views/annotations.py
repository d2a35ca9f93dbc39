"""The annotations behind a number: a list that counts of other pages lead to, narrowed down, and made a remix."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures.classes import TYPES
from remix.measures.columns import OWN
from remix.measures.enrichment import measures_of
from remix.measures.labels import label_of, words_of_measures
from remix.names import shorten
from remix.reports.annotation_list import (
    Wanted,
    count_mentions,
    find_part,
    list_wanted,
    name_type,
    parts_of,
)
from remix.reports.labels import label_entities, label_parts
from remix.reports.selections import WantedOutcomes, builder_parameters
from remix.reports.statistics import list_quantities
from remix.runs.judgements import OUTCOMES
from remix.vocabularies import COARSE_TYPE
from remix.web import forms, page
from remix.web.addresses import address
from remix.web.annotation_tables import count_values, tabulate_annotations
from remix.web.answers import judge, list_answers
from remix.web.facets import UNFOLDED, find_unfolded, limit_values, turn_values

_LISTED = 200
"""Parts that are listed to choose one."""


_FILTERS = ("dataset", "type", "part", "entity", "outcome")
"""What the list is narrowed down by, of which all values may be asked for."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Annotations", [page.NOTHING])
    asked, dropped = _fit(work, {name: said for name, said in parameters.items() if said})
    if asked.get("type"):
        asked["type"] = name_type(asked["type"])
    for name, what in (("entity", "entity that an annotation links to"), ("form", "surface form of an annotation")):
        if asked.get(name) and list_wanted(work.store, Wanted(**{name: asked[name]})).is_empty():
            dropped.append(UnknownName(what, asked.pop(name)))
    wanted = _read(asked)
    outcomes = _judge(work, asked)
    filters = _list_filters(work, wanted, asked, outcomes)  # which may need all datasets, and then the list has its own
    rows = list_wanted(work.store, wanted)
    if outcomes is not None:
        rows = rows.join(outcomes, on=_MENTION, how="left", maintain_order="left")
        if outcome := asked.get("outcome"):
            rows = rows.filter(outcome=outcome)
    mentions = count_mentions(rows)
    told = f"{rows.height:,} annotation{'s' * (rows.height != 1)}"
    if mentions != rows.height:
        told += f" of {mentions:,} mentions, as alternatives of one count once, in the numbers of the filters as well"
    blocks = [
        _form(work, asked),
        _tell(work, wanted, asked, f"{told}.") if rows.height else page.Note(f"{told}."),
        page.Facets(filters),
        _tabulate(work, rows, wanted, asked),
        *page.tell_missing(work),
        *_tell_commands(asked),
    ]
    return page.Page(_title(asked), blocks, dropped=dropped)


def _tell(work: page.Explored, wanted: Wanted, asked: Mapping[str, str], told: str) -> page.Note:
    """Return what is told with the address at which a remix is made of the annotations, or with why none is."""
    try:
        systems = (asked["system"],) if asked.get("system") else ()
        outcomes = WantedOutcomes(systems, asked.get("outcome", ""))
        found = builder_parameters(work.store, wanted, outcomes)
    except UsageError as reason:
        return page.Note(f"{told} No remix has just these: {reason}.")
    return page.Note(told, links={"Make this a remix": address("builder", **found)})


def _title(asked: Mapping[str, str]) -> str:
    said = [f"{label_of(asked['by']).words} is {shorten(asked['part'])}"] if asked.get("part") else []
    said += [f"with {label_of(asked['column']).words}"] if asked.get("column") else []
    told = {name: " or ".join(map(shorten, asked[name].split(" "))) for name in ("type", "entity") if asked.get(name)}
    told |= {name: asked[name] for name in ("form", "outcome") if asked.get(name)}
    said += [f"{'surface form' if name == 'form' else name} {value}" for name, value in told.items()]
    of = f" of {asked['dataset']}" if asked.get("dataset") else ""
    return f"Annotations{of}{': ' if said else ''}{', '.join(said)}"


def _read(asked: Mapping[str, str]) -> Wanted:
    return Wanted(**{name: asked.get(name, "") for name in asdict(Wanted())})


def _fit(work: page.Explored, asked: dict[str, str]) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without choices that do not fit the others, and what is said of these."""
    dropped: list[UsageError] = [*find_unfolded(asked, _FILTERS)]
    if dropped:
        del asked[UNFOLDED]

    def drop(wrong: UsageError, *names: str) -> None:
        dropped.append(wrong)
        for name in names:
            asked.pop(name, None)

    dataset, system = asked.get("dataset", ""), asked.get("system", "")
    runs = list_answers(work, [dataset])
    if system and not dataset:
        drop(UsageError("what a system made of annotations is told of one dataset: choose it"), "system", "outcome")
    elif system and all((run.system, run.dataset) != (system, dataset) for run in runs):
        known = sorted({run.system for run in runs if run.dataset == dataset})
        drop(UnknownName(f"run on {dataset}", system, known, "remix run list"), "system", "outcome")
    elif asked.get("outcome") and not system:
        drop(UsageError(f"'{asked['outcome']}' is what a system made of annotations: choose one"), "outcome")
    if asked.get("part") and not asked.get("by"):
        drop(UsageError(f"'{asked['part']}' is a part of a column: name the column"), "part")
    if asked.get("bar") and not asked.get("column"):
        drop(UsageError(f"'{asked['bar']}' is a bar of a column: name the column"), "bar")
    if asked.get("part"):
        try:
            asked["part"] = find_part(parts_of(work.store, asked["by"]), asked["part"]).name
        except UnknownName as wrong:
            drop(wrong, "part")
    if (name := asked.get("document")) and dataset:
        try:
            list_wanted(work.store, Wanted(dataset, name))
        except UnknownName as wrong:
            drop(wrong, "document")
    if (outcome := asked.get("outcome")) and outcome not in OUTCOMES:
        raise UnknownName("outcome", outcome, OUTCOMES)
    return asked, dropped


def _judge(work: page.Explored, asked: Mapping[str, str]) -> pl.DataFrame | None:
    """Return document, group, outcome and answer of the system on the mentions of the dataset, None without one."""
    if not asked.get("system"):
        return None
    judged = judge(work, asked["dataset"])
    own = judged.systems.filter(system=asked["system"]).select("mention", "outcome", "answer")
    every = list_wanted(work.store, Wanted(asked["dataset"])).select("annotation", "document", "group")
    found = judged.mentions.drop_nulls("annotation").select("mention", "annotation").join(own, on="mention")
    return found.join(every, on="annotation").select("document", "group", "outcome", "answer").unique(_MENTION)


_MENTION = ["document", "group"]
"""What alternatives of a mention have in common."""


def _form(work: page.Explored, asked: Mapping[str, str]) -> forms.Form:
    dataset, by = asked.get("dataset", ""), asked.get("by", "")
    systems = sorted({run.system for run in list_answers(work, [dataset]) if run.dataset == dataset})
    known = [*list_quantities(measures_of(work.store))]
    columns = [COARSE_TYPE, *(name for name in OWN if name not in ("document", "surface_form", "ignorable", "kb"))]
    columns += [one.name for measure in measures_of(work.store).measures for one in measure.columns]
    fields = [
        forms.choose("dataset", "dataset", ["", *(one.name for one in page.list_datasets(work))], dataset),
        forms.choose("type", "type", ["", *TYPES], asked.get("type", "")),
        forms.Field(
            "by",
            "part of",
            by,
            columns,
            explained="a column, as `remix partition --by` has it",
            words=words_of_measures(columns),
        ),
    ]
    if by:
        parts = [part.name for part in parts_of(work.store, by).parts]
        labels = label_parts(work.kb, pl.Series(parts, dtype=pl.String), by)
        words = {name: f"{labels[name]} – {shorten(name)}" if name in labels else shorten(name) for name in parts}
        if len(parts) <= _LISTED:
            fields.append(forms.Field("part", "part", asked.get("part", ""), ["", *parts], "choice", words=words))
        else:
            fields.append(forms.Field("part", "part", asked.get("part", ""), parts[:_LISTED]))
    words = words_of_measures(known)
    fields.append(forms.Field("column", "with a value of", asked.get("column", ""), known, words=words))
    if systems:
        fields.append(forms.choose("system", "answers of", ["", *systems], asked.get("system", ""), nothing="(none)"))
    if asked.get("system"):
        fields.append(forms.choose("outcome", "outcome", ["", *OUTCOMES], asked.get("outcome", "")))
    fields.append(forms.Field("find", "surface form contains", asked.get("find", "")))
    hidden = [
        forms.Field(one, one, asked[one], look="hidden")
        for one in ("document", "entity", "form", "bar")
        if asked.get(one)
    ]
    return forms.Form([*fields, *hidden])


def _list_filters(
    work: page.Explored, wanted: Wanted, asked: Mapping[str, str], outcomes: pl.DataFrame | None
) -> list[page.FacetCounts]:
    """Return what the list can be narrowed down by, each value with the mentions that it would leave."""
    plain = {name: said for name, said in asked.items() if name not in ("at", "sort")}
    facets = []
    asked_elsewhere = ("dataset", "type", "outcome", "entity")  # two facets of a name could not be told apart

    def leave(**without: str) -> pl.DataFrame:
        rows = list_wanted(work.store, replace(wanted, **without))
        if outcomes is None:
            return rows
        rows = rows.join(outcomes, on=_MENTION, how="left", maintain_order="left")
        return rows.filter(outcome=asked["outcome"]) if asked.get("outcome") else rows

    def tell(name: str, rows: pl.DataFrame, values: pl.Expr) -> None:
        """Add to the facets how many mentions have each value, with the address that narrows the list down to it."""
        own = plain.get(name, "")

        def label(values: pl.Series) -> Mapping[str, str]:
            if name == "part":
                return label_parts(work.kb, values, plain.get("by", ""))
            return label_entities(work.kb, values) if name == "entity" else {}

        def lead(value: str) -> str:
            return address("annotations", **{**plain, name: "" if value == own else value})

        called = label_of(wanted.by).words if name == "part" else name
        called = f"part of {called}" if name == "part" and called in asked_elsewhere else called
        limit, turned = limit_values(asked, name), address("annotations", **turn_values(plain, name))
        facets.append(count_values(called, rows, values, own=own, lead=lead, label=label, limit=limit, turned=turned))

    if outcomes is None:
        tell("dataset", leave(dataset="", document=""), pl.concat_list("dataset"))
    tell("type", leave(type=""), pl.col("types"))
    if wanted.by:
        tell("part", leave(part=""), pl.col("part").str.split(" | "))
    if outcomes is not None:
        rows = list_wanted(work.store, wanted).join(outcomes, on=_MENTION)
        tell("outcome", rows, pl.concat_list("outcome"))
    tell("entity", leave(entity=""), pl.col("entities").str.split(" "))
    return facets


def _tabulate(work: page.Explored, rows: pl.DataFrame, wanted: Wanted, asked: Mapping[str, str]) -> page.Table:
    """Return the annotations with what was asked for."""
    extra = [wanted.column, wanted.by.partition(":")[0], "part", "outcome", "answer"]

    def lead_to_entity(entity: str) -> str:
        return address("annotations", **{**asked, "at": "", "entity": entity})

    chosen = {"system": asked.get("system", ""), "dataset": asked.get("dataset", "")}
    return tabulate_annotations(work, rows, extra, lead_to_entity=lead_to_entity, **chosen)


def _tell_commands(asked: Mapping[str, str]) -> list[page.Note]:
    """Return the command line that counts the parts."""
    if not asked.get("by"):
        return []
    return [page.Note("The parts in a terminal:", [f"remix partition --by {shlex.quote(asked['by'])}"])]


def _example(work: page.Explored) -> page.Parameters:
    return {"dataset": entries[0].name, "by": "is_nil"} if (entries := page.list_datasets(work)) else {}


listed = page.View(
    "annotations",
    "Annotations",
    _show,
    menu=4,
    subject=("dataset",),
    example=_example,
    parameters=(*asdict(Wanted()), "system", "outcome", UNFOLDED),
)
