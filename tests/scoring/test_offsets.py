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
from tests.scoring.conftest import evaluate, framed

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


@pytest.mark.at_hand(3)
@pytest.mark.parametrize("text", [TEXT, None])
@pytest.mark.parametrize("reading", sorted(READINGS))
def test_offsets_in_other_units_are_told_and_read_right_on_request(reading, text, capsys):
    gold, run = annotated(), annotated(READINGS[reading], text)
    with progress.enable():
        rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    assert f"5 would if its offsets were read as {reading}: --fix-offsets" in " ".join(capsys.readouterr().err.split())
    assert rows["tp"].max() == 0
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], fix_offsets=True)
    assert rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0) == (5, 0, 0)
    assert f"|offsets:s={reading}|" in rows["signature"][0]


def test_offsets_that_were_just_fixed_are_not_proposed_to_be_fixed(capsys):
    gold, run = annotated(), annotated(READINGS["bytes of UTF-8"], None)
    with progress.enable():
        evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], fix_offsets=True)
    said = " ".join(capsys.readouterr().err.split())
    assert "read as bytes of UTF-8: they are read so" in said and "--fix-offsets" not in said


def with_forms(run):
    """The run with the form of each answer, as a table without texts has them."""
    return replace(run, annotations=run.annotations.with_columns(surface_form=pl.Series(WORDS)))


def test_forms_are_the_evidence_where_gold_has_other_mentions(capsys):
    # Gold has none of the five mentions, so that spans say nothing; in bytes of UTF-8 all forms are where they stand.
    gold = replace(framed([{"begin": 9, "end": 10, "entity": "e:x"}]), documents=annotated().documents)
    run = with_forms(annotated(READINGS["bytes of UTF-8"], None))
    with progress.enable():
        rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    said = " ".join(capsys.readouterr().err.split())
    assert "read as bytes of UTF-8; 0 of the 5 forms that it tells stand at their places, 5 would: --fix-" in said
    assert rows["fp"].max() == 5


def test_forms_that_do_not_stand_at_their_places_are_told(capsys):
    gold, run = annotated(), with_forms(annotated(text=None))
    forms = pl.Series(["Eve", "Ada", "Bob", "Köln", "Noël"])
    run = replace(run, annotations=run.annotations.with_columns(surface_form=forms))
    with progress.enable():
        evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    said = " ".join(capsys.readouterr().err.split())
    # "Zoë 😀 met Ada, Bob 😀, …": Ada stands from 10 to 13.
    assert (
        "5 of the 5 forms that it tells do not stand at their places in gold's texts, the first is 'Eve' at 10" in said
    )
    assert "where the text has 'Ada'" in said


def test_answers_in_documents_that_do_not_count_have_no_part_in_it():
    # The second document has no kept mention, so that its answer, the last one, is not among those that count.
    gold = [{"begin": 0, "end": 3, "entity": "e:A"}, {"document": "x", "begin": 0, "end": 3, "ignorable": "dropped"}]
    run = [{"begin": 0, "end": 3, "entity": "e:A"}, {"document": "x", "begin": 0, "end": 3}]
    both = [framed(rows, documents=["d", "x"]) for rows in (gold, run)]
    rows = evaluate(both[0], {"s": both[1]}, task=["A2KB"], match=["strong"], documents="kept")
    assert rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0) == (1, 0, 0)


def test_right_offsets_are_left_alone(capsys):
    with progress.enable():
        fixed = evaluate(annotated(), {"s": annotated()}, fix_offsets=True)
    assert "offsets" not in capsys.readouterr().err
    assert fixed.equals(evaluate(annotated(), {"s": annotated()}))


def test_answers_beyond_the_text_are_wrong_and_told(capsys):
    run = framed([{"begin": 8, "end": 400, "entity": "e:Ada"}, {"begin": 9, "end": 3, "entity": "e:Bob"}])
    with progress.enable():
        rows = evaluate(annotated(), {"s": run}, task=["A2KB"], match=["strong"])
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


def gathered(*readings):
    """Gold and a run without texts of as many documents, each with a reading of offsets and a number of answers."""
    names = [f"d{n}" for n in range(len(readings))]
    rows = {"gold": [], "run": []}
    for name, (reading, count) in zip(names, readings, strict=True):
        for word in WORDS[-count:]:
            begin = TEXT.index(word)
            span = (begin, begin + len(word))
            for side, (first, last) in (("gold", span), ("run", READINGS.get(reading, lambda *one: one)(*span))):
                rows[side].append({"document": name, "begin": first, "end": last, "entity": f"e:{word}"})
    gold, run = (framed(one, documents=names) for one in rows.values())
    texts = gold.documents.with_columns(text=pl.lit(TEXT) + pl.col("document"))
    return replace(gold, documents=texts), replace(
        run, documents=run.documents.with_columns(text=pl.lit(None, pl.String))
    )


def scored(gold, run, capsys, **keywords):
    with progress.enable():
        rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], fix_offsets=True, **keywords)
    counted = rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0)
    return counted, " ".join(capsys.readouterr().err.split()), rows["signature"][0]


def test_documents_are_read_as_the_run_is_unless_they_say_otherwise(capsys):
    # Three documents of five answers are in bytes, one is right as it is; the last one has one answer, in bytes, which
    # alone says little, so that it is read as the run. 5 of the 21 answers are right before, all are after.
    bytes_, right = ("bytes of UTF-8", 5), ("", 5)
    counted, said, signature = scored(*gathered(bytes_, bytes_, right, bytes_, ("bytes of UTF-8", 1)), capsys)
    assert counted == (21, 0, 0)
    assert "5 of its 21 answers have the span of a gold mention, 21 would if its offsets were read as bytes" in said
    assert "(16 answers in 4 documents as bytes of UTF-8; 5 answers in 1 document as they are)" in said
    assert "|offsets:s=bytes of UTF-8 (4 documents)+as they are (1 documents)|" in signature


def test_each_document_may_count_in_units_of_its_own(capsys):
    # Of 20 answers the 5 in characters are right before, and no other reading makes more of the whole run right.
    every = [("bytes of UTF-8", 5), ("UTF-16 code units", 5), ("", 5), ("shifted by 7", 5)]
    counted, said, _ = scored(*gathered(*every), capsys)
    assert counted == (20, 0, 0)
    for one in ("UTF-16 code units", "bytes of UTF-8", "shifted by 7"):
        assert f"5 answers in 1 document as {one}" in said
    assert "5 answers in 1 document as they are" in said


def test_units_may_be_shifted_as_behind_a_mark_at_the_beginning_of_a_file(capsys):
    def read(begin, end):
        return tuple(3 + len(TEXT[:n].encode()) for n in (begin, end))

    counted, said, _ = scored(annotated(), annotated(read, None), capsys)
    assert counted == (5, 0, 0)
    assert "read as bytes of UTF-8, shifted by 3: they are read so (5 answers in 1 document as bytes" in said


def test_few_answers_of_a_document_do_not_shift_it(capsys):
    # Two wrong answers of one document would be right at another place: that is no evidence, and nothing is told.
    gold, run = gathered(("", 5), ("shifted by 7", 2))
    counted, said, signature = scored(gold, run, capsys)
    assert counted == (5, 2, 2)
    assert "offsets" not in said and "offsets" not in signature
