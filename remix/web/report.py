"""The report: pages of the explorer in one file of HTML, which is read without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from remix import progress
from remix.errors import StoreError, UnknownName
from remix.files import write_whole
from remix.measures import compute
from remix.question import Question
from remix.reports.doubts import explain_shortcomings
from remix.reports.evaluations import evaluation_report
from remix.reports.readable import explain_vocabularies
from remix.reports.statistics import Statistics, sizes_of_datasets
from remix.runs.judgements import Judgements, judge_mentions
from remix.store.targets import named_targets
from remix.web.explorer import render_file
from remix.web.page import VIEWS, Explored, Note, Page, Table, list_datasets
from remix.web.views.errors import browse, tabulate_classes
from remix.web.views.systems import compare_systems

SENTENCES = 3000
"""How many errors a report shows in their sentences at the most, of all systems together: about 3 MB."""
MOST = 200
"""How many of one system on one dataset."""
COMPARED = 8
"""How many datasets are held side by side."""


def write_report(
    work: Explored, datasets: Sequence[str], systems: Sequence[str], to: Path, by: Sequence[str] = ()
) -> Path:
    """Return the file that was written: datasets, scores, figures and errors, which needs no server.

    `datasets` are loaded, or files such as remixes; without any they are all that are loaded, and without systems all
    runs that are registered on them are shown. Scores come in the slices of each column `by` as well, and sentences
    with the slice of the first. Nothing is loaded from elsewhere; a content security policy names the hashes of the one
    style and the one script. Raises `UnknownName` for a dataset or a system that there is not.
    """
    names = list(datasets) or [entry.name for entry in list_datasets(work)]
    with progress.once():
        pages = [_tell_dataset(work, name) for name in names]
        if len(loaded := [name for name in names if name in _list_loaded(work)]) > 1:
            pages.insert(0, VIEWS["compare"].show(work, {"datasets": ",".join(loaded[:COMPARED])}))
        found = {name: judged for name in names if (judged := _judge(work, name, by)) is not None}
        if answered := [name for name in loaded if name in found]:
            with progress.stage("scores with their intervals and tests"):
                pages.append(Page("Systems", compare_systems(work, answered, systems)))
                pages += [Page(f"Systems by {one}", compare_systems(work, answered, systems, one)) for one in by]
        pages += [_tell_scores(work, name, by) for name in found if name not in loaded]
        pages += _tell_errors(found, systems)
    told = ", ".join(Path(name).name for name in names) if len(names) < 5 else f"{len(names)} datasets"
    text = render_file(f"remix: {told}", pages)
    with write_whole(to) as stream:
        stream.write(text.encode())
    return to


def _list_loaded(work: Explored) -> set[str]:
    return {entry.name for entry in list_datasets(work)}


def _tell_dataset(work: Explored, name: str) -> Page:
    """Return the page of a dataset, or the measures of a file."""
    if name in _list_loaded(work):
        return VIEWS["dataset"].show(work, {"name": name})
    frames = named_targets(work.store, [name])
    found = Statistics(compute(frames, work.kb), sizes=sizes_of_datasets(frames))
    measures = Table("measures", found.table, words="What each measure says: `remix list measures`.")
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


def _judge(work: Explored, name: str, by: Sequence[str]) -> Judgements | None:
    """Return what runs made of the mentions, None where no run is on the dataset, which is said."""
    try:
        return judge_mentions(work, name, by=by[0] if by else "")
    except StoreError as error:
        progress.note(f"{Path(name).name} has no scores in the report: {error}")
        return None


def _tell_errors(found: Mapping[str, Judgements], systems: Sequence[str]) -> list[Page]:
    """Return the errors by class on each dataset, then a page for each system on each.

    These have as many sentences as a report has room for.
    """
    pairs = [
        (name, system, judged) for name, judged in found.items() for system in judged.systems["system"].unique().sort()
    ]
    known = {system for _, system, _ in pairs}
    for system in systems:
        if system not in known:
            raise UnknownName("run", system, sorted(known), "remix run list")
    pairs = [pair for pair in pairs if not systems or pair[1] in systems]
    count = str(min(MOST, max(5, SENTENCES // max(1, len(pairs)))))
    pages = [
        Page(f"Errors on {Path(name).name}", [tabulate_classes(judged, {"dataset": name})])
        for name, judged in found.items()
    ]
    for name, system, judged in pairs:
        blocks = browse(judged, {"dataset": name, "system": system, "count": count})
        own = [one for one in blocks if not (isinstance(one, Table) and one.name == "errors")]
        pages.append(Page(f"Errors of {system} on {Path(name).name}", own))
    return pages
