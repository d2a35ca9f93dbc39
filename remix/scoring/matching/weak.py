"""Weak matching: the spans overlap."""

import polars as pl

from remix.scoring.matching import Matching

weak = Matching("weak", "the spans share a character", pl.lit(True))
