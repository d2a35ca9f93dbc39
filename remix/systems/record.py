"""The record of how a run was made: the system, where and how it was asked, what it took, and what failed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from remix.errors import StoreError

_FILE = "record.json"


@dataclass(frozen=True)
class Record:
    """How a run was made.

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


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a run into its folder."""
    said = json.dumps(asdict(record), indent=1, sort_keys=True, ensure_ascii=False)
    (folder / _FILE).write_text(said, encoding="utf-8")


def read_record(folder: Path) -> Record | None:
    """Return the record in the folder of a run, None of a run without one; raises `StoreError` where it is damaged."""
    try:
        return Record(**json.loads((folder / _FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{folder / _FILE} is damaged ({error}): remove {folder}, and annotate again") from None


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def hardware() -> str:
    """Return what this machine is: its processors and their kind.

    >>> hardware().partition(" ")[0].isdecimal()
    True
    """
    return f"{os.cpu_count() or 1} processors, {platform.machine() or 'unknown'}, {platform.system()}"
