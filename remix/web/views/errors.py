"""The errors of one or two systems in their sentences: what gold has, what was answered, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from remix.errors import UnknownName
from remix.names import shorten
from remix.runs.judgements import OUTCOMES, SEVERAL, Judgements
from remix.runs.registration import Run, list_runs
from remix.web import page

_BESIDE = 120
"""Characters shown on either side of a mention."""
_PAGE = 50
"""Sentences on a page."""
_MOST_SLICED = 20_000
"""Mentions of which slices are kept for the next request."""
_MOST = 500
"""Sentences that an address can ask for on a page."""
_ERRORS = "errors"
_AGREEMENT = {
    "both right": ("correct", "correct"),
    "only the first right": ("correct", ""),
    "only the second right": ("", "correct"),
    "neither right": ("", ""),
}
_ALL_MISS = "missed by all"
_SHOWN = (_ERRORS, *OUTCOMES, "all")
_MARKS = {"correct": "✓", "wrong": "✗", "missed": "○", "ignored": "–"}


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
    form = _form(asked, _rows(judged, shown), sorted({run.dataset for run in runs}), systems)
    of_texts = {run.system for run in runs if run.dataset == dataset and run.task == "A2KB"}
    given = [name for name in shown if name not in of_texts]
    told = [page.Note(f"{name} was given the mentions (D2KB) and found none itself.") for name in given]
    return page.Page(f"Errors of {' and '.join(shown)} on {dataset}", [form, *told, *browse(judged, asked)])


def list_answers(work: page.Explored) -> list[Run]:
    """Return the runs that are on a dataset that is loaded."""
    loaded = {entry.name for entry in work.datasets()}
    return [run for run in list_runs(work.store.folder / "runs") if run.dataset in loaded]


def judge(work: page.Explored, dataset: str, by: str = "") -> Judgements:
    """Return what runs made of a loaded dataset, once for each state of the workspace and of the runs.

    Raises `StoreError` where no run is on the dataset.
    """
    known = tuple((run.folder_name, run.checksum) for run in list_answers(work) if run.dataset == dataset)
    return work.store.once(
        ("judgements", dataset, by, known),
        lambda: work.judgements(dataset, by=by),
        # There are as many columns to slice by as a user thinks of.
        keep=lambda made: not by or made.mentions.height < _MOST_SLICED,
    )


def browse(judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the sentences that are asked for, as texts and as a table, and the pairs of entities that are confused.

    `asked` are the parameters of the page, of which `dataset` and `system` must be there.
    """
    shown = _name_systems(asked)
    rows = _rows(judged, shown)
    chosen = _choose_rows(rows, asked, shown).join(judged.documents, on=["document", "dataset"], how="left")
    start, count = (_number(asked.get(key, ""), default) for key, default in (("from", 0), ("count", _PAGE)))
    count = min(max(count, 1), _MOST)
    passages = [_passage(row, asked["dataset"], shown) for row in chosen.slice(start, count).iter_rows(named=True)]
    told = f"{chosen.height} of {rows.height} mentions and answers are of this kind; {len(passages)} are shown."
    told += _explain_agreement(asked, shown)
    steps = _steps(asked, start, count, chosen.height)
    return [
        page.Note(told, links=steps),
        page.Passages(passages),
        page.Note("The keys n and p lead to the next and the previous text.", links=steps),
        _tabulate(chosen, shown),
        _tell_confused(judged, asked),
    ]


