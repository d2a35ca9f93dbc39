"""Answers for the register: of files, of systems, of what ships with remix; and what an evaluation takes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote

import polars as pl

from remix import progress
from remix._version import __version__
from remix.documents import align
from remix.errors import BadInput, Error, StoreError, UnknownName, UsageError
from remix.expressions import fill
from remix.formats.identifiers import annotation_iris
from remix.frames import Documents, Frames
from remix.names import FAILED
from remix.places import discard, folder_written
from remix.resources import folder as resources
from remix.runs.findings import findings_of
from remix.scoring.choice import HASHED_BY, frames_hash
from remix.scoring.inputs.gold import is_gold
from remix.scoring.inputs.texts import laid_on_gold, tell_forms
from remix.signature import content_hash
from remix.systems import TASKS
from remix.systems.record import Record, read_record, write_record

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store
    from remix.store.targets import Target


@dataclass(frozen=True)
class Run:
    """What is known of a run: its name, on which dataset with which content, the task that it was made for.

    `system` is the name of the run, which is that of the system that made it or what its user calls it. `source` are
    the files that it came from, empty where remix ran the system itself; `seed`, `kb` and `version` are what it ran
    with then. `documents` and `answers` are how many there are, `checksum` is that of the files that keep them.
    `frames_hash` is that of the answers, behind the number of the rule by which it was made and a colon; what an
    earlier version registered has none.
    """

    system: str
    dataset: str
    content: str
    task: str
    seed: int
    kb: str
    version: str
    source: str = ""
    documents: int = 0
    answers: int = 0
    checksum: str = ""
    frames_hash: str = ""

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that keeps the run."""
        # A folder whose name begins with a point is one that is being written.
        name = re.sub(r"^\.", "%2E", quote(self.system, safe=" "))
        return f"{name}--{self.dataset}--{self.task.lower()}"


def save_run(folder: Path, run: Run, answers: Frames, record: Record | None = None) -> Path:
    """Return the folder in which the run was put whole, replacing an earlier one of the same system, dataset, task.

    The `record` says how it was made, and with the task and the texts of the answered documents is kept with it; what
    remix made itself (without a source) it made on the texts of the dataset as it is loaded.
    """
    target = folder / run.folder_name
    made = record or Record(run.system, "")
    texts = _hash_texts(answers.documents)
    revision = made.revision or ("" if run.source else run.content)
    told = answers.values.filter(pl.col("term") == FAILED).join(
        answers.documents.select(subject="document"), on="subject", how="semi"
    )
    failed = made.failed or dict(told.select("subject", "text").iter_rows())
    made = replace(made, task=run.task, texts=texts, revision=revision, failed=failed)
    with folder_written(target) as aside:
        answers.write(aside)
        run = replace(
            run,
            documents=answers.documents.height,
            answers=answers.annotations.height,
            checksum=_checksum(aside),
            frames_hash=f"{HASHED_BY}:{frames_hash(answers)}",
        )
        (aside / "run.json").write_text(json.dumps(asdict(run), indent=1, sort_keys=True), encoding="utf-8")
        write_record(aside, made)
    return target


def _hash_texts(documents: Documents) -> str:
    return content_hash(*(text or "" for text in documents.sort("document")["text"]))


def has_its_texts(folder: Path, run: Run, now: Documents) -> bool:
    """Return whether a dataset has `now`, among its documents, all texts that a run was registered on."""
    record, answered = read_record(folder / run.folder_name), read_answers(folder, run).documents["document"]
    return record is not None and record.texts == _hash_texts(now.filter(pl.col("document").is_in(answered.implode())))


def remove_run(folder: Path, run: Run) -> None:
    """Take a run out of the folder; it is gone at once, also where deleting its files is interrupted."""
    discard(place := folder / run.folder_name)
    if place.exists():
        raise Error(f"the run {run.folder_name} cannot be removed from {folder}")


