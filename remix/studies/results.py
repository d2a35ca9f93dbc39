"""What the steps of a study found, as declared tables: all that exhibits look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import polars as pl

from remix.schemas import Schema, SchemaColumn

LEFT_OUT, NOTHING = "left out", "nothing to count"
"""The states of scores of a task or matching that a profile does not count, or that nothing on a target is of."""

_STATE = (
    SchemaColumn(
        "state",
        pl.String(),
        "'there', or what it is instead: 'absent', 'not registered', 'fitted', "
        "'failed', 'left out', 'nothing to count'",
    ),
    SchemaColumn("told", pl.String(), "what is missing and how to get it, empty where nothing is"),
)
_TARGET = SchemaColumn("target", pl.String(), "what systems are scored on: a dataset, a remix, or 'all' datasets")
_SYSTEM = SchemaColumn("system", pl.String(), "the name of the run")
_COLUMN = SchemaColumn("column", pl.String(), "what is cut, with its scheme, as `--by` has it; empty for the whole")
_SLICE = SchemaColumn("slice", pl.String(), "the name of the part; empty for the whole")
_PLACE = SchemaColumn("place", pl.Int64(), "its place in the study, from 0: the order in which exhibits show it")
_RULES = (
    SchemaColumn("profile", pl.String(), "whose conventions are followed"),
    SchemaColumn("task", pl.String(), "the task"),
    SchemaColumn("matching", pl.String(), "the matching"),
)
_DOCUMENTS = SchemaColumn("documents", pl.Int64(), "how many documents")
_MENTIONS = SchemaColumn("mentions", pl.Int64(), "how many mentions that are required")

TARGETS = Schema(
    "targets of a study",
    "what systems are scored on",
    (
        _TARGET,
        SchemaColumn("kind", pl.String(), "'dataset', 'remix', or 'all' for all datasets together"),
        SchemaColumn("query", pl.String(), "the query of a remix with its parameters, else empty"),
        _PLACE,
        _DOCUMENTS,
        _MENTIONS,
        *_STATE,
    ),
    ("target",),
)

SYSTEMS = Schema(
    "systems of a study",
    "a system, or a registered run",
    (
        _SYSTEM,
        SchemaColumn("kind", pl.String(), "'system', 'baseline' or 'oracle'; the last two are never called best"),
        _PLACE,
        *_STATE,
    ),
    ("system",),
)

COMPOSITION = Schema(
    "composition of targets",
    "the share that a dataset has in a target",
    (
        _TARGET,
        SchemaColumn("dataset", pl.String(), "the dataset that documents come from"),
        _DOCUMENTS,
        _MENTIONS,
    ),
    ("target", "dataset"),
)

MEASURES = Schema(
    "measures of targets",
    "a measure of a target",
    (
        _TARGET,
        SchemaColumn(
            "measure", pl.String(), "the name of the measure, as `remix stats` has it: 'typePerson', 'density'"
        ),
        SchemaColumn("average", pl.String(), "'count', 'micro', 'macro' or 'distinct', as `remix stats` has it"),
        SchemaColumn("value", pl.Float64(), "its value", null=True),
        SchemaColumn("coverage", pl.Float64(), "the share of what is averaged that has a value", null=True),
    ),
    ("target", "measure", "average"),
)

STUDIED_MENTIONS = Schema(
    "mentions of a study",
    "a required mention of the datasets; further columns are those of the study, numbers or texts, by their names",
    (
        SchemaColumn("mention", pl.Int64(), "its number, from 0"),
        SchemaColumn("dataset", pl.String(), "the dataset"),
        SchemaColumn("document", pl.String(), "the IRI of its document"),
        SchemaColumn("annotation", pl.String(), "its IRI"),
        SchemaColumn("entity", pl.String(), "its entity, the first by IRI of several; null for NIL", null=True),
        SchemaColumn("class", pl.String(), "its coarse class, the first by name of several", null=True),
    ),
    ("mention",),
)

PARTS = Schema(
    "parts of partitions",
    "a part of a column, cut over all datasets of the study together",
    (
        _COLUMN,
        SchemaColumn("level", pl.String(), "what the column is of: 'annotation' or 'document'"),
        SchemaColumn("part", pl.Int64(), "its number from 1 in the order of values; 0 is what has no value"),
        _SLICE,
        SchemaColumn("low", pl.Float64(), "its lower boundary, exclusive; null for none", null=True),
        SchemaColumn("high", pl.Float64(), "its upper boundary, inclusive; null for none", null=True),
        SchemaColumn("dataset", pl.String(), "the dataset of which it is counted, 'all' for all together"),
        _DOCUMENTS,
        _MENTIONS,
    ),
    ("column", "slice", "dataset"),
)

MEMBERS = Schema(
    "members of parts",
    "a mention in a part",
    (
        SchemaColumn("mention", pl.Int64(), "the number of the mention"),
        _COLUMN,
        _SLICE,
    ),
    ("mention", "column", "slice"),
)

SELECTED = Schema(
    "mentions of remixes",
    "a mention of the datasets that a remix has",
    (
        SchemaColumn("target", pl.String(), "the remix"),
        SchemaColumn("mention", pl.Int64(), "the number of the mention"),
    ),
    ("target", "mention"),
)

SCORES = Schema(
    "scores of a study",
    "a system on a target, or on a part of it; further columns are those of `remix.scoring.evaluate`",
    (
        _SYSTEM,
        _TARGET,
        *_RULES,
        _COLUMN,
        _SLICE,
        SchemaColumn("average", pl.String(), "'micro' or 'macro'"),
        _DOCUMENTS,
        _MENTIONS,
        SchemaColumn("failed", pl.Int64(), "on how many documents the system failed"),
        *(
            SchemaColumn(name, pl.Float64(), meaning, null=True)
            for name, meaning in (
                ("tp", "answers that are right"),
                ("fp", "answers that are wrong, of those that the F1 takes (`f1_precision`); of all in `evaluate`"),
                ("fn", "mentions that were not found"),
                ("precision", "the precision that the F1 takes, in `evaluate` a column of its own"),
                ("recall", "the recall"),
                ("f1", "the F1 that is shown, in `evaluate` that of all answers"),
                *(
                    (f"{score}_{end}", f"the {word} bound of the interval of 95 % of the {score}")
                    for score in ("precision", "recall", "f1")
                    for end, word in (("low", "lower"), ("high", "upper"))
                ),
            )
        ),
        *_STATE,
    ),
    ("system", "target", "profile", "task", "matching", "column", "slice", "average"),
)

DIFFERENCES = Schema(
    "differences of a study",
    "the difference of two scores, tested: of two systems on the same part, or of one system on two targets",
    (
        SchemaColumn("family", pl.String(), "which family of tests is corrected together: 'systems' or 'unfiltered'"),
        _SYSTEM,
        SchemaColumn("other", pl.String(), "the other system, or the same where targets are held against each other"),
        _TARGET,
        SchemaColumn("against", pl.String(), "the other target, or the same where systems are held against each other"),
        *_RULES,
        _COLUMN,
        _SLICE,
        SchemaColumn("score", pl.String(), "'precision', 'recall' or 'f1'"),
        SchemaColumn("difference", pl.Float64(), "the score less the other", null=True),
        SchemaColumn("low", pl.Float64(), "the lower bound of its interval of 95 %", null=True),
        SchemaColumn("high", pl.Float64(), "the upper bound", null=True),
        SchemaColumn("p", pl.Float64(), "the p of the test, null where there is none", null=True),
        SchemaColumn("p_holm", pl.Float64(), "corrected by Holm over the family", null=True),
        _DOCUMENTS,
    ),
    ("family", "system", "other", "target", "against", "profile", "task", "matching", "column", "slice", "score"),
)

COUNTED = Schema(
    "counts of a study",
    "what a system and gold have in a document of a target, or in a part of it",
    (
        _SYSTEM,
        _TARGET,
        *_RULES,
        _COLUMN,
        _SLICE,
        SchemaColumn("document", pl.String(), "the IRI of the document"),
        SchemaColumn("tp", pl.Float64(), "answers that are right"),
        SchemaColumn("fp", pl.Float64(), "answers that are wrong, of those that the precision shown takes"),
        SchemaColumn("fn", pl.Float64(), "mentions that were not found"),
        SchemaColumn("found", pl.Float64(), "mentions that were found; more or fewer than tp where answers share one"),
    ),
    ("system", "target", "profile", "task", "matching", "column", "slice", "document"),
)

OUTCOMES = Schema(
    "outcomes of a study",
    "what became of a mention in a system's answers, by the first rules of the study",
    (
        SchemaColumn("mention", pl.Int64(), "the number of the mention"),
        _SYSTEM,
        SchemaColumn("outcome", pl.String(), "'correct', 'wrong' or 'missed'"),
        SchemaColumn("confidence", pl.Float64(), "how sure the system was of its answer", null=True),
    ),
    ("mention", "system"),
)

THRESHOLDS = Schema(
    "thresholds of a study",
    "what a system and gold have on the unfiltered target, by its first rules, where answers above a threshold count",
    (
        _SYSTEM,
        SchemaColumn("above", pl.Float64(), "the threshold; null where every answer counts", null=True),
        SchemaColumn("tp", pl.Float64(), "answers that are right"),
        SchemaColumn("fp", pl.Float64(), "answers that are wrong"),
        SchemaColumn("fn", pl.Float64(), "mentions that were not found"),
    ),
    ("system", "above"),
)

TABLES = {
    "targets": TARGETS,
    "systems": SYSTEMS,
    "composition": COMPOSITION,
    "measures": MEASURES,
    "mentions": STUDIED_MENTIONS,
    "parts": PARTS,
    "members": MEMBERS,
    "selected": SELECTED,
    "scores": SCORES,
    "differences": DIFFERENCES,
    "counts": COUNTED,
    "outcomes": OUTCOMES,
    "thresholds": THRESHOLDS,
}
"""The declarations of the tables of `Results`, by the names of its fields."""

Targets: TypeAlias = Annotated[pl.DataFrame, TARGETS]
Systems: TypeAlias = Annotated[pl.DataFrame, SYSTEMS]
Composition: TypeAlias = Annotated[pl.DataFrame, COMPOSITION]
Measures: TypeAlias = Annotated[pl.DataFrame, MEASURES]
StudiedMentions: TypeAlias = Annotated[pl.DataFrame, STUDIED_MENTIONS]
Parts: TypeAlias = Annotated[pl.DataFrame, PARTS]
Members: TypeAlias = Annotated[pl.DataFrame, MEMBERS]
SelectedMentions: TypeAlias = Annotated[pl.DataFrame, SELECTED]
StudyScores: TypeAlias = Annotated[pl.DataFrame, SCORES]
Differences: TypeAlias = Annotated[pl.DataFrame, DIFFERENCES]
Counted: TypeAlias = Annotated[pl.DataFrame, COUNTED]
StudiedOutcomes: TypeAlias = Annotated[pl.DataFrame, OUTCOMES]
ThresholdSums: TypeAlias = Annotated[pl.DataFrame, THRESHOLDS]


Keep: TypeAlias = Callable[[str, Mapping[str, object], Callable[[], pl.DataFrame]], pl.DataFrame]
"""Returns the table that was made before of a kind of what was read, else makes it."""


def make_anew(kind: str, read: Mapping[str, object], make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return a table that is made, whatever was made before (a `Keep` without a place)."""
    return make()


