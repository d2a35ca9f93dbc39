"""The embedded store of a workspace: datasets as files and frames, and an Oxigraph index over them."""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from remix.errors import BadInput, Error, StoreError, UnknownName, UsageError
from remix.files import default_name, manifest_beside, open_bytes, read_bytes, readable
from remix.locks import Lock
from remix.places import SUMS, folder_written, is_sound, move_folder, scratch_folder, seal, verify
from remix.signature import content_hash
from remix.store.cache import StateCache
from remix.store.state import (
    GIVEN,
    MADE,
    STATE_FILE,
    Attached,
    DatasetEntry,
    State,
    claim,
    open_state,
    write_state,
    writing,
)

if TYPE_CHECKING:  # what needs Polars is imported where it is used: the process of a query has it not
    from remix.formats import LoadedFile, LoadReport
    from remix.frames import Frames
    from remix.store.index import Index

__all__ = ["BASE_IRI", "DatasetEntry", "Loaded", "Loading", "Store", "in_one_state"]

_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")

BASE_IRI = "urn:remix:dataset:"


@dataclass(frozen=True)
class Loaded:
    """What a load did: `status` is 'loaded', 'unchanged' or 'replaced'; the report says what was repaired."""

    name: str
    status: str
    entry: DatasetEntry
    report: LoadReport


