"""The sample corpus that ships with the project, for a workspace in which nothing is loaded yet."""

from __future__ import annotations

from collections.abc import Iterable

from remix import progress
from remix.errors import StoreError
from remix.kb import SHIPPED, open_kb
from remix.measures.enrichment import enrich
from remix.resources import folder
from remix.store import Store


def ensure_sample(store: Store, names: Iterable[str] = ()) -> bool:
    """Return whether the sample was taken: loaded, its knowledge base built and attached, its measures computed.

    It is taken into a new workspace where nothing was named (`names`) or a dataset of the sample. Raises
    `StoreError` where nothing is named or loaded, and the workspace was used before or there is no sample.
    """
    if store.datasets():
        return False
    files = {file.stem: file for file in sorted((folder("datasets") / "corpus").glob("*.ttl"))}
    named = set(names)
    if named and not named & set(files):
        return False
    if not files or not store.is_new:
        raise StoreError(
            f"the workspace {store.folder} holds no dataset: `remix load FILE` loads one, `remix load"
            f" {' '.join(files)}` the sample corpus"
        )
    with progress.stage("the sample corpus is loaded and enriched"):
        with store.loading() as loading:
            for file in files.values():
                loading.load(file)
        store.attach_kb((kb := open_kb(store.own("kb"), SHIPPED)).folder)
        enrich(store, kb)
    progress.note(f"the workspace {store.folder} was empty and holds the sample corpus now")
    return True
