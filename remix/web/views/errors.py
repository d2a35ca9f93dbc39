"""The errors of systems: counted by class and by the parts of a column, and in their sentences."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures import MEASURES
from remix.measures.columns import OWN
from remix.measures.labels import words_of_column, words_of_measures
from remix.remixes.facets import list_facets
from remix.reports.annotation_list import Wanted, count_mentions, list_wanted, parts_of
from remix.reports.doubts import tell_unanswered
from remix.reports.selections import EACH, WantedOutcomes, builder_parameters, list_selected
from remix.reports.sentences import (
    AGREEMENT,
    ALL_MISS,
    ERRORS,
    NO_MENTION,
    SHOWN,
    choose_rows,
    rows_of_systems,
    tell_given,
)
from remix.runs.judgements import SEVERAL, Judgements
from remix.runs.known import kinds_of
from remix.runs.register import Run
from remix.vocabularies import COARSE_TYPE
from remix.web import forms, page
from remix.web.addresses import address, split_names
from remix.web.answers import count_inherited, judge, list_answered, list_answers, list_known
from remix.web.error_choice import (
    CHOICES,
    STRONG,
    choose_matching,
    fit_choice,
    lead_to_sentences,
    name_systems,
    read_choice,
    with_matching,
)
from remix.web.error_sentences import browse, turn_sentences
from remix.web.error_tables import order_systems, tabulate_classes, tabulate_parts
from remix.web.facets import UNFOLDED, find_unfolded

_OTHERS = 4
"""Other datasets that are named where one has few mentions of a type."""
EVERY = "all"
"""What an address says for every dataset that its system answered, unless a dataset is called so."""
_NAMED = 12
"""Datasets that are named one by one; of more their number is said."""
_BY = (COARSE_TYPE, "pagerankSegment", "isRare", "ambiguitySurfaceForm", "nameRelation", "is_nil", "words")
"""Columns by which errors are counted most often; any other can be named."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    known = list_known(work, split_names(parameters.get("dataset", "")))
    runs = [one.run for one in known]
    if not runs:
        if named := parameters.get("dataset"):
            work.store.dataset(named)
        if not (loaded := page.list_datasets(work)):
            return page.Page("Errors", [page.NOTHING])
        said, on = "No run is registered yet: add a system's answers, or have one answer.", named or loaded[0].name
        commands = [f"remix run add NAME FILE --on {on}", f"remix annotate {on} --system prior"]
        return page.Page("Errors", [page.Note(said, commands, {"What to do next": "/start"})])
    asked = with_matching({name: value for name, value in parameters.items() if value})
    beside = {name for name, kind in kinds_of(known).items() if kind != "system"}
    asked, systems, dropped = _complete(asked, runs, beside)
    datasets, by = split_names(asked["dataset"]), asked.get("by", "")
    shown = name_systems(asked)
    judged = judge(work, datasets, by, shown, asked.get("match", ""))
    asked, unfit = fit_choice(asked, rows_of_systems(judged, shown))
    asked, misplaced = _fit_place(judged, asked)
    form = _form(work, asked, sorted({*(run.dataset for run in runs), *count_inherited(work)}), systems)
    sizes = {name: work.store.dataset(name).documents for name in datasets}
    own = (one.run for one in known if one.run.system in shown and not one.inherited)
    unanswered = tell_unanswered(own, sizes)
    together = _tell_together(runs, datasets, shown, judged) if len(datasets) > 1 else []
    lost = _tell_lost(datasets, shown, judged)
    told = [page.Note(said) for said in (*together, *lost, *tell_given(runs, datasets, shown), *unanswered)]
    command = _command(asked, shown, datasets)
    same = [page.Note("The same in a terminal:", [command])] if command else []
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
        neighbours=turn_sentences(judged, asked),
        turns="sentences",
        dropped=[*dropped, *unfit, *misplaced],
        data="errors",
    )


def _tell_lost(datasets: Sequence[str], shown: Sequence[str], judged: Judgements) -> list[str]:
    """Return which systems have a run that was left out, as the one dataset has none of its texts any more."""
    if len(datasets) > 1 or not judged.mentions["annotation"].count():
        return []
    [where] = datasets
    return [
        f"{name} answers other texts than {where} has now, and nothing is judged: `remix run add {name} FILE --on "
        f"{where}` registers answers again."
        for name in shown
        if name not in judged.systems["system"]
    ]


