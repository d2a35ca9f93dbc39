"""Measures and remixes of a workspace: datasets enriched, measured side by side, carved and cut into parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from remix.question import Several, several
from remix.workspace.knowledge import KnowledgeBases

if TYPE_CHECKING:
    import polars as pl

    from remix.measures import Measured
    from remix.measures.measurement import Comparing
    from remix.remixes import Remix
    from remix.remixes.filters import EntityFilter
    from remix.reports.statistics import Statistics
    from remix.store import Store
    from remix.store.mirror import Mirror
    from remix.store.queries import Query
    from remix.workspace.datasets import Dataset


def _comparing(reference: str, case_sensitive: bool, without_source: Several, with_gold: bool) -> Comparing:
    return {
        "reference": reference,
        "case_sensitive": case_sensitive,
        "without_sources": several(without_source),
        "with_gold": with_gold,
    }


class Remixes(KnowledgeBases):
    """Datasets with their measures, and what is carved out of them."""

    def enrich(
        self,
        folder: Path | str | None = None,
        *,
        reference: str = "dataset",
        case_sensitive: bool = False,
        without_source: Several = (),
        with_gold: bool = False,
    ) -> pl.DataFrame:
        """Return what was done with each dataset, whose measures are kept now as RDF, or as Parquet in a `folder`.

        See `remix.measures.compute` for what the values are by; a folder is one of frames, which is enriched alone.
        """
        from remix.frames_folder import FramesFolder
        from remix.measures.enrichment import enrich, enrich_folder

        how = _comparing(reference, case_sensitive, without_source, with_gold)
        if folder is not None:
            return enrich_folder(FramesFolder.open(folder), self.kb, **how)
        self.ensure_sample()
        return enrich(self.store, self.kb, **how)

    def stats(
        self,
        datasets: Dataset | Iterable[Dataset] = (),
        *,
        level: str = "dataset",
        average: str = "micro",
        measure: Several = (),
        profile: str = "remix",
        reference: str = "dataset",
        case_sensitive: bool = False,
        without_source: Several = (),
        with_gold: bool = False,
        engine: str = "polars",
        plot: Path | str | None = None,
        plot_width: str = "screen",
        format: Several = (),
        endpoint: str | None = None,
    ) -> Statistics:
        """Return the measures of datasets, by default of all that are loaded, without storing them.

        `level` is what a row of the result's `table` is about: 'dataset', 'document' or 'annotation'; `average` is that
        of datasets, or 'all'; `measure` names those to compute, `plot` a file to draw them into, as wide as a 'column'
        or the 'page' of a paper, or a 'screen' (`plot_width`), `format` that of files (`NAME` or `NAME=FILE`). A folder
        of frames alone is measured part by part, by the `engine` 'polars' or 'spark'. Datasets at an `endpoint` are
        read there. See `remix.measures.compute` for the rest.
        """
        from remix.errors import Error, UsageError
        from remix.formats.settings import check_formats
        from remix.frames_folder import FramesFolder, is_frames_folder
        from remix.measures import compute, compute_folder
        from remix.reports import statistics
        from remix.reports.plots import save
        from remix.store.targets import named_targets

        how = _comparing(reference, case_sensitive, without_source, with_gold)
        measures = several(measure) or None
        formats = several(format)
        sizes = None
        with self._place_datasets(datasets) as names, self._store_of(endpoint, names) as (store, _):
            if endpoint is None and len(names) == 1 and is_frames_folder(names[0]):
                if level != "dataset" or profile != "remix":
                    said = "of frames stats shows datasets; `remix enrich DIR` writes the values of annotations"
                    raise UsageError(said)
                folder = FramesFolder.open(names[0])
                measured = compute_folder(folder, self.kb, engine=engine, measures=measures, **how)
            elif engine == "spark":
                raise UsageError("Spark measures one folder of frames: `remix load --to frames DIR FILE` writes it")
            else:
                if endpoint is None:
                    self.ensure_sample(names)
                frames = named_targets(store, names, check_formats(formats, names))
                sizes = None if measures else statistics.sizes_of_datasets(frames)
                measured = compute(frames, self.kb, measures=measures, profile=profile, **how)
        found = statistics.Statistics(measured, level, average, sizes)
        if plot is None:
            return found
        try:
            save(found.figure, Path(plot), plot_width)
        except Error as error:  # what is measured is shown, whatever cannot be drawn
            return replace(found, undrawn=error)
        return found

    def measures(self) -> Measured:
        """Return the measures of all loaded datasets, read or computed once for each state of the workspace.

        They are those of `stats` without options, whatever `enrich` stored. Raises `StoreError` for a workspace without
        datasets.
        """
        from remix.measures.enrichment import measures_of

        return measures_of(self.store)

    def build(
        self,
        query: Query | EntityFilter | Path | str = "",
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
        allow_service: Several = (),
        service: Several = (),
        explain: bool = False,
        timeout: float = 600,
        dataset: Several = (),
        edition: Several = (),
        endpoint: str | None = None,
        balance: Several = (),
        balance_over: str = "marginals",
        balance_share: Mapping[str, object] | None = None,
        balance_tolerance: int = 0,
        without: Several = (),
        **parameters: object,
    ) -> Remix:
        """Return the remix that a query selects, written into the folder `to` where one is named.

        A filter stands for the query of what it keeps: one that `open_filters` returns, or `FILE.properties#NAME`, with
        `allow_service` and `service` as there.

        Parameters of the query are given as keywords or in `values`; `set_from` names a set of them. `force` overwrites
        files that remix has not written. `dataset` names those that the query sees, by default all; `edition` those
        whose edition of a text is kept where several have it, or 'all'. With an `endpoint` they are its own, and it
        runs the query. Columns to `balance` leave of what it selects, or of everything, the largest part that is
        even in each of them or (`balance_over` 'cells') in all combinations, drawn by the seed: see
        `remix.remixes.balance.Balance` for this, for shares and tolerance, and `parts` of what is returned for what was
        left out. The query sees nothing of the runs of systems that it is `without`, and what is learnt from runs is
        learnt from the others. See `remix.remixes.build` for the rest.

        >>> remix = open_workspace("work").build("persons_hard.rq", min_confusion=5)  # doctest: +SKIP
        """
        from remix.errors import UsageError
        from remix.remixes import build, is_folder_of

        if to is not None:
            is_folder_of(Path(to))  # refused before the query runs
        names, even = several(dataset), None
        if several(balance):
            from remix.remixes.balance import EVERYTHING, Balance

            even = Balance.of(
                several(balance), over=balance_over, shares=balance_share, tolerance=balance_tolerance, seed=seed
            )
            query = query or EVERYTHING
        elif balance_share or balance_tolerance or balance_over != "marginals":
            raise UsageError("nothing is balanced: name the columns with --balance")
        if not query:
            raise UsageError("no query is named: `remix list queries` shows those that ship")
        if endpoint is None:
            self.ensure_sample()
            self._refresh()
        hidden = several(without)
        with ExitStack() as stack:
            held, mirror = stack.enter_context(self._store_of(endpoint, names, timeout))
            asked = self._find_query(query, held, names, service=service, allow_service=allow_service, timeout=timeout)
            store = stack.enter_context(self._without(hidden, held, asked))
            made = build(
                store,
                asked,
                kb=self.kb,
                values={**(values or {}), **parameters},
                set_from=set_from,
                name=name,
                drop=drop,
                limit=limit,
                seed=seed if limit is not None or even is None else None,
                fix_variables=fix_variables,
                allow_services=several(allow_service),
                explain=explain,
                timeout=timeout,
                dataset=names,
                edition=several(edition),
                endpoint=mirror,
                withheld=hidden,
                narrow=None if even is None else even.narrow(store),
            )
        if to is not None:
            made.write(to, force=force)
        return made

    def build_again(
        self,
        manifest: Path | str,
        *,
        to: Path | str | None = None,
        force: bool = False,
        allow_service: Several = (),
        timeout: float = 600,
    ) -> Remix:
        """Return the remix that a manifest tells of, built from that alone, with what differs told in its `notes`.

        The manifest is `NAME.manifest.ttl`, of whomever: of the same datasets, by their hashes, the same bytes come
        out. An endpoint is asked that is allowed by `allow_service`. `to`, `force` and `timeout` are those of `build`,
        as are the errors; raises `BadInput` for what is no manifest, `UsageError` for datasets that are not loaded.
        """
        from dataclasses import replace

        from remix.rdf.turtle import turtle
        from remix.remixes.recipe import read_recipe

        recipe = read_recipe(manifest)
        self.ensure_sample(recipe.contents)
        self._refresh()
        asked = {"name": recipe.name, "dataset": recipe.datasets(self.datasets()), **recipe.choices}
        made = self.build(recipe.query, fix_variables=True, allow_service=allow_service, timeout=timeout, **asked)
        told = recipe.tell(made.signature, self.datasets(), turtle(made.triples))
        made = replace(made, notes=(*made.notes, *told))
        if to is not None:
            made.write(to, force=force)
        return made

    def describe_remix(
        self,
        query: Query,
        *,
        name: str | None = None,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        dataset: Several = (),
        edition: Several = (),
    ) -> pl.DataFrame:
        """Return the manifest of the remix that a query selects, as `build` gives it, sooner than the remix itself."""
        from remix.remixes import describe_remix

        self.ensure_sample()
        self._refresh()
        where = {"dataset": several(dataset), "edition": several(edition)}
        return describe_remix(self.store, query, name=name, values=values, set_from=set_from, kb=self.kb, **where)

    def partition(
        self,
        folder: Path | str | None = None,
        *,
        by: str,
        scheme: str = "",
        to: Path | str | None = None,
        replace: bool = False,
    ) -> pl.DataFrame:
        """Return the parts that a column cuts the loaded datasets into, or a `folder` of frames, with what is in each.

        `by` is a column, or one with its scheme as in `words:quantiles:4`, by the grammar that `by` of an evaluation
        has (see `remix.measures.partitions`); the scheme may be given apart. Each part is written into the folder `to`
        where one is named, as a remix or a folder of frames. What has no measures yet is enriched. See
        `remix.remixes.partitions` for errors.
        """
        from remix.frames_folder import FramesFolder
        from remix.measures.enrichment import measured_otherwise
        from remix.measures.partitions import with_scheme
        from remix.places import refuse_file_name
        from remix.remixes.partitions import partition_folder, partition_store

        by = with_scheme(by, scheme)
        place = None if to is None else Path(to)
        if place is not None:
            refuse_file_name(place)
        if folder is not None:
            return partition_folder(FramesFolder.open(folder), by, to=place, replace=replace)
        plain = self.ensure_sample() or any(entry.enrichment is None for entry in self.datasets())
        if plain or measured_otherwise(self.store, self.kb):
            self.enrich()
        return partition_store(self.store, by, to=place, kb=self.kb, replace=replace)

    def plot_partition(
        self, table: pl.DataFrame, *, by: str, plot: Path | str | None = None, plot_width: str = "screen"
    ) -> None:
        """Draw how large the parts are that `partition` returned, into a file where one is named.

        It is as wide as a 'column' or the 'page' of a paper, or a 'screen'. Raises what `remix.reports.plots.save`
        does.
        """
        from remix.reports.charts import figure_of_sizes
        from remix.reports.plots import save

        if plot is not None:
            save(figure_of_sizes(table, column=by), Path(plot), plot_width)

    @contextmanager
    def _without(self, systems: Several, store: Store, query: Query) -> Iterator[Store]:
        """Hold the store, or one without the runs of systems; raises `UsageError` where the query reads no runs."""
        from remix.errors import UsageError
        from remix.remixes.computed import reads_difficulty, reads_runs

        if not systems:
            yield store
            return
        if store is not self.store:
            raise UsageError("runs are withheld of the workspace alone: leave out --endpoint, or --without")
        if not reads_runs(query.text):
            raise UsageError(f"{query.name} asks for nothing that comes of runs: leave out --without")
        from remix.runs.withholding import withhold_runs

        with withhold_runs(store, self.kb, several(systems), difficulty=reads_difficulty(query.text)) as own:
            yield own

    @contextmanager
    def _store_of(
        self, endpoint: str | None, datasets: Iterable[str], timeout: float | None = None
    ) -> Iterator[tuple[Store, Mirror | None]]:
        """Hold the store, or one that mirrors datasets of an endpoint and goes afterwards, with what asks it."""
        if endpoint is None:
            yield self.store, None
            return
        from remix.store.mirror import Mirror

        with TemporaryDirectory(prefix="remix-") as place:
            mirror = Mirror(endpoint, Path(place), timeout=timeout)
            mirror.copy(list(datasets))
            yield mirror.store, mirror
