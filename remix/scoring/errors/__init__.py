"""Error classes: why a system is wrong, annotation by annotation, in the taxonomies of several tools. One file each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from remix.registry import Registry
from remix.scoring.matching import Case, matchings_among

COLUMN = "error_class"
"""The `column` of the rows that count errors."""

_KEYS = ["matching", "system", "doc", "class"]


_TOTALS = {"matching": pl.String, "system": pl.Int64, "doc": pl.Int64, "class": pl.String, "total": pl.Int64}


@dataclass(frozen=True)
class Errors:
    """What a taxonomy finds.

    - `rows`: matching, system, doc, mention, answer, class, `error`: each annotation of gold (`mention`) and answer
      that a class is about, either of which may be null; `error` is false where the error could have been made and was
      not;
    - `totals`: matching, system, doc, class, total: denominators that are not annotations, such as words;
    - `without`: classes without denominator.
    """

    rows: pl.DataFrame
    totals: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_TOTALS))
    without: tuple[str, ...] = ()


def class_rows(rows: pl.DataFrame, name: str, error: pl.Expr) -> pl.DataFrame:
    """Return the rows of a class as `Errors` has them, with the matching where they have one.

    `mention` and `answer` are null where rows lack them. An error that is null is none.
    """
    ids = [pl.col(one) if one in rows.columns else pl.lit(None, pl.Int64).alias(one) for one in ("mention", "answer")]
    own = [pl.lit(name).alias("class"), error.fill_null(False).alias("error")]
    return rows.select(pl.col("^matching$"), "system", "doc", *ids, *own)


def under_matchings(matchings: tuple[str, ...], find: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    """Return what is found under each matching of the registry, under `strong` if there is none among them."""
    known = matchings_among(matchings)
    return pl.concat(find(name).select(pl.lit(name).alias("matching"), pl.all()) for name in known)


@dataclass(frozen=True)
class Taxonomy:
    """A tool's classes of errors.

    - `classes`: name to meaning, in the order in which they are shown;
    - `labels`: what people call a class, or what stands before the dot in its name, where that is not the name itself;
    - `classify(case, matchings)`: the errors of all systems, by matchings of the registry or, where the tool has
      matchings of its own, by these.
    """

    name: str
    summary: str
    source: str
    classes: dict[str, str]
    classify: Callable[[Case, tuple[str, ...]], Errors]
    labels: Mapping[str, str] = field(default_factory=dict)


TAXONOMIES: Registry[Taxonomy] = Registry("taxonomy of errors", "remix.scoring.errors", Taxonomy, "taxonomies")


def label_of_class(name: str) -> str:
    """Return what people call a class of errors, by its name, which may stand behind that of its taxonomy.

    >>> label_of_class("wrong_link"), label_of_class("neleval:nil_as_link"), label_of_class("near_miss")
    ('wrong link', 'link in place of NIL', 'near miss')
    >>> label_of_class("ner_fp.wrong_span"), label_of_class("wrong_disambiguation.all")
    ('false detection, wrong span', 'wrong disambiguation')
    """
    labels = {one: said for taxonomy in TAXONOMIES for one, said in taxonomy.labels.items()}
    own = name.rpartition(":")[2]
    group, _, reason = own.partition(".")
    words = labels.get(own) or labels.get(group) or group.replace("_", " ")
    return f"{words}, {reason.replace('_', ' ')}" if own not in labels and reason not in ("", "all") else words


def rows_under(case: Case, taxonomy: str, matching: str) -> pl.DataFrame:
    """Return what a taxonomy finds under a matching, as `Errors.rows`; one with matchings of its own gives its first.

    Raises `UnknownName` for a taxonomy that does not exist.
    """
    rows = TAXONOMIES[taxonomy].classify(case, (matching,)).rows
    known = rows["matching"].unique().sort()
    return rows.filter(matching=matching if matching in known or known.is_empty() else known[0])


def error_rows(case: Case, names: Iterable[str], matchings: tuple[str, ...]) -> pl.DataFrame:
    """Return a row per system, dataset, matching and error class, in order, with `errors`, `total` and `rate`.

    Columns otherwise as `remix.scoring.evaluate` has them: `column` is 'error_class', `slice` the class. The dataset
    'all' pools every document. A class that has no denominator has none here; one that says nothing about a system
    (candidates, where it gives none) has no row.
    """
    parts = [_count(case, TAXONOMIES[name], matchings) for name in names]
    return pl.concat(parts) if parts else pl.DataFrame()


def _count(case: Case, taxonomy: Taxonomy, matchings: tuple[str, ...]) -> pl.DataFrame:
    every = _count_documents(case, taxonomy, matchings)
    pooled = case.pool()
    together = every if pooled is case else _count_documents(pooled, taxonomy, matchings)
    datasets = [together.with_columns(dataset=pl.lit("all"))]
    if case.mentions.documents["dataset"].n_unique() > 1:
        datasets.append(every)
    keys = ["name", "dataset", "matching", "class"]
    sums = pl.concat(datasets).group_by(keys).agg(pl.col("errors", "total").sum(), pl.col("without").any())
    total = pl.when(~pl.col("without")).then("total")
    sums = sums.with_columns(total=total).with_columns(rate=pl.when(pl.col("total") > 0).then(pl.col("errors") / total))
    places = {value: place for place, value in enumerate(taxonomy.classes)}
    order: list[str | pl.Expr] = [
        pl.col("class").replace_strict(places, default=len(places)),
        pl.col("dataset") != "all",
        "dataset",
        "name",
    ]
    labels = {"task": "A2KB", "column": COLUMN, "average": "micro"}
    rows = sums.sort("matching", *order).with_columns(pl.lit(value).alias(name) for name, value in labels.items())
    names = ["system", "dataset", "task", "matching", "column", "slice", "average", "errors", "total", "rate"]
    return rows.rename({"name": "system", "class": "slice"}).select(names)


def _count_documents(case: Case, taxonomy: Taxonomy, matchings: tuple[str, ...]) -> pl.DataFrame:
    """Return the errors and the total of each class by document, and whether the class has no rate."""
    found = taxonomy.classify(case, matchings)
    unit = pl.struct("mention", "answer").n_unique()
    counts = found.rows.group_by(_KEYS).agg(errors=pl.col("error").sum().cast(pl.Int64), total=unit.cast(pl.Int64))
    counts = counts.join(found.totals.rename({"total": "other"}), on=_KEYS, how="full", coalesce=True)
    counts = counts.with_columns(pl.col("errors").fill_null(0), total=pl.coalesce("other", "total"))
    counts = counts.with_columns(without=pl.col("class").is_in(found.without))
    return counts.join(case.mentions.documents, on="doc").join(case.mentions.names, on="system")
