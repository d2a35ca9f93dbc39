"""What is measured: the measures that are chosen, the knowledge base as they see it, and the values of one part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypedDict

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import UnknownName, UsageError, nearest
from remix.kb import KnowledgeBase
from remix.measures._averages import FIRSTS, fractions
from remix.measures._hfts import HFTS
from remix.measures.classes import mapping_hash
from remix.measures.coded import CODE_OF
from remix.measures.corpus import Corpus
from remix.measures.declaration import Column, Measure, Summary, local
from remix.measures.measured import Measured, columns_of, document_column
from remix.registry import Registry
from remix.signature import Signature

__all__ = [
    "MEASURES",
    "MeasureChoice",
    "Measuring",
    "Term",
    "choice_of",
    "column_named",
    "measure_named",
    "measured_of",
    "measured_tables",
    "prepare_kb",
    "signature_of",
    "terms",
]

MEASURES: Registry[Measure] = Registry("measure", "remix.measures.definitions", Measure)
REFERENCES = ("dataset", "union")
PROFILES = ("remix", "hfts")


class Comparing(TypedDict, total=False):
    """What annotations are held against, as `compute` says."""

    reference: str
    case_sensitive: bool
    without_sources: Iterable[str]
    with_gold: bool


class Measuring(Comparing, total=False):
    """What is measured, and how, of frames of any size, as `compute` says."""

    measures: Iterable[str] | None


@dataclass(frozen=True)
class MeasureChoice:
    """What is measured, and against what: the measures, those that are skipped, the knowledge base as they see it."""

    kb: KnowledgeBase | None
    measures: tuple[Measure, ...]
    skipped: tuple[str, ...]
    signature: Signature

    @property
    def summaries(self) -> list[Summary]:
        """Return the statistics of the measures."""
        return [summary for measure in self.measures for summary in measure.summaries]


def choice_of(
    kb: KnowledgeBase | None,
    reference: str,
    case_sensitive: bool,
    measures: Iterable[str] | None,
    profile: str = "remix",
) -> MeasureChoice:
    """Return what was chosen, as `compute` takes it, of a knowledge base that is `prepare_kb`; raises as that."""
    if reference not in REFERENCES:
        raise UsageError(f"no reference '{reference}'{nearest(reference, REFERENCES)}")
    wanted = _choose(profile, measures)
    chosen = tuple(m for m in wanted if kb is not None or not m.needs)
    skipped = tuple(m.name for m in wanted if m not in chosen)
    return MeasureChoice(kb, chosen, skipped, signature_of(kb, reference, case_sensitive, wanted, profile))


def measured_of(
    corpus: Corpus, chosen: MeasureChoice, values: pl.DataFrame, documents: pl.DataFrame, datasets: pl.DataFrame
) -> Measured:
    """Return what was computed with its columns and terms."""
    kept = ["annotation", "document", "dataset", *(column.name for column in columns_of(chosen.measures))]
    return Measured(
        annotations=values.select(kept),
        documents=_document_columns(documents, chosen.measures),
        datasets=_with_terms(datasets, chosen.measures),
        classes=_added_classes(corpus, chosen.measures),
        measures=chosen.measures,
        skipped=chosen.skipped,
        signature=chosen.signature,
    )


def measured_tables(corpus: Corpus, measures: tuple[Measure, ...]) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return the annotations with a column per term, and the tables that summaries are made of."""
    base = _prepare_columns(corpus, measures)
    values = base.with_columns(column.value.alias(column.name) for column in columns_of(measures))
    firsts = {"document_forms": corpus.firsts["key_document"]} | {
        table: corpus.firsts[f"{unit}_dataset"] & base[CODE_OF[unit]].is_not_null() for unit, table in FIRSTS.items()
    }
    return values, {
        "annotations": values,
        "documents": corpus.documents,
        **{table: values.select(_read_from(table, measures)).filter(rows) for table, rows in firsts.items()},
    }


def _read_from(table: str, measures: Iterable[Measure]) -> list[str]:
    """Return the columns that the summaries take from a table: what is not filtered needs no memory."""
    columns = {"document", "dataset"}
    for fraction in (one for measure in measures for summary in measure.summaries for one in fractions(summary)):
        if fraction.over == table:
            columns |= {*fraction.part.meta.root_names(), *fraction.whole.meta.root_names()}
    return sorted(columns)


def _choose(profile: str, names: Iterable[str] | None) -> list[Measure]:
    if profile not in PROFILES:
        raise UsageError(f"no profile '{profile}' of measures{nearest(profile, PROFILES)}")
    if profile == "remix":
        return [MEASURES[name] for name in dict.fromkeys(_measure_names(names))]
    known = {measure.name: measure for measure in HFTS}
    for name in names or ():
        if name not in known:
            raise UnknownName("measure", name, known)
    # The first two prepare what the others use.
    return [measure for measure in HFTS if names is None or measure.prepare or measure.name in set(names)]


def _measure_names(asked: Iterable[str] | None) -> list[str]:
    return MEASURES.names() if asked is None else [measure_named(name).name for name in asked]


def measure_named(name: str) -> Measure:
    """Return a measure by its name, or by what one of its columns or rows is called: a term, its local name or IRI.

    Raises `UnknownName` with the nearest of all these.

    >>> measure_named("hfts:ambiguitySurfaceForm").name, measure_named("numAnnotations").name
    ('confusion-surface-form', 'number-of-annotations')
    """
    if name in MEASURES:
        return MEASURES[name]
    called = {local(term): measure for measure in MEASURES for term in _terms_of(measure)}
    called |= {summary.name: measure for measure in MEASURES for summary in measure.summaries}
    asked = re.split("[:/#]", name)[-1]
    if asked not in called:
        raise UnknownName("measure", name, [*MEASURES.names(), *called], "remix list measures")
    return called[asked]


