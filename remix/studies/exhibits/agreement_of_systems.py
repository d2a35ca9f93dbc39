"""How far systems agree: the mentions that all, some and none of them find, and each two systems side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from remix.paper import Typesetting
from remix.scoring.statistics.agreement import kappa, kappa_of_several
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._verdicts import Found, found_mentions, groups_of, tell_fitted
from remix.studies.results import Results

_SHARES = ("all", "some", "none")


def show(results: Results) -> Iterator[ShownTable]:
    """Yield how many mentions all, some and none find, by dataset, remix, class and part, and how far two agree."""
    found = found_mentions(results)
    if len(found.systems) < 2:
        return
    yield _all_some_none(results, found)
    yield _pairs(found)


def _all_some_none(results: Results, found: Found) -> ShownTable:
    right, number = found.right.sum(axis=1), len(found.systems)
    shares = {"all": right == number, "some": (right > 0) & (right < number), "none": right == 0}
    rows = []
    for of, name, own in groups_of(results, found.mentions):
        row: dict[str, object] = {"of": of, "part": name, "mentions": len(own)}
        for called, values in shares.items():
            bounds = found.rate(values.astype(np.float64), own)
            ends = (f"share {called}", f"low {called}", f"high {called}")
            row |= dict(zip(ends, bounds, strict=True))
        rows.append({**row, "kappa": kappa_of_several(pl.Series(right[own]), number)})
    numbers = [f"{end} {name}" for name in _SHARES for end in ("share", "low", "high")]
    frame = pl.DataFrame(rows, schema_overrides=dict.fromkeys([*numbers, "kappa"], pl.Float64))
    how = Typesetting(
        columns={"of": "", "part": "", "mentions": "mentions"}
        | {f"share {name}": name for name in _SHARES}
        | {"kappa": "κ"},
        intervals={f"share {name}": (f"low {name}", f"high {name}") for name in _SHARES},
        digits={"kappa": 3, **dict.fromkeys((f"share {name}" for name in _SHARES), 1)},
    )
    notes = (
        *found.notes(),
        *tell_fitted(results),
        "In brackets stands the interval of 95 %, where ten documents hold the mentions.",
        "κ is that of Fleiss, of systems that find a mention or do not.",
    )
    title = f"Shares of the mentions that all, some and none of {number} systems find."
    return ShownTable("mentions-that-all-some-none-find", title, frame, how, notes)


def _pairs(found: Found) -> ShownTable:
    rows = []
    for one, other in combinations(range(len(found.systems)), 2):
        first, second = found.right[:, one], found.right[:, other]
        rows.append(
            {
                "system": found.systems[one],
                "other": found.systems[other],
                "share both": float((first & second).mean()),
                "share first alone": float((first & ~second).mean()),
                "share second alone": float((~first & second).mean()),
                "share neither": float((~first & ~second).mean()),
                "share agreed": float((first == second).mean()),
                "kappa": kappa(pl.DataFrame({"one": first, "other": second})),
            }
        )
    frame = pl.DataFrame(rows, schema_overrides={"kappa": pl.Float64})
    shares = {name: name.removeprefix("share ") for name in frame.columns if name.startswith("share ")}
    how = Typesetting(columns={"system": "first", "other": "second", **shares, "kappa": "κ"}, digits=_digits(shares))
    notes = (
        *found.notes(),
        f"Shares are of all {len(found.mentions):,} mentions; two agree where both find a mention, or neither does.",
        "κ is that of Cohen.",
    )
    return ShownTable("agreement-of-systems", "How far each two systems find the same mentions.", frame, how, notes)


def _digits(shares: dict[str, str]) -> dict[str, int]:
    return {**dict.fromkeys(shares, 1), "kappa": 3}


AGREEMENT_OF_SYSTEMS = Exhibit(
    name="agreement-of-systems",
    title="Agreement of systems and mentions that all, some or none find",
    place=90,
    show=show,
)
