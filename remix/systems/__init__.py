"""Systems: entity linkers that answer on documents. One file a system, found by scanning.

Those here compute their answers from the knowledge base; those that are asked text by text have adapters
(`remix.systems.asked`). A system sees documents and, in D2KB, the spans of their annotations; it never sees their
links, `oracle-candidates` excepted, whose business that is. Its answers are frames over the same documents, like gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import polars as pl

from remix.errors import MissingKnowledge, UsageError
from remix.expressions import fill
from remix.frames import Documents, Frames
from remix.kb import KnowledgeBase
from remix.kb.forms import keys
from remix.registry import Registry
from remix.systems.parameters import Value, read_parameters

TASKS = ("A2KB", "D2KB")

Answers: TypeAlias = pl.DataFrame
"""Columns `document`, `begin`, `end`, `entity` (null: NIL), `confidence`."""

SPAN = ["document", "begin", "end"]
"""Columns that say where a mention stands."""


KINDS = ("system", "baseline", "oracle")
"""What systems are in a comparison: the last two have rows of their own and are never called best."""


@dataclass(frozen=True)
class System:
    """An entity linker: its name, what it does in one line, and its answer to documents.

    `answer` receives the documents (with their annotations: the spans to link, and the links for an oracle), the
    knowledge base, the task and the seed. It returns the answered annotations with a column `entity`: null is NIL.
    `parameters` is a frozen dataclass of what can be said by `--parameter`, whose method `answer` then takes its place.
    `kind` is one of `KINDS`: a `baseline` is what others should be better than, an `oracle` looks at gold, so that its
    scores are bounds of those of others. Neither is ever the best where systems are compared.
    """

    name: str
    summary: str
    answer: Callable[[Frames, KnowledgeBase, str, int], Answers]
    needs_kb: bool = True
    parameters: type[Any] | None = None
    kind: str = "system"

    def read_parameters(self, given: Mapping[str, Value]) -> Any:
        """Return the parameters with the values that are given, None where the system has none; raises `UsageError`."""
        if self.parameters is None and given:
            raise UsageError(f"the system '{self.name}' has no parameters, so no '{next(iter(given))}'")
        return None if self.parameters is None else read_parameters(self.parameters, given, self.name)


SYSTEMS: Registry[System] = Registry("system", "remix.systems.definitions", System)


def annotate(
    name: str,
    frames: Frames,
    kb: KnowledgeBase | None,
    *,
    task: str = "A2KB",
    seed: int = 0,
    parameters: Mapping[str, Value] | None = None,
) -> Frames:
    """Return a system's answers on the documents of the frames, as frames over the same documents.

    In D2KB the system receives the spans of all annotations, also of those that a remix dropped, since its context
    must not shrink. Raises `UnknownName` for an unknown system, `MissingKnowledge` where it needs a knowledge base
    and there is none, `UsageError` for another task.
    """
    system = SYSTEMS[name]
    check_task(task)
    chosen = system.read_parameters(parameters or {})
    answer = system.answer if chosen is None else chosen.answer
    if kb is None and system.needs_kb:
        raise MissingKnowledge(f"the system '{name}' needs a knowledge base: `remix kb attach NAME` attaches one")
    # A system that needs no knowledge base may be given none, and does not look at it.
    return _as_frames(frames, answer(frames, cast(KnowledgeBase, kb), task, seed))


def check_task(task: str) -> None:
    """Raise `UsageError` for a task that systems do not answer."""
    if task not in TASKS:
        raise UsageError(f"systems answer the tasks {' and '.join(TASKS)}, not '{task}'")


_LONGEST = 8
"""Words of the longest form that is looked for: 99.9 % of dictionary forms are shorter."""


def spans(frames: Frames, kb: KnowledgeBase, task: str) -> pl.DataFrame:
    """Return the spans that a system links: those of the annotations in D2KB, spotted ones in A2KB.

    Columns `document`, `begin`, `end`, `surface_form`, sorted by place, each span once.
    """
    found = frames.one_layer() if task == "D2KB" else spot(frames.documents, kb)
    return found.select(*SPAN, "surface_form").unique(SPAN, keep="any", maintain_order=False).sort(SPAN)


def candidates(spans: pl.DataFrame, kb: KnowledgeBase) -> pl.DataFrame:
    """Return a row per span and candidate of its form, `rank` 1 the most frequent or most prominent.

    Columns `document`, `begin`, `end`, `entity`, `rank`, sorted by span and rank; forms without candidates give none.
    """
    forms = spans.select(form="surface_form").unique().drop_nulls()
    found = kb.candidates(forms).select("form", "entity", "rank")
    return (
        spans.join(found, left_on="surface_form", right_on="form")
        .select(*SPAN, "entity", "rank")
        .sort(*SPAN, "rank", "entity")
    )


def spot(documents: Documents, kb: KnowledgeBase) -> pl.DataFrame:
    """Return the longest forms of the dictionary in the texts, none overlapping another; the first of equal ones.

    A text in lower case is a mention from five letters on, one of two letters only in capitals: else every 'he'
    is helium. Columns `document`, `begin`, `end`, `surface_form`.
    """
    grams = _grams(_tokens(documents)).join(kb.form_keys, on="key", how="semi")
    form = pl.col("surface_form")
    plausible = (form.str.to_lowercase() != form) | (form.str.len_chars() >= 5)
    plausible &= (form.str.len_chars() > 2) | (form.str.to_uppercase() == form)
    return _longest(grams.filter(plausible)).select(*SPAN, "surface_form")


def _tokens(documents: Documents) -> pl.DataFrame:
    # A token is a run of letters, digits and inner apostrophes or dots ("U.S."), or one sign; offsets are in
    # code points, counted as what stands before.
    pieces = documents.select(
        "document", "text", piece=pl.col("text").str.extract_all(r"\s+|[\w](?:[\w'’.-]*\w)?\.?|[^\w\s]")
    )
    return (
        pieces.explode("piece")
        .drop_nulls("piece")
        .with_columns(length=pl.col("piece").str.len_chars().cast(pl.Int64))
        .with_columns(end=pl.col("length").cum_sum().over("document"))
        .with_columns(begin=pl.col("end") - pl.col("length"))
        .filter(pl.col("piece").str.contains(r"\S"))
        .with_columns(token=pl.int_range(pl.len()).over("document"))
        .select("document", "text", "begin", "end", "token", word=pl.col("piece").str.contains(r"\w"))
    )


def _grams(tokens: pl.DataFrame) -> pl.DataFrame:
    lasting = [
        tokens.with_columns(
            stop=pl.col("end").shift(-n).over("document"),
            last=pl.lit(n),
            ends=pl.col("word").shift(-n).over("document"),
        )
        for n in range(_LONGEST)
    ]
    grams = pl.concat(lasting).filter(pl.col("word") & pl.col("ends"))
    with_dot = pl.col("text").str.slice(pl.col("begin"), pl.col("stop") - pl.col("begin"))
    # "Paris." at the end of a sentence is Paris, "U.S." is itself: both spellings are looked up, the longer wins.
    both = grams.with_columns(surface_form=with_dot)
    bare = both.filter(pl.col("surface_form").str.ends_with(".")).with_columns(
        pl.col("surface_form").str.strip_suffix("."), stop=pl.col("stop") - 1
    )
    possessive = both.filter(pl.col("surface_form").str.contains(r"['’]s$")).with_columns(
        pl.col("surface_form").str.replace(r"['’]s$", ""), stop=pl.col("stop") - 2
    )
    every = pl.concat([both, bare, possessive]).select("document", "begin", "surface_form", "token", "last", end="stop")
    return every.with_columns(key=keys(every["surface_form"]))


def _longest(grams: pl.DataFrame) -> pl.DataFrame:
    """Return the spans that remain when longer ones win, then earlier ones, and winners exclude what they overlap."""
    left = grams.with_columns(
        order=pl.struct(-(pl.col("end") - pl.col("begin")), "begin").rank("dense").over("document")
    )
    left = left.with_columns(cell=pl.int_ranges(pl.col("token"), pl.col("token") + pl.col("last") + 1))
    kept = left.clear()
    while not left.is_empty():
        cells = left.explode("cell")
        best = cells.group_by("document", "cell").agg(best=pl.col("order").min())
        won = (
            cells.join(best, on=["document", "cell"])
            .group_by("document", "begin", "end")
            .agg(wins=(pl.col("order") == pl.col("best")).all())
            .filter("wins")
        )
        winners = left.join(won, on=SPAN, how="semi")
        kept = kept.vstack(winners)
        taken = winners.explode("cell").select("document", "cell")
        beaten = cells.join(taken, on=["document", "cell"], how="semi").select(SPAN)
        left = left.join(beaten, on=SPAN, how="anti")
    return kept.unique(SPAN, keep="any").sort(SPAN)


def _as_frames(frames: Frames, answers: Answers) -> Frames:
    """Return answers as frames over the same documents; a null entity is NIL."""
    dataset = frames.documents.select("document", "dataset", "text")
    named = answers.join(dataset, on="document").with_columns(
        annotation=fill("{}#char={},{}", "document", "begin", "end"),
        surface_form=pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin")),
        is_nil=pl.col("entity").is_null(),
    )
    links = named.filter(~pl.col("is_nil")).select("annotation", "entity", entity_as_given="entity")
    return Frames.of(
        documents=frames.documents, annotations=named.drop("entity", "text"), links=links, regions=frames.regions
    )
