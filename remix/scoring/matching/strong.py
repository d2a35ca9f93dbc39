"""Strong matching: begin and end are equal."""

import polars as pl

from remix.scoring.matching import Matching

strong = Matching("strong", "begin and end are equal", pl.col("equal"))
