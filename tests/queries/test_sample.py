"""The shipped queries on the sample corpus: each makes a remix that is neither empty nor everything."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.measures.enrichment import named_frames
from remix.sample import ensure_sample
from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.selection import select
from remix.systems import SYSTEMS
from remix.workspace import Workspace


@pytest.fixture(scope="module")
def sample(sample_store: Store) -> Store:
    return sample_store


@pytest.fixture(scope="module")
def with_runs(sample_workspace: Callable[[], Workspace]) -> Store:
    """The sample corpus with the runs of the three systems stored beside it."""
    workspace = sample_workspace()
    workspace.annotate((), SYSTEMS.names())
    workspace.store_runs([entry.name for entry in workspace.datasets()])
    workspace.difficulty()
    return workspace.store


TAGS = {name: find(name).tags for name in shipped_queries()}


@pytest.mark.parametrize("name", sorted(n for n in TAGS if "runs" not in TAGS[n] and n != "born_before"))
def test_query_on_the_sample_selects_a_non_empty_proper_part(sample: Store, name: str) -> None:
    frames = named_frames(sample)
    found = select(sample.index(), find(name).text, frames)
    assert 0 < len(found.annotations) < frames.gold().annotations.height
    assert 0 < len(found.documents) < frames.documents.height


@pytest.mark.parametrize("name", sorted(n for n in TAGS if "runs" in TAGS[n] and "table" not in TAGS[n]))
def test_query_on_runs_of_the_sample_selects_a_non_empty_proper_part(with_runs: Store, name: str) -> None:
    frames = named_frames(with_runs)
    found = select(with_runs.index(), find(name).text, frames)
    assert 0 < len(found.annotations) < frames.gold().annotations.height
    assert 0 < len(found.documents) < frames.documents.height


def test_confused_pairs_of_the_sample_come_with_the_most_frequent_first(with_runs: Store) -> None:
    rows = with_runs.index().frame(find("confused_pairs").text)
    assert rows.columns == ["entity", "answered", "mentions", "systems"]
    counts = rows["mentions"].str.extract(r'"(\d+)"').cast(pl.Int64)
    assert len(counts) > 1
    assert counts.is_sorted(descending=True)
    assert counts.min() == 2  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("name", ["difficult", "many_persons", "nil_only", "persons_hard"])
def test_query_for_gold_selects_the_same_with_runs_beside_it(sample: Store, with_runs: Store, name: str) -> None:
    before, after = (select(store.index(), find(name).text, named_frames(store)) for store in (sample, with_runs))
    assert after.annotations.sort().to_list() == before.annotations.sort().to_list()


PAGE = (Path(__file__).parent.parent.parent / "docs" / "queries.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"\*\*([^*]+)\*\*\n\n```sparql\n(PREFIX.*?)```", PAGE, flags=re.DOTALL))


def test_five_recipes_are_documented() -> None:
    assert len(RECIPES) == 5


@pytest.mark.parametrize("title", sorted(RECIPES))
def test_recipe_of_the_documentation_selects_a_non_empty_proper_part(sample: Store, title: str) -> None:
    frames = named_frames(sample)
    found = select(sample.index(), RECIPES[title], frames)
    assert 0 < len(found.annotations) < frames.gold().annotations.height


def test_queries_and_sets_that_the_documentation_names_are_shipped() -> None:
    names = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE)) - {"min_confusion", "class_mapping"}
    assert names <= set(shipped_queries())
    for name in ("persons_hard", "places_hard", "organisations_hard", "annotations_between", "density_between"):
        assert "percentiles" in find(name).sets


def test_sample_is_taken_only_once(sample: Store) -> None:
    before = sample.datasets()
    assert not ensure_sample(sample)
    assert sample.datasets() == before
