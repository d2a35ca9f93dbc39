"""Wrong links by how near they are: above gold's entity in the hierarchy, below it, beside it, or far from it."""

from __future__ import annotations

import polars as pl

from remix.scoring.errors import Errors, Taxonomy, class_rows, under_matchings
from remix.scoring.errors.neleval import judged_pairs
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.matching import Case

NEAR = 2
"""So many steps apart at most are near misses."""

CLASSES = {
    "near_miss": "a wrong entity at most two steps from gold's was answered (of matched mentions with entities)",
    "broader": "a near miss above gold's entity: a parent or grandparent, or its class (of the same mentions)",
    "narrower": "a near miss below gold's entity (of the same mentions)",
    "sibling": "a near miss with a parent or class that gold's entity has, too (of the same mentions)",
    "far": "a wrong entity that is further away, or in no hierarchy that is known (of the same mentions)",
}


def classify(case: Case, matchings: tuple[str, ...]) -> Errors:
    """Return the wrong links under each matching of the registry, under `strong` if there is none among them.

    Raises `UsageError` where nothing is known of classes.
    """
    from remix.scoring.matching.graded import distances

    pairs = under_matchings(matchings, lambda name: judged_pairs(case, name))
    pairs = pairs.filter((pl.col("link") != NIL) & (pl.col("answered") != NIL))
    ways = distances(case, pairs.filter(~pl.col("correct")), NEAR)
    rows = pairs.join(ways, on=["mention", "answer"], how="left", maintain_order="left")
    wrong, near = ~pl.col("correct"), pl.col("of_gold").is_not_null()
    above, below = pl.col("of_answer") == 0, pl.col("of_gold") == 0
    errors = {
        "near_miss": near,
        "broader": near & above,
        "narrower": near & below & ~above,
        "sibling": near & ~above & ~below,
        "far": ~near,
    }
    return Errors(pl.concat(class_rows(rows, name, wrong & error) for name, error in errors.items()))


hierarchy = Taxonomy(
    name="hierarchy",
    summary="wrong links by their distance in the hierarchy: near miss (broader, narrower, sibling), far",
    source="remix.scoring.matching.graded; Rada et al. 1989",
    classes=CLASSES,
    classify=classify,
)
