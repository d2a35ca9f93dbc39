"""Normalised surface forms."""

from __future__ import annotations

import unicodedata

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from remix.kb import forms, normalise
from remix.kb.forms import keys

LETTERS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x58F, exclude_categories=["Cc", "Cn"]), max_size=20)


def normal(form: str, *, case_sensitive: bool = False) -> str:
    made = pl.DataFrame({"form": [form]}).select(normalise(pl.col("form"), case_sensitive=case_sensitive))
    return str(made.item())


@given(LETTERS)
def test_normalise_when_letters_are_of_any_script_then_it_casefolds_like_python(form: str) -> None:
    spaced = " ".join(unicodedata.normalize("NFC", form).replace("_", " ").split())
    assert normal(form) == unicodedata.normalize("NFC", spaced.casefold())


@given(LETTERS)
@example("İ\u0316")
def test_normalise_when_repeated_then_nothing_changes(form: str) -> None:
    assert normal(normal(form)) == normal(form)


def test_normalise_when_case_sensitive_then_only_spaces_and_composition_change() -> None:
    assert normal("  New_York\u00a0\tCity ", case_sensitive=True) == "New York City"
    assert normal("Cafe\u0301", case_sensitive=True) == "Caf\u00e9"


def test_normalise_when_capitals_and_ligatures_then_they_fold() -> None:
    assert normal("STRASSE") == normal("Straße") == normal("strasse")
    assert normal("ﬁnal") == "final"
    assert normal("ΟΔΟΣ") == normal("οδος") == normal("οδοσ")


def test_normalise_when_letters_are_letterforms_of_one_then_all_are_that_letter() -> None:
    # Unicode's CaseFolding.txt: U+1C80 to U+1C88 are forms of в, д, о, с, т (twice), ъ, ѣ and ꙋ.
    assert normal("ᲀᲁᲂᲃᲄᲅᲆᲇᲈ") == "вдосттъѣꙋ"
    assert normal("Мᲂᲃква") == normal("МОСКВА") == "москва"


def test_normalise_of_every_letter_is_equal_where_their_casefolds_are() -> None:
    # Letters without case (Lo), such as those of Chinese, are most of all.
    kinds = ("Cn", "Cs", "Cc", "Co", "Lo")
    every = [chr(code) for code in range(0x20, 0x20000) if unicodedata.category(chr(code)) not in kinds]
    form = unicodedata.normalize
    folds = [" ".join(form("NFC", form("NFC", one).replace("_", " ").casefold()).split()) for one in every]
    pairs = pl.DataFrame({"form": every, "fold": folds}).select("fold", key=normalise(pl.col("form"))).unique()
    # Each fold has one key, and no key is that of two folds.
    assert pairs.height > 5_000
    assert pairs["fold"].n_unique() == pairs["key"].n_unique() == pairs.height


def test_keys_of_plain_forms_are_normalised_whatever_their_letters() -> None:
    codes = [*range(1, 0x3100), *range(0x4E00, 0xA000, 97), *range(0xAC00, 0xD800, 97), *range(0xF900, 0x10000)]
    letters = pl.Series([chr(code) for code in codes])
    column = pl.concat([letters, "A" + letters, letters + "b", "A" + letters + "\u03a3", "A " + letters + " b"])
    assert column.str.contains(forms._PLAIN).sum() > 4_000
    assert keys(column).equals(column.to_frame("form").select(normalise(pl.col("form"))).to_series())


@given(st.lists(st.none() | LETTERS | st.text(st.sampled_from("Ab _\t\u0301ßÉ"), max_size=5), max_size=6))
def test_keys_are_the_normalised_forms(given: list[str | None]) -> None:
    column = pl.Series(given, dtype=pl.String)
    assert keys(column).equals(column.to_frame("form").select(normalise(pl.col("form"))).to_series())
