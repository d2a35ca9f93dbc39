"""The XML of MSNBC, ACE2004 and AQUAINT as the Illinois Wikifier ships them: a `ReferenceProblem` a document.

Each problem names a file that has its text, which is looked for among the files of the folder or archive, or beside
the problem and in `RawTexts*` beside its folder. `ChosenAnnotation` is the link, `Annotation` where it is missing;
`*null*`, `none` and `---` are NIL. Sources: Cucerzan 2007, Ratinov et al. 2011, GERBIL's reader.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.identifiers import article
from remix.formats.mends import Mends, decode
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, assemble, flatten, label_documents, span_of
from remix.formats.source import FILE_NAME, write_collection
from remix.formats.xml import escape_text, has_root, parse_elements, replace_illegal
from remix.frames import Frames

_ROOT = "ReferenceProblem"
_FOLDERS = ("RawTexts", "RawText", "RawTextsNoTransliteration")
_NOTHING = ("", "*null*", "none", "---", "null")


_is_problem = has_root(_ROOT)


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    problems = source.files_that(_is_problem)
    texts: dict[str, str | None] = {}
    rows: list[dict[str, Any]] = []
    for file, data in problems.items():
        place = source.place(file)
        name, instances = _problem(data, place, mends)
        texts.setdefault(name, _text(source, problems, name, mends))
        for line, values in instances:
            begin, end = span_of(values, ("Offset", "Length"), place, line)
            said = (texts[name] or "")[max(begin, 0) : max(end, 0)]
            form = values.get("SurfaceForm", "")
            # What the surface form cannot hold, such as outer white space, the offsets do.
            anchor = said if replace_illegal(said).strip() == form else form
            told = {"mention": len(rows), "place": f"{file}, line {line}", "name": name, "begin": begin, "end": end}
            rows.append(told | {"anchor": anchor or None, "identifier": _link(values) or None})
    documents = pl.DataFrame(list(texts.items()), schema=TEXTS, orient="row")
    mentions = pl.DataFrame(rows, schema={**MENTIONS, "identifier": pl.String()})
    links = mentions.select("mention", "identifier").drop_nulls()
    return assemble(MentionTables(documents, mentions, links, mends=mends), dataset)


def _problem(data: bytes, file: str, mends: Mends) -> tuple[str, list[tuple[int, dict[str, str]]]]:
    """Return the name of the text's file, and line and fields of each instance."""
    name, fields, instances = "", dict[str, str](), []
    for element in parse_elements(data, file, mends):
        if element.name == "ReferenceFileName":
            name = PurePosixPath(element.text.strip().replace("\\", "/")).name
        elif element.name == "ReferenceInstance":
            instances.append((element.line, fields))
            fields = {}
        else:
            fields[element.name] = element.text.strip()
    if not name:
        raise BadInput(file, "names no text (ReferenceFileName)")
    return name, instances


def _link(values: dict[str, str]) -> str:
    chosen = values.get("ChosenAnnotation", values.get("Annotation", "")).strip('" ')
    return "" if chosen.lower() in _NOTHING else chosen


def _text(source: SourceFile, problems: dict[str, bytes], name: str, mends: Mends) -> str | None:
    """Return the text of that file name, which lies beside the problems; None where there is none."""
    beside = [f"{above}{folder}/{name}" for above in ("../", "") for folder in _FOLDERS]
    data = source.text_file(name, (*beside, name), problems)
    # The problem itself may have the name of its text.
    return None if data is None or _is_problem(data[: 1 << 16], name) else decode(data, mends)


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, FILE_NAME)
    rows = flatten(frames).with_columns(link=article(pl.col("identifiers").list.first()).fill_null("*null*"))
    instances = rows.group_by("document", maintain_order=True).agg(pl.struct("surface_form", "begin", "end", "link"))
    whole = names.join(instances, on="document", how="left", maintain_order="left").sort("label")
    files: list[tuple[str, bytes]] = []
    for label, text, found in whole.select("label", "text", "surface_form").iter_rows():
        files += [(f"Problems/{label}", _xml(label, found or []).encode()), (f"RawTexts/{label}", text.encode())]
    write_collection(path, files)
    return losses


def _xml(label: str, instances: list[dict[str, Any]]) -> str:
    parts = [
        f"<ReferenceInstance>\n<SurfaceForm>{escape_text(one['surface_form'])}</SurfaceForm>\n"
        f"<Offset>{one['begin']}</Offset>\n<Length>{one['end'] - one['begin']}</Length>\n"
        f"<ChosenAnnotation>{escape_text(one['link'])}</ChosenAnnotation>\n</ReferenceInstance>\n"
        for one in instances
    ]
    name = f"<ReferenceFileName>{escape_text(label)}</ReferenceFileName>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{_ROOT}>\n{name}\n{"".join(parts)}</{_ROOT}>\n'


msnbc_xml = Format(
    name="msnbc-xml",
    summary="The XML of MSNBC, ACE2004 and AQUAINT (a problem and a text a document, in a folder or zip)",
    suffixes=(".xml",),
    sniff=_is_problem,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "unannotated", "nil"}),
    collection=True,
)
