"""Gold, runs and what is known of entities, from files and from a workspace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from remix import progress
from remix.documents import align
from remix.errors import BadInput, Error, UsageError
from remix.formats.settings import check_formats
from remix.frames import Frames
from remix.measures.columns import SEEN
from remix.question import Question
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.columns import is_of_errors, run_of
from remix.scoring.inputs.entities import (
    read_entities,
    read_subclasses,
    relax_gold,
    relax_runs,
    with_labels_linked,
    with_types_of_each,
)
from remix.scoring.inputs.files import (
    GivenAnswers,
    answers_of,
    contents_of_repeats,
    read_contents,
    read_frames,
    repeats_of,
    run_files,
)
from remix.scoring.inputs.gold import is_gold, kept_gold, measured_columns, origins_of, tell_like_gold
from remix.scoring.inputs.properties import properties_of, with_seen
from remix.scoring.inputs.texts import laid_on_texts
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store
    from remix.store.targets import Target


class Keeper(Protocol):
    """What scoring and what shows its results need of a workspace."""

    @property
    def store(self) -> Store:
        """Return the store of datasets."""

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the knowledge base, None without one."""

    def registered_answers(
        self, gold: Sequence[Target], names: Iterable[str] = ()
    ) -> Mapping[str, Mapping[str, Frames]]:
        """Return the answers of registered runs to gold, by task; see `remix.runs.gathering.gather`."""

    def registered_answers_to_each(self, datasets: Collection[str]) -> Mapping[str, Mapping[str, Mapping[str, Frames]]]:
        """Return, by loaded dataset, what `registered_answers` returns of it alone, of those that have a run."""

    def unrevised_runs(self, on: Collection[str]) -> frozenset[tuple[str, str, str]]:
        """Return name, task and dataset of the runs registered on datasets that tell no revision of their texts."""

    def ensure_sample(self, names: Iterable[str] = ()) -> bool:
        """Return whether the workspace was empty and has the sample corpus now."""


def given_runs(
    run: str | Iterable[str] | Mapping[str, GivenAnswers],
) -> tuple[tuple[str, ...], dict[str, Frames]]:
    """Return runs as `Question` has them: names and `NAME=FILE` settings, and answers in memory by the run's name.

    >>> given_runs({"mine": "answers.tsv", "other": Frames.empty()})[0], given_runs("prior")
    (('mine=answers.tsv',), (('prior',), {}))
    """
    if not isinstance(run, Mapping):
        return (run,) if isinstance(run, str) else tuple(run), {}
    settings, answers = [], {}
    for name, given in run.items():
        if isinstance(given, Frames | pl.DataFrame):
            answers[name] = answers_of(name, given)[0]
        else:
            settings += [f"{name}={file}" for file in ([given] if isinstance(given, str | Path) else given)]
    return tuple(settings), answers


def check_formats_of(question: Question[Any], *others: str) -> None:
    """Raise as `check_formats` where a format is of nothing that is read; `others` are read besides."""
    files = [file for found in run_files(question.run).values() for file in found]
    check_formats(question.format, [*question.datasets, *question.gold, *files, question.seen, *others])


def read_inputs(
    keeper: Keeper,
    question: Question[Any],
    *,
    by: Sequence[str] = (),
    weight: Sequence[str] = (),
    empty: bool = False,
    relaxes_gold: bool = False,
) -> Inputs:
    """Return gold, runs and what is known, with the columns that gold is sliced `by` and has its `weight` by.

    Gold may be `empty`, without any annotation, where a profile scores documents without anything, and what `relax`
    maps is mapped in gold, too, where a profile does so (`relaxes_gold`).

    Raises `UsageError` where sources do not go together, `UnknownName` for a dataset, system or column that there is
    not, `BadInput` for a file that cannot be read.
    """
    found = _read_sources(keeper, question, by, weight, empty=empty)
    [found] = _with_entities([found], question, keeper.store)
    return _relax_and_see(found, keeper, question, relaxes_gold=relaxes_gold)


