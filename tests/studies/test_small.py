"""The small results that other tests count from are what they say."""

from __future__ import annotations

import pytest

from tests.studies.small import shuffle, small_results


def test_small_results_are_results_in_every_order_of_rows() -> None:
    """They are as they are declared, and what is counted by hand is in them."""
    results = small_results()
    results.check("the small study")
    shuffle(results, seed=1).check("the small study")
    whole = results.headline().filter(target="all", column="")
    assert dict(whole.select("system", "f1").iter_rows()) == {
        "One": pytest.approx(12 / 15),
        "Two": pytest.approx(10 / 15),
        "Three": pytest.approx(6 / 13),
        "Prior": pytest.approx(8 / 14),
    }
