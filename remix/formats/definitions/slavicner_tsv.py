"""SlavicNER: a table a text (begin, end, form, lemma, class, identifier); texts lie in the folder `raw` beside `ner`.

    0	4	Києві	Київ	LOC	GPE-Kiev

Offsets count code points. The identifiers are the same across languages and belong to no knowledge base: they become
IRIs of the corpus. Texts are looked for under the same path with `raw` for `ner` and `.txt` for `.tsv`. A file, or a
folder or zip archive of them. Source: Piskorski, Marcińczuk, Yangarber 2024.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath, PurePosixPath

import polars as pl

from remix.expressions import fill
from remix.files import read_bytes
from remix.formats import Format, SourceFile
from remix.formats.lines import read_lines, refuse_line, split_cells
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally, decode

_COLUMNS = ("begin", "end", "anchor", "lemma", "class", "identifier")
_ENTITY = "https://github.com/SlavicNLP/SlavicNER#"
_ROW = re.compile(rb"[0-9]+\t[0-9]+\t[^\t\n]+\t[^\t\n]*\t(?:PER|LOC|ORG|PRO|EVT)\t[A-Z]+-[^\t\n]*\r?(?:\n|$)")


def _is_slavicner(head: bytes, name: str) -> bool:
    return _ROW.match(head) is not None


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    # A text without a mention has an empty table.
    lines = read_lines(source, tally, lambda _, name: name.endswith(".tsv"))
    files = lines["file"].unique(maintain_order=True)
    short = [file.removeprefix(f"{source.name}/") for file in files] if source.is_collection else list(files)
    names = [str(PurePosixPath(one).with_suffix("")) if source.is_collection else Path(one).stem for one in short]
    documents = pl.DataFrame(
        {"file": files, "name": names, "text": [_text(source, one, tally) for one in short]},
        schema_overrides={"text": pl.String},
    )
    rows = split_cells(lines.filter(pl.col("line") != ""), _COLUMNS)
    number = [pl.col(name).str.contains("^[0-9]{1,15}$").fill_null(False) for name in ("begin", "end")]
    wrong = pl.when((pl.col("count") != len(_COLUMNS)) | ~pl.all_horizontal(number))
    refuse_line(rows, wrong.then(fill("begin, end and {} more columns are expected, not '{}'", pl.lit(4), "line")))
    mentions = rows.join(documents.select("file", "name"), on="file", maintain_order="left")
    linked = pl.when(pl.col("identifier") != "").then(pl.lit(_ENTITY) + pl.col("identifier"))
    return MentionTables(documents, mentions.with_columns(identifier=linked), keep_outside=True, apart=True)


def _text(source: SourceFile, file: str, tally: RepairTally) -> str | None:
    """Return the text of a table, None where there is none."""
    data = source.members.get(_in_raw(PurePosixPath(file)).as_posix())
    place = _in_raw(Path(source.path, file).absolute() if source.is_collection else Path(file).absolute())
    if data is None and Path(place).is_file():
        data = read_bytes(Path(place))
    return None if data is None else decode(data, tally)


def _in_raw(path: PurePath) -> PurePath:
    """Return where the text of a table is: the last folder `ner` is `raw`."""
    parts = [*path.parts]
    if "ner" in parts:
        parts[len(parts) - 1 - parts[::-1].index("ner")] = "raw"
    return type(path)(*parts).with_suffix(".txt")


slavicner_tsv = Format(
    name="slavicner-tsv",
    summary="SlavicNER (a table a text, in a folder or zip; texts in the folder raw beside ner)",
    suffixes=(".tsv",),
    sniff=_is_slavicner,
    read=_read,
    collection=True,
)
