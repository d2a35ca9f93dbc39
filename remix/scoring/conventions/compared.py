"""What of gold and answers is compared: documents, mentions, links, and which of several.

The aspects stand in the order in which a profile names them, each with its conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from remix.documents import align
from remix.formats.layers import NO_LINK, RANKED
from remix.frames import Frames
from remix.names import DBO, DBR
from remix.scoring.conventions import Convention
from remix.scoring.inputs.mentions import NIL
from remix.scoring.matching import Case, Counter, matching_named, with_detail
from remix.scoring.matching.pairs import overlaps
from remix.scoring.statistics.thresholds import choose_best


class Documents(Convention):
    """Which documents are compared."""


def _with_answered(gold: Frames, runs: Mapping[str, Frames]) -> Frames:
    """Return gold with the documents that only runs know, where no file says which documents there are.

    Formats with texts name every document of gold. Without texts one that has no annotation is in no file.
    """
    datasets = gold.documents["dataset"].unique()
    if gold.documents["text"].count() or len(datasets) != 1:
        return gold
    for name, run in runs.items():
        known = align(gold, run, name, told=False)
        unknown = pl.col("text").is_null() & ~pl.col("document").is_in(known["document"].implode())
        added = run.documents.filter(unknown).with_columns(dataset=pl.lit(datasets[0]))
        if len(added):
            gold = replace(gold, documents=pl.concat([gold.documents, added.select(gold.documents.columns)]))
    return gold


documents_of_gold = Documents(name="documents-of-gold", words="answers in documents that gold lacks are left out")
documents_of_both = Documents(
    name="documents-of-both",
    words="without texts, answers in documents that gold has no annotation of are wrong",
    among=_with_answered,
)


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
nil_left_out = Nil(name="nil-left-out", words="mentions without a link are left out on both sides", choose=_keep_linked)
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


class Optional(Convention):
    """Gold that is neither required nor wrong."""


def _keep_required(frames: Frames) -> Frames:
    if frames.annotations["ignorable"].null_count() == len(frames.annotations):
        return frames
    return replace(frames, annotations=frames.annotations.filter(pl.col("ignorable").is_null()))


optional_ignored = Optional(
    name="optional-ignored", words="an answer that fits an optional or dropped annotation counts neither way"
)
optional_unknown = Optional(
    name="optional-unknown",
    words="optional and dropped annotations are not in gold: an answer there is wrong",
    gold=_keep_required,
)


class Regions(Convention):
    """Where in a text answers count."""


def _whole(frames: Frames) -> Frames:
    return frames if frames.regions.is_empty() else replace(frames, regions=frames.regions.clear())


regions_respected = Regions(
    name="regions-respected", words="answers outside what is annotated exhaustively are left out"
)
regions_unknown = Regions(
    name="regions-unknown", words="answers count in the whole text, annotated or not", gold=_whole
)


class Alternatives(Convention):
    """Several readings of one mention."""


def _separate(frames: Frames) -> Frames:
    own = pl.col("annotation")
    if frames.annotations.select(((pl.col("group") == own) & (pl.col("option") == own)).all()).item():
        return frames
    return replace(frames, annotations=frames.annotations.with_columns(group=own, option=own))


def _merge(run: Frames) -> Frames:
    """Return the run with the answers of one span as one answer, right where one of its links is."""
    if not run.annotations.select("document", "begin", "end").is_duplicated().any():
        return run
    rows = run.annotations.with_columns(first=pl.col("annotation").min().over("document", "begin", "end"))
    links = run.links.join(rows.select("annotation", "first"), on="annotation")
    links = links.with_columns(annotation="first").drop("first").unique()
    return replace(run, annotations=rows.filter(pl.col("annotation") == pl.col("first")).drop("first"), links=links)


alternatives_grouped = Alternatives(
    name="alternatives-grouped", words="alternatives of a mention are one TP or one FN together"
)
alternatives_separate = Alternatives(
    name="alternatives-separate",
    words="every annotation of gold is a mention of its own, alternatives too",
    gold=_separate,
)
answers_merged = Alternatives(
    name="answers-merged", words="the answers on one span are one answer, right where one of its links is", run=_merge
)


@dataclass(frozen=True, kw_only=True)
class Repeated(Convention):
    """Annotations of the same span and entity."""

    collapse: bool
    """Whether they count once on either side."""


repeated_once = Repeated(
    name="repeated-once", words="annotations of the same span and entity count once on either side", collapse=True
)
repeated_each = Repeated(
    name="repeated-each",
    words="every annotation counts, also one that repeats another of the same span and entity",
    collapse=False,
)


class Overlapping(Convention):
    """Mentions of one side that overlap each other."""


def _longest_under_weak(case: Case, task: str, matching: str, count: Counter) -> Case:
    if matching != "weak" or task == "C2KB":
        return case
    gold = longest_of_runs(case.gold.sort("doc", "begin", "g"), ["doc"])
    answers = longest_of_runs(case.answers.sort("system", "doc", "begin", "a"), ["system", "doc"])
    return replace(case, gold=gold.sort("g"), answers=answers.sort("a"))


def longest_of_runs(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return, of the sorted rows of a document, those left when each is held against the longest before it.

    A row that overlaps the one kept so far replaces it if it is longer, else goes; one that does not begins anew.

    >>> rows = pl.DataFrame({"doc": [0, 0, 0], "begin": [0, 2, 7], "end": [4, 8, 9]})
    >>> longest_of_runs(rows, ["doc"]).rows()
    [(0, 2, 8)]
    """
    rows = rows.with_columns(reach=pl.col("end").cum_max().shift(1).over(keys))
    # Only rows that overlap an earlier one need the turn-by-turn comparison: they are in blocks between gaps.
    rows = rows.with_columns(block=(pl.col("reach").is_null() | (pl.col("reach") <= pl.col("begin"))).cum_sum())
    rows = rows.with_columns(nth=pl.int_range(pl.len(), dtype=pl.Int64).over("block"))
    begin, end, block, nth = (rows[name].to_numpy() for name in ("begin", "end", "block", "nth"))
    best = np.flatnonzero(nth == 0)  # of each block
    kept = np.zeros(len(rows), np.bool_)
    for turn in range(1, int(nth.max(initial=0)) + 1):
        here = np.flatnonzero(nth == turn)
        rival = best[block[here] - 1]
        overlap = begin[here] < end[rival]
        longer = (end - begin)[here] > (end - begin)[rival]
        kept[rival[~overlap]] = True
        best[block[here] - 1] = np.where(~overlap | longer, here, rival)
    kept[best] = True
    return rows.filter(kept).drop("reach", "block", "nth")


