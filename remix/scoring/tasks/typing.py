"""ETyping and RT2KB: classes of mentions are compared, in a hierarchy of classes; OKE-1 and OKE-2 have them as parts.

Precision and recall are those of Kiritchenko et al. (2006): a mention is asked for its classes and all above them, an
answer gives its classes and all above them, and what both have is right. Counts are of classes.

The tasks of the Open Knowledge Extraction challenge are means: OKE-1 of recognition, linking and typing of entities,
OKE-2 of their typing and of the recognition of the words that name their classes ("a Norwegian *footballer*"). Parts
and means are those of GERBIL (EvaluatorFactory.java).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from remix.dense import look_up
from remix.errors import UnknownName
from remix.frames import FINE_GRAINED
from remix.names import OWL, RDFS
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.inputs.evidence import Evidence
from remix.scoring.matching import MATCHINGS, Case, Judged, Matching, with_detail
from remix.scoring.statistics import KEYS, SCOPED
from remix.scoring.tasks import Task, refuse_counts
from remix.scoring.tasks.annotation import erec


def on_gold_spans(found: Typed) -> Typed:
    """Return what was compared without the answers where gold has no mention."""
    return replace(found, extra=found.extra.filter("on_mention"))


def _counts(found: Typed) -> Counts:
    left, wrong = pl.col("asked") - pl.col("shared"), pl.col("answered") - pl.col("shared")
    scoped = {f"fp_{name}": pl.when(name).then("answered") for name in ("in_scope", "on_mention")}
    parts = [
        found.pairs.select(*KEYS, "group", tp="shared", fn=left, fp=wrong, **dict.fromkeys(SCOPED, wrong)),
        found.missed.select(*KEYS, "group", fn="asked"),
        found.extra.select(*KEYS, fp="answered", **scoped),
        found.ignored.select(*KEYS, ignored=pl.lit(1)),
    ]
    sums = pl.col("tp", "fp", "fn", "ignored", *SCOPED).sum().cast(pl.Int64)
    # How many mentions have classes is asked as well.
    asked = pl.col("group").drop_nulls().n_unique().cast(pl.Int64)
    return found.case.scope.drop_unknown(pl.concat(parts, how="diagonal_relaxed").group_by(KEYS).agg(sums, asked=asked))


@dataclass(frozen=True)
class Typed:
    """Gold and answers held against each other by their classes, whose numbers are `asked`, `answered` and `shared`.

    - `pairs`: system, doc, asked, answered, shared: a gold mention and the answer on it;
    - `missed`: system, doc, asked: a mention without an answer;
    - `extra`: system, doc, answered, on_mention, in_scope: an answer that stands for no mention;
    - `ignored`: system, doc: an answer that counts neither way;
    - `case`: what was compared, gold without classes being dropped.
    """

    pairs: pl.DataFrame
    missed: pl.DataFrame
    extra: pl.DataFrame
    ignored: pl.DataFrame
    case: Case


def _judge(case: Case, matching: Matching) -> Judged:
    return case.judge("span, link first", matching)


def compare_types(
    case: Case,
    matching: Matching,
    *,
    below: bool = False,
    within: pl.Expr | None = None,
    bare: bool = False,
    judge: Callable[[Case, Matching], Judged] = _judge,
) -> Typed:
    """Return what the classes of mentions and of the answers whose spans match them have in common.

    A set of classes is closed upwards (Kiritchenko et al. 2006: a class and all above it) or, with `below`,
    downwards. `within` is whether a `class` counts, by default all do. Gold without classes asks nothing: it is
    neither required nor wrong to type, unless `bare` keeps it. `judge` says which answer is held against which mention.
    """
    gold, answers = _sets(case, below, within)
    case = case if bare else _drop_untyped(case, gold)
    judged = judge(case, matching)
    asked = gold.group_by("mention").agg(asked=pl.len().cast(pl.Int64))
    answered = answers.group_by("answer").agg(answered=pl.len().cast(pl.Int64))
    pairs = look_up(judged.pairs.select("system", "mention", "answer"), "mention", case.gold, ["doc", "group"])
    pairs = pairs.join(judged.groups.select("system", "group").unique(), on=["system", "group"], how="semi")
    both = pairs.select("mention", "answer").join(gold, on="mention").join(answers, on=["answer", "class"])
    shared = both.group_by("mention", "answer").agg(shared=pl.len().cast(pl.Int64))
    others = judged.answers.join(pairs, on="answer", how="anti")
    extra = others.filter(pl.col("outcome") == "fp").join(answered, on="answer", how="left")
    for table, key in ((asked, ["mention"]), (answered, ["answer"]), (shared, ["mention", "answer"])):
        pairs = pairs.join(table, on=key, how="left")
    return Typed(
        pairs.with_columns(pl.col("asked", "answered", "shared").fill_null(0)).sort("system", "mention"),
        _find_missed(case, asked).join(judged.groups, on=["system", "group"], how="anti"),
        extra.with_columns(pl.col("answered").fill_null(0)),
        others.filter(pl.col("outcome") == "ignored"),
        case,
    )


def _drop_untyped(case: Case, classes: pl.DataFrame) -> Case:
    """Return the case with gold that has no class dropped."""
    having = case.gold.join(classes, on="mention", how="semi")["group"].unique()
    asks = pl.col("group").is_in(having.implode()) | pl.col("ignorable").is_not_null()
    ignorable = pl.when(asks).then("ignorable").otherwise(pl.lit("dropped"))
    return replace(case, gold=case.gold.with_columns(ignorable=ignorable))


def _find_missed(case: Case, asked: pl.DataFrame) -> pl.DataFrame:
    """Return system, doc, group, asked of every mention and system: what the first option of the mention asks for."""
    first = case.kept.filter(pl.col("option") == pl.col("option").min().over("group"))
    of_groups = first.join(asked, on="mention", how="left").group_by("doc", "group").agg(pl.col("asked").sum())
    return case.mentions.for_each_system(of_groups)


def _sets(case: Case, below: bool, within: pl.Expr | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return mention and class, answer and class: the closed sets of both sides."""
    evidence = case.evidence
    gold = _classes(case.gold.select("doc", "annotation", id="mention"), partial(getattr, evidence.gold), evidence)
    answers = _classes(case.answers.select("doc", "system", "annotation", id="answer"), evidence.of_runs, evidence)
    reached = evidence.reach(pl.concat([gold["class"], answers["class"]]), below=below)
    closed = []
    for side in (gold, answers):
        more = side.join(reached, on="class").select("id", pl.col("reached").alias("class"))
        closed.append(pl.concat([side, more]).unique().filter(pl.lit(True) if within is None else within))
    return closed[0].rename({"id": "mention"}), closed[1].rename({"id": "answer"})


