"""All datasets with their measures in one table."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix.web.page import Explored, Note, Page, Table, View, address


def _show(work: Explored, parameters: Mapping[str, str]) -> Page:
    entries = work.datasets()
    if not entries:
        return Page("Datasets", [Note("Nothing is loaded yet.", ["remix load FILE", "remix fetch NAME"])])
    rows = pl.DataFrame(
        {
            "dataset": [entry.name for entry in entries],
            "documents": [entry.documents for entry in entries],
            "annotations": [entry.annotations for entry in entries],
            "measures": ["yes" if entry.enrichment else "no" for entry in entries],
            "runs": [sum(name.startswith("run-") for name in entry.attached) for entry in entries],
        }
    )
    table = Table("datasets", rows, {"dataset": lambda row: address("dataset", name=row["dataset"])})
    return Page("Datasets", [table, Note("Each row leads to the documents and measures of a dataset.")])


datasets = View("datasets", "Datasets", _show, menu=1)
