"""Where scores lead: to the errors behind them. What their slices are called, and by which conditions they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from remix.measures.labels import label_of
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.matching import matchings_among
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import ALL_SLICES
from remix.vocabularies import COARSE_TYPE
from remix.web.addresses import SENTENCES, address, split_names
from remix.web.error_choice import STRONG

_NAMED = 4
"""Datasets that a caption names; of more it says how many they are."""
Leading = Callable[[Mapping[str, Any]], str]
"""What makes an address of a row."""
_QUOTED = {"'all'": "all", "''": ""}
"""What slices are called that would be taken for the whole, or have no name."""


def name_slices(slices: pl.Expr, *, whole: pl.Expr) -> pl.Expr:
    """Return what slices are called in the matrix, in which the whole is 'all'."""
    quoted = slices.cast(pl.String).replace({value: name for name, value in _QUOTED.items()})
    return pl.when(whole).then(pl.lit("all")).otherwise(quoted)


def list_scored_datasets(rows: pl.DataFrame) -> dict[str, str]:
    """Return the names of the datasets of which each system has scores, apart by commas, where they are several."""
    own = rows.filter(~pl.col("dataset").is_in(["all", "mean"])).select("system", "dataset").unique()
    return dict(own.group_by("system").agg(pl.col("dataset").sort().str.join(",")).iter_rows())


def explain_leads(asked: Mapping[str, str]) -> str:
    """Return where a score leads to."""
    usual = (asked["profile"], asked["task"], asked["match"]) == ("remix", "A2KB", _name_matching(asked))
    told = "" if usual else f", those of A2KB by {_name_matching(asked)} matching and the profile remix"
    on = ", on the mentions of its slice: answers on no mention are a part of their own there" if asked["by"] else ""
    if on and not _has_errors_by(asked):
        on = f", on all mentions: Errors has no parts by {label_of(asked['by']).words} as they are cut here"
    return f"A score leads to its errors{told}{on}."


def _has_errors_by(asked: Mapping[str, str]) -> bool:
    """Return whether the slices of scores are parts that errors are counted by: of one column, in no profile's way."""
    by = asked["by"].partition(":")[0] if asked["by"] != COARSE_TYPE else asked["by"]
    own = " × " in asked["by"] or by == "kb" or is_of_errors(asked["by"])
    return not own and not {asked["by"], by} & {*PROFILES[asked["profile"]].slices}


def _name_matching(asked: Mapping[str, str]) -> str:
    """Return the matching of the errors that a score leads to: its own, where it is none of a profile alone."""
    if asked["match"] in PROFILES[asked["profile"]].meanings:
        return STRONG
    return matchings_among([asked["match"]])[0]


def name_conditions(asked: Mapping[str, str]) -> str:
    """Return by which task, matching and conventions scores are, and of slices by what and on which datasets."""
    of = f"{asked['task']} by {asked['match']} matching, conventions of {asked['profile']}"
    if not asked["by"]:
        return of
    datasets = split_names(asked["datasets"])
    on = ", ".join(datasets) if len(datasets) <= _NAMED else f"{len(datasets)} datasets together"
    return f"{of}, by {label_of(asked['by']).words} on {on}"


def lead_to_errors(asked: Mapping[str, str], answered: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """Return the address of the errors behind a score; of several datasets those on all that the system answered.

    They are those of its system, beside which another may stand; those behind a difference are of both.
    """
    dataset = (answered.get(row["system"]) or asked["datasets"]) if asked["by"] else row["part"]
    whole = row["part"] in ("all", ALL_SLICES) or not _has_errors_by(asked)
    part = _QUOTED.get(row["part"], row["part"])
    if asked["by"] and not part:
        return ""  # no address names a slice without a name
    sliced = {"by": asked["by"], "slice": part} if asked["by"] and not whole else {}
    others = [name for name in split_names(asked["systems"]) if name != row["system"]]
    other = row.get("other") or asked["against"] or (others[0] if len(others) == 1 else "")
    other = other if other != row["system"] else ""
    of = row["system"] if other and not row.get("other") else ""
    match = "" if (own := _name_matching(asked)) == STRONG else own
    place = address("errors", dataset=dataset, system=row["system"], other=other, of=of, match=match, **sliced)
    return f"{place}#{SENTENCES}" if sliced else place
