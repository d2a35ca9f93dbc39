"""The page of systems by its rows, and the scores behind it: kept, computed beside the server, and bounded."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import polars as pl
import pytest

from remix.errors import UnknownName
from remix.measures.labels import words_of_column
from remix.names import RMX, XSD
from remix.paper import typeset
from remix.question import Question
from remix.reports import score_cache, score_queue
from remix.reports.readable import NEVER_BEST
from remix.reports.score_cache import ScoreCache
from remix.reports.score_queue import LANES, QueuedQuestion, choose_next
from remix.reports.two_systems import tell_two_systems
from remix.runs.known import known_runs
from remix.scoring.profiles import PROFILES
from remix.store.cache import KEEPS
from remix.store.queries import Query
from remix.web import score_leads
from remix.web.addresses import address
from remix.web.forms import Field, Form
from remix.web.page import VIEWS, Drawing, Note, Page, Passages, Table
from remix.web.rendering import arrange, render_page
from remix.web.views import systems
from remix.workspace import Workspace
from tests.pages import follow, table_of
from tests.processes import run_python
from tests.web.pages import pages_of
from tests.workspaces import copy_workspace, load_texts

KNOWN, ONTOLOGY = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
CHECKOUT = Path(__file__).resolve().parents[2]
ASKED = {"task": "A2KB", "match": "strong"}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Twelve documents of one mention each; of the systems one is right in all, one in four, one in five of them.

    The texts have two to thirteen words.
    """
    folder = tmp_path_factory.mktemp("systems")
    work = Workspace(folder / ".remix")
    lines = [
        {"document": f"d{n}", "text": "Ada" + " met" * (n + 1), "begin": 0, "end": 3, "entity": f"{KNOWN}Ada{n}"}
        for n in range(12)
    ]
    (folder / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    work.load([folder / "news.jsonl"])
    for name, right in (("good", 12), ("poor", 4), ("fair", 5)):
        # How sure it is tells a system that is always right from gold.
        answers = [
            {**line, "entity": line["entity"] if n < right else f"{KNOWN}Bob", "confidence": 0.9}
            for n, line in enumerate(lines)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
        work.add_run(name, folder / f"{name}.jsonl", on="news")
    return work


def shown(work: Workspace, **parameters: str) -> Page:
    return VIEWS["systems"].show(work, parameters)


@pytest.mark.long
def test_matrix_has_the_scores_and_intervals_of_the_command_line_and_marks_what_differs(work: Workspace) -> None:
    rows = work.evaluate("news", task="A2KB", match="strong", intervals=True).rows.filter(average="micro", column="")
    doubts = {row["system"]: " ?" if row["interval_doubt"] else "" for row in rows.to_dicts()}
    wanted = {row["system"]: f"{row['f1_low']:.3f} to {row['f1_high']:.3f}" for row in rows.to_dicts()}
    wanted = {system: f"{interval}{doubts[system]}" for system, interval in wanted.items()}
    assert {*doubts.values()} == {"", " ?"}  # of what is right throughout it is in doubt
    table = shown(work).tables["systems"]
    # 12, 5 and 4 of 12 are right: F1 is 1, 5/12 and 4/12. That 5 and 4 differ from 12 is no chance.
    assert table["system"].to_list() == ["good", "fair", "poor"]
    assert table["news (12)"].to_list() == pytest.approx([1, 5 / 12, 4 / 12])
    assert dict(zip(table["system"], table["news (12) 95 %"], strict=True)) == wanted
    assert table["news (12) mark"].to_list() == ["best", "*", "*"]


@pytest.mark.long
def test_stars_stand_raised_behind_the_scores_of_a_paper_and_the_best_is_bold_alone(work: Workspace) -> None:
    [table] = [block for block in shown(work).blocks if isinstance(block, Table) and block.name == "systems"]
    lines = typeset(table.frame, "latex", table.set_for_paper("Systems")).splitlines()
    good, fair = (next(line for line in lines if line.startswith(name)) for name in ("good", "fair"))
    # F1 of fair is 5/12; the interval stands behind the star, in small letters, with nothing else.
    assert r"0.417\rlap{\textsuperscript{*}}" in fair and fair.count("*") == 2  # one makes room for the widest mark
    assert r"\bestvalue{1}{.000}" in good and "best}" not in good and "best " not in good
    assert "mark" not in "".join(lines[:12])


@pytest.mark.long
def test_intervals_are_explained_in_the_words_of_the_command_line(work: Workspace) -> None:
    # F1 of the system 'good' is 1, of which twelve documents tell too little.
    notes = [block.text for block in shown(work).blocks if isinstance(block, Note)]
    assert "F1 from … to is its 95 % interval over documents: a jackknife on logits, with t" in notes
    assert "interval in doubt (0.95 or more): good" in notes


@pytest.mark.long
def test_pairs_are_those_of_compare_and_others_are_held_against_the_chosen_system(work: Workspace) -> None:
    wanted = work.compare("news", task="A2KB", match="strong").pairs.select("system", "other", "p", "p_holm")
    pairs = shown(work).tables["pairs"]
    assert pairs.select("system", "other", "p", "p_holm").equals(wanted)
    page = shown(work, against="fair")
    assert len(page.tables["pairs"]) == 2
    # One document more of twelve may be chance.
    assert page.tables["systems"]["news (12) mark"].to_list() == ["*", "reference", ""]


@pytest.mark.long
def test_slices_of_a_range_are_a_line_and_cells_lead_to_the_errors_of_the_slice(work: Workspace) -> None:
    page = shown(work, dataset="news", by="words")
    [table] = [block for block in page.blocks if isinstance(block, Table) and block.name == "systems"]
    parts = [name for name in table.links if ": " in name]
    assert len(parts) == 4 and parts[0].startswith("1: ") and parts[-1].endswith(" (3)")
    [figure] = [block.figure for block in page.blocks if isinstance(block, Drawing) and block.name == "by column"]
    assert figure.panels[0].kind == "lines" and len(figure.panels[0].categories) == 4
    poor = table.frame.filter(system="poor").to_dicts()[0]
    place = table.links[parts[-1]](poor)
    assert place.startswith("/errors?dataset=news&system=poor&by=words&slice=4")
    query = dict(part.split("=") for part in place.partition("?")[2].split("&"))
    found = VIEWS["errors"].show(work, {**query, "slice": parts[-1].removesuffix(" (3)")})
    assert len(found.tables["errors"]) == 3  # the last three documents, in which the system is wrong


@pytest.mark.long
def test_profile_shows_the_conventions_in_which_it_differs_from_remix(work: Workspace) -> None:
    rules = shown(work, profile="gerbil").tables["conventions"]
    assert "pairing" in rules["convention"].to_list() and (rules["remix"] != rules["gerbil"]).all()
    assert "conventions" not in shown(work).tables


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("by", "nothing"),
        ("task", "A3KB"),
        ("match", "strog"),
        ("profile", "gerbl"),
        ("dataset", "x"),
        ("against", "x"),
        ("spider", "x"),
    ],
)
def test_what_there_is_not_is_refused_by_name(work: Workspace, parameter: str, value: str) -> None:
    with pytest.raises(UnknownName, match=value):
        shown(work, **{parameter: value})


@pytest.mark.parametrize(
    ("said", "dropped"),
    [
        ({"profile": "hipe", "match": "weak"}, ["no matching of this profile named 'weak'"]),
        ({"profile": "hipe", "task": "A2KB", "match": "strong"}, ["named 'A2KB'", "named 'strong'"]),
        ({"profile": "hipe", "task": "NEL-LIT", "match": "fuzzy"}, ["counts nothing of NEL-LIT by fuzzy"]),
        ({"profile": "elevant", "match": "strong"}, ["no matching of this profile named 'strong'"]),
        ({"profile": "gerbil", "match": "graded"}, ["'graded' counts in part"]),
        ({"profile": "neleval", "match": "tac09"}, ["tac09 names several matchings"]),
    ],
)
def test_what_a_profile_refuses_is_left_out_and_said_with_the_form(
    work: Workspace, said: dict[str, str], dropped: list[str]
) -> None:
    with pages_of(work) as get:
        answer = get(address("systems", **said))
        refused = get(address("systems.csv", **said))
    assert answer.status_code == 200 and "<form" in answer.text
    shown_text = unescape(answer.text)
    assert all(one in shown_text for one in dropped)
    assert f'<option value="{said["profile"]}" selected' in answer.text
    assert refused.status_code in (400, 404) and dropped[0] in refused.text


