"""The XML of IITB (`CSAW_Annotations.xml`) and of WNED: annotations with title, offset and length, texts beside it.

IITB names the document in each annotation (`docName`), WNED's ACE2004, AQUAINT, MSNBC, ClueWeb and Wikipedia have
`<document docName="…">` around those of a document. Texts are files of that name in the folder or archive, or beside
the XML: in `crawledDocs`, `RawText` or where it is. A document is what the XML names, in a folder as beside a single
file: IITB has more texts than it annotates, which are told; a document without annotations is written as WNED's. An
empty title, or `NIL`, is NIL. Several annotators of IITB give several annotations on one span, which are alternatives.
Sources: Kulkarni et al. 2009, Guo and Barbosa 2018.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Format, Loss, SourceFile
from remix.formats.identifiers import title, title_url
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, numbers_in, reader
from remix.formats.repairs import RepairTally, find_text
from remix.formats.source import FILE_NAME, write_collection
from remix.formats.writing import lay_out
from remix.formats.xml import escape_text, parse_tree, root_of
from remix.frames import Frames

_ROOT = "iitb.CSAW.entityAnnotations"
_FOLDERS = ("crawledDocs", "RawText", "RawTexts", "")


def _is_iitb(head: bytes, name: str) -> bool:
    return root_of(head).lower().endswith((".entityannotation", ".entityannotations"))


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    files = source.files_that(_is_iitb)
    rows: list[dict[str, Any]] = []
    names: list[str] = []
    for file, data in files.items():
        found, documents = _annotations(data, source.place(file), tally)
        rows += [row | {"place": f"{file}, line {row['line']}"} for row in found]
        names += documents
    texts_of = (file for file in source.members if PurePosixPath(file).parent.name in _FOLDERS[:-1])
    names = list(dict.fromkeys([*names, *(row["name"] for row in rows)]))
    unnamed = pl.DataFrame(
        {"text": [one for one in texts_of if one not in files and PurePosixPath(one).name not in names]}
    )
    tally.add_rows("unread", unnamed, "{text} is of no document that the XML names")
    table = pl.DataFrame(rows, schema=MENTIONS)
    linked = pl.when(pl.col("identifier") != "").then(title_url(pl.col("identifier")))
    places = {name: [str(PurePosixPath(folder, name)) for folder in _FOLDERS] for name in names}
    texts = [(name, find_text(source, name, beside, files, tally)) for name, beside in places.items()]
    return MentionTables(
        pl.DataFrame(texts, schema=TEXTS, orient="row"), table.with_columns(identifier=linked), keep_outside=True
    )


def _annotations(data: bytes, file: str, tally: RepairTally) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the annotations of a file, and the documents that it names around them."""
    root = parse_tree(data, file, tally)
    documents = [
        (PurePosixPath(one.attrib["docName"]).name, one) for one in root.every("document") if "docName" in one.attrib
    ]
    around = {annotation: name for name, one in documents for annotation in one.every("annotation")}
    rows: list[dict[str, Any]] = []
    for one in root.every("annotation"):
        fields = {key: said.strip() for key, said in one.fields().items()}
        begin, length = numbers_in(fields, ("offset", "length"), file, one.line)
        name = PurePosixPath(fields.get("docName", "")).name or around.get(one)
        if not name:
            raise BadInput(file, "an annotation names no document (docName)", line=one.line)
        said = {"anchor": fields.get("mention") or None, "identifier": fields.get("wikiName", "")}
        rows.append({"line": one.line, "name": name, "begin": begin, "end": begin + length, **said})
    return rows, [name for name, _ in documents]


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, FILE_NAME)
    rows = rows.with_columns(link=title(pl.col("identifiers").list.first()))
    is_iri = pl.col("identifiers").list.first().str.contains(r"^https?://").fill_null(True)
    plain = rows.filter(title_url(pl.col("link")).str.contains("^http://en.wikipedia"), ~is_iri)
    if plain.height:
        losses += (Loss("identifiers", plain.height, str(plain["link"][0])),)
    silent = names.filter(~pl.col("label").is_in(rows["label"].implode()))["label"]
    body = "".join(f'<document docName="{escape_text(label).replace(chr(34), "&quot;")}"/>\n' for label in silent)
    body += "".join(map(_xml, rows.to_dicts()))
    xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<{_ROOT}>\n{body}</{_ROOT}>\n'
    texts = names.select("label", "text").iter_rows()
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
