"""ZELDA's token columns and CleanCoNLL: texts rebuilt from tokens, mentions of tags."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix.formats import LoadedFile, read

ZELDA = """-DOCSTART-

# 7 a b\t0.3-0.4
The\tB-1\tB-Old_House
House\tI-1\tI-Old_House
Rome\tB-2\tB-Rome
Rome\tB-2\tB-Rome

# \tO\tO
# x\tO\tO

-DOCSTART-

# 7 a b
nothing\tO\tO
"""


def read_lines(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.conll"
    path.write_text(text, encoding="utf-8")
    return read(path)


def spans(found: LoadedFile) -> list[tuple[object, ...]]:
    frames = found.frames
    rows = frames.annotations.join(frames.links, on="annotation", how="left").sort("document", "begin")
    short = pl.col("entity").str.strip_prefix("http://dbpedia.org/resource/")
    return rows.select("begin", "end", "surface_form", short).rows()


def test_only_the_line_behind_the_start_names_a_document_of_zelda(tmp_path: Path) -> None:
    found = read_lines(tmp_path, ZELDA)
    assert found.report.format == "zelda-conll"
    assert found.frames.documents.select("given", "text").rows() == [
        ("7 a b", "The House Rome Rome\n#  # x"), ("7 a b;2", "nothing")
    ]  # fmt: skip
    assert [(one.kind, one.count) for one in found.report.repairs] == [("shared-name", 2)]


def test_neighbouring_mentions_of_one_entity_are_two(tmp_path: Path) -> None:
    assert spans(read_lines(tmp_path, ZELDA)) == [
        (0, 9, "The House", "Old_House"), (10, 14, "Rome", "Rome"), (15, 19, "Rome", "Rome")
    ]  # fmt: skip


@pytest.mark.parametrize("mask", ["Bob", "[TOKEN]"])
def test_named_entity_of_cleanconll_without_a_link_is_nil(tmp_path: Path, mask: str) -> None:
    lines = (
        "-DOCSTART-\t-X-\tO\tO\tO",
        "",
        "New\tNNP\tO\tO\tB-LOC",
        "York\tNNP\tB-York\tB-LOC\tI-LOC",
        f"{mask}\tNNP\tO\tB-PER\tB-PER",
        "",
        "Rome\tNNP\tB-Rome\tO\tO",
        "-DOCSTART-\t-X-\tO\tO\tO",
    )
    found = read_lines(tmp_path, "\n".join(lines))
    end = 9 + len(mask)
    # `New` is part of a named entity in which York is linked.
    assert spans(found) == [
        (4, 8, "York", "York"), (9, end, mask, None), (end + 1, end + 5, "Rome", "Rome")
    ]  # fmt: skip
    assert found.frames.documents["text"].to_list() == [f"New York {mask}\nRome", ""]
    assert sorted(found.frames.classes["class"].str.extract("([A-Z]+)$")) == ["LOC", "PER"]
    told = {one.kind: one.example for one in found.report.repairs}
    masked = {"masked": "line 5: the word is [TOKEN]; CoNLL-2003 has what it is"} if mask != "Bob" else {}
    # The second start is followed by nothing.
    assert told == masked | {"empty-document": "2"}


def test_tag_that_goes_on_with_nothing_begins_a_mention_and_is_told(tmp_path: Path) -> None:
    found = read_lines(tmp_path, "-DOCSTART-\n\n# 1\nAda\tI-1\tI-Ada\nRome\tI-2\tI-Rome\n")
    assert [one[2] for one in spans(found)] == ["Ada", "Rome"]
    assert [(one.kind, one.count, one.example) for one in found.report.repairs] == [
        ("tag", 2, "line 4: I-Ada begins a mention")
    ]
