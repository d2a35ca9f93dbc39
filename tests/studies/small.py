"""Small results of studies for tests of exhibits, counted from eight mentions, three systems and a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from remix.schemas import fit
from remix.studies.results import TABLES, Results, no_results

RULES = {"profile": "remix", "task": "A2KB", "matching": "strong"}
_DEFAULTS: Mapping[str, object] = {
    **RULES,
    "state": "there",
    "told": "",
    "column": "",
    "slice": "",
    "average": "micro",
    "query": "",
    "kind": "system",
    "level": "annotation",
    "dataset": "all",
    "target": "all",
    "against": "all",
    "score": "f1",
    "failed": 0,
    "documents": 10,
    "mentions": 100,
    "coverage": 1.0,
}
CUTS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "ambiguitySurfaceForm:thresholds:3,30": ("annotation", (3, 30)),
    "pagerank:thresholds:0.3": ("annotation", (0.3,)),
    "numAnnotations:thresholds:1,2": ("document", (1, 2)),
}
"""The columns of the small study: of what they are, and where they are cut."""
REMIXES = {"persons": pl.col("class") == "person"}
"""The remixes of the small study, and which mentions are in each."""


def rows(table: str, *given: Mapping[str, object]) -> pl.DataFrame:
    """Return a table of results of which each row names what matters; what else there is has a default, or is null.

    `place` is the place of the row.
    """
    schema = TABLES[table].types
    filled = [{"place": place, **_DEFAULTS, **row} for place, row in enumerate(given)]
    names = [*schema, *dict.fromkeys(name for row in given for name in row if name not in schema)]
    frame = pl.DataFrame([{name: row.get(name) for name in names} for row in filled], infer_schema_length=None)
    return frame.with_columns(fit(frame, schema))


def small_mentions() -> pl.DataFrame:
    """Return the mentions of the small study with what became of them in each system: c(orrect), w(rong), m(issed)."""
    return pl.DataFrame(
        [
            ("a", "a/1", "x:Ada", "person", 1, 0.5, 3, "c", "c", "w", "c"),
            ("a", "a/1", "x:Rome", "place", 1, 0.1, 3, "c", "c", "m", "c"),
            ("a", "a/1", "x:Bede", "person", 10, None, 3, "c", "w", "m", "w"),
            ("a", "a/2", "x:Acme", "organisation", 10, 0.5, 1, "c", "w", "c", "c"),
            ("b", "b/1", "x:Cleo", "person", 100, None, 2, "c", "m", "c", "m"),
            ("b", "b/1", "x:Rome", "place", 1, 0.1, 2, "w", "c", "c", "c"),
            ("b", "b/2", "x:Dido", "person", 10, 0.1, 2, "c", "c", "m", "w"),
            ("b", "b/2", None, "place", 100, None, 2, "m", "c", "w", "m"),
        ],
        schema=["dataset", "document", "entity", "class", "ambiguitySurfaceForm", "pagerank", "numAnnotations"]
        + ["One", "Two", "Three", "Prior"],
        orient="row",
    )


SYSTEMS = {"One": "system", "Two": "system", "Three": "system", "Prior": "baseline"}


def small_results() -> Results:
    """Return the results of the small study: two datasets, `all` of them and a remix; every number can be counted.

    F1 of One, Two, Three and Prior on all: 6 of 8 are right and 1 is wrong, so 12/(12+1+2) = 0.8; 5 right and 2 wrong:
    10/(10+2+3) = 0.667; 3 right and 2 wrong: 6/(6+2+5) = 0.462; 4 right and 2 wrong: 8/(8+2+4) = 0.571. Intervals are
    0.1 to either side.
    """
    return count_results(small_mentions(), SYSTEMS)


def count_results(
    given: pl.DataFrame,
    systems: Mapping[str, str],
    *,
    cuts: Mapping[str, tuple[str, tuple[float, ...]]] = CUTS,
    remixes: Mapping[str, pl.Expr] = REMIXES,
) -> Results:
    """Return the results that follow from mentions with what became of them in systems (see `small_mentions`).

    `systems` are their kinds, `cuts` the level and thresholds of columns, `remixes` which mentions each has.
    """
    mentions = given.with_row_index("mention").with_columns(
        pl.col("mention").cast(pl.Int64), annotation=pl.concat_str("document", pl.lit("#"), "mention")
    )
    datasets = mentions["dataset"].unique().sort().to_list()
    members = {"all": pl.lit(value=True)}
    members |= {name: pl.col("dataset") == name for name in datasets} | dict(remixes)
    held = pl.concat(mentions.filter(rule).select("mention", target=pl.lit(name)) for name, rule in members.items())
    sizes = [pl.col("document").n_unique().cast(pl.Int64).alias("documents"), pl.len().cast(pl.Int64).alias("mentions")]
    targets = [
        {"target": name, "kind": "all" if name == "all" else "remix" if name in remixes else "dataset"}
        | mentions.filter(rule).select(sizes).row(0, named=True)
        for name, rule in members.items()
    ]
    parts, inside = _cut(mentions, cuts)
    outcomes = mentions.unpivot(list(systems), index="mention", variable_name="system", value_name="letter").select(
        "mention",
        "system",
        outcome=pl.col("letter").cast(pl.String).replace_strict({"c": "correct", "w": "wrong", "m": "missed"}),
        confidence=pl.lit(None, pl.Float64),
    )
    whole = mentions.select("mention", column=pl.lit(""), slice=pl.lit(""))
    counts = (
        outcomes.join(held, on="mention")
        .join(pl.concat([whole, inside]), on="mention")
        .join(mentions.select("mention", "document"), on="mention")
        .group_by("system", "target", "column", "slice", "document", maintain_order=True)
        .agg(
            tp=(pl.col("outcome") == "correct").sum().cast(pl.Float64),
            fp=(pl.col("outcome") == "wrong").sum().cast(pl.Float64),
            fn=(pl.col("outcome") != "correct").sum().cast(pl.Float64),
            found=(pl.col("outcome") == "correct").sum().cast(pl.Float64),
        )
    )
    composition = held.join(mentions, on="mention").group_by("target", "dataset", maintain_order=True).agg(sizes)
    keep = [name for name in mentions.columns if name not in systems]
    found = no_results(
        targets=rows("targets", *targets),
        systems=rows("systems", *({"system": name, "kind": kind} for name, kind in systems.items())),
        composition=composition,
        measures=_measure(mentions, members),
        mentions=mentions.select(*_OWN, *(name for name in keep if name not in _OWN)),
        parts=parts,
        members=inside,
        selected=held.filter(pl.col("target").is_in([*remixes])).select("target", "mention"),
        scores=_score(counts),
        counts=fit(counts.with_columns(**_literals(RULES)), TABLES["counts"].types),
        outcomes=outcomes,
    )
    return replace(found, columns=tuple(cuts))


_OWN = ("mention", "dataset", "document", "annotation", "entity", "class")


def _measure(mentions: pl.DataFrame, members: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Return some measures of targets: shares of types and of prominent entities, and means."""
    prominent = pl.col("pagerank") > 0.3
    micro = {
        "typePerson": (pl.col("class") == "person").mean(),
        "typeOrganisation": (pl.col("class") == "organisation").mean(),
        "typePlace": (pl.col("class") == "place").mean(),
        "pagerankSegmentHead": prominent.fill_null(value=False).mean(),
        "pagerankSegmentTail": prominent.not_().fill_null(value=False).mean(),
        "pagerankSegmentUnspecified": pl.col("pagerank").is_null().mean(),
        "ambiguitySurfaceForm": pl.col("ambiguitySurfaceForm").mean(),
        "pagerank": pl.col("pagerank").mean(),
    }
    given: list[dict[str, object]] = []
    for target, rule in members.items():
        own = mentions.filter(rule)
        for name, value in micro.items():
            known = own["pagerank"].count() / max(1, own.height) if name == "pagerank" else 1.0
            given.append(
                {
                    "target": target,
                    "measure": name,
                    "value": own.select(value.cast(pl.Float64)).item(),
                    "coverage": known,
                }
            )
        mean = own.height / own["document"].n_unique() if own.height else None
        given.append({"target": target, "measure": "numAnnotations", "average": "macro", "value": mean})
    return rows("measures", *given)


