"""DBpedia: labels, redirects, disambiguation pages and page links of a Wikipedia, as its extraction names them."""

from __future__ import annotations

import polars as pl

from remix.kb.titles import ITEM, RESOURCE, title, without_mark
from remix.kb.vocabularies import Question, Vocabulary

_NO_PAGE_OF_LINKS = "FILTER NOT EXISTS { ?entity dbo:wikiPageDisambiguates ?listed }"
_LABEL = "rdfs:label ?label FILTER(LANG(?label) IN ($languages))"
_REDIRECT: dict[str, str | pl.Expr] = {"redirect": "redirect", "source": pl.lit("redirect")}

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


_FORMS = [
    Question(
        name="label",
        about="forms",
        key="form",
        pattern="?entity rdfs:label ?form FILTER NOT EXISTS { ?entity dbo:wikiPageRedirects ?other } "
        + _NO_PAGE_OF_LINKS,
        variables=("form", "entity"),
        fills={"surface_forms": {"surface_form": "form", "entity": "entity"}},
        finds={"entity": "entities"},
    ),
    Question(
        name="name",
        about="forms",
        key="form",
        pattern="?entity foaf:name ?form",
        variables=("form", "entity"),
        fills={"surface_forms": {"surface_form": "form", "entity": "entity"}},
        finds={"entity": "entities"},
        untagged=True,
    ),
    Question(
        name="redirect-label",
        about="forms",
        key="form",
        pattern=f"?redirect rdfs:label ?form ; dbo:wikiPageRedirects ?entity {_NO_PAGE_OF_LINKS}",
        variables=("form", "redirect", "entity"),
        fills={
            "surface_forms": {"surface_form": "form", "entity": "entity"},
            "redirects": {**_REDIRECT, "target": "entity"},
        },
        finds={"entity": "entities"},
    ),
    Question(
        name="disambiguation",
        about="forms",
        key="form",
        pattern="?page rdfs:label ?form ; dbo:wikiPageDisambiguates ?entity",
        variables=("form", "page", "entity"),
        fills={
            "surface_forms": {"surface_form": without_mark(pl.col("form")), "entity": "entity"},
            "disambiguations": {"page": "page", "entity": "entity"},
        },
        finds={"entity": "entities"},
        suffixes=_SUFFIXES,
    ),
    Question(
        name="disambiguation",
        about="forms",
        key="form",
        pattern="?redirect rdfs:label ?form ; dbo:wikiPageRedirects ?page . ?page dbo:wikiPageDisambiguates ?entity",
        variables=("form", "redirect", "page", "entity"),
        fills={
            "surface_forms": {"surface_form": without_mark(pl.col("form")), "entity": "entity"},
            "disambiguations": {"page": "page", "entity": "entity"},
            "redirects": {**_REDIRECT, "target": "page"},
        },
        finds={"entity": "entities"},
    ),
]

