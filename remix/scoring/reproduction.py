"""Records of evaluations: all that is needed to run one again, and to see that the same comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from remix import tables
from remix._version import __version__
from remix.errors import BadInput, Error
from remix.files import write_whole
from remix.scoring.choice import Choice
from remix.scoring.inputs.sources import Sources
from remix.signature import Signature, content_hash

PATHS = ("entities", "hierarchy", "relax")


def write_record(to: Path, rows: pl.DataFrame, sources: Sources, choice: Choice) -> None:
    """Write the record of an evaluation as JSON: what was asked, the files named, its signatures, its rows' hash.

    A file has its `name`, the SHA-256 of its bytes, and as `place` where it was.
    """
    plain = json.loads(json.dumps({**vars(sources), **choice.keywords()}, default=str))
    files = [{"name": path.name, "place": str(path), "sha256": content_hash(path)} for path in _files(plain)]
    record = {
        "remix": __version__,
        "arguments": plain,
        "files": files,
        "signatures": _signatures(rows),
        "short": {system: Signature.parse(line).short() for system, line in _signatures(rows).items()},
        "rows": _rows_hash(rows),
    }
    with write_whole(to) as stream:
        stream.write(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def read_record(file: Path) -> dict[str, Any]:
    """Return the record of a file, as `write_record` wrote it, with `arguments`: the keywords of `asked_of`.

    A file that is not where it was is taken from the folder of the record. Raises `BadInput` for a file that is no
    record, and for one that it names and that is gone or has other bytes.
    """
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        places = {one["place"]: _place(file, one) for one in record["files"]}
        arguments = {name: _move(value, places) for name, value in record["arguments"].items()}
        known = {"rows": str(record["rows"]), "signatures": dict(record["signatures"]), "names": arguments["names"]}
    except OSError as error:
        raise BadInput(file, f"cannot be read ({error.strerror or error})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(file, "is no record of an evaluation: remix evaluate … --signature-to FILE writes one") from None
    for name in PATHS:
        if arguments.get(name):
            arguments[name] = Path(arguments[name])
    return {**known, "arguments": arguments}


def check(record: Mapping[str, Any], rows: pl.DataFrame) -> None:
    """Raise `Error` where an evaluation is not the recorded one, with what has changed, or where its rows differ."""
    now = _signatures(rows)
    for system, line in record["signatures"].items():
        before, after = dict(Signature.parse(line).fields), dict(Signature.parse(now.get(system, "none:")).fields)
        changed = [
            f"{name} was {before.get(name, 'not there')}, is {after.get(name, 'not there')}"
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        ]
        if changed:
            raise Error(f"not reproduced: of '{system}' {'; '.join(changed)}")
    if record["rows"] != (found := _rows_hash(rows)):
        raise Error(
            f"not reproduced: signatures are equal, but the rows hash to {found[:12]}, not {record['rows'][:12]}; "
            "this is a defect of remix or of a library it uses: compare their versions"
        )


def _files(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Return the files that arguments name, each once."""
    seen = set()
    for value in arguments.values():
        for text in value if isinstance(value, list) else [value]:
            for part in _ends(text) if isinstance(text, str) else ():
                if part and part not in seen and Path(part).is_file():
                    seen.add(part)
                    yield Path(part)


def _ends(text: str) -> list[str]:
    """Return what may be the file in the value of an argument: all, and of `NAME=FILE` and `tuned:FILE` its end."""
    return [text, *text.split("=", 1)[1:], *text.split(":", 1)[1:]]


def _place(record: Path, file: Mapping[str, str]) -> str:
    """Return where a file is now."""
    beside = record.parent / file["name"]
    for path in (Path(file["place"]), beside):
        if path.is_file():
            if (found := content_hash(path)) != file["sha256"]:
                raise BadInput(path, f"has other bytes than were evaluated: {found[:12]}, not {file['sha256'][:12]}")
            return str(path)
    raise BadInput(file["place"], f"is gone; put it there, or as {file['name']} beside {record}")


def _move(value: Any, places: Mapping[str, str]) -> Any:
    """Return a value of an argument with the places of files that were found."""
    if isinstance(value, list):
        return tuple(_move(one, places) for one in value)
    if not isinstance(value, str):
        return value
    return next((value.removesuffix(end) + places[end] for end in _ends(value) if end in places), value)


def _signatures(rows: pl.DataFrame) -> dict[str, str]:
    return dict(rows.select("system", "signature").drop_nulls().unique().sort("system").iter_rows())


def _rows_hash(rows: pl.DataFrame) -> str:
    return content_hash(tables.render(rows, "jsonl"))
