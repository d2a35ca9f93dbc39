"""Shipped queries whose patterns are read apart and then joined select what they would written as one group."""

from __future__ import annotations

import random
import re

import pyoxigraph as ox
import pytest

from remix.names import PREFIXES, XSD
from remix.store.index import Index
from remix.store.queries import find
from tests.workspaces import index_of

ONE_GROUP = {
    "spans_too_short": """SELECT DISTINCT ?document ?annotation WHERE {
  VALUES ?system { "prior" }
  ?run rmx:system ?system .
  ?annotation rmx:falseNegativeOf ?run ;
              nif:referenceContext ?document ;
              nif:beginIndex ?begin ;
              nif:endIndex ?end .
  ?answer rmx:document ?document ;
          rmx:falsePositiveOf ?run ;
          nif:beginIndex ?answered_begin ;
          nif:endIndex ?answered_end .
  FILTER (?answered_begin >= ?begin && ?answered_end <= ?end)
  FILTER (?answered_end - ?answered_begin < ?end - ?begin)
}""",
    "homonyms": """SELECT ?document ?annotation WHERE {
  ?dataset hfts:referenceDocuments ?document .
  ?annotation nif:referenceContext ?document ; nif:anchorOf ?form .
  BIND (LCASE(STR(?form)) AS ?name)
  {
    SELECT ?dataset ?name (COUNT(DISTINCT ?only) AS ?entities) WHERE {
      {
        SELECT ?dataset ?name ?context ?begin (COUNT(DISTINCT ?entity) AS ?readings) (MIN(?entity) AS ?only)
        WHERE {
          ?dataset hfts:referenceDocuments ?context .
          ?mention nif:referenceContext ?context ; nif:anchorOf ?text ; nif:beginIndex ?begin ;
                   itsrdf:taIdentRef ?entity .
          BIND (LCASE(STR(?text)) AS ?name)
        }
        GROUP BY ?dataset ?name ?context ?begin
      }
      FILTER (?readings = 1)
    }
    GROUP BY ?dataset ?name
  }
  FILTER (?entities >= 2)
}""",
}
PAPERS = ("easy_paper", "difficult_paper", "low_skew", "medium_skew", "high_skew")
MEASURES = [
    f"{term}{scale}"
    for name in ("ambiguitySurfaceForm", "ambiguityEntity", "pagerank", "hits")
    for term, scale in ((f"hfts:{name}", ""), (f"rmx:{name}", "Percentile"))
]


def _generated(seed: int) -> Index:
    """Two datasets of three documents, runs of two systems, and mentions some of which lack one triple or another."""
    some = random.Random(seed)
    lines = []
    runs = {f"<urn:run:{system}:{n}>": system for system in ("prior", "other") for n in range(2)}
    for run, system in runs.items():
        lines.append(f'{run} rmx:system "{system}" .')
    documents = [f"<urn:d{dataset}:{n}>" for dataset in range(2) for n in range(3)]
    for document in documents:
        lines.append(f"<urn:set{document[6]}> hfts:referenceDocuments {document} .")
        lines.append(f"{document} hfts:numAnnotations {some.choice([3, 5])} ; hfts:density 0.0{some.choice([3, 5])} .")
    for n in range(120):
        begin = some.randrange(12)
        end, document = begin + some.randrange(1, 5), some.choice(documents)
        kind, answers = some.choice([("nif:referenceContext", "Negative"), ("rmx:document", "Positive")])
        said = [f"{kind} {document}", f'nif:anchorOf "{some.choice(["Ada", "ada", "Bob", "Eve"])}"']
        said += [f'nif:beginIndex "{begin}"^^<{XSD}integer>', f'nif:endIndex "{end}"^^<{XSD}integer>']
        said += [f"rmx:false{answers}Of {some.choice(list(runs))}" for _ in range(some.randrange(3))]
        said += [f"itsrdf:taIdentRef <urn:e:{some.randrange(3)}>" for _ in range(some.randrange(3))]
        said += [f"{term} {some.choice([3.0, 50.0, 65.0, 80.0, 90.0, 99.0])}" for term in MEASURES]
        if some.random() < 0.2:
            said.pop(some.randrange(len(said)))
        lines += [f"<urn:m{n}> {one} ." for one in said]
    prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
    triples = ox.parse(prefixes + "\n".join(lines), ox.RdfFormat.TURTLE)
    return index_of({"urn:g": b"".join(f"{quad.triple} .\n".encode() for quad in triples)})


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("name", sorted(ONE_GROUP))
def test_query_selects_what_its_patterns_in_one_group_select(name: str) -> None:
    found = 0
    for seed in range(20):
        index = _generated(seed)
        selected = sorted(index.frame(find(name).bind({})).rows())
        assert selected == sorted(index.frame(ONE_GROUP[name]).rows())
        found += len(selected)
    assert found > 40


@pytest.mark.long
@pytest.mark.parametrize("name", PAPERS)
def test_query_of_the_paper_selects_what_its_patterns_in_one_group_select(name: str) -> None:
    text = find(name).bind({})
    one_group, apart = re.subn(r"\{ SELECT [^{}]* WHERE \{ ([^{}]*) \} \}", r"\1 .", text)
    assert apart == 11
    found = 0
    for seed in range(20):
        index = _generated(seed)
        selected = sorted(index.frame(text).rows())
        assert selected == sorted(index.frame(one_group).rows())
        found += len(selected)
    assert found
