"""Documents that several datasets of gold share, as remixes of one origin do: what they hold is counted once in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from remix.dense import components
from remix.frames import Frames
from remix.scoring.inputs import Background
from remix.scoring.inputs.case_tables import CaseDocuments, GoldMentions, SystemAnswers
from remix.scoring.inputs.mentions import Mentions
from remix.scoring.matching.pairs import overlaps


@dataclass(frozen=True)
class Originals:
    """Which documents, mentions and answers are copies of each other, each copy with the number of the first.

    - `documents`: doc and `one`; `gold`: mention with `one`, `one_doc`, `one_group` and `one_option`; `answers`:
      answer with `one` and `one_doc`;
    - `mentions`: each of them once, documents of datasets that share any being of one dataset;
    - `overlaps`: the pairs of these.
    """

    documents: pl.DataFrame
    gold: pl.DataFrame
    answers: pl.DataFrame
    mentions: Mentions
    overlaps: pl.DataFrame

    def pool_documents(self, documents: CaseDocuments) -> CaseDocuments:
        """Return the documents, each once."""
        ones = documents.join(self.documents, on="doc")["one"].unique()
        return self.mentions.documents.filter(pl.col("doc").is_in(ones.implode()))

    def pool_gold(self, gold: GoldMentions) -> GoldMentions:
        """Return the mentions, each once: required where a copy is, dropped where every copy is."""
        return _pool_gold(gold, self.gold)

    def pool_answers(self, answers: SystemAnswers) -> SystemAnswers:
        """Return the answers, each once: inside of what is annotated where a copy is."""
        return _pool_answers(answers, self.answers)


def originals_of(mentions: Mentions, gold: Frames, backgrounds: Sequence[Background]) -> Originals | None:
    """Return what datasets of gold share, None where they share no document.

    Documents are copies of each other that come from one document, or whose files give them one name, and that have
    the same text. Mentions of copies are the same where all their options are of the same spans and entities, answers
    where they are of one system, span and entity; what one document says twice, it says twice.
    """
    documents = _find_copies(mentions.documents, gold, backgrounds)
    if documents["one"].equals(documents["doc"], check_names=False):
        return None
    of_gold, of_answers = _copies_of_gold(mentions.gold, documents), _copies_of_answers(mentions.answers, documents)
    united = replace(
        mentions,
        documents=_unite(mentions.documents, documents),
        gold=_pool_gold(mentions.gold, of_gold),
        answers=_pool_answers(mentions.answers, of_answers),
    )
    return Originals(documents, of_gold, of_answers, united, overlaps(united))


def _find_copies(documents: CaseDocuments, gold: Frames, backgrounds: Sequence[Background]) -> pl.DataFrame:
    """Return doc and `one`, the first of the documents (or of the contexts in it) that are copies of each other."""
    nth = pl.int_range(pl.len(), dtype=pl.Int64)
    origins = pl.concat(one.frames.documents.select("document", "dataset", "given", "text") for one in backgrounds)
    origins = origins.unique("document", keep="first").sort("dataset", "document")
    named = pl.concat_list("given", nth.over("dataset", "given", "text").cast(pl.String))
    there = pl.col("given").is_not_null() & (pl.col("text").str.len_bytes() > 0)
    homes = origins.select(home="document", name=pl.when(there).then(named).otherwise(pl.concat_list("document")))
    places = pl.concat(one.places.select("gold", home="document") for one in backgrounds).unique("gold", keep="first")
    texts = gold.documents.select("document", "text").unique("document", keep="first")
    rows = documents.sort("doc").join(places, left_on="document", right_on="gold", how="left", maintain_order="left")
    rows = rows.join(homes, on="home", how="left", maintain_order="left")
    rows = rows.join(texts, on="document", how="left", maintain_order="left")
    alone = pl.concat_list("document")
    rows = rows.with_columns(name=pl.coalesce("name", alone), unit=nth.over("document"))
    # Two documents of one dataset are two, whatever they are called.
    key = ["name", "text", "unit"]
    rows = rows.with_columns(nth=nth.over("dataset", *key))
    return rows.select("doc", one=pl.col("doc").first().over(*key, "nth"))


def _unite(documents: CaseDocuments, copies: pl.DataFrame) -> CaseDocuments:
    """Return the first of all copies; the datasets of documents that share any, however far apart, are one."""
    rows = documents.join(copies, on="doc", maintain_order="left")
    number = rows["dataset"].rank("dense").cast(pl.Int64).to_numpy()
    rows = rows.with_columns(part=pl.Series(components(number, rows["one"].to_numpy())))
    together = pl.col("dataset").unique().sort().str.join(" + ").over("part")
    return rows.with_columns(dataset=together).filter(pl.col("doc") == pl.col("one")).select(documents.columns)


_SAID = ("begin", "end", "told", "link")
"""What mentions and answers are the same by; `told` is the form of those without a place."""

_NTH = pl.int_range(pl.len(), dtype=pl.Int64)


def _with_said(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of these documents with `one_doc` and `said`, the number of what they say."""
    rows = rows.join(documents.rename({"one": "one_doc"}), on="doc", maintain_order="left")
    rows = rows.with_columns(told=pl.when(pl.col("begin").is_null()).then("form"))
    return rows.with_columns(said=pl.struct(_SAID).rank("dense").cast(pl.Int64))


