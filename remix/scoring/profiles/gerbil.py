"""GERBIL, the General Entity Annotator Benchmark (Röder, Usbeck and Ngonga Ngomo 2018), version 1.2.9."""

from __future__ import annotations

import polars as pl

from remix.scoring.conventions import compared, pairing, scores
from remix.scoring.matching import Case, Counter, matching_named
from remix.scoring.profiles import Conventions, Profile
from remix.scoring.statistics import UNSCOPED
from remix.scoring.tasks.typing import compare_types, on_gold_spans

NOTES = {
    "order": "the order of annotations, which RDF does not have, is that of their offsets",
    "D2KB": "answers whose span is no gold mention's are left out, a second answer on one span stays, "
    "matching is strong (matching/impl/SearcherBasedNotMatchingMarkingFilter.java)",
    "InKB, EE": "each side is filtered by its own class and counted again, above the threshold of all mentions, in "
    "D2KB of answers on any gold span; a document without either is perfect, a class without any mention has no row; "
    "ERec has none (evaluate/impl/ClassConsideringFMeasureCalculator.java, evaluate/EvaluatorFactory.java)",
    "GSInKB": "D2KB on the mentions whose gold is in the knowledge base, not reported for other tasks "
    "(evaluate/impl/GSInKBClassifyingEvaluatorDecorator.java)",
    "ETyping, RT2KB": "each mention has a precision and a recall of its classes and those below them in well-known "
    "knowledge bases, 1 where neither side has any, 0 where it is missed or extra; micro scores are their means, macro "
    "ones those of documents with mentions (matching/impl/HierarchicalMatchingsCounter.java, "
    "evaluate/impl/HierarchicalFMeasureCalculator.java)",
    "sameAs": "entities are compared in canonical form and with the sameAs links of the knowledge base, not by "
    "asking the web (semantic/sameas)",
}


CLASSED = ("A2KB", "D2KB", "C2KB")
"""The tasks whose results GERBIL also gives by classes of the knowledge base (evaluate/EvaluatorFactory.java)."""


def _counting(rules: Counter) -> Counter:
    def count(case: Case, task: str, matching: str) -> pl.DataFrame:
        if task in ("ETyping", "RT2KB"):
            return _typing(case, task, matching)
        counts = rules(case, task, matching)
        shown = task == "D2KB" if case.value == "GSInKB" else task in CLASSED
        return counts.clear() if case.column == "kb" and not shown else counts

    return count


def _typing(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the sums over mentions of their precision (`tp`) and recall (`tp_of_gold`)."""
    spans = matching_named("strong" if task == "ETyping" else matching)
    found = compare_types(case, spans, below=True, within=compared.WELL_KNOWN, bare=True)
    found = on_gold_spans(found) if task == "ETyping" else found
    nothing = (pl.col("asked") == 0) & (pl.col("answered") == 0)
    share = {
        name: pl.when(nothing).then(1.0).when(pl.col("shared") == 0).then(0.0).otherwise(pl.col("shared") / pl.col(of))
        for name, of in (("tp", "answered"), ("tp_of_gold", "asked"))
    }
    keys, own, none = ["system", "doc"], pl.lit(1, pl.Int64), pl.lit(0, pl.Int64)
    every = pl.concat(
        [
            found.pairs.select(*keys, **share, asked=own),
            found.missed.select(*keys, tp=0.0, tp_of_gold=0.0, asked=own),
            found.extra.select(*keys, tp=0.0, tp_of_gold=0.0, asked=none),
        ]
    )
    rows = every.group_by(keys, maintain_order=True).agg(pl.all().sum(), size=pl.len())
    wrong = [(pl.col("size") - pl.col(right)).alias(name) for right, name in (("tp", "fp"), ("tp_of_gold", "fn"))]
    return rows.with_columns(*wrong, *UNSCOPED, ignored=none).drop("size")


gerbil = Profile(
    name="gerbil",
    summary="greedy matching in order; emerging entities are all equal; empty documents are perfect",
    source="https://github.com/dice-group/gerbil, src/main/java/org/aksw/gerbil",
    tasks=("A2KB", "D2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    rest="removed",
    kb_rows="always",
    around=_counting,
    conventions=Conventions(
        nil=compared.nil_by_namespace.with_source(
            "matching/impl/AbstractMeaningMatchingsSearcher.java; gerbil.properties, DefaultWellKnownKB"
        ),
        optional=compared.optional_unknown,
        regions=compared.regions_unknown,
        alternatives=compared.alternatives_separate,
        repeated=compared.repeated_each,
        threshold=compared.threshold_on_test.with_source("evaluate/impl/ConfidenceBasedFMeasureCalculator.java"),
        pairing=pairing.pair_first_unused.with_source("matching/impl/MatchingsCounterImpl.java"),
        macro=scores.macro_of_all.with_source("evaluate/impl/FMeasureCalculator.java"),
        undefined=scores.empty_is_perfect.with_source("evaluate/impl/FMeasureCalculator.java"),
    ),
    notes=NOTES,
)
