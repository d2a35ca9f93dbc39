"""NIF held against the shapes of `ontology/shapes.ttl` (SHACL)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix.checks.declaration import FINDINGS
from remix.errors import Error
from remix.files import read_bytes
from remix.formats.nif.writing import triples_of
from remix.frames import Frames
from remix.resources import folder

__all__ = ["find_violations"]


def find_violations(file: str, frames: Frames) -> pl.DataFrame:
    """Return where a dataset does not have the shapes that NIF has, as findings.

    A file of RDF is taken as it stands, without what loading mends; of all else the NIF that remix makes of it. Needs
    the extra `shacl`; raises `Error` without it.
    """
    try:
        import rdflib
        from pyshacl import validate
    except ImportError:
        raise Error("shapes need pyshacl: pip install 'nel-remix[shacl]'") from None
    data, shapes = rdflib.Graph(), rdflib.Graph()
    data.parse(data=_triples(file, frames).decode(), format="nt")
    shapes.parse(folder("ontology") / "shapes.ttl")
    _, report, _ = validate(data, shacl_graph=shapes)
    shacl = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    rows = [
        (str(report.value(one, shacl.focusNode)), str(report.value(one, shacl.resultMessage)))
        for one in report.subjects(rdflib.RDF.type, shacl.ValidationResult)
    ]
    found = pl.DataFrame(sorted(set(rows)), schema={"annotation": pl.String, "message": pl.String}, orient="row")
    blank = [pl.lit(None, kind).alias(name) for name, kind in FINDINGS.items() if name not in ("annotation", "what")]
    told = pl.concat_str("annotation", pl.lit(": "), "message").alias("what")
    return found.with_columns(*blank, told).select(list(FINDINGS))


def _triples(file: str, frames: Frames) -> bytes:
    path = Path(file)
    form = ox.RdfFormat.from_extension(path.suffix.removeprefix(".")) if path.is_file() else None
    if form is None:
        return b"".join(triples_of(frames))
    quads = ox.parse(read_bytes(path), format=form, base_iri="urn:remix:relative:", lenient=True)
    try:
        return ox.serialize((quad.triple for quad in quads), format=ox.RdfFormat.N_TRIPLES) or b""
    except SyntaxError:
        return b"".join(triples_of(frames))  # what makes it no RDF is told by the other rules
