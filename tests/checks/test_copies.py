"""Texts and datasets that have something in common, and editions that correct one another."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.checks.copies import find_similar
from remix.checks.editions import lay_over
from remix.checks.findings import Checked, check, share
from remix.errors import UsageError
from remix.formats.losses import CLUSTER
from remix.formats.repairs import RepairTally
from remix.frames import Frames
from tests.checks.test_rules import BERLIN, BONN, frames
from tests.commands import run_verb

WORDS = [f"word{number}" for number in range(200)]


@given(st.integers(0, 10_000), st.integers(0, 6))
def test_texts_are_similar_as_many_sequences_as_they_share(seed: int, changed: int) -> None:
    draw = random.Random(seed)
    text = draw.choices(WORDS, k=60)
    other = list(text)
    for place in draw.sample(range(60), changed):
        other[place] = f"new{place}"
    both = [{tuple(words[n : n + 3]) for n in range(58)} for words in (text, other)]
    similarity = len(both[0] & both[1]) / len(both[0] | both[1])
    rows = pl.DataFrame({"document": ["a", "b"], "text": [" ".join(text), " ".join(other)]})
    found = find_similar(rows, least=0.8).rows()
    assert found == ([("b", "a", similarity)] if similarity >= 0.8 else [])


def test_many_copies_of_one_text_are_each_told_once() -> None:
    rows = pl.DataFrame({"document": [f"d{n}" for n in range(300)], "text": ["a b c d e f"] * 300})
    assert find_similar(rows).select("document", "other").rows() == [(f"d{n}", "d0") for n in range(1, 300)]


def test_datasets_that_share_texts_are_editions_or_leak() -> None:
    one = frames(("Bonn is old", [(0, 4, BONN)]), ("Berlin too", [(0, 6, BERLIN)]))
    edition = frames(("Bonn is old", [(0, 4, BERLIN)]), ("Berlin too", []))
    leaking = frames(*[(f"text {n} of many", []) for n in "abcd"], ("Bonn is old", [(0, 4, BONN)]))
    rows = share([Checked(name, each, ()) for name, each in (("one", one), ("two", edition), ("three", leaking))])
    told = rows.select("dataset", "other", "texts", "entities", "forms", "share", "relation").rows()
    assert told == [
        ("one", "two", 2, 1, 1, 1.0, "editions"),
        ("one", "three", 1, 1, 1, 0.5, "editions"),
        ("two", "three", 1, 0, 1, 0.5, "editions"),
    ]
    larger = frames(*[(f"{n} {n} {n} {n}", []) for n in "abcd"], ("Bonn is old", [(0, 4, BONN)]))
    [row] = share([Checked("three", leaking, ()), Checked("four", larger, ())]).to_dicts()
    assert (row["share"], row["relation"]) == (0.2, "leakage")


def test_edition_with_masked_words_corrects_by_words() -> None:
    """Of five words the edition links the first anew, moves the end of the second mention, drops one and adds one."""
    old = frames(
        ("Bonn was the old seat", [(0, 4, BERLIN), (9, 12, None), (13, 16, BONN)]), ("left alone", [(0, 4, BONN)])
    )
    new = frames(("[T] [T] [T] [T] [T]", [(0, 3, BONN), (12, 19, BONN), (4, 7, BERLIN)]))
    new = Frames.of(**{**vars(new), "documents": new.documents.with_columns(given=pl.lit("d0"))})
    result, changes = lay_over(old, new, source="edition.tsv")
    assert changes.select("change", "surface_form", "new_surface_form", "new_links").rows() == [
        ("linked", "Bonn", "Bonn", BONN),
        ("added", None, "was", BERLIN),
        ("removed", "the", None, None),
        ("moved", "old", "old seat", BONN),
    ]
    spans = result.annotations.sort("document", "begin").select("document", "begin", "end").rows()
    assert spans == [("d0", 0, 4), ("d0", 5, 8), ("d0", 13, 21), ("d1", 0, 4)]
    assert sorted(result.values["text"].to_list()) == ["d0a0", "d0a2"]
    assert lay_over(result, result, source="itself")[1].is_empty()


def test_edition_keeps_layers_that_it_does_not_have_and_mentions_together() -> None:
    """A metonymic reading is no literal one; of two alternatives the edition keeps one and links the other anew."""
    old = frames(("Bonn is old", [(0, 4, BONN), (0, 4, BERLIN), (0, 4, BONN)]))
    layers = {"layer": pl.Series([None, None, "METO"]), "ignorable": pl.Series([None, None, "layer"])}
    grouped = old.annotations.with_columns(group=pl.Series(["d0a0", "d0a0", "d0a2"]), **layers)
    old = Frames.of(**{**vars(old), "annotations": grouped})
    new = frames(("Bonn is old", [(0, 4, BONN), (0, 4, "http://x.org/Bonn")]))
    new = Frames.of(**{**vars(new), "annotations": new.annotations.with_columns(group=pl.lit("d0a0"))})
    result, changes = lay_over(old, new, source="edition")
    assert changes.select("change", "annotation").rows() == [("linked", "d0a1")]
    rows = result.annotations.select("layer", "ignorable").rows()
    assert rows == [(None, None), ("METO", "layer"), (None, None)]
    assert result.annotations["group"].to_list() == ["d0a0", "d0a2", "d0a0"]
    assert result.annotations["annotation"].to_list()[:2] == ["d0a0", "d0a2"]
    # Laid over a text without annotations, the alternatives are one mention under their new names, too.
    alone, _ = lay_over(frames(("Bonn is old", [])), new, source="edition")
    assert alone.annotations["group"].n_unique() == 1


def test_edition_brings_the_clusters_of_its_mentions() -> None:
    new = frames(("Bonn is old", [(0, 4, None)]))
    cluster = pl.DataFrame({"subject": ["d0a0"], "term": [CLUSTER], "text": ["NIL7"]})
    new = Frames.of(**{**vars(new), "values": cluster})
    result, _ = lay_over(frames(("Bonn is old", [])), new, source="edition")
    assert result.values.select("subject", "text").rows() == [(result.annotations["annotation"].item(), "NIL7")]


def test_edition_of_other_documents_is_refused_and_what_finds_no_place_is_told() -> None:
    old = frames(("Bonn was old", [(0, 4, BONN)]))
    with pytest.raises(UsageError, match=r"no document of other\.tsv"):
        lay_over(old, frames(("Something else entirely", [(0, 4, BONN)]), ("Two", [])), source="other.tsv")
    # The second annotation ends within the first mask; the second document has no partner.
    new = frames(("[T] [T] [T]", [(0, 3, BONN), (0, 2, BERLIN)]), ("[T] [T]", []))
    new = Frames.of(**{**vars(new), "documents": new.documents.with_columns(given=pl.Series(["d0", "x"]))})
    told = lay_over(old, new, source="edition")[1].filter(change="left")["what"].to_list()
    assert [line.split()[:2] for line in told] == [["1", "documents"], ["1", "annotations"]]


@pytest.mark.long
def test_check_writes_the_corrected_dataset_and_a_log_for_editors(tmp_path: Path) -> None:
    line = {"document": "d", "text": "in Bonn, old", "begin": 2, "end": 8, "entity": BONN}
    (tmp_path / "x.jsonl").write_text(json.dumps(line) + "\n")
    done = run_verb("check", "x.jsonl", "--sarif", "log.json", "-o", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [run] = json.loads((tmp_path / "log.json").read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["outer-characters"]
    assert run["tool"]["driver"]["rules"][0]["id"] == "outer-characters"
    done = run_verb("check", "x.jsonl", "--fix", "fixed.ttl", folder=tmp_path)
    assert (done.returncode, "outer-characters" in done.stdout) == (0, True), done.stderr
    left = json.loads(run_verb("check", "fixed.ttl", "-o", "json", folder=tmp_path).stdout)
    assert left == []  # also the name of the annotation says the new offsets
    again = run_verb("check", "x.jsonl", "--fix", "over.ttl", "--overlay", "fixed.ttl", "-o", "json", folder=tmp_path)
    assert [(row["change"], row["source"]) for row in json.loads(again.stdout)] == [("moved", "fixed.ttl")]


def test_each_finding_is_listed_also_those_that_were_mended_while_loading(tmp_path: Path) -> None:
    """Three of four mentions are one character off: three findings, three rows."""
    lines = [
        {
            "document": f"d{n}",
            "text": "in Bonn",
            "begin": 3 + off,
            "end": 7 + off,
            "surface_form": "Bonn",
            "entity": BONN,
        }
        for n, off in enumerate((1, 1, 0, 1))
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run_verb("check", "x.jsonl", "--each", "--sarif", "log.json", "-o", "json", folder=tmp_path)
    told = [row["what"] for row in json.loads(done.stdout) if row["rule"] == "offset"]
    assert len(told) == len(set(told)) == 3, told
    [run] = json.loads((tmp_path / "log.json").read_text())["runs"]
    assert [one["message"]["text"] for one in run["results"] if one["ruleId"] == "offset"] == told


def test_mends_that_are_counted_alone_say_how_often() -> None:
    tally = RepairTally()
    tally.add("tag", "line 1", 5)
    tally.add("tag", "line 9")
    [repair] = tally.repairs()
    rows = check([Checked("x", frames(("Bonn", [(0, 4, BONN)])), (repair,))], each=True)
    assert rows.filter(rule="tag")["what"].to_list() == ["line 1 (5 times)", "line 9"]


def test_unknown_dataset_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    for arguments in (("sample-nws", "sample-posts", "--shared"), ("sample-nws",)):
        done = run_verb("check", *arguments, folder=tmp_path)
        assert (done.returncode > 0, "did you mean 'sample-news'?" in done.stderr) == (True, True), done


def test_what_one_dataset_has_in_common_is_refused(tmp_path: Path) -> None:
    done = run_verb("check", "sample-news", "--shared", folder=tmp_path)
    assert done.returncode == 2 and "name another beside it" in done.stderr


@pytest.mark.long
def test_corrected_dataset_is_written_in_its_own_format_or_those_that_suffixes_tell(tmp_path: Path) -> None:
    line = {"document": "d", "text": "in Bonn, old", "begin": 2, "end": 8, "entity": BONN}
    (tmp_path / "x.jsonl").write_text(json.dumps(line) + "\n")
    assert run_verb("check", "x.jsonl", "--fix", "fixed.jsonl", folder=tmp_path).returncode == 0
    written = json.loads((tmp_path / "fixed.jsonl").read_text().splitlines()[-1])
    assert (written["begin"], written["end"]) == (3, 7)
    refused = run_verb("check", "x.jsonl", "--fix", "fixed.xyz", folder=tmp_path)
    assert refused.returncode == 2 and ".ttl (nif)" in refused.stderr and "--to" not in refused.stderr
    proposed = re.findall(r"(\.[a-z.]+) \(", refused.stderr)
    for suffix in proposed:
        done = run_verb("check", "x.jsonl", "--fix", f"out{suffix}", folder=tmp_path)
        assert done.returncode == 0, (suffix, done.stderr)
