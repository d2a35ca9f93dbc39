"""A dataset is one thing to its users: loaded, a file, a folder of frames or a remix, every verb takes it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import remix
from remix.formats import read
from remix.frames_folder import finish, under_way, write_part
from remix.remixes import Remix

SMALL = Path(__file__).parent.parent / "runs" / "small"

# Gold has Ada, Alan, Bob (NIL) and New York City; of system b Ada and Alan are right, and nothing else is answered.
B = (2, 0, 2)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> remix.Workspace:
    made = remix.open(tmp_path_factory.mktemp("datasets") / "w")
    made.load(SMALL / "gold.ttl")
    return made


@pytest.fixture(scope="module", params=["loaded", "file", "frames", "remix"])
def dataset(
    request: pytest.FixtureRequest, workspace: remix.Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Path | str | Remix:
    if request.param == "loaded":
        return "gold"
    if request.param == "file":
        return SMALL / "gold.ttl"
    if request.param == "remix":
        return workspace.build("SELECT ?annotation { ?annotation a nif:Phrase }", name="all-of-it")
    folder = tmp_path_factory.mktemp("frames") / "parts"
    with under_way(folder, {}) as place:
        write_part(place, 0, read(SMALL / "gold.ttl", name="parts").frames)
        finish(place, folder, {"name": "parts", "iri": "urn:remix:dataset:parts", "parts": 1})
    return folder


def name_of(dataset: Path | str | Remix) -> str:
    return dataset.name if isinstance(dataset, Remix) else Path(dataset).stem


@pytest.mark.at_hand(1)
def test_stats_measures_it(workspace: remix.Workspace, dataset: Path | str | Remix) -> None:
    rows = workspace.stats(dataset).datasets
    assert rows["dataset"].unique().to_list() == [name_of(dataset)]
    assert rows.filter(measure="numAnnotations", average="count")["value"].item() == 4


def test_check_looks_at_it(workspace: remix.Workspace, dataset: Path | str | Remix) -> None:
    assert "error" not in workspace.check(dataset)["severity"].to_list()


def test_convert_writes_it(workspace: remix.Workspace, dataset: Path | str | Remix, tmp_path: Path) -> None:
    done = workspace.convert(dataset, tmp_path / "out.csv")
    assert done.format == "csv"
    assert sorted(pl.read_csv(tmp_path / "out.csv")["surface_form"]) == ["Ada", "Alan", "Bob", "New York City"]


def test_annotate_runs_over_it(workspace: remix.Workspace, dataset: Path | str | Remix) -> None:
    workspace.attach_kb()
    assert workspace.annotate(dataset, "prior")["documents"].to_list() == [1]


def test_evaluate_scores_on_it(workspace: remix.Workspace, dataset: Path | str | Remix) -> None:
    found = workspace.evaluate(dataset, run={"b": SMALL / "b.ttl"}, task="A2KB", match="strong")
    assert found.rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0) == B
    lines = repr(found).splitlines()
    assert len(lines) <= 10 and any("b " in line for line in lines)
    assert "<table" in found._repr_html_()


def test_publish_describes_it(workspace: remix.Workspace, dataset: Path | str | Remix, tmp_path: Path) -> None:
    files = workspace.publish(dataset, to=tmp_path / "published")
    assert f"{name_of(dataset)}.ttl" in [file.name for file in files]
    assert read(files[0]).frames.annotations.height == 4


def test_remix_is_loaded_without_a_file(workspace: remix.Workspace, tmp_path: Path) -> None:
    other = remix.open(tmp_path / "other")
    [loaded] = other.load(workspace.build("SELECT ?annotation { ?annotation a nif:Phrase }", name="mine"))
    assert (loaded.name, loaded.status) == ("mine", "loaded")
    assert other.store.frames().annotations.height == 4


def test_two_datasets_of_one_name_are_told_apart(workspace: remix.Workspace) -> None:
    with pytest.raises(remix.Error, match="two datasets are called 'gold'"):
        workspace.stats(["gold", SMALL / "gold.ttl"])


@pytest.mark.long
def test_what_verbs_return_prints_itself_in_ten_lines(workspace: remix.Workspace) -> None:
    asked = (
        workspace.load(SMALL / "gold.ttl"),
        workspace.stats("gold"),
        workspace.query("SELECT ?s ?p ?o { ?s ?p ?o }"),
        workspace.build("SELECT ?annotation { ?annotation a nif:Phrase }", name="mine"),
        workspace.evaluate("gold", run={"b": SMALL / "b.ttl"}, by="class"),
    )
    for found in asked:
        lines = repr(found).splitlines()
        assert len(lines) <= 10, lines
        assert all(len(line) <= 120 for line in lines)
        assert "<table" in found._repr_html_()


SIZED = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix rmx: <https://w3id.org/nel-remix/ns#> .
@prefix x: <http://x.org/> .
x:1 a nif:Context ; nif:isString "Ada met Alan" .
x:1a a nif:Phrase ; nif:referenceContext x:1 ; nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef x:Ada, x:Countess .
x:1b a nif:Phrase ; nif:referenceContext x:1 ; nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef x:Lovelace .
x:1c a rmx:Ignorable ; rmx:document x:1 ; rmx:ignorable "optional" ;
  nif:beginIndex 8 ; nif:endIndex 12 ; itsrdf:taIdentRef x:Alan .
x:2a a nif:Phrase ; nif:referenceContext x:2 ; nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef x:Bob .
"""


def test_every_verb_says_how_large_a_dataset_is_in_the_same_words_and_numbers(tmp_path: Path) -> None:
    (tmp_path / "sized.ttl").write_text(SIZED)
    workspace = remix.open(tmp_path / "w")
    # Ada is one mention of two annotations, Bob's document has no text, Alan may be found or not.
    expected = {"documents": 1, "annotations": 3, "mentions": 2, "alternatives": 1, "optional": 1, "dangling": 1}
    loaded = workspace.load(tmp_path / "sized.ttl").table.row(0, named=True)
    listed = workspace.listing("datasets").filter(loaded=True).row(0, named=True)
    told = {row["what"]: row["value"] for row in workspace.info().to_dicts()}
    counts = workspace.stats("sized").rows.filter(average="count")
    measured = dict(counts.select("measure", "value").iter_rows())
    for said in (loaded, listed, told, measured):
        assert {name: int(said[name]) for name in expected} == expected
    shown = workspace.show("sized")
    assert all(f"\n{name}: {number}\n" in shown for name, number in expected.items())
