"""`remix annotate` with systems that are asked text by text: what is registered, shown, and asked again."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from pathlib import Path

import pytest

from remix.errors import UnknownName, UsageError
from remix.runs.register import list_runs, load_run
from remix.systems.record import read_record
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.processes import PythonProcess
from tests.systems.services import Asked, Refused, Said, serving

GOLD = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
"""
NAMES = ["Ada", "Alan", "Grace", "Edsger", "Barbara"]


def gold() -> str:
    """Five documents, `<Name> spoke.`, each with one mention, which is linked to `dbr:<Name>`."""
    said = GOLD
    for name in NAMES:
        text, place = f"{name} spoke.", f"http://example.org/{name}#char="
        said += (
            f'<{place}0,{len(text)}> a nif:Context ; nif:isString "{text}" .\n'
            f"<{place}0,{len(name)}> a nif:Phrase ; nif:referenceContext <{place}0,{len(text)}> ; "
            f'nif:beginIndex {0} ; nif:endIndex {len(name)} ; nif:anchorOf "{name}" ; '
            f"itsrdf:taIdentRef <http://dbpedia.org/resource/{name}> .\n"
        )
    return said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gold.ttl").write_text(gold())
    Workspace(tmp_path / ".remix").load([tmp_path / "gold.ttl"])
    return tmp_path


def link(asked: Asked) -> Said:
    name = asked.json["text"].split()[0]
    return [[0, len(name), name]]


def annotate(folder: Path, address: str, *more: str) -> str:
    done = run_verb("annotate", "gold", "--system", "spans", "--address", address, "-o", "csv", *more, folder=folder)
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stderr


@pytest.mark.long
def test_failed_documents_are_counted_beside_each_score_and_asked_again_alone(folder: Path) -> None:
    broken = {"Alan", "Grace"}

    def answer(asked: Asked) -> Said | Refused:
        return Refused(400) if asked.json["text"].split()[0] in broken else link(asked)

    with serving(answer) as service:
        # system, dataset, task, documents, answers, linked, nil, failed, seed
        assert annotate(folder, service.address, "--name", "mine") == "mine,gold,A2KB,3,3,3,0,2,0"
        rows = Workspace(folder / ".remix").evaluate(["gold"], run=["mine"], task=["A2KB"]).data("json")
        # Three of five are found, nothing wrong: P = 3/3, R = 3/5.
        assert {*rows.filter(average="micro", column="").select("tp", "fn", "precision", "failed").rows()} == {
            (3, 2, 1.0, 2)
        }
        # A file of the same documents, as a remix is, calls them otherwise.
        (folder / "other.ttl").write_text(gold())
        in_file = (
            Workspace(folder / ".remix").evaluate([str(folder / "other.ttl")], run=["mine"], task=["A2KB"]).data("json")
        )
        assert {*in_file["failed"]} == {2}
        shown = run_verb("evaluate", "gold", "--run", "mine", folder=folder).stdout
        assert "failed" in shown.splitlines()[0] + shown.splitlines()[1] + shown.splitlines()[2]
        assert "failed: mine on 2 documents;" in shown

        broken.remove("Alan")
        service.seen.clear()
        assert annotate(folder, service.address, "--name", "mine", "--retry-failed") == "mine,gold,A2KB,4,4,4,0,1,0"
        assert sorted(one.json["text"] for one in service.seen) == ["Alan spoke.", "Grace spoke."]
        refused = annotate(folder, service.address, "--name", "mine", "--retry-failed", "--parameter", "language=de")
        assert "was made otherwise" in refused

        # Without --retry-failed all is asked that has no kept answer: the one that failed.
        broken.clear()
        service.seen.clear()
        assert annotate(folder, service.address, "--name", "mine") == "mine,gold,A2KB,5,5,5,0,0,0"
        assert [one.json["text"] for one in service.seen] == ["Grace spoke."]
    record = read_record(folder / ".remix" / "runs" / "mine--gold--a2kb")
    assert record is not None and (record.kept, record.failed, record.system) == (4, {}, "spans")


