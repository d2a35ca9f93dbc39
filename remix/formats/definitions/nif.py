"""NIF in every RDF syntax and state of health found in the wild, and back."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix.errors import BadInput
from remix.formats import Contents, Format, Loss, SourceFile, said_terms
from remix.formats.identifiers import is_shared
from remix.formats.losses import EVERYTHING, loss_of
from remix.formats.nif.blocks import number_subjects
from remix.formats.nif.mentions import NifTables, extract_tables
from remix.formats.nif.parsing import SUFFIXES, parse, syntax_of
from remix.formats.nif.published import state_as_given
from remix.formats.nif.scoping import ScopedTriples, name_blank_nodes, read_values, revise, scope, unscope
from remix.formats.nif.writing import write_frames, write_terms
from remix.formats.repairs import RepairTally
from remix.frames import Frames
from remix.names import RDF
from remix.rdf.ntriples import content_hash_of, write_ntriples

_TABULAR = re.compile(
    r"\S+\t(?:[0-9]+\t[0-9]+(?:\s|$)|AnnotatorNotes )|[^\s|]+\|[ta]\||TOKEN\t"
    r"|#[^\n]*\n(?:#[^\n]*\n|\s)*(?!(?i:prefix|base|graph)\t)[^\s<>:@\"\[({#]+\t"
)
"""A mention, a text, or, behind comments, a token with its columns: no statement of RDF begins with any of them."""


def _is_nif(head: bytes, name: str) -> bool:
    text = head.decode("utf-8", "replace")
    syntax = syntax_of(head, name)
    if syntax == ox.RdfFormat.RDF_XML:
        # Of XML whose root cannot be seen, the parser tells what is wrong.
        return RDF in text or re.search(r"<[A-Za-z_]", text) is None or "<rdf:" in text
    if syntax == ox.RdfFormat.JSON_LD:
        # JSON has many formats; what links it to RDF are its keywords.
        return re.search(r'"@[a-z]+"\s*:', text) is not None or ".jsonld" in name
    if re.match(r"\s*<([A-Za-z]\w*)>\s*<[A-Za-z]", text) and re.search(r"</[A-Za-z]\w*>", text):
        # XML without a declaration, not relative IRIs.
        return False
    # Names with a colon and comments begin lines of other formats too; what these have behind it, RDF has not.
    return syntax is not None and _TABULAR.match(text.lstrip("\ufeff \r\n")) is None


def _read(source: SourceFile, dataset: str) -> Contents:
    tally = RepairTally()
    triples = state_as_given(parse(source, tally))
    content = content_hash_of(triples)
    # The parser names blank nodes at random.
    numbered = number_subjects(name_blank_nodes(triples, dataset), tally)
    if "shared-iri" not in tally.counts:
        _tell_repeated(triples, tally)
    del triples
    tables = extract_tables(numbered, dataset, tally)
    _refuse_what_is_no_nif(source, tables)
    scoped = scope(numbered, tables, dataset, says=said_terms())
    frames = tables.frames(dataset, read_values(scoped, said_terms()))
    return Contents(
        frames=frames,
        repairs=tally.repairs(),
        triples=scoped.data.height + scoped.measures.height,
        content=content,
        unheld=_tell_nil_links(tables),
        write=partial(_write_triples, scoped),
        export=lambda path, corrected: write_terms(
            unscope(
                revise(scoped, frames, corrected) if corrected else scoped,
                tables.documents,
                corrected or frames,
                dataset,
                corrected=corrected is not None,
            ),
            path,
        ),
    )


def _tell_repeated(triples: pl.DataFrame, tally: RepairTally) -> None:
    said = triples.filter(is_shared(triples))
    if said.is_empty():
        return
    said = said.filter(~said.select(pl.struct(pl.all()).is_first_distinct()).to_series())
    named = said.filter(~pl.any_horizontal(pl.col("subject", "object").str.starts_with("_:")))
    tally.add_rows("repeated-triple", named, "{subject} {predicate} is said again")


def _tell_nil_links(tables: NifTables) -> tuple[Loss, ...]:
    """Return the IRIs of entities that are in no knowledge base, of annotations without another: frames have NIL."""
    nil = tables.annotations.filter("is_nil").select("annotation")
    links = tables.nil.join(nil, on="annotation", how="semi", maintain_order="left")["entity_as_given"]
    return loss_of("nil-links", links.filter(links.str.contains("^[A-Za-z][A-Za-z0-9+.-]*:")))


def _refuse_what_is_no_nif(source: SourceFile, tables: NifTables) -> None:
    texts = tables.documents["text"].count()
    if not texts and tables.annotations.is_empty():
        raise BadInput(source.name, "is RDF without NIF in it: no text (nif:isString) and no annotation")
    if not texts:
        count = tables.annotations.height
        raise BadInput(source.name, f"has {count} annotations but not one of their texts (nif:isString)")


def _write_triples(scoped: ScopedTriples, path: Path, measures_to: Path) -> int:
    count = write_ntriples(scoped.data, path)
    if scoped.measures.height:
        count += write_ntriples(scoped.measures, measures_to)
    return count


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    write_frames(frames, path)
    return ()


NIF = Format(
    name="nif",
    summary="NLP Interchange Format in Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD",
    suffixes=SUFFIXES,
    sniff=_is_nif,
    read=_read,
    write=_write,
    holds=EVERYTHING - {"entity-classes", "candidates"},
)
