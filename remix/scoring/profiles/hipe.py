"""HIPE-scorer, of the shared tasks on historical text (Ehrmann et al., CLEF 2020 and 2022): types and ranked links.

A layer's mentions have labels, types or links, of which some count (`sides`); which of gold and answers meet
(`meetings`) is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from remix.documents import align
from remix.errors import UnknownName, UsageError
from remix.formats.layers import LAYERS, MAIN, NO_LINK, NOISE, PERIOD, RANKED, tokens_of
from remix.formats.mentions import canonical_entities
from remix.frames import OTHER_LAYER, Frames
from remix.kb import KnowledgeBase
from remix.scoring.conventions import aspects
from remix.scoring.matching import Case
from remix.scoring.matching.pairs import touching
from remix.scoring.profiles import PLAIN_GOLD, OwnRules, Profile
from remix.scoring.statistics import UNSCOPED, averages

LINKS = {links: layer for layer, links in LAYERS.items() if links}
"""The layers of links, with that of the mentions that they are of."""

_TAGS = """
BUILDING COMP COMP.DEMONYM COMP.FUNCTION COMP.NAME COMP.QUALIFIER COMP.TITLE DATE HUMANPROD LOC LOC.ADD LOC.ADD.ELEC
LOC.ADD.PHYS LOC.ADM LOC.ADM.NAT LOC.ADM.REG LOC.ADM.SUP LOC.ADM.TOWN LOC.ADMIN.SUP LOC.FAC LOC.ORO LOC.PHYS
LOC.PHYS.ASTRO LOC.PHYS.GEO LOC.PHYS.HYDRO LOC.UNK OBJECT OBJECT.MANUSCR OBJECT.MUSEUM ORG ORG.ADM ORG.ENT
ORG.ENT.PRESSAGENCY PER PER.AUTHOR PERS PERS.AUTHOR PERS.COLL PERS.EDITOR PERS.IND PERS.IND.ARTICLEAUTHOR PERS.MYTH
PERS.OTHER PROD PROD.DOCTR PROD.MEDIA SCOPE STREET TIME TIME.DATE.ABS WORK WORK.PRIMLIT WORK.SECLIT
"""
TAGS = frozenset(_TAGS.split())
"""The labels of HIPE 2022: an answer with one is wrong where the layer of gold has it nowhere, with another none."""


def sides(case: Case, task: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold with `label` and the answers with `system` and `labels`: doc, begin, end and text, in their order.

    Types count that gold has in the layer, and those of `TAGS` in answers; links that are one. In a slice gold is
    what the slice keeps.
    """
    frames, kb = case.known.gold, case.known.inputs.knowledge.kb
    places = case.mentions.documents.unique("document", keep="first", maintain_order=True)
    gold = _mentions(frames, task, kb, of_gold=True).join(places, on="document", maintain_order="left")
    parts = []
    for number, (name, run) in enumerate(case.known.runs.items()):
        pairs = align(frames, run, name, told=False).join(places, left_on="gold", right_on="document")
        given = _mentions(run, task, kb, of_gold=False).join(pairs, on="document", maintain_order="left")
        parts.append(given.with_columns(system=pl.lit(number, pl.Int64)))
    answers = pl.concat(parts)
    if task in LAYERS:
        # Types count that are labels of their dataset: of `A-B` only `B` is one.
        part = pl.col("label").str.split("|").list.first().str.extract("([^-]*)$", 1)
        known = gold.select("dataset", label=part).drop_nulls().unique()
        gold, told = (
            rows.join(known, on=["dataset", "label"], how="semi", maintain_order="left") for rows in (gold, answers)
        )
        others = answers.filter(pl.col("label").is_in(TAGS)).join(known, on=["dataset", "label"], how="anti")
        answers = pl.concat([told, others])
    if case.column:
        gold = gold.filter(pl.col("annotation").is_in(case.kept["annotation"].implode()))
        answers = answers.filter(pl.col("doc").is_in(case.answers["doc"].implode()))
    columns = ["doc", "begin", "end", "text"]
    return gold.drop_nulls("label").select(*columns, "label"), answers.select("system", *columns, "labels")


