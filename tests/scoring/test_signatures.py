"""The signature: every field of what is asked is in it."""

from __future__ import annotations

import pytest

from remix.names import EL
from remix.question import OPTIONS
from remix.signature import Signature
from tests.scoring.conftest import evaluate, framed

CATEGORIES = [f"{EL}Mnt-Full", f"{EL}PoS-NounSingular", f"{EL}Olp-None", f"{EL}Ref-Direct"]
NAMES = [f"d{n}" for n in range(10)]
GOLD = framed([{"document": n, "begin": 0, "end": 5, "entity": "urn:E", "classes": CATEGORIES} for n in NAMES], NAMES)
# Inclusive ends, so that there is something to fix.
RUN = framed([{"document": n, "begin": 0, "end": 4, "entity": "urn:E"} for n in NAMES], NAMES)

SLICED = {"by": ["class"], "intervals": True}
CHANGES: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "profile": ({}, {"profile": "emnlp2019"}),
    "task": ({}, {"task": ["ERec"]}),
    "match": ({}, {"match": ["weak"]}),
    "by": ({}, {"by": ["class"]}),
    "min_support": ({"by": ["class"]}, {"min_support": 2}),
    "scope": ({}, {"scope": CATEGORIES[0]}),
    "spans": ({}, {"spans": "kept"}),
    "documents": ({}, {"documents": "kept"}),
    "intervals": ({}, {"intervals": True}),
    "samples": (SLICED, {"samples": 100}),
    "seed": (SLICED, {"seed": 1}),
    "unit": ({}, {"unit": "context"}),
    "against": (SLICED, {"against": CATEGORIES[0]}),
    "errors": ({}, {"errors": ["neleval"]}),
    "weight": ({}, {"weight": "relaxed:0.5"}),
    "threshold": ({}, {"threshold": "0.3"}),
    "fix_offsets": ({}, {"fix_offsets": True}),
}
"""By field: what it needs beside it, and another value."""


@pytest.mark.at_hand(4)
@pytest.mark.parametrize("field", [name for name, option in OPTIONS.items() if not option.reads])
def test_every_field_of_what_is_asked_changes_the_signature(field: str) -> None:
    beside, change = CHANGES[field]
    asked = {"profile": "remix", "task": ["A2KB"], "match": ["strong"], **beside}
    before, after = (evaluate(GOLD, {"s": RUN}, **one)["signature"][0] for one in (asked, {**asked, **change}))
    assert before != after


def test_columns_side_by_side_are_told_from_columns_that_are_crossed() -> None:
    asked = {"class:classes,dataset": ["class:classes,dataset"], "both": ["class:classes", "dataset"]}
    said = {
        name: Signature.parse(evaluate(GOLD, {"s": RUN}, task=["A2KB"], match=["strong"], by=by)["signature"][0])
        for name, by in {**asked, "scheme": ["words:thresholds:1,2", "dataset"]}.items()
    }
    assert {name: dict(one.fields)["by"] for name, one in said.items()} == {
        "class:classes,dataset": "class:classes×dataset",
        "both": "class:classes,dataset",
        "scheme": "words:thresholds:1;2,dataset",
    }
