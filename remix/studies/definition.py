"""What a study is asked for: its definition, as a TOML file or as Python has it, and what is wrong in one.

Each field of `Study` is a key of the file. The tables `[systems.NAME]`, `[runs.NAME]` and `[remixes.NAME]` name what is
scored and on what.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from remix.errors import Faults, UsageError, nearest
from remix.remixes.filters.definition import join_reference, split_reference
from remix.systems import KINDS

Value: TypeAlias = str | int | float | bool

ALL = "all"
"""The name of the target that is all datasets together."""


class StudyFaults(Faults):
    """All that is wrong in a study, a line each."""


@dataclass(frozen=True, kw_only=True)
class StudiedSystem:
    """A system whose answers the study makes: `adapter` is which (`remix list adapters`), by default that of its name.

    `address` is where it is asked, which the command line has to allow; `task` is what its answers are made for, by
    default what the study's first task gives: texts alone (A2KB), or the spans of gold too (D2KB).
    """

    name: str
    adapter: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    address: str = ""
    task: str = ""
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class StudiedRun:
    """Answers that are there: a registered run or, with `files`, answers that are registered by this name."""

    name: str
    files: tuple[str, ...] = ()
    format: str = ""
    task: str = "A2KB"
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class StudiedRemix:
    """A remix: a shipped `query` or a file, with the `values` of its parameters or those of a set (`set_from`).

    `datasets` are those that the query sees, by default all of the study; `edition` is as `remix build` has it, as are
    the columns to `balance`, for which all annotations are taken where no query is named, and the systems that the
    query is `without`. A system by whose run it selects is not scored on it. The query may be a filter
    (`filter.properties#NAME`), `service` (`OLD=NEW`) being what it asks in the place of what its file names; an address
    has to be allowed by the command line.
    """

    name: str
    query: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    set_from: str = ""
    datasets: tuple[str, ...] = ()
    edition: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    balance: tuple[str, ...] = ()
    balance_over: str = "marginals"
    balance_share: Mapping[str, Any] = field(default_factory=dict)
    balance_tolerance: int = 0
    without: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study: systems × remixes × partitions.

    - `name`: what it is called; `title`: what stands above its report;
    - `datasets`: loaded ones, files, or names of the catalogue, all together being the target 'all';
    - `kb`: the knowledge base, by default the attached one;
    - `systems`, `runs`, `remixes`: see their classes;
    - `by`: the partitions, as `remix evaluate --by` has them; boundaries are those over all datasets together;
    - `columns`: further columns of mentions that exhibits may look at;
    - `unfiltered`: the target that the others are held against, by default 'all', or the only dataset;
    - `profiles`, `tasks`, `matchings`: how is scored, tasks and matchings being those of any of the profiles, the first
      of each that the first profile counts being what exhibits show;
    - `average`: which average is tested; `unit`: what intervals and tests are over, as `remix evaluate` has them;
    - `samples`, `seed`: how many draws tests make, and by what;
    - `exhibits`: the parts of the report, by default all.

    Raises `StudyFaults` for values that there are not and for those that contradict each other.

    >>> Study(name="mine", datasets=("kore50",), systems=(StudiedSystem(name="prior"),), average="mean")
    Traceback (most recent call last):
    remix.studies.definition.StudyFaults: study 'mine' has a fault:
    - average: 'mean' is none of micro, macro
    """

    name: str
    title: str = ""
    datasets: tuple[str, ...] = ()
    kb: str = ""
    systems: tuple[StudiedSystem, ...] = ()
    runs: tuple[StudiedRun, ...] = ()
    remixes: tuple[StudiedRemix, ...] = ()
    by: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    unfiltered: str = ""
    profiles: tuple[str, ...] = ("remix",)
    tasks: tuple[str, ...] = ()
    matchings: tuple[str, ...] = ()
    average: str = "micro"
    unit: str = "document"
    samples: int = 10_000
    seed: int = 0
    exhibits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if faults := [*_contradictions(self)]:
            raise StudyFaults(f"study '{self.name}'", faults)

    @property
    def scored(self) -> tuple[StudiedSystem | StudiedRun, ...]:
        """Return the systems and runs that are scored."""
        return (*self.systems, *self.runs)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the names of what systems are scored on: all datasets together, each dataset, each remix."""
        return (*self.datasets, *([ALL] if len(self.datasets) > 1 else []), *(one.name for one in self.remixes))

    @property
    def held_against(self) -> str:
        """Return the target that the others are held against."""
        return self.unfiltered or (ALL if len(self.datasets) > 1 else next(iter(self.datasets), ALL))


def read_study(file: Path | str) -> Study:
    """Return the study that a TOML file defines; raises `StudyFaults` with all that is wrong in it.

    Names of files in it are taken from the folder of the file.
    """
    path = Path(file)
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}): `remix study init` writes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from None
    return study_of(said, name=path.stem, place=path, folder=path.parent)


def study_of(
    said: Mapping[str, Any], *, name: str = "study", place: object = None, folder: Path | None = None
) -> Study:
    """Return the study that keys and values define, as a TOML file has them; raises `StudyFaults`.

    >>> study_of({"datasets": ["kore50"], "sytems": {"prior": {}}}, name="mine")
    Traceback (most recent call last):
    remix.studies.definition.StudyFaults: study 'mine' has a fault:
    - there is no key 'sytems'; did you mean 'systems'?
    """
    faults: list[str] = []
    tables = {key: _Tables(kind, faults) for key, kind in _TABLES.items()}
    own = {key: value for key, value in said.items() if key not in tables}
    values = _values(Study, own, "", faults)
    for key, reader in tables.items():
        if key in said:
            values[key] = reader.read(key, said[key])
    values = {"name": name, **values}
    if folder is not None:
        values = _place_files(values, folder)
    if not faults:
        try:
            return Study(**values)
        except StudyFaults as error:
            faults += error.faults
    raise StudyFaults(place or f"study '{name}'", faults)


_NO_QUERY = "remixes.{}: 'query' is missing"
_TABLES: dict[str, type[Any]] = {"systems": StudiedSystem, "runs": StudiedRun, "remixes": StudiedRemix}


@dataclass(frozen=True)
class _Tables:
    """Reads the tables of one kind, each called by its name."""

    kind: type[Any]
    faults: list[str]

    def read(self, key: str, said: object) -> tuple[Any, ...]:
        """Return what the tables below a key of the file define, one after another; what is wrong goes to `faults`."""
        if not isinstance(said, Mapping):
            self.faults.append(f"{key}: write a table for each, as [{key}.NAME]")
            return ()
        found = []
        for name, one in said.items():
            before = len(self.faults)
            if not isinstance(one, Mapping):
                self.faults.append(f"{key}.{name}: write a table, as [{key}.{name}]")
                continue
            if "name" in one:
                self.faults.append(f"{key}.{name}: its name stands in the head of its table, so it takes no 'name'")
                continue
            values = _values(self.kind, {**one, "name": name}, f"{key}.{name}", self.faults)
            if self.kind is StudiedRemix and not {"query", "balance"} & {*one}:
                self.faults.append(_NO_QUERY.format(name))
            if len(self.faults) == before:
                found.append(self.kind(**values))
        return tuple(found)


def _values(kind: type[Any], said: Mapping[str, Any], place: str, faults: list[str]) -> dict[str, Any]:
    """Return the values of the fields of a record that are given, as the fields have them."""
    known = {one.name: one for one in fields(kind)}
    before = f"{place}: " if place else ""
    found: dict[str, Any] = {}
    for name, value in said.items():
        if name not in known or (not place and name in _TABLES):
            faults.append(f"{before}there is no key '{name}'{nearest(name, known)}")
            continue
        try:
            found[name] = _value(str(known[name].type), value)
        except ValueError as error:
            faults.append(f"{before}'{name}' is {error}, not {value!r}")
    for name, one in known.items():
        if one.default is MISSING and one.default_factory is MISSING and name not in said and name != "name":
            faults.append(f"{before}'{name}' is missing")
    return found


def _value(kind: str, value: Any) -> Any:
    """Return what is given for a field of a type; raises `ValueError`, which says what the field takes."""
    if kind.startswith("tuple"):
        several = [value] if isinstance(value, str) else value
        if not isinstance(several, list | tuple) or not all(isinstance(one, str) for one in several):
            raise ValueError("a list of texts")
        return tuple(several)
    if kind.startswith("Mapping"):
        if not isinstance(value, Mapping):
            raise ValueError("a table of values")
        return dict(value)
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError("a whole number")
        return value
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _place_files(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the values with the files that lie beside the definition by their paths."""
    from dataclasses import replace

    def place(name: str) -> str:
        if (named := split_reference(name)) is not None:
            return name if not (folder / named[0]).is_file() else join_reference(folder / named[0], named[1])
        return str(folder / name) if not Path(name).is_absolute() and (folder / name).is_file() else name

    values["datasets"] = tuple(map(place, values.get("datasets", ())))
    values["runs"] = tuple(replace(one, files=tuple(map(place, one.files))) for one in values.get("runs", ()))
    values["remixes"] = tuple(replace(one, query=place(one.query)) for one in values.get("remixes", ()))
    return values


