"""Why two profiles differ: their conventions exchanged one at a time, and everything counted again after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import polars as pl

from remix.errors import UsageError
from remix.expressions import fill, sum_up
from remix.scoring.choice import Choice, case_of
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case
from remix.scoring.profiles import PROFILES, Conventions, Profile
from remix.scoring.profiles.neleval import pair_keys
from remix.scoring.tasks import takes_spans

Found = TypeVar("Found")

SCORES = ("tp", "fp", "fn", "precision", "recall", "f1", "macro_f1")


@dataclass(frozen=True)
class Step:
    """A profile on the way from one to another: what was exchanged last, and by which task and matching it counts."""

    aspect: str
    words: str
    profile: Profile
    headline: tuple[str, str]

    @property
    def own(self) -> str:
        """The name of the profile where it counts by rules that are no conventions, else empty."""
        return self.profile.name if self.profile.own_rules else ""


def profile_names(given: str) -> list[str]:
    """Return the names of profiles separated by commas, or of 'all', the default first.

    Raises `UnknownName` for a name that no profile has, `UsageError` for one that is given twice.

    >>> profile_names("gerbil,neleval")
    ['gerbil', 'neleval']
    """
    if given == "all":
        return sorted(PROFILES.names(), key=lambda name: (name != "remix", name))
    names = [PROFILES[name.strip()].name for name in given.split(",")]
    if len(set(names)) < len(names):
        raise UsageError(f"a profile is named twice in '{given}'")
    return names


class Counting:
    """Gold and runs as they are counted by one profile after another; what stays the same is counted once.

    Gold is all of its datasets together, as in the row 'all' of each profile.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self._found: dict[tuple[object, ...], Any] = {}

    def _once(self, *key: object, work: Callable[[], Found]) -> Found:
        if key not in self._found:
            self._found[key] = work()
        found: Found = self._found[key]
        return found

    def scores(self, step: Step) -> pl.DataFrame:
        """Return system and `SCORES` of a step over all documents, a row a system in their order."""
        rules = step.profile.conventions
        averaging = (rules.undefined.scores, rules.macro.documents, rules.macro.harmonic)
        key = ("scores", *self._key_of_counts(step), *averaging)
        return self._once(*key, work=lambda: self._sum_up(step, self.counts(step)))

    def _sum_up(self, step: Step, counts: Counts) -> pl.DataFrame:
        systems = self.case(step).mentions.names
        found = {name: average.summarise(counts, ["system"]) for name, average in step.profile.averages.items()}
        micro = found["micro"].select("system", *SCORES[:-1])
        macro = found["macro"] if "macro" in found else micro.with_columns(f1=pl.lit(None, pl.Float64))
        rows = systems.join(micro, on="system", how="left", maintain_order="left")
        rows = rows.join(macro.select("system", macro_f1="f1"), on="system", how="left", maintain_order="left")
        return rows.with_columns(pl.col("tp", "fp", "fn").fill_null(0)).select(pl.col("name").alias("system"), *SCORES)

    def counts(self, step: Step) -> Counts:
        """Return the counts of a step per system (its number) and document."""
        case, key = self.case(step), self._key_of_counts(step)
        return self._once("counts", *key, work=lambda: step.profile.count(case, *step.headline).sort("system", "doc"))

    def _key_of_counts(self, step: Step) -> tuple[object, ...]:
        """Return all that makes the counts of a step: its case, and the rules by which that is counted."""
        rules = step.profile.conventions
        counting = (rules.pairing.count, rules.macro.documents != "defined", *(rule.choose for rule in rules))
        return self.case(step), step.own, *counting, *step.headline

    def case(self, step: Step) -> Case:
        """Return what a step counts; its rules may have left out documents, so that these have numbers of their own."""
        rules, spans = step.profile.conventions, takes_spans(step.headline[0])
        reading = [(rule.gold, rule.gold_beside_runs, rule.run) for rule in rules]
        inputs = self._once(
            "inputs",
            *(spans, step.own, *reading),
            work=lambda: step.profile.prepare(self.inputs.with_runs_for(spans=spans)),
        )
        # Rules that find nothing to change leave the very frames that they were given.
        frames = (rules.repeated.collapse, inputs.gold, *inputs.runs.values())
        return self._once("case", *frames, work=lambda: case_of(inputs, Choice(profile=step.profile)).pool())


