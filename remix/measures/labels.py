"""What people call measures, and in which units these are: by the names of columns and statistics.

Each is declared where the measure is (`remix.measures.declaration`). Data have the names alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import polars as pl

from remix.measures.declaration import Column, Summary
from remix.measures.measured import document_column
from remix.measures.measurement import MEASURES
from remix.vocabularies import COARSE_TYPE

COUNT = "count"
COUNTED = frozenset(one.name for measure in MEASURES for one in measure.summaries if COUNT in one.terms)
"""The statistics of datasets that have a number of what their share is of: in the average `COUNT`."""
_OWN = {
    "words": ("words", "words"),
    "is_nil": ("NIL or not", "yes or no"),
    "surface_form": ("surface form", "text"),
    "kb": ("knowledge base", "kind"),
    "systemAgreement": ("agreement of systems", "share"),
    "numEntities": ("different entities", "number"),
    "numForms": ("different names", "number"),
    "type": ("class of the entity", "kind"),
    COARSE_TYPE: ("type", "kind"),
    "class": ("class", "kind"),
}
"""Columns that every gold has, as far as their names are none that people use, or have a unit."""


@dataclass(frozen=True)
class Called:
    """What people call a measure, and its unit: `share`, `yes or no`, `kind` of a class, else its own."""

    words: str
    unit: str


def label_of(name: str, *, of_statistics: bool = False) -> Called:
    """Return the label of a column or statistic; of what has none its name, without a unit.

    What is both has another unit as one `of_statistics`: whether a form is an acronym, the share of acronyms. Behind a
    column may stand how it is cut (`:quantiles:4`), which is in the words as well.

    >>> label_of("ambiguitySurfaceForm")
    Called(words='readings a name', unit='entities')
    >>> label_of("pagerank:quantiles:4").words, label_of("mine").words
    ('PageRank (quantiles:4)', 'mine')
    """
    column, colon, cut = (name, "", "") if name in _OWN else name.partition(":")
    found = (_list_statistics() if of_statistics else {}).get(column) or list_labels().get(column)
    if found is None:
        return Called(name, "")
    return Called(f"{found.words} ({cut})" if colon else found.words, found.unit)


def words_of_column(name: str) -> str:
    """Return what people call a column, however it is cut.

    >>> words_of_column("pagerank:quantiles:4"), words_of_column("type:coarse")
    ('PageRank', 'type')
    """
    return label_of(name if name in _OWN else name.partition(":")[0]).words


def words_with_name(name: str) -> str:
    """Return what people call a measure with its name behind it, for a list of choices, which has no small letters.

    >>> words_with_name("formAcronym"), words_with_name("document")
    ('acronyms – formAcronym', 'document')
    """
    words = label_of(name).words
    return words if words == name else f"{words} – {name}"


def words_of_measures(names: Iterable[str]) -> dict[str, str]:
    """Return what measures are called in a list of choices, those that are called by their names left out."""
    return {name: words for name in names if (words := words_with_name(name)) != name}


def headings_of_measures(names: Iterable[str], *, of_statistics: bool = False) -> dict[str, tuple[str, str]]:
    """Return the headings of columns that are measures: what people call them; the name and the unit in small letters.

    >>> headings_of_measures(["formAcronym", "surface_form"], of_statistics=True)["formAcronym"]
    ('acronyms', 'formAcronym, share')
    """
    found = {name: label_of(name, of_statistics=of_statistics) for name in names}
    return {
        name: (label.words, ", ".join(filter(None, (name, label.unit if label.unit != label.words else ""))))
        for name, label in found.items()
        if label.words != name
    }


def call_measures(names: pl.Series, *, of_statistics: bool = False) -> pl.Series:
    """Return what people call measures, as the column `called`."""
    known = {name: label_of(name, of_statistics=of_statistics).words for name in names.unique()}
    return names.replace_strict(known, return_dtype=pl.String).alias("called")


def find_units(names: pl.Series, *, of_statistics: bool = False, average: str | pl.Series = "") -> pl.Series:
    """Return the units of measures, as the column `unit`; in an average that counts, what has one is a number.

    The average is one of all, or each measure's own.
    """
    known = {name: label_of(name, of_statistics=of_statistics).unit for name in names.unique()}
    units = names.replace_strict(known, return_dtype=pl.String).alias("unit")
    averages = pl.repeat(average, len(names), eager=True) if isinstance(average, str) else average
    counted = names.is_in([*COUNTED]) & (averages == COUNT)
    return units.set(counted, "number")


@cache
def list_labels() -> dict[str, Called]:
    """Return the labels of all columns and statistics that have one, by their names.

    Where the values of documents have a name of their own, that says so: 'acronyms, of the document'.
    """
    summaries = [summary for measure in MEASURES for summary in measure.summaries if "document" in summary.terms]
    of_documents = {
        document_column(one, "document"): replace(label, words=f"{label.words}, of the document")
        for one in summaries
        if (label := _of_summary(one)).words
    }
    columns = {column.name: _of_column(column) for measure in MEASURES for column in measure.columns if column.label}
    own = {name: Called(*said) for name, said in _OWN.items()}
    return {**of_documents, **_list_statistics(), **columns, **own}


@cache
def _list_statistics() -> dict[str, Called]:
    return {one.name: _of_summary(one) for measure in MEASURES for one in measure.summaries if one.label}


def _of_column(column: Column) -> Called:
    units = {"boolean": "yes or no", "string": "kind"}
    return Called(column.label, column.measured_in or units.get(column.kind, ""))


def _of_summary(summary: Summary) -> Called:
    return Called(summary.label, "share" if summary.is_share else summary.measured_in)
