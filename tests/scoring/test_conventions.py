"""The page of conventions, and the example that it scores."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.frames import Frames
from remix.scoring import PROFILES
from remix.scoring.conventions import Convention
from remix.scoring.differences import Counting, headlines
from remix.scoring.inputs import Inputs
from remix.scoring.profiles import CONVENTIONS, Conventions

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PAGE = CHECKOUT / "docs" / "conventions.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that writes the page, as a module."""
    if not PAGE.is_file():
        pytest.skip("the documentation is in a checkout")
    spec = importlib.util.spec_from_file_location("conventions_script", CHECKOUT / "scripts" / "conventions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_page_of_conventions_is_up_to_date(script):
    assert PAGE.read_text(encoding="utf-8") == script.documentation(), "run `python scripts/conventions.py`"


def test_every_aspect_is_a_field_of_its_type_and_every_convention_is_of_some_profile():
    assert [rule.aspect for rule in Conventions()] == [one.name for one in fields(Conventions)]
    assert {type(rule) for rule in CONVENTIONS} == {type(rule) for rule in Conventions()}
    used = {rule for profile in PROFILES for rule in profile.conventions}
    assert used == set(CONVENTIONS)


def test_new_aspect_is_a_class_and_a_field(frames):
    class Openings(Convention):
        """Mentions that texts begin with."""

    @dataclass(frozen=True, kw_only=True)
    class Wider(Conventions):
        openings: Openings = Openings(name="openings-count", words="a mention may open a text")

    def later(one: Frames) -> Frames:
        return replace(one, annotations=one.annotations.filter(pl.col("begin") > 0))

    left_out = Openings(name="openings-left-out", words="no mention opens a text", gold=later, run=later)
    profiles = [replace(PROFILES["remix"], conventions=one) for one in (Wider(), Wider(openings=left_out))]
    assert profiles[1].rules()["openings"] == "no mention opens a text"
    gold = frames([{"begin": 0, "end": 4, "entity": "Q1"}, {"begin": 5, "end": 8, "entity": "Q2"}])
    assert [len(one.prepare(Inputs(gold, {})).gold.annotations) for one in profiles] == [2, 1]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        # By document: 1 right; 2 right only where spans grow to words; 3 NIL right and wrong, or left out; 5 missed;
        # 6 one FP, two where regions are unknown; 7 one more answer; 8 wrong link, and 1969 where optional is unknown;
        # 9 one of a group, or two of three mentions; 10 wrong, or right where both are emerging.
        ("remix", (4, 6, 4)),  # 1, 3, 7, 9; 2, 3, 6, 7, 8, 10; 2, 5, 8, 10
        ("elevant", (4, 4, 3)),  # 1, 2, 7, 9; 6, 7, 8, 10; 5, 8, 10
        ("bat", (4, 7, 5)),  # 1, 7, 9, 9; 2, 6, 6, 7, 8, 8, 10; 2, 5, 8, 9, 10
        ("euef", (4, 6, 3)),  # 1, 2, 7, 9; 6, 6, 8, 8, 9, 10; 5, 8, 10
        ("gerbil", (6, 7, 4)),  # 1, 3, 7, 9, 9, 10; 2, 3, 6, 6, 7, 8, 8; 2, 5, 8, 9
        ("neleval", (5, 8, 5)),  # as GERBIL, but 10
        ("emnlp2019", (4, 2, 4)),  # 1, 3, 7, 9; 8, 10; 2, 5, 8, 10
    ],
)
def test_example_is_scored_as_each_tool_would(script, name, counts):
    gold, answers = script.example()
    row = headlines(Counting(Inputs(gold, {"system": answers})), [name]).row(0, named=True)
    assert (row["tp"], row["fp"], row["fn"]) == counts
    assert len(script.DOCUMENTS) == 10


def test_rules_of_a_profile_are_shown_with_their_sources(tmp_path):
    result = CliRunner().invoke(cli, ["show", "profile:gerbil", "-w", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "pairing: each gold mention in turn takes the first unused answer" in result.output
    assert "matching/impl/MatchingsCounterImpl.java" in result.output
