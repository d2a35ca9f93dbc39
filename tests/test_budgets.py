"""The budgets of the house: nothing grows beyond reading, and whatever is public says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_house import tree_of

PACKAGE = Path(__file__).resolve().parent.parent / "remix"
MODULES = sorted(PACKAGE.rglob("*.py"))

MODULE, FUNCTION = 800, 80
"""Lines that nobody reads in one go: twice the hints that reviewers go by (CONTRIBUTING).

A limit that is met by cutting makes functions that name no idea; one that is far off still tells of what has grown
while nobody looked.
"""


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    documentation = ast.get_docstring(node, clean=False)
    assert node.end_lineno is not None
    return node.end_lineno - node.body[0].lineno + 1 - (documentation.count("\n") + 1 if documentation else 0)


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_no_module_or_function_has_grown_while_nobody_looked() -> None:
    over = []
    for path in MODULES:
        place = str(path.relative_to(PACKAGE))
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MODULE:
            over.append(f"{place} has {lines} lines: it has more than one subject, or a part that is one of its own")
        for node in functions(path):
            if (lines := body_lines(node)) > FUNCTION:
                over.append(f"{place}:{node.name} has {lines} lines: some of them are an idea that has a name")
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
