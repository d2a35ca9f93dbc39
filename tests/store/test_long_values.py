"""Values that are longer than the 16 MiB that the parser of a stream holds: loaded, asked for and given out."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.errors import BadInput
from remix.rdf.parsing import ShortLines, parse_lines
from remix.store import Store
from remix.store.answers import Result
from remix.store.running import Request
from remix.store.worker import ask
from remix.web.page import VIEWS
from remix.workspace import Workspace

TEXT = "Ada met " * 2_100_000
"""A text of 16.8 million letters: the parser of a stream holds 16,777,216."""
SELECT, CONSTRUCT = (
    "SELECT ?text { ?document nif:isString ?text }",
    "CONSTRUCT { ?document nif:isString ?text } WHERE { ?document nif:isString ?text }",
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A document of 16.8 million letters, and a short one."""
    folder = tmp_path_factory.mktemp("long")
    found = [{"document": name, "text": text, "begin": 0, "end": 3} for name, text in (("a", TEXT), ("b", "Ada"))]
    (folder / "long.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    work = Workspace(folder / ".remix")
    work.load([folder / "long.jsonl"])
    return work


@pytest.mark.long
def test_document_of_more_than_16_mebibytes_is_loaded_and_shown(work: Workspace) -> None:
    page = VIEWS["query"].show(work, {"query": SELECT})
    assert page.error is None and sorted(map(len, page.tables["result"]["text"])) == [3, len(TEXT)]
    assert work.store.frames().documents["text"].str.len_chars().to_list() == [len(TEXT), 3]


@pytest.mark.long
def test_graph_with_a_value_of_more_than_16_mebibytes_is_given_by_verb_and_endpoint(work: Workspace) -> None:
    """Both read lines of N-Triples by `parse_lines` for Turtle and JSON-LD: one format of each is enough."""
    found = Result("graph", pl.DataFrame(), (f'<urn:d> <urn:p> "{TEXT}" .'.encode(), b'<urn:d> <urn:p> "Ada" .'))
    assert len(found.graph("ttl")) > len(TEXT)
    request = Request(CONSTRUCT, graph="jsonld", ordered=True)
    assert len(ask(work.store.index().path, request).body) > len(TEXT)


def test_long_values_stand_in_the_order_of_lines_with_their_nodes_languages_and_datatypes() -> None:
    long = 'say \\"\\u00e9\\"\n'.strip() * 1_200_000  # 14 letters each, which stand for seven
    half = long[: len(long) // 2]
    lines = f'_:a <urn:p> "{long}"@de .\n_:a <urn:q> "b" .\n<urn:c> <urn:r> "{half}"^^<urn:d> .\n<urn:e> <urn:f> 7 .\n'
    found = list(parse_lines(lines.encode(), ox.RdfFormat.TURTLE))
    assert [str(one.subject) for one in found] == ["_:a", "_:a", "<urn:c>", "<urn:e>"]
    objects = [one.object for one in found]
    assert all(isinstance(one, ox.Literal) for one in objects)
    assert [one.value for one in objects] == ['say "é"' * 1_200_000, "b", 'say "é"' * 600_000, "7"]  # type: ignore[union-attr]
    assert objects[0].language == "de" and str(objects[2].datatype) == "<urn:d>"  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [0, 1, 3, 50_000])
@pytest.mark.parametrize("end", ["", "\n"])
def test_stream_without_its_long_lines_has_all_others(count: int, end: str) -> None:
    """Lines of 8 MiB and more are taken out, wherever they stand among blocks of 1 MiB."""
    short = [f"<urn:s{n}> <urn:p> <urn:o> ." for n in range(count)]
    long = [f'<urn:l{n}> <urn:p> "{"x" * (9 << 20)}" .' for n in range(2)]
    lines, taken = [*short[: count // 2], *long, *short[count // 2 :]], list[bytes]()
    stream = io.BytesIO(("\n".join(lines) + end).encode())
    assert [*io.BufferedReader(ShortLines(stream, taken.append))] == [
        one.encode() for one in "\n".join([*short, ""] if end or not count else short).splitlines(keepends=True)
    ]
    assert [one.strip().decode() for one in taken] == long


def test_rdf_with_a_value_that_its_parser_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    """No line is long, but a value has 16.8 million letters."""
    file = tmp_path / "long.ttl"
    said = "<http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#isString>"
    text = TEXT.replace("met ", "met\n")
    file.write_text(f'<urn:d> {said} """{text}""" .')
    with pytest.raises(BadInput, match=r"long\.ttl.* more than 16 MiB.* divide the document"):
        Store(tmp_path / "work").load(file)
