"""The Python interface is the tool: every verb is a method, every option a typed keyword parameter of its name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import remix
from remix.cli import cli
from tests.test_house import tree_of

PACKAGE = Path(remix.__file__).parent
METHODS = {
    "list": "listing",
    "kb build": "build_kb",
    "kb attach": "attach_kb",
    "kb show": "show_kb",
    "kb lookup": "lookup_kb",
    "kb graph": "graph_kb",
    "run add": "add_run",
    "run list": "runs",
    "run show": "show_run",
    "run drop": "drop_run",
}
"""Verbs whose method has another name (docs/python.md): `list` is Python's own, and verbs of a group name the group."""

OUTPUT = {"workspace", "output", "columns", "help"}
"""Options that say where and how to print."""

ELSEWHERE = {
    ("build", "query"): "query",
    ("build", "values"): "values",
    ("query", "values"): "values",
    ("show", "values"): "values",
    ("enrich", "difficulty"): "difficulty",
    ("enrich", "seed"): "difficulty",
    ("query", "explain"): "",
    ("drop", "run"): "drop_run",
    ("build", "from"): "build_again",
    ("kb build", "from"): "sources",
    ("fetch", "files_only"): "fetch_kb",
    ("errors", "class"): "errors",
    ("kb build", "for"): "datasets",
    ("evaluate", "bootstrap"): "",
    ("reproduce", "cells"): "",
    ("partition", "plot"): "plot_partition",
    ("partition", "plot_width"): "plot_partition",
    ("study", "dry_run"): "preview_study",
    ("study", "reproduce"): "reproduce_study",
}
"""Options that are the first parameter, a mapping, a method of their own, what the result always says, or refused."""

WITH_FOLDER = {"build", "partition", "publish", "convert", "kb graph"}
"""Verbs whose `--to` is a folder or a format of what is made, and no file for the table."""


def verbs() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            for sub in command.list_commands(context):
                yield f"{name} {sub}", command.commands[sub]
        else:
            assert command is not None
            yield name, command


VERBS = dict(verbs())


def method(verb: str) -> inspect.Signature:
    return inspect.signature(getattr(remix.Workspace, METHODS.get(verb, verb)))


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_a_typed_keyword_parameter_of_its_name(verb: str) -> None:
    found = method(verb).parameters
    missing = []
    for option in VERBS[verb].params:
        if not isinstance(option, click.Option):
            continue
        name = max(option.opts, key=len).lstrip("-").replace("-", "_")
        keys = {(verb, name), (verb, option.name or "")}
        if name in OUTPUT or keys & ELSEWHERE.keys() or (name == "to" and verb not in WITH_FOLDER):
            continue
        if name not in found or found[name].annotation in (inspect.Parameter.empty, "Any"):
            missing.append(name)
    called = f"remix.Workspace.{METHODS.get(verb, verb)}"
    assert not missing, f"{called} has to have typed keyword parameters for {missing}, which are options of the verb"


@pytest.mark.parametrize("verb", VERBS)
def test_every_method_of_a_verb_says_what_it_returns(verb: str) -> None:
    called = getattr(remix.Workspace, METHODS.get(verb, verb))
    said = f"the docstring of {called.__qualname__} has to begin with 'Return …', and its signature to say the type"
    assert (inspect.getdoc(called) or "").startswith(("Return ", "Serve ")), said
    assert method(verb).return_annotation not in (inspect.Signature.empty, "Any"), said


@pytest.mark.long
def test_no_public_function_takes_keywords_of_any_type() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                splat = node.args.kwarg
                if splat is not None and (splat.annotation is None or ast.unparse(splat.annotation) == "Any"):
                    found.append(f"{path.relative_to(PACKAGE)}:{node.name}")
    assert not found


def test_verbs_call_the_workspace_and_nothing_below_it() -> None:
    # What prints may know the results, what is told of errors may be anybody's.
    allowed = ("remix.cli", "remix.workspace", "remix.errors", "remix.tables", "remix.files", "remix.progress")
    found = []
    for path in sorted((PACKAGE / "cli").glob("[!_]*.py")):
        tree = tree_of(path)
        typing = {id(inner) for node in tree.body if isinstance(node, ast.If) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if module.startswith("remix.") and not module.startswith(allowed) and id(node) not in typing:
                found.append(f"{path.name}: {module}")
    assert not found


@pytest.mark.parametrize("words", [["kb", "graph", "links"], ["annotate"]])
def test_required_option_that_is_left_out_is_asked_for(words: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, [*words, "-w", str(tmp_path / ".remix")])
    assert (result.exit_code, "Missing option" in result.output) == (2, True), result.output
