"""GERBIL, the General Entity Annotator Benchmark (Röder, Usbeck and Ngonga Ngomo 2018), version 1.2.9."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import polars as pl

from remix.dense import look_up
from remix.expressions import sum_up
from remix.frames import Frames
from remix.names import DBO, DBR
from remix.scoring.conventions import aspects
from remix.scoring.conventions.aspects import first_unused
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case, Counter, Judged, Matching, matching_named
from remix.scoring.profiles import PLAIN_GOLD, Profile
from remix.scoring.statistics import UNSCOPED
from remix.scoring.statistics.thresholds import choose_best
from remix.scoring.tasks import elements
from remix.scoring.tasks.typing import CLASS_LISTS, ClassList, class_spans, compare_types, on_gold_spans

WELL_KNOWN = (
    DBR,
    DBO,
    "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#",
    "http://ontologydesignpatterns.org/ont/dul/DUL.owl#",
    "http://www.ontologydesignpatterns.org/ont/d0.owl#",
    "http://www.wikidata.org/entity/",
    "http://d-nb.info/",
)
"""GERBIL's namespaces of well-known knowledge bases (gerbil.properties, DefaultWellKnownKB)."""

# In canonical form, in which links are, no host but that of Wikidata begins with www.
_OF_LINKS = {*WELL_KNOWN, *(one.replace("://www.ontology", "://ontology") for one in WELL_KNOWN)}


def _in_well_known(frames: Frames) -> Frames:
    """Return the frames with NIL for annotations none of whose links is in a well-known knowledge base."""
    known = pl.any_horizontal(pl.col("entity").str.starts_with(one) for one in sorted(_OF_LINKS))
    if frames.links.select(known.all()).item():
        return frames
    links = frames.links.filter(known.any().over("annotation"))
    none = pl.col("annotation").is_in(links["annotation"].unique().implode())
    return replace(frames, links=links, annotations=frames.annotations.with_columns(is_nil=~none))


def _empty_is_perfect() -> dict[str, pl.Expr]:
    def fill(score: pl.Expr, wrong: pl.Expr) -> pl.Expr:
        empty = (pl.col("tp") == 0) & (wrong == 0) & (pl.col("fn") == 0)
        return pl.when(empty).then(1.0).otherwise(score.fill_null(0.0))

    return aspects.fill_scores(fill)


CLASSED = ("A2KB", "D2KB", "C2KB")
"""The tasks whose results GERBIL also gives by classes of the knowledge base (evaluate/EvaluatorFactory.java)."""


_BEST = partial(choose_best, of_nothing=1.0)
"""Chooses the answers above the threshold of the best micro-F1; that of nothing at all is 1."""


def _counting(rules: Counter) -> Counter:
    def count(case: Case, task: str, matching: str) -> Counts:
        _refuse(task, matching)
        if task in _TYPINGS:
            counts = _typing(_BEST(case, task, matching, _typing), task, matching)
            return counts.clear() if case.column == "kb" else counts
        if task == "ERec-classes":
            case, task = class_spans(case).of_spans, "ERec"  # spans in one another are merged, equal ones too
        counts = rules(case, task, matching)
        shown = task == "D2KB" if case.value == "GSInKB" else task in CLASSED
        return counts.clear() if case.column == "kb" and not shown else counts

    return count


def _judge_in_order(case: Case, matching: Matching) -> Judged:
    """Return each mention with its first answer whose span matches and that no mention before it took."""
    judged = case.judge("span, link first", matching)
    taken = first_unused(elements(case, "ERec", matching.name).edges)
    mentions = case.kept.select("group", "mention")
    pairs = look_up(taken, "group", mentions, ["mention"])
    right = pl.col("answer").is_in(taken["answer"].implode())
    return Judged(
        judged.answers.with_columns(outcome=pl.when(right).then(pl.lit("tp")).otherwise(pl.lit("fp"))),
        taken.select("system", "doc", "group"),
        pairs.select("system", "mention", "answer", correct=pl.lit(True)),
    )


_OF_OKE = {f"ETyping(classes={name})": known for name, known in CLASS_LISTS.items()}
_OF_ALL = ClassList(pl.any_horizontal(pl.col("class").str.starts_with(one) for one in WELL_KNOWN))
_TYPINGS = {"RT2KB": _OF_ALL, "ETyping": _OF_ALL, **_OF_OKE}
"""The tasks that compare classes, and the classes that each knows."""


def _refuse(task: str, matching: str) -> None:
    """Raise `UnknownName` for a task that GERBIL has not, `UsageError` for a matching that counts in part."""
    aspects.refuse_beside(task, matching, known=(*aspects.OF_PEERS, "ERec-classes", *_TYPINGS))


