"""Measures of datasets, documents and annotations: one file a measure in `definitions`, found by scanning.

`compute` applies all of them; averages are derived in `_averages`, triples in `measured`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures.declaration import AVERAGES, Column, Measure
from remix.measures.measured import LOW_COVERAGE, Measured
from remix.measures.measurement import MEASURES, Measuring, choice_of, column_named, measure_frames, measure_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from remix.frames_folder import FramesFolder
    from remix.measures._spark import MeasuredTable

__all__ = [
    "AVERAGES",
    "LOW_COVERAGE",
    "MEASURES",
    "Column",
    "Measure",
    "Measured",
    "column_named",
    "compute",
    "compute_folder",
    "compute_table",
    "measure_named",
]


def compute(
    frames: Frames,
    kb: KnowledgeBase | None,
    *,
    profile: str = "remix",
    within: Frames | None = None,
    **choices: Unpack[Measuring],
) -> Measured:
    """Return the values of all measures, or of those named, on these datasets.

    Ignorable annotations are not counted. Measures that need a knowledge base are skipped and named where there is
    none. The profile `hfts` follows that library instead of the formulas (see `_hfts`). `within` is what D consists of
    where it is not what is measured, as for the answers of a system. `choices` are

    - `reference`: what D is in the formulas, the annotation's own `dataset` (the default) or the `union` of all given;
    - `case_sensitive`: whether surface forms are compared as they are written, else casefolded;
    - `with_gold`: whether rows of the knowledge base count that were derived from a gold standard (source `gold:…`),
      which make measures of gold circular; an entity that is known through such rows alone is unknown otherwise;
    - `without_sources`: further sources whose rows are left out;
    - `measures`: the names of those to compute.

    Raises `UsageError` for an unknown reference, profile or measure.
    """
    return measure_frames(frames, choice_of(kb, profile=profile, **choices), within)


def compute_folder(
    folder: FramesFolder, kb: KnowledgeBase | None, *, engine: str = "polars", **choices: Unpack[Measuring]
) -> Measured:
    """Return the measures of the dataset in a folder of frames, computed part by part, or on Spark (`engine`).

    What is returned holds no documents and no annotations. `choices` are those of `compute`, with its errors. Raises
    `BadInput` for a folder without parts, `Error` for Spark without PySpark or Java.
    """
    if engine == "spark":
        from remix.measures import _spark  # with the engine, which is an extra

        return _spark.compute_folder(folder, choice_of(kb, **choices))
    from remix.measures import _parts  # with threads and temporary files, which frames in memory do not need

    return _parts.compute_parts(folder, choice_of(kb, **choices))


def compute_table(
    tables: Mapping[str, DataFrame], kb: KnowledgeBase | None, **choices: Unpack[Measuring]
) -> MeasuredTable:
    """Return the values of measures on tables of Spark, which `compute` takes as frames, in tables of Spark.

    The tables are documents and annotations, and where there are, links, classes and regions, with the columns of the
    frames (`remix.frames`); those that may be null may lack. `choices` are those of `compute`. Raises `UsageError` as
    that, and for a table that is none of these.
    """
    from remix.measures import _spark  # with the engine, which measuring frames does not need

    return _spark.compute_table(tables, choice_of(kb, **choices))
