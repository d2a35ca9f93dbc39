"""Newer datasets come out as they were counted: of each format the smallest of its real files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from remix.formats import read


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


@pytest.mark.long
def test_smallest_file_of_each_format_is_as_counted(real_data: Path) -> None:
    with (real_data / "published" / "modern_counts.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if (real_data / row["file"]).exists()]
    chosen: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: size(real_data / row["file"])):
        chosen.setdefault(row["format"], row)
    assert len(chosen) > 30
    counted, found = {}, {}
    for format, row in chosen.items():
        report = read(real_data / row["file"]).report
        numbers = (report.documents, report.mentions, report.mentions_linked, report.mentions_nil)
        found[format] = (report.format, *numbers)
        counted[format] = (format, *(int(row[name]) for name in ("documents", "mentions", "linked", "nil")))
    assert found == counted
