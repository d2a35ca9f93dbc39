"""Files of lines: numbered, in cells; texts of tokens, rebuilt and taken apart, and mentions that tags on tokens tell.

B-X begins a mention, and I-X goes on with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.formats.losses import Loss, loss_of
from remix.formats.offsets import cut_spans
from remix.formats.repairs import RepairTally, decode, separate_names
from remix.formats.source import SourceFile

SENTENCES = pl.when(pl.col("sentence") != pl.col("sentence").shift()).then(pl.lit("\n")).otherwise(pl.lit(" "))
"""A line feed between sentences, else a space: what `join_tokens` puts between tokens that know their `sentence`."""

_LINE = fill("line {}", "row")


def begins(pattern: bytes) -> Callable[[bytes, str], bool]:
    """Return what sniffs a file that begins so.

    >>> begins(rb"-DOCSTART- ")(b"-DOCSTART- (1)", "x.tsv")
    True
    """
    return lambda head, name: re.match(pattern, head) is not None


def numbered_lines(text: str, *, ends: str = "\r") -> pl.DataFrame:
    """Return the lines of a text without these characters at their ends: `row`, from 1, and `line`.

    >>> numbered_lines("a\\tb\\r\\n").rows()
    [(1, 'a\\tb'), (2, '')]
    """
    lines = pl.Series("line", text.split("\n")).str.strip_chars_end(ends).to_frame()
    return lines.select(row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), line="line")


def name_documents(rows: pl.DataFrame, key: str, said: pl.Expr, tally: RepairTally) -> pl.DataFrame:
    """Return the rows with the `name` of their document: the first that is said in the rows of its key, else the key.

    The second document of a name is `name;2`, which is told.

    >>> rows = pl.DataFrame({"number": [1, 1, 2, 3], "said": [None, "a", None, "a"]})
    >>> name_documents(rows, "number", pl.col("said"), RepairTally())["name"].to_list()
    ['a', 'a', '2', 'a;2']
    """
    told = rows.group_by(key, maintain_order=True).agg(name=said.drop_nulls().first())
    names = told.select(key, name=pl.coalesce("name", pl.col(key).cast(pl.String)))
    names = names.with_columns(name=separate_names(names["name"], tally))
    return rows.drop("name", strict=False).join(names, on=key, maintain_order="left")


def split_cells(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows with the cells of their `line`, which tabs separate, as columns, and how many there are.

    >>> split_cells(pl.DataFrame({"line": ["a\\tb", "c"]}), ["token", "tag"]).drop("line").rows()
    [('a', 'b', 2), ('c', None, 1)]
    """
    cells = pl.col("line").str.split("\t").list
    columns = (cells.get(place, null_on_oob=True).alias(name) for place, name in enumerate(names))
    return rows.with_columns(*columns, count=cells.len())


def read_lines(
    source: SourceFile, tally: RepairTally, sniff: Callable[[bytes, str], bool] = lambda *_: True
) -> pl.DataFrame:
    """Return the lines of a file, or of the files of a folder or archive that are sniffed: file, row, place, line."""
    parts = []
    for name, data in source.files_that(sniff).items():
        where = pl.lit(f"{name}, " if source.is_collection else "") + _LINE
        parts.append(numbered_lines(decode(data, tally)).with_columns(file=pl.lit(source.place(name)), place=where))
    return pl.concat(parts)


def split_documents(
    lines: pl.DataFrame, columns: Sequence[str], starts: pl.Expr, said: pl.Expr, tally: RepairTally
) -> pl.DataFrame:
    """Return the lines that are not blank with their cells, their `sentence` and the `name` of their document.

    A document begins with a line that `starts` it; a line that `said` its name has no token either. A sentence ends at
    a blank line.
    """
    filled = pl.col("line").str.contains(r"\S")
    rows = lines.with_columns(starts=starts, number=starts.cum_sum(), sentence=(starts | ~filled).cum_sum())
    rows = split_cells(rows.filter(filled), columns).with_columns(said=said)
    rows = rows.with_columns(token=pl.when(~pl.col("starts") & pl.col("said").is_null()).then("token"))
    return name_documents(rows, "number", pl.col("said"), tally)


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


def outside_where_unread(rows: pl.DataFrame, fine: Mapping[str, pl.Expr], tally: RepairTally) -> pl.DataFrame:
    """Return the rows with `O` in place of what is no tag: where it is not `fine`, by columns; each is told.

    >>> rows = pl.DataFrame({"token": ["Ada"], "tag": ["O-266955"], "place": ["line 3"]})
    >>> tally = RepairTally()
    >>> outside_where_unread(rows, {"tag": pl.col("tag").str.contains("^(?:[BI]-.|O$)")}, tally)["tag"].to_list()
    ['O']
    >>> tally.repairs()[0].example
    "line 3: 'O-266955' is no tag: read as O"
    """
    for name, is_tag in fine.items():
        wrong = pl.col("token").is_not_null() & ~is_tag.fill_null(False)
        tally.add_rows("tag", rows.filter(wrong), f"{{place}}: '{{{name}}}' is no tag: read as O")
        rows = rows.with_columns(pl.when(wrong).then(pl.lit("O")).otherwise(name).alias(name))
    return rows


def tagged_spans(
    tokens: pl.DataFrame, tag: pl.Expr, columns: Mapping[str, pl.Expr], tally: RepairTally, *, within: str = "name"
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
    tally.add_rows("tag", odd.select("place", said=tag), "{place}: {said} begins a mention")
    return tagged.group_by("mention", maintain_order=True).agg(
        pl.col("row", "place", "name", "begin").first(), pl.col("end").last(), **columns
    )


def cut_texts(documents: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the pieces of texts between the ends of mentions: document, cut (where it begins), stop, said."""
    ends = documents.select("document", cut=pl.col("text").str.len_chars().cast(pl.Int64))
    cuts = [documents.select("document", cut=pl.lit(0, pl.Int64)), ends]
    cuts += [rows.select("document", cut=name) for name in ("begin", "end")]
    pieces = pl.concat(cuts).unique().sort("document", "cut")
    pieces = pieces.with_columns(stop=pl.col("cut").shift(-1).over("document")).drop_nulls("stop")
    pieces = pieces.join(documents.select("document", "text"), on="document", maintain_order="left")
    return pieces.with_columns(said=cut_spans(pieces, "document", "cut", "stop")).drop("text")


def lose_white_space(documents: pl.DataFrame, tokens: pl.DataFrame, gap: pl.Expr) -> tuple[Loss, ...]:
    """Return the loss of white space: of texts that `join_tokens` makes otherwise of their tokens, with this gap."""
    texts, _ = join_tokens(tokens.with_columns(name="document"), gap)
    rebuilt = texts.select(document="name", rebuilt="text")
    both = documents.join(rebuilt, on="document", how="left", maintain_order="left")
    return loss_of("white-space", both.filter(pl.col("rebuilt").fill_null("") != pl.col("text"))["document"])
