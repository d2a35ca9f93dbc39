"""Entities in canonical form: what two spellings of one IRI become before they are compared.

A pure function that works offline; redirects and sameAs links of a knowledge base come after it.
Its rules, in order:

1. outer spaces go, inner ones become `_`; `https` becomes `http`; text is NFC;
2. `www.` and `m.` before a Wikipedia, DBpedia or Wikidata host go;
3. a Wikipedia article is the DBpedia resource of its language; the English edition is `dbpedia.org`;
4. `/page/`, `/data/` and `/wiki/` become `/resource/` in DBpedia, and `/entity/` in Wikidata;
5. percent-encoding is undone in DBpedia titles, then what no IRI may hold is encoded again;
6. the first letter of a DBpedia title is upper case.
"""

from __future__ import annotations

from urllib.parse import unquote

import polars as pl

__all__ = ["NIL_PATTERN", "VERSION", "canonical", "canonical_iri", "is_nil"]

VERSION = "1"
"""Part of every signature; grows when a rule changes."""

NIL_PATTERN = (
    r"(?i)^(?:|[*]|-*nil-*|<nil>|b-nil|--nme--|null|none|<?unknown[0-9]*>?|https?://[^/]*(?:aksw\.org/notinwiki/?.*|scms\.eu/.*)"
    r"|.*/(?:notinlexico|notinwiki|nil)(?:[/#].*)?)$"
)
"""What links say when they mean 'no entity in the knowledge base', as met in public datasets."""

_TITLE = r"^http://(?:[a-z][a-z-]*\.)?dbpedia\.org/resource/"
_ILLEGAL = {
    " ": "_",
    "<": "%3C",
    ">": "%3E",
    '"': "%22",
    "{": "%7B",
    "}": "%7D",
    "|": "%7C",
    "\\": "%5C",
    "^": "%5E",
    "`": "%60",
}


def canonical(iris: pl.Series) -> pl.Series:
    """Return the canonical form of each IRI of a column; null stays null.

    >>> canonical(pl.Series(["https://en.wikipedia.org/wiki/Caf%C3%A9_au lait", "http://www.wikidata.org/wiki/Q64"])).to_list()
    ['http://dbpedia.org/resource/Café_au_lait', 'http://www.wikidata.org/entity/Q64']
    """
    unique = iris.cast(pl.String).unique().drop_nulls()
    if unique.is_empty():
        return iris.cast(pl.String)
    forms = _hosts(unique.str.strip_chars().str.normalize("NFC"))
    forms = _titles(forms)
    return iris.cast(pl.String).replace_strict(unique, forms, default=None, return_dtype=pl.String).alias(iris.name)


def canonical_iri(iri: str) -> str:
    """Return the canonical form of one IRI.

    >>> canonical_iri("http://dbpedia.org/page/berlin")
    'http://dbpedia.org/resource/Berlin'
    >>> canonical_iri("http://de.wikipedia.org/wiki/Köln")
    'http://de.dbpedia.org/resource/Köln'
    """
    return str(canonical(pl.Series([iri]))[0])


def is_nil(iris: pl.Expr) -> pl.Expr:
    """Return whether a link says 'no entity in the knowledge base', by its spelling; null stays null.

    >>> pl.DataFrame({"x": ["http://aksw.org/notInWiki/Foo", "<NIL>", "http://dbpedia.org/resource/Nil"]}).select(is_nil(pl.col("x")))["x"].to_list()
    [True, True, False]
    """
    of_a_kb = iris.str.contains(r"^https?://(?:[a-z]+\.)?(?:dbpedia|wikidata)\.org/")
    return iris.str.contains(NIL_PATTERN) & ~of_a_kb


def _hosts(iris: pl.Series) -> pl.Series:
    return (
        iris.str.replace(r"^https://", "http://")
        .str.replace(r"^http://(?:www\.|m\.)+", "http://")
        .str.replace(r"^http://([a-z-]+)\.m\.wikipedia\.org/", "http://${1}.wikipedia.org/")
        .str.replace(r"^http://en\.(wikipedia|dbpedia)\.org/", "http://$1.org/")
        .str.replace(
            r"^http://([a-z-]+\.)?(?:wikipedia|dbpedia)\.org/(?:wiki|page|data|resource)/",
            "http://${1}dbpedia.org/resource/",
        )
        .str.replace(r"^http://wikidata\.org/(?:wiki|entity|resource|page)/", "http://www.wikidata.org/entity/")
        .str.replace(r"^http://wikidata\.org/", "http://www.wikidata.org/")
        .str.replace(r"^http://wikidata\.dbpedia\.org/resource/(Q[0-9]+)$", "http://www.wikidata.org/entity/$1")
    )


def _titles(iris: pl.Series) -> pl.Series:
    # A title that holds `%` is decoded one by one: polars has no percent-decoding; such titles are few.
    encoded = iris.filter(iris.str.contains(_TITLE) & iris.str.contains("%", literal=True))
    decoded = (
        iris.replace(encoded, pl.Series([_decoded(iri) for iri in encoded.to_list()], dtype=pl.String))
        if len(encoded)
        else iris
    )
    frame = pl.DataFrame({"iri": decoded}).with_columns(
        start=pl.col("iri").str.extract(f"({_TITLE})"), title=pl.col("iri").str.replace(_TITLE, "")
    )
    title = pl.col("title").str.replace_many(list(_ILLEGAL), list(_ILLEGAL.values())).str.strip_chars("_")
    upper = title.str.slice(0, 1).str.to_uppercase() + title.str.slice(1)
    return frame.select(
        pl.when(pl.col("start").is_not_null())
        .then(pl.col("start") + upper)
        .otherwise(pl.col("iri").str.replace_all(" ", "%20"))
    ).to_series()


def _decoded(iri: str) -> str:
    import unicodedata

    # `%25` is a percent sign of the title itself and stays encoded.
    return "%25".join(unicodedata.normalize("NFC", unquote(part)) for part in iri.split("%25"))
