"""Closing a selection: which editions of its texts a remix holds, and what beside them, and what a query empties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from remix.errors import QueryError, UnknownName, UsageError
from remix.frames import Documents, Frames
from remix.names import NIF, RDF
from remix.store.index import Index
from remix.store.serialise import text_of
from remix.store.tree import Node, NotUnderstood, parse, variables, walk

ALL = "all"
"""The edition that keeps each text of each dataset."""

_TEXT = pl.col("text").str.strip_chars_end()


@dataclass(frozen=True)
class Closed:
    """A selection with all that belongs to it.

    `frames` hold the kept documents with every annotation that stays, the dropped ones as ignorable; `kept` are the
    annotations that stay as gold, `dropped` those that the selection left out of kept documents.
    """

    frames: Frames
    kept: pl.Series
    dropped: pl.Series

    @property
    def ignorable(self) -> pl.DataFrame:
        """Return the rows of the annotations that were dropped and stay as ignorable ones."""
        return self.frames.annotations.filter(pl.col("annotation").is_in(self.dropped.implode()))


@dataclass(frozen=True)
class Narrowed:
    """Which of the annotations that a query selects stay, by a rule that is no query.

    `said` is what signature and manifest tell of it, by the local names of terms; `notes` are for the user. `parts`
    are those that a balance made even (see `remix.remixes.balance`).
    """

    annotations: pl.Series
    said: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    parts: pl.DataFrame = field(default_factory=pl.DataFrame)


Narrow = Callable[[Frames, pl.Series], Narrowed]
"""Returns what stays of the annotations that were selected from an origin: those that count, in kept documents."""


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

    def of_emptied(self, origin: Frames, emptied: pl.DataFrame, documents: pl.Series) -> pl.DataFrame:
        """Return the emptied documents (dataset, document) without other editions of each other and of `documents`."""
        if self.every:
            return emptied
        texts = origin.documents.filter(pl.col("document").is_in(documents.implode())).select(_TEXT).drop_nulls()
        rows = origin.documents.filter(pl.col("document").is_in(emptied["document"].implode()), _TEXT != "")
        again = rows.filter(_TEXT.is_in(texts["text"].unique().implode()))["document"]
        out = pl.concat([again, self.others(origin, emptied["document"])["document"]])
        return emptied.filter(~pl.col("document").is_in(out.implode()))


def tell_editions(left_out: pl.DataFrame) -> list[str]:
    """Return a sentence for each dataset of which texts are left out for another's edition (`Editions.others`)."""
    return [
        f"{count} {'text' if count == 1 else 'texts'} of {dataset} {'is' if count == 1 else 'are'} in {kept}, too, and "
        f"counted there: --edition {dataset} keeps this edition, --edition {ALL} both"
        for dataset, kept, count in left_out.group_by("dataset", "kept").len().sort("dataset", "kept").iter_rows()
    ]


def limit_documents(documents: Documents, limit: int | None, seed: int | None) -> pl.Series:
    """Return at most so many of the documents (document, dataset), sorted by IRI.

    Without a seed they are the first of each dataset by IRI, as many of each as it has and the others leave; with one
    they are a sample of all.

    >>> rows = pl.DataFrame({"document": ["a/3", "a/1", "a/2", "b/1"], "dataset": ["a", "a", "a", "b"]})
    >>> limit_documents(rows, 3, None).to_list()
    ['a/1', 'a/2', 'b/1']

    Raises `UsageError` for a limit below 1, a seed below 0, and a seed without a limit.
    """
    ordered = documents.unique("document").sort("document")
    if seed is not None and limit is None:
        raise UsageError("a seed draws the documents of a limit, or the mentions of a balance: give one of them")
    if seed is not None and seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")
    if limit is not None and limit < 1:
        raise UsageError(f"a limit of {limit} documents leaves nothing: give at least 1")
    if limit is None or limit >= len(ordered):
        return ordered["document"]
    if seed is None:
        nth = pl.int_range(pl.len()).over("dataset")
        return ordered.sort(nth, "dataset", maintain_order=True)["document"].head(limit).sort()
    import numpy as np

    chosen = np.random.default_rng(seed).choice(len(ordered), size=limit, replace=False)
    return ordered["document"].gather(np.sort(chosen))


