"""Runs whose texts are gold's with other white space, as other tokenisations have them: laid on gold by characters."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from remix import progress
from remix.cli import cli
from remix.errors import BadInput
from remix.frames import Frames
from tests.examples import FEW
from tests.scoring.conftest import evaluate

LETTERS = st.sampled_from(["a", "é", "😀", ".", "'"])
SPACES = st.text(st.sampled_from([" ", "\n", "\u00a0", "\u3000"]), max_size=3)


def spoken(parts: list[tuple[str, str]], mentions: list[tuple[int, int]]) -> Frames:
    """Return a text of letters, each behind its white space, and mentions from a letter to another, both included."""
    text, places = "", []
    for space, letter in parts:
        text += space
        places.append(len(text))
        text += letter
    rows = [
        {"annotation": f"m{n}", "document": "d", "begin": places[first], "end": places[last] + 1, "entity": f"e:{n}"}
        for n, (first, last) in enumerate(mentions)
    ]
    table = pl.DataFrame(rows)
    return Frames.of(
        documents=pl.DataFrame({"document": ["d"], "dataset": ["x"], "text": [text]}),
        annotations=table.drop("entity"),
        links=table.select("annotation", "entity"),
    )


def counts(gold: Frames, run: Frames) -> tuple[int, int, int]:
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"])
    tp, fp, fn = rows.filter(average="micro", column="").select("tp", "fp", "fn").row(0)
    return tp, fp, fn


@st.composite
def drawn_spacings(draw: st.DrawFn) -> tuple[Frames, Frames, int]:
    letters = draw(st.lists(LETTERS, min_size=1, max_size=12))
    size = len(letters)
    sides = [draw(st.lists(SPACES, min_size=size, max_size=size)) for _ in range(2)]
    spans = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).map(lambda one: (min(one), max(one)))
    mentions = draw(st.lists(spans, min_size=1, max_size=4, unique=True))
    gold, run = (spoken([*zip(spaces, letters, strict=True)], mentions) for spaces in sides)
    return gold, run, len(mentions)


@settings(max_examples=FEW)
@given(drawn_spacings())
def test_any_spacing_of_a_text_keeps_gold_as_answers_at_1(drawn: tuple[Frames, Frames, int]) -> None:
    gold, run, mentions = drawn
    assert counts(gold, run) == (mentions, 0, 0)


def frames_of(text: str, *forms: str, name: str = "d") -> Frames:
    """Return a text with mentions of these forms, each where it stands first, linked to itself without white space."""
    rows = pl.DataFrame({"form": forms}).with_columns(annotation=name + pl.lit("#") + pl.col("form"))
    begin = [text.index(form) for form in forms]
    rows = rows.with_columns(document=pl.lit(name), begin=pl.Series(begin), surface_form="form")
    rows = rows.with_columns(end=pl.col("begin") + pl.col("form").str.len_chars())
    links = rows.select("annotation", entity=pl.lit("e:") + pl.col("form").str.replace_all(r"\s", ""))
    documents = pl.DataFrame({"document": [name], "dataset": ["x"], "text": [text]})
    return Frames.of(documents=documents, annotations=rows.drop("form"), links=links)


def test_tokens_that_are_split_otherwise_are_laid_on_the_text_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    gold = frames_of("The U.S. don't like New York.", "U.S.", "New York")
    run = frames_of("The U.S . do n't like New  York .", "U.S .", "New  York")
    with progress.enable():
        assert counts(gold, run) == (2, 0, 0)
    said = " ".join(capsys.readouterr().err.split())
    assert "run 's': 1 of its documents have gold's text with other white space" in said


def test_texts_with_another_letter_are_refused_where_that_stands() -> None:
    gold, run = frames_of("Ada met Bob.", "Ada"), frames_of("Ada  met Bob!", "Ada")
    # The white space differs first, at 4; what hinders is the letter at 11.
    with pytest.raises(BadInput, match=r"differ from character 11: gold has 'Ada met Bob.' .* the run 'Ada  met Bob!'"):
        evaluate(gold, {"s": run})


def test_texts_that_differ_in_white_space_alone_are_told_apart_by_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gold = Frames.concat([frames_of("Ada met", "Ada", name="a"), frames_of("Adam et", "Adam", name="b")])
    run = frames_of("A dam et", "A dam", name="b")
    assert counts(gold, run) == (1, 0, 1)
    with progress.enable(), pytest.raises(BadInput):
        counts(gold, frames_of("A dam et", "A dam", name="c"))
    assert "1 of its documents have the characters of several texts" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
def test_run_of_another_tokenisation_is_registered_on_the_dataset_it_answers(tmp_path: Path) -> None:
    for name, text, span in (("gold", "The U.S. won.", [4, 8]), ("run", "The U.S . won .", [4, 9])):
        labels = [{"span": span, "entity_id": "Q30"}, {"span": [0, 3], "entity_id": "Q1"}][: 2 if name == "gold" else 1]
        (tmp_path / f"{name}.benchmark.jsonl").write_text(json.dumps({"id": 0, "text": text, "labels": labels}))
    home = ["-w", str(tmp_path / "w")]
    for command in (
        ["load", str(tmp_path / "gold.benchmark.jsonl"), "--name", "g"],
        ["run", "add", "s", str(tmp_path / "run.benchmark.jsonl")],
    ):
        done = CliRunner().invoke(cli, [*command, *home])
        assert done.exit_code == 0, done.output
    assert "gold's text with other white space" in " ".join(done.stderr.split())
    done = CliRunner().invoke(cli, ["evaluate", "g", "--run", "s", "--task", "A2KB", "-o", "json", *home])
    rows = [one for one in json.loads(done.stdout) if one["matching"] == "strong" and one["average"] == "micro"]
    assert [(one["tp"], one["fp"], one["fn"]) for one in rows] == [(1, 0, 1)]
