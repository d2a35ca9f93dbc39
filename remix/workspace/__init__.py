"""The object that users hold: a folder with the store, the knowledge base and the runs.

Every verb of the command line is one method, with the options as keyword parameters. The methods stand in the order of
the flow, each class on those before it: `datasets`, `inventory`, `knowledge`, `remixes`, `runs`, `studies`, and here
what is scored and served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from remix.errors import UnknownName, UsageError
from remix.question import Question, Several, several
from remix.workspace.datasets import DEFAULT_FOLDER
from remix.workspace.studies import Studies

if TYPE_CHECKING:
    import polars as pl

    from remix.published.outcomes import Reproduction
    from remix.reports.evaluations import ComparisonReport, EvaluationReport
    from remix.reports.score_cache import ScoreCache, Scored
    from remix.reports.sentences import ErrorsReport
    from remix.runs.judgements import Judgements
    from remix.scoring.inputs.files import GivenAnswers
    from remix.workspace.datasets import Dataset

    RunsGiven: TypeAlias = Several | Mapping[str, GivenAnswers]
    """Names of registered runs and `NAME=FILE` settings, or answers by the name of their run."""


class Workspace(Studies):
    """A workspace: what is loaded, enriched, built, answered and scored in one folder (`.remix` by default).

    >>> Workspace("work")
    Workspace('work')
    """

    def evaluate(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        *,
        gold: Path | str | Iterable[Path | str] = (),
        run: RunsGiven = (),
        system: Several = (),
        profile: str = "remix",
        task: Several = (),
        match: Several = (),
        by: Several = (),
        min_support: int = 0,
        documents: str = "",
        unit: str = "document",
        seed: int = 0,
        entities: Path | str | None = None,
        hierarchy: Path | str | None = None,
        scope: str = "",
        spans: str = "all",
        intervals: bool = False,
        samples: int = 1_000,
        against: str = "",
        errors: Several = (),
        relax: Path | str | None = None,
        seen: str = "",
        link_labels: bool = False,
        weight: str = "",
        fix_offsets: bool = False,
        threshold: str = "",
        plot: Several = (),
        plot_width: str = "screen",
        store: bool = False,
        signature_to: Path | str | None = None,
        reproduce: Path | str | None = None,
        full: bool = False,
        every: bool = True,
        format: Several = (),
    ) -> EvaluationReport:
        """Return the scores of runs: `rows`, a row per system, dataset, task, matching, slice and average, and tables.

        Gold is datasets (loaded, remixes, or files), or the files of `gold`, of which the workspace's measures are not
        looked at. Runs are registered ones by name (`run` or `system`; by default all that answer gold), files
        (`NAME=FILE`), or a mapping of names to files, frames or tables. `remix.question.Question` says what
        each of the others is.

        `format` is that of files (`NAME`, or `NAME=FILE` of one), by default by content; `plot` are files to draw
        (`KIND=FILE`), as wide as a 'column' or the 'page' of a paper, or a 'screen' (`plot_width`). `store` keeps
        outcomes as RDF, `signature_to` writes the record of which `reproduce` runs the evaluation again. Several
        profiles (`a,b` or 'all') stand side by side, with `every` row of theirs or one score each. The tables show the
        task that runs were made for under one matching, unless others are named, or with `full` every task and matching
        with all of its columns; the rows are the same. See `remix.scoring.evaluate` for the columns and the errors.
        """
        from remix.reports.evaluations import evaluation_report, reproduction_report
        from remix.scoring.inputs.sources import check_formats_of, given_runs

        plots, record = several(plot), Path(signature_to) if signature_to is not None else None
        if reproduce is not None:
            return reproduction_report(
                self, Path(reproduce), full=full, record=record, plots=plots, plot_width=plot_width
            )
        runs, answers = given_runs(run)
        with self._place_datasets(datasets) as names:
            question = Question(
                datasets=tuple(names),
                gold=several(gold),
                run=runs,
                answers=answers,
                format=several(format),
                system=several(system),
                profile=profile,
                task=several(task),
                match=several(match),
                by=several(by),
                min_support=min_support,
                documents=documents,
                unit=unit,
                seed=seed,
                entities=entities,
                hierarchy=hierarchy,
                scope=scope,
                spans=spans,
                intervals=intervals,
                samples=samples,
                against=against,
                errors=several(errors),
                relax=relax,
                seen=seen,
                link_labels=link_labels,
                weight=weight,
                fix_offsets=fix_offsets,
                threshold=threshold,
            )
            check_formats_of(question, threshold.partition(":")[2])
            return evaluation_report(
                self,
                question,
                every=every,
                full=full,
                store=store,
                record=record,
                plots=plots,
                plot_width=plot_width,
            )

    def reproduce(
        self,
        results: Several,
        *,
        data: Path | str | None = None,
        accept_licence: bool | Callable[[str], bool] = False,
        mirror: Path | str | None = None,
        kb: Path | str | None = None,
    ) -> Reproduction:
        """Return what comes out of published results ('all' for each that is known), held against every published cell.

        Their files are found in the folder `data`; without it they are fetched into the cache by their addresses, from
        a `mirror` where one is given, once their licences are accepted. See `remix.published.outcomes` for what is
        told of a cell; raises `UnknownName`, and `UsageError` for a licence that is not accepted.

        No knowledge base changes a figure. One that is named (`kb`, as `attach_kb` takes it) says of cells that differ
        whether its redirects and sameAs make the difference, and between which entities.
        """
        from remix.kb import open_kb
        from remix.published.catalogue import results_named
        from remix.published.outcomes import reproduce
        from remix.published.shelves import shelf_of_cache, shelf_of_folder

        chosen = results_named(several(results))
        if data is not None:
            found = shelf_of_folder(Path(data))
            shelves = {one.name: found for one in chosen}
        else:
            shelves = {one.name: shelf_of_cache(one, accept_licence=accept_licence, mirror=mirror) for one in chosen}
        with TemporaryDirectory() as place:  # what a workspace holds, its knowledge base above all, changes no figure
            joining = open_kb(self.store.own("kb"), str(kb)) if kb is not None else None
            return reproduce(chosen, shelves, Workspace(Path(place) / "none"), joining)

    def compare(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        *,
        gold: Path | str | Iterable[Path | str] = (),
        run: RunsGiven = (),
        system: Several = (),
        profile: str = "remix",
        task: Several = (),
        match: Several = (),
        by: Several = (),
        min_support: int = 0,
        documents: str = "",
        unit: str = "document",
        seed: int = 0,
        entities: Path | str | None = None,
        hierarchy: Path | str | None = None,
        unfiltered: str = "",
        score: str = "f1",
        average: str = "micro",
        samples: int = 10_000,
        agreement: bool = False,
        format: Several = (),
    ) -> ComparisonReport:
        """Return systems against each other, with tests; or, with `agreement`, two annotations of the same texts.

        Gold and runs are as in `evaluate`. `unfiltered` is the dataset or slice that the others are correlated with, by
        default the first; tested are differences in `score` by `average`, with so many `samples`. See
        `remix.scoring.comparison` for the columns and the errors.
        """
        from remix.reports.evaluations import comparison_report
        from remix.scoring.inputs.sources import check_formats_of, given_runs

        if agreement:
            return self.agreement(datasets, gold=gold, format=format)
        runs, answers = given_runs(run)
        with self._place_datasets(datasets) as names:
            question = Question(
                datasets=tuple(names),
                gold=several(gold),
                run=runs,
                answers=answers,
                format=several(format),
                system=several(system),
                profile=profile,
                task=several(task),
                match=several(match),
                by=several(by),
                min_support=min_support,
                documents=documents,
                unit=unit,
                seed=seed,
                entities=entities,
                hierarchy=hierarchy,
            )
            check_formats_of(question)
            return comparison_report(
                self, question, unfiltered=unfiltered, score=score, average=average, samples=samples
            )

    def agreement(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        *,
        gold: Path | str | Iterable[Path | str] = (),
        format: Several = (),
    ) -> ComparisonReport:
        """Return how far two annotations of the same texts agree, of two datasets or files; see `compare`."""
        from remix.reports.evaluations import agreement_report
        from remix.scoring.inputs.sources import check_formats_of

        with self._place_datasets(datasets) as names:
            question = Question[str](datasets=tuple(names), gold=several(gold), format=several(format))
            check_formats_of(question)
            return agreement_report(self, question)

    def curve(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        *,
        kind: str,
        gold: Path | str | Iterable[Path | str] = (),
        run: RunsGiven = (),
        system: Several = (),
        profile: str = "remix",
        task: Several = (),
        match: Several = (),
        entities: Path | str | None = None,
        hierarchy: Path | str | None = None,
    ) -> pl.DataFrame:
        """Return the points of a curve that `evaluate` draws: of the kind alpha, progression, threshold, calibration.

        Gold and runs are as in `evaluate`; raises `UnknownName` for another kind.
        """
        from remix.scoring.choice import choose
        from remix.scoring.comparison import curve
        from remix.scoring.inputs.sources import given_runs

        runs, answers = given_runs(run)
        with self._place_datasets(datasets) as names:
            question = Question(
                datasets=tuple(names),
                gold=several(gold),
                run=runs,
                answers=answers,
                system=several(system),
                profile=profile,
                task=several(task),
                match=several(match),
                entities=entities,
                hierarchy=hierarchy,
            )
            return curve(self, choose(question, headline=True), kind)

    def judgements(
        self, datasets: Path | str | Iterable[Path | str], *, system: Several = (), match: str = "strong", by: str = ""
    ) -> Judgements:
        """Return what registered runs, by default all, made of each mention of datasets, for people to read.

        `by` is a column whose value each mention has as `slice`. See `remix.runs.judgements` for the frames.
        """
        from remix.runs.judgements import judge_mentions

        names = tuple(map(str, several(datasets)))
        return judge_mentions(self, names, systems=several(system), match=match, by=by)

    def errors(
        self,
        run: str,
        *,
        on: Path | str | Iterable[Path | str] = (),
        beside: str = "",
        match: str = "strong",
        by: str = "",
        slice: str = "",
        show: str = "errors",
        error_class: str = "",
        type: str = "",
        agreement: str = "",
        limit: int | None = None,
    ) -> ErrorsReport:
        """Return the sentences behind a score: what a registered run made of mentions, gold and answer side by side.

        `on` are datasets or files of gold, of which what they share counts once, and which may be left out where the
        run is on one alone; `beside` is a second run. Shown are `errors`, what is correct, wrong, missed or ignored, or
        all; of one class of errors (`error_class`), a coarse `type`, a `slice` of the column `by`, or by whether both
        runs are right (`agreement`). At most `limit` are given. See `remix.reports.sentences.errors_report` for the
        errors.
        """
        from remix.reports.sentences import Chosen, errors_report
        from remix.runs.known import compared_systems, inherited_runs, known_runs
        from remix.runs.register import list_runs
        from remix.runs.stored import take_shipped_runs

        chosen = Chosen(show, error_class, type, slice, agreement=agreement)
        names = tuple(map(str, several(on)))
        self.ensure_sample(names)
        take_shipped_runs(self.store, self.kb, self.runs_folder)
        runs = list_runs(self.runs_folder)
        names = names or (_only_dataset(run, [one.dataset for one in runs if one.system == run]),)
        systems = list(dict.fromkeys(filter(None, (run, beside))))
        compared = list[str]()
        if len(names) > 1:
            known_here = [*known_runs(self.store), *inherited_runs(self.store, names)]
            compared = compared_systems(known_here, names, systems)
        judged = self.judgements(names, system=compared, match=match, by=by)
        if (unknown := next((name for name in systems if name not in judged.systems["system"]), None)) is not None:
            known = judged.systems["system"].unique().sort()
            raise UnknownName(f"run on {', '.join(names)}", unknown, known, "remix run list")
        return errors_report(judged, names, systems, chosen, limit=limit, runs=runs)

    @cached_property
    def _scores(self) -> ScoreCache:
        from remix.reports.score_cache import ScoreCache

        return ScoreCache(self)

    def scores(
        self,
        datasets: Iterable[Several],
        *,
        profile: str = "remix",
        task: Several,
        match: Several,
        by: Several = (),
        run: Several = (),
    ) -> Scored:
        """Return the scores of registered runs on each dataset (or on several together), with intervals and tests.

        Without a `run` these are all. They are computed once for each state of the workspace and kept in its cache;
        `task` and `match` are one each. What `serve` has not computed yet is missing, and is computed meanwhile.
        """
        told: dict[str, Any] = {"task": several(task), "match": several(match), "by": several(by), "run": several(run)}
        return self._scores.ask([Question(datasets=several(one), profile=profile, **told) for one in datasets])

    def report(
        self,
        datasets: Several = (),
        *,
        run: Several = (),
        by: Several = (),
        study: Several = (),
        to: Path | str,
    ) -> Path:
        """Return the file of HTML that was written: measures, scores and errors of datasets, by default of all loaded.

        `run` are the registered runs that are shown, by default all; `by` are columns whose slices have scores and
        errors of their own. `study` are folders that studies were written into, whose exhibits come last. Raises
        `UnknownName` for a run or column that there is not, `UsageError` for a folder that is no study's.
        """
        from remix.studies.output import sections_of_study
        from remix.web.report import write_report

        names = several(datasets)
        further = [sections_of_study(Path(one), f"study-{nth}") for nth, one in enumerate(several(study), 1)]
        self.ensure_sample(names)
        return write_report(self, names, several(run), Path(to), several(by), further)

    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8890,
        timeout: float = 60,
        memory: float = 4,
        concurrent: int = 4,
        largest: int = 256,
        allow_service: Several = (),
        allow_origin: Several = (),
        system: Several = (),
    ) -> None:
        """Serve the workspace over the SPARQL 1.1 Protocol and as pages, read-only, until interrupted.

        A query has `timeout` seconds, `memory` GiB and a result of `largest` MB; so many run at a time (`concurrent`).
        Pages of the origins `allow_origin` may read answers. Each `system` is offered as a NIF web service, at
        `/annotate/NAME`; raises `UnknownName` and `MissingKnowledge` as `remix.systems.annotate`, and `Error` where the
        address cannot be listened on, which is tried before anything else.
        """
        from remix.reports.score_queue import ScoreQueue
        from remix.web.listening import listen

        with listen(host, port) as listening, closing(ScoreQueue()) as queue:  # also where it is not served
            if begun_ahead := any(self.runs_folder.glob("[!.]*/run.json")):
                queue.begin_ahead()  # they import, on another processor, while what follows is imported here
            self.ensure_sample()
            from remix.reports.score_cache import ScoreCache

            self._scores = scores = ScoreCache(self, waits=False, queue=queue)
            from remix.store.running import GIBIBYTE
            from remix.web.annotator import annotators
            from remix.web.explorer import routes
            from remix.web.preparation import prepare_pages
            from remix.web.protocol import Limits
            from remix.web.rendering import prepare
            from remix.web.server import serve

            open_to = several(allow_service), several(allow_origin)
            limits = Limits(timeout, int(memory * GIBIBYTE), largest * 1_000_000, concurrent, *open_to)
            preparation = prepare_pages(self, busy=queue.is_waited_for)

            def begin() -> None:
                """Have at hand what the first page needs, and the points of systems when none is made."""
                prepare()
                if begun_ahead:
                    preparation.take_in_pause(scores.ask_ahead)

            @contextmanager
            def page() -> Iterator[None]:
                """Have the processors for a page alone."""
                with preparation.page(), queue.hold_ahead():
                    yield

            serve(
                self.store,
                listening,
                host=host,
                limits=limits,
                pages=routes(self, page),
                annotators=annotators(several(system), self.kb, concurrent),
                begun=begin,
                over=queue.close,
            )


def _only_dataset(run: str, datasets: list[str]) -> str:
    """Return the one dataset that a run is on; raises `UsageError` where it is on several, or on none."""
    names = sorted({*datasets})
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"no run named '{run}' is registered: `remix run list` lists those that are")
    raise UsageError(f"run '{run}' is on {', '.join(names)}: --on NAME says on which its errors are shown")


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """Return the workspace of a folder (`.remix` by default), which need not exist yet.

    >>> open_workspace("work/").folder.name
    'work'
    """
    return Workspace(folder or DEFAULT_FOLDER)
