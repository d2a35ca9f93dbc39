"""Runs withheld: a store as it were had some systems never answered, so that nothing in it is learnt from them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from remix import progress
from remix.errors import UnknownName
from remix.runs.difficulty import store_difficulty
from remix.runs.stored import DIFFICULTY, drop_outcomes, systems_of
from remix.signature import Signature
from remix.store import Store
from remix.store.state import STATE_FILE

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

_NEVER_CHANGED = (".sst", ".zst", ".parquet")


@contextmanager
def withhold_runs(
    store: Store, kb: KnowledgeBase | None, systems: Iterable[str], *, difficulty: bool = False
) -> Iterator[Store]:
    """Hold a store that has the datasets of another, and of its runs all but those of some systems; it goes afterwards.

    The share of systems that are right on an annotation is that of the others there. If `difficulty` is needed, that is
    learnt from the others, with the seed and the comparing that it was learnt with before; else it is gone. Raises
    `UnknownName` for a system that has no run, and `UsageError` where those that are left are too few to learn from.
    """
    with TemporaryDirectory(prefix="remix-") as place, store.hold_state():
        own = Path(place) / "store"
        held = {system for entry in store.datasets() for system in systems_of(entry)}
        for name in systems:
            if name not in held:
                raise UnknownName("run", name, held, "remix run list")
        _copy(store, own)
        copy, learnt = Store(own), [entry.attached.get(DIFFICULTY) for entry in store.datasets()]
        before = next((Signature.parse(one.signature).fields for one in learnt if one is not None), {})
        with progress.enable(False):
            for entry in store.datasets():
                for name in sorted({*systems} & systems_of(entry).keys()):
                    drop_outcomes(copy, copy.dataset(entry.name), name)
            if difficulty:
                store_difficulty(
                    copy,
                    kb,
                    seed=int(before.get("seed", 0)),
                    reference=before.get("reference", "dataset"),
                    case_sensitive=before.get("case") == "kept",
                )
        yield copy


def _copy(store: Store, to: Path) -> None:
    """Copy what a store holds, with links to what is never written again where the file system has them."""
    to.mkdir()
    shutil.copy2(store.folder / STATE_FILE, to / STATE_FILE)
    generation = store.state.generation
    for name in ("datasets", "enrichments", *([f"index/{generation}"] if generation else [])):
        if (store.folder / name).is_dir():
            shutil.copytree(store.folder / name, to / name, copy_function=_link_or_copy)


def _link_or_copy(source: str, target: str) -> str:
    if source.endswith(_NEVER_CHANGED):
        try:
            os.link(source, target)
            return target
        except OSError:
            pass
    return str(shutil.copy2(source, target))
