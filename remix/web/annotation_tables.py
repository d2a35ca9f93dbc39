"""The table of a list of annotations, and what the list can be narrowed down by: the same on each page that has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import polars as pl

from remix.measures.enrichment import frames_of
from remix.measures.labels import headings_of_measures
from remix.names import shorten
from remix.reports.annotation_list import BESIDE, Wanted, list_wanted
from remix.reports.labels import label_entities
from remix.web import page
from remix.web.addresses import address, name_mention
from remix.web.facets import tell_values

_MENTION = ["document", "group"]
"""What alternatives of a mention have in common."""
_UNSEEN = ("label", "document", "begin", "end", "annotation")
_COLUMNS = ("dataset", "surface_form", "document", "begin", "end", "type", "annotation")


def tabulate_annotations(
    work: page.Explored,
    rows: pl.DataFrame,
    extra: Iterable[str],
    *,
    lead_to_entity: Callable[[str], str],
    dataset: str = "",
    system: str = "",
) -> page.Table:
    """Return annotations (as `list_wanted` has them) with their sentences, entity, type, and `extra` columns.

    A surface form leads to its document, where the answers of a `system` are shown; an entity to what `lead_to_entity`
    makes of its IRI. The column of datasets is unseen where all are of one `dataset`.
    """
    extra = [name for name in dict.fromkeys(extra) if name in rows.columns and name not in _COLUMNS]
    texts = frames_of(work.store, dataset or None).documents.select("document", "text")
    rows = rows.join(texts, on="document", how="left", maintain_order="left")
    # A list of thousands of annotations has a third as many entities, which are looked at once each.
    labels, short = work.store.cached(("what linked entities are called", dataset), lambda: _call_linked(work, dataset))
    columns = {
        "sentence": _cut_sentences(),
        "entity": pl.when("is_nil").then(pl.lit("NIL")).otherwise(_name_entities(short)),
        "label": _name_entities(labels),
        "type": pl.col("types").list.join(" | "),
        **{name: pl.col(name) for name in extra},
        "document": pl.col("name"),
    }  # fmt: skip
    frame = rows.select("dataset", "surface_form", **columns).with_columns(rows.select("begin", "end", "annotation"))
    known = frame.select("entity", "label").filter(pl.col("label") != "").unique()
    iris = {name: iri for iri, name in short.items()}

    def lead(row: Mapping[str, object]) -> str:
        place = address(
            "document", dataset=row["dataset"], name=row["document"], system=system, annotation=row["annotation"]
        )
        return f"{place}#{name_mention(row['begin'], row['end'])}"

    return page.Table(
        "annotations",
        frame,
        {
            "dataset": lambda row: address("dataset", name=row["dataset"]),
            "surface_form": lead,
            "entity": lambda row: lead_to_entity(iri) if (iri := iris.get(str(row["entity"]), "")) else "",
        },
        "Each annotation of gold with the text about it.",
        leads="A surface form leads to its document, an entity to its annotations.",
        headings=headings_of_measures([*extra, "surface_form"]),
        unseen=(*_UNSEEN, "dataset") if dataset else _UNSEEN,
        labels=dict(zip(known["entity"].to_list(), known["label"].to_list(), strict=True)),
        documents=("document",),
    )


def _call_linked(work: page.Explored, dataset: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels and the short names, by IRI, of all entities that gold of a dataset, or of all, links to."""
    linked = list_wanted(work.store, Wanted(dataset))["entities"].str.split(" ").explode().drop_nulls().unique()
    return label_entities(work.kb, linked), {iri: shorten(iri) for iri in linked}


def count_values(
    name: str,
    rows: pl.DataFrame,
    values: pl.Expr,
    *,
    own: str,
    lead: Callable[[str], str],
    label: Callable[[pl.Series], Mapping[str, str]] = lambda _: {},
    limit: int,
    turned: str,
) -> page.FacetCounts:
    """Return how many mentions have each of the `values` (a list of each row), with the address that each leads to.

    The most frequent ones are shown up to a `limit`, ranges in their order, and the one that is chosen (`own`). `lead`
    makes the address that a value leads to, and `label` the labels of values; `turned` is that with more or fewer.
    """
    found = rows.select(*_MENTION, value=values).explode("value").drop_nulls("value").unique()
    counts = found.group_by("value").agg(number=pl.len())
    ranged = bool(counts["value"].str.contains(r"^\d+: ").any())
    counts = counts.sort("value") if ranged else counts.sort("number", "value", descending=[True, False])
    number = counts.height
    counts = pl.concat([counts.head(limit), counts.slice(limit).filter(value=own)])
    labels = label(counts["value"])
    told = [
        page.FacetValue(
            labels.get(value, shorten(value)),
            number,
            lead(value),
            value == own,
            shorten(value) if value in labels else "",
        )
        for value, number in counts.iter_rows()
    ]
    return tell_values(name, told, number, turned)


def _name_entities(names: Mapping[str, str]) -> pl.Expr:
    """Return the entities of a mention by their names, those that have one."""
    each = pl.element().replace_strict(names, default=None, return_dtype=pl.String)
    return pl.col("entities").str.split(" ").list.eval(each).list.drop_nulls().list.join(" or ")


def _cut_sentences() -> pl.Expr:
    """Return the text about a mention, the mention in brackets."""
    first = pl.max_horizontal(pl.col("begin").cast(pl.Int64) - BESIDE, pl.lit(0))
    before = pl.col("text").str.slice(first, pl.col("begin").cast(pl.Int64) - first)
    after = pl.col("text").str.slice(pl.col("end").cast(pl.Int64), BESIDE)
    begun, ended = (pl.when(cut).then(pl.lit("…")).otherwise(pl.lit("")) for cut in _find_cuts())
    parts = (begun, before, pl.lit("["), "surface_form", pl.lit("]"), after, ended)
    return pl.concat_str(*parts).str.replace_all(r"\s+", " ")


def _find_cuts() -> tuple[pl.Expr, pl.Expr]:
    """Return whether there is more of the text before, and after, what is shown of it."""
    rest = pl.col("text").str.len_chars().cast(pl.Int64) - pl.col("end").cast(pl.Int64)
    return pl.col("begin").cast(pl.Int64) > BESIDE, rest > BESIDE
