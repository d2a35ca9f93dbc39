"""Knowtator's XML, as CRAFT has it: a file for the annotations of a text, which lies elsewhere.

`<annotation>` has the id of a `<mention>`, one or more `<span>`s and the `<spannedText>`, the parts of which ` ... `
joins; `<classMention>` of that id has the concept, a CURIE of an ontology of the OBO Foundry. A mention without is
NIL. Texts are looked for under their name (`textSource`) in the folder or archive, beside the file, and in
`articles/txt` of the folders around, where CRAFT has them. Files of several ontologies on one text are mentions of
one document; two on one span are two mentions. Source: the README of CRAFT 5; Knowtator (Ogren 2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Contents, Format, SourceFile
from remix.formats.identifiers import separate_mentions
from remix.formats.mends import Mends, decode
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, assemble, whole_number
from remix.formats.xml import Element, has_root, parse_elements

_OBO = "http://purl.obolibrary.org/obo/"
_JOINED = " ... "
_ABOVE = 6
"""How many folders up the texts are looked for."""
_PLACE = {name: MENTIONS[name] for name in ("place", "name", "begin", "end", "anchor")}
_SPANS = {"file": pl.String(), "id": pl.String(), **_PLACE, "of": pl.Int64()}
_CONCEPTS = {"file": pl.String(), "id": pl.String(), "identifier": pl.String()}


_is_knowtator = has_root("annotations", rb"<annotations\b[^>]*\btextSource=")


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    files = source.files_that(_is_knowtator)
    spans: list[dict[str, Any]] = []
    concepts: list[tuple[str, str, str]] = []
    texts: dict[str, str | None] = {}
    for file, data in files.items():
        elements = parse_elements(data, source.place(file), mends)
        name = PurePosixPath(elements[-1].attributes.get("textSource", "")).name
        if not name:
            raise BadInput(source.place(file), "names no text (<annotations textSource=…>)")
        if name not in texts:
            beside = (name, *(f"{'../' * up}articles/txt/{name}" for up in range(_ABOVE)))
            text = source.text_file(name, beside, files)
            texts[name] = None if text is None else decode(text, mends)
        where = f"{file}, " if source.is_collection else ""
        for number, (line, fields, parts) in enumerate(_annotations(elements, source.place(file))):
            place = f"{where}line {line}"
            told = {"file": file, "id": fields.get("mention"), "place": place, "name": name, "of": number}
            anchors = _anchors(fields.get("spannedText"), len(parts))
            spans += [told | {"begin": b, "end": e, "anchor": one} for (b, e), one in zip(parts, anchors, strict=True)]
        concepts += [(file, one, concept) for one, concept in _concepts(elements)]
    mentions = _mentions(pl.DataFrame(spans, schema=_SPANS))
    named = pl.DataFrame(concepts, schema=_CONCEPTS, orient="row").with_columns(
        pl.col("identifier").str.replace(r"^([A-Za-z_]+):([^/\s]+)$", f"{_OBO}${{1}}_${{2}}")
    )
    links = mentions.select("mention", "file", "id").join(named, on=["file", "id"], maintain_order="left")
    documents = pl.DataFrame(list(texts.items()), schema=TEXTS, orient="row")
    return assemble(MentionTables(documents, mentions, links, mends=mends), dataset)


def _annotations(elements: list[Element], file: str) -> Iterator[tuple[int, dict[str, str], list[tuple[int, int]]]]:
    """Yield line, fields and spans of the annotations of a file."""
    fields, spans = dict[str, str](), list[tuple[int, int]]()
    for element in elements:
        if element.name == "annotation":
            yield element.line, fields, spans
            fields, spans = {}, []
        elif element.parent == "annotation" and element.name == "span":
            begin, end = (whole_number(element.attributes.get(name)) for name in ("start", "end"))
            if begin is None or end is None:
                raise BadInput(
                    file, f"start and end of a span are numbers, not {element.attributes}", line=element.line
                )
            spans.append((begin, end))
        elif element.parent == "annotation":
            fields[element.name] = element.attributes.get("id", element.text)


def _concepts(elements: list[Element]) -> Iterator[tuple[str, str]]:
    """Yield id and concept of the mentions that have one."""
    concept = None
    for element in elements:
        if element.name == "mentionClass":
            concept = element.attributes.get("id")
        elif element.name == "classMention" and concept:
            yield element.attributes.get("id", ""), concept
            concept = None


def _anchors(text: str | None, several: int) -> list[str | None]:
    """Return what the text says of so many parts, nothing of each where it says something of another number."""
    said: list[str | None] = [text] if several == 1 else [*(text or "").split(_JOINED)]
    return said if len(said) == several else [None] * several


def _mentions(spans: pl.DataFrame) -> pl.DataFrame:
    """Return the spans as mentions: those of one annotation are parts, those on one span no alternatives."""
    rows = spans.with_row_index("mention").cast({"mention": pl.Int64})
    parts = pl.when(pl.len().over("file", "of") > 1).then(pl.col("mention").first().over("file", "of"))
    return separate_mentions(rows.with_columns(part_of=parts))


knowtator_xml = Format(
    name="knowtator-xml",
    summary="Knowtator's XML, as in CRAFT (a file a text, texts beside it, in a folder or zip)",
    suffixes=(".xml",),
    sniff=_is_knowtator,
    read=_read,
    collection=True,
)
