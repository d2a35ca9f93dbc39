"""Parts found by scanning."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from remix.errors import Error, UnknownName
from remix.registry import Registry


@dataclass(frozen=True)
class Part:
    name: str


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "parts_of_this_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [n for n in sys.modules if n.startswith("parts_of_this_test")]:
        del sys.modules[name]


def write(folder: Path, module: str, *names: str) -> None:
    lines = ["from tests.test_registry import Part", *(f"part_{i} = Part('{n}')" for i, n in enumerate(names))]
    (folder / f"{module}.py").write_text("\n".join(lines))


def test_registry_when_a_file_is_added_knows_its_part(package: Path) -> None:
    write(package, "density", "density")
    write(package, "other", "prominence")
    write(package, "_hidden", "hidden")
    registry = Registry("measure", "parts_of_this_test", Part)
    assert registry.names() == ["density", "prominence"]
    assert registry["density"].name == "density"


def test_registry_when_a_file_is_called_alike_imports_no_other(package: Path) -> None:
    write(package, "counting", "count-all")
    (package / "broken.py").write_text("raise RuntimeError('imported')")
    registry = Registry("measure", "parts_of_this_test", Part)
    assert registry["count-all"].name == "count-all"
    assert "count-all" in registry
    with pytest.raises(RuntimeError, match="imported"):
        registry.names()


def test_registry_when_another_file_has_the_name_finds_it_there(package: Path) -> None:
    write(package, "ranked", "Sa2KB")
    write(package, "sa", "other")
    assert Registry("measure", "parts_of_this_test", Part)["Sa2KB"].name == "Sa2KB"


def test_registry_when_the_name_is_unknown_offers_the_nearest(package: Path) -> None:
    write(package, "density", "density")
    with pytest.raises(UnknownName, match="did you mean 'density'.*remix list measures"):
        Registry("measure", "parts_of_this_test", Part)["densty"]


def test_registry_when_two_parts_share_a_name_refuses(package: Path) -> None:
    write(package, "one", "density")
    (package / "two.py").write_text(
        "from tests.test_registry import Part\nclass Sub(Part): pass\npart = Sub('density')"
    )
    with pytest.raises(Error, match="two measures are named 'density'"):
        Registry("measure", "parts_of_this_test", Part).names()


def test_registry_when_another_distribution_has_the_name_refuses_it(package: Path) -> None:
    write(package, "density", "density")
    about = package.parent / "third-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parts_of_this_test]\ndensity = third_party:part\n")
    (package.parent / "third_party.py").write_text("from tests.test_registry import Part\npart = Part('density')")
    with pytest.raises(Error, match="two measures are named 'density'"):
        Registry("measure", "parts_of_this_test", Part)["density"]


def test_registry_when_its_package_has_definitions_takes_entry_points_of_the_package_above(package: Path) -> None:
    (package / "definitions").mkdir()
    write(package / "definitions", "__init__")
    about = package.parent / "third-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parts_of_this_test]\nother = parts_of_this_test.third:part_0\n")
    write(package, "third", "other")
    assert Registry("measure", "parts_of_this_test.definitions", Part).names() == ["other"]
