"""Writes docs/reproduced.md: which published figures come out, and why others do not.

.venv/bin/python scripts/reproduced.py FOLDER      the folder has the files, as `remix reproduce --data` takes it
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

from remix.files import write_whole
from remix.published.catalogue import PublishedResult, results
from remix.published.outcomes import Reproduction
from remix.tables import render
from remix.workspace import Workspace

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reproduced.md"
HEAD = """# Published results that come out

<!-- Written by `python scripts/reproduced.py FOLDER` from what `remix reproduce all` finds there. -->

`remix reproduce NAME` takes the published answers of a paper or a campaign, scores them by the rules of its tool, and
holds every published figure against what comes out. `remix list published` shows the names; `--data FOLDER` says where
the files are, without it they are fetched by their addresses, each with its SHA-256, once their licence is accepted. A
result is a TOML file in `datasets/published/`: where its answers and figures are, which row and column of an evaluation
each figure is, and what is known not to come out. The exit code is 1 where a figure comes out worse than that.

A figure is *equal*; equal after rounding or cutting to the digits that are published (*rounded*); equal once entities
are compared letter by letter, where ours joins spellings, or once a knowledge base that is named (`--kb`) joins them by
its redirects and sameAs (*identity*, with the pairs); *different*; or *absent*, as what it needs is not public or not
here. Nothing is tuned to a figure that is published wrongly: it stays different, with what comes out and the reason.
"""


def main(folder: str) -> None:
    """Write the page from the files of a folder."""
    with tempfile.TemporaryDirectory() as place:
        found = Workspace(Path(place) / "w").reproduce("all", data=folder)
    parts = [HEAD, "## Overview", table(found.tables.drop("worse"))]
    parts += [section(one, found) for one in results().values()]
    with write_whole(PAGE) as stream:
        stream.write(("\n\n".join(part.strip() for part in parts) + "\n").encode())
    print(f"{PAGE} is written")


def section(result: PublishedResult, found: Reproduction) -> str:
    """Return what is told of one result."""
    lines = [f"## {result.name}", f"{result.title}. {result.citation}. Licence: {result.licence}."]
    if result.files:
        where = sorted({f"github.com/{one.repository} at {one.commit[:7]}" for one in result.files})
        lines.append(f"From {', '.join(where)}.")
    if result.absent:
        lines.append(f"{result.absent[0].upper()}{result.absent[1:]}.")
    cells = found.cells.filter(pl.col("result") == result.name, pl.col("cell") != "")
    other = cells.filter(pl.col("status").is_in(["identity", "different"]))
    if other.height:
        lines.append(table(other.select("table", "cell", "published", "found", "status", "reason")))
    return "\n\n".join(lines)


def table(frame: pl.DataFrame) -> str:
    """Return a frame as Markdown."""
    return render(frame, "md")


if __name__ == "__main__":
    main(sys.argv[1])
