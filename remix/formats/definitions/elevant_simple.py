"""ELEVANT's simple JSON Lines: an article a line, with `labels` (gold) or `predictions` (answers).

    {"text": "Ada met Bob", "title": "…", "labels": [{"start_char": 0, "end_char": 3, "entity_reference": "Q7259"}]}

Predictions have no texts in ELEVANT: a line belongs to the article of its place in the benchmark, which is named
`urn:elevant:article:N` from 0, as in `remix.formats.definitions.elevant`. Offsets are code points, end exclusive.
Source: ELEVANT, simple_jsonl_benchmark_reader.py and simple_jsonl_prediction_reader.py.
"""

from __future__ import annotations

from remix.formats.elevant import SIMPLE, kind_of, write_simple
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import format_of


def _is_simple(head: bytes, name: str) -> bool:
    return kind_of(head) == SIMPLE


elevant_simple = format_of(
    shipped_mapping("elevant-simple"),
    sniff=_is_simple,
    write=write_simple,
    holds=frozenset({"texts", "nil", "candidates", "unannotated"}),
)