def _tell_together(runs: Sequence[Run], datasets: Sequence[str], shown: Sequence[str], judged: Judgements) -> list[str]:
    """Return how several datasets are counted together, which of them a system is not on, and what it is beside."""
    which = ", ".join(datasets) if len(datasets) <= _NAMED else f"{len(datasets)} datasets"
    told = [
        f"Counted together are {which}: what gold says alike in documents of the same name and text counts once, as "
        "it does in scores, in the first of the datasets."
    ]
    answered = {(run.system, run.dataset) for run in runs}
    for name in shown:
        if without := [dataset for dataset in datasets if (name, dataset) not in answered]:
            told.append(f"{name} has no run on {', '.join(without)}, and its errors are those on the others.")
    others = [name for name in order_systems(judged, {}) if name not in shown]
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
    kept = {name: asked.get(name, "") for name in ("system", "other", "match", "show", "of", "class", "type")}
    links = {f"{name} ({sizes[name]:,})": lead_to_sentences(dataset=name, **kept) for name in more[:_OTHERS]}
    said = f"Of {kind} {asked['dataset']} has {own:,} mention{'s' * (own != 1)}. {len(more)} of the datasets that "
    said += f"{' and '.join(shown)} answered {'has' if len(more) == 1 else 'have'} more of them, the most:"
    if len(more) > len(links):
        links[f"all mentions of {kind}, by dataset"] = address("annotations", type=kind, every="dataset")
    return [page.Note(said, links=links)] if links else []


