"""Answers of systems that are asked text by text, as frames and with the record of how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from remix.errors import Error
from remix.formats.identifiers import annotation_iris
from remix.frames import SCHEMAS, VALUES, Frames
from remix.iris import canonical, is_nil
from remix.names import FAILED, RMX
from remix.systems import SPAN, check_task
from remix.systems.asked import Adapter, Asking, TextAsked, describe_asking, hash_description, show_address
from remix.systems.asking import USUAL, Answered, Patience, ask_all
from remix.systems.kept import AnswerLog
from remix.systems.parameters import describe_parameters
from remix.systems.record import Record, hardware, now

_ROWS = {
    "document": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "entities": pl.List(pl.String()),
    "confidence": pl.Float64(),
}


@dataclass(frozen=True)
class Annotated:
    """The answers of a system to the documents that it answered, and the record of how they were made."""

    frames: Frames
    record: Record


def annotate_asked(
    adapter: Adapter,
    frames: Frames,
    asking: Asking,
    *,
    log: AnswerLog,
    patience: Patience = USUAL,
    before: Annotated | None = None,
    what: str = "",
) -> Annotated:
    """Return what a system answers to the documents of the frames; those that failed are in the record alone.

    With `before`, an earlier annotation by the same system, only the documents that failed then are asked; its answers
    stay. In D2KB the spans are those of all annotations. Raises `Error` where every document fails.
    """
    check_task(asking.task)
    documents = frames.documents.drop_nulls("text")
    if before is not None:
        documents = documents.filter(pl.col("document").is_in(list(before.record.failed)))
    texts = _texts_of(frames, documents, asking.task)
    answered = ask_all(adapter, asking, texts, log=log, patience=patience, what=what)
    if answered.failed and not answered.answers and before is None:
        document, reason = next(iter(answered.failed.items()))
        count = len(answered.failed)
        raise Error(
            f"{adapter.name} at {show_address(asking)} failed on all {count} documents; {document}: it {reason}"
        )
    made = frames_of_answers(frames, answered)
    record = _record_of(adapter, asking, answered)
    if before is None:
        return Annotated(made, record)
    kept = before.frames.keep(documents=before.frames.documents["document"])
    return Annotated(_in_order(frames, Frames.concat([kept, made])), _add_records(before.record, record))


def _texts_of(frames: Frames, documents: pl.DataFrame, task: str) -> list[TextAsked]:
    if task != "D2KB":
        return [TextAsked(*row) for row in documents.select("document", "text").iter_rows()]
    spans = frames.one_layer().select(SPAN).drop_nulls().unique().sort(SPAN)
    listed = spans.group_by("document").agg(spans=pl.struct("begin", "end"))
    rows = documents.select("document", "text").join(listed, on="document", how="left", maintain_order="left")
    return [
        TextAsked(document, text, tuple((one["begin"], one["end"]) for one in spans or ()))
        for document, text, spans in rows.iter_rows()
    ]


def frames_of_answers(frames: Frames, answered: Answered) -> Frames:
    """Return answers as frames over the documents that were answered; values say what was odd, and which failed.

    Answers on one span stand beside each other and are no alternatives; the entities of one answer are.
    """
    documents = frames.documents.filter(pl.col("document").is_in(list(answered.answers)))
    found = [
        (document, one.begin, one.end, list(one.entities), one.confidence)
        for document, answer in answered.answers.items()
        for one in answer.spans
    ]
    rows = pl.DataFrame(found, schema=_ROWS, orient="row")
    about = documents.select("document", "dataset", "text").with_row_index("place")
    rows = rows.join(about, on="document").sort("place", "begin", "end", maintain_order=True)
    rows = rows.with_columns(given=pl.int_range(pl.len()).cast(pl.String).str.zfill(9))
    rows = rows.with_columns(annotation_iris(rows).alias("annotation"))
    links = rows.select("annotation", entity_as_given="entities").explode("entity_as_given").drop_nulls()
    links = links.filter(~is_nil(pl.col("entity_as_given")))
    links = links.with_columns(entity=canonical(links["entity_as_given"])).unique(maintain_order=True)
    surface = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    linked = pl.col("annotation").is_in(links["annotation"].implode())
    return Frames.of(
        documents=documents,
        annotations=rows.with_columns(surface_form=surface, is_nil=~linked).drop("entities", "text", "given", "place"),
        links=links,
        regions=frames.regions.join(documents, on="document", how="semi"),
        values=_values(answered, frames.documents),
    )


def _values(answered: Answered, documents: pl.DataFrame) -> pl.DataFrame:
    """Return what was odd in the answers to each document, and why documents failed, by their IRIs and given names."""
    absent = f"{RMX}notInText"
    counts = [
        (document, absent, float(count), None)
        for document, answer in answered.answers.items()
        if (count := answer.told.get("not-in-text", 0))
    ]
    # A remix calls its documents otherwise, and has the names that files gave them.
    given = dict(documents.select("document", "given").drop_nulls().iter_rows())
    failed = [
        (name, FAILED, None, reason)
        for document, reason in answered.failed.items()
        for name in dict.fromkeys([document, given.get(document, document)])
    ]
    return pl.DataFrame([*counts, *failed], schema=VALUES.types, orient="row")


def _in_order(frames: Frames, made: Frames) -> Frames:
    """Return answers in the order of gold's documents."""
    places = frames.documents.select("document").with_row_index("place")
    parts = {}
    for name in SCHEMAS:
        rows = getattr(made, name)
        if "document" in rows.columns:
            parts[name] = rows.join(places, on="document").sort("place", maintain_order=True).drop("place")
        else:
            parts[name] = rows
    return Frames(**parts)


