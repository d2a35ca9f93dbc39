"""What a dataset is made of and how it differs from others, in sentences made by rules from its measures.

Spoken of are the measures that are told (`remix.measures.declaration.Summary.is_told`), by their micro average where
they have one, as far as they could be computed for half of the annotations or more.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from remix.expressions import sum_up
from remix.measures import MEASURES, Measured
from remix.measures.labels import COUNT, COUNTED, label_of
from remix.reports.statistics import choose_average, cover_types

LEAST_COVERED = 0.5
"""The share of annotations or documents that a measure has to speak for."""
LEAST_DATASETS = 3
"""Datasets among which one is told to be the first or the last."""
_TYPES = ("typePerson", "typeOrganisation", "typePlace")
_SEEN = 0.05
"""Shares from which on it is told what they are of."""
_TOLD = 5
"""Differences that are told of two datasets: as many as types and readings, which people ask for first."""


def tell_dataset(measured: Measured, name: str) -> str:
    """Return a sentence on a dataset: readings a name, its types, NIL, and in what it is beyond all others.

    Where the types of fewer than half of its mentions are known, it is told how many instead. It is empty where nothing
    of these could be computed.
    """
    values = _list_values(measured)
    own = {row["measure"]: row["value"] for row in values.filter(dataset=name).to_dicts()}
    parts = [_say("ambiguitySurfaceForm", own["ambiguitySurfaceForm"])] if "ambiguitySurfaceForm" in own else []
    types = [one for one in _TYPES if own.get(one, 0) >= _SEEN]
    parts += [_say(one, own[one]) for one in sorted(types, key=lambda one: -own[one])]
    typed = choose_average(cover_types(measured.datasets), "micro").filter(dataset=name, measure=_TYPES[0])
    if typed.height and typed["coverage"][0] < LEAST_COVERED:
        parts.append(f"a known type for {100 * typed['coverage'][0]:.0f} % of its mentions alone")
    parts += [_say("nilExplicit", own["nilExplicit"])] if own.get("nilExplicit", 0) >= _SEEN else []
    beyond = _find_extremes(values, name, measured.datasets["dataset"].n_unique())
    said = "; ".join(filter(None, [", ".join(parts), beyond]))
    return f"{name}: {said}." if said else ""


def tell_differences(measured: Measured, first: str, second: str) -> str:
    """Return what one dataset has more and fewer of than another, the largest difference first, in a sentence."""
    values = _list_values(measured).filter(pl.col("dataset").is_in([first, second]))
    known = {(dataset, measure): value for dataset, measure, value in values.iter_rows()}
    told = []
    for measure in rank_differences(measured, [first, second])["measure"].head(_TOLD):
        one, other = known[first, measure], known[second, measure]
        if _value(measure, one) != _value(measure, other):
            more = "more" if one > other else "fewer"
            told.append(f"{more} {_LABELS[measure]} ({_value(measure, one)} against {_value(measure, other)})")
    return f"{first} has {', '.join(told)} than {second}." if told else ""


def rank_differences(measured: Measured, names: Sequence[str], *, every: bool = False) -> pl.DataFrame:
    """Return measure and `apart` of the told measures that all of these datasets have, the largest first.

    With `every` they are all measures, however few annotations they speak for.
    They are `apart` by as many standard deviations of all datasets that tell enough of the measure, or else of all that
    have it; where these are fewer than three, by the share that the smallest value lacks of the largest one. Of a share
    of mentions the deviation is no less than that which chance alone makes of as few mentions: 2 of 144 are not far
    from none, however rare it is elsewhere.
    """
    enough, all_of_them = (_list_values(measured, every=every, enough=one) for one in (True, False))
    values = all_of_them if every else enough
    spreads = [sum_up(one, "measure", spread=pl.col("value").std(), count=pl.len()) for one in (enough, all_of_them)]
    counted = pl.concat([spreads[0].filter(pl.col("count") >= LEAST_DATASETS), spreads[1]])
    spread = counted.unique("measure", keep="first", maintain_order=True)
    own = values.filter(pl.col("dataset").is_in([*names])).join(
        _count_mentions(measured), on=["dataset", "measure"], how="left", maintain_order="left"
    )
    of = pl.col("of").sort_by("value")
    found = own.group_by("measure").agg(
        datasets=pl.len(), high=pl.col("value").max(), low=pl.col("value").min(), of_high=of.last(), of_low=of.first()
    )
    found = found.filter(datasets=len({*names})).join(spread, on="measure")
    difference = pl.col("high") - pl.col("low")
    of_high, of_low = pl.col("of_high"), pl.col("of_low")
    share = (pl.col("high") * of_high + pl.col("low") * of_low) / (of_high + of_low)
    by_chance = (share * (1 - share) * (1 / of_high + 1 / of_low)).sqrt()
    least = pl.max_horizontal("spread", by_chance)
    deviations = pl.when(pl.col("spread") > 0).then(difference / least).otherwise(0.0)
    lacking = pl.when(pl.col("high") > 0).then(difference / pl.col("high")).otherwise(0.0)
    apart = pl.when(pl.col("count") >= LEAST_DATASETS).then(deviations).otherwise(lacking)
    return found.select("measure", apart=apart).sort("apart", "measure", descending=[True, False])


def propose_pairs(measured: Measured, among: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return pairs of datasets that differ much by what they differ in: the highest and the lowest among these.

    They are told by the measures that people ask for first; no pair is proposed twice.
    """
    values = _list_values(measured).filter(pl.col("dataset").is_in(among))
    found = dict[str, tuple[str, str]]()
    for measure in _PROPOSED:
        own = values.filter(measure=measure).sort("value", "dataset", descending=[True, False])
        if own.height > 1 and own["value"][0] > own["value"][-1]:
            pair = own["dataset"][0], own["dataset"][-1]
            if pair not in found.values():
                found[f"most and fewest {_LABELS[measure]}"] = pair
    return found