def _offer_remix(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the address at which a remix is made of the mentions of gold that are shown, where a query has them."""
    names = split_names(asked.get("within") or asked["dataset"])
    show, system, shown = asked.get("show", ERRORS), asked.get("of") or asked["system"], name_systems(asked)
    right = _find_right(judged, asked.get("agreement", ""), shown)
    systems = tuple(shown) if len(shown) > 1 and not asked.get("of") else (system,)
    if reason := _find_unsaid(asked):
        return [page.Note(f"No remix has just the mentions of gold among these: {reason}.")]
    part = {"by": asked["by"], "part": asked["slice"]} if asked.get("slice") else {}
    if len(systems) < 2 and not right:  # where one system alone has no run it makes no errors
        names = [name for name in names if name in list_answered(list_answers(work, names), system)]
    if not names:
        return []
    wanted = Wanted(names[0] if len(names) == 1 else "", type=asked.get("type", ""), **part)
    outcomes = WantedOutcomes(systems, show, asked.get("class", ""), right, asked.get("match") or STRONG)
    try:
        if part and (place := _lead_to_same_parts(work, judged, asked)):
            why = (
                "the parts are cut over the datasets that are listed here, and a query has those of all that is loaded"
            )
            said = f"No remix has just the mentions of gold among these: {why}. Cut at fixed values they are the same:"
            return [page.Note(said, links={"the errors by these parts": place})]
        found = builder_parameters(work.store, wanted, outcomes, together=names if len(names) > 1 else ())
        selected, kept = list_selected(work.store, wanted, outcomes, names)
    except UsageError as reason:
        return [page.Note(f"No remix has just the mentions of gold among these: {reason}.")]
    listed = choose_rows(rows_of_systems(judged, shown), read_choice(asked), shown).drop_nulls("annotation")
    words, link = "Of the mentions of gold among these, without answers where it has none", "Make this a remix"
    if _is_of(judged, listed, kept):
        return [page.Note(f"{words}:", links={link: address("builder", **found)})]
    if _is_of(judged, listed, selected):
        # Equal texts of other names are no copies to scores: the list has each of them, and so has the remix.
        return [page.Note(f"{words}:", links={link: address("builder", **found, edition=EACH)})]
    if "," not in asked["dataset"] and (lacking := _count_lacking(judged, listed, kept)):
        of = f"{lacking} of them {'is' if lacking == 1 else 'are'} of the type by one of several right entities and of"
        why = f"{of} the part by another, and a query asks for one that is of both"
        return [page.Note(f"No remix has just the mentions of gold among these: {why}.")]
    words += f" (the remix has {count_mentions(kept):,}: {_explain_difference(asked)})"
    return [page.Note(f"{words}:", links={link: address("builder", **found)})]


def _find_unsaid(asked: Mapping[str, str]) -> str:
    """Return why no query has what is chosen, whatever is stored; empty where one may have it."""
    if asked.get("slice") == NO_MENTION or asked.get("class") == "extra":
        return "these are answers on no mention of gold, of which remixes are made"
    if asked.get("gold") or asked.get("answer"):
        return "a pair of entities is chosen, of which no query knows; the list of annotations has those of an entity"
    if asked.get("show") == "ignored":
        return "what does not count is no mention that gold requires"
    return ""


def _lead_to_same_parts(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> str:
    """Return the address of these errors by parts that all that is loaded has, too; empty where a query has them so.

    Numbers are cut into ranges where they are many, and at other boundaries where they are others.
    """
    slicing = parts_of(work.store, asked["by"])
    column, parts = slicing.asked.column, slicing.parts
    if column not in list_facets() or asked["slice"] in [part.name for part in parts]:
        return ""
    here = judged.mentions["slice"].drop_nulls().str.split(SEVERAL).explode().unique()
    ends = sorted(here.str.extract(r"^\d+: .*≤ ([^ ]+)$").drop_nulls(), key=float)
    if not ends and all(part.category is not None or part.missing for part in parts):
        return ""
    by = f"{column}:thresholds:{','.join(ends)}" if ends else f"{column}:classes"
    said = asked["slice"].partition(":")[0]  # ranges are numbered alike
    return address("errors", **{**asked, "by": by, "slice": said, "from": ""})


def _is_of(judged: Judgements, listed: pl.DataFrame, annotations: pl.DataFrame) -> bool:
    """Return whether annotations are of just the mentions that are listed, each once."""
    own = judged.members.filter(pl.col("annotation").is_in(annotations["annotation"].implode()))["mention"]
    return count_mentions(annotations) == listed.height and {*own} == {*listed["mention"]}


def _count_lacking(judged: Judgements, listed: pl.DataFrame, annotations: pl.DataFrame) -> int:
    """Return how many of the mentions that are listed have none of the annotations."""
    own = judged.members.filter(pl.col("annotation").is_in(annotations["annotation"].implode()))
    return listed.join(own, on="mention", how="anti").height


def _explain_difference(asked: Mapping[str, str]) -> str:
    """Return why a remix has other mentions than those that are listed."""
    if "," not in asked["dataset"]:
        return "what gold says twice of one span and entity is one mention here, and two there"
    if asked.get("within"):
        return "those of a text that is counted in another of the datasets as well"
    return "of a text that several of the datasets have what the first of them says, and here counts what any says"


def _find_right(judged: Judgements, agreement: str, shown: Sequence[str]) -> dict[str, bool]:
    """Return of which systems an agreement says that they are right, or are not."""
    if agreement == ALL_MISS:
        systems = judged.systems["system"].unique().sort().to_list()
        proper = [name for name in systems if name not in judged.beside]
        return dict.fromkeys(proper or systems, False)
    if agreement in AGREEMENT and len(shown) > 1:
        return {name: outcome == "correct" for name, outcome in zip(shown, AGREEMENT[agreement], strict=True)}
    return {}


def _command(asked: Mapping[str, str], shown: Sequence[str], datasets: Sequence[str]) -> str:
    """Return the command line that shows what the page does, empty where none does.

    Errors of one of two systems stand there by themselves, and beside the other where an agreement of both leaves no
    errors but these.
    """
    of, agreement = asked.get("of", ""), asked.get("agreement", "")
    if asked.get("gold") or asked.get("answer") or (asked.get("within") and len(datasets) > 1):
        return ""
    if of and agreement == ALL_MISS and len(datasets) > 1:  # all are those beside which both systems stand
        return ""
    if of and agreement in AGREEMENT and not _is_of_one(asked, shown):
        return ""
    [system, *others] = [of] if of and agreement not in AGREEMENT else shown
    options = {"beside": "".join(others)}
    options |= {name: asked.get(name, "") for name in ("match", "by", "slice", "show", "class", "type", "agreement")}
    if not others and agreement in AGREEMENT:
        options["agreement"] = ""  # it is said of two systems
    on = [("on", name) for name in datasets]
    given = " ".join(f"--{name} {shlex.quote(said)}" for name, said in (*on, *options.items()) if said)
    return f"remix errors {shlex.quote(system)} {given}"


def _is_of_one(asked: Mapping[str, str], shown: Sequence[str]) -> bool:
    """Return whether an agreement of two systems leaves what is shown to the one that it is `of`."""
    show = asked.get("show", ERRORS)
    outcomes = dict(zip(shown, AGREEMENT[asked["agreement"]], strict=True))
    fitting = [name for name, outcome in outcomes.items() if (outcome == "correct") == (show == "correct")]
    return show in (ERRORS, "correct", "wrong", "missed") and fitting == [asked["of"]]


def _complete(
    asked: dict[str, str], runs: Sequence[Run], beside: Collection[str]
) -> tuple[dict[str, str], list[str], list[UsageError]]:
    """Return what is asked, with a dataset and a system, the systems that are on the dataset, and what did not fit.

    A system that is not on the dataset is left out. In its place stands one that is not `beside` the others, as
    baselines are. Raises `UnknownName` for a dataset without a run.
    """
    answered = Counter(one for one, _ in {(run.dataset, run.system) for run in runs})
    # Without a choice that which most systems answered, as of datasets with the same texts those that are compared.
    said = asked.get("dataset") or min(answered, key=lambda name: (-answered[name], name))
    every = said == EVERY and EVERY not in answered
    datasets = sorted(answered) if every else split_names(said)
    for name in datasets:
        if name not in answered:
            raise UnknownName("dataset with a run", name, sorted(answered), "remix run list")
    systems = sorted({run.system for run in runs if run.dataset in datasets})
    asked, dropped = {**asked, "dataset": ",".join(datasets)}, list[UsageError]()
    for key in ("system", "other"):
        if (name := asked.get(key, "")) and name not in systems:
            dropped.append(UnknownName(f"run on {', '.join(datasets)}", name, systems, "remix run list"))
            del asked[key]
    if "system" not in asked:
        asked["system"] = asked.pop("other", next((one for one in systems if one not in beside), systems[0]))
    if every:
        asked["dataset"] = ",".join(list_answered(runs, asked.get("of") or asked["system"]))
    read_choice(asked)
    return asked, systems, dropped


def _fit_place(judged: Judgements, asked: dict[str, str]) -> tuple[dict[str, str], list[UsageError]]:
    """Return what is asked without a place in the list that it does not have, and what is said of it."""
    dropped: list[UsageError] = [*find_unfolded(asked, [name for name in CHOICES if name not in ("match", "by")])]
    asked, shown = {**asked}, name_systems(asked)
    if dropped:
        del asked[UNFOLDED]
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


def _form(work: page.Explored, asked: Mapping[str, str], datasets: Sequence[str], systems: Sequence[str]) -> forms.Form:
    dataset, system, other = asked["dataset"], asked["system"], asked.get("other", "")
    told, by, columns = "a column, as `remix errors --by` has it", asked.get("by", ""), _list_columns(work)
    chosen = split_names(dataset)
    words = {EVERY: "all that the system answered", **({dataset: f"these {len(chosen)}"} if len(chosen) > 1 else {})}
    fields = [
        forms.choose("dataset", "dataset", dict.fromkeys([*datasets, EVERY, dataset]), dataset, words=words),
        forms.choose("system", "system", systems, system),
        forms.choose(
            "other", "beside it", ["", *systems], other, "a second system, whose answers stand beside", nothing="(none)"
        ),
        forms.choose("show", "show", SHOWN, asked.get("show", ERRORS), "what became of the mention"),
        choose_matching(asked),
        forms.Field("by", "count by", by, columns, explained=told, words=words_of_measures(columns)),
    ]
    # What the facets choose stays chosen.
    return forms.Form([*fields, *(forms.Field(key, key, asked[key], look="hidden") for key in _KEPT if asked.get(key))])


def _list_columns(work: page.Explored) -> list[str]:
    """Return the columns that errors can be counted by: those of every gold, and those of measures."""
    own = [COARSE_TYPE, *(name for name in OWN if name not in ("document", "surface_form", "dataset"))]
    known = work.kb is not None
    return [*own, *(one.name for measure in MEASURES if known or not measure.needs for one in measure.columns)]


_KEPT = tuple(name for name in CHOICES if name not in ("match", "by", "show"))


def _count(work: page.Explored, judged: Judgements, asked: Mapping[str, str]) -> list[page.Shown]:
    """Return the errors of all systems on the dataset by class and, where a column is named, by its parts."""
    known = _list_columns(work)
    places = {
        words_of_column(name): address("errors", **{**asked, "by": name, "slice": "", "from": ""})
        for name in _BY
        if name in known
    }
    lead = page.Note("The errors by", links=places)
    blocks = [tabulate_classes(judged, asked), lead]
    return [*blocks, tabulate_parts(judged, asked, work.kb)] if "slice" in judged.mentions.columns else blocks


def _example(work: page.Explored) -> page.Parameters:
    runs = list_answers(work)
    return {"dataset": runs[0].dataset, "system": runs[0].system} if runs else {}


errors = page.View(
    "errors",
    "Errors",
    _show,
    menu=3,
    subject=("dataset",),
    example=_example,
    parameters=("dataset", "system", "other", *CHOICES, "from", "count", UNFOLDED),
)
