"""Offsets against texts: what a file counts in, told by where its anchors are found.

Offsets are Unicode code points with an exclusive end. Files also count UTF-8 bytes or UTF-16 units, or another normal
form, name the last character, or are a few characters off. The anchor decides; where nothing fits, they stay as given.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from remix.rdf.terms import FARTHEST

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = 32
"""How many characters away from the given offset an anchor is looked for."""

_LONGER = {"utf-8": r"[^\x00-\x7F]", "utf-16": r"[\x{10000}-\x{10FFFF}]"}
Integers: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True)
class _Texts:
    """Several texts one after the other, each once however many annotations it has.

    `numbers` has of the text of each key its number (`_text`), its length (`_size`) and how many characters stand
    before it (`_start`). Arrays are made where a file counts in something else: most never need numpy, which takes
    long to import.
    """

    numbers: pl.DataFrame
    texts: pl.Series

    @staticmethod
    def of(rows: pl.DataFrame, key: str) -> _Texts:
        """Return the texts of rows (`text`, and a key that is the same for the same text)."""
        texts = rows.select(key, "text").unique(key, keep="first", maintain_order=True)
        size = pl.col("text").str.len_chars().cast(pl.Int64)
        start = size.fill_null(0).cum_sum().shift(fill_value=0)
        number = pl.int_range(pl.len(), dtype=pl.Int64)
        return _Texts(texts.select(key, _text=number, _size=size, _start=start), texts["text"])

    def number(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with number and length of their text."""
        key = self.numbers.columns[0]
        rows = rows.drop("_text", "_size", "_start", strict=False) if "_text" in rows.columns else rows
        return rows.join(self.numbers, on=key, how="left", nulls_equal=True, maintain_order="left")

    @cached_property
    def points(self) -> NDArray[np.uint32]:
        """Return the code points of all texts."""
        import numpy as np

        return np.frombuffer("".join(self.texts.fill_null("")).encode("utf-32-le"), dtype="<u4")

    @cached_property
    def starts(self) -> Integers:
        """Return where each text begins among the code points, and where the last one ends."""
        return _sums(self.texts.str.len_chars().fill_null(0).cast(pl.Int64).to_numpy())

    @cached_property
    def long(self) -> pl.Series:
        """Return the number of the character of each byte that is not the first of its character."""
        if self.texts.str.len_bytes().sum() == self.numbers["_size"].sum():
            return pl.Series(dtype=pl.Int64)
        joined = self.texts.str.join("").cast(pl.Binary)
        every = joined.bin.reinterpret(dtype=pl.Array(pl.UInt8, joined.bin.size().item())).explode()
        long = ((every & 0xC0) == 0x80).arg_true().cast(pl.Int64)
        return long - pl.int_range(1, len(long) + 1, eager=True)

    def compose(self) -> _Texts:
        """Return the same texts with letters and accents composed (NFC)."""
        return _Texts(self.numbers, self.texts.str.normalize("NFC"))

    def bytes_before(self) -> Integers:
        """Return how many UTF-8 bytes stand before each code point."""
        longer = [(self.points >= first).astype("int64") for first in (0x80, 0x800, 0x10000)]
        return _sums(1 + longer[0] + longer[1] + longer[2])

    def units_before(self) -> Integers:
        """Return how many UTF-16 units stand before each code point."""
        return _sums(1 + (self.points >= 0x10000).astype("int64"))

    def letters_before(self) -> Integers:
        """Return how many letters and accents (NFD) stand before each code point."""
        import numpy as np

        lengths = np.ones(0x110000, dtype=np.int64)
        every = np.unique(self.points)
        lengths[every] = [len(unicodedata.normalize("NFD", chr(point))) for point in every]
        return _sums(lengths[self.points])

    def characters(self, rows: pl.DataFrame, name: str, before: Integers) -> tuple[pl.Series, pl.Series]:
        """Return offsets into units, of which so many stand `before` each character, as characters; which are exact.

        An offset within a character becomes the end of it; one outside the text stays outside by as much.
        """
        first, last, offset = self._bounds(rows, name)
        size = before[last] - before[first]
        wanted = before[first] + offset.clip(0, size)
        found = before.searchsorted(wanted)
        outside = (offset - size).clip(min=0) + offset.clip(max=0)
        exact = (before[found] == wanted) & (outside == 0)
        return _where(rows[name], found - first + outside), pl.Series(exact)

    def units(self, rows: pl.DataFrame, name: str, before: Integers) -> pl.Series:
        """Return offsets into characters as units, of which so many stand `before` each.

        An offset behind the text becomes its end.
        """
        first, last, offset = self._bounds(rows, name)
        inside = before[first + offset.clip(0, last - first)] - before[first]
        return _where(rows[name], inside + offset.clip(max=0))

    def _bounds(self, rows: pl.DataFrame, name: str) -> tuple[Integers, Integers, Integers]:
        number = rows["_text"].to_numpy()
        offset = rows[name].fill_null(0).clip(-FARTHEST, FARTHEST).cast(pl.Int64).to_numpy()
        return self.starts[number], self.starts[number + 1], offset

    def cut(self, rows: pl.DataFrame, begin: str | pl.Expr, end: str | pl.Expr) -> pl.Series:
        """Return the spans of numbered rows, null where one does not lie in its text."""
        first, last = (pl.col(one) if isinstance(one, str) else one for one in (begin, end))
        # A slice beyond the end would be cut short and seem to fit.
        inside = ((first >= 0) & (last >= first) & (last <= pl.col("_size"))).fill_null(False)
        spans = rows.select("text", "_start", inside=inside, begin=first, end=last)
        if len(self.long):
            long, start = pl.lit(self.long), pl.col("_start")
            offsets = (pl.when("inside").then(name).otherwise(0).alias(name) for name in ("begin", "end"))
            spans = spans.with_columns(
                offset + long.search_sorted(start + offset) - long.search_sorted(start) for offset in offsets
            )
        cut = pl.col("text").cast(pl.Binary).bin.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
        return spans.select(pl.when("inside").then(cut).cast(pl.String)).to_series()


