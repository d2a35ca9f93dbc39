"""Triples as columns: the lines of N-Triples that a workspace's files hold, for many subjects at once.

A look-up in the store costs about ten microseconds a triple, reading all lines a tenth of that. A store does not
spell every literal as the file does ("007" becomes "7", a nonNegativeInteger an integer), so what may differ is put
through one, each literal once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix.expressions import fill

__all__ = ["lines_about", "terms_of", "with_subjects"]

_SUBJECT = pl.col("line").str.splitn(" ", 2).struct[0]

_OWN = r"^\S+ \S+ (?:_:|<<)"
"""A line whose object is a blank node, whose name only the store knows, or a triple."""

_RESPELT = r'\\|"\^\^<[^>]*> \.$|"@[A-Za-z0-9-]*[A-Z][A-Za-z0-9-]* \.$'
"""A line whose object a store may spell otherwise: escapes, datatypes, language tags in upper case."""


def lines_about(files: Iterable[Path], subjects: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Return the triples of these subjects in files of N-Triples, and the subjects whose triples are not all there.

    Subjects are IRIs as N-Triples spells them. The frame has `subject` and `line`, spelt as a store spells it; a
    line comes once for each file that has it. Raises `OSError` for a file that is gone.
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


def terms_of(solutions: bytes, names: Sequence[str]) -> pl.DataFrame:
    """Return solutions in SPARQL's TSV as terms of N-Triples, a column a variable; unbound is null.

    >>> terms_of(b'?s\\t?n\\n<urn:a>\\t1\\n<urn:b>\\t\\n', ["s", "n"]).rows()
    [('<urn:a>', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'), ('<urn:b>', None)]
    """
    lines = pl.Series("line", solutions.decode().split("\n")[1:-1], dtype=pl.String).to_frame()
    cells = pl.col("line").str.split("\t").list
    frame = lines.select(cells.get(at, null_on_oob=True).alias(name) for at, name in enumerate(names))
    frame = frame.with_columns(pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names)
    every = pl.concat([pl.Series("term", [], dtype=pl.String), *(frame[name].alias("term") for name in names)])
    short = every.filter(~every.str.contains(r"^(?:<[^<]|_:)")).unique()
    if short.is_empty():
        return frame
    turtle = "".join(f"<urn:s> <urn:p> {term} .\n" for term in short)
    full = [str(quad.object) for quad in ox.parse(turtle, ox.RdfFormat.TURTLE, lenient=True)]
    return frame.with_columns(pl.col(name).replace(short, pl.Series(full, dtype=pl.String)) for name in names)
