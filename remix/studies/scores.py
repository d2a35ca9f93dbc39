"""From the counts of systems on a target to their scores, and to the tests of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product

import polars as pl

from remix.question import Question
from remix.scoring.choice import Choice, choose
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import expand, rows_of, with_means
from remix.scoring.statistics import precision_of_f1, with_fp_of_f1, with_tp_of_gold
from remix.scoring.statistics.contrasts import contrasts_of_systems, contrasts_of_targets
from remix.scoring.statistics.intervals import LEAST_UNITS
from remix.signature import content_hash
from remix.studies.shelf import StepShelf, key_of, write_frames


@dataclass(frozen=True)
class Tests:
    """What is scored and how differences are tested: fields of a study."""

    tasks: tuple[str, ...]
    matchings: tuple[str, ...]
    average: str
    unit: str
    samples: int
    seed: int


_WHOLE = pl.col("column") == ""


@dataclass(frozen=True, eq=False)
class TargetCounts:
    """The counts of all systems on a target by a profile, with the documents that they are over.

    `counts` have the false positives of the precision that is shown as `fp`, and the number of a document as `doc`;
    `places` has doc, document and nth; `shown` is which precision each column shows, `keys` those of counts.
    """

    target: str
    profile: str
    systems: tuple[str, ...]
    counts: pl.DataFrame
    places: pl.DataFrame
    shown: Mapping[str, str]
    failed: Mapping[str, int]
    keys: Mapping[str, str]


def read_counts(
    shelf: StepShelf, target: str, profile: str, cells: Sequence[tuple[str, str]], *, parts: bool = True
) -> TargetCounts:
    """Return the counts of systems, each with the key of its step, on the target and its `parts`, or on it alone."""
    kept = pl.lit(parts) | _WHOLE
    # Systems of the same answers share a step, whose rows have the name of the first.
    found = {
        system: shelf.get("count", key, "counts").filter(kept).with_columns(system=pl.lit(system))
        for system, key in cells
    }
    places = pl.concat([shelf.get("count", key, "documents") for _, key in cells]).unique().sort("document", "nth")
    places = places.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("doc"), "document", "nth")
    counts = pl.concat(found.values(), how="diagonal_relaxed").join(places, on=["document", "nth"])
    shown, every = {}, []
    whole = counts.filter(_WHOLE)
    for (column,), own in counts.group_by("column", maintain_order=True):
        of = precision_of_f1(pl.concat([whole, own]) if column else own)
        shown[str(column)] = of
        every.append(with_fp_of_f1(own, of).with_columns(fp="fp_of_f1", cut=pl.lit(False)))
    failed = {system: int(shelf.get("count", key, "failed")["failed"][0]) for system, key in cells}
    return TargetCounts(target, profile, tuple(found), pl.concat(every), places, shown, failed, dict(cells))


def choice_of(tests: Tests, profile: str) -> Choice:
    """Return what is asked of rows by a profile; their counts are there."""
    asked = Question[str](profile=profile, task=tests.tasks, match=tests.matchings, unit=tests.unit, intervals=True)
    return choose(asked)


@dataclass(frozen=True, eq=False)
class SystemRows:
    """What is made of the counts of systems one by one on a target: `scores`, `counts` per document as results have
    them and, where the target is held against another, the `differences` of each system on both."""

    scores: pl.DataFrame
    counts: pl.DataFrame
    differences: pl.DataFrame


def rows_of_systems(
    tests: Tests,
    found: TargetCounts,
    shelf: StepShelf,
    *,
    held: TargetCounts | None = None,
    documents: Mapping[str, str] | None = None,
) -> SystemRows:
    """Return the rows of all systems on a target, those of each being kept on the shelf by its own counts.

    So of a system more its own are made alone. `held` are the counts on the target that this one is held against,
    `documents` the steps of the documents of both by their targets.
    """
    beside = sorted(found.keys.items()) if PROFILES[found.profile].sparse else []  # it leaves out what nobody has
    common = {"tests": asdict(tests), "profile": found.profile, "documents": dict(documents or {}), "beside": beside}
    read = {**common, "on": [_about(one) for one in (found, held) if one is not None]}
    held_keys = held.keys if held is not None else {}
    keys = {
        name: key_of("system", {**read, "counts": key, "held": held_keys.get(name, "")})
        for name, key in found.keys.items()
    }
    missing = [name for name, key in keys.items() if not shelf.has("system", key)]
    if missing and beside:
        missing = [*keys]
    if missing:
        some = replace(found, systems=tuple(missing), counts=found.counts.filter(pl.col("system").is_in(missing)))
        made = {"scores": _score(tests, some), "counts": counts_shown(tests, some)}
        if held is not None:
            made["differences"] = differences_of_targets(tests, some, held, _originals(shelf, documents or {}))
        for name in missing:
            with shelf.writing("system", keys[name], f"{name} on {found.target}") as place:
                write_frames(place, {kind: rows.filter(system=name) for kind, rows in made.items() if len(rows)})
    every: dict[str, list[pl.DataFrame]] = {"scores": [], "counts": [], "differences": []}
    for name, key in keys.items():
        for kind, rows in every.items():
            if (shelf.place("system", key) / f"{kind}.parquet").is_file():
                # Systems of the same answers share a step, whose rows have the name of the first.
                rows.append(_name_system(shelf.get("system", key, kind), name))
    parts = {kind: pl.concat(rows, how="diagonal_relaxed") if rows else pl.DataFrame() for kind, rows in every.items()}
    return SystemRows(_describe_rows(found, parts["scores"]), parts["counts"], parts["differences"])


def _about(found: TargetCounts) -> list[object]:
    return [found.target, dict(found.shown), content_hash(found.places.write_csv())]


def _name_system(rows: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return the rows of one system, of a difference with itself too, under its name."""
    names = [name for name in ("system", "other") if name in rows.columns]
    return rows.with_columns(pl.lit(system).alias(name) for name in names)