def _copies_of_gold(gold: GoldMentions, documents: pl.DataFrame) -> pl.DataFrame:
    rows = _with_said(gold, documents).sort("mention")
    words = pl.col("said").unique().sort().cast(pl.String).str.join(" ")
    options = rows.group_by("group", "option", maintain_order=True).agg(pl.col("one_doc", "doc").first(), words=words)
    groups = options.group_by("group", maintain_order=True).agg(
        pl.col("one_doc", "doc").first(), whole=pl.col("words").unique().sort().str.join(" | ")
    )
    groups = groups.sort("group").with_columns(nth=_NTH.over("doc", "whole"))
    groups = groups.select("group", one_group=pl.col("group").min().over("one_doc", "whole", "nth"))
    options = options.join(groups, on="group", maintain_order="left").sort("option")
    options = options.with_columns(nth=_NTH.over("group", "words"))
    one_option = pl.col("option").min().over("one_group", "words", "nth")
    options = options.select("group", "option", "one_group", one_option=one_option)
    rows = rows.join(options, on=["group", "option"], maintain_order="left")
    rows = rows.with_columns(nth=_NTH.over("group", "option", "said"))
    one = pl.col("mention").min().over("one_group", "one_option", "said", "nth")
    return rows.select("mention", "one_doc", "one_group", "one_option", one=one)


def _copies_of_answers(answers: SystemAnswers, documents: pl.DataFrame) -> pl.DataFrame:
    rows = _with_said(answers, documents).sort("answer").with_columns(nth=_NTH.over("system", "doc", "said"))
    return rows.select("answer", "one_doc", one=pl.col("answer").min().over("system", "one_doc", "said", "nth"))


def _pool_gold(gold: GoldMentions, copies: pl.DataFrame) -> GoldMentions:
    rank = pl.when(pl.col("ignorable").is_null()).then(0).when(pl.col("ignorable") != "dropped").then(1).otherwise(2)
    rows = gold.join(copies, on="mention", maintain_order="left").sort(rank, "mention", maintain_order=True)
    rows = rows.unique("one", keep="first", maintain_order=True)
    rows = rows.with_columns(mention="one", doc="one_doc", group="one_group", option="one_option")
    return rows.sort("doc", "begin", "end", "mention").select(gold.columns)


def _pool_answers(answers: SystemAnswers, copies: pl.DataFrame) -> SystemAnswers:
    rows = answers.join(copies, on="answer", maintain_order="left").sort("answer")
    rows = rows.with_columns(inside=pl.col("inside").any().over("one"))
    rows = rows.unique("one", keep="first", maintain_order=True).with_columns(answer="one", doc="one_doc")
    return rows.sort("system", "doc", "begin", "end", "answer").select(answers.columns)
