"""Gold, runs and entities from files and from a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from remix import formats, iris, progress
from remix.errors import BadInput, UsageError
from remix.files import default_name, read_bytes
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.names import EL, RMX
from remix.scoring.choice import Choice
from remix.scoring.columns import columns_of
from remix.scoring.evaluation import evaluate
from remix.scoring.kept import kept_gold, kept_runs, measured_columns
from remix.scoring.profiles import PROFILES
from remix.scoring.repeats import contents_of_repeats, repeats_of, with_means
from remix.scoring.seen import SEEN, with_seen
from remix.scoring.signatures import signed
from remix.scoring.weights import column_weighed_by
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store

__all__ = [
    "Inputs",
    "Keeper",
    "evaluated",
    "read_entities",
    "read_contents",
    "read_frames",
    "read_inputs",
    "run_files",
    "side_by_side",
    "with_coarse",
    "with_types",
]


class Keeper(Protocol):
    """What a workspace has to be scored."""

    @property
    def store(self) -> Store:
        """Return the store of datasets."""

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the knowledge base, None without one."""

    @property
    def runs_folder(self) -> Path:
        """Return the folder of runs."""

    def ensure_sample(self) -> bool:
        """Return whether the workspace was empty and has the sample corpus now."""


WD = "http://www.wikidata.org/entity/"


def evaluated(
    keeper: Keeper,
    names: Sequence[str],
    gold: Sequence[Path | str],
    runs: Sequence[str],
    *,
    systems: Sequence[str] = (),
    by: Sequence[str] = (),
    entities: Path | None = None,
    hierarchy: Path | None = None,
    seen: str = "",
    link_labels: bool = False,
    **choices: Any,
) -> tuple[pl.DataFrame, list[str]]:
    """Return the scores, as `remix.scoring.evaluate` has them, and the names of gold's datasets.

    Gold is the files of `gold`, without the workspace and its knowledge base, or the datasets and files of `names`.
    Runs are `NAME=FILE` settings, or else the kept runs of `systems`. `hierarchy` is a file with rdfs:subClassOf;
    `seen` is a training set, a dataset or a file, that adds the columns of `remix.scoring.seen`;
    `link_labels` links answered labels as `remix.scoring.label_links` does. The other choices are those of `evaluate`.
    """
    if hierarchy is not None:
        from remix.scoring.hierarchies import read_subclasses

        choices["subclasses"] = read_subclasses(hierarchy)
    told = {*PROFILES[choices.get("profile", "remix")].slices, *(SEEN if seen else ())}
    measured = [column for column in columns_of(by) if column not in told] + column_weighed_by(
        choices.get("weight", "")
    )
    found = read_inputs(keeper, names, gold, runs, systems, measured, entities)
    if (threshold := str(choices.get("threshold", ""))).startswith("tuned:"):
        other = threshold.partition(":")[2]
        own, files = ((), [other]) if gold else ([other], ())
        tuning = read_inputs(keeper, own, files, runs, systems, (), entities)
        choices["tuning"] = (tuning.gold, tuning.runs)
    if link_labels:
        found = _with_labels_linked(found)
    tables = with_seen(found.tables, _training(keeper, seen), found.gold) if seen else found.tables
    rows = evaluate(found.gold, found.runs, by=by, contents=found.contents, **tables, **found.known, **choices)
    return with_means(rows), found.gold.documents["dataset"].unique().sort().to_list()


def _with_labels_linked(found: Inputs) -> Inputs:
    from remix.scoring.label_links import with_labels_linked

    runs = with_labels_linked(found.runs, found.known["kb"], found.known.get("names"))
    # The files are the same, what is made of them is not.
    contents = {name: content_hash(known, "labels") if name else known for name, known in found.contents.items()}
    return replace(found, runs=runs, contents=contents)


def _training(keeper: Keeper, seen: str) -> Frames:
    """Return the training set: a dataset of the workspace or a file."""
    return read_frames([seen]) if Path(seen).is_file() else kept_gold(keeper.store, [seen])[0]


