"""What is asked of an evaluation, and its signature, in which all that can change a number stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from remix import iris
from remix._version import __version__
from remix.frames import Frames
from remix.measures.partitions import columns_of
from remix.names import RMX
from remix.question import Question
from remix.scoring.conventions.aspects import undefined_null
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.sources import Keeper, read_inputs
from remix.scoring.matching import Case
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.slicing import whole_case, with_originals
from remix.scoring.statistics.intervals import METHOD
from remix.scoring.statistics.slices import METHOD as OF_SLICES
from remix.scoring.statistics.weights import column_weighed_by
from remix.signature import Signature, content_hash

if TYPE_CHECKING:
    from remix.scoring.inputs import Background, Inputs


Choice: TypeAlias = Question[Profile]
"""What is asked, with the profile itself in the place of its name, and tasks and matchings named."""


def choose(question: Question[str] | Choice, *, headline: bool = False) -> Choice:
    """Return what is asked with its profile looked up, and the profile's tasks and matchings where it names none.

    With `headline` these are the one task and the one matching that profiles are compared by. A column `kb` is left
    out: InKB, EE and GSInKB have their rows in every evaluation. Raises `UnknownName` for a profile that there is not.

    >>> choice = choose(Question(profile="gerbil", match=("strong",), by=("class", "kb")))
    >>> choice.profile.name, choice.task, choice.match, choice.by
    ('gerbil', ('A2KB', 'D2KB', 'C2KB', 'ERec'), ('strong',), ('class',))
    """
    profile = PROFILES[question.profile] if isinstance(question.profile, str) else question.profile
    tasks, matchings = ([one] for one in profile.headline) if headline else (profile.tasks, profile.matchings)
    named = {"task": question.task or tuple(tasks), "match": question.match or tuple(matchings)}
    by = tuple(column for column in question.by if column != "kb")
    return Choice(**{**vars(question), "profile": profile, **named, "by": by})


def read_chosen(keeper: Keeper, choice: Choice) -> Inputs:
    """Return what the choice reads, with its columns but those that the profile fills itself."""
    profile, own = choice.profile, choice.profile.own_rules
    by, weight = (
        tuple(name for name in names if name not in profile.slices)
        for names in (columns_of(choice.by), column_weighed_by(choice.weight))
    )
    # A profile that scores documents without anything scores gold that is empty throughout, too.
    empty = profile.conventions.undefined != undefined_null
    relaxes = own is not None and own.relaxes_gold
    return read_inputs(keeper, choice, by=by, weight=weight, empty=empty, relaxes_gold=relaxes)


def case_of(inputs: Inputs, choice: Choice, *, scoped: bool = True) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them.

    Without `scoped` nothing says which answers are in the scope of a remix, as where gold is looked at alone. A profile
    that counts from frames knows no mention that several datasets share.
    """
    whole = whole_case(
        inputs,
        collapse=choice.profile.conventions.repeated.collapse,
        unit=choice.unit,
        scope=choice.scope,
        documents=choice.documents,
        scoped=scoped,
    )
    own = choice.profile.own_rules
    return whole if own is not None and own.of_frames else with_originals(whole)


DESCRIBING = ("model", "prompt_hash", "cost", "time")
LENGTH = 12
"""Digits of a content hash in a signature."""


def sign_each(
    every: Sequence[Inputs], choice: Choice, *, weight: str = "", threshold: str = "", offsets: str = ""
) -> list[pl.DataFrame]:
    """Return for each of several inputs what `sign` returns of it."""
    return [sign(inputs, choice, weight=weight, threshold=threshold, offsets=offsets) for inputs in every]


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
        "tasks": ",".join(choice.task),
        "matchings": ",".join(choice.match),
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
    weighed = column_weighed_by(choice.weight) if choice.weight else []
    asked = dict.fromkeys([*(columns_of(choice.by) if choice.by else ()), *weighed])
    tables = [
        table.select(pl.first(), *named)
        for table in (known.tables if asked else ())
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
    runs = dict.fromkeys(fields["run"] for lines in every_line for fields in lines)
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
