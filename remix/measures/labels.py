"""What people call measures, and in which units these are: by the names of columns and statistics.

Each is declared where the measure is (`remix.measures.declaration`). Data have the names alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from remix.measures.declaration import Column, Summary
from remix.measures.measured import document_column
from remix.measures.measurement import MEASURES
from remix.vocabularies import COARSE_TYPE

_OWN = {
    "words": ("words", "words"),
    "is_nil": ("NIL or not", "yes or no"),
    "surface_form": ("surface form", "text"),
    "kb": ("knowledge base", "kind"),
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
