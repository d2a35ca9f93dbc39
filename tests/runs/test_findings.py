"""What a run is found to be before it is registered, and the record that it has from then on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.runs.findings import Finding, findings_of
from remix.runs.registration import answers_to
from remix.workspace import Workspace

SMALL = Path(__file__).parent / "small"
TEXT = "Ada met Alan Turing and Bob in New York City."
# Ada 0-3, Alan Turing 8-19, New York City 31-44
GOLD = [(0, 3, "Ada"), (8, 19, "Alan"), (31, 44, "NYC")]


def frames(
    rows: Sequence[tuple[int, int, str]], *, text: str | None = TEXT, copies: int = 4, host: str = "a"
) -> Frames:
    """Return as many documents of one text with these mentions in each."""
    documents = [f"http://e.org/d{n}" for n in range(copies)]
    spans = [(f"{one}#{n}", one, begin, end) for one in documents for n, (begin, end, _) in enumerate(rows)]
    annotations = pl.DataFrame(spans, schema=["annotation", "document", "begin", "end"], orient="row")
    forms = annotations.with_columns(
        surface_form=pl.lit(TEXT).str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    )
    links = [(f"{one}#{n}", f"http://{host}.org/{link}") for one in documents for n, (_, _, link) in enumerate(rows)]
    return Frames.of(
        documents=pl.DataFrame({"document": documents, "given": documents, "dataset": "g", "text": text}),
        annotations=forms.with_columns(dataset=pl.lit("g"), is_nil=False),
        links=pl.DataFrame(links, schema=["annotation", "entity"], orient="row"),
    )


def found(run: Frames, task: str = "A2KB", gold: Frames | None = None) -> dict[str, Finding]:
    gold = gold if gold is not None else frames(GOLD)
    return {one.what: one for one in findings_of("s", gold, run, answers_to(gold, run, "s"), task)}


def test_good_run_has_ten_lines_and_no_advice() -> None:
    # Of three mentions in four documents two are right in each: P = 2/2, R = 2/3.
    lines = found(frames(GOLD[:2]))
    assert 8 <= len(lines) <= 11 and not [one for one in lines.values() if one.advice]
    assert lines["documents"].found == "4 of gold's 4 are answered, 4 with gold's text"
    assert lines["spans"].found == "8 of 8 answers have the span of a gold mention"
    assert lines["forms"].found == "8 of 8 are what the text has there"
    assert lines["trial score"].found == "A2KB, strong, remix: P 1.000, R 0.667, F1 0.800"
    assert lines["entities"].found == "8 links, of a.org (8)"


def test_shifted_offsets_are_found_with_what_reads_them() -> None:
    # Everything is two characters late, in texts that the run does not tell.
    gold, run = frames(GOLD, copies=8), frames([(b + 2, e + 2, link) for b, e, link in GOLD], text=None, copies=8)
    run = Frames.of(**{**vars(run), "annotations": run.annotations.with_columns(surface_form=pl.lit(None, pl.String))})
    lines = found(run, gold=gold)
    assert "shifted by" in lines["offsets"].found and lines["offsets"].advice.startswith("--fix-offsets")
    assert lines["spans"].advice and lines["trial score"].advice
    assert lines["documents"].found.endswith("by name, as the run tells no texts")


def test_entities_of_others_doubles_and_documents_that_are_missing_are_told() -> None:
    gold = frames(GOLD, copies=20)
    lines = found(frames([*GOLD, (0, 3, "Ada")], copies=1, host="b"), gold=gold)
    assert lines["documents"].advice and lines["missing documents"].found.startswith("19 of gold's are not in the run")
    assert lines["entities"].advice.startswith("gold's are of a.org")
    assert lines["doubles"].found == "1 answers repeat another's span and entity"


def test_run_that_was_given_spans_has_to_have_them() -> None:
    run = frames([(0, 3, "Ada"), (8, 12, "Alan")])
    assert not found(run)["spans"].advice
    assert found(run, "D2KB")["spans"].advice.startswith("a run made for D2KB was given gold's spans")


@pytest.mark.long
def test_findings_are_said_and_strict_registers_none_that_looks_wrong(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.enable(True):
        workspace.add_run("a", SMALL / "a.ttl", on="gold", strict=False)
    assert "run 'a' on gold:\n  documents: 1 of gold's 1 are answered" in capsys.readouterr().err
    wrong = pl.DataFrame({"document": ["gold"], "begin": [1], "end": [2], "entity": ["http://dbpedia.org/resource/X"]})
    document = workspace.store.frames(["gold"]).documents["given"][0]
    with pytest.raises(UsageError, match="looks wrong, and --strict registers none that does: spans: 0 of 1"):
        workspace.add_run("b", wrong.with_columns(document=pl.lit(document)), on="gold", strict=True)
    assert workspace.runs()["run"].to_list() == ["a"]


@pytest.mark.long
def test_record_of_a_run_is_shown_kept_in_the_graph_and_updated(workspace: Workspace) -> None:
    made = {"system": "linker", "version": "2", "seconds": "1.5", "beam": "4", "date": "2026-01-01"}
    workspace.add_run("a", SMALL / "a.ttl", on="gold", record=made)
    row = workspace.show_run("a").row(0, named=True)
    assert [row[one] for one in ("system", "version", "seconds", "parameters")] == ["linker", "2", 1.5, "beam=4"]
    said = workspace.query(
        "SELECT ?p ?o WHERE { ?run a rmx:Run ; ?p ?o FILTER (?p IN (rmx:systemVersion, rmx:parameters, rmx:task)) }"
    )
    assert {str(value) for value in said.table["o"]} == {"2", '{"beam": "4"}', "A2KB"}
    workspace.add_run("a", SMALL / "a.ttl", on="gold", record={"version": "3", "revision": "abc"})
    row = workspace.show_run("a").row(0, named=True)
    assert (row["version"], row["revision"]) == ("3", "abc")
    for wrong, message in (
        ({"seconds": "soon"}, "is a number, not 'soon'"),
        ({"texts": "x"}, "is told by remix itself"),
    ):
        with pytest.raises(UsageError, match=message):
            workspace.add_run("a", SMALL / "a.ttl", on="gold", record=wrong)


@pytest.mark.long
def test_figures_of_a_run_on_unknown_texts_have_a_warning(workspace: Workspace) -> None:
    told = "nothing says on which revision of the texts it was made"
    workspace.add_run("a", SMALL / "a.ttl", on="gold")
    document = workspace.store.frames(["gold"]).documents["given"][0]
    table = pl.DataFrame(
        {"document": [document], "begin": [0], "end": [3], "entity": ["http://dbpedia.org/resource/X"]}
    )
    workspace.add_run("b", table, on="gold")
    assert any(f"of 'b' {told}" in line for line in workspace.evaluate("gold", run="b").lines)
    assert not any(told in line for line in workspace.evaluate("gold", run="a").lines)
