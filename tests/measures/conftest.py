"""Small corpora and knowledge bases for measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest

from remix.frames import Frames
from remix.kb import KnowledgeBase, build_from_tables

Annotations = Iterable[tuple[str, str, str | None]]
Make = Callable[..., Frames]
MakeKb = Callable[..., KnowledgeBase]


@pytest.fixture
def corpus() -> Make:
    """Make frames of (document, surface form, entity or None for NIL); a document is 'dataset/document'.

    Each form stands once in the text of its document, which has ten words more; `spans` gives other offsets.
    """

    def make(mentions: Annotations, *, empty: Iterable[str] = (), **frames: pl.DataFrame) -> Frames:
        rows = [(f"{d}#{n}", d, d.partition("/")[0], s, e) for n, (d, s, e) in enumerate(mentions)]
        names = sorted({row[1] for row in rows} | set(empty))
        table = pl.DataFrame(
            rows,
            schema=dict.fromkeys(("annotation", "document", "dataset", "surface_form", "entity"), pl.String),
            orient="row",
        )
        documents = pl.DataFrame(
            {
                "document": names,
                "dataset": [name.partition("/")[0] for name in names],
                "text": ["w " * 10 for _ in names],
            }
        )
        made = {
            "documents": documents,
            "annotations": table.drop("entity").with_columns(is_nil=table["entity"].is_null()),
            "links": table.select("annotation", "entity").drop_nulls(),
        }
        return Frames.of(**{**made, **frames})

    return make


@pytest.fixture
def make_kb(tmp_path: Path) -> MakeKb:
    """Build a knowledge base of (form, entity, count or '', source) and of other tables, by name, as rows."""

    def make(
        forms: Iterable[tuple[str, str, int | str, str]], *, complete: bool = False, **tables: list[tuple[str, ...]]
    ) -> KnowledgeBase:
        folder = tmp_path / "tables"
        folder.mkdir(exist_ok=True)
        headers = {"links": "a\tb\tc\td", "sameas": "a\tb\tc\td"}
        for name, rows in {"surface_forms": list(forms), **tables}.items():
            header = "a\tb\tc\td" if name == "surface_forms" else headers.get(name, "a\tb\tc")
            text = "".join("\t".join(str(cell) for cell in row) + "\n" for row in [(header,), *rows])
            (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
        return build_from_tables(folder, tmp_path / "kb", name="made", complete=complete)

    return make