def _explain_agreement(asked: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return why an agreement is not heeded, or chooses nothing, where that is so."""
    agreement = asked.get("agreement", "")
    if agreement in _AGREEMENT and len(shown) < 2:
        return f" '{agreement}' is said of two systems: choose one beside {shown[0]}."
    if agreement == "both right" and asked.get("show", _ERRORS) == _ERRORS:
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
    for name, values in (("show", _SHOWN), ("agreement", (*_AGREEMENT, _ALL_MISS))):
        if name in asked and asked[name] not in values:
            raise UnknownName(f"choice of '{name}'", asked[name], values)
    return asked, systems


def _name_systems(asked: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(asked[name] for name in ("system", "other") if asked.get(name)))


def _tabulate(chosen: pl.DataFrame, shown: Sequence[str]) -> page.Table:
    columns = ["begin", "end", "surface_form", "type", "gold", *({"slice"} & {*chosen.columns})]
    columns += [f"{one} {column}" for one in shown for column in ("outcome", "answer", "class")]
    explained = {f"{one} outcome": "; ".join(f"{name}: {said}" for name, said in OUTCOMES.items()) for one in shown}
    explained |= {"right": "how many registered systems are right here", "of": "of how many"}
    table = chosen.select(pl.col("name").alias("document"), *columns, "right", "of")
    return page.Table("errors", table, explained=explained)


def _number(said: str, default: int) -> int:
    return min(int(said), 10_000_000) if re.fullmatch("[0-9]{1,9}", said) else default


def _rows(judged: Judgements, shown: Sequence[str]) -> pl.DataFrame:
    """Return the mentions with `outcome`, `answer`, `answered` and `class` of each system, its name before them."""
    rows = judged.mentions.join(judged.shares(), on="mention", how="left", maintain_order="left")
    for name in shown:
        own = judged.systems.filter(system=name).select(
            "mention",
            pl.col("outcome").alias(f"{name} outcome"),
            pl.col("answer").alias(f"{name} answer"),
            pl.col("answered").alias(f"{name} answered"),
            pl.col("classes").str.replace_all("neleval:", "", literal=True).alias(f"{name} class"),
        )
        rows = rows.join(own, on="mention", how="left", maintain_order="left")
    return rows.filter(pl.any_horizontal(pl.col(f"{name} outcome").is_not_null() for name in shown))


def _choose_rows(rows: pl.DataFrame, asked: Mapping[str, str], shown: Sequence[str]) -> pl.DataFrame:
    """Return the rows that are asked for: by outcome, class of error, type, slice, agreement, and confused pair."""
    outcomes = [pl.col(f"{name} outcome").fill_null("") for name in shown]
    kind = asked.get("show", _ERRORS)
    wanted = [one.is_in(["wrong", "missed"]) if kind == _ERRORS else one == kind for one in outcomes]
    conditions = [] if kind == "all" else [pl.any_horizontal(wanted)]
    if said := asked.get("class"):
        conditions.append(
            pl.any_horizontal(pl.col(f"{name} class").str.split(" ").list.contains(said) for name in shown)
        )
    for column in ("type", "slice", "gold"):
        if (said := asked.get(column)) and column in rows.columns:
            conditions.append(pl.col(column).str.split(SEVERAL).list.contains(said))
    if said := asked.get("answer"):
        conditions.append(pl.any_horizontal(pl.col(f"{name} answer") == said for name in shown))
    agreement = asked.get("agreement", "")
    if agreement == _ALL_MISS:
        conditions.append(pl.col("right") == 0)
    elif agreement in _AGREEMENT and len(outcomes) == 2:
        pairs = zip(outcomes, _AGREEMENT[agreement], strict=True)
        conditions += [(one == "correct") == (right == "correct") for one, right in pairs]
        conditions.append(pl.col("annotation").is_not_null())
    return rows.filter(*(condition.fill_null(False) for condition in conditions))


def _form(asked: Mapping[str, str], rows: pl.DataFrame, datasets: Sequence[str], systems: Sequence[str]) -> page.Form:
    dataset, system, other = asked["dataset"], asked["system"], asked.get("other", "")
    classes = pl.concat([rows[f"{name} class"].str.split(" ") for name in _name_systems(asked)])
    fields = [
        page.choose("dataset", "dataset", datasets, dataset),
        page.choose("system", "system", systems, system),
        page.choose("other", "beside it", ["", *systems], other, "a second system, whose answers stand beside"),
        page.choose("show", "show", _SHOWN, asked.get("show", _ERRORS), "what became of the mention"),
        page.choose("class", "class of error", ["", *_values(classes)], asked.get("class", "")),
        page.choose("type", "type", ["", *_values(rows["type"].str.split(SEVERAL))], asked.get("type", "")),
        page.choose(
            "agreement",
            "agreement",
            ["", *(_AGREEMENT if other else ()), _ALL_MISS],
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
    text, begin, end = str(row["text"] or ""), int(str(row["begin"])), int(str(row["end"]))
    first = max(0, begin - _BESIDE)
    outcome = next(str(row[f"{name} outcome"]) for name in shown if row[f"{name} outcome"])
    gold = _name_entities(row["gold"]) if row["annotation"] else "none here"
    segments = [
        page.Segment(("… " if first else "") + text[first:begin]),
        page.Segment(text[begin:end], f"{outcome}{' nil' if gold == 'NIL' else ''}", f"{outcome}; gold: {gold}"),
        page.Segment(text[end : end + _BESIDE] + (" …" if end + _BESIDE < len(text) else "")),
    ]
    notes = [f"gold: {gold}"]
    for name in shown:
        said = row[f"{name} outcome"]
        if said is None:
            notes.append(f"{name}: nothing here")
            continue
        answer = _name_entities(row[f"{name} answer"]) or "no answer"
        answered = row[f"{name} answered"]
        span = f" on “{answered}”" if answered and answered != row["surface_form"] else ""
        kind = f" ({str(row[f'{name} class']).replace(' ', ', ')})" if row[f"{name} class"] else ""
        notes.append(f"{_MARKS[str(said)]} {name}: {answer}{span} – {said}{kind}")
    place = page.address("document", dataset=dataset, name=row["name"], system=shown[0])
    types = str(row["type"] or "").replace(SEVERAL, " ")
    facets = {"outcome": outcome, "class": str(row[f"{shown[0]} class"] or ""), "type": types}
    return page.Passage(str(row["name"]), segments, notes, place, facets)


def _name_entities(said: object) -> str:
    return " or ".join(shorten(one) for one in str(said or "").split(" or "))


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
