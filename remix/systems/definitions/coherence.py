"""Candidates by prior, form and prominence, and by how they are linked with the other candidates of the document.

Each candidate of a form has a weight, the product of its prior, its form and its prominence. A walker goes along the
links between the candidates of a document and starts again by these weights (personalised PageRank, after Pershina, He
and Grishman: Personalized Page Rank for Named Entity Disambiguation, NAACL 2015); the candidate where the walker is
most often is the answer. What the dictionary has from gold is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix.errors import MissingKnowledge, UsageError
from remix.expressions import sum_up
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.kb.forms import keys
from remix.kb.networks import links_between
from remix.kb.parts import GOLD
from remix.systems import SPAN, Answers, System, spans
from remix.systems.given_candidates import candidates_of_mentions, read_candidates
from remix.systems.ranking import rank_candidates

_OF_FORM = ["document", "key"]
_BATCH = 200
"""Documents whose links are looked up at one go."""


@dataclass(frozen=True)
class Coherence:
    """What the answer is made of; each part can be turned off.

    - `prior`: how often the form means the candidate; `form`: how alike the form and the candidate's name are;
      `prominence`: the candidate's PageRank among all entities;
    - `rank`: whether a walker spreads the weights over the document, with `damping`, the share of steps along a link;
      `product`: whether the rank is multiplied by the weight once more;
    - `nil`: the share of its form's candidates that the best one needs; below it, a mention is NIL;
    - `most`: how many candidates of a form are looked at;
    - `candidates`: a file or folder of candidates, in the place of those of the dictionary.
    """

    prior: bool = True
    form: bool = True
    prominence: bool = True
    rank: bool = True
    product: bool = False
    damping: float = 0.85
    nil: float = 0.0
    most: int = 30
    candidates: Path | None = None

    def answer(self, frames: Frames, kb: KnowledgeBase | None, task: str, seed: int) -> Answers:
        """Return the best candidate of every span; in D2KB a span without one is NIL."""
        if not (0 <= self.damping < 1 and 0 <= self.nil <= 1 and self.most > 0):
            raise UsageError("of 'coherence', damping is from 0 to below 1, nil from 0 to 1, and most at least 1")
        if kb is None and (self.candidates is None or task == "A2KB"):
            raise MissingKnowledge("the system 'coherence' needs a knowledge base: `remix kb attach NAME` attaches one")
        ungilded = None if kb is None else kb.without_sources(GOLD)
        wanted = spans(frames, ungilded, task)  # type: ignore[arg-type]  # in D2KB it is not looked at
        wanted = wanted.drop_nulls("surface_form").with_columns(keys(wanted["surface_form"]).alias("key"))
        if self.candidates is not None:
            found = candidates_of_mentions(read_candidates(self.candidates), frames, wanted)
            found = self._weigh(found)
            links = _links_given(found)
        elif ungilded is not None:
            found = self._weigh(_candidates_known(ungilded, wanted))
            links = links_between(ungilded, found["id"])
        best = self._choose(found, links).filter(pl.col("confidence") >= self.nil)
        found = wanted.join(best, on=_OF_FORM, how="left" if task == "D2KB" else "inner")
        return found.select(*SPAN, "entity", "confidence").sort(SPAN)

    def _weigh(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return the first candidates of each form with their `weight`, of which a form has 1 in all."""
        found = found.sort(*_OF_FORM, -pl.col("count").fill_null(0), -pl.col("pagerank").fill_null(0), "entity")
        found = found.filter(pl.int_range(pl.len()).over(_OF_FORM) < self.most)
        weight = pl.lit(1.0)
        if self.prior:
            # One more for each, as what was never counted may still be meant.
            count = pl.col("count").fill_null(0).cast(pl.Float64) + 1
            weight *= count / count.sum().over(_OF_FORM)
        if self.prominence:
            # Of an entity without links nothing is known but that it is there.
            weight *= (1 + pl.col("pagerank").fill_null(0).log1p()).sqrt()
        if self.form:
            found = found.with_columns(_alikeness(found))
            weight *= pl.col("alike")
        found = found.with_columns(weight=weight)
        return found.with_columns(pl.col("weight") / pl.col("weight").sum().over(_OF_FORM))

    def _choose(self, found: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
        """Return the best candidate of each form of a document, with its share of the form's candidates."""
        score = pl.col("weight")
        if self.rank:
            nodes = _nodes(found)
            ranks = nodes.with_columns(rank_candidates(nodes, _edges(nodes, links), damping=self.damping))
            found = found.join(ranks.select("document", "entity", "rank"), on=["document", "entity"])
            score = pl.col("rank") * pl.col("weight") if self.product else pl.col("rank")
        found = found.with_columns(confidence=score / score.sum().over(_OF_FORM))
        order = [*_OF_FORM, -pl.col("confidence"), -pl.col("weight"), "entity"]
        return found.sort(order).unique(_OF_FORM, keep="first", maintain_order=True)


def _alikeness(found: pl.DataFrame) -> pl.Series:
    """Return from 1/2 to 1 how alike form and name are, letter by letter (rapidfuzz)."""
    import numpy as np
    from rapidfuzz import fuzz
    from rapidfuzz.process import cpdist

    if found.is_empty():
        return pl.Series("alike", [], dtype=pl.Float64)
    pairs = found.select("key", title=pl.col("name").str.to_lowercase()).fill_null("")
    ratios = cpdist(pairs["key"].to_list(), pairs["title"].to_list(), scorer=fuzz.ratio, dtype=np.float64)
    return pl.Series("alike", 0.5 + ratios / 200)


def _candidates_known(kb: KnowledgeBase, wanted: pl.DataFrame) -> pl.DataFrame:
    """Return document, key, entity, name, id, count and pagerank: the dictionary's candidates of each form.

    A PageRank of 1 is that of the average entity.
    """
    forms = wanted.select("document", "key").unique()
    asked = forms["key"].unique()
    pairs = kb.find_pairs(asked, ["key", "entity", "number", "count", "pagerank"]).drop("place")
    labels = kb.rows("entities", "entity", pairs["entity"], ["entity", "label"])
    title = pl.col("entity").str.extract(r"/resource/(.+)$").str.replace_all("_", " ")
    nodes = kb.described.get("scored", {}).get("pagerank", 1)
    pairs = pairs.join(labels, on="entity", how="left")
    pairs = pairs.with_columns(pl.col("pagerank") * nodes, name=pl.coalesce(title, "label"))
    return forms.join(pairs.rename({"number": "id"}).with_columns(pl.col("id").cast(pl.Int64)), on="key")


def _links_given(found: pl.DataFrame) -> pl.DataFrame:
    """Return the links that given candidates tell: source and target, their ids."""
    told = found.select("id", "links").unique("id", keep="first", maintain_order=True)
    return told.explode("links").drop_nulls().rename({"id": "source", "links": "target"})


def _nodes(found: pl.DataFrame) -> pl.DataFrame:
    """Return each candidate of a document once, with the weights of its forms together, and `only`, its one form."""
    alone = pl.col("key").n_unique() == 1
    only = pl.when(alone).then(pl.col("key").first())
    nodes = sum_up(found, ["document", "entity"], pl.col("id").first(), pl.col("weight").sum(), only=only)
    return nodes.sort("document", "entity")


def _edges(nodes: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Return source and target, numbers of rows: linked candidates of a document that are not of one form alone.

    Candidates of one form compete: that they are linked says nothing for either.
    """
    numbered = nodes.select("document", "id", "only").with_row_index("node")
    documents = numbered["document"].unique(maintain_order=True)
    rivals = (pl.col("only") == pl.col("only_right")).fill_null(False) | (pl.col("node") == pl.col("node_right"))
    parts = []
    for place in range(0, len(documents), _BATCH):
        own = numbered.filter(pl.col("document").is_in(documents[place : place + _BATCH].implode()))
        linked = own.join(links, left_on="id", right_on="source")
        pairs = linked.join(own, left_on=["document", "target"], right_on=["document", "id"])
        parts.append(pairs.filter(~rivals).select(source="node", target="node_right"))
    return pl.concat(parts) if parts else pl.DataFrame(schema={"source": pl.UInt32, "target": pl.UInt32})


system = System(
    "coherence",
    "dictionary match; prior, form and prominence, and links between the candidates of a document (PageRank)",
    Coherence().answer,
    needs_kb=False,
    parameters=Coherence,
)
