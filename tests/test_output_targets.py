"""Where every verb writes: devices, pipes, links and files; and what is left of killed commands."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from remix.errors import Error
from remix.files import write_together, write_whole
from remix.places import folder_written, sweep
from tests.processes import PythonProcess, run_python


def put(path: Path | str, content: bytes = b"new") -> None:
    with write_whole(path) as stream:
        stream.write(content)


def test_device_takes_the_bytes_and_is_not_replaced() -> None:
    put("/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_pipe_takes_the_bytes_and_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    put(pipe)
    reader.join()
    assert found == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name_is_written_where_it_stands(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    program = (
        f"print('before')\nfrom remix.files import write_whole\nwith write_whole('{name}') as s: s.write(b'new\\n')"
    )
    with target.open("wb") as stream:
        before = os.fstat(stream.fileno()).st_ino
        assert run_python(["-c", program + "\nprint('after')"], stdout=stream).returncode == 0
    assert target.read_text() == "before\nnew\nafter\n"
    assert target.stat().st_ino == before


def test_symbolic_link_is_followed_and_stays(tmp_path: Path) -> None:
    target, link, further = tmp_path / "there" / "out.txt", tmp_path / "link", tmp_path / "further"
    target.parent.mkdir()
    link.symlink_to("there/out.txt")
    further.symlink_to(link)
    put(further, b"first")  # the file that it leads to is not there yet
    put(further)
    assert target.read_bytes() == b"new"
    assert link.is_symlink() and further.is_symlink()


def test_named_file_is_overwritten_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_bytes(b"old")
    target.chmod(0o640)
    put(target)
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("kind", ["folder", "loop"])
def test_what_cannot_be_written_is_named(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir() if kind == "folder" else target.symlink_to(target)
    with pytest.raises(Error, match="out cannot be written"):
        put(target)
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_files_that_belong_together_are_there_together_or_not_at_all(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    other.mkdir()
    with pytest.raises(Error, match="other cannot be written"):
        write_together({one: b"1", other: b"2"})
    assert not one.exists()
    other.rmdir()
    write_together({one: b"1", other: b"2"})
    assert (one.read_bytes(), other.read_bytes()) == (b"1", b"2")


PAIR = """import os, sys
from pathlib import Path
from remix.files import write_together
folder, steps = Path(sys.argv[1]), int(sys.argv[2])
def counted(move):
    def moved(*names, **more):
        global steps
        if not steps:
            os._exit(9)
        steps -= 1
        return move(*names, **more)
    return moved
os.rename, os.replace = counted(os.rename), counted(os.replace)
write_together({folder / "remix": b"new", folder / "manifest": b"of new"})
"""


@pytest.mark.long
def test_pair_of_files_is_never_half_new_wherever_a_command_is_killed(tmp_path: Path) -> None:
    seen: set[tuple[object, ...]] = set()
    for old in (False, True):
        for steps in range(6):
            folder = tmp_path / f"{old}-{steps}"
            folder.mkdir()
            if old:
                write_together({folder / "remix": b"old", folder / "manifest": b"of old"})
            done = run_python(["-c", PAIR, str(folder), str(steps)])
            read = {file.name: file.read_bytes() for file in folder.glob("[!.]*")}
            # A manifest alone is no remix; a remix is there with the manifest that describes it, or not at all.
            assert "remix" not in read or read["manifest"] == b"of " + read["remix"]
            seen.add((done.returncode, *sorted(read.values())))
            write_together({folder / "remix": b"next", folder / "manifest": b"of next"})
            assert sorted(file.name for file in folder.iterdir()) == ["manifest", "remix"]
    assert {(9,), (9, b"of new"), (9, b"of old"), (0, b"new", b"of new")} <= seen


def test_pair_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"old")
    (tmp_path / "other").mkdir()
    with pytest.raises(Error, match="other cannot be written"):
        write_together({tmp_path / "one": b"1", tmp_path / "other": b"2"})
    assert (tmp_path / "one").read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one", "other"]


KILLED = """import sys, time
from pathlib import Path
from remix.files import write_whole
from remix.places import folder_written
with folder_written(Path(sys.argv[1]) / "folder") as place, write_whole(Path(sys.argv[1]) / "file") as stream:
    (place / "part").write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_command_left_is_swept_by_the_next_writer_and_not_before(tmp_path: Path) -> None:
    (tmp_path / ".mine.remix").write_text("mine")
    (tmp_path / ".mine.remix-1").write_text("mine")
    with PythonProcess(["-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
        put(tmp_path / "other")
        assert len(list(tmp_path.glob(".fi*.remix-*"))) + len(list(tmp_path.glob(".fo*.remix-*"))) == 2
        writer.send_signal(signal.SIGKILL)
    put(tmp_path / "other")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".mine.remix", ".mine.remix-1", "other"]


def test_folder_takes_its_place_whole_and_in_place_of_the_one_before(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    for name in ("first", "second"):
        with folder_written(target) as place:
            (place / name).write_text(name)
            assert not (target / name).exists()
        assert sorted(file.name for file in target.iterdir()) == sorted(["SHA256SUMS", name])
    with pytest.raises(RuntimeError), folder_written(target) as place:
        (place / "third").write_text("third")
        raise RuntimeError
    assert (target / "second").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_folder_that_was_moved_away_by_a_killed_command_is_put_back(tmp_path: Path) -> None:
    (tmp_path / ".run.remix-old").mkdir()
    sweep(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
