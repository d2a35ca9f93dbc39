"""Systems by columns, which are datasets or slices: who is the best, who differs from whom, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from remix.expressions import sum_up
from remix.scoring.statistics.intervals import LEAST_UNITS
from remix.scoring.statistics.significance import holm_within
from remix.systems import KINDS

ALPHA = 0.05
"""What p is below where two systems are told to differ."""

UNCOMPARED = "†"
"""Marks scores of which many answers cannot be compared to gold's entities."""
MANY = 0.1
"""The share of answers on linked mentions from which on these are many."""


@dataclass(frozen=True)
class Family:
    """The tests that are corrected together: `pairs` with `p_holm`, how many there are, and how many are known so far.

    `words` say which tests they are, with numbers as soon as these cannot change any more. Until all are
    known p is corrected by Bonferroni for as many as there will be, which is never below what Holm's procedure gives in
    the end: no star is taken back.
    """

    pairs: pl.DataFrame
    tests: int
    known: int
    words: str


def family_of(
    pairs: pl.DataFrame, cells: pl.DataFrame, kinds: Mapping[str, str], against: str = "", *, whole: bool = True
) -> Family:
    """Return the tests that are asked for: of all pairs of systems, or of one `against` all others, in each column.

    `pairs` have part, system, other and p; `cells` system, part and `documents`, a row for each score that is asked
    for. Baselines are tested where one of them is what others are held `against`, oracles never. Where `pairs` are not
    the `whole`, as long as some are computed, the number of tests is that of the scores that are there.
    """
    if "p" not in pairs.columns:
        none = {"part": pl.String, "system": pl.String, "other": pl.String, "p": pl.Float64}
        pairs = pl.DataFrame(schema=none)
    tested = {name for name in cells["system"] if kinds.get(name, "system") != "oracle"}
    if not against:
        tested = {name for name in tested if kinds.get(name, "system") == "system"}
    own = pairs.select("part", "system", "other", pl.all().exclude("part", "system", "other", "p_holm"))
    both = pl.col("system").is_in(tested) & pl.col("other").is_in(tested)
    held = (pl.col("system") == against) | (pl.col("other") == against) if against else pl.lit(True)
    own = own.filter(both, held, pl.col("part").is_in(cells["part"].implode()))
    known = own["p"].count()
    tests = known if whole else max(known, _count_tests(cells, tested, against))
    own = own.with_columns(p_holm=holm_within() if whole else (pl.col("p") * tests).clip(None, 1.0))
    return Family(own, tests, known, _say_which(own.drop_nulls("p"), against, whole=whole))


def _say_which(pairs: pl.DataFrame, against: str, *, whole: bool) -> str:
    """Return which tests are corrected together, and how many where all are known."""
    both = "have scores in the same column of ten documents or more"
    if not whole:
        return f"the tests of {against} with each other system where both {both}" if against else (
            f"the tests of all pairs of systems that {both}"
        )  # fmt: skip
    columns, systems = pairs["part"].n_unique(), len({*pairs["system"], *pairs["other"]} - {against})
    tests = f"{len(pairs):,} test{'s' if len(pairs) != 1 else ''}"
    on = f"{columns} column{'s' if columns != 1 else ''}"
    if against:
        others = f"{systems} other{'s' if systems != 1 else ''}"
        return f"{tests} on {on}: of {against} with each of {others} where both {both}"
    return f"{tests} on {on}: of all pairs of {systems} systems that {both}"


def _count_tests(cells: pl.DataFrame, tested: Collection[str], against: str) -> int:
    """Return how many tests there will be in columns of enough documents."""
    enough = cells.filter(pl.col("documents") >= LEAST_UNITS, pl.col("system").is_in([*tested]))
    sizes = enough.group_by("part").agg(systems=pl.len(), held=(pl.col("system") == against).any())
    if against:
        return int(sizes.filter("held")["systems"].sum()) - int(sizes["held"].sum())
    return sum(len([*combinations(range(systems), 2)]) for systems in sizes["systems"])


def mark_cells(cells: pl.DataFrame, family: Family, kinds: Mapping[str, str], against: str = "") -> pl.DataFrame:
    """Return the cells with `kind`, `reference`, which system others of the column are held against, `p` and `mark`.

    It is the best system of the column unless one is named; of several that are equally good it is the first
    by name. A baseline or an oracle is never the best, nor is a score of 0. A mark is 'best', or
    'reference' where one is named, or a star where p is below 0.05.
    """
    kind = pl.col("system").replace_strict(dict(kinds), default="system", return_dtype=pl.String)
    cells = cells.drop("p", strict=False).with_columns(kind=kind)
    ranked = pl.when(pl.col("f1") > 0, kind="system").then("f1")
    first = pl.col("system").sort_by(ranked, "system", descending=[True, False], nulls_last=True).first().over("part")
    best = ranked.max().over("part")
    reference = pl.lit(against) if against else pl.when(best.is_not_null()).then(first)
    cells = cells.with_columns(reference=reference, best=(ranked == best).fill_null(False))
    turned = {"system": "other", "other": "system"}
    both = [family.pairs.select("part", "system", reference="other", p="p_holm")]
    both.append(family.pairs.rename(turned).select("part", "system", reference="other", p="p_holm"))
    cells = cells.join(pl.concat(both), on=["part", "system", "reference"], how="left", maintain_order="left")
    own = pl.lit(bool(against)) & (pl.col("system") == pl.col("reference"))
    best_of_all = pl.col("best") & pl.lit(not against)
    mark = pl.when(own).then(pl.lit("reference")).when(best_of_all).then(pl.lit("best"))
    return cells.with_columns(mark=mark.when(pl.col("p") < ALPHA).then(pl.lit("*")).otherwise(pl.lit("")))


