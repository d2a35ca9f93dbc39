"""The manifest of a remix: where it comes from, by what query, how much of each origin it kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pyoxigraph as ox

from remix import catalog
from remix._version import __version__
from remix.errors import BadInput, UsageError
from remix.files import manifest_beside, read_bytes
from remix.frames import Frames
from remix.names import DCTERMS, HFTS, PROV, RDF, RDFS, RMX
from remix.rdf.turtle import Said, state_triples
from remix.remixes.closure import Closed
from remix.store import DatasetEntry, Store


@dataclass(frozen=True)
class Manifest:
    """What a manifest says of how a remix was made.

    `query` is bound; `contents` holds each origin's content hash by its name, `kept` the origins that gave documents.
    `enrichment` is the signature of the origins' measures, empty where they had none; `signature` that of the remix.
    `emptied` are the documents of the origins (by their IRIs in the store) in which nothing was selected, None where
    the manifest does not tell. `balance` are the columns that it was made even in, empty without any;
    `runs` the systems by whose runs it was selected. A `published` one says more of the remix than how it was made.
    """

    query: str
    contents: Mapping[str, str]
    kept: tuple[str, ...]
    enrichment: str
    signature: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    emptied: tuple[str, ...] | None = None
    balance: str = ""
    runs: tuple[str, ...] = ()
    published: bool = False


def read_manifest(remix: Path) -> Manifest | None:
    """Return what the manifest beside a remix (`NAME.manifest.ttl` beside `NAME.ttl`) says, None where there is none.

    Raises `BadInput` for a manifest that is no Turtle.
    """
    file = manifest_beside(remix)
    if remix == file or not file.is_file():
        return None
    try:
        triples = list(ox.parse(read_bytes(file), format=ox.RdfFormat.TURTLE))
    except SyntaxError as error:
        raise BadInput(file, f"is no manifest: {' '.join(str(error).split())}") from None
    said: dict[str, dict[str, str]] = {}
    emptied = sorted(one.object.value for one in triples if one.predicate.value == f"{RMX}emptiedDocument")
    runs = sorted(one.object.value for one in triples if one.predicate.value == f"{RMX}selectedByRunOf")
    for triple in triples:
        said.setdefault(triple.subject.value, {})[triple.predicate.value] = triple.object.value
    # A published remix says of its runs, too, what their signatures are.
    build = next((about for about in said.values() if f"{RMX}query" in about), None)
    if build is None:
        return None
    names = {iri: about[f"{DCTERMS}title"] for iri, about in said.items() if f"{RMX}contentHash" in about}
    usages = [about for about in said.values() if int(about.get(f"{RMX}keptDocuments", 0)) > 0]
    return Manifest(
        build[f"{RMX}query"],
        {name: said[iri][f"{RMX}contentHash"] for iri, name in sorted(names.items())},
        tuple(sorted(names[about[f"{PROV}entity"]] for about in usages)),
        next((said[iri][f"{RMX}enrichment"] for iri in sorted(names) if f"{RMX}enrichment" in said[iri]), ""),
        build.get(f"{RMX}signature", ""),
        {about[f"{RMX}name"]: about[f"{RMX}value"] for _, about in sorted(said.items()) if f"{RMX}value" in about},
        tuple(emptied) if any(f"{RMX}emptiedDocuments" in about for about in said.values()) else None,
        build.get(f"{RMX}balance", ""),
        tuple(runs),
        any({f"{DCTERMS}license", f"{DCTERMS}rights"} & {*about} for about in said.values()),
    )


def tell_lost_origins(store: Store, names: Iterable[str]) -> list[str]:
    """Return, of each of these datasets that is a remix whose origins are gone or have changed, what is said of it."""
    loaded, remixes = {entry.name: entry.content for entry in store.datasets()}, _contents_of_remixes(store)
    said = []
    for name in names:
        contents = remixes.get(name, {})
        lost = [
            f"{one} is not loaded" if one not in loaded else f"{one} has other content now"
            for one, content in sorted(contents.items())
            if loaded.get(one) != content
        ]
        if lost:
            said.append(
                f"{name} is a remix of {', '.join(sorted(contents))}, and runs on these answer it only where all are "
                f"loaded unchanged; {' and '.join(lost)}: `remix load` that again, or build the remix anew"
            )
    return said


def origins_of_remixes(store: Store) -> Mapping[str, tuple[str, ...]]:
    """Return the datasets that each loaded remix was cut from, of those whose origins are all loaded as they were."""
    loaded = {entry.name: entry.content for entry in store.datasets()}
    remixes = _contents_of_remixes(store).items()
    return {name: tuple(sorted(contents)) for name, contents in remixes if contents.items() <= loaded.items()}


def _contents_of_remixes(store: Store) -> Mapping[str, Mapping[str, str]]:
    """Return of each loaded remix the hashes of what it was cut from, by its name, read once for each state."""

    def read() -> dict[str, Mapping[str, str]]:
        """Read the manifests beside all that is loaded."""
        found = {one.name: read_manifest(store.folder / one.folder / "data.ttl") for one in store.datasets()}
        return {name: manifest.contents for name, manifest in found.items() if manifest is not None}

    return store.cached("contents of remixes", read)


def refuse_unknown(files: Iterable[Path], manifest: Path, *, force: bool = False) -> None:
    """Raise `UsageError` for a file that would be overwritten and is not known to be of remix's making.

    That is told by the manifest of remix beside it, which is written with it. `force` lets all be overwritten.
    """
    there = [file for file in (*files, manifest) if file.exists() or file.is_symlink()]
    if there and not force and not _is_manifest(manifest):
        raise UsageError(
            f"{there[0]} is there already, and no manifest of remix beside it says that remix wrote it: "
            f"--to names another folder, --force overwrites it"
        )


def _is_manifest(file: Path) -> bool:
    try:
        triples = ox.parse(read_bytes(file), format=ox.RdfFormat.TURTLE)
        return any(triple.predicate.value.startswith(RMX) for triple in triples)
    except (BadInput, SyntaxError):
        return False


def count_origins(origin: Frames, closed: Closed) -> pl.DataFrame:
    """Return one row per origin dataset, as Table 6 of the remixing paper, and a last one for all.

    `documents`, `annotations`: of the origin; `kept_documents`, `kept`, `dropped`: of them in the remix, where a
    group of alternatives counts once; `share_of_remix`, `share_of_origin`: of the kept annotations, as fractions.
    """
    gold = origin.annotations.filter(pl.col("ignorable").is_null())
    counted = {
        "annotations": gold,
        "kept": gold.filter(pl.col("annotation").is_in(closed.kept.implode())),
        "dropped": gold.filter(pl.col("annotation").is_in(closed.dropped.implode())),
    }
    table = origin.documents.group_by("dataset").agg(
        documents=pl.len(), kept_documents=pl.col("document").is_in(closed.frames.documents["document"].implode()).sum()
    )
    for name, rows in counted.items():
        groups = rows.group_by("dataset").agg(pl.struct("document", "group").n_unique().alias(name))
        table = table.join(groups, on="dataset", how="left")
    table = table.with_columns(pl.exclude("dataset").fill_null(0).cast(pl.Int64)).sort("dataset")
    whole = table.select(pl.lit("all").alias("dataset"), pl.exclude("dataset").sum())
    share = pl.col("kept")
    return pl.concat([table, whole]).select(
        *("dataset", "documents", "kept_documents", "annotations", "kept", "dropped"),
        share_of_remix=(share / whole["kept"].item()).fill_nan(0.0),
        share_of_origin=(share / pl.col("annotations")).fill_nan(0.0),
    )


def describe(
    iri: str,
    name: str,
    entries: Iterable[DatasetEntry],
    counts: pl.DataFrame,
    made: Mapping[str, str | None],
    *,
    parameters: Mapping[str, str],
    emptied: pl.DataFrame | None,
    others: pl.DataFrame,
    parts: pl.DataFrame,
    runs: Iterable[str],
) -> pl.DataFrame:
    """Return the manifest as triples in PROV-O; it holds no time, no path, and no host but that of an endpoint.

    `made` is what is said of its making, by the local names of terms: query, signature, knowledgeBase, endpoint, and
    editions, the order in which editions of texts were kept. `emptied` (dataset, document) are the documents of the
    origins in which nothing was selected, if that is known, `others` (document, dataset, kept) those that were left out
    for those of another origin; `parts` those that were made even (see `Remix`); `runs` the
    systems by whose runs the query selects.
    """
    activity, software = f"{iri}#build", f"{iri}#software"
    whole = counts.row(by_predicate=pl.col("dataset") == "all", named=True)
    origins = {f"{iri}#origin-{entry.name}": entry for entry in entries}
    given = sorted(parameters.items())
    nodes = {f"{iri}#parameter-{name}": {f"{RMX}name": name, f"{RMX}value": [value]} for name, value in given}
    even = {f"{iri}#part-{number}": _part(row) for number, row in enumerate(parts.iter_rows(named=True), 1)}
    said: dict[str, Said] = {
        iri: {
            f"{RDF}type": [ox.NamedNode(f"{PROV}Entity"), ox.NamedNode(f"{HFTS}Dataset")],
            f"{DCTERMS}title": name,
            f"{PROV}wasGeneratedBy": ox.NamedNode(activity),
            f"{PROV}wasDerivedFrom": [ox.NamedNode(entry.iri) for entry in origins.values()],
            f"{RMX}documents": whole["kept_documents"],
            f"{RMX}annotations": whole["kept"],
            f"{RMX}droppedAnnotations": whole["dropped"],
        },
        activity: {
            f"{RDF}type": ox.NamedNode(f"{PROV}Activity"),
            f"{PROV}wasAssociatedWith": ox.NamedNode(software),
            f"{PROV}used": [ox.NamedNode(entry.iri) for entry in origins.values()],
            f"{PROV}qualifiedUsage": [*map(ox.NamedNode, origins)],
            **{f"{RMX}{term}": value for term, value in made.items()},
            f"{RMX}parameter": [*map(ox.NamedNode, nodes)],
            f"{RMX}balancedPart": [*map(ox.NamedNode, even)],
            f"{RMX}selectedByRunOf": [*runs],
        },
        software: describe_software(__version__),
        **nodes,
        **even,
    }
    places = cache(catalog.entries_by_place)
    for usage, entry in origins.items():
        known = catalog.recognise(entry.name, entry.source, places)
        said[entry.iri] = {
            f"{RDF}type": ox.NamedNode(f"{PROV}Entity"),
            f"{DCTERMS}title": entry.name,
            f"{RMX}contentHash": entry.content,
            f"{RMX}enrichment": entry.enrichment,
            f"{RMX}catalogueEntry": known.name if known else None,
        }
        said[usage] = _usage(entry, counts, emptied, others)
    return state_triples(said)


def describe_software(version: str) -> Said:
    """Return what is said of the software that made something."""
    kind = ox.NamedNode(f"{PROV}SoftwareAgent")
    return {f"{RDF}type": kind, f"{RDFS}label": "remix", f"{RMX}version": version}


def _part(row: Mapping[str, Any]) -> Said:
    """Return what is said of a part that was made even with others."""
    return {
        f"{RMX}column": row["column"],
        f"{RMX}part": row["part"],
        f"{RMX}share": row["share"],
        f"{RMX}annotations": row["available"],
        f"{RMX}keptAnnotations": row["chosen"],
    }


def _usage(entry: DatasetEntry, counts: pl.DataFrame, emptied: pl.DataFrame | None, others: pl.DataFrame) -> Said:
    """Return what is said of an origin: what it has, what it gave, and what was left out of it."""
    row = counts.row(by_predicate=pl.col("dataset") == entry.name, named=True)
    lost = None if emptied is None else emptied.filter(dataset=entry.name)["document"]
    return {
        f"{RDF}type": ox.NamedNode(f"{PROV}Usage"),
        f"{PROV}entity": ox.NamedNode(entry.iri),
        f"{RMX}documents": row["documents"],
        f"{RMX}keptDocuments": row["kept_documents"],
        f"{RMX}annotations": row["annotations"],
        f"{RMX}keptAnnotations": row["kept"],
        f"{RMX}droppedAnnotations": row["dropped"],
        f"{RMX}shareOfRemix": round(100 * row["share_of_remix"], 4),
        f"{RMX}shareOfOrigin": round(100 * row["share_of_origin"], 4),
        f"{RMX}emptiedDocuments": None if lost is None else len(lost),
        f"{RMX}emptiedDocument": None if lost is None else [*map(ox.NamedNode, lost)],
        f"{RMX}otherEdition": [*map(ox.NamedNode, others.filter(dataset=entry.name)["document"])],
    }
