"""DBpedia: labels, redirects, disambiguation pages and page links of a Wikipedia, as its extraction names them."""

from __future__ import annotations

import polars as pl

from remix.kb.titles import ITEM, RESOURCE, title, without_mark
from remix.kb.vocabularies import EndpointQuery, Vocabulary, columns

_NO_PAGE = "FILTER NOT EXISTS { ?entity dbo:wikiPageDisambiguates ?listed }"
_NEITHER = f"FILTER NOT EXISTS {{ ?entity dbo:wikiPageRedirects ?other }} {_NO_PAGE}"
_LABEL = "rdfs:label ?label FILTER(LANG(?label) IN ($languages))"
_REDIRECT = "?redirect dbo:wikiPageRedirects ?target"
_OF_REDIRECT = f"OPTIONAL {{ ?redirect {_LABEL} }}"
_DISAMBIGUATES = "?page dbo:wikiPageDisambiguates ?entity"
_FORM_OF_REDIRECT = "?redirect rdfs:label ?form ; dbo:wikiPageRedirects"
_ITEM = 'FILTER(STRSTARTS(STR(?wikidata), "http://www.wikidata.org/entity/Q"))'
_NAME = 'foaf:name ?name FILTER(LANG(?name) IN ("", $languages))'
_DEMONYM = 'dbo:demonym ?listed FILTER(LANG(?listed) IN ("", $languages))'
_LINK = "?source dbo:wikiPageWikiLink ?target"
_RANK = "?entity <http://purl.org/voc/vrank#hasRank> ?rank . ?rank <http://purl.org/voc/vrank#rankValue> ?pagerank"


def _forms(form: str | pl.Expr, entity: str = "entity") -> dict[str, dict[str, str | pl.Expr]]:
    return {"surface_forms": columns(surface_form=form, entity=entity)}


def _redirects(target: str = "target") -> dict[str, dict[str, str | pl.Expr]]:
    return {"redirects": columns("redirect", target=target, source=pl.lit("redirect"))}


_TITLE = pl.coalesce("label", title(pl.col("redirect")))
_MARKED = without_mark(pl.col("form"))
_TITLE_OF_PAGE = without_mark(pl.coalesce("label", title(pl.col("page"))))
# Infoboxes often list several in one text: "Viennese, Wiener".
_DEMONYMS = pl.col("listed").str.replace_all("[;/]", ",").str.split(",")

_PAGES = {"disambiguations": columns("page", "entity")}
_LINKS = {"links": columns("source", "target")}
_SAMEAS = {"sameas": columns("wikidata", "entity")}
_LABELS = {**_forms("label"), "labels": columns("entity", "label")}

# What Wikipedias write behind the title of a disambiguation page.
_SUFFIXES = {
    "en": " (disambiguation)",
    "de": " (Begriffsklärung)",
    "es": " (desambiguación)",
    "fr": " (homonymie)",
    "it": " (disambigua)",
    "nl": " (doorverwijspagina)",
    "pt": " (desambiguação)",
}

_OF_FORMS = [
    EndpointQuery("label", "form", f"?entity rdfs:label ?form {_NEITHER}", _forms("form"), finds="entity"),
    EndpointQuery("name", "form", "?entity foaf:name ?form", _forms("form"), finds="entity", untagged=True),
    EndpointQuery(
        "redirect-label",
        "form",
        f"{_FORM_OF_REDIRECT} ?entity {_NO_PAGE}",
        {**_forms("form"), **_redirects("entity")},
        finds="entity",
    ),
    EndpointQuery(
        "disambiguation",
        "form",
        "?page rdfs:label ?form ; dbo:wikiPageDisambiguates ?entity",
        {**_forms(_MARKED), **_PAGES},
        finds="entity",
        suffixes=_SUFFIXES,
    ),
    EndpointQuery(
        "disambiguation",
        "form",
        f"{_FORM_OF_REDIRECT} ?page . {_DISAMBIGUATES}",
        {**_forms(_MARKED), **_PAGES, **_redirects("page")},
        finds="entity",
    ),
]

_OF_ENTITIES = [
    EndpointQuery("redirect", "redirect", _REDIRECT, _redirects(), finds="target"),
    EndpointQuery(
        "redirect-label", "target", f"{_REDIRECT} {_OF_REDIRECT}", {**_forms(_TITLE, "target"), **_redirects()}
    ),
    # Redirects of redirects; bots keep Wikipedia free of longer chains.
    EndpointQuery(
        "redirect-label",
        "target",
        f"?middle dbo:wikiPageRedirects ?target . ?redirect dbo:wikiPageRedirects ?middle {_OF_REDIRECT}",
        {**_forms(_TITLE, "middle"), **_redirects("middle")},
    ),
    EndpointQuery("label", "entity", f"?entity {_LABEL} BIND(LANG(?label) AS ?language) {_NEITHER}", _LABELS),
    EndpointQuery("name", "entity", f"?entity {_NAME}", _forms("name")),
    EndpointQuery(
        "disambiguation",
        "entity",
        f"{_DISAMBIGUATES} OPTIONAL {{ ?page {_LABEL} }}",
        {**_forms(_TITLE_OF_PAGE), **_PAGES},
    ),
    EndpointQuery("disambiguation", "page", _DISAMBIGUATES, _PAGES),
    EndpointQuery("sameas", "entity", f"?entity owl:sameAs ?wikidata {_ITEM}", _SAMEAS),
    EndpointQuery(
        "sameas",
        "wikidata",
        '?entity owl:sameAs ?wikidata FILTER(CONTAINS(STR(?entity), "dbpedia.org/resource/"))',
        _SAMEAS,
        finds="entity",
        of=ITEM,
    ),
    EndpointQuery("demonym", "entity", f"?entity {_DEMONYM}", {"demonyms": columns("entity", demonym=_DEMONYMS)}),
    EndpointQuery(
        "instance-types", "entity", "?entity rdf:type ?class", {"types": columns("entity", "class")}, finds="class"
    ),
    EndpointQuery(
        "subclass",
        "class",
        "?class rdfs:subClassOf ?parent",
        {"subclasses": columns("class", "parent")},
        finds="parent",
    ),
    EndpointQuery("page-links", "source", _LINK, _LINKS, chunk=25),
    EndpointQuery("page-links", "target", _LINK, _LINKS, chunk=25),
    # The PageRank that is published beside DBpedia (Thalhammer and Rettinger 2016).
    EndpointQuery("vrank", "entity", _RANK, {"scores": columns("entity", "pagerank")}),
]

DBPEDIA = Vocabulary(
    name="dbpedia",
    prefixes=("dbo", "foaf", "owl", "rdf", "rdfs"),
    speaks=("?s dbo:wikiPageRedirects ?o", "?s dbo:wikiPageDisambiguates ?o", "?s dbo:wikiPageWikiLink ?o"),
    entity=RESOURCE,
    no_entity=r"/resource/(?:Category|File|Template|Portal|Help|Wikipedia):",
    questions=(*_OF_FORMS, *_OF_ENTITIES),
    host="dbpedia.org",
    licence="CC BY-SA 3.0, GFDL",
)
