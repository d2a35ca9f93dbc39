"""Agreement of two gold annotations of the same texts, and of systems on the same mentions.

κ of two is Cohen's: the share of agreement beyond what two annotators with the same labels would reach by chance.
Source: Cohen, A Coefficient of Agreement for Nominal Scales, 1960.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.documents import align
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.inputs.evidence import Evidence
from remix.scoring.inputs.mentions import TOLD, Mentions, mentions_of
from remix.scoring.inputs.texts import laid_on_texts
from remix.scoring.matching import MATCHINGS, Case
from remix.scoring.matching.pairs import overlaps, touching
from remix.scoring.statistics import ratio

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

FREE = -2
"""The label of a token outside of all mentions."""


def agreement(first: Frames, second: Frames, kb: KnowledgeBase | None = None) -> pl.DataFrame:
    """Return how far two annotations agree: a row for each thing compared and, for classes, each class.

    Columns: `compared`, `class`, `first` and `second` (how many each has), `agreed`, `f1` (2 · agreed / (first +
    second)), `kappa`. Compared are

    - 'spans, strong' and 'spans, weak', 'links, strong' and 'links, weak': mentions, paired as runs are with gold; κ
      is over the entities of those of equal spans;
    - 'class': mentions of equal spans that have the class on both sides; κ is over those of equal spans;
    - 'tokens in mentions' and 'tokens by entity': words; κ is over all words of the texts, with one label each, that
      of the longest mention that covers them, or none.

    Annotations of one span are one mention, on whose link two agree where they share one; entities are the same as in
    `evaluate`, by the redirects and sameAs links of a knowledge base. Documents are aligned by IRI, else by text; those
    that only one has are left out. Raises `BadInput` where they share none, `UsageError` where the texts are not known.
    """
    second = laid_on_texts(first, {"the second gold": second})["the second gold"]
    with progress.once():
        pairs = align(first, second, "the second gold")
        first, second = _keep_required(first, pairs["gold"]), _keep_required(second, pairs["document"])
        mentions = mentions_of(first, {"the second gold": second}, kb)
    known = Evidence(mentions, Inputs(first, {"the second gold": second}))
    case = Case(mentions, mentions.gold, mentions.answers, overlaps(mentions), known)
    rows = [row for what in ("span", "link") for row in _of_mentions(case, what)]
    classes = _of_classes(case, first, second)
    texts = mentions.documents.select("doc", "document").join(first.documents.drop_nulls("text"), on="document")
    if texts.is_empty():
        raise UsageError("the texts of the two annotations are not known: agreement on words needs them")
    tokens = _of_tokens(mentions, texts.unique("doc"))
    return pl.concat([pl.DataFrame(rows, schema=_COLUMNS), classes, pl.DataFrame(tokens, schema=_COLUMNS)])


_COLUMNS = {
    "compared": pl.String(),
    "class": pl.String(),
    **{name: pl.Int64() for name in ("first", "second", "agreed")},
    **{name: pl.Float64() for name in ("f1", "kappa")},
}


def kappa(pairs: pl.DataFrame) -> float | None:
    """Return Cohen's κ of the labels `one` and `other`; None without rows, or where chance alone agrees on all.

    >>> kappa(pl.DataFrame({"one": [1, 1, 2, 2], "other": [1, 1, 2, 1]}))  # (3/4 - 1/2) / (1 - 1/2)
    0.5
    """
    if pairs.is_empty():
        return None
    seen = pairs.select((pl.col("one") == pl.col("other")).mean()).item()
    one, other = (pairs.group_by(label=name).len(name=name) for name in ("one", "other"))
    both = one.join(other, on="label")
    chance = both.select((pl.col("one") * pl.col("other")).sum()).item() / len(pairs) ** 2
    return None if chance >= 1 else float((seen - chance) / (1 - chance))


def kappa_of_several(right: pl.Series, raters: int) -> float | None:
    """Return Fleiss's κ of raters, of whom so many say yes of each thing; None where chance alone agrees on all.

    It is the share of pairs of raters that agree on a thing, beyond what is expected where each says yes as often as
    all of them do together. Source: Fleiss, Measuring Nominal Scale Agreement among Many Raters, 1971.

    >>> kappa_of_several(pl.Series([3, 3, 0, 1]), 3)  # 5/6 agree, by chance (7² + 5²)/12²
    0.657...
    """
    if raters < 2 or right.is_empty():
        return None
    yes, pairs = right.cast(pl.Float64), raters * (raters - 1)
    no = raters - yes
    seen = float((yes * (yes - 1) + no * (no - 1)).sum()) / (pairs * len(right))
    share = float(yes.sum()) / (raters * len(right))
    chance = share**2 + (1 - share) ** 2
    return None if chance >= 1 else (seen - chance) / (1 - chance)


def _keep_required(frames: Frames, documents: pl.Series) -> Frames:
    """Return the documents that both have, each span once; ignorable annotations are no statement of an annotator."""
    inside = frames.keep(documents=documents).gold()
    first = pl.col("annotation").min().over("document", "begin", "end", "told")
    rows = inside.annotations.with_columns(TOLD).with_columns(own=first).drop("told")
    named = rows.select("annotation", "own")

    def move(table: pl.DataFrame) -> pl.DataFrame:
        there = table.join(named, on="annotation", maintain_order="left").with_columns(annotation="own")
        return there.select(table.columns).unique(maintain_order=True)

    once = rows.filter(pl.col("annotation") == pl.col("own")).with_columns(group="own", option="own").drop("own")
    return replace(inside, annotations=once, links=move(inside.links), classes=move(inside.classes))


def _of_mentions(case: Case, criterion: str) -> list[dict[str, object]]:
    rows, sizes = [], (case.gold["group"].n_unique(), len(case.answers))
    for name in ("strong", "weak"):
        judged = case.judge(criterion, MATCHINGS[name])
        value = kappa(_label(case, judged.pairs)) if (criterion, name) == ("link", "strong") else None
        rows.append(_row(f"{criterion}s, {name}", *sizes, len(judged.groups), value))
    return rows


def _row(what: str, first: int, second: int, agreed: int, value: float | None) -> dict[str, object]:
    f1 = 2 * agreed / (first + second) if first + second else None
    return {"compared": what, "class": "", "first": first, "second": second, "agreed": agreed, "f1": f1, "kappa": value}


def _label(case: Case, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the entities of paired mentions as `one` and `other`; of several the one they share, else the first."""
    named = pairs.join(_first(case.mentions.gold_links, "mention", "one"), on="mention", how="left")
    named = named.join(_first(case.mentions.answer_links, "answer", "other"), on="answer", how="left")
    named = named.with_columns(pl.col("one", "other").fill_null(NIL))
    return named.select("one", other=pl.when("correct").then("one").otherwise("other"))


