"""`remix publish`: a dataset with its measures, described so that others find and trust it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, file_format_option, option
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.tables import Listed

AFTER = "compare"


@click.command()
@click.argument("dataset", metavar="DATASET|FILE")
@option("--to", "Folder that takes the files.", type=click.Path(path_type=Path, file_okay=False))
@option("--force", "Overwrite files of that name that remix has not written.")
@option("--run NAME", "Publish the answers of this registered run instead of gold.")
@option("--licence IRI", "IRI of the licence, for the descriptions.")
@option("--url IRI", "Where the folder will be, for download addresses.")
@option("--creator NAME", "Who made the dataset; repeatable.")
@option("--description TEXT", "What the dataset is (default: its counts).")
@option("--syntax", "Syntax of the NIF.", type=click.Choice(["ttl", "nt", "jsonld"]))
@option("--gzip", "Compress the NIF.")
@file_format_option
@calling(Workspace.publish)
def command(publish: partial[Listed[Path]], dataset: str, to: Path, run: str | None) -> None:
    """Write a dataset or a remix as NIF with its measures and as Parquet, described for people and machines.

    Beside them stand a manifest (PROV-O), descriptions in DCAT and VoID, DataID, and Croissant with schema.org, a
    README that Hugging Face reads, CITATION.cff and checksums. `index.html` is the home page of the folder, which any
    static host can show. An empty workspace takes the sample corpus.

    \b
    Example:
      remix publish sample-news --to published
    """
    for path in publish():
        print(path)
    what = f"{dataset} is" if run is None else f"the answers of {run} to {dataset} are"
    print(f"{what} published in {to}", file=sys.stderr)
