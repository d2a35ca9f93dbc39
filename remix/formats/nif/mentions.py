"""Documents, annotations, links and classes out of the numbered triples of a NIF file."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix import names
from remix.expressions import fill
from remix.formats import nif
from remix.formats.identifiers import annotation_iris, document_iris, group_alternatives, offsets_in
from remix.formats.nif.blocks import Blocks
from remix.formats.offsets import check_offsets
from remix.formats.repairs import RepairTally
from remix.frames import Frames
from remix.iris import canonical, is_nil
from remix.rdf.iris import plain_entity
from remix.rdf.terms import integer, iri, language, literal, predicate

_PARTS = [
    predicate(part) for part in ("Sentence", "Word", "Paragraph", "Section", "Title", "Structure", "TextSpanAnnotation")
]


@dataclass(frozen=True)
class NifTables:
    """`documents` and `annotations` with the unit of their subject, `links`, `classes`, `regions` and `nil`.

    `nil` are the links (annotation, entity_as_given) to what is in no knowledge base. `documents` has also contexts
    without text that annotations name: their `text` is null.
    """

    documents: pl.DataFrame
    annotations: pl.DataFrame
    links: pl.DataFrame
    classes: pl.DataFrame
    regions: pl.DataFrame
    nil: pl.DataFrame

    def frames(self, dataset: str, values: pl.DataFrame | None = None) -> Frames:
        """Return what the tables say as frames of the dataset, documents without text left out."""
        return Frames.of(
            documents=self.documents.drop_nulls("text").with_columns(dataset=pl.lit(dataset)),
            annotations=self.annotations.with_columns(dataset=pl.lit(dataset)),
            links=self.links,
            classes=self.classes,
            regions=self.regions,
            values=pl.DataFrame() if values is None else values,
        )


def extract_tables(blocks: Blocks, dataset: str, tally: RepairTally) -> NifTables:
    """Return the tables of a file, with scoped IRIs and right offsets; repairs are counted."""
    things = _tabulate(blocks)
    bare = _annotations(blocks, things, tally)
    documents = _documents(blocks, things, bare, dataset, tally)
    located = _locate(blocks, bare, documents, tally)
    links = _links_of(blocks, located, tally)
    annotations = _name(located, links)
    named, nil = (
        _of_annotations(links.filter(pl.col("nil") == one), annotations).select(
            "annotation", "entity", "entity_as_given"
        )
        for one in (False, True)
    )
    classes = _classes_of(blocks, annotations, tally)
    return NifTables(documents, annotations, named, classes, _regions(blocks, things, documents), nil.drop("entity"))


_OBJECT = pl.col("object")
_TEXT_OR_IRI = pl.coalesce(iri(_OBJECT), literal(_OBJECT))
_TEXTS = ("anchor", "group", "option", "layer")
_SAID = {
    "string": (nif.TEXT, _OBJECT),
    "context": (nif.CONTEXT, _OBJECT),
    "home": (nif.DOCUMENT, _OBJECT),
    "ignorable": (nif.IGNORABLE, _OBJECT),
    "confidence": (nif.LITERALS["confidence"], _OBJECT),
    "source": (nif.SOURCE, _TEXT_OR_IRI),
    "once": (nif.GIVEN, _TEXT_OR_IRI),
    **{name: (nif.LITERALS[name], integer(_OBJECT)) for name in ("begin", "end")},
    **{name: (nif.LITERALS[name], literal(_OBJECT)) for name in _TEXTS},
}
"""What is said of a subject once: the predicate, and what its object says."""


def _tabulate(blocks: Blocks) -> pl.DataFrame:
    """Return a row for each subject: unit, subject, what is said of it once, and `given`, its IRI.

    That is the one in the file, or in the file that it once came from.
    """
    found = {name: blocks.first(*said) for name, said in _SAID.items() if said[0] in blocks.by_predicate}
    absent = {name: pl.lit(None, pl.Int64 if name in ("begin", "end") else pl.String) for name in _SAID}
    things = pl.DataFrame({"subject": blocks.subjects, **found}).with_row_index("unit")
    once = ["once"] if "once" in found else []
    return things.with_columns(
        **{name: none for name, none in absent.items() if name not in found},
        given=pl.coalesce(*once, iri(pl.col("subject")), "subject"),
    )


def _annotations(blocks: Blocks, things: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return what annotates a text: unit, context (a term), given, begin, end, anchor, ignorable, …"""
    unit, home = pl.col("unit"), pl.col("home")
    aside = home.is_not_null() & pl.col("ignorable").is_not_null()
    annotates = aside | (pl.col("context").is_not_null() & pl.col("string").is_null())
    parts = blocks.of(nif.TYPE).filter(pl.col("object").is_in(_PARTS))["unit"]
    if len(parts):
        linked = blocks.of(nif.IDENT)["unit"]
        annotates &= unit.is_in(linked.implode()) | ~unit.is_in(parts.implode())
    iri_begin, iri_end = offsets_in(pl.col("given"))
    rows = things.filter(annotates).select(
        *("unit", "given", "begin", "end", "confidence", *_TEXTS),
        context=pl.when(aside).then(home).otherwise("context"),
        ignorable=pl.when(aside).then("ignorable"),
        iri_begin=iri_begin,
        iri_end=iri_end,
    )
    if blocks.of(nif.IGNORABLE).height:
        rows = rows.with_columns(literal(pl.col("ignorable")))
    return rows.with_columns(_confidence(rows, tally)) if blocks.of(nif.LITERALS["confidence"]).height else rows


