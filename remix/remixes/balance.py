"""Balance: the largest selection that is even in columns, so that a remix has no skew by construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from remix.errors import EmptySelection, UnknownName, UsageError
from remix.frames import Frames
from remix.measures.classes import class_mapping
from remix.measures.columns import Slicing
from remix.measures.partitions import Breakdown, Subset, breakdown
from remix.names import NIF, UNSPECIFIED
from remix.question import Several, several
from remix.remixes.closure import Narrow, Narrowed
from remix.remixes.partitions import slice_store
from remix.store import Store
from remix.store.queries import Query
from remix.vocabularies import COLUMNS as OF_CLASSES

if TYPE_CHECKING:
    from remix.remixes.allotment import Allotment

OVER = ("marginals", "cells")
"""What is even: each column by itself, or each combination of their parts."""

EVERYTHING = Query.parse(
    f"SELECT ?document ?annotation WHERE {{ ?annotation <{NIF}referenceContext> ?document }}", "balanced"
)
"""Selects all annotations, where no query is named."""

MAXIMUM = 100_000
"""Cells: that many are refused before they are made."""

NONE_OF_THESE = "none of these"
"""The row of what is in no part that was to be even, as it has no value or its part no share."""

_COARSE = "dbo"
"""The vocabulary of the coarse classes."""
_CROSS = " × "
_SHOWN = 5


@dataclass(frozen=True)
class Balance:
    """What a selection is to be even in: columns as `remix partition` takes them, cut over what a query selects.

    What is chosen are mentions that are required, alternatives of one together; the others of a kept document become
    ignorable as in every remix. Each part of a column has as many as any other or, `over` 'cells', each combination of
    parts. Parts may have up to `tolerance` mentions more than that. A mention of several parts of a column counts in
    each of them, as it does where scores are sliced.

    `shares` say of parts how many times as many they have. Of a column in which none is named all parts have the share
    1 but that of what has no value ('unspecified'); of classes, of which most are kinds of others, person, organisation
    and place where the vocabulary has these. Where one is named that is not 0, the others of its column are not made
    even, and a mention in none that is named is left out. Nothing of the share 0 is kept. A part is called by its name,
    the name of its file or, of a class, what stands after the last '/' or '#', with its column and ':' before it where
    several columns have one of that name.

    >>> Balance.of("class,words:quantiles:4").label
    'class, words:quantiles:4'
    """

    by: tuple[Breakdown, ...]
    over: str = "marginals"
    shares: Mapping[str, int] = field(default_factory=dict)
    tolerance: int = 0
    seed: int = 0

    @classmethod
    def of(
        cls,
        by: Several,
        *,
        over: str = "marginals",
        shares: Mapping[str, object] | None = None,
        tolerance: int = 0,
        seed: int | None = None,
    ) -> Balance:
        """Return what these words ask for; raises `UsageError` for what cannot be."""
        columns = [one for text in several(by) for one in breakdown(text)]
        if len({one.label for one in columns}) < len(columns):
            raise UsageError(f"a column is there twice: {', '.join(one.label for one in columns)}")
        if over not in OVER:
            raise UnknownName("way of balancing", over, OVER)
        if tolerance < 0:
            raise UsageError(f"a tolerance is a number of mentions, 0 or more, not {tolerance}")
        if seed is not None and seed < 0:
            raise UsageError(f"a seed is 0 or more, not {seed}")
        numbers = {name: _whole(name, share) for name, share in (shares or {}).items()}
        return cls(tuple(columns), over, numbers, tolerance, seed or 0)

    @property
    def label(self) -> str:
        """Return its columns as the signature of a remix has them."""
        return ", ".join(one.label for one in self.by)

    def describe(self) -> dict[str, str]:
        """Return what signature and manifest tell of it, by the local names of terms."""
        shares = ", ".join(f"{name}={share}" for name, share in sorted(self.shares.items()))
        told = {"balance": self.label, "balanceOver": self.over, "balanceShares": shares}
        return {**told, "balanceTolerance": str(self.tolerance or ""), "balanceSeed": str(self.seed)}

    def narrow(self, store: Store) -> Narrow:
        """Return what leaves of a selection from loaded datasets the largest part that is even.

        It raises `UsageError` and `UnknownName` for columns, schemes and shares that there are not, and
        `EmptySelection` where nothing is even, with what to do.
        """
        return lambda origin, selected: _narrow(self, store, origin, selected)


def _whole(name: str, share: object) -> int:
    try:
        number = int(str(share))
    except ValueError:
        number = -1
    if number < 0:
        raise UsageError(f"the share of '{name}' is a whole number, 0 for none of it, not '{share}'")
    return number


def _narrow(asked: Balance, store: Store, origin: Frames, selected: pl.Series) -> Narrowed:
    # A study reads what is asked for without the library that solves it.
    from remix.remixes.allotment import EvenPart, allot

    gold = _gold_of(origin, selected)
    slicings = [_cut(store, gold, one) for one in asked.by]
    parts = _list_parts(asked, slicings)
    mentions = _list_mentions(gold, slicings, parts)
    kinds = mentions.group_by("kind", *_parts_of(asked)).agg(available=pl.len()).sort("kind")
    within = _list_members(kinds, len(asked.by)).join(parts, on=["column", "key"], maintain_order="left")
    # A kind that can be chosen has a part in each column that is wanted, and none that is not.
    has = within.group_by("kind").agg(
        columns=pl.col("column").filter(pl.col("share") > 0).n_unique(), unwanted=(pl.col("share") == 0).any()
    )
    can = has.filter(~pl.col("unwanted"), columns=len(asked.by))["kind"]
    usable = kinds.filter(pl.col("kind").is_in(can.implode())).with_row_index("place")
    classes, members = (parts, within) if asked.over == "marginals" else _cross(parts, within)
    placed = members.join(usable.select("kind", "place"), on="kind", maintain_order="left_right")
    wanted = classes.filter(pl.col("share") > 0).join(
        placed.group_by("column", "key").agg(kinds="place"), on=["column", "key"], how="left", maintain_order="left"
    )
    _refuse_empty(asked, wanted.filter(pl.col("kinds").is_null()), members)
    program = [EvenPart(*row) for row in wanted.select("column", "share", "kinds").iter_rows()]
    found = allot(usable["available"].to_list(), program, tolerance=asked.tolerance)
    if not sum(found.taken):
        raise EmptySelection(_explain_nothing(asked, wanted, found))
    taken = usable.select("kind", usable="available", taken=pl.Series(found.taken, dtype=pl.Int64))
    counted = kinds.select("kind", "available").join(taken, on="kind", how="left", maintain_order="left").fill_null(0)
    table = pl.concat([_count_classes(classes, members, counted), _count_others(classes, members, counted)])
    chosen = gold.annotations.join(_draw(mentions, taken, asked.seed), on=["document", "group"], how="semi")
    several = members.filter(pl.col("share") > 0).group_by("column", "kind").len().filter(pl.col("len") > 1)["kind"]
    overlapping = mentions.filter(pl.col("kind").is_in(several.unique().implode())).height
    told = [one.vocabularies.note(one.asked.column) for one in slicings if one.vocabularies is not None]
    notes = (*_tell(asked, mentions, table, can, overlapping, found), *filter(None, told))
    return Narrowed(chosen["annotation"], asked.describe(), notes, table)


def _cut(store: Store, gold: Frames, by: Breakdown) -> Slicing:
    """Return a column cut as `remix partition` does, classes of no named vocabulary by that of the coarse ones."""
    found = slice_store(store, gold, by)
    if found.vocabularies is None or by.vocabulary or found.vocabularies.shown == _COARSE:
        return found
    # Of the vocabulary of most mentions none may be a person, an organisation or a place.
    return (
        slice_store(store, gold, replace(by, vocabulary=_COARSE)) if _COARSE in found.vocabularies.mentions else found
    )


def _parts_of(asked: Balance) -> list[str]:
    return [f"parts-{number}" for number in range(len(asked.by))]


def _gold_of(origin: Frames, selected: pl.Series) -> Frames:
    """Return the mentions that were selected, with all alternatives of each, as a remix keeps them."""
    required = origin.annotations.filter(pl.col("ignorable").is_null())
    groups = required.filter(pl.col("annotation").is_in(selected.implode())).select("document", "group").unique()
    rows = required.join(groups, on=["document", "group"], how="semi", maintain_order="left")
    return origin.keep(documents=rows["document"].unique(), annotations=rows["annotation"])


def _list_mentions(gold: Frames, slicings: Sequence[Slicing], parts: pl.DataFrame) -> pl.DataFrame:
    """Return document, group, `parts-N` of each column, the keys of the parts with a share that it is in, and its kind.

    They are in the order of their first annotations, which is that of no table and no file. A kind is what mentions of
    the same parts have in common; parts without a share make none, or some of a part would be drawn sooner than others.
    """
    own = gold.annotations.select("document", "group", "annotation")
    mentions = own.group_by("document", "group").agg(first=pl.col("annotation").min()).sort("first")
    names = [f"parts-{place}" for place in range(len(slicings))]
    for place, slicing in enumerate(slicings):
        shared = parts.filter(pl.col("share").is_not_null(), column=place)["key"]
        rows = (
            slicing.of_annotations(gold).join(own, on="annotation").with_columns(key=pl.col("number").cast(pl.String))
        )
        rows = rows.filter(pl.col("key").is_in(shared.implode()))
        inside = rows.group_by("document", "group").agg(pl.col("key").unique().sort().alias(names[place]))
        mentions = mentions.join(inside, on=["document", "group"], how="left", maintain_order="left")
    texts = [pl.col(name).list.join("+").fill_null("") for name in names]
    return mentions.with_columns(kind=pl.concat_str(texts, separator="/"))


def _list_parts(asked: Balance, slicings: Sequence[Slicing]) -> pl.DataFrame:
    """Return column (its place), key (the number of the part), label (of the column), part and share of each part.

    Parts without a share are null: they are not made even, and what is in them alone is left out.
    """
    shares = _shares_of(asked, slicings)
    found = [
        pl.DataFrame(
            {
                "column": place,
                "key": [str(part.number) for part in slicing.parts],
                "label": slicing.asked.label,
                "part": [part.name for part in slicing.parts],
                "share": own,
            },
            schema_overrides={"column": pl.Int64, "share": pl.Int64},
        )
        for place, (slicing, own) in enumerate(zip(slicings, shares, strict=True))
    ]
    for one in found:
        if not one["share"].sum():
            raise EmptySelection(
                f"nothing that is selected has a value of {one['label'][0]}: balance by another column"
            )
    return pl.concat(found)


def _list_members(kinds: pl.DataFrame, columns: int) -> pl.DataFrame:
    """Return column, key and kind: what parts with a share mentions of a kind are in."""
    rows = [
        kinds.select(pl.lit(place, pl.Int64).alias("column"), "kind", key=f"parts-{place}") for place in range(columns)
    ]
    return pl.concat(rows).explode("key").drop_nulls("key")


def _cross(parts: pl.DataFrame, within: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the combinations of parts that have a share, as parts of one column, and which kinds are in each."""
    joined = [pl.concat_str(name, f"{name}_right", separator=_CROSS).alias(name) for name in ("label", "part")]
    key = pl.concat_str("key", "key_right", separator="/").alias("key")
    share = pl.col("share") * pl.col("share_right")
    wanted = [one.filter(pl.col("share") > 0) for one in parts.partition_by("column", maintain_order=True)]
    if (size := prod(map(len, wanted))) > MAXIMUM:
        raise UsageError(f"these columns have {size} cells: take fewer parts, or balance over marginals")
    inside = [one.join(within.select("column", "key", "kind"), on=["column", "key"]) for one in wanted]
    cells, members = wanted[0], inside[0]
    for one, own in zip(wanted[1:], inside[1:], strict=True):
        cells = cells.join(one, how="cross", maintain_order="left_right").select("column", key, *joined, share=share)
        members = members.join(own, on="kind").select("column", key, *joined, "kind", share=share)
    return cells, members.sort("key", "kind")


