"""Vocabularies of classes: the classes of one are shown together, those of another where they are asked for.

An entity is a person in several vocabularies at once (dbo:Person, schema:Person, wd:Q5, dul:NaturalPerson), and a
mention has categories of how it is written besides (el:, mnt:). Side by side they are no breakdown of anything. Those
of any vocabulary that are persons, organisations or places are so by the coarse classes that they map to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from remix.errors import UnknownName
from remix.names import DBO, PREFIXES

COLUMNS = ("class", "type")
"""The columns whose values are classes."""

ALL = "all"
"""Asks for the classes of every vocabulary."""

COARSE = "coarse"
"""Asks for the coarse classes, which classes of all vocabularies map to."""

COARSE_TYPE = f"type:{COARSE}"
"""The column of the coarse classes of entities."""

COARSE_CLASSES = {"person": f"{DBO}Person", "organisation": f"{DBO}Organisation", "place": f"{DBO}Place"}
"""The coarse classes, by what they are called."""

PLAIN = "plain"
"""The vocabulary of classes whose name has no namespace."""

_NAMESPACES = {**{namespace: prefix for prefix, namespace in PREFIXES.items()}, "https://schema.org/": "schema"}


def vocabulary(column: str) -> pl.Expr:
    """Return the vocabularies of classes: the well-known prefix of their namespace, else the namespace itself.

    >>> classes = ["http://dbpedia.org/ontology/Zoo", "https://schema.org/Zoo", "urn:x:Cat", "http://e.org/a#b", "PER"]
    >>> pl.DataFrame({"class": classes}).select(vocabulary("class"))["class"].to_list()
    ['dbo', 'schema', 'urn:x', 'http://e.org/a#', 'plain']
    """
    known = [
        pl.when(pl.col(column).str.starts_with(namespace)).then(pl.lit(prefix))
        for namespace, prefix in _NAMESPACES.items()
    ]
    own = pl.col(column).str.extract(r"^(.*[/#:])[^/#:]*$").str.strip_chars_end(":")
    return pl.coalesce(*known, own, pl.lit(PLAIN)).alias(column)


@dataclass(frozen=True)
class Vocabularies:
    """How many mentions have a class of each vocabulary, and which is shown: one of these, or `ALL`.

    As text the one that is shown comes first:

    >>> str(Vocabularies("wd", {"dbo": 39, "wd": 20}))
    'wd (20), dbo (39)'
    >>> Vocabularies.parse("wd (20), dbo (39)") == Vocabularies("wd", {"wd": 20, "dbo": 39})
    True
    """

    shown: str
    mentions: Mapping[str, int]

    @classmethod
    def of(cls, classes: pl.DataFrame, annotations: pl.DataFrame) -> Vocabularies:
        """Return those of classes (annotation, class) that most of the required mentions have a class of, ties by name.

        Alternatives of a mention (`group`) are one mention.
        """
        rows = classes.select("annotation", vocabulary("class").alias("vocabulary")).unique()
        found = rows.join(_choose_required(annotations), on="annotation").unique(["vocabulary", "document", "group"])
        counted = (
            rows.select("vocabulary")
            .unique()
            .join(found.group_by("vocabulary").agg(mentions=pl.len()), on="vocabulary", how="left")
        )
        counted = counted.with_columns(pl.col("mentions").fill_null(0))
        counted = counted.sort("mentions", "vocabulary", descending=[True, False])
        mentions = dict(counted.iter_rows())
        return cls(next(iter(mentions), ""), mentions)

    @classmethod
    def parse(cls, text: str) -> Vocabularies:
        """Return what a text says that was made of one."""
        mentions = {name: int(number) for name, number in re.findall(r"(\S+) \((\d+)\)", text)}
        return cls(next(iter(mentions), ""), mentions)

    def show(self, asked: str) -> Vocabularies:
        """Return the same with the vocabulary shown that is asked for, if any; raises `UnknownName` for another."""
        if asked and asked != ALL and self.mentions and asked not in self.mentions:
            raise UnknownName("vocabulary of classes", asked, [*self.mentions, ALL])
        return Vocabularies(asked or self.shown, self.mentions)

    def show_coarse(self, classes: pl.DataFrame, annotations: pl.DataFrame) -> Vocabularies:
        """Return the same with the coarse classes shown, which so many required mentions have one of."""
        own = classes.filter(pl.col("class").is_in([*COARSE_CLASSES.values()]))
        found = _choose_required(annotations).join(own, on="annotation", how="semi").unique(["document", "group"])
        return Vocabularies(COARSE, {COARSE: found.height, **self.mentions})

    def choose(self, rows: pl.DataFrame, column: str = "class") -> pl.DataFrame:
        """Return the rows whose class is of the vocabulary that is shown."""
        if self.shown == COARSE:
            return rows.filter(pl.col(column).is_in([*COARSE_CLASSES.values()]))
        return rows if self.shown == ALL else rows.filter(vocabulary(column) == self.shown)

    @property
    def others(self) -> list[str]:
        """Return the vocabularies that are not shown, those of most mentions first."""
        return [] if self.shown == ALL else [name for name in self.mentions if name != self.shown]

    def __str__(self) -> str:
        """Return the vocabularies with their numbers of mentions, the one that is shown first."""
        names = [self.shown, *self.others] if self.others else list(self.mentions)
        return ", ".join(f"{name} ({self.mentions[name]})" for name in names)

    def note(self, column: str) -> str:
        """Return which vocabulary a column shows and which others there are; nothing where there are none.

        >>> Vocabularies("dbo", {"dbo": 39, "wd": 20}).note("class")
        'class: classes of dbo (39 mentions) are shown; there are also wd (20): --by class:wd, or class:all for all'
        """
        if not self.others:
            return ""
        told = ", ".join(f"{name} ({self.mentions[name]})" for name in self.others)
        shown = "person, organisation and place" if self.shown == COARSE else f"classes of {self.shown}"
        return (
            f"{column}: {shown} ({self.mentions[self.shown]} mentions) are shown; there are also "
            f"{told}: --by {column}:{self.others[0]}, or {column}:{ALL} for all"
        )


def _choose_required(annotations: pl.DataFrame) -> pl.DataFrame:
    return annotations.filter(pl.col("ignorable").is_null()).select("annotation", "document", "group")
