"""Datasets of a workspace: loaded, checked, shown, written in other formats, and asked in SPARQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from remix.question import Several, several
from remix.tables import Listed

if TYPE_CHECKING:
    import polars as pl

    from remix.fetching import Fetched
    from remix.formats.conversion import Conversion
    from remix.frames import Frames
    from remix.kb import KnowledgeBase
    from remix.remixes import Remix
    from remix.store import DatasetEntry, Store
    from remix.store.loading import Outcome

    Dataset: TypeAlias = Path | str | Remix
    """A dataset as users have it: loaded, by its name; a file or a folder of frames, by its path; a remix."""

DEFAULT_FOLDER = Path(".remix")


class Datasets:
    """A folder with a store of datasets, which is made at the first load."""

    def __init__(self, folder: Path | str = DEFAULT_FOLDER) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.folder}')"

    @cached_property
    def store(self) -> Store:
        """Return the store of the workspace; it is made at the first load."""
        from remix.store import Store

        return Store(self.folder)

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the attached knowledge base, None without one."""
        if not self.folder.is_dir():  # where there is no workspace yet, nothing is imported that could open one
            return None
        from remix.kb import attached_kb

        return attached_kb(self.store)

    @property
    def runs_folder(self) -> Path:
        """Return the folder that keeps the runs of systems; raises `StoreError` for a folder that is no workspace."""
        self.store.datasets()
        return self.folder / "runs"

    def ensure_sample(self, names: Iterable[str] = ()) -> bool:
        """Return whether the workspace was new, in which case it holds the sample corpus now.

        `names` are the datasets that are asked for: where they are no part of the sample it is not loaded.
        """
        from remix.sample import ensure_sample

        return ensure_sample(self.store, names)

    def datasets(self) -> list[DatasetEntry]:
        """Return the datasets that are loaded, sorted by name."""
        return self.store.datasets()

    def frames(self, dataset: str | None = None) -> Frames:
        """Return the frames of one dataset or of all, called by their names, read once for each state of the workspace.

        Raises `UnknownName` for a dataset that is not loaded, `StoreError` where none is.
        """
        from remix.measures.enrichment import frames_of

        return frames_of(self.store, dataset)

    def fetch(
        self,
        datasets: Several,
        *,
        accept_licence: bool | Callable[[str], bool] = False,
        mirror: Path | str | None = None,
    ) -> Listed[Fetched]:
        """Return what became of datasets of the catalogue, or splits of them, that are fetched into the cache.

        The cache serves all workspaces; `load` and whatever takes a dataset finds them there. `accept_licence` says
        that the licences are accepted, or is a function that shows one and says so; `mirror` is a folder or an address
        that has the files. See `remix.fetching.fetch` for the errors.
        """
        from remix.fetching import fetch

        found = fetch(several(datasets), accept_licence=accept_licence, mirror=mirror)
        return Listed(found, [one.row() for one in found])

    def load(
        self,
        datasets: Dataset | Iterable[Dataset],
        *,
        dry_run: bool = False,
        strict: bool = False,
        name: str | None = None,
        format: str | None = None,
        base_iri: str = "urn:remix:dataset:",
        replace: bool = False,
        sample: int | None = None,
        seed: int = 0,
    ) -> Listed[Outcome]:
        """Return what became of each dataset: loaded, unchanged, replaced, read (`dry_run`) or refused.

        A dataset is a file of any format, the name or URL of a catalogue entry, or a remix. `strict` refuses what would
        be repaired, `name` calls one dataset, `format` says how it is read, `base_iri` begins the IRI of datasets, and
        `replace` lets a dataset of that name go. Of a folder of frames `sample` documents are loaded, drawn by `seed`.
        See `remix.store.loading.load` for the errors.
        """
        from remix.errors import UsageError
        from remix.store.loading import load, load_sample

        with self._place_datasets(datasets) as files, nullcontext() if dry_run else self._changing():
            if sample is None:
                found = load(
                    self.store,
                    files,
                    dry_run=dry_run,
                    name=name,
                    base_iri=base_iri,
                    format=format,
                    strict=strict,
                    replace=replace,
                )
            elif len(files) == 1:
                found = load_sample(self.store, Path(files[0]), sample, seed, name=name, replace=replace)
            else:
                raise UsageError("a sample is drawn of one folder of frames: `remix load DIR --sample N`")
            self._refresh(missing=not dry_run)
        return Listed(found, [outcome.row() for outcome in found])

    def _changing(self) -> AbstractContextManager[None]:
        """Keep a note that what is derived of datasets is to be made anew, in case this ends before it is."""
        return nullcontext()

    def _refresh(self, *, missing: bool = False) -> None:
        """Make anew what is kept and derived of what has changed: nothing yet, what has runs says what."""

    def stream(
        self,
        files: Path | str | Iterable[Path | str],
        to: Path | str,
        *,
        name: str | None = None,
        base_iri: str = "urn:remix:dataset:",
        strict: bool = False,
        replace: bool = False,
    ) -> Listed[Outcome]:
        """Return what became of files of NIF that were streamed into the folder of frames `to`, without the store.

        This is for files that are larger than memory; see `remix.formats.nif.streaming.stream`.
        """
        from remix.formats.nif.streaming import stream
        from remix.store.loading import Outcome

        done = stream(several(files), to, name=name, base_iri=base_iri, strict=strict, replace=replace)
        return Listed([outcome := Outcome(done.folder.name, "streamed", done.report)], [outcome.row()])

    def check(
        self,
        datasets: Dataset | Iterable[Dataset],
        *,
        kb: str | None = None,
        rule: Several = (),
        each: bool = False,
        shared: bool = False,
        fix: Path | str | None = None,
        overlay: Path | str | None = None,
        shacl: bool = False,
        sarif: Path | str | None = None,
        format: str | None = None,
    ) -> pl.DataFrame:
        """Return what is wrong or odd in datasets, one row a rule, or `each` finding.

        `kb` must know each linked entity; `rule` names the rules, `format` the files' format; `sarif` takes the
        findings as a SARIF log; `shacl` holds NIF against its shapes. `shared` returns what each pair of datasets has
        in common instead (see `remix.checks.findings.share`). `fix` takes the one dataset corrected, by the rules that
        mend or by another edition of it, the `overlay`; then what was changed is returned (see
        `remix.checks.correction.CHANGES`). Raises `UnknownName` for a rule that does not exist.
        """
        from remix.checks.correction import write_corrected
        from remix.checks.findings import check, read_checked, share, to_sarif
        from remix.errors import UsageError
        from remix.files import write_whole
        from remix.kb import open_kb

        known = open_kb(self.store.own("kb"), kb) if kb else None
        with self._place_datasets(datasets) as files:
            read = read_checked(self.store, files, format=format)
        rules = several(rule)
        if overlay is not None and fix is None:
            raise UsageError("an overlay corrects a dataset: say with --fix which file takes the corrected one")
        if fix is not None:
            edition = read_checked(self.store, [str(overlay)]) if overlay is not None else []
            return write_corrected(read, Path(fix), kb=known, rules=rules, edition=edition)
        if shared and len(read) < 2:
            raise UsageError("what datasets have in common is of two or more: name another beside it")
        if shared:
            return share(read)
        if sarif is not None:
            with write_whole(Path(sarif)) as stream:
                stream.write(to_sarif(check(read, kb=known, rules=rules, each=True, shacl=shacl)).encode())
        return check(read, kb=known, rules=rules, each=each, shacl=shacl)

    def drop(self, datasets: Several) -> Listed[DatasetEntry]:
        """Return the datasets that were taken out; raises `UnknownName` before anything is changed."""
        if names := several(datasets):
            self.ensure_sample(names)
        gone = self.store.drop(*names)
        return Listed(gone, [{"dataset": e.name, "documents": e.documents, "triples": e.triples} for e in gone])

    def rebuild(self) -> pl.DataFrame:
        """Return what was kept and what is damaged after the state and the index were made again from the files."""
        from remix.store.rebuilding import rebuild

        return rebuild(self.folder)

    def convert(
        self,
        dataset: Dataset,
        target: Path | str,
        *,
        to: str | None = None,
        format: str | None = None,
        text: Path | str | None = None,
        name: str | None = None,
    ) -> Conversion:
        """Return what was mended and lost in writing a dataset into the file `target` in another format.

        `to` is the format to write, by default that of the target's suffix; `format` is that of a file that is read;
        `text` is a file with the texts that it lacks. See `remix.formats.conversion.convert` for the errors.
        """
        from remix.catalog import local_file
        from remix.formats.conversion import convert
        from remix.store.targets import is_stored, write_out

        texts = None if text is None else Path(text)
        with self._place_datasets(dataset) as [source], TemporaryDirectory(prefix="remix-") as place:
            self.ensure_sample([source])
            if is_stored(self.store, source):
                source, format = str(write_out(self.store, source, Path(place))), None
            source, known = local_file(source)
            if known is not None:
                format, name = format or known.format or None, name or known.loaded_name
            return convert(source, Path(target), to=to, format=format, name=name, texts=texts)

    def publish(
        self,
        dataset: Dataset,
        *,
        to: Path | str,
        run: str | None = None,
        licence: str | None = None,
        url: str | None = None,
        creator: Several = (),
        description: str = "",
        syntax: str = "ttl",
        gzip: bool = False,
        force: bool = False,
        format: str | None = None,
    ) -> Listed[Path]:
        """Return the files, written into the folder `to`, that hold a dataset or the answers of a `run`, for others.

        `licence` is an IRI, `url` where the folder will be, `creator` and `description` say who made it and what it is,
        `syntax` (ttl, nt, jsonld) and `gzip` how it is written; `force` overwrites files that remix has not written.
        `format` is that of a file. See `remix.publication.publish`.
        """
        from remix import progress
        from remix.measures.enrichment import measured_otherwise
        from remix.publication import publish
        from remix.runs.register import write_answers
        from remix.store import Store
        from remix.store.targets import is_stored, write_out

        with self._place_datasets(dataset) as [name], TemporaryDirectory(prefix="remix-") as place:
            self.ensure_sample([name])
            store = self.store
            if run is not None or (name not in store.state.datasets and Path(name).exists()):
                # What is described is what a store holds of it: one of its own, which goes afterwards.
                store, file = Store(Path(place) / "store"), Path(name)
                if run is not None:
                    file, format = write_answers(self.store, self.store.own("runs"), run, name, Path(place)), None
                elif is_stored(self.store, name):
                    file, format = write_out(self.store, name, Path(place)), None
                name = store.load(file, format=format).name
            elif name in measured_otherwise(store, self.kb):
                progress.note(
                    f"the measures of {name} that are published were computed by another knowledge base than the "
                    "attached one: `remix enrich` makes them anew"
                )
            files = publish(
                store,
                name,
                to,
                licence=licence,
                url=url,
                creator=several(creator),
                description=description,
                syntax=syntax,
                gzip=gzip,
                force=force,
            )
        return Listed(files, [{"file": str(file)} for file in files])

    @contextmanager
    def _place_datasets(self, datasets: Dataset | Iterable[Dataset]) -> Iterator[list[str]]:
        """Hold datasets by their names and paths; remixes are in files that go afterwards."""
        with TemporaryDirectory(prefix="remix-") as place:
            names = []
            for number, dataset in enumerate(several(datasets)):
                if not isinstance(dataset, str | Path):
                    (folder := Path(place) / str(number)).mkdir()
                    dataset = dataset.write(folder)[0]
                names.append(str(dataset))
            yield names
