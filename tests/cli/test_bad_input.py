"""What users get wrong, and what machines do, through the real command line: one clear line, and nothing is lost."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gzip
import json
import os
import pty
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl
import pytest

from remix.places import seal
from remix.store import Store
from tests.commands import Done, run_lines, run_process, run_verb
from tests.processes import PythonProcess, run_python
from tests.workspaces import copy_workspace

NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
<http://x/d> a nif:Context ; nif:isString "Rome" .
"""
CLEAN = (
    NIF
    + """<http://x/a> a nif:Phrase ; nif:referenceContext <http://x/d> ; nif:anchorOf "Rome" ;
  nif:beginIndex 0 ; nif:endIndex 4 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Rome> .
"""
)
LIMIT = 64 << 10


@pytest.fixture
def work(small_store: Store, tmp_path: Path) -> Path:
    """A folder with a workspace `ws` of its own that holds the small store's datasets."""
    copy_workspace(small_store.folder, tmp_path / "ws")
    (tmp_path / "clean.ttl").write_text(CLEAN)
    return tmp_path


def run(folder: Path, *arguments: str, prepare: Callable[[], None] | None = None) -> Done:
    line = ["--quiet", *arguments, *(() if "-w" in arguments else ("-w", "ws"))]
    if prepare is None:
        return run_verb(*line, folder=folder)
    return run_process(*line, folder=folder, prepare=prepare)


def said(done: Done, code: int) -> str:
    """The one line that a command ended with."""
    assert done.returncode == code, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("remix: "), done.stderr
    return lines[0].removeprefix("remix: ")


Contents = list[tuple[str, int]]


def contents(folder: Path, name: str = "ws") -> Contents:
    """The graphs of the workspace and their numbers of triples."""
    found = Store(folder / name).index().frame("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g")
    return sorted(found.rows())


@pytest.fixture(scope="module")
def known(small_store: Store) -> Contents:
    """What `ws` holds before a test changes it."""
    return contents(small_store.folder.parent, small_store.folder.name)


def endless(path: Path) -> None:
    with path.open("wb") as stream:
        stream.write(b"a" * (10 << 20))
        stream.truncate(200 << 20)  # the rest takes no place on the disk


