"""Queries in a process of their own, which can be killed: Oxigraph has no time limit and cannot be interrupted.

The process is this file run as a script. It is given the request as JSON on its standard input, and answers on
its standard output with one line of JSON and then the serialised result. It imports little, so it starts in some
50 ms; the parser and the rewrite are loaded only for a query that needs them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph as ox

from remix.errors import Error, NotAllowed, QueryError, StoreError, Timeout
from remix.names import PREFIXES

__all__ = ["Answer", "Request", "TooLarge", "ask"]

GIBIBYTE = 1 << 30
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


class TooLarge(StoreError):
    """A result larger than it may be."""


@dataclass(frozen=True)
class Request:
    """A query and how it is to be answered.

    `solutions` (json, xml, csv, tsv) and `graph` (ttl, nt, rdfxml, jsonld) are the formats of either kind of result.
    `rewrite` lets a CONSTRUCT be rewritten; `ordered` sorts triples, and sub-selects with a LIMIT. `default_graphs`
    and `named_graphs`, where given, are the dataset of the query whatever it says itself; else its default graph is
    the union of all.
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


@dataclass
class Answer:
    """A result: `kind` is solutions, boolean or graph; `body` holds it serialised, from its beginning."""

    kind: str
    body: IO[bytes]
    notes: list[str] = field(default_factory=list)
    rewritten: str = ""


def ask(
    index: Path | None,
    request: Request,
    *,
    timeout: float = 60,
    memory: int = 4 * GIBIBYTE,
    largest: int | None = None,
    stop: threading.Event | None = None,
) -> Answer:
    """Return the answer to a query on the index in a folder (None for an empty one).

    Another thread may set `stop` to end it. Raises `QueryError` for a query that does not parse or is not allowed,
    `Timeout` after so many seconds, `TooLarge` for a result of more bytes than `largest`, `StoreError` for what else
    went wrong in the process.

    >>> with ask(None, Request("ASK {}")).body as body:
    ...     print(body.read().decode())
    {"head":{},"boolean":true}
    """
    limits = {"parent": os.getpid(), "memory": memory, "seconds": int(timeout) * (os.cpu_count() or 1) + 5}
    said = json.dumps({"index": str(index) if index else None, "limits": limits, "request": asdict(request)})
    with _process() as (process, errors):
        late, stop = threading.Event(), stop or threading.Event()
        watch = threading.Thread(target=_watch, args=(process, timeout, stop, late))
        watch.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                cast(IO[bytes], process.stdin).write(said.encode())
                cast(IO[bytes], process.stdin).close()
            output = cast(IO[bytes], process.stdout)
            head = output.readline()
            body = _spooled(output, request.name, largest)
            code = process.wait()
            stopped = stop.is_set()
        finally:
            stop.set()
            watch.join()
        header = json.loads(head) if head.endswith(b"\n") else {}
        try:
            if late.is_set():
                raise Timeout(f"{request.name} ran longer than {timeout:g} s: make it narrower, or allow more time")
            if stopped:
                raise StoreError(f"{request.name} was stopped")
            _check(header, code, errors, request.name, memory)
        except Error:
            body.close()
            raise
    return Answer(header["kind"], body, header["notes"], header["rewritten"])


def _watch(process: subprocess.Popen[bytes], timeout: float, stop: threading.Event, late: threading.Event) -> None:
    """Kill the process when it is to stop or takes too long; one that has ended by itself is left alone."""
    if not stop.wait(timeout):
        late.set()
    process.kill()


@contextlib.contextmanager
def _process() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Start the worker; it is gone at the end of the block, whatever happens in it."""
    with tempfile.TemporaryFile() as errors:
        # Without -P the folder of this file would come first among the places that modules are looked for.
        command = [sys.executable, "-P", __file__]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors) as process:
            try:
                yield process, errors
            finally:
                process.kill()


def _spooled(output: IO[bytes], name: str, largest: int | None) -> IO[bytes]:
    body = cast(IO[bytes], tempfile.SpooledTemporaryFile(max_size=1 << 24))  # noqa: SIM115  (the caller's to close)
    size = 0
    while block := output.read(1 << 16):
        size += len(block)
        if largest is not None and size > largest:
            body.close()
            raise TooLarge(f"the result of {name} is larger than {largest:,} bytes: add a LIMIT")
        body.write(block)
    body.seek(0)
    return body


def _check(header: dict[str, Any], code: int, errors: IO[bytes], name: str, memory: int) -> None:
    """Raise what the process said, or what its end tells."""
    if header.get("error"):
        kinds = {"QueryError": QueryError, "NotAllowed": NotAllowed}
        raise kinds.get(header["kind"], StoreError)(header["error"])
    if code == 0 and header:
        return
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().splitlines()
    last = said[-1] if said else f"exit code {code}"
    if code in (-6, -9, -11) or "memory" in last.lower():
        raise StoreError(f"{name} needed more than its {memory / GIBIBYTE:g} GiB of memory ({last}): make it narrower")
    raise StoreError(f"{name} failed: {last}")


def _main() -> None:
    """Answer the request on standard input."""
    import resource

    said = json.load(sys.stdin)
    limits = said["limits"]
    resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"], limits["seconds"] + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = Request(**said["request"])
    _end_with(limits["parent"])
    try:
        _answer(request, Path(said["index"]) if said["index"] else None)
    except Error as error:
        _head({"error": str(error), "kind": type(error).__name__})


def _end_with(parent: int) -> None:
    """Let the kernel end this process with the thread that asks, which then cannot kill it any more."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        sys.exit("the process that asked is gone")


