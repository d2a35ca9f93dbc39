"""Offsets against texts: what a file counts in, told by where its anchors are found.

Offsets are Unicode code points with an exclusive end. Files also count UTF-8 bytes or UTF-16 units, count
the text in another Unicode normal form, name the last character instead of the end, or are a few
characters off. The anchor decides; where nothing fits, the offsets stay as they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import polars as pl

__all__ = ["characters_of_units", "checked", "units_of_characters"]

REACH = 32
"""How many characters away from the given offset an anchor is looked for."""

Form = Literal["NFC", "NFD"]
_FILLER = "\uffff"
_TWO_UNITS = r"[\x{10000}-\x{10FFFF}]"
_WINDOW = REACH * 2


def checked(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (in another order) with right `begin` and `end`, and with `kind` and `reason` of what was wrong.

    Takes `text`, `anchor`, `begin`, `end` and `iri_begin`, `iri_end` (what the IRI says), all but text may
    be null. `kind` is null where all is well, `offset` where begin or end changed, `anchor` where the
    anchor is not what the text says and the offsets are kept, `range` where they do not lie in the text.

    >>> row = {"text": ["Völler scored"], "anchor": ["Völler"], "begin": [0], "end": [7], "iri_begin": [0],
    ...     "iri_end": [7]}
    >>> checked(pl.DataFrame(row)).select("begin", "end", "kind", "reason").row(0)
    (0, 6, 'offset', 'counted in UTF-8 bytes')
    """
    frame = frame.with_columns(
        given_begin="begin",
        given_end="end",
        begin=pl.coalesce("begin", "iri_begin"),
        end=pl.coalesce("end", "iri_end", pl.col("begin") + pl.col("anchor").str.len_chars()),
        kind=pl.lit(None, pl.String),
        reason=pl.lit(None, pl.String),
    )
    missing = pl.col("given_begin").is_null() | pl.col("given_end").is_null()
    said = _between("begin", "end")
    right = (said == pl.col("anchor")) & ~missing
    unanchored = pl.col("anchor").is_null() & ~missing & _inside()
    settled = frame.select((pl.col("text").is_null() | right | unanchored).fill_null(False)).to_series()
    done = [frame.filter(settled)]
    rest = frame.filter(~settled)
    padded = (said == pl.col("anchor").str.strip_chars()) & ~missing
    done.append(_kept(rest.filter(padded), pl.lit("differs in outer white space")))
    rest = rest.filter(~padded.fill_null(False))
    spelt = (_composed(said) == _composed(pl.col("anchor"))) & ~missing
    done.append(_kept(rest.filter(spelt), pl.lit("differs in its Unicode normal form")))
    rest = rest.filter(~spelt.fill_null(False))
    for reason, reading in _READINGS:
        if rest.is_empty():
            break
        tried = reading(rest)
        found = _composed(_between("try_begin", "try_end"))
        fits = ((found == _composed(pl.col("anchor"))) & (found != "")).fill_null(False)
        done.append(_taken(tried.filter(fits), reason))
        rest = tried.filter(~fits).drop("try_begin", "try_end")
    done += _unfitting(rest)
    return pl.concat([part.select(frame.columns) for part in done if part.height] or [frame])


