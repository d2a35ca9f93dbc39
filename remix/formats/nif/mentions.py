"""Documents, annotations, links and classes out of the numbered triples of a NIF file."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix import names
from remix.expressions import fill
from remix.formats.identifiers import annotation_iris, document_iris, group_alternatives, offsets_in
from remix.formats.mends import Mends
from remix.formats.nif import (
    BROADER,
    CLASS,
    CONTEXT,
    DOCUMENT,
    ENTITY_TYPE,
    GIVEN,
    IDENT,
    IGNORABLE,
    LITERALS,
    NAMED_INDIVIDUAL,
    NO_LINKS,
    SAME,
    SOURCE,
    TEXT,
    TYPE,
)
from remix.formats.nif.blocks import Blocks, Triples
from remix.formats.offsets import check_offsets
from remix.frames import Frames
from remix.iris import canonical, is_nil
from remix.rdf.iris import plain_entity
from remix.rdf.terms import integer, iri, iri_term, language, literal, predicate

_PARTS = [
    predicate(part) for part in ("Sentence", "Word", "Paragraph", "Section", "Title", "Structure", "TextSpanAnnotation")
]


@dataclass(frozen=True)
class NifTables:
    """`documents` and `annotations` with the unit of their subject, `links`, `classes` and `regions`.

    `documents` has also contexts without text that annotations name: their `text` is null.
    """

    documents: pl.DataFrame
    annotations: pl.DataFrame
    links: pl.DataFrame
    classes: pl.DataFrame
    regions: pl.DataFrame

    def frames(self, dataset: str, values: pl.DataFrame | None = None) -> Frames:
        """Return what the tables say as frames of the dataset, documents without text left out."""
        more = {} if values is None else {"values": values}
        documents, annotations = (
            self.documents.drop_nulls("text"),
            self.annotations.with_columns(dataset=pl.lit(dataset)),
        )
        tables = {"links": self.links, "classes": self.classes, "regions": self.regions}
        return Frames.of(documents=documents, annotations=annotations, **tables, **more)


def extract_tables(blocks: Blocks, dataset: str, mends: Mends) -> NifTables:
    """Return the tables of a file, with scoped IRIs and right offsets; repairs are counted."""
    triples = Triples(blocks.triples)
    subjects = _subjects(triples, blocks.subjects)
    bare = _annotations(triples, subjects, mends)
    documents = _documents(triples, subjects, bare, dataset, mends)
    located = _locate(bare, documents, mends)
    links = _links_of(triples, subjects, located, mends)
    annotations = _name(located, links)
    return NifTables(
        documents,
        annotations,
        _of_annotations(links.filter(~pl.col("nil")), annotations).select("annotation", "entity", "entity_as_given"),
        _classes_of(triples, subjects, annotations, mends),
        _regions(triples, documents),
    )


def _subjects(triples: Triples, subjects: pl.DataFrame) -> pl.DataFrame:
    """Return the subjects with `given`: the IRI as in the file, or as in the file that it once came from."""
    plain = pl.coalesce(iri(pl.col("subject")), "subject")
    once = triples.first(GIVEN, "once")
    if once.is_empty():
        return subjects.with_columns(given=plain)
    joined = subjects.join(once, on="unit", how="left", maintain_order="left")
    said = pl.coalesce(iri(pl.col("once")), literal(pl.col("once")))
    return joined.select("unit", "subject", given=pl.coalesce(said, plain))


def _annotations(triples: Triples, subjects: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return what annotates a text: unit, context (a term), given, begin, end, anchor, ignorable, …"""
    annotations = triples.first(CONTEXT, "context").join(triples.first(TEXT, "text"), on="unit", how="anti")
    ignorable = _ignorable(triples)
    annotations = pl.concat([annotations, ignorable.select("unit", "context")]).unique(
        "unit", keep="last", maintain_order=True
    )
    linked = triples.of(IDENT).select("unit")
    parts = triples.of(TYPE).filter(pl.col("object").is_in(_PARTS)).select("unit")
    annotations = annotations.join(parts.join(linked, on="unit", how="anti"), on="unit", how="anti")
    said = ("begin", "end", "confidence", "group", "option", "layer")
    annotations = triples.add_first(annotations, **{name: LITERALS[name] for name in said})
    annotations = annotations.join(_anchors(triples), on="unit", how="left", maintain_order="left")
    annotations = annotations.join(ignorable.select("unit", "ignorable"), on="unit", how="left", maintain_order="left")
    named = annotations.join(subjects, on="unit", how="left", maintain_order="left")
    iri_begin, iri_end = offsets_in(pl.col("given"))
    return named.with_columns(
        integer(pl.col("begin")),
        integer(pl.col("end")),
        _confidence(named, mends),
        literal(pl.col("group")),
        literal(pl.col("option")),
        literal(pl.col("layer")),
        iri_begin=iri_begin,
        iri_end=iri_end,
    )


