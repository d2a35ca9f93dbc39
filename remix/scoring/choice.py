"""What is asked of an evaluation, and its signature, in which all that can change a number stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import polars as pl

from remix import iris
from remix._version import __version__
from remix.frames import Frames
from remix.measures.partitions import columns_of, label_of
from remix.names import RMX
from remix.question import Question
from remix.scoring.conventions.aspects import undefined_null
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.sources import Keeper, read_each_input, read_inputs
from remix.scoring.matching import MATCHINGS, Case, matching_named
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

    A name of several matchings of the profile stands for these, and one with a number is spelt as that matching is.
    With `headline` task and matching are those that profiles are compared by. A column `kb` is left out: InKB, EE and
    GSInKB have their rows in every evaluation. Raises `UnknownName` for a profile that there is not.

    >>> choice = choose(Question(profile="gerbil", match=("strong",), by=("class", "kb")))
    >>> choice.profile.name, choice.task, choice.match, choice.by
    ('gerbil', ('A2KB', 'D2KB', 'C2KB', 'ERec'), ('strong',), ('class',))
    """
    profile = PROFILES[question.profile] if isinstance(question.profile, str) else question.profile
    tasks, matchings = ([one] for one in profile.headline) if headline else (profile.tasks, profile.matchings)
    every = [one for name in question.match or matchings for one in profile.groups.get(name, (name,))]
    every = [matching_named(name).name if name.partition("(")[0] in MATCHINGS else name for name in every]
    named = {"task": question.task or tuple(tasks), "match": tuple(dict.fromkeys(every))}
    by = tuple(column for column in question.by if column != "kb")
    return Choice(**{**vars(question), "profile": profile, **named, "by": by})


def read_chosen(keeper: Keeper, choice: Choice) -> Inputs:
    """Return what the choice reads, with its columns but those that the profile fills itself."""
    return read_inputs(keeper, choice, **_choose_reading(choice))


def read_each_chosen(
    keeper: Keeper, choice: Choice, datasets: Sequence[str], *, typed: bool = True
) -> dict[str, Inputs]:
    """Return what `read_chosen` returns of each dataset alone, by its name, of those that can be read.

    Unless they are `typed`, mentions have the classes of their data alone, and nothing is known of types.
    """
    questions = {name: choice.on(name) for name in datasets}
    return read_each_input(keeper, questions, typed=typed, **_choose_reading(choice))


def _choose_reading(choice: Choice) -> _ReadBesides:
    """Return the columns that are to be read, and what a profile changes of gold."""
    profile, own = choice.profile, choice.profile.own_rules
    by, weight = (
        tuple(name for name in names if name not in profile.slices)
        for names in (columns_of(choice.by), column_weighed_by(choice.weight))
    )
    # A profile that scores documents without anything scores gold that is empty throughout, too.
    empty = profile.conventions.undefined != undefined_null
    relaxes = own is not None and own.relaxes_gold
    return {"by": by, "weight": weight, "empty": empty, "relaxes_gold": relaxes}


class _ReadBesides(TypedDict):
    """What is read besides what a question says itself."""

    by: Sequence[str]
    weight: Sequence[str]
    empty: bool
    relaxes_gold: bool


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


def sign(inputs: Inputs, choice: Choice, *, weight: str = "", threshold: str = "", offsets: str = "") -> pl.DataFrame:
    """Return system, `signature`, whatever can change that system's numbers, and `signature_short`.

    `weight`, `threshold` and `offsets` are what was found where the choice asks for a rule. Of the types only those of
    entities that gold or the run links to count, so that neither other rows of a large table nor other runs change
    anything.
    """
    contents, types, lines = _hash_contents(inputs), _hash_types(inputs), []
    asked = _list_asked(choice, weight=weight, threshold=threshold, offsets=offsets)
    fields = {**asked, **_list_known(inputs, choice), "gold": contents[""][:LENGTH]}
    for name, run in inputs.runs.items():
        known = {"types": types[name], "names": _hash_names(inputs, run)}
        own = {**fields, **known, "run": contents[name][:LENGTH], **_describe(run)}
        lines.append(Signature({field: value for field, value in own.items() if value}))
    short = [line.short() for line in lines]
    table = {"system": list(inputs.runs), "signature": [str(line) for line in lines], "signature_short": short}
    return pl.DataFrame(table, schema=dict.fromkeys(table, pl.String))


def _list_asked(choice: Choice, *, weight: str, threshold: str, offsets: str) -> dict[str, str]:
    return {
        "remix": __version__,
        "profile": choice.profile.name,
        "tasks": ",".join(choice.task),
        "matchings": ",".join(choice.match),
        # Columns that are crossed, and numbers of a scheme, are told from columns by their signs.
        "by": ",".join(label_of(column).replace(" × ", "×").replace(",", ";") for column in choice.by),
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
    }


def _hash_contents(inputs: Inputs) -> dict[str, str]:
    """Return the hashes of runs by system, and of gold by '': of their files, or of frames as they are given."""
    frames, known = {"": _as_given(inputs.gold), **inputs.runs}, inputs.contents
    unknown = [name for name in frames if not known.get(name)]
    hashes = dict(zip(unknown, _hash_each([frames[name] for name in unknown]), strict=True))
    return {name: known.get(name) or hashes[name] for name in frames}


