"""One document with its annotations in the text, told apart by any column or by what a system made of them."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from remix.errors import UnknownName
from remix.formats.nif.writing import terms_of
from remix.kb.lookup import SHOWN, list_candidates
from remix.names import shorten
from remix.rdf.ntriples import columns
from remix.rdf.turtle import turtle
from remix.reports.documents import (
    STANDS_FOR,
    class_annotations,
    describe_annotation,
    explain_columns,
    list_annotations,
)
from remix.reports.statistics import frames_of, measures_of
from remix.runs.judgements import OUTCOMES, Judgements
from remix.web import page
from remix.web.views.errors import judge, list_answers

_DEEP = 12
"""Mentions within each other that are shown; what lies deeper is in the table alone."""
_OUTCOME = "outcome"


@dataclass(order=True)
class Mark:
    """A stretch of the text that is annotated, or answered; `cut` and `rest` say that it goes on or has begun."""

    begin: int
    before: int
    look: str = field(compare=False)
    label: str = field(compare=False)
    href: str = field(compare=False)
    name: str = field(compare=False)

    @property
    def end(self) -> int:
        """Return where it ends: of those that begin together the longest comes first."""
        return -self.before


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    dataset = work.store.dataset(parameters.get("dataset", "")).name
    documents = _documents(work, dataset)
    document = _find(documents, dataset, parameters.get("name", ""))
    rows = work.store.cached(
        ("annotations", dataset), lambda: list_annotations(frames_of(work.store, dataset), measures_of(work.store))
    )
    own = rows.filter(document=document["document"])
    judged = judge(work, dataset) if any(run.dataset == dataset for run in list_answers(work)) else None
    systems = [] if judged is None else judged.systems["system"].unique().sort().to_list()
    asked = {"dataset": dataset, "name": document["called"]}
    asked |= {key: parameters.get(key, "") for key in ("system", "colour", "annotation")}
    if asked["system"] and asked["system"] not in systems:
        raise UnknownName(f"run on {dataset}", asked["system"], systems, "remix run list")
    if asked["colour"] == _OUTCOME and systems:
        asked["system"] = asked["system"] or systems[0]
    asked["colour"] = asked["colour"] or (_OUTCOME if asked["system"] else "type")
    marks, legend = _marks(work, rows, document["document"], judged, asked)
    text = document["text"] or ""
    segments, notes = lay_out(text, marks)
    blocks = [_form(work, rows, systems, asked), legend, page.Passages([page.Passage("", segments, notes)])]
    beside = _beside(work, own, judged, asked) if asked["annotation"] else ()
    hint = "A mention in the text leads to its candidates, the answers of systems, and its RDF."
    blocks.append(page.Note("", links={"What is known of this mention": "#columns"}) if beside else page.Note(hint))
    place = page.address("document.ttl", dataset=dataset, name=asked["name"])
    leads = {"the document as NIF (.ttl)": place, "its dataset": page.address("dataset", name=dataset)}
    if judged is not None and len(failed := judged.failures.filter(document=document["document"])["system"]):
        blocks.append(page.Note(f"No answer is here of {', '.join(failed.sort())}, which failed on this document."))
    blocks += [_table(own, asked), page.Note("There is as well:", links=leads)]
    return page.Page(
        f"{dataset}: {document['called']}", blocks, beside, neighbours=_neighbours(documents, document, asked)
    )


def _documents(work: page.Explored, dataset: str) -> pl.DataFrame:
    return (
        frames_of(work.store, dataset).documents.with_columns(called=pl.coalesce("given", "document")).with_row_index()
    )


def _find(documents: pl.DataFrame, dataset: str, name: str) -> dict[str, Any]:
    """Return the document of a name, without one the first."""
    found = documents.filter((pl.col("called") == name) | (pl.col("document") == name)) if name else documents
    if found.is_empty():
        raise UnknownName("document", name, documents["called"], f"remix serve, page {dataset}")
    return found.row(0, named=True)


def _neighbours(documents: pl.DataFrame, document: Mapping[str, Any], asked: page.Parameters) -> dict[str, str]:
    places = {"prev": document["index"] - 1, "next": document["index"] + 1}
    return {
        way: page.address("document", **{**asked, "name": documents["called"][place], "annotation": ""})
        for way, place in places.items()
        if 0 <= place < documents.height
    }


def _form(work: page.Explored, rows: pl.DataFrame, systems: Sequence[str], asked: page.Parameters) -> page.Form:
    groups = [name for name in rows.columns if name.startswith("category ")]
    known = [name for name in explain_columns(measures_of(work.store)) if STANDS_FOR.get(name, name) in rows.columns]
    colours = dict.fromkeys([*known[:3], *groups, *([_OUTCOME] if systems else []), *known])
    colours.pop("surface_form", None)
    return page.Form(
        [
            page.choose("dataset", "dataset", [asked["dataset"]], asked["dataset"]),
            page.Field("name", "document", asked["name"]),
            page.choose("colour", "colour by", [*colours], asked["colour"]),
            page.choose("system", "answers of", ["", *systems], asked["system"]),
        ]
    )


def _marks(
    work: page.Explored, rows: pl.DataFrame, document: str, judged: Judgements | None, asked: page.Parameters
) -> tuple[list[Mark], page.Shown]:
    """Return the stretches of a document's text that are annotated, and what their looks mean."""
    own = rows.filter(document=document)
    by_outcome = asked["colour"] == _OUTCOME and judged is not None and bool(asked["system"])
    if by_outcome and judged is not None:
        found = _outcomes(own, judged, asked["system"], document)
        looks, said = {row["annotation"]: row["outcome"] for row in found}, {row["annotation"]: row for row in found}
        legend = page.Legend(
            f"What {asked['system']} made of each mention:", [page.Segment(n, n, OUTCOMES[n]) for n in OUTCOMES]
        )
        alone = [row for row in found if row["annotation"] is None]
    else:
        column = "type" if asked["colour"] == _OUTCOME else asked["colour"]
        classed = class_annotations(rows, column, measures_of(work.store), document)
        classes = {name: f"look look-{nth}" for nth, name in enumerate(classed.names)}
        looks, said, alone = {one: classes[name] for one, name in classed.values.items()}, {}, []
        legend = page.Legend(f"{column}: {classed.meaning}", [page.Segment(*pair) for pair in classes.items()])
    marks = []
    spans: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row in own.drop_nulls(["begin", "end"]).iter_rows(named=True):
        spans.setdefault((row["begin"], row["end"]), []).append(row)
    for number, ((begin, end), every) in enumerate(spans.items()):
        known = [row for row in every if row["annotation"] in looks] or every
        first = next((row for row in every if row["annotation"] == asked["annotation"]), known[0])
        look = looks.get(first["annotation"], "unjudged") + (" nil" if first["is_nil"] else "")
        chosen = first["annotation"] == asked["annotation"]
        label = "; ".join(dict.fromkeys(_label(row, said.get(row["annotation"])) for row in every))
        href = page.address("document", **{**asked, "annotation": first["annotation"]}) + f"#mention-{number}"
        marks.append(Mark(begin, -end, look + " chosen" * chosen, label, href, f"mention-{number}"))
    for row in alone:
        label = f"{row['outcome']}: {row['answer']}, where gold has no mention"
        marks.append(Mark(row["begin"], -row["end"], row["outcome"], label, "", ""))
    return marks, legend


