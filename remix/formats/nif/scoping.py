"""Scoped triples: what goes into the store."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import polars as pl

from remix import names
from remix.formats.identifiers import agree_with_offsets, given_iris, rename_terms
from remix.formats.nif import CLASS, CONTEXT, DATASET, DOCUMENT, GIVEN, IDENT, INDEXES, NO_LINKS, REFERENCES, TYPE
from remix.formats.nif.blocks import Blocks
from remix.formats.nif.mentions import NifTables
from remix.formats.nif.writing import iri_or_text, link_terms, terms_of
from remix.frames import Frames
from remix.rdf.iris import entity_iri, plain_entity
from remix.rdf.terms import iri, iri_term, literal, number_term, predicate
from remix.schemas import fit

_OLD_REFERENCES = predicate("referenceDocuments", names.HFTS_OLD)
_BEGIN, _END = INDEXES
_OURS = tuple(f"<{namespace}" for namespace in (names.RMX, names.HFTS, names.HFTS_OLD))
_STRUCTURE = [predicate(part, names.RMX) for part in ("givenIri", "document", "ignorable", "group", "option", "layer")]
_STRUCTURE += [REFERENCES, _OLD_REFERENCES]


@dataclass(frozen=True)
class ScopedTriples:
    """Triples of the dataset and, apart, its measures: subject, predicate, object as terms.

    `own` is the term of the dataset that the file describes itself, under whose name for us its triples are; or empty.
    """

    data: pl.DataFrame
    measures: pl.DataFrame
    own: str = ""


def scope(blocks: Blocks, tables: NifTables, dataset: str, *, says: Collection[str] = ()) -> ScopedTriples:
    """Return the triples of a file under the scoped IRIs of its documents and annotations.

    Everything that is neither is as it was; repaired offsets replace the given ones; links to nothing go. Measures are
    what has a predicate of our vocabularies that is neither structure nor said by files (`says`).
    """
    term = f"<{dataset}>"
    triples, subjects, own = _without_dataset(blocks, term)
    documents = tables.documents.drop_nulls("unit").select("unit", term=iri_term(pl.col("document")))
    named = pl.concat([documents, tables.annotations.select("unit", term=iri_term(pl.col("annotation")))])
    linking = pl.col("predicate").is_in([IDENT, CLASS]) & pl.col("object").is_in(NO_LINKS)
    again = (pl.col("predicate") == GIVEN) & pl.col("unit").is_in(named["unit"].implode())
    triples = _offsets(triples.filter(~(linking | again)), tables)
    objects = _objects(triples, tables, subjects, named)
    terms = subjects.clone().scatter(named["unit"], named["term"])
    triples = triples.select(terms.gather(triples["unit"]).alias("subject"), "predicate", objects)
    others = {*_STRUCTURE, *(f"<{term}>" for term in says)}
    measured = [one for one in blocks.by_predicate if one.startswith(_OURS) and one not in others]
    is_measured = pl.col("predicate").is_in(measured)
    apart = triples.filter(is_measured).with_columns(_current(pl.col("predicate"))) if measured else triples.clear()
    triples = triples.filter(~is_measured) if measured else triples
    return ScopedTriples(pl.concat([triples, *_additions(blocks, tables, term)]), apart, own)


def unscope(
    scoped: ScopedTriples, documents: pl.DataFrame, frames: Frames, dataset: str, *, corrected: bool = False
) -> pl.DataFrame:
    """Return the triples of a file as it has them, but for what was repaired; `documents` are also those without text.

    Documents and annotations have their given IRIs, where these are of one thing each, and so has the dataset; one
    that the file does not describe is not described. Where frames were `corrected`, offsets in these IRIs are as well.
    """
    term = f"<{dataset}>"
    triples = pl.concat(one.with_columns(pl.col("predicate").cast(pl.String)) for one in (scoped.data, scoped.measures))
    ours = (pl.col("subject") == term) & (
        (pl.col("predicate") == REFERENCES) | ((pl.col("predicate") == TYPE) & (pl.col("object") == DATASET))
    )
    triples = triples.with_columns(pl.col("subject", "object").replace({term: scoped.own})) if scoped.own else triples
    # Contexts without a text are no documents of the frames.
    named = replace(
        frames, documents=fit(documents, {"document": pl.String(), "given": pl.String(), "text": pl.String()})
    )
    iris = agree_with_offsets(given_iris(named), named) if corrected else given_iris(named)
    return rename_terms(triples if scoped.own else triples.filter(~ours), iris)


def revise(scoped: ScopedTriples, frames: Frames, corrected: Frames) -> ScopedTriples:
    """Return the triples with what corrected frames say instead of those of the file.

    What is said of an annotation that is not there any more goes, with its measures; of another the properties that
    differ are replaced, of its links those that differ, and all that frames have no place for stays.
    """
    if corrected is frames:
        return scoped
    before, after = terms_of(frames), terms_of(corrected)
    key, every = ["subject", "predicate"], ["subject", "predicate", "object"]
    apart = pl.concat([before.join(after, on=every, how="anti"), after.join(before, on=every, how="anti")])
    apart = apart.filter(pl.col("predicate") != IDENT)
    gone = before.join(after, on="subject", how="anti")
    data = scoped.data.with_columns(pl.col("predicate").cast(pl.String))
    parts = (data, scoped.measures)
    data, measures = (rows.join(gone, on="subject", how="anti", maintain_order="left") for rows in parts)
    data = data.join(apart, on=key, how="anti", maintain_order="left")
    said = after.filter(pl.col("predicate") != IDENT).join(apart, on=key, how="semi", maintain_order="left")
    return replace(scoped, data=pl.concat([_relink(data, frames, corrected), said]), measures=measures)


def _relink(data: pl.DataFrame, frames: Frames, corrected: Frames) -> pl.DataFrame:
    """Return the triples with the links that are there now; what is no link for us, as of a NIL, stays as it was."""
    old, new = frames.links, corrected.links
    gone = old.join(new, on=old.columns, how="anti").join(
        corrected.annotations, on="annotation", how="semi", maintain_order="left"
    )
    came = new.join(old, on=old.columns, how="anti", maintain_order="left")
    said = pl.coalesce(iri(pl.col("object")), literal(pl.col("object")))
    named = gone.select("entity_as_given", subject=iri_term(entity_iri(pl.col("annotation"))))
    spelt = data.filter(pl.col("predicate") == IDENT).with_columns(entity_as_given=plain_entity(said))
    spelt = spelt.join(named, on=["subject", "entity_as_given"], how="semi")
    left = data.join(spelt, on=data.columns, how="anti", maintain_order="left")
    added = link_terms(came).with_columns(predicate=pl.lit(IDENT)).select(data.columns)
    return pl.concat([left, added.join(left, on=data.columns, how="anti", maintain_order="left")])


def read_values(scoped: ScopedTriples, says: Collection[str] = ()) -> pl.DataFrame | None:
    """Return the measures and what else files say (`says`) as values: subject, term (IRIs), number or text."""
    own = pl.col("predicate").cast(pl.String).is_in([f"<{term}>" for term in says])
    parts = (scoped.measures, scoped.data.filter(own))
    apart = pl.concat(rows.with_columns(pl.col("predicate").cast(pl.String)) for rows in parts)
    if apart.is_empty():
        return None
    text = pl.coalesce(literal(pl.col("object")), iri(pl.col("object")), "object")
    number = text.cast(pl.Float64, strict=False)
    return apart.select(
        subject=pl.coalesce(iri(pl.col("subject")), "subject"),
        term=iri(pl.col("predicate")),
        number=number,
        text=pl.when(number.is_null()).then(text),
    )


def _current(term: pl.Expr) -> pl.Expr:
    # Older files have another namespace and `notAnnotatedProperty` for `notAnnotated`.
    return (
        term.cast(pl.String)
        .str.replace(names.HFTS_OLD, names.HFTS, literal=True)
        .str.replace("notAnnotatedProperty>", "notAnnotated>", literal=True)
        .cast(pl.Categorical)
    )


def _without_dataset(blocks: Blocks, term: str) -> tuple[pl.DataFrame, pl.Series, str]:
    """Return the triples and subjects with the dataset that a file names itself under our name for it, and its own."""
    hfts = r"^<https://raw\.githubusercontent\.com/santifa/hfts/.*#Dataset>$"
    units = blocks.of(TYPE).filter(pl.col("object").str.contains(hfts))["unit"].unique()
    if len(units) != 1:
        return blocks.triples, blocks.subjects, ""
    said = pl.col("predicate").is_in([REFERENCES, _OLD_REFERENCES]) | (pl.col("object") == DATASET)
    left = blocks.triples.filter(~((pl.col("unit") == units[0]) & said))
    return left, blocks.subjects.clone().scatter(units[0], term), str(blocks.subjects[units[0]])


def _offsets(triples: pl.DataFrame, tables: NifTables) -> pl.DataFrame:
    """Return the triples with repaired begins and ends, those that were missing added."""
    differs = (pl.col("kind") == "offset") | (pl.col("kind").is_null() & pl.col("given_begin").is_null())
    moved = tables.annotations.filter(differs & pl.col("begin").is_not_null())
    parts = [triples]
    for term, right in (
        (_BEGIN, moved.select("unit", value="begin")),
        (_END, moved.select("unit", value="end")),
        (_END, tables.documents.select("unit", value="length").drop_nulls()),
    ):
        if right.is_empty():
            continue
        rows = parts[0].with_row_index("row").filter(pl.col("predicate") == term).join(right, on="unit")
        new = rows.select("row", "unit", object=number_term(pl.col("object"), pl.col("value")))
        parts[0] = parts[0].with_columns(parts[0]["object"].scatter(new["row"], new["object"]))
        absent = right.join(rows, on="unit", how="anti")
        number = f'"^^<{names.XSD}nonNegativeInteger>'
        object_ = pl.concat_str(pl.lit('"'), pl.col("value").cast(pl.String), pl.lit(number))
        parts.append(absent.select("unit", predicate=pl.lit(term, pl.Categorical), object=object_))
    return pl.concat([part.select("unit", "predicate", "object") for part in parts])


def _objects(triples: pl.DataFrame, tables: NifTables, subjects: pl.Series, named: pl.DataFrame) -> pl.Series:
    """Return the objects of the triples, those that are documents and annotations under their scoped IRIs."""
    documents = tables.documents.select("subject", term=iri_term(pl.col("document")))
    new = pl.concat([documents, named.select(subject=subjects.gather(named["unit"]), term="term")])
    new = new.unique("subject", keep="first", maintain_order=True)
    may = pl.col("object").str.starts_with("<") & ~pl.col("predicate").is_in([TYPE, IDENT, CLASS])
    rows = triples.with_row_index("row").filter(may)
    rows = rows.join(new, left_on="object", right_on="subject", maintain_order="left")
    if not tables.documents["subject"].is_unique().all():
        own = tables.annotations.select("unit", own=iri_term(pl.col("document")))
        rows = rows.join(own, on="unit", how="left", maintain_order="left")
        context = pl.col("predicate").is_in([CONTEXT, DOCUMENT]) & pl.col("own").is_not_null()
        rows = rows.with_columns(term=pl.when(context).then("own").otherwise("term"))
    return triples["object"].scatter(rows["row"], rows["term"])


def name_blank_nodes(triples: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """Return the triples with blank nodes named after the dataset, in the order of the text."""
    blank = pl.col("subject").str.starts_with("_:"), pl.col("object").str.starts_with("_:")
    if not triples.select((blank[0] | blank[1]).any()).item():
        return triples
    both = triples.select(pl.concat_list("subject", "object").explode().alias("node"))
    nodes = both.filter(pl.col("node").str.starts_with("_:")).unique(maintain_order=True).with_row_index("n", offset=1)
    stem = re.sub("[^A-Za-z0-9-]+", "-", re.split("[:/]", dataset)[-1]).strip("-")
    new = pl.concat_str(pl.lit(f"_:{stem}-b"), pl.col("n").cast(pl.String))
    old, labels = nodes["node"], nodes.select(new).to_series()
    return triples.with_columns(
        pl.when(one).then(pl.col(name).replace(old, labels)).otherwise(name).alias(name)
        for one, name in zip(blank, ("subject", "object"), strict=True)
    )


def _additions(blocks: Blocks, tables: NifTables, term: str) -> list[pl.DataFrame]:
    """Return what the store is told besides: the IRIs as given, and which documents the dataset has."""
    documents = tables.documents.select(subject=iri_term(pl.col("document")), given="given")
    given = pl.concat([documents, tables.annotations.select(subject=iri_term(pl.col("annotation")), given="given")])
    # What stands as an IRI in a file is legal; a record of what another file had need be none.
    spelt = iri_or_text("given") if GIVEN in blocks.by_predicate else iri_term(pl.col("given"))
    origin = given.filter(~pl.col("given").str.starts_with("_:")).select(
        "subject", predicate=pl.lit(GIVEN, pl.Categorical), object=spelt
    )
    kind = pl.DataFrame({"subject": [term], "predicate": [TYPE], "object": [DATASET]}, schema=origin.schema)
    listed = tables.documents.filter(pl.col("text").is_not_null()).select(
        subject=pl.lit(term), predicate=pl.lit(REFERENCES, pl.Categorical), object=iri_term(pl.col("document"))
    )
    return [origin, kind, listed]
