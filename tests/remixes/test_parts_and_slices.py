"""Parts of `remix partition` are the slices of `evaluate --by`: the same mentions under the same name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.errors import UnknownName, UsageError
from remix.formats import read
from remix.kb import KnowledgeBase
from remix.measures import MEASURES
from remix.measures.columns import OF_DOCUMENTS, values_by
from remix.measures.enrichment import named_frames
from remix.measures.partitions import parse_partition, partition
from remix.names import HFTS, ITSRDF, NIF, XSD
from remix.question import Question
from remix.remixes.manifest import read_manifest
from remix.remixes.partitions import Partitioned, cut_store, partition_store
from remix.scoring.inputs.sources import read_inputs
from remix.store import Store
from remix.workspace import Workspace

NIL = "<http://aksw.org/notInWiki/Someone>"


@pytest.fixture(scope="module")
def work(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus with its knowledge base and its measures."""
    return sample_workspace()


def slices(work: Workspace, by: str) -> pl.DataFrame:
    """Return annotation, number and part of the slices that an evaluation of all datasets makes."""
    asked = parse_partition(by)
    names = tuple(entry.name for entry in work.datasets())
    inputs = read_inputs(work, Question[str](datasets=names), by=[asked.column])
    return values_by(inputs.gold, asked, *inputs.knowledge.tables).of_annotations(inputs.gold).sort(pl.all())


def check(work: Workspace, by: str) -> Partitioned | None:
    try:
        cut = cut_store(work.store, by)
    except (UsageError, UnknownName) as error:
        with pytest.raises(type(error)):
            slices(work, by)
        return None
    assert cut.annotations.sort(pl.all()).equals(slices(work, by)), by
    return cut


COLUMNS = [column.name for measure in MEASURES for column in measure.columns]
COLUMNS += ["density", "numAnnotations", "class", "type", "class:all", *OF_DOCUMENTS]
NUMBERS = st.lists(st.integers(0, 60), min_size=1, max_size=4, unique=True)
SCHEMES = st.one_of(
    st.sampled_from(["", ":log-deciles", ":deciles", ":head-torso-tail", ":head-torso-tail:kb", ":classes"]),
    st.integers(2, 12).map(":quantiles:{}".format),
    NUMBERS.map(lambda numbers: f":thresholds:{','.join(map(str, sorted(numbers)))}"),
)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(COLUMNS), SCHEMES)
def test_every_mention_is_in_the_part_that_is_its_slice(work: Workspace, column: str, scheme: str) -> None:
    check(work, column + scheme)


@pytest.mark.long
@pytest.mark.parametrize(
    "by",
    ["ambiguitySurfaceForm", "pagerank:log-deciles", "hits:head-torso-tail:kb", "class", "density:deciles", "dataset"],
)
def test_scores_have_the_parts_as_their_slices(work: Workspace, by: str) -> None:
    cut = check(work, by)
    assert cut is not None
    rows = work.evaluate(run="prior", task="A2KB", match="strong", by=by).rows
    rows = rows.filter(column=parse_partition(by).label, dataset="all", average="micro")
    expected = cut.table.filter(pl.col("annotations") > 0).select("part", "annotations")
    assert dict(rows.select("slice", "mentions").iter_rows()) == dict(expected.iter_rows())


@pytest.mark.long
@pytest.mark.parametrize("by", ["pagerankSegment", "dominanceSurfaceForm:thresholds:0.5", "words:quantiles:3"])
def test_the_remix_of_a_part_has_its_mentions(work: Workspace, tmp_path: Path, by: str) -> None:
    check_remixes(work.store, work.kb, by, tmp_path)


@pytest.mark.long
def test_the_remix_of_a_rank_has_its_mentions(small_store: Store, tmp_path: Path) -> None:
    """Whole numbers as classes, one remix each, beside that of what has none."""
    cut = check_remixes(small_store, None, "candidateRank:classes", tmp_path)
    assert {"unspecified", "2"} < {part.name for part in cut.parts}


