"""Runs of a workspace: answers of systems, made or taken, registered, and what is learnt from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from remix.question import Several, several
from remix.tables import Listed
from remix.workspace.remixes import Remixes

if TYPE_CHECKING:
    import polars as pl

    from remix.frames import Frames
    from remix.runs.difficulty import Difficulty
    from remix.runs.making import Linker
    from remix.scoring.inputs.files import GivenAnswers
    from remix.store.targets import Target
    from remix.workspace.datasets import Dataset


class Runs(Remixes):
    """Datasets and remixes with the answers of systems to them."""

    def _changing(self) -> AbstractContextManager[None]:
        from remix.runs.due import outcomes_due

        return outcomes_due(self.store.own("runs")) if self.runs_folder.exists() else nullcontext()

    def _refresh(self, *, missing: bool = False) -> None:
        """Make the outcomes of registered runs anew where what they are derived from has changed."""
        from remix.runs.due import notes_of

        there = self.runs_folder.exists()
        due = there and (missing or bool(notes_of(self.runs_folder)))
        if due or any(entry.attached for entry in self.datasets()):
            from remix.runs.refreshing import refresh_outcomes

            refresh_outcomes(self.store, self.kb, self.runs_folder, missing=missing)

    def annotate(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        system: Several | Linker = (),
        *,
        task: str = "A2KB",
        seed: int = 0,
        name: str = "",
        parameter: Mapping[str, str | int | float | bool] | None = None,
        candidates: Path | str | None = None,
        address: str = "",
        parallel: int | None = None,
        timeout: float = 60,
        retry_failed: bool = False,
        nif: Path | str | None = None,
        format: Several = (),
    ) -> pl.DataFrame:
        """Return system, dataset, task, documents, answers, linked, nil, failed and seed of what systems answer now.

        Without datasets these are all that are loaded. The answers are registered by the system's name or by `name`,
        those to loaded datasets with their outcomes, and written as NIF into the folder `nif` where one is named.
        `parameter` are those of the system (`remix show SYSTEM`), `candidates` a file or folder of candidates for
        systems that take them. `format` is that of files (`NAME` or `NAME=FILE`).

        A `system` may be a function, too: `annotate("news", link)` calls `link(text)`, or `link(text, spans)` in D2KB,
        which returns mentions as `remix.systems.adapters.function` says. Its answers are asked for again each time,
        unless `parameter={"revision": …}` says of what they are.

        A system that is asked text by text is asked at its `address` alone, `parallel` texts at a time, each answer
        within `timeout` seconds. What was answered is kept, so that a repeated or interrupted call goes on; documents
        that failed have no answer and are counted, and `retry_failed` asks these alone. See `remix.systems.annotate`
        and `remix.systems.annotated.annotate_asked` for the errors.
        """
        import polars as pl

        from remix.formats.settings import check_formats
        from remix.runs.due import outcomes_due
        from remix.runs.making import Making, check_systems, make_runs
        from remix.runs.stored import keep_outcomes
        from remix.store.targets import targets
        from remix.systems.asking import Patience

        systems = (system,) if callable(system) else several(system)
        check_systems(systems)
        with self._place_datasets(datasets) as names:
            self.ensure_sample(names)
            found = targets(self.store, names, check_formats(several(format), names))
        kb, folder, to = self.kb, self.store.own("runs"), Path(nif) if nif is not None else None
        given = {**(parameter or {}), **({} if candidates is None else {"candidates": str(candidates)})}
        making = Making(
            task=task,
            seed=seed,
            name=name,
            parameters=given,
            address=address,
            timeout=timeout,
            patience=Patience(parallel=parallel),
            answers=self.store.own("answers"),
            retry_failed=retry_failed,
        )
        asked = [target.name for target in found]
        with outcomes_due(folder, asked) if task == "A2KB" else nullcontext():
            rows = make_runs(found, systems, kb, folder, making, nif_folder=to)
            if task == "A2KB":
                made = list(dict.fromkeys(str(row["system"]) for row in rows))
                keep_outcomes(self.store, kb, folder, made, asked)
        return pl.DataFrame(rows)

    def add_run(
        self,
        name: str,
        answers: GivenAnswers,
        *,
        on: Dataset | Iterable[Dataset] = (),
        task: str = "A2KB",
        replace: bool = False,
        perfect: bool = False,
        record: Mapping[str, str] | None = None,
        strict: bool = False,
        format: Several = (),
    ) -> pl.DataFrame:
        """Return run, dataset, task, status, documents, answers, linked and nil of answers that are registered now.

        The answers are files of any format, frames, or a table with the columns document, begin, end and entity. They
        are kept for each dataset that they are `on`, by default all loaded ones that they have a document of, and every
        method that scores takes them by `name` from then on. `replace` lets other answers of the name go, `perfect`
        takes answers that equal gold; `format` is that of files (`NAME` or `NAME=FILE`).

        What the run looks like beside each dataset is said before anything is kept (`remix.runs.findings`), and with
        `strict` one that looks wrong is refused. `record` says how it was made: system, version, date, revision (of the
        texts), hardware, seconds, input_tokens, output_tokens, cost; all else are its parameters. See
        `remix.runs.stored.register` for the errors.
        """
        from remix.formats.settings import check_formats
        from remix.runs.stored import register
        from remix.scoring.inputs.files import files_of
        from remix.systems.record import record_of

        self.ensure_sample()
        with self._place_datasets(on) as names:
            formats = check_formats(several(format), [*names, *files_of(answers)])
            return register(
                self.store,
                self.kb,
                self.runs_folder,
                name,
                answers,
                on=names,
                task=task,
                replace=replace,
                perfect=perfect,
                record=record_of(name, record) if record else None,
                strict=strict,
                formats=formats,
            )

    def runs(self) -> pl.DataFrame:
        """Return name, dataset, task, documents, answers, source, … of the runs that are registered, a row each."""
        return self.listing("runs", every=False)

    def show_run(self, name: str) -> pl.DataFrame:
        """Return what is known of a run on each dataset, with its record; raises `UnknownName` where it is on none."""
        import polars as pl

        from remix.errors import UnknownName

        runs = self.listing("runs")
        if name not in (known := runs["run"].unique().sort().to_list() if len(runs) else []):
            raise UnknownName("run", name, known, "remix run list")
        return runs.filter(pl.col("run") == name)

    def drop_run(self, name: str, *, on: Several = (), task: str | None = None) -> Listed[tuple[str, str]]:
        """Return dataset and what was taken out of a run on it; see `remix.runs.stored.drop_run`."""
        from remix.runs.stored import drop_run

        gone = drop_run(self.store, self.runs_folder, name, on=several(on), task=task)
        return Listed(gone, [{"run": name, "dataset": dataset, "dropped": what} for dataset, what in gone])

    def difficulty(
        self,
        *,
        seed: int = 0,
        reference: str = "dataset",
        case_sensitive: bool = False,
        without_source: Several = (),
        with_gold: bool = False,
    ) -> Difficulty:
        """Return the difficulty of annotations, learnt from registered runs and kept as RDF.

        `seed` draws the folds of the cross-validation; the rest is as in `enrich`. See `remix.runs.difficulty`.
        """
        from remix.runs.difficulty import store_difficulty
        from remix.runs.stored import take_shipped_runs

        self.ensure_sample()
        take_shipped_runs(self.store, self.kb, self.runs_folder)
        self._refresh()
        return store_difficulty(
            self.store,
            self.kb,
            seed=seed,
            reference=reference,
            case_sensitive=case_sensitive,
            without_sources=several(without_source),
            with_gold=with_gold,
        )

    def registered_answers(
        self, gold: Sequence[Target], names: Iterable[str] = ()
    ) -> Mapping[str, Mapping[str, Frames]]:
        """Return the answers of registered runs to gold, by task; see `remix.runs.gathering.gather`."""
        from remix.remixes.manifest import origins_of_remixes, tell_lost_origins
        from remix.runs.gathering import gather
        from remix.runs.known import known_runs
        from remix.runs.stored import take_shipped_runs

        take_shipped_runs(self.store, self.kb, self.runs_folder)
        runs = [one.run for one in known_runs(self.store)]
        contents = {entry.name: entry.content for entry in self.store.datasets()}
        origins = origins_of_remixes(self.store)
        return gather(
            self.runs_folder,
            gold,
            names,
            runs=runs,
            origins=origins,
            contents=contents,
            lost_origins=tell_lost_origins(self.store, [target.name for target in gold if target.loaded]),
        )

    def registered_answers_to_each(self, datasets: Collection[str]) -> Mapping[str, Mapping[str, Mapping[str, Frames]]]:
        """Return, by loaded dataset, what `registered_answers` returns of it alone, of those that have a run."""
        from remix.runs.gathering import gather_each
        from remix.runs.known import known_runs
        from remix.runs.stored import take_shipped_runs

        take_shipped_runs(self.store, self.kb, self.runs_folder)
        return gather_each(self.runs_folder, datasets, [one.run for one in known_runs(self.store)])

    def unrevised_runs(self, on: Collection[str]) -> frozenset[tuple[str, str, str]]:
        """Return name, task and dataset of the runs registered on datasets that tell no revision of their texts."""
        from remix.runs.known import known_runs

        return frozenset(
            (one.run.system, one.run.task, one.run.dataset)
            for one in known_runs(self.store)
            if one.run.dataset in on and not one.revision
        )

    def store_runs(
        self,
        datasets: Several,
        *,
        run: Several = (),
        system: Several = (),
        match: str = "strong",
        errors: Several = ("neleval",),
        format: Several = (),
    ) -> pl.DataFrame:
        """Return what the store holds of each run on these datasets now; see `remix.runs.stored.store_outcomes`."""
        from remix.formats.settings import check_formats
        from remix.runs.stored import store_outcomes
        from remix.scoring.inputs.files import run_files

        names, runs = several(datasets), several(run)
        files = [file for found in run_files(runs).values() for file in found]
        formats = check_formats(several(format), [*names, *files])
        self.ensure_sample(names)
        return store_outcomes(
            self.store,
            self.kb,
            names,
            runs=runs,
            systems=several(system),
            matching=match,
            errors=several(errors),
            formats=formats,
        )
