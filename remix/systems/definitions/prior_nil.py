"""The prior without gold, and NIL for names that the dictionary does not know, as EUEF's Priorer says them."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.kb.parts import GOLD
from remix.systems import SPAN, Answers, System, _tokens, candidates, spans


def answer(frames: Frames, kb: KnowledgeBase, task: str, seed: int) -> Answers:
    """Return the first candidate of every span, NIL where there is none; in A2KB unknown names are NIL as well."""
    ungilded = kb.without_sources(GOLD)
    wanted = spans(frames, ungilded, task)
    first = candidates(wanted, ungilded).unique(SPAN, keep="first", maintain_order=True)
    found = wanted.select(SPAN).join(first.select(*SPAN, "entity"), on=SPAN, how="left")
    if task == "D2KB":
        return found
    return pl.concat([found, _unknown_names(frames.documents, wanted)], how="diagonal").sort(SPAN)


def _unknown_names(documents: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the spans of words in capitals that overlap no known one.

    A word that begins a sentence is part of a name where others follow and no text has it in lower case.
    """
    tokens = _tokens(documents)
    said = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    tokens = tokens.with_columns(said=said)
    lower = tokens.filter(pl.col("said").str.contains(r"^\p{Ll}"))["said"].unique()
    tokens = tokens.with_columns(
        first=pl.col("said").shift(1).over("document").str.contains(r"^[.!?:\"“]|\.$").fill_null(True),
        common=pl.col("said").str.to_lowercase().is_in(lower.implode()),
    )
    name = pl.col("word") & pl.col("said").str.contains(r"^\p{Lu}") & ~(pl.col("first") & pl.col("common"))
    runs = tokens.with_columns(run=(~name).cum_sum().over("document")).filter(name)
    names = runs.group_by("document", "run", maintain_order=True).agg(
        pl.col("begin").min(), pl.col("end").max(), alone=(pl.len() == 1) & pl.col("first").first()
    )
    names = names.filter(~pl.col("alone")).select(SPAN)
    taken = names.join(known.select("document", known_begin="begin", known_end="end"), on="document")
    taken = taken.filter(pl.col("begin") < pl.col("known_end"), pl.col("end") > pl.col("known_begin"))
    return names.join(taken, on=SPAN, how="anti")


system = System(
    "prior-nil",
    "longest dictionary match without gold, first candidate; unknown names are NIL",
    answer,
    kind="baseline",
)
