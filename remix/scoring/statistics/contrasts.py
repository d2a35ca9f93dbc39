"""Many differences at once: of each two systems on each part of gold, and of each system on two targets.

The differences and their intervals are those of `remix.scoring.statistics.significance` and `intervals`; here they are
made for all pairs together, and their p-values reach as low as a correction for many tests needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.statistics import AVERAGES, Average
from remix.scoring.statistics.intervals import (
    LEAST_UNITS,
    Array,
    DocumentTables,
    Estimates,
    difference_of,
    jackknife,
    sum_documents,
    tables_of,
)
from remix.scoring.statistics.significance import signs_of

SCORES = ("precision", "recall", "f1")
FEW = 10
"""Where fewer samples than these are as large as what was observed, their share says too little of a small p."""
_PAIRS = 32
"""How many pairs are drawn for together."""
_SCHEMA = {
    "system": pl.String(),
    "other": pl.String(),
    "score": pl.String(),
    "difference": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "p": pl.Float64(),
    "documents": pl.Int64(),
}


def contrasts_of_systems(
    counts: LabelledCounts,
    keys: Sequence[str],
    documents: CaseDocuments,
    systems: Sequence[str],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    average: str = "micro",
    samples: int = 10_000,
    seed: int = 0,
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return the difference of each two systems, or of some `pairs`, in each score on each part, with interval and p.

    Columns: the keys, which name a part of the counts, `system`, `other`, `score`, `difference`, `low`, `high`, `p`,
    and `documents`, on which either of both has something to count. Where these are fewer than ten there is no p.

    `p` is that of paired approximate randomisation, as `between_systems` has it. A document changes sides in the same
    samples on all parts and for all pairs, so that a row depends on its own two systems alone, and on whole gold is
    that of `between_systems`. Where fewer than ten samples are as large as what was observed, `p` is at most what
    Hoeffding's inequality allows, 2 exp(-z²/2) with z in standard deviations of the samples: of signed sums that is
    never too small, and it reaches below 1 / samples. Sources: Noreen, Computer Intensive Methods for Testing
    Hypotheses, 1989; Hoeffding, Probability Inequalities for Sums of Bounded Random Variables, 1963.
    """
    parts = [
        _Part.of(dict(zip(keys, key, strict=True)), rows, documents, systems, averages)
        for key, rows in counts.group_by(keys, maintain_order=True)
        if rows.select((pl.sum_horizontal("tp", "fp", "fn") > 0).any()).item()
    ]
    wanted = [*combinations(systems, 2)] if pairs is None else pairs
    places = [[systems.index(name) for name in pair] for pair in wanted]
    numbers = np.array(places, dtype=np.int64).reshape(-1, 2)
    found = []
    for first in range(0, len(numbers), _PAIRS):
        own = numbers[first : first + _PAIRS]
        tests = [_Test.of(part, own, average) for part in parts]
        for signs in signs_of(len(documents), samples, seed):
            for test in tests:
                test.draw(signs)
        found += [test.rows(systems) for test in tests]
    none = counts.select(keys).clear().with_columns(pl.lit(None, kind).alias(name) for name, kind in _SCHEMA.items())
    return pl.concat([none, *found])


@dataclass(frozen=True, eq=False)
class _Part:
    """A part: the tables of all systems over the documents in which any has something, at `places` of all documents."""

    keys: Mapping[str, object]
    tables: DocumentTables
    estimates: Mapping[tuple[str, str], Estimates]
    places: Array
    counting: Array

    @classmethod
    def of(
        cls,
        keys: Mapping[str, object],
        rows: LabelledCounts,
        documents: CaseDocuments,
        systems: Sequence[str],
        averages: Mapping[str, Average],
    ) -> _Part:
        """Return the part of gold of these keys: its documents in which something counts, and the counts there."""
        numbered = documents.select("doc").with_row_index("place")
        something = rows.filter(pl.sum_horizontal("tp", "fp", "fn") > 0)
        held = numbered.join(something.select("doc").unique(), on="doc", how="semi", maintain_order="left")
        labels = pl.DataFrame({"system": [*systems], "label": np.arange(len(systems))})
        own = rows.join(labels, on="system").join(held, on="doc")
        tables = tables_of(own.drop("place"), held, len(systems), averages)
        counting = np.zeros((len(held), len(systems)), dtype=bool)
        at = held.with_row_index("unit").select("doc", "unit")
        seen = something.join(labels, on="system").join(at, on="doc")
        counting[seen["unit"].to_numpy(), seen["label"].to_numpy()] = True
        return cls(keys, tables, jackknife(tables), held["place"].to_numpy(), counting)


