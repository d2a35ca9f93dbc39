"""Which answer is held against which gold mention."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.errors import UnknownName
from remix.scoring.conventions import Convention
from remix.scoring.matching import Case, Counter, matching_named
from remix.scoring.statistics import count_pairs
from remix.scoring.tasks import count_entities, elements, task_named
from remix.scoring.tools.neleval import counts_by_triple, triple_named


@dataclass(frozen=True, kw_only=True)
class Pairing(Convention):
    """Which answer is held against which mention."""

    count: Counter


OF_PEERS = ("A2KB", "D2KB", "ERec", "C2KB")
"""The tasks that tools other than this one count mention by mention."""


OF_EUEF = ("candidates", "NIL")
"""Those that EUEF has besides: its candidate matching (CM) and NIL matching (NM)."""


def _require_known(task: str, known: tuple[str, ...] = OF_PEERS) -> None:
    if task not in known:
        raise UnknownName("task of this profile", task, known)


def _maximum(case: Case, task: str, matching: str) -> pl.DataFrame:
    return task_named(task).count(case, matching_named(matching))


def _greedy(case: Case, task: str, matching: str) -> pl.DataFrame:
    _require_known(task)
    if task == "C2KB":
        return count_entities(case, repeated=True)
    compared = elements(case, task, "strong" if task == "D2KB" else matching)
    taken = first_unused(compared.edges)
    missed = case.mentions.for_each_system(compared.gold).join(taken, on=["system", "group"], how="anti")
    return count_pairs(taken, compared.answers.join(taken, on="a", how="anti"), missed)


def first_unused(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that each group in turn makes with its first answer that no earlier group took.

    >>> edges = pl.DataFrame({"system": [0, 0, 0], "doc": [0, 0, 0], "group": [0, 0, 1], "a": [0, 1, 0]})
    >>> first_unused(edges).select("group", "a").rows()  # group 1 is left with nothing
    [(0, 0)]
    """
    left, found = edges, [edges.clear()]
    while len(left):
        # Who has no earlier rival for the first answer of its own takes it; each turn settles one group at least.
        first = left.unique(["system", "group"], keep="first", maintain_order=True)
        earliest = left.group_by("a").agg(earliest=pl.col("group").min())
        taken = first.join(earliest, on="a").filter(pl.col("group") == pl.col("earliest")).drop("earliest")
        found.append(taken)
        left = left.join(taken, on=["system", "group"], how="anti", maintain_order="left")
        left = left.join(taken, on="a", how="anti", maintain_order="left")
    return pl.concat(found)


def _any(case: Case, task: str, matching: str) -> pl.DataFrame:
    _require_known(task)
    if task == "C2KB":
        return count_entities(case, repeated=False)
    compared = elements(case, task, matching)
    first = compared.edges.unique(["system", "group"], keep="first", maintain_order=True).unique("a")
    wrong = compared.answers.join(compared.edges, on="a", how="anti")
    missed = case.mentions.for_each_system(compared.gold).join(compared.edges, on=["system", "group"], how="anti")
    return count_pairs(first, wrong, missed)


def _longest(case: Case, task: str, matching: str) -> pl.DataFrame:
    _require_known(task, (*OF_PEERS, *OF_EUEF))
    if task == "C2KB":
        return count_entities(case, repeated=False)
    compared = elements(case, task, matching)
    first = compared.edges.sort("a", "group").unique("a", keep="first", maintain_order=True)
    first = first.join(compared.answers.select("a", "length"), on="a")
    kept = first.sort("length", "a", descending=[True, False]).unique(["system", "group"], keep="first")
    dropped = first.join(kept, on="a", how="anti")
    edges = compared.edges.join(dropped, on="a", how="anti")
    answers = compared.answers.join(dropped, on="a", how="anti")
    found = edges.unique(["system", "group"])
    missed = case.mentions.for_each_system(compared.gold).join(found, on=["system", "group"], how="anti")
    return count_pairs(found, answers.join(edges, on="a", how="anti"), missed)


pair_maximum = Pairing(
    name="pair-maximum",
    words="the best one-to-one assignment, whatever the order: most correct pairs, then overlap, then offsets",
    count=_maximum,
)
pair_first_unused = Pairing(
    name="pair-first-unused",
    words="each gold mention in turn takes the first unused answer that matches, so that order matters; "
    "entities of documents count as often as they are linked to",
    count=_greedy,
)
pair_any = Pairing(
    name="pair-any",
    words="an answer is right where it is the first match of a gold mention, wrong where it matches none; "
    "one answer may serve several mentions, and a second match of a mention counts neither way",
    count=_any,
)
pair_longest = Pairing(
    name="pair-longest",
    words="of several answers that match a gold mention the longest stays and the others are taken out",
    count=_longest,
)


def _keys(case: Case, task: str, matching: str) -> pl.DataFrame:
    return counts_by_triple(case, triple_named(matching, task))


pair_keys = Pairing(
    name="pair-keys",
    words="annotations are the same where the fields of the measure's key are; each key counts once a side, "
    "clusters are the mentions of one entity identifier",
    count=_keys,
)
