"""Matchings by words: fuzzy, where texts are alike, and expanded, where spans are equal once grown to words."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix import progress
from remix.dense import look_up
from remix.scoring.matching import Case, Matching, spell_parameter, with_detail
from remix.scoring.matching.pairs import overlaps

DEFAULT = 0.85


def _similar(case: Case) -> pl.DataFrame:
    """Return the overlapping pairs with `similarity`: 1 - edit distance / length of the longer text.

    It is 1 for equal spans, and null where the words of one of the two are not known, which is said.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    case = with_detail(case, "surface_form")
    pairs = look_up(case.overlaps, "mention", case.gold, ["surface_form"]).rename({"surface_form": "asked"})
    pairs = look_up(pairs, "answer", case.answers, ["surface_form"])
    texts = (pairs[name].fill_null("").to_list() for name in ("asked", "surface_form"))
    found: list[float] = []
    if len(pairs):
        found = cpdist(*texts, scorer=Levenshtein.normalized_similarity, dtype="float64").tolist()
    known = pl.col("asked").is_not_null() & pl.col("surface_form").is_not_null()
    alike = pl.when("equal").then(1.0).when(known).then(pl.Series(found, dtype=pl.Float64))
    pairs = pairs.with_columns(similarity=alike).drop("asked", "surface_form")
    if unknown := pairs["similarity"].null_count():
        progress.note(
            f"fuzzy matching compares words, and {unknown} overlapping spans match nothing because theirs are not "
            "known: give gold with its texts, or runs with surface forms"
        )
    return pairs


def _at(threshold: float, name: str = "") -> Matching:
    alike = pl.col("similarity") >= threshold
    return Matching(
        name or f"fuzzy({spell_parameter(threshold)})",
        "the spans overlap and 1 - edit distance / longer length is "
        f"{spell_parameter(threshold)} or more; fuzzy(T) for another T",
        # At 1 only equal spans are alike: the same word beside itself is no match.
        pl.col("equal") if threshold == 1 else alike,
        _similar,
        _at,
        by_document=True,
    )


def _over(threshold: float, name: str = "") -> Matching:
    return Matching(
        name or f"fuzzy-over({spell_parameter(threshold)})",
        f"the spans overlap and 1 - edit distance / longer length is above {spell_parameter(threshold)}, as EUEF has "
        "it",
        pl.col("similarity") > threshold,
        _similar,
        _over,
        by_document=True,
    )


fuzzy = _at(DEFAULT, "fuzzy")
fuzzy_over = _over(DEFAULT, "fuzzy-over")


_WORD = r"\p{L}\p{N}'\"_"
_RUNS = rf"[{_WORD}]+|[^{_WORD}]+"
_GROWN = ["begin", "end", "first", "last"]


def _grow_spans(case: Case) -> pl.DataFrame:
    """Return the pairs whose grown spans overlap, with `alike`: one of either span's two forms is the other's."""
    spans = pl.concat([side.select("doc", "begin", "end") for side in (case.gold, case.answers)]).unique()
    found = grow(spans, case.evidence.texts)
    sides = (case.gold, case.answers)
    gold, answers = (one.join(found, on=["doc", "begin", "end"], how="left", maintain_order="left") for one in sides)
    wide = [side.with_columns(begin="first", end="last").sort("doc", "begin", "end") for side in (gold, answers)]
    pairs = overlaps(replace(case.mentions, gold=wide[0], answers=wide[1])).drop("equal", "shared", "union")
    pairs = look_up(pairs, "mention", gold, _GROWN).rename({name: f"gold_{name}" for name in _GROWN})
    pairs = look_up(pairs, "answer", answers, _GROWN)
    forms = (("begin", "end"), ("first", "last"))
    alike = [
        (pl.col(f"gold_{one}") == pl.col(begin)) & (pl.col(f"gold_{two}") == pl.col(end))
        for one, two in forms
        for begin, end in forms
    ]
    shared = pl.min_horizontal("gold_end", "end") - pl.max_horizontal("gold_begin", "begin")
    union = pl.max_horizontal("gold_end", "end") - pl.min_horizontal("gold_begin", "begin")
    placed = pl.col("gold_begin").is_not_null() & pl.col("begin").is_not_null()
    one = pl.lit(1, pl.Int64)
    # What has no place is a pair by its form.
    return pairs.select(
        *("mention", "answer", "link"),
        equal=alike[0] | ~placed,
        alike=pl.any_horizontal(alike) | ~placed,
        shared=pl.when(placed).then(shared.clip(0)).otherwise(one),
        union=pl.when(placed).then(union).otherwise(one),
    )


def grow(spans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return doc, begin and end of each span with `first` and `last`, the span grown to the boundaries of words.

    A word is a run of letters, digits and `'"_`. The last character of a text is never grown over, and a quotation
    mark that the span would begin with and does not close is left out. `texts` has doc and text; where there is no
    text, spans stay as they are.

    >>> text = pl.DataFrame({"doc": [0], "text": ["Albert's birthplace is Ulm."]})
    >>> grow(pl.DataFrame({"doc": [0], "begin": [0], "end": [6]}), text).row(0)
    (0, 0, 6, 0, 8)
    """
    spans = spans.select("doc", "begin", "end").unique().sort("doc", "begin", "end")
    words = _words(texts)
    # The word that holds the character before the span, and the one that holds the character after it.
    left, right = (
        spans.with_columns(at=at)
        .sort("doc", "at")
        .join_asof(words, left_on="at", right_on="from", by="doc", check_sortedness=False)
        .select("doc", "begin", "end", pl.when(pl.col("at") < pl.col("to")).then(bound).alias(name))
        for at, bound, name in (
            (pl.col("begin") - 1, pl.col("from"), "first"),
            (pl.col("end"), pl.min_horizontal("to", pl.col("size") - 1), "last"),
        )
    )
    keys = ["doc", "begin", "end"]
    found = spans.join(left, on=keys, maintain_order="left").join(right, on=keys, maintain_order="left")
    found = found.join(texts, on="doc", how="left", maintain_order="left").with_columns(
        first=pl.coalesce("first", "begin"), last=pl.max_horizontal("last", "end")
    )
    inside = pl.col("text").str.slice(pl.col("first"), pl.col("last") - pl.col("first"))
    opened = inside.str.starts_with('"') & (inside.str.count_matches('"', literal=True) == 1)
    return found.select(*keys, first=pl.col("first") + opened.fill_null(False).cast(pl.Int64), last="last")


def _words(texts: pl.DataFrame) -> pl.DataFrame:
    """Return doc, `from` and `to` of each word, and the `size` of its text."""
    runs = texts.select(
        "doc", size=pl.col("text").str.len_chars().cast(pl.Int64), run=pl.col("text").str.extract_all(_RUNS)
    )
    runs = runs.explode("run").drop_nulls("run").with_columns(length=pl.col("run").str.len_chars().cast(pl.Int64))
    runs = runs.with_columns(to=pl.col("length").cum_sum().over("doc"))
    words = runs.filter(pl.col("run").str.contains(rf"^[{_WORD}]"))
    return words.select("doc", pl.col("to").sub(pl.col("length")).alias("from"), "to", "size").sort("doc", "from")


expanded = Matching(
    "expanded",
    "begin and end are equal, as they are or grown to the boundaries of words",
    pl.col("alike"),
    _grow_spans,
    by_document=True,
)
