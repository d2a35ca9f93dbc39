"""`remix enrich`: compute the measures and store them as RDF."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--reference",
    type=click.Choice(["dataset", "union"]),
    default="dataset",
    show_default=True,
    help="What D is in the formulas: the annotation's own dataset, or all together.",
)
@click.option("--case-sensitive", is_flag=True, help="Compare surface forms as they are written.")
@click.option("--without-source", multiple=True, metavar="PATTERN", help="Leave out dictionary rows by their source.")
@workspace_option
@output_option
def command(
    folder: Path | None,
    reference: str,
    case_sensitive: bool,
    without_source: tuple[str, ...],
    workspace: Path | None,
    output: str,
    to: Path | None,
) -> None:
    """Compute every measure of every dataset and keep the values as RDF, where queries find them.

    Doing it twice changes nothing; another knowledge base or another option replaces what was there. Without a
    knowledge base, only the measures that need none are computed.

    Of DIR, a folder of frames (`remix load --to frames`), the values are written as Parquet beside the frames.

    \b
    Example:
      remix enrich
    """
    opened = open_workspace(workspace)
    if folder is not None:
        from remix.frames_folder import FramesFolder
        from remix.measures._folders import enrich_folder

        choices = {"reference": reference, "case_sensitive": case_sensitive, "without_sources": without_source}
        done = enrich_folder(FramesFolder.open(folder), opened.kb, **choices)
    else:
        done = opened.enrich(reference=reference, case_sensitive=case_sensitive, without_sources=without_source)
    if opened.kb is None:
        print("no knowledge base is attached: see `remix kb attach`, then enrich again", file=sys.stderr)
    print_table(done.drop("signature") if output == "table" else done, output, to)
