"""What is asked of an evaluation: what is scored, by which conventions, and how it is broken down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, Unpack, cast

import polars as pl

from remix.errors import UnknownName, UsageError, nearest
from remix.scoring.conventions.undefined import undefined_null
from remix.scoring.inputs.columns import columns_of
from remix.scoring.inputs.sources import Sources, Wanted
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.statistics import SCORES
from remix.scoring.statistics.weights import column_weighed_by
from remix.scoring.tasks import TASKS, task_named

__all__ = ["Asked", "Choice", "Score", "asked_of", "expand", "fields_of", "with_means"]


class Asked(TypedDict, total=False):
    """The fields of `Choice` but the profile, as they may be given: one name for several."""

    tasks: Sequence[str]
    matchings: Sequence[str]
    by: Sequence[str]
    min_support: int
    scope: str
    spans: str
    documents: str
    bootstrap: int
    seed: int
    unit: str
    against: str
    errors: Sequence[str]
    weight: str
    threshold: str
    fix_offsets: bool


@dataclass(frozen=True)
class Choice:
    """What is asked; every field can change a number and is in the signature.

    - `profile`: whose conventions are followed;
    - `tasks`, `matchings`: those of the profile unless given; a task can name its own, `A2KB(match=weak)`;
    - `by`: columns to slice by: `class`, any of `Knowledge.columns` or `document_columns`, a property or measure;
      `a,b` crosses them, `a:quantiles:4` cuts numbers (see `remix.scoring.inputs.columns.breakdown`);
    - `min_support`: slices of fewer mentions are left out;
    - `scope`: the class that gold was cut down to, where it is a remix by class; it goes before the queries;
    - `spans`: 'all' leaves dropped spans in D2KB's input, 'kept' takes them out, for D2KB alone;
    - `documents`: in which documents answers count, 'all' of gold's or those with a 'kept' mention; by default all, of
      a remix whose origins are not at hand the kept ones (see `remix.scoring.inputs.gold`);
    - `bootstrap`, `seed`: how many samples intervals are made of, 0 for none, and what they are drawn by;
    - `unit`: what macro averages are over and samples draw, 'document' or 'context': a line or, in a text of one line,
      a sentence;
    - `against`: with `by` and `bootstrap`, the slice that others are held against (see `differences_of_slices`), by
      default the whole, 'all';
    - `errors`: taxonomies (`remix.scoring.errors`) whose classes are counted in rows of their own;
    - `weight`: how much each annotation of gold is required, as `remix.scoring.statistics.weights.weights_of` has it;
    - `threshold`: which answers count by their confidence, as `remix.scoring.statistics.thresholds.threshold_rule` has
      it; by default all, or what the profile's own rule leaves;
    - `fix_offsets`: read the offsets of runs that `remix.scoring.matching.offsets.wrong_offsets` finds to count in
      other units as what they seem to be; without it that is only said.

    Raises `UsageError` for values that do not go together.
    """

    profile: Profile
    tasks: tuple[str, ...] = ()
    matchings: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    min_support: int = 0
    scope: str = ""
    spans: str = "all"
    documents: str = ""
    bootstrap: int = 0
    seed: int = 0
    unit: str = "document"
    against: str = ""
    errors: tuple[str, ...] = ()
    weight: str = ""
    threshold: str = ""
    fix_offsets: bool = False

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        if self.spans not in ("all", "kept"):
            raise UsageError(f"spans are 'all' or 'kept', not '{self.spans}'")
        if self.documents not in ("", "all", "kept"):
            raise UsageError(f"documents are 'all' or 'kept', not '{self.documents}'")
        if self.against and not (self.by and self.bootstrap):
            raise UsageError(f"--against {self.against} tests slices: it goes with --by and --bootstrap")

    @classmethod
    def of(cls, profile: Profile | str = "remix", **given: Unpack[Asked]) -> Choice:
        """Return the choice of keywords: a profile by its name, any sequence for a tuple, None for the default.

        A column `kb` is left out: InKB, EE and GSInKB have their rows in every evaluation.

        >>> choice = Choice.of("gerbil", tasks=["A2KB"], by="class")
        >>> choice.profile.name, choice.tasks, choice.by
        ('gerbil', ('A2KB',), ('class',))
        """
        several = {one.name for one in fields(cls) if isinstance(one.default, tuple)}
        values: dict[str, Any] = {
            name: ((value,) if isinstance(value, str) else tuple(value)) if name in several else value
            for name, value in cast(dict[str, Any], given).items()
            if value is not None
        }
        values["by"] = tuple(column for column in values.get("by", ()) if column != "kb")
        return cls(PROFILES[profile] if isinstance(profile, str) else profile, **values)

    def filled(self, tasks: tuple[str, ...], matchings: tuple[str, ...]) -> Choice:
        """Return the choice with these tasks and matchings where it names none."""
        return replace(self, tasks=self.tasks or tuple(tasks), matchings=self.matchings or tuple(matchings))

    def headline(self) -> Choice:
        """Return the choice with the one task and matching that profiles are compared by, where it names none."""
        return self.filled(self.profile.headline[:1], self.profile.headline[1:])

    def only(self, names: tuple[str, ...], otherwise: str) -> Choice:
        """Return the choice itself; raises `UsageError`, whose end is `otherwise`, where it asks for anything else."""
        for one in fields(self):
            if one.name not in ("profile", *names) and getattr(self, one.name) != one.default:
                option = OPTIONS.get(one.name, one.name).replace("_", "-")
                raise UsageError(f"--{option} {otherwise}")
        return self

    def wanted(self) -> Wanted:
        """Return what is to be read of gold for it."""
        by = tuple(name for name in columns_of(self.by) if name not in self.profile.slices)
        weight = tuple(name for name in column_weighed_by(self.weight) if name not in self.profile.slices)
        # A profile that scores documents without anything scores gold that is empty throughout, too.
        empty = self.profile.conventions.undefined != undefined_null
        return Wanted(by, weight, self.documents, empty)

    def keywords(self) -> dict[str, Any]:
        """Return the keywords that `Choice.of` makes this choice of."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**values, "profile": self.profile.name}


