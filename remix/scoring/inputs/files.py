"""Gold and answers in files or in memory, and repeats of one run, as of a system that answers otherwise each time.

Repeats are called `NAME#1`, `NAME#2`, …: given so (`--run NAME#1=FILE`), or told apart in a file that numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.files import default_name
from remix.formats import NOTED, Repair, read
from remix.formats.settings import format_for
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.names import REPEAT
from remix.signature import content_hash


def read_frames(
    files: Sequence[Path | str], *, unannotated: bool = False, answers: bool = False, formats: Iterable[str] = ()
) -> Frames:
    """Return the documents and annotations of the files, one after another; each file is a dataset of its name.

    Files of one name are told apart by an ordinal. `unannotated` accepts texts without annotations, as a system
    without answers leaves them, and `answers` reads these where a file holds gold, too; `formats` are those of the
    files, as `format_for` has them. What was repaired is told.
    Raises `BadInput` for a file that cannot be read.
    """
    return read_contents(files, unannotated=unannotated, answers=answers, formats=formats)[0]


def read_contents(
    files: Sequence[Path | str], *, unannotated: bool = False, answers: bool = False, formats: Iterable[str] = ()
) -> tuple[Frames, str]:
    """Return what `read_frames` does, and the hash of the files' contents, which is the same under other names."""
    parts, contents = [], []
    names: dict[str, int] = {}
    for file in files:
        stem = default_name(file)
        names[stem] = names.get(stem, 0) + 1
        name = f"{stem}-{names[stem]}" if names[stem] > 1 else stem
        frames, content = _read_one(file, name, format_for(file, formats), unannotated=unannotated, answers=answers)
        contents.append(content)
        parts.append(frames.in_dataset(name))
    return Frames.concat(parts), content_hash(*contents)


def _read_one(
    file: Path | str, name: str, format: str | None, *, unannotated: bool, answers: bool
) -> tuple[Frames, str]:
    """Return the frames of a file or of a folder of frames, and the hash of its content."""
    if is_frames_folder(file):
        folder = FramesFolder.open(file)
        return folder.read(range(folder.parts)), folder.content
    reading = read(file, name=name, format=format, unannotated=unannotated, answers=answers)
    _tell(str(reading.report.file), reading.report.repairs)
    return reading.frames, reading.content


def _tell(place: str, repairs: Iterable[Repair]) -> None:
    for repair in repairs:
        if repair.kind not in NOTED or repair.kind == "column":  # of which nobody knows what it might have said
            progress.note(f"{place}: {repair.kind} ({repair.count}), first: {repair.example}")


GivenAnswers = Path | str | Frames | pl.DataFrame | Sequence[Path | str]
"""Answers of a run: a file of any format or several, frames, or a table with a mention a row."""


def answers_of(name: str, given: GivenAnswers, formats: Iterable[str] = ()) -> tuple[Frames, str]:
    """Return the frames of a run's answers, and the names of the files that they are from.

    A table has the columns document, begin, end and entity (see `remix.formats.mapping.reading.read_table`). Raises
    `BadInput` for a file or a table that cannot be read.
    """
    if isinstance(given, Frames):
        given.check(f"run '{name}'")
        return given, ""
    if isinstance(given, pl.DataFrame):
        from remix.formats.mapping.reading import read_table

        found = read_table(f"the table of '{name}'", given, default_name(name))
        _tell(f"the table of '{name}'", found.repairs)
        return found.frames, ""
    files = files_of(given)
    return read_frames(files, unannotated=True, answers=True, formats=formats), ", ".join(file.name for file in files)


def files_of(given: GivenAnswers) -> list[Path]:
    """Return the files of a run's answers, none of answers in memory.

    >>> files_of(["a.tsv", "b.tsv"]), files_of(Frames.empty())
    ([PosixPath('a.tsv'), PosixPath('b.tsv')], [])
    """
    if isinstance(given, Frames | pl.DataFrame):
        return []
    return [Path(given)] if isinstance(given, str | Path) else [Path(file) for file in given]


def run_files(settings: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system from `NAME=FILE` settings, split at the first `=`; names alone are left out.

    >>> run_files(["a=x.ttl", "b=y=z.ttl", "a=w.ttl"])["a"]
    [PosixPath('x.ttl'), PosixPath('w.ttl')]
    """
    found: dict[str, list[Path]] = {}
    for setting in settings:
        name, equals, file = setting.partition("=")
        if not equals and not Path(setting).is_file():
            continue
        if not (name and file):
            raise UsageError(f"'{setting}' is no NAME=FILE: write --run tagme={setting or 'tagme.ttl'}")
        found.setdefault(name, []).append(Path(file))
    return found


def repeats_of(runs: Mapping[str, Frames]) -> dict[str, Frames]:
    """Return the runs, those of files that number repeats as several, named `NAME#1`, `NAME#2`, …."""
    found = {}
    for name, run in runs.items():
        numbers = run.values.filter(pl.col("term") == REPEAT)
        if numbers.is_empty():
            found[name] = run
            continue
        of_documents = run.values.join(run.documents, left_on="subject", right_on="document", how="semi")
        told = of_documents["text"].cast(pl.Int64, strict=False).drop_nulls().cast(pl.Float64)
        for number in pl.concat([numbers["number"], told]).drop_nulls().unique().sort():
            own = run.keep(annotations=numbers.filter(pl.col("number") == number)["subject"])
            # What a document had in another repeat is not this one's.
            other = pl.col("text").cast(pl.Int64, strict=False).cast(pl.Float64) != number
            values = own.values.filter(
                ~(other.fill_null(False) & pl.col("subject").is_in(run.documents["document"].implode()))
            )
            subjects = pl.concat([run.documents["document"], run.annotations["annotation"]])
            made = run.values.filter(~pl.col("subject").is_in(subjects.implode()))
            found[f"{name}#{number:.0f}"] = replace(own, values=pl.concat([values, made]))
    return found


def contents_of_repeats(runs: Iterable[str], contents: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes of the runs' contents, those of repeats made of the hash of their file and their number."""
    found = dict(contents)
    for name in runs:
        file, mark, number = name.rpartition("#")
        if mark and name not in contents and file in contents:
            found[name] = content_hash(contents[file], mark, number)
    return found
