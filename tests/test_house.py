"""The structure of the code: what is private stays in its package, no modules import each other, nothing grows beyond
reading, and whatever is public says what it is.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@pytest.fixture(scope="module")
def house() -> ModuleType:
    """The script that measures the structure."""
    loader = SourceFileLoader("house", str(Path(__file__).resolve().parent.parent / "scripts" / "house"))
    specification = importlib.util.spec_from_loader("house", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    loader.exec_module(module)
    return module


def test_files_say_the_marks_of_their_tests(unsaid: list[str]) -> None:
    """By `mark.long`, `mark.at_hand`, `mark.extra` or `hypothesis` `.ci/run` finds the files that it collects."""
    assert not unsaid


@pytest.mark.long
def test_no_package_imports_a_private_name_of_another(house: ModuleType) -> None:
    assert not [line for path in house.files().values() for line in house.private_imports(path)]


def test_private_import_of_another_package_is_found(house: ModuleType, tmp_path: Path) -> None:
    own, text = house.PACKAGE / "kb" / "made.py", "from remix.kb import _own\nfrom remix.{}store import {}shown\n"
    found = [house.private_imports_of(text.format(*marks), own) for marks in [("", ""), ("_hidden.", ""), ("", "_")]]
    assert [len(lines) for lines in found] == [0, 1, 1]


def test_no_modules_import_each_other(house: ModuleType) -> None:
    assert not house.circles(house.import_graph())


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The tree of a module, which the tests of a process read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """Give the statements within a node, in which definitions stand, without the expressions in them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements_of(child)


@pytest.fixture(scope="module")
def definitions(house: ModuleType) -> list[tuple[Definition, str]]:
    """Every class and function, and the file of each."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    places = house.files().values()
    return [(node, str(path)) for path in places for node in statements_of(tree_of(path)) if isinstance(node, kinds)]


@pytest.mark.long
def test_no_two_classes_have_one_name(definitions: list[tuple[Definition, str]]) -> None:
    counts = Counter(node.name for node, _ in definitions if isinstance(node, ast.ClassDef))
    assert not {name: count for name, count in counts.items() if count > 1}


IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """begun bound brought broken built chosen dealt drawn found given gone grown held kept known laid led left lost
        made meant met paid said seen sent shown sold sorted spelt taken taught thrown told understood won written""",
    )
)
PARTICLES = frozenset(["apart", "aside", "away", "by", "down", "in", "off", "on", "out", "over", "together", "up"])
NOUNS = frozenset(["seed", "need", "speed", "feed"])
"""Words that end as participles do and are none."""


def is_bare_participle(name: str) -> bool:
    """Whether a name is a past participle alone (`counted`), or with a particle (`looked_up`)."""
    first, *rest = name.strip("_").split("_")
    participle = first in IRREGULAR or (first.endswith("ed") and first not in NOUNS)
    return participle and all(word in PARTICLES for word in rest)


def test_no_function_is_named_by_a_bare_participle(definitions: list[tuple[Definition, str]]) -> None:
    assert is_bare_participle("_looked_up") and is_bare_participle("kept") and not is_bare_participle("known_pairs")
    attributes = {"property", "cached_property"}
    assert not [
        f"{path}: {node.name}"
        for node, path in definitions
        if not isinstance(node, ast.ClassDef)
        and is_bare_participle(node.name)
        and not attributes & {ast.unparse(one) for one in node.decorator_list}
    ]


def test_no_module_name_is_taken_four_times(house: ModuleType) -> None:
    parts = {"errors", "profiles", "definitions", "sources"}  # where a file is called as the part that it defines
    counts = Counter(path.stem for path in house.files().values() if path.parent.name not in parts)
    del counts["__init__"]
    assert not {name: count for name, count in counts.items() if count > 3}


def test_the_page_of_the_house_names_every_room(house: ModuleType) -> None:
    page = (house.PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    rooms = page.partition("## The house on one page")[2].partition("What is counted")[0]
    own = ("__init__.py", "__main__.py", "_version.py")
    found = {f"`{path.name}`" for path in house.PACKAGE.glob("*.py") if path.name not in own}
    found |= {f"`{path.name}/`" for path in house.PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert not sorted(room for room in found if room not in rooms)


def test_texts_are_put_together_by_fill(house: ModuleType) -> None:
    """`polars.format` panics on a column with an empty chunk; see `remix.expressions.fill`."""
    assert [str(path) for path in house.files().values() if "pl.format(" in path.read_text(encoding="utf-8")] == []


def test_means_over_columns_do_not_depend_on_how_these_are_kept(house: ModuleType) -> None:
    """`pl.Series.mean` adds up each piece by itself, as polars does without groups; see `remix.expressions.mean`."""
    whole = re.compile(r"""\["\w+"\]\.(?:mean|std|var)\(|\.select\([^()]*pl\.col\("\w+"\)\.(?:mean|std|var)\(""")
    assert not [path for path in house.files().values() if whole.search(path.read_text(encoding="utf-8"))]


def test_what_docstrings_and_pages_name_is_there(house: ModuleType) -> None:
    """`remix.a.b` is a module, a name in one, or a folder of the checkout that an entry point is called after."""
    checkout, modules = house.PACKAGE.parent, house.files()
    pages = [*modules.values(), *(checkout / "docs").glob("*.md"), checkout / "README.md"]
    named = {name for page in pages for name in re.findall(r"`(remix(?:\.\w+)+)`", page.read_text(encoding="utf-8"))}

    def stands(name: str) -> bool:
        """Return whether the longest module in a name has the rest."""
        words = name.split(".")
        places = range(len(words), 0, -1)
        at = next(at for at in places if ".".join(words[:at]) in modules)
        text = modules[".".join(words[:at])].read_text(encoding="utf-8")
        return all(re.search(rf"\b{word}\b", text) for word in words[at:])

    missing = [name for name in sorted(named) if not stands(name)]
    assert [name for name in missing if not checkout.joinpath(*name.split(".")[1:]).is_dir()] == []


MODULE, FUNCTION = 800, 80
"""Lines that nobody reads in one go: twice the hints that reviewers go by (CONTRIBUTING).

A limit that is met by cutting makes functions that name no idea; one that is far off still tells of what has grown
while nobody looked.
"""


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    documentation = ast.get_docstring(node, clean=False)
    assert node.end_lineno is not None
    return node.end_lineno - node.body[0].lineno + 1 - (documentation.count("\n") + 1 if documentation else 0)


def test_no_module_or_function_has_grown_while_nobody_looked(
    house: ModuleType, definitions: list[tuple[Definition, str]]
) -> None:
    over = []
    for path in house.files().values():
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MODULE:
            over.append(f"{path} has {lines} lines: it has more than one subject, or a part that is one of its own")
    for node, place in definitions:
        if not isinstance(node, ast.ClassDef) and (lines := body_lines(node)) > FUNCTION:
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


def test_whatever_is_public_says_what_it_is(house: ModuleType) -> None:
    silent = []
    for path in house.files().values():
        tree = tree_of(path)
        place = path.relative_to(house.PACKAGE)
        if path.stem != "__main__" and not ast.get_docstring(tree):
            silent.append(f"{place}")
        silent += [f"{place}:{node.name}" for node in public(tree) if not ast.get_docstring(node)]
    assert not silent
