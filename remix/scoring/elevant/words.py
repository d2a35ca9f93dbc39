"""Words: spans that grow to their boundaries, and what kind of mention a text is.

Source: `word_boundary` of case_generator.py, mention_type.py and pronoun_finder.py.
"""

from __future__ import annotations

import polars as pl

__all__ = ["KINDS", "coreference_kind", "expanded", "is_lowercase", "named_kind", "word_counts"]

KINDS = ("entity_named", "entity_non_named", "entity_unknown", "coref_nominal", "coref_pronominal")
"""ELEVANT's mention types, as its result files name them."""

PRONOUNS = (
    *("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"),
    *("you", "your", "yours", "yourself", "yourselves", "he", "him", "his", "himself"),
    *("she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves"),
)
DETERMINERS = ["the", "that", "this", "these", "those", "my", "your", "his", "her", "its", "our", "their"]

_WORD = r"\p{L}\p{N}'\"_"
_RUNS = rf"[{_WORD}]+|[^{_WORD}]+"
_NAMED = r"^\P{L}*\p{Lu}"


def expanded(spans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return doc, begin and end of each span with `first` and `last`, the span grown to the boundaries of words.

    A word is a run of letters, digits and `'"_`. The last character of a text is never grown over, and a quotation
    mark that the span would begin with and does not close is left out. `texts` has doc and text; where there is no
    text, spans stay as they are.

    >>> text = pl.DataFrame({"doc": [0], "text": ["Albert's birthplace is Ulm."]})
    >>> expanded(pl.DataFrame({"doc": [0], "begin": [0], "end": [6]}), text).row(0)
    (0, 0, 6, 0, 8)
    """
    spans = spans.select("doc", "begin", "end").unique().sort("doc", "begin", "end")
    words = _words(texts)
    # The word that holds the character before the span, and the one that holds the character after it.
    left, right = (
        spans.with_columns(at=at)
        .sort("doc", "at")
        .join_asof(words, left_on="at", right_on="from", by="doc", check_sortedness=False)
        .select("doc", "begin", "end", pl.when(pl.col("at") < pl.col("to")).then(bound).alias(name))
        for at, bound, name in (
            (pl.col("begin") - 1, pl.col("from"), "first"),
            (pl.col("end"), pl.min_horizontal("to", pl.col("size") - 1), "last"),
        )
    )
    keys = ["doc", "begin", "end"]
    found = spans.join(left, on=keys, maintain_order="left").join(right, on=keys, maintain_order="left")
    found = found.join(texts, on="doc", how="left", maintain_order="left").with_columns(
        first=pl.coalesce("first", "begin"), last=pl.max_horizontal("last", "end")
    )
    inside = pl.col("text").str.slice(pl.col("first"), pl.col("last") - pl.col("first"))
    opened = inside.str.starts_with('"') & (inside.str.count_matches('"', literal=True) == 1)
    return found.select(*keys, first=pl.col("first") + opened.fill_null(False).cast(pl.Int64), last="last")


def _words(texts: pl.DataFrame) -> pl.DataFrame:
    """Return doc, `from` and `to` of each word, and the `size` of its text."""
    runs = texts.select(
        "doc", size=pl.col("text").str.len_chars().cast(pl.Int64), run=pl.col("text").str.extract_all(_RUNS)
    )
    runs = runs.explode("run").drop_nulls("run").with_columns(length=pl.col("run").str.len_chars().cast(pl.Int64))
    runs = runs.with_columns(to=pl.col("length").cum_sum().over("doc"))
    words = runs.filter(pl.col("run").str.contains(rf"^[{_WORD}]"))
    return words.select("doc", pl.col("to").sub(pl.col("length")).alias("from"), "to", "size").sort("doc", "from")


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
