"""Candidates that a file or folder gives, in the format of PPRforNED, and which mention has which of them.

A file is a document, a line a mention (`ENTITY`) or a candidate of the mention before it (`CANDIDATE`), of fields
separated by tabs, each `key:value`: of a mention `text`, `origText` and `docId`, of a candidate `id`, `inCount`,
`links` (ids that it links to, separated by `;`), `url` and `name`. The `url` of a mention is gold, and is not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.formats.source import SourceFile
from remix.frames import Frames
from remix.iris import canonical
from remix.kb.forms import keys

_LEAST = 0.5
"""The share of the forms of a document that a file has to have, where no name says whose it is."""

GIVEN: dict[str, Any] = {
    "file": pl.String,
    "doc": pl.String,
    "key": pl.String,
    "id": pl.String,
    "entity": pl.String,
    "name": pl.String,
    "count": pl.Int64,
    "pagerank": pl.Float64,
    "links": pl.List(pl.String),
}
"""The columns of given candidates: those of the dictionary's, and what else a file tells."""


def read_candidates(path: Path) -> pl.DataFrame:
    """Return file, doc (its name), key of the form; id, entity, name, count of in-links and links of each candidate.

    Raises `BadInput` with file and line for what is no such file.
    """
    source = SourceFile(path)
    contents = source.members if source.is_collection else {path.name: source.read()}
    parts = [
        _read_file(f"{path}/{name}" if source.is_collection else str(path), body) for name, body in contents.items()
    ]
    found = pl.concat([pl.DataFrame(schema=GIVEN), *parts])
    if found.is_empty():
        raise BadInput(
            path, "has no candidates: lines ENTITY and CANDIDATE of fields key:value, with tabs between them"
        )
    return found.with_columns(canonical(found["entity"]), keys(found["key"]))


def _read_file(name: str, body: bytes) -> pl.DataFrame:
    lines = pl.DataFrame(
        {"line": body.decode("utf-8", "replace").split("\n")}, schema={"line": pl.String}
    ).with_row_index("number", offset=1)
    lines = lines.filter(pl.col("line").str.strip_chars() != "")
    cells = lines.with_columns(kind=pl.col("line").str.extract(r"^(\w+)"))
    wrong = cells.filter(~pl.col("kind").is_in(["ENTITY", "CANDIDATE"]).fill_null(False))
    if wrong.height:
        raise BadInput(name, f"is no line of ENTITY or CANDIDATE: {wrong['line'][0][:60]}", line=wrong["number"][0])
    if cells.height and cells["kind"][0] != "ENTITY":
        raise BadInput(name, "begins with a candidate of no mention", line=cells["number"][0])

    def value(key: str) -> pl.Expr:
        """Return the value of a field of each line."""
        return pl.col("line").str.extract(rf"(?:^|\t){key}:([^\t]*)")

    mention = pl.col("kind") == "ENTITY"
    form = pl.coalesce(value("origText"), value("text"))
    rows = cells.with_columns(
        key=pl.when(mention).then(form).forward_fill(),
        doc=pl.when(mention).then(value("docId")).forward_fill(),
        count=value("inCount").cast(pl.Int64, strict=False),
        pagerank=pl.lit(None, pl.Float64),
        id=value("id"),
        entity=value("url"),
        name=value("name"),
        links=value("links").fill_null("").str.split(";"),
        file=pl.lit(name),
    ).filter(~mention)
    lost = rows.filter(pl.any_horizontal(pl.col("id", "entity").is_null()))
    if lost.height:
        raise BadInput(name, "is a candidate without id and url", line=lost["number"][0])
    return rows.select(*GIVEN)


def candidates_of_mentions(given: pl.DataFrame, frames: Frames, spans: pl.DataFrame) -> pl.DataFrame:
    """Return document, key, entity, name, id, count and links: the candidates of the forms of each document.

    The file of a document is the one that has its name, or its number where that begins the name (`947testa`), else the
    one that has most of its forms, at least half.
    """
    forms = spans.select("document", key=keys(spans["surface_form"])).unique()
    own = _by_name(given, frames)
    rest = forms.join(own, on="document", how="anti")
    held = rest.join(given.select("file", "key").unique(), on="key").group_by("document", "file").agg(shared=pl.len())
    sizes = rest.group_by("document").agg(size=pl.len())
    best = held.join(sizes, on="document").filter(pl.col("shared") >= _LEAST * pl.col("size"))
    best = best.sort("document", -pl.col("shared").cast(pl.Int64), "file").unique("document", keep="first")
    files = pl.concat([own, best.select("document", "file")])
    found = forms.join(files, on="document").join(given, on=["file", "key"])
    return found.unique(["document", "key", "entity"], keep="first", maintain_order=True).sort(
        "document", "key", "entity"
    )


def _by_name(given: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    names = given.select("file", "doc").unique("file", maintain_order=True).drop_nulls()
    last = pl.col("given").fill_null(pl.col("document")).str.replace(r"[#?].*$", "").str.extract(r"([^/]+)/?$")
    documents = frames.documents.select("document", doc=last)
    same = documents.join(names, on="doc")
    number = r"^0*([0-9]+)"
    numbered = documents.with_columns(pl.col("doc").str.extract(number)).join(
        names.with_columns(pl.col("doc").str.extract(number)), on="doc"
    )
    return pl.concat([same, numbered]).select("document", "file").unique("document", keep="first", maintain_order=True)
