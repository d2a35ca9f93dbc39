"""Formats as `--format` names them: `NAME` of all files that are read, `NAME=FILE` of one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from remix.errors import UnknownName, UsageError
from remix.formats import FORMATS, format_named


def format_for(file: Path | str, formats: Iterable[str]) -> str | None:
    """Return the format that a file is to be read as, by `NAME=FILE` or `NAME` for all; None for that of its content.

    >>> format_for("a.tsv", ["hipe", "neleval=a.tsv"]), format_for("b.tsv", ["hipe", "neleval=a.tsv"])
    ('neleval', 'hipe')
    """
    told = {_path(one.partition("=")[2]): one.partition("=")[0] for one in formats}
    return told.get(_path(file), told.get("")) or None


def _path(file: Path | str) -> str:
    return str(Path(file)) if str(file) else ""


def check_formats(formats: Iterable[str], files: Iterable[Path | str]) -> tuple[str, ...]:
    """Return the settings of formats, as `format_for` has them, after a look whether each is of what is read.

    Raises `UnknownName` for a format that does not exist and for a file that is not among those that are read,
    `UsageError` for the two the wrong way round.
    """
    settings, known = tuple(formats), [_path(file) for file in files]
    for one in settings:
        name, equals, file = one.partition("=")
        is_format = name in FORMATS or (name.endswith(".toml") and Path(name).is_file())
        if not is_format and equals and (file in FORMATS or file.endswith(".toml")):
            raise UsageError(f"--format {one} has the file first: the format comes first, --format {file}={name}")
        if not is_format:
            format_named(name)
        if equals and _path(file) not in known:
            raise UnknownName("file that --format is of", file, known, "NAME=FILE", does="names one that is read")
    return settings
