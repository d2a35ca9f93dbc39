"""The mentions of a layer on both sides, with the labels that count, as HIPE-scorer reads them.

Source: hipe-eval/HIPE-scorer at 6605770, hipe_evaluation/utils.py and clef_evaluation.py.
"""

from __future__ import annotations

import polars as pl

from remix.formats.layers import LAYERS, MAIN, NO_LINK, NOISE, RANKED, tokens_of
from remix.formats.mentions import canonical_entities
from remix.frames import OTHER_LAYER, Frames
from remix.kb import KnowledgeBase
from remix.scoring.inputs.documents import align
from remix.scoring.matching import Case

__all__ = ["LINKS", "cut", "sides"]

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
    gold = gold.with_columns(label=pl.col("labels").list.first())
    if task in LAYERS:
        gold, known = _label(gold)
    if case.column:
        gold = gold.filter(pl.col("annotation").is_in(case.kept["annotation"].implode()))
    parts = []
    for number, (name, run) in enumerate(case.known.runs.items()):
        pairs = align(frames, run, name, told=False).join(places, left_on="gold", right_on="document")
        answers = _mentions(run, task, kb, of_gold=False).join(pairs, on="document", maintain_order="left")
        parts.append(answers.with_columns(system=pl.lit(number, pl.Int64)))
    every = pl.concat(parts)
    if task in LAYERS:
        every = every.with_columns(label=pl.col("labels").list.first())
        told = every.join(known, on=["dataset", "label"], how="semi", maintain_order="left")
        every = pl.concat(
            [told, every.filter(pl.col("label").is_in(TAGS)).join(known, on=["dataset", "label"], how="anti")]
        )
    if case.column:
        every = every.filter(pl.col("doc").is_in(case.answers["doc"].implode()))
    columns = ["doc", "begin", "end", "text"]
    return gold.drop_nulls("label").select(*columns, "label"), every.select("system", *columns, "labels")


def _label(gold: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold whose types are labels of its dataset, and dataset and label of all: of `A-B` only `B` is one."""
    part = pl.col("label").str.split("|").list.first().str.extract("([^-]*)$", 1)
    known = gold.select("dataset", label=part).drop_nulls().unique()
    return gold.join(known, on=["dataset", "label"], how="semi", maintain_order="left"), known


def _mentions(frames: Frames, task: str, kb: KnowledgeBase | None, *, of_gold: bool) -> pl.DataFrame:
    """Return the mentions of a layer: annotation, document, begin, end, text and labels, best first, null for none."""
    layer = LINKS.get(task, task)
    own = pl.col("layer").fill_null(MAIN) == layer
    kept = pl.col("ignorable").is_null() if layer == MAIN else pl.col("ignorable") == OTHER_LAYER
    rows = frames.annotations.filter(own & kept)
    if task in LINKS:
        apart = frames.annotations.filter(layer=task)
        both = _overlapping(rows, apart)
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
    return rows.join(labels, on="annotation", maintain_order="left")


def _overlapping(rows: pl.DataFrame, apart: pl.DataFrame) -> pl.DataFrame:
    """Return annotation and `other` of mentions of one document that overlap."""
    others = apart.select("document", other="annotation", first="begin", last="end")
    pairs = rows.select("annotation", "document", "begin", "end").join(others, on="document")
    return pairs.filter((pl.col("begin") < pl.col("last")) & (pl.col("first") < pl.col("end")))


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
    found = every["label"] if kb is None else kb.resolve(every["label"])
    every = every.with_columns(found.alias("label"))
    label = pl.when(~pl.col("none")).then("label")
    return every.group_by("annotation", maintain_order=True).agg(labels=label)


def cut(rows: pl.DataFrame, case: Case, bounds: tuple[float, float]) -> pl.DataFrame:
    """Return the rows without the tokens of mentions of gold whose noise is not in the bounds, where any is left.

    What gold does not tell the noise of stays. Mentions that a cut makes neighbours stay two.
    """
    gold, (low, high) = case.known.gold, bounds
    noise = gold.values.filter(pl.col("term") == NOISE).select(annotation="subject", noise="number")
    inside = (pl.col("noise") >= low) & ((pl.col("noise") < high) | (pl.col("noise") == low))
    out = gold.annotations.filter(pl.col("layer") == MAIN).join(noise.filter(~inside), on="annotation")
    tokens = tokens_of(gold).with_row_index("row")
    gone = tokens.sort("begin").join_asof(
        out.sort("begin").select("document", first="begin", last="end"),
        left_on="begin",
        right_on="first",
        by="document",
        strategy="backward",
        check_sortedness=False,
    )
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
    texts = places.join(gold.documents.select("document", whole="text"), on="document").select("doc", "whole")
    found = found.join(texts, on="doc", how="left", maintain_order="left")
    left_text = (
        pl.col("whole").str.slice("new_begin", pl.col("new_end") - pl.col("new_begin")).str.replace_all(r"\s", "")
    )
    text = pl.when(same).then("text").otherwise(left_text)
    return found.with_columns(text=text, begin="new_begin", end="new_end").select(rows.columns)
