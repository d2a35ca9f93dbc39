"""The errors of one or two systems in their sentences: what gold has, what was answered, and what went wrong."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import polars as pl

from remix.errors import UnknownName
from remix.reports.sentences import (
    AGREEMENT,
    ALL_MISS,
    ERRORS,
    SHOWN,
    Chosen,
    choose_rows,
    columns_of_errors,
    cut_sentence,
    name_gold,
    rows_of_systems,
    tell_answers,
    tell_given,
    tell_shortcomings,
    with_texts,
)
from remix.runs.judgements import OUTCOMES, SEVERAL, Judgements, judge_mentions
from remix.runs.registration import Run, list_runs, revision_of
from remix.web import page

_PAGE = 50
"""Sentences on a page."""
_MOST = 500
"""Sentences that an address can ask for on a page."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    runs = list_answers(work)
    if not runs:
        if named := parameters.get("dataset"):
            work.store.dataset(named)
        return page.Page("Errors", [page.Note("No run is registered yet.", ["remix run add NAME FILE --on DATASET"])])
    asked = {name: value for name, value in parameters.items() if value}
    asked, systems = _complete(asked, runs)
    dataset, by = asked["dataset"], asked.get("by", "")
    judged, shown = judge(work, dataset, by), _name_systems(asked)
    form = _form(asked, rows_of_systems(judged, shown), sorted({run.dataset for run in runs}), systems)
    told = [page.Note(said) for said in tell_given(runs, dataset, shown)]
    same = page.Note("The same in a terminal:", [_command(asked)])
    return page.Page(f"Errors of {' and '.join(shown)} on {dataset}", [form, *told, *browse(judged, asked), same])


def _command(asked: Mapping[str, str]) -> str:
    """Return the command line that shows what the page does."""
    options = {"on": asked["dataset"], "beside": asked.get("other", "")}
    options |= {name: asked.get(name, "") for name in ("by", "slice", "show", "class", "type", "agreement")}
    given = " ".join(f"--{name} {shlex.quote(said)}" for name, said in options.items() if said)
    return f"remix errors {shlex.quote(asked['system'])} {given}"


def list_answers(work: page.Explored) -> list[Run]:
    """Return the runs that are on a dataset that is loaded."""
    loaded = {entry.name for entry in page.list_datasets(work)}
    return [run for run in list_runs(work.store.folder / "runs") if run.dataset in loaded]


def judge(work: page.Explored, dataset: str, by: str = "") -> Judgements:
    """Return what runs made of a loaded dataset, once for each state of the workspace and of the runs.

    Raises `StoreError` where no run is on the dataset.
    """
    runs = [run for run in list_answers(work) if run.dataset == dataset]
    known = tuple((run.folder_name, run.checksum, revision_of(work.store.folder / "runs", run)) for run in runs)
    return work.store.cached(
        ("judgements", dataset, by, known),
        lambda: judge_mentions(work, dataset, by=by),
        asked=bool(by),  # there are as many columns to slice by as a user thinks of
    )


