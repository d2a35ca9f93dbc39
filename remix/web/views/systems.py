"""Systems by datasets: the scores of all registered runs."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix.scoring.profiles import PROFILES
from remix.web.page import Explored, Field, Form, Note, Page, Table, View, address, choose


def _show(work: Explored, parameters: Mapping[str, str]) -> Page:
    profile, task, slice_by = (parameters.get(key, "") for key in ("profile", "task", "by"))
    profile = profile or "remix"
    names = [entry.name for entry in work.datasets()]
    dataset = parameters.get("dataset", "")
    tasks, slices = ([value] if value else [] for value in (task, slice_by))
    rows = work.evaluate(
        [work.store.dataset(dataset).name] if dataset else [], profile=profile, task=tasks, by=slices
    ).rows
    shown = rows.filter(pl.col("average") == "micro").select(
        "system", "dataset", "task", "matching", "column", "slice", "mentions", "tp", "fp", "fn",
        "precision", "recall", "f1",
    )  # fmt: skip
    links = {
        "f1": lambda row: (
            address("errors", dataset=row["dataset"], system=row["system"]) if row["dataset"] in names else ""
        )
    }
    form = Form(
        [
            choose("dataset", "dataset", ["", *names], dataset),
            choose("profile", "conventions of", PROFILES.names(), profile),
            choose("task", "task", ["", "A2KB", "D2KB", "C2KB", "ERec"], task),
            Field("by", "slices by", slice_by),
        ]
    )
    options = [dataset, f"--profile {profile}", task and f"--task {task}", slice_by and f"--by {slice_by}"]
    command = " ".join(["remix evaluate", *filter(None, options)])
    return Page("Systems", [form, Table("scores", shown, links), Note("A score leads to its errors.", [command])])


systems = View("systems", "Systems", _show, menu=2)
