"""The triples of a block of lines that a knowledge base is made of, as polars columns.

Lines as dumps write them (`<s> <p> <o> .` and `<s> <p> "text"@en .`, nothing escaped) are split at their first two
spaces, which costs a fraction of a parser; all others are left to `remix.rdf.ntriples.triples`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from remix.rdf.ntriples import LITERAL, PLAIN_IRI, Block, lines_of, triples
from remix.rdf.terms import unescape

_TEXT = r'^"[^"\\]*"@[A-Za-z0-9-]+ \.$'
_FOREIGN = r'"@([A-Za-z0-9-]+) \.$'
_PLAIN = ("http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
_TERMS = ("subject", "predicate", "rest")


@dataclass(frozen=True)
class Pattern:
    """What is wanted of a file: predicates, namespaces of predicates with IRIs as objects, languages of literals."""

    predicates: Sequence[str]
    languages: Sequence[str] = ()
    namespaces: Sequence[str] = ()


@dataclass(frozen=True)
class Statements:
    """What a block of lines says.

    - `rows`: subject (a blank node keeps its `_:`), predicate, object (an IRI or a text), tag: null for an IRI, the
      language or the datatype of a literal, empty where it has none;
    - `foreign`: the languages of literals that were not asked for, one a literal;
    - `bad`: line, text and reason of what is no triple.
    """

    rows: pl.DataFrame
    foreign: pl.Series
    bad: pl.DataFrame


def parse_statements(block: Block, pattern: Pattern) -> Statements:
    """Return the triples of the wanted predicates, in the order of their lines, and what else is to be told.

    Lines of other predicates are looked at just closely enough to tell a triple from something else.

    >>> lines = b'<a:s> <a:p> "Caf\\\\u00E9"@en .\\n<a:s> <a:q> <a:o> .\\n<a:s> <a:p> <a:o> .\\nx\\n'
    >>> found = parse_statements(Block(lines, 1, 0), Pattern(["a:p"], ["en"]))
    >>> found.rows.rows(), found.bad.rows()
    ([('a:s', 'a:p', 'Café', 'en'), ('a:s', 'a:p', 'a:o', None)], [(4, 'x', 'no triple')])
    """
    lines, undecodable = number_lines(block)
    split = pl.col("text").str.splitn(" ", 3).struct.rename_fields(_TERMS).alias("terms")
    terms = lines.select("line", split).unnest("terms")
    is_wanted = terms.select(_is_wanted(pattern, "<", ">").fill_null(False)).to_series()
    wanted = terms.filter(is_wanted)
    kind = wanted.select(_kind(pattern)).to_series()
    rows = _simple(wanted, kind, pattern)
    foreign, unread = _foreign(wanted.filter(kind.is_null()), pattern)
    odd = pl.concat([unread, _odd(terms.filter(~is_wanted))])
    bad = [undecodable]
    if len(odd):
        parsed, no_triples = _parse(lines.join(odd.select("line"), on="line", how="semi", maintain_order="left"))
        # Of a namespace only what has an IRI as its object is wanted.
        named = parsed.filter(
            _is_wanted(pattern) & (pl.col("tag").is_null() | pl.col("predicate").is_in(list(pattern.predicates)))
        )
        tagged = pl.col("tag").str.contains(r"^[A-Za-z0-9-]+$").fill_null(False)
        of_language = ~tagged | pl.col("tag").is_in(list(pattern.languages))
        rows = rows.merge_sorted(named.filter(of_language), "line")
        foreign = pl.concat([foreign, named.filter(~of_language)["tag"]])
        bad.append(no_triples.with_columns(reason=pl.lit("no triple")))
    return Statements(rows.drop("line"), foreign, pl.concat(bad).sort("line"))


def number_lines(block: Block) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the lines (line, text), and those that are not UTF-8 (line, text, reason); the numbers are the file's."""
    texts = lines_of(block.data)
    lines = pl.DataFrame({"text": texts}).with_row_index("line", offset=block.line).cast({"line": pl.Int64})
    numbers = lines.filter(pl.col("text").is_null())["line"].to_list()
    raw = block.data.split(b"\n") if numbers else []
    wrong = [(number, raw[number - block.line].decode("utf-8", "replace"), "not UTF-8") for number in numbers]
    bad = pl.DataFrame(wrong, schema={"line": pl.Int64, "text": pl.String, "reason": pl.String}, orient="row")
    return lines.drop_nulls() if numbers else lines, bad


