"""Known datasets are found by name or URL, fetched once, and verified."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from remix import catalog
from remix.errors import BadInput, Error, UnknownName


def entry(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    head = 'title = "T"\nlicence = "CC0-1.0"\ncitation = "C"\n'
    (folder / f"{name}.toml").write_text(head + text, encoding="utf-8")
    return folder


def known(tmp_path: Path, served: tuple[Path, str], digest: str = "") -> Path:
    (served[0] / "a.ttl").write_bytes(b"<http://x/a> <http://x/p> 1 .")
    digest = digest or hashlib.sha256(b"<http://x/a> <http://x/p> 1 .").hexdigest()
    return entry(tmp_path / "known", "alpha", f'url = "{served[1]}/a.ttl"\nsha256 = "{digest}"\n')


def test_local_when_an_entry_is_named_by_name_or_url_then_fetched_once(
    tmp_path: Path, served: tuple[Path, str]
) -> None:
    folder = known(tmp_path, served)
    path, name = catalog.local("alpha", tmp_path / "cache", folder)
    assert (Path(path).read_bytes(), name) == (b"<http://x/a> <http://x/p> 1 .", "alpha")
    (served[0] / "a.ttl").unlink()
    assert catalog.local(f"{served[1]}/a.ttl", tmp_path / "cache", folder) == (path, "alpha")


def test_local_when_the_hash_differs_then_refused_and_nothing_kept(tmp_path: Path, served: tuple[Path, str]) -> None:
    folder = known(tmp_path, served, digest="0" * 64)
    with pytest.raises(Error, match=r"a\.ttl is not what the catalogue knows as 'alpha': its SHA-256"):
        catalog.local("alpha", tmp_path / "cache", folder)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_local_when_it_cannot_be_fetched_then_one_line_and_nothing_kept(
    tmp_path: Path, served: tuple[Path, str]
) -> None:
    folder = known(tmp_path, served)
    (served[0] / "a.ttl").unlink()
    with pytest.raises(Error, match=r"a\.ttl cannot be fetched \(.*\); try again"):
        catalog.local("alpha", tmp_path / "cache", folder)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_local_when_a_url_is_unknown_then_it_is_not_fetched(tmp_path: Path, served: tuple[Path, str]) -> None:
    folder = known(tmp_path, served)
    with pytest.raises(UnknownName, match="no dataset in the catalogue named"):
        catalog.local(f"{served[1]}/b.ttl", tmp_path / "cache", folder)


def test_local_when_a_file_exists_then_it_goes_before_an_entry_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = entry(tmp_path / "known", "alpha", 'path = "corpus/alpha.ttl"\n')
    monkeypatch.chdir(tmp_path)
    assert catalog.local("alpha", tmp_path, folder) == (str(folder / "corpus" / "alpha.ttl"), "alpha")
    (tmp_path / "alpha").write_text("x")
    assert catalog.local("alpha", tmp_path, folder) == ("alpha", None)
    assert catalog.local("-", tmp_path, folder) == ("-", None)
    assert catalog.local("none.ttl", tmp_path, folder) == ("none.ttl", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs a path, or a url with its sha256"),
        ('url = "http://x/a"', "needs a path, or a url with its sha256"),
        ('pth = "a"', "unknown key 'pth'"),
        ("path = ", "is no catalogue entry"),
    ],
)
def test_entry_when_it_is_incomplete_then_refused(tmp_path: Path, text: str, reason: str) -> None:
    folder = entry(tmp_path / "known", "alpha", text)
    with pytest.raises(BadInput, match=reason):
        catalog.entries(folder)


def test_entries_when_they_ship_with_the_project_then_each_can_be_read() -> None:
    for one in catalog.entries().values():
        assert one.path is None or one.path.is_file()
