"""Errors counted: of each system by class, and by class in the parts of a column, with how many there could be."""

from __future__ import annotations

import polars as pl

from remix.reports.sentences import NO_MENTION
from remix.runs.judgements import SEVERAL, Judgements
from remix.scoring.errors import TAXONOMIES

TAXONOMY = "neleval"
ANY = "any error"
"""Counts what is wrong or missed, of all mentions and answers that count."""


def explain_classes() -> dict[str, str]:
    """Return what each class of errors means and of what its rate is, `ANY` first."""
    return {ANY: "what is wrong or missed (of all mentions and answers that count)", **TAXONOMIES[TAXONOMY].classes}


def count_errors(judged: Judgements, *, parts: bool = False) -> pl.DataFrame:
    """Return system, class, errors, `of` and share: how often each system made which class of errors.

    `of` is how often it could have been made, as the class says (`explain_classes`), and share is null where that is
    never. With `parts` there are these rows for each part of the column that was judged by (`part`), whose rows add up
    to more than all where mentions are in several.
    """
    columns = ["mention", "annotation", "gold", *(["slice"] if parts else [])]
    rows = judged.systems.join(judged.mentions.select(columns), on="mention", how="left", maintain_order="left")
    if parts:
        several = pl.col("slice").fill_null(NO_MENTION).str.split(SEVERAL)
        rows = rows.with_columns(part=several).explode("part")
    keys = ["system", *(["part"] if parts else [])]
    told = pl.col("classes").fill_null("").str.split(" ")
    wrong = {name: _WRONG.get(name, told.list.contains(f"{TAXONOMY}:{name}")) for name in _COULD_BE}
    counted = [
        rows.group_by(keys).agg(
            pl.lit(name).alias("class"),
            errors=wrong[name].sum().cast(pl.Int64),
            # Of alternatives NIL and an entity may both be right: what was made could be made, whichever stands first.
            of=(could_be | wrong[name]).sum().cast(pl.Int64),
        )
        for name, could_be in _COULD_BE.items()
    ]
    order = pl.col("class").cast(pl.Enum([*_COULD_BE]))
    found = pl.concat(counted).sort(*keys, order)
    share = pl.when(pl.col("of") > 0).then(pl.col("errors") / pl.col("of"))
    return found.select(*keys, "class", "errors", "of", share=share)


_IN_GOLD, _ANSWERED = pl.col("annotation").is_not_null(), pl.col("answer").is_not_null()
_LINKED, _AS_LINK = pl.col("gold") != "NIL", pl.col("answer") != "NIL"
_COUNTS = pl.col("outcome") != "ignored"
_WRONG = {ANY: pl.col("outcome").is_in(["wrong", "missed"])}
_COULD_BE = {
    ANY: _COUNTS,
    "wrong_link": _IN_GOLD & _ANSWERED & _LINKED & _AS_LINK,
    "link_as_nil": _IN_GOLD & _ANSWERED & _LINKED,
    "nil_as_link": _IN_GOLD & _ANSWERED & ~_LINKED,
    "missing": _IN_GOLD,
    "extra": _ANSWERED & _COUNTS,
}
