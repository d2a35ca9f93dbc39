"""Words: what kind of mention a text is, and how many words it has.

Source: mention_type.py and pronoun_finder.py.
"""

from __future__ import annotations

import polars as pl

__all__ = ["KINDS", "coreference_kind", "is_lowercase", "named_kind", "word_counts"]

KINDS = ("entity_named", "entity_non_named", "entity_unknown", "coref_nominal", "coref_pronominal")
"""ELEVANT's mention types, as its result files name them."""

PRONOUNS = (
    *("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"),
    *("you", "your", "yours", "yourself", "yourselves", "he", "him", "his", "himself"),
    *("she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves"),
)
DETERMINERS = ["the", "that", "this", "these", "those", "my", "your", "his", "her", "its", "our", "their"]

_NAMED = r"^\P{L}*\p{Lu}"


def coreference_kind(text: pl.Expr) -> pl.Expr:
    """Return 'coref_pronominal', 'coref_nominal' or null: what a mention is by its text.

    `US` and `IT` are no pronouns, `I` is; a determiner makes a description where the next word is not capitalised.

    >>> texts = pl.DataFrame({"text": ["It", "US", "I", "the city", "The City", "Rome"]})
    >>> texts.select(kind=coreference_kind(pl.col("text")))["kind"].to_list()
    ['coref_pronominal', None, 'coref_pronominal', 'coref_nominal', None, None]
    """
    lower = text.str.to_lowercase()
    pronoun = lower.is_in(PRONOUNS) & ((text != text.str.to_uppercase()) | (lower == "i"))
    nominal = text.str.contains(rf"^(?i:{'|'.join(DETERMINERS)}) [^\p{{Lu}}]")
    return pl.when(pronoun).then(pl.lit("coref_pronominal")).when(nominal).then(pl.lit("coref_nominal"))


def named_kind(name: pl.Expr, *, unknown: pl.Expr) -> pl.Expr:
    """Return 'entity_unknown', 'entity_named' (its first letter is a capital) or 'entity_non_named'.

    An entity whose name nobody says is called Unknown, and so counts as named.
    """
    capital = name.fill_null("Unknown").str.contains(_NAMED)
    return (
        pl.when(unknown)
        .then(pl.lit("entity_unknown"))
        .when(capital)
        .then(pl.lit("entity_named"))
        .otherwise(pl.lit("entity_non_named"))
    )


def is_lowercase(text: pl.Expr) -> pl.Expr:
    """Return whether the first letter of a text is no capital, or it has no letter.

    >>> pl.DataFrame({"text": ["iPod", "2 Unlimited", "1984"]}).select(is_lowercase(pl.col("text")))["text"].to_list()
    [True, False, True]
    """
    return ~text.str.contains(_NAMED)


def word_counts(text: pl.Expr) -> dict[str, pl.Expr]:
    """Return the number of words of a text, of those with a capital first letter, and of the others.

    ELEVANT takes the tokens of a spaCy model; these are runs of letters and digits, so the numbers are near, not equal.
    """
    words = text.str.count_matches(r"[\p{L}\p{N}]+")
    capital = text.str.count_matches(r"(?:^|[^\p{L}\p{N}])\p{N}*\p{Lu}[\p{L}\p{N}]*")
    return {"words": words, "capital": capital, "lowercase": words - capital}
