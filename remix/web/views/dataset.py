"""One dataset: its measures, distributions, where it comes from, what loading repaired, its documents."""

from __future__ import annotations

from functools import partial

import polars as pl

from remix.checks import RULES
from remix.errors import UnknownName, UsageError
from remix.measures import AVERAGES, Measured
from remix.measures.columns import Slicing
from remix.measures.enrichment import frames_of, measures_of
from remix.measures.labels import call_measures, find_units, headings_of_measures, label_of, words_of_measures
from remix.names import shorten
from remix.remixes.partitions import cut_frames
from remix.reports.annotation_list import find_part, parts_of
from remix.reports.contrasts import tell_dataset
from remix.reports.inventory import describe_dataset
from remix.reports.statistics import (
    ALTERNATIVES,
    OF_TYPES,
    choose_average,
    cover_types,
    draw_distribution,
    explain_averages,
    explain_stored,
    list_quantities,
    summarise,
    values_of,
)
from remix.web import forms, page
from remix.web.addresses import address, address_of_measure
from remix.web.answers import list_answers

SCHEMES = ("log-deciles", "quantiles:4", "head-torso-tail")
_DEFAULTS = {
    "column": "ambiguitySurfaceForm",
    "scheme": SCHEMES[0],
    "average": "micro",
    "find": "",
    "mentions": "",
    "part": "",
}
_MENTIONS = {"without": pl.col("mentions") == 0, "with": pl.col("mentions") > 0}
"""Of which documents some are shown: ignorable annotations are no mentions."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    if not page.list_datasets(work):
        return page.Page("Dataset", [page.NOTHING])
    entry = work.store.dataset(parameters.get("name", ""))
    asked = {**_DEFAULTS, **{key: value for key, value in parameters.items() if key in _DEFAULTS and value}}
    if asked["scheme"] not in SCHEMES:
        raise UnknownName(
            "scheme of a page", asked["scheme"], SCHEMES, f"remix partition {entry.name}", does="takes all"
        )
    if asked["mentions"] not in ("", *_MENTIONS):
        raise UnknownName("kind of documents", asked["mentions"], _MENTIONS)
    measured = measures_of(work.store)
    known = list_quantities(measured)
    if asked["column"] not in known and "column" not in parameters:
        asked["column"] = "words"
    form = forms.Form(
        [
            forms.choose("name", "dataset", [one.name for one in page.list_datasets(work)], entry.name),
            forms.choose("column", "distribution of", [*known], asked["column"], words=words_of_measures(known)),
            forms.choose(
                "scheme", "boundaries of", SCHEMES, asked["scheme"], "as `remix partition` cuts all that is loaded"
            ),
            forms.choose("average", "average", AVERAGES, asked["average"], page.MICRO_OR_MACRO),
            forms.Field("find", "documents named like", asked["find"]),
            forms.choose("mentions", "documents with or without mentions", ["", *_MENTIONS], asked["mentions"]),
        ]
    )
    told = describe_dataset(entry, work.store)
    cited = str(told.pop("BibTeX", ""))
    rows = pl.DataFrame({"what": [*told], "value": [str(value) for value in told.values()]})
    stored = explain_stored(entry, measured)
    blocks: list[page.Shown] = [
        *([page.Note(stored, ["remix enrich"])] if stored else []),
        *_distribution(work, entry.name, asked),
        _measures(measured, entry.name, asked["average"]),
        page.Table("origin", rows, words="Where it comes from, under which licence, and how large it is."),
        *([page.Code("cite", cited, words="How the dataset is cited, as BibTeX:")] if cited else []),
        *_repairs(work, entry.name),
        _documents(work, entry.name, asked),
        page.Note("The same in a terminal:", [f"remix stats {entry.name}", f"remix check {entry.name}"]),
    ]
    places = {block.name: f"#{block.name}" for block in blocks if isinstance(block, page.Table)}
    said = tell_dataset(measured, entry.name)
    sizes = page.measure_datasets(work)[entry.name]
    by = "" if asked["average"] == "micro" or not said else "By the micro average, "
    more = int(str(told.get("mentions") or 0)) - sizes["mentions"]
    without = f" {more:,} more {'is' if more == 1 else 'are'} of documents that have no text." if more > 0 else ""
    counts = " with ".join(
        f"{sizes[name]:,} {name.removesuffix('s') if sizes[name] == 1 else name}" for name in ("documents", "mentions")
    )
    first = f"{counts}.{without} {by}{said}".rstrip()
    about = [page.Note(first), page.Note("On this page:", links=places), _lead_on(work, entry.name)]
    return page.Page(entry.name, [*about, form, *blocks])


def _lead_on(work: page.Explored, name: str) -> page.Note:
    """Return the pages that say more of a dataset."""
    links = {"all its mentions": address("annotations", dataset=name)}
    if any(run.dataset == name for run in list_answers(work, [name])):
        links["systems on it"] = address("systems", datasets=name)
        links["their errors"] = address("errors", dataset=name)
    if len(page.list_datasets(work)) > 1:
        links["compare it with others"] = address("compare", datasets=name)
    links["make a remix of it"] = address("builder", dataset=name)
    return page.Note("From here:", links=links)


def _measures(measured: Measured, name: str, average: str) -> page.Table:
    rows = choose_average(cover_types(measured.datasets.filter(dataset=name)), average)
    says = {name: text.partition("\n")[0] for name, text in explain_averages(measured).items()}
    table = rows.select(
        "measure",
        call_measures(rows["measure"], of_statistics=True),
        "average",
        "value",
        find_units(rows["measure"], of_statistics=True, average=rows["average"]),
        pl.col("coverage").alias("share covered"),
        says=pl.col("measure").replace_strict(says, default="", return_dtype=pl.String),
    )
    links = {"value": lambda row: address_of_measure(name, row["measure"])}
    words = "What is covered is the share of annotations or documents for which the measure could be computed. "
    words += f"{ALTERNATIVES} {OF_TYPES} `remix show MEASURE` tells how a measure is made and read."
    leads = "A value leads to the annotations, or the documents, that it is of."
    small, headings = {"called": "measure"}, {"called": ("measure", "")}
    return page.Table(
        "measures", table, links, words, small=small, leads=leads, headings=headings, units={"value": "unit"}
    )


def _distribution(work: page.Explored, name: str, asked: page.Parameters) -> list[page.Shown]:
    """Return the distributions of all columns of numbers as a table, and the chosen one as a figure with its parts."""
    measured, frames, column = measures_of(work.store), frames_of(work.store), asked["column"]
    # Both are asked for again within, where they are of the state that the answer is kept for.
    summary = work.store.cached(
        ("summary", name), lambda: summarise(measures_of(work.store), frames_of(work.store), [name])
    )
    links = {"called": lambda row: address("dataset", name=name, column=row["column"], scheme=asked["scheme"])}
    quantity = list_quantities(measured).get(column)
    explained = {one.name: one.meaning.partition("\n")[0] for one in list_quantities(measured).values()}
    says = pl.col("column").replace_strict(explained, default="", return_dtype=pl.String)
    table = page.Table(
        "distributions",
        summary.select(
            "column", call_measures(summary["column"]), find_units(summary["column"]), pl.exclude("column")
        ).with_columns(says=says),
        links,
        "The share is that of annotations or documents that have a value. Each alternative of a mention counts as an "
        "annotation of its own: where there are some, a mean here is not that of the measures, where they count once.",
        leads="A column's name leads to its figure.",
        small={"called": "column"},
        headings={"called": ("column", "")},
    )
    every = values_of(column, measured, frames)
    own = every.filter(dataset=name)["value"]
    if quantity is None or not own.count():
        return [
            table,
            page.Note(
                f"No value of {label_of(column).words} ({column}) is known in this dataset.",
                ["remix enrich", "remix kb attach"],
            ),
        ]
    by = f"{column}:{asked['scheme']}"
    parts = _cut(work, by)
    link = partial(_lead_to_bar, name, column) if quantity.of == "annotations" else None
    figure = draw_distribution(quantity, own, () if parts is None else parts.parts, link)
    words = f"{quantity.meaning} The lines are the boundaries of {asked['scheme']} over all that is loaded."
    leads = "A bar leads to its annotations." if link else ""
    title = f"distribution: {label_of(column).words}"
    blocks: list[page.Shown] = [page.Drawing("distribution", figure, words, title=title, leads=leads)]
    if parts is not None:
        counts = cut_frames(parts, frames_of(work.store, name)).table
        chosen = {"name": name, **{key: asked[key] for key in ("column", "scheme", "average")}}
        lead = {
            "annotations": lambda row: address("annotations", dataset=name, by=by, part=row["part"]),
            "documents": lambda row: f"{address('dataset', **chosen, part=row['part'])}#documents",
        }
        told = "The parts in this dataset; alternatives of a mention count once, as `remix partition` has it."
        headings = {"annotations": ("mentions", "")}
        leads = "A number leads to its annotations, or to its documents."
        blocks.append(page.Table("parts", counts, lead, told, leads=leads, headings=headings))
    return [*blocks, table]


def _lead_to_bar(dataset: str, column: str, bar: str) -> str:
    return address("annotations", dataset=dataset, column=column, bar=bar)


def _cut(work: page.Explored, by: str) -> Slicing | None:
    """Return the parts of all that is loaded, none where the scheme cannot cut it."""
    try:
        return parts_of(work.store, by)
    except UsageError:
        return None


def _repairs(work: page.Explored, name: str) -> list[page.Table]:
    """Return what loading mended, with what the rule says of it; no table where it mended nothing."""
    report = work.store.report(name)
    repairs = report["repairs"] if isinstance(report["repairs"], list) else []
    if not repairs:
        return []
    found = pl.DataFrame(repairs, schema={"kind": pl.String, "count": pl.Int64, "example": pl.String})
    rules = {rule.name: f"{rule.summary} {rule.fix}" for rule in RULES}
    says = pl.col("kind").replace_strict(rules, default="", return_dtype=pl.String)
    return [page.Table("repaired", found.with_columns(says=says), words="What loading mended; see `remix check`.")]


def _documents(work: page.Explored, dataset: str, asked: page.Parameters) -> page.Table:
    """Return the documents, of one part of the column that is chosen where the address names it."""
    frames, find, part = frames_of(work.store, dataset), asked["find"], asked["part"]
    counts = (
        frames.annotations.filter(pl.col("ignorable").is_null())
        .group_by("document")
        .agg(mentions=pl.col("group").n_unique(), nil=pl.col("is_nil").sum())
    )
    density = measures_of(work.store).documents.select("document", "density")
    words = f"Those whose name contains '{find}'." if find else ""
    every = frames.documents
    if part:
        slicing = parts_of(work.store, f"{asked['column']}:{asked['scheme']}")
        named = find_part(slicing, part).name
        inside = cut_frames(slicing, frames).documents.filter(part=named)["document"]
        every = every.filter(pl.col("document").is_in(inside.implode()))
        words = f"{words} Those of the part {shorten(named)} of {label_of(asked['column']).words}.".lstrip()
    rows = every.join(counts, on="document", how="left", maintain_order="left")
    rows = rows.join(density, on="document", how="left", maintain_order="left").select(
        pl.coalesce("given", "document").alias("name"),
        "words",
        "language",
        pl.col("mentions", "nil").fill_null(0),
        "density",
        beginning=pl.col("text").str.slice(0, 80),
    )
    if find:
        rows = rows.filter(pl.col("name").str.to_lowercase().str.contains(find.lower(), literal=True))
    if kind := asked["mentions"]:
        rows, words = rows.filter(_MENTIONS[kind]), f"{words} Those {kind} mentions.".lstrip()
    links = {"name": lambda row: address("document", dataset=dataset, name=row["name"])}
    heat = ("words", "mentions", "nil", "density")
    return page.Table(
        "documents", rows, links, words, heat=heat, headings=headings_of_measures(["density"]), documents=("name",)
    )


dataset = page.View(
    "dataset",
    "Dataset",
    _show,
    subject=("name",),
    parameters=("name", *_DEFAULTS),
    example=lambda work: {"name": entries[0].name} if (entries := page.list_datasets(work)) else {},
)