def _mentions(frames: Frames, task: str, kb: KnowledgeBase | None, *, of_gold: bool) -> pl.DataFrame:
    """Return the mentions of a layer: annotation, document, begin, end, text, labels, best first, and the first label.

    Null is none.
    """
    layer = LINKS.get(task, task)
    own = pl.col("layer").fill_null(MAIN) == layer
    kept = pl.col("ignorable").is_null() if layer == MAIN else pl.col("ignorable") == OTHER_LAYER
    rows = frames.annotations.filter(own & kept)
    if task in LINKS:
        apart = frames.annotations.filter(layer=task)
        others = apart.select("document", other="annotation", first="begin", last="end")
        both = rows.select("annotation", "document", "begin", "end").join(others, on="document")
        both = both.filter((pl.col("begin") < pl.col("last")) & (pl.col("first") < pl.col("end")))
        # A mention of gold has the link that it begins with, one of a run a part for each of its links.
        gone = both["other"] if of_gold else both["annotation"]
        rows = pl.concat([rows, apart]).filter(~pl.col("annotation").is_in(gone.implode()))
        labels = _links(frames, rows, kb)
    else:
        classes = frames.classes.filter(~pl.col("of_entity")).unique("annotation", keep="first", maintain_order=True)
        name = pl.col("class").str.extract("([^/#]*)$", 1).str.to_uppercase()
        labels = classes.select("annotation", labels=pl.concat_list(name))
    text = pl.col("surface_form").str.replace_all(r"\s", "")
    rows = rows.select("annotation", "document", "begin", "end", text=text)
    return rows.join(labels, on="annotation", maintain_order="left").with_columns(label=pl.col("labels").list.first())


