"""What became of every annotation of gold and of every answer: the counts of A2KB, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from remix.frames import Frames
from remix.scoring.errors import TAXONOMIES
from remix.scoring.matching import MATCHINGS
from remix.scoring.matching.cases import Case

__all__ = ["Outcomes", "outcomes"]


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of runs against gold; documents and annotations of gold by their IRIs, systems by their names.

    - `gold`: system, dataset, annotation, group, `outcome` ('tp', 'fn') of each required annotation; a group of
      alternatives has one outcome;
    - `answers`: system, dataset, a, document, begin, end, surface_form, confidence, `outcome` ('tp', 'fp', 'ignored')
      and `annotation`, the one of gold that the answer was assigned to, right or wrong, null without any;
    - `links`: a and entity, in canonical form and after the redirects of the knowledge base; NIL has none;
    - `errors`: system, dataset, a, annotation and `class` (`neleval:wrong_link`) of each error, about an answer, an
      annotation of gold, or both.
    """

    gold: pl.DataFrame
    answers: pl.DataFrame
    links: pl.DataFrame
    errors: pl.DataFrame


def outcomes(case: Case, runs: Mapping[str, Frames], matching: str, taxonomies: Sequence[str] = ()) -> Outcomes:
    """Return what became of gold and answers under a matching, with the error classes of these taxonomies.

    A taxonomy with matchings of its own (ELEVANT's modes) gives its first. Raises `UnknownName` for a matching or
    taxonomy that does not exist.
    """
    judged = case.judged("link", MATCHINGS[matching])
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    names = systems.with_columns(name=pl.Series(case.mentions.systems, dtype=pl.String))
    documents = case.mentions.documents
    kept = case.kept().select("doc", "g", "group", "annotation")
    found = judged.groups.select("system", "group").unique().with_columns(outcome=pl.lit("tp"))
    gold = systems.join(kept, how="cross").join(found, on=["system", "group"], how="left")
    gold = gold.with_columns(pl.col("outcome").fill_null("fn"))
    assigned = judged.pairs.select("a", "g").join(case.gold.select("g", "annotation"), on="g").select("a", "annotation")
    answers = judged.answers.select("a", "outcome").join(case.answers.select(_ANSWER), on="a")
    answers = answers.join(_spelt(runs), on=["system", "answer"], how="left").join(assigned, on="a", how="left")
    entities = pl.DataFrame({"entity": range(len(case.mentions.entities)), "iri": case.mentions.entities})
    links = case.mentions.answer_links.join(entities, on="entity").select("a", entity="iri")
    errors = [_errors(case, name, matching) for name in taxonomies]
    wrong = pl.concat([_NO_ERRORS, *errors]).join(case.gold.select("g", "annotation"), on="g", how="left")

    def named(rows: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        labelled = rows.join(documents, on="doc").join(names, on="system")
        return labelled.drop("system").rename({"name": "system"}).select("system", "dataset", *columns).sort(pl.all())

    return Outcomes(
        named(gold, ["annotation", "group", "outcome"]),
        named(answers, [*_PLACE, "surface_form", "confidence", "outcome", "annotation"]),
        links.sort("a", "entity"),
        named(wrong.unique(), ["a", "annotation", "class"]),
    )


_PLACE = ["a", "document", "begin", "end"]
_ANSWER = ["a", "system", "doc", "begin", "end", pl.col("annotation").alias("answer")]
_NO_ERRORS = pl.DataFrame(
    schema={"system": pl.Int64, "doc": pl.Int64, "g": pl.Int64, "a": pl.Int64, "class": pl.String}
)


def _spelt(runs: Mapping[str, Frames]) -> pl.DataFrame:
    """Return system, answer, surface_form and confidence of every annotation of the runs."""
    parts = [
        run.annotations.select(
            pl.lit(number, pl.Int64).alias("system"), pl.col("annotation").alias("answer"), "surface_form", "confidence"
        )
        for number, run in enumerate(runs.values())
    ]
    return pl.concat(parts).unique(["system", "answer"], keep="first", maintain_order=True)


def _errors(case: Case, taxonomy: str, matching: str) -> pl.DataFrame:
    rows = TAXONOMIES[taxonomy].classify(case, (matching,)).rows.filter("error")
    known = rows["matching"].unique().sort()
    chosen = matching if matching in known or known.is_empty() else known[0]
    rows = rows.filter(pl.col("matching") == chosen)
    return rows.select("system", "doc", "g", "a", pl.lit(f"{taxonomy}:").add(pl.col("class")).alias("class"))
