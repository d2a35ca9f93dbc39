"""The columns by which the page of systems slices scores: those that it offers, and all that an address may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from remix.errors import UnknownName, UsageError
from remix.measures import MEASURES
from remix.measures.columns import KB_ALONE, OWN, SEEN, columns_of_data, unknown_column
from remix.measures.declaration import Column
from remix.measures.enrichment import frames_of
from remix.measures.measured import document_column
from remix.measures.partitions import breakdown, is_bounds, label_of
from remix.runs.known import KnownRun
from remix.scoring.counting import own_rule
from remix.scoring.inputs.columns import is_of_errors, run_of
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.properties import properties_of
from remix.scoring.profiles import Profile
from remix.vocabularies import COARSE_TYPE
from remix.web import page

_SCHEMES = ("quantiles:4", "log-deciles")
"""How columns of numbers are cut into parts."""
_NAMING = ("document", "surface_form", "confidence")
"""Columns of every gold that name things or measure them rather than class them: they are taken, and not offered."""


def list_columns(work: page.Explored, profile: Profile, datasets: Sequence[str]) -> dict[str, str]:
    """Return what scores can be sliced by, with what it says.

    These are columns, parts of columns of numbers, what the data of the chosen datasets have, and the profile's own.
    """
    found = {COARSE_TYPE: "whether the entity is a person, an organisation or a place, by classes of any vocabulary"}
    found |= {name: said for name, said in OWN.items() if name not in _NAMING}
    for column in _list_measured(work):
        if column.kind in ("integer", "double"):
            found |= {f"{column.name}:{scheme}": f"{column.meaning}, in {scheme}" for scheme in _SCHEMES}
        else:
            found[column.name] = column.meaning
    measured = {column.name for column in _list_measured(work)}
    found |= {name: said for name, said in _list_stated(work, datasets).items() if name not in {*measured, *OWN}}
    own = f"as the profile {profile.name} slices"
    return found | {name: f"{name.replace(' × ', ' and ')}, {own}" for name in profile.slices}


def _list_measured(work: page.Explored) -> list[Column]:
    known = work.kb is not None
    return [column for measure in MEASURES if known or not measure.needs for column in measure.columns]


def _list_stated(work: page.Explored, datasets: Sequence[str]) -> dict[str, str]:
    """Return the columns that the data of datasets have besides those of every gold, with what they say."""
    found = dict[str, str]()
    for name in datasets:
        terms = work.store.cached(("terms of values", name), partial(_list_terms, work, name))
        found |= dict.fromkeys(terms, "as the data say it")
    return found


def _list_terms(work: page.Explored, dataset: str) -> list[str]:
    """Return the last parts of the terms of what a dataset says of its texts and annotations, learnt of runs too."""
    terms = frames_of(work.store, dataset).values["term"].unique().sort().str.extract(r"([^/#:]+)$").drop_nulls()
    learnt = sorted(LEARNT) if work.store.dataset(dataset).learnt() else []
    return [*dict.fromkeys([*terms, *learnt])]


def _list_known(work: page.Explored, profile: Profile, columns: Mapping[str, str]) -> dict[str, str]:
    """Return all columns of every gold, of measures and of the profile by their names, with what they say."""
    known = {**OWN, **{column.name: column.meaning for column in _list_measured(work)}}
    for summary in (
        one for measure in MEASURES if work.kb is not None or not measure.needs for one in measure.summaries
    ):
        averages = [average for average in ("document", "count") if summary.terms.get(average)]
        known |= {document_column(summary, average): summary.meaning for average in averages}
    return known | {name: columns[name] for name in profile.slices}


def read_column(
    work: page.Explored,
    by: str,
    profile: Profile,
    columns: Mapping[str, str],
    datasets: Sequence[str],
    runs: Sequence[KnownRun],
) -> tuple[str, str]:
    """Return what rows call a column that is not offered, or columns that are crossed, and what it says.

    It is one that `remix evaluate --by` knows on the datasets. Raises `UnknownName` for a column that there is not,
    `page.WrongValue` for a scheme or bounds that there are not, and for a column that this page has no choice for.
    """
    known = _list_known(work, profile, columns)
    try:
        parts = breakdown(by)
        cut = own_rule(profile, by) is not None
        if not cut and any(is_bounds(one.scheme) for one in parts):
            told = "the profiles of HIPE, such as hipe, cut noise and period so, and other columns are cut by a scheme"
            raise UsageError(f"'{by}' has bounds, by which the profile {profile.name} does not cut it: {told}")
        known |= {
            one.column: _find_column(work, one.column, columns, datasets, runs)
            for one in parts
            if one.column not in known
        }
    except UnknownName as error:
        raise error if error.name == by else page.WrongValue(str(error), by, "by") from None
    except UsageError as error:
        raise page.WrongValue(str(error), by, "by") from None
    if any(one.column == "kb" for one in parts):
        raise page.WrongValue(KB_ALONE, by, "by")
    said = [
        f"{known[one.column]}{f', of the vocabulary {one.vocabulary}' if one.vocabulary else ''}"
        f"{f', in {one.scheme}' if one.scheme else ''}"
        for one in parts
    ]
    return label_of(by), "; by ".join(said)


def _find_column(
    work: page.Explored, name: str, columns: Mapping[str, str], datasets: Sequence[str], runs: Sequence[KnownRun]
) -> str:
    """Return what a column says that is the data's own, a property of documents, or what a run gets wrong.

    Raises `UnknownName` for one that is none of these, `UsageError` for one of a training set.
    """
    if is_of_errors(name):
        if not name.partition(":")[2]:
            raise UsageError(f"'{name}' names no system: write error:SYSTEM")
        system, taxonomy = run_of(
            name, systems := sorted({one.run.system for one in runs if one.run.dataset in datasets})
        )
        if system not in systems:
            raise UnknownName("run on these datasets", system, systems, "remix run list")
        return f"what {system} gets wrong, by the taxonomy {taxonomy}"
    if name in SEEN:
        command = f"remix evaluate --by {name} --seen DATASET"
        raise UsageError(f"{name} is about a training set, of which this page has no choice: `{command}`")
    stated = _list_stated(work, datasets)
    gold = partial(work.store.frames, [*datasets])
    if name in stated or name in columns_of_data(gold()):
        return stated.get(name, "as the data say it")
    if properties_of(gold(), [name], [*datasets], work.store) is not None:
        return "a property of documents"
    if any(name == one.name for measure in MEASURES for one in measure.columns):
        raise unknown_column(gold(), name, [])
    raise UnknownName("column to slice by", name, [*columns, *stated], "remix list columns")
