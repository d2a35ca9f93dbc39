"""The scores of systems on remixes and on datasets, with averages and correlations: Table 5 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import polars as pl

from remix.expressions import mean
from remix.paper import Typesetting
from remix.scoring.comparison import LEAST_CORRELATED, correlate
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._holes import (
    THERE,
    list_names,
    order_systems,
    order_targets,
    scores_of_wholes,
    tell_missing,
    tell_missing_scores,
)
from remix.studies.results import Results, StudyScores, Systems, Targets

ALPHA = 0.05
"""A difference whose p is below, corrected for all tests of its family, is more than chance."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The F1 of systems on targets, both in their order; a score that is missing is no cell."""

    targets: Targets
    systems: Systems
    scores: StudyScores

    @property
    def compared(self) -> list[str]:
        """Return the systems that are compared: no baseline, and no oracle."""
        return self.systems.filter(kind="system")["system"].to_list()

    @property
    def complete(self) -> list[str]:
        """Return the compared systems that have a score on every target that any of them has one on."""
        own = self.known.filter(pl.col("system").is_in(self.compared))
        every = own["target"].n_unique()
        counted = own.group_by("system").len().filter(len=every)["system"].to_list()
        return [name for name in self.compared if name in counted]

    @property
    def known(self) -> pl.DataFrame:
        """Return target, system and f1 of the cells that there are."""
        return self.scores.select("target", "system", "f1").drop_nulls()

    def row(self, target: str, systems: Sequence[str]) -> pl.DataFrame:
        """Return system and f1 of systems on a target, in their order, without those that have none."""
        named = pl.DataFrame({"system": systems}, schema={"system": pl.String})
        own = self.known.filter(target=target).select("system", "f1")
        return named.join(own, on="system", how="inner", maintain_order="left")


def show(results: Results) -> Iterator[ShownTable]:
    """Yield the scores on remixes, their correlations with each other, and the scores on datasets."""
    remixes = _choose(results, "all", "remix")
    if remixes.targets.height > 1:
        rules = f"{results.task}, {results.matching} matching, rules of {results.profile}"
        yield _table_of_scores(results, remixes, "systems-on-remixes", f"F1 of systems on remixes ({rules}).")
        yield from _matrices(remixes)
    datasets = _choose(results, "all", "dataset")
    if datasets.targets.height:
        rules = f"{results.task}, {results.matching} matching, rules of {results.profile}"
        yield _table_of_scores(results, datasets, "systems-on-datasets", f"F1 of systems on datasets ({rules}).")


def _choose(results: Results, *kinds: str) -> _Cells:
    """Return the cells of the unfiltered target and of those of some kinds."""
    targets = order_targets(results, "all", "dataset", "remix")
    targets = targets.filter(pl.col("kind").is_in(kinds) | (pl.col("target") == results.unfiltered))
    systems = order_systems(results, "system", "baseline", "oracle")
    scores = scores_of_wholes(results).filter(pl.col("target").is_in(targets["target"].implode()))
    return _Cells(targets, systems, scores)


def _table_of_scores(results: Results, cells: _Cells, name: str, title: str) -> ShownTable:
    """Return a row for each target: mentions, F1 of each system, their average, correlations with the unfiltered."""
    systems = cells.systems["system"].to_list()
    frame = cells.targets.select("target", mentions=pl.when(pl.col("state") == THERE).then("mentions"))
    for system in systems:
        own = cells.scores.filter(system=system).select(
            "target",
            pl.col("f1").alias(f"f1 of {system}"),
            pl.col("f1_low").alias(f"low of {system}"),
            pl.col("f1_high").alias(f"high of {system}"),
        )
        marks = _marks(results, system).select("target", pl.col("mark").alias(f"mark of {system}"))
        frame = frame.join(own, on="target", how="left", maintain_order="left")
        frame = frame.join(marks, on="target", how="left", maintain_order="left").with_columns(
            pl.col(f"mark of {system}").fill_null("")
        )
    frame = pl.concat([frame, _summaries(results, cells)], how="horizontal")
    compared = cells.compared
    others = [system for system in systems if system not in compared]
    headings = {"target": "", "mentions": "mentions", **{f"f1 of {one}": one for one in compared}}
    headings |= {name: name for name in ("average", "pearson", "spearman") if frame[name].count()}
    headings |= {f"f1 of {one}": one for one in others}
    headings |= {"failed documents": "failed documents"} if frame["failed documents"].sum() else {}
    how = Typesetting(
        columns=headings,
        best={f"f1 of {one}": "highest" for one in compared},
        worst={f"f1 of {one}": "lowest" for one in compared},
        across=True,
        intervals={f"f1 of {one}": (f"low of {one}", f"high of {one}") for one in systems},
        marks={f"f1 of {one}": f"mark of {one}" for one in systems},
        digits=3,
    )
    return ShownTable(name, title, frame, how, tuple(_notes(results, cells, frame)))


def _marks(results: Results, system: str) -> pl.DataFrame:
    """Return the targets on which a system's F1 differs from that on the unfiltered one by more than chance."""
    return (
        _tests(results).filter(pl.col("system") == system, pl.col("p_holm") < ALPHA).select("target", mark=pl.lit("*"))
    )