def _outcomes(own: pl.DataFrame, judged: Judgements, system: str, document: str) -> list[dict[str, Any]]:
    """Return annotation (null where gold has none), begin, end, outcome and answer of a system in a document.

    Alternatives have one outcome, that of their group.
    """
    columns = ["annotation", "begin", "end", "outcome", "answer"]
    found = judged.mentions.join(judged.systems.filter(system=system), on="mention")
    groups = found.select("annotation", "outcome", "answer").join(own.select("annotation", "group"), on="annotation")
    of_gold = own.select("annotation", "begin", "end", "group").join(
        groups.select("group", "outcome", "answer").unique("group"), on="group", maintain_order="left"
    )
    alone = found.filter(pl.col("annotation").is_null(), document=document)
    ignored = own.filter(pl.col("ignorable").is_not_null()).with_columns(outcome=pl.lit("ignored"), answer=None)
    parts = (rows.select(columns).cast({"answer": pl.String}) for rows in (of_gold, alone, ignored))
    return pl.concat(parts, how="vertical_relaxed").to_dicts()


def _label(row: Mapping[str, Any], judged: Mapping[str, Any] | None) -> str:
    gold = row["entities"] or "NIL"
    ignored = f", ignorable ({row['ignorable']})" if row["ignorable"] else ""
    answer = "" if judged is None else f"; {judged['outcome']}, answer: {judged['answer'] or 'none'}"
    return f"{row['surface_form']}: {gold}, {row['type']}{ignored}{answer}"


def lay_out(text: str, marks: Sequence[Mark]) -> tuple[list[page.Segment], list[str]]:
    """Return a text in segments, mentions within others as parts of them, and what is said of mentions that cross.

    A mention that begins in another and ends behind it is cut where the other ends. What has no place in the text, or
    lies deeper than a page can show, is left out and said.
    """
    placed = [mark for mark in marks if 0 <= mark.begin < mark.end <= len(text)]
    heap = sorted(placed)
    told = {"cut": 0, "deep": 0}
    segments = _nest(text, 0, len(text), heap, told, 0)
    notes = []
    if told["cut"]:
        said = "Mentions that cross others, which are shown in parts, with a dashed edge where they are cut"
        notes.append(f"{said}: {told['cut']}.")
    if left := len(marks) - len(placed) + told["deep"]:
        notes.append(f"Mentions that have no place in the text, or lie too deep in others; the table has them: {left}.")
    return segments, notes


