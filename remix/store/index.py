"""An index of triples, asked: for solutions, for triples, and for all triples about some subjects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix.errors import QueryError
from remix.expressions import fill
from remix.locks import Lock
from remix.names import PREFIXES
from remix.places import verify
from remix.rdf.parsing import parse_lines
from remix.store.problems import guard, open_index, syntax_error
from remix.store.state import MADE, read_generation
from remix.store.syntax import has_dataset_clause, modern

_CHUNK = 20_000
_PER_SUBJECT = 1000
"""Lines of files that are read in the time that the triples of one subject are looked up."""

_THREADS = 4
"""Queries that run at once."""

_SUBJECT = pl.col("line").str.splitn(" ", 2).struct[0]

_OWN = r"^\S+ \S+ (?:_:|<<)"
"""A line whose object is a blank node, whose name only the store knows, or a triple."""

_RESPELT = r'\\|"\^\^<[^>]*> \.$|"@[A-Za-z0-9-]*[A-Z][A-Za-z0-9-]* \.$'
"""A line whose object a store may spell otherwise: escapes, datatypes, language tags in upper case."""


class Index:
    """One generation of the index, opened read-only; without a path an empty one.

    The default graph of a query is the union of all graphs, unless the query names its own with `FROM`. A `store`
    is the one at the path where it is open already. The lock keeps the generation there as long as its index is used.
    """

    def __init__(self, path: Path | None, store: ox.Store | None = None, *, lock: Lock | None = None) -> None:
        self.path = path
        self._lock = lock
        if store is not None:
            self._store = store

    @classmethod
    def on_disk(cls, folder: Path, graphs: Mapping[str, bytes]) -> Path:
        """Return the place of a new index of graphs, in a folder: for what is asked in a process of its own."""
        made = ox.Store(str(place := folder / "oxigraph"))
        for iri, triples in graphs.items():
            made.bulk_load(triples, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(iri))
        made.flush()
        return place

    @cached_property
    def _store(self) -> ox.Store:
        return open_index(self.path)

    def frame(self, text: str, name: str = "the query") -> pl.DataFrame:
        """Return the solutions of a SELECT as a frame of terms as N-Triples spells them; unbound is null.

        Well-known prefixes and both hfts namespaces are understood. Raises `QueryError` for one that does not parse.
        """
        return terms_of(self._answer(text, name))

    def triples(self, text: str, name: str = "the query") -> list[bytes]:
        """Return the triples of a CONSTRUCT or DESCRIBE as distinct lines of N-Triples, in no order; see `frame`."""
        return list(set(self._answer(text, name).splitlines()))

    def is_true(self, text: str, name: str = "the query") -> bool:
        """Return the answer to an ASK; see `frame`."""
        return self._answer(text, name) == b"true\n"

    def _answer(self, text: str, name: str) -> bytes:
        """Return what a query answers, as TSV, as N-Triples, or `true` or `false`.

        It runs in this process, without a limit: for queries of the project's own making.
        """
        text = modern(text)
        union = not has_dataset_clause(text)
        try:
            with guard(name):
                found = self._store.query(text, prefixes=PREFIXES, use_default_graph_as_union=union)
                if isinstance(found, ox.QueryBoolean):
                    return b"true\n" if found else b"false\n"
                if isinstance(found, ox.QueryTriples):
                    return found.serialize(format=ox.RdfFormat.N_TRIPLES) or b""
                return found.serialize(format=ox.QueryResultsFormat.TSV) or b""
        except SyntaxError as error:
            raise QueryError(syntax_error(text, str(error), name)) from None

    def about(self, subjects: pl.Series) -> pl.DataFrame:
        """Return the triples of these subjects, terms as N-Triples spells them: `subject` and the whole `line`.

        Literals have none. Those of many subjects come from the workspace's files, in columns; a triple of two
        graphs may come twice.
        """
        named = subjects.filter(subjects.str.starts_with("<")).unique(maintain_order=True)
        lines = pl.DataFrame(schema={"subject": pl.String, "line": pl.String})
        files = [file for file, _ in self._files]
        many = _PER_SUBJECT * len(named) > sum(count for _, count in self._files)
        if files and many and all(file.exists() for file in files):
            for file in files:
                verify(file.parent, file.name)
            lines, named = lines_about(files, named)
        nodes = [ox.BlankNode(one[2:]) for one in subjects.filter(subjects.str.starts_with("_:")).unique()]
        quads = (quad for node in nodes for quad in self._store.quads_for_pattern(node, None, None, None))
        looked_up = [*self._look_up(named.to_list()), *(f"{quad.triple} ." for quad in quads)]
        return pl.concat([lines, with_subjects(looked_up)])

    @cached_property
    def _files(self) -> list[tuple[Path, int]]:
        """Return the files that hold the triples of this generation and how many each has."""
        if self.path is None or not (self.path.parent / MADE["index"]).is_file():
            return []
        state, folder = read_generation(self.path.parent), self.path.parent.parent.parent
        return [(folder / file, count) for file, count in state.graphs().values()]

    def _look_up(self, iris: list[str]) -> list[str]:
        # Oxigraph answers a query in one thread and leaves the interpreter to others meanwhile.
        threads = min(_THREADS, os.cpu_count() or 1)
        chunk = max(1000, min(_CHUNK, -(-len(iris) // threads)))
        chunks = [" ".join(iris[begin : begin + chunk]) for begin in range(0, len(iris), chunk)]
        with ThreadPoolExecutor(threads) as pool:
            queries = (f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ VALUES ?s {{ {some} }} ?s ?p ?o }}" for some in chunks)
            return [line.decode() for lines in pool.map(self.triples, queries) for line in lines]

    def graphs(self) -> list[str] | None:
        """Return the IRIs of the named graphs, sorted; None where that is not known."""
        with guard("the index"):
            return sorted(graph.value for graph in self._store.named_graphs())

    def __len__(self) -> int:
        """Return the number of triples in all graphs."""
        return len(self._store)


def lines_about(files: Iterable[Path], subjects: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Return the triples of these subjects in files of N-Triples, and the subjects whose triples are not all there.

    Subjects are IRIs as N-Triples spells them. The frame has `subject` and `line`, spelt as a store spells it; a
    line comes once for each file that has it. Raises `OSError` for a file that is gone.

    A look-up in the store costs about ten microseconds a triple, reading all lines a tenth of that. A store does not
    spell every literal as the file does ("007" becomes "7", a nonNegativeInteger an integer), so what may differ is put
    through one, each literal once.
    """
    wanted = subjects.unique().implode()
    # One scan of all the files: one for each would make the set of what is wanted again for each.
    scanned = pl.scan_lines(list(files), name="line").with_columns(subject=_SUBJECT)
    try:
        found = scanned.filter(pl.col("subject").is_in(wanted)).collect()
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from None
    line = pl.col("line")
    perhaps = found.filter(line.str.contains(" _:", literal=True) | line.str.contains(" <<", literal=True))
    own = perhaps.filter(line.str.contains(_OWN))["subject"].unique()
    if len(own):
        found = found.filter(~pl.col("subject").is_in(own.implode()))
    return _respelt(found), own


