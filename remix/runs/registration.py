"""Answers for the register: of files and of what ships with remix, under gold's documents, and not gold itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix._version import __version__
from remix.documents import align
from remix.errors import BadInput, StoreError, UsageError
from remix.expressions import fill
from remix.formats.identifiers import annotation_iris
from remix.frames import Frames
from remix.resources import folder as resources
from remix.runs.findings import findings_of
from remix.runs.register import Run, list_runs, read_answers, save_run
from remix.scoring.choice import frames_hash
from remix.scoring.inputs.gold import is_gold, tell_like_gold
from remix.scoring.inputs.texts import laid_on_gold, tell_forms
from remix.systems import TASKS
from remix.systems.record import Record, read_record

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store
    from remix.store.targets import Target


_TABLE = {"run": pl.String, "dataset": pl.String, "task": pl.String, "status": pl.String} | dict.fromkeys(
    ("documents", "answers", "linked", "nil"), pl.Int64
)


def add_run(
    folder: Path,
    name: str,
    answers: Frames,
    targets: Sequence[Target],
    *,
    task: str = "A2KB",
    source: str = "",
    replace: bool = False,
    perfect: bool = False,
    record: Record | None = None,
    strict: bool = False,
    kb: KnowledgeBase | None = None,
    told: bool = False,
) -> pl.DataFrame:
    """Return run, dataset, task, status, documents, answers, linked and nil: what is registered of a run now.

    The answers to each dataset are kept under the IRIs that its documents have there. A run of that name on the dataset
    and task is 'unchanged' where it has the same answers, and is then bound to the dataset as it is now; with others it
    is refused unless `replace`, and one that equals gold unless it is said to be `perfect`. The `record` says how it
    was made. What `findings_of` finds is `told` before anything is kept, and with `strict` a run that looks wrong is
    refused.

    Raises `UsageError` for a name that cannot be told from a setting, a task that runs are not made for, other answers
    of the same name, and gold itself; `BadInput` where no document is one of a dataset's. Nothing is kept then.
    """
    if not name.strip() or "=" in name:
        raise UsageError(f"a run cannot be called '{name}': a name is not empty and has no `=`")
    if task not in TASKS:
        raise UsageError(f"a run is made for one of {', '.join(TASKS)}, not for '{task}'")
    held = {(run.system, run.dataset, run.task): run for run in list_runs(folder)}
    rows, kept = [], []
    others = _answered_elsewhere(targets, answers, name)
    for target in targets:
        elsewhere = others.get(target.name, ())
        own = answers_to(target.frames, answers, name, elsewhere=elsewhere)
        if not perfect:
            refuse_gold(name, target.frames.in_dataset(target.name), own, answers, elsewhere=elsewhere)
        before = held.get((name, target.name, task))
        same = before is not None and _has_answers(folder, before, own, replace=replace)
        if before is not None and not same and not replace:
            raise UsageError(
                f"a run '{name}' on {target.name} in {task} is registered with other answers: add this one under "
                "another name, or with --replace"
            )
        if told or strict:
            _tell_findings(name, target, _without(answers, elsewhere), own, task, kb, strict=strict)
        status = "registered" if before is None else "unchanged" if same else "replaced"
        moved = before is not None and before.content != target.content
        if not same or record is not None or moved:
            known = read_record(folder / before.folder_name) if before is not None and same else None
            run = Run(name, target.name, target.content, task, 0, "", __version__, source or "answers in memory")
            kept.append((run, own, _bind_to_texts(record or known or Record(name, ""), answers, target)))
        layer = own.one_layer()
        linked, nil = layer.join(own.links, on="annotation", how="semi").height, int(layer["is_nil"].sum())
        rows.append((name, target.name, task, status, own.documents.height, layer.height, linked, nil))
    for run, own, made in kept:
        save_run(folder, run, own, made)
    return pl.DataFrame(rows, schema=_TABLE, orient="row")


def _has_answers(folder: Path, run: Run, answers: Frames, *, replace: bool) -> bool:
    """Return whether a run has the same answers; what is damaged has others where it may be replaced."""
    try:
        return frames_hash(read_answers(folder, run)) == frames_hash(answers)
    except StoreError:
        if not replace:
            raise
        return False


def _answered_elsewhere(targets: Sequence[Target], answers: Frames, name: str) -> dict[str, set[str]]:
    """Return, by dataset, the documents of a run that answer another of several datasets and not this one."""
    if len(targets) < 2:
        return {}
    with progress.enable(False):  # it is said where they are read
        found = {
            one.name: {*align(one.frames, laid_on_gold(one.frames, {name: answers})[name], told=False)["document"]}
            for one in targets
        }
    return {name: {*chain(*found.values())} - own for name, own in found.items()}


def _without(answers: Frames, documents: Iterable[str]) -> Frames:
    return replace(answers, documents=answers.documents.filter(~pl.col("document").is_in([*documents])))


def _tell_findings(
    name: str, target: Target, answers: Frames, own: Frames, task: str, kb: KnowledgeBase | None, *, strict: bool
) -> None:
    """Say what is found of a run beside a dataset; raises `UsageError` where `strict` and anything looks wrong."""
    gold = target.frames.in_dataset(target.name)
    found = findings_of(name, gold, answers, own, task, kb)
    progress.note(f"run '{name}' on {target.name}:")
    for one in found:
        progress.note(f"  {one}")
    if strict and (wrong := [one for one in found if one.advice and one.what != "doubles"]):
        raise UsageError(
            f"run '{name}' on {target.name} looks wrong, and --strict registers none that does: "
            f"{'; '.join(str(one) for one in wrong)}"
        )


def _bind_to_texts(record: Record, answers: Frames, target: Target) -> Record:
    """Return the record with the content of the dataset as its revision, where the run tells these very texts."""
    texts = answers.documents["text"].drop_nulls().str.strip_chars_end()
    known = target.frames.documents["text"].drop_nulls().str.strip_chars_end()
    same = len(texts) == answers.documents.height and len(texts) > 0 and texts.is_in(known.implode()).all()
    return replace(record, revision=target.content) if same and not record.revision else record


def refuse_gold(name: str, gold: Frames, answers: Frames, given: Frames, *, elsewhere: Collection[str] = ()) -> None:
    """Raise `UsageError` where the answers to gold are gold itself: its mentions with their links, and no more.

    Answers are under the documents of gold, those `given` under their own, some of which may answer other gold
    (`elsewhere`). Where some of the others are to documents that gold has not, it is not gold that was given: a system
    may be right on the few that are left, so that this is said.
    """
    if not is_gold(gold, answers):
        return
    mentions = answers.annotations.height
    every = given.annotations.filter(~pl.col("document").is_in([*elsewhere])).height
    if every > mentions:
        tell_like_gold(name, mentions, every)
        return
    own = gold.documents.join(answers.documents, on="document", how="semi")
    datasets = ", ".join(sorted({*own["dataset"]}))
    raise UsageError(
        f"run '{name}' is gold itself: its {mentions} answers are the {mentions} mentions of {datasets} with their "
        "links; give the file of the system's answers or, where a file has both, the format of its answers "
        f"(`--format`, see `remix list formats`); `remix run add {name} FILE --perfect` registers the answers of a "
        f"system that is right everywhere, `remix evaluate --gold GOLD --run {name}=GOLD` holds gold against itself"
    )


def answers_to(gold: Frames, run: Frames, name: str = "run", *, elsewhere: Collection[str] = ()) -> Frames:
    """Return what a run answers to gold's documents, under their IRIs and with their texts.

    Of its documents that answer other gold (`elsewhere`) nothing is said. Raises `BadInput` where none of its documents
    is one of gold's, and where it has no document.
    """
    run = laid_on_gold(gold, {name: run})[name]
    pairs = align(gold, run, name, elsewhere=elsewhere)
    if pairs.is_empty():
        raise BadInput(f"run '{name}'", "has no document, so that it answers nothing: give the file with its answers")
    _tell_of_textless(name, gold, run, pairs)
    documents = gold.documents.filter(pl.col("document").is_in(pairs["gold"].implode()))
    rows = run.annotations.rename({"annotation": "answer"}).join(pairs, on="document", maintain_order="left")
    rows = rows.with_columns(document="gold").drop("gold")
    rows = rows.with_columns(annotation_iris(rows.with_columns(given="answer")).alias("annotation"))
    named = rows.select("document", "answer", "annotation")
    for name_of in ("group", "option"):
        # What groups and options are called is often the first annotation in them.
        known = named.select("document", pl.col("answer").alias(name_of), pl.col("annotation").alias("now"))
        rows = rows.join(known, on=["document", name_of], how="left", maintain_order="left")
        made = fill(f"{{}}#{name_of}={{}}", "document", name_of)
        rows = rows.with_columns(pl.coalesce("now", made).alias(name_of)).drop("now")
    dataset = documents["dataset"][0]
    parts = {
        part: getattr(run, part).rename({"annotation": "answer"}).join(named.drop("document"), on="answer")
        for part in ("links", "classes", "candidates")
    }
    return Frames.of(
        documents=documents,
        annotations=rows.with_columns(dataset=pl.lit(dataset)),
        regions=run.regions.join(pairs, on="document").with_columns(document="gold"),
        values=_values(run, named, pairs),
        **parts,
    )


def _tell_of_textless(name: str, gold: Frames, run: Frames, pairs: pl.DataFrame) -> None:
    """Say how many of the forms that a run without texts tells are not what gold's texts have."""
    none = run.documents.filter(pl.col("text").is_null()).select("document")
    texts = gold.documents.select("text", gold="document")
    places = pairs.join(none, on="document", how="semi").join(texts, on="gold").unique("document")
    rows = run.one_layer().select("document", "begin", "end", said="surface_form")
    tell_forms(name, rows.join(places, on="document", maintain_order="left"))