def _longest_of_matching(case: Case, task: str, matching: str, count: Counter) -> Case:
    if task == "C2KB":
        return case
    case = with_detail(case, "surface_form")
    gold = _longest(case, "g", case.gold.with_columns(system=pl.lit(0, pl.Int64)), matching)
    answers = _longest(case, "a", case.answers, matching)
    return replace(
        case,
        gold=case.gold.filter(pl.col("g").is_in(gold.implode())),
        answers=case.answers.filter(pl.col("a").is_in(answers.implode())),
    )


def _longest(case: Case, key: str, rows: pl.DataFrame, matching: str) -> pl.Series:
    """Return the numbers of the mentions that are the longest of those that match some mention of their side."""
    how = matching_named(matching)
    # One side held against itself: systems are kept apart as documents of their own.
    apart = rows.with_columns(doc=pl.col("doc") * len(case.mentions.systems) + pl.col("system"))
    apart = apart.sort("doc", "begin", "end", key)
    side = replace(case.mentions, gold=apart.rename({key: "g"}, strict=False), answers=apart.rename({key: "a"}))
    links = case.mentions.gold_links if key == "g" else case.mentions.answer_links
    side = replace(side, gold_links=links.rename({key: "g"}), answer_links=links.rename({key: "a"}))
    mirror = replace(case, mentions=side, gold=side.gold, answers=side.answers, overlaps=overlaps(side))
    pairs = how.pairs(mirror).filter(how.spans).select("g", "a")
    length = apart.select(a=key, length=pl.col("end") - pl.col("begin"))
    best = pairs.join(length, on="a").sort("g", "length", "a", descending=[False, True, False])
    best = best.unique("g", keep="first", maintain_order=True)
    alone = apart.join(pairs, left_on=key, right_on="g", how="anti")[key]
    return pl.concat([best["a"].rename(key), alone]).unique()


overlapping_kept = Overlapping(name="overlapping-kept", words="mentions may overlap each other")
overlapping_longest = Overlapping(
    name="overlapping-longest",
    words="under weak matching, of mentions of one side that overlap only the longest stays",
    choose=_longest_under_weak,
)
embedded_longest = Overlapping(
    name="embedded-longest",
    words="of mentions of one side that match each other only the longest stays",
    choose=_longest_of_matching,
)


class Threshold(Convention):
    """Which answers are confident enough."""


threshold_none = Threshold(name="threshold-none", words="every answer counts")
threshold_on_test = Threshold(
    name="threshold-on-test",
    words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such one",
    choose=choose_best,
)
