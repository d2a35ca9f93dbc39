"""Documents that a system failed on, and runs on texts of unknown revision: both stand wherever a score does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remix.publication import publish
from remix.runs.judgements import judge_mentions
from remix.runs.stored import verdicts
from remix.web.page import VIEWS, Note, Page
from remix.workspace import Workspace

NAMES = [f"Ada{number:02}" for number in range(12)]
FAILED = ("Ada03", "Ada07")
UNKNOWN = "of 'broken' nothing says on which revision of the texts it was made"
GOLD = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
"""


def gold() -> str:
    """Twelve documents, `<Name> spoke.`, each with one mention, which is linked to `dbr:<Name>`."""
    said = GOLD
    for name in NAMES:
        text, place = f"{name} spoke.", f"http://example.org/{name}#char="
        said += (
            f'<{place}0,{len(text)}> a nif:Context ; nif:isString "{text}" .\n'
            f"<{place}0,{len(name)}> a nif:Phrase ; nif:referenceContext <{place}0,{len(text)}> ; "
            f'nif:beginIndex 0 ; nif:endIndex {len(name)} ; nif:anchorOf "{name}" ; '
            f"itsrdf:taIdentRef <http://dbpedia.org/resource/{name}> .\n"
        )
    return said


def answers(file: Path, *, failed: tuple[str, ...] = (), texts: bool) -> Path:
    """Write a run that is right wherever it did not fail, but for Ada11; with or without the texts."""
    lines = []
    for name in NAMES:
        told: dict[str, object] = {"document": name} | ({"text": f"{name} spoke."} if texts else {})
        right = {"begin": 0, "end": 5, "mention": name, "entity": f"dbr:{name if name != 'Ada11' else 'Other'}"}
        lines.append({**told, "error": "timed out"} if name in failed else {**told, "answers": [right]})
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("shortcomings")
    (folder / "gold.ttl").write_text(gold())
    made = Workspace(folder / ".remix")
    made.load([folder / "gold.ttl"])
    made.add_run("whole", answers(folder / "whole.jsonl", texts=True), on="gold")
    made.add_run("broken", answers(folder / "broken.jsonl", failed=FAILED, texts=False), on="gold")
    return made


def shown(work: Workspace, view: str, **asked: str) -> tuple[Page, str]:
    page = VIEWS[view].show(work, asked)
    return page, "\n".join(block.text for block in page.blocks if isinstance(block, Note))


@pytest.mark.long
def test_comparison_says_on_how_many_documents_a_system_failed_and_how_that_counts(work: Workspace) -> None:
    found = work.compare("gold", task="A2KB", samples=100)
    assert found.scores.select("system", "failed", "revision_unknown").sort("system").rows() == [
        ("broken", 2, True),
        ("whole", 0, False),
    ]
    told = "\n".join(found.lines)
    assert "failed: broken on 2 documents; without an answer, the mentions of these documents count as missed" in told
    assert UNKNOWN in told
    # whole: 11 of 12 right. broken: 9 right, 1 wrong, 2 missed: P = 9/10, R = 9/12, F1 = 2 * 9 / (10 + 12).
    scores = dict(found.scores.select("system", "score").iter_rows())
    assert scores == {"whole": pytest.approx(11 / 12), "broken": pytest.approx(18 / 22)}


@pytest.mark.long
def test_comparison_of_two_datasets_names_that_of_the_failures(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "other.ttl").write_text(gold().replace("Ada", "Bob"))
    own = Workspace(tmp_path / ".remix")
    own.load([work.folder.parent / "gold.ttl", tmp_path / "other.ttl"])
    both = work.folder.parent / "broken.jsonl", tmp_path / "bob.jsonl"
    both[1].write_text(both[0].read_text().replace("Ada", "Bob").replace('"error": "timed out"', '"answers": []', 1))
    for name in ("a", "b"):
        own.add_run(name, [both[0] if name == "a" else work.folder.parent / "whole.jsonl", both[1]])
    lines = "\n".join(own.compare(["gold", "other"], task="A2KB", samples=100).lines)
    assert "failed: a on 2 documents of gold, a on 1 document of other, b on 1 document of other;" in lines
    lines = "\n".join(own.evaluate(["gold", "other"], task="A2KB").lines)
    assert "failed: a on 2 documents of gold, a on 1 document of other, b on 1 document of other;" in lines


def test_slices_of_a_comparison_have_the_failures_of_the_whole(work: Workspace) -> None:
    found = work.compare("gold", task="A2KB", by="words:quantiles:2", samples=100)
    assert "failed: broken on 2 documents;" in "\n".join(found.lines)


def test_scores_and_errors_say_both_below(work: Workspace) -> None:
    report = work.evaluate("gold", task="A2KB")
    micro = report.rows.filter(average="micro", column="", matching="strong")
    told = micro.select("system", "failed", "revision_unknown").sort("system").rows()
    assert told == [("broken", 2, True), ("whole", 0, False)]
    for lines in (report.lines, work.errors("broken", on="gold").lines):
        assert "failed: broken on 2 documents;" in "\n".join(lines) and UNKNOWN in "\n".join(lines)
    assert not any("failed" in line or "revision" in line for line in work.errors("whole", on="gold").lines)
    assert not any("revision" in line for line in work.evaluate("gold", run="whole", task="A2KB").lines)