@pytest.mark.long
def test_the_remix_of_a_class_has_its_mentions(small_store: Store, tmp_path: Path) -> None:
    """Classes are IRIs, of which the files have no two one name; mentions of two classes are in both."""
    cut = check_remixes(small_store, None, "class", tmp_path)
    assert "http://dbpedia.org/ontology/Actor" in [part.name for part in cut.parts]
    assert cut.table["annotations"].sum() > cut.annotations["annotation"].n_unique()


def check_remixes(store: Store, kb: KnowledgeBase | None, by: str, folder: Path) -> Partitioned:
    """Check that each part is a remix of the mentions that it has, and that there is no other file."""
    table = partition_store(store, by, to=folder, kb=kb)
    cut = cut_store(store, by)
    files = []
    for part, count in zip(cut.parts, table["annotations"], strict=True):
        file = folder / f"{cut.asked.column}-{part.file_name}.ttl"
        if count:
            files += [file, file.with_suffix(".manifest.ttl")]
            mentions = cut.annotations.filter(number=part.number)["annotation"]
            expected = named_frames(store).gold().annotations.join(mentions.to_frame(), on="annotation", how="semi")
            found = read(file).frames.gold().annotations
            assert found["group"].n_unique() == count
            assert {*expected["surface_form"]} <= {*found["surface_form"]}  # which has all alternatives of a mention
            said = read_manifest(file)
            assert said is not None and f'"{part.name}"' in file.with_suffix(".manifest.ttl").read_text()
    assert sorted(folder.iterdir()) == sorted(files)
    return cut


def test_no_two_classes_have_a_file_of_one_name(work: Workspace) -> None:
    names = [part.file_name for part in cut_store(work.store, "class").parts]
    assert len({*names}) == len(names) > 30


def test_segments_stand_in_their_order_and_other_classes_by_name() -> None:
    values = pl.Series("pagerankSegment", ["torso", "unspecified", "tail", "head", None, "tail"])
    parts = [(one.number, one.name) for one in partition(values, "classes")]
    assert parts == [(0, "without-value"), (1, "head"), (2, "torso"), (3, "tail"), (4, "unspecified")]
    names = [one.name for one in partition(pl.Series("class", ["Place", "Person"]), "classes")]
    assert names == ["unspecified", "Person", "Place"]


def test_alternatives_are_one_mention_in_the_part_of_the_one_that_has_a_value(tmp_path: Path) -> None:
    # 'Bo' is e:A or NIL: by the prominence of e:A it is in that part alone, not in 'unspecified' as well.
    store = alternatives(tmp_path)
    cut = cut_store(store, "pagerank:thresholds:1")
    assert dict(cut.table.select("part", "annotations").iter_rows()) == {"0: unspecified": 1, "1: ≤ 1": 0, "2: > 1": 1}
    partition_store(store, "pagerank:thresholds:1", to=tmp_path / "parts")
    none = read(tmp_path / "parts" / "pagerank-unspecified.ttl").frames.gold()
    assert none.annotations["surface_form"].to_list() == ["Cy"]


def alternatives(folder: Path) -> Store:
    """Return a store of one text with 'Bo', which is e:A or NIL, and 'Cy', which is NIL; e:A has PageRank 2."""
    spans = [("one", "Bo", 0, "<http://e.org/A>"), ("two", "Bo", 0, NIL), ("three", "Cy", 7, NIL)]
    phrases = "".join(
        f'<http://x/{name}> a nif:Phrase ; nif:referenceContext <http://x/d> ; nif:anchorOf "{form}" ; '
        f"nif:beginIndex {begin} ; nif:endIndex {begin + 2} ; itsrdf:taIdentRef {link} .\n"
        for name, form, begin, link in spans
    )
    text = f"@prefix nif: <{NIF}> .\n@prefix itsrdf: <{ITSRDF}> .\n{phrases}"
    (folder / "bo.ttl").write_text(f'{text}<http://x/d> a nif:Context ; nif:isString "Bo met Cy." .\n')
    store = Store(folder / ".remix")
    store.load(folder / "bo.ttl")
    rows = store.frames().annotations
    assert rows["group"].n_unique() == 2 and rows.height == 3
    linked = rows.filter(~pl.col("is_nil"))["annotation"].item()
    store.enrich({"bo": f'<{linked}> <{HFTS}pagerank> "2"^^<{XSD}double> .\n'.encode()}, "by hand")
    return store
