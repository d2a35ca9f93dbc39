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
from dataclasses import dataclass
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
from remix.formats.mends import Mends
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, reader, whole_number
from remix.formats.source import begin_of
from remix.formats.writing import lay_out
from remix.formats.xml import Element, parse_tree
from remix.frames import Frames

IDENTIFIERS = ("identifier", "normalized_id", "mesh", "omim", "ncbi gene", "gene", "ncbi homologene", "taxonomy")
"""The infons that have the concept, whatever their case, the first there counts."""

_FIELDS = ("documents", "passages", "annotations", "infons", "locations", "offset", "length", "relations", "sentences")
_GAP, _FREE = 16, 1_000_000
"""How many spaces stand for the gaps between passages: so many times the file's size, and so many whatever its size."""


def _is_bioc(head: bytes, name: str) -> bool:
    if head.startswith(b"<"):
        return all(re.search(one, head) for one in (rb"<collection[\s>]", rb"<(?:passage|source|key)[\s>/]"))
    return head.startswith(b"{") and re.search(rb'"passages"\s*:', head) is not None


@reader
def _read(source: SourceFile, mends: Mends) -> MentionTables:
    content = source.read()
    documents = (_of_xml if begin_of(content).startswith(b"<") else _of_json)(source, content, mends)
    texts: list[tuple[str, str]] = []
    rows: list[dict[str, Any]] = []
    gaps = _Gaps(source.name, _GAP * len(content) + _FREE)
    for document in documents:
        texts.append((document["id"], gaps.fill(document)))
        for passage in document["passages"]:
            for annotation in passage["annotations"]:
                rows += _rows(document["id"], annotation, len(rows), mends)
    mentions, links = split_concepts(pl.DataFrame(rows, schema={**MENTIONS, "identifiers": pl.String}))
    named = pl.DataFrame(texts, schema=TEXTS, orient="row")
    return MentionTables(named, mentions, links)


def _of_json(source: SourceFile, content: bytes, mends: Mends) -> Iterator[dict[str, Any]]:
    """Yield documents: `id` and `passages`, each with offset, text and annotations (id, infons, text, locations)."""
    text = json_text(content, mends)
    whole = json_value(source.name, text, what="BioC JSON")
    tell_misspelt(text, _FIELDS, mends)
    listed: Any = [whole]
    if isinstance(whole, list):
        listed = whole
    elif isinstance(whole, dict):
        listed = whole.get("documents", whole.get("PubTator3", [whole]))
    for nth, document in enumerate(_list_of(source, listed, "documents", "the file"), 1):
        place = f"document {nth}"
        yield {
            "id": str(_field(source, document, "id", (str, int), place)),
            "passages": [
                _passage(source, one, f"{place}, passage {number}")
                for number, one in enumerate(_list_of(source, document.get("passages"), "passages", place), 1)
            ],
        }


def _passage(source: SourceFile, said: dict[str, Any], place: str) -> dict[str, Any]:
    listed = _list_of(source, said.get("annotations", []), "annotations", place)
    return {
        "offset": _number(source, _field(source, said, "offset", (int, str), place), place),
        "text": _field(source, said, "text", (str, NoneType), place) or "",
        "annotations": [_annotation_of(source, one, f"{place}, annotation {nth}") for nth, one in enumerate(listed, 1)],
    }


def _annotation_of(source: SourceFile, said: dict[str, Any], place: str) -> dict[str, Any]:
    locations = _list_of(source, said.get("locations", []), "locations", place)
    return {
        "id": str(said.get("id", "")),
        "infons": _field(source, said, "infons", (dict, NoneType), place) or {},
        "text": _field(source, said, "text", (str, NoneType), place),
        "locations": [
            {key: _number(source, _field(source, one, key, (int, str), place), place) for key in ("offset", "length")}
            for one in locations
        ],
    }


def _list_of(source: SourceFile, said: object, name: str, place: str) -> list[dict[str, Any]]:
    """Return what is said as a list of objects; raises `BadInput` where it is none."""
    if isinstance(said, list) and all(isinstance(one, dict) for one in said):
        return said
    raise BadInput(source.name, f"is no BioC JSON: {place} has no list of objects as '{name}'")