@pytest.mark.parametrize("verb", ["load", "check"])
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.ttl", b"", "empty.ttl: is empty"),
        ("binary.ttl", bytes(range(256)) * 20, "binary.ttl: is a binary file, not text"),
        ("short.ttl.gz", gzip.compress(CLEAN.encode())[:-20], "the compressed file is cut short or damaged"),
        ("folder", None, "folder: is a folder; name the files in it"),
        ("bare.ttl", NIF.encode(), "bare.ttl: has 1 documents but no annotation"),
        ("gone.ttl", None, "gone.ttl: no such file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(
    work: Path, known: Contents, verb: str, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (work / name).write_bytes(content)
    elif name == "folder":
        (work / name).mkdir()
    done = run(work, verb, name, "-o", "jsonl")
    assert done.returncode == 1 and reason in done.stdout and "Traceback" not in done.stderr
    if verb == "load":
        assert reason in said(done, 1)
    assert contents(work) == known


@pytest.mark.parametrize(("name", "reason"), [("a.ttl", "a.ttl:1: the line is longer"), ("a.txt", "no known format")])
def test_one_line_of_200_mb_is_refused(work: Path, name: str, reason: str) -> None:
    endless(work / name)
    assert reason in said(run(work, "load", name), 1)


def test_a_refused_file_does_not_keep_the_next_from_being_loaded(work: Path) -> None:
    (work / "empty.ttl").touch()
    done = run(work, "load", "empty.ttl", "clean.ttl", "-o", "json")
    assert [row["status"] for row in json.loads(done.stdout)] == ["refused", "loaded"]
    assert said(done, 1) == "empty.ttl: is empty"


def test_an_iri_with_a_quote_is_mended_and_told(work: Path) -> None:
    (work / "quote.ttl").write_text(CLEAN.replace("resource/Rome", 'resource/"Rome"'))
    (row,) = json.loads(run(work, "load", "quote.ttl", "-o", "json").stdout)
    assert [(repair["kind"], repair["count"]) for repair in row["repairs"]] == [("invalid-iri", 1)]
    found = run(work, "query", "SELECT ?e { ?a itsrdf:taIdentRef ?e FILTER CONTAINS(STR(?e), 'Rome') }", "-o", "json")
    assert json.loads(found.stdout) == [{"e": "http://dbpedia.org/resource/%22Rome%22"}]


def test_a_file_name_may_hold_spaces_and_any_letters(work: Path) -> None:
    (work / "mein Körpus.ttl").write_text(CLEAN)
    line = ("--quiet", "load", "mein Körpus.ttl", "-o", "json", "-w", "ws")
    done = run_process(*line, folder=work, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert json.loads(done.stdout)[0]["dataset"] == "mein-korpus", done.stderr


@pytest.mark.parametrize("verb", [("query",), ("build", "--query")])
@pytest.mark.parametrize(
    ("query", "code", "reason"),
    [
        ("DROP ALL", 2, "DROP would change data"),
        ("INSERT DATA { <urn:a> <urn:b> 1 }", 2, "INSERT would change data"),
        ("LOAD <http://example.org/x>", 2, "LOAD would change data"),
        ("broken.rq", 2, "broken.rq:2:12: the query does not parse here: '}'"),
        ("SELECT ?a { ?a a wrong:Phrase }", 2, "the query:1:18: prefix 'wrong:' is not declared"),
        ("SELECT ?annotation FROM <urn:remix:dataset:nws> { ?annotation a nif:Phrase }", 2, "did you mean"),
        ("SELECT ?annotation { SERVICE <http://x.org/> { ?annotation ?p ?o } }", 2, "--allow-service http://x.org/"),
        ("persons_hrd", 2, "no query named 'persons_hrd'; did you mean 'persons_hard'? `remix list queries` shows"),
        ("clean.ttl.gz", 2, "clean.ttl.gz is no query: it is not text in UTF-8"),
    ],
)
def test_a_query_that_cannot_be_run_says_why(
    work: Path, known: Contents, verb: tuple[str, ...], query: str, code: int, reason: str
) -> None:
    (work / "broken.rq").write_text("SELECT ?annotation\n{ ?a nif:x }\n")
    (work / "clean.ttl.gz").write_bytes(gzip.compress(CLEAN.encode()))
    assert reason in said(run(work, *verb, query), code)
    assert contents(work) == known and not list(work.glob("*.manifest.ttl"))


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("persons_hard", "--set", "min_confusio=3"), 2, "did you mean 'min_confusion'"),
        (("persons_hard", "--set", "min_confusion=many"), 2, "takes a number such as"),
        (("persons_hard", "--set", "min_confusion"), 2, "'min_confusion' is no name=value"),
        (("persons_hard", "--set-from", "table5"), 2, "did you mean 'table4'"),
        (("persons_hard", "--set", "min_confusion=100000"), 1, "persons_hard selects nothing: nothing is left after"),
        (("persons", "--limit", "0"), 2, "give at least 1"),
        (("persons", "--limit", "2", "--seed", "-1"), 2, "-1 is not in the range"),
        (("persons", "--seed", "1"), 2, "a seed draws the documents of a limit"),
        (("persons", "--name", "a/b"), 2, "cannot name a remix"),
        (("persons", "--name", "news"), 2, "give the remix another with --name"),
        (("DESCRIBE <urn:x>",), 2, "is no SELECT and no CONSTRUCT"),
        (("CONSTRUCT { ?a ?p ?froms } { ?a a nif:Phrase ; ?p ?form }",), 2, "did you mean ?form? --fix-variables"),
    ],
)
def test_a_remix_that_cannot_be_built_leaves_no_file(
    work: Path, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    assert reason in said(run(work, "build", "--to", "made", "--query", *arguments), code)
    assert not (work / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("stats", "nws"), 2, "did you mean 'news'"),
        (("stats", "--measure", "densty"), 2, "did you mean 'density'"),
        (("annotate", "news", "--system", "priorr"), 2, "did you mean 'prior'"),
        (("annotate", "news", "--system", "prior"), 1, "`remix kb attach"),
        (("annotate", "news", "--system", "prior", "--seed", "-1"), 2, "-1 is not in the range"),
        (("evaluate", "news"), 1, "--system prior` makes one"),
        (("evaluate", "news", "--samples", "-1"), 2, "-1 is not in the range"),
        (("evaluate", "news", "--bootstrap", "100"), 2, "--bootstrap N is --intervals now"),
        (("kb", "lookup", "Rome"), 1, "no knowledge base is attached"),
        (("kb", "show"), 1, "no knowledge base is attached"),
        (("kb", "attach", "nothing"), 2, "no knowledge base named 'nothing'"),
        (("load", "clean.ttl", "--base-iri", "a b"), 2, "'a b' begins no IRI"),
        (("load", "clean.ttl", "--name", "a b"), 2, "cannot name a dataset"),
        (("load", "clean.ttl", "--format", "niff"), 2, "did you mean 'nif'"),
        (("load", "clean.ttl", "--name", "news"), 2, "use --name news-2, or --replace"),
        (("load",), 2, "Missing argument 'FILE|DATASET...'; `remix load --help` shows"),
        (("info", "-o", "xml"), 2, "'xml' is not one of"),
        (("publish", "nws", "--to", "out"), 2, "did you mean 'news'"),
        (("serve", "--port", "0", "--host", "203.0.113.1"), 1, "cannot be listened on (Cannot assign"),
        (("serve", "--port", "0", "--host", "ü..x"), 1, "'ü..x' is no name that a host can have: name another --host"),
        (("query", "basic", "--to", "a.csv"), 2, "a.csv is for tables"),
        (("query", "persons", "--to", "a.ttl"), 2, "a.ttl is for graphs"),
    ],
)  # fmt: skip
def test_a_wrong_name_or_option_ends_in_one_line(
    work: Path, known: Contents, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    assert reason in said(run(work, *arguments), code)
    assert contents(work) == known


def without_privileges() -> None:
    """Let permissions hold for this process even where it belongs to root."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture
def sealed(work: Path) -> Iterator[Path]:
    """The folder, whose workspace may only be read."""
    places = [work / "ws", *(work / "ws").rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    yield work
    for place in places:
        place.chmod(0o755 if place.is_dir() else 0o644)


@pytest.mark.long
def test_a_read_only_workspace_is_read_and_not_written(sealed: Path) -> None:
    writing = [("load", "clean.ttl"), ("drop", "news"), ("enrich",), ("kb", "attach")]
    reading = [("list",), ("stats",), ("query", "ASK {}"), ("build", "--query", "persons", "--to", "made")]
    lines = [("--quiet", *line, "-w", "ws") for line in (*writing, *reading)]
    found = run_lines(lines, sealed, prepare=without_privileges)
    for done in found[: len(writing)]:
        assert "Permission denied" in said(done, 1)
    for done in found[len(writing) :]:
        assert done.returncode == 0, done.stderr
    assert (sealed / "made" / "persons.ttl").exists()


full = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
"""Lets no file grow beyond some size: to a process that is a disk that is full."""


@pytest.mark.at_hand(1)
@pytest.mark.parametrize(
    "arguments",
    [
        ("load", "large.ttl"),
        ("enrich",),
        ("kb", "attach"),
        ("kb", "build", "--from", "tables", "tables", "--name", "mine"),
        ("build", "--query", "all.rq", "--to", "made", "-w", "large"),
        ("query", "CONSTRUCT WHERE { ?s ?p ?o }", "--to", "made/all.nt", "-w", "large"),
        ("publish", "large", "--to", "made", "-w", "large"),
    ],
    ids=" ".join,
)
def test_a_full_disk_ends_in_one_line_and_nothing_is_lost(
    work: Path, known: Contents, arguments: tuple[str, ...]
) -> None:
    letters = Random(1).randbytes(100_000).hex()
    (work / "large.ttl").write_text(CLEAN.replace('isString "Rome"', f'isString "Rome {letters}"'))
    (work / "all.rq").write_text("SELECT ?annotation { ?annotation a nif:Phrase }")
    (work / "tables").symlink_to(Path(__file__).resolve().parents[2] / "datasets" / "kb")
    if "large" in arguments:
        assert run(work, "load", "large.ttl", "-w", "large").returncode == 0
    done = run(work, *arguments, prepare=full)
    assert "File too large" in said(done, 1)
    assert contents(work) == known
    assert not list(work.glob("made/*"))
    assert run(work, "load", "clean.ttl").returncode == 0


@pytest.mark.long
def test_output_that_cannot_be_written_ends_in_one_line(work: Path) -> None:
    options = {"cwd": work, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with Path("/dev/full").open("wb") as sink:
        ended = [
            run_python(["-m", "remix", "--quiet", *arguments, "-w", "ws"], stdout=sink, **options)
            for arguments in (("list",), ("query", "basic"), ("show", "persons"))
        ]
        ended.append(subprocess.run([sys.executable, "-m", "remix", "list", "--help"], stdout=sink, **options))
    for done in ended:
        assert said(done, 1) == "the output: No space left on device"


@pytest.mark.long
def test_a_reader_that_stops_reading_is_no_error(work: Path) -> None:
    done = subprocess.run(f"{sys.executable} -m remix --help | head -n 1", shell=True, capture_output=True, text=True)
    assert done.stdout.count("\n") == 1 and not done.stderr, done.stderr
    for arguments in ("query 'CONSTRUCT WHERE { ?s ?p ?o }' -o nt", "list queries -o csv", "show low_skew"):
        with subprocess.Popen(["head", "-n", "1"], stdin=-1, stdout=-1, text=True) as reader:
            line = ["-m", "remix", *shlex.split(arguments), "-w", "ws"]
            errors = run_python(line, cwd=work, stdout=reader.stdin).stderr
            read, _ = reader.communicate()
        assert read.count("\n") == 1 and not errors, errors


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("redirect", ["<&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_stream_that_is_closed_or_cannot_be_written_stops_no_work(work: Path, known: Contents, redirect: str) -> None:
    line = f"{sys.executable} -m remix load clean.ttl -w ws {redirect}"
    done = subprocess.run(line, shell=True, cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert len(contents(work)) == len(known) + 1


@pytest.mark.long
def test_notes_that_nobody_reads_any_more_stop_no_work(work: Path, known: Contents) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as broken:
        done = run_python(["-m", "remix", "load", "clean.ttl", "-w", "ws"], cwd=work, stderr=broken)
    assert done.returncode == 0 and len(contents(work)) == len(known) + 1


STOPPED_IMPORT = """
import os, signal, sys
from remix.__main__ import main
where, sys.argv[1:] = sys.argv[1], sys.argv[2:]
class Interruption:
    def find_spec(self, name, path, target=None):
        if name == where:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption())
