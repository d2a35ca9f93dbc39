"""The wheel holds what the project ships with, and works without the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.mark.long
def test_wheel_when_unpacked_elsewhere_finds_its_resources(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(tmp_path / made.stdout.split()[-1]) as wheel:
        wheel.extractall(tmp_path / "site")
    look = "from remix.resources import folder\nfor n in ('queries', 'ontology', 'datasets'): print(folder(n))"
    found = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{look}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    folders = [Path(line) for line in found.stdout.split()]
    assert all(folder.is_relative_to(tmp_path) for folder in folders)
    assert all(any(folder.iterdir()) for folder in folders)
    editor = tmp_path / "site" / "remix" / "web" / "assets" / "codemirror"
    assert {file.name for file in editor.iterdir()} == {"codemirror.js", "LICENSES.txt"}
    assert (tmp_path / "site" / "remix" / "_data" / "ontology" / "terms.tsv").is_file()
