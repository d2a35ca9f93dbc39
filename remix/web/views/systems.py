"""Systems on datasets or slices: a matrix of scores with intervals and tests, figures, and what the profile changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from remix.measures import MEASURES
from remix.measures.columns import OWN
from remix.measures.partitions import breakdown
from remix.names import shorten
from remix.paper import Typesetting
from remix.question import OPTIONS, several
from remix.reports.doubts import explain_intervals, explain_shortcomings
from remix.reports.readable import explain_slices, fold_rows, vocabularies_told, with_f1_shown
from remix.reports.scores import Scored, figure_of_columns
from remix.runs.registration import Run
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import PROFILES
from remix.scoring.tasks import TASKS
from remix.vocabularies import ALL
from remix.vocabularies import COLUMNS as OF_CLASSES
from remix.web import page
from remix.web.views.errors import list_answers

_SCHEMES = ("quantiles:4", "log-deciles")
"""How columns of numbers are cut into parts."""
_NAMING = ("document", "surface_form", "kb", "confidence")
"""Columns that name things rather than class them, or are in every table."""
_SCORES = ("precision", "recall", "f1", "macro F1")
_BEST = "the best of the column"
_ALPHA = 0.05
_Leading = Callable[[Mapping[str, Any]], str]
"""What makes an address of a row."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    runs = list_answers(work)
    loaded, dataset = [entry.name for entry in page.list_datasets(work)], parameters.get("dataset", "")
    if not runs or (dataset in loaded and not any(run.dataset == dataset for run in runs)):
        if dataset:
            work.store.dataset(dataset)
        return _tell_empty(loaded, dataset)
    asked, form, columns = _ask(work, runs, parameters)
    names = sorted({run.dataset for run in runs})
    chosen = [asked["dataset"]] if asked["dataset"] else names
    parts: list[str | list[str]] = [chosen] if asked["by"] else [*chosen]
    scored = _score(work, parts, asked)
    told = [page.Note(said) for said in scored.problems]
    waiting = scored.done < scored.of
    if waiting:
        told.append(
            page.Note(
                f"Being computed: {scored.done} of {scored.of} are done. This page asks again every 2 seconds;"
                " what is done stays, and is shown at once the next time.",
                links={"ask again": page.address("systems", **asked)},
            )
        )
    blocks = [] if scored.rows.is_empty() else _tell_scores(asked, scored, columns)
    note = page.Note("The same in a terminal:", _commands(asked, chosen))
    shown = [form, *told, *blocks, _tell_conventions(asked["profile"]), note]
    return page.Page("Systems", shown, refresh=2 * waiting, missing=scored.ended)


def compare_systems(
    work: page.Explored, datasets: Sequence[str], systems: Sequence[str] = (), by: str = ""
) -> list[page.Shown]:
    """Return matrix, figures, tests and scores of systems, by default all, on loaded datasets; what is not computed is.

    They are those of the profile that is remix's own, in its task and matching; with `by` of the slices of a column in
    all datasets together.
    """
    headline = PROFILES["remix"].headline
    asked = {"dataset": "", "by": by, "profile": "remix", "task": headline[0], "match": headline[1]}
    parts: list[str | list[str]] = [[*datasets]] if by else [*datasets]
    scored = _score(work, parts, asked)
    if systems:
        rows, pairs = scored.rows, scored.pairs
        rows = rows.filter(pl.col("system").is_in(systems)) if "system" in rows.columns else rows
        if "other" in pairs.columns:
            pairs = pairs.filter(pl.col("system").is_in(systems), pl.col("other").is_in(systems))
        scored = replace(scored, rows=rows, pairs=pairs)
    told: list[page.Shown] = [page.Note(said) for said in scored.problems]
    if scored.rows.is_empty():
        return told
    return [*told, *_tell_scores({**asked, "against": "", "spider": ""}, scored, {})]


