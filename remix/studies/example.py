"""A definition that works for what a workspace holds, with a comment at each line."""

from __future__ import annotations

import json

from remix.runs.register import list_runs
from remix.studies.host import Host

_FILE = """\
# A study: systems × remixes × partitions. `remix study {file} --dry-run` tells what it would do.

# What stands above the report.
title = "Systems on {datasets_said}"
# Loaded datasets, files, or names of the catalogue (`remix list datasets`); together they are the target 'all'.
datasets = {datasets}
# What systems are asked for: D2KB gives the mentions, A2KB texts alone (`remix list tasks`).
tasks = ["{task}"]
# When an answer is on a mention (`remix list matchings`).
matchings = ["strong"]
# Whose conventions are followed (`remix list profiles`); the first is shown.
profiles = ["remix"]
# What mentions and documents are cut by (`remix list columns`), with a scheme after a colon where they are numbers.
by = {by}
# The target that the others are held against.
unfiltered = "{unfiltered}"
# How many samples tests draw, and what they are drawn by.
samples = 10000
seed = 0

{systems}
# A remix: a shipped query (`remix list queries`) or a file, with `values` of its parameters.
[remixes.persons]
query = "persons.rq"
"""
_SYSTEM = """\
# A system whose answers are made here (`remix list adapters`); a baseline is never called best.
[systems.{name}]
kind = "{kind}"
"""
_RUN = """\
# A registered run (`remix run list`), or answers in `files`, which are registered by this name.
[runs.{name}]
"""


def example_study(host: Host, file: str) -> str:
    """Return the text of a definition of the datasets that are loaded and of the runs that are registered on them all.

    Without such runs it has systems that are part of remix.
    """
    host.ensure_sample()
    names = [entry.name for entry in host.store.datasets()]
    runs = list_runs(host.folder / "runs")
    on = {run.system: {one.dataset for one in runs if one.system == run.system} for run in runs}
    own = [name for name, datasets in on.items() if datasets >= {*names}]
    tasks = {run.task for run in runs if run.system in own}
    systems = "\n".join(_RUN.format(name=json.dumps(name)) for name in own) or "\n".join(
        _SYSTEM.format(name=name, kind=kind) for name, kind in (("coherence", "system"), ("prior", "baseline"))
    )
    columns = ["class", "pagerankSegment", "ambiguitySurfaceForm:log-deciles"]
    return _FILE.format(
        file=file,
        datasets=json.dumps(names),
        datasets_said=", ".join(names) if len(names) < 4 else f"{len(names)} datasets",
        task="A2KB" if tasks == {"A2KB"} else "D2KB",
        by=json.dumps(columns if host.kb is not None else ["form"]),
        unfiltered="all" if len(names) > 1 else names[0],
        systems=systems,
    )
