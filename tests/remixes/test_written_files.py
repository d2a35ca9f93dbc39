"""What `build` and `publish` overwrite, and that a remix and its manifest appear together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remix.errors import Error, UsageError
from remix.store import Store
from remix.workspace import Workspace
from tests.commands import run_verb

QUERY = "SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }"


def write(store: Store, to: Path, verb: str, *, force: bool = False) -> None:
    """Writes the dataset, as a remix or published, into a folder."""
    workspace = Workspace(store.folder)
    if verb == "build":
        workspace.build(QUERY, to=to, name="all", force=force)
    else:
        workspace.publish("news", to=to, force=force)


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("verb", ["build", "publish"])
@pytest.mark.parametrize("ending", ["ttl", "manifest.ttl"])
def test_file_whose_name_remix_chose_is_overwritten_only_beside_its_own_manifest(
    verb: str, ending: str, small_store: Store, tmp_path: Path
) -> None:
    to = tmp_path / "out"
    to.mkdir()
    mine = to / f"{'all' if verb == 'build' else 'news'}.{ending}"
    mine.write_text("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(UsageError, match=rf"{mine.name} is there already, .* --force overwrites it"):
        write(small_store, to, verb)
    assert [file.read_text() for file in to.iterdir()] == ["<urn:a> <urn:b> <urn:c> ."]
    write(small_store, to, verb, force=True)
    written = mine.read_bytes()
    write(small_store, to, verb)  # its own manifest is there now
    assert mine.read_bytes() == written


@pytest.mark.long
def test_publish_keeps_the_checksums_of_other_files(small_store: Store, tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  mine.txt\n")
    for name in ("news", "posts"):
        Workspace(small_store.folder).publish(name, to=tmp_path)
    names = {line.split("  ")[1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines()}
    suffixes = ("croissant.json", "dataid.ttl", "dcat.ttl", "manifest.ttl", "parquet", "ttl")
    described = {f"{name}.{suffix}" for name in ("news", "posts") for suffix in suffixes}
    # Figures are of what a dataset has.
    figures = {name for name in names if name.endswith(".svg")}
    assert {name.split(".")[0] for name in figures} == {"news", "posts"}
    shared = {"README.md", "CITATION.cff", "index.html", "ontology.html"}
    assert names - figures == {"mine.txt"} | shared | described


def test_remix_and_manifest_appear_together_or_not_at_all(small_store: Store, tmp_path: Path) -> None:
    made = Workspace(small_store.folder).build(QUERY, name="all")
    to = tmp_path / "out"
    (to / "all.manifest.ttl").mkdir(parents=True)  # so that the second of the two cannot be written
    with pytest.raises(Error, match="cannot be written"):
        made.write(to, force=True)
    assert [file.name for file in to.iterdir()] == ["all.manifest.ttl"]


@pytest.mark.long
def test_remix_is_written_to_the_file_that_is_named_with_its_manifest_beside_it(
    small_store: Store, tmp_path: Path
) -> None:
    write(small_store, tmp_path / "mine.ttl", "build")
    assert {file.name for file in tmp_path.iterdir()} == {"mine.ttl", "mine.manifest.ttl"}
    write(small_store, tmp_path / "mine.ttl", "build")  # its manifest says that it is a remix
    (tmp_path / "other.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(UsageError, match=r"other\.ttl is there already"):
        write(small_store, tmp_path / "other.ttl", "build")


def test_file_of_another_suffix_is_refused_before_the_query_runs(tmp_path: Path) -> None:
    """Were it refused afterwards, the empty workspace would have the sample corpus, and the query be refused first."""
    work = Workspace(tmp_path / ".remix")
    with pytest.raises(UsageError, match="is called like a file"):
        work.build("SELECT no query", to=tmp_path / "out.nt")
    assert work.datasets() == []


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "--query", QUERY, "--to", "out.nt"),
        ("publish", "sample-news", "--to", "out.ttl"),
        ("partition", "--by", "ambiguitySurfaceForm", "--to", "out.csv"),
        ("convert", "x.jsonl", "out.ttl", "--to", "frames"),
        ("load", "--to", "frames", "out.parquet", "x.nt"),
    ],
)
def test_no_verb_makes_a_folder_that_is_called_like_a_file(arguments: tuple[str, ...], tmp_path: Path) -> None:
    line = {"document": "d", "text": "in Bonn", "begin": 3, "end": 7, "entity": "http://dbpedia.org/resource/Bonn"}
    (tmp_path / "x.jsonl").write_text(json.dumps(line) + "\n")
    assert run_verb("convert", "x.jsonl", "x.nt", folder=tmp_path).returncode == 0
    done = run_verb(*arguments, folder=tmp_path)
    assert done.returncode == 2 and "is called like a file" in done.stderr, done
    assert "name it as out" in done.stderr
    assert not [file for file in tmp_path.iterdir() if "out" in file.name]
