"""Wikidata: labels, aliases, sitelinks and truthy statements of items, as its RDF export names them."""

from __future__ import annotations

from remix.kb.titles import ITEM, RESOURCE
from remix.kb.vocabularies import EndpointQuery, Vocabulary, columns

_NO_PAGE = "FILTER NOT EXISTS { ?entity wdt:P31 wd:Q4167410 }"
_STATEMENT = '?source ?property ?target FILTER(STRSTARTS(STR(?property), "http://www.wikidata.org/prop/direct/P")) '
_IS_ITEM = 'FILTER(STRSTARTS(STR(?{0}), "http://www.wikidata.org/entity/Q"))'
_SITELINK = (
    'schema:isPartOf ?site ; schema:about ?wikidata ; schema:name ?title FILTER(STRENDS(STR(?site), ".wikipedia.org/"))'
)
_SAME = "?redirect owl:sameAs ?target "
_LANGUAGE = "FILTER(LANG(?{0}) IN ($languages))"
_LABEL = f"{_LANGUAGE.format('label')} {_NO_PAGE} BIND(LANG(?label) AS ?language)"

_FORMS = {"surface_forms": columns("entity", surface_form="form")}
_LABELS = {"surface_forms": columns("entity", surface_form="label"), "labels": columns("entity", "label")}
_ALIASES = {"surface_forms": columns("entity", surface_form="alias")}
_SITELINKS = {
    "sameas": columns("wikidata", entity="article"),
    "surface_forms": columns(surface_form="title", entity="wikidata"),
}
_REDIRECTS = {"redirects": columns("redirect", "target")}
_LINKS = {"links": columns("source", "target")}

_QUESTIONS = (
    EndpointQuery("label", "form", f"?entity rdfs:label ?form {_NO_PAGE}", _FORMS, finds="entity"),
    EndpointQuery("alias", "form", f"?entity skos:altLabel ?form {_NO_PAGE}", _FORMS, finds="entity"),
    EndpointQuery("sitelink", "title", f"?article {_SITELINK}", {}, finds="wikidata", of=RESOURCE),
    EndpointQuery("sameAs", "redirect", _SAME + _IS_ITEM.format("target"), _REDIRECTS, finds="target"),
    EndpointQuery("sameAs", "target", _SAME + _IS_ITEM.format("redirect"), _REDIRECTS),
    EndpointQuery("label", "entity", f"?entity rdfs:label ?label {_LABEL}", _LABELS),
    EndpointQuery("alias", "entity", f"?entity skos:altLabel ?alias {_LANGUAGE.format('alias')}", _ALIASES),
    EndpointQuery(
        "sitelink",
        "wikidata",
        f"?article {_SITELINK} {_LANGUAGE.format('title')} BIND(LANG(?title) AS ?language)",
        _SITELINKS,
    ),
    EndpointQuery(
        "P1549",
        "entity",
        f"?entity wdt:P1549 ?demonym {_LANGUAGE.format('demonym')}",
        {"demonyms": columns("entity", "demonym")},
    ),
    EndpointQuery("P31", "entity", "?entity wdt:P31 ?class", {"types": columns("entity", "class")}, finds="class"),
    EndpointQuery(
        "P279", "class", "?class wdt:P279 ?parent", {"subclasses": columns("class", "parent")}, finds="parent", of=ITEM
    ),
    EndpointQuery("statement", "source", _STATEMENT + _IS_ITEM.format("target"), _LINKS, chunk=25),
    # What points to a country or a profession goes into the millions: above `most` it is left out and reported.
    EndpointQuery("statement", "target", _STATEMENT + _IS_ITEM.format("source"), _LINKS, chunk=10, most=200_000),
)

WIKIDATA = Vocabulary(
    name="wikidata",
    prefixes=("owl", "rdfs", "schema", "skos", "wd", "wdt"),
    speaks=("?s wdt:P31 ?o", "?s wdt:P279 ?o"),
    entity=ITEM,
    questions=_QUESTIONS,
    languages=("mul",),
    host="wikidata.org",
    licence="CC0 1.0",
)
