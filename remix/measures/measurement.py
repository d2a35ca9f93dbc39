"""What is measured: the measures that are chosen, the knowledge base as they see it, and the values of one part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypedDict

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import UnknownName, UsageError, nearest
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures._averages import FIRSTS, NO_AVERAGES, Sums, averages, compute_sums, fractions, means_of_units
from remix.measures._hfts import HFTS
from remix.measures._hfts import tables as hfts_tables
from remix.measures.classes import mapping_hash
from remix.measures.coded import CODE_OF, Basis
from remix.measures.corpus import Corpus
from remix.measures.declaration import Column, Kind, Measure, Summary, local
from remix.measures.measured import Measured, columns_of, document_column, summaries_of, terms_of_datasets
from remix.registry import Registry
from remix.signature import Signature

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
    """What is measured, and against what: the measures, and those that are skipped for want of a knowledge base."""

    basis: Basis
    measures: tuple[Measure, ...]
    skipped: tuple[str, ...] = ()
    profile: str = "remix"

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the knowledge base as the measures see it."""
        return self.basis.kb

    @cached_property
    def summaries(self) -> list[Summary]:
        """Return the statistics of the measures."""
        return summaries_of(self.measures)

    @cached_property
    def asks_annotations(self) -> bool:
        """Return whether anything is said of annotations or made of them: not where documents are enough."""
        return any(measure.columns or measure.prepare for measure in self.measures) or any(
            fraction.over != "documents" for summary in self.summaries for fraction in fractions(summary)
        )

    @property
    def signature(self) -> Signature:
        """Return the choices that can change a value, apart from the data."""
        names = sorted([*(measure.name for measure in self.measures), *self.skipped])
        return Signature(
            {
                "remix": __version__,
                "kb": self.kb.signature if self.kb else "none",
                "reference": self.basis.reference,
                "case": "kept" if self.basis.case_sensitive else "folded",
                "entities": iris.VERSION,
                "classes": mapping_hash()[:8],
                "profile": self.profile,
                "measures": "all" if names == MEASURES.names() else ",".join(names),
            }
        )


def choice_of(
    kb: KnowledgeBase | None,
    *,
    reference: str = "dataset",
    case_sensitive: bool = False,
    without_sources: Iterable[str] = (),
    with_gold: bool = False,
    measures: Iterable[str] | None = None,
    profile: str = "remix",
) -> MeasureChoice:
    """Return what was chosen, as `remix.measures.compute` takes it, with its errors."""
    if kb is not None:
        kb = (kb.keeping_gold() if with_gold else kb.without_gold()).without_sources(without_sources)
        kb = kb.keeping_case() if case_sensitive else kb
    if reference not in REFERENCES:
        raise UsageError(f"no reference '{reference}'{nearest(reference, REFERENCES)}")
    wanted = _choose(profile, measures)
    chosen = tuple(m for m in wanted if kb is not None or not m.needs)
    skipped = tuple(m.name for m in wanted if m not in chosen)
    return MeasureChoice(Basis(kb, reference, case_sensitive), chosen, skipped, profile)


NO_CLASSES = pl.DataFrame(schema=dict.fromkeys(("annotation", "dataset", "class"), pl.String()))


def measure_frames(frames: Frames, chosen: MeasureChoice, within: Frames | None = None) -> Measured:
    """Return the values of what was chosen on these datasets, as `remix.measures.compute` does."""
    corpus = Corpus(frames, chosen.basis, within=within)
    if chosen.asks_annotations:
        corpus.whole.ask()
    values, documents, sums = sum_up_part(corpus, chosen)
    datasets = averages(chosen.summaries, sums, means_of_units(chosen.summaries, sums.units))
    return measured_of(corpus, chosen, values, documents, datasets)


def measured_of(
    corpus: Corpus,
    chosen: MeasureChoice,
    values: pl.DataFrame,
    documents: pl.DataFrame,
    datasets: pl.DataFrame = NO_AVERAGES,
) -> Measured:
    """Return what was computed under the names of its terms, averages with their terms, as `compute` does."""
    terms = terms_of_datasets(chosen.summaries).unique(["measure", "average"], keep="first")
    typed = any(measure.name == "types" for measure in chosen.measures)
    kept = ["annotation", "document", "dataset", *(column.name for column in columns_of(chosen.measures))]
    return Measured(
        annotations=values.select(kept),
        documents=_document_columns(documents, chosen.measures),
        datasets=datasets.join(terms, on=["measure", "average"], how="left", maintain_order="left"),
        classes=corpus.added_classes if typed else NO_CLASSES,
        measures=chosen.measures,
        skipped=chosen.skipped,
        signature=chosen.signature,
    )