def _confidence(annotations: pl.DataFrame, tally: RepairTally) -> pl.Series:
    """Return the confidences that are finite numbers; the others are counted and left out."""
    number = literal(pl.col("confidence")).str.strip_chars().cast(pl.Float64, strict=False)
    found = annotations.select("given", "confidence", number=pl.when(number.is_finite()).then(number))
    unsure = found.filter(pl.col("confidence").is_not_null() & pl.col("number").is_null())
    tally.add_rows("confidence", unsure, "{given}: {confidence} is no number, left out")
    return found["number"].alias("confidence")


def _documents(
    blocks: Blocks, things: pl.DataFrame, bare: pl.DataFrame, dataset: str, tally: RepairTally
) -> pl.DataFrame:
    """Return the texts that annotations refer to or that are part of no other; and contexts without text.

    `length` is the right end of the texts for which the file has another. A sentence may count from the begin of the
    text that it is part of.
    """
    texts, subject = things.drop_nulls("string"), pl.col("subject")
    named, broader = bare["context"].unique(maintain_order=True), blocks.of(nif.BROADER)["object"]
    if len(broader):
        texts = texts.filter(subject.is_in(named.implode()) | ~subject.is_in(broader.unique().implode()))
    texts = texts.with_columns(text=literal(pl.col("string")), language=language(pl.col("string")))
    length = pl.col("begin").fill_null(0).clip(0) + pl.col("text").str.len_chars().cast(pl.Int64)
    texts = texts.select(
        *("unit", "subject", "given", "source", "text", "language", "end"),
        length=pl.when(pl.col("end") != length).then(length),
    )
    tally.add_rows("empty-document", texts.filter(pl.col("text") == ""), "{given}")
    tally.add_rows("duplicate-document", texts.filter(~subject.is_first_distinct()), "{given} has two texts")
    tally.add_rows("context-end", texts.drop_nulls("length"), "{given}: {end} is {length}")
    missing = named.to_frame("subject").filter(~subject.is_in(texts["subject"].implode()))
    if missing.height:
        once = things.select("unit", "subject", "given", "source").unique("subject", keep="first")
        missing = missing.join(once, on="subject", how="left", maintain_order="left")
        missing = missing.with_columns(given=pl.coalesce("given", iri(subject), "subject"))
        texts = pl.concat([texts, missing], how="diagonal")
    return texts.with_columns(document=document_iris(texts["given"], dataset))


