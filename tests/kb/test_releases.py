"""Public releases of knowledge bases from a mirror on loopback: whole, cut, changed, absent, and gone on with."""

from __future__ import annotations

import bz2
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from remix.catalog import cache_folder
from remix.errors import BadInput, Error, UnknownName, UsageError
from remix.kb.releases import Release, ReleaseFile, fetch_release, read_release, releases
from remix.workspace import Workspace
from tests.commands import run_verb

DBR, LABEL = "http://dbpedia.org/resource/", "<http://www.w3.org/2000/01/rdf-schema#label>"
NAMES = ["Rome", "Oslo", "Lima"]
FILES = {
    "labels_en.ttl.bz2": bz2.compress("".join(f'<{DBR}{one}> {LABEL} "{one}"@en .\n' for one in NAMES).encode()),
    "page_links_en.ttl.bz2": bz2.compress(
        f"<{DBR}Rome> <http://dbpedia.org/ontology/wikiPageWikiLink> <{DBR}Oslo> .\n".encode()
    ),
}
PAGE = b"<!DOCTYPE html><title>Sign in to continue</title>"


@dataclass
class Mirror:
    """What a server has: files, of which some `break` after so many bytes, once each, and whether it gives ranges."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    breaks: dict[str, list[int]] = field(default_factory=dict)
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(mirror: Mirror) -> Iterator[Mirror]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, asked = self.path.rpartition("/")[2], self.headers.get("Range", "")
            mirror.asked.append((name, asked))
            if (body := mirror.files.get(name)) is None:
                return self.send_error(404)
            begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked and mirror.ranges else 0
            if begin and begin >= len(body):
                return self.send_error(416)
            self.send_response(206 if begin else 200)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - begin))
            self.end_headers()
            cut = mirror.breaks.get(name, [])
            self.wfile.write(body[begin : cut.pop(0) if cut else None])
            return None

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    mirror.address = f"http://127.0.0.1:{server.server_port}/release/"
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REMIX_CACHE", str(tmp_path / "cache"))
    return cache_folder()


def release(address: str, *, known: bool = True, optional: str = "") -> Release:
    files = [
        ReleaseFile(
            path=name,
            gives="rows",
            bytes=len(body) if known else 0,
            sha256=hashlib.sha256(body).hexdigest() if known else "",
            optional=name == optional,
        )
        for name, body in FILES.items()
    ]
    about = {
        "title": "A",
        "source": "dbpedia",
        "date": "2016-10",
        "licence": "CC0",
        "citation": "A",
        "address": address,
    }
    return Release(name="small-2016-10", files=tuple(files), **about)


def fetch(address: str, **more: object) -> list[tuple[str, str]]:
    found = fetch_release(release(address, **more), accept_licence=True)  # type: ignore[arg-type]
    return [(one.status, one.reason) for one in found]


@pytest.mark.parametrize("known", [True, False])
def test_files_come_whole_and_are_there_the_next_time(known: bool, cache: Path) -> None:
    with serving(Mirror()) as mirror:
        first = fetch(mirror.address, known=known)
        assert [status for status, _ in first] == ["fetched", "fetched"]
        digest = hashlib.sha256(FILES["labels_en.ttl.bz2"]).hexdigest()
        told = f"nobody tells the hash of 'small-2016-10/labels_en.ttl.bz2': {digest} is kept to compare with"
        assert first[0][1] == ("" if known else told)
        mirror.asked.clear()
        assert fetch(mirror.address, known=known) == [("there", ""), ("there", "")]
        assert mirror.asked == []
        # What is changed is put aside, not taken, and comes again.
        file = cache / "releases" / "small-2016-10" / "files" / "labels_en.ttl.bz2"
        file.write_bytes(b"changed")
        assert [status for status, _ in fetch(mirror.address, known=known)] == ["fetched", "there"]
        assert file.read_bytes() == FILES["labels_en.ttl.bz2"]
        # A mirror with another file than came first, of which nobody tells the hash.
        file.unlink()
        mirror.files["labels_en.ttl.bz2"] = bz2.compress(b"other\n" * 3)
        [(status, reason), _] = fetch(mirror.address, known=known)
        assert status == "failed" and f"with the SHA-256 {digest}" in reason and not file.exists()


def test_download_that_breaks_off_goes_on_where_it_ended(cache: Path) -> None:
    with serving(Mirror(breaks={"labels_en.ttl.bz2": [20, 40]})) as mirror:
        assert [status for status, _ in fetch(mirror.address)] == ["fetched", "fetched"]
        ranges = [asked for name, asked in mirror.asked if name.startswith("labels")]
        assert ranges == ["", "bytes=20-", "bytes=40-"]


def test_half_a_file_is_kept_and_the_next_call_goes_on(cache: Path) -> None:
    part = cache / "releases" / "small-2016-10" / "labels_en.ttl.bz2.part"
    with serving(Mirror(breaks={"labels_en.ttl.bz2": [20, 21, 22]})) as mirror:
        [(status, reason), other] = fetch(mirror.address)
        assert status == "failed" and "22 bytes of it are kept, and the same command goes on" in reason
        assert other[0] == "fetched" and part.read_bytes() == FILES["labels_en.ttl.bz2"][:22]
        mirror.asked.clear()
        assert [status for status, _ in fetch(mirror.address)] == ["fetched", "there"]
        assert mirror.asked == [("labels_en.ttl.bz2", "bytes=22-")]
    assert not part.exists()


@pytest.mark.parametrize("ranges", [True, False])
def test_whole_half_of_a_killed_process_and_a_server_without_ranges_do_no_harm(ranges: bool, cache: Path) -> None:
    part = cache / "releases" / "small-2016-10" / "labels_en.ttl.bz2.part"
    part.parent.mkdir(parents=True)
    whole = FILES["labels_en.ttl.bz2"]
    for kept in (whole, whole[:10]):
        part.write_bytes(kept)
        (part.parent / "files" / "labels_en.ttl.bz2").unlink(missing_ok=True)
        with serving(Mirror(ranges=ranges)) as mirror:
            assert fetch(mirror.address)[0] == ("fetched", "")
        assert (part.parent / "files" / "labels_en.ttl.bz2").read_bytes() == whole


@pytest.mark.long
def test_other_content_is_refused_and_nothing_of_it_stays(cache: Path) -> None:
    for body, said in (
        (PAGE, "has a web page ('Sign in to continue')"),
        (FILES["labels_en.ttl.bz2"] + b"more", "has another file"),
        (bytes(len(FILES["labels_en.ttl.bz2"])), "has another file: expected is"),
    ):
        with serving(Mirror(files={**FILES, "labels_en.ttl.bz2": body})) as mirror:
            [(status, reason), _] = fetch(mirror.address)
        assert status == "failed" and said in reason, reason
        assert [file.name for file in (cache / "releases" / "small-2016-10" / "files").iterdir()] == [
            "page_links_en.ttl.bz2"
        ]


def test_file_that_is_nowhere_fails_but_an_optional_one_is_left_out() -> None:
    name = "page_links_en.ttl.bz2"
    with serving(Mirror(files={"labels_en.ttl.bz2": FILES["labels_en.ttl.bz2"]})) as mirror:
        assert [status for status, _ in fetch(mirror.address, optional=name)] == ["fetched", "absent"]
        [_, (status, reason)] = fetch(mirror.address)
    assert status == "failed" and f"{name} answered 404" in reason and "put it at " in reason


def test_mirror_may_be_a_folder_and_a_file_may_be_put_there_by_hand(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "labels_en.ttl.bz2").write_bytes(FILES["labels_en.ttl.bz2"])
    folder = cache / "releases" / "small-2016-10" / "files"
    folder.mkdir(parents=True)
    (folder / "page_links_en.ttl.bz2").write_bytes(FILES["page_links_en.ttl.bz2"])
    asked = release("https://example.org/", known=False)
    found = fetch_release(asked, accept_licence=True, mirror=tmp_path / "mirror")
    assert [one.status for one in found] == ["fetched", "there"]
    with pytest.raises(UsageError, match="the licence is not accepted"):
        (folder / "page_links_en.ttl.bz2").unlink()
        fetch_release(replace(asked, licence="another"), mirror=tmp_path / "mirror")


def test_disk_without_room_is_told_before_anything_comes() -> None:
    large = release("http://127.0.0.1:9/")
    files = (ReleaseFile(path="x.ttl", gives="rows", bytes=10**18),)
    with pytest.raises(Error, match="has room for .* and 1,000,000,000,000,000,000 are to come"):
        fetch_release(replace(large, files=files), accept_licence=True)


def test_releases_that_ship_are_sound_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    shipped = releases()
    assert {"dbpedia-2016-10", "dbpedia-2022-12"} <= shipped.keys()
    assert sum(bool(one.sha256) for one in shipped["dbpedia-2016-10"].files) == 7
    good = 'title = "a"\nsource = "dbpedia"\ndate = "2016"\nlicence = "x"\ncitation = "x"\naddress = "http://x/"\n'
    file = '[[files]]\npath = "labels_en.ttl"\ngives = "labels"\n'
    for text, said in (
        (good, "lacks its files"),
        (good.replace("title", "titel") + file, "unknown key 'titel'; did you mean 'title'"),
        (good.replace('source = "dbpedia"\n', "") + file, "lacks the key 'source'"),
        (good + file + "bytes = '5'\n", "'bytes' in files is no int"),
        (good + file + "sha256 = 'abc'\n", "sha256 of labels_en.ttl is 64 hexadecimal digits"),
        (good.replace("http://x/", "ftp://x/") + file, "address begins with http"),
        (good + file + file, "two files of one name"),
        ("title = ", "is no release"),
    ):
        (tmp_path / "a.toml").write_text(text)
        with pytest.raises(BadInput, match=said):
            read_release(tmp_path / "a.toml")


@pytest.mark.long
def test_one_command_fetches_builds_attaches_and_says_what_it_covers(tmp_path: Path) -> None:
    nif = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    nif += "@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .\n"
    nif += '<http://x/d> a nif:Context ; nif:isString "Rome, Bergen" .\n'
    for name, begin, end in (("Rome", 0, 4), ("Bergen", 6, 12)):
        nif += f"<http://x/{name}> a nif:Phrase ; nif:referenceContext <http://x/d> ; nif:beginIndex {begin} ; "
        nif += f'nif:endIndex {end} ; nif:anchorOf "{name}" ; itsrdf:taIdentRef <{DBR}{name}> .\n'
    (tmp_path / "gold.ttl").write_text(nif)
    work = Workspace(tmp_path / ".remix")
    work.load(tmp_path / "gold.ttl")
    with serving(Mirror(breaks={"page_links_en.ttl.bz2": [5, 6, 7]})) as mirror:
        asked = release(mirror.address)
        said = [f'{name} = "{getattr(asked, name)}"' for name in ("title", "source", "date", "licence", "citation")]
        said += [f'address = "{mirror.address}"']
        for one in asked.files:
            said += ["[[files]]", f'path = "{one.path}"', 'gives = "rows"', f'sha256 = "{one.sha256}"']
        (tmp_path / "small-2016-10.toml").write_text("\n".join(said))
        name = str(tmp_path / "small-2016-10.toml")
        with pytest.raises(Error, match="1 of 2 files of 'small-2016-10' are there, and nothing is built"):
            work.fetch_kb(name, accept_licence=True)
        assert work.kb is None
        found = work.fetch_kb(name, accept_licence=True)
        with pytest.raises(UnknownName, match="did you mean 'dbpedia-2016-10'"):
            work.fetch_kb("dbpedia-2016-11")
        only = work.fetch_kb(name, files_only=True)
    assert list(only) == ["files"] and found["files"]["status"].to_list() == ["there", "fetched"]
    # Rome is known, a candidate of its form, and linked from nowhere; Bergen is not known: 1/2 each.
    row = found["coverage"].row(0, named=True)
    assert (row["in_dictionary"], row["known"], row["reachable"], row["recall"]) == (0.5, 0.5, 0.5, 0.5)
    assert work.kb is not None and work.kb.name == "small-2016-10"


def test_command_names_a_release_that_is_known(tmp_path: Path) -> None:
    listed = run_verb("list", "releases", "-o", "csv", folder=tmp_path).stdout
    assert "dbpedia-2016-10" in listed and "dbpedia-2022-12" in listed
    for given, said in (
        (("fetch", "kb"), "takes one release"),
        (("fetch", "kb", "dbpedia-2016"), "did you mean 'dbpedia-2016-10'"),
        (("fetch", "kb", "dbpedia-2016-10"), "the licence is not accepted"),
        (("fetch", "sample-news", "--files-only"), "--files-only goes with"),
    ):
        done = run_verb(*given, folder=tmp_path)
        assert done.returncode == 2 and said in done.stderr, done.stderr