OPTIONS = {"tasks": "task", "matchings": "match"}
"""Fields that the command line calls otherwise."""


def fields_of(given: Mapping[str, Any], *records: type) -> list[dict[str, Any]]:
    """Return the keywords apart: for each record those that are its fields; raises `UsageError` for one of none.

    >>> fields_of({"tasks": ["A2KB"]}, Choice)
    [{'tasks': ['A2KB']}]
    >>> fields_of({"task": ["A2KB"]}, Choice)
    Traceback (most recent call last):
    remix.errors.UsageError: nothing is called 'task' here; did you mean 'tasks'?
    """
    known = [[one.name for one in fields(record)] for record in records]
    every = [name for names in known for name in names]
    if unknown := [name for name in given if name not in every]:
        raise UsageError(f"nothing is called '{unknown[0]}' here{nearest(unknown[0], every)}")
    return [{name: given[name] for name in names if name in given} for names in known]


NAMES = {"P": "precision", "R": "recall", "F1": "f1"}
AVERAGES = ("micro", "macro")
_KEYS = ["system", "dataset", "matching", "profile", "column", "slice", "average", "documents", "documents_counted"]


@dataclass(frozen=True)
class Score:
    """One score of one task: `matching` is empty where all matchings are meant.

    >>> score = Score.parse("A2KB(match=weak) micro-F1")
    >>> score.task, score.matching, score.average, score.score, str(score)
    ('A2KB', 'weak', 'micro', 'f1', 'A2KB(match=weak) micro-F1')
    """

    task: str
    matching: str
    average: str
    score: str

    @classmethod
    def parse(cls, text: str) -> Score:
        """Return the score of a text; raises `UnknownName` for a task, an average or a score that there is not."""
        task, _, name = text.strip().rpartition(" ")
        average, _, short = name.partition("-")
        for kind, given, known in (("average", average, AVERAGES), ("score", short, NAMES)):
            if given not in known:
                raise UnknownName(kind, given, known)
        plain, matching = _split(task.strip())
        task_named(plain)
        return cls(plain, matching, average, NAMES[short])

    def __str__(self) -> str:
        """Return the text that parses back to this."""
        short = {long: short for short, long in NAMES.items()}[self.score]
        return f"{_joined(self.task, self.matching)} {self.average}-{short}"

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return system, dataset, matching, column, slice and `value` of this score, from the rows of `evaluate`."""
        own = rows.filter(pl.col("task") == self.task, pl.col("average") == self.average)
        if self.matching:
            own = own.filter(pl.col("matching") == self.matching)
        return own.select("system", "dataset", "matching", "column", "slice", value=self.score)


def _split(name: str) -> tuple[str, str]:
    """Return the name of a task without its matching, and the matching, empty without one.

    >>> _split("A2KB(match=fuzzy(0.5), filter=nil)"), _split("D2KB")
    (('A2KB(filter=nil)', 'fuzzy(0.5)'), ('D2KB', ''))
    """
    parts = re.fullmatch(r"([\w-]+)\((.*)\)", name)
    if parts is None:
        return name, ""
    settings = [one.strip() for one in parts[2].split(",")]
    matchings = [one.removeprefix("match=") for one in settings if one.startswith("match=")]
    if len(matchings) > 1:
        raise UsageError(f"'{name}' names several matchings: write it once for each")
    rest = ", ".join(one for one in settings if not one.startswith("match="))
    return (f"{parts[1]}({rest})" if rest else parts[1]), "".join(matchings)


def _joined(task: str, matching: str) -> str:
    if not matching:
        return task
    name, _, settings = task.partition("(")
    return f"{name}(match={matching}{', ' + settings if settings else ')'}"


def _parts(task: str) -> tuple[str, ...]:
    """Return the parts of a task; names that only a profile knows have none."""
    return task_named(task).parts if task.partition("(")[0] in TASKS else ()


def expand(choice: Choice) -> Choice:
    """Return the choice with what is counted for it: the parts of tasks, and every matching that one names."""
    split = [_split(task) for task in choice.tasks]
    tasks = [part for task, _ in split for part in (_parts(task) or (task,))]
    own = [matching for _, matching in split if matching]
    shared = choice.matchings if any(not matching for _, matching in split) else ()
    return replace(choice, tasks=tuple(dict.fromkeys(tasks)), matchings=tuple(dict.fromkeys([*shared, *own])))


def with_means(rows: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Return, of the rows that were counted, those that the choice asks for, with the means of tasks with parts.

    A mean is over the parts that have the score; a precision or recall without denominator is 0 in it where the
    part's F1 is defined. Means have no counts.
    """
    found = []
    for task, own in dict.fromkeys(_split(task) for task in choice.tasks):
        asked = [own] if own else list(choice.matchings)
        parts = _parts(task)
        mine = rows.filter(pl.col("task").is_in(parts or [task]), pl.col("matching").is_in(asked))
        found.append(_mean(mine, task) if parts else mine)
    # Rows of a task without matching hold those of the same task with one.
    return pl.concat([rows.clear(), *found], how="diagonal_relaxed").unique(maintain_order=True)


def _mean(rows: pl.DataFrame, task: str) -> pl.DataFrame:
    zero = pl.when(pl.col("f1").is_not_null()).then(0.0)
    filled = [pl.coalesce(name, zero).alias(name) for name in ("precision", "recall")]
    means = rows.with_columns(filled).group_by(_KEYS, maintain_order=True)
    return means.agg(pl.col(SCORES).mean(), pl.col("f1_precision").first()).with_columns(task=pl.lit(task))


def asked_of(names: Iterable[str], keywords: Mapping[str, Any]) -> tuple[Sources, Choice]:
    """Return the sources and the choice of keywords, which are the fields of `Sources` and of `Choice`.

    >>> sources, choice = asked_of(["news"], {"systems": ["prior"], "tasks": ["A2KB"]})
    >>> sources.names, sources.systems, choice.tasks
    (('news',), ('prior',), ('A2KB',))
    """
    read, asked = fields_of(keywords, Sources, Choice)
    several = {one.name for one in fields(Sources) if isinstance(one.default, tuple)}
    read = {name: tuple(value) if name in several else value for name, value in read.items()}
    return Sources(**{**read, "names": tuple(names)}), Choice.of(**asked)
