"""Documents of many runs are numbered the same, and in memory in proportion to them, whatever they are called."""

from __future__ import annotations

import random
import tracemalloc

import polars as pl
import pytest

from remix.scoring.inputs import mentions


def _rows(named: list[tuple[int, str]]) -> pl.DataFrame:
    """Return an annotation of each system and document: every third has no offsets, but a form."""
    begins = [None if number % 3 == 0 else number for number in range(len(named))]
    columns = {"system": [system for system, _ in named], "document": [name for _, name in named], "begin": begins}
    return pl.DataFrame(columns | {"end": begins, "form": [*range(len(named))]}, schema_overrides={"begin": pl.Int64})


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("several", [False, True])
def test_documents_are_the_same_by_table_and_by_join(seed: int, several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six names each of four systems has some; others are not gold's, and with `several` one is two of gold's."""
    draw = random.Random(seed)
    own = [(system, f"d{name}", name) for system in range(4) for name in range(6) if draw.random() < 0.6]
    own += [(*own[0][:2], 6)] if several else []
    documents = pl.DataFrame(own, schema={"system": pl.Int64, "document": pl.String, "doc": pl.Int64}, orient="row")
    rows = _rows([(draw.randrange(4), f"d{draw.randrange(8)}") for _ in range(40)])
    by_table = mentions._place(rows, documents, 4)
    monkeypatch.setattr(mentions, "_LARGEST", 0)
    monkeypatch.setattr(mentions, "_SPARSE", 0)
    assert mentions._place(rows, documents, 4).equals(by_table) and len(by_table)


@pytest.mark.long
def test_many_runs_with_names_of_their_own_take_memory_in_proportion_to_them() -> None:
    """300 runs of 300 documents each: a table of 300 times 90,000 cells of 8 bytes would be 216 MB."""
    named = [(system, f"{system}/{name}") for system in range(300) for name in range(300)]
    documents = pl.DataFrame({"system": [one for one, _ in named], "document": [name for _, name in named]})
    documents = documents.with_columns(doc=pl.int_range(pl.len(), dtype=pl.Int64) % 300)
    rows = _rows(named)
    tracemalloc.start()
    placed = mentions._place(rows, documents, 300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert placed["doc"].to_list() == [*range(300)] * 300
    assert peak < 50_000_000
