"""Tables of lines: numbered lines, mentions listed one a row, and texts that are taken apart."""

from __future__ import annotations

import polars as pl

from remix.errors import BadInput
from remix.formats.losses import Loss, loss_of
from remix.formats.mends import Mends
from remix.formats.offsets import cut_spans

__all__ = ["cut_texts", "lose_white_space", "numbered_lines", "parse_rows"]


def numbered_lines(text: str, *, ends: str = "\r") -> pl.DataFrame:
    """Return the lines of a text without these characters at their ends: `row`, from 1, and `line`.

    >>> numbered_lines("a\\tb\\r\\n").rows()
    [(1, 'a\\tb'), (2, '')]
    """
    lines = pl.Series("line", text.split("\n")).str.strip_chars_end(ends).to_frame()
    return lines.select(row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), line="line")


def cut_texts(documents: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the pieces of texts between the ends of mentions: document, cut (where it begins), stop, said."""
    ends = documents.select("document", cut=pl.col("text").str.len_chars().cast(pl.Int64))
    cuts = [documents.select("document", cut=pl.lit(0, pl.Int64)), ends]
    cuts += [rows.select("document", cut=name) for name in ("begin", "end")]
    pieces = pl.concat(cuts).unique().sort("document", "cut")
    pieces = pieces.with_columns(stop=pl.col("cut").shift(-1).over("document")).drop_nulls("stop")
    pieces = pieces.join(documents.select("document", "text"), on="document", maintain_order="left")
    return pieces.with_columns(said=cut_spans(pieces, "document", "cut", "stop")).drop("text")


def lose_white_space(documents: pl.DataFrame, rebuilt: pl.DataFrame) -> tuple[Loss, ...]:
    """Return the loss of white space: of texts that are `rebuilt` from their tokens with other gaps."""
    both = documents.join(rebuilt, on="document", how="left", maintain_order="left")
    return loss_of("white-space", both.filter(pl.col("rebuilt").fill_null("") != pl.col("text"))["document"])


_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"


def parse_rows(
    source: str, rows: pl.DataFrame, mends: Mends, names: tuple[str, str] = ("begin", "end")
) -> pl.DataFrame:
    """Return the mentions of rows of text (`line` and fields of that name), with numbers as numbers.

    `names` is what begin and end are called in messages. Both may be null where the surface form or the entity is
    told, or where `placed` is false.

    A confidence that is no finite number is left out and counted, and so is an answer that is there twice, which is
    kept: gold may have alternatives on one span. Raises `BadInput` with the line where begin or end is no whole number
    or the document has no name.
    """
    nameless = pl.col("document").fill_null("").str.strip_chars() == ""
    if (wrong := rows.filter(nameless)).height:
        raise BadInput(source, "a mention without its document", line=int(wrong["line"][0]))
    rows = _with_numbers(source, rows, names)
    sure = pl.col("confidence").str.contains(_NUMBER).fill_null(False)
    said = pl.col("confidence").is_not_null() & (pl.col("confidence").str.strip_chars() != "")
    if (unsure := rows.filter(said & ~sure)).height:
        row = unsure.row(0, named=True)
        mends.add("confidence", f"line {row['line']}: '{row['confidence']}' is no number, left out", unsure.height)
    # One label may stand in several readings of a mention, and be required in one of them alone.
    told: list[str] = [name for name in ("ignorable", "group", "option", "part") if name in rows.columns]
    told += ["surface_form"] if rows["begin"].null_count() else []
    twice = rows.filter(~pl.struct("document", "begin", "end", "entity", *told).is_first_distinct())
    if twice.height:
        row = twice.row(0, named=True)
        span = f"'{row['surface_form'] or ''}'" if row["begin"] is None else f"{row['begin']},{row['end']}"
        place = f"{row['document']} {span}"
        mends.add("duplicate", f"line {row['line']}: {place} has the same entity again", twice.height)
    confidence = pl.when(sure).then(pl.col("confidence").str.strip_chars()).cast(pl.Float64)
    return rows.with_columns(confidence)


def _with_numbers(source: str, rows: pl.DataFrame, names: tuple[str, str]) -> pl.DataFrame:
    """Return the rows with begin and end as numbers, also where they are written like `5.0` or with spaces."""
    said = pl.col("surface_form").is_not_null() | pl.col("entity").is_not_null()
    needed = ~said & (pl.col("placed") if "placed" in rows.columns else True)
    placed = pl.col("begin").is_not_null() | pl.col("end").is_not_null() | needed
    plain = rows.with_columns(pl.col("begin", "end").cast(pl.Int64, strict=False))
    if not plain["begin"].null_count() and not plain["end"].null_count():
        return plain
    whole = [
        pl.col(name).str.contains(r"^\s*[+-]?[0-9]{1,18}(?:\.0*)?\s*$").fill_null(False) for name in ("begin", "end")
    ]
    if (wrong := rows.filter(placed & ~(whole[0] & whole[1]))).height:
        row = wrong.row(0, named=True)
        reason = f"{' and '.join(names)} are whole numbers, not '{row['begin']}' and '{row['end']}'"
        raise BadInput(source, reason, line=int(row["line"]))
    digits = pl.col("begin", "end").str.strip_chars().str.extract("^([+-]?[0-9]+)")
    return rows.with_columns(digits.cast(pl.Int64))
