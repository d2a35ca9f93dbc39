"""The conventions of the hfts library (commit 2d13c35), for comparison with its published figures.

They differ from the paper's formulas and from ours: no union with the dataset's own sets; an unknown form or entity
has confusion 1; dominance is divided by all annotations, also those that the dictionary does not know; the form side
of dominance counts the annotations of a form's first entity and no other entity; forms with a space never match a
dictionary key; a document without annotations counts as 0 in macro averages; words are what spaces separate; micro
density counts linked annotations only, the documents' density all.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import Column, Measure, Summary, terms_of
from remix.measures.definitions.not_annotated import MEASURE as NOT_ANNOTATED

_CITATION = "https://github.com/santifa/hfts, the code"
_FORM, _ENTITY, _USED_FORM, _USED_ENTITY = (
    pl.col(name) for name in ("hfts_w_form", "hfts_w_entity", "hfts_d_form", "hfts_d_entity")
)


def _sizes(corpus: Corpus) -> pl.DataFrame:
    """Return the dictionary and dataset counts of each annotation by hfts' keys and with its counting."""
    rows = corpus.annotations
    order = corpus.frames.annotations.select("annotation").with_row_index("place")
    placed = rows.join(order, on="annotation", how="left", maintain_order="left")
    # Diversity.java adds an entity to those of a form only where it is among them already: each repeat of the first.
    first = pl.col("entity").sort_by("place").drop_nulls().first().over("dataset", "key")
    of_first = (pl.col("entity") == first).sum().cast(pl.Int64).over("dataset", "key")
    unmatched = pl.col("key").str.contains(" ", literal=True)
    return placed.select(
        hfts_w_form=pl.when(unmatched).then(0).otherwise(pl.col("w_entities").fill_null(0)),
        hfts_w_entity=pl.col("w_forms").fill_null(0),
        hfts_d_form=of_first,
        hfts_d_entity=pl.col("d_forms").fill_null(0),
    )


def _nonzero(size: pl.Expr) -> pl.Expr:
    """Return a size, 1 for 0: an unknown form or entity has confusion 1."""
    return pl.when(size > 0).then(size).otherwise(1)


def _measure(
    name: str,
    levels: tuple[str, ...],
    formula: str,
    summary: Summary,
    *columns: Column,
    prepare: Callable[[Corpus], pl.DataFrame] | None = None,
) -> Measure:
    return Measure(
        name=name,
        levels=levels,
        unit="as the library writes it",
        formula=formula,
        citation=_CITATION,
        high="see the measure of remix",
        low="see the measure of remix",
        empty="1 for unknown confusion, 0 elsewhere",
        needs=("surface_forms",),
        summaries=(summary,),
        columns=columns,
        prepare=prepare,
    )


def _terms(name: str) -> dict[str, tuple[str, ...]]:
    return terms_of(f"hfts:{name}", "document", "micro", "macro")


_SIDES = (
    ("surface-form", "SurfaceForm", "SurfaceForms", _USED_FORM, _FORM),
    ("entity", "Entity", "Entities", _USED_ENTITY, _ENTITY),
)
# Empty documents have no row among the annotations; "macro" is taken over all documents, these as 0.
HFTS: tuple[Measure, ...] = (
    NOT_ANNOTATED,
    _measure(
        "density",
        ("document", "dataset"),
        "annotations / words between spaces; micro counts linked annotations only",
        Summary(
            "density",
            "annotations per word",
            _terms("density"),
            part=pl.col("linked_mentions"),
            whole=pl.col("spaced_words"),
            over="documents",
            own=(pl.col("mentions"), pl.col("spaced_words"), "documents"),
        ),
    ),
    *(
        _measure(
            f"confusion-{side}",
            ("annotation", "document", "dataset"),
            "dictionary count, 1 where it is unknown",
            Summary(f"ambiguity{one}", "mean dictionary count", _terms(f"ambiguity{many}"), part=_nonzero(size)),
            Column(f"hfts:ambiguity{one}", "integer", _nonzero(size), "dictionary count, or 1"),
            prepare=_sizes if side == "surface-form" else None,
        )
        for side, one, many, _, size in _SIDES
    ),
    *(
        _measure(
            f"dominance-{side}",
            ("dataset",),
            "Σ dataset count / dictionary count over the known annotations, divided by all annotations",
            Summary(
                f"dominance{one}",
                "dominance",
                {"micro": (f"hfts:diversity{many}",)},
                part=pl.when(size > 0).then(used / size).otherwise(0.0),
            ),
        )
        for side, one, many, used, size in _SIDES
    ),
    _measure(
        "maximum-recall",
        ("document", "dataset"),
        "share of annotations whose form is a key of the dictionary; 0 for an empty document",
        Summary("maxRecall", "share of annotations with a known form", _terms("maxRecall"), part=_FORM > 0),
    ),
)


def tables(corpus: Corpus, values: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the documents with what hfts counts of them, and the annotations, of which each counts by itself."""
    linked = values.filter(pl.col("entity").is_not_null()).group_by("document").agg(linked_mentions=pl.len())
    documents = corpus.documents.join(linked, on="document", how="left", maintain_order="left").with_columns(
        pl.col("linked_mentions").fill_null(0).cast(pl.Int64),
        spaced_words=pl.col("text").str.split(" ").list.len().cast(pl.Int64),
    )
    return {"documents": documents, "annotations": values.with_columns(weight=pl.lit(1.0))}
