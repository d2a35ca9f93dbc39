"""Texts that have to be put together, and where their mentions stand then: of parts, marks, tokens or other files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.files import read_bytes
from remix.formats.mapping import MappingRules
from remix.formats.mapping.paths import EACH, FieldPath, Shape
from remix.formats.offsets import characters_of_units
from remix.formats.repairs import RepairTally, decode
from remix.formats.source import SourceFile


def first_of(paths: tuple[FieldPath, ...], shape: Shape) -> pl.Expr:
    """Return what stands at the first of some paths where a record has something, null without a path."""
    found = [path.column(shape) for path in paths]
    return pl.coalesce(found) if found else pl.lit(None, pl.String)


def put_together(
    mapping: MappingRules, source: SourceFile, rows: pl.DataFrame, shape: Shape, tally: RepairTally
) -> pl.DataFrame:
    """Return the records (with `@name`) with `@text`, and with `@begin` and `@end` where these follow from it."""
    rules = mapping.document
    none = pl.lit(None, pl.Int64)
    rows = rows.with_columns(first_of(rules.text, shape).alias("@text"), none.alias("@begin"), none.alias("@end"))
    if rules.parts:
        rows = _join(mapping, rows, shape)
    if rules.tokens:
        rows = _tokenise(mapping, rows, shape, tally)
    if rules.marks:
        rows = _strip_marks(rules.marks, rows)
    return _from_files(mapping, source, rows, tally) if rules.files else rows


def _join(mapping: MappingRules, rows: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return the records with the text of their parts, of which that of the mention has a begin and an end."""
    rules = mapping.document
    forms = {path.said for one in mapping.mention for path in one.form}
    text, begin, end = pl.lit(""), pl.lit(None, pl.Int64), pl.lit(None, pl.Int64)
    for path in rules.parts:
        part = path.column(shape).fill_null("")
        before = text + _gap(rules.gap, text, part)
        text = before + part
        if path.said in forms:
            begin = before.str.len_chars().cast(pl.Int64)
            end = text.str.len_chars().cast(pl.Int64)
    return rows.with_columns(text.alias("@text"), begin.alias("@begin"), end.alias("@end"))


def _gap(gap: str, before: pl.Expr, after: pl.Expr) -> pl.Expr:
    """Return what stands between two parts: a blank where two words, or a sign and a word, would run together."""
    if gap == "none":
        return pl.lit("")
    both = (before != "") & (after != "")
    if gap == "blank":
        return pl.when(both).then(pl.lit(" ")).otherwise(pl.lit(""))
    apart = before.str.contains(r"[\s(\[{<“‘$£€#@/]$") | after.str.contains(r"^[\s,.;:!?)\]}>”’%/]")
    return pl.when(both & ~apart).then(pl.lit(" ")).otherwise(pl.lit(""))


def _tokenise(mapping: MappingRules, rows: pl.DataFrame, shape: Shape, tally: RepairTally) -> pl.DataFrame:
    """Return the records with their `@tokens`, and these joined by blanks where there is no text that has them."""
    path = mapping.document.tokens[0]
    tokens = path.column(shape) if EACH in path.steps else path.column(shape).str.split(" ")
    letters = pl.col("@text").str.replace_all(r"\s", ""), pl.col("@tokens").list.join("").str.replace_all(r"\s", "")
    rows = rows.with_columns(tokens.cast(pl.List(pl.String)).alias("@tokens"))
    other = rows.filter(letters[0] != letters[1])
    tally.add_rows("text", other, "line {@line}: the text has other letters than its tokens, which are taken for it")
    return rows.with_columns(
        pl.when(letters[0] == letters[1]).then("@text").otherwise(pl.col("@tokens").list.join(" ")).alias("@text")
    )