def _shares_of(asked: Balance, slicings: Sequence[Slicing]) -> list[list[int | None]]:
    """Return the share of each part of each column; raises `UsageError` for one that is given to no part or several."""
    given: list[dict[int, int]] = [{} for _ in slicings]
    for name, share in asked.shares.items():
        places = [
            (column, part.number)
            for column, slicing in enumerate(slicings)
            for part in slicing.parts
            if name in _names_of_part(slicing.asked, part)
        ]
        if not places:
            raise UnknownName("part", name, [part.name for slicing in slicings for part in slicing.parts])
        if len(places) > 1:
            names = ", ".join(f"'{slicings[n].asked.column}:{slicings[n].parts[part].name}'" for n, part in places)
            raise UsageError(f"'{name}' may be any of {names}: say which")
        [(column, number)] = places
        given[column][number] = share
    return [
        [own.get(part.number, None if any(own.values()) else 1 if part.number in usual else None) for part in one.parts]
        for one, own, usual in zip(slicings, given, map(_usual, slicings), strict=True)
    ]


def _usual(slicing: Slicing) -> set[int]:
    """Return the numbers of the parts that are made even where none is named."""
    named = [part for part in slicing.parts if not _has_no_value(part)]
    if slicing.asked.column in OF_CLASSES:
        # Most classes are kinds of others, of which none can be as many as all.
        coarse = set(class_mapping()["coarse"])
        named = [part for part in named if part.category in coarse] or named
    return {part.number for part in named}