def _nest(text: str, begin: int, end: int, heap: list[Mark], told: dict[str, int], depth: int) -> list[page.Segment]:
    """Return a stretch of the text in segments; the marks, a heap by where they begin, all lie within it."""
    segments, at = [], begin
    while heap:
        mark = heapq.heappop(heap)
        inside: list[Mark] = []
        while heap and heap[0].begin < mark.end:
            other = heapq.heappop(heap)
            if other.end > mark.end:
                told["cut"] += not other.look.endswith((" cut", " rest"))
                heapq.heappush(heap, replace(other, begin=mark.end, look=f"{other.look} rest", name=""))
                other = replace(other, before=-mark.end, look=f"{other.look} cut")
            inside.append(other)
        heapq.heapify(inside)
        parts: list[page.Segment] = []
        if depth < _DEEP:
            parts = _nest(text, mark.begin, mark.end, inside, told, depth + 1) if inside else []
        else:
            told["deep"] += len(inside)
        segments += [page.Segment(text[at : mark.begin])] if at < mark.begin else []
        segments.append(page.Segment(text[mark.begin : mark.end], mark.look, mark.label, mark.href, parts, mark.name))
        at = mark.end
    return [*segments, page.Segment(text[at:end])] if at < end else segments


def _table(own: pl.DataFrame, asked: page.Parameters) -> page.Table:
    shown = ["begin", "end", "surface_form", "entities", "type", "is_nil", "ignorable", "confidence"]
    extra = [name for name in (asked["colour"],) if name in own.columns and name not in shown]
    links = {"surface_form": lambda row: page.address("document", **{**asked, "annotation": row["annotation"]})}
    return page.Table(
        "annotations", own.select(*shown, *extra, "annotation"), links, "A surface form leads to all of it."
    )


def _beside(
    work: page.Explored, own: pl.DataFrame, judged: Judgements | None, asked: page.Parameters
) -> list[page.Shown]:
    """Return what is known of one annotation: its columns, candidates, answers of systems, and RDF."""
    chosen = own.filter(annotation=asked["annotation"])
    if chosen.is_empty():
        raise UnknownName("annotation", asked["annotation"], own["annotation"])
    row = chosen.row(0, named=True)
    blocks: list[page.Shown] = [
        page.Note(f"“{row['surface_form']}”, {row['begin']} to {row['end']}: {row['entities'] or 'NIL'}")
    ]
    if judged is not None:
        mention = judged.mentions.filter(annotation=row["annotation"]).select("mention")
        short = pl.col("answer").map_elements(shorten, return_dtype=pl.String)
        answers = judged.systems.join(mention, on="mention").drop("mention").with_columns(short)
        words = "What each registered run answered here."
        blocks.append(page.Table("answers", answers, words=words, small={"outcome": "classes", "answer": "answered"}))
    said = describe_annotation(row, measures_of(work.store))
    blocks += [
        _candidates(work, row),
        page.Table("columns", said, words="All that is known of it.", small={"column": "says"}),
    ]
    index = work.store.cached("index", work.store.index)
    lines = index.about(pl.Series([f"<{row['annotation']}>"]))["line"]
    text = turtle(columns("".join(f"{line}\n" for line in lines.unique()).encode())).decode()
    return [*blocks, page.Code("RDF", text, words="All that the store says of it, in data, measures and runs.")]


def _candidates(work: page.Explored, row: Mapping[str, Any]) -> page.Shown:
    """Return the first candidates of the annotation's form in the knowledge base, as measures see it."""
    if (kb := work.kb) is None:
        return page.Note("Without a knowledge base there are no candidates.", ["remix kb attach", "remix kb build"])
    try:
        found = list_candidates(kb.without_gold(), row["surface_form"] or "", SHOWN)
    except UnknownName:
        return page.Note(f"The knowledge base has no candidate for “{row['surface_form']}”.")
    number, place = found["of"][0], row.get("candidateRank")
    words = f"The first {found.height} of {number}" if number > found.height else f"All {number}"
    words += f", by how often the form means them; gold's entity has the rank {place or '(none of them)'}."
    said = [name for name in found.columns if found[name].null_count() < found.height and name != "of"]
    return page.Table("candidates", found.select(said), words=words)


def _write(work: page.Explored, parameters: page.Parameters) -> page.Download:
    """Return the document as NIF, with the IRIs that its file gave."""
    dataset = work.store.dataset(parameters.get("dataset", "")).name
    document = _find(_documents(work, dataset), dataset, parameters.get("name", ""))
    kept = frames_of(work.store, dataset).keep(documents=pl.Series([document["document"]]))
    name = str(document["called"]).rstrip("/").rpartition("/")[2] or "document"
    return page.Download(turtle(terms_of(kept, given=True)), "text/turtle", f"{dataset}-{name}.ttl")


def _example(work: page.Explored) -> dict[str, str]:
    for entry in page.list_datasets(work)[:1]:
        frames = frames_of(work.store, entry.name)
        first = frames.documents.row(0, named=True)
        own = frames.annotations.filter(document=first["document"])["annotation"].head(1).to_list()
        return {"dataset": entry.name, "name": first["given"] or first["document"], "annotation": "".join(own)}
    return {}


document = page.View("document", "Document", _show, example=_example, downloads={"ttl": _write})
