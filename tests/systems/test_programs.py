"""Programs and functions that link: real processes that live, warn, are late and die; functions that raise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from remix.errors import UsageError
from remix.systems.asked import TextAsked
from remix.systems.asking import Patience
from remix.systems.kept import AnswerLog
from tests.systems.services import ask, told

LINKER = """
import json, os, sys, time
print("loading the model", flush=True)
starts = open(STARTS, "a"); starts.write(f"{os.getpid()}\\n"); starts.close()
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["text"]
    if "warn" in text:
        print("UserWarning: nearly out of memory")
        print(json.dumps({"progress": 0.5}))
    if "die" in text:
        print("Segmentation fault", file=sys.stderr)
        os._exit(3)
    if "sleep" in text:
        time.sleep(30)
    if "error" in text:
        print(json.dumps({"error": "no such language"}), flush=True)
        continue
    if "twice" in text:
        print(json.dumps({"id": asked["id"], "mentions": []}))
    if "wrong" in text:
        print(json.dumps({"mentions": [{"begin": "x", "end": 3, "entity": None}]}), flush=True)
        continue
    spans = asked.get("spans", [[0, 3]])
    found = [{"begin": b, "end": e, "entity": text[b:e] + " Lovelace", "confidence": "0.5"} for b, e in spans]
    print(json.dumps({"id": asked["id"], "mentions": found}), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    (tmp_path / "linker.py").write_text(LINKER.replace("STARTS", repr(str(tmp_path / "starts"))))
    return f"{sys.executable} {tmp_path / 'linker.py'}"


def starts(tmp_path: Path) -> list[int]:
    return [int(line) for line in (tmp_path / "starts").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_program_lives_through_all_texts_and_ends_with_them(command: str, tmp_path: Path) -> None:
    texts = ["Ada 0", "Ada warn", "Ada error", "Ada wrong", "Ada twice", "Ada \N{GRINNING FACE}\n\u2028 5"]
    done = ask("program", command, *texts)
    assert [*done.answers] == ["0", "1", "4", "5"]
    assert (told(done.answers["5"], texts[5]), done.answers["5"].spans[0].confidence) == (
        [("Ada", "Ada_Lovelace")],
        0.5,
    )
    assert done.answers["1"].told["warnings"] == 2
    assert done.failed["2"] == "answered an error: no such language"
    assert done.failed["3"] == "answered 'x' as an offset"
    [process] = starts(tmp_path)
    assert not is_alive(process)


def test_program_that_dies_or_is_late_fails_one_text_and_is_started_again(command: str, tmp_path: Path) -> None:
    done = ask("program", command, "Ada die", "Ada 1", timeout=60)
    assert (done.failed, [*done.answers]) == ({"0": "died with 3: Segmentation fault"}, ["1"])
    assert len(starts(tmp_path)) == 2
    late = ask("program", command, "Ada sleep", timeout=0.2, patience=Patience(parallel=1, tries=1))
    assert late.failed == {"0": "did not answer within 0.2 s"}


def test_program_is_given_the_spans_of_d2kb_and_answers_of_another_version_are_not_kept(
    command: str, tmp_path: Path
) -> None:
    log, text = AnswerLog(None, "program"), TextAsked("d", "Ada met Bob", ((8, 11),))
    done = ask("program", command, text, task="D2KB", log=log)
    assert told(done.answers["d"], text.text) == [("Bob", "Bob_Lovelace")]
    assert ask("program", command, text, task="D2KB", log=log).kept == 1
    (tmp_path / "linker.py").write_text((tmp_path / "linker.py").read_text() + "\n# another version\n")
    assert ask("program", command, text, task="D2KB", log=log).kept == 0


def test_program_that_cannot_be_started_fails_and_is_no_traceback() -> None:
    done = ask("program", "/nowhere/linker --fast", *["Ada"] * 12)
    assert done.failed["0"] == "cannot be started: No such file or directory"
    assert done.failed["11"].startswith("was not asked: the 10 documents before it failed alike")
    with pytest.raises(UsageError, match="is no command"):
        ask("program", "python 'linker", "Ada")


MODULE = """
def link(text, spans=None):
    if "boom" in text:
        raise ValueError("no such model")
    if "prose" in text:
        return "Ada is a person"
    if spans is not None:
        return [(begin, end, None) for begin, end in spans]
    return [(0, 3, "Q7259", 0.25), {"mention": "Bob", "entity": "Bob Dylan"}, (0, 3, "http://x/other")]
"""


def test_function_is_called_with_texts_and_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linking_of_a_test.py").write_text(MODULE)
    at = "linking_of_a_test:link"
    done = ask("function", at, "Ada met Bob", "boom", "prose", TextAsked("d", "", None))
    assert told(done.answers["0"], "Ada met Bob") == [("Ada", "Q7259"), ("Bob", "Bob_Dylan"), ("Ada", "other")]
    assert done.failed == {
        "1": "raised ValueError: no such model",
        "2": "answered no list of mentions but 'Ada is a person'",
    }
    found = ask("function", at, TextAsked("d", "Ada met Bob", ((8, 11),)), task="D2KB")
    assert told(found.answers["d"], "Ada met Bob") == [("Bob", None)]
    for address, said in [
        ("linking_of_a_test", "write MODULE:NAME"),
        (f"{at}er", "no function"),
        ("no.such:f", "no fun"),
    ]:
        with pytest.raises(UsageError, match=said):
            ask("function", address, "Ada")
