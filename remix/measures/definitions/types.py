"""Types of the linked entities: persons, organisations, places, other types, no type."""

import polars as pl

from remix.measures.declaration import REMIXING, STEINMETZ, Measure, Summary, terms_of
from remix.vocabularies import COARSE_CLASSES

_ANY = pl.any_horizontal(*COARSE_CLASSES)
_GROUPS = {
    "typePerson": ("are persons", pl.col("person")),
    "typeOrganisation": ("are organisations", pl.col("organisation")),
    "typePlace": ("are places", pl.col("place")),
    "typeOther": ("have a type, but none of person, organisation, place", pl.col("typed") & ~_ANY),
    "typeNone": ("have no type", ~pl.col("typed")),
    "typeUnspecified": ("are neither person nor organisation nor place (Table 3 of the paper)", ~_ANY),
}

_LABELS = {
    "typePerson": "persons",
    "typeOrganisation": "organisations",
    "typePlace": "places",
    "typeOther": "entities of other types",
    "typeNone": "entities without a type",
    "typeUnspecified": "neither persons nor organisations nor places",
}
_TOLD = ("typePerson", "typeOrganisation", "typePlace")

MEASURE = Measure(
    name="types",
    levels=("annotation", "document", "dataset"),
    unit="classes; shares",
    formula="E^D(T) = {e ∈ E^D : e ∈ E^T} (10); classes overlap, so the shares may sum up to more than 1",
    citation=f"{REMIXING}, section 2.8, formula (10) and Table 3; {STEINMETZ}",
    high="the dataset is focused on this type",
    low="a system that is made for this type is not well tested here",
    empty="an entity without any class counts as untyped; NIL has no entity and is in neither part nor whole",
    prepare=lambda corpus: corpus.coarse_flags,
    summaries=tuple(
        Summary(
            name=name,
            meaning=f"share of annotations whose entities {meaning}",
            terms=terms_of(name),
            part=pl.when(pl.col("entity").is_not_null()).then(part),
            unit="entity",
            is_share=True,
            label=_LABELS[name],
            is_told=name in _TOLD,
        )
        for name, (meaning, part) in _GROUPS.items()
    ),
)