def _has_no_value(part: Subset) -> bool:
    # Segments of the knowledge base have a class of that name for what it does not rank.
    return part.missing or part.category == UNSPECIFIED


def _names_of_part(column: Breakdown, part: Subset) -> set[str]:
    names = {part.name, part.file_name}
    if part.category is not None:
        names.add(part.category.replace("#", "/").rsplit("/", 1)[-1])
    return names | {f"{before}:{name}" for name in names for before in (column.column, column.label)}


def _refuse_empty(asked: Balance, empty: pl.DataFrame, members: pl.DataFrame) -> None:
    """Raise `EmptySelection` where a class has no mention that can be chosen: nothing is as many as none."""
    if empty.is_empty():
        return
    some = ", ".join(f"'{name}'" for name in empty["part"].head(_SHOWN))
    more = f" and {len(empty) - _SHOWN} more" if len(empty) > _SHOWN else ""
    there = empty.join(members, on=["column", "key"], how="semi")
    why = " that has a value in each column and no share of 0" if len(there) else ""
    first = empty["part"][0].split(_CROSS)[0] if asked.over == "cells" else empty["part"][0]
    do = (
        "cut into fewer parts, balance over marginals"
        if asked.over == "cells" and len(asked.by) > 1
        else "cut otherwise"
    )
    raise EmptySelection(
        f"no mention that is selected{why} is in {some}{more} of {empty['label'][0]}, so none could be of any other: "
        f"{do}, or leave a part out by the share 0, as in '{first}=0'"
    )


