"""Measure `remix serve`: pages, one client of the endpoint, fifty at once, a large result, memory over many requests.

python bench/web.py [--real DIR | --workspace DIR] [--only pages,scores,addresses,clients] [--addresses 2000]
                    [--seed 0] [--clients 50] [--requests 10000]

`--real` names a workspace of all real NIF and the gold of EMNLP 2019, ELEVANT and HIPE 2022, with the published answers
and those of the built-in systems (42 datasets, 16 systems), which is made where it is not there (data from
REMIX_REAL_DATA). Else a generated corpus of 200,000 triples is served. The clients are one process that does little
else.

Each page is asked of a server of its own. *cold* is its first request, with nothing on disk that a server kept before;
*warm* the median of the five after it. Milliseconds are of the clock and, after a slash, of the processors in the
server and all that it began, which other work on the machine lengthens less (in steps of 10 ms). `addresses` asks for
seeded addresses of all views, and prints memory; `scores` are those of Systems alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
from generate_nif import generate
from real import DATA, SYSTEMS, corpora

from remix.errors import Error
from remix.runs.known import known_runs
from remix.store import Store
from remix.store.queries import find
from remix.web.addresses import address
from remix.web.forms import Field, Form
from remix.web.page import VIEWS
from remix.workspace import Workspace, open_workspace

SIMPLE = "SELECT ?a { ?a a nif:Phrase } LIMIT 10"
LARGE = "SELECT * { ?s ?p ?o } LIMIT 200000"


def with_bytecode() -> dict[str, str]:
    """Return the environment with modules as bytecode, as where remix is installed; its folder holds no others."""
    told = {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "remix-bytecode")), "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **told}


@contextlib.contextmanager
def served(workspace: Path) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Give the process of a server, its host and its port."""
    command = [sys.executable, "-m", "remix", "serve", "-w", str(workspace), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=with_bytecode()) as process:
        assert process.stderr is not None
        parts = urlsplit(process.stderr.readline().split()[-1])
        # What nobody reads fills the pipe after some thousand pages, and who writes into it waits for ever.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        try:
            yield process, parts.hostname or "", parts.port or 0
        finally:
            process.terminate()


def make_real(folder: Path) -> None:
    """Make a workspace of the real data."""
    work = open_workspace(folder)
    gold = [*(DATA / "elevant" / "benchmarks").glob("*.jsonl*"), *(DATA / "hipe2022" / "gold").glob("*.tsv.gz")]
    work.load([*corpora(), *map(str, sorted(gold))])
    work.build_kb([("tables", str(DATA / "kb"))], name="slice", without_source=["gold:*"])
    work.attach_kb("slice")
    work.enrich()
    work.annotate(system=SYSTEMS)
    answers: dict[str, list[str]] = {}
    for file in sorted((DATA / "emnlp2019" / "systems").glob("*.ttl*")):
        answers.setdefault(file.name.split("_")[0], []).append(str(file))
    for file in sorted((DATA / "elevant" / "results").rglob("*.linked_articles.jsonl*")):
        answers.setdefault(f"elevant-{file.parent.name}", []).append(str(file))
    for name, files in answers.items():
        try:
            work.add_run(name, files)
        except Error as error:
            print(f"{name}: {error}")


def pages(work: Workspace) -> list[str]:
    """Return the address of a page of each view, and of the largest dataset where a page has one."""
    largest = max(work.datasets(), key=lambda entry: entry.annotations).name
    found = []
    for view in VIEWS:
        example = dict(view.example(work))
        found.append(address(view.name, **example))
        for name in ("dataset", "name"):
            if example.get(name) in {entry.name for entry in work.datasets()}:
                found.append(address(view.name, **{name: largest}))
    return found


class Timed:
    """A server of its own, whose answers are timed, on the clock and by the processors, in milliseconds."""

    def __init__(self, process: int, client: httpx.Client) -> None:
        self.process, self.client = process, client

    @classmethod
    @contextlib.contextmanager
    def of(cls, workspace: Path) -> Iterator[Timed]:
        """Begin a server of a workspace, and end it."""
        with served(workspace) as (process, host, port):
            with httpx.Client(base_url=f"http://{host}:{port}", timeout=600, follow_redirects=True) as client:
                yield cls(process.pid, client)
            process.terminate()
            process.wait()

    def ask(self, place: str) -> tuple[float, float, httpx.Response]:
        """Return how long an answer takes on the clock and by the processors, and the answer."""
        begin, used = time.perf_counter(), processor_seconds(self.process)
        answer = self.client.get(place)
        took = 1000 * (time.perf_counter() - begin)
        return took, 1000 * (processor_seconds(self.process) - used), answer

    def median(self, places: Iterable[str]) -> str:
        """Return the median of these answers in words."""
        taken = [self.ask(place)[:2] for place in places]
        return "/".join(f"{statistics.median(one):.0f}" for one in zip(*taken, strict=True))


