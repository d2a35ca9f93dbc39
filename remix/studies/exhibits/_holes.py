"""Targets and systems in the order of the study, and what is told of those that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from remix.studies.results import Results, StudyScores, Systems, Targets

THERE = "there"
_NAMED = 6
"""Names that a sentence lists; of more it says how many they are."""


def order_targets(results: Results, *kinds: str) -> Targets:
    """Return the targets of some kinds in the order of the study; the unfiltered one comes first."""
    first = pl.col("target") != results.unfiltered
    return results.targets.filter(pl.col("kind").is_in(kinds)).sort(first, "place", "target")


def order_systems(results: Results, *kinds: str) -> Systems:
    """Return the systems of some kinds in the order of the study."""
    return results.systems.filter(pl.col("kind").is_in(kinds)).sort("place", "system")


def order_datasets(results: Results) -> list[str]:
    """Return the datasets in the order of the study: those that are targets first, then others by name."""
    places = results.targets.filter(kind="dataset").select(dataset="target", place="place")
    named = pl.concat([results.composition["dataset"], results.mentions["dataset"]]).unique().to_frame("dataset")
    known = pl.concat([named, places.select("dataset")]).unique()
    return known.join(places, on="dataset", how="left").sort("place", "dataset", nulls_last=True)["dataset"].to_list()


def scores_of_wholes(results: Results) -> StudyScores:
    """Return the scores of systems on whole targets, by the rules and in the average that exhibits show."""
    return results.headline().filter(column="", slice="")


def tell_missing(rows: pl.DataFrame, name: str = "target") -> list[str]:
    """Return a sentence for each target (or system) that is not there: what is missing and how to get it.

    >>> rows = pl.DataFrame({"target": ["a", "b"], "state": ["there", "absent"], "told": ["", "`remix load b.nif`"]})
    >>> tell_missing(rows)
    ['There is nothing of b (absent): `remix load b.nif`.']
    """
    return [
        f"There is nothing of {of} ({state}){end_sentence(f': {told}' if told else '')}"
        for of, state, told in rows.filter(pl.col("state") != THERE).select(name, "state", "told").iter_rows()
    ]


def tell_missing_scores(scores: StudyScores, systems: Systems, targets: Targets) -> list[str]:
    """Return sentences for the scores that are missing of systems and targets that are there.

    One sentence tells all targets that a system has no scores on for one reason.
    """
    wanted = (
        systems.filter(state=THERE)
        .select("system", order="place")
        .join(targets.filter(state=THERE).select("target", at="place"), how="cross")
    )
    known = scores.select("system", "target", "state", "told", "f1")
    found = wanted.join(known, on=["system", "target"], how="left").with_columns(
        state=pl.col("state").fill_null("not computed"), told=pl.col("told").fill_null("")
    )
    missing = found.filter(pl.col("f1").is_null()).sort("order", "system", "at", "target")
    lines = []
    for (system, state, told), rows in missing.group_by("system", "state", "told", maintain_order=True):
        why = f" ({state})" if state != THERE else " (no score is defined)"
        where = list_names(rows["target"].to_list())
        lines.append(f"There is no score of {system} on {where}{why}{end_sentence(f': {told}' if told else '')}")
    return lines


def list_names(names: Iterable[str], most: int = _NAMED) -> str:
    """Return names as a sentence lists them.

    >>> list_names(["a", "b", "c"]), list_names(["a"]), list_names("abcd", most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    every: Sequence[str] = list(names)
    shown = list(every[:most]) + ([f"{len(every) - most} more"] if len(every) > most else [])
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def end_sentence(text: str) -> str:
    """Return a text that ends as sentences do.

    >>> end_sentence("done"), end_sentence("Done?")
    ('done.', 'Done?')
    """
    return text if text.endswith((".", "!", "?")) else f"{text}."
