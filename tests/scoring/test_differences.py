"""Profiles side by side, and the conventions behind their differences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix import progress
from remix.cli import cli
from remix.errors import UnknownName, UsageError
from remix.question import Question
from remix.scoring import PROFILES, evaluate_profiles
from remix.scoring.differences import (
    SCORES,
    Counting,
    difference_lines,
    differences,
    headlines,
    profile_names,
)
from remix.scoring.inputs import Inputs
from remix.workspace import open_workspace
from tests.scoring.conftest import evaluate

TEXT = "Ada's friend met Bob and the New Yorker in Rome."
COUNTS = ("tp", "fp", "fn")


def texted(frame):
    return replace(frame, documents=frame.documents.with_columns(text=pl.lit(TEXT)))


@pytest.fixture(scope="module")
def counting(frames) -> Counting:
    # Gold: Ada, Bob (NIL), 'the New Yorker' optional, Rome with two readings. Answered: Ada's, Bob (NIL), a further
    # NIL, the optional one, Rome by its second reading.
    gold = [
        {"begin": 0, "end": 3, "entity": "e:Ada"},
        {"begin": 17, "end": 20},
        {"begin": 29, "end": 39, "entity": "e:NewYorker", "ignorable": "optional"},
        {"begin": 43, "end": 47, "entity": "e:Rome", "group": "r", "option": "r1"},
        {"begin": 43, "end": 47, "entity": "e:RomeItaly", "group": "r", "option": "r2"},
    ]
    run = [
        {"begin": 0, "end": 5, "entity": "e:Ada"},
        {"begin": 17, "end": 20},
        {"begin": 6, "end": 12},
        {"begin": 29, "end": 39, "entity": "e:NewYorker"},
        {"begin": 43, "end": 47, "entity": "e:RomeItaly"},
    ]
    return Counting(Inputs(texted(frames(gold)), {"s": texted(frames(run))}))


def changes(counting: Counting, first: str, second: str) -> dict[str, tuple[int, ...]]:
    rows = differences(counting, [first, second])
    moved = rows.filter(pl.any_horizontal(pl.col(name) != 0 for name in COUNTS))
    return {row["aspect"]: tuple(row[name] for name in COUNTS) for row in moved.to_dicts()}


def test_every_difference_has_its_convention(counting):
    # tp, fp, fn. The two NIL answers go (one right, one wrong), optional gold becomes unknown, Rome's other reading
    # becomes a mention that is missed.
    assert changes(counting, "remix", "bat") == {"nil": (-1, -1, 0), "optional": (0, 1, 0), "alternatives": (0, 0, 1)}


def test_spans_that_grow_to_words_are_named_with_what_they_bring(counting):
    # "Ada's" is "Ada" grown.
    assert changes(counting, "remix", "elevant")["spans"] == (1, -1, -1)


def test_rules_of_a_profile_that_are_no_conventions_are_a_step_of_their_own(counting):
    rows = differences(counting, ["remix", "elevant"])
    assert rows["aspect"].to_list()[-1] == "own"
    rows = differences(counting, ["elevant", "remix"])
    assert rows["aspect"].to_list()[0] == "own"


@pytest.fixture(scope="module")
def shown(counting):
    return headlines(counting, PROFILES.names())


@pytest.mark.at_hand(13)
@pytest.mark.parametrize("first", PROFILES.names())
@pytest.mark.parametrize("second", PROFILES.names())
def test_the_changes_add_up_to_the_whole_difference(counting, shown, first, second):
    if first == second:
        return
    table = pl.concat([shown.filter(profile=name) for name in (first, second)])
    rows = differences(counting, [first, second])
    for name in COUNTS:
        want = table[name][1] - table[name][0]
        assert rows[name].sum() == want, name
    assert rows["f1"].sum() == pytest.approx(table["f1"][1] - table["f1"][0])


@pytest.mark.long
def test_headlines_are_the_rows_of_the_profiles_themselves(counting, shown):
    for row in shown.to_dicts():
        asked = {"profile": row["profile"], "task": [row["task"]], "match": [row["matching"]]}
        rows = evaluate(counting.inputs.gold, counting.inputs.runs, **asked)
        whole = rows.filter(average="micro", column="", dataset="all").row(0, named=True)
        assert [whole[name] for name in SCORES[:-1]] == [row[name] for name in SCORES[:-1]]


def test_conventions_that_change_nothing_have_no_line(counting):
    lines = difference_lines(differences(counting, ["remix", "bat"]), "remix")
    assert lines["aspect"].to_list() == ["nil", "optional", "alternatives"]
    assert lines["tp"].to_list() == ["-1", "0", "0"]
    assert lines["fp"].to_list() == ["-1", "+1", "0"]


def test_one_profile_has_no_differences(counting):
    assert difference_lines(differences(counting, ["gerbil"]), "gerbil").is_empty()


def test_names_of_profiles_are_parsed_and_checked():
    assert profile_names("all")[0] == "remix"
    assert set(profile_names("all")) == set(PROFILES.names())
    with pytest.raises(UnknownName, match="no profile named 'gerbl'"):
        profile_names("remix,gerbl")
    with pytest.raises(UsageError, match="named twice"):
        profile_names("bat,bat")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    def article(field, name, spans):
        return json.dumps({"id": 0, "text": TEXT, field: [{"span": [b, e], name: q} for b, e, q in spans]})

    gold, run = tmp_path / "gold.benchmark.jsonl", tmp_path / "run.linked_articles.jsonl"
    gold.write_text(article("labels", "entity_id", [(0, 3, "Q1"), (17, 20, "Q2")]))
    run.write_text(article("entity_mentions", "id", [(0, 5, "Q1"), (17, 20, "Q2")]))
    return ["evaluate", "--gold", str(gold), "--run", f"a={run}"]


def test_profiles_are_printed_side_by_side_with_a_line_a_difference(files):
    result = CliRunner().invoke(cli, [*files, "--profile", "remix,elevant"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["profile", "task", "matching", "system", "tp", "fp", "fn", "P", "R", "F1", "macro-F1"]
    assert lines[2].split()[:7] == ["remix", "A2KB", "strong", "a", "1", "1", "1"]
    assert lines[3].split()[:7] == ["elevant", "A2KB", "IGNORED", "a", "2", "0", "0"]
    assert any("spans match as 'expanded'" in line and "+1" in line for line in lines)


@pytest.mark.long
def test_json_has_the_rows_of_every_profile(files):
    result = CliRunner().invoke(cli, [*files, "--profile", "all", "-o", "json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["profile"] for row in rows} == set(PROFILES.names())


@pytest.mark.long
def test_what_every_profile_would_note_is_said_once(files, tmp_path, capsys):
    gold, run = (tmp_path / name for name in ("gold.benchmark.jsonl", "run.linked_articles.jsonl"))
    run.write_text(run.read_text() + "\n" + json.dumps({"id": 1, "text": "x", "entity_mentions": []}))
    with progress.enable():
        evaluate_profiles(
            open_workspace(tmp_path / "ws"), Question(gold=(gold,), run=(f"a={run}",), profile="remix,neleval,bat")
        )
    lines = [line for line in capsys.readouterr().err.splitlines() if "not in gold" in line]
    assert lines == ["run 'a': 1 of its documents are not in gold and are left out"]


def test_options_of_one_profile_are_refused_beside_several(files):
    result = CliRunner().invoke(cli, [*files, "--profile", "all", "--task", "A2KB"])
    assert result.exit_code != 0
    assert "--task goes with one profile" in str(result.output) + str(result.exception)


@pytest.fixture
def emptied(tmp_path: Path) -> list[str]:
    """Files of tokens, of which the run's has a cell that is empty: HIPE-scorer refuses it in two of its editions."""
    head = "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\n# document_id = d1\nBern\tB-LOC\tQ70\t_\nis\tO\t"
    gold, run = tmp_path / "gold.tsv", tmp_path / "run.tsv"
    gold.write_text(f"{head}_\t_\n", encoding="utf-8")
    run.write_text(f"{head}\t_\n", encoding="utf-8")
    return ["evaluate", "--gold", str(gold), "--run", f"a={run}"]