class Store:
    """The datasets of a workspace folder, which need not exist yet.

    The files are the truth, the index can be built from them at any time. One process writes, any number read; a
    reader keeps the state that it opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._held = _Held()
        self.cached = StateCache(self.folder / STATE_FILE)

    @property
    def state(self) -> State:
        """Return the state as it is on the disk now, or as it was when it was held (see `hold_state`)."""
        return self._open()[0]

    @contextmanager
    def hold_state(self) -> Iterator[None]:
        """Hold the state within the block, for this thread: what is read there belongs together and stays there.

        It is the state at the first reading; what others write shows after the block, or once this thread has written.
        """
        self._held.blocks += 1
        try:
            yield
        finally:
            self._held.blocks -= 1
            if not self._held.blocks:
                self._held.state = None

    def _open(self) -> tuple[State, Lock | None]:
        found = self._held.state or open_state(self.folder)
        if self._held.blocks:
            self._held.state = found
        return found

    def own(self, name: str) -> Path:
        """Return a folder of the workspace, which is one from now on, for what is no dataset: `kb`, `runs`, `cache`.

        Raises `StoreError` for a folder that holds other things.
        """
        claim(self.folder)
        return self.folder / name

    @property
    def is_new(self) -> bool:
        """Return whether nothing was ever loaded into the workspace or attached to it."""
        return self.state == State()

    def datasets(self) -> list[DatasetEntry]:
        """Return the datasets, sorted by name."""
        return list(self.state.datasets.values())

    def dataset(self, name: str) -> DatasetEntry:
        """Return the dataset of that name; raises `UnknownName`."""
        return _find_entry(self.state, name)

    def load(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        base_iri: str = BASE_IRI,
        format: str | None = None,
        strict: bool = False,
        replace: bool = False,
    ) -> Loaded:
        """Return what was done with the dataset in a file.

        The same content changes nothing: neither under its name, nor, unless a name is asked for, where another
        dataset has it. A file that was loaded before and has changed since replaces its dataset, so does any file
        with `replace`; else a name that is taken is refused with a suggestion.

        Raises `UsageError` for a name that is taken or is none, `BadInput` for a file that cannot be read or
        repaired, `StoreError` for a workspace that cannot be written. After any of them the store is as it was.
        """
        with self.loading() as loading:
            return loading.load(path, name=name, base_iri=base_iri, format=format, strict=strict, replace=replace)

    @contextmanager
    def loading(self) -> Iterator[Loading]:
        """Load any number of files within the block as one change of the store, at its end.

        Raises `StoreError` for a workspace that cannot be written; whatever is raised, the store is as it was.
        """
        with self._changing() as change:
            yield change

    def drop(self, *names: str) -> list[DatasetEntry]:
        """Return the datasets that were removed, with all that is kept beside them, in one change.

        Raises `UnknownName`; then none is.
        """
        with self._changing() as change:
            entries = [_find_entry(change.new, name) for name in dict.fromkeys(names)]
            for entry in entries:
                change.new = change.new.without(entry.name)
        return entries

    def enrich(self, graphs: Mapping[str, Path | bytes], signature: str) -> None:
        """Put N-Triples into the enrichment graphs of datasets; what was there before is replaced.

        Raises `UnknownName` for a dataset that is not loaded. The same triples with the same signature change
        nothing.
        """
        self.attach({name: {"enrichment": (triples, signature)} for name, triples in graphs.items()})

    def attach(self, graphs: Mapping[str, Mapping[str, tuple[Path | bytes, str] | None]]) -> None:
        """Put N-Triples into graphs beside datasets; what stood in a graph of that name is replaced.

        `graphs` maps datasets to graphs by the fragment of their IRI (`run-prior`), each with triples and
        signature, or None for one that goes. All go when the dataset does; the same changes nothing. Raises
        `UnknownName` as `dataset`.
        """
        with self._changing() as change:
            for name, found in graphs.items():
                entry = _find_entry(change.new, name)
                stays = {one: graph for one, graph in entry.attached.items() if one not in found}
                entry = dataclasses.replace(entry, attached=stays)
                for one, made in found.items():
                    if made is not None:
                        entry = entry.beside(one, self._keep(entry, one, *made))
                change.new = change.new.put(self._without_learnt(entry))

    def _without_learnt(self, entry: DatasetEntry) -> DatasetEntry:
        """Return the entry of whose measures, where they are those of its file, none is one that was learnt here.

        A file brings what was learnt from the runs of others, which comes back where nothing is learnt any more.
        """
        if entry.enrichment != GIVEN:
            return entry
        import polars as pl

        from remix.formats import measures_path
        from remix.rdf.ntriples import columns, serialise

        whole = str(measures_path(Path(entry.folder, "data.nt.zst")))
        given = columns(self.triples(whole))
        terms = [
            rows.filter(pl.col("subject") != f"<{entry.iri}#{name}>")["predicate"]
            for name in entry.learnt()
            for rows in [columns(self.triples(entry.attached[name].file))]
        ]
        left = given.filter(~pl.col("predicate").is_in(pl.concat(terms).implode())) if terms else given
        if len(left) == len(given):
            return dataclasses.replace(entry, enrichment_file=whole, enrichment_triples=len(given))
        return entry.beside("enrichment", self._keep(entry, "enrichment", b"".join(serialise(left)), GIVEN))

    def attachment(self, name: str, fragment: str) -> bytes:
        """Return the N-Triples of a graph beside a dataset, as `attach` took them; empty where there is none."""
        held = self.dataset(name).attached.get(fragment)
        return b"" if held is None else self.triples(held.file)

    def triples(self, file: str) -> bytes:
        """Return the N-Triples of a file that an entry names; raises `StoreError` for one that is gone or damaged."""
        place = self.folder / file
        with _damage(self.folder):
            verify(place.parent, place.name)
            try:
                return read_bytes(place, own=True)
            except BadInput as error:
                raise StoreError(str(error)) from None

    def frames(self, names: Iterable[str] | None = None) -> Frames:
        """Return the frames of the datasets of these names, by default of all; raises `UnknownName`."""
        from remix.frames import Frames

        with self.hold_state(), _damage(self.folder):
            chosen = self.datasets() if names is None else [self.dataset(name) for name in names]
            return Frames.read_all([self.folder / entry.folder for entry in chosen], sealed=True)

    def report(self, name: str) -> dict[str, object]:
        """Return what was found and repaired when the dataset was loaded."""
        with self.hold_state(), _damage(self.folder):
            folder = self.folder / self.dataset(name).folder
            verify(folder, "load.json")
            return dict(json.loads((folder / "load.json").read_bytes()))

    def index(self) -> Index:
        """Return the index of the current state, opened read-only; one that is gone is built again."""
        from remix.store.generations import generation_of
        from remix.store.index import Index

        state, lock = self._open()
        if not state.generation:
            return Index(None)
        if (place := generation_of(self.folder, state)) is None:
            with self._changing(always=True):
                pass
            state, lock = self._open()
            place = generation_of(self.folder, state)
        return Index(place, lock=lock)

    def attach_kb(self, folder: Path | str) -> None:
        """Note the folder of the knowledge base that measures use from now on.

        One that lies in the workspace moves with it. Raises `StoreError` where its files are not what was built.
        """
        if (Path(folder) / SUMS).exists():  # where it is none, who opens it says so
            try:
                verify(Path(folder))
            except StoreError as error:
                raise StoreError(f"{error}: build the knowledge base again with `remix kb build`") from None
        place, own = Path(folder).resolve(), self.folder.resolve()
        kept = place.relative_to(own) if place.is_relative_to(own) else place
        with self._changing() as change:
            change.new = dataclasses.replace(change.new, kb=str(kept))

    @property
    def kb_folder(self) -> Path | None:
        """Return the folder of the attached knowledge base, None without one."""
        return self.folder / kb if (kb := self.state.kb) else None

    @contextmanager
    def _changing(self, *, always: bool = False) -> Iterator[Loading]:
        """Change the state within the block; the new one is written at its end, with an index where that differs."""
        with writing(self.folder) as state:
            yield (change := Loading(self.folder, state))
            new = change.new
            if always or new.graphs() != state.graphs():
                from remix.store.generations import build_generation

                new = build_generation(self.folder, state, new)
            if new != state:
                write_state(self.folder, new)
            if self._held.state is not None:
                self._held.state = open_state(self.folder)

    def _keep(self, entry: DatasetEntry, graph: str, triples: Path | bytes, signature: str) -> Attached:
        """Return a graph beside a dataset, whose file holds the triples from now on."""
        import zstandard

        if isinstance(triples, Path):
            with open_bytes(triples, own=True) as stream:
                triples = stream.read()
        about = {"dataset": entry.name, "content": entry.content, "iri": entry.iri, "graph": graph}
        described = json.dumps({**about, "signature": signature, "triples": triples.count(b"\n")}, indent=1)
        folder = self.folder / "enrichments" / f"{entry.name}-{content_hash(described, triples)[:12]}"
        if not is_sound(folder):
            try:
                with folder_written(folder) as place:
                    (place / "graph.nt.zst").write_bytes(zstandard.ZstdCompressor(level=1).compress(triples))
                    (place / MADE["enrichments"]).write_text(described, encoding="utf-8")
            except Error as error:
                raise StoreError(f"the workspace {self.folder} cannot be written: {error}") from None
        return Attached(f"enrichments/{folder.name}/graph.nt.zst", triples.count(b"\n"), signature)


def in_one_state(
    function: Callable[Concatenate[Store, _Parameters], _Returned],
) -> Callable[Concatenate[Store, _Parameters], _Returned]:
    """Return a function of a store that sees one state of it throughout, whatever other processes write meanwhile."""

    @wraps(function)
    def hold_store(store: Store, /, *args: _Parameters.args, **choices: _Parameters.kwargs) -> _Returned:
        with store.hold_state():
            return function(store, *args, **choices)

    return hold_store


@dataclass
class Loading:
    """A change of the store in a folder under way: `new` is the state that will be (see `Store.loading`)."""

    folder: Path
    new: State

    def load(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        base_iri: str = BASE_IRI,
        format: str | None = None,
        strict: bool = False,
        replace: bool = False,
    ) -> Loaded:
        """Return what will have been done with the dataset in a file; see `Store.load`.

        After an error the change has nothing of the file. The manifest of a remix is kept with it.
        """
        from remix.formats import read

        chosen = _check_name(name) if name is not None else default_name(path)
        state = self.new
        try:
            with scratch_folder(self.folder / "datasets" / chosen) as place:
                data = place / "data.nt.zst"
                reading = read(path, name=chosen, base_iri=base_iri, format=format, strict=strict, triples_to=data)
                same = _same(state, reading, named=name is not None)
                if same is not None and is_sound(self.folder / same.folder):
                    return Loaded(same.name, "unchanged", same, reading.report)
                taken = state.datasets.get(chosen)
                source = readable(path if str(path) == "-" else Path(path).resolve())
                if same is None and taken is not None and not replace and (taken.source != source or source == "-"):
                    number = next(n for n in range(2, len(state.datasets) + 3) if f"{chosen}-{n}" not in state.datasets)
                    raise UsageError(
                        f"a dataset named '{chosen}' with other content is loaded from {taken.source}: "
                        f"use --name {chosen}-{number}, or --replace"
                    )
                if (beside := manifest_beside(path)).is_file():
                    (place / "data.manifest.ttl").write_bytes(read_bytes(beside))  # a remix stays one
                entry = _finish(reading, source, place)
                seal(place)
                move_folder(place, self.folder / entry.folder)
        except Error as error:
            if type(error) is not Error:  # what reading has to say of the file
                raise
            raise StoreError(f"the workspace {self.folder} cannot be written: {error}") from None
        self.new = state.put(entry)
        return Loaded(entry.name, "replaced" if taken else "loaded", entry, reading.report)


class _Held(threading.local):
    """The state that a thread holds, with what keeps its files there, while it is in any block that holds one."""

    blocks = 0
    state: tuple[State, Lock | None] | None = None


def _find_entry(state: State, name: str) -> DatasetEntry:
    if name not in state.datasets:
        raise UnknownName("dataset", name, state.datasets, "remix list datasets")
    return state.datasets[name]


@contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Say within the block what to do about files of the workspace that are damaged."""
    try:
        yield
    except StoreError as error:
        advice = f"`remix rebuild -w {folder}` takes out what is damaged and says what to load or compute again"
        raise StoreError(f"{error}: {advice}") from None


