"""The whole of the main job on all real NIF: load, enrich with the real kb, build, annotate, score, ask.

python bench/real.py                 prints one Markdown table per step; data from REMIX_REAL_DATA

The knowledge base is built without the rows that were derived from gold.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data")).resolve()
SYSTEMS = ("prior", "random-candidate", "oracle-candidates")


def run(folder: Path, *arguments: str) -> tuple[str, str, float]:
    """Return what a command prints on both streams and how long it takes; it must succeed."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "remix", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"remix {' '.join(arguments)}\n{done.stderr}")
    return done.stdout, done.stderr, time.perf_counter() - begin


def corpora() -> list[str]:
    """Return the files of real NIF; RDF without annotations of texts is left out."""
    kept = ("ttl", "ttl.gz", "nt.gz")
    files = [file for file in (DATA / "nif").rglob("*") if file.name.split(".", 1)[-1] in kept]
    files = [f for f in files if f.name != "dataid.ttl" and f.parent.name not in ("not-nif", "gerbil-dataid")]
    return [str(file) for file in [*sorted(files), *sorted((DATA / "emnlp2019" / "gold").iterdir())]]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps: list[tuple[str, float]] = []

        def step(what: str, *arguments: str, shown: bool = False) -> str:
            output, notes, took = run(folder, *arguments)
            steps.append((what, took))
            if shown:
                print(f"\n### {what}\n\n{output}")
                print("".join(f"> {line}\n" for line in notes.splitlines() if not line.endswith(" s")))
            return output

        step(
            "kb build",
            "kb",
            "build",
            "--from",
            "tables",
            str(DATA / "kb"),
            "--name",
            "slice",
            "--without-source",
            "gold:*",
        )
        step("load", "load", *corpora(), "-o", "json")
        step("enrich", "enrich", "-o", "json")
        step("persons_hard, built", "build", "--query", "persons_hard.rq", "-o", "md", shown=True)
        systems = [part for system in SYSTEMS for part in ("--system", system)]
        step("three systems answer on all datasets", "annotate", *systems)
        every = ["evaluate", "--task", "D2KB", "--match", "strong", "-o", "md"]
        step("persons_hard, scored", *every, "persons_hard.ttl", shown=True)
        print("\n### The papers' queries\n\n| query | triples | seconds |\n|---|---|---|")
        for query in sorted((DATA / "queries").glob("*.rq")):
            output, _, took = run(folder, "query", str(query), "-o", "nt")
            print(f"| {query.name} | {output.count(chr(10)):,} | {took:.1f} |")
        print("\n### Seconds, each a whole process\n\n| step | seconds |\n|---|---|")
        for what, took in steps:
            print(f"| {what} | {took:.1f} |")


if __name__ == "__main__":
    main()
