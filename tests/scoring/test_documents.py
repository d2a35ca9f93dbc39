"""Which document of a run answers which of gold."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from remix import progress
from remix.documents import align
from remix.errors import BadInput, UnknownName, UsageError
from remix.frames import Frames
from remix.scoring import evaluate
from remix.scoring.choice import frames_hash


def texts(rows: list[tuple[str, str | None, str | None]]) -> Frames:
    schema = {"document": pl.String, "given": pl.String, "text": pl.String}
    return Frames.of(documents=pl.DataFrame(rows, schema=schema, orient="row").with_columns(dataset=pl.lit("x")))


def test_documents_are_aligned_by_given_iri_then_by_text():
    gold = texts([("g/1", "http://a/1", "one"), ("g/2", "http://a/2", "two")])
    run = texts([("r/1", "http://a/1", "one"), ("r/2", "http://b/9", "two")])
    assert align(gold, run).rows() == [("g/1", "r/1"), ("g/2", "r/2")]


def test_document_of_the_same_iri_but_another_text_is_not_the_same():
    gold = texts([("g/1", "http://a/1", "one"), ("g/2", "http://a/2", "two")])
    run = texts([("r/1", "http://a/1", "changed"), ("r/2", "http://a/2", "two\n")])
    assert align(gold, run).rows() == [("g/2", "r/2")]


def test_run_without_texts_is_aligned_by_iri():
    gold = texts([("g/1", "http://a/1", "one")])
    assert align(gold, texts([("r/1", "http://a/1", None)])).rows() == [("g/1", "r/1")]


SCOPED, GIVEN = "urn:remix:dataset:kore50-nif/CEL01", "http://k.org/AIDA.tsv/CEL01#char=0,"


@pytest.mark.parametrize(
    "name",
    [SCOPED, GIVEN, "http://k.org/AIDA.tsv/CEL01", "CEL01", "http://elsewhere.org/CEL01", "urn:remix:dataset:x/CEL01"],
)
def test_document_is_found_by_full_iri_scoped_iri_and_last_part(name: str):
    gold = texts([(SCOPED, GIVEN, "one"), ("urn:remix:dataset:kore50-nif/CEL02", "http://k.org/AIDA.tsv/CEL02", "two")])
    # Plain files have no text; the name stands as given, under an IRI of the run's own dataset.
    assert align(gold, texts([("urn:x:run/1", name, None)])).rows() == [(SCOPED, "urn:x:run/1")]


def test_last_part_that_two_documents_have_names_neither():
    gold = texts([("urn:a/1", "http://x/1", None), ("urn:b/1", "http://y/1", None), ("urn:b/2", None, None)])
    run = texts([("urn:r/1", "1", None), ("urn:r/2", "2", None)])
    assert align(gold, run).rows() == [("urn:b/2", "urn:r/2")]


def test_last_part_of_another_text_is_another_document():
    gold = texts([("urn:a/1", "http://x/1", "one"), ("urn:a/2", "http://x/2", "two")])
    run = texts([("urn:r/1", "1", "something else"), ("urn:r/2", "9", "two")])
    assert align(gold, run).rows() == [("urn:a/2", "urn:r/2")]


def test_refusal_shows_a_name_that_is_right():
    gold = texts([(SCOPED, GIVEN, None)])
    with pytest.raises(BadInput) as refused:
        align(gold, texts([("urn:r/CEL-01", "CEL-01", None)]), "s")
    said = str(refused.value)
    assert f"gold's first is <{SCOPED}> (<{GIVEN}> in its file), the run's 'CEL-01'" in said
    for name in ("CEL01", SCOPED, GIVEN):
        assert name in said
        assert align(gold, texts([("urn:r/1", name, None)])).height == 1


def test_missing_and_further_documents_are_counted(capsys):
    gold = texts([("g/1", None, "one"), ("g/2", None, "two"), ("g/3", None, "three")])
    run = texts([("r/1", None, "one"), ("r/8", None, "eight"), ("r/9", None, "nine")])
    with progress.enable():
        align(gold, run, "s")
    assert capsys.readouterr().err.splitlines() == [
        "run 's' answers 1 of the 3 documents of x; the rest count as unanswered",
        "run 's': 2 of its documents are not in gold and are left out",
    ]


def test_missing_documents_are_counted_in_each_gold_by_its_name(capsys):
    gold = texts([("g/1", None, "one"), ("g/2", None, "two"), ("h/1", None, "three"), ("i/1", None, "four")])
    named = gold.documents.with_columns(dataset=pl.Series(["news", "news", "posts", "talks"]))
    with progress.enable():
        align(replace(gold, documents=named), texts([("r/1", None, "one"), ("r/9", None, "four")]), "s")
    assert capsys.readouterr().err.splitlines() == [
        "run 's' answers 1 of the 2 documents of news, 0 of the 1 documents of posts; the rest count as unanswered"
    ]


def test_repeated_texts_are_answered_in_order_and_the_last_answers_the_rest():
    gold = texts([("g/1", None, "same"), ("g/2", None, "same"), ("g/3", None, "same")])
    run = texts([("r/1", None, "same"), ("r/2", None, "same")])
    assert align(gold, run).rows() == [("g/1", "r/1"), ("g/2", "r/2"), ("g/3", "r/2")]


def test_run_of_other_texts_is_refused_with_the_numbers():
    gold = texts([("g/1", "http://a/1", "one"), ("g/2", "http://a/2", "two")])
    run = texts([("r/1", "http://a/1", "three")])
    with pytest.raises(BadInput, match=r"none of gold's 2 documents .* 1 have the same name but another text, 0 have"):
        align(gold, run, "s")


def test_where_two_texts_of_one_iri_differ_is_told():
    gold = texts([("g/1", "http://a/1", "Ada met Bob in Rome.")])
    run = texts([("r/1", "http://a/1", "Ada met  Bob in Rome.")])
    # Shown are 15 characters on both sides.
    said = (
        "from character 8: gold has 'Ada met Bob in Rome.' (20 characters in all), the run 'Ada met  Bob in Rome.' (21)"
    )
    with pytest.raises(BadInput, match=re.escape(said)):
        align(gold, run, "s")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tasks": ["A2K"]}, UnknownName, "no task named 'A2K'; did you mean 'A2KB'"),
        ({"matchings": ["stron"]}, UnknownName, "did you mean 'strong'"),
        ({"profile": "gerbill"}, UnknownName, "no profile named"),
        ({"by": ["clas"]}, UnknownName, "nearest: class; columns: class, "),
        ({"by": ["class"]}, UsageError, "no annotation of gold has a value in column 'class'"),
        ({"spans": "some"}, UsageError, "'all' or 'kept'"),
        ({"bootstrap": 100}, UsageError, "no bootstrap over 1 documents: at least 10"),
    ],
)
def test_wrong_choice_is_refused_with_the_reason(frames, options, error, message):
    gold = frames([{"begin": 0, "end": 3, "entity": "e:A"}])
    with pytest.raises(error, match=message):
        evaluate(gold, {"s": gold}, **options)


def test_candidates_and_values_are_part_of_the_signature():
    # Both are scored (candidate sets, nesting, repeats): other ones must not pass for the same input.
    plain = Frames.of(annotations=pl.DataFrame({"annotation": ["a"], "document": ["d"]}))
    candidates = Frames.of(candidates=pl.DataFrame({"annotation": ["a"], "entity": ["e:X"], "score": [0.5]}))
    values = Frames.of(values=pl.DataFrame({"subject": ["a"], "term": ["t"], "number": [1.0]}))
    others = [replace(plain, candidates=candidates.candidates), replace(plain, values=values.values)]
    assert len({frames_hash(frames) for frames in (plain, *others)}) == 3