@pytest.mark.parametrize("profile", PROFILES.names())
def test_only_tasks_and_matchings_are_offered_that_the_profile_takes(work: Workspace, profile: str) -> None:
    def offer(**asked: str) -> dict[str, Field]:
        fields = systems._ask(work, known_runs(work.store), {"profile": profile, **asked})[1].fields
        return {one.name: one for one in fields}

    for task in offer()["task"].values:
        found = offer(task=task)["match"]
        assert found.chosen in found.values
        assert all(PROFILES[profile].takes(task, matching) for matching in found.values)


def test_pages_without_runs_say_what_to_do_next(tmp_path: Path, work: Workspace) -> None:
    [note] = shown(Workspace(tmp_path / "none")).blocks
    assert isinstance(note, Note) and note.commands[0] == "remix load FILE"
    (tmp_path / "other.jsonl").write_text('{"document": "d", "text": "Ada", "begin": 0, "end": 3, "entity": "e:Ada"}\n')
    other = Workspace(tmp_path / "other")
    other.load([tmp_path / "other.jsonl"])
    [note] = shown(other, dataset="other").blocks
    assert isinstance(note, Note) and note.commands[0] == "remix run add NAME FILE --on other"


def test_answers_are_kept_and_those_that_are_damaged_made_again(work: Workspace) -> None:
    first = work.scores(["news"], **ASKED)
    folder = work.folder / "cache" / "scores"
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    again = work.scores(["news"], **ASKED)
    assert again.rows.equals(first.rows) and again.pairs.equals(first.pairs)
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before
    for file in folder.iterdir():
        file.write_bytes(b"PAR1 no more")
    assert work.scores(["news"], **ASKED).rows.equals(first.rows)


def test_no_changed_byte_of_kept_scores_is_taken(tmp_path: Path) -> None:
    """Whichever of its bytes is another, an answer is not there."""
    score_cache._write(
        file := tmp_path / "answer.parquet", pl.DataFrame({"kind": ["score"] * 9, "f1": [0.5] * 8 + [0.25]})
    )
    assert score_cache._is_answered(file) and len(pl.read_parquet(file)) == 9
    content = file.read_bytes()
    for place in range(len(content)):
        changed = tmp_path / f"{place}.parquet"
        changed.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        assert not score_cache._is_answered(changed)


@pytest.mark.long
def test_kept_scores_in_which_a_byte_changed_are_computed_again(work: Workspace) -> None:
    first = work.scores(["news"], **ASKED)
    for file in (work.folder / "cache" / "scores").iterdir():
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 1
        file.write_bytes(content)
    again = Workspace(work.folder).scores(["news"], **ASKED)
    assert again.rows.equals(first.rows) and again.pairs.equals(first.pairs) and not again.problems


