"""IRIs: which are legal, and what an illegal one becomes before it enters the store.

Legal is what the store's own parser takes (RFC 3987): it loads without looking, but reads back only what is legal, so
that one illegal IRI would end every query that meets it. An illegal IRI is mended by percent-encoding what it may not
hold; an identifier that is no IRI becomes one under `urn:remix:entity:`, and comes back from there as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import polars as pl

from remix.errors import UsageError

PLAIN = "urn:remix:entity:"
"""Where entities stand in RDF that are no IRIs: identifiers of files in other formats."""

ENCODED: dict[str, str] = {letter: quote(letter) for letter in '"<>[\\]^`{|}'}
"""The printable ASCII characters that no IRI may hold, percent-encoded; a space is one of them, too."""

_NEVER = [" ", *(letter for letter in ENCODED if letter not in "[]")]
"""The characters that stand nowhere in an IRI; brackets stand around a host."""

_BESIDES = r"^\s|\s$|^[^/]*//[^/?#]*:(?:[/?#]|$)"
"""What is mended besides: outer white space, and a colon behind a host without a port."""

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
# In polars' dialect. Each class leaves out what no part of an IRI may hold, and what ends this part.
_FOREIGN = (
    r"\x00-\x20<>\"{}|^`\\%\[\]#\x7F-\x9F\x{E000}-\x{F8FF}\x{FDD0}-\x{FDEF}\x{FFF0}-\x{FFFF}\x{1FFFE}\x{1FFFF}"
    r"\x{2FFFE}\x{2FFFF}\x{3FFFE}-\x{10FFFF}"
)
_ANY = rf"(?:[^{_FOREIGN}]|%[0-9A-Fa-f]{{2}})*"
_HOST = rf"(?:[^{_FOREIGN}/?:@]|%[0-9A-Fa-f]{{2}})*(?::[0-9]*)?"
_NO_SLASH = rf"(?:[^{_FOREIGN}/]|%[0-9A-Fa-f]{{2}})"
_PLAINLY = rf"^{_SCHEME}(?://{_HOST}(?:[/?]{_ANY})?|/?(?:{_NO_SLASH}{_ANY})?)(?:#{_ANY})?$"
"""Nearly all legal IRIs, told without a parser; of the others it is asked."""
_WORD = r"^[A-Za-z0-9_.~-]+$"

_ILLEGAL = re.compile(
    '[\x00-\x20<>"{}|^`\\\\\\[\\]\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U0001fffe\U0001ffff'
    "\U0002fffe\U0002ffff"
    # The planes above hold no letters so far, and may be in IRIs all the same, but for their last two places.
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x30000, 0xE0000, 0x10000))
    + "\U000e0000-\U000e0fff\U000efffe-\U0010ffff]|%(?![0-9A-Fa-f]{2})"
)


def is_legal(iris: pl.Expr) -> pl.Expr:
    """Return whether each value is a legal IRI with a scheme; null stays null.

    >>> rows = pl.DataFrame({"iri": ["http://x/a#b", "http://x/a#b#c", "x%", "urn:x:%"]})
    >>> rows.select(is_legal(pl.col("iri"))).to_series().to_list()
    [True, False, False, False]
    """
    return iris.map_batches(_legality, return_dtype=pl.Boolean)


def _legality(iris: pl.Series) -> pl.Series:
    plainly = iris.str.contains(_PLAINLY)
    odd = iris.filter(~plainly).unique()
    found = [iri for iri in odd if _parses(iri)]
    return plainly | iris.is_in(found) if found else plainly


def is_absolute(iris: pl.Expr) -> pl.Expr:
    """Return whether each value begins with a scheme, as an IRI does; null stays null."""
    return iris.str.contains(f"^{_SCHEME}")


def legal(iris: pl.Expr) -> pl.Expr:
    """Return each IRI as a legal one; what has no scheme stays as it is, and so does null.

    >>> rows = pl.DataFrame({"iri": ["http://x/a b#c#d", "http://x/%41%", "E 5%"]})
    >>> rows.select(legal(pl.col("iri"))).to_series().to_list()
    ['http://x/a%20b#c%23d', 'http://x/%41%25', 'E 5%']
    """
    pattern = f"{_PLAINLY}|^(?:{_WORD[1:-1]})$"
    return iris.map_batches(
        lambda column: _mend(column, pattern, lambda iri: legal_iri(iri) if re.match(_SCHEME, iri.strip()) else iri),
        return_dtype=pl.String,
    )


def entity_iri(entities: pl.Expr) -> pl.Expr:
    """Return the IRI that stands for an entity in RDF: itself where it is one, made legal, else a URN.

    >>> rows = pl.DataFrame({"entity": ["http://x/a b", "E 5%"]})
    >>> rows.select(entity_iri(pl.col("entity")))["entity"].to_list()
    ['http://x/a%20b', 'urn:remix:entity:E%205%25']
    """
    return entities.map_batches(_entity_iris, return_dtype=pl.String)


def _entity_iris(entities: pl.Series) -> pl.Series:
    one = pl.col("one")
    named = pl.when(one.str.contains(_WORD)).then(pl.lit(PLAIN) + one).otherwise(one)
    spelt = entities.to_frame("one").select(named).to_series().alias(entities.name)
    return _mend(spelt, _PLAINLY, iri_of_entity)


def iri_of_entity(entity: str) -> str:
    """Return the IRI that stands for one entity, as `entity_iri` does for a column.

    >>> iri_of_entity("foo bar>baz"), iri_of_entity("http://x/a>b")
    ('urn:remix:entity:foo%20bar%3Ebaz', 'http://x/a%3Eb')
    """
    if re.match(_SCHEME, entity):
        return legal_iri(entity)
    plain = _encode(entity.replace("%", "%25").replace("#", "%23"))
    return PLAIN + plain if _parses(PLAIN + plain) else PLAIN + quote(entity, safe="")


def _mend(iris: pl.Series, pattern: str, mend: Callable[[str], str]) -> pl.Series:
    """Return the IRIs with those that do not match the pattern mended, each of them once."""
    fine = iris.str.contains(pattern).fill_null(True)
    odd = iris.filter(~fine)
    if odd.is_empty():
        return iris
    # What lacks nothing but the encoding of some characters is mended without a look at each.
    mended = odd.str.replace_many(_NEVER, [quote(letter) for letter in _NEVER])
    plainly = mended.str.contains(_PLAINLY) & ~odd.str.contains(_BESIDES)
    others = odd.filter(~plainly).unique()
    if len(others):
        found = odd.replace(others, pl.Series([mend(iri) for iri in others], dtype=pl.String))
        mended = mended.zip_with(plainly, found)
    return iris.clone().scatter((~fine).arg_true(), mended)


def plain_entity(iris: pl.Expr) -> pl.Expr:
    """Return the entity that an IRI stands for, the way back from `entity_iri` for what is no IRI.

    >>> rows = pl.DataFrame({"iri": ["http://x/a%20b", "urn:remix:entity:E%205%25"]})
    >>> rows.select(plain_entity(pl.col("iri")))["iri"].to_list()
    ['http://x/a%20b', 'E 5%']
    """
    return pl.when(iris.str.starts_with(PLAIN)).then(iris.map_batches(_plain, return_dtype=pl.String)).otherwise(iris)


def _plain(iris: pl.Series) -> pl.Series:
    spelt = iris.filter(iris.str.starts_with(PLAIN).fill_null(False)).unique()
    return iris.replace(spelt, pl.Series([unquote(iri.removeprefix(PLAIN)) for iri in spelt], dtype=pl.String))


def legal_iri(iri: str) -> str:
    """Return an IRI with a scheme as a legal one: outer spaces go, what it may not hold is percent-encoded.

    Legal ones stay as they are.

    >>> legal_iri(" http://x/a b#c#d ")
    'http://x/a%20b#c%23d'
    >>> legal_iri("http://x:y/100%")
    'http://x%3Ay/100%25'
    """
    if _parses(iri):
        return iri
    scheme, _, rest = iri.strip().partition(":")
    mended = _encode(rest)
    if rest.startswith("//"):
        authority, tail = re.fullmatch(r"//([^/?#]*)(.*)", mended, re.DOTALL).groups()  # type: ignore[union-attr]
        mended = f"//{_authority(authority)}{tail}"
    whole = f"{scheme}:{mended}"
    return whole if _parses(whole) else f"{scheme}:{quote(rest, safe='/', errors='replace')}"


def legal_reference(iri: str) -> str:
    """Return an IRI, or one that is relative to another, as a legal one.

    >>> legal_reference("d#1#2"), legal_reference("1a:b c")
    ('d#1%232', '1a%3Ab%20c')
    """
    stripped = iri.strip()
    if re.match(_SCHEME, stripped):
        return legal_iri(iri)
    if ":" in (first := re.split(r"[/?#]", stripped, maxsplit=1)[0]):
        stripped = first.replace(":", "%3A") + stripped[len(first) :]
    return iri if stripped == iri and _parses(f"x:{iri}") else legal_iri(f"x:{stripped}").removeprefix("x:")


def dataset_iri(name: str, base: str = "urn:remix:dataset:") -> str:
    """Return the IRI of the dataset of that name.

    Raises `UsageError` for a base that no IRI begins with, or behind which no annotation could be named.

    >>> dataset_iri("kore50")
    'urn:remix:dataset:kore50'
    """
    if "#" in base or not re.match(_SCHEME, base) or not _parses(base + "x"):
        raise UsageError(
            f"'{base}' begins no IRI of a dataset: give one such as urn:remix:dataset: or https://example.org/ "
            "(without '#', which begins the names of annotations)"
        )
    return base + _encode(name).replace("#", "%23")


def _parses(iri: str) -> bool:
    from pyoxigraph import NamedNode

    try:
        NamedNode(iri)
    except ValueError:
        return False
    return True


def _encode(text: str) -> str:
    """Return a text with all that no IRI may hold percent-encoded, a second `#` among it."""
    before, mark, fragment = _ILLEGAL.sub(_percent, text).partition("#")
    return before + mark + fragment.replace("#", "%23")


def _percent(match: re.Match[str]) -> str:
    letter = match[0]
    return quote("\ufffd" if "\ud800" <= letter <= "\udfff" else letter, safe="")


def _authority(authority: str) -> str:
    """Return user, host and port with what only separates them encoded where it does not."""
    user, at, host = authority.rpartition("@")
    name, colon, port = host.rpartition(":")
    if not (colon and port.isascii() and port.isdigit()):
        name, colon, port = host, "", ""
    return user.replace("@", "%40") + at + name.replace(":", "%3A") + colon + port