def _contradictions(study: Study) -> Iterator[str]:
    """Yield what does not go together in a study, whatever a workspace holds."""
    if not study.datasets:
        yield "datasets: name one or more"
    if not study.scored:
        yield "systems: name one or more, as [systems.prior] or [runs.NAME]"
    for names, what in ((study.datasets, "datasets"), ([one.name for one in study.scored], "systems and runs")):
        yield from (f"{what}: '{name}' is named twice" for name in sorted({*names}) if [*names].count(name) > 1)
    taken = {*study.datasets, ALL}
    for remix in study.remixes:
        if not remix.query and not remix.balance:
            yield _NO_QUERY.format(remix.name)
        if remix.name in taken:
            yield f"remixes.{remix.name}: this is the name of a dataset, or of all: call the remix otherwise"
        yield from (
            f"remixes.{remix.name}: '{name}' is no dataset of the study{nearest(name, study.datasets)}"
            for name in remix.datasets
            if name not in study.datasets and name not in {one.name for one in study.remixes}
        )
    yield from _circles(study)
    for one in study.scored:
        if one.kind and one.kind not in KINDS:
            yield f"{one.name}: kind: '{one.kind}' is none of {', '.join(KINDS)}"
    if study.unfiltered and study.unfiltered not in study.targets:
        yield f"unfiltered: '{study.unfiltered}' is no target{nearest(study.unfiltered, study.targets)}"
    choices = (("average", study.average, ("micro", "macro")), ("unit", study.unit, ("document", "context")))
    yield from (f"{name}: '{value}' is none of {', '.join(of)}" for name, value, of in choices if value not in of)
    if not study.profiles:
        yield "profiles: name one or more"
    if study.samples < 100:
        yield f"samples: {study.samples} are too few for a test: 100 or more"
    if study.seed < 0:
        yield f"seed: it is 0 or more, not {study.seed}"
    yield from (f"by: '{text}' is named twice" for text in sorted({*study.by}) if study.by.count(text) > 1)


def _circles(study: Study) -> Iterator[str]:
    """Yield the circles of remixes that are cut out of each other."""
    of = {
        one.name: [name for name in one.datasets if name in {two.name for two in study.remixes}]
        for one in study.remixes
    }
    done: set[str] = set()

    def follow(name: str, way: tuple[str, ...]) -> Iterator[str]:
        if name in way:
            yield f"remixes: {' is cut out of '.join([*way[way.index(name) :], name])}, which is a circle"
        elif name not in done:
            for origin in of[name]:
                yield from follow(origin, (*way, name))
            done.add(name)

    for name in of:
        yield from follow(name, ())