@pytest.mark.long
def test_scores_of_a_dataset_stay_when_another_is_loaded_but_parts_of_a_column_are_cut_anew(tmp_path: Path) -> None:
    """`first` is known by its own content; what is cut of all that is loaded, and a remix, by that of all."""

    def write(name: str, form: str) -> Path:
        row = {"document": "d", "text": f"{form} spoke", "begin": 0, "end": len(form), "entity": f"e:{form}"}
        (file := tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
        return file

    own = Workspace(tmp_path / "work")
    own.load([write("first", "Ada")])
    own.build(Query.parse("SELECT ?annotation { ?annotation nif:anchorOf ?form }\n", "part"), to=tmp_path)
    own.load([tmp_path / "part.ttl"])
    questions = [
        Question(datasets=(name,), task=("A2KB",), match=("strong",), by=by)
        for name, by in (("first", ()), ("first", ("words",)), ("part", ()))
    ]

    def name_answers() -> list[str]:
        return [place.whole.name for place in ScoreCache(own)._places(questions).values()]

    before = name_answers()
    own.load([write("second", "Alan")])
    assert [now == then for now, then in zip(name_answers(), before, strict=True)] == [True, False, False]
    own.load([write("first", "Grace")], replace=True)
    assert name_answers()[0] != before[0]


@pytest.mark.long
def test_slices_by_what_was_learnt_of_runs_are_made_again_when_that_is_learnt_anew(work: Workspace) -> None:
    annotations = work.frames("news").annotations["annotation"]

    def learn(hard: int) -> int:
        """Say that so many mentions are hard, and return how many there are in that slice."""
        lines = [f'<{one}> <{RMX}difficulty> "{float(n < hard)}"^^<{XSD}double> .' for n, one in enumerate(annotations)]
        work.store.attach({"news": {"difficulty": ("\n".join(lines).encode(), str(hard))}})
        rows = work.scores(["news"], by="difficulty", **ASKED).rows.filter(
            column="difficulty", average="micro", slice="1.0"
        )
        return int(rows["mentions"][0])

    assert [learn(3), learn(5)] == [3, 5]


@pytest.mark.long
def test_no_more_answers_are_kept_than_there_is_room_for(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cache, "ENTRIES", 2)
    for task in ("ERec", "C2KB", "A2KB"):
        found = ScoreCache(work).ask([Question(datasets=("news",), task=(task,), match=("weak",))])
        assert found.done == 1 and set(found.rows["task"]) == {task}
    assert len([*(work.folder / "cache" / "scores").iterdir()]) == 2


def test_answers_on_disk_have_so_much_room_in_bytes_and_those_read_last_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three answers two have room; the first of all was read after the second was."""
    first, second, third = (tmp_path / f"{name}.parquet" for name in ("first", "second", "third"))
    frame = pl.DataFrame({"kind": ["score"]})
    for read, file in ((1000, first), (2000, second)):
        score_cache._write(file, frame)
        os.utime(file, (read, 500))
    monkeypatch.setattr(score_cache, "BYTES", 2 * first.stat().st_size)
    score_cache._touch(first)
    assert first.stat().st_mtime == 500  # which is when it was computed
    score_cache._write(third, frame)
    assert {one.name for one in tmp_path.iterdir()} == {"first.parquet", "third.parquet"}


@pytest.mark.long
@pytest.mark.timeout(300)  # what computes is nice, and others may need the processors
def test_server_answers_at_once_and_one_process_computes_meanwhile(
    work: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What lies in the folder that the server was started in is no module of the process.
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    served = Workspace(work.folder.resolve())
    monkeypatch.chdir(tmp_path)
    served._scores = ScoreCache(served, waits=False)
    page = shown(served, by="is_nil")
    assert page.refresh == 1 and "0 of 1" in render_page(page, VIEWS["systems"], "")
    process = await_process(served._scores)
    for match in ("partial", "graded", "fuzzy"):  # others wait for their turn
        shown(served, match=match)
        assert len(served._scores.queue.processes) <= len(LANES)
    seen = set()
    patience = time.monotonic() + 240
    while (page := shown(served, by="is_nil")).refresh and time.monotonic() < patience:
        seen.add("systems" in page.tables)
        time.sleep(0.02)
    assert page.refresh == 0 and seen == {False, True}  # scores are there before their intervals
    served._scores.close()
    assert process.wait(20) in (0, -signal.SIGKILL)


@pytest.mark.long
def test_question_that_takes_too_long_is_ended_and_said(work: Workspace) -> None:
    cache = ScoreCache(work, waits=False, seconds=0.001)
    asked = [Question(datasets=("news",), task=("A2KB",), match=("weak",), by=("language",))]
    assert cache.ask(asked).done == 0
    patience = time.monotonic() + 60
    while (found := cache.ask(asked)).done == 0 and time.monotonic() < patience:
        time.sleep(0.1)
    assert "longer than 0.001 s" in found.problems[0] and found.ended == found.problems
    await_end(cache)  # and it is not asked again for some minutes
    assert cache.ask(asked).done == 1 and cache.queue.processes == []


def test_newest_and_small_questions_go_first_and_a_large_one_never_blocks_a_small_one() -> None:
    def job(name: str, cost: int, rank: int, asked: int) -> QueuedQuestion:
        return QueuedQuestion(
            "", Path(f"{name}{rank}"), f"{name}{rank}", cost, rank, Path(f"{name}0") if rank else None, asked
        )

    old = [job("small", 10, rank, 1) for rank in (0, 1)] + [job("huge", 10**9, rank, 1) for rank in (0, 1)]
    new = [job("new", 1000, rank, 2) for rank in (0, 1)]
    waiting, order = [*old, *new], []
    while chosen := choose_next(waiting, []):
        waiting.remove(chosen)
        order.append(chosen.name)
    assert order == ["new0", "small0", "huge0", "new1", "small1", "huge1"]
    # While one lane is busy with what is large, what is small is done by the other, which takes nothing large.
    huge, small = old[3], old[1]
    assert choose_next([small], [huge], "small") == small
    assert choose_next([huge], [], "small") is None and choose_next([huge], [], "any") == huge
    assert choose_next([small], [old[0]], "small") is None  # intervals wait for their scores


def test_no_process_that_computed_intervals_computes_scores_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that are asked for while intervals are computed have a process of their own, which is as quick as any."""
    command = """
import os, sys, time
for line in sys.stdin:
    place = line.strip()
    open(place + ".begun", "w").close()
    while place.endswith("whole") and not os.path.exists(place + ".go"):
        time.sleep(0.005)
    with open(place + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(place + ".part", place)
    print(flush=True)
"""
    monkeypatch.setattr(score_queue, "_COMMAND", command)
    monkeypatch.setattr(score_queue, "LANES", ("any",))
    points, whole, later = (tmp_path / name for name in ("points", "whole", "later"))
    queue = score_queue.ScoreQueue(60, lambda job, why: None)

    def put(place: Path, rank: int, after: Path | None = None) -> QueuedQuestion:
        return QueuedQuestion(str(place), place, place.name, rank=rank, after=after)

    def read(place: Path) -> str:
        patience = time.monotonic() + 60
        while not place.exists() and time.monotonic() < patience:
            time.sleep(0.005)
        return place.read_text()

    queue.put([put(points, 0), put(whole, 1, points)])
    assert read(tmp_path / "whole.begun") == ""
    queue.put([put(later, 0)])
    (tmp_path / "whole.go").touch()
    processes = [read(place) for place in (points, whole, later)]
    queue.close()
    assert processes[0] == processes[1] != processes[2]


ANSWERING = """
import sys
for line in sys.stdin:
    places = line.rstrip("\\n").split("\\t")
    with open("LOG", "a") as log:
        log.write(" ".join(place.rsplit("/", 1)[1] for place in places) + "\\n")
    if any(place.endswith("bad") for place in places):
        raise SystemExit(3)
    left = [place for place in places if place.endswith("alone")] if len(places) > 1 else []
    for place in places:
        if place not in left:
            open(place, "w").close()
    print("\\t".join(left), flush=True)
"""


def test_scores_of_several_datasets_are_asked_at_once_and_what_is_left_or_died_of_is_asked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of jobs of cost 1 to 4 those that are together go at once, up to a cost of 6; one is left, of one it dies."""
    log = tmp_path / "log"
    monkeypatch.setattr(score_queue, "_COMMAND", ANSWERING.replace("LOG", str(log)))
    monkeypatch.setattr(score_queue, "LANES", ("any",))
    monkeypatch.setattr(score_queue, "TOGETHER", 6)
    monkeypatch.setattr(score_queue, "EACH", 0)
    monkeypatch.setattr(score_queue, "SHARED", 0)
    failed: list[tuple[str, str]] = []
    queue = score_queue.ScoreQueue(60, lambda job, why: failed.append((job.name, why)))

    def put(*jobs: tuple[str, int, str]) -> list[list[str]]:
        log.write_text("")
        asked = [QueuedQuestion(str(tmp_path / one), tmp_path / one, one, cost, together=of) for one, cost, of in jobs]
        queue.put(asked)
        patience = time.monotonic() + 60
        while queue.processes or queue._threads:
            assert time.monotonic() < patience
            time.sleep(0.01)
        return [line.split() for line in log.read_text().splitlines()]

    told = put(("1", 1, "weak"), ("2", 2, "weak"), ("3-alone", 3, "weak"), ("4", 4, "weak"), ("own", 9, ""))
    assert told == [["1", "2", "3-alone"], ["3-alone"], ["4"], ["own"]]
    assert {one.name for one in tmp_path.iterdir()} >= {"1", "2", "3-alone", "4", "own"} and not failed
    assert put(("5", 1, "weak"), ("6-bad", 2, "weak"), ("7", 3, "weak")) == [
        ["5", "6-bad", "7"],
        ["5"],
        ["6-bad"],
        ["7"],
    ]
    assert (tmp_path / "5").exists() and (tmp_path / "7").exists()
    assert [name for name, _ in failed] == ["6-bad"]
    queue.close()


WAITING = """
import os, sys
for line in sys.stdin:
    place = line.strip()
    with open(place + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(place + ".part", place)
    print(flush=True)
"""


def test_processes_that_were_begun_ahead_answer_first_and_end_with_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that were begun one has died: the other answers, and a new one what is asked after it."""
    monkeypatch.setattr(score_queue, "_COMMAND", WAITING)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    queue = score_queue.ScoreQueue(60, lambda job, why: None)

    def ask(name: str) -> int:
        queue.put([QueuedQuestion(str(tmp_path / name), tmp_path / name, name)])
        patience = time.monotonic() + 60
        while queue.processes or queue._threads or not (tmp_path / name).exists():
            assert time.monotonic() < patience
            time.sleep(0.005)
        return int((tmp_path / name).read_text())

    queue.begin_ahead()
    queue.begin_ahead()  # there are as many already
    first, second = (one.process for one in queue._ahead)
    second.kill()
    second.wait(20)
    assert [ask("one") == first.pid, ask("two") in (first.pid, second.pid)] == [True, False]
    queue.begin_ahead()
    waiting = [one.process for one in queue._ahead]
    queue.close()
    assert [one.wait(20) for one in waiting] == [-signal.SIGKILL] * len(LANES)
    queue.begin_ahead()
    assert not queue._ahead and sorted(one.name for one in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.long
def test_process_that_was_begun_ahead_lets_a_page_be_made_and_is_let_go_by_a_question(
    work: Workspace, tmp_path: Path
) -> None:
    """Within the first block nothing is asked, and nothing imported after it began; within the second, a question is.

    One page within another changes nothing.
    """
    if not Path("/proc/self/maps").exists():
        pytest.skip("there is no list of what a process has imported on this system")
    served = copy_workspace(work.folder, tmp_path / "own")
    shutil.rmtree(served.folder / "cache", ignore_errors=True)
    cache = ScoreCache(served, waits=False)

    def wait(done: Callable[[], bool]) -> None:
        patience = time.monotonic() + 60
        while not done() and time.monotonic() < patience:
            time.sleep(0.02)
        assert done()

    def imported(one: subprocess.Popen[str]) -> bool:
        return "polars" in Path(f"/proc/{one.pid}/maps").read_text()

    try:
        cache.queue.begin_ahead()
        begun = [one.process for one in cache.queue._ahead]
        with cache.queue.hold_ahead():
            with cache.queue.hold_ahead():
                time.sleep(0.2)
            time.sleep(0.8)
            assert not any(imported(one) for one in begun)
        wait(lambda: all(imported(one) for one in begun))
        cache.queue.end_idle()
        with cache.queue.hold_ahead():
            cache.queue.begin_ahead()
            begun = [one.process for one in cache.queue._ahead]
            time.sleep(0.8)
            assert not any(imported(one) for one in begun)
            cache.ask_ahead()
            wait(lambda: bool([*(served.folder / "cache" / "scores").glob("*-points.parquet")]))
    finally:
        cache.close()


EARLY = """
import sys
from pathlib import Path
from remix.reports.score_queue import ScoreQueue
from remix.workspace import Workspace
def tell(queue):
    print(*sorted({"polars", "numpy", "remix.scoring", "starlette"} & sys.modules.keys()), "begun")
    sys.exit()
ScoreQueue.begin_ahead = tell
Workspace(Path(sys.argv[1])).serve(port=0)
"""


def test_server_begins_processes_for_scores_before_it_imports_what_takes_long(work: Workspace) -> None:
    ended = run_python(["-c", EARLY, str(work.folder)])
    assert ended.stdout.split() == ["begun"], ended.stderr


def test_processes_that_were_begun_ahead_end_where_all_points_are_kept(work: Workspace, tmp_path: Path) -> None:
    served = copy_workspace(work.folder, tmp_path / "own")
    served.scores(["news"], **ASKED)  # which keeps them, and waits
    cache = ScoreCache(served, waits=False)
    try:
        cache.queue.begin_ahead()
        begun = [one.process for one in cache.queue._ahead]
        assert len(begun) == len(LANES)
        cache.ask_ahead()
        assert not cache.queue._ahead and all(one.poll() is not None for one in begun)
    finally:
        cache.close()


@pytest.mark.long
def test_process_that_was_begun_ahead_and_is_not_needed_ends_with_the_last_question(
    work: Workspace, tmp_path: Path
) -> None:
    served = copy_workspace(work.folder, tmp_path / "own")
    shutil.rmtree(served.folder / "cache", ignore_errors=True)
    cache = ScoreCache(served, waits=False)
    try:
        cache.queue.begin_ahead()
        begun = [one.process for one in cache.queue._ahead]
        cache.ask_ahead()  # one dataset, for which one process is enough
        patience = time.monotonic() + 60
        while any(one.poll() is None for one in begun) and time.monotonic() < patience:
            time.sleep(0.05)
        assert all(one.poll() is not None for one in begun)
        assert [*(served.folder / "cache" / "scores").glob("*-points.parquet")]
    finally:
        cache.close()


SERVED = """
import sys
from pathlib import Path
from remix.errors import Error
from remix.reports.score_queue import ScoreQueue
from remix.workspace import Workspace
begun, begin = [], ScoreQueue.begin_ahead
def begin_and_note(queue):
    begin(queue)
    begun.extend(one.process for one in queue._ahead)
ScoreQueue.begin_ahead = begin_and_note
try:
    Workspace(Path(sys.argv[1])).serve(port=0, system="no-such-system")
except Error as error:
    print(len(begun), all(one.poll() is not None for one in begun), "no system named" in str(error))
"""
TAKEN = """
import sys
from pathlib import Path
from remix.errors import Error
from remix.reports.score_queue import ScoreQueue
from remix.workspace import Workspace
ScoreQueue.begin_ahead = lambda queue: print("begun")
try:
    Workspace(Path(sys.argv[1])).serve(host="192.0.2.1", port=0)
except Error as error:
    print("cannot be listened on" in str(error), *sorted({"polars", "starlette", "uvicorn"} & sys.modules.keys()))
"""


def test_server_says_that_it_cannot_listen_before_it_begins_or_imports_anything(work: Workspace) -> None:
    ended = run_python(["-c", TAKEN, str(work.folder)])
    assert ended.stdout.split() == ["True"], ended.stderr


@pytest.mark.long
def test_server_begins_processes_for_scores_where_runs_are_registered_and_leaves_none_where_it_cannot_serve(
    work: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "gold.jsonl").write_text('{"document": "d", "text": "Ada", "begin": 0, "end": 3, "entity": "e:A"}')
    without = Workspace(tmp_path / "without")
    without.load([tmp_path / "gold.jsonl"])
    for folder, count in ((work.folder, len(LANES)), (without.folder, 0)):
        ended = run_python(["-c", SERVED, str(folder)])
        assert ended.stdout.split() == [str(count), "True", "True"], ended.stderr


@pytest.mark.long
def test_points_that_systems_shows_first_are_there_though_nobody_asked(work: Workspace, tmp_path: Path) -> None:
    """A server has them computed, those alone: intervals and tests wait for somebody who asks."""
    served = copy_workspace(work.folder, tmp_path / "own")
    shutil.rmtree(served.folder / "cache", ignore_errors=True)
    cache = ScoreCache(served, waits=False)
    try:
        cache.ask_ahead()
        patience, folder = time.monotonic() + 60, served.folder / "cache" / "scores"
        assert cache.queue.is_waited_for()
        while not [*folder.glob("*-points.parquet")] and time.monotonic() < patience:
            time.sleep(0.05)
        assert len([*folder.glob("*.parquet")]) == 1
        while cache.queue.is_waited_for() and time.monotonic() < patience:
            time.sleep(0.05)
        assert not cache.queue.is_waited_for()
        served._scores = cache
        page = VIEWS["systems"].show(served, {})
        assert page.refresh and page.tables["systems"]["news (12)"].to_list() == pytest.approx([1, 5 / 12, 4 / 12])
    finally:
        cache.close()


def test_score_leads_to_the_errors_of_its_system_and_a_difference_to_those_of_both(work: Workspace) -> None:
    """Of twelve mentions fair misses seven and poor eight."""
    page = shown(work, systems="fair,poor")
    table = next(block for block in page.blocks if isinstance(block, Table) and block.name == "systems")
    for row, wrong in zip(table.frame.to_dicts(), (7, 8), strict=True):
        place = table.links["news (12)"](row)
        asked = dict(parse_qsl(place.partition("#")[0].partition("?")[2]))
        assert asked["of"] == asked["system"] == row["system"] and asked["other"] in {"fair", "poor"} - {row["system"]}
        assert follow(work, place).tables["errors"].height == wrong
    [pairs] = [block for block in page.blocks if isinstance(block, Table) and block.name == "pairs"]
    assert "of=" not in pairs.links["difference"](pairs.frame.to_dicts()[0])


@pytest.mark.long
def test_scores_of_which_many_answers_cannot_be_compared_are_marked_and_told(tmp_path: Path) -> None:
    """Of twenty answers of one system two are of another namespace, of those of the other one is.

    That is 10 and 5 %, and a tenth is marked. The first is right in 18 of 20, the second in 19.
    """
    texts = [{"document": f"d{n}", "text": "Ada", "begin": 0, "end": 3, "entity": f"{KNOWN}Ada{n}"} for n in range(20)]
    work = Workspace(tmp_path / ".remix")
    for name, others in (("gold", 0), ("many", 2), ("few", 1)):
        lines = [{**line, "entity": "http://o.org/A"} if n < others else line for n, line in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if name == "gold":
            work.load([tmp_path / "gold.jsonl"])
        else:
            work.add_run(name, tmp_path / f"{name}.jsonl", on="gold")
    page = shown(work)
    table = page.tables["systems"]
    marks = dict(zip(table["system"], table["gold (20) mark"], strict=True))
    assert marks == {"few": "best", "many": "†"}
    [told] = [block.text for block in page.blocks if isinstance(block, Note) and block.text.startswith("†")]
    assert told.endswith("They count as wrong, as their errors show: many on gold (10.0 %).")
    [matrix] = [block for block in page.blocks if isinstance(block, Table) and block.name == "systems"]
    assert "† many of the answers cannot be compared" in matrix.words and matrix.typesetting is not None
    assert matrix.typesetting.signs["best †"] == "†"


def test_words_on_two_systems_name_slices_and_what_has_no_value_where_a_star_marks_it() -> None:
    """Of flags it is said of which column they are; the difference without a value is the only one with a star."""
    parts = {"all": (0.5, 0.6, ""), "false": (0.741, 0.742, ""), "unspecified": (0.275, 0.014, "*")}
    rows = [
        {"system": system, "part": part, "f1": f1, "mark": mark if system == "b" else ""}
        for part, (one, other, mark) in parts.items()
        for system, f1 in (("a", one), ("b", other))
    ]
    said = tell_two_systems(pl.DataFrame(rows), "F1", "isRare", {})
    assert said.startswith("By F1, a is ahead of b in none of 1 column; b in 1, most in rare readings: false (0.742")
    none = "without a value in the column (unspecified) a is ahead of b (0.275 against 0.014), which a star marks."
    assert none in said
    plain = tell_two_systems(pl.DataFrame(rows).with_columns(mark=pl.lit("")), "F1", "isRare", {})
    assert "(unspecified) a is ahead of b (0.275 against 0.014), a larger difference than in any of these." in plain
    assert plain.endswith("Mentions without a value in the column are in none of the columns counted first.")
    near = [row | {"mark": "", "f1": 0.275} if row["part"] == "unspecified" else row for row in rows]
    assert "(unspecified)" not in tell_two_systems(pl.DataFrame(near), "F1", "isRare", {})


def test_columns_of_a_flag_say_of_which_column_they_are(work: Workspace) -> None:
    page = shown(work, dataset="news", by="is_nil")
    [table] = [one for one in page.blocks if isinstance(one, Table) and one.name == "systems"]
    assert any(heading[0] == "NIL or not: false" for heading in table.headings.values())


@pytest.mark.long
def test_system_without_answers_on_a_dataset_is_said_to_have_none(tmp_path: Path) -> None:
    """The run of the only system that is asked for is on another dataset."""
    line = {"document": "d", "text": "Ada", "begin": 0, "end": 3}
    for name, entity in (("one", "e:A"), ("two", "e:A"), ("wrong", "e:B")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**line, "entity": entity}))
    own = Workspace(tmp_path / "own")
    own.load([str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")])
    for system, on in (("a", "one"), ("b", "two")):
        own.add_run(system, tmp_path / "wrong.jsonl", on=on)
    for have in ("any", "all"):
        told = [one.text for one in shown(own, datasets="two", systems="a", have=have).blocks if isinstance(one, Note)]
        assert any("a has no answers on two: choose another." in one for one in told), told


def test_words_on_two_systems_count_datasets_of_the_same_texts_once() -> None:
    """b is ahead in news and in its short edition, where the difference is larger; a in posts."""
    scores = {"news": (0.5, 0.6, 90), "news-short": (0.0, 0.9, 6), "posts": (0.4, 0.3, 80)}
    rows = [
        {"system": system, "part": part, "f1": f1, "mark": "", "kind": "system", "mentions": mentions}
        for part, (one, other, mentions) in scores.items()
        for system, f1 in (("a", one), ("b", other))
    ]
    said = tell_two_systems(pl.DataFrame(rows), "F1", "", {}, lambda names: [["news", "news-short"]])
    assert said == (
        "By F1, a is ahead of b in 1 of 2 columns, most in posts (0.400 against 0.300); "
        "b in 1, most in news (0.600 against 0.500). Datasets of the same texts count once, by the largest."
    )
    assert "in 1 of 3 columns" in tell_two_systems(pl.DataFrame(rows), "F1", "", {})


@pytest.mark.long
def test_systems_that_leave_documents_unanswered_are_told(tmp_path: Path) -> None:
    lines = [{"document": name, "text": "Ada", "begin": 0, "end": 3, "entity": "e:A"} for name in ("d", "e")]
    wrong = [{**line, "entity": "e:B"} for line in lines]
    for name, own in (("gold", lines), ("whole", wrong), ("part", wrong[:1])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in own))
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "gold.jsonl"])
    for name in ("whole", "part"):
        work.add_run(name, tmp_path / f"{name}.jsonl", on="gold")
    said = (
        "Fewer documents are answered than there are, and mentions of the others count as missed: part on gold (1 of 2)"
    )

    def told(view: str, **asked: str) -> bool:
        return said in [one.text for one in VIEWS[view].show(work, asked).blocks if isinstance(one, Note)]

    assert told("systems") and not told("systems", systems="whole")
    assert told("errors", system="part") and not told("errors", system="whole")


def test_process_that_dies_is_not_told_as_one_that_took_too_long(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_queue, "_COMMAND", "raise SystemExit(3)")
    cache, asked = (
        ScoreCache(work, waits=False),
        [Question(datasets=("news",), task=("A2KB",), match=("weak",), by=("source",))],
    )
    patience = time.monotonic() + 60
    while (found := cache.ask(asked)).done == 0 and time.monotonic() < patience:
        time.sleep(0.05)
    assert "news: the process that computes scores died" in found.problems[0] and "longer" not in found.problems[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_process_of_scores_that_was_stopped_is_no_failure_and_begins_again(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    """What stops a whole group of processes stops this one, too: it did not die for want of memory."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, as it is under nohup")
    cache, asked = (
        ScoreCache(work, waits=False),
        [Question(datasets=("news",), task=("D2KB",), match=("weak",), by=(number.name,))],
    )
    begun = tmp_path / "begun"
    waiting = (
        f"import signal, time; signal.signal(2, signal.SIG_DFL); open({str(begun)!r}, 'w').close(); time.sleep(60)"
    )
    with monkeypatch.context() as patched:
        patched.setattr(score_queue, "_COMMAND", waiting)
        cache.ask(asked)
        process = await_process(cache)
    patience = time.monotonic() + 60
    while not begun.exists():  # so that it is the signal that ends it
        assert time.monotonic() < patience
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(20) == -number
    await_end(cache)
    again = cache.ask(asked)
    assert (again.done, again.problems) == (0, []) and await_process(cache) is not process
    cache.close()


def await_end(cache: ScoreCache) -> None:
    """Wait until no process of a cache runs."""
    patience = time.monotonic() + 60
    while cache.queue.processes:
        assert time.monotonic() < patience
        time.sleep(0.02)


def await_process(cache: ScoreCache) -> subprocess.Popen[str]:
    """Wait until a process of a cache runs, and return it."""
    patience = time.monotonic() + 60
    while not (found := cache.queue.processes):
        assert time.monotonic() < patience
        time.sleep(0.01)
    return found[0]


def test_cache_of_scores_that_is_closed_leaves_no_process_and_no_folder_and_begins_nothing(
    work: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache, asked = (
        ScoreCache(work, waits=False),
        [Question(datasets=("news",), task=("D2KB",), match=("strong",), by=("length",))],
    )
    cache.ask(asked)
    process = await_process(cache)
    assert [*tmp_path.iterdir()]
    cache.close()
    assert process.wait(20) == -signal.SIGKILL
    await_end(cache)
    assert [*tmp_path.iterdir()] == []
    again = cache.ask(asked)
    assert (again.done, again.problems, cache.queue.processes) == (0, [], [])


KILLED = """
import sys, os, signal, time
from dataclasses import replace
from remix.question import Question
from remix.reports.score_cache import ScoreCache
from remix.store.cache import KEEPS
from remix.store.queries import Query
from remix.workspace import Workspace
cache = ScoreCache(Workspace(sys.argv[1]), waits=False)
asked = Question(datasets=("news",), task=("A2KB",), match=("strong",))
cache.ask([replace(asked, by=(column,)) for column in ("length", "words", "rank")])
while not cache.queue.processes:
    time.sleep(0.01)
print(cache.queue.processes[0].pid, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("seconds", [0.0, 0.7, 1.5])
def test_process_of_scores_ends_with_a_server_that_was_killed_and_leaves_no_folder(
    work: Workspace, tmp_path: Path, seconds: float
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLED, str(work.folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True) as process:
        try:
            assert process.stdout is not None and process.stdin is not None
            place = Path("/proc", process.stdout.readline().strip())
            assert place.is_dir() and [*tmp_path.iterdir()]
            time.sleep(seconds)
            process.stdin.write("now\n")
            process.stdin.flush()
            assert process.wait(20) == -signal.SIGKILL
        finally:
            process.kill()
    patience = time.monotonic() + 20
    while is_running(place) or [*tmp_path.iterdir()]:
        assert time.monotonic() < patience, [*tmp_path.rglob("*")]
        time.sleep(0.05)


def is_running(place: Path) -> bool:
    """Whether a process of /proc has not ended."""
    try:
        return (place / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.long
def test_few_documents_have_scores_without_intervals(tmp_path: Path) -> None:
    """System a is right on Ada of three mentions, and answers four: of 4 answers and 4 mentions 1 is right."""
    folder = CHECKOUT / "tests" / "runs" / "small"
    work = Workspace(tmp_path / ".remix")
    work.load([folder / "gold.ttl"])
    work.add_run("a", folder / "a.ttl", on="gold")
    page = shown(work)
    assert page.tables["systems"]["gold (4)"].to_list() == [0.25]
    [table] = [block for block in page.blocks if isinstance(block, Table) and block.name == "systems"]
    assert "without intervals, which need ten documents" in table.words
    # OKE-1 is a mean of other tasks and counts no mentions of its own; ERec-classes has nothing to count here.
    for task, value in (("OKE-1", work.evaluate("gold", task="OKE-1").rows["f1"][0]), ("ERec-classes", None)):
        page = shown(work, task=task)
        name = "gold" if task == "OKE-1" else "gold (0)"
        assert page.tables["systems"][name].to_list() == [value] and "None" not in render_page(
            page, VIEWS["systems"], ""
        )


@pytest.mark.long
def test_baselines_and_oracles_are_said_to_be_never_the_best_on_the_page_and_in_exports(
    sample_workspace: Callable[[], Workspace],
) -> None:
    work = sample_workspace()
    work.annotate(["sample-news"], ["coherence", "prior"])
    assert "never" not in matrix_of(work, systems="coherence").words
    table = matrix_of(work)
    assert table.frame["kind"].to_list() == ["system", "baseline"]
    assert table.words.startswith("Baselines and oracles stand below the line and are never the best. micro-F1")
    for form in ("latex", "md"):
        assert NEVER_BEST in typeset(table.frame, form, table.typesetting)


def matrix_of(work: Workspace, **parameters: str) -> Table:
    [table] = [one for one in shown(work, **parameters).blocks if isinstance(one, Table) and one.name == "systems"]
    return table


@pytest.mark.long
def test_classes_are_called_by_name_on_the_page_and_in_a_paper_and_data_keep_what_they_are(tmp_path: Path) -> None:
    gold = (CHECKOUT / "tests" / "runs" / "small" / "gold.ttl").read_text()
    gold = gold.replace("dbo:Person", "<http://www.wikidata.org/entity/Q27096213>")
    (tmp_path / "gold.ttl").write_text(gold)
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "gold.ttl"])
    work.add_run("a", CHECKOUT / "tests" / "runs" / "small" / "a.ttl", on="gold")
    table = matrix_of(work, by="class:wd")
    [name] = [one for one in table.frame.columns if one.startswith("wd:Q27096213 (") and one not in table.within]
    assert table.headings[name][0] == "Geographic entity" and table.headings[name][1].startswith("wd:Q27096213")
    assert table.typesetting is not None and "Geographic entity" in typeset(table.frame, "latex", table.typesetting)
    [row] = table.frame.to_dicts()
    assert table.links[name](row).endswith("#sentences") and "#" not in table.links["all (4)"](row)


@pytest.mark.long
def test_where_no_star_stands_it_is_said_that_chance_may_make_all_differences(many: Workspace) -> None:
    """Of the first twelve b has 6 and c 8, which may be chance; a, which has all, and d, which has none, differ."""
    assert "No difference" not in matrix_of(many).words and "* differs from" in matrix_of(many).words
    table = matrix_of(many, systems="b,c", datasets="first")
    assert "No difference from the best system of the column is more than chance may make" in table.words
    assert "*" not in table.frame["first (12) mark"].to_list()
    assert "a filter of rows, a choice of columns of this table and an order of rows change no star" in table.below


@pytest.mark.long
def test_of_datasets_of_the_same_texts_the_largest_alone_orders_the_rows(many: Workspace, tmp_path: Path) -> None:
    """All three have the same three texts. A fourth of another text counts beside the first, in the mean of two."""
    table = matrix_of(many)
    assert "of datasets that share half or more of their texts the largest counts (first in place of second and" in (
        table.below
    )
    assert not [name for name in table.frame.columns if name.startswith("mean of")]
    scores = table.frame["first (12)"].to_list()
    assert scores == sorted(scores, reverse=True) and len({*scores}) > 1
    assert "of their texts" not in matrix_of(many, datasets="first").below
    more = copy_workspace(many.folder, tmp_path / "more")
    line = {"document": "f", "text": "Bob", "begin": 0, "end": 3, "entity": KNOWN}
    (tmp_path / "fourth.jsonl").write_text(json.dumps(line) + "\n")
    more.load([tmp_path / "fourth.jsonl"])
    for system in "abcd":
        answer = {**line, "entity": KNOWN if system == "d" else f"{KNOWN}Bob", "confidence": 0.9}
        (tmp_path / "run.jsonl").write_text(json.dumps(answer) + "\n")
        more.add_run(system, tmp_path / "run.jsonl", on="fourth")
    both = matrix_of(more)
    columns = pl.mean_horizontal("first (12)", "fourth (1)")
    assert both.frame["mean of 2"].to_list() == pytest.approx(both.frame.select(columns).to_series().to_list())


@pytest.mark.long
def test_datasets_that_no_chosen_system_answered_are_said_and_led_to(tmp_path: Path) -> None:
    folder = CHECKOUT / "tests" / "runs" / "small"
    line = {"document": "d", "text": "Ada spoke", "begin": 0, "end": 3, "entity": KNOWN}
    (tmp_path / "other.jsonl").write_text(json.dumps(line) + "\n")
    work = Workspace(tmp_path / ".remix")
    work.load([folder / "gold.ttl"])
    work.load([tmp_path / "other.jsonl"])
    work.add_run("a", folder / "a.ttl", on="gold")
    (tmp_path / "b.jsonl").write_text(json.dumps({**line, "entity": f"{KNOWN}1", "confidence": 0.9}) + "\n")
    work.add_run("b", tmp_path / "b.jsonl", on="other")
    assert not [one for one in shown(work).blocks if isinstance(one, Note) and "not shown" in one.text]
    [note] = [one for one in shown(work, systems="a").blocks if isinstance(one, Note) and "not shown" in one.text]
    assert note.text == "1 of 2 datasets is not shown: not every chosen system has answers on it."
    assert "systems=" not in note.links["show all"] and "have=any" in note.links["show all"]
    [both] = [one for one in shown(work, systems="a,b").blocks if isinstance(one, Note) and "No dataset" in one.text]
    assert "answered" in both.text


def test_score_of_a_class_leads_to_the_mentions_that_have_other_classes_too(tmp_path: Path) -> None:
    folder = CHECKOUT / "tests" / "runs" / "small"
    gold = (folder / "gold.ttl").read_text().replace("taClassRef dbo:Person", "taClassRef dbo:Person, dbo:Writer", 1)
    (tmp_path / "gold.ttl").write_text(gold)
    work = Workspace(tmp_path / ".remix")
    work.load([tmp_path / "gold.ttl"])
    work.add_run("a", folder / "a.ttl", on="gold")
    for name, forms in (("Person", ["Ada", "Alan"]), ("Writer", ["Ada"])):
        asked = {"dataset": "gold", "system": "a", "show": "all", "by": "class", "slice": f"{ONTOLOGY}{name}"}
        assert VIEWS["errors"].show(work, asked).tables["errors"]["surface_form"].to_list() == forms


def test_slices_of_several_datasets_are_of_systems_that_answered_all_of_them(tmp_path: Path) -> None:
    """System a answered three datasets of one, two and three texts, b the first two, c the last.

    A slice of all mentions would be of six of a, of three of b and c, and the three would be held against each other.
    """
    work = Workspace(tmp_path / ".remix")
    texts = {"one": ["One Ada."], "two": ["Two Ada.", "Two Ada more."], "three": [f"The Ada {word}." for word in "xyz"]}
    load_texts(work.store, tmp_path, texts)
    gold = work.store.frames
    for system, names in (("a", ["one", "two", "three"]), ("b", ["one", "two"]), ("c", ["three"])):
        for name in names:
            spans = gold([name]).annotations.select("document", "begin", "end").with_columns(entity=pl.lit("urn:e:Bob"))
            work.add_run(system, spans, on=name)

    def read(**asked: str) -> tuple[list[str], str, Page]:
        page = shown(work, by="words", **asked)
        told = [one for one in page.blocks if isinstance(one, Note) and "left out here" in one.text]
        tables = [one for one in page.blocks if isinstance(one, Table) and one.name == "systems"]
        return sorted(tables[0].frame["system"]) if tables else [], told[0].text if told else "", page

    systems, said, page = read(datasets="one,two,three")
    assert systems == ["a"] and said.startswith("Slices are of the mentions of 3 datasets together. b and c have ")
    [note] = [one for one in page.blocks if isinstance(one, Note) and one.text == said]
    assert [*note.links] == ["the 2 datasets that a and b answered", "three, which a and c answered"]
    for place, wanted in zip(note.links.values(), (["a", "b"], ["a", "c"]), strict=True):
        [table] = [one for one in follow(work, place).blocks if isinstance(one, Table) and one.name == "systems"]
        assert sorted(table.frame["system"]) == wanted
    commands = [line for one in page.blocks if isinstance(one, Note) for line in one.commands]
    assert "remix evaluate one two three --run a --profile remix" in " ".join(commands)
    assert read(datasets="one,two,three", against="b")[1].endswith(
        "b, which others are held against: no pair is tested."
    )
    assert read(datasets="one,two")[:2] == (["a", "b"], "")
    # Where no dataset is named they are those that all systems answered, of which there is none here.
    [none] = [one for one in shown(work, by="words").blocks if isinstance(one, Note) and "No dataset" in one.text]
    assert [*none.links] == [*note.links, "the 3 datasets that a answered"]
    assert read(systems="a,b")[:2] == (["a", "b"], "")
    assert f"by {words_of_column('words')} on one, two" in read(systems="a,b")[2].find_table("systems").caption(
        "Systems"
    )
    assert read(systems="a,b", have="any")[0] == ["a"]
    # One dataset is all that a system is asked of it.
    assert read(datasets="three")[:2] == (["a", "c"], "")
    assert read(datasets="two,three", systems="b,c", have="any")[0] == []


@pytest.mark.long
def test_cells_of_several_datasets_lead_to_the_errors_on_all_of_them(tmp_path: Path) -> None:
    """Both datasets begin with one text of two words, which counts once; the others have three, and two.

    The system is right in the text that both have and wrong in the two others.
    """
    work = Workspace(tmp_path / ".remix")
    texts = {"first": ["One Ada.", "One Ada more."], "second": ["One Ada.", "Two Ada."]}
    load_texts(work.store, tmp_path, texts)
    for name in texts:
        rows = [{"document": f"urn:text:{nth}", "begin": 4, "end": 7, "entity": f"urn:e:{nth}"} for nth in (0, 1)]
        answers = pl.DataFrame(rows).with_columns(pl.col("entity").replace({"urn:e:0": "urn:e:Ada"}))
        work.add_run("a", answers, on=name)
    [table] = [one for one in shown(work, by="words").blocks if isinstance(one, Table) and one.name == "systems"]
    [row] = table.frame.to_dicts()
    # Of all three one is right, and so is one of the two of two words.
    wanted = {"all (3)": (3, 1), "2 (2)": (2, 1), "3 (1)": (1, 0)}
    assert [*table.links] == [*wanted]
    for name, (mentions, right) in wanted.items():
        place, _, anchor = table.links[name](row).partition("#")
        errors = follow(work, place).tables["errors"]
        every = follow(work, f"{place}&show=all").tables["errors"]
        assert (every.height, errors.height) == (mentions, mentions - right), name
        assert row[name] == pytest.approx(right / mentions) and "dataset" in every.columns, name
    page = follow(work, table.links["all (3)"](row))
    assert any("Counted together are first, second" in one.text for one in page.blocks if isinstance(one, Note))
    [passages] = [block for block in page.blocks if isinstance(block, Passages)]
    [within] = [one.values for one in passages.facets if one.name == "dataset of the text"]
    assert {one.words: one.number for one in within} == {"first": 1, "second": 1}
    narrowed = follow(work, within[0].href)
    assert narrowed.tables["errors"]["dataset"].to_list() == [within[0].words] and narrowed.title == page.title
    [within] = [one.facets for one in narrowed.blocks if isinstance(one, Passages)]
    [chosen] = [one for facet in within for one in facet.values if facet.name == "dataset of the text" and one.chosen]
    assert follow(work, chosen.href).tables["errors"].height == 2  # the second click lets it go
    # From the document of one error the next leads to that of the other dataset, and back.
    assert [passage.heading for passage in passages.passages] == [
        "error 1 of 2: urn:text:1 (first)",
        "error 2 of 2: urn:text:1 (second)",
    ]
    document = follow(work, passages.passages[0].href)
    assert document.title.startswith("first: ") and document.dropped == []
    after = follow(work, document.neighbours["next"])
    assert after.title.startswith("second: ")
    assert any(one.text.startswith("error 2 of 2") for one in after.blocks if isinstance(one, Note))
    assert follow(work, after.neighbours["prev"]).title == document.title
    for wrong, told in (({"dataset": "first,secnd"}, "secnd"),):
        with pytest.raises(UnknownName, match=told):
            VIEWS["errors"].show(work, wrong)
    everything = VIEWS["errors"].show(work, {"dataset": "all", "system": "a"})
    assert everything.title == page.title == "Errors of a on 2 datasets"
    unknown = VIEWS["document"].show(work, {"dataset": "first", "system": "a", "error": "1", "among": "first,none"})
    assert [str(one).partition(";")[0] for one in unknown.dropped] == ["no dataset with a run named 'none'"]


def test_scores_that_another_site_makes_a_browser_ask_for_are_not_computed(work: Workspace) -> None:
    cache, asked = (
        ScoreCache(work, waits=False),
        [Question(datasets=("news",), task=("D2KB",), match=("weak",), by=("offset",))],
    )
    token = KEEPS.set(False)
    try:
        assert cache.ask(asked).done == 0 and cache.queue.processes == []
    finally:
        KEEPS.reset(token)
    cache.ask(asked)
    assert await_process(cache) is not None
    cache.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Three datasets of twelve documents with one mention each, and four systems that are right by chance."""
    folder, draw = tmp_path_factory.mktemp("many"), random.Random(7)
    work = Workspace(folder / ".remix")
    for name in ("first", "second", "third"):
        lines = [
            {"document": f"{name}{n}", "text": "Ada" + " met" * (n % 3), "begin": 0, "end": 3, "entity": f"{KNOWN}{n}"}
            for n in range(12)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        work.load([folder / f"{name}.jsonl"])
        for system, share in (("a", 0.9), ("b", 0.5), ("c", 0.4), ("d", 0.05)):
            right = [draw.random() < share for _ in lines]
            answers = [
                {**line, "entity": line["entity"] if good else KNOWN, "confidence": 0.9}
                for line, good in zip(lines, right, strict=True)
            ]
            (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
            work.add_run(system, folder / "run.jsonl", on=name)
    return work


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_any_choice_are_those_of_evaluate_and_compare(many: Workspace, seed: int) -> None:
    draw = random.Random(seed)
    datasets = draw.sample(["first", "second", "third"], draw.randint(1, 3))
    systems = sorted(draw.sample("abcd", draw.randint(2, 4)))
    asked = {"task": draw.choice(["A2KB", "D2KB"]), "match": draw.choice(["strong", "weak"])}
    by = {"by": "words"} if seed % 2 else {}
    page = shown(many, datasets=",".join(datasets), systems=",".join(systems), **asked, **by)
    rows = many.evaluate(datasets, run=systems, intervals=True, **asked, **by).rows
    wanted = rows.filter(average="micro", column=by.get("by", ""))
    # Of one dataset the rows are those of all.
    own = pl.col("dataset") == "all" if by or len(datasets) == 1 else pl.col("dataset").is_in(datasets)
    wanted = wanted.filter(own)
    assert len(wanted) >= len(systems)
    table = page.tables["systems"]
    assert sorted(table["system"]) == systems
    for row in wanted.to_dicts():
        own = f"{row['slice'] if by else row['dataset'] if len(datasets) > 1 else datasets[0]} ("
        [name] = [one for one in table.columns if one.startswith(own) and one.endswith(")")]
        own = table.filter(system=row["system"])
        assert own[name].to_list() == [row["f1"]]
        if row["f1_low"] is not None:
            spread = f"{row['f1_low']:.3f} to {row['f1_high']:.3f}"
            assert own[f"{name} 95 %"][0].startswith(spread)
    # As data each F1 is called as `evaluate` calls it.
    scores = page.tables["scores"].filter(average="micro")
    [f1] = {*scores.columns} & {"f1", "f1_in_scope", "f1_on_mention"}
    told = scores.filter(pl.col("part") != "all") if by else scores
    assert told.select("system", f1).sort(pl.all()).equals(wanted.select("system", f1).sort(pl.all()))
    keys = ["system", "other", "p", "p_holm", "low", "high"]
    found = many.compare(datasets, run=systems, **asked, **by).pairs.select(keys).sort(keys)
    assert page.tables["pairs"].select(keys).sort(keys).equals(found) and len(found)


@pytest.mark.long
def test_points_that_a_server_has_computed_together_are_those_of_evaluate(many: Workspace, tmp_path: Path) -> None:
    """A dataset of which a run is damaged is told, and does not hinder others."""
    folder = tmp_path / "copy"
    shutil.copytree(many.folder, folder)
    work = Workspace(folder)
    damaged = folder / "runs" / "a--third--a2kb" / "links.parquet"
    damaged.write_bytes(b"no frame")
    cache = ScoreCache(Workspace(folder), waits=False)
    asked = [Question(datasets=(name,), task=("A2KB",), match=("weak",)) for name in ("first", "second", "third")]
    places = cache._places(asked)
    cache.ask(asked)
    patience = time.monotonic() + 60
    while not all(places[one].points.exists() for one in asked):
        assert time.monotonic() < patience
        time.sleep(0.02)
    cache.close()
    for one in asked[:2]:
        rows = pl.read_parquet(places[one].points)
        wanted = work.evaluate(one.datasets[0], task="A2KB", match="weak").rows
        unsigned = [pl.lit(None, pl.String).alias(one) for one in ("signature", "signature_short")]  # with intervals
        assert rows.drop("kind", "asked").select(wanted.columns).equals(wanted.with_columns(unsigned))
        assert wanted["signature"].null_count() == 0
        assert {*rows["asked"]} == {*one.datasets}
    assert "third" in pl.read_parquet(places[asked[2]].points)["problem"][0]


SCORING = """
import sys
from pathlib import Path
from remix.question import Question
from remix.reports.score_cache import answer_together, import_rest
from remix.workspace import Workspace
import_rest()
to = Path(sys.argv[2])
names = [entry.name for entry in Workspace(sys.argv[1]).datasets()]
asked = {to / name: Question(datasets=(name,), task=("A2KB",), match=("strong",)) for name in names}
left = answer_together(Workspace(sys.argv[1]), asked)
print(len(names), left, *sorted(set(sys.argv[3:]) & sys.modules.keys()))
"""


@pytest.mark.long
def test_process_of_points_imports_nothing_that_draws_reads_files_or_builds_remixes(
    many: Workspace, tmp_path: Path
) -> None:
    beside = ["remix.reports.figures", "remix.reports.matrix", "remix.formats.mapping", "remix.remixes"]
    ended = run_python(["-c", SCORING, str(many.folder), str(tmp_path), *beside])
    assert ended.stdout.split() == ["3", "[]"], ended.stderr


@pytest.mark.long
def test_hiding_rows_and_columns_changes_no_star(many: Workspace) -> None:
    whole = shown(many)
    cut = arrange(whole, {"rows.systems": "d"}).tables["systems"]
    assert cut["system"].to_list() == ["d"]
    assert cut.equals(whole.tables["systems"].filter(system="d"))
    [table] = [one for one in whole.blocks if isinstance(one, Table) and one.name == "systems"]
    assert "18 tests on 3 columns: of all pairs of 4 systems that" in table.below  # 6 pairs on each of 3
    # Other systems that the address asks for are another family.
    [table] = [one for one in shown(many, systems="a,b,c").blocks if isinstance(one, Table) and one.name == "systems"]
    assert "9 tests on 3 columns: of all pairs of 3 systems that" in table.below


def test_system_that_is_called_like_a_column_has_its_errors_by_that_column(tmp_path: Path) -> None:
    row = {"document": "d", "text": "Ada spoke", "begin": 0, "end": 3, "entity": "e:Ada"}
    for name, entity in (("news", "e:Ada"), ("other", "e:Grace")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**row, "entity": entity}))
    work = Workspace(tmp_path / "work")
    work.load([tmp_path / "news.jsonl"])
    work.add_run("words", [tmp_path / "other.jsonl"])
    table = VIEWS["errors"].show(work, {"dataset": "news", "system": "words", "by": "words"}).tables["errors by words"]
    assert table.columns == ["part of words", "words", "share of words"] and table["words"].to_list() == [1]


def dated(work: Path) -> Workspace:
    """A document of 1894 with a place that is found, one of 1900 with a person that is found and a place that is not.

    They are written as the tables of HIPE are.
    """
    answered = {"gold": ("B-LOC", "B-PERS", "B-LOC"), "run": ("B-LOC", "B-PERS", "O")}
    for name, (first, second, third) in answered.items():
        rows = [["# document_id = d1", "# date = 1894-05-01", f"Paris\t{first}\tO\t_\t_"]]
        rows += [["# document_id = d2", "# date = 1900-01-01", f"Ada\t{second}\tO\t_\t_", f"Rome\t{third}\tO\t_\t_"]]
        lines = ["TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tNEL-LIT\tMISC", *(line for part in rows for line in part)]
        (work / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    made = Workspace(work / ".remix")
    made.load([work / "gold.tsv"])
    made.add_run("s", work / "run.tsv", on="gold")
    return made


def test_slices_by_bounds_are_those_of_the_command_line_and_means_over_slices_a_column(tmp_path: Path) -> None:
    own, asked = dated(tmp_path), {"profile": "hipe", "task": "NE-COARSE-LIT"}
    # Of 1894 the one place is found: 1. Of 1900 one of two is: P 1, R 1/2, F1 2/3.
    table = table_of(shown(own, **asked, by="period:1894-1900,1900-1950"), "systems")
    row = table.frame.row(0, named=True)
    assert (row["1894-1900 (1)"], row["1900-1950 (2)"]) == (1, pytest.approx(2 / 3))
    # Errors are cut by no bounds: a score leads to those of all mentions, which the page says.
    assert table.links["1894-1900 (1)"](row) == "/errors?dataset=gold&system=s"
    assert "on all mentions" in table.leads
    # F1 of places is 2/3, of persons 1: the mean over both is 5/6.
    table = table_of(shown(own, **asked, by="type"), "systems")
    row = table.frame.row(0, named=True)
    assert [row[name] for name in ("LOC (2)", "PERS (1)", "all slices (3)")] == pytest.approx([2 / 3, 1, 5 / 6])
    assert table.explained["all slices (3)"].startswith("the mean over all slices of micro-F1")


def test_scores_of_all_slices_together_are_those_of_the_command_line(tmp_path: Path) -> None:
    """Of three mentions in their types two are found, none is wrong: P 1, R 2/3, F1 4/5; the mean over types is 5/6."""
    own = dated(tmp_path)
    asked = {"profile": "neleval", "match": "strong_typed_mention_match", "by": "type"}
    scored = own.evaluate("gold", **asked).rows.filter(slice="all slices", average="micro")
    assert scored["f1"].to_list() == [pytest.approx(4 / 5)]
    table = table_of(shown(own, **asked), "systems")
    [name] = [one for one in table.frame.columns if one.startswith("all slices") and one in table.explained]
    assert table.frame[name].to_list() == scored["f1"].to_list()
    assert table.explained[name].startswith("all slices together: micro-F1")


@pytest.mark.parametrize(
    ("by", "profile", "told"),
    [
        ("period:1900-1890", "hipe", "holds nothing"),
        ("words:1-2", "remix", "by which the profile remix does not cut it"),
        ("nothing:deciles", "remix", "no column to slice by named 'nothing'"),
        ("noise,class", "hipe", "does not cross that"),
    ],
)
def test_what_no_column_is_cut_by_is_left_out_and_said(work: Workspace, by: str, profile: str, told: str) -> None:
    with pages_of(work) as get:
        answer = get(address("systems", profile=profile, by=by))
    assert answer.status_code == 200 and told in unescape(answer.text)
    assert f'<option value="{profile}" selected' in answer.text  # nothing else was left out


def test_columns_are_cut_and_crossed_as_the_command_line_does(work: Workspace) -> None:
    wanted = work.evaluate("news", task="A2KB", match="strong", by="words:thresholds:4,is_nil").rows
    frame = shown(work, datasets="news", by="words:thresholds:4,is_nil").tables["scores"]
    column = "words:thresholds:4 × is_nil"
    assert {*frame["part"]} - {"all"} == {*wanted.filter(column=column)["slice"]}


@pytest.mark.long
@pytest.mark.parametrize("by", ["period", "document", "surface_form", "kb", "error:s", "density", "period,is_nil"])
def test_slices_by_any_column_are_those_of_the_command_line(tmp_path: Path, by: str) -> None:
    """Of what the data alone have, what names things, what a run gets wrong, and values of documents."""
    own = dated(tmp_path)
    column = by.replace(",", " × ")
    wanted = own.evaluate("gold", task="A2KB", match="strong", by=by).rows.filter(column=column)
    page = shown(own, datasets="gold", by=by)
    scores = page.tables["scores"].filter(pl.col("part") != "all")
    keys = ["average", "tp", "fp", "fn", "recall"]
    told = scores.select(pl.col("part").cast(pl.String), *keys).sort(pl.all())
    assert told.rows() == wanted.select("slice", *keys).sort(pl.all()).rows() and len(told)
    # Errors are counted by no column of runs, by none that is crossed, and know no InKB.
    leads = table_of(page, "systems").leads
    assert ("on all mentions" in leads) == (by in ("kb", "error:s", "period,is_nil"))


@pytest.mark.long
def test_columns_of_the_data_are_offered_where_a_dataset_is_chosen(tmp_path: Path) -> None:
    own = dated(tmp_path)
    [form] = [block for block in shown(own, datasets="gold").blocks if isinstance(block, Form)]
    [by] = [field for field in form.fields if field.name == "by"]
    assert {"period", "date", "kb"} <= {*by.values}


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("seenForm", "a training set, of which this page has no choice: `remix evaluate --by seenForm --seen DATASET`"),
        ("kb,is_nil", "kb is cut by no scheme and crossed with no column"),
        ("kb:classes", "kb is cut by no scheme and crossed with no column"),
        ("error:nobody", "no run on these datasets named 'nobody'"),
        ("error:", "names no system: write error:SYSTEM"),
        ("confidence", "no annotation of gold has a value in column 'confidence'"),
    ],
)
def test_slicing_that_is_refused_is_said_by_the_page_and_has_no_data(work: Workspace, by: str, told: str) -> None:
    place = {"datasets": "news", "by": by}
    with pages_of(work) as get:
        answer = get(address("systems", **place))
        assert answer.status_code == 200 and "Left out:" in answer.text and told in unescape(answer.text)
        assert "news (12)" in answer.text.replace('<span class="small">', "(") or "good" in answer.text
        for form in ("json", "csv"):
            data = get(address(f"systems.{form}", **place))
            assert data.status_code >= 400 and told in data.text and "no table" not in data.text


def test_tasks_with_settings_are_counted_as_the_command_line_does(work: Workspace) -> None:
    """No mention is NIL: of linked ones all twelve are asked for."""
    asked = {"task": "A2KB(filter=linked)", "match": "strong"}
    wanted = work.evaluate("news", **asked).rows.filter(average="micro", column="")
    scores = shown(work, datasets="news", **asked).tables["scores"].filter(average="micro")
    assert scores.select("system", "f1").sort("system").equals(wanted.select("system", "f1").sort("system"))
    assert {*wanted["mentions"]} == {12}
    with pages_of(work) as get:
        for task, told in (
            ("A2KB(filtr=nil)", "task 'A2KB' takes filter, not 'filtr'"),
            ("A2KB(filter=nli)", "no filter named 'nli'; did you mean 'nil'?"),
        ):
            assert told in unescape(get(address("systems", datasets="news", task=task)).text)


def test_by_knowledge_base_it_is_said_where_nothing_is_out_of_it(work: Workspace) -> None:
    notes = [block.text for block in shown(work, datasets="news", by="kb").blocks if isinstance(block, Note)]
    assert any("neither gold nor an answer is NIL" in note for note in notes)


def test_slices_that_are_called_like_the_whole_are_told_from_it() -> None:
    rows = pl.DataFrame({"part": ["", "all", "b", ""], "column": ["", "subject", "subject", "subject"]})
    named = rows.select(score_leads.name_slices(pl.col("part"), whole=pl.col("column") == ""))["literal"]
    assert named.to_list() == ["all", "'all'", "b", "''"]
