"""AIDA-CoNLL-YAGO: a token a line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from remix.formats import LoadedFile, read, write
from remix.formats.definitions.aida_conll import aida_conll
from remix.formats.losses import reduce_frames
from remix.formats.writing import drop_overlaps, flatten
from remix.frames import Frames
from tests.examples import FEW
from tests.formats.corpora import DATASET, assert_same, corpora, rewritten

LINES = """-DOCSTART- (1 NASA)
NASA\tB\tNASA\tNASA\thttp://en.wikipedia.org/wiki/NASA\t18426568\t/m/05f4p
met
Ada\tB\tAda King\t--NME--
King\tI\tAda King\t--NME--
.

Rome\tB\tRome\tRome
Paris\tB\tParis\tParis

-DOCSTART- (2 none)
nothing
"""


def read_lines(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.conll"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_text_is_rebuilt_and_mentions_are_placed_in_it(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, LINES)
    frames = reading.frames
    assert frames.documents.select("given", "text").rows() == [
        ("1 NASA", "NASA met Ada King .\nRome Paris"), ("2 none", "nothing")
    ]  # fmt: skip
    assert frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil").rows() == [
        (0, 4, "NASA", False), (9, 17, "Ada King", True), (20, 24, "Rome", False), (25, 30, "Paris", False)
    ]  # fmt: skip
    # Rome and Paris have no URL: their YAGO names are titles.
    assert sorted(frames.links["entity"].str.strip_prefix("http://dbpedia.org/resource/")) == ["NASA", "Paris", "Rome"]
    assert reading.report.format == "aida-conll"


def test_what_was_read_is_written_as_it_was_but_for_the_identifiers_of_wikipedia_and_freebase(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    assert write(frames, tmp_path / "y.conll", "aida-conll") == ()
    lines = (tmp_path / "y.conll").read_text().splitlines()
    assert lines[:6] == [
        "-DOCSTART- (1 NASA)",
        "NASA\tB\tNASA\tNASA\thttp://en.wikipedia.org/wiki/NASA",
        "met",
        "Ada\tB\tAda King\t--NME--",
        "King\tI\tAda King\t--NME--",
        ".",
    ]


def test_mention_in_a_word_and_overlaps_are_losses_with_names(tmp_path: Path) -> None:
    text = "New  York-based"
    spans = pl.DataFrame(
        {
            "annotation": ["a", "b"],
            "document": ["d", "d"],
            "begin": [0, 5],
            "end": [9, 9],
            "surface_form": [text[:9], text[5:9]],
        }
    )
    frames = Frames.of(documents=pl.DataFrame({"document": ["d"], "text": [text]}), annotations=spans)
    losses = write(frames, tmp_path / "y.conll", "aida-conll")
    assert [(loss.kind, loss.count) for loss in losses] == [("overlaps", 1), ("white-space", 1)]
    assert read(tmp_path / "y.conll").frames.documents["text"].to_list() == ["New York -based"]


def test_mention_that_begins_with_i_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "-DOCSTART- (1)\nRome\tI\tRome\tRome\n\nParis\tI\tParis\tParis\n")
    assert reading.frames.annotations["surface_form"].sort().to_list() == ["Paris", "Rome"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("tag", 2)]


def forms(frames: Frames) -> list[tuple[str, str, list[str]]]:
    rows, _ = drop_overlaps(flatten(frames))
    form = pl.col("surface_form").str.extract_all(r"\S+").list.join(" ")
    chosen = rows.select("document", form.alias("form"), pl.col("identifiers").fill_null([]))
    return chosen.filter(pl.col("form") != "").rows()


@pytest.mark.long
@settings(max_examples=FEW)
@given(corpora())
def test_round_trip_keeps_forms_and_links_and_is_exact_the_second_time(frames: Frames) -> None:
    held, _ = reduce_frames(frames, aida_conll.holds)
    once = rewritten(held, "aida-conll", "x.conll")
    entities = sorted((document, form) for document, form, _ in forms(held))
    assert sorted((document, form) for document, form, _ in forms(once)) == entities
    assert once.links.height == sum(bool(links) for _, _, links in forms(held))
    assert all(document.startswith(DATASET) for document in once.documents["document"])
    assert_same(rewritten(once, "aida-conll", "x.conll"), once)
