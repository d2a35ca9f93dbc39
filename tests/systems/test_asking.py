"""Asking text by text: tries, pauses, failures, and kept answers, by the JSON of spans."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from remix.errors import UnknownName, UsageError
from remix.systems.asked import ADAPTERS, Asking, TextAsked, describe_asking, hash_description
from remix.systems.asking import Patience
from remix.systems.kept import AnswerLog
from remix.systems.parameters import read_parameters
from tests.systems.services import Asked, Refused, ask, serving, told

TEXT = "Ada met Bob"
ASKED = TextAsked("d", TEXT)
ADA = [[0, 3, "Ada_Lovelace"]]
SLOW = "answered 429 Too Many Requests: slow down (asks for a pause of 3600 s)"


def test_service_that_is_busy_is_asked_again_as_late_as_it_says() -> None:
    left = [Refused(429, "", {"Retry-After": "7"}), Refused(503), ADA]
    pauses: list[float] = []
    with serving(lambda _: left.pop(0)) as service:
        done = ask("spans", service.address, TEXT, patience=Patience(parallel=1, pause=pauses.append))
    # 7 s as it says, and the same again for all who ask; then 0.5 · 2 = 1 s after the second failure.
    assert [round(one) for one in pauses] in ([7, 7, 1], [7, 7, 1, 7])
    assert (told(done.answers["0"], TEXT), done.failed) == ([("Ada", "Ada_Lovelace")], {})


@pytest.mark.parametrize(
    ("said", "reason", "tries"),
    [
        (Refused(429, "slow down", {"Retry-After": "3600"}), SLOW, 1),
        (Refused(429, "slow down"), "answered 429 Too Many Requests: slow down", 4),
        (Refused(500, "<html><title>Oops</title></html>"), "answered 500 Internal Server Error: Oops", 4),
        (Refused(400, "no text"), "answered 400 Bad Request: no text", 1),
        (Refused(200, "<html><body>Welcome</body></html>"), "answered what is no JSON: Welcome", 1),
        (Refused(200, '[[0, 3, "Ada'), 'answered what is no JSON: [[0, 3, "Ada', 1),
        (Refused(200, ""), "answered what is no JSON: nothing", 1),
        (Refused(200, '[[0, 3, "Ada_Lovelace"]]', length=900), "broke off its answer", 4),
        (Refused(200, {"error": "no model"}), "answered no list of [start, length, title]", 1),
        (Refused(302, "", {"Location": "http://x.example/?key=secret"}), "redirects to http://x.example/?key=…", 1),
    ],
)
def test_what_is_no_answer_is_a_failed_document(said: Refused, reason: str, tries: int) -> None:
    with serving(lambda asked: said if "Bob" in asked.json["text"] else ADA) as service:
        log = AnswerLog(None, "spans")
        done = ask("spans", service.address, TEXT, "Ada alone", log=log)
        assert (len(service.seen), [*done.answers], [*done.failed]) == (tries + 1, ["1"], ["0"])
        assert done.failed["0"].startswith(reason)
        ask("spans", service.address, TEXT, "Ada alone", log=log)
        # What was answered is kept, what failed is not.
        assert len(service.seen) == 2 * tries + 1


def test_service_that_is_slow_is_late() -> None:
    released = threading.Event()
    with serving(lambda _: ADA if released.wait(5) else "") as service:
        done = ask("spans", service.address, TEXT, timeout=0.05, patience=Patience(parallel=1, tries=2, pause=float))
        released.set()
    assert done.failed == {"0": "did not answer within 0.05 s"}


def test_service_that_is_not_there_is_not_asked_about_every_document() -> None:
    with serving(lambda _: ADA) as service:
        address = service.address
    service.server_close()
    done = ask("spans", address, *[f"Ada {n}" for n in range(30)])
    reasons = list(done.failed.values())
    assert (len(reasons), done.answers) == (30, {})
    assert reasons[0].startswith("cannot be reached")
    assert reasons[-1].startswith("was not asked: the 10 documents before it failed alike (cannot be reached")


@pytest.mark.long
def test_service_whose_certificate_is_wrong_is_not_asked(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes a certificate, is not installed")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=elsewhere.example", "-days", "1"]
    files = [tmp_path / "key.pem", tmp_path / "certificate.pem"]
    subprocess.run([openssl, *made, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    with serving(lambda _: ADA) as service:
        service.socket = context.wrap_socket(service.socket, server_side=True)
        done = ask("spans", service.address.replace("http:", "https:"), "Ada 1", "Ada 2")
    assert done.failed["0"].startswith("has a certificate that cannot be trusted: ")
    assert "certificate" in done.failed["1"] and service.seen == []


def test_documents_that_fail_one_after_the_other_end_nothing() -> None:
    with serving(lambda asked: Refused(500) if asked.json["text"] < "x" else ADA) as service:
        done = ask("spans", service.address, *["Ada"] * 15, "x Ada")
    assert (len(done.failed), [*done.answers]) == (15, ["15"])


def test_texts_are_asked_several_at_a_time() -> None:
    together = threading.Barrier(3, timeout=30)

    def answer(_: Asked) -> Any:
        together.wait()
        return ADA

    with serving(answer) as service:
        done = ask("spans", service.address, *["Ada"] * 3, patience=Patience(parallel=3, tries=1))
    assert len(done.answers) == 3


def test_nothing_is_asked_of_a_text_without_anything_to_ask() -> None:
    with serving(lambda _: ADA) as service:
        ask("spans", service.address, "", " \n")
        ask("spans", service.address, TextAsked("d", TEXT, ()), task="D2KB")
        assert service.seen == []


def test_spans_that_nobody_asked_about_are_left_out_and_counted() -> None:
    with serving(lambda _: [[0, 3, "Ada"], [8, 3, "Bob"], [8, 30, "Bobby"]]) as service:
        done = ask("spans", service.address, TextAsked("d", TEXT, ((8, 11),)), task="D2KB")
        assert service.seen[0].json == {"text": TEXT, "spans": [{"start": 8, "length": 3}]}
    assert told(done.answers["d"], TEXT) == [("Bob", "Bob")]
    assert done.answers["d"].told == {"outside-text": 1, "not-asked": 1}


def test_system_is_asked_nowhere_unless_an_address_is_named() -> None:
    with pytest.raises(UsageError, match="asked at an address: --address http"):
        ask("spans", "", TEXT)
    with pytest.raises(UnknownName, match="did you mean 'language'"):
        ask("spans", "http://127.0.0.1:1/", TEXT, langage="de")
    with pytest.raises(UsageError, match="begins with http"):
        ask("spans", "ftp://example.org/", TEXT)


def test_credentials_of_an_address_are_sent_and_never_told(tmp_path: Path) -> None:
    with serving(lambda _: Refused(401, "no me:secret at /?key=hidden")) as service:
        address = service.address.replace("//", "//me:secret@") + "?key=hidden"
        with AnswerLog(tmp_path, "spans") as log:
            done = ask("spans", address, TEXT, log=log)
        assert service.seen[0].headers["Authorization"].startswith("Basic ")
    assert "hidden" not in done.failed["0"]
    parameters = read_parameters(ADAPTERS["spans"].parameters, {}, "spans")
    assert describe_asking(ADAPTERS["spans"], Asking(address, parameters))["address"] == f"{service.address}?key=…"


def key(address: str = "http://a/", *, text: TextAsked = ASKED, **more: Any) -> str:
    own = {"task": more.pop("task", "A2KB"), "seed": more.pop("seed", 0)}
    adapter = ADAPTERS["spans"]
    asking = Asking(address, read_parameters(adapter.parameters, more, "spans"), **own)
    return hash_description(describe_asking(adapter, asking), text)


@pytest.mark.parametrize(
    "change",
    [
        {"text": TextAsked("d", f"{TEXT}!")},
        {"text": TextAsked("d", TEXT, ((0, 3),))},
        {"address": "http://b/"},
        {"address": "http://a/?model=other"},
        {"language": "de"},
        {"revision": "2"},
        {"task": "D2KB"},
        {"seed": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_kept_answer_is_that_of_all_that_can_change_it(change: dict[str, Any]) -> None:
    assert key(text=TextAsked("other", TEXT)) == key() != key(**change)
    # Who asks changes nothing, nor does a parameter of the address stand for another.
    assert key("http://me:secret@a/") == key()
    assert key("http://a/?model=1") != key("http://a/?model=2")


def test_log_goes_on_below_half_a_line(tmp_path: Path) -> None:
    with serving(lambda _: ADA) as service:
        with AnswerLog(tmp_path, "spans") as log:
            ask("spans", service.address, "Ada 1", "Ada 2", log=log)
        [file] = tmp_path.iterdir()
        whole = file.read_bytes()
        file.write_bytes(whole[:-20])  # as a process leaves it that is killed while it writes
        with AnswerLog(tmp_path, "spans") as log:
            ask("spans", service.address, "Ada 1", "Ada 2", "Ada 3", log=log)
        with AnswerLog(tmp_path, "spans") as log:
            done = ask("spans", service.address, "Ada 1", "Ada 2", "Ada 3", log=log)
    assert (len(service.seen), done.kept) == (4, 3)
