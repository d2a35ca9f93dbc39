"""Answers and mentions without a surface form, which no matching that compares texts can find right: it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from remix.web.page import VIEWS, Note
from remix.workspace import Workspace

NAMES = [f"Ada{number:02}" for number in range(12)]
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Write twelve documents, `<Name> spoke.`, with one mention each, that of Ada11 linked to another item if wrong."""

    tmp_path = tmp_path_factory.mktemp("formless")

    def make(name: str, *, form: bool = True, text: bool = True, wrong: bool = True) -> Path:
        rows = []
        for number, one in enumerate(NAMES):
            item = number if number != 11 or not wrong else 99
            row: dict[str, object] = {"document": one, "begin": 0, "end": 5}
            row |= {"entity": f"http://www.wikidata.org/entity/Q{item + 1}"}
            rows.append(row | ({"surface_form": one} if form else {}) | ({"text": f"{one} spoke."} if text else {}))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return tmp_path / f"{name}.jsonl"

    return make


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, write: Write) -> Workspace:
    """A workspace with this gold, and runs that tell forms, texts (of which forms are known), or none of the two."""
    made = Workspace(tmp_path_factory.mktemp("work") / "ws")
    made.load([write("gold", wrong=False)])
    made.add_run("forms", write("forms", text=False), on="gold")
    made.add_run("texts", write("texts", form=False), on="gold")
    made.add_run("neither", write("neither", form=False, text=False), on="gold")
    return made


def shown(work: Workspace, **asked: Any) -> tuple[dict[str, tuple[int, ...]], str]:
    """Return tp and how many answers and mentions of gold tell no text, by system, and all that is said."""
    found = work.evaluate(asked.pop("gold", "gold"), task="NEL-LIT", **asked)
    rows = found.rows.filter(average="micro", column="")
    names = [name for name in ("tp", "formless", "gold_formless") if name in rows.columns]
    return {system: tuple(told) for system, *told in rows.select("system", *names).iter_rows()}, " ".join(found.lines)


SAID = "by strict@1 an answer is right with the very text of its mention alone, which answers without a surface form do"


def test_answers_without_a_form_are_told_where_texts_are_compared(work: Workspace) -> None:
    # Eleven of twelve are right, by strict those that tell what they are of.
    counts, said = shown(work, profile="hipe", match="strict@1")
    assert counts == {"forms": (11, 0, 0), "texts": (11, 0, 0), "neither": (0, 12, 0)}
    assert SAID in said and "count as wrong: 12 of 'neither'; give each a surface form" in said


def test_answers_without_a_form_count_in_the_dataset_that_they_answer(tmp_path: Path) -> None:
    """Of three mentions each, the answers to one tell no form, those to two do, and one is in a text of neither."""
    work = Workspace(tmp_path / "ws")

    def write(file: str, name: str, *, told: bool, more: int = 0) -> Path:
        rows = []
        for number in range(3 + more):
            document = f"{name}{number:02}"
            row = {
                "document": document,
                "begin": 0,
                "end": 5,
                "entity": f"http://www.wikidata.org/entity/Q{number + 1}",
            }
            rows.append(row | ({"surface_form": document, "text": f"{document} spoke."} if told else {}))
        (tmp_path / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return tmp_path / f"{file}.jsonl"

    for name in ("Ada", "Bob"):
        work.load([write(name, name, told=True)])
    work.add_run("s", write("bare", "Ada", told=False), on="ada", perfect=True)
    work.add_run("s", write("whole", "Bob", told=True), on="bob", perfect=True)
    found = work.evaluate(["ada", "bob"], task="NEL-LIT", profile="hipe", match="strict@1")
    rows = found.rows.filter(pl.col("dataset") != "mean", average="micro", column="")
    assert sorted(rows.select("dataset", "tp", "formless", "gold_formless").rows()) == [
        ("ada", 0, 3, 0),
        ("all", 3, 3, 0),
        ("bob", 3, 0, 0),
    ]
    # What is answered in a text that gold has not is left out, and wrong in no score.
    run = f"o={write('more', 'Ada', told=False, more=2)}"
    found = work.evaluate("ada", run=run, task="NEL-LIT", profile="hipe", match="strict@1")
    assert "count as wrong: 3 of 'o'" in " ".join(found.lines)


@pytest.mark.parametrize(("profile", "match"), [("hipe", "fuzzy@1"), ("hipe-2020", "strict@1"), ("remix", "strong")])
def test_nothing_is_told_where_texts_are_not_compared(work: Workspace, profile: str, match: str) -> None:
    task = "NEL-LIT" if profile != "remix" else "A2KB"
    found = work.evaluate("gold", task=task, profile=profile, match=match)
    rows = found.rows.filter(average="micro", column="")
    assert {*rows["tp"]} == {11} and "formless" not in rows.columns
    assert "surface form" not in " ".join(found.lines)


def test_mentions_of_gold_without_a_form_are_told_as_missed(work: Workspace, write: Write) -> None:
    gold = write("bare", form=False, text=False, wrong=False)
    run = f"forms={write('forms', text=False)}"
    counts, said = shown(work, gold=gold, run=run, profile="hipe", match="strict@1")
    assert counts == {"forms": (0, 0, 12)}
    assert "which 12 mentions of gold without a surface form do not tell, so that they count as missed" in said


@pytest.mark.long
def test_comparisons_pages_and_full_tables_say_it_as_well(work: Workspace) -> None:
    compared = work.compare("gold", run=["forms", "neither"], profile="hipe", task="NEL-LIT", match="strict@1")
    assert "count as wrong: 12 of 'neither'" in " ".join(compared.lines)
    asked = {"datasets": "gold", "profile": "hipe", "task": "NEL-LIT", "match": "strict@1"}
    page = VIEWS["systems"].show(work, asked)
    assert any("count as wrong: 12 of 'neither'" in one.text for one in page.blocks if isinstance(one, Note))
