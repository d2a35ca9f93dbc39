"""Runs of systems stored beside their datasets, where queries find every error."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

import polars as pl

from remix import iris, progress
from remix._version import __version__
from remix.documents import align
from remix.errors import UnknownName, UsageError
from remix.expressions import fill
from remix.frames import Frames
from remix.measures.classes import with_coarse
from remix.names import RMX
from remix.rdf.ntriples import columns
from remix.rdf.terms import iri as without_brackets
from remix.runs.due import outcomes_due
from remix.runs.gathering import gather
from remix.runs.outcomes import Outcomes, column_graph, fragment_of, outcomes, run_graph
from remix.runs.register import list_runs, records_of, remove_run
from remix.runs.registration import add_run, answers_to, refuse_gold, take_shipped
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.files import GivenAnswers, answers_of, read_frames, run_files
from remix.scoring.inputs.gold import kept_gold
from remix.scoring.inputs.shortcomings import failures_of
from remix.scoring.inputs.texts import laid_on_texts
from remix.scoring.matching import matching_named
from remix.signature import Signature
from remix.store import DatasetEntry, Store, in_one_state
from remix.store.state import RUN
from remix.store.targets import targets
from remix.systems.record import Record

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

AGREEMENT = "agreement"
"""The fragment of the graph that holds which share of the systems is right on each annotation."""
DIFFICULTY = "difficulty"
"""The fragment of the graph that holds the difficulty of each annotation."""

_GRAPH = "3"
"""The form of graphs of runs. In the first, of alternatives of a mention, one alone had the class of an error; in the
second, datasets that share a text, and were stored together, had the answers to each other."""

_TABLE = {"dataset": pl.String, "system": pl.String, "status": pl.String} | dict.fromkeys(
    ("tp", "fp", "fn", "ignored", "triples"), pl.Int64
)


@in_one_state
def store_outcomes(
    store: Store,
    kb: KnowledgeBase | None,
    names: Sequence[str],
    *,
    runs: Sequence[str] = (),
    systems: Sequence[str] = (),
    matching: str = "strong",
    errors: Sequence[str] = ("neleval",),
    formats: Iterable[str] = (),
) -> pl.DataFrame:
    """Return what `store_runs` does with runs on loaded datasets: registered ones by name, or `NAME=FILE` settings.

    What is given as files is registered; without any run those that ship are registered first.

    Raises `UsageError` where gold is no loaded dataset, which has no graphs; else as `store_runs`.
    """
    loaded = {entry.name for entry in store.datasets()}
    if other := [name for name in names if name not in loaded]:
        raise UsageError(f"runs are stored beside loaded datasets: `remix load {other[0]}` first, or leave --store out")
    if not names:
        raise UsageError("runs are stored beside loaded datasets: name them, or leave --store out")
    folder = store.own("runs")
    if not runs:
        take_shipped_runs(store, kb, folder)
    gold, known = kept_gold(store, names)
    files = run_files(runs)
    given = {name: read_frames(own, unannotated=True, answers=True, formats=formats) for name, own in files.items()}
    with progress.enable(False):
        laid = {name: answers_to(gold, run, name) for name, run in given.items()}
    for name, run in given.items():
        refuse_gold(name, gold, laid[name], run)
    given, registered = _lay_silently(gold, given), dict[str, Frames]()
    if (named := [*(one for one in runs if "=" not in one), *systems]) or not runs:
        registered = gather(folder, known, named).get("A2KB", {})
    answers = {**given, **registered}
    matching = matching_named(matching).name
    with progress.enable(False):
        pairs = _pairs(gold, given, ())
    with outcomes_due(folder, {dataset for dataset, _ in pairs}) if pairs else nullcontext():
        for dataset, name in pairs:
            own = [target for target in known if target.name == dataset]
            add_run(folder, name, given[name], own, source=", ".join(file.name for file in files[name]), replace=True)
        return store_runs(store, gold, answers, kb, matching=matching, errors=errors, registered=registered)


def _lay_silently(gold: Frames, runs: Mapping[str, Frames]) -> dict[str, Frames]:
    """Return the runs with gold's texts where white space alone is other, which is said when they are kept."""
    with progress.enable(False):
        return laid_on_texts(gold, runs)


