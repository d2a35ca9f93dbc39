"""What systems made of each mention, in rows that people read: gold and answer, outcome and class of error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from remix.errors import UsageError
from remix.measures.classes import name_types
from remix.measures.columns import values_by
from remix.measures.partitions import breakdown, columns_of
from remix.question import Question, Several, several
from remix.runs.known import kinds_of, known_runs
from remix.runs.outcomes import Outcomes, outcomes
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.inputs.shortcomings import failures_of, with_shortcomings
from remix.scoring.inputs.sources import Keeper, read_inputs
from remix.scoring.matching.namespaces import unjoined_answers

OUTCOMES = {
    "correct": "the answer is on the mention and has gold's entity",
    "wrong": "an answer is on the mention and has another entity, or is where gold has no mention, or is on a part of "
    "one that is not right as a whole",
    "missed": "no answer is on the mention, or not on each of its parts",
    "ignored": "the answer does not count, as gold neither requires nor rejects it",
}
"""What can become of a mention of gold or of an answer that is on none, by name."""

SEVERAL = " | "
"""Stands between the slices or types of a mention that is of several."""

_PLACE = ["dataset", "document", "begin", "end"]
_BETWEEN = re.compile("( or | and )")
_JOINED = pl.col("entity").fill_null("NIL").unique().sort().str.join(" or ")


def split_entities(said: pl.Expr) -> pl.Expr:
    """Return the list of the entities and 'NIL' of what `gold` or `answer` of `Judgements` says.

    Alternatives are apart by 'or', the mentions that one of them is made of by 'and'.
    """
    return said.str.replace_all(" and ", " or ", literal=True).str.split(" or ")


def list_entities(*said: pl.Series) -> pl.Series:
    """Return each of the entities and 'NIL' of what such columns say, none of what is null.

    >>> list_entities(pl.Series(["e:Chatham and e:New_Jersey or e:Chatham", None])).to_list()
    ['e:Chatham', 'e:New_Jersey', 'e:Chatham']
    """
    every = pl.concat([one.cast(pl.String).rename("said") for one in said]).drop_nulls().to_frame()
    return every.select(split_entities(pl.col("said")).explode()).to_series()


def read_entities(said: str) -> list[str]:
    """Return each of the entities and 'NIL' of what one cell of such a column says.

    >>> read_entities("e:Chatham and e:New_Jersey or NIL")
    ['e:Chatham', 'e:New_Jersey', 'NIL']
    """
    return _BETWEEN.split(said)[::2]


def rename_entities(said: str, rename: Callable[[str], str]) -> str:
    """Return what `gold` or `answer` says with its entities called otherwise.

    >>> rename_entities("e:Chatham and e:New_Jersey or NIL", lambda one: one.removeprefix("e:"))
    'Chatham and New_Jersey or NIL'
    """
    parts = _BETWEEN.split(said)
    return "".join(one if nth % 2 else rename(one) for nth, one in enumerate(parts))


@dataclass(frozen=True)
class Judgements:
    """What systems made of mentions, for A2KB.

    - `documents`: document, dataset, name and text, each copy of a text that several datasets have;
    - `mentions`: a row per mention of gold, and per answer of a system that stands beside these: mention (a
      number), dataset and document (the copy of the first dataset that holds it), begin, end, surface_form, annotation
      (null where gold has none), gold (its entities and 'NIL', those of alternatives, too, as `split_entities` takes
      them apart, or null), type (its coarse types as the list of annotations has them, and those of alternatives) and,
      where it was asked for, slice (several of a mention stand as types do, with `SEVERAL` between them); `part_of` is
      gold of which a span with an answer is one of several mentions that an alternative is made of;
    - `systems`: mention, system, outcome (see `OUTCOMES`), answer (its entities or 'NIL'), answered (the span that was
      answered, as text), unjoined (of which namespace the answer is, where gold names no entity of it, no sameAs link
      leads from one to the other, and no further name tells the two apart, so that it is wrong unseen), classes (of
      errors, with the name of the taxonomy), a row for each that has an outcome;
    - `failures`: system, dataset and document, where a system failed and has no answer;
    - `runs`: system, and of each `failed` (on how many documents) and `revision_unknown`, where that is so of any;
    - `notes`: what is to be said of the slices;
    - `beside`: the kind of those that are no systems but baselines and oracles, by name;
    - `members`: mention and annotation, of each alternative of a mention of gold, and of its copies in other datasets.
    """

    documents: pl.DataFrame
    mentions: pl.DataFrame
    systems: pl.DataFrame
    failures: pl.DataFrame
    runs: pl.DataFrame
    notes: tuple[str, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    members: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def datasets(self) -> list[str]:
        """Return the names of the datasets that the documents are of."""
        return self.documents["dataset"].unique().sort().to_list()

    def of_systems(self, names: Sequence[str]) -> Judgements:
        """Return what these systems made of mentions, by default all."""
        return replace(self, systems=self.systems.filter(pl.col("system").is_in(names))) if names else self

    @cached_property
    def shares(self) -> pl.DataFrame:
        """Return mention, right (how many systems are) and of (how many were judged on it), of gold's mentions.

        A system is judged on none of a document that it failed on. Baselines, and oracles, which know gold, count where
        there is nothing else.
        """
        required = self.mentions.drop_nulls("annotation").select("mention", "document")
        judged = self.systems.join(required, on="mention", maintain_order="left")
        proper = ~pl.col("system").is_in([*self.beside])
        judged = judged.filter(proper | ~proper.any())
        judged = judged.join(self.failures, on=["system", "document"], how="anti", maintain_order="left")
        right = (pl.col("outcome") == "correct").sum()
        return judged.group_by("mention").agg(right=right, of=pl.len()).sort("mention")

    def confused_pairs(self, system: str) -> pl.DataFrame:
        """Return gold, answer and mentions, the most frequent first: which entity is taken for which."""
        wrong = self.systems.filter(system=system, outcome="wrong").join(self.mentions, on="mention")
        pairs = wrong.drop_nulls(["gold", "answer"]).group_by("gold", "answer").agg(mentions=pl.len())
        return pairs.sort(["mentions", "gold", "answer"], descending=[True, False, False])


def judge_mentions(
    keeper: Keeper, datasets: Several, *, systems: Sequence[str] = (), match: str = "strong", by: str = ""
) -> Judgements:
    """Return what registered runs, by default all on any of the datasets, made of their mentions under a matching.

    `datasets` are loaded, or files such as remixes, whose texts count once where several have them, and a run is judged
    on those that it is registered on: counts are those of scores over the datasets together. `by` is a column to slice
    by, as `remix evaluate --by` has it. Raises `UnknownName` for a dataset, run or column that there is not,
    `UsageError` for a column that cannot be looked at mention by mention.
    """
    columns = breakdown(by) if by else ()
    if len(columns) > 1 or any(is_of_errors(one.column) for one in columns):
        raise UsageError(f"mentions are shown by one column of the data, not by '{by}'")
    question = Question[str](datasets=several(datasets), system=tuple(systems))
    read = read_inputs(keeper, question, by=tuple(columns_of([by] if by else [])))
    inputs = replace(read, knowledge=read.knowledge.with_types())
    found = outcomes(inputs, match, ("neleval",), together=True)
    given, alone = _part_answers(found)
    case, mentions = found.case, _mentions(found, alone)
    notes: tuple[str, ...] = ()
    if columns:
        slicing = values_by(case.evidence.gold, columns[0], *case.evidence.knowledge.tables)
        key, known = "document", slicing.values.drop_nulls("value")
        if slicing.of_documents:
            known = known.join(found.documents, on="document").with_columns(document="one")
        else:
            # A group of alternatives is in the slices of each of them, and of its copies, as it is where scores are.
            key, known = "group", known.join(found.groups.unique(), on="annotation")
        slices = known.group_by(key).agg(slice=pl.col("value").unique().sort().str.join(SEVERAL))
        mentions = mentions.join(slices, on=key, how="left", maintain_order="left")
        if slicing.vocabularies is not None and slicing.vocabularies.others:
            notes = (slicing.vocabularies.note(slicing.asked.column),)
    documents = case.evidence.gold.documents.select(
        "document", "dataset", "text", name=pl.coalesce("given", "document")
    )
    runs = with_shortcomings(pl.DataFrame({"system": [*read.runs]}), read)
    failures = failures_of(read)
    beside = {name: kind for name, kind in kinds_of(known_runs(keeper.store)).items() if kind != "system"}
    judged = _judge_systems(found, mentions, given, alone)
    copies = _choose_copies(read, found, several(datasets))
    mentions = mentions.drop("dataset").rename({"document": "one"})
    mentions = mentions.join(copies, on="one", how="left", maintain_order="left").drop("one")
    judged = judged.join(_list_unasked(read, found), on=["system", "document"], how="anti", maintain_order="left")
    members = mentions.drop_nulls("group").select("mention", "group").join(found.groups, on="group")
    members = members.select("mention", "annotation").unique().sort("mention", "annotation")
    return Judgements(documents, mentions, judged.drop("document"), failures, runs, notes, beside, members)


def _choose_copies(read: Inputs, found: Outcomes, datasets: Sequence[str]) -> pl.DataFrame:
    """Return one, document and dataset: as which of its copies a text is shown.

    Datasets that share texts have one name where they are counted together. A text is that of the first that holds it,
    which a remix does not where it emptied it.
    """
    nth = {name: number for number, name in enumerate(datasets)}
    order = pl.col("dataset").replace_strict(nth, default=len(nth), return_dtype=pl.Int64)
    emptied = pl.col("document").is_in(read.emptied.implode())
    names = found.case.evidence.gold.documents.select("document", "dataset").unique("document")
    rows = found.documents.join(names, on="document").sort(emptied, order, "document")
    return rows.unique("one", keep="first", maintain_order=True).select("one", "document", "dataset")


def _list_unasked(read: Inputs, found: Outcomes) -> pl.DataFrame:
    """Return system and document, where no copy of it is of a dataset that the run is registered on."""
    parts = [pl.DataFrame(schema={"system": pl.String, "document": pl.String})]
    for name, documents in read.list_unasked().items():
        beyond = pl.col("document").is_in(documents.implode())
        unasked = found.documents.group_by("one").agg(beyond.all()).filter("document")
        parts.append(unasked.select(pl.lit(name).alias("system"), document="one"))
    return pl.concat(parts)


def _part_answers(found: Outcomes) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers that mentions of gold are judged by, and those that have a row of their own.

    The first have the `group` of the mention, one answer of a system each. The others are on no mention, do not count,
    or are on one of the mentions of an alternative that is not right as a whole, where another answer stands for it;
    they have `nth`, which tells several of a system on one span apart.
    """
    groups = found.case.kept.select("annotation", "group").unique("annotation")
    counting = pl.col("outcome") != "ignored"
    on_gold = found.answers.filter(counting).join(groups, on="annotation", maintain_order="left")
    # Of an alternative of several mentions the answer that is wrong, if any is.
    wrong = found.errors.drop_nulls(["annotation", "answer"])["answer"].unique()
    on_gold = on_gold.sort(~pl.col("answer").is_in(wrong.implode()), "begin", "answer")
    given = on_gold.unique(["system", "group"], keep="first", maintain_order=True)
    others = on_gold.filter(outcome="fp").join(given, on="answer", how="anti")["answer"]
    apart = pl.col("annotation").is_null() | ~counting | pl.col("answer").is_in(others.implode())
    nth = pl.int_range(pl.len()).over("system", *_PLACE)
    return given, found.answers.filter(apart).sort("answer").with_columns(nth=nth)


