"""`remix errors` and the page of errors: the same mentions and answers, marked in their sentences."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.store import Store
from remix.web.page import VIEWS
from remix.workspace import Workspace, open_workspace
from tests.commands import Done, run_verb


@pytest.fixture(scope="module")
def work(run_store: Store) -> Workspace:
    return open_workspace(run_store.folder)


def errors(work: Workspace, *options: str) -> Done:
    done = run_verb("errors", *options, "-w", str(work.store.folder))
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"show": "all"},
        {"class": "nil_as_link"},
        {"type": "Person"},
        {"agreement": "missed by all"},
        {"other": "b", "show": "all", "agreement": "only the second right"},
        {"by": "is_nil", "slice": "true"},
        {"by": "is_nil"},
    ],
)
def test_command_line_and_page_show_the_same_rows(work: Workspace, asked: dict[str, str]) -> None:
    shown = VIEWS["errors"].show(work, {"dataset": "gold", "system": "a", **asked}).tables["errors"]
    options = [word for name, said in asked.items() for word in (f"--{name.replace('other', 'beside')}", said)]
    printed = json.loads(errors(work, "a", "--on", "gold", *options, "-o", "json").stdout)
    assert [{name: row[name] for name in shown.columns} for row in printed] == shown.to_dicts()
    assert all(f"[{row['surface_form']}]" in row["sentence"] for row in printed)
    assert len(printed) == len(shown) > 0


def test_errors_are_marked_in_their_sentences_with_gold_and_answers_below(work: Workspace) -> None:
    """System a takes Alan for another, links Bob, who is NIL, and answers New York where gold has New York City."""
    text = errors(work, "a", "--on", "gold", "--beside", "b").stdout
    alan = text.split("\n\n")[0].splitlines()
    assert alan[1:3] == ["   Ada met [Alan] and Bob in New York City.", "   gold: dbr:Alan_Turing"]
    assert alan[3].startswith("   ✗ a: dbr:Alan") and alan[3].endswith("– wrong (wrong link)")
    assert alan[4] == "   ✓ b: dbr:Alan_Turing – correct"
    assert "4 of 5 mentions and answers on gold are errors" in text
    assert re.search(r"classes of a \(--class\): .*wrong_link \(1\)", text)
    first = errors(work, "a", "--on", "gold", "--limit", "1").stdout
    assert "1. " in first and "2. " not in first and "1 shown, --limit 4 shows all" in first


def test_tables_of_errors_have_a_sentence_a_row_and_files_take_all_of_them(work: Workspace, tmp_path: Path) -> None:
    table = errors(work, "a", "--on", "gold", "-o", "table").stdout
    assert table.splitlines()[0].split() == ["document", "sentence", "gold", "a", "a:", "outcome"]
    assert "[Alan]" in table
    errors(work, "a", "--on", "gold", "--to", str(tmp_path / "errors.csv"))
    assert pl.read_csv(io.BytesIO((tmp_path / "errors.csv").read_bytes())).height == 4


def test_errors_of_what_there_is_not_name_what_there_is(work: Workspace) -> None:
    assert work.errors("a").datasets == ("gold",)  # the one dataset that it is on
    for wrong, said in (
        ({"error_class": "wrong_lnk"}, "no class of errors named 'wrong_lnk'; did you mean 'wrong_link'"),
        ({"by": "is_nil", "slice": "maybe"}, "no slice named 'maybe'"),
        ({"show": "erors"}, "no choice of 'show' named 'erors'"),
        ({"type": "Persn"}, "no type named 'Persn'"),
        ({"beside": "z"}, "no run on gold named 'z'"),
    ):
        with pytest.raises(UnknownName, match=re.escape(said)):
            work.errors("a", on="gold", **wrong)
    for wrong, said in (({"slice": "true"}, "--by COLUMN"), ({"agreement": "both right"}, "--beside NAME")):
        with pytest.raises(UsageError, match=said):
            work.errors("a", on="gold", **wrong)
    with pytest.raises(UsageError, match="no run named 'z' is registered"):
        work.errors("z")


@pytest.mark.long
def test_report_has_scores_by_slice_and_those_of_a_remix(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "alan.rq").write_text("SELECT ?a { ?a nif:anchorOf ?form FILTER(STR(?form) IN ('Alan', 'Ada')) }")
    (tmp_path / "alan.rq").write_text((tmp_path / "alan.rq").read_text().replace("?a ", "?annotation "))
    work.build(tmp_path / "alan.rq", to=tmp_path)
    text = work.report(str(tmp_path / "alan.ttl"), by="surface_form", to=tmp_path / "report.html").read_text()
    scores = text.partition(">Systems on alan.ttl</h1>")[2].partition("<h1")[0]
    # System b has both right.
    assert re.search(r"<td[^>]*>b<", scores) and "surface_form" in scores and ">Ada<" in scores
    assert 'data-slice="Alan"' in text
    loaded = work.report("gold", by="is_nil", to=tmp_path / "gold.html").read_text()
    assert ">Systems by is_nil</h1>" in loaded
