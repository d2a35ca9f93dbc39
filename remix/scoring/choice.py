"""What is asked of an evaluation, and its signature, in which all that can change a number stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import NO_BOOTSTRAP, UsageError, nearest
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.conventions.aspects import undefined_null
from remix.scoring.inputs.columns import columns_of
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.sources import Sources, Wanted
from remix.scoring.matching import Case
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.slicing import whole_case, with_originals
from remix.scoring.statistics.intervals import METHOD
from remix.scoring.statistics.slices import METHOD as OF_SLICES
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
    intervals: bool
    samples: int
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
    - `intervals`: whether scores have intervals of 95 % (`remix.scoring.statistics.intervals`) and, with `by`, slices
      are tested (`differences_of_slices`);
    - `samples`, `seed`: how many draws the p of slices is a share of, and what they are drawn by;
    - `unit`: what macro averages and intervals are over, 'document' or 'context': a line or, in a text of one line,
      a sentence;
    - `against`: with `by` and `intervals`, the slice that others are held against (see `differences_of_slices`), by
      default the whole, 'all';
    - `errors`: taxonomies (`remix.scoring.errors`) whose classes are counted in rows of their own;
    - `weight`: how much each annotation of gold is required, as `remix.scoring.statistics.weights.weights_of` has it;
    - `threshold`: which answers count by their confidence, as `remix.scoring.statistics.thresholds.threshold_rule` has
      it; by default all, or what the profile's own rule leaves;
    - `fix_offsets`: read the offsets of runs that `remix.scoring.matching.offsets.wrong_offsets` finds to count in
      other units as what they seem to be, document by document; without it that is only said.

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
    intervals: bool = False
    samples: int = 1_000
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
        if self.against and not (self.by and self.intervals):
            raise UsageError(f"--against {self.against} tests slices: it goes with --by and --intervals")

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
        own = self.profile.own
        return Wanted(by, weight, self.documents, empty, own is not None and own.relaxes_gold)

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
    if "bootstrap" in given and Choice in records:
        raise UsageError(NO_BOOTSTRAP)
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
    """Return the whole of gold with all answers, of inputs as the profile prepared them.

    A profile that counts from frames knows no mention that several datasets share.
    """
    whole = whole_case(
        inputs,
        collapse=choice.profile.conventions.repeated.collapse,
        unit=choice.unit,
        scope=choice.scope,
        documents=choice.documents,
    )
    own = choice.profile.own
    return whole if own is not None and own.of_frames else with_originals(whole)


DESCRIBING = ("model", "prompt_hash", "cost", "time")
LENGTH = 12
"""Digits of a content hash in a signature."""


def sign(inputs: Inputs, choice: Choice, *, weight: str = "", threshold: str = "", offsets: str = "") -> pl.DataFrame:
    """Return system, `signature`, whatever can change that system's numbers, and `signature_short`.

    `weight`, `threshold` and `offsets` are what was found where the choice asks for a rule. Of the types only those of
    entities that gold or the run links to count, so that neither other rows of a large table nor other runs change
    anything.
    """
    fields = {**_list_asked(choice, weight=weight, threshold=threshold, offsets=offsets), **_list_known(inputs, choice)}
    lines = []
    for name, run in inputs.runs.items():
        content = (inputs.contents.get(name) or frames_hash(run))[:LENGTH]
        own = {**fields, **_list_entities(inputs, run), "run": content, **_describe(run)}
        lines.append(Signature({field: value for field, value in own.items() if value}))
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
        "intervals": METHOD if choice.intervals else "",
        "slices": f"{OF_SLICES},samples={choice.samples},seed={choice.seed}" if choice.intervals and choice.by else "",
    }


def _list_known(inputs: Inputs, choice: Choice) -> dict[str, str]:
    """Return what is the same for all runs; `types` and `names` have their places before those of each run."""
    known = inputs.knowledge
    asked = dict.fromkeys((*columns_of(choice.by), *column_weighed_by(choice.weight)))
    tables = [
        table.select(pl.first(), *named)
        for table in known.tables
        if table is not None and (named := [name for name in asked if name in table.columns])
    ]
    return {
        "entities": iris.VERSION,
        "kb": known.kb.version[:LENGTH] if known.kb is not None else "",
        "types": "",
        "names": "",
        "subclasses": _table_hash(known.subclasses),
        "columns": ",".join(_table_hash(table) for table in tables),
        "cut": _origin_hash(known.backgrounds),
        "gold": (inputs.contents.get("") or frames_hash(_as_given(inputs.gold)))[:LENGTH],
    }


def _list_entities(inputs: Inputs, run: Frames) -> dict[str, str]:
    """Return the hashes of what is known of the entities that gold or a run links to."""
    known = inputs.knowledge
    stated = inputs.gold.classes.filter("of_entity").join(inputs.gold.links, on="annotation")
    types = [one.select("entity", "class") for one in (known.types, known.stated, stated) if one is not None]
    tables = {"types": pl.concat(types), "names": known.names}
    linked = pl.concat([inputs.gold.links["entity"], run.links["entity"]]).unique()
    own = pl.col("entity").is_in(linked.implode())
    return {name: _table_hash(table.filter(own)) for name, table in tables.items() if table is not None}


def _as_given(gold: Frames) -> Frames:
    """Return gold without what was derived from registered runs, and without the types of its entities.

    A knowledge base tells these, too, so that they have a place of their own in the signature.
    """
    learnt = pl.col("term").is_in([f"{RMX}{name}" for name in sorted(LEARNT)])
    return replace(gold, values=gold.values.filter(~learnt), classes=gold.classes.filter(~pl.col("of_entity")))


def _describe(run: Frames) -> dict[str, str]:
    """Return what the file of a run says of it: the model, the hash of its prompt, what it cost, how long it took."""
    told = {f"{RMX}{name}": f"run_{name}" for name in DESCRIBING}
    rows = run.values.filter(pl.col("term").is_in(list(told))).sort("term", "text")
    return {
        told[row["term"]]: row["text"] if row["number"] is None else f"{row['number']:g}" for row in rows.to_dicts()
    }


def signature_of_parts(parts: Sequence[pl.DataFrame], choices: Mapping[str, object]) -> str:
    """Return the signature of a comparison: of all its parts, each signed as by `sign`, and its own choices."""
    every_line = [[dict(Signature.parse(line).fields) for line in part["signature"]] for part in parts]
    first = [lines[0] for lines in every_line]
    runs = [fields["run"] for fields in every_line[0]]
    every = {**first[0], "gold": ",".join(fields["gold"] for fields in first), "run": ",".join(runs)}
    for name in ("columns", "cut", "types", "names"):
        if found := [fields[name] for lines in every_line for fields in lines if name in fields]:
            every[name] = ",".join(dict.fromkeys(found))
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