def _locate(blocks: Blocks, bare: pl.DataFrame, documents: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the annotations in their documents, with right offsets; what was wrong is counted."""
    texts = documents.select(context="subject", text="text", document="document", home="given")
    rows = bare.join(texts, on="context", how="left", maintain_order="left")
    rows = check_offsets(_fitting(blocks, rows)).sort("unit")
    # What says no offsets at all lies nowhere, inside the text or outside.
    nowhere = (pl.col("kind") == "range") & pl.col("begin").is_null() & pl.col("end").is_null()
    rows = rows.with_columns(kind=pl.when(nowhere).then(pl.lit("unplaced")).otherwise("kind"))
    tally.add_offsets(rows, "home", _example)
    tally.add_rows("unplaced", rows.filter(kind="unplaced"), "{given} says no offsets")
    disagree = rows.filter(
        ((pl.col("iri_begin") != pl.col("begin")) | (pl.col("iri_end") != pl.col("end"))) & pl.col("kind").is_null()
    )
    tally.add_rows("fragment", disagree, "{given}: begin and end are {begin}, {end}")
    tally.add_rows("dangling", rows.filter(pl.col("text").is_null()), "{given}: no text is given for {context}")
    return rows.with_columns(surface_form=pl.coalesce("said", "anchor")).drop("text", "said")


def _example(row: dict[str, object]) -> str:
    given = f"{row['given_begin']},{row['given_end']}"
    if row["kind"] == "offset":
        return f"{row['given']}: {given} is {row['begin']},{row['end']} ({row['reason']})"
    anchor = f"'{row['anchor']}' " if row["anchor"] is not None else ""
    return f"{row['given']}: {anchor}{row['reason']} ({given})"


def _fitting(blocks: Blocks, rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row an annotation: of several anchors, or texts under one IRI, the pair that fits."""
    anchors = blocks.of(nif.ANCHOR)
    if anchors["unit"].is_unique().all() and rows["unit"].is_unique().all():
        return rows
    texts = anchors.select("unit", anchor=literal(pl.col("object"))).unique(maintain_order=True)
    long = rows.drop("anchor").join(texts, on="unit", how="left", maintain_order="left_right")
    said = pl.col("text").str.slice(pl.col("begin").clip(0), (pl.col("end") - pl.col("begin")).clip(0))
    fits = (said == pl.col("anchor")).fill_null(False)
    return long.sort(~fits, maintain_order=True).unique("unit", keep="first", maintain_order=True)


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


def _regions(blocks: Blocks, things: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    units = blocks.of(nif.TYPE).filter(pl.col("object") == f"<{names.RMX}Region>")["unit"]
    if units.is_empty():
        return pl.DataFrame()
    rows = things[units].join(documents.select("subject", "document"), left_on="home", right_on="subject")
    return rows.select("document", "begin", "end").sort("document", "begin", "end")


_KNOWN_KB = r"^http://(?:(?:[a-z-]+\.)?dbpedia\.org/resource/|www\.wikidata\.org/entity/)"
_FOLDER = r"^([A-Za-z][A-Za-z0-9+.-]*://[^?#]*/)"


def _links_of(blocks: Blocks, annotations: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return unit, entity, entity_as_given, nil: a link may be followed through a resource of the file."""
    rows = _without_empty(blocks.of(nif.IDENT), "a link to <> or <*> links to nothing", tally)
    rows = rows.filter(~pl.col("object").str.starts_with("_:"))
    rows = rows.join(annotations.select("unit", "home"), on="unit", how="inner", maintain_order="left")
    said = pl.coalesce(iri(pl.col("object")), literal(pl.col("object")))
    links = rows.select("unit", "home", entity_as_given=plain_entity(said)).unique(maintain_order=True)
    links = links.with_columns(entity=canonical(links["entity_as_given"]), same=pl.lit(None, pl.String))
    if blocks.of(nif.SAME).height:
        links = links.drop("same").join(_same(blocks), on="entity_as_given", how="left", maintain_order="left")
    known = pl.col("entity").str.contains(_KNOWN_KB)
    # What lies in the folder of the text itself is a resource of the file's own making.
    beside = pl.col("entity_as_given").str.extract(_FOLDER, 1) == pl.col("home").str.extract(_FOLDER, 1)
    links = links.with_columns(
        entity=pl.when(known).then("entity").otherwise(pl.coalesce("same", "entity")),
        local=~known & pl.col("same").is_null() & beside,
    )
    nil = is_nil(pl.col("entity_as_given")) | is_nil(pl.col("entity")) | pl.col("local").fill_null(False)
    return links.with_columns(nil=nil).unique(["unit", "entity"], keep="first", maintain_order=True)


def _without_empty(rows: pl.DataFrame, reason: str, tally: RepairTally) -> pl.DataFrame:
    """Return the rows whose object is not `<>` or `<*>`; the others are told."""
    left = rows.filter(~pl.col("object").is_in(nif.NO_LINKS))
    tally.add("invalid-iri", reason, rows.height - left.height)
    return left


def _same(blocks: Blocks) -> pl.DataFrame:
    """Return where the resources of the file are the same as one elsewhere: entity_as_given, same."""
    rows = blocks.of(nif.SAME).with_columns(subject=blocks.subjects.gather(blocks.of(nif.SAME)["unit"]))
    same = rows.select(entity_as_given=iri(pl.col("subject")), same=iri(pl.col("object"))).drop_nulls()
    return same.with_columns(canonical(same["same"]))


def _of_annotations(rows: pl.DataFrame, annotations: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (`unit` and others) with the annotation that the unit is; those of no annotation are left out."""
    return rows.join(annotations.select("unit", "annotation"), on="unit", how="inner", maintain_order="left")


def _classes_of(blocks: Blocks, annotations: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return annotation, class, of_entity: what the file says of the mention, and of the resource it links to."""
    own = _without_empty(blocks.of(nif.CLASS), "a class <> or <*> is none", tally)
    both = pl.concat([own.with_columns(of_entity=pl.lit(False)), _classes_of_entities(blocks)])
    if both.is_empty():
        return pl.DataFrame()
    both = both.filter(~pl.col("object").is_in(nif.NO_LINKS) & pl.col("object").str.starts_with("<"))
    named = _of_annotations(both, annotations).select("annotation", iri(pl.col("object")).alias("class"), "of_entity")
    return named.unique(["annotation", "class"], keep="first", maintain_order=True)


def _classes_of_entities(blocks: Blocks) -> pl.DataFrame:
    """Return unit, object and of_entity: the classes of what annotations link to, where it is a subject of the file."""
    links = blocks.of(nif.IDENT).filter(pl.col("object").is_in(blocks.subjects.implode()))
    if links.is_empty():
        return links.with_columns(of_entity=pl.lit(True))
    types = pl.concat([blocks.of(nif.TYPE), blocks.of(nif.ENTITY_TYPE)])
    types = types.filter(pl.col("object") != nif.NAMED_INDIVIDUAL)
    known = types.select(pl.lit(blocks.subjects.gather(types["unit"])).alias("subject"), type="object")
    known = known.unique(maintain_order=True)
    linked = links.join(known, left_on="object", right_on="subject", maintain_order="left")
    return linked.select("unit", object="type", of_entity=pl.lit(True))
