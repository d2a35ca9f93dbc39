"""The whole of gold with all answers, before it is cut, in documents or in the contexts in them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.errors import UnknownName
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.answers import Answers
from remix.scoring.inputs.mentions import Mentions, mentions_of
from remix.scoring.matching.cases import Case, Scope
from remix.scoring.matching.overlaps import overlaps
from remix.scoring.slicing import scope_named, scope_of_class

__all__ = ["UNITS", "contexts", "in_units", "whole_case"]

UNITS = ("document", "context")
"""What samples draw and macro averages are over."""

_LINES = r"[^\n]*\n+|[^\n]+$"
_SENTENCES = r"(?s).+?(?:[.!?][\"'’”)\]]*\s+|$)"


def whole_case(
    inputs: Inputs, *, collapse: bool = True, unit: str = "document", scope: str = "", documents: str = ""
) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them.

    `collapse` counts annotations once that repeat another; `unit`, `scope` and `documents` are those of `Choice`.
    """
    gold, known = inputs.gold, inputs.knowledge
    mentions = mentions_of(gold, inputs.runs, known.kb, collapse=collapse)
    pairs = overlaps(mentions)
    mentions = in_units(mentions, gold.documents, unit)
    answers = Answers(mentions, inputs)
    if scope:
        classes = pl.concat([gold.classes["class"], answers.types["class"]])
        cut = scope_of_class(answers, scope_named(scope, classes))
    elif (mentions.gold["ignorable"] == "dropped").any():
        from remix.scoring.slicing.scope import scope_of_queries

        cut = scope_of_queries(answers)
    else:
        cut = Scope()
    whole = Case(mentions, mentions.gold, mentions.answers, pairs, answers, scope=cut)
    if documents:
        return whole if documents == "all" else whole.in_kept_documents()
    docs = mentions.documents.filter(pl.col("dataset").is_in(list(known.kept)))["doc"]
    return whole.in_kept_documents(docs) if len(docs) else whole


def contexts(documents: pl.DataFrame) -> pl.DataFrame:
    r"""Return document, context (from 0) and begin: the lines of each text or, where it has but one, its sentences.

    A document without text is one context.

    >>> texts = pl.DataFrame({"document": ["a", "b"], "text": ["One. Two!\nThree.", "One. Two! Three?"]})
    >>> contexts(texts)["begin"].to_list()
    [0, 10, 0, 5, 10]
    """
    text = pl.col("text").fill_null("")
    several = text.str.strip_chars().str.contains("\n", literal=True)
    parts = pl.when(several).then(text.str.extract_all(_LINES)).otherwise(text.str.extract_all(_SENTENCES))
    none = pl.when(parts.list.len() == 0).then(pl.lit([""])).otherwise(parts)
    rows = documents.select("document", part=none).explode("part")
    length = pl.col("part").str.len_chars().cast(pl.Int64)
    begin = (length.cum_sum() - length).over("document")
    return rows.with_columns(begin=begin).select(
        "document", pl.int_range(pl.len(), dtype=pl.Int64).over("document").alias("context"), "begin"
    )


def in_units(mentions: Mentions, texts: pl.DataFrame, unit: str) -> Mentions:
    """Return the mentions with the numbers of units in place of those of documents.

    `texts` has document and text. A mention is of the context that it begins in, and all alternatives of one are of
    the context of the first. Raises `UnknownName` for another unit.
    """
    if unit not in UNITS:
        raise UnknownName("unit", unit, UNITS)
    if unit == "document":
        return mentions
    found = contexts(texts.unique("document", maintain_order=True))
    units = mentions.documents.join(found, on="document", how="left", maintain_order="left").sort("doc", "context")
    units = units.with_columns(unit=pl.int_range(pl.len(), dtype=pl.Int64), begin=pl.col("begin").fill_null(0))
    gold = _placed(mentions.gold, units).with_columns(doc=pl.col("doc").min().over("group"))
    return replace(
        mentions,
        documents=units.select("document", "dataset", doc="unit").select(mentions.documents.columns),
        gold=gold,
        answers=_placed(mentions.answers, units),
    )


def _placed(rows: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the unit that they begin in as `doc`; what has no offsets is in the first."""
    numbered = rows.with_row_index("row").with_columns(place=pl.col("begin").fill_null(0))
    starts = units.select("doc", "unit", place="begin").sort("place")
    found = numbered.sort("place").join_asof(starts, on="place", by="doc", check_sortedness=False)
    return found.sort("row").with_columns(doc="unit").select(rows.columns)
