"""Measures of frames in parts equal those of all parts together."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import BadInput
from remix.frames import Frames
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.kb import KnowledgeBase
from remix.measures import MEASURES, Measured, compute
from remix.measures import _parts as parts
from remix.measures import _threads as threads
from remix.measures._parts import compute_parts
from remix.measures.measurement import choice_of

from .conftest import Make, MakeKb

FORMS = ["Anna", "anna", "Paris", "Paris Hilton", "NASA", "1999", "the pope", "Jordan", "x"]
ENTITIES = [f"http://dbpedia.org/resource/{name}" for name in ("Anna_A", "Paris", "NASA", "Pope", "Jordan", "Far")]


@pytest.fixture(scope="module")
def frames(corpus: Make) -> Frames:
    """Twenty documents of one dataset; forms, entities and NIL spread over all, some documents empty."""
    draw = random.Random(3)
    mentions = [(f"d/{draw.randrange(20):02d}", draw.choice(FORMS), draw.choice([*ENTITIES, None])) for _ in range(160)]
    made = corpus(mentions, empty=["d/20", "d/21"])
    begin = pl.int_range(pl.len()).over("document") * 3
    spans = made.annotations.with_columns(begin=begin, end=begin + 2 + pl.int_range(pl.len()) % 4)
    ignorable = pl.when(pl.int_range(pl.len()) % 17 == 5).then(pl.lit("optional"))
    # Every third mention of a document is an alternative of the one before, and every seventh has a second link: the
    # forms and entities of each occur in other parts, too.
    nth = pl.int_range(pl.len()).over("document")
    group = pl.when(nth % 3 == 1).then(pl.col("annotation").shift(1).over("document")).otherwise("annotation")
    options = spans.with_columns(ignorable=ignorable, group=group, option=pl.col("annotation"))
    further = made.links.gather_every(7).with_columns(entity=pl.col("entity").shift(1).fill_null(ENTITIES[0]))
    links = pl.concat([made.links, further]).unique(maintain_order=True)
    return Frames.of(documents=made.documents, annotations=options, links=links)


@pytest.fixture(scope="module")
def kb(make_kb: MakeKb) -> KnowledgeBase:
    names = [(form, entity, n, "names") for n, (form, entity) in enumerate(zip(FORMS, ENTITIES * 2, strict=False), 1)]
    derived = [("Jordan", ENTITIES[0], 5, "gold:d"), ("Paris", ENTITIES[4], "", "names")]
    links = [(ENTITIES[n], ENTITIES[m], 1, "pages") for n, m in ((0, 1), (2, 1), (3, 1), (1, 4), (4, 2))]
    types = [
        (ENTITIES[0], "http://dbpedia.org/ontology/Person", "t"),
        (ENTITIES[1], "http://dbpedia.org/ontology/Place", "t"),
    ]
    return make_kb([*names, *derived], links=links, types=types)


def in_parts(frames: Frames, count: int, to: Path) -> FramesFolder:
    documents = frames.documents["document"].sort()
    with under_way(to, {}) as place:
        for number in range(count):
            mine = documents.gather_every(count, number)
            write_part(place, number, frames.keep(documents=mine))
        return finish(place, to, {"name": "d", "iri": "urn:d", "parts": count})


def test_a_folder_without_parts_is_refused(frames: Frames, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no part"):
        compute_parts(in_parts(frames, 0, tmp_path / "frames"), choice_of(None))


def test_alternative_links_of_a_later_part_are_ranked_by_the_scores_of_the_whole(corpus: Make, tmp_path: Path) -> None:
    made = corpus([(f"d/{n}", "Anna", ENTITIES[n]) for n in range(4)])
    more = made.links.with_columns(entity=pl.Series([ENTITIES[n] for n in (1, 2, 3, 0)]))
    frames = Frames.of(documents=made.documents, annotations=made.annotations, links=pl.concat([made.links, more]))
    found = compute_parts(in_parts(frames, 4, tmp_path / "frames"), choice_of(None), batch=1)
    assert_frame_equal(found.datasets, compute(frames, None).datasets, check_row_order=False)


def test_a_form_that_a_later_part_needs_counts_in_maximum_recall(corpus: Make, make_kb: MakeKb, tmp_path: Path) -> None:
    # The dictionary knows Anna alone. Jordan is an alternative of Anna in the first part, and alone in the second:
    # formula (9) on the dataset as one document is 1/2.
    made = corpus([("d/0", "Anna", ENTITIES[0]), ("d/0", "Jordan", ENTITIES[4]), ("d/1", "Jordan", ENTITIES[4])])
    group = pl.when(pl.col("document") == "d/0").then(pl.lit("g")).otherwise("annotation")
    frames = Frames.of(
        documents=made.documents, annotations=made.annotations.with_columns(group=group), links=made.links
    )
    chosen = choice_of(make_kb([("Anna", ENTITIES[0], 1, "names")]), measures=["maximum-recall"])
    found = compute_parts(in_parts(frames, 2, tmp_path / "frames"), chosen, batch=1)
    assert found.datasets.filter(measure="maxRecall", average="micro")["value"].to_list() == [0.5]


@pytest.fixture(scope="module")
def folder(frames: Frames, tmp_path_factory: pytest.TempPathFactory) -> FramesFolder:
    """The frames in seven parts."""
    return in_parts(frames, 7, tmp_path_factory.mktemp("parts") / "frames")


@dataclass(frozen=True)
class Whole:
    """All frames measured at once, and with what."""

    kb: KnowledgeBase | None
    reference: str
    measured: Measured


@pytest.fixture(scope="module", params=["dataset kb", "dataset", "union kb", "union"])
def whole(request: pytest.FixtureRequest, frames: Frames, kb: KnowledgeBase) -> Whole:
    reference, known = request.param.split()[0], kb if "kb" in request.param else None
    return Whole(known, reference, compute(frames, known, reference=reference))


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("batch", [1, 40, 10_000])
def test_every_measure_in_parts_equals_the_measure_of_the_whole(folder: FramesFolder, whole: Whole, batch: int) -> None:
    taken: list[Measured] = []
    measured = compute_parts(
        folder,
        choice_of(whole.kb, reference=whole.reference),
        batch=batch,
        take=lambda of_batch, _: taken.append(of_batch),
    )
    assert len(taken) == {1: 7, 40: 4, 10_000: 1}[batch]
    for level in ("annotations", "documents", "classes"):
        rows = pl.concat([getattr(one, level) for one in taken])
        key = [column for column in ("annotation", "document", "class") if column in rows.columns]
        assert_frame_equal(rows.sort(key), getattr(whole.measured, level).sort(key), check_exact=True)
    assert_frame_equal(measured.datasets, whole.measured.datasets, rel_tol=1e-13, abs_tol=0)
    assert (measured.signature, measured.skipped) == (whole.measured.signature, whole.measured.skipped)
    assert {m.name for m in measured.measures} == ({m.name for m in MEASURES} - set(measured.skipped))


@pytest.mark.long
def test_sums_that_wait_in_several_shares_are_the_same(
    frames: Frames, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "UNITS", 3)
    folder = in_parts(frames, 5, tmp_path / "frames")
    assert_frame_equal(
        compute_parts(folder, choice_of(kb), batch=20).datasets, compute(frames, kb).datasets, rel_tol=1e-13, abs_tol=0
    )


@pytest.mark.long
def test_values_do_not_depend_on_the_number_of_threads(
    folder: FramesFolder, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[Measured, list[range]]] = []
    for count in (1, 3):
        monkeypatch.setattr(threads.pl, "thread_pool_size", lambda count=count: count)
        taken: list[range] = []
        measured = compute_parts(
            folder, choice_of(kb), batch=20, take=lambda _, numbers, taken=taken: taken.append(numbers)
        )
        found.append((measured, taken))
    (one, batches), (three, same) = found
    assert one.datasets.equals(three.datasets) and batches == same == list(folder.batches(20))
