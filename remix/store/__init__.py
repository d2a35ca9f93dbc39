"""The embedded store of a workspace: datasets as files and frames, and an Oxigraph index over them."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from remix.errors import Error, StoreError, UnknownName, UsageError
from remix.files import default_name, open_bytes, read_bytes, readable, written
from remix.formats import Reading, Report, measures_path, read
from remix.frames import Frames
from remix.signature import content_hash
from remix.store.index import Index, build_generation, is_index
from remix.store.state import STATE, Attached, DatasetEntry, State, read_state, write_state, writing

__all__ = ["DatasetEntry", "Index", "Loaded", "Store"]

BASE_IRI = "urn:remix:dataset:"


@dataclass(frozen=True)
class Loaded:
    """What a load did: `status` is 'loaded', 'unchanged' or 'replaced'; the report says what was repaired."""

    name: str
    status: str
    entry: DatasetEntry
    report: Report


class Store:
    """The datasets of a workspace folder, which need not exist yet.

    The files are the truth, the index can be built from them at any time. One process writes, any number read; a
    reader keeps the state that it opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    @property
    def state(self) -> State:
        """Return the state as it is on the disk now."""
        return read_state(self.folder)

    @property
    def is_new(self) -> bool:
        """Return whether nothing was ever loaded into or attached to the workspace."""
        return not (self.folder / STATE).exists()

    def datasets(self) -> list[DatasetEntry]:
        """Return the datasets, sorted by name."""
        return list(self.state.datasets.values())

    def dataset(self, name: str) -> DatasetEntry:
        """Return the dataset of that name; raises `UnknownName`."""
        known = self.state.datasets
        if name not in known:
            raise UnknownName("dataset", name, known, "remix list datasets")
        return known[name]

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
        chosen = _checked(name) if name is not None else default_name(path)
        with writing(self.folder) as state, self._scratch() as scratch:
            reading = read(
                path,
                name=chosen,
                base_iri=base_iri,
                format=format,
                strict=strict,
                triples_to=scratch / "data.nt.zst",
            )
            same = _same(state, reading, named=name is not None)
            if same is not None:
                return Loaded(same.name, "unchanged", same, reading.report)
            taken = state.datasets.get(chosen)
            source = readable(path if str(path) == "-" else Path(path).resolve())
            if taken is not None and not replace and (taken.source != source or source == "-"):
                raise _taken(taken, state)
            entry = self._keep(reading, source, scratch)
            self._change(state, state.put(entry))
        return Loaded(entry.name, "replaced" if taken else "loaded", entry, reading.report)

    def drop(self, name: str) -> DatasetEntry:
        """Return the dataset that was removed, with its enrichment; raises `UnknownName`."""
        entry = self.dataset(name)
        with writing(self.folder) as state:
            self._change(state, state.without(name))
        return entry

    def enrich(self, graphs: Mapping[str, Path | bytes], signature: str) -> None:
        """Put N-Triples into the enrichment graphs of datasets; what was there before is replaced.

        Raises `UnknownName` for a dataset that is not loaded. The same triples with the same signature change
        nothing.
        """
        with writing(self.folder) as state:
            new = state
            for name, triples in graphs.items():
                if name not in state.datasets:
                    raise UnknownName("dataset", name, state.datasets, "remix list datasets")
                file, count = self._kept(name, triples)
                new = new.put(
                    dataclasses.replace(
                        state.datasets[name],
                        enrichment=signature,
                        enrichment_file=file,
                        enrichment_triples=count,
                    )
                )
            if new != state:
                self._change(state, new)

    def attach(self, graphs: Mapping[str, Mapping[str, tuple[bytes, str] | None]]) -> None:
        """Put N-Triples into graphs beside datasets; what stood in a graph of that name is replaced.

        `graphs` maps datasets to graphs by the fragment of their IRI (`run-prior`), each with triples and
        signature, or None for one that goes. All go when the dataset does; the same changes nothing. Raises
        `UnknownName` as `dataset`.
        """
        with writing(self.folder) as state:
            new = state
            for name, found in graphs.items():
                if name not in state.datasets:
                    raise UnknownName("dataset", name, state.datasets, "remix list datasets")
                entry = state.datasets[name]
                held = {one: Attached(*self._kept(name, made[0]), made[1]) for one, made in found.items() if made}
                stays = {one: graph for one, graph in entry.attached.items() if one not in found}
                new = new.put(dataclasses.replace(entry, attached=dict(sorted({**stays, **held}.items()))))
            if new != state:
                self._change(state, new)

    def attached(self, name: str, fragment: str) -> bytes:
        """Return the N-Triples of a graph beside a dataset, as `attach` took them; empty where there is none."""
        held = self.dataset(name).attached.get(fragment)
        return b"" if held is None else read_bytes(self.folder / held.file, own=True)

    def frames(self, names: Iterable[str] | None = None) -> Frames:
        """Return the frames of the datasets of these names, by default of all; raises `UnknownName`."""
        state = self.state
        chosen = list(state.datasets) if names is None else list(names)
        for name in chosen:
            if name not in state.datasets:
                raise UnknownName("dataset", name, state.datasets, "remix list datasets")
        return Frames.concat(self._frames(state.datasets[name]) for name in chosen)

    def _frames(self, entry: DatasetEntry) -> Frames:
        try:
            return Frames.read(self.folder / entry.folder)
        except StoreError as error:
            raise StoreError(f"{error}: `remix drop {entry.name}`, and load {entry.source} again") from None

    def report(self, name: str) -> dict[str, object]:
        """Return what was found and repaired when the dataset was loaded."""
        entry = self.dataset(name)
        file = self.folder / entry.folder / "load.json"
        try:
            found: dict[str, object] = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            again = f"`remix drop {name}`, and load {entry.source} again"
            raise StoreError(f"{file} cannot be read ({error}): {again}") from None
        return found

    def index(self) -> Index:
        """Return the index of the current state, opened read-only; one that is gone is built again."""
        state = self.state
        if not state.generation:
            return Index(None)
        if not is_index(self.folder / "index" / state.generation):
            with writing(self.folder) as state:
                self._change(state, state)
            state = self.state
        return Index(self.folder / "index" / str(state.generation))

    def attach_kb(self, folder: Path | str) -> None:
        """Note the folder of the knowledge base that measures use from now on.

        One that lies in the workspace moves with it.
        """
        place, own = Path(folder).resolve(), self.folder.resolve()
        kept = place.relative_to(own) if place.is_relative_to(own) else place
        with writing(self.folder) as state:
            write_state(self.folder, dataclasses.replace(state, kb=str(kept)))

    @property
    def kb_folder(self) -> Path | None:
        """Return the folder of the attached knowledge base, None without one."""
        return self.folder / kb if (kb := self.state.kb) else None

    def _change(self, old: State, new: State) -> None:
        generation = build_generation(self.folder, old.generation, old.graphs(), new.graphs())
        write_state(self.folder, dataclasses.replace(new, generation=generation))

    def _scratch(self) -> _Scratch:
        return _Scratch(self.folder / "datasets")

    def _keep(self, reading: Reading, source: str, scratch: Path) -> DatasetEntry:
        """Return the entry of a reading whose files now have their place in the workspace."""
        # The same content under another IRI has other triples, and replaces what stands in a folder of its own.
        folder = f"datasets/{reading.name}-{content_hash(reading.content, reading.iri)[:12]}"
        try:
            reading.frames.write(scratch)
            report = json.dumps(asdict(reading.report), ensure_ascii=False, indent=1)
            (scratch / "load.json").write_text(report, encoding="utf-8")
            scratch.rename(self.folder / folder)
        except (OSError, Error) as error:
            raise StoreError(f"the workspace {self.folder} cannot be written: {error}") from None
        entry = DatasetEntry(
            name=reading.name,
            iri=reading.iri,
            content=reading.content,
            source=source,
            format=reading.report.format,
            triples=reading.report.triples,
            documents=reading.frames.documents.height,
            annotations=reading.frames.annotations.height,
            folder=folder,
        )
        measures = measures_path(Path(folder) / "data.nt.zst")
        if not (self.folder / measures).exists():
            return entry
        with open_bytes(self.folder / measures, own=True) as stream:
            count = sum(1 for _ in stream)
        if not count:
            return entry
        return dataclasses.replace(entry, enrichment="given", enrichment_file=str(measures), enrichment_triples=count)

    def _kept(self, name: str, triples: Path | bytes) -> tuple[str, int]:
        import zstandard

        if isinstance(triples, Path):
            with open_bytes(triples, own=True) as stream:
                triples = stream.read()
        file = f"enrichments/{name}-{content_hash(triples)[:12]}.nt.zst"
        if not (self.folder / file).exists():
            try:
                with written(self.folder / file) as stream:
                    stream.write(zstandard.ZstdCompressor(level=1).compress(triples))
            except Error as error:
                raise StoreError(str(error)) from None
        return file, triples.count(b"\n")