@dataclass(frozen=True, eq=False)
class Results:
    """All that a study found; the first `profile`, `task` and `matching` are those that exhibits show.

    `unfiltered` is the target that the others are held against, `columns` the partitions in their order, `samples` how
    many draws tests made, `seed` what is drawn by. What takes long to make of the tables is `kept` where there is a
    place for it, which changes no number. What was not computed is an empty table; what is missing stands in
    `targets`, `systems` and `scores` with its state.
    """

    targets: Targets
    systems: Systems
    composition: Composition
    measures: Measures
    mentions: StudiedMentions
    parts: Parts
    members: Members
    selected: SelectedMentions
    scores: StudyScores
    differences: Differences
    counts: Counted
    outcomes: StudiedOutcomes
    thresholds: ThresholdSums
    profile: str = "remix"
    task: str = "A2KB"
    matching: str = "strong"
    unfiltered: str = "all"
    columns: tuple[str, ...] = ()
    samples: int = 10_000
    seed: int = 0
    kept: Keep = make_anew

    def check(self, place: object) -> None:
        """Raise `BadInput`, which names the place, for a table that is not as it is declared."""
        for name, schema in TABLES.items():
            schema.check(getattr(self, name), place)

    def headline(self, *, average: str = "micro") -> StudyScores:
        """Return the rows of scores of the first profile, task and matching, of one average."""
        rules = {"profile": self.profile, "task": self.task, "matching": self.matching}
        return self.scores.filter(average=average, **rules)


