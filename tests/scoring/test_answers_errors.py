"""Classes of errors of language models."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.formats import read
from remix.frames import Frames
from tests.scoring.conftest import evaluate

TEXT = "Ada met Bob in Rome"


def test_each_class_is_counted_with_what_it_could_have_been_made_on(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    mention = {"begin": 0, "end": 3, "entity": "http://example.org/Ada"}
    names = ["d1", "d2", "d3"]
    lines = [{"document": name, "text": f"{TEXT} {name}"} for name in names]
    lines += [{"document": name, **mention} for name in names]
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = tmp_path / "run.jsonl"
    answers = [
        {"mention": "Ada", "entity": "http://example.org/Ada"},
        {"mention": "Bob", "entity": "http://example.org/Nobody"},
        {"mention": "Rome", "label": "Rome"},
        {"mention": "Carl", "entity": "http://example.org/Carl"},
    ]
    outputs = [json.dumps(answers), "No.", '[{"mention": "Ada", "entity": "http://example.org/Ada"}, {"men']
    texts = zip(names, outputs, strict=True)
    lines = [{"document": name, "text": f"{TEXT} {name}", "output": output} for name, output in texts]
    run.write_text("".join(json.dumps(line) + "\n" for line in lines))
    known = pl.DataFrame({"entity": ["http://example.org/Ada"], "name": ["Ada"]})
    frames = {name: read(path, name="x", unannotated=True).frames for name, path in (("gold", gold), ("run", run))}
    rows = evaluate(
        frames["gold"], {"m": frames["run"]}, errors=["answers"], names=known, task=["A2KB"], match=["strong"]
    )
    counted = rows.filter(column="error_class").select("slice", "errors", "total").rows()
    # Four answers stand in the text: Ada, Bob, Rome in d1, Ada in d3; three have an entity. Carl stands nowhere.
    assert counted == [
        ("invented", 1, 3), ("label_only", 1, 4), ("not_in_text", 1, 5), ("refusal", 1, 3), ("cut_off", 1, 3)
    ]  # fmt: skip
    [found] = rows.filter(column="", average="micro", dataset="all").select("tp", "fp", "fn").rows()
    assert found == (2, 2, 1)


def test_documents_that_a_run_lacks_are_told_once_by_the_name_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    texts = pl.DataFrame({"document": ["d", "e"], "dataset": ["x", "x"], "text": [TEXT, "Bob"]})
    mention = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3]})
    gold, run = (Frames.of(documents=own, annotations=mention) for own in (texts, texts[:1]))
    with progress.enable():
        evaluate(gold, {"s": run}, errors=["answers"], task=["ERec"], match=["strong"])
    told = "run 's' answers 1 of the 2 documents of x; the rest count as unanswered\n"
    assert capsys.readouterr().err == told