def register(
    store: Store,
    kb: KnowledgeBase | None,
    folder: Path,
    name: str,
    answers: GivenAnswers,
    *,
    on: Sequence[str] = (),
    task: str = "A2KB",
    replace: bool = False,
    perfect: bool = False,
    record: Record | None = None,
    strict: bool = False,
    formats: Iterable[str] = (),
) -> pl.DataFrame:
    """Return what `remix.runs.registration.add_run` does with answers of any kind, and keep their outcomes.

    `on` are loaded datasets or files of gold, such as remixes, by default all loaded datasets that the answers have a
    document of. Outcomes, of answers to A2KB, are stored beside loaded datasets alone. Raises `UsageError` where no
    dataset has a document of them.
    """
    answers, source = answers_of(name, answers, formats)
    chosen = targets(store, on, formats)
    if not on:
        # Together, as what a document is called in one dataset may be what another is called in the next.
        gold = Frames.concat(one.frames.in_dataset(one.name) for one in chosen)
        pairs = align(gold, _lay_silently(gold, {name: answers})[name], name, told=False)
        answered = {*gold.documents.join(pairs, left_on="document", right_on="gold", how="semi")["dataset"]}
        chosen = [one for one in chosen if one.name in answered]
        if not chosen:
            loaded = ", ".join(entry.name for entry in store.datasets())
            raise UsageError(
                f"run '{name}' has no document of {loaded}: name the dataset that it answers, `--on DATASET`, which "
                "says what does not fit"
            )
    names = [one.name for one in chosen]
    with outcomes_due(folder, names) if task == "A2KB" else nullcontext():
        rows = add_run(
            folder,
            name,
            answers,
            chosen,
            task=task,
            source=source,
            replace=replace,
            perfect=perfect,
            record=record,
            strict=strict,
            kb=kb,
            told=True,
        )
        if task == "A2KB":
            keep_outcomes(store, kb, folder, [name], names)
    return rows


def keep_outcomes(
    store: Store, kb: KnowledgeBase | None, folder: Path, names: Iterable[str], datasets: Iterable[str]
) -> None:
    """Store the outcomes of registered answers to A2KB beside those of the datasets that are loaded."""
    loaded = {entry.name for entry in store.datasets()}
    if own := [name for name in dict.fromkeys(datasets) if name in loaded]:
        gold, known = kept_gold(store, own)
        if answers := gather(folder, known, names, told=False).get("A2KB"):
            store_runs(store, gold, answers, kb, registered=answers)


def bound_to(entry: DatasetEntry, kb: KnowledgeBase | None) -> dict[str, str]:
    """Return the fields of a signature that outcomes on a dataset have while they hold."""
    version = kb.version[:12] if kb is not None else ""
    bound = {"remix": __version__, "graph": _GRAPH, "gold": entry.content[:12], "entities": iris.VERSION}
    return {**bound, "kb": version}


def take_shipped_runs(store: Store, kb: KnowledgeBase | None, folder: Path) -> None:
    """Register the answers that ship with remix where no run is registered, and keep their outcomes."""
    if taken := take_shipped(folder, store):
        names, datasets = ({getattr(run, part) for run in taken} for part in ("system", "dataset"))
        with outcomes_due(folder):
            keep_outcomes(store, kb, folder, sorted(names), sorted(datasets))


@in_one_state
def store_runs(
    store: Store,
    gold: Frames,
    runs: Mapping[str, Frames],
    kb: KnowledgeBase | None,
    *,
    matching: str = "strong",
    errors: Sequence[str] = ("neleval",),
    registered: Container[str] = (),
) -> pl.DataFrame:
    """Return dataset, system, status, tp, fp, fn, ignored and triples of each run that the store holds now.

    `gold` are loaded datasets by their names. What a graph held before is replaced; the same again changes nothing and
    has the status 'unchanged'. A run is not stored beside a dataset that it has no document of or, where it is one of
    the `registered`, that it is not registered on. The share of systems
    that are right on each annotation, over all runs that the dataset has then, goes to the graph `#agreement`.

    Raises `UnknownName` for a matching or taxonomy that does not exist, `BadInput` for a run on other texts.
    """
    # Scoring has said already what does not fit.
    with progress.stage("outcomes"):
        made = make_outcomes(store, gold, runs, kb, matching=matching, errors=errors, registered=registered)
    entries = {entry.name: entry for entry in store.datasets()}
    graphs = {name: graphs_beside(store, entries[name], [made]) for name in made.graphs}
    if any(status != "unchanged" for _, _, status, *_ in made.rows):
        drop_difficulty(entries.values(), graphs)
    with progress.stage("graphs of runs"):
        store.attach(graphs)
    return pl.DataFrame(made.rows, schema=_TABLE, orient="row")


