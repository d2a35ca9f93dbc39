"""A2KB, D2KB, ERec and NIL: mentions are compared one by one, by span and link or by span alone."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.scoring.matching import Case, Matching
from remix.scoring.tasks import Task, narrow, tally


def _links(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching)


def _links_on_mentions(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching, on_mention_only=True)


def _spans(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "span", matching)


a2kb = Task("A2KB", "text given; spans and links compared", _links)
d2kb = Task("D2KB", "text and spans given; links compared, on gold spans only", _links_on_mentions, given_spans=True)
erec = Task("ERec", "text given; spans compared, whatever they link to", _spans)
nil = replace(narrow(erec, "nil"), name="NIL", summary="text given; spans of mentions without an entity compared")
