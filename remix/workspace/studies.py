"""Studies of a workspace: systems × remixes × partitions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.question import Several, several
from remix.workspace.runs import Runs

if TYPE_CHECKING:
    import polars as pl

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

        A study is a TOML file, the name of one that ships (`sample`), its keys and values, or a
        `remix.studies.definition.Study`. Only what is missing is
        computed, by so many processes (`parallel`, by default as many as there are processors). `allow` names what the
        study may run or ask: adapters that run programs or functions, and addresses. See `remix.studies` for errors.
        """
        from remix.studies import run_study

        return run_study(self, study, to=None if to is None else Path(to), allow=several(allow), parallel=parallel)

    def preview_study(self, study: Study | Mapping[str, Any] | Path | str, *, allow: Several = ()) -> pl.DataFrame:
        """Return the steps of a study: step, what, state ('there' or 'to do'), requests, and a guess of the seconds."""
        from remix.studies import preview_study

        return preview_study(self, study, allow=several(allow))

    def reproduce_study(
        self, manifest: Path | str, *, allow: Several = (), parallel: int | None = None
    ) -> pl.DataFrame:
        """Return what, name, status and told of each input and table of a study that is run again from its manifest.

        The results stand beside the manifest. See `remix.studies.reproduction` for what is the same.
        """
        from remix.studies import reproduce_study

        return reproduce_study(self, Path(manifest), allow=several(allow), parallel=parallel)

    def init_study(self, to: Path | str = "study.toml") -> Path:
        """Return the file of a study that was written: one that works for what the workspace holds.

        Raises `UsageError` where there is a file of that name.
        """
        from remix.errors import UsageError
        from remix.files import write_whole
        from remix.studies.example import example_study

        file = Path(to)
        if file.exists():
            raise UsageError(f"{file} is there already: name another file, `remix study init OTHER.toml`")
        text = example_study(self, file.name)
        with write_whole(file) as stream:
            stream.write(text.encode())
        return file
