"""What an address chooses among the errors of systems, and the addresses that lead to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures.labels import label_of
from remix.names import shorten
from remix.reports.sentences import AGREEMENT, ERRORS, Chosen, call_agreement, find_slice, find_type
from remix.runs.judgements import list_entities
from remix.scoring.errors import label_of_class
from remix.scoring.matching import MATCHINGS, Matching, matching_named
from remix.web import forms, page
from remix.web.addresses import SENTENCES, address, name_mention, name_text

STRONG = "strong"
"""The matching that errors are counted by where an address names none."""
_OTHER_NUMBERS = r"; [a-z-]+\(\w\) for another \w$"
"""How the summary of a matching with a number says that there are others."""
PAGE = 20
"""Sentences on a page."""
CHOICES = ("match", "by", "show", "of", "class", "type", "slice", "gold", "answer", "agreement", "within")
"""What chooses among the mentions and answers of systems, by the names of parameters."""


def read_choice(asked: Mapping[str, str]) -> Chosen:
    """Return which mentions and answers the parameters of an address ask for; raises `UnknownName`."""
    names = ("show", "of", "type", "slice", "gold", "answer", "agreement")
    given = {name: asked[name] for name in names if asked.get(name)}
    return Chosen(**given, error_class=asked.get("class", ""), dataset=asked.get("within", ""))


def name_systems(asked: Mapping[str, str]) -> list[str]:
    """Return the one or two systems that the parameters of an address name."""
    return list(dict.fromkeys(asked[name] for name in ("system", "other") if asked.get(name)))


def fit_choice(asked: Mapping[str, str], rows: pl.DataFrame) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without what the rows of the systems do not have, or is said of two, and what is said of it.

    Slice and type are then called as the rows have them.
    """
    shown = name_systems(asked)
    asked, dropped = _fit_systems(asked, shown)
    if asked.get("slice") and not asked.get("by"):
        dropped.append(UsageError(f"'{asked.pop('slice')}' is a part of a column: name the column (by)"))
    for key, find in (("slice", find_slice), ("type", find_type)):
        try:
            if asked.get(key):
                asked[key] = find(rows, asked[key])
        except UsageError as error:
            dropped.append(error)
            del asked[key]
    if (within := asked.get("within", "")) and within not in (names := rows["dataset"].unique().sort()):
        dropped.append(UnknownName("dataset of these errors", within, names))
        del asked["within"]
    for key, columns in (("gold", ["gold"]), ("answer", [f"{name} answer" for name in shown])):
        if said := asked.get(key):
            whole = pl.concat([rows[column] for column in columns]).drop_nulls()
            if said not in (known := pl.concat([list_entities(whole), whole]).unique()):
                dropped.append(UnknownName(f"entity of {'gold' if key == 'gold' else 'an answer'}", said, known))
                del asked[key]
    return {key: value for key, value in asked.items() if value}, dropped


