"""Simple JSON Lines: a mention a line, as `{"document": …, "begin": 0, "end": 5, "entity": …}`.

Further fields of a mention: `entity` may be a list (any of them is right) or null (NIL), `surface_form`, `confidence`,
`candidates` (a list of entities, or of `{"entity": …, "score": …}`), `class` (or a list of them), `cluster` (the name
of an entity that is in no knowledge base), `ignorable`, `group` and `option` (a group counts once, by any of its
options, whose mentions are all required). A line without `begin` and `end` tells a `text`, also one without mentions;
texts may be missing, and may stand on the line of a mention. Offsets are code points, end exclusive. Other names of
the fields that are read: `remix.formats.tables.FIELDS`.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.files import written
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.identifiers import group_alternatives
from remix.formats.json import json_lines, json_text, tell_misspelt
from remix.formats.losses import EVERYTHING
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble, flatten_labelled, label_documents
from remix.formats.tables import FIELDS, parse_rows
from remix.frames import Frames

_MORE = ("text", "candidates", "cluster", "ignorable", "group", "option", "language")
_NAMES = [name for names in FIELDS for name in names]
_BLOCK = 1 << 20
_BLANK = re.compile(rb"\n[\n\r\t ]")
_ESCAPED = [f"\\u00{digit}" for digit in range(2, 8)]
"""How an ASCII letter begins that is written as its number, as JSON allows in names of fields, too."""


def _is_jsonl(head: bytes, name: str) -> bool:
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    if len(head) >= 1 << 16 and len(head.splitlines()) <= 20:
        cut = lines.pop()
        if not lines:
            return re.match(rb'\s*\{"document"\s*:\s*"[^"]*"\s*,\s*"text"', cut) is not None
    # A line that is broken further down is for the reader to name.
    return bool(lines) and _fits(lines[0]) is True and False not in map(_fits, lines)


def _fits(line: bytes) -> bool | None:
    """Return whether a line is a mention or a text of this format, None for what is no JSON."""
    try:
        row = json.loads(line.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not any(one in row for one in FIELDS[0]):
        return False
    spans = any(one in row for one in FIELDS[1]) and any(one in row for one in FIELDS[2])
    return spans or ("text" in row and set(row) <= {*FIELDS[0], "text", "language"})


def _read(source: SourceFile, dataset: str) -> Contents:
    content = source.read()
    mends = Mends()
    text = json_text(content, mends)
    data = text.encode() if mends.counts else content.removeprefix(BOM_UTF8)
    rows = _rows(source, data, fields_in(text))
    texts = rows.filter(pl.col("text").is_not_null()).select(name="document", text="text", language="language")
    texts = texts.unique("name", keep="first", maintain_order=True)
    listed = parse_rows(source.name, rows.filter(pl.col("begin").is_not_null() | pl.col("end").is_not_null()), mends)
    names = pl.concat([texts.select("name"), listed.select(name="document")]).unique(maintain_order=True)
    mentions = listed.rename({"line": "mention", "document": "name", "surface_form": "anchor"})
    tell_misspelt(text, (*_NAMES, *_MORE), mends)
    read = MentionTables(
        documents=names.join(texts, on="name", how="left", maintain_order="left"),
        mentions=mentions.drop("class"),
        classes=_lists(source, listed, "class").select("mention", **{"class": "value"}),
        links=_lists(source, listed, "entity").select("mention", identifier="value"),
        candidates=_candidates(source, listed),
        mends=mends,
    )
    return assemble(read, dataset)


def _rows(source: SourceFile, content: bytes, said: list[str]) -> pl.DataFrame:
    rows = json_lines(source.name, content, dict.fromkeys(said, pl.String()), "a mention")
    line = pl.int_range(pl.len(), dtype=pl.Int64) + 1
    # Lines that are blank are none for the parser.
    if content[:1].isspace() or _BLANK.search(content):
        filled = [number for number, text in enumerate(content.split(b"\n"), 1) if text.strip()]
        line = pl.lit(pl.Series(filled, dtype=pl.Int64).head(rows.height))
    told = {name for name in said if rows[name].null_count() < rows.height}
    none = pl.lit(None, pl.String)
    fields = [pl.coalesce([one for one in names if one in told] or none).alias(names[0]) for names in FIELDS]
    more = [pl.col(name) if name in told else none.alias(name) for name in _MORE]
    return rows.select(line.alias("line"), *fields, *more)


def fields_in(text: str, block: int = _BLOCK) -> list[str]:
    """Return the fields that a line may have: those met in the first block, or all where any other is met later.

    A field that no line has takes as long to read as one that all have.
    """
    every = [*_NAMES, *_MORE]
    head = text[:block]
    met = [name for name in every if f'"{name}"' in head]
    others = [*(f'"{name}"' for name in every if name not in met), *_ESCAPED]
    # Each block reaches into the next as far as a name may.
    blocks = (pl.Series([text[at : at + block + 32]]) for at in range(0, len(text), block))
    return met if met and not any(block.str.contains_any(others).item() for block in blocks) else every


def _lists(source: SourceFile, rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return mention and value: a row for each element of a field that is a text or a list of texts."""
    said = rows.select("line", value=column).drop_nulls()
    listed = pl.col("value").str.starts_with("[")
    expected = f"{column} is a text or a list of texts"
    several, texts = _decode_json(source, said.filter(listed), pl.List(pl.String), expected)
    parts = [said.filter(~listed), texts, several.explode("value").drop_nulls()]
    return pl.concat(parts).rename({"line": "mention"}).sort("mention", maintain_order=True)


