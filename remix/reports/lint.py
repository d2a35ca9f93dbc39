"""What is wrong or odd in datasets, one row a kind of finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from remix import catalog
from remix.errors import BadInput, Error
from remix.formats import NOTED, LoadReport, read, refusal_report
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.kb import KnowledgeBase
from remix.locks import holding
from remix.store import Store

__all__ = ["lint"]

SCHEMA = {"file": pl.String, "level": pl.String, "kind": pl.String, "count": pl.Int64, "example": pl.String}
Finding = tuple[str, str, str, int, str]


@holding
def lint(store: Store, files: Iterable[str], *, kb: KnowledgeBase | None = None) -> pl.DataFrame:
    """Return the findings in files, catalogue entries or loaded datasets: file, level, kind, count, example.

    The level is `defect` for what loading repairs or refuses, for annotations whose anchor or context is
    wrong, and for links to entities that the kb, where one is given, does not have; `note` for what is
    merely odd: empty texts, texts without annotations, equal texts, crossing mentions.
    """
    listed = list(files)
    rows = [finding for file in listed for finding in _findings(store, file, kb, alone=len(listed) == 1)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _findings(store: Store, file: str, kb: KnowledgeBase | None, *, alone: bool) -> Iterator[Finding]:
    try:
        frames, report = _looked_up(store, file)
    except Error as error:
        # What is wrong with one of several files must not hide what there is in the others.
        if alone and not isinstance(error, BadInput):
            raise
        yield file, "defect", "refused", 1, refusal_report(file, error).error or ""
        return
    for kind, count, example in report:
        yield file, "note" if kind in NOTED else "defect", kind, count, example
    for level, kind, found in _odd(frames, kb):
        if found:
            yield file, level, kind, len(found), found[0]


def _looked_up(store: Store, file: str) -> tuple[Frames, list[tuple[str, int, str]]]:
    if file in store.state.datasets:
        repairs = store.report(file)["repairs"]
        assert isinstance(repairs, list)
        return store.frames([file]), [(one["kind"], one["count"], one["example"]) for one in repairs]
    if is_frames_folder(file):
        folder = FramesFolder.open(file)
        return folder.read(range(folder.parts)), []
    path, name = catalog.local(file, store.folder / "cache")
    reading = read(path, name=name)
    return reading.frames, _repairs(reading.report)


def _repairs(report: LoadReport) -> list[tuple[str, int, str]]:
    return [(one.kind, one.count, one.example) for one in report.repairs]


def _odd(frames: Frames, kb: KnowledgeBase | None) -> Iterator[tuple[str, str, list[str]]]:
    documents, annotations = frames.documents, frames.annotations
    name = pl.coalesce("given", "document")
    bare = documents.join(annotations.select("document"), on="document", how="anti")
    yield "note", "no-annotation", bare.filter(pl.col("text") != "").select(name).to_series().to_list()
    equal = documents.filter((pl.col("text") != "") & ~pl.col("text").is_first_distinct())
    yield "note", "equal-text", equal.select(name).to_series().to_list()
    yield "note", "crossing", _crossing(annotations)
    if kb is not None:
        yield "defect", "unknown-entity", _unknown(frames, kb)


def _crossing(annotations: pl.DataFrame) -> list[str]:
    """Return the mentions that begin inside another and end behind it."""
    spans = annotations.select("document", "begin", "end", "given", "annotation")
    pairs = spans.join(spans, on="document", suffix="_other").filter(
        (pl.col("begin_other") < pl.col("begin"))
        & (pl.col("begin") < pl.col("end_other"))
        & (pl.col("end_other") < pl.col("end"))
    )
    crossing = pairs.unique("annotation", maintain_order=True)
    return crossing.select(pl.coalesce("given", "annotation")).to_series().to_list()


def _unknown(frames: Frames, kb: KnowledgeBase) -> list[str]:
    links = frames.links.with_columns(entity=kb.resolve(frames.links["entity"]))
    unknown = links.join(kb.entities.select("entity"), on="entity", how="anti")
    return unknown.select(pl.format("{} links to {}", "annotation", "entity_as_given")).to_series().to_list()
