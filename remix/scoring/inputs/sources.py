"""Gold, runs and what is known of entities, from files and from a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import polars as pl

from remix import progress
from remix.documents import align
from remix.errors import BadInput, UsageError
from remix.formats.settings import check_formats
from remix.frames import Frames
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.columns import SEEN, is_of_errors, run_of
from remix.scoring.inputs.entities import (
    read_entities,
    read_subclasses,
    relax_gold,
    relax_runs,
    with_labels_linked,
    with_types,
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
from remix.scoring.inputs.gold import is_gold, kept_gold, measured_columns, origins_of
from remix.scoring.inputs.properties import properties_of, with_seen
from remix.scoring.inputs.texts import laid_on_texts
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store
    from remix.store.targets import Target


class Keeper(Protocol):
    """What a workspace has to be scored."""

    folder: Path

    @property
    def store(self) -> Store:
        """Return the store of datasets."""

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the knowledge base, None without one."""

    def registered_answers(
        self, gold: Sequence[Target], names: Iterable[str] = ()
    ) -> Mapping[str, Mapping[str, Frames]]:
        """Return the answers of registered runs to gold, by task; see `remix.runs.registration.gather`."""

    def store_runs(
        self,
        datasets: str | Iterable[str],
        *,
        run: str | Iterable[str] = (),
        system: str | Iterable[str] = (),
        match: str = "strong",
        errors: str | Iterable[str] = ("neleval",),
        format: str | Iterable[str] = (),
    ) -> pl.DataFrame:
        """Return what the store holds of each run on these datasets now; see `remix.runs.stored.store_outcomes`."""

    def ensure_sample(self, names: Iterable[str] = ()) -> bool:
        """Return whether the workspace was empty and has the sample corpus now."""


@dataclass(frozen=True)
class Sources:
    """Where gold, runs and what is known of entities are read from.

    - `names`: datasets of the workspace, or files, such as remixes, that are read beside it; by default all datasets
      that the runs have a document of;
    - `gold`: files of gold in their place; of the workspace the knowledge base alone is looked at, and runs by name;
    - `runs`: names of registered runs, and answers as `NAME=FILE` settings; files of one name add up;
    - `answers`: answers in memory, by the name of the run;
    - `systems`: names of registered runs, too; by default all that answer gold, where no run is given otherwise;
    - `entities`: a table of entities, as `read_entities` reads it;
    - `hierarchy`: an RDF file with rdfs:subClassOf;
    - `seen`: a training set, a dataset or a file, that adds the columns of `remix.scoring.inputs.properties`;
    - `relax`: a table of entities that runs may answer for each other, as `remix.scoring.inputs.entities` reads it;
    - `link_labels`: link answered labels as `remix.scoring.inputs.entities` does;
    - `formats`: of files, as `remix.formats.settings.format_for` has them, where their content is not to say it.
    """

    names: tuple[str, ...] = ()
    gold: tuple[Path | str, ...] = ()
    runs: tuple[str, ...] = ()
    answers: Mapping[str, Frames] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    entities: Path | str | None = None
    hierarchy: Path | str | None = None
    relax: Path | str | None = None
    seen: str = ""
    link_labels: bool = False
    formats: tuple[str, ...] = ()

    def with_runs(self, runs: str | Iterable[str] | Mapping[str, GivenAnswers]) -> Sources:
        """Return the sources with runs as `runs` has them, or by a mapping of names to answers of any kind."""
        if not isinstance(runs, Mapping):
            return replace(self, runs=(runs,) if isinstance(runs, str) else tuple(runs))
        settings, answers = [], {}
        for name, given in runs.items():
            if isinstance(given, Frames | pl.DataFrame):
                answers[name] = answers_of(name, given)[0]
            else:
                settings += [f"{name}={file}" for file in ([given] if isinstance(given, str | Path) else given)]
        return replace(self, runs=tuple(settings), answers=answers)

    def names_of_runs(self) -> tuple[str, ...]:
        """Return the names of registered runs that are asked for."""
        return (*(one for one in self.runs if "=" not in one), *self.systems)

    def of_one_kind(self) -> Sources:
        """Return the sources themselves; raises `UsageError` where gold is named and given as files."""
        if self.names and self.gold:
            named, file = self.names[0], self.gold[0]
            raise UsageError(
                f"{named} and --gold {file} are both gold: to score runs on both, name the file without --gold; "
                f"`remix compare {named} --gold {file} --agreement` holds the two annotations against each other"
            )
        return self

    def one_by_one(self) -> list[Sources]:
        """Return the sources of each dataset or file of gold for itself."""
        return [replace(self, names=(name,), gold=()) for name in self.names] + [
            replace(self, names=(), gold=(file,)) for file in self.gold
        ]

    def with_formats_checked(self, *others: str) -> Sources:
        """Return the sources themselves; raises as `check_formats` where a format is of nothing that is read.

        `others` are datasets or files that are read besides.
        """
        files = [file for found in run_files(self.runs).values() for file in found]
        check_formats(self.formats, [*self.names, *self.gold, *files, self.seen, *others])
        return self

    def for_tuning(self, dataset: str) -> Sources:
        """Return the sources with another dataset, or another file, in the place of gold."""
        gold = {"gold": (dataset,), "names": ()} if self.gold else {"names": (dataset,)}
        return replace(self, **gold, seen="")


