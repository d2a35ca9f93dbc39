"""The shipped queries on the sample corpus: each makes a remix that is neither empty nor everything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from remix.frames import Frames
from remix.measures.enrichment import named_frames
from remix.sample import ensure_sample
from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.selection import Selection, select
from remix.workspace import Workspace
from tests.workspaces import copy_workspace


@dataclass(frozen=True)
class Sample:
    """The sample corpus as a store, whose frames are read once."""

    store: Store
    frames: Frames

    @classmethod
    def of(cls, store: Store) -> Sample:
        return cls(store, named_frames(store))

    def select(self, query: str) -> Selection:
        return select(self.store.index(), query, self.frames)

    def has_a_part(self, query: str) -> bool:
        """Whether a query selects some annotations and documents, and not all."""
        found = self.select(query)
        annotations, documents = self.frames.gold().annotations.height, self.frames.documents.height
        return 0 < len(found.annotations) < annotations and 0 < len(found.documents) < documents


@pytest.fixture(scope="module")
def sample(sample_store: Store) -> Sample:
    return Sample.of(sample_store)


@pytest.fixture(scope="module")
def with_runs(answered_sample: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The sample corpus with the runs of the three systems stored beside it."""
    workspace = copy_workspace(answered_sample.folder, tmp_path_factory.mktemp("own") / ".remix")
    workspace.difficulty()
    return Sample.of(workspace.store)


TAGS = {name: find(name).tags for name in shipped_queries()}


@pytest.mark.at_hand(8)
@pytest.mark.parametrize("name", sorted(n for n in TAGS if "runs" not in TAGS[n] and n != "born_before"))
def test_query_on_the_sample_selects_a_non_empty_proper_part(sample: Sample, name: str) -> None:
    assert sample.has_a_part(find(name).text)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", sorted(n for n in TAGS if "runs" in TAGS[n] and "table" not in TAGS[n]))
def test_query_on_runs_of_the_sample_selects_a_non_empty_proper_part(with_runs: Sample, name: str) -> None:
    assert with_runs.has_a_part(find(name).text)


def test_confused_pairs_of_the_sample_come_with_the_most_frequent_first(with_runs: Sample) -> None:
    rows = with_runs.store.index().frame(find("confused_pairs").text)
    assert rows.columns == ["entity", "answered", "mentions", "systems"]
    counts = rows["mentions"].str.extract(r'"(\d+)"').cast(pl.Int64)
    assert len(counts) > 1
    assert counts.is_sorted(descending=True)
    assert counts.min() == 2  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("name", ["difficult", "many_persons", "nil_only", "persons_hard"])
def test_query_for_gold_selects_the_same_with_runs_beside_it(sample: Sample, with_runs: Sample, name: str) -> None:
    before, after = (one.select(find(name).text) for one in (sample, with_runs))
    assert after.annotations.sort().to_list() == before.annotations.sort().to_list()


PAGE = (Path(__file__).parent.parent.parent / "docs" / "queries.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"\*\*([^*]+)\*\*\n\n```sparql\n(PREFIX.*?)```", PAGE, flags=re.DOTALL))


def test_five_recipes_are_documented() -> None:
    assert len(RECIPES) == 5


@pytest.mark.parametrize("title", sorted(RECIPES))
def test_recipe_of_the_documentation_selects_a_non_empty_proper_part(sample: Sample, title: str) -> None:
    found = sample.select(RECIPES[title])
    assert 0 < len(found.annotations) < sample.frames.gold().annotations.height


def test_queries_and_sets_that_the_documentation_names_are_shipped() -> None:
    names = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE)) - {"min_confusion", "class_mapping"}
    assert names <= set(shipped_queries())
    for name in ("persons_hard", "places_hard", "organisations_hard", "annotations_between", "density_between"):
        assert "percentiles" in find(name).sets


def test_sample_is_taken_only_once(sample_store: Store) -> None:
    before = sample_store.datasets()
    assert not ensure_sample(sample_store)
    assert sample_store.datasets() == before
