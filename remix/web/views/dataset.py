"""One dataset: its measures, what was repaired when it was loaded, its documents."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix.web.page import Explored, Note, Page, Table, View, address


def _show(work: Explored, parameters: Mapping[str, str]) -> Page:
    entry = work.store.dataset(parameters.get("name", ""))
    frames = work.store.frames([entry.name])
    counts = (
        frames.annotations.filter(pl.col("ignorable").is_null())
        .group_by("document")
        .agg(mentions=pl.col("group").n_unique(), nil=pl.col("is_nil").sum())
    )
    documents = frames.documents.join(counts, on="document", how="left", maintain_order="left").select(
        "document",
        pl.coalesce("given", "document").alias("name"),
        "words",
        "language",
        pl.col("mentions", "nil").fill_null(0),
        beginning=pl.col("text").str.slice(0, 80),
    )
    report = work.store.report(entry.name)
    repairs = report["repairs"] if isinstance(report["repairs"], list) else []
    found = pl.DataFrame(repairs, schema={"kind": pl.String, "count": pl.Int64, "example": pl.String})
    measures = work.stats([entry.name]).table
    return Page(
        entry.name,
        [
            Table("measures", measures, words="What each measure says: `remix list measures`."),
            *([Table("repaired", found, words="What loading mended; see `remix check`.")] if repairs else []),
            Table(
                "documents",
                documents.drop("document"),
                {"name": lambda row: address("document", dataset=entry.name, name=row["name"])},
            ),
            Note("The same in a terminal:", [f"remix stats {entry.name}", f"remix check {entry.name}"]),
        ],
    )


def _example(work: Explored) -> dict[str, str]:
    entries = work.datasets()
    return {"name": entries[0].name} if entries else {}


dataset = View("dataset", "Dataset", _show, example=_example)
