"""Tables of the errors of systems: by class, by the parts of a column, and of entities that are confused."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from remix.kb import KnowledgeBase
from remix.measures.labels import headings_of_measures, label_of
from remix.names import shorten
from remix.reports.error_counts import ANY, count_errors, explain_classes
from remix.reports.labels import label_parts
from remix.reports.sentences import NO_MENTION
from remix.runs.judgements import Judgements
from remix.scoring.errors import label_of_class
from remix.systems import KINDS
from remix.vocabularies import COARSE_TYPE
from remix.vocabularies import COLUMNS as OF_CLASSES
from remix.web import page
from remix.web.error_choice import keep_both, lead_to_sentences, name_systems, tell_matching


def tabulate_classes(judged: Judgements, asked: Mapping[str, str]) -> page.Table:
    """Return a row for each system and a column for each class of errors: how many, and their share of what could be.

    `asked` are parameters of the page, of which `dataset` must be there.
    """
    explained, counts = explain_classes(), count_errors(judged)
    systems = order_systems(judged, asked)
    frame = pl.DataFrame({"system": systems}, schema={"system": pl.String})
    if judged.beside.keys() & {*systems}:
        kinds = pl.Series("kind", [judged.beside.get(system, "system") for system in systems], pl.Enum(KINDS))
        frame = frame.with_columns(kinds).sort("kind", maintain_order=True).with_columns(pl.col("kind").cast(pl.String))
    for name in explained:
        own = counts.filter(pl.col("class") == name)
        own = own.select("system", pl.col("errors").alias(name), pl.col("share").alias(f"share of {name}"))
        frame = frame.join(own, on="system", how="left", maintain_order="left")

    def lead(name: str, row: Mapping[str, Any]) -> str:
        chosen = "" if name == ANY else name
        return lead_to_sentences(**keep_both(asked, row["system"]), **{"class": chosen})

    where = "this dataset" if len(judged.datasets) == 1 else "these datasets, of those that have a run on each of them"
    words = f"How many errors of which class each system makes {tell_matching(asked)} on {where}, and their share of "
    words += "what each class is of."
    small = {name: f"share of {name}" for name in explained}
    links = {name: partial(lead, name) for name in explained}
    leads = "A number leads to its sentences."
    headings = {name: (label_of_class(name), name) for name in explained if name != ANY}
    groups = "kind" if "kind" in frame.columns else ""
    told = {**explained, "kind": "baselines and oracles have rows of their own, below those of systems"}
    about = tell_place(judged)
    return page.Table(
        "classes of errors", frame, links, words, told, small, small, leads, headings, groups, about=about
    )


def tell_place(judged: Judgements) -> str:
    """Return what tables of the errors of all systems are about."""
    datasets = judged.datasets
    return f"Errors on {datasets[0] if len(datasets) == 1 else f'{len(datasets)} datasets'}"


def tabulate_parts(judged: Judgements, asked: Mapping[str, str], kb: KnowledgeBase | None = None) -> page.Table:
    """Return a row for each part of the column and a column for each system: errors of the class that is chosen.

    `asked` are parameters of the page, of which `dataset` and `by` must be there; `kb` has labels of classes.
    """
    by, kind = asked["by"], asked.get("class", "")
    counts = count_errors(judged, parts=True).filter(pl.col("class") == (kind or ANY))
    sizes = counts.group_by("part").agg(most=pl.col("of").max()).filter(pl.col("most") > 0)
    ranged = sizes["part"].str.contains(r"^\d+: ").any()
    order = pl.col("part") if ranged else -pl.col("most")
    systems = order_systems(judged, asked)
    column = f"part of {by}" if by in systems else by  # as of the measure `prior`
    frame = sizes.sort(pl.col("part") == NO_MENTION, order, "part").select(pl.col("part").alias(column))
    for name in systems:
        own = counts.filter(system=name)
        own = own.select(pl.col("part").alias(column), pl.col("errors").alias(name), share=pl.col("share"))
        own = own.rename({"share": f"share of {name}"})
        frame = frame.join(own, on=column, how="left", maintain_order="left")
    whole = {shorten(part): part for part in frame[column]}
    frame = frame.with_columns(pl.col(column).replace({part: short for short, part in whole.items()}))

    def lead(system: str, row: Mapping[str, Any]) -> str:
        sliced = {"slice": whole[row[column]], "class": kind}
        return lead_to_sentences(**keep_both(asked, system), **sliced) if row[system] else ""

    small = {name: f"share of {name}" for name in systems}
    links = {name: partial(lead, name) for name in systems}
    called = f"{label_of_class(kind)} (`{kind}`)" if kind else ANY
    words = f"{called}: {explain_classes()[kind or ANY]}; of each part how many, and the share, {tell_matching(asked)}."
    if by.partition(":")[0] in OF_CLASSES and by != COARSE_TYPE:
        words += " Classes are those of one vocabulary; the filter 'type' counts persons, places and others by all."
    labels = {shorten(iri): label for iri, label in label_parts(kb, pl.Series([*whole.values()]), by).items()}
    leads = "A number leads to its sentences."
    headings = dict(zip([column], headings_of_measures([by]).values(), strict=False))
    title = f"errors by {label_of(by).words}"
    return page.Table(
        f"errors by {by}",
        frame,
        links,
        words,
        small=small,
        heat=small,
        leads=leads,
        headings=headings,
        title=title,
        labels=labels,
        about=tell_place(judged),
    )


def tabulate_confused(judged: Judgements, asked: Mapping[str, str], labels: Mapping[str, str]) -> page.Table:
    """Return the pairs of gold's entity and the system's that are confused most often; `labels` are of entities."""
    kept = keep_both(asked, asked["system"])
    pairs = judged.confused_pairs(asked["system"])
    return page.Table(
        f"confused by {asked['system']}",
        pairs,
        {"mentions": lambda row: lead_to_sentences(**kept, gold=row["gold"], answer=row["answer"])},
        words=f"Which entity is taken for which {tell_matching(asked)}, most often first.",
        leads="The number leads to the sentences.",
        labels=labels,
    )


def order_systems(judged: Judgements, asked: Mapping[str, str]) -> list[str]:
    """Return the systems: first those that the page shows the sentences of, baselines and oracles last."""
    systems = judged.systems["system"].unique().sort().to_list()
    shown = [name for name in name_systems(asked) if name in systems]
    others = [name for name in systems if name not in shown]
    return [*shown, *sorted(others, key=lambda name: KINDS.index(judged.beside.get(name, "system")))]
