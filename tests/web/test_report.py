"""The report: its numbers are those of the commands, and it holds what a study has written."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from remix.errors import Error, UnknownName, UsageError
from remix.measures.labels import label_of
from remix.reports.error_counts import ANY, count_errors
from remix.reports.error_figures import slice_by_type
from remix.reports.sentences import NO_MENTION
from remix.signature import content_hash
from remix.store import Store
from remix.studies.manifest import StudyManifest
from remix.web.page import VIEWS, Drawing, Note, Page, Table
from remix.web.rendering import render_file
from remix.workspace import Workspace
from tests.workspaces import ITEM, build_labelled, copy_workspace

BY = "type"


@pytest.fixture(scope="module")
def text(work: Workspace, tmp_path_factory: pytest.TempPathFactory) -> str:
    return work.report("gold", by=BY, to=tmp_path_factory.mktemp("report") / "report.html").read_text()


def read_table(text: str, page: str, table: str) -> list[list[str]]:
    """The cells of a table of a page, its header first; what stands in small letters is in the same cell."""
    section = text.partition(f'<h1 dir="auto">{page}</h1>')[2].partition('<section id="page-')[0]
    found = section.partition(f">{table}</h2>")[2].partition("</table>")[0]
    assert found, (page, table)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", found, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(unescape(re.sub("<[^>]*>", "", cell)).split()) for cell in row] for row in cells]


@pytest.mark.long
def test_errors_of_a_report_are_those_of_remix_errors(work: Workspace, text: str) -> None:
    header, *rows = read_table(text, "Errors on gold", "classes of errors")
    assert [row[0] for row in rows] == ["a", "b"] and header[1:3] == [ANY, "wrong link wrong_link"]
    names = [ANY, *(said.rpartition(" ")[2] for said in header[2:])]  # small beside what people call them
    for system, *cells in rows:
        for name, cell in zip(names, cells, strict=True):
            wanted = work.errors(system, on="gold", error_class="" if name == ANY else name)
            assert int(cell.split()[0]) == len(wanted.found), (system, name)
    parts, *rows = read_table(text, "Errors on gold", f"errors by {label_of(BY).words}")
    assert parts == [f"{label_of(BY).words} {BY}, kind", "a", "b"] and len(rows) > 1
    for part, *cells in rows:
        for system, cell in zip(parts[1:], cells, strict=True):
            own = work.errors(system, on="gold", by=BY, slice=part.rpartition(":")[2]).found
            assert int(cell.split()[0] if cell else 0) == len(own), (system, part)


@pytest.mark.long
def test_slices_of_a_report_are_those_of_remix_evaluate(work: Workspace, text: str) -> None:
    header, *rows = read_table(text, f"Systems by {BY}", "systems")
    found = work.evaluate("gold", by=BY, task="A2KB", match="strong").rows.filter(average="micro", dataset="all")
    compared = 0
    place = header.index("system")
    for row in rows:
        system = row[place]
        for name, cell in zip(header, row, strict=True):
            if not re.search(r" \d+ mentions?$", name):
                continue
            part = re.sub(r" \d+ mentions?$", "", name)
            named = pl.col("slice").str.ends_with(part.rpartition(":")[2]) & (pl.col("column") == BY)
            own = found.filter(pl.col("column") == "" if part == "all" else named, system=system)
            assert float(cell.split()[0]) == round(own["f1"].item(), 3), (system, part)
            compared += 1
    assert compared > 4


def test_report_begins_with_a_summary_of_all_that_is_in_it(work: Workspace, text: str) -> None:
    assert re.findall('<h1 dir="auto">([^<]*)</h1>', text)[:2] == ["Summary", "Errors on gold"]
    assert "1 dataset with 1 document and 4 mentions; 2 systems answered." in text
    header, *rows = read_table(text, "Summary", "systems at a glance")
    assert header == ["system", "kind", "wrong or missed", "most frequent error", "datasets", "F1"]
    assert "F1 is micro-F1 on gold." in text
    f1 = work.evaluate("gold", task="A2KB", match="strong").rows.filter(average="micro", column="", dataset="all")
    for system, kind, wrong, _, datasets, cell in rows:
        assert (int(wrong.split()[0]), kind, datasets) == (len(work.errors(system, on="gold").found), "system", "1")
        # Of one dataset there is no lowest and highest beside the score.
        assert float(cell) == round(f1.filter(system=system)["f1"].item(), 3)


@pytest.mark.long
def test_summary_has_means_of_what_all_answered_and_baselines_and_oracles_behind_systems(
    answered_sample: Workspace, tmp_path: Path
) -> None:
    names = ("sample-news", "sample-posts")
    work = copy_workspace(answered_sample.store.folder, tmp_path / "copy")
    work.annotate(names, system="oracle-candidates")
    text = work.report(names, to=tmp_path / "report.html").read_text()
    header, *rows = read_table(text, "Summary", "systems at a glance")
    each = [work.evaluate(one, task="A2KB", match="strong").rows for one in names]
    each = [own.with_columns(asked=pl.lit(one)) for one, own in zip(names, each, strict=True)]
    found = pl.concat(each, how="diagonal_relaxed").filter(average="micro", column="", dataset="all").drop_nulls("f1")
    on = {system: {*own["asked"]} for (system,), own in found.group_by("system")}
    shared = sorted(set.intersection(*on.values()))
    assert shared == [*names] and "F1 is the mean micro-F1 of the 2 datasets that all of these systems answered" in text
    kinds = [row[header.index("kind")] for row in rows]
    assert kinds == sorted(kinds, key=["system", "baseline", "oracle"].index) and len({*kinds}) > 1
    for row in rows:
        own = found.filter(system=row[0])
        mean, *spread = row[header.index("F1")].split()
        assert float(mean) == pytest.approx(own.filter(pl.col("asked").is_in(shared))["f1"].mean(), abs=6e-4)
        assert spread == [f"{own['f1'].min():.3f}", "to", f"{own['f1'].max():.3f}"]


@pytest.mark.long
def test_report_does_not_say_that_bars_lead_on(answered_sample: Workspace) -> None:
    page = VIEWS["dataset"].show(answered_sample, {"name": "sample-news", "column": "ambiguitySurfaceForm"})
    [figure] = [one for one in page.blocks if isinstance(one, Drawing)]
    assert figure.leads == "A bar leads to its annotations."
    written = render_file("report", [page])
    assert "The lines are the boundaries of" in written and "A bar leads" not in written


def test_share_stands_beside_a_count_that_is_as_large(text: str) -> None:
    """System a links Bob, who is NIL: one of one, which is 100 %."""
    header, *rows = read_table(text, "Errors on gold", "classes of errors")
    place = next(nth for nth, name in enumerate(header) if "link in place of NIL" in name)
    assert [row[place] for row in rows] == ["1 100.0 %", "0"]


@pytest.mark.long
def test_sentences_of_a_report_have_the_labels_of_entities(tmp_path: Path) -> None:
    work = build_labelled(tmp_path)
    line = {"document": "http://e.org/texts/7#char=0,7", "text": "Ada met", "begin": 0, "end": 3, "entity": ITEM}
    (tmp_path / "mine.jsonl").write_text(json.dumps(line) + "\n")
    work.load([tmp_path / "mine.jsonl"])
    work.add_run("own", pl.DataFrame({"document": [line["document"]], "begin": [0], "end": [3], "entity": ["e:X"]}))
    text = work.report("mine", to=tmp_path / "report.html").read_text()
    assert "gold: Ada Lovelace (wd:Q7259)" in text and ITEM not in text


@pytest.mark.long
def test_what_cannot_be_is_refused_before_scores_are_computed(run_store: Store, tmp_path: Path) -> None:
    """A column that is not there, also behind one that is, and a place that cannot be written."""
    work = copy_workspace(run_store.folder, tmp_path / "fresh")
    kept = work.store.own("cache") / "scores"
    shutil.rmtree(kept, ignore_errors=True)
    with pytest.raises(UnknownName, match="no column named 'tpye'"):
        work.report("gold", by=[BY, "tpye"], to=tmp_path / "report.html")
    with pytest.raises(Error, match="cannot be written: Is a directory"):
        work.report("gold", to=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(Error, match="cannot be written: Not a directory"):
        work.report("gold", to=tmp_path / "file" / "report.html")
    assert not any(kept.rglob("*")) and not (tmp_path / "report.html").exists()
    work.report("gold", to=tmp_path / "report.html")
    assert any(kept.rglob("*"))


@pytest.mark.long
def test_errors_on_several_datasets_add_up_and_stay_told_apart_by_type(answered_sample: Workspace) -> None:
    names = ("sample-news", "sample-posts")
    each = [answered_sample.judgements(name) for name in names]
    keys = ["system", "class"]
    summed = pl.concat([count_errors(one) for one in each]).group_by(keys).agg(pl.col("errors", "of").sum())
    joined = answered_sample.judgements(names)  # they share no text
    assert count_errors(joined).select(*keys, "errors", "of").sort(keys).equals(summed.sort(keys))
    typed = count_errors(slice_by_type(joined), parts=True).filter(pl.col("part") == NO_MENTION)
    # Where gold has no mention there is nothing to miss, and every answer is wrong.
    missing, wrong = (typed.filter(pl.col("class") == name) for name in ("missing", "extra"))
    assert missing["of"].sum() == 0 and wrong["errors"].sum() == wrong["of"].sum() > 0
    kept = joined.of_systems(["prior"])
    assert kept.systems["system"].unique().to_list() == ["prior"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with the report of a study, and the manifest that names its content."""
    folder = tmp_path / "study"
    folder.mkdir()
    pages = [Page("What <holds>", [Note("All."), Table("scores", pl.DataFrame({"system": ["a"]}))])]
    (folder / "report.html").write_text(render_file("A study", pages))
    said = StudyManifest(
        {"name": "s", "title": "A <study>"}, {}, {}, {"report.html": content_hash(folder / "report.html")}
    )
    (folder / "manifest.json").write_text(said.as_json())
    return folder


def test_report_holds_what_a_study_has_written(work: Workspace, study: Path, tmp_path: Path) -> None:
    text = work.report("gold", study=[study, study / "manifest.json"], to=tmp_path / "report.html").read_text()
    assert text.count('<h1 dir="auto">What &lt;holds&gt;</h1>') == 2 and text.count("<summary>A &lt;study&gt;") == 2
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len({*ids}) and {"study-1-page-1", "study-2-page-1"} <= {*ids}
    assert [one for one in re.findall(r'href="#([^"]+)"', text) if one not in ids] == []
    named = [one for said in re.findall(r'aria-labelledby="([^"]+)"', text) for one in said.split()]
    assert named and [one for one in named if one not in ids] == []


def test_study_that_was_changed_or_is_none_is_refused(work: Workspace, study: Path, tmp_path: Path) -> None:
    (study / "report.html").write_text("<script>alert(1)</script>")
    missing = r"is no folder of a study, which has a manifest\.json: `remix study"
    for folder, told in ((study, "is not as the study has written it"), (tmp_path, missing), (tmp_path / "x", missing)):
        with pytest.raises(UsageError, match=told):
            work.report("gold", study=folder, to=tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
