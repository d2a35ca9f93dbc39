"""The profile `hipe`: HIPE-scorer's counts, by hand, against a plain re-telling of its rules, and as published."""

from __future__ import annotations

import csv
import gzip
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from bench.hipe_rules import compare, draw
from remix import progress
from remix.errors import BadInput, UnknownName, UsageError
from remix.formats.layers import HASHED
from remix.frames import Frames
from remix.measures.coded import counted_documents
from remix.measures.partitions import partition
from remix.reports.readable import fold_rows, readable_tables
from remix.runs.registration import answers_to
from remix.scoring.differences import Counting, differences, headlines
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.entities import relax_gold, relax_runs
from remix.scoring.inputs.files import read_frames
from remix.scoring.profiles.hipe.editions import HIPE_2020, HIPE_2022, HIPE_2024, Edition
from remix.scoring.profiles.hipe.meetings import meetings
from remix.scoring.statistics import SPREAD
from tests.examples import FEW
from tests.scoring.conftest import evaluate

HEADER = "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tNEL-LIT\tMISC\n"


def lines(tags: str, links: str = "", *, words: str = "", fine: str = "", misc: str = "") -> str:
    """Return a line a tag; what is not given is `O`, `_` and letters for words."""
    parts = tags.split()
    columns = [
        words.split() or [chr(ord("a") + n) for n in range(len(parts))],
        parts,
        fine.split() or ["O"] * len(parts),
        links.split() or ["_"] * len(parts),
        misc.split() or ["_"] * len(parts),
    ]
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True))


def frames_of(folder: Path, name: str, *documents: str) -> Frames:
    """Return what is read of a file of these documents."""
    path = folder / f"{name}.tsv"
    path.write_text(HEADER + "".join(documents), encoding="utf-8")
    return read_frames([path], unannotated=True)


def document(number: int, body: str, date: str = "") -> str:
    dated = f"# date = {date}\n" if date else ""
    return f"# document_id = d{number}\n{dated}{body}"


def counts(rows: pl.DataFrame, task: str, matching: str, slice: str = "") -> tuple[int, int, int]:
    own = rows.filter(task=task, matching=matching, slice=slice, average="micro")
    row: dict[str, Any] = own.row(0, named=True)
    return row["tp"], row["fp"], row["fn"]


GOLD = "B-LOC I-LOC O B-PERS I-PERS B-ORG O"
RUN = "I-LOC I-LOC O O B-ORG I-ORG S-TIME"


def test_worked_example_comes_out_with_each_label(tmp_path: Path) -> None:
    # LOC is exact. ORG 4-5 overlaps PERS and ORG, of which PERS is first and free: wrong, and of PERS; gold's ORG is
    # missed. TIME is a label of HIPE 2022, so it is wrong although gold has none: TP 1, FP 2, FN 2.
    gold, run = (frames_of(tmp_path, name, document(1, lines(tags))) for name, tags in (("g", GOLD), ("s", RUN)))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["type"])
    for matching in ("strict", "fuzzy"):
        assert counts(rows, "NE-COARSE-LIT", matching) == (1, 2, 2)
        found = {label: counts(rows, "NE-COARSE-LIT", matching, label) for label in ("LOC", "ORG", "PERS", "TIME")}
        assert found == {"LOC": (1, 0, 0), "ORG": (0, 0, 1), "PERS": (0, 1, 1), "TIME": (0, 1, 0)}


def test_mention_whose_token_is_spelt_otherwise_is_fuzzy_alone(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines(GOLD)))
    run = frames_of(tmp_path, "s", document(1, lines(RUN, words="a B c d e f g")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["type"])
    assert counts(rows, "NE-COARSE-LIT", "strict", "LOC") == (0, 1, 1)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "LOC") == (1, 0, 0)