def _originals(shelf: StepShelf, documents: Mapping[str, str]) -> pl.DataFrame:
    return pl.concat(
        shelf.get("documents", key, "documents").with_columns(target=pl.lit(name)) for name, key in documents.items()
    )


def _score(tests: Tests, found: TargetCounts) -> pl.DataFrame:
    """Return the rows of scores of systems on a target and its parts."""
    choice = choice_of(tests, found.profile)
    own = found.places.select("doc", "document", dataset=pl.lit("its own"))
    places = pl.concat([own, own.with_columns(dataset=pl.lit("all"))])
    if len(own) < LEAST_UNITS:
        choice = replace(choice, intervals=False)
    counts = found.counts.drop("document", "nth", "fp_of_f1")
    rows = with_means(rows_of(counts, places, found.systems, expand(choice), ()), choice)
    return rows.filter(dataset="all").drop("dataset")


def _describe_rows(found: TargetCounts, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of scores with what is said of the target and of its systems."""
    sizes = _documents_of_parts(found.counts)
    rows = rows.join(sizes, on=["column", "slice"], how="left", maintain_order="left")
    failures = pl.DataFrame([*found.failed.items()], schema={"system": pl.String, "failed": pl.Int64}, orient="row")
    rows = rows.drop("failed", strict=False).join(failures, on="system", how="left", maintain_order="left")
    of_f1 = pl.col("column").replace_strict(found.shown, default="all", return_dtype=pl.String)
    return rows.with_columns(
        target=pl.lit(found.target),
        f1_precision=of_f1,
        documents=pl.when(_WHOLE).then("documents").otherwise("held").fill_null(0).cast(pl.Int64),
        mentions=pl.col("mentions").fill_null(0).cast(pl.Int64),
        state=pl.lit("there"),
        told=pl.lit(""),
    ).drop("held")


def _documents_of_parts(counts: pl.DataFrame) -> pl.DataFrame:
    """Return column, slice and `held`: in how many documents a part has mentions."""
    held = counts.filter(pl.col("tp") + pl.col("fn") > 0)
    return held.group_by("column", "slice").agg(held=pl.col("doc").n_unique().cast(pl.Int64))


def differences(tests: Tests, found: TargetCounts, shelf: StepShelf, *, parts: bool) -> pl.DataFrame:
    """Return the difference of each two systems on a target and, with `parts`, on each of its parts.

    A row is of its two systems alone: those of each pair are kept on the shelf by the counts of both, so that a system
    more is tested against the others and these are not tested again.
    """
    counts = found.counts if parts else found.counts.filter(_WHOLE)
    read = {
        "tests": asdict(tests),
        "profile": found.profile,
        "shown": dict(found.shown),
        "parts": parts,
        "places": content_hash(found.places.write_csv()),
    }
    pairs = {
        pair: key_of("pair", {**read, "counts": [found.keys[name] for name in pair]})
        for pair in combinations(found.systems, 2)
    }
    for (one, other), own in _test_pairs(
        tests, found, counts, [p for p, k in pairs.items() if not shelf.has("pair", k)]
    ):
        with shelf.writing("pair", pairs[one, other], f"{one} and {other} on {found.target}") as place:
            write_frames(place, {"pair": own})
    kept = [
        shelf.get("pair", key, "pair").with_columns(system=pl.lit(one), other=pl.lit(other))
        for (one, other), key in pairs.items()
    ]
    rows = pl.concat(kept, how="diagonal_relaxed")
    every = pl.when(_WHOLE).then(found.places.height).otherwise("documents").cast(pl.Int64)
    rows = rows.with_columns(documents=every)
    labels = {"family": "systems", "target": found.target, "against": found.target, "profile": found.profile}
    return rows.with_columns(pl.lit(value).alias(name) for name, value in labels.items())


def _test_pairs(
    tests: Tests, found: TargetCounts, counts: pl.DataFrame, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    """Yield each pair with its rows."""
    if not pairs:
        return
    rows = contrasts_of_systems(
        counts,
        ["task", "matching", "column", "slice"],
        found.places,
        found.systems,
        pairs=pairs,
        average=tests.average,
        samples=tests.samples,
        seed=tests.seed,
        averages=PROFILES[found.profile].averages,
    )
    for pair in pairs:
        yield pair, rows.filter(system=pair[0], other=pair[1])


def differences_of_targets(
    tests: Tests, found: TargetCounts, unfiltered: TargetCounts, originals: pl.DataFrame
) -> pl.DataFrame:
    """Return the difference of each system on a target and on the one that targets are held against.

    `originals` (target, document, original) say which documents of both are the same.
    """
    both = [one for one in found.systems if one in unfiltered.systems]
    one, other = (
        each.places.join(originals.filter(target=each.target).select("document", "original"), on="document", how="left")
        .with_columns(pl.coalesce("original", "document").alias("original"))
        .select("doc", "original", "nth")
        for each in (found, unfiltered)
    )
    every = pl.concat([one, other]).select("original", "nth").unique().sort("original", "nth")
    every = every.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64))
    documents = every.select(doc="place")
    parts = []
    for task, matching in product(*(found.counts[name].unique().sort() for name in ("task", "matching"))):
        rows = [
            _sums_by_original(each.counts.filter(_WHOLE, task=task, matching=matching), places, every)
            for each, places in ((found, one), (unfiltered, other))
        ]
        if any(each.is_empty() for each in rows):
            continue
        tested = contrasts_of_targets(
            rows[0], rows[1], documents, both, average=tests.average, averages=PROFILES[found.profile].averages
        )
        parts.append(tested.with_columns(task=pl.lit(task), matching=pl.lit(matching)))
    if not parts:
        return pl.DataFrame()
    labels = {
        "family": "unfiltered",
        "target": found.target,
        "against": unfiltered.target,
        "profile": found.profile,
        "column": "",
        "slice": "",
    }
    return pl.concat(parts).with_columns(pl.lit(value).alias(name) for name, value in labels.items())


def _sums_by_original(counts: pl.DataFrame, places: pl.DataFrame, originals: pl.DataFrame) -> pl.DataFrame:
    """Return the counts by the numbers of originals: documents that are one in the other target count together."""
    own = counts.join(places, on="doc").join(originals, on=["original", "nth"])
    sums = [name for name in ("tp", "fp", "fn", "fp_of_f1", "tp_of_gold") if name in own.columns]
    others = [name for name in ("has_gold",) if name in own.columns]
    grouped = own.group_by("system", "place", maintain_order=True).agg(pl.col(sums).sum(), pl.col(others).any())
    return grouped.with_columns(_UNSCOPED).rename({"place": "doc"})


_UNSCOPED = [pl.lit(None, pl.Int64).alias(name) for name in ("fp_in_scope", "fp_on_mention")]


def counts_shown(tests: Tests, found: TargetCounts) -> pl.DataFrame:
    """Return the counts per document as results have them, of the first rules."""
    rows = found.counts.filter(task=tests.tasks[0], matching=tests.matchings[0])
    rows = with_tp_of_gold(rows).rename({"tp_of_gold": "found"})
    rows = rows.with_columns(target=pl.lit(found.target), profile=pl.lit(found.profile))
    sums = [pl.col(name).sum().cast(pl.Float64) for name in ("tp", "fp", "fn", "found")]
    keys = ["system", "target", "profile", "task", "matching", "column", "slice", "document"]
    return rows.group_by(keys, maintain_order=True).agg(sums)
