"""The report: pages of the explorer in one file of HTML, which is read without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from remix import progress
from remix.errors import StoreError, UnknownName
from remix.expressions import fill, spell_interval, sum_up
from remix.files import refuse_unwritable, write_whole
from remix.formats import sizes_of
from remix.measures import compute
from remix.measures.labels import call_measures
from remix.question import Question, Several, several
from remix.reports.doubts import explain_shortcomings
from remix.reports.error_counts import ANY, count_errors
from remix.reports.error_figures import figure_of_errors, slice_by_type
from remix.reports.evaluations import evaluation_report
from remix.reports.readable import explain_vocabularies
from remix.reports.sentences import NO_MENTION, tell_given
from remix.reports.statistics import Statistics, sizes_of_datasets
from remix.runs.judgements import Judgements, judge_mentions
from remix.runs.known import kinds_of, known_runs
from remix.scoring.errors import label_of_class
from remix.scoring.profiles import PROFILES
from remix.store.targets import named_targets
from remix.systems import KINDS
from remix.web.answers import list_answers
from remix.web.error_sentences import browse
from remix.web.error_tables import tabulate_classes, tabulate_parts
from remix.web.page import VIEWS, Drawing, Explored, Note, Page, Shown, Table, list_datasets
from remix.web.rendering import render_file
from remix.web.views.systems import compare_systems

SENTENCES = 3000
"""How many errors a report shows in their sentences at the most, of all systems together: about 3 MB."""
MOST = 200
"""How many of one system on one dataset."""
COMPARED = 8
"""How many datasets are held side by side."""


def write_report(
    work: Explored,
    datasets: Sequence[str],
    systems: Sequence[str],
    to: Path,
    by: Sequence[str] = (),
    further: Sequence[tuple[str, str]] = (),
) -> Path:
    """Return the file that was written: datasets, scores, figures and errors, which needs no server.

    `datasets` are loaded, or files such as remixes; without any they are all that are loaded, and without systems all
    runs that are registered on them are shown. A summary comes first. Scores and errors come in the slices of each
    column `by` as well, and sentences with the slice of the first. `further` are sections of other files that were
    made so, each with its title, such as a study's. Nothing is loaded from elsewhere; a content security policy names
    the hashes of the one style and the one script. Raises `UnknownName` for a dataset or a system that there is not.
    """
    refuse_unwritable(to)
    names = list(dict.fromkeys(datasets)) or [entry.name for entry in list_datasets(work)]
    with progress.once():
        # What cannot be is refused before what takes long: names, columns and systems before scores.
        told = [_tell_dataset(work, name) for name in names]
        if len(loaded := [name for name in names if name in _list_loaded(work)]) > 1:
            told.insert(0, VIEWS["compare"].show(work, {"datasets": ",".join(loaded[:COMPARED])}))
        found = {name: judged for name in names if (judged := _judge(work, name, by[0] if by else "")) is not None}
        _refuse_unknown(found, systems)
        every = _judge(work, [*found], "") if len(found) > 1 else next(iter(found.values()), None)
        together = None if every is None else every.of_systems(systems)
        errors = _count_errors(work, found, together, systems, by)
        scores = []
        if answered := [name for name in loaded if name in found]:
            with progress.stage("scores with their intervals and tests"):
                scores.append(Page("Systems", compare_systems(work, answered, systems)))
                scores += [Page(f"Systems by {one}", compare_systems(work, answered, systems, one)) for one in by]
        scores += [_tell_scores(work, name, by) for name in found if name not in loaded]
        chapters = {
            "Summary": [_summarise(work, names, together, answered)],
            "Errors": errors,
            "Systems": scores,
            "Datasets": told,
            "Sentences": _tell_errors(work, found, systems),
        }
    said = ", ".join(Path(name).name for name in names) if len(names) < 5 else f"{len(names)} datasets"
    text = render_file(f"remix: {said}", chapters, further)
    with write_whole(to) as stream:
        stream.write(text.encode())
    return to


def _refuse_unknown(found: Mapping[str, Judgements], systems: Sequence[str]) -> None:
    """Raise `UnknownName` for a system that has answers to none of the datasets."""
    known = {system for judged in found.values() for system in judged.systems["system"].unique()}
    for system in systems:
        if system not in known:
            raise UnknownName("run", system, sorted(known), "remix run list")


def _summarise(
    work: Explored,
    names: Sequence[str],
    together: Judgements | None,
    answered: Sequence[str],
) -> Page:
    """Return what there is in all, and what each system made of it: its scores and its most frequent error."""
    sizes = sizes_of(named_targets(work.store, [*names]))
    text = f"{_number(len(names), 'dataset')} with {_number(sizes['documents'], 'document')} and"
    text += f" {_number(sizes['mentions'], 'mention')}"
    if together is None:
        return Page("Summary", [Note(f"{text}. No system has answered.")])
    counts = count_errors(together)
    text += f"; {_number(counts['system'].n_unique(), 'system')} answered."
    made = counts.filter(pl.col("class") != ANY, pl.col("errors") > 0).sort("errors", descending=True)
    made = made.unique("system", keep="first", maintain_order=True)
    made = made.with_columns(pl.col("class").map_elements(label_of_class, return_dtype=pl.String))
    frequent = made.select("system", fill("{} ({})", "class", "errors").alias("most frequent error"))
    table = counts.filter(pl.col("class") == ANY).select("system", "errors", "share")
    table = table.rename({"errors": "wrong or missed", "share": "share wrong or missed"})
    table = table.join(frequent, on="system", how="left", maintain_order="left")
    kinds = kinds_of(known_runs(work.store))
    kind = pl.Series("kind", [kinds.get(system, "system") for system in table["system"]], pl.Enum(KINDS))
    table = table.insert_column(1, kind).sort("kind", maintain_order=True).with_columns(pl.col("kind").cast(pl.String))
    small = {"wrong or missed": "share wrong or missed"}
    task, match = PROFILES["remix"].headline
    told = f"Mentions and answers of {task} by {match} matching."
    if answered and "f1" in (rows := work.scores([*answered], profile="remix", task=task, match=match).rows).columns:
        f1, shared = _summarise_scores(rows, table["system"])
        table = table.join(f1, on="system", how="left", maintain_order="left")
        if shared:
            which = f"micro-F1 on {shared[0]}" if len(shared) == 1 else "the mean micro-F1 of the {} datasets"
            told += f" F1 is {which.format(len(shared))}{' that all of these systems answered' * (len(shared) > 1)}"
        else:
            told += " No dataset was answered by all of these systems, so that there is no mean of F1 to compare"
        told += ", with the lowest and highest of all datasets that each answered." if len(answered) > 1 else "."
        small |= {"F1": "lowest and highest"}
    explained = {"most frequent error": "the class of errors that it made most often, and how often"}
    explained["kind"] = "baselines and oracles, which know gold, have rows of their own"
    explained["wrong or missed"] = "how many, and their share of all mentions and of answers where gold has none"
    glance = Table(
        "systems at a glance", table, words=told, explained=explained, small=small, groups="kind", scores=["F1"]
    )
    return Page("Summary", [Note(text), glance])


def _summarise_scores(rows: pl.DataFrame, systems: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    """Return system, datasets, the mean F1 of those that all systems answered, and the lowest and highest, as text.

    Beside them are the datasets that all answered. Of one dataset there is no lowest and highest.
    """
    own = rows.filter(pl.col("system").is_in(systems.implode()), average="micro", column="", dataset="all")
    own = own.drop_nulls("f1").with_columns(shared=pl.col("system").n_unique().over("asked") == len(systems))
    f1 = pl.col("f1")
    ends = sum_up(own, "system", datasets=pl.len(), F1=f1.filter("shared").mean(), low=f1.min(), high=f1.max())
    spread = pl.when(pl.col("datasets") > 1).then(spell_interval("low", "high")).fill_null("")
    found = ends.select("system", spread.alias("lowest and highest"), "datasets", "F1")
    return found, own.filter("shared")["asked"].unique().sort().to_list()


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _count_errors(
    work: Explored,
    found: Mapping[str, Judgements],
    together: Judgements | None,
    systems: Sequence[str],
    by: Sequence[str],
) -> list[Page]:
    """Return the errors of systems by class, by type and by each column: of all datasets, then of each."""
    pages = []
    if len(found) > 1 and together is not None:
        where = f"all {len(found)} datasets together, of which texts that several have count once"
        blocks = [*_draw_errors(together, "all"), *_tabulate(together, "all datasets", where)]
        pages.append(Page("Errors on all datasets", blocks))
    for name, judged in found.items():
        own, title = judged.of_systems(systems), Path(name).name
        given = tell_given(list_answers(work), [name], own.systems["system"].unique().sort().to_list())
        blocks = [*map(Note, given), *_tabulate(own, name, title), *([] if pages else _draw_errors(own, title))]
        for nth, one in enumerate(by):
            sliced = _judge(work, name, one) if nth else judged
            if sliced is not None and "slice" in sliced.mentions.columns:
                blocks.append(tabulate_parts(sliced.of_systems(systems), {"dataset": name, "by": one}))
        pages.append(Page(f"Errors on {title}", blocks))
    return pages


def _tabulate(judged: Judgements, dataset: str, where: str) -> list[Shown]:
    """Return the errors by class and by type, said where they are."""
    classes, types = tabulate_classes(judged, {"dataset": dataset}), slice_by_type(judged)
    words = f"How many errors of which class each system makes on {where}, and their share of what each class is of."
    return [replace(classes, words=words), tabulate_parts(types, {"dataset": dataset, "by": "coarse type"})]


def _draw_errors(judged: Judgements, where: str) -> list[Shown]:
    counts, parts = count_errors(judged), count_errors(slice_by_type(judged), parts=True)
    typed = parts.filter(pl.col("class") == ANY, pl.col("part") != NO_MENTION).sort("part", "system")
    return [
        Drawing("shares of errors", figure_of_errors(counts, "class", f"Errors by class on {where}"), "By class."),
        Drawing("shares by type", figure_of_errors(typed, "part", f"Errors by type on {where}"), "Any error, by type."),
    ]


def _list_loaded(work: Explored) -> set[str]:
    return {entry.name for entry in list_datasets(work)}


def _tell_dataset(work: Explored, name: str) -> Page:
    """Return the page of a dataset, or the measures of a file."""
    if name in _list_loaded(work):
        return VIEWS["dataset"].show(work, {"name": name})
    frames = named_targets(work.store, [name])
    found = Statistics(compute(frames, work.kb), sizes=sizes_of_datasets(frames))
    called = call_measures(found.table["measure"], of_statistics=True)
    measures = Table(
        "measures",
        found.table.select("measure", called, pl.exclude("measure")),
        words="What each measure says: `remix list measures`.",
        small={"called": "measure"},
        headings={"called": ("measure", "")},
    )
    return Page(Path(name).name, [measures, Note("Whole texts and links are in the file:", [name])])


def _tell_scores(work: Explored, name: str, by: Sequence[str]) -> Page:
    """Return the scores of all systems on a file."""
    found = evaluation_report(work, Question(datasets=(name,), by=tuple(by)))
    rows = found.rows.filter(average="micro", dataset="all")
    columns = [
        "system",
        "task",
        "matching",
        "column",
        "slice",
        "failed",
        "mentions",
        "tp",
        "fp",
        "fn",
        "precision",
        "recall",
        "f1",
    ]
    options = "".join(f" --by {one}" for one in by)
    told = Note("With intervals:", [f"remix evaluate {name}{options} --intervals"])
    notes = [Note(said) for said in (*explain_vocabularies(rows), *explain_shortcomings(rows))]
    scores = rows.select(column for column in columns if column in rows.columns)
    return Page(f"Systems on {Path(name).name}", [Table("scores", scores), *notes, told])


def _judge(work: Explored, names: Several, by: str) -> Judgements | None:
    """Return what runs made of the mentions, None where no run is on the datasets, which is said."""
    try:
        return judge_mentions(work, names, by=by)
    except StoreError as error:
        progress.note(f"{', '.join(Path(one).name for one in several(names))} has no scores in the report: {error}")
        return None


def _tell_errors(work: Explored, found: Mapping[str, Judgements], systems: Sequence[str]) -> list[Page]:
    """Return a page for each system on each dataset, with as many sentences as a report has room for."""
    pairs = [
        (name, system, judged) for name, judged in found.items() for system in judged.systems["system"].unique().sort()
    ]
    pairs = [pair for pair in pairs if not systems or pair[1] in systems]
    count = str(min(MOST, max(5, SENTENCES // max(1, len(pairs)))))
    pages = []
    for name, system, judged in pairs:
        blocks = browse(judged, {"dataset": name, "system": system, "count": count}, work.kb)
        own = [one for one in blocks if not (isinstance(one, Table) and one.name == "errors")]
        pages.append(Page(f"Errors of {system} on {Path(name).name}", own))
    return pages