def side_by_side(
    keeper: Keeper,
    names: Sequence[str],
    gold: Sequence[Path | str],
    runs: Sequence[str],
    *,
    profile: str,
    systems: Sequence[str] = (),
    entities: Path | None = None,
    every: bool = True,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows of several profiles, the score of each that is held against the others', and the differences.

    `profile` names them, separated by commas, or is 'all'; see `remix.scoring.differences` for the last two tables.
    The rows are all of a profile's (`every`) or those of that score. The rest is as for `evaluated`.
    """
    from remix.scoring.differences import Counting, differences, headlines, profile_names

    chosen = profile_names(profile)
    found = read_inputs(keeper, names, gold, runs, systems, (), entities)
    rows = []
    with progress.once():
        for name in chosen:
            shown = {} if every else {"tasks": PROFILES[name].headline[:1], "matchings": PROFILES[name].headline[1:]}
            known: dict[str, Any] = {**found.tables, **found.known, **shown}
            rows.append(evaluate(found.gold, found.runs, profile=name, contents=found.contents, **known))
        counting = Counting(found.gold, found.runs, found.known)
        return pl.concat(rows, how="diagonal_relaxed"), headlines(counting, chosen), differences(counting, chosen)


@dataclass(frozen=True)
class Inputs:
    """What is evaluated: gold, runs, the hashes of their files, tables to slice by, and what is known of entities."""

    gold: Frames
    runs: dict[str, Frames]
    contents: dict[str, str]
    tables: dict[str, Any]
    known: dict[str, Any]

    def signed(self, choice: Choice) -> pl.DataFrame:
        """Return system and `signature`, as `remix.scoring.signatures.signed` has them."""
        tables, contents = list(self.tables.values()), self.contents
        return signed(choice, self.gold, self.runs, columns=tables, contents=contents, **self.known)


def read_inputs(
    keeper: Keeper,
    names: Sequence[str],
    gold: Sequence[Path | str],
    runs: Sequence[str],
    systems: Sequence[str],
    measured: Sequence[str],
    entities: Path | None,
) -> Inputs:
    """Return gold and runs by their names or files; `measured` are the columns that may be measures."""
    if bool(names) == bool(gold) or (gold and not runs):
        raise UsageError("name datasets or remixes to score kept runs on, or give files: --gold FILE --run NAME=FILE")
    types = called = read_entities(entities) if entities is not None else None
    read = {name: read_contents(files, unannotated=True) for name, files in run_files(runs).items()}
    answers, contents = (
        {name: run for name, (run, _) in read.items()},
        {name: known for name, (_, known) in read.items()},
    )
    answers = repeats_of(answers)
    contents = contents_of_repeats(answers, contents)
    if gold:
        frames, content = read_contents(gold)
        contents[""] = content_hash(content, *frames.documents["dataset"].unique().sort())
        kb, columns, of_documents, background = None, None, None, None
    else:
        from remix.scoring.origins import background_of

        keeper.ensure_sample()
        frames, targets = kept_gold(keeper.store, names)
        kb = keeper.kb
        columns, of_documents = measured_columns(frames, kb, measured)
        background = background_of(keeper.store, names, targets, kb)
        types = pl.concat([read for read in (types, _stated(frames)) if read is not None], how="diagonal")
        if systems or not runs:
            answers |= kept_runs(keeper.runs_folder, targets, systems)
    if types is not None or kb is not None:
        types = with_coarse([types, kb.types if kb is not None else None])
        frames = replace(frames, classes=with_types(frames, types))
    known: dict[str, Any] = {"types": types, "kb": kb, "background": background}
    if called is not None:
        known["names"] = called.select("entity", "name").drop_nulls().unique("entity", maintain_order=True)
    return Inputs(frames, answers, contents, {"columns": columns, "document_columns": of_documents}, known)


def _stated(gold: Frames) -> pl.DataFrame:
    """Return entity and class as the data say it of the mentions; fine-grained categories are not about entities."""
    of_entities = ~(pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX))
    return gold.classes.filter(of_entities).join(gold.links, on="annotation").select("entity", "class").unique()


def with_coarse(parts: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Return entity and class of all parts, with the coarse class that a class maps to in its vocabulary."""
    from remix.measures._classes import class_mapping

    found = [part.select("entity", "class") for part in parts if part is not None]
    types = pl.concat([pl.DataFrame(schema={"entity": pl.String, "class": pl.String}), *found])
    coarse = types.join(class_mapping(), on="class").select("entity", pl.col("coarse").alias("class"))
    return pl.concat([types, coarse]).unique().sort("entity", "class")


def with_types(gold: Frames, types: pl.DataFrame) -> pl.DataFrame:
    """Return annotation, class, of_entity: those of the data, those of the linked entities, and their coarse ones."""
    from remix.measures._classes import class_mapping

    of_links = gold.links.join(types.drop_nulls("class"), on="entity")
    derived = [of_links.select("annotation", "class", of_entity=pl.lit(True))]
    classes = pl.concat([gold.classes.select("annotation", "class", "of_entity"), *derived])
    coarse = classes.join(class_mapping(), on="class").select("annotation", pl.col("coarse").alias("class"))
    classes = pl.concat([classes, coarse.with_columns(of_entity=pl.lit(True))])
    return classes.group_by("annotation", "class").agg(pl.col("of_entity").min()).sort("annotation", "class")


def read_frames(files: Sequence[Path | str], *, unannotated: bool = False) -> Frames:
    """Return the documents and annotations of the files, one after another; each file is a dataset of its name.

    Files of one name are told apart by an ordinal. `unannotated` accepts texts without annotations, as a system
    without answers leaves them. What was repaired is told. Raises `BadInput` for a file that cannot be read.
    """
    return read_contents(files, unannotated=unannotated)[0]


def read_contents(files: Sequence[Path | str], *, unannotated: bool = False) -> tuple[Frames, str]:
    """Return what `read_frames` does, and the hash of the files' contents, which is the same under other names."""
    parts, contents = [], []
    names: dict[str, int] = {}
    for file in files:
        stem = default_name(file)
        names[stem] = names.get(stem, 0) + 1
        name = f"{stem}-{names[stem]}" if names[stem] > 1 else stem
        frames, content = _read_one(file, name, unannotated=unannotated)
        contents.append(content)
        named = pl.lit(name).alias("dataset")
        parts.append(
            replace(
                frames,
                documents=frames.documents.with_columns(named),
                annotations=frames.annotations.with_columns(named),
            )
        )
    return Frames.concat(parts), content_hash(*contents)


def _read_one(file: Path | str, name: str, *, unannotated: bool) -> tuple[Frames, str]:
    """Return the frames of a file or of a folder of frames, and the hash of its content."""
    if is_frames_folder(file):
        folder = FramesFolder.open(file)
        return folder.read(range(folder.parts)), content_hash(*sorted(folder.path.glob("*/part-*.parquet")))
    reading = formats.read(file, name=name, unannotated=unannotated)
    for repair in reading.report.repairs:
        if repair.kind not in formats.NOTED:
            progress.note(f"{reading.report.file}: {repair.kind} ({repair.count}), first: {repair.example}")
    return reading.frames, reading.content


def run_files(settings: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system from `NAME=FILE` settings, split at the first `=`.

    >>> run_files(["a=x.ttl", "b=y=z.ttl", "a=w.ttl"])["a"]
    [PosixPath('x.ttl'), PosixPath('w.ttl')]
    """
    found: dict[str, list[Path]] = {}
    for setting in settings:
        name, equals, file = setting.partition("=")
        if not (name and equals and file):
            raise UsageError(f"'{setting}' is no NAME=FILE: write --run tagme={setting or 'tagme.ttl'}")
        found.setdefault(name, []).append(Path(file))
    return found


def read_entities(file: Path | str) -> pl.DataFrame:
    """Return entity, name and class of a TSV with the columns entity, name, types (separated by `|`).

    A row per type; entities without types have one row whose class is null. Wikidata's Q numbers become IRIs, other
    entities their canonical form. Raises `BadInput` for a file without these columns.
    """
    try:
        rows = pl.read_csv(read_bytes(file), separator="\t", infer_schema=False, quote_char=None)
    except pl.exceptions.PolarsError as error:
        raise BadInput(file, f"is no table ({' '.join(str(error).split())[:150]})") from None
    if missing := {"entity", "types"} - set(rows.columns):
        raise BadInput(file, f"has no column {' and no column '.join(sorted(missing))}; it needs entity, name, types")
    if "name" not in rows.columns:
        rows = rows.with_columns(name=pl.lit(None, pl.String))
    rows = rows.select("entity", "name", pl.col("types").str.split("|").alias("class")).explode("class")
    numbered = [
        pl.when(pl.col(name).str.contains("^Q[0-9]+$")).then(pl.lit(WD) + pl.col(name)).otherwise(name).alias(name)
        for name in ("entity", "class")
    ]
    rows = rows.with_columns(numbered)
    bare = ~pl.col("class").str.contains(":", literal=True)
    rows = rows.with_columns(pl.when(bare).then(pl.lit(RMX) + pl.col("class")).otherwise("class").alias("class"))
    return rows.with_columns(entity=iris.canonical(rows["entity"]))
