"""Answers in the scope of a remix: those that the query it was cut by selects."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.errors import Error
from remix.scoring.answers import Answers

__all__ = ["scope_of_queries"]


def scope_of_queries(answers: Answers) -> pl.DataFrame | None:
    """Return a and `in_scope`: whether the query that the answer's dataset was cut by selects it.

    An answer in a dataset that nothing was dropped from is in scope. An entity of unknown type, or NIL, may be of any:
    it is in scope where some class would put it there. None, with a note, where one of the queries is not known, or
    cannot be evaluated on an answer's own form and entity.
    """
    mentions = answers.mentions
    cut = mentions.gold.filter(ignorable="dropped").join(mentions.documents, on="doc")["dataset"].unique().sort()
    queries = answers.background.queries
    if cut.is_empty() or not all(name in queries for name in cut):
        return None
    from remix.scoring.selected import selected

    scope = answers.numbered.filter(side="answer").select("doc", "answer", a="id")
    inside = pl.lit(True)
    for name in cut:
        docs = mentions.documents.filter(dataset=name)["doc"]
        try:
            chosen = selected(answers, queries[name], docs)
        except Error as error:
            progress.note(f"{name}: its P in scope is not known ({' '.join(str(error).split())}); see P on mention")
            return None
        inside = inside & (~pl.col("doc").is_in(docs.implode()) | pl.col("answer").is_in(chosen.implode()))
    return scope.select("a", in_scope=inside)