@dataclass(frozen=True)
class Wanted:
    """What is to be read of gold beside its annotations.

    - `by`, `weight`: the columns that it is sliced by and weighed by, those aside that a profile fills itself;
    - `documents`: the documents in which answers count, as `Choice` has it;
    - `empty`: whether gold may be without any annotation, as profiles allow that score documents without anything;
    - `relaxed_gold`: whether what `relax` maps is mapped in gold, too.
    """

    by: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    documents: str = ""
    empty: bool = False
    relaxed_gold: bool = False


def read_inputs(keeper: Keeper, sources: Sources, wanted: Wanted) -> Inputs:
    """Return gold, runs and what is known, with the columns that are wanted.

    Raises `UsageError` where sources do not go together, `UnknownName` for a dataset, system or column that there is
    not, `BadInput` for a file that cannot be read.
    """
    sources.of_one_kind()
    if sources.gold and not (sources.runs or sources.answers or sources.systems):
        raise UsageError("no run is named: --run NAME takes a registered one, --run NAME=FILE answers of a file")
    given = run_files(sources.runs).items()
    found_runs = {
        name: read_contents(files, unannotated=True, answers=True, formats=sources.formats) for name, files in given
    }
    runs = repeats_of({**{name: run for name, (run, _) in found_runs.items()}, **sources.answers})
    contents = contents_of_repeats(runs, {name: known for name, (_, known) in found_runs.items()})
    if sources.gold:
        gold, content = read_contents(sources.gold, unannotated=wanted.empty, formats=sources.formats)
        contents[""] = content_hash(content, *gold.documents["dataset"].unique().sort())
        asked = [name for name in (*wanted.by, *wanted.weight) if not (sources.seen and name in SEEN)]
        properties = properties_of(gold, asked, sources.gold)
        found = Inputs(gold, runs, Knowledge(document_columns=properties, kb=keeper.kb), contents)
        if sources.names_of_runs():
            from remix.store.targets import Target

            found = _with_registered(found, keeper, sources, [Target("gold", gold, content)])
    else:
        found = _read_kept(keeper, sources, wanted, runs, contents)
    _tell_gold(found, [*found_runs])
    shelf = tuple(sorted(file.parent for file in (keeper.folder / "kb").glob("*/kb.json")))
    found = _with_entities(replace(found, knowledge=replace(found.knowledge, shelf=shelf)), sources)
    if sources.relax is not None:
        found = _relax(found, sources.relax, gold=wanted.relaxed_gold)
    if sources.link_labels:
        known = found.knowledge
        found = _change(found, with_labels_linked(found.runs, known.kb, known.names), "labels")
    if not sources.seen:
        return found
    if Path(sources.seen).is_file():
        training = read_frames([sources.seen], formats=sources.formats)
    else:
        training = kept_gold(keeper.store, [sources.seen])[0]
    columns = with_seen(found.knowledge.columns, training, found.gold)
    return replace(found, knowledge=replace(found.knowledge, columns=columns))


def _tell_gold(found: Inputs, names: Iterable[str]) -> None:
    """Say of the runs of these names that they are gold itself, where they are."""
    for name in names:
        run = found.runs.get(name)
        if run is None or run.annotations.height > found.gold.annotations.height:
            continue
        pairs = align(found.gold, run, name, told=False)
        rows = run.annotations.join(pairs, on="document").with_columns(document="gold").drop("gold")
        if pairs.height and is_gold(
            found.gold, replace(run, documents=pairs.select(document="gold"), annotations=rows)
        ):
            progress.note(
                f"run '{name}' is gold itself, its mentions with their links: what is scored is no system, unless one "
                "is right everywhere"
            )


def _read_kept(
    keeper: Keeper, sources: Sources, wanted: Wanted, runs: dict[str, Frames], contents: dict[str, str]
) -> Inputs:
    """Return what a workspace holds of gold, and its runs where they are asked for."""
    keeper.ensure_sample(sources.names)
    sources = replace(sources, names=sources.names or _find_answered(keeper, sources, runs))
    gold, targets = kept_gold(keeper.store, sources.names, sources.formats)
    asked = [column for column in wanted.by if not (sources.seen and column in SEEN)]
    measured = [*(column for column in asked if not is_of_errors(column)), *wanted.weight]
    properties = properties_of(gold, measured, sources.names, keeper.store)
    columns, of_documents = measured_columns(gold, keeper.kb, measured, properties)
    percentiles = any(column.endswith("Percentile") for column in wanted.by)
    origins = origins_of(
        keeper.store, sources.names, targets, keeper.kb, documents=wanted.documents, percentiles=percentiles
    )
    gold = Frames.concat([gold, *origins.emptied])
    known = Knowledge(columns, of_documents, kb=keeper.kb, backgrounds=tuple(origins.backgrounds), kept=origins.kept)
    found = Inputs(gold, runs, known, contents, homes=origins.homes)
    if sources.names_of_runs() or not runs:
        found = _with_registered(found, keeper, sources, targets)
    systems = {run_of(column, found.runs)[0] for column in asked if is_of_errors(column)} - found.runs.keys()
    if not systems:
        return found
    others = _with_registered(Inputs(gold, {}), keeper, Sources(systems=tuple(sorted(systems))), targets, told=False)
    return replace(found, others=others.runs)


