"""The mentions behind a number of the builder: what is left after one of its conditions, narrowed down further."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures.classes import TYPES
from remix.remixes.facets import EDITIONS, Condition, FacetedCorpus, Narrowing, compose, corpus_of
from remix.reports.annotation_list import Wanted, count_mentions, list_wanted, name_type
from remix.reports.holdings import list_earlier_outcomes
from remix.reports.labels import label_entities
from remix.reports.selections import EACH, narrow_conditions, narrow_query
from remix.web import forms, page
from remix.web.addresses import address, split_names
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
from remix.web.facets import UNFOLDED, find_unfolded, limit_values, turn_values

_NARROWED = {"within": "dataset", "type": "type", "entity": "entity", "find": "find"}
"""What narrows the list down, and what it is of `Wanted`: 'dataset' is what the builder chooses among all."""
_VALUES = {
    "within": pl.concat_list("dataset"),
    "type": pl.col("types"),
    "entity": pl.col("entities").str.split(" "),
}
"""The values of a row that the list can be narrowed down to."""


@dataclass(frozen=True)
class _Listed:
    """What is listed: of what is `found` by choices of the builder that which is left `after` a row, as it is `wanted`.

    `asked` are the choices as the address has them.
    """

    corpus: FacetedCorpus
    choices: RemixChoices
    found: Narrowing
    asked: Mapping[str, str]
    after: int
    wanted: Wanted

    def list_annotations(self, **without: str) -> pl.DataFrame:
        """Return the annotations, as `list_wanted` has them; `without` empties fields of what is wanted."""
        return _list_among(self.corpus, replace(self.wanted, **without), self.found.annotations[self.after])

    @property
    def met(self) -> Sequence[Condition]:
        """Return the conditions that are met, of choices that are conditions.

        Before the first one stand rows of what is loaded, behind the last one that of editions.
        """
        return (self.choices.conditions or ())[: max(0, self.after - (2 if self.choices.dataset else 1))]

    @property
    def text(self) -> str:
        """Return the query that selects what is listed, but for what narrows the list down."""
        return self.choices.text if self.choices.conditions is None else compose(self.met)

    @property
    def is_narrowed(self) -> bool:
        """Return whether more is wanted of annotations than their dataset."""
        return bool(self.wanted.type or self.wanted.entity or self.wanted.find)

    @property
    def is_last(self) -> bool:
        """Return whether they are what a remix of the choices has."""
        return self.after == self.found.left.height - 1

    @property
    def of_editions(self) -> bool:
        """Return whether the last row is that in which one edition of each text is left."""
        return bool(self.found.left["condition"][-1] == EDITIONS)

    def choose_datasets(self) -> dict[str, str]:
        """Return of which datasets and editions a remix is; raises `UsageError` where that leaves none."""
        chosen = {} if self.after == 0 and self.choices.dataset else {"dataset": self.asked.get("dataset", "")}
        chosen["edition"] = self.asked.get("edition", "") if self.is_last else EACH
        if name := self.wanted.dataset:
            if self.is_last and (self.found.datasets.filter(dataset=name)["elsewhere"] != "").any():
                raise UsageError(f"texts of {name} are kept of another dataset, as its row in the builder says")
            chosen["dataset"] = name
        return chosen

    def make_remix(self) -> dict[str, str]:
        """Return the choices of the builder that are a remix of the annotations.

        Raises `UsageError` where no choices are one.
        """
        whole = self.is_last or (self.of_editions and self.after == self.found.left.height - 2)
        if self.choices.conditions is None and not whole:
            raise UsageError("a query is asked as a whole, and this is a part of its conditions")
        chosen, store = self.choose_datasets(), self.corpus.store
        if self.choices.conditions is None:
            if not self.is_narrowed:
                return {**self.asked, **chosen}
            return {**chosen, "sparql": narrow_query(store, self.choices.text, self.wanted, self.choices.dataset)}
        if self.is_narrowed:
            return {**chosen, "sparql": narrow_conditions(store, self.met, self.wanted, self.choices.dataset)}
        rest = {name: value for name, value in self.asked.items() if name not in ("on", "add", "dataset", "edition")}
        return {**rest, **chosen, "on": ",".join(one.facet.name for one in self.met)}

    def tell_difference(self) -> str:
        """Return how many mentions the remix has, where it chooses the edition of a text among others than the list."""
        if not (self.is_last and self.of_editions and self.is_narrowed) or self.wanted.dataset:
            return ""
        selected = _list_among(self.corpus, self.wanted, self.found.annotations[self.after - 1])["annotation"]
        stay = self.corpus.keep_editions(selected, dataset=self.choices.dataset, edition=self.choices.edition)
        if {*stay} == {*self.list_annotations()["annotation"]}:
            return ""
        number = count_mentions(_list_among(self.corpus, self.wanted, stay))
        return f" A remix of them has {number:,}: it chooses the edition of a text after all else."


def _list_among(corpus: FacetedCorpus, wanted: Wanted, annotations: pl.Series) -> pl.DataFrame:
    """Return those of annotations that are wanted."""
    return list_wanted(corpus.store, wanted).filter(pl.col("annotation").is_in(annotations.implode()))


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Selection", [page.NOTHING])
    check_choices(parameters)
    asked = {name: said for name, said in parameters.items() if said and (name in PARAMETERS or "." in name)}
    choices = read_choices(corpus := corpus_of(work.store), asked)
    found = choices.narrow(corpus)
    narrowed = {name: said for name in _NARROWED if (said := parameters.get(name, ""))}
    if narrowed.get("type"):
        narrowed["type"] = name_type(narrowed["type"])
    wanted = Wanted(**{_NARROWED[name]: said for name, said in narrowed.items()})
    listed = _Listed(corpus, choices, found, asked, _read_row(found, parameters.get("after", "")), wanted)

    dropped: list[UsageError] = [*find_unfolded(parameters, _VALUES)]
    if wanted.entity and list_wanted(work.store, Wanted(entity=wanted.entity)).is_empty():
        dropped.append(UnknownName("entity that an annotation links to", wanted.entity))
        del narrowed["entity"]
        listed = replace(listed, wanted=(wanted := replace(wanted, entity="")))
    unfolded = said if (said := parameters.get(UNFOLDED, "")) in _VALUES else ""
    here = {**asked, "after": str(listed.after), **narrowed, UNFOLDED: unfolded}

    def lead(name: str, value: str) -> str:
        return address("selection", **{**here, name: value})

    def count(name: str) -> page.FacetCounts:
        """Return what the list can be narrowed down to by one column, what it is narrowed down by others."""
        own, field = narrowed.get(name, ""), _NARROWED[name]
        return count_values(
            field,
            listed.list_annotations(**{field: ""}),
            _VALUES[name],
            own=own,
            lead=lambda value: lead(name, "" if value == own else value),
            label=lambda values: label_entities(work.kb, values) if name == "entity" else {},
            limit=limit_values(parameters, name),
            turned=address("selection", **turn_values(here, name)),
        )

    rows = listed.list_annotations()
    table = tabulate_annotations(
        work,
        rows,
        [one.facet.name for one in choices.conditions or ()],
        lead_to_entity=lambda iri: lead("entity", iri),
        dataset=wanted.dataset,
    )
    facets = page.Facets([count(name) for name in _VALUES])
    called = call_condition(found.left["condition"][listed.after])
    form = _form(found, {**asked, **narrowed}, listed.after)
    earlier = list_earlier_outcomes(work.store, listed.text, choices.dataset)
    told = [page.Note(*said) for said in earlier.items()]
    blocks = [form, _tell(listed, rows, called), *told, facets, table, *page.tell_missing(work)]
    return page.Page(f"Selection: {called}", blocks, dropped=dropped)


def _tell(listed: _Listed, rows: pl.DataFrame, called: str) -> page.Note:
    """Return how many mentions are left after what is so called, and where a remix is made of them, or why none is."""
    number = count_mentions(rows)
    told = f"{number:,} mention{'s' * (number != 1)}"
    if len(rows) != number:
        told += f" ({len(rows):,} annotations, as alternatives of a mention have a row each)"
    told += f" {'are' if number != 1 else 'is'} left after '{called}'."
    links = {"Back to the builder": address("builder", **listed.asked)}
    if number:
        try:
            links["Make this a remix"] = address("builder", **listed.make_remix())
            told += listed.tell_difference()
        except UsageError as reason:
            told += f" No remix has just these: {reason}."
    return page.Note(told, links=links)


def _read_row(found: Narrowing, said: str) -> int:
    """Return the number of the row whose mentions are listed, by default of the last."""
    if not said:
        return found.left.height - 1
    if not re.fullmatch("[0-9]{1,4}", said) or int(said) >= found.left.height:
        raise UnknownName("row of what is left", said, map(str, range(found.left.height)))
    return int(said)


def _form(found: Narrowing, asked: Mapping[str, str], after: int) -> forms.Form:
    """Return the choices of the list: a row, and what narrows it down; those of the builder go with it."""
    conditions = enumerate(found.left["condition"])
    words = {str(number): f"{number + 1}. {call_condition(said)}" for number, said in conditions}
    own = ("within", "type", "find")
    return forms.Form(
        [
            forms.choose("after", "left after", [*words], str(after), "a condition of the builder", words=words),
            forms.choose("within", "dataset", ["", *found.datasets["dataset"]], asked.get("within", "")),
            forms.choose("type", "type", ["", *TYPES], asked.get("type", "")),
            forms.Field("find", "surface form contains", asked.get("find", "")),
            *(forms.Field(name, name, said, look="hidden") for name, said in asked.items() if name not in own),
        ]
    )


def _example(work: page.Explored) -> dict[str, str]:
    """Return what is left after the last condition of the builder's example."""
    asked = give_example(work)
    return {"after": str(1 + len(split_names(asked.get("on", "")))), **asked} if page.list_datasets(work) else {}


selection = page.View(
    "selection",
    "Selection",
    _show,
    subject=("after",),
    example=_example,
    runs_queries=True,
    parameters=(*PARAMETERS, "after", *_NARROWED, UNFOLDED),
    further=list_parameters,
)
