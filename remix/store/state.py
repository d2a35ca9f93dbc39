"""What the workspace holds, in one small file that is replaced whole: `state.json`.

Everything that it names is immutable, so a state is either the old one or the new one at any moment, whatever
happens to the process that writes. What no state names is left-over, removed by the next writer when it begins;
until then readers of the previous state find what they opened.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from remix.errors import Error, StoreError
from remix.files import written

__all__ = ["RUN", "STATE", "Attached", "DatasetEntry", "State", "clean", "read_state", "write_state", "writing"]

_VERSION = 2
STATE = "state.json"
"""The file that says what the workspace holds."""
RUN = "run-"
"""What the name of a graph that holds a run begins with."""


@dataclass(frozen=True)
class Attached:
    """A graph that stands beside a dataset and can be replaced: its file, number of triples and signature."""

    file: str
    triples: int
    signature: str


@dataclass(frozen=True)
class DatasetEntry:
    """One dataset of the workspace: where its files are and what was counted when it was loaded.

    `content` is the hash of what the file says, `source` the file, `triples` those of the data graph,
    `enrichment` the signature of the enrichment graph (None without one, 'given' where its measures came with the
    file), `enrichment_triples` their number. `attached` are further graphs, as the runs of systems, by the fragment of
    their IRI. Files are named relative to the workspace.
    """

    name: str
    iri: str
    content: str
    source: str
    format: str
    triples: int
    documents: int
    annotations: int
    folder: str
    enrichment: str | None = None
    enrichment_file: str | None = None
    enrichment_triples: int = 0
    attached: Mapping[str, Attached] = field(default_factory=dict)

    def graphs(self) -> dict[str, tuple[str, int]]:
        """Return the named graphs of the dataset: IRI to the file that holds it and its number of triples."""
        found = {self.iri: (f"{self.folder}/data.nt.zst", self.triples)}
        if self.enrichment_file:
            found[f"{self.iri}#enrichment"] = (self.enrichment_file, self.enrichment_triples)
        return found | {f"{self.iri}#{name}": (held.file, held.triples) for name, held in self.attached.items()}

    def value_files(self) -> list[str]:
        """Return the files of the graphs that hold values on gold annotations: all beside the data but runs."""
        attached = [held.file for name, held in self.attached.items() if not name.startswith(RUN)]
        return [*([self.enrichment_file] if self.enrichment_file else []), *attached]


@dataclass(frozen=True)
class State:
    """The datasets of a workspace, the generation of the index that holds them, and the attached kb."""

    generation: str | None = None
    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    kb: str | None = None

    def graphs(self) -> dict[str, tuple[str, int]]:
        """Return every named graph: IRI to the file that holds it and its number of triples."""
        return {iri: held for entry in self.datasets.values() for iri, held in entry.graphs().items()}

    def put(self, entry: DatasetEntry) -> State:
        """Return the state with this dataset in it."""
        return replace(self, datasets=dict(sorted({**self.datasets, entry.name: entry}.items())))

    def without(self, name: str) -> State:
        """Return the state without the dataset of that name."""
        return replace(self, datasets={k: v for k, v in self.datasets.items() if k != name})


def read_state(folder: Path) -> State:
    """Return the state of a workspace; an empty one where nothing was loaded yet.

    Raises `StoreError` where the file is damaged or was written by a later version.
    """
    file = folder / STATE
    try:
        raw = json.loads(file.read_bytes())
        if raw["version"] > _VERSION:
            raise StoreError(f"{file} was written by a later version of remix: upgrade nel-remix")
        entries = {name: _entry(entry) for name, entry in raw["datasets"].items()}
        return State(raw["generation"], entries, raw["kb"])
    except (FileNotFoundError, NotADirectoryError):
        return State()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{file} is damaged ({error}): remove the workspace {folder} and load again") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from None


def _entry(raw: dict[str, Any]) -> DatasetEntry:
    attached = {name: Attached(**held) for name, held in raw.pop("attached", {}).items()}
    return DatasetEntry(**raw, attached=attached)


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a workspace; raises `StoreError` where it cannot be written."""
    raw = {
        "version": _VERSION,
        "generation": state.generation,
        "datasets": {name: asdict(entry) for name, entry in state.datasets.items()},
        "kb": state.kb,
    }
    try:
        with written(folder / STATE) as stream:
            stream.write(json.dumps(raw, ensure_ascii=False, indent=1).encode() + b"\n")
    except Error as error:
        raise StoreError(str(error)) from error


@contextmanager
def writing(folder: Path) -> Iterator[State]:
    """Hold the workspace as its only writer within the block; the state found is given.

    The lock is the kernel's, so it goes with its process however that ends. Raises `StoreError` where another
    process writes, or where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("ab")
    except OSError as error:
        raise StoreError(f"the workspace {folder} cannot be written ({error.strerror}): name another with -w") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(
                f"another process is writing to the workspace {folder}: try again when it is done"
            ) from None
        state = read_state(folder)
        clean(folder, state)
        yield state


def clean(folder: Path, state: State) -> None:
    """Remove the generations, datasets and further graphs that the state does not name."""
    named = {entry.folder for entry in state.datasets.values()}
    named |= {file for file, _ in state.graphs().values()}
    named.add(f"index/{state.generation}")
    for kind in ("index", "datasets", "enrichments"):
        for place in sorted((folder / kind).glob("*")):
            if f"{kind}/{place.name}" in named:
                continue
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)
