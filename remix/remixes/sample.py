"""The sample corpus that ships with the project, for a workspace in which nothing is loaded yet."""

from __future__ import annotations

from remix import progress
from remix.errors import StoreError
from remix.kb import KnowledgeBase, shelf
from remix.measures._enriching import enrich
from remix.resources import folder
from remix.store import Store

__all__ = ["ensure_sample"]


def ensure_sample(store: Store) -> bool:
    """Return whether the sample was taken: loaded, its knowledge base built and attached, its measures computed.

    A store that holds any dataset stays as it is. Raises `StoreError` where this installation has no sample.
    """
    if store.datasets():
        return False
    files = sorted((folder("datasets") / "corpus").glob("*.ttl"))
    if not files:
        raise StoreError(f"the workspace {store.folder} holds no dataset: `remix load FILE` loads one")
    with progress.stage("the sample corpus is loaded and enriched"):
        for file in files:
            store.load(file)
        store.attach_kb(shelf.shipped(store.folder / "kb"))
        enrich(store, KnowledgeBase.open(store.kb_folder or store.folder))
    progress.note(f"the workspace {store.folder} was empty and holds the sample corpus now")
    return True
