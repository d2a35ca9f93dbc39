"""One record for what is asked: command line, Python, pages and stored evaluations have its fields, and no others."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix import Workspace, scoring
from remix.cli.compare import command as compare
from remix.cli.evaluate import command as evaluate
from remix.errors import UsageError
from remix.frames import Frames
from remix.question import NAMES, OPTIONS, Question
from remix.web.forms import Form
from remix.web.page import VIEWS

SEVERAL = {name for name, default in NAMES.items() if isinstance(default, tuple)}


def handed_on(method: Callable[..., Any]) -> dict[str, str]:
    """The fields of the question that a method makes, each with the expression that it is given."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and "Question" in ast.unparse(one.func)]
    return {key.arg or "": ast.unparse(key.value) for call in calls for key in call.keywords}


@pytest.mark.parametrize("method", [Workspace.evaluate, Workspace.compare, Workspace.curve, scoring.evaluate])
def test_parameters_of_methods_are_fields_and_are_handed_on(method: Callable[..., Any]) -> None:
    own = {name: one for name, one in inspect.signature(method).parameters.items() if name in NAMES}
    if method is Workspace.compare:
        del own["samples"]  # how many samples a test of two systems takes, which is no draw of slices
    if method is scoring.evaluate:
        del own["gold"]  # frames, which need not be read
    made = handed_on(method)
    assert made.keys() - {"answers"} == own.keys()
    assert all(name in made[name] or name in ("datasets", "run") for name in own), made
    assert {name: one.default for name, one in own.items()} == {name: NAMES[name] for name in own}


def test_every_field_is_an_option_of_evaluate_and_a_parameter() -> None:
    asked = {one.name: one for one in evaluate.params if isinstance(one, click.Option)}
    of_frames = inspect.signature(scoring.evaluate).parameters
    assert {*OPTIONS, "datasets"} == {*NAMES}
    assert asked.keys() >= OPTIONS.keys()
    assert inspect.signature(Workspace.evaluate).parameters.keys() >= NAMES.keys()
    assert of_frames.keys() >= {name for name, one in OPTIONS.items() if not one.reads}
    for name, field in OPTIONS.items():
        default = asked[name].get_default(click.Context(evaluate))
        assert (asked[name].help, asked[name].multiple) == (field.help, name in SEVERAL), name
        assert default == NAMES[name] or (name in SEVERAL and default is None), name


def test_options_of_compare_are_those_of_evaluate() -> None:
    first, second = ({one.name: one for one in verb.params} for verb in (evaluate, compare))
    for name in second.keys() & OPTIONS.keys() - {"samples"}:
        assert first[name].to_info_dict() == second[name].to_info_dict()


@pytest.mark.long
def test_what_a_page_of_scores_asks_is_called_as_options_are(sample_workspace: Callable[[], Workspace]) -> None:
    work = sample_workspace()
    work.annotate(["sample-news"], ["prior"])
    [form] = [one for one in VIEWS["systems"].show(work, {}).blocks if isinstance(one, Form)]
    # Of one dataset or all, which columns and rows, which system the others are held against, and a figure.
    of_the_page = {"dataset", "datasets", "systems", "have", "against", "spider"}
    assert {one.name for one in form.fields} - of_the_page == {"by", "profile", "task", "match"} <= OPTIONS.keys()


words = st.text(st.characters(codec="utf-8", exclude_characters="="), min_size=1, max_size=8)


@given(st.lists(words, max_size=3).map(tuple), words, st.integers(0, 9), st.booleans(), st.sampled_from(["", "kept"]))
def test_json_is_read_back(names: tuple[str, ...], word: str, seed: int, link: bool, documents: str) -> None:
    question = Question[str](
        datasets=names, task=names, entities=word, seed=seed, link_labels=link, documents=documents, weight=word
    )
    assert Question.of_json(json.loads(json.dumps(question.as_json()))) == question


def test_values_that_there_are_not_are_refused_and_answers_in_memory_have_no_record() -> None:
    for wrong, said in (
        ({"unit": "page"}, "unit is 'document' or 'context', not 'page'"),
        ({"samples": 50}, "samples is 100"),
    ):
        with pytest.raises(UsageError, match=said):
            Question(**wrong)
    with pytest.raises(UsageError, match="'mine' is answers in memory"):
        Question[str](answers={"mine": Frames.empty()}).as_json()
