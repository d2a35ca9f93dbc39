"""Terms of N-Triples as polars expressions: what an IRI or literal says, and how it is written."""

from __future__ import annotations

import polars as pl

from remix import names
from remix.rdf.iris import entity_iri

_LITERAL = r'^"(?s:(.*))"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?$'
# Control characters are written as \uXXXX, but for the five with a letter of their own.
_LETTERS = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_CONTROLS = {chr(c): f"\\u{c:04X}" for c in [*range(32), 127] if chr(c) not in _LETTERS}
ESCAPES = _LETTERS | _CONTROLS
"""What must not stand in a literal as it is, and how it is written: in N-Triples, Turtle and SPARQL alike."""
_NONCHARACTERS = {"\ufffe": r"\uFFFE", "\uffff": r"\uFFFF"}
"""What may stand there, but not in the answers of Oxigraph."""


def predicate(local: str, namespace: str = names.NIF) -> str:
    """Return the term of a predicate.

    >>> predicate("isString")
    '<http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#isString>'
    """
    return f"<{namespace}{local}>"


def iri(term: pl.Expr) -> pl.Expr:
    """Return the IRI that a term is, null for literals and blank nodes."""
    return pl.when(term.str.starts_with("<")).then(term.str.slice(1, term.str.len_chars() - 2))


def iri_term(value: pl.Expr) -> pl.Expr:
    """Return the term that a legal IRI is written as: one that was made here, of a document or an annotation."""
    return pl.concat_str(pl.lit("<"), value, pl.lit(">"))


def entity_term(value: pl.Expr) -> pl.Expr:
    """Return the term of what a file or knowledge base calls an entity, a class or a property, whatever its name.

    >>> pl.DataFrame({"x": ["http://x/a", r"AC\\DC"]}).select(x=entity_term(pl.col("x")))["x"].to_list()
    ['<http://x/a>', '<urn:remix:entity:AC%5CDC>']
    """
    return iri_term(entity_iri(value))


def literal(term: pl.Expr) -> pl.Expr:
    """Return the text of a literal, without quotes and escapes; null for what is no literal."""
    return unescape(term.str.extract(_LITERAL, 1))


def unescape(text: pl.Expr) -> pl.Expr:
    """Return the text without its escapes: those that a serialiser writes, of quotes and control characters."""
    return (
        pl.when(text.str.contains("\\", literal=True))
        .then(text.str.replace_many([*ESCAPES.values(), *_NONCHARACTERS.values()], [*ESCAPES, *_NONCHARACTERS]))
        .otherwise(text)
    )


def escape(text: pl.Expr) -> pl.Expr:
    """Return the text as it is written between the quotes of a literal."""
    return (
        pl.when(text.str.contains(r'[\x00-\x1F\x7F"\\]'))
        .then(text.str.replace_many(list(ESCAPES), list(ESCAPES.values())))
        .otherwise(text)
    )


def text_term(text: pl.Expr) -> pl.Expr:
    """Return the literal that says a text, without a language or datatype."""
    return pl.concat_str(pl.lit('"'), escape(text), pl.lit('"'))


def typed_term(value: pl.Expr, datatype: str) -> pl.Expr:
    """Return the literal that says a number of a datatype, named by its IRI."""
    return pl.concat_str(pl.lit('"'), value.cast(pl.String), pl.lit(f'"^^<{datatype}>'))


def quote(text: str) -> str:
    r"""Return the literal that says one text.

    >>> print(quote('a "b"\n'))
    "a \"b\"\n"
    """
    return '"' + "".join(ESCAPES.get(letter, letter) for letter in text) + '"'


def language(term: pl.Expr) -> pl.Expr:
    """Return the language tag of a literal in lower case, null where it has none."""
    return term.str.extract(r'"@([A-Za-z0-9-]+)$', 1).str.to_lowercase()


def language_tag(language: pl.Expr) -> pl.Expr:
    """Return the tag that a literal can have for a language, null for what is none (BCP 47).

    >>> pl.DataFrame({"x": ["en", "zh_Hant", "klingon-", ""]}).select(language_tag(pl.col("x")))["x"].to_list()
    ['en', 'zh-Hant', None, None]
    """
    return language.map_batches(_tags, return_dtype=pl.String)


def _tags(languages: pl.Series) -> pl.Series:
    every = languages.drop_nulls().unique()
    tags = [tag if _is_tag(tag := one.strip().replace("_", "-")) else None for one in every]
    return languages.replace_strict(every, pl.Series(tags, dtype=pl.String), default=None, return_dtype=pl.String)


def _is_tag(text: str) -> bool:
    from pyoxigraph import Literal

    try:
        Literal("", language=text)
    except ValueError:
        return False
    return True


FARTHEST = 1 << 53
"""Larger numbers than this count nothing in a text; sums of them would wrap."""


def integer(term: pl.Expr) -> pl.Expr:
    """Return the whole number that a literal says, whatever its datatype (also `4.0`); null where it says none.

    One beyond 2^53 either way is that: out of any text, with room to add to it.

    >>> rows = pl.DataFrame({"x": ['"4.0"', '"-9223372036854775808"', '"99999999999999999999"', '"four"']})
    >>> rows.select(integer(pl.col("x")))["x"].to_list()
    [4, -9007199254740992, 9007199254740992, None]
    """
    digits = term.str.extract(r'^"\s*\+?(-?[0-9]+)(?:\.0*)?\s*"', 1)
    number = digits.cast(pl.Int64, strict=False)
    beyond = pl.when(digits.str.starts_with("-")).then(-FARTHEST).otherwise(FARTHEST)
    return pl.when(number.is_not_null() | digits.is_null()).then(number).otherwise(beyond).clip(-FARTHEST, FARTHEST)


def number_term(term: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the literal term with another number in it, its datatype kept."""
    return pl.concat_str(pl.lit('"'), value.cast(pl.String), pl.lit('"'), term.str.extract(r'"([^"]*)$', 1))