def _classes(rows: pl.DataFrame, of_side: Callable[[str], pl.DataFrame], evidence: Evidence) -> pl.DataFrame:
    """Return id and class of mentions: those stated of the mention, else those of its entity.

    `rows` has id, doc, annotation and, of answers, system; `of_side` returns a table of the frames of that side.
    Types that data state of an entity hold in the documents of that dataset alone. Fine-grained categories say how a
    mention is written, not what its entity is, and are left out.
    """
    place = [name for name in ("system", "annotation") if name in rows.columns]
    given = rows.join(of_side("classes"), on=place)
    links = rows.join(of_side("links").select(*place, iri="entity"), on=place)
    linked = evidence.classes_of(links.select("id", "doc", "iri"))
    stated = given.filter(~pl.col("of_entity").fill_null(False)).select("id", "class")
    of_entity = pl.concat([given.filter("of_entity").select("id", "class"), linked.select("id", "class")])
    stated, of_entity = stated.filter(~FINE_GRAINED), of_entity.filter(~FINE_GRAINED)
    return pl.concat([stated, of_entity.join(stated, on="id", how="anti")]).unique()


@dataclass(frozen=True)
class ClassList:
    """The classes that are compared (whether a `class` is one), and whether mentions that name a class are left out."""

    holds: pl.Expr
    entities_only: bool = False

    def narrow(self, case: Case) -> Case:
        """Return the case of the mentions whose classes are compared."""
        return _split_by_class(case)[0] if self.entities_only else case


