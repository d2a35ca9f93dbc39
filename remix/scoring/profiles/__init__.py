"""Profiles: the conventions of one tool, so that its published numbers come out.

One file a profile: the rules that its tool alone has, and at the end the profile itself, which names them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

import polars as pl

from remix.documents import has_text_beyond, is_named_by_place
from remix.errors import UsageError
from remix.frames import Frames
from remix.registry import Registry
from remix.scoring.conventions import Convention, aspects
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.inputs.entities import with_titles_read
from remix.scoring.inputs.texts import laid_on_gold
from remix.scoring.matching import MATCHINGS, Case, Counter, matching_named
from remix.scoring.statistics import SCOPED, Average, averages
from remix.scoring.tasks import TASKS, task_named


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """One rule of each aspect, that of the default profile unless another is given.

    The fields stand in the order in which rules are exchanged. A new aspect is a field here and a subclass of
    `Convention` in `remix.scoring.conventions`.
    """

    documents: aspects.Documents = aspects.documents_of_gold
    nil: aspects.Nil = aspects.nil_is_nil
    optional: aspects.Optional = aspects.optional_ignored
    regions: aspects.Regions = aspects.regions_respected
    alternatives: aspects.Alternatives = aspects.alternatives_grouped
    repeated: aspects.Repeated = aspects.repeated_once
    overlapping: aspects.Overlapping = aspects.overlapping_kept
    threshold: aspects.Threshold = aspects.threshold_none
    pairing: aspects.Pairing = aspects.pair_maximum
    macro: aspects.Macro = aspects.macro_where_defined
    undefined: aspects.Undefined = aspects.undefined_null

    def __iter__(self) -> Iterator[Convention]:
        """Return the rules in the order of their fields."""
        return (getattr(self, one.name) for one in fields(self))

    def prepare(self, gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
        """Return gold and runs as the rules want them compared."""
        answers = dict(runs)
        for rule in self:
            gold = rule.gold_beside_runs(rule.gold(gold), answers)
            answers = {name: rule.run(run) for name, run in answers.items()}
        return gold, answers

    @property
    def counter(self) -> Counter:
        """What counts a case by the rules: the pairing, where no rule chooses what is compared."""
        if self.macro.documents == "defined" and not any(rule.choose for rule in self):
            return self.pairing.count
        return self._count_chosen

    def _count_chosen(self, case: Case, task: str, matching: str) -> Counts:
        whole = case
        for rule in self:
            if rule.choose is not None:
                case = rule.choose(case, task, matching, self.pairing.count)
        counts = self.pairing.count(case, task, matching)
        if self.macro.documents != "defined":
            # What answers too doubtful to count make of a slice gives it a row all the same.
            doubtful = case.column and case.thresholds is not None and len(case.answers) < len(whole.answers)
            held = self.pairing.count(whole, task, matching) if doubtful else counts
            counts = _of_every_document(case, counts, held)
        return counts if case.thresholds is None else _with_thresholds(case, counts, case.thresholds)

    @property
    def averages(self) -> Mapping[str, Average]:
        """How the rules make precision, recall and F1 of counts."""
        return averages(self.undefined.scores, self.macro.documents, self.macro.harmonic)


PLAIN_GOLD = Conventions(
    optional=aspects.optional_left_out, regions=aspects.regions_left_out, alternatives=aspects.alternatives_separate
)
"""The conventions of a tool to which gold is annotations alone: nothing optional, no regions, no alternatives."""


@dataclass(frozen=True, kw_only=True)
class OwnRules:
    """How a tool scores that no conventions are made for.

    - `prepare`, `count`, `averages`: as `Conventions` has them;
    - `nearest`: the task and matching by which the conventions of its profile come nearest to that;
    - `in_order`, `counted`, `hashes`: whether documents of tokens are gold's by their order, tokens by their number
      alone, and what has # no token, as `laid_on_tokens` has it;
    - `relaxes_gold`: whether a table of entities that stand for each other (`relax`) changes gold as well;
    - `of_frames`: whether it counts what stands in the frames of gold and runs, whatever mentions a case has;
    - `of_texts`: the matchings by which an answer is right only where it has the very text of a mention.
    """

    prepare: Callable[[Frames, Mapping[str, Frames]], tuple[Frames, dict[str, Frames]]]
    count: Counter
    averages: Mapping[str, Average]
    nearest: tuple[str, str]
    in_order: bool = False
    counted: bool = False
    hashes: bool = False
    relaxes_gold: bool = False
    of_frames: bool = False
    of_texts: frozenset[str] = frozenset()


def refuse_unknown(task: str, matching: str) -> None:
    """Raise `UnknownName` or `UsageError` for a task or a matching that remix itself has not."""
    task_named(task)
    matching_named(matching)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What one tool counts, and how.

    - `tasks`, `matchings`: the rows that it shows unless told otherwise;
    - `meanings`: the matchings that the tool alone has, in words;
    - `groups`: names by which several matchings are asked for at once, and which these are;
    - `refuse(task, matching)`: raises `UnknownName` or `UsageError` for what its tool does not count by, as counting
      does; a task that is a mean is refused where one of its parts is;
    - `counts_nothing(task, matching)`: whether there is nothing of a task by a matching, though the tool knows both;
    - `headline`: the task and matching by which it is held against other profiles;
    - `conventions`: its rules; where it has `own_rules`, those that come nearest to them;
    - `adjust_counting(count)`: the counting of the profile made of that of its conventions, where these are not all;
    - `outside_slice`: what a slice does with the gold outside it: 'dropped' (ignorable) or 'removed';
    - `weigh(profile, rule)`: the profile that counts by what `--weight` says, and what a signature calls that, where it
      is no fuzzy recall in the tool;
    - `slices`: columns that the tool slices by in its own way: name to `count(case, task, matching)`, whose rows have
      `slice` besides;
    - `bounded`: those of these that may be cut by bounds of one's own, `period:1890-1920`: name to what makes `count`
      of the bounds of each column, empty for the usual ones;
    - `mean_over`: columns of which the tool tells the mean over slices as well, `sum_over` those of which it tells what
      the summed counts of the slices make;
    - `parts`: the parts of tasks that are means of others, where those of the tool are others than `Task.parts`;
    - `kb_rows`: whether InKB, EE and GSInKB are shown: 'nil', where gold or a run has NIL, or 'always';
    - `sparse`: whether tasks and matchings that count nothing at all have no rows;
    - `by_document`: whether what it counts of a system in a document depends on these two alone, and what it chooses
      beside it on their dataset, not on what else is scored;
    - `notes`: rules in words that no convention stands for, by a name.
    """

    name: str
    summary: str
    source: str
    tasks: tuple[str, ...]
    matchings: tuple[str, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refuse: Callable[[str, str], None] = refuse_unknown
    counts_nothing: Callable[[str, str], bool] = lambda task, matching: False
    headline: tuple[str, str] = ("A2KB", "strong")
    conventions: Conventions = Conventions()
    own_rules: OwnRules | None = None
    adjust_counting: Callable[[Counter], Counter] = lambda count: count
    outside_slice: Literal["dropped", "removed"] = "dropped"
    weigh: Callable[[Profile, str], tuple[Profile, str]] | None = None
    slices: Mapping[str, Counter] = field(default_factory=dict)
    bounded: Mapping[str, Callable[[Sequence[str]], Counter]] = field(default_factory=dict)
    mean_over: tuple[str, ...] = ()
    sum_over: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kb_rows: Literal["", "nil", "always"] = ""
    sparse: bool = False
    by_document: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, inputs: Inputs) -> Inputs:
        """Return what is evaluated as the tool compares it."""
        rules = self.own_rules or self.conventions
        own = self.own_rules
        order = {} if own is None else {"in_order": own.in_order, "counted": own.counted, "hashes": own.hashes}
        gold, runs = inputs.gold, inputs.runs
        answered = [run.documents for run in runs.values()]
        # Else the texts of all runs are gold's, and so are their places.
        if len(gold.values) or any(map(is_named_by_place, answered)) or has_text_beyond(gold.documents, answered):
            runs = laid_on_gold(gold, runs, **order, emptied=inputs.emptied)
        gold, runs = rules.prepare(*with_titles_read(gold, runs))
        return replace(inputs, gold=gold, runs=runs)

    @property
    def count(self) -> Counter:
        """What counts a case by a task and a matching as the tool does, per system and document; see `Task.count`."""
        return self.own_rules.count if self.own_rules else self.adjust_counting(self.conventions.counter)

    @property
    def averages(self) -> Mapping[str, Average]:
        """How counts become precision, recall and F1."""
        return (self.own_rules or self.conventions).averages

    def rules(self) -> dict[str, str]:
        """Return each rule in words with the place where the tool has it, by its name: aspects, then `notes`."""
        rules = () if self.own_rules else self.conventions
        said = {rule.aspect: f"{rule.words} ({rule.source})" if rule.source else rule.words for rule in rules}
        return said | dict(self.notes)

    def parts_of(self, task: str) -> tuple[str, ...]:
        """Return the parts of a task as the tool has it; names that only a profile knows have none."""
        if task in self.parts:
            return self.parts[task]
        return task_named(task).parts if task.partition("(")[0] in TASKS else ()

    def check(self, task: str, matching: str) -> None:
        """Raise `UnknownName` or `UsageError` where the tool does not count the task by the matching.

        >>> PROFILES["hipe"].check("NEL-LIT", "strict@2")
        >>> PROFILES["hipe"].check("NEL-LIT", "strct")
        Traceback (most recent call last):
        remix.errors.UnknownName: no matching of this profile named 'strct'; did you mean 'strict'?
        """
        parts = self.parts_of(task) or (task,)
        for part in parts:
            self.refuse(part, matching)
        if all(self.counts_nothing(part, matching) for part in parts):
            others = [one for one in self.matchings if not self.counts_nothing(parts[0], one)]
            raise UsageError(
                f"the profile '{self.name}' counts nothing of {task} by {matching}: choose {' or '.join(others)}"
            )

    def takes(self, task: str, matching: str) -> bool:
        """Return whether the tool counts a task by a matching.

        >>> PROFILES["hipe"].takes("NEL-LIT", "fuzzy@1"), PROFILES["hipe"].takes("NEL-LIT", "fuzzy")
        (True, False)
        """
        try:
            self.check(task, matching)
        except UsageError:
            return False
        return True

    def list_counted(self) -> dict[str, list[str]]:
        """Return by which matchings each task is counted, its own and those of remix, the profile's first.

        >>> PROFILES["elevant"].list_counted()
        {'A2KB': ['IGNORED', 'REQUIRED'], 'ERec': ['IGNORED', 'REQUIRED']}
        """
        tasks = dict.fromkeys([*self.tasks, self.headline[0], *TASKS.names()])
        matchings = dict.fromkeys([*self.matchings, self.headline[1], *self.meanings, *MATCHINGS.names()])
        counted = {task: [one for one in matchings if self.takes(task, one)] for task in tasks}
        return {task: found for task, found in counted.items() if found}

    def meaning(self, matching: str) -> str:
        """Return what a matching is in words; nothing for one that says itself what it compares."""
        if matching in self.meanings or matching.partition("(")[0] not in MATCHINGS:
            return self.meanings.get(matching, "")
        return matching_named(matching).summary