def _decode_json(
    source: SourceFile, said: pl.DataFrame, shape: pl.DataType, expected: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows (line, value) whose value is JSON, decoded, and those whose value is a text that begins alike."""

    def decoded(rows: pl.DataFrame) -> pl.DataFrame | None:
        try:
            return rows.with_columns(pl.col("value").str.json_decode(shape))
        except pl.exceptions.PolarsError:
            return None

    if (every := decoded(said)) is not None:
        return every, said.clear()
    is_json = pl.Series([_is_json(value) for value in said["value"]], dtype=pl.Boolean)
    lists = said.filter(is_json)
    if (several := decoded(lists)) is not None:
        return several, said.filter(~is_json)
    line, value = next(row for row in lists.iter_slices(1) if decoded(row) is None).row(0)
    raise BadInput(source.name, f"{expected}, not {value[:80]}", line=line)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _candidates(source: SourceFile, rows: pl.DataFrame) -> pl.DataFrame:
    said = rows.select("line", value="candidates").drop_nulls()
    scored = pl.col("value").str.contains(r"^\[\s*\{")
    plain = _lists(source, said.filter(~scored).rename({"value": "candidates"}), "candidates")
    shape = pl.List(pl.Struct({"entity": pl.String, "score": pl.Float64}))
    pairs, texts = _decode_json(source, said.filter(scored), shape, 'candidates are [{"entity": …, "score": …}, …]')
    pairs = pairs.explode("value").unnest("value").select(mention="line", identifier="entity", score="score")
    single = pl.concat([plain, texts.rename({"line": "mention"})]).rename({"value": "identifier"})
    return pl.concat([single, pairs], how="diagonal").drop_nulls("identifier")


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, r"^[^\x00]+$")
    texts = names.sort("label")
    rows = flatten_labelled(frames, names)
    rows = rows.drop("group", "option").join(_alternatives(frames.annotations), on="annotation", maintain_order="left")
    scored = frames.candidates.group_by("annotation", maintain_order=True).agg(candidates=pl.struct("entity", "score"))
    rows = rows.join(scored, on="annotation", how="left", maintain_order="left")
    fields = ["begin", "end", "surface_form", "confidence", "class", "cluster", "ignorable", "group", "option"]
    with written(path) as stream:
        for line in (
            pl.struct(pl.col("label").alias("document"), "text", "language"),
            pl.struct(pl.col("label").alias("document"), *fields, pl.col("identifiers").alias("entity"), "candidates"),
        ):
            table = texts if stream.tell() == 0 else rows
            said = table.select(line.struct.json_encode()).to_series()
            # What is null need not be said; a quote within a text is escaped.
            said = said.str.replace_all(r',"[a-z_]+":null', "")
            stream.writelines(f"{one}\n".encode() for one in said)
    return losses


def _alternatives(annotations: pl.DataFrame) -> pl.DataFrame:
    """Return annotation, ignorable, and group and option where reading would not find them out by the spans."""
    none = pl.lit(None, pl.String)
    usual = group_alternatives(annotations.with_columns(group=none, option=none)).select(
        "annotation", "group", "option"
    )
    both = annotations.join(usual, on="annotation", maintain_order="left", suffix="_usual")
    other = (pl.col("group") != pl.col("group_usual")) | (pl.col("option") != pl.col("option_usual"))
    told = other.any().over("group")
    names = (pl.when(told).then(pl.col(one).str.extract(r"([^/]*)$")).alias(one) for one in ("group", "option"))
    return both.select("annotation", "ignorable", *names)


jsonl = Format(
    name="jsonl",
    summary="simple JSON Lines, a mention a line: document, begin, end, entity, confidence, candidates",
    suffixes=(".jsonl", ".ndjson"),
    sniff=_is_jsonl,
    read=_read,
    write=_write,
    holds=EVERYTHING - {"dangling", "entity-classes", "further-classes", "layers", "regions", "values", "sources"},
)