def identify(adapter: Adapter, asking: Asking) -> str:
    """Return the hash of all that can change what a system answers to a text."""
    return hash_description(describe_asking(adapter, asking))


def _record_of(adapter: Adapter, asking: Asking, answered: Answered) -> Record:
    every = answered.answers.values()
    told = Counter[str]()
    for answer in every:
        told.update(answer.told)
    tokens = _sum(every, "input_tokens"), _sum(every, "output_tokens")
    return Record(
        system=adapter.name,
        version=str(adapter.version),
        address=show_address(asking),
        parameters=describe_parameters(asking.parameters),
        made_by=identify(adapter, asking),
        date=now(),
        hardware=hardware(),
        seconds=round(answered.seconds, 3),
        kept=answered.kept,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost=_cost(asking.parameters, *tokens),
        finished=dict(Counter(answer.finish for answer in every if answer.finish)),
        told=dict(told),
        failed=dict(answered.failed),
    )


def _sum(answers: Any, name: str) -> int:
    return sum(getattr(answer, name) for answer in answers)


def _cost(parameters: Any, read: int, wrote: int) -> float | None:
    """Return what tokens cost by the prices of a million, where the parameters have them."""
    prices = [getattr(parameters, name, None) for name in ("input_price", "output_price")]
    if not any(prices):
        return None
    return round(sum((price or 0.0) * count / 1e6 for price, count in zip(prices, (read, wrote), strict=True)), 6)


def _add_records(before: Record, now: Record) -> Record:
    """Return the record of an annotation whose failed documents were asked again."""
    added: dict[str, Any] = {name: getattr(before, name) + getattr(now, name) for name in _ADDED}
    counts: dict[str, Mapping[str, int]] = {
        name: dict(Counter(getattr(before, name)) + Counter(getattr(now, name))) for name in ("finished", "told")
    }
    cost = None if before.cost is None and now.cost is None else (before.cost or 0.0) + (now.cost or 0.0)
    more = {one.name: getattr(now, one.name) for one in fields(Record)} | added | counts
    return Record(**{**more, "seconds": round(added["seconds"], 3), "cost": cost})


_ADDED = ("seconds", "kept", "input_tokens", "output_tokens")
