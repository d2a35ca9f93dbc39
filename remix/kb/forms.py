"""Surface forms as they are matched: NFC, `_` to space, white space collapsed, casefolded."""

from __future__ import annotations

from itertools import chain

import polars as pl

__all__ = ["normalise"]


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
