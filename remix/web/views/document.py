"""One document with its annotations in the text, coloured by their links or by what systems made of them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from remix.errors import UnknownName
from remix.runs.stored import verdicts
from remix.web.page import Explored, Form, Page, Passage, Passages, Segment, Table, View, choose


def _show(work: Explored, parameters: Mapping[str, str]) -> Page:
    dataset, name, system = (parameters.get(key, "") for key in ("dataset", "name", "system"))
    frames = work.store.frames([work.store.dataset(dataset).name])
    called = frames.documents.with_columns(called=pl.coalesce("given", "document"))
    found = called.filter((pl.col("called") == name) | (pl.col("document") == name))
    if found.is_empty():
        raise UnknownName("document", name, called["called"], f"remix serve, page {dataset}")
    document = found.row(0, named=True)
    links = frames.links.group_by("annotation").agg(entities=pl.col("entity").sort().str.join(" "))
    rows = frames.annotations.filter(document=document["document"]).join(links, on="annotation", how="left")
    rows = rows.sort("begin", pl.col("end"), descending=[False, True], maintain_order=True)
    judged = verdicts(work.store, dataset)
    systems = judged["system"].unique().sort().to_list()
    if system and system not in systems:
        raise UnknownName(f"run on {dataset}", system, systems, "remix run list")
    right = dict(judged.filter(system=system).select("annotation", "right").iter_rows()) if system else {}
    table = rows.select("begin", "end", "surface_form", "entities", "is_nil", "ignorable", "confidence")
    text = document["text"] or ""
    return Page(
        f"{dataset}: {name}",
        [
            Form(
                [
                    choose("dataset", "dataset", [dataset], dataset),
                    choose("name", "document", [name], name),
                    choose("system", "judge by", ["", *systems], system),
                ]
            ),
            Passages([Passage("", _segments(text, rows, right))]),
            Table("annotations", table),
        ],
    )


def _segments(text: str, rows: pl.DataFrame, right: Mapping[str, bool]) -> list[Segment]:
    """Return the text in segments; of nested mentions the outermost are shown, and those within are in its label."""
    segments, at = [], 0
    outer: list[dict[str, object]] = []
    for row in rows.iter_rows(named=True):
        if outer and row["begin"] < outer[-1]["end"]:
            outer[-1]["label"] = f"{outer[-1]['label']} · {row['surface_form']}: {row['entities'] or 'NIL'}"
            continue
        outer.append({**row, "label": row["entities"] or "NIL"})
    for one in outer:
        begin, end = int(str(one["begin"])), int(str(one["end"]))
        segments.append(Segment(text[at:begin]))
        said = right.get(str(one["annotation"]))
        look = "ignored" if one["ignorable"] else "right" if said else "missed" if said is False else "mention"
        look += " nil" if one["is_nil"] else ""
        segments.append(Segment(text[begin:end], look, str(one["label"])))
        at = end
    segments.append(Segment(text[at:]))
    return [segment for segment in segments if segment.text]


def _example(work: Explored) -> dict[str, str]:
    for entry in work.datasets()[:1]:
        first = work.store.frames([entry.name]).documents.row(0, named=True)
        return {"dataset": entry.name, "name": first["given"] or first["document"]}
    return {}


document = View("document", "Document", _show, example=_example)
