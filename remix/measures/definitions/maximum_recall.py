"""Maximum recall: the share of surface forms that a dictionary knows at all."""

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import REMIXING, STEINMETZ, Column, Measure, Summary, terms_of

_KNOWN = pl.col("w_entities") > 0
# A form that is unknown, but only of alternatives of mentions that have a known one, keeps no mention from being found.
_NEEDED = pl.when(_KNOWN | ~pl.col("form_reached")).then(_KNOWN)
_NEEDED_IN_DOCUMENT = pl.when(_KNOWN | pl.col("form_needed")).then(_KNOWN)


def _find_reachable(corpus: Corpus) -> pl.DataFrame:
    """Return whether the mention has an option whose forms are known, and whether a mention of the document needs the
    form for that."""
    rows = corpus.annotations.select("document_code", "form_code", "w_entities")
    reached = corpus.best_option(rows.select(_KNOWN).to_series()).alias("form_reached")
    needed = (~pl.col("form_reached")).any().over("document_code", "form_code")
    return rows.with_columns(reached).select("form_reached", form_needed=needed)


MEASURE = Measure(
    name="maximum-recall",
    levels=("annotation", "document", "dataset"),
    unit="share",
    formula="1 − |S^d ∖ W| / |S^d| (9) over distinct surface forms; micro takes the dataset as one "
    "document; of alternatives the best counts",
    citation=f"{REMIXING}, section 2.7, formula (9); {STEINMETZ}",
    high="a linker with this dictionary may find everything",
    low="a linker with this dictionary cannot reach a higher recall than this",
    empty="a document without annotations has no value and is left out of the macro average; annotations without text "
    "have none",
    needs=("surface_forms",),
    prepare=_find_reachable,
    columns=(
        Column(
            "rmx:inDictionary",
            "boolean",
            _KNOWN,
            "whether the dictionary knows the surface form",
            label="name in the dictionary",
        ),
    ),
    summaries=(
        Summary(
            name="maxRecall",
            meaning="share of distinct surface forms that the dictionary knows",
            terms=terms_of("hfts:maxRecall", "document", "micro", "macro"),
            part=_NEEDED,
            unit="key",
            over="key",
            own=(_NEEDED_IN_DOCUMENT, pl.lit(1.0), "document_forms"),
            is_share=True,
            label="maximum recall",
        ),
        Summary(
            name="maxRecallPooled",
            meaning="share of annotations whose surface form the dictionary knows, as the hfts library counts",
            terms={"micro": ("rmx:maxRecallPooled",)},
            part=pl.col("form_reached"),
            is_share=True,
            label="maximum recall, pooled",
        ),
    ),
)
