"""Runs the commands of README.md and puts their output below them.

    python scripts/readme.py            rewrite README.md and docs/scores.png
    python scripts/readme.py --check    change nothing; exit 1 where README.md says something else

A `console` block holds lines `$ remix …`; what follows each is what it printed on standard output.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PLOT = (
    "remix evaluate sample-news sample-biographies sample-posts easy.ttl difficult.ttl persons_hard.ttl"
    " --task D2KB --match strong --intervals --plot scores.png"
)


def output(command: str, folder: Path) -> str:
    """Return what a command prints on standard output; it must succeed."""
    arguments = shlex.split(command)[1:]
    done = subprocess.run([sys.executable, "-m", "remix", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"$ {command}\n{done.stderr}")
    return done.stdout


def filled(text: str, folder: Path, output: Callable[[str, Path], str] = output) -> str:
    """Return the text with the output of each command in its `console` blocks."""

    def lines(command: str) -> str:
        return "".join(f"{line.rstrip()}\n" for line in output(command, folder).rstrip().splitlines())

    def block(match: re.Match[str]) -> str:
        commands = [line[2:] for line in match.group(1).splitlines() if line.startswith("$ ")]
        return "```console\n" + "\n".join(f"$ {c}\n{lines(c)}" for c in commands).rstrip() + "\n```"

    return re.sub(r"```console\n(.*?)\n```", block, text, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Rewrite, or with `--check` compare, README.md."""
    readme = CHECKOUT / "README.md"
    before = readme.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        after = filled(before, Path(folder))
        if "--check" not in arguments:
            output(PLOT, Path(folder))
            (CHECKOUT / "docs" / "scores.png").write_bytes((Path(folder) / "scores.png").read_bytes())
            readme.write_text(after, encoding="utf-8")
    if after != before:
        print("README.md is out of date" if "--check" in arguments else "README.md is written")
    return int("--check" in arguments and after != before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
