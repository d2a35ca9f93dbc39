"""What a study names that is not there, all of it told at once with the nearest names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from remix import catalog
from remix.errors import Error, Faults, UsageError, nearest
from remix.measures import MEASURES
from remix.measures.columns import OWN, columns_of_data, unknown_column
from remix.measures.measured import columns_of, summaries_of
from remix.measures.partitions import breakdown
from remix.remixes.balance import EVERYTHING, Balance
from remix.remixes.filters import open_filters
from remix.remixes.filters.definition import split_reference
from remix.remixes.filters.services import Surroundings
from remix.runs.register import list_runs
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.profiles import PROFILES
from remix.store.queries import find
from remix.studies.applying import faults_of_rules, with_rules
from remix.studies.definition import StudiedRemix, StudiedSystem, Study, StudyFaults
from remix.studies.host import Host
from remix.studies.output import exhibits_named
from remix.studies.trust import refusals
from remix.systems import SYSTEMS
from remix.systems.asked import ADAPTERS


def check(host: Host, study: Study, allowed: Collection[str] = ()) -> Study:
    """Return the study with the tasks and the matchings by which profiles are compared where it names none.

    Raises `StudyFaults` with all that it names and that is not there, and with what it may not run or ask.
    """
    if faults := [*_faults(host, study), *refusals(study, allowed)]:
        raise StudyFaults(f"study '{study.name}'", faults)
    return with_rules(study)


def _faults(host: Host, study: Study) -> Iterator[str]:
    loaded = [*host.store.state.datasets]
    known = [*loaded, *catalog.names()]
    for name in study.datasets:
        if name not in loaded and not _can_be_loaded(name):
            yield f"datasets: '{name}' is neither loaded, nor a file, nor known{nearest(name, known)}"
    for system in study.systems:
        yield from _faults_of_system(system)
    runs = {run.system for run in list_runs(host.folder / "runs")}
    for own in study.runs:
        yield from (f"runs.{own.name}: there is no file {file}" for file in own.files if not Path(file).exists())
        if not own.files and own.name not in runs:
            yield f"runs.{own.name}: no run of this name is registered{nearest(own.name, runs)}"
    for remix in study.remixes:
        yield from _fault_of(f"remixes.{remix.name}", partial(_look_up_query, remix))
        for name in (one for one in remix.datasets if one not in study.datasets):
            yield f"remixes.{remix.name}: '{name}' is a remix itself: `remix load` it, and name it among the datasets"
    for name in study.profiles:
        if name not in PROFILES:
            yield f"profiles: there is no profile '{name}'{nearest(name, PROFILES.names())}"
    if all(name in PROFILES for name in study.profiles):
        yield from faults_of_rules(study)
    yield from _fault_of("exhibits", partial(exhibits_named, study.exhibits))
    for text in study.by:
        yield from _fault_of("by", partial(_look_up_columns, host, study, text))


def _can_be_loaded(name: str) -> bool:
    """Return whether a dataset is a file, an address, or one of the catalogue."""
    return name in catalog.names() or Path(name).exists() or "://" in name


def _fault_of(place: str, look: Callable[[], object]) -> Iterator[str]:
    """Yield why something cannot be looked up, if it cannot."""
    try:
        look()
    except Faults as error:
        yield from (f"{place}: {fault}" for fault in error.faults)
    except Error as error:
        yield f"{place}: {error}"


def _look_up_columns(host: Host, study: Study, text: str) -> None:
    """Raise `Error` for a column that no measure, no data of a loaded dataset and no gold has."""
    known = {*OWN, *(one.name for one in columns_of(MEASURES)), *(one.name for one in summaries_of(MEASURES))}
    asked = [one.column for one in breakdown(text) if one.column not in known and not is_of_errors(one.column)]
    names = [name for name in study.datasets if name in host.store.state.datasets]
    later = [name for name in study.datasets if name not in names and _can_be_loaded(name)]
    if not asked or later or not names:  # what is still to be loaded may have further columns
        return
    gold = host.store.frames(names)
    for name in asked:
        if name not in columns_of_data(gold):
            raise unknown_column(gold, name, known)


def _look_up_query(remix: StudiedRemix) -> None:
    """Raise `Error` for a query or a filter that there is not, and for parameters that it has not."""
    if remix.balance:
        Balance.of(
            remix.balance,
            over=remix.balance_over,
            shares=remix.balance_share,
            tolerance=remix.balance_tolerance,
            seed=remix.seed,
        )
    named = split_reference(remix.query)
    if named is not None:
        open_filters(named[0], Surroundings(), service=remix.service).find(named[1])
        if remix.values or remix.set_from:
            raise UsageError(f"'{remix.query}' is a filter, which has no parameters: leave 'values' and 'set_from' out")
        return
    if remix.service:
        raise UsageError("'service' is of filters (FILE.properties#NAME), and this is a query: leave it out")
    find(remix.query or EVERYTHING).bind(remix.values, remix.set_from or None)


def _faults_of_system(system: StudiedSystem) -> Iterator[str]:
    adapter = system.adapter or system.name
    if adapter in SYSTEMS:
        yield from _fault_of(f"systems.{system.name}", partial(SYSTEMS[adapter].read_parameters, system.parameters))
    elif not adapter.endswith(".toml") and adapter not in ADAPTERS:
        names = [*SYSTEMS.names(), *ADAPTERS.names()]
        yield f"systems.{system.name}: there is no system '{adapter}'{nearest(adapter, names)}"