def column_named(name: str) -> Column:
    """Return a column of annotations by its name, term or IRI; a measure, by whatever name, stands for its first.

    Raises `UnknownName` for a measure that says nothing of annotations, and for what is none of these.

    >>> column_named("rmx:isRare").name, column_named("confusion-surface-form").name
    ('isRare', 'ambiguitySurfaceForm')
    """
    columns = {column.name: column for measure in MEASURES for column in measure.columns}
    asked = re.split("[:/#]", name)[-1]
    if asked in columns:
        return columns[asked]
    try:
        return measure_named(name).columns[0]
    except (UnknownName, IndexError):
        raise UnknownName("column of annotations", name, columns, "remix list measures") from None


def _terms_of(measure: Measure) -> list[str]:
    of_summaries = [term for summary in measure.summaries for terms in summary.terms.values() for term in terms]
    return [*(column.term for column in measure.columns), *of_summaries]


def _prepare_columns(corpus: Corpus, measures: tuple[Measure, ...]) -> pl.DataFrame:
    further = [measure.prepare(corpus) for measure in measures if measure.prepare]
    return pl.concat([corpus.annotations, *further], how="horizontal")


def _document_columns(values: pl.DataFrame, measures: tuple[Measure, ...]) -> pl.DataFrame:
    columns = [pl.col("document"), pl.col("dataset")]
    for summary in (summary for measure in measures for summary in measure.summaries):
        if "document" in summary.terms:
            columns.append(pl.col(summary.name).alias(document_column(summary, "document")))
        if "count" in summary.terms:
            counted = pl.col(f"{summary.name}:count").fill_null(0)
            columns.append(counted.alias(document_column(summary, "count")))
    return values.select(columns)


def _with_terms(datasets: pl.DataFrame, measures: tuple[Measure, ...]) -> pl.DataFrame:
    first = pl.DataFrame(
        [
            (summary.name, average, terms[0])
            for measure in measures
            for summary in measure.summaries
            for average, terms in summary.terms.items()
        ],
        schema={"measure": pl.String, "average": pl.String, "term": pl.String},
        orient="row",
    )
    return datasets.join(first, on=["measure", "average"], how="left", maintain_order="left")


def _added_classes(corpus: Corpus, measures: tuple[Measure, ...]) -> pl.DataFrame:
    if not any(measure.name == "types" for measure in measures):
        return pl.DataFrame(schema={"annotation": pl.String, "dataset": pl.String, "class": pl.String})
    return corpus.added_classes


def prepare_kb(
    kb: KnowledgeBase | None, case_sensitive: bool, without_sources: Iterable[str], with_gold: bool
) -> KnowledgeBase | None:
    """Return the knowledge base as measures see it: without some sources, with gold and case where asked for."""
    if kb is None:
        return None
    fewer = (kb.keeping_gold() if with_gold else kb.without_gold()).without_sources(without_sources)
    return fewer.keeping_case() if case_sensitive else fewer


def signature_of(
    kb: KnowledgeBase | None,
    reference: str,
    case_sensitive: bool,
    measures: Iterable[Measure] | None = None,
    profile: str = "remix",
) -> Signature:
    """Return the choices that can change a value, apart from the data."""
    names = MEASURES.names() if measures is None else sorted(measure.name for measure in measures)
    return Signature(
        {
            "remix": __version__,
            "kb": kb.signature if kb else "none",
            "reference": reference,
            "case": "kept" if case_sensitive else "folded",
            "entities": iris.VERSION,
            "classes": mapping_hash()[:8],
            "profile": profile,
            "measures": "all" if names == MEASURES.names() else ",".join(names),
        }
    )


_AVERAGES = {
    "document": "",
    "count": "sum",
    "micro": "micro average (pooled)",
    "macro": "macro average (mean of the documents)",
    "distinct": "distinct average (mean over distinct surface forms or entities)",
}


@dataclass
class Term:
    """A term of a measure and all that the registry says of it."""

    term: str
    measure: Measure
    kind: str
    comment: str
    levels: list[str] = field(default_factory=list)
    averages: list[str] = field(default_factory=list)


def terms() -> list[Term]:
    """Return the terms of all measures, in the order of their names."""
    found: dict[str, Term] = {}
    for measure in MEASURES:
        for term, kind, level, average, comment in _uses(measure):
            known = found.setdefault(term, Term(term, measure, kind, comment))
            known.levels += [level] if level not in known.levels else []
            known.averages += [average] if average and average not in known.averages else []
    return [found[term] for term in sorted(found)]


def _uses(measure: Measure) -> Iterator[tuple[str, str, str, str, str]]:
    for column in measure.columns:
        yield column.term, column.kind, "annotation", "", column.meaning
    for summary in measure.summaries:
        for average, of_average in summary.terms.items():
            kind = "integer" if average == "count" else "double"
            for term in of_average:
                what = f"{summary.meaning}: {_AVERAGES[average]}" if _AVERAGES[average] else summary.meaning
                if average in {"document", "count"}:
                    yield term, kind, "document", average if average == "count" else "", what
                if average != "document":
                    yield term, kind, "dataset", average, what
