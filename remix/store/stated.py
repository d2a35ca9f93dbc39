"""What is stated of a dataset besides what its file says, in the index alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.files import read_bytes
from remix.frames import Frames
from remix.names import NIF, RDF
from remix.rdf.ntriples import columns, write_ntriples
from remix.rdf.terms import iri_term
from remix.store.state import DATA, STATED


def state_phrases(frames: Frames, place: Path) -> None:
    """Write that each annotation is a `nif:Phrase` where its file says other types of it, in a file of its own.

    Queries draw annotations by this type, and corpora have `nif:RFC5147String` alone. What is ignorable is none.
    """
    kind, phrase = f"<{RDF}type>", f"<{NIF}Phrase>"
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).select(subject=iri_term(pl.col("annotation")))
    data = columns(read_bytes(place / DATA, own=True))
    typed = data.filter(pl.col("predicate") == kind, pl.col("object") == phrase)
    rows = gold.join(typed, on="subject", how="anti", maintain_order="left")
    if rows.height:
        write_ntriples(rows.select("subject", predicate=pl.lit(kind), object=pl.lit(phrase)), place / STATED)
