"""Dominance: of the surface forms that the dictionary gives for the entity, the share that the dataset uses."""

from collections.abc import Iterator

import polars as pl

from remix.measures.declaration import REMIXING, VAN_ERP, Column, Measure, Summary, terms_of


def dominance(
    of: str,
    others: str,
    spoken: pl.Expr,
    own: pl.Expr,
    *,
    name: str,
    number: int,
    formula: str,
    given: str,
    empty: str,
    unit: str,
    what: str,
) -> Measure:
    """Return the measure `of` entities or surface forms; `others` are what the dictionary has several of for each.

    `spoken` is where there is a value, `own` how many of the others a document or dataset alone has, `number` that of
    the formula, `given` the others in words, `what` those that have them.
    """
    several = _plural(of)
    dictionary = pl.when(spoken).then(pl.col(f"w_{others}"))
    raw = pl.col(f"d_{others}") / dictionary
    mean = Summary(
        name=f"dominance{of}",
        meaning="mean dominance",
        terms={
            "document": (f"hfts:diversity{several}",),
            "micro": (f"hfts:microDiversity{several}", f"hfts:diversity{several}"),
            "macro": (f"hfts:macroDiversity{several}",),
            "distinct": (f"rmx:distinctDiversity{several}",),
        },
        part=raw,
        unit=unit,
        of_unit=True,
        own=(own / dictionary, pl.lit(1.0), "annotations"),
        is_share=True,
        label=f"dominance of {what}",
    )
    columns, summaries = zip(*_bounded_twins(of, others, spoken, unit, what), strict=True)
    return Measure(
        name=name,
        levels=("annotation", "document", "dataset"),
        unit="share, above 1 where the dictionary is incomplete",
        formula=formula,
        citation=f"{REMIXING}, section 2.6, formula ({number}); {VAN_ERP}",
        high="the dataset uses the variety that there is; above 1 the dictionary lacks what the dataset uses",
        low="the dataset shows little of the variety: systems may fit to it",
        empty=empty,
        needs=("surface_forms",),
        columns=(
            Column(
                f"rmx:dominance{of}",
                "double",
                raw,
                f"of {given}, the share that the dataset uses",
                label=mean.label,
                measured_in="share",
            ),
            *columns,
        ),
        summaries=(mean, *summaries),
    )


def _bounded_twins(of: str, others: str, spoken: pl.Expr, unit: str, what: str) -> Iterator[tuple[Column, Summary]]:
    w, d, common, union = (pl.col(f"{whose}_{others}") for whose in ("w", "d", "common", "union"))
    for name, called, part, meaning, mean in (
        (
            "coverage",
            "coverage",
            common / pl.when(spoken).then(w),
            "like dominance, but never above 1: what dataset and dictionary share, of what the dictionary has",
            "mean share of the dictionary's set that the dataset uses",
        ),
        (
            "boundedDominance",
            "bounded dominance",
            pl.when(spoken).then(d / union),
            "like dominance, but never above 1: what the dataset uses, of what dataset or dictionary have",
            "mean share of the joint set that the dataset uses",
        ),
    ):
        terms = terms_of(f"{name}{_plural(of)}", "micro", "distinct")
        label = f"{called} of {what}"
        summary = Summary(f"{name}{of}", mean, terms, part, unit=unit, of_unit=True, is_share=True, label=label)
        yield Column(f"rmx:{name}{of}", "double", part, meaning, label=label, measured_in="share"), summary


def _plural(of: str) -> str:
    return f"{of.removesuffix('y')}ies" if of.endswith("y") else f"{of}s"


# An empty dictionary set is a division by 0: absent, not 0 and not 1.
MEASURE = dominance(
    "Entity",
    "forms",
    (pl.col("w_forms") > 0) & (pl.col("d_forms") > 0),
    pl.col("own_forms"),
    name="dominance-entity",
    number=8,
    formula="|S^D(e)| / |W_S(e)| (8); documents use S^d(e)",
    given="the surface forms that the dictionary gives for the entity",
    empty="absent where the dictionary set is empty, left out of numerator and denominator; see the coverage",
    unit="entity",
    what="entities",
)
