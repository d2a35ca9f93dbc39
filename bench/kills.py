"""Kill commands that change a workspace at random moments, and look at what they leave.

python bench/kills.py [--kills 60] [--seed 1] [--only "load,run add"]

Each command is first run to its end on a copy of a workspace of the datasets that ship with remix, then killed
(SIGKILL) on other copies, at a moment up to the time that it took. What the workspace then says of itself (datasets,
runs, scores, measures, and how many triples each graph has) has to be what it said before the command or says after it,
and the command, given again, has to lead to what it leads to by itself. What is stored beside the data on behalf of
the whole workspace, as outcomes and measures are, is made good by the next command that needs it. The exit code is 1
where one of these is not so, or where a command ends in a traceback or a defect.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from remix.workspace import Workspace

WRONG = re.compile(r"Traceback|defect of remix|Fatal Python error")
GRAPHS = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"
QUESTIONS = (
    ("list", "datasets", "-o", "json"),
    ("run", "list", "-o", "json"),
    ("evaluate", "--task", "D2KB", "--match", "strong", "-o", "json"),
    ("stats", "--measure", "prior", "--measure", "density", "-o", "json"),
    ("query", GRAPHS, "-o", "json"),
)
"""What a workspace is asked, in an order in which none depends on one behind it."""
ASKING = """
import json, sys
from remix import cli
for nth, line in enumerate(json.loads(sys.argv[1])):
    print(end="\\0" if nth else "")
    try:
        cli.carry_out(line)
    except SystemExit as end:
        print(end.code)
"""
"""Asks all of them in one process, as starting one takes longer than most answers."""
CHANGING = re.compile(r'"(?:date|loaded|made|seconds|time|created|enrichment_file|folder|generation)": *[^,}\]]+')
"""Fields that differ from one time to the next."""


@dataclass(frozen=True)
class Killed:
    """A command that is killed: what stands before it in the workspace, and its arguments."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Left:
    """What one kill left: how far into the command it came, whether it came before its end, and what is wrong."""

    name: str
    share: float
    ended: bool
    wrong: str


def main() -> None:
    """Kill commands, and print what they left by command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names of commands, apart by commas")
    asked = parser.parse_args()
    chosen = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        before = make_workspace(place)
        only = [name for name in asked.only.split(",") if name]
        commands = [one for one in list_commands(place) if not only or one.name in only]
        known = describe(before)
        ends = {one.name: run_to_end(before, place, one) for one in commands}
        found = []
        for nth in range(asked.kills):
            one = commands[nth % len(commands)]
            found.append(kill_once(before, place, one, chosen.random(), known, *ends[one.name]))
            if found[-1].wrong:
                print(f"{one.name}, at {found[-1].share:.2f} of its time: {found[-1].wrong}", flush=True)
    show(found)
    sys.exit(1 if any(one.wrong for one in found) else 0)


def list_commands(place: Path) -> list[Killed]:
    """Return the commands that change a workspace, with the files that they read."""
    small = place / "small.jsonl"
    return [
        Killed("load", ("load", str(small))),
        Killed("load again", ("load", str(place / "other" / "first.jsonl"), "--replace")),
        Killed("enrich", ("enrich",)),
        Killed("annotate", ("annotate", "first", "--task", "D2KB", "--system", "random-candidate")),
        Killed("run add", ("run", "add", "mine", str(place / "mine.jsonl"), "--on", "first")),
        Killed("run add again", ("run", "add", "own", str(place / "mine.jsonl"), "--on", "first", "--replace")),
        Killed("run drop", ("run", "drop", "own")),
        Killed("drop", ("drop", "first")),
        Killed("rebuild", ("rebuild",)),
    ]


def make_workspace(place: Path) -> Path:
    """Return a workspace of the shipped corpus and of a dataset with a run, measured; and write what commands read."""
    lines = [
        {"document": f"d{n}", "text": "Ada" + " met" * (n % 9 + 1), "begin": 0, "end": 3, "entity": f"urn:e:Ada{n}"}
        for n in range(200)
    ]
    (place / "other").mkdir()
    for file, rows in (("first", lines), ("other/first", lines[:150]), ("small", lines[:50])):
        (place / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for file, every in (("own", 3), ("mine", 5)):
        rows = [{**row, "entity": "urn:e:Bob"} if n % every == 0 else row for n, row in enumerate(lines)]
        (place / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work = Workspace(place / "before")
    work.ensure_sample()
    work.annotate("sample-news", system="prior", task="D2KB")
    work.enrich()
    work.load([place / "first.jsonl"])  # which is not measured yet
    work.add_run("own", place / "own.jsonl", on="first")
    return work.folder


def remix(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return how a command ended on a workspace."""
    line = [sys.executable, "-m", "remix", *arguments, "-w", str(workspace)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)


