"""Knowledge bases carry checksums: what is not as it was built is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from remix.errors import StoreError
from remix.kb import SHIPPED, KnowledgeBase, open_kb, parts
from remix.places import checksums, is_sound
from remix.store import Store
from remix.store.rebuilding import rebuild


@pytest.fixture(scope="module")
def built(sample_kb: KnowledgeBase) -> Path:
    return sample_kb.folder


@pytest.fixture
def own(built: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return Path(shutil.copytree(built, tmp_path / built.name))


def flip(file: Path) -> None:
    """Change one bit in the middle, where Parquet has no footer that would tell."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_every_file_of_a_knowledge_base_has_its_checksum(built: Path) -> None:
    names = {file.relative_to(built).as_posix() for file in built.rglob("*") if file.is_file()}
    assert set(checksums(built)) == names - {"SHA256SUMS"}
    assert "kb.json" in names


@pytest.mark.parametrize("name", ["entities.parquet", "kb.json"])
def test_flipped_bit_in_a_small_file_is_told_when_the_knowledge_base_is_opened(own: Path, name: str) -> None:
    file = own / name
    if name == "kb.json":  # still JSON, with another number
        file.write_text(file.read_text().replace('"rows": {', '"rows": {"more": 1,'))
    else:
        flip(file)
    with pytest.raises(StoreError, match=f"{name} is damaged .*build the knowledge base 'sample' again"):
        KnowledgeBase.open(own)


def test_flipped_bit_in_a_large_file_is_told_when_it_is_attached_and_by_rebuild(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "SMALL", 100)
    store = Store(own.parent / ".remix")
    store.attach_kb(own)
    flip(own / "dictionary.parquet")
    KnowledgeBase.open(own)
    with pytest.raises(StoreError, match="dictionary.parquet is damaged .*remix kb build"):
        store.attach_kb(own)
    (row,) = rebuild(store.folder).rows()
    assert row[:2] == ("knowledge base", own.name) and "damaged" in row[2]


def test_flipped_bit_in_a_larger_file_is_told_before_its_rows_are_read(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where size and time of the file stay as they were; what is sound beside it is asked as ever."""
    monkeypatch.setattr(parts, "SMALL", 100)
    state = (own / "dictionary.parquet").stat()
    flip(own / "dictionary.parquet")
    os.utime(own / "dictionary.parquet", ns=(state.st_atime_ns, state.st_mtime_ns))
    kb = KnowledgeBase.open(own)
    assert kb.scan("types").collect().height
    with pytest.raises(StoreError, match="dictionary.parquet is damaged .*build the knowledge base 'sample' again"):
        kb.scan("dictionary")


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_damaged_knowledge_base_is_built_again_by_the_same_command(
    own: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        monkeypatch.setattr(parts, "SMALL", 100)
    whole = checksums(own)
    flip(own / "types.parquet")
    made = open_kb(own.parent, SHIPPED)
    assert made.folder == own and is_sound(own) and checksums(own)["types.parquet"] == whole["types.parquet"]


def test_knowledge_base_whose_checksums_are_gone_is_told(own: Path) -> None:
    (own / "SHA256SUMS").unlink()
    with pytest.raises(StoreError, match="SHA256SUMS.*build the knowledge base 'sample' again"):
        KnowledgeBase.open(own)


def test_large_file_that_cannot_be_read_is_told_where_it_is_asked(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checksum is not compared, and its footer is sound: only who reads the rows meets what is wrong."""
    monkeypatch.setattr(parts, "SMALL", 100)
    monkeypatch.setattr(parts, "COMPARED", 100)
    file = own / "dictionary.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    kb = KnowledgeBase.open(own)
    with pytest.raises(StoreError, match="dictionary.parquet is damaged: build the knowledge base 'sample' again"):
        kb.rows("dictionary", "key", kb.scan("surface_forms").select("key").collect()["key"])
