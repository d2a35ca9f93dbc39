"""Surface forms as they are matched: NFC, `_` to space, white space collapsed, casefolded."""

from __future__ import annotations

from itertools import chain

import polars as pl

__all__ = ["keys", "normalise"]


def _folds() -> dict[str, str]:
    """Return what casefolding changes beyond lower case: ß to ss, ς to σ, ligatures to their letters.

    polars has no casefold. The blocks are those in which Unicode's CaseFolding.txt and lower case differ;
    Cherokee, which casefolds to its capitals, is left in lower case.
    """
    blocks = chain(range(0x80, 0x590), range(0x1E00, 0x2000), range(0xFB00, 0xFB18))
    folded = {chr(code): chr(code).casefold() for code in blocks if chr(code).lower() == chr(code)}
    return {letter: fold for letter, fold in folded.items() if fold != letter}


_FOLDS = _folds()


def normalise(form: pl.Expr, *, case_sensitive: bool = False) -> pl.Expr:
    """Return the form under which mentions and dictionary entries are compared.

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
_PLAIN = r"^[!-^`-~]+(?: [!-^`-~]+)*$"


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
