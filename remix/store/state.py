"""What the workspace holds, in one small file that is replaced whole: `state.json`.

Everything that it names is immutable, so a state is either the old one or the new one at any moment, whatever
happens to the process that writes. What no state names is left over. A writer removes it once no reader holds an
earlier state that names it, and only what remix made: each folder has a file in it that says so (`MADE`). The state
is also what makes a folder a workspace.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from remix.errors import Error, StoreError
from remix.files import write_whole
from remix.locks import Busy, Lock, lock_file
from remix.places import discard, sweep

_VERSION = 3
STATE_FILE = "state.json"
_LOCK = "lock"
_NAME = re.compile(r"(.+)-[0-9a-f]{12}|g[0-9]{6,}")
MADE = {"datasets": "dataset.json", "enrichments": "graph.json", "index": "generation.json"}
"""What a workspace's folders hold is described in a file of this name, which is in each that remix made."""

RUN = "run-"
"""What the name of a graph that holds a run begins with."""
DATA, STATED = "data.nt.zst", "stated.nt.zst"
"""The files of a dataset with what its file says, and with what is stated besides in the same graph of the index."""
GIVEN = "given"
"""The signature of measures that came with the file of a dataset."""
CLASSES = "classes"
"""The name of the graph that says the classes of annotations in other spellings, as queries of others use them."""


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

    @classmethod
    def of(cls, raw: dict[str, Any]) -> DatasetEntry:
        """Return the entry that JSON holds; raises `TypeError` and the like where it holds none."""
        attached = {name: Attached(**held) for name, held in raw.pop("attached").items()}
        return cls(**raw, attached=attached)

    def graphs(self) -> dict[str, tuple[str, int]]:
        """Return the named graphs of the dataset: IRI to the file that holds it and its number of triples."""
        found = {self.iri: (f"{self.folder}/{DATA}", self.triples)}
        if self.enrichment_file:
            found[f"{self.iri}#enrichment"] = (self.enrichment_file, self.enrichment_triples)
        return found | {f"{self.iri}#{name}": (held.file, held.triples) for name, held in self.attached.items()}

    def beside(self, name: str, held: Attached) -> DatasetEntry:
        """Return the entry with a graph beside the data, the enrichment or another, by the fragment of its IRI."""
        if name != "enrichment":
            return replace(self, attached=dict(sorted({**self.attached, name: held}.items())))
        return replace(self, enrichment=held.signature, enrichment_file=held.file, enrichment_triples=held.triples)

    def learnt(self) -> list[str]:
        """Return the names of the graphs beside data and measures that are no runs: what was learnt of runs."""
        return [name for name in self.attached if not name.startswith(RUN) and name != CLASSES]

    def value_files(self, *, enrichment: bool = True) -> list[str]:
        """Return the files of the graphs that hold values on gold annotations: all beside the data but runs.

        Nor is that of other spellings of classes among them, which says again what these say. Without `enrichment` that
        of the measures is left out, and what stays is learnt of runs.
        """
        attached = [self.attached[name].file for name in self.learnt()]
        return [*([self.enrichment_file] if self.enrichment_file and enrichment else []), *attached]


@dataclass(frozen=True)
class State:
    """The datasets of a workspace, the generation of the index that holds them, and the attached kb.

    `generations` is how many there were.
    """

    generation: str | None = None
    generations: int = 0
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
    """Return the state of a workspace; an empty one where there is no folder yet, or nothing in it.

    Raises `StoreError` where the file is gone or damaged, was written by another version, or where the folder is no
    workspace and holds other things.
    """
    file = folder / STATE_FILE
    try:
        raw = json.loads(file.read_bytes())
    except FileNotFoundError:
        _refuse_foreign(folder)
        return State()
    except NotADirectoryError:
        raise StoreError(f"{folder} is a file: name a folder with -w") from None
    except (ValueError, RecursionError) as error:
        raise _report_damage(folder, str(error)) from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from None
    return _parse_state(folder, raw)


