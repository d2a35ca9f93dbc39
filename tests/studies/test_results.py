"""The tables of a study's results are declared and checked."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.errors import BadInput
from remix.studies.results import TABLES, no_results


def test_the_declared_tables_are_the_fields_in_their_order() -> None:
    """A table that is declared under one name is never kept under another."""
    for name, schema in TABLES.items():
        assert getattr(no_results(), name).schema == schema.types
    no_results().check("the study")


def test_a_table_without_its_column_is_refused_by_name() -> None:
    """What a step left out is told before an exhibit looks for it."""
    lacking = replace(no_results(), composition=pl.DataFrame({"target": ["all"], "dataset": ["a"], "documents": [1]}))
    with pytest.raises(BadInput, match="composition of targets: there is no column 'mentions'"):
        lacking.check("the study")
