"""Frames as triples, a column at a time: for formats that are no RDF, and for answers written as NIF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix import names
from remix.errors import UsageError
from remix.expressions import fill
from remix.files import write_whole
from remix.formats import nif
from remix.formats.identifiers import beside_each_other, given_iris, usual_groups
from remix.frames import SCHEMAS, Annotations, Frames, Links
from remix.iris import canonical
from remix.rdf.iris import entity_iri, is_legal
from remix.rdf.ntriples import SCHEMA, serialise, write_ntriples
from remix.rdf.terms import entity_term, iri_term, language_tag, text_term, typed_term
from remix.rdf.turtle import ntriples, turtle

_BEGIN, _END = nif.INDEXES
_INTEGER = f"{names.XSD}nonNegativeInteger"
_DOUBLE = f"{names.XSD}double"


def triples_of(frames: Frames) -> Iterator[bytes]:
    """Return the triples of the frames as N-Triples, in blocks of many lines."""
    return serialise(terms_of(frames))


def write_triples(frames: Frames, data_to: Path, measures_to: Path, *, says: Collection[str] = ()) -> int:
    """Write the triples of the frames compressed with zstandard, measures apart; return how many they are.

    Values of the terms that files say (`says`) are no measures.
    """
    said = pl.col("term").is_in([*says])
    data = replace(frames, values=frames.values.filter(said))
    measures = _values(replace(frames, values=frames.values.filter(~said)))
    count = write_ntriples(terms_of(data), data_to)
    return count + write_ntriples(measures, measures_to) if measures.height else count


def write_frames(frames: Frames, path: Path, *, given: bool = True) -> None:
    """Write frames as NIF, by the path's suffix as Turtle (.ttl) or N-Triples (.nt): sorted, the same each time.

    Documents and annotations get the IRIs that their files gave them, where these are unique; without
    `given` those of the frames, beside the given ones, and their datasets. Reading gives the same frames.

    Raises `UsageError` for another suffix.
    """
    write_terms(terms_of(frames, given=given), path)


def write_terms(triples: pl.DataFrame, path: Path) -> None:
    """Write triples as Turtle (.ttl) or N-Triples (.nt); raises `UsageError` for another suffix."""
    kinds = {".ttl": turtle, ".nt": ntriples}
    if path.suffix not in kinds:
        raise UsageError(f"{path}: NIF is written as .ttl or .nt")
    with write_whole(path) as stream:
        stream.write(kinds[path.suffix](triples))


def terms_of(frames: Frames, *, given: bool = False, values: bool = True) -> pl.DataFrame:
    """Return the triples of the frames: subject, predicate, object as terms of N-Triples.

    With `given`, documents and annotations have the IRIs that their files gave them, where those are
    unique, and there are no datasets; without, the IRIs of the frames, with the given ones beside them.
    """
    if given:
        own = given_iris(frames).filter(pl.col("scoped") != pl.col("exported"))
        frames = rename_things(frames, lambda iri: iri.replace(own["scoped"], own["exported"]), "group", "option")
    # Documents and annotations are called by legal IRIs, whoever made the frames.
    frames = rename_things(frames, entity_iri)
    every = [*_types(frames), *_statements(frames), *_groups(frames.annotations), *_origins(frames, given=given)]
    parts = [
        rows.select(subject=iri_term(pl.col(subject)), predicate=pl.lit(term), object=object_.cast(pl.String))
        for rows, subject, term, object_ in every
        if rows.height
    ]
    parts += [_values(frames)] if values else []
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts]).drop_nulls()


def link_terms(links: Links) -> pl.DataFrame:
    """Return subject and object, as terms, of the triples that say these links."""
    return links.select(subject=iri_term(entity_iri(pl.col("annotation"))), object=_entity()).drop_nulls()


def rename_things(frames: Frames, rename: Callable[[pl.Expr], pl.Expr], *names: str) -> Frames:
    """Return the frames with documents and annotations, and what has these names, under other IRIs."""
    columns = {"document", "annotation", "subject", *names}
    tables = {name: getattr(frames, name) for name in SCHEMAS}
    return Frames(
        **{name: table.with_columns(rename(pl.col(*columns & {*table.columns}))) for name, table in tables.items()}
    )


Statement = tuple[pl.DataFrame, str, str, pl.Expr]
"""What is said of each row: the rows, their column with the subject, the term of the predicate, the object."""

_GOLD = pl.col("ignorable").is_null()


def _types(frames: Frames) -> Iterator[Statement]:
    gold, aside = frames.annotations.filter(_GOLD), frames.annotations.filter(~_GOLD)
    for rows, subject, kinds in (
        (frames.documents, "document", (f"{names.NIF}Context", f"{names.NIF}String")),
        (gold, "annotation", (f"{names.NIF}Phrase", f"{names.NIF}String")),
        (aside, "annotation", (f"{names.RMX}Ignorable",)),
        (_regions(frames), "region", (f"{names.RMX}Region",)),
    ):
        yield from ((rows, subject, nif.TYPE, pl.lit(f"<{kind}>")) for kind in kinds)


def _statements(frames: Frames) -> Iterator[Statement]:
    """Yield what the frames say of documents, annotations and regions beside their types."""
    documents, rows, regions = frames.documents, frames.annotations, _regions(frames)
    texts, gold, aside = documents.drop_nulls("text"), rows.filter(_GOLD), rows.filter(~_GOLD)
    # What a file says of an entity is among its other triples and no statement about the mention.
    classes = frames.classes.filter(~pl.col("of_entity"))
    string = text_term(pl.col("text")) + pl.coalesce(pl.lit("@") + language_tag(pl.col("language")), pl.lit(""))
    home = iri_term(pl.col("document"))
    yield texts, "document", nif.TEXT, string
    yield texts, "document", _BEGIN, typed_term(pl.lit(0), _INTEGER)
    yield texts, "document", _END, typed_term(pl.col("text").str.len_chars(), _INTEGER)
    yield documents, "document", nif.SOURCE, iri_or_text("source")
    yield gold, "annotation", nif.CONTEXT, home
    yield aside, "annotation", nif.DOCUMENT, home
    yield aside, "annotation", nif.IGNORABLE, text_term(pl.col("ignorable"))
    yield regions, "region", nif.DOCUMENT, home
    for spans, subject in ((rows, "annotation"), (regions, "region")):
        yield spans, subject, _BEGIN, typed_term(pl.col("begin"), _INTEGER)
        yield spans, subject, _END, typed_term(pl.col("end"), _INTEGER)
    yield rows, "annotation", nif.ANCHOR, text_term(pl.col("surface_form"))
    yield rows, "annotation", nif.LITERALS["confidence"], typed_term(pl.col("confidence"), _DOUBLE)
    yield rows, "annotation", nif.LITERALS["layer"], text_term(pl.col("layer"))
    yield frames.links, "annotation", nif.IDENT, _entity()
    yield classes, "annotation", nif.CLASS, entity_term(pl.col("class"))


def _regions(frames: Frames) -> pl.DataFrame:
    home = pl.col("document").str.replace(r"#.*$", "")
    return frames.regions.with_columns(region=fill("{}#region={},{}", home, "begin", "end"))


def iri_or_text(column: str) -> pl.Expr:
    """Return IRIs as such, and as texts what is none."""
    return pl.when(is_legal(pl.col(column))).then(iri_term(pl.col(column))).otherwise(text_term(pl.col(column)))


def _entity() -> pl.Expr:
    # The IRI as given is written where it says the same by itself: not where the link was followed
    # through a resource that is not in the frames, and not where a format gives plain identifiers.
    as_given, entity = pl.col("entity_as_given"), pl.col("entity")
    same = as_given.map_batches(canonical, return_dtype=pl.String) == entity
    chosen = pl.when(is_legal(as_given) & same).then(as_given).otherwise(entity)
    return entity_term(chosen)


def _groups(annotations: Annotations) -> Iterator[Statement]:
    """Yield the groups and options that reading would not give by itself."""
    usual = usual_groups(annotations)
    for name in ("group", "option"):
        # What others share is told by all of them: read under another name, an annotation's own IRI is another.
        changed = annotations[name].ne_missing(usual[name])
        shared = annotations.filter(changed)[name].unique()
        # Where one of a place tells it, the others would be taken for its alternatives.
        told = changed | annotations[name].is_in(shared.implode())
        other = annotations.filter(beside_each_other(annotations, told))
        yield other, "annotation", nif.LITERALS[name], text_term(pl.col(name))


def _origins(frames: Frames, *, given: bool) -> Iterator[Statement]:
    """Yield what the files called documents and annotations, and the datasets.

    With `given` those are called so already, but for documents whose names are no IRIs or not unique.
    """
    documents = frames.documents
    if given:
        yield documents.filter(pl.col("given") != pl.col("document")), "document", nif.GIVEN, iri_or_text("given")
        return
    yield documents, "document", nif.GIVEN, iri_or_text("given")
    yield frames.annotations, "annotation", nif.GIVEN, iri_or_text("given")
    documents = documents.drop_nulls("dataset")
    yield documents.unique("dataset", maintain_order=True), "dataset", nif.TYPE, pl.lit(nif.DATASET)
    yield documents, "dataset", nif.REFERENCES, iri_term(pl.col("document"))


def _values(frames: Frames) -> pl.DataFrame:
    number, text = pl.col("number"), pl.col("text")
    object_ = (
        pl.when(number.is_not_null())
        .then(typed_term(number, _DOUBLE))
        .when(text.str.contains(r"^(?:https?|urn):") & is_legal(text))
        .then(iri_term(text))
        .otherwise(text_term(text))
    )
    return frames.values.select(
        subject=iri_term(pl.col("subject")), predicate=entity_term(pl.col("term")), object=object_
    )
