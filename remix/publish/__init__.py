"""Publishing: a dataset as enriched NIF with manifest, description and checksums, in one folder."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from remix._version import __version__
from remix.errors import UsageError
from remix.files import write_together
from remix.formats.identifiers import given_iris, renamed
from remix.locks import holding
from remix.publish.description import data_description, manifest
from remix.rdf.ntriples import columns
from remix.rdf.turtle import turtle
from remix.remixes.manifest import refuse_unknown
from remix.sealing import SUMS, checksums
from remix.signature import content_hash
from remix.store import DatasetEntry, Store
from remix.store.state import RUN

__all__ = ["publish"]


@holding
def publish(
    store: Store, dataset: str, to: Path | str, *, licence: str | None = None, force: bool = False
) -> list[Path]:
    """Return the files written into the folder, which hold a dataset of the store for others.

    `NAME.ttl` is NIF with the measures of annotations, documents and dataset, and with the columns that were derived
    from stored runs (agreement, difficulty) and what they say of themselves, but without the runs. `NAME.manifest.ttl`
    says what it was made from, `NAME.dcat.ttl` describes it in DCAT and VoID, `SHA256SUMS` has the checksums that
    `sha256sum -c` reads, also those that are there of other files.

    Raises `UnknownName` for a dataset that is not loaded, `UsageError` for a licence that is no IRI and for files of
    these names without a manifest of remix beside them, unless `force` is given.
    """
    entry = store.dataset(dataset)
    if licence is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]+", licence):
        raise UsageError(
            f"the licence '{licence}' is no IRI: give one such as http://creativecommons.org/licenses/by/4.0/"
        )
    triples = renamed(_triples(store, entry), given_iris(store.frames([dataset]))).unique()
    folder = Path(to)
    data = folder / f"{dataset}.ttl"
    contents = {data: turtle(triples)}
    contents[folder / f"{dataset}.manifest.ttl"] = turtle(manifest(entry, __version__))
    contents[folder / f"{dataset}.dcat.ttl"] = turtle(
        data_description(entry, triples, data.name, contents[data], licence=licence)
    )
    refuse_unknown(contents, folder / f"{dataset}.manifest.ttl", force=force)
    sums = {path.name: content_hash(content) for path, content in contents.items()}
    if (folder / SUMS).exists() and not force:
        sums = checksums(folder) | sums
    contents[folder / SUMS] = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()
    write_together(contents)
    return list(contents)


def _triples(store: Store, entry: DatasetEntry) -> pl.DataFrame:
    files = [f"{entry.folder}/data.nt.zst", *([entry.enrichment_file] if entry.enrichment_file else [])]
    # What was learnt from runs is said of the annotations; the answers of systems are theirs.
    files += [graph.file for name, graph in entry.attached.items() if not name.startswith(RUN)]
    return pl.concat(columns(store.triples(file)) for file in files)
