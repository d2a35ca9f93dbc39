"""Links of runs made more general by a table of entities that count as one, as HIPE relaxes historical states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.files import read_bytes
from remix.formats.layers import MAIN, RANKED
from remix.frames import Frames

__all__ = ["read_mapping", "relax_runs"]

_ITEM = r"Q[0-9]+"
_TIME = "#[^#]*time"


def read_mapping(file: Path | str) -> dict[str, str]:
    """Return the item that each other stands for, of a table with the main item in its first column.

    An item is the first Q and digits of a cell; cells without any are passed over. Raises `BadInput` for a file
    without items.
    """
    text = read_bytes(file).decode("utf-8", errors="replace").replace("\r", "\n")
    cells = (
        pl.Series("line", text.split("\n"))
        .to_frame()
        .with_row_index("row")
        .with_columns(pl.col("line").str.split("\t"))
    )
    items = cells.with_columns(main=pl.col("line").list.first().str.extract(f"({_ITEM})", 1)).explode("line")
    items = items.with_columns(item=pl.col("line").str.extract(f"({_ITEM})", 1))
    found = items.filter(pl.int_range(pl.len()).over("row") > 0).drop_nulls(["main", "item"])
    if found.is_empty():
        raise BadInput(
            str(file), "maps no item of Wikidata to another: a line has the main item, then those it stands for"
        )
    return dict(found.select("item", "main").iter_rows())


def relax_runs(runs: Mapping[str, Frames], file: Path | str) -> dict[str, Frames]:
    """Return the runs with each link that the table maps replaced by its main item, and no entity for times.

    A mention whose class has `time` in its name becomes NIL. Raises `BadInput` for a file that is no such table.
    """
    mapping = read_mapping(file)
    return {name: _relax(run, mapping) for name, run in runs.items()}


def _relax(run: Frames, mapping: Mapping[str, str]) -> Frames:
    times = run.annotations.join(run.classes.filter(pl.col("class").str.contains(_TIME)), on="annotation", how="semi")
    times = times.filter(pl.col("layer") == MAIN)
    nil = times["annotation"].implode()
    main = pl.col("item").replace(mapping)

    def map_links(links: pl.DataFrame) -> pl.DataFrame:
        item = pl.col("entity").str.extract(f"^http://www.wikidata.org/entity/({_ITEM})$", 1)
        links = links.with_columns(item=item)
        entity = pl.when(pl.col("item").is_not_null()).then(fill("http://www.wikidata.org/entity/{}", main))
        changed = links.with_columns(entity=pl.coalesce(entity, "entity")).drop("item")
        return changed.filter(~pl.col("annotation").is_in(nil))

    of_times = run.annotations.join(times.select("document", first="begin", last="end"), on="document")
    within = of_times.filter((pl.col("begin") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
    # Links of parts of a time go with the time, which is NIL as a whole.
    parts = within.filter(pl.col("layer") == "NEL-LIT")["annotation"].implode()
    ranked = run.values.filter(pl.col("term") == RANKED, ~pl.col("subject").is_in(nil)).with_row_index("row")
    items = ranked.select("row", item=pl.col("text").str.split("|")).explode("item").with_columns(main)
    spelt = items.group_by("row", maintain_order=True).agg(text=pl.col("item").str.join("|"))
    ranked = ranked.drop("text").join(spelt, on="row", maintain_order="left").select(run.values.columns)
    found = replace(
        run,
        annotations=run.annotations.with_columns(pl.col("is_nil") | pl.col("annotation").is_in(nil)),
        links=map_links(run.links).unique(["annotation", "entity"], maintain_order=True),
        candidates=map_links(run.candidates),
        values=pl.concat([run.values.filter(pl.col("term") != RANKED), ranked]),
    )
    return found.keep(annotations=found.annotations.filter(~pl.col("annotation").is_in(parts))["annotation"])
