"""Fuzzy matching: the spans overlap and their texts are alike."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.dense import look_up
from remix.scoring.matching import Case, Matching, with_detail

DEFAULT = 0.85


def _similar(case: Case) -> pl.DataFrame:
    """Return the overlapping pairs with `similarity`: 1 - edit distance / length of the longer text.

    It is 1 for equal spans, and null where the words of one of the two are not known, which is said.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    case = with_detail(case, "surface_form")
    pairs = look_up(case.overlaps, "g", case.gold, ["surface_form"]).rename({"surface_form": "asked"})
    pairs = look_up(pairs, "a", case.answers, ["surface_form"])
    texts = (pairs[name].fill_null("").to_list() for name in ("asked", "surface_form"))
    found: list[float] = []
    if len(pairs):
        found = cpdist(*texts, scorer=Levenshtein.normalized_similarity, dtype="float64").tolist()
    known = pl.col("asked").is_not_null() & pl.col("surface_form").is_not_null()
    alike = pl.when("equal").then(1.0).when(known).then(pl.Series(found, dtype=pl.Float64))
    pairs = pairs.with_columns(similarity=alike).drop("asked", "surface_form")
    if unknown := pairs["similarity"].null_count():
        progress.note(
            f"fuzzy matching compares words, and {unknown} overlapping spans match nothing because theirs are not "
            "known: give gold with its texts, or runs with surface forms"
        )
    return pairs


def _at(threshold: float, name: str = "") -> Matching:
    alike = pl.col("similarity") >= threshold
    return Matching(
        name or f"fuzzy({threshold:g})",
        f"the spans overlap and 1 - edit distance / longer length is {threshold:g} or more; fuzzy(T) for another T",
        # At 1 only equal spans are alike: the same word beside itself is no match.
        pl.col("equal") if threshold == 1 else alike,
        _similar,
        _at,
    )


def _over(threshold: float, name: str = "") -> Matching:
    return Matching(
        name or f"fuzzy-over({threshold:g})",
        f"the spans overlap and 1 - edit distance / longer length is above {threshold:g}, as EUEF has it",
        pl.col("similarity") > threshold,
        _similar,
        _over,
    )


fuzzy = _at(DEFAULT, "fuzzy")
fuzzy_over = _over(DEFAULT, "fuzzy-over")