_PROPOSED = ("ambiguitySurfaceForm", "density", "nilExplicit")
"""Measures by which two datasets are proposed to be compared."""


def find_distance(samples: Sequence[pl.Series]) -> float:
    """Return how far the first of several samples is from the others at the most, 0 where one is empty.

    It is the largest difference of the shares that have no more than x (the statistic of Kolmogorov and Smirnov).

    >>> find_distance([pl.Series([1, 2, 3, 4]), pl.Series([3, 4, 5, 6])])
    0.5
    """
    if any(one.is_empty() for one in samples):
        return 0.0
    first, *others = (one.cast(pl.Float64).sort() for one in samples)
    found = 0.0
    for other in others:
        places = pl.concat([first, other]).unique()
        shares = (one.search_sorted(places, side="right") / len(one) for one in (first, other))
        own, against = shares
        found = max(found, float((own - against).abs().max() or 0.0))  # type: ignore[arg-type]
    return found


_SUMMARIES = {one.name: one for measure in MEASURES for one in measure.summaries if one.is_told}
_LABELS = {name: one.label for name, one in _SUMMARIES.items()}
_IS_SHARE = {name: one.is_share for name, one in _SUMMARIES.items()}


def _list_values(measured: Measured, *, every: bool = False, enough: bool = True) -> pl.DataFrame:
    """Return dataset, measure and value of the told measures, or of `every` one, where it speaks for `enough`."""
    rows = choose_average(cover_types(measured.datasets), "micro").filter(pl.col("value").is_not_null())
    rows = rows if every else rows.filter(pl.col("measure").is_in([*_LABELS]))
    if enough:
        rows = rows.filter(pl.col("coverage") >= LEAST_COVERED)
    return rows.unique(["dataset", "measure"], keep="first", maintain_order=True).select("dataset", "measure", "value")


def _count_mentions(measured: Measured) -> pl.DataFrame:
    """Return dataset, measure and `of`: how many mentions each share of mentions could be computed for."""
    sizes = measured.datasets.filter(measure="numAnnotations", average=COUNT).select("dataset", size="value")
    shares = [name for name in COUNTED if label_of(name, of_statistics=True).unit == "share"]
    rows = choose_average(measured.datasets, "micro").filter(pl.col("measure").is_in(shares)).join(sizes, on="dataset")
    return rows.select("dataset", "measure", of=pl.col("size") * pl.col("coverage")).filter(pl.col("of") > 0)


def _find_extremes(values: pl.DataFrame, name: str, every: int) -> str:
    """Return in what a dataset is the first or the last of all, that in which it is farthest from the next before.

    Of a measure that fewer than `every` dataset tell enough of, it is said how many do.
    """
    value = pl.col("value")
    ranked = values.with_columns(
        count=pl.len().over("measure"),
        spread=value.std().over("measure"),
        higher=(value.max() > value.top_k(2).min()).over("measure") & (value == value.max().over("measure")),
        lower=(value.min() < value.bottom_k(2).max()).over("measure") & (value == value.min().over("measure")),
        gap=pl.max_horizontal(
            (value - value.top_k(2).min()).over("measure"), (value.bottom_k(2).max() - value).over("measure")
        ),
    ).filter(pl.col("count") >= LEAST_DATASETS, pl.col("spread") > 0, dataset=name)
    found = ranked.filter(pl.col("higher") | pl.col("lower")).sort(
        pl.col("gap") / pl.col("spread"), "measure", descending=[True, False]
    )
    rows = found.head(2).to_dicts()
    words = [f"{'more' if row['higher'] else 'fewer'} {_LABELS[row['measure']]}" for row in rows]
    fewest = min((row["count"] for row in rows), default=every)
    among = f" (of {fewest} datasets that tell enough of it)" if fewest < every else ""
    return f"{' and '.join(words)} than any other here{among}" if words else ""


def _say(measure: str, value: float) -> str:
    return f"{_value(measure, value)} {_LABELS[measure]}"


def _value(measure: str, value: float) -> str:
    if _IS_SHARE[measure]:
        return f"{100 * value:.0f} %"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 or not value else f"{value:.2g}"
