"""The triples of a remix: those of its origins, with the IRIs as the origins gave them, and measures of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from remix.expressions import fill
from remix.formats.identifiers import given_iris, rename_terms
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute
from remix.measures.measured import Measured
from remix.names import HFTS, NIF, RDF, RMX, XSD
from remix.rdf.ntriples import SCHEMA, columns
from remix.remixes.closure import Closed
from remix.store import DatasetEntry, Store
from remix.store.construct import KEPT_OF_DROPPED

_OFFSETS = [f"<{NIF}{name}>" for name in ("beginIndex", "endIndex")]
_WHOLE = rf"\^\^<{XSD}(?:integer|int|long|short|byte|unsigned\w+|positiveInteger)>$"


@dataclass(frozen=True)
class Exported:
    """Frames and triples of a remix.

    `scoped` is how many of its IRIs are not those given, `skipped` the measures that are missing for want of a
    knowledge base.
    """

    frames: Frames
    triples: pl.DataFrame
    scoped: int
    skipped: tuple[str, ...]


def export(
    store: Store,
    entries: Sequence[DatasetEntry],
    origin: Frames,
    closed: Closed,
    name: str,
    iri: str,
    kb: KnowledgeBase | None,
) -> Exported:
    """Return what was kept as a dataset of its own.

    Kept documents and annotations come with all their triples and with what those lead to (links through local
    resources, blank nodes, contexts that are no documents), annotations with their measures as well; measures of
    documents and of the dataset are new. Dropped annotations become `rmx:Ignorable`. Offsets have the datatype that NIF
    gives them: no store keeps which kind of integer a file has, so a remix of an endpoint could not have it either.
    """
    iris = given_iris(closed.frames)
    frames = closed.frames.in_dataset(name)
    names = closed.frames.documents["dataset"].unique().to_list()
    members = frames.documents.select(
        subject=pl.lit(f"<{iri}>"), predicate=pl.lit(f"<{HFTS}referenceDocuments>"), object=fill("<{}>", "document")
    )
    head = pl.DataFrame([(f"<{iri}>", f"<{RDF}type>", f"<{HFTS}Dataset>")], schema=SCHEMA, orient="row")
    used = [entry for entry in entries if entry.name in names]
    measured = compute(frames, kb, reference="dataset")
    every = [head, members, _measures(measured, frames, name, iri), _gather(store, used, origin, closed)]
    scoped = iris.filter((pl.col("scoped") == pl.col("exported")) & (pl.col("scoped") != pl.col("given"))).height
    number = pl.col("object").str.replace(_WHOLE, f"^^<{XSD}nonNegativeInteger>")
    offset = pl.col("predicate").is_in(_OFFSETS)
    triples = pl.concat(every).with_columns(object=pl.when(offset).then(number).otherwise("object"))
    return Exported(frames, rename_terms(triples, iris), scoped, measured.skipped)


def _measures(measured: Measured, frames: Frames, name: str, iri: str) -> pl.DataFrame:
    """Return the triples of the measures of the dataset and its documents; those of annotations are not among them."""
    subjects = pl.concat([frames.documents["document"], pl.Series([iri])]).to_frame("iri")
    return columns(measured.triples(name, iri)).filter(
        pl.col("subject").is_in(subjects.select(fill("<{}>", "iri")).to_series().implode())
    )


def _gather(store: Store, entries: Sequence[DatasetEntry], origin: Frames, closed: Closed) -> pl.DataFrame:
    parts = []
    for number, entry in enumerate(sorted(entries, key=lambda entry: entry.name)):
        data = _file(store, f"{entry.folder}/data.nt.zst", number)
        named = origin.keep(documents=origin.documents.filter(dataset=entry.name)["document"])
        parts.append(_of_dataset(data, named, closed))
        for file in entry.value_files():
            parts.append(_file(store, file, number).filter(_among("subject", closed.kept)))
    parts.append(_ignorable(closed))
    return pl.concat(parts)


def _of_dataset(data: pl.DataFrame, named: Frames, closed: Closed) -> pl.DataFrame:
    ignorable = closed.ignorable["annotation"]
    staying = closed.frames.annotations.filter(~pl.col("annotation").is_in(ignorable.implode()))["annotation"]
    documents = closed.frames.documents["document"]
    of_documents = (pl.col("predicate") == f"<{RMX}document>") & _among("object", documents)
    regions = data.filter(of_documents & ~_among("subject", named.annotations["annotation"]))["subject"]
    subjects = pl.concat([_terms(documents), _terms(staying), regions]).unique()
    described = pl.col("predicate").is_in([f"<{predicate}>" for predicate in KEPT_OF_DROPPED])
    kept = data.filter(pl.col("subject").is_in(subjects.implode()) | (_among("subject", ignorable) & described))
    things = pl.concat([_terms(named.documents["document"]), _terms(named.annotations["annotation"])])
    return _follow(data, kept, things)


def _follow(data: pl.DataFrame, triples: pl.DataFrame, things: pl.Series) -> pl.DataFrame:
    """Return the triples with those of every resource that they lead to, documents and annotations apart."""
    known = pl.concat([things, triples["subject"]]).unique()
    reached = triples
    while reached.height:
        led = reached.filter(~pl.col("object").str.starts_with('"'))["object"].unique()
        reached = data.filter(pl.col("subject").is_in(led.implode()) & ~pl.col("subject").is_in(known.implode()))
        known = pl.concat([known, reached["subject"]]).unique()
        triples = pl.concat([triples, reached])
    return triples


def _ignorable(closed: Closed) -> pl.DataFrame:
    subject = fill("<{}>", "annotation").alias("subject")
    return pl.concat(
        closed.ignorable.select(subject, pl.lit(f"<{predicate}>").alias("predicate"), value.alias("object"))
        for predicate, value in (
            (f"{RDF}type", pl.lit(f"<{RMX}Ignorable>")),
            (f"{RMX}document", fill("<{}>", "document")),
            (f"{RMX}ignorable", pl.lit('"dropped"')),
        )
    )


def _file(store: Store, file: str, number: int) -> pl.DataFrame:
    """Return the triples of a file; blank nodes of two files must not fall together."""
    return columns(store.triples(file)).with_columns(
        pl.col(name).str.replace("^_:", f"_:f{number}") for name in ("subject", "object")
    )


def _terms(iris: pl.Series) -> pl.Series:
    return iris.to_frame("iri").select(fill("<{}>", "iri").alias("subject")).to_series()


def _among(column: str, iris: pl.Series) -> pl.Expr:
    return pl.col(column).is_in(_terms(iris).implode())
