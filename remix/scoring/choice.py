"""What is asked of an evaluation, and its signature, in which all that can change a number stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import UsageError, nearest
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.conventions.aspects import undefined_null
from remix.scoring.inputs.columns import columns_of
from remix.scoring.inputs.sources import Sources, Wanted
from remix.scoring.matching import Case
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.slicing import whole_case
from remix.scoring.statistics.weights import column_weighed_by
from remix.signature import Signature, content_hash

if TYPE_CHECKING:
    from remix.scoring.inputs import Background, Inputs


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
    - `fix_offsets`: read the offsets of runs that `remix.scoring.matching.misreadings.wrong_offsets` finds to count in
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

    def fill(self, tasks: tuple[str, ...], matchings: tuple[str, ...]) -> Choice:
        """Return the choice with these tasks and matchings where it names none."""
        return replace(self, tasks=self.tasks or tuple(tasks), matchings=self.matchings or tuple(matchings))

    def headline(self) -> Choice:
        """Return the choice with the one task and matching that profiles are compared by, where it names none."""
        return self.fill(self.profile.headline[:1], self.profile.headline[1:])

    def only(self, names: tuple[str, ...], otherwise: str) -> Choice:
        """Return the choice itself; raises `UsageError`, whose end is `otherwise`, where it asks for anything else."""
        for one in fields(self):
            if one.name not in ("profile", *names) and getattr(self, one.name) != one.default:
                option = OPTIONS.get(one.name, one.name).replace("_", "-")
                raise UsageError(f"--{option} {otherwise}")
        return self

    def needs(self) -> Wanted:
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


def case_of(inputs: Inputs, choice: Choice) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them."""
    return whole_case(
        inputs,
        collapse=choice.profile.conventions.repeated.collapse,
        unit=choice.unit,
        scope=choice.scope,
        documents=choice.documents,
    )


DESCRIBING = ("model", "prompt_hash", "cost", "time")
LENGTH = 12
"""Digits of a content hash in a signature."""


def sign(inputs: Inputs, choice: Choice, *, weight: str = "", threshold: str = "", offsets: str = "") -> pl.DataFrame:
    """Return system, `signature`, whatever can change that system's numbers, and `signature_short`.

    `weight`, `threshold` and `offsets` are what was found where the choice asks for a rule. Of the types only those of
    entities that occur count, so that other rows of a large table change nothing.
    """
    contents = inputs.contents
    asked = _list_asked(choice, weight=weight, threshold=threshold, offsets=offsets)
    fields = {name: value for name, value in {**asked, **_list_known(inputs, choice)}.items() if value}
    hashes = {name: (contents.get(name) or frames_hash(run))[:LENGTH] for name, run in inputs.runs.items()}
    lines = [Signature({**fields, "run": hashes[name], **_describe(run)}) for name, run in inputs.runs.items()]
    short = [line.short() for line in lines]
    return pl.DataFrame(
        {"system": list(inputs.runs), "signature": [str(line) for line in lines], "signature_short": short}
    )


def _list_asked(choice: Choice, *, weight: str, threshold: str, offsets: str) -> dict[str, str]:
    return {
        "remix": __version__,
        "profile": choice.profile.name,
        "tasks": ",".join(choice.tasks),
        "matchings": ",".join(choice.matchings),
        "by": ",".join(choice.by),
        "errors": ",".join(choice.errors),
        "weight": weight,
        "scope": choice.scope,
        "threshold": threshold,
        "offsets": offsets,
        "spans": choice.spans,
        "documents": choice.documents,
        "against": choice.against,
        "min_support": str(choice.min_support or ""),
        "unit": choice.unit if choice.unit != "document" else "",
        "bootstrap": f"{choice.bootstrap},seed={choice.seed}" if choice.bootstrap else "",
    }


def _list_known(inputs: Inputs, choice: Choice) -> dict[str, str]:
    known = inputs.knowledge
    types = [one.select("entity", "class") for one in (known.types, known.stated) if one is not None]
    tables = [
        table.select(pl.first(), *named)
        for table in known.tables
        if table is not None and (named := [name for name in columns_of(choice.by) if name in table.columns])
    ]
    return {
        "entities": iris.VERSION,
        "kb": known.kb.version[:LENGTH] if known.kb is not None else "",
        "types": _table_hash(_of_linked(pl.concat(types), inputs)) if types else "",
        "names": _table_hash(_of_linked(known.names, inputs)) if known.names is not None else "",
        "subclasses": _table_hash(known.subclasses),
        "columns": ",".join(_table_hash(table) for table in tables),
        "cut": _origin_hash(known.backgrounds),
        "gold": (inputs.contents.get("") or frames_hash(inputs.gold))[:LENGTH],
    }


