"""Damaged archives, and what unpacking and reading makes of them: files, or one line that says what is wrong.

    python bench/fuzz_archives.py --inputs 4000 --seed 1 [--kind tar.gz ...] [--only N]

Each archive is made of the seed and its number alone. It is unpacked as `remix fetch` does it, and read as `remix load`
does it. What fails is what nobody foresaw, a message of several lines, a file beside the folder, and much time.
`tests/test_unpacking.py` tries a few.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import random
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import zstandard

from bench.fuzz import Input, outcome
from remix.errors import Error, Unforeseen
from remix.places import folder_written
from remix.unpacking import unpack

WANTED = ("data/dev", "texts")
_FILES = {
    "x-1a/data/dev/1.txt": b"Rome is old",
    "x-1a/data/dev/1.ann": b"T1\tCity 0 4\tRome\n",
    "x-1a/texts/a.txt": b"a" * 600,
    "x-1a/else": b"b",
}
_NAMES = (
    *("x-1a/data/dev", "x-1a/data/dev/1.txt/2", "data", "texts", "x-1a/texts/", "x-1a", "x-1a/texts/a.txt", "/texts/b"),
    *("x/../../texts/c", "x-1a/texts/\udcff\udcfe", "x-1a/texts/\0", f"x-1a/texts/{'n' * 300}", "x-1a/texts/C:\\d", ""),
    *("x-1a/texts/./e", "x-1a//texts/f", f"x-1a/texts/{'o/' * 2000}p", "x-1a/texts/ä", "x-1a/texts/\ud800"),
)
_TYPES = (
    *(tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE),
    *(tarfile.DIRTYPE, tarfile.GNUTYPE_SPARSE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE, b"Z"),
)


def _tar(draw: random.Random) -> bytes:
    stream = io.BytesIO()
    form = draw.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=stream, mode="w", format=form, errors="surrogateescape") as archive:
        for name, content in _members(draw):
            info = tarfile.TarInfo(name)
            info.size, info.type = len(content), draw.choice(_TYPES) if draw.random() < 0.1 else tarfile.REGTYPE
            info.linkname = draw.choice(_NAMES) if info.type in (tarfile.LNKTYPE, tarfile.SYMTYPE) else ""
            try:
                archive.addfile(info, io.BytesIO(content))
            except (ValueError, OSError):  # a name that this form of tar has not
                continue
    return stream.getvalue()


def _zip(draw: random.Random) -> bytes:
    stream = io.BytesIO()
    kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings(action="ignore"):  # of names twice
        for name, content in dict(_members(draw)).items():
            try:
                archive.writestr(zipfile.ZipInfo(name), content, draw.choice(kinds))
            except (ValueError, OSError, IndexError):  # a name that no zip has
                continue
    return stream.getvalue()


def _members(draw: random.Random) -> list[tuple[str, bytes]]:
    members = list(_FILES.items())
    for _ in range(draw.choice((0, 0, 1, 2))):
        members.insert(draw.randrange(len(members) + 1), (draw.choice(_NAMES), b"more"))
    return members


_JSON = b'{"text": "Ada met Bob", "mentions": [{"begin": 0, "end": 3, "entity": "http://dbpedia.org/resource/Ada"}]}\n'
KINDS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes], bytes]]] = {
    "zip": (_zip, bytes),
    "tar": (_tar, bytes),
    "tar.gz": (_tar, lambda data: gzip.compress(data, mtime=0)),
    "tar.bz2": (_tar, bz2.compress),
    "tar.xz": (_tar, lzma.compress),
    "tar.zst": (_tar, zstandard.ZstdCompressor().compress),
    "jsonl.gz": (lambda _: _JSON, lambda data: gzip.compress(data, mtime=0)),
    "jsonl.bz2": (lambda _: _JSON, bz2.compress),
    "jsonl.zst": (lambda _: _JSON, zstandard.ZstdCompressor().compress),
}


def _damage(data: bytes, draw: random.Random) -> bytes:
    """Return bytes with some of them changed, cut out, repeated or cut off."""
    made = bytearray(data)
    for _ in range(draw.choice((0, 1, 1, 2, 5, 20))):
        at, many = draw.randrange(len(made) + 1), draw.choice((1, 1, 4, 60, 512))
        match draw.randrange(5):
            case 0:
                made[at : at + 1] = draw.randbytes(1)
            case 1:
                made[at : at + many] = b""
            case 2:
                made[at:at] = made[at : at + many]
            case 3:
                made[at : at + many] = draw.choice((b"\0", b"\xff", b"7", b"-", b"/")) * many
            case _:
                del made[draw.choice((at, len(made) - min(many, len(made)))) :]
    return bytes(made)


def archive_of(seed: int, number: int, kinds: tuple[str, ...] = ()) -> Input:
    """Return the archive of that number, damaged before it is compressed, afterwards, or not at all."""
    draw = random.Random(f"{seed} {number}")
    kind = draw.choice(kinds or tuple(KINDS))
    make, compress = KINDS[kind]
    inner, outer = draw.choice(((True, False), (False, True), (True, True), (False, False)))
    data = make(draw)
    packed = compress(_damage(data, draw) if inner else data)
    return Input(f"a.{kind}", _damage(packed, draw) if outer else packed, None)


def failure_of(one: Input, folder: Path, seconds: float = 10.0) -> str:
    """Return what is wrong with how an archive is unpacked and read, or an empty string."""
    begin = time.process_time()
    try:
        said = [_unpacked(one, folder), outcome(one, folder)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    (folder / "x.nt.zst").unlink(missing_ok=True)  # where triples are read to
    left = [path.name for path in folder.iterdir()]
    if any("\n" in line for line in said):
        return f"says it in several lines: {said!r}"
    if left:
        return f"leaves {left}"
    took = time.process_time() - begin
    return f"takes {took:.1f} seconds" if took > seconds else ""


def _unpacked(one: Input, folder: Path) -> str:
    """Return the error of unpacking in one line, or an empty string; raises what nobody foresaw."""
    path, place = folder / one.name, folder / "place"
    path.write_bytes(one.data)
    try:
        with folder_written(place, sealed=False) as aside:
            unpack(path, aside, WANTED)
        for made in sorted(place.rglob("*"), reverse=True):
            made.rmdir() if made.is_dir() else made.unlink()
        place.rmdir()
        return ""
    except Unforeseen:
        raise
    except Error as error:
        return str(error)
    finally:
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), default=[])
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.inputs) if options.only is None else [options.only]
    failed, begin = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            one = archive_of(options.seed, number, tuple(options.kind))
            if options.only is not None:
                print(one, flush=True)
            if wrong := failure_of(one, Path(name)):
                failed += 1
                print(f"{number} ({one.name}): {wrong.replace(name, '')[:400]}", flush=True)
    print(f"{len(numbers):,} archives, {failed} failed, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
