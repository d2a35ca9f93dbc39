"""A remix built again from its manifest alone: the same bytes of the same datasets, else what is other is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remix.errors import BadInput, QueryError, UsageError
from remix.workspace import Workspace
from tests.commands import run_verb

pytestmark = pytest.mark.long
QUERY = "SELECT ?annotation { ?annotation nif:referenceContext ?document }"


@pytest.fixture(scope="module")
def work(sample_workspace: Callable[[], Workspace]) -> Workspace:
    return sample_workspace()


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "persons_hard", "values": {"min_confusion": 3}, "name": "mine"},
        {"query": "persons_hard", "set_from": "percentiles"},
        {"query": "persons_hard", "limit": 9, "seed": 4},
        {"query": "persons_hard", "limit": 9, "drop": True},
        {"query": "persons_hard", "dataset": ["sample-posts", "sample-news"], "edition": ["sample-posts"]},
        {"query": "persons_hard", "edition": "all"},
        {"query": QUERY},
        {"query": "sample.properties#Persons"},
        {"balance": "class", "seed": 3, "balance_share": {"class:Person": 2, "class:Place": 1}, "balance_tolerance": 1},
    ],
    ids=str,
)
def test_the_same_bytes_come_of_a_manifest(work: Workspace, tmp_path: Path, asked: dict[str, Any]) -> None:
    name = work.build(**asked, to=tmp_path / "theirs").name
    made = work.build_again(tmp_path / "theirs" / f"{name}.manifest.ttl", to=tmp_path / "mine")
    assert made.notes[-1] == f"{name}.ttl comes out again, byte for byte"
    for file in (f"{name}.ttl", f"{name}.manifest.ttl"):
        assert (tmp_path / "mine" / file).read_bytes() == (tmp_path / "theirs" / file).read_bytes()
    # The manifest is enough: nothing of the remix is read.
    (tmp_path / "theirs" / f"{name}.ttl").unlink()
    alone = work.build_again(tmp_path / "theirs" / f"{name}.manifest.ttl")
    assert alone.triples.equals(made.triples) and alone.notes[-1] == "all that it is built of is as it was"


def test_published_remix_with_runs_is_built_again_as_it_was(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    """The signature of a run that its manifest tells was taken for that of the remix, which was then called '0.1.0'."""
    work = sample_workspace()
    work.build("persons_hard", to=tmp_path / "built")
    work.load(tmp_path / "built" / "persons_hard.ttl")
    work.annotate("persons-hard", system="prior")
    work.publish("persons-hard", to=tmp_path / "published")
    made = work.build_again(tmp_path / "published" / "persons-hard.manifest.ttl", to=tmp_path / "again")
    assert made.notes[-1] == "persons-hard.ttl is published, with more than the remix has, and is not compared"
    assert not [note for note in made.notes if " is other" in note]
    for file in ("persons_hard.ttl", "persons_hard.manifest.ttl"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "built" / file).read_bytes()


def test_what_is_other_than_it_was_is_told(sample_workspace: Callable[[], Workspace], tmp_path: Path) -> None:
    work = sample_workspace()
    text = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    text += "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .\n"
    text += '<http://x/1> a nif:Context ; nif:isString "Ada ran." ; nif:beginIndex 0 ; nif:endIndex 8 .\n'
    text += '<http://x/1#0> a nif:Phrase ; nif:referenceContext <http://x/1> ; nif:anchorOf "Ada" ; nif:beginIndex 0 ; '
    text += "nif:endIndex 3 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Ada_Lovelace> .\n"
    (tmp_path / "own.ttl").write_text(text)
    work.load(tmp_path / "own.ttl")
    work.build(QUERY, name="mine", dataset="own", to=tmp_path)
    manifest = tmp_path / "mine.manifest.ttl"
    remix = (tmp_path / "mine.ttl").read_text()
    (tmp_path / "mine.ttl").write_text(remix + "# mine\n")
    assert work.build_again(manifest).notes[-1] == "mine.ttl comes out otherwise: it was changed since it was written"
    (tmp_path / "mine.ttl").write_text(remix)
    (tmp_path / "own.ttl").write_text(text.replace("Ada_Lovelace", "Ada_Yonath"))
    work.load(tmp_path / "own.ttl", replace=True)
    *_, changed, told = work.build_again(manifest).notes
    assert changed.startswith("own has other content: it was ")
    assert told == "mine.ttl comes out otherwise"
    work.drop("own")
    with pytest.raises(UsageError, match="mine is of own, not loaded: `remix load FILE --name own`"):
        work.build_again(manifest)


def test_what_is_no_manifest_and_what_it_may_not_ask_is_refused(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    for name in ("a.ttl", "a.manifest.ttl"):
        with pytest.raises(BadInput, match="is no manifest of a remix"):
            work.build_again(tmp_path / name)
    work.build(QUERY, name="mine", to=tmp_path)
    manifest = tmp_path / "mine.manifest.ttl"
    asking = QUERY.replace("{ ?annotation", "{ SERVICE <http://127.0.0.1:9/sparql> { ?annotation a ?any } ?annotation")
    manifest.write_text(manifest.read_text().replace(QUERY, asking))
    with pytest.raises(QueryError, match=r"http://127\.0\.0\.1:9/sparql"):
        work.build_again(manifest)


def test_a_manifest_from_the_command_line_decides_all_choices(work: Workspace, tmp_path: Path) -> None:
    work.build("persons_hard", to=tmp_path)

    def run(*arguments: str) -> Any:
        return run_verb("build", *arguments, "-w", str(work.folder), folder=tmp_path)

    done = run("--from", "persons_hard.manifest.ttl", "--to", "again")
    assert done.returncode == 0 and "persons_hard.ttl comes out again, byte for byte" in done.stderr
    assert (tmp_path / "again" / "persons_hard.ttl").read_bytes() == (tmp_path / "persons_hard.ttl").read_bytes()
    refused = run("--from", "persons_hard.manifest.ttl", "--limit", "3", "--query", "persons")
    assert refused.returncode == 2
    assert "--from takes all choices of the manifest: leave out --query, --limit" in refused.stderr
