"""Pairs of gold mentions and answers: those that share a character, and the best assignment of one to another.

The assignment is one-to-one and the same whatever the order of either side. Within each component of overlapping
mentions it has, in this order: the most correct pairs (by link, or by span where links are not compared), the most
pairs, the most equal links, the largest sum of intersection over union, the smallest offsets (gold in its order, each
with its first answer). All of it is exact: unions are brought to a common denominator, nothing is compared in floating
point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from remix.dense import components, counts
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.inputs.mentions import Mentions


def overlaps(mentions: Mentions) -> pl.DataFrame:
    """Return one row per overlapping pair: mention, answer, `equal` (spans), `link` (entities), `shared`, `union`
    (characters).

    `link` is true where both have an entity in common, or both have none. A span of no character overlaps its like
    alone. Where one of the two has no offsets, they are a pair of equal spans if their form is the same.
    """
    gold = mentions.gold.select("mention", "doc", "begin", "end", "link").drop_nulls(["begin", "end"])
    answers = mentions.answers.select("answer", "doc", "begin", "end", "link").drop_nulls(["begin", "end"])
    left, right = touching(gold, answers)
    pairs = pl.concat(
        [
            gold[left].select("mention", begin="begin", end="end", entity="link"),
            answers[right].select("answer", first="begin", last="end", answered="link"),
        ],
        how="horizontal",
    )
    shared = pl.min_horizontal("end", "last") - pl.max_horizontal("begin", "first")
    pairs = pairs.with_columns(
        equal=(pl.col("begin") == pl.col("first")) & (pl.col("end") == pl.col("last")),
        shared=shared.clip(0),
        union=pl.max_horizontal("end", "last") - pl.min_horizontal("begin", "first"),
    ).filter(pl.col("equal") | (pl.col("shared") > 0))
    # An empty span shares nothing even with itself: its like gets the overlap of a perfect match.
    pairs = pairs.with_columns(pl.when(pl.col("union") == 0).then(1).otherwise(name).alias(name) for name in _LENGTHS)
    pairs = pl.concat([pairs, _of_forms(mentions).select(pairs.columns)])
    pairs = pairs.with_columns(_link(pairs, mentions))
    return pairs.select("mention", "answer", "equal", "link", *_LENGTHS)


_LENGTHS = ("shared", "union")


def _of_forms(mentions: Mentions) -> pl.DataFrame:
    """Return the pairs of mentions of one document and form of which one has no offsets, as if they shared one place.

    A mention without form has no pair but such without one.
    """
    gold = mentions.gold.select("mention", "doc", "form", "begin", "end", entity="link")
    answers = mentions.answers.select("answer", "doc", "form", first="begin", last="end", answered="link")
    if gold["begin"].null_count() or answers["first"].null_count():
        pairs = gold.join(answers, on=["doc", "form"], maintain_order="left_right")
    else:
        pairs = gold.join(answers.clear(), on=["doc", "form"])
    pairs = pairs.filter(pl.col("begin").is_null() | pl.col("first").is_null())
    one = pl.lit(1, pl.Int64)
    return pairs.with_columns(equal=pl.lit(True), shared=one, union=one)


def touching(gold: pl.DataFrame, answers: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return row numbers of pairs in one document whose spans touch: all that overlap, and few others.

    Both have doc, begin and end; gold is sorted by doc and begin.
    """
    if gold.is_empty() or answers.is_empty():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # Documents one behind the other on one line, so that one sorted search serves all.
    width = max(int(gold["end"].max()), int(answers["end"].max())) + 2  # type: ignore[arg-type]
    first = (gold["doc"] * width + gold["begin"]).to_numpy()
    last = np.maximum.accumulate((gold["doc"] * width + gold["end"]).to_numpy())
    begin = (answers["doc"] * width + answers["begin"]).to_numpy()
    end = (answers["doc"] * width + answers["end"]).to_numpy()
    low = np.searchsorted(last, begin, side="left")
    high = np.searchsorted(first, end, side="right")
    count = np.maximum(high - low, 0)
    right = np.repeat(np.arange(len(begin)), count)
    left = np.arange(count.sum()) + np.repeat(low - (np.cumsum(count) - count), count)
    return left, right


