"""The counts per document of a study as tables that scores are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from remix.scoring.profiles import PROFILES
from remix.scoring.statistics import UNSCOPED
from remix.scoring.statistics.intervals import DocumentTables, tables_of
from remix.studies.results import Results


def tables_of_target(
    results: Results, target: str, systems: Sequence[str], columns: Sequence[str] = ("",)
) -> tuple[DocumentTables, list[tuple[str, str, str]]]:
    """Return the tables of a target over its documents, with the column, slice and system of each label.

    A label is a system on the whole (column '') or on a part of the columns, by the rules that exhibits show; only the
    micro scores of the tables are those of the study.
    """
    rules = {"profile": results.profile, "task": results.task, "matching": results.matching}
    own = results.counts.filter(target=target, **rules)
    documents = own.filter(column="").select("document").unique().sort("document")
    documents = documents.with_columns(doc=pl.int_range(pl.len(), dtype=pl.Int64))
    places = pl.DataFrame(
        {"system": [*systems], "place": np.arange(len(systems))}, schema_overrides={"system": pl.String}
    )
    own = own.filter(pl.col("column").is_in([*columns]))
    labels = own.select("column", "slice", "system").unique().join(places, on="system").sort("column", "slice", "place")
    labels = labels.with_columns(label=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = own.join(labels, on=["column", "slice", "system"]).join(documents, on="document")
    rows = rows.rename({"found": "tp_of_gold"}).with_columns(UNSCOPED).sort("label", "doc")
    micro = {"micro": PROFILES[results.profile].averages["micro"]}
    tables = tables_of(rows, documents.select("doc"), len(labels), micro)
    return tables, labels.select("column", "slice", "system").rows()
