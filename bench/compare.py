"""Time of the same commands in two states of the code, in pairs and in one run, so that what else runs slows both.

    python bench/compare.py [--base a9f674b] [--scale small|tenth|full] [--runs 3] [--only load,stats]

Checks the base out into a temporary worktree (and removes it), generates inputs once (full: 2 million triples and rows
of dumps, a million annotations to stream), and runs each command of `COMMANDS` in turns by the code of both, with the
same interpreter and libraries, each in a workspace of its own, a new one for every run. Prints a Markdown table of the
CPU seconds, those of children included, and of the wall clock seconds of the fastest run, and exits 1 where a command
takes a tenth more CPU seconds than by the base.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SHARES = {"full": 1.0, "tenth": 0.1, "small": 0.01}
SLOWER = 1.10

COMMANDS: dict[str, str] = {
    "start": "--version",
    "load": "load {inputs}/corpus.ttl --name corpus --replace",
    "kb build": "kb build --from dbpedia {inputs}/dumps --name bench --fresh",
    "enrich": "enrich",
    "stats": "stats corpus -o json",
    "annotate": "annotate corpus --system prior",
    "evaluate": "evaluate corpus -o json",
    "evaluate files": "evaluate --gold {inputs}/corpus.ttl --run s={inputs}/corpus.ttl -o json",
    "profiles": "evaluate --gold {inputs}/corpus.ttl --run s={inputs}/corpus.ttl -o json "
    "--profile remix,gerbil,bat,euef,elevant,neleval,emnlp2019",
    "query": "query basic -o nt --to answer.nt",
    "build": "build --query density_between --to built",
    "stream": "load --to frames frames {inputs}/wikipedia/nif-context_en.ttl.bz2 "
    "{inputs}/wikipedia/nif-text-links_en.ttl.bz2 --replace",
    "stats of frames": "stats frames -o json",
}
"""What is timed, in an order in which each finds what those before it have left."""


def generate(inputs: Path, share: float) -> None:
    """Write the inputs of all commands."""
    sizes = {name: str(int(share * full)) for name, full in {"triples": 2e6, "rows": 2e6, "links": 1e6}.items()}
    dumps = ["--rows", sizes["rows"], "--only", "labels,redirects,disambiguations"]
    for script, *words in (
        ["generate_nif.py", sizes["triples"], str(inputs / "corpus.ttl")],
        ["generate_dumps.py", str(inputs / "dumps"), *dumps],
        ["generate_wikipedia_nif.py", sizes["links"], str(inputs / "wikipedia")],
    ):
        subprocess.run([sys.executable, str(CHECKOUT / "bench" / script), *words], check=True, stdout=sys.stderr)


def run(command: str, code: Path, workspace: Path, inputs: Path) -> tuple[float, float]:
    """Return CPU and wall clock seconds of a command of remix; raises `SystemExit` with what it says if it fails."""
    words = [word.format(inputs=inputs) for word in command.split()]
    settings = {**os.environ, "PYTHONPATH": str(code), "PYTHONDONTWRITEBYTECODE": ""}
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "remix", *words], cwd=workspace, env=settings, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        if status:
            said.seek(0)
            raise SystemExit(f"remix {' '.join(words)} in {code}: {said.read().decode(errors='replace')[-2000:]}")
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, wall


def compare(base: Path, folder: Path, names: list[str], runs: int) -> bool:
    """Print a row for each command; return whether none is slower than it may be."""
    codes = {"base": base, "now": CHECKOUT}
    found: dict[str, dict[str, list[tuple[float, float]]]] = {name: {side: [] for side in codes} for name in names}
    for number in range(runs):
        # In new workspaces: a second `load`, `kb build` or `enrich` finds done what the first has left.
        workspaces = {side: folder / f"{side}-{number}" for side in codes}
        for place in workspaces.values():
            place.mkdir()
        for position, name in enumerate(names):
            # The first of a pair finds the inputs' pages cold: they take turns.
            for side in [*codes] if (number + position) % 2 else [*reversed(codes)]:
                found[name][side].append(run(COMMANDS[name], codes[side], workspaces[side], folder / "inputs"))
        for place in workspaces.values():
            shutil.rmtree(place)
    print("| command | CPU s, base | CPU s, now | ratio | wall s, base | wall s, now |\n|---|---|---|---|---|---|")
    fast = True
    for name, sides in found.items():
        (before, wall_before), (after, wall_after) = (map(min, zip(*sides[side], strict=True)) for side in codes)
        fast &= after <= SLOWER * before
        ratio = f"{after / before:.2f}{'' if after <= SLOWER * before else ' slower'}"
        print(f"| {name} | {before:.2f} | {after:.2f} | {ratio} | {wall_before:.2f} | {wall_after:.2f} |", flush=True)
    return fast


def main() -> int:
    """Compare two states of the code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="a9f674b", help="the commit to compare with")
    parser.add_argument("--scale", choices=SHARES, default="tenth")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands, which need what those before them leave")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compare-") as place:
        folder, base = Path(place), Path(place) / "code"
        (folder / "inputs").mkdir()
        git = ["git", "-C", str(CHECKOUT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(base), given.base], check=True)
        try:
            generate(folder / "inputs", SHARES[given.scale])
            return int(not compare(base, folder, given.only.split(","), given.runs))
        finally:
            shutil.rmtree(base, ignore_errors=True)
            subprocess.run([*git, "prune"], check=True)


if __name__ == "__main__":
    sys.exit(main())
