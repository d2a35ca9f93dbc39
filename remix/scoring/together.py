"""Scores of many datasets by one counting, each as it has them alone.

A small dataset takes as long to count as a large one: it is the number of steps. So gold of all datasets is read as if
it were one, and what was counted is cut into datasets again before anything is summed up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import Error
from remix.formats.layers import tells_tokens
from remix.frames import Frames
from remix.question import Question
from remix.scoring import CountedTasks, complete_rows, count_tasks, sort_by_task
from remix.scoring.choice import Choice, number_rows, read_each_chosen
from remix.scoring.errors.columns import complete
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.entities import is_bare
from remix.scoring.inputs.sources import Keeper
from remix.scoring.matching import matching_named
from remix.scoring.rows import expand, rows_of, with_means, with_means_of_repeats
from remix.scoring.tasks import TASKS, takes_spans, task_named

if TYPE_CHECKING:
    from remix.store.targets import Target

_ONE = "together"
"""What all gold is called while it is compared."""
_OF_ROW = ["system", "dataset"]
_CHOSEN = ("datasets", "profile", "task", "match")
"""What questions may choose whose datasets are scored together."""


def evaluate_together(keeper: Keeper, choice: Choice) -> dict[str, pl.DataFrame]:
    """Return the scores of each dataset of the choice, by its name, as `evaluate_question` has them of it alone.

    They do not say which answers cannot be compared to gold's entities, and have neither signatures nor rows of InKB
    and its like: each takes a fifth as long as all else, and comes with intervals. Those are missing that are to be
    asked for alone: what cannot be read, and what is not counted by documents.
    """
    if not is_by_document(choice):
        return {}
    with suppress(Error):  # who asks for it alone is told
        read = read_together(keeper, choice)
        return {name: with_means_of_repeats(rows) for name, rows in score_together(read, choice).items()}
    return {}


def read_together(keeper: Keeper, choice: Choice) -> dict[str, Inputs]:
    """Return by dataset what `read_chosen` returns of it alone, of those that can be read and have a run."""
    every = _KeeperOfMany(keeper, choice.datasets)
    typed = any(task_named(task).of_classes for task in expand(choice).task)
    return read_each_chosen(every, choice, [*every.answers], typed=typed)


class _KeeperOfMany:
    """A keeper that looks once at what is the same for many datasets."""

    def __init__(self, keeper: Keeper, datasets: Sequence[str]) -> None:
        self.store, self.kb = keeper.store, keeper.kb
        self.answers = keeper.registered_answers_to_each(datasets)
        self._unrevised = keeper.unrevised_runs(datasets)

    def registered_answers(
        self, gold: Sequence[Target], names: Iterable[str] = ()
    ) -> Mapping[str, Mapping[str, Frames]]:
        """Return the answers of all registered runs to the one dataset of gold."""
        return self.answers[gold[0].name]

    def registered_answers_to_each(self, datasets: Collection[str]) -> Mapping[str, Mapping[str, Mapping[str, Frames]]]:
        """Return the answers to each of these datasets."""
        return {name: found for name, found in self.answers.items() if name in datasets}

    def unrevised_runs(self, on: Collection[str]) -> frozenset[tuple[str, str, str]]:
        """Return name, task and dataset of the runs on these datasets that tell no revision of their texts."""
        return frozenset(one for one in self._unrevised if one[2] in on)

    def ensure_sample(self, names: Iterable[str] = ()) -> bool:
        """Return that nothing was loaded: what is read has runs."""
        return False


def is_by_document(choice: Choice) -> bool:
    """Return whether points of registered runs are asked for, by a profile, tasks and matchings that count by document.

    >>> from remix.scoring.choice import choose
    >>> asked = Question(datasets=("news",), task=("A2KB",), match=("strong",))
    >>> is_by_document(choose(asked)), is_by_document(choose(replace(asked, by=("class",))))
    (True, False)
    """
    asked, plain = ({**vars(one), **dict.fromkeys(_CHOSEN)} for one in (choice, Question()))
    if asked != plain or not choice.profile.by_document:
        return False
    counted = expand(choice)
    if not all(task.partition("(")[0] in TASKS and task_named(task).by_document for task in counted.task):
        return False
    return all(matching_named(name).by_document for name in counted.match)


def score_together(every: Mapping[str, Inputs], choice: Choice) -> dict[str, pl.DataFrame]:
    """Return the scores of each dataset by its name, as `score_inputs` returns them of its inputs alone.

    They are unsigned, and none of them is of InKB or its like. The choice is one that `is_by_document`. Those are
    missing whose documents or answers are to be looked at alone, as those of remixes are.
    """
    own = _take_runs({name: inputs for name, inputs in every.items() if _is_plain(inputs)}, choice)
    own = _with_own_documents(own)
    choice = replace(choice, profile=replace(choice.profile, kb_rows=""))
    if len(own) < 2:
        return {}
    datasets = pl.concat(inputs.gold.documents.select("document", dataset=pl.lit(name)) for name, inputs in own.items())
    if datasets["document"].n_unique() < len(datasets):
        return {}
    with progress.enable(False):  # what is odd is said where a dataset is asked for alone
        found = count_tasks(_stack([*own.values()]), choice, datasets=datasets)
        return _cut(found, own, choice)


def _is_plain(inputs: Inputs) -> bool:
    """Return whether gold is one loaded dataset, as it is, and no run is laid on its tokens."""
    known = inputs.knowledge
    return (
        len(known.backgrounds) == 1
        and not (known.kept or known.backgrounds[0].queries or known.backgrounds[0].selected_by)
        and inputs.gold.documents["dataset"].n_unique() == 1
        and not any(tells_tokens(run) for run in (*inputs.runs.values(), *inputs.given_spans.values()))
        and not (inputs.gold.annotations["ignorable"] == "dropped").any()
    )


def _take_runs(every: Mapping[str, Inputs], choice: Choice) -> dict[str, Inputs]:
    """Return the inputs with the runs that were made for the tasks that are asked for, as far as that is one kind."""
    kinds = {takes_spans(task) for task in choice.task}
    found = {}
    for name, inputs in every.items():
        if len(kinds) == 1 or not inputs.given_spans:
            with suppress(Error):
                found[name] = complete(inputs.with_runs_for(spans=kinds == {True}), choice)
    types = [inputs.knowledge.types for inputs in found.values()]
    same = all(one is types[0] or (one is not None and types[0] is not None and one.equals(types[0])) for one in types)
    return {name: inputs for name, inputs in found.items() if inputs.runs and inputs.made_for} if same else {}


def _with_own_documents(every: Mapping[str, Inputs]) -> dict[str, Inputs]:
    """Return the inputs whose runs have the very documents of gold, and links that are all IRIs.

    What else a run is on, and whether names are titles, is found in view of all of gold and of all runs.
    """
    if not every:
        return {}
    names, told = [*every], ["document", "given", "text"]
    systems = [system for inputs in every.values() for system in inputs.runs]
    runs = [(home, run) for home, inputs in enumerate(every.values()) for run in inputs.runs.values()]
    of_runs = pl.DataFrame({"home": [home for home, _ in runs], "system": systems}).with_row_index("run")
    gold = number_rows([inputs.gold.documents for inputs in every.values()], "home").select("home", *told)
    answered = number_rows([run.documents for _, run in runs], "run").select(pl.col("run").cast(pl.UInt32), *told)
    answered = answered.join(of_runs, on="run", maintain_order="left")
    rows = answered.join(gold, on=["document", "home"], how="left", suffix="_of_gold", coalesce=True)
    text, known = (pl.col(one).str.strip_chars_end() for one in ("text", "text_of_gold"))
    same = (pl.col("given") == pl.col("given_of_gold")).fill_null(True) & (text.is_null() | (text == known))
    there = pl.col("text_of_gold").is_not_null() & same.fill_null(False)
    alone = pl.struct("document", "system").is_unique()
    others = {*rows.filter(~(there & alone))["home"]}
    linking = [*enumerate(inputs.gold for inputs in every.values()), *runs]
    links = number_rows([frames.links["entity"].to_frame() for _, frames in linking], "nth")
    others |= {linking[nth][0] for nth in links.filter(is_bare(pl.col("entity")))["nth"].unique()}
    return {name: every[name] for home, name in enumerate(names) if home not in others}


def _stack(every: Sequence[Inputs]) -> Inputs:
    """Return the inputs as if all gold were one dataset, and the answers of a system one run on it.

    Runs have no texts: that theirs are those of gold was seen (`_with_own_documents`), and is not looked at again. They
    keep them where a mention has no place: all are told apart by their forms then, which may stand in the text alone.
    """
    sides = [side for inputs in every for side in (inputs.gold, *inputs.runs.values())]
    placed = not any(side.annotations["begin"].null_count() for side in sides)
    none = {name: pl.lit(None, pl.String) for name in ("text", "given") if placed}
    runs = dict[str, Frames]()
    for system in sorted({name for inputs in every for name in inputs.runs}):
        run = Frames.concat(inputs.runs[system] for inputs in every if system in inputs.runs).in_dataset(_ONE)
        runs[system] = replace(run, documents=run.documents.with_columns(**none))
    known = every[0].knowledge
    stated = [inputs.knowledge.stated for inputs in every if inputs.knowledge.stated is not None]
    known = replace(
        known,
        stated=pl.concat(stated) if stated else None,
        backgrounds=tuple(one for inputs in every for one in inputs.knowledge.backgrounds),
    )
    return Inputs(Frames.concat(inputs.gold for inputs in every).in_dataset(_ONE), runs, known)


def _cut(found: CountedTasks, every: Mapping[str, Inputs], choice: Choice) -> dict[str, pl.DataFrame]:
    """Return the rows of each dataset, made of the counts of its own documents and runs."""
    registered = pl.DataFrame(
        [(system, name) for name, inputs in every.items() for system in inputs.runs],
        schema=dict.fromkeys(_OF_ROW, pl.String),
        orient="row",
    )
    counts = found.counts.filter(pl.col("dataset") != "all").join(
        registered, on=_OF_ROW, how="semi", maintain_order="left"
    )
    places = found.whole.mentions.documents
    rows = with_means(rows_of(counts, places, found.inputs.runs, found.choice), choice)
    rows = sort_by_task(rows.join(registered, on=_OF_ROW, how="semi", maintain_order="left"), choice)
    parts, own_counts = (
        {
            str(name): part.with_columns(dataset=pl.lit("all"))
            for (name,), part in table.partition_by("dataset", as_dict=True, maintain_order=True).items()
        }
        for table in (rows, counts)
    )
    cut = {}
    for name, inputs in every.items():
        own = replace(found, inputs=inputs, counts=own_counts.get(name, counts.clear()))
        cut[name] = complete_rows(parts[name], own, None)
    return cut
