"""Damaged archives are unpacked and read, or refused in one line; `bench/fuzz_archives.py` tries thousands."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.fuzz_archives import KINDS, WANTED, Input, archive_of, failure_of
from remix.unpacking import unpack


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(number=st.integers(0, 2**32))
def test_damaged_archive_is_unpacked_or_refused_in_one_line(kind: str, number: int) -> None:
    with TemporaryDirectory() as folder:
        assert failure_of(archive_of(0, number, (kind,)), Path(folder)) == ""


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.zst"])
def test_some_of_the_archives_are_sound_and_unpacked(tmp_path: Path, kind: str) -> None:
    """Else the property above would hold of a reader that refuses everything."""

    def taken(number: int) -> set[str]:
        one: Input = archive_of(0, number, (kind,))
        (tmp_path / one.name).write_bytes(one.data)
        place = tmp_path / f"{kind}-{number}"
        try:
            unpack(tmp_path / one.name, place, WANTED)
        except Exception:
            return set()
        return {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}

    found = [taken(number) for number in range(30)]
    assert {"data/dev/1.ann", "data/dev/1.txt", "texts/a.txt"} in found