def _hash_types(inputs: Inputs) -> dict[str, str]:
    """Return by system the hash of the types of the entities that gold or the run links to."""
    gold, known, runs = inputs.gold, inputs.knowledge, inputs.runs
    if not runs:
        return {}
    numbers = pl.DataFrame({"run": pl.int_range(len(runs), dtype=pl.Int64, eager=True)})
    linked = [
        number_rows([run.links["entity"].to_frame() for run in runs.values()], "run"),
        gold.links["entity"].unique().to_frame().join(numbers, how="cross"),
    ]
    asked = pl.concat(part.select("run", "entity") for part in linked).unique()
    stated = gold.classes.filter("of_entity").join(gold.links, on="annotation")
    told = [stated, *(table for table in (known.stated, known.types) if table is not None)]
    entities = asked.select("entity").unique()
    rows = pl.concat(entities.join(table.select("entity", "class"), on="entity") for table in told)
    classes = rows.unique().sort("entity", "class").with_row_index("order")
    found = asked.join(classes, on="entity").sort("run", "order")
    sizes, found = dict(found.group_by("run").len().iter_rows()), found.select("entity", "class")
    hashes, first = dict[str, str](), 0
    for place, name in enumerate(runs):
        size = sizes.get(place, 0)
        hashes[name] = _hash_rows(found.slice(first, size))
        first += size
    return hashes


def number_rows(tables: Sequence[pl.DataFrame], name: str) -> pl.DataFrame:
    """Return the rows of all tables with the number of their table under a name."""
    sizes = pl.DataFrame(
        {"table": range(len(tables)), "size": [len(table) for table in tables]},
        schema=dict.fromkeys(("table", "size"), pl.Int64),
    )
    numbers = sizes.filter(pl.col("size") > 0).select(pl.col("table").repeat_by("size").explode())
    return pl.concat(tables).with_columns(numbers["table"].alias(name))


def _hash_names(inputs: Inputs, run: Frames) -> str:
    """Return the hash of the names that are given of the entities that gold or a run links to."""
    names = inputs.knowledge.names
    if names is None:
        return ""
    linked = pl.concat([inputs.gold.links["entity"], run.links["entity"]]).unique()
    return _table_hash(names.filter(pl.col("entity").is_in(linked.implode())))


def _as_given(gold: Frames) -> Frames:
    """Return gold without what was derived from registered runs, and without the types of its entities.

    A knowledge base tells these, too, so that they have a place of their own in the signature.
    """
    learnt = pl.col("term").is_in([f"{RMX}{name}" for name in sorted(LEARNT)])
    return replace(gold, values=gold.values.filter(~learnt), classes=gold.classes.filter(~pl.col("of_entity")))


def _describe(run: Frames) -> dict[str, str]:
    """Return what the file of a run says of it: the model, the hash of its prompt, what it cost, how long it took."""
    if run.values.is_empty():
        return {}
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
    return "" if table is None else _hash_rows(table.unique().sort(table.columns))


def _hash_rows(rows: pl.DataFrame) -> str:
    return "" if rows.is_empty() else content_hash(rows.write_csv())[:LENGTH]


HASHED_BY = "1"
"""The number of the rule by which frames are hashed, another for each rule: what was hashed is kept with runs."""


def frames_hash(frames: Frames) -> str:
    """Return the SHA-256 of all that is scored; the order of rows does not matter.

    >>> frames_hash(Frames.empty()) == frames_hash(Frames.of())
    True
    """
    return _hash_each([frames])[0]


def _hash_each(every: Sequence[Frames]) -> list[str]:
    """Return the `frames_hash` of each of several frames; the rows of those that do not know it are sorted at once."""
    hashes = iter(_hash_unknown([frames for frames in every if not frames.known_hash]))
    return [frames.known_hash or next(hashes) for frames in every]


def _hash_unknown(every: Sequence[Frames]) -> list[str]:
    if not every:
        return []
    own = pl.col("annotation")
    columns: list[str | pl.Expr] = [
        *("annotation", "document", "begin", "end", "is_nil", "ignorable", "confidence"),
        *(pl.when(pl.col(name) != own).then(name).alias(name) for name in ("group", "option")),
    ]
    parts = [
        _spell([frames.documents.select("document", "text") for frames in every], ["document"]),
        _spell([frames.annotations for frames in every], ["annotation"], columns),
        _spell([frames.links.select("annotation", "entity") for frames in every]),
        _spell([frames.classes for frames in every], ["annotation", "class"]),
        _spell([frames.regions for frames in every]),
    ]
    # These are told where there are any alone.
    further = [_spell([getattr(frames, name) for frames in every]) for name in ("candidates", "values")]
    told = [[len(frames.candidates) > 0, len(frames.values) > 0] for frames in every]
    return [
        content_hash(
            *(part[n] for part in parts), *(part[n] for part, there in zip(further, told[n], strict=True) if there)
        )
        for n in range(len(every))
    ]


def _spell(tables: Sequence[pl.DataFrame], by: Sequence[str] = (), columns: Sequence[str | pl.Expr] = ()) -> list[str]:
    """Return the rows of each table as CSV, in order; of several that are the same the rows are written once."""
    if not tables:
        return []
    rows = number_rows(tables, "table")
    rows = rows.select("table", *(columns or rows.drop("table").columns))
    rows = rows.sort("table", *(by or rows.columns[1:]), maintain_order=True).drop("table")
    header, first, spelt = ",".join(rows.columns) + "\n", 0, list[str]()
    last, text = rows.clear(), header
    for table in tables:
        own = rows.slice(first, len(table))
        first += len(table)
        if not own.equals(last):
            # Writing no row takes as long as writing some.
            last, text = own, own.write_csv() if len(own) else header
        spelt.append(text)
    return spelt
