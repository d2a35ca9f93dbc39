"""Strong and weak matching: spans are equal, or they overlap."""

import polars as pl

from remix.scoring.matching import Matching

strong = Matching("strong", "begin and end are equal", pl.col("equal"))
weak = Matching("weak", "the spans share a character", pl.lit(True))
