"""Partitions by a column: boundaries, quantities, and each part as a remix or a folder of frames."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import StoreError, UnknownName, UsageError
from remix.formats import read
from remix.frames import Frames
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.measures.enrichment import enrich_folder, named_frames
from remix.measures.partitions import count_parts, in_part, partition
from remix.remixes.partitions import partition_folder, partition_store
from remix.store import Store
from remix.store.loading import load_sample, sample_documents
from tests.commands import run_verb


def test_log_deciles_are_those_of_table_4() -> None:
    parts = partition(pl.Series("confusion", [1, 7, 4105, None]), "log-deciles")
    # 4105^(1/10) = 2.297, 4105^(2/10) = 5.279, 4105^(3/10) = 12.13, …; the last is the largest value itself.
    assert [round(part.high or 0, 2) for part in parts[1:4]] == [2.3, 5.28, 12.13]
    assert len(parts) == 11 and parts[-1].high == 4105 and parts[1].low is None and parts[0].missing
    # In Table 4, too, what has no value is partition 0; names sort in the order of the parts.
    assert [part.number for part in parts] == [*range(11)] and parts[0].name == "00: unspecified"
    assert [part.name for part in parts] == sorted(part.name for part in parts)


def test_log_deciles_hold_their_upper_boundaries_where_powers_are_inexact() -> None:
    # From 1 to 1024 = 2^10 the boundaries are 2, 4, 8, …, each the upper one of its part: 1 and 2 are in the first.
    values = pl.Series("v", [2**n for n in range(11)])
    parts = partition(values, "log-deciles")
    assert [part.high for part in parts[1:]] == [2**n for n in range(1, 11)]
    assert count_parts(values, parts)["annotations"].to_list() == [0, 2, *[1] * 9]


def test_upper_boundary_is_inclusive_and_lower_exclusive() -> None:
    table = count_parts(
        pl.Series("v", [2, 3, 4, 5, 6, None]), partition(pl.Series("v", [2, 3, 4, 5, 6, None]), "thresholds 3,5")
    )
    assert table.select("above", "to", "annotations").rows() == [
        (None, None, 1),
        (None, 3.0, 2),
        (3.0, 5.0, 2),
        (5.0, None, 1),
    ]


def test_head_torso_tail_are_10_45_45() -> None:
    values = pl.Series("v", range(100))
    parts = partition(values, "head-torso-tail")
    assert count_parts(values, parts).select("part", "annotations").rows() == [
        ("0: unspecified", 0), ("1: head of the dataset (> 89)", 10),
        ("2: torso of the dataset (> 44, ≤ 89)", 45), ("3: tail of the dataset (≤ 44)", 45),
    ]  # fmt: skip


def test_head_ends_where_exactly_10_percent_are_higher() -> None:
    # Of 1 to 70 seven are 10 %: 64 to 70. Than 63 exactly 7 of 70 are higher, not less than 10 %: torso.
    # 38.5 are 55 %: than 32 less are higher (38), than 31 more (39), so the torso is 32 to 63.
    values = pl.Series("v", range(1, 71))
    _, head, torso, tail = partition(values, "head-torso-tail")
    assert (head.low, torso.high, torso.low, tail.high) == (63, 63, 31, 31)
    assert count_parts(values, (head, torso, tail))["annotations"].to_list() == [7, 32, 31]


def test_quantiles_are_equal_shares_and_equal_values_stay_together() -> None:
    even = pl.Series("v", range(8))
    assert count_parts(even, partition(even, "quantiles 4"))["annotations"].to_list() == [0, 2, 2, 2, 2]
    tied = pl.Series("v", [1, 1, 1, 1, 1, 2, 3])
    assert count_parts(tied, partition(tied, "quantiles 2"))["annotations"].to_list() == [0, 5, 2]
    # More shares than values are as many as there are values, at no more cost.
    assert partition(even, f"quantiles {10**15}") == partition(even, "quantiles 8")


def test_classes_that_are_called_unspecified_do_not_hide_what_has_no_value() -> None:
    values = pl.Series("v", ["head", "unspecified", None, "unspecified"])
    table = count_parts(values, partition(values, "classes"))
    assert table.select("part", "annotations").rows() == [("without-value", 1), ("head", 1), ("unspecified", 2)]


def test_zero_and_its_negative_are_one_class() -> None:
    values = pl.Series("v", [0.0, -0.0, 2.5])
    table = count_parts(values, partition(values, "classes"))
    assert table.select("part", "annotations").rows() == [("unspecified", 0), ("0.0", 2), ("2.5", 1)]


numbers = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(0, 9).map(float)), min_size=1)


@given(
    numbers,
    st.sampled_from(["", "log-deciles", "deciles", "quantiles 3", "head-torso-tail", "thresholds 0,5", "classes"]),
)
def test_every_value_is_in_exactly_one_part(values: list[float | None], scheme: str) -> None:
    column = pl.Series("v", values, dtype=pl.Float64)
    try:
        parts = partition(column, scheme)
    except UsageError:
        return
    hits = column.to_frame().select(in_part("v", part).cast(pl.Int64).alias(str(n)) for n, part in enumerate(parts))
    assert hits.sum_horizontal().to_list() == [1] * len(values)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("decile", "no scheme 'decile'"),
        ("quantiles", "one whole number"),
        ("thresholds 5,3", "numbers that rise"),
        ("thresholds a", "are no numbers"),
        ("classes 3", "takes no number"),
        ("head-torso-tail:world", "of the 'dataset' or of the 'kb', not of 'world'"),
    ],
)
def test_scheme_that_is_none_is_refused(scheme: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        partition(pl.Series("v", [1.0]), scheme)


def test_values_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(UsageError, match="no positive values"):
        partition(pl.Series("v", [0.0, -1.0]), "log-deciles")
    with pytest.raises(UsageError, match="holds no numbers"):
        partition(pl.Series("v", ["a"]), "quantiles 2")
    with pytest.raises(UsageError, match="no value at all"):
        partition(pl.Series("v", [None], dtype=pl.Float64), "head-torso-tail")


@pytest.mark.long
def test_parts_of_a_workspace_are_remixes_of_what_lies_within(small_store: Store, tmp_path: Path) -> None:
    table = partition_store(small_store, "ambiguitySurfaceForm:thresholds:3", to=tmp_path)
    values = small_store_values(small_store)
    parts = (
        ("1: ≤ 3", "to-3", values.filter(pl.col("v") <= 3)),
        ("2: > 3", "above-3", values.filter(pl.col("v") > 3)),
    )
    for part, name, expected in parts:
        row = table.filter(part=part)
        assert row["annotations"].item() == expected.height
        if expected.height:
            frames = read(tmp_path / f"ambiguitySurfaceForm-{name}.ttl").frames
            assert frames.gold().annotations.height == expected.height
    assert table["annotations"].sum() == named_frames(small_store).gold().annotations.height
    with pytest.raises(UnknownName, match="did you mean 'ambiguitySurfaceForm'"):
        partition_store(small_store, "ambiguitySurfaceFrom:classes", to=None)


def small_store_values(store: Store) -> pl.DataFrame:
    from remix.store.answers import answer
    from remix.store.queries import Query

    text = "PREFIX hfts: <https://raw.githubusercontent.com/santifa/hfts/master/ont/hfts.ttl#> "
    table = answer(store, Query.parse(text + "SELECT ?a ?v { ?a hfts:ambiguitySurfaceForm ?v }")).table
    gold = named_frames(store).gold().annotations.select(a="annotation")
    return table.join(gold, on="a", how="semi").with_columns(pl.col("v").cast(pl.Float64))


@pytest.fixture
def folder(small_store: Store, tmp_path: Path) -> FramesFolder:
    frames = named_frames(small_store, ["news", "posts"])
    whole = Frames.of(documents=frames.documents, annotations=frames.annotations, links=frames.links)
    with under_way(tmp_path / "frames", {}) as place:
        for number, dataset in enumerate(["news", "posts"]):
            write_part(place, number, whole.keep(documents=whole.documents.filter(dataset=dataset)["document"]))
        return finish(place, tmp_path / "frames", {"name": "both", "iri": "urn:both", "parts": 2})


def test_parts_of_frames_keep_documents_and_make_the_rest_ignorable(folder: FramesFolder, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no measures yet: `remix enrich"):
        partition_folder(folder, "formMultiword:classes", to=None)
    assert enrich_folder(folder, None)["status"].item() == "enriched"
    table = partition_folder(folder, "formMultiword:classes", to=tmp_path / "parts")
    # 'Mr Nobody' is the one form of two words.
    assert dict(table.select("part", "annotations").rows())["true"] == 1
    part = FramesFolder.open(tmp_path / "parts" / "both-true")
    frames = part.read(range(part.parts))
    assert frames.gold().annotations["surface_form"].to_list() == ["Mr Nobody"]
    assert frames.documents.height == 1 and part.manifest["annotations"] == 1
    assert frames.annotations.filter(ignorable="dropped")["surface_form"].sort().to_list() == ["Java", "Python"]
    with pytest.raises(UsageError, match="holds frames already"):
        partition_folder(folder, "formMultiword:classes", to=tmp_path / "parts")


def test_enriching_frames_twice_changes_nothing(folder: FramesFolder) -> None:
    enrich_folder(folder, None)
    assert enrich_folder(folder, None)["status"].item() == "unchanged"
    assert enrich_folder(folder, None, case_sensitive=True)["status"].item() == "enriched"


def test_sample_of_frames_is_loaded_into_the_store(folder: FramesFolder, tmp_path: Path) -> None:
    assert sample_documents(folder, 3, 7).documents.equals(sample_documents(folder, 3, 7).documents)
    store = Store(tmp_path / "workspace")
    (done,) = load_sample(store, folder.path, 3, 7)
    assert (done.name, done.status, done.report.documents) == ("both-sample", "loaded", 3)
    shutil.rmtree(store.folder)
    with pytest.raises(UsageError, match="give at least 1"):
        sample_documents(folder, 0, 7)


def test_parts_of_a_column_of_every_gold_are_headed_as_mentions_and_stay_annotations_as_data(
    sample_store: Store,
) -> None:
    """The same column that `remix evaluate --by` and the page Annotations take, without measures."""
    gold = named_frames(sample_store).gold().annotations
    nil = gold.filter("is_nil").select(pl.struct("document", "group").n_unique()).item()
    table = run_verb("partition", "--by", "is_nil", "-w", str(sample_store.folder)).stdout.splitlines()
    assert table[0].split() == ["part", "above", "to", "mentions", "documents", "share"]
    assert [row.split()[1] for row in table if row.startswith("true")] == [f"{nil}"]
    data = run_verb("partition", "--by", "is_nil", "-o", "csv", "-w", str(sample_store.folder)).stdout.splitlines()
    assert data[0] == "part,above,to,annotations,documents,share" and f"true,,,{nil}," in "\n".join(data)
