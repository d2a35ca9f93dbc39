"""Building a knowledge base from tables: read, resolve, rank, write as Parquet, rename into place."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl

from remix.errors import BadInput, Error
from remix.frames import write_parquet
from remix.kb.forms import normalise
from remix.kb.prominence import prominence
from remix.kb.reading import TABLES, read_table
from remix.kb.resolution import followed, resolution, sameas_pairs
from remix.progress import stage
from remix.signature import content_hash

__all__ = ["UNCOUNTED", "build_from_tables", "matching"]

FORMAT = "3"
"""Part of every version; grows when a knowledge base of the same tables would come out differently."""

UNCOUNTED = ("candidate:*", "system:*", "redirect-title", "wikidata-label-or-alias")
"""Sources whose counts say how often a tool or a list named the pair, not how often people meant the entity."""


@dataclass(frozen=True)
class _Parts:
    frames: dict[str, pl.DataFrame]
    circles: list[str]


def matching(source: pl.Expr, patterns: Iterable[str], known: pl.Series) -> pl.Expr:
    """Return whether a source matches any of the patterns, written as in a shell; null never does."""
    hit = [name for name in known.unique().drop_nulls() if any(fnmatchcase(name, pattern) for pattern in patterns)]
    return source.is_in(hit).fill_null(False)


def build_from_tables(
    tables: Path,
    to: Path,
    *,
    name: str,
    without_sources: Iterable[str] = (),
    uncounted: Iterable[str] = UNCOUNTED,
    complete: bool = False,
    damping: float = 0.85,
    tolerance: float = 1e-12,
) -> Path:
    """Return the folder `<to>/<name>-<version>` with the knowledge base that was built from a folder of tables.

    Rows of sources that match `without_sources` are left out of every table. Counts of the `uncounted` sources
    are ignored: they would be taken for a prior. `complete` declares that an entity that is not in it does not
    exist. The version is a hash of the tables and of these choices; what is built already is kept as it is.
    Raises `BadInput` for a damaged table, and where there is no `surface_forms` table with rows.
    """
    read = {table: read_table(tables, table) for table in TABLES}
    without, uncounted = sorted(without_sources), sorted(uncounted)
    choices = {
        "format": FORMAT,
        "tables": {table: digest for table, (_, digest) in read.items()},
        "without_sources": without,
        "uncounted": uncounted,
        "complete": complete,
        "damping": damping,
        "tolerance": tolerance,
    }
    version = content_hash(json.dumps(choices, sort_keys=True))
    folder = to / f"{name}-{version[:12]}"
    if (folder / "kb.json").exists():
        return folder
    rows = {table: _without(frame, without) for table, (frame, _) in read.items()}
    if rows["surface_forms"].is_empty():
        raise BadInput(tables, "no surface forms are left: a knowledge base needs a table surface_forms.tsv with rows")
    with stage("knowledge base"):
        parts = _parts(rows, uncounted, damping, tolerance)
    circles = {"count": len(parts.circles), "first": parts.circles[:10]}
    described = {"name": name, "version": version, **choices, "circular_redirects": circles}
    _write(folder, parts.frames, described)
    return folder


def _without(frame: pl.DataFrame, patterns: list[str]) -> pl.DataFrame:
    column = "origin" if "origin" in frame.columns else "source"
    return frame.filter(~matching(pl.col(column), patterns, frame[column])) if patterns else frame


def _parts(rows: dict[str, pl.DataFrame], uncounted: list[str], damping: float, tolerance: float) -> _Parts:
    ends, circles = followed(rows["redirects"])
    same = sameas_pairs(rows["sameas"])
    stands_for = resolution(ends, same)

    def resolved(frame: pl.DataFrame, column: str) -> pl.DataFrame:
        moved = frame.join(stands_for.rename({"iri": column, "entity": "_to"}), on=column, how="left")
        return moved.with_columns(pl.coalesce("_to", column).alias(column)).drop("_to")

    forms = _forms(resolved(rows["surface_forms"], "entity"), uncounted)
    links = resolved(resolved(rows["links"], "source"), "target")
    types = resolved(rows["types"], "entity").unique().sort("entity", "class", "source")
    labels = _labels(resolved(rows["labels"], "entity"))
    pages = resolved(rows["disambiguations"], "entity").select("page", "entity").unique().sort("page", "entity")
    scores = prominence(links.select("source", "target"), damping=damping, tolerance=tolerance)
    known = [forms["entity"], types["entity"], labels["entity"], pages["entity"], scores["entity"]]
    known += [ends["target"].rename("entity"), same["entity"]]
    entities = (
        pl.DataFrame({"entity": pl.concat(known).unique().sort()})
        .join(stands_for, left_on="entity", right_on="iri", how="anti")
        .join(labels, on="entity", how="left", maintain_order="left")
        .join(scores, on="entity", how="left", maintain_order="left")
    )
    frames = {
        "surface_forms": forms,
        "entities": entities,
        "types": types,
        "redirects": ends,
        "sameas": same,
        "disambiguations": pages,
        "resolution": stands_for,
    }
    return _Parts(frames, circles.to_list())


def _forms(rows: pl.DataFrame, uncounted: list[str]) -> pl.DataFrame:
    counted = pl.when(~matching(pl.col("source"), uncounted, rows["source"])).then(pl.col("count"))
    count = pl.when(pl.col("count").count() > 0).then(pl.col("count").sum())
    return (
        rows.drop_nulls("surface_form")
        .with_columns(count=counted, key=normalise(pl.col("surface_form")))
        .filter(pl.col("key") != "")
        .group_by("key", "surface_form", "entity", "source")
        .agg(count)
        .select("key", "surface_form", "entity", "count", "source")
        .sort("key", "entity", "surface_form", "source")
    )


def _labels(rows: pl.DataFrame) -> pl.DataFrame:
    return (
        rows.drop_nulls()
        .group_by("entity", "label")
        .len()
        .sort("entity", "len", "label", descending=[False, True, False])
        .group_by("entity", maintain_order=True)
        .first()
        .select("entity", "label")
    )


def _write(folder: Path, frames: dict[str, pl.DataFrame], described: dict[str, object]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            for part, frame in frames.items():
                write_parquet(frame, aside / f"{part}.parquet", row_group_size=100_000)
            sizes = {part: frame.height for part, frame in frames.items()}
            (aside / "kb.json").write_text(json.dumps({**described, "rows": sizes}, indent=1, sort_keys=True) + "\n")
            aside.chmod(0o755)
            if folder.exists():  # left half removed, or built by somebody else meanwhile
                shutil.rmtree(folder)
            aside.rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise Error(f"{folder} cannot be written: {error.strerror or error}") from error