def _field(source: SourceFile, of: dict[str, Any], name: str, kinds: tuple[type, ...], place: str) -> Any:
    """Return a field of an object; raises `BadInput` where it is not of these types; for Python true is a number."""
    value = of.get(name)
    if isinstance(value, kinds) and not isinstance(value, bool):
        return value
    told = f"lacks '{name}'" if name not in of else f"has {json.dumps(value)[:60]} as '{name}'"
    raise BadInput(source.name, f"is no BioC JSON: {place} {told}")


def _of_xml(source: SourceFile, content: bytes, mends: Mends) -> Iterator[dict[str, Any]]:
    """Yield documents as `_of_json` does."""

    def tell_passage(passage: Element) -> dict[str, Any]:
        said = passage.fields()
        offset = _number(source, said.get("offset", "0"), f"line {passage.line}")
        annotations = [tell_annotation(one) for one in passage.every("annotation")]
        return {"offset": offset, "text": said.get("text", ""), "annotations": annotations}

    def tell_annotation(annotation: Element) -> dict[str, Any]:
        located = [
            {key: _number(source, one.get(key, "-1"), f"line {one.line}") for key in ("offset", "length")}
            for one in annotation.every("location")
        ]
        infons = {one.get("key", ""): one.own_text() for one in annotation.every("infon")}
        said = {"id": annotation.get("id", ""), "text": annotation.fields().get("text")}
        return {**said, "infons": infons, "locations": located}

    for document in parse_tree(content, source.name, mends).every("document"):
        passages = [tell_passage(one) for one in document.every("passage")]
        yield {"id": document.fields().get("id", ""), "passages": passages}


def _number(source: SourceFile, said: int | str, place: str) -> int:
    number = whole_number(said)
    if number is None:
        raise BadInput(source.name, f"is no BioC: {place}: an offset or length is no number ('{str(said)[:30]}')")
    return number


@dataclass
class _Gaps:
    """Puts texts together, with spaces between passages, as long as these are not many times the file."""

    file: str
    left: int

    def fill(self, document: dict[str, Any]) -> str:
        """Return the text of a document, each passage at its offset."""
        parts, length = [], 0
        for passage in document["passages"]:
            gap = max(0, passage["offset"] - length)
            self.left -= gap
            if self.left < 0:
                begins = f"a passage of document {document['id']} begins at {passage['offset']:,}"
                raise BadInput(self.file, f"{begins}, and the text before it ends at {length:,}")
            parts += [" " * gap, passage["text"]]
            length += gap + len(passage["text"])
        return "".join(parts)


def _rows(name: str, annotation: dict[str, Any], number: int, mends: Mends) -> Iterator[dict[str, Any]]:
    """Yield a row for each location of an annotation; `part_of` is the first where there are several."""
    infons = {key.lower(): str(value) for key, value in annotation.get("infons", {}).items() if value is not None}
    locations = annotation.get("locations", [])
    place = f"document {name}, annotation {annotation.get('id', '')}"
    if not locations:
        mends.add("no-location", f"{place} has no location")
    for nth, location in enumerate(locations):
        begin, length = location["offset"], location["length"]
        yield {
            "mention": number + nth,
            "place": place,
            "name": name,
            "begin": begin,
            "end": begin + length,
            # The text of an annotation in several places is in none of them.
            "anchor": annotation.get("text") if len(locations) == 1 else None,
            "class": infons.get("type") or None,
            "part_of": number if len(locations) > 1 else None,
            "identifiers": next((infons[key] for key in IDENTIFIERS if key in infons), ""),
        }


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


def _xml(whole: dict[str, Any]) -> str:
    root = ElementTree.Element("collection")
    for name in ("source", "date", "key"):
        ElementTree.SubElement(root, name)
    for document in whole["documents"]:
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
    holds=frozenset({"texts", "nil", "links", "classes", "parts", "unannotated"}),
)
