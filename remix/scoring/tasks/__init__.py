"""Tasks: what is compared, and how a case becomes counts. One file a task."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from remix.dense import Numbers, look_up
from remix.errors import MissingKnowledge, UnknownName, UsageError
from remix.registry import Registry
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import (
    Case,
    Judged,
    Matching,
    fits_ignorable,
    matching_named,
    matching_without_credit,
    with_detail,
)
from remix.scoring.statistics import KEYS, SCOPED, UNSCOPED


@dataclass(frozen=True)
class Task:
    """What is compared.

    `count(case, matching)` returns one row per system and document that has anything: `system` (number), `doc`,
    `tp`, `fp`, `fn`, `ignored`, `fp_in_scope` and `fp_on_mention`; the last two are null where the precision that
    they serve means nothing for the task or is not known. Where gold is found in part or twice, `tp_of_gold` are the
    TPs of recall, and where not every mention is a whole TP or FN, `asked` is their number. `at(measure=…)` returns
    the task by another measure or what else it `takes`. `parts` are the tasks whose scores a task is the mean of; it
    counts nothing itself. `given_spans` says that systems get the spans of gold, so that a run made for it is another
    than one made from texts. `by_document` says that the counts of a system in a document depend on these two alone,
    not on what else is scored; `of_classes` that classes are compared, so that types of entities have to be known.
    """

    name: str
    summary: str
    count: Callable[[Case, Matching], Counts]
    at: Callable[..., Task] | None = None
    takes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    given_spans: bool = False
    by_document: bool = False
    of_classes: bool = False


TASKS: Registry[Task] = Registry("task", "remix.scoring.tasks", Task)


def _linkable(case: Case) -> Case:
    """Return the case of mentions whose entity, or one of whose entities, the dictionary has under the mention's form.

    Hachey et al. (2013) so leave out what no system that looks names up in that dictionary could have found. NIL is
    left out. Raises `MissingKnowledge` without a knowledge base.
    """
    kb = case.evidence.kb
    if kb is None:
        raise MissingKnowledge(
            "filter 'linkable' asks the dictionary of a knowledge base: build or attach one (`remix kb build`)"
        )
    sides = case.evidence.with_detail("surface_form", case.gold, case.answers)
    gold, answers = (side.with_columns(key=kb.normalise(pl.col("surface_form"))) for side in sides)
    known = kb.pairs(pl.concat([gold["key"], answers["key"]]).drop_nulls().unique()).select("key", "entity")
    pairs = known.select("key", iri="entity").join(case.mentions.iris, on="iri")
    left = gold.join(case.mentions.gold_links, on="mention").join(pairs, on=["key", "entity"], how="semi")
    right = answers.join(case.mentions.answer_links, on="answer").join(pairs, on=["key", "entity"], how="semi")
    gold = case.gold.join(left, on="mention", how="semi", maintain_order="left")
    return replace(case, gold=gold, answers=case.answers.join(right, on="answer", how="semi", maintain_order="left"))


FILTERS: Mapping[str, Callable[[Case], Case]] = {
    "linked": lambda case: case.where(pl.col("link") != NIL),
    "nil": lambda case: case.where(pl.col("link") == NIL),
    "linkable": _linkable,
}
"""What a task can be narrowed to, on both sides: mentions with an entity, without one, with one that the knowledge
base's dictionary has under the mention's form."""


@cache
def task_named(name: str) -> Task:
    """Return the task of a name such as 'A2KB', 'ERec(filter=nil)' or 'NIL-clusters(measure=muc, filter=linked)'.

    Raises `UnknownName` for a name that no task has and for an unknown filter or measure, `UsageError` for a setting
    that the task does not take.

    >>> task_named("ERec(filter=nil)").name
    'ERec(filter=nil)'
    """
    parts = re.fullmatch(r"([\w-]+)\((.*)\)", name)
    if parts is None:
        return TASKS[name]
    task = TASKS[parts[1]]
    takes = [*task.takes, *(["filter"] if not task.parts else [])]
    settings = [setting.strip().partition("=") for setting in parts[2].split(",")]
    # What is left of a task by a filter takes no setting any more.
    for key, _, value in sorted(settings, key=lambda one: one[0] == "filter"):
        if key not in takes:
            taken = " and ".join(sorted(takes)) or "no setting"
            raise UsageError(f"task '{task.name}' takes {taken}, not '{key}'")
        if key == "filter":
            task = narrow(task, value)
        elif task.at is not None:
            task = task.at(**{key: value})
    return replace(task, name=name)


def count_task(case: Case, task: str, matching: str) -> Counts:
    """Return the counts of a case by the names of a task and a matching."""
    return task_named(task).count(case, matching_named(matching))


def takes_spans(name: str) -> bool:
    """Return whether systems get the spans of gold in a task; names that only a profile knows are of texts.

    >>> takes_spans("D2KB(filter=linked)"), takes_spans("A2KB"), takes_spans("GSInKB")
    (True, False, False)
    """
    plain = name.partition("(")[0]
    return plain in TASKS and TASKS[plain].given_spans


def narrow(task: Task, value: str) -> Task:
    """Return a task on the mentions of both sides that one of `FILTERS` leaves; raises `UnknownName` for another."""
    if value not in FILTERS:
        raise UnknownName("filter", value, FILTERS)

    def count(case: Case, matching: Matching) -> Counts:
        return task.count(FILTERS[value](case), matching)

    summary = f"{task.summary}; {value} alone"
    return replace(task, name=f"{task.name}(filter={value})", summary=summary, count=count, at=None)


def tally(case: Case, criterion: str, matching: Matching, *, on_mention_only: bool = False) -> Counts:
    """Return the counts of a task that compares mention by mention, by a criterion of `Case.judge`.

    A group of gold gives one TP or one FN, or parts of them where the matching has such. With `on_mention_only`,
    answers where gold has no kept mention are not counted at all.
    """
    judged = case.judge(criterion, matching)
    rows = _tally_whole(case, judged, on_mention_only)
    if matching.credit is None:
        return rows
    added = matching.credit(case, judged, on_mention_only)
    names = [name for name in added.columns if name not in KEYS]
    counts = rows.with_columns(asked=pl.col("tp") + pl.col("fn"), tp_of_gold="tp").join(
        added, on=KEYS, how="left", maintain_order="left", suffix="_added"
    )
    sums = [pl.col(name) + pl.col(f"{name}_added").fill_null(0.0) for name in names]
    return counts.with_columns(sums).drop(f"{name}_added" for name in names)


def _tally_whole(case: Case, judged: Judged, on_mention_only: bool) -> Counts:
    wrong = pl.col("outcome") == "fp"
    wrong = wrong & pl.col("on_mention") if on_mention_only else wrong
    answers = judged.answers.select(
        *KEYS,
        fp=wrong,
        ignored=pl.col("outcome") == "ignored",
        fp_in_scope=wrong & pl.col("in_scope"),
        fp_on_mention=wrong & pl.col("on_mention"),
    )
    required = case.options if (case.options["of_group"] == 1).all() else case.kept.unique("group")
    return complete_counts(case, required["doc"], judged.groups, answers, scoped=not on_mention_only)


def refuse_counts(case: Case, matching: Matching) -> Counts:
    """Raise `UsageError`: a task whose scores are means of others' has no counts of its own."""
    raise UsageError("a task that is the mean of others has no counts: name one of its parts")


