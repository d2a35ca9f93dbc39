"""Publishing: a dataset as enriched NIF in a folder, with manifest (PROV-O), description (DCAT, VoID) and checksums."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix._version import __version__
from remix.errors import UsageError
from remix.files import write_together
from remix.formats.identifiers import given_iris, rename_terms
from remix.locks import holding
from remix.names import DCAT, DCTERMS, HFTS, ITSRDF, NIF, PROV, RDF, RDFS, RMX, VOID
from remix.rdf.ntriples import columns
from remix.rdf.turtle import Value, stated, turtle
from remix.remixes.manifest import refuse_unknown
from remix.sealing import SUMS, checksums
from remix.signature import content_hash
from remix.store import DatasetEntry, Store
from remix.store.state import RUN

__all__ = ["publish"]

SPDX = "http://spdx.org/rdf/terms#"
_TURTLE = "https://www.iana.org/assignments/media-types/text/turtle"


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
    triples = rename_terms(_triples(store, entry), given_iris(store.frames([dataset]))).unique()
    folder = Path(to)
    data = folder / f"{dataset}.ttl"
    contents = {data: turtle(triples)}
    contents[folder / f"{dataset}.manifest.ttl"] = turtle(_manifest(entry, __version__))
    contents[folder / f"{dataset}.dcat.ttl"] = turtle(
        _description(entry, triples, data.name, contents[data], licence=licence)
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


def _manifest(entry: DatasetEntry, version: str) -> pl.DataFrame:
    """Return where a published dataset comes from, as triples; no time, no host, no path."""
    activity, software = f"{entry.iri}#publication", f"{entry.iri}#software"
    rows: list[tuple[str, str, Value]] = [
        (entry.iri, f"{RDF}type", ox.NamedNode(f"{PROV}Entity")),
        (entry.iri, f"{DCTERMS}title", entry.name),
        (entry.iri, f"{RMX}contentHash", entry.content),
        (entry.iri, f"{PROV}wasGeneratedBy", ox.NamedNode(activity)),
        (activity, f"{RDF}type", ox.NamedNode(f"{PROV}Activity")),
        (activity, f"{PROV}wasAssociatedWith", ox.NamedNode(software)),
        (software, f"{RDF}type", ox.NamedNode(f"{PROV}SoftwareAgent")),
        (software, f"{RDFS}label", "remix"),
        (software, f"{RMX}version", version),
    ]
    if entry.enrichment is not None:
        rows.append((entry.iri, f"{RMX}enrichment", entry.enrichment))
    return stated(rows)


def _description(
    entry: DatasetEntry, triples: pl.DataFrame, file: str, content: bytes, *, licence: str | None
) -> pl.DataFrame:
    """Return the description of a dataset and of its one distribution, a Turtle file of that name and content."""
    distribution, checksum = f"{entry.iri}#distribution", f"{entry.iri}#checksum"
    rows: list[tuple[str, str, Value]] = [
        *(
            (entry.iri, f"{RDF}type", ox.NamedNode(kind))
            for kind in (f"{DCAT}Dataset", f"{VOID}Dataset", f"{HFTS}Dataset")
        ),
        (entry.iri, f"{DCTERMS}title", entry.name),
        (entry.iri, f"{DCTERMS}identifier", entry.iri),
        (entry.iri, f"{DCAT}keyword", "entity linking"),
        (entry.iri, f"{DCAT}distribution", ox.NamedNode(distribution)),
        (entry.iri, f"{RMX}documents", entry.documents),
        (entry.iri, f"{RMX}annotations", entry.annotations),
        *((entry.iri, f"{VOID}{name}", count) for name, count in _sizes(triples).items()),
        *((entry.iri, f"{VOID}vocabulary", ox.NamedNode(vocabulary)) for vocabulary in (NIF, ITSRDF, HFTS, RMX)),
        (distribution, f"{RDF}type", ox.NamedNode(f"{DCAT}Distribution")),
        (distribution, f"{DCTERMS}title", file),
        (distribution, f"{DCAT}mediaType", ox.NamedNode(_TURTLE)),
        (distribution, f"{DCAT}byteSize", len(content)),
        (distribution, f"{SPDX}checksum", ox.NamedNode(checksum)),
        (checksum, f"{RDF}type", ox.NamedNode(f"{SPDX}Checksum")),
        (checksum, f"{SPDX}algorithm", ox.NamedNode(f"{SPDX}checksumAlgorithm_sha256")),
        (checksum, f"{SPDX}checksumValue", content_hash(content)),
    ]
    if licence is not None:
        rows += [(thing, f"{DCTERMS}license", ox.NamedNode(licence)) for thing in (entry.iri, distribution)]
    return stated(rows)


def _sizes(triples: pl.DataFrame) -> dict[str, int]:
    """Return VoID's counts; an entity is a subject that has an IRI."""
    subjects = triples["subject"].unique()
    return {
        "triples": triples.height,
        "entities": int(subjects.str.starts_with("<").sum()),
        "distinctSubjects": len(subjects),
        "distinctObjects": triples["object"].n_unique(),
        "properties": triples["predicate"].n_unique(),
    }
