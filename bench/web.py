"""Measure `remix serve`: pages, one client of the endpoint, fifty at once, a large result, memory over many requests.

python bench/web.py [--real DIR | --workspace DIR] [--clients 50] [--requests 10000]

`--real` names a workspace of all real NIF and the gold of EMNLP 2019, ELEVANT and HIPE 2022, with the published answers
and those of the built-in systems, which is made where it is not there (data from REMIX_REAL_DATA). Else a generated
corpus of 200,000 triples is served. The clients are one process that does little else.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
from generate_nif import generate
from real import DATA, SYSTEMS, corpora

from remix.errors import Error
from remix.store import Store
from remix.web.page import VIEWS, address
from remix.workspace import Workspace, open_workspace

SIMPLE = "SELECT ?a { ?a a nif:Phrase } LIMIT 10"
LARGE = "SELECT * { ?s ?p ?o } LIMIT 200000"


@contextlib.contextmanager
def served(workspace: Path) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Give the process of a server, its host and its port."""
    command = [sys.executable, "-m", "remix", "serve", "-w", str(workspace), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        parts = urlsplit(process.stderr.readline().split()[-1])
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


def show_pages(host: str, port: int, work: Workspace) -> None:
    """Print how long pages take, the first time and in the median of five later ones, and a slider of the builder."""
    with httpx.Client(base_url=f"http://{host}:{port}", timeout=600) as client:
        for place in pages(work):
            taken = []
            for _ in range(6):
                begin = time.perf_counter()
                answer = client.get(place)
                taken.append(1000 * (time.perf_counter() - begin))
            later = f"{statistics.median(taken[1:]):.0f} ms later, {len(answer.content) / 1000:,.0f} kB"
            print(f"{place[:90]}: {answer.status_code}, {taken[0]:.0f} ms at first, {later}")
        taken = []
        for percentile in range(5, 100, 5):
            condition = {"on": "ambiguitySurfaceForm,pagerank", "low.ambiguitySurfaceForm": percentile}
            begin = time.perf_counter()
            client.get(address("builder", **condition))
            taken.append(1000 * (time.perf_counter() - begin))
        print(f"a slider of the builder, moved: {statistics.median(taken):.0f} ms, {max(taken):.0f} ms at most")
        taken = []
        for least in range(2, 12):
            asked = {"query": "persons_hard", "persons_hard.min_confusion": least}
            begin = time.perf_counter()
            client.get(address("builder", **asked))
            taken.append(1000 * (time.perf_counter() - begin))
        print(f"a parameter of a shipped query: {statistics.median(taken[1:]):.0f} ms, {max(taken[1:]):.0f} ms at most")


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


def memory(process: int) -> float:
    """Return the MB of memory that a process and its children have, and how many these are."""
    children = [one for file in Path(f"/proc/{process}/task").glob("*/children") for one in file.read_text().split()]
    found = (Path(f"/proc/{one}/status").read_text() for one in (process, *children))
    return sum(int(re.search(r"VmRSS:\s*(\d+)", text)[1]) for text in found) / 1024  # type: ignore[index]


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
        with served(workspace) as (process, host, port):
            show_pages(host, port, open_workspace(workspace))
            asyncio.run(measured(host, port, process.pid, options.clients, options.requests))


if __name__ == "__main__":
    main()
