"""Remixes of some datasets, and of texts that several datasets have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from remix.errors import UnknownName
from remix.remixes import Remix
from remix.workspace import Workspace

SMALL = Path(__file__).parents[1] / "runs" / "small"
ADA = "SELECT ?annotation { ?annotation a nif:Phrase ; nif:anchorOf 'Ada' }"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One text in three editions, old, new and wiki, where wiki has no Ada, and a fourth dataset of another text."""
    folder = tmp_path_factory.mktemp("editions")
    made = Workspace(folder / ".remix")
    text = (SMALL / "gold.ttl").read_text()
    texts = {
        "new": text.replace("New York City.", "New York City.\\n"),
        "old": text,
        "other": text.replace("Ada met Alan", "Ada saw Alan"),
        "wiki": text.replace('anchorOf "Ada"', 'anchorOf "Ada met"').replace('endIndex "3"', 'endIndex "7"'),
    }
    for name, content in texts.items():
        (folder / f"{name}.ttl").write_text(content)
        made.load(folder / f"{name}.ttl")
    return made


def kept(remix: Remix) -> dict[str, int]:
    rows = remix.counts.filter(remix.counts["dataset"] != "all")
    return dict(rows.select("dataset", "kept").iter_rows())


@pytest.mark.at_hand(2)
@pytest.mark.parametrize(
    ("dataset", "edition", "expected"),
    [
        ([], [], {"new": 1, "old": 0, "other": 1, "wiki": 0}),
        ([], ["old"], {"new": 0, "old": 1, "other": 1, "wiki": 0}),
        # The edition that is preferred is not selected: of the others it is the first by name.
        ([], ["wiki"], {"new": 1, "old": 0, "other": 1, "wiki": 0}),
        ([], ["all"], {"new": 1, "old": 1, "other": 1, "wiki": 0}),
        (["old"], [], {"old": 1}),
        (["old", "new"], [], {"old": 1, "new": 0}),
        (["old", "new"], ["new"], {"old": 0, "new": 1}),
    ],
)
def test_text_of_several_datasets_counts_once_in_the_edition_that_is_chosen(
    workspace: Workspace, dataset: Sequence[str], edition: Sequence[str], expected: dict[str, int]
) -> None:
    assert kept(workspace.build(ADA, dataset=dataset, edition=edition, name="ada")) == expected


def test_edition_that_is_kept_is_said_and_stands_in_manifest_and_signature(workspace: Workspace) -> None:
    made = workspace.build(ADA, name="ada", dataset=["old", "new"])
    assert (
        "1 text of new is in old, too, and counted there: --edition new keeps this edition, --edition all both"
        in made.notes
    )
    rows = made.manifest.filter(made.manifest["predicate"].str.contains("#(editions|otherEdition)>"))
    told = {name.rpartition("#")[2]: value for name, value in rows.select("predicate", "object").iter_rows()}
    assert told == {"editions>": '"old > new"', "otherEdition>": "<urn:remix:dataset:new/1>"}
    assert made.signature.fields["editions"] == "old > new"
    # Where no text is shared nothing is said.
    alone = workspace.build(ADA, name="ada", dataset="old")
    assert alone.notes == () and "editions" not in alone.signature.fields


def test_query_sees_the_datasets_that_are_named_and_no_others(workspace: Workspace) -> None:
    # Forms that stand once in what the query sees: in four datasets there is none but 'Ada met'.
    once = """SELECT ?annotation { ?annotation nif:anchorOf ?form
      FILTER NOT EXISTS { ?other nif:anchorOf ?form FILTER (?other != ?annotation) } }"""
    assert kept(workspace.build(once, name="once")) == {"new": 0, "old": 0, "other": 0, "wiki": 1}
    assert kept(workspace.build(once, name="once", dataset="old")) == {"old": 4}
    with pytest.raises(UnknownName, match="no dataset named 'od'; did you mean 'old'"):
        workspace.build(once, dataset="od")
    with pytest.raises(UnknownName, match="no dataset to keep the edition of named 'wiki'"):
        workspace.build(once, dataset="old", edition="wiki")


def test_text_that_is_kept_in_one_edition_is_emptied_in_none(workspace: Workspace, tmp_path: Path) -> None:
    # Ada stands in new, old and other, wiki's document of the same text is emptied: answers there would count twice.
    made = workspace.build(ADA, name="ada")
    assert not [line for line in made.manifest["predicate"] if "emptiedDocument>" in line]
    # Nobody is called so in any: the one text of three editions is emptied once, and the other one.
    alan = "SELECT ?annotation { ?annotation a nif:Phrase ; nif:anchorOf 'Ada met' }"
    emptied = workspace.build(alan, name="met").manifest.filter(
        predicate="<https://w3id.org/nel-remix/ns#emptiedDocument>"
    )
    assert emptied["object"].to_list() == ["<urn:remix:dataset:other/1>"]