def _of_linked(table: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """Return the rows of entities that gold or a run links to."""
    linked = pl.concat([one.links["entity"] for one in (inputs.gold, *inputs.runs.values())]).unique()
    return table.filter(pl.col("entity").is_in(linked.implode()))


def _describe(run: Frames) -> dict[str, str]:
    """Return what the file of a run says of it: the model, the hash of its prompt, what it cost, how long it took."""
    told = {f"{RMX}{name}": f"run_{name}" for name in DESCRIBING}
    rows = run.values.filter(pl.col("term").is_in(list(told))).sort("term", "text")
    return {
        told[row["term"]]: row["text"] if row["number"] is None else f"{row['number']:g}" for row in rows.to_dicts()
    }


def signature_of_parts(parts: Sequence[pl.DataFrame], choices: Mapping[str, object]) -> str:
    """Return the signature of a comparison: of all its parts, each signed as by `sign`, and its own choices."""
    first = [dict(Signature.parse(part["signature"][0]).fields) for part in parts]
    runs = [Signature.parse(line).fields["run"] for line in parts[0]["signature"]]
    every = {**first[0], "gold": ",".join(fields["gold"] for fields in first), "run": ",".join(runs)}
    for name in ("columns", "cut", "types", "names"):
        if found := [fields[name] for fields in first if name in fields]:
            every[name] = ",".join(found)
    return str(Signature({**every, **{name: str(value) for name, value in choices.items() if value != ""}}))


def signature_of_tasks(parts: Sequence[pl.DataFrame], tasks: Sequence[str]) -> pl.DataFrame:
    """Return system, `signature` and `signature_short` of rows whose tasks were scored apart, with runs of their own.

    What is not the same in all parts, such as the run, is that of each part in turn.
    """
    lines: dict[str, str] = {}
    for system in parts[0]["system"].unique(maintain_order=True):
        own = [part.filter(pl.col("system") == system)["signature"].drop_nulls() for part in parts]
        fields = [dict(Signature.parse(one[0]).fields) for one in own if len(one)]
        names = dict.fromkeys(name for one in fields for name in one)
        every = {name: ",".join(dict.fromkeys(one[name] for one in fields if name in one)) for name in names}
        lines[system] = str(Signature({**every, "tasks": ",".join(tasks)}))
    short = [Signature.parse(line).short() for line in lines.values()]
    return pl.DataFrame({"system": list(lines), "signature": list(lines.values()), "signature_short": short})


def _origin_hash(backgrounds: Sequence[Background]) -> str:
    """Return the hash of the queries that gold was cut by and of what they were asked of, empty without any."""
    found = [
        content_hash(
            *(f"{name}\n{query}\n" for name, query in sorted(one.queries.items())),
            one.reference,
            frames_hash(one.frames),
        )
        for one in backgrounds
        if one.queries
    ]
    return content_hash(*found)[:LENGTH] if len(found) > 1 else "".join(found)[:LENGTH]


def _table_hash(table: pl.DataFrame | None) -> str:
    if table is None or table.is_empty():
        return ""
    return content_hash(table.unique().sort(table.columns).write_csv())[:LENGTH]


def frames_hash(frames: Frames) -> str:
    """Return the SHA-256 of all that is scored; the order of rows does not matter.

    >>> frames_hash(Frames.empty()) == frames_hash(Frames.of())
    True
    """
    own = pl.col("annotation")
    annotations = frames.annotations.select(
        *("annotation", "document", "begin", "end", "is_nil", "ignorable", "confidence"),
        *(pl.when(pl.col(name) != own).then(name).alias(name) for name in ("group", "option")),
    )
    parts = (
        frames.documents.select("document", "text").sort("document"),
        annotations.sort("annotation"),
        frames.links.select("annotation", "entity").sort("annotation", "entity"),
        frames.classes.sort("annotation", "class"),
        frames.regions.sort(frames.regions.columns),
        *(part.sort(part.columns) for part in (frames.candidates, frames.values) if len(part)),
    )
    # Writing no row takes as long as writing some.
    return content_hash(*(part.write_csv() if len(part) else ",".join(part.columns) + "\n" for part in parts))
