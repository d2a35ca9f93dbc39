"""What may be said of a study in words: its weaknesses and differences that are more than chance, and by which family.

A page of words tests two families: parts of mentions in each system (`weaknesses`), and pairs of systems on all
mentions and on each part (`differences` of the results, by F1). The first is corrected by how its tests go together
(`remix.scoring.statistics.families`), the second by Holm, and then both for there being two (Bonferroni), so that a
study without any difference says something in one of twenty. A row is claimed where its corrected p, `p_family`, is at
most 0.05.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.scoring.statistics.significance import holm_within
from remix.studies.results import Results
from remix.studies.weaknesses import StudiedParts, studied_parts, weaknesses

LEVEL = 0.05
"""How often a study in which nothing differs may claim something."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The tests of a study: rows of `weaknesses` and of pairs of systems, each with `p_family` and `claimed`.

    `parts` are those that were tested; a claim is a row that holds after correction over all tests of the study.
    """

    parts: StudiedParts
    weak: pl.DataFrame
    pairs: pl.DataFrame

    @property
    def tests(self) -> tuple[int, int]:
        """Return how many tests of parts, and of pairs, there are."""
        return self.weak["p"].count(), self.pairs["p"].count()

    @property
    def families(self) -> int:
        """Return how many kinds of tests there are, for which all are corrected."""
        return max(1, sum(number > 0 for number in self.tests))

    @property
    def claims(self) -> pl.DataFrame:
        """Return the rows of weaknesses over all mentions that are claimed."""
        return self.weak.filter(pl.col("claimed"), within="")


def findings(results: Results) -> Findings:
    """Return all that the page of words tests, corrected over the study."""
    parts = studied_parts(results)
    weak, pairs = weaknesses(results, parts), compared_pairs(results)
    families = max(1, sum(table["p"].count() > 0 for table in (weak, pairs)))
    return Findings(parts, _claim(weak, "p_corrected", families), _claim(pairs, "p_holm", families))


def _claim(rows: pl.DataFrame, corrected_once: str, families: int) -> pl.DataFrame:
    corrected = (pl.col(corrected_once) * families).clip(None, 1.0)
    return rows.with_columns(p_family=corrected, claimed=(corrected <= LEVEL).fill_null(value=False))


def compared_pairs(results: Results) -> pl.DataFrame:
    """Return the differences in F1 of two systems on the unfiltered target and its parts; `p_holm` is of these rows.

    That is by the first rules of the study. Oracles are not compared.
    """
    rules = {"profile": results.profile, "task": results.task, "matching": results.matching}
    shown = {"family": "systems", "target": results.unfiltered, "score": "f1"}
    oracles = results.systems.filter(kind="oracle")["system"].implode()
    rows = results.differences.filter(**rules, **shown)
    rows = rows.filter(~pl.col("system").is_in(oracles), ~pl.col("other").is_in(oracles))
    return rows.sort("column", "slice", "system", "other").with_columns(p_holm=holm_within())