def _mentions(found: Outcomes, alone: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions of gold, alternatives in one row, and the spans of answers that stand `alone`."""
    case, gold = found.case, found.case.evidence.gold
    groups = found.groups
    # Copies are in one group, and have options of their own.
    options = gold.annotations.select("annotation", own="group", option=pl.coalesce("option", "annotation"))
    links = groups.join(options, on="annotation").join(gold.links, on="annotation", how="left", maintain_order="left")
    each = links.group_by("group", "own", "option", "annotation").agg(entity=_JOINED)
    each = each.with_columns(parts=pl.len().over("group", "own", "option"))
    whole = each.group_by("group", "own", "option").agg(pl.col("entity").unique().sort().str.join(" and "))
    entities = whole.group_by("group").agg(gold=pl.col("entity").unique().sort().str.join(" or "))
    types = groups.join(name_types(gold.annotations, gold.classes), on="annotation").explode("types")
    types = types.group_by("group").agg(type=pl.col("types").unique().sort().str.join(SEVERAL))
    forms = gold.annotations.select("annotation", "surface_form")
    placed = case.kept.sort("mention").unique("group", keep="first", maintain_order=True)
    placed = placed.join(case.mentions.documents, on="doc", maintain_order="left")
    required = placed.select("group", *_PLACE, "annotation")
    for key, table in (("annotation", forms), ("group", entities), ("group", types)):
        required = required.join(table, on=key, how="left", maintain_order="left")
    places = gold.annotations.select("annotation", "document", "begin", "end")
    parts = each.filter(pl.col("parts") > 1).join(places, on="annotation").join(entities, on="group")
    parts = parts.sort("group").unique(_PLACE[1:], keep="first").select(*_PLACE[1:], part_of="gold")
    spans = alone.group_by(*_PLACE, "nth").agg(pl.col("surface_form").drop_nulls().first())
    spans = spans.join(parts, on=_PLACE[1:], how="left")
    rows = pl.concat([required, spans], how="diagonal").sort(*_PLACE, "annotation", "nth", nulls_last=True)
    return rows.with_row_index("mention")


def _judge_systems(found: Outcomes, mentions: pl.DataFrame, given: pl.DataFrame, alone: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of systems of `Judgements`, with their document; see `_part_answers`."""
    entities = found.links.group_by("answer").agg(entities=_JOINED)
    classes = pl.col("class").unique().sort().str.join(" ")
    of_gold = found.errors.drop_nulls("annotation").group_by("system", "annotation").agg(classes=classes)
    of_answers = found.errors.drop_nulls("answer").group_by("system", "answer").agg(classes=classes)
    given, alone = (
        one.join(entities, on="answer", how="left", maintain_order="left").with_columns(
            pl.col("entities").fill_null("NIL"), answered=pl.col("surface_form")
        )
        for one in (given, alone)
    )
    unjoined = unjoined_answers(found.case).rename({"namespace": "unjoined"})
    given = given.join(unjoined, on="answer", how="left", maintain_order="left")
    outcome = (
        pl.when(pl.col("outcome") == "tp")
        .then(pl.lit("correct"))
        .otherwise(pl.when(pl.col("answer").is_null()).then(pl.lit("missed")).otherwise(pl.lit("wrong")))
    )
    # A group of alternatives has one outcome, and the classes of errors of whichever of them was assigned.
    told = found.gold.join(of_gold, on=["system", "annotation"], how="left", maintain_order="left")
    told = told.group_by("system", "group", maintain_order=True).agg(
        pl.col("outcome").first(), pl.col("classes").drop_nulls().first()
    )
    told = told.join(
        given.select("system", "group", "answered", "unjoined", answer="entities"), on=["system", "group"], how="left"
    )
    required = told.join(mentions.drop_nulls("annotation").select("mention", "document", "group"), on="group")
    alone = alone.join(of_answers, on=["system", "answer"], how="left", maintain_order="left")
    spans = mentions.filter(pl.col("annotation").is_null()).select("mention", *_PLACE, "nth")
    alone = alone.join(spans, on=[*_PLACE, "nth"]).with_columns(answer="entities")
    ignored = pl.when(pl.col("outcome") == "ignored").then(pl.lit("ignored")).otherwise(pl.lit("wrong"))
    names = ["mention", "system", "document", "outcome", "answer", "answered", "unjoined", "classes"]
    nothing = pl.lit(None, pl.String).alias("unjoined")  # gold has no entity here that they could be
    parts = [
        required.with_columns(outcome=outcome).select(names),
        alone.with_columns(nothing, outcome=ignored).select(names),
    ]
    return pl.concat(parts).sort("mention", "system")
