"""The errors of a system in their sentences: what gold has and what the system answered."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from remix.runs.registration import list_runs, load_run
from remix.runs.stored import verdicts
from remix.web.page import Explored, Field, Form, Note, Page, Passage, Passages, Segment, Table, View, address, choose

_BESIDE = 120
"""Characters shown on either side of a mention."""
_PAGE = 50
"""Sentences on a page."""
_KINDS = ("missed or wrong", "right", "all")


def _show(work: Explored, parameters: Mapping[str, str]) -> Page:
    folder = work.store.folder / "runs"
    runs = [run for run in list_runs(folder) if run.task == "A2KB"]
    if not runs:
        return Page("Errors", [Note("No run is registered yet.", ["remix run add NAME FILE --on DATASET"])])
    dataset = parameters.get("dataset") or runs[0].dataset
    systems = sorted({run.system for run in runs if run.dataset == dataset})
    system = parameters.get("system") or (systems[0] if systems else "")
    kind = parameters.get("kind") or _KINDS[0]
    start, count = (_number(parameters.get(key, ""), default) for key, default in (("from", 0), ("count", _PAGE)))
    _, answers = load_run(folder, system, dataset)
    rows = _judge(work, dataset, system, answers.annotations, answers.links)
    wanted = {"right": pl.col("right"), "all": pl.lit(True)}.get(kind, ~pl.col("right"))
    chosen = rows.filter(wanted)
    passages = [_passage(row, dataset) for row in chosen.slice(start, count).iter_rows(named=True)]
    form = Form(
        [
            choose("dataset", "dataset", sorted({run.dataset for run in runs}), dataset),
            choose("system", "system", systems, system),
            choose("kind", "show", _KINDS, kind),
            Field("from", "from number", str(start)),
        ]
    )
    right = rows.filter("right").height
    told = f"{right} of {rows.height} mentions are right; {len(passages)} of the {chosen.height} asked for are shown."
    table = chosen.select("document", "begin", "end", "surface_form", "gold", "answer", "right")
    return Page(f"Errors of {system} on {dataset}", [form, Note(told), Passages(passages), Table("errors", table)])


def _number(said: str, default: int) -> int:
    return min(int(said), 10_000_000) if re.fullmatch("[0-9]{1,9}", said) else default


def _judge(work: Explored, dataset: str, system: str, answers: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Return gold's mentions with text, links, what the system answered on the same span, and whether it was right."""
    frames = work.store.frames([dataset])
    gold = frames.annotations.filter(pl.col("ignorable").is_null())
    judged = verdicts(work.store, dataset).filter(system=system).select("annotation", "right")
    names = frames.documents.select("document", "text", name=pl.coalesce("given", "document"))
    answered = answers.join(_entities(links, "answer"), on="annotation", how="left").with_columns(
        answer=pl.coalesce("answer", pl.lit("NIL"))
    )
    spans = answered.group_by("document", "begin", "end").agg(pl.col("answer").first())
    rows = gold.join(_entities(frames.links, "gold"), on="annotation", how="left", maintain_order="left")
    rows = rows.join(judged, on="annotation", maintain_order="left").join(names, on="document", maintain_order="left")
    rows = rows.join(spans, on=["document", "begin", "end"], how="left", maintain_order="left")
    return rows.with_columns(gold=pl.coalesce("gold", pl.lit("NIL")), answer=pl.coalesce("answer", pl.lit("no answer")))


def _entities(links: pl.DataFrame, name: str) -> pl.DataFrame:
    return links.group_by("annotation").agg(pl.col("entity").sort().str.join(" or ").alias(name))


def _passage(row: Mapping[str, object], dataset: str) -> Passage:
    text, begin, end = str(row["text"] or ""), int(str(row["begin"])), int(str(row["end"]))
    first = max(0, begin - _BESIDE)
    segments = [
        Segment(("… " if first else "") + text[first:begin]),
        Segment(text[begin:end], "right" if row["right"] else "missed", str(row["gold"])),
        Segment(text[end : end + _BESIDE] + (" …" if end + _BESIDE < len(text) else "")),
    ]
    notes = [f"gold: {row['gold']}", f"answer: {row['answer']}"]
    return Passage(str(row["name"]), segments, notes, address("document", dataset=dataset, name=row["name"]))


errors = View("errors", "Errors", _show, menu=3)
