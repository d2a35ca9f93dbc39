"""Columns to slice by that are about runs: what is wrong in the answers of one."""

from __future__ import annotations

from collections.abc import Iterable

from remix.errors import UsageError
from remix.measures.partitions import ERROR


def is_of_errors(column: str) -> bool:
    """Return whether a column holds what is wrong in a run, as `remix.scoring.errors.columns` has it.

    >>> is_of_errors("error:tagme"), is_of_errors("errors")
    (True, False)
    """
    return column.partition(":")[0] == ERROR


def run_of(column: str, systems: Iterable[str]) -> tuple[str, str]:
    """Return system and taxonomy of a column; raises `UsageError` for one without system.

    >>> run_of("error:tagme", ["tagme"]), run_of("error:tagme:elevant", ["tagme"]), run_of("error:a:b", ["a:b"])
    (('tagme', 'neleval'), ('tagme', 'elevant'), ('a:b', 'neleval'))
    """
    whole = column.partition(":")[2]
    if not whole:
        raise UsageError(f"'{column}' names no system: write --by {ERROR}:SYSTEM")
    system, colon, taxonomy = whole.rpartition(":")
    return (system, taxonomy) if colon and whole not in systems else (whole, "neleval")
