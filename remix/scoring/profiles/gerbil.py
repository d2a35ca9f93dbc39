"""GERBIL, the General Entity Annotator Benchmark (Röder, Usbeck and Ngonga Ngomo 2018), version 1.2.9."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.scoring.cases import Case
from remix.scoring.profiles import Profile
from remix.scoring.profiles._composing import composed

SOURCES = {
    "nil": "matching/impl/AbstractMeaningMatchingsSearcher.java; gerbil.properties, DefaultWellKnownKB",
    "threshold": "evaluate/impl/ConfidenceBasedFMeasureCalculator.java",
    "pairing": "matching/impl/MatchingsCounterImpl.java",
    "undefined": "evaluate/impl/FMeasureCalculator.java",
    "macro": "evaluate/impl/FMeasureCalculator.java",
}
NOTES = {
    "order": "the order of annotations, which RDF does not have, is that of their offsets",
    "D2KB": "answers whose span is no gold mention's are left out, a second answer on one span stays, "
    "matching is strong (matching/impl/SearcherBasedNotMatchingMarkingFilter.java)",
    "InKB, EE": "each side is filtered by its own class and counted again; a document without either is "
    "perfect (evaluate/impl/ClassConsideringFMeasureCalculator.java)",
    "GSInKB": "D2KB on the mentions whose gold is in the knowledge base, not reported for other tasks "
    "(evaluate/impl/GSInKBClassifyingEvaluatorDecorator.java)",
    "sameAs": "entities are compared in canonical form and with the sameAs links of the knowledge base, not by "
    "asking the web (semantic/sameas)",
}


def _gerbil() -> Profile:
    rules = composed(
        Profile(
            name="gerbil",
            summary="greedy matching in order; emerging entities are all equal; empty documents are perfect",
            source="https://github.com/dice-group/gerbil, src/main/java/org/aksw/gerbil",
            tasks=("A2KB", "D2KB", "C2KB", "ERec"),
            matchings=("strong", "weak"),
            conventions={},
            rest="removed",
            kb_rows=True,
        ),
        (
            "nil-by-namespace",
            "optional-unknown",
            "regions-unknown",
            "alternatives-separate",
            "threshold-on-test",
            "pair-first-unused",
            "empty-is-perfect",
            "macro-of-all",
        ),
        sources=SOURCES,
        notes=NOTES,
    )

    def count(case: Case, task: str, matching: str) -> pl.DataFrame:
        counts = rules.count(case, task, matching)
        return counts.clear() if case.value == "GSInKB" and task != "D2KB" else counts

    return replace(rules, count=count)


gerbil = _gerbil()