def _sums(widths: Integers) -> Integers:
    import numpy as np

    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(widths, dtype=np.int64)])


def _where(offsets: pl.Series, values: Integers) -> pl.Series:
    """Return the values where there was an offset."""
    both = pl.DataFrame({"offset": offsets, "value": values})
    return both.select(pl.when(pl.col("offset").is_not_null()).then("value")).to_series()


def cut_spans(rows: pl.DataFrame, key: str, begin: str = "begin", end: str = "end") -> pl.Series:
    """Return what the texts of rows say between two offsets, null where these do not lie in the text.

    `key` is the same for the same `text`. The time goes with the texts and the spans, not with their product.

    >>> rows = pl.DataFrame({"name": ["d"] * 3, "text": ["Zoë met Bo"] * 3, "begin": [0, 8, 8], "end": [3, 10, 11]})
    >>> cut_spans(rows, "name").to_list()
    ['Zoë', 'Bo', None]
    """
    texts = _Texts.of(rows, key)
    return texts.cut(texts.number(rows), begin, end)


def check_offsets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (in another order) with right `begin` and `end`, what the text has there (`said`, null where they
    do not lie in it), and with `kind` and `reason` of what was wrong.

    Takes `document` (the same for the same text), `text`, `anchor`, `begin`, `end` and `iri_begin`, `iri_end` (what the
    IRI says), all but document may be null. `kind` is null where all is well, `offset` where begin or end changed,
    `anchor` where the anchor is not what the text says and the offsets are kept, `range` where they do not lie in the
    text.

    >>> row = {"document": ["d"], "text": ["Völler scored"], "anchor": ["Völler"], "begin": [0], "end": [7],
    ...     "iri_begin": [0], "iri_end": [7]}
    >>> check_offsets(pl.DataFrame(row)).select("begin", "end", "kind", "reason").row(0)
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
    columns = [*frame.columns, "said"]
    texts = _Texts.of(frame, "document")
    frame = texts.number(frame)
    frame = frame.with_columns(said=texts.cut(frame, "begin", "end"))
    missing = pl.col("given_begin").is_null() | pl.col("given_end").is_null()
    right = (pl.col("said") == pl.col("anchor")) & ~missing
    unanchored = pl.col("anchor").is_null() & ~missing & _inside()
    settled = frame.select((pl.col("text").is_null() | right | unanchored).fill_null(False)).to_series()
    if settled.all():
        return frame.select(columns)
    done, rest = [frame.filter(settled)], frame.filter(~settled)
    padded = pl.col("said") == pl.col("anchor").str.strip_chars()
    spelt = pl.col("said").str.normalize("NFC") == pl.col("anchor").str.normalize("NFC")
    alike = ((padded, "differs in outer white space"), (spelt, "differs in its Unicode normal form"))
    for like, reason in alike:
        fits = (like & ~missing).fill_null(False)
        done.append(rest.filter(fits).with_columns(kind=pl.lit("anchor"), reason=pl.lit(reason)))
        rest = rest.filter(~fits)
    done += _reread(rest)
    return pl.concat([part.select(columns) for part in done if part.height] or [frame.select(columns)])


