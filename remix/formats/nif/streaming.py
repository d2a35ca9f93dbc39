"""NIF that is larger than memory, a triple a line, into a folder of frames: in bounded memory, without the store.

The lines pass once. The triples of a text and of its annotations, which may stand in different files and orders, are
set aside on disk by the name of the document; then each share of the documents is read as a file of its own would be,
with the same repairs. An interrupted load goes on after the last file that was passed, or the last part written.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from remix import names
from remix._version import __version__
from remix.errors import BadInput, UsageError
from remix.expressions import fill
from remix.files import default_name, readable, write_whole
from remix.formats import LoadReport, nif, refuse_defects, sizes_of
from remix.formats.identifiers import document_names
from remix.formats.nif.blocks import number_subjects
from remix.formats.nif.mentions import extract_tables
from remix.formats.nif.published import ADDED, ALTERNATIVE, state_as_given
from remix.formats.nif.scoping import name_blank_nodes
from remix.formats.repairs import RepairTally
from remix.frames import Frames
from remix.frames_folder import FramesFolder, finish, under_way, write_part
from remix.progress import moving, reading
from remix.rdf.iris import dataset_iri
from remix.rdf.ntriples import LINE, blocks_of_lines, triples
from remix.rdf.terms import iri

SHARE = 64 << 20
"""How many bytes of lines are read together as one part."""

_RATIOS = {".bz2": 20.0, ".gz": 12.0, ".zst": 15.0}
"""About how many times as long a file is that is not compressed."""


@dataclass(frozen=True)
class Streamed:
    """The frames that were written, and the report of what was found and repaired."""

    folder: FramesFolder
    report: LoadReport


def stream(
    files: Sequence[Path | str],
    to: Path | str,
    *,
    name: str | None = None,
    base_iri: str = "urn:remix:dataset:",
    strict: bool = False,
    replace: bool = False,
    share: int = SHARE,
) -> Streamed:
    """Return the frames of one dataset, written into a folder, from one or more files of NIF with a triple a line.

    N-Triples, N-Quads and Turtle without abbreviations, plain or compressed. The triples of a subject must stand
    together. The name is by default the folder's. `strict` refuses what would be repaired; `share` is how many bytes
    of lines are held at a time.

    Raises `BadInput` for what is cut short, is no such file, or holds no text or no annotation, `UsageError` for a
    folder that is there already, unless `replace` says that its frames may go.
    """
    to, paths = Path(to), [Path(file) for file in files]
    if any(str(path) == "-" for path in paths):
        raise UsageError("standard input cannot be streamed into frames: it is read twice; name a file")
    called = name or default_name(to)
    iri = dataset_iri(called, base_iri)
    plan = {"files": _identities(paths), "iri": iri, "share": share, "remix": __version__, "polars": pl.__version__}
    size = sum(path.stat().st_size * _RATIOS.get(path.suffix, 1.0) for path in paths)
    buckets = min(4096, max(1, round(size / share)))
    with under_way(to, plan, replace=replace) as place:
        (place / "spill").mkdir(exist_ok=True)
        passed = [_pass(path, place / "spill" / f"{n}.lines", n, buckets) for n, path in enumerate(paths)]
        done = _parts(place, len(paths), buckets, iri)
        report = _report(paths, passed, done)
        _accept(report, strict=strict)
        shutil.rmtree(place / "spill")
        shutil.rmtree(place / "found")
        inputs = [{"file": path.name, "content": one["digest"]} for path, one in zip(paths, passed, strict=True)]
        about = {"name": called, "iri": iri, "parts": buckets, "inputs": inputs}
        return Streamed(finish(place, to, about | report.describe()), report)


def _report(paths: Iterable[Path], passed: list[dict[str, Any]], done: list[dict[str, Any]]) -> LoadReport:
    tally = RepairTally()
    for found in (one["mends"] for one in [*passed, *done]):
        for kind, count in found["counts"].items():
            tally.add(kind, found["examples"][kind], count, found["each"][kind])
    sizes = sizes_of(Frames.empty())
    counts = {name: sum(one["counts"].get(name, 0) for one in done) for name in sizes}
    return LoadReport(
        file=", ".join(readable(path) for path in paths),
        format="nif",
        **counts,
        triples=sum(one["triples"] for one in passed),
        repairs=tally.repairs(),
    )


def _identities(paths: Iterable[Path]) -> list[list[object]]:
    """Return what tells whether a file is the one that was passed before; raises `BadInput` where there is none."""
    found: list[list[object]] = []
    for path in paths:
        if not path.is_file():
            raise BadInput(readable(path), "is a folder; name the files in it" if path.is_dir() else "no such file")
        stat = path.stat()
        found.append([readable(path.resolve()), stat.st_size, stat.st_mtime_ns])
    return found


def _accept(report: LoadReport, *, strict: bool) -> None:
    if not report.documents:
        raise BadInput(report.file, f"has {report.annotations} annotations but not one of their texts (nif:isString)")
    if not report.annotations:
        raise BadInput(report.file, f"has {report.documents} documents but no annotation")
    if strict:
        refuse_defects(report.file, report.repairs)


def _pass(path: Path, to: Path, number: int, buckets: int) -> dict[str, Any]:
    """Return what was found in a file, after its triples were set aside by the documents that they are about."""
    index = to.with_suffix(".json")
    if not index.exists():
        spill = _Spill(to)
        try:
            spill.finish(_set_aside(path, spill, number, buckets))
        finally:
            spill.close()
    found: dict[str, Any] = json.loads(index.read_text())["found"]
    return found


def _set_aside(path: Path, spill: _Spill, number: int, buckets: int) -> dict[str, Any]:
    tally, digest, count = RepairTally(), hashlib.sha256(), 0
    rest = pl.DataFrame(schema=LINE)
    taken = 0
    with reading(path, path.stat().st_size) as done:
        for block in blocks_of_lines(path):
            digest.update(block.data)
            rows, bad = triples(block)
            if bad.height:
                _count_bad_lines(path, rows, bad, tally, first=not count)
            count += rows.height
            # The triples of the last subject may go on in the next block.
            whole = pl.concat([rest, rows])
            last = whole["subject"].rle_id() == whole["subject"].rle_id().max()
            spill.add(_with_homes(whole.filter(~last), number, buckets, tally))
            rest = whole.filter(last)
            done(block.taken - taken)
            taken = block.taken
        spill.add(_with_homes(rest, number, buckets, tally))
    return {"digest": digest.hexdigest(), "triples": count, "mends": vars(tally)}


def _count_bad_lines(path: Path, rows: pl.DataFrame, bad: pl.DataFrame, tally: RepairTally, *, first: bool) -> None:
    """Count the lines that are no triple; raises `BadInput` where the file is in no such form at all."""
    line, text = bad.row(0)
    if first and (bad.height > rows.height or text.lstrip().startswith(("@prefix", "PREFIX", "@base"))):
        raise BadInput(
            readable(path),
            "is not one whole triple a line: `remix load` without --to frames reads it where it fits in memory; "
            "else write it as N-Triples first",
            line=line,
        )
    tally.add("no-triple", f"{readable(path.name)}:{line}: {text[:100]}", bad.height)


def _with_homes(rows: pl.DataFrame, number: int, buckets: int, tally: RepairTally) -> pl.DataFrame:
    found = _find_homes(rows.filter(pl.col("predicate").is_in(_KEPT)))
    astray = found.filter(pl.col("home").is_null())
    if astray.height:
        count, example = astray["subject"].n_unique(), astray["subject"][0]
        tally.add("no-context", f"{example} is neither a text nor in one (nif:referenceContext)", count)
    homed = found.drop_nulls("home").with_columns(bucket=pl.col("name").hash(0) % buckets)
    if number:  # the same label in two files names two nodes
        label = fill("_:f{}{}", pl.lit(number), pl.col("subject").str.slice(2))
        homed = homed.with_columns(
            subject=pl.when(pl.col("subject").str.starts_with("_:")).then(label).otherwise("subject")
        )
    return homed.select("bucket", "subject", "predicate", "object")


def _parts(place: Path, files: int, buckets: int, iri: str) -> list[dict[str, Any]]:
    """Return what was found in each part, after those that are not there yet have been written."""
    spills = [place / "spill" / f"{n}.lines" for n in range(files)]
    indexes = [json.loads(spill.with_suffix(".json").read_text())["index"] for spill in spills]
    (place / "found").mkdir(exist_ok=True)
    every = []
    with moving("documents", buckets, " parts") as more:
        for bucket in range(buckets):
            file = place / "found" / f"{bucket}.json"
            if not file.exists():
                rows = [part for s, i in zip(spills, indexes, strict=True) for part in _read_spill(s, i, bucket)]
                found = _part(place, bucket, rows, iri)
                with write_whole(file) as stream:
                    stream.write(json.dumps(found).encode())
            every.append(json.loads(file.read_text()))
            more(1)
    return every


def _part(place: Path, number: int, rows: list[pl.DataFrame], iri: str) -> dict[str, Any]:
    tally = RepairTally()
    frames = _frames(rows, iri, tally) if rows else Frames.empty()
    write_part(place, number, frames)
    return {"counts": sizes_of(frames), "mends": vars(tally)}


def _frames(rows: list[pl.DataFrame], iri: str, tally: RepairTally) -> Frames:
    whole = state_as_given(pl.concat(rows)).with_columns(pl.col("predicate").cast(pl.Categorical))
    rows.clear()
    numbered = number_subjects(name_blank_nodes(whole, iri), tally)
    del whole
    found = extract_tables(numbered, iri, tally).frames(iri)
    return replace(found, documents=found.documents.sort("document"), annotations=found.annotations.sort("annotation"))


_TEXT = f"<{names.NIF}Context>"
_KEPT = [
    *(nif.BROADER, nif.CLASS, nif.CONTEXT, nif.DOCUMENT, nif.ENTITY_TYPE, nif.GIVEN, nif.IDENT),
    *(nif.IGNORABLE, nif.SAME, nif.SOURCE, nif.TYPE, *nif.LITERALS.values(), ADDED, ALTERNATIVE),
]
"""The predicates of the triples that frames are made of."""


def _find_homes(triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples with `home`, the text that they are about, and the `name` of that document.

    An annotation is about its nif:referenceContext (or rmx:document), a text about itself; what is neither has none.
    A text that is part of another stands with its name also at the other, which is told by it to be no document.
    """
    numbered = triples.with_columns(run=pl.col("subject").rle_id())
    refers = numbered.filter(pl.col("predicate").is_in([nif.CONTEXT, nif.DOCUMENT, ALTERNATIVE])).select(
        "run", home="object"
    )
    is_text = (pl.col("predicate") == nif.TEXT) | ((pl.col("predicate") == nif.TYPE) & (pl.col("object") == _TEXT))
    texts = numbered.filter(is_text).select("run", home="subject")
    # A text may refer to itself.
    found = pl.concat([texts, refers]).unique("run", keep="first", maintain_order=True)
    homed = numbered.join(found, on="run", how="left", maintain_order="left").drop("run")
    wholes = homed.filter(pl.col("predicate") == nif.BROADER).with_columns(home="object")
    named = pl.concat([homed, wholes]) if wholes.height else homed
    every = named.select("home").drop_nulls().unique(maintain_order=True)
    given = every.select(pl.coalesce(iri(pl.col("home")), "home")).to_series()
    # `a-2` may be the name that the second `a` gets.
    every = every.with_columns(name=document_names(given).str.replace(r"(?:-[0-9]+)+$", ""))
    return named.join(every, on="home", how="left", maintain_order="left")