def test_label_that_neither_gold_nor_the_tag_set_has_costs_nothing(tmp_path: Path) -> None:
    gold, run = (frames_of(tmp_path, n, document(1, lines(tags))) for n, tags in (("g", "B-X O"), ("s", "O B-Y")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy") == (0, 0, 1)


def test_nil_is_an_answer_and_no_link_is_none(tmp_path: Path) -> None:
    # Gold asks for Q1, NIL and Q3, and for nothing on d. The run has NIL right, Q2 for Q1 right in the second place,
    # nothing on c and Q9 on d, which meets nothing: @1 TP 1, FP 2, FN 2; @3 TP 2, FP 1, FN 1.
    tags = "B-LOC B-LOC B-LOC B-LOC"
    gold = frames_of(tmp_path, "g", document(1, lines(tags, "Q1 NIL Q3 _")))
    run = frames_of(tmp_path, "s", document(1, lines(tags, "Q2|Q1 NIL - Q9")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"])
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (1, 2, 2)
    assert counts(rows, "NEL-LIT", "strict@3") == (2, 1, 1)


@pytest.mark.parametrize("profile", ["hipe", "hipe-2020"])
def test_link_with_a_hyphen_is_none(tmp_path: Path, profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Gold asks for Q1 alone. The run's first answer is its second link, @3 alone; the one with a hyphen is no answer.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O B-LOC O", "Q1 _ Baden-Baden _")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O B-LOC O", "A-B|Q1 _ Baden-Baden Q1")))
    with progress.enable(True):
        rows = evaluate(gold, {"s": run}, profile=profile, task=["NEL-LIT"])
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (0, 1, 1)
    assert counts(rows, "NEL-LIT", "fuzzy@3") == (1, 1, 0)
    assert "no link that has a hyphen: 3 of gold and answers are none" in capsys.readouterr().err


def test_answer_that_is_linked_in_parts_is_a_mention_for_each_link(tmp_path: Path) -> None:
    # Gold: one mention of Q1 over two tokens. Run: Q1 and Q2 on one token each, Q1 overlaps: fuzzy right, Q2 spurious.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC", "Q1 Q2")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC", "Q1 Q2")))
    rows = evaluate(gold, {"s": run}, profile="hipe")
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (1, 1, 0)
    assert counts(rows, "NEL-LIT", "strict@1") == (0, 2, 1)
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)


@pytest.mark.parametrize(
    ("gold", "tags", "links", "expected"),
    [
        # The mention of Q1 is cut where gold's second document begins: there it has the link of its first token, none.
        (("B-LOC", "Q1", "B-LOC", "Q1"), "B-LOC I-LOC", "Q1 _", (1, 0, 1)),
        # Linked alike throughout it is an answer in each.
        (("B-LOC", "Q1", "B-LOC", "Q1"), "B-LOC I-LOC", "Q1 Q1", (2, 0, 0)),
        # Without types nothing but the cut tells two links apart.
        (("B-LOC", "Q1", "B-LOC", "Q2"), "_ _", "Q1 Q2", (2, 0, 0)),
        # Of the first token, which has no link, there is no answer; behind the cut there is one.
        (("B-LOC", "Q1", "B-LOC", "Q2"), "_ _", "_ Q2", (1, 0, 1)),
    ],
)
def test_mention_that_golds_documents_cut_has_the_link_of_its_first_token_in_each(
    tmp_path: Path, gold: tuple[str, ...], tags: str, links: str, expected: tuple[int, int, int]
) -> None:
    two = [document(1, lines(gold[0], gold[1], words="a")), document(2, lines(gold[2], gold[3], words="b"))]
    run = frames_of(tmp_path, "s", lines(tags, links))
    rows = evaluate(frames_of(tmp_path, "g", *two), {"s": run}, profile="hipe", task=["NEL-LIT"])
    assert counts(rows, "NEL-LIT", "strict@1") == expected


@pytest.mark.long
def test_every_type_is_a_label_and_cells_are_read_in_capitals(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-ent O B-LOC B-LOC I-LOC", "foo _ NIL NIL NIL")))
    run = frames_of(tmp_path, "s", document(1, lines("B-ENT O B-LOC B-LOC I-LOC", "FOO _ nil|q1 NIL nil")))
    rows = evaluate(gold, {"s": run}, profile="hipe")
    assert counts(rows, "NE-COARSE-LIT", "strict") == counts(rows, "NEL-LIT", "strict@1") == (3, 0, 0)
    # A LOC in its place is wrong, and the mention missed.
    other = frames_of(tmp_path, "t", document(1, lines("B-LOC O O O O", "_ _ _ _ _")))
    assert counts(evaluate(gold, {"s": other}, profile="hipe"), "NE-COARSE-LIT", "strict") == (0, 1, 3)


def test_later_link_of_an_answer_without_a_first_counts_where_a_cell_begins_with_it(tmp_path: Path) -> None:
    # Of the answer `_|Q1` the first link is none. Where no cell begins with Q1, it is no answer; where one does, it is
    # one @3: here on d, where gold has Q1 elsewhere, so that both are wrong.
    run = frames_of(tmp_path, "s", document(1, lines("O B-LOC", "_ _|Q1")))
    for link, wrong in (("Q2", 0), ("Q1", 1)):
        gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O", f"{link} _")))
        rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"])
        assert [counts(rows, "NEL-LIT", f"fuzzy@{n}") for n in (1, 3)] == [(0, 0, 1), (0, wrong, 1)]


@pytest.mark.long
@pytest.mark.parametrize("edition", [HIPE_2020, HIPE_2022, HIPE_2024], ids=lambda one: one.name)
def test_random_broken_files_have_the_figures_of_a_plain_re_telling_of_the_rules(edition: Edition) -> None:
    for seed in range(4):
        compared, odd = compare(*draw(random.Random(seed)), edition=edition, relaxed=seed % 2 == 1)
        assert compared > 100 and not odd


def test_means_over_documents_are_over_those_where_the_score_is_defined(tmp_path: Path) -> None:
    # d1 perfect; d2 gold without answer: R 0, no P, no F1; d3 answer without gold: P 0, no R, no F1.
    # P = (1 + 0) / 2, R = (1 + 0) / 2, F1 = 1 / 1.
    gold_tags, run_tags = ("B-LOC O", "B-LOC O", "O O"), ("B-LOC O", "O O", "O B-LOC")
    gold, run = (
        frames_of(tmp_path, name, *(document(n, lines(one)) for n, one in enumerate(tags)))
        for name, tags in (("g", gold_tags), ("s", run_tags))
    )
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"]).filter(matching="strict")
    assert rows.filter(average="macro").select("precision", "recall", "f1").row(0) == (0.5, 0.5, 1.0)
    assert rows.filter(average="micro").select("precision", "recall", "f1").row(0) == (0.5, 0.5, 0.5)


def test_layers_without_anything_have_no_rows(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O", fine="O B-LOC.ADM")))
    rows = evaluate(gold, {"s": gold}, profile="hipe")
    shown = {
        (task, matching.partition("@")[2]) for task, matching in rows.select("task", "matching").unique().iter_rows()
    }
    assert shown == {("NE-COARSE-LIT", ""), ("NE-FINE-LIT", "")}


def test_other_profiles_score_one_layer_with_its_links(tmp_path: Path) -> None:
    # The fine mention and the link on c are no answers there: of two mentions, NIL and Q1, one is right.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC O", "Q1 NIL _", fine="B-LOC.ADM O O")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC B-LOC O", "Q1 Q2 Q3", fine="B-LOC.ADM O B-LOC.ADM")))
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    assert counts(rows, "A2KB", "strong") == (1, 1, 1)


@pytest.mark.long
def test_noise_cuts_tokens_out_of_both_sides(tmp_path: Path) -> None:
    # a b is clean, c noisy, d has no noise said. Of the clean, the answer a b c is cut to a b, which is right; the
    # answer on c goes from there. Of the noisy, a b c is cut to c, whose text is then gold's.
    misc = "LED0.00 LED0.00 LED0.50 _"
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC B-LOC B-LOC", misc=misc)))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC I-LOC O")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["noise"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "0.0-0.0") == (1, 0, 1)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "0.3-1.1") == (1, 0, 1)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy") == (1, 0, 2)
    assert (
        counts(rows, "NE-COARSE-LIT", "strict", "0.0-0.0")
        == counts(rows, "NE-COARSE-LIT", "strict", "0.3-1.1")
        == (1, 0, 1)
    )
    assert counts(rows, "NE-COARSE-LIT", "strict") == (0, 1, 3)


@pytest.mark.long
def test_noise_is_that_of_each_token_inside_and_outside_of_mentions(tmp_path: Path) -> None:
    # Of the clean a is left, c has no noise said: b and d are cut. The answer a c is then that of the mention a, whose
    # span is another. Of the noisy b c d is left: gold has b, the answers are c and, behind it, d.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC O O", misc="LED0.00 LED0.50 _ LED0.50")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O I-LOC B-LOC")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["noise"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "0.0-0.0") == (1, 0, 0)
    assert counts(rows, "NE-COARSE-LIT", "strict", "0.0-0.0") == (0, 1, 1)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "0.3-1.1") == (0, 2, 1)
    with pytest.raises(UsageError, match="no annotation of gold has a value in column 'noise'"):
        evaluate(run, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"], by=["noise"])


@pytest.mark.long
@pytest.mark.parametrize("profile", ["hipe", "hipe-2020"])
def test_a_cut_closes_over_noise(tmp_path: Path, profile: str) -> None:
    # Without b, the answer b c has c alone, whose I- goes on with the answer a: one answer for two mentions. Its links
    # go on likewise. Where answers have a tag B- each, types stay two answers, and so do links that types cut; links
    # that are cut by themselves are one on both sides, whose texts do not count: a c is right there.
    misc = "LED0.00 LED0.50 LED0.00"
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC B-LOC", "Q1 Q2 Q1", misc=misc)))
    runs = {
        "whole": frames_of(tmp_path, "w", document(1, lines("B-LOC B-LOC I-LOC", "Q1 Q1 Q1"))),
        "each": frames_of(tmp_path, "e", document(1, lines("B-LOC B-LOC B-LOC", "Q1 Q2 Q1"))),
    }
    rows = evaluate(gold, runs, profile=profile, task=["NE-COARSE-LIT", "NEL-LIT"], by=["noise"])
    kept = {system: rows.filter(system=system, slice="0.0-0.0") for system in runs}
    assert counts(kept["whole"], "NE-COARSE-LIT", "strict", "0.0-0.0") == (0, 1, 2)
    assert counts(kept["whole"], "NE-COARSE-LIT", "fuzzy", "0.0-0.0") == (1, 0, 1)
    assert counts(kept["each"], "NE-COARSE-LIT", "strict", "0.0-0.0") == (2, 0, 0)
    assert counts(kept["whole"], "NEL-LIT", "strict@1", "0.0-0.0") == ((0, 1, 2) if profile == "hipe" else (1, 0, 0))
    assert counts(kept["each"], "NEL-LIT", "strict@1", "0.0-0.0") == ((2, 0, 0) if profile == "hipe" else (1, 0, 0))


def test_mention_that_a_cut_makes_begin_with_a_link_with_a_hyphen_has_none(tmp_path: Path) -> None:
    # Without a gold's mention is b, whose link is none: it is not asked for, and the answer Q9 there is wrong.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC", "Q1 Q1-A", misc="LED1.0 _")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC", "_ Q9")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"], by=["noise"])
    assert counts(rows, "NEL-LIT", "fuzzy@1", "0.0-0.0") == (0, 1, 0)


def test_regimes_of_detailed_reports_ask_for_the_span_alone(tmp_path: Path) -> None:
    # a b has its span and another type, d overlaps d e, g is nowhere: exact has 1 of 3 answers right and 1 of 2
    # mentions; partial half of the overlap besides, so that P is 1.5 / 3 and R 1.5 / 2.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC O B-ORG I-ORG O O")))
    run = frames_of(tmp_path, "s", document(1, lines("B-ORG I-ORG O B-ORG O O B-LOC")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], match=["strict", "exact", "partial"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (0, 3, 2)
    assert counts(rows, "NE-COARSE-LIT", "exact") == (1, 2, 1)
    found = rows.filter(matching="partial", average="micro").select("precision", "recall", "f1").row(0)
    assert found == pytest.approx((0.5, 0.75, 0.6))


def test_period_is_that_of_the_document_and_a_column_of_every_profile(tmp_path: Path) -> None:
    dates = {1: "1894-05-01", 2: "1900-01-01"}
    tags = [document(n, lines("B-LOC O", "Q1 _", words=f"a {n}"), date) for n, date in dates.items()]
    gold, run = frames_of(tmp_path, "g", *tags), frames_of(tmp_path, "s", tags[0])
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["period"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "1890-1900") == (1, 0, 0)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "1900-1910") == (0, 0, 1)
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], by=["period"])
    assert counts(rows, "A2KB", "strong", "1900-1910") == (0, 0, 1)


def test_noise_and_period_are_crossed_as_the_scorer_crosses_them(tmp_path: Path) -> None:
    # The clean a is answered in the document of 1894 alone; the noisy b in neither, and it is in 1900 alone.
    dates = {1: "1894-05-01", 2: "1900-01-01"}
    bodies = {1: lines("B-LOC O", misc="LED0.00 _"), 2: lines("B-LOC B-LOC", misc="LED0.00 LED0.50")}
    gold = frames_of(tmp_path, "g", *[document(n, bodies[n], date) for n, date in dates.items()])
    run = frames_of(tmp_path, "s", document(1, bodies[1]), document(2, lines("O O")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["noise,period"])
    found = {name: counts(rows, "NE-COARSE-LIT", "fuzzy", name) for name in sorted({*rows["slice"]} - {""})}
    assert found["0.0-0.0 × 1890-1900"] == (1, 0, 0)
    assert found["0.0-0.0 × 1900-1910"] == (0, 0, 1)
    assert found["0.3-1.1 × 1900-1910"] == (0, 0, 1)
    assert {*rows["column"]} == {"", "noise × period"}
    with pytest.raises(UsageError, match="does not cross that with what 'class,noise' names: write 'noise,period'"):
        evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["class,noise"])


def test_tokens_of_one_document_have_the_date_of_the_line_before_them(tmp_path: Path) -> None:
    # a is of 1894, b and c of 1900. Without a, b begins the document; without b and c nothing but a is left, whose
    # answer a b is then a alone.
    tags, dated = ("B-LOC", "B-LOC I-LOC"), "# date = 1894-05-01\n{}# date = 1900-01-01\n{}"
    gold_body = dated.format(lines(tags[0], words="a"), lines(tags[1], words="b c"))
    gold = frames_of(tmp_path, "g", document(1, gold_body))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC O")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"], by=["period"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (0, 1, 2)
    assert counts(rows, "NE-COARSE-LIT", "strict", "1890-1900") == (1, 0, 0)
    assert counts(rows, "NE-COARSE-LIT", "strict", "1900-1910") == (0, 1, 1)
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "1900-1910") == (1, 0, 0)


def test_bounds_of_periods_and_noise_may_be_chosen(tmp_path: Path) -> None:
    # Ends are excluded: 1900-01-01 is not of 1894-1900, but of 1900-1950. LED0.20 is of 0.1-0.3 alone, LED0.00 of 0-0.
    dates = {1: "1894-05-01", 2: "1900-01-01"}
    bodies = {1: lines("B-LOC O", misc="LED0.00 _"), 2: lines("B-LOC B-LOC", misc="LED0.00 LED0.20")}
    gold = frames_of(tmp_path, "g", *[document(n, bodies[n], date) for n, date in dates.items()])
    run = frames_of(tmp_path, "s", document(1, bodies[1]), document(2, lines("O O")))
    asked: dict[str, Any] = {"profile": "hipe", "task": ["NE-COARSE-LIT"], "match": ["fuzzy"]}
    column = "noise:0-0,0.1-0.3,period:1894-1900,1900-1950"
    rows = evaluate(gold, {"s": run}, by=["period:1894-05-02-1950,1890-1900-01-02", column], **asked)
    found = {(row["column"], row["slice"]): (row["tp"], row["fn"]) for row in rows.filter(average="micro").to_dicts()}
    del found["", ""]
    assert found == {
        ("period:1894-05-02-1950,1890-1900-01-02", "1894-05-02-1950"): (0, 2),
        ("period:1894-05-02-1950,1890-1900-01-02", "1890-1900-01-02"): (1, 2),
        ("noise:0-0,0.1-0.3 × period:1894-1900,1900-1950", "0-0 × 1894-1900"): (1, 0),
        ("noise:0-0,0.1-0.3 × period:1894-1900,1900-1950", "0-0 × 1900-1950"): (0, 1),
        ("noise:0-0,0.1-0.3 × period:1894-1900,1900-1950", "0.1-0.3 × 1900-1950"): (0, 1),
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("period:1900-1890", "'1900-1890' holds nothing: its end is not after its beginning"),
        (
            "period:1894-13-45-1900",
            "'1894-13-45-1900' are no bounds: there is no day 1894-13-45; write YYYY or YYYY-MM-DD",
        ),
        ("period:1890", "cut noise and period by bounds FROM-TO, several with commas, such as 1890-1920"),
        (
            "type:1-2",
            "'type:1-2' has bounds, and the profile 'hipe' cuts 'noise' or 'period' or 'noise,period' by such",
        ),
        ("period:18.5-1900", "'18.5-1900' are no bounds: write FROM-TO, several with commas, such as 1890-1920"),
    ],
)
def test_what_are_no_bounds_is_refused(tmp_path: Path, column: str, message: str) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC"), "1894-05-01"))
    with pytest.raises(UsageError, match=re.escape(message)):
        evaluate(gold, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"], by=[column])


def test_bounds_that_hold_no_token_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC"), f"1894-05-0{n}") for n in (1, 2)))
    with progress.enable():
        rows = evaluate(gold, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"], by=["period:1700-1720,1890 - 1920"])
    assert counts(rows, "NE-COARSE-LIT", "strict", "1890-1920") == (2, 0, 0)
    told = "period 1700-1720 holds no token of gold, whose dates are 1894-05-01 to 1894-05-02"
    assert capsys.readouterr().err.count(told) == 1


def test_bounds_are_of_columns_alone_that_a_profile_cuts_by_them() -> None:
    with pytest.raises(
        UsageError, match="are bounds, by which the profiles of HIPE, such as hipe, cut noise and period"
    ):
        partition(pl.Series([1, 2]), "1-2")


def test_all_labels_together_have_the_mean_of_their_scores(tmp_path: Path) -> None:
    # LOC has P 1/1, R 1/2 and F1 2/3, PERS is missed: 0. The means are 1/2, 1/4 and 1/3.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC B-PERS", "Q1 Q2 Q2")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O O", "Q1 Q2 _")))
    rows = evaluate(gold, {"s": run}, profile="hipe", match=["strict", "strict@1"], by=["type", "link"])
    means = rows.filter(slice="all slices").sort("task").select("task", "average", "precision", "recall", "f1").rows()
    assert means[0] == ("NE-COARSE-LIT", "macro", 0.5, 0.25, pytest.approx(1 / 3))
    # Q1 is right: 1, 1, 1. Of two Q2 one is: 1, 1/2, 2/3.
    assert means[1:] == [("NEL-LIT", "macro", 1.0, 0.75, pytest.approx(5 / 6))]
    assert counts(rows, "NEL-LIT", "strict@1", "Q2") == (1, 0, 1)


def test_table_ends_with_the_mean_over_labels_however_many_there_are(tmp_path: Path) -> None:
    # Of 20 types the 15 largest are shown. All are found but one of the 20, which has P, R and F1 of 0: 19/20.
    tags = [f"B-T{number}" for number in range(10, 30)]
    gold = frames_of(tmp_path, "g", document(1, lines(" ".join(tags))))
    run = frames_of(tmp_path, "s", document(1, lines(" ".join([*tags[:-1], "O"]))))
    asked: dict[str, Any] = {"profile": "hipe", "task": ["NE-COARSE-LIT"], "match": ["strict"], "by": ["type"]}
    folded, told = fold_rows(evaluate(gold, {"s": run}, **asked))
    table = readable_tables(folded, ["g"], ["type"])["NE-COARSE-LIT by type, strict matching"]
    assert table["slice"].to_list() == [*(f"T{number}" for number in range(10, 25)), "all slices"]
    assert table.select("tp", "fn", "P", "R", "F1").row(-1) == (19, 1, 0.95, 0.95, 0.95)
    assert told == ["5 smaller slices by type (1 to 1 mentions) are left out here: -o json has every slice"]


def test_slices_of_the_profile_have_enough_mentions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # LOC has two mentions, of which one is found: R 1/2. PERS has one, and no part in the mean over labels.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC B-PERS")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O O")))
    asked: dict[str, Any] = {"profile": "hipe", "task": ["NE-COARSE-LIT"], "match": ["strict"], "by": ["type"]}
    with progress.enable():
        rows = evaluate(gold, {"s": run}, min_support=2, **asked).filter(column="type")
    assert rows["slice"].unique().sort().to_list() == ["LOC", "all slices"]
    assert rows.filter(slice="all slices")["recall"].to_list() == [0.5]
    assert "by type: 1 slices of fewer than 2 mentions are left out" in capsys.readouterr().err
    with pytest.raises(UsageError, match="no slice by 'type' has 3 mentions: lower --min-support"):
        evaluate(gold, {"s": run}, min_support=3, **asked)


def test_spurious_link_without_a_first_one_is_of_each_later_one_that_counts(tmp_path: Path) -> None:
    # Q1 and Q2 are links of gold elsewhere, Q3 is none: the answer is one FP in all, and one of Q1 and of Q2 each.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC O", "Q1 Q2 _")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC B-LOC B-LOC", "Q1 Q2 _|Q1|Q3|Q2")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"], match=["strict@5"], by=["link"])
    assert counts(rows, "NEL-LIT", "strict@5") == (2, 1, 0)
    assert [counts(rows, "NEL-LIT", "strict@5", link) for link in ("Q1", "Q2")] == [(1, 1, 0)] * 2


@pytest.mark.parametrize(
    ("gold", "run", "expected"),
    [
        # What follows the second character is the type, what follows the last hyphen the label: C is none of LOC's.
        ("LOC O B-X", "LOC B-C B-X", (1, 0, 0)),
        ("B-C O LOC", "LOC O B-LOC", (1, 1, 1)),
        # Another prefix carries a mention on, and begins one of another type.
        ("B-LOC X-LOC X-PERS", "B-LOC I-LOC B-PERS", (2, 0, 0)),
        # `_` and `O` behind a prefix are types, and no labels.
        ("B-_ B-O B-LOC", "B-_ B-O B-LOC", (1, 0, 0)),
        # The empty type counts where a cell has the empty label, in gold: one mention `_ I-`, another `B-`.
        ("_ I- B-", "_ _ _", (0, 1, 2)),
        ("_ _ O", "- - B-LOC", (0, 1, 0)),
    ],
)
def test_odd_tags_are_read_as_the_scorer_reads_them(
    tmp_path: Path, gold: str, run: str, expected: tuple[int, int, int]
) -> None:
    sides = [frames_of(tmp_path, name, document(1, lines(tags))) for name, tags in (("g", gold), ("s", run))]
    rows = evaluate(sides[0], {"s": sides[1]}, profile="hipe", task=["NE-COARSE-LIT"], match=["strict"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == expected


@pytest.mark.parametrize(
    ("tags", "fuzzy", "strict"),
    [
        # b is linked to Q2 then, as gold is, and c to Q1 asks for an answer of its own by I-, which is spurious.
        ("B-LOC X-LOC I-LOC", (1, 1, 0), (0, 2, 1)),
        # X- asks for none: b and c are one answer, with the link of b.
        ("B-LOC X-LOC X-LOC", (1, 0, 0), (1, 0, 0)),
        # All tags are as they should be, and b asks for an answer of its own before the cut, too.
        ("B-LOC I-LOC I-LOC", (1, 1, 0), (0, 2, 1)),
    ],
)
def test_what_a_cut_leaves_of_odd_tags_begins_answers_as_the_scorer_has_it(
    tmp_path: Path, tags: str, fuzzy: tuple[int, int, int], strict: tuple[int, int, int]
) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC I-LOC", "Q2 Q2 Q2", misc="LED0.5 _ LED0.0")))
    run = frames_of(tmp_path, "s", document(1, lines(tags, "Q1 Q2 Q1")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"], by=["noise"])
    assert counts(rows, "NEL-LIT", "fuzzy@1", "0.0-0.0") == fuzzy
    assert counts(rows, "NEL-LIT", "strict@1", "0.0-0.0") == strict


def test_odd_tags_are_carried_over_tokens_that_the_edition_of_2024_does_not_read(
    tmp_path: Path,
) -> None:
    # Without x# the answer begins with b, whose link is Q2, and c asks by I- for one of its own, to Q1, which meets
    # nothing any more: gold is b and c, linked to Q2.
    words = "x# b c"
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC I-LOC", "Q2 Q2 Q2", words=words)))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC X-LOC I-LOC", "Q1 Q2 Q1", words=words)))
    rows = evaluate(gold, {"s": run}, profile="hipe-2024", task=["NEL-LIT"])
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (1, 1, 0)


def test_link_of_gold_is_that_of_its_first_token_left_whatever_its_tag_is(tmp_path: Path) -> None:
    # Gold's a is cut out, so that b, which carried on the part linked to Q1, begins a mention that is linked to Q2, or
    # to nothing.
    for link, expected in (("Q2", (1, 0, 0)), ("_", (0, 1, 0))):
        body = lines("B-LOC X-LOC I-LOC", f"Q1 {link} Q3", misc="LED0.5 LED0.0 LED0.0")
        gold = frames_of(tmp_path, "g", document(1, body))
        run = frames_of(tmp_path, "s", document(1, lines("B-LOC B-LOC I-LOC", "Q1 Q2 Q2")))
        rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"], by=["noise"])
        assert counts(rows, "NEL-LIT", "strict@1", "0.0-0.0") == expected


def test_link_of_gold_behind_a_comment_is_that_of_what_a_cut_leaves_of_its_mention(tmp_path: Path) -> None:
    # The scorer passes over # and takes b f for one mention without a link, as its first token has none. Where the
    # noise cuts b out, f is a mention of its own, with its link: the answer, which is cut alike, is right.
    gold = lines("I-LOC O I-LOC", "_ _ Q1", words="b # f", misc="LED0.0 _ _")
    run = lines("I-LOC I-LOC", "_ Q1", words="b f")
    made = {name: frames_of(tmp_path, name, document(1, body)) for name, body in (("g", gold), ("s", run))}
    rows = evaluate(made["g"], {"s": made["s"]}, profile="hipe", task=["NEL-LIT"], by=["noise"])
    assert counts(rows, "NEL-LIT", "strict@1", "0.001-0.1") == (1, 0, 0)


def test_empty_label_is_called_by_the_cell_that_has_it(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("- O B-LOC")))
    rows = evaluate(gold, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"], match=["strict"], by=["type"])
    assert counts(rows, "NE-COARSE-LIT", "strict", "-") == (1, 0, 0)
    assert rows.filter(column="type")["slice"].unique().sort().to_list() == ["-", "LOC", "all slices"]


def test_documents_without_a_date_are_told_where_others_are_cut_by_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [document(n, lines("B-LOC", "Q1"), date) for n, date in ((1, ""), (2, "1894-05-01"))]
    gold = frames_of(tmp_path, "g", *parts)
    with progress.enable():
        rows = evaluate(gold, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"], by=["period"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy", "1890-1900") == (1, 0, 0)
    assert "1 of 2 documents tell no date, and are in no period" in capsys.readouterr().err


def test_run_without_documents_is_dealt_out_to_golds(tmp_path: Path) -> None:
    # The tag crosses the end of the first document, where the mention ends; the tokens of gold count, not its texts.
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC O B-LOC", "Q1 _ Q2")) for n in (1, 2)))
    run = frames_of(tmp_path, "s", lines("B-LOC O B-LOC I-LOC O B-LOC", "Q1 _ Q2 Q2 _ Q9", words="a b ¢ a b c"))
    for keywords in (
        {"profile": "hipe", "task": ["NEL-LIT"], "match": ["fuzzy@1"]},
        {"task": ["A2KB"], "match": ["strong"]},
    ):
        rows = evaluate(gold, {"s": run}, **keywords)  # type: ignore[arg-type]
        # Q1 and the first Q2 are right; Q2 for Q1 and Q9 for Q2 are wrong.
        assert counts(rows, rows["task"][0], rows["matching"][0]) == (2, 2, 2)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lines("O O"), "has no documents of gold's and 2 tokens, gold has 46: give each document a line"),
        (lines("O " * 46, words="x " * 46), "23 different ones where gold has others, such as 'x' for 'a'; give"),
    ],
)
def test_run_that_is_not_gold_token_by_token_is_refused(tmp_path: Path, run: str, message: str) -> None:
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC " + "O " * 22)) for n in (1, 2)))
    with pytest.raises(BadInput, match=re.escape(message)):
        evaluate(gold, {"s": frames_of(tmp_path, "s", run)}, profile="hipe")


def test_relaxed_links_stand_for_their_main_item_and_times_are_nil(tmp_path: Path) -> None:
    table = tmp_path / "map.tsv"
    table.write_text("ID\tother\nQ1 (France)\thttp://e.org/Q2\tQ3\nnone\tQ4\n")
    run = frames_of(tmp_path, "s", document(1, lines("B-loc B-loc B-time B-loc", "Q2 Q9|Q3 Q5|Q6 Q4")))
    found = relax_runs({"s": run}, table)["s"]
    wikidata = "http://www.wikidata.org/entity/"
    assert found.links["entity"].to_list() == [f"{wikidata}{one}" for one in ("Q1", "Q9", "Q4")]
    assert found.values.filter(pl.col("term").str.ends_with("ranked"))["text"].to_list() == ["Q9|Q1"]
    assert found.annotations["is_nil"].to_list() == [False, False, True, False]
    table.write_text("a\tb\n")
    with pytest.raises(BadInput, match="maps no item of Wikidata to another"):
        relax_runs({"s": run}, table)


def test_mentions_without_any_link_are_the_difference_to_other_profiles(tmp_path: Path) -> None:
    # Other profiles take the second mention for NIL, which the answer has right.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC B-LOC", "Q1 _ NIL")))
    inputs = Inputs(gold, {"s": gold})
    shown = headlines(Counting(inputs), ["remix", "hipe"]).select("profile", "tp").rows()
    steps = differences(Counting(inputs), ["remix", "hipe"]).filter(pl.col("tp") != 0).select("aspect", "tp").rows()
    assert (shown, steps) == ([("remix", 3), ("hipe", 2)], [("nil", -1)])


def test_layers_are_neither_given_to_systems_nor_counted_as_mentions(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O O", fine="O B-LOC B-LOC")))
    measured = counted_documents(gold)
    assert (len(gold.annotations), len(gold.one_layer())) == (3, 1)
    assert measured.select("mentions", "all_mentions").row(0) == (1, 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # Both sides have one comment, in different places: gold is b c, the run a c, held against each other in order.
        ("a #b c", (1, 0, 1)),
        # In the same place it is as if it were not there.
        ("#x b c", (1, 0, 1)),
    ],
)
def test_token_that_is_a_comment_on_one_side_alone_moves_the_others(
    tmp_path: Path, words: str, expected: tuple[int, int, int]
) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("O B-LOC B-LOC", words="#a b c")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O O" if words[0] == "a" else "O B-LOC O", words=words)))
    for own in (run, frames_of(tmp_path, "t", lines("B-LOC O O" if words[0] == "a" else "O B-LOC O", words=words))):
        rows = evaluate(gold, {"s": own}, profile="hipe", task=["NE-COARSE-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "fuzzy") == expected


def test_comment_on_one_side_alone_is_a_token_too_few(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("O B-LOC", words="a b")))
    run = frames_of(tmp_path, "s", document(1, lines("O B-LOC", words="#a b")))
    with pytest.raises(BadInput, match=r"its document 'd1' has 1 tokens, gold's 'd1' 2"):
        evaluate(gold, {"s": run}, profile="hipe")


def test_documents_that_a_run_lacks_are_told_as_what_the_scorer_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = frames_of(tmp_path, "g", *(document(number, lines("B-LOC")) for number in (1, 2, 3)))
    run = frames_of(tmp_path, "r", document(1, lines("B-LOC")), document(3, lines("B-LOC")))
    with progress.enable():
        rows = evaluate(gold, {"r": run}, profile="hipe", task=["NE-COARSE-LIT", "NEL-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 1)
    said = capsys.readouterr().err
    assert said.count("run 'r' lacks 1 of gold's 3 documents, the first is 'd2': HIPE-scorer refuses such a run") == 1
    assert "give it these, too, with O and _ in each line where it answers nothing" in said
    # Of another format a run has no lines of tokens.
    bare = run.annotations.with_columns(layer=pl.lit(None, pl.String))
    plain = replace(run, values=run.values.clear(), annotations=bare)
    with progress.enable():
        evaluate(gold, {"p": plain}, profile="hipe", task="NE-COARSE-LIT")
    said = capsys.readouterr().err
    assert "run 'p' lacks 1 of gold's 3" in said and "with their texts and no annotation where it answers" in said
    # Texts alone do not tell which documents are which: of b and c one answer would be two.
    other = frames_of(tmp_path, "o", document(7, lines("B-LOC")), document(8, lines("B-LOC")))
    message = "run 'o'.*has 2 documents, of which none has a name of gold's, gold has 3: HIPE-scorer refuses"
    with pytest.raises(BadInput, match=message):
        evaluate(gold, {"o": other}, profile="hipe")
    assert counts(evaluate(gold, {"o": other}), "A2KB", "strong") == (3, 0, 0)


def test_run_with_other_segments_than_gold_is_refused(tmp_path: Path) -> None:
    one, two = lines("B-LOC"), lines("O O", words="b c")
    gold = frames_of(tmp_path, "g", document(1, f"{one}# segment\n{two}"), document(2, one))
    same = frames_of(tmp_path, "s", document(1, f"# segment\n{one}# segment\n{two}# segment\n"), document(2, one))
    rows = evaluate(gold, {"s": same}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)
    other = frames_of(tmp_path, "t", document(1, one + two), document(2, one))
    for run in (other, answers_to(gold, other, "s")):
        with pytest.raises(BadInput, match=r"segments of its document 'd1' have all tokens, those of gold's 'd1' 1 2"):
            evaluate(gold, {"s": run}, profile="hipe")
    rows = evaluate(gold, {"s": answers_to(gold, same, "s")}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)
    assert counts(evaluate(gold, {"s": answers_to(gold, other, "s")}), "A2KB", "weak") == (2, 0, 0)


def test_first_segment_of_a_run_without_documents_is_dealt_out(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC")), document(2, lines("B-LOC", words="b")))
    whole, more = lines("B-LOC B-LOC"), lines("B-LOC", words="c")
    rows = evaluate(gold, {"s": frames_of(tmp_path, "s", f"{whole}# segment\n{more}")}, profile="hipe")
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)
    with pytest.raises(BadInput, match="has no documents of gold's and 1 tokens, gold has 2"):
        evaluate(gold, {"s": frames_of(tmp_path, "t", f"{more}# segment\n{whole}")}, profile="hipe")


def test_file_with_empty_cells_is_refused_as_the_scorer_does(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC", "Q1")))
    run = frames_of(tmp_path, "s", document(1, "a\tB-LOC\t\t\t_\n"))
    for sides in ((gold, run, "run 's'"), (run, gold, "gold")):
        with pytest.raises(BadInput, match=f"{sides[2]}: 2 of its cells are empty, for which HIPE-scorer refuses a"):
            evaluate(sides[0], {"s": sides[1]}, profile="hipe")
    assert counts(evaluate(gold, {"s": run}, task=["ERec"], match=["strong"]), "ERec", "strong") == (1, 0, 0)
    own = answers_to(gold, run, "s")
    with pytest.raises(BadInput, match="run 's': 2 of its cells are empty"):
        evaluate(gold, {"s": own}, profile="hipe")
    # Runs of 2020 have such cells, and were scored.
    rows = evaluate(gold, {"s": run}, profile="hipe-2020", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)


def test_empty_cells_of_lines_that_begin_with_a_hash_are_comments(tmp_path: Path) -> None:
    """The scorer does not read such a line, and so does not refuse it."""
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC", "Q1") + "#x\t\t\t\t_\n" + lines("O")))
    rows = evaluate(gold, {"s": gold}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)


def test_run_without_documents_is_registered_under_golds(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC O", "Q1 _", words=f"a {n}")) for n in (1, 2)))
    run = frames_of(tmp_path, "s", lines("B-LOC O B-LOC O", "Q1 _ Q2 _", words="a 1 a 2", fine="B-LOC O O O"))
    own = answers_to(gold, run, "s")
    assert own.documents["document"].to_list() == gold.documents["document"].to_list()
    assert counts(evaluate(gold, {"s": own}, profile="hipe", task=["NEL-LIT"]), "NEL-LIT", "strict@1") == (1, 1, 1)


def test_labels_of_a_run_count_on_gold_that_calls_documents_otherwise(tmp_path: Path) -> None:
    """The cell `LOC` makes LOC count, not its type C: ORG is a label of the run by its cells alone."""
    body = document(1, lines("B-LOC LOC", "Q1 _"))
    run = frames_of(tmp_path, "s", document(1, lines("B-ORG LOC", "Q1 _")))
    own = answers_to(frames_of(tmp_path, "g", body), run, "s")
    for name in ("g", "h"):
        rows = evaluate(frames_of(tmp_path, name, body), {"s": own}, profile="hipe", task=["NE-COARSE-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "strict") == (0, 1, 1)


def test_labels_of_mentions_that_a_remix_drops_count_no_more(tmp_path: Path) -> None:
    """The cells make LOC, PERS and TOWN count; without the mentions of PERS and TOWN an answer TOWN is no mistake."""
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O B-PERS LOC B-TOWN", "Q1 _ Q2 _ Q3")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O O O B-TOWN", "Q1 _ _ _ Q3")))
    dropped = pl.when(pl.col("surface_form").is_in(["c", "e"])).then(pl.lit("dropped")).otherwise("ignorable")
    remix = replace(gold, annotations=gold.annotations.with_columns(ignorable=dropped))
    for frames, expected in ((gold, (2, 0, 1)), (remix, (1, 0, 0))):
        rows = evaluate(frames, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "strict") == expected


@pytest.mark.long
def test_other_names_of_tasks_and_matchings_and_slices_of_nothing_are_refused(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC", "Q1")))
    for task, matching, kind in (("A2KB", "fuzzy", "task"), ("NEL-LIT", "weak", "matching")):
        with pytest.raises(UnknownName, match=f"no {kind} of this profile"):
            evaluate(gold, {"s": gold}, profile="hipe", task=[task], match=[matching])
    for column in ("noise", "period"):
        with pytest.raises(UsageError, match=f"no annotation of gold has a value in column '{column}'"):
            evaluate(gold, {"s": gold}, profile="hipe", by=[column])


Span = tuple[int, int, str, tuple[str, ...]]


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    """Return mentions of up to three tokens that do not overlap, as tags give them, with texts and ranked labels."""
    found, begin = [], 0
    while begin < 10:
        begin += draw(st.integers(0, 2))
        end = begin + draw(st.integers(1, 3))
        labels = draw(st.lists(st.sampled_from("XY"), min_size=1, max_size=2, unique=True))
        found.append((begin, end, draw(st.sampled_from("tT")), tuple(labels)))
        begin = end
    return found


def told(gold: Sequence[Span], answers: Sequence[Span]) -> Iterator[tuple[int | None, int | None, bool, bool]]:
    """Yield mention, answer, strict and fuzzy as the scorer's rules, section by section, tell them for each answer."""
    taken: set[int] = set()
    for a, (begin, end, text, labels) in enumerate(answers):
        hits = [g for g, one in enumerate(gold) if one[:3] == (begin, end, text) and one[3][0] in labels]
        if hits:
            taken.add(hits[0])
            yield hits[0], a, True, True
            continue
        for g, (first, last, _, of_gold) in enumerate(gold):
            other = (first, last) == (begin, end) and of_gold[0] != labels[0]
            if other or (first < end and begin < last and g not in taken):
                taken.add(g)
                yield g, a, False, of_gold[0] in labels and not other
                break
        else:
            yield None, a, False, False
    yield from ((g, None, False, False) for g in range(len(gold)) if g not in taken)


def side(mentions: Sequence[Span], **columns: pl.Expr) -> pl.DataFrame:
    schema = {"begin": pl.Int64, "end": pl.Int64, "text": pl.String, "labels": pl.List(pl.String)}
    return pl.DataFrame(mentions, schema=schema, orient="row").with_columns(doc=pl.lit(0, pl.Int64), **columns)


@given(spans(), st.lists(spans(), min_size=1, max_size=3))
def test_answers_meet_gold_in_turn(gold: list[Span], runs: list[list[Span]]) -> None:
    answers = pl.concat(side(run, system=pl.lit(n, pl.Int64)) for n, run in enumerate(runs))
    found = meetings(side(gold, label=pl.col("labels").list.first()), answers, len(runs))
    before = 0
    for n, run in enumerate(runs):
        own = found.filter(system=n).select("mention", pl.col("answer") - before, "strict", "fuzzy")
        assert set(own.rows()) == set(told(gold, run)) and len(own) == len(list(told(gold, run)))
        before += len(run)


EVALUATION = re.compile(r"(NEL?-[A-Z-]+?)-(micro|macro)(?:_doc)?-(fuzzy|strict)(?:-relaxed)?-TIME-ALL-LED-ALL(-@\d)?")


def compare_published(folder: Path, run: str, kinds: list[str], relax: str, profile: str) -> int:
    """Hold published results of a run against those of a profile, and return how many cells were compared."""
    dataset, language = run.split("_")[2:4]
    name = f"HIPE-2022-v2.1-{dataset}-test-{language}" + ("_histonorm" if relax else "") + ".tsv*"
    gold = read_frames(list((folder / "gold").glob(name)))
    runs = {run: read_frames(list((folder / "runs").glob(f"{run}.tsv*")), unannotated=True)}
    if relax:
        runs = relax_runs(runs, next((folder / "mapping").glob(f"{relax}-*")))
    rows = evaluate(gold, runs, profile=profile, by=["type"])
    keys = ("task", "matching", "average", "slice")
    found = {tuple(row[key] for key in keys): row for row in rows.iter_rows(named=True)}
    compared = 0
    for key, cells in (one for kind in kinds for one in published(folder, run, kind)):
        for field, cell in cells.items():
            value = found.get(key, {}).get(field)
            compared += 1
            if cell == "" or value is None:
                assert value is None and cell in ("", "0"), (key, field)
            else:
                assert abs(value - float(cell)) < 0.00051, (key, field)
    return compared


def published(folder: Path, run: str, kind: str) -> Iterator[tuple[tuple[str, str, str, str], dict[str, str]]]:
    """Yield task, matching, average and label of each published row, and its cells by the names of ours."""
    path = next((folder / "results").glob(f"{run}_{kind}.tsv*"))
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            form = EVALUATION.fullmatch(row["Evaluation"])
            assert form is not None
            task, average, regime, rank = form.groups("")
            names = {
                "micro": {"tp": "TP", "fp": "FP", "fn": "FN"},
                "macro": {
                    ours + end: theirs + more
                    for end, more in (("", ""), (SPREAD, "_std"))
                    for ours, theirs in {"precision": "P", "recall": "R", "f1": "F1"}.items()
                },
            }
            label = "" if row["Label"] == "ALL" else row["Label"]
            cells = {ours: row[theirs].strip() for ours, theirs in names[average].items()}
            yield (task, regime + rank.replace("-", ""), average, label), cells


def test_mentions_without_offsets_meet_nothing() -> None:
    # The answer 1 is exact on the mention 1; the answer 0 is wrong, the mention 0 is missed.
    gold = pl.DataFrame({"doc": [0, 0], "begin": [None, 0], "end": [None, 3], "text": [None, "Ada"]})
    answers = gold.with_columns(system=pl.lit(0, pl.Int64), labels=pl.lit(["PERS"]))
    found = meetings(gold.with_columns(label=pl.lit("PERS")), answers, 1).select("mention", "answer", "strict", "fuzzy")
    assert set(found.rows()) == {(None, 0, False, False), (1, 1, True, True), (0, None, False, False)}


def test_labels_that_count_are_those_of_the_tag_set(real_data: Path) -> None:
    listed = (real_data / "hipe2022" / "tagset-hipe2022-all.txt").read_text(encoding="utf-8").upper().split()
    assert {one.removeprefix("B-").removeprefix("I-") for one in listed} - {"O", "_"} == HIPE_2022.tags


@pytest.mark.long
@pytest.mark.parametrize(
    ("run", "kinds", "relax"),
    [
        ("team2_bundle1_ajmc_en_1", ["nel", "nerc_coarse", "nerc_fine"], ""),  # no documents, IOBES
        ("team5_bundle5_ajmc_de_2", ["nel"], ""),  # ranked links, other spellings of tokens
        ("team5_bundle5_ajmc_fr_1", ["nel_relaxed"], "ajmc"),
        ("team3_bundle4_hipe2020_en_1", ["nerc_coarse"], ""),  # comments and lines of empty cells
        ("team2_bundle1_hipe2020_en_1", ["nel_relaxed"], "historico"),
    ],
)
def test_published_results_of_hipe_2022_come_out(real_data: Path, run: str, kinds: list[str], relax: str) -> None:
    compared = compare_published(real_data / "hipe2022", run, kinds, relax, "hipe")
    assert compared >= 12 * len(kinds)


@pytest.mark.long
@pytest.mark.parametrize(
    ("run", "kinds", "relax"),
    [
        ("team2_bundle1_ajmc_en_1", ["nel", "nerc_coarse", "nerc_fine"], ""),  # a token that begins with #
        ("team5_bundle5_ajmc_fr_1", ["nel_relaxed"], "ajmc"),
        ("team3_bundle4_hipe2020_en_1", ["nerc_coarse"], ""),
    ],
)
def test_published_results_of_hipe_2022_on_texts_without_hashes_come_out_by_the_edition_of_2024(
    real_data: Path, run: str, kinds: list[str], relax: str
) -> None:
    compared = compare_published(real_data / "hipe2022", run, kinds, relax, "hipe-2024")
    assert compared >= 12 * len(kinds)


@pytest.mark.parametrize("registered", [False, True])
def test_edition_of_2024_reads_no_token_that_has_a_hash(tmp_path: Path, registered: bool) -> None:
    # Without b# gold asks for LOC a, c, as one, and PERS d; the run has both. By 2022 gold asks for LOC a, PERS b#,
    # LOC c and PERS d, and the run answers PERS b# by ORG: TP 3, FP 1, FN 1.
    words, links = "a b# c d", "Q1 Q2 Q1 Q3"
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-PERS I-LOC B-PERS", links, words=words)))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC B-ORG I-LOC B-PERS", links, words=words)))
    run = answers_to(gold, run, "s") if registered else run
    for profile, expected in (("hipe", (3, 1, 1)), ("hipe-2024", (2, 0, 0))):
        rows = evaluate(gold, {"s": run}, profile=profile, task=["NE-COARSE-LIT", "NEL-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "strict") == expected
        linked = {"hipe": (4, 0, 0), "hipe-2024": (2, 0, 0)}[profile]
        assert counts(rows, "NEL-LIT", "strict@1") == linked


def test_edition_of_2024_takes_each_side_by_its_own_text(tmp_path: Path) -> None:
    # Both are a c, though each loses another token: the run's LOC begins at x#, and is a without it, which has the link
    # Q2. Labels are of what is read: gold has MISC on b# alone, so that the run's MISC on c costs nothing.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-MISC O", "Q2 Q1 _", words="a b# c")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC B-MISC", "Q1 Q2 _", words="x# a c")))
    rows = evaluate(gold, {"s": run}, profile="hipe-2024", task=["NE-COARSE-LIT", "NEL-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)
    assert counts(rows, "NEL-LIT", "strict@1") == (1, 0, 0)
    own = answers_to(gold, run, "s")
    message = (
        "run 's': in 1 documents other tokens have # than in gold, of which .* score its file itself, --run s=FILE"
    )
    with pytest.raises(BadInput, match=message):
        evaluate(gold, {"s": own}, profile="hipe-2024")


def test_run_that_loses_more_tokens_with_a_hash_than_gold_is_refused(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O")), document(2, lines("B-LOC")))
    for one, two, name, sizes in (("a b#", "a", "d1", ("1", "2")), ("a b", "#a", "d2", ("0", "1"))):
        run = frames_of(
            tmp_path, "s", document(1, lines("B-LOC O", words=one)), document(2, lines("B-LOC", words=f"x{two}"))
        )
        with pytest.raises(
            BadInput, match=rf"its document '{name}' has {sizes[0]} tokens, gold's '{name}' {sizes[1]}:"
        ):
            evaluate(gold, {"s": run}, profile="hipe-2024")
        assert counts(evaluate(gold, {"s": run}, profile="hipe"), "NE-COARSE-LIT", "fuzzy") == (2, 0, 0)


def test_segments_of_2024_are_those_of_the_tokens_without_a_hash(tmp_path: Path) -> None:
    # By 2022 gold's segments have 2 and 1 tokens, the run's 1 and 2; without b# and x# both have 1 and 1.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O", words="a b#") + "# segment\n" + lines("O", words="c")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC") + "# segment\n" + lines("O O", words="x# c")))
    rows = evaluate(gold, {"s": run}, profile="hipe-2024", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)
    with pytest.raises(BadInput, match="the segments of its document 'd1' have 1 2 tokens, those of gold's 'd1' 2 1"):
        evaluate(gold, {"s": run}, profile="hipe")


def test_answer_behind_a_comment_has_the_link_of_the_first_token_that_is_read(tmp_path: Path) -> None:
    # The scorer does not read #x, so that the answer begins with a, which has no link or Q1.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O", "Q1 _")))
    for link, expected in (("_", (0, 0, 1)), ("Q1", (1, 0, 0))):
        run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC O", f"Q2 {link} _", words="#x a b")))
        rows = evaluate(gold, {"s": run}, profile="hipe", task=["NEL-LIT"])
        assert counts(rows, "NEL-LIT", "strict@1") == expected


def test_run_that_an_earlier_version_registered_says_that_its_tokens_with_a_hash_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O B-LOC", words="a b# c")))
    now = answers_to(gold, frames_of(tmp_path, "s", document(1, lines("B-LOC O O", words="a b# c"))), "s")
    before = replace(now, values=now.values.filter(pl.col("term") != HASHED))
    for run, unknown in ((now, False), (before, True)):
        with progress.enable():
            rows = evaluate(gold, {"s": run}, profile="hipe-2024", task=["NE-COARSE-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 1)
        said = capsys.readouterr().err
        assert ("`remix run add s FILE --on g --replace` registers it anew" in said) is unknown
        assert ("in 1 documents of g where some have" in said) is unknown


def test_document_that_ends_in_a_segment_of_hashes_alone_is_refused_by_the_edition_of_2024(tmp_path: Path) -> None:
    # Without b# the line of the second document stands right behind that of the segment, and does not cut.
    body = lines("B-LOC") + "# segment\n" + lines("O", words="b#")
    last = frames_of(tmp_path, "g", document(1, body))
    assert counts(evaluate(last, {"s": last}, profile="hipe-2024"), "NE-COARSE-LIT", "strict") == (1, 0, 0)
    gold = frames_of(tmp_path, "g", document(1, body), document(2, lines("I-LOC")))
    with pytest.raises(BadInput, match="gold: its document 'd1' ends in a segment of tokens with # alone"):
        evaluate(gold, {"s": gold}, profile="hipe-2024")
    assert counts(evaluate(gold, {"s": gold}, profile="hipe"), "NE-COARSE-LIT", "strict") == (2, 0, 0)


def test_lines_that_lack_cells_of_links_or_have_more_are_of_2024(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The header has NEL-LIT and MISC behind the types: the first line lacks both, the last has one more.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O B-LOC", "Q1 _ Q2")))
    run = frames_of(tmp_path, "s", document(1, "a\tB-LOC\tO\nb\tO\tO\t_\nc\tB-LOC\tO\tQ2\t_\tx\n"))
    for own in (run, answers_to(gold, run, "s")):
        rows = evaluate(gold, {"s": own}, profile="hipe-2024", task=["NEL-LIT", "NE-COARSE-LIT"])
        assert counts(rows, "NEL-LIT", "strict@1") == (1, 0, 1)
        assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)
        with pytest.raises(
            BadInput, match=r"run 's': 2 of its lines lack cells of links or have more .* \(hipe-2024\)"
        ):
            evaluate(gold, {"s": own}, profile="hipe")
        with progress.enable():
            rows = evaluate(gold, {"s": own}, profile="hipe-2020", task=["NEL-LIT"])
        assert counts(rows, "NEL-LIT", "strict@1") == (1, 0, 1)
        assert "run 's': 2 of its lines lack cells of links or have more than the header" in capsys.readouterr().err


def test_empty_cells_are_refused_by_the_edition_of_2024_which_takes_them_for_labels(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC", "Q1")))
    run = frames_of(tmp_path, "s", document(1, "a\tB-LOC\t\t\t_\n"))
    with pytest.raises(BadInput, match="run 's': 2 of its cells are empty, which HIPE-scorer of 2024 takes for labels"):
        evaluate(gold, {"s": run}, profile="hipe-2024")


def test_file_of_whose_lines_each_lacks_types_or_links_is_refused(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O", "Q1 _")))
    run = frames_of(tmp_path, "s", document(1, "a\tB-LOC\tO\nb\tO\tO\n"))  # no links, no MISC
    assert counts(evaluate(gold, {"s": run}, profile="hipe-2024"), "NE-COARSE-LIT", "strict") == (1, 0, 0)
    with pytest.raises(BadInput, match="2 of its lines lack cells"):
        evaluate(gold, {"s": run}, profile="hipe")
    run = frames_of(tmp_path, "s", document(1, "a\tB-LOC\nb\tO\n"))  # no fine types either
    for profile in ("hipe", "hipe-2024"):
        with pytest.raises(BadInput, match="2 of its cells are empty"):
            evaluate(gold, {"s": run}, profile=profile)


def test_comment_within_a_mention_of_one_side_alone_is_not_in_its_text(tmp_path: Path) -> None:
    # To the scorer gold's mention is a c, with a text of just these, as the run's is.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-PERS I-LOC", words="a #b c")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC", words="a c")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 0)


@pytest.mark.long
def test_edition_of_2020_cuts_links_by_their_own_column(tmp_path: Path) -> None:
    # Gold: Q1 on a and b, which are two mentions of types, is one of links; Q1 on d another. The run has links without
    # types: Q1 on a, b and c, which overlaps the first and is right, and Q1|Q2 on d, which is right too.
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC O B-LOC", "Q1 Q1 _ Q1")))
    run = frames_of(tmp_path, "s", document(1, lines("_ _ _ _", "Q1 Q1 Q1 Q1|Q2")))
    rows = evaluate(gold, {"s": run}, profile="hipe-2020")
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (2, 0, 0)
    assert counts(rows, "NEL-LIT", "strict@1") == (1, 1, 1)
    # Later they are mentions of gold's types, and a run without types has one mention.
    rows = evaluate(gold, {"s": run}, profile="hipe")
    assert counts(rows, "NEL-LIT", "fuzzy@1") == (1, 0, 2)


@pytest.mark.long
def test_edition_of_2020_takes_times_for_nil_in_both_columns_of_links(tmp_path: Path) -> None:
    # The run has the mention b with Q2 as a time: NIL, which gold has there. In NEL-METO gold has Q3 on b, so that NIL
    # is wrong; both times stand apart from the NIL on d, which gold has, too.
    header = HEADER.replace("NE-FINE-LIT", "NE-COARSE-METO").replace("MISC", "NEL-METO")
    body = lines("O B-TIME O B-LOC", "_ NIL _ NIL", misc="_ Q3 _ _")
    own = lines("O B-time O B-LOC", "_ Q2 _ NIL", misc="_ _ _ _")
    sides = {}
    for name, text in (("g", body), ("s", own)):
        (tmp_path / f"{name}.tsv").write_text(header + document(1, text))
        sides[name] = read_frames([tmp_path / f"{name}.tsv"], unannotated=True)
    rows = evaluate(sides["g"], {"s": sides["s"]}, profile="hipe-2020")
    assert counts(rows, "NEL-LIT", "strict@1") == (2, 0, 0)
    assert counts(rows, "NEL-METO", "fuzzy@1") == (0, 1, 1)


def test_edition_of_2020_compares_no_texts_and_has_labels_of_its_own(tmp_path: Path) -> None:
    # The answer on a is right whatever its text is; SCOPE is a label of 2022 alone, PROD one of 2020. Neither edition
    # has TIME.HOUR.ABS, which the guidelines of annotation know: it is wrong only where gold has it somewhere.
    words, tags = "A b c d", "B-LOC B-SCOPE B-PROD B-TIME.HOUR.ABS"
    run = frames_of(tmp_path, "s", document(1, lines(tags, words=words)), document(2, lines("O")))
    for there, wrong in (("O", 1), ("B-TIME.HOUR.ABS", 2)):
        gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O O O")), document(2, lines(there)))
        rows = evaluate(gold, {"s": run}, profile="hipe-2020", task=["NE-COARSE-LIT"])
        assert counts(rows, "NE-COARSE-LIT", "strict") == (1, wrong, wrong - 1)
    assert (len(HIPE_2020.tags), len(HIPE_2022.tags)) == (31, 53)


def test_edition_of_2020_deals_tokens_out_by_their_number(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC " + "O " * 22)) for n in (1, 2)))
    run = frames_of(tmp_path, "s", lines("B-LOC " + "O " * 45, words=" ".join(f"x{n}" for n in range(46))))
    rows = evaluate(gold, {"s": run}, profile="hipe-2020", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (1, 0, 1)


@pytest.mark.long
def test_parts_of_an_answer_are_one_where_their_links_are_mapped_to_the_same(tmp_path: Path) -> None:
    # The answer on a, b and c has the links Q1, Q2 and Q3: three parts. Q2 stands for Q1, so a and b are one, as gold.
    table = tmp_path / "map.tsv"
    table.write_text("Q1\tQ2\n")
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC I-LOC O", "Q1 Q1 _")))
    runs = {"s": frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC I-LOC", "Q1 Q2 Q3")))}
    assert counts(evaluate(gold, runs, profile="hipe"), "NEL-LIT", "strict@1") == (0, 3, 1)
    assert counts(evaluate(gold, relax_runs(runs, table), profile="hipe"), "NEL-LIT", "strict@1") == (1, 1, 0)


@pytest.mark.long
def test_mapped_links_of_gold_are_one_where_neighbours_mean_the_same(tmp_path: Path) -> None:
    table = tmp_path / "map.tsv"
    table.write_text("ID\tother\nQ1\tQ2\n")
    gold = relax_gold(frames_of(tmp_path, "g", document(1, lines("B-LOC B-LOC B-TIME", "Q2 Q1 NIL"))), table)
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC I-LOC O", "Q1 Q1 _")))
    assert counts(evaluate(gold, {"s": run}, profile="hipe-2020"), "NEL-LIT", "strict@1") == (1, 0, 1)


@pytest.mark.long
@pytest.mark.parametrize("run", ["team31_bundle5_en_3", "team23_bundle4_en_1", "team10_bundle1_en_1"])
def test_published_rankings_of_hipe_2020_come_out(real_data: Path, run: str) -> None:
    folder, language = real_data / "hipe2020", run.split("_")[2]
    table = next((folder / "mapping").glob("historico-*"))
    gold = read_frames(list((folder / "gold").glob(f"*test-{language}.tsv*")))
    answers = {run: read_frames(list((folder / "runs").glob(f"{run}.tsv*")), unannotated=True)}
    plain = evaluate(gold, answers, profile="hipe-2020")
    relaxed = evaluate(relax_gold(gold, table), relax_runs(answers, table), profile="hipe-2020")
    compared = 0
    for path in sorted((folder / "published").glob(f"ranking-{language}-*.tsv")):
        with path.open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                if row["System"] != run:
                    continue
                form = re.fullmatch(r"(NEL?-[A-Z-]+?)-micro-(fuzzy|strict)(-relaxed)?(-@\d)?", row["Evaluation"])
                assert form is not None
                found = counts(relaxed if form[3] else plain, form[1], form[2] + (form[4] or "").replace("-", ""))
                assert found == tuple(int(row[one]) for one in ("TP", "FP", "FN")), row["Evaluation"]
                compared += 1
    assert compared >= 4


TAGS_DRAWN = st.sampled_from(["O", "B-LOC", "I-LOC", "B-PERS", "I-PERS", "I-PERS", "I-LOC", "_"])
LINKS_DRAWN = st.sampled_from(["_", "NIL", "Q1", "Q2", "Q1|Q2", "q1"])
ROW = st.tuples(st.booleans(), TAGS_DRAWN, LINKS_DRAWN, TAGS_DRAWN, LINKS_DRAWN, st.booleans())
LINE = st.one_of(ROW, st.sampled_from(["# segment", "# document_id = other", "# a comment"]))


def both_sides(rows: list[Any], *, comments: bool) -> tuple[str, str]:
    """Return gold and run of drawn lines, with or without the tokens that begin with `#`."""
    gold, run = "# document_id = d\n", "# document_id = d\n"
    for number, row in enumerate(rows):
        if isinstance(row, str):
            line = f"{row}{number}\n" if "document" in row else f"{row}\n"
            gold, run = gold + line, run + line
            continue
        comment, *cells, other = row
        if comment and not comments:
            continue
        token = f"#{number}" if comment else f"w{number}"
        gold += f"{token}\t{cells[0]}\tO\t{cells[1]}\t_\n"
        run += f"{token + 'x' if other else token}\t{cells[2]}\tO\t{cells[3]}\t_\n"
    return gold, run


@pytest.mark.long
@settings(max_examples=FEW)
@given(st.lists(LINE, min_size=1, max_size=9))
@example([(True, "I-LOC", "Q2", "I-PERS", "Q2", False), (False, "I-LOC", "_", "I-LOC", "Q2", False),
          (False, "I-LOC", "Q1", "I-PERS", "Q1", True)])  # fmt: skip
@example([(False, "B-LOC", "Q1", "B-LOC", "Q1", False), (True, "I-LOC", "Q1", "I-LOC", "Q1", False),
          (False, "I-LOC", "Q1", "I-LOC", "Q1", False)])  # fmt: skip
@example([(False, "B-LOC", "Q1", "B-LOC", "Q2", False), (True, "O", "_", "B-PERS", "NIL", True),
          (False, "I-LOC", "Q2", "I-LOC", "Q1", False)])  # fmt: skip
@example([(True, "B-LOC", "Q1", "B-LOC", "Q1", False), (False, "I-LOC", "Q2", "I-LOC", "Q2", False)])
def test_tokens_that_begin_with_a_hash_count_as_if_their_lines_were_not_there(rows: list[Any]) -> None:
    found = []
    for comments in (True, False):
        with TemporaryDirectory() as place:
            gold, run = both_sides(rows, comments=comments)
            if not any(not isinstance(row, str) and not row[0] for row in rows):
                return  # without any token there is nothing to score
            sides = [frames_of(Path(place), name, text) for name, text in (("g", gold), ("s", run))]
            found.append(evaluate(sides[0], {"s": sides[1]}, profile="hipe", by=["type"]))
    columns = ["task", "matching", "average", "slice", "tp", "fp", "fn", "precision", "recall", "f1"]
    # Without any mention left every layer has its rows, all of zeros.
    told = (pl.col("tp") + pl.col("fp") + pl.col("fn") > 0) | (pl.col("average") != "micro")
    told &= pl.any_horizontal(pl.col("precision", "recall").is_not_null())
    one, two = (rows.filter(told).select(columns).sort(columns[:4]) for rows in found)
    assert_frame_equal(one, two)


def test_document_line_right_behind_a_segment_line_leaves_the_scorers_document_open(tmp_path: Path) -> None:
    # The scorer has one document: gold's I-LOC goes on over the line, so that one mention is asked for, not two.
    body = lines("B-LOC") + "# segment\n# document_id = d2\n" + lines("I-LOC", words="b") + document(3, lines("B-LOC"))
    gold, run = (frames_of(tmp_path, name, document(1, body)) for name in "gs")
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"]).filter(matching="strict")
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)


def test_run_of_one_document_with_the_name_of_one_of_golds_is_dealt_out(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O")), document(2, lines("O B-LOC", words="c d")))
    run = frames_of(tmp_path, "s", document(1, lines("B-LOC O O B-LOC")))
    rows = evaluate(gold, {"s": run}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "strict") == (2, 0, 0)


def test_run_with_its_own_documents_is_never_compared_token_by_token(tmp_path: Path) -> None:
    # 25 tokens of each document are others, and no name is gold's: the documents are gold's in order all the same.
    gold = frames_of(tmp_path, "g", *(document(n, lines("B-LOC " + "O " * 24)) for n in (1, 2)))
    for name, numbers in (("s", (7, 8)), ("t", (1, 8))):
        words = " ".join(f"w{n}" for n in range(25))
        own = (document(n, lines("B-LOC " + "O " * 24, words=words)) for n in numbers)
        rows = evaluate(gold, {name: frames_of(tmp_path, name, *own)}, profile="hipe", task=["NE-COARSE-LIT"])
        # The texts of the mentions differ, so that both are right as fuzzy ones and wrong as strict ones.
        assert counts(rows, "NE-COARSE-LIT", "fuzzy") == (2, 0, 0)
        assert counts(rows, "NE-COARSE-LIT", "strict") == (0, 2, 2)


def test_run_of_one_document_is_golds_one_document_whatever_its_tokens(tmp_path: Path) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC " + "O " * 24)))
    own = lines("B-LOC " + "O " * 24, words=" ".join(f"w{n}" for n in range(25)))
    rows = evaluate(gold, {"s": frames_of(tmp_path, "s", own)}, profile="hipe", task=["NE-COARSE-LIT"])
    assert counts(rows, "NE-COARSE-LIT", "fuzzy") == (1, 0, 0)
    # Other profiles do not take tokens for others that they are not.
    with pytest.raises(BadInput, match="25 different ones where gold has others"):
        evaluate(gold, {"s": frames_of(tmp_path, "s", own)}, task=["A2KB"])


@pytest.mark.parametrize("number", [1, 7])
def test_run_whose_document_has_another_number_of_tokens_is_refused(tmp_path: Path, number: int) -> None:
    gold = frames_of(tmp_path, "g", document(1, lines("B-LOC O")), document(2, lines("O B-LOC O")))
    run = frames_of(tmp_path, "s", document(number, lines("B-LOC O")), document(2, lines("O B-LOC")))
    with pytest.raises(BadInput, match=r"its document 'd2' has 2 tokens, gold's 'd2' 3: .*give it gold's tokens"):
        evaluate(gold, {"s": run}, profile="hipe")