main()
"""


@pytest.mark.parametrize("module", ["remix.cli", "click", "remix.cli.list", "polars"])
def test_an_interruption_while_modules_are_imported_ends_in_one_line(work: Path, module: str) -> None:
    done = run_python(["-c", STOPPED_IMPORT, module, "list", "-w", "ws"], cwd=work)
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("remix: interrupted"), done.stderr


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with ten thousand mentions."""
    nif = "<http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
    lines = [f'<http://x/d> {nif}isString> "{"Rome " * 10_000}" .']
    for n in range(10_000):
        begin, end = n * 5, n * 5 + 4
        lines += [f"<http://x/{n}> {nif}referenceContext> <http://x/d> .", f'<http://x/{n}> {nif}anchorOf> "Rome" .']
        lines += [f'<http://x/{n}> {nif}beginIndex> "{begin}" .', f'<http://x/{n}> {nif}endIndex> "{end}" .']
    file = tmp_path_factory.mktemp("big") / "big.nt"
    file.write_text("\n".join(lines))
    return file


@dataclass(frozen=True)
class Finished:
    """What a verb that was not stopped leaves in the workspace."""

    verb: tuple[str, ...]
    contents: Contents


@pytest.fixture(scope="module", params=["load {big}", "enrich", "build --query persons --to made"])
def finished(
    request: pytest.FixtureRequest, small_store: Store, big: Path, tmp_path_factory: pytest.TempPathFactory
) -> Finished:
    verb, folder = tuple(request.param.format(big=big).split()), tmp_path_factory.mktemp("finished")
    copy_workspace(small_store.folder, folder / "ws")
    assert run(folder, *verb).returncode == 0
    return Finished(verb, contents(folder))


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_the_workspace_as_it_was(
    work: Path, known: Contents, finished: Finished, ending: signal.Signals
) -> None:
    for delay in (0.02, 0.1, 0.25):
        command = ["-m", "remix", "--quiet", *finished.verb, "-w", "ws"]
        with PythonProcess(command, cwd=work, stdout=-1, stderr=-1, text=True) as process:
            time.sleep(delay)
            process.send_signal(ending)
            errors = process.communicate(timeout=60)[1]
        if ending == signal.SIGINT and process.returncode == 130:
            assert errors.splitlines()[-1].startswith("remix: interrupted") and "Traceback" not in errors
        assert contents(work) in (known, finished.contents)
    assert run(work, "load", "clean.ttl").returncode == 0


