"""The XML of IITB (`CSAW_Annotations.xml`) and of WNED: annotations with title, offset and length, texts beside it.

IITB names the document in each annotation (`docName`), WNED's ACE2004, AQUAINT, MSNBC, ClueWeb and Wikipedia have
`<document docName="…">` around those of a document. Texts are files of that name in the folder or archive, or beside
the XML: in `crawledDocs`, `RawText` or where it is. An empty title, or `NIL`, is NIL. Several annotators of IITB give
several annotations on one span, which are alternatives. Sources: Kulkarni et al. 2009, Guo and Barbosa 2018.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.identifiers import title, title_url
from remix.formats.mends import Mends, decode
from remix.formats.mentions import (
    LINKS,
    MENTIONS,
    TEXTS,
    MentionTables,
    assemble,
    flatten_labelled,
    label_documents,
    span_of,
)
from remix.formats.source import FILE_NAME, write_collection
from remix.formats.xml import escape_text, parse_elements, root_of
from remix.frames import Frames

_ROOT = "iitb.CSAW.entityAnnotations"
_FOLDERS = ("crawledDocs", "RawText", "RawTexts", "")


def _is_iitb(head: bytes, name: str) -> bool:
    return root_of(head).lower().endswith((".entityannotation", ".entityannotations"))


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    files = source.files_that(_is_iitb)
    rows: list[dict[str, Any]] = []
    names: list[str] = []
    for file, data in files.items():
        found, documents = _annotations(data, source.place(file), mends)
        rows += [row | {"place": f"{file}, line {row['line']}"} for row in found]
        names += documents
    texts_of = (file for file in source.members if PurePosixPath(file).parent.name in _FOLDERS[:-1])
    names += [PurePosixPath(file).name for file in texts_of if file not in files]
    names = list(dict.fromkeys([*names, *(row["name"] for row in rows)]))
    schema = {key: kind for key, kind in MENTIONS.items() if key in ("place", "name", "begin", "end", "anchor")}
    table = pl.DataFrame(rows, schema={**schema, "identifier": pl.String()}).with_row_index("mention")
    named = table.filter(pl.col("identifier") != "").with_columns(identifier=title_url(pl.col("identifier")))
    found_texts = [(name, _text(source, files, name, mends)) for name in names]
    texts = pl.DataFrame(found_texts, schema=TEXTS, orient="row")
    return assemble(MentionTables(texts, table, named.select(list(LINKS)), mends=mends), dataset)


def _annotations(data: bytes, file: str, mends: Mends) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the annotations of a file, and the documents that it names around them."""
    rows: list[dict[str, Any]] = []
    documents: list[str] = []
    fields: dict[str, str] = {}
    pending = 0
    for element in parse_elements(data, file, mends):
        if element.name == "annotation":
            rows.append(_annotation(fields, file, element.line))
            fields = {}
        elif element.name == "document" and "docName" in element.attributes:
            documents.append(PurePosixPath(element.attributes["docName"]).name)
            for row in rows[pending:]:
                row["name"] = row["name"] or documents[-1]
            pending = len(rows)
        else:
            fields[element.name] = element.text.strip()
    unnamed = next((row for row in rows if not row["name"]), None)
    if unnamed is not None:
        raise BadInput(file, "an annotation names no document (docName)", line=unnamed["line"])
    return rows, documents


def _annotation(fields: dict[str, str], file: str, line: int) -> dict[str, Any]:
    begin, end = span_of(fields, ("offset", "length"), file, line)
    return {
        "line": line,
        "name": PurePosixPath(fields.get("docName", "")).name,
        "begin": begin,
        "end": end,
        "anchor": fields.get("mention") or None,
        "identifier": fields.get("wikiName", ""),
    }


def _text(source: SourceFile, files: dict[str, bytes], name: str, mends: Mends) -> str | None:
    """Return the text of a document, None where there is none."""
    data = source.text_file(name, (f"{folder}/{name}" if folder else name for folder in _FOLDERS), files)
    return None if data is None else decode(data, mends)


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, FILE_NAME)
    rows = flatten_labelled(frames, names)
    rows = rows.with_columns(link=title(pl.col("identifiers").list.first()))
    is_iri = pl.col("identifiers").list.first().str.contains(r"^https?://").fill_null(True)
    plain = rows.filter(title_url(pl.col("link")).str.contains("^http://en.wikipedia"), ~is_iri)
    if plain.height:
        losses += (Loss("identifiers", plain.height, str(plain["link"][0])),)
    xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<{_ROOT}>\n{"".join(map(_xml, rows.to_dicts()))}</{_ROOT}>\n'
    texts = names.sort("label").select("label", "text").iter_rows()
    members = [(f"crawledDocs/{label}", text.encode()) for label, text in texts]
    write_collection(path, [("CSAW_Annotations.xml", xml.encode()), *members])
    return losses


def _xml(row: dict[str, Any]) -> str:
    name, link = escape_text(row["label"]), escape_text(row["link"] or "")
    return (
        f"<annotation>\n<docName>{name}</docName>\n<wikiName>{link}</wikiName>\n"
        f"<offset>{row['begin']}</offset>\n<length>{row['end'] - row['begin']}</length>\n</annotation>\n"
    )


iitb_xml = Format(
    name="iitb-xml",
    summary="The XML of IITB and WNED (annotations and texts, in a folder or zip)",
    suffixes=(".xml",),
    sniff=_is_iitb,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "unannotated", "nil"}),
    collection=True,
)
