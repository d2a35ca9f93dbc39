"""What a filters file of GERBIL's extension says: filters and the services that they ask, and what is wrong in it.

The keys are those that the extension's `FilterFactory` reads, all of which begin with `org.aksw.gerbil.util.filter.`:

- `N.name`, `N.service`, `N.filter`, `N.chunk`: a query to an endpoint, `##` standing for the entities;
- `file.N.…`: the same of an RDF file;
- `pop.N.…`: `service` begins the names of files of ranked entities, `filter` lists their ends (`0,1` for
  `SERVICE_0` and `SERVICE_1`);
- `combinator.N.…`: `service` is `and`, `or` or `diff`, `filter` lists the names of filters;
- `prefix.N`: a prefix of all queries; `whitelist`: parts of IRIs, one of which every entity has that is asked about;
- `chunk`: how many entities a request asks about where a filter says nothing; `enabled`, `cache`.

Other keys are GERBIL's own affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from remix.errors import BadInput, Faults, UnknownName, UsageError, nearest
from remix.remixes.filters.properties import Property, fill_in, read_properties
from remix.resources import files
from remix.signature import content_hash
from remix.store.syntax import keywords
from remix.store.tree import NotUnderstood, parse

PREFIX = "org.aksw.gerbil.util.filter."
FAMILIES = {"": "query", "file": "query", "pop": "ranking", "combinator": "combinator"}
"""The kind of a filter by the word that stands before its number."""
COMBINATORS = ("and", "or", "diff")
CHUNK = 100
"""How many entities a request asks about where the file says nothing."""
_FIELDS = ("name", "service", "filter", "chunk")
_SETTINGS = ("enabled", "cache", "chunk", "whitelist", "precache", "cachelocation")
_KEY = re.compile(rf"(?:({'|'.join(filter(None, FAMILIES))})\.)?([0-9]+)\.(.*)")
_PREFIX = re.compile(r"prefix\.([0-9]+)")
_DECLARED = re.compile(r"[^\s:<>]*:\s*<[^<>\s]*>")
_MARK = re.compile("#{2,}")
_AGGREGATES = {"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"}


class FilterFaults(Faults):
    """All that is wrong in a filters file, a line each, with the lines of the file."""


@dataclass(frozen=True)
class FilterDefinition:
    """One filter as its file has it.

    `kind` is 'query', 'ranking' or 'combinator'. `service` is what is asked: an address, a file, or for a combinator
    how filters are combined; `text` is the query, or the parts of a ranking or the names of filters by commas
    (`members` has each).
    """

    name: str
    kind: str
    service: str
    text: str
    members: tuple[str, ...] = ()
    chunk: int = CHUNK
    line: int = 0


@dataclass(frozen=True)
class FilterFile:
    """The filters of a file, in its order; `prologue` has the prefixes of all queries.

    An entity none of whose IRIs has a part that the `whitelist` names is kept by none of them, an empty one lets all
    pass. `enabled` and `keeps` are the file's switches for filters at all and for keeping answers; `notes` are for the
    user.
    """

    path: Path
    filters: tuple[FilterDefinition, ...]
    prologue: str = ""
    whitelist: tuple[str, ...] = ()
    enabled: bool = True
    keeps: bool = True
    notes: tuple[str, ...] = ()

    @cached_property
    def _named(self) -> dict[str, FilterDefinition]:
        return {one.name.casefold(): one for one in self.filters}

    def find(self, name: str) -> FilterDefinition:
        """Return the filter of a name, whatever its case; raises `UnknownName`."""
        if found := self._named.get(name.strip().casefold()):
            return found
        raise UnknownName("filter", name, [one.name for one in self.filters], f"remix filters {self.path}")

    def __contains__(self, name: str) -> bool:
        return name.strip().casefold() in self._named

    def expand(self, definition: FilterDefinition, terms: Sequence[str]) -> str:
        """Return the query of a filter about some terms, without the prologue."""
        return _MARK.sub(lambda _: " ".join(terms), definition.text)

    def hash_of(self, definition: FilterDefinition) -> str:
        """Return the hash of a query with its prefixes, white space aside."""
        return content_hash(" ".join(f"{self.prologue} {definition.text}".split()))

    def bases(self, definition: FilterDefinition) -> Iterator[FilterDefinition]:
        """Yield the filters that a filter is made of in the end: itself, or those that it combines."""
        if definition.kind != "combinator":
            yield definition
            return
        for name in definition.members:
            yield from self.bases(self.find(name))


def read_filters(file: Path | str) -> FilterFile:
    """Return the filters of a properties file, or of one that ships, by its name.

    `${key}` in a value stands for the value of that key, here or in a `gerbil.properties` beside the file. Raises
    `FilterFaults` with all that is wrong in it, `BadInput` for what is no readable file or has no filter.
    """
    shipped = files("datasets/filters", ".properties")
    path = Path(file)
    if not path.exists() and str(file).removesuffix(".properties") in shipped:
        path = shipped[str(file).removesuffix(".properties")]
    found = read_properties(path)
    beside = path.with_name("gerbil.properties")
    known = {one.key: one.value for one in reversed(read_properties(beside))} if beside.is_file() else {}
    # Where a key comes twice the configuration that GERBIL uses takes the first value.
    known |= {one.key: one.value for one in reversed(found)}
    reader = _FilterReader(path, known)
    for one in found:
        reader.take(one)
    return reader.finish()


@dataclass
class _FilterReader:
    """Takes the properties of a file one after another, and gathers what is wrong."""

    path: Path
    known: Mapping[str, str]
    faults: list[tuple[int, str]] = field(default_factory=list)
    fields: dict[tuple[str, int], dict[str, Property]] = field(default_factory=dict)
    prefixes: dict[int, str] = field(default_factory=dict)
    sound_prefixes: bool = True
    settings: dict[str, list[Property]] = field(default_factory=dict)

    def take(self, one: Property) -> None:
        """Take a property, if it is about filters."""
        if not one.key.startswith(PREFIX):
            return
        key = one.key.removeprefix(PREFIX)
        if numbered := _PREFIX.fullmatch(key):
            self._take_prefix(one, int(numbered[1]))
        elif (of_filter := _KEY.fullmatch(key)) and of_filter[3] in _FIELDS:
            own = self.fields.setdefault((of_filter[1] or "", int(of_filter[2])), {})
            if of_filter[3] in own:
                self._blame(one, f"'{one.key}' is given in line {own[of_filter[3]].line} already")
            own.setdefault(of_filter[3], one)
        elif of_filter:
            self._blame(one, f"a filter has no '{of_filter[3]}'{nearest(of_filter[3], _FIELDS)}")
        elif key in _SETTINGS:
            self.settings.setdefault(key, []).append(one)
        else:
            known = [*_SETTINGS, "prefix.1", *(f"{family}.1.name".lstrip(".") for family in FAMILIES)]
            self._blame(one, f"there is no key '{one.key}'{nearest(key, known)}")

    def _take_prefix(self, one: Property, number: int) -> None:
        said = fill_in(one.value, self.known)
        if not _DECLARED.fullmatch(said):
            self._blame(one, f"a prefix is written as dbo:<http://dbpedia.org/ontology/>, not as '{said}'")
            self.sound_prefixes = False
        elif number in self.prefixes:
            self._blame(one, f"'{one.key}' is given twice")
        self.prefixes.setdefault(number, said)

    def _blame(self, one: Property, reason: str) -> None:
        self.faults.append((one.line, reason))

    def finish(self) -> FilterFile:
        """Return what the file says; raises `FilterFaults`."""
        prologue = " ".join(f"PREFIX {self.prefixes[number]}" for number in sorted(self.prefixes))
        chunk = self._number(self.settings.get("chunk", [])[:1], CHUNK)
        filters = [
            made
            for (family, number), own in sorted(self.fields.items(), key=lambda one: _place(one[0]))
            if (made := self._filter(family, number, own, chunk)) is not None
        ]
        self._check_names(filters)
        for one in filters if self.sound_prefixes else []:  # else each query would have a fault that it has not
            self.faults += [(one.line, f"'{one.name}': {fault}") for fault in _faults_of_query(one, prologue)]
        self.faults += _faults_of_combinators(filters, self._names())
        if self.faults:
            lines = (f"{self.path}:{line}: {reason}" for line, reason in sorted(self.faults))
            raise FilterFaults(self.path, lines)
        if not filters:
            raise BadInput(self.path, f"has no filter: {PREFIX}1.name, .service and .filter make one")
        return FilterFile(
            self.path,
            tuple(filters),
            prologue,
            tuple(item for one in self.settings.get("whitelist", []) for item in one.items),
            self._is_on("enabled"),
            self._is_on("cache"),
            tuple(self._gaps()),
        )

    def _filter(self, family: str, number: int, own: Mapping[str, Property], chunk: int) -> FilterDefinition | None:
        first = min(own.values(), key=lambda one: one.line)
        said = {name: fill_in(one.value, self.known).strip() for name, one in own.items()}
        if missing := [name for name in _FIELDS[:3] if not said.get(name)]:
            which = f"{family}.{number}".lstrip(".")
            self._blame(first, f"filter {which} has no {' and no '.join(missing)}")
            return None
        kind = FAMILIES[family]
        members = () if kind == "query" else tuple(own["filter"].items)
        size = self._number([own["chunk"]] if "chunk" in own else [], chunk)
        return FilterDefinition(
            " ".join(said["name"].split()), kind, said["service"], said["filter"], members, size, first.line
        )

    def _names(self) -> list[str]:
        """Return the names of all filters, also of those that lack something."""
        return [
            " ".join(fill_in(own["name"].value, self.known).split()) for own in self.fields.values() if "name" in own
        ]

    def _number(self, said: Sequence[Property], default: int) -> int:
        """Return how many entities a request asks about; 0 is what GERBIL takes for a filter that says nothing."""
        for one in said:
            if not re.fullmatch("[0-9]{1,9}", one.value.strip()):
                self._blame(one, f"'{one.key}' is a number of entities, not '{one.value}'")
                continue
            return int(one.value) or default
        return default

    def _is_on(self, switch: str) -> bool:
        said = self.settings.get(switch, [])
        return not said or said[0].value.strip().lower() not in ("false", "no", "off", "0")

    def _check_names(self, filters: Sequence[FilterDefinition]) -> None:
        lines: dict[str, int] = {}
        for one in filters:
            name = one.name.casefold()
            if name in lines:
                self.faults.append((one.line, f"a filter is called '{one.name}' in line {lines[name]} already"))
            lines.setdefault(name, one.line)

    def _gaps(self) -> Iterator[str]:
        """Yield what GERBIL itself would not read, as it stops at the first number that is missing."""
        for family in FAMILIES:
            numbers = sorted(number for name, number in self.fields if name == family)
            gap = next((at for at, number in enumerate(numbers, start=1) if at != number), None)
            if gap is not None:
                left = ", ".join(f"{family}.{number}".lstrip(".") for number in numbers if number >= gap)
                missing = f"{family}.{gap}".lstrip(".")
                yield f"{self.path}: there is no filter {missing}, so that GERBIL itself would not read {left}"


def _place(one: tuple[str, int]) -> tuple[int, int]:
    """Return the place of a filter: by the order in which GERBIL reads families, then by number."""
    return [*FAMILIES].index(one[0]), one[1]


def _faults_of_query(one: FilterDefinition, prologue: str) -> Iterator[str]:
    """Yield why a query cannot be asked about entities, some at a time."""
    if one.kind != "query":
        return
    if not _MARK.search(one.text):
        yield "its query has no '##', where the entities are put: VALUES ?v {##}"
        return
    text = f"{prologue} {_MARK.sub('<urn:remix:entity>', one.text)}"
    try:
        tree = parse(text)
    except NotUnderstood as reason:
        if "does not parse" in str(reason):
            yield f"its query does not parse: {one.text}"
        return
    if tree.kind != "SelectQuery":
        yield "its query is no SELECT"
        return
    names = [str(part.get("var") or part.get("evar")) for part in tree.get("projection", ())]
    if names and "?v" not in names:
        yield f"its query has to select ?v, not {', '.join(names)}"
    words = {*keywords(text)}
    counts = words & _AGGREGATES and "GROUP" not in words
    if found := sorted(words & {"LIMIT", "OFFSET"}) or (sorted(words & _AGGREGATES) if counts else []):
        yield f"{found[0]} makes what it says of an entity depend on which others it is asked about"


def _faults_of_combinators(filters: Sequence[FilterDefinition], names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of combinators with what is wrong in them: words, names that there are not, circles."""
    known = {name.casefold() for name in names}
    named = {one.name.casefold(): one for one in filters}
    for one in filters:
        if one.kind != "combinator":
            continue
        if one.service.lower() not in COMBINATORS:
            hint = nearest(one.service.lower(), COMBINATORS)
            yield one.line, f"'{one.name}': filters are combined by and, or, diff, not by '{one.service}'{hint}"
        for member in one.members:
            if member.casefold() not in known:
                others = [name for name in names if name != one.name]
                yield one.line, f"'{one.name}': there is no filter '{member}'{nearest(member, others)}"
        if circle := _circle(one, named):
            yield one.line, "'" + "' combines '".join(circle) + "', which is a circle"


