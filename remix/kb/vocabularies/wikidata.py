"""Wikidata: labels, aliases, sitelinks and truthy statements of items, as its RDF export names them."""

from __future__ import annotations

from remix.kb.titles import ITEM, RESOURCE
from remix.kb.vocabularies import Question, Vocabulary

_NO_PAGE_OF_LINKS = "FILTER NOT EXISTS { ?entity wdt:P31 wd:Q4167410 }"
_STATEMENT = '?source ?property ?target FILTER(STRSTARTS(STR(?property), "http://www.wikidata.org/prop/direct/P")) '
_IS_ITEM = 'FILTER(STRSTARTS(STR(?{0}), "http://www.wikidata.org/entity/Q"))'
_SITELINK = (
    'schema:isPartOf ?site ; schema:about ?wikidata ; schema:name ?title FILTER(STRENDS(STR(?site), ".wikipedia.org/"))'
)

_NAMES = [
    Question(
        name="label",
        about="forms",
        key="form",
        pattern=f"?entity rdfs:label ?form {_NO_PAGE_OF_LINKS}",
        variables=("form", "entity"),
        fills={"surface_forms": {"surface_form": "form", "entity": "entity"}},
        finds={"entity": "entities"},
    ),
    Question(
        name="alias",
        about="forms",
        key="form",
        pattern=f"?entity skos:altLabel ?form {_NO_PAGE_OF_LINKS}",
        variables=("form", "entity"),
        fills={"surface_forms": {"surface_form": "form", "entity": "entity"}},
        finds={"entity": "entities"},
    ),
    Question(
        name="sitelink",
        about="titles",
        key="title",
        of=RESOURCE,
        pattern=f"?article {_SITELINK}",
        variables=("wikidata",),
        fills={},
        finds={"wikidata": "entities"},
    ),
    Question(
        name="sameAs",
        about="entities",
        key="redirect",
        pattern=f"?redirect owl:sameAs ?target {_IS_ITEM.format('target')}",
        variables=("redirect", "target"),
        fills={"redirects": {"redirect": "redirect", "target": "target"}},
        finds={"target": "entities"},
    ),
    Question(
        name="sameAs",
        about="entities",
        key="target",
        pattern=f"?redirect owl:sameAs ?target {_IS_ITEM.format('redirect')}",
        variables=("redirect", "target"),
        fills={"redirects": {"redirect": "redirect", "target": "target"}},
    ),
    Question(
        name="label",
        about="entities",
        key="entity",
        pattern=f"?entity rdfs:label ?label FILTER(LANG(?label) IN ($languages)) {_NO_PAGE_OF_LINKS} "
        "BIND(LANG(?label) AS ?language)",
        variables=("entity", "label", "language"),
        fills={
            "surface_forms": {"surface_form": "label", "entity": "entity"},
            "labels": {"entity": "entity", "label": "label"},
        },
    ),
    Question(
        name="alias",
        about="entities",
        key="entity",
        pattern="?entity skos:altLabel ?alias FILTER(LANG(?alias) IN ($languages))",
        variables=("entity", "alias"),
        fills={"surface_forms": {"surface_form": "alias", "entity": "entity"}},
    ),
    Question(
        name="sitelink",
        about="entities",
        key="wikidata",
        pattern=f"?article {_SITELINK} FILTER(LANG(?title) IN ($languages)) BIND(LANG(?title) AS ?language)",
        variables=("wikidata", "article", "title", "language"),
        fills={
            "sameas": {"wikidata": "wikidata", "entity": "article"},
            "surface_forms": {"surface_form": "title", "entity": "wikidata"},
        },
    ),
]

_REST = [
    Question(
        name="P1549",
        about="entities",
        key="entity",
        pattern="?entity wdt:P1549 ?demonym FILTER(LANG(?demonym) IN ($languages))",
        variables=("entity", "demonym"),
        fills={"demonyms": {"entity": "entity", "demonym": "demonym"}},
    ),
    Question(
        name="P31",
        about="entities",
        key="entity",
        pattern="?entity wdt:P31 ?class",
        variables=("entity", "class"),
        fills={"types": {"entity": "entity", "class": "class"}},
        finds={"class": "classes"},
    ),
    Question(
        name="P279",
        about="classes",
        of=ITEM,
        key="class",
        pattern="?class wdt:P279 ?parent",
        variables=("class", "parent"),
        fills={"subclasses": {"class": "class", "parent": "parent"}},
        finds={"parent": "classes"},
    ),
    Question(
        name="statement",
        about="entities",
        key="source",
        pattern=_STATEMENT + _IS_ITEM.format("target"),
        variables=("source", "target"),
        fills={"links": {"source": "source", "target": "target"}},
        chunk=25,
    ),
    # What points to a country or a profession goes into the millions: above `most` it is left out and reported.
    Question(
        name="statement",
        about="entities",
        key="target",
        pattern=_STATEMENT + _IS_ITEM.format("source"),
        variables=("source", "target"),
        fills={"links": {"source": "source", "target": "target"}},
        chunk=10,
        most=200_000,
    ),
]

WIKIDATA = Vocabulary(
    name="wikidata",
    prefixes=("owl", "rdfs", "schema", "skos", "wd", "wdt"),
    speaks=("?s wdt:P31 ?o", "?s wdt:P279 ?o"),
    entity=ITEM,
    questions=(*_NAMES, *_REST),
    languages=("mul",),
    host="wikidata.org",
    licence="CC0 1.0",
)
