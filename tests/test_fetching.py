"""`remix fetch` against a server on loopback: what comes is verified, what does not is told, nothing half stays."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import json
import os
import re
import resource
import shlex
import signal
import socket
import sys
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from remix import catalog, fetching, files
from remix.catalog import folder_hash
from remix.cli import fetch as verb
from remix.connections import Failure
from remix.downloads import download
from remix.errors import Error, UnknownName, UsageError
from remix.fetching import fetch
from tests.commands import run_verb
from tests.processes import PythonProcess

NIF = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
ROME = (
    NIF + '<http://x/d> nif:isString "Rome is old" .\n'
    '<http://x/a> nif:referenceContext <http://x/d> ; nif:anchorOf "Rome" ; nif:beginIndex 0 ; nif:endIndex 4 .\n'
).encode()


class Odd(BaseHTTPRequestHandler):
    """Answers `/file/NAME` with a file, and other first parts of the path in the ways in which downloads go wrong."""

    contents: dict[str, bytes]
    asked: Counter[str]
    released: threading.Event

    def do_GET(self) -> None:
        _, way, name = self.path.split("/", 2)
        self.asked[self.path] += 1
        getattr(self, f"answer_{way}", lambda _: self.send_error(404))(self.contents.get(name))

    def answer(self, body: bytes, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def answer_file(self, body: bytes | None) -> None:
        self.send_error(404) if body is None else self.answer(body, len(body))

    def answer_cut(self, body: bytes) -> None:
        self.answer(body[: len(body) // 2], len(body))

    def answer_page(self, _: bytes | None) -> None:
        page = b"<!DOCTYPE html><html><title>Sign in to continue</title></html>"
        self.answer(page, len(page))

    def answer_busy(self, body: bytes) -> None:
        self.send_error(503, "Busy") if self.asked[self.path] == 1 else self.answer_file(body)

    def answer_silent(self, body: bytes) -> None:
        self.answer(body[:5], len(body))
        self.wfile.flush()
        self.released.wait(60)

    def answer_endless(self, body: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        self.pour(b"<!DOCTYPE html><title>Sign in</title>" + b" " * 65_000, 0.0)

    def answer_trickle(self, body: bytes) -> None:
        self.send_response(200)
        self.end_headers()
        self.pour(b"x", 0.02)

    def pour(self, block: bytes, pause: float) -> None:
        with suppress(OSError):  # the other side has gone
            while not self.released.wait(pause):
                self.asked["bytes"] += self.wfile.write(block)

    def answer_away(self, _: bytes) -> None:
        self.lead(f"http://localhost:{self.server.server_address[1]}{self.path.replace('away', 'file')}")

    def answer_same(self, _: bytes) -> None:
        self.lead(self.path.replace("same", "file"))

    def answer_disk(self, _: bytes) -> None:
        self.lead("file:///etc/hostname")

    def lead(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def odd() -> Iterator[tuple[type[Odd], str]]:
    handler = type("Handler", (Odd,), {"contents": {}, "asked": Counter(), "released": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield handler, f"http://127.0.0.1:{server.server_port}"
        handler.released.set()
        server.shutdown()


Knowing = Callable[..., None]


@pytest.fixture
def know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: tuple[type[Odd], str]) -> Knowing:
    """Add datasets to the catalogue, as another distribution does: `know(rome=ROME)` is at `/file/rome.ttl`."""
    site, name = tmp_path / "site", f"known_{tmp_path.name.replace('-', '_')}"
    about, folder = site / "known-1.0.dist-info", site / name
    about.mkdir(parents=True)
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: known\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[remix.datasets]\nknown = {name}\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetching, "RETRIES", 0)
    importlib.invalidate_caches()

    def add(way: str = "file", more: str = "", **contents: bytes) -> None:
        for stem, content in contents.items():
            odd[0].contents[f"{stem}.ttl"] = content
            known = f'url = "{odd[1]}/{way}/{stem}.ttl"\nsha256 = "{hashlib.sha256(content).hexdigest()}"\n'
            head = f'title = "T"\nlicence = "CC0-1.0"\ncitation = "C"\nformat = "nif"\nbytes = {len(content)}\n'
            (folder / f"{stem}.toml").write_text(head + known + more, encoding="utf-8")

    return add


def kept(tmp_path: Path) -> list[str]:
    """Return what is in the cache beside locks and accepted licences."""
    cache = tmp_path / "cache"
    found = [path.relative_to(cache) for path in cache.rglob("*") if path.is_file() and path.name != "lock"]
    return sorted(path.name for path in found if path.parts[0] != "licences")


def failed(name: str = "rome", **choices: object) -> str:
    [outcome] = fetch([name], accept_licence=True, **choices)  # type: ignore[arg-type]
    assert outcome.status == "failed"
    return outcome.reason


def test_fetched_once_verified_and_loaded_in_any_workspace(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME)
    outcomes = [fetch(["rome"], accept_licence=True)[0] for _ in range(2)]
    assert [one.status for one in outcomes] == ["fetched", "there"]
    assert odd[0].asked == {"/file/rome.ttl": 1}
    for workspace in ("a", "b"):
        done = run_verb("load", "rome", "-o", "json", folder=tmp_path / "site" if workspace == "a" else tmp_path)
        assert [(row["dataset"], row["status"]) for row in json.loads(done.stdout)] == [("rome", "loaded")]


def test_what_is_there_and_was_changed_is_fetched_again(tmp_path: Path, know: Knowing) -> None:
    know(rome=ROME)
    [first] = fetch(["rome"], accept_licence=True)
    assert first.place is not None
    first.place.write_bytes(b"changed")
    assert fetch(["rome"])[0].status == "fetched"
    assert first.place.read_bytes() == ROME


def test_load_of_what_is_not_fetched_names_the_command(tmp_path: Path, know: Knowing) -> None:
    know(rome=ROME)
    done = run_verb("load", "rome", folder=tmp_path)
    assert done.returncode == 1
    assert "'rome' is known and not fetched: `remix fetch rome`" in done.stderr


def test_changed_upstream_says_what_was_expected_and_what_came_and_keeps_nothing(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME)
    changed = odd[0].contents["rome.ttl"] = ROME + b"\n"
    reason = failed()
    assert f"expected were {len(ROME)} bytes with the SHA-256 {hashlib.sha256(ROME).hexdigest()}" in reason
    assert f"there came {len(ROME) + 1} bytes with {hashlib.sha256(changed).hexdigest()}" in reason
    assert kept(tmp_path) == []
    assert run_verb("load", "rome", folder=tmp_path).returncode == 1


def test_cut_off_is_told_and_keeps_nothing(tmp_path: Path, know: Knowing) -> None:
    know("cut", rome=ROME)
    reason = failed()
    assert "/cut/rome.ttl broke off its answer" in reason
    assert f"put it at {catalog.find('rome')[0].place}" in reason
    assert kept(tmp_path) == []


@pytest.mark.long
def test_what_failed_for_a_moment_is_tried_again(
    know: Knowing, odd: tuple[type[Odd], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "RETRIES", 1)
    know("busy", rome=ROME)
    assert fetch(["rome"], accept_licence=True)[0].status == "fetched"
    assert odd[0].asked == {"/busy/rome.ttl": 2}


@pytest.mark.parametrize("member", [False, True])
def test_more_than_is_known_is_not_taken(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str], member: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    know("endless", rome=ROME)
    if member:  # of an archive nobody knows how large it is
        monkeypatch.setattr(fetching, "LARGEST", 1_000_000)
        known_archive(know, ROME, "0" * 64, way="endless")
    size = "1,000,000" if member else f"{len(ROME):,}"
    assert f"has a web page ('Sign in'): expected were {size} bytes, there came more" in failed()
    assert odd[0].asked["bytes"] < 100_000_000 and kept(tmp_path) == []


def test_download_that_trickles_is_given_up_and_keeps_nothing(
    tmp_path: Path, know: Knowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT", 0.4)
    know("trickle", rome=ROME)
    assert re.search(r"gave [0-9]+ bytes in .* s, which is too slow", failed())
    assert kept(tmp_path) == []


def test_mirror_that_answers_with_a_page_is_told_as_such(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME)
    assert "has a web page ('Sign in to continue')" in failed(mirror=f"{odd[1]}/page")
    assert kept(tmp_path) == []


@pytest.mark.parametrize("as_cache", [True, False])
@pytest.mark.parametrize("folder", [True, False])
def test_mirror_is_a_folder_or_an_address_with_the_files(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str], as_cache: bool, folder: bool
) -> None:
    know("gone", rome=ROME)
    name = f"{hashlib.sha256(ROME).hexdigest()[:12]}/rome.ttl" if as_cache else "rome.ttl"
    odd[0].contents = {name: ROME}
    (tmp_path / "mirror" / name).parent.mkdir(parents=True)
    (tmp_path / "mirror" / name).write_bytes(ROME)
    assert "404" in failed()
    mirror = tmp_path / "mirror" if folder else f"{odd[1]}/file/"
    assert fetch(["rome"], mirror=mirror)[0].status == "fetched"


def test_offline_says_where_the_file_is_put_by_hand_and_there_it_is_taken(tmp_path: Path, know: Knowing) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    know(rome=ROME)
    reason = failed(mirror=f"http://127.0.0.1:{port}")
    assert "cannot be reached" in reason
    place = Path(reason.rpartition("put it at ")[2])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(ROME)
    assert fetch(["rome"])[0].status == "there"
    assert run_verb("load", "rome", "--dry-run", folder=tmp_path).returncode == 0


def test_licence_not_accepted_is_refused_before_anything_is_fetched(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME, oslo=ROME + b"#")
    with pytest.raises(UsageError, match=r"rome: CC0-1.0; --accept-licence accepts it"):
        fetch(["rome"])
    done = run_verb("fetch", "rome", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    asked: list[str] = []
    with pytest.raises(UsageError, match="oslo: CC0-1.0"):
        fetch(["rome", "oslo"], accept_licence=lambda text: bool(asked.append(text)) or "rome" in text)
    assert asked == ["rome: CC0-1.0", "oslo: CC0-1.0"]
    assert not odd[0].asked and kept(tmp_path) == []


def test_licence_is_asked_for_once(tmp_path: Path, know: Knowing) -> None:
    know(rome=ROME)
    assert run_verb("fetch", "rome", "--accept-licence", folder=tmp_path).returncode == 0
    place = catalog.find("rome")[0].place
    place.unlink()
    done = run_verb("fetch", "rome", folder=tmp_path)
    assert (done.returncode, place.exists(), "licence" in done.stderr) == (0, True, False)


def test_licence_is_asked_for_at_the_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("no\nyes\n"))
    assert [verb._ask("rome: CC0-1.0") for _ in range(2)] == [False, True]
    assert "licence of rome: CC0-1.0" in capsys.readouterr().err


def test_disk_that_fills_up_is_told_and_keeps_nothing(tmp_path: Path, know: Knowing) -> None:
    know(rome=b"#" * 3_000_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        reason = failed()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert reason == f"{tmp_path / 'cache'} cannot be written: File too large; REMIX_CACHE=DIR names another folder"
    assert kept(tmp_path) == []


@pytest.mark.long
def test_interruption_ends_at_once_and_leaves_nothing(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know("silent", rome=ROME)
    paths = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    command = ["-m", "remix", "fetch", "rome", "--accept-licence"]
    with PythonProcess(command, stderr=-1, text=True, env={**os.environ, "PYTHONPATH": paths}) as process:
        for _ in range(600):
            if odd[0].asked and kept(tmp_path):
                break
            threading.Event().wait(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert errors.splitlines()[-1].startswith("remix: interrupted") and "Traceback" not in errors
    assert kept(tmp_path) == []


def test_redirects_lead_to_the_same_host_and_into_no_other_of_this_network(
    know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know("away", rome=ROME)
    assert "a host of this network, which is not followed" in failed()
    know("disk", oslo=ROME)
    assert "'file:///etc/hostname' is not allowed" in failed("oslo")
    know("same", bern=ROME)
    assert fetch(["bern"], accept_licence=True)[0].status == "fetched"
    with pytest.raises(Failure, match="404"):
        list(download(f"{odd[1]}/file/none", timeout=5))


def test_several_are_fetched_at_once_and_one_that_fails_stops_no_other(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME, bern=ROME + b"#1\n", lima=ROME + b"#2\n")
    know("gone", oslo=ROME + b"#3\n")
    done = run_verb("fetch", "lima", "oslo", "rome", "bern", "--accept-licence", "-o", "json", folder=tmp_path)
    rows = [(row["dataset"], row["status"]) for row in json.loads(done.stdout)]
    assert rows == [("lima", "fetched"), ("oslo", "failed"), ("rome", "fetched"), ("bern", "fetched")]
    assert done.returncode == 1 and "'oslo' cannot be fetched" in done.stderr


def packed(kind: str, members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


BRAT = {"1.txt": b"Rome is old", "1.ann": b"T1\tCity 0 4\tRome\n"}


def known_archive(know: Knowing, content: bytes, digest: str, member: str = "data/dev", way: str = "file") -> None:
    """Make the dataset `rome` a member of an archive."""
    know(way, rome=content)
    file = catalog.resources.files("datasets", ".toml")["rome"]
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("sha256", "format"))]
    lines += [f'sha256 = "{digest}"', f'member = "{member}"', 'beside = ["texts"]', 'format = "brat"']
    file.write_text("\n".join(lines))


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_folder_of_an_archive_is_taken_out_with_what_it_needs_and_verified(
    tmp_path: Path, know: Knowing, kind: str
) -> None:
    for name, content in BRAT.items():
        (tmp_path / "dev" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "dev" / name).write_bytes(content)
    members = {f"repository-1a2b/data/dev/{name}": content for name, content in BRAT.items()}
    members |= {"repository-1a2b/texts/a.txt": b"a", "repository-1a2b/else": b"b"}
    known_archive(know, packed(kind, members), folder_hash(tmp_path / "dev"))
    [done] = fetch(["rome"], accept_licence=True)
    assert (done.status, done.reason) == ("fetched", "")
    assert kept(tmp_path) == ["1.ann", "1.txt", "a.txt", "rome.ttl"]
    loaded = run_verb("load", "rome", "--dry-run", "-o", "json", folder=tmp_path)
    assert [(row["format"], row["documents"]) for row in json.loads(loaded.stdout)] == [("brat", 1)]


def test_archive_that_has_another_member_lies_outside_or_grows_is_refused(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known_archive(know, packed("tar.gz", {"x/data/dev": b"other"}), "0" * 64)
    assert "data/dev in it is not 'rome': expected is the SHA-256 0000" in failed()
    odd[0].contents["rome.ttl"] = packed("tar.gz", {"../../data/dev": b"other"})
    assert "lies outside the archive" in failed()
    odd[0].contents["rome.ttl"] = packed("tar.gz", {"x/data/dev": b"other"})[:-20]
    assert "damaged" in failed()
    monkeypatch.setattr(files, "FREE", 1000)
    odd[0].contents["rome.ttl"] = packed("tar.gz", {"x/else": b"0" * 5_000_000})
    assert "compressed bytes become more than" in failed()
    assert kept(tmp_path) == []


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["x/data/dev", "x/data/dev/1.txt"], "both as a file and as a folder"),
        (["x/data/dev/1.txt", "x/data/dev"], "both as a file and as a folder"),
        (["x/data/dev/\udcff.txt"], "a name that no file can have"),
        ([f"x/data/dev/{'n' * 300}"], "a name that no file can have"),
        ([f"x/data/dev/{'o/' * 1500}p"], "a name that no file can have"),
        ([f"x/data/dev/{'/'.join(['n' * 200] * 30)}"], "a name that no file can have"),
    ],
)
def test_archive_that_cannot_be_unpacked_is_refused_removed_and_fetched_again(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str], kind: str, names: list[str], reason: str
) -> None:
    if kind == "zip" and "\udcff" in names[0]:
        pytest.skip("a zip has no such name")
    for name, content in BRAT.items():
        (tmp_path / "dev" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "dev" / name).write_bytes(content)
    known_archive(know, packed(kind, dict.fromkeys(names, b"x")), folder_hash(tmp_path / "dev"))
    said = failed()
    assert reason in said and "it is removed, and fetched again the next time" in said and "\n" not in said
    assert kept(tmp_path) == []
    odd[0].contents["rome.ttl"] = packed(kind, {f"x/data/dev/{name}": content for name, content in BRAT.items()})
    assert fetch(["rome"])[0].status == "fetched"


def test_file_that_says_it_is_larger_than_its_archive_is_refused(tmp_path: Path, know: Knowing) -> None:
    """A sparse file of tar has as many zeros as it says."""
    info = tarfile.TarInfo("x/data/dev")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (1 << 32)  # the size that it has in the end
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    known_archive(know, bytes(header) + bytes(1024), "0" * 64)
    assert "the member x/data/dev says that it has 4,294,967,296 bytes" in failed()
    assert kept(tmp_path) == []


def test_counts_that_differ_from_the_entry_are_told_by_load_and_check(tmp_path: Path, know: Knowing) -> None:
    know(more="counts = { documents = 1, annotations = 7 }\n", rome=ROME)
    fetch(["rome"], accept_licence=True)
    for done in (run_verb("load", "rome", "-o", "json", folder=tmp_path), run_verb("check", "rome", folder=tmp_path)):
        assert "1 annotations instead of 7" in done.stdout
        assert "documents instead" not in done.stdout
    told = run_verb("load", "rome", folder=tmp_path).stderr
    assert "the catalogue knows 'rome' otherwise: 1 annotations instead of 7" in told


def test_what_needs_a_permission_is_fetched_by_its_own_name_and_what_is_by_hand_says_how(
    tmp_path: Path, know: Knowing, odd: tuple[type[Odd], str]
) -> None:
    know(rome=ROME)
    file = catalog.resources.files("datasets", ".toml")["rome"]
    located = f'url = "{odd[1]}/file/rome.ttl"\nsha256 = "{hashlib.sha256(ROME).hexdigest()}"\n'
    file.write_text(
        'title = "T"\nlicence = "CC0-1.0"\ncitation = "C"\n'
        f'[splits.free]\n{located}\n[splits.bound]\naccess = "the LDC\'s agreement"\n{located}'
        '[splits.far]\nobtain = "Ask the authors. Then: remix load FILE --format nif"\n'
    )
    done = run_verb("fetch", "rome", "--accept-licence", "-o", "json", folder=tmp_path)
    assert [row["status"] for row in json.loads(done.stdout)] == ["fetched", "restricted", "by hand"]
    assert done.returncode == 0
    assert "'rome/bound' needs a permission (the LDC's agreement): `remix fetch rome/bound`" in done.stderr
    assert (
        "'rome/far' is not handed out in one file: Ask the authors. Then: remix load FILE --format nif" in done.stderr
    )
    assert run_verb("fetch", "rome/far", folder=tmp_path).returncode == 1
    with pytest.raises(UsageError, match="needs: the LDC's agreement"):
        catalog.find("rome/bound")[0].place.unlink()
        fetch(["rome/bound"])
    [row] = json.loads(run_verb("fetch", "rome-bound", "--accept-licence", "-o", "json", folder=tmp_path).stdout)
    assert row["status"] == "fetched"
    names = [row["dataset"] for row in json.loads(run_verb("load", "rome", "-o", "json", folder=tmp_path).stdout)]
    assert names == ["rome-free", "rome-bound"]


def test_what_was_fetched_is_measured_and_converted_without_loading(tmp_path: Path, know: Knowing) -> None:
    know(rome=ROME)
    assert "'rome' is known and not fetched" in run_verb("stats", "rome", folder=tmp_path).stderr
    fetch(["rome"], accept_licence=True)
    done = run_verb("stats", "rome", "--measure", "density", "-o", "json", folder=tmp_path)
    assert {row["dataset"] for row in json.loads(done.stdout)} == {"rome"}
    assert run_verb("convert", "rome", "rome.jsonl", "--to", "jsonl", folder=tmp_path).returncode == 0
    assert "Rome is old" in (tmp_path / "rome.jsonl").read_text()


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'zelda/shadowlinks-top'"):
        fetch(["zelda/shadowlink-top"])


def test_what_ships_is_not_fetched() -> None:
    assert [(one.name, one.status) for one in fetch(["sample-news"])] == [("sample-news", "ships")]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, know: Knowing, monkeypatch: pytest.MonkeyPatch) -> None:
    know(rome=ROME)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(Error, match="cannot be written"):
        fetch(["rome"], accept_licence=True)


def test_real_files_are_those_that_the_catalogue_knows(
    tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch, odd: tuple[type[Odd], str]
) -> None:
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    there = {
        "zelda/reddit-posts": "modern/zelda/jsonl/test_reddit-posts.jsonl",
        "zelda/shadowlinks-top": "modern/zelda/jsonl/test_shadowlinks-top.jsonl.gz",
        "n3/rss-500": "nif/n3/RSS-500.ttl.gz",
        "hipe2022/ajmc-test-de": "hipe2022/gold/HIPE-2022-v2.1-ajmc-test-de.tsv.gz",
    }
    for name, path in there.items():
        content = (real_data / path).read_bytes()
        served = catalog.find(name)[0].url.rpartition("/")[2]
        odd[0].contents[served] = gzip.decompress(content) if path.endswith(".gz") else content
    found = fetch(there, accept_licence=True, mirror=f"{odd[1]}/file")
    assert {one.name: one.status for one in found} == dict.fromkeys(there, "fetched")


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("page", ["README.md", "docs/datasets.md"])
def test_commands_from_fetching_to_publishing_run_as_the_pages_print_them(
    page: str, tmp_path: Path, know: Knowing
) -> None:
    """Of a page the names of datasets alone are others, and where the files come from: a folder with ours."""
    files = {"wiki": ROME, "top": ROME.replace(b"Rome", b"Oslo").replace(b"http://x/", b"http://y/")}
    know("gone", **files)
    mirror, work = tmp_path / "mirror", tmp_path / "work"
    mirror.mkdir()
    work.mkdir()
    for name, content in files.items():
        (mirror / f"{name}.ttl").write_bytes(content)
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    [block] = [one for one in re.findall(r"```(?:sh|text)\n(.*?)```", text, re.DOTALL) if "remix fetch " in one][:1]
    verbs = []
    for line in block.splitlines():
        ours = line.replace("zelda/wned-wiki", "wiki").replace("zelda/shadowlinks-top", "top")
        command, verb, *options = shlex.split(ours, comments=True)
        verbs.append(verb)
        options += ["--mirror", str(mirror), "--accept-licence"] if verb == "fetch" else []
        if verb != "serve":  # which goes on until it is ended
            done = run_verb(verb, *options, folder=work)
            assert (command, done.returncode) == ("remix", 0), f"{line}\n{done.stderr}"
    assert [one for one in verbs if one in PATH] == PATH
    assert (work / "published" / "short.ttl").is_file() and "zelda" in block


PATH = ["fetch", "check", "load", "stats", "build", "publish"]
