"""The walk through a list of errors from document to document: the one that is looked at, and those around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from remix.errors import UsageError
from remix.reports.labels import label_entities
from remix.reports.sentences import ERRORS, choose_rows, rows_of_systems, tell_answers, with_texts
from remix.runs.judgements import Judgements, list_entities
from remix.web import forms, page
from remix.web.addresses import split_names
from remix.web.answers import judge
from remix.web.error_choice import CHOICES, fit_choice, lead_to_list, name_systems, place_of, read_choice

WALK = ("error", "mention", "among")
"""What an address says of a walk beside what is chosen: the number of the error, its place in the text, and among which
datasets it is numbered where they are several. The place tells the error where another choice has another number."""


_NUMBER = "number in the list"


@dataclass(frozen=True)
class ErrorStep:
    """The error that a document is opened at, what is said of it, and what leads to those before and after it."""

    row: Mapping[str, Any]
    number: int
    note: page.Note
    neighbours: Mapping[str, str]


def find_step(
    work: page.Explored, judged: Judgements, asked: Mapping[str, str], document: Mapping[str, Any]
) -> ErrorStep | None:
    """Return the error of the document that the address names among those that are chosen, None where it is not here.

    It is that of its number or, where this is another, that of its place. Raises `StoreError` where no run is on any of
    the datasets that errors are numbered among.
    """
    if not (asked["system"] and asked["error"].isdecimal()):
        return None
    shown, every = name_systems(asked), _judge_listed(work, judged, asked)
    found = choose_rows(rows_of_systems(every, shown), read_choice(asked), shown)
    here = found.with_row_index(_NUMBER).filter(document=document["document"])
    if span := re.fullmatch(r"(\d{1,9})-(\d{1,9})", asked["mention"]):
        here = here.filter(begin=int(span[1]), end=int(span[2]))
    named = int(asked["error"][:9]) - 1
    if not asked["mention"] or named in here[_NUMBER]:
        here = here.filter(pl.col(_NUMBER) == named)
    if here.is_empty():
        return None
    nth, last = int(here[_NUMBER][0]), found.height - 1
    around = {at: found.slice(at, 1) for at in (0, nth - 1, nth, nth + 1) if 0 <= at <= last}
    rows = {at: with_texts(every, row).row(0, named=True) for at, row in around.items()}
    row = rows[nth]
    ways = {
        way: place_of(rows[at], asked, str(at + 1)) for way, at in (("prev", nth - 1), ("next", nth + 1)) if at in rows
    }
    named_here = pl.Series([str(row[column] or "") for column in ("gold", *(f"{name} answer" for name in shown))])
    labels = label_entities(work.kb, list_entities(named_here))
    words = "error" if asked["show"] in ("", ERRORS) else asked["show"]
    end = ", the only one" if not last else {0: ", the first", last: ", the last"}.get(nth, "")
    said = f"{words} {nth + 1:,} of {last + 1:,}{end}. {'; '.join(tell_answers(row, shown, labels))}."
    links = {"back to the list": _lead_back(asked, nth)}
    if nth == last and last:
        links["to the first"] = place_of(rows[0], asked, "1")
    return ErrorStep(row, nth + 1, page.Note(said, links=links), ways)


def fit_walk(
    work: page.Explored, judged: Judgements, asked: Mapping[str, str]
) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without what the errors that are walked through do not have, and what is said of it."""
    shown, every = name_systems(asked), _judge_listed(work, judged, asked)
    fitting, dropped = fit_choice(asked, rows_of_systems(every, shown))
    return {name: fitting.get(name, "") for name in asked}, dropped


def keep_walk(asked: Mapping[str, str], step: ErrorStep | None) -> list[forms.Field]:
    """Return the hidden fields by which the form of a document keeps the walk, where its address has one."""
    if not asked["error"]:
        return []
    own = {"error": asked["error"], "mention": asked["mention"]}
    if step is not None:
        own = {"error": str(step.number), "mention": f"{step.row['begin']}-{step.row['end']}"}
    kept = {**{name: asked[name] for name in ("among", *CHOICES) if name != "match"}, **own}
    return [forms.Field(name, name, said, look="hidden") for name, said in kept.items() if said]


def tell_lost(asked: Mapping[str, str]) -> page.Note:
    """Return that what was looked at is none of the errors that are chosen now, with what leads back to these."""
    if not asked["system"]:
        return page.Note("The walk is through errors of a system: choose one to go on.")
    said = "What was looked at in the walk through errors is none of those that are chosen now."
    return page.Note(said, links={"back to the list": _lead_back(asked, 0)})


def _lead_back(asked: Mapping[str, str], nth: int) -> str:
    kept = {key: asked[key] for key in ("system", "other", *CHOICES)}
    return lead_to_list({**kept, "dataset": asked["among"] or asked["dataset"]}, nth)


def _judge_listed(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> Judgements:
    """Return what the list of errors is of that the document was opened from: of this dataset, or of several."""
    if not asked["among"]:
        return judged
    return judge(work, split_names(asked["among"]), asked["by"], name_systems(asked), asked["match"])
