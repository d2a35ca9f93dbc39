"""Simple JSON Lines: a mention a line, as `{"document": …, "begin": 0, "end": 5, "entity": …}`.

Further fields of a mention: `entity` may be a list (any of them is right) or null (NIL), `surface_form`, `confidence`,
`candidates` (a list of entities, or of `{"entity": …, "score": …}`), `class` (or a list of them), `cluster` (the name
of an entity that is in no knowledge base), `ignorable`, `group` and `option` (a group counts once, by any of its
options, whose mentions are all required). A line without `begin` and `end` tells a `text`, also one without mentions;
texts may be missing, and may stand on the line of a mention. A mention without offsets has a surface form or an entity.
Offsets are code points, end exclusive. `datasets/formats/jsonl.toml` has other names of the fields that are read.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from remix.files import write_whole
from remix.formats import Loss
from remix.formats.identifiers import usual_groups
from remix.formats.losses import EVERYTHING
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import format_of
from remix.formats.source import is_cut
from remix.formats.writing import lay_out
from remix.frames import Frames

_MAPPING = shipped_mapping("jsonl")
_DOCUMENT, _BEGIN, _END = (
    _MAPPING.document.name,
    *([path.said for path in paths] for paths in (_MAPPING.mention[0].begin, _MAPPING.mention[0].end)),
)


def _is_jsonl(head: bytes, name: str) -> bool:
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    if is_cut(head) and len(head.splitlines()) <= 20:
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
    if not isinstance(row, dict) or not any(one in row for one in _DOCUMENT):
        return False
    spans = any(one in row for one in _BEGIN) and any(one in row for one in _END)
    return spans or ("text" in row and set(row) <= {*_DOCUMENT, "text", "language"})


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, r"^[^\x00]+$")
    name = pl.col("label").alias("document")
    texts = names.select(name, "text", "language")
    # A mention that has no place is told by what it links to, also where that is nothing.
    nothing = pl.when(pl.col("begin").is_null()).then(pl.lit([], pl.List(pl.String)))
    rows = rows.with_columns(pl.coalesce("identifiers", nothing).alias("identifiers"))
    rows = rows.drop("group", "option").join(_alternatives(frames.annotations), on="annotation", maintain_order="left")
    scored = frames.candidates.group_by("annotation", maintain_order=True).agg(candidates=pl.struct("entity", "score"))
    rows = rows.join(scored, on="annotation", how="left", maintain_order="left")
    fields = ["begin", "end", "surface_form", "confidence", "class", "cluster", "ignorable", "group", "option"]
    rows = rows.select(name, *fields, pl.col("identifiers").alias("entity"), "candidates")
    with write_whole(path) as stream:
        for table in (texts, rows):
            said = table.select(pl.struct(pl.all()).struct.json_encode()).to_series()
            # What is null need not be said; a quote within a text is escaped.
            said = said.str.replace_all(r',"[a-z_]+":null', "")
            stream.writelines(f"{one}\n".encode() for one in said)
    return losses


def _alternatives(annotations: pl.DataFrame) -> pl.DataFrame:
    """Return annotation, ignorable, and group and option where reading would not find them out by the spans."""
    usual = usual_groups(annotations).select("annotation", "group", "option")
    both = annotations.join(usual, on="annotation", maintain_order="left", suffix="_usual")
    other = (pl.col("group") != pl.col("group_usual")) | (pl.col("option") != pl.col("option_usual"))
    told = other.any().over("group")
    names = (pl.when(told).then(pl.col(one).str.extract(r"([^/]*)$")).alias(one) for one in ("group", "option"))
    return both.select("annotation", "ignorable", *names)


jsonl = format_of(
    _MAPPING,
    sniff=_is_jsonl,
    write=_write,
    holds=EVERYTHING - {"dangling", "entity-classes", "further-classes", "layers", "regions", "values", "sources"},
)