def _fit_systems(asked: Mapping[str, str], shown: Sequence[str]) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without what is said of two systems where one is shown, and what is said of it."""
    asked, dropped = {**asked}, list[UsageError]()
    if len(shown) < 2:
        if asked.pop("of", "") not in ("", *shown):
            dropped.append(UsageError(f"of is said of two systems, and {' and '.join(shown)} is shown alone"))
        if asked.get("other") and asked["other"] == asked["system"]:
            dropped.append(UsageError(f"{asked.pop('other')} does not stand beside itself"))
        if (agreement := asked.get("agreement", "")) in AGREEMENT:
            dropped.append(UsageError(f"'{agreement}' is said of two systems: choose another beside {asked['system']}"))
            del asked["agreement"]
    elif (of := asked.get("of", "")) and of not in shown:
        dropped.append(UnknownName("system of this page", of, shown))
        del asked["of"]
    return asked, dropped


def find_matching(name: str) -> Matching:
    """Return the matching of a name, as commands take it.

    Raises `UnknownName` for one that there is not, `WrongValue` for a number that it does not take.
    """
    try:
        return matching_named(name)
    except UnknownName:
        raise
    except UsageError as error:
        raise page.WrongValue(str(error), name) from None


def with_matching(asked: Mapping[str, str]) -> dict[str, str]:
    """Return what is asked with the matching called by its own name; raises as `find_matching` does."""
    return {**asked, **({"match": find_matching(said).name} if (said := asked.get("match")) else {})}


def choose_matching(asked: Mapping[str, str]) -> forms.Field:
    """Return the field of the matching that errors are counted by; raises as `find_matching` does."""
    chosen = find_matching(asked.get("match") or STRONG)
    names = dict.fromkeys([STRONG, *MATCHINGS.names(), chosen.name])
    return forms.choose("match", "matching", names, chosen.name, chosen.summary)


def tell_matching(asked: Mapping[str, str]) -> str:
    """Return what errors are counted by, in words."""
    chosen = find_matching(asked.get("match") or STRONG)
    return f"by {chosen.name} matching ({re.sub(_OTHER_NUMBERS, '', chosen.summary)})"


def tell_choice(asked: Mapping[str, str]) -> str:
    """Return which mentions and answers are chosen, and what they are judged by, as a paper says it."""
    chosen, shown = read_choice(asked), name_systems(asked)
    what = {ERRORS: "errors", "all": "all mentions and answers"}.get(chosen.show, f"what is {chosen.show}")
    either = f"{what} of {chosen.of}" if chosen.of and len(shown) > 1 else f"{what} of either" if shown[1:] else what
    told = {
        "class": label_of_class(chosen.error_class) if chosen.error_class else "",
        "type": chosen.type,
        label_of(asked["by"]).words if chosen.slice and asked.get("by") else "slice": shorten(chosen.slice),
        "gold": shorten(chosen.gold),
        "answer": shorten(chosen.answer),
        "texts of": chosen.dataset,
    }
    said = [either, *(f"{name} {value}" for name, value in told.items() if value)]
    said += [call_agreement(chosen.agreement, shown)] if chosen.agreement else []
    return f"Chosen are {', '.join(said)}; A2KB {tell_matching(asked)}."


def lead_to_sentences(**asked: object) -> str:
    """Return the address of the page at its sentences, which stand below the counts."""
    return f"{address('errors', **asked)}#{SENTENCES}"


def lead_to_list(asked: Mapping[str, object], nth: int) -> str:
    """Return the address of the page of errors at the text of this number, counted from 0, among those around it."""
    return f"{address('errors', **{**asked, 'from': nth // PAGE * PAGE or ''})}#{name_text(nth + 1)}"


def keep_both(asked: Mapping[str, str], system: str) -> dict[str, str]:
    """Return the parameters of the errors of a system, beside which stands the other where two are shown.

    What all errors of a page are counted by is kept.
    """
    shown = [asked[name] for name in ("system", "other") if asked.get(name)]
    other = next((name for name in shown if name != system), "") if len(shown) > 1 else ""
    kept = {"dataset": asked["dataset"], "match": asked.get("match", ""), "by": asked.get("by", "")}
    return {**kept, "system": system, "other": other, "of": system if other else ""}


def place_of(row: Mapping[str, Any], asked: Mapping[str, str], nth: str) -> str:
    """Return the address of the document of a row of `with_texts`, at its mention, with the systems and what is chosen.

    `nth` is the number of the row among those that are chosen, so that the document leads to the next one, of `among`
    which datasets where they are several.
    """
    kept = {key: asked.get(key, "") for key in ("system", "other", "colour", *CHOICES)}
    among = asked.get("among") or asked["dataset"]
    where = {"dataset": row["dataset"], "among": among} if "," in among else {"dataset": asked["dataset"]}
    place = address("document", **where, **kept, name=row["name"], error=nth)
    return f"{place}#{name_mention(row['begin'], row['end'])}"
