"""BioC in XML and JSON: collections of documents with passages, and annotations with one or several locations.

Offsets count from the begin of the document: a passage begins where its `offset` says; gaps become spaces. Files that
count bytes are told by the texts of their annotations. An annotation in several places (`retinal and choroidal tumour`)
becomes one mention a location, required together; so do the concepts of a composite one. What is linked stands in the
`infon` identifier, or one named after a vocabulary (`MESH`, `NCBI Gene`, …); see `remix.formats.biomedical`.
Relations and sentences are not read. Source: Comeau et al., BioC: a minimalist approach to interoperability (2013).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any
from xml.etree import ElementTree

import polars as pl

from remix.errors import BadInput
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.biomedical import join_concepts, split_concepts
from remix.formats.json import json_text, json_value, tell_misspelt
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, reader, whole_number
from remix.formats.repairs import RepairTally, separate_names
from remix.formats.source import begin_of
from remix.formats.writing import lay_out
from remix.formats.xml import Element, parse_tree
from remix.frames import Frames

IDENTIFIERS = ("identifier", "normalized_id", "mesh", "omim", "ncbi gene", "gene", "ncbi homologene", "taxonomy")
"""The infons that have the concept, whatever their case, the first there counts."""

_FIELDS = ("documents", "passages", "annotations", "infons", "locations", "offset", "length", "relations", "sentences")
_LINE = "@line"
_GAP, _FREE = 16, 1_000_000
"""How many spaces stand for the gaps between passages: so many times the file's size, and so many whatever its size."""


def _is_bioc(head: bytes, name: str) -> bool:
    if head.startswith(b"<"):
        return all(re.search(one, head) for one in (rb"<collection[\s>]", rb"<(?:passage|source|key)[\s>/]"))
    return head.startswith(b"{") and re.search(rb'"passages"\s*:', head) is not None


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    content = source.read()
    if begin_of(content).startswith(b"<"):
        documents: object = _as_json(parse_tree(content, source.name, tally))
    else:
        text = json_text(content, tally)
        documents = json_value(source.name, text, what="BioC JSON")
        tell_misspelt(text, _FIELDS, tally)
        if isinstance(documents, dict):
            documents = documents.get("documents", documents.get("PubTator3", [documents]))
        elif not isinstance(documents, list):
            documents = [documents]
    found = _BiocTables(source.name, tally, _GAP * len(content) + _FREE)
    for document, place in found.list_objects({"documents": documents}, "documents", ""):
        found.add_document(document, place)
    texts = pl.DataFrame(found.texts, schema=TEXTS, orient="row")
    texts = texts.with_columns(name=separate_names(texts["name"], tally)).with_row_index("document")
    rows = pl.DataFrame(found.rows, schema={**MENTIONS, "identifiers": pl.String, "document": texts.schema["document"]})
    rows = rows.drop("name").join(texts.select("document", "name"), on="document", maintain_order="left")
    mentions, links = split_concepts(rows.drop("document"))
    return MentionTables(texts, mentions, links, keep_outside=True, apart=True)


def _as_json(root: Element) -> list[dict[str, Any]]:
    """Return the documents of XML as JSON has them, with the lines of what is in them."""

    def of_passage(passage: Element) -> dict[str, Any]:
        annotations = [of_annotation(one) for one in passage.every("annotation")]
        return {"offset": "0", **passage.fields(), "annotations": annotations, _LINE: passage.line}

    def of_annotation(annotation: Element) -> dict[str, Any]:
        infons = {each.get("key", ""): each.own_text() for each in annotation.every("infon")}
        locations = [
            {"offset": "-1", "length": "-1", **each.attrib, _LINE: each.line} for each in annotation.every("location")
        ]
        said = {"id": annotation.get("id", ""), "text": annotation.fields().get("text")}
        return {**said, "infons": infons, "locations": locations, _LINE: annotation.line}

    return [
        {"id": one.fields().get("id", ""), "passages": [of_passage(each) for each in one.every("passage")]}
        for one in root.every("document")
    ]