Graphs: TypeAlias = dict[str, tuple[Path | bytes, str] | None]
"""Graphs beside a dataset by the fragment of their IRI: triples and signature, None for one that goes."""


@dataclass(frozen=True, eq=False)
class MadeOutcomes:
    """Graphs of runs that are in no store yet.

    - `rows`: those of `store_runs`;
    - `graphs`, `signatures`: by dataset, of each system its graph by the fragment of that, and the signature of it;
    - `right`: dataset, system, annotation and whether the system is right on it.
    """

    rows: list[tuple[Any, ...]]
    graphs: Mapping[str, Graphs]
    signatures: Mapping[str, Mapping[str, str]]
    right: pl.DataFrame


def make_outcomes(
    store: Store,
    gold: Frames,
    runs: Mapping[str, Frames],
    kb: KnowledgeBase | None,
    *,
    matching: str,
    errors: Sequence[str],
    registered: Container[str] = (),
) -> MadeOutcomes:
    """Return the graphs that `store_runs` stores of runs beside loaded datasets; raises what it raises."""
    types = with_coarse(kb.types).select("entity", "class").unique() if kb is not None else None
    with progress.enable(False):
        # What is registered answers each dataset by its own answers, whatever texts several share.
        made_for = {name: "A2KB" for name in runs if name in registered}
        inputs = Inputs(gold, runs, Knowledge(types=types, kb=kb), made_for=made_for)
        found = outcomes(inputs, matching, errors)
        pairs = _pairs(gold, runs, registered)
    entries = {entry.name: entry for entry in store.datasets()}
    chosen = {"remix": __version__, "task": "A2KB", "matching": matching, "errors": ",".join(errors)}
    records = records_of(store.own("runs"), "A2KB")
    graphs: dict[str, Graphs] = {}
    signatures: dict[str, dict[str, str]] = {}
    rows = []
    for name, system in pairs:
        own = _of_run(found, name, system)
        bound = {**chosen, **bound_to(entries[name], kb)}
        graph, signature = run_graph(own, entries[name], system, bound, records.get((name, system)))
        graphs.setdefault(name, {})[fragment_of(system)] = (graph, signature)
        signatures.setdefault(name, {})[system] = signature
        before = systems_of(entries[name]).get(system)
        status = "stored" if before is None else "unchanged" if before == signature else "replaced"
        rows.append((name, system, status, *_counts(own), graph.count(b"\n")))
    right = found.gold.select("dataset", "system", "annotation", right=pl.col("outcome") == "tp")
    unjudged = failures_of(inputs).join(gold.annotations.select("document", "annotation"), on="document")
    right = right.join(unjudged, on=["system", "annotation"], how="anti", maintain_order="left")
    return MadeOutcomes(rows, graphs, signatures, right)


def graphs_beside(store: Store, entry: DatasetEntry, made: Sequence[MadeOutcomes], gone: Container[str] = ()) -> Graphs:
    """Return the graphs beside a dataset that change with outcomes that were made, and with those of systems that go.

    Among them is the share of systems that are right on each annotation, over all that the dataset has then.
    """
    graphs: Graphs = {one: graph for part in made for one, graph in part.graphs.get(entry.name, {}).items()}
    stored = {system: line for part in made for system, line in part.signatures.get(entry.name, {}).items()}
    held = systems_of(entry)
    graphs |= {fragment_of(system): None for system in held if system in gone}
    stays = {system: line for system, line in held.items() if system not in stored and system not in gone}
    now = [
        part.right.filter(pl.col("system").is_in([*part.signatures.get(entry.name, {})]), dataset=entry.name).drop(
            "dataset"
        )
        for part in made
    ]
    every = pl.concat([verdicts(store, entry.name, stays), *now])
    graphs[AGREEMENT] = _agreement(entry, every, stays | stored) if stays or stored else None
    return graphs