def _explain_nothing(asked: Balance, wanted: pl.DataFrame, found: Allotment) -> str:
    if found.short_of:
        return f"no selection that is even in {asked.label} was found in the time of the search: cut into fewer parts"
    return (
        f"no selection is exactly even in {asked.label}, as their {len(wanted)} parts go together here: allow parts to "
        "differ by some mentions (tolerance), cut into fewer parts, or leave a part out by the share 0"
    )


def _draw(mentions: pl.DataFrame, taken: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return document and group of so many mentions of each kind, drawn by the seed."""
    order = np.random.default_rng(seed).permutation(len(mentions))
    drawn = mentions.select("document", "group", "kind", order=pl.Series(order)).join(taken, on="kind").sort("order")
    return drawn.filter(pl.int_range(pl.len()).over("kind") < pl.col("taken"))


def _count_classes(classes: pl.DataFrame, members: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """Return column, part, share, available, chosen, left_out and limits of what has a share.

    `limits` is whether all of its mentions that could be chosen are: more of them would make the selection larger.
    """
    numbers = members.select("column", "key", "kind").join(kinds, on="kind")
    counted = numbers.group_by("column", "key").agg(pl.col("available", "usable", "taken").sum())
    rows = classes.drop_nulls("share").join(counted, on=["column", "key"], how="left", maintain_order="left")
    return _in_columns(
        rows.with_columns(pl.col("available", "usable", "taken").fill_null(0)),
        limits=(pl.col("share") > 0) & (pl.col("taken") == pl.col("usable")),
    )


def _count_others(classes: pl.DataFrame, members: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """Return the same of what is in no part of a column that has a share, where there is any."""
    found = [
        kinds.join(members.filter(column=column), on="kind", how="anti")
        .select(pl.lit(label).alias("label"), pl.lit(NONE_OF_THESE).alias("part"), pl.col("available", "taken").sum())
        .with_columns(share=pl.lit(0, pl.Int64))
        for column, label in classes.select("column", "label").unique(maintain_order=True).iter_rows()
    ]
    return _in_columns(pl.concat(found).filter(pl.col("available") > 0), limits=pl.lit(False))


def _in_columns(rows: pl.DataFrame, *, limits: pl.Expr) -> pl.DataFrame:
    numbers = {"available": pl.col("available"), "chosen": pl.col("taken")}
    left_out = pl.col("available").cast(pl.Int64) - pl.col("taken").cast(pl.Int64)
    return rows.select(
        "part",
        "share",
        *(one.cast(pl.Int64).alias(name) for name, one in numbers.items()),
        column="label",
        left_out=left_out,
        limits=limits,
    ).select("column", "part", "share", "available", "chosen", "left_out", "limits")


def _tell(
    asked: Balance, mentions: pl.DataFrame, table: pl.DataFrame, can: pl.Series, overlapping: int, found: Allotment
) -> list[str]:
    """Return in sentences what was kept and left out, what limits it, and how what overlaps was counted."""
    said = [
        f"{sum(found.taken)} of {len(mentions)} mentions that the query selects are kept, even in {asked.label} "
        f"({asked.over})"
    ]
    if without := len(mentions) - mentions.filter(pl.col("kind").is_in(can.implode())).height:
        said.append(f"{without} mentions cannot be kept: they are in no part that was to be even, or in one of share 0")
    if len(limits := table.filter("limits")):
        some = ", ".join(f"{part} ({n})" for part, n in limits.select("part", "chosen").head(_SHOWN).iter_rows())
        more = f" and {len(limits) - _SHOWN} more" if len(limits) > _SHOWN else ""
        said.append(
            f"all mentions of {some}{more} that could be kept are: with more of them there would be more in all"
        )
    else:
        said.append("no part is used up: how the columns go together, and that numbers are whole, is what limits it")
    if overlapping:
        said.append(f"{overlapping} mentions are in several parts of a column, and each counts in all of them")
    if found.short_of:
        said.append(f"the search ended before the largest was certain: at most {found.short_of} more could be kept")
    said.append(
        "mentions were drawn, answers were not: compare recall, and P on mention; P holds all answers that are on no "
        "mention against the mentions that were drawn"
    )
    return said
