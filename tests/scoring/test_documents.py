"""Which document of a run answers which of gold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix import progress
from remix.documents import align, align_each
from remix.errors import BadInput, UnknownName, UsageError
from remix.formats.identifiers import document_iris
from remix.frames import Frames
from remix.scoring.choice import HASHED_BY, frames_hash
from remix.scoring.inputs.mentions import mentions_of
from tests.scoring.conftest import evaluate


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


def test_what_texts_a_run_lacks_is_told_where_documents_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    gold = texts([("urn:a/1", "1", "one"), ("urn:a/2", "2", "two")])
    run = texts([("urn:r/1", "1", None), ("urn:r/2", "2", "two")])
    with progress.enable():
        assert align(gold, run, "s", told=False).height == align(gold, run, "s").height == 2
    told = "run 's': 1 of its 2 documents have no text; their answers are read in the texts of gold\n"
    assert capsys.readouterr().err == told


def of_files(*files: tuple[str, list[tuple[str, str | None]]]) -> Frames:
    """Documents (name, text) of files, with the IRIs that reading gives them."""
    parts = []
    for dataset, rows in files:
        names, bodies = [name for name, _ in rows], [text for _, text in rows]
        table = {"document": document_iris(pl.Series(names, dtype=pl.String), f"urn:remix:dataset:{dataset}")}
        table |= {"dataset": [dataset] * len(rows), "given": names, "text": bodies}
        schema = dict.fromkeys(("document", "dataset", "given", "text"), pl.String)
        parts.append(Frames.of(documents=pl.DataFrame(table, schema=schema)))
    return Frames.concat(parts)


def aligned(gold: Frames, run: Frames) -> list[tuple[str, str]]:
    """The names in their files of documents of gold and of the run that are the same."""
    pairs = align(gold, run)
    sides = (gold.documents.select(gold="document", own="given"), run.documents.select("document", its="given"))
    return pairs.join(sides[0], on="gold").join(sides[1], on="document").select("own", "its").sort(pl.all()).rows()


def test_answers_to_a_document_that_gold_lacks_are_not_those_of_another():
    # In the store gold's are called 1, 1-2 and 1-3, the run's too, but its 1-2 is C.
    gold = of_files(("x", [("http://a/1", None), ("http://b/1", None), ("http://c/1", None)]))
    run = of_files(("x", [("http://a/1", None), ("http://d/1", None), ("http://c/1", None)]))
    assert aligned(gold, run) == [("http://a/1", "http://a/1"), ("http://c/1", "http://c/1")]
    # The third turns of two conversations are two documents, though no other has a third turn.
    gold = of_files(("g", [("talk/6/1", None), ("talk/5/3", None), ("talk/5/4", None)]))
    run = of_files(("r", [("talk/5/3", None), ("other/7/1", None), ("other/7/4", None)]))
    assert aligned(gold, run) == [("talk/5/3", "talk/5/3")]


def test_names_without_letters_are_not_one_name():
    # Both are `document` in the IRIs of the store.
    gold, run = of_files(("g", [("!", None), ("a", None)])), of_files(("r", [("?", None), ("a", None)]))
    assert aligned(gold, run) == [("a", "a")]


def test_document_that_has_its_pair_by_name_does_not_answer_another_of_its_text():
    gold = of_files(("g", [("a", "same"), ("b", "same"), ("c", "same")]))
    assert aligned(gold, of_files(("r", [("b", "same")]))) == [("b", "b")]
    # What is called otherwise answers what nothing tells apart.
    assert aligned(gold, of_files(("r", [("b", "same"), ("z", "same")]))) == [("a", "z"), ("b", "b"), ("c", "z")]


def test_numbers_of_documents_mean_something_in_one_dataset_alone():
    gold = of_files(("news", [("0", "one"), ("1", "two")]), ("talks", [("0", "three"), ("1", "four"), ("2", "five")]))
    said = "called as documents of news and of talks are (the first is '0')"
    with pytest.raises(BadInput, match=re.escape(said)) as refused:
        align(gold, of_files(("r", [("0", None), ("1", None)])), "s", told=False)
    assert "--on news" in str(refused.value)
    # A text tells whose they are, and another of its file is of no other dataset then.
    run = of_files(("r", [("2", None), ("1", "two")]))
    assert align(gold, run)["gold"].to_list() == ["urn:remix:dataset:news/1"]
    # So does the name of the file.
    assert align(gold, of_files(("talks", [("0", None)])))["gold"].to_list() == ["urn:remix:dataset:talks/0"]
    # One text in both is one document.
    twice = of_files(("news", [("0", "one")]), ("part", [("0", "one")]))
    assert align(twice, of_files(("r", [("0", None)]))).height == 2


NAMES = st.tuples(st.sampled_from(["http://a/", "http://b/", "c/", ""]), st.sampled_from(["1", "1-2", "!", "?", "x y"]))


@pytest.mark.hypothesis
@given(st.data())
def test_answers_of_a_document_are_never_counted_for_another(data):
    """Documents of two datasets, some of them gold and some answered, with and without texts and with short names."""

    def some(rows):
        return [row for row in rows if data.draw(st.booleans())]

    def said(text):
        return text if data.draw(st.booleans()) else None

    # An IRI is one document, other names mean something in their dataset alone.
    world = [
        (dataset, folder.replace("//", f"//{dataset}.") + own, data.draw(st.sampled_from(["one", "two", folder + own])))
        for dataset in "gh"
        for folder, own in data.draw(st.lists(NAMES, max_size=5, unique=True))
    ]
    required, answered = some(world), some(world)
    gold = of_files(*((one, [(name, said(text)) for home, name, text in required if home == one]) for one in "gh"))
    last = {name.rpartition("/")[2] for _, name, _ in required}
    rows, meant = [], []
    for one in answered:
        _, name, text = one
        short = name.rpartition("/")[2]
        if one not in required and ("://" not in name or short in last):
            continue  # Without a text nobody could tell these from those of gold.
        # A short name that is the whole name of another document of gold is that document's.
        named = [name] if any(other == short for _, other, _ in required) else [name, short]
        called = data.draw(st.sampled_from(named)) if one in required else name
        if called not in [known for known, _ in rows]:
            rows.append((called, said(text)))
            meant.append(one)
    run = of_files(("r", rows))
    try:
        pairs = align(gold, run, told=False)
    except BadInput as error:
        assert "score it on that alone" in str(error)
        return
    known = dict(zip(run.documents["document"], meant, strict=True))
    places = {row["document"]: (row["dataset"], row["given"]) for row in gold.documents.to_dicts()}
    texts_of = {(dataset, name): text for dataset, name, text in world}
    for document, answer in pairs.rows():
        dataset, name, text = known[answer]
        assert places[document] == (dataset, name) or texts_of[places[document]] == text
    assert pairs["gold"].is_unique().all()


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
        ({"task": ["A2K"]}, UnknownName, "no task named 'A2K'; did you mean 'A2KB'"),
        ({"match": ["stron"]}, UnknownName, "did you mean 'strong'"),
        ({"profile": "gerbill"}, UnknownName, "no profile named"),
        ({"by": ["clas"]}, UnknownName, "nearest: class; columns: class, "),
        ({"by": ["class"]}, UsageError, "no annotation of gold has a value in column 'class'"),
        ({"spans": "some"}, UsageError, "'all' or 'kept'"),
        ({"intervals": True}, UsageError, "no intervals over 1 documents: at least 10"),
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


def test_rule_by_which_frames_are_hashed_is_the_one_that_its_number_tells():
    """Hashes are kept with runs: where another one comes out here, `HASHED_BY` is to be another number, too."""
    every = Frames.of(
        documents=pl.DataFrame({"document": ["d"], "text": ["Ada met Bob"]}),
        annotations=pl.DataFrame(
            {"annotation": ["a"], "document": ["d"], "begin": [0], "end": [3], "confidence": [0.5]}
        ),
        links=pl.DataFrame({"annotation": ["a"], "entity": ["e:Ada"]}),
        classes=pl.DataFrame({"annotation": ["a"], "class": ["c:Person"]}),
        regions=pl.DataFrame({"document": ["d"], "begin": [0], "end": [11]}),
        candidates=pl.DataFrame({"annotation": ["a"], "entity": ["e:Ada"], "score": [0.25]}),
        values=pl.DataFrame({"subject": ["a"], "term": ["t:x"], "number": [1.0]}),
    )
    hashed = "5163a3ed3c82a7377a294ed7f984c71a81db2c962eb5014796643ea0f81d4b37"
    assert (HASHED_BY, frames_hash(every), frames_hash(every.in_dataset("news"))) == ("1", hashed, hashed)
    assert frames_hash(every.known_as("kept")) == frames_hash(every.known_as("kept").in_dataset("news")) == "kept"
    assert frames_hash(Frames.concat([every.known_as("kept")])) == "kept"
    # What has other rows is hashed again.
    fewer = every.known_as("kept").keep(annotations=pl.Series(["b"]))
    assert frames_hash(fewer) == frames_hash(every.keep(annotations=pl.Series(["b"]))) not in ("kept", hashed)
    assert "kept" not in frames_hash(Frames.concat([every.known_as("kept"), Frames.empty()]))


_documents = st.lists(
    st.tuples(
        st.sampled_from(["g/1", "g/2", "g/3"]),
        st.sampled_from([None, "http://a/1", "2"]),
        st.sampled_from([None, "one", "two"]),
    ),
    min_size=1,
    unique_by=lambda row: row[0],
)


@given(_documents, _documents, st.booleans())
def test_pairs_do_not_depend_on_a_dataset_that_has_none_of_the_documents(gold_rows, run_rows, same):
    # With another dataset every rule is asked; alone, a run with the names and texts of gold is known at once.
    gold, run = texts(gold_rows), texts(gold_rows[:2] if same else run_rows)
    other = of_files(("other", [("http://other/9", "something else")]))
    found = []
    for frames in (gold, Frames.concat([gold, other])):
        try:
            found.append(align(frames, run).rows())
        except BadInput:
            found.append([])
    assert found[0] == found[1]
    assert not same or len(found[0]) == len(run.documents)


def test_runs_together_are_aligned_as_each_alone():
    gold = texts([("g/1", "http://a/1", "one"), ("g/2", "http://a/2", "two"), ("g/3", "http://a/3", "three")])
    runs = {
        "all": gold,
        "some": texts([("g/3", "http://a/3", "three"), ("g/1", "http://a/1", "one \n")]),
        "changed": texts([("g/1", "http://a/1", "changed"), ("g/2", "http://a/2", "two")]),
        "renamed": texts([("g/1", "http://a/2", None), ("g/2", "http://b/9", "two")]),
        "by name": texts([("r/1", "3", None), ("g/1", None, None)]),
        "none": Frames.empty(),
    }
    found = align_each(gold, runs, told=False)
    assert [*found] == [*runs]
    assert {name: pairs.rows() for name, pairs in found.items()} == {
        "all": [("g/1", "g/1"), ("g/2", "g/2"), ("g/3", "g/3")],
        "some": [("g/1", "g/1"), ("g/3", "g/3")],
        "changed": [("g/2", "g/2")],
        "renamed": [("g/2", "g/1")],  # what the first is called by its file is gold's second, which has its text there
        "by name": [("g/1", "g/1"), ("g/3", "r/1")],
        "none": [],
    }
    assert all(align(gold, run, told=False).equals(found[name]) for name, run in runs.items())


def test_further_runs_take_no_further_operations(monkeypatch: pytest.MonkeyPatch):
    gold = texts([("g/1", "http://a/1", "one"), ("g/2", "http://a/2", "two")])
    rows = {"annotation": ["n/1"], "document": ["g/1"], "begin": [0], "end": [3]}
    run = replace(
        gold.keep(documents=pl.Series(["g/1"])), annotations=Frames.of(annotations=pl.DataFrame(rows)).annotations
    )
    calls = []

    def counted(collect: Callable[..., Any]) -> Callable[..., Any]:
        def count(frame: pl.LazyFrame, *given: Any, **named: Any) -> Any:
            calls.append(1)
            return collect(frame, *given, **named)

        return count

    # Polars runs each operation on a frame, but for the plainest, as a query of its own; so each has a price.
    for name in ("collect", "_collect_eager"):
        if hasattr(pl.LazyFrame, name):
            monkeypatch.setattr(pl.LazyFrame, name, counted(getattr(pl.LazyFrame, name)))
    taken = []
    for number in (2, 9):
        calls.clear()
        mentions = mentions_of(gold, {f"run {nth}": run for nth in range(number)})
        taken.append(len(calls))
        assert mentions.answers.select("system", "doc", "begin", "end").rows() == [
            (nth, 0, 0, 3) for nth in range(number)
        ]
    assert taken[0] == taken[1] > 0
