"""Dominance: of the entities that the dictionary gives for the surface form, the share that the dataset uses."""

import polars as pl

from remix.measures.definitions.dominance_entity import dominance

# An empty set of the dataset, of a form that it has as NIL alone, is none: the dataset uses nothing of what the
# dictionary has.
MEASURE = dominance(
    "SurfaceForm",
    "entities",
    pl.col("w_entities") > 0,
    pl.col("own_entities").fill_null(0),
    name="dominance-surface-form",
    number=7,
    formula="|E^D(s)| / |W_E(s)| (7); documents use E^d(s)",
    given="the entities that the dictionary gives for the surface form",
    empty="absent where the dictionary set is empty, left out of numerator and denominator (see the coverage); "
    "0 where the dataset has the form as NIL alone",
    unit="key",
    what="names",
)
