"""What a workspace tells: what there is of a kind, one thing in full, versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from remix.question import Several
from remix.workspace.queries import Queries

if TYPE_CHECKING:
    import polars as pl


class Inventory(Queries):
    """Datasets, and what is told of them and of the parts of remix."""

    def listing(
        self,
        kind: str = "datasets",
        *,
        task: str = "",
        language: str = "",
        kb: str = "",
        licence: str = "",
        every: bool = True,
    ) -> pl.DataFrame:
        """Return a row for each thing of a kind: datasets, queries, sets, measures, formats, systems, ….

        Of datasets those whose `task`, `language`, `kb` and `licence` have these words: `task="D2KB", kb="wikidata"`.
        Without `every` column they have those that say most on a line.
        """
        from remix.reports.inventory import brief_listing, listing

        wanted = {"task": task, "language": language, "kb": kb, "licence": licence}
        found = listing(kind, self.store, self.runs_folder, {name: word for name, word in wanted.items() if word})
        return found if every else brief_listing(kind, found)

    def show(
        self,
        name: str,
        *,
        construct: bool = False,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        service: Several = (),
        allow_service: Several = (),
    ) -> str:
        """Return what is known of a dataset, a query, a filter, a measure or a profile.

        With `construct` it is the SPARQL that a query stands for, with its `values` or those of a set: one CONSTRUCT of
        what `build` keeps. See `remix.store.construct.construct_of` for what it gives. A filter stands for the query of
        what it keeps of the loaded datasets; `service` and `allow_service` are those of `open_filters`.
        """
        from remix.remixes.filters.definition import split_reference
        from remix.reports.inventory import show_construct, show_filter, show_part

        named = split_reference(name)
        if construct or values or set_from:
            if named is not None:
                self.ensure_sample()
            find = partial(self.find_query, name, service=service, allow_service=allow_service)
            return show_construct(find, name, values or {}, set_from, whole=construct)
        if named is not None:
            filters = self.open_filters(named[0], service=service, allow_service=allow_service)
            return show_filter(filters.find(named[1]))
        return show_part(name, self.store)

    def info(self) -> pl.DataFrame:
        """Return what the workspace holds and the versions in use."""
        from remix.reports.inventory import about

        return about(self.store)
