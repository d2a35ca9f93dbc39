"""What files say of documents and annotations that no measure is: it stays with them, whatever is computed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from remix.formats import layers, read, said_terms
from remix.store.queries import Query
from remix.workspace import Workspace

HIPE = """TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tNEL-LIT\tMISC
# document_id = d1
# date = 1898-03-01
New-York\tB-loc\tB-loc.adm.town\tQ60|NIL\tLED0.25
saw\tO\tO\t_\t_
Ada\tB-pers\tO\tNIL\tNoSpaceAfter|LED0.00
.\tO\tO\t_\t_
"""
CELLS = """TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC
# document_id = d1
# date = 1894-05-01
Bern\tB-LOC\tQ1|Q2\tLED0.05
and\tO\t\t_
# date = 1925-05-01
# segment
LOC\tLOC\t_\t_
Paris\tO\t_\tLED0.10
Rome\tI-LOC\tQ3\t_
#1\tO\t_\t_
Oslo\tI-LOC\tQ4\t_
A#2\tB-PERS\t_\t_
in\tO
"""
ELEVANT = """{"id": 0, "title": "A", "text": "The University of Leeds taught Ada.", "evaluation_span": [0, 34], \
"labels": [\
{"id": 0, "span": [4, 23], "entity_id": "Q503424", "name": "Leeds University", "parent": null, "children": [1], \
"optional": false, "type": "Q1"}, \
{"id": 1, "span": [18, 23], "entity_id": "Q39121", "name": "Leeds", "parent": 0, "children": [], "optional": true, \
"type": "Q1"}, \
{"id": 2, "span": [31, 34], "entity_id": "<NO_MAPPING>", "name": "Ada", "parent": null, "children": [], \
"optional": false, "type": "Q1"}, \
{"id": 3, "span": [31, 34], "entity_id": "Q7259", "name": "Ada", "parent": null, "children": [], "type": "Q1"}]}
"""
CLUSTERS = """{"document": "d1", "text": "Bob met Bob.", "begin": 0, "end": 3, "entity": null, "cluster": "NIL1"}
{"document": "d1", "begin": 8, "end": 11, "entity": null, "cluster": "NIL2"}
"""
SAID = {"hipe.tsv": HIPE, "cells.tsv": CELLS, "elevant.benchmark.jsonl": ELEVANT, "clusters.jsonl": CLUSTERS}


def said_in(path: Path) -> pl.DataFrame:
    """Return how often each term says each value; of those that name annotations, how often alone."""
    rows = read(path, unannotated=True).frames.values.filter(pl.col("term").is_in([*said_terms()]))
    text = pl.when(pl.col("text").str.contains("^urn:|^http")).then(pl.lit("an annotation")).otherwise("text")
    return rows.group_by("term", "number", text=text).len().sort(pl.all())


def test_files_of_tokens_tell_each_of_their_values(tmp_path: Path) -> None:
    (file := tmp_path / "cells.tsv").write_text(CELLS, encoding="utf-8")
    assert set(layers.SAID) <= said_terms()
    assert set(said_in(file)["term"]) == set(layers.SAID)


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("name", SAID)
def test_what_a_file_says_stays_where_measures_are_computed_anew(tmp_path: Path, name: str) -> None:
    """Once `enrich` had run, it was in no query, remix and published file; it was in no converted file."""
    (file := tmp_path / name).write_text(SAID[name], encoding="utf-8")
    said = said_in(file)
    assert len(said) > 1
    work = Workspace(tmp_path / ".remix")
    work.load(file, name="gold")
    files = {}
    for when in ("before", "after"):
        work.convert("gold", tmp_path / f"{when}.ttl")
        every = Query.parse("SELECT ?annotation { ?annotation nif:anchorOf ?form }", "all")
        (folder := tmp_path / when).mkdir()
        files[f"built {when}"] = work.build(every, name="all").write(folder)[0]
        work.publish("gold", to=tmp_path / f"published-{when}")
        files[f"published {when}"] = tmp_path / f"published-{when}" / "gold.ttl"
        files[f"converted {when}"] = tmp_path / f"{when}.ttl"
        work.enrich()
    for made, path in files.items():
        assert said_in(path).equals(said), made
    asked = work.query("SELECT ?term (COUNT(*) AS ?n) { ?thing ?term ?value } GROUP BY ?term").table
    counted = dict(asked.select("term", "n").iter_rows())
    wanted = dict(said.group_by("term").agg(pl.col("len").sum()).iter_rows())
    assert {term: int(counted[term]) for term in wanted} == wanted