@pytest.mark.long
def test_pages_and_report_say_both_where_they_show_scores(work: Workspace, tmp_path: Path) -> None:
    page, told = shown(work, "systems", dataset="gold")
    assert "failed: broken on 2 documents;" in told and UNKNOWN in told
    assert {*page.tables["scores"].filter(system="broken")["failed"]} == {2}
    for asked in ({"system": "broken"}, {"system": "whole", "other": "broken"}):
        _, told = shown(work, "errors", dataset="gold", **asked)
        assert "failed: broken on 2 documents;" in told and UNKNOWN in told
    assert "failed" not in shown(work, "errors", dataset="gold", system="whole")[1]
    on = f"http://example.org/{FAILED[0]}#char=0,12"
    assert (
        "No answer is here of broken, which failed on this document."
        in shown(work, "document", dataset="gold", name=on)[1]
    )
    html = work.report("gold", to=tmp_path / "report.html").read_text()
    assert html.count("failed: broken on 2 documents;") >= 2 and "nothing says on which revision" in html


@pytest.mark.long
def test_pages_know_of_a_revision_that_is_told_later(tmp_path: Path) -> None:
    (tmp_path / "gold.ttl").write_text(gold())
    own = Workspace(tmp_path / ".remix")
    own.load([tmp_path / "gold.ttl"])
    file = answers(tmp_path / "run.jsonl", texts=False)
    own.add_run("mine", file, on="gold")
    for view in ("systems", "errors"):
        assert "nothing says on which revision" in shown(own, view, dataset="gold", system="mine")[1]
    own.add_run("mine", file, on="gold", record={"revision": "v1"})
    for view in ("systems", "errors"):
        assert "nothing says on which revision" not in shown(own, view, dataset="gold", system="mine")[1]


def test_document_that_a_system_failed_on_has_no_answer_to_judge(work: Workspace) -> None:
    # Two systems are right on each name but Ada11; of those that one failed on the other alone is judged, and is right.
    found = work.query(
        "SELECT ?name ?share { ?a rmx:systemAgreement ?share ; nif:anchorOf ?name ; nif:referenceContext ?d }"
    ).table
    shares = {name: float(share) for name, share in found.select("name", "share").iter_rows()}
    assert shares == {name: 0.0 if name == "Ada11" else 1.0 for name in NAMES}
    judged = verdicts(work.store, "gold").group_by("system").len().sort("system")
    assert judged.rows() == [("broken", 10), ("whole", 12)]
    counts = judge_mentions(work, "gold").shares
    assert sorted(counts.select("right", "of").rows()) == [(0, 2), (1, 1), (1, 1), *[(2, 2)] * 9]
    # Stored again, beside a further run, it is the same.
    work.store_runs("gold", system="whole")
    assert verdicts(work.store, "gold").height == 22


def test_registered_run_shows_its_failures_with_the_first_reason_and_its_graph_has_them(work: Workspace) -> None:
    row = work.show_run("broken").row(0, named=True)
    assert row["failed"] == 2 and row["first_failure"].endswith("it timed out")
    assert work.runs().filter(run="whole")["failed"].to_list() == [0]
    found = work.query("SELECT ?document WHERE { ?run rmx:failedOn ?document }").table["document"]
    assert len(found) == 2 and all(any(name in one for name in FAILED) for one in found)


@pytest.mark.long
def test_published_manifest_tells_how_the_runs_were_made(work: Workspace, tmp_path: Path) -> None:
    publish(work.store, "gold", tmp_path, licence="http://creativecommons.org/licenses/by/4.0/")
    told = (tmp_path / "gold.manifest.ttl").read_text()
    for said in (
        "#run-broken",
        "#run-whole",
        "rmx:revision",
        "prov:used",
        f"<http://example.org/{FAILED[0]}#char=0,12>",
    ):
        assert said in told, said
    again = tmp_path / "again"
    publish(work.store, "gold", again, licence="http://creativecommons.org/licenses/by/4.0/")
    assert (again / "gold.manifest.ttl").read_text() == told


@pytest.mark.long
def test_revision_that_is_told_later_changes_no_record_of_an_evaluation(tmp_path: Path) -> None:
    (tmp_path / "gold.ttl").write_text(gold())
    own = Workspace(tmp_path / ".remix")
    own.load([tmp_path / "gold.ttl"])
    file = answers(tmp_path / "run.jsonl", texts=False)
    own.add_run("mine", file, on="gold")
    own.evaluate("gold", run="mine", task="A2KB", signature_to=tmp_path / "record.json")
    own.add_run("mine", file, on="gold", record={"revision": "v1"})
    assert "revision_unknown" not in own.evaluate(reproduce=tmp_path / "record.json").rows.columns
