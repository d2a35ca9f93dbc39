"""The question that an evaluation answers: what is read and what is asked of it, said once.

The fields of `Question` are the options of `remix evaluate` and `remix compare`, the keyword parameters of the methods
of the workspace and of `remix.scoring.evaluate`, what addresses of pages say, and what stored evaluations keep. So one
name stands for one thing everywhere, and to add an option is to add a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from remix.errors import UsageError, nearest

if TYPE_CHECKING:
    from remix.frames import Frames

Profile = TypeVar("Profile")
"""The name of a profile, as users say it, or the profile itself, once it is looked up (`remix.scoring.choice`)."""


Several: TypeAlias = "str | Iterable[str]"
"""One name or several."""


@overload
def several(given: Several) -> tuple[str, ...]: ...
@overload
def several(given: Path | str | Iterable[Path | str]) -> tuple[Path | str, ...]: ...
@overload
def several(given: object) -> tuple[Any, ...]: ...
def several(given: Any) -> tuple[Any, ...]:
    """Return what was given as a tuple: one name, path or thing alone is a tuple of one.

    >>> several("prior"), several(["prior", "mine"])
    (('prior',), ('prior', 'mine'))
    """
    return (given,) if isinstance(given, str | Path) or not isinstance(given, Iterable) else tuple(given)


@dataclass(frozen=True)
class Option:
    """How the command line asks for a field of `Question`, and which values it may have anywhere.

    `words` are other names of the option and what stands for its value in the help, `choices` the values that there
    are, `least` the smallest number, `default_text` what help says of a default that is empty. What has to be a file
    (`is_file`) is no folder. What `reads` says what is read and from where; the others are asked of what was read.
    """

    help: str
    words: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    default_text: str = ""
    is_file: bool = False
    reads: bool = False


def _option(default: object, help: str, words: str = "", **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(help, words, **more)})


@dataclass(frozen=True, kw_only=True)
class Question(Generic[Profile]):
    """What is asked of an evaluation.

    - `datasets`: of the workspace, or files, such as remixes, that are read beside it; by default all datasets that the
      runs have a document of. Files of `gold` stand in their place: of the workspace the knowledge base alone is looked
      at, and runs by name;
    - `run`: names of registered runs, and answers as `NAME=FILE` settings; files of one name add up; `answers` are
      those in memory, by the name of the run; without any run all that answer gold are scored;
    - `format`: as `remix.formats.settings.format_for` has it;
    - `task`, `match`: those of the profile unless given; a task can name its own, `A2KB(match=weak)`;
    - `by`: `class`, any column of what is known, a property or a measure; `a,b` crosses them, `a:quantiles:4` cuts
      numbers (see `remix.measures.partitions.breakdown`);
    - `documents`: in which documents answers count, 'all' of gold's or those with a 'kept' mention (see
      `remix.scoring.inputs.gold`);
    - `unit`: what macro averages and intervals are over, 'document' or 'context';
    - `samples`, `seed`: how many draws the p of slices is a share of, and what they are drawn by;
    - `entities`, `hierarchy`, `relax`, `seen`, `link_labels`: what is known of entities and mentions beside gold, as
      `remix.scoring.inputs.entities` and `remix.scoring.inputs.properties` read it;
    - `scope`: the class that gold was cut down to, where it is a remix by class; it goes before the queries;
    - `spans`: 'all' leaves dropped spans in D2KB's input, 'kept' takes them out, for D2KB alone;
    - `intervals`: whether scores have intervals of 95 % (`remix.scoring.statistics.intervals`) and, with `by`, slices
      are tested; `against` is the slice that others are held against, by default the whole, 'all';
    - `errors`: taxonomies (`remix.scoring.errors`) whose classes are counted in rows of their own;
    - `weight`: how much each annotation of gold is required (`remix.scoring.statistics.weights.weights_of`);
    - `threshold`: which answers count by their confidence (`remix.scoring.statistics.thresholds.threshold_rule`);
    - `fix_offsets`: read the offsets of runs that `remix.scoring.matching.offsets.wrong_offsets` finds to count in
      other units as what they seem to be, document by document; without it that is only said.

    Raises `UsageError` for values that there are not, and for those that do not go together.

    >>> Question(spans="some")
    Traceback (most recent call last):
    remix.errors.UsageError: spans is 'all' or 'kept', not 'some'
    """

    datasets: tuple[str, ...] = ()
    gold: tuple[Path | str, ...] = _option((), "File of gold; the workspace is not used.", reads=True)
    run: tuple[str, ...] = _option(
        (),
        "A registered run (`remix run list`), or answers in a file; files of one NAME add up. Default: all "
        "registered runs that answer gold.",
        "NAME[=FILE]",
        reads=True,
    )
    answers: Mapping[str, Frames] = field(default_factory=dict, compare=False)
    format: tuple[str, ...] = _option(
        (),
        "Format of the files, or of one of them (default: from content and suffix; see `remix list formats`); a "
        "mapping is named by its TOML file (docs/formats.md).",
        "--map format NAME[=FILE]",
        reads=True,
    )
    system: tuple[str, ...] = _option((), "A registered run, too, by its system.", reads=True)
    profile: Profile = _option(
        "remix",
        "Whose conventions are followed; `evaluate` shows several (a,b or all) side by side with what makes the "
        "difference.",
    )
    task: tuple[str, ...] = _option((), "A2KB, D2KB, C2KB, ERec, … (default: the profile's).")
    match: tuple[str, ...] = _option((), "strong, weak, … (default: the profile's).")
    by: tuple[str, ...] = _option(
        (),
        "Break down by class, type, kb, a measure, a property of documents (dcterms:subject) or the errors of a "
        "run (error:SYSTEM); a,b crosses two; schemes: log-deciles, quantiles:4, thresholds:3,5, head-torso-tail.",
        "COLUMN[:SCHEME]",
    )
    min_support: int = _option(0, "Leave out slices of fewer mentions.", "N", least=0)
    documents: str = _option(
        "",
        "Documents whose answers count: all, or those with a kept mention (default: all; of a remix whose origins "
        "are not loaded, kept).",
        "all|kept",
        choices=("", "all", "kept"),
    )
    unit: str = _option(
        "document",
        "What samples draw: documents, or their lines (of a text in one line: sentences).",
        choices=("document", "context"),
    )
    seed: int = _option(0, "Seed of the samples.", "N", least=0)
    entities: Path | str | None = _option(None, "Types of entities (TSV: entity, name, types).", reads=True)
    hierarchy: Path | str | None = _option(
        None,
        "RDF file with rdfs:subClassOf (default: the knowledge base's): for ETyping and RT2KB, --match graded and "
        "--errors hierarchy.",
        reads=True,
    )
    scope: str = _option("", "Class that gold was cut down to (P in scope), if not by its query.", "CLASS")
    spans: str = _option("all", "Spans given in D2KB.", choices=("all", "kept"))
    intervals: bool = _option(False, "Intervals of 95 %, over documents; with --by, tests of slices.")
    samples: int = _option(1_000, "How many draws the p of slices is a share of.", "N", least=100)
    against: str = _option("", "Slice that others are held against (--by, --intervals); else all.", "SLICE")
    errors: tuple[str, ...] = _option((), "Count the classes of errors of elevant, neleval, …", "TAXONOMY")
    relax: Path | str | None = _option(
        None,
        "Table of entities (main item, then those it stands for) that runs may answer for each other; times are NIL.",
        "MAPPING",
        is_file=True,
        reads=True,
    )
    seen: str = _option(
        "",
        "Training set: adds the columns seenForm, seenEntity and seenPair to break down by.",
        "DATASET|FILE",
        reads=True,
    )
    link_labels: bool = _option(
        False, "Link labels that a model answered to the one entity that is called so.", reads=True
    )
    weight: str = _option(
        "",
        "Fuzzy recall R* and F1*: strict, relaxed:0.5, a file (weight and class or annotation), or a numeric column. "
        "With --profile neleval a file of type weights (class of gold, class of the answer, weight).",
        "RULE",
    )
    fix_offsets: bool = _option(
        False, "Read offsets that count in other units as what they seem to be, document by document."
    )
    threshold: str = _option(
        "",
        "Confidence above which answers count: none, 0.3, tuned:DATASET (the best there) or oracle (the best here).",
        "RULE",
        default_text="none, or the profile's own",
    )

    def __post_init__(self) -> None:
        """Refuse values that there are not, and what does not go together."""
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if option.choices and value not in option.choices:
                known = " or ".join(f"'{one}'" for one in option.choices if one)
                raise UsageError(f"{name} is {known}, not '{value}'")
            if option.least is not None and value < option.least:
                raise UsageError(f"{name} is {option.least} or more, not {value}")
        if self.against and not (self.by and self.intervals):
            raise UsageError(f"--against {self.against} tests slices: it goes with --by and --intervals")

    def as_json(self: Question[str]) -> dict[str, Any]:
        """Return the fields as JSON has them; raises `UsageError` for answers in memory, which have no name there."""
        if self.answers:
            raise UsageError(f"'{next(iter(self.answers))}' is answers in memory: write them to a file and name that")
        return {name: _plain(getattr(self, name)) for name in NAMES}

    @staticmethod
    def of_json(given: Mapping[str, Any]) -> Question[str]:
        """Return the question of fields as `as_json` returns them, or as an address says them: as texts.

        Raises `UsageError` for a name that no field has.

        >>> Question.of_json({"task": "A2KB", "seed": "7"}) == Question(task=("A2KB",), seed=7)
        True
        """
        if unknown := [name for name in given if name not in NAMES]:
            raise UsageError(f"nothing is called '{unknown[0]}' here{nearest(unknown[0], NAMES)}")
        return Question(**{name: _value(NAMES[name], given[name]) for name in given})

    def bare(self) -> Question[Profile]:
        """Return the question of the same gold, runs, profile, tasks and matchings that asks nothing else."""
        read = {name: getattr(self, name) for name, option in OPTIONS.items() if option.reads}
        own = {"datasets": self.datasets, "answers": self.answers, "profile": self.profile, "task": self.task}
        return Question(**{**read, **own, "match": self.match})

    def only(self, kept: Question[Profile], otherwise: str) -> None:
        """Raise `UsageError`, whose end is `otherwise`, where more is asked of what is read than `kept` asks."""
        for name, option in OPTIONS.items():
            if not option.reads and getattr(self, name) != getattr(kept, name):
                raise UsageError(f"--{name.replace('_', '-')} {otherwise}")

    def refuse_two_golds(self) -> None:
        """Raise `UsageError` where gold is named and given as files."""
        if self.datasets and self.gold:
            named, file = self.datasets[0], self.gold[0]
            raise UsageError(
                f"{named} and --gold {file} are both gold: to score runs on both, name the file without --gold; "
                f"`remix compare {named} --gold {file} --agreement` holds the two annotations against each other"
            )

    def of_each_gold(self) -> list[Question[Profile]]:
        """Return the question of each dataset or file of gold for itself."""
        return [replace(self, datasets=(name,), gold=()) for name in self.datasets] + [
            replace(self, datasets=(), gold=(file,)) for file in self.gold
        ]

    def on(self, dataset: str) -> Question[Profile]:
        """Return the question with one dataset, or a file where gold is in files, in the place of gold."""
        place = {"gold": (dataset,), "datasets": ()} if self.gold else {"datasets": (dataset,)}
        return replace(self, **place, seen="")

    @property
    def registered(self) -> tuple[str, ...]:
        """Return the names of registered runs that are asked for."""
        return (*(one for one in self.run if "=" not in one), *self.system)


OPTIONS: dict[str, Option] = {one.name: one.metadata["option"] for one in fields(Question) if one.metadata}
"""The options of the command line by the fields that they ask for, in the order of the help."""
NAMES: dict[str, Any] = {one.name: one.default for one in fields(Question) if one.name != "answers"}
"""The fields that can be said in words, with their defaults."""


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [*map(str, value)]
    return value if isinstance(value, bool | int | None) else str(value)


def _value(default: Any, given: Any) -> Any:
    """Return what is given for a field, as the field has it."""
    if isinstance(default, tuple):
        return (given,) if isinstance(given, str) else tuple(given)
    if isinstance(default, bool):
        return str(given) == "True"
    return int(given) if isinstance(default, int) else given