def processor_seconds(process: int) -> float:
    """Return the seconds of the processors that a process has used, with its children, also those that have ended."""
    try:
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
    except OSError:
        return 0.0
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK") + sum(map(processor_seconds, children(process)))


def children(process: int) -> list[int]:
    found = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [*map(int, file.read_text().split())]
    return found


@contextlib.contextmanager
def forgotten(workspace: Path) -> Iterator[None]:
    """Take away what servers keep on disk, and what they kept after it."""
    kept = ("scores", "pages")
    for name in kept:
        shutil.rmtree(workspace / "cache" / name, ignore_errors=True)
    yield


def show_pages(workspace: Path) -> None:
    """Print how long each page takes, cold and warm, and what the builder and Systems compute."""
    work = open_workspace(workspace)
    with Timed.of(workspace) as server:
        for place in pages(work):
            server.ask(place)
    print("| page | cold, ms | warm, ms | kB |\n|---|--:|--:|--:|")
    for place in ["/", *pages(work)]:
        with forgotten(workspace), Timed.of(workspace) as server:
            took, used, answer = server.ask(place)
            warm = server.median([place] * 5)
        told = place if answer.status_code == 200 else f"{place} ({answer.status_code})"
        print(f"| {told[:80]} | {took:.0f}/{used:.0f} | {warm} | {len(answer.content) / 1000:,.0f} |", flush=True)
    print("\n| what | ms |\n|---|--:|")
    for what, taken in [*time_prepared(workspace), *time_scores(workspace), *time_builder(workspace)]:
        print(f"| {what} | {taken} |", flush=True)


def time_prepared(workspace: Path) -> Iterator[tuple[str, str]]:
    """Give what pages take at first where another has been read, while the server made ready what they need."""
    work = open_workspace(workspace)
    for name in ("annotations", "builder", "query", "errors", "document"):
        with forgotten(workspace), Timed.of(workspace) as server:
            server.ask("/start")
            wait_for_rest(server.process)
            place = address(name, **VIEWS[name].example(work))
            yield f"{VIEWS[name].title} at first, after Start was read", "{:.0f}/{:.0f}".format(*server.ask(place)[:2])


def wait_for_rest(process: int) -> None:
    """Wait until a process and its children use the processors no more, for two seconds."""
    used, since = processor_seconds(process), time.monotonic()
    while time.monotonic() - since < 2:
        time.sleep(0.1)
        if (now := processor_seconds(process)) - used > 0.05:
            used, since = now, time.monotonic()


def time_scores(workspace: Path) -> Iterator[tuple[str, str]]:
    """Give how long Systems takes until it has points of all datasets, and what its intervals take behind them."""
    with forgotten(workspace), Timed.of(workspace) as server:
        begin, used = time.perf_counter(), processor_seconds(server.process)
        while "Scores are there for" in server.client.get("/systems").text:
            time.sleep(0.2)
        took = 1000 * (time.perf_counter() - begin)
        yield (
            "Systems: points of all datasets, cold",
            f"{took:.0f}/{1000 * (processor_seconds(server.process) - used):.0f}",
        )
        other = address("systems", task="A2KB", match="weak")
        begin = time.perf_counter()
        while "Scores are there for" in server.client.get(other).text:
            time.sleep(0.2)
        yield (
            "Systems: points of another task, while intervals of the first are computed",
            f"{1000 * (time.perf_counter() - begin):.0f}",
        )


POINTS = """
import sys
from remix.question import Question
from remix.scoring.choice import choose
from remix.scoring.together import evaluate_together
from remix.workspace import Workspace
work = Workspace(sys.argv[1])
names = tuple(entry.name for entry in work.datasets())
with work.store.hold_state():
    found = evaluate_together(work, choose(Question(datasets=names, task=("A2KB",), match=("weak",))))
print(len(found), "of", len(names))
"""


