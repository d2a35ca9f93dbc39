"""The parts of the baseline `coherence` on every real dataset: micro-F1 of D2KB with intervals, and the time.

python bench/coherence.py [--write]     prints a Markdown table, or writes it into docs/systems.md;
                                        data from REMIX_REAL_DATA

The knowledge base is the slice that stands with the datasets; none of its rows from gold are read.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from real import CHECKOUT, DATA, corpora

from remix.workspace import Workspace

SYSTEMS: dict[str, tuple[str, dict[str, bool]]] = {
    "prior": ("prior-nil", {}),
    "weights": ("coherence", {"rank": False}),
    "PageRank": ("coherence", {}),
    "PageRank of the prior alone": ("coherence", {"form": False, "prominence": False}),
    "product": ("coherence", {"product": True}),
}
"""What is compared: the system and its parameters."""
_BEGIN, _END = "<!-- ablation -->", "<!-- end of ablation -->"


def table() -> str:
    """Return the ablation as Markdown, with the seconds of each run."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / ".remix")
        workspace.load(corpora())
        workspace.build_kb([("tables", str(DATA / "kb"))], name="slice")
        took = {}
        for name, (system, parameters) in SYSTEMS.items():
            begin = time.perf_counter()
            workspace.annotate(system=system, task="D2KB", name=name, parameter=parameters)
            took[name] = time.perf_counter() - begin
        rows = workspace.evaluate(run=list(SYSTEMS), task=["D2KB"], match=["strong"], intervals=True).data("json")
    bounds = [pl.col(name).round(3).cast(pl.String) for name in ("f1", "f1_low", "f1_high")]
    shown = pl.concat_str(bounds[0], pl.lit(" ("), bounds[1], pl.lit("–"), bounds[2], pl.lit(")"))
    rows = rows.filter(pl.col("dataset") != "mean", average="micro", column="")
    rows = rows.with_columns(shown=pl.coalesce(shown, bounds[0]))
    wide = rows.pivot("system", index=["dataset", "mentions"], values="shown")
    wide = wide.sort(pl.col("dataset") == "all", "dataset")
    lines = ["| dataset | mentions | " + " | ".join(SYSTEMS) + " |", "|---|--:" + "|---" * len(SYSTEMS) + "|"]
    for row in wide.iter_rows(named=True):
        cells = [row[name] or "" for name in SYSTEMS]
        lines.append(f"| {row['dataset']} | {row['mentions']} | " + " | ".join(cells) + " |")
    lines.append("| seconds | | " + " | ".join(f"{took[name]:.1f}" for name in SYSTEMS) + " |")
    return "\n".join(lines)


def main() -> None:
    made = table()
    print(made)
    if "--write" in sys.argv:
        page = CHECKOUT / "docs" / "systems.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(
            re.sub(f"{_BEGIN}.*{_END}", f"{_BEGIN}\n{made}\n{_END}", text, flags=re.DOTALL), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
