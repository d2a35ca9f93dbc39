"""What a study needs of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from remix.scoring.inputs.sources import Keeper

if TYPE_CHECKING:
    import polars as pl

    from remix.kb import KnowledgeBase
    from remix.question import Several
    from remix.remixes import Remix
    from remix.remixes.filters import Filters
    from remix.store.queries import Query


class Host(Keeper, Protocol):
    """A workspace as studies use it: what scoring needs of it, and the verbs that write into it."""

    folder: Path

    @property
    def runs_folder(self) -> Path:
        """Return the folder of registered runs."""

    def load(self, datasets: Any) -> Any:
        """Load datasets."""

    def attach_kb(self, name: str | None = None) -> KnowledgeBase:
        """Return the knowledge base of a name, which is attached."""

    def enrich(self) -> pl.DataFrame:
        """Compute and keep the measures of all that is loaded."""

    def annotate(
        self,
        datasets: Any = (),
        system: Several = (),
        *,
        task: str = "A2KB",
        seed: int = 0,
        name: str = "",
        parameter: Mapping[str, str | int | float | bool] | None = None,
        address: str = "",
    ) -> pl.DataFrame:
        """Register what systems answer now."""

    def add_run(
        self, name: str, answers: Any, *, on: Any = (), task: str = "A2KB", replace: bool = False, format: Several = ()
    ) -> pl.DataFrame:
        """Register answers that are there."""

    def open_filters(self, file: Any, *, service: Several = ()) -> Filters:
        """Return the filters of a file."""

    def find_query(
        self,
        query: Any,
        *,
        dataset: Several = (),
        service: Several = (),
        allow_service: Several = (),
        kept_only: bool = False,
    ) -> Query:
        """Return the query of a name or, for a filter, that of what it keeps of datasets."""

    def build(
        self,
        query: Any,
        *,
        name: str | None = None,
        values: Mapping[str, object] | None = None,
        set_from: str | None = None,
        limit: int | None = None,
        seed: int | None = None,
        dataset: Several = (),
        edition: Several = (),
        balance: Several = (),
        balance_over: str = "marginals",
        balance_share: Mapping[str, object] | None = None,
        balance_tolerance: int = 0,
        without: Several = (),
    ) -> Remix:
        """Return the remix that a query selects."""
