"""What becomes of mentions without an entity in the knowledge base."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.formats.layers import NO_LINK, RANKED
from remix.frames import Frames
from remix.names import DBO, DBR
from remix.scoring.conventions import Convention, Counter
from remix.scoring.inputs.mentions import NIL
from remix.scoring.matching import Case


class Nil(Convention):
    """Mentions without an entity."""


WELL_KNOWN = (
    DBR,
    DBO,
    "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#",
    "http://www.ontologydesignpatterns.org/ont/d0.owl#",
    "http://www.wikidata.org/entity/",
    "http://d-nb.info/",
)
"""GERBIL's namespaces of well-known knowledge bases (gerbil.properties, DefaultWellKnownKB)."""


def _keep_linked(case: Case, task: str, matching: str, count: Counter) -> Case:
    # NIL is a task of its own, without what is linked.
    kept = pl.col("link") == NIL if task == "NIL" else pl.col("link") != NIL
    gold, answers = case.gold.filter(kept), case.answers.filter(kept)
    if len(gold) == len(case.gold) and len(answers) == len(case.answers):
        return case
    return replace(case, gold=gold, answers=answers)


def _in_well_known(frames: Frames) -> Frames:
    """Return the frames with NIL for annotations none of whose links is in a well-known knowledge base."""
    known = pl.any_horizontal(pl.col("entity").str.starts_with(one) for one in WELL_KNOWN)
    if frames.links.select(known.all()).item():
        return frames
    links = frames.links.filter(known.any().over("annotation"))
    none = pl.col("annotation").is_in(links["annotation"].unique().implode())
    return replace(frames, links=links, annotations=frames.annotations.with_columns(is_nil=~none))


def _say(frames: Frames) -> Frames:
    """Return the frames without the annotations whose file says that they have no link, which is not NIL."""
    none = frames.values.filter(pl.col("term") == RANKED, pl.col("text").is_in(NO_LINK))["subject"]
    if none.is_empty():
        return frames
    kept = ~pl.col("annotation").is_in(none.implode())
    return replace(frames, annotations=frames.annotations.filter(kept))


nil_is_nil = Nil(name="nil-is-nil", words="NIL is right where gold has NIL, and wrong elsewhere")
nil_left_out = Nil(
    name="nil-left-out",
    words="mentions without a link are left out on both sides",
    choose=_keep_linked,
)
nil_where_said = Nil(
    name="nil-where-said",
    words="NIL is right where gold has NIL; mentions whose file gives neither a link nor NIL are left out",
    gold=_say,
    run=_say,
)
nil_by_namespace = Nil(
    name="nil-by-namespace",
    words="an entity outside the well-known knowledge bases is an emerging entity, and all of these are equal",
    gold=_in_well_known,
    run=_in_well_known,
)
