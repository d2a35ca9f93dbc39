"""`remix evaluate`: score the answers of systems."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import as_data, calling, option, output_option, print_report, scoring_options
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
@scoring_options
@option("--scope CLASS", "Class that gold was cut down to (P in scope), if not by its query.")
@option("--spans", "Spans given in D2KB.", type=click.Choice(["all", "kept"]))
@option("--intervals", "Intervals of 95 %, over documents; with --by, tests of slices.")
@option("--samples N", "How many draws the p of slices is a share of.", type=click.IntRange(min=100))
@click.option("--bootstrap", hidden=True, expose_value=False, callback=_refuse_bootstrap, help="Now --intervals.")
@option("--against SLICE", "Slice that others are held against (--by, --intervals); else all.")
@option("--errors TAXONOMY", "Count the classes of errors of elevant, neleval, …")
@option(
    "--relax MAPPING",
    "Table of entities (main item, then those it stands for) that runs may answer for each other; times are NIL.",
    type=click.Path(path_type=Path, dir_okay=False),
)
@option("--seen DATASET|FILE", "Training set: adds the columns seenForm, seenEntity and seenPair to break down by.")
@option("--link-labels", "Link labels that a model answered to the one entity that is called so.")
@option(
    "--weight RULE",
    "Fuzzy recall R* and F1*: strict, relaxed:0.5, a file (weight and class or annotation), or a numeric column.",
)
@option("--fix-offsets", "Read offsets that count in other units as what they seem to be, document by document.")
@option(
    "--threshold RULE",
    "Confidence above which answers count: none, 0.3, tuned:DATASET (the best there) or oracle (the best here).",
    show_default="none, or the profile's own",
)
@option(
    "--plot [KIND=]FILE",
    "Also draw micro-F1, or a curve: alpha (F1* by the weight of what is not strict), progression (best "
    "combination of classes first), threshold (precision, recall and F1 by confidence), calibration (share right by "
    "confidence, share wrong by coverage).",
)
@option("--full", "Tables of every task and matching, with counts, precision, recall and macro-F1.")
@option("--store", "Also keep outcomes and error classes as RDF, where queries find them.")
@option("--signature-to", "Write all that --reproduce needs.", type=click.Path(path_type=Path, dir_okay=False))
@option(
    "--reproduce",
    "Run the evaluation of a --signature-to file again, and check that the same comes out.",
    type=click.Path(path_type=Path, dir_okay=False),
)
@output_option
@calling(Workspace.evaluate)
def command(evaluate: partial[EvaluationReport], reproduce: Path | None, output: str, to: Path | None) -> None:
    """Score answers against gold: datasets or remixes with the runs kept by `remix annotate`, or files with --run.

    Of several datasets the table has the micro-F1 of each system on each, of the task that its run was made for; of one
    the counts (tp, fp, fn, ignored), P, R and F1; remixes and slices have three precisions. `--full` shows every task
    and matching; `-o json` has every row and column, micro and macro. `--store` keeps each run beside its dataset as
    RDF (A2KB, the first matching).

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
    free = {"reproduce", "signature_to", "plot", "full", "workspace", "output", "to"}
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in free and context.params.get(name):
            raise click.UsageError(f"--reproduce takes what {file} says: leave {parameter.opts[0]} out")
