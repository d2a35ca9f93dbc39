"""What `compute` returns: the values on annotations, documents and datasets, and their triples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from remix.expressions import fill
from remix.measures.declaration import Column, Measure, Summary, write_out
from remix.names import ITSRDF, XSD
from remix.rdf.iris import dataset_iri
from remix.rdf.terms import entity_term, text_term, typed_term
from remix.signature import Signature

LOW_COVERAGE = 0.5
"""Averages that speak for less than this share of the annotations are marked."""


@dataclass(frozen=True)
class Measured:
    """The values of all measures.

    `annotations`: annotation, document, dataset and a column per annotation term. `documents`: document, dataset
    and a column per document term. `datasets`: one row per dataset, measure and average, with value, coverage and
    term. `classes`: annotation, dataset and class, those that the data lacks. `skipped`: the measures that need a
    knowledge base, or a part of one, that is not there.
    """

    annotations: pl.DataFrame
    documents: pl.DataFrame
    datasets: pl.DataFrame
    classes: pl.DataFrame
    measures: tuple[Measure, ...]
    skipped: tuple[str, ...]
    signature: Signature

    def of_dataset(self, dataset: str) -> Measured:
        """Return the values of a dataset alone."""
        levels = ("annotations", "documents", "datasets", "classes")
        return replace(self, **{name: getattr(self, name).filter(dataset=dataset) for name in levels})

    def triples(self, dataset: str, iri: str | None = None) -> bytes:
        """Return the enrichment graph of a dataset as N-Triples, ordered by subject; the same for the same input.

        `iri` is the dataset's, by default the one of its name; the frames may call it by either. Triples that stand
        in the data are not among them.
        """
        iri = iri or dataset_iri(dataset)
        called = dataset if dataset in self._by_dataset["documents"] else iri
        annotations = self._by_dataset["annotations"].get(called, self.annotations.clear())
        documents = self._by_dataset["documents"].get(called, self.documents.clear())
        classes = self._by_dataset["classes"].get(called, self.classes.clear())
        line = fill(f"<{{}}> <{ITSRDF}taClassRef> {{}} .\n", "annotation", entity_term(pl.col("class")))
        typed = classes.sort("annotation", "class").group_by("annotation").agg(_types=line.str.join(""))
        rows = annotations.join(typed, on="annotation", how="left", maintain_order="left")
        lines = [
            _line("annotation", column.name, write_out(column.term), column.kind)
            for column in columns_of(self.measures)
        ]
        blocks = [
            self._dataset_lines(called, iri),
            documents.select(_join_lines(_document_lines(summaries_of(self.measures)))).to_series(),
            rows.select(_join_lines([*lines, pl.col("_types")])).to_series(),
        ]
        return str(pl.concat([block.cast(pl.String) for block in blocks]).str.join("").item()).encode()

    @cached_property
    def stated(self) -> Mapping[str, tuple[str, str]]:
        """Return the terms that `triples` states of any annotation or document: of which, and the column of values."""
        of_documents = [
            (document_column(one, average), term)
            for one in summaries_of(self.measures)
            for average in ("document", "count")
            for term in one.terms.get(average, ())
        ]
        levels = (
            ("annotation", self.annotations, [(one.name, one.term) for one in columns_of(self.measures)]),
            ("document", self.documents, of_documents),
        )
        found = {f"{ITSRDF}taClassRef": ("annotation", "class")} if self.classes.height else {}
        for level, rows, columns in levels:
            known = rows.select(_tell_stated(*one).count() for one in rows.schema.items()).row(0, named=True)
            found |= {write_out(term): (level, name) for name, term in columns if known[name]}
        return found

    def state(self, term: str) -> pl.DataFrame:
        """Return subject and value of what `triples` states of annotations or documents by a term of `stated`."""
        level, name = self.stated[term]
        rows = self.classes if name == "class" else self.annotations if level == "annotation" else self.documents
        return rows.select(subject=level, value=_tell_stated(name, rows.schema[name])).drop_nulls()

    @cached_property
    def _by_dataset(self) -> dict[str, dict[str, pl.DataFrame]]:
        frames = {"annotations": self.annotations, "documents": self.documents, "classes": self.classes}
        return {
            name: {str(key[0]): part for key, part in frame.partition_by("dataset", as_dict=True).items()}
            for name, frame in frames.items()
        }

    def _dataset_lines(self, dataset: str, iri: str) -> pl.Series:
        terms = terms_of_datasets(summaries_of(self.measures))
        iris = pl.Series("iri", [write_out(term) for term in terms["term"]], dtype=pl.String)
        stated = terms.select("measure", "average").with_columns(iris)
        averages = self.datasets.filter(pl.col("dataset") == dataset)
        rows = averages.join(stated, on=["measure", "average"], maintain_order="left")
        whole, number = (_literal(pl.col("value"), kind) for kind in ("integer", "double"))
        number = pl.when(pl.col("average") == "count").then(whole).otherwise(number)
        return rows.select(fill(f"<{iri}> <{{}}> {{}} .\n", "iri", number)).to_series()


def document_column(summary: Summary, average: str) -> str:
    """Return the local name of a statistic's term on documents, which is its column."""
    return summary.terms[average][0].partition(":")[2]


def _join_lines(lines: Iterable[pl.Expr]) -> pl.Expr:
    return pl.concat_str([*lines, pl.lit("")], ignore_nulls=True)


def _line(subject: str, column: str, term: str, kind: str) -> pl.Expr:
    return fill(f"<{{}}> <{term}> {{}} .\n", pl.col(subject), _literal(pl.col(column), kind))


def _tell_stated(name: str, kind: pl.DataType) -> pl.Expr:
    """Return the values of a column that triples state: of numbers those that are finite."""
    value = pl.col(name)
    return pl.when(value.is_finite()).then(value).alias(name) if kind.is_float() else value


def _literal(value: pl.Expr, kind: str) -> pl.Expr:
    if kind == "string":
        return text_term(value)
    if kind == "integer":
        value = value.cast(pl.Int64)
    elif kind == "double":
        number = value.cast(pl.Float64)
        value = pl.when(number.is_finite()).then(number)
    return typed_term(value, f"{XSD}{kind}")


def _document_lines(summaries: list[Summary]) -> list[pl.Expr]:
    return [
        _line("document", document_column(summary, average), write_out(term), kind)
        for summary in summaries
        for average, kind in (("document", "double"), ("count", "integer"))
        for term in summary.terms.get(average, ())
    ]


def terms_of_datasets(summaries: Iterable[Summary]) -> pl.DataFrame:
    """Return measure, average and term of what is said of datasets, a row for each term."""
    rows = [
        (summary.name, average, term)
        for summary in summaries
        for average, terms in summary.terms.items()
        if average != "document"
        for term in terms
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("measure", "average", "term"), pl.String()), orient="row")


def columns_of(measures: Iterable[Measure]) -> list[Column]:
    """Return the annotation columns of all measures, in the order of the measures."""
    return [column for measure in measures for column in measure.columns]


def summaries_of(measures: Iterable[Measure]) -> list[Summary]:
    """Return the statistics of all measures, in the order of the measures."""
    return [summary for measure in measures for summary in measure.summaries]
