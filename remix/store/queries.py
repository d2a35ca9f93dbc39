"""Queries as files: SPARQL that runs anywhere, with metadata and parameters in its comments.

The metadata are the decorators that grlc has introduced, YAML in comments that begin with `#+`: `summary`,
`description`, `tags`, `defaults`; beside them `params` (what each parameter means), `choices` (its values where there
are no others), `bounds` (between which numbers it lies) and `sets` (named sets of values). A parameter is a variable
with a line `VALUES ?name { default }`; binding replaces what is in the braces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import yaml

from remix.errors import NotAllowed, QueryError, UnknownName, UsageError, nearest
from remix.files import readable
from remix.names import PREFIXES, XSD
from remix.resources import files, folder
from remix.store.syntax import is_query, is_update, prefixes_of, tokens

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML has it: what describes the shipped queries is read in a fifth of the time."""
_DEEPEST = 20
INTEGERS = {XSD + name for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger")}
NUMBERS = {XSD + name for name in ("decimal", "double", "float")}


@dataclass(frozen=True, slots=True)
class Range:
    """Between which numbers a parameter lies, both among them; without a `high` there is no largest.

    `where` are another parameter and its value, if it holds for this value alone.
    """

    low: float
    high: float | None = None
    where: tuple[str, str] | None = None

    def __str__(self) -> str:
        ends = f"at least {self.low:g}" if self.high is None else f"between {self.low:g} and {self.high:g}"
        return ends if self.where is None else f"{ends} where {self.where[0]} is {self.where[1]}"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= (math.inf if self.high is None else self.high)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its default as SPARQL has it, what it means, its values where there are no others, its bounds."""

    name: str
    default: str
    description: str = ""
    choices: tuple[str, ...] = ()
    bounds: tuple[Range, ...] = ()


@dataclass(frozen=True)
class Query:
    """One query with its metadata; `source` is the file it came from, for messages."""

    name: str
    text: str
    source: str = "the query"
    summary: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    sets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, name: str = "query", source: str = "the query") -> Query:
        """Return the query that a text holds, with what its decorators say.

        Raises `NotAllowed` for an update, `QueryError` for decorators that are no YAML.

        >>> Query.parse("#+ summary: All\\nSELECT * { VALUES ?n { 3 } ?s ?p ?n }").parameters["n"].default
        '3'
        """
        if update := is_update(text):
            raise NotAllowed(f"{source}: {update} would change data, and queries only read")
        said = _decorators(text, source)
        meanings = _mapping(said, "params", source)
        lines = _values(text)
        choices, bounds = _mapping(said, "choices", source), _mapping(said, "bounds", source)
        for name_ in (name_ for name_ in (*meanings, *choices, *bounds) if name_ not in lines):
            hint = nearest(name_, lines)
            raise QueryError(f"{source}: parameter '{name_}' has no line VALUES ?{name_} {{ … }}{hint}")
        parameters = {
            name: Parameter(
                name,
                default,
                " ".join(str(meanings.get(name, "")).split()),
                _list(choices, name),
                _ranges(bounds[name], name, lines, source) if name in bounds else (),
            )
            for name, (default, _) in lines.items()
        }
        query = cls(
            name=name,
            text=text,
            source=source,
            summary=str(said.get("summary") or "").strip(),
            description=" ".join(str(said.get("description") or "").split()),
            tags=_list(said, "tags"),
            parameters=parameters,
            sets=_mapping(said, "sets", source),
        )
        return query._with_defaults(said.get("defaults"))

    def bind(self, values: Mapping[str, object], set_from: str | None = None) -> str:
        """Return the text with the parameters' defaults replaced, first by a named set, then by values.

        A value is of the kind of its default: an IRI (in full or with a prefix), an integer, a number, a string.

        Raises `UnknownName` for a parameter or set that the query lacks and for a value that is none of a parameter's
        choices, `UsageError` for a value of another kind and for a number beyond the bounds of a parameter.

        >>> Query.parse('SELECT * { VALUES ?n { 3 } ?s ?p ?n }').bind({"n": "5"})
        'SELECT * { VALUES ?n { 5 } ?s ?p ?n }'
        """
        if set_from is not None and set_from not in self.sets:
            raise UnknownName("parameter set", set_from, self.sets, f"remix show {self.name}")
        chosen = {**(self.sets[set_from] if set_from else {}), **values}
        text = self.text
        places = _values(text)
        for name in chosen:
            if name not in self.parameters:
                raise UnknownName("parameter", name, self.parameters, f"remix show {self.name}")
        ranges = self.ranges(values, set_from)
        # From the last to the first, so that places stay right.
        for begin, end, name in sorted(
            ((*one, name) for name, (_, found) in places.items() for one in found), reverse=True
        ):
            if name in chosen:
                given = chosen[name]
                many = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
                known = self.parameters[name].choices
                if known and (unknown := next((one for one in many if one not in known), None)) is not None:
                    raise UnknownName(f"value of {name}", str(unknown), known, f"remix show {self.name}")
                terms = [term_like(places[name][0], value, name, prefixes_of(self.text)) for value in many]
                if (known_range := ranges.get(name)) is not None:
                    self._refuse_beyond(known_range, name, many)
                text = f"{text[:begin]} {' '.join(terms)} {text[end:]}"
        return text

    def ranges(self, values: Mapping[str, object], set_from: str | None = None) -> dict[str, Range]:
        r"""Return between which numbers parameters lie under this binding, those alone of which the query says it.

        >>> text = "#+ bounds:\n#+   n: {of=a: [0, 1], of=b: [0]}\nSELECT * { VALUES ?n { 1 } VALUES ?of { 'a' } }"
        >>> str(Query.parse(text).ranges({})["n"]), str(Query.parse(text).ranges({"of": "b"})["n"])
        ('between 0 and 1 where of is a', 'at least 0 where of is b')
        """
        chosen = {**(self.sets.get(set_from, {}) if set_from else {}), **values}
        said = {name: str(chosen.get(name, plain_term(one.default))) for name, one in self.parameters.items()}
        return {
            name: own
            for name, one in self.parameters.items()
            for own in one.bounds
            if own.where is None or said[own.where[0]] == own.where[1]
        }

    def tell_unfit(self, values: Mapping[str, object], set_from: str | None = None) -> list[str]:
        r"""Return a sentence on each parameter that keeps its default though what its bounds depend on is another.

        >>> text = "#+ bounds:\n#+   n: {of=a: [0], of=b: [0, 1]}\nSELECT * { VALUES ?n { 3 } VALUES ?of { 'a' } }"
        >>> Query.parse(text).tell_unfit({"of": "b", "n": 0.5}), Query.parse(text).tell_unfit({"of": "b"})
        ([], ['n is 3, as it is where of is a, and of is b: set n, too'])
        """
        chosen = {**(self.sets.get(set_from, {}) if set_from else {}), **values}
        told = []
        for name, one in self.parameters.items():
            depends = dict.fromkeys(own.where[0] for own in one.bounds if own.where is not None)
            for other in depends if name not in chosen else ():
                usual = plain_term(self.parameters[other].default)
                if (said := str(chosen.get(other, usual))) != usual:
                    default = f"{name} is {plain_term(one.default)}, as it is where {other} is {usual}"
                    told.append(f"{default}, and {other} is {said}: set {name}, too")
        return told

    def _refuse_beyond(self, known: Range, name: str, values: Sequence[object]) -> None:
        for beyond in (value for value in values if float(str(value)) not in known):
            raise UsageError(
                f"parameter '{name}' lies {known}, not at {beyond}: give a number that does; `remix show {self.name}` "
                "says what it means"
            )

    def values(self, values: Mapping[str, object], set_from: str | None = None) -> dict[str, str]:
        """Return every parameter with the value it has under this binding, as SPARQL spells it."""
        return {name: found[0] for name, found in _values(self.bind(values, set_from)).items()}

    def _with_defaults(self, defaults: object) -> Query:
        if not defaults:
            return self
        values: dict[str, object] = {}
        for pair in defaults if isinstance(defaults, list) else [defaults]:
            if not isinstance(pair, dict):
                raise QueryError(f"{self.source}: its decorator 'defaults' must map parameters to values")
            values |= {str(name): value for name, value in pair.items()}
        text = self.bind(values)
        lines = _values(text)
        parameters = {name: replace(known, default=lines[name][0]) for name, known in self.parameters.items()}
        return replace(self, text=text, parameters=parameters)


def shipped_queries() -> dict[str, Path]:
    """Return the queries that ship with the project and those of other distributions, name to file, sorted."""
    return files("queries", ".rq")


def find(name_or_path: Query | str | Path) -> Query:
    """Return the query of that name among the shipped ones, in a file of that path, or the text itself, or as it is.

    Raises `UnknownName` with the nearest name, `QueryError` for a file or text that is no query.

    >>> find("SELECT * { ?s ?p ?o }").name
    'query'
    """
    if isinstance(name_or_path, Query):
        return name_or_path
    asked = str(name_or_path)
    # A file that the user names by a path, or that lies where they are, comes before a shipped one.
    own = Path(asked) if _is_file(asked) else None
    if own is None and (is_query(asked) or is_update(asked)):
        return Query.parse(readable(asked))
    if file := own or _find_shipped(asked.removesuffix(".rq")):
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise QueryError(f"{file} is no query: it is not text in UTF-8") from None
        except OSError as error:
            raise QueryError(f"{file} cannot be read: {error.strerror}") from None
        if not text.strip():
            raise QueryError(f"{file} is empty")
        return _parse_file(text, file.stem, str(own) if own else file.name)
    if asked and Path(asked).is_dir():
        raise QueryError(f"{asked} is a folder; name a query in it")
    if asked.partition("#")[0].endswith(".properties"):
        shown = asked.partition("#")[0]
        raise QueryError(
            f"{asked} is a filter, which no query is here: `remix build`, `query`, `show` and studies take one, "
            f"`remix filters {shown}` shows them"
        )
    raise UnknownName("query", asked.removesuffix(".rq"), shipped_queries(), "remix list queries")


@lru_cache(maxsize=128)  # pages that list the shipped queries read all of them
def _parse_file(text: str, name: str, source: str) -> Query:
    return Query.parse(text, name, source)


def _find_shipped(name: str) -> Path | None:
    """Return the file of a query; what other distributions add is looked for only where remix has none of the name."""
    own = folder("queries") / f"{name}.rq"
    return own if own.name == f"{name}.rq" and _is_file(str(own)) else shipped_queries().get(name)


def _is_file(text: str) -> bool:
    try:
        return "{" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _decorators(text: str, source: str) -> dict[str, object]:
    lines = [line[2:] for line in text.splitlines() if line.startswith("#+")]
    block = "\n".join(line.removeprefix(" ") for line in lines)
    try:
        _refuse_what_grows(block, source)
        said = yaml.load(block, _LOADER) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise QueryError(f"{source}: its decorators are no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(said, dict):
        raise QueryError(f"{source}: its decorators must be lines like '#+ summary: …'")
    return said


def _refuse_what_grows(block: str, source: str) -> None:
    """Refuse references of YAML, of which a few lines can stand for gigabytes, and lists in lists in lists."""
    depth = 0
    for event in yaml.parse(block, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise QueryError(f"{source}: its decorators may not refer to each other (*{event.anchor})")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise QueryError(f"{source}: its decorators are nested deeper than {_DEEPEST} lists or mappings")


def _mapping(said: Mapping[str, object], key: str, source: str) -> dict[str, Any]:
    value = said.get(key) or {}
    if not isinstance(value, dict):
        raise QueryError(f"{source}: its decorator '{key}' must map names to values")
    return {str(name): item for name, item in value.items()}


def _ranges(said: object, name: str, lines: Mapping[str, tuple[str, object]], source: str) -> tuple[Range, ...]:
    """Return the bounds of a parameter: `[LOW]` or `[LOW, HIGH]`, or these by `PARAMETER=VALUE`."""
    default, found = lines[name][0], list[Range]()
    if not re.match(r"[-+]?\.?\d", default) and not _is_number(_parse(default, PREFIXES)):
        raise QueryError(f"{source}: '{name}' has bounds, and its default {default} is no number")
    for where, ends in said.items() if isinstance(said, dict) else [("", said)]:
        other, equals, value = str(where).partition("=")
        if equals and other not in lines or where and not equals:
            raise QueryError(
                f"{source}: the bounds of '{name}' are said where a parameter has a value, as scale=percentile, not "
                f"where '{where}'{nearest(other, lines)}"
            )
        ends = ends if isinstance(ends, list) else [ends]
        numbers = [float(one) for one in ends if isinstance(one, int | float) and not isinstance(one, bool)]
        if not 1 <= len(numbers) == len(ends) <= 2 or sorted(numbers) != numbers:
            raise QueryError(f"{source}: the bounds of '{name}' are a list [LOW] or [LOW, HIGH] of numbers, not {ends}")
        found.append(Range(numbers[0], numbers[1] if numbers[1:] else None, (other, value) if equals else None))
    return tuple(found)


def plain_term(term: str) -> str:
    """Return a term of SPARQL as users write a value: without its quotes or brackets."""
    return term[1:-1] if term[:1] + term[-1:] in ('""', "<>", "''") else term


def _list(said: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = said.get(key) or []
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)


def _values(text: str) -> dict[str, tuple[str, list[tuple[int, int]]]]:
    """Return the variables of `VALUES ?name { … }` lines: what is in the braces, and where that begins and ends.

    A line that stands in several places of the query is one parameter.
    """
    stream: list[tuple[str, str, int]] = []
    place = 0
    for kind, token in tokens(text):
        if kind not in ("space", "comment"):
            stream.append((kind, token, place))
        place += len(token)
    found: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    for at, (kind, token, _) in enumerate(stream[:-3]):
        if kind != "word" or token.upper() != "VALUES" or stream[at + 1][0] != "variable" or stream[at + 2][1] != "{":
            continue
        begin = stream[at + 2][2] + 1
        end = next((where for _, closing, where in stream[at + 3 :] if closing == "}"), None)
        if end is not None:
            default, places = found.setdefault(stream[at + 1][1][1:], (text[begin:end].strip(), []))
            if default == text[begin:end].strip():
                places.append((begin, end))
    return found


def term_like(default: str, value: object, name: str, declared: Mapping[str, str] | None = None) -> str:
    """Return a value as a SPARQL term of the kind that the default, a term as SPARQL spells it, has.

    >>> term_like("3", "64", "n"), term_like("0.5", 1e-5, "x"), term_like("dbo:Person", "dbo:Place", "class")
    ('64', '"1e-05"^^<http://www.w3.org/2001/XMLSchema#double>', '<http://dbpedia.org/ontology/Place>')

    Raises `UsageError` for a value of another kind.
    """
    prefixes = {**PREFIXES, **(declared or {})}
    like = _parse(default, prefixes)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(like, ox.NamedNode):
        return str(_iri(text.strip(), name, prefixes))
    kind = like.datatype.value if isinstance(like, ox.Literal) else XSD + "string"
    # A bound whose default is a count or a percentile may be a fraction on another scale.
    if _is_number(like):
        return _number(text, name, default)
    if kind == XSD + "boolean":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"parameter '{name}' takes true or false, not '{text}'")
        return text.lower()
    if isinstance(like, ox.Literal) and like.language:
        return str(ox.Literal(text, language=like.language))
    return str(ox.Literal(text, datatype=ox.NamedNode(kind)))


def _parse(default: str, prefixes: Mapping[str, str]) -> ox.NamedNode | ox.Literal | None:
    """Return the first term of a default; None where it is empty or cannot be read, which means a string."""
    try:
        answer = ox.Store().query(f"SELECT ?x {{ VALUES ?x {{ {default} \n}} }}", prefixes=dict(prefixes))
        assert isinstance(answer, ox.QuerySolutions)
        term = next(iter(answer))[0]
    except (SyntaxError, StopIteration):
        return None
    return term if isinstance(term, ox.NamedNode | ox.Literal) else None


def _is_number(term: ox.NamedNode | ox.Literal | None) -> bool:
    return isinstance(term, ox.Literal) and term.datatype.value in INTEGERS | NUMBERS


def _iri(text: str, name: str, prefixes: Mapping[str, str]) -> ox.NamedNode:
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    prefix, colon, local = text.partition(":")
    if colon and prefix in prefixes and not local.startswith("//"):
        text = prefixes[prefix] + local
    try:
        if not colon:
            raise ValueError("no colon")
        return ox.NamedNode(text)
    except ValueError:
        raise UsageError(
            f"parameter '{name}' takes an IRI, in full or with a known prefix such as dbo:Person, not '{text}'"
        ) from None


def _number(text: str, name: str, default: str) -> str:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"parameter '{name}' takes a number such as {default}, not '{text}'")
    if re.fullmatch(r"[+-]?\d+(\.\d+)?", text.strip(), re.ASCII):
        return text.strip().removeprefix("+")
    return str(ox.Literal(text.strip(), datatype=ox.NamedNode(XSD + "double")))