@dataclass(eq=False)
class _Test:
    """Pairs of systems that are drawn for on a part: how often a sample was as large, and how large samples were."""

    part: _Part
    pairs: Array
    average: str
    middle: Array
    half: Array
    documents: Array
    observed: Array
    as_large: Array
    defined: Array
    squares: Array

    @classmethod
    def of(cls, part: _Part, pairs: Array, average: str) -> _Test:
        """Return the test of pairs of systems in a part by one average, before any of its samples is drawn."""
        systems = part.tables.labels
        cells = part.tables.columns.reshape(len(part.places), -1, systems)
        one, other = (cells[:, :, pairs[:, side]].reshape(len(part.places), -1) for side in (0, 1))
        both = part.counting[:, pairs[:, 0]] | part.counting[:, pairs[:, 1]]
        differences = np.array(
            [
                part.estimates[average, score].score[pairs[:, 0]] - part.estimates[average, score].score[pairs[:, 1]]
                for score in SCORES
            ]
        )
        none = [np.zeros_like(differences) for _ in range(3)]
        return cls(
            part, pairs, average, (one + other).sum(axis=0) / 2, (one - other) / 2, both.sum(axis=0), differences, *none
        )

    def draw(self, signs: Array) -> None:
        """Count the samples of a block of signs."""
        if self.documents.max(initial=0) < LEAST_UNITS:
            return
        moved = signs[:, self.part.places] @ self.half
        tables = DocumentTables(self.half, len(self.pairs), self.part.tables.averages)
        above, below = (tables.scores(sums, self.average) for sums in (self.middle + moved, self.middle - moved))
        for nth, score in enumerate(SCORES):
            change = above[self.average, score] - below[self.average, score]
            # Sums in another order differ in the last digits: what is as large must count as such.
            self.as_large[nth] += (np.abs(change) >= np.abs(self.observed[nth]) - 1e-12).sum(axis=0)
            self.defined[nth] += (~np.isnan(change)).sum(axis=0)
            self.squares[nth] += sum_documents(np.nan_to_num(change**2))

    def rows(self, systems: Sequence[str]) -> pl.DataFrame:
        """Return the rows of all pairs and scores."""
        with np.errstate(all="ignore"):
            share = (self.as_large + 1) / (self.defined + 1)
            bound = 2 * np.exp(-(self.observed**2) / (self.squares / self.defined) / 2)
        p = np.where((self.as_large < FEW) & ~np.isnan(bound), np.minimum(share, bound), share)
        p[np.isnan(self.observed) | (self.documents < LEAST_UNITS) | (self.defined == 0)] = np.nan
        parts = []
        for nth, score in enumerate(SCORES):
            known = self.part.estimates[self.average, score]
            low, high = difference_of(known.of(self.pairs[:, 0]), known.of(self.pairs[:, 1]))
            columns = {
                "system": [systems[one] for one in self.pairs[:, 0]],
                "other": [systems[one] for one in self.pairs[:, 1]],
                "score": [score] * len(self.pairs),
                "difference": self.observed[nth],
                "low": low,
                "high": high,
                "p": p[nth],
                "documents": self.documents,
            }
            parts.append(pl.DataFrame(columns, schema=_SCHEMA))
        named = [pl.lit(value).alias(name) for name, value in self.part.keys.items()]
        return pl.concat(parts).select(*named, pl.all()).with_columns(pl.col(pl.Float64).fill_nan(None))


def contrasts_of_targets(
    counts: LabelledCounts,
    others: LabelledCounts,
    documents: CaseDocuments,
    systems: Sequence[str],
    *,
    average: str = "micro",
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return of each system the difference of its scores on two targets that may share documents, with interval and p.

    Columns: `system`, `other` (the same), `score`, `difference` (of the first less the second), `low`, `high`, `p`,
    `documents` of the first. Both counts have the numbers (`doc`) of `documents`, in which a document that both
    targets have stands once: what both scores become without it says how far they move together (`difference_of`). `p`
    is that of the jackknife of the difference, a t with as many degrees of freedom as documents count in the smaller
    target, less one; null where these are fewer than ten. Source: Tukey, Bias and Confidence in Not Quite Large
    Samples, 1958.
    """
    from scipy.special import stdtr

    labels = pl.DataFrame({"system": [*systems], "label": np.arange(len(systems))})
    one, other = (
        jackknife(tables_of(rows.join(labels, on="system"), documents, len(systems), averages))
        for rows in (counts, others)
    )
    parts = []
    for score in SCORES:
        first, second = one[average, score], other[average, score]
        low, high = difference_of(first, second)
        number = np.maximum(first.documents, second.documents)
        with np.errstate(all="ignore"):
            spread = np.sqrt(sum_documents((first.change - second.change) ** 2) * (number - 1) / number)
            difference = first.score - second.score
            least = np.minimum(first.documents, second.documents)
            p = 2 * stdtr(np.maximum(least - 1, 1), -np.abs(difference) / spread)
        p = np.where((least < LEAST_UNITS) | (spread == 0), np.nan, p)
        columns = {
            "system": systems,
            "other": systems,
            "score": [score] * len(systems),
            "difference": difference,
            "low": low,
            "high": high,
            "p": p,
            "documents": first.documents,
        }
        parts.append(pl.DataFrame(columns, schema=_SCHEMA, strict=False))
    return pl.concat(parts).with_columns(pl.col(pl.Float64).fill_nan(None))
