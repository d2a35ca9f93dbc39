"""Labels without identifier, linked by name."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from remix.cli import cli
from remix.errors import MissingKnowledge
from remix.scoring.inputs.entities import with_labels_linked

TEXT = "Ada met Bob in Rome"


def test_label_is_linked_where_one_entity_has_it(tmp_path: Path) -> None:
    gold = [{"document": "d", "text": TEXT}]
    for form, entity in (("Ada", "Q1"), ("Bob", "Q2"), ("Rome", "Q3")):
        begin = TEXT.index(form)
        gold.append({"document": "d", "begin": begin, "end": begin + len(form), "entity": entity})  # type: ignore[dict-item]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    answers = [{"mention": "Ada", "label": "ada lovelace"}, {"mention": "Bob", "label": "Bob"}]
    answers.append({"mention": "Rome", "label": "Roma"})
    (tmp_path / "run.jsonl").write_text(json.dumps({"document": "d", "text": TEXT, "answers": answers}))
    # Two are called Bob, nobody Roma.
    names = [("Q1", "Ada Lovelace"), ("Q2", "Bob"), ("Q4", "Bob"), ("Q3", "Rome")]
    (tmp_path / "names.tsv").write_text("entity\tname\ttypes\n" + "".join(f"{q}\t{name}\t\n" for q, name in names))
    known = ["evaluate", "--gold", str(tmp_path / "gold.jsonl"), "--run", f"m={tmp_path / 'run.jsonl'}"]
    known += ["--task", "A2KB", "--match", "strong", "--entities", str(tmp_path / "names.tsv"), "-o", "json"]
    counts, signatures = [], set()
    for more in ([], ["--link-labels"]):
        result = CliRunner().invoke(cli, [*known, *more])
        assert result.exit_code == 0, result.output
        rows = pl.DataFrame(json.loads(result.stdout), infer_schema_length=None)
        counts += rows.filter(column="", average="micro", dataset="all").select("tp", "fp").rows()
        signatures |= set(rows["signature"])
    assert counts == [(0, 3), (1, 2)]
    assert len(signatures) == 2
    assert "1 of its 3 labels without identifier are linked" in result.stderr


def test_names_are_needed() -> None:
    with pytest.raises(MissingKnowledge, match=r"labels need names of entities: give --entities, or `remix kb attach"):
        with_labels_linked({}, None)
