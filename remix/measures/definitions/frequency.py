"""Frequency: how often a form and an entity come in a dataset, and how the entities of a form share its mentions."""

import polars as pl

from remix.measures.codes import pair_codes, places_in, take_rows
from remix.measures.corpus import Corpus
from remix.measures.declaration import LONG_TAIL, Column, Measure, Summary, terms_of


def _frequencies(corpus: Corpus) -> pl.DataFrame:
    """Return how often the form and the entity come in D, the entropy of the form, and the entity's rank in it."""
    annotations = corpus.annotations
    ranks = corpus.whole.meaning_ranks
    places = places_in(ranks["pair"], pair_codes(annotations, "form_code", "entity_code"))
    frequencies = take_rows(corpus.whole.form_frequencies, annotations["form_code"])
    return frequencies.with_columns(
        corpus.whole.entity_frequencies.gather(annotations["entity_code"]).alias("entity_frequency"),
        ranks["rank"].gather(places).alias("meaning_rank"),
    )


MEASURE = Measure(
    name="frequency",
    levels=("annotation", "document", "dataset"),
    unit="count; bits; rank",
    formula="n(s), n(e): annotations of D with the form, links of D to the entity; "
    "entropy of the form: −Σ P(e | s) log2 P(e | s), P(e | s) = n(s, e) / Σ n(s, ·); rank of e by n(s, e), "
    "equals share the better one",
    citation=LONG_TAIL,
    high="frequency: head of the dataset; entropy: the form means several entities about as often; "
    "rank: the form usually means something else",
    low="frequency: the long tail of the dataset; entropy of 0: the form means one entity throughout; "
    "rank of 1: no entity is meant more often",
    empty="the entity side, and the rank, are absent for NIL; a form that is NIL throughout has no entropy",
    prepare=_frequencies,
    columns=(
        Column(
            "rmx:formFrequency",
            "integer",
            pl.col("form_frequency"),
            "how many annotations have the surface form",
            label="occurrences of the name",
            measured_in="annotations",
        ),
        Column(
            "rmx:entityFrequency",
            "integer",
            pl.col("entity_frequency"),
            "how many links mean the entity",
            label="occurrences of the entity",
            measured_in="annotations",
        ),
        Column(
            "rmx:formEntropy",
            "double",
            pl.col("form_entropy"),
            "entropy, in bits, of the entities that annotations of the surface form are linked to",
            label="entropy of the name",
            measured_in="bits",
        ),
        Column(
            "rmx:meaningRank",
            "integer",
            pl.col("meaning_rank"),
            "rank of the entity among those of the surface form, by how many annotations are linked to it",
            label="rank of the reading",
            measured_in="rank",
        ),
    ),
    summaries=(
        Summary(
            name="formFrequency",
            meaning="mean frequency of the surface form",
            terms=terms_of("meanFormFrequency", "document", "micro", "macro", "distinct"),
            part=pl.col("form_frequency"),
            unit="key",
            of_unit=True,
            label="occurrences of the name",
            measured_in="annotations",
        ),
        Summary(
            name="entityFrequency",
            meaning="mean frequency of the entity",
            terms=terms_of("meanEntityFrequency", "document", "micro", "macro", "distinct"),
            part=pl.col("entity_frequency"),
            unit="entity",
            of_unit=True,
            label="occurrences of the entity",
            measured_in="annotations",
        ),
        Summary(
            name="formEntropy",
            meaning="mean entropy of the surface form, in bits",
            terms=terms_of("meanFormEntropy", "document", "micro", "macro", "distinct"),
            part=pl.col("form_entropy"),
            unit="key",
            of_unit=True,
            label="entropy of the name",
            measured_in="bits",
        ),
    ),
)
