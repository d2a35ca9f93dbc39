"""What filters ask about entities: SPARQL endpoints, RDF files, what is loaded, the knowledge base, ranked lists.

Each service answers some of the entities that it is asked about: those that it keeps. None takes a failure for an
answer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from remix.connections import check_address, without_secrets
from remix.endpoints import Manners, Remote, solutions
from remix.errors import BadInput, MissingKnowledge, NotAllowed, StoreError, Timeout, UsageError
from remix.expressions import fill
from remix.files import read_bytes
from remix.iris import canonical
from remix.names import DBO, PREFIXES, RDF, RDFS
from remix.rdf.iris import is_legal
from remix.rdf.terms import iri, text_term
from remix.remixes.filters.definition import FilterDefinition, FilterFile
from remix.remixes.filters.properties import unknown_reference
from remix.signature import content_hash
from remix.store.index import Index
from remix.store.worker import GuardedIndex

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store

LOADED, KB = "loaded", "kb"
"""Words for the loaded datasets with their measures, and for the attached knowledge base, in the place of a service."""
_AT_ONCE = 500
"""Entities that what is here is asked about at once: of some thousands Oxigraph holds each against every solution."""


@dataclass(frozen=True)
class Surroundings:
    """What filters are asked in: a workspace's store and knowledge base, and what the user allows and chooses.

    `allowed` are the addresses that may be asked, `instead` the services that take the place of those a file names;
    `cache` is the folder where answers are kept, of which `refresh` takes none; `timeout` are the seconds of a query to
    what is here, `manners` how endpoints are asked, by default as the environment says. With
    `kept_only` nothing is asked that was not answered before.
    """

    store: Store | None = None
    kb: KnowledgeBase | None = None
    cache: Path | None = None
    allowed: frozenset[str] = frozenset()
    instead: tuple[tuple[str, str], ...] = ()
    refresh: bool = False
    timeout: float = 600
    manners: Manners | None = None
    kept_only: bool = False

    def place_of(self, one: FilterDefinition) -> str:
        """Return what a filter asks, be it what its file names or what takes its place."""
        return dict(self.instead).get(one.service, one.service)


class Service(ABC):
    """What one filter asks; `label` is how people are told of it."""

    label: str = ""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Return what its answers depend on beside the query: they are kept by it. Nothing where none are kept."""

    @abstractmethod
    def ask(self, entities: pl.Series) -> Iterator[tuple[pl.Series, pl.Series]]:
        """Yield entities that were asked about, some at a time, with those of them that are kept."""


def service_of(file: FilterFile, one: FilterDefinition, around: Surroundings) -> Service:
    """Return what a filter asks: an address, `loaded`, `kb`, or a file.

    A relative path is one from the folder of the filters file, or else from the current one.

    Nothing is opened before it is asked. Raises `UsageError` for what is none of these.
    """
    place = around.place_of(one)
    if one.kind == "ranking":
        return RankedFiles(file, one, place)
    if "://" in place:
        return EndpointService(file, one, place, around)
    if place == LOADED:
        return LoadedService(file, one, around)
    if place == KB:
        return KnowledgeService(file, one, around)
    return FileService(file, one, around, _find_file(file, one, place))


def _find_file(file: FilterFile, one: FilterDefinition, place: str, *, ends: Sequence[str] = ("",)) -> Path:
    """Return the file of a service, or what its name begins with; raises `BadInput` where it is not there."""
    if key := unknown_reference(place):
        raise BadInput(
            file.path,
            f"'{one.name}' asks '{place}', and nothing says what '{key}' is: add a line '{key} = FOLDER' to this file "
            "or to a gerbil.properties beside it",
            line=one.line,
        )
    places = [file.path.parent / place, Path(place)]
    for found in places:
        if all(Path(f"{found}{end}").is_file() for end in ends):
            return found
    absent = next(end for end in ends if not any(Path(f"{found}{end}").is_file() for found in places))
    instead = "" if ends != ("",) else f"; --service '{one.service}={LOADED}' asks the loaded data in its place"
    raise BadInput(file.path, f"'{one.name}' asks {place}{absent}, and there is no such file{instead}", line=one.line)


@dataclass
class RankedFiles(Service):
    """Lists of ranked entities: files of lines whose first word is an entity, some of which a filter names."""

    file: FilterFile
    one: FilterDefinition
    place: str

    def __post_init__(self) -> None:
        """Say which files they are."""
        self.label = f"{Path(self.place).name}_{','.join(self.one.members)}"

    @property
    def identity(self) -> str:
        """Return nothing: the files answer as soon as kept answers would."""
        return ""

    def ask(self, entities: pl.Series) -> Iterator[tuple[pl.Series, pl.Series]]:
        """Yield all entities with those that are in one of the files."""
        ends = [f"_{part}" for part in self.one.members]
        begin = _find_file(self.file, self.one, self.place, ends=ends)
        ranked = [_first_words(read_bytes(f"{begin}{end}")) for end in ends]
        yield entities, entities.filter(entities.is_in(pl.concat(ranked).implode()))