class _Scratch:
    """A folder beside the datasets that is gone at the end of the block, unless it was renamed."""

    def __init__(self, parent: Path) -> None:
        self.parent = parent

    def __enter__(self) -> Path:
        try:
            self.parent.mkdir(parents=True, exist_ok=True)
            self.path = Path(tempfile.mkdtemp(dir=self.parent, prefix="new-"))
            self.path.chmod(0o755)
        except OSError as error:
            raise StoreError(f"the workspace {self.parent.parent} cannot be written: {error}") from None
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _checked(name: str) -> str:
    """Return a name that may stand in an IRI and be a folder's; raises `UsageError`."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,99}", name, re.ASCII):
        raise UsageError(
            f"'{name}' cannot name a dataset: use letters, digits, '-', '_' and '.', beginning with a letter or digit"
        )
    return name


def _same(state: State, reading: Reading, *, named: bool) -> DatasetEntry | None:
    """Return the dataset that has this content already; under any name if none was asked for."""
    own = state.datasets.get(reading.name)
    if own is not None and own.content == reading.content and own.iri == reading.iri:
        return own
    if named or own is not None:
        return None
    return next((entry for entry in state.datasets.values() if entry.content == reading.content), None)


def _taken(entry: DatasetEntry, state: State) -> UsageError:
    return UsageError(
        f"a dataset named '{entry.name}' with other content is loaded from {entry.source}: "
        f"use --name {_free(entry.name, state)}, or --replace"
    )


def _free(name: str, state: State) -> str:
    return next(free for n in range(2, len(state.datasets) + 3) if (free := f"{name}-{n}") not in state.datasets)
