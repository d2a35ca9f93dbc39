"""Builds that are killed, fail, and are given again; several sources in one knowledge base."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import BadInput, UsageError
from remix.kb import KnowledgeBase, build
from remix.kb.construction import lock_building, remove_unfinished
from remix.kb.lookup import problems_of, sources_of
from remix.workspace import Workspace
from tests.commands import Done, run_process
from tests.conftest import CHECKOUT

Tables = Callable[..., Path]

PLUGIN = """
import os, signal, threading
from pathlib import Path

import narwhals as nw
import polars as pl

from remix.errors import BadInput
from remix.kb.engines import ENGINES, Engine
from remix.kb.engines import duckdb as inner
from remix.kb.sources import Part, Source
from contextlib import contextmanager


def parts(place, choices):
    mended = "mended" if (Path(place) / "mended-two").exists() else ""
    return [
        Part(name, name + mended * (name == "two"), lambda staging, name=name: read(Path(place), name, staging))
        for name in ("one", "two")
    ]


def read(place, name, staging):
    with (place / "read.log").open("a") as log:
        print(name, file=log)
    row = {"surface_form": [name], "entity": [f"urn:{name}"], "count": [1], "source": ["s"]}
    staging.write("surface_forms", pl.DataFrame(row))
    staging.problem("odd line", 1, [f"{name}:7: odd"], place=place)
    if (place / f"die-{name}").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if (place / f"fail-{name}").exists():
        raise BadInput(place / name, "the file is cut short at byte 99")


class Dying:
    def __init__(self, session):
        self.session, self.left = session, int(os.environ["WRITES"])
        self.scan = session.scan

    def write(self, *arguments):
        if not self.left:
            if "ENDLESS" not in os.environ:
                os.kill(os.getpid(), signal.SIGKILL)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            endless = self.session._connection.sql("SELECT sum(hash(range)) FROM range(1_000_000_000_000_000)")
            arguments = (nw.from_native(endless), *arguments[1:2])
        self.left -= 1
        self.session.write(*arguments)


@contextmanager
def opened(work, memory):
    with inner.ENGINE.open(work, memory) as session:
        yield Dying(session)


SOURCE = Source("mortal", "A source that dies when told to", parts)
ENGINE = Engine("mortal", "An engine that dies when told to", opened)
"""


def build_line(*options: str) -> list[str]:
    engine = () if "--engine" in options else ("--engine", "polars")  # the quickest, where it is not what dies
    return ["kb", "build", "--from", "mortal", "place", "--name", "k", "-o", "json", *engine, *options]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Another distribution that adds a source and an engine that die when told to; the source is read in `place`."""
    folder = tmp_path / "plugin"
    (folder / "mortal-1.dist-info").mkdir(parents=True)
    (folder / "mortal.py").write_text(PLUGIN)
    (folder / "mortal-1.dist-info" / "METADATA").write_text("Name: mortal\nVersion: 1\n")
    (folder / "mortal-1.dist-info" / "entry_points.txt").write_text(
        "[remix.kb.sources]\nmortal = mortal:SOURCE\n[remix.kb.engines]\nmortal = mortal:ENGINE\n"
    )
    (tmp_path / "place").mkdir()
    return folder


@pytest.fixture
def remix(tmp_path: Path, plugin: Path) -> Callable[..., Done]:
    """Run remix where the plugin is installed."""

    def run(*options: str, writes: int = 0) -> Done:
        path = os.pathsep.join(map(str, (CHECKOUT, plugin)))  # not whichever checkout is installed
        return run_process(*build_line(*options), folder=tmp_path, PYTHONPATH=path, WRITES=str(writes))

    return run


def finished(tmp_path: Path) -> list[Path]:
    return [file.parent for file in (tmp_path / ".remix" / "kb").glob("[!.]*/kb.json")]


def log(tmp_path: Path) -> list[str]:
    return (tmp_path / "place" / "read.log").read_text().split()


