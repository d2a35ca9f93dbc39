"""Where the mentions of an answer stand: offsets of any convention, held against the forms that are told.

Offsets of services count code points, UTF-16 units or bytes, some ends are inclusive, and some are wrong. Where the
form of a mention is told, it decides: offsets that do not lead to it are moved to where it stands, which is counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from itertools import accumulate

from remix.connections import Failure
from remix.formats.alignment import Aligner
from remix.names import DBR, PREFIXES
from remix.systems.asked import LinkedSpan, Span

UNITS: dict[str, Callable[[str], int]] = {
    "code points": lambda letter: 1,
    "utf-16": lambda letter: 1 + (letter > "\uffff"),
    "bytes": lambda letter: len(letter.encode("utf-8", "surrogatepass")),
}
"""What offsets count, and how many of it a letter is."""


class Placing:
    """Places the mentions of one text, one after the other, and counts in `told` what was odd.

    >>> placing = Placing("\N{GRINNING FACE} Ada met Ada", unit="utf-16")
    >>> placing.place(3, 6, "Ada"), placing.place(3, 6, "Ada"), placing.place(None, None, "Bob"), dict(placing.told)
    ((2, 5), (10, 13), None, {'moved': 1, 'not-in-text': 1})
    """

    def __init__(self, text: str, unit: str = "code points", *, spans: tuple[Span, ...] | None = None) -> None:
        """Begin with the first mention; where offsets are not told, it is that of the `spans` asked about."""
        self.text, self.told = text, Counter[str]()
        self._spans = spans or ()
        self._aligner = Aligner(text)
        # Of most texts every letter is one unit.
        plain = unit == "code points" or text.isascii()
        self._before = None if plain else [0, *accumulate(map(UNITS[unit], text))]
        self._taken: set[Span] = set()

    def place(self, begin: int | None, end: int | None, form: str | None = None) -> Span | None:
        """Return begin and end in code points; None where the text does not have the mention, which is counted."""
        said = None if begin is None or end is None else (self._point(begin), self._point(end))
        fits = said is not None and (form is None or self._has(*said, form))
        if said is not None and fits and (form is None or said not in self._taken):
            return self._take(said)
        found = self._find(form, said) if form else None
        if found is None and said is not None and fits:  # a second answer on one span
            return said
        if found is None:
            self.told["not-in-text"] += 1
            return None
        if said is not None and said != found:
            self.told["moved"] += 1
        return self._take(found)

    def _find(self, form: str, said: Span | None) -> Span | None:
        """Return where a form stands that no mention has yet: in a span asked about, else nearest to what is said."""
        if said is None:
            for span in self._spans:
                if span not in self._taken and self._has(*span, form):
                    return span
        while (found := self._aligner.find(form, None if said is None else said[0])) is not None:
            if (found.begin, found.end) not in self._taken:
                return found.begin, found.end
        return None

    def _take(self, span: Span) -> Span:
        self._taken.add(span)
        return span

    def _has(self, begin: int, end: int, form: str) -> bool:
        return 0 <= begin < end and self.text[begin:end].casefold() == form.casefold()

    def _point(self, offset: int) -> int:
        """Return an offset in code points; what is outside the text stays outside."""
        if self._before is None:
            return offset
        return bisect_left(self._before, offset) if offset <= self._before[-1] else len(self._before) + offset


def entity_iri_of(said: object, language: str = "en") -> str | None:
    """Return the IRI of what a system calls an entity: an IRI, an item of Wikidata, or a title of Wikipedia; None: NIL.

    >>> [entity_iri_of(one) for one in ("New York", "Q60", "", None)]
    ['http://dbpedia.org/resource/New_York', 'http://www.wikidata.org/entity/Q60', None, None]
    >>> entity_iri_of("Köln", "de")
    'http://de.dbpedia.org/resource/Köln'
    """
    text = str(said if said is not None else "").strip().removeprefix("<").removesuffix(">")
    if text in ("", "NIL", "nil", "None", "null", "unk_wiki", "#UNK#", "*"):
        return None
    prefix, colon, rest = text.partition(":")
    if text.startswith(("http://", "https://", "urn:")):
        return text
    if colon and prefix in PREFIXES and not rest.startswith(("_", " ")):
        return f"{PREFIXES[prefix]}{rest}"
    if text[0] in "QP" and text[1:].isdecimal():
        return f"http://www.wikidata.org/entity/{text}"
    own = DBR if language == "en" else f"http://{language}.dbpedia.org/resource/"
    return f"{own}{text.replace(' ', '_')}"


def read_offset(said: object) -> int | None:
    """Return an offset, a number or a text that is one; None where none is told; raises `Failure` for anything else.

    >>> read_offset("12"), read_offset(3.0), read_offset(None)
    (12, 3, None)
    """
    if said is None:
        return None
    number = read_number(said, "an offset")
    if number is None or number != int(number):
        raise Failure(f"answered '{said}' as an offset")
    return int(number)


def read_number(said: object, what: str = "a confidence") -> float | None:
    """Return a number, or a text that is one; None where none is told; raises `Failure` for anything else."""
    if said is None or said == "":
        return None
    try:
        number = float("nan") if isinstance(said, bool) else float(str(said))
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise Failure(f"answered '{str(said)[:40]}' as {what}")
    return number


def link(span: Span, entity: str | None, confidence: float | None = None) -> LinkedSpan:
    """Return a span that is linked to an entity, or to none."""
    return LinkedSpan(*span, (entity,) if entity else (), confidence)
