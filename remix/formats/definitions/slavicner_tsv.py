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

from remix.files import read_bytes
from remix.formats import Contents, Format, SourceFile
from remix.formats.mends import Mends, decode
from remix.formats.mentions import MentionTables, assemble
from remix.formats.tables import numbered_lines

_ENTITY = "https://github.com/SlavicNLP/SlavicNER#"
_ROW = re.compile(rb"[0-9]+\t[0-9]+\t[^\t\n]+\t[^\t\n]*\t(?:PER|LOC|ORG|PRO|EVT)\t[A-Z]+-[^\t\n]*\r?(?:\n|$)")


def _is_slavicner(head: bytes, name: str) -> bool:
    return _ROW.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    files = source.files
    if source.is_collection:  # a text without a mention has an empty table
        files = {name: data for name, data in files.items() if name.endswith(".tsv")}
    tables, texts = [], {}
    for file, data in files.items():
        name = str(PurePosixPath(file).with_suffix("")) if source.is_collection else Path(file).stem
        texts[name] = _text(source, file, mends)
        where = f"{file}, line " if source.is_collection else "line "
        lines = numbered_lines(decode(data, mends)).filter(pl.col("line") != "")
        tables.append(lines.with_columns(name=pl.lit(name), place=pl.lit(where) + pl.col("row").cast(pl.String)))
    cells = pl.col("line").str.split("\t").list
    begin, end, anchor, _, kind, identifier = (cells.get(number, null_on_oob=True) for number in range(6))
    mentions = pl.concat(tables).select(
        "name",
        "place",
        begin.cast(pl.Int64, strict=False).alias("begin"),
        end.cast(pl.Int64, strict=False).alias("end"),
        anchor.alias("anchor"),
        kind.alias("class"),
        identifier.alias("identifier"),
        mention=pl.int_range(pl.len(), dtype=pl.Int64),
    )
    links = (
        mentions.filter(pl.col("identifier") != "")
        .with_columns(identifier=_ENTITY + pl.col("identifier"))
        .select("mention", "identifier")
    )
    documents = pl.DataFrame({"name": list(texts), "text": list(texts.values())}, schema_overrides={"text": pl.String})
    found = MentionTables(documents, mentions.drop("identifier"), links, mends=mends)
    return assemble(found, dataset)


def _text(source: SourceFile, file: str, mends: Mends) -> str | None:
    """Return the text of a table, None where there is none."""
    data = source.members.get(_in_raw(PurePosixPath(file)).as_posix())
    place = _in_raw(Path(source.path, file).absolute() if source.is_collection else Path(file).absolute())
    if data is None and Path(place).is_file():
        data = read_bytes(Path(place))
    return None if data is None else decode(data, mends)


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
