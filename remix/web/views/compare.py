"""Two or more datasets side by side: their measures with differences, the distributions of a column over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from remix.measures import AVERAGES, Measured
from remix.measures.enrichment import frames_of, measures_of
from remix.measures.labels import COUNT, COUNTED, find_units, label_of, words_of_measures
from remix.paper import Typesetting
from remix.reports.contrasts import find_distance, propose_pairs, rank_differences, tell_differences
from remix.reports.statistics import (
    ALTERNATIVES,
    OF_TYPES,
    by_average,
    columns_by_measure,
    draw_shares,
    explain_averages,
    explain_lacking,
    list_quantities,
    values_of,
)
from remix.store import DatasetEntry
from remix.web import forms, page
from remix.web.addresses import address, address_of_measure

_MOST = 8
"""Datasets that are compared at once: as many lines can be told apart."""
_MEASURE, _CALLED, _UNIT, _APART = "which measure", "what it is called", "in which unit", "standard deviations apart"
"""Columns beside those that are called as datasets are, in whose names is no blank."""
_PROPOSED = 3
"""Comparisons that are proposed where none is chosen."""
_ENOUGH = 100
"""Annotations from which on a dataset is one that is proposed, where two have as many."""
_DRAWN = 4
"""Columns of which the distributions are drawn: the chosen one, and those in which the datasets differ most."""


def _propose(entries: Sequence[DatasetEntry], names: Sequence[str], measured: Measured) -> list[page.Note]:
    """Return what may be compared: the one dataset that is chosen with others or, where none is, those far apart."""
    if names:
        said = f"Compare {names[0]}"
        pairs = {f"with {entry.name}": (names[0], entry.name) for entry in entries if entry.name != names[0]}
    else:
        said = "For example, the two with"
        large = [entry.name for entry in entries if entry.annotations >= _ENOUGH]
        found = propose_pairs(measured, large if len(large) > 1 else [entry.name for entry in entries])
        pairs = {f"{what}: {' and '.join(pair)}": pair for what, pair in found.items()}
    links = {what: address("compare", datasets=",".join(pair)) for what, pair in [*pairs.items()][:_PROPOSED]}
    rest = len(pairs) - len(links) if names else 0
    told = [page.Note(f"{rest} more can be chosen below.")] if rest else []
    return [page.Note(said, links=links), *told] if links else []


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    entries = page.list_datasets(work)
    if not entries:
        return page.Page("Compare datasets", [page.NOTHING])
    asked = [name for name in parameters.get("datasets", "").split(",") if name]
    every = [work.store.dataset(name).name for name in dict.fromkeys(asked)]
    names = every[:_MOST]
    average, measured = parameters.get("average") or "micro", measures_of(work.store)
    known = list_quantities(measured)
    column = parameters.get("column") or ("ambiguitySurfaceForm" if "ambiguitySurfaceForm" in known else "words")
    form = forms.Form(
        [
            forms.choose_several(
                "datasets", "datasets", [entry.name for entry in entries], names, unfolded=len(names) < 2
            ),
            forms.choose("average", "average", AVERAGES, average, page.MICRO_OR_MACRO, what="average"),
            forms.choose(
                "column",
                "distribution of",
                [*known],
                column,
                what="column of numbers",
                command="remix list columns",
                words=words_of_measures(known),
            ),
        ],
        button="Compare",
    )
    if len(names) < 2:
        choose = page.Note(f"Choose two datasets or more, up to {_MOST}, to compare them.")
        load = page.Note("Two datasets or more are compared: load another.", ["remix load FILE", "remix fetch NAME"])
        if len(entries) < 2:
            return page.Page("Compare datasets", [form, load])
        return page.Page("Compare datasets", [choose, *_propose(entries, names, measured), form])
    note = page.Note("The same in a terminal:", [f"remix stats {' '.join(names)}"])
    by = "" if average == "micro" else "By the micro average, "
    told_apart = (tell_differences(measured, names[0], other) for other in names[1:])
    said = [page.Note(f"{by}{one}") for one in told_apart if one]
    told = [page.Note(f"These are the first {_MOST} of {len(every)} that were chosen.")] if len(every) > _MOST else []
    drawn = _draw(work, names, column)
    return page.Page(
        f"Compare {', '.join(names)}",
        [*said, form, *told, *drawn, _measures(work, names, average), *page.tell_missing(work), note],
    )


def _draw(work: page.Explored, names: Sequence[str], column: str) -> list[page.Shown]:
    """Return the distributions of the chosen column, and of those in which the datasets differ most.

    Of columns that say the same in other ways, as a value and its percentile, which are called alike before a comma,
    there is one.
    """
    measured, frames = measures_of(work.store), frames_of(work.store)
    known = list_quantities(measured)
    found = {}
    for one in known:
        values = values_of(one, measured, frames)
        own = {name: values.filter(dataset=name)["value"] for name in names}
        # What says nothing of most annotations tells datasets apart by what is missing.
        if one == column or all(2 * each.count() >= len(each) for each in own.values()):
            found[one] = {name: each.drop_nulls() for name, each in own.items()}
    apart = {one: find_distance([*own.values()]) for one, own in found.items()}
    ranked = sorted((one for one in found if one != column), key=lambda one: (-apart[one], one))
    blocks: list[page.Shown] = []
    by_subject = {label_of(one).words.partition(",")[0]: one for one in reversed([column, *ranked])}
    others = [one for one in ranked if one in by_subject.values() and apart[one] > 0]
    for one in [column, *others][:_DRAWN]:
        words = f"Which share of the {known[one].of} has no more than x: {known[one].meaning.splitlines()[0]}"
        title = "distribution" if one == column else one
        heading = f"{label_of(one).words} ({one})" if label_of(one).words != one else one
        blocks.append(page.Drawing(title, draw_shares(known[one], found[one]), words, title=heading))
    return blocks


def _measures(work: page.Explored, names: list[str], average: str) -> page.Table:
    """Return a row for each measure, a column for each dataset, and how far each is from the first."""
    measured = measures_of(work.store)
    says = explain_averages(measured)
    if average == COUNT:  # beside numbers of mentions shares and means would be read as such
        says = {name: text for name, text in says.items() if name in COUNTED}
    apart = {name: f"{name} − {names[0]}" for name in names[1:]}
    words = "By itself the table begins with the measures by which the datasets are farthest apart. In small letters: "
    words += f"the share of annotations or documents for which a measure could be computed. {ALTERNATIVES} {OF_TYPES}"
    of_apart = "the difference, of shares in points: 48 % less 8 % are 40 points"
    how = Typesetting(
        columns={_CALLED: "measure", _APART: "apart", **{name: name for name in names}},
        digits={_APART: 2, **dict.fromkeys(names, 3)},
        units=dict.fromkeys(names, _UNIT),
        caption=f"Measures of {', '.join(names)}, {by_average(average)}, first those by which they are farthest apart, "
        "in standard deviations of all datasets that were loaded.",
    )
    return page.Table(
        "measures",
        _compare_measures(measured, names, average, says, apart),
        {name: partial(_lead, name) for name in names},
        " ".join(filter(None, [words, explain_lacking(measured.datasets, [*says], average)])),
        {_APART: _HOW_FAR, **dict.fromkeys(apart.values(), of_apart)},
        small={_CALLED: _MEASURE, **{name: f"share of {name}" for name in names}},
        leads="A value leads to the annotations, or the documents, that it is of.",
        headings={_CALLED: ("measure", ""), _UNIT: ("unit", "")},
        units=dict.fromkeys([*names, *apart.values()], _UNIT),
        differences=[*apart.values()],
        typesetting=how,
    )


_HOW_FAR = (
    "how many standard deviations of all datasets here that tell enough of it lie between those that are compared, by "
    "the micro average where there is one: the same scale for every measure (of fewer than three the share that the "
    "smallest value lacks of the largest; of a share of few mentions no less than chance makes of it); none where one "
    "of the datasets has no value. The sentence above speaks of those measures alone that cover half of the "
    "annotations or documents of each"
)


def _compare_measures(
    measured: Measured, names: Sequence[str], average: str, says: Mapping[str, str], apart: Mapping[str, str]
) -> pl.DataFrame:
    """Return the measures that `says` explains with their value, and its coverage, of each dataset.

    Those come first by which the datasets are farthest apart; `apart` are the columns of the differences to the first.
    """
    wide = columns_by_measure(measured.datasets, [*says], average)
    rows = {name: wide.row(by_predicate=pl.col("dataset") == name, named=True) for name in names}
    table = pl.DataFrame(
        {
            _MEASURE: [*says],
            _CALLED: [label_of(one, of_statistics=True).words for one in says],
            **{name: pl.Series([row[one] for one in says], dtype=pl.Float64) for name, row in rows.items()},
            **{f"share of {name}": [row[f"share with {one}"] for one in says] for name, row in rows.items()},
        }
    )
    table = table.with_columns(
        *((pl.col(name) - pl.col(names[0])).alias(column) for name, column in apart.items()),
        find_units(table[_MEASURE], of_statistics=True, average=average).alias(_UNIT),
        pl.Series("what it says", [text.partition("\n")[0] for text in says.values()]),
    )
    shown = table.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in names))
    ranks = rank_differences(measured, names, every=True).select(
        pl.col("measure").alias(_MEASURE), pl.col("apart").alias(_APART)
    )
    shown = shown.join(ranks, on=_MEASURE, how="left", maintain_order="left")
    shown = shown.sort(_APART, descending=True, nulls_last=True, maintain_order=True)
    front = [_MEASURE, _CALLED, _APART]
    return shown.select(*front, pl.exclude(front))


def _lead(dataset: str, row: Mapping[str, Any]) -> str:
    """Return the address of what a measure of a dataset is of."""
    return "" if row[dataset] is None else address_of_measure(dataset, row[_MEASURE])


compare = page.View(
    "compare",
    "Compare",
    _show,
    menu=5,
    parameters=("datasets", "average", "column"),
    example=lambda work: {"datasets": ",".join(entry.name for entry in page.list_datasets(work)[:2])},
)