def describe(workspace: Path) -> list[str]:
    """Return what a workspace says of itself, an answer for each of the questions."""
    lines = [[*question, "-w", str(workspace)] for question in QUESTIONS]
    run = [sys.executable, "-c", ASKING, json.dumps(lines)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode or WRONG.search(done.stderr):
        raise RuntimeError(f"it can no more be asked: {done.stderr[-500:]}")
    return [CHANGING.sub("", said) for said in done.stdout.split("\0")]


def run_to_end(before: Path, place: Path, one: Killed) -> tuple[list[str], float]:
    """Return what a workspace says after a command, and how long that takes."""
    whole = place / "whole"
    shutil.copytree(before, whole)
    begin = time.monotonic()
    done = remix(whole, *one.arguments)
    took = time.monotonic() - begin
    if done.returncode:
        raise RuntimeError(f"{one.name}: {done.stderr}")
    said = describe(whole)
    shutil.rmtree(whole)
    return said, took


def kill_once(
    before: Path, place: Path, one: Killed, share: float, known: list[str], after: list[str], took: float
) -> Left:
    """Return what a command left that was killed at a share of the time that it takes."""
    copy = place / "copy"
    shutil.copytree(before, copy)
    line = [sys.executable, "-m", "remix", *one.arguments, "-w", str(copy)]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(share * took)
    ended = process.poll() is not None
    os.killpg(process.pid, signal.SIGKILL) if not ended else None
    process.wait()
    try:
        wrong = find_wrong(copy, one, known, after)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        wrong = str(error)
    shutil.rmtree(copy)
    return Left(one.name, share, ended, wrong)


def find_wrong(copy: Path, one: Killed, known: list[str], after: list[str]) -> str:
    """Return what is wrong with a workspace whose command was killed, empty where nothing is."""
    said = describe(copy)
    if said not in (known, after):
        parts = [
            f"{question[0]} {question[1]} says neither what it did before nor what it does after: {answer[:300]}"
            for question, answer, first, last in zip(QUESTIONS, said, known, after, strict=True)
            if answer not in (first, last)
        ]
        return "; ".join(parts) or "some answers are those before the command, and others those after it"
    done = remix(copy, *one.arguments)
    gone = done.returncode and said == after  # what is dropped cannot be dropped again
    if done.returncode and not gone:
        return f"given again it ends with {done.returncode}: {done.stderr[-300:]}"
    if (again := describe(copy)) != after:
        which = [question[0] for question, answer, last in zip(QUESTIONS, again, after, strict=True) if answer != last]
        return f"given again it leads to something else: {', '.join(which)}"
    return ""


def show(found: list[Left]) -> None:
    """Print how many kills there were of each command, how many came before its end, and how many left wrong."""
    print("| command | kills | before its end | wrong |\n|---|--:|--:|--:|")
    for name in dict.fromkeys(one.name for one in found):
        own = Counter({"kills": 0, "within": 0, "wrong": 0})
        for one in found:
            if one.name == name:
                own.update({"kills": 1, "within": int(not one.ended), "wrong": int(bool(one.wrong))})
        print(f"| {name} | {own['kills']} | {own['within']} | {own['wrong']} |")


if __name__ == "__main__":
    main()
