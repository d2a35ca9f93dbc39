"""Real files have the published counts, and each repair that is known of them is found."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import BadInput
from remix.formats import LoadedFile, read


def kinds(found: LoadedFile) -> dict[str, int]:
    return {repair.kind: repair.count for repair in found.report.repairs}


@pytest.mark.long
def test_read_when_published_counts_exist_then_they_come_out(real_data: Path) -> None:
    """The smallest file of each kind of counts and defects; `.ci/run` reads all fifty."""
    wrong = []
    with (real_data / "published" / "nif_counts.csv").open(encoding="utf-8") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: (real_data / row["file"]).stat().st_size, reverse=True)
    smallest = {(row["note"], row["repairs"], row["nil"] > "0", row["file"].rpartition(".")[2]): row for row in rows}
    for row in smallest.values():
        if row["note"] in ("no NIF", "cannot be parsed"):
            with pytest.raises(BadInput):
                read(real_data / row["file"])
            continue
        found = read(real_data / row["file"])
        published = {key: int(row[key]) for key in ("documents", "annotations", "linked", "nil") if row[key]}
        counted = {key: getattr(found.report, key) for key in published}
        missing = set(filter(None, row["repairs"].split("|"))) - set(kinds(found))
        if counted != published or missing:
            wrong.append((row["file"], counted, published, missing))
    assert (len(rows), len(smallest)) == (50, 15)
    assert wrong == []


def test_read_when_blocks_share_iris_then_none_of_the_systems_answers_is_lost(real_data: Path) -> None:
    """The smaller of the files; of all eighteen, the check of the counts in `.ci/run` compares the annotations."""
    files = sorted((real_data / "emnlp2019" / "systems").glob("*_KORE50.ttl*"))
    found = [read(file) for file in files]
    # The census counts 885 blocks in the text of the 6 files, 171 more than subjects in their graphs.
    assert sum(one.report.annotations for one in found) == 885
    assert sum(kinds(one)["shared-iri"] for one in found) == 171


def test_read_when_kore50_then_byte_offsets_and_a_wrong_fragment_are_found(real_data: Path) -> None:
    found = read(real_data / "nif" / "kore50" / "kore50-nif.ttl")
    assert kinds(found) == {"repeated-triple": 3, "offset": 5, "shifted-block": 1, "fragment": 1}
    [offset] = [repair for repair in found.report.repairs if repair.kind == "offset"]
    assert offset.example.endswith("SPO04#char=0,7: 0,7 is 0,6 (counted in UTF-8 bytes)")
    # Two of the texts end with U+FEFF.
    assert found.frames.documents.filter(pl.col("text").str.ends_with("\ufeff")).height == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "repairs"),
    [
        ("nif/dbpedia-spotlight/dbpedia-spotlight-nif.ttl.gz", {"offset": 1, "fragment": 2, "dangling": 1}),
        ("nif/opentapioca/RSS-500_wd.ttl.gz", {"offset": 1}),
        ("nif/oke-2015-eaglet/dataset_task_1.ttl.gz", {"invalid-iri": 4, "empty-document": 1}),
        ("nif/gerbil-test/OKE_Challenge/example_data/task2.ttl", {"missing-dot": 2}),
        ("emnlp2019/gold/2019_05_21_ACE04.ttl.gz", {"missing-prefix": 2, "invalid-iri": 2}),
        ("emnlp2019/systems/AIDA_KORE50.ttl", {"missing-prefix": 3, "invalid-iri": 2, "shared-iri": 22}),
    ],
)
def test_read_when_the_census_names_defects_then_these_are_repaired(
    real_data: Path, file: str, repairs: dict[str, int]
) -> None:
    assert kinds(read(real_data / file)) == repairs


def test_read_when_one_corpus_comes_in_two_syntaxes_then_it_is_one_content(real_data: Path) -> None:
    turtle, lines = (read(real_data / "nif" / "n3" / f"RSS-500.{suffix}.gz") for suffix in ("ttl", "nt"))
    assert turtle.content == lines.content
    assert_frame_equal(turtle.frames.annotations.sort("annotation"), lines.frames.annotations.sort("annotation"))


def test_read_when_gold_has_several_links_on_a_span_then_they_are_options(real_data: Path) -> None:
    annotations = read(real_data / "emnlp2019" / "gold" / "2019_05_19_KORE50.ttl.gz").frames.annotations
    shared = annotations.group_by("document", "begin", "end").len().filter(pl.col("len") > 1)
    # The census counts 18 spans with several annotations.
    assert shared.height == 18
    assert annotations.group_by("group").len().filter(pl.col("len") > 1).height == shared.height


def test_read_when_it_is_broken_beyond_repair_then_line_and_reason(real_data: Path) -> None:
    with pytest.raises(BadInput, match=r"hfts-ontology-broken\.ttl:42:5: A dot is expected"):
        read(real_data / "nif" / "not-nif" / "hfts-ontology-broken.ttl")


@pytest.mark.long
def test_read_when_written_and_read_again_then_the_same(real_data: Path, tmp_path: Path) -> None:
    files = ("kore50/kore50-nif.ttl", "n3/Reuters-128.ttl.gz", "oke-2015-eaglet/dataset_task_1.ttl.gz")
    for file in (*(f"nif/{file}" for file in files), "emnlp2019/systems/TAGME_KORE50.ttl.gz"):
        once = read(real_data / file, name="x", triples_to=tmp_path / "x.nt.zst")
        again = read(tmp_path / "x.nt.zst", name="x")
        for name in ("documents", "annotations", "links", "classes"):
            left, right = getattr(once.frames, name), getattr(again.frames, name)
            assert_frame_equal(left.sort(left.columns), right.sort(right.columns))
