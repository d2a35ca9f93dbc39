"""What a format does not hold is left out and counted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import UnknownName, UsageError
from remix.formats import FORMATS, read, write
from remix.formats.losses import EVERYTHING, FEATURES, reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_same, corpora

# One group: "Bob of York" as a whole, or "Bob" and "York" together; and York once more, by itself.
GROUPED = Frames.of(
    documents=pl.DataFrame({"document": ["d", "e"], "text": ["Bob of York", "none"]}),
    annotations=pl.DataFrame(
        {
            "annotation": ["d#0,11", "d#0,3", "d#7,11", "d#7,11;2"],
            "document": ["d"] * 4,
            "begin": [0, 0, 7, 7],
            "end": [11, 3, 11, 11],
            "group": ["g", "g", "g", "h"],
            "option": ["g;0", "g;1", "g;1", "d#7,11;2"],
            "ignorable": [None, None, None, "optional"],
        }
    ),
    links=pl.DataFrame({"annotation": ["d#0,3", "d#0,3"], "entity": ["a", "b"], "entity_as_given": ["a", "b"]}),
)


def lost(feature: str) -> tuple[Frames, list[tuple[str, int, str]]]:
    frames, losses = reduce_frames(GROUPED, EVERYTHING - {feature})
    return frames, [(loss.kind, loss.count, loss.example) for loss in losses]


def test_all_options_but_the_first_go_with_their_links() -> None:
    frames, losses = lost("alternatives")
    # The parts of the second option are two annotations.
    assert losses == [("alternatives", 2, "d#0,3")]
    assert frames.annotations["annotation"].to_list() == ["d#0,11", "d#7,11;2"]
    assert frames.links.is_empty()


def test_parts_become_annotations_of_their_own() -> None:
    frames, losses = lost("parts")
    assert losses == [("parts", 2, "d#0,3")]
    assert frames.annotations["group"].to_list() == ["g", "d#0,3", "d#7,11", "h"]


def test_ignorable_annotations_never_become_gold() -> None:
    frames, losses = lost("ignorable")
    assert losses == [("ignorable", 1, "d#7,11;2")]
    assert frames.annotations["ignorable"].null_count() == 3


def test_first_link_stays_and_documents_without_annotations_go() -> None:
    frames, losses = lost("links")
    assert (frames.links["entity"].to_list(), losses) == (["a"], [("links", 1, "d#0,3")])
    frames, losses = lost("unannotated")
    assert (frames.documents["document"].to_list(), losses) == (["d"], [("unannotated", 1, "e")])


def test_annotations_of_one_span_that_are_no_alternatives_become_them() -> None:
    annotations = pl.DataFrame({"annotation": ["a", "b"], "document": ["d"] * 2, "begin": [0, 0], "end": [3, 3]})
    frames, losses = reduce_frames(Frames.of(annotations=annotations), EVERYTHING - {"repeated-spans"})
    assert [(loss.kind, loss.count) for loss in losses] == [("repeated-spans", 2)]
    assert frames.annotations["group"].n_unique() == 1


def test_alternatives_on_one_span_are_lost_where_mentions_on_it_are_kept_apart() -> None:
    row = {"annotation": ["a", "b"], "document": ["d"] * 2, "begin": [0, 0], "end": [3, 3], "group": ["a", "a"]}
    frames, losses = reduce_frames(Frames.of(annotations=pl.DataFrame(row)), EVERYTHING - {"alternatives"})
    assert [(loss.kind, loss.count) for loss in losses] == [("alternatives", 2)]
    assert frames.annotations["group"].to_list() == ["a", "b"]


@pytest.mark.long
@given(corpora(), st.sets(st.sampled_from(sorted(FEATURES))))
def test_what_was_left_out_once_is_not_lost_again(frames: Frames, holds: set[str]) -> None:
    left, losses = reduce_frames(frames, holds)
    again, none = reduce_frames(left, holds)
    assert none == ()
    assert_same(again, left)
    assert {loss.kind for loss in losses}.isdisjoint(holds)


def test_formats_hold_what_there_is() -> None:
    assert {feature for one in FORMATS for feature in one.holds} <= EVERYTHING
    assert all(one.write is not None for one in FORMATS if one.holds)


def test_format_that_is_unknown_or_lacks_texts_is_refused() -> None:
    bare = Frames.of(documents=pl.DataFrame({"document": ["d"]}))
    with pytest.raises(UsageError, match="nif needs the text of d"):
        write(bare, Path("x.ttl"), "nif")
    with pytest.raises(UnknownName, match="neleval"):
        write(bare, Path("x.ttl"), "nelevall")


def test_annotations_of_documents_that_are_not_there_are_named(tmp_path: Path) -> None:
    annotations = GROUPED.annotations.filter(pl.col("annotation") == "d#7,11;2").with_columns(document=pl.lit("gone"))
    frames = Frames.of(documents=GROUPED.documents, annotations=annotations, links=GROUPED.links)
    assert ("dangling", 1) in [(loss.kind, loss.count) for loss in write(frames, tmp_path / "x.json", "gerbil-json")]


@pytest.mark.long
def test_real_files_lose_nothing_that_is_not_named(real_data: Path, tmp_path: Path) -> None:
    """Counted in annotations: what is read of a file that was written is what was read before, but for the losses."""
    names = ["emnlp2019/gold/2019_05_19_KORE50.ttl.gz", "nif/dbpedia-spotlight/dbpedia-spotlight-nif.ttl.gz"]
    whole = [format for format in FORMATS if format.write is not None]
    for frames in (read(real_data / name).frames for name in names):
        for format in whole:
            path = tmp_path / (format.name + (".zip" if format.collection else format.suffixes[0]))
            losses = {loss.kind: loss.count for loss in write(frames, path, format.name)}
            held, _ = reduce_frames(frames, format.holds)
            left = held.annotations.height - losses.get("overlaps", 0) - losses.get("entities", 0)
            assert read(path, unannotated=True).frames.annotations.height == left, (format.name, losses)
            path.unlink()