def _first_words(content: bytes) -> pl.Series:
    r"""Return the first word of each line.

    >>> _first_words("urn:a 0.5\n\nurn:b\t0.2\r\n".encode()).to_list()
    ['urn:a', 'urn:b']
    """
    lines = pl.Series("line", content.decode("utf-8", errors="replace").split("\n"))
    return lines.str.extract(r"^\s*(\S+)", 1).drop_nulls().alias("entity")


@dataclass
class EndpointService(Service):
    """A SPARQL endpoint, asked about some entities at a time; it has to be allowed by its address."""

    file: FilterFile
    one: FilterDefinition
    address: str
    around: Surroundings

    def __post_init__(self) -> None:
        """Say where it is; raises `UsageError` for what is no address."""
        check_address(self.address)
        self.label = without_secrets(self.address)

    @property
    def identity(self) -> str:
        """Return the hash of the address, with what authenticates in it."""
        return f"endpoint {content_hash(self.address)}"

    def ask(self, entities: pl.Series) -> Iterator[tuple[pl.Series, pl.Series]]:
        """Yield each chunk with those of it that the endpoint keeps.

        Raises `NotAllowed` unless its address is allowed, `StoreError` and `Timeout` where it does not answer.
        """
        if not {self.address, self.label} & self.around.allowed:
            raise NotAllowed(
                f"'{self.one.name}' of {self.file.path} asks {self.label}, which a filter may not by itself: "
                f"--allow-service {self.label} allows it, --service '{self.one.service}={LOADED}' (or ={KB}, =FILE) "
                "asks what is here in its place"
            )
        remote = Remote(self.address, self.around.manners or Manners.of_environment())
        for begin in range(0, len(entities), self.one.chunk):
            chunk = entities[begin : begin + self.one.chunk]
            yield chunk, self._among(chunk, self._ask(remote, chunk))

    def _ask(self, remote: Remote, chunk: pl.Series) -> pl.Series:
        def select(terms: Sequence[str]) -> str:
            return self.file.expand(self.one, terms)

        terms = ("<" + chunk + ">").to_list()
        nothing = pl.DataFrame(schema={"v": pl.String})
        try:
            rows = solutions(
                remote, self.file.prologue, select, terms, ["v"], most=math.inf, left_out=lambda key, count: None
            )
            return pl.concat([nothing, *rows])["v"]
        except (StoreError, Timeout) as error:
            kind = Timeout if isinstance(error, Timeout) else StoreError
            raise kind(
                f"filter '{self.one.name}': {error}. What it answered before is kept, and the same command goes on "
                f"from there; --service '{self.one.service}=…' asks another address, a file, or what is {LOADED}"
            ) from None

    def _among(self, chunk: pl.Series, answered: pl.Series) -> pl.Series:
        return keep_answered(f"filter '{self.one.name}' of {self.file.path}: {self.label}", chunk, answered)


def keep_answered(who: str, asked: pl.Series, answered: pl.Series) -> pl.Series:
    """Return which of the entities were answered, in their order.

    An IRI that is another spelling of one that was asked about counts as that. Raises `StoreError` for an answer
    about anything else: what is said of an entity would depend on those that it was asked about with.
    """
    strange = answered.filter(~answered.is_in(asked.implode())).unique()
    if answered.null_count():
        raise StoreError(f"{who} answered with a ?v that is no IRI: its query has to select the ?v of VALUES ?v {{##}}")
    kept = asked.is_in(answered.implode())
    if len(strange):
        meant = canonical(strange)
        known = canonical(asked)
        if len(other := strange.filter(~meant.is_in(known.implode()))):
            raise StoreError(
                f"{who} answered <{other.sort()[0]}>, which it was not asked about: its query has to select the ?v of "
                "VALUES ?v {##}"
            )
        kept |= known.is_in(meant.implode())
    return asked.filter(kept)


@dataclass
class _TripleService(Service):
    """Triples that are here, asked by a process with limits of time and memory."""

    file: FilterFile
    one: FilterDefinition
    around: Surroundings

    @abstractmethod
    def _open_index(self, entities: pl.Series) -> AbstractContextManager[Path | None]:
        """Give the place of the index to ask about the entities."""

    def ask(self, entities: pl.Series) -> Iterator[tuple[pl.Series, pl.Series]]:
        """Yield the entities, some hundreds at a time, with those of them that are kept."""
        name = f"filter '{self.one.name}' of {self.file.path}"
        with (
            self._open_index(entities) as place,
            GuardedIndex(place, timeout=self.around.timeout, allow_services=self.around.allowed) as index,
        ):
            for begin in range(0, len(entities), _AT_ONCE):
                chunk = entities[begin : begin + _AT_ONCE]
                query = f"{self.file.prologue}\n{self.file.expand(self.one, ('<' + chunk + '>').to_list())}"
                answered = index.frame(query, name)["v"]
                yield (
                    chunk,
                    keep_answered(f"{name}: {self.label}", chunk, answered.to_frame("v").select(iri(pl.col("v")))["v"]),
                )


