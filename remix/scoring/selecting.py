"""Answers in the scope of a remix: those that the query it was cut by selects."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.errors import Error
from remix.scoring.answers import Answers
from remix.scoring.cases import Scope

__all__ = ["scope_of_queries"]


def scope_of_queries(answers: Answers) -> Scope:
    """Return the answers that the query which their dataset was cut by selects.

    An answer in a dataset that nothing was dropped from is in scope. An entity of unknown type, or NIL, may be of any:
    it is in scope where some class would put it there. Unknown, with a note, are the documents of a dataset whose
    query is not known, or cannot be evaluated on an answer's own form and entity.
    """
    scope = Scope()
    for part in answers.parts:
        scope = scope.within(_scope_of_part(part))
    return scope


def _scope_of_part(answers: Answers) -> Scope:
    mentions = answers.mentions
    cut = mentions.gold.filter(ignorable="dropped").join(mentions.documents, on="doc")["dataset"].unique().sort()
    queries = answers.background.queries
    if cut.is_empty():
        return Scope()
    from remix.scoring.selected import selected

    scope = Scope()
    for name in cut:
        docs = mentions.documents.filter(dataset=name)["doc"]
        try:
            if name not in queries:
                raise Error("the query that it was cut by is in no manifest beside it")
            chosen = selected(answers, queries[name], docs)
        except Error as error:
            progress.note(f"{name}: P in scope is not known, as {' '.join(str(error).split())}; see P on mention")
            scope = scope.within(Scope(unknown=docs))
            continue
        own = answers.numbered.filter(pl.col("side") == "answer", pl.col("doc").is_in(docs.implode()))
        scope = scope.within(Scope(own.select(a="id", in_scope=pl.col("answer").is_in(chosen.implode()))))
    return scope
