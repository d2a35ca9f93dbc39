"""Records of evaluations: all that is needed to run one again, and to see that the same comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from remix import tables
from remix._version import __version__
from remix.errors import BadInput, Error, UsageError
from remix.files import write_whole
from remix.question import Question
from remix.scoring.inputs.shortcomings import FORMLESS
from remix.signature import Signature, content_hash


@dataclass(frozen=True)
class EvaluationRecord:
    """What was asked, the signature of each system, and the hash of the rows that came out."""

    question: Question[str]
    signatures: Mapping[str, str]
    rows: str


def write_record(to: Path, rows: pl.DataFrame, question: Mapping[str, Any]) -> None:
    """Write the record of an evaluation as JSON: what was asked, the files named, its signatures, its rows' hash.

    A file has its `name`, the SHA-256 of its bytes, and as `place` where it was; the question is as `Question.as_json`
    returns it.
    """
    files = [{"name": path.name, "place": str(path), "sha256": content_hash(path)} for path in _files(question)]
    record = {
        "remix": __version__,
        "arguments": question,
        "files": files,
        "signatures": _signatures(rows),
        "short": {system: Signature.parse(line).short() for system, line in _signatures(rows).items()},
        "rows": _rows_hash(rows),
    }
    with write_whole(to) as stream:
        stream.write(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def read_record(file: Path) -> EvaluationRecord:
    """Return the record of a file, as `write_record` wrote it.

    A file that is not where it was is taken from the folder of the record. Raises `BadInput` for a file that is no
    record, and for one that it names and that is gone or has other bytes.
    """
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        places = {one["place"]: _place(file, one) for one in record["files"]}
        asked = {name: _move(value, places) for name, value in record["arguments"].items()}
        return EvaluationRecord(Question.of_json(asked), dict(record["signatures"]), str(record["rows"]))
    except OSError as error:
        raise BadInput(file, f"cannot be read ({error.strerror or error})") from None
    except UsageError as error:
        raise BadInput(file, f"is a record of another version of remix: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(file, "is no record of an evaluation: remix evaluate … --signature-to FILE writes one") from None


def check(record: EvaluationRecord, rows: pl.DataFrame) -> None:
    """Raise `Error` where an evaluation is not the recorded one, with what has changed, or where its rows differ."""
    now = _signatures(rows)
    for system, line in record.signatures.items():
        before, after = dict(Signature.parse(line).fields), dict(Signature.parse(now.get(system, "none:")).fields)
        changed = [
            f"{name} was {before.get(name, 'not there')}, is {after.get(name, 'not there')}"
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        ]
        if changed:
            raise Error(f"not reproduced: of '{system}' {'; '.join(changed)}")
    if record.rows != (found := _rows_hash(rows)):
        raise Error(
            f"not reproduced: signatures are equal, but the rows hash to {found[:12]}, not {record.rows[:12]}; "
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
    # What is said of a run beside its figures changes none of them.
    return content_hash(tables.render(rows.drop("revision_unknown", "uncompared", *FORMLESS, strict=False), "jsonl"))