@dataclass
class FileService(_TripleService):
    """A file of RDF in any syntax."""

    path: Path

    def __post_init__(self) -> None:
        """Say which file it is."""
        self.label = self.path.name

    @property
    def identity(self) -> str:
        """Return the hash of the file."""
        return f"file {content_hash(read_bytes(self.path))}"

    @contextmanager
    def _open_index(self, entities: pl.Series) -> Iterator[Path | None]:
        from remix.formats.nif.parsing import parse
        from remix.formats.repairs import RepairTally
        from remix.formats.source import SourceFile
        from remix.rdf.turtle import ntriples

        with TemporaryDirectory(prefix="remix-") as place:
            triples = ntriples(parse(SourceFile(self.path), RepairTally()))
            try:
                made = Index.on_disk(Path(place), {"urn:remix:service": triples})
            except SyntaxError as error:
                raise BadInput(self.path, f"has IRIs that are none: {error}") from None
            yield made


class LoadedService(_TripleService):
    """The loaded datasets with their measures."""

    label = "loaded datasets"

    @property
    def identity(self) -> str:
        """Return what is loaded, by its content."""
        entries = [] if self.around.store is None else self.around.store.datasets()
        runs = [[held.signature for held in one.attached.values()] for one in entries]
        return f"loaded {[(one.iri, one.content, one.enrichment) for one in entries]} {runs}"

    @contextmanager
    def _open_index(self, entities: pl.Series) -> Iterator[Path | None]:
        if self.around.store is None:
            raise UsageError(f"'{self.one.name}' of {self.file.path} asks what is loaded, and there is no workspace")
        opened = self.around.store.index()  # which keeps its generation there until it was asked
        yield opened.path


class KnowledgeService(_TripleService):
    """What the attached knowledge base says of the entities: their classes (`rdf:type`) and labels (`rdfs:label`).

    Classes are those of the knowledge base, those above them, and the coarse ones that they stand for (`dbo:Person`,
    `dbo:Organisation`, `dbo:Place`); persons are `foaf:Person` as well, as they are in DBpedia.
    """

    label = "knowledge base"

    @property
    def identity(self) -> str:
        """Return the knowledge base and the mapping of classes."""
        from remix.measures.classes import class_mapping

        mapping = class_mapping()
        return f"kb {self._kb.signature} {content_hash(mapping.sort(mapping.columns).write_csv())}"

    @property
    def _kb(self) -> KnowledgeBase:
        if self.around.kb is None:
            raise MissingKnowledge(
                f"'{self.one.name}' of {self.file.path} asks the knowledge base, and none is attached: "
                "`remix kb attach NAME`"
            )
        return self.around.kb

    @contextmanager
    def _open_index(self, entities: pl.Series) -> Iterator[Path | None]:
        with TemporaryDirectory(prefix="remix-") as place:
            yield Index.on_disk(Path(place), {"urn:remix:service": _statements(self._kb, entities)})


def _statements(kb: KnowledgeBase, entities: pl.Series) -> bytes:
    """Return what a knowledge base says of entities as N-Triples: of each as it is asked, whatever it stands for."""
    from remix.measures.classes import with_coarse

    asked = pl.DataFrame({"asked": entities, "entity": kb.resolve(entities)})
    stated = kb.rows("types", "entity", asked["entity"], ["entity", "class"]).unique()
    above = kb.superclasses(stated["class"].unique()).rename({"superclass": "above"})
    above = stated.join(above, on="class").select("entity", pl.col("above").alias("class"))
    types = with_coarse(pl.concat([stated, above]).unique())
    persons = types.filter(pl.col("class") == f"{DBO}Person").with_columns(
        pl.lit(f"{PREFIXES['foaf']}Person").alias("class")
    )
    types = pl.concat([types, persons]).filter(is_legal(pl.col("class"))).unique()
    labels = kb.rows("entities", "entity", asked["entity"], ["entity", "label"]).drop_nulls()
    said = [
        types.select("entity", p=pl.lit(f"{RDF}type"), o=fill("<{}>", "class")),
        labels.select("entity", p=pl.lit(f"{RDFS}label"), o=text_term(pl.col("label"))),
    ]
    lines = asked.join(pl.concat(said), on="entity").select(fill("<{}> <{}> {} .\n", "asked", "p", "o").alias("line"))
    return "".join(lines["line"].unique().sort()).encode()


def replaced_services(file: FilterFile, settings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the services that take the place of others, from settings `OLD=NEW`.

    Raises `UsageError` for a service that the file does not name.
    """
    known = list(dict.fromkeys(one.service for one in file.filters if one.kind != "combinator"))
    found = []
    for setting in settings:
        old = next((one for one in known if setting.startswith(f"{one}=") and len(setting) > len(one) + 1), None)
        if old is None:
            raise UsageError(
                f"--service '{setting}' replaces no service of {file.path}: write OLD=NEW, OLD being one of "
                f"{', '.join(known)}, NEW an address, a file, {LOADED} or {KB}"
            )
        found.append((old, setting[len(old) + 1 :]))
    return tuple(found)
