"""What speaks against a run before anything is counted: failures, texts of no revision, gold selected by its answers.

What stands beside scores, below tables and on pages of either is made of the columns that are made here.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from remix.names import FAILED
from remix.scoring.inputs import Inputs

SHORTCOMINGS = ("failed", "revision_unknown", "fitted")
"""On how many documents a system failed; whether nothing says on which revision of the texts its run was made; whether
gold is a remix that was selected by what came of its own run."""
FORMLESS = ("formless", "gold_formless")
"""How many answers of a run, and mentions of gold, tell no text where a matching compares it, so that none is right."""


def failures_of(inputs: Inputs) -> pl.DataFrame:
    """Return system, dataset and document of gold where a system failed, so that it has no answer there.

    An answer may be empty, which is no failure: what failed says so itself.

    >>> from remix.frames import Frames
    >>> gold = Frames.of(documents=pl.DataFrame({"document": ["d", "e"], "dataset": ["x", "x"], "text": ["Ada", "Bo"]}))
    >>> late = pl.DataFrame({"subject": ["e"], "term": [FAILED], "number": [None], "text": ["late"]})
    >>> failures_of(Inputs(gold, {"mine": Frames.of(documents=gold.documents[:1], values=late)})).rows()
    [('mine', 'x', 'e')]
    """
    told = [pl.DataFrame(schema={"system": pl.String, "subject": pl.String})]
    for name, run in inputs.runs.items():
        if run.values.is_empty() or (own := run.values.filter(pl.col("term") == FAILED).select("subject")).is_empty():
            continue
        # Of a file of answers, a document that failed is one of its documents all the same.
        pairs = inputs.pair_documents(name).rename({"document": "subject"})
        own = own.join(pairs, on="subject", how="left").select(pl.coalesce("gold", "subject").alias("subject"))
        told.append(own.select(pl.lit(name).alias("system"), "subject"))
    if len(told) == 1:
        return told[0].select("system", dataset="system", document="subject")
    gold = inputs.gold.documents
    names = gold.select("document", "dataset", subject=pl.concat_list("document", "given")).explode("subject")
    found = pl.concat(told).join(names.drop_nulls("subject").unique(), on="subject")
    return found.select("system", "dataset", "document").unique().sort("system", "dataset", "document")


def with_shortcomings(rows: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """Return rows of a `system` and a `dataset` with `SHORTCOMINGS`, each where it is so of any run.

    In the rows of 'all' and 'mean', and where rows have no dataset, documents of all datasets count, each once.
    """
    found = failures_of(inputs)
    if found.height:
        each = found.group_by("system", "dataset").agg(failed=pl.len().cast(pl.Int64))
        whole = found.group_by("system").agg(of_all=pl.col("document").n_unique().cast(pl.Int64))
        rows = rows.join(whole, on="system", how="left", maintain_order="left")
        if "dataset" in rows.columns:
            rows = rows.join(each, on=["system", "dataset"], how="left", maintain_order="left")
            pooled = pl.col("dataset").is_in(["all", "mean"])
            rows = rows.with_columns(of_all=pl.when(pooled).then("of_all").otherwise("failed")).drop("failed")
        rows = rows.with_columns(failed=pl.col("of_all").fill_null(0)).drop("of_all")
    unknown = [name for name in inputs.runs if (name, inputs.made_for.get(name, "")) in inputs.unrevised]
    if unknown:
        rows = rows.with_columns(revision_unknown=pl.col("system").is_in(unknown))
    return _with_fitted(rows, inputs)


def with_formless(rows: pl.DataFrame, inputs: Inputs, matchings: Collection[str]) -> pl.DataFrame:
    """Return rows of a `system` with `FORMLESS`, where there are any: by these matchings such answers cannot be right.

    Rows of a `matching` have them where it is one of these.

    >>> from remix.frames import Frames
    >>> rows = pl.DataFrame({"system": ["s", "s"], "matching": ["fuzzy", "strict"]})
    >>> answers = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3]})
    >>> text = pl.DataFrame({"document": ["d"], "dataset": ["x"], "text": ["Ada"]})
    >>> run = Frames.of(documents=text, annotations=answers)
    >>> found = with_formless(rows, Inputs(Frames.of(documents=text), {"s": run}), {"strict"})
    >>> found.select("matching", "formless", "gold_formless").rows()
    [('fuzzy', 0, 0), ('strict', 1, 0)]
    """
    if not matchings:
        return rows
    found = _count_formless(inputs)
    if found.is_empty():
        return rows
    whole = found.group_by("system").agg(pl.col(FORMLESS).sum())
    asked = pl.col("matching").is_in([*matchings]) if "matching" in rows.columns else pl.lit(True)
    if "dataset" in rows.columns:
        # In the rows of 'all' and 'mean' those of all datasets count.
        pooled = pl.concat([whole.with_columns(dataset=pl.lit(name)) for name in ("all", "mean")])
        counts = pl.concat([found, pooled.select(found.columns)])
        rows = rows.join(counts, on=["system", "dataset"], how="left", maintain_order="left")
    else:
        rows = rows.join(whole, on="system", how="left", maintain_order="left")
    return rows.with_columns(
        pl.when(asked).then(pl.col(name).fill_null(0)).otherwise(0).alias(name) for name in FORMLESS
    )


def _count_formless(inputs: Inputs) -> pl.DataFrame:
    """Return system, dataset of gold and `FORMLESS`; answers in documents that gold has not count nowhere."""
    gold, (of_answers, of_gold) = inputs.gold, FORMLESS
    kept = gold.annotations.filter(pl.col("ignorable").is_null(), pl.col("surface_form").is_null())
    parts = list[pl.DataFrame]()
    mentions = kept.join(gold.documents.select("document", home="dataset"), on="document").group_by(dataset="home")
    lacking = mentions.agg(number=pl.len().cast(pl.Int64))
    for name, run in inputs.runs.items():
        answers = run.one_layer().filter(pl.col("surface_form").is_null()).select("document")
        if len(answers):
            places = inputs.pair_documents(name).join(gold.documents.select("dataset", gold="document"), on="gold")
            own = answers.join(places, on="document").group_by("dataset").agg(number=pl.len().cast(pl.Int64))
            parts.append(own.select(pl.lit(name).alias("system"), "dataset", number="number", kind=pl.lit(of_answers)))
        parts.append(lacking.select(pl.lit(name).alias("system"), "dataset", number="number", kind=pl.lit(of_gold)))
    columns = ["system", "dataset", *FORMLESS]
    if not any(map(len, parts)):
        return pl.DataFrame(schema=dict.fromkeys(columns[:2], pl.String) | dict.fromkeys(FORMLESS, pl.Int64))
    numbers = [pl.col("number").filter(pl.col("kind") == kind).sum().alias(kind) for kind in FORMLESS]
    return pl.concat(parts).group_by("system", "dataset", maintain_order=True).agg(numbers).select(columns)


def _with_fitted(rows: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    selected = {name: own for one in inputs.knowledge.backgrounds for name, own in one.selected_by.items()}
    there = inputs.gold.dataset_names
    pairs = [(s, name, True) for name, own in selected.items() if name in there for s in own if s in inputs.runs]
    if not pairs:
        return rows
    found = pl.DataFrame(pairs, schema={"system": pl.String, "dataset": pl.String, "fitted": pl.Boolean}, orient="row")
    any_of = pl.col("system").is_in(found["system"].unique().implode())
    if "dataset" not in rows.columns:
        return rows.with_columns(fitted=any_of)
    pooled = pl.col("dataset").is_in(["all", "mean"])
    rows = rows.join(found, on=["system", "dataset"], how="left", maintain_order="left")
    return rows.with_columns(fitted=pl.when(pooled).then(any_of).otherwise(pl.col("fitted").fill_null(False)))
