"""What belongs to a selection."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import UsageError
from remix.frames import Frames
from remix.remixes.closure import close, limit_documents


@pytest.fixture
def frames() -> Frames:
    """d1: a, b and c, where b and c are alternatives of one mention, and i, ignorable already; d2: x."""
    return Frames.of(
        documents=pl.DataFrame({"document": ["d1", "d2"], "dataset": ["s", "s"], "text": ["t", "t"]}),
        annotations=pl.DataFrame(
            {
                "annotation": ["a", "b", "c", "i", "x"],
                "document": ["d1", "d1", "d1", "d1", "d2"],
                "dataset": ["s"] * 5,
                "group": ["a", "g", "g", "i", "x"],
                "ignorable": [None, None, None, "optional", None],
            }
        ),
    )


def _ignorable(frames: Frames) -> dict[str, str | None]:
    return dict(frames.annotations.select("annotation", "ignorable").iter_rows())


def test_close_keeps_what_was_selected_and_marks_the_rest_of_its_documents(frames: Frames) -> None:
    closed = close(frames, pl.Series(["d1"]), pl.Series(["a"]))
    assert _ignorable(closed.frames) == {"a": None, "b": "dropped", "c": "dropped", "i": "optional"}
    assert closed.kept.to_list() == ["a"]
    assert closed.dropped.to_list() == ["b", "c"]


def test_close_with_one_alternative_selected_keeps_the_whole_group(frames: Frames) -> None:
    closed = close(frames, pl.Series(["d1"]), pl.Series(["c"]))
    assert _ignorable(closed.frames) == {"a": "dropped", "b": None, "c": None, "i": "optional"}


def test_close_with_drop_removes_the_rest_but_not_what_was_ignorable(frames: Frames) -> None:
    closed = close(frames, pl.Series(["d1"]), pl.Series(["a"]), drop=True)
    assert _ignorable(closed.frames) == {"a": None, "i": "optional"}
    assert closed.dropped.to_list() == ["b", "c"]
    assert closed.ignorable.is_empty()


def test_close_of_documents_alone_keeps_all_their_annotations(frames: Frames) -> None:
    closed = close(frames, pl.Series(["d1"]), None)
    assert _ignorable(closed.frames) == {"a": None, "b": None, "c": None, "i": "optional"}
    assert closed.dropped.is_empty()


def test_close_with_an_ignorable_annotation_selected_leaves_it_ignorable(frames: Frames) -> None:
    closed = close(frames, pl.Series(["d1"]), pl.Series(["i"]))
    assert _ignorable(closed.frames) == {"a": "dropped", "b": "dropped", "c": "dropped", "i": "optional"}
    assert closed.kept.is_empty()


def of_datasets(*names: str) -> pl.DataFrame:
    """Documents, each of the dataset that its first letter is."""
    return pl.DataFrame({"document": names, "dataset": [name[0] for name in names]})


def test_limited_without_a_seed_takes_the_first_of_each_dataset_by_iri() -> None:
    rows = of_datasets("c1", "a2", "a1", "b1", "a3", "a1")
    limited = {limit: limit_documents(rows, limit, None).to_list() for limit in (1, 3, 4, 9)}
    assert limited == {1: ["a1"], 3: ["a1", "b1", "c1"], 4: ["a1", "a2", "b1", "c1"], 9: ["a1", "a2", "a3", "b1", "c1"]}


def test_limited_with_a_seed_draws_the_same_documents_from_any_order() -> None:
    names = [f"d{n:02}" for n in range(50)]
    drawn = limit_documents(of_datasets(*names), 10, 7).to_list()
    assert limit_documents(of_datasets(*names[::-1]), 10, 7).to_list() == drawn
    assert len(set(drawn)) == 10
    assert drawn != names[:10]
    assert limit_documents(of_datasets(*names), 10, 8).to_list() != drawn


def test_limited_to_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        limit_documents(of_datasets("a"), 0, None)


MENTIONS = st.lists(
    st.tuples(
        st.sampled_from(["d1", "d2", "d3"]), st.integers(0, 3), st.sampled_from([None, "optional"]), st.booleans()
    ),
    max_size=12,
)


@given(MENTIONS, st.booleans())
def test_close_divides_the_annotations_of_kept_documents_into_kept_dropped_and_ignorable(
    mentions: list[tuple[str, int, str | None, bool]], drop: bool
) -> None:
    names = [f"a{n}" for n in range(len(mentions))]
    frames = Frames.of(
        documents=pl.DataFrame({"document": ["d1", "d2", "d3"]}),
        annotations=pl.DataFrame(
            {
                "annotation": names,
                "document": [document for document, _, _, _ in mentions],
                "group": [f"g{group}" for _, group, _, _ in mentions],
                "ignorable": [ignorable for _, _, ignorable, _ in mentions],
            },
            schema={"annotation": pl.String, "document": pl.String, "group": pl.String, "ignorable": pl.String},
        ),
    )
    selected = [name for name, (_, _, _, taken) in zip(names, mentions, strict=True) if taken]
    closed = close(frames, pl.Series(["d1", "d2"]), pl.Series(selected, dtype=pl.String), drop=drop)
    within = {name: mention for name, mention in zip(names, mentions, strict=True) if mention[0] != "d3"}
    gold = {name for name, mention in within.items() if mention[2] is None}
    taken = {within[name][:2] for name in gold & set(selected)}
    kept = {name for name in gold if within[name][:2] in taken}
    assert set(closed.kept) == kept
    assert set(closed.dropped) == gold - kept
    assert set(closed.frames.annotations["annotation"]) == set(within) - (gold - kept if drop else set())
    assert set(closed.frames.gold().annotations["annotation"]) == kept
