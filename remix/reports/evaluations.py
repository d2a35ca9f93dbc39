"""What `remix evaluate` and `remix compare` print and keep: data for machines, tables and what they mean for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from remix import progress
from remix.errors import Error, UnknownName, UsageError
from remix.question import Question
from remix.reports.doubts import explain_shortcomings
from remix.reports.overview import (
    BROADEST,
    explain_overview,
    headline_rows,
    systems_by_datasets,
    tell_more,
    with_equal_averages,
)
from remix.reports.plots import save
from remix.reports.readable import (
    explain_precisions,
    explain_slices,
    fold_rows,
    legend,
    readable_errors,
    readable_tables,
    signature_lines,
)
from remix.reports.scores import DRAWN, figure_of_curve, figure_of_scores, figure_of_slices
from remix.scoring import evaluate_profiles, evaluate_question
from remix.scoring.choice import Choice, choose
from remix.scoring.differences import difference_lines
from remix.scoring.inputs.files import run_files
from remix.scoring.inputs.sources import Keeper
from remix.scoring.reproduction import check, read_record, write_record
from remix.scoring.tasks import takes_spans
from remix.signature import Signature
from remix.tables import Printed

SHORT = {"precision": "P", "recall": "R"}
"""What tables call the scores that are no F1."""


class ShownTables(NamedTuple):
    """What people are shown of rows: tables one below the other, lines that say what they are, titles above tables."""

    tables: Sequence[pl.DataFrame]
    lines: Sequence[str]
    titles: Sequence[str] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Report(Printed):
    """What a verb prints: `rows` as data, or what people are shown of them, which `show` makes at the first look.

    `kinds` says of which kind registered runs are (`remix.runs.known`); answers in files are a system's.
    """

    rows: pl.DataFrame
    show: Callable[[], ShownTables]
    kinds: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def _shown(self) -> ShownTables:
        return self.show()

    @property
    def tables(self) -> Sequence[pl.DataFrame]:
        """Return the tables that people are shown."""
        return self._shown.tables

    @property
    def lines(self) -> Sequence[str]:
        """Return the lines below the tables, which say what they are."""
        return self._shown.lines

    def data(self, form: str) -> pl.DataFrame:
        """Return the rows in a format of data."""
        return self.rows

    @property
    def titles(self) -> Sequence[str]:
        """Return what stands above each table, where they have titles."""
        return self._shown.titles

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return how many rows there are, and the first table."""
        titles = [title for title in self.titles if title]
        more = f" (tables: {', '.join(titles)})" if len(titles) > 1 else ""
        return f"{len(self.rows)} rows{more}", self.tables[0] if self.tables else self.rows


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationReport(Report):
    """The scores of runs; `datasets` are the names of gold's.

    `rows` have the slices that were asked for, `unasked` those of InKB, EE and GSInKB as well, where nobody asked for
    them. `undrawn` is why a plot could not be drawn, which loses no scores.
    """

    datasets: Sequence[str] = ()
    unasked: pl.DataFrame = field(default_factory=pl.DataFrame)
    undrawn: Error | None = None

    def data(self, form: str) -> pl.DataFrame:
        """Return the rows in a format of data: JSON and Parquet hold every evaluation's InKB, EE and GSInKB as well."""
        return self.rows if form == "csv" else self.every_row

    @property
    def every_row(self) -> pl.DataFrame:
        """Return `rows` with those of InKB, EE and GSInKB, which every evaluation counts, in their places."""
        return self.rows if self.unasked.is_empty() else self.unasked

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return how many rows there are, what could not be drawn, and the first table."""
        told, table = super().preview()
        return (told if self.undrawn is None else f"{told}; not drawn: {self.undrawn}"), table


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonReport(Report):
    """Systems, or two annotations, against each other; see `remix.scoring.comparison.Comparison` for the frames."""

    scores: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)
    correlations: pl.DataFrame = field(default_factory=pl.DataFrame)
    f1_precision: str = "all"
    signature: str = ""


def evaluation_report(
    keeper: Keeper,
    question: Question[str],
    *,
    every: bool = True,
    full: bool = False,
    store: bool = False,
    record: Path | None = None,
    plots: Sequence[str] = (),
    plot_width: str = "screen",
) -> EvaluationReport:
    """Return the scores of runs on datasets or files.

    Several profiles (`a,b` or `all`) are held against each other, with all of their rows (`every`) or one score each.
    The tables show the task that runs were made for under one matching unless the question names others, or all
    (`full`). `store` keeps the outcomes of each run as RDF, `record` is a file for all that `reproduction_report`
    needs, `plots` are files, `KIND=FILE` for a curve, as wide as
    `plot_width`.
    Raises what `remix.scoring.evaluate` does.
    """
    drawn = [_plot(setting) for setting in plots]
    if question.profile == "all" or "," in question.profile:
        if store or plots or record:
            option = "--store" if store else "--plot" if plots else "--signature-to"
            raise UsageError(f"{option} goes with one profile, not with --profile {question.profile}")
        return _side_by_side(keeper, question, every)
    choice = choose(question)
    recorded = question.as_json() if record is not None else {}
    if store and (choice.datasets or choice.gold):
        _store(keeper, choice)
    rows, datasets = evaluate_question(keeper, choice)
    if store and not (choice.datasets or choice.gold):
        _store(keeper, replace(choice, datasets=tuple(datasets)))
    if record is not None:
        write_record(record, rows, recorded)
    undrawn = None
    try:
        for kind, file in drawn:
            if kind not in DRAWN:
                save(figure_of_slices(rows) if kind == "parts" else figure_of_scores(rows, datasets), file, plot_width)
                continue
            from remix.scoring.comparison import curve

            save(
                figure_of_curve(kind, curve(keeper, choose(question, headline=True).bare(), kind)), file, plot_width
            )  # a curve has no slices or weights
    except Error as error:  # what is counted is shown, whatever cannot be drawn
        undrawn = error
    # InKB, EE and GSInKB have rows in every evaluation; they are shown where they are asked for.
    with_kb = "kb" in question.by
    by = (*choice.by, *(["kb"] if with_kb else []))
    shown = rows if full else headline_rows(rows, choice.profile, question)
    tell_other_tasks(rows if every else shown)
    asked = rows if with_kb else rows.filter(pl.col("column") != "kb")
    show = partial(_show_scores, rows, shown, datasets, by, choice.errors, full)
    return EvaluationReport(asked, show, datasets, rows, undrawn, kinds=_kinds(keeper, question))


def _kinds(keeper: Keeper, question: Question[str]) -> dict[str, str]:
    """Return the kinds of the registered runs that a question may be of; a name of answers in files is none of them."""
    from remix.runs.known import kinds_of, known_runs

    if question.gold:  # then the workspace is not used
        return {}
    given = {*run_files(question.run), *question.answers}
    return {name: kind for name, kind in kinds_of(known_runs(keeper.store)).items() if name not in given}


def tell_other_tasks(rows: pl.DataFrame) -> None:
    """Say which tasks are scored with answers to another one, in one note for each task that answers were needed to."""
    if "run_task" not in rows.columns:
        return
    known = rows.filter(pl.col("column") == "").select("system", "task", "run_task").drop_nulls()
    of_spans = [task for task in known["task"].unique() if takes_spans(task)]
    needed = pl.when(pl.col("task").is_in(of_spans)).then(pl.lit("D2KB")).otherwise(pl.lit("A2KB"))
    others = known.with_columns(needed=needed).filter(pl.col("run_task") != pl.col("needed"))
    for (asked, made), own in others.group_by("needed", "run_task", maintain_order=True):
        tasks, systems = (own[name].unique(maintain_order=True).to_list() for name in ("task", "system"))
        progress.note(
            f"{', '.join(tasks)} of {', '.join(sorted(systems))} {'is' if len(tasks) == 1 else 'are'} scored with "
            f"answers to {made}, as there are none to {asked}: `remix annotate --task {asked}` or `remix run add … "
            f"--task {asked}` registers some"
        )


def _list_other_tasks(scores: pl.DataFrame, question: Question[str]) -> list[str]:
    """Return which systems are compared by answers to another task than the one they are compared by."""
    if "run_task" not in scores.columns:
        return []
    [task] = choose(question, headline=True).task
    needed = "D2KB" if takes_spans(task) else "A2KB"
    others = scores.filter(pl.col("run_task") != needed).unique(["system", "run_task"]).sort("run_task", "system")
    how = {"D2KB": "the mentions were given, not found", "A2KB": "the mentions were found, not given"}
    return [
        f"{', '.join(own['system'])}: answers to {made}, in which {how[str(made)]}, as there are none to {needed}"
        for (made,), own in others.group_by("run_task", maintain_order=True)
    ]


def _show_scores(
    rows: pl.DataFrame,
    shown: pl.DataFrame,
    datasets: Sequence[str],
    by: Sequence[str],
    errors: Sequence[str],
    full: bool,
) -> ShownTables:
    """Return the tables of the rows that are shown of all rows, and what is to be said of them."""
    shown, uneven = with_equal_averages(shown)
    folded, left_out = fold_rows(shown)
    overview = {} if full or by else systems_by_datasets(folded, datasets)
    tables = overview or readable_tables(folded, datasets, by, full=full)
    explained = [*left_out, *(line for one in overview.values() for line in explain_overview(one)), *uneven]
    explained += [*explain_slices(shown), *explain_precisions(tables.values())]
    if errors:
        tables = {**tables, "classes of errors": readable_errors(shown)}
    some = bool(overview) or any("P" in one.columns and "tp" not in one.columns for one in tables.values())
    more = [] if full else tell_more(rows, shown, counts=not some, scores=not overview)
    lines = [*explained, *legend(shown, errors, always=not full), *more, *signature_lines(folded, by)]
    return ShownTables([*tables.values()], lines, [*tables])


def reproduction_report(
    keeper: Keeper,
    file: Path,
    *,
    full: bool = False,
    record: Path | None = None,
    plots: Sequence[str] = (),
    plot_width: str = "screen",
) -> EvaluationReport:
    """Return the evaluation of a record once more; raises `Error` where it does not come out as recorded."""
    recorded = read_record(file)
    report = evaluation_report(keeper, recorded.question, full=full, record=record, plots=plots, plot_width=plot_width)
    check(recorded, report.every_row)
    progress.note(f"reproduced: the rows are the same as recorded in {file}, byte for byte")
    return report


def comparison_report(
    keeper: Keeper,
    question: Question[str],
    *,
    unfiltered: str = "",
    score: str = "f1",
    average: str = "micro",
    samples: int = 10_000,
) -> ComparisonReport:
    """Return systems against each other; the tests are those of `remix.scoring.comparison.compared_inputs`."""
    from remix.scoring.comparison import compared_inputs

    found = compared_inputs(
        keeper,
        choose(question, headline=True),
        unfiltered=unfiltered,
        score=score,
        average=average,
        samples=samples,
    )
    kinds = {"score": found.scores, "pair": found.pairs, "correlation": found.correlations}
    parts = [rows.select(pl.lit(kind).alias("kind"), pl.all()) for kind, rows in kinds.items() if len(rows)]
    signed = {"f1_precision": pl.lit(found.f1_precision), "signature": pl.lit(found.signature)}
    signed |= {"signature_short": pl.lit(Signature.parse(found.signature).short())}
    rows = pl.concat(parts, how="diagonal_relaxed").with_columns(**signed)
    # Slices by a column are many more than systems: then they are the rows.
    across, down = ("part", "system") if found.scores["part"].n_unique() <= BROADEST else ("system", "part")
    wide = found.scores.pivot(across, index=down, values="score", maintain_order=True)
    tables = [wide, found.pairs, found.correlations.filter(pl.col("systems") > 1)]
    of_f1 = "" if found.f1_precision == "all" else f" {found.f1_precision}"
    called = f"{average}-{SHORT.get(score, f'F1{of_f1}')}"
    told = _explain_tests(called, question.unit) if len(found.pairs) else [f"scores are {called}"] if of_f1 else []
    if (systems := found.scores["system"].unique()).len() == 1:
        told.append(
            f"{systems[0]} is one system alone: a comparison needs two, `remix run list` shows those that are kept"
        )
    elif found.correlations["pearson"].count():
        told.append(
            "kendall and spearman are of the ranks of systems, pearson of their scores, with those of the first part"
        )
    # Slices are of one gold, so that what is said of the first is said of all.
    own = found.scores.filter(pl.col("part") == pl.first("part")) if question.by else found.scores
    told += [*explain_shortcomings(own.rename({"part": "dataset"})), *_list_other_tasks(found.scores, question)]
    lines = [*told, f"signature {found.signature}"]
    shown = [_round_scores(table) for table in tables if len(table)]
    return ComparisonReport(rows, partial(ShownTables, shown, lines), **vars(found), kinds=_kinds(keeper, question))


def _explain_tests(score: str, unit: str) -> list[str]:
    """Return what the columns of tests are."""
    return [
        f"difference is {score} of system less that of other; low to high is its 95 % interval (jackknife over "
        f"{unit}s)",
        f"effect is the mean difference of {unit}s over its standard deviation (Cohen's d for pairs)",
        f"p is two-sided (paired approximate randomisation over {unit}s), p_holm corrected for all rows",
    ]


def agreement_report(keeper: Keeper, question: Question[str]) -> ComparisonReport:
    """Return how far two annotations of the same texts agree."""
    from remix.scoring.comparison import agreement_of

    rows = agreement_of(keeper, question)
    signature = rows["signature"][0]
    show = partial(ShownTables, [_round_scores(rows.drop("signature"))], [f"signature {signature}"])
    return ComparisonReport(rows, show, signature=signature)


def _round_scores(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with rounded scores and the local names of classes."""
    names = {name: name.rpartition("/")[2].rpartition("#")[2] if "=" in name else name for name in table.columns}
    texts = [name for name in ("part", "class") if name in table.columns]
    local = pl.col(texts).str.replace(r"=.*[/#]([^/#]+)$", "=$1").str.replace(r"^https?:.*[/#]([^/#]+)$", "$1")
    floats = [name for name, kind in table.schema.items() if kind.is_float()]
    return table.with_columns(local, pl.col(floats).round(4)).rename(names)


