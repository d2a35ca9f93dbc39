"""Which texts, entities and surface forms datasets share: a matrix of all pairs, and for a pair what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import polars as pl

from remix.checks.copies import count_shared
from remix.measures.enrichment import frames_of
from remix.reports.labels import label_entities
from remix.web import forms, page
from remix.web.addresses import address

_KINDS = {
    "texts": "texts that are the same to the letter",
    "entities": "entities that annotations link to, by what their IRIs stand for in the knowledge base",
    "forms": "surface forms, as they are written",
}
_SHOWN = {"share": "share of the smaller of both", "count": "how many"}


_WITH, _CELL, _ITEM = "shared with", "shared here", "shared item"
"""Columns beside those that are called as datasets are, in whose names is no blank."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if len(page.list_datasets(work)) < 2:
        said = "What datasets share is seen where two or more are loaded."
        return page.Page("What datasets share", [page.Note(said, ["remix load FILE", "remix fetch NAME"])])
    of, shown = parameters.get("of") or "texts", parameters.get("show") or "share"
    # The page Compare calls its datasets so.
    pair = dict(zip(("dataset", "other"), parameters.get("datasets", "").split(","), strict=False))
    dataset, other = (
        work.store.dataset(name).name if (name := parameters.get(one) or pair.get(one, "")) else ""
        for one in ("dataset", "other")
    )
    form = forms.Form(
        [
            forms.choose("of", "what is shared", _KINDS, of, what="kind of what is shared"),
            forms.choose("show", "as", _SHOWN, shown, what="way to show it"),
            forms.choose(
                "dataset",
                "dataset",
                ["", *(entry.name for entry in page.list_datasets(work))],
                dataset,
                nothing="(all)",
            ),
            forms.choose(
                "other", "and", ["", *(entry.name for entry in page.list_datasets(work))], other, nothing="(all)"
            ),
        ]
    )
    if dataset and other:
        return _pair(work, form, of, dataset, other)
    counts = work.store.cached(("shared", of), lambda: _count(work, of))
    names = counts["dataset"].unique().sort().to_list()

    def lead(other: str, row: Mapping[str, Any]) -> str:
        return address("overlap", of=of, dataset=row[_WITH], other=other) if row[other] else ""

    table = page.Table(
        of,
        _matrix(counts, shown),
        {name: partial(lead, name) for name in names},
        f"{_SHOWN[shown].capitalize()}: {_KINDS[of]}. A cell leads to what both share; who trains on one dataset and "
        "tests on the other has seen it.",
        heat=names,
        units=dict.fromkeys(names, "share" if shown == "share" else ""),
        zero="–",
    )
    pairs = _list_pairs(counts, of, shown)
    told = [page.Note("Choose two datasets to see what both share.")] if dataset or other else []
    return page.Page(
        "What datasets share",
        [
            form,
            *told,
            *([pairs] if len(names) > 2 else []),
            table,
            page.Note("With similar texts as well:", ["remix check --shared A B"]),
        ],
        data=of,
    )


def _list_pairs(counts: pl.DataFrame, of: str, shown: str) -> page.Table:
    """Return the pairs of datasets that share anything, those with the largest share first."""
    rows = counts.filter(pl.col("dataset") < pl.col("other"), pl.col("count") > 0)
    rows = rows.sort("share", "count", "dataset", "other", descending=[True, True, False, False])
    every = counts["dataset"].n_unique()
    words = f"{rows.height} of {every * (every - 1) // 2} pairs of datasets share {_KINDS[of]}."
    return page.Table(
        "pairs",
        rows.select("dataset", "other", "count", *(["share"] if shown == "share" else [])),
        {"count": lambda row: address("overlap", of=of, dataset=row["dataset"], other=row["other"])},
        words,
        {"count": "how many both have", **({"share": _SHOWN["share"]} if shown == "share" else {})},
        leads="A number leads to what both share.",
        units={"share": "share"},
        title="Pairs that share most",
    )


def _count(work: page.Explored, of: str) -> pl.DataFrame:
    return count_shared(_items(work, of).select("dataset", "item"))