def _values(run: Frames, named: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the values of a run under the IRIs of gold; what is said of the run itself stays as it is."""
    subjects = pl.concat(
        [named.select(subject="answer", now="annotation"), pairs.select(subject="document", now="gold")]
    )
    own = pl.concat([run.documents["document"], run.annotations["annotation"]])
    about_the_run = run.values.filter(~pl.col("subject").is_in(own.implode()))
    moved = run.values.join(subjects, on="subject", maintain_order="left").with_columns(subject="now").drop("now")
    return pl.concat([moved, about_the_run])


def take_shipped(folder: Path, store: Store) -> list[Run]:
    """Return the runs that were registered of the answers that ship with remix, on the datasets that are loaded.

    Nothing is taken where any run is registered, or where a dataset has other documents than the answers.
    """
    from remix.formats import read
    from remix.store.targets import targets

    if any(folder.glob("[!.]*/run.json")):
        return []
    shipped = _shipped_answers()
    names = {file.name.split("--")[1] for file in shipped}
    loaded = [entry.name for entry in store.datasets() if entry.name in names]
    by_name = {target.name: target for target in targets(store, loaded)} if loaded else {}
    for file in shipped:
        name, dataset, task = file.name.removesuffix(".ttl").split("--")
        target = by_name.get(dataset)
        if target is None:
            continue
        answers = read(file, unannotated=True).frames
        if align(target.frames, answers, name, told=False).height == answers.documents.height:
            run = Run(name, dataset, target.content, task.upper(), 0, "", __version__, file.name)
            record = _bind_to_texts(Record(name, ""), answers, target)
            save_run(folder, run, answers_to(target.frames, answers, name), record)
    taken = list_runs(folder)
    if taken:
        systems = ", ".join(sorted({run.system for run in taken}))
        progress.note(
            f"no run was registered: the answers that ship with remix ({systems}) are registered now; "
            "`remix annotate` makes others, `remix run add NAME FILE` takes yours"
        )
    return taken


def is_shipped(run: Run) -> bool:
    """Return whether a run is of the answers that ship with remix, which its own systems made."""
    return run.source in _names_of_shipped()


@cache
def _names_of_shipped() -> frozenset[str]:
    return frozenset(file.name for file in _shipped_answers())


def _shipped_answers() -> list[Path]:
    return sorted((resources("datasets") / "answers").glob("*.ttl"))