def _kept(rows: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    return rows.with_columns(kind=pl.lit("anchor"), reason=reason)


def _composed(text: pl.Expr) -> pl.Expr:
    return text.str.normalize("NFC")


def _between(begin: str, end: str) -> pl.Expr:
    length = pl.col(end) - pl.col(begin)
    # A slice beyond the end would be cut short and seem to fit.
    fine = (pl.col(begin) >= 0) & (length >= 0) & (pl.col(end) <= pl.col("text").str.len_chars())
    return pl.when(fine).then(pl.col("text").str.slice(pl.col(begin), length))


def _inside() -> pl.Expr:
    ordered = (pl.col("begin") >= 0) & (pl.col("begin") <= pl.col("end"))
    return ordered & (pl.col("end") <= pl.col("text").str.len_chars())


def _taken(rows: pl.DataFrame, reason: str) -> pl.DataFrame:
    return rows.with_columns(begin="try_begin", end="try_end", kind=pl.lit("offset"), reason=pl.lit(reason)).drop(
        "try_begin", "try_end"
    )


def _unfitting(rest: pl.DataFrame) -> Iterator[pl.DataFrame]:
    told = pl.col("given_begin").is_not_null() & pl.col("given_end").is_not_null()
    inside = (pl.col("begin").is_not_null() & pl.col("end").is_not_null() & _inside()).fill_null(False)
    without = rest.filter(inside & pl.col("anchor").is_null())
    yield without.with_columns(
        kind=pl.when(told).then(None).otherwise(pl.lit("offset")), reason=pl.lit("taken from the IRI")
    )
    reason = (
        pl.when(_between("begin", "end").str.to_lowercase() == pl.col("anchor").str.to_lowercase())
        .then(pl.lit("differs in case"))
        .when(pl.col("anchor") == "")
        .then(pl.lit("is empty"))
        .otherwise(pl.lit("is not near these offsets"))
    )
    yield _kept(rest.filter(inside & pl.col("anchor").is_not_null()), reason)
    below = pl.when(pl.col("begin") < 0).then(pl.lit("begins before the text, whose first character is 0"))
    yield rest.filter(~inside).with_columns(
        kind=pl.lit("range"), reason=below.otherwise(pl.lit("lies outside the text"))
    )


def _as_given(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(try_begin="begin", try_end="end")


def _from_iri(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(try_begin="iri_begin", try_end="iri_end")


def _bytes(rows: pl.DataFrame) -> pl.DataFrame:
    data = pl.col("text").cast(pl.Binary)
    length = pl.col("end") - pl.col("begin")
    sound = ((pl.col("begin") >= 0) & (length >= 0)).fill_null(False)
    part = data.bin.slice(pl.when(sound).then("begin").otherwise(0), pl.when(sound).then(length).otherwise(0))
    # Where the bytes are the anchor's, no cut goes through a character.
    fits = (sound & (part == pl.col("anchor").cast(pl.Binary))).fill_null(False)

    def characters(offset: str) -> pl.Expr:
        before = data.bin.slice(0, pl.when(fits).then(offset).otherwise(0)).cast(pl.String)
        return pl.when(fits).then(before.str.len_chars().cast(pl.Int64))

    return rows.with_columns(try_begin=characters("begin"), try_end=characters("end"))


def _units(rows: pl.DataFrame) -> pl.DataFrame:
    begin, end = (characters_of_units(pl.col("text"), pl.col(name)) for name in ("begin", "end"))
    return rows.with_columns(try_begin=begin, try_end=end)


def characters_of_units(text: pl.Expr, offset: pl.Expr) -> pl.Expr:
    """Return an offset that counts UTF-16 units of a text as one of code points; beyond the text it stays beyond.

    >>> rows = pl.DataFrame({"text": ["a\U0001f600b"] * 3, "offset": [1, 3, 9]})
    >>> rows.select(characters_of_units(pl.col("text"), pl.col("offset"))).to_series().to_list()
    [1, 2, 8]
    """
    # A character beyond the basic plane takes two units: a filler stands for its second.
    doubled = text.str.replace_all(f"({_TWO_UNITS})", f"${{1}}{_FILLER}")
    before = doubled.str.slice(0, pl.when(offset >= 0).then(offset))
    second = before.str.count_matches(_FILLER, literal=True).cast(pl.Int64)
    return pl.when(offset < 0).then(offset).otherwise(offset - second.fill_null(0))


def units_of_characters(text: pl.Expr, offset: pl.Expr) -> pl.Expr:
    """Return an offset that counts code points of a text as one of UTF-16 units.

    >>> rows = pl.DataFrame({"text": ["a\U0001f600b"] * 2, "offset": [1, 2]})
    >>> rows.select(units_of_characters(pl.col("text"), pl.col("offset"))).to_series().to_list()
    [1, 3]
    """
    return offset + text.str.slice(0, offset).str.count_matches(_TWO_UNITS).cast(pl.Int64).fill_null(0)


def _inclusive(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(try_begin="begin", try_end=pl.col("end") + 1)


def _from_one(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(try_begin=pl.col("begin") - 1, try_end="end")


def _length(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(try_begin="begin", try_end=pl.col("begin") + pl.col("anchor").str.len_chars())


def _normal_form(counted: Form, written: Form) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return the reading of offsets that count one Unicode normal form of a text which is written in the other."""

    def reading(rows: pl.DataFrame) -> pl.DataFrame:
        other = pl.col("text").str.normalize(counted)

        def characters(offset: str) -> pl.Expr:
            before = other.str.slice(0, pl.when(pl.col(offset) >= 0).then(pl.col(offset)))
            return before.str.normalize(written).str.len_chars().cast(pl.Int64)

        return rows.with_columns(try_begin=characters("begin"), try_end=characters("end"))

    return reading


def _near(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the nearest place of the anchor, the later of two equally near."""
    begin = pl.col("begin").fill_null(0).clip(0)
    length = pl.col("anchor").str.len_chars().cast(pl.Int64)
    after = pl.col("text").str.slice(begin, length + REACH)
    start = (begin - REACH).clip(0)
    before = pl.col("text").str.slice(start, (begin - start + length - 1).clip(0)).str.reverse()
    later = _position(after, pl.col("anchor"))
    earlier = _position(before, pl.col("anchor").str.reverse())
    # Counted from the end of the window, an anchor found at 0 ends one character before its given end.
    ends = pl.min_horizontal(pl.col("text").str.len_chars().cast(pl.Int64), begin + length - 1)
    found = rows.with_columns(_later=begin + later, _earlier=ends - earlier - length, _begin=begin)
    nearer = (pl.col("_later") - pl.col("_begin")) <= (pl.col("_begin") - pl.col("_earlier"))
    chosen = pl.when(nearer | pl.col("_earlier").is_null()).then("_later").otherwise("_earlier")
    blank = pl.col("anchor").str.strip_chars() == ""
    return (
        found.with_columns(try_begin=pl.when(~blank).then(chosen))
        .with_columns(try_end=pl.col("try_begin") + length)
        .drop("_later", "_earlier", "_begin")
    )


def _position(text: pl.Expr, part: pl.Expr) -> pl.Expr:
    found = text.str.find(part, literal=True)
    before = text.cast(pl.Binary).bin.slice(0, found).cast(pl.String, strict=False)
    return pl.when(found.is_not_null()).then(before.str.len_chars().cast(pl.Int64))


_READINGS: tuple[tuple[str, Callable[[pl.DataFrame], pl.DataFrame]], ...] = (
    ("taken from the IRI", _as_given),
    ("taken from the IRI", _from_iri),
    ("counted in UTF-8 bytes", _bytes),
    ("counted in UTF-16 units", _units),
    ("counted in composed letters", _normal_form("NFC", "NFD")),
    ("counted in letters and their accents", _normal_form("NFD", "NFC")),
    ("the end was the last character", _inclusive),
    ("counted from 1", _from_one),
    ("the end did not fit the anchor", _length),
    ("found nearby", _near),
)