def mark_uncompared(cells: pl.DataFrame) -> pl.DataFrame:
    """Return marked cells with `†` at the end of the mark where a tenth or more of the answers cannot be compared.

    `uncompared` is their share of the answers on linked mentions, where cells have it.

    >>> cells = pl.DataFrame({"mark": ["*", "", "best"], "uncompared": [0.1, 0.6, None]})
    >>> mark_uncompared(cells)["mark"].to_list()
    ['* †', '†', 'best']
    """
    if "uncompared" not in cells.columns:
        return cells
    marked = (pl.col("mark") + f" {UNCOMPARED}").str.strip_chars()
    return cells.with_columns(mark=pl.when(pl.col("uncompared") >= MANY).then(marked).otherwise("mark"))


@dataclass(frozen=True)
class Order:
    """Systems in the order of their rows, with `mean` where that is what they are ordered by, and why in `words`."""

    rows: pl.DataFrame
    words: str
    shared: Sequence[str] = ()


def order_systems(
    cells: pl.DataFrame, parts: Sequence[str], group: Callable[[Sequence[str]], Sequence[Sequence[str]]] = lambda _: ()
) -> Order:
    """Return the systems of marked cells, first systems, then baselines and oracles, by their mean over the `parts`.

    The mean is over the parts in which all systems have a score, and it is not made where there is none. Of datasets
    that hold the same texts, as `group` groups those that it is given, the one of most `mentions` counts.

    >>> cells = pl.DataFrame({"system": ["a", "a", "b"], "part": ["x", "y", "x"], "f1": [0.2, 0.9, 0.4],
    ...     "kind": "system"})
    >>> found = order_systems(cells, ["x", "y"])
    >>> found.rows["system"].to_list(), found.words
    (['b', 'a'], 'Rows are in the order of x, the one of 2 columns that both systems have.')
    """
    known = cells.filter(pl.col("f1").is_not_null())
    proper = cells.filter(kind="system") if (cells["kind"] == "system").any() else cells
    names = proper["system"].unique()
    held = known.filter(pl.col("system").is_in(names.implode())).group_by("part").agg(pl.col("system").n_unique())
    common = {*held.filter(pl.col("system") == len(names))["part"]}
    shared = [part for part in parts if part in common]
    editions = [_put_largest_first(cells, one) for one in group(shared)] if len(shared) > 1 else []
    counted = [part for part in shared if not any(part in others for _, *others in editions)]
    mean = pl.when(pl.col("f1").count() == len(counted)).then(pl.col("f1").mean())
    means = sum_up(known.filter(pl.col("part").is_in(counted)), "system", mean=mean)
    place = pl.col("kind").replace_strict({kind: nth for nth, kind in enumerate(KINDS)}, return_dtype=pl.Int64)
    rows = (
        cells.select("system", "kind").unique("system").join(means, on="system", how="left")
        .sort(place, "mean", "system", descending=[False, True, False], nulls_last=True)
    )  # fmt: skip
    return Order(rows, _explain_order(parts, shared, counted, editions, len(names)), counted)


def _put_largest_first(cells: pl.DataFrame, parts: Sequence[str]) -> list[str]:
    sizes = dict(cells.group_by("part").agg(pl.col("mentions").max()).iter_rows())
    return sorted(parts, key=lambda part: (-(sizes.get(part) or 0), part))


def _explain_order(
    parts: Sequence[str], shared: Sequence[str], counted: Sequence[str], editions: Sequence[Sequence[str]], systems: int
) -> str:
    """Return by what rows are in order."""
    every = {1: "the system has", 2: "both systems have"}.get(systems, f"all {systems} systems have")
    if not shared:
        return f"No column is one that {every}: rows are in the order of their names."
    if len(shared) == 1:
        one = f"the one of {len(parts)} columns that {every}" if len(parts) > 1 else "the column"
        return f"Rows are in the order of {shared[0]}, {one}."
    by = counted[0] if len(counted) == 1 else f"their mean over {len(counted)}"
    if not editions:
        return f"Rows are in the order of their mean over the {len(shared)} of {len(parts)} columns that {every}."
    told = "; ".join(f"{first} in place of {' and '.join(others)}" for first, *others in editions)
    words = f"Rows are in the order of {by} of the {len(shared)} columns that {every}: of datasets that share half or "
    return f"{words}more of their texts the largest counts ({told})."