def _circle(one: FilterDefinition, named: Mapping[str, FilterDefinition]) -> list[str]:
    """Return the names on a way from a combinator to itself, or nothing."""
    ways, seen = [[one]], set[str]()
    while ways:
        way = ways.pop()
        for member in way[-1].members if way[-1].kind == "combinator" else ():
            found = named.get(member.casefold())
            if found is one:
                return [step.name for step in (*way, one)]
            if found is not None and found.name not in seen:
                seen.add(found.name)
                ways.append([*way, found])
    return []


def split_reference(text: str) -> tuple[Path, str] | None:
    """Return file and name of a filter that is named in the place of a query, as in `filter.properties#Persons`.

    The name is empty where only a file is named; None is returned for all that names no properties file.

    >>> split_reference("filter.properties#Filter Persons"), split_reference("SELECT * { ?s ?p ?o } # x.properties")
    ((PosixPath('filter.properties'), 'Filter Persons'), None)
    """
    file, _, name = text.partition("#")
    if not file.endswith(".properties") or any(sign in text for sign in "{}\n"):
        return None
    return Path(file), name


def join_reference(file: Path | str, name: str) -> str:
    """Return how the filter of a file is named in the place of a query; see `split_reference`."""
    return f"{file}#{name}" if name else str(file)


def name_one(file: FilterFile, name: str) -> FilterDefinition:
    """Return the filter of a name, or the only one of the file where none is named; raises `UsageError`."""
    if name.strip():
        return file.find(name)
    if len(file.filters) == 1:
        return file.filters[0]
    names = ", ".join(one.name for one in file.filters)
    raise UsageError(f"{file.path} has several filters ({names}): name one, as {file.path}#{file.filters[0].name}")