def read_each_input(
    keeper: Keeper,
    questions: Mapping[str, Question[Any]],
    *,
    by: Sequence[str] = (),
    weight: Sequence[str] = (),
    empty: bool = False,
    relaxes_gold: bool = False,
    typed: bool = True,
) -> dict[str, Inputs]:
    """Return what `read_inputs` returns of each of several questions, which differ in what is gold alone.

    What is known of entities is looked up once for all of them, of their types where these are to be `typed`. Those are
    missing of which that raises an error.
    """
    read, found = dict[str, Inputs](), dict[str, Inputs]()
    for name, question in questions.items():
        with suppress(Error):
            read[name] = _read_sources(keeper, question, by, weight, empty=empty)
    if not read:
        return {}
    one = next(iter(questions.values()))
    for name, inputs in zip(read, _with_entities([*read.values()], one, keeper.store, typed=typed), strict=True):
        with suppress(Error):
            found[name] = _relax_and_see(inputs, keeper, questions[name], relaxes_gold=relaxes_gold)
    return found


def _read_sources(
    keeper: Keeper, question: Question[Any], by: Sequence[str], weight: Sequence[str], *, empty: bool
) -> Inputs:
    """Return gold and runs as they are, without what is known of entities."""
    question.refuse_two_golds()
    if question.gold and not (question.run or question.answers or question.system):
        raise UsageError("no run is named: --run NAME takes a registered one, --run NAME=FILE answers of a file")
    given = run_files(question.run).items()
    found_runs = {
        name: read_contents(files, unannotated=True, answers=True, formats=question.format) for name, files in given
    }
    runs = repeats_of({**{name: run for name, (run, _) in found_runs.items()}, **question.answers})
    contents = contents_of_repeats(runs, {name: known for name, (_, known) in found_runs.items()})
    if question.gold:
        gold, content = read_contents(question.gold, unannotated=empty, formats=question.format)
        contents[""] = content_hash(content, *gold.documents["dataset"].unique().sort())
        asked = [name for name in (*by, *weight) if not (question.seen and name in SEEN)]
        properties = properties_of(gold, asked, question.gold)
        found = Inputs(gold, runs, Knowledge(document_columns=properties, kb=keeper.kb), contents)
        if question.registered:
            from remix.store.targets import Target

            found = _with_registered(found, keeper, question, [Target("gold", gold, content)])
    else:
        found = _read_kept(keeper, question, by, weight, runs, contents)
    _tell_gold(found, [*found_runs])
    shelf = tuple(sorted(file.parent for file in (keeper.store.folder / "kb").glob("*/kb.json")))
    return replace(found, knowledge=replace(found.knowledge, shelf=shelf))


def _relax_and_see(found: Inputs, keeper: Keeper, question: Question[Any], *, relaxes_gold: bool) -> Inputs:
    """Return the inputs with what the question changes of links, and the columns that a training set adds."""
    if question.relax is not None:
        found = _relax(found, question.relax, gold=relaxes_gold)
    if question.link_labels:
        known = found.knowledge
        found = _change(found, with_labels_linked(found.runs, known.kb, known.names), "labels")
    if not question.seen:
        return found
    if Path(question.seen).is_file():
        training = read_frames([question.seen], formats=question.format)
    else:
        training = kept_gold(keeper.store, [question.seen])[0]
    columns = with_seen(found.knowledge.columns, training, found.gold)
    return replace(found, knowledge=replace(found.knowledge, columns=columns))


def _tell_gold(found: Inputs, names: Iterable[str]) -> None:
    """Say of the runs of these names that they are gold itself, where they are."""
    for name in names:
        run = found.runs.get(name)
        if run is None:
            continue
        pairs = align(found.gold, run, name, told=False)
        rows = run.annotations.join(pairs, on="document").with_columns(document="gold").drop("gold")
        own = replace(run, documents=pairs.select(document="gold"), annotations=rows)
        if rows.height > found.gold.annotations.height or not pairs.height or not is_gold(found.gold, own):
            continue
        if (every := run.annotations.height) > rows.height:
            tell_like_gold(name, rows.height, every)
        else:
            progress.note(
                f"run '{name}' is gold itself, its mentions with their links: what is scored is no system, unless one "
                "is right everywhere"
            )