def test_failed_documents_of_a_file_of_answers_are_counted_too(folder: Path) -> None:
    lines: list[dict[str, object]] = [
        {"document": name, "text": f"{name} spoke.", "answers": [{"mention": name, "entity": f"dbr:{name}"}]}
        for name in NAMES[1:]
    ]
    lines.append({"document": "Ada", "text": "Ada spoke.", "error": "late"})
    (folder / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = (
        Workspace(folder / ".remix").evaluate(["gold"], run=[f"m={folder / 'run.jsonl'}"], task=["A2KB"]).data("json")
    )
    assert {*rows.filter(average="micro", column="").select("tp", "fn", "failed").rows()} == {(4, 1, 1)}


def test_run_of_which_every_document_fails_is_none(folder: Path) -> None:
    with serving(lambda _: "<html>Welcome</html>") as service:
        said = annotate(folder, service.address)
    assert f"spans at {service.address} failed on all 5 documents" in said
    assert list_runs(folder / ".remix" / "runs") == []


@pytest.mark.parametrize("after", range(5))
def test_annotation_that_is_interrupted_goes_on(after: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from remix.systems.kept import AnswerLog

    keep, count = AnswerLog.keep, itertools.count()

    def interrupted(*arguments: object) -> None:
        if next(count) == after:
            raise KeyboardInterrupt
        keep(*arguments)  # type: ignore[arg-type]

    with serving(link) as service:
        monkeypatch.setattr(AnswerLog, "keep", interrupted)
        assert "interrupted" in annotate(folder, service.address, "--parallel", "1").lower()
        assert list_runs(folder / ".remix" / "runs") == []
        monkeypatch.undo()
        assert annotate(folder, service.address) == "spans,gold,A2KB,5,5,5,0,0,0"
    record = read_record(folder / ".remix" / "runs" / "spans--gold--a2kb")
    assert record is not None and record.kept == after


@pytest.mark.long
def test_annotation_that_is_killed_goes_on_with_the_same_answers(folder: Path, tmp_path: Path) -> None:
    released, limit = threading.Event(), random.Random().randrange(1, 5)

    def answer(asked: Asked) -> Said:
        if len(service.seen) > limit:
            released.wait(60)
        return link(asked)

    with serving(answer) as service:
        line = ["annotate", "gold", "--system", "spans", "--address", service.address, "--parallel", "1"]
        log = folder / ".remix" / "answers" / "spans.jsonl"
        with PythonProcess(["-m", "remix", *line], cwd=folder) as process:
            while not (log.exists() and log.read_bytes().count(b"\n") == limit):
                time.sleep(0.01)
            process.kill()
        released.set()
        assert annotate(folder, service.address) == "spans,gold,A2KB,5,5,5,0,0,0"
    runs = folder / ".remix" / "runs"
    record = read_record(runs / "spans--gold--a2kb")
    assert record is not None and record.kept == limit
    with serving(link) as service:
        assert annotate(folder, service.address, "--name", "whole") == "whole,gold,A2KB,5,5,5,0,0,0"
    gone_on, whole = (load_run(runs, name, "gold")[1] for name in ("spans", "whole"))
    assert gone_on.annotations.equals(whole.annotations) and gone_on.links.equals(whole.links)


def test_service_of_ones_own_is_declared_in_a_file(folder: Path) -> None:
    (folder / "mine.toml").write_text(
        'name = "mine"\nsummary = "x"\naddress = "http://x/"\n[request]\njson = { text = "{text}" }\n'
        '[answer]\nform = "list[].form"\nentity = "list[].link"\n'
    )
    with serving(lambda asked: [{"form": asked.json["text"].split()[0], "link": "Q1"}]) as service:
        line = ["annotate", "gold", "--system", "mine.toml", "--address", service.address, "-o", "csv"]
        done = run_verb(*line, folder=folder)
    assert done.stdout.splitlines()[-1] == "mine,gold,A2KB,5,5,5,0,0,0", done.stderr


def test_spans_of_gold_are_given_in_d2kb(folder: Path) -> None:
    with serving(link) as service:
        assert annotate(folder, service.address, "--task", "D2KB") == "spans,gold,D2KB,5,5,5,0,0,0"
        assert all(one.json["spans"] == [{"start": 0, "length": len(one.json["text"]) - 7}] for one in service.seen)


def test_options_that_a_system_does_not_take_are_refused(folder: Path) -> None:
    for more, said in [
        (["--system", "prior", "--address", "http://x/"], "takes no --address"),
        (["--system", "prior", "--retry-failed"], "takes no --retry-failed"),
        (["--system", "prior", "--parameter", "a=b"], "has no parameters"),
        (["--system", "spans"], "--address http"),
        (["--system", "spans", "--address", "http://x/", "--candidates", "gold.ttl"], "no parameter of the system"),
        (["--system", "spins"], "did you mean 'spans'"),
        (["--system", "prior", "--system", "spans", "--name", "x"], "name one --system"),
    ]:
        done = run_verb("annotate", "gold", *more, folder=folder)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.long
def test_function_in_memory_is_a_system_and_asked_again_unless_it_has_a_revision(folder: Path) -> None:
    work, asked = Workspace(folder / ".remix"), []

    def link(text: str, spans: list[tuple[int, int]] | None = None) -> list[dict[str, object]]:
        asked.append((text, spans))
        if text.startswith("Grace"):
            raise ValueError("no such model")
        name = text.split()[0]
        return [{"begin": 0, "end": len(name), "entity": f"http://dbpedia.org/resource/{name}"}]

    row = work.annotate("gold", link).row(0, named=True)
    assert (row["system"], row["answers"], row["failed"]) == ("link", 4, 1)
    record = read_record(folder / ".remix" / "runs" / "link--gold--a2kb")
    assert record is not None and record.address.endswith(
        ":test_function_in_memory_is_a_system_and_asked_again_unless_it_has_a_revision.<locals>.link"
    )
    work.annotate("gold", link, task="D2KB", name="given")
    assert asked[5:] == [(f"{name} spoke.", [(0, len(name))]) for name in NAMES]

    for expected in (5, 1):  # what failed is asked again
        asked.clear()
        work.annotate("gold", link, name="kept", parameter={"revision": "1"})
        assert len(asked) == expected
    asked.clear()
    work.annotate("gold", link)
    assert len(asked) == 5
    with pytest.raises(UsageError, match="is called, and asked at no address"):
        work.annotate("gold", link, address="http://localhost")
    with pytest.raises(UnknownName, match="lonk"):
        work.annotate("gold", ["lonk"])