def _tests(results: Results) -> pl.DataFrame:
    """Return the tests of F1 on whole targets against the unfiltered one."""
    rules = {"profile": results.profile, "task": results.task, "matching": results.matching}
    whole = {"family": "unfiltered", "against": results.unfiltered, "score": "f1", "column": "", "slice": ""}
    return results.differences.filter(**rules, **whole).filter(pl.col("system") == pl.col("other"))


def _summaries(results: Results, cells: _Cells) -> pl.DataFrame:
    """Return for each target the average of systems, the correlations of theirs with the unfiltered, and failures."""
    rows = []
    for target in cells.targets["target"]:
        own, whole = cells.row(target, cells.complete), cells.row(results.unfiltered, cells.complete)
        both = own.join(whole, on="system", suffix=" of all", maintain_order="left")
        found = correlate(both["f1"], both["f1 of all"])
        first = target == results.unfiltered
        failed = cells.scores.filter(target=target)["failed"].sum()
        rows.append(
            {
                "average": mean(own["f1"]) if len(own) > 1 else None,
                "pearson": None if first else found["pearson"],
                "spearman": None if first else found["spearman"],
                "failed documents": failed,
            }
        )
    types = {"average": pl.Float64, "pearson": pl.Float64, "spearman": pl.Float64, "failed documents": pl.Int64}
    return pl.DataFrame(rows, schema=types)


def _notes(results: Results, cells: _Cells, frame: pl.DataFrame) -> Iterator[str]:
    """Yield what is said below a table of scores."""
    compared, complete = cells.compared, cells.complete
    if not cells.systems.height:
        yield "The study names no system: there is nothing but the sizes of targets."
    if frame["average"].count():
        whom = f"all {len(complete)} systems"
        if complete != compared:
            those = f"{len(complete)} of {len(compared)} systems that have a score in every row"
            whom = f"the {those}: {list_names(complete)}"
        yield f"Average and correlations (with {results.unfiltered}) are over {whom}."
    elif len(compared) > 1:
        yield "There is no average: fewer than two systems have a score in every row."
    if compared and len(complete) < LEAST_CORRELATED:
        yield (
            f"There are no correlations: {LEAST_CORRELATED} systems with a score in every row are needed, "
            f"and there are {len(complete)}."
        )
    if others := [name for name in cells.systems["system"] if name not in compared]:
        yield f"Baselines and oracles ({list_names(others)}) are in no average and no correlation, and never the best."
    if len(compared) > 1:
        yield "The best of a row stands in bold, the worst in italics."
    if cells.scores["f1_low"].count():
        yield "In brackets stands the interval of 95 %."
    yield from _notes_of_tests(results, cells)
    for system, target, failed in (
        cells.systems.select("system")
        .join(cells.scores.filter(pl.col("failed") > 0), on="system", maintain_order="left")
        .join(cells.targets.select("target", at="place"), on="target")
        .select("system", "target", "failed")
        .iter_rows()
    ):
        documents = f"{failed} document{'s' * (failed > 1)}"
        yield f"{system} failed on {documents} of {target}, whose mentions count as not found."
    yield from tell_missing(cells.targets)
    yield from tell_missing(cells.systems, "system")
    yield from tell_missing_scores(cells.scores, cells.systems, cells.targets)


def _notes_of_tests(results: Results, cells: _Cells) -> Iterator[str]:
    """Yield what a mark says, and how many differences could not be tested."""
    shown = _tests(results).join(cells.targets.select("target"), on="target", how="semi")
    tested = shown.filter(pl.col("p_holm").is_not_null())
    if len(tested):
        family = results.differences.filter(family="unfiltered")["p_holm"].count()
        yield (
            f"A star marks a difference to {results.unfiltered} that is more than chance: its p is below {ALPHA}, "
            f"corrected by Holm for the {family} test{'s' * (family > 1)} of differences to {results.unfiltered}."
        )
    elif cells.targets.height > 1 and cells.known.height:
        yield f"No difference to {results.unfiltered} was tested."


def _matrices(cells: _Cells) -> Iterator[ShownTable]:
    """Yield the correlations between all rows, of those systems that have a score in every row."""
    systems = cells.complete
    if len(systems) < LEAST_CORRELATED:
        return
    targets = [name for name in cells.targets["target"] if cells.row(name, systems).height]
    rows = {name: cells.row(name, systems)["f1"] for name in targets}
    found = {pair: correlate(rows[pair[0]], rows[pair[1]]) for pair in product(targets, targets)}
    for method, called in (("pearson", "Pearson"), ("spearman", "Spearman")):
        values = {f"{method} with {other}": [found[one, other][method] for one in targets] for other in targets}
        frame = pl.DataFrame({"target": targets, **values}, schema_overrides=dict.fromkeys(values, pl.Float64))
        headings = {"target": "", **{f"{method} with {other}": other for other in targets}}
        note = f"Correlations are over the F1 of {len(systems)} systems: {list_names(systems, len(systems))}."
        constant = [name for name in targets if rows[name].n_unique() == 1]
        notes = [note] + (
            [f"All systems have the same F1 on {list_names(constant)}, which has no correlation."] if constant else []
        )
        title = f"{called}'s correlation between what systems score on remixes."
        yield ShownTable(f"{method}-between-remixes", title, frame, Typesetting(headings, digits=3), tuple(notes))


SYSTEMS_ON_REMIXES = Exhibit(
    name="systems-on-remixes",
    title="Systems on remixes",
    place=60,
    show=show,
    source="Table 5 of the remixing paper",
)