def read_generation(place: Path) -> State:
    """Return the state that a generation of the index belongs to; raises `StoreError`."""
    try:
        raw = json.loads((place / MADE["index"]).read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(f"{place} is damaged ({error}): `remix rebuild` makes it again from the datasets") from None
    return _parse_state(place.parent.parent, raw)


def _parse_state(folder: Path, raw: Any) -> State:
    file = folder / STATE_FILE
    try:
        if raw["version"] > _VERSION:
            raise StoreError(f"{file} was written by a later version of remix: upgrade nel-remix")
        if raw["version"] < _VERSION:
            first, *others = sorted(entry["source"] for entry in raw["datasets"].values()) or ["your files"]
            more = f' and {len(others)} other files that it names as "source"' if others else ""
            raise StoreError(
                f"{file} was written by an earlier version: name another workspace with -w, and load {first}{more}"
            )
        if raw.pop("checksum") != _checksum(raw):
            raise _report_damage(folder, "it is not what was written, by its checksum")
        entries = {name: DatasetEntry.of(entry) for name, entry in raw["datasets"].items()}
        return State(raw["generation"], raw["generations"], entries, raw["kb"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _report_damage(folder, f"{type(error).__name__}: {error}") from None


def _report_damage(folder: Path, reason: str) -> StoreError:
    if not _own(folder):
        return _foreign(folder)
    again = f"`remix rebuild -w {folder}` makes it again from the datasets beside it"
    return StoreError(f"{folder / STATE_FILE} is damaged ({reason}): {again}")


def _refuse_foreign(folder: Path) -> None:
    """Raise `StoreError` for a folder without a state that holds anything."""
    try:
        # A command that is killed before it has written a state leaves these.
        found = sorted(
            place.name
            for place in folder.iterdir()
            if place.name != _LOCK and not place.name.startswith(f".{STATE_FILE}.")
        )
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise StoreError(f"{folder} is a file: name a folder with -w") from None
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror}") from None
    if _own(folder):
        again = f"`remix rebuild -w {folder}` makes it again from them"
        raise StoreError(f"{folder / STATE_FILE} is gone, and datasets are beside it: {again}")
    if found:
        raise _foreign(folder)


def _foreign(folder: Path) -> StoreError:
    return StoreError(
        f"{folder} is no workspace of remix and holds other things: name another folder, such as -w {folder / '.remix'}"
    )


def _own(folder: Path) -> bool:
    """Return whether there is anything that remix made and described in a folder."""
    return any(any(folder.glob(f"{kind}/*/{name}")) for kind, name in MADE.items())


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a workspace; raises `StoreError` where it cannot be written."""
    try:
        with write_whole(folder / STATE_FILE) as stream:
            stream.write(dump(state))
    except Error as error:
        raise StoreError(str(error)) from error


def dump(state: State) -> bytes:
    """Return a state as it is written, with its checksum."""
    raw = {
        "version": _VERSION,
        "generation": state.generation,
        "generations": state.generations,
        "datasets": {name: asdict(entry) for name, entry in state.datasets.items()},
        "kb": state.kb,
    }
    return json.dumps({**raw, "checksum": _checksum(raw)}, ensure_ascii=False, indent=1).encode() + b"\n"


def _checksum(raw: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()


@contextmanager
def writing(folder: Path) -> Iterator[State]:
    """Hold the workspace as its only writer within the block; the state found is given.

    A folder that is new or empty becomes a workspace. What earlier commands left and nobody reads any more is removed
    before and after. Raises `StoreError` where another process writes, where the folder cannot be written, or as
    `read_state`.
    """
    read_state(folder)
    with lock_workspace(folder):
        state = read_state(folder)
        if not (folder / STATE_FILE).exists():
            write_state(folder, state)
        clean(folder, state)
        yield state
        clean(folder, read_state(folder))


def claim(folder: Path) -> None:
    """Make a folder a workspace that is new or empty; raises as `writing`."""
    if not (folder / STATE_FILE).exists():
        with writing(folder):
            pass


def open_state(folder: Path) -> tuple[State, Lock | None]:
    """Return the state of a workspace and what keeps its files there as long as anything refers to it.

    Raises as `read_state`.
    """
    while True:
        state = read_state(folder)
        if state.generation is None:
            return state, None
        lock = Lock.on(folder / "index" / state.generation / MADE["index"], shared=True)
        if read_state(folder) == state:  # else it may have been removed before it was locked
            return state, lock
        time.sleep(0.01)


@contextmanager
def lock_workspace(folder: Path) -> Iterator[None]:
    """Hold the lock of the one writer within the block; raises `StoreError`."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock_file(folder / _LOCK))
        except Busy:
            said = f"another process is writing to the workspace {folder}: try again when it is done"
            raise StoreError(said) from None
        except OSError as error:
            said = f"the workspace {folder} cannot be written ({error.strerror}): name another with -w"
            raise StoreError(said) from None
        yield


def clean(folder: Path, state: State) -> None:
    """Remove what remix made in a workspace and neither the state nor a reader of an earlier one has use for.

    That is known by its name and by what remix wrote into it; all else stays.
    """
    states = [state]
    for place in (folder / "index").glob("g*"):
        if place.name == state.generation or not (place / MADE["index"]).is_file():
            continue
        alone = Lock.on(place / MADE["index"])
        if alone is not None:
            with alone:
                discard(place)
            continue
        try:
            states.append(read_generation(place))
        except StoreError:  # whoever reads it may need anything
            return
    named = {Path(file).parent.as_posix() for one in states for file, _ in one.graphs().values()}
    for kind in ("datasets", "enrichments"):
        for place in (folder / kind).glob("*"):
            if f"{kind}/{place.name}" not in named and _NAME.fullmatch(place.name) and (place / MADE[kind]).is_file():
                discard(place)
    for kind in MADE:
        sweep(folder / kind)
