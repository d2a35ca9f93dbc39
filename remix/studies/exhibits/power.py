"""How many documents it would take to find a difference of one, two or five points between two systems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from remix.paper import Typesetting
from remix.scoring.statistics.intervals import LEAST_UNITS, jackknife
from remix.scoring.statistics.power import difference_found, documents_needed, spread_of_difference, times_needed
from remix.studies.claims import compared_pairs
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._counts import tables_of_target
from remix.studies.exhibits._holes import THERE, list_names, order_systems, order_targets, tell_missing
from remix.studies.results import Results

POINTS = (1, 2, 5)
_SAID = (
    "Needed are so many documents like those of the target that a paired test finds the difference in four of five "
    "cases, at a level of 0.05 and alone: a test that is corrected for others needs more."
)


def show(results: Results) -> Iterator[ShownTable]:
    """Yield how many documents each target would need, and each two systems on the unfiltered one."""
    pairs = {target: _pairs(results, target) for target in order_targets(results, "all", "dataset", "remix")["target"]}
    known = {target: own for target, own in pairs.items() if own.height}
    if not known:
        return
    yield _by_target(results, known, [target for target, own in pairs.items() if own.is_empty()])
    if results.unfiltered in known:
        yield _by_pair(results, known[results.unfiltered])


def _pairs(results: Results, target: str) -> pl.DataFrame:
    """Return system, other, documents, spread, `found`, and the documents needed; nothing of under ten documents."""
    systems = order_systems(results, "system").filter(state=THERE)["system"].to_list()
    tables, labels = tables_of_target(results, target, systems)
    number = len(tables.columns)
    rows = []
    if number >= LEAST_UNITS and len(labels) > 1:
        estimates = jackknife(tables)["micro", "f1"]
        one, other = np.array([*combinations(range(len(labels)), 2)], dtype=np.int64).T
        spreads = spread_of_difference(estimates.of(one), estimates.of(other))
        for first, second, spread in zip(one, other, spreads.tolist(), strict=True):
            row = {"system": labels[first][2], "other": labels[second][2], "documents": number, "spread": spread}
            row |= {f"needed {points}": documents_needed(spread, points / 100) for points in POINTS}
            rows.append({**row, "found": difference_found(spread, number)})
    kinds = {"system": pl.String, "other": pl.String, "documents": pl.Int64, "spread": pl.Float64}
    needed = dict.fromkeys((f"needed {points}" for points in POINTS), pl.Int64)
    return pl.DataFrame(rows, schema={**kinds, **needed, "found": pl.Float64})


def _by_target(results: Results, known: dict[str, pl.DataFrame], lacking: list[str]) -> ShownTable:
    rows = []
    for target, own in known.items():
        told = own.drop_nulls("found")
        row = {"target": target, "documents": own["documents"][0], "pairs": told.height}
        for points in POINTS:
            needed = told[f"needed {points}"]
            row |= {f"{points}": needed.quantile(0.5, "higher"), f"least {points}": needed.min()}
            row |= {f"most {points}": needed.max()}
        rows.append({**row, "found": told["found"].median()})
    numbers = [f"{kind}{points}" for points in POINTS for kind in ("", "least ", "most ")]
    frame = pl.DataFrame(rows, schema_overrides={"found": pl.Float64}).with_columns(pl.col(numbers).cast(pl.Int64))
    frame = frame.with_columns(points=100 * pl.col("found"))
    columns = {"target": "", "documents": "documents", "pairs": "pairs"}
    columns |= {f"{points}": f"for {points} point{'s' * (points > 1)}" for points in POINTS}
    how = Typesetting(
        columns={**columns, "points": "found with these"},
        intervals={f"{points}": (f"least {points}", f"most {points}") for points in POINTS},
        digits={"points": 1},
    )
    few = (
        [f"{list_names(lacking)} {'has' if len(lacking) == 1 else 'have'} no two systems on ten documents."]
        if lacking
        else []
    )
    notes = (
        _SAID,
        "The median of pairs of systems stands first, in brackets the pair that needs fewest and the one that needs "
        "most; two systems of the same counts everywhere are no pair. In the last column stands the difference in "
        "points that the median pair would be found by with the documents that there are.",
        *few,
        *tell_missing(results.targets),
    )
    return ShownTable("documents-needed", "Documents needed to find a difference in micro-F1.", frame, how, notes)


def _by_pair(results: Results, own: pl.DataFrame) -> ShownTable:
    target = results.unfiltered
    frame = own.with_columns(points=100 * pl.col("found"))
    columns = {"system": "system", "other": "other"}
    columns |= {f"needed {points}": f"for {points} point{'s' * (points > 1)}" for points in POINTS}
    how = Typesetting(columns={**columns, "points": "found with these"}, digits={"points": 1})
    same = "Where there is no number, both have the same counts in all documents."
    title = f"Documents needed to find a difference in micro-F1 of each two systems on {target}."
    corrected = [
        f"Of {tests} tests of two systems, which this study makes on {target} and its parts, each has a level of 0.05 "
        f"/ {tests} (Bonferroni), and takes {times_needed(tests):.1f} times as many."
        for tests in (compared_pairs(results)["p"].count(),)
        if tests > 1
    ]
    notes = (_SAID, *corrected, f"There are {own['documents'][0]:,} documents.", same)
    return ShownTable("documents-needed-by-pair", title, frame, how, notes)


POWER = Exhibit(name="power", title="Power", place=100, show=show)
