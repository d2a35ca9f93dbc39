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
from remix.formats import Format, Loss, SourceFile
from remix.formats.identifiers import article
from remix.formats.mentions import MENTIONS, TEXTS, MentionTables, numbers_in, reader
from remix.formats.repairs import RepairTally, find_text
from remix.formats.source import FILE_NAME, begin_of, write_collection
from remix.formats.writing import gather, lay_out
from remix.formats.xml import escape_text, has_root, parse_tree, replace_illegal
from remix.frames import Frames

_ROOT = "ReferenceProblem"
_FOLDERS = ("RawTexts", "RawText", "RawTextsNoTransliteration")
_NOTHING = ("", "*null*", "none", "---", "null")


_is_problem = has_root(_ROOT)


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    problems = source.files_that(_is_problem)
    texts: dict[str, str | None] = {}
    rows: list[dict[str, Any]] = []
    for file, data in problems.items():
        root = parse_tree(data, source.place(file), tally)
        name = PurePosixPath(root.fields().get("ReferenceFileName", "").strip().replace("\\", "/")).name
        if not name:
            raise BadInput(source.place(file), "names no text (ReferenceFileName)")
        if name not in texts:
            beside = [f"{above}{folder}/{name}" for above in ("../", "") for folder in _FOLDERS]
            text = find_text(source, name, (*beside, name), problems, tally)
            texts[name] = None if text is None or _is_problem(begin_of(text.encode()), name) else text
        for one in root.every("ReferenceInstance"):
            values = {key: said.strip() for key, said in one.fields().items()}
            begin, length = numbers_in(values, ("Offset", "Length"), source.place(file), one.line)
            end = begin + length
            said = (texts[name] or "")[max(begin, 0) : max(end, 0)]
            form = values.get("SurfaceForm", "")
            # What the surface form cannot hold, such as outer white space, the offsets do.
            anchor = said if replace_illegal(said).strip() == form else form
            told = {"place": f"{file}, line {one.line}", "name": name, "begin": begin, "end": end}
            rows.append(told | {"anchor": anchor or None, "identifier": _link(values) or None})
    documents = pl.DataFrame(list(texts.items()), schema=TEXTS, orient="row")
    return MentionTables(documents, pl.DataFrame(rows, schema=MENTIONS), keep_outside=True)


def _link(values: dict[str, str]) -> str:
    chosen = values.get("ChosenAnnotation", values.get("Annotation", "")).strip('" ')
    return "" if chosen.lower() in _NOTHING else chosen


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, FILE_NAME)
    rows = rows.with_columns(link=article(pl.col("identifiers").list.first()).fill_null("*null*"))
    whole = gather(names, rows, instances=pl.struct("surface_form", "begin", "end", "link"))
    files: list[tuple[str, bytes]] = []
    for label, text, found in whole.select("label", "text", "instances").iter_rows():
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
