"""Knowtator's XML, as CRAFT has it: a file for the annotations of a text, which lies elsewhere.

`<annotation>` has the id of a `<mention>`, one or more `<span>`s and the `<spannedText>`, the parts of which ` ... `
joins; `<classMention>` of that id has the concept, a CURIE of an ontology of the OBO Foundry. A mention without is
NIL. Texts are looked for under their name (`textSource`) in the folder or archive, beside the file, and in
`articles/txt` of the folders around, where CRAFT has them. Files of several ontologies on one text are mentions of
one document; two on one span are two mentions. Source: the README of CRAFT 5; Knowtator (Ogren 2006).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Format, SourceFile
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, number_parts, numbers_in, reader
from remix.formats.repairs import RepairTally, find_text
from remix.formats.xml import Element, has_root, parse_tree

_OBO = "http://purl.obolibrary.org/obo/"
_JOINED = " ... "
_ABOVE = 6
"""How many folders up the texts are looked for."""
_SPANS = {**MENTIONS, "file": pl.String(), "id": pl.String(), "of": pl.Int64()}
_CONCEPTS = {"file": pl.String(), "id": pl.String(), "identifier": pl.String()}


_is_knowtator = has_root("annotations", rb"<annotations\b[^>]*\btextSource=")


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    files = source.files_that(_is_knowtator)
    spans: list[dict[str, Any]] = []
    concepts: list[tuple[str, str, str]] = []
    texts: dict[str, str | None] = {}
    for file, data in files.items():
        root = parse_tree(data, source.place(file), tally)
        name = PurePosixPath(root.get("textSource", "")).name
        if not name:
            raise BadInput(source.place(file), "names no text (<annotations textSource=…>)")
        if name not in texts:
            beside = (name, *(f"{'../' * up}articles/txt/{name}" for up in range(_ABOVE)))
            texts[name] = find_text(source, name, beside, files, tally)
        where = f"{file}, " if source.is_collection else ""
        for number, one in enumerate(root.every("annotation")):
            told = {"file": file, "name": name, "place": f"{where}line {one.line}", "of": number}
            spans += [told | span for span in _spans(one, source.place(file))]
        for one in root.every("classMention"):
            concepts += [(file, one.get("id", ""), said.get("id", "")) for said in one.every("mentionClass")]
    mentions = number_parts(pl.DataFrame(spans, schema=_SPANS), "file", "of")
    named = pl.DataFrame(concepts, schema=_CONCEPTS, orient="row").with_columns(
        pl.col("identifier").str.replace(r"^([A-Za-z_]+):([^/\s]+)$", f"{_OBO}${{1}}_${{2}}")
    )
    links = mentions.select("mention", "file", "id").join(named, on=["file", "id"], maintain_order="left")
    documents = pl.DataFrame(list(texts.items()), schema=TEXTS, orient="row")
    return MentionTables(documents, mentions, links, keep_outside=True, apart=True)


def _spans(annotation: Element, file: str) -> list[dict[str, Any]]:
    """Return id, begin, end and anchor of the spans of an annotation."""
    mention, text = annotation.find("mention"), annotation.fields().get("spannedText")
    ends = [numbers_in(span.attrib, ("start", "end"), file, span.line) for span in annotation.every("span")]
    anchors = [text] if len(ends) == 1 else (text or "").split(_JOINED)
    # A text of another number of parts says nothing of each.
    said = anchors if len(anchors) == len(ends) else [None] * len(ends)
    name = None if mention is None else mention.get("id")
    return [{"id": name, "begin": b, "end": e, "anchor": one} for (b, e), one in zip(ends, said, strict=True)]


knowtator_xml = Format(
    name="knowtator-xml",
    summary="Knowtator's XML, as in CRAFT (a file a text, texts beside it, in a folder or zip)",
    suffixes=(".xml",),
    sniff=_is_knowtator,
    read=_read,
    collection=True,
)
