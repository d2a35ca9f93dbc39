"""Damaged files of every format are read or refused in one line, the same each time; `bench/fuzz.py` tries millions."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.fuzz import SEEDS, Input, failure, made, outcome
from remix.formats import FORMATS

EXAMPLES = 600 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 15


def test_every_format_is_fuzzed() -> None:
    lacking = sorted({one.name for one in FORMATS} - set(SEEDS))
    assert not lacking, f"give {lacking} a small file each in SEEDS of bench/fuzz.py, which is damaged in all ways"
    assert set(SEEDS) <= {one.name for one in FORMATS}, "SEEDS of bench/fuzz.py names what is no format"


@pytest.mark.at_hand(12)
@pytest.mark.parametrize("format", sorted(SEEDS))
def test_the_files_that_are_damaged_are_fine_before(tmp_path: Path, format: str) -> None:
    for name, content in SEEDS[format]:
        data = content if isinstance(content, bytes) else content.encode()
        assert "error=None" in outcome(Input(name, data, None), tmp_path)


def test_digits_of_other_scripts_are_no_numbers_of_a_format(tmp_path: Path) -> None:
    """The engine takes them for digits in a pattern, and for no number behind it, which ended in a defect."""
    (name, webanno), *_ = SEEDS["webanno-tsv"]
    (called, hipe), *_ = SEEDS["hipe"]
    text = webanno if isinstance(webanno, str) else webanno.decode()
    numbered = re.sub(r"(?m)^(1-1\t\d+-)\d+", "\\g<1>\u0663", text)
    assert numbered != text
    assert "Unforeseen" not in outcome(Input(name, numbered.encode(), None), tmp_path)
    lines = (hipe if isinstance(hipe, str) else hipe.decode()).splitlines()
    lines.insert(1, "# date = \u0661\u0668\u0669\u0660-\u0660\u0661-\u0660\u0662")
    assert "Unforeseen" not in outcome(Input(called, "\n".join(lines).encode(), None), tmp_path)


@pytest.mark.parametrize("seed", [0, 1])  # two halves, which two processes may try at the same time
@settings(max_examples=EXAMPLES // 2)
@given(number=st.integers(0, 2**32))
@example(number=5278)
def test_damaged_files_are_read_or_refused_in_one_line_and_the_same_each_time(seed: int, number: int) -> None:
    with TemporaryDirectory() as folder:
        assert failure(made(seed, number), Path(folder)) == ""
