"""The triples of a block of lines that a knowledge base is made of, as polars columns.

Lines as dumps write them (`<s> <p> <o> .` and `<s> <p> "text"@en .`, nothing escaped) are split where the wanted
predicates stand, which costs a fraction of a parser; all others are left to `remix.lines.triples`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from remix.lines import Block, triples

__all__ = ["Pattern", "Statements", "decodable", "statements"]

_NO_IRI = r"[\x00-\x20<>\"{}|^`\\]"
_LITERAL = r'(?s)^"(.*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?$'
_FOREIGN = r'"@([A-Za-z0-9-]+) \.$'
_PLAIN = ("http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
_ESCAPES = {
    **{f"\\u{code:04X}": chr(code) for code in (*range(32), 127)},
    "\\b": "\b",
    "\\t": "\t",
    "\\n": "\n",
    "\\f": "\f",
    "\\r": "\r",
    '\\"': '"',
    "\\\\": "\\",
}
_SPLIT = ("subject", "mark", "rest", "tag", "more")


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


def statements(block: Block, pattern: Pattern) -> Statements:
    """Return the triples of the wanted predicates, in the order of their lines, and what else is to be told.

    Lines of other predicates are looked at just closely enough to tell a triple from something else.

    >>> lines = b'<a:s> <a:p> "Caf\\\\u00E9"@en .\\n<a:s> <a:q> <a:o> .\\n<a:s> <a:p> <a:o> .\\nx\\n'
    >>> found = statements(Block(lines, 1, 0), Pattern(["a:p"], ["en"]))
    >>> found.rows.rows(), found.bad.rows()
    ([('a:s', 'a:p', 'Café', 'en'), ('a:s', 'a:p', 'a:o', None)], [(4, 'x', 'no triple')])
    """
    data, undecodable = _text(block)
    split = _split(data, pattern)
    rows = _simple(split, pattern)
    odd = split.filter(pl.col("kind") == "odd")["line"]
    foreign = split.filter(pl.col("kind") == "foreign")["tag"]
    bad = [undecodable]
    if len(odd):
        parsed, no_triples = _parsed(data, odd)
        wanted = parsed.filter(_wanted(pattern))
        of_language = _of_language(pattern)
        rows = pl.concat([rows, wanted.filter(of_language)]).sort("line", maintain_order=True)
        foreign = pl.concat([foreign, wanted.filter(~of_language)["tag"]])
        bad.append(no_triples.with_columns(reason=pl.lit("no triple")))
    numbered = pl.concat(bad).sort("line").with_columns(pl.col("line") + block.line)
    return Statements(rows.drop("line"), foreign, numbered)


def decodable(data: bytes) -> tuple[bytes, pl.DataFrame]:
    """Return lines of which those that are no UTF-8 were emptied, and these: line (from 0), text and reason."""
    bad: list[tuple[int, str, str]] = []
    try:
        data.decode()
    except UnicodeDecodeError:
        lines = data.split(b"\n")
        for number, line in enumerate(lines):
            text = line.decode("utf-8", "replace")
            if text.encode() != line:
                bad.append((number, text, "not UTF-8"))
                lines[number] = b""
        data = b"\n".join(lines)
    return data, pl.DataFrame(bad, schema={"line": pl.Int64, "text": pl.String, "reason": pl.String}, orient="row")


def _text(block: Block) -> tuple[bytes, pl.DataFrame]:
    """Return the lines with no byte that polars cannot take, and the lines that had to go for it."""
    data = block.data
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\\r")
    if b"\x01" in data:
        data = data.replace(b"\x01", b"\\u0001")
    data, bad = decodable(data)
    return data if data.endswith(b"\n") else data + b"\n", bad


def _split(data: bytes, pattern: Pattern) -> pl.DataFrame:
    """Return line, the parts of it, and their kind: iri, literal, foreign, other (not wanted) or odd."""
    for number, start in enumerate(_starts(pattern)):
        data = data.replace(start.encode(), b"\x01%d\x01" % number)
    for language in pattern.languages:
        data = data.replace(f'"@{language} .\n'.encode(), f"\x01{language}\n".encode())
    # The header says how many fields there are: else the first line would.
    header = "\x01".join(_SPLIT).encode() + b"\n"
    lines = pl.read_csv(
        header + data, separator="\x01", quote_char=None, infer_schema=False, truncate_ragged_lines=True
    ).with_row_index("line")
    lines = lines.with_columns(pl.col("line").cast(pl.Int64))
    marks = [str(number) for number in range(len(_starts(pattern)))]
    subject, rest = pl.col("subject"), pl.col("rest")
    started = subject.str.starts_with("<") & pl.col("more").is_null()
    sound = started & ~subject.str.strip_prefix("<").str.contains(_NO_IRI)
    other = (subject.str.starts_with("<") | subject.str.starts_with("_:")) & subject.str.contains("> <|^_:[^ ]+ <")
    # Behind a blank node, or with other white space, what is wanted stands unsplit.
    other &= ~subject.str.contains_any([f"<{one}" for one in [*pattern.predicates, *pattern.namespaces]])
    ends = pl.coalesce(pl.col("mark").is_in(list(pattern.languages)), False) | subject.str.ends_with(" .")
    literal = sound & rest.str.starts_with('"') & pl.col("tag").is_in(list(pattern.languages))
    iri = sound & pl.col("tag").is_null() & rest.str.contains(r"^(?:[^<>\" ]*> )?<[^\x00-\x20<>\"{}|^`\\]*> \.$")
    tag = rest.str.extract(_FOREIGN)
    valued = pl.col("mark").is_in(marks[len(pattern.predicates) :]) & rest.str.contains(r'^[^<>" ]*> ["_]')
    return lines.with_columns(
        kind=pl.when(pl.col("mark").is_in(marks).fill_null(False))
        .then(
            pl.when(iri)
            .then(pl.lit("iri"))
            .when(literal & ~rest.str.strip_prefix('"').str.contains(r'["\\]'))
            .then(pl.lit("literal"))
            .when(started & rest.str.starts_with('"') & tag.is_not_null())
            .then(pl.lit("foreign"))
            .when(valued)
            .then(pl.lit("other"))
            .otherwise(pl.lit("odd"))
        )
        .when(other & ends)
        .then(pl.lit("other"))
        .otherwise(pl.lit("odd")),
        tag=pl.coalesce("tag", tag),
    )


def _starts(pattern: Pattern) -> list[str]:
    """Return what stands between the subject and what is taken of each predicate, or namespace."""
    return [f"> <{one}> " for one in pattern.predicates] + [f"> <{one}" for one in pattern.namespaces]


def _simple(split: pl.DataFrame, pattern: Pattern) -> pl.DataFrame:
    """Return the rows of the lines that needed no parser."""
    names = {str(number): name for number, name in enumerate([*pattern.predicates, *pattern.namespaces])}
    found = split.filter(pl.col("kind").is_in(["iri", "literal"]))
    predicate = pl.col("mark").replace_strict(names, return_dtype=pl.String)
    rest = pl.col("rest")
    if pattern.namespaces:
        predicate += rest.str.extract(r"^([^<>\" ]*)> <").fill_null("")
        rest = rest.str.replace(r"^[^<>\" ]*> <", "<")
    iri = pl.col("kind") == "iri"
    return found.select(
        "line",
        pl.col("subject").str.strip_prefix("<"),
        predicate=predicate,
        object=pl.when(iri)
        .then(rest.str.strip_prefix("<").str.strip_suffix("> ."))
        .otherwise(rest.str.strip_prefix('"')),
        tag=pl.when(~iri).then("tag"),
    )


def _parsed(data: bytes, numbers: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of the lines of these numbers as a parser reads them, and the lines that are no triple."""
    lines = pl.read_csv(data, has_header=False, separator="\x01", quote_char=None, schema={"text": pl.String})
    odd = lines["text"].gather(numbers).fill_null("")
    found, bad = triples(Block("\n".join([*odd.to_list(), ""]).encode(), 0, 0))
    literal = pl.col("object").str.starts_with('"')
    groups = pl.col("object").str.extract_groups(_LITERAL)
    text = groups.struct.field("1")
    tag = pl.coalesce(groups.struct.field("2"), groups.struct.field("3"), pl.lit(""))

    def bare(column: str) -> pl.Expr:
        return pl.col(column).str.strip_prefix("<").str.strip_suffix(">")

    rows = found.select(
        pl.col("line"),
        bare("subject"),
        bare("predicate"),
        object=pl.when(literal).then(text.str.replace_many(_ESCAPES, leftmost=True)).otherwise(bare("object")),
        tag=pl.when(literal).then(pl.when(tag.is_in(_PLAIN)).then(pl.lit("")).otherwise(tag)),
    )
    return _renumbered(rows, numbers), _renumbered(bad, numbers)


def _renumbered(rows: pl.DataFrame, numbers: pl.Series) -> pl.DataFrame:
    return rows.with_columns(line=numbers.gather(rows["line"]))


def _wanted(pattern: Pattern) -> pl.Expr:
    wanted = pl.col("predicate").is_in(list(pattern.predicates))
    for namespace in pattern.namespaces:
        wanted |= pl.col("predicate").str.starts_with(namespace) & pl.col("tag").is_null()
    return wanted


def _of_language(pattern: Pattern) -> pl.Expr:
    """Return whether a row is an IRI, or a literal of a language that was asked for, or of none."""
    tagged = pl.col("tag").str.contains(r"^[A-Za-z0-9-]+$").fill_null(False)
    return ~tagged | pl.col("tag").is_in(list(pattern.languages))
