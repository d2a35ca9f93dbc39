"""The record of how a run was made: the system, where and how it was asked, what it took, and what failed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from remix.errors import StoreError, UsageError

RECORD = "record.json"
"""The name of the file that keeps a record beside answers."""


@dataclass(frozen=True)
class Record:
    """How a run was made.

    - `task`: what it was made for; `revision`: that of the texts that it was made on, `texts`: their hash;
    - `system`, `version`: its name, and that of its adapter or of remix; `address`: where it was asked, if anywhere;
    - `parameters`: what it was run with, files by name and hash; `made_by`: the hash of all that can change answers;
    - `date`: when, in UTC; `hardware`: the machine that asked, which computed a system of remix's own;
    - `seconds`: how long it took; `kept`: how many answers had been kept before, and took none of that time;
    - `input_tokens`, `output_tokens`: what a model says it read and wrote; `cost`: by the prices that were named;
    - `finished`: how often a model ended for which reason; `told`: how often what was odd in its answers;
    - `failed`: why each document that failed did so.
    """

    system: str
    version: str
    task: str = ""
    revision: str = ""
    texts: str = ""
    address: str = ""
    parameters: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    made_by: str = ""
    date: str = ""
    hardware: str = ""
    seconds: float = 0.0
    kept: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    finished: Mapping[str, int] = field(default_factory=dict)
    told: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


def record_of(system: str, given: Mapping[str, str]) -> Record:
    """Return the record of what is told of a run by name: what is no field of a record is one of its parameters.

    Raises `UsageError` for a number that is none, and for what only making a run can tell.

    >>> made = record_of("mine", {"version": "2", "seconds": "1.5", "beam": "4"})
    >>> made.system, made.version, made.seconds, made.parameters
    ('mine', '2', 1.5, {'beam': '4'})
    """
    kinds = {"seconds": float, "cost": float, "input_tokens": int, "output_tokens": int}
    texts = ("system", "version", "address", "date", "hardware", "revision")
    found: dict[str, Any] = {"system": system, "version": "", "parameters": {}}
    for name, value in given.items():
        if name in kinds:
            try:
                found[name] = kinds[name](value)
            except ValueError:
                raise UsageError(f"--record {name} is a number, not '{value}'") from None
        elif name in texts:
            found[name] = value
        elif name in Record.__dataclass_fields__:
            raise UsageError(
                f"--record {name} is told by remix itself: name {', '.join((*texts, *kinds))}, or parameters"
            )
        else:
            found["parameters"][name] = value
    return Record(**found)


def describe_record(record: Record) -> dict[str, str | float | int | None]:
    """Return what a record says as one row of a table: hashes shortened, mappings as text, what is not known empty."""
    parameters = ", ".join(f"{name}={value}" for name, value in sorted(record.parameters.items()))
    return {
        "date": record.date,
        "revision": record.revision[:12],
        "failed": len(record.failed),
        "first_failure": next((f"{name}: it {why}" for name, why in record.failed.items()), ""),
        "system": record.system,
        "version": record.version,
        "parameters": parameters,
        "address": record.address,
        "hardware": record.hardware,
        "seconds": record.seconds or None,
        "input_tokens": record.input_tokens or None,
        "output_tokens": record.output_tokens or None,
        "cost": record.cost,
        "texts": record.texts[:12],
    }


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a run into its folder."""
    said = json.dumps(asdict(record), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / RECORD).write_text(said, encoding="utf-8")


def read_record(folder: Path) -> Record | None:
    """Return the record in the folder of a run, None of a run without one; raises `StoreError` where it is damaged."""
    try:
        return Record(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{folder / RECORD} is damaged ({error}): remove {folder}, and annotate again") from None


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def hardware() -> str:
    """Return what this machine is: its processors and their kind.

    >>> hardware().partition(" ")[0].isdecimal()
    True
    """
    return f"{os.cpu_count() or 1} processors, {platform.machine() or 'unknown'}, {platform.system()}"
