"""The shipped queries on the sample corpus: each makes a remix that is neither empty nor everything."""

from __future__ import annotations

import pytest

from remix.measures._enriching import named_frames
from remix.remixes.sample import ensure_sample
from remix.store import Store
from remix.store.queries import find, shipped
from remix.store.selection import select


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("sample") / ".remix")
    assert ensure_sample(store)
    return store


@pytest.mark.parametrize("name", sorted(set(shipped()) - {"born_before"}))
def test_query_on_the_sample_selects_a_non_empty_proper_part(sample: Store, name: str) -> None:
    frames = named_frames(sample)
    found = select(sample.index(), find(name).text, frames)
    assert 0 < len(found.annotations) < frames.gold().annotations.height
    assert 0 < len(found.documents) < frames.documents.height


def test_sample_is_taken_only_once(sample: Store) -> None:
    before = sample.datasets()
    assert not ensure_sample(sample)
    assert sample.datasets() == before
