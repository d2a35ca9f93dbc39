"""Small corpora and knowledge bases for measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl
import pytest

from remix.frames import Frames
from remix.kb import KnowledgeBase

Annotations = Iterable[tuple[str, str, str | None]]
Make = Callable[..., Frames]
MakeKb = Callable[..., KnowledgeBase]


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def make_kb(kb_of: MakeKb) -> MakeKb:
    """A knowledge base of (form, entity, count or '', source) and of other tables, by name, as rows."""

    def make(
        forms: Iterable[tuple[object, ...]], *, complete: bool = False, **tables: list[tuple[str, ...]]
    ) -> KnowledgeBase:
        texts = {}
        for name, rows in {"surface_forms": list(forms), **tables}.items():
            header = "a\tb\tc\td" if name in ("surface_forms", "links", "sameas") else "a\tb\tc"
            texts[f"{name}.tsv"] = "".join("\t".join(map(str, row)) + "\n" for row in [(header,), *rows])
        return kb_of(texts, complete=complete)

    return make
