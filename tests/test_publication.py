"""What is published of a dataset: data that reads back, a description, checksums."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import UnknownName, UsageError
from remix.formats import read
from remix.names import DCAT, DCTERMS, HFTS, RMX, VOID
from remix.publication import publish
from remix.store import Store

NEWS = "urn:remix:dataset:news"


@pytest.fixture(scope="module")
def folder(small_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("published")
    publish(small_store, "news", to, licence="http://creativecommons.org/licenses/by/4.0/")
    return to


def _objects(file: Path, subject: str, predicate: str) -> set[str]:
    store = ox.Store()
    store.load(file.read_bytes(), ox.RdfFormat.TURTLE)
    found = store.quads_for_pattern(ox.NamedNode(subject), ox.NamedNode(predicate), None)
    return {quad.object.value for quad in found}


def test_published_file_reads_back_to_the_same_frames(small_store: Store, folder: Path) -> None:
    want = small_store.frames(["news"])
    found = read(folder / "news.ttl", name="news").frames
    for name in ("documents", "annotations", "links", "regions"):
        columns = getattr(want, name).columns
        assert getattr(found, name).sort(columns).equals(getattr(want, name).sort(columns)), name


def test_published_file_carries_the_measures(folder: Path) -> None:
    anna = "http://example.org/news/1#char=0,4"
    assert _objects(folder / "news.ttl", anna, f"{HFTS}ambiguitySurfaceForm") == {"900"}
    # Recall is known of two documents of three.
    measured = read(folder / "news.ttl").frames.values.filter(pl.col("term").str.ends_with("maxRecall"))
    assert measured.height == 2


def test_description_gives_sizes_licence_and_checksum_of_the_file(folder: Path) -> None:
    data, described = folder / "news.ttl", folder / "news.dcat.ttl"
    triples = sum(1 for _ in ox.parse(data.read_bytes(), format=ox.RdfFormat.TURTLE))
    assert _objects(described, NEWS, f"{VOID}triples") == {str(triples)}
    assert _objects(described, NEWS, f"{RMX}annotations") == {"8"}
    assert _objects(described, NEWS, f"{DCTERMS}license") == {"http://creativecommons.org/licenses/by/4.0/"}
    assert _objects(described, f"{NEWS}#distribution", f"{DCAT}byteSize") == {str(data.stat().st_size)}
    checksum = _objects(described, f"{NEWS}#checksum", "http://spdx.org/rdf/terms#checksumValue")
    assert checksum == {hashlib.sha256(data.read_bytes()).hexdigest()}


def test_checksums_are_those_of_all_files(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    named = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    files = [file for file in folder.iterdir() if file.name != "SHA256SUMS"]
    assert named == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert set(named) == {"news.ttl", "news.manifest.ttl", "news.dcat.ttl"}


def test_manifest_names_the_content_and_the_measures(small_store: Store, folder: Path) -> None:
    manifest = folder / "news.manifest.ttl"
    assert _objects(manifest, NEWS, f"{RMX}contentHash") == {small_store.dataset("news").content}
    assert _objects(manifest, NEWS, f"{RMX}enrichment") == {"by hand"}


def test_publishing_twice_gives_the_same_bytes(small_store: Store, folder: Path, tmp_path: Path) -> None:
    publish(small_store, "news", tmp_path, licence="http://creativecommons.org/licenses/by/4.0/")
    for file in folder.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_publishing_an_unknown_dataset_names_the_nearest(small_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'news'"):
        publish(small_store, "newss", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_publishing_with_a_licence_that_is_no_iri_is_refused(small_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="IRI"):
        publish(small_store, "news", tmp_path, licence="CC BY 4.0")
