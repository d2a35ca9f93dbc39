"""Exports of a real server: whole or refused, never a part with status 200."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remix.question import Question
from remix.reports import score_cache
from remix.reports.score_cache import ScoreCache
from remix.web.addresses import address
from remix.workspace import Workspace
from tests.web.conftest import client, serving

KNOWN = "http://dbpedia.org/resource/"
NAMES = ("first", "second", "third")


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """Three datasets of twelve documents with one mention each, which a system answers."""
    work = Workspace(tmp_path / ".remix")
    for name in NAMES:
        lines = [
            {"document": f"{name}{n}", "text": "Ada met Bob", "begin": 0, "end": 3, "entity": f"{KNOWN}{name}{n}"}
            for n in range(12)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        work.load([tmp_path / f"{name}.jsonl"])
        answers = "".join(json.dumps({**line, "confidence": 0.9}) + "\n" for line in lines)
        (tmp_path / "a.jsonl").write_text(answers)
        work.add_run("a", tmp_path / "a.jsonl", on=name)
    return work


@pytest.fixture
def site(work: Workspace) -> Iterator[str]:
    with serving(work.folder) as place:
        yield place.removesuffix("/sparql")


@pytest.mark.long
def test_scores_are_data_once_all_columns_are_there_and_until_then_say_when_to_ask_again(site: str) -> None:
    patience, refused = time.monotonic() + 90, 0
    while (answer := client.get(f"{site}/systems.csv")).status_code == 503:
        assert answer.headers["retry-after"] in ("1", "2") and "," not in answer.text
        refused += 1
        assert time.monotonic() < patience
        time.sleep(0.05)
    assert refused > 0 and answer.status_code == 200
    header, *rows = answer.text.splitlines()
    assert [name for name in NAMES if f"{name} (12)" not in header] == [] and len(rows) == 1


@pytest.mark.long
def test_scores_of_which_some_could_not_be_computed_are_no_data_unless_these_are_left_out(
    work: Workspace, site: str
) -> None:
    """What took too long on one dataset is missing among all, and the page says so."""
    asked = [Question(datasets=(name,), task=("A2KB",), match=("strong",)) for name in NAMES]
    cache = ScoreCache(work)
    cache.ask(asked[:2])
    [place] = cache._places(asked[2:]).values()
    score_cache._write(place.whole, score_cache._problem("third: the scores took longer than 600 s", ended=True))
    answer = client.get(f"{site}/systems.csv")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "600")
    assert answer.text.endswith("third: the scores took longer than 600 s\n")
    shown = client.get(f"{site}/systems")
    assert shown.status_code == 200 and "third: the scores took longer" in shown.text
    assert client.get(site + address("systems.csv", dataset="first")).status_code == 200
