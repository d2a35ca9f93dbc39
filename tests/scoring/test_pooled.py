"""The row 'all' over datasets that share documents: each mention and each answer counts once."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix import progress
from remix.frames import Frames
from remix.question import Question
from remix.reports.readable import signature_lines
from remix.scoring.choice import choose
from remix.scoring.comparison import compare_inputs
from remix.scoring.inputs import Background, Inputs, Knowledge
from remix.scoring.statistics import F1
from tests.examples import FEW
from tests.scoring.conftest import evaluate, framed

TEXTS = {"d1": "the first document", "d2": "the second document"}
TASKS = ["A2KB", "D2KB", "C2KB", "ERec"]


def named(rows, dataset, *, given=False):
    """Rows of the documents of `TEXTS` as a dataset: 'd1' is the document 'dataset/d1' there."""
    own = [
        row | {name: f"{dataset}/{row[name]}" for name in ("document", "annotation", "group") if row.get(name)}
        for row in rows
    ]
    frames = framed(own, [f"{dataset}/{name}" for name in TEXTS], dataset)
    texts = {"text": list(TEXTS.values()), "given": [f"urn:{name}" for name in TEXTS] if given else [None] * 2}
    return replace(
        frames,
        documents=frames.documents.with_columns(**{key: pl.Series(v, dtype=pl.String) for key, v in texts.items()}),
    )


def cut(rows, kept):
    """Rows as a remix has them that keeps mentions by their key: others are dropped, what is optional stays so."""
    return [row | {"ignorable": row["ignorable"] or (None if row["key"] in kept else "dropped")} for row in rows]


def evaluated(golds, run, **options):
    """Scores of a run on datasets of these names and rows, which all come from one origin."""
    frames = [named(rows, name) for name, rows in golds.items()]
    origin = named(next(iter(golds.values())), "origin")
    gold = Frames.concat(frames)
    places = gold.documents.select(
        gold="document", document=pl.lit("origin/") + pl.col("document").str.extract("([^/]+)$")
    )
    # Each dataset has a background of its own, whose columns have no order.
    parts = [places.filter(pl.col("gold").str.starts_with(f"{name}/")) for name in golds]
    parts = [part.select(part.columns[:: (-1) ** n]) for n, part in enumerate(parts)]
    backgrounds = tuple(Background(origin, part, None) for part in parts)
    asked = {"task": TASKS, "documents": "all", "backgrounds": backgrounds, **options}
    return evaluate(gold, {"s": run}, **asked)


COUNTS = ["task", "matching", "column", "slice", "average", "tp", "fp", "fn", "ignored"]
MEASURED = [*COUNTS, "documents", "mentions", "precision", "recall", "f1"]


def of_all(rows, columns=MEASURED):
    found = rows.filter(pl.col("dataset") == "all").select(columns)
    return found.sort(columns[:5]).rows()


mention = st.fixed_dictionaries(
    {
        "document": st.sampled_from(list(TEXTS)),
        "begin": st.integers(0, 8),
        "length": st.integers(1, 5),
        "entity": st.sampled_from(["e:A", "e:B", None]),
        "ignorable": st.sampled_from([None, None, None, "optional"]),
        "group": st.sampled_from([None, None, "1", "2"]),
        "option": st.sampled_from(["1", "2"]),
    }
)


def placed(rows):
    """Rows with ends and keys: alternatives have one key, and no two mentions of alternatives are equal."""
    found, taken = [], set()
    for number, row in enumerate(rows):
        group = f"{row['document']}-{row['ignorable']}-{row['group']}" if row["group"] else None
        if (place := (row["document"], row["begin"])) in taken and group:
            continue
        taken |= {place} if group else set()
        more = {"end": row["begin"] + row["length"], "group": group, "option": row["option"] if group else None}
        found.append(row | more | {"annotation": f"#{number}", "key": group or f"#{number}"})
    return found


mentions = st.lists(mention, max_size=7).map(placed)
keys = st.sets(st.sampled_from([*(f"#{n}" for n in range(7)), *(f"{d}-None-{n}" for d in TEXTS for n in "12")]))


def answered(rows):
    return named([row | {"group": None, "option": None, "ignorable": None} for row in rows], "run")


@pytest.mark.long
@settings(max_examples=FEW, deadline=None)
@given(mentions, keys, keys, mentions)
def test_all_is_the_score_of_the_gold_that_any_dataset_keeps(rows, some, others, answers):
    run = answered(answers)
    found = evaluated({"x": cut(rows, some), "y": cut(rows, others)}, run)
    assert of_all(found) == of_all(evaluated({"union": cut(rows, some | others)}, run))


@pytest.mark.long
@settings(max_examples=FEW, deadline=None)
@given(mentions, keys, mentions, st.sampled_from(["remix", "gerbil", "bat", "neleval", "elevant", "emnlp2019"]))
def test_all_of_a_dataset_and_its_remix_is_the_dataset(rows, kept, answers, profile):
    run, how = answered(answers), {"task": ["A2KB"], "match": (), "profile": profile}
    alone = of_all(evaluated({"a": rows}, run, **how))
    for remix in ("a-remix", "remix"):  # before and behind it
        assert of_all(evaluated({"a": rows, remix: cut(rows, kept)}, run, **how)) == alone


@pytest.mark.long
@settings(max_examples=FEW, deadline=None)
@given(mentions, keys, keys, mentions)
def test_the_order_of_datasets_changes_nothing(rows, some, others, answers):
    golds, run = {"x": cut(rows, some), "y": cut(rows, others)}, answered(answers)
    assert (
        evaluated(golds, run)
        .drop("signature", "signature_short")
        .equals(evaluated(dict(reversed(golds.items())), run).drop("signature", "signature_short"))
    )


@pytest.mark.long
@settings(max_examples=FEW, deadline=None)
@given(mentions, keys, keys)
def test_gold_as_answers_is_perfect_in_all(rows, some, others):
    golds = {"x": cut(rows, some), "y": cut(rows, others)}
    run = Frames.concat([named(own, name) for name, own in golds.items()])
    for row in evaluated(golds, run).filter(dataset="all", average="micro", column="").to_dicts():
        assert row["f1"] in (1.0, None), row


@settings(max_examples=FEW, deadline=None)
@given(mentions, mentions, mentions)
def test_all_of_datasets_that_share_nothing_is_their_sum(rows, others, answers):
    # Each dataset is its own origin, and texts are equal in the two without being one document.
    gold = Frames.concat([named(rows, "x"), named(others, "y")])
    found = evaluate(gold, {"s": answered(answers)}, task=TASKS)
    found = found.filter(average="micro", column="")
    numbers = ["tp", "fp", "fn", "ignored", "documents"]
    sums = found.filter(pl.col("dataset").is_in(["x", "y"])).group_by(COUNTS[:4]).agg(pl.col(numbers).sum())
    every = found.filter(dataset="all").select(COUNTS[:4] + numbers)
    assert every.sort(COUNTS[:4]).rows() == sums.select(every.columns).sort(COUNTS[:4]).rows()


ROWS = [
    {"document": "d1", "begin": 10 * n, "end": 10 * n + 3, "entity": f"e:{n}", "ignorable": None}
    | {"annotation": f"#{n}", "key": f"#{n}", "classes": [name]}
    for n, name in enumerate(["c:P", "c:P", "c:Q", "c:Q"])
]
"""Four mentions of one document; x keeps the first three, y the first and the last."""
GOLDS = {"x": cut(ROWS, {"#0", "#1", "#2"}), "y": cut(ROWS, {"#0", "#3"})}
WRONG = {"document": "d1", "begin": 50, "end": 53, "entity": "e:0", "annotation": "#w"}
"""An answer where no gold is."""


def micro(rows, **where):
    found = rows.filter(dataset="all", task="A2KB", matching="strong", average="micro", **where)
    return found.select("mentions", "tp", "fp", "fn", "ignored").row(0)


def test_mentions_and_answers_that_two_remixes_share_count_once():
    # Kept are #0 to #3, found #0 and #3; one answer is wrong. Summed up, #0 would be two mentions and the answer two.
    run = answered([ROWS[0], ROWS[3], WRONG])
    rows = evaluated(GOLDS, run, task=["A2KB"], match=["strong"], by=["class"])
    assert micro(rows, column="") == (4, 2, 1, 2, 0)
    assert [rows.filter(dataset=name, column="", average="micro")["mentions"][0] for name in "xy"] == [3, 2]
    # Of class P #0 and #1 are kept, #0 is found; #3 is an answer on dropped gold. Class Q: #2 and #3.
    assert micro(rows, column="class", slice="c:P") == (2, 1, 1, 1, 1)
    assert micro(rows, column="class", slice="c:Q") == (2, 1, 1, 1, 1)
    assert rows.filter(dataset="all", column="")["documents"].unique().to_list() == [2]


def test_files_that_name_one_document_and_have_its_text_share_it():
    gold = Frames.concat([named(rows, name, given=True) for name, rows in GOLDS.items()])
    rows = evaluate(gold, {"s": answered([ROWS[0], WRONG])}, task=["A2KB"], match=["strong"])
    assert micro(rows, column="") == (4, 1, 1, 3, 0)
    other = named(GOLDS["y"], "y", given=True)
    other = replace(other, documents=other.documents.with_columns(text=pl.col("text") + "!"))
    gold = Frames.concat([named(GOLDS["x"], "x", given=True), other])
    rows = evaluate(gold, {"s": answered([ROWS[0], WRONG])}, task=["A2KB"], match=["strong"])
    assert micro(rows, column="")[0] == 5


def test_what_datasets_share_is_said_with_the_table(capsys):
    asked = {"task": ["A2KB"], "match": ["strong"]}
    said = "datasets share mentions: 'all' counts each once, and each answer (4 mentions in place of 5)"
    assert said in signature_lines(evaluated(GOLDS, answered(ROWS), **asked))
    one = {"x": cut(ROWS, {"#0"}), "y": cut(ROWS, {"#0"})}
    said = "datasets share mentions: 'all' counts each once, and each answer (1 mention in place of 2)"
    assert said in signature_lines(evaluated(one, answered(ROWS), **asked))
    none = {"x": cut(ROWS, {"#0"}), "y": cut(ROWS, {"#1"})}
    said = "datasets share documents, and no mention in them: 'all' counts each answer there once"
    assert said in signature_lines(evaluated(none, answered(ROWS), **asked))
    alone = signature_lines(evaluated({"x": GOLDS["x"]}, answered(ROWS), **asked))
    assert not any("share" in line for line in alone)


def test_compare_counts_as_evaluate_does(capsys):
    gold = Frames.concat([named(rows, name, given=True) for name, rows in GOLDS.items()])
    runs = {"s": answered([ROWS[0], WRONG])}
    choice = choose(Question(task=("A2KB",), match=("strong",), by=("class",)))
    with progress.enable():
        found = compare_inputs([Inputs(gold, runs, Knowledge())], choice)
    assert "'all' counts each once, and each answer (4 mentions in place of 5)" in capsys.readouterr().err
    rows = evaluate(gold, runs, task=["A2KB"], match=["strong"], by=["class"]).filter(dataset="all", average="micro")
    f1 = {
        row["slice"] or "all": row[F1[row["f1_precision"]]] for row in rows.to_dicts() if row["column"] in ("", "class")
    }
    shown = {row["part"].removeprefix("class="): row["score"] for row in found.scores.to_dicts()}
    assert shown == pytest.approx(f1)


def test_intervals_of_all_are_over_different_documents():
    names = [f"d{n}" for n in range(12)]

    def gold(dataset, last):
        rows = [{"document": f"{dataset}/{n}", "begin": 0, "end": 3, "entity": "e:A"} for n in names]
        frames = framed(rows[:last], [f"{dataset}/{n}" for n in names[:last]], dataset)
        texts = pl.Series(names[:last])
        return replace(frames, documents=frames.documents.with_columns(text=texts, given="urn:" + texts))

    run = framed(
        [{"document": f"run/{n}", "begin": 0, "end": 3, "entity": "e:A"} for n in names[::2]],
        [f"run/{n}" for n in names],
        "run",
    )
    run = replace(run, documents=run.documents.with_columns(text=pl.Series(names)))
    asked = {"task": ["A2KB"], "match": ["strong"], "intervals": True}
    alone = evaluate(gold("x", 12), {"s": run}, **asked).filter(dataset="all")
    both = evaluate(Frames.concat([gold("x", 12), gold("y", 10)]), {"s": run}, **asked).filter(dataset="all")
    columns = ["average", "documents", "f1", "f1_low", "f1_high"]
    assert both.select(columns).rows() == alone.select(columns).rows()