def complete_counts(
    case: Case, required: pl.Series, satisfied: pl.DataFrame, answers: pl.DataFrame, *, scoped: bool = True
) -> Counts:
    """Return counts with their FN, for every system and document that gold or the system has something in.

    `required` is the document (doc) of each mention, `satisfied` has system and doc of each that a system has,
    `answers` of each answer, and whether it is `fp`, `ignored`, `fp_in_scope` and `fp_on_mention`. Counts in scope are
    null where the scope of a document is not known, unless they are not `scoped`.
    """
    systems = len(case.mentions.systems)
    width = 1 + max(int(docs.to_numpy().max(initial=-1)) for docs in (required, satisfied["doc"], answers["doc"]))
    # Each system has a place for each document, one system behind the other.
    of_found, of_answers = (rows["system"].to_numpy() * width + rows["doc"].to_numpy() for rows in (satisfied, answers))

    def count(places: Numbers) -> Numbers:
        every: Numbers = np.bincount(places, minlength=systems * width)
        return every

    asked = np.tile(np.bincount(required.to_numpy(), minlength=width), systems)
    there = np.flatnonzero(asked + count(of_answers))
    tp = count(of_found)
    counted = {name: count(of_answers[answers[name].to_numpy()]) for name in ("fp", "ignored", *SCOPED)}
    every = {"tp": tp, **counted, "fn": asked - tp}
    places = {"system": there // width, "doc": there % width}
    rows = pl.DataFrame({**places, **{name: values[there] for name, values in every.items()}})
    return case.scope.drop_unknown(rows) if scoped and len(case.scope.unknown) else rows


@dataclass(frozen=True)
class Elements:
    """What is compared, whoever pairs it.

    - `gold`: group, doc: what is required, a row a group;
    - `answers`: answer, system, doc, `length`, `free` (does not count unless it is right: outside of the annotated
      regions, or on ignorable gold);
    - `edges`: system, doc, group, answer: the pairs that match, sorted.
    """

    gold: pl.DataFrame
    answers: pl.DataFrame
    edges: pl.DataFrame


def elements(case: Case, task: str, matching: str) -> Elements:
    """Return what 'A2KB', 'D2KB', 'ERec', 'NIL' and 'candidates' compare; D2KB drops answers beside kept mentions.

    Linked or NIL mentions alone are a part of the task: which spans the system was given is told by the whole, and in
    GSInKB by the linked mentions. Raises `UsageError` for a matching that counts in part.
    """
    how = matching_without_credit(matching)
    pairs = look_up(how.pairs(case), "mention", case.gold, ["ignorable", "group", "doc"])
    pairs = look_up(pairs, "answer", case.answers, ["system"])
    if task == "candidates":
        pairs = with_candidates(case, pairs)
    right = {"ERec": pl.lit(True), "NIL": pl.lit(True), "candidates": pl.col("held")}
    pairs = pairs.with_columns(spans=how.spans, correct=right.get(task, pl.col("link")))
    required = pairs.filter(pl.col("ignorable").is_null() & pl.col("spans"))
    edges = required.filter("correct").select(*KEYS, "group", "answer").unique().sort("system", "group", "answer")
    answers = case.answers
    if task == "D2KB":
        given = required["answer"]
        if case.part_of is not None and case.value != "GSInKB":
            given = look_up(how.pairs(case.part_of).filter(how.spans), "mention", case.part_of.kept, ["doc"])["answer"]
        answers = answers.filter(pl.col("answer").is_in(given.unique().implode()))
    free = ~pl.col("inside") | pl.col("answer").is_in(fits_ignorable(pairs).implode())
    answers = answers.select("answer", *KEYS, length=pl.col("end") - pl.col("begin"), free=free)
    return Elements(case.kept.select("group", "doc").unique().sort("group"), answers, edges)


def with_candidates(case: Case, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of mention, answer and `link` with `held`, whether the candidates of the answer hold an entity of
    gold, and its `rank` among them.

    The answer itself is a candidate, and the first where it is none of those that are told.
    """
    case = with_detail(case, "candidates")
    told = case.answers.select("answer", iri="candidates").explode("iri").drop_nulls()
    told = told.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("answer"))
    held = pairs.select("mention", "answer").join(told.join(case.mentions.iris, on="iri"), on="answer")
    held = held.join(case.mentions.gold_links, on=["mention", "entity"], how="semi")
    held = held.group_by("mention", "answer").agg(pl.col("rank").min())
    rows = pairs.join(held, on=["mention", "answer"], how="left", maintain_order="left")
    rank = pl.coalesce("rank", pl.when("link").then(1))
    return rows.with_columns(held=pl.col("link") | pl.col("rank").is_not_null(), rank=rank)


def count_entities(case: Case, *, repeated: bool) -> Counts:
    """Return the counts of C2KB: entities of documents, each as often as it is linked to (`repeated`), or once.

    Of several entities of a mention the first counts.
    """
    gold = case.kept.unique("group", keep="first", maintain_order=True)
    asked = case.mentions.for_each_system(
        _entities(gold, case.mentions.gold_links, "mention", len(case.mentions.entities))
    )
    answers = case.answers.filter("inside")
    given = _entities(answers, case.mentions.answer_links, "answer", len(case.mentions.entities))
    one = pl.lit(1, pl.Int64)
    both = pl.concat([asked.with_columns(asked=one), given.with_columns(given=one)], how="diagonal")
    sums = pl.col("asked", "given").sum().clip(0, None if repeated else 1)
    both = both.group_by(*KEYS, "entity").agg(sums)
    tp = pl.min_horizontal("asked", "given")
    rows = both.group_by(KEYS).agg(
        tp=tp.sum(), fp=(pl.col("given") - tp).sum(), fn=(pl.col("asked") - tp).sum(), ignored=pl.lit(0, pl.Int64)
    )
    return rows.with_columns(UNSCOPED)


def entity_elements(case: Case) -> Elements:
    """Return what C2KB compares where a mention or an answer has several entities, of which one in common is enough.

    All NIL are alike.
    """
    gold, answers = case.kept.unique("group", keep="first", maintain_order=True), case.answers
    sides = [
        rows.select(*own, "link")
        .join(links, on=own[0], how="left", maintain_order="left")
        .with_columns(entity=pl.when(pl.col("link") == NIL).then("link").otherwise("entity"))
        for rows, links, own in (
            (gold, case.mentions.gold_links, ["mention", "group", "doc"]),
            (answers.filter("inside"), case.mentions.answer_links, ["answer", *KEYS]),
        )
    ]
    edges = sides[0].drop_nulls("entity").join(sides[1], on=["doc", "entity"]).select(*KEYS, "group", "answer")
    compared = answers.select("answer", *KEYS, length=pl.col("end") - pl.col("begin"), free=~pl.col("inside"))
    return Elements(
        gold.select("group", "doc").sort("group"), compared, edges.unique().sort("system", "group", "answer")
    )


def has_several_entities(case: Case) -> bool:
    """Return whether a mention of gold or an answer links to several entities."""
    beyond = len(case.mentions.entities)
    return bool((case.kept["link"] >= beyond).any() or (case.answers["link"] >= beyond).any())


def _entities(rows: pl.DataFrame, links: pl.DataFrame, key: str, beyond: int) -> pl.DataFrame:
    first = links.group_by(key).agg(first=pl.col("entity").min())
    rows = rows.join(first, on=key, how="left", maintain_order="left")
    entity = pl.when((pl.col("link") == NIL) | (pl.col("link") < beyond)).then("link").otherwise("first")
    return rows.select(*(name for name in KEYS if name in rows.columns), entity=entity)
