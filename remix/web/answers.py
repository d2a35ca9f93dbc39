"""The runs that are on datasets that are loaded, and what these make of gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from remix.frames import read_parquet
from remix.names import FAILED
from remix.question import Several, several
from remix.runs.judgements import Judgements, judge_mentions
from remix.runs.known import KnownRun, compared_systems, inherited_runs, known_runs
from remix.runs.register import Run
from remix.web import page
from remix.web.error_choice import STRONG


def list_answers(work: page.Explored, named: Collection[str] = ()) -> list[Run]:
    """Return the runs that are on a dataset that is loaded, and on what the remixes that are named were cut from."""
    return [one.run for one in list_known(work, named)]


def list_known(work: page.Explored, named: Collection[str] = ()) -> list[KnownRun]:
    """Return the same with what is known of their runs and revisions."""
    loaded = {entry.name for entry in page.list_datasets(work)}
    inherited = inherited_runs(work.store, {*named}) if named else []
    return [one for one in [*known_runs(work.store), *inherited] if one.run.dataset in loaded]


def count_inherited(work: page.Explored) -> dict[str, int]:
    """Return how many systems without a run on it answer each loaded remix by runs on its origins, by its name."""
    loaded = {entry.name for entry in page.list_datasets(work)}
    own = {(one.run.dataset, one.run.system) for one in known_runs(work.store)}
    others = {(one.run.dataset, one.run.system) for one in inherited_runs(work.store, loaded)} - own
    return dict(sorted(Counter(name for name, _ in others).items()))


def judge(
    work: page.Explored, datasets: Several, by: str = "", shown: Sequence[str] = (), match: str = ""
) -> Judgements:
    """Return what runs made of loaded datasets, once for each state of the workspace and of the runs.

    They are judged by a matching, by default that of `STRONG`. Of several datasets they are those of
    `compared_systems`. Raises `StoreError` where no run is on any of the datasets.
    """
    names = several(datasets)
    runs = [one for one in list_known(work, names) if one.run.dataset in names]
    systems = list[str]()
    if len(names) > 1:
        systems = compared_systems(runs, names, shown)
        runs = [one for one in runs if one.run.system in systems]
    match = match or STRONG
    known = tuple((one.run.folder_name, one.run.checksum, one.revision) for one in runs)
    return work.store.cached(
        ("judgements", *names, by, match, known),
        lambda: judge_mentions(work, names, systems=systems, match=match, by=by),
        # There are as many columns to slice by as a user thinks of.
        asked=bool(by) or len(names) > 1 or match != STRONG,
    )


def may_have_failed(work: page.Explored, dataset: str) -> bool:
    """Return whether a run that answers a loaded dataset failed on a text of it, or may have, as one on its origin."""
    own = [one for one in list_known(work, [dataset]) if one.run.dataset == dataset]
    folders = [work.store.own("runs") / one.run.folder_name for one in own if not one.inherited]

    def look() -> bool:
        """Return whether what the runs tell beside their answers says so."""
        return any((read_parquet(folder / "values.parquet")["term"] == FAILED).any() for folder in folders)

    key = ("runs that failed", *(one.run.folder_name + one.run.checksum for one in own))
    return any(one.inherited for one in own) or work.store.cached(key, look)


def list_answered(runs: Sequence[Run], system: str) -> list[str]:
    """Return the datasets that a system has a run on, by name."""
    return sorted({run.dataset for run in runs if run.system == system})
