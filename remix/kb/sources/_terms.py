"""Surface forms and IRIs as the terms that an endpoint is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from remix.kb.forms import normalise
from remix.rdf.terms import text_term

__all__ = ["iris", "literals", "titles"]

_RESOURCE = r"^http://(?:([a-z-]+)\.)?dbpedia\.org/resource/"


def iris(keys: pl.Series) -> list[str]:
    """Return IRIs as terms, in their order without repeats.

    The canonical form has a question mark in a title; DBpedia writes it encoded, so both are asked for.

    >>> iris(pl.Series(["http://dbpedia.org/resource/Who?"]))
    ['<http://dbpedia.org/resource/Who?>', '<http://dbpedia.org/resource/Who%3F>']
    """
    encoded = pl.when(pl.col("key").str.contains(_RESOURCE)).then(
        pl.col("key").str.replace_all("?", "%3F", literal=True)
    )
    spelled = pl.concat_list("key", pl.coalesce(encoded, "key"))
    rows = keys.alias("key").to_frame().select(spelled.explode(empty_as_null=False).alias("key"))
    return rows.select("<" + pl.col("key").unique(maintain_order=True) + ">").to_series().to_list()


def literals(
    forms: pl.Series, languages: Sequence[str], *, untagged: bool = False, suffixes: Mapping[str, str] | None = None
) -> list[str]:
    """Return the literals that a surface form can be the text of, in every language, sorted without repeats.

    Names are compared casefolded, and an endpoint finds only what is written exactly so: each form is looked for as
    given, with its first letter upper case, all lower, all upper and in title case.

    >>> literals(pl.Series(["new_york"]), ["en"])
    ['"NEW YORK"@en', '"New York"@en', '"New york"@en', '"new york"@en']
    """
    form = normalise(pl.col("form"), case_sensitive=True)
    first = form.str.slice(0, 1).str.to_uppercase() + form.str.slice(1)
    cases = [form, first, form.str.to_lowercase(), form.str.to_uppercase(), form.str.to_titlecase()]
    spelled = forms.alias("form").to_frame().select(pl.concat_list(cases).explode(empty_as_null=False).alias("form"))
    spelled = spelled.filter(pl.col("form") != "").unique().sort("form")
    endings = {tag: ["", *([suffixes[tag]] if suffixes and tag in suffixes else [])] for tag in languages}
    tagged = [text_term(pl.col("form") + ending) + f"@{tag}" for tag, each in endings.items() for ending in each]
    every = [*tagged, *([text_term(pl.col("form"))] if untagged else [])]
    return spelled.select(pl.concat_list(every).explode(empty_as_null=False)).to_series().to_list()


def titles(entities: pl.Series) -> list[str]:
    """Return the titles of the articles that DBpedia resources stand for, in their language.

    >>> titles(pl.Series(["http://dbpedia.org/resource/New_York", "http://de.dbpedia.org/resource/Köln"]))
    ['"New York"@en', '"Köln"@de']
    """
    title = pl.col("iri").str.replace(_RESOURCE, "").str.replace_all("_", " ", literal=True)
    language = pl.col("iri").str.extract(_RESOURCE, 1).fill_null("en")
    return entities.alias("iri").to_frame().select(text_term(title) + "@" + language).to_series().to_list()