def _first(links: pl.DataFrame, key: str, name: str) -> pl.DataFrame:
    return links.group_by(key).agg(pl.col("entity").min().alias(name))


def _of_classes(case: Case, first: Frames, second: Frames) -> pl.DataFrame:
    pairs = case.judge("span", MATCHINGS["strong"]).pairs.select("mention", "answer")
    one = (
        case.gold.select("mention", "annotation")
        .join(first.classes, on="annotation")
        .select("mention", "class")
        .unique()
    )
    other = (
        case.answers.select("answer", "annotation")
        .join(second.classes, on="annotation")
        .select("answer", "class")
        .unique()
    )
    left, right = pairs.join(one, on="mention"), pairs.join(other, on="answer")
    both = left.join(right, on=["mention", "answer", "class"])
    sides = {"first": one, "second": other, "agreed": both, "left": left, "right": right}
    every = pl.concat([rows.select("class", side=pl.lit(name)) for name, rows in sides.items()])
    counted = [(pl.col("side") == name).sum().cast(pl.Int64).alias(name) for name in sides]
    table = every.group_by("class").agg(counted).sort("class")
    size, agreed = len(pairs), pl.col("agreed")
    # In whole numbers, times size², so that a class that no pair has is 0 / 0 and not what rounding leaves.
    seen = size * (size - pl.col("left") - pl.col("right") + 2 * agreed)
    chance = pl.col("left") * pl.col("right") + (size - pl.col("left")) * (size - pl.col("right"))
    return table.select(
        pl.lit("class").alias("compared"),
        *("class", "first", "second", "agreed"),
        f1=ratio(2 * agreed, pl.col("first") + pl.col("second")),
        kappa=ratio(seen - chance, size * size - chance),
    )


def _of_tokens(mentions: Mentions, texts: pl.DataFrame) -> list[dict[str, object]]:
    """Return the rows of words, which are what Unicode calls word characters one after another."""
    parts = texts.select("doc", part=pl.col("text").str.extract_all(r"\w+|\W+")).explode("part").drop_nulls()
    length = pl.col("part").str.len_chars().cast(pl.Int64)
    tokens = parts.with_columns(end=length.cum_sum().over("doc"))
    tokens = tokens.with_columns(begin=pl.col("end") - length).filter(pl.col("part").str.contains(r"^\w"))
    tokens = tokens.select("doc", "begin", "end").sort("doc", "begin").with_row_index("token")
    one = _covering(tokens, mentions.gold, _first(mentions.gold_links, "mention", "label"), "mention")
    other = _covering(tokens, mentions.answers, _first(mentions.answer_links, "answer", "label"), "answer")
    labels = tokens.select("token").with_columns(one=pl.Series(one), other=pl.Series(other))
    inside = labels.select("token", (pl.col("one", "other") != FREE).cast(pl.Int64))
    rows = []
    for what, found, free in (("tokens in mentions", inside, 0), ("tokens by entity", labels, FREE)):
        sizes = [int((found[side] != free).sum()) for side in ("one", "other")]
        agreed = found.filter((pl.col("one") != free) & (pl.col("one") == pl.col("other")))
        rows.append(_row(what, sizes[0], sizes[1], len(agreed), kappa(found)))
    return rows


def _covering(tokens: pl.DataFrame, rows: pl.DataFrame, labels: pl.DataFrame, key: str) -> pl.Series:
    """Return for each token the label of the longest mention that covers any of it, the first of equals."""
    spans = rows.join(labels, on=key, how="left", maintain_order="left").with_columns(pl.col("label").fill_null(NIL))
    spans = spans.drop_nulls(["begin", "end"]).sort("doc", "begin", key)
    left, right = touching(spans.select("doc", "begin", "end"), tokens)
    pairs = pl.concat(
        [tokens[right], spans[left].select(key, "label", first="begin", last="end")], how="horizontal"
    ).filter((pl.col("first") < pl.col("end")) & (pl.col("begin") < pl.col("last")))
    pairs = pairs.sort("token", pl.col("last") - pl.col("first"), key, descending=[False, True, False])
    best = pairs.unique("token", keep="first", maintain_order=True).select("token", "label")
    return tokens.join(best, on="token", how="left", maintain_order="left")["label"].fill_null(FREE)
