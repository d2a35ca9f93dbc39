"""A study run again from its manifest: which numbers came out again, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from remix.studies import results
from remix.studies.manifest import StudyManifest
from remix.studies.output import named_results
from remix.studies.results import Results

CLOSE = 1e-9
"""How far two numbers may be apart and be the same, as sums on another architecture are."""
_SCHEMA = {"what": pl.String, "name": pl.String, "status": pl.String, "told": pl.String}


def hold_against(folder: Path, published: StudyManifest, now: StudyManifest, found: Results) -> pl.DataFrame:
    """Return what, name, status and told of inputs, software and tables of numbers, of a study that was run again.

    The status is 'same', 'differs' or 'missing'; of a table that differs the first cells are told. `folder` is where
    the published results stand.
    """
    rows = [*_inputs("input", published.inputs, now.inputs), *_inputs("software", published.software, now.software)]
    for name, table in named_results(folder, published.files).items():
        told = [*_cells(table, getattr(found, name), results.TABLES[name].key)]
        shown = "; ".join(told[:5]) + (f"; and {len(told) - 5} more" if len(told) > 5 else "")
        said = shown or f"{table.height} rows come out again"
        rows.append(("numbers", name, "differs" if told else "same", said))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _inputs(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    old, new = _flat(before), _flat(now)
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield what, name, "missing", f"it was {old[name][:12]}, and is not there"
        elif old.get(name) == new[name]:
            yield what, name, "same", ""
        else:
            yield what, name, "differs", f"it was {old.get(name, 'not there')[:12]}, and is {new[name][:12]}"


def _flat(said: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for key, value in said.items():
        found.update(
            {f"{key}: {k}": str(v) for k, v in value.items()} if isinstance(value, dict) else {key: str(value)}
        )
    return found


def _cells(before: pl.DataFrame, now: pl.DataFrame, key: tuple[str, ...]) -> Iterator[str]:
    """Yield what differs between two tables of one key, a cell each."""
    keys = [name for name in key if name in before.columns]
    both = before.join(now, on=keys, how="full", suffix=" now", nulls_equal=True)
    gone, more = before.join(now, on=keys, how="anti"), now.join(before, on=keys, how="anti")
    yield from (f"{_name(row)} is gone" for row in gone.select(keys).iter_rows())
    yield from (f"{_name(row)} is new" for row in more.select(keys).iter_rows())
    for name in (one for one in before.columns if one not in keys and one in now.columns):
        old, new = pl.col(name), pl.col(f"{name} now")
        same = old.eq_missing(new)
        if before.schema[name].is_float():
            same = same | ((old - new).abs() <= CLOSE).fill_null(False)
        for row in (
            both.drop_nulls(keys[:1]).filter(~same, pl.col(f"{keys[0]} now").is_not_null()).iter_rows(named=True)
        ):
            yield f"{name} of {_name(tuple(row[one] for one in keys))} was {row[name]} and is {row[f'{name} now']}"


def _name(row: tuple[object, ...]) -> str:
    return " / ".join(str(one) for one in row if one != "")