def drop_difficulty(entries: Iterable[DatasetEntry], graphs: dict[str, Graphs]) -> None:
    """Take away, with the `graphs` that change, the difficulty of annotations: it was learnt from other outcomes."""
    learnt = [entry.name for entry in entries if DIFFICULTY in entry.attached]
    for name in learnt:
        graphs.setdefault(name, {})[DIFFICULTY] = None
    if learnt:
        progress.note(
            f"the difficulty of annotations of {', '.join(learnt)} was learnt from other outcomes and is gone: "
            "`remix enrich --difficulty` learns it anew"
        )


def systems_of(entry: DatasetEntry) -> dict[str, str]:
    """Return the systems whose outcomes are stored beside a dataset, each with the signature of its graph."""
    held = {name: graph.signature for name, graph in sorted(entry.attached.items()) if name.startswith(RUN)}
    return {unquote(name.removeprefix(RUN)): signature for name, signature in held.items()}


def command_that_stores(datasets: Sequence[str], systems: Sequence[str], matching: str) -> str:
    """Return the one command that stores the outcomes of these systems beside these datasets by a matching.

    >>> command_that_stores(["news"], ["a", "b"], "weak")
    'remix evaluate news --system a --system b --match weak --store'
    """
    options = [part for name in systems for part in ("--system", name)]
    return shlex.join(["remix", "evaluate", *datasets, *options, "--match", matching, "--store"])


def is_of_this_form(fields: Mapping[str, str]) -> bool:
    """Return whether a graph of a run, by its signature, is of the form that this version stores."""
    return fields.get("graph") == _GRAPH


def verdicts(store: Store, dataset: str, systems: Iterable[str] | None = None) -> pl.DataFrame:
    """Return system, annotation and `right` for each run stored beside a dataset and each annotation of its gold.

    By default the runs of all `systems`. A document that a system failed on has no answer that could be judged, so that
    its annotations have no verdict of this system. Raises `UnknownName` for a dataset that is not loaded.
    """
    entry = store.dataset(dataset)
    frames = store.frames([dataset])
    gold = frames.annotations.select("document", subject=fill("<{}>", "annotation"))
    names = frames.documents.select("document", name=pl.concat_list("document", "given")).explode("name").drop_nulls()
    parts = [pl.DataFrame(schema={"system": pl.String, "annotation": pl.String, "right": pl.Boolean})]
    for system in systems_of(entry) if systems is None else systems:
        triples = columns(store.attachment(dataset, fragment_of(system)))
        failed = triples.filter(pl.col("predicate") == f"<{RMX}failedOn>").select(
            name=without_brackets(pl.col("object"))
        )
        judged = gold.join(names.join(failed, on="name"), on="document", how="anti")
        triples = triples.join(judged, on="subject", how="semi", maintain_order="left")
        right = pl.col("predicate") == f"<{RMX}truePositiveOf>"
        told = triples.filter(right | (pl.col("predicate") == f"<{RMX}falseNegativeOf>"))
        iri = pl.col("subject").str.strip_chars("<>").alias("annotation")
        parts.append(told.select(pl.lit(system).alias("system"), iri, right.alias("right")))
    return pl.concat(parts)


def read_outcomes(store: Store, dataset: str, system: str) -> pl.DataFrame:
    """Return annotation, `right` and `classes` of errors of what a system made of a dataset, as its graph has them."""
    triples = columns(store.attachment(dataset, fragment_of(system)))
    terms = {f"<{RMX}truePositiveOf>": True, f"<{RMX}falseNegativeOf>": False}
    gold = store.frames([dataset]).annotations.select("annotation", subject=fill("<{}>", "annotation"))
    said = triples.join(gold, on="subject", maintain_order="left")
    classes = said.filter(predicate=f"<{RMX}errorClass>").group_by("annotation")
    told = classes.agg(classes=pl.col("object").str.strip_chars('"').unique().sort())
    found = said.filter(pl.col("predicate").is_in([*terms]))
    found = found.select("annotation", right=pl.col("predicate").replace_strict(terms, return_dtype=pl.Boolean))
    return found.join(told, on="annotation", how="left", maintain_order="left")


