"""neleval's measures: triples of aggregate, filter and key, their names and those of groups of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from remix.errors import UnknownName
from remix.scoring.statistics.clusters import CLUSTER_MEASURES

OVERLAPS = ("overlap-maxmax", "overlap-maxsum", "overlap-summax", "overlap-sumsum")
AGGREGATES = ("sets", *OVERLAPS, *CLUSTER_MEASURES)
FILTERS = {
    "": pl.lit(True),
    "is_linked": pl.col("kbid").is_not_null(),
    "is_nil": pl.col("kbid").is_null(),
    "is_first": pl.col("is_first"),
}
FIELDS = {
    "docid": ("doc",),
    "start": ("begin",),
    "end": ("end",),
    "span": ("doc", "begin", "end"),
    "eid": ("eid",),
    "kbid": ("kbid",),
    "type": ("type",),
    "is_nil": ("is_nil",),
    "is_linked": ("is_linked",),
    "is_first": ("is_first",),
    "score": ("confidence",),
}
"""The columns of the fields of a key. The first annotation of an `eid` in a document is so whatever is filtered."""


@dataclass(frozen=True)
class Triple:
    """How annotations are aggregated, which of them, and by which fields two of them are the same."""

    aggregate: str
    filter: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.aggregate}:{self.filter}:{'+'.join(self.key)}"


NAMED: Mapping[str, Triple] = {
    "strong_mention_match": Triple("sets", "", ("span",)),
    "strong_typed_mention_match": Triple("sets", "", ("span", "type")),
    "strong_linked_mention_match": Triple("sets", "is_linked", ("span",)),
    "strong_link_match": Triple("sets", "is_linked", ("span", "kbid")),
    "strong_nil_match": Triple("sets", "is_nil", ("span",)),
    "strong_all_match": Triple("sets", "", ("span", "kbid")),
    "strong_typed_link_match": Triple("sets", "is_linked", ("span", "type", "kbid")),
    "strong_typed_nil_match": Triple("sets", "is_nil", ("span", "type")),
    "strong_typed_all_match": Triple("sets", "", ("span", "type", "kbid")),
    "entity_match": Triple("sets", "is_linked", ("docid", "kbid")),
    "muc": Triple("muc", "", ("span",)),
    "b_cubed": Triple("b_cubed", "", ("span",)),
    "b_cubed_plus": Triple("b_cubed", "", ("span", "kbid")),
    "entity_ceaf": Triple("entity_ceaf", "", ("span",)),
    "mention_ceaf": Triple("mention_ceaf", "", ("span",)),
    "mention_ceaf_plus": Triple("mention_ceaf", "", ("span", "kbid")),
    "typed_mention_ceaf": Triple("mention_ceaf", "", ("span", "type")),
    "typed_mention_ceaf_plus": Triple("mention_ceaf", "", ("span", "type", "kbid")),
    "pairwise": Triple("pairwise", "", ("span",)),
}
"""neleval's own names (neleval/configs.py)."""

_OF_CLUSTERS = ("entity_ceaf", "b_cubed", "pairwise", "muc", "b_cubed_plus", "typed_mention_ceaf", "mention_ceaf_plus")
_TAC09 = ("strong_link_match", "strong_nil_match", "strong_all_match")
_TAC11 = (*_TAC09, "b_cubed", "b_cubed_plus")
_TAC14 = ("strong_mention_match", "strong_typed_mention_match", "strong_typed_all_match")
_HACHEY = ("strong_mention_match", "strong_linked_mention_match", "strong_link_match", "entity_match")

GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(NAMED),
    "all-tagging": tuple(name for name, triple in NAMED.items() if triple.aggregate == "sets"),
    "all-coref": ("mention_ceaf", *_OF_CLUSTERS, "typed_mention_ceaf_plus"),
    "tac09": _TAC09,
    "tac11": _TAC11,
    "tac14": (*_TAC11, *_TAC14, "mention_ceaf", "typed_mention_ceaf"),
    "cornolti": _HACHEY[1:],
    "hachey": _HACHEY,
    "luo": ("muc", "b_cubed", "mention_ceaf", "entity_ceaf"),
}
"""neleval's names for several measures (neleval/configs.py)."""

_ALIASES = {("A2KB", "strong"): "strong_all_match", ("ERec", "strong"): "strong_mention_match"}
_ALIASES |= {("C2KB", "strong"): "entity_match"}
_TASKS = tuple(task for task, _ in _ALIASES)


def triple_named(name: str, task: str = "A2KB", further: Collection[str] = ()) -> Triple:
    """Return the triple of a name, of a text `aggregate:filter:key+key`, or of a task under strong matching.

    `further` are fields that the types of annotations have. Raises `UnknownName` for other names, tasks, aggregates,
    filters and fields.

    >>> str(triple_named("strong_link_match")), triple_named("sets:is_linked:span+kbid") == NAMED["strong_link_match"]
    ('sets:is_linked:span+kbid', True)
    """
    if task not in _TASKS:
        raise UnknownName("task of this profile", task, _TASKS, "remix show profile:neleval")
    if name.count(":") != 2:
        name = _ALIASES.get((task, name), name)
        if name not in NAMED:
            raise UnknownName("measure of neleval", name, [*NAMED, *GROUPS], "remix show profile:neleval")
        return NAMED[name]
    aggregate, chosen, key = name.split(":")
    chosen = "" if chosen == "None" else chosen
    fields = tuple(key.split("+"))
    for kind, given, known in (
        ("aggregate", [aggregate], AGGREGATES),
        ("filter", [chosen], [*FILTERS, *further]),
        ("field", fields, [*FIELDS, *further]),
    ):
        for one in given:
            if one not in known:
                raise UnknownName(f"{kind} of a triple", one, known)
    return Triple(aggregate, chosen, fields)
