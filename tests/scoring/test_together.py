"""Datasets that are scored together have the very rows that each has alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from remix.errors import Error
from remix.formats.layers import TOKENS
from remix.frames import Frames
from remix.names import DBR, FAILED
from remix.question import Question
from remix.scoring import score_inputs
from remix.scoring.choice import choose
from remix.scoring.inputs import Background, Inputs, Knowledge
from remix.scoring.tasks import takes_spans, task_named
from remix.scoring.together import is_by_document, score_together
from tests.examples import FEW
from tests.scoring.conftest import framed

TEXTS = {"d1": "Ada met Alan", "d2": "the second document", "d3": "the third document"}
"""Documents that all datasets share: the same names in their files, the same texts."""
TASKS = ["A2KB", "D2KB", "C2KB", "ERec", "NIL", "A2KB(filter=linked)", "accuracy", "candidates(measure=mrr)"]
TASKS += ["ETyping", "RT2KB", "ERec-classes", "OKE-1", "OKE-2"]
MATCHINGS = ["strong", "weak", "partial", "single-penalty", "fuzzy(0.5)", "expanded"]
OF_GERBIL = ["A2KB", "D2KB", "C2KB", "ERec", "ETyping"]

CHOICE = choose(Question(task=("A2KB",), match=("strong",)))

row = st.fixed_dictionaries(
    {
        "document": st.sampled_from([*TEXTS]),
        "begin": st.sampled_from([None, *range(8)]),
        "length": st.integers(1, 5),
        "entities": st.lists(st.sampled_from([f"{DBR}A", f"{DBR}B", "e:C"]), max_size=2, unique=True),
        "confidence": st.sampled_from([None, 0.2, 0.5, 0.9]),
        "classes": st.lists(st.sampled_from(["c:x", "c:y"]), max_size=1),
    }
)
of_gold = st.fixed_dictionaries(
    {
        "ignorable": st.sampled_from([None, None, None, "optional"]),
        "group": st.sampled_from([None, None, "1", "2"]),
        "option": st.sampled_from(["1", "2"]),
    }
)
sides = st.lists(row, max_size=6)
gold_sides = st.lists(st.builds(lambda one, more: one | more, row, of_gold), max_size=6)
run = st.fixed_dictionaries({"rows": sides, "failed": st.booleans()})
dataset = st.fixed_dictionaries(
    {
        "gold": gold_sides,
        "runs": st.dictionaries(st.sampled_from("abc"), run, min_size=1),
        "spans": st.dictionaries(st.sampled_from("ac"), run, max_size=1),
        "unrevised": st.booleans(),
    }
)
asked = st.one_of(
    st.tuples(st.just("remix"), st.lists(st.sampled_from(TASKS), min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("gerbil"), st.lists(st.sampled_from(OF_GERBIL), min_size=1, max_size=2, unique=True)),
)


def frames_of(rows: list[dict[str, Any]], name: str, documents: list[str]) -> Frames:
    """Rows as frames of a dataset, in which 'd1' is the document 'name/d1' that its file calls 'd1'."""
    own = []
    for number, one in enumerate(rows):
        document = f"{name}/{one['document']}"
        begin = one["begin"]
        named = {key: one.get(key) and f"{document}/{one[key]}" for key in ("group", "option")}
        named = named if named["group"] else {"group": None, "option": None}
        end = None if begin is None else begin + one["length"]
        own.append(one | named | {"document": document, "end": end, "annotation": f"{document}#{number}"})
    found = framed(own, [f"{name}/{one}" for one in documents], name)
    told = {"text": [TEXTS[one] for one in documents], "given": documents}
    confidence = pl.Series([one["confidence"] for one in rows], dtype=pl.Float64)
    return replace(
        found,
        documents=found.documents.with_columns(**{key: pl.Series(v, dtype=pl.String) for key, v in told.items()}),
        annotations=found.annotations.with_columns(confidence=confidence),
    )


def run_of(told: dict[str, Any], name: str) -> Frames:
    """A run that failed on the last document, if it did, and so has no answer there."""
    documents = [*TEXTS][:-1] if told["failed"] else [*TEXTS]
    found = frames_of([one for one in told["rows"] if one["document"] in documents], name, documents)
    failed = [f"{name}/{one}" for one in TEXTS if one not in documents]
    values = pl.DataFrame({"subject": failed, "term": FAILED, "text": "late"}, schema_overrides={"subject": pl.String})
    return replace(found, values=Frames.of(values=values).values)


def inputs_of(name: str, told: dict[str, Any], **known: Any) -> Inputs:
    """A loaded dataset and the runs that are registered on it, as `read_inputs` has them."""
    gold = frames_of(told["gold"], name, [*TEXTS])
    texts, spans = ({system: run_of(one, name) for system, one in told[key].items()} for key in ("runs", "spans"))
    runs = {system: texts.get(system, spans.get(system)) for system in sorted({*texts, *spans})}
    documents = gold.documents["document"]
    places = pl.DataFrame({"gold": documents, "document": documents})
    stated = pl.DataFrame({"home": [name], "entity": [f"{DBR}A"], "class": [f"c:{name}"]})
    return Inputs(
        gold,
        runs,  # type: ignore[arg-type]
        Knowledge(backgrounds=(Background(gold, places, None),), stated=stated, **known),
        made_for={system: "A2KB" if system in texts else "D2KB" for system in runs},
        given_spans=spans,
        homes=places.select("gold", home=pl.lit(name)),
        unrevised=frozenset({("a", "A2KB")} if told["unrevised"] else ()),
    )


def alone(inputs: Inputs, choice: Any) -> pl.DataFrame | None:
    try:
        return score_inputs(inputs, choice)
    except Error:
        return None


@settings(max_examples=FEW)
@given(st.dictionaries(st.sampled_from("xyz"), dataset, min_size=2), asked, st.sampled_from(MATCHINGS))
def test_what_is_scored_together_is_what_is_scored_alone(told, question, match) -> None:
    profile, tasks = question
    choice = choose(Question(profile=profile, task=tuple(tasks), match=(match,)))
    assert is_by_document(choice)
    every = {name: inputs_of(name, one) for name, one in told.items()}
    wanted = {name: alone(inputs, choice) for name, inputs in every.items()}
    if any(rows is None for rows in wanted.values()):
        return  # who asks together is told nothing, and asks alone
    found = score_together(every, choice)
    # A run for texts and one for spans are counted apart, where tasks of both kinds are asked for.
    kinds = {takes_spans(task) for task in tasks}
    mixed = {name for name, one in told.items() if one["spans"] and len(kinds) > 1}
    together = {*told} - mixed
    assert {*found} == (together if len(together) > 1 else set())
    unsigned = [pl.lit(None, pl.String).alias(one) for one in ("signature", "signature_short")]
    for name, rows in found.items():
        # InKB and its like, and which answers cannot be compared, come with intervals.
        whole = wanted[name].filter(pl.col("column") != "kb").drop("uncompared", strict=False)
        assert_frame_equal(rows, whole.with_columns(unsigned), check_exact=True)


def without_types(inputs: Inputs) -> Inputs:
    """The same where nothing is known of classes."""
    gold = replace(inputs.gold, classes=inputs.gold.classes.clear())
    return replace(inputs, gold=gold, knowledge=replace(inputs.knowledge, types=None, stated=None))


def counts_of(inputs: Inputs, task: str, match: str) -> pl.DataFrame | None:
    rows = alone(inputs, choose(Question(task=(task,), match=(match,))))
    return None if rows is None else rows.drop("signature", "signature_short")


@settings(max_examples=FEW)
@given(dataset, st.sampled_from([name for name in TASKS if not task_named(name).parts]), st.sampled_from(MATCHINGS))
def test_types_of_entities_change_no_task_that_compares_no_classes(told, name, match) -> None:
    typed = inputs_of("x", told)
    types = pl.DataFrame({"entity": [f"{DBR}A", f"{DBR}B"], "class": ["c:x", "c:y"]})
    typed = replace(typed, knowledge=replace(typed.knowledge, types=types))
    found, bare = (counts_of(one, name, match) for one in (typed, without_types(typed)))
    if not task_named(name).of_classes:
        assert (found is None) == (bare is None)
        assert found is None or found.equals(bare)


def test_types_of_entities_change_what_compares_classes() -> None:
    mention = {"document": "d1", "begin": 0, "length": 3, "entities": [f"{DBR}A"], "confidence": None}
    own = {"rows": [mention | {"classes": ["c:y"]}], "failed": False}
    told = {"gold": [mention | {"classes": ["c:x"]}], "runs": {"a": own}, "spans": {}, "unrevised": False}
    typed = inputs_of("x", told)
    for name in ("ETyping", "RT2KB"):
        assert task_named(name).of_classes
        found, bare = (counts_of(one, name, "strong") for one in (typed, without_types(typed)))
        assert found is not None and (bare is None or not found.equals(bare))


def test_system_with_a_run_of_its_own_for_spans_is_scored_beside_those_that_have_none() -> None:
    """System a failed on d3, as b did not; of both it is known on how many documents they failed."""
    [a, b] = [{"rows": [], "failed": failed} for failed in (True, False)]
    own = inputs_of("x", {"gold": [], "runs": {"a": a, "b": b}, "spans": {"a": b}, "unrevised": False})
    assert own.split_by_registration() == [own]
    rows = score_inputs(own, CHOICE).filter(average="micro").select("system", "failed")
    assert rows.rows() == [("a", 1), ("b", 0)]


@pytest.fixture
def plain() -> dict[str, Inputs]:
    mention = {"document": "d1", "begin": 0, "length": 3, "entities": [f"{DBR}A"], "confidence": None}
    one = {"gold": [mention], "runs": {"a": {"rows": [mention], "failed": False}}, "spans": {}, "unrevised": False}
    return {name: inputs_of(name, one) for name in "xyz"}


def test_what_is_found_in_view_of_all_gold_is_left_to_be_asked_alone(plain: dict[str, Inputs]) -> None:
    assert {*score_together(plain, CHOICE)} == {"x", "y", "z"}
    own = plain["z"]
    run = own.runs["a"]
    titles = replace(own.gold, links=own.gold.links.with_columns(entity=pl.lit("Ada")))
    other = replace(run, documents=run.documents.with_columns(text=pl.lit("another text")))
    further = replace(run, documents=run.documents.with_columns(document=pl.lit("other/") + pl.col("document")))
    dropped = replace(own.gold, annotations=own.gold.annotations.with_columns(ignorable=pl.lit("dropped")))
    tokens = pl.DataFrame({"subject": ["z/d1"], "term": [TOKENS], "text": ["Ada\nmet\nAlan\n"]})
    laid = replace(run, values=Frames.of(values=tokens).values)
    [background] = own.knowledge.backgrounds
    queried = replace(background, queries={"z": "SELECT"})
    for special in (
        replace(own, gold=titles),
        replace(own, gold=dropped),
        *(replace(own, runs={"a": one}) for one in (other, further, laid)),
        replace(own, knowledge=replace(own.knowledge, backgrounds=(queried,))),
        replace(own, runs={}),
    ):
        assert {*score_together({**plain, "z": special}, CHOICE)} == {"x", "y"}
    assert score_together({"x": plain["x"]}, CHOICE) == {}


def test_answers_have_their_forms_in_the_text_where_gold_tells_no_place(plain: dict[str, Inputs]) -> None:
    """Gold names a mention of no place and no form; an answer whose form is 'Ada', by its text, is not on it."""
    mention = {"document": "d1", "length": 3, "confidence": None, "entities": [f"{DBR}A"]}
    one = {"rows": [mention | {"begin": 0}], "failed": False}
    told = {"gold": [mention | {"begin": None}], "runs": {"a": one}, "spans": {}, "unrevised": False}
    every = plain | {"z": inputs_of("z", told)}
    wanted, counts = alone(every["z"], CHOICE), ("tp", "fp", "fn")
    assert wanted is not None and wanted.select(counts).row(0) == (0, 1, 1)
    assert_frame_equal(score_together(every, CHOICE)["z"].select(counts), wanted.head(2).select(counts))


@pytest.mark.parametrize(
    "asked",
    [
        {"by": ("class",)},
        {"run": ("a",)},
        {"intervals": True},
        {"documents": "kept"},
        {"profile": "hipe"},
        {"task": ("accuracy(measure=shared)",)},
        {"task": ("NIL-clusters",)},
        {"match": ("graded",)},
    ],
    ids=str,
)
def test_questions_whose_answer_in_a_document_depends_on_more_are_asked_alone(asked: dict[str, Any]) -> None:
    question = Question(**{"datasets": ("x", "y"), "task": ("A2KB",), "match": ("strong",), **asked})
    assert not is_by_document(choose(question))
