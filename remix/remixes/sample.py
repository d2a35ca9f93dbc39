"""The sample corpus that ships with the project, for a workspace in which nothing is loaded yet."""

from __future__ import annotations

from remix import progress
from remix.errors import StoreError
from remix.kb import build_from_tables
from remix.measures import compute
from remix.resources import folder
from remix.store import Store

__all__ = ["ensure_sample"]


def ensure_sample(store: Store) -> bool:
    """Return whether the sample was taken: loaded, its knowledge base built and attached, its measures computed.

    A store that holds any dataset stays as it is. Raises `StoreError` where this installation has no sample.
    """
    if store.datasets():
        return False
    datasets = folder("datasets")
    files = sorted((datasets / "corpus").glob("*.ttl"))
    if not files:
        raise StoreError(f"the workspace {store.folder} holds no dataset: `remix load FILE` loads one")
    with progress.stage("the sample corpus is loaded and enriched"):
        for file in files:
            store.load(file)
        kb = build_from_tables(datasets / "kb", store.folder / "kb", name="sample")
        store.attach_kb(kb.folder)
        measured = compute(store.frames(), kb)
        graphs = {entry.name: measured.triples(entry.name, entry.iri) for entry in store.datasets()}
        store.enrich(graphs, str(measured.signature))
    progress.note(f"the workspace {store.folder} was empty and holds the sample corpus now")
    return True
