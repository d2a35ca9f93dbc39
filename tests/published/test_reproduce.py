"""Published results: what comes out of answers, cell by cell, on a result of four answers that is made here."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import BadInput, UnknownName
from remix.published.catalogue import PublishedResult, results, results_named
from remix.published.outcomes import Reproduction, reproduce
from remix.published.shelves import shelf_of_cache, shelf_of_folder
from remix.signature import content_hash
from remix.workspace import Workspace
from tests.commands import run_verb

# Right, wrong, no answer, and right but for the case of a letter, which remix takes for the same title.
ANSWERS = """id,candidate_length,in_candidates,response,answer
0,2,True,Ada Lovelace,Ada Lovelace
1,2,True,Charles Babbage,Luigi Menabrea
2,2,False,notInC,Turin
3,2,True,engine,Engine
"""

ENTRY = """
title = "Four answers"
citation = "Lovelace: Notes, 1843"
licence = "CC0"

[[files]]
folder = "four/runs"
repository = "ada/four"
commit = "0123456789012345678901234567890123456789"
path = "out"

[files.sha256]
"HERE.csv" = "HASH"

[[tables]]
name = "Table 1"
profile = "remix"
figures = 'four/(?P<name>\\w+)\\.tsv'
where = { system = "(?P<system>.+)" }
names = { system = { ours = "HERE" } }
gold = ["four/runs/HERE.csv"]
run = ["four/runs/{system}.csv"]
row = { task = "D2KB", matching = "strong", average = "micro", slice = "" }
cells = { TP = "tp", P = "precision", R = "recall" }
count = 3
"""


def make(folder: Path, figures: str, more: str = "", sha256: str = "") -> PublishedResult:
    """Return the result, and write its files: the figures, and the answers compressed."""
    runs = folder / "data" / "four" / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    (runs / "HERE.csv.gz").write_bytes(gzip.compress(ANSWERS.encode()))
    (runs.parent / "table.tsv").write_text("system\tTP\tP\tR\n" + figures)
    entries = folder / f"entries-{len(list(folder.iterdir()))}"
    entries.mkdir()
    (entries / "four.toml").write_text(ENTRY.replace("HASH", sha256 or content_hash(ANSWERS.encode())) + more)
    return results(entries)["four"]


def score(folder: Path, result: PublishedResult) -> Reproduction:
    return reproduce([result], {"four": shelf_of_folder(folder / "data")}, Workspace(folder / "w"))


def told(found: Reproduction) -> list[tuple[str, str]]:
    return [(one.status, one.found) for one in found.outcomes]


def test_cells_are_equal_rounded_or_cut(tmp_path: Path) -> None:
    # TP 2 of 3 answers and 4 mentions: P is 0.666…, which was cut after two digits.
    found = score(tmp_path, make(tmp_path, "ours\t2\t0.66\t0.50\n"))
    assert told(found) == [("equal", "2"), ("rounded", "0.67"), ("equal", "0.50")]
    assert found.tables.select("cells", "equal", "rounded", "worse").rows() == [(3, 2, 1, 0)]
    assert not found.worse and not found.changed


def test_names_of_one_entity_are_told_where_they_make_the_difference(tmp_path: Path) -> None:
    # Letter by letter one answer is right: 1 of 4. Three of 4 come out in no way.
    found = score(tmp_path, make(tmp_path, "ours\t1\t0.33\t0.75\n"))
    assert [one for one, _ in told(found)] == ["identity", "identity", "different"]
    assert found.outcomes[0].reason == (
        "pairs of entities that are one: http://en.wikipedia.org/wiki/Engine and http://en.wikipedia.org/wiki/engine"
    )
    assert [one.worse for one in found.outcomes] == [False, False, True] and found.worse


@pytest.mark.long
def test_redirects_of_a_knowledge_base_that_is_given_explain_a_difference_and_change_no_figure(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    dbr = "http://dbpedia.org/resource/"
    (tables / "surface_forms.tsv").write_text(
        f"surface_form\tentity\tcount\tsource\nLuigi Menabrea\t{dbr}Luigi_Menabrea\t1\tx\n"
    )
    (tables / "redirects.tsv").write_text(f"redirect\ttarget\tsource\n{dbr}Charles_Babbage\t{dbr}Luigi_Menabrea\tx\n")
    kb = Workspace(tmp_path / "kb").build_kb([("tables", str(tables))], name="joining")
    # As one entity, 3 of the 3 answers are right, of 4 mentions.
    result = make(tmp_path, "ours\t3\t1.00\t0.75\n")
    shelves = {"four": shelf_of_folder(tmp_path / "data")}
    assert [one for one, _ in told(score(tmp_path, result))] == ["different"] * 3
    found = reproduce([result], shelves, Workspace(tmp_path / "w"), kb)
    assert told(found) == [("identity", "2"), ("identity", "0.67"), ("identity", "0.50")] and not found.worse
    pair = "en.wikipedia.org/wiki/Luigi_Menabrea and http://en.wikipedia.org/wiki/Charles_Babbage"
    assert pair in found.outcomes[0].reason or "Luigi_Menabrea and http://dbpedia.org" in found.outcomes[0].reason
    # What comes out as it is published is not looked at.
    plain = reproduce([make(tmp_path, "ours\t2\t0.67\t0.50\n")], shelves, Workspace(tmp_path / "w"), kb)
    assert [one for one, _ in told(plain)] == ["equal", "rounded", "equal"]


def test_what_is_known_is_no_worse_while_the_same_comes_out(tmp_path: Path) -> None:
    known = '[[tables.known]]\ncell = "table ours R"\nfound = "{}"\nreason = "a slip of the pen"\n'
    found = score(tmp_path, make(tmp_path, "ours\t2\t0.67\t0.75\n", known.format("0.50")))
    assert (found.outcomes[2].reason, found.worse) == ("a slip of the pen", False)
    found = score(tmp_path, make(tmp_path, "ours\t2\t0.67\t0.75\n", known.format("0.60")))
    assert (found.outcomes[2].reason, found.worse) == ("known as 0.60: a slip of the pen", True)


def test_what_is_not_here_is_absent_and_what_was_changed_is_told(tmp_path: Path) -> None:
    found = score(tmp_path, make(tmp_path, "theirs\t2\t0.67\t0.50\n", sha256="0" * 64))
    assert told(found) == [("absent", "")] * 3 and not found.worse
    assert found.outcomes[0].reason == "not here: four/runs/theirs.csv"
    assert found.changed == ("four/runs/HERE.csv",)


def test_run_that_is_refused_is_different_and_harms_no_other(tmp_path: Path) -> None:
    result = make(tmp_path, "ours\t2\t0.67\t0.50\nbroken\t2\t0.67\t0.50\n")
    (tmp_path / "data" / "four" / "runs" / "broken.csv").write_text("no,such,columns\n1,2,3\n")
    found = score(tmp_path, result)
    assert [one for one, _ in told(found)] == ["equal", "rounded", "equal", *["different"] * 3]
    assert "broken.csv" in found.outcomes[3].reason and found.outcomes[3].worse


def test_numbers_of_json_and_of_the_entry_itself_are_cells(tmp_path: Path) -> None:
    result = make(tmp_path, "")
    figures = "figures = 'four/(?P<name>\\w+)\\.tsv'"
    (tmp_path / "data" / "four" / "out.json").write_text('{"ours": {"tp": 2, "note": "x", "recall": 0.5}}')
    path = "where = { path = '(?P<system>ours)/(?P<field>tp|recall)' }"
    entry = ENTRY.replace(figures, "figures = 'four/out\\.json'").replace('where = { system = "(?P<system>.+)" }', path)
    entry = entry.replace('cells = { TP = "tp", P = "precision", R = "recall" }', 'cells = { value = "{field}" }')
    values = ENTRY.replace(figures, 'values = [{ system = "ours", TP = "2" }]')
    for text, cells in ((entry, [("equal", "2"), ("equal", "0.5")]), (values, [("equal", "2")])):
        place = tmp_path / f"e{len(cells)}"
        place.mkdir()
        (place / "four.toml").write_text(text.replace("HASH", "0" * 64).replace("count = 3", "count = 0"))
        result = results(place)["four"]
        assert told(score(tmp_path, result)) == cells


def test_files_are_fetched_by_their_hash_and_what_is_another_file_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "HERE.csv").write_text(ANSWERS)
    result = make(tmp_path, "")
    shelf = shelf_of_cache(result, accept_licence=True, mirror=mirror)
    assert {name: file.read_text() for name, file in shelf.items()} == {"four/runs/HERE.csv": ANSWERS}
    assert shelf_of_cache(make(tmp_path, "", sha256="1" * 64), accept_licence=True, mirror=mirror) == {}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("licence", "license"), "the file has the unknown key 'license'; did you mean 'licence'?"),
        (('cells = { TP = "tp"', 'cell = { TP = "tp"'), "tables has the unknown key 'cell'; did you mean 'cells'?"),
        (("(?P<system>.+)", "(?P<system>.+"), "is no regular expression: missing )"),
        (('profile = "remix"\n', ""), "tables lacks the key 'profile'"),
    ],
)
def test_file_that_is_no_result_is_refused_with_the_key(tmp_path: Path, changed: tuple[str, str], message: str) -> None:
    (tmp_path / "four.toml").write_text(ENTRY.replace(*changed))
    with pytest.raises(BadInput, match=re.escape(message)):
        results(tmp_path)


def test_results_that_ship_are_known_by_name() -> None:
    assert len(results_named(["all"])) == len(results()) >= 12
    assert [one.name for one in results_named(["hipe-2020"])] == ["hipe-2020"]
    with pytest.raises(UnknownName, match="did you mean 'hipe-2022'"):
        results_named(["hipe-202"])


def test_verb_tells_what_is_absent_and_what_is_worse(tmp_path: Path) -> None:
    done = run_verb("reproduce", "ong-2024", "kgllm4ed", "--data", ".", "-o", "csv", folder=tmp_path)
    assert done.returncode == 0 and 'ong-2024,"",1,0,0,0,0,1,0,0' in done.stdout
    assert "has no licence" in done.stderr
    done = run_verb("reproduce", "kgllm4ed", "--data", "nowhere", folder=tmp_path)
    assert done.returncode == 1 and "is no folder" in done.stderr


@pytest.mark.long
def test_knowledge_base_of_a_workspace_changes_no_figure(
    real_data: Path, sample_workspace: Callable[[], Workspace]
) -> None:
    # These figures come out letter by letter; a knowledge base would join names of one entity.
    workspace = sample_workspace()
    assert workspace.kb is not None
    assert workspace.reproduce("falcon-2", data=real_data).tables["different"].to_list() == [0]
    assert workspace.reproduce("kgllm4ed", data=real_data).tables.select("different", "worse").rows() == [(1, 0)]


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(("name", "cells", "different"), [("chatel", 30, 0), ("conel-2", 27, 0), ("falcon-2", 3, 0)])
def test_published_results_come_out(real_data: Path, tmp_path: Path, name: str, cells: int, different: int) -> None:
    found = Workspace(tmp_path).reproduce(name, data=real_data)
    [row] = found.tables.rows(named=True)
    assert (row["cells"], row["different"], row["worse"]) == (cells, different, 0)
    assert not found.changed


@pytest.mark.long
def test_figures_of_answers_of_language_models_come_out_but_for_one(real_data: Path, tmp_path: Path) -> None:
    found = Workspace(tmp_path).reproduce("kgllm4ed", data=real_data)
    [row] = found.tables.rows(named=True)
    assert (row["cells"], row["different"], row["known"], row["worse"]) == (30, 1, 1, 0)