def _with_registered(
    found: Inputs, keeper: Keeper, sources: Sources, targets: Sequence[Target], *, told: bool = True
) -> Inputs:
    """Return the inputs with the registered runs that are named, by default all that answer gold.

    Raises `UsageError` where a run that is named is on nothing that gold comes from.
    """
    answers = keeper.registered_answers(targets, sources.names_of_runs())
    texts, spans = answers.get("A2KB", {}), answers.get("D2KB", {})
    runs = {name: texts.get(name, spans.get(name)) for name in sorted({*texts, *spans})}
    every = replace(found, made_for={name: "A2KB" if name in texts else "D2KB" for name in runs})
    own = {name: run for name, run in runs.items() if run is not None}
    if told:
        alone = len(own) == 1 and not found.runs
        named = bool(sources.names_of_runs()) or alone
        own = _find_on_gold(every, own, named=named)
    spans = {name: run for name, run in spans.items() if name in own}
    return replace(every, runs={**found.runs, **own}, given_spans=spans)


def _find_on_gold(inputs: Inputs, runs: Mapping[str, Frames], *, named: bool) -> dict[str, Frames]:
    """Return the registered runs that are on anything that gold comes from, and say of what others are not.

    Raises `UsageError` for a run that is `named` and on nothing of it.
    """
    found, elsewhere = {}, dict[tuple[str, str], list[str]]()
    for name, run in runs.items():
        out = inputs.without_answers(name, run)
        free = not out or inputs.gold.documents.height > inputs.gold_of(out).height
        if free:
            found[name] = run
        if not out:
            continue
        homes = sorted({home for home, _ in out})
        on, others = (", ".join(sorted({*one})) for one in (run.documents["dataset"], homes))
        if named and not free:
            raise UsageError(
                f"run '{name}' is registered on {on}, not on {others}, which gold was cut from: `remix run add {name} "
                f"FILE --on {homes[0]}` registers answers to it"
            )
        elsewhere.setdefault((on, others), []).append(f"'{name}'")
    for (on, others), names in elsewhere.items():
        who = f"run {names[0]} is" if len(names) == 1 else f"runs {', '.join(names)} are"
        progress.note(
            f"{who} registered on {on}, so that {'it is' if len(names) == 1 else 'they are'} not scored on {others}"
        )
    return found


def _find_answered(keeper: Keeper, sources: Sources, runs: Mapping[str, Frames]) -> tuple[str, ...]:
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
    if sources.names_of_runs() or not runs:
        answers = keeper.registered_answers(targets, sources.names_of_runs())
        found |= {name for own in answers.values() for run in own.values() for name in run.documents["dataset"]}
    if not found:
        raise BadInput(f"run '{next(iter(runs))}'", "has no document of a dataset that is loaded: name its gold")
    if rest := sorted({*names} - found):
        progress.note(f"scored on {', '.join(sorted(found))}; no run answers {', '.join(rest)}")
    return tuple(sorted(found))


def _with_entities(found: Inputs, sources: Sources) -> Inputs:
    """Return the inputs with the classes, names and hierarchy of entities: of tables, the data, the knowledge base."""
    known, gold = found.knowledge, found.gold
    listed = read_entities(sources.entities) if sources.entities is not None else None
    stated = homes = None
    parts = [*([] if listed is None else [listed]), *([] if known.kb is None else [known.kb.types])]
    if parts or known.backgrounds:
        from remix.measures.classes import with_coarse

        if known.backgrounds:
            # What one dataset says of an entity is not asked about in another.
            homes = pl.concat(background.homes() for background in known.backgrounds)
            said = pl.concat(background.statements() for background in known.backgrounds)
            stated = with_coarse(said).unique().sort("home", "entity", "class")
        none = pl.DataFrame(schema={"entity": pl.String, "class": pl.String})
        types = with_coarse(pl.concat([none, *(part.select(none.columns) for part in parts)]))
        types = types.unique().sort("entity", "class")
        classes = with_types(gold, types, stated, homes)
        known, gold = replace(known, types=types, stated=stated), replace(gold, classes=classes)
    if listed is not None:
        names = listed.select("entity", "name").drop_nulls().unique("entity", maintain_order=True)
        known = replace(known, names=names)
    if sources.hierarchy is not None:
        known = replace(known, subclasses=read_subclasses(sources.hierarchy))
    return replace(found, gold=gold, knowledge=known)


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
