"""Known datasets: one TOML file each, checked key by key, found by name, URL and what is known of them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from remix import catalog
from remix.errors import BadInput, UnknownName
from remix.formats import FORMATS
from remix.scoring.tasks import TASKS
from tests.commands import run_verb

HEAD = 'title = "T"\nlicence = "CC0-1.0"\ncitation = "C"\n'
AT = f'url = "https://x/a.ttl"\nsha256 = "{"0" * 64}"\n'


def known(folder: Path, text: str, name: str = "alpha") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD, "lacks 'url' and 'sha256'"),
        (HEAD + 'url = "http://x/a"', "lacks 'url' and 'sha256'"),
        (HEAD + AT + 'pth = "a"', "has the unknown key 'pth'; did you mean 'path'"),
        (HEAD + "path = ", "is no catalogue entry"),
        (AT + 'title = "T"\nlicence = "L"', "lacks the key 'citation'"),
        (HEAD + AT + "bytes = -1", "'bytes' is a whole number, not -1"),
        (HEAD + AT + 'language = "en"', "'language' is a list of texts, not 'en'"),
        (HEAD + 'url = "ftp://x/a"', "'url' is an address that begins with https:// or http://"),
        (HEAD + AT.replace("0", "g", 1), "'sha256' is 64 hexadecimal digits"),
        (HEAD + AT + "counts = { texts = 1 }", "'counts' is a table of whole numbers with the keys documents"),
        (HEAD + "[splits]", "'splits' is a table of tables"),
        (HEAD + '[splits.test]\nurl = "https://x/a"', r"lacks 'splits\.test\.url' and 'splits\.test\.sha256'"),
        (HEAD + "[splits.test]\nbytes = 'a'", r"'splits\.test\.bytes' is a whole number, not 'a'"),
        (HEAD + "[splits.test]\nsplits = {}", r"has the unknown key 'splits\.test\.splits'"),
    ],
)
def test_entry_when_it_is_no_such_thing_then_file_and_key_are_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=rf"alpha\.toml: {reason}"):
        catalog.entries(known(tmp_path, text))


def test_split_takes_from_its_dataset_what_it_does_not_say_itself(tmp_path: Path) -> None:
    folder = known(tmp_path, HEAD + 'kb = ["a"]\n' + f'[splits.dev]\n{AT}\n[splits.test]\nkb = ["b"]\n{AT}')
    found = {one.name: one.kb for one in catalog.find("alpha", folder)}
    assert found == {"alpha/dev": ("a",), "alpha/test": ("b",)}
    for name in ("alpha/test", "alpha-test"):
        assert [one.name for one in catalog.find(name, folder)] == ["alpha/test"]
    assert catalog.find("alpha/none", folder) == catalog.find("beta", folder) == ()


def test_only_the_files_that_a_name_may_stand_in_are_read(tmp_path: Path) -> None:
    known(tmp_path, HEAD + AT)
    folder = known(tmp_path, "broken", "beta")
    assert [one.name for one in catalog.find("alpha", folder)] == ["alpha"]


def test_local_when_it_ships_or_is_a_file_then_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = known(tmp_path / "known", HEAD + 'path = "corpus/alpha.ttl"\n')
    monkeypatch.chdir(tmp_path)
    [(path, entry)] = catalog.local("alpha", folder)
    assert (path, entry and entry.name) == (str(folder / "corpus" / "alpha.ttl"), "alpha")
    (tmp_path / "alpha").write_text("x")
    for file in ("alpha", "-", "none.ttl"):
        assert catalog.local(file, folder) == [(file, None)]


def test_local_when_a_url_is_unknown_then_it_is_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no dataset in the catalogue named"):
        catalog.local("https://x/b.ttl", known(tmp_path, HEAD + AT))


def test_entries_when_they_ship_with_the_project_then_each_is_there() -> None:
    assert all(one.path.is_file() for one in catalog.entries().values() if one.path is not None)


def test_addresses_are_pinned_to_a_commit_and_tasks_are_those_that_are_scored() -> None:
    for one in catalog.entries().values():
        assert not one.url or re.search("/[0-9a-f]{40}[/.]", one.url), one.name
        assert set(one.task) <= set(TASKS.names()), one.name
        assert one.path or (one.task and one.language and one.kb), one.name


def test_each_format_of_the_catalogue_is_read() -> None:
    named = {one.format for one in catalog.entries().values() if one.format}
    assert named <= set(FORMATS.names())


def test_catalogue_has_each_public_dataset_that_was_surveyed(real_data: Path) -> None:
    found = {one.loaded_name: one for one in catalog.entries().values()}
    with (real_data / "catalogue" / "CATALOGUE.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        entry = found["dwie" if row["name"].startswith("dwie-") else row["name"]]
        assert entry.sha256 == row["sha256"]
        assert not row["sha256"] or (row["commit"] in entry.url and str(entry.bytes) == row["bytes"])
    assert len(rows) == 182


def test_list_finds_by_task_language_knowledge_base_and_licence(tmp_path: Path) -> None:
    def listed(*options: str) -> set[str]:
        return {row["name"] for row in json.loads(run_verb("list", "-o", "json", *options, folder=tmp_path).stdout)}

    german = listed("--language", "de", "--kb", "Wikidata", "--licence", "cc by-nc", "--task", "A2KB")
    assert german == {f"hipe2022/{name}-test-de" for name in ("ajmc", "hipe2020", "newseye", "sonar")}
    assert "sample-news" in listed() and "sample-news" not in listed("--kb", "umls")
    done = run_verb("list", "queries", "--task", "A2KB", folder=tmp_path)
    assert done.returncode == 2 and "queries have no task" in done.stderr


def test_show_has_the_citation_and_what_is_known_to_be_wrong(tmp_path: Path) -> None:
    shown = run_verb("show", "zelda/shadowlinks-tail", folder=tmp_path).stdout
    for part in ("one span ends beyond its text", "@inproceedings{milich2023,", "booktitle = {EACL}", "documents 901"):
        assert part in shown
    assert run_verb("show", "n3", folder=tmp_path).stdout.count("@inproceedings{") == 1


def test_show_of_what_is_loaded_has_what_the_catalogue_knows(tmp_path: Path) -> None:
    run_verb("load", "sample-news", folder=tmp_path)
    assert "licence: Apache-2.0" in run_verb("show", "sample-news", folder=tmp_path).stdout


def test_page_of_datasets_has_the_counts_of_the_catalogue() -> None:
    page = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (.+)\n\n.*?([\d,]+) texts of .*?([\d,]+) mentions", page, re.MULTILINE)
    assert len(found) > 50
    for name, documents, mentions in found:
        [known] = catalog.find(name)
        assert known.counts["documents"] == int(documents.replace(",", "")), name
        assert known.counts.get("mentions", int(mentions.replace(",", ""))) == int(mentions.replace(",", "")), name
