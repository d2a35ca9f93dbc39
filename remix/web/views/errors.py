"""The errors of systems: counted by class and by the parts of a column, and in their sentences."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.kb import KnowledgeBase
from remix.measures import MEASURES
from remix.measures.columns import OWN
from remix.measures.labels import headings_of_measures, label_of, words_of_column, words_of_measures
from remix.names import shorten
from remix.question import Several, several
from remix.reports.annotation_list import Wanted, list_wanted
from remix.reports.doubts import tell_unanswered
from remix.reports.error_counts import ANY, count_errors, explain_classes
from remix.reports.labels import label_classes, label_entities, label_parts
from remix.reports.selections import builder_parameters
from remix.reports.sentences import (
    AGREEMENT,
    ALL_MISS,
    ERRORS,
    NO_MENTION,
    SHOWN,
    Chosen,
    call_agreement,
    call_classes,
    choose_rows,
    columns_of_errors,
    cut_sentence,
    find_slice,
    find_type,
    look_of,
    name_document,
    name_gold,
    rows_of_systems,
    tell_answers,
    tell_given,
    tell_shortcomings,
    with_texts,
)
from remix.runs.judgements import OUTCOMES, SEVERAL, Judgements, judge_mentions
from remix.runs.known import KnownRun, kinds_of, known_runs
from remix.runs.registration import Run
from remix.scoring.errors import label_of_class
from remix.systems import KINDS
from remix.vocabularies import COARSE_TYPE
from remix.vocabularies import COLUMNS as OF_CLASSES
from remix.web import page

_PAGE = 20
"""Sentences on a page."""
_MOST = 500
"""Sentences that an address can ask for on a page."""
_FEW = 12
"""Values of a facet that are shown, the most frequent ones."""
_OTHERS = 4
"""Other datasets that are named where one has few mentions of a type."""
EVERY = "all"
"""What an address says for every dataset that its system answered, unless a dataset is called so."""
CHOICES = ("by", "show", "of", "class", "type", "slice", "gold", "answer", "agreement", "within")
"""What chooses among the mentions and answers of systems, by the names of parameters."""
_BY = (COARSE_TYPE, "pagerankSegment", "isRare", "ambiguitySurfaceForm", "nameRelation", "is_nil", "words")
"""Columns by which errors are counted most often; any other can be named."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    runs = list_answers(work)
    if not runs:
        if named := parameters.get("dataset"):
            work.store.dataset(named)
        if not (loaded := page.list_datasets(work)):
            return page.Page("Errors", [page.NOTHING])
        said, on = "No run is registered yet: add a system's answers, or have one answer.", named or loaded[0].name
        commands = [f"remix run add NAME FILE --on {on}", f"remix annotate {on} --system prior"]
        return page.Page("Errors", [page.Note(said, commands, {"What to do next": "/start"})])
    asked = {name: value for name, value in parameters.items() if value}
    beside = {name for name, kind in kinds_of(_list_known(work)).items() if kind != "system"}
    asked, systems, dropped = _complete(asked, runs, beside)
    datasets, by = page.split_names(asked["dataset"]), asked.get("by", "")
    shown = name_systems(asked)
    judged = judge(work, datasets, by, shown)
    asked, unfit = _fit(asked, rows_of_systems(judged, shown))
    asked, misplaced = _fit_place(judged, asked)
    form = _form(work, asked, sorted({run.dataset for run in runs}), systems)
    sizes = {name: work.store.dataset(name).documents for name in datasets}
    unanswered = tell_unanswered((run for run in runs if run.system in shown), sizes)
    together = _tell_together(runs, datasets, shown, judged) if len(datasets) > 1 else []
    told = [page.Note(said) for said in (*together, *tell_given(runs, datasets, shown), *unanswered)]
    same = (
        [] if asked.get("within") and len(datasets) > 1 else [page.Note("The same in a terminal:", [_command(asked)])]
    )
    counted = _count(work, judged, asked)
    others = _lead_to_others(work, asked)
    blocks = [
        form,
        *told,
        *counted,
        *_offer_remix(work, judged, asked),
        *others,
        *browse(judged, asked, work.kb),
        *same,
    ]
    where = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    title = f"Errors of {' and '.join(shown)} on {where}"
    if of := asked.get("of"):
        title = f"Errors of {of} on {where}, beside {', '.join(name for name in shown if name != of)}"
    return page.Page(
        title,
        blocks,
        neighbours=_turn(judged, asked),
        turns="sentences",
        dropped=[*dropped, *unfit, *misplaced],
        data="errors",
    )


