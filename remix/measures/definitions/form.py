"""What a surface form looks like: lower-cased, several words, numeric or temporal, acronym; and metonyms."""

import polars as pl

from remix.measures.codes import take_rows
from remix.measures.corpus import Corpus
from remix.measures.declaration import FAIR, FINE_GRAINED, Column, Measure, Summary, terms_of

_FORM = pl.col("surface_form")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NUMBERS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|"
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
)
_NUMERIC = rf"(?i)^(?:[\d.,:/%$€£°'\- ]*\d[\d.,:/%$€£°'\- ]*(?:st|nd|rd|th|s)?|{_MONTHS}|{_DAYS}|{_NUMBERS})$"
_DATE = rf"(?i)^(?:(?:{_MONTHS}|{_DAYS}|\d+(?:st|nd|rd|th)?),? ?)+$"
_ACRONYM = r"^(?:\p{Lu}[\p{Lu}\d&-]{1,5}s?|(?:\p{Lu}\.){2,6})$"

# The first letter is a small one; digits, signs and quotation marks before it are none.
_SMALL = _FORM.str.contains(r"^\P{L}*\p{Ll}")
_SEVERAL = _FORM.str.strip_chars().str.contains(r"\s")

_PATTERNS = {
    "formLowercased": (
        "has letters, none of them a capital",
        _FORM.str.contains(r"\p{L}") & ~_FORM.str.contains(r"[\p{Lu}\p{Lt}]"),
    ),
    "formMultiword": ("has several words", _SEVERAL),
    "formLowercaseInitial": ("has a small first letter (ELEVANT's 'lower')", _SMALL),
    "formMultiwordCapitalised": (
        "has several words and no small first letter (ELEVANT's 'multiword')",
        _SEVERAL & ~_SMALL,
    ),
    "formNumeric": ("is a number or a date (English words)", _FORM.str.contains(_NUMERIC) | _FORM.str.contains(_DATE)),
    "formAcronym": ("is an acronym of two to six capitals", _FORM.str.contains(_ACRONYM)),
}
_LABELS = {
    "formLowercased": "names without a capital",
    "formMultiword": "names of several words",
    "formLowercaseInitial": "names with a small first letter",
    "formMultiwordCapitalised": "names of several words, capitalised",
    "formNumeric": "numbers and dates",
    "formAcronym": "acronyms",
    "formDemonym": "demonyms",
    "formMetonym": "metonyms",
}
_TOLD = ("formLowercased", "formMultiword", "formNumeric", "formAcronym")
_FORMS = {
    **{name: meaning for name, (meaning, _) in _PATTERNS.items()},
    "formDemonym": "is a demonym of a place, as Dutch is",
    "formMetonym": "names a place by its top candidate, is no demonym, and means neither place nor person",
}


def _looks(corpus: Corpus) -> pl.DataFrame:
    """Return whether each pattern holds, which is asked once for each different form; and demonymy and metonymy."""
    forms, places = corpus.distinct_forms
    found = forms.to_frame("surface_form").select(value.alias(name) for name, (_, value) in _PATTERNS.items())
    demonyms = corpus.whole.demonyms.gather(corpus.annotations["name_code"])
    return take_rows(found, places).with_columns(demonyms.alias("formDemonym"), _metonyms(corpus, demonyms))


def _metonyms(corpus: Corpus, demonyms: pl.Series) -> pl.Series:
    """Return whether the entity is neither place nor person while a top candidate of its form is a place.

    Demonyms mean a people or a language, and are none.
    """
    if corpus.kb is None:
        return corpus.annotations.select(formMetonym=pl.repeat(None, pl.len(), dtype=pl.Boolean)).to_series()
    names = corpus.annotations["name_code"]
    place = corpus.whole.names_of_places.gather(names) & ~demonyms.fill_null(False)
    other = pl.when("typed").then(~(pl.col("place") | pl.col("person")))
    return corpus.coarse_flags.select(formMetonym=pl.when(names.is_not_null()).then(other & place)).to_series()


MEASURE = Measure(
    name="form",
    levels=("annotation", "document", "dataset"),
    unit="yes or no; shares",
    formula="patterns over the characters of s; demonym: the knowledge base has s as demonym of a place; "
    "metonym: a top candidate of s is a place, s no demonym, e neither place nor person",
    citation=f"{FINE_GRAINED}, section 3.1; {FAIR}, Table 3: its columns 'lower' and 'multiword' come out as "
    "formLowercaseInitial and formMultiwordCapitalised of the first reading of each mention; shares here weigh all",
    high="lower-cased, numeric: common words and figures are annotated; acronym, metonym: hard by name alone",
    low="names in the narrow sense",
    empty="annotations without text have no value; metonymy is absent where a top candidate is a place and the entity "
    "has no type, demonymy where the knowledge base has no demonyms",
    prepare=_looks,
    columns=tuple(
        Column(f"rmx:{name}", "boolean", pl.col(name), f"whether the surface form {meaning}", label=_LABELS[name])
        for name, meaning in _FORMS.items()
    ),
    summaries=tuple(
        Summary(
            name=name,
            meaning=f"share of annotations whose surface form {meaning}",
            terms=terms_of(f"{name}Share", "document", "micro", "macro"),
            part=pl.col(name),
            is_share=True,
            label=_LABELS[name],
            is_told=name in _TOLD,
        )
        for name, meaning in _FORMS.items()
    ),
)
