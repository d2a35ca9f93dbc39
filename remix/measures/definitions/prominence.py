"""Prominence of the linked entity in the knowledge base's link graph."""

import polars as pl

from remix.measures.declaration import REMIXING, Column, Kind, Measure, Summary, terms_of

_SCORES = {
    "pagerank": ("hfts:pagerank", "PageRank of the entity (damping 0.85)"),
    "hits": ("hfts:hits", "HITS authority of the entity"),
    "hub": ("rmx:hub", "HITS hub score of the entity"),
}
_LABELS = {"pagerank": "PageRank", "hits": "HITS authority", "hub": "HITS hub score"}
_PLACES: dict[str, tuple[Kind, str]] = {
    "rank": (
        "integer",
        "place among the knowledge base's entities that have the score, 1 is best, ties share the better place",
    ),
    "percentile": (
        "double",
        "100 × the share of the knowledge base's entities that have the score, of those with a smaller one and half of "
        "those with the same",
    ),
}


def _columns() -> tuple[Column, ...]:
    scores = [
        Column(term, "double", pl.col(score), meaning, label=_LABELS[score], measured_in="score")
        for score, (term, meaning) in _SCORES.items()
    ]
    places = [
        Column(
            f"rmx:{score}{place.title()}",
            kind,
            pl.col(f"{score}_{place}"),
            f"by {score}: {meaning}",
            label=f"{_LABELS[score]}, {place}",
            measured_in=place,
        )
        for score in _SCORES
        for place, (kind, meaning) in _PLACES.items()
    ]
    return (*scores, *places)


def _summary(name: str, column: str, meaning: str, label: str, measured_in: str) -> Summary:
    terms = {"document": (f"rmx:mean{name[0].upper()}{name[1:]}",), **terms_of(name, "micro", "macro", "distinct")}
    return Summary(
        name=name,
        meaning=meaning,
        terms=terms,
        part=pl.col(column),
        unit="entity",
        of_unit=True,
        label=label,
        measured_in=measured_in,
    )


MEASURE = Measure(
    name="prominence",
    levels=("annotation", "document", "dataset"),
    unit="score, rank, percentile",
    formula="P(e) for P in PageRank, HITS authority, HITS hub over the link graph of the knowledge base",
    citation=f"{REMIXING}, section 2.4",
    high="well-known entities: the most prominent candidate is often right",
    low="long-tail entities: a prior misleads",
    empty="entities outside the link graph have no value",
    needs=("entities",),
    columns=_columns(),
    summaries=(
        *(
            _summary(score, score, f"mean of {meaning}", _LABELS[score], "score")
            for score, (_, meaning) in _SCORES.items()
        ),
        *(
            _summary(
                f"{score}Percentile",
                f"{score}_percentile",
                f"mean percentile by {score}",
                f"{_LABELS[score]}, percentile",
                "percentile",
            )
            for score in ("pagerank", "hits")
        ),
    ),
)