def _strip_marks(marks: tuple[str, ...], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the records with the text without the marks around its mention, whose begin and end these are."""
    opening, closing = marks
    pieces = pl.col("@text").str.splitn(opening, 2)
    before, rest = pieces.struct.field("field_0"), pieces.struct.field("field_1").str.splitn(closing, 2)
    form, after = rest.struct.field("field_0"), rest.struct.field("field_1")
    begin = before.str.len_chars().cast(pl.Int64)
    marked = form.is_not_null() & after.is_not_null()
    return rows.with_columns(
        pl.when(marked).then(pl.concat_str(before, form, after)).otherwise("@text").alias("@text"),
        pl.when(marked).then(begin).alias("@begin"),
        pl.when(marked).then(begin + form.str.len_chars().cast(pl.Int64)).alias("@end"),
    )


def _from_files(mapping: MappingRules, source: SourceFile, rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the records with the texts of files that are called as their documents."""
    if source.is_stdin:
        return rows
    folder = Path(source.path).parent
    patterns = [pattern for pattern in mapping.document.files if "{name}" in pattern]
    if len(patterns) < len(mapping.document.files):
        raise BadInput(mapping.file, "document.files lack {name}, which stands for the name of the document")
    found = {}
    for name in rows["@name"].drop_nulls().unique(maintain_order=True):
        # What a document is called must not lead elsewhere.
        if "/" in name or "\\" in name or any(letter in name for letter in "*?[\0"):
            continue
        file = next((one for pattern in patterns for one in sorted(folder.glob(pattern.replace("{name}", name)))), None)
        if file is not None and file.is_file():
            found[name] = decode(read_bytes(file), tally)
    columns = dict.fromkeys(("@name", "@told"), pl.String)
    texts = pl.DataFrame(list(found.items()), schema=columns, orient="row")
    rows = rows.join(texts, on="@name", how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("@text", "@told").alias("@text")).drop("@told")


def count_characters(rows: pl.DataFrame, texts: pl.DataFrame, offsets: str) -> pl.DataFrame:
    """Return mentions (`record`, `begin`, `end`) whose offsets count bytes, UTF-16 units or tokens, as of characters.

    `texts` has `record`, `text` and, for tokens, `tokens`. A token that is not there is beyond the text.
    """
    if offsets == "tokens":
        return _of_tokens(rows, texts)
    both = rows.join(texts.select("record", "text"), on="record", how="left", maintain_order="left")
    unit = {"bytes": "utf-8"}.get(offsets, offsets)
    return characters_of_units(both, "record", "begin", "end", unit=unit).drop("text")


def _of_tokens(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    places = token_places(texts)
    begins = places.select("record", begin="token", start="from")
    ends = places.select("record", end=pl.col("token") + 1, stop="to")
    rows = rows.join(begins, on=["record", "begin"], how="left", maintain_order="left")
    rows = rows.join(ends, on=["record", "end"], how="left", maintain_order="left")
    beyond = texts.select("record", beyond=pl.col("text").str.len_chars().cast(pl.Int64) + 1)
    rows = rows.join(beyond, on="record", how="left", maintain_order="left")
    told = pl.col("begin").is_not_null()
    return rows.with_columns(
        begin=pl.when(told).then(pl.coalesce("start", "beyond")), end=pl.when(told).then(pl.coalesce("stop", "beyond"))
    ).drop("start", "stop", "beyond")


def token_places(texts: pl.DataFrame) -> pl.DataFrame:
    """Return where each token stands in its text: record, token (from 0), from, to.

    The text is the tokens joined by blanks, or has their letters in the same order with other white space.
    """
    joined = texts["text"] == texts["tokens"].list.join(" ")
    each = texts.select("record", "tokens", joined=joined).explode("tokens").drop_nulls("tokens")
    each = each.with_columns(token=pl.int_range(pl.len()).over("record"))
    size = pl.col("tokens").str.len_chars().cast(pl.Int64)
    stop = (size + 1).cum_sum().over("record") - 1
    plain = each.filter("joined").select("record", "token", to=stop, size=size)
    plain = plain.select("record", "token", "to", **{"from": pl.col("to") - pl.col("size")})
    letters = texts.filter(~joined).select("record", letter=pl.col("text").str.split(""))
    letters = letters.explode("letter").with_columns(place=pl.int_range(pl.len()).over("record"))
    letters = letters.filter(~pl.col("letter").str.contains(r"^\s*$"))
    letters = letters.select("record", "place", number=pl.int_range(pl.len()).over("record"))
    size = pl.col("tokens").str.replace_all(r"\s", "").str.len_chars().cast(pl.Int64)
    other = each.filter(~pl.col("joined")).with_columns(size=size, stop=size.cum_sum().over("record"))
    other = other.select("record", "token", first=pl.col("stop") - pl.col("size"), last=pl.col("stop") - 1)
    for name, shift in (("first", 0), ("last", 1)):
        found = letters.select("record", pl.col("number").alias(name), (pl.col("place") + shift).alias(f"@{name}"))
        other = other.join(found, on=["record", name], how="left", maintain_order="left")
    other = other.select("record", "token", "@first", "@last").rename({"@first": "from", "@last": "to"})
    return pl.concat([plain.select("record", "token", "from", "to"), other])
