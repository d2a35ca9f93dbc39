"""Tasks as they are asked for: `A2KB(match=weak)` with a matching of its own, OKE-1 as the mean of other tasks.

The text form parses back: what evaluates, and what picks its score out of the rows, is the same text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.scoring.averages import SCORES
from remix.scoring.choice import Choice
from remix.scoring.tasks import TASKS, task_named

__all__ = ["Score", "counted", "with_means"]

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


def counted(choice: Choice) -> Choice:
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
