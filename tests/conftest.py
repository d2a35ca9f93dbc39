"""Fixtures that several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets: `REMIX_REAL_DATA`, by default `../shared/data` beside the checkout."""
    folder = Path(os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data"))
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no real data at {folder}: CI needs it")
        pytest.skip(f"no real data at {folder}; set REMIX_REAL_DATA to test against it")
    return folder
