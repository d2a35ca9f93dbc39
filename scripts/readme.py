"""Runs the commands of README.md and docs/tutorial.md and puts their output below them.

    python scripts/readme.py            rewrite both pages and docs/scores.png
    python scripts/readme.py --check    change nothing; exit 1 where one of them says something else

A `console` block holds lines `$ remix …`; what follows each is what it printed on standard output. A page that is
followed from its first line to its last (the tutorial) has files besides, blocks that begin with `# NAME`, and blocks
`sh` of commands whose output it does not show.
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
    program, *arguments = shlex.split(command)
    start = {"remix": [sys.executable, "-m", "remix"], "python": [sys.executable]}.get(program, [program])
    done = subprocess.run([*start, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"$ {command}\n{done.stderr}")
    return done.stdout


def filled(text: str, folder: Path, output: Callable[[str, Path], str] = output) -> str:
    """Return the text with the output of each command in its `console` blocks."""

    def block(match: re.Match[str]) -> str:
        return _console(match.group(1), folder, output)

    return re.sub(r"```console\n(.*?)\n```", block, text, flags=re.DOTALL)


def followed(text: str, folder: Path, output: Callable[[str, Path], str] = output) -> str:
    """Return the text of a page of which all is done in its order: files are saved, and commands are run."""

    def block(match: re.Match[str]) -> str:
        kind, content = match.groups()
        if kind == "console":
            return _console(content, folder, output)
        if kind == "sh":
            for command in content.splitlines():
                output(command, folder)
        elif name := re.match(r"# (\S+\.\w+)\n", content):
            (folder / name[1]).write_text(content + "\n", encoding="utf-8")
        return match.group()

    return re.sub(r"```(\w+)\n(.*?)\n```", block, text, flags=re.DOTALL)


def _console(content: str, folder: Path, output: Callable[[str, Path], str]) -> str:
    def lines(command: str) -> str:
        return "".join(f"{line.rstrip()}\n" for line in output(command, folder).rstrip().splitlines())

    commands = [line[2:] for line in content.splitlines() if line.startswith("$ ")]
    return "```console\n" + "\n".join(f"$ {c}\n{lines(c)}" for c in commands).rstrip() + "\n```"


def main(arguments: list[str]) -> int:
    """Rewrite, or with `--check` compare, the pages."""
    stale = []
    for page, fill in ((CHECKOUT / "README.md", filled), (CHECKOUT / "docs" / "tutorial.md", followed)):
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            after = fill(before, Path(folder))
            if "--check" not in arguments:
                page.write_text(after, encoding="utf-8")
            if fill is filled and "--check" not in arguments:
                output(PLOT, Path(folder))
                (CHECKOUT / "docs" / "scores.png").write_bytes((Path(folder) / "scores.png").read_bytes())
        if after != before:
            stale.append(page.name)
    if stale:
        print(f"{' and '.join(stale)}: {'out of date' if '--check' in arguments else 'written'}")
    return int("--check" in arguments and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
