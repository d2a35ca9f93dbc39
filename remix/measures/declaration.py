"""How a measure is declared: its columns on annotations, its summaries of documents and datasets, its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import polars as pl

from remix.errors import Error
from remix.names import PREFIXES

if TYPE_CHECKING:
    from remix.measures.corpus import Corpus

Kind = Literal["integer", "double", "boolean", "string"]
AVERAGES = ("count", "micro", "macro", "distinct")
"""What a dataset's values are: a sum, pooled, the mean of its documents, the mean of its distinct forms or entities."""


@dataclass(frozen=True)
class Column:
    """A value that each annotation may have: its term, its kind and the expression over the corpus' annotations.

    Their columns are those of `remix.measures.corpus.Corpus.annotations` and what some measure's `prepare` adds:
    `surface_form`, `key` (the form as it is looked up), `entity`, `begin`, `end`, `is_nil`, `pagerank`, …; the error
    of a column that is none of them names the nearest. `label` is what people read in place of the name, `measured_in`
    the unit of a number.
    """

    term: str
    kind: Kind
    value: pl.Expr
    meaning: str
    categories: tuple[str, ...] = ()
    label: str = ""
    measured_in: str = ""

    @property
    def name(self) -> str:
        """Return the local name of the term, which is the name of the column."""
        return local(self.term)


@dataclass(frozen=True)
class Summary:
    """A statistic, part and whole, over one of the corpus' tables; micro, macro and distinct are derived from it.

    `over` is `annotations`, with the columns of all measures, or `documents` (`text`, `words`, `characters`,
    `mentions`, `region_words`, …); or the `unit`, of which each then counts once with the mean of its annotations.

    A row whose part or whole is null, or whose whole is 0, is not spoken for. `unit` names the column of the
    annotations, key or entity, of what is distinct; where part and whole are `of_unit`, they are the same in all of its
    rows. `own` are part, whole and table of the documents' values where these differ from the pooled ones.
    `terms` says which averages exist and what they are called: document, count, micro, macro, distinct. A value that
    `is_share` is shown to people in per cent. `label` is what people read in place of the name, `measured_in`
    the unit of a value that is no share. Of a statistic that `is_told` sentences on datasets speak, its label behind
    the value: '26 readings a name', '54 % persons', 'more acronyms'.
    """

    name: str
    meaning: str
    terms: Mapping[str, tuple[str, ...]]
    part: pl.Expr
    whole: pl.Expr = field(default_factory=lambda: pl.lit(1.0))
    over: str = "annotations"
    unit: str | None = None
    of_unit: bool = False
    own: tuple[pl.Expr, pl.Expr, str] | None = None
    is_share: bool = False
    label: str = ""
    measured_in: str = ""
    is_told: bool = False


@dataclass(frozen=True)
class Measure:
    """One perspective on annotations, documents and datasets.

    `needs` names the parts of the knowledge base without which it says nothing; `prepare` returns further
    columns of the corpus' annotations, in their order, that its expressions use.
    """

    name: str
    levels: tuple[str, ...]
    unit: str
    formula: str
    citation: str
    high: str
    low: str
    empty: str
    columns: tuple[Column, ...] = ()
    summaries: tuple[Summary, ...] = ()
    needs: tuple[str, ...] = ()
    prepare: Callable[[Corpus], pl.DataFrame] | None = None


def local(term: str) -> str:
    """Return the part of a term after its prefix.

    >>> local("hfts:density")
    'density'
    """
    return term.partition(":")[2]


def write_out(term: str) -> str:
    """Return the IRI of a term that is written with a prefix; raises `Error` for an unknown prefix.

    >>> write_out("hfts:density").rpartition("/")[2]
    'hfts.ttl#density'
    """
    prefix, _, name = term.partition(":")
    if prefix not in PREFIXES:
        raise Error(f"the term {term} has no well-known prefix")
    return PREFIXES[prefix] + name


def terms_of(name: str, *averages: str) -> dict[str, tuple[str, ...]]:
    """Return the terms of a statistic by the rule: `rmx:name` on documents, `rmx:microName`, … on datasets.

    A name may have another prefix, by default all averages are meant.

    >>> terms_of("candidateRecall", "document"), terms_of("hfts:maxRecall", "micro")
    ({'document': ('rmx:candidateRecall',)}, {'micro': ('hfts:microMaxRecall',)})
    """
    prefix, _, own = name.rpartition(":")
    capital = own[0].upper() + own[1:]
    known = {"document": own, "count": f"{own}Count"}
    chosen = averages or ("document", "count", "micro", "macro", "distinct")
    return {average: (f"{prefix or 'rmx'}:{known.get(average, average + capital)}",) for average in chosen}


def shares(
    column: str,
    categories: tuple[str, ...],
    what: str,
    unit: str | None = None,
    *,
    of_unit: bool = False,
    labels: Mapping[str, str],
) -> tuple[Summary, ...]:
    """Return for each category of a column the statistic of its share: counts, micro, macro and distinct.

    `labels` are what people call what has a category, by category.
    An annotation without a value is in neither part nor whole: what is said of entities is not said of NIL.
    """
    averages = ("document", "count", "micro", "macro") + (("distinct",) if unit else ())
    return tuple(
        Summary(
            name=(name := column + category.title().replace(" ", "")),
            meaning=f"share of annotations whose {what} is '{category}'",
            terms=terms_of(name, *averages),
            part=pl.col(column) == category,
            unit=unit,
            of_unit=of_unit,
            is_share=True,
            label=labels[category],
        )
        for category in categories
    )


REMIXING = "Waitelonis, Jürges, Sack: Remixing Entity Linking Evaluation Datasets for Focused Benchmarking, 2019"
VAN_ERP = "van Erp et al.: Evaluating Entity Linking, LREC 2016"
STEINMETZ = "Steinmetz, Knuth, Sack: Statistical Analyses of Named Entity Disambiguation Benchmarks, 2013"
FINE_GRAINED = "Rosales-Méndez, Hogan, Poblete: Fine-Grained Evaluation for Entity Linking, EMNLP 2019"
FAIR = "Bast, Hertel, Prange: A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems, EMNLP 2023"
EUEF = "Chen et al.: An Easy-to-Use Evaluation Framework for Entity Recognition and Disambiguation Systems, 2018"
LONG_TAIL = "Ilievski, Vossen, Schlobach: Systematic Study of Long Tail Phenomena in Entity Linking, 2018"
