"""Publishing: a dataset as enriched NIF and as a table, described so that people and machines find and trust it."""

from __future__ import annotations

import gzip as compression
import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.files import write_together
from remix.formats.identifiers import given_iris, rename_terms
from remix.formats.nif.published import state_as_markings
from remix.places import SUMS, checksums, refuse_file_name, spell_checksums
from remix.publication.card import draw_measures, write_card, write_citation
from remix.publication.description import (
    Publication,
    describe_catalogued,
    describe_for_gerbil,
    describe_origin,
    table_of,
    to_croissant,
)
from remix.publication.figures import draw_published
from remix.publication.home import HOME, ONTOLOGY, write_home
from remix.rdf.ntriples import columns
from remix.rdf.parsing import parse_lines
from remix.rdf.turtle import ntriples, turtle
from remix.remixes.manifest import refuse_unknown
from remix.signature import content_hash
from remix.store import DatasetEntry, Store, in_one_state
from remix.store.state import RUN
from remix.web.folder import render_ontology

SYNTAXES = {
    "ttl": "https://www.iana.org/assignments/media-types/text/turtle",
    "nt": "https://www.iana.org/assignments/media-types/application/n-triples",
    "jsonld": "https://www.iana.org/assignments/media-types/application/ld+json",
}
"""Syntaxes of what is published, by their suffix, and their media types."""


@in_one_state
def publish(
    store: Store,
    dataset: str,
    to: Path | str,
    *,
    licence: str | None = None,
    url: str | None = None,
    creator: Iterable[str] = (),
    description: str = "",
    syntax: str = "ttl",
    gzip: bool = False,
    force: bool = False,
) -> list[Path]:
    """Return the files written into the folder, which hold a dataset of the store for others.

    `NAME.ttl` (by the `syntax`, and by `gzip`) is NIF with the measures of annotations, documents and dataset, and with
    the columns that were derived from stored runs (agreement, difficulty) and what they say of themselves, but without
    the runs; `NAME.parquet` has a document a row. `NAME.manifest.ttl` says what it was made from, for a remix also the
    query, and how the runs were made that columns were derived from; `NAME.dcat.ttl` describes it in DCAT and VoID,
    `NAME.dataid.ttl` as GERBIL reads it, `NAME.croissant.json` in Croissant and schema.org. `README.md`, with a plot,
    and `CITATION.cff` are the card of the folder. `index.html` is its home page, which needs no server, with figures
    that are files as well (`NAME.types.svg`, …), `ontology.html` says what the terms mean. `SHA256SUMS` has checksums
    that `sha256sum -c` reads, also those that are there of other files. `url` is where the folder will be.
    Alternatives of a mention and NIL are written as GERBIL reads them (`remix.formats.nif.published`).

    Raises `UnknownName` for a dataset that is not loaded and another syntax, `UsageError` for a licence or URL that is
    no IRI and for files of these names without a manifest of remix beside them, unless `force` is given.
    """
    refuse_file_name(to)
    entry = store.dataset(dataset)
    if syntax not in SYNTAXES:
        raise UnknownName("syntax", syntax, SYNTAXES)
    for what, iri in (("licence", licence), ("URL", url)):
        if iri is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]+", iri):
            raise UsageError(
                f"the {what} '{iri}' is no IRI: give one such as http://creativecommons.org/licenses/by/4.0/"
            )
    frames, folder = store.frames([dataset]), Path(to)
    # What was learnt from runs is said of the annotations; the answers of systems are theirs.
    stored = [f"{entry.folder}/data.nt.zst", *entry.value_files()]
    stated = state_as_markings(pl.concat(columns(store.triples(file)) for file in stored), frames)
    triples = rename_terms(stated, given_iris(frames)).unique()
    data = f"{dataset}.{syntax}{'.gz' if gzip else ''}"
    files = {data: _serialise(triples, syntax, gzip=gzip), f"{dataset}.parquet": table_of(frames)}
    media = {data: SYNTAXES[syntax], f"{dataset}.parquet": "application/vnd.apache.parquet"}
    place = store.folder / entry.folder
    runs = rename_terms(_describe_runs(store, entry), given_iris(frames))
    made_by = (tuple(creator), description)
    about = Publication(entry, frames, triples, files, media, data, licence, url, *made_by, place, runs)
    files[f"{dataset}.manifest.ttl"] = turtle(describe_origin(about, __version__))
    files[f"{dataset}.dcat.ttl"] = turtle(describe_catalogued(about))
    files[f"{dataset}.dataid.ttl"] = turtle(describe_for_gerbil(about))
    files[f"{dataset}.croissant.json"] = to_croissant(about)
    if plot := draw_measures(about):
        files[f"{dataset}.svg"] = plot
    drawn = draw_published(about)
    for one in drawn:
        files |= one.files(dataset)
    own = [folder / name for name in files]
    home = write_home(about, folder / HOME, drawn)
    files["README.md"] = write_card(about, folder / "README.md", plot=bool(plot))
    refuse_unknown(own, folder / f"{dataset}.manifest.ttl", force=force)
    _refuse_others(folder, force=force)
    files["CITATION.cff"] = write_citation(about, folder / "CITATION.cff")
    files |= {HOME: home, ONTOLOGY: render_ontology().encode()}
    sums = {name: content_hash(content) for name, content in files.items()}
    if (folder / SUMS).exists() and not force:
        sums = checksums(folder) | sums
    files[SUMS] = spell_checksums(sums).encode()
    contents = {folder / name: content for name, content in files.items()}
    write_together(contents)
    return list(contents)


def _describe_runs(store: Store, entry: DatasetEntry) -> pl.DataFrame:
    """Return what the graphs of the runs that are stored beside a dataset say of the runs themselves."""
    found = [columns(b"")]
    for name in entry.attached:
        if name.startswith(RUN):
            told = columns(store.attachment(entry.name, name))
            found.append(told.filter(pl.col("subject") == f"<{entry.iri}#{name}>"))
    return pl.concat(found).unique(maintain_order=True)


def _refuse_others(folder: Path, *, force: bool) -> None:
    """Raise `UsageError` for a card or page in the folder that is not of remix's making, as its checksums tell."""
    for name in ("README.md", "CITATION.cff", HOME, ONTOLOGY):
        if (folder / name).exists() and not force and not ((folder / SUMS).exists() and name in checksums(folder)):
            raise UsageError(
                f"{folder / name} is there already, and remix has not written it: "
                "--to names another folder, --force overwrites it"
            )


def _serialise(triples: pl.DataFrame, syntax: str, *, gzip: bool) -> bytes:
    content = turtle(triples) if syntax == "ttl" else ntriples(triples)
    if syntax == "jsonld":
        parsed = (quad.triple for quad in parse_lines(content, ox.RdfFormat.N_TRIPLES, lenient=True))
        content = ox.serialize(parsed, format=ox.RdfFormat.JSON_LD) or b""
    return compression.compress(content, mtime=0) if gzip else content
