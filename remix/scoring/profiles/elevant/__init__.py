"""ELEVANT (Bast, Hertel and Prange, EMNLP 2022): spans grown to words, nested labels, NIL ignored or required.

For each system each label of gold and each false detection is judged by the rules of the package `elevant.evaluation`
(case_generator.py, case.py, evaluator.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix import progress
from remix.errors import UnknownName
from remix.formats.elevant import UNANSWERED
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.conventions import aspects
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.inputs.mentions import TOLD
from remix.scoring.matching import Case
from remix.scoring.profiles import Conventions, OwnRules, Profile
from remix.scoring.profiles.elevant.labels import (
    Labels,
    entity_types,
    is_lowercase,
    labels_of,
    mention_kind,
    says_own_format,
    with_words,
)
from remix.scoring.statistics import UNSCOPED, averages

MODES = ("IGNORED", "REQUIRED")
"""Whether unknown entities (NIL) are ignored or required."""

_LABEL = ["system", "label"]


def outcomes(case: Case) -> pl.DataFrame:
    """Return a row per mode, system and label or false detection, computed once for a case.

    Columns: `mode`, `system`, `doc`, `label` (null: a false detection), `answer` (null: undetected), `begin`, `end`,
    `text`, `root` (nested in nothing), `counts`, `kind` (mention type), `coreference`, `lowercase`, `optional`,
    `dated`, `known` (gold has an entity), `answered` (the answer has one), `same` (they share one), and the outcomes:
    `tp`, `fp`, `fn` of linking, `found`, `false`, `missed` of recognition.
    """
    return case.once(("elevant", "outcomes"), lambda own: _classify(own.placed))


def _classify(case: Case) -> pl.DataFrame:
    labels = labels_of(case)
    answers = _answers(case)
    detected = _detect(case, labels, answers)
    counting = _counting(detected, labels)
    rows = pl.concat([counting, _false_detections(answers, labels)], how="diagonal")
    rows = rows.with_columns(
        coreference=pl.col("kind").str.starts_with("coref"), lowercase=is_lowercase(pl.col("text"))
    )
    return pl.concat([_judge(rows, labels, mode) for mode in MODES])


def _answers(case: Case) -> pl.DataFrame:
    """Return the answers with the spans grown to words, their text, mention type and what they stand for."""
    nth = pl.int_range(pl.len(), dtype=pl.UInt32).over("system").alias("nth")
    order = case.evidence.of_runs("annotations").select("system", "annotation", nth)
    answers = case.answers.join(order, on=["system", "annotation"], how="left", maintain_order="left")
    answers = answers.select("answer", "system", "doc", "begin", "end", "link", "inside", "nth")
    answers = with_words(case, answers, case.mentions.answer_links)
    dated = case.evidence.answered_classes.select(
        "answer", answer_dated=pl.col("class").str.extract("#(DATETIME|QUANTITY)$")
    )
    dated = dated.drop_nulls("answer_dated").unique("answer")
    answers = answers.join(dated, on="answer", how="left", maintain_order="left")
    kind = mention_kind(case, unknown=pl.col("link") == NIL)
    return answers.with_columns(kind=kind, answered=pl.col("link") != NIL)


def _detect(case: Case, labels: Labels, answers: pl.DataFrame) -> pl.DataFrame:
    """Return each label for each system with the answer that detects it: `answer`, `answered`, `same`, `answer_dated`.

    Where answers claim one span, one that grows to it goes before one that has it, the last of the file before others.
    """
    own = answers.select("system", "doc", "begin", "end", "answer")
    grown = answers.select("system", "doc", "answer", "nth", begin="first", end="last")
    keys = ["system", "doc", "begin", "end"]
    grown = grown.sort("nth", "answer").unique(keys, keep="last", maintain_order=True)
    places = pl.concat([grown.select(*keys, "answer"), own]).unique(keys, keep="first", maintain_order=True)
    rows = case.mentions.for_each_system(labels.rows)
    rows = rows.join(places.rename({"answer": "on_own"}), on=keys, how="left", maintain_order="left")
    around = places.rename({"begin": "first", "end": "last", "answer": "on_grown"})
    rows = rows.join(around, on=["system", "doc", "first", "last"], how="left", maintain_order="left")
    rows = rows.with_columns(answer=pl.coalesce("on_own", "on_grown")).drop("on_own", "on_grown")
    rows = rows.join(
        answers.select("answer", "answered", "answer_dated"), on="answer", how="left", maintain_order="left"
    )
    linked = labels.numbers.join(case.mentions.gold_links, on="mention").select("label", "entity").unique()
    shared = rows.select("label", "answer").drop_nulls().unique().join(linked, on="label")
    shared = shared.join(case.mentions.answer_links, on=["answer", "entity"]).select("label", "answer").unique()
    rows = rows.join(shared.with_columns(same=pl.lit(True)), on=["label", "answer"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("same", "answered").fill_null(False))


def _counting(rows: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Return the rows with `root` and `counts` (ELEVANT's factor)."""
    unknown = ~pl.col("known") & pl.col("dated").is_null() & ~pl.col("answered")
    rows = rows.with_columns(
        root=pl.col("parent").is_null(),
        right=pl.col("answer").is_not_null() & ((pl.col("known") & pl.col("same")) | unknown),
    )
    nested = pl.concat([labels.nests["label"], labels.nests["child"]]).unique()
    inside = pl.col("label").is_in(nested.implode())
    alone = rows.filter(~inside).with_columns(counts=pl.lit(True))
    tree = _factors(rows.filter(inside), labels.nests)
    return pl.concat([alone, tree.select(alone.columns)]).drop("right")