@dataclass
class _BiocTables:
    """The texts and mentions of a file; so many `blanks` may still stand for the gaps between passages.

    Its methods raise `BadInput` with the place of what is not as it should be.
    """

    file: str
    tally: RepairTally
    blanks: int
    texts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add_document(self, document: dict[str, Any], place: str) -> None:
        """Add a document, whose passages begin at their offsets."""
        name = str(self.value(document, "id", (str, int), place))
        parts, length = [], 0
        for passage, where in self.list_objects(document, "passages", place):
            begin = self.number(passage, "offset", where)
            gap = max(0, begin - length)
            self.blanks -= gap
            if self.blanks < 0:
                begins = f"a passage of document {name} begins at {begin:,}"
                raise BadInput(self.file, f"{begins}, and the text before it ends at {length:,}")
            parts += [" " * gap, self.value(passage, "text", (str, NoneType), where) or ""]
            length += gap + len(parts[-1])
            for annotation, at in self.list_objects({"annotations": [], **passage}, "annotations", where):
                self.add_annotation(name, annotation, at)
        self.texts.append((name, "".join(parts)))

    def add_annotation(self, name: str, annotation: dict[str, Any], place: str) -> None:
        """Add a row for each location of an annotation; `part_of` is the first where there are several."""
        said = self.value(annotation, "infons", (dict, NoneType), place) or {}
        infons = {key.lower(): str(value) for key, value in said.items() if value is not None}
        locations = list(self.list_objects({"locations": [], **annotation}, "locations", place))
        text, first = self.value(annotation, "text", (str, NoneType), place), len(self.rows)
        told = f"document {name}, annotation {annotation.get('id', '')}"
        if not locations:
            self.tally.add("no-location", f"{told} has no location")
        for nth, (location, at) in enumerate(locations):
            begin, length = (self.number(location, key, at) for key in ("offset", "length"))
            row = {
                "mention": first + nth,
                "place": told,
                "document": len(self.texts),
                "begin": begin,
                "end": begin + length,
            }
            # The text of an annotation in several places is in none of them.
            row |= {"anchor": text} if len(locations) == 1 else {"part_of": first}
            identifiers = next((infons[key] for key in IDENTIFIERS if key in infons), "")
            self.rows.append(row | {"class": infons.get("type") or None, "identifiers": identifiers})

    def list_objects(self, of: dict[str, Any], name: str, place: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the objects in a list of an object, each with its place: in XML the line, in JSON its number."""
        said = of.get(name)
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise BadInput(self.file, f"is no BioC JSON: {place or 'the file'} has no list of objects as '{name}'")
        for nth, one in enumerate(said, 1):
            yield one, f"line {one[_LINE]}" if _LINE in one else f"{place}, {name[:-1]} {nth}".removeprefix(", ")

    def value(self, of: dict[str, Any], name: str, kinds: tuple[type, ...], place: str) -> Any:
        """Return the value of an object that is of one of these types; for Python true is a number."""
        value = of.get(name)
        if isinstance(value, kinds) and not isinstance(value, bool):
            return value
        told = f"lacks '{name}'" if name not in of else f"has {json.dumps(value)[:60]} as '{name}'"
        raise BadInput(self.file, f"is no BioC JSON: {place} {told}")

    def number(self, of: dict[str, Any], name: str, place: str) -> int:
        """Return an offset or a length of an object."""
        said = self.value(of, name, (int, str), place)
        number = whole_number(said)
        if number is None:
            raise BadInput(self.file, f"is no BioC: {place}: an offset or length is no number ('{str(said)[:30]}')")
        return number


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, r"^\S(?:[^\x00-\x1f]*\S)?$")
    of_document = _annotations(rows).rows_by_key("document", named=True, include_key=False)
    documents = []
    for label, document, text in names.select("label", "document", "text").iter_rows():
        listed = [_annotation(row, nth) for nth, row in enumerate(of_document.get(document, ()), 1)]
        passage = {"offset": 0, "infons": {}, "text": text, "sentences": [], "annotations": listed, "relations": []}
        documents.append({"id": label, "infons": {}, "passages": [passage], "relations": []})
    whole = {"source": "", "date": "", "key": "", "infons": {}, "documents": documents}
    with write_whole(path) as stream:
        said = _xml(whole) if path.suffix == ".xml" else json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
        stream.write(said.encode())
    return losses


def _annotations(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row an annotation of BioC: the concepts of a span, and the spans of an option with the same concepts."""
    rows = join_concepts(rows).with_columns(pl.col("class").fill_null(""))
    keys = ["document", "group", "option", "identifier", "class"]
    return rows.group_by(keys, maintain_order=True).agg("begin", "end", "surface_form")


def _annotation(row: dict[str, Any], number: int) -> dict[str, Any]:
    infons = {"type": row["class"]} if row["class"] else {}
    if row["identifier"] != "-":
        infons["identifier"] = row["identifier"]
    spans = sorted(zip(row["begin"], row["end"], row["surface_form"], strict=True))
    return {
        "id": str(number),
        "infons": infons,
        "text": " ".join(form for _, _, form in spans),
        "locations": [{"offset": begin, "length": end - begin} for begin, end, _ in spans],
    }


def _xml(collection: dict[str, Any]) -> str:
    root = ElementTree.Element("collection")
    for name in ("source", "date", "key"):
        ElementTree.SubElement(root, name)
    for document in collection["documents"]:
        element = ElementTree.SubElement(root, "document")
        ElementTree.SubElement(element, "id").text = document["id"]
        [told] = document["passages"]
        passage = ElementTree.SubElement(element, "passage")
        ElementTree.SubElement(passage, "offset").text = "0"
        ElementTree.SubElement(passage, "text").text = told["text"]
        for annotation in told["annotations"]:
            one = ElementTree.SubElement(passage, "annotation", id=annotation["id"])
            for key, value in annotation["infons"].items():
                ElementTree.SubElement(one, "infon", key=key).text = value
            for location in annotation["locations"]:
                ElementTree.SubElement(one, "location", {key: str(value) for key, value in location.items()})
            ElementTree.SubElement(one, "text").text = annotation["text"]
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


bioc = Format(
    name="bioc",
    summary="BioC in XML (.xml) or JSON (biomedical; mentions in several places)",
    suffixes=(".xml", ".json"),
    sniff=_is_bioc,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "nil", "links", "classes", "parts", "unannotated", "repeated-spans"}),
)
