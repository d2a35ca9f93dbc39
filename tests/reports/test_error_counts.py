"""Errors counted by class and by part: the numbers of `remix errors` and of `remix evaluate`."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import polars as pl
import pytest

from remix.reports.error_counts import ANY, count_errors
from remix.store import Store
from remix.web.page import VIEWS
from remix.workspace import Workspace, open_workspace
from tests.pages import follow, table_of
from tests.workspaces import copy_workspace

RANDOM = random.Random(20261123)
COLUMNS = ("class", "type", "is_nil", "ambiguitySurfaceForm", "words", "pagerankSegment", "nameRelation")


@pytest.fixture(scope="module")
def small(run_store: Store) -> Workspace:
    return open_workspace(run_store.folder)


def test_errors_are_counted_with_what_could_have_been_wrong(small: Workspace) -> None:
    """System a links Ada rightly, Alan wrongly, Bob, who is NIL, and New York; it misses New York City.

    Of five mentions and answers four are wrong; of two mentions that both link one is; of four mentions one is missing;
    of four answers one is extra. System b has Ada and Alan, and misses two of four.
    """
    found = count_errors(small.judgements("gold")).filter(pl.col("of") > 0)
    assert {(system, name): (errors, of) for system, name, errors, of, _ in found.rows()} == {
        ("a", ANY): (4, 5),
        ("a", "wrong_link"): (1, 2),
        ("a", "link_as_nil"): (0, 2),
        ("a", "nil_as_link"): (1, 1),
        ("a", "missing"): (1, 4),
        ("a", "extra"): (1, 4),
        ("b", ANY): (2, 4),
        ("b", "wrong_link"): (0, 2),
        ("b", "link_as_nil"): (0, 2),
        ("b", "missing"): (2, 4),
        ("b", "extra"): (0, 2),
    }


def test_no_more_errors_are_counted_than_there_could_have_been_of_alternatives(
    small: Workspace,
) -> None:
    """Bob may be NIL or an entity: the link of system a to him is the one that could have been NIL."""
    judged = small.judgements("gold")
    either = judged.mentions.with_columns(gold=pl.col("gold").replace("NIL", "NIL http://e.org/Bob"))
    found = count_errors(replace(judged, mentions=either))
    assert found.filter(pl.col("class") == "nil_as_link", system="a").select("errors", "of").row(0) == (1, 1)
    assert (found["errors"] <= found["of"]).all()


def test_answers_that_do_not_count_are_among_neither_errors_nor_what_could_be_wrong(small: Workspace) -> None:
    """Without the answer on New York, which gold neither requires nor rejects, three of four are wrong, none extra."""
    judged = small.judgements("gold")
    extra = judged.mentions.filter(pl.col("annotation").is_null())["mention"].implode()
    outcome = pl.when(pl.col("mention").is_in(extra)).then(pl.lit("ignored")).otherwise("outcome")
    rows = judged.systems.with_columns(outcome=outcome, classes=pl.when(outcome != "ignored").then("classes"))
    found = count_errors(replace(judged, systems=rows)).filter(system="a")
    counts = {name: (errors, of) for name, errors, of in found.select("class", "errors", "of").rows()}
    assert (counts[ANY], counts["missing"], counts["extra"]) == ((3, 4), (1, 4), (0, 3))


@pytest.mark.long
def test_counts_are_those_of_the_evaluation(answered_sample: Workspace) -> None:
    for dataset in ("sample-news", "sample-posts"):
        asked = {"task": "A2KB", "match": "strong", "errors": "neleval"}
        rows = answered_sample.evaluate(dataset, **asked).rows.filter(column="error_class", dataset="all")
        wanted = {(row["system"], row["slice"]): (row["errors"], row["total"]) for row in rows.to_dicts()}
        found = count_errors(answered_sample.judgements(dataset)).filter(pl.col("class") != ANY, pl.col("of") > 0)
        assert {(row["system"], row["class"]): (row["errors"], row["of"]) for row in found.to_dicts()} == {
            key: counts for key, counts in wanted.items() if counts[1]
        }


@pytest.mark.long
def test_cells_are_the_numbers_of_the_command_line_and_lead_to_as_many_sentences(answered_sample: Workspace) -> None:
    """Twelve cells by chance: datasets, columns, classes and systems."""
    work, looked = answered_sample, 0
    for _ in range(6):
        dataset = RANDOM.choice(["sample-news", "sample-posts", "sample-biographies"])
        asked = {"dataset": dataset, "by": RANDOM.choice(COLUMNS), "class": RANDOM.choice(["", "missing", "extra"])}
        page = VIEWS["errors"].show(work, asked)
        for name in ("classes of errors", f"errors by {asked['by']}"):
            table = table_of(page, name)
            cells = [(row, column) for row in table.frame.to_dicts() for column in table.links]
            row, column = RANDOM.choice([one for one in cells if table.links[one[1]](one[0])])
            place = table.links[column](row)
            told: Mapping[str, Any] = dict(parse_qsl(urlsplit(place).query))
            options = {"error_class" if key == "class" else key: value for key, value in told.items()}
            on, run = options.pop("dataset"), options.pop("system")
            assert len(work.errors(run, on=on, **options).found) == row[column], place
            assert len(follow(work, place).tables["errors"]) == row[column], place
            looked += row[column] > 0
    assert looked > 5


@pytest.mark.long
def test_baselines_and_oracles_come_behind_systems(answered_sample: Workspace, tmp_path: Path) -> None:
    """The system of the page is the first of its kind, an oracle the last of all."""
    work = copy_workspace(answered_sample.store.folder, tmp_path / "own")
    work.annotate("sample-news", system=["coherence", "random-candidate"])
    page = VIEWS["errors"].show(work, {"dataset": "sample-news", "system": "random-candidate", "by": "is_nil"})
    table = table_of(page, "classes of errors")
    wanted = [("coherence", "system"), ("random-candidate", "baseline"), ("prior", "baseline")]
    wanted.append(("oracle-candidates", "oracle"))
    assert table.groups == "kind" and table.frame.select("system", "kind").rows() == wanted
    columns = [one for one in table_of(page, "errors by is_nil").frame.columns if "share" not in one]
    assert columns[1:] == ["random-candidate", "coherence", "prior", "oracle-candidates"]