def _kind(pattern: Pattern) -> pl.Expr:
    """Return the number of the language of a line that needs no parser, -1 where its object is an IRI, or else null."""
    rest = pl.col("rest")
    number = pl.lit(None, pl.Int64)
    for place, language in enumerate(pattern.languages):
        number = pl.when(rest.str.ends_with(f'"@{language} .')).then(pl.lit(place)).otherwise(number)
    text = rest.str.contains(_TEXT) & pl.col("predicate").is_in(_iris_of(pattern))
    return pl.when(pl.col("subject").str.contains(f"^{PLAIN_IRI}$")).then(
        pl.when(rest.str.contains(rf"^{PLAIN_IRI} \.$")).then(pl.lit(-1)).when(text).then(number)
    )


def _simple(wanted: pl.DataFrame, kind: pl.Series, pattern: Pattern) -> pl.DataFrame:
    """Return the rows of the lines that need no parser."""
    found = wanted.with_columns(kind.alias("kind")).filter(kind.is_not_null())
    rest, kinds = pl.col("rest"), pl.col("kind")
    value, tag = rest.str.strip_prefix("<").str.strip_suffix("> ."), pl.lit(None, pl.String)
    for place, language in enumerate(pattern.languages):
        text = rest.str.strip_prefix('"').str.strip_suffix(f'"@{language} .')
        value = pl.when(kinds == place).then(text).otherwise(value)
        tag = pl.when(kinds == place).then(pl.lit(language)).otherwise(tag)
    return found.select("line", _bare("subject"), _bare("predicate"), object=value, tag=tag)


def _foreign(lines: pl.DataFrame, pattern: Pattern) -> tuple[pl.Series, pl.DataFrame]:
    """Return the languages of the texts that were not asked for, and the lines that a parser has to look at."""
    rest, predicate = pl.col("rest"), pl.col("predicate")
    tag = pl.when(pl.col("subject").str.contains(f"^{PLAIN_IRI}$") & rest.str.starts_with('"')).then(
        rest.str.extract(_FOREIGN)
    )
    tagged = lines.with_columns(
        tag=pl.when(~tag.is_in(list(pattern.languages))).then(tag),
        # Of a namespace only what has an IRI as its object is wanted.
        valued=~predicate.is_in(_iris_of(pattern))
        & predicate.str.contains(f"^{PLAIN_IRI}$")
        & rest.str.contains('^["_]'),
    )
    foreign = tagged.filter(pl.col("tag").is_not_null() & predicate.is_in(_iris_of(pattern)))["tag"]
    return foreign, tagged.filter(pl.col("tag").is_null() & ~pl.col("valued").fill_null(False)).select(lines.columns)


def _odd(unwanted: pl.DataFrame) -> pl.DataFrame:
    """Return the lines that do not look like triples of other predicates."""
    subject, predicate = pl.col("subject"), pl.col("predicate")
    other = (
        subject.str.contains("^(?:<[^<>]*>|_:[^<>]+)$")
        & predicate.str.contains("^<[^<>]*>$")
        & pl.col("rest").str.ends_with(" .")
    )
    return unwanted.filter(~other.fill_null(False))


def _parse(lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of lines as a parser reads them, and the lines that are no triple."""
    found, bad = triples(Block("\n".join([*lines["text"], ""]).encode(), 0, 0))
    literal = pl.col("object").str.starts_with('"')
    groups = pl.col("object").str.extract_groups(LITERAL)
    text = groups.struct.field("1")
    tag = pl.coalesce(groups.struct.field("2"), groups.struct.field("3"), pl.lit(""))

    rows = found.select(
        pl.col("line"),
        _bare("subject"),
        _bare("predicate"),
        object=pl.when(literal).then(unescape(text)).otherwise(_bare("object")),
        tag=pl.when(literal).then(pl.when(tag.is_in(_PLAIN)).then(pl.lit("")).otherwise(tag)),
    )
    numbers = lines["line"]
    return rows.with_columns(line=numbers.gather(rows["line"])), bad.with_columns(line=numbers.gather(bad["line"]))


def _bare(column: str) -> pl.Expr:
    return pl.col(column).str.strip_prefix("<").str.strip_suffix(">")


def _iris_of(pattern: Pattern) -> list[str]:
    return [f"<{one}>" for one in pattern.predicates]


def _is_wanted(pattern: Pattern, before: str = "", behind: str = "") -> pl.Expr:
    """Return whether a predicate, with what stands before and behind it, is wanted, or in a wanted namespace."""
    predicate = pl.col("predicate")
    wanted = predicate.is_in([f"{before}{one}{behind}" for one in pattern.predicates])
    for namespace in pattern.namespaces:
        wanted |= predicate.str.starts_with(before + namespace)
    return wanted
