"""Runs that are made now: systems answer on datasets, and what they answer is registered with how it was made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from remix import progress
from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.names import FAILED
from remix.runs.register import Run, load_run, save_run
from remix.systems import SYSTEMS, annotate
from remix.systems.adapters.function import adapter_of, address_of, name_function
from remix.systems.annotated import Annotated, annotate_asked, identify
from remix.systems.asked import ADAPTERS, Adapter, Asking
from remix.systems.asking import Patience
from remix.systems.declared import read_declaration
from remix.systems.kept import AnswerLog
from remix.systems.parameters import Value, describe_parameters, read_parameters
from remix.systems.record import Record, hardware, now, read_record

if TYPE_CHECKING:
    from remix.frames import Frames
    from remix.kb import KnowledgeBase
    from remix.store.targets import Target


Linker: TypeAlias = Callable[..., Any]
"""A function in memory that links: it is given a text and, in D2KB, its spans."""


@dataclass(frozen=True)
class Making:
    """How runs are made: the task and seed, and for systems that are asked where, how often and how long.

    - `name`: what the run is called, by default as the system; `parameters`: those of the system;
    - `answers`: the folder of kept answers, None where none are kept;
    - `retry_failed`: only the documents that failed in the registered run are asked, its answers stay.
    """

    task: str = "A2KB"
    seed: int = 0
    name: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    address: str = ""
    timeout: float = 60.0
    patience: Patience = field(default_factory=Patience)
    answers: Path | None = None
    retry_failed: bool = False


def make_runs(
    targets: Iterable[Target],
    systems: Iterable[str | Linker],
    kb: KnowledgeBase | None,
    folder: Path,
    making: Making,
    *,
    nif_folder: Path | None = None,
) -> list[dict[str, object]]:
    """Return a row per system and dataset: what was answered, registered in the folder and, where asked for, as NIF.

    A system is a name, or a function in memory as `remix.systems.adapters.function` calls it.

    Raises as `remix.systems.annotate` and `remix.systems.annotated.annotate_asked`; a run that was kept before the
    error stays.
    """
    from remix.formats.nif.writing import write_frames

    makers = [_maker_of(name, kb, folder, making) for name in systems]
    names = [maker.name for maker in makers]
    if making.name and len(names) > 1:
        raise UsageError("a name is that of one run: name one --system with --name")
    rows: list[dict[str, object]] = []
    for target in targets:
        for name, maker in zip(names, makers, strict=True):
            own = making.name or name
            made = maker.make(target, own)
            version = kb.version if kb is not None and not isinstance(maker, _Asked) else ""
            run = Run(own, target.name, target.content, making.task, making.seed, version, __version__)
            save_run(folder, run, made.frames, made.record)
            if nif_folder is not None:
                nif_folder.mkdir(parents=True, exist_ok=True)
                write_frames(_without_failures(made.frames), nif_folder / f"{run.folder_name}.ttl")
            rows.append(_row(run, made))
    return rows


def _row(run: Run, made: Annotated) -> dict[str, object]:
    answers, failed = made.frames, made.record.failed
    if failed:
        document, reason = next(iter(failed.items()))
        progress.note(
            f"{run.system} on {run.dataset}: {len(failed)} documents failed and have no answer; {document}: it "
            f"{reason}; --retry-failed asks them again"
        )
    if made.record.told:
        told = ", ".join(f"{kind} ({count})" for kind, count in sorted(made.record.told.items()))
        progress.note(f"{run.system} on {run.dataset}: in its answers were {told}")
    return {
        "system": run.system,
        "dataset": run.dataset,
        "task": run.task,
        "documents": answers.documents.height,
        "answers": answers.annotations.height,
        "linked": answers.links["annotation"].n_unique(),
        "nil": int(answers.annotations["is_nil"].sum()),
        "failed": len(failed),
        "seed": run.seed,
    }


def _without_failures(frames: Frames) -> Frames:
    import polars as pl

    return replace(frames, values=frames.values.filter(pl.col("term") != FAILED))


def check_systems(systems: Iterable[str | Linker]) -> None:
    """Raise `UnknownName` for a system that is neither part of remix, nor asked by an adapter, nor in a file."""
    for name in (one for one in systems if isinstance(one, str)):
        if not name.endswith(".toml") and name not in SYSTEMS and name not in ADAPTERS:
            known = [*SYSTEMS.names(), *ADAPTERS.names()]
            raise UnknownName("system", name, known, "remix list adapters")


def _maker_of(name: str | Linker, kb: KnowledgeBase | None, folder: Path, making: Making) -> _Own | _Asked:
    if not isinstance(name, str):
        return _maker_of_function(name, folder, making)
    check_systems([name])
    if name in SYSTEMS:
        if making.address or making.retry_failed:
            option = "--address" if making.address else "--retry-failed"
            raise UsageError(f"the system '{name}' is part of remix and asked nowhere: it takes no {option}")
        return _Own(name, kb, making)
    adapter = read_declaration(Path(name)) if name.endswith(".toml") else ADAPTERS[name]
    parameters = read_parameters(adapter.parameters, making.parameters, adapter.name, "adapter")
    return _Asked(adapter, Asking(making.address, parameters, making.task, making.seed, making.timeout), folder, making)


def _maker_of_function(linker: Linker, folder: Path, making: Making) -> _Asked:
    if making.address:
        raise UsageError("a function in memory is called, and asked at no address: leave the address out")
    adapter = adapter_of(linker)
    parameters = read_parameters(adapter.parameters, making.parameters, adapter.name, "adapter")
    asking = Asking(address_of(linker), parameters, making.task, making.seed, making.timeout)
    # What it answers hangs on all that it holds, which only its user can name: by a revision.
    kept = making.answers if parameters.revision else None
    return _Asked(adapter, asking, folder, replace(making, answers=kept), name_function(linker))


@dataclass(frozen=True)
class _Own:
    """Makes the runs of a system that is part of remix."""

    name: str
    kb: KnowledgeBase | None
    making: Making

    def make(self, target: Target, _: str) -> Annotated:
        """Return what the system answers to a dataset."""
        begin, making, name = time.perf_counter(), self.making, self.name
        with progress.stage(f"{name} on {target.name}"):
            answers = annotate(
                name, target.frames, self.kb, task=making.task, seed=making.seed, parameters=making.parameters
            )
        chosen: Any = SYSTEMS[name].read_parameters(making.parameters)
        told = {} if chosen is None else describe_parameters(chosen)
        seconds = round(time.perf_counter() - begin, 3)
        return Annotated(
            answers, Record(name, __version__, parameters=told, date=now(), hardware=hardware(), seconds=seconds)
        )


@dataclass(frozen=True)
class _Asked:
    """Makes the runs of a system that is asked text by text."""

    adapter: Adapter
    asking: Asking
    folder: Path
    making: Making
    called: str = ""

    @property
    def name(self) -> str:
        """Return the name of the system."""
        return self.called or self.adapter.name

    def make(self, target: Target, name: str) -> Annotated:
        """Return what the system answers to a dataset."""
        before = self._before(target, name) if self.making.retry_failed else None
        with AnswerLog(self.making.answers, self.adapter.name) as log:
            return annotate_asked(
                self.adapter,
                target.frames,
                self.asking,
                log=log,
                patience=self.making.patience,
                before=before,
                what=f"{name} on {target.name}",
            )

    def _before(self, target: Target, name: str) -> Annotated:
        """Return the registered run whose failed documents are asked again; raises where it is another's."""
        run, frames = load_run(self.folder, name, target.name, self.making.task)
        record = read_record(self.folder / run.folder_name)
        if record is None or record.made_by != identify(self.adapter, self.asking) or run.content != target.content:
            raise UsageError(
                f"the run '{name}' on {target.name} was made otherwise (another system, address or parameter, or other "
                "texts): --retry-failed asks as it was asked then; without it all is asked that has no kept answer"
            )
        return Annotated(_without_failures(frames), record)