def close(origin: Frames, documents: pl.Series, annotations: pl.Series | None, *, drop: bool = False) -> Closed:
    """Return the documents with their annotations, those that were not selected as ignorable or, with `drop`, gone.

    A group is kept when any of its annotations is, since it counts once; what was ignorable before stays as it was.
    Without `annotations` all annotations of the documents are kept.
    """
    within = origin.annotations.filter(pl.col("document").is_in(documents.implode()))
    gold = pl.col("ignorable").is_null()
    selected = pl.lit(True) if annotations is None else pl.col("annotation").is_in(annotations.implode())
    # A column of its own: within a window the list of the selected would be copied for each group.
    chosen = within.with_columns(keep=selected & gold)
    marked = chosen.with_columns(keep=~gold | pl.col("keep").any().over("document", "group"))
    dropped = marked.filter(~pl.col("keep"))["annotation"]
    kept = marked.filter(pl.col("keep") & gold)["annotation"]
    staying = marked.filter("keep") if drop else marked
    frames = origin.keep(documents=documents, annotations=staying["annotation"])
    ignorable = pl.when(pl.col("annotation").is_in(dropped.implode())).then(pl.lit("dropped"))
    frames = replace(
        frames, annotations=frames.annotations.with_columns(ignorable.otherwise(pl.col("ignorable")).alias("ignorable"))
    )
    return Closed(frames, kept, dropped)


_UNREAD = {"SubSelect", "ServiceGraphPattern"}
_NEEDED = (f"<{RDF}type>", f"<{NIF}Context>")


def find_emptied(index: Index, query: str, origin: Frames, selected: pl.Series) -> pl.DataFrame | None:
    """Return dataset and document of what a selection emptied in the origin; None where the query does not tell.

    `selected` are the annotations that the query selects. A document without any of these is emptied unless a condition
    on documents leaves it out: one that speaks of `?document`, or of what is reached from it, but of no annotation.
    """
    try:
        asked = _of_documents(parse(query))
    except NotUnderstood:
        return None
    if asked is None:
        return None
    documents = origin.documents.select("dataset", "document")
    if not asked:
        return documents.clear()
    holding = origin.annotations.filter(pl.col("annotation").is_in(selected.implode()))["document"].unique()
    try:
        meant = index.frame(asked, "the conditions on documents").to_series()
    except QueryError:
        return None
    iris = meant.str.strip_prefix("<").str.strip_suffix(">")
    return documents.filter(pl.col("document").is_in(iris.implode()), ~pl.col("document").is_in(holding.implode()))


def _of_documents(tree: Node) -> str | None:
    """Return the query for the documents that the conditions on documents leave, '' where it selects documents alone.

    None for a query that limits or groups what it selects, or whose conditions on documents and on annotations are not
    to be told apart.
    """
    parts = tree.get("where").get("part", ())
    kinds = {node.kind for node in walk(tree)}
    if kinds & _UNREAD or any(tree.get(name) for name in ("limitoffset", "groupby", "having")):
        return None
    contexts = {one for one in _triples(parts) if one[1] == f"<{NIF}referenceContext>"}
    if len({one[0] for one in contexts}) > 1:
        return None
    document = next((one[2] for one in contexts), "?document")
    annotation = next((one[0] for one in contexts), "?annotation")
    projected = {one.get("var") or one.get("evar") for one in tree.get("projection", ())}
    if projected and annotation not in projected:
        return ""
    block = _reach([one for one in _triples(parts) if annotation not in _variables(one)], document)
    known = {document}.union(*(_variables(one) for one in block))
    tied = {annotation}.union(*(_variables(one) for one in _triples(parts) if one not in block)) - known
    taken: list[Node] = []
    for part in parts:
        names = set(variables(part))
        if part.kind in ("TriplesBlock", "InlineData"):
            known |= set(part.get("var", ())) if part.kind == "InlineData" else set()
            taken += [part] if part.kind == "InlineData" else []
        elif part.kind in ("Bind", "Filter"):
            inside = names - {part.get("var")} if part.kind == "Bind" else names
            exists = any(node.kind in ("Builtin_EXISTS", "Builtin_NOTEXISTS") for node in walk(part))
            if inside <= known or (exists and document in names and not tied & inside):
                taken.append(part)
                known |= names
        elif annotation not in names and document in names:
            taken.append(part)
            known |= names
        elif annotation in names and part.kind not in ("OptionalGraphPattern", "MinusGraphPattern"):
            return None
    every = Node.of("TriplesBlock", triples=((document, *_NEEDED), *block))
    where = tree.get("where").but(part=(every, *taken))
    asked = {"projection": (Node.of("vars", var=document),), "where": where, "datasetClause": tree.get("datasetClause")}
    return text_of(Node.of("SelectQuery", modifier="DISTINCT", **asked))


def _triples(parts: tuple[Node, ...]) -> list[tuple[str, object, str]]:
    return [one for part in parts if part.kind == "TriplesBlock" for one in part.get("triples")]


def _variables(triple: tuple[object, ...]) -> set[str]:
    return {str(term) for term in triple if isinstance(term, str) and term.startswith("?")}


def _reach(triples: list[tuple[str, object, str]], document: str) -> list[tuple[str, object, str]]:
    """Return the triples that lead to the document over variables that they share, in any number of steps."""
    names, left = {document}, triples
    while found := [one for one in left if names & _variables(one)]:
        names = names.union(*(_variables(one) for one in found))
        left = [one for one in left if one not in found]
    return [one for one in triples if one not in left]