class _Spill:
    """Takes rows in any order; `finish` writes the index, without which the file does not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("wb")
        self._index: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, rows: pl.DataFrame) -> None:
        """Set rows aside by their column `bucket`, which is dropped."""
        for (bucket,), part in rows.partition_by(
            "bucket", as_dict=True, include_key=False, maintain_order=True
        ).items():
            place, buffer = self._stream.tell(), io.BytesIO()
            part.write_ipc(buffer, compression="lz4")
            self._stream.write(buffer.getbuffer())
            self._index[str(bucket)].append((place, self._stream.tell() - place))

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the index, with a summary of what was found on the way, after all rows are on disk."""
        self._stream.close()
        with write_whole(self.path.with_suffix(".json")) as stream:
            stream.write(json.dumps({"index": self._index, "found": summary}).encode())

    def close(self) -> None:
        """Close the file, also where reading has failed and there is no index."""
        self._stream.close()


def _read_spill(path: Path, index: dict[str, list[list[int]]], bucket: int) -> list[pl.DataFrame]:
    """Return the rows of a bucket, in the order in which they were set aside."""
    with path.open("rb") as stream:
        parts = []
        for place, length in index.get(str(bucket), []):
            stream.seek(place)
            parts.append(pl.read_ipc(io.BytesIO(stream.read(length))))
    return parts
