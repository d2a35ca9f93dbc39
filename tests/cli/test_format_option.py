"""`--format` wherever a file is read, for files whose content does not say what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.workspace import Workspace

MAPPING = (
    'summary = "mine"\n[document]\nname = "n"\ntext = "t"\n[mention]\nbegin = "m[].b"\nend = "m[].e"\nlink = "m[].q"\n'
)
ROME = [{"n": f"d{n}", "t": f"Rome is old, {n}", "m": [{"b": 0, "e": 4, "q": "Q220"}]} for n in range(10)]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(MAPPING)
    for name in ("gold", "run"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, ROME)))
    (tmp_path / "run.tsv").write_text("d1\t0\t3\tQ220\n")
    (tmp_path / "other").write_text(json.dumps(ROME[0]))
    return tmp_path


VERBS = [
    ["load", "gold", "--dry-run"],
    ["check", "gold"],
    ["convert", "gold", "out.ttl"],
    ["stats", "gold"],
    ["publish", "gold", "--to", "published"],
    ["evaluate", "--gold", "gold", "--run", "a=run"],
    ["evaluate", "gold", "--run", "a=run"],
    ["compare", "--gold", "gold", "--run", "a=run", "--run", "b=run", "--samples", "1000"],
    ["compare", "--gold", "gold", "--gold", "run", "--agreement"],
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_verb_that_reads_a_file_takes_its_format(work: Path, verb: list[str]) -> None:
    place = [] if verb[0] == "convert" else ["-w", "ws"]
    done = CliRunner().invoke(cli, [*verb, "--format", "own.toml", *place])
    assert done.exit_code == 0, (done.output, done.exception)


def test_verb_of_runs_takes_the_format_of_what_is_answered(work: Path) -> None:
    workspace = Workspace(work / "ws")
    workspace.load("other", format="own.toml")
    # A workspace without anything would take the sample corpus first.
    (work / "run").write_text("\n".join(map(json.dumps, ROME)).replace("Q220", "Q19660"))
    add = ["run", "add", "a", "run", "--on", "gold", "--format", "own.toml", "-w", "ws"]
    assert CliRunner().invoke(cli, add).exit_code == 0
    assert workspace.runs().select("run", "dataset", "answers").rows() == [("a", "gold", 10)]
    done = CliRunner().invoke(cli, ["annotate", "gold", "--system", "prior", "--format", "own.toml", "-w", "ws"])
    assert "the system 'prior' needs a knowledge base" in str(done.exception)


def test_without_it_the_file_is_of_no_known_format(work: Path) -> None:
    done = CliRunner().invoke(cli, ["stats", "gold", "-w", "ws"])
    assert "no known format" in done.output + str(done.exception)


def test_one_file_may_have_a_format_of_its_own(work: Path) -> None:
    of_each = ["own.toml", "neleval=run.tsv"]
    report = Workspace(work / "ws").evaluate(gold="gold", run="a=run.tsv", format=of_each, signature_to="record.json")
    scores = report.rows.filter(average="micro", matching="strong", task="A2KB")
    assert scores.select("tp", "fp", "fn").row(0) == (1, 0, 9)
    again = Workspace(work / "ws").evaluate(reproduce="record.json")
    assert again.rows.equals(report.rows)


WITH_FORMATS = [
    ["stats", "gold"],
    ["annotate", "gold", "--system", "prior"],
    ["run", "add", "a", "run.tsv", "--on", "gold"],
    ["evaluate", "--gold", "gold", "--run", "a=run.tsv"],
    ["evaluate", "gold", "--run", "a=run.tsv"],
    ["evaluate", "gold", "--run", "a=run.tsv", "--store"],
    ["compare", "--gold", "gold", "--run", "a=run.tsv", "--run", "b=run.tsv"],
    ["compare", "--gold", "gold", "--gold", "run.tsv", "--agreement"],
]


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("verb", WITH_FORMATS, ids=" ".join)
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("nonsense=gold", "no format named 'nonsense'"),
        ("nelval=gold", "no format named 'nelval'; did you mean 'neleval'?"),
        ("gold=neleval", "--format gold=neleval has the file first: the format comes first, --format neleval=gold"),
        ("neleval=gould", "no file that --format is of named 'gould'; did you mean 'gold'? `NAME=FILE` names one"),
        ("neleval=other", "no file that --format is of named 'other'"),
    ],
)
def test_format_of_nothing_that_is_read_is_an_error(work: Path, verb: list[str], setting: str, said: str) -> None:
    done = CliRunner().invoke(cli, [*verb, "--format", "own.toml", "--format", setting, "-w", "ws"])
    assert done.exit_code != 0
    assert said in done.output + str(done.exception)


def test_file_of_a_format_may_be_spelt_otherwise(work: Path) -> None:
    of_each = ["own.toml", "neleval=./run.tsv"]
    report = Workspace(work / "ws").evaluate(gold="gold", run="a=run.tsv", format=of_each)
    assert report.rows.height > 0