def time_points(workspace: Path) -> Iterator[tuple[str, str]]:
    """Give how long a process takes for the points of all datasets together, from its begin to its end."""
    taken, told = [], ""
    for _ in range(6):  # the first compiles modules
        begin, used = time.perf_counter(), os.times()
        told = subprocess.run(
            [sys.executable, "-c", POINTS, str(workspace)],
            capture_output=True,
            text=True,
            check=True,
            env=with_bytecode(),
        ).stdout.strip()
        spent = os.times()
        own = spent.children_user + spent.children_system - used.children_user - used.children_system
        taken.append((1000 * (time.perf_counter() - begin), 1000 * own))
    shown = "/".join(f"{statistics.median(one):.0f}" for one in zip(*taken[1:], strict=True))
    yield f"points of all datasets together ({told}), in a process of their own", shown


def time_builder(workspace: Path) -> Iterator[tuple[str, str]]:
    """Give how long a slider, a shipped query, an edited one and a manifest take in the builder."""
    with forgotten(workspace), Timed.of(workspace) as server:
        asked = [{"on": "ambiguitySurfaceForm,pagerank", "low.ambiguitySurfaceForm": one} for one in range(5, 100, 5)]
        server.ask(address("builder", **asked[0]))
        yield "a slider of the builder, moved", server.median(address("builder", **one) for one in asked[1:])
    with forgotten(workspace), Timed.of(workspace) as server:
        for name in ("persons_hard", "rare_entities"):
            place = address("builder", query=name)
            first = "{:.0f}/{:.0f}".format(*server.ask(place)[:2])
            yield f"waterfall of {name}, first and second time", f"{first}, {server.median([place] * 3)}"
        asked = [{"query": "persons_hard", "persons_hard.min_confusion": one} for one in range(3, 8)]
        yield "a parameter of a shipped query", server.median(address("builder", **one) for one in asked)
        text = find("persons_hard.rq").bind({})
        asked = [{"sparql": f"{text}# {one}\n"} for one in range(3)]
        yield "an edited query", server.median(address("builder", **one) for one in asked)
    for told, asked in (("persons_hard", {"query": "persons_hard"}), ("everything loaded", {})):
        with forgotten(workspace), Timed.of(workspace) as server:
            place = address("builder.manifest.ttl", **asked)
            first = "{:.0f}/{:.0f}".format(*server.ask(place)[:2])
            yield f"manifest of {told}, first and second time", f"{first}, {server.median([place] * 2)}"


def draw_addresses(work: Workspace, number: int, seed: int = 0) -> list[str]:
    """Return seeded addresses of all views, with choices of their forms; those of Systems choose rows and columns."""
    drawn = random.Random(seed)
    names = [entry.name for entry in work.datasets()]
    systems = sorted({one.run.system for one in known_runs(work.store)})
    chosen_of_systems = [Field("datasets", "datasets", values=names), Field("systems", "systems", values=systems)]
    forms: dict[str, tuple[dict[str, str], list[Field]]] = {"systems": ({}, chosen_of_systems)}
    for view in VIEWS:
        if view.name not in forms:  # that of Systems would be computed here
            example = dict(view.example(work))
            blocks = [*view.show(work, example).blocks]
            forms[view.name] = example, [field for block in blocks if isinstance(block, Form) for field in block.fields]
    found = []
    while len(found) < number:
        name, (example, fields) = drawn.choice([*forms.items()])
        chosen: dict[str, object] = dict(example)
        for field in fields:
            if drawn.random() < 0.5:
                continue
            if field.look == "range":
                chosen[field.name] = f"{drawn.uniform(field.low, field.high):.3f}"
            elif field.values:
                chosen[field.name] = drawn.choice([*field.values])
        for key in ("dataset", "name"):
            if chosen.get(key) in names:
                chosen[key] = drawn.choice(names)
        if name == "sparql":
            chosen = {"query": f"{SIMPLE.removesuffix('10')}{drawn.randrange(1000)}"}
        found.append(address(name, **chosen))
    return found