def _factors(tree: pl.DataFrame, nests: pl.DataFrame) -> pl.DataFrame:
    """Return nested labels with `counts`.

    Each round settles one more level: upwards what a label's children and siblings say, downwards what is reached from
    the roots. A cycle ends at the number of labels.
    """
    parents = tree.select("label", mother="parent").unique().drop_nulls()
    siblings = parents.join(nests.rename({"label": "mother"}), on="mother").filter(pl.col("label") != pl.col("child"))
    no = pl.lit(False)
    tree = tree.with_columns(counts=no, below=no, reached=pl.col("root"))
    for _ in range(len(nests) + 2):
        settled = _reach(_settle(tree, nests, siblings.select("label", "child")), nests)
        if settled.equals(tree):
            break
        tree = settled
    return tree.with_columns(counts=pl.col("counts") & pl.col("reached"))


def _settle(tree: pl.DataFrame, nests: pl.DataFrame, siblings: pl.DataFrame) -> pl.DataFrame:
    """Return the labels with `counts`, and `below`: whether anything below them does."""
    heavy = tree.filter(pl.col("right") | pl.col("counts") | pl.col("below")).select("system", child="label")
    tree = _mark(tree, "below", nests.join(heavy, on="child"))
    detected = pl.col("answer").is_not_null() & ~pl.col("below") & ~pl.col("like_parent").fill_null(False)
    # Labels that nobody found must not count for each other: a sibling weighs by what is found of it.
    seen = tree.filter(pl.col("right") | pl.col("below") | detected).select("system", child="label")
    tree = _mark(tree, "beside", siblings.join(seen, on="child"))
    missing = pl.col("answer").is_null() & ~pl.col("below") & pl.col("beside")
    counts = pl.when("root").then(pl.col("right") | ~pl.col("below")).otherwise(pl.col("right") | detected | missing)
    return tree.with_columns(counts=counts).drop("beside")


def _reach(tree: pl.DataFrame, nests: pl.DataFrame) -> pl.DataFrame:
    """Return the labels with `reached`: a root, or a child of a label that is reached and not linked right."""
    open_ = tree.filter(pl.col("reached") & ~pl.col("right")).select("system", "label")
    reached = nests.join(open_, on="label").select("system", label="child")
    return _mark(tree, "down", reached).with_columns(reached=pl.col("root") | pl.col("down")).drop("down")