def _read_kept(
    keeper: Keeper,
    question: Question[Any],
    by: Sequence[str],
    weight: Sequence[str],
    runs: dict[str, Frames],
    contents: dict[str, str],
) -> Inputs:
    """Return what a workspace holds of gold, and its runs where they are asked for."""
    keeper.ensure_sample(question.datasets)
    question = replace(question, datasets=question.datasets or _find_answered(keeper, question, runs))
    gold, targets = kept_gold(keeper.store, question.datasets, question.format, learnt=bool(by or weight))
    kb = keeper.kb
    asked = [column for column in by if not (question.seen and column in SEEN)]
    measured = [*(column for column in asked if not is_of_errors(column)), *weight]
    properties = properties_of(gold, measured, question.datasets, keeper.store)
    columns, of_documents = measured_columns(gold, kb, measured, properties)
    percentiles = any(column.endswith("Percentile") for column in by)
    origins = origins_of(
        keeper.store, question.datasets, targets, kb, documents=question.documents, percentiles=percentiles
    )
    gold = Frames.concat([gold, *origins.emptied])
    known = Knowledge(columns, of_documents, kb=kb, backgrounds=tuple(origins.backgrounds), kept=origins.kept)
    emptied = pl.Series([name for one in origins.emptied for name in one.documents["document"]], dtype=pl.String)
    found = Inputs(gold, runs, known, contents, homes=origins.homes, emptied=emptied)
    if question.registered or not runs:
        found = _with_registered(found, keeper, question, targets)
    of_errors = {run_of(column, found.runs)[0] for column in asked if is_of_errors(column)}
    systems = of_errors - found.runs.keys()
    if not systems:
        _tell_unanswered(found, {name: found.runs[name] for name in sorted(of_errors)})
        return found
    others = _with_registered(
        Inputs(gold, {}), keeper, Question[str](system=tuple(sorted(systems))), targets, told=False
    )
    found = replace(found, others=others.runs)
    _tell_unanswered(found, {name: {**others.runs, **found.runs}[name] for name in sorted(of_errors)})
    return found


def _tell_unanswered(found: Inputs, runs: Mapping[str, Frames]) -> None:
    """Say which datasets the runs by whose errors mentions are sliced do not answer: all is 'missing' there."""
    for name, run in runs.items() if progress.is_shown() else ():
        answered = {*align(found.gold, run, name, told=False)["gold"]}
        counts = found.gold.documents.group_by("dataset").agg(pl.col("document").is_in([*answered]).any())
        if none := sorted(counts.filter(~pl.col("document"))["dataset"]):
            progress.note(
                f"run '{name}' has no answers to {', '.join(none)}, all of whose mentions are 'missing' by "
                f"error:{name}: `remix run add {name} FILE --on {none[0]}` registers answers to it, or leave it out"
            )


def _with_registered(
    found: Inputs, keeper: Keeper, question: Question[Any], targets: Sequence[Target], *, told: bool = True
) -> Inputs:
    """Return the inputs with the registered runs that are named, by default all that answer gold.

    Raises `UsageError` where a run that is named is on nothing that gold comes from.
    """
    answers = keeper.registered_answers(targets, question.registered)
    texts, spans = answers.get("A2KB", {}), answers.get("D2KB", {})
    runs = {name: texts.get(name, spans.get(name)) for name in sorted({*texts, *spans})}
    every = replace(found, made_for={name: "A2KB" if name in texts else "D2KB" for name in runs})
    own = {name: run for name, run in runs.items() if run is not None}
    if told:
        alone = len(own) == 1 and not found.runs
        named = bool(question.registered) or alone
        own = _find_on_gold(every, own, named=named, documents=question.documents)
    spans = {name: run for name, run in spans.items() if name in own}
    every_run = [run for runs_of in answers.values() for run in runs_of.values()]
    unrevised = keeper.unrevised_runs({name for run in every_run for name in run.dataset_names})
    silent = frozenset(
        (name, task)
        for task, runs_of in answers.items()
        for name, run in runs_of.items()
        if any((name, task, dataset) in unrevised for dataset in run.dataset_names)
    )
    return replace(every, runs={**found.runs, **own}, given_spans=spans, unrevised=silent)


