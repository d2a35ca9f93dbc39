"""The mentions behind a number of the builder: what is left after one of its conditions, narrowed down further."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures.classes import TYPES
from remix.remixes.facets import EDITIONS, FacetedCorpus, Narrowing, corpus_of
from remix.reports.annotation_list import Wanted, count_mentions, list_wanted, name_type
from remix.reports.labels import label_entities
from remix.reports.selections import EACH, narrow_conditions, narrow_query
from remix.web import page
from remix.web.annotation_tables import count_values, tabulate_annotations
from remix.web.choices import (
    PARAMETERS,
    RemixChoices,
    call_condition,
    check_choices,
    give_example,
    list_parameters,
    read_choices,
)

_NARROWED = {"within": "dataset", "type": "type", "entity": "entity", "find": "find"}
"""What narrows the list down, and what it is of `Wanted`: 'dataset' is what the builder chooses among all."""
_VALUES = {
    "within": pl.concat_list("dataset"),
    "type": pl.col("types"),
    "entity": pl.col("entities").str.split(" "),
}
"""The values of a row that the list can be narrowed down to."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Selection", [page.NOTHING])
    check_choices(parameters)
    asked = {name: said for name, said in parameters.items() if said and (name in PARAMETERS or "." in name)}
    choices = read_choices(corpus := corpus_of(work.store), asked)
    found = choices.narrow(corpus)
    after = _read_row(found, parameters.get("after", ""))
    narrowed = {name: said for name in _NARROWED if (said := parameters.get(name, ""))}
    if narrowed.get("type"):
        narrowed["type"] = name_type(narrowed["type"])
    wanted = Wanted(**{_NARROWED[name]: said for name, said in narrowed.items()})
    inside = pl.col("annotation").is_in(found.annotations[after].implode())
    rows = list_wanted(work.store, wanted).filter(inside)

    def lead(name: str, value: str) -> str:
        return page.address("selection", **{**asked, "after": after, **narrowed, name: value})

    def count(name: str) -> page.FacetCounts:
        """Return what the list can be narrowed down to by one column, what it is narrowed down by others."""
        own, field = narrowed.get(name, ""), _NARROWED[name]
        return count_values(
            field,
            list_wanted(work.store, replace(wanted, **{field: ""})).filter(inside),
            _VALUES[name],
            own=own,
            lead=lambda value: lead(name, "" if value == own else value),
            label=lambda values: label_entities(work.kb, values) if name == "entity" else {},
        )

    number, called = count_mentions(rows), call_condition(found.left["condition"][after])
    told = f"{number:,} mention{'s' * (number != 1)}"
    if len(rows) != number:
        told += f" ({len(rows):,} annotations, as alternatives of a mention have a row each)"
    told += f" {'are' if number != 1 else 'is'} left after '{called}'."
    links = {"Back to the builder": page.address("builder", **asked)}
    if number:
        try:
            remix, further = _make_remix(corpus, choices, found, wanted, after, asked, rows["annotation"])
            links["Make this a remix"], told = page.address("builder", **remix), f"{told}{further}"
        except UsageError as reason:
            told += f" No remix has just these: {reason}."
    blocks = [
        _form(found, {**asked, **narrowed}, after),
        page.Note(told, links=links),
        page.Facets([count(name) for name in _VALUES]),
        tabulate_annotations(
            work,
            rows,
            [one.facet.name for one in choices.conditions or ()],
            lead_to_entity=lambda iri: lead("entity", iri),
            dataset=wanted.dataset,
        ),
    ]
    return page.Page(f"Selection: {called}", blocks)


def _read_row(found: Narrowing, said: str) -> int:
    """Return the number of the row whose mentions are listed."""
    if not re.fullmatch("[0-9]{1,4}", said) or int(said) >= found.left.height:
        raise UnknownName("row of what is left", said, map(str, range(found.left.height)))
    return int(said)


def _form(found: Narrowing, asked: Mapping[str, str], after: int) -> page.Form:
    """Return the choices of the list: a row, and what narrows it down; those of the builder go with it."""
    conditions = enumerate(found.left["condition"])
    words = {str(number): f"{number + 1}. {call_condition(said)}" for number, said in conditions}
    own = ("within", "type", "find")
    return page.Form(
        [
            page.choose("after", "left after", [*words], str(after), "a condition of the builder", words=words),
            page.choose("within", "dataset", ["", *found.datasets["dataset"]], asked.get("within", "")),
            page.choose("type", "type", ["", *TYPES], asked.get("type", "")),
            page.Field("find", "surface form contains", asked.get("find", "")),
            *(page.Field(name, name, said, look="hidden") for name, said in asked.items() if name not in own),
        ]
    )


def _make_remix(
    corpus: FacetedCorpus,
    choices: RemixChoices,
    found: Narrowing,
    wanted: Wanted,
    after: int,
    asked: Mapping[str, str],
    listed: pl.Series,
) -> tuple[dict[str, str], str]:
    """Return the choices of the builder that are a remix of the mentions that are listed, and what differs.

    Raises `UsageError` where no choices are one of these.
    """
    narrowed = bool(wanted.type or wanted.entity or wanted.find)
    said = found.left["condition"].to_list()
    last, of_editions = after == len(said) - 1, said[-1] == EDITIONS
    whole = last or (of_editions and after == len(said) - 2)
    if choices.conditions is None and not whole:
        raise UsageError("a query is asked as a whole, and this is a part of its conditions")
    chosen = {} if after == 0 and choices.dataset else {"dataset": asked.get("dataset", "")}
    chosen["edition"] = asked.get("edition", "") if last else EACH
    if wanted.dataset:
        kept = found.datasets.filter(dataset=wanted.dataset)
        if last and (kept["elsewhere"] != "").any():
            raise UsageError(f"texts of {wanted.dataset} are kept of another dataset, as its row in the builder says")
        chosen["dataset"] = wanted.dataset
    further = ""
    if last and of_editions and narrowed and not wanted.dataset:
        # A remix chooses the edition of a text among those that have anything that it is to keep.
        before = pl.col("annotation").is_in(found.annotations[after - 1].implode())
        selected = list_wanted(corpus.store, wanted).filter(before)["annotation"]
        stay = corpus.keep_editions(selected, dataset=choices.dataset, edition=choices.edition)
        if {*stay} != {*listed}:
            rows = list_wanted(corpus.store, wanted).filter(pl.col("annotation").is_in(stay.implode()))
            further = f" A remix of them has {count_mentions(rows):,}: it chooses the edition of a text after all else."
    if choices.conditions is None:
        if not narrowed:
            return {**asked, **chosen}, further
        return {**chosen, "sparql": narrow_query(corpus.store, choices.text, wanted)}, further
    # Before the first condition stand rows of what is loaded, behind the last one that of editions.
    met = choices.conditions[: max(0, after - (2 if choices.dataset else 1))]
    if narrowed:
        return {**chosen, "sparql": narrow_conditions(corpus.store, met, wanted)}, further
    own = {"on", "add", "dataset", "edition"}
    rest = {name: value for name, value in asked.items() if name not in own}
    return {**rest, **chosen, "on": ",".join(one.facet.name for one in met)}, further


def _example(work: page.Explored) -> dict[str, str]:
    """Return what is left after the last condition of the builder's example."""
    asked = give_example(work)
    return {"after": str(1 + len(page.split_names(asked.get("on", "")))), **asked} if page.list_datasets(work) else {}


selection = page.View(
    "selection",
    "Selection",
    _show,
    subject=("after",),
    example=_example,
    runs_queries=True,
    parameters=(*PARAMETERS, "after", *_NARROWED),
    further=list_parameters,
)
