"""The object that users hold: a folder with the store, the knowledge base and the runs.

Every method is one call into a stage; the verbs of the command line are these methods, parameter for parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx
    import polars as pl

    from remix.frames import Frames
    from remix.kb import KnowledgeBase
    from remix.measures import Measured
    from remix.remixes import Remix
    from remix.runs.difficulty import Difficulty
    from remix.scoring.comparison import Comparison
    from remix.scoring.inputs.sources import Answers
    from remix.store import DatasetEntry, Store
    from remix.store.answers import Result
    from remix.store.loading import Outcome
    from remix.store.targets import Target

__all__ = ["Workspace", "open_workspace"]

DEFAULT_FOLDER = Path(".remix")


class Workspace:
    """A workspace: what is loaded, enriched and built in one folder (`.remix` by default)."""

    def __init__(self, folder: Path | str = DEFAULT_FOLDER) -> None:
        self.folder = Path(folder)

    @cached_property
    def store(self) -> Store:
        """Return the store of the workspace; it is made at the first load."""
        from remix.store import Store

        return Store(self.folder)

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the attached knowledge base, None without one."""
        if not self.folder.is_dir():
            return None
        from remix.kb import KnowledgeBase

        return KnowledgeBase.open(folder) if (folder := self.store.kb_folder) else None

    @property
    def runs_folder(self) -> Path:
        """Return the folder that keeps the runs of systems."""
        return self.folder / "runs"

    def ensure_sample(self, names: Iterable[str] = ()) -> bool:
        """Return whether the workspace was new, in which case it holds the sample corpus now.

        `names` are the datasets that are asked for: where they are no part of the sample it is not loaded.
        """
        from remix.sample import ensure_sample

        return ensure_sample(self.store, names)

    def load(
        self, files: Path | str | Iterable[Path | str], *, dry_run: bool = False, **choices: str | bool | None
    ) -> list[Outcome]:
        """Return what became of each file: loaded, unchanged, replaced or refused; see `remix.store.loading`."""
        from remix.store.loading import load

        several = [files] if isinstance(files, Path | str) else files
        return load(self.store, [str(file) for file in several], dry_run=dry_run, **choices)  # type: ignore[arg-type]

    def check(self, files: Iterable[Path | str], *, kb: str | None = None) -> pl.DataFrame:
        """Return what is wrong or odd in files or loaded datasets, one row a kind; see `remix.reports.lint`."""
        from remix.kb import KnowledgeBase, shelf
        from remix.reports.lint import lint

        known = KnowledgeBase.open(shelf.find(self.store.own("kb"), kb)) if kb else None
        return lint(self.store, [str(file) for file in files], kb=known)

    def datasets(self) -> list[DatasetEntry]:
        """Return the datasets that are loaded, sorted by name."""
        return self.store.datasets()

    def drop(self, datasets: Iterable[str]) -> list[DatasetEntry]:
        """Return the datasets that were taken out; raises `UnknownName` before anything is changed."""
        datasets = [*datasets]
        if datasets:
            self.ensure_sample(datasets)
        return self.store.drop(*datasets)

    def add_run(
        self,
        name: str,
        answers: Answers,
        *,
        on: Iterable[str] | str = (),
        task: str = "A2KB",
        replace: bool = False,
    ) -> pl.DataFrame:
        """Return run, dataset, task, status, documents, answers, linked and nil of answers that are registered now.

        The answers are files of any format, frames, or a table with the columns document, begin, end and entity. They
        are kept for each dataset that they are `on`, by default all loaded ones that they have a document of, and every
        method that scores takes them by `name` from then on.
        See `remix.runs.stored.register`.
        """
        from remix.runs.stored import register

        self.ensure_sample()
        datasets = [on] if isinstance(on, str) else [*on]
        return register(self.store, self.kb, self.runs_folder, name, answers, on=datasets, task=task, replace=replace)

    def runs(self) -> pl.DataFrame:
        """Return name, dataset, task, documents, answers, source, … of the runs that are registered, a row each."""
        return self.listing("runs")

    def show_run(self, name: str) -> pl.DataFrame:
        """Return what is known of a run on each dataset; raises `UnknownName` where it is on none."""
        import polars as pl

        from remix.errors import UnknownName

        runs = self.runs()
        if name not in (known := runs["run"].unique().sort().to_list() if len(runs) else []):
            raise UnknownName("run", name, known, "remix run list")
        return runs.filter(pl.col("run") == name)

    def drop_run(self, name: str, *, on: Iterable[str] | str = (), task: str | None = None) -> list[tuple[str, str]]:
        """Return dataset and what was taken out of a run on it; see `remix.runs.stored.drop_run`."""
        from remix.runs.stored import drop_run

        datasets = [on] if isinstance(on, str) else [*on]
        return drop_run(self.store, self.runs_folder, name, on=datasets, task=task)

    def registered_answers(
        self, gold: Sequence[Target], names: Iterable[str] = ()
    ) -> Mapping[str, Mapping[str, Frames]]:
        """Return the answers of registered runs to gold, by task; see `remix.runs.registration.gather`."""
        from remix.runs.registration import gather
        from remix.runs.stored import take_shipped_runs

        take_shipped_runs(self.store, self.kb, self.runs_folder)
        return gather(self.runs_folder, gold, names)

    def query(
        self,
        query: Path | str,
        *,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        rewrite: bool = True,
        allow_services: Iterable[str] = (),
        endpoint: str | None = None,
        timeout: float = 600,
    ) -> Result:
        """Return what a query answers, here or at another endpoint; see `remix.store.answers`."""
        from remix.store.answers import answer
        from remix.store.queries import find

        if endpoint is None:
            self.ensure_sample()
        choices = {"rewrite": rewrite, "allow_services": allow_services, "timeout": timeout, "endpoint": endpoint}
        return answer(self.store, find(query), values=values, set_from=set_from, **choices)  # type: ignore[arg-type]

    def listing(self, kind: str = "datasets") -> pl.DataFrame:
        """Return a row for each thing of a kind: datasets, queries, sets, measures, formats, systems, …."""
        from remix.reports.inventory import listing

        return listing(kind, self.store, self.runs_folder)

    def show(self, name: str) -> str:
        """Return what is known of a dataset, a query, a measure or a profile."""
        from remix.reports.inventory import shown

        return shown(name, self.store)

    def info(self) -> pl.DataFrame:
        """Return what the workspace holds and the versions in use."""
        from remix.reports.inventory import about

        return about(self.store)

    def build(
        self,
        query: Path | str,
        *,
        to: Path | str | None = None,
        force: bool = False,
        name: str | None = None,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        drop: bool = False,
        limit: int | None = None,
        seed: int | None = None,
        fix_variables: bool = False,
        allow_services: Iterable[str] = (),
        explain: bool = False,
        timeout: float = 600,
        **parameters: object,
    ) -> Remix:
        """Return the remix that a query selects, written into a folder where one is named.

        Parameters of the query are given as keywords or in `values`; the rest is as in `remix.remixes.build`.
        """
        from remix.remixes import build
        from remix.store.queries import find

        self.ensure_sample()
        choices = {"set_from": set_from, "name": name, "drop": drop, "limit": limit, "seed": seed}
        running = {"fix_variables": fix_variables, "allow_services": allow_services, "explain": explain}
        running["timeout"] = timeout
        values = {**(values or {}), **parameters}
        made = build(self.store, find(query), kb=self.kb, values=values, **choices, **running)  # type: ignore[arg-type]
        if to is not None:
            made.write(to, force=force)
        return made

    def annotate(
        self,
        names: Iterable[str] = (),
        systems: Iterable[str] = (),
        *,
        task: str = "A2KB",
        seed: int = 0,
        nif_folder: Path | None = None,
    ) -> list[dict[str, object]]:
        """Return a row per system and dataset; the answers are registered, see `remix.runs.registration.make_runs`."""
        from remix.runs.registration import make_runs
        from remix.runs.stored import keep_outcomes
        from remix.store.targets import targets

        names, systems = [*names], [*systems]
        self.ensure_sample(names)
        found, kb, runs = targets(self.store, names), self.kb, self.store.own("runs")
        rows = make_runs(found, systems, kb, runs, task=task, seed=seed, nif_folder=nif_folder)
        if task == "A2KB":
            keep_outcomes(self.store, kb, runs, systems, [target.name for target in found])
        return rows

    def evaluate(self, names: Iterable[str] = (), **choices: Any) -> tuple[pl.DataFrame, Sequence[str]]:
        """Return the scores of runs, and the names of gold's datasets; see `remix.scoring.evaluate`.

        Gold is datasets by name (or remixes by file), or the files of `gold`, for which of the workspace the knowledge
        base alone is looked at.
        The choices are the fields of `remix.scoring.inputs.sources.Sources` and of `remix.scoring.choice.Choice`.
        """
        from remix.scoring.choice import asked_of
        from remix.scoring.evaluation import evaluated

        return evaluated(self, *asked_of(names, choices))

    def store_runs(self, names: Iterable[str], **choices: Any) -> pl.DataFrame:
        """Return what the store holds of each run on these datasets now; see `remix.runs.stored.stored`."""
        from remix.runs.stored import stored, take_shipped_runs

        names = [*names]
        self.ensure_sample(names)
        if not choices.get("runs"):
            take_shipped_runs(self.store, self.kb, self.runs_folder)
        return stored(self.store, self.kb, self.runs_folder, names, **choices)

    def curve(self, names: Iterable[str] = (), *, kind: str, **choices: Any) -> pl.DataFrame:
        """Return the curve of a kind, such as 'alpha'; see `remix.scoring.comparison.curve`."""
        from remix.scoring.choice import asked_of
        from remix.scoring.comparison import curve

        return curve(self, *asked_of(names, choices), kind)

    def compare(self, names: Iterable[str] = (), **choices: Any) -> Comparison:
        """Return systems against each other, with tests; see `remix.scoring.comparison.compared_inputs`."""
        from remix.scoring.choice import asked_of
        from remix.scoring.comparison import TESTS, compared_inputs

        tests = {name: choices.pop(name) for name in TESTS if name in choices}
        return compared_inputs(self, *asked_of(names, choices), **tests)

    def agreement(self, names: Iterable[str] = (), *, gold: Iterable[Path | str] = ()) -> pl.DataFrame:
        """Return how far two gold annotations of the same texts agree; see `remix.scoring.statistics.agreement`."""
        from remix.scoring.comparison import agreement_of
        from remix.scoring.inputs.sources import Sources

        return agreement_of(self, Sources(tuple(names), tuple(gold)))

    def publish(self, dataset: str, *, to: Path | str, licence: str | None = None, force: bool = False) -> list[Path]:
        """Return the files that describe and hold a dataset for others, written into a folder."""
        from remix.publication import publish

        self.ensure_sample([dataset])
        return publish(self.store, dataset, to, licence=licence, force=force)

    def kb_build(
        self, sources: Sequence[tuple[str, str]], *, name: str, datasets: Iterable[str] = (), **choices: Any
    ) -> KnowledgeBase:
        """Return the knowledge base that was built from sources, each a kind and a place, and attach it.

        An endpoint is asked for the surface forms and entities of `datasets`; see `remix.kb.build` for the choices.
        """
        from remix.frames import Frames
        from remix.kb import build
        from remix.store.targets import targets

        asked: dict[str, pl.Series] = {}
        if names := [*datasets]:
            frames = Frames.concat(target.frames for target in targets(self.store, names))
            asked = {"forms": frames.annotations["surface_form"], "entities": frames.links["entity"]}
        choices["cache"] = self.store.own("cache") / "kb"
        made = build(sources, self.store.own("kb"), name=name, **asked, **choices)
        return self.attach_kb(str(made.folder))

    def attach_kb(self, name: str | None = None) -> KnowledgeBase:
        """Return the knowledge base of a name or folder, by default the one that ships with remix; attach it."""
        from remix.kb import KnowledgeBase, shelf

        opened = KnowledgeBase.open(folder := shelf.find(self.store.own("kb"), name or shelf.SHIPPED))
        self.store.attach_kb(folder)
        return opened

    def kb_show(self) -> dict[str, pl.DataFrame]:
        """Return tables on the attached knowledge base: summary, sources, problems, and coverage of the datasets."""
        from remix.kb.description import coverage, problems_of, sources_of
        from remix.measures.enrichment import named_frames

        kb = self._attached()
        tables = {"summary": kb.summary(), "sources": sources_of(kb), "problems": problems_of(kb)}
        if self.datasets():
            tables["coverage"] = coverage(kb, named_frames(self.store))
        return tables

    def kb_lookup(self, name: str, *, limit: int = 20) -> pl.DataFrame:
        """Return the candidates of a surface form, or what the attached knowledge base knows of an entity."""
        from remix.kb import lookup

        return lookup(self._attached(), name, limit=limit)

    def kb_graph(self, of: str = "links", *, document: str | None = None) -> networkx.DiGraph:
        """Return a graph of networkx: 'links', 'classes', or 'candidates' of a document; see `remix.kb.networks`."""
        kb = self._attached()
        return (
            kb.candidate_graph(self.store.frames().annotations, document) if of == "candidates" else kb.to_networkx(of)
        )

    def _attached(self) -> KnowledgeBase:
        from remix.errors import MissingKnowledge

        if self.store.is_new:
            self.ensure_sample()
        if (kb := self.kb) is None:
            raise MissingKnowledge(
                "no knowledge base is attached: `remix kb attach` takes the one that ships with remix"
            )
        return kb

    def enrich(
        self,
        *,
        reference: str = "dataset",
        case_sensitive: bool = False,
        without_sources: Iterable[str] = (),
        with_gold: bool = False,
    ) -> pl.DataFrame:
        """Return what was done with each dataset; see `remix.measures.enrich`."""
        from remix.measures.enrichment import enrich

        how = {"reference": reference, "case_sensitive": case_sensitive, "with_gold": with_gold}
        self.ensure_sample()
        return enrich(self.store, self.kb, without_sources=without_sources, **how)  # type: ignore[arg-type]

    def difficulty(self, **choices: Any) -> Difficulty:
        """Return the difficulty of annotations, learnt from stored runs and kept; see `remix.runs.difficulty`."""
        from remix.runs.difficulty import store_difficulty
        from remix.runs.stored import take_shipped_runs

        self.ensure_sample()
        take_shipped_runs(self.store, self.kb, self.runs_folder)
        return store_difficulty(self.store, self.kb, **choices)

    def stats(self, datasets: str | Iterable[str] = (), **choices: Any) -> Measured:
        """Return the measures of datasets, by default of all, without storing them; see `remix.measures.compute`."""
        from remix.measures import compute
        from remix.measures.enrichment import named_frames

        names = [datasets] if isinstance(datasets, str) else [*datasets]
        self.ensure_sample(names)
        return compute(named_frames(self.store, names or None), self.kb, **choices)


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """Return the workspace of a folder (`.remix` by default), which need not exist yet.

    >>> open_workspace("work/").folder.name
    'work'
    """
    return Workspace(folder or DEFAULT_FOLDER)