@in_one_state
def drop_run(
    store: Store, folder: Path, name: str, *, on: Sequence[str] = (), task: str | None = None
) -> list[tuple[str, str]]:
    """Return dataset and what was taken out of a run on it: 'answers in A2KB', 'outcomes'.

    Answers are those that are registered, by default on all datasets and for all tasks, outcomes the graph beside a
    dataset, which goes with the answers in A2KB; the share of systems that are right on each annotation is that of the
    others then. Raises `UnknownName` for a run that there is not, or that is not on one of these datasets.
    """
    runs = list_runs(folder)
    # Registered answers outlast a dataset that is dropped, outcomes go with it.
    entries = {entry.name: entry for entry in store.datasets()}
    stored = {(system, dataset) for dataset, entry in entries.items() for system in systems_of(entry)}
    known = {(run.system, run.dataset) for run in runs if task in (None, run.task)} | stored
    if name not in {system for system, _ in known}:
        raise UnknownName("run", name, {system for system, _ in known}, "remix run list")
    datasets = list(on) or sorted(dataset for system, dataset in known if system == name)
    for dataset in datasets:
        if (name, dataset) not in known:
            raise UnknownName(
                f"run on {dataset}", name, {one for one, other in known if other == dataset}, "remix run list"
            )
    taken = []
    for dataset in datasets:
        if (name, dataset) in stored and task in (None, "A2KB"):
            drop_outcomes(store, entries[dataset], name)
            taken.append((dataset, "outcomes"))
        for run in runs:
            if (run.system, run.dataset) == (name, dataset) and task in (None, run.task):
                remove_run(folder, run)
                taken.append((dataset, f"answers in {run.task}"))
    return taken


def drop_outcomes(store: Store, entry: DatasetEntry, system: str) -> None:
    """Take the graph of a run away from a dataset; the share of systems that are right is that of the others then."""
    graphs = {entry.name: graphs_beside(store, entry, (), gone=[system])}
    drop_difficulty(store.datasets(), graphs)
    store.attach(graphs)


def _pairs(gold: Frames, runs: Mapping[str, Frames], registered: Container[str]) -> list[tuple[str, str]]:
    """Return dataset and system of each run on each dataset that it is on."""
    found = []
    for system, run in runs.items():
        same = align(gold, run, system).join(gold.documents, left_on="gold", right_on="document")
        own = {*same["dataset"]} & {*run.documents["dataset"]} if system in registered else {*same["dataset"]}
        found += [(name, system) for name in own]
    return sorted(found)


def _of_run(found: Outcomes, dataset: str, system: str) -> Outcomes:
    own = (pl.col("dataset") == dataset) & (pl.col("system") == system)
    answers = found.answers.filter(own)
    links = found.links.join(answers.select("answer"), on="answer", how="semi", maintain_order="left")
    return replace(found, gold=found.gold.filter(own), answers=answers, links=links, errors=found.errors.filter(own))


def _counts(own: Outcomes) -> tuple[int, ...]:
    gold = own.gold.unique("group")["outcome"]
    counted = ((gold, "tp"), (own.answers["outcome"], "fp"), (gold, "fn"), (own.answers["outcome"], "ignored"))
    return tuple(int((outcome == name).sum()) for outcome, name in counted)


def _agreement(entry: DatasetEntry, every: pl.DataFrame, signatures: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the graph of the shares of systems that are right by `every` verdict, and its signature.

    `signatures` are those of the graphs of these systems.
    """
    shares = every.group_by("annotation").agg(value=pl.col("right").mean())
    short = {fragment_of(system): Signature.parse(line).short() for system, line in signatures.items()}
    runs = ",".join(f"{name}@{own}" for name, own in sorted(short.items()))
    signature = str(Signature({"remix": __version__, "runs": runs}))
    about = {"system": sorted(every["system"].unique()), "signature": [signature]}
    return column_graph(f"{entry.iri}#{AGREEMENT}", shares, "systemAgreement", about), signature