def _tell_together(runs: Sequence[Run], datasets: Sequence[str], shown: Sequence[str], judged: Judgements) -> list[str]:
    """Return how several datasets are counted together, which of them a system is not on, and what it is beside."""
    which = ", ".join(datasets) if len(datasets) <= _FEW else f"{len(datasets)} datasets"
    told = [
        f"Counted together are {which}: what gold says alike in documents of the same name and text counts once, as "
        "it does in scores, in the first of the datasets."
    ]
    answered = {(run.system, run.dataset) for run in runs}
    for name in shown:
        if without := [dataset for dataset in datasets if (name, dataset) not in answered]:
            told.append(f"{name} has no run on {', '.join(without)}, and its errors are those on the others.")
    others = [name for name in _order_systems(judged, {}) if name not in shown]
    if not others:
        return [*told, "No other system has a run on each of the datasets."]
    return [*told, f"The other systems are those that have a run on each of the datasets: {', '.join(others)}."]


def _lead_to_others(work: page.Explored, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the errors on other datasets that have more mentions of the type that is chosen, and answers of both."""
    if not (kind := asked.get("type", "")) or "," in asked["dataset"]:
        return []
    mentions = list_wanted(work.store, Wanted(type=kind)).group_by("dataset")
    sizes = dict(mentions.agg(pl.struct("document", "group").n_unique()).iter_rows())
    answered = {(run.system, run.dataset) for run in list_answers(work)}
    shown, own = name_systems(asked), sizes.get(asked["dataset"], 0)
    more = [name for name in sizes if sizes[name] > own and all((one, name) in answered for one in shown)]
    more.sort(key=lambda name: (-sizes[name], name))
    kept = {name: asked.get(name, "") for name in ("system", "other", "show", "of", "class", "type")}
    links = {f"{name} ({sizes[name]:,})": _lead_to_sentences(dataset=name, **kept) for name in more[:_OTHERS]}
    said = f"Of {kind} {asked['dataset']} has {own:,} mention{'s' * (own != 1)}. {len(more)} of the datasets that "
    said += f"{' and '.join(shown)} answered {'has' if len(more) == 1 else 'have'} more of them, the most:"
    return [page.Note(said, links=links)] if links else []


def _offer_remix(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the address at which a remix is made of the mentions of gold that are shown, where a query has them."""
    if "," in asked["dataset"]:
        names = page.split_names(asked.get("within") or asked["dataset"])[:_FEW]
        links = {name: page.address("errors", **{**asked, "dataset": name, "within": "", "from": ""}) for name in names}
        return [page.Note("A remix is made of the errors on one dataset alone:", links=links)]
    show, system, shown = asked.get("show", ERRORS), asked.get("of") or asked["system"], name_systems(asked)
    right = _find_right(judged, asked.get("agreement", ""), shown)
    either = len(shown) > 1 and not asked.get("of")
    # Of either of two systems a query says whether it is right, and no more.
    said = (ERRORS, "correct") if either else (ERRORS, "correct", "wrong", "missed")
    unsaid = [asked.get("gold"), asked.get("answer"), either and asked.get("class"), "extra" in asked.get("class", "")]
    if any(unsaid) or show not in (*said, *(["all"] if right else [])) or asked.get("slice") == NO_MENTION:
        return []
    part = {"by": asked["by"], "part": asked["slice"]} if asked.get("slice") else {}
    wanted = Wanted(asked["dataset"], type=asked.get("type", ""), **part)
    try:
        found = builder_parameters(
            work.store,
            wanted,
            system="" if either else system,
            outcome=show,
            error_class=asked.get("class", ""),
            right=right,
            any_of=shown if either and show != "all" else (),
        )
    except UsageError as reason:  # parts of one dataset alone may be others than those of all that is loaded
        return [page.Note(f"No remix has just the mentions of gold among these: {reason}.")]
    words = "Of the mentions of gold among these, without answers where it has none:"
    return [page.Note(words, links={"Make this a remix": page.address("builder", **found)})]


def _find_right(judged: Judgements, agreement: str, shown: Sequence[str]) -> dict[str, bool]:
    """Return of which systems an agreement says that they are right, or are not."""
    if agreement == ALL_MISS:
        systems = judged.systems["system"].unique().sort().to_list()
        proper = [name for name in systems if name not in judged.beside]
        return dict.fromkeys(proper or systems, False)
    if agreement in AGREEMENT and len(shown) > 1:
        return {name: outcome == "correct" for name, outcome in zip(shown, AGREEMENT[agreement], strict=True)}
    return {}


def _command(asked: Mapping[str, str]) -> str:
    """Return the command line that shows what the page does; errors of one system stand there by themselves."""
    of = asked.get("of", "")
    options = {"beside": "" if of else asked.get("other", "")}
    options |= {name: asked.get(name, "") for name in ("by", "slice", "show", "class", "type", "agreement")}
    on = [("on", name) for name in page.split_names(asked["dataset"])]
    given = " ".join(f"--{name} {shlex.quote(said)}" for name, said in (*on, *options.items()) if said)
    return f"remix errors {shlex.quote(of or asked['system'])} {given}"


def list_answers(work: page.Explored) -> list[Run]:
    """Return the runs that are on a dataset that is loaded."""
    return [one.run for one in _list_known(work)]


def _list_known(work: page.Explored) -> list[KnownRun]:
    loaded = {entry.name for entry in page.list_datasets(work)}
    return [one for one in known_runs(work.store) if one.run.dataset in loaded]


def judge(work: page.Explored, datasets: Several, by: str = "", shown: Sequence[str] = ()) -> Judgements:
    """Return what runs made of loaded datasets, once for each state of the workspace and of the runs.

    Of several datasets they are those of the systems that are `shown`, and of those that are on each of the datasets,
    with which alone these can be compared. Raises `StoreError` where no run is on any of the datasets.
    """
    names = several(datasets)
    runs = [one for one in _list_known(work) if one.run.dataset in names]
    systems = list[str]()
    if len(names) > 1:
        on = {
            system: {*list_answered([one.run for one in runs], system)} for system in {one.run.system for one in runs}
        }
        systems = sorted(system for system, own in on.items() if system in shown or own == {*names})
        runs = [one for one in runs if one.run.system in systems]
    known = tuple((one.run.folder_name, one.run.checksum, one.revision) for one in runs)
    return work.store.cached(
        ("judgements", *names, by, known),
        lambda: judge_mentions(work, names, systems=systems, by=by),
        asked=bool(by) or len(names) > 1,  # there are as many columns to slice by as a user thinks of
    )


def browse(judged: Judgements, asked: Mapping[str, str], kb: KnowledgeBase | None = None) -> list[page.Shown]:
    """Return the sentences that are asked for, as texts with facets and as a table, and the pairs that are confused.

    `asked` are the parameters of the page, of which `dataset` and `system` must be there; `kb` has labels of entities.
    """
    shown = name_systems(asked)
    rows = rows_of_systems(judged, shown)
    chosen = with_texts(judged, choose_rows(rows, read_choice(asked), shown))
    start, count = _read_place(asked)
    rows_shown = chosen.slice(start, count)
    named = [rows_shown[column] for column in ("gold", *(f"{name} answer" for name in shown))]
    labels = label_entities(kb, pl.concat([one.str.split(" or ").explode() for one in named]))
    together = len(judged.datasets) > 1
    passages = [
        _passage(row, asked, shown, f"{nth} of {chosen.height:,}", labels, together=together)
        for nth, row in enumerate(rows_shown.iter_rows(named=True), start + 1)
    ]
    told = f"{chosen.height:,} of {rows.height:,} mentions and answers are of this kind; {len(passages)} are shown."
    told += _explain_agreement(asked, shown) + _explain_counts(rows, asked, shown)
    steps = {
        {"prev": "previous sentences", "next": "next sentences"}[way]: place
        for way, place in _turn(judged, asked).items()
    }
    keys = "The keys n and p lead to the next and the previous text, the arrow keys to the next and previous texts."
    return [
        page.Note(told, links=steps),
        page.Passages(passages, [*_list_filters(rows, asked, shown, kb)]),
        page.Note(keys, links=steps),
        *[page.Note(said) for said in (*judged.notes, *tell_shortcomings(judged, shown))],
        _tabulate(chosen, shown, kb, judged.datasets),
        _tell_confused(judged, asked, kb),
    ]


def _explain_agreement(asked: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return why an agreement is not heeded, or chooses nothing, where that is so."""
    agreement = asked.get("agreement", "")
    if agreement in AGREEMENT and len(shown) < 2:
        return f" '{agreement}' is said of two systems: choose one beside {shown[0]}."
    if agreement == "both right" and asked.get("show", ERRORS) == ERRORS:
        return " No error is right in both: choose to show what is correct, or all."
    return ""


def _explain_counts(rows: pl.DataFrame, asked: Mapping[str, str], shown: Sequence[str]) -> str:
    """Return what the numbers of the filters count, where they do not add up to what is shown."""
    said = []
    if len(shown) > 1 and not asked.get("of"):
        said.append(
            f"What became of a mention, and the class of an error, is said of {' or '.join(shown)}: where one is wrong "
            "and the other right or without an answer, the mention counts in both numbers."
        )
    if len(shown) > 1:
        said.append("An agreement is of mentions of gold: an answer where gold has none counts in no number of it.")
    if rows["type"].str.contains(SEVERAL, literal=True).any():
        said.append("A mention of several types counts in each.")
    return f" {' '.join(said)}" if said else ""


def _complete(
    asked: dict[str, str], runs: Sequence[Run], beside: Collection[str]
) -> tuple[dict[str, str], list[str], list[UsageError]]:
    """Return what is asked, with a dataset and a system, the systems that are on the dataset, and what did not fit.

    A system that is on another dataset is left out; raises `UnknownName` for one that is on none. In its place stands
    one that is not `beside` the others, as baselines are.
    """
    answered = Counter(one for one, _ in {(run.dataset, run.system) for run in runs})
    # Without a choice that which most systems answered, as of datasets with the same texts those that are compared.
    said = asked.get("dataset") or min(answered, key=lambda name: (-answered[name], name))
    every = said == EVERY and EVERY not in answered
    datasets = sorted(answered) if every else page.split_names(said)
    for name in datasets:
        if name not in answered:
            raise UnknownName("dataset with a run", name, sorted(answered), "remix run list")
    systems = sorted({run.system for run in runs if run.dataset in datasets})
    asked, dropped = {**asked, "dataset": ",".join(datasets)}, list[UsageError]()
    for key in ("system", "other"):
        if (name := asked.get(key, "")) and name not in systems:
            wrong = UnknownName(f"run on {', '.join(datasets)}", name, systems, "remix run list")
            if all(run.system != name for run in runs):
                raise wrong
            dropped.append(wrong)
            del asked[key]
    if "system" not in asked:
        asked["system"] = asked.pop("other", next((one for one in systems if one not in beside), systems[0]))
    if every:
        asked["dataset"] = ",".join(list_answered(runs, asked.get("of") or asked["system"]))
    read_choice(asked)
    return asked, systems, dropped


def list_answered(runs: Sequence[Run], system: str) -> list[str]:
    """Return the datasets that a system has a run on, by name."""
    return sorted({run.dataset for run in runs if run.system == system})


def _fit(asked: dict[str, str], rows: pl.DataFrame) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without a type or slice that the rows do not have, and what is said of these."""
    asked, dropped, shown = {**asked}, list[UsageError](), name_systems(asked)
    if len(shown) < 2:
        asked.pop("of", None)
    elif (of := asked.get("of", "")) and of not in shown:
        dropped.append(UnknownName("system of this page", of, shown))
        del asked["of"]
    for key, find in (("slice", find_slice), ("type", find_type)):
        try:
            if key in asked:
                asked[key] = find(rows, asked[key])
        except UsageError as error:
            dropped.append(error)
            del asked[key]
    if (within := asked.get("within", "")) and within not in (names := rows["dataset"].unique().sort()):
        dropped.append(UnknownName("dataset of these errors", within, names))
        del asked["within"]
    for key, columns in (("gold", ["gold"]), ("answer", [f"{name} answer" for name in shown])):
        if said := asked.get(key):
            known = pl.concat([rows[column].str.split(" or ").explode() for column in columns]).drop_nulls().unique()
            if said not in known:
                dropped.append(UnknownName(f"entity of {'gold' if key == 'gold' else 'an answer'}", said, known))
                del asked[key]
    return {key: value for key, value in asked.items() if value}, dropped


def _fit_place(judged: Judgements, asked: dict[str, str]) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without a place in the list that it does not have, and what is said of it."""
    asked, dropped, shown = {**asked}, list[UsageError](), name_systems(asked)
    for key in ("from", "count"):
        if key in asked and not re.fullmatch("[0-9]{1,9}", asked[key]):
            dropped.append(UsageError(f"{key}={asked[key]} is no number of a text"))
            del asked[key]
    if said := asked.get("from"):
        number = choose_rows(rows_of_systems(judged, shown), read_choice(asked), shown).height
        if int(said) >= max(1, number):
            dropped.append(UsageError(f"from={said} is behind the last of {number} texts: these are the first"))
            del asked["from"]
    return asked, dropped


def read_choice(asked: Mapping[str, str]) -> Chosen:
    """Return which mentions and answers the parameters of an address ask for; raises `UnknownName`."""
    names = ("show", "of", "type", "slice", "gold", "answer", "agreement")
    given = {name: asked[name] for name in names if asked.get(name)}
    return Chosen(**given, error_class=asked.get("class", ""), dataset=asked.get("within", ""))


def name_systems(asked: Mapping[str, str]) -> list[str]:
    """Return the one or two systems that the parameters of an address name."""
    return list(dict.fromkeys(asked[name] for name in ("system", "other") if asked.get(name)))


def _tabulate(
    chosen: pl.DataFrame, shown: Sequence[str], kb: KnowledgeBase | None, datasets: Sequence[str]
) -> page.Table:
    explained = {f"{one} outcome": "; ".join(f"{name}: {said}" for name, said in OUTCOMES.items()) for one in shown}
    explained |= {"right": "how many systems are right here, baselines and oracles aside", "of": "of how many"}
    named = pl.concat(
        [chosen[column].str.split(" or ").explode() for column in ("gold", *(f"{one} answer" for one in shown))]
    )
    frame = columns_of_errors(chosen, shown, datasets)
    made = pl.concat([frame[f"{one} class"].drop_nulls() for one in shown]).unique()
    labels = {one: call_classes(one) for one in made.to_list() if one}
    labels |= label_classes(kb, frame["slice"].str.split(SEVERAL).explode()) if "slice" in frame.columns else {}
    links = {name: partial(_lead_to_entity, name) for name in ("gold", *(f"{one} answer" for one in shown))}
    return page.Table(
        "errors",
        frame,
        links,
        explained=explained,
        headings=headings_of_measures(["surface_form"]),
        labels=labels | label_entities(kb, named),
        documents=("document",),
    )


def _lead_to_entity(column: str, row: Mapping[str, Any]) -> str:
    return page.address_of_entity(row[column])


def _number(said: str, default: int) -> int:
    return min(int(said), 10_000_000) if re.fullmatch("[0-9]{1,9}", said) else default


def _form(work: page.Explored, asked: Mapping[str, str], datasets: Sequence[str], systems: Sequence[str]) -> page.Form:
    dataset, system, other = asked["dataset"], asked["system"], asked.get("other", "")
    told, by, columns = "a column, as `remix errors --by` has it", asked.get("by", ""), _list_columns(work)
    chosen = page.split_names(dataset)
    words = {EVERY: "all that the system answered", **({dataset: f"these {len(chosen)}"} if len(chosen) > 1 else {})}
    fields = [
        page.choose("dataset", "dataset", dict.fromkeys([*datasets, EVERY, dataset]), dataset, words=words),
        page.choose("system", "system", systems, system),
        page.choose(
            "other", "beside it", ["", *systems], other, "a second system, whose answers stand beside", nothing="(none)"
        ),
        page.choose("show", "show", SHOWN, asked.get("show", ERRORS), "what became of the mention"),
        page.Field("by", "count by", by, columns, explained=told, words=words_of_measures(columns)),
    ]
    # What the facets choose stays chosen.
    return page.Form([*fields, *(page.Field(key, key, asked[key], look="hidden") for key in _KEPT if asked.get(key))])


def _list_columns(work: page.Explored) -> list[str]:
    """Return the columns that errors can be counted by: those of every gold, and those of measures."""
    own = [COARSE_TYPE, *(name for name in OWN if name not in ("document", "surface_form", "dataset"))]
    known = work.kb is not None
    return [*own, *(one.name for measure in MEASURES if known or not measure.needs for one in measure.columns)]


_KEPT = tuple(name for name in CHOICES if name not in ("by", "show"))


def _count(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the errors of all systems on the dataset by class and, where a column is named, by its parts."""
    known = _list_columns(work)
    places = {
        words_of_column(name): page.address("errors", **{**asked, "by": name, "slice": "", "from": ""})
        for name in _BY
        if name in known
    }
    lead = page.Note("The errors by", links=places)
    blocks = [tabulate_classes(judged, asked), lead]
    return [*blocks, tabulate_parts(judged, asked, work.kb)] if "slice" in judged.mentions.columns else blocks


def _lead_to_sentences(**asked: object) -> str:
    """Return the address of the page at its sentences, which stand below the counts."""
    return f"{page.address('errors', **asked)}#{page.SENTENCES}"


def _keep_both(asked: Mapping[str, str], system: str) -> dict[str, str]:
    """Return the parameters of the errors of a system, beside which stands the other where two are shown."""
    shown = [asked[name] for name in ("system", "other") if asked.get(name)]
    other = next((name for name in shown if name != system), "") if len(shown) > 1 else ""
    return {"dataset": asked["dataset"], "system": system, "other": other, "of": system if other else ""}


def tabulate_classes(judged: Judgements, asked: Mapping[str, str]) -> page.Table:
    """Return a row for each system and a column for each class of errors: how many, and their share of what could be.

    `asked` are parameters of the page, of which `dataset` must be there.
    """
    explained, counts = explain_classes(), count_errors(judged)
    systems = _order_systems(judged, asked)
    frame = pl.DataFrame({"system": systems}, schema={"system": pl.String})
    if judged.beside.keys() & {*systems}:
        kinds = pl.Series("kind", [judged.beside.get(system, "system") for system in systems], pl.Enum(KINDS))
        frame = frame.with_columns(kinds).sort("kind", maintain_order=True).with_columns(pl.col("kind").cast(pl.String))
    for name in explained:
        own = counts.filter(pl.col("class") == name)
        own = own.select("system", pl.col("errors").alias(name), pl.col("share").alias(f"share of {name}"))
        frame = frame.join(own, on="system", how="left", maintain_order="left")

    def lead(name: str, row: Mapping[str, Any]) -> str:
        chosen = "" if name == ANY else name
        return _lead_to_sentences(**_keep_both(asked, row["system"]), **{"class": chosen})

    where = "this dataset" if len(judged.datasets) == 1 else "these datasets, of those that have a run on each of them"
    words = f"How many errors of which class each system makes on {where}, and their share of what each class is of."
    classed = counts.group_by("system").agg(
        every=pl.col("errors").filter(pl.col("class") == ANY).sum(),
        told=pl.col("errors").filter(pl.col("class") != ANY).sum(),
    )
    if (classed["every"] > classed["told"]).any():
        words += (
            " Errors of no class, as where an alternative is two mentions and one of them is right, are in the first "
        )
        words += "column alone."
    small = {name: f"share of {name}" for name in explained}
    links = {name: partial(lead, name) for name in explained}
    leads = "A number leads to its sentences."
    headings = {name: (label_of_class(name), name) for name in explained if name != ANY}
    groups = "kind" if "kind" in frame.columns else ""
    told = {**explained, "kind": "baselines and oracles have rows of their own, below those of systems"}
    return page.Table("classes of errors", frame, links, words, told, small, small, leads, headings, groups)


def tabulate_parts(judged: Judgements, asked: Mapping[str, str], kb: KnowledgeBase | None = None) -> page.Table:
    """Return a row for each part of the column and a column for each system: errors of the class that is chosen.

    `asked` are parameters of the page, of which `dataset` and `by` must be there; `kb` has labels of classes.
    """
    by, kind = asked["by"], asked.get("class", "")
    counts = count_errors(judged, parts=True).filter(pl.col("class") == (kind or ANY))
    sizes = counts.group_by("part").agg(most=pl.col("of").max()).filter(pl.col("most") > 0)
    ranged = sizes["part"].str.contains(r"^\d+: ").any()
    order = pl.col("part") if ranged else -pl.col("most")
    systems = _order_systems(judged, asked)
    column = f"part of {by}" if by in systems else by  # as of the measure `prior`
    frame = sizes.sort(pl.col("part") == NO_MENTION, order, "part").select(pl.col("part").alias(column))
    for name in systems:
        own = counts.filter(system=name)
        own = own.select(pl.col("part").alias(column), pl.col("errors").alias(name), share=pl.col("share"))
        own = own.rename({"share": f"share of {name}"})
        frame = frame.join(own, on=column, how="left", maintain_order="left")
    whole = {shorten(part): part for part in frame[column]}
    frame = frame.with_columns(pl.col(column).replace({part: short for short, part in whole.items()}))

    def lead(system: str, row: Mapping[str, Any]) -> str:
        sliced = {"by": by, "slice": whole[row[column]], "class": kind}
        return _lead_to_sentences(**_keep_both(asked, system), **sliced) if row[system] else ""

    small = {name: f"share of {name}" for name in systems}
    links = {name: partial(lead, name) for name in systems}
    called = f"{label_of_class(kind)} (`{kind}`)" if kind else ANY
    words = f"{called}: {explain_classes()[kind or ANY]}; of each part how many, and the share."
    if by.partition(":")[0] in OF_CLASSES and by != COARSE_TYPE:
        words += " Classes are those of one vocabulary; the filter 'type' counts persons, places and others by all."
    labels = {shorten(iri): label for iri, label in label_parts(kb, pl.Series([*whole.values()]), by).items()}
    leads = "A number leads to its sentences."
    headings = dict(zip([column], headings_of_measures([by]).values(), strict=False))
    title = f"errors by {label_of(by).words}"
    return page.Table(
        f"errors by {by}", frame, links, words, {}, small, small, leads, headings, title=title, labels=labels
    )


def _order_systems(judged: Judgements, asked: Mapping[str, str]) -> list[str]:
    """Return the systems: first those that the page shows the sentences of, baselines and oracles last."""
    systems = judged.systems["system"].unique().sort().to_list()
    shown = [name for name in name_systems(asked) if name in systems]
    others = [name for name in systems if name not in shown]
    return [*shown, *sorted(others, key=lambda name: KINDS.index(judged.beside.get(name, "system")))]


_FACETS = ("of", "show", "class", "type", "agreement", "gold", "answer")
"""What the facets are called beside that of parts."""


def _list_filters(
    rows: pl.DataFrame, asked: Mapping[str, str], shown: Sequence[str], kb: KnowledgeBase | None
) -> Iterator[page.FacetCounts]:
    """Give what the sentences can be narrowed down by, each value with the number that it would leave."""
    chosen = read_choice(asked)
    plain = {name: value for name, value in asked.items() if name not in ("from", "at", "sort")}

    def tell(name: str, counts: Mapping[str, int], own: str = "", unset: str = "") -> page.FacetCounts:
        """Return the values of a facet with their numbers and the address that each leads to, in place of its own."""
        own = own or plain.get(name, "")
        labels = _call_values(name, [*counts], kb, asked.get("by", ""))
        if name == "agreement":
            labels = {one: called for one in counts if (called := call_agreement(one, shown)) != one}
        told = [
            page.FacetValue(
                labels.get(value, shorten(value)),
                number,
                _lead_to_sentences(**{**plain, name: unset if value == own else value}),
                value == own,
                shorten(value) if value in labels else "",
            )
            for value, number in counts.items()
            if number or value == own
        ]
        called = label_of(asked["by"]).words if name == "slice" and "by" in asked else name
        called = "dataset of the text" if name == "within" else called
        called = f"part of {called}" if name == "slice" and called in _FACETS else called  # as of the coarse types
        return page.FacetCounts(called, told[:_FEW] + [one for one in told[_FEW:] if one.chosen])

    meant = [name for name in shown if chosen.of in ("", name)] or shown
    if "," in asked["dataset"]:
        left = choose_rows(rows, replace(chosen, dataset=""), shown)
        yield tell("within", _count_values(left.select("mention", value=pl.concat_list("dataset"))))
    if len(shown) > 1:
        of_each = {name: choose_rows(rows, replace(chosen, of=name), shown).height for name in shown}
        yield tell("of", of_each)
    of_shown = {value: choose_rows(rows, replace(chosen, show=value), shown).height for value in SHOWN}
    yield tell("show", of_shown, chosen.show)
    left = choose_rows(rows, replace(chosen, error_class=""), shown)
    classes = pl.concat([left.select("mention", value=pl.col(f"{name} class").str.split(" ")) for name in meant])
    yield tell("class", _count_values(classes))
    for name in ("type", *(["slice"] if "slice" in rows.columns else [])):
        left = choose_rows(rows, replace(chosen, **{name: ""}), shown)
        yield tell(name, _count_values(left.select("mention", value=pl.col(name).str.split(SEVERAL))))
    of_both = {
        value: choose_rows(rows, replace(chosen, agreement=value), shown).height
        for value in (*(AGREEMENT if len(shown) > 1 else ()), ALL_MISS)
    }
    yield tell("agreement", of_both)
    for name in ("gold", "answer"):
        if said := asked.get(name):
            yield tell(name, {said: choose_rows(rows, chosen, shown).height})


def _call_values(facet: str, values: Sequence[str], kb: KnowledgeBase | None, by: str) -> dict[str, str]:
    """Return what people call values of a facet, those that are called by their names left out.

    Those of slices are parts of the column `by`.
    """
    if facet == "class":
        called = {value: label_of_class(value) for value in values}
        return {value: label for value, label in called.items() if label != value}
    named = pl.Series(values, dtype=pl.String)
    if facet == "slice":
        return label_parts(kb, named, by)
    return label_entities(kb, named) if facet in ("gold", "answer") else {}


def _count_values(rows: pl.DataFrame) -> dict[str, int]:
    """Return how many mentions have each of the values of lists, the most frequent first."""
    every = rows.explode("value").drop_nulls("value").filter(pl.col("value") != "").unique(["mention", "value"])
    counts = every.group_by("value").agg(number=pl.len()).sort("number", "value", descending=[True, False])
    return dict(counts.iter_rows())


def _read_place(asked: Mapping[str, str]) -> tuple[int, int]:
    """Return with which of the sentences the page begins, and how many it shows."""
    start, count = (_number(asked.get(key, ""), default) for key, default in (("from", 0), ("count", _PAGE)))
    return start, min(max(count, 1), _MOST)


def _turn(judged: Judgements, asked: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the sentences before and after those that are shown."""
    shown, (start, count) = name_systems(asked), _read_place(asked)
    number = choose_rows(rows_of_systems(judged, shown), read_choice(asked), shown).height
    places = {"prev": max(0, start - count) if start else -1, "next": start + count}
    return {way: _lead_to_sentences(**{**asked, "from": place}) for way, place in places.items() if 0 <= place < number}


def _passage(
    row: Mapping[str, Any],
    asked: Mapping[str, str],
    shown: Sequence[str],
    place: str,
    labels: Mapping[str, str],
    *,
    together: bool,
) -> page.Passage:
    before, mention, after = cut_sentence(row)
    looks = [look for name in shown if (look := look_of(row, name))]
    outcome = next((look for look in looks if look != "correct"), looks[0])  # an error of either is marked
    gold = name_gold(row)
    segments = [
        page.Segment(before),
        page.Segment(mention, f"{outcome}{' nil' if gold == 'NIL' else ''}", f"{outcome}; gold: {gold}"),
        page.Segment(after),
    ]
    types = str(row["type"] or "").replace(SEVERAL, " ")
    made = map(label_of_class, str(row[f"{shown[0]} class"] or "").split())
    facets = {"outcome": outcome, "class": _join_words(made), "type": types}
    if "slice" in row:
        facets["slice"] = _join_words(str(row["slice"] or "").split(SEVERAL))
    what = "error " if asked.get("show", ERRORS) == ERRORS else ""
    heading = f"{what}{place}: {name_document(row['name'])}"
    heading += f" ({row['dataset']})" if together else ""
    href = place_of(row, asked, place.partition(" ")[0])
    named = [
        one for name in ("gold", *(f"{name} answer" for name in shown)) for one in str(row[name] or "").split(" or ")
    ]
    links = {shorten(one): place for one in named if (place := page.address_of_entity(one))}
    return page.Passage(heading, segments, [*tell_answers(row, shown, labels)], href, facets, links)


def _join_words(values: Iterable[str]) -> str:
    """Return values apart by spaces: those within them become others, which do not part them."""
    return " ".join(one.replace(" ", "\N{NO-BREAK SPACE}") for one in values)


def place_of(row: Mapping[str, Any], asked: Mapping[str, str], nth: str) -> str:
    """Return the address of the document of a row of `with_texts`, at its mention, with the systems and what is chosen.

    `nth` is the number of the row among those that are chosen, so that the document leads to the next one, of `among`
    which datasets where they are several.
    """
    kept = {key: asked.get(key, "") for key in ("system", "other", *CHOICES)}
    among = asked.get("among") or asked["dataset"]
    where = {"dataset": row["dataset"], "among": among} if "," in among else {"dataset": asked["dataset"]}
    place = page.address("document", **where, **kept, name=row["name"], error=nth)
    return f"{place}#{page.name_mention(row['begin'], row['end'])}"


def _tell_confused(judged: Judgements, asked: Mapping[str, str], kb: KnowledgeBase | None) -> page.Table:
    by = {**_keep_both(asked, asked["system"]), "by": asked.get("by", "")}
    pairs = judged.confused_pairs(asked["system"]).head(100)
    return page.Table(
        f"confused by {asked['system']}",
        pairs,
        {"mentions": lambda row: _lead_to_sentences(**by, gold=row["gold"], answer=row["answer"])},
        words="Which entity is taken for which, most often first.",
        leads="The number leads to the sentences.",
        labels=label_entities(kb, pl.concat([pairs["gold"], pairs["answer"]])),
    )


def _example(work: page.Explored) -> page.Parameters:
    runs = list_answers(work)
    return {"dataset": runs[0].dataset, "system": runs[0].system} if runs else {}


errors = page.View(
    "errors",
    "Errors",
    _show,
    menu=3,
    subject=("dataset", "system", "other"),
    example=_example,
    parameters=("dataset", "system", "other", *CHOICES, "from", "count"),
)
