"""Surface forms as they are matched."""

from __future__ import annotations

import polars as pl

from remix.iris import CASELESS


def _folds() -> dict[str, str]:
    """Return what casefolding changes beyond lower case: ß to ss, ς to σ, ᲂ to о, ligatures to their letters.

    polars has no casefold: what changes is what Python's Unicode data say. What casefolds to its own capital, as
    Cherokee does, is left in lower case. Letters with case are in the first two planes.
    """
    folded: dict[str, str] = {}
    for first in range(0x80, 0x20000, 0x80):
        letters = "".join(map(chr, range(first, first + 0x80)))
        if letters.casefold() != letters.lower():  # most blocks have no such letter, which takes no time to see
            folded |= {letter: letter.casefold() for letter in letters if letter.lower() == letter}
    return {letter: fold for letter, fold in folded.items() if letter not in (fold, fold.lower())}


_FOLDS = _folds()


def normalise(form: pl.Expr, *, case_sensitive: bool = False) -> pl.Expr:
    """Return the form under which mentions and dictionary entries are compared: NFC, `_` as space, casefolded.

    Lower case comes from polars, which has no casefold; the letters that casefold differently (ß, ς, ﬁ, …) are
    replaced after it. `case_sensitive` keeps case.

    >>> pl.DataFrame({"x": ["New_York  City", " STRASSE", "Straße"]}).select(normalise(pl.col("x")))["x"].to_list()
    ['new york city', 'strasse', 'strasse']
    """
    spaced = form.str.normalize("NFC").str.replace_all(r"[\s_]+", " ").str.strip_chars(" ")
    if case_sensitive:
        return spaced
    folded = spaced.str.to_lowercase().str.replace_many(list(_FOLDS), list(_FOLDS.values()))
    # Folding takes some letters apart (İ, ΰ): without composing again two spellings of one form would differ.
    return folded.str.normalize("NFC")


# Letters that nothing but lower case changes, with single spaces between them.
_LETTERS = (
    r"!-^`-~\x{A1}-\x{B4}\x{B6}-\x{DE}\x{E0}-\x{12F}\x{131}-\x{148}\x{14A}-\x{17E}\x{180}-\x{1EF}\x{1F1}-\x{2FF}"
    r"\x{386}\x{388}-\x{38A}\x{38C}\x{38E}\x{38F}\x{391}-\x{3A1}\x{3A4}-\x{3AF}\x{3B1}-\x{3C1}\x{3C3}-\x{3CE}"
    rf"\x{{400}}-\x{{482}}\x{{48A}}-\x{{52F}}{CASELESS}"
)
_PLAIN = f"^[{_LETTERS}]+(?: [{_LETTERS}]+)*$"


def keys(forms: pl.Series) -> pl.Series:
    """Return `normalise` of a column; the forms of plain letters, most of those of a dump, take a short way.

    >>> keys(pl.Series(["New York", "Straße", None])).to_list()
    ['new york', 'strasse', None]
    """
    is_plain = forms.str.contains(_PLAIN).fill_null(True)
    others = forms.filter(~is_plain).to_frame("form").select(normalise(pl.col("form"))).to_series()
    if others.is_empty():
        return forms.str.to_lowercase()
    # The n-th of the others stands where the n-th of them stood.
    nth = (~is_plain).cast(pl.Int64).cum_sum() - 1
    pairs = pl.DataFrame({"form": forms, "other": others.gather(nth.clip(0)), "plain": is_plain})
    short = pl.col("form").str.to_lowercase()
    return pairs.select(pl.when("plain").then(short).otherwise("other").alias(forms.name)).to_series()
