"""What evaluations print."""

from __future__ import annotations

from pathlib import Path

from remix.reports.evaluations import evaluation_report
from remix.workspace import Workspace


def test_one_column_may_stand_for_a_list_of_one(tmp_path: Path) -> None:
    runs = Path(__file__).parent.parent / "runs" / "small"
    sources = {"gold": runs / "gold.ttl", "runs": f"a={runs / 'a.ttl'}"}
    workspace = Workspace(tmp_path / "w")
    one, listed = (evaluation_report(workspace, (), {**sources, "by": by}) for by in ("kb", ["kb"]))
    assert "InKB" in one.tables[0]["slice"].to_list()
    assert one.tables[0].equals(listed.tables[0])
    assert one.lines == listed.lines
