"""Frames of any content for round trips: what is written is read back, but for the losses that were named."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from remix import formats
from remix.formats.losses import reduce_frames
from remix.formats.mentions import MentionTables, assemble
from remix.frames import SCHEMAS, Frames

DATASET = "urn:remix:dataset:x"
ENTITIES = [
    "http://www.wikidata.org/entity/Q64",
    "http://dbpedia.org/resource/Köln",
    "http://dbpedia.org/resource/A,_b",
]


@st.composite
def corpora(draw: st.DrawFn, letters: str | None = None) -> Frames:
    """Return frames of a dataset named x, with texts of any letters (or of those given) and spans anywhere in them."""
    usual = st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\n\t")
    letter = st.sampled_from(letters) if letters else usual
    texts = draw(st.lists(st.text(letter, min_size=2, max_size=20), min_size=1, max_size=3))
    mentions, links = [], []
    for n, text in enumerate(texts):
        begins = st.integers(0, len(text) - 1)
        pairs = st.tuples(begins, begins).map(lambda pair: (min(pair), max(pair) + 1))
        spans = draw(st.lists(pairs, max_size=4))
        for begin, end in sorted([*spans, *([(0, 1)] if n == 0 else [])]):
            number = len(mentions)
            entity = draw(st.none() | st.sampled_from(ENTITIES))
            links += [(number, entity)] if entity else []
            cluster = draw(st.sampled_from([None, "NIL1", "NIL2"])) if entity is None else None
            kind, confidence = draw(st.sampled_from([None, "PER", "LOC"])), draw(st.none() | st.floats(0, 1))
            mentions.append((number, f"d{n}", begin, end, kind, confidence, cluster))
    columns = ["mention", "name", "begin", "end", "class", "confidence", "cluster"]
    read = MentionTables(
        documents=pl.DataFrame({"name": [f"d{n}" for n in range(len(texts))], "text": texts}),
        mentions=pl.DataFrame(mentions, schema=columns, orient="row", infer_schema_length=None),
        links=pl.DataFrame(links, schema={"mention": pl.Int64, "identifier": pl.String}, orient="row"),
    )
    return assemble(read, DATASET).frames


def rewritten(frames: Frames, format: str, name: str) -> Frames:
    """Return what is read of the file, or folder, of that name that the frames are written to."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        formats.write(frames, path, format)
        return formats.read(path, name="x", unannotated=True).frames


def assert_kept(frames: Frames, format: str, name: str) -> None:
    """Assert that the frames come back from a file of the format, but for what it does not hold."""
    held, _ = reduce_frames(frames, formats.FORMATS[format].holds)
    if "texts" not in formats.FORMATS[format].holds:
        held = Frames(**{n: getattr(held, n) for n in SCHEMAS} | {"annotations": _textless(held)})
    assert_same(rewritten(frames, format, name), held)


def _textless(frames: Frames) -> pl.DataFrame:
    return frames.annotations.with_columns(surface_form=pl.lit(None, pl.String))


def assert_same(one: Frames, other: Frames) -> None:
    """Assert that two corpora have the same rows, whatever their order and the spelling of links."""
    for name in SCHEMAS:
        left, right = (getattr(frames, name) for frames in (one, other))
        if name == "links":
            left, right = left.drop("entity_as_given"), right.drop("entity_as_given")
        if name == "documents":
            left, right = left.drop("words"), right.drop("words")
        assert_frame_equal(left.sort(left.columns), right.sort(right.columns))
