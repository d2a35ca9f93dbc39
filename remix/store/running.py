"""One query after another in a process of its own, which can be killed: this file is run as a script by a worker.

It is given each request as a line of JSON on its standard input, and answers on its standard output in blocks: four
bytes of length and so many bytes, first what the answer is as JSON, then the serialised result, at the end a block
of length zero. A negative length marks what went wrong on the way, as JSON. It imports little, so it starts in some
50 ms; the parser and the rewrite are loaded only for a query that needs them.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import select
import signal
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph as ox

from remix.errors import Error, QueryError
from remix.names import PREFIXES
from remix.rdf.parsing import parse_lines
from remix.store.missing import Known, missing
from remix.store.problems import guard, open_index, syntax_error

GIBIBYTE = 1 << 30
STOPS = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""Exit codes of a process that was stopped, as a signal to its whole group does: they say nothing of the question."""
_KEPT = 256 << 20
"""Bytes of memory up to which a process answers a further query."""
_BLOCK = 1 << 16
_LARGEST_BLOCK = 1 << 24
"""Bytes of a block, of which four bytes say how long it is: a value may have more than they can say."""
_SOLUTIONS = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}
_GRAPHS = {
    "ttl": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}


_SIGNS = ("service", "from", "nif-ext", "notannotatedproperty", "\\u")
"""What makes the parser necessary: a query without any of these reads the union of all graphs and nothing else."""
_SHAPES = ("construct", "limit", "offset", "\\u")
"""What is said by each query that is rewritten, or has a sub-select to be ordered."""


@dataclass(frozen=True)
class Request:
    """A query, how it is to be answered, and what it may use: seconds, bytes of memory, and bytes of its result.

    `solutions` (json, xml, csv, tsv) and `graph` (ttl, nt, rdfxml, jsonld) are the formats of either kind of result.
    `rewrite` lets a CONSTRUCT be rewritten; `ordered` sorts triples, and sub-selects with a LIMIT. `default_graphs`
    and `named_graphs`, where given, are the dataset of the query whatever it says itself; else its default graph is
    the union of all. `predicates`, where given, are the only ones whose triples the query can match.
    """

    text: str
    name: str = "the query"
    solutions: str = "json"
    graph: str = "ttl"
    rewrite: bool = False
    ordered: bool = False
    allow_services: Sequence[str] = ()
    default_graphs: Sequence[str] | None = None
    named_graphs: Sequence[str] | None = None
    predicates: Sequence[str] | None = None
    timeout: float = 60
    memory: int = 4 * GIBIBYTE
    largest: int | None = None


class _Stream:
    """Standard output as blocks; what is written to it is one answer."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Hold some bytes of the result, and send them when they are many."""
        self._held += data
        if len(self._held) >= _BLOCK:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Send what is held."""
        for begin in range(0, len(self._held), _LARGEST_BLOCK):
            self.send(bytes(self._held[begin : begin + _LARGEST_BLOCK]))
        self._held.clear()

    def send(self, data: bytes, *, wrong: bool = False) -> None:
        """Send one block, as what went `wrong` if so."""
        content = struct.pack(">i", -len(data) if wrong else len(data)) + data
        while content:
            content = content[os.write(1, content) :]


def _main() -> None:
    """Answer requests until there are no more, or this process has become large."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and ends this
    _lower(resource.RLIMIT_CORE, 0)
    index = _Opened()
    while line := sys.stdin.buffer.readline():
        said = json.loads(line)
        if said["folder"]:  # from which the index is named; who asks may have gone on to another
            os.chdir(said["folder"])
        request = Request(**said["request"])
        _lower(resource.RLIMIT_AS, request.memory)
        spent = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(request.timeout) * (os.cpu_count() or 1) + 5
        _lower(resource.RLIMIT_CPU, seconds + int(spent.ru_utime + spent.ru_stime) + 1)
        _end_with_input(True)
        stream = _Stream()
        try:
            _answer(request, index, Path(said["index"]) if said["index"] else None, stream)
        except Error as error:
            stream.send(json.dumps({"error": str(error), "kind": type(error).__name__}).encode(), wrong=True)
        _end_with_input(False)
        stream.send(b"")
        if _largest_size() > _KEPT:
            break


