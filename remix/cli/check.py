"""`remix check`: what is wrong or odd in datasets."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option

__all__ = ["command"]


AFTER = "load"


@click.command()
@click.argument("datasets", nargs=-1, required=True, metavar="FILE|DIR|DATASET...")
@click.option("--kb", default=None, help="Name or folder of a knowledge base that must know each linked entity.")
@output_option
@workspace_option
def command(datasets: tuple[str, ...], kb: str | None, output: str, to: Path | None, workspace: Path | None) -> None:
    """Look for defects in datasets: wrong offsets and anchors, dangling contexts, broken or unknown IRIs.

    Each row is one kind of finding with its count and first example. The exit code is 1 where there is a
    defect; notes are only told.

    \b
    Example:
      remix check sample-news
    """
    from remix.workspace import open_workspace

    findings = open_workspace(workspace).check(datasets, kb=kb)
    print_table(findings, output, to)
    sys.exit(1 if "defect" in findings["level"] else 0)