def _finish(reading: LoadedFile, source: str, place: Path) -> DatasetEntry:
    """Return the entry of a reading whose triples are in a folder, which has all else of it then."""
    from remix.formats import measures_path
    from remix.store.stated import state_phrases

    # The same content under another IRI has other triples, and replaces what stands in a folder of its own.
    folder = f"datasets/{reading.name}-{content_hash(reading.content, reading.iri)[:12]}"
    reading.frames.write(place)
    if reading.report.format == "nif":  # which alone may type annotations otherwise
        state_phrases(reading.frames, place)
    (place / "load.json").write_text(json.dumps(asdict(reading.report), ensure_ascii=False, indent=1), encoding="utf-8")
    measures, count = measures_path(place / "data.nt.zst"), 0
    if measures.exists():
        with open_bytes(measures, own=True) as stream:
            count = sum(1 for _ in stream)
    entry = DatasetEntry(
        name=reading.name,
        iri=reading.iri,
        content=reading.content,
        source=source,
        format=reading.report.format,
        triples=reading.report.triples,
        documents=reading.frames.documents.height,
        annotations=reading.report.annotations,
        folder=folder,
        enrichment=GIVEN if count else None,
        enrichment_file=f"{folder}/{measures.name}" if count else None,
        enrichment_triples=count,
    )
    (place / MADE["datasets"]).write_text(json.dumps(asdict(entry), ensure_ascii=False, indent=1), encoding="utf-8")
    return entry


def _check_name(name: str) -> str:
    """Return a name that may stand in an IRI and be a folder's; raises `UsageError`."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,99}", name, re.ASCII):
        raise UsageError(
            f"'{name}' cannot name a dataset: use up to 100 letters, digits, '-', '_' and '.', first a letter or digit"
        )
    return name


def _same(state: State, reading: LoadedFile, *, named: bool) -> DatasetEntry | None:
    """Return the dataset that has this content already; under any name if none was asked for."""
    own = state.datasets.get(reading.name)
    if own is not None and own.content == reading.content and own.iri == reading.iri:
        return own
    if named or own is not None:
        return None
    return next((entry for entry in state.datasets.values() if entry.content == reading.content), None)
