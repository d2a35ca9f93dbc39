"""The structure of the code: what is private stays in its package, and no modules import each other."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def house() -> ModuleType:
    """The script that measures the structure."""
    loader = SourceFileLoader("house", str(Path(__file__).resolve().parent.parent / "scripts" / "house"))
    specification = importlib.util.spec_from_loader("house", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    loader.exec_module(module)
    return module


def test_no_package_imports_a_private_name_of_another(house: ModuleType) -> None:
    assert not [line for path in house.files().values() for line in house.private_imports(path)]


def test_private_import_of_another_package_is_found(house: ModuleType, tmp_path: Path) -> None:
    own, text = house.PACKAGE / "kb" / "made.py", "from remix.kb import _own\nfrom remix.{}store import {}shown\n"
    found = [house.private_imports_of(text.format(*marks), own) for marks in [("", ""), ("_hidden.", ""), ("", "_")]]
    assert [len(lines) for lines in found] == [0, 1, 1]


def test_no_modules_import_each_other(house: ModuleType) -> None:
    assert not house.circles(house.import_graph())


def definitions(house: ModuleType, kind: type[ast.AST]) -> list[tuple[str, str]]:
    """The definitions of a kind, by their names, and the file of each."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in house.files().values()}
    return [(node.name, str(path)) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, kind)]


def test_no_two_classes_have_one_name(house: ModuleType) -> None:
    counts = Counter(name for name, _ in definitions(house, ast.ClassDef))
    assert not {name: count for name, count in counts.items() if count > 1}


def test_the_page_of_the_house_names_every_room(house: ModuleType) -> None:
    page = (house.PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    rooms = page.partition("## The house on one page")[2].partition("What is counted")[0]
    own = ("__init__.py", "__main__.py", "_version.py")
    found = {f"`{path.name}`" for path in house.PACKAGE.glob("*.py") if path.name not in own}
    found |= {f"`{path.name}/`" for path in house.PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert not sorted(room for room in found if room not in rooms)