def _largest_size() -> int:
    """Return the most bytes that this process has held at once.

    What `getrusage` says is, on Linux, at least what the process held that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _lower(limit: int, value: int) -> None:
    """Set a limit of this process, where the user's own is not lower already."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _end_with_input(on: bool) -> None:
    """Let the kernel end this process when its input ends, for who asked is gone and cannot kill it any more."""
    flags = fcntl.fcntl(0, fcntl.F_GETFL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
    waiting = select.poll()
    waiting.register(0, 0)
    if waiting.poll(0):
        sys.exit("the process that asked is gone")


class _Opened:
    """The index that was opened last; one that was built anew in its place is another."""

    def __init__(self) -> None:
        self.sign: object = None
        self.store = ox.Store()
        self.known = Known(self.store)

    def at(self, path: Path | None) -> ox.Store:
        """Return the index in a folder, read-only; an empty one for None. Raises `StoreError`."""
        place = None if path is None or not path.is_dir() else path.stat()
        sign = path and (path, place and (place.st_dev, place.st_ino, place.st_mtime_ns))
        if sign != self.sign:
            self.store, self.sign = open_index(path), sign
            self.known = Known(self.store)
        return self.store


def _answer(request: Request, index: _Opened, path: Path | None, stream: _Stream) -> None:
    with guard(request.name):
        store = index.at(path)
        results, notes, rewritten = _results(store, request, path)
        notes = [*notes, *missing(request.text, index.known)]
        kinds = {ox.QuerySolutions: "solutions", ox.QueryBoolean: "boolean"}
        kind = kinds.get(type(results), "graph")
        stream.send(json.dumps({"kind": kind, "notes": notes, "rewritten": rewritten}).encode())
        out = cast(IO[bytes], stream)
        if isinstance(results, ox.QueryBoolean) and request.solutions in ("csv", "tsv"):
            out.write(b"true\n" if results else b"false\n")
        elif isinstance(results, ox.QuerySolutions | ox.QueryBoolean):
            results.serialize(out, format=_SOLUTIONS[request.solutions])
        else:
            _write_graph(results, request, out)
        stream.flush()


def _results(store: ox.Store, request: Request, path: Path | None) -> tuple[Any, list[str], str]:
    """Return the result of a query, notes for the user, and the text that was run."""
    text = request.text
    if request.rewrite or request.ordered or any(sign in text.lower() for sign in _SIGNS):
        from remix.store.permission import permit

        graphs = [graph.value for graph in store.named_graphs()]
        text = permit(text, name=request.name, allow_services=request.allow_services, graphs=graphs)
    if (request.rewrite or request.ordered) and any(shape in text.lower() for shape in _SHAPES):
        from remix.store.index import Index
        from remix.store.rewrite import construct, plan

        how = plan(text)
        notes = [
            *how.notes,
            *(
                f"{one} in the template is never bound by the pattern{_explain_name(new)}"
                for one, new in how.unbound.items()
            ),
        ]
        if request.rewrite and how.selection is not None:
            return construct(Index(path, store), how, request.name), notes, how.selection
        return _query(store, request, how.text), notes, how.text
    return _query(store, request, text), [], text


def _explain_name(name: str | None) -> str:
    return f", so those triples are left out; did you mean {name}?" if name else ", so those triples are left out"


def _graphs_read(store: ox.Store, request: Request) -> list[ox.NamedNode]:
    """Return the graphs whose union is the default graph, without those that have no triple of the predicates.

    Oxigraph looks each triple up in each of them: those of sixteen runs beside each dataset take most of the time of a
    query that reads nothing of runs.
    """
    graphs = [ox.NamedNode(iri) for iri in request.default_graphs or ()]
    if request.predicates is None:
        return graphs
    wanted = [ox.NamedNode(iri) for iri in request.predicates]
    return [graph for graph in graphs if any(any(store.quads_for_pattern(None, one, None, graph)) for one in wanted)]


def _query(store: ox.Store, request: Request, text: str) -> Any:
    choices: dict[str, Any] = {}
    if request.default_graphs is not None or request.named_graphs is not None:
        choices["default_graph"] = _graphs_read(store, request)
        choices["named_graphs"] = [ox.NamedNode(iri) for iri in request.named_graphs or ()]
    elif "from" in text.lower():
        from remix.store.syntax import has_dataset_clause

        choices["use_default_graph_as_union"] = not has_dataset_clause(text)
    else:
        choices["use_default_graph_as_union"] = True
    try:
        return store.query(text, prefixes=PREFIXES, **choices)
    except SyntaxError as error:
        from remix.store.permission import permit

        permit(text, name=request.name)  # says so if it is an update
        raise QueryError(syntax_error(text, str(error), request.name)) from None


def _write_graph(results: ox.QueryTriples | list[bytes], request: Request, out: IO[bytes]) -> None:
    form = _GRAPHS[request.graph]
    if isinstance(results, ox.QueryTriples) and not request.ordered:
        results.serialize(out, format=form)
        return
    if isinstance(results, ox.QueryTriples):
        results = sorted(set((results.serialize(format=ox.RdfFormat.N_TRIPLES) or b"").splitlines()))
    if request.graph == "nt":
        for line in results:
            out.write(line + b"\n")
        return
    triples = parse_lines(b"\n".join(results), ox.RdfFormat.N_TRIPLES, lenient=True)
    used = {prefix: iri for prefix, iri in PREFIXES.items() if any(iri.encode() in line for line in results)}
    ox.serialize((quad.triple for quad in triples), out, form, prefixes=used)


if __name__ == "__main__":
    _main()
