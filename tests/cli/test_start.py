"""What starting loads: nothing heavy that is not used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl

from remix.frames import Frames
from remix.frames_folder import finish, under_way, write_part

HEAVY = {"duckdb", "matplotlib", "narwhals", "pyoxigraph", "rapidfuzz", "rdflib", "scipy"}
HEAVY |= {"ssl", "tqdm", "yaml", "zstandard"}


def loaded(*arguments: str) -> set[str]:
    """Return the packages that are loaded at the end of a command."""
    code = (
        "import sys; from remix.cli import cli; "
        "cli.main(sys.argv[1:], standalone_mode=False); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_no_frames() -> None:
    assert not loaded("--help") & {*HEAVY, "numpy", "polars"}


def test_plain_evaluation_loads_neither_store_nor_knowledge_base(tmp_path: Path) -> None:
    frames = Frames.of(
        documents=pl.DataFrame({"document": ["d"], "dataset": ["x"]}),
        annotations=pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3]}),
        links=pl.DataFrame({"annotation": ["a"], "entity": ["http://dbpedia.org/resource/Ada"]}),
    )
    folder = tmp_path / "gold"
    with under_way(folder, {}) as place:
        write_part(place, 0, frames)
        finish(place, folder, {"name": "gold", "iri": "urn:remix:dataset:gold", "parts": 1})
    found = loaded("--quiet", "evaluate", "--gold", str(folder), "--run", f"s={folder}", "-o", "json")
    assert "polars" in found
    assert not found & HEAVY