@pytest.mark.long
def test_build_when_killed_while_reading_then_it_goes_on_after_the_last_part(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    (tmp_path / "place" / "die-two").touch()
    assert remix().returncode == -signal.SIGKILL
    assert finished(tmp_path) == []
    (tmp_path / "place" / "die-two").unlink()
    again = remix()
    assert again.returncode == 0, again.stderr
    assert "mortal one: read before" in again.stderr
    assert log(tmp_path) == ["one", "two", "two"]
    (folder,) = finished(tmp_path)
    assert KnowledgeBase.open(folder).surface_forms["surface_form"].to_list() == ["one", "two"]
    assert [path for path in folder.parent.iterdir() if path != folder] == []
    assert "leaked" not in again.stderr


@pytest.mark.long
def test_build_when_killed_while_assembling_then_nothing_is_read_again(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    assert remix("--engine", "mortal", writes=5).returncode == -signal.SIGKILL
    assert finished(tmp_path) == []
    assert remix("--engine", "duckdb").returncode == 0
    assert log(tmp_path) == ["one", "two"]
    assert len(finished(tmp_path)) == 1


@pytest.mark.long
def test_build_when_interrupted_within_a_query_then_it_ends_at_once_and_goes_on_later(
    tmp_path: Path, remix: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENDLESS", "yes")  # the sixth query would not end within the hour
    stopped = remix("--engine", "mortal", writes=5)
    assert stopped.returncode == 130 and "Traceback" not in stopped.stderr, stopped.stderr
    assert stopped.stderr.splitlines()[-1].startswith("remix: interrupted")
    assert finished(tmp_path) == []
    assert remix("--engine", "duckdb").returncode == 0
    assert log(tmp_path) == ["one", "two"]
    (folder,) = finished(tmp_path)
    assert KnowledgeBase.open(folder).surface_forms["surface_form"].to_list() == ["one", "two"]
    assert [path for path in folder.parent.iterdir() if path != folder] == []


def test_build_when_readers_have_changed_then_nothing_that_they_read_is_taken_over(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, broken = [("tables", str(tables()))], {"links.tsv": "a\tb\n"}
    for read, number in enumerate(("one", "two"), start=1):
        monkeypatch.setattr("remix.kb.construction.READERS", number)
        tables(**broken)
        with pytest.raises(BadInput, match="4 columns are expected"):
            build(sources, tmp_path / "kb", name="k", engine="polars")
        left = [json.loads(file.read_text()) for file in (tmp_path / "kb").glob(".building-k-*/read/*/part.json")]
        # Surface forms are read before links; the second time they are not linked from what the first readers left.
        assert sorted(part["readers"] for part in left) == ["one", "two"][:read]
    tables()
    kb = build(sources, tmp_path / "kb", name="k", engine="polars")
    assert kb.described["readers"] == "two"


@pytest.mark.long
def test_build_when_a_part_fails_then_what_was_read_is_kept_apart_and_said(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    (tmp_path / "place" / "fail-two").touch()
    failed = remix()
    assert failed.returncode == 1
    assert "place/two: the file is cut short at byte 99; the 1 rows that were read are kept apart in" in failed.stderr
    (kept,) = (tmp_path / ".remix" / "kb").glob(".building-k-*/read/*.unfinished")
    assert kept.name == "001-mortal-two.unfinished" and str(kept.name) in failed.stderr
    assert "the same command goes on from there" in failed.stderr


@pytest.mark.long
def test_build_when_a_damaged_part_is_replaced_then_the_others_are_not_read_again(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    (tmp_path / "place" / "fail-two").touch()
    assert remix().returncode == 1
    (tmp_path / "place" / "fail-two").unlink()
    (tmp_path / "place" / "mended-two").touch()
    again = remix()
    assert again.returncode == 0, again.stderr
    assert log(tmp_path) == ["one", "two", "two"]
    (folder,) = finished(tmp_path)
    assert KnowledgeBase.open(folder).surface_forms["surface_form"].to_list() == ["one", "two"]


@pytest.mark.long
def test_build_when_strict_then_a_knowledge_base_that_leaves_things_out_is_refused(
    remix: Callable[..., Done],
) -> None:
    done, strict = remix(), remix("--strict")
    assert done.returncode == 0
    assert "problems: odd line (2); `remix kb show --only problems`" in done.stderr  # one of each of two parts
    assert strict.returncode == 1
    assert "one: odd line: one:7: odd; mend it, or build without --strict" in strict.stderr


@pytest.mark.long
def test_build_when_strict_then_a_problem_stops_it_even_in_a_part_that_was_read_before(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    (tmp_path / "place" / "fail-two").touch()
    failed, strict = remix(), remix("--strict")
    assert (failed.returncode, strict.returncode) == (1, 1)
    assert "odd line: one:7: odd" in strict.stderr


@pytest.mark.long
def test_build_when_parts_have_problems_then_the_knowledge_base_says_them(
    tmp_path: Path, remix: Callable[..., Done]
) -> None:
    assert remix("--date", "2022-12-01", "--licence", "CC0").returncode == 0
    (folder,) = finished(tmp_path)
    one = json.loads((folder / "kb.json").read_text())["sources"][0]
    assert one == {
        "source": "mortal",
        "part": "one",
        "place": "",
        "fingerprint": "one",
        "date": "2022-12-01",
        "licence": "CC0",
        "size": 0,
        "rows": {"surface_forms": 1},
        "problems": {"odd line": {"count": 1, "first": ["one:7: odd"]}},
    }


def test_problems_when_a_kind_has_several_cases_then_each_of_the_first_ten_has_a_row(tmp_path: Path) -> None:
    lines = [f"broken {number}" for number in range(13)]
    sound = '<http://dbpedia.org/resource/A> <http://www.w3.org/2000/01/rdf-schema#label> "A"@en .'
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "labels_lang=en.ttl").write_text("\n".join([*lines, sound, ""]))
    kb = build([("dbpedia", str(tmp_path / "dump"))], tmp_path / "kb", name="odd", engine="polars")
    problems = problems_of(kb)
    assert problems["case"].to_list() == [f"labels_lang=en.ttl:{n + 1}: broken {n}" for n in range(10)]
    assert set(problems["count"]) == {13}
    found = problems_of(kb).unique(["where", "problem"])
    assert found.select("problem", "count").group_by("problem").sum().rows() == [("a line that is no triple", 13)]
    assert sources_of(kb).select("part", "place").rows() == [("labels_lang=en.ttl", str(tmp_path / "dump"))]


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", ""])
def test_build_when_the_name_is_no_name_of_a_folder_then_it_is_refused(
    tmp_path: Path, tables: Tables, name: str
) -> None:
    with pytest.raises(UsageError, match="cannot name a knowledge base"):
        build([("tables", str(tables()))], tmp_path / "kb", name=name)


def test_build_when_a_folder_has_no_table_then_the_tables_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no table of a knowledge base: surface_forms\.tsv"):
        build([("tables", str(tmp_path))], tmp_path / "kb", name="none")


def test_build_when_it_fails_then_the_attached_knowledge_base_stays(tables: Tables, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    good = workspace.build_kb([("tables", str(tables()))], name="small", engine="polars")
    with pytest.raises(BadInput, match="3 columns are expected"):
        workspace.build_kb([("tables", str(tables(**{"types.tsv": "a\tb\n"})))], name="small", engine="polars")
    assert workspace.kb is not None and workspace.kb.version == good.version
    assert workspace.kb.surface_forms.height == good.surface_forms.height


def test_build_when_sources_are_several_then_each_row_and_part_keeps_its_own(tmp_path: Path) -> None:
    for name, row in (("one", "Ann\turn:A\t2\tanchors"), ("two", "Ann\turn:A\t3\tnames\nann\turn:B\t\tnames")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "surface_forms.tsv").write_text(f"form\tentity\tcount\tsource\n{row}\n")
    places = [("tables", str(tmp_path / "one")), ("tables", str(tmp_path / "two"))]
    kb = build(places, tmp_path / "kb", name="both", engine="polars")
    assert kb.surface_forms.select("surface_form", "entity", "count", "source").rows() == [
        ("Ann", "urn:A", 2, "anchors"),
        ("Ann", "urn:A", 3, "names"),
        ("ann", "urn:B", None, "names"),
    ]
    # One key that means two entities, of which each goes by one name; A was meant 2 + 3 times.
    rows = kb.scan("dictionary").select("entity", "count", "entities", "forms").collect().rows()
    assert rows == [("urn:A", 5, 2, 1), ("urn:B", None, 2, 1)]
    parts = [(part["source"], part["place"], part["rows"]) for part in kb.described["sources"]]
    assert parts == [
        ("tables", str(tmp_path / "one" / "surface_forms.tsv"), {"surface_forms": 1}),
        ("tables", str(tmp_path / "two" / "surface_forms.tsv"), {"surface_forms": 2}),
    ]
    assert kb.version != build(places[:1], tmp_path / "kb", name="both", engine="polars").version


def test_build_when_other_sources_were_left_unfinished_then_fresh_removes_what_is_not_in_use(
    tables: Tables, tmp_path: Path
) -> None:
    left, used, other = (tmp_path / "kb" / f".building-{name}" for name in ("k-00000000000a", "k-00000000000b", "x-0"))
    for folder in (left, used, other):
        folder.mkdir(parents=True)
    sources = [("tables", str(tables()))]
    build(sources, tmp_path / "kb", name="k", engine="polars")
    assert left.exists()
    with lock_building(used):
        build(sources, tmp_path / "kb", name="k", engine="polars", fresh=True)
    assert [folder.exists() for folder in (left, used, other)] == [False, True, True]
    assert remove_unfinished(used)


def test_build_when_nothing_is_in_the_sources_then_the_error_names_them(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "links.tsv").write_text("source\ttarget\tcount\torigin\nurn:A\turn:B\t1\tx\n")
    with pytest.raises(
        BadInput, match=r"none/links\.tsv: no surface forms are left.* names in de \(`remix list sources`"
    ):
        build([("tables", str(tmp_path / "none"))], tmp_path / "kb", name="empty", languages=["de"])
    assert not list((tmp_path / "kb").glob("[!.]*"))