def _find_on_gold(inputs: Inputs, runs: Mapping[str, Frames], *, named: bool, documents: str) -> dict[str, Frames]:
    """Return the registered runs that are on anything that gold comes from, and say of what others are not.

    Raises `UsageError` for a run that is `named` and on nothing of it, or not on 'all' `documents`, if these are asked.
    """
    found, told = {}, dict[tuple[str, str, bool], list[str]]()
    for name, run in runs.items():
        out = inputs.without_answers(name, run)
        beside = [part for part in out if part.emptied and part.dataset in run.dataset_names]
        free = not out or inputs.gold.documents.height > inputs.gold_of(out).height
        if beside and documents == "all":
            remix, home = beside[0].dataset, beside[0].home
            if named:
                raise UsageError(
                    f"run '{name}' is registered on {remix} itself, so that nothing tells what it answers in the "
                    f"documents of {home} that {remix} emptied: take `remix evaluate --documents kept`, or `remix run "
                    f"drop {name} --on {remix}` and `remix run add {name} FILE --on {home}`"
                )
            free = False
        if free:
            found[name] = run
        if not out:
            continue
        on, others = (
            ", ".join(sorted({*one})) for one in (run.documents["dataset"], (part.home for part in out - {*beside}))
        )
        if others and named and not free:
            raise UsageError(
                f"run '{name}' is registered on {on}, not on {others}, which gold was cut from: `remix run add {name} "
                f"FILE --on {min(part.home for part in out)}` registers answers to it"
            )
        if others:
            told.setdefault((on, others, False), []).append(f"'{name}'")
        for remix in sorted({part.dataset for part in beside}):
            told.setdefault((remix, "" if free else remix, True), []).append(f"'{name}'")
    for (on, others, emptied), names in told.items():
        are, they = ("is", "it is") if len(names) == 1 else ("are", "they are")
        who = f"run{'s' * (len(names) > 1)} {', '.join(names)} {are} registered on {on}"
        if not emptied:
            progress.note(f"{who}, so that {they} not scored on {others}")
        elif others:
            progress.note(
                f"{who} itself, so that {they} left out: `remix evaluate --documents kept` counts no document that "
                f"{on} emptied"
            )
        else:
            progress.note(f"{who} itself, so that answers count in its documents with a kept mention alone")
    return found


def _find_answered(keeper: Keeper, question: Question[Any], runs: Mapping[str, Frames]) -> tuple[str, ...]:
    """Return the loaded datasets that any run answers, and say which are left out.

    Those are what registered runs are on, and of which answers in files have a document.
    """
    names = [entry.name for entry in keeper.store.datasets()]
    gold, targets = kept_gold(keeper.store, names)
    with progress.enable(False):  # it is said where they are scored
        laid = laid_on_texts(gold, runs)
    pairs = [align(gold, run, name, told=False)["gold"] for name, run in laid.items()]
    answered = pl.concat([gold.documents["document"].clear(), *pairs])
    found = {*gold.documents.filter(pl.col("document").is_in(answered.implode()))["dataset"]}
    if question.registered or not runs:
        answers = keeper.registered_answers(targets, question.registered)
        found |= {name for own in answers.values() for run in own.values() for name in run.dataset_names}
    if not found:
        raise BadInput(f"run '{next(iter(runs))}'", "has no document of a dataset that is loaded: name its gold")
    if rest := sorted({*names} - found):
        progress.note(f"scored on {', '.join(sorted(found))}; no run answers {', '.join(rest)}")
    return tuple(sorted(found))