def browse(judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the sentences that are asked for, as texts and as a table, and the pairs of entities that are confused.

    `asked` are the parameters of the page, of which `dataset` and `system` must be there.
    """
    shown = _name_systems(asked)
    rows = rows_of_systems(judged, shown)
    chosen = with_texts(judged, choose_rows(rows, _read_choice(asked), shown))
    start, count = (_number(asked.get(key, ""), default) for key, default in (("from", 0), ("count", _PAGE)))
    count = min(max(count, 1), _MOST)
    passages = [_passage(row, asked["dataset"], shown) for row in chosen.slice(start, count).iter_rows(named=True)]
    told = f"{chosen.height} of {rows.height} mentions and answers are of this kind; {len(passages)} are shown."
    told += _explain_agreement(asked, shown)
    steps = _steps(asked, start, count, chosen.height)
    return [
        *[page.Note(said) for said in (*judged.notes, *tell_shortcomings(judged, shown))],
        page.Note(told, links=steps),
        page.Passages(passages),
        page.Note("The keys n and p lead to the next and the previous text.", links=steps),
        _tabulate(chosen, shown),
        _tell_confused(judged, asked),
    ]


def _explain_agreement(asked: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return why an agreement is not heeded, or chooses nothing, where that is so."""
    agreement = asked.get("agreement", "")
    if agreement in AGREEMENT and len(shown) < 2:
        return f" '{agreement}' is said of two systems: choose one beside {shown[0]}."
    if agreement == "both right" and asked.get("show", ERRORS) == ERRORS:
        return " No error is right in both: choose to show what is correct, or all."
    return ""


def _complete(asked: dict[str, str], runs: Sequence[Run]) -> tuple[dict[str, str], list[str]]:
    """Return what is asked, with a dataset and a system, and the systems that are on the dataset."""
    dataset = asked.get("dataset", runs[0].dataset)
    systems = sorted({run.system for run in runs if run.dataset == dataset})
    if not systems:
        raise UnknownName("dataset with a run", dataset, sorted({run.dataset for run in runs}), "remix run list")
    asked = {**asked, "dataset": dataset, "system": asked.get("system", systems[0])}
    for name in _name_systems(asked):
        if name not in systems:
            raise UnknownName(f"run on {dataset}", name, systems, "remix run list")
    _read_choice(asked)
    return asked, systems


def _read_choice(asked: Mapping[str, str]) -> Chosen:
    names = ("show", "type", "slice", "gold", "answer", "agreement")
    given = {name: asked[name] for name in names if asked.get(name)}
    return Chosen(**given, error_class=asked.get("class", ""))


def _name_systems(asked: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(asked[name] for name in ("system", "other") if asked.get(name)))


def _tabulate(chosen: pl.DataFrame, shown: Sequence[str]) -> page.Table:
    explained = {f"{one} outcome": "; ".join(f"{name}: {said}" for name, said in OUTCOMES.items()) for one in shown}
    explained |= {"right": "how many registered systems are right here", "of": "of how many"}
    return page.Table("errors", columns_of_errors(chosen, shown), explained=explained)


def _number(said: str, default: int) -> int:
    return min(int(said), 10_000_000) if re.fullmatch("[0-9]{1,9}", said) else default


def _form(asked: Mapping[str, str], rows: pl.DataFrame, datasets: Sequence[str], systems: Sequence[str]) -> page.Form:
    dataset, system, other = asked["dataset"], asked["system"], asked.get("other", "")
    classes = pl.concat([rows[f"{name} class"].str.split(" ") for name in _name_systems(asked)])
    fields = [
        page.choose("dataset", "dataset", datasets, dataset),
        page.choose("system", "system", systems, system),
        page.choose("other", "beside it", ["", *systems], other, "a second system, whose answers stand beside"),
        page.choose("show", "show", SHOWN, asked.get("show", ERRORS), "what became of the mention"),
        page.choose("class", "class of error", ["", *_values(classes)], asked.get("class", "")),
        page.choose("type", "type", ["", *_values(rows["type"].str.split(SEVERAL))], asked.get("type", "")),
        page.choose(
            "agreement",
            "agreement",
            ["", *(AGREEMENT if other else ()), ALL_MISS],
            asked.get("agreement", ""),
            "which of the systems are right",
        ),
        page.Field("by", "slices by", asked.get("by", ""), explained="a column, as `remix evaluate --by` has it"),
    ]
    if "slice" in rows.columns:
        slices = _values(rows["slice"].str.split(SEVERAL))
        fields.append(page.choose("slice", "slice", ["", *slices], asked.get("slice", "")))
    fields += [page.Field(name, name, asked[name]) for name in ("gold", "answer") if asked.get(name)]
    return page.Form(fields)


def _values(lists: pl.Series) -> list[str]:
    return [str(value) for value in lists.explode().drop_nulls().unique().sort() if value]


def _steps(asked: Mapping[str, str], start: int, count: int, number: int) -> dict[str, str]:
    """Return the addresses of the texts before and after those that are shown."""
    steps = {}
    if start:
        steps["previous"] = page.address("errors", **{**asked, "from": max(0, start - count)})
    if start + count < number:
        steps["next"] = page.address("errors", **{**asked, "from": start + count})
    return steps


def _passage(row: Mapping[str, object], dataset: str, shown: Sequence[str]) -> page.Passage:
    before, mention, after = cut_sentence(row)
    outcome = next(str(row[f"{name} outcome"]) for name in shown if row[f"{name} outcome"])
    gold = name_gold(row)
    segments = [
        page.Segment(before),
        page.Segment(mention, f"{outcome}{' nil' if gold == 'NIL' else ''}", f"{outcome}; gold: {gold}"),
        page.Segment(after),
    ]
    place = page.address("document", dataset=dataset, name=row["name"], system=shown[0])
    types = str(row["type"] or "").replace(SEVERAL, " ")
    facets = {"outcome": outcome, "class": str(row[f"{shown[0]} class"] or ""), "type": types}
    if "slice" in row:  # facets are words: the spaces in a slice become others, which do not part them
        facets["slice"] = " ".join(
            one.replace(" ", "\N{NO-BREAK SPACE}") for one in str(row["slice"] or "").split(SEVERAL)
        )
    return page.Passage(str(row["name"]), segments, [*tell_answers(row, shown)], place, facets)


def _tell_confused(judged: Judgements, asked: Mapping[str, str]) -> page.Table:
    by = {name: asked[name] for name in ("dataset", "system", "by") if name in asked}
    return page.Table(
        f"confused by {asked['system']}",
        judged.confused_pairs(asked["system"]).head(100),
        {"mentions": lambda row: page.address("errors", **by, gold=row["gold"], answer=row["answer"])},
        words="Which entity is taken for which, most often first.",
        leads="The number leads to the sentences.",
    )


def _example(work: page.Explored) -> page.Parameters:
    runs = list_answers(work)
    return {"dataset": runs[0].dataset, "system": runs[0].system} if runs else {}


errors = page.View("errors", "Errors", _show, menu=3, example=_example)
