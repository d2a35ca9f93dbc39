"""Which mentions systems find: those that answered all of them side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from remix.scoring.statistics.effects import Numbers, Verdicts
from remix.scoring.statistics.parts import interval_of_rate
from remix.studies.exhibits._holes import THERE, list_names, order_datasets, order_systems, order_targets
from remix.studies.exhibits._measures import name_columns
from remix.studies.exhibits._parts import parts_of_columns
from remix.studies.results import Results, StudiedMentions
from remix.studies.weaknesses import number_entities


@dataclass(frozen=True, eq=False)
class Found:
    """The `mentions` of a study in their order, and which of them each system finds: an array of mentions by systems.

    Systems are those that are compared and that answered all mentions; those that did not are `lacking`.
    """

    mentions: StudiedMentions
    systems: tuple[str, ...]
    lacking: tuple[str, ...]
    right: npt.NDArray[np.bool_]
    documents: Numbers
    entities: Numbers

    def rate(self, values: npt.NDArray[np.float64], rows: Numbers) -> tuple[float | None, float | None, float | None]:
        """Return the mean of values of some mentions and its interval, None where fewer than ten documents hold them.

        Mentions of a document and of an entity go together (`remix.scoring.statistics.parts`).
        """
        if not len(rows):
            return None, None, None
        bounds = interval_of_rate(Verdicts(values[rows], self.documents[rows], self.entities[rows]))
        mean, low, high = (None if np.isnan(one) else float(one) for one in bounds)
        return mean, low, high

    def notes(self) -> Iterator[str]:
        """Yield which systems are looked at."""
        yield f"Systems: {list_names(self.systems, len(self.systems))}. Baselines and oracles are not among them."
        if self.lacking:
            yield f"Left out, as they did not answer all mentions: {list_names(self.lacking)}."


def found_mentions(results: Results) -> Found:
    """Return which mentions the compared systems find, by the first rules of the study."""
    mentions = results.mentions.sort("mention")
    named = order_systems(results, "system").filter(state=THERE)["system"].to_list()
    columns, systems = [], []
    for system in named:
        own = results.outcomes.filter(system=system).select("mention", "outcome")
        outcome = mentions.select("mention").join(own, on="mention", how="left", maintain_order="left")["outcome"]
        if len(mentions) and not outcome.null_count():
            columns.append((outcome == "correct").to_numpy())
            systems.append(system)
    return Found(
        mentions,
        tuple(systems),
        tuple(name for name in order_systems(results, "system")["system"] if name not in systems),
        np.array(columns, dtype=bool).reshape(len(systems), len(mentions)).T,
        mentions["document"].rank("dense").cast(pl.Int64).to_numpy(),
        number_entities(mentions),
    )


def groups_of(results: Results, mentions: StudiedMentions) -> Iterator[tuple[str, str, Numbers]]:
    """Yield what mentions are grouped by, the name of each group, and the places of its mentions.

    They are those of each dataset and of all, of each remix that was not selected by what came of the runs of systems,
    of each class, and of each part of the columns of the study.
    """
    places = mentions.select("mention", "dataset", "class").with_row_index("row")
    datasets = order_datasets(results)
    for name in datasets:
        yield "dataset", name, _rows(places.filter(dataset=name))
    if len(datasets) > 1:
        yield "dataset", "all", _rows(places)
    chosen, fitted = results.selected.join(places, on="mention"), fitted_remixes(results)
    for name in order_targets(results, "remix").filter(state=THERE)["target"]:
        if name not in fitted and len(rows := _rows(chosen.filter(target=name))):
            yield "remix", name, rows
    if "class" not in results.columns:
        for name in places["class"].drop_nulls().unique().sort():
            yield "class", name, _rows(places.filter(pl.col("class") == name))
    names = name_columns(results.columns)
    inside = results.members.join(places, on="mention")
    for column, parts in parts_of_columns(results).items():
        for part in parts["slice"]:
            if len(rows := _rows(inside.filter(column=column, slice=part))):
                yield names[column], part, rows


def fitted_remixes(results: Results) -> list[str]:
    """Return the remixes that were selected by what came of the run of a system of the study, in its order."""
    fitted = set(results.scores.filter(state="fitted")["target"])
    return [name for name in order_targets(results, "remix")["target"] if name in fitted]


def tell_fitted(results: Results) -> Iterator[str]:
    """Yield which remixes no group is made of, as who finds their mentions is how they were selected."""
    if fitted := fitted_remixes(results):
        yield (
            f"Not shown: {list_names(fitted)}, whose mentions were selected by what came of the runs of systems that "
            "are looked at."
        )


def _rows(places: pl.DataFrame) -> Numbers:
    rows: Numbers = places["row"].unique().sort().cast(pl.Int64).to_numpy()
    return rows
