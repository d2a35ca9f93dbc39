"""What is wrong or odd in datasets: rules, found by scanning, and what they find.

A rule of one's own is a file in `definitions/` with a function under `rule` in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from remix.expressions import fill
from remix.formats.offsets import cut_spans
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.registry import Registry
from remix.schemas import fit

SEVERITIES = ("error", "warning", "note")
"""From what is wrong, over what should be looked at, to what one should know."""

FINDINGS: dict[str, pl.DataType] = {
    "document": pl.String(),
    "annotation": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "surface_form": pl.String(),
    "what": pl.String(),
}
"""A row per finding of a rule; `what` says it in words, the others say where."""


class Subject:
    """A dataset that rules look at, with the knowledge base, if there is one."""

    def __init__(self, frames: Frames, kb: KnowledgeBase | None = None) -> None:
        self.frames = frames
        self.kb = kb

    @cached_property
    def names(self) -> pl.DataFrame:
        """Return document, name (as the file has it) and text of each document."""
        return self.frames.documents.select("document", "text", name=pl.coalesce("given", "document"))

    @cached_property
    def mentions(self) -> pl.DataFrame:
        """Return the annotations that lie in a text, with name and text of their document."""
        rows = self.frames.annotations.join(self.names, on="document", how="inner", maintain_order="left")
        return rows.filter(pl.col("text").is_not_null(), pl.col("begin") < pl.col("end"))

    @cached_property
    def spans(self) -> pl.DataFrame:
        """Return a row for each stretch of text that is annotated, with the first of its annotations."""
        return self.mentions.unique(["document", "begin", "end"], keep="first", maintain_order=True)

    @cached_property
    def links(self) -> pl.DataFrame:
        """Return the links, each with its annotation's row."""
        return self.frames.links.join(self.frames.annotations, on="annotation", maintain_order="left").join(
            self.names, on="document", how="left", maintain_order="left"
        )

    def cut(self, rows: pl.DataFrame, begin: pl.Expr, end: pl.Expr) -> pl.Series:
        """Return what the texts of mentions say between two offsets, which are kept within the text."""
        return cut_spans(rows.with_columns(_from=begin.clip(0), _to=end), "document", "_from", "_to").fill_null("")


@dataclass(frozen=True)
class Rule:
    """One kind of thing that may be wrong: what it is (`summary`) and what to do about it (`fix`).

    `find` returns where it is so in a dataset (see `FINDINGS`); a rule without it is told by the readers of files,
    which mend it. What needs a knowledge base is not looked for without one. `mend` returns what its findings become:
    annotations with begin and end as far as these change, of which one without begin goes; or, with the column
    `entity`, all links that annotations have then, as rows of `remix.frames.LINKS`.
    """

    name: str
    severity: str
    summary: str
    fix: str
    find: Callable[[Subject], pl.DataFrame] | None = field(default=None, compare=False)
    mend: Callable[[Subject, pl.DataFrame], pl.DataFrame] | None = field(default=None, compare=False)
    needs_kb: bool = False


def rule(
    name: str,
    severity: str,
    summary: str,
    fix: str,
    *,
    mend: Callable[[Subject, pl.DataFrame], pl.DataFrame] | None = None,
    needs_kb: bool = False,
) -> Callable[[Callable[[Subject], pl.DataFrame]], Rule]:
    """Return what makes a `Rule` of the function that finds where it is so."""
    return lambda find: Rule(name, severity, summary, fix, find, mend, needs_kb)


RULES: Registry[Rule] = Registry("rule", "remix.checks.definitions", Rule)


def list_documents(rows: pl.DataFrame, what: pl.Expr) -> pl.DataFrame:
    """Return documents (rows of `Subject.names`) as findings."""
    return fit(rows.select("document", what=fill("{}: {}", "name", what)), FINDINGS)


def list_mentions(rows: pl.DataFrame, what: pl.Expr) -> pl.DataFrame:
    """Return mentions (rows of `Subject.mentions` or `links`) as findings; begin, end and form are said first."""
    place = fill("{} {},{} '{}'", pl.coalesce("name", "document"), "begin", "end", "surface_form")
    place = pl.coalesce(place, "annotation")
    found = rows.select("document", "annotation", "begin", "end", "surface_form", what=fill("{}: {}", place, what))
    return fit(found.unique(maintain_order=True), FINDINGS)
