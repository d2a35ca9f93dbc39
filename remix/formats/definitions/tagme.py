"""Answers of TagMe and WAT: the JSON of their web services, one answer a file or one a line.

An answer is `{"annotations": [{"start": 0, "end": 5, "spot": …, "title": …, "rho": …}], "lang": "en"}`; `rho` is the
confidence, `title` an article of the Wikipedia of that language. The services repeat neither the text nor its name: a
line may have them as `text` and `document`, otherwise the document is called by its place in the file (a single answer
by the file), offsets are taken as they are, and gold gives the text. Offsets are code points, end exclusive.
Source: documentation of the TagMe API and of the WAT API (SoBigData).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from remix.files import write_whole
from remix.formats import Loss
from remix.formats.losses import loss_of
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import format_of
from remix.formats.writing import gather, lay_out
from remix.frames import Frames

_WIKIPEDIA = r"^http://(?:([a-z-]+)\.)?dbpedia\.org/resource/"


def _is_tagme(head: bytes, name: str) -> bool:
    if not head.startswith(b"{") or b'"passages"' in head or re.search(rb'"annotations"\s*:\s*\[', head) is None:
        return False
    return re.search(rb'"(spot|rho|api|lang|timestamp)"\s*:|"annotations"\s*:\s*\[\s*\]', head) is not None


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, rows, losses = lay_out(frames, r"^[^\x00]+$")
    linked = frames.links.unique("annotation", keep="first", maintain_order=True)
    linked = linked.select("annotation", canonical="entity")
    rows = rows.join(linked, on="annotation", how="left", maintain_order="left")
    edition = pl.coalesce(pl.col("canonical").str.extract(_WIKIPEDIA, 1), pl.lit("en"))
    titled = pl.col("canonical").str.contains(_WIKIPEDIA) & (edition == pl.col("language").fill_null("en"))
    other = rows.filter(~titled.fill_null(False))["annotation"]
    losses += loss_of("entities", other)
    title = pl.col("canonical").str.replace(_WIKIPEDIA, "").str.replace_all("_", " ")
    answer = pl.struct(start="begin", end="end", spot="surface_form", title=title, rho="confidence")
    whole = gather(names, rows.filter(titled), annotations=answer)
    said = whole.select(document="label", text="text", lang="language", annotations=pl.col("annotations").fill_null([]))
    with write_whole(path) as stream:
        for row in said.iter_rows(named=True):
            told = {key: value for key, value in row.items() if value is not None}
            stream.write((json.dumps(told, ensure_ascii=False) + "\n").encode())
    return losses


tagme = format_of(
    shipped_mapping("tagme"),
    sniff=_is_tagme,
    write=_write,
    holds=frozenset({"texts", "languages", "confidence", "unannotated"}),
)