ONTOLOGY_PATTERNS = "http://www.ontologydesignpatterns.org/ont/"

CLASS_LISTS: Mapping[str, ClassList] = {
    "OKE-1": ClassList(
        pl.col("class").is_in(
            [
                f"{ONTOLOGY_PATTERNS}{name}"
                for name in ("d0.owl#Location", "dul/DUL.owl#Organization", "dul/DUL.owl#Person", "dul/DUL.owl#Role")
            ]
        )
    ),
    "OKE-2": ClassList(pl.col("class").str.starts_with(ONTOLOGY_PATTERNS), entities_only=True),
}
"""The classes of the challenge's tasks, by the task that has them (EvaluatorFactory.java)."""


def class_list_named(name: str) -> ClassList:
    """Return a list of classes; raises `UnknownName` for another name."""
    if name not in CLASS_LISTS:
        raise UnknownName("list of classes", name, CLASS_LISTS)
    return CLASS_LISTS[name]


def _etyping_at(classes: str) -> Task:
    listed = class_list_named(classes)

    def count(case: Case, matching: Matching) -> Counts:
        """Return the counts of the classes of the list."""
        found = compare_types(listed.narrow(case), MATCHINGS["strong"], within=listed.holds)
        return _counts(on_gold_spans(found))

    return replace(etyping, summary=f"{etyping.summary}; those of {classes} alone", count=count)


etyping = Task(
    "ETyping",
    "text and spans given; classes compared with those above them, on gold spans only",
    # Spans are given, so that they are equal or not answered.
    lambda case, matching: _counts(on_gold_spans(compare_types(case, MATCHINGS["strong"]))),
    _etyping_at,
    takes=("classes",),
    by_document=True,
    of_classes=True,
)
rt2kb = Task(
    "RT2KB",
    "text given; spans, and the classes on them with those above them, compared",
    lambda case, matching: _counts(compare_types(case, matching)),
    by_document=True,
    of_classes=True,
)


def _split_by_class(case: Case) -> tuple[Case, Case]:
    """Return the cases of the mentions that are entities and of those that name a class (owl:Class, rdfs:Class)."""
    case = with_detail(case, "classes")
    naming = pl.any_horizontal(pl.col("classes").list.contains(f"{space}Class") for space in (OWL, RDFS))
    naming = naming.fill_null(False)
    return case.where(~naming), case.where(naming)


def class_spans(case: Case) -> Case:
    """Return the case of the spans that link to a class, of several in one another the longest."""
    case = _split_by_class(case)[1]
    gold, answers = _outermost(case.gold, ["doc"]), _outermost(case.answers, ["system", "doc"])
    return replace(case, gold=gold.sort("mention"), answers=answers.sort("answer"))


def _outermost(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the rows whose span is inside no other row's of the same keys.

    >>> rows = pl.DataFrame({"doc": [0, 0, 0, 0], "begin": [0, 2, 2, 5], "end": [5, 4, 4, 7]})
    >>> _outermost(rows, ["doc"]).rows()
    [(0, 0, 5), (0, 5, 7)]
    """
    rows = rows.sort(*keys, "begin", "end", descending=[*(False for _ in keys), False, True])
    reach = pl.col("end").cum_max().shift(1).over(keys)
    outer = rows.filter(reach.is_null() | (pl.col("end") > reach))
    return rows.join(outer, on=[*keys, "begin", "end"], how="semi", maintain_order="left")


class_erec = Task(
    "ERec-classes",
    "text given; spans that name a class (owl:Class, rdfs:Class) compared, outermost ones",
    lambda case, matching: erec.count(class_spans(case), matching),
    by_document=True,
    of_classes=True,
)
oke_1 = Task(
    "OKE-1", "text given; mean of recognition, linking and typing", refuse_counts, parts=("ERec", "D2KB", "ETyping")
)
oke_2 = Task(
    "OKE-2",
    "text given; mean of typing and of the spans that name classes",
    refuse_counts,
    parts=("ETyping", "ERec-classes"),
)