def _score(work: page.Explored, datasets: Sequence[str | list[str]], asked: Mapping[str, str]) -> Scored:
    """Return the scores that are asked for, as far as they are computed."""
    by = several(asked["by"] or ())
    return work.scores(datasets, profile=asked["profile"], task=asked["task"], match=asked["match"], by=by)


def _tell_empty(loaded: Sequence[str], dataset: str) -> page.Page:
    if not loaded:
        said = "Nothing is loaded yet, so no system has answered."
        return page.Page("Systems", [page.Note(said, ["remix load FILE", "remix fetch NAME"])])
    on = dataset or "DATASET"
    said = f"No run is registered {f'on {dataset} ' if dataset else ''}yet: add a system's answers, or have one answer."
    return page.Page(
        "Systems", [page.Note(said, [f"remix run add NAME FILE --on {on}", f"remix annotate {on} --system NAME"])]
    )


def _ask(
    work: page.Explored, runs: Sequence[Run], parameters: page.Parameters
) -> tuple[dict[str, str], page.Form, dict[str, str]]:
    """Return what is asked, with the task and matching of the profile, its form, and the columns to slice by."""
    names = ("dataset", "by", "profile", "task", "match", "against", "spider")
    asked = {name: parameters.get(name, "") for name in names}
    profile = PROFILES[asked["profile"] or "remix"]
    task, match = profile.headline
    asked |= {"profile": profile.name, "task": asked["task"] or task, "match": asked["match"] or match}
    tasks, matchings = [*profile.tasks, task, *TASKS.names()], [*profile.matchings, match, *MATCHINGS.names()]
    datasets, systems = (sorted({getattr(run, name) for run in runs}) for name in ("dataset", "system"))
    by, columns = asked["by"], _list_columns(work)
    for one in breakdown(by) if by else ():
        if one.vocabulary and one.column in OF_CLASSES:
            columns[by] = f"{OWN[one.column]}, of the vocabulary {one.vocabulary}"
    asked["dataset"] = asked["dataset"] or (datasets[0] if by and len(datasets) == 1 else "")
    of_columns = {"what": "column to slice by", "command": "remix list columns"}
    of_tasks, of_matchings = ({"what": one, "command": f"remix list {one}s"} for one in ("task", "matching"))
    on, answering = ({"what": f"{one} with a run", "command": "remix run list"} for one in ("dataset", "system"))
    told = columns.get(by, "a column of annotations or documents")
    of_task = getattr(TASKS[asked["task"]], "summary", "") if asked["task"] in TASKS else ""
    of_match = profile.meaning(asked["match"])
    spiders, over = ["", "scores"], "the columns, or the scores of all"
    fields = [
        page.choose("dataset", "dataset", ["", *datasets], asked["dataset"], "one, or a column for each", **on),
        page.choose("by", "slices by", ["", *columns], by, told, **of_columns),
        page.choose("profile", "conventions of", PROFILES.names(), profile.name, profile.summary),
        page.choose("task", "task", dict.fromkeys(tasks), asked["task"], of_task, **of_tasks),
        page.choose("match", "matching", dict.fromkeys(matchings), asked["match"], of_match, **of_matchings),
        page.choose("against", "held against", ["", *systems], asked["against"], f"by default {_BEST}", **answering),
        page.choose("spider", "spider plot over", spiders, asked["spider"], over, what="spider plot"),
    ]
    return asked, page.Form(fields), columns


def _list_columns(work: page.Explored) -> dict[str, str]:
    """Return what scores can be sliced by, with what it says: columns, and parts of columns of numbers."""
    found = {name: said for name, said in OWN.items() if name not in _NAMING}
    known = work.kb is not None
    for column in (one for measure in MEASURES if known or not measure.needs for one in measure.columns):
        if column.kind in ("integer", "double"):
            found |= {f"{column.name}:{scheme}": f"{column.meaning}, in {scheme}" for scheme in _SCHEMES}
        else:
            found[column.name] = column.meaning
    return found