def measured_tables(corpus: Corpus, measures: tuple[Measure, ...]) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return the annotations with a column per term, and the tables that summaries are made of."""
    further = [measure.prepare(corpus) for measure in measures if measure.prepare]
    base = pl.concat([corpus.annotations, *further], how="horizontal")
    values = base.with_columns(column.value.alias(column.name) for column in columns_of(measures))
    firsts = {"document_forms": corpus.firsts["key_document"] & base["form_code"].is_not_null()} | {
        table: corpus.firsts[f"{unit}_dataset"] & base[CODE_OF[unit]].is_not_null() for unit, table in FIRSTS.items()
    }
    return values, {
        "annotations": values,
        "documents": corpus.documents_with(_read_from("documents", measures)),
        **{table: values.select(_read_from(table, measures)).filter(rows) for table, rows in firsts.items()},
    }


def sum_up_part(corpus: Corpus, chosen: MeasureChoice) -> tuple[pl.DataFrame, pl.DataFrame, Sums]:
    """Return the values of the annotations of a part and of its documents, and the sums that averages are made of.

    Raises `UnknownName` where a measure takes a column that there is none of.
    """
    try:
        if not chosen.asks_annotations:
            documents = corpus.documents_with(_read_from("documents", chosen.measures))
            return corpus.counted, *compute_sums(chosen.summaries, {"documents": documents})
        values, tables = measured_tables(corpus, chosen.measures)
        if chosen.profile == "hfts":
            return values, *compute_sums(chosen.summaries, tables | hfts_tables(corpus, values), empty=0.0)
        return values, *compute_sums(chosen.summaries, tables)
    except pl.exceptions.ColumnNotFoundError:
        _refuse_unknown_columns(corpus, chosen.measures)
        raise


def _refuse_unknown_columns(corpus: Corpus, measures: Iterable[Measure]) -> None:
    """Raise `UnknownName` for a column that a measure takes and its table has not, with the nearest that it has."""
    prepared = [corpus.annotations, *(measure.prepare(corpus) for measure in measures if measure.prepare)]
    given = {name for frame in prepared for name in frame.columns}
    made = given | {column.name for column in columns_of(measures)}
    for measure in measures:
        taken = [("annotations", given, column.value) for column in measure.columns]
        for one in (one for summary in measure.summaries for one in fractions(summary)):
            has = set(corpus.documents.columns) if one.over == "documents" else made
            taken += [(one.over, has, part) for part in (one.part, one.whole)]
        for table, has, expression in taken:
            if lacking := sorted(set(expression.meta.root_names()) - has):
                raise UnknownName(f"column of the {table} (for measure '{measure.name}')", lacking[0], sorted(has))


def _read_from(table: str, measures: Iterable[Measure]) -> list[str]:
    """Return the columns that the summaries take from a table: the others need not be filtered."""
    columns = {"document", "dataset"}
    for fraction in (one for summary in summaries_of(measures) for one in fractions(summary)):
        if fraction.over == table:
            columns |= {*fraction.part.meta.root_names(), *fraction.whole.meta.root_names()}
    return sorted(columns)


def _choose(profile: str, names: Iterable[str] | None) -> list[Measure]:
    if profile not in PROFILES:
        raise UsageError(f"no profile '{profile}' of measures{nearest(profile, PROFILES)}")
    if profile == "remix":
        if names is None:
            return [*MEASURES]
        return [*{measure.name: measure for measure in map(measure_named, names)}.values()]
    known = {measure.name: measure for measure in HFTS}
    for name in names or ():
        if name not in known:
            raise UnknownName("measure", name, known)
    # What prepares the columns is always among them: the others use those.
    return [measure for measure in HFTS if names is None or measure.prepare or measure.name in set(names)]


def measure_named(name: str) -> Measure:
    """Return a measure by its name, or by what one of its columns or rows is called: a term, its local name or IRI.

    Raises `UnknownName` with the nearest of all these.

    >>> measure_named("hfts:ambiguitySurfaceForm").name, measure_named("numAnnotations").name
    ('confusion-surface-form', 'number-of-annotations')
    """
    if name in MEASURES:
        return MEASURES[name]
    called = {local(term): measure for measure in MEASURES for term, *_ in _uses(measure)}
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


def column_or_document_column(name: str) -> tuple[Column, bool]:
    """Return a column of annotations or of documents, and whether it is of documents.

    A name that both have is that of annotations, as where scores are sliced. Raises `UnknownName` for what is neither.

    >>> [(column.term, of_documents) for column, of_documents in map(column_or_document_column, ["isRare", "density"])]
    [('rmx:isRare', False), ('hfts:density', True)]
    """
    try:
        return column_named(name), False
    except UnknownName:
        found = {}
        for summary in summaries_of(tuple(MEASURES)):
            kinds: dict[str, Kind] = {"document": "double", "count": "integer"}
            for average in summary.terms.keys() & kinds.keys():
                term = summary.terms[average][0]
                found[local(term)] = Column(term, kinds[average], pl.lit(None), summary.meaning)
        asked = re.split("[:/#]", name)[-1]
        if asked in found:
            return found[asked], True
        columns = [column.name for measure in MEASURES for column in measure.columns]
        raise UnknownName(
            "column of annotations or documents", name, [*columns, *found], "remix list columns"
        ) from None


def _document_columns(values: pl.DataFrame, measures: tuple[Measure, ...]) -> pl.DataFrame:
    columns = [pl.col("document"), pl.col("dataset")]
    for summary in summaries_of(measures):
        if "document" in summary.terms:
            columns.append(pl.col(summary.name).alias(document_column(summary, "document")))
        if "count" in summary.terms:
            # Where nothing is annotated the number is 0; of a text that is not there it is unknown.
            counted = pl.col(f"{summary.name}:count")
            counted = counted if summary.over == "documents" else counted.fill_null(0)
            columns.append(counted.alias(document_column(summary, "count")))
    return values.select(columns)


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