def test_a_second_writer_is_told_to_wait(work: Path) -> None:
    import fcntl

    with (work / "ws" / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another process is writing to the workspace ws: try again" in said(run(work, "load", "clean.ttl"), 1)
        assert run(work, "query", "ASK {}").returncode == 0
    assert run(work, "load", "clean.ttl").returncode == 0


def test_a_damaged_state_is_named(work: Path) -> None:
    file = work / "ws" / "state.json"
    file.write_bytes(file.read_bytes()[:100])
    for arguments in (("list",), ("load", "clean.ttl"), ("build", "--query", "persons"), ("info",)):
        assert "ws/state.json is damaged" in said(run(work, *arguments), 1)


@pytest.mark.parametrize("arguments", [("query", "ASK {}"), ("build", "--query", "persons"), ("load", "clean.ttl")])
def test_an_index_that_is_gone_is_built_again(work: Path, arguments: tuple[str, ...]) -> None:
    before = contents(work)
    shutil.rmtree(work / "ws" / "index")
    done = run(work, *arguments)
    assert done.returncode == 0, done.stderr
    assert set(before) <= set(contents(work))


def test_a_damaged_index_is_named_with_what_to_do(work: Path) -> None:
    before = contents(work)
    folder = Store(work / "ws").index().path
    assert folder is not None
    current = folder / "CURRENT"
    current.write_text("nonsense")
    for arguments in (("query", "ASK {}"), ("build", "--query", "persons")):
        line = said(run(work, *arguments), 1)
        assert f"{current.relative_to(work)} is damaged" in line and "`remix rebuild -w ws`" in line
    assert run(work, "rebuild", "-w", "ws").returncode == 0
    assert run(work, "query", "ASK {}").returncode == 0
    assert contents(work) == before


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_damaged_frames_are_named_with_what_to_do(work: Path, damage: str) -> None:
    (file,) = (work / "ws" / "datasets").glob("news-*/annotations.parquet")
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(b"PAR1 and no more")
    for arguments in (("stats",), ("build", "--query", "persons"), ("enrich",)):
        line = said(run(work, *arguments), 1)
        assert f"annotations.parquet is {damage}" in line and "`remix rebuild -w ws` takes out what is damaged" in line
    assert run(work, "drop", "news").returncode == 0
    assert run(work, "stats").returncode == 0


def test_frames_from_before_a_column_existed_are_read(work: Path) -> None:
    for file in (work / "ws" / "datasets").glob("*/classes.parquet"):
        pl.read_parquet(file).drop("of_entity").write_parquet(file)
        seal(file.parent)
    new = run(work, "build", "--query", "persons", "--to", "made")
    assert new.returncode == 0, new.stderr


def test_a_workspace_moves_with_its_knowledge_base(work: Path) -> None:
    assert run(work, "kb", "attach").returncode == 0
    (work / "ws").rename(work / "moved here")
    done = run(work, "kb", "show", "-o", "json", "-w", "moved here")
    assert json.loads(done.stdout)["folder"].startswith("moved here/kb/sample-")


STEERING = "\x1b[31mred\x07"


ON_TERMINAL = """
import contextlib, json, sys
from remix import cli
for arguments in json.loads(sys.argv.pop()):
    sys.argv[1:], sys.stdout, sys.stderr = ["--quiet", *arguments, "-w", "ws"], sys.__stdout__, sys.__stderr__
    with contextlib.suppress(SystemExit):
        cli.main()
    print(end="<next>", flush=True)
"""


def on_terminal(folder: Path, commands: list[tuple[str, ...]]) -> list[str]:
    """Return what commands show on a terminal: standard output and standard error are one."""
    ours, theirs = pty.openpty()
    line = ["-c", ON_TERMINAL, json.dumps(commands)]
    process = PythonProcess(line, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = []
    with contextlib.suppress(OSError):  # which is how a terminal ends
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    os.close(ours)
    process.wait()
    return b"".join(parts).decode().split("<next>")[:-1]


@pytest.mark.long
def test_no_file_steers_the_terminal(work: Path) -> None:
    (work / f"{STEERING}.ttl").write_text(CLEAN.replace("nif:Phrase", f'nif:Phrase, "{STEERING}"'))
    commands = [
        ("load", f"{STEERING}.ttl", "--dry-run"),
        ("load", f"{STEERING}.ttl", "--dry-run", "-o", "csv"),
        ("query", f'SELECT ("{STEERING}" AS ?x) {{}}', "-o", "csv"),
        ("query", f'SELECT ("{STEERING}" AS ?x) {{}}', "-o", "jsonl"),
        ("query", f'CONSTRUCT {{ <urn:x> <urn:y> "{STEERING}" }} {{}}', "-o", "nt"),
        ("query", f"SELECT * {{ ?{STEERING} }}"),
        ("query", STEERING),
    ]
    for command, shown in zip(commands, on_terminal(work, commands), strict=True):
        assert "\x1b" not in shown and "\x07" not in shown and "07" in shown, command


@pytest.mark.long
def test_data_in_a_file_or_pipe_are_as_they_are(work: Path) -> None:
    done = run_process("--quiet", "query", f'SELECT ("{STEERING}" AS ?x) {{}}', "-o", "csv", "-w", "ws", folder=work)
    assert done.stdout == f"x\n{STEERING}\n"


def test_an_option_that_is_no_utf_8_ends_in_one_line(work: Path) -> None:
    reason = said(run_process("--quiet", "load", "clean.ttl", "--name", "caf\udce9", "-w", "ws", folder=work), 2)
    assert "defect" not in reason and "caf" in reason


@pytest.mark.long
def test_a_name_that_is_no_utf_8_is_told_like_any_other_that_is_refused(work: Path) -> None:
    (work / "caf\udce9").mkdir()
    done = run_process("--quiet", "check", "caf\udce9", "-w", "ws", "-o", "json", folder=work)
    [row] = json.loads(done.stdout)
    assert (done.returncode, row["file"], row["rule"]) == (1, "caf\ufffd", "refused")


@pytest.mark.parametrize(
    ("decorators", "reason"),
    [
        ("a: &a [x, x]\n#+ summary: *a", "its decorators may not refer to each other (*a)"),
        ("summary: " + "[" * 50 + "]" * 50, "its decorators are nested deeper than 20"),
        ("summary: " + "{a: " * 5000 + "}" * 5000, "its decorators are nested deeper than 20"),
        ("date: 2001-99-99", "its decorators are no YAML"),
        ("n: " + "9" * 5000, "its decorators are no YAML"),
    ],
)
def test_decorators_of_a_query_that_grow_are_refused(work: Path, decorators: str, reason: str) -> None:
    (work / "q.rq").write_text(f"#+ {decorators}\nSELECT * {{ ?s ?p ?o }}\n")
    assert reason in said(run(work, "query", "q.rq"), 2)
