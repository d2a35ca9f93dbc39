"""Reading whatever the compression, and writing whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from remix import files
from remix.errors import BadInput, Error, UsageError
from remix.files import default_name, open_bytes, read_bytes, stem, write_whole

TEXT = "Ä line with a snowman ☃\n".encode() * 1000
COMPRESSIONS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "zstandard": zstandard.compress}


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_read_when_compressed_gives_the_content_whatever_the_suffix(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "corpus.ttl"
    file.write_bytes(COMPRESSIONS[kind](TEXT))
    assert read_bytes(file) == TEXT


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstandard"])
def test_read_when_cut_short_names_the_file(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "corpus.ttl"
    whole = COMPRESSIONS[kind](TEXT)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"corpus\.ttl: .*cut short or damaged"):
        read_bytes(file)


def test_read_when_many_gzip_members_follow_gives_all(tmp_path: Path) -> None:
    file = tmp_path / "a.gz"
    file.write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    assert read_bytes(file) == b"one two"


def test_read_when_zstandard_frames_follow_gives_all(tmp_path: Path) -> None:
    file = tmp_path / "a.zst"
    file.write_bytes(zstandard.compress(b"one ") + zstandard.compress(b"two"))
    assert read_bytes(file) == b"one two"


@pytest.mark.parametrize(("name", "reason"), [("nothing", "no such file"), ("folder", "is a folder")])
def test_read_when_it_is_no_file_says_what_it_is(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match=reason), open_bytes(tmp_path / name):
        pass


def test_written_when_the_block_fails_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("old")
    with pytest.raises(KeyboardInterrupt), write_whole(file) as stream:
        stream.write(b"new")
        raise KeyboardInterrupt
    assert [p.name for p in tmp_path.iterdir()] == ["table.csv"]
    assert file.read_text() == "old"


_LEFT = """
import sys, threading, time
from pathlib import Path
from remix.files import write_whole
from remix.places import folder_written

def work():
    place = Path(sys.argv[1])
    with write_whole(place / "file") as stream, folder_written(place / "folder") as folder:
        (folder / "part").write_text("half")
        stream.write(b"half")
        print("within", flush=True)
        time.sleep(60)

threading.Thread(target=work, daemon=True).start()
sys.stdin.readline()
"""


def test_written_when_the_process_ends_within_the_block_leaves_no_trace(tmp_path: Path) -> None:
    """As a server does that waits no longer for the thread of a page."""
    with subprocess.Popen(
        [sys.executable, "-c", _LEFT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "within\n"
        assert len([*tmp_path.iterdir()]) == 2
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait(30) == 0
    assert not [*tmp_path.iterdir()]


def test_written_when_the_folder_is_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(Error, match="cannot be written"), write_whole(tmp_path / "a" / "b"):
        pass


@pytest.mark.parametrize(
    ("path", "name", "dataset"),
    [
        ("x/News-100.ttl", "News-100", "news-100"),
        ("a.nt.bz2", "a", "a"),
        ("Ü.ttl", "Ü", "u"),
        ("文.ttl", "文", "dataset"),
        (".nt", ".nt", "nt"),
    ],
)
def test_names_come_from_the_file(path: str, name: str, dataset: str) -> None:
    assert (stem(path), default_name(path)) == (name, dataset)


ZEROS = b"0" * (1 << 22)


def bomb(kind: str) -> bytes:
    """Return a small file that becomes 64 MB: frames, members and streams may follow each other."""
    return COMPRESSIONS[kind](ZEROS * 4) * 4


@pytest.fixture
def four_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may become 4 MB whatever their size, instead of 256."""
    monkeypatch.setattr(files, "FREE", 1 << 22)


@pytest.mark.usefixtures("four_free")
@pytest.mark.parametrize("kind", ["gzip", "bzip2", "zstandard"])
def test_read_when_it_becomes_too_much_is_refused_in_bounded_memory(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIX_MAX_EXPANSION", "100")
    (tmp_path / "bomb").write_bytes(bomb(kind))
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=r"bomb: [\d,]+ compressed bytes become more than [\d,]+: .*REMIX_MAX_EXP"):
            read_bytes(tmp_path / "bomb")
        # 4 MB are free, a piece of zstandard becomes 16 MB.
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("four_free")
def test_read_when_it_is_allowed_becomes_as_much_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zst").write_bytes(bomb("zstandard"))
    monkeypatch.setenv("REMIX_MAX_EXPANSION", "1000000")
    assert len(read_bytes(tmp_path / "a.zst")) == 1 << 26
    monkeypatch.setenv("REMIX_MAX_EXPANSION", "much")
    with pytest.raises(UsageError, match="REMIX_MAX_EXPANSION is a number above 0, not 'much'"):
        read_bytes(tmp_path / "a.zst")


@pytest.mark.usefixtures("four_free")
def test_read_when_it_is_remix_s_own_file_has_no_limit(tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(bomb("zstandard"))
    assert len(read_bytes(tmp_path / "a.zst", own=True)) == 1 << 26