def _items(work: page.Explored, of: str) -> pl.DataFrame:
    """Return dataset, item and `by`, the document that has a text, or the annotation that has another item."""
    frames = frames_of(work.store)
    if of == "texts":
        texts = frames.documents.filter(pl.col("text") != "")
        rows = texts.select("dataset", item="text", by=pl.coalesce("given", "document"))
    elif of == "forms":
        rows = frames.annotations.select("dataset", item="surface_form", by="annotation")
    else:
        meant = work.store.cached("meanings", lambda: _resolve(work))
        homes = frames.annotations.select("annotation", "dataset")
        rows = frames.links.join(meant, on="entity").join(homes, on="annotation", maintain_order="left")
        rows = rows.select("dataset", "item", by="annotation")
    return rows.drop_nulls("item")


def _resolve(work: page.Explored) -> pl.DataFrame:
    """Return entity, as annotations of any dataset link to it, and `item`, what it stands for."""
    distinct = frames_of(work.store).links["entity"].drop_nulls().unique()
    return pl.DataFrame({"entity": distinct, "item": distinct if (kb := work.kb) is None else kb.resolve(distinct)})


def _matrix(counts: pl.DataFrame, shown: str) -> pl.DataFrame:
    """Return a row and a column for each dataset; none shares anything with itself."""
    value = pl.when(pl.col("dataset") != pl.col("other")).then(shown)
    cells = counts.select(pl.col("dataset").alias(_WITH), "other", value.alias(_CELL)).sort(_WITH, "other")
    return cells.pivot("other", index=_WITH, values=_CELL)


def _pair(work: page.Explored, form: forms.Form, of: str, dataset: str, other: str) -> page.Page:
    """Return what two datasets share, with the document or the number of annotations of each that has it."""
    own, others = (_list_items(work, of, name) for name in (dataset, other))
    shared = own.join(others, on=_ITEM, suffix=" again").sort(_ITEM)
    links: Mapping[str, Callable[[Mapping[str, Any]], str]]
    if of == "texts":
        links = {name: partial(_lead_to_document, name) for name in (dataset, other)}
        shared = shared.with_columns(pl.col(_ITEM).str.slice(0, 120))
    else:
        links = {name: partial(_lead_to_item, work, of, name) for name in (dataset, other)}
    labels = label_entities(work.kb, shared[_ITEM]) if of == "entities" else {}
    documents = (dataset, other) if of == "texts" else ()
    words = f"{shared.height} {_KINDS[of]} are in both."
    leads = "A name leads to the document." if of == "texts" else "A number leads to the annotations that have it."
    table = page.Table(of, shared, links, words, leads=leads, labels=labels, documents=documents)
    back = page.Note("", links={"All pairs of datasets": address("overlap", of=of)})
    return page.Page(f"{of.capitalize()} of both {dataset} and {other}", [form, table, back])


def _lead_to_document(dataset: str, row: Mapping[str, Any]) -> str:
    return address("document", dataset=dataset, name=row[dataset])


def _lead_to_item(work: page.Explored, of: str, dataset: str, row: Mapping[str, Any]) -> str:
    """Return the address of the annotations of a dataset that have a form, or link to what means an entity."""
    if not row[dataset]:
        return ""
    if of == "forms":
        return address("annotations", dataset=dataset, form=row[_ITEM])
    links = frames_of(work.store, dataset).links["entity"].unique()
    meant = work.store.cached("meanings", lambda: _resolve(work)).filter(item=row[_ITEM])["entity"]
    return address("annotations", dataset=dataset, entity=" ".join(meant.filter(meant.is_in(links.implode())).sort()))


def _list_items(work: page.Explored, of: str, name: str) -> pl.DataFrame:
    """Return the items of one dataset, and in a column of its name the document, or how many annotations have it.

    Annotations that gold does not require have items as well, and are not counted.
    """
    grouped = _items(work, of).filter(dataset=name).group_by(pl.col("item").alias(_ITEM))
    if of == "texts":
        return grouped.agg(pl.col("by").first().alias(name))
    required = frames_of(work.store, name).annotations.filter(pl.col("ignorable").is_null())["annotation"]
    return grouped.agg(pl.col("by").filter(pl.col("by").is_in(required.implode())).n_unique().alias(name))


overlap = page.View(
    "overlap",
    "Overlap",
    _show,
    menu=6,
    example=lambda work: {"of": "forms"},
    parameters=("of", "show", "dataset", "other", "datasets"),
)
