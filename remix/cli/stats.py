"""`remix stats`: the measures of datasets, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace

AFTER = "enrich"


@click.command()
@click.argument("datasets", nargs=-1, metavar="[DATASET|DIR]...")
@click.option(
    "--level",
    type=click.Choice(["dataset", "document", "annotation"]),
    default="dataset",
    show_default=True,
    help="What a row is about; datasets are shown as columns.",
)
@click.option(
    "--average",
    type=click.Choice(["micro", "macro", "distinct", "count", "all"]),
    default="micro",
    show_default=True,
    help="Pooled, mean of documents, mean of distinct forms or entities.",
)
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Only this measure; may be repeated.")
@click.option("--profile", type=click.Choice(["remix", "hfts"]), default="remix", help="Conventions of the values.")
@click.option("--reference", type=click.Choice(["dataset", "union"]), default="dataset", help="What D is.")
@click.option("--case-sensitive", is_flag=True, help="Compare surface forms as they are written.")
@click.option("--without-source", multiple=True, metavar="PATTERN", help="Leave out dictionary rows by their source.")
@click.option("--with-gold", is_flag=True, help="Keep rows of the knowledge base that were derived from gold.")
@click.option("--engine", type=click.Choice(["polars", "spark"]), default="polars", help="What measures frames (DIR).")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Also draw the table into this file.")
@workspace_option
@output_option
def command(
    datasets: tuple[str, ...],
    level: str,
    average: str,
    measures: tuple[str, ...],
    profile: str,
    reference: str,
    case_sensitive: bool,
    without_source: tuple[str, ...],
    with_gold: bool,
    engine: str,
    plot: Path | None,
    workspace: Path | None,
    output: str,
    to: Path | None,
) -> None:
    """Show the measures of datasets side by side, by default of all, computed afresh.

    DIR is a folder of frames (`remix load --to frames`), which is measured alone, part by part, or on Spark.

    Shares are in per cent. Where an average does not speak for every annotation, how many it covers stands behind it,
    with ! below 50 %.

    \b
    Example:
      remix stats --average all
    """
    from remix.frames_folder import FramesFolder, is_frames_folder

    opened = open_workspace(workspace)
    choices: dict[str, Any] = {
        "reference": reference,
        "case_sensitive": case_sensitive,
        "without_sources": without_source,
        "with_gold": with_gold,
    }
    if len(datasets) == 1 and is_frames_folder(datasets[0]):
        if level != "dataset" or profile != "remix":
            raise click.UsageError(
                "of frames stats shows datasets; `remix enrich DIR` writes the values of annotations"
            )
        from remix.measures import compute_folder

        folder = FramesFolder.open(datasets[0])
        measured = compute_folder(folder, opened.kb, engine=engine, measures=measures or None, **choices)
    elif engine == "spark":
        raise click.UsageError("Spark measures one folder of frames: `remix load --to frames DIR FILE` writes it")
    else:
        measured = opened.stats(datasets, profile=profile, measures=measures or None, **choices)
    from remix.reports import statistics

    if measured.skipped:
        print(f"no knowledge base is attached: without {', '.join(measured.skipped)}", file=sys.stderr)
    rows = statistics.chosen(measured.datasets, average)
    if plot:
        statistics.plot(rows, plot)
    if level == "dataset":
        print_table(statistics.side_by_side(rows) if output in {"table", "md", "latex"} else rows, output, to)
    else:
        print_table(measured.documents if level == "document" else measured.annotations, output, to)