def list_runs(folder: Path) -> list[Run]:
    """Return the runs kept in a folder, sorted by name; raises `StoreError` for one whose description is damaged."""
    found = []
    for file in sorted(folder.glob("[!.]*/run.json")):
        try:
            found.append(Run(**json.loads(file.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError) as error:
            raise StoreError(f"{file} is damaged ({error}): remove {file.parent}, {_AGAIN}") from None
    return found


_AGAIN = "and `remix annotate` or `remix run add` again"


def load_run(folder: Path, system: str, dataset: str, task: str = "A2KB") -> tuple[Run, Frames]:
    """Return a run and its answers; raises `UnknownName` where the system has none for the dataset and task."""
    for run in list_runs(folder):
        if (run.system, run.dataset, run.task) == (system, dataset, task):
            return run, read_answers(folder, run)
    known = sorted({run.system for run in list_runs(folder) if (run.dataset, run.task) == (dataset, task)})
    command = f"remix annotate {dataset} --system {system}"
    raise UnknownName(f"run on {dataset} for {task}", system, known, command, does="makes it")


def read_answers(folder: Path, run: Run) -> Frames:
    """Return the answers of a run that the folder keeps.

    Raises `StoreError` where a file is gone, cannot be read, or is not, to the last bit, what was written.
    """
    return read_answers_of(folder, [run])[0]


def read_answers_of(folder: Path, runs: Sequence[Run]) -> list[Frames]:
    """Return the answers of each of several runs, as `read_answers` does."""
    for run in runs:
        place = folder / run.folder_name
        try:
            if run.checksum and _checksum(place) != run.checksum:
                raise StoreError(f"{place} is damaged (its files are not what was written): remove {place}, {_AGAIN}")
        except FileNotFoundError as error:
            raise StoreError(f"{error.filename} is gone: remove {place}, {_AGAIN}") from None
    try:
        read = Frames.read_each([folder / run.folder_name for run in runs])
    except StoreError as error:
        raise StoreError(f"{error}: remove its folder, {_AGAIN}") from None
    return [_with_hash(answers, run) for answers, run in zip(read, runs, strict=True)]


def _with_hash(answers: Frames, run: Run) -> Frames:
    """Return answers with the hash that was kept of them, where it is of these files and of the rule of this remix."""
    rule, _, known = run.frames_hash.partition(":")
    return answers.known_as(known) if run.checksum and rule == HASHED_BY else answers


def _checksum(folder: Path) -> str:
    return content_hash(*sorted(folder.glob("*.parquet")))


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
            refuse_gold(name, target.frames.in_dataset(target.name), own)
        before = held.get((name, target.name, task))
        same = before is not None and frames_hash(read_answers(folder, before)) == frames_hash(own)
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


def refuse_gold(name: str, gold: Frames, answers: Frames) -> None:
    """Raise `UsageError` where the answers to gold are gold itself: its mentions with their links, and no more.

    Answers are under the documents of gold.
    """
    if not is_gold(gold, answers):
        return
    mentions = answers.annotations.height
    own = gold.documents.join(answers.documents, on="document", how="semi")
    datasets = ", ".join(sorted({*own["dataset"]}))
    raise UsageError(
        f"run '{name}' is gold itself: its {mentions} answers are the {mentions} mentions of {datasets} with their "
        "links; give the file of the system's answers or, where a file has both, the format of its answers "
        f"(`--format`, see `remix list formats`); `remix run add {name} FILE --perfect` registers the answers of a "
        f"system that is right everywhere, `remix evaluate --gold GOLD --run {name}=GOLD` holds gold against itself"
    )


def write_answers(store: Store, folder: Path, system: str, dataset: str, to: Path) -> Path:
    """Return the file of NIF, written into the folder `to`, of a run's answers in the texts of a loaded dataset.

    Raises `UnknownName` for a dataset that is not loaded and a run that is not registered on it.
    """
    from remix.formats.nif.writing import write_frames

    store.dataset(dataset)
    _, answers = load_run(folder, system, dataset)
    documents = store.frames([dataset]).documents
    write_frames(replace(answers, documents=documents), target := to / f"{dataset}-{system}.ttl")
    return target


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
    return any(file.name == run.source for file in _shipped_answers())


def _shipped_answers() -> list[Path]:
    return sorted((resources("datasets") / "answers").glob("*.ttl"))


def gather(
    folder: Path,
    gold: Sequence[Target],
    names: Iterable[str] = (),
    *,
    told: bool = True,
    runs: Sequence[Run] | None = None,
    origins: Mapping[str, Sequence[str]] = MappingProxyType({}),
    contents: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, Frames]]:
    """Return, by the task that they were made for, the answers of runs to these datasets, by the name of the run.

    The `dataset` of an answered document is the name of that which the run is registered on. Named are runs; by default
    they are all that are on any dataset of gold, and the others are told. For gold in files, such as remixes, a run is
    also taken with its answers to other datasets: documents are what is matched. A loaded remix without runs of its own
    is answered by what is registered on its `origins`, and one that has some by what is named. A file that is called as
    a dataset of other `contents` that is loaded has none of the answers to that. Of runs that are named it is said,
    unless `told` is false, where they have no answer or no link. `runs` are those of the folder, where they are known.
    A run none of whose texts a dataset has any more, as after another edition was loaded in its place, is not on that,
    which is said; one that is named and on nothing else is taken, for who reads it to refuse.
    Raises `UnknownName` for a name without any run, `StoreError` where no run is on gold.
    """
    runs = list_runs(folder) if runs is None else runs
    files_of = {one.name: one.content for one in gold if not one.loaded}
    others = {name for name, content in files_of.items() if contents.get(name, content) != content}
    runs = [run for run in runs if run.dataset not in others or run.content == files_of[run.dataset]]
    known = sorted({run.system for run in runs})
    chosen = list(dict.fromkeys(names))
    wanted = {target.name for target in gold}
    if unknown := [name for name in chosen if name not in known]:
        command = f"--run NAME={unknown[0]}" if Path(unknown[0]).suffix else "remix run list"
        raise UnknownName("run", unknown[0], known, command, does="takes a file" if "=" in command else "shows all")
    if not known:
        one = min(wanted)
        raise StoreError(
            f"no run is registered: `remix annotate {one} --system prior` makes one, "
            f"`remix run add NAME FILE --on {one}` takes yours"
        )
    files = Frames.concat(target.frames for target in gold if not target.loaded)
    loaded = {target.name: target for target in gold if target.loaded}
    # A remix that has runs of its own has others by their name alone.
    own_answers = set() if chosen else {run.dataset for run in runs}
    found: dict[str, dict[str, Frames]] = {}
    lost: dict[str, set[str]] = {}
    for task in TASKS:
        for name in chosen or known:
            ran = {run.dataset: run for run in runs if (run.system, run.task) == (name, task)}
            whole = wanted <= ran.keys() or files.documents.is_empty()
            reached = {one for remix in wanted - ran.keys() - own_answers for one in origins.get(remix, ())}
            own = sorted(ran.keys() & (wanted | reached) if whole else ran)
            if not own:
                continue
            parts = dict(zip(own, read_answers_of(folder, [ran[dataset] for dataset in own]), strict=True))
            moved = [one for one in own if one in loaded and ran[one].content != loaded[one].content]
            gone = {one for one in moved if not _has_any_text(loaded[one].frames, parts[one])}
            if gone and (not chosen or gone < {*own}):
                lost.setdefault(name, set()).update(gone)
                own = [dataset for dataset in own if dataset not in gone]
                if not own:
                    continue
            answers = Frames.concat(parts[dataset].in_dataset(dataset) for dataset in own)
            if chosen or (wanted | reached) & ran.keys() or len(align(files, answers, name, told=False)):
                found.setdefault(task, {})[name] = answers
                if chosen and told:
                    _tell_empty(name, task, answers)
    _tell_lost(lost, left=bool(found))
    there = {*lost, *(name for one in found.values() for name in one)}
    if rest := [name for name in chosen or known if name not in there]:
        on = sorted({run.dataset for run in runs if run.system in rest})
        who = "run {} is" if len(rest) == 1 else "runs {} are"
        said = f"{who.format(', '.join(rest))} registered on {', '.join(on)}, not on {', '.join(sorted(wanted))}"
        if chosen or not found:
            raise StoreError(f"{said}: `remix run add NAME FILE --on {min(wanted)}` registers answers to it")
        progress.note(f"{said}, and left out")
    return found


def _tell_lost(lost: Mapping[str, Collection[str]], *, left: bool) -> None:
    """Say of which datasets runs answer other texts than these have now; raises `StoreError` where no run is `left`."""
    if not lost:
        return
    told = [
        f"run '{name}' answers other texts than {' and '.join(sorted(those))} has now"
        for name, those in sorted(lost.items())
    ]
    name = min(lost)
    again = f"`remix run add {name} FILE --on {min(lost[name])}` registers answers again"
    if not left:
        raise StoreError(f"{'; '.join(told)}: {again}")
    progress.note(f"{'; '.join(told)}, and is left out there: {again}")


def _has_any_text(gold: Frames, answers: Frames) -> bool:
    """Return whether gold has any of the documents that are answered, with other white space or tokens, too."""
    with progress.enable(False):  # it is said where they are scored
        [laid] = laid_on_gold(gold, {"run": answers}).values()
    return not align(gold, laid, told=False).is_empty()


def gather_each(
    folder: Path, datasets: Collection[str], runs: Sequence[Run]
) -> dict[str, dict[str, dict[str, Frames]]]:
    """Return, by loaded dataset, what `gather` returns of it alone without names, of those that any of the runs is on.

    A run whose files are damaged takes its dataset out.
    """
    own = [run for run in runs if run.dataset in datasets and run.task in TASKS]
    damaged: set[str] = set()
    try:
        read = dict(zip(own, read_answers_of(folder, own), strict=True))
    except StoreError:
        read = {}
        for run in own:
            try:
                read[run] = read_answers(folder, run)
            except StoreError:
                damaged.add(run.dataset)
    found: dict[str, dict[str, dict[str, Frames]]] = {}
    for task in TASKS:
        for run in sorted(read, key=lambda run: run.system):
            if run.task == task and run.dataset not in damaged:
                answers = read[run].in_dataset(run.dataset)
                found.setdefault(run.dataset, {}).setdefault(task, {})[run.system] = answers
    return found


def records_of(folder: Path, task: str) -> dict[tuple[str, str], Record]:
    """Return the records of the runs for a task by dataset and name, as far as they have one."""
    runs = [run for run in list_runs(folder) if run.task == task]
    found = {(run.dataset, run.system): read_record(folder / run.folder_name) for run in runs}
    return {key: record for key, record in found.items() if record is not None}


def revision_of(folder: Path, run: Run) -> str:
    """Return the revision of the texts that a run was made on, as its record says it, else nothing."""
    record = read_record(folder / run.folder_name)
    return record.revision if record is not None else ""


def _tell_empty(name: str, task: str, answers: Frames) -> None:
    """Say of a registered run that it has no answer or no link, as reading its file said when it was registered."""
    count = answers.annotations.height
    if not count:
        progress.note(f"run '{name}' in {task}: no-annotation: its {answers.documents.height} documents have no answer")
    elif answers.links.is_empty():
        progress.note(
            f"run '{name}' in {task}: no-link: not one of its {count} answers has a link, so that all are NIL"
        )
