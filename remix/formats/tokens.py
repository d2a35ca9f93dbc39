"""Texts that are rebuilt from a token a line, and mentions that tags tell: B-X begins one, I-X goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from remix.errors import BadInput
from remix.formats import SourceFile
from remix.formats.mends import Mends, decode
from remix.formats.tables import numbered_lines

__all__ = ["SENTENCES", "join_tokens", "number_names", "read_lines", "refuse_line", "split_cells", "tagged_spans"]

SENTENCES = pl.when(pl.col("sentence") != pl.col("sentence").shift()).then(pl.lit("\n")).otherwise(pl.lit(" "))
"""A line feed between sentences, else a space: what `join_tokens` puts between tokens that know their `sentence`."""

_LINE = pl.format("line {}", "row")


def number_names(names: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return key and name of each document (`key`, `name`, null for the key); the second of a name is `name;2`.

    >>> number_names(pl.DataFrame({"number": [1, 2, 3], "name": ["a", None, "a"]}), "number")["name"].to_list()
    ['a', '2', 'a;2']
    """
    named = names.select(key, name=pl.coalesce("name", pl.col(key).cast(pl.String)))
    nth = pl.int_range(1, pl.len() + 1).over("name")
    return named.with_columns(name=pl.when(nth > 1).then(pl.format("{};{}", "name", nth)).otherwise("name"))


def split_cells(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows with the cells of their `line`, which tabs separate, as columns, and how many there are.

    >>> split_cells(pl.DataFrame({"line": ["a\\tb", "c"]}), ["token", "tag"]).drop("line").rows()
    [('a', 'b', 2), ('c', None, 1)]
    """
    cells = pl.col("line").str.split("\t").list
    columns = (cells.get(place, null_on_oob=True).alias(name) for place, name in enumerate(names))
    return rows.with_columns(*columns, count=cells.len())


def read_lines(source: SourceFile, mends: Mends, sniff: Callable[[bytes, str], bool] | None = None) -> pl.DataFrame:
    """Return the lines of a file, or of the files of a folder or archive that are sniffed: file, row, place, line."""
    parts = []
    for name, data in source.files.items():
        if not source.is_collection:
            parts.append(numbered_lines(decode(data, mends)).with_columns(file=pl.lit(name), place=_LINE))
        elif sniff is None or sniff(data[: 1 << 16], name):
            lines = numbered_lines(decode(data, mends))
            parts.append(lines.with_columns(file=pl.lit(f"{source.name}/{name}"), place=pl.lit(f"{name}, ") + _LINE))
    return pl.concat(parts)


def refuse_line(rows: pl.DataFrame, wrong: pl.Expr) -> None:
    """Raise `BadInput` with file, line and reason of the first of the rows of which something is `wrong`."""
    told = rows.select("file", "row", wrong=wrong).drop_nulls("wrong").head(1)
    if told.height:
        raise BadInput(told["file"][0], str(told["wrong"][0]), line=int(told["row"][0]))


def join_tokens(rows: pl.DataFrame, gap: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the texts (`name`, `text`) of tokens with `gap` between them, and the tokens with begin and end.

    A row has `name`, what its document is called, and `token`, null where the row only names the document.

    >>> rows = pl.DataFrame({"name": ["a", "a", "b"], "token": ["Ada", "met", None]})
    >>> texts, tokens = join_tokens(rows, pl.lit(" "))
    >>> texts.rows(), tokens.select("begin", "end").rows()
    ([('a', 'Ada met'), ('b', '')], [(0, 3), (4, 7)])
    """
    tokens = rows.drop_nulls("token").with_columns(_gap=gap)
    first = pl.int_range(pl.len()).over("name") == 0
    tokens = tokens.with_columns(_gap=pl.when(first).then(pl.lit("")).otherwise("_gap"))
    size = pl.col("token").str.len_chars().cast(pl.Int64)
    end = (pl.col("_gap").str.len_chars().cast(pl.Int64) + size).cum_sum().over("name")
    tokens = tokens.with_columns(begin=end - size, end=end)
    said = tokens.group_by("name").agg(text=(pl.col("_gap") + pl.col("token")).str.join(""))
    names = rows.select("name").unique(maintain_order=True)
    texts = names.join(said, on="name", how="left", maintain_order="left").with_columns(pl.col("text").fill_null(""))
    return texts, tokens.drop("_gap")


def tagged_spans(
    tokens: pl.DataFrame, tag: pl.Expr, columns: Mapping[str, pl.Expr], mends: Mends, *, within: str = "name"
) -> pl.DataFrame:
    """Return the mentions of tokens: mention, row, place, name, begin, end and the columns, made of a mention's tokens.

    A tag is B-X or S-X, where a mention begins, or I-X or E-X where that of the token before goes on, if that is an X
    of the same `within`; one that begins with I- nevertheless is told. X may be missing, what is no tag is no mention.
    """
    inside, kind = tag.str.contains("^[BIES](?:-|$)").fill_null(False), tag.str.slice(2)
    follows = (inside.shift() & (kind == kind.shift())).over(within).fill_null(False)
    begins = inside & (tag.str.contains("^[BS]") | ~follows)
    tagged = tokens.with_columns(_begins=begins, mention=begins.cum_sum().cast(pl.Int64)).filter(inside)
    odd = tagged.filter(pl.col("_begins") & tag.str.starts_with("I"))
    if odd.height:
        mends.add("tag", f"{odd['place'][0]}: {odd.select(tag)[0, 0]} begins a mention", odd.height)
    return tagged.group_by("mention", maintain_order=True).agg(
        pl.col("row", "place", "name", "begin").first(), pl.col("end").last(), **columns
    )
