"""BioC in XML and JSON: collections of documents with passages, and annotations with one or several locations.

Offsets count from the begin of the document: a passage begins where its `offset` says; gaps become spaces. Files that
count bytes are told by the texts of their annotations. An annotation in several places (`retinal and choroidal tumour`)
becomes one mention a location, required together; so do the concepts of a composite one. What is linked stands in the
`infon` identifier, or one named after a vocabulary (`MESH`, `NCBI Gene`, …); see `remix.formats._biomedical`.
Relations and sentences are not read. Source: Comeau et al., BioC: a minimalist approach to interoperability (2013).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl

from remix.errors import BadInput
from remix.files import written
from remix.formats import Format, Found, Loss, Source
from remix.formats._biomedical import concepts, identifiers
from remix.formats._mending import Mends, recoded
from remix.formats._mentions import MENTIONS, Mentions, assembled, flat, labels
from remix.frames import Frames
from remix.signature import content_hash

IDENTIFIERS = ("identifier", "normalized_id", "mesh", "omim", "ncbi gene", "gene", "ncbi homologene", "taxonomy")
"""The infons that have the concept, whatever their case, the first there counts."""


def _is_bioc(head: bytes, name: str) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return (
            re.search(rb"<collection[\s>]", start) is not None
            and re.search(rb"<(?:passage|source|key)[\s>/]", start) is not None
        )
    return start[:1] == b"{" and re.search(rb'"passages"\s*:', start) is not None


def _read(source: Source, dataset: str) -> Found:
    with source.open() as stream:
        content = stream.read()
    mends = Mends()
    said = recoded(content, mends).lstrip()
    documents = _of_xml(source, said) if said.startswith("<") else _of_json(source, said)
    texts: list[tuple[str, str]] = []
    rows: list[dict[str, Any]] = []
    for document in documents:
        texts.append((document["id"], _text(document["passages"])))
        for passage in document["passages"]:
            for annotation in passage["annotations"]:
                rows += _located(document["id"], annotation, len(rows), mends)
    schema = {
        name: MENTIONS[name] for name in ("mention", "place", "name", "begin", "end", "anchor", "class", "part_of")
    }
    mentions, links = concepts(pl.DataFrame(rows, schema={**schema, "identifiers": pl.String}))
    documents_frame = pl.DataFrame(texts, schema=["name", "text"], orient="row")
    read = Mentions(documents=documents_frame, mentions=mentions, links=links, mends=mends)
    return assembled(read, dataset, content_hash(content))


def _of_json(source: Source, content: str) -> Iterator[dict[str, Any]]:
    """Yield documents: `id` and `passages`, each with offset, text and annotations (id, infons, text, locations)."""
    try:
        whole = json.loads(content)
        listed = whole if isinstance(whole, list) else whole.get("documents", whole.get("PubTator3", [whole]))
        for document in listed:
            passages = [
                {
                    "offset": _number(one["offset"]),
                    "text": one.get("text") or "",
                    "annotations": one.get("annotations", []),
                }
                for one in document["passages"]
            ]
            yield {"id": str(document["id"]), "passages": passages}
    except ValueError as error:
        raise BadInput(source.name, f"is no BioC JSON ({error})", line=getattr(error, "lineno", None)) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(source.name, f"is no BioC JSON: a document or passage lacks {error}") from None


def _of_xml(source: Source, content: str) -> Iterator[dict[str, Any]]:
    try:
        root = ElementTree.fromstring(content)
        for document in root.iter("document"):
            passages = [
                {
                    "offset": _number(one.findtext("offset", "0")),
                    "text": one.findtext("text") or "",
                    "annotations": [_of_element(element) for element in one.iter("annotation")],
                }
                for one in document.iter("passage")
            ]
            yield {"id": document.findtext("id") or "", "passages": passages}
    except ElementTree.ParseError as error:
        raise BadInput(source.name, f"is no XML ({error})", line=error.position[0]) from None
    except ValueError as error:
        raise BadInput(source.name, f"is no BioC: an offset or length is no number ({error})") from None


def _number(said: Any) -> int:
    if abs(number := int(said)) >= 1 << 53:
        raise ValueError(f"{said} is beyond any text")
    return number


def _of_element(element: ElementTree.Element) -> dict[str, Any]:
    return {
        "id": element.get("id", ""),
        "infons": {one.get("key", ""): one.text or "" for one in element.findall("infon")},
        "text": element.findtext("text"),
        "locations": [
            {"offset": _number(one.get("offset", "-1")), "length": _number(one.get("length", "-1"))}
            for one in element.findall("location")
        ],
    }


def _text(passages: list[dict[str, Any]]) -> str:
    """Return the text of a document, each passage at its offset."""
    text = ""
    for passage in passages:
        text += " " * (passage["offset"] - len(text)) + passage["text"]
    return text


def _located(name: str, annotation: dict[str, Any], number: int, mends: Mends) -> Iterator[dict[str, Any]]:
    """Yield a row for each location of an annotation; `part_of` is the first where there are several."""
    infons = {key.lower(): str(value) for key, value in annotation.get("infons", {}).items() if value is not None}
    locations = annotation.get("locations", [])
    place = f"document {name}, annotation {annotation.get('id', '')}"
    if not locations:
        mends.add("no-location", f"{place} has no location")
    for nth, location in enumerate(locations):
        begin, length = _number(location["offset"]), _number(location["length"])
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
    names, losses = labels(frames.documents, r"^\S(?:[^\x00-\x1f]*\S)?$")
    texts = frames.documents.join(names, on="document", maintain_order="left").sort("label")
    of_document = {
        document: rows for (document,), rows in _annotations(frames).group_by("document", maintain_order=True)
    }
    documents = []
    for label, document, text in texts.select("label", "document", "text").iter_rows():
        rows = of_document.get(document)
        listed = (
            [_annotation(row, nth) for nth, row in enumerate(rows.iter_rows(named=True), 1)] if rows is not None else []
        )
        documents.append(
            {
                "id": label,
                "infons": {},
                "passages": [
                    {"offset": 0, "infons": {}, "text": text, "sentences": [], "annotations": listed, "relations": []}
                ],
                "relations": [],
            }
        )
    whole = {"source": "", "date": "", "key": "", "infons": {}, "documents": documents}
    with written(path) as stream:
        stream.write(
            (_xml(whole) if path.suffix == ".xml" else json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()
        )
    return losses


def _annotations(frames: Frames) -> pl.DataFrame:
    """Return a row an annotation of BioC: the concepts of a span, and the spans of an option with the same concepts."""
    rows = identifiers(flat(frames)).with_columns(pl.col("class").fill_null(""))
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