def _tell_scores(asked: Mapping[str, str], scored: Scored, columns: Mapping[str, str]) -> list[page.Shown]:
    """Return the matrix, its figures, the tests of pairs, and the scores in full."""
    rows, of_f1 = with_f1_shown(
        scored.rows.filter(pl.col("dataset") == "all", pl.col("column").is_in(["", asked["by"]]))
    )
    average = "micro" if "micro" in rows["average"] else rows["average"][0]
    rows = rows.with_columns(part="slice" if asked["by"] else "asked")
    rows = rows.with_columns(part=pl.when(pl.col("part") == "").then(pl.lit("all")).otherwise("part"))
    shown, _ = fold_rows(rows)
    macro = shown.filter(average="macro").select("system", "part", pl.col("f1").alias("macro F1"))
    shown = shown.filter(average=average).join(macro, on=["system", "part"], how="left", maintain_order="left")
    pairs = _name_parts(scored.pairs, asked["by"])
    cells = _mark(shown, pairs, asked["against"])
    score = f"{average}-F1" + ("" if of_f1 == "all" else f" (precision {of_f1})")
    lead = partial(_lead, {**asked, "by": _name_vocabulary(asked["by"], rows)}, _find_largest(scored.rows, asked["by"]))
    figures = figure_of_columns(cells, score, spider=asked["spider"], links=lead)
    notes = explain_slices(rows)
    if "f1_low" in rows.columns and rows["f1_low"].count():
        notes = [*notes, *explain_intervals(rows, "document")]
    notes = [*notes, *explain_shortcomings(rows.with_columns(dataset="asked"))]
    return [
        _matrix(asked, cells, score, rows["part"].n_unique() - cells["part"].n_unique(), columns, lead),
        *_lead_to_vocabularies(asked, rows),
        *[page.Note(said) for said in notes],
        *[page.Drawing(name, figure) for name, figure in figures.items()],
        *_compare(asked, pairs, lead),
        _list_scores(rows),
    ]


def _name_vocabulary(by: str, rows: pl.DataFrame) -> str:
    """Return the column with the vocabulary that its slices are of: one dataset alone may show another."""
    told = vocabularies_told(rows)
    return f"{by}:{told[by].shown}" if by in told else by


def _lead_to_vocabularies(asked: Mapping[str, str], rows: pl.DataFrame) -> list[page.Shown]:
    """Return the addresses of the same page by the classes of other vocabularies."""
    links = {
        f"{column}:{name}": page.address("systems", **{**asked, "by": f"{column}:{name}"})
        for column, one in vocabularies_told(rows).items()
        if asked["by"].partition(":")[0] == column
        for name in (*one.others, ALL)
    }
    return [page.Note("Classes of other vocabularies:", links=links)] if links else []


def _find_largest(rows: pl.DataFrame, by: str) -> dict[tuple[str, str], str]:
    """Return by system and part of the matrix the dataset that has most of the mentions."""
    own = rows.filter(pl.col("dataset") != "all", pl.col("column").is_in(["", by]))
    own = own.sort("mentions", "dataset", descending=[True, False], nulls_last=True)
    own = own.unique(["system", "slice"], keep="first", maintain_order=True)
    return {
        (system, part or "all"): name for system, part, name in own.select("system", "slice", "dataset").iter_rows()
    }