def _typing(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the sums over mentions of their precision (`tp`) and recall (`tp_of_gold`)."""
    of_spans, listed = task != "RT2KB", _TYPINGS[task]
    spans = matching_named("strong" if of_spans else matching)
    found = compare_types(listed.narrow(case), spans, below=True, within=listed.holds, bare=True, judge=_judge_in_order)
    found = on_gold_spans(found) if of_spans else found
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
    rows = sum_up(every, keys, pl.all().sum(), size=pl.len())
    wrong = [(pl.col("size") - pl.col(right)).alias(name) for right, name in (("tp", "fp"), ("tp_of_gold", "fn"))]
    return rows.with_columns(*wrong, *UNSCOPED, ignored=none).drop("size")


gerbil = Profile(
    name="gerbil",
    summary="greedy matching in order; emerging entities are all equal; empty documents are perfect",
    source="https://github.com/dice-group/gerbil, src/main/java/org/aksw/gerbil",
    tasks=("A2KB", "D2KB", "C2KB", "ERec"),
    matchings=("strong", "weak"),
    refuse=_refuse,
    conventions=replace(
        PLAIN_GOLD,
        nil=aspects.Nil(
            name="nil-by-namespace",
            words="an entity outside the well-known knowledge bases is an emerging entity, and all of these are equal",
            source="matching/impl/AbstractMeaningMatchingsSearcher.java; gerbil.properties, DefaultWellKnownKB",
            gold=_in_well_known,
            run=_in_well_known,
        ),
        repeated=aspects.repeated_each,
        threshold=aspects.Threshold(
            name="threshold-on-test",
            words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such "
            "one",
            source="evaluate/impl/ConfidenceBasedFMeasureCalculator.java",
            choose=_BEST,
        ),
        pairing=aspects.pair_first_unused.with_source("matching/impl/MatchingsCounterImpl.java"),
        macro=aspects.macro_of_all.with_source("evaluate/impl/FMeasureCalculator.java"),
        undefined=aspects.Undefined(
            name="empty-is-perfect",
            words="P = R = F1 = 1 where nothing is asked and nothing answered; 0 where only one of them is",
            source="evaluate/impl/FMeasureCalculator.java",
            scores=_empty_is_perfect,
        ),
    ),
    adjust_counting=_counting,
    outside_slice="removed",
    parts={
        "OKE-1": ("ERec", "D2KB", "ETyping(classes=OKE-1)"),
        "OKE-2": ("ETyping(classes=OKE-2)", "ERec-classes"),
    },
    kb_rows="always",
    by_document=True,
    notes={
        "order": "the order of annotations, which RDF does not have, is that of their offsets",
        "confidence": "an answer of confidence 0 counts where no threshold is better, as a document is counted without "
        "filter first (matching/scored/ScoredMatchingsCounterImpl.java); where documents are added up, the source of "
        "today lets that count give way to the one above 0 (matching/scored/ScoredEvaluationCountsArray.java)",
        "D2KB": "answers whose span is no gold mention's are left out, a second answer on one span stays, "
        "matching is strong (matching/impl/SearcherBasedNotMatchingMarkingFilter.java)",
        "InKB, EE": "each side is filtered by its own class and counted again, above the threshold of all mentions, in "
        "D2KB of answers on any gold span; a document without either is perfect, a class without any mention has no "
        "row; ERec has none (evaluate/impl/ClassConsideringFMeasureCalculator.java, evaluate/EvaluatorFactory.java)",
        "GSInKB": "D2KB on the mentions whose gold is in the knowledge base, not reported for other tasks "
        "(evaluate/impl/GSInKBClassifyingEvaluatorDecorator.java)",
        "ETyping, RT2KB": "each mention has a precision and a recall of its classes and those below them in well-known "
        "knowledge bases, 1 where neither side has any, 0 where it is missed or extra; micro scores are their means, "
        "macro ones those of documents with mentions (matching/impl/HierarchicalMatchingsCounter.java, "
        "evaluate/impl/HierarchicalFMeasureCalculator.java)",
        "OKE-1": "its ETyping knows four classes alone: d0:Location, dul:Organization, dul:Person and dul:Role "
        "(evaluate/EvaluatorFactory.java)",
        "OKE-2": "its ETyping knows the classes of ontologydesignpatterns.org alone, of mentions that name no class "
        "themselves; spans that name one are merged where one is within the other "
        "(evaluate/EvaluatorFactory.java, evaluate/impl/SpanMergingEvaluatorDecorator.java)",
        "existence": "the tool looks up whether gold's entities exist, those of DBpedia in its index and those of "
        "Wikipedia in the web, and has one that does not, or that it cannot look up, as emerging "
        "(dataset/check/impl/EntityCheckerManagerImpl.java, entity_checking.properties); here gold is taken as it is, "
        "and the rule unknown-entity of `remix check` lists entities that the attached knowledge base lacks",
        "failures": "a document that a system fails on is an empty answer, as here; the tool gives up above a quarter "
        "of such (annotator/decorator/ErrorCountingAnnotatorDecorator.java), which a run here never does",
        "RE": "relations are not read, so that RE and OKE2018Task4, the mean of RE and A2KB, have no scores here",
        "sameAs": "entities are compared in canonical form and with the sameAs links of the knowledge base, not by "
        "asking the web (semantic/sameas)",
    },
)
