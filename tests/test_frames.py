"""The frames: complete columns, closed under keeping."""

from __future__ import annotations

import runpy
from pathlib import Path

import polars as pl
import pytest

from bench.fuzz import SEEDS
from remix.errors import BadInput, StoreError
from remix.formats import FORMATS, read
from remix.frames import SCHEMAS, Frames, read_parquet

CHECKOUT = Path(__file__).resolve().parent.parent


def two_documents() -> Frames:
    return Frames.of(
        documents=pl.DataFrame({"document": ["d1", "d2"], "dataset": "s", "text": ["Anna sang.", "Nothing"]}),
        annotations=pl.DataFrame({"annotation": ["a", "b"], "document": ["d1", "d2"], "begin": [0, 0], "end": [4, 7]}),
        links=pl.DataFrame({"annotation": ["a", "b"], "entity": ["e", "f"]}),
        values=pl.DataFrame({"subject": ["a", "d2"], "term": "t", "number": [1.0, 2.0]}),
    )


def test_of_when_columns_are_missing_fills_them_in() -> None:
    frames = two_documents()
    assert all(list(getattr(frames, name).schema) == list(schema) for name, schema in SCHEMAS.items())
    assert frames.documents["words"].to_list() == [2, 1]
    assert frames.annotations["group"].to_list() == ["a", "b"]
    assert frames.annotations["is_nil"].to_list() == [False, False]


def test_keep_when_a_document_goes_all_that_hangs_on_it_goes() -> None:
    kept = two_documents().keep(documents=pl.Series(["d1"]))
    assert kept.annotations["annotation"].to_list() == ["a"]
    assert kept.links["entity"].to_list() == ["e"]
    assert kept.values["subject"].to_list() == ["a"]


def test_keep_when_an_annotation_goes_its_document_stays() -> None:
    kept = two_documents().keep(annotations=pl.Series(["b"]))
    assert kept.documents["document"].to_list() == ["d1", "d2"]
    assert kept.links["entity"].to_list() == ["f"]


def test_gold_leaves_out_what_is_ignorable() -> None:
    frames = two_documents()
    marked = Frames.concat([frames]).annotations.with_columns(ignorable=pl.Series([None, "dropped"]))
    assert Frames.of(annotations=marked).gold().annotations["annotation"].to_list() == ["a"]


def test_write_when_read_back_is_equal(tmp_path: Path) -> None:
    frames = two_documents()
    frames.write(tmp_path)
    back = Frames.read(tmp_path)
    assert all(getattr(back, name).equals(getattr(frames, name)) for name in SCHEMAS)


def folders_of(place: Path, *parts: Frames) -> list[Path]:
    folders = [place / f"part {number}" for number in range(len(parts))]
    for folder, part in zip(folders, parts, strict=True):
        folder.mkdir()
        part.write(folder)
    return folders


def test_several_folders_are_read_as_one_after_another(tmp_path: Path) -> None:
    parts = two_documents(), two_documents().keep(annotations=pl.Series(["b"]))
    read_at_once = Frames.read_all(folders_of(tmp_path, *parts))
    one_by_one = Frames.concat(parts)
    assert all(getattr(read_at_once, name).equals(getattr(one_by_one, name)) for name in SCHEMAS)
    assert Frames.read_all([]).documents.is_empty()


def test_a_folder_from_before_a_column_existed_is_read_among_others(tmp_path: Path) -> None:
    folders = folders_of(tmp_path, two_documents(), two_documents())
    file = folders[1] / "annotations.parquet"
    pl.read_parquet(file).drop("layer").write_parquet(file)
    found = Frames.read_all(folders).annotations
    assert found.columns == list(SCHEMAS["annotations"])
    assert found["annotation"].to_list() == ["a", "b", "a", "b"]


@pytest.mark.parametrize(("content", "said"), [(None, "is gone"), (b"no Parquet", "is damaged")])
def test_of_several_folders_the_file_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    folders = folders_of(tmp_path, two_documents(), two_documents())
    file = folders[1] / "links.parquet"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(StoreError, match=f"part 1/links.parquet {said}"):
        Frames.read_all(folders)


@pytest.mark.at_hand(10)
@pytest.mark.parametrize("format", FORMATS.names())
def test_every_format_reads_the_tables_that_are_declared(tmp_path: Path, format: str) -> None:
    for name, content in SEEDS[format]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        read(tmp_path / name, unannotated=True).frames.check(format)


def test_frames_with_values_of_another_type_are_refused_by_the_name_of_the_table() -> None:
    with pytest.raises(BadInput, match="annotations: a column is of another type .*begin"):
        Frames.of(annotations=pl.DataFrame({"annotation": ["a"], "begin": ["three"]}))


def test_what_is_no_such_table_is_said_with_its_column() -> None:
    frames = two_documents()
    twice = pl.concat([frames.documents, frames.documents])
    with pytest.raises(BadInput, match="x: documents: 2 of 4 rows have the document of another, such as d1"):
        Frames.of(documents=twice).check("x")
    with pytest.raises(BadInput, match=r"x: annotations: 'document' \(the document that it is in\) has no value in 1"):
        Frames.of(annotations=pl.DataFrame({"annotation": ["a"]})).check("x")


def test_tables_in_the_documentation_are_those_that_are_declared() -> None:
    page = CHECKOUT / "docs" / "tables.md"
    script = runpy.run_path(str(CHECKOUT / "scripts" / "tables.py"))
    assert page.read_text(encoding="utf-8") == script["documentation"](), "run `python scripts/tables.py`"


def test_parquet_that_polars_panics_at_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("assertion failed: offset + length <= self.length")

    pl.DataFrame({"n": range(5000)}).write_parquet(tmp_path / "n.parquet")
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(StoreError, match=r"n\.parquet is damaged"):
        read_parquet(tmp_path / "n.parquet")
