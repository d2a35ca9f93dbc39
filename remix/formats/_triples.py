"""Frames as triples, a column at a time: for formats that are no RDF, and for answers written as NIF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from remix import names
from remix.formats._scoping import grouped
from remix.formats._terms import entity_iri, escaped, iri_term, predicate
from remix.formats._writing import DATASET, REFERENCES, lines_of, write_ntriples
from remix.frames import Frames

__all__ = ["exported_iris", "terms_of", "triples_of", "write_triples"]

_TYPE = predicate("type", names.RDF)
_INTEGER = f"{names.XSD}nonNegativeInteger"
_DOUBLE = f"{names.XSD}double"
_NUMBERED = {name: predicate(name, names.RMX) for name in ("document", "ignorable", "group", "option", "givenIri")}
_LEGAL = r"^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\\x{fffd}]*$"


def triples_of(frames: Frames) -> Iterator[bytes]:
    """Return the triples of the frames as N-Triples, in blocks of many lines."""
    return lines_of(terms_of(frames))


def write_triples(frames: Frames, data_to: Path, measures_to: Path) -> int:
    """Write the triples of the frames compressed with zstandard, measures apart; return how many they are."""
    count = write_ntriples(terms_of(frames, values=False), data_to)
    if frames.values.height:
        count += write_ntriples(_values(frames), measures_to)
    return count


def terms_of(frames: Frames, *, given: bool = False, values: bool = True) -> pl.DataFrame:
    """Return the triples of the frames: subject, predicate, object as terms of N-Triples.

    With `given`, documents and annotations have the IRIs that their files gave them, where those are
    unique, and there are no datasets; without, the IRIs of the frames, with the given ones beside them.
    """
    if given:
        frames = exported_iris(frames)
    parts = [*_documents(frames.documents), *_annotations(frames), *_ignorable(frames), *_regions(frames)]
    parts += [_values(frames)] if values else []
    parts += [] if given else [*_origins(frames), *_datasets(frames)]
    schema = {"subject": pl.String, "predicate": pl.String, "object": pl.String}
    return pl.concat([pl.DataFrame(schema=schema), *(part.select(list(schema)) for part in parts)]).drop_nulls()


def exported_iris(frames: Frames) -> Frames:
    """Return the frames with the given IRI of every document and annotation that has one of its own."""
    things = pl.concat(
        [
            frames.documents.select(iri="document", given="given"),
            frames.annotations.select(iri="annotation", given="given"),
        ]
    )
    legal = pl.col("given").str.contains(_LEGAL)
    own = things.filter(pl.col("given").is_unique() & legal & ~pl.col("given").is_in(things["iri"].implode()))

    def renamed(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
        return frame.with_columns(pl.col(column).replace(own["iri"], own["given"]) for column in columns)

    return Frames(
        documents=renamed(frames.documents, "document"),
        annotations=renamed(frames.annotations, "annotation", "document", "group", "option"),
        links=renamed(frames.links, "annotation"),
        classes=renamed(frames.classes, "annotation"),
        regions=renamed(frames.regions, "document"),
        candidates=renamed(frames.candidates, "annotation"),
        values=renamed(frames.values, "subject"),
    )


def _triples(subject: str, term: str, object_: pl.Expr, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(subject=iri_term(pl.col(subject)), predicate=pl.lit(term), object=object_.cast(pl.String))


def _typed(value: pl.Expr, datatype: str) -> pl.Expr:
    return pl.concat_str(pl.lit('"'), value.cast(pl.String), pl.lit(f'"^^<{datatype}>'))


def _text(value: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.lit('"'), escaped(value), pl.lit('"'))


def _types(subject: str, frame: pl.DataFrame, *types: str) -> list[pl.DataFrame]:
    return [_triples(subject, _TYPE, iri_term(pl.lit(kind)), frame) for kind in types]


def _documents(documents: pl.DataFrame) -> list[pl.DataFrame]:
    with_text = documents.drop_nulls("text")
    tag = pl.col("language").str.extract(r"^([A-Za-z]+(?:-[A-Za-z0-9]+)*)$", 1)
    string = _text(pl.col("text")) + pl.coalesce(pl.lit("@") + tag, pl.lit(""))
    linked = documents.filter(pl.col("source").str.contains(_LEGAL))
    return [
        *_types("document", documents, f"{names.NIF}Context", f"{names.NIF}String"),
        _triples("document", predicate("isString"), string, with_text),
        _triples("document", predicate("beginIndex"), _typed(pl.lit(0), _INTEGER), with_text),
        _triples("document", predicate("endIndex"), _typed(pl.col("text").str.len_chars(), _INTEGER), with_text),
        _triples("document", predicate("sourceUrl"), iri_term(pl.col("source")), linked),
    ]


def _spans(frame: pl.DataFrame) -> list[pl.DataFrame]:
    return [
        _triples("annotation", predicate("beginIndex"), _typed(pl.col("begin"), _INTEGER), frame),
        _triples("annotation", predicate("endIndex"), _typed(pl.col("end"), _INTEGER), frame),
        _triples("annotation", predicate("anchorOf"), _text(pl.col("surface_form")), frame),
    ]


def _annotations(frames: Frames) -> list[pl.DataFrame]:
    gold = frames.annotations.filter(pl.col("ignorable").is_null())
    confidence = _typed(pl.col("confidence"), _DOUBLE)
    return [
        *_types("annotation", gold, f"{names.NIF}Phrase", f"{names.NIF}String"),
        _triples("annotation", predicate("referenceContext"), iri_term(pl.col("document")), gold),
        *_spans(gold),
        _triples("annotation", predicate("taIdentRef", names.ITSRDF), _entity(), frames.links),
        _triples("annotation", predicate("taConfidence", names.ITSRDF), confidence, frames.annotations),
        _triples(
            "annotation", predicate("taClassRef", names.ITSRDF), iri_term(pl.col("class")), _legal_classes(frames)
        ),
        *_groups(frames.annotations),
    ]


def _legal_classes(frames: Frames) -> pl.DataFrame:
    # What a file says of an entity is among its other triples and no statement about the mention.
    return frames.classes.filter(pl.col("class").str.contains(_LEGAL) & ~pl.col("of_entity"))


def _entity() -> pl.Expr:
    # The IRI as given is written where it says the same by itself: not where the link was followed
    # through a resource that is not in the frames, and not where a format gives plain identifiers.
    as_given, entity = pl.col("entity_as_given"), pl.col("entity")
    same = as_given.map_batches(_canonical, return_dtype=pl.String) == entity
    chosen = pl.when(as_given.str.contains(_LEGAL) & same).then(as_given).otherwise(entity)
    return iri_term(entity_iri(chosen))


def _canonical(iris: pl.Series) -> pl.Series:
    from remix.iris import canonical

    return canonical(iris)


def _groups(annotations: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the groups and options that reading would not give by itself."""
    usual = grouped(annotations.with_columns(group=pl.lit(None, pl.String), option=pl.lit(None, pl.String)))
    parts = []
    for name in ("group", "option"):
        # What others share is told by all of them: read under another name, an annotation's own IRI is another.
        changed = annotations[name].ne_missing(usual[name])
        shared = annotations.filter(changed)[name].unique()
        other = annotations.filter(changed | annotations[name].is_in(shared.implode()))
        parts.append(_triples("annotation", _NUMBERED[name], _text(pl.col(name)), other))
    return parts


