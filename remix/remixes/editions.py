"""Editions: a text that several datasets have counts once in a remix, with the annotations of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames

__all__ = ["ALL", "Editions", "tell_editions"]

ALL = "all"
"""The edition that keeps each text of each dataset."""

_TEXT = pl.col("text").str.strip_chars_end()


@dataclass(frozen=True)
class Editions:
    """Whose edition of a text is kept: that of the dataset which stands first in the order, else the first by name.

    Texts are equal but for white space at their end. `every` keeps each edition. Within a dataset a text may repeat.
    """

    order: tuple[str, ...] = ()
    every: bool = False

    @classmethod
    def of(cls, names: Sequence[str], dataset: Sequence[str], edition: Sequence[str]) -> Editions:
        """Return the order of the datasets named by `edition`, then by `dataset`; raises `UnknownName`."""
        for one in edition:
            if one not in (*names, ALL):
                raise UnknownName("dataset to keep the edition of", one, [*names, ALL], "remix list datasets")
        return cls(tuple(dict.fromkeys([*edition, *dataset])), ALL in edition)

    def __str__(self) -> str:
        """Return it as signature and manifest tell it."""
        return ALL if self.every else " > ".join(self.order) or "first by name"

    def others(self, origin: Frames, documents: pl.Series) -> pl.DataFrame:
        """Return document, dataset and `kept` (a dataset) of the documents whose text is kept of another dataset."""
        rows = origin.documents.filter(pl.col("document").is_in(documents.implode()), _TEXT != "")
        place = {name: number for number, name in enumerate(self.order)}
        rank = pl.col("dataset").replace_strict(place, default=len(place), return_dtype=pl.Int64)
        rows = rows.select("document", "dataset", text=_TEXT).sort(rank, "dataset", "document")
        rows = rows.select("document", "dataset", kept=pl.col("dataset").first().over("text"))
        return rows.filter(pl.lit(not self.every) & (pl.col("dataset") != pl.col("kept")))

    def of_emptied(self, origin: Frames, emptied: pl.DataFrame, chosen: pl.Series) -> pl.DataFrame:
        """Return the emptied documents (dataset, document) without other editions of each other and of those chosen."""
        if self.every:
            return emptied
        texts = origin.documents.filter(pl.col("document").is_in(chosen.implode())).select(_TEXT).drop_nulls()
        known = origin.documents.filter(pl.col("document").is_in(emptied["document"].implode()), _TEXT != "")
        again = known.filter(_TEXT.is_in(texts["text"].unique().implode()))["document"]
        out = pl.concat([again, self.others(origin, emptied["document"])["document"]])
        return emptied.filter(~pl.col("document").is_in(out.implode()))


def tell_editions(others: pl.DataFrame) -> list[str]:
    """Return a sentence for each dataset of which texts are left out for another's edition."""
    return [
        f"{count} {'text' if count == 1 else 'texts'} of {dataset} {'is' if count == 1 else 'are'} in {kept}, too, and "
        f"counted there: --edition {dataset} keeps this edition, --edition {ALL} both"
        for dataset, kept, count in others.group_by("dataset", "kept").len().sort("dataset", "kept").iter_rows()
    ]
