"""Queries of a workspace and the filters that stand for them, and what a query answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.question import Several, several
from remix.workspace.datasets import Datasets

if TYPE_CHECKING:
    import polars as pl

    from remix.remixes.filters import EntityFilter, Filters
    from remix.store import Store
    from remix.store.answers import Result
    from remix.store.queries import Query


class Queries(Datasets):
    """Datasets that queries and filters are asked of."""

    def query(
        self,
        query: Query | EntityFilter | Path | str,
        *,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        rewrite: bool = True,
        service: Several = (),
        allow_service: Several = (),
        endpoint: str | None = None,
        timeout: float = 600,
    ) -> Result:
        """Return what a shipped query, a `.rq` file or a text of SPARQL answers, here or at another `endpoint`.

        A filter stands for the query of what it keeps of the loaded datasets, with its options of `build`. `values` are
        those of parameters, `set_from` names a set of them, `allow_service` the endpoints that SERVICE, or the filter,
        may ask, and `timeout` the seconds it may run; without `rewrite` a CONSTRUCT is run as it stands. Where the
        attached knowledge base cannot be opened what is stored is asked as it is, which is said. See
        `remix.store.answers.answer` for the errors.
        """
        from remix.kb import usable_kb
        from remix.remixes.computed import tell_stale_measures, tell_unmeasured, tell_unusable
        from remix.store.answers import answer

        fresh = endpoint is None and self.ensure_sample()
        kb, broken = (None, "") if endpoint else usable_kb(self.store)
        if endpoint is None and not fresh and not broken:
            self._refresh()
        asked = self._find_query(query, self.store, (), service=service, allow_service=allow_service, timeout=timeout)
        found = answer(
            self.store,
            asked,
            values=values,
            set_from=set_from,
            rewrite=rewrite,
            allow_services=several(allow_service),
            endpoint=endpoint,
            timeout=timeout,
        )
        if endpoint:
            return found
        unmeasured = tell_unmeasured(asked.text, self.store.datasets())
        stale = [tell_unusable(broken)] if broken else tell_stale_measures(self.store, kb, asked.text)
        return replace(found, notes=(*found.notes, *unmeasured, *stale))

    def find_query(
        self,
        query: Query | EntityFilter | Path | str,
        *,
        dataset: Several = (),
        service: Several = (),
        allow_service: Several = (),
        kept_only: bool = False,
    ) -> Query:
        """Return the query of a name, a file or a text or, for a filter, that of what it keeps of loaded datasets.

        See `open_filters` for the options, which are those of filters, and for errors.
        """
        asked = {"service": service, "allow_service": allow_service, "kept_only": kept_only}
        return self._find_query(query, self.store, several(dataset), **asked)

    def _find_query(
        self, query: Query | EntityFilter | Path | str, store: Store, datasets: tuple[str, ...], **asked: Any
    ) -> Query:
        """Return a query, or that of what a filter keeps of datasets of a store; `asked` are options of filters."""
        from remix.measures.enrichment import named_frames
        from remix.remixes.filters import EntityFilter
        from remix.remixes.filters.definition import split_reference
        from remix.store.queries import find

        named = split_reference(str(query)) if isinstance(query, str | Path) else None
        if named is not None:
            query = self.open_filters(named[0], **asked).find(named[1])
        if isinstance(query, EntityFilter):
            return query.query(named_frames(store, datasets or None))
        return find(query)

    def open_filters(
        self,
        file: Path | str,
        *,
        service: Several = (),
        allow_service: Several = (),
        refresh: bool = False,
        kept_only: bool = False,
        timeout: float = 600,
    ) -> Filters:
        """Return the filters of a properties file of GERBIL's extension, by their names; nothing is asked yet.

        Each says what it keeps of entities (`select`), and stands wherever a query does: `build(filters["Persons"])`.
        `allow_service` are the addresses that may be asked, `service` settings `OLD=NEW` for what is asked in the place
        of a service that the file names: another address, a file of RDF, 'loaded' (the datasets that are loaded) or
        'kb' (what the attached knowledge base says of classes and labels). Answers are kept in the workspace; `refresh`
        asks again, with `kept_only` nothing else is asked. See `remix.remixes.filters` for errors.

        >>> persons = open_workspace("work").open_filters("filter.properties").find("persons")  # doctest: +SKIP
        """
        from remix.remixes.filters import open_filters
        from remix.remixes.filters.services import Surroundings

        around = Surroundings(
            store=self.store,
            kb=self.kb,
            cache=self.store.own("cache") / "filters",
            allowed=frozenset(several(allow_service)),
            refresh=refresh,
            timeout=timeout,
            kept_only=kept_only,
        )
        return open_filters(file, around, service=several(service))

    def filters(
        self,
        file: Path | str,
        *,
        filter: Several = (),
        dataset: Several = (),
        show: str = "kept",
        service: Several = (),
        allow_service: Several = (),
        refresh: bool = False,
        timeout: float = 600,
    ) -> pl.DataFrame:
        """Return what the filters of a file are, or what they keep of loaded datasets, by default of all.

        `filter` names those that are looked at, by default all. `show` is 'definitions' (what each asks), 'kept' (how
        much each keeps of each dataset), 'pairs' (each two of them compared) or 'entities' (a row an entity, with
        whether each filter keeps it). See `open_filters` for the rest; of filters that may not be asked 'kept' is null.
        """
        from remix import progress
        from remix.errors import UnknownName
        from remix.measures.enrichment import named_frames
        from remix.remixes.filters import compare_filters, count_kept, describe_filters, mark_entities

        views = ("kept", "definitions", "pairs", "entities")
        if show not in views:
            raise UnknownName("view of filters", show, views)
        found = self.open_filters(file, service=service, allow_service=allow_service, refresh=refresh, timeout=timeout)
        chosen = [found.find(name) for name in several(filter)] or [*found.values()]
        if show == "definitions":
            return describe_filters(chosen)
        self.ensure_sample(several(dataset))
        self._refresh()
        frames = named_frames(self.store, several(dataset) or None)
        if show == "kept":
            table, untold = count_kept(chosen, frames)
            for reason in untold.values():
                progress.note(f"not asked: {reason}")
            return table
        return compare_filters(chosen, frames) if show == "pairs" else mark_entities(chosen, frames)