def with_subjects(lines: Iterable[str]) -> pl.DataFrame:
    """Return lines of N-Triples with their subjects: `subject` and `line`.

    >>> with_subjects(["<urn:s> <urn:p> <urn:o> ."]).rows()
    [('<urn:s>', '<urn:s> <urn:p> <urn:o> .')]
    """
    return pl.DataFrame({"line": pl.Series(lines, dtype=pl.String)}).select(_SUBJECT.alias("subject"), "line")


def _respelt(found: pl.DataFrame) -> pl.DataFrame:
    """Return the lines with each literal as a store spells it."""
    odd = found["line"].str.contains(_RESPELT)
    terms = pl.col("line").str.splitn(" ", 3).struct
    split = found.filter(odd).select("subject", predicate=terms[1], object=terms[2])
    given = split["object"].unique()
    texts = pl.select(fill("<urn:n:{}> <urn:is> {}", pl.int_range(len(given)), pl.lit(given))).to_series()
    store = ox.Store()
    store.bulk_load(texts.str.join("\n")[0].encode(), ox.RdfFormat.N_TRIPLES, lenient=True)
    dumped = store.dump(format=ox.RdfFormat.N_TRIPLES, from_graph=ox.DefaultGraph()) or b""
    stored = pl.DataFrame({"line": pl.Series(dumped.decode().split("\n")[:-1], dtype=pl.String)})
    stored = stored.select(number=terms[0].str.extract(r"(\d+)>$").cast(pl.Int64), again=terms[2])
    changed = split.with_columns(pl.col("object").replace(given.gather(stored["number"]), stored["again"]))
    made = changed.select("subject", line=fill("{} {} {}", "subject", "predicate", "object"))
    return pl.concat([found.filter(~odd).select("subject", "line"), made])


def terms_of(solutions: bytes) -> pl.DataFrame:
    """Return solutions in SPARQL's TSV as terms of N-Triples, a column a variable; unbound is null.

    >>> terms_of(b'?s\\t?n\\n<urn:a>\\t1\\n<urn:b>\\t\\n').rows()
    [('<urn:a>', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'), ('<urn:b>', None)]
    """
    head, *lines = solutions.decode().split("\n")[:-1]
    names = [name[1:] for name in head.split("\t") if name]
    cells = pl.col("line").str.split("\t").list
    frame = pl.DataFrame({"line": lines}, schema={"line": pl.String}).select(
        cells.get(at, null_on_oob=True).alias(name) for at, name in enumerate(names)
    )
    frame = frame.with_columns(pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names)
    every = pl.concat([pl.Series("term", [], dtype=pl.String), *(frame[name].alias("term") for name in names)])
    short = every.filter(~every.str.contains(r"^(?:<[^<]|_:)")).unique()
    if short.is_empty():
        return frame
    turtle = "".join(f"<urn:s> <urn:p> {term} .\n" for term in short)
    full = [str(quad.object) for quad in parse_lines(turtle.encode(), ox.RdfFormat.TURTLE, lenient=True)]
    return frame.with_columns(pl.col(name).replace(short, pl.Series(full, dtype=pl.String)) for name in names)
