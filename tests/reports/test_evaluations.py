"""What evaluations print."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

from remix.workspace import Workspace


def test_one_column_may_stand_for_a_list_of_one(tmp_path: Path) -> None:
    runs = Path(__file__).parent.parent / "runs" / "small"
    sources = {"gold": runs / "gold.ttl", "run": f"a={runs / 'a.ttl'}"}
    workspace = Workspace(tmp_path / "w")
    one, listed = (workspace.evaluate(**sources, by=by) for by in ("kb", ["kb"]))
    assert "InKB" in one.tables[0]["slice"].to_list()
    assert one.tables[0].equals(listed.tables[0])
    assert one.lines == listed.lines


def test_a_report_can_be_sent_to_another_process(tmp_path: Path) -> None:
    runs = Path(__file__).parent.parent / "runs" / "small"
    report = Workspace(tmp_path / "w").evaluate(gold=runs / "gold.ttl", run=f"a={runs / 'a.ttl'}")
    sent = pickle.loads(pickle.dumps(report))
    assert sent.lines == report.lines and sent.tables[0].equals(report.tables[0])


def test_slices_are_in_tables_of_their_own_by_size_and_many_small_ones_in_a_line(tmp_path: Path) -> None:
    # 18 forms of one mention each beside 'Ada', which is there twice: 15 slices are shown, 4 are left out.
    forms = ["Ada", "Ada", *(f"Name{number:02}" for number in range(18))]
    begins = [sum(len(form) + 1 for form in forms[:number]) for number in range(len(forms))]
    lines = [
        {"document": "d", "begin": begin, "end": begin + len(form), "entity": f"http://dbpedia.org/resource/{form}"}
        for begin, form in zip(begins, forms, strict=True)
    ]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(map(json.dumps, [{"document": "d", "text": " ".join(forms)}, *lines])))
    report = Workspace(tmp_path / "w").evaluate(
        gold=file, run=f"a={file}", by="surface_form", task="A2KB", match="strong"
    )
    assert report.titles == ["A2KB, strong matching", "A2KB by surface_form, strong matching"]
    whole, slices = report.tables
    assert whole["mentions"].to_list() == [20]
    assert slices.select("slice", "mentions").rows()[:2] == [("Ada", 2), ("Name00", 1)] and len(slices) == 15
    assert "4 smaller slices by surface_form (1 to 1 mentions) are left out here" in report.lines[0]
    assert report.rows.filter(column="surface_form", average="micro")["slice"].n_unique() == 19
