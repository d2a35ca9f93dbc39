"""Studies of a workspace: systems × remixes × partitions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.question import Several, several
from remix.workspace.runs import Runs

if TYPE_CHECKING:
    from remix.studies import Studied, Study


class Studies(Runs):
    """Datasets, remixes and runs with the studies that are made of them."""

    def study(
        self,
        study: Study | Mapping[str, Any] | Path | str,
        *,
        to: Path | str | None = None,
        allow: Several = (),
        parallel: int | None = None,
    ) -> Studied:
        """Return what came out of a study: its results, and what its exhibits show, written into the folder `to`.

        A study is a TOML file, its keys and values, or a `remix.studies.definition.Study`. Only what is missing is
        computed, by so many processes (`parallel`, by default as many as there are processors). `allow` names what the
        study may run or ask: adapters that run programs or functions, and addresses. See `remix.studies` for errors.
        """
        from remix.studies import run_study

        return run_study(self, study, to=None if to is None else Path(to), allow=several(allow), parallel=parallel)
