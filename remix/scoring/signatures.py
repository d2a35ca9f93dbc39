"""The signature of an evaluation: inputs by content, conventions, seed and version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from remix import iris
from remix._version import __version__
from remix.frames import Frames
from remix.names import RMX
from remix.scoring.inputs.columns import columns_of
from remix.signature import Signature, content_hash

if TYPE_CHECKING:
    from remix.scoring.choice import Choice
    from remix.scoring.inputs import Background, Inputs

__all__ = ["LENGTH", "frames_hash", "signature_of_parts", "signature_of_tasks", "signed"]

DESCRIBING = ("model", "prompt_hash", "cost", "time")
LENGTH = 12
"""Digits of a content hash in a signature."""


def signed(inputs: Inputs, choice: Choice, *, weight: str = "", threshold: str = "", offsets: str = "") -> pl.DataFrame:
    """Return system, `signature`, whatever can change that system's numbers, and `signature_short`.

    `weight`, `threshold` and `offsets` are what was found where the choice asks for a rule. Of the types only those of
    entities that occur count, so that other rows of a large table change nothing.
    """
    contents = inputs.contents
    asked = _asked(choice, weight=weight, threshold=threshold, offsets=offsets)
    fields = {name: value for name, value in {**asked, **_known(inputs, choice)}.items() if value}
    hashes = {name: (contents.get(name) or frames_hash(run))[:LENGTH] for name, run in inputs.runs.items()}
    lines = [Signature({**fields, "run": hashes[name], **_described(run)}) for name, run in inputs.runs.items()]
    short = [line.short() for line in lines]
    return pl.DataFrame(
        {"system": list(inputs.runs), "signature": [str(line) for line in lines], "signature_short": short}
    )


def _asked(choice: Choice, *, weight: str, threshold: str, offsets: str) -> dict[str, str]:
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


def _known(inputs: Inputs, choice: Choice) -> dict[str, str]:
    known = inputs.knowledge
    names = None if known.names is None else _of_linked(known.names, inputs)
    types = [one.select("entity", "class") for one in (known.types, known.stated) if one is not None]
    types = [_of_linked(pl.concat(types), inputs)] if types else []
    tables = [
        table.select(pl.first(), *named)
        for table in known.tables
        if table is not None and (named := [name for name in columns_of(choice.by) if name in table.columns])
    ]
    return {
        "entities": iris.VERSION,
        "kb": known.kb.version[:LENGTH] if known.kb is not None else "",
        "types": _table_hash(types[0] if types else None),
        "names": _table_hash(names),
        "subclasses": _table_hash(known.subclasses),
        "columns": ",".join(_table_hash(table) for table in tables),
        "cut": _origin_hash(known.backgrounds),
        "gold": (inputs.contents.get("") or frames_hash(inputs.gold))[:LENGTH],
    }


def _of_linked(table: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """Return the rows of entities that gold or a run links to."""
    linked = pl.concat([one.links["entity"] for one in (inputs.gold, *inputs.runs.values())]).unique()
    return table.filter(pl.col("entity").is_in(linked.implode()))


def _described(run: Frames) -> dict[str, str]:
    """Return what the file of a run says of it: the model, the hash of its prompt, what it cost, how long it took."""
    told = {f"{RMX}{name}": f"run_{name}" for name in DESCRIBING}
    rows = (
        run.values.filter(pl.col("term").is_in(list(told)))
        .select("term", "number", "text")
        .unique()
        .sort("term", "text")
    )
    return {told[term]: text if number is None else f"{number:g}" for term, number, text in rows.iter_rows()}


def signature_of_parts(parts: Sequence[pl.DataFrame], choices: Mapping[str, object]) -> str:
    """Return the signature of a comparison: of all its parts, each signed as by `signed`, and its own choices."""
    parsed = [[dict(Signature.parse(line).fields) for line in part["signature"]] for part in parts]
    own = {name: str(value) for name, value in choices.items() if value != ""}
    every = {
        **parsed[0][0],
        "gold": ",".join(systems[0]["gold"] for systems in parsed),
        "run": ",".join(fields["run"] for fields in parsed[0]),
    }
    for name in ("columns", "cut", "types", "names"):
        if found := [systems[0].get(name, "") for systems in parsed if name in systems[0]]:
            every[name] = ",".join(found)
    return str(Signature({**every, **own}))


def signature_of_tasks(parts: Sequence[pl.DataFrame], tasks: Sequence[str]) -> pl.DataFrame:
    """Return system, `signature` and `signature_short` of rows whose tasks were scored apart, with runs of their own.

    What is not the same in all parts, such as the run, is that of each part in turn.
    """
    lines: dict[str, str] = {}
    for system in parts[0]["system"].unique(maintain_order=True):
        signed = [part.filter(pl.col("system") == system)["signature"].drop_nulls() for part in parts]
        fields = [dict(Signature.parse(one[0]).fields) for one in signed if len(one)]
        names = dict.fromkeys(name for one in fields for name in one)
        every = {name: ",".join(dict.fromkeys(one[name] for one in fields if name in one)) for name in names}
        lines[system] = str(Signature({**every, "tasks": ",".join(tasks)}))
    short = [Signature.parse(line).short() for line in lines.values()]
    return pl.DataFrame({"system": list(lines), "signature": list(lines.values()), "signature_short": short})


def _origin_hash(backgrounds: Sequence[Background]) -> str:
    """Return the hash of the queries that gold was cut by and of what they were asked of, empty without any."""
    found = []
    for background in backgrounds:
        if background.queries:
            queries = "".join(f"{name}\n{query}\n" for name, query in sorted(background.queries.items()))
            found.append(content_hash(queries, background.reference, frames_hash(background.frames)))
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
    return content_hash(*(part.write_csv() for part in parts))