def _with_entities(
    every: Sequence[Inputs], question: Question[Any], store: Store, *, typed: bool = True
) -> list[Inputs]:
    """Return the inputs with the classes, names and hierarchy of entities: of tables, the data, the knowledge base.

    They are of one knowledge base.
    """
    listed = read_entities(question.entities) if question.entities is not None else None
    kb = every[0].knowledge.kb
    parts = [*([] if listed is None else [listed]), *([] if kb is None else [kb.types])]
    if typed and (parts or any(inputs.knowledge.backgrounds for inputs in every)):
        from remix.measures.classes import with_coarse

        none = pl.DataFrame(schema={"entity": pl.String, "class": pl.String})

        def read_types() -> pl.DataFrame:
            types = with_coarse(pl.concat([none, *(part.select(none.columns) for part in parts)]))
            return types.unique().sort("entity", "class")

        # Those of a knowledge base alone are the same for each question to it.
        of_kb = ("types of entities", kb.signature) if listed is None and kb is not None else None
        types = read_types() if of_kb is None else store.cached(of_kb, read_types)
        stated, homes = _list_statements(every)
        classes = with_types_of_each([inputs.gold for inputs in every], types, stated, homes, kb)
        every = [
            replace(
                inputs,
                gold=replace(inputs.gold, classes=own),
                knowledge=replace(inputs.knowledge, types=types, stated=said),
            )
            for inputs, own, said in zip(every, classes, stated, strict=True)
        ]
    if listed is not None:
        names = listed.select("entity", "name").drop_nulls().unique("entity", maintain_order=True)
        every = [replace(inputs, knowledge=replace(inputs.knowledge, names=names)) for inputs in every]
    if question.hierarchy is not None:
        parents = read_subclasses(question.hierarchy)
        every = [replace(inputs, knowledge=replace(inputs.knowledge, subclasses=parents)) for inputs in every]
    return [*every]


def _list_statements(every: Sequence[Inputs]) -> tuple[list[pl.DataFrame | None], list[pl.DataFrame | None]]:
    """Return home, entity and class as the data say it, and gold and home, of each; None of what has no background."""
    from remix.measures.classes import with_coarse

    having = {nth: inputs.knowledge.backgrounds for nth, inputs in enumerate(every) if inputs.knowledge.backgrounds}
    stated: list[pl.DataFrame | None] = [None] * len(every)
    homes: list[pl.DataFrame | None] = [None] * len(every)
    if not having:
        return stated, homes
    # What one dataset says of an entity is not asked about in another.
    said = []
    for nth, backgrounds in having.items():
        homes[nth] = pl.concat(background.homes for background in backgrounds)
        own = pl.concat(background.statements() for background in backgrounds)
        said.append(own.with_columns(pl.lit(nth, pl.Int64).alias("nth")))
    rows = with_coarse(pl.concat(said)).unique().sort("nth", "home", "entity", "class")
    parts = rows.partition_by("nth", as_dict=True, maintain_order=True, include_key=False)
    for nth in having:
        stated[nth] = parts.get((nth,), rows.drop("nth").clear())
    return stated, homes


def _relax(found: Inputs, file: Path | str, *, gold: bool) -> Inputs:
    """Return the inputs with the links of runs, and of gold, mapped by a table of entities."""
    by = content_hash(Path(file))
    found = _change(found, relax_runs(found.runs, file), by)
    if not gold:
        return found
    contents = {name: known if name else content_hash(known, by) for name, known in found.contents.items()}
    return replace(found, gold=relax_gold(found.gold, file), contents=contents)


def _change(found: Inputs, runs: Mapping[str, Frames], by: str) -> Inputs:
    """Return the inputs with other runs: the files are the same, what is made of them is not."""
    contents = {name: content_hash(known, by) if name else known for name, known in found.contents.items()}
    return replace(found, runs=runs, contents=contents)