def _mark(tree: pl.DataFrame, name: str, where: pl.DataFrame) -> pl.DataFrame:
    """Return the labels with a column that is true for the systems and labels of `where`."""
    marks = where.select(_LABEL).unique().with_columns(pl.lit(True).alias(name))
    tree = tree.drop(name, strict=False).join(marks, on=_LABEL, how="left", maintain_order="left")
    return tree.with_columns(pl.col(name).fill_null(False))


def _false_detections(answers: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Return the answers inside the annotated region whose span is no label's, grown to words or not."""
    own = labels.rows.select("doc", "begin", "end")
    spans = pl.concat([own, labels.rows.select("doc", begin="first", end="last")]).unique()
    free = answers.filter("inside").join(spans, on=["doc", "begin", "end"], how="anti")
    free = free.join(spans, left_on=["doc", "first", "last"], right_on=["doc", "begin", "end"], how="anti")
    free = free.select("system", "doc", "answer", "begin", "end", "text", "kind", "answered", "answer_dated")
    no, yes = pl.lit(False), pl.lit(True)
    return free.with_columns(root=yes, counts=yes, known=no, same=no, optional=no, dropped=no, required_below=no)


def _judge(rows: pl.DataFrame, labels: Labels, mode: str) -> pl.DataFrame:
    """Return the rows with their outcomes in one mode."""
    rows = rows.with_columns(mode=pl.lit(mode), **_linking(mode)).with_columns(**_recognition(mode))
    names = ["tp", "fp", "fn", "found", "false", "missed"]
    stands = pl.col("counts") & ~pl.col("dropped")
    rows = rows.with_columns((pl.col(name) & stands).fill_null(False).alias(name) for name in names)
    return _roots(rows, labels)


def _linking(mode: str) -> dict[str, pl.Expr]:
    required = pl.lit(mode == "REQUIRED")
    gold, answer = pl.col("label").is_not_null(), pl.col("answer").is_not_null()
    known, answered, same = pl.col("known"), pl.col("answered"), pl.col("same")
    dated, optional = pl.col("dated").is_not_null(), pl.col("optional")
    right = known & answered & same
    unknown = ~known & ~answered
    alike = dated & (pl.col("dated") == pl.col("answer_dated")).fill_null(False)
    missed = ~answer & (~optional | (pl.col("required_below") & pl.col("root"))) & (required | known)
    other = answer & ~optional
    excess = pl.when(answered).then(~((known & same) | alike)).otherwise(required & (known | dated))
    # An entity answered for an unknown one is wrong in both modes; an unknown answer is wrong where NIL is required.
    wrong = pl.when(known).then(pl.when(answered).then(~same).otherwise(required)).otherwise(answered)
    lost = pl.when(known).then(~right).otherwise(required & answered)
    return {
        "tp": gold & other & (right | (required & unknown)),
        "fp": pl.when(~gold).then(answered | required).when(optional).then(answer & excess).otherwise(other & wrong),
        "fn": gold & (missed | (other & lost)),
    }


def _recognition(mode: str) -> dict[str, pl.Expr]:
    required = pl.lit(mode == "REQUIRED")
    gold, answer = pl.col("label").is_not_null(), pl.col("answer").is_not_null()
    known, answered = pl.col("known"), pl.col("answered")
    optional, unknown = pl.col("optional"), ~known & pl.col("dated").is_null()
    other = gold & answer & ~optional
    return {
        "found": other & (required | (known & answered)),
        "false": pl.when(~gold).then(pl.col("fp")).otherwise(answer & answered & unknown & ~required),
        "missed": gold & ((~answer & pl.col("fn")) | (other & known & ~answered & ~required)),
    }


def _roots(rows: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Return the rows; a root that stands aside is missed or found as what counts below it."""
    names = ["tp", "fp", "fn", "found", "false", "missed"]
    parts = labels.below.join(rows.filter("counts").select("system", *names, child="label"), on="child")
    under = parts.group_by(_LABEL).agg(pl.col(name).any().name.prefix("under_") for name in names)
    rows = rows.join(under, on=_LABEL, how="left", maintain_order="left")
    aside = pl.col("root") & ~pl.col("counts") & ~pl.col("dropped")
    below = {name: pl.col(f"under_{name}").fill_null(False) for name in names}
    inherited = {
        "fn": below["fn"],
        "tp": below["tp"] & ~below["fp"] & ~below["fn"],
        "missed": below["missed"],
        "found": below["found"] & ~below["false"] & ~below["missed"],
    }
    rows = rows.with_columns(
        pl.when(aside).then(value).otherwise(name).alias(name) for name, value in inherited.items()
    )
    return rows.drop(f"under_{name}" for name in names)


def _prepare(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    span = ["document", "begin", "end", "told"]

    def without_null(run: Frames) -> Frames:
        """Return a run without the mentions whose identifier is null: no false detections, and no answers."""
        none = run.values.filter(term=UNANSWERED)["subject"]
        if none.is_empty():
            return run
        return replace(run, annotations=run.annotations.filter(~pl.col("annotation").is_in(none.implode())))

    def last(run: Frames) -> Frames:
        rows = run.annotations.with_columns(TOLD)
        if not rows.select(span).is_duplicated().any():
            return run
        # It takes the place of the first, as in a dictionary by spans.
        rows = rows.with_row_index("nth").with_columns(pl.col("nth").min().over(span))
        rows = rows.unique(span, keep="last", maintain_order=True).sort("nth")
        return replace(run, annotations=rows.drop("told", "nth"))

    _tell_circles(gold)
    return gold, {name: without_null(last(run)) for name, run in runs.items()}


def _tell_circles(gold: Frames) -> None:
    """Say how many labels of other formats than the tool's own share their span, and so never count."""
    if not progress.is_shown():
        return
    own = gold.values.filter(says_own_format())["subject"].implode()
    labels = gold.annotations.filter(~pl.col("annotation").is_in(own).any().over("dataset")).drop_nulls("begin")
    if count := int(labels.select("document", "begin", "end").is_duplicated().sum()):
        progress.note(
            f"{count} labels of gold have the span of another; ELEVANT nests these in each other and never counts "
            "them: give each span one label, or nest them in a file of its own format"
        )


_OUTCOMES = {"A2KB": ("tp", "fp", "fn"), "ERec": ("found", "false", "missed")}
OTHER = f"{RMX}OTHER"
"""The type of what has no type that ELEVANT lists, and of dates and quantities."""


def count(case: Case, task: str, matching: str) -> Counts:
    """Return the counts per system and document of A2KB or ERec in one mode, `IGNORED` or `REQUIRED`.

    Nested labels give one TP or one FN with their root, and an FP each where they count. ERec leaves coreference out.
    Raises `UsageError` for another task or matching.
    """
    sums = _sum_up(_rows(case, task, matching), ["system", "doc"])
    # Rows of zeros, so that a score of nothing at all is the tool's 0.
    every = case.mentions.for_each_system(case.mentions.documents.select("doc")).join(
        sums, on=["system", "doc"], how="left"
    )
    return every.with_columns(pl.col("tp", "fp", "ignored", "fn").fill_null(0))


def by_mention_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: each mention type, `entity` and `coref`.

    A TP and an FN are of the gold label's mention type, an FP of the label's that it is wrong on, else of the answer's.
    """
    rows = _rows(case, task, matching)
    family = pl.col("kind").str.extract("^([a-z]+)_")
    sliced = pl.concat([rows.with_columns(slice="kind"), rows.with_columns(slice=family)])
    return _sum_up(sliced, ["system", "doc", "slice"])


def by_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: the class of an entity, `rmx:OTHER` without one; coreference is left out.

    A TP and an FN count for every type of the gold entity, an FP for every type of the answer's.
    """
    rows = _rows(case, task, matching).filter(~pl.col("coreference"))
    of_gold, of_answers = entity_types(case)
    gold = rows.filter(pl.col("tp") | pl.col("fn")).join(of_gold, on="label", how="left")
    wrong = rows.filter("fp").join(of_answers, on="answer", how="left")
    no = pl.lit(False)
    parts = [gold.with_columns(fp=no), wrong.with_columns(tp=no, fn=no)]
    sliced = pl.concat(parts, how="diagonal").with_columns(slice=pl.col("class").fill_null(OTHER))
    return _sum_up(sliced, ["system", "doc", "slice"])


def _rows(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the outcomes of one task as `tp`, `fp` and `fn`, each where it is counted."""
    _refuse(task, matching)
    rows = outcomes(case).filter(pl.col("mode") == matching)
    if task == "ERec":
        rows = rows.filter(~pl.col("coreference"))
    right, wrong, missed = (pl.col(name) for name in _OUTCOMES[task])
    return rows.with_columns(tp=right & pl.col("root"), fp=wrong & pl.col("counts"), fn=missed & pl.col("root"))


def _refuse(task: str, matching: str) -> None:
    """Raise `UnknownName` for a task that ELEVANT has not, and for what is none of its modes."""
    for kind, given, known in (("task", task, [*_OUTCOMES]), ("matching", matching, MODES)):
        if given not in known:
            raise UnknownName(f"{kind} of this profile", given, known, "remix show profile:elevant")


def _sum_up(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    neither = pl.col("answer").is_not_null() & pl.col("counts") & ~pl.any_horizontal("tp", "fp", "fn")
    rows = rows.with_columns(ignored=neither)
    sums = rows.group_by(keys).agg(pl.col("tp", "fp", "ignored", "fn").sum().cast(pl.Int64))
    return sums.select(*keys, "tp", "fp", "ignored", *UNSCOPED, "fn")


MEANINGS = {"IGNORED": "unknown entities are no gold and no answers", "REQUIRED": "all unknown ones are equal"}
"""How entities count that the knowledge base does not have."""

elevant = Profile(
    name="elevant",
    summary="spans are equal after growing to words; one TP or FN a root label; unknown entities ignored or required",
    source="ELEVANT, src/elevant/evaluation: case_generator.py, case.py, mention_type.py, evaluator.py",
    tasks=("A2KB", "ERec"),
    matchings=MODES,
    refuse=_refuse,
    meanings=MEANINGS,
    headline=("A2KB", "IGNORED"),
    conventions=Conventions(nil=aspects.nil_left_out, undefined=aspects.undefined_zero),
    own_rules=OwnRules(
        prepare=_prepare,
        count=count,
        averages={"micro": averages(aspects.zero_of_all)["micro"]},
        nearest=("A2KB", "expanded"),
    ),
    slices={"mention_type": by_mention_type, "type": by_type},
    notes={
        "matching": "spans are equal as they are or after growing over letters, digits and '\"_ (case_generator.py)",
        "answers": "on one span the last one, and of several that grow to one span the last of the file; false only "
        "inside the annotated region; one whose identifier is null is none (article.py, case_generator.py)",
        "alternatives": "nested labels give one TP or FN, of the root or of what is found below it "
        "(case_generator.py); those of other formats are nested by their spans, on one span in each other, so that "
        "they never count, of one entity or of two (nested_groundtruth_handler.py); in its own format labels of one "
        "span that nothing nests are each asked for",
        "nil": "; ".join(f"{mode}: {meaning}" for mode, meaning in MEANINGS.items()) + " (case.py)",
        "optional": "optional, date and quantity labels are never missed, but wrong links on them count (case.py)",
        "dropped": "what is answered on a dropped mention counts neither way (not of ELEVANT, which has none)",
        "coreference": "pronouns and descriptions are counted in A2KB, not in ERec (evaluator.py)",
        "names": "an entity is named if its name begins with a capital letter, or is not known (mention_type.py)",
        "averages": "micro alone; a score without denominator is 0 (evaluator.py)",
    },
)
