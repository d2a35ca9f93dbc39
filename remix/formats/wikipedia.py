"""Entities as Wikipedia has them: URLs of articles, and their titles."""

from __future__ import annotations

import polars as pl

__all__ = ["article", "title", "title_url"]

_ENGLISH = "http://en.wikipedia.org/wiki/"


def article(entity: pl.Expr) -> pl.Expr:
    """Return the URL of the article of a DBpedia resource, what is none as it is.

    >>> one = pl.DataFrame({"x": ["http://dbpedia.org/resource/Rome", "http://de.dbpedia.org/resource/Rom", "Q220"]})
    >>> one.select(article(pl.col("x")))["x"].to_list()
    ['http://en.wikipedia.org/wiki/Rome', 'http://de.wikipedia.org/wiki/Rom', 'Q220']
    """
    return entity.str.replace("^http://dbpedia.org/resource/", _ENGLISH).str.replace(
        r"^http://([a-z-]+)\.dbpedia\.org/resource/", "http://${1}.wikipedia.org/wiki/"
    )


def title(entity: pl.Expr) -> pl.Expr:
    """Return the title of an English article or DBpedia resource, with spaces; what is none as its article.

    A title that could be taken for another kind of identifier stays a URL.
    """
    url = article(entity)
    short = url.str.strip_prefix(_ENGLISH)
    plain = short.str.contains(r"^[^:%]+$") & ~short.str.contains("^Q[0-9]+$")
    return pl.when(url.str.starts_with(_ENGLISH) & plain).then(short.str.replace_all("_", " ")).otherwise(url)


def title_url(name: pl.Expr) -> pl.Expr:
    """Return the URL of a title, of what is no title what it is.

    >>> three = pl.DataFrame({"x": ["New York", "Q60", "http://dbpedia.org/resource/New_York"]})
    >>> three.select(title_url(pl.col("x")))["x"].to_list()
    ['http://en.wikipedia.org/wiki/New_York', 'Q60', 'http://dbpedia.org/resource/New_York']
    """
    other = name.str.contains(r"^(?:Q[0-9]+$|https?://|urn:|(?i:wikidata|wd|dbpedia|dbr):)")
    return pl.when(other).then(name).otherwise(pl.lit(_ENGLISH) + name.str.replace_all(r"\s", "_"))
