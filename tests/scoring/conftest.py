"""Small gold and runs, written as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import polars as pl
import pytest

from remix import scoring
from remix.frames import Frames
from remix.scoring.inputs import Knowledge

Row = tuple[object, ...]


def framed(rows: Iterable[dict[str, object]], documents: Iterable[str] = ("d",), dataset: str = "x") -> Frames:
    """Frames of annotations given as dictionaries: document, begin, end, entity (or entities), what else they have."""
    names = list(documents)
    texts = pl.DataFrame({"document": names, "dataset": [dataset] * len(names)})
    annotations, links, classes = [], [], []
    for number, row in enumerate(rows):
        annotation = str(row.get("annotation", f"{row.get('document', names[0])}#{number}"))
        entities = row.get("entities", [row["entity"]] if row.get("entity") else [])
        annotations.append(
            {
                "annotation": annotation,
                "document": row.get("document", names[0]),
                "dataset": dataset,
                "begin": row.get("begin"),
                "end": row.get("end"),
                "is_nil": not entities,
                "ignorable": row.get("ignorable"),
                "group": row.get("group"),
                "option": row.get("option"),
            }
        )
        links += [{"annotation": annotation, "entity": entity} for entity in entities]  # type: ignore[attr-defined]
        classes += [{"annotation": annotation, "class": name} for name in row.get("classes", [])]  # type: ignore[attr-defined]
    return Frames.of(
        documents=texts,
        annotations=pl.DataFrame(annotations, schema_overrides={"ignorable": pl.String, "group": pl.String}),
        links=pl.DataFrame(links, schema={"annotation": pl.String, "entity": pl.String}),
        classes=pl.DataFrame(classes, schema={"annotation": pl.String, "class": pl.String}),
    )


def evaluate(gold: Frames, runs: Mapping[str, Frames], **asked: Any) -> pl.DataFrame:
    """The scores of `remix.scoring.evaluate`; what is known are keywords beside what is asked."""
    known = {one.name: asked.pop(one.name) for one in fields(Knowledge) if one.name in asked}
    return scoring.evaluate(gold, runs, known=Knowledge(**known), **asked)


@pytest.fixture(scope="session")
def frames() -> Callable[..., Frames]:
    return framed


@pytest.fixture(scope="session")
def counts() -> Callable[..., tuple[int, int, int, int]]:
    """tp, fp, fn and ignored of one system in one task and matching, over all documents."""

    def found(gold: Frames, run: Frames, task: str = "A2KB", matching: str = "strong", **options: object) -> Row:
        rows = evaluate(gold, {"s": run}, task=[task], match=[matching], **options)
        whole = rows.filter(pl.col("column") == "", pl.col("average") == "micro", pl.col("dataset") == "all")
        return whole.select("tp", "fp", "fn", "ignored").row(0)

    return found