def show_addresses(workspace: Path, number: int, seed: int) -> None:
    """Print the memory of a server over many addresses, what they use, and how much is kept in memory and on disk."""
    work = open_workspace(workspace)
    asked, codes, slow = draw_addresses(work, number, seed), dict[int, int](), list[tuple[float, str]]()
    with Timed.of(workspace) as server:
        for nth, place in enumerate(asked, 1):
            took, _, answer = server.ask(place)
            codes[answer.status_code] = codes.get(answer.status_code, 0) + 1
            slow.append((took, place))
            if nth % max(1, number // 8) == 0:
                own, every = memory(server.process, alone=True), memory(server.process)
                kept = sum(file.stat().st_size for file in (workspace / "cache").rglob("*") if file.is_file())
                said = f"server {own:.0f} MB, with workers {every:.0f} MB, cache on disk {kept / 1e6:.1f} MB"
                used = processor_seconds(server.process)
                print(f"{nth} addresses: {said}; {used:.0f} s of the processors; {codes}", flush=True)
    print("slowest:", *(f"{took:.0f} ms {place[:150]}" for took, place in sorted(slow, reverse=True)[:8]), sep="\n  ")
    for place in asked[: number // 4]:
        name, _, query = place.removeprefix("/").partition("?")
        with contextlib.suppress(Error):
            if name == "systems":
                continue
            VIEWS[name].show(work, dict(parse_qsl(query)))
    print(
        f"answers that are kept in memory: {work.store.cached.size / 1e6:.1f} MB of {work.store.cached.room / 1e6:.0f}"
    )


class Client:
    """A connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, query: str) -> tuple[int, int]:
        """Return the status and the length of an answer."""
        self.writer.write(
            f"GET /sparql?query={quote(query)} HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n".encode()
        )
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if length := re.search(rb"content-length: (\d+)", head):
            size = len(await self.reader.readexactly(int(length[1])))
        else:
            size = 0
            while block := int(await self.reader.readuntil(b"\r\n"), 16):
                size += len(await self.reader.readexactly(block + 2)) - 2
            await self.reader.readexactly(2)
        return int(head[9:12]), size


def memory(process: int, *, alone: bool = False) -> float:
    """Return the MB of memory that a process has, with its children unless `alone`."""
    found = 0
    for one in (process, *([] if alone else children(process))):
        with contextlib.suppress(OSError):  # it has ended, or is about to
            said = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{one}/status").read_text())
            found += int(said[1]) if said else 0
    return found / 1024


async def measured(host: str, port: int, process: int, clients: int, requests: int) -> None:
    one = Client(*await asyncio.open_connection(host, port, limit=1 << 26))
    taken = []
    for _ in range(200):
        begin = time.perf_counter()
        assert (await one.ask(SIMPLE))[0] == 200
        taken.append(1000 * (time.perf_counter() - begin))
    print(f"one client: {statistics.median(taken[20:]):.1f} ms in the median, {max(taken[20:]):.1f} at most")

    async def client(number: int) -> list[int]:
        own = Client(*await asyncio.open_connection(host, port))
        return [(await own.ask(SIMPLE))[0] for _ in range(number)]

    for _ in range(4):
        begin = time.perf_counter()
        found = await asyncio.gather(*(client(requests // clients // 4) for _ in range(clients)))
        codes = [code for some in found for code in some]
        took = time.perf_counter() - begin
        rate = f"{len(codes):,} requests, {codes.count(200):,} of them answered, {len(codes) / took:.0f} a second"
        print(f"{clients} clients: {rate}; server and workers have {memory(process):.0f} MB")
    one = Client(*await asyncio.open_connection(host, port, limit=1 << 26))
    begin = time.perf_counter()
    status, size = await one.ask(LARGE)
    took = time.perf_counter() - begin
    print(
        f"large result: {status}, {size / 1e6:.1f} MB in {took:.2f} s; server and workers have {memory(process):.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--only", default="pages,addresses,clients")
    parser.add_argument("--addresses", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        workspace = options.real or options.workspace or Path(name) / "workspace"
        if options.real and not options.real.is_dir():
            make_real(options.real)
        elif workspace.parent == Path(name):
            generate(200_000, Path(name) / "corpus.ttl")
            Store(workspace).load(Path(name) / "corpus.ttl")
        asked = options.only.split(",")
        if "pages" in asked:
            show_pages(workspace)
        if "scores" in asked:
            print("| what | ms |\n|---|--:|")
            for what, taken in [*time_points(workspace), *time_scores(workspace)]:
                print(f"| {what} | {taken} |", flush=True)
        if "addresses" in asked:
            show_addresses(workspace, options.addresses, options.seed)
        if "clients" in asked:
            with served(workspace) as (process, host, port):
                asyncio.run(measured(host, port, process.pid, options.clients, options.requests))


if __name__ == "__main__":
    main()