_NAMES = [
    Question(
        name="redirect",
        about="entities",
        key="redirect",
        pattern="?redirect dbo:wikiPageRedirects ?target",
        variables=("redirect", "target"),
        fills={"redirects": {**_REDIRECT, "target": "target"}},
        finds={"target": "entities"},
    ),
    Question(
        name="redirect-label",
        about="entities",
        key="target",
        pattern=f"?redirect dbo:wikiPageRedirects ?target OPTIONAL {{ ?redirect {_LABEL} }}",
        variables=("target", "redirect", "label"),
        fills={
            "surface_forms": {"surface_form": pl.coalesce("label", title(pl.col("redirect"))), "entity": "target"},
            "redirects": {**_REDIRECT, "target": "target"},
        },
    ),
    # Redirects of redirects; bots keep Wikipedia free of longer chains.
    Question(
        name="redirect-label",
        about="entities",
        key="target",
        pattern="?middle dbo:wikiPageRedirects ?target . ?redirect dbo:wikiPageRedirects ?middle "
        f"OPTIONAL {{ ?redirect {_LABEL} }}",
        variables=("target", "middle", "redirect", "label"),
        fills={
            "surface_forms": {"surface_form": pl.coalesce("label", title(pl.col("redirect"))), "entity": "middle"},
            "redirects": {**_REDIRECT, "target": "middle"},
        },
    ),
    Question(
        name="label",
        about="entities",
        key="entity",
        pattern=f"?entity {_LABEL} BIND(LANG(?label) AS ?language) "
        f"FILTER NOT EXISTS {{ ?entity dbo:wikiPageRedirects ?other }} {_NO_PAGE_OF_LINKS}",
        variables=("entity", "label", "language"),
        fills={
            "surface_forms": {"surface_form": "label", "entity": "entity"},
            "labels": {"entity": "entity", "label": "label"},
        },
    ),
    Question(
        name="name",
        about="entities",
        key="entity",
        pattern='?entity foaf:name ?name FILTER(LANG(?name) IN ("", $languages))',
        variables=("entity", "name"),
        fills={"surface_forms": {"surface_form": "name", "entity": "entity"}},
    ),
    Question(
        name="disambiguation",
        about="entities",
        key="entity",
        pattern=f"?page dbo:wikiPageDisambiguates ?entity OPTIONAL {{ ?page {_LABEL} }}",
        variables=("entity", "page", "label"),
        fills={
            "surface_forms": {
                "surface_form": without_mark(pl.coalesce("label", title(pl.col("page")))),
                "entity": "entity",
            },
            "disambiguations": {"page": "page", "entity": "entity"},
        },
    ),
    Question(
        name="disambiguation",
        about="entities",
        key="page",
        pattern="?page dbo:wikiPageDisambiguates ?entity",
        variables=("page", "entity"),
        fills={"disambiguations": {"page": "page", "entity": "entity"}},
    ),
    Question(
        name="sameas",
        about="entities",
        key="entity",
        pattern='?entity owl:sameAs ?wikidata FILTER(STRSTARTS(STR(?wikidata), "http://www.wikidata.org/entity/Q"))',
        variables=("entity", "wikidata"),
        fills={"sameas": {"wikidata": "wikidata", "entity": "entity"}},
    ),
    Question(
        name="sameas",
        about="entities",
        of=ITEM,
        key="wikidata",
        pattern='?entity owl:sameAs ?wikidata FILTER(CONTAINS(STR(?entity), "dbpedia.org/resource/"))',
        variables=("wikidata", "entity"),
        fills={"sameas": {"wikidata": "wikidata", "entity": "entity"}},
        finds={"entity": "entities"},
    ),
]

# Infoboxes often list several in one text: "Viennese, Wiener".
_DEMONYMS = pl.col("listed").str.replace_all("[;/]", ",").str.split(",")

_REST = [
    Question(
        name="demonym",
        about="entities",
        key="entity",
        pattern='?entity dbo:demonym ?listed FILTER(LANG(?listed) IN ("", $languages))',
        variables=("entity", "listed"),
        fills={"demonyms": {"entity": "entity", "demonym": _DEMONYMS}},
    ),
    Question(
        name="instance-types",
        about="entities",
        key="entity",
        pattern="?entity rdf:type ?class",
        variables=("entity", "class"),
        fills={"types": {"entity": "entity", "class": "class"}},
        finds={"class": "classes"},
    ),
    Question(
        name="subclass",
        about="classes",
        key="class",
        pattern="?class rdfs:subClassOf ?parent",
        variables=("class", "parent"),
        fills={"subclasses": {"class": "class", "parent": "parent"}},
        finds={"parent": "classes"},
    ),
    Question(
        name="page-links",
        about="entities",
        key="source",
        pattern="?source dbo:wikiPageWikiLink ?target",
        variables=("source", "target"),
        fills={"links": {"source": "source", "target": "target"}},
        chunk=25,
    ),
    Question(
        name="page-links",
        about="entities",
        key="target",
        pattern="?source dbo:wikiPageWikiLink ?target",
        variables=("source", "target"),
        fills={"links": {"source": "source", "target": "target"}},
        chunk=25,
    ),
    # The PageRank that is published beside DBpedia (Thalhammer and Rettinger 2016).
    Question(
        name="vrank",
        about="entities",
        key="entity",
        pattern="?entity <http://purl.org/voc/vrank#hasRank> ?rank . "
        "?rank <http://purl.org/voc/vrank#rankValue> ?pagerank",
        variables=("entity", "pagerank"),
        fills={"scores": {"entity": "entity", "pagerank": "pagerank"}},
    ),
]

DBPEDIA = Vocabulary(
    name="dbpedia",
    prefixes=("dbo", "foaf", "owl", "rdf", "rdfs"),
    speaks=(
        "?s dbo:wikiPageRedirects ?o",
        "?s dbo:wikiPageDisambiguates ?o",
        "?s dbo:wikiPageWikiLink ?o",
    ),
    entity=RESOURCE,
    no_entity=r"/resource/(?:Category|File|Template|Portal|Help|Wikipedia):",
    questions=(*_FORMS, *_NAMES, *_REST),
    host="dbpedia.org",
    licence="CC BY-SA 3.0, GFDL",
)
