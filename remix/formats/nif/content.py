"""The hash of a set of triples: the same whatever their order, their syntax and the names of blank nodes."""

from __future__ import annotations

import hashlib
import io

import polars as pl

__all__ = ["content_hash_of"]


def content_hash_of(triples: pl.DataFrame) -> str:
    """Return the SHA-256 of a set of triples (subject, predicate, object), in hexadecimal.

    >>> one = pl.DataFrame({"subject": ["<a>", "_:x"], "predicate": ["<p>", "<p>"], "object": ["_:x", '"y"']})
    >>> two = pl.DataFrame({"subject": ["_:z", "<a>"], "predicate": ["<p>", "<p>"], "object": ['"y"', "_:z"]})
    >>> content_hash_of(one) == content_hash_of(two)
    True
    """
    masked = triples.select(_masked("subject"), pl.col("predicate").cast(pl.Categorical), _masked("object"))
    # Sorting 2 million long strings is slow: subjects and predicates are sorted once each and become
    # numbers, objects are compared only where one subject has one predicate several times.
    subjects = masked["subject"].unique().sort()
    predicates = masked["predicate"].unique().cast(pl.String).sort()
    by_subject = _ranks(subjects, "subject", pl.String)
    by_predicate = _ranks(predicates, "predicate", pl.Categorical)
    keyed = (
        masked.join(by_subject, on="subject", how="left", maintain_order="left")
        .join(by_predicate, on="predicate", how="left", maintain_order="left")
        .select(pl.col("subject_rank") * len(predicates) + pl.col("predicate_rank"), "object")
        .rename({"subject_rank": "key"})
    )
    several = keyed["key"].is_duplicated()
    rows = pl.concat([keyed.filter(~several), keyed.filter(several).unique().sort("key", "object")]).sort(
        "key", maintain_order=True
    )
    digest = hashlib.sha256()
    for column in (subjects, predicates, rows["key"], rows["object"]):
        text = io.BytesIO()
        column.to_frame().write_csv(text, include_header=False, quote_style="never")
        digest.update(text.getbuffer())
    return digest.hexdigest()


def _masked(name: str) -> pl.Expr:
    return pl.when(pl.col(name).str.starts_with("_:")).then(pl.lit("_:")).otherwise(name).alias(name)


def _ranks(values: pl.Series, name: str, kind: type[pl.DataType]) -> pl.DataFrame:
    ranks = pl.DataFrame({name: values.cast(kind)}).with_row_index(f"{name}_rank")
    return ranks.with_columns(pl.col(f"{name}_rank").cast(pl.UInt64))