def no_results(**found: pl.DataFrame) -> Results:
    """Return results of which all tables but those given are empty.

    >>> no_results().scores.is_empty()
    True
    """
    none: Any = {name: found.get(name, schema.empty()) for name, schema in TABLES.items()}
    return Results(**none)


def tell_uncounted(results: Results) -> list[str]:
    """Return sentences for the tasks and matchings of a study that a profile does not count, or nothing is of.

    >>> keys = {"system": "a", "profile": "hipe", "task": "NE-NESTED", "state": NOTHING}
    >>> told = "neither gold nor an answer has anything of NE-NESTED there"
    >>> rows = pl.DataFrame([{**keys, "target": target, "told": told} for target in ("x", "y")])
    >>> tell_uncounted(no_results(scores=rows))
    ['There is no score of NE-NESTED by hipe of a on x, y: neither gold nor an answer has anything of NE-NESTED there.']
    """
    rows = results.scores
    lines = [f"The profile {told}." for told in rows.filter(state=LEFT_OUT)["told"].unique(maintain_order=True)]
    keys = ("profile", "task", "told")
    lacking = rows.filter(state=NOTHING).group_by(*keys, "target", maintain_order=True)
    each = lacking.agg(pl.col("system").unique(maintain_order=True).str.join(", "))
    found = each.group_by(*keys, "system", maintain_order=True).agg(pl.col("target").str.join(", "))
    for profile, task, told, systems, targets in found.iter_rows():
        lines.append(f"There is no score of {task} by {profile} of {systems} on {targets}: {told}.")
    return lines