def _literals(values: Mapping[str, object]) -> dict[str, pl.Expr]:
    return {name: pl.lit(value) for name, value in values.items()}


def _cut(
    mentions: pl.DataFrame, cuts: Mapping[str, tuple[str, tuple[float, ...]]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the parts of columns for each dataset and for all, and the mentions that are in each."""
    parts: list[dict[str, object]] = []
    inside: list[pl.DataFrame] = []
    for column, (level, thresholds) in cuts.items():
        value = pl.col(column.partition(":")[0])
        bounds: Sequence[tuple[float | None, float | None]] = list(
            zip((None, *thresholds), (*thresholds, None), strict=True)
        )
        rules = {"unspecified": (0, None, None, value.is_null())}
        for number, (low, high) in enumerate(bounds, 1):
            ends = ["" if one is None else f"{one:g}" for one in (low, high)]
            name = "-".join(one for one in ["above" * (not ends[1]), ends[0] or "to", ends[1]] if one)
            above = value.is_not_null() if low is None else value > low
            below = value.is_not_null() if high is None else value <= high
            rules[name] = (number, low, high, (above & below).fill_null(value=False))
        for name, (number, low, high, rule) in rules.items():
            own = mentions.filter(rule)
            inside.append(own.select("mention", column=pl.lit(column), slice=pl.lit(name)))
            for dataset in ("all", *mentions["dataset"].unique().sort()):
                some = own if dataset == "all" else own.filter(dataset=dataset)
                row = {"column": column, "level": level, "part": number, "slice": name, "low": low, "high": high}
                parts.append(
                    row | {"dataset": dataset, "documents": some["document"].n_unique(), "mentions": some.height}
                )
    return rows("parts", *parts), pl.concat(inside) if inside else TABLES["members"].empty()


def _score(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of counts, with intervals of 0.1 to either side."""
    tp, fp, fn = pl.col("tp"), pl.col("fp"), pl.col("fn")
    ratios = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}
    summed = counts.group_by("system", "target", "column", "slice", maintain_order=True).agg(
        pl.sum("tp", "fp", "fn"),
        documents=pl.len().cast(pl.Int64),
        mentions=(pl.sum("tp") + pl.sum("fn")).cast(pl.Int64),
    )
    scored = summed.with_columns(
        pl.when(whole > 0).then(part / whole).otherwise(0.0).alias(name) for name, (part, whole) in ratios.items()
    )
    ends = {f"{name}_low": (pl.col(name) - 0.1).clip(0, 1) for name in ratios}
    ends |= {f"{name}_high": (pl.col(name) + 0.1).clip(0, 1) for name in ratios}
    fixed = {"average": "micro", "failed": 0, "state": "there", "told": "", **RULES}
    full = scored.with_columns(**ends, **_literals(fixed))
    return fit(full, TABLES["scores"].types)


def shuffle(results: Results, seed: int) -> Results:
    """Return the same results with the rows of every table in another order."""
    return replace(
        results, **{name: getattr(results, name).sample(fraction=1, shuffle=True, seed=seed) for name in TABLES}
    )
