"""Where a mention that is only named stands in its text: exactly, then spelt alike, then nearly."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from remix.formats.repairs import TOLD, RepairTally

THRESHOLD = 90.0
"""The least similarity (0 to 100, rapidfuzz's partial ratio) at which a near spelling is taken for the mention."""


MOST_LETTERS = 1_000_000_000
"""How many letters of a text are looked through for its mentions: its length times its different mentions."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A span of the text, and how it was found: 'given', 'exact', 'normalised' or 'fuzzy'."""

    begin: int
    end: int
    how: str


_LOOK = 20
"""How many letters can be looked through while one place is looked at."""


class Aligner:
    """Finds one mention after another in a text: what is named for the n-th time in its n-th place.

    `spent` is how many letters were looked through for that.

    >>> aligner = Aligner("Paris Hilton in PARIS, Texas")
    >>> [aligner.find(mention) for mention in ("Paris", "paris", "Paris")]
    [Aligned(begin=0, end=5, how='exact'), Aligned(begin=16, end=21, how='normalised'), None]
    >>> aligner.find("Parris Hilton")
    Aligned(begin=0, end=12, how='fuzzy')
    """

    def __init__(self, text: str, threshold: float = THRESHOLD) -> None:
        self.text = text
        self.threshold = threshold
        self.spent = 0
        self._known: dict[str, list[tuple[int, int]]] = {}
        self._gone: set[str] = set()
        self._taken: set[tuple[int, int]] = set()
        self._plain, self._places = _normalise(text)

    def find(self, mention: str, begin: int | None = None, end: int | None = None) -> Aligned | None:
        """Return where a mention stands, the given offsets first; None where the text has it nowhere any more."""
        fits = begin is not None and end is not None and 0 <= begin < end <= len(self.text)
        if fits and (not mention or self.text[begin:end] == mention):
            return self._take(Aligned(begin or 0, end or 0, "given"))
        if not mention.strip() or mention in self._gone:
            return None
        if mention not in self._known:
            self.spent += len(self.text)
            self._known[mention] = list(_occurrences(self.text, mention))
        span = self._choose(self._known[mention], begin)
        if span is not None:
            return self._take(Aligned(*span, "exact"))
        self.spent += len(self.text)
        span = self._choose(list(self._spelt_alike(mention)), begin)
        if span is not None:
            return self._take(Aligned(*span, "normalised"))
        self.spent += len(self.text) * 4
        found = self._nearly(mention)
        if found is None:
            self._gone.add(mention)
        return found

    def _choose(self, spans: list[tuple[int, int]], near: int | None) -> tuple[int, int] | None:
        """Return the first span that no mention has, or the one nearest to the offset given."""
        if near is None:
            place, first = next(
                ((n, span) for n, span in enumerate(spans) if span not in self._taken), (len(spans), None)
            )
            self.spent += place * _LOOK
            return first
        self.spent += len(spans) * _LOOK
        free = [span for span in spans if span not in self._taken]
        return min(free, key=lambda span: abs(span[0] - near), default=None)

    def _take(self, found: Aligned) -> Aligned:
        self._taken.add((found.begin, found.end))
        return found

    def _spelt_alike(self, mention: str) -> Iterator[tuple[int, int]]:
        plain, _ = _normalise(mention)
        for begin, end in _occurrences(self._plain, plain.strip()):
            yield self._places[begin], self._places[end - 1] + 1

    def _nearly(self, mention: str) -> Aligned | None:
        from rapidfuzz import fuzz

        found = fuzz.partial_ratio_alignment(mention, self.text, score_cutoff=self.threshold)
        # A mention longer than the text would be the one that is looked in.
        if found is None or len(mention) > len(self.text) or found.dest_start == found.dest_end:
            return None
        begin, end = found.dest_start, found.dest_end
        while begin > 0 and self.text[begin - 1].isalnum() and self.text[begin].isalnum():
            begin -= 1
        while end < len(self.text) and self.text[end].isalnum() and self.text[end - 1].isalnum():
            end += 1
        if (begin, end) in self._taken or fuzz.ratio(mention, self.text[begin:end]) < self.threshold - 10:
            return None
        return self._take(Aligned(begin, end, "fuzzy"))


def _occurrences(text: str, mention: str) -> Iterator[tuple[int, int]]:
    """Yield where a mention stands, as words of its own where it does anywhere."""
    if not mention:
        return
    whole = list(re.finditer(rf"(?<!\w){re.escape(mention)}(?!\w)", text))
    for match in whole or re.finditer(re.escape(mention), text):
        yield match.span()


def _normalise(text: str) -> tuple[str, list[int]]:
    """Return a text without case, compatibility letters and runs of white space, and where each letter came from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for one in unicodedata.normalize("NFKC", letter).casefold():
            blank = one.isspace()
            if not (blank and letters and letters[-1] == " "):
                letters.append(" " if blank else one)
                places.append(place)
    return "".join(letters), places


def place_named(rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return mentions with offsets where only their form (`anchor`) is told: its n-th place for the n-th of that form.

    Rows have `mention`, `place`, `name` and `text` of the document, `anchor`, `begin`, `end` and `reading`: those of
    one reading of a text may stand where those of another do. What has no place (no form or no text is told, or the
    text does not have it) keeps none; that is counted, and what else is odd.

    >>> row = {"mention": [1, 2], "name": "d", "text": "Ada met Bob", "anchor": "Bob", "reading": ["1", "2"]}
    >>> none = {"place": None, "begin": pl.lit(None, pl.Int64), "end": pl.lit(None, pl.Int64)}
    >>> place_named(pl.DataFrame(row).with_columns(**none), RepairTally()).select("begin", "end").rows()
    [(8, 11), (8, 11)]
    """
    if not rows.select(is_unplaced().any()).item():
        return rows
    told = pl.col("anchor").is_not_null() & pl.col("text").is_not_null()
    named = rows.filter(is_unplaced() & told).sort("mention").group_by("name", "reading", maintain_order=True)
    found = [each for _, some in named for each in _place(some, tally)]
    places = pl.DataFrame(found, schema={"mention": pl.Int64, "_begin": pl.Int64, "_end": pl.Int64}, orient="row")
    rows = rows.join(places.cast({"mention": rows.schema["mention"]}), on="mention", how="left", maintain_order="left")
    # The text may spell it otherwise, which is told already.
    anchor = pl.when(pl.col("_begin").is_null()).then("anchor")
    rows = rows.with_columns(begin=pl.coalesce("begin", "_begin"), end=pl.coalesce("end", "_end"), anchor=anchor)
    left = rows.filter(is_unplaced())
    each = [_tell_unplaced(row) for row in left.head(TOLD).iter_rows(named=True)]
    tally.add("unplaced", "".join(each[:1]), left.height, each)
    return rows.drop("_begin", "_end")


def _tell_unplaced(row: Mapping[str, object]) -> str:
    form = f" of '{row['anchor']}'" if row["anchor"] else ""
    return f"{place_of(row)}: the offsets{form} are not told"


def is_unplaced() -> pl.Expr:
    """Return whether a mention has neither begin nor end."""
    return pl.col("begin").is_null() & pl.col("end").is_null()


def place_of(row: Mapping[str, object]) -> object:
    """Return what messages call the line of a mention."""
    return row["place"] or f"line {row['mention']}"


def _place(rows: pl.DataFrame, tally: RepairTally) -> Iterator[tuple[int, int, int]]:
    """Yield mention, begin and end of those mentions of one text that it has; what is odd is counted."""
    text = rows["text"][0]
    aligner, named = Aligner(text), Counter(rows["anchor"])
    times: dict[str, int] = {}
    for row in rows.select("mention", "anchor", "place").iter_rows(named=True):
        anchor = row["anchor"]
        if aligner.spent > MOST_LETTERS:
            tally.add("not-looked-for", f"{place_of(row)}: too many mentions are looked for in {len(text):,} letters")
            continue
        found = aligner.find(anchor)
        if anchor not in times:
            times[anchor] = text.count(anchor)
        if found is None:
            often = f" is named {named[anchor]} times and stands there {times[anchor]}" if times[anchor] else ""
            tally.add("not-in-text", f"{place_of(row)}: '{anchor}'{often}")
            continue
        if times[anchor] > named[anchor]:
            tally.add("several-places", f"{place_of(row)}: '{anchor}' stands {times[anchor]} times in the text")
        if found.how in ("normalised", "fuzzy"):
            tally.add(f"aligned-{found.how}", f"{place_of(row)}: '{anchor}' is {found.begin},{found.end}")
        yield row["mention"], found.begin, found.end
