"""A knowledge base of just what a dataset needs, asked of a real SPARQL endpoint: our own, killed and gone on with."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from remix.workspace import Workspace
from tests.processes import PythonProcess, run_python
from tests.web.conftest import serving

DBR, DBO = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"
NIF = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix dbo: <http://dbpedia.org/ontology/> .
"""
KNOWN = """
dbr:Rome rdfs:label "Rome"@en ; a dbo:City ; dbo:wikiPageWikiLink dbr:Oslo .
dbr:Rome_Georgia rdfs:label "Rome, Georgia"@en ; a dbo:City ; dbo:wikiPageWikiLink dbr:Rome .
dbr:Oslo rdfs:label "Oslo"@en ; a dbo:City .
dbr:Kristiania rdfs:label "Kristiania"@en ; dbo:wikiPageRedirects dbr:Oslo .
<http://dbpedia.org/resource/Rome_(disambiguation)> rdfs:label "Rome (disambiguation)"@en ;
  dbo:wikiPageDisambiguates dbr:Rome, dbr:Rome_Georgia .
"""


def gold() -> str:
    """A text with Rome, Kristiania (of gold's Oslo) and Bergen, which the endpoint does not know."""
    text, said = "Rome, Kristiania, Bergen", NIF
    said += f'<http://x/d> a nif:Context ; nif:isString "{text}" .\n'
    for form, entity in (("Rome", "Rome"), ("Kristiania", "Oslo"), ("Bergen", "Bergen")):
        begin = text.index(form)
        said += f"<http://x/{form}> a nif:Phrase ; nif:referenceContext <http://x/d> ; nif:beginIndex {begin} ; "
        said += f'nif:endIndex {begin + len(form)} ; nif:anchorOf "{form}" ; itsrdf:taIdentRef <{DBR}{entity}> .\n'
    return said


@pytest.mark.long
def test_build_of_a_served_endpoint_that_is_killed_goes_on_and_says_what_it_covers(tmp_path: Path) -> None:
    (tmp_path / "known.ttl").write_text(gold() + KNOWN)
    (tmp_path / "gold.ttl").write_text(gold())
    served, own = Workspace(tmp_path / "served"), Workspace(tmp_path / "own")
    served.load(tmp_path / "known.ttl")
    own.load(tmp_path / "gold.ttl")
    kept = own.folder / "cache" / "kb" / "endpoints"
    with serving(served.folder) as address:
        build = ["-m", "remix", "kb", "build", "-w", str(own.folder), "--name", "small", "--for", "gold", "--from"]
        build += ["endpoint", address]
        with PythonProcess(build, env={**os.environ, "REMIX_ENDPOINT_RATE": "8"}) as process:
            until = time.monotonic() + 60
            while len([*kept.glob("*/*.parquet")]) < 4:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert own.kb is None
        before = {file: file.stat().st_mtime_ns for file in kept.glob("*/*.parquet")}
        done = run_python(build, env={**os.environ, "REMIX_ENDPOINT_RATE": "100"})
        assert done.returncode == 0, done.stderr
    assert before and all(file.stat().st_mtime_ns == at for file, at in before.items())
    assert "what it covers of the loaded datasets" in done.stdout
    # Rome and Oslo of three entities are known, and their forms by label and redirect; Bergen is not.
    row = Workspace(own.folder).show_kb()["coverage"].row(0, named=True)
    assert [round(row[one], 3) for one in ("in_dictionary", "known", "typed", "recall")] == [0.667] * 4
    found = Workspace(own.folder).lookup_kb("Rome")["entity"]
    assert {*found} == {"dbr:Rome", "dbr:Rome_Georgia"}
