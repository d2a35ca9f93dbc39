"""What a study would do: its steps, what is there of them, requests to services, and a guess of the time."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix.errors import Error
from remix.measures.enrichment import named_frames
from remix.remixes.filters.definition import split_reference
from remix.store.state import DatasetEntry
from remix.studies.definition import StudiedRemix, Study
from remix.studies.host import Host
from remix.studies.planning import plan_of, score_jobs
from remix.studies.preparation import is_answered, loaded_name, prepare, query_of, remix_key
from remix.studies.shelf import StepShelf
from remix.studies.trust import is_asked

_SCHEMA = {"step": pl.String, "what": pl.String, "state": pl.String, "requests": pl.Int64, "seconds": pl.Float64}


def preview(host: Host, shelf: StepShelf, study: Study) -> pl.DataFrame:
    """Return step, what, state ('there' or 'to do'), requests and seconds, as steps of the kind took on average.

    Nothing is written. Counts and scores of what has to be prepared first are told by their number.
    """
    times = shelf.times()
    rows: list[tuple[str, str, str, int, float | None]] = []

    def tell(step: str, what: str, *, there: bool, requests: int = 0, number: int = 1) -> None:
        seconds = 0.0 if there else round(times[step] * number, 1) if step in times else None
        rows.append((step, what, "there" if there else "to do", 0 if there else requests, seconds))

    entries: dict[str, DatasetEntry] = {entry.name: entry for entry in host.store.datasets()}
    for name in study.datasets:
        tell("load", name, there=loaded_name(host, name) in entries)
    for system in study.systems:
        for name in study.datasets:
            entry = entries.get(loaded_name(host, name))
            there = entry is not None and is_answered(host, shelf, study, system, entry.name, entry.content)
            asked = entry.documents if entry is not None and is_asked(system) else 0
            tell("annotate", f"{system.name} on {name}", there=there, requests=asked)
    ready = all(state == "there" for _, _, state, _, _ in rows) and not any(
        entry.enrichment is None for entry in entries.values()
    )
    if not ready or not all(_is_built(host, shelf, study, one) for one in study.remixes):
        for remix in study.remixes:
            tell("remix", remix.name, there=False, requests=_count_requests(host, study, remix, entries))
        cells = len(study.targets) * len(study.scored) * len(study.profiles)
        tell("count", f"{cells} systems on targets", there=False, number=cells)
        tell("scores", f"{len(study.targets)} targets", there=False, number=len(study.targets))
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    plan = plan_of(host, study, prepare(host, shelf, study))
    missing = {step for job in plan.missing(shelf) for step in job.steps}
    named = {key: f"{job.target}" for job in plan.jobs for _, key in job.steps}
    named |= {cell.key: f"{cell.system} on {cell.target}" for cell in plan.cells if cell.key}
    for kind, key in plan.places:
        tell(kind, named[key], there=(kind, key) not in missing)
    for job in score_jobs(study, plan):
        tell("scores", job.target, there=shelf.has("scores", job.key))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _is_built(host: Host, shelf: StepShelf, study: Study, remix: StudiedRemix) -> bool:
    """Return whether a remix is there; that of a filter is not known before all answers are kept that it needs."""
    try:
        query = query_of(host, study, remix, kept_only=True)
    except Error:  # which is told where it is built
        return False
    return shelf.has("remix", remix_key(host, study, remix, query))


def _count_requests(host: Host, study: Study, remix: StudiedRemix, entries: Mapping[str, DatasetEntry]) -> int:
    """Return how many requests the filter of a remix takes at most, of the datasets that are loaded."""
    named = split_reference(remix.query)
    names = [loaded_name(host, name) for name in remix.datasets or study.datasets]
    loaded = [name for name in names if name in entries]
    if named is None or not loaded:
        return 0
    filters = host.open_filters(named[0], service=remix.service)
    return filters.find(named[1]).count_requests(named_frames(host.store, loaded))