def _head(header: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n")


def _answer(request: Request, path: Path | None) -> None:
    try:
        store = ox.Store() if path is None else ox.Store.read_only(str(path))
    except (OSError, RuntimeError) as error:
        from remix.store.problems import unopened

        raise StoreError(unopened(path, error)) from None
    results, notes, rewritten = _results(store, request, path)
    kinds = {ox.QuerySolutions: "solutions", ox.QueryBoolean: "boolean"}
    _head({"kind": kinds.get(type(results), "graph"), "notes": notes, "rewritten": rewritten})
    try:
        if isinstance(results, ox.QueryBoolean) and request.solutions in ("csv", "tsv"):
            sys.stdout.buffer.write(b"true\n" if results else b"false\n")
        elif isinstance(results, ox.QuerySolutions | ox.QueryBoolean):
            results.serialize(sys.stdout.buffer, format=_SOLUTIONS[request.solutions])
        else:
            _write_graph(results, request)
    except (OSError, RuntimeError) as error:
        sys.exit(str(error))


def _results(store: ox.Store, request: Request, path: Path | None) -> tuple[Any, list[str], str]:
    """Return the result of a query, notes for the user, and the text that was run."""
    text = request.text
    if request.rewrite or request.ordered or any(sign in text.lower() for sign in _SIGNS):
        from remix.store.permission import permitted

        graphs = [graph.value for graph in store.named_graphs()]
        text = permitted(text, name=request.name, allow_services=request.allow_services, graphs=graphs)
    if request.rewrite or request.ordered:
        from remix.store.index import Index
        from remix.store.rewrite import construct, plan

        how = plan(text)
        notes = [
            *how.notes,
            *(f"{one} in the template is never bound by the pattern{_meant(new)}" for one, new in how.unbound.items()),
        ]
        if request.rewrite and how.selection is not None:
            return construct(Index(path), how, request.name), notes, how.selection
        return _queried(store, request, how.text), notes, how.text
    return _queried(store, request, text), [], text


def _meant(name: str | None) -> str:
    return f", so those triples are left out; did you mean {name}?" if name else ", so those triples are left out"


def _queried(store: ox.Store, request: Request, text: str) -> Any:
    choices: dict[str, Any] = {}
    if request.default_graphs is not None or request.named_graphs is not None:
        choices["default_graph"] = [ox.NamedNode(iri) for iri in request.default_graphs or ()]
        choices["named_graphs"] = [ox.NamedNode(iri) for iri in request.named_graphs or ()]
    elif "from" in text.lower():
        from remix.store.syntax import has_dataset_clause

        choices["use_default_graph_as_union"] = not has_dataset_clause(text)
    else:
        choices["use_default_graph_as_union"] = True
    try:
        return store.query(text, prefixes=PREFIXES, **choices)
    except SyntaxError as error:
        from remix.store.permission import permitted
        from remix.store.problems import syntax_error

        permitted(text, name=request.name)  # says so if it is an update
        raise QueryError(syntax_error(text, str(error), request.name)) from None
    except (OSError, RuntimeError) as error:
        raise StoreError(f"{request.name}: {error}") from None


def _write_graph(results: ox.QueryTriples | list[bytes], request: Request) -> None:
    out, form = sys.stdout.buffer, _GRAPHS[request.graph]
    if isinstance(results, ox.QueryTriples) and not request.ordered:
        results.serialize(out, format=form)
        return
    if isinstance(results, ox.QueryTriples):
        results = sorted(set((results.serialize(format=ox.RdfFormat.N_TRIPLES) or b"").splitlines()))
    if request.graph == "nt":
        out.writelines(line + b"\n" for line in results)
        return
    triples = ox.parse(b"\n".join(results), ox.RdfFormat.N_TRIPLES, lenient=True)
    used = {prefix: iri for prefix, iri in PREFIXES.items() if any(iri.encode() in line for line in results)}
    ox.serialize((quad.triple for quad in triples), out, form, prefixes=used if request.graph != "nt" else None)


if __name__ == "__main__":
    _main()
