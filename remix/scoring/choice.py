"""What is asked of an evaluation: what is scored, by which conventions, and how it is broken down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from remix.errors import UsageError, nearest
from remix.scoring.profiles import PROFILES, Profile

__all__ = ["Choice", "fields_of"]


@dataclass(frozen=True)
class Choice:
    """What is asked; every field can change a number and is in the signature.

    - `profile`: whose conventions are followed;
    - `tasks`, `matchings`: those of the profile unless given; a task can name its own, `A2KB(match=weak)`;
    - `by`: columns to slice by: `class`, any of `Knowledge.columns` or `document_columns`, a property or measure;
      `a,b` crosses them, `a:quantiles:4` cuts numbers (see `remix.scoring.columns.breakdown`);
    - `min_support`: slices of fewer mentions are left out;
    - `scope`: the class that gold was cut down to, where it is a remix by class; it goes before the queries;
    - `spans`: 'all' leaves dropped spans in D2KB's input, 'kept' takes them out, for D2KB alone;
    - `documents`: in which documents answers count, 'all' of gold's or those with a 'kept' mention; by default all, of
      a remix whose origins are not at hand the kept ones (see `remix.scoring.origins`);
    - `bootstrap`, `seed`: how many samples intervals are made of, 0 for none, and what they are drawn by;
    - `unit`: what macro averages are over and samples draw, 'document' or 'context': a line or, in a text of one line,
      a sentence;
    - `against`: with `by` and `bootstrap`, the slice that others are held against (see `differences_of_slices`), by
      default the whole, 'all';
    - `errors`: taxonomies (`remix.scoring.errors`) whose classes are counted in rows of their own;
    - `weight`: how much each annotation of gold is required, as `remix.scoring.weights.weights_of` has it;
    - `threshold`: which answers count by their confidence, as `remix.scoring.thresholds.threshold_rule` has it; by
      default all, or what the profile's own rule leaves;
    - `fix_offsets`: read the offsets of runs that `remix.scoring.offsets.wrong_offsets` finds to count in other units
      as what they seem to be; without it that is only said.

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
    def of(cls, profile: Profile | str = "remix", **given: Any) -> Choice:
        """Return the choice of keywords: a profile by its name, any sequence for a tuple, None for the default.

        A column `kb` is left out: InKB, EE and GSInKB have their rows in every evaluation.

        >>> choice = Choice.of("gerbil", tasks=["A2KB"], by="class")
        >>> choice.profile.name, choice.tasks, choice.by
        ('gerbil', ('A2KB',), ('class',))
        """
        several = {one.name for one in fields(cls) if isinstance(one.default, tuple)}
        values: dict[str, Any] = {
            name: ((value,) if isinstance(value, str) else tuple(value)) if name in several else value
            for name, value in given.items()
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