PROFILES: Registry[Profile] = Registry("profile", "remix.scoring.profiles", Profile)


def _rules_of_tools() -> Iterator[Convention]:
    """Return the conventions of the profiles that ship, each as often as a profile has it."""
    for module in iter_modules(__path__, f"{__name__}."):
        for part in vars(import_module(module.name)).values():
            if isinstance(part, Profile):
                yield from part.conventions


CONVENTIONS: Registry[Convention] = Registry(
    "convention", "remix.scoring.conventions", Convention, further=_rules_of_tools
)
"""The rules of all tools: those of several stand in `remix.scoring.conventions`, those of one with its profile."""


def _of_every_document(case: Case, counts: Counts, held: Counts) -> Counts:
    """Return the counts with rows of zeros for the other documents, and `has_gold`.

    In a slice a system that it asks nothing of and that answers nothing there, by what it `held`, has no rows.
    """
    keys = ["system", "doc"]
    systems = case.mentions.names.select("system")
    if case.column:
        counted = held.filter(pl.sum_horizontal("tp", "fp", "fn") > 0)
        systems = systems.join(counted, on="system", how="semi", maintain_order="left")
    every = systems.join(case.mentions.documents.select("doc"), how="cross")
    counts = every.join(counts, on=keys, how="left", maintain_order="left")
    has_gold = pl.col("doc").is_in(case.kept["doc"].unique().implode())
    none = pl.when(pl.col("tp").is_null()).then(0)
    zeros = [pl.coalesce(none, name).alias(name) for name in ("tp", "fp", "fn", "ignored")]
    # What a task has no precision for stays so in documents without counts.
    zeros += [pl.coalesce(none, name).alias(name) for name in SCOPED if counts[name].null_count() < len(counts)]
    return counts.with_columns(*zeros, has_gold=has_gold)


def _with_thresholds(case: Case, counts: Counts, chosen: pl.DataFrame) -> Counts:
    """Return the counts with the `threshold` that answers of the system had to be above in the document."""
    places = case.mentions.documents.select("doc", "dataset")
    chosen = chosen.select("system", "dataset", threshold="above")
    counts = counts.join(places, on="doc", how="left", maintain_order="left")
    return counts.join(chosen, on=["system", "dataset"], how="left", maintain_order="left").drop("dataset")


def require_pairs(profile: Profile) -> None:
    """Raise `UsageError` for a profile that does not tell which annotation of gold an answer stands for."""
    if profile.own_rules or profile.conventions.pairing != aspects.pair_maximum:
        raise UsageError(
            f"profile '{profile.name}' pairs no answer with one annotation, which weights need: use remix or emnlp2019"
        )