def test_profile_that_refuses_a_run_is_told_and_left_out_of_several(emptied: list[str]) -> None:
    result = CliRunner().invoke(cli, [*emptied, "--profile", "hipe,remix,hipe-2024,hipe-2020"])
    assert result.exit_code == 0, result.output
    for name in ("hipe", "hipe-2024"):
        assert f"profile '{name}' is left out: run 'a': 1 of its cells are empty" in result.stderr
    scored = [line.split()[0] for line in result.stdout.splitlines() if " fuzzy@1 " in line or " strong " in line]
    assert scored == ["remix", "hipe-2020"]
    assert "\nhipe:" not in result.stdout and "\nhipe-2020: signature" in result.stdout
    alone = CliRunner().invoke(cli, [*emptied, "--profile", "hipe,hipe-2020"])
    assert "there is no other profile to hold hipe-2020 against" in alone.stdout
    assert "no convention makes a difference" not in alone.stdout


@pytest.mark.parametrize("profiles", ["hipe", "hipe,hipe-2024"])
def test_run_that_no_profile_takes_is_an_error(emptied: list[str], profiles: str) -> None:
    result = CliRunner().invoke(cli, [*emptied, "--profile", profiles])
    assert result.exit_code != 0
    assert "for which HIPE-scorer refuses a file" in str(result.output) + str(result.exception)
