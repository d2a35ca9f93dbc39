"""What canonical IRIs of DBpedia and Wikidata tell: a language and a title of Wikipedia, or that it is an item."""

from __future__ import annotations

import polars as pl

from remix.names import DBR
from remix.rdf.iris import ENCODED

ITEM = r"^http://www\.wikidata\.org/entity/Q[0-9]+$"
"""An item of Wikidata, as a pattern."""
RESOURCE = r"^http://(?:[a-z-]+\.)?dbpedia\.org/resource/"
"""How the canonical IRI of a DBpedia resource begins, as a pattern."""
# What a canonical IRI writes in another way than the title.
_WRITTEN = {"_": " ", "%25": "%", **{code: letter for letter, code in ENCODED.items()}}
# What Wikipedia's editions write behind the name of a disambiguation page.
_MARKS = (
    "disambiguation|Begriffsklärung|homonymie|desambiguación|desambiguação|desambiguació|disambigua|doorverwijspagina"
    "|ujednoznacznienie|значения|значення|rozcestník|rozlišovacia stránka|olika betydelser|flertydig|täsmennyssivu"
    "|egyértelműsítő lap|dezambiguizare|anlam ayrımı|razvrstavanje|разложка|пояснение|αποσαφήνιση|argipena|homonimia"
    "|apartigilo|disambiguasi|định hướng|توضيح|ابهام‌زدایی|פירושונים|曖昧さ回避|消歧义|消歧義|동음이의"
)


def language_of(iri: pl.Expr) -> pl.Expr:
    """Return the language of a canonical DBpedia resource; null for any other IRI.

    >>> iris = pl.DataFrame({"x": ["http://dbpedia.org/resource/A", "http://de.dbpedia.org/resource/A", "x:A"]})
    >>> iris.select(language_of(pl.col("x"))).to_series().to_list()
    ['en', 'de', None]
    """
    language = iri.str.extract(r"^http://([a-z-]+)\.dbpedia\.org/resource/")
    return pl.when(iri.str.starts_with(DBR)).then(pl.lit("en")).otherwise(language)


def resource(titles: pl.Expr, language: str) -> pl.Expr:
    """Return the DBpedia resources of titles of Wikipedia articles, not yet canonical."""
    return pl.lit(f"http://{language}.dbpedia.org/resource/") + titles


def title(iri: pl.Expr) -> pl.Expr:
    """Return the title in a canonical DBpedia IRI as people write it; parentheses stay, they are part of it.

    >>> iris = pl.DataFrame({"x": ["http://dbpedia.org/resource/%22Heroes%22_(album)"]})
    >>> iris.select(title(pl.col("x"))).to_series().to_list()
    ['"Heroes" (album)']
    """
    return iri.str.replace(RESOURCE, "").str.replace_many(_WRITTEN)


def without_mark(titles: pl.Expr) -> pl.Expr:
    """Return titles of disambiguation pages without what says so.

    >>> titles = pl.DataFrame({"x": ["Mercury (disambiguation)", "Anna (given name)"]})
    >>> titles.select(without_mark(pl.col("x"))).to_series().to_list()
    ['Mercury', 'Anna (given name)']
    """
    return titles.str.replace(rf"(?i) \((?:{_MARKS})\)$", "")
