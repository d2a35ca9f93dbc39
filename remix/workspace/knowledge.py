"""The knowledge base of a workspace: built, attached, shown and asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from remix.question import Several, several
from remix.tables import Tables
from remix.workspace.inventory import Inventory

if TYPE_CHECKING:
    import networkx
    import polars as pl

    from remix.kb import KnowledgeBase


class KnowledgeBases(Inventory):
    """Datasets with a knowledge base."""

    def build_kb(
        self,
        sources: Sequence[tuple[str, str]],
        *,
        name: str,
        lang: Several = ("en",),
        datasets: Several = (),
        refresh: bool = False,
        without_source: Several = (),
        complete: bool = False,
        strict: bool = False,
        scores: str = "computed",
        damping: float = 0.85,
        tolerance: float = 1e-12,
        date: str = "",
        licence: str = "",
        mixed_releases: bool = False,
        fresh: bool = False,
        engine: str = "duckdb",
        memory: str = "",
    ) -> KnowledgeBase:
        """Return the knowledge base that was built from sources, each a kind and a place, and attach it.

        `datasets` are those whose surface forms and entities an endpoint is asked for, `lang` the languages to keep and
        `without_source` patterns of sources whose rows are left out. `remix.kb.construction.build` says what the others
        are, and which errors there are.
        """
        from remix.kb import build
        from remix.store.targets import targets

        frames = [target.frames for target in targets(self.store, names)] if (names := several(datasets)) else []
        made = build(
            sources,
            self.store.own("kb"),
            name=name,
            languages=several(lang),
            forms=_distinct([each.annotations["surface_form"] for each in frames]),
            entities=_distinct([each.links["entity"] for each in frames]),
            cache=self.store.own("cache") / "kb",
            refresh=refresh,
            without_sources=several(without_source),
            complete=complete,
            strict=strict,
            scores=scores,
            damping=damping,
            tolerance=tolerance,
            date=date,
            licence=licence,
            mixed_releases=mixed_releases,
            fresh=fresh,
            engine=engine,
            memory=memory,
        )
        return self.attach_kb(str(made.folder))

    def fetch_kb(
        self,
        name: str,
        *,
        accept_licence: bool | Callable[[str], bool] = False,
        mirror: Path | str | None = None,
        files_only: bool = False,
    ) -> Tables:
        """Return tables on a public release of a knowledge base that is fetched, built and attached: by one call.

        `name` is that of a release (`listing("releases")`), or of a TOML file that declares one. The tables are `files`
        (what became of each), and but for `files_only` the `summary` of the knowledge base and, where datasets are
        loaded, its `coverage` of them. Files that are there are not fetched again, one that broke off goes on, and so
        does a build. Raises `UnknownName` for a release that there is not, `UsageError` for a licence that is not
        accepted, `Error` with what failed, in which case nothing is built.
        """
        import polars as pl

        from remix import progress
        from remix.errors import Error
        from remix.kb.releases import fetch_release, release_named

        release = release_named(name)
        found = fetch_release(release, accept_licence=accept_licence, mirror=mirror)
        for one in found:
            if one.reason and one.status != "failed":
                progress.note(one.reason)
        if failed := [one.reason for one in found if one.status == "failed"]:
            there = f"{len(found) - len(failed)} of {len(found)} files of '{release.name}' are there"
            others = f"; so did {len(failed) - 1} others" if len(failed) > 1 else ""
            raise Error(f"{there}, and nothing is built: {failed[0]}{others}")
        rows = [{"file": one.name, **one.row()} for one in found]
        tables = Tables(files=pl.DataFrame(rows).drop("dataset"))
        if files_only:
            return tables
        made = self.build_kb([(release.source, str(release.folder))], name=release.name, lang=release.lang)
        return Tables({**tables, "summary": made.summary(), **self._tell_coverage()})

    def _tell_coverage(self) -> Tables:
        """Return the coverage of what is loaded by the attached knowledge base, nothing where nothing is."""
        return self.show_kb(only="coverage") if self.datasets() else Tables()

    def attach_kb(self, name: str | None = None) -> KnowledgeBase:
        """Return the knowledge base of a name or folder, by default the one that ships with remix; attach it."""
        from remix import progress
        from remix.kb import SHIPPED, open_kb
        from remix.measures.enrichment import measured_otherwise

        opened = open_kb(self.store.own("kb"), name or SHIPPED)
        self.store.attach_kb(opened.folder)
        self._refresh()
        if others := measured_otherwise(self.store, opened):
            progress.note(
                f"queries see the measures of {', '.join(others)} by another knowledge base: `remix enrich` makes them "
                "anew"
            )
        return opened

    def show_kb(self, *, only: str | None = None) -> Tables:
        """Return tables on the attached knowledge base, by name: summary, sources, problems, coverage of the datasets.

        `only` is the one that is asked for; raises `StoreError` for a coverage without datasets.
        """
        from remix.errors import StoreError
        from remix.kb.lookup import coverage, problems_of, sources_of
        from remix.measures.enrichment import named_frames

        kb = self._open_attached()
        tables = {"summary": kb.summary(), "sources": sources_of(kb), "problems": problems_of(kb)}
        if self.datasets():
            tables["coverage"] = coverage(kb, named_frames(self.store))
        if only is not None and only not in tables:
            raise StoreError("nothing is loaded that could be covered: `remix load FILE` first")
        return Tables({name: table for name, table in tables.items() if only in (name, None)})

    def lookup_kb(self, name: str, *, limit: int = 20) -> pl.DataFrame:
        """Return the candidates of a surface form, or what the attached knowledge base knows of an entity."""
        from remix.kb import lookup

        return lookup(self._open_attached(), name, limit=limit)

    def graph_kb(
        self, of: str = "links", *, document: str | None = None, to: Path | str | None = None
    ) -> networkx.DiGraph:
        """Return a graph of networkx from the attached knowledge base, small enough for Python objects.

        `of` is 'links' (between entities), 'classes' (each to those directly above it) or 'candidates' (of the mentions
        of a `document`, by its IRI, and the links between them); see `remix.kb.networks`. It is written as GraphML into
        the file `to` where one is named. Raises `UsageError` for another kind or no document, `UnknownName` for a
        document that is not loaded, `MissingKnowledge` where the knowledge base has no links.
        """
        from remix.kb.networks import write_graphml

        kb = self._open_attached()
        annotations = self.store.frames().annotations if of == "candidates" else None
        made = kb.to_networkx(of) if annotations is None else kb.candidate_graph(annotations, document)
        if to is not None:
            write_graphml(made, Path(to))
        return made

    def _open_attached(self) -> KnowledgeBase:
        from remix.errors import MissingKnowledge

        if self.store.is_new:
            self.ensure_sample()
        if (kb := self.kb) is None:
            raise MissingKnowledge(
                "no knowledge base is attached: `remix kb attach` takes the one that ships with remix"
            )
        return kb


def _distinct(columns: Iterable[pl.Series]) -> pl.Series | None:
    """Return the different values of columns, sorted, None without any column."""
    import polars as pl

    every = [*columns]
    return pl.concat(every).drop_nulls().unique().sort() if every else None