def _links(frames: Frames, rows: pl.DataFrame, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return annotation and labels: the entities in the order of the file, NIL among them."""
    spelt = frames.values.filter(pl.col("term") == RANKED).select(
        annotation="subject", label=pl.col("text").str.split("|")
    )
    items = spelt.join(rows, on="annotation", how="semi").explode("label")
    items = items.with_columns(label=canonical_entities(items["label"]), none=pl.col("label").is_in(NO_LINK))
    rest = rows.select("annotation").join(spelt, on="annotation", how="anti", maintain_order="left")
    links = frames.links.unique("annotation", keep="first", maintain_order=True).select("annotation", label="entity")
    plain = rest.join(links, on="annotation", how="left", maintain_order="left")
    plain = plain.with_columns(pl.col("label").fill_null("NIL"), none=pl.lit(False))
    every = pl.concat([items, plain])
    if kb is not None:
        every = every.with_columns(kb.resolve(every["label"]).alias("label"))
    return every.group_by("annotation", maintain_order=True).agg(labels=pl.when(~pl.col("none")).then("label"))


def cut(rows: pl.DataFrame, case: Case, bounds: tuple[float, float]) -> pl.DataFrame:
    """Return the rows without the tokens of mentions of gold whose noise is not in the bounds, where any is left.

    What gold does not tell the noise of stays. Mentions that a cut makes neighbours stay two.
    """
    gold, (low, high) = case.known.gold, bounds
    noise = gold.values.filter(pl.col("term") == NOISE).select(annotation="subject", noise="number")
    inside = (pl.col("noise") >= low) & ((pl.col("noise") < high) | (pl.col("noise") == low))
    out = gold.annotations.filter(pl.col("layer") == MAIN).join(noise.filter(~inside), on="annotation")
    spans = out.select("document", "begin", last="end").sort("begin")
    gone = tokens_of(gold).sort("begin").join_asof(spans, on="begin", by="document", check_sortedness=False)
    places = case.mentions.documents.unique("document", keep="first")
    left = gone.filter((pl.col("begin") < pl.col("last")).fill_null(False).not_()).join(places, on="document")
    starts = left.select("doc", new_begin="begin", begin="begin").sort("begin")
    ends = left.select("doc", new_end="end", end="end").sort("end")
    numbered = rows.with_row_index("row")
    begun = numbered.sort("begin").join_asof(starts, on="begin", by="doc", strategy="forward", check_sortedness=False)
    ended = begun.sort("end").join_asof(ends, on="end", by="doc", strategy="backward", check_sortedness=False)
    found = ended.sort("row").filter(pl.col("new_begin") < pl.col("new_end"))
    same = (pl.col("begin") == pl.col("new_begin")) & (pl.col("end") == pl.col("new_end"))
    # What a run has in place of the tokens that are left is not known: they are gold's.
    found = found.join(case.known.texts.rename({"text": "whole"}), on="doc", how="left", maintain_order="left")
    of_gold = pl.col("whole").str.slice("new_begin", pl.col("new_end") - pl.col("new_begin"))
    text = pl.when(same).then("text").otherwise(of_gold.str.replace_all(r"\s", ""))
    return found.with_columns(text=text, begin="new_begin", end="new_end").select(rows.columns)


def meetings(gold: pl.DataFrame, answers: pl.DataFrame, systems: int) -> pl.DataFrame:
    """Return a row for each answer and each mention of gold that nothing took: system, doc, g, a, strict, fuzzy.

    Both sides have doc, begin, end and text; gold `label`, answers `system` and `labels`, the first of which is the
    best. `systems` is how many there are, numbered from 0. `g` is the row of gold, null where an answer meets nothing;
    `a` that of the answer, null where a mention is missed. `strict` and `fuzzy` say whether an answer is right.

    An answer is exact on a mention with its span and text and one of its labels. Any other takes the first mention
    that has its span and another label than its first, or that overlaps it and that no answer before it took.

    >>> span = {"doc": [0, 0], "begin": [0, 4], "end": [3, 7], "text": ["Ada", "Ely"]}
    >>> gold = pl.DataFrame({**span, "label": ["PERS", "LOC"]})
    >>> one = {"system": [0], "doc": [0], "begin": [0], "end": [7], "text": ["AdaEly"], "labels": [["LOC"]]}
    >>> meetings(gold, pl.DataFrame(one), 1).select("g", "a", "strict", "fuzzy").rows()
    [(0, 0, False, False), (1, None, False, False)]
    """
    order, number = ["doc", "begin", "end"], pl.int_range(pl.len(), dtype=pl.Int64)
    gold = gold.with_columns(g=number).sort(*order, "g").with_columns(place=number)
    answers = answers.with_columns(a=number).sort("system", *order, "a").with_columns(turn=number)
    pairs = _pairs(gold, answers)
    exact = pairs.filter("equal", "alike", "right").unique("turn", keep="first", maintain_order=True)
    rest = _by_turns(pairs.join(exact, on="turn", how="anti", maintain_order="left"), exact)
    met = pl.concat(
        [
            exact.select("turn", "place", strict=pl.lit(True), fuzzy=pl.lit(True)),
            rest.select("turn", "place", strict=pl.lit(False), fuzzy=pl.col("right") & ~pl.col("other")),
        ]
    )
    found = answers.select("turn", "a", "system", "doc").join(met, on="turn", how="left", maintain_order="left")
    found = found.join(gold.select("place", "g"), on="place", how="left", maintain_order="left")
    none = pl.lit(False)
    found = found.select("system", "doc", "g", "a", pl.col("strict", "fuzzy").fill_null(False))
    every = pl.DataFrame({"system": range(systems)}, schema={"system": pl.Int64})
    missed = every.join(gold.select("doc", "g"), how="cross").join(found, on=["system", "g"], how="anti")
    missed = missed.select("system", "doc", "g", a=pl.lit(None, pl.Int64), strict=none, fuzzy=none)
    return pl.concat([found, missed])


def _pairs(gold: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return what overlaps by turn and place: `equal` spans, `alike` texts, `right` label, `other` than the first.

    Mentions without offsets are in no pair.
    """
    gold, answers = gold.drop_nulls(["begin", "end"]), answers.drop_nulls(["begin", "end"])
    left, right = touching(gold, answers)
    pairs = pl.concat(
        [
            gold[left].select("place", "begin", "end", "text", "label"),
            answers[right].select("turn", "system", "labels", first="begin", last="end", said="text"),
        ],
        how="horizontal",
    )
    equal = (pl.col("begin") == pl.col("first")) & (pl.col("end") == pl.col("last"))
    shared = pl.min_horizontal("end", "last") > pl.max_horizontal("begin", "first")
    pairs = pairs.filter(equal | shared).with_columns(
        equal=equal,
        alike=pl.col("text") == pl.col("said"),
        right=pl.col("labels").list.contains(pl.col("label")),
        other=equal & (pl.col("labels").list.first().ne_missing(pl.col("label"))),
    )
    return pairs.select("turn", "place", "system", "equal", "alike", "right", "other").sort("turn", "place")


def _by_turns(pairs: pl.DataFrame, exact: pl.DataFrame) -> pl.DataFrame:
    """Return the pair of each answer that is not exact and takes a mention.

    Answers that share no mention with one before them do not wait for each other: the n-th answers of all such
    groups have their turn at once, so that there are as many rounds as the largest group has answers.
    """
    ranges = pairs.group_by("turn", maintain_order=True).agg(
        pl.col("system").first(), low=pl.col("place").min(), high=pl.col("place").max()
    )
    before = pl.col("high").cum_max().shift().over("system")
    ranges = ranges.with_columns(group=(before.is_null() | (pl.col("low") > before)).cum_sum())
    rounds = ranges.select("turn", round=pl.int_range(pl.len()).over("group"))
    pairs = pairs.join(rounds, on="turn", maintain_order="left")
    places = int(max(pairs["place"].max() or 0, exact["place"].max() or 0)) + 1  # type: ignore[arg-type]
    systems = int(max(pairs["system"].max() or 0, exact["system"].max() or 0)) + 1  # type: ignore[arg-type]
    taken = np.full(places * systems, np.iinfo(np.int64).max)
    np.minimum.at(taken, (exact["system"] * places + exact["place"]).to_numpy(), exact["turn"].to_numpy())
    mention = (pairs["system"] * places + pairs["place"]).to_numpy()
    turn, other = pairs["turn"].to_numpy(), pairs["other"].to_numpy()
    chosen = []
    for rows in pairs.with_row_index("row").group_by("round").agg("row").sort("round")["row"]:
        own = rows.to_numpy()
        free = own[other[own] | (taken[mention[own]] >= turn[own])]
        first = free[np.unique(turn[free], return_index=True)[1]]
        np.minimum.at(taken, mention[first], turn[first])
        chosen.append(first)
    return pairs[np.concatenate(chosen)] if chosen else pairs


TASKS = (*LAYERS, *LINKS)
MATCHINGS = ("fuzzy", "strict", *(f"{regime}@{n}" for n in (1, 3, 5) for regime in ("fuzzy", "strict")))

NOISES = {"0.0-0.0": (0.0, 0.0), "0.001-0.1": (0.001, 0.1), "0.1-0.3": (0.1, 0.3), "0.3-1.1": (0.3, 1.1)}
"""The usual bounds of noise, the upper one excluded where they differ."""


def count(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts of a layer by a regime per system and document; none of links without `@n`, or types with.

    Raises `UnknownName` for another task or matching.
    """
    return _count(_events(case, task, matching), ["system", "doc"])


def by_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: each event of the label of gold, or of the answer that meets nothing.

    The layers of links have none.
    """
    events = _events(case, task, matching)
    return _count(events.filter(pl.lit(task in LAYERS)), ["system", "doc", "slice"])


def by_period(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: those of the documents of each ten years."""
    values = _values_of(case, PERIOD, "period").select(document="subject", slice="text")
    places = case.mentions.documents.join(values, on="document").select("doc", "slice")
    return _count(_events(case, task, matching).drop("slice").join(places, on="doc"), ["system", "doc", "slice"])


def by_noise(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: without the tokens of mentions of gold that are noisier, or less noisy."""
    _values_of(case, NOISE, "noise")
    parts = [
        _count(_events(case, task, matching, bounds).with_columns(slice=pl.lit(name)), ["system", "doc", "slice"])
        for name, bounds in NOISES.items()
    ]
    return pl.concat(parts)


def _values_of(case: Case, term: str, column: str) -> pl.DataFrame:
    """Return the values of gold for a term; raises `UsageError` where it has none."""
    values = case.known.gold.values.filter(pl.col("term") == term)
    if values.is_empty():
        raise UsageError(f"no annotation of gold has a value in column '{column}'")
    return values


def _count(events: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    wrong = ~pl.col("right")
    counts = events.group_by(keys, maintain_order=True).agg(
        tp=pl.col("right").sum().cast(pl.Int64),
        fp=(wrong & pl.col("a").is_not_null()).sum().cast(pl.Int64),
        fn=(wrong & pl.col("g").is_not_null()).sum().cast(pl.Int64),
        ignored=pl.lit(0, pl.Int64),
    )
    return counts.with_columns(UNSCOPED)


def _events(case: Case, task: str, matching: str, noise: tuple[float, float] | None = None) -> pl.DataFrame:
    """Return what happens to each mention and answer: system, doc, g, a, `right`, and slice, the label it is of.

    The tokens of mentions of gold whose noise is not in the bounds are cut out before.
    """
    if task not in TASKS:
        raise UnknownName("task of this profile", task, TASKS)
    form = re.fullmatch(r"(fuzzy|strict)(?:@([1-9]\d?))?", matching)
    if form is None:
        raise UnknownName("matching of this profile", matching, MATCHINGS)
    regime, ranks, asked = form[1], int(form[2] or 1), (form[2] is None) == (task in LAYERS)
    gold, answers = case.once(("hipe", task), lambda own: sides(own, task))
    if not asked:
        gold, answers = gold.clear(), answers.clear()
    if noise is not None:
        gold, answers = (cut(rows, case, noise) for rows in (gold, answers))
    answers = answers.with_columns(pl.col("labels").list.head(ranks))
    # An answer stays as long as any of its links is one.
    answers = answers.filter(pl.col("labels").list.drop_nulls().list.len() > 0)
    key = ("hipe", task, ranks, asked, noise)
    met = case.once(key, lambda own: meetings(gold, answers, len(own.mentions.systems)))
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    told = answers.select(a=number, said=pl.col("labels").list.first())
    met = met.join(gold.select("label", g=number), on="g", how="left", maintain_order="left")
    met = met.join(told, on="a", how="left", maintain_order="left")
    return met.select("system", "doc", "g", "a", right=regime, slice=pl.coalesce("label", "said"))


def _say(frames: Frames) -> Frames:
    """Return the frames without the annotations whose file says that they have no link, which is not NIL."""
    none = frames.values.filter(pl.col("term") == RANKED, pl.col("text").is_in(NO_LINK))["subject"]
    if none.is_empty():
        return frames
    kept = ~pl.col("annotation").is_in(none.implode())
    return replace(frames, annotations=frames.annotations.filter(kept))


def _macro() -> Mapping[str, pl.Expr]:
    exact = aspects.undefined_null.scores()
    both = exact["precision"].is_not_null() & exact["recall"].is_not_null()
    return {**exact, "f1": pl.when(both).then(exact["f1"])}


_RANKS = {"": "", "1": ", the first link of the answer", **{n: f", any of the first {n} links" for n in "35"}}
_REGIMES = {"fuzzy": "overlapping spans and the same label", "strict": "the same span, text and label"}

hipe = Profile(
    name="hipe",
    summary="each layer by itself; answers in turn take the first mention that they overlap; NIL is an answer",
    source="https://github.com/hipe-eval/HIPE-scorer at 6605770, hipe_evaluation",
    tasks=TASKS,
    matchings=MATCHINGS,
    meanings={name: _REGIMES[name.partition("@")[0]] + _RANKS[name.partition("@")[2]] for name in MATCHINGS},
    headline=("NEL-LIT", "fuzzy@1"),
    conventions=replace(
        PLAIN_GOLD,
        nil=aspects.Nil(
            name="nil-where-said",
            words="NIL is right where gold has NIL; mentions whose file gives neither a link nor NIL are left out",
            gold=_say,
            run=_say,
        ),
        pairing=aspects.pair_first_unused,
        undefined=aspects.undefined_zero,
    ),
    own=OwnRules(
        prepare=lambda gold, runs: (gold, dict(runs)),
        count=count,
        averages={"micro": averages(aspects.zero_of_all)["micro"], "macro": averages(_macro)["macro"]},
        nearest=("A2KB", "weak"),
    ),
    rest="removed",
    slices={"type": by_type, "noise": by_noise, "period": by_period},
    sparse=True,
    notes={
        "layers": "each column is scored by itself: types in NE-…, entities in NEL-…, with the spans of NE-COARSE-… "
        "of the same file (utils.py, collect_named_entities, collect_link_objects)",
        "pairing": "an answer is exact on a mention of its span, text and label; any other takes the first mention of "
        "its span with another label, or that it overlaps and none before it took (ner_eval.py, compute_metrics)",
        "confusion": "an answer with a wrong label is one FP and one FN, both of the label of gold (ner_eval.py)",
        "nil": "NIL is an entity like any other; a mention without any link is not asked for and no answer",
        "ranks": "@n: any of the first n links of an answer may be right, of gold only the first counts",
        "parts": "an answer whose tokens are linked differently is a mention for each link (utils.py)",
        "labels": "types count that gold has in the column, in answers those of HIPE 2022 too (clef_evaluation.py)",
        "optional": "ignorable annotations and regions are not known (not of the scorer, which has none)",
        "macro": "means over documents: P where anything is answered, R where anything is gold, F1 where both are",
        "undefined": "a micro score without denominator is 0 (ner_eval.py, compute_precision_recall_wrapper)",
        "noise": "--by noise cuts the tokens out of both sides whose noise in gold is not in the bounds (utils.py)",
    },
)