def _link(pairs: pl.DataFrame, mentions: Mentions) -> pl.Expr:
    """Return whether the two of each pair have an entity in common, or none both."""
    beyond = len(mentions.entities)
    same = (pl.col("entity") == pl.col("answered")).alias("link")
    sets = pairs.filter((pl.col("entity") >= beyond) | (pl.col("answered") >= beyond))
    if sets.is_empty():
        return same
    common = (
        sets.filter((pl.col("entity") != NIL) & (pl.col("answered") != NIL))
        .select("mention", "answer")
        .join(mentions.gold_links, on="mention")
        .join(mentions.answer_links, on=["answer", "entity"])
        .select("mention", "answer")
        .unique()
        .with_columns(both=pl.lit(True))
    )
    both = (
        pairs.select("mention", "answer")
        .join(common, on=["mention", "answer"], how="left", maintain_order="left")["both"]
        .fill_null(False)
    )
    several = (pl.col("entity") >= beyond) | (pl.col("answered") >= beyond)
    return pl.when(several).then(pl.lit(both)).otherwise(same).alias("link")


def assign(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `edges` that are assigned.

    `edges` has `system` (each is assigned for itself), `group`, `option`, `mention`, `size` (how many
    annotations the option needs), `answer`, `correct`, `link`, `shared`, `union`. A group is assigned one option at
    most, an answer to one annotation at most; an option of several annotations needs an answer for each.
    """
    # Where a group and an answer have only each other, as nearly all have, there is nothing to choose.
    groups = edges["system"] * (1 + edges["group"].to_numpy().max(initial=0)) + edges["group"]
    single = (counts(groups) == 1) & (counts(edges["answer"]) == 1) & (edges["size"].to_numpy() == 1)
    return edges if single.all() else pl.concat([edges.filter(single), _choose(edges.filter(~single))])


def _choose(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the assigned rows; where either side of a component is one group or answer, its best row."""
    composed = (pl.col("size") > 1).any().over("system", "group")
    part = pl.when(composed).then("mention").otherwise(-1)
    # Of several alternatives that one answer fits, only the best can be part of a best assignment.
    best = _rank(edges.with_columns(composed=composed, part=part)).unique(
        ["system", "group", "answer", "part"], keep="first", maintain_order=True
    )
    degrees = best.with_columns(of_group=pl.len().over("system", "group"), of_answer=pl.len().over("answer"))
    degrees = degrees.with_columns(
        star=((pl.col("of_answer") == 1) & ~pl.col("composed")).all().over("system", "group"),
        point=((pl.col("of_group") == 1) & ~pl.col("composed")).all().over("answer"),
    )
    stars = degrees.filter("star").unique(["system", "group"], keep="first", maintain_order=True)
    points = degrees.filter(pl.col("point") & ~pl.col("star")).unique("answer", keep="first", maintain_order=True)
    rest = degrees.filter(~pl.col("point") & ~pl.col("star"))
    return pl.concat([part.select(edges.columns) for part in (stars, points)] + [_search(rest.select(edges.columns))])


def _rank(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the edges, the better of two that exclude each other first."""
    # Equal fractions of small integers are equal as floats too, and unequal ones differ.
    return edges.with_columns(iou=pl.col("shared") / pl.col("union")).sort(
        "correct", "link", "iou", "mention", "answer", descending=[True, True, True, False, False]
    )


def assign_most(rows: pl.DataFrame, left: Sequence[str], right: str, worth: str) -> pl.DataFrame:
    """Return the rows of the one-to-one assignment of what `left` names to what `right` does with the largest worth.

    The worth of an assignment is the sum of its rows'. `part` is added, the component that a row is of.
    """
    number = pl.struct(left).rank("dense"), pl.struct(right).rank("dense")
    ends = [rows.select(one.cast(pl.Int64) - 1).to_series().to_numpy() for one in number]
    rows = rows.with_columns(part=pl.Series(components(*ends)), left=pl.Series(ends[0]))
    star = (pl.col("left").n_unique().over("part") == 1) | (pl.col(right).n_unique().over("part") == 1)
    best = rows.filter(star).sort("part", worth, descending=[False, True], maintain_order=True)
    chosen = [best.unique("part", keep="first", maintain_order=True)]
    if len(rest := rows.filter(~star)):
        from scipy.optimize import linear_sum_assignment

        for own in rest.partition_by("part", maintain_order=True):
            places = tuple(own[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("left", right))
            table = np.zeros([int(place.max()) + 1 for place in places])
            table[places] = own[worth].to_numpy()
            taken = np.zeros_like(table, dtype=np.bool_)
            taken[linear_sum_assignment(table, maximize=True)] = True
            chosen.append(own.filter(taken[places]))
    return pl.concat(chosen).drop("left")


class _Move(NamedTuple):
    """One way to satisfy a group: the answers that it takes (a bit each), what it is worth, its rows."""

    answers: int
    worth: int
    rows: tuple[int, ...]


class _Path(NamedTuple):
    """The rows taken by a group, and those taken by the groups before it."""

    rows: tuple[int, ...]
    before: _Path | None


def _search(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the assigned rows of the components that are neither pairs nor stars."""
    if edges.is_empty():
        return edges
    edges = edges.sort("system", "mention", "answer")
    groups = edges.select(pl.struct("system", "group").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    labels = components(groups, edges["answer"].to_numpy())
    edges = edges.with_columns(component=pl.Series(labels)).sort("component", "system", "mention", "answer")
    bounds = np.flatnonzero(np.diff(edges["component"].to_numpy(), prepend=-1, append=-1))
    rows = edges.select("group", "option", "mention", "size", "answer", "correct", "link", "shared", "union").rows()
    chosen: list[int] = []
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        chosen.extend(first + row for row in _component(tuple(rows[first:last])))
    return edges[chosen].drop("component")


@lru_cache(maxsize=10_000)
def _component(rows: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the numbers of the assigned rows of one component (see `_search`).

    InKB and its like have most of the components of the whole.
    """
    common = math.lcm(*(row[8] for row in rows))
    bit = {a: 1 << place for place, a in enumerate(sorted({row[4] for row in rows}))}
    # One integer compares as the criteria do in turn: correct pairs, pairs, links, overlap.
    link = common * len(rows) + 1
    pair = link * (len(rows) + 1)
    right = pair * (len(rows) + 1)
    groups: dict[int, dict[int, list[int]]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row[0], {}).setdefault(row[1], []).append(number)
    moves = []
    for options in groups.values():
        ways: list[_Move] = []
        for numbers in options.values():
            for chosen in _ways(rows, numbers):
                worth = all(rows[n][5] for n in chosen) * right + len(chosen) * pair
                worth += sum(rows[n][6] * link + rows[n][7] * (common // rows[n][8]) for n in chosen)
                ways.append(_Move(sum(bit[rows[n][4]] for n in chosen), worth, chosen))
        moves.append(ways)
    return tuple(_best(moves))


def _ways(rows: Sequence[tuple[int, ...]], numbers: list[int]) -> Iterator[tuple[int, ...]]:
    """Return every choice of one answer for each annotation of an option, all answers different."""
    by_annotation: dict[int, list[int]] = {}
    for number in numbers:
        by_annotation.setdefault(rows[number][2], []).append(number)
    if len(by_annotation) == rows[numbers[0]][3]:
        for chosen in product(*by_annotation.values()):
            if len({rows[n][4] for n in chosen}) == len(chosen):
                yield chosen


def _best(moves: list[list[_Move]]) -> Iterable[int]:
    """Return the rows of the best choice of at most one move a group, no answer taken twice.

    A state is the set of taken answers that later groups could still want. States stay in the order of the choices
    that led to them, so the first of equals is the one with the smallest offsets.
    """
    wanted = [0] * (len(moves) + 1)
    for i in range(len(moves) - 1, -1, -1):
        wanted[i] = wanted[i + 1]
        for move in moves[i]:
            wanted[i] |= move.answers
    states: dict[int, tuple[int, _Path | None]] = {0: (0, None)}
    for i, ways in enumerate(moves):
        following: dict[int, tuple[int, _Path | None]] = {}
        for taken, (worth, path) in states.items():
            for move in (*ways, _Move(0, 0, ())):
                if taken & move.answers:
                    continue
                state = (taken | move.answers) & wanted[i + 1]
                total = worth + move.worth
                if state not in following or total > following[state][0]:
                    following.pop(state, None)
                    following[state] = (total, _Path(move.rows, path))
        states = following
    found: list[int] = []
    path = states[0][1]
    while path is not None:
        found.extend(path.rows)
        path = path.before
    return found