def _name_parts(pairs: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the pairs with the name of their column in the matrix."""
    if "part" not in pairs.columns:
        return pairs
    if not by:
        return pairs.with_columns(part="asked")
    whole = ~pl.col("part").str.starts_with(f"{by}=")
    return pairs.with_columns(
        part=pl.when(whole).then(pl.lit("all")).otherwise(pl.col("part").str.strip_prefix(f"{by}="))
    )


def _mark(shown: pl.DataFrame, pairs: pl.DataFrame, against: str) -> pl.DataFrame:
    """Return the scores with `reference`, the system of a column that others are held against, `p` and `mark`."""
    best = pl.col("system").sort_by("f1", "system", descending=[True, False], nulls_last=True).first().over("part")
    shown = shown.drop("p", strict=False).with_columns(reference=pl.lit(against) if against else best)
    if "p_holm" in pairs.columns:
        turned = {"system": "other", "other": "system"}
        both = [pairs.select("part", "system", reference="other", p="p_holm")]
        both.append(pairs.rename(turned).select("part", "system", reference="other", p="p_holm"))
        shown = shown.join(pl.concat(both), on=["part", "system", "reference"], how="left", maintain_order="left")
    else:
        shown = shown.with_columns(p=pl.lit(None, pl.Float64))
    own = pl.col("system") == pl.col("reference")
    mark = pl.when(own).then(pl.lit("reference" if against else "best")).when(pl.col("p") < _ALPHA).then(pl.lit("*"))
    spread = [pl.col(name).round(3).cast(pl.String) for name in ("f1_low", "f1_high") if name in shown.columns]
    interval = pl.concat_str(spread, separator=" to ") if spread else pl.lit(None, pl.String)
    return shown.with_columns(mark=mark.otherwise(pl.lit("")), interval=interval)


def _matrix(
    asked: Mapping[str, str], cells: pl.DataFrame, score: str, left: int, columns: Mapping[str, str], lead: _Leading
) -> page.Table:
    """Return a row for each system and a column for each dataset or slice, with the interval in small letters."""
    order = (
        cells.group_by("system")
        .agg(pl.col("f1").mean())
        .sort("f1", "system", descending=[True, False], nulls_last=True)
    )
    table, links, explained, small = order.select("system"), {}, {}, {}
    for part in cells["part"].unique(maintain_order=True):
        own = cells.filter(part=part)
        mentions, documents = own.select(pl.col("mentions", "documents").max()).row(0)
        name = shorten(str(part)) + (f" ({mentions})" if mentions is not None else "")
        beside = pl.concat_str(pl.col("interval", "mark").fill_null(""), separator=" ").str.strip_chars()
        own = own.select("system", pl.col("f1").alias(name), beside.alias(f"{name} 95 %"))
        table = table.join(own, on="system", how="left", maintain_order="left")
        links[name] = _leading(lead, str(part), name)
        on = f"{mentions} mentions in " if mentions is not None else ""
        explained[name] = f"{score} on {on}{documents} documents" + (
            f"; {asked['by']} is {part}" if asked["by"] else ""
        )
        small[name] = f"{name} 95 %"
    held = f"held against {asked['against']}" if asked["against"] else f"held against {_BEST}"
    spread = "with its 95 % interval over documents" if cells["interval"].count() else _NO_INTERVAL
    words = f"{score} {spread}; {held}, * differs from it with p < {_ALPHA} (Holm)."
    if said := columns.get(asked["by"], ""):
        words += f" {asked['by']}: {said}."
    words += " The number of mentions is in the header."
    leads = "A score leads to its errors"
    leads += "" if (asked["profile"], asked["task"]) == ("remix", "A2KB") else ", those of A2KB by the profile remix"
    leads += ", in the dataset that has most of the mentions." if asked["by"] and not asked["dataset"] else "."
    words += f" {left} smaller slices are among the scores below alone." if left else ""
    how = Typesetting(best=dict.fromkeys([*small], "highest"), intervals=dict(small))
    return page.Table("systems", table, links, words, explained, [*small], small, leads, how)


_NO_INTERVAL = "without intervals, which need ten documents or more"


def _leading(lead: _Leading, part: str, name: str) -> _Leading:
    return lambda row: "" if row[name] is None else lead({"system": row["system"], "part": part})


def _lead(asked: Mapping[str, str], largest: Mapping[tuple[str, str], str], row: Mapping[str, Any]) -> str:
    """Return the address of the errors behind a score; of several datasets on the one with most of the mentions."""
    dataset = asked["dataset"] or (largest.get((row["system"], row["part"]), "") if asked["by"] else row["part"])
    sliced = {"by": asked["by"], "slice": row["part"]} if asked["by"] and row["part"] != "all" else {}
    other = row.get("other", asked["against"])
    other = other if other != row["system"] else ""
    return page.address("errors", dataset=dataset, system=row["system"], other=other, **sliced)


def _compare(asked: Mapping[str, str], pairs: pl.DataFrame, lead: _Leading) -> list[page.Shown]:
    """Return the tests of pairs of systems, those of one alone where the others are held against it."""
    if "p_holm" not in pairs.columns or pairs.is_empty():
        return [page.Note("No pair of systems is tested: a test needs two systems and ten documents.")]
    if against := asked["against"]:
        pairs = pairs.filter((pl.col("system") == against) | (pl.col("other") == against))
    names = ["part", "system", "other", "score_system", "score_other", "difference", "low", "high", "p", "p_holm"]
    explained = {
        "difference": "the score of the system less that of the other",
        "low": "where the 95 % interval of the difference begins, from a jackknife over documents",
        "high": "where that interval ends",
        "p": "the share of 10,000 paired random exchanges of documents with so large a difference",
        "p_holm": "p corrected by Holm for all pairs that are tested together",
    }
    whole = {shorten(part): part for part in pairs["part"].unique()}
    pairs = pairs.with_columns(pl.col("part").replace({part: short for short, part in whole.items()}))

    links = {"difference": lambda row: lead({**row, "part": whole[row["part"]]})}
    words, leads = "Is the first really better than the second?", "A difference leads to the errors of both."
    return [page.Table("pairs", pairs.select(*names, "documents"), links, words, explained, leads=leads)]


def _list_scores(rows: pl.DataFrame) -> page.Table:
    names = ["system", "part", "task", "matching", "average", "documents", "failed", "mentions", "tp", "fp", "fn"]
    names += ["ignored"]
    names += ["precision", "recall", "f1", "f1_low", "f1_high"]
    explained = {
        "failed": "documents that the system failed on, whose mentions count as missed",
        "tp": "answers that are right",
        "fp": "answers that are wrong",
        "fn": "mentions without a right answer",
        "ignored": "answers that are neither right nor wrong, such as those to dropped annotations",
        "average": "micro pools all mentions, macro is the mean over documents",
        "f1_low": "where the 95 % interval of F1 begins",
        "f1_high": "where it ends",
    }
    known = rows.select(name for name in names if name in rows.columns)
    best = dict.fromkeys((name for name in _SCORES if name in known.columns), "highest")
    spread = {"f1": ("f1_low", "f1_high")} if {"f1_low", "f1_high"} <= {*known.columns} else {}
    alike = [name for name in ("part", "task", "matching", "average") if name in known.columns]
    how = Typesetting(best=best, within=alike, intervals=spread)
    return page.Table("scores", known, explained=explained, typesetting=how)


def _tell_conventions(profile: str) -> page.Shown:
    """Return the rules in which a profile differs from that of remix, with the place where its tool has them."""
    if profile == "remix":
        said = "These are the conventions of remix; another profile shows here in what it differs."
        return page.Note(said, ["remix show remix", "remix evaluate --profile all"])
    own, ours = PROFILES[profile].rules(), PROFILES["remix"].rules()
    rows = [
        (name, ours.get(name, ""), own.get(name, ""))
        for name in dict.fromkeys([*own, *ours])
        if own.get(name) != ours.get(name)
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(["convention", "remix", profile], pl.String), orient="row")
    words = f"{PROFILES[profile].summary}. In numbers: `remix evaluate --profile remix,{profile}`."
    return page.Table("conventions", table, words=words)


def _commands(asked: Mapping[str, str], datasets: Sequence[str]) -> list[str]:
    options = [f"--{name} {asked[name]}" for name in OPTIONS if name != "against" and asked.get(name)]
    told = " ".join([*datasets[:5], *options])
    return [f"remix evaluate {told} --intervals", f"remix compare {told}"]


systems = page.View("systems", "Systems", _show, menu=2)
