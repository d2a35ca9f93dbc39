"""`remix compare`: systems against each other, or two annotations of the same texts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, option, output_option, print_report, question_options
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.reports.evaluations import ComparisonReport

AFTER = "evaluate"


@click.command()
@question_options
@option("--unfiltered NAME", "What the others are correlated with (default: first).")
@option("--score", "What is tested.", type=click.Choice(["precision", "recall", "f1"]))
@option("--average", "Average of it.", type=click.Choice(["micro", "macro"]))
@option("--samples N", "How many samples.", type=click.IntRange(min=100))
@option("--agreement", "Agreement of two datasets' annotations (as two --gold without --run).")
@output_option
@calling(Workspace.compare)
def command(
    compare: partial[ComparisonReport],
    gold: tuple[Path, ...],
    run: tuple[str, ...],
    agreement: bool,
    output: str,
    to: Path | None,
) -> None:
    """Compare systems on datasets, remixes or slices; or, with two --gold and no --run, two annotations of one text.

    Shown are the score of each system, whether the difference of each two is more than chance (paired approximate
    randomisation, Holm's correction over all rows), its 95 % interval (low to high), its effect size (Cohen's d for
    pairs), and how far each dataset ranks the systems as the first one does (Kendall, Spearman; Pearson
    of the scores themselves).

    \b
    Example:
      remix compare sample-news --by isRare --unit context --samples 1000
    """
    print_report(compare(agreement=agreement or (len(gold) == 2 and not run)), output, to)