def _confidence(annotations: pl.DataFrame, mends: Mends) -> pl.Series:
    """Return the confidences that are finite numbers; the others are counted and left out."""
    said = annotations.select("given", "confidence", text=literal(pl.col("confidence")).str.strip_chars())
    found = said.with_columns(number=pl.col("text").cast(pl.Float64, strict=False))
    sure = pl.col("number").is_finite().fill_null(False)
    unsure = found.filter(pl.col("confidence").is_not_null() & ~sure)
    mends.add_rows("confidence", unsure, "{given}: {confidence} is no number, left out")
    return found.select(pl.when(sure).then("number").alias("confidence")).to_series()


def _anchors(triples: Triples) -> pl.DataFrame:
    """Return the anchors: unit, anchor, and anchors with all of them where there are several."""
    rows = triples.of(LITERALS["anchor"])
    texts = rows.select("unit", anchor=literal(pl.col("object"))).unique(maintain_order=True)
    if texts["unit"].is_unique().all():
        return texts.with_columns(anchors=pl.lit(None, pl.List(pl.String)))
    first = texts.group_by("unit", maintain_order=True).agg(pl.col("anchor").alias("anchors"))
    return first.with_columns(anchor=pl.col("anchors").list.first()).select("unit", "anchor", "anchors")


def _ignorable(triples: Triples) -> pl.DataFrame:
    return (
        triples.first(DOCUMENT, "context")
        .join(triples.first(IGNORABLE, "ignorable"), on="unit", how="inner", maintain_order="left")
        .with_columns(literal(pl.col("ignorable")))
    )


def _documents(
    triples: Triples, subjects: pl.DataFrame, bare: pl.DataFrame, dataset: str, mends: Mends
) -> pl.DataFrame:
    """Return the texts that annotations refer to or that are part of no other; and contexts without text."""
    texts = triples.first(TEXT, "string").join(subjects, on="unit", maintain_order="left")
    named = bare.select(subject="context").unique(maintain_order=True)
    broader = triples.of(BROADER).select(subject="object").unique()
    wholes = texts.join(named, on="subject", how="anti").join(broader, on="subject", how="semi")
    texts = texts.join(wholes.select("unit"), on="unit", how="anti").with_columns(
        text=literal(pl.col("string")), language=language(pl.col("string"))
    )
    missing = named.join(texts, on="subject", how="anti").join(
        subjects.unique("subject", keep="first"), on="subject", how="left", maintain_order="left"
    )
    missing = missing.with_columns(given=pl.coalesce("given", iri(pl.col("subject")), "subject"))
    both = pl.concat([texts.drop("string"), missing], how="diagonal").with_columns(pl.col("text").cast(pl.String))
    both = triples.add_first(both, source=SOURCE)
    mends.add_rows("empty-document", texts.filter(pl.col("text") == ""), "{given}")
    mends.add_rows("duplicate-document", texts.filter(~pl.col("subject").is_first_distinct()), "{given} has two texts")
    both = both.join(_wrong_ends(triples, texts, mends), on="unit", how="left", maintain_order="left")
    return both.with_columns(
        pl.coalesce(iri(pl.col("source")), literal(pl.col("source"))).alias("source"),
        document=document_iris(both["given"], dataset),
        dataset=pl.lit(dataset),
    )


