"""What a workspace tells: what there is of a kind, one thing in full, versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from remix.workspace.datasets import Datasets

if TYPE_CHECKING:
    import polars as pl


class Inventory(Datasets):
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
    ) -> str:
        """Return what is known of a dataset, a query, a measure or a profile.

        With `construct` it is the SPARQL that a query stands for, with its `values` or those of a set: one CONSTRUCT of
        what `build` keeps. See `remix.store.construct.construct_of` for what it gives.
        """
        from remix.reports.inventory import show_construct, show_part

        if construct or values or set_from:
            return show_construct(name, values or {}, set_from, construct=construct)
        return show_part(name, self.store)

    def info(self) -> pl.DataFrame:
        """Return what the workspace holds and the versions in use."""
        from remix.reports.inventory import about

        return about(self.store)
