"""Every command that a message, a help text or a page names is one that there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from remix.cli import cli
from remix.reports.listings import LISTINGS

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((CHECKOUT / "remix").rglob("*.py")), *sorted((CHECKOUT / "docs").glob("*.md")), CHECKOUT / "README.md"]


def named_commands() -> Iterator[tuple[str, str]]:
    """The commands in backticks, and those of examples, each with the file that names it."""
    for page in PAGES:
        text = re.sub(r'"\n\s*f?"', "", page.read_text(encoding="utf-8"))  # a message may go on in the next line
        for line in re.findall(r"`(remix [^`\n]*)`|^\s*\$ (remix .*)$", text, flags=re.MULTILINE):
            for one in alternatives("".join(line)):
                yield str(page.relative_to(CHECKOUT)), one


def alternatives(line: str) -> list[str]:
    """`remix kb build|show`, as a table of a page spells it, is two commands."""
    verbs = re.search(r"[a-z]+(?:\\?\|[a-z]+)+", line)
    if verbs is None:
        return [line]
    return [line.replace(verbs[0], verb) for verb in re.split(r"\\?\|", verbs[0])]


def fault(line: str) -> str:
    """What is wrong with a command: a verb, option or kind of listing that there is not; else nothing."""
    words = shlex.split(re.sub(r"\{[^}]*\}", "X", line).replace("…", "").replace("...", ""), posix=True)[1:]
    command: click.Command = cli
    verb = ""
    while isinstance(command, click.Group) and words and not words[0].startswith("-") and words[0] not in ("X", "VERB"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"no verb '{words[0]}'"
        command, verb, words = found, words[0], words[1:]
    known = {option for one in (command, cli) for each in one.params for option in each.opts} | {"--help", "-h"}
    for word in words:
        if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known:
            return f"'{verb}' has no option {word}"
    if verb == "list" and words and words[0].islower() and words[0] not in LISTINGS:
        return f"no kind '{words[0]}'"
    return ""


@pytest.mark.long
def test_every_command_that_is_named_exists() -> None:
    wrong = [f"{page}: `{line}`: {why}" for page, line in named_commands() if (why := fault(line))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", ["remix lod x", "remix load --replce x", "remix list taks", "remix kb atach"])
def test_a_command_that_does_not_exist_is_told(line: str) -> None:
    assert fault(line)