def _wrong_ends(triples: Triples, texts: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return the right end (`length`) of the texts for which the file has another: unit, length.

    A sentence may count from the begin of the text that it is part of.
    """
    ends = texts.select("unit", "given", size=pl.col("text").str.len_chars().cast(pl.Int64))
    ends = triples.add_first(ends, begin=LITERALS["begin"], end=LITERALS["end"])
    begin = integer(pl.col("begin")).fill_null(0).clip(0)
    ends = ends.with_columns(integer(pl.col("end")), length=begin + pl.col("size"))
    wrong = ends.filter(pl.col("end") != pl.col("length"))
    mends.add_rows("context-end", wrong, "{given}: {end} is {length}")
    return wrong.select("unit", "length")


def _locate(bare: pl.DataFrame, documents: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return the annotations in their documents, with right offsets; what was wrong is counted."""
    texts = documents.select(context="subject", text="text", document="document", home="given")
    rows = bare.join(texts, on="context", how="left", maintain_order="left")
    rows = check_offsets(_fitting(rows)).sort("unit")
    mends.add_offsets(rows, "home", _example)
    disagree = rows.filter(
        ((pl.col("iri_begin") != pl.col("begin")) | (pl.col("iri_end") != pl.col("end"))) & pl.col("kind").is_null()
    )
    mends.add_rows("fragment", disagree, "{given}: begin and end are {begin}, {end}")
    mends.add_rows("dangling", rows.filter(pl.col("text").is_null()), "{given}: no text is given for {context}")
    return rows.with_columns(surface_form=pl.coalesce("said", "anchor")).drop("text", "said")


def _example(row: dict[str, object]) -> str:
    given = f"{row['given_begin']},{row['given_end']}"
    if row["kind"] == "offset":
        return f"{row['given']}: {given} is {row['begin']},{row['end']} ({row['reason']})"
    anchor = f"'{row['anchor']}' " if row["anchor"] is not None else ""
    return f"{row['given']}: {anchor}{row['reason']} ({given})"


def _fitting(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row an annotation: of several anchors, or texts under one IRI, the pair that fits."""
    several = rows["anchors"].is_not_null().any()
    if not several and rows["unit"].is_unique().all():
        return rows.drop("anchors")
    long = rows.with_columns(
        anchor=pl.when(pl.col("anchors").is_null()).then(pl.concat_list("anchor")).otherwise("anchors")
    ).explode("anchor", empty_as_null=True, keep_nulls=True)
    said = pl.col("text").str.slice(pl.col("begin").clip(0), (pl.col("end") - pl.col("begin")).clip(0))
    fits = (said == pl.col("anchor")).fill_null(False)
    ordered = long.with_columns(_fits=fits).with_row_index("_row").sort("_fits", "_row", descending=[True, False])
    return ordered.unique("unit", keep="first", maintain_order=True).drop("_fits", "_row", "anchors")


def _name(located: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    linked = links.filter(~pl.col("nil")).select("unit").unique()
    named = located.with_columns(
        annotation=annotation_iris(located), is_nil=~pl.col("unit").is_in(linked["unit"].implode())
    )
    if named.select(pl.all_horizontal(pl.col("group", "option").is_null().all())).item():
        return group_alternatives(named)
    return group_alternatives(named.with_columns(_of_document(name) for name in ("group", "option")))


def _of_document(name: str) -> pl.Expr:
    """Return the groups or options that are IRIs as those of this document, whose dataset had another name before."""
    local = pl.col(name).str.extract("#([^#]*)$")
    return pl.coalesce(fill("{}#{}", "document", local), name).alias(name)


def _regions(triples: Triples, documents: pl.DataFrame) -> pl.DataFrame:
    region = iri_term(pl.lit(f"{names.RMX}Region"))
    units = triples.of(TYPE).filter(pl.col("object") == region).select("unit")
    rows = units.join(triples.first(DOCUMENT, "subject"), on="unit")
    rows = triples.add_first(rows, begin=LITERALS["begin"], end=LITERALS["end"])
    rows = rows.join(documents.select("subject", "document"), on="subject", how="inner")
    return rows.select("document", integer(pl.col("begin")), integer(pl.col("end"))).sort("document", "begin", "end")


_KNOWN_KB = r"^http://(?:(?:[a-z-]+\.)?dbpedia\.org/resource/|www\.wikidata\.org/entity/)"
_FOLDER = r"^([A-Za-z][A-Za-z0-9+.-]*://[^?#]*/)"


def _links_of(triples: Triples, subjects: pl.DataFrame, annotations: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return unit, entity, entity_as_given, nil: a link may be followed through a resource of the file."""
    rows = triples.of(IDENT).filter(~pl.col("object").str.starts_with("_:"))
    empty = rows.filter(pl.col("object").is_in(NO_LINKS)).height
    mends.add("invalid-iri", "a link to <> or <*> links to nothing", empty)
    rows = rows.filter(~pl.col("object").is_in(NO_LINKS)).join(
        annotations.select("unit", "home"), on="unit", how="inner", maintain_order="left"
    )
    said = pl.coalesce(iri(pl.col("object")), literal(pl.col("object")))
    links = rows.select("unit", "home", entity_as_given=plain_entity(said)).unique(maintain_order=True)
    links = links.with_columns(entity=canonical(links["entity_as_given"]))
    links = links.with_columns(known=pl.col("entity").str.contains(_KNOWN_KB))
    followed = links.join(_same(triples, subjects), on="entity_as_given", how="left", maintain_order="left")
    entity = pl.when(pl.col("known")).then("entity").otherwise(pl.coalesce("same", "entity"))
    followed = followed.with_columns(entity=entity, local=~pl.col("known") & pl.col("same").is_null() & _beside())
    nil = is_nil(pl.col("entity_as_given")) | is_nil(pl.col("entity")) | pl.col("local").fill_null(False)
    return followed.with_columns(nil=nil).unique(["unit", "entity"], keep="first", maintain_order=True)


def _beside() -> pl.Expr:
    """Return whether a link goes to the folder of the text itself: to a resource of the file's own making."""
    return pl.col("entity_as_given").str.extract(_FOLDER, 1) == pl.col("home").str.extract(_FOLDER, 1)


def _same(triples: Triples, subjects: pl.DataFrame) -> pl.DataFrame:
    """Return where the resources of the file are the same as one elsewhere: entity_as_given, same."""
    rows = triples.of(SAME).join(subjects, on="unit", maintain_order="left")
    same = rows.select(entity_as_given=iri(pl.col("subject")), same=iri(pl.col("object"))).drop_nulls()
    return same.with_columns(canonical(same["same"]))


def _of_annotations(rows: pl.DataFrame, annotations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (`unit` and others) with the annotation that the unit is; those of no annotation are left out."""
    return rows.join(annotations.select("unit", "annotation"), on="unit", how="inner", maintain_order="left")


def _classes_of(triples: Triples, subjects: pl.DataFrame, annotations: pl.DataFrame, mends: Mends) -> pl.DataFrame:
    """Return annotation, class, of_entity: what the file says of the mention, and of the resource it links to."""
    rows = triples.of(CLASS)
    empty = rows.filter(pl.col("object").is_in(NO_LINKS)).height
    mends.add("invalid-iri", "a class <> or <*> is none", empty)
    own = rows.with_columns(of_entity=pl.lit(False))
    types = pl.concat([triples.of(TYPE), triples.of(ENTITY_TYPE)]).filter(pl.col("object") != NAMED_INDIVIDUAL)
    known = types.join(subjects, on="unit").select("subject", type="object").unique(maintain_order=True)
    linked = triples.of(IDENT).join(known, left_on="object", right_on="subject", maintain_order="left")
    entity = linked.select("unit", object="type", of_entity=pl.lit(True))
    both = pl.concat([own, entity]).filter(~pl.col("object").is_in(NO_LINKS) & pl.col("object").str.starts_with("<"))
    named = _of_annotations(both, annotations).select("annotation", iri(pl.col("object")).alias("class"), "of_entity")
    return named.unique(["annotation", "class"], keep="first", maintain_order=True)