def headlines(counting: Counting, names: list[str]) -> pl.DataFrame:
    """Return the score by which each profile is held against others: profile, task, matching, system and `SCORES`."""
    parts = []
    for name in names:
        profile = PROFILES[name]
        rows = counting.scores(Step("", "", profile, profile.headline))
        labels = {"profile": name, "task": profile.headline[0], "matching": profile.headline[1]}
        parts.append(rows.select(*(pl.lit(value).alias(key) for key, value in labels.items()), pl.all()))
    return pl.concat(parts, how="vertical_relaxed")


def differences(counting: Counting, names: list[str]) -> pl.DataFrame:
    """Return what each convention changes between the first profile and each other: a row a step and system.

    Columns: `profile` (the other), `aspect`, `convention` (in words), `system`, and the change of each of `SCORES`;
    the changes of a profile and system add up to the whole difference (null where a score is undefined). Conventions
    that change nothing have rows of zeros.
    """
    parts = []
    for name in names[1:]:
        before = None
        for step in _steps(PROFILES[names[0]], PROFILES[name]):
            after = counting.scores(step)
            if before is not None:
                changes = [(after[score] - before[score]).alias(score) for score in SCORES]
                labels = {"profile": name, "aspect": step.aspect, "convention": step.words}
                told = [pl.lit(value).alias(key) for key, value in labels.items()]
                parts.append(after.select(*told, "system", *changes))
            before = after
    if not parts:
        texts = dict.fromkeys(("profile", "aspect", "convention", "system"), pl.String)
        return pl.DataFrame(schema={**texts, **dict.fromkeys(SCORES, pl.Float64)})
    return pl.concat(parts, how="vertical_relaxed")


def _steps(first: Profile, second: Profile) -> Iterator[Step]:
    """Return the profiles on the way, the first of them as it is."""
    yield Step("start", "", first, first.headline)
    rules, at = first.conventions, first.own_rules.nearest if first.own_rules else first.headline
    wanted, to = second.conventions, second.own_rules.nearest if second.own_rules else second.headline
    if first.own_rules:
        yield Step("own", f"rules that only {first.name} has, no longer", _with(first, rules), at)
    aspects = [one.aspect for one in rules]
    # Spans and task change under a pairing that knows them.
    turn = aspects.index(rules.pairing.aspect) + (rules.pairing == pair_keys)
    for aspect in [*aspects[:turn], "", *aspects[turn:]]:
        if not aspect:
            if at[1] != to[1]:
                at = (at[0], to[1])
                yield Step("spans", f"spans match as '{to[1]}'", _with(first, rules), at)
            if at != to:
                at = to
                yield Step("task", f"the task is {to[0]}", _with(first, rules), at)
        elif getattr(rules, aspect) != (rule := getattr(wanted, aspect)):
            rules = replace(rules, **{aspect: rule})
            yield Step(aspect, rule.words, _with(first, rules), at)
    if second.own_rules:
        yield Step("own", f"rules that only {second.name} has", second, second.headline)


def _with(profile: Profile, rules: Conventions) -> Profile:
    """Return the profile with these rules and none besides."""
    return replace(profile, own_rules=None, adjust_counting=lambda count: count, conventions=rules)


def difference_lines(changes: pl.DataFrame, first: str) -> pl.DataFrame:
    """Return a line for each profile and convention that changes anything: its counts summed over systems.

    `F1` and `macro-F1` are the mean changes of the systems.
    """
    counts, means = ["tp", "fp", "fn"], ["f1", "macro_f1"]
    keys = ["profile", "aspect", "convention"]
    lines = sum_up(changes, keys, pl.col(counts).sum().round(3), pl.col(means).mean().round(4))
    lines = lines.filter(pl.any_horizontal(pl.col(name).fill_null(0) != 0 for name in (*counts, *means)))
    signed = [
        # Sums of floats leave a negative zero.
        pl.when(pl.col(name) > 0)
        .then(fill("+{}", name))
        .when(pl.col(name) == 0)
        .then(pl.lit("0"))
        .otherwise(pl.col(name).cast(pl.String))
        .alias(shown)
        for name, shown in zip((*counts, *means), (*counts, "F1", "macro-F1"), strict=True)
    ]
    named = fill(f"{first} → {{}}", "profile").alias("from → to")
    return lines.select(named, "aspect", "convention", *signed)