def _side_by_side(keeper: Keeper, question: Question[str], every: bool) -> EvaluationReport:
    """Return the scores of several profiles and a line for each convention that makes a difference."""
    profiles = question.profile
    question.only(
        Question(profile=profiles), f"goes with one profile; --profile {profiles} compares the tools' own rows"
    )
    rows, scores, changes = evaluate_profiles(keeper, question, every=every)
    rounded = [name for name in scores.columns if scores.schema[name].is_float()]
    renamed = {"precision": "P", "recall": "R", "f1": "F1", "macro_f1": "macro-F1"}
    names = scores["profile"].unique(maintain_order=True).to_list()
    told = difference_lines(changes, names[0])
    alike = "no convention makes a difference here"
    lines = [] if len(told) else [alike if len(names) > 1 else f"there is no other profile to hold {names[0]} against"]
    lines += legend(rows, always=True)
    for name in names:
        lines += [*([""] if lines else []), f"{name}: " + "\n".join(signature_lines(rows.filter(profile=name)))]
    tables = [scores.with_columns(pl.col(rounded).round(3)).rename(renamed), *([told] if len(told) else [])]
    return EvaluationReport(rows, partial(ShownTables, tables, lines), kinds=_kinds(keeper, question))


def _store(keeper: Keeper, choice: Choice) -> None:
    """Keep the outcomes of A2KB under the first matching as RDF, and say what was kept."""
    if choice.profile.name != "remix":
        raise UsageError(f"--store keeps outcomes by the profile remix: leave --profile {choice.profile.name} out")
    from remix.runs.stored import store_outcomes  # with the index, which a plain evaluation does not need

    keeper.ensure_sample(choice.datasets)
    found = store_outcomes(
        keeper.store,
        keeper.kb,
        choice.datasets,
        runs=choice.run,
        systems=choice.system,
        matching=choice.match[0],
        errors=choice.errors or ("neleval",),
        formats=choice.format,
    )
    for row in found.iter_rows(named=True):
        progress.note("{system} on {dataset}: {tp} TP, {fp} FP, {fn} FN, {status}".format(**row))


def _plot(setting: str) -> tuple[str, Path]:
    """Return what is drawn and into which file; without a kind it is micro-F1."""
    kind, equals, file = setting.partition("=")
    if not equals or not kind.isalnum():
        return "f1", Path(setting)
    if kind not in (known := ["f1", "parts", *DRAWN]):
        raise UnknownName("plot", kind, known)
    return kind, Path(file)
