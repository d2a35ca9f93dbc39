"""ELEVANT's benchmarks, linked articles and simple JSON Lines, written and read back."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import read, write
from remix.formats.definitions.elevant import elevant_simple
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_same, corpora, rewritten

ADA = {"id": 0, "span": [0, 3], "entity_id": "Q7259", "name": "Ada", "type": "Q215627|Q5"}
BOB = {"id": 1, "span": [8, 11], "entity_id": "<NIL>", "name": "Bob", "type": "OTHER"}
ARTICLE = {"id": 7, "title": "urn:elevant:article:7", "text": "Ada met Bob in 1840", "evaluation_span": [0, 15]}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_benchmark_is_written_as_it_was_read(tmp_path: Path) -> None:
    article = {**ARTICLE, "labels": [ADA, {**BOB, "optional": True}]}
    path = tmp_path / "x.benchmark.jsonl"
    path.write_text(json.dumps(article) + "\n")
    assert write(read(path).frames, tmp_path / "y.benchmark.jsonl", "elevant") == ()
    assert lines(tmp_path / "y.benchmark.jsonl") == [article]


def test_answers_are_linked_articles_by_the_name_of_the_file(tmp_path: Path) -> None:
    mentions = [
        {"span": [0, 3], "id": "Q7259", "candidates": ["Q7259", "Q1"]},
        {"span": [8, 11], "id": "<NIL>", "candidates": []},
    ]
    path = tmp_path / "x.linked_articles.jsonl"
    path.write_text(json.dumps({**ARTICLE, "entity_mentions": mentions}) + "\n")
    frames = read(path).frames
    assert write(frames, tmp_path / "y.linked_articles.jsonl", "elevant") == ()
    assert lines(tmp_path / "y.linked_articles.jsonl") == [{**ARTICLE, "entity_mentions": mentions}]
    # A benchmark has no candidates.
    assert [(loss.kind, loss.count) for loss in write(frames, tmp_path / "y.jsonl", "elevant")] == [("candidates", 2)]


def test_predictions_without_texts_are_those_of_the_articles_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"predictions": []}\n{"predictions": [{"start_char": 0, "end_char": 3, "entity_reference": "Q7259"}]}\n'
    )
    reading = read(path)
    assert reading.report.format == "elevant-simple"
    assert reading.frames.documents["given"].to_list() == ["urn:elevant:article:0", "urn:elevant:article:1"]
    assert reading.frames.annotations.select("begin", "end").rows() == [(0, 3)]
    assert reading.frames.links["entity"].to_list() == ["http://www.wikidata.org/entity/Q7259"]


def test_mention_without_span_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a", "labels": [{"start_char": 0}]}\n')
    with pytest.raises(BadInput, match=r"x\.jsonl: no record has 'end_char', where elevant-simple.toml"):
        read(path)


@pytest.mark.long
@pytest.mark.parametrize("name", ["x.jsonl", "x.predictions.jsonl"])
def test_simple_lines_keep_what_they_hold(name: str) -> None:
    @given(corpora())
    def kept(frames: Frames) -> None:
        held, _ = reduce_frames(frames, elevant_simple.holds)
        assert_same(rewritten(held, "elevant-simple", name), held)

    kept()


@pytest.mark.long
@given(corpora())
def test_benchmark_keeps_spans_and_links(frames: Frames) -> None:
    once = rewritten(frames, "elevant", "x.benchmark.jsonl")
    spans = ["begin", "end", "is_nil"]
    assert once.annotations.select(spans).sort(spans).equals(frames.annotations.select(spans).sort(spans))
    iris = frames.links.filter(pl.col("entity").str.starts_with("http"))["entity"]
    assert sorted(once.links["entity"]) == sorted(iris)


def test_identifiers_that_are_no_iri_are_told_as_lost(tmp_path: Path) -> None:
    # D004 is written as it is, and read as NIL; the IRI of another knowledge base and the Q number come back.
    (tmp_path / "x.jsonl").write_text(
        '{"document": "d", "text": "Ada met Bob in Ely"}\n'
        '{"document": "d", "begin": 0, "end": 3, "entity": "D004", "candidates": ["D004", "Q1"]}\n'
        '{"document": "d", "begin": 8, "end": 11, "entity": "http://e.org/Bob"}\n'
        '{"document": "d", "begin": 15, "end": 18, "entity": "Q3"}\n'
    )
    frames = read(tmp_path / "x.jsonl").frames
    ada = frames.annotations["annotation"][0]
    losses = {}
    for name in ("y.benchmark.jsonl", "y.linked_articles.jsonl"):
        losses[name] = [(one.kind, one.count, one.example) for one in write(frames, tmp_path / name, "elevant")]
        again = read(tmp_path / name).frames
        assert again.annotations["is_nil"].to_list() == [True, False, False]
        assert again.links["entity"].to_list() == ["http://e.org/Bob", "http://www.wikidata.org/entity/Q3"]
    assert losses["y.benchmark.jsonl"] == [("candidates", 2, ada), ("links", 1, ada)]
    assert losses["y.linked_articles.jsonl"] == [("candidates", 1, ada), ("links", 1, ada)]


def test_alternatives_of_a_span_are_nested_labels_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"document": "d", "text": "Ada met Bob"}\n'
        + "".join(f'{{"document": "d", "begin": 0, "end": 3, "entity": "Q{n}"}}\n' for n in (1, 2, 3))
        + '{"document": "d", "begin": 8, "end": 11}\n'
    )
    frames = read(tmp_path / "x.jsonl").frames
    assert write(frames, tmp_path / "y.benchmark.jsonl", "elevant") == ()
    (article,) = lines(tmp_path / "y.benchmark.jsonl")
    told = [(one.get("parent"), one.get("children")) for one in article["labels"]]  # type: ignore[attr-defined]
    assert told == [(None, [1]), (0, [2]), (1, None), (None, None)]
    again = read(tmp_path / "y.benchmark.jsonl").frames.annotations
    # Three options of one group, and a mention of its own.
    assert sorted(again.group_by("group").agg(pl.col("option").n_unique())["option"]) == [1, 3]
