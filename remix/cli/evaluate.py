"""`remix evaluate`: score the answers of systems."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import as_data, calling, option, plot_width, print_report, question_options, take_output
from remix.errors import NO_BOOTSTRAP
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.reports.evaluations import EvaluationReport

AFTER = "run"


def _refuse_bootstrap(_context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Raise `UsageError` where somebody asks for what intervals were made of before."""
    if given is not None:
        raise click.UsageError(NO_BOOTSTRAP)


@click.command()
@question_options
@click.option("--bootstrap", hidden=True, expose_value=False, callback=_refuse_bootstrap, help="Now --intervals.")
@option(
    "--plot [KIND=]FILE",
    "Also draw micro-F1, or parts (P, R and F1 over the slices of --by, before their share of mentions), or a "
    "curve: alpha (F1* by the weight of what is not strict), progression (best "
    "combination of classes first), threshold (precision, recall and F1 by confidence), calibration (share right by "
    "confidence, share wrong by coverage).",
)
@plot_width
@option("--full", "Tables of every task and matching, with counts, precision, recall and macro-F1.")
@option("--store", "Also keep outcomes and error classes as RDF, where queries find them.")
@option("--signature-to", "Write all that --reproduce needs.", type=click.Path(path_type=Path, dir_okay=False))
@option(
    "--reproduce",
    "Run the evaluation of a --signature-to file again, and check that the same comes out.",
    type=click.Path(path_type=Path, dir_okay=False),
)
@take_output(
    "Format of the tables. CSV has the rows that were asked for, as the tables do; JSON, JSON lines and Parquet have "
    "those of mentions in and outside of the knowledge base as well (InKB, EE, GSInKB), which --by kb asks for."
)
@calling(Workspace.evaluate)
def command(evaluate: partial[EvaluationReport], reproduce: Path | None, output: str, to: Path | None) -> None:
    """Score answers against gold: datasets or remixes with the runs kept by `remix annotate`, or files with --run.

    Of several datasets the table has the micro-F1 of each system on each, of the task that its run was made for; of one
    the counts (tp, fp, fn, ignored), P, R and F1; remixes and slices have three precisions. `--full` shows every task
    and matching; `-o json` has every row and column, micro and macro, `-o csv` the rows that were asked for. `--store`
    keeps each run beside its dataset as RDF (A2KB, the first matching).

    \b
    Example:
      remix evaluate sample-news --system prior --task A2KB --by class
    """
    if reproduce is not None:
        _refuse_others(reproduce)
    report = evaluate(every=as_data(output, to))
    print_report(report, output, to)
    if report.undrawn is not None:
        raise report.undrawn


def _refuse_others(file: Path) -> None:
    """Raise `UsageError` where the command line says anything that the record of a file says."""
    context = click.get_current_context()
    free = {"reproduce", "signature_to", "plot", "plot_width", "full", "workspace", "output", "to"}
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in free and context.params.get(name):
            raise click.UsageError(f"--reproduce takes what {file} says: leave {parameter.opts[0]} out")
