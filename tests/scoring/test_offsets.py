"""Offsets that mean something else are told, and read right on request; what lies beyond a text is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix import progress
from remix.cli import cli
from remix.scoring import evaluate
from tests.scoring.conftest import framed

TEXT = "Zoë 😀 met Ada, Bob 😀, Eve and Noël in Köln."
WORDS = ["Ada", "Bob", "Eve", "Noël", "Köln"]


def annotated(read=lambda begin, end: (begin, end), text=TEXT):
    rows = []
    for word in WORDS:
        begin = TEXT.index(word)
        first, last = read(begin, begin + len(word))
        rows.append({"begin": first, "end": last, "entity": f"e:{word}"})
    frames = framed(rows)
    return replace(frames, documents=frames.documents.with_columns(text=pl.lit(text, pl.String)))


READINGS = {
    "inclusive ends": lambda begin, end: (begin, end - 1),
    "one-based, inclusive ends": lambda begin, end: (begin + 1, end),
    "shifted by 7": lambda begin, end: (begin + 7, end + 7),
    "shifted by -2": lambda begin, end: (begin - 2, end - 2),
    "UTF-16 code units": lambda begin, end: tuple(len(TEXT[:n].encode("utf-16-le")) // 2 for n in (begin, end)),
    "bytes of UTF-8": lambda begin, end: tuple(len(TEXT[:n].encode()) for n in (begin, end)),
}


@pytest.mark.parametrize("text", [TEXT, None])
@pytest.mark.parametrize("reading", sorted(READINGS))
def test_offsets_in_other_units_are_told_and_read_right_on_request(reading, text, capsys):
    gold, run = annotated(), annotated(READINGS[reading], text)
    with progress.enable():
        rows = evaluate(gold, {"s": run}, tasks=["A2KB"], matchings=["strong"])
    assert f"5 would if its offsets were read as {reading}: --fix-offsets" in " ".join(capsys.readouterr().err.split())
    assert rows["tp"].max() == 0
    rows = evaluate(gold, {"s": run}, tasks=["A2KB"], matchings=["strong"], fix_offsets=True)
    assert rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0) == (5, 0, 0)
    assert f"|offsets:s={reading}|" in rows["signature"][0]


def test_answers_in_documents_that_do_not_count_have_no_part_in_it():
    # The second document has no kept mention, so that its answer, the last one, is not among those that count.
    gold = [{"begin": 0, "end": 3, "entity": "e:A"}, {"document": "x", "begin": 0, "end": 3, "ignorable": "dropped"}]
    run = [{"begin": 0, "end": 3, "entity": "e:A"}, {"document": "x", "begin": 0, "end": 3}]
    both = [framed(rows, documents=["d", "x"]) for rows in (gold, run)]
    rows = evaluate(both[0], {"s": both[1]}, tasks=["A2KB"], matchings=["strong"], documents="kept")
    assert rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0) == (1, 0, 0)


def test_right_offsets_are_left_alone(capsys):
    with progress.enable():
        fixed = evaluate(annotated(), {"s": annotated()}, fix_offsets=True)
    assert "offsets" not in capsys.readouterr().err
    assert fixed.equals(evaluate(annotated(), {"s": annotated()}))


def test_answers_beyond_the_text_are_wrong_and_told(capsys):
    run = framed([{"begin": 8, "end": 400, "entity": "e:Ada"}, {"begin": 9, "end": 3, "entity": "e:Bob"}])
    with progress.enable():
        rows = evaluate(annotated(), {"s": run}, tasks=["A2KB"], matchings=["strong"])
    said = " ".join(capsys.readouterr().err.split())
    assert f"2 answers beyond the text of their document are wrong; the first is 8 to 400 of {len(TEXT)}" in said
    assert rows.filter(average="micro", column="")["fp"].to_list() == [2]


def test_command_tells_what_was_wrong_in_a_file_of_answers(tmp_path: Path):
    gold, run = tmp_path / "gold.benchmark.jsonl", tmp_path / "run.jsonl"
    gold.write_text(json.dumps({"id": 0, "text": TEXT, "labels": [{"span": [10, 13], "entity_id": "Q1"}]}))
    mention = {
        "document": "0",
        "begin": 10,
        "end": 13,
        "entity": "http://www.wikidata.org/entity/Q1",
        "confidence": "high",
    }
    run.write_text(f"{json.dumps(mention)}\n{json.dumps(mention)}\n")
    done = CliRunner().invoke(cli, ["evaluate", "--gold", str(gold), "--run", f"a={run}", "--task", "A2KB"])
    said = done.stderr
    assert "confidence (2), first: line 1: 'high' is no number, left out" in said
    assert "duplicate (1), first" in said