def _ignorable(frames: Frames) -> list[pl.DataFrame]:
    aside = frames.annotations.drop_nulls("ignorable")
    return [
        *_types("annotation", aside, f"{names.RMX}Ignorable"),
        _triples("annotation", _NUMBERED["document"], iri_term(pl.col("document")), aside),
        _triples("annotation", _NUMBERED["ignorable"], _text(pl.col("ignorable")), aside),
        *_spans(aside),
    ]


def _regions(frames: Frames) -> list[pl.DataFrame]:
    regions = frames.regions.with_columns(
        region=pl.format("{}#region={},{}", pl.col("document").str.replace(r"#.*$", ""), "begin", "end")
    )
    return [
        *_types("region", regions, f"{names.RMX}Region"),
        _triples("region", _NUMBERED["document"], iri_term(pl.col("document")), regions),
        _triples("region", predicate("beginIndex"), _typed(pl.col("begin"), _INTEGER), regions),
        _triples("region", predicate("endIndex"), _typed(pl.col("end"), _INTEGER), regions),
    ]


def _values(frames: Frames) -> pl.DataFrame:
    number, text = pl.col("number"), pl.col("text")
    object_ = (
        pl.when(number.is_not_null())
        .then(_typed(number, _DOUBLE))
        .when(text.str.contains(r"^(?:https?|urn):") & text.str.contains(_LEGAL))
        .then(iri_term(text))
        .otherwise(_text(text))
    )
    return frames.values.select(subject=iri_term(pl.col("subject")), predicate=iri_term(pl.col("term")), object=object_)


def _origins(frames: Frames) -> list[pl.DataFrame]:
    given = pl.col("given").str.contains(_LEGAL)
    return [
        _triples(key, _NUMBERED["givenIri"], iri_term(pl.col("given")), frame.filter(given))
        for key, frame in (("document", frames.documents), ("annotation", frames.annotations))
    ]


def _datasets(frames: Frames) -> list[pl.DataFrame]:
    documents = frames.documents.drop_nulls("dataset")
    return [
        _triples("dataset", _TYPE, pl.lit(DATASET), documents.unique("dataset", maintain_order=True)),
        _triples("dataset", REFERENCES, iri_term(pl.col("document")), documents),
    ]
