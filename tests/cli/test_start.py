"""What starting loads: nothing heavy that is not used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from remix.frames import Frames
from remix.frames_folder import finish, under_way, write_part

HEAVY = {"duckdb", "matplotlib", "narwhals", "pyoxigraph", "rapidfuzz", "rdflib", "scipy"}
HEAVY |= {"ssl", "tqdm", "yaml", "zstandard"}


def loaded(*arguments: str) -> set[str]:
    """Return the packages that are loaded at the end of a command."""
    code = (
        "import atexit, sys; from remix.cli import cli; "
        "atexit.register(lambda: print(*{name.partition('.')[0] for name in sys.modules})); "
        "cli.main(sys.argv[1:], standalone_mode=False)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.long
def test_help_loads_no_frames() -> None:
    assert not loaded("--help") & {*HEAVY, "numpy", "polars"}


@pytest.mark.long
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


@pytest.mark.long
def test_neither_load_nor_stats_imports_numpy(tmp_path: Path) -> None:
    prefixes = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    prefixes += "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .\n"
    annotation = '<http://x/d#char=0,3> nif:referenceContext <http://x/d> ; nif:anchorOf "Zoë" ;'
    annotation += " nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Zoe> ."
    file = tmp_path / "corpus.ttl"
    file.write_text(f'{prefixes}<http://x/d> a nif:Context ; nif:isString "Zoë met Bo." .\n{annotation}\n')
    found = loaded("--quiet", "load", str(file), "--workspace", str(tmp_path / "work"))
    assert "pyoxigraph" in found
    assert "numpy" not in found | loaded("--quiet", "stats", "--workspace", str(tmp_path / "work"))