def _reread(rest: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows with the offsets of the first reading that fits them, and those that none fits."""
    texts = _Texts.of(rest, "document")
    rest = texts.number(rest)
    for reason, reading in _READINGS:
        if rest.is_empty():
            break
        begin, end = reading(rest, texts)
        tried = rest.with_columns(try_begin=begin, try_end=end)
        tried = tried.with_columns(try_said=texts.cut(tried, "try_begin", "try_end"))
        found = pl.col("try_said").str.normalize("NFC")
        fits = ((found == pl.col("anchor").str.normalize("NFC")) & (found != "")).fill_null(False)
        yield tried.filter(fits).with_columns(
            begin="try_begin", end="try_end", said="try_said", kind=pl.lit("offset"), reason=pl.lit(reason)
        )
        rest = rest.filter(~tried.select(fits).to_series())
    yield from _unfitting(rest)


def _inside() -> pl.Expr:
    ordered = (pl.col("begin") >= 0) & (pl.col("begin") <= pl.col("end"))
    return ordered & (pl.col("end") <= pl.col("_size"))


def _unfitting(rest: pl.DataFrame) -> Iterator[pl.DataFrame]:
    told = pl.col("given_begin").is_not_null() & pl.col("given_end").is_not_null()
    inside = (pl.col("begin").is_not_null() & pl.col("end").is_not_null() & _inside()).fill_null(False)
    without = rest.filter(inside & pl.col("anchor").is_null())
    yield without.with_columns(
        kind=pl.when(told).then(None).otherwise(pl.lit("offset")), reason=pl.lit("taken from the IRI")
    )
    reason = (
        pl.when(pl.col("said").str.to_lowercase() == pl.col("anchor").str.to_lowercase())
        .then(pl.lit("differs in case"))
        .when(pl.col("anchor") == "")
        .then(pl.lit("is empty"))
        .otherwise(pl.lit("is not near these offsets"))
    )
    yield rest.filter(inside & pl.col("anchor").is_not_null()).with_columns(kind=pl.lit("anchor"), reason=reason)
    below = pl.when(pl.col("begin") < 0).then(pl.lit("begins before the text, whose first character is 0"))
    yield rest.filter(~inside).with_columns(
        kind=pl.lit("range"), reason=below.otherwise(pl.lit("lies outside the text"))
    )


_Ends = tuple[str | pl.Expr | pl.Series, str | pl.Expr | pl.Series]


def _bytes(rows: pl.DataFrame, texts: _Texts) -> _Ends:
    before = texts.bytes_before()
    (begin, sound), (end, whole) = (texts.characters(rows, name, before) for name in ("begin", "end"))
    tried = rows.with_columns(try_begin=begin, try_end=end)
    # A cut goes through a character where it is not the anchor's.
    fits = sound & whole & (texts.cut(tried, "try_begin", "try_end") == tried["anchor"])
    return pl.when(fits).then(begin), pl.when(fits).then(end)


def _units(rows: pl.DataFrame, texts: _Texts) -> _Ends:
    before = texts.units_before()
    return texts.characters(rows, "begin", before)[0], texts.characters(rows, "end", before)[0]


def _composed_letters(rows: pl.DataFrame, texts: _Texts) -> _Ends:
    """Return offsets that count letters with their accents as one, of texts that write them apart."""
    composed = texts.compose()
    before = composed.letters_before()
    return composed.units(rows, "begin", before), composed.units(rows, "end", before)


def _decomposed_letters(rows: pl.DataFrame, texts: _Texts) -> _Ends:
    """Return offsets that count letters and accents each, of texts that write them as one."""
    before = texts.letters_before()
    begin, end = (texts.characters(rows, name, before)[0] for name in ("begin", "end"))
    # An end behind the text is the end of the text, as accents behind its last letter count.
    return pl.min_horizontal(begin, "_size"), pl.min_horizontal(end, "_size")


def characters_of_units(rows: pl.DataFrame, key: str, *names: str, unit: str = "utf-16") -> pl.DataFrame:
    """Return the rows with offsets that count units of their `text`, of UTF-16 or UTF-8 bytes, as ones of code points.

    `key` is the column that is the same for the same text. An offset beyond the text stays beyond it.

    >>> rows = pl.DataFrame({"name": ["d"] * 3, "text": ["a\U0001f600b"] * 3, "offset": [1, 3, 9]})
    >>> characters_of_units(rows, "name", "offset")["offset"].to_list()
    [1, 2, 8]
    """
    return _recount(rows, key, names, unit, lambda *given: _Texts.characters(*given)[0])


def units_of_characters(rows: pl.DataFrame, key: str, *names: str, unit: str = "utf-16") -> pl.DataFrame:
    """Return the rows with offsets that count code points of their `text` as ones of UTF-16 units, or UTF-8 bytes.

    >>> rows = pl.DataFrame({"name": ["d"] * 2, "text": ["a\U0001f600b"] * 2, "offset": [1, 2]})
    >>> units_of_characters(rows, "name", "offset")["offset"].to_list()
    [1, 3]
    """
    return _recount(rows, key, names, unit, _Texts.units)


def _recount(
    rows: pl.DataFrame, key: str, names: tuple[str, ...], unit: str, recount: Callable[..., pl.Series]
) -> pl.DataFrame:
    """Return the rows with other offsets where the text has characters of two units; elsewhere they are the same."""
    texts = rows.select(key, "text").unique(key, keep="first").filter(pl.col("text").str.contains(_LONGER[unit]))
    if texts.is_empty():
        return rows
    numbered = _Texts.of(texts, key)
    before = numbered.bytes_before() if unit == "utf-8" else numbered.units_before()
    some = rows.with_row_index("_row").join(numbered.numbers, on=key, maintain_order="left")
    changed = {name: rows[name].scatter(some["_row"], recount(numbered, some, name, before)) for name in names}
    return rows.with_columns(pl.Series(name, values) for name, values in changed.items())


def _near(rows: pl.DataFrame, texts: _Texts) -> _Ends:
    """Return the nearest place of the anchor, the later of two equally near."""
    begin = pl.col("begin").fill_null(0).clip(0)
    length = pl.col("anchor").str.len_chars().cast(pl.Int64)
    start = (begin - REACH).clip(0)
    after = texts.cut(rows, *_within(begin, begin + length + REACH))
    before = texts.cut(rows, *_within(start, (begin + length - 1).clip(start)))
    found = rows.select(
        "_size",
        "anchor",
        given="begin",
        begin=begin,
        length=length,
        later=_position(pl.lit(after), pl.col("anchor")),
        earlier=_position(pl.lit(before).str.reverse(), pl.col("anchor").str.reverse()),
    )
    begin, length, given = pl.col("begin"), pl.col("length"), pl.col("given")
    # Counted from the end of the window, an anchor found at 0 ends one character before its given end.
    earlier = pl.min_horizontal("_size", begin + length - 1) - pl.col("earlier") - length
    nearer = pl.col("later") <= begin - earlier
    chosen = pl.when(nearer | earlier.is_null()).then(begin + pl.col("later")).otherwise(earlier)
    far = (given < -REACH) | (given > pl.col("_size") + REACH)
    blank = pl.col("anchor").str.strip_chars() == ""
    # What says no begin is near no place: its form may stand where another mention is.
    place = found.select(pl.when(~blank & ~far).then(chosen)).to_series()
    return place, place + found["length"]


def _within(*offsets: pl.Expr) -> tuple[pl.Expr, ...]:
    return tuple(pl.min_horizontal(offset, "_size") for offset in offsets)


def _position(text: pl.Expr, part: pl.Expr) -> pl.Expr:
    found = text.str.find(part, literal=True)
    before = text.cast(pl.Binary).bin.slice(0, found).cast(pl.String, strict=False)
    return pl.when(found.is_not_null()).then(before.str.len_chars().cast(pl.Int64))


_READINGS: tuple[tuple[str, Callable[[pl.DataFrame, _Texts], _Ends]], ...] = (
    ("taken from the IRI", lambda *_: ("begin", "end")),
    ("taken from the IRI", lambda *_: ("iri_begin", "iri_end")),
    ("counted in UTF-8 bytes", _bytes),
    ("counted in UTF-16 units", _units),
    ("counted in composed letters", _composed_letters),
    ("counted in letters and their accents", _decomposed_letters),
    ("the end was the last character", lambda *_: ("begin", pl.col("end") + 1)),
    ("counted from 1", lambda *_: (pl.col("begin") - 1, "end")),
    ("the end did not fit the anchor", lambda *_: ("begin", pl.col("begin") + pl.col("anchor").str.len_chars())),
    ("found nearby", _near),
)
