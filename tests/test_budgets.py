"""The budgets of the house: files and functions stay short enough to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_house import tree_of

PACKAGE = Path(__file__).resolve().parent.parent / "remix"
MODULES = sorted(PACKAGE.rglob("*.py"))

LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
"""Exemptions: place → reason. Each is a line a reviewer can argue with."""


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    documentation = ast.get_docstring(node, clean=False)
    assert node.end_lineno is not None
    return node.end_lineno - node.body[0].lineno + 1 - (documentation.count("\n") + 1 if documentation else 0)


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_modules_and_functions_stay_within_their_budgets() -> None:
    over = []
    for path in MODULES:
        place = str(path.relative_to(PACKAGE))
        limit = 80 if path.parent.name == "cli" and not path.name.startswith("_") else 40
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > 400 and place not in LONG_MODULES:
            over.append(f"{place} has {lines} lines, 400 allowed")
        for node in functions(path):
            name = f"{place}:{node.name}"
            if body_lines(node) > limit and name not in LONG_FUNCTIONS:
                over.append(f"{name} has {body_lines(node)} lines, {limit} allowed")
    assert not over


def public(node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """What is public in a module or class, with what is public in its public classes; of overloads what they are of."""
    for child in node.body:
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if named and not child.name.startswith("_") and "overload" not in map(ast.unparse, child.decorator_list):
            yield child
            if isinstance(child, ast.ClassDef):
                yield from public(child)


def test_whatever_is_public_says_what_it_is() -> None:
    silent = []
    for path in MODULES:
        tree = tree_of(path)
        place = path.relative_to(PACKAGE)
        if path.stem != "__main__" and not ast.get_docstring(tree):
            silent.append(f"{place}")
        silent += [f"{place}:{node.name}" for node in public(tree) if not ast.get_docstring(node)]
    assert not silent


def test_exemptions_are_still_needed() -> None:
    places = {str(path.relative_to(PACKAGE)) for path in MODULES}
    assert set(LONG_MODULES) <= places
    assert {name.split(":")[0] for name in LONG_FUNCTIONS} <= places
